//! Groups of a hot path: misses, other actions and side exits change the code that runs, and no result.

use crate::command::{bacus, capture, has_dpdk, path, said, scratch};
use std::fs;

const GROUP: usize = 64;

/// Full groups, which are sent at once: all lookups hit, one of each table misses, or all miss.
#[test]
fn one_miss_in_a_full_group_is_one_miss() {
    let mut test = String::new();
    for station in ["a", "b"] {
        test.push_str(&format!("add smac hdr.ethernet.src:0x02000000000{station} NoAction()\n"));
        test.push_str(&format!("add dmac hdr.ethernet.dst:0x02000000000{station} forward(port:1)\n"));
    }
    for round in 0..3 {
        let unknown_to = |number: usize| round == 2 || round == 1 && number == 5;
        let unknown_from = |number: usize| round == 2 || round == 1 && number == 9;
        let frame = |number: usize| {
            let to = if unknown_to(number) { "0f" } else { "0b" };
            let from = if unknown_from(number) { "0c" } else { "0a" };
            format!("0200000000{to}0200000000{from}88b5{number:04x}")
        };
        (0..GROUP).for_each(|number| test.push_str(&format!("packet 2 {}\n", frame(number))));
        for number in (0..GROUP).filter(|number| !unknown_to(*number)) {
            test.push_str(&format!("expect 1 {} $\n", frame(number)));
        }
        for _ in (0..GROUP).filter(|number| unknown_from(*number)) {
            test.push_str("expect_digest station_t address:0x02000000000c port:2\n");
        }
    }
    passes_in_stages_of_l2fwd("full-groups", &test);
}

/// Full groups while all entries run the expected actions, while one runs another action, and after that entry was deleted.
#[test]
fn one_entry_of_another_action_is_one() {
    let mut test = String::new();
    test.push_str("add smac hdr.ethernet.src:0x02000000000a NoAction()\n");
    test.push_str("add dmac hdr.ethernet.dst:0x02000000000b forward(port:1)\n");
    let (refused, reported) = ("dmac hdr.ethernet.dst:0x02000000000f", "smac hdr.ethernet.src:0x02000000000c");
    let changes = [
        String::new(),
        format!("add {refused} drop()\n"),
        format!("add {reported} learn()\n"),
        format!("remove {refused}\n"),
        format!("remove {reported}\nadd {refused} drop()\n"),
    ];
    for (round, change) in changes.iter().enumerate() {
        test.push_str(change);
        let is_refused = |number: usize| round != 0 && number % 11 == 5;
        let is_reported = |number: usize| round == 2 && number % 13 == 7;
        let frame = |number: usize| {
            let to = if is_refused(number) { "0f" } else { "0b" };
            let from = if is_reported(number) { "0c" } else { "0a" };
            format!("0200000000{to}0200000000{from}88b5{round:02x}{number:02x}")
        };
        (0..GROUP).for_each(|number| test.push_str(&format!("packet 2 {}\n", frame(number))));
        for number in (0..GROUP).filter(|number| !is_refused(*number)) {
            test.push_str(&format!("expect 1 {} $\n", frame(number)));
        }
        for _ in (0..GROUP).filter(|number| is_reported(*number)) {
            test.push_str("expect_digest station_t address:0x02000000000c port:2\n");
        }
    }
    passes_in_stages_of_l2fwd("other-actions", &test);
}

fn passes_in_stages_of_l2fwd(name: &str, test: &str) {
    let file = scratch(name).join("test.stf");
    fs::write(&file, test).expect("a test can be written");
    let program = path("apps/l2fwd/l2fwd.p4");
    for plan in ["l2fwd", "l2fwd_pipelined", "l2fwd_spread"] {
        let plan = path(&format!("crates/cli/tests/plans/{plan}.plan"));
        let mut command = bacus();
        command.arg("stf").arg(&program).arg(&file).arg("--plan").arg(&plan).args(["--engine", "native"]);
        let output = command.output().expect("bacus runs");
        let said = said(&output);
        assert!(output.status.success(), "{}: {said}", plan.display());
    }
}

/// The kinds of packets of `short_headers.hlir`. All but the refused leave by one port, which shows their order.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Hit,
    Refused,
    Missed,
    /// Too short for its header: it takes a side exit, and misses, too.
    Left,
}

/// A group with so many misses and side exits at scattered places; some of the others hit an entry of their own.
fn group(missed: usize, left: usize, others: Kind) -> impl Iterator<Item = Kind> {
    (0..GROUP).map(move |number| match (number * 37 + 11) % GROUP {
        place if place < left => Kind::Left,
        place if place < left + missed => Kind::Missed,
        place if place % 5 == 0 => others,
        _ => Kind::Hit,
    })
}

fn frame(number: usize, kind: Kind) -> String {
    match kind {
        Kind::Hit => format!("020000000001020000000000{number:06x}00"),
        Kind::Refused => format!("020000000002020000000000{number:06x}00"),
        Kind::Missed => format!("02000000000f020000000000{number:06x}00"),
        Kind::Left => format!("02000000000102{number:06x}"),
    }
}

/// Few misses are processed separately from hits, many together with them, and earlier side exits before both. Packets are mbufs here: the addresses of
/// their bytes are kept from stage to stage.
#[test]
fn groups_keep_the_order_of_arrival_with_misses_and_side_exits() {
    if !has_dpdk() {
        return;
    }
    let sizes = [(0, 0), (1, 0), (32, 0), (33, 0), (64, 0), (0, 1), (5, 20), (40, 20), (0, 64)];
    let forms = [
        ("", "ahead 64 in own_loop"),
        ("vector 8 ", "ahead 64 in own_loop"),
        ("vector 8 ", "ahead 1 interleaved lookup"),
        ("vector 8 ", "ahead 1 interleaved commit"),
        ("", "ahead 1 interleaved keys"),
    ];
    for others in [Kind::Hit, Kind::Refused] {
        let groups = sizes.iter().flat_map(|(missed, left)| group(*missed, *left, others));
        let kinds: Vec<Kind> = groups.chain(group(13, 4, others).take(37)).collect();
        for runs in ["", " runs send"] {
            for (lanes, request) in forms {
                let plan = format!(
                    "plan {{
  descriptor mbuf
  burst 64
  hot_path {{ start, hosts{runs} }}
  loop hosts: batch 64 group 64 {lanes}{{
    prefetch table hosts {request} to t0
  }}
}}
"
                );
                leave_as_they_came(&kinds, &plan);
            }
        }
    }
}

fn leave_as_they_came(kinds: &[Kind], plan: &str) {
    let frames: Vec<String> = kinds.iter().enumerate().map(|(number, kind)| frame(number, *kind)).collect();
    let count = |wanted: &[Kind]| kinds.iter().filter(|kind| wanted.contains(kind)).count();
    let refused = count(&[Kind::Refused]);
    let mut entries = "add hosts hdr.ethernet.dst:0x020000000001 send(port:7)\n".to_string();
    if refused != 0 {
        entries.push_str("add hosts hdr.ethernet.dst:0x020000000002 refuse()\n");
    }

    let directory = scratch("groups");
    let file = |name: &str, text: &str| {
        let file = directory.join(name);
        fs::write(&file, text).expect("a file can be written");
        file
    };
    let packets: String = frames.iter().map(|frame| format!("packet 0 {frame}\n")).collect();
    let (packets, out) = (file("packets.stf", &packets), directory.join("out.pcap"));
    let mut command = bacus();
    command.arg("run").arg(path("crates/cli/tests/plans/short_headers.hlir"));
    command.arg("--entries").arg(file("entries.stf", &entries)).arg("--plan").arg(file("groups.plan", plan));
    command.args(["--port", &format!("0=pcap:{},", packets.display())]);
    command.args(["--port", &format!("7=pcap:,{}", out.display())]);
    let output = command.output().expect("bacus runs");
    let said = said(&output);
    assert!(output.status.success(), "{plan}{said}");

    let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let sent: Vec<String> = capture(&out).iter().map(hex).collect();
    let stay = frames.iter().zip(kinds).filter(|(_, kind)| **kind != Kind::Refused);
    assert!(sent.iter().eq(stay.map(|(frame, _)| frame)), "{plan}{said}{sent:?}");
    let figures = |name: &str| -> Vec<usize> {
        let line = said.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let (hits, misses) = (count(&[Kind::Hit, Kind::Refused]), count(&[Kind::Missed, Kind::Left]));
    assert_eq!(figures("hosts "), [1 + usize::from(refused != 0), hits, misses], "{plan}{said}");
    assert_eq!(figures("dropped "), [refused], "{plan}{said}");
    fs::remove_dir_all(directory).expect("it is ours");
}
