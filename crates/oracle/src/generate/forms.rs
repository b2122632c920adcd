//! Forms of the language that random statements seldom or never take, each written out once and put into programs with numbers that vary.
//!
//! In a text `#n` is a number of its own for each use, `#d` one from 10 to 200, and `#s` one from 1 to 7.

use super::Generator;
use super::code::{Function, Mode, Parameter};
use super::control_texts::{CONTROLS, InControl, Place};
use super::function_texts::FUNCTIONS;
use super::statements::indented;
use super::types::Ty;
use super::v1model_texts::CHECKSUMS;
use super::{pna_texts, psa_texts, v1model_texts};
use crate::architecture::Architecture;

/// What a control gets of its forms.
#[derive(Default)]
pub struct Inserted {
    /// Declarations before the control.
    pub before: String,
    pub locals: String,
    pub statements: String,
}

impl Generator {
    /// A form with its numbers.
    pub fn filled(&mut self, text: &str) -> String {
        self.names += 1;
        let own = self.names.to_string();
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('#') {
            out.push_str(&rest[..at]);
            match rest.as_bytes().get(at + 1) {
                Some(b'n') => out.push_str(&own),
                Some(b'd') => out.push_str(&self.random.between(10, 200).to_string()),
                Some(b's') => out.push_str(&self.random.between(1, 7).to_string()),
                // An invalid header: `{#}`.
                _ => {
                    out.push('#');
                    rest = &rest[at + 1..];
                    continue;
                }
            }
            rest = &rest[at + 2..];
        }
        out + rest
    }

    /// A function `bit<8> form#n(in bit<8> x, ...)` that random code calls, too.
    pub fn function_form(&mut self) -> String {
        let (text, others) = *self.random.pick(FUNCTIONS);
        let text = self.filled(text);
        let name = format!("form{}", self.names);
        let mut parameters = vec![Parameter { mode: Mode::In, ty: Ty::Bits(8), name: "x".into() }];
        for (parameter, of) in others {
            let item = self.types.named("item_t");
            let ty = match *of {
                "items" => Ty::Array(Box::new(item), 3),
                named => self.types.named(named),
            };
            parameters.push(Parameter { mode: Mode::InOut, ty, name: (*parameter).into() });
        }
        self.forms.push((name.clone(), others));
        self.functions.push(Function { name, returns: Some(Ty::Bits(8)), parameters });
        text
    }

    /// Calls of the functions above on what the program's headers hold, so that each is lowered.
    fn form_calls(&mut self) -> String {
        let mut text = String::new();
        for (name, others) in std::mem::take(&mut self.forms) {
            let given: String = others
                .iter()
                .map(|(_, of)| match *of {
                    "items" => ", hdr.items".to_string(),
                    "long_t" => ", hdr.long".to_string(),
                    _ => ", hdr.either".to_string(),
                })
                .collect();
            let target = *self.random.pick(&["meta.m0", "meta.array[1]", "hdr.base.l"]);
            let value = *self.random.pick(&["meta.m0", "hdr.base.k", "hdr.base.l"]);
            text.push_str(&indented(2, &format!("{target} = {name}({value}{given});")));
        }
        text
    }

    /// Forms of declarations and statements of ingress or egress.
    pub fn control_forms(&mut self, control: &str) -> Inserted {
        let mut inserted = Inserted::default();
        let fits = |form: &&InControl| match form.place {
            Place::Any => true,
            Place::Ingress => control == "I",
            Place::Egress => control == "E",
        };
        let own = match self.architecture {
            Architecture::V1model => v1model_texts::CONTROLS,
            Architecture::Psa => psa_texts::CONTROLS,
            Architecture::Pna => pna_texts::CONTROLS,
        };
        let known: Vec<&InControl> = CONTROLS.iter().chain(own).filter(fits).collect();
        for _ in 0..2 {
            let form = *self.random.pick(&known);
            let text = self.filled(&[form.before, form.locals, form.statements, form.lines].join("\u{1}"));
            let mut parts = text.split('\u{1}').map(str::to_string);
            let mut next = || parts.next().unwrap_or_default();
            inserted.before.push_str(&next());
            inserted.locals.push_str(&next());
            inserted.statements.push_str(&next());
            self.form_lines.extend(next().lines().map(|line| line.replace("#c", control)));
        }
        if control == "I" {
            inserted.statements.push_str(&self.form_calls());
        }
        inserted
    }

    /// The calls in a control of checksums: those that verify come first in the table.
    pub fn checksum_calls(&mut self, verifies: bool) -> String {
        let known: Vec<&str> =
            CHECKSUMS.iter().copied().filter(|text| text.trim_start().starts_with("verify") == verifies).collect();
        if self.random.chance(60) {
            return String::new();
        }
        let text = *self.random.pick(&known);
        self.filled(text)
    }
}
