//! Joins that a plan decides.

use hlir::plan::JoinChoice;
use hlir::text::{parse_plan, parse_program, print_plan};
use hlir::{Plan, Program, verify};
use opt::inputs::Joins;
use opt::{Inputs, Selection};

/// The program of the pass's own test: `vlans`, `sources`, `classes` and `destinations` in series.
fn program() -> Program {
    let text = include_str!("passes/join.hlir");
    let (before, _) = text.split_once("// ----").expect("it has two halves");
    parse_program(before).expect("it is a program")
}

fn planned(pins: &str, joins: Joins) -> (Program, Plan) {
    let constraints = parse_plan(&format!("plan {{\n{pins}\n}}")).expect("these are pins");
    assert_eq!(parse_plan(&print_plan(&constraints)).as_ref(), Ok(&constraints));
    let (mut program, mut plan) = (program(), Plan::default());
    let inputs = Inputs { constraints, joins, ..Inputs::default() };
    opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
    (program, plan)
}

fn names(program: &Program) -> Vec<&str> {
    program.joins.iter().map(|join| program.tables[join.table].name.as_str()).collect()
}

fn complaints(program: &Program, plan: &Plan) -> Vec<String> {
    let found = verify::verify_plan(program, plan);
    found.iter().map(|found| format!("{found:?}")).collect()
}

#[test]
fn without_a_word_nothing_is_joined() {
    let (program, plan) = planned("", Joins::None);
    assert_eq!((names(&program), plan.joins), (Vec::new(), Vec::new()));
}

#[test]
fn a_given_join_is_made_and_stands_in_the_plan() {
    let (program, plan) = planned("join classes with destinations", Joins::None);
    assert_eq!(names(&program), ["classes+destinations"]);
    let [first, second] = ["classes", "destinations"].map(str::to_string);
    assert_eq!(plan.joins, [JoinChoice { first, second, made: true }]);
    assert_eq!(complaints(&program, &plan), Vec::<String>::new());
}

#[test]
fn a_plan_is_made_again_from_its_text() {
    let (program, plan) = planned("", Joins::All);
    assert_eq!(names(&program).len(), 3);
    let joins: Vec<String> =
        print_plan(&plan).lines().filter(|line| line.trim_start().starts_with("join ")).map(str::to_string).collect();
    let (again, _) = planned(&joins.join("\n"), Joins::None);
    assert_eq!(again, program);
}

#[test]
fn a_join_that_is_ruled_out_is_not_made() {
    let (program, plan) = planned("never join classes with destinations", Joins::All);
    assert!(!names(&program).contains(&"classes+destinations"), "{:?}", names(&program));
    assert_eq!(complaints(&program, &plan), Vec::<String>::new());
}

#[test]
fn a_join_that_cannot_be_made_is_refused() {
    let (program, plan) = planned("join destinations with vlans\njoin vlans with hosts", Joins::None);
    let found = complaints(&program, &plan);
    assert!(found[0].contains("`destinations` and `vlans` are not joined"), "{found:?}");
    assert!(found[0].contains("no action leads straight to another lookup"), "{found:?}");
    assert!(found[1].contains("the program has no such tables"), "{found:?}");
    assert!(found[1].contains("`vlans` and `hosts` are not joined"), "{found:?}");
}
