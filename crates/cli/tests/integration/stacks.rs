//! Programs with many long stacks of headers: their C does not grow with the stacks, and both engines send the same.

use crate::command::{bacus, said, scratch};
use std::path::Path;

/// The state that takes items of a stack off the packet.
fn state(n: usize, next: &str) -> String {
    format!(
        "    state item{n} {{
        p.extract(h.items{n}.next);
        transition select(h.items{n}.last.last) {{ 0: item{n}; default: {next}; }}
    }}
"
    )
}

/// What is done to a stack.
fn action(n: usize) -> String {
    format!(
        "        if (h.command.stack == {n}) {{
            switch (h.command.what) {{
                1: {{ h.items{n}.push_front(2); h.items{n}[1].setValid(); h.items{n}[1].v = h.command.at; }}
                2: {{ h.items{n}.pop_front(3); }}
                3: {{ h.items{n}[h.command.at].v = h.items{n}[h.command.at + 1].v; }}
                4: {{ h.items{n}[h.command.at].setInvalid(); }}
                5: {{ h.items{n}[2] = h.items{n}[h.command.at]; }}
                6: {{ h.items{n}[h.command.at].wide = h.items{n}[h.command.at + 1].wide + 1; }}
                default: {{ }}
            }}
        }}
"
    )
}

const TYPES: &str = "#include <core.p4>
#include <v1model.p4>
header command_t { bit<8> what; bit<8> stack; bit<8> at; }
header one_t { bit<8> kind; bit<8> v; }
header two_t { bit<8> kind; bit<16> v; }
header_union member_t { one_t one; two_t two; }
struct meta { }
control no_check(inout headers h, inout meta m) { apply { } }
";

const MEMBERS: &str = "    state member {
        transition select(p.lookahead<bit<8>>()) { 1: one; 2: two; default: accept; }
    }
    state one { p.extract(h.members.next.one); transition member; }
    state two { p.extract(h.members.next.two); transition member; }
}
";

const COPIES: &str = "        s.egress_spec = 1;
        if (s.instance_type == 0) {
            if (h.command.what == 7) { clone(CloneType.I2E, 5); }
            if (h.command.what == 8) { s.mcast_grp = 3; }
            if (h.command.what == 9) { resubmit_preserving_field_list(0); }
        }
        if (h.members[h.command.at].one.isValid()) { h.members[1].two.setValid(); h.members[1].two.v = 3; }
";

const EGRESS: &str = "control egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        if (s.egress_rid == 2) { h.items0.pop_front(1); h.members[0].one.setInvalid(); }
    }
}
";

/// A switch that takes items of so many stacks off a packet, one stack after the other, and puts them back. It shifts the stacks, works on elements at
/// indexes known at run time, and makes copies of packets that go on with their headers.
fn switch(stacks: usize, elements: usize) -> String {
    let each = |part: &dyn Fn(usize) -> String| (0..stacks).map(part).collect::<String>();
    let items = each(&|n| format!("header item{n}_t {{ bit<1> last; bit<7> kind; bit<80> wide; bit<8> v; }}\n"));
    let members = each(&|n| format!("    item{n}_t[{elements}] items{n};\n"));
    let next = |n: usize| if n + 1 < stacks { format!("item{}", n + 1) } else { "member".to_string() };
    let (states, actions) = (each(&|n| state(n, &next(n))), each(&action));
    let emits = each(&|n| format!("        p.emit(h.items{n});\n"));
    let headers = format!(
        "{items}struct headers {{
    command_t command;
{members}    member_t[{elements}] members;
}}
"
    );
    let types = TYPES.replace("struct meta", &format!("{headers}struct meta"));
    format!(
        "{types}parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {{
    state start {{ p.extract(h.command); transition item0; }}
{states}{MEMBERS}control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {{
    apply {{
{COPIES}{actions}    }}
}}
{EGRESS}control emit_all(packet_out p, in headers h) {{
    apply {{
        p.emit(h.command);
{emits}        p.emit(h.members);
    }}
}}
V1Switch(parse(), no_check(), ingress(), egress(), no_check(), emit_all()) main;
"
    )
}

/// Packets for it, with the copies that it makes of some.
fn packets(stacks: usize, elements: usize) -> String {
    let mut text = "mirroring_add 5 3\nmc_mgrp_create 3\nmc_node_create 1 2 3\nmc_node_create 2 4\n\
                    mc_node_associate 3 0\nmc_node_associate 3 1\n"
        .to_string();
    for number in 0..160 {
        let at = if number % 3 == 0 { elements - 1 + number % 4 } else { number * 7 % (elements + 2) };
        let mut packet = format!("{:02x}{:02x}{at:02x}", number % 10, number % stacks);
        for stack in 0..stacks {
            // Now and then one more than there is room for.
            let count = if (number + stack) % 11 == 0 { elements + number % 2 } else { 1 + (number * stack) % 4 };
            for item in 0..count {
                let last = if item + 1 == count { 0x80 } else { 0 };
                packet.push_str(&format!("{last:02x}{:020x}{:02x}", item * 977 + number, (item + stack) % 256));
            }
        }
        packet.push_str(["", "01aa", "02bbbb01cc", "0111011201130114021111", "ff"][number % 5]);
        text.push_str(&format!("packet {} {packet}\n", number % 4));
    }
    text
}

fn lines(program: &Path) -> usize {
    let output = bacus().args(["compile", "--emit", "c"]).arg(program).output().expect("bacus runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.iter().filter(|byte| **byte == b'\n').count()
}

#[test]
fn code_does_not_grow_with_stacks() {
    let directory = scratch("stacks-lines");
    let lines = |elements: usize| {
        let program = directory.join(format!("of{elements}.p4"));
        std::fs::write(&program, switch(4, elements)).expect("there is room for a test");
        lines(&program)
    };
    let (some, more) = (lines(16), lines(64));
    assert!(more < 2500 && more == some, "4 stacks of 16 and of 64 are {some} and {more} lines of C");
}

#[test]
fn both_engines_send_the_same() {
    let directory = scratch("stacks");
    for (stacks, elements) in [(2, 8), (2, 9), (1, 20)] {
        let (program, test) = (directory.join("switch.p4"), directory.join("switch.stf"));
        std::fs::write(&program, switch(stacks, elements)).expect("there is room for a test");
        std::fs::write(&test, packets(stacks, elements)).expect("there is room for a test");
        let mut command = bacus();
        command.arg("stf").args([&program, &test]).arg("--trace").arg(&test).args(["--count", "500", "--sanitize"]);
        let output = command.output().expect("bacus runs");
        let said = said(&output);
        assert!(output.status.success() && said.contains("both engines agree"), "{stacks}, {elements}: {said}");
    }
}
