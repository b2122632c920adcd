//! The C of example programs, under version control, so that a change of the emitter is seen as what it does to the product.
//!
//! Generated files are as long as their programs, so their names keep them out of the rules for what people write.
//! `UPDATE_EXPECT=1 cargo test -p emit` writes the files anew.

use expect_test::expect_file;
use hlir::plan::{Descriptor, Plan};

fn emitted(text: &str, descriptor: Descriptor) -> String {
    let parsed = hlir::text::parse_file(text).expect("the example is HLIR");
    let plan = Plan { descriptor, ..parsed.plan.unwrap_or_default() };
    emit::emit(&parsed.program, &plan).expect("the example can be emitted")
}

#[test]
fn l2fwd_own() {
    let text = include_str!("../../../hlir/tests/programs/l2fwd.hlir");
    expect_file!["../golden/l2fwd_own.c.golden"].assert_eq(&emitted(text, Descriptor::Own));
}

/// Two tables that share an array: each lookup takes its own part of the number that it finds.
#[test]
fn l2fwd_joint_own() {
    let plan = "plan {
  burst 64
  hot_path { arrival, parser.start, ingress.smac, ingress.dmac, ingress.end }
  loop ingress.smac: batch 64 group 64 {
    lookup ingress.dmac
    prefetch table ingress.smac ahead 1 interleaved commit to t1
    prefetch table ingress.dmac ahead 1 interleaved commit to t1
  }
  table ingress.smac: exact48
  table ingress.dmac: exact48
  joint ingress.smac with ingress.dmac bits 2
}";
    let text = format!("{}\n{plan}", include_str!("../../../hlir/tests/programs/l2fwd.hlir"));
    expect_file!["../golden/l2fwd_joint_own.c.golden"].assert_eq(&emitted(&text, Descriptor::Own));
}

/// Headers rewritten in place, a checksum summed where it lies, a prefix table.
#[test]
fn ipv4fwd_own() {
    expect_file!["../golden/ipv4fwd_own.c.golden"]
        .assert_eq(&emitted(include_str!("../golden/ipv4fwd.hlir"), Descriptor::Own));
}

/// The same in stages, its lines requested in this way.
fn ipv4fwd_staged(descriptor: Descriptor, lanes: &str, request: &str) -> String {
    let path = "RouterParser.start, RouterParser.ipv4, CheckHeader.start, Router.if_105, Router.if_107, Router.if_109, \
                Router.if_112, Router.if_114, Router.routes runs Router.forward";
    let plan = format!(
        "plan {{
  burst 64
  hot_path {{ v1model.begin, {path} }}
  loop Router.routes: batch 64 group 64 {lanes}{{
    prefetch table Router.routes {request} to t0
  }}
  table Router.routes: dir24_8_u8
}}"
    );
    emitted(&format!("{}\n{plan}", include_str!("../golden/ipv4fwd.hlir")), descriptor)
}

/// A group is sent at once, after those of it that have left the path.
#[test]
fn ipv4fwd_staged_own() {
    expect_file!["../golden/ipv4fwd_staged_own.c.golden"].assert_eq(&ipv4fwd_staged(
        Descriptor::Own,
        "",
        "ahead 64 in own_loop",
    ));
}

/// A group waits until the next one has come, and each of its lookups pays for a request of that.
#[test]
fn ipv4fwd_interleaved_lookup_own() {
    expect_file!["../golden/ipv4fwd_interleaved_lookup_own.c.golden"].assert_eq(&ipv4fwd_staged(
        Descriptor::Own,
        "",
        "ahead 1 interleaved lookup",
    ));
}

/// The same, but each packet's turn pays for one.
#[test]
fn ipv4fwd_interleaved_commit_mbuf() {
    let emitted = ipv4fwd_staged(Descriptor::Mbuf, "vector 8 ", "ahead 1 interleaved commit");
    expect_file!["../golden/ipv4fwd_interleaved_commit_mbuf.c.golden"].assert_eq(&emitted);
}

/// What comes before the lookup for eight packets at once.
#[test]
fn ipv4fwd_vector_own() {
    expect_file!["../golden/ipv4fwd_vector_own.c.golden"].assert_eq(&ipv4fwd_staged(
        Descriptor::Own,
        "vector 8 ",
        "ahead 64 in own_loop",
    ));
}

/// The same for mbufs a group behind: where their bytes begin is kept from the lanes to their turn.
#[test]
fn ipv4fwd_vector_mbuf() {
    let emitted = ipv4fwd_staged(Descriptor::Mbuf, "vector 8 ", "ahead 1 interleaved lookup");
    expect_file!["../golden/ipv4fwd_vector_mbuf.c.golden"].assert_eq(&emitted);
}

/// Headers pushed and popped, so that a new front is put before the payload.
#[test]
fn mpls_mbuf() {
    expect_file!["../golden/mpls_mbuf.c.golden"]
        .assert_eq(&emitted(include_str!("../golden/mpls.hlir"), Descriptor::Mbuf));
}

/// Packets beside the path wait in two queues, one of which looks up for a group.
#[test]
fn queues_own() {
    let program = include_str!("../../../cli/tests/plans/queues.hlir");
    let plan = include_str!("../../../cli/tests/plans/queues.plan");
    expect_file!["../golden/queues_own.c.golden"].assert_eq(&emitted(&format!("{program}\n{plan}"), Descriptor::Own));
}

/// Without a path: a list of packets before each loop, and `wait` where they part.
#[test]
fn lists_own() {
    let program = include_str!("../../../cli/tests/plans/queues.hlir");
    let plan = include_str!("../../../cli/tests/plans/queues_lists.plan");
    expect_file!["../golden/lists_own.c.golden"].assert_eq(&emitted(&format!("{program}\n{plan}"), Descriptor::Own));
}

#[test]
fn emitting_twice_gives_equal_bytes() {
    let text = include_str!("../../../hlir/tests/programs/l2fwd.hlir");
    assert_eq!(emitted(text, Descriptor::Mbuf), emitted(text, Descriptor::Mbuf));
}

/// What is looked up on the way to a stage in lanes: the number of a record, its action, and what is read of it.
#[test]
fn lookup_before_cut_own() {
    let program = include_str!("../../../cli/tests/plans/lookup_before_cut.hlir");
    let plan = include_str!("../../../cli/tests/plans/lookup_before_cut.plan");
    expect_file!["../golden/lookup_before_cut_own.c.golden"]
        .assert_eq(&emitted(&format!("{program}\n{plan}"), Descriptor::Own));
}
