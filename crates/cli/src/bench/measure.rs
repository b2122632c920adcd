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
/// Samples of a round. Rounds of all variants take turns, so that a machine that slows down slows all of them.
const SAMPLES: usize = 21;
/// Packets that warm a variant's tables before its round.
const WARM: u64 = 1 << 16;
const PORTS: u32 = 512;
/// Few enough buffers that packets stay in the first cache levels, as behind a NIC that writes to the cache.
const BUFFERS: Buffers = Buffers { count: 1024, bytes: 2048, headroom_bytes: 128 };

pub struct Cost {
    /// Median cycles a packet.
    pub cycles: f64,
    /// Half the distance between the quartiles, relative to the median.
    pub spread: f64,
    /// Packets that were not forwarded, of all: 0 unless the workload is wrong.
    pub lost: u64,
}

/// A variant with its entries loaded.
pub struct Runner {
    switch: Switch<MemoryPort>,
    /// What the entries took to load.
    pub load: Duration,
    samples: Vec<f64>,
}

impl Runner {
    pub fn new(pipeline: Arc<Pipeline>, workload: &Workload) -> Result<Runner, Failure> {
        let settings = Settings { ports: PORTS, seed: 1 };
        let switch = Switch::new(pipeline, vec![MemoryPort::new(BUFFERS)], settings)?;
        let start = Instant::now();
        fill(&switch, &workload.writes)?;
        Ok(Runner { switch, load: start.elapsed(), samples: Vec::new() })
    }

    /// Begins a cell: the trace from its first packet, in bursts of this size.
    pub fn begin(&mut self, workload: &Workload, burst: u32) {
        self.samples.clear();
        self.lane().load(workload.trace.clone(), 0, burst);
    }

    /// Takes the samples of one round.
    pub fn round(&mut self) {
        self.lane().more(WARM);
        self.switch.run(0);
        for _ in 0..SAMPLES {
            self.lane().more(SAMPLE);
            let start = clock::ticks();
            self.switch.run(0);
            self.samples.push((clock::ticks() - start) as f64 / SAMPLE as f64);
        }
    }

    /// What the cell cost.
    pub fn cost(&mut self) -> Cost {
        self.samples.sort_by(f64::total_cmp);
        let (samples, count) = (&self.samples, self.samples.len());
        let median = samples[count / 2];
        let spread = (samples[count * 3 / 4] - samples[count / 4]) / 2.0 / median;
        let counts = self.lane().counts();
        Cost { cycles: median, spread, lost: counts.received - counts.sent }
    }

    fn lane(&mut self) -> &mut MemoryPort {
        self.switch.lane(0).expect("no thread runs the only lane")
    }
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
