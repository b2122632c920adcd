//! The effort of planners grows with the number of tables, not with its square: tests count what is computed.

use super::{Planner, Wants, planner, with_planner};
use crate::inputs::machine::VectorUnit;
use crate::inputs::{Content, Machine};
use crate::{Inputs, Selection, planners};
use hlir::text::parse_file;
use hlir::{Plan, Program};
use std::fmt::Write as _;

/// A program of so many tables in series that share a key.
pub(crate) fn in_series(tables: usize) -> Program {
    series(tables, |_| "key h.key: exact\n  action set(v: 32) { y = v }\n  action none() {}".to_string())
}

/// A program of so many tables in series, each with a key that the one before it sets.
pub(crate) fn in_chain(tables: usize) -> Program {
    series(tables, |table| {
        let key = table.checked_sub(1).map_or("h.key".to_string(), |before| format!("x{before}"));
        format!("key {key}: exact\n  action set(v: 32) {{ x{table} = v }}\n  action none() {{}}")
    })
}

fn series(tables: usize, keys_and_actions: impl Fn(usize) -> String) -> Program {
    let mut text =
        "program series for none\n\nheader h: h_t { key: 48 }\nvariable y: 32\nvariable error: 32\n".to_string();
    (0..tables).for_each(|table| text += &format!("variable x{table}: 32\n"));
    text += "\n";
    for table in 0..tables {
        let _ = write!(text, "table t{table} {{\n  {}\n  default none()\n}}\n\n", keys_and_actions(table));
    }
    text += "parser parser { start start, accept n0, reject n0, error error }\n\nentry start\n\n";
    text += "node start: state of parser { extract h } -> n0\n\n";
    for table in 0..tables {
        let next = if table + 1 == tables { "queue".to_string() } else { format!("n{}", table + 1) };
        let _ = write!(text, "node n{table}: apply t{table} -> {next}\n\n");
    }
    text += "node queue: buffer { send 32w1 }\n";
    parse_file(&text).unwrap_or_else(|errors| panic!("{errors:#?}")).program
}

/// Inputs whose tables have so many entries: equally many, or every fourth table so many times more.
fn filled(tables: usize, entries: u64, factor: u64) -> Inputs {
    // Stages pay there: misses are expensive.
    let mut machine = Machine::default();
    machine.lines.load.iter_mut().flatten().for_each(|cycles| *cycles *= 4.0);
    let mut inputs = Inputs { machine, ..Inputs::default() };
    for table in 0..tables {
        let entries = if table % 4 == 3 { entries * factor } else { entries };
        let content = Content { entries, records: 16, masks: 1, is_known: true, ..Content::default() };
        inputs.occupancy.tables.insert(format!("t{table}"), content);
    }
    inputs
}

/// What all planners together compute for so many tables: evaluations of plans, and costs of lookups.
fn effort(program: &Program, inputs: &Inputs) -> (usize, usize) {
    with_planner(program, inputs, &planners(&Selection::All), |planner: &Planner| {
        let mut plan = Plan::default();
        planner.fill(&mut plan, None);
        assert_eq!(plan.tables.len(), program.tables.len());
        (planner.model.evaluations(), planner.model.costs())
    })
}

#[test]
fn costs_of_lookups_grow_with_the_number_of_tables() {
    for (entries, factor) in [(1 << 4, 1), (1 << 17, 1), (1 << 10, 1 << 8)] {
        let of = |tables: usize| effort(&in_series(tables), &filled(tables, entries, factor));
        let ((few_plans, few_costs), (many_plans, many_costs)) = (of(40), of(80));
        assert!(few_plans > 40 && few_costs > 40, "each table has several structures");
        assert!(
            many_costs as f64 <= 2.2 * few_costs as f64,
            "{entries} {factor}: {few_costs} costs, then {many_costs}"
        );
        assert!(
            many_plans as f64 <= 2.5 * few_plans as f64,
            "{entries} {factor}: {few_plans} plans, then {many_plans}"
        );
    }
}

#[test]
fn programs_are_compared_without_planning_what_is_empty() {
    let program = in_series(40);
    let inputs = filled(40, 0, 1);
    let planned = |wants: Wants| {
        planner(&program, (&inputs, &planners(&Selection::All), wants), |planner: &Planner| {
            let mut plan = Plan::default();
            planner.fill(&mut plan, None);
            plan.tables.len()
        })
    };
    assert_eq!((planned(Wants::Plan), planned(Wants::Cycles)), (40, 0));
}

#[test]
fn equal_tables_are_one_class_of_lookups() {
    let program = in_series(40);
    with_planner(&program, &Inputs::default(), &[], |planner| {
        assert_eq!(planner.model.lookups(&Plan::default()).kinds(), 1);
    });
}

#[test]
fn schedules_of_vector_code_grow_with_the_number_of_tables() {
    // The commit phase is scheduled for few tables alone.
    for program in [in_series, in_chain] {
        for entries in [1 << 4, 1 << 20] {
            let of = |tables: usize| {
                let mut inputs = filled(tables, entries, 1);
                inputs.machine.vector = Some(VectorUnit { packets: 16, operation_cycles: 0.25 });
                with_planner(&program(tables), &inputs, &planners(&Selection::All), |planner: &Planner| {
                    planner.fill(&mut Plan::default(), None);
                    planner.model.scheduled()
                })
            };
            let (few, many) = (of(40), of(160));
            assert!(few > 0, "some stages have a vector form");
            assert!(many as f64 <= 4.5 * few as f64, "{entries}: {few} values, then {many}");
        }
    }
}
