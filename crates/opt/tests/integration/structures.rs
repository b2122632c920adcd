//! The structure that a table gets, against those that could be pinned in its place.

use hlir::plan::{Plan, Structure, TablePlan};
use hlir::text::parse_program;
use opt::analyze::Traffic;
use opt::inputs::Content;
use opt::model::Model;
use opt::{Inputs, Selection};

const PROGRAM: &str = "program filter for none
header h: h_t { a: 32, b: 32, c: 8 }
variable error: 32
table rules {
  key h.a: ternary
  key h.b: ternary
  action mark(c: 8) { h.c = c }
  action keep() {}
  default keep()
}
parser parser { start start, accept rules, reject rules, error error }
entry start
node start: state of parser { extract h } -> rules
node rules: apply rules -> out
node out: buffer { send 32w1 }
";

/// The plan, and its predicted cycles per packet.
fn planned(inputs: &Inputs) -> (Plan, f64) {
    let mut program = parse_program(PROGRAM).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut plan = Plan::default();
    opt::optimize(&mut program, &mut plan, inputs, &Selection::All, None);
    let traffic = Traffic::estimate(&program, inputs);
    let cycles = Model::new(&program, inputs, &traffic).predict(&plan).cycles();
    (plan, cycles)
}

/// In stages where the plan is free to cut some, and packet by packet where a burst is one packet: a few rules are a
/// `scan` in a stage and a `list` without.
#[test]
fn no_other_structure_makes_the_whole_plan_clearly_cheaper() {
    for (burst, structure) in [(0, Structure::Scan), (1, Structure::List)] {
        for (entries, masks) in [(2, 1), (4, 2), (8, 1), (8, 4), (16, 4), (32, 8), (64, 8)] {
            let mut inputs = Inputs::default();
            let content = Content { entries, records: entries, masks, is_known: true, ..Content::default() };
            inputs.occupancy.tables.insert("rules".to_string(), content);
            inputs.constraints.burst = burst;
            let (plan, cycles) = planned(&inputs);
            let chosen = plan.tables[0].structure;
            assert_eq!(plan.loops.is_empty(), burst == 1, "{entries} entries");
            assert!(entries != 8 || chosen == structure, "{burst}: {chosen:?}");
            for structure in [Structure::List, Structure::Scan, Structure::TupleSpace, Structure::BitVector] {
                let mut pinned = inputs.clone();
                pinned.constraints.tables.push(TablePlan { table: "rules".to_string(), structure, reason: None });
                let (_, other) = planned(&pinned);
                assert!(cycles <= other * 1.01, "{entries} entries: {chosen:?} {cycles}, {structure:?} {other}");
            }
        }
    }
}
