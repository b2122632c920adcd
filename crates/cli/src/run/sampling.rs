//! Samples of the packets that the workers of a running switch receive.
//!
//! Workers copy some hundred packets in succession, ten times a second, until the sample is full: at ten million packets a second one of a thousand.
//! Where hardly any come, they copy all of them meanwhile. Between two samples workers run the pipeline as it is ([`runtime::tap`]).

use super::contents::{Contents, MOST_ELEMENTS};
use super::live::{Live, TapUser};
use control::DataPlane as _;
use native::Replay;
use runtime::tap::Tapped;
use std::time::Duration;

/// Packets of a sample.
const FULL: usize = 4096;
/// Of fewer nothing is concluded.
const LEAST: usize = 256;
/// Packets that are copied in succession, by all workers together.
const TOGETHER: usize = FULL / 4;
/// Longer no sample is waited for.
const LONGEST: Duration = Duration::from_millis(600);
/// Packets of a sample that was begun before are not taken for those that come now.
const STALE: Duration = Duration::from_secs(2);
/// With more entries, what the tables hold is not copied while controllers wait.
const MOST_ENTRIES: usize = 65_536;

/// Packets in the order of their workers' clocks, and what the switch held behind them.
pub struct Sample {
    pub packets: Vec<Tapped>,
    pub contents: Contents,
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
    /// Whether workers copy packets.
    is_tapped: bool,
    packets: Vec<Tapped>,
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
            Some(begun) if now < begun + LONGEST && self.packets.len() < FULL => Stage::UnderWay,
            Some(begun) if now < begun + STALE => Stage::Over,
            Some(_) | None => Stage::None,
        }
    }

    /// Takes the packets that workers have copied since the last time, and lets them copy others where the sample needs more.
    pub fn collect<L: Replay>(&mut self, live: &mut Live<L>, now: Duration) {
        if self.stage(now) != Stage::UnderWay {
            return live.untap(TapUser::Sample);
        }
        let workers = live.engine().map_or(1, |engine| engine.switch().worker_count()).max(1);
        if self.is_tapped && live.is_tapped_for(TapUser::Sample) {
            let Some(engine) = live.engine() else { return };
            let (tapped, _) = engine.switch().take_tapped(TOGETHER.div_ceil(workers));
            self.packets.extend(tapped);
        }
        let each = TOGETHER.div_ceil(workers) as u64;
        self.is_tapped = self.stage(now) == Stage::UnderWay && live.tap(TapUser::Sample, each);
    }

    /// The sample, if enough packets have come. The next one is begun anew.
    pub fn take<L: Replay>(&mut self, live: &mut Live<L>) -> Option<Sample> {
        live.untap(TapUser::Sample);
        let Sampling { mut packets, .. } = std::mem::take(self);
        if packets.len() < LEAST || !can_be_copied(live) {
            return None;
        }
        packets.sort_by_key(|packet| packet.clock_ns);
        Some(Sample { packets, contents: Contents::of(live.engine()?) })
    }
}

/// Whether what the switch holds is little enough to be copied.
pub fn can_be_copied<L: Replay>(live: &mut Live<L>) -> bool {
    let Some(engine) = live.engine() else { return false };
    let (program, store) = (engine.program(), engine.store());
    let entries: usize = program.tables.iter().map(|(table, _)| store.entry_count(table)).sum();
    let elements: u64 = program.registers.values().map(|register| register.size).sum();
    entries <= MOST_ENTRIES && elements <= MOST_ELEMENTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::{MemoryPort, Settings};

    #[test]
    fn a_sample_is_over_when_it_is_full_or_late_and_stale_after_that() {
        let at = Duration::from_millis;
        let mut sampling = Sampling::default();
        assert_eq!(sampling.stage(at(0)), Stage::None);
        sampling.begin(at(100));
        sampling.begin(at(500));
        let stages = [100, 699, 700, 2099, 2100].map(|time| sampling.stage(at(time)));
        assert_eq!(stages, [Stage::UnderWay, Stage::UnderWay, Stage::Over, Stage::Over, Stage::None]);
        sampling.begin(at(3000));
        assert_eq!(sampling.stage(at(3000)), Stage::UnderWay);
        sampling.packets = vec![Tapped { port: 0, clock_ns: 0, bytes: Vec::new() }; FULL];
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
