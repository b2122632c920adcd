//! Construction of steps: hash-consed and constant-folded.

use super::{Number, Operator, Step};
use std::collections::HashMap;

#[derive(Default)]
pub struct Steps {
    list: Vec<Step>,
    /// By step: the bits that may be set.
    ones: Vec<u32>,
    numbers: HashMap<Step, Number>,
}

impl Steps {
    pub fn constant(&mut self, value: u32) -> Number {
        self.add(Step::Constant(value), value)
    }

    pub fn mask(&mut self, value: bool) -> Number {
        self.constant(if value { u32::MAX } else { 0 })
    }

    pub fn known(&self, number: Number) -> Option<u32> {
        match self.list[number as usize] {
            Step::Constant(value) => Some(value),
            Step::Word(_)
            | Step::Length
            | Step::Port
            | Step::Register { .. }
            | Step::TableRead { .. }
            | Step::Operate(..)
            | Step::Choose { .. } => None,
        }
    }

    /// A read of the packet, of a register or of a table.
    pub fn read(&mut self, step: Step) -> Number {
        self.add(step, u32::MAX)
    }

    fn add(&mut self, step: Step, ones: u32) -> Number {
        if let Some(number) = self.numbers.get(&step) {
            return *number;
        }
        let number = self.list.len() as Number;
        self.list.push(step);
        self.ones.push(ones);
        self.numbers.insert(step, number);
        number
    }

    /// States that a step has no other bits set.
    pub fn bound(&mut self, number: Number, ones: u32) {
        self.ones[number as usize] &= ones;
    }

    pub fn operate(&mut self, operator: Operator, left: Number, right: Number) -> Number {
        let known = (self.known(left), self.known(right));
        if let (Some(a), Some(b)) = known {
            return self.constant(fold(operator, a, b));
        }
        match (operator, known.0, known.1) {
            (Operator::And, _, Some(0)) | (Operator::And, Some(0), _) => return self.constant(0),
            (Operator::And, _, Some(mask)) if self.ones(left) & !mask == 0 => return left,
            (Operator::And, Some(mask), _) if self.ones(right) & !mask == 0 => return right,
            (Operator::Or, _, Some(u32::MAX)) | (Operator::Or, Some(u32::MAX), _) => return self.mask(true),
            (Operator::Or | Operator::Xor | Operator::Add, Some(0), _) => return right,
            (
                Operator::Or
                | Operator::Xor
                | Operator::Add
                | Operator::Subtract
                | Operator::ShiftLeft
                | Operator::ShiftRight,
                _,
                Some(0),
            ) => return left,
            (Operator::Equal | Operator::NotEqual, _, Some(value)) => {
                if let Some(mask) = self.compared(operator, left, value) {
                    return mask;
                }
            }
            (Operator::Equal | Operator::NotEqual, Some(value), _) => {
                if let Some(mask) = self.compared(operator, right, value) {
                    return mask;
                }
            }
            _ if left == right => match operator {
                Operator::And | Operator::Or => return left,
                Operator::Xor | Operator::Subtract | Operator::NotEqual | Operator::Less => return self.constant(0),
                Operator::Equal | Operator::LessEqual => return self.mask(true),
                Operator::Add | Operator::Multiply | Operator::ShiftLeft | Operator::ShiftRight => {}
            },
            _ => {}
        }
        let ones = self.ones_of(operator, left, right);
        if ones == 0 {
            return self.constant(0);
        }
        self.add(Step::Operate(operator, left, right), ones)
    }

    pub fn choose(&mut self, mask: Number, then: Number, otherwise: Number) -> Number {
        match self.known(mask) {
            Some(0) => return otherwise,
            Some(_) => return then,
            None if then == otherwise => return then,
            None => {}
        }
        let ones = self.ones(then) | self.ones(otherwise);
        self.add(Step::Choose { mask, then, otherwise }, ones)
    }

    pub fn not(&mut self, mask: Number) -> Number {
        // The negation of a comparison is a comparison.
        if let Step::Operate(operator, left, right) = self.list[mask as usize] {
            match operator {
                Operator::Equal => return self.operate(Operator::NotEqual, left, right),
                Operator::NotEqual => return self.operate(Operator::Equal, left, right),
                Operator::Less => return self.operate(Operator::LessEqual, right, left),
                Operator::LessEqual => return self.operate(Operator::Less, right, left),
                Operator::Xor if self.known(right) == Some(u32::MAX) => return left,
                Operator::Add
                | Operator::Subtract
                | Operator::Multiply
                | Operator::And
                | Operator::Or
                | Operator::Xor
                | Operator::ShiftLeft
                | Operator::ShiftRight => {}
            }
        }
        let all = self.mask(true);
        self.operate(Operator::Xor, mask, all)
    }

    fn ones(&self, number: Number) -> u32 {
        self.ones[number as usize]
    }

    /// A comparison with a constant that known bits or constant arms of a blend decide.
    fn compared(&mut self, operator: Operator, number: Number, value: u32) -> Option<Number> {
        let is_equal = operator == Operator::Equal;
        if value & !self.ones(number) != 0 {
            return Some(self.mask(!is_equal));
        }
        // The bit of a boolean that was converted to a number.
        if let Step::Operate(Operator::And, mask, one) = self.list[number as usize]
            && self.known(one) == Some(1)
            && self.is_mask(mask)
        {
            return Some(if is_equal == (value == 1) { mask } else { self.not(mask) });
        }
        let Step::Choose { mask, then, otherwise } = self.list[number as usize] else { return None };
        let hits = self.known(then)? == value;
        let misses = self.known(otherwise)? == value;
        Some(match (hits == is_equal, misses == is_equal) {
            (true, true) => self.mask(true),
            (true, false) => mask,
            (false, true) => self.not(mask),
            (false, false) => self.mask(false),
        })
    }

    /// Whether each lane is all ones or zero.
    fn is_mask(&self, number: Number) -> bool {
        match self.list[number as usize] {
            Step::Operate(Operator::And | Operator::Or | Operator::Xor, left, right) => {
                self.is_mask(left) && self.is_mask(right)
            }
            Step::Operate(operator, ..) => operator.compares(),
            Step::Constant(value) => value == 0 || value == u32::MAX,
            Step::Word(_)
            | Step::Length
            | Step::Port
            | Step::Register { .. }
            | Step::TableRead { .. }
            | Step::Choose { .. } => false,
        }
    }

    fn ones_of(&self, operator: Operator, left: Number, right: Number) -> u32 {
        let (a, b) = (self.ones(left), self.ones(right));
        match operator {
            Operator::And => a & b,
            Operator::Or | Operator::Xor => a | b,
            Operator::ShiftLeft => self.known(right).map_or(u32::MAX, |by| a << by),
            Operator::ShiftRight => self.known(right).map_or(u32::MAX, |by| a >> by),
            // One bit more than the longer operand.
            Operator::Add => u32::MAX.checked_shr((a | b).leading_zeros().saturating_sub(1)).unwrap_or(0),
            Operator::Subtract
            | Operator::Multiply
            | Operator::Equal
            | Operator::NotEqual
            | Operator::Less
            | Operator::LessEqual => u32::MAX,
        }
    }

    /// The steps that these results need (liveness), and the renumbered results.
    pub fn needed(&self, results: &[Number]) -> (Vec<Step>, HashMap<Number, Number>) {
        let mut is_needed = vec![false; self.list.len()];
        results.iter().for_each(|result| is_needed[*result as usize] = true);
        for number in (0..self.list.len()).rev() {
            if is_needed[number] {
                self.list[number].operands().into_iter().for_each(|operand| is_needed[operand as usize] = true);
            }
        }
        let mut kept = HashMap::new();
        let mut steps = Vec::new();
        for (number, step) in self.list.iter().enumerate().filter(|(number, _)| is_needed[*number]) {
            kept.insert(number as Number, steps.len() as Number);
            steps.push(match *step {
                Step::Register { register, of } => Step::Register { register, of: kept[&of] },
                Step::TableRead { place, what, of } => Step::TableRead { place, what, of: kept[&of] },
                Step::Operate(operator, left, right) => Step::Operate(operator, kept[&left], kept[&right]),
                Step::Choose { mask, then, otherwise } => {
                    Step::Choose { mask: kept[&mask], then: kept[&then], otherwise: kept[&otherwise] }
                }
                read @ (Step::Word(_) | Step::Length | Step::Port | Step::Constant(_)) => read,
            });
        }
        (steps, kept)
    }
}

/// The operator on constants.
pub fn fold(operator: Operator, left: u32, right: u32) -> u32 {
    let mask = |truth: bool| if truth { u32::MAX } else { 0 };
    match operator {
        Operator::Add => left.wrapping_add(right),
        Operator::Subtract => left.wrapping_sub(right),
        Operator::Multiply => left.wrapping_mul(right),
        Operator::And => left & right,
        Operator::Or => left | right,
        Operator::Xor => left ^ right,
        Operator::ShiftLeft => left << right,
        Operator::ShiftRight => left >> right,
        Operator::Equal => mask(left == right),
        Operator::NotEqual => mask(left != right),
        Operator::Less => mask(left < right),
        Operator::LessEqual => mask(left <= right),
    }
}
