//! Which groups are sent at once: those of a path whose commit phase is scheduled.

use hlir::plan::{Descriptor, Plan};

/// A switch whose packets are `ready` behind their lookup.
fn switch(ready: &str) -> String {
    format!(
        "program switch for none
header hdr.ethernet: ethernet_t {{ dst: 48, src: 48, type: 16 }}
header hdr.tag: tag_t {{ value: 16 }}
variable meta.port: 9
variable error: 32
table hosts {{
  key hdr.ethernet.dst: exact
  action send(port: 9) {{ meta.port = port }}
  default send(511)
}}
parser parser {{ start start, accept hosts, reject hosts, error error }}
entry start
node start: state of parser {{ extract hdr.ethernet }} -> hosts
node hosts: apply hosts -> queue
node queue: buffer {{
  when meta.port == 511: drop \"no way\"
  otherwise -> ready
}}
{ready}
node deparser: deparse {{ emit hdr.ethernet }} -> departure
node departure: buffer {{
  send u32(meta.port)
}}
plan {{
  burst 64
  hot_path {{ start, hosts }}
  loop hosts: batch 64 group 64 {{
    prefetch table hosts ahead 64 in own_loop to t0
  }}
}}"
    )
}

/// The C of a program, whose plan has stages.
fn code(text: &str, descriptor: Descriptor) -> String {
    let parsed = hlir::text::parse_file(text).expect("the example is HLIR");
    let plan = Plan { descriptor, ..parsed.plan.expect("the example has a plan") };
    let code = emit::emit(&parsed.program, &plan).expect("the example can be emitted");
    assert!(code.contains("path_commit("), "the plan's stages are taken:\n{code}");
    code
}

/// Whether the C of a program sends groups at once.
fn together(text: &str, descriptor: Descriptor) -> bool {
    code(text, descriptor).contains("path_commit_bulk(")
}

#[test]
fn headers_rewritten_in_place_leave_as_one() {
    let text = switch("node ready: block { hdr.ethernet.src = 7 } -> deparser");
    assert!(together(&text, Descriptor::Own) && together(&text, Descriptor::Mbuf));
}

#[test]
fn packets_that_grow_leave_as_one() {
    let text = switch(
        "node ready: block { validate hdr.tag } -> longer
node longer: deparse {
  emit hdr.tag
  emit hdr.ethernet
} -> departure",
    );
    assert!(together(&text, Descriptor::Own) && together(&text, Descriptor::Mbuf));
    assert!(code(&text, Descriptor::Own).contains("packet_move(burst, from + i, packet, 2)"));
}

/// If some packets get a header in front, those take a side exit, and the others leave as one.
#[test]
fn packets_that_rarely_grow_leave_as_one() {
    let grows = |ready: &str, path: &str| {
        let text = switch(&format!(
            "node ready: block {{ {ready} }} -> longer
node longer: deparse {{
  emit hdr.tag
  emit hdr.ethernet
}} -> departure"
        ));
        let code = code(&text.replace("start, hosts }", path), Descriptor::Own);
        assert_eq!(code.contains("if (__builtin_expect(fate == LEAVES"), code.contains("path_commit_bulk("), "{code}");
        code.contains("path_commit_bulk(")
    };
    let whole = "start, hosts, queue, ready, longer, departure }";
    assert!(grows("if meta.port == 7 { validate hdr.tag }", whole));
    assert!(grows("if meta.port == 7 { validate hdr.tag }", "start, hosts }"));
    assert!(grows("validate hdr.tag", whole));
}

/// What is pulled together of several segments has to be put down with the packet.
#[test]
fn packets_that_are_pulled_together_behind_the_path_leave_one_by_one() {
    let text = switch(
        "parser again { start tag, accept departure, reject departure, error error }
node ready: block { meta.port = 3 } -> tag
node tag: state of again { extract hdr.tag } -> departure",
    );
    assert!(!together(&text, Descriptor::Mbuf));
}

/// Side exits are sent first if packets share counters only, else in order of arrival.
#[test]
fn side_exits_go_first_where_no_packet_sees_it() {
    let first = |ready: &str| {
        let code = code(&switch(ready), Descriptor::Own);
        let is_first = code.contains("path_side_exits(");
        assert_ne!(is_first, code.contains("walk_on("));
        is_first
    };
    assert!(first("node ready: block {} -> deparser"));
    assert!(first("counter seen: packets [2]\nnode ready: block { count seen at 32w1 } -> deparser"));
    let written = "register last: 32 [2]\nnode ready: block { write last at 32w1 = 32w7 } -> deparser";
    assert!(!first(written));
}
