//! The experiments of the papers: each measured by one command, with the paper's numbers beside ours, and a figure that answers the paper's.
//!
//! The cases are measured as all others are. What is here chooses them, makes their plans, and reads the records.

mod axis;
mod calibration;
mod figure;
mod html;
mod load;
mod outcome;
pub mod plans;
mod read;
pub mod report;
mod rows;

pub use figure::{Figure, Role};
pub use load::Watch;
pub use outcome::Outcome;

use crate::experiment::Experiment;
use crate::mix::Mix;
use crate::options::Options;
use crate::report::Record;
use driver::failure::Failure;
use driver::files;
use driver::machine_file;
use measure::calibrate;
use outcome::Reading;
use rows::Rows;
use runtime::Compiler;
use std::path::Path;

/// An experiment of a paper.
struct Paper {
    experiment: Experiment,
    shows: &'static str,
    source: &'static str,
    read: fn(&Rows<'_>) -> Reading,
}

const fn paper(
    experiment: Experiment,
    shows: &'static str,
    source: &'static str,
    read: fn(&Rows<'_>) -> Reading,
) -> Paper {
    Paper { experiment, shows, source, read }
}

const ALL: [Paper; 13] = [
    paper(Experiment::Gains, "what batching, scheduling and prefetching gain", "COP, figure 2", read::gains::gains),
    paper(
        Experiment::GainsModel,
        "what batching gains, then prefetching; sizes of groups; beside code tuned by hand",
        "A Performance Model, figures 2 and 3",
        read::gains::groups,
    ),
    paper(Experiment::Join, "what table joins gain on l2l3acl", "COP, table 1", read::joins::join),
    paper(
        Experiment::JoinSweep,
        "up to how many entries the join of l2fwd's two tables pays",
        "P4+BACUS, figure 13",
        read::joins::sweep,
    ),
    paper(
        Experiment::Ablation,
        "each transformation on small and on large tables",
        "P4+BACUS, figures 14 and 15",
        read::ablation::read,
    ),
    paper(
        Experiment::Peers,
        "compiled programs beside programs over DPDK's libraries",
        "P4+BACUS, figure 1; A Performance Model, figure 3",
        read::peers::read,
    ),
    paper(
        Experiment::BatchSize,
        "throughput over batch size and table size",
        "A Performance Model, figure 5",
        read::batches::read,
    ),
    paper(
        Experiment::Predicted,
        "predicted against measured cycles",
        "A Performance Model, section 3",
        read::predicted::read,
    ),
    paper(
        Experiment::Metadata,
        "what becomes of the driver's descriptor: copied, laid over, or exchanged for the program's own",
        "PacketMill, section 4",
        read::metadata::read,
    ),
    paper(
        Experiment::Accesses,
        "accesses to the packet's bytes: each for itself, combined, and cached",
        "Optimizing Packet Accesses, table 2",
        read::accesses::read,
    ),
    paper(
        Experiment::Trie(0),
        "path compression of a trie on 20,000 prefixes of 48 bits",
        "A Performance Model, 4.6",
        read::trie::read,
    ),
    paper(Experiment::Cores, "throughput over workers", "A Performance Model, figure 4", read::cores::read),
    paper(
        Experiment::Paths(Mix::of(100, 0)),
        "one hot path against several, on mixes of IPv4, IPv6 and ARP",
        "of no paper",
        read::paths::read,
    ),
];

/// Without cases: it measures the machine.
const CALIBRATION: (&str, &str, &str) = (
    "calibration",
    "reorder buffer, misses in flight, effective latency, batches",
    "P4+BACUS, figures 8 to 10 and table 1",
);

/// How a run went, beside its records.
pub struct Conditions {
    pub load: outcome::Load,
    pub notes: Vec<String>,
}

/// Names of all, and what they show.
pub fn described() -> Vec<(String, &'static str)> {
    let of_cases = ALL.iter().map(|paper| (paper.experiment.name().to_string(), paper.shows));
    of_cases.chain([(CALIBRATION.0.to_string(), CALIBRATION.1)]).collect()
}

/// What the experiments found of which there are records, in the order of the papers.
pub fn outcomes(records: &[Record], options: &Options, conditions: &Conditions) -> Vec<Outcome> {
    let outcome = |paper: &Paper| {
        let name = paper.experiment.name();
        let own: Vec<Record> = records.iter().filter(|record| record.case.experiment.name() == name).cloned().collect();
        let first = own.first()?;
        let mut reading = (paper.read)(&Rows::new(&own));
        reading.notes.extend(conditions.notes.iter().cloned());
        let described = (name, paper.shows, paper.source);
        let outcome = outcome(described, (options, &first.compiler, conditions.load), reading);
        let records = own.iter().filter_map(|record| serde_json::from_str(&record.json()).ok()).collect();
        Some(Outcome { records, ..outcome })
    };
    ALL.iter().filter_map(outcome).collect()
}

/// Measures the machine, and puts it beside the paper's.
pub fn calibration(options: &Options) -> Result<Outcome, Failure> {
    let watch = Watch::begin();
    let (reading, _) = calibration::run(options)?;
    let compiler = Compiler::find(options.native.cc.as_deref())?.version().to_string();
    Ok(outcome(CALIBRATION, (options, &compiler, watch.load()), reading))
}

fn outcome(
    (experiment, shows, source): (&str, &str, &str),
    (options, compiler, load): (&Options, &str, outcome::Load),
    Reading { findings, figures, notes }: Reading,
) -> Outcome {
    let machine = options.machine.as_deref().and_then(Path::file_stem);
    Outcome {
        experiment: experiment.to_string(),
        shows: shows.to_string(),
        source: source.to_string(),
        machine: machine.map_or(String::new(), |stem| stem.to_string_lossy().into_owned()),
        processor: machine_file::cpu(),
        compiler: compiler.to_string(),
        command: command(experiment, std::env::args().skip(1)),
        date: calibrate::now(),
        load,
        findings,
        figures,
        notes,
        records: Vec::new(),
    }
}

/// As the user wrote it, but with this experiment alone.
fn command(experiment: &str, arguments: impl Iterator<Item = String>) -> String {
    let mut words = vec!["bacus".to_string()];
    for word in arguments {
        let is_value = words.last().is_some_and(|last| last == EXPERIMENT);
        let with_value = word.strip_prefix(EXPERIMENT).is_some_and(|rest| rest.starts_with('='));
        words.push(match (is_value, with_value) {
            (true, _) => experiment.to_string(),
            (false, true) => format!("{EXPERIMENT}={experiment}"),
            (false, false) => word,
        });
    }
    words.join(" ")
}

const EXPERIMENT: &str = "--experiment";

/// `NAME.json`, and each figure as a picture: `NAME.svg`, `NAME-2.svg`, ….
pub fn write(folder: &Path, outcome: &Outcome) -> Result<(), Failure> {
    let name = &outcome.experiment;
    let text = serde_json::to_string_pretty(outcome).map_err(|error| Failure::environment(error.to_string()))?;
    files::write(&folder.join(format!("{name}.json")), (text + "\n").as_bytes())?;
    files::write(&folder.join(format!("{name}.txt")), outcome.table().as_bytes())?;
    for (number, figure) in outcome.figures.iter().enumerate() {
        let suffix = if number == 0 { String::new() } else { format!("-{}", number + 1) };
        files::write(&folder.join(format!("{name}{suffix}.svg")), figure.file().as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper_cases;

    #[test]
    fn the_command_of_an_experiment_measures_it_alone() {
        for (given, expected) in [
            ("bench --experiment gains,join --quick", "bacus bench --experiment join --quick"),
            ("bench --experiment=papers --out out", "bacus bench --experiment=join --out out"),
            ("bench", "bacus bench"),
        ] {
            assert_eq!(command("join", given.split(' ').map(str::to_string)), expected);
        }
    }

    #[test]
    fn every_experiment_of_a_paper_is_read_and_has_cases() {
        let papers = ALL.map(|paper| paper.experiment.name());
        let planned: Vec<&str> = paper_cases::ALL.iter().map(|planned| planned.experiment.name()).collect();
        assert!(paper_cases::ALL.iter().all(|planned| planned.experiment.is_of_paper()));
        assert!(planned.iter().all(|name| papers.contains(name)) && papers.iter().all(|name| planned.contains(name)));
    }
}
