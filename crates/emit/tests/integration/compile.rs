//! The C of every example compiles without a warning, on gcc and on clang, for both descriptors.
//!
//! A compiler that is not installed is skipped with a message; without any the test fails.

use crate::compilers::{COMPILERS, plans, repository};
use hlir::plan::{Access, Descriptor, Hint, Placement, Plan, Prefetch};
use std::path::PathBuf;

fn examples() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["crates/hlir/tests/programs", "crates/emit/tests/programs"] {
        let Ok(entries) = std::fs::read_dir(repository().join(folder)) else { continue };
        found.extend(
            entries
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|end| end == "hlir")),
        );
    }
    found.sort();
    assert!(!found.is_empty(), "there are examples");
    found
}

/// The router in stages, what comes before its lookup for several packets at once.
fn router(lanes: u32, request: &str) -> hlir::text::Parsed {
    let path = "v1model.begin, RouterParser.start, RouterParser.ipv4, CheckHeader.start, Router.if_105, Router.if_107, \
                Router.if_109, Router.if_112, Router.if_114, Router.routes";
    let program = include_str!("../golden/ipv4fwd.hlir");
    let text = format!(
        "{program}
plan {{
  burst 64
  hot_path {{ {path} }}
  loop Router.routes: batch 64 group 64 vector {lanes} {{ prefetch table Router.routes {request} to t0 }}
}}"
    );
    hlir::text::parse_file(&text).expect("the router is HLIR")
}

#[test]
fn examples_compile_without_a_warning() {
    for example in examples() {
        let text = std::fs::read_to_string(&example).expect("examples can be read");
        let parsed = hlir::text::parse_file(&text).expect("examples are HLIR");
        let stem = example.file_stem().expect("examples have names").to_string_lossy().into_owned();
        for (plan_name, plan) in plans(&parsed.program) {
            COMPILERS.compile(&format!("{stem}_{plan_name}"), &parsed.program, &plan);
        }
    }
}

#[test]
fn packets_side_by_side_compile_without_a_warning() {
    for (lanes, placement) in
        [(8, "in own_loop"), (16, "interleaved lookup"), (8, "interleaved commit"), (16, "interleaved keys")]
    {
        let ahead = if placement == "in own_loop" { 64 } else { 1 };
        let parsed = router(lanes, &format!("ahead {ahead} {placement}"));
        let plan = parsed.plan.expect("it has a plan");
        COMPILERS.compile(&format!("router_lanes_{lanes}_{placement}"), &parsed.program, &plan);
    }
}

/// Where packets of a switch leave.
const SENT: &str = "\
node queue: buffer {
  when meta.port == 511: drop \"no way\"
  otherwise -> departure
}
node departure: buffer {
  send u32(meta.port)
}
";

/// A switch that looks up an address of so many bits for a group.
fn looked_up(bits: u32, kind: &str, structure: &str, group: u32) -> hlir::text::Parsed {
    let text = format!(
        "program switch for none
header hdr.packet: packet_t {{ address: {bits} }}
variable meta.port: 9
variable error: 32
table routes {{
  key hdr.packet.address: {kind}
  action send(port: 9) {{ meta.port = port }}
  default send(511)
}}
parser parser {{ start start, accept routes, reject routes, error error }}
entry start
node start: state of parser {{ extract hdr.packet }} -> routes
node routes: apply routes -> queue
{SENT}plan {{
  burst 64
  hot_path {{ start, routes }}
  loop routes: batch 64 group {group} {{ lookup routes }}
  table routes: {structure}
}}"
    );
    hlir::text::parse_file(&text).expect("the switch is HLIR")
}

/// A table may have the name of another variable of a burst or of a group's lookups, with any interleaving of its prefetches.
#[test]
fn tables_may_have_any_name() {
    for name in
        ["worker", "memory", "clock_ns", "out", "number", "requested", "newest", "size", "exact48", "exact48_find"]
    {
        let parsed = looked_up(48, "exact", "exact48", 64);
        let mut program = parsed.program;
        let mut plan = parsed.plan.expect("it has a plan");
        let (_, table) = program.tables.iter_mut().next().expect("it has a table");
        table.name = name.to_string();
        plan.tables[0].table = name.to_string();
        plan.loops[0].lookups.clear();
        plan.loops[0].prefetches.push(Prefetch {
            access: Access::Table(name.to_string()),
            placement: Placement::WithCommit,
            distance: 1,
            hint: Hint::T0,
            reason: None,
        });
        COMPILERS.compile(&format!("table_{name}"), &program, &plan);
    }
}

/// What a group looks up is unrolled for its size, and compilers warn of accesses beyond arrays that they believe to see.
#[test]
fn look_ups_of_groups_of_any_size_compile_without_a_warning() {
    let structures = [
        (48, "exact", "exact48"),
        (56, "exact", "exact60"),
        (128, "exact", "exact"),
        (32, "lpm", "dir24_8_u8"),
        (128, "lpm", "btree"),
        (128, "lpm", "lpm_trie"),
    ]
    .into_iter()
    .chain(["scan", "bit_vector", "tuple_space"].map(|structure| (128, "ternary", structure)));
    for (bits, kind, structure) in structures {
        for group in [7, 16, 32] {
            let parsed = looked_up(bits, kind, structure, group);
            let plan = Plan { descriptor: Descriptor::Own, ..parsed.plan.expect("it has a plan") };
            COMPILERS.compile_for(&format!("{structure}_{group}"), &parsed.program, &plan, &[]);
        }
    }
}

/// Two tables share an array: looked up for a group together, each in a stage of its own, and in turn.
#[test]
fn look_ups_in_shared_arrays_compile_without_a_warning() {
    let lookup = |table: &str| format!("lookup {table}");
    let stage = |table: &str, requests: &str| format!("loop {table}: batch 64 group 64 {{\n{requests}\n}}");
    let together = stage("sources", &[lookup("sources"), lookup("destinations")].join("\n"));
    let apart = [stage("sources", ""), stage("destinations", "")].join("\n");
    let path = "hot_path { start, sources, destinations }\n";
    for (bits, structure) in [(48, "exact48"), (56, "exact60")] {
        for (name, loops) in
            [("together", [path, &together].concat()), ("apart", [path, &apart].concat()), ("turn", String::new())]
        {
            let text = format!(
                "program bridge for none
header hdr.addresses: addresses_t {{ dst: {bits}, src: {bits} }}
variable meta.port: 9
variable error: 32
table sources {{
  key hdr.addresses.src: exact
  action known() {{}}
  action unknown() {{ meta.port = 511 }}
  default unknown()
}}
table destinations {{
  key hdr.addresses.dst: exact
  action forward(port: 9) {{ meta.port = port }}
  default forward(511)
}}
parser parser {{ start start, accept sources, reject sources, error error }}
entry start
node start: state of parser {{ extract hdr.addresses }} -> sources
node sources: apply sources -> destinations
node destinations: apply destinations -> queue
{SENT}plan {{
  burst 64
  {loops}
  table sources: {structure}
  table destinations: {structure}
  joint sources with destinations bits 2
}}"
            );
            let parsed = hlir::text::parse_file(&text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
            let plan = parsed.plan.expect("it has a plan");
            COMPILERS.compile(&format!("{structure}_shared_{name}"), &parsed.program, &plan);
        }
    }
}
