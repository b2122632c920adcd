//! The C of example programs, under version control, so that a change of the emitter is seen as what it does to the product.
//!
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
    expect_file!["golden/l2fwd_own.c"].assert_eq(&emitted(text, Descriptor::Own));
}

#[test]
fn emitting_twice_gives_equal_bytes() {
    let text = include_str!("../../hlir/tests/programs/l2fwd.hlir");
    assert_eq!(emitted(text, Descriptor::Mbuf), emitted(text, Descriptor::Mbuf));
}
