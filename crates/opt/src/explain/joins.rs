//! What became of each pair of tables that are looked up one after the other.

use super::Decision;
use super::profit::{Profit, profit};
use crate::Inputs;
use crate::rewrite::join::{candidates, objection, refused};
use hlir::plan::JoinChoice;
use hlir::{Plan, Program, TableId};

pub fn decisions(program: &Program, plan: &Plan, inputs: &Inputs) -> Vec<Decision> {
    let name = |table: TableId| program.tables[table].name.as_str();
    let decision = |first: TableId, second: TableId, chosen: String| Decision {
        what: format!("join of {}, {}", name(first), name(second)),
        chosen,
        reason: None,
    };
    let made = program.joins.iter().map(|join| {
        let is_it = |it: &&JoinChoice| (it.first.as_str(), it.second.as_str()) == (name(join.first), name(join.second));
        let reason = plan.joins.iter().find(is_it).and_then(|choice| choice.reason.clone());
        let how = if reason.is_some() { "chosen" } else { "made" };
        let chosen = format!("{how}: {}, at most {} entries", name(join.table), join.limit);
        Decision { reason, ..decision(join.first, join.second, chosen) }
    });
    let legal = candidates(program, inputs).into_iter().map(|candidate| {
        let profit = profit(program, &candidate, inputs);
        let reason = crate::plan::reason(profit.joined, [("separate".to_string(), profit.separate)]);
        let why = objection(program, &candidate, inputs);
        Decision { reason, ..decision(candidate.first, candidate.second, legal(&profit, why)) }
    });
    let refused = refused(program);
    let refused = refused.iter().map(|(first, second, why)| decision(*first, *second, format!("refused: {why}")));
    made.chain(legal).chain(refused).collect()
}

/// The verdict of the model, the joint entries, and the inequality of BACUS with its numbers.
fn legal(profit: &Profit, objection: Option<&str>) -> String {
    let verdict = match (profit.pays(), objection) {
        (true, Some(why)) => format!("would pay, but {why}"),
        (true, None) => "pays".to_string(),
        (false, _) if profit.joined < profit.separate => "gains too little".to_string(),
        (false, _) => "does not pay".to_string(),
    };
    let pays = |pays: bool| if pays { "pays" } else { "does not pay" };
    let assumed = if profit.is_known { "" } else { " (assumed)" };
    format!(
        "not joined: {verdict}, {} joint entries{assumed}; BACUS: L_eff({} kB) {:.1} against 2 x L_eff({} kB) {:.1} + {}, {}",
        profit.entries,
        profit.joined_working_set.div_ceil(1024),
        profit.joined_latency,
        profit.working_set.div_ceil(1024),
        profit.latency,
        Profit::DELTA,
        pays(profit.pays_by_bacus()),
    )
}
