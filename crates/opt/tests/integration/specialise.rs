//! Tables whose entries are known: comparisons where these make the cheaper plan, a lookup where that does.

use hlir::facts::Fact;
use hlir::plan::{Structure, TablePlan};
use hlir::text::parse_file;
use hlir::{Plan, Program};
use opt::analyze::Traffic;
use opt::inputs::{Content, Profile};
use opt::model::Model;
use opt::rewrite::specialise;
use opt::{Inputs, Selection};
use std::collections::BTreeSet;

const PROGRAM: &str = r#"
program hosts for none

header h: host_t { host: 48, class: 16 }
variable meta.port: 9
variable error: 32

table hosts {
  key h.host: exact
  key h.class: exact
  action forward(port: 9) { meta.port = port }
  action drop() { meta.port = 511 }
  const default drop()
}

parser parser { start start, accept hosts, reject hosts, error error }

entry start
node start: state of parser { extract h } -> hosts
node hosts: apply hosts -> queue
node queue: buffer {
  when meta.port == 511: drop "no host"
  otherwise -> deparser
}
node deparser: deparse { emit h } -> departure
node departure: buffer { send u32(meta.port) }
"#;

/// As many packets hit each entry, so comparisons are mispredicted the more often the more entries there are.
fn inputs(entries: u64) -> Inputs {
    let entry = |number: u64| format!("  priority {number}: {number:#x}, 0x1 => forward({number})\n");
    let entries_text: String = (1..=entries).rev().map(entry).collect();
    let facts = format!("{PROGRAM}\nassume hosts entries {{\n{entries_text}}}\nassume hosts default drop()\n");
    let facts = parse_file(&facts).unwrap_or_else(|errors| panic!("{errors:#?}")).program.assumptions;
    let profile = Some(Profile::parse(&traffic(entries)).expect("a profile"));
    let mut inputs = Inputs { facts, profile, ..Inputs::default() };
    let content = Content { entries, records: entries, masks: 1, is_known: true, ..Content::default() };
    inputs.occupancy.tables.insert("hosts".to_string(), content);
    inputs
}

/// Of the program with comparisons; that of the one with a lookup follows from it.
fn traffic(entries: u64) -> String {
    let mut text = "1000 start -> hosts\n1000 queue -> deparser\n1000 deparser -> departure\n".to_string();
    let (mut from, mut rest) = ("hosts".to_string(), 1000);
    for number in 1..=entries {
        let hits = 1000 / entries;
        rest -= hits;
        text += &format!("{hits} {from} -> hosts.entry_{number}\n{rest} {from} -> hosts.not_{number}\n");
        text += &format!("{hits} hosts.entry_{number} -> queue\n");
        from = format!("hosts.not_{number}");
    }
    text
}

fn planned(mut program: Program, inputs: &Inputs, selection: &Selection) -> (f64, Program) {
    let mut plan = Plan::default();
    opt::optimize(&mut program, &mut plan, inputs, selection, None);
    let traffic = Traffic::estimate(&program, inputs);
    let cycles = Model::new(&program, inputs, &traffic).predict(&plan).cycles();
    (cycles, program)
}

/// The plan that is made costs no more than those of the other ways, and neither way is always cheapest.
#[test]
fn entries_become_comparisons_where_the_plan_is_cheaper() {
    let program = parse_file(PROGRAM).unwrap_or_else(|errors| panic!("{errors:#?}")).program;
    let mut ways = BTreeSet::new();
    for entries in 1..=4 {
        let inputs = inputs(entries);
        let candidates = specialise::candidates(&program, &inputs);
        assert_eq!(candidates.len(), 2, "with comparisons, and without");
        let after = Selection::Without(vec!["specialise".to_string()]);
        let costs = candidates.into_iter().map(|candidate| planned(candidate, &inputs, &after).0);
        let costs: Vec<f64> = costs.collect();
        let (cost, chosen) = planned(program.clone(), &inputs, &Selection::All);
        let least = costs[0].min(costs[1]);
        assert!(cost <= least * (1.0 + opt::plan::WORTH), "{entries} entries: {cost} of {costs:?}");
        ways.insert(chosen.assumptions.iter().any(|one| matches!(one.fact, Fact::Entries(_))));
    }
    assert_eq!(ways.len(), 2, "both ways are taken");
}

/// All entries have a domain that no packet has. Controllers find the counters of entries in their table, so only a table
/// without them loses its lookup.
#[test]
fn entries_that_no_packet_can_hit_are_looked_up_only_where_they_have_counters() {
    for (counter, looks_up) in [("", false), ("counter seen: packets of domains automatic\n", true)] {
        let table = "variable meta.domain: 8\ntable domains {\n  key meta.domain: exact\n  key h.host: exact\n  \
                     action drop() { meta.port = 511 }\n  action keep() {}\n  const default keep()\n}\n";
        let text = PROGRAM
            .replace("table hosts {", &format!("{counter}{table}table hosts {{"))
            .replace("apply hosts -> queue", "apply hosts -> domains\nnode domains: apply domains -> queue");
        let text = format!("{text}\nassume domains key 0 = 0x7\nassume domains default keep()\n");
        let mut program = parse_file(&text).unwrap_or_else(|errors| panic!("{errors:#?}")).program;
        let facts = std::mem::take(&mut program.assumptions);
        let inputs = Inputs { facts, ..Inputs::default() };
        let specialised = specialise::candidates(&program, &inputs).swap_remove(0);
        let lookups = specialised.nodes.values().filter(|node| node.name == "domains");
        let applied = lookups.filter(|node| matches!(node.kind, hlir::NodeKind::Apply { .. })).count();
        assert_eq!(applied == 1, looks_up, "{counter}");
        let is_assumed = specialised.assumptions.iter().any(|one| matches!(one.fact, Fact::Key { .. }));
        assert_eq!(is_assumed, !looks_up, "{counter}");
    }
}

/// Specialised code shares tables with the code that runs, so it has their structures; a table of which it leaves a key out
/// is its own.
#[test]
fn tables_that_are_shared_keep_the_structure_of_the_running_code() {
    let text = "program domains for none\nheader h: host_t { host: 32 }\nvariable meta.domain: 16\nvariable meta.port: 9\n\
                variable error: 32\ntable routes {\n  key meta.domain: exact\n  key h.host: lpm\n  \
                action forward(port: 9) { meta.port = port }\n  action drop() { meta.port = 511 }\n  default drop()\n}\n\
                parser parser { start start, accept routes, reject routes, error error }\nentry start\n\
                node start: state of parser { extract h } -> routes\nnode routes: apply routes -> queue\n\
                node queue: buffer {\n  when meta.port == 511: drop \"no route\"\n  otherwise -> deparser\n}\n\
                node deparser: deparse { emit h } -> departure\nnode departure: buffer { send u32(meta.port) }\n";
    for (fact, is_shared) in [("", true), ("assume routes key 0 = 0x0\n", false)] {
        let file = parse_file(&format!("{text}\n{fact}assume routes default drop()\n"));
        let mut program = file.unwrap_or_else(|errors| panic!("{errors:#?}")).program;
        let facts = std::mem::take(&mut program.assumptions);
        let running = TablePlan { table: "routes".to_string(), structure: Structure::TupleSpace, reason: None };
        let mut inputs = Inputs { facts, running: vec![running], ..Inputs::default() };
        let content = Content { entries: 1000, records: 64, masks: 9, is_known: true, ..Content::default() };
        inputs.occupancy.tables.insert("routes".to_string(), content);
        let mut plan = Plan::default();
        opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
        let structure = plan.tables.iter().find(|table| table.table == "routes").map(|table| table.structure);
        assert_eq!(structure == Some(Structure::TupleSpace), is_shared, "{fact}: {structure:?}");
    }
}
