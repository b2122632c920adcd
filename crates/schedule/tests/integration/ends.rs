//! The ends of packets in the commit phase: what is known of them decides the choices ahead.

use crate::router::with_schedule;
use schedule::text::print;

/// The commit phase of a program that looks up `v`, and then runs these nodes from `after` on; `run` is the action
/// of all entries.
fn commit(objects: &str, nodes: &str) -> String {
    emitting("emit h", objects, nodes)
}

/// The same with a deparser of its own.
fn emitting(emits: &str, objects: &str, nodes: &str) -> String {
    let program = format!(
        "program ends for none

header h: h_t {{ a: 16, b: 16 }}
variable v: 16
variable port: 9
variable tag: 8
variable error: 32
counter c: packets [4]
{objects}
table t {{
  key h.a: exact
  action run(to: 9) {{ port = to }}
  action none() {{}}
  default none()
}}

parser p {{ start start, accept all, reject all, error error }}

entry start

node start: state of p {{ extract h }} -> all
node all: apply t -> hit after miss missed
{nodes}
node queue: buffer {{
  when port == 511: drop \"refused\"
  otherwise -> deparser
}}
node deparser: deparse {{ {emits} }} -> gone
node gone: buffer {{ send u32(port) }}
"
    );
    with_schedule(&program, "start, all", |program, schedule| {
        let schedule = schedule.expect("the path has a schedule");
        if let Err(obstacle) = &schedule.commit {
            return format!("{} at {}", obstacle.does, program.nodes[obstacle.node].name);
        }
        let text = print(program, &schedule);
        let (_, commit) = text.split_once("  commit {\n").expect("there is a commit phase");
        commit.split_once("  }\n").expect("it ends").0.lines().map(|line| line.trim().to_string() + "\n").collect()
    })
}

/// Packets that missed are dropped since they have port 511, and others have the tag that decides later.
#[test]
fn choices_are_decided_by_earlier_ones() {
    let text = commit(
        "",
        "node missed: block { port = 511 } -> queue
node after: block { tag = 7 } -> tagged
node tagged: branch tag == 7 -> count else queue
node count: block {
  count c at 32w1
  h.b = 16w9
} -> queue",
    );
    let expected = "missed -> drop \"refused\"
%0 = number at all
%1 = %0 == 0
miss all at all when %1
drop \"refused\" at queue when %1
%2 = action at all
%3 = %2 == 0
%run_to = parameter to of run at all
%4 = %run_to == 511
%5 = %3 && %4
count c(32w1) at count when %5
drop \"refused\" at queue when %5
count c(32w1) at count
store h.b at packet[2..4] = 9 at deparser
%6 = %2 != 0
%port = %6 ? 0 : %run_to
%7 = u32(%port)
send %7 at gone
";
    assert_eq!(text, expected, "the commit phase is now\n{text}");
}

/// Stores come behind everything else that their packets do, and never for packets that are dropped.
#[test]
fn packets_that_are_dropped_are_not_stored_to() {
    let text = commit(
        "",
        "node missed: block { h.b = 16w1 } -> queue
node after: block { h.b = 16w2 } -> queue",
    );
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('%')).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line.split(' ').next().expect("a word")).collect();
    assert_eq!(kinds, ["miss", "drop", "store", "send", "drop", "store", "send"], "{text}");
}

/// More ends than a commit phase has.
#[test]
fn packets_with_too_many_ends_commit_by_nodes() {
    let mut nodes = "node missed: block { port = 511 } -> queue\n".to_string();
    for end in 0..60 {
        let name = if end == 0 { "after".to_string() } else { format!("end_{end}") };
        nodes += &format!("node {name}: branch h.b == 16w{end} -> last_{end} else end_{}\n", end + 1);
        nodes += &format!("node last_{end}: buffer {{ send 32w{end} }}\n");
    }
    nodes += "node end_60: block {} -> queue";
    let obstacle = commit("", &nodes);
    assert!(obstacle.starts_with("leads to too many ends at last_"), "{obstacle}");
}

/// A header that is new lies before the packet's first byte; those behind it stay.
#[test]
fn a_new_header_takes_headroom() {
    let nodes = "node missed: block { port = 511 } -> queue
node after: block { validate p  p.y = 16w3 } -> queue";
    let text = emitting("emit p emit h", "header p: p_t { x: 8, y: 16 }", nodes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('%') && !line.contains("drop")).collect();
    let expected = [
        "exit when %1",
        "miss all at all when %3",
        "begin 3 bytes earlier at deparser",
        "store p.x at packet[0..1] = 0 at deparser",
        "store p.y at packet[1..3] = 3 at deparser",
        "send %9 at gone",
    ];
    assert_eq!(lines, expected, "{text}");
    assert!(text.contains("%0 = packet.headroom\n%1 = %0 < 3\n"), "{text}");
}

/// Without its first header, a packet begins later. A header that changes places is stored where it comes to lie.
#[test]
fn headers_move_to_the_end_of_what_is_left() {
    let nodes = "node missed: block { port = 511 } -> queue
node after: block { copy q = h  invalidate h  q.b = 16w9 } -> queue";
    let text = emitting("emit q emit h", "header q: h_t { a: 16, b: 16 }", nodes);
    let stores: Vec<&str> = text.lines().filter(|line| line.contains("deparser")).collect();
    assert_eq!(stores, ["store q.b at packet[2..4] = 9 at deparser"], "only a field changed: {text}");
    let gone = "node missed: block { port = 511 } -> queue
node after: block { invalidate h } -> queue";
    let text = commit("", gone);
    let changes: Vec<&str> = text.lines().filter(|line| line.contains("deparser")).collect();
    assert_eq!(changes, ["begin 4 bytes later at deparser"], "{text}");
    let both = "node missed: block { port = 511 } -> queue
node after: block { validate p  p.y = h.a } -> queue";
    let text = emitting("emit h emit p", "header p: p_t { x: 16, y: 16 }", both);
    let stores: Vec<&str> = text.lines().filter(|line| line.contains("deparser")).collect();
    let expected = [
        "begin 4 bytes earlier at deparser",
        "store h.a at packet[0..2] = %h.a at deparser",
        "store h.b at packet[2..4] = %h.b at deparser",
        "store p.x at packet[4..6] = 0 at deparser",
        "store p.y at packet[6..8] = %h.a at deparser",
    ];
    assert_eq!(stores, expected, "{text}");
}

/// Behind the end of a scope that all packets have left, nothing runs that would keep the path from a schedule.
#[test]
fn what_no_packet_runs_is_left_out() {
    let nodes = |condition: &str| {
        format!(
            "node after: block {{ scope s {{ if {condition} {{ leave s }} invalidate h }} }} -> queue\n\
             node missed: block {{}} -> queue"
        )
    };
    let object = "header o: o_t { b: 8 }";
    let text = commit(object, &nodes("!valid(o)"));
    assert!(text.contains("send ") && !text.contains("exit"), "{text}");
}

/// Packets whose headers differ from the others' in the middle of a node are separated there.
#[test]
fn packets_with_other_headers_have_an_end_of_their_own() {
    let nodes = |body: &str| format!("node after: block {{ {body} }} -> queue\nnode missed: block {{}} -> queue");
    let text = commit("", &nodes("scope s { if h.b == 1 { leave s } invalidate h }"));
    let effects: Vec<&str> = text.lines().filter(|line| !line.starts_with('%') && !line.starts_with("drop")).collect();
    let [missed, sent_of_missed, moved, sent_of_moved, sent] = effects[..] else { panic!("{text}") };
    assert!(
        missed.starts_with("miss all") && sent_of_missed.starts_with("send ") && sent == "send %8 at gone",
        "{text}"
    );
    let when = |effect: &str| effect.split_once(" when ").expect("not of all packets").1.to_string();
    assert!(moved.starts_with("begin 4 bytes later at deparser") && sent_of_moved.starts_with("send "), "{text}");
    assert_eq!(when(moved), when(sent_of_moved), "{text}");
    // Where packets with the path's own headers are left, the others take a side exit.
    let text = commit("", &nodes("if h.b != 1 { invalidate h }"));
    assert!(text.contains("exit when ") && !text.contains("begin"), "{text}");
}

/// What has no schedule is a side exit of the packets that run it, wherever it is.
#[test]
fn packets_that_use_state_leave_where_others_stay() {
    let nodes = "node missed: block {} -> queue
node after: block { scope s { if h.b == 1 { leave s } random 16w0 .. 16w9 into v } tag = 8w1 } -> queue";
    let text = commit("", nodes);
    let left: Vec<&str> = text.lines().filter(|line| line.starts_with("exit")).collect();
    assert_eq!(left.len(), 1, "{text}");
    assert!(text.contains("h.b != 1"), "{text}");
}
