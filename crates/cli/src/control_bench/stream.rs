//! What the switch reports and the controller answers: packets, hosts to be learnt, packets that wait for an entry.

use super::Bench;
use super::client::{Client, Message, refused};
use super::entries::{self, IN_A_BATCH, PACKET_IN};
use super::report::Records;
use control::message::runtime::{
    Action, DigestEntry, DigestList, DigestListAck, Entity, PacketOut, Update, digest_entry, entity, p4_data,
    stream_message_request, update::Type,
};
use driver::failure::Failure;
use runtime::Trace;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// A message that has not come by then does not come.
const TIMEOUT: Duration = Duration::from_secs(2);

pub fn packet_in(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    let rig = bench.rig()?;
    let mut client = Client::of(&rig)?;
    rig.load(Trace::new([(PACKET_IN, &entries::frame(1, 2, 3, 4)[..])]));
    let (mut count, mut wrong, begin) = (0u32, 0u32, Instant::now());
    while begin.elapsed() < bench.seconds {
        match client.next(TIMEOUT)? {
            Some(Message::Packet(packet)) => {
                count += 1;
                wrong += u32::from(packet.payload.len() != 64 || packet.metadata.len() != 2);
            }
            Some(_) => {}
            None => break,
        }
    }
    records.at_least("packet-in", f64::from(count) / begin.elapsed().as_secs_f64(), "/s", 100_000.0);
    records.at_most("packets that are not as they were", f64::from(wrong), "", 0.0);
    Ok(())
}

/// The addresses of a list.
fn learnt(list: &DigestList) -> Vec<Vec<u8>> {
    let address = |data: &control::message::runtime::P4Data| match &data.data {
        Some(p4_data::Data::Struct(fields)) => match fields.members.first().and_then(|first| first.data.clone()) {
            Some(p4_data::Data::Bitstring(bytes)) => Some(bytes),
            _ => None,
        },
        _ => None,
    };
    list.data.iter().filter_map(address).collect()
}

pub fn learning(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    let rig = bench.rig()?;
    let mut client = Client::of(&rig)?;
    let digest_id = bench.ids.digest();
    let config = digest_entry::Config {
        max_timeout_ns: 1_000_000,
        max_list_size: IN_A_BATCH as i32,
        ack_timeout_ns: 10_000_000_000,
    };
    let entry = DigestEntry { digest_id, config: Some(config) };
    let entity = Some(Entity { entity: Some(entity::Entity::DigestEntry(entry)) });
    let subscribe = Update { r#type: Type::Insert.into(), entity };
    client.write(Client::request(vec![subscribe])).map_err(|status| refused(&status))?;
    let (table, action_id) = (bench.ids.table("learnt"), bench.ids.action("known"));
    let hosts = bench.entries.min(100_000);
    let (begin, mut known) = (Instant::now(), HashSet::new());
    rig.load(entries::from_hosts(hosts));
    while known.len() < hosts as usize {
        let Some(message) = client.next(TIMEOUT)? else { break };
        let Message::Digest(list) = message else { continue };
        let action = Action { action_id, params: Vec::new() };
        let insert = |address: &Vec<u8>| entries::update(Type::Insert, table, entries::exact(address), action.clone());
        // A second record of a host may have been sent before its entry was written.
        let new: Vec<Vec<u8>> = learnt(&list).into_iter().filter(|address| known.insert(address.clone())).collect();
        let updates = new.iter().map(insert).collect();
        client.write(Client::request(updates)).map_err(|status| refused(&status))?;
        let ack = DigestListAck { digest_id, list_id: list.list_id };
        client.send(stream_message_request::Update::DigestAck(ack));
    }
    let known = known.len() as u32;
    records.note("hosts learnt", f64::from(known), "");
    records.at_least(
        "hosts learnt by digest and Write",
        f64::from(known) / begin.elapsed().as_secs_f64(),
        "/s",
        20_000.0,
    );
    records.at_most("hosts that were not learnt", f64::from(hosts - known), "", 0.0);
    Ok(())
}

/// Packets out whose host is not known wait, and go on when the controller has written.
pub fn resume(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    const FLOWS: u32 = 1000;
    let packets = (bench.entries / 50).max(FLOWS);
    let rig = bench.rig()?;
    let mut client = Client::of(&rig)?;
    client.write_all(entries::hosts(&bench.ids, 0, bench.few()))?;
    rig.load(entries::to_hosts(bench.few()));
    let begin = Instant::now();
    for number in 0..packets {
        let payload = entries::frame(entries::address(number % FLOWS), 1, 0, number / FLOWS + 1);
        client.send(stream_message_request::Update::Packet(PacketOut { payload, metadata: Vec::new() }));
    }
    // The messages of the misses come meanwhile; a client has to read them.
    let mut reported = 0u32;
    let waiting = |rig: &super::rig::Rig| rig.counted(crate::run::relay::PUNTED) as u32;
    while begin.elapsed() < 20 * TIMEOUT && (waiting(&rig) < packets || reported < packets) {
        match client.next(Duration::from_millis(100))? {
            Some(Message::Other(_)) => reported += 1,
            Some(_) => {}
            None if waiting(&rig) >= packets => break,
            None => {}
        }
    }
    let out = begin.elapsed().as_secs_f64();
    let port = |flow: u32| {
        let (table, action) = (bench.ids.table("awaited"), bench.ids.action("pass"));
        entries::with_parameter(Type::Insert, (table, action), &entries::bytes(entries::address(flow)), 8)
    };
    let begin = Instant::now();
    client.write(Client::request((0..FLOWS).map(port).collect())).map_err(|status| refused(&status))?;
    while begin.elapsed() < TIMEOUT && rig.counter("resumed") < u64::from(packets) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let seconds = begin.elapsed().as_secs_f64();
    let lost = u64::from(packets) - rig.counter("resumed").min(u64::from(packets));
    records.note("packets out, until all wait", f64::from(packets) / out, "/s");
    let unreported = packets - reported.min(packets);
    records.at_most("packets not reported to the controller", f64::from(unreported), "", 0.0);
    records.note("packets resumed", f64::from(packets) / seconds, "/s");
    records.at_most("packets that were not resumed", lost as f64, "", 0.0);
    records.at_most("packets out of order in their flow", rig.counter("disordered") as f64, "", 0.0);
    Ok(())
}
