//! Groups of a selector on a hot path: a packet commits with the action of the member that its hash chooses, from fields as
//! they were before the action and the deparser change them.

use crate::command::{bacus, scratch};
use std::fs;

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

const STAGES: &str = "plan { loop hops: batch 32 group 32 {} }\n";

#[test]
fn packets_commit_with_the_member_that_their_hash_chooses() {
    let folder = scratch("members-in-stages");
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let (program, plan) = (write("spread.hlir", PROGRAM), write("stages.plan", STAGES));
    // Packets to each group, of many flows.
    let flows = (0..64).map(|flow| format!("packet 5 {:04x} {flow:04x} 00bb 05 00\n", 1 + flow % 6));
    let (test, trace) = (
        write("spread.stf", &format!("{ENTRIES}{PACKETS}")),
        write("flows.stf", &(ENTRIES.to_string() + &flows.collect::<String>())),
    );
    let run = |arguments: &[&str]| {
        let ran = bacus().args(arguments).output().unwrap();
        let [printed, errors] = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(ran.status.success(), "{printed}{errors}");
        printed
    };
    let schedule = run(&["show", &program, "--pin", &plan, "--after", "schedule"]);
    assert!(schedule.contains("parameter to of send at hops by %") && !schedule.contains("commit plain"), "{schedule}");
    run(&["stf", &program, &test, "--engine", "native", "--pin", &plan]);
    let compared = run(&["stf", &program, &trace, "--trace", &trace, "--count", "4000", "--pin", &plan]);
    assert!(compared.contains("both engines agree"), "{compared}");
}
