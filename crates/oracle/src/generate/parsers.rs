//! Random parsers: states in a row, a loop over a stack, a parser within the parser, errors, value sets.

use super::Generator;
use super::code::{Mode, Parameter, Place};
use super::random::hex;
use super::statements::indented;
use super::types::{Ty, Variable};
use crate::architecture::Architecture;

/// What is particular to a parser of an architecture.
pub struct Head {
    pub name: &'static str,
    /// Behind the packet, the headers and the metadata, without the direction of the first.
    pub parameters: String,
    pub locals: &'static str,
    /// What a packet has of its path here, which another pass through the parser may see otherwise.
    pub variables: Vec<(&'static str, Ty)>,
    /// States before `begin`; if there are none, the first one is `start`.
    pub start: String,
    /// A subject that distinguishes these paths, and its sets.
    pub path: (&'static str, [&'static str; 2]),
}

impl Head {
    pub fn of_v1model() -> Head {
        Head {
            name: "P",
            parameters: "standard_metadata_t std".into(),
            locals: "",
            variables: vec![("std.ingress_port", Ty::Bits(9)), ("std.instance_type", Ty::Bits(32))],
            start: String::new(),
            path: ("std.instance_type, meta.m1", ["(1 .. 4, _)", "(_, 0)"]),
        }
    }
}

impl Generator {
    pub fn parsers(&mut self, head: Head) -> String {
        let nested = self.random.chance(60);
        let mut text = String::new();
        let mut extra = None;
        if nested {
            let (declared, parameter) = self.inner_parser(head.name);
            text.push_str(&declared);
            extra = Some(parameter);
        }
        let direction = if self.architecture == Architecture::V1model { "inout" } else { "in" };
        text.push_str(&format!(
            "parser {}(packet_in pkt, out headers_t hdr, inout meta_t meta, {direction} {}) {{\n{}",
            head.name, head.parameters, head.locals
        ));
        if nested {
            text.push_str(&format!("    {}Inner() inner;\n", head.name));
        }
        let has_set = self.random.chance(50);
        if has_set {
            text.push_str("    value_set<bit<8>>(4) chosen;\n    value_set<set_t>(4) pairs;\n");
            self.value_sets.push((format!("{}.chosen", head.name), vec![8]));
            self.value_sets.push((format!("{}.pairs", head.name), vec![8, 4]));
        }
        let local = Ty::Bits(8);
        text.push_str("    bit<8> local = 1;\n");
        let mut variables = self.header_variables(true);
        let meta = self.types.named("meta_t");
        variables.push(Variable { text: "meta".into(), ty: meta, writable: true, solid: false });
        variables.push(Variable { text: "local".into(), ty: local, writable: true, solid: false });
        for (text, ty) in head.variables {
            variables.push(Variable { text: text.into(), ty, writable: false, solid: false });
        }
        self.path_subject = head.path;
        let states = self.random.between(2, 5);
        text.push_str(&head.start);
        let first = if head.start.is_empty() { "start" } else { "begin" };
        text.push_str(&self.start(first, &variables, states, has_set));
        for at in 0..states {
            text.push_str(&self.state(at, states, &variables, (has_set, extra.as_ref())));
        }
        text + "}\n"
    }

    fn start(&mut self, name: &str, variables: &[Variable], states: usize, has_set: bool) -> String {
        let mut text = indented(1, &format!("state {name} {{")) + &indented(2, "pkt.extract(hdr.base);");
        for at in 0..4 {
            text.push_str(&indented(2, &format!("hdr.steady[{at}].setValid();")));
        }
        text.push_str(&indented(2, "hdr.steady[1].k = hdr.base.l;"));
        text.push_str(&self.parser_statements(variables, 2));
        text.push_str(&self.transition(0, states, has_set, "hdr.base.k"));
        text + &indented(1, "}")
    }

    fn parser_statements(&mut self, variables: &[Variable], most: usize) -> String {
        let mut code = self.code(Place::Parser, variables.to_vec(), most);
        // In a parser `exit` and loops are not allowed, and headers are made valid by extraction.
        self.statements(&mut code, most, 2)
    }

    fn state(
        &mut self,
        at: usize,
        states: usize,
        variables: &[Variable],
        (has_set, extra): (bool, Option<&Parameter>),
    ) -> String {
        let mut text = indented(1, &format!("state s{at} {{"));
        let mut subject = "hdr.base.l";
        match self.random.below(10) {
            0 if self.random.chance(50) => {
                let width = self.random.between(1, 3);
                text.push_str(&indented(2, &format!("pkt.extract(hdr.items[hdr.base.l[{}:0]]);", width - 1)));
            }
            0 => text.push_str(&indented(2, "pkt.extract(hdr.one);")),
            1 => text.push_str(&indented(2, "pkt.extract(hdr.two);")),
            2 => {
                if self.random.chance(30) {
                    let method = *self.random.pick(&["push_front", "pop_front"]);
                    text.push_str(&indented(2, &format!("hdr.items.{method}({});", self.random.between(1, 2))));
                }
                text.push_str(&indented(2, "pkt.extract(hdr.items.next);"));
                subject = "hdr.items.last.k";
                if self.random.chance(60) {
                    text.push_str(&indented(2, "transition select(hdr.items.last.k) {"));
                    let mask = self.random.below(4);
                    text.push_str(&indented(3, &format!("{mask} &&& 3 : s{at};")));
                    text.push_str(&indented(3, &format!("default : {};", self.target(at + 1, states))));
                    return text + &indented(2, "}") + &indented(1, "}");
                }
            }
            3 => {
                text.push_str(&indented(2, &format!("pkt.extract(hdr.either.{});", self.random.pick(&["one", "item"]))))
            }
            4 => {
                let mask = *self.random.pick(&["0x18", "0x38", "0x78", "0x1f"]);
                let bits = format!("(bit<32>) (pkt.lookahead<bit<8>>() & {mask})");
                text.push_str(&indented(2, &format!("pkt.extract(hdr.long, {bits});")));
            }
            5 => {
                let bits = format!("(bit<32>) (hdr.base.l[{}:0] ++ 3w0)", self.random.between(0, 2));
                text.push_str(&indented(2, &format!("pkt.advance({bits});")));
            }
            7 | 8 => text.push_str(&self.statement_form()),
            6 => {
                if let Some(parameter) = extra {
                    text.push_str(&self.inner_call(parameter, variables));
                }
            }
            _ => {
                text.push_str(&indented(2, "local = pkt.lookahead<bit<8>>();"));
                subject = "local";
            }
        }
        text.push_str(&self.parser_statements(variables, 2));
        text.push_str(&self.transition(at + 1, states, has_set, subject));
        text + &indented(1, "}")
    }

    pub fn target(&mut self, from: usize, states: usize) -> String {
        match self.random.below(10) {
            0 => "accept".into(),
            1 if self.random.chance(30) => "reject".into(),
            _ if from < states => format!("s{}", self.random.between(from, states - 1)),
            _ => "accept".into(),
        }
    }

    fn transition(&mut self, from: usize, states: usize, has_set: bool, subject: &str) -> String {
        // A state that goes nowhere rejects.
        if from > 1 && self.random.chance(2) {
            return String::new();
        }
        if self.random.chance(30) {
            return indented(2, &format!("transition {};", self.target(from, states)));
        }
        if self.random.chance(12) {
            return self.by_value(from, states);
        }
        if self.random.chance(20) {
            return self.select_form(from, states, has_set);
        }
        let two = self.random.chance(35);
        let subjects = if two { format!("{subject}, hdr.base.k[3:0]") } else { subject.to_string() };
        let mut text = indented(2, &format!("transition select({subjects}) {{"));
        let mut used_set = false;
        for _ in 0..self.random.between(1, 4) {
            let first = match self.random.below(5) {
                0 if has_set && !used_set => {
                    used_set = true;
                    "chosen".to_string()
                }
                1 if self.random.chance(30) => {
                    let mask = self.sparse(8);
                    format!("hdr.base.l &&& {}", hex(&mask))
                }
                1 | 2 => {
                    let mask = self.sparse(8);
                    format!("{} &&& {}", hex(&self.random.bits(8)), hex(&mask))
                }
                3 => {
                    let (low, high) = self.ends(8);
                    format!("{} .. {}", hex(&low), hex(&high))
                }
                _ => hex(&self.random.bits(8)),
            };
            let set = if two {
                let second = if self.random.chance(50) { "_".into() } else { self.random.below(16).to_string() };
                format!("({first}, {second})")
            } else {
                first
            };
            text.push_str(&indented(3, &format!("{set} : {};", self.target(from, states))));
        }
        if self.random.chance(80) {
            text.push_str(&indented(3, &format!("default : {};", self.target(from, states))));
        }
        text + &indented(2, "}")
    }

    /// A select on a boolean, an enumeration or an error.
    fn by_value(&mut self, from: usize, states: usize) -> String {
        let (subject, sets) = match self.random.below(4) {
            3 => self.path_subject,
            0 => ("meta.flag", ["true", "false"]),
            1 => ("meta.colour", ["colour_t.Red", "colour_t.Blue"]),
            _ => ("hdr.base.k == hdr.base.l, meta.flag", ["(true, _)", "(_, true)"]),
        };
        let mut text = indented(2, &format!("transition select({subject}) {{"));
        for set in sets {
            text.push_str(&indented(3, &format!("{set} : {};", self.target(from, states))));
        }
        text.push_str(&indented(3, &format!("default : {};", self.target(from, states))));
        text + &indented(2, "}")
    }

    /// A parser that another one applies: it extracts a header of its own and changes an argument.
    fn inner_parser(&mut self, of: &str) -> (String, Parameter) {
        let parameter = Parameter { mode: Mode::InOut, ty: Ty::Bits(8), name: "seen".into() };
        let one = self.types.named("one_t");
        let mut variables = self.variables(std::slice::from_ref(&parameter));
        variables.push(Variable { text: "found".into(), ty: one, writable: true, solid: false });
        let mut text =
            format!("parser {of}Inner(packet_in pkt, out one_t found, inout bit<8> seen) {{\n    state start {{\n");
        text.push_str(&self.parser_statements(&variables, 2));
        text.push_str(&indented(2, "transition select(pkt.lookahead<bit<8>>()) {"));
        text.push_str(&indented(3, &format!("{} &&& 3 : more;", self.random.below(4))));
        text.push_str(&(indented(3, "default : accept;") + &indented(2, "}") + &indented(1, "}")));
        text.push_str(&(indented(1, "state more {") + &indented(2, "pkt.extract(found);")));
        text.push_str(&self.parser_statements(&variables, 2));
        text.push_str(&(indented(2, "transition accept;") + &indented(1, "}")));
        (text + "}\n", parameter)
    }

    fn inner_call(&mut self, parameter: &Parameter, variables: &[Variable]) -> String {
        let mut code = self.code(Place::Parser, variables.to_vec(), 1);
        let one = self.types.named("one_t");
        let header = self.l_value(&mut code, &one, false);
        let changed = self.l_value(&mut code, &parameter.ty, true);
        match (header, changed) {
            (Some(header), Some(changed)) => indented(2, &format!("inner.apply(pkt, {header}, {changed});")),
            _ => String::new(),
        }
    }
}
