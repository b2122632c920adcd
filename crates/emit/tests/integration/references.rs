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

/// A switch that mirrors what it receives; `ingress` and `egress` are what packets run before and behind that, `bytes` what a clone begins with.
fn mirror(ingress: &str, egress: &str, bytes: &str, to: &str) -> String {
    format!(
        r#"
program mirror for none

header hdr.ethernet: ethernet_t {{ dst: 48, src: 48, type: 16 }}
variable meta.port: 32
variable meta.limit: 32
variable error: 32

parser parser {{ start start, accept ingress, reject ingress, error error }}

entry start

node start: state of parser {{ extract hdr.ethernet }} -> ingress

node ingress: block {{
  {ingress}
}} -> queue

node queue: buffer {{
  when meta.limit == 32w0: clone 32w1 {bytes} keep {{}} set {{
    meta.port = copy.port
    meta.limit = copy.truncation
  }} -> {to}
  otherwise -> egress
}}

node egress: block {{
  {egress}
}} -> deparser

node deparser: deparse {{ emit hdr.ethernet }} -> cut

node cut: block {{
  if meta.limit != 32w0 {{ truncate meta.limit }}
}} -> departure

node departure: buffer {{ send meta.port }}
"#
    )
}

/// How clones are made, for own packets and for mbufs.
fn made(text: &str) -> [String; 2] {
    let parsed = parse_file(text).unwrap_or_else(|errors| panic!("{text}: {errors:#?}"));
    assert_eq!(parsed.verify(), [], "{text}");
    [hlir::plan::Descriptor::Own, hlir::plan::Descriptor::Mbuf].map(|descriptor| {
        let plan = hlir::Plan { descriptor, ..hlir::Plan::default() };
        let code = emit::emit(&parsed.program, &plan).unwrap_or_else(|error| panic!("{error:?}"));
        let line = code.lines().find(|line| line.contains("struct copy *const copy =") && line.contains("&whole"));
        let line = line.unwrap_or_else(|| panic!("{code}")).trim();
        line.trim_start_matches("struct copy *const copy = ").trim_end_matches(';').to_string()
    })
}

#[test]
fn clones_that_nothing_writes_are_references() {
    let cut = "(whole.meta_limit == 0u && truncation == 0u)";
    for (bytes, to, shared, own) in
        [("original", "start", "copy_shared", "copy_deparsed"), ("current", "egress", "copy_reference", "copy_current")]
    {
        let [of_own, of_mbuf] = made(&mirror("", "meta.port = meta.port + 32w1", bytes, to));
        assert_eq!(of_own, format!("{shared}(run, &whole)"));
        assert_eq!(of_mbuf, format!("{cut} ? {shared}(run, &whole) : {own}(run, &whole)"));
    }
}

#[test]
fn clones_have_bytes_of_their_own_where_the_original_or_they_are_written() {
    for (ingress, egress, bytes, to, expected) in [
        ("hdr.ethernet.src = 48w1", "", "original", "start", "copy_original"),
        ("", "hdr.ethernet.src = 48w1", "original", "start", "copy_deparsed"),
        ("", "hdr.ethernet.src = 48w1", "current", "egress", "copy_current"),
        ("", "if meta.port == 32w5 { hdr.ethernet.src = 48w1 }", "current", "egress", "copy_current"),
        ("", "invalidate hdr.ethernet", "current", "egress", "copy_current"),
    ] {
        let text = mirror(ingress, egress, bytes, to);
        assert_eq!(made(&text), [(); 2].map(|()| format!("{expected}(run, &whole)")), "{text}");
    }
    // What was written before belongs to both, if the clone begins with it.
    let [of_own, _] = made(&mirror("hdr.ethernet.src = 48w1", "", "current", "egress"));
    assert_eq!(of_own, "copy_reference(run, &whole)");
    // A cut that is not a session's changes an mbuf; an own descriptor has its own length.
    let other = mirror("", "", "current", "egress").replace("32w0 { truncate meta.limit }", "32w1 { truncate 32w20 }");
    assert_eq!(made(&other), ["copy_reference", "copy_current"].map(|made| format!("{made}(run, &whole)")));
}
