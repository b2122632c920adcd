//! The ends of packets in the commit phase: what is known of them decides the choices ahead.

use crate::router::with_schedule;
use schedule::text::print;

/// The commit phase of a program that looks up `v`, and then runs these nodes from `after` on; `run` is the action
/// of all entries.
fn commit(objects: &str, nodes: &str) -> String {
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
node deparser: deparse {{ emit h }} -> gone
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
    assert_eq!(kinds, ["miss", "drop", "drop", "store", "send", "store", "send"], "{text}");
}

/// More ends than a commit phase has.
#[test]
fn packets_with_too_many_ends_commit_by_nodes() {
    let mut nodes = "node missed: block { port = 511 } -> queue\n".to_string();
    for end in 0..40 {
        let name = if end == 0 { "after".to_string() } else { format!("end_{end}") };
        nodes += &format!("node {name}: branch h.b == 16w{end} -> last_{end} else end_{}\n", end + 1);
        nodes += &format!("node last_{end}: buffer {{ send 32w{end} }}\n");
    }
    nodes += "node end_40: block {} -> queue";
    let obstacle = commit("", &nodes);
    assert!(obstacle.starts_with("leads to too many ends at last_"), "{obstacle}");
}
