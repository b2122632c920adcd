//! What `bacus trace` costs the packets: nothing while there is no trace; and how many packets it looks at, or shows, in a second.

use super::report::Records;
use super::rig::{Rig, Stretches};
use crate::run::tracing::Tracing;
use control::message::switch::{TraceRequest, TraceResponse};
use driver::failure::Failure;
use std::time::{Duration, Instant};

/// Turns of each kind.
const TURNS: u32 = 5;

/// A filter that the end of the parser decides, and one that only the end of a packet decides. No packet matches.
const EARLY: &str = "packet_length == 0";
const LATE: &str = "dropped && !dropped";

/// Of the packets that the worker has.
pub fn trace(rig: &Rig, time: Duration, records: &mut Records) -> Result<(), Failure> {
    std::thread::sleep(time / 10);
    let turn = time / TURNS;
    let (mut never, mut behind, mut during) = (Stretches::default(), Stretches::default(), Stretches::default());
    let mut shown = Rate::default();
    // All turns without a trace of which some come before any, and some behind one.
    for _ in 0..TURNS {
        never.add(rig, || std::thread::sleep(turn));
    }
    for _ in 0..TURNS {
        during.add(rig, || shown.add(rig, "", turn, |answer| answer.packets.len() as u64))?;
        behind.add(rig, || std::thread::sleep(turn));
    }
    let (mut early, mut late) = (Rate::default(), Rate::default());
    for _ in 0..TURNS {
        early.add(rig, EARLY, turn, |answer| answer.looked_at)?;
        late.add(rig, LATE, turn, |answer| answer.looked_at)?;
    }
    records.at_least("rate behind traces, of the worker's time", behind.own_rate() / never.own_rate(), "of it", 0.99);
    records.note("rate during a trace, of the worker's time", during.own_rate() / never.own_rate(), "of it");
    records.at_least("packets that a filter passes over at the end of the parser", early.rate(), "/s", 250_000.0);
    records.note("packets that a filter passes over when they have ended", late.rate(), "/s");
    records.at_least("packets shown with all their steps", shown.rate(), "/s", 250_000.0);
    Ok(())
}

/// Packets of traces, and how long these took.
#[derive(Default)]
struct Rate {
    packets: u64,
    elapsed: Duration,
}

impl Rate {
    /// Adds a trace of this time.
    fn add(
        &mut self,
        rig: &Rig,
        filter: &str,
        time: Duration,
        count: impl Fn(&TraceResponse) -> u64,
    ) -> Result<(), Failure> {
        let (tracing, begin, mut trace) = (Tracing::default(), Instant::now(), 0);
        while begin.elapsed() < time {
            let request = TraceRequest {
                trace,
                most: 1024,
                rate: 1_000_000,
                compact: true,
                filter: filter.to_string(),
                ..Default::default()
            };
            let answer =
                tracing.ask(&rig.switch, &request).map_err(|refusal| Failure::refusal("the trace", &refusal))?;
            trace = answer.trace;
            self.packets += count(&answer);
        }
        self.elapsed += begin.elapsed();
        // Without a client, it ends.
        tracing.end();
        std::thread::sleep(Duration::from_millis(50));
        Ok(())
    }

    /// A second.
    fn rate(&self) -> f64 {
        self.packets as f64 / self.elapsed.as_secs_f64()
    }
}
