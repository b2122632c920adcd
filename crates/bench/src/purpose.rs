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
}

/// What can be asked for.
pub const EXPERIMENTS: [&str; 11] = [
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
];

/// Those without a number.
const NAMES: [(&str, Experiment); 10] = [
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
];

impl Experiment {
    /// Percent of the packets that are dropped.
    pub fn dropped(self) -> u32 {
        if let Experiment::Drops(percent) = self { percent } else { 0 }
    }

    /// Whether it answers an experiment of a paper, with a figure of its own.
    pub fn is_of_paper(self) -> bool {
        !matches!(self, Experiment::Programs | Experiment::Drops(_))
    }
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, NAMES.iter().find(|(_, experiment)| experiment == self)) {
            (Experiment::Drops(percent), _) => write!(f, "drops-{percent}"),
            (_, name) => f.write_str(name.map_or("", |(name, _)| name)),
        }
    }
}

impl FromStr for Experiment {
    type Err = String;

    fn from_str(text: &str) -> Result<Experiment, String> {
        if let Some((_, experiment)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*experiment);
        }
        match text.split_once('-') {
            Some(("drops", percent)) => {
                percent.parse().map(Experiment::Drops).map_err(|error| format!("`{text}`: {error}"))
            }
            None | Some(_) => Err(format!("`{text}` is no experiment")),
        }
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
        assert_eq!(NAMES.len() + 1, EXPERIMENTS.len(), "drops is the one with a number");
    }
}
