//! Chooses joins: greedily, the one that gains most in the predicted cycles of the whole plan.
//!
//! A joint table takes memory, and writes to its sources take longer. So one is made only where its size is known and
//! the gain is clear.

use super::{Candidate, JoinChoice, candidates, given, join_tables, made, with_joint_contents};
use crate::inputs::{Inputs, Joins};
use crate::plan::{reason, with_planner};
use hlir::plan::{Choice, JoinKind};
use hlir::verify::{Places, verify_pins_at};
use hlir::{Plan, Program};

/// Relative gain required of a join. Of 28 sets of joins of l2l3acl and l2fwd, none took more than 1.045 of what was
/// predicted for it relative to no joins, near ties 1.004 (Zen 5); where 0.973 was predicted, 0.910 was measured.
const CLEAR: f64 = 0.02;
/// Programs that are planned as a whole, at most; and those with one more join each. Each plan takes as long as the one
/// of the program itself.
const MOST_PLANS: usize = 16;
const MOST_AT_ONCE: usize = 4;
/// Joins that are made to predict them packet by packet, at most.
const MOST_PREDICTED: usize = 32;
/// Joins that may save too little by themselves before one that makes them worth it.
const MOST_WAITING: usize = 2;

/// Predicted cycles of a program with the plan that it will have.
pub type Cycles<'a> = &'a dyn Fn(&Program, &Inputs) -> f64;

/// Whether a join is worth its memory and its writes.
pub fn is_clear(separate: f64, joined: f64) -> bool {
    joined < separate * (1.0 - CLEAR)
}

/// Why a join is not tried. Inputs are those of the program before it.
pub fn objection(program: &Program, candidate: &Candidate, inputs: &Inputs) -> Option<&'static str> {
    let tables = [candidate.first, candidate.second].map(|table| &program.tables[table]);
    let [first, second] = tables.map(|table| inputs.occupancy.of(table));
    // Then there are as many joint entries as the first table has, which is declared.
    let is_bounded = candidate.is_determined && tables[1].entries_constant && tables[0].size.is_some();
    match given((&tables[0].name, &tables[1].name), candidate.kind, inputs) {
        Some(choice) if !choice.made => Some("ruled out"),
        _ if first.is_empty() || second.is_empty() => Some("a table is empty"),
        _ if !(is_bounded || first.is_known && second.is_known) => Some("its entries are assumed"),
        _ if candidate.most_entries > candidate.limit => Some("it may have no room for its entries"),
        Some(_) | None => None,
    }
}

/// Makes the joins that are given or named, and those that pay. Gives all of them, as plans have them.
pub fn choose(program: &mut Program, inputs: &Inputs, cycles: Cycles) -> Vec<JoinChoice> {
    let chosen = chosen(program, inputs, cycles);
    let mut with_chosen = inputs.clone();
    with_chosen.constraints.joins.extend(chosen.iter().cloned());
    join_tables(program, &with_chosen);
    let mut made = made(program);
    for choice in &mut made {
        let same =
            chosen.iter().find(|it| (&it.first, &it.second, it.kind) == (&choice.first, &choice.second, choice.kind));
        choice.reason = same.and_then(|it| it.reason.clone());
    }
    made
}

/// Joins that pay, beside those that the user has given.
fn chosen(program: &Program, inputs: &Inputs, cycles: Cycles) -> Vec<JoinChoice> {
    let pinned = &inputs.constraints;
    // Given nodes, stages and queues are those of the program as it is.
    let has_stages = pinned.hot_path.is_some() || !pinned.loops.is_empty();
    if inputs.joins != Joins::Chosen || has_stages || !pinned.queues.is_empty() {
        return Vec::new();
    }
    let (mut program, mut least, mut plans) = (program.clone(), None, 0);
    // Two joins may gain more than either alone: the first waits for the second.
    let (mut chosen, mut waiting) = (Vec::new(), Vec::new());
    join_tables(&mut program, inputs);
    while plans < MOST_PLANS && waiting.len() < MOST_WAITING {
        let here = with_joint_contents(&program, inputs);
        let promising = promising(&program, &here);
        if promising.is_empty() {
            break;
        }
        let separate: f64 = *least.get_or_insert_with(|| cycles(&program, &here));
        plans += 1 + promising.len();
        let planned = promising
            .into_iter()
            .map(|(it, joined)| (cycles(&joined, &with_joint_contents(&joined, inputs)), it, joined));
        let mut planned: Vec<(f64, Candidate, Program)> = planned.collect();
        planned.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
        let mut planned = planned.into_iter();
        let Some((joined, best, with_best)) = planned.next() else { break };
        let [first, second] = [best.first, best.second].map(|table| program.tables[table].name.clone());
        // The same two tables, joined otherwise.
        let other = planned.find(|(_, other, _)| (other.first, other.second) == (best.first, best.second));
        let other = other.map(|(cycles, other, _)| (choice_of(other.kind), cycles));
        let reason = reason(joined, [(Choice::Separate, separate)].into_iter().chain(other));
        waiting.push(JoinChoice { first, second, kind: best.kind, made: true, reason });
        program = with_best;
        if is_clear(separate, joined) {
            chosen.append(&mut waiting);
            least = Some(joined);
        }
    }
    chosen
}

fn choice_of(kind: JoinKind) -> Choice {
    match kind {
        JoinKind::Table => Choice::JointTable,
        JoinKind::Value => Choice::ByValue,
    }
}

/// Joins that may pay, each with its program, those of the least cycles packet by packet first.
fn promising(program: &Program, inputs: &Inputs) -> Vec<(Candidate, Program)> {
    let is_known = |table: &&hlir::Table| {
        let content = inputs.occupancy.of(table);
        content.is_known && content.entries > 0
    };
    if program.tables.values().filter(is_known).count() == 0 {
        return Vec::new();
    }
    let mut candidates = candidates(program, inputs);
    candidates.retain(|candidate| objection(program, candidate, inputs).is_none());
    if candidates.len() > MOST_PREDICTED {
        // The smallest joint tables.
        candidates.sort_by_key(|candidate| candidate.entries);
        candidates.truncate(MOST_PREDICTED);
    }
    let with_program = |candidate: Candidate| {
        let joined = candidate.joined(program);
        (candidate, joined)
    };
    let mut joined: Vec<(Candidate, Program)> = candidates.into_iter().map(with_program).collect();
    joined.retain(|(_, joined)| verify_pins_at(joined, &inputs.constraints, &Places::default()).is_empty());
    if joined.len() > MOST_AT_ONCE {
        let plain = |joined: &Program| {
            let inputs = with_joint_contents(joined, inputs);
            with_planner(joined, &inputs, &[], |planner| planner.model.predict(&Plan::default()).cycles())
        };
        let mut costs: Vec<(f64, (Candidate, Program))> = joined.into_iter().map(|it| (plain(&it.1), it)).collect();
        costs.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        joined = costs.into_iter().take(MOST_AT_ONCE).map(|(_, it)| it).collect();
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Content;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Lookups in series, each of which names the entry of the next.
    fn series(count: usize) -> (Program, Inputs) {
        let mut text = "program series for none\nheader h: h_t { key: 16 }\nvariable error: 32\n".to_string();
        for at in 0..count {
            let table = format!("table t{at} {{\n  key h.key: exact\n  action set(key: 16) {{ h.key = key }}\n");
            text.push_str(&format!("{table}  default set(0)\n}}\n"));
        }
        text.push_str("parser parser { start start, accept t0, reject t0, error error }\nentry start\n");
        text.push_str("node start: state of parser { extract h } -> t0\n");
        (0..count).for_each(|at| text.push_str(&format!("node t{at}: apply t{at} -> t{}\n", at + 1)));
        text.push_str(&format!("node t{count}: buffer {{ send 32w1 }}\n"));
        let program = hlir::text::parse_program(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let mut inputs = Inputs { joins: Joins::Chosen, ..Inputs::default() };
        let content = Content { entries: 16, records: 16, masks: 1, is_known: true, ..Content::default() };
        inputs.occupancy.tables.extend((0..count).map(|at| (format!("t{at}"), content)));
        (program, inputs)
    }

    #[test]
    fn few_programs_are_planned_however_many_joins_there_are() {
        static PLANNED: AtomicUsize = AtomicUsize::new(0);
        // Each join saves a tenth.
        let cycles: Cycles = &|program, _| {
            PLANNED.fetch_add(1, Ordering::Relaxed);
            0.9_f64.powi(program.joins.len() as i32)
        };
        let (mut program, inputs) = series(24);
        let made = choose(&mut program, &inputs, cycles);
        let planned = PLANNED.load(Ordering::Relaxed);
        assert!(made.len() > 2 && made.iter().all(|choice| choice.reason.is_some()), "{made:?}");
        assert!(planned > made.len() && planned <= MOST_PLANS + MOST_AT_ONCE, "{planned} plans");
    }

    #[test]
    fn a_joint_table_has_room_for_its_entries() {
        let (program, mut inputs) = series(2);
        let objection = |inputs: &Inputs| objection(&program, &candidates(&program, inputs)[0], inputs);
        assert_eq!(objection(&inputs), None);
        inputs.occupancy.tables.get_mut("t0").expect("it is known").entries = 2 << 20;
        assert_eq!(objection(&inputs), Some("it may have no room for its entries"));
    }

    #[test]
    fn a_join_that_saves_little_is_made_for_the_one_behind_it() {
        let (mut program, inputs) = series(4);
        let third: Cycles = &|program, _| [10.0, 9.95, 9.1, 9.05][program.joins.len().min(3)];
        assert_eq!(choose(&mut program, &inputs, third).len(), 2, "both together save enough, the third does not");
        let (mut program, inputs) = series(4);
        let none: Cycles = &|program, _| [10.0, 10.1, 9.9, 9.85][program.joins.len().min(3)];
        assert_eq!(choose(&mut program, &inputs, none).len(), 0);
    }

    #[test]
    fn joins_are_made_as_long_as_each_saves_enough() {
        let (mut program, inputs) = series(4);
        let two: Cycles = &|program, _| [10.0, 9.0, 8.9][program.joins.len().min(2)];
        assert_eq!(choose(&mut program, &inputs, two).len(), 1, "the second saves too little");
    }
}
