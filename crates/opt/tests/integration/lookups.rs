//! How packets divide over the actions of lookups: by a profile, by counted entries, and in joint tables.

use hlir::table::action_bit;
use hlir::text::parse_program;
use opt::Inputs;
use opt::analyze::Traffic;
use opt::analyze::branch_probabilities::LookupOutcomes;
use opt::inputs::{Content, Joins, Profile};
use opt::rewrite::join::join_tables;

/// A miss of `first` takes another path, one of `second` does not. Both have an action that no entry may run.
const PROGRAM: &str = "program two for none
header h: h_t { a: 16, b: 16, c: 8 }
variable error: 32
table first {
  key h.a: exact
  action one() { h.c = 1 }
  action two() { h.c = 2 }
  action none() { exit }
  const default none()
}
table second {
  key h.b: exact
  action add(c: 8) { h.c = h.c + c }
  action keep() {}
  const default keep()
}
parser parser { start start, accept first, reject first, error error }
entry start
node start: state of parser { extract h } -> first
node first: apply first -> second exit out
node second: apply second -> out
node out: buffer { send 32w1 }
";

fn outcomes(profile: &str, actions: u64, joins: Joins) -> Vec<LookupOutcomes> {
    let mut program = parse_program(PROGRAM).unwrap_or_else(|errors| panic!("{errors:?}"));
    let profile = (!profile.is_empty()).then(|| Profile::parse(profile).expect("the example is a profile"));
    let mut inputs = Inputs { profile, joins, ..Inputs::default() };
    let content = |actions| Content { entries: 10, records: 10, actions, is_known: true, ..Content::default() };
    inputs.occupancy.tables.extend([("first".into(), content(actions)), ("second".into(), content(0))]);
    join_tables(&mut program, &inputs);
    let traffic = Traffic::estimate(&program, &inputs);
    let nodes = program.nodes.iter().filter_map(|(node, _)| traffic.lookup(node));
    nodes.cloned().collect()
}

fn about(found: &[f64], expected: &[f64]) {
    let is_near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-9;
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(is_near), "{found:?} {expected:?}");
}

#[test]
fn a_profile_has_hits_by_edges_and_by_its_own_lines() {
    let edges = "100 start -> first\n80 first -> second\n20 first -> out\n80 second -> out\n";
    let [first, second] = &outcomes(edges, 0, Joins::None)[..] else { panic!("there are two lookups") };
    about(&first.actions, &[0.4, 0.4, 0.2]);
    assert!((second.hit - 0.9).abs() < 1e-9, "both edges are one: {second:?}");
    let lines = format!("{edges}60 hits second\n20 misses second\n");
    let [_, second] = &outcomes(&lines, 0, Joins::None)[..] else { panic!("there are two lookups") };
    about(&second.actions, &[0.75 * (1.0 / 1.02), 0.25 + 0.75 * (0.02 / 1.02)]);
}

#[test]
fn counted_entries_run_no_other_actions() {
    let [first, _] = &outcomes("", action_bit(1), Joins::None)[..] else { panic!("there are two lookups") };
    about(&first.actions[..1], &[0.0]);
    assert!((first.actions[1] - first.hit).abs() < 1e-9, "{first:?}");
}

#[test]
fn a_joint_table_runs_what_its_sources_run_together() {
    let profile = "100 start -> first\n80 first -> second\n20 first -> out\n80 second -> out\n60 hits second\n\
                       20 misses second\n";
    let all = outcomes(profile, action_bit(1), Joins::All);
    let joint = all.last().expect("the joint table is looked up last");
    // Of the slow action, then of `one` and of `two` with `add` and `keep`: `one` is in no entry, and a fifth misses.
    let (add, keep) = (0.8 * 0.75 * (1.0 / 1.02), 0.8 * 0.75 * (0.02 / 1.02));
    about(&joint.actions, &[1.0 - add - keep, 0.0, 0.0, add, keep]);
    assert!((joint.hit - 0.6).abs() < 1e-9, "{joint:?}");
}

/// As controllers do in programs that declare none: on a miss, packets take another way than the declared action's.
const DEFAULTS: &str = "program defaults for none
header h: h_t { a: 16, c: 8 }
variable error: 32
table hosts {
  key h.a: exact
  action found() { h.c = 1 }
  action on_miss() { h.c = 2 }
  action none() {}
  default none()
}
table routes {
  key h.a: lpm
  action found() { h.c = 3 }
  action none() {}
  const default none()
}
parser parser { start start, accept hosts, reject hosts, error error }
entry start
node start: state of parser { extract h } -> hosts
node hosts: apply hosts -> { on_miss -> routes, otherwise -> out }
node routes: apply routes -> out
node out: buffer { send 32w1 }
";

/// Shares of the packets that are sent and that come to `routes`.
fn through_defaults(profile: &str, set: Option<u32>) -> [f64; 2] {
    let program = parse_program(DEFAULTS).unwrap_or_else(|errors| panic!("{errors:?}"));
    let profile = Some(Profile::parse(profile).expect("the example is a profile"));
    let mut inputs = Inputs { profile, ..Inputs::default() };
    inputs.occupancy.others_are_empty = true;
    inputs.occupancy.defaults.extend(set.map(|action| ("hosts".to_string(), action)));
    let traffic = Traffic::estimate(&program, &inputs);
    ["out", "routes"].map(|name| {
        let (node, _) = program.nodes.iter().find(|(_, node)| node.name == name).expect("it is declared");
        traffic.node(node)
    })
}

#[test]
fn misses_run_the_default_action_that_was_set() {
    let edges = "100 start -> hosts\n100 hosts -> routes\n100 routes -> out\n";
    about(&through_defaults(edges, Some(1)), &[1.0, 1.0]);
    about(&through_defaults("", Some(1)), &[1.0, 1.0]);
}

/// Then a profile has packets on an edge that no packet is estimated to take: none are lost.
#[test]
fn packets_go_on_where_a_profile_contradicts_the_declared_default_action() {
    let edges = "100 start -> hosts\n100 hosts -> routes\n100 routes -> out\n";
    about(&through_defaults(edges, None)[..1], &[1.0]);
}
