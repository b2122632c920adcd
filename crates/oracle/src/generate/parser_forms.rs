//! Forms of states and transitions that are written out: looking ahead at structures, values left out, sets of several parts.

use super::Generator;
use super::statements::indented;
use crate::architecture::Architecture;

/// Types of which these forms make use.
pub const DECLARED: &str = "struct look_t {
    bit<4> a;
    int<4> b;
    bit<8> c;
}
struct part_t {
    bit<4> a;
    int<8> b;
}
struct set_t {
    @match(ternary) bit<8> a;
    @match(exact) bit<4> b;
}
";

const STATEMENTS: [&str; 6] = [
    "look_t w#n = pkt.lookahead<look_t>();\n        local = w#n.c ^ (bit<8>) (bit<4>) w#n.b;",
    "pkt.extract<item_t>(_);",
    "local = pkt.lookahead<item_t>().k + pkt.lookahead<tuple<bit<8>, bit<8>>>()[1];",
    "verify(hdr.base.k != #s, error.Odd);\n        verify(local < #d || meta.flag, error.NoMatch);",
    "local = (bit<8>) pkt.length() + #s;",
    "pkt.extract(hdr.items.next);\n        local = (bit<8>) hdr.items.lastIndex;",
];

/// Of parsers that have an `InternetChecksum`, which begins anew each time the parser is applied.
const SUMS: [&str; 3] = [
    "sum.add({ hdr.base.k, local });\n        local = sum.get()[7:0];",
    "sum.add(16w#d);\n        sum.subtract({ hdr.base.l, hdr.base.k });\n        meta.m1 = sum.get_state();",
    "sum.clear();\n        sum.set_state(meta.m1);\n        sum.add({ local, 8w#s, meta.m1 });\n        meta.m0 = sum.get()[15:8];",
];

/// A subject and some of its sets.
const SELECTS: [(&str, &[&str]); 5] = [
    ("(int<8>) hdr.base.k", &["-3 .. #s", "8s7", "(int<8>) hdr.base.l .. 8s100", "-8s20 &&& 8s15"]),
    ("{ hdr.base.k, meta.flag }, hdr.base.l[3:0]", &["({ #s, true }, _)", "({ #d, false }, 1 .. 7)", "_"]),
    ("(level_t) hdr.base.k, local", &["(level_t.Low, _)", "(level_t.High, #d)", "(_, #s)"]),
    ("hdr.base.k, hdr.base.l", &["(hdr.base.l, _)", "(_, local .. 8w200)", "(local &&& hdr.base.l, #s)"]),
    ("meta.err, meta.colour", &["(error.Odd, _)", "(error.NoError, colour_t.Red)", "(_, colour_t.Blue)"]),
];

impl Generator {
    pub fn statement_form(&mut self) -> String {
        let has_sum = self.architecture != Architecture::V1model;
        let known = if has_sum && self.random.chance(40) { &SUMS[..] } else { &STATEMENTS[..] };
        let text = *self.random.pick(known);
        let text = self.filled(text);
        indented(2, &text)
    }

    pub fn select_form(&mut self, from: usize, states: usize, has_pairs: bool) -> String {
        if has_pairs && self.random.chance(40) {
            let mut text = indented(2, "transition select(hdr.base.k, hdr.base.l[3:0]) {");
            text.push_str(&indented(3, &format!("pairs : {};", self.target(from, states))));
            text.push_str(&indented(3, &format!("default : {};", self.target(from, states))));
            return text + &indented(2, "}");
        }
        let (subject, sets) = *self.random.pick(&SELECTS);
        let mut text = indented(2, &format!("transition select({subject}) {{"));
        for set in sets {
            let set = self.filled(set);
            text.push_str(&indented(3, &format!("{set} : {};", self.target(from, states))));
        }
        if self.random.chance(70) {
            text.push_str(&indented(3, &format!("default : {};", self.target(from, states))));
        }
        text + &indented(2, "}")
    }
}
