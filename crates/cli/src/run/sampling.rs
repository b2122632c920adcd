//! Samples of the packets that the workers of a running switch receive.
//!
//! Each worker copies the next thousand packets, ten times a second, until the sample is full: at ten million packets a second one of a thousand. Where
//! hardly any come, it copies all of them meanwhile. Between two samples workers run the pipeline as it is ([`runtime::tap`]).

use super::live::{Live, TapUser};
use super::tracing;
use control::plane::Frame;
use control::{DataPlane as _, Store};
use hlir::RegisterId;
use native::Replay;
use num_bigint::BigUint;
use std::time::Duration;

/// Packets of a sample.
const FULL: usize = 4096;
/// Of fewer nothing is concluded: the share of an edge would be off by a tenth.
const LEAST: usize = 256;
/// Packets that a worker copies one after the other.
const TOGETHER: u64 = FULL as u64 / 4;
/// Longer no sample is waited for.
const LONGEST: Duration = Duration::from_millis(600);
/// Packets of a sample that was begun before are not taken for those that come now.
const STALE: Duration = Duration::from_secs(2);
/// With more entries, what the tables hold is not copied while packets flow.
const MOST_ENTRIES: usize = 65_536;
/// With more cells in all registers together, nor are these.
const MOST_CELLS: u64 = 1 << 18;

/// Packets, and what the switch held when they came.
pub struct Sample {
    pub frames: Vec<Frame>,
    pub store: Store,
    /// Those that are not 0.
    pub registers: Vec<(RegisterId, u64, BigUint)>,
}

/// How far a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    None,
    UnderWay,
    /// It is full, or was waited for long enough.
    Over,
}

/// The sample that is being taken, if one is. Times are since the start.
#[derive(Default)]
pub struct Sampling {
    begun: Option<Duration>,
    /// Whether workers were told to copy packets.
    is_tapped: bool,
    frames: Vec<Frame>,
}

impl Sampling {
    /// Begins a sample, unless there is one.
    pub fn begin(&mut self, now: Duration) {
        if self.stage(now) == Stage::None {
            *self = Sampling { begun: Some(now), ..Sampling::default() };
        }
    }

    pub fn stage(&self, now: Duration) -> Stage {
        match self.begun {
            Some(begun) if now < begun + LONGEST && self.frames.len() < FULL => Stage::UnderWay,
            Some(begun) if now < begun + STALE => Stage::Over,
            Some(_) | None => Stage::None,
        }
    }

    /// Takes the packets that workers have copied since the last time, and lets them copy others where the sample needs more.
    pub fn glance<L: Replay>(&mut self, live: &mut Live<L>, now: Duration) {
        if self.stage(now) != Stage::UnderWay {
            return live.untap(TapUser::Sample);
        }
        if self.is_tapped && live.is_tapped_for(TapUser::Sample) {
            let Some(engine) = live.engine() else { return };
            let (tapped, _) = engine.switch().take_tapped(FULL);
            self.frames.extend(tapped.into_iter().map(|one| Frame { port: one.port.into(), bytes: one.bytes }));
        }
        self.is_tapped = self.stage(now) == Stage::UnderWay && live.tap(TapUser::Sample, TOGETHER);
    }

    /// The sample, where enough packets have come and the tables can be copied. The next one is begun anew.
    pub fn take<L: Replay>(&mut self, live: &mut Live<L>) -> Option<Sample> {
        live.untap(TapUser::Sample);
        let Sampling { frames, .. } = std::mem::take(self);
        let engine = live.engine()?;
        let program = engine.program();
        let entries: usize = program.tables.iter().map(|(table, _)| engine.store().entry_count(table)).sum();
        let cells: u64 = program.registers.values().map(|register| register.size).sum();
        if frames.len() < LEAST || entries > MOST_ENTRIES || cells > MOST_CELLS {
            return None;
        }
        let registers = tracing::registers(engine, &program);
        Some(Sample { frames, store: engine.store().clone(), registers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::{MemoryPort, Settings};

    #[test]
    fn a_sample_is_over_when_it_is_full_or_late_and_stale_behind_that() {
        let at = Duration::from_millis;
        let mut sampling = Sampling::default();
        assert_eq!(sampling.stage(at(0)), Stage::None);
        sampling.begin(at(100));
        sampling.begin(at(500));
        let stages = [100, 699, 700, 2099, 2100].map(|time| sampling.stage(at(time)));
        assert_eq!(stages, [Stage::UnderWay, Stage::UnderWay, Stage::Over, Stage::Over, Stage::None]);
        sampling.begin(at(3000));
        assert_eq!(sampling.stage(at(3000)), Stage::UnderWay);
        sampling.frames = vec![Frame { port: 0, bytes: Vec::new() }; FULL];
        assert_eq!(sampling.stage(at(3000)), Stage::Over);
    }

    #[test]
    fn a_trace_takes_the_copies_of_packets_over_from_a_sample() {
        let mut live: Live<MemoryPort> = Live::new(Vec::new(), Settings { ports: 1, seed: 0 }, None);
        assert!(live.tap(TapUser::Sample, 1) && live.is_tapped_for(TapUser::Sample) && live.tap(TapUser::Trace, 1));
        assert!(!live.tap(TapUser::Sample, 1) && !live.is_tapped_for(TapUser::Sample));
        // The end of the sample is not the end of the trace.
        live.untap(TapUser::Sample);
        assert!(!live.tap(TapUser::Sample, 1));
        live.untap(TapUser::Trace);
        assert!(live.tap(TapUser::Sample, 1));
    }
}
