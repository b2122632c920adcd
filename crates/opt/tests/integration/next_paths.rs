//! Next paths are planned for packets that leave the hot path, where they may commit before others.

use hlir::text::parse_file;
use hlir::verify::verify_plan;
use hlir::{Plan, Program};
use opt::inputs::{Content, Profile};
use opt::{Inputs, Selection};

/// The program and the traffic of the pass's page.
fn example() -> (String, Profile) {
    let page = include_str!("../../../../docs/passes/next_paths.md");
    let block = |kind: &str| {
        let behind = page.split_once(&format!("```{kind}\n")).expect("the page has such a block").1;
        behind.split_once("```").expect("it ends").0
    };
    (block("hlir").to_string(), Profile::parse(block("profile")).expect("a profile"))
}

fn planned(program: &str, profile: Profile, without: &[&str]) -> Plan {
    let mut program: Program = parse_file(program).expect("the program can be read").program;
    let mut inputs = Inputs { profile: Some(profile), ..Inputs::default() };
    for table in ["fours", "sixes"] {
        let content = Content { entries: 1_000_000, records: 1_000_000, is_known: true, ..Content::default() };
        inputs.occupancy.tables.insert(table.to_string(), content);
    }
    let mut plan = Plan::default();
    let without = without.iter().map(|name| name.to_string()).collect();
    opt::optimize(&mut program, &mut plan, &inputs, &Selection::Without(without), None);
    assert!(verify_plan(&program, &plan).is_empty());
    plan
}

#[test]
fn what_leaves_the_hot_path_has_another_one() {
    let (program, profile) = example();
    let plan = planned(&program, profile.clone(), &[]);
    let lookups: Vec<&str> = plan.next_paths.iter().map(|next| next.loops[0].node.as_str()).collect();
    assert_eq!((plan.loops[0].node.as_str(), &lookups[..]), ("fours", &["sixes"][..]));
    assert!(planned(&program, profile, &["next_paths"]).next_paths.is_empty());
}

/// A register that packets write shows their order.
#[test]
fn packets_whose_order_is_observed_have_one_hot_path() {
    let (program, profile) = example();
    let changed = program
        .replace("node refused: block { meta.port = 511 }", "node refused: block { write seen at 8w0 = meta.port }")
        .replace("variable error: 32\n", "variable error: 32\nregister seen: 9 [4]\n");
    assert_ne!(program, changed);
    assert!(planned(&changed, profile, &[]).next_paths.is_empty());
}
