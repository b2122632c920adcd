//! Constraints are in the plan as written, and planners plan around them. Also: what planners choose for
//! hot paths and bursts by themselves.

use hlir::plan::{Descriptor, Plan};
use hlir::table::action_bit;
use hlir::text::{parse_file, parse_plan, print_plan};
use hlir::{Program, verify};
use opt::analyze::Traffic;
use opt::inputs::machine::{Port, Stages};
use opt::inputs::{Content, Profile};
use opt::model::Model;
use opt::{Inputs, Selection};

const PROGRAM: &str = r#"
program router for none

header hdr.ethernet: ethernet_t { dst: 48, src: 48, type: 16 }
variable meta.port: 9
variable error: 32

table hosts {
  key hdr.ethernet.src: exact
  action known() {}
  action unknown() { meta.port = 511 }
  default unknown()
}

table bridges {
  key hdr.ethernet.dst: exact
  action forward(port: 9) { meta.port = port }
  action no_way() { meta.port = 511 }
  default no_way()
}

table slow {
  key hdr.ethernet.type: exact
  action known(port: 9) { meta.port = port }
  action unknown() { meta.port = 511 }
  default unknown()
}

parser parser { start start, accept kind, reject kind, error error }

entry start

node start: state of parser { extract hdr.ethernet } -> kind

node kind: branch hdr.ethernet.type == 0x0800 -> hosts else slow

node hosts: apply hosts -> bridges

node bridges: apply bridges -> queue

node slow: apply slow -> queue

node queue: buffer {
  when meta.port == 511: drop "no way"
  otherwise -> deparser
}

node deparser: deparse { emit hdr.ethernet } -> departure

node departure: buffer { send u32(meta.port) }
"#;

const TRAFFIC: &str =
    "1000 start -> kind\n1000 kind -> hosts\n1000 hosts -> bridges\n1000 bridges -> queue\n1000 queue -> deparser\n";

/// The program, with so many entries in its tables.
fn given(entries: u64) -> (Program, Inputs) {
    let program = parse_file(PROGRAM).expect("the example is HLIR").program;
    let profile = Profile::parse(TRAFFIC).expect("the example is a profile");
    let mut inputs = Inputs { profile: Some(profile), ..Inputs::default() };
    for table in ["hosts", "bridges"] {
        let content = Content { entries, records: 100, masks: 1, is_known: true, ..Content::default() };
        inputs.occupancy.tables.insert(table.to_string(), content);
    }
    (program, inputs)
}

fn planned(entries: u64, pins: &str, passes: &Selection) -> Plan {
    planned_with(given(entries), pins, passes)
}

fn planned_with((mut program, mut inputs): (Program, Inputs), pins: &str, passes: &Selection) -> Plan {
    inputs.constraints = parse_plan(&format!("plan {{\n{pins}}}\n")).expect("the pins are a plan");
    let mut plan = Plan::default();
    opt::optimize(&mut program, &mut plan, &inputs, passes, None);
    let wrong = verify::verify_plan(&program, &plan);
    assert!(wrong.is_empty(), "{}{wrong:#?}", print_plan(&plan));
    plan
}

fn line<'t>(text: &'t str, begin: &str) -> &'t str {
    text.lines().find(|line| line.trim_start().starts_with(begin)).unwrap_or_else(|| panic!("no {begin} in\n{text}"))
}

#[test]
fn a_given_queue_is_kept_and_gets_stages() {
    let queue = "  queue slow: capacity 32 timeout 4\n";
    let (program, mut inputs) = given(100);
    inputs.machine.stages =
        Some(Stages { operation_cycles: 1.0, loop_cycles: 1e6, pipelining_cycles: 1e6, ..Stages::default() });
    let expensive = |pins: &str| planned_with((program.clone(), inputs.clone()), pins, &Selection::All);
    assert!(expensive("").hot_path.is_none(), "no stage pays");
    for plan in [expensive(queue), planned(10_000_000, queue, &Selection::All)] {
        assert!(print_plan(&plan).contains(queue) && !plan.loops.is_empty(), "{}", print_plan(&plan));
    }
    let with_loop = "  loop slow: batch 32 group 16 {\n    prefetch table slow ahead 16 in own_loop to t1\n  }\n";
    let text = print_plan(&planned(10_000_000, &format!("{with_loop}{queue}"), &Selection::All));
    assert!(text.contains(with_loop) && text.contains(queue) && text.contains("  loop hosts: "), "{text}");
}

#[test]
fn a_given_stage_is_kept_and_the_other_is_planned() {
    let free = planned(10_000_000, "", &Selection::All);
    assert_eq!(free.loops.len(), 1, "both lookups in one stage: {}", print_plan(&free));
    let pinned = "  loop bridges: batch 32 group 16 {\n    prefetch table bridges ahead 16 in own_loop to t1\n  }\n";
    let plan = planned(10_000_000, pinned, &Selection::All);
    let text = print_plan(&plan);
    assert!(text.contains(pinned), "{text}");
    assert_eq!(plan.burst, 32, "the stage's batch: {text}");
    assert!(line(&text, "loop hosts").starts_with("  loop hosts: batch 32 group 16"), "of the same groups: {text}");
    // A lookup that is given without a prefetch gets none.
    let nowhere = "  loop hosts: batch 64 group 64 {\n    lookup bridges\n  }\n";
    let plan = planned(10_000_000, nowhere, &Selection::All);
    assert!(print_plan(&plan).contains(nowhere) && plan.loops.len() == 1, "{}", print_plan(&plan));
}

#[test]
fn constraints_are_in_the_plan_whichever_passes_run() {
    let all = "  burst 8\n  hot_path { start, kind, hosts, bridges }\n  loop hosts: batch 8 group 8\n  table bridges: exact48\n  \
               queue slow: capacity 3 timeout 2\n  instrument edges\n";
    for passes in [Selection::None, Selection::Without(vec!["batches".to_string()]), Selection::All] {
        let text = print_plan(&planned(10_000_000, all, &passes));
        for wanted in all.lines().filter(|line| !line.contains("hot_path")) {
            assert!(text.contains(wanted), "{passes:?}: no {wanted} in\n{text}");
        }
        assert!(
            line(&text, "hot_path").starts_with("  hot_path { start, kind, hosts, bridges }"),
            "{passes:?}: {text}"
        );
    }
}

/// A program may come with a plan whose path a constraint replaces.
#[test]
fn a_given_path_replaces_expected_actions() {
    let (mut program, mut inputs) = given(100);
    let path = "hot_path { start, kind, hosts runs known, bridges }";
    let plan = |text: &str| parse_plan(&format!("plan {{\n  {text}\n}}\n")).expect("a plan");
    inputs.constraints = plan(path);
    let mut brought =
        plan("hot_path { start, kind, hosts, bridges runs forward } because 1.0 against packet_by_packet 2.0");
    opt::optimize(&mut program, &mut brought, &inputs, &Selection::None, None);
    let text = print_plan(&brought);
    assert_eq!(line(&text, "hot_path").trim(), format!("{path} because 1.0 against packet_by_packet 2.0"));
    assert!(verify::verify_plan(&program, &brought).is_empty());
}

#[test]
fn a_given_descriptor_is_kept_for_any_port() {
    for (own_descriptor, pinned) in [(true, Descriptor::Mbuf), (false, Descriptor::Own)] {
        let (mut program, mut inputs) = given(16);
        inputs.ports.own_descriptor = own_descriptor;
        inputs.constrained_descriptor = Some(pinned);
        for passes in [Selection::All, Selection::None] {
            let mut plan = Plan::default();
            opt::optimize(&mut program, &mut plan, &inputs, &passes, None);
            assert_eq!(plan.descriptor, pinned);
        }
    }
}

/// The resulting plan may be illegal, which the verifier reports; no planner panics before.
#[test]
fn unsatisfiable_constraints_are_left_to_the_verifier() {
    let nodes = ["start", "kind", "hosts", "bridges", "slow", "queue", "departure", "nowhere"];
    let (_, inputs) = given(10_000_000);
    let paths =
        ["", "  hot_path { hosts, kind }\n", "  hot_path { nowhere }\n", "  hot_path { start, kind, slow, queue }\n"];
    let mut wrong = 0;
    for (at, node) in nodes.iter().enumerate() {
        for (batch, group, lines) in
            [(0u32, 0u32, ""), (8, 64, ""), (64, 16, "  burst 1\n"), (4_000_000_000, 4_000_000_000, "")]
        {
            let (path, other) = (paths[(at + batch as usize / 8) % paths.len()], nodes[(at + 3) % nodes.len()]);
            let prefetch = format!("lookup {other}\n prefetch table {other} ahead 1 interleaved lookup to t0");
            let text = format!(
                "plan {{\n{lines}{path}  loop {node}: batch {batch} group {group} {{ {prefetch} }}\n  table {other}: list\n  queue {other}: capacity 8 timeout 1\n}}\n"
            );
            let mut inputs = inputs.clone();
            inputs.constraints = parse_plan(&text).expect("the pins are a plan");
            let (mut program, mut plan) = (given(1).0, Plan::default());
            opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
            wrong += usize::from(!verify::verify_plan(&program, &plan).is_empty());
            assert!(
                plan.loops.contains(&inputs.constraints.loops[0]) && plan.queues == inputs.constraints.queues,
                "{text}"
            );
        }
    }
    assert!(wrong > 16, "only {wrong} were wrong");
}

/// Each of these is legal alone, but may not fit what is planned beside it. No planner panics before the
/// verifier reports it.
#[test]
fn satisfiable_constraints_are_planned_around() {
    let (_, inputs) = given(10_000_000);
    let parts = ["start", "kind", "hosts", "bridges", "slow", "queue"];
    let (mut planned, mut wrong) = (0, 0);
    for node in parts {
        for other in parts {
            for prefetch in ["", " {\n lookup bridges\n prefetch table bridges ahead 1 interleaved lookup to t0 }"] {
                let text = format!(
                    "plan {{\n  loop {node}: batch 64 group 16{prefetch}\n  table bridges: list\n  queue {other}: capacity 64 timeout 2\n}}\n"
                );
                let mut inputs = inputs.clone();
                inputs.constraints = parse_plan(&text).expect("the pins are a plan");
                let (mut program, mut plan) = (given(1).0, Plan::default());
                if !verify::verify_pins_at(&program, &inputs.constraints, &verify::Places::default()).is_empty() {
                    continue;
                }
                opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
                planned += 1;
                wrong += usize::from(!verify::verify_plan(&program, &plan).is_empty());
            }
        }
    }
    assert!(planned >= 16 && wrong > 0, "{planned} were planned, {wrong} were wrong");
}

/// A path may come from a file, with names of another program.
#[test]
fn a_plan_with_unknown_nodes_costs_as_without_a_path() {
    let (program, inputs) = given(100);
    let traffic = Traffic::estimate(&program, &inputs);
    let model = Model::new(&program, &inputs, &traffic);
    let text =
        "plan {\n  hot_path { start, kind, nowhere, bridges runs forward }\n  loop bridges: batch 64 group 64\n}\n";
    let lost = parse_plan(text).expect("a plan");
    let lists = Plan { hot_path: None, ..lost.clone() };
    let cycles = [lost, lists].map(|plan| model.predict(&plan).cycles());
    assert!(cycles[0].is_finite() && (cycles[0] - cycles[1]).abs() < 1e-9, "{cycles:?}");
}

#[test]
fn the_hot_path_expects_the_action_of_all_known_entries() {
    let path = |actions: u64| {
        let (program, mut inputs) = given(100);
        inputs.occupancy.tables.get_mut("bridges").expect("it is known").actions = actions;
        print_plan(&planned_with((program, inputs), "", &Selection::Only(vec!["hot_path".to_string()])))
    };
    let (forward, no_way) = (action_bit(0), action_bit(1));
    assert!(path(0).contains("bridges runs forward"), "actions are unknown: {}", path(0));
    assert!(path(no_way).contains("bridges runs no_way"), "{}", path(no_way));
    assert!(!path(forward | no_way).contains("bridges runs"), "{}", path(forward | no_way));
}

#[test]
fn a_longer_burst_needs_a_larger_gain_than_a_shorter_one() {
    let burst = |own: [f64; 3]| {
        let (program, mut inputs) = given(100);
        inputs.constrained_descriptor = Some(Descriptor::Own);
        inputs.machine.port = Port { burst: vec![32, 64, 128], own: own.to_vec(), ..Port::default() };
        planned_with((program, inputs), "", &Selection::Only(["descriptor", "batches"].map(String::from).to_vec()))
            .burst
    };
    assert_eq!(burst([1000.0; 3]), 64);
    assert_eq!(burst([965.0, 1000.0, 965.0]), 32);
    assert_eq!(burst([1000.0, 1000.0, 965.0]), 64);
    assert_eq!(burst([1000.0, 1000.0, 900.0]), 128);
}

/// With few hosts, a structure without hashes costs less per lookup, but a grouped lookup gains nothing.
#[test]
fn structures_are_compared_by_the_cost_of_the_whole_plan() {
    let cycles = |plan: &Plan| {
        let (program, inputs) = given(8);
        let traffic = Traffic::estimate(&program, &inputs);
        Model::new(&program, &inputs, &traffic).predict(plan).cycles()
    };
    let plan = planned(8, "", &Selection::All);
    let hosts = plan.tables.iter().find(|planned| planned.table == "hosts").expect("it is planned");
    let reason = hosts.reason.as_ref().expect("planners give reasons");
    assert!(reason.alternatives.is_sorted_by_key(|other| other.cost), "{reason:?}");
    let hlir::plan::Alternative { choice, cost } = &reason.alternatives[0];
    let beaten = hlir::text::written_choice(choice);
    assert!(*cost < reason.cost, "{reason:?}");
    let pinned = planned(8, &format!("  table hosts: {beaten}\n"), &Selection::All);
    assert!(cycles(&plan) < cycles(&pinned), "{} with {beaten}", cycles(&pinned));
}
