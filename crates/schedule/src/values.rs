//! Construction of values: equal operations are one value, and constants are folded.

use crate::value::{Found, Operation, Sum, Value};
use hlir::value::Value as Number;
use hlir::{Algorithm, Binary, NodeId, Type, Unary};
use std::collections::{BTreeSet, HashMap};

/// Bits of the widest numbers that machines compare.
pub const WORD: u32 = 64;

#[derive(Clone, Debug, Default)]
pub struct Values {
    list: Vec<(Operation, Type)>,
    numbers: HashMap<(Operation, Type), Value>,
    /// What the program calls a value.
    names: HashMap<Value, String>,
    /// Slices by value, first bit and width. Values share operands, so the ways from one value down to the others are exponential in number.
    slices: HashMap<(Value, u32, u32), Value>,
}

impl Values {
    pub fn of(&self, value: Value) -> &Operation {
        &self.list[value.0 as usize].0
    }

    pub fn kind(&self, value: Value) -> Type {
        self.list[value.0 as usize].1
    }

    pub fn width(&self, value: Value) -> u32 {
        self.kind(value).width()
    }

    /// Whether a value is bytes of the packet that are read together, of which others are bits.
    pub fn is_window(&self, value: Value) -> bool {
        self.width(value) > WORD && matches!(self.of(value), Operation::Packet { .. })
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The name of a value, from the place that the program first keeps it in.
    pub fn name(&self, value: Value) -> Option<&str> {
        self.names.get(&value).map(String::as_str)
    }

    pub fn call(&mut self, value: Value, name: impl FnOnce() -> String) {
        self.names.entry(value).or_insert_with(name);
    }

    pub fn add(&mut self, operation: Operation, kind: Type) -> Value {
        let next = Value(self.list.len() as u32);
        *self.numbers.entry((operation, kind)).or_insert_with_key(|key| {
            self.list.push(key.clone());
            next
        })
    }

    pub fn constant(&mut self, number: Number) -> Value {
        let kind = Type::Bits(number.width);
        self.add(Operation::Constant(number), kind)
    }

    pub fn word(&mut self, value: u64, width: u32) -> Value {
        self.constant(Number::word(value.into(), width))
    }

    pub fn bool(&mut self, value: bool) -> Value {
        self.add(Operation::Constant(Number::bool(value)), Type::Bool)
    }

    pub fn known(&self, value: Value) -> Option<&Number> {
        if let Operation::Constant(number) = self.of(value) { Some(number) } else { None }
    }

    /// A boolean that is known.
    pub fn holds(&self, value: Value) -> Option<bool> {
        self.known(value).map(Number::is_true)
    }

    fn constant_of(&mut self, number: Number, kind: Type) -> Value {
        self.add(Operation::Constant(number), kind)
    }

    pub fn packet(&mut self, bit: u32, width: u32) -> Value {
        self.add(Operation::Packet { bit }, Type::Bits(width))
    }

    pub fn length(&mut self) -> Value {
        self.add(Operation::Length, Type::Bits(32))
    }

    pub fn headroom(&mut self) -> Value {
        self.add(Operation::Headroom, Type::Bits(32))
    }

    pub fn port(&mut self) -> Value {
        self.add(Operation::Port, Type::Bits(32))
    }

    /// `hash`: as in [`Operation::Lookup`].
    pub fn found(&mut self, node: NodeId, what: Found, hash: Option<Value>, width: u32) -> Value {
        self.add(Operation::Lookup { node, what, hash }, Type::Bits(width))
    }

    pub fn sum(&mut self, sum: Sum) -> Value {
        self.add(Operation::Sum(sum), Type::Bits(16))
    }

    pub fn hash(&mut self, algorithm: Algorithm, data: Vec<Value>) -> Value {
        self.add(Operation::Hash { algorithm, data }, Type::Bits(64))
    }

    pub fn unary(&mut self, operator: Unary, operand: Value) -> Value {
        let kind = self.kind(operand);
        if let Some(number) = self.known(operand) {
            let folded = number.clone().unary(operator);
            return self.constant_of(folded, kind);
        }
        if let Operation::Unary(inner, of) = self.of(operand)
            && *inner == operator
        {
            return *of;
        }
        // The negation of a comparison is a comparison.
        if let (Unary::Not, Operation::Binary(compares, left, right)) = (operator, self.of(operand))
            && let Some(opposite) = opposite(*compares)
        {
            return self.add(Operation::Binary(opposite, *left, *right), Type::Bool);
        }
        self.add(Operation::Unary(operator, operand), kind)
    }

    pub fn not(&mut self, operand: Value) -> Value {
        self.unary(Unary::Not, operand)
    }

    pub fn and(&mut self, left: Value, right: Value) -> Value {
        self.binary(Binary::LogicalAnd, left, right)
    }

    pub fn or(&mut self, left: Value, right: Value) -> Value {
        self.binary(Binary::LogicalOr, left, right)
    }

    /// `left` and not `right`.
    pub fn and_not(&mut self, left: Value, right: Value) -> Value {
        let right = self.not(right);
        self.and(left, right)
    }

    pub fn equal(&mut self, left: Value, right: Value) -> Value {
        self.binary(Binary::Equal, left, right)
    }

    /// The type of an operator's result.
    pub fn kind_of(&self, operator: Binary, left: Value, right: Value) -> Type {
        if operator == Binary::Concat {
            Type::Bits(self.width(left) + self.width(right))
        } else if operator.is_predicate() {
            Type::Bool
        } else {
            self.kind(left)
        }
    }

    pub fn binary(&mut self, operator: Binary, left: Value, right: Value) -> Value {
        let kind = self.kind_of(operator, left, right);
        if let (Some(a), Some(b)) = (self.known(left), self.known(right)) {
            let folded = a.clone().binary(operator, b);
            return self.constant_of(folded, kind);
        }
        if let Some(simple) = self.simplified(operator, left, right) {
            return simple;
        }
        if let Some(masked) = self.masked(operator, left, right) {
            return masked;
        }
        let is_equality = matches!(operator, Binary::Equal | Binary::NotEqual);
        let compared = is_equality.then(|| self.compared(operator, left, right)).flatten();
        let compared = compared.or_else(|| is_equality.then(|| self.compared(operator, right, left)).flatten());
        if let Some(compared) = compared {
            return compared;
        }
        if is_equality && self.kind(left) != Type::Bool && self.width(left) > WORD {
            return self.compared_in_words(operator, left, right);
        }
        let shifts = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight) && self.width(left) > WORD;
        if let Some(by) = self.known(right).map(Number::to_u64).filter(|_| shifts) {
            return self.moved(operator, left, by);
        }
        self.add(Operation::Binary(operator, left, right), kind)
    }

    /// A shift of a wide value as its parts, which are narrow.
    fn moved(&mut self, operator: Binary, of: Value, by: u64) -> Value {
        let width = self.width(of);
        let by = by.min(u64::from(width)) as u32;
        let zeros = self.word(0, by);
        let (high, low) = if operator == Binary::ShiftLeft {
            (self.slice(of, 0, width - by), zeros)
        } else {
            (zeros, self.slice(of, by, width - by))
        };
        self.binary(Binary::Concat, high, low)
    }

    /// Wide values are equal if all their words are.
    fn compared_in_words(&mut self, operator: Binary, left: Value, right: Value) -> Value {
        let width = self.width(left);
        let mut all = self.bool(true);
        for low in (0..width).step_by(WORD as usize) {
            let bits = WORD.min(width - low);
            let (left, right) = (self.slice(left, low, bits), self.slice(right, low, bits));
            let same = self.equal(left, right);
            all = self.and(all, same);
        }
        if operator == Binary::Equal { all } else { self.not(all) }
    }

    /// Where one operand decides, or is the result.
    fn simplified(&mut self, operator: Binary, left: Value, right: Value) -> Option<Value> {
        let zero = |it: &Values, value| it.known(value).is_some_and(|number| number.bits.is_zero());
        let ones = |it: &Values, value: Value| {
            it.known(value).is_some_and(|number| number.bits == hlir::value::Bits::ones(number.width))
        };
        let is = |others: &[Binary]| others.contains(&operator);
        if is(&[Binary::LogicalAnd, Binary::And]) {
            if left == right || zero(self, left) || ones(self, right) {
                return Some(left);
            }
            if zero(self, right) || ones(self, left) {
                return Some(right);
            }
        }
        if is(&[Binary::LogicalOr, Binary::Or]) {
            if left == right || ones(self, left) || zero(self, right) {
                return Some(left);
            }
            if ones(self, right) || zero(self, left) {
                return Some(right);
            }
        }
        if operator == Binary::LogicalOr
            && let Some(factored) = self.factored(left, right)
        {
            return Some(factored);
        }
        if is(&[Binary::LogicalAnd, Binary::LogicalOr]) && self.are_opposite(left, right) {
            return Some(self.bool(operator == Binary::LogicalOr));
        }
        if is(&[Binary::Add, Binary::Xor]) && zero(self, left) {
            return Some(right);
        }
        let keeps = [Binary::Add, Binary::Subtract, Binary::Xor, Binary::ShiftLeft, Binary::ShiftRight];
        if is(&keeps) && zero(self, right) {
            return Some(left);
        }
        if is(&[Binary::Divide, Binary::Remainder]) && zero(self, right) {
            return Some(right);
        }
        if operator == Binary::Concat {
            return match (self.width(left), self.width(right)) {
                (0, _) => Some(right),
                (_, 0) => Some(left),
                _ => self.joined(left, right),
            };
        }
        if left == right && is(&[Binary::Equal, Binary::LessEqual, Binary::GreaterEqual]) {
            return Some(self.bool(true));
        }
        if left == right && is(&[Binary::NotEqual, Binary::Less, Binary::Greater]) {
            return Some(self.bool(false));
        }
        None
    }

    /// The union of two conjunctions with a common part: what is common, and either of the rests.
    fn factored(&mut self, left: Value, right: Value) -> Option<Value> {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        self.conjuncts(left, &mut a);
        self.conjuncts(right, &mut b);
        let common: Vec<Value> = a.iter().copied().filter(|part| b.contains(part)).collect();
        a.retain(|part| !common.contains(part));
        b.retain(|part| !common.contains(part));
        // `x or (not x and y)` is `x or y`.
        if let [x] = a[..] {
            b.retain(|part| !self.are_opposite(x, *part));
        } else if let [x] = b[..] {
            a.retain(|part| !self.are_opposite(x, *part));
        }
        let parts = |rest: &[Value]| rest.len() + common.len();
        let (before, after) = (self.conjunct_count(left) + self.conjunct_count(right), parts(&a) + parts(&b));
        if common.is_empty() && after == before {
            return None;
        }
        let rests = match (a.is_empty(), b.is_empty()) {
            (true, _) | (_, true) => self.bool(true),
            (false, false) => {
                let (a, b) = (self.all(&a), self.all(&b));
                self.or(a, b)
            }
        };
        let common = self.all(&common);
        Some(self.and(common, rests))
    }

    fn conjunct_count(&self, value: Value) -> usize {
        let mut parts = Vec::new();
        self.conjuncts(value, &mut parts);
        parts.len()
    }

    /// The parts of a condition, in order; none if it holds.
    pub fn parts(&self, condition: Value) -> Vec<Value> {
        let mut parts = Vec::new();
        self.conjuncts(condition, &mut parts);
        parts.retain(|part| self.holds(*part) != Some(true));
        parts
    }

    /// The parts of a conjunction.
    fn conjuncts(&self, value: Value, parts: &mut Vec<Value>) {
        if let Operation::Binary(Binary::LogicalAnd, left, right) = *self.of(value) {
            self.conjuncts(left, parts);
            self.conjuncts(right, parts);
        } else if !parts.contains(&value) {
            parts.push(value);
        }
    }

    fn all(&mut self, parts: &[Value]) -> Value {
        let yes = self.bool(true);
        parts.iter().fold(yes, |all, part| self.and(all, *part))
    }

    /// Whether one of two conditions holds exactly where the other does not.
    pub fn are_opposite(&self, left: Value, right: Value) -> bool {
        let is_not = |of: Value, inner: Value| *self.of(of) == Operation::Unary(Unary::Not, inner);
        let turned = || {
            let Operation::Binary(compares, a, b) = self.of(left) else { return false };
            let other = opposite(*compares).map(|opposite| Operation::Binary(opposite, *a, *b));
            other.as_ref() == Some(self.of(right))
        };
        is_not(left, right) || is_not(right, left) || turned()
    }

    /// Adjacent bits of the packet, or of one value, as one.
    fn joined(&mut self, left: Value, right: Value) -> Option<Value> {
        let width = self.width(left) + self.width(right);
        if let (Operation::Packet { bit }, Operation::Packet { bit: next }) = (self.of(left), self.of(right))
            && bit + self.width(left) == *next
        {
            let bit = *bit;
            return Some(self.packet(bit, width));
        }
        if let (Operation::Slice { of, low: high }, Operation::Slice { of: other, low }) =
            (self.of(left), self.of(right))
            && of == other
            && low + self.width(right) == *high
        {
            let (of, low) = (*of, *low);
            return Some(self.slice(of, low, width));
        }
        None
    }

    /// A comparison of a choice between constants, or of a boolean as a number, with a constant.
    fn compared(&mut self, operator: Binary, value: Value, with: Value) -> Option<Value> {
        let number = self.known(with)?.clone();
        let is_equal = operator == Binary::Equal;
        if let Operation::Choose { condition, then, otherwise } = *self.of(value) {
            self.known(then).or(self.known(otherwise))?;
            let then = self.binary(operator, then, with);
            let otherwise = self.binary(operator, otherwise, with);
            return Some(self.choose(condition, then, otherwise));
        }
        if let Operation::FromBool(truth) = *self.of(value) {
            return Some(if is_equal == number.is_true() { truth } else { self.not(truth) });
        }
        let Operation::Extend { of, signed: false } = *self.of(value) else { return None };
        let width = self.width(of);
        if number.bits.to_big().bits() > u64::from(width) {
            return Some(self.bool(!is_equal));
        }
        let with = self.constant(number.resize(width));
        Some(self.binary(operator, of, with))
    }

    pub fn choose(&mut self, condition: Value, then: Value, otherwise: Value) -> Value {
        match self.holds(condition) {
            Some(true) => return then,
            Some(false) => return otherwise,
            None if then == otherwise => return then,
            None => {}
        }
        if self.kind(then) == Type::Bool {
            // (c and t) or (not c and o)
            match (self.holds(then), self.holds(otherwise)) {
                (Some(true), _) => return self.or(condition, otherwise),
                (_, Some(false)) => return self.and(condition, then),
                (Some(false), _) => {
                    let not = self.not(condition);
                    return self.and(not, otherwise);
                }
                (_, Some(true)) => {
                    let not = self.not(condition);
                    return self.or(not, then);
                }
                (None, None) => {}
            }
        }
        if let Operation::Unary(Unary::Not, inner) = self.of(condition) {
            let inner = *inner;
            return self.choose(inner, otherwise, then);
        }
        // The same condition within an arm is decided.
        let (mut then, mut otherwise) = (then, otherwise);
        if let Operation::Choose { condition: same, then: inner, .. } = *self.of(then)
            && same == condition
        {
            then = inner;
        }
        if let Operation::Choose { condition: same, otherwise: inner, .. } = *self.of(otherwise)
            && same == condition
        {
            otherwise = inner;
        }
        if then == otherwise {
            return then;
        }
        let kind = self.kind(then);
        self.add(Operation::Choose { condition, then, otherwise }, kind)
    }

    pub fn from_bool(&mut self, truth: Value) -> Value {
        match self.holds(truth) {
            Some(holds) => self.word(holds.into(), 1),
            None => self.add(Operation::FromBool(truth), Type::Bits(1)),
        }
    }

    pub fn extend(&mut self, of: Value, width: u32, signed: bool) -> Value {
        if width == self.width(of) {
            return of;
        }
        if let Some(number) = self.known(of) {
            let number = number.clone().extend(width, signed);
            return self.constant(number);
        }
        if self.width(of) == 0 {
            return self.word(0, width);
        }
        self.add(Operation::Extend { of, signed }, Type::Bits(width))
    }

    /// `width` bits of a value from bit `low` on. It is taken of the operands where that is the same, so that
    /// parts of wide values are narrow.
    pub fn slice(&mut self, of: Value, low: u32, width: u32) -> Value {
        if width == self.width(of) {
            return of;
        }
        if width == 0 {
            return self.word(0, 0);
        }
        if let Some(number) = self.known(of) {
            let number = number.clone().slice(low + width - 1, low);
            return self.constant(number);
        }
        if let Some(known) = self.slices.get(&(of, low, width)) {
            return *known;
        }
        let slice = self.part(of, low, width);
        let slice = slice.unwrap_or_else(|| self.add(Operation::Slice { of, low }, Type::Bits(width)));
        self.slices.insert((of, low, width), slice);
        slice
    }

    /// Some bits of a value, if its operands have them.
    fn part(&mut self, of: Value, low: u32, width: u32) -> Option<Value> {
        match self.of(of).clone() {
            Operation::Packet { bit } => Some(self.packet(bit + self.width(of) - low - width, width)),
            Operation::Slice { of, low: before } => Some(self.slice(of, before + low, width)),
            Operation::Lookup { node, what: Found::Parameter { action, parameter, low: before }, hash } => {
                Some(self.found(node, Found::Parameter { action, parameter, low: before + low }, hash, width))
            }
            Operation::Unary(Unary::Complement, inner) => {
                let inner = self.slice(inner, low, width);
                Some(self.unary(Unary::Complement, inner))
            }
            Operation::Binary(Binary::Concat, left, right) => Some(self.part_of_two(left, right, low, width)),
            Operation::Binary(operator, left, right) if matches!(operator, Binary::And | Binary::Or | Binary::Xor) => {
                let (left, right) = (self.slice(left, low, width), self.slice(right, low, width));
                Some(self.binary(operator, left, right))
            }
            Operation::Extend { of: inner, signed } => self.part_of_extended(inner, signed, low, width),
            Operation::Choose { condition, then, otherwise } => {
                let (then, otherwise) = (self.slice(then, low, width), self.slice(otherwise, low, width));
                Some(self.choose(condition, then, otherwise))
            }
            Operation::Constant(_)
            | Operation::Length
            | Operation::Headroom
            | Operation::Port
            | Operation::Register { .. }
            | Operation::Lookup { .. }
            | Operation::Unary(..)
            | Operation::Binary(..)
            | Operation::FromBool(_)
            | Operation::Sum(_)
            | Operation::Hash { .. } => None,
        }
    }

    fn part_of_two(&mut self, left: Value, right: Value, low: u32, width: u32) -> Value {
        let below = self.width(right);
        if low >= below {
            return self.slice(left, low - below, width);
        }
        if low + width <= below {
            return self.slice(right, low, width);
        }
        let right = self.slice(right, low, below - low);
        let left = self.slice(left, 0, low + width - below);
        self.binary(Binary::Concat, left, right)
    }

    fn part_of_extended(&mut self, inner: Value, signed: bool, low: u32, width: u32) -> Option<Value> {
        let below = self.width(inner);
        if low + width <= below {
            return Some(self.slice(inner, low, width));
        }
        match (signed, low) {
            (false, low) if low >= below => Some(self.word(0, width)),
            (false, 0) => Some(self.extend(inner, width, false)),
            _ => None,
        }
    }

    /// All values that these are computed from, inclusive, in order.
    pub fn needed(&self, results: impl IntoIterator<Item = Value>) -> Vec<Value> {
        let mut left: Vec<Value> = results.into_iter().collect();
        let mut needed = BTreeSet::new();
        while let Some(value) = left.pop() {
            if needed.insert(value) {
                left.extend(self.of(value).operands());
            }
        }
        needed.into_iter().collect()
    }
}

/// Comparisons, each with the one that holds where it does not.
const OPPOSITES: [[Binary; 2]; 5] = [
    [Binary::Equal, Binary::NotEqual],
    [Binary::Less, Binary::GreaterEqual],
    [Binary::LessEqual, Binary::Greater],
    [Binary::LessSigned, Binary::GreaterEqualSigned],
    [Binary::LessEqualSigned, Binary::GreaterSigned],
];

/// The comparison that holds when this one does not.
fn opposite(operator: Binary) -> Option<Binary> {
    let pair = OPPOSITES.iter().find(|pair| pair.contains(&operator))?;
    pair.iter().copied().find(|other| *other != operator)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of so many tables changes what the ones before have made, if it hits: the slices are 2 to the 60th, or 60.
    #[test]
    fn slices_of_values_that_share_operands_take_linear_time() {
        let mut values = Values::default();
        let mut sum = values.packet(0, 32);
        for bit in 0..60 {
            let hit = values.packet(64 + bit, 1);
            let one = values.word(1, 1);
            let hit = values.equal(hit, one);
            let more = values.packet(32 * (4 + bit), 32);
            let changed = values.binary(Binary::Xor, sum, more);
            sum = values.choose(hit, changed, sum);
        }
        let slice = values.slice(sum, 0, 8);
        assert_eq!(values.width(slice), 8);
        assert!(values.len() < 2000, "{}", values.len());
    }
}
