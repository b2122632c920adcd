//! Which headers are copied when they are extracted: those that are written while the packet's bytes may be read before a deparser has run.

use hlir::Plan;

/// Whether the header of a program is kept apart, whose packets go from `change`, where it is written.
fn is_apart(behind: &str) -> bool {
    let text = format!(
        "program apart for none
header hdr.ethernet: ethernet_t {{ dst: 48, src: 48, type: 16 }}
variable meta.gone: bool
variable error: 32
parser parser {{ start start, accept change, reject gone, error error }}
entry start
node start: state of parser {{ extract hdr.ethernet }} -> change
node change: block {{
  meta.gone = hdr.ethernet.type == 0
  hdr.ethernet.src = 7
}} -> next
{behind}
node deparser: deparse {{ emit hdr.ethernet }} -> departure
node departure: buffer {{
  when meta.gone: drop \"no way\"
  send 32w1
}}
node gone: buffer {{ drop \"short\" }}
"
    );
    let program = hlir::text::parse_program(&text).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes:?}"));
    let code = emit::emit(&program, &Plan::default()).expect("the example can be emitted");
    code.contains("memcpy(state->scratch->hdr_ethernet, packet_data(&state->packet)")
}

#[test]
fn a_deparser_puts_back_what_was_written() {
    assert!(!is_apart("node next: block {} -> deparser"));
}

#[test]
fn packets_that_leave_without_a_deparser_leave_as_they_came() {
    assert!(is_apart("node next: block {} -> departure"));
    assert!(is_apart("node next: branch hdr.ethernet.dst == 0 -> departure else deparser"));
    assert!(is_apart("node next: branch meta.gone -> deparser else departure"));
}

/// As PSA and PNA do it.
#[test]
fn packets_that_go_round_the_deparser_to_be_dropped_are_seen_by_nobody() {
    assert!(!is_apart("node next: branch meta.gone -> departure else deparser"));
    assert!(!is_apart("node next: branch valid(hdr.ethernet) && (meta.gone && error == 0) -> departure else deparser"));
}
