//! The echo on the in-memory port: which batch saturates it, and how many buffers it needs.
//!
//! Its ring is the buffers that wait to be filled. The core that runs the program also fills them, so it never waits, and no cycle is free.

use super::allowance::Allowance;
use super::port::{PORTS, SWITCHES, several};
use super::saturation::{self, BUSY, Batches, Cost, Saturation};
use crate::compile;
use crate::failure::Failure;
use crate::samples::Samples;
use runtime::{Buffers, Compiler, Descriptor, MemoryPort, Pipeline, Settings, Switch, Trace, Undisturbed, clock};
use std::sync::Arc;

const RINGS: [u32; 8] = [8, 16, 32, 64, 128, 256, 512, MOST];
const MOST: u32 = 1024;
/// Packets of a sample.
const SAMPLE: u64 = 8192;
/// Samples of a round, and rounds: each is another switch's, since where buffers happen to lie matters.
const SAMPLES: usize = 10;
const ROUNDS: usize = 3 * SWITCHES;

struct Subject {
    switch: Switch<MemoryPort>,
    trace: Arc<Trace>,
}

impl Subject {
    fn new(pipeline: &Arc<Pipeline>, trace: &Arc<Trace>) -> Result<Subject, Failure> {
        let port = MemoryPort::new(Buffers { count: MOST, bytes: 2048, headroom_bytes: 128 });
        let switch = Switch::new(pipeline.clone(), vec![port], Settings { ports: PORTS, seed: 1 })?;
        Ok(Subject { switch, trace: trace.clone() })
    }

    /// Where the ring has fewer buffers than a batch has packets, the rest of the batch is lost, and costs nobody anything.
    fn sample(&mut self, ring: u32, batch: u32, work: u64) -> Option<Cost> {
        let lane = self.switch.lane(0).expect("no thread runs the only lane");
        lane.ring(ring);
        lane.load(self.trace.clone(), SAMPLE, batch);
        saturation::set_work(&self.switch, work);
        let (spent, packets) = saturation::done(&self.switch);
        let start = clock::ticks();
        self.switch.run(0);
        let ticks = clock::ticks() - start;
        let (spent, packets) = (saturation::done(&self.switch).0 - spent, saturation::done(&self.switch).1 - packets);
        let each = |ticks: u64| ticks as f64 / packets as f64;
        (packets > 0).then(|| Cost { all: each(ticks), work: each(spent) })
    }
}

/// The echo, several times.
pub struct Echo([Subject; SWITCHES]);

impl Echo {
    pub fn new(compiler: &Compiler, trace: &Arc<Trace>) -> Result<Echo, Failure> {
        let object = compiler.pipeline(&compile::cache()?, "busy", BUSY, Descriptor::Own)?;
        let pipeline = Arc::new(Pipeline::load(&object)?);
        several(|| Subject::new(&pipeline, trace)).map(Echo)
    }

    /// Batches with the largest ring, then rings with the batch that saturates it.
    pub fn measure(&mut self, allowance: &mut Allowance) -> Saturation {
        let Echo(subjects) = self;
        let mut batches = Batches::new();
        rounds(allowance, "batches of an echo", |turn| {
            batches.round(SAMPLES, |batch, work| subjects[turn].sample(MOST, batch, work));
        });
        let mut seen = batches.into_saturation(None);
        let batch = seen.batch().expect("the in-memory port has packets");
        let mut rings = RINGS.map(|ring| (ring, Samples::default()));
        rounds(allowance, "rings of an echo", |turn| {
            for (ring, samples) in &mut rings {
                let mut once = || subjects[turn].sample(*ring, batch, 0).map(|cost| cost.all);
                once();
                samples.take(SAMPLES, once);
            }
        });
        seen.rings = saturation::costs(rings.into_iter());
        seen
    }
}

/// Goes round the switches, as often as time allows.
fn rounds(allowance: &mut Allowance, part: &str, mut round: impl FnMut(usize)) {
    let mut taken = 0;
    while taken < ROUNDS && (taken == 0 || !allowance.is_over()) {
        let _undisturbed = Undisturbed::begin();
        round(taken % SWITCHES);
        taken += 1;
    }
    allowance.taken(part, taken, ROUNDS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// How many cycles they are is not the matter, but that buffers for a batch are enough, and that a core that carries the packets has none to give away.
    #[test]
    fn the_in_memory_port_needs_buffers_for_a_batch_and_leaves_no_cycle_free() {
        let compiler = Compiler::find(None).expect("there is a compiler");
        let trace = Arc::new(super::super::port::trace());
        let mut echo = Echo::new(&compiler, &trace).expect("the echo is right");
        let mut allowance = Allowance::of(Duration::ZERO);
        let seen = echo.measure(&mut allowance);
        assert_eq!(
            allowance.into_short(),
            ["1 of 15 rounds of batches of an echo", "1 of 15 rounds of rings of an echo"]
        );
        let (batch, ring) = (seen.batch().expect("there are batches"), seen.ring().expect("there are rings"));
        assert!(batch > 4 && ring <= batch.max(RINGS[0]), "{seen:?}");
        let (_, cycles) = seen.batches[seen.batches.len() - 1];
        assert!(seen.free_cycles().is_some_and(|free| free < cycles / 2.0), "{seen:?}");
    }
}
