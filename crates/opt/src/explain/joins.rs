//! What became of each pair of tables that are looked up one after the other.

use super::explanation::{Decision, Group};
use super::profit::{Profit, profit};
use crate::plan::planned_cycles;
use crate::rewrite::join::{candidates, objection, refused};
use crate::{Inputs, Selection, planners};
use hlir::plan::{Choice, JoinChoice, JoinKind};
use hlir::{Plan, Program, TableId};
use std::cell::OnceCell;

/// Pairs for which the program is planned as a whole: each takes as long as the plan of the program itself.
const MOST_COMPARED: usize = 12;

pub fn decisions(program: &Program, plan: &Plan, inputs: &Inputs) -> Vec<Decision> {
    // As the pass has them: joins are for tables that have entries.
    let inputs = &Inputs { occupancy: inputs.occupancy.grown(program), ..inputs.clone() };
    let name = |table: TableId| program.tables[table].name.as_str();
    let decision = |first: TableId, second: TableId, kind: JoinKind, chosen: String| {
        let by = match kind {
            JoinKind::Table => "",
            JoinKind::Value => " by value",
        };
        let group = Group::NotJoined;
        Decision { what: format!("join of {}, {}{by}", name(first), name(second)), chosen, reason: None, group }
    };
    let made = program.joins.iter().map(|join| {
        let kind = if join.place.is_some() { JoinKind::Value } else { JoinKind::Table };
        let is_it = |it: &&JoinChoice| {
            (it.first.as_str(), it.second.as_str(), it.kind) == (name(join.first), name(join.second), kind)
        };
        let reason = plan.joins.iter().find(is_it).and_then(|choice| choice.reason.clone());
        let how = if reason.is_some() { "chosen" } else { "made" };
        let what = if kind == JoinKind::Value { "places" } else { "entries" };
        let chosen = format!("{how}: {}, at most {} {what}", name(join.table), join.limit);
        Decision { reason, group: Group::Join, ..decision(join.first, join.second, kind, chosen) }
    });
    let separate = OnceCell::new();
    let legal = candidates(program, inputs).into_iter().enumerate().map(|(number, candidate)| {
        if number >= MOST_COMPARED {
            let chosen = format!("not joined: not compared, only the first {MOST_COMPARED} pairs are");
            return decision(candidate.first, candidate.second, candidate.kind, chosen);
        }
        let separate = *separate.get_or_init(|| planned_cycles(program, inputs, &planners(&Selection::All)));
        let profit = profit(program, &candidate, inputs, separate);
        let reason = crate::plan::reason(profit.joined, [(Choice::Separate, profit.separate)]);
        let why = objection(program, &candidate, inputs);
        let legal = legal(&profit, candidate.kind, why);
        let group = if profit.pays() { Group::Join } else { Group::NotJoined };
        Decision { reason, group, ..decision(candidate.first, candidate.second, candidate.kind, legal) }
    });
    let refused = refused(program);
    let refused =
        refused.iter().map(|(first, second, kind, why)| decision(*first, *second, *kind, format!("refused: {why}")));
    made.chain(legal).chain(refused).collect()
}

/// The verdict of the model, the joint entries, and the inequality of BACUS with its numbers.
fn legal(profit: &Profit, kind: JoinKind, objection: Option<&str>) -> String {
    let verdict = match (profit.pays(), objection) {
        (true, Some(why)) => format!("would pay, but {why}"),
        (true, None) => "pays".to_string(),
        (false, _) if profit.joined < profit.separate => "gains too little".to_string(),
        (false, _) => "does not pay".to_string(),
    };
    let pays = |pays: bool| if pays { "pays" } else { "does not pay" };
    let assumed = if profit.is_known { "" } else { " (assumed)" };
    let what = match kind {
        JoinKind::Table => "joint entries",
        JoinKind::Value => "places",
    };
    format!(
        "not joined: {verdict}, {} {what}{assumed}; BACUS: L_eff({} kB) {:.1} against 2 x L_eff({} kB) {:.1} + {}, {}",
        profit.entries,
        profit.joined_working_set.div_ceil(1024),
        profit.joined_latency,
        profit.working_set.div_ceil(1024),
        profit.latency,
        Profit::DELTA,
        pays(profit.pays_by_bacus()),
    )
}
