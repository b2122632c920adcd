//! Random programs with entries and packets, the same for the same seed.
//!
//! Programs are valid by construction, and read nothing that neither the specification nor docs/language.md defines: reads of headers that may
//! be invalid are read under `isValid()`. What slips through the evaluator notes, and the driver leaves out.

// A question about a type or a name concerns a few of many variants.
#![allow(clippy::wildcard_enum_match_arm)]

mod code;
mod control_texts;
mod controls;
mod entangled;
mod expressions;
mod forms;
mod function_texts;
mod parser_forms;
mod parsers;
mod pna;
mod pna_texts;
mod psa;
mod psa_texts;
mod random;
mod statements;
mod tests;
mod types;
mod v1model_texts;

use crate::architecture::Architecture;
use code::{Applied, Function, Mode, Parameter};
use controls::Filled;
pub(crate) use random::Random;
use statements::indented;
use types::{Kind, Ty, Types, Variable};

/// A program and what runs on it.
pub struct Case {
    pub seed: u64,
    pub architecture: Architecture,
    pub program: String,
    /// Lines of STF, without expectations.
    pub lines: Vec<String>,
}

/// Headers of the controller's packets: no other packet has them.
const CONTROLLER: &str = "struct way_t { bit<9> port; bit<5> queue; }
@controller_header(\"packet_in\") header packet_in_t { bit<9> port; bit<7> reason; }
@controller_header(\"packet_out\") header packet_out_t { way_t way; bit<2> pad; }
";

/// What a control holds that the control plane fills.
struct Contents {
    control: String,
    tables: Vec<Filled>,
    /// Instances and their controls.
    children: Vec<(String, String)>,
}

/// Words of C, of its library, of DPDK and of the runtime, for which P4 and its architectures have no use: a program may call anything so.
const WORDS_OF_C: [&str; 18] = [
    "NULL",
    "SIZE_MAX",
    "INT8_MAX",
    "TABLE_OK",
    "free",
    "goto",
    "int32_t",
    "linux",
    "memcpy",
    "nullptr",
    "packet_length",
    "qsort",
    "records_add",
    "rte_errno",
    "signed",
    "size_t",
    "strlen",
    "unsigned",
];

/// In how many of a hundred cases a name is a word of C.
const PERCENT_WORDS: usize = 5;

pub struct Generator {
    architecture: Architecture,
    random: Random,
    types: Types,
    /// Types of numbers in use: few, so that arguments fit parameters.
    numbers: Vec<Ty>,
    functions: Vec<Function>,
    subcontrols: Vec<Applied>,
    contents: Vec<Contents>,
    /// Value sets and the widths of their parts.
    value_sets: Vec<(String, Vec<usize>)>,
    /// Functions of forms that nothing calls yet, and their parameters beside the first.
    forms: Vec<(String, &'static [(&'static str, &'static str)])>,
    /// Declarations of forms that come before the control being made.
    before: String,
    /// Lines of STF that forms bring along.
    form_lines: Vec<String>,
    /// What the parser being made selects by to distinguish a packet's paths.
    path_subject: (&'static str, [&'static str; 2]),
    names: usize,
    /// Words of C that are no names yet, and by what one is drawn: all else is the same without them.
    words: (Vec<&'static str>, Random),
}

pub fn generate(seed: u64) -> Case {
    let architecture = Architecture::of_seed(seed);
    let mut generator = Generator {
        architecture,
        random: Random::new(seed),
        types: Types { declared: Vec::new() },
        numbers: Vec::new(),
        functions: Vec::new(),
        subcontrols: Vec::new(),
        contents: Vec::new(),
        value_sets: Vec::new(),
        forms: Vec::new(),
        before: String::new(),
        form_lines: Vec::new(),
        path_subject: ("", ["", ""]),
        names: 0,
        words: (WORDS_OF_C.to_vec(), Random::new(!seed)),
    };
    let program = generator.program();
    let mut lines = generator.lines();
    let first = lines.iter().position(|line| line.starts_with("packet ")).unwrap_or(0);
    lines.splice(first..first, tests::sessions(architecture, seed));
    Case { seed, architecture, program, lines }
}

impl Generator {
    fn fresh(&mut self, kind: &str) -> String {
        self.names += 1;
        let (words, random) = &mut self.words;
        if !words.is_empty() && random.chance(PERCENT_WORDS) {
            return words.swap_remove(random.below(words.len())).to_string();
        }
        format!("{kind}{}", self.names)
    }

    /// A type that expressions compute.
    fn scalar(&mut self) -> Ty {
        match self.random.below(10) {
            0 => Ty::Bool,
            1 => self.random.pick(&[Ty::Error, Ty::Enum, Ty::Serial]).clone(),
            // Few types are frequent, so that variables fit parameters.
            2..=6 => self.random.pick(&self.numbers[..3]).clone(),
            _ => self.random.pick(&self.numbers.clone()).clone(),
        }
    }

    /// A structure, header, union, stack or array that the program's headers or metadata hold.
    fn composite(&mut self) -> Ty {
        let item = self.types.named("item_t");
        match self.random.below(9) {
            8 => Ty::Tuple(vec![self.numbers[0].clone(), Ty::Bool, self.numbers[2].clone()]),
            0 | 1 => self.types.named("inner_t"),
            2 => self.types.named("one_t"),
            3 => self.types.named("two_t"),
            4 => item,
            5 => Ty::Array(Box::new(item), 3),
            6 => Ty::Array(Box::new(self.numbers[0].clone()), 4),
            _ => self.types.named("either_t"),
        }
    }

    fn choose_numbers(&mut self) {
        self.numbers = vec![Ty::Bits(8), Ty::Bits(16), Ty::Int(8)];
        for _ in 0..2 {
            let width = match self.random.below(6) {
                0 => self.random.between(60, 70),
                1 => self.random.between(120, 130),
                _ => self.random.between(1, 48),
            };
            self.numbers.push(Ty::Bits(width));
        }
        let width = *self.random.pick(&[2, 5, 16, 31, 32, 33, 64, 65, 100]);
        self.numbers.push(Ty::Int(width));
    }

    /// Fields of random types, filled up to whole bytes.
    fn header_fields(&mut self, first: Vec<(String, Ty)>, most: usize) -> Vec<(String, Ty)> {
        let mut fields = first;
        for _ in 0..self.random.between(1, most) {
            let ty = match self.random.below(8) {
                0 => Ty::Bool,
                1 => Ty::Serial,
                _ => self.random.pick(&self.numbers.clone()).clone(),
            };
            fields.push((self.fresh("f"), ty));
        }
        self.pad(fields)
    }

    fn pad(&mut self, mut fields: Vec<(String, Ty)>) -> Vec<(String, Ty)> {
        let width: usize = fields.iter().map(|(_, ty)| self.types.width(ty)).sum();
        if !width.is_multiple_of(8) || width == 0 {
            fields.push((self.fresh("pad"), Ty::Bits(8 - width % 8)));
        }
        fields
    }

    fn declare_types(&mut self) {
        let number = self.numbers[0].clone();
        let select = vec![("k".to_string(), Ty::Bits(8)), ("l".to_string(), Ty::Bits(8))];
        let base = self.header_fields(select, 4);
        let base = self.types.add("base_t", Kind::Header, base);
        let one = self.header_fields(Vec::new(), 3);
        let one = self.types.add("one_t", Kind::Header, one);
        let two = self.header_fields(Vec::new(), 3);
        let two = self.types.add("two_t", Kind::Header, two);
        let item = self.header_fields(vec![("k".to_string(), Ty::Bits(8))], 1);
        let item = self.types.add("item_t", Kind::Header, item);
        let either = vec![("one".to_string(), one.clone()), ("item".to_string(), item.clone())];
        let either = self.types.add("either_t", Kind::Union, either);
        let long = vec![("n".to_string(), Ty::Bits(8)), ("data".to_string(), Ty::Varbit(64))];
        let long = self.types.add("long_t", Kind::Header, long);
        let inner = (0..3).map(|at| (format!("x{at}"), self.scalar())).collect();
        let inner = self.types.add("inner_t", Kind::Struct, inner);
        let mut meta: Vec<(String, Ty)> =
            self.numbers.clone().into_iter().enumerate().map(|(at, ty)| (format!("m{at}"), ty)).collect();
        meta.push(("flag".into(), Ty::Bool));
        meta.push(("err".into(), Ty::Error));
        meta.push(("colour".into(), Ty::Enum));
        meta.push(("inner".into(), inner.clone()));
        meta.push(("other".into(), inner));
        meta.push(("array".into(), Ty::Array(Box::new(number), 4)));
        meta.push(("kept".into(), one.clone()));
        let meta = self.types.add("meta_t", Kind::Struct, meta);
        let seen = self.seen(&meta).into_iter().map(|(name, ty, _)| (name, ty)).collect();
        let seen = self.pad(seen);
        let seen = self.types.add("seen_t", Kind::Header, seen);
        let stack = |size| Ty::Array(Box::new(item.clone()), size);
        let fields = [
            ("base", base),
            ("one", one),
            ("two", two),
            ("items", stack(3)),
            ("steady", stack(4)),
            ("either", either),
            ("long", long),
            ("seen", seen),
        ];
        let fields = fields.into_iter().map(|(name, ty)| (name.to_string(), ty)).collect();
        self.types.add("headers_t", Kind::Struct, fields);
    }

    /// What egress shows of the metadata: a field of `seen_t`, its type, and its value.
    fn seen(&self, meta: &Ty) -> Vec<(String, Ty, String)> {
        let variable = Variable { text: "meta".into(), ty: meta.clone(), writable: true, solid: false };
        let mut parts = Vec::new();
        self.types.parts(&variable, &mut parts);
        let mut seen = Vec::new();
        for part in parts.iter().filter(|part| part.guard.is_none() && !part.text.contains('@')) {
            let value = match &part.ty {
                Ty::Bool | Ty::Bits(_) | Ty::Int(_) | Ty::Serial => (part.ty.clone(), part.text.clone()),
                Ty::Error => (Ty::Bool, format!("{} == error.Odd", part.text)),
                Ty::Enum => (Ty::Bool, format!("{} == colour_t.Green", part.text)),
                Ty::Varbit(_) | Ty::Named(_) | Ty::Array(..) | Ty::Tuple(_) => continue,
            };
            seen.push((format!("s{}", seen.len()), value.0, value.1));
        }
        seen
    }

    /// The parts of `hdr` that code works on. `base` and the elements of `steady` are always valid.
    fn header_variables(&self, writable: bool) -> Vec<Variable> {
        let fields = self.types.fields(&self.types.named("headers_t")).to_vec();
        let kept = fields.into_iter().filter(|(name, _)| name != "seen");
        kept.map(|(name, ty)| Variable {
            solid: name == "base" || name == "steady",
            text: format!("hdr.{name}"),
            ty,
            writable,
        })
        .collect()
    }

    fn program(&mut self) -> String {
        self.choose_numbers();
        self.declare_types();
        let mut text = self.types.declarations();
        text.push_str(&self.constants());
        text.push_str(parser_forms::DECLARED);
        text.push_str(&self.mixing_functions());
        for _ in 0..2 {
            text.push_str(&self.function_form());
        }
        for _ in 0..self.random.between(3, 6) {
            text.push_str(&self.function());
        }
        text + &match self.architecture {
            Architecture::V1model => self.v1model_program(),
            Architecture::Psa => self.psa_program(),
            Architecture::Pna => self.pna_program(),
        }
    }

    fn v1model_program(&mut self) -> String {
        let mut text = self.parsers(parsers::Head::of_v1model());
        for depth in 0..self.random.below(3) {
            text.push_str(&self.subcontrol(depth));
        }
        text.push_str(&self.checksums("V"));
        for name in ["I", "E"] {
            let standard = Ty::Bits(9);
            let mut variables = self.header_variables(true);
            let meta = self.types.named("meta_t");
            variables.push(Variable { text: "meta".into(), ty: meta.clone(), writable: true, solid: false });
            variables.push(Variable { text: "std.ingress_port".into(), ty: standard, writable: false, solid: false });
            variables.push(Variable { text: "std.parser_error".into(), ty: Ty::Error, writable: false, solid: false });
            let headers = self.types.named("headers_t");
            let parameter = |name: &str, ty: &Ty| Parameter { mode: Mode::InOut, ty: ty.clone(), name: name.into() };
            let parameters = [parameter("hdr", &headers), parameter("meta", &meta)];
            let depth = if name == "I" { 2 } else { 0 };
            let control = self.control(name, &parameters, variables, depth);
            text.push_str(&std::mem::take(&mut self.before));
            text.push_str(&control.replacen(") {", ", inout standard_metadata_t std) {", 1));
        }
        text.push_str(&self.checksums("C"));
        text.push_str(&self.deparser());
        text + "V1Switch(P(), V(), I(), E(), C(), D()) main;\n"
    }

    fn checksums(&mut self, name: &str) -> String {
        let calls = self.checksum_calls(name == "V");
        format!("control {name}(inout headers_t hdr, inout meta_t meta) {{\n    apply {{\n{calls}    }}\n}}\n")
    }

    /// Constants of the program, one without a width.
    fn constants(&mut self) -> String {
        let mut text = CONTROLLER.to_string();
        text.push_str(&format!("const int COUNT = {};\n", self.random.between(3, 40)));
        for (at, ty) in self.numbers.clone().iter().enumerate().take(4) {
            text.push_str(&format!("const {} FIXED{at} = {};\n", self.types.text(ty), self.literal(ty)));
        }
        text
    }

    /// What the apply block of a control begins with: ingress chooses a port, egress shows the metadata.
    fn prologue(&mut self, control: &str) -> String {
        match control {
            "I" if self.architecture == Architecture::Psa => self.psa_ingress_prologue(),
            "I" if self.architecture == Architecture::Pna => self.pna_prologue(),
            "I" => {
                let port = self.random.between(1, 7);
                let mut text = indented(2, &format!("std.egress_spec = {port};"));
                if self.random.chance(15) {
                    text.push_str(&indented(2, "if (hdr.base.l == 3) { mark_to_drop(std); }"));
                }
                text
            }
            "E" => {
                let mut text = indented(2, "hdr.seen.setValid();");
                for (name, _, value) in self.seen(&self.types.named("meta_t")) {
                    text.push_str(&indented(2, &format!("hdr.seen.{name} = {value};")));
                }
                if self.architecture == Architecture::Psa {
                    text.push_str(&self.psa_egress_prologue());
                }
                text
            }
            _ => String::new(),
        }
    }

    fn deparser(&mut self) -> String {
        let lines = self.emissions();
        format!("control D(packet_out pkt, in headers_t hdr) {{\n    apply {{\n{lines}    }}\n}}\n")
    }

    /// Emits headers in some order, some in a branch or a loop.
    fn emissions(&mut self) -> String {
        let mut lines: Vec<String> = ["base", "one", "two", "either", "long", "seen"]
            .iter()
            .map(|name| format!("pkt.emit(hdr.{name});"))
            .collect();
        let whole = "pkt.emit(hdr.items);".to_string();
        let choice = self.random.below(3);
        lines.push(match choice {
            0 => whole,
            1 => "for (bit<8> i in 0 .. 2) { pkt.emit(hdr.items[i]); }".into(),
            _ => "if (hdr.base.k[0:0] == 1) { pkt.emit(hdr.items); } else { pkt.emit(hdr.items[1]); }".into(),
        });
        lines.push("pkt.emit(hdr.steady);".into());
        self.random.shuffle(&mut lines);
        if self.random.chance(25) {
            lines = vec!["pkt.emit(hdr);".into()];
        }
        lines.iter().map(|line| indented(2, line)).collect()
    }
}

#[cfg(test)]
mod names {
    use super::*;

    #[test]
    fn names_are_words_of_c_now_and_then() {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let words = |program: &str| {
            let words = program.split(|letter| !is_name(letter)).filter(|word| WORDS_OF_C.contains(word));
            words.map(str::to_string).collect::<std::collections::BTreeSet<String>>()
        };
        let drawn: Vec<_> = (0..60).map(|seed| words(&generate(seed).program)).collect();
        assert!(drawn.iter().filter(|words| !words.is_empty()).count() > 40);
        let all: std::collections::BTreeSet<&String> = drawn.iter().flatten().collect();
        assert_eq!(all.len(), WORDS_OF_C.len(), "{all:?}");
    }
}
