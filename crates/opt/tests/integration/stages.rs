//! The model of stages: stalls of groups that are prefetched one group ahead, and the cost of side exits
//! during commit.

use hlir::Program;
use hlir::plan::Plan;
use hlir::text::{parse_file, parse_plan, written_placement};
use opt::analyze::Traffic;
use opt::inputs::machine::{Lines, Stages, VectorUnit};
use opt::inputs::{Access, Content, Cuts, Machine, Profile};
use opt::model::{Model, Prediction};
use opt::{Inputs, Selection};

/// After its lookup, a packet continues on the hot path, is marked beside it, or is dropped.
const PROGRAM: &str = r#"
program bridge for none

header hdr.ethernet: ethernet_t { dst: 48, src: 48, type: 16 }
variable meta.port: 9
variable error: 32

table hosts {
  key hdr.ethernet.dst: exact
  action forward(port: 9) { meta.port = port }
  action no_way() { meta.port = 511 }
  default no_way()
}

parser parser { start start, accept hosts, reject hosts, error error }

entry start

node start: state of parser { extract hdr.ethernet } -> hosts

node hosts: apply hosts -> kind

node kind: branch meta.port == 7 -> mark else queue

node mark: block { hdr.ethernet.type = 7 } -> queue

node queue: buffer {
  when meta.port == 511: drop "no trace"
  otherwise -> deparser
}

node deparser: deparse { emit hdr.ethernet } -> departure

node departure: buffer { send u32(meta.port) }
"#;

const PATH: &str = "hot_path { start, hosts, kind, queue, deparser, departure }";

/// A machine where a line of a steady stream takes `stream` cycles, and a single load `latency`.
fn machine(stream: f64, latency: f64) -> Machine {
    let far = |cycles: &[f64; 2]| vec![vec![0.0; 2], cycles.to_vec()];
    let lines = Lines {
        working_set_kb: vec![1, 1024],
        in_flight: vec![1, 64],
        load: far(&[latency, 1.0]),
        gather: Vec::new(),
        prefetch_t0: far(&[stream; 2]),
        prefetch_t1: far(&[stream; 2]),
        group_t0: far(&[stream; 2]),
        group_t1: far(&[stream; 2]),
        busy_t0: far(&[0.0; 2]),
        busy_t1: far(&[0.0; 2]),
    };
    let stages = Stages { operation_cycles: 0.5, prefetch_cycles: 0.0, loop_cycles: 0.0, pipelining_cycles: 0.0 };
    Machine { stages: Some(stages), lines, ..Machine::default() }
}

fn predicted(machine: Machine, profile: &str, plan: &str) -> Prediction {
    let program: Program = parse_file(PROGRAM).unwrap_or_else(|errors| panic!("{errors:#?}")).program;
    let plan: Plan = parse_plan(plan).expect("a plan");
    let wrong = hlir::verify::verify_plan(&program, &plan);
    assert!(wrong.is_empty(), "{wrong:#?}");
    let profile = Some(Profile::parse(profile).expect("a profile"));
    let mut inputs = Inputs { machine, profile, ..Inputs::default() };
    let content = Content { entries: 10_000_000, records: 8, masks: 1, is_known: true, ..Content::default() };
    inputs.occupancy.tables.insert("hosts".to_string(), content);
    let traffic = Traffic::estimate(&program, &inputs);
    Model::new(&program, &inputs, &traffic).predict(&plan)
}

/// Of a thousand packets, `marked` are marked beside the path, and `dropped` of the others are dropped at its
/// buffer.
fn traffic(marked: u32, dropped: u32) -> String {
    let (on, sent) = (1000 - marked, 1000 - dropped);
    format!(
        "1000 start -> hosts\n1000 hosts -> kind\n{marked} kind -> mark\n{on} kind -> queue\n\
         {marked} mark -> queue\n{sent} queue -> deparser\n{sent} deparser -> departure\n"
    )
}

/// The last line of a group is outstanding while earlier lines arrive: the longer of the two stalls counts,
/// once.
#[test]
fn the_last_line_of_a_pipelined_group_is_hidden_by_the_group_before() {
    let prefetch = "prefetch table hosts ahead 1 interleaved lookup to t0";
    // A structure with one line per key, so that nothing else stalls.
    let structure = "table hosts: perfect";
    let plan =
        format!("plan {{\n  burst 32\n  {PATH}\n  loop hosts: batch 32 group 32 {{ {prefetch} }}\n  {structure}\n}}\n");
    let cycles = |stream, latency| predicted(machine(stream, latency), &traffic(0, 0), &plan).cycles();
    // A short latency is hidden, and a stream that is slower than the surrounding work costs the difference.
    let (hidden, slow) = (cycles(1.0, 2.0), cycles(400.0, 2.0));
    assert!((cycles(500.0, 2.0) - slow - 100.0).abs() < 1e-6 && slow > hidden + 300.0, "{hidden} {slow}");
    // A latency longer than both is the whole stall; the rate of the stream does not matter.
    let long = 32.0 * 2000.0;
    let (fast, slow) = (cycles(1.0, long), cycles(400.0, long));
    assert!(fast > hidden + 1000.0 && (slow - fast).abs() < 1e-6, "{fast} {slow}");
}

/// Lookups, keys and commit hide lines. After the last prefetch, work hides as many lines as can be
/// outstanding.
#[test]
fn work_hides_lines_and_few_arrive_after_it() {
    let cycles = |stream, group: u32, placement: &str| {
        let prefetch = format!("prefetch table hosts ahead 1 {placement} to t1");
        let staged = format!("loop hosts: batch 64 group {group} {{ {prefetch} }}\n  table hosts: perfect");
        let plan = format!("plan {{\n  burst 64\n  {PATH}\n  {staged}\n}}\n");
        predicted(machine(stream, 2.0), &traffic(0, 0), &plan).cycles()
    };
    for placement in ["interleaved commit", "interleaved keys", "interleaved lookup"] {
        let hidden = cycles(0.5, 32, placement);
        assert!((cycles(1.0, 32, placement) - hidden).abs() < 1e-6, "{placement}: {hidden}");
        assert!((cycles(500.0, 32, placement) - cycles(400.0, 32, placement) - 100.0).abs() < 1e-6, "{placement}");
    }
    // Keys are computed right before the lookups: no work is in between.
    let [commit, keys, lookups] =
        ["interleaved commit", "interleaved keys", "interleaved lookup"].map(|placement| cycles(400.0, 32, placement));
    assert!((commit - lookups).abs() < 5.0 && keys > commit + 5.0, "{commit} {keys} {lookups}");
    // With more lines than can be outstanding, fewer arrive after the last prefetch.
    let fewer = |placement: &str| cycles(30.0, 64, placement) - cycles(30.0, 16, placement);
    assert!(fewer("interleaved lookup") > 1.0 && fewer("interleaved commit") > 1.0);
}

/// Keys are computed right before the lookups: their last prefetches have little time, and less in a small
/// group.
#[test]
fn prefetches_with_keys_hide_less_latency_than_with_commit() {
    let cycles = |placement: &str, group: u32, latency: f64| {
        let prefetch = format!("prefetch table hosts ahead 1 {placement} to t1");
        let staged = format!("loop hosts: batch 64 group {group} {{ {prefetch} }}\n  table hosts: perfect");
        predicted(machine(0.5, latency), &traffic(0, 0), &format!("plan {{\n  burst 64\n  {PATH}\n  {staged}\n}}\n"))
            .cycles()
    };
    let later =
        |group, latency| cycles("interleaved keys", group, latency) - cycles("interleaved commit", group, latency);
    assert!(later(16, 2.0).abs() < 1e-6 && later(64, 2.0).abs() < 1e-6);
    assert!(later(16, 200.0) > later(64, 200.0) + 1.0 && later(64, 200.0) >= 0.0);
}

/// Exposed latency stalls however much is computed meanwhile, and proportionally less with more work per
/// line.
#[test]
fn exposed_latency_is_not_hidden_by_work() {
    let cycles = |work: f64, unhidden: f64, placement: &str| {
        let prefetch = format!("prefetch table hosts ahead 1 {placement} to t1");
        let plan = format!("plan {{\n  burst 32\n  {PATH}\n  loop hosts: batch 32 group 32 {{ {prefetch} }}\n}}\n");
        let mut machine = machine(0.5, 2.0);
        machine.lines.busy_t1[0].fill(work);
        machine.lines.busy_t1[1].fill(work + unhidden);
        predicted(machine, &traffic(0, 0), &plan).cycles()
    };
    for placement in ["interleaved commit", "interleaved keys", "interleaved lookup"] {
        let [none, some, more] = [0.0, 6.0, 9.0].map(|unhidden| cycles(100.0, unhidden, placement));
        assert!(some > none + 5.0 && (more - some - 3.0).abs() < 1e-6, "{placement}: {none} {some} {more}");
        let [fewer, fewest] = [8.0, 4.0].map(|work| cycles(work, 9.0, placement) - cycles(work, 0.0, placement));
        assert!(fewest < fewer && fewer < more - none, "{placement}: {fewest} {fewer}");
    }
}

/// The program with a second table, both large, and all packets on the hot path.
fn two_tables(machine: Machine) -> (Program, Inputs) {
    let sources = "table sources {\n  key hdr.ethernet.src: exact\n  action known() {}\n  action unknown() {}\n  default unknown()\n}\n\nparser";
    let text = PROGRAM.replace("parser parser", &format!("{sources} parser"));
    let text = text.replace("-> kind\n\nnode kind", "-> sources\n\nnode sources: apply sources -> kind\n\nnode kind");
    let program = parse_file(&text).unwrap_or_else(|errors| panic!("{errors:#?}")).program;
    let trace = ["start", "hosts", "sources", "kind", "queue", "deparser", "departure"];
    let edges: Vec<String> = trace.windows(2).map(|edge| format!("1000 {} -> {}\n", edge[0], edge[1])).collect();
    let profile = Some(Profile::parse(&edges.concat()).expect("a profile"));
    let mut inputs = Inputs { machine, profile, ..Inputs::default() };
    for table in ["hosts", "sources"] {
        let content = Content { entries: 10_000_000, records: 8, masks: 1, is_known: true, ..Content::default() };
        inputs.occupancy.tables.insert(table.to_string(), content);
    }
    (program, inputs)
}

/// If a key's second line follows, nothing hides what the last lookup has prefetched. Prefetches with commit
/// are not affected.
#[test]
fn second_lines_arrive_after_prefetches_of_lookups() {
    let cycles = |structure: &str, placement: &str| {
        let prefetch = format!("prefetch table hosts ahead 1 {placement} to t1");
        let staged = format!("loop hosts: batch 32 group 32 {{ {prefetch} }}\n  table hosts: {structure}");
        let plan = format!("plan {{\n  burst 32\n  {PATH}\n  {staged}\n}}\n");
        predicted(machine(400.0, 2.0), &traffic(0, 0), &plan).cycles()
    };
    let excess = |structure: &str| cycles(structure, "interleaved lookup") - cycles(structure, "interleaved commit");
    assert!(excess("exact48") > excess("perfect") + 1.0, "{} {}", excess("exact48"), excess("perfect"));
}

/// Two tables whose lines take longer than all work: wherever they are prefetched, they stall.
#[test]
fn work_hides_the_lines_of_two_tables_once() {
    let (program, inputs) = two_tables(machine(300.0, 2.0));
    let cycles = |sources: &str, hosts: &str| {
        let prefetch = |table: &str, placement: &str| format!("prefetch table {table} ahead 1 {placement} to t1");
        let prefetches = format!("{}\n{}", prefetch("hosts", hosts), prefetch("sources", sources));
        let path = PATH.replace("kind", "sources, kind");
        let loops = format!("loop hosts: batch 32 group 32 {{\nlookup sources\n{prefetches}\n}}");
        let tables = "table hosts: perfect\n  table sources: perfect";
        let plan = parse_plan(&format!("plan {{\n  burst 32\n  {path}\n  {loops}\n  {tables}\n}}\n")).expect("a plan");
        let traffic = Traffic::estimate(&program, &inputs);
        Model::new(&program, &inputs, &traffic).predict(&plan).cycles()
    };
    let alike = cycles("interleaved commit", "interleaved commit");
    for (sources, hosts) in [
        ("interleaved keys", "interleaved commit"),
        ("interleaved lookup", "interleaved commit"),
        ("interleaved keys", "interleaved lookup"),
    ] {
        let spread = cycles(sources, hosts);
        assert!((spread - alike).abs() < 5.0 && spread > 600.0, "{sources} {hosts}: {spread} {alike}");
    }
}

/// Of two tables with slow lines, less so to L2, one is prefetched with commit and the other with keys: each
/// part hides its own lines. At equal cost, commit prefetches both.
#[test]
fn prefetches_of_two_tables_are_spread_over_a_burst() {
    let stages = Stages { operation_cycles: 0.2, prefetch_cycles: 1.0, loop_cycles: 10.0, pipelining_cycles: 0.0 };
    let mut machine = Machine { stages: Some(stages), ..Machine::default() };
    machine.lines.prefetch_t0.iter_mut().flatten().for_each(|cycles| *cycles *= 6.0);
    machine.lines.prefetch_t1.iter_mut().flatten().for_each(|cycles| *cycles *= 2.4);
    let (program, mut inputs) = two_tables(machine);
    let placed = |inputs: &Inputs| {
        let (mut program, mut plan) = (program.clone(), Plan::default());
        opt::optimize(&mut program, &mut plan, inputs, &Selection::All, None);
        let prefetches = plan.loops.iter().flat_map(|stage| &stage.prefetches);
        let mut placements: Vec<&str> = prefetches.map(|prefetch| written_placement(prefetch.placement)).collect();
        placements.sort_unstable();
        placements
    };
    assert_eq!(placed(&inputs), ["commit"; 2], "long work hides half");
    for access in [Access::BusyT0, Access::BusyT1] {
        *inputs.machine.lines.table_mut(access) = vec![vec![1.0; 4]; 4];
    }
    assert_eq!(placed(&inputs), ["commit", "keys"]);
}

/// A packet that exits after the last stage is copied, and mispredicted once. A dropped one is not.
#[test]
fn an_exit_during_commit_costs_a_copy() {
    let prefetch = "prefetch table hosts ahead 32 in own_loop to t0";
    let plan = format!("plan {{\n  burst 32\n  {PATH}\n  loop hosts: batch 32 group 32 {{ {prefetch} }}\n}}\n");
    let staging = |marked, dropped| {
        let machine = Machine { mispredict_cycles: 20.0, ..machine(1.0, 2.0) };
        predicted(machine, &traffic(marked, dropped), &plan).staging
    };
    let none = staging(0, 0);
    let one = (staging(1000, 0) - none) / 1000.0;
    for marked in [100, 250, 500] {
        let more = staging(marked, 0) - none;
        assert!((more - one * f64::from(marked)).abs() < 1e-6, "{marked}: {more}");
    }
    assert!(one * 1000.0 > 20.0 + 10.0, "a wrong guess and more: {one}");
    assert!((staging(0, 300) - none).abs() < 1e-6, "{none}");
}

/// A line that is prefetched one group ahead goes to L2, unless it is in L1 anyway or is clearly cheaper
/// there.
#[test]
fn pipelined_prefetches_go_to_l2() {
    let program: Program = parse_file(PROGRAM).unwrap_or_else(|errors| panic!("{errors:#?}")).program;
    let hint = |entries, near: f64, placement| {
        let mut machine = machine(4.0, 40.0);
        machine.lines.prefetch_t0[1] = vec![near; 2];
        machine.lines.group_t0[1] = vec![near; 2];
        let mut inputs = Inputs { machine, ..Inputs::default() };
        let content = Content { entries, records: 1, masks: 1, is_known: true, ..Content::default() };
        inputs.occupancy.tables.insert("hosts".to_string(), content);
        let traffic = Traffic::estimate(&program, &inputs);
        let model = Model::new(&program, &inputs, &traffic);
        let plan = parse_plan("plan {\n  table hosts: perfect\n}\n").expect("a plan");
        let lookups = model.lookups(&plan);
        model.best_hint(&lookups, &lookups[0], placement, 64.0)
    };
    use hlir::plan::{Hint, Placement};
    let far = |near| [Placement::WithCommit, Placement::OwnLoop].map(|placement| hint(10_000_000, near, placement));
    assert_eq!(far(4.0), [Hint::T1, Hint::T0]);
    assert_eq!(far(3.0), [Hint::T0, Hint::T0]);
    assert_eq!(far(5.0), [Hint::T1, Hint::T1]);
    assert_eq!(hint(8, 4.0, Placement::WithCommit), Hint::T0);
}

/// Where stages may not be worth it, code with them is for a comparison, if packets commit by the schedule then.
#[test]
fn stages_are_cut_where_they_can_be() {
    let program: Program = parse_file(PROGRAM).unwrap_or_else(|errors| panic!("{errors:#?}")).program;
    let stamp = "-> stamp\n\nnode stamp: block { hdr.ethernet.src = in.clock[47:0] } -> kind";
    let timed = PROGRAM.replace("-> kind", stamp);
    let timed: Program = parse_file(&timed).unwrap_or_else(|errors| panic!("{errors:#?}")).program;
    let planned = |program: &Program, cuts: Cuts| {
        let mut inputs = Inputs { machine: machine(0.0, 0.0), cuts, ..Inputs::default() };
        let content = Content { entries: 8, records: 1, masks: 1, is_known: true, ..Content::default() };
        inputs.occupancy.tables.insert("hosts".to_string(), content);
        let (mut program, mut plan) = (program.clone(), Plan::default());
        opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
        let stages: Vec<String> = plan.loops.into_iter().map(|stage| stage.node).collect();
        stages
    };
    assert_eq!(planned(&program, Cuts::Chosen), [""; 0]);
    assert_eq!(planned(&program, Cuts::Possible), ["hosts"]);
    assert_eq!(planned(&timed, Cuts::Possible), [""; 0], "the clock has no value in a schedule");
}

/// A router: the interface's own address is looked up; then, headers are checked, and the route is looked up.
const ROUTER: &str = r#"
program router for none

header hdr.ethernet: ethernet_t { dst: 48, src: 48, type: 16 }
header hdr.ipv4: ipv4_t {
  version_ihl: 8, diffserv: 8, total_length: 16, identification: 16, flags_offset: 16, ttl: 8, protocol: 8,
  checksum: 16, src: 32, dst: 32
}
variable meta.port: 9
variable meta.own: 48
variable meta.sum: 16
variable error: 32
counter dropped: packets [2]

table interfaces {
  key in.port: exact
  action own(mac: 48) { meta.own = mac }
  action none() { meta.port = 511 }
  default none()
}

table routes {
  key hdr.ipv4.dst: lpm
  action forward(port: 9) { meta.port = port }
  action no_route() { meta.port = 511 }
  default no_route()
}

parser parser { start start, accept sum, reject sum, error error }

entry start

node start: state of parser {
  extract hdr.ethernet
  extract hdr.ipv4
} -> sum

node sum: block {
  hash internet_checksum {
    field hdr.ipv4.version_ihl, field hdr.ipv4.diffserv, field hdr.ipv4.total_length, field hdr.ipv4.identification,
    field hdr.ipv4.flags_offset, field hdr.ipv4.ttl, field hdr.ipv4.protocol, field hdr.ipv4.src, field hdr.ipv4.dst
  } into meta.sum
} -> interfaces

node interfaces: apply interfaces -> check

node check: block {
  if hdr.ethernet.dst != meta.own || hdr.ethernet.type != 0x0800 || hdr.ipv4.version_ihl != 69 || hdr.ipv4.ttl <= 1 {
    count dropped at 32w0
    meta.port = 511
    exit
  }
  if meta.sum != hdr.ipv4.checksum || hdr.ipv4.src[31:24] == 127 || hdr.ipv4.dst[31:24] == 127 {
    count dropped at 32w1
    meta.port = 511
    exit
  }
} -> routes exit queue

node routes: apply routes -> queue

node queue: buffer {
  when meta.port == 511: drop "no way"
  otherwise -> deparser
}

node deparser: deparse {
  emit hdr.ethernet
  emit hdr.ipv4
} -> departure

node departure: buffer { send u32(meta.port) }
"#;

/// A first stage at the first lookup pays for the checksum, but would leave all checks to the commit phase. At the second
/// one, it has these, too, for sixteen packets at once.
#[test]
fn a_first_stage_may_begin_at_a_later_lookup() {
    let mut program: Program = parse_file(ROUTER).unwrap_or_else(|errors| panic!("{errors:#?}")).program;
    let operation_cycles = Machine::default().operation_cycles;
    let stages = Stages { operation_cycles, prefetch_cycles: 0.0, loop_cycles: 0.0, pipelining_cycles: 0.0 };
    let vector = Some(VectorUnit { packets: 16, operation_cycles });
    let machine = Machine { stages: Some(stages), vector, ..machine(1.0, 2.0) };
    let nodes = ["start", "sum", "interfaces", "check", "routes", "queue", "deparser", "departure"];
    let edges: String = nodes.windows(2).map(|edge| format!("1000 {} -> {}\n", edge[0], edge[1])).collect();
    let profile = Some(Profile::parse(&edges).expect("a profile"));
    let mut inputs = Inputs { machine, profile, ..Inputs::default() };
    for (table, entries) in [("interfaces", 1), ("routes", 100)] {
        let content = Content { entries, records: entries, masks: 1, is_known: true, ..Content::default() };
        inputs.occupancy.tables.insert(table.to_string(), content);
    }
    let mut plan = Plan::default();
    opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
    let stages: Vec<(&str, u32)> = plan.loops.iter().map(|stage| (stage.node.as_str(), stage.vector)).collect();
    assert_eq!(stages, [("routes", 16)]);
}
