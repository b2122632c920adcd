//! Random plans. Each legal one must compile, and send what the interpreter sends.
//!
//! `DRAWN_PLANS=100 DRAWN_SEED=7 cargo test -p cli --test integration drawn::` draws so many for each program, and others.

use crate::command::{has_dpdk, path, ran, scratch};
use hlir::hot_path::table_of;
use hlir::plan::{
    Access, Descriptor, Hint, HotPath, JointTables, Loop, Placement, Prefetch, Queue, StageLookup, StagedPath,
    Structure, TablePlan,
};
use hlir::text::{parse_program, print_plan};
use hlir::verify::verify_plan;
use hlir::{NodeId, Plan, Program, TableId};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path as File;

/// Default number of plans of each program.
const PLANS: u64 = 3;
/// Plans that are drawn for one that is legal, at most: the rules are strict where a program has state.
const ATTEMPTS: u32 = 2000;
const GROUPS: [u32; 8] = [1, 2, 5, 7, 8, 16, 33, 64];

/// Numbers by SplitMix64.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }

    fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// What a plan has: a path, which it cuts into stages, or loops with lists.
#[derive(Clone, Copy)]
enum Kind {
    Stages,
    Lists,
}

/// The same on every machine, but that mbufs need DPDK.
fn plan(program: &Program, draw: &mut Draw, kind: Kind, has_dpdk: bool) -> Plan {
    let bursts = [32, 64, 64, 128];
    let mut plan = Plan { descriptor: Descriptor::Own, burst: draw.one_of(&bursts), ..Plan::default() };
    if draw.percent(40) && has_dpdk {
        plan.descriptor = Descriptor::Mbuf;
    }
    for table in program.tables.values() {
        let structure = draw.one_of(&Structure::ALL);
        let planned = TablePlan { table: table.name.clone(), structure, reason: None };
        let alone = Plan { tables: vec![planned.clone()], ..Plan::default() };
        if verify_plan(program, &alone).is_empty() {
            plan.tables.push(planned);
        }
    }
    share(program, draw, &mut plan);
    match kind {
        Kind::Stages => stages(program, draw, &mut plan),
        Kind::Lists => lists(program, draw, &mut plan),
    }
    plan
}

/// Lets two tables share an array, if they can: with bits for more records than tests have.
fn share(program: &Program, draw: &mut Draw, plan: &mut Plan) {
    let names: Vec<&String> = program.tables.values().map(|table| &table.name).collect();
    if names.len() < 2 || draw.percent(30) {
        return;
    }
    let [table, owner] = [draw.one_of(&names), draw.one_of(&names)].map(String::clone);
    let mut other = plan.clone();
    let structure = draw.one_of(&[Structure::Exact48, Structure::Exact60]);
    other.tables.retain(|planned| planned.table != table && planned.table != owner);
    for table in [&table, &owner] {
        other.tables.push(TablePlan { table: table.clone(), structure, reason: None });
    }
    other.joints.push(JointTables { secondary: table, primary: owner, bits: draw.one_of(&[6, 8, 10]), reason: None });
    if verify_plan(program, &other).is_empty() {
        *plan = other;
    }
}

/// A path from the entry: mostly by first edges, which are the expected ones.
fn way(program: &Program, draw: &mut Draw) -> Vec<NodeId> {
    let Some(mut at) = program.entry else { return Vec::new() };
    let mut taken = vec![at];
    loop {
        let mut onward = program.nodes[at].successors();
        onward.retain(|next| !taken.contains(next));
        if onward.is_empty() || taken.len() > 6 && draw.percent(3) {
            return taken;
        }
        at = if draw.percent(60) { onward[0] } else { draw.one_of(&onward) };
        taken.push(at);
    }
}

fn stages(program: &Program, draw: &mut Draw, plan: &mut Plan) {
    let group = draw.one_of(&GROUPS);
    let first = staged_path(program, draw, group);
    let on_path = |node: &hlir::Node| first.path.nodes.contains(&node.name);
    for node in program.nodes.values().filter(|node| !on_path(node)) {
        if draw.percent(8) {
            let (capacity, timeout) = (draw.one_of(&[1, 5, 8, 64]), 1 + draw.below(3) as u32);
            plan.queues.push(Queue { node: node.name.clone(), capacity, timeout, reason: None });
        }
    }
    (plan.hot_path, plan.loops) = (Some(first.path), first.loops);
    next_paths(program, draw, plan, group);
}

/// Paths for packets that leave the first one, each if it is legal.
fn next_paths(program: &Program, draw: &mut Draw, plan: &mut Plan, group: u32) {
    for _ in 0..draw.one_of(&[0, 1, 8]) {
        let next = staged_path(program, draw, group);
        let mut other = plan.clone();
        other.next_paths.push(next);
        if other.next_paths.len() <= 2 && verify_plan(program, &other).is_empty() {
            *plan = other;
        }
    }
}

/// A path that is cut at some of its lookups.
fn staged_path(program: &Program, draw: &mut Draw, group: u32) -> StagedPath {
    let nodes = way(program, draw);
    let looked_up: Vec<(usize, TableId)> =
        nodes.iter().enumerate().filter_map(|(place, node)| Some((place, table_of(program, *node)?))).collect();
    let mut path =
        HotPath { nodes: nodes.iter().map(|node| program.nodes[*node].name.clone()).collect(), ..HotPath::default() };
    for (place, table) in &looked_up {
        let actions = &program.tables[*table].actions;
        if !actions.is_empty() && draw.percent(40) {
            std::sync::Arc::make_mut(&mut path.actions).insert(*place, actions[draw.below(actions.len())].name.clone());
        }
    }
    let mut loops: Vec<Loop> = Vec::new();
    let mut asked = BTreeSet::new();
    for (number, (place, _)) in looked_up.iter().enumerate() {
        if !draw.percent(50) {
            continue;
        }
        let is_first = loops.is_empty();
        let lanes = if is_first { draw.one_of(&[1, 8, 8, 16]) } else { 1 };
        let is_behind = is_first && draw.percent(40);
        let (mut lookups, mut requests) = (Vec::new(), Vec::new());
        for (at, (_, table)) in looked_up.iter().enumerate().skip(number) {
            if (at == number || draw.percent(40)) && asked.insert(program.tables[*table].name.clone()) {
                let placement = match is_behind {
                    true => Some(draw.one_of(&[Placement::WithLookups, Placement::WithCommit, Placement::WithKeys])),
                    false => draw.one_of(&[Some(Placement::OwnLoop), None]),
                };
                lookups.push(StageLookup { table: program.tables[*table].name.clone(), reason: None });
                requests.extend(placement.map(|placement| request(draw, program, Some(*table), placement, group)));
            }
        }
        let batch = draw.one_of(&[group, 64, 128]).max(group);
        let node = path.nodes[*place].clone();
        loops.push(Loop { node, batch, group, vector: lanes, lookups, prefetches: requests, reason: None });
    }
    StagedPath { path, loops }
}

/// A plan without a path.
fn lists(program: &Program, draw: &mut Draw, plan: &mut Plan) {
    for (id, node) in program.nodes.iter() {
        if !draw.percent(30) {
            continue;
        }
        let batch = draw.one_of(&[32, 64]);
        let group = 1 + draw.below(batch as usize) as u32;
        let is_asked = draw.percent(60);
        let requests: Vec<Prefetch> = is_asked
            .then(|| request(draw, program, table_of(program, id), Placement::OwnLoop, group))
            .into_iter()
            .collect();
        let (node, lookups) = (node.name.clone(), Vec::new());
        plan.loops.push(Loop { node, batch, group, vector: 1, lookups, prefetches: requests, reason: None });
    }
}

/// A request for the first line of a table, or for the packet.
fn request(draw: &mut Draw, program: &Program, table: Option<TableId>, placement: Placement, group: u32) -> Prefetch {
    let access = match table {
        Some(table) => Access::Table(program.tables[table].name.clone()),
        None => Access::Packet,
    };
    let distance = if placement == Placement::OwnLoop { group } else { 1 };
    let hint = draw.one_of(&[Hint::T0, Hint::T1]);
    Prefetch { access, placement, distance, hint, reason: None }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Draws plans for a program. Entries are those of `configuration`, and some with keys of packets, which are mutations of those of `capture`.
fn agrees(program: &str, configuration: &[&str], capture: &str) {
    let file = |name: &str| path(name).display().to_string();
    let (source, capture) = (file(program), file(capture));
    let (code, text) = ran(&["show", &source, "--after", "lower", "--Wdisable"]);
    assert_eq!(code, Some(0), "{text}");
    let lowered = parse_program(&text).unwrap_or_else(|mistakes| panic!("{program}: {mistakes:?}"));
    let seed = number("DRAWN_SEED", 1);
    let mut draw = Draw(program.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31) + u64::from(byte)));
    let has_dpdk = has_dpdk();
    let directory = scratch(&format!("drawn-{}", File::new(program).file_stem().unwrap_or_default().display()));
    let planned = directory.join("drawn.plan").display().to_string();
    for _ in 0..number("DRAWN_PLANS", PLANS) {
        let descriptor = legal((&lowered, &source), &mut draw, has_dpdk, &planned);
        let entries = draw.one_of(&["0", "3", "3", "40"]);
        let both = ["--trace", &capture, "--count", "300", "--random-entries", entries, "--plan", &planned];
        let configuration: Vec<String> = configuration.iter().map(|name| file(name)).collect();
        let mut arguments = vec!["stf", &source, "--descriptor", descriptor];
        arguments.extend(configuration.iter().map(String::as_str));
        let (code, said) = ran(&[&arguments[..], &both].concat());
        let plan = fs::read_to_string(&planned).expect("the plan was written");
        assert!(
            code == Some(0) && said.contains("both engines agree"),
            "{program} with {entries} entries:\n{plan}\n{said}"
        );
    }
    drop(fs::remove_dir_all(directory));
}

/// Writes a plan that is legal and that code can be written for; the name of its descriptor.
fn legal((program, source): (&Program, &str), draw: &mut Draw, has_dpdk: bool, file: &str) -> &'static str {
    // Stages are more often illegal. Who draws the kind anew each time has lists and nothing else where packets are copied.
    let (first, other) = if draw.percent(65) { (Kind::Stages, Kind::Lists) } else { (Kind::Lists, Kind::Stages) };
    for attempt in 0..ATTEMPTS {
        let plan = plan(program, draw, if attempt < ATTEMPTS / 2 { first } else { other }, has_dpdk);
        if plan.loops.is_empty() || !verify_plan(program, &plan).is_empty() {
            continue;
        }
        let text = print_plan(&plan);
        fs::write(file, &text).expect("there is room for a plan");
        let descriptor = hlir::text::written_descriptor(plan.descriptor);
        let (code, said) = ran(&["compile", source, "--emit", "c", "--descriptor", descriptor, "--plan", file]);
        if code == Some(0) {
            return descriptor;
        }
        assert!(said.contains("the plan"), "{source}: neither compiled nor refused for its plan\n{text}\n{said}");
    }
    panic!("{source}: none of {ATTEMPTS} plans is legal");
}

macro_rules! programs {
    ($($name:ident: $program:literal, $configuration:expr, $capture:literal;)*) => {
        $(#[test] fn $name() { agrees($program, &$configuration, $capture); })*
    };
}

programs! {
    l2fwd: "apps/l2fwd/l2fwd.p4", ["apps/l2fwd/l2fwd.stf"], "apps/l2fwd/l2fwd.stf";
    ipv4fwd: "apps/ipv4fwd/ipv4fwd.p4", ["apps/ipv4fwd/ipv4fwd.stf"], "apps/ipv4fwd/ipv4fwd.stf";
    dualstack: "apps/dualstack/dualstack.p4", ["apps/dualstack/dualstack.stf"], "apps/dualstack/dualstack.stf";
    ipv6fwd: "apps/ipv6fwd/ipv6fwd.p4", ["apps/ipv6fwd/ipv6fwd.stf"], "apps/ipv6fwd/ipv6fwd.stf";
    l2l3acl: "apps/l2l3acl/l2l3acl.p4", ["apps/l2l3acl/l2l3acl.stf"], "apps/l2l3acl/l2l3acl.stf";
    mpls: "apps/mpls/mpls.p4", ["apps/mpls/mpls.stf"], "apps/mpls/mpls.stf";
    firewall: "apps/firewall/firewall.p4", ["apps/firewall/firewall.stf"], "apps/firewall/firewall.stf";
    ndn: "apps/ndn/ndn.p4", ["apps/ndn/ndn.stf"], "apps/ndn/ndn.stf";
    constant_entries: "crates/cli/tests/plans/constant_entries.p4", ["crates/cli/tests/plans/constant_entries.stf"], "crates/cli/tests/plans/constant_entries.stf";
    writes_to_headers_before_lookups: "crates/cli/tests/plans/deferred_write.hlir", [], "apps/l2l3acl/port1.pcap";
    a_register: "crates/cli/tests/plans/ordered_register.hlir", [], "apps/l2l3acl/port1.pcap";
    checksums: "crates/cli/tests/plans/checksums.hlir", [], "apps/l2l3acl/port1.pcap";
    insertions: "crates/cli/tests/plans/learned.hlir", [], "apps/l2l3acl/port1.pcap";
    packets_that_are_cut: "crates/cli/tests/plans/truncated.hlir", ["crates/cli/tests/plans/truncated.stf"], "crates/cli/tests/plans/truncated.stf";
    packets_of_two_kinds: "crates/cli/tests/plans/queues.hlir", [], "apps/l2l3acl/port1.pcap";
    copies: "crates/cli/tests/semantics/what_comes_again_keeps_its_field_list.p4", ["crates/cli/tests/semantics/what_comes_again_keeps_its_field_list.stf"], "crates/cli/tests/semantics/what_comes_again_keeps_its_field_list.stf";
    copies_between_look_ups: "crates/cli/tests/plans/replicates.p4", ["crates/cli/tests/plans/replicates.stf"], "crates/cli/tests/plans/replicates.stf";
    copies_that_are_references: "crates/cli/tests/plans/floods.p4", ["crates/cli/tests/plans/floods.stf"], "crates/cli/tests/plans/floods.stf";
    clones_that_are_references: "crates/cli/tests/plans/mirrors.p4", ["crates/cli/tests/plans/mirrors.stf"], "crates/cli/tests/plans/mirrors.stf";
    copies_beyond_the_budget: "crates/cli/tests/plans/copy_budget.hlir", ["crates/cli/tests/plans/copy_budget.stf"], "crates/cli/tests/plans/copy_budget.stf";
    sets_that_are_dropped: "crates/cli/tests/plans/bulk_drop.hlir", ["crates/cli/tests/plans/bulk_drop.stf"], "crates/cli/tests/plans/bulk_drop.stf";
    every_way_of_v1model: "crates/cli/tests/architectures/v1model_paths.p4", ["crates/cli/tests/architectures/v1model_paths.stf"], "crates/cli/tests/architectures/v1model_paths.stf";
    v1model_with_selectors: "crates/cli/tests/architectures/v1model_selectors.p4", ["crates/cli/tests/architectures/v1model_selectors.stf"], "crates/cli/tests/architectures/v1model_selectors.stf";
    v1model_with_idle_timeouts: "crates/cli/tests/architectures/v1model_idle.p4", ["crates/cli/tests/architectures/v1model_idle.stf"], "crates/cli/tests/architectures/v1model_idle.stf";
    l2switch: "apps/l2switch/l2switch.p4", ["apps/l2switch/l2switch.stf"], "apps/l2switch/l2switch.stf";
    psa: "crates/cli/tests/architectures/psa_paths.p4", ["crates/cli/tests/architectures/psa_paths.stf"], "crates/cli/tests/architectures/psa_paths.stf";
    psa_with_selectors: "crates/cli/tests/architectures/psa_selectors.p4", ["crates/cli/tests/architectures/psa_selectors.stf"], "crates/cli/tests/architectures/psa_selectors.stf";
    psa_with_externs: "crates/cli/tests/architectures/psa_externs.p4", ["crates/cli/tests/architectures/psa_externs.stf"], "crates/cli/tests/architectures/psa_externs.stf";
    pna: "crates/cli/tests/architectures/pna_paths.p4", ["crates/cli/tests/architectures/pna_paths.stf"], "crates/cli/tests/architectures/pna_paths.stf";
    pna_that_learns: "crates/cli/tests/architectures/pna_learning.p4", ["crates/cli/tests/architectures/pna_learning.stf"], "crates/cli/tests/architectures/pna_learning.stf";
    pna_that_forgets: "crates/cli/tests/architectures/pna_aging.p4", ["crates/cli/tests/architectures/pna_aging.stf"], "crates/cli/tests/architectures/pna_aging.stf";
}
