//! The C of every example compiles without a warning, on gcc and on clang, for both descriptors.
//!
//! A compiler that is not installed is skipped with a line that says so; without any the test fails.

use hlir::plan::{Access, Descriptor, Hint, Loop, Placement, Plan, Request};
use hlir::{NodeKind, Program};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// As pipelines are compiled: clang may say of processors newer than itself, whatever it compiles, that their features do not fit together.
#[rustfmt::skip]
const FLAGS: &[&str] = &[
    "-std=c11", "-O3", "-march=native", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fPIC", "-shared", "-Wno-unknown-warning-option",
    "-Wno-invalid-feature-combination",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

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

/// What a compiler needs to find DPDK's headers; nothing where DPDK is not installed. Code is for this machine, not for the one that DPDK was built for.
fn dpdk_flags() -> Option<Vec<String>> {
    let output = Command::new("pkg-config").args(["--cflags", "libdpdk"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output
        .status
        .success()
        .then(|| text.split_whitespace().filter(|flag| !flag.starts_with("-march")).map(str::to_string).collect())
}

fn compile(compiler: &str, c: &Path, more: &[String]) -> Result<(), String> {
    let output = Command::new(compiler)
        .args(FLAGS)
        .arg("-I")
        .arg(repository().join("runtime"))
        .args(more)
        .arg("-o")
        .arg(c.with_extension("so"))
        .arg(c)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// The plain plan, and one with a loop at each table.
fn plans(program: &Program) -> Vec<(&'static str, Plan)> {
    let mut loops = Vec::new();
    for node in program.nodes.values() {
        let NodeKind::Apply { table, .. } = &node.kind else { continue };
        let access = Access::Table { table: program.tables[*table].name.clone(), line: 0 };
        let request = Request { access, placement: Placement::OwnLoop, distance: 1, hint: Hint::T0, reason: None };
        loops.push(Loop {
            node: node.name.clone(),
            batch: 32,
            group: 8,
            lanes: 1,
            requests: vec![request],
            reason: None,
        });
    }
    vec![("plain", Plan::default()), ("batched", Plan { burst: 32, loops, ..Plan::default() })]
}

/// The router in stages, what comes before its look-up for several packets at once.
fn router(lanes: u32, request: &str) -> hlir::text::Parsed {
    let path = "v1model.begin, RouterParser.start, RouterParser.ipv4, CheckHeader.start, Router.if_105, Router.if_107, \
                Router.if_109, Router.if_112, Router.if_114, Router.routes";
    let program = include_str!("golden/ipv4fwd.hlir");
    let text = format!(
        "{program}
plan {{
  burst 64
  path {{ {path} }}
  loop Router.routes: batch 64 group 64 lanes {lanes} {{ prefetch table Router.routes line 0 {request} to t0 }}
}}"
    );
    hlir::text::parse_file(&text).expect("the router is HLIR")
}

static COMPILERS: LazyLock<Compilers> = LazyLock::new(Compilers::installed);

/// What is there to compile with.
struct Compilers {
    names: Vec<&'static str>,
    dpdk: Option<Vec<String>>,
}

impl Compilers {
    fn installed() -> Compilers {
        let answers = |compiler: &&str| match Command::new(compiler).arg("--version").output() {
            Ok(output) if output.status.success() => true,
            _ => {
                println!("{compiler} is not installed");
                false
            }
        };
        let names: Vec<&str> = ["gcc", "clang-19", "clang"].into_iter().filter(answers).collect();
        assert!(!names.is_empty(), "no C compiler is installed");
        println!("with {names:?}");
        let dpdk = dpdk_flags();
        if dpdk.is_none() {
            println!("DPDK is not installed: mbuf is not tried");
        }
        Compilers { names, dpdk }
    }

    /// The C of a program under a plan, with each compiler and for both descriptors.
    fn compile(&self, title: &str, program: &Program, plan: &Plan) {
        let own = Plan { descriptor: Descriptor::Own, ..plan.clone() };
        self.compile_for(&format!("{title}_own"), program, &own, &[]);
        if let Some(dpdk) = &self.dpdk {
            let mbuf = Plan { descriptor: Descriptor::Mbuf, ..plan.clone() };
            self.compile_for(&format!("{title}_mbuf"), program, &mbuf, dpdk);
        }
    }

    /// The same for the plan's descriptor, with more flags.
    fn compile_for(&self, title: &str, program: &Program, plan: &Plan, flags: &[String]) {
        let c = emit::emit(program, plan).unwrap_or_else(|errors| panic!("{title}: {errors:?}"));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{title}.c"));
        std::fs::write(&path, c).expect("the C can be written");
        for compiler in &self.names {
            let place = path.display();
            compile(compiler, &path, flags).unwrap_or_else(|errors| panic!("{compiler}, {place}:\n{errors}"));
        }
    }
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
    for (lanes, placement) in [(8, "own_loop"), (16, "with_consumption"), (8, "with_turns"), (16, "with_keys")] {
        let ahead = if placement == "own_loop" { 64 } else { 1 };
        let parsed = router(lanes, &format!("ahead {ahead} in {placement}"));
        let plan = parsed.plan.expect("it has a plan");
        COMPILERS.compile(&format!("router_lanes_{lanes}_{placement}"), &parsed.program, &plan);
    }
}

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
node queue: buffer {{
  when meta.port == 511: drop \"no way\"
  otherwise -> departure
}}
node departure: buffer {{
  send u32(meta.port)
}}
plan {{
  burst 64
  path {{ start, routes }}
  loop routes: batch 64 group {group} {{ prefetch table routes line 0 ahead 1 in nowhere to t0 }}
  table routes: {structure}
}}"
    );
    hlir::text::parse_file(&text).expect("the switch is HLIR")
}

/// A table may be called as something else that is at hand during a burst, or where a group is looked up, whatever work its lines are asked for with.
#[test]
fn tables_may_have_any_name() {
    for name in ["worker", "memory", "clock_ns", "out", "number", "requested", "newest", "size"] {
        let parsed = looked_up(48, "exact", "exact48", 64);
        let mut program = parsed.program;
        let mut plan = parsed.plan.expect("it has a plan");
        let (_, table) = program.tables.iter_mut().next().expect("it has a table");
        table.name = name.to_string();
        plan.tables[0].table = name.to_string();
        let request = &mut plan.loops[0].requests[0];
        request.access = Access::Table { table: name.to_string(), line: 0 };
        request.placement = Placement::WithTurns;
        COMPILERS.compile(&format!("table_{name}"), &program, &plan);
    }
}

/// What a group looks up is unrolled for its size, and compilers say what they think of accesses beyond arrays that they believe to see.
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
