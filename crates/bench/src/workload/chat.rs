//! chatserver: messages to the server from known hosts; each goes to the members of its sender's room.

use super::frames::{NEXTHOPS, ROUTER, ethernet, host_address, ipv4, mac, padded, udp_over};
use super::{Group, Shared, Sink, Traffic, Wishes, Workload, stream, trace, trace_length};
use crate::entry::{Entry, Field};
use crate::traffic::SEED;
use driver::failure::Failure;
use driver::random::scattered;
use runtime::Buffers;
use std::sync::Arc;

const SERVER: u32 = 0x0a00_0001;
const SERVICE: u16 = 5222;
/// Rooms are multicast groups, whose memory is written as a whole.
const MOST_ROOMS: u64 = 1_000;
/// Ports on which a room's members are.
const MEMBER_PORTS: u64 = 8;
/// From the source address to the end of the message's head.
const OWN: (u32, u32) = (6, 42);

/// The network of a room's members: /24.
fn network(room: u64) -> u32 {
    0x1400_0000 + ((room as u32) << 8)
}

fn add(sink: &mut Sink<'_>, hosts: &[u64], rooms: u64) -> Result<(), Failure> {
    for address in hosts {
        let fields = [Field::Exact(u128::from(*address))];
        sink(&Entry { table: "smac", fields: &fields, priority: 0, action: "NoAction", arguments: &[] })?;
    }
    let server = [Field::Lpm { value: u128::from(SERVER), prefix: 32 }];
    sink(&Entry { table: "ChatServer.routes", fields: &server, priority: 0, action: "local", arguments: &[] })?;
    let service = [Field::Exact(u128::from(SERVICE))];
    sink(&Entry { table: "services", fields: &service, priority: 0, action: "serve", arguments: &[] })?;
    for sender in 0..hosts.len() as u64 {
        let (fields, room) = ([Field::Exact(u128::from(sender))], sender % rooms);
        let arguments = [1 + room, u64::from(network(room))];
        sink(&Entry { table: "senders", fields: &fields, priority: 0, action: "speak", arguments: &arguments })?;
    }
    for room in 0..rooms {
        let fields = [Field::Lpm { value: u128::from(network(room)), prefix: 24 }];
        let arguments = [room % NEXTHOPS];
        let action = "set_nexthop";
        sink(&Entry { table: "egress_routes", fields: &fields, priority: 0, action, arguments: &arguments })?;
    }
    (0..NEXTHOPS).try_for_each(|hop| {
        let fields = [Field::Exact(u128::from(hop))];
        let arguments = [host_address(0x1000 + hop), host_address(0x2000 + hop)];
        sink(&Entry { table: "egress_switch", fields: &fields, priority: 0, action: "rewrite", arguments: &arguments })
    })
}

/// Members of each room.
fn groups(rooms: u64, members: u64) -> Vec<(u64, Group)> {
    let member = |number: u64| ((number % MEMBER_PORTS) as u32, number as u32);
    (0..rooms).map(|room| (1 + room, (0..members).map(member).collect())).collect()
}

/// Addresses of a sender are of no room's network, so each member gets a copy.
fn headers(sender: u64, room: u64, address: u64) -> Vec<u8> {
    let (source, message) = (
        0xac10_0000 | sender as u32 & 0xf_ffff,
        [&(sender as u32).to_be_bytes()[..], &(1 + room as u16).to_be_bytes()].concat(),
    );
    let udp = udp_over(source, SERVER, [40_000, SERVICE], 30, &message);
    [&mac(address)[..], &[0x08, 0x00], &ipv4(source, SERVER, 17, 50), &udp, &message].concat()
}

fn chat(size: u64, members: u64) -> Workload {
    let rooms = (size / 4).clamp(1, MOST_ROOMS);
    let hosts: Shared<u64> = Arc::new(scattered(size, 40, SEED).map(host_address).collect());
    let known = hosts.clone();
    let packets = move |traffic: Traffic| {
        let frame = padded(ethernet(ROUTER, 0, 0x0800), 64);
        trace(frame, (trace_length(size), traffic), OWN, |random, bytes| {
            let (sender, host) = (traffic.draw(random, size), traffic.draw(random, size));
            bytes.copy_from_slice(&headers(sender, sender % rooms, hosts[host as usize]));
        })
    };
    let base = Workload::of("chatserver");
    // Each packet of a burst may wait as so many copies.
    let buffers = Buffers { count: base.buffers.count * (members as u32).max(4) / 4, ..base.buffers };
    Workload {
        size,
        entries: Box::new(move |sink| add(sink, &known, rooms)),
        groups: groups(rooms, members),
        trace: Box::new(packets),
        lines: vec![(1.0, size * 9), (1.0, size * 16)],
        stream: stream(size, OWN.1),
        copies: Some(members as f64),
        buffers,
        ..base
    }
}

pub fn chatserver(size: u64, _: &Wishes) -> Result<Workload, Failure> {
    Ok(chat(size, 4))
}

pub fn chatserver64(size: u64, _: &Wishes) -> Result<Workload, Failure> {
    Ok(chat(size, 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_its_sender_and_the_room_behind_udp() {
        let bytes = headers(0x0102_0304, 6, 7);
        assert_eq!((bytes.len() as u32, &bytes[36..]), (OWN.1, &[1, 2, 3, 4, 0, 7][..]));
        assert_eq!(bytes[30..34], [0x14, 0x66, 0, 30], "ports and bytes of UDP");
    }

    #[test]
    fn a_room_has_its_members_on_some_ports() {
        let (number, members) = groups(3, 64).pop().unwrap();
        assert_eq!((number, members.len(), members[63]), (3, 64, (7, 63)));
    }
}
