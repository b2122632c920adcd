//! Parsers: states, selects, stacks, parsers within parsers.

use super::lowered;
use expect_test::expect;

fn parser(text: &str) -> String {
    let control = "control c(inout hs_t hdr, inout m_t m) { apply {} }";
    let text = lowered(&format!("{text}\n{control}"));
    let start = text.find("\nnode").unwrap_or(0);
    text[start..].split("\nnode c.").next().unwrap_or("").trim().to_string() + "\n"
}

#[test]
fn a_stack_is_checked_before_it_takes_a_header() {
    expect![[r#"
        node p.start: state of p {
          verify p.hdr.s.nextIndex < 3 else 32w3
          if p.hdr.s.nextIndex == 0 {
            extract p.hdr.s[0]
          } else if p.hdr.s.nextIndex == 1 {
            extract p.hdr.s[1]
          } else if p.hdr.s.nextIndex == 2 {
            extract p.hdr.s[2]
          }
          p.hdr.s.nextIndex = p.hdr.s.nextIndex + 1
          verify p.hdr.s.nextIndex != 0 else 32w3
        } select p.hdr.s.nextIndex == 1 ? p.hdr.s[0].a : p.hdr.s.nextIndex == 2 ? p.hdr.s[1].a : p.hdr.s.nextIndex == 3 ? p.hdr.s[2].a : 0 {
          1 -> p.start
          otherwise -> p.end
        }

        node p.end: buffer {
          drop "end of p"
        }
    "#]].assert_eq(&parser(
        "parser p(packet_in p, out hs_t hdr, inout m_t m) {
            state start { p.extract(hdr.s.next); transition select(hdr.s.last.a) { 1: start; default: accept; } } }",
    ));
}

#[test]
fn sets_of_keys() {
    expect![[r#"
        node p.start: state of p {
          extract p.hdr.h
        } select p.hdr.h.a, p.hdr.h.b, bit(p.hdr.h.a == p.m.x) {
          1, _, _ -> p.end
          2..5, 128 &&& 0xf0, _ -> p.next
          _, 3, 1 -> p.next
        }

        node p.next: state of p {} -> p.end

        node p.end: buffer {
          drop "end of p"
        }
    "#]]
    .assert_eq(&parser(
        "parser p(packet_in p, out hs_t hdr, inout m_t m) {
            state start { p.extract(hdr.h);
                transition select(hdr.h.a, hdr.h.b) { (1, _): accept; (2 .. 5, 0x80 &&& 0xF0): next; (m.x, 3): next; } }
            state next { transition accept; } }",
    ));
}

#[test]
fn a_parser_within_a_parser_is_inlined() {
    expect![[r#"
        node p.start: state of p { invalidate p.hdr.h } -> p.i.start

        node p.i.start: state of p { extract p.hdr.h } -> p.after_19

        node p.after_19: state of p { p.m.x = p.hdr.h.a } -> p.end

        node p.end: buffer {
          drop "end of p"
        }
    "#]]
    .assert_eq(&parser(
        "parser inner(packet_in p, out h_t h) { state start { p.extract(h); transition accept; } }
        parser p(packet_in p, out hs_t hdr, inout m_t m) {
            inner() i;
            state start { i.apply(p, hdr.h); m.x = hdr.h.a; transition accept; } }",
    ));
}

#[test]
fn lookahead_leaves_the_cursor() {
    expect![[r#"
        node p.start: state of p {
          lookahead p.lookahead_17
          lookahead p.lookahead_17_2 at 8
          validate p.peek
          p.peek.a = p.lookahead_17
          p.peek.b = p.lookahead_17_2
          p.m.x = p.peek.b
          verify p.peek.a == 1 else 32w2
        } -> p.end

        node p.end: buffer {
          drop "end of p"
        }
    "#]].assert_eq(&parser(
        "parser p(packet_in p, out hs_t hdr, inout m_t m) {
            state start { h_t peek = p.lookahead<h_t>(); m.x = peek.b; verify(peek.a == 1, error.NoMatch); transition accept; } }",
    ));
}
