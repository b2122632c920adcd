//! Joins that a plan decides.

use hlir::plan::{JoinChoice, JoinKind};
use hlir::text::{parse_plan, parse_program, print_plan};
use hlir::{Plan, Program, verify};
use opt::inputs::{Content, Joins, Profile};
use opt::{Inputs, Selection};

/// The program of the pass's own test: `vlans`, `sources`, `classes` and `destinations` in series.
fn program() -> Program {
    let text = include_str!("../passes/join.hlir");
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
fn a_given_join_is_made_and_is_in_the_plan() {
    let (program, plan) = planned("join classes with destinations", Joins::None);
    assert_eq!(names(&program), ["classes+destinations"]);
    let [first, second] = ["classes", "destinations"].map(str::to_string);
    assert_eq!(plan.joins, [JoinChoice { first, second, kind: JoinKind::Table, made: true, reason: None }]);
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

const CHAIN: &str = include_str!("../join/chain.hlir");

/// Three tables, each of which names the entry of the next, planned for so many entries. `None`: they are not known.
fn chosen(entries: [Option<u64>; 3], pins: &str) -> (Program, Plan, String) {
    chosen_of(CHAIN, entries, pins)
}

fn chosen_of(text: &str, entries: [Option<u64>; 3], pins: &str) -> (Program, Plan, String) {
    chosen_for(text, entries, pins, None)
}

fn chosen_for(text: &str, entries: [Option<u64>; 3], pins: &str, profile: Option<Profile>) -> (Program, Plan, String) {
    let mut program = parse_program(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let constraints = parse_plan(&format!("plan {{\n{pins}\n}}")).expect("these are pins");
    let mut inputs = Inputs { constraints, joins: Joins::Chosen, profile, ..Inputs::default() };
    let names: Vec<String> = program.tables.values().map(|table| table.name.clone()).collect();
    for (name, entries) in names.into_iter().zip(entries) {
        let content = |entries| Content { entries, records: entries, masks: 1, is_known: true, ..Content::default() };
        inputs.occupancy.tables.extend(entries.map(|entries| (name, content(entries))));
    }
    let mut plan = Plan::default();
    opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
    assert_eq!(complaints(&program, &plan), Vec::<String>::new());
    let explained = opt::explain::explain((&program, None), &plan, &inputs).text();
    (program, plan, explained)
}

#[test]
fn joins_that_pay_are_chosen_where_entries_are_known() {
    let known = [Some(16); 3];
    let (program, plan, explained) = chosen(known, "");
    assert_eq!(names(&program), ["hops+ports", "routes+hops+ports"], "the one that saves most comes first");
    let reason = plan.joins[0].reason.as_ref().expect("the model predicts what it saves");
    assert!(reason.alternatives[0].cost as f64 * 0.95 > reason.cost as f64, "{reason:?}");
    assert!(explained.contains("chosen: hops+ports, at most 1024 entries"), "{explained}");

    let none = |entries, pins| {
        let (program, _, explained) = chosen(entries, pins);
        assert_eq!(names(&program), Vec::<&str>::new());
        explained
    };
    let assumed = none([None; 3], "");
    assert!(assumed.contains("not joined: would pay, but its entries are assumed, 1024 joint entries"), "{assumed}");
    none([Some(16), None, Some(16)], "");
    none([Some(16), Some(0), Some(16)], "");
    let ruled_out = none(known, "never join hops with ports\nnever join routes with hops");
    assert!(ruled_out.contains("not joined: would pay, but ruled out"), "{ruled_out}");
}

/// Two tables with nothing in common but, perhaps, the domain of their keys.
fn hosts(key: &str) -> String {
    let table = |name: &str, address: &str| {
        format!(
            "table {name} {{\n{key}  key h.{address}: exact\n  action set_{name}(c: 8) {{ h.{name} = c }}\n  default set_{name}(0)\n}}\n"
        )
    };
    format!(
        "program hosts for none\nheader h: h_t {{ src: 48, dst: 48, vlan: 16, one: 8, two: 8 }}\nvariable error: 32\n{}{}\
         parser parser {{ start start, accept one, reject one, error error }}\nentry start\n\
         node start: state of parser {{ extract h }} -> one\nnode one: apply one -> two\nnode two: apply two -> deparser\n\
         node deparser: deparse {{ emit h }} -> out\nnode out: buffer {{ send 32w1 }}\n",
        table("one", "src"),
        table("two", "dst")
    )
}

/// Joins of these tables with so many entries each, for traffic of which so many packets in a hundred miss in each.
fn joined_hosts(key: &str, entries: u64, misses: u64) -> (usize, String) {
    let edges = "100 start -> one\n100 one -> two\n100 two -> deparser\n100 deparser -> out\n";
    let counted = |table: &str| format!("{} hits {table}\n{misses} misses {table}\n", 100 - misses);
    let profile = Profile::parse(&[edges, &counted("one"), &counted("two")].concat()).expect("it is a profile");
    let (program, _, explained) = chosen_for(&hosts(key), [Some(entries), Some(entries), None], "", Some(profile));
    (program.joins.len(), explained)
}

/// A small product saves a lookup; a large one misses the caches. Packets that miss look up three tables.
#[test]
fn a_product_is_joined_while_it_is_small_and_hit() {
    let (joins, explained) = joined_hosts("", 5, 0);
    assert_eq!(joins, 1, "{explained}");
    for (entries, misses) in [(700, 0), (5, 30)] {
        let (joins, explained) = joined_hosts("", entries, misses);
        assert_eq!(joins, 0, "{explained}");
        assert!(explained.contains("not joined: does not pay"), "{explained}");
    }
}

/// All entries of two tables may agree in a common key: then there are as many joint entries as their product.
#[test]
fn common_keys_do_not_bound_a_product() {
    let (joins, explained) = joined_hosts("  key h.vlan: exact\n", 5, 0);
    assert_eq!(joins, 1, "{explained}");
    let (joins, explained) = joined_hosts("  key h.vlan: exact\n", 40, 0);
    assert_eq!(joins, 0, "{explained}");
    assert!(explained.contains("it may have no room for its entries"), "{explained}");
}

/// Whatever entries the first table will have, each has one joint entry.
#[test]
fn constant_entries_are_joined_with_a_table_that_names_them() {
    let constant = "  default set_c(0)\n  const entries {\n    1 => set_c(7)\n    2 => set_c(9)\n  }\n";
    let text = CHAIN.replace("  default set_c(0)\n", constant);
    let (program, _, explained) = chosen_of(&text, [None; 3], "");
    assert_eq!(names(&program), Vec::<&str>::new(), "{explained}");
    assert!(explained.contains("would pay, but its entries are assumed"), "{explained}");
    assert!(explained.contains("not compared in code: expected a default action that is constant"), "{explained}");
    let sized = text.replace("  default set_b(0)\n", "  default set_b(0)\n  size 64\n");
    let (program, _, explained) = chosen_of(&sized, [None; 3], "");
    assert_eq!(names(&program), ["hops+ports"], "{explained}");
}

#[test]
fn a_pin_comes_before_what_the_model_would_choose() {
    let (program, plan, _) = chosen([Some(16); 3], "join routes with hops");
    assert_eq!(names(&program)[0], "routes+hops");
    assert_eq!(plan.joins[0].reason, None);
    // A path that is given names nodes of the program as it is.
    let (program, _, _) =
        chosen([Some(16); 3], "hot_path { start, routes, hops, ports, deparser, out }\nloop routes: batch 8 group 8");
    assert_eq!(names(&program), Vec::<&str>::new());
}

/// Routes and next hops, with these keys, joined.
fn joined_routes(route: &str, hop: &str) -> Program {
    let (program, _) = routes(route, hop, "hop: 16) { h.hop = hop");
    assert_eq!((program.joins.len(), complaints(&program, &Plan::default())), (1, Vec::new()));
    program
}

/// Their joins, and the complaints about them.
fn of_routes(route: &str, hop: &str, action: &str) -> (Vec<String>, Vec<String>) {
    let (program, plan) = routes(route, hop, action);
    let made = names(&program).iter().map(|name| name.to_string()).collect();
    (made, complaints(&program, &plan))
}

fn routes(route: &str, hop: &str, action: &str) -> (Program, Plan) {
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
    (program, plan)
}

#[test]
fn a_prefix_or_a_mask_is_joined_where_its_entry_decides_about_the_second_key() {
    let own = "  key h.hop: exact\n";
    for kind in ["lpm", "ternary", "range", "optional"] {
        let route = format!("  key h.dst: {kind}\n");
        assert_eq!(of_routes(&route, own, "hop: 16) { h.hop = hop").0, ["routes+hops"], "{kind}");
        let (made, complaints) = of_routes(&route, own, "dst: 32) { h.dst = dst");
        assert_eq!(made.len(), 0, "{kind}");
        assert!(complaints[0].contains("its entries do not determine key `h.hop` of `hops`"), "{complaints:?}");
        // The prefix itself is no value.
        let (made, complaints) = of_routes(&route, "  key h.dst: exact\n", "hop: 16) { h.hop = hop");
        assert_eq!(made.len(), 0, "{kind}");
        assert!(complaints[0].contains("its entries do not determine key `h.dst` of `hops`"), "{complaints:?}");
    }
    let both = "  key in.port: exact\n  key h.dst: lpm\n";
    let hop = "  key in.port: exact\n  key h.hop: exact\n";
    assert_eq!(of_routes(both, hop, "hop: 16) { h.hop = hop").0, ["routes+hops"], "an exact key is a value");
}

#[test]
fn the_second_table_is_exact() {
    let (made, complaints) = of_routes("  key h.dst: exact\n", "  key h.hop: lpm\n", "hop: 16) { h.hop = hop");
    assert_eq!(made.len(), 0);
    assert!(complaints[0].contains("the second table `hops`: not all of its keys are exact"), "{complaints:?}");
}

#[test]
fn idle_timeouts_are_joined_with_a_register_of_times_unless_they_delete() {
    let (hop, action) = ("  key h.hop: exact\n", "hop: 16) { h.hop = hop");
    let aged = |what: &str| of_routes(&format!("  key h.dst: lpm\n{what}"), hop, action);
    assert_eq!(aged("  idle_timeout\n").0, ["routes+hops"]);
    let (made, complaints) = aged("  idle_timeout delete\n");
    assert_eq!(made.len(), 0);
    assert!(complaints[0].contains("its entries are deleted when their time has passed"), "{complaints:?}");
}

/// The time of a hit is that of all packets of the group.
#[test]
fn times_of_hits_may_be_written_out_of_order() {
    let program = joined_routes("  key h.dst: lpm\n  idle_timeout\n", "  key h.hop: exact\n  idle_timeout\n");
    assert_eq!(program.registers.len(), 2);
    let ordered = program.nodes.iter().filter(|(node, _)| !hlir::effects::is_unordered(&program, *node));
    assert_eq!(ordered.map(|(_, node)| node.name.as_str()).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn misses_that_the_second_key_leaves_open_take_the_slow_path() {
    let second = |key: &str| joined_routes("  key h.dst: exact\n", &format!("  key {key}: exact\n"));
    let program = second("h.hop");
    let join = &program.joins[0];
    assert_eq!((join.missed.as_slice(), join.objects.misses.is_some()), (&[0][..], true));
    let program = second("in.port");
    let join = &program.joins[0];
    assert_eq!((join.missed.as_slice(), join.objects.misses.is_some()), (&[][..], false));
}

/// A recipe whose objects are others than its sources need is refused.
#[test]
fn objects_of_a_recipe_are_verified() {
    let right = joined_routes("  key h.dst: lpm\n  idle_timeout\n", "  key h.hop: exact\n");
    let complaints = |change: &dyn Fn(&mut Program)| {
        let mut program = right.clone();
        change(&mut program);
        verify::verify(&program).iter().map(|found| format!("{found:?}")).collect::<String>()
    };
    assert_eq!(complaints(&|_| {}), "");
    assert!(complaints(&|program| program.joins[0].objects.misses = None).contains("its misses are not counted"));
    let timer = complaints(&|program| program.joins[0].objects.timers[0] = None);
    assert!(timer.contains("`routes` has no register of 4096 times for its idle timeouts"), "{timer}");
    let small = complaints(&|program| program.registers.iter_mut().for_each(|(_, register)| register.size = 8));
    assert!(small.contains("has no register of 4096 times"), "{small}");
    let other = complaints(&|program| program.joins[0].objects.timers[1] = program.joins[0].objects.timers[0]);
    assert!(other.contains("entries of `hops` have no idle timeouts"), "{other}");
    let no_part = complaints(&|program| program.joins[0].missed.clear());
    assert!(no_part.contains("its keys or actions are not those"), "{no_part}");
}

/// An entry of `hops` with two different values matches no packet; the joint table would have one key for both.
#[test]
fn keys_with_the_same_value_are_not_joined() {
    let both = "  key in.port: exact as one\n  key in.port: exact as two\n";
    let (made, complaints) = of_routes("  key h.dst: exact\n", both, "hop: 16) { h.hop = hop");
    assert_eq!(made.len(), 0);
    assert!(complaints[0].contains("key `two` has the value of another key"), "{complaints:?}");
    let determined = "  key h.hop: exact as one\n  key h.hop: exact as two\n";
    let (made, _) = of_routes("  key h.dst: exact\n", determined, "hop: 16) { h.hop = hop");
    assert_eq!(made, ["routes+hops"], "the data of an entry are compared with each value");
}

/// No entry of `hops` can be a part of a joint entry, nor can a miss.
#[test]
fn a_table_without_actions_for_entries_is_not_joined() {
    let only = |key: &str| format!("  key {key}: exact\n  default_only action none() {{}}\n");
    let text = |key: &str| {
        CROSS_OF_NONE.replace("TABLE", &format!("table hops {{\n{}  const default none()\n}}\n", only(key)))
    };
    for (key, joins) in [("in.port", 0), ("h.hop", 1)] {
        let mut program = parse_program(&text(key)).unwrap_or_else(|errors| panic!("{errors:?}"));
        let inputs = Inputs { joins: Joins::All, ..Inputs::default() };
        opt::optimize(&mut program, &mut Plan::default(), &inputs, &Selection::All, None);
        assert_eq!(program.joins.len(), joins, "{key}");
        assert_eq!(verify::verify(&program), [], "{key}");
    }
}

const CROSS_OF_NONE: &str = "program none for none
header h: h_t { dst: 32, hop: 16 }
variable error: 32
table routes {
  key h.dst: exact
  action set(hop: 16) { h.hop = hop }
  default set(0)
}
TABLEparser parser { start start, accept routes, reject routes, error error }
entry start
node start: state of parser { extract h } -> routes
node routes: apply routes -> hops
node hops: apply hops -> out
node out: buffer { send 32w1 }
";

/// Data planes find actions by name: those of the program may have names of hidden ones.
#[test]
fn hidden_actions_have_names_of_their_own() {
    let action = "a: 16) { h.hop = a }\n  action `set+to`(b: 16) { h.hop = b";
    let hop = "  key h.hop: exact\n  action `to+to`(hop: 16) { h.hop = hop }\n  action slow() {}\n";
    let (made, complaints) = of_routes("  key h.dst: exact\n", hop, action);
    assert_eq!((made, complaints), (vec!["routes+hops".to_string()], Vec::new()));
}

/// Each join multiplies hidden actions: a long series of tables with several actions would have more than there is
/// memory for.
#[test]
fn joint_tables_have_a_bounded_number_of_actions() {
    let mut text = "program series for none\nheader h: h_t { key: 16 }\nvariable error: 32\n".to_string();
    for table in 0..8 {
        let action = |at| format!("  action a{at}(key: 16) {{ h.key = key + {at} }}\n");
        let actions: String = (0..8).map(action).collect();
        text.push_str(&format!("table t{table} {{\n  key h.key: exact\n{actions}  default a0(0)\n}}\n"));
    }
    text.push_str("parser parser { start start, accept t0, reject t0, error error }\nentry start\n");
    text.push_str("node start: state of parser { extract h } -> t0\n");
    (0..8).for_each(|at| text.push_str(&format!("node t{at}: apply t{at} -> t{}\n", at + 1)));
    text.push_str("node t8: buffer { send 32w1 }\n");
    let mut program = parse_program(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let inputs = Inputs { joins: Joins::All, ..Inputs::default() };
    opt::optimize(&mut program, &mut Plan::default(), &inputs, &Selection::All, Some("join"));
    let actions = program.joins.iter().map(|join| program.tables[join.table].actions.len());
    assert!(
        program.joins.len() > 2 && actions.clone().all(|count| count <= 1 + 1024),
        "{:?}",
        actions.collect::<Vec<_>>()
    );
    assert_eq!(verify::verify(&program), []);
}
