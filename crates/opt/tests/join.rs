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

/// Routes and next hops, with these keys, and what is said of their join.
fn of_routes(route: &str, hop: &str, action: &str) -> (Vec<String>, Vec<String>) {
    let text = format!(
        "program routes for none\nheader h: h_t {{ dst: 32, hop: 16 }}\nvariable error: 32\n\
         table routes {{\n{route}  action set({action} }}\n  default set(0)\n}}\n\
         table hops {{\n{hop}  action to(hop: 16) {{ h.hop = hop }}\n  default to(0)\n}}\n\
         parser parser {{ start start, accept routes, reject routes, error error }}\nentry start\n\
         node start: state of parser {{ extract h }} -> routes\nnode routes: apply routes -> hops\n\
         node hops: apply hops -> out\nnode out: buffer {{ send 32w1 }}\n"
    );
    let mut program = parse_program(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let constraints = parse_plan("plan {\njoin routes with hops\n}").expect("it is a pin");
    let (mut plan, inputs) = (Plan::default(), Inputs { constraints, ..Inputs::default() });
    opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
    assert_eq!(verify::verify(&program).len(), 0);
    let made = names(&program).iter().map(|name| name.to_string()).collect();
    (made, complaints(&program, &plan))
}

#[test]
fn a_prefix_or_a_mask_is_joined_where_its_entry_decides_about_the_second_key() {
    let own = "  key h.hop: exact\n";
    for kind in ["lpm", "ternary", "range", "optional"] {
        let route = format!("  key h.dst: {kind}\n");
        assert_eq!(of_routes(&route, own, "hop: 16) { h.hop = hop").0, ["routes+hops"], "{kind}");
        let (made, said) = of_routes(&route, own, "dst: 32) { h.dst = dst");
        assert_eq!(made.len(), 0, "{kind}");
        assert!(said[0].contains("its entries do not determine key `h.hop` of `hops`"), "{said:?}");
        // The prefix itself is no value.
        let (made, said) = of_routes(&route, "  key h.dst: exact\n", "hop: 16) { h.hop = hop");
        assert_eq!(made.len(), 0, "{kind}");
        assert!(said[0].contains("its entries do not determine key `h.dst` of `hops`"), "{said:?}");
    }
    let both = "  key in.port: exact\n  key h.dst: lpm\n";
    let hop = "  key in.port: exact\n  key h.hop: exact\n";
    assert_eq!(of_routes(both, hop, "hop: 16) { h.hop = hop").0, ["routes+hops"], "an exact key is a value");
}

#[test]
fn the_second_table_is_exact() {
    let (made, said) = of_routes("  key h.dst: exact\n", "  key h.hop: lpm\n", "hop: 16) { h.hop = hop");
    assert_eq!(made.len(), 0);
    assert!(said[0].contains("the second table `hops`: not all of its keys are exact"), "{said:?}");
}
