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
    let text = include_str!("../../hlir/tests/programs/l2fwd.hlir");
    expect_file!["golden/l2fwd_own.c.golden"].assert_eq(&emitted(text, Descriptor::Own));
}

/// Headers rewritten in place, a checksum summed where it lies, a prefix table.
#[test]
fn ipv4fwd_own() {
    expect_file!["golden/ipv4fwd_own.c.golden"]
        .assert_eq(&emitted(include_str!("golden/ipv4fwd.hlir"), Descriptor::Own));
}

/// Headers pushed and popped, so that a new front is put before the payload.
#[test]
fn mpls_mbuf() {
    expect_file!["golden/mpls_mbuf.c.golden"].assert_eq(&emitted(include_str!("golden/mpls.hlir"), Descriptor::Mbuf));
}

/// Packets beside the path wait in two queues, one of which looks up for a group.
#[test]
fn waits_own() {
    let program = include_str!("../../cli/tests/plans/waits.hlir");
    let plan = include_str!("../../cli/tests/plans/waits.plan");
    expect_file!["golden/waits_own.c.golden"].assert_eq(&emitted(&format!("{program}\n{plan}"), Descriptor::Own));
}

#[test]
fn emitting_twice_gives_equal_bytes() {
    let text = include_str!("../../hlir/tests/programs/l2fwd.hlir");
    assert_eq!(emitted(text, Descriptor::Mbuf), emitted(text, Descriptor::Mbuf));
}
