//! Copies that nothing writes have the bytes of the original; others have bytes of their own.

use hlir::text::parse_file;

/// A switch that floods; `egress` is what copies run, and `set` what they begin with.
fn flood(egress: &str, set: &str, deparser: &str) -> String {
    format!(
        r#"
program flood for none

header hdr.ethernet: ethernet_t {{ dst: 48, src: 48, type: 16 }}
header hdr.mark: mark_t {{ port: 16 }}
variable meta.port: 32
variable error: 32

parser parser {{ start start, accept queue, reject queue, error error }}

entry start

node start: state of parser {{ extract hdr.ethernet }} -> queue

node queue: buffer {{
  when hdr.ethernet.dst == 48w0xffffffffffff: replicate 32w1 current keep all set {{
    meta.port = copy.port
    {set}
  }} -> egress
  otherwise -> egress
}}

node egress: block {{
  {egress}
}} -> deparser

node deparser: deparse {{ {deparser} }} -> departure

node departure: buffer {{ send meta.port }}
"#
    )
}

/// Whether copies are references, by the function that makes them.
fn are_references(text: &str) -> bool {
    let parsed = parse_file(text).unwrap_or_else(|errors| panic!("{text}: {errors:#?}"));
    assert_eq!(parsed.verify(), [], "{text}");
    let code = emit::emit(&parsed.program, &hlir::Plan::default()).unwrap_or_else(|error| panic!("{error:?}"));
    let made = |function: &str| code.contains(&format!("copy = {function}(run, &whole)"));
    assert_ne!(made("copy_reference"), made("copy_current"), "{code}");
    made("copy_reference")
}

const ETHERNET: &str = "emit hdr.ethernet";

#[test]
fn copies_that_nothing_writes_are_references() {
    assert!(are_references(&flood("meta.port = meta.port + 32w1", "", ETHERNET)));
    assert!(are_references(&flood("if hdr.ethernet.type == 16w5 { meta.port = 32w3 }", "", ETHERNET)));
}

#[test]
fn copies_that_are_written_have_their_own_bytes() {
    for egress in [
        "hdr.ethernet.src = 48w1",
        "if meta.port == 32w2 { hdr.ethernet.src = 48w1 }",
        "invalidate hdr.ethernet",
        "validate hdr.mark",
        "truncate 32w20",
    ] {
        assert!(!are_references(&flood(egress, "", "emit hdr.ethernet emit hdr.mark")), "{egress}");
    }
    assert!(!are_references(&flood("", "hdr.ethernet.type = copy.instance", ETHERNET)), "what a copy begins with");
    assert!(!are_references(&flood("", "", "")), "the deparser takes the header off");
}
