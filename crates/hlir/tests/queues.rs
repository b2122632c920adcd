//! Which queues and stages a plan may have: every rule by a change to a legal plan, or to its program, that breaks it and nothing else.

use hlir::text::parse_file;

const PROGRAM: &str = r#"
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

fn messages(program: &str, plan: &str) -> Vec<String> {
    let text = format!("{program}\nplan {{\n{plan}}}\n");
    let errors = parse_file(&text).map_or_else(|errors| errors, |parsed| parsed.verify());
    assert!(errors.iter().all(|error| !error.span().is_none()), "each error has a place: {errors:?}");
    errors.iter().map(|error| error.message().to_string()).collect()
}

/// What is said of a queue beside the path.
fn queue(line: &str) -> Vec<String> {
    messages(PROGRAM, &format!("{PATH}  {line}\n"))
}

/// What is said of a queue before `slow`, in a program that was changed.
fn changed(changes: &[(&str, &str)]) -> Vec<String> {
    let mut program = PROGRAM.to_string();
    for (from, to) in changes {
        assert_eq!(program.matches(from).count(), 1, "`{from}` stands once in the program");
        program = program.replace(from, to);
    }
    messages(&program, &format!("{PATH}  queue slow: capacity 32 timeout 4\n"))
}

#[track_caller]
fn says(found: Vec<String>, expected: &str) {
    assert_eq!(found, [expected]);
}

const READ: &str = "read state.seen at 8w1 into meta.seen";
const WRITE: &str = "write state.seen at 8w1 = meta.seen";

#[test]
fn a_queue_stands_beside_the_path() {
    assert_eq!(queue("queue slow: capacity 32 timeout 4"), [""; 0]);
    assert_eq!(queue("queue aside: capacity 1024 timeout 1"), [""; 0]);
    assert_eq!(queue("queue aside: capacity 8 timeout 2\n  queue behind: capacity 8 timeout 2"), [""; 0]);
    says(queue("queue nowhere: capacity 8 timeout 2"), "the plan: the program has no node `nowhere`");
    says(queue("queue leave: capacity 8 timeout 2"), "the plan: the queue before `leave` would hold up the path");
    says(
        queue("queue slow: capacity 0 timeout 2"),
        "the plan: the queue at `slow`: the capacity must be at least 1 packet",
    );
    says(
        queue("queue slow: capacity 8 timeout 0"),
        "the plan: the queue at `slow`: the timeout must be at least 1 burst",
    );
    says(
        queue("queue slow: capacity 2000 timeout 2"),
        "the plan: the queue at `slow`: the capacity is 2000 packets, at most 1024 are possible",
    );
    let alone = "the plan: the queue before `slow` stands in a plan without a path";
    says(messages(PROGRAM, "  queue slow: capacity 8 timeout 2\n"), alone);
    says(messages(PROGRAM, "  hot_path { start, kind, routes }\n  queue slow: capacity 8 timeout 2\n"), alone);
}

#[test]
fn packets_from_a_port_come_to_a_queue_behind_the_parser() {
    let state =
        [("extract hdr.ethernet } -> kind", "extract hdr.ethernet } -> more\n\nnode more: state of parser {} -> kind")];
    let program = PROGRAM.replace(state[0].0, state[0].1);
    let path = PATH.replace("start, kind", "start, more, kind");
    let plan = |node: &str, path: &str| messages(&program, &format!("{path}  queue {node}: capacity 8 timeout 2\n"));
    assert_eq!(plan("slow", &path), [""; 0]);
    let branching = program
        .replace("ethernet } -> more", "ethernet } select hdr.ethernet.type {\n  1 -> more\n  otherwise -> kind\n}");
    let found = messages(&branching, &format!("{PATH}  queue more: capacity 8 timeout 2\n"));
    says(found, "the plan: packets cannot wait before `more`, a parser's state");
    let lost = PROGRAM.replace("node behind:", "node lost: block {} -> leave\n\nnode behind:");
    let found = messages(&lost, &format!("{PATH}  queue lost: capacity 8 timeout 2\n"));
    says(found, "the plan: no packet from a port gets to `lost` to wait there");
}

#[test]
fn state_is_touched_by_those_that_have_waited_or_by_others() {
    let behind = |statement: &str| format!("node behind: block {{ {statement} }}");
    let common = |statement: &str| format!("node common: block {{ {statement} }}");
    let [at_behind, at_common] = ["node behind: block {}", "node common: block {}"];
    assert_eq!(changed(&[(at_behind, &behind(&format!("{READ}; {WRITE}")))]), [""; 0], "only behind the queue");
    assert_eq!(changed(&[(at_common, &common(&format!("{READ}; {WRITE}")))]), [""; 0], "only on the path");
    assert_eq!(changed(&[(at_behind, &behind(READ)), (at_common, &common(READ))]), [""; 0], "read only");
    let count = "count state.rare at 8w1";
    assert_eq!(changed(&[(at_behind, &behind(count)), (at_common, &common(count))]), [""; 0], "counters add up");
    let touched = "is touched by packets that have waited before `slow`, and at `common` by others";
    says(
        changed(&[(at_behind, &behind(READ)), (at_common, &common(WRITE))]),
        &format!("the plan: register `state.seen` {touched}"),
    );
    let police = "meter state.rate at 8w1 into meta.port";
    says(
        changed(&[(at_behind, &behind(police)), (at_common, &common(police))]),
        &format!("the plan: meter `state.rate` {touched}"),
    );
    let before = [
        ("node aside: block {}", "node aside: block { write state.seen at 8w1 = meta.seen }"),
        (at_behind, &behind(READ)),
    ];
    says(
        changed(&before),
        "the plan: register `state.seen` is touched by packets that have waited before `slow`, and at `aside` by others",
    );
    says(
        changed(&[
            ("default unknown()", "default unknown()\n  idle_timeout"),
            ("node routes: apply routes", "node routes: apply slow"),
        ])
        .into_iter()
        .filter(|message| message.contains("age"))
        .collect(),
        "the plan: the age of entries of table `slow` is touched by packets that have waited before `slow`, and at `routes` by others",
    );
}

/// A packet that enters again does not wait a second time, and would come before those that wait.
#[test]
fn what_enters_again_is_none_of_those_that_wait() {
    let again = (
        "when meta.port == 511: drop \"no way\"",
        "when meta.again: recirculate deparsed keep all -> start\n  when meta.port == 511: drop \"no way\"",
    );
    let touched = format!("node behind: block {{ {READ} {WRITE} }}");
    let touch = ("node behind: block {}", touched.as_str());
    assert_eq!(changed(&[again]), [""; 0]);
    says(
        changed(&[again, touch]),
        "the plan: register `state.seen` is touched by packets that have waited before `slow`, and at `behind` by others",
    );
    let copied = (
        "when meta.port == 511: drop \"no way\"",
        "when meta.again: replicate 32w1 current keep all -> deparser\n  when meta.port == 511: drop \"no way\"",
    );
    assert_eq!(changed(&[copied, touch]), [""; 0], "copies of a group are made behind `behind`");
}

/// All that comes of a packet shares its budget for copies, first come, first served: what comes of a clone must not come first because its packet waits.
#[test]
fn packets_are_copied_before_they_wait_or_afterwards() {
    let clone = "clone 32w1 deparsed keep all -> start";
    let before = format!("node aside: buffer {{ {clone}\n otherwise -> slow }}");
    let before = ("node aside: block {} -> slow", before.as_str());
    let behind = format!("when meta.port == 511: {clone}\n  otherwise -> deparser");
    let behind = ("otherwise -> deparser", behind.as_str());
    assert_eq!(changed(&[before]), [""; 0]);
    assert_eq!(changed(&[behind]), [""; 0]);
    let both = "the plan: packets are copied at `aside` before they wait before `slow`, and at `leave` afterwards";
    says(changed(&[before, behind]), both);
    let group = ("otherwise -> deparser", "replicate 32w1 current keep all -> deparser");
    says(changed(&[before, group]), both);
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
    says(
        changed(&[("node behind: block {}", &touch)]),
        "the plan: an assertion at `behind` stands behind the queue before `slow`",
    );
    let common = format!("node common: block {{ {assert} }}");
    assert_eq!(changed(&[("node common: block {}", &common)]), [""; 0]);
}

#[test]
fn a_loop_at_a_queue_looks_up_for_all_that_wait() {
    let with = |lp: &str| queue(&format!("queue slow: capacity 32 timeout 4\n  loop {lp}"));
    assert_eq!(with("slow: batch 32 group 16"), [""; 0]);
    assert_eq!(with("slow: batch 32 group 32 { prefetch table slow line 0 ahead 32 in own_loop to t0 }"), [""; 0]);
    says(with("slow: batch 16 group 16"), "the plan: a batch of 16 packets from a queue for 32");
    let refused = "the plan: packets that have waited before `slow` cannot request this";
    says(with("slow: batch 32 group 32 { prefetch table routes line 0 ahead 32 in own_loop to t0 }"), refused);
    says(with("slow: batch 32 group 32 { prefetch table slow line 0 ahead 1 interleaved lookup to t0 }"), refused);
    says(with("behind: batch 32 group 32"), "the plan: `behind` is no look-up on the path");
    says(
        queue("queue behind: capacity 32 timeout 4\n  loop behind: batch 32 group 32"),
        "the plan: `behind` looks up no table for its queue to do so together",
    );
    says(
        queue("queue slow: capacity 128 timeout 4\n  loop slow: batch 128 group 128"),
        "the plan: a stage of a path takes at most 64 packets, not 128",
    );
}

#[test]
fn stages_hand_on_groups_and_wait_for_the_next_one_together() {
    let second =
        "table second {\n  key hdr.ethernet.type: exact\n  action any() {}\n  default any()\n}\n\nparser parser";
    let program = PROGRAM.replace("parser parser", second);
    let program = program.replace("node common: block {} -> leave", "node common: apply second -> leave");
    let path = "  hot_path { start, kind, routes, common, leave }\n";
    let with = |loops: &str| messages(&program, &format!("{path}{loops}"));
    assert_eq!(with("  loop routes: batch 64 group 16\n  loop common: batch 64 group 16\n"), [""; 0]);
    says(
        with("  loop routes: batch 64 group 64\n  loop common: batch 64 group 16\n"),
        "the plan: groups of 16 packets at `common`, and of 64 at `routes`: a group goes through all stages of a path",
    );
    let both = |first: &str, second: &str| {
        with(&format!(
            "  loop routes: batch 64 group 64 {{\n    prefetch table routes line 0 ahead {first} to t0\n    prefetch table second line 0 ahead {second} to t0\n  }}\n"
        ))
    };
    assert_eq!(both("64 in own_loop", "64 in own_loop"), [""; 0]);
    assert_eq!(both("1 interleaved lookup", "1 in none"), [""; 0]);
    assert_eq!(both("1 interleaved commit", "1 interleaved keys"), [""; 0]);
    says(
        both("1 interleaved keys", "64 in own_loop"),
        "the plan: lines of `second` are requested `in own_loop`, beside others `interleaved keys`",
    );
    says(
        both("1 interleaved keys", "2 interleaved commit"),
        "the plan: a path is worked on one burst behind its requests, not 2",
    );
    says(
        both("2 interleaved commit", "1 in none"),
        "the plan: a path is worked on one burst behind its requests, not 2",
    );
    says(both("64 in own_loop", "1 in own_loop"), "the plan: requests of a loop of their own are a group ahead, not 1");
    says(
        both("1 interleaved lookup", "64 in own_loop"),
        "the plan: lines of `second` are requested `in own_loop`, beside others `interleaved lookup`",
    );
}
