//! Code as a row of atoms, in which that for one element and that for the next can be compared, and the element's number exchanged for a variable.

use super::Arrays;
use crate::c::{Expr, Stmt};
use std::collections::BTreeMap;

/// The smallest parts of code.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Atom {
    /// A name, or a sign, or what is around others: the same for every element.
    Fixed(String),
    Word(String),
    Number(u64),
}

/// A part that a statement or expression is made of, for reading and for exchanging.
enum Part<'p> {
    /// What it is, and numbers that C wants to know before the code runs.
    Shape(String),
    Text(&'p mut String),
    /// What is declared, perhaps an array of so many.
    Declared(&'p mut String),
    Value(&'p mut Expr),
}

/// Code, and what of it could be an element's number.
pub struct Rolled {
    atoms: Vec<Atom>,
    declared: Vec<String>,
    /// Whether it mentions an element of an array.
    concerns: bool,
}

/// How code for one element becomes that for the next: the numbers of atoms that grow, or shrink.
pub struct Alike {
    growing: Vec<usize>,
    shrinking: Vec<usize>,
}

impl Rolled {
    pub fn statement(statement: &Stmt, arrays: &Arrays) -> Rolled {
        let mut declared = Vec::new();
        names(statement, &mut declared);
        let mut copy = statement.clone();
        Rolled::of(declared, arrays, |visit| parts(&mut copy, visit))
    }

    pub fn value(value: &Expr, arrays: &Arrays) -> Rolled {
        let mut copy = value.clone();
        Rolled::of(Vec::new(), arrays, |visit| value_parts(&mut copy, visit))
    }

    fn of(declared: Vec<String>, arrays: &Arrays, walk: impl FnOnce(&mut dyn FnMut(Part))) -> Rolled {
        let mut atoms = Vec::new();
        walk(&mut |part| match part {
            Part::Shape(shape) => atoms.push(Atom::Fixed(shape)),
            Part::Text(text) => atoms.extend(tokens(text).into_iter().map(|token| token.atom())),
            Part::Declared(name) => atoms.extend(tokens(name).into_iter().map(|token| token.fixed())),
            Part::Value(Expr::Number { value, long: false }) => atoms.push(Atom::Number(*value)),
            Part::Value(value) => atoms.push(Atom::Fixed(format!("{value:?}"))),
        });
        let concerns = (0..atoms.len()).any(|place| is_element(&atoms, place, arrays));
        Rolled { atoms, declared, concerns }
    }
}

/// Whether an atom is the number of an array's element.
fn is_element(atoms: &[Atom], place: usize, arrays: &Arrays) -> bool {
    let Some(array) = place.checked_sub(2) else { return false };
    matches!(&atoms[place], Atom::Number(_))
        && matches!(&atoms[array + 1], Atom::Fixed(sign) if sign == "[")
        && matches!(&atoms[array], Atom::Word(word) if arrays.contains(word))
}

/// How the code for the second element differs from that for the first, if only by the element.
pub fn alike(first: &[Rolled], second: &[Rolled], arrays: &Arrays) -> Option<Alike> {
    if first.len() != second.len() || !first.iter().any(|code| code.concerns) {
        return None;
    }
    let mut found = Alike { growing: Vec::new(), shrinking: Vec::new() };
    let mut concerns = false;
    let mut place = 0;
    for (left, right) in first.iter().zip(second) {
        for at in 0..left.atoms.len() {
            if let (Atom::Number(one), Some(Atom::Number(other))) = (&left.atoms[at], right.atoms.get(at)) {
                match (other.checked_sub(*one), one.checked_sub(*other)) {
                    (Some(1), _) => found.growing.push(place + at),
                    (_, Some(1)) => found.shrinking.push(place + at),
                    _ => {}
                }
                concerns |= one != other && is_element(&left.atoms, at, arrays);
            }
        }
        place += left.atoms.len();
    }
    (concerns && found.holds(first, second, 1)).then_some(found)
}

impl Alike {
    /// Whether code for an element is that for the first one, moved on by so many.
    pub fn holds(&self, first: &[Rolled], other: &[Rolled], by: u64) -> bool {
        if first.len() != other.len() {
            return false;
        }
        let mut renamed: BTreeMap<&str, &str> = BTreeMap::new();
        for (left, right) in first.iter().zip(other) {
            if left.atoms.len() != right.atoms.len() || left.declared.len() != right.declared.len() {
                return false;
            }
            renamed
                .extend(left.declared.iter().zip(&right.declared).map(|(left, right)| (left.as_str(), right.as_str())));
        }
        let rights = other.iter().flat_map(|code| &code.atoms);
        first.iter().flat_map(|code| &code.atoms).zip(rights).enumerate().all(|(place, (left, right))| {
            match (left, right) {
                (Atom::Number(left), Atom::Number(right)) => self.moved(place, *left, by) == Some(*right),
                (Atom::Word(left), Atom::Word(right)) => renamed.get(left.as_str()).copied().unwrap_or(left) == right,
                (left, right) => left == right,
            }
        })
    }

    fn moved(&self, place: usize, number: u64, by: u64) -> Option<u64> {
        match (self.growing.binary_search(&place), self.shrinking.binary_search(&place)) {
            (Ok(_), _) => number.checked_add(by),
            (_, Ok(_)) => number.checked_sub(by),
            (Err(_), Err(_)) => Some(number),
        }
    }

    /// Statements for the first element as those for the element that is `variable` elements behind it.
    pub fn rewritten(&self, first: &[Stmt], variable: &str) -> Vec<Stmt> {
        let mut place = 0;
        let mut copies = first.to_vec();
        for copy in &mut copies {
            parts(copy, &mut |part| self.exchange(part, &mut place, &Expr::name(variable), 0));
        }
        copies
    }

    /// The same of a value, for the element that is `name` less a number.
    pub fn value_at(&self, first: &Expr, name: &Expr, less: u64) -> Expr {
        let (mut place, mut copy) = (0, first.clone());
        value_parts(&mut copy, &mut |part| self.exchange(part, &mut place, name, less));
        copy
    }

    fn exchange(&self, part: Part, place: &mut usize, by: &Expr, less: u64) {
        let number_at = |place: usize, number: u64| -> Option<Expr> {
            if self.growing.binary_search(&place).is_ok() {
                return Some(match (number.checked_sub(less), less.checked_sub(number)) {
                    (Some(0), _) => by.clone(),
                    (Some(more), _) => Expr::binary("+", by.clone(), Expr::word(more as u32)),
                    (None, fewer) => Expr::binary("-", by.clone(), Expr::word(fewer.unwrap_or(0) as u32)),
                });
            }
            let shrinks = self.shrinking.binary_search(&place).is_ok();
            shrinks.then(|| Expr::binary("-", Expr::word((number + less) as u32), by.clone()))
        };
        match part {
            Part::Shape(_) => *place += 1,
            Part::Declared(name) => *place += tokens(name).len(),
            Part::Value(value) => {
                if let Some(exchanged) = value.number().and_then(|number| number_at(*place, number)) {
                    *value = exchanged;
                }
                *place += 1;
            }
            Part::Text(text) => {
                let mut out = String::new();
                for token in tokens(text) {
                    let number = if let Atom::Number(number) = token.atom() { number_at(*place, number) } else { None };
                    match number {
                        Some(number) => out.push_str(&crate::c::written(&number)),
                        None => out.push_str(token.text),
                    }
                    *place += 1;
                }
                *text = out;
            }
        }
    }
}

struct Token<'t> {
    text: &'t str,
}

impl Token<'_> {
    /// As `atom`, of what has no number of an element.
    fn fixed(&self) -> Atom {
        match self.atom() {
            Atom::Number(_) => Atom::Fixed(self.text.to_string()),
            atom @ (Atom::Word(_) | Atom::Fixed(_)) => atom,
        }
    }

    fn atom(&self) -> Atom {
        let is_word = self.text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        match self.text.parse() {
            Ok(number) => Atom::Number(number),
            Err(_) if is_word => Atom::Word(self.text.to_string()),
            Err(_) => Atom::Fixed(self.text.to_string()),
        }
    }
}

/// Words and numbers, and every sign by itself.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let is_letter = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end =
            if is_letter(first) { rest.find(|next| !is_letter(next)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, behind) = rest.split_at(end);
        found.push(Token { text: token });
        rest = behind;
    }
    found
}

/// Everything that a statement declares, in order.
pub fn names(statement: &Stmt, found: &mut Vec<String>) {
    if let Stmt::Declare { name, .. } | Stmt::Count { name, .. } = statement {
        found.push(name.split('[').next().unwrap_or(name).to_string());
    }
    statement.bodies().into_iter().flatten().for_each(|inner| names(inner, found));
}

fn parts(statement: &mut Stmt, visit: &mut dyn FnMut(Part)) {
    let shape = |visit: &mut dyn FnMut(Part), shape: &str| visit(Part::Shape(shape.to_string()));
    match statement {
        Stmt::Declare { of, name, value } => {
            shape(visit, "declare");
            visit(Part::Text(of));
            visit(Part::Declared(name));
            value.iter_mut().for_each(|value| value_parts(value, visit));
        }
        Stmt::Assign(target, operator, value) => {
            visit(Part::Shape(operator.to_string()));
            value_parts(target, visit);
            value_parts(value, visit);
        }
        Stmt::Do(value) => value_parts(value, visit),
        Stmt::If { condition, then, otherwise } => {
            shape(visit, "if");
            value_parts(condition, visit);
            body_parts(then, visit);
            body_parts(otherwise, visit);
        }
        Stmt::Switch { on, cases, default } => {
            shape(visit, "switch");
            value_parts(on, visit);
            for (labels, body) in cases {
                visit(Part::Shape(format!("{labels:?}")));
                body_parts(body, visit);
            }
            body_parts(default, visit);
        }
        Stmt::Count { name, from, to, step, body } => {
            shape(visit, "for");
            visit(Part::Declared(name));
            [from, to, step].into_iter().for_each(|value| value_parts(value, visit));
            body_parts(body, visit);
        }
        Stmt::While(condition, body) => {
            shape(visit, "while");
            value_parts(condition, visit);
            body_parts(body, visit);
        }
        Stmt::Block(body) => body_parts(body, visit),
        Stmt::Return(Some(value)) => {
            shape(visit, "return");
            value_parts(value, visit);
        }
        Stmt::Label(_) | Stmt::Goto(_) | Stmt::Return(None) | Stmt::Break | Stmt::Comment(_) | Stmt::Blank => {
            visit(Part::Shape(format!("{statement:?}")));
        }
    }
}

fn body_parts(body: &mut [Stmt], visit: &mut dyn FnMut(Part)) {
    visit(Part::Shape(format!("{{{}", body.len())));
    body.iter_mut().for_each(|statement| parts(statement, visit));
}

fn value_parts(value: &mut Expr, visit: &mut dyn FnMut(Part)) {
    match value {
        Expr::Name(name) => visit(Part::Text(name)),
        Expr::Number { .. } => visit(Part::Value(value)),
        Expr::Text(text) => visit(Part::Shape(format!("{text:?}"))),
        Expr::Call(function, arguments) => {
            visit(Part::Shape(format!("({}", arguments.len())));
            visit(Part::Text(function));
            arguments.iter_mut().for_each(|argument| value_parts(argument, visit));
        }
        Expr::Index(array, index) => {
            visit(Part::Shape("[]".to_string()));
            value_parts(array, visit);
            value_parts(index, visit);
        }
        Expr::Unary(operator, operand) => {
            visit(Part::Shape(operator.to_string()));
            value_parts(operand, visit);
        }
        Expr::Cast(to, operand) => {
            visit(Part::Text(to));
            value_parts(operand, visit);
        }
        Expr::Binary(operator, left, right) => {
            visit(Part::Shape(operator.to_string()));
            value_parts(left, visit);
            value_parts(right, visit);
        }
        Expr::Conditional(condition, then, otherwise) => {
            visit(Part::Shape("?".to_string()));
            [condition, then, otherwise].into_iter().for_each(|value| value_parts(value, visit));
        }
        Expr::List(members) => {
            visit(Part::Shape(format!("{{{}", members.len())));
            members.iter_mut().for_each(|member| value_parts(member, visit));
        }
        Expr::Designated(name, value) => {
            visit(Part::Shape(format!(".{name}")));
            value_parts(value, visit);
        }
    }
}
