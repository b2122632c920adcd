//! What a case is measured for: an experiment, by name.

use std::fmt;
use std::str::FromStr;

/// What a case is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Programs under plans, beside those by hand.
    Programs,
    /// With so many percent of the packets dropped.
    Drops(u32),
    /// What batches and prefetches gain, with the papers' data structures and with ours.
    Gains,
    /// The same by the older paper: batching alone, then prefetching, by group sizes, beside programs by hand.
    GainsModel,
    /// What joins of l2l3acl's tables gain.
    Join,
    /// Up to how many entries the join of l2fwd's tables pays.
    JoinSweep,
    /// Each transformation on small and on large tables.
    Ablation,
    /// Beside programs over DPDK's libraries.
    Peers,
    /// Batch sizes by table sizes.
    BatchSize,
    /// Predicted against measured, for every application.
    Predicted,
    /// What becomes of the driver's descriptor: copied, laid over, or exchanged for the program's own.
    Metadata,
    /// Path compression of tries, where so many percent of the prefixes have paths that can be compressed.
    Trie(u32),
    /// Accesses to the packet's bytes: each for itself, combined, and cached.
    Accesses,
    /// Throughput over workers.
    Cores,
}

/// What can be asked for.
pub const EXPERIMENTS: [&str; 15] = [
    "programs",
    "drops",
    "gains",
    "gains-model",
    "join",
    "join-sweep",
    "ablation",
    "peers",
    "batch-size",
    "predicted",
    "metadata",
    "accesses",
    "calibration",
    "trie",
    "cores",
];

/// Those without a number.
const NAMES: [(&str, Experiment); 12] = [
    ("programs", Experiment::Programs),
    ("gains", Experiment::Gains),
    ("gains-model", Experiment::GainsModel),
    ("join", Experiment::Join),
    ("join-sweep", Experiment::JoinSweep),
    ("ablation", Experiment::Ablation),
    ("peers", Experiment::Peers),
    ("batch-size", Experiment::BatchSize),
    ("predicted", Experiment::Predicted),
    ("metadata", Experiment::Metadata),
    ("accesses", Experiment::Accesses),
    ("cores", Experiment::Cores),
];

impl Experiment {
    /// Percent of the packets that are dropped.
    pub fn dropped(self) -> u32 {
        if let Experiment::Drops(percent) = self { percent } else { 0 }
    }

    /// As it is asked for: without a number.
    pub fn name(self) -> &'static str {
        if let Experiment::Drops(_) = self {
            return "drops";
        }
        if let Experiment::Trie(_) = self {
            return "trie";
        }
        NAMES.iter().find(|(_, experiment)| *experiment == self).map_or("", |(name, _)| name)
    }

    /// Whether it answers an experiment of a paper, with a figure of its own.
    pub fn is_of_paper(self) -> bool {
        !matches!(self, Experiment::Programs | Experiment::Drops(_))
    }
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if let Experiment::Drops(percent) | Experiment::Trie(percent) = self { write!(f, "-{percent}") } else { Ok(()) }
    }
}

impl FromStr for Experiment {
    type Err = String;

    fn from_str(text: &str) -> Result<Experiment, String> {
        if let Some((_, experiment)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*experiment);
        }
        let numbered: fn(u32) -> Experiment = match text.split_once('-') {
            Some(("drops", _)) => Experiment::Drops,
            Some(("trie", _)) => Experiment::Trie,
            None | Some(_) => return Err(format!("`{text}` is no experiment")),
        };
        let percent = text.split_once('-').map_or("", |(_, percent)| percent);
        percent.parse().map(numbered).map_err(|error| format!("`{text}`: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_can_be_asked_for_by_its_name() {
        for (name, experiment) in NAMES {
            assert!(EXPERIMENTS.contains(&name) && experiment.to_string() == name && name.parse() == Ok(experiment));
        }
        assert_eq!(NAMES.len() + 3, EXPERIMENTS.len(), "two have a number, and the calibration has no cases");
        for numbered in [Experiment::Drops(4), Experiment::Trie(50)] {
            assert!(numbered.to_string().parse() == Ok(numbered) && EXPERIMENTS.contains(&numbered.name()));
        }
    }
}
