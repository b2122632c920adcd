//! Value joins that the model chooses, and the verifier's messages about recipes that are wrong.

use hlir::join::{derive_places, node_of};
use hlir::plan::JoinKind;
use hlir::text::{parse_plan, parse_program};
use hlir::{Plan, Program, TableId, verify};
use opt::inputs::{Content, Joins};
use opt::{Inputs, Selection};

/// Each route is counted by itself, and so has a record of its own; next hops of 32 bits rewrite the packet.
const ROUTES: &str = "program routes for none
header h: h_t { dst: 32, src: 32, mac: 48, other: 48, port: 16, ttl: 8 }
variable meta.hop: 32
variable error: 32
counter routes.hits: packets of routes automatic
table routes {
  key h.dst: lpm
  action set(hop: 32) { meta.hop = hop }
  action none() { meta.hop = 0 }
  default none()
}
table hops {
  key meta.hop: exact
  action to(port: 16, mac: 48, other: 48) {
    h.port = port
    h.mac = mac
    h.other = other
  }
  action unknown() { exit }
  default unknown()
}
parser parser { start start, accept routes, reject routes, error error }
entry start
node start: state of parser { extract h } -> routes
node routes: apply routes -> live
node live: branch h.ttl > 1 -> hops else out
node hops: apply hops -> deparser exit drop
node drop: buffer { drop \"no next hop\" }
node deparser: deparse { emit h } -> out
node out: buffer { send 32w1 }
";

fn parsed(text: &str) -> Program {
    parse_program(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

fn complaints(program: &Program) -> String {
    verify::verify(program).iter().map(|found| format!("{found:?}")).collect()
}

/// The plan for so many routes and next hops, and the complaints about it.
fn planned(text: &str, entries: [u64; 2], pins: &str, joins: Joins) -> (Program, Plan, String) {
    let mut program = parsed(text);
    let constraints = parse_plan(&format!("plan {{\n{pins}\n}}")).expect("these are pins");
    let mut inputs = Inputs { constraints, joins, ..Inputs::default() };
    for (name, entries) in ["routes", "hops"].into_iter().zip(entries) {
        let content = Content { entries, records: entries, masks: 9, actions: 1, is_known: true, ..Content::default() };
        inputs.occupancy.tables.insert(name.to_string(), content);
    }
    let mut plan = Plan::default();
    opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
    assert_eq!(verify::verify_plan(&program, &plan), []);
    let explained = opt::explain::explain((&program, None), &plan, &inputs).text();
    (program, plan, explained)
}

fn kinds(plan: &Plan) -> Vec<JoinKind> {
    plan.joins.iter().map(|join| join.kind).collect()
}

/// A branch that the route does not decide is between: no joint table is legal.
#[test]
fn a_value_join_is_chosen_where_it_pays() {
    let (program, plan, explained) = planned(ROUTES, [100_000, 1000], "", Joins::Chosen);
    assert_eq!(kinds(&plan), [JoinKind::Value], "{explained}");
    assert!(
        explained.contains("join of routes, hops by value") && explained.contains("chosen: routes>hops"),
        "{explained}"
    );
    let structure = plan.tables.iter().find(|table| table.table == "routes>hops").map(|table| table.structure);
    assert_eq!(structure, Some(hlir::plan::Structure::Direct));
    assert_eq!(program.joins[0].limit, (1 << 11) - 1, "twice as many places as next hops");
    let ruled_out = "never join routes with hops by value";
    let (program, _, explained) = planned(ROUTES, [100_000, 1000], ruled_out, Joins::Chosen);
    assert_eq!(program.joins, [], "{explained}");
    assert!(explained.contains("would pay, but ruled out"), "{explained}");
}

/// A narrow key is an index itself.
#[test]
fn a_value_join_gains_nothing_for_small_numbers() {
    let narrow = ROUTES.replace("meta.hop: 32", "meta.hop: 16").replace("hop: 32)", "hop: 16)");
    let (_, plan, explained) = planned(&narrow, [100_000, 20_000], "", Joins::Chosen);
    assert_eq!(kinds(&plan), [], "{explained}");
    let line = explained.lines().find(|line| line.contains("join of routes, hops by value"));
    assert!(line.is_some_and(|line| line.contains("not joined: ") && !line.contains("would pay")), "{explained}");
}

/// Joint tables of routes with the data of next hops are larger than both where each route has a record of its own.
#[test]
fn joint_tables_and_value_joins_are_compared() {
    let straight = ROUTES.replace("-> live", "-> hops");
    let (_, plan, explained) = planned(&straight, [100_000, 64], "", Joins::Chosen);
    let reason = plan.joins[0].reason.as_ref().expect("the model predicts what it saves");
    let names: Vec<String> =
        reason.alternatives.iter().map(|other| hlir::text::written_choice(&other.choice)).collect();
    let other = match plan.joins[0].kind {
        JoinKind::Value => "joint_table",
        JoinKind::Table => "by_value",
    };
    assert!(["separate", other].iter().all(|word| names.iter().any(|name| name == word)), "{explained}");
}

/// A join is legal if each packet comes to the second lookup with the key that the first one gave.
#[test]
fn packets_come_to_the_second_lookup_by_the_first_one_alone() {
    let why = |from: &str, to: &str| {
        assert!(ROUTES.contains(from), "{from}");
        let program = parsed(&ROUTES.replace(from, to));
        assert_eq!(complaints(&program), "", "{to}");
        let [first, second] = [0, 1].map(|table: u32| TableId::from_raw(table.into()));
        let derived = derive_places(&program, [first, second], node_of(&program, second).expect("it is there"), None);
        derived.err().unwrap_or_default()
    };
    let write = "-> set\nnode set: block { meta.hop = meta.hop + 1 } -> live";
    assert_eq!(why("-> live", write), "RAW: `set` writes the key of `hops` behind `routes`");
    let other =
        "-> live\nnode other: block { meta.hop = 7 } -> hops\nnode early: branch h.src == 0 -> other else routes";
    let entered =
        ROUTES.replace("{ extract h } -> routes", "{ extract h } -> early").replace("accept routes", "accept early");
    let entered = parsed(&entered.replace("-> live", other));
    let ids = [0, 1].map(|table: u32| TableId::from_raw(table.into()));
    let derived = derive_places(&entered, ids, node_of(&entered, ids[1]).expect("it is there"), None);
    assert_eq!(derived.err().as_deref(), Some("packets come to `hops` without a lookup in `routes`"));
    assert_eq!(why("{ meta.hop = hop }", "{ meta.hop = hop + h.src }"), "", "misses give a next hop");
    let kept = why("{ meta.hop = 0 }", "{ h.port = 0 }");
    assert_eq!(kept, "", "a route gives one");
    let buffered = "-> queue\nnode queue: buffer { unicast -> live }";
    assert_eq!(why("-> live", buffered), "packets come to `hops` without a lookup in `routes`");
    assert_eq!(
        why("key meta.hop: exact", "key meta.hop: ternary"),
        "the second table `hops`: not all of its keys are exact"
    );
    let deleted = why("  default unknown()\n", "  default unknown()\n  idle_timeout delete\n");
    assert_eq!(deleted, "the second table `hops`: its entries are deleted when their time has passed");
}

#[test]
fn recipes_that_are_not_those_of_the_program_are_refused() {
    let (right, _, _) = planned(ROUTES, [1000, 100], "join routes with hops by value", Joins::None);
    assert_eq!((right.joins.len(), complaints(&right).as_str()), (1, ""));
    let first = right.joins[0].first;
    let place = right.joins[0].place.expect("it is a value join");
    let complaints = |change: &dyn Fn(&mut Program)| {
        let mut program = right.clone();
        change(&mut program);
        complaints(&program)
    };
    let limit = complaints(&|program| program.joins[0].limit = 1 << 20);
    assert!(limit.contains("1048576 places need 21, and 20 are possible"), "{limit}");
    let unset = complaints(&|program| drop(program.tables[first].actions[0].body.remove(0)));
    assert!(unset.contains("action `set` of `routes` does not begin with its place"), "{unset}");
    let unset = complaints(&|program| drop(program.tables[first].actions[1].body.remove(0)));
    assert!(unset.contains("does not begin with its place"), "{unset}");
    let firsts = complaints(&|program| drop(program.joins[0].firsts.pop()));
    assert!(firsts.contains("its first actions are not those that give the key"), "{firsts}");
    let seconds = complaints(&|program| program.joins[0].seconds.clear());
    assert!(seconds.contains("its keys or actions are not those"), "{seconds}");
    // A read of the place elsewhere would see which numbers keys have.
    let other = complaints(&|program| {
        let value = hlir::Expression::Variable(place);
        let target = hlir::Place::Variable(place);
        let node = program.nodes.iter().find(|(_, node)| node.name == "deparser").expect("it is there").0;
        let hlir::NodeKind::Deparse { body, .. } = &mut program.nodes[node].kind else { panic!("it deparses") };
        body.insert(0, hlir::Statement::Assign { target, value });
    });
    assert!(other.contains("is used otherwise than as the place of a value join"), "{other}");
}
