//! Cycles a packet of a pipeline on the in-memory port: medians of many samples shorter than a time slice.

use super::workload::{Workload, Write};
use crate::failure::Failure;
use crate::native::translate;
use hlir::ActionCall;
use runtime::{Buffers, MemoryPort, Pipeline, Settings, Switch, clock};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Packets of a sample: some 0.1 ms.
const SAMPLE: u64 = 8192;
const SAMPLES: usize = 101;
const PORTS: u32 = 512;
/// Few enough buffers that packets stay in the first cache levels, as behind a NIC that writes to the cache.
const BUFFERS: Buffers = Buffers { count: 1024, bytes: 2048, headroom_bytes: 128 };

pub struct Cost {
    /// Median cycles a packet.
    pub cycles: f64,
    /// Half the distance between the quartiles, relative to the median.
    pub spread: f64,
    /// What the entries took to load.
    pub load: Duration,
    /// Packets that were not forwarded, of all: 0 unless the workload is wrong.
    pub lost: u64,
}

/// Loads the workload's entries and runs its trace at this burst.
pub fn measure(pipeline: Arc<Pipeline>, workload: &Workload, burst: u32) -> Result<Cost, Failure> {
    let settings = Settings { ports: PORTS, seed: 1 };
    let mut switch = Switch::new(pipeline, vec![MemoryPort::new(BUFFERS)], settings)?;
    let start = Instant::now();
    fill(&switch, &workload.writes)?;
    let load = start.elapsed();
    // Once through the trace, so that tables are where they will be.
    let lane = switch.lane(0).expect("no thread runs the only lane");
    lane.load(workload.trace.clone(), workload.trace.len(), burst);
    switch.run(0);
    let mut samples: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            switch.lane(0).expect("no thread runs the only lane").more(SAMPLE);
            let start = clock::ticks();
            switch.run(0);
            (clock::ticks() - start) as f64 / SAMPLE as f64
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    let median = samples[SAMPLES / 2];
    let counts = switch.lane(0).expect("no thread runs the only lane").counts();
    Ok(Cost {
        cycles: median,
        spread: (samples[SAMPLES * 3 / 4] - samples[SAMPLES / 4]) / 2.0 / median,
        load,
        lost: counts.received - counts.sent,
    })
}

/// Writes the entries, by the tables and actions that the pipeline describes. Tables it does not have are not written.
fn fill(switch: &Switch<MemoryPort>, writes: &[Write]) -> Result<(), Failure> {
    let description = switch.pipeline().description();
    for write in writes {
        let is_named = |name: &str, end: &str| name == end || name.ends_with(&format!(".{end}"));
        let Some(number) = description.tables.iter().position(|table| is_named(&table.name, write.table)) else {
            continue;
        };
        let table = &description.tables[number];
        let action = table.actions.iter().find(|action| is_named(&action.name, write.action));
        let action =
            action.ok_or_else(|| Failure::input(format!("table `{}` has no action `{}`", table.name, write.action)))?;
        let call = ActionCall { action: 0, arguments: write.arguments.clone() };
        let refused = |error: interp::engine::Refusal| Failure::refusal(&table.name, &error);
        let record = translate::record(table, &action.name, &call).map_err(refused)?;
        let matches = translate::matches(table, &write.matches, write.priority).map_err(refused)?;
        let inserted = switch.tables()[number].insert(&matches, &record);
        inserted.map_err(|error| Failure::input(format!("table `{}`: {error}", table.name)))?;
    }
    Ok(())
}
