//! What `bacus trace` costs the packets: nothing while there is no trace; and how many packets it shows in a second.

use super::client::{Client, Ids};
use super::entries;
use super::report::Records;
use super::rig::{Rig, Stretches};
use crate::run::tracing::Tracing;
use control::Refusal;
use control::message::switch::{TraceRequest, TraceResponse};
use driver::failure::Failure;
use std::time::{Duration, Instant};

/// Turns of each kind.
const TURNS: u32 = 5;

pub fn trace(rig: &Rig, (ids, hosts, time): (&Ids, u32, Duration), records: &mut Records) -> Result<(), Failure> {
    let mut client = Client::of(rig)?;
    client.write_all(entries::hosts(ids, 0, hosts))?;
    rig.load(entries::to_hosts(hosts));
    std::thread::sleep(time / 10);
    let turn = time / TURNS;
    let (mut never, mut behind, mut during) = (Stretches::default(), Stretches::default(), Stretches::default());
    let (mut shown, mut seconds) = (0u64, 0.0);
    // All turns without a trace of which some come before any, and some behind one.
    for _ in 0..TURNS {
        never.add(rig, || std::thread::sleep(turn));
    }
    for _ in 0..TURNS {
        let tracing = Tracing::default();
        let begin = Instant::now();
        shown += during.add(rig, || traced(&tracing, &rig.switch, turn)).map_err(refused)?;
        seconds += begin.elapsed().as_secs_f64();
        // Without a client, it ends.
        tracing.end();
        std::thread::sleep(Duration::from_millis(50));
        behind.add(rig, || std::thread::sleep(turn));
    }
    records.at_least("rate behind traces, of the worker's time", behind.own_rate() / never.own_rate(), "of it", 0.99);
    records.note("rate during a trace, of the worker's time", during.own_rate() / never.own_rate(), "of it");
    records.at_least("packets shown with all their steps", shown as f64 / seconds, "/s", 250_000.0);
    Ok(())
}

fn refused(refusal: Refusal) -> Failure {
    Failure::refusal("the trace", &refusal)
}

/// Packets that are shown in this time.
fn traced(
    tracing: &Tracing,
    switch: &crate::run::live::Shared<runtime::MemoryPort>,
    time: Duration,
) -> Result<u64, Refusal> {
    let (begin, mut shown, mut trace) = (Instant::now(), 0, 0);
    while begin.elapsed() < time {
        let request = TraceRequest { trace, most: 1024, rate: 1_000_000, ..TraceRequest::default() };
        let TraceResponse { trace: number, packets, .. } = tracing.ask(switch, &request)?;
        (trace, shown) = (number, shown + packets.len() as u64);
    }
    Ok(shown)
}
