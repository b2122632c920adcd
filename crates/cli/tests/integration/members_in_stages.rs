//! Groups of a selector on a hot path: a packet commits with the action of the member that its hash chooses, from fields as
//! they were before the action and the deparser change them.

use crate::command::{bacus, scratch};
use std::fs;
use std::path::Path;

const PROGRAM: &str = "program spread for none

header h: flow_t { key: 16, from: 16, to: 16, left: 8, mark: 8 }

variable meta.port: 9
variable error: 32

counter found: packets of hops automatic
counter ended: packets of last automatic

profile ways [16] selector crc16 width 14 largest_group 8

table hops {
  key h.key: exact
  action send(port: 9, to: 16) { meta.port = port; h.to = to; h.left = h.left - 1 }
  action drop() { meta.port = 511 }
  default drop()
  profile ways
  selector h.from
  selector h.to
  selector h.left
}

table last {
  key h.to: exact
  action mark(mark: 8) { h.mark = mark }
  action keep() {}
  default keep()
}

parser parser { start start, accept hops, reject hops, error error }

entry start

node start: state of parser { extract h } -> hops

node hops: apply hops -> last

node last: apply last -> headers

node headers: deparse { emit h } -> queue

node queue: buffer {
  when meta.port == 511: drop \"no port\"
  send u32(meta.port)
}
";

/// The same, where no stage looks up the table with groups, and packets are distinguished before it.
fn chosen_late() -> String {
    let order = [
        ("key h.to: exact", "key h.key: exact"),
        ("accept hops, reject hops", "accept last, reject last"),
        ("extract h } -> hops", "extract h } -> last"),
        ("node hops: apply hops -> last", "node hops: apply hops -> headers"),
        (
            "node last: apply last -> headers",
            "node last: apply last -> flow\n\nnode flow: branch h.from == 7 -> seventh else hops\n\n\
             node seventh: block { h.mark = 9 } -> hops",
        ),
    ];
    order.iter().fold(PROGRAM.to_string(), |text, (from, to)| {
        assert!(text.contains(from));
        text.replacen(from, to, 1)
    })
}

/// A group of one, one of three, an empty one, and a member alone.
const ENTRIES: &str = "member ways 1 send(port:1, to:0x11)
member ways 2 send(port:2, to:0x12)
member ways 3 send(port:3, to:0x13)
member ways 4 drop()
group ways 1 1
group ways 2 1 2 3
group ways 3
group ways 4 2 4
add hops h.key:1 group=1
add hops h.key:2 group=2
add hops h.key:3 group=3
add hops h.key:4 group=4
add hops h.key:5 member=2
add last h.to:0x11 mark(0x71)
add last h.to:0x12 mark(0x72)
";

const PACKETS: &str = "packet 5 0001 00aa 00bb 05 00
expect 1 0001 00aa 0011 04 71 $
packet 5 0005 00aa 00bb 05 00
expect 2 0005 00aa 0012 04 72 $
packet 5 0003 00aa 00bb 05 00
packet 5 0006 00aa 00bb 05 00
";

fn stages(at: &str) -> String {
    format!("plan {{ loop {at}: batch 32 group 32 {{}} }}\n")
}

fn run(arguments: &[&str]) -> String {
    let ran = bacus().args(arguments).output().unwrap();
    let [printed, errors] = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(ran.status.success(), "{printed}{errors}");
    printed
}

/// A file of the test.
fn write(folder: &Path, name: &str, text: &str) -> String {
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// Packets to each group, of many flows.
fn flows() -> String {
    (0..64).map(|flow| format!("packet 5 {:04x} {flow:04x} 00bb 05 00\n", 1 + flow % 6)).collect()
}

#[test]
fn packets_commit_with_the_member_that_their_hash_chooses() {
    let folder = scratch("members-in-stages");
    let (program, plan) = (write(&folder, "spread.hlir", PROGRAM), write(&folder, "stages.plan", &stages("hops")));
    let test = write(&folder, "spread.stf", &format!("{ENTRIES}{PACKETS}"));
    let trace = write(&folder, "flows.stf", &format!("{ENTRIES}{}", flows()));
    let schedule = run(&["show", &program, "--pin", &plan, "--after", "schedule"]);
    assert!(schedule.contains("parameter to of send at hops by %") && !schedule.contains("commit plain"), "{schedule}");
    run(&["stf", &program, &test, "--engine", "native", "--pin", &plan]);
    let compared = run(&["stf", &program, &trace, "--trace", &trace, "--count", "4000", "--pin", &plan]);
    assert!(compared.contains("both engines agree"), "{compared}");
}

/// The control plane may replace a group between two reads, and a packet would meet members of both. A group of one needs no hash.
#[test]
fn a_packet_reads_its_group_once_and_hashes_for_several_members() {
    let folder = scratch("group-once");
    let (program, plan) =
        (write(&folder, "spread.hlir", &chosen_late()), write(&folder, "stages.plan", &stages("last")));
    let entries =
        ENTRIES.replace("add last h.to:0x11", "add last h.key:1").replace("add last h.to:0x12", "add last h.key:4");
    let trace = write(&folder, "flows.stf", &format!("{entries}{}", flows()));
    let c = run(&["compile", &program, "--pin", &plan, "--emit", "c"]);
    let commit = c.split_once("\npath_finish(").expect("packets commit by a schedule").1;
    let commit = commit.split_once("\n}\n").expect("it ends").0;
    let places = ["selector_members(", "->count > 1u", "hash_crc16("].map(|part| {
        assert_eq!(commit.matches(part).count(), 1, "{part} in\n{commit}");
        commit.find(part)
    });
    assert!(places.is_sorted(), "{commit}");
    let compared = run(&["stf", &program, &trace, "--trace", &trace, "--count", "4000", "--pin", &plan]);
    assert!(compared.contains("both engines agree"), "{compared}");
}
