//! Rules for queues and stages: each by a change to a legal plan, or to its program, that breaks this rule
//! only.

use hlir::text::parse_file;

pub const PROGRAM: &str = r#"
program router for none

header hdr.ethernet: ethernet_t { dst: 48, src: 48, type: 16 }
variable meta.port: 9
variable meta.seen: 32
variable meta.again: bool
variable error: 32

register state.seen: 32 [16]
counter state.rare: packets [16]
meter state.rate: packets [16]

table slow {
  key hdr.ethernet.src: exact
  action known(port: 9) { meta.port = port }
  action unknown() { meta.port = 511 }
  default unknown()
}

table routes {
  key hdr.ethernet.dst: exact
  action forward(port: 9) { meta.port = port }
  action no_route() { meta.port = 511 }
  default no_route()
}

parser parser { start start, accept kind, reject kind, error error }

entry start

node start: state of parser { extract hdr.ethernet } -> kind

node kind: branch hdr.ethernet.type == 0x0800 -> routes else aside

node routes: apply routes -> common

node common: block {} -> leave

node aside: block {} -> slow

node slow: apply slow -> behind

node behind: block {} -> leave

node leave: buffer {
  when meta.port == 511: drop "no way"
  otherwise -> deparser
}

node deparser: deparse { emit hdr.ethernet } -> departure

node departure: buffer { send u32(meta.port) }
"#;

const PATH: &str = "  hot_path { start, kind, routes, common, leave }\n  loop routes: batch 64 group 64\n";

pub fn messages(program: &str, plan: &str) -> Vec<String> {
    let text = format!("{program}\nplan {{\n{plan}}}\n");
    let errors = parse_file(&text).map_or_else(|errors| errors, |parsed| parsed.verify());
    assert!(errors.iter().all(|error| !error.span().is_none()), "each error has a place: {errors:?}");
    errors.iter().map(|error| error.message().to_string()).collect()
}

/// Errors of a queue beside the hot path.
fn queue(line: &str) -> Vec<String> {
    messages(PROGRAM, &format!("{PATH}  {line}\n"))
}

/// Errors of a queue at `slow` in a changed program.
fn changed(changes: &[(&str, &str)]) -> Vec<String> {
    let mut program = PROGRAM.to_string();
    for (from, to) in changes {
        assert_eq!(program.matches(from).count(), 1, "`{from}` occurs once in the program");
        program = program.replace(from, to);
    }
    messages(&program, &format!("{PATH}  queue slow: capacity 32 timeout 4\n"))
}

#[track_caller]
pub fn finds(found: Vec<String>, expected: &str) {
    assert_eq!(found, [expected]);
}

const READ: &str = "read state.seen at 8w1 into meta.seen";
const WRITE: &str = "write state.seen at 8w1 = meta.seen";

#[test]
fn a_queue_is_not_on_the_hot_path() {
    assert_eq!(queue("queue slow: capacity 32 timeout 4"), [""; 0]);
    assert_eq!(queue("queue aside: capacity 1024 timeout 1"), [""; 0]);
    assert_eq!(queue("queue aside: capacity 8 timeout 2\n  queue behind: capacity 8 timeout 2"), [""; 0]);
    finds(queue("queue nowhere: capacity 8 timeout 2"), "the plan: the program has no node `nowhere`");
    finds(queue("queue leave: capacity 8 timeout 2"), "the plan: the queue at `leave` is on the hot path");
    finds(
        queue("queue slow: capacity 0 timeout 2"),
        "the plan: the queue at `slow`: the capacity must be at least 1 packet",
    );
    finds(
        queue("queue slow: capacity 8 timeout 0"),
        "the plan: the queue at `slow`: the timeout must be at least 1 burst",
    );
    finds(
        queue("queue slow: capacity 2000 timeout 2"),
        "the plan: the queue at `slow`: the capacity is 2000 packets, at most 1024 are possible",
    );
    let alone = "the plan: the queue at `slow`: the plan has no hot path";
    finds(messages(PROGRAM, "  queue slow: capacity 8 timeout 2\n"), alone);
    finds(messages(PROGRAM, "  hot_path { start, kind, routes }\n  queue slow: capacity 8 timeout 2\n"), alone);
}

#[test]
fn queues_are_after_the_parser() {
    let state =
        [("extract hdr.ethernet } -> kind", "extract hdr.ethernet } -> more\n\nnode more: state of parser {} -> kind")];
    let program = PROGRAM.replace(state[0].0, state[0].1);
    let path = PATH.replace("start, kind", "start, more, kind");
    let plan = |node: &str, path: &str| messages(&program, &format!("{path}  queue {node}: capacity 8 timeout 2\n"));
    assert_eq!(plan("slow", &path), [""; 0]);
    let branching = program
        .replace("ethernet } -> more", "ethernet } select hdr.ethernet.type {\n  1 -> more\n  otherwise -> kind\n}");
    let found = messages(&branching, &format!("{PATH}  queue more: capacity 8 timeout 2\n"));
    finds(found, "the plan: packets cannot wait at `more`, a parser state");
    let lost = PROGRAM.replace("node behind:", "node lost: block {} -> leave\n\nnode behind:");
    let found = messages(&lost, &format!("{PATH}  queue lost: capacity 8 timeout 2\n"));
    finds(found, "the plan: no packet from a port gets to `lost` to wait there");
}

#[test]
fn state_is_used_only_after_the_queue_or_only_elsewhere() {
    let behind = |statement: &str| format!("node behind: block {{ {statement} }}");
    let common = |statement: &str| format!("node common: block {{ {statement} }}");
    let [at_behind, at_common] = ["node behind: block {}", "node common: block {}"];
    assert_eq!(changed(&[(at_behind, &behind(&format!("{READ}; {WRITE}")))]), [""; 0], "only behind the queue");
    assert_eq!(changed(&[(at_common, &common(&format!("{READ}; {WRITE}")))]), [""; 0], "only on the path");
    assert_eq!(changed(&[(at_behind, &behind(READ)), (at_common, &common(READ))]), [""; 0], "read only");
    let count = "count state.rare at 8w1";
    assert_eq!(changed(&[(at_behind, &behind(count)), (at_common, &common(count))]), [""; 0], "counters add up");
    let touched = "is used by packets that have waited at `slow`, and at `common` by others";
    finds(
        changed(&[(at_behind, &behind(READ)), (at_common, &common(WRITE))]),
        &format!("the plan: register `state.seen` {touched}"),
    );
    let police = "meter state.rate at 8w1 into meta.port";
    finds(
        changed(&[(at_behind, &behind(police)), (at_common, &common(police))]),
        &format!("the plan: meter `state.rate` {touched}"),
    );
    let before = [
        ("node aside: block {}", "node aside: block { write state.seen at 8w1 = meta.seen }"),
        (at_behind, &behind(READ)),
    ];
    finds(
        changed(&before),
        "the plan: register `state.seen` is used by packets that have waited at `slow`, and at `aside` by others",
    );
    finds(
        changed(&[
            ("default unknown()", "default unknown()\n  idle_timeout"),
            ("node routes: apply routes", "node routes: apply slow"),
        ])
        .into_iter()
        .filter(|message| message.contains("age"))
        .collect(),
        "the plan: the age of entries of table `slow` is used by packets that have waited at `slow`, and at `routes` by others",
    );
}

/// A re-entering packet does not wait a second time, and would overtake those that wait.
#[test]
fn re_entering_packets_do_not_wait_again() {
    let again = (
        "when meta.port == 511: drop \"no way\"",
        "when meta.again: recirculate deparsed keep all -> start\n  when meta.port == 511: drop \"no way\"",
    );
    let touched = format!("node behind: block {{ {READ} {WRITE} }}");
    let touch = ("node behind: block {}", touched.as_str());
    assert_eq!(changed(&[again]), [""; 0]);
    finds(
        changed(&[again, touch]),
        "the plan: register `state.seen` is used by packets that have waited at `slow`, and at `behind` by others",
    );
    let copied = (
        "when meta.port == 511: drop \"no way\"",
        "when meta.again: replicate 32w1 current keep all -> deparser\n  when meta.port == 511: drop \"no way\"",
    );
    assert_eq!(changed(&[copied, touch]), [""; 0], "copies of a group are made behind `behind`");
}

/// A packet and its copies share a copy budget: a clone must not use it first because its packet waits.
#[test]
fn packets_are_copied_before_or_after_the_queue() {
    let clone = "clone 32w1 deparsed keep all -> start";
    let before = format!("node aside: buffer {{ {clone}\n otherwise -> slow }}");
    let before = ("node aside: block {} -> slow", before.as_str());
    let behind = format!("when meta.port == 511: {clone}\n  otherwise -> deparser");
    let behind = ("otherwise -> deparser", behind.as_str());
    assert_eq!(changed(&[before]), [""; 0]);
    assert_eq!(changed(&[behind]), [""; 0]);
    let both = "the plan: packets are copied at `aside` before they wait at `slow`, and at `leave` afterwards";
    finds(changed(&[before, behind]), both);
    let group = ("otherwise -> deparser", "replicate 32w1 current keep all -> deparser");
    finds(changed(&[before, group]), both);
    let ends = "node aside: buffer { when meta.again: replicate 32w1 current keep all -> slow\n otherwise -> slow }";
    assert_eq!(changed(&[(before.0, ends), behind]), [""; 0], "a packet that becomes a group does not wait");
    let common = format!("node common: buffer {{ {clone}\n otherwise -> leave }}");
    let common = ("node common: block {} -> leave", common.as_str());
    assert_eq!(changed(&[common, behind]), [""; 0], "packets of the path do not wait");
}

#[test]
fn an_assertion_holds_in_its_burst() {
    let assert = "assert meta.port != 0 else \"a port\"";
    let touch = format!("node behind: block {{ {assert} }}");
    finds(
        changed(&[("node behind: block {}", &touch)]),
        "the plan: an assertion at `behind` is after the queue at `slow`",
    );
    let common = format!("node common: block {{ {assert} }}");
    assert_eq!(changed(&[("node common: block {}", &common)]), [""; 0]);
}

#[test]
fn a_loop_at_a_queue_makes_its_lookups() {
    let with = |lp: &str| queue(&format!("queue slow: capacity 32 timeout 4\n  loop {lp}"));
    assert_eq!(with("slow: batch 32 group 16"), [""; 0]);
    assert_eq!(with("slow: batch 32 group 32 { prefetch table slow ahead 32 in own_loop to t0 }"), [""; 0]);
    finds(with("slow: batch 16 group 16"), "the plan: a batch of 16 packets from a queue for 32");
    let refused = "the plan: packets of the queue at `slow` cannot prefetch this";
    finds(with("slow: batch 32 group 32 { prefetch table routes ahead 32 in own_loop to t0 }"), refused);
    finds(with("slow: batch 32 group 32 { prefetch table slow ahead 1 interleaved lookup to t0 }"), refused);
    finds(with("behind: batch 32 group 32"), "the plan: `behind` is not on the hot path");
    finds(
        queue("queue behind: capacity 32 timeout 4\n  loop behind: batch 32 group 32"),
        "the plan: `behind` has no lookup that a loop could make for its queue",
    );
    finds(
        queue("queue slow: capacity 128 timeout 4\n  loop slow: batch 128 group 128"),
        "the plan: a group has at most 64 packets, not 128",
    );
}

#[test]
fn stages_share_groups_and_are_pipelined_together() {
    let second =
        "table second {\n  key hdr.ethernet.type: exact\n  action any() {}\n  default any()\n}\n\nparser parser";
    let program = PROGRAM.replace("parser parser", second);
    let program = program.replace("node common: block {} -> leave", "node common: apply second -> leave");
    let path = "  hot_path { start, kind, routes, common, leave }\n";
    let with = |loops: &str| messages(&program, &format!("{path}{loops}"));
    assert_eq!(with("  loop routes: batch 64 group 16\n  loop common: batch 64 group 16\n"), [""; 0]);
    finds(
        with("  loop routes: batch 64 group 64\n  loop common: batch 64 group 16\n"),
        "the plan: groups of 16 packets at `common`, and of 64 at `routes`: a group goes through all stages of the hot path",
    );
    let both = |first: &str, second: &str| {
        with(&format!(
            "  loop routes: batch 64 group 64 {{\n    lookup second\n    prefetch table routes ahead {first} to t0\n    prefetch table second ahead {second} to t0\n  }}\n"
        ))
    };
    assert_eq!(both("64 in own_loop", "64 in own_loop"), [""; 0]);
    assert_eq!(both("1 interleaved commit", "1 interleaved keys"), [""; 0]);
    finds(
        both("1 interleaved keys", "64 in own_loop"),
        "the plan: lines of `second` are prefetched `in own_loop`, others `interleaved keys`",
    );
    finds(
        both("1 interleaved keys", "2 interleaved commit"),
        "the plan: pipelined prefetches are one burst ahead, not 2",
    );
    finds(
        both("2 interleaved commit", "1 interleaved keys"),
        "the plan: pipelined prefetches are one burst ahead, not 2",
    );
    finds(both("64 in own_loop", "1 in own_loop"), "the plan: prefetches `in own_loop` are one group ahead, not 1");
    finds(
        both("1 interleaved lookup", "64 in own_loop"),
        "the plan: lines of `second` are prefetched `in own_loop`, others `interleaved lookup`",
    );
}
