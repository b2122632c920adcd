//! Random programs and plans, made from a list of choices, so that what shrinks the list shrinks the program.
//!
//! An orderly program is one that the verifier finds right. A wild one is any value of the types: names that repeat, numbers that point
//! nowhere, operands of different widths.

mod expression;
mod interface;
mod node;
mod plan;
mod program;
mod statement;

use hlir::notes::{Annotation, AnnotationBody, AnnotationValue};
use hlir::{Notes, Origin, Program};
use num_bigint::BigUint;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manners {
    Orderly,
    Wild,
}

pub struct Generator<'c> {
    choices: &'c [u32],
    manners: Manners,
    program: Program,
    names: u32,
}

const NAMES: [&str; 24] = [
    "hdr.ipv4",
    "x",
    "labels[2]",
    "exit",
    "in.port",
    "a b",
    "`",
    "",
    "line\nbreak",
    "é",
    "true",
    "table",
    "#v0",
    "_",
    "hit",
    "9",
    "x[3:0]",
    "from",
    "payload",
    "field",
    "$valid$",
    "a.b.0",
    "\\",
    "action",
];

const TEXTS: [&str; 8] =
    ["", "no route", "\"quoted\" \\ and `so`", "tab\tbreak\n", "é\u{7}", "// no comment", "{}", "}"];

const WIDTHS: [u32; 14] = [0, 1, 1, 4, 8, 8, 9, 13, 16, 32, 32, 48, 64, 128];

impl<'c> Generator<'c> {
    pub fn new(choices: &'c [u32], manners: Manners) -> Generator<'c> {
        Generator { choices, manners, program: Program::default(), names: 0 }
    }

    /// A number below `count`; 0 when there are no more choices.
    fn below(&mut self, count: usize) -> usize {
        let Some((first, rest)) = self.choices.split_first() else { return 0 };
        self.choices = rest;
        *first as usize % count.max(1)
    }

    /// True once in `count` times.
    fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    fn is_wild(&self) -> bool {
        self.manners == Manners::Wild
    }

    /// Wild programs break a rule now and then.
    fn breaks_rule(&mut self) -> bool {
        self.is_wild() && self.once_in(12)
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.once_in(2) { Some(make(self)) } else { None }
    }

    fn several<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.below(most + 1);
        (0..count).map(|_| make(self)).collect()
    }

    /// A name that nothing else has, in orderly programs.
    fn name(&mut self) -> String {
        let base = if self.once_in(4) { self.pick(&NAMES) } else { self.pick(&["meta.", "hdr.", "ingress.", "t"]) };
        if self.is_wild() && self.once_in(3) {
            return base.to_string();
        }
        self.names += 1;
        format!("{base}{}", self.names)
    }

    fn text(&mut self) -> String {
        self.pick(&TEXTS).to_string()
    }

    fn width(&mut self) -> u32 {
        self.pick(&WIDTHS)
    }

    fn number(&mut self) -> u32 {
        match self.below(3) {
            0 => self.below(10) as u32,
            1 => self.below(usize::MAX) as u32,
            _ => u32::MAX,
        }
    }

    /// A value below `2^width`.
    fn value(&mut self, width: u32) -> BigUint {
        let words = width.div_ceil(32) as usize;
        let all = match self.below(4) {
            0 => BigUint::ZERO,
            1 => BigUint::from(self.below(12)),
            2 => (BigUint::from(1u32) << width) - 1u32,
            _ => BigUint::new((0..words).map(|_| self.below(usize::MAX) as u32).collect()),
        };
        all % (BigUint::from(1u32) << width)
    }

    fn notes(&mut self) -> Notes {
        if !self.once_in(4) {
            return Notes::default();
        }
        let origin = self.some(|it| Origin {
            file: it
                .pick(&["a.p4", "/usr/include/v1model.p4", "my file.p4", "", "a:b", "/x/a.p4", "dir/", "b/my file.p4"])
                .to_string(),
            line: it.below(2) as u32,
            column: it.number(),
            end_line: it.below(2) as u32,
            end_column: it.number(),
        });
        let annotations = self.several(2, |it| {
            let bodies = ["", "\"ingress.x\"", "a, (b), \")\"", "a)", "(", "two\nlines", "\"", "\\"];
            let name = it.pick(&["name", "odd name", "p4runtime", "brief", "a[1]"]).to_string();
            let body = match it.below(4) {
                0 => AnnotationBody::None,
                1 => AnnotationBody::Values(it.several(2, Self::annotation_value)),
                2 => AnnotationBody::Pairs(vec![(it.name(), it.annotation_value())]),
                _ => AnnotationBody::Text(it.pick(&bodies).to_string()),
            };
            Annotation { name, body }
        });
        let docs = self.pick(&["", "One line.", "Two\nlines", "\n", " indented\n\n/// so", "end\r"]).to_string();
        Notes { origin, annotations, docs }
    }

    fn annotation_value(&mut self) -> AnnotationValue {
        match self.below(3) {
            0 => AnnotationValue::Bool(self.once_in(2)),
            1 => AnnotationValue::Text(self.text()),
            _ => AnnotationValue::Number(i64::from(self.number() as i32).into()),
        }
    }
}
