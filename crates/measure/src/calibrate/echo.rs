//! The echo on the in-memory port: which batch saturates it, and how many buffers it needs.
//!
//! Its ring is the buffers that wait to be filled. The core that runs the program also fills them, so it never waits, and no cycle is free.

use super::port::{PORTS, SWITCHES, several};
use super::saturation::{self, BUSY, Batches, Cost, Saturation};
use super::time_budget::TimeBudget;
use crate::samples::Samples;
use driver::failure::Failure;
use driver::files;
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

    /// Where the ring has fewer buffers than a batch has packets, the rest of the batch is lost, without cost.
    fn sample(&mut self, ring: u32, batch: u32, work: u64) -> Option<Cost> {
        let own_ports = self.switch.ports_of(0).expect("no thread runs its worker");
        own_ports.ring(ring);
        own_ports.load(self.trace.clone(), SAMPLE, batch);
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
        let object = compiler.pipeline(&files::cache()?, "busy", BUSY, Descriptor::Own)?;
        let pipeline = Arc::new(Pipeline::load(&object)?);
        several(|| Subject::new(&pipeline, trace)).map(Echo)
    }

    pub fn measure(&mut self, budget: &mut TimeBudget) -> Saturation {
        let Echo(subjects) = self;
        saturate(budget, |turn, ring, batch, work| subjects[turn].sample(ring, batch, work))
    }
}

/// Batches with the largest ring, then rings with the batch that saturates it: by samples of a switch with a ring, a batch and work.
fn saturate(budget: &mut TimeBudget, mut sample: impl FnMut(usize, u32, u32, u64) -> Option<Cost>) -> Saturation {
    let mut batches = Batches::new();
    rounds(budget, "batches of an echo", |turn| {
        batches.round(SAMPLES, |batch, work| sample(turn, MOST, batch, work));
    });
    let mut seen = batches.into_saturation(None);
    let batch = seen.batch().expect("the in-memory port has packets");
    let mut rings = RINGS.map(|ring| (ring, Samples::default()));
    rounds(budget, "rings of an echo", |turn| {
        for (ring, samples) in &mut rings {
            let mut once = || sample(turn, *ring, batch, 0).map(|cost| cost.all);
            once();
            samples.take(SAMPLES, once);
        }
    });
    seen.rings = saturation::costs(rings.into_iter());
    seen
}

/// Goes round the switches, as often as time allows.
fn rounds(budget: &mut TimeBudget, part: &str, mut round: impl FnMut(usize)) {
    let mut taken = 0;
    while taken < ROUNDS && (taken == 0 || !budget.is_over()) {
        let _undisturbed = Undisturbed::begin();
        round(taken % SWITCHES);
        taken += 1;
    }
    budget.taken(part, taken, ROUNDS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A core that carries the packets has no cycle to give away, and has something to do once for each batch, or for as many as there are buffers.
    #[test]
    fn buffers_for_a_batch_are_enough_and_no_cycle_is_free() {
        let mut budget = TimeBudget::of(Duration::ZERO);
        let seen = saturate(&mut budget, |_, ring, batch, work| {
            let work = work as f64;
            Some(Cost { all: 5.0 + 20.0 / f64::from(batch.min(ring)) + work, work })
        });
        assert_eq!(budget.into_short(), ["1 of 15 rounds of batches of an echo", "1 of 15 rounds of rings of an echo"]);
        assert_eq!((seen.batch(), seen.ring(), seen.free_cycles()), (Some(64), Some(64), Some(0.0)), "{seen:?}");
    }

    #[test]
    fn an_echo_does_the_work_it_is_given() {
        let compiler = Compiler::find(None).expect("there is a compiler");
        let trace = Arc::new(super::super::port::trace());
        let Echo(mut subjects) = Echo::new(&compiler, &trace).expect("the echo is right");
        for ring in [RINGS[0], MOST] {
            let cost = subjects[0].sample(ring, 32, 100).expect("there are packets");
            assert!(cost.all >= cost.work && cost.work >= 100.0, "{cost:?}");
        }
    }
}
