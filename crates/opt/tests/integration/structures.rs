//! The structure that a table gets, against those that could be pinned in its place.

use hlir::facts::{Assumption, Fact};
use hlir::plan::{Plan, Structure, TablePlan};
use hlir::text::parse_program;
use opt::analyze::Traffic;
use opt::explain::Unspecialised;
use opt::inputs::{Content, Profile};
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
parser parser { start start, accept rules, reject out, error error }
entry start
node start: state of parser { extract h } -> rules
node rules: apply rules -> out
node out: buffer { send 32w1 }
";

/// The plan, and its predicted cycles per packet.
fn planned(inputs: &Inputs) -> (Plan, f64) {
    planned_as(PROGRAM, inputs)
}

fn planned_as(text: &str, inputs: &Inputs) -> (Plan, f64) {
    let mut program = parse_program(text).unwrap_or_else(|errors| panic!("{errors:?}"));
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

/// Neither entries nor a size is known: no prediction is for rules that are not there, and no list for rules that come.
/// Tables that a structure without bounds can hold get one, since nothing bounds them.
#[test]
fn tables_without_entries_and_size_cost_nothing_and_have_room() {
    let (plan, cycles) = planned(&Inputs::default());
    let structure = |plan: &Plan| plan.tables[0].structure;
    assert!(![Structure::List, Structure::Compare].contains(&structure(&plan)), "{plan:?}");
    assert!(structure(&plan).most_entries().is_none_or(|most| most >= 4096), "{plan:?}");
    let mut thousand = Inputs::default();
    let content = Content { entries: 1024, records: 1024, masks: 16, is_known: true, ..Content::default() };
    thousand.occupancy.tables.insert("rules".to_string(), content);
    let (_, filled) = planned(&thousand);
    assert!(filled > cycles + 20.0, "{cycles} where nothing is known, {filled} with a thousand rules");
    let of_kind = |kinds: [&str; 2]| {
        let [one, other] = kinds;
        let text =
            PROGRAM.replace("h.a: ternary", &format!("h.a: {one}")).replace("h.b: ternary", &format!("h.b: {other}"));
        structure(&planned_as(&text, &Inputs::default()).0)
    };
    for kinds in [["exact", "exact"], ["exact", "lpm"]] {
        assert_eq!(of_kind(kinds).most_entries(), None, "{kinds:?}");
    }
    let sized = PROGRAM.replace("  default keep()\n", "  default keep()\n  size 100000\n");
    assert_eq!(structure(&planned_as(&sized, &Inputs::default()).0), Structure::List, "nothing else has as much room");
}

/// What a table without entries would cost with some is in the explanation, the table that counts most first.
#[test]
fn an_explanation_orders_expectations_by_what_they_count() {
    let text = PROGRAM.replace(
        "parser parser",
        "table marks {\n  key h.c: exact\n  action keep() {}\n  default keep()\n  size 16\n}\nparser parser",
    );
    let text = text.replace("-> out\n", "-> marks\nnode marks: apply marks -> out\n");
    let mut program = parse_program(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut plan = Plan::default();
    opt::optimize(&mut program, &mut plan, &Inputs::default(), &Selection::All, None);
    let explained = opt::explain::explain((&program, None), &plan, &Inputs::default()).text();
    let line = |word: &str| {
        let found = explained.lines().position(|line| line.contains(word));
        found.unwrap_or_else(|| panic!("no {word} in {explained}"))
    };
    let [rules, marks] = [line("rules has 0 entries"), line("marks has 9 to 16 entries")];
    assert!(rules < marks, "{explained}");
    let [rules, marks] = [rules, marks].map(|at| explained.lines().nth(at).expect("a line"));
    assert!(rules.contains("assumed; +") && rules.contains(" with 1024;"), "{rules}");
    assert!(marks.contains("declared; -") && marks.contains(" with 0;"), "{marks}");
}

/// Nodes of a specialised program are not those of the program that it was made of, so each has its own profile.
#[test]
fn costs_without_specialisation_are_for_that_programs_traffic() {
    let before = parse_program(PROGRAM).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut program = before.clone();
    let (rules, table) = program.tables.iter().next().expect("a table");
    let facts = [Fact::Empty, Fact::Default(table.default.clone())];
    let inputs = Inputs {
        facts: facts.into_iter().map(|fact| Assumption { table: rules, fact }).collect(),
        ..Inputs::default()
    };
    let mut plan = Plan::default();
    opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
    let cost = |rejected: u64| {
        let mut profile = Profile::default();
        profile.add("start", "rules", 1000 - rejected);
        profile.add("start", "out", rejected);
        let inputs_before = Inputs { profile: Some(profile), ..Inputs::default() };
        let before = Unspecialised { program: &before, inputs: &inputs_before };
        let explained = opt::explain::explain((&program, Some(before)), &plan, &inputs);
        let facts = explained.decisions.iter().find(|decision| decision.what == "facts of rules").expect("a row");
        facts.reason.as_ref().expect("a reason").alternatives[0].cost
    };
    assert!(cost(0) > 0 && cost(990) * 10 < cost(0), "{} {}", cost(0), cost(990));
}
