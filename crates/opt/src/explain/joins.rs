//! What became of each pair of tables that are looked up one after the other.

use super::Decision;
use crate::Inputs;
use crate::inputs::Joins;
use crate::rewrite::join::{Profit, Verdict, consider};
use hlir::Program;

pub fn decisions(program: &Program, inputs: &Inputs) -> Vec<Decision> {
    let name = |table: hlir::TableId| program.tables[table].name.clone();
    let made = program.joins.iter().map(|join| Decision {
        what: format!("join of {}, {}", name(join.first), name(join.second)),
        chosen: format!("made: {}, at most {} entries", name(join.table), join.limit),
        reason: None,
    });
    let inputs = Inputs { joins: Joins::Profitable, ..inputs.clone() };
    let left = consider(&mut program.clone(), &inputs);
    made.chain(left.iter().map(decision)).collect()
}

fn decision(verdict: &Verdict) -> Decision {
    let pair = format!("join of {}, {}", verdict.first, verdict.second);
    let why = verdict.refused.as_deref().unwrap_or("it pays, and `--passes` with `join` makes it");
    let Some(profit) = &verdict.profit else {
        return Decision { what: pair, chosen: format!("refused: {why}"), reason: None };
    };
    let reason = crate::plan::reason(profit.joined, [("separate".to_string(), profit.separate)]);
    Decision { what: pair, chosen: format!("legal, not made: {why}; {}", numbers(profit)), reason }
}

/// The joint entries, and the inequality of BACUS with its numbers.
fn numbers(profit: &Profit) -> String {
    let holds = if profit.pays_by_bacus() { "pays" } else { "does not pay" };
    format!(
        "{} joint entries; BACUS: L_eff({} kB) {:.1} against 2 x L_eff({} kB) {:.1} + {}, {holds}",
        profit.entries,
        profit.joined_working_set.div_ceil(1024),
        profit.joined_latency,
        profit.working_set.div_ceil(1024),
        profit.latency,
        Profit::DELTA,
    )
}
