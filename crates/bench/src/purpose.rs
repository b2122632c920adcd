//! What a case is measured for: an experiment, by name.

use crate::mix::Mix;
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
    /// Of the same name: beside routers that are programs of their own, on interfaces of the kernel.
    Forwarders,
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
    /// One hot path against several, on a mix of IPv4, IPv6 and ARP.
    Paths(Mix),
}

/// What can be asked for.
pub const EXPERIMENTS: [&str; 16] = [
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
    "paths",
];

/// How a case of these is written; the experiment is `peers`.
const FORWARDERS: &str = "forwarders";

/// Those without numbers.
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

    /// As it is asked for: without numbers.
    pub fn name(self) -> &'static str {
        if let Experiment::Drops(_) = self {
            return "drops";
        }
        if let Experiment::Trie(_) = self {
            return "trie";
        }
        if let Experiment::Paths(_) = self {
            return "paths";
        }
        if let Experiment::Forwarders = self {
            return "peers";
        }
        NAMES.iter().find(|(_, experiment)| *experiment == self).map_or("", |(name, _)| name)
    }

    /// How many of the packets are of which family, in applications that have several.
    pub fn mix(self) -> Mix {
        if let Experiment::Paths(mix) = self { mix } else { Mix::default() }
    }

    /// Whether it is read as a paper's experiment: with predictions from before, and a figure of its own.
    pub fn is_of_paper(self) -> bool {
        !matches!(self, Experiment::Programs | Experiment::Drops(_))
    }
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Experiment::Forwarders = self {
            return f.write_str(FORWARDERS);
        }
        f.write_str(self.name())?;
        if let Experiment::Paths(mix) = self {
            return write!(f, "-{mix}");
        }
        if let Experiment::Drops(percent) | Experiment::Trie(percent) = self { write!(f, "-{percent}") } else { Ok(()) }
    }
}

impl FromStr for Experiment {
    type Err = String;

    fn from_str(text: &str) -> Result<Experiment, String> {
        if let Some((_, experiment)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*experiment);
        }
        let (name, numbers) = text.split_once('-').unwrap_or((text, ""));
        let percent = || numbers.parse().map_err(|error| format!("`{text}`: {error}"));
        match name {
            FORWARDERS => Ok(Experiment::Forwarders),
            "drops" => percent().map(Experiment::Drops),
            "trie" => percent().map(Experiment::Trie),
            "paths" => numbers.parse().map(Experiment::Paths),
            _ => Err(format!("`{text}` is no experiment")),
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
        assert_eq!(NAMES.len() + 4, EXPERIMENTS.len(), "three have numbers, and the calibration has no cases");
        for numbered in
            [Experiment::Drops(4), Experiment::Trie(50), Experiment::Paths(Mix::of(70, 25)), Experiment::Forwarders]
        {
            assert!(numbered.to_string().parse() == Ok(numbered) && EXPERIMENTS.contains(&numbered.name()));
        }
    }
}
