//! What batches, and then software pipelining with prefetches, gain over the same program packet by packet: with the papers' data structures on both
//! sides, and with the structures of our best plan on both sides.
//!
//! The papers' structures are bucketised cuckoo hashing for exact keys, DIR-24-8 for IPv4 and a trie for IPv6 prefixes.

use super::experiment::Experiment;
use super::report::{Record, best};
use super::sweep::{self, Point};
use hlir::plan::{Structure, TablePlan};
use hlir::{Plan, Program};
use opt::Inputs;
use std::fmt::Write as _;

/// Percent that batches and pipelining together gained in the papers (C-OPT, Fig. 2).
const PAPERS: [(&str, f64); 4] = [("l2fwd", 138.0), ("ipv4fwd", 64.0), ("ipv6fwd", 280.0), ("l2l3acl", 135.0)];

/// Names of variants: the program packet by packet and what is compared with it.
const PINNED: &str = "papers:packet";
const BATCHED: &str = "papers:B";
const PIPELINED: &str = "papers:B+S+P";
const OURS: &str = "best:packet";
const BEST: &str = "best";

/// The plans of this experiment, but for the best one, which every experiment has.
pub fn plans(program: &Program, inputs: &Inputs) -> Vec<Point> {
    let mut pinned = inputs.clone();
    pinned.constraints.tables = papers_structures(program);
    let (best, pipelined) = (sweep::planned(program, inputs), sweep::planned(program, &pinned));
    let staged = Plan { tables: pipelined.tables.clone(), ..sweep::staged(program, &pinned) };
    let group = staged.loops.iter().map(|stage| stage.group).min().unwrap_or(1);
    let batched = sweep::placed(&staged, group, None);
    let in_turn = |plan: &Plan| plan.clone().packet_by_packet();
    let point = |name: &str, plan: Plan| Point { name: name.to_string(), plan };
    let mut points = vec![point(PINNED, in_turn(&pipelined)), point(PIPELINED, pipelined), point(OURS, in_turn(&best))];
    if hlir::verify::verify_plan(program, &batched).is_empty() {
        points.insert(1, point(BATCHED, batched));
    }
    points
}

/// Tables whose keys the papers have a structure for, which is the plain program's as well; rules are left to the planner, on both sides.
pub fn papers_structures(program: &Program) -> Vec<TablePlan> {
    let tables = program.tables.iter().filter(|(_, table)| !table.keys.is_empty());
    let structures = tables.map(|(id, table)| (Structure::of_keys(&program.key_kinds(id)), table.name.clone()));
    let known = structures.filter(|(structure, _)| *structure != Structure::List);
    known.map(|(structure, table)| TablePlan { table, structure, reason: None }).collect()
}

/// A line a gain: the papers', what the model predicts, what was measured, and how much of what was predicted that is.
pub fn table(records: &[Record]) -> String {
    let mut text = String::new();
    for of in records.iter().filter(|record| record.case.experiment == Experiment::Gains) {
        let pairs: &[(&str, &str)] = match of.variant.as_str() {
            PINNED => &[(PINNED, BATCHED), (PINNED, PIPELINED)],
            OURS => &[(OURS, BEST)],
            _ => &[],
        };
        for (from, to) in pairs {
            let row = |name: &str| best(records, of, |other| other.variant == name);
            if let (Some(before), Some(after)) = (row(from), row(to)) {
                if text.is_empty() {
                    head(&mut text);
                }
                line(&mut text, before, after);
            }
        }
    }
    text
}

fn head(text: &mut String) {
    let _ = writeln!(
        text,
        "\ngains in packets a second over the same data structures packet by packet\n{:<20} {:<16} {:<16} {:>9} {:>9} {:>9} {:>10}",
        "case", "from", "to", "papers", "model", "measured", "of model"
    );
}

fn percent(gain: f64) -> String {
    format!("{:+.0} %", gain * 100.0)
}

fn line(text: &mut String, before: &Record, after: &Record) {
    let measured = before.cycles / after.cycles - 1.0;
    let model = before.predicted.zip(after.predicted).map(|(before, after)| before / after - 1.0);
    let of_papers = PAPERS.iter().find(|(name, _)| *name == before.case.application && after.variant == PIPELINED);
    let papers = of_papers.map_or("-".to_string(), |(_, gain)| percent(gain / 100.0));
    // Of a gain that is none there is no share.
    let share = model.filter(|gain| *gain >= 0.01).map_or("-".to_string(), |gain| format!("{:.2}", measured / gain));
    let _ = writeln!(
        text,
        "{:<20} {:<16} {:<16} {papers:>9} {:>9} {:>9} {share:>10}",
        format!("{}:{}", before.case.application, before.case.size),
        before.variant,
        after.variant,
        model.map_or("-".to_string(), percent),
        percent(measured),
    );
}
