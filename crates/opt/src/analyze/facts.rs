//! What probably holds at a point of the program: valid headers, true booleans, places equal to a constant
//! that some condition tests.
//!
//! A fact has a probability from 0 to 1 for a packet at that point. Facts are combined as if they were
//! independent, which they are not. Certain facts stay certain, and these decide most branches after a
//! parser.

use super::drops::place_of;
use hlir::effects::call_places;
use hlir::{Binary, Expression, HeaderId, Place, Program, Statement, Type, Unary};
use num_bigint::BigUint;
use std::collections::HashMap;

/// A proposition that a condition of the program tests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    Valid(HeaderId),
    Holds(Place),
    Equals(Place, BigUint),
}

/// All atoms of a program, numbered.
pub struct Atoms<'p> {
    pub program: &'p Program,
    numbers: HashMap<Atom, usize>,
    /// Atoms about a place.
    by_place: HashMap<Place, Vec<usize>>,
    list: Vec<Atom>,
}

/// A probability for each atom.
pub type Facts = Vec<f64>;

/// Probability that a field of a received packet equals a constant that the program tests for: more than a
/// uniform value would, less than always.
const FIELD_IS_CONSTANT: f64 = 0.3;
/// Probability of anything unknown.
const UNKNOWN: f64 = 0.5;

impl<'p> Atoms<'p> {
    pub fn new(program: &'p Program) -> Atoms<'p> {
        let mut atoms = Atoms { program, numbers: HashMap::new(), by_place: HashMap::new(), list: Vec::new() };
        let mut visited = program.clone();
        crate::visit::expressions(&mut visited, &mut |expression| {
            expression.walk(&mut |part| {
                atom_of(program, part).into_iter().chain(inequality(part)).for_each(|atom| atoms.add(atom));
            });
        });
        for id in program.headers.iter().map(|(id, _)| id) {
            atoms.add(Atom::Valid(id));
        }
        atoms
    }

    fn add(&mut self, atom: Atom) {
        if self.numbers.contains_key(&atom) {
            return;
        }
        let number = self.list.len();
        self.numbers.insert(atom.clone(), number);
        match &atom {
            Atom::Valid(_) => {}
            Atom::Holds(place) | Atom::Equals(place, _) => self.by_place.entry(*place).or_default().push(number),
        }
        self.list.push(atom);
    }

    pub fn number(&self, atom: &Atom) -> Option<usize> {
        self.numbers.get(atom).copied()
    }

    /// Facts of a packet that enters: all storage is zero, all headers are invalid.
    pub fn at_entry(&self) -> Facts {
        self.list
            .iter()
            .map(|atom| if matches!(atom, Atom::Equals(_, value) if *value == BigUint::ZERO) { 1.0 } else { 0.0 })
            .collect()
    }

    /// The probability of a condition.
    pub fn probability(&self, condition: &Expression, facts: &Facts) -> f64 {
        if let Some(number) = atom_of(self.program, condition).and_then(|atom| self.number(&atom)) {
            return facts[number];
        }
        match condition {
            Expression::Bool(value) => f64::from(u8::from(*value)),
            Expression::Unary { operator: Unary::Not, operand } => 1.0 - self.probability(operand, facts),
            Expression::Binary { operator, left, right } => self.binary(*operator, left, right, facts),
            Expression::Choose { condition, then, otherwise } => {
                let chosen = self.probability(condition, facts);
                chosen * self.probability(then, facts) + (1.0 - chosen) * self.probability(otherwise, facts)
            }
            Expression::FromBool(operand) => self.probability(operand, facts),
            Expression::Constant { .. }
            | Expression::Variable(_)
            | Expression::Field(_)
            | Expression::Valid(_)
            | Expression::Parameter(_)
            | Expression::Intrinsic(_)
            | Expression::Unary { .. }
            | Expression::Slice { .. }
            | Expression::Extend { .. }
            | Expression::VarbitLength(_)
            | Expression::VarbitEqual(_, _) => UNKNOWN,
        }
    }

    /// The probability of a condition if unknown parts have the outcome `wanted`, except for a share
    /// `seldom`. The validity of headers is known from the parser and is used as it is.
    pub fn leaning(&self, condition: &Expression, facts: &Facts, wanted: bool, seldom: f64) -> f64 {
        let guess = if wanted { 1.0 - seldom } else { seldom };
        let atom = atom_of(self.program, condition).or_else(|| inequality(condition));
        if let Some(atom) = atom {
            let known = self.probability(condition, facts);
            let is_known = matches!(atom, Atom::Valid(_)) || known <= 0.0 || known >= 1.0;
            return if is_known { known } else { guess };
        }
        match condition {
            Expression::Unary { operator: Unary::Not, operand } => 1.0 - self.leaning(operand, facts, !wanted, seldom),
            Expression::Binary { operator: Binary::LogicalAnd, left, right } => {
                self.leaning(left, facts, wanted, seldom) * self.leaning(right, facts, wanted, seldom)
            }
            Expression::Binary { operator: Binary::LogicalOr, left, right } => {
                let neither = |operand: &Expression| 1.0 - self.leaning(operand, facts, wanted, seldom);
                1.0 - neither(left) * neither(right)
            }
            Expression::Bool(value) => f64::from(u8::from(*value)),
            Expression::Constant { .. }
            | Expression::Variable(_)
            | Expression::Field(_)
            | Expression::Valid(_)
            | Expression::Parameter(_)
            | Expression::Intrinsic(_)
            | Expression::Unary { .. }
            | Expression::Binary { .. }
            | Expression::Slice { .. }
            | Expression::Extend { .. }
            | Expression::Choose { .. }
            | Expression::FromBool(_)
            | Expression::VarbitLength(_)
            | Expression::VarbitEqual(_, _) => guess,
        }
    }

    fn binary(&self, operator: Binary, left: &Expression, right: &Expression, facts: &Facts) -> f64 {
        match operator {
            Binary::LogicalAnd => self.probability(left, facts) * self.probability(right, facts),
            Binary::LogicalOr => {
                let neither = (1.0 - self.probability(left, facts)) * (1.0 - self.probability(right, facts));
                1.0 - neither
            }
            Binary::NotEqual => {
                let atom = equality(left, right).and_then(|atom| self.number(&atom));
                atom.map_or(UNKNOWN, |number| 1.0 - facts[number])
            }
            Binary::Less | Binary::LessEqual => below(right).map_or(UNKNOWN, |share| share.clamp(0.02, 0.98)),
            Binary::Greater | Binary::GreaterEqual => {
                below(right).map_or(UNKNOWN, |share| (1.0 - share).clamp(0.02, 0.98))
            }
            Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder
            | Binary::AddSaturating
            | Binary::SubtractSaturating
            | Binary::AddSaturatingSigned
            | Binary::SubtractSaturatingSigned
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::ShiftLeft
            | Binary::ShiftRight
            | Binary::ShiftRightSigned
            | Binary::Concat
            | Binary::Equal
            | Binary::LessSigned
            | Binary::LessEqualSigned
            | Binary::GreaterSigned
            | Binary::GreaterEqualSigned => UNKNOWN,
        }
    }

    /// Updates the facts where a condition had the result `outcome`.
    pub fn assume(&self, condition: &Expression, outcome: bool, facts: &mut Facts) {
        if let Some(atom) = atom_of(self.program, condition) {
            return self.set(&atom, outcome, facts);
        }
        if let Some(atom) = inequality(condition) {
            return self.set(&atom, !outcome, facts);
        }
        if let Expression::Unary { operator: Unary::Not, operand } = condition {
            self.assume(operand, !outcome, facts);
        }
        if let Expression::Binary { operator, left, right } = condition {
            let both = (*operator == Binary::LogicalAnd && outcome) || (*operator == Binary::LogicalOr && !outcome);
            if both {
                self.assume(left, outcome, facts);
                self.assume(right, outcome, facts);
            }
        }
    }

    fn set(&self, atom: &Atom, outcome: bool, facts: &mut Facts) {
        let Some(number) = self.number(atom) else { return };
        if let (Atom::Equals(place, _), true) = (atom, outcome) {
            self.by_place.get(place).into_iter().flatten().for_each(|other| facts[*other] = 0.0);
        }
        facts[number] = f64::from(u8::from(outcome));
    }

    /// Updates the facts for an assignment.
    pub fn assign(&self, target: Place, value: &Expression, facts: &mut Facts) {
        let Some(atoms) = self.by_place.get(&target) else { return };
        let source = place_of(value);
        let new: Vec<f64> = atoms
            .iter()
            .map(|number| match (&self.list[*number], value) {
                (Atom::Equals(_, wanted), Expression::Constant { value, .. }) => f64::from(u8::from(wanted == value)),
                (Atom::Holds(_), _) => self.probability(value, facts),
                (Atom::Equals(_, wanted), _) => {
                    let copied = source.and_then(|from| self.number(&Atom::Equals(from, wanted.clone())));
                    copied.map_or(chance(self.program.place_type(target)), |number| facts[number])
                }
                (Atom::Valid(_), _) => UNKNOWN,
            })
            .collect();
        atoms.iter().zip(new).for_each(|(number, probability)| facts[*number] = probability);
    }

    /// Forgets a place that was written other than by an assignment.
    pub fn forget(&self, place: Place, facts: &mut Facts) {
        for number in self.by_place.get(&place).into_iter().flatten() {
            facts[*number] = match &self.list[*number] {
                Atom::Equals(_, _) => chance(self.program.place_type(place)),
                Atom::Holds(_) | Atom::Valid(_) => UNKNOWN,
            };
        }
    }

    pub fn set_valid(&self, header: HeaderId, valid: bool, facts: &mut Facts) {
        self.set(&Atom::Valid(header), valid, facts);
    }

    /// Updates the facts for a header that was extracted from the packet.
    pub fn extract(&self, header: HeaderId, facts: &mut Facts) {
        self.set_valid(header, true, facts);
        for (place, numbers) in &self.by_place {
            if matches!(place, Place::Field(field) if field.header == header) {
                numbers.iter().for_each(|number| facts[*number] = FIELD_IS_CONSTANT);
            }
        }
    }

    pub fn copy_header(&self, to: HeaderId, from: HeaderId, facts: &mut Facts) {
        if let (Some(to), Some(from)) = (self.number(&Atom::Valid(to)), self.number(&Atom::Valid(from))) {
            facts[to] = facts[from];
        }
    }
}

/// The probability that a uniform value of the type equals a given one.
fn chance(kind: Type) -> f64 {
    0.5f64.powi(kind.width().clamp(1, 20) as i32)
}

/// The share of the type's values that are below a constant.
fn below(limit: &Expression) -> Option<f64> {
    let Expression::Constant { value, width } = limit else { return None };
    let digits: Vec<u64> = value.iter_u64_digits().collect();
    let value = digits.iter().rev().fold(0.0, |sum: f64, digit| sum * 2f64.powi(64) + *digit as f64);
    Some(value / 2f64.powi((*width).min(1000) as i32))
}

/// The atom that a condition tests.
fn atom_of(program: &Program, condition: &Expression) -> Option<Atom> {
    if let Expression::Valid(header) = condition {
        return Some(Atom::Valid(*header));
    }
    if let Expression::Variable(variable) = condition {
        let is_boolean = program.variables[*variable].kind == Type::Bool;
        return is_boolean.then_some(Atom::Holds(Place::Variable(*variable)));
    }
    let Expression::Binary { operator: Binary::Equal, left, right } = condition else { return None };
    equality(left, right)
}

/// The atom that a condition negates: `x == 3` for `x != 3`.
fn inequality(condition: &Expression) -> Option<Atom> {
    let Expression::Binary { operator: Binary::NotEqual, left, right } = condition else { return None };
    equality(left, right)
}

fn equality(left: &Expression, right: &Expression) -> Option<Atom> {
    match (left, right) {
        (place, Expression::Constant { value, .. }) | (Expression::Constant { value, .. }, place) => {
            Some(Atom::Equals(place_of(place)?, value.clone()))
        }
        (_, _) => None,
    }
}

/// Updates the facts for one statement. Statements that write no storage change no fact.
pub fn apply(atoms: &Atoms, statement: &Statement, facts: &mut Facts) {
    match statement {
        Statement::Assign { target, value } => atoms.assign(*target, value, facts),
        Statement::SetValid(header) => atoms.set_valid(*header, true, facts),
        Statement::SetInvalid(header) => atoms.set_valid(*header, false, facts),
        Statement::CopyHeader { to, from } => atoms.copy_header(*to, *from, facts),
        Statement::Extract { header, .. } => atoms.extract(*header, facts),
        Statement::Lookahead { into, .. } => atoms.forget(Place::Variable(*into), facts),
        Statement::Call(call) => call_places(call).into_iter().for_each(|place| atoms.forget(place, facts)),
        Statement::CopyVarbit { .. }
        | Statement::If { .. }
        | Statement::Scope { .. }
        | Statement::Loop { .. }
        | Statement::Leave(_)
        | Statement::Exit
        | Statement::Advance(_)
        | Statement::Verify { .. }
        | Statement::Emit(_)
        | Statement::Truncate(_) => {}
    }
}
