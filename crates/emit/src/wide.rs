//! Values of more than 64 bits: arrays of limbs, low limb first, worked on by the functions of `wide.h`.
//!
//! Expressions are pure, so every operand is worked out before the statement that uses it, into an array of its own that is written once.

use crate::body::{Body, join, limbs};
use crate::c::{Expr, Stmt};
use hlir::{Binary, Expression, KeySet, Unary, VariableId};
use num_bigint::BigUint;

/// Bits `high` to `low` of an array, at most 64.
pub fn bits_of(array: &Expr, high: u32, low: u32) -> Expr {
    let (limb, shift, width) = (low / 64, low % 64, high - low + 1);
    let part = |limb: u32| Expr::index(array.clone(), Expr::word(limb));
    let mut value = part(limb);
    if shift > 0 {
        value = Expr::binary(">>", value, Expr::word(shift));
    }
    if shift + width > 64 {
        value = Expr::binary("|", value, Expr::binary("<<", part(limb + 1), Expr::word(64 - shift)));
    }
    if width < 64 && shift + width != 64 {
        value = Expr::binary("&", value, Expr::long(crate::field::mask(width)));
    }
    if width <= 32 { Expr::cast("uint32_t", value) } else { value }
}

impl Body<'_, '_> {
    /// A new array for a value of `width` bits.
    pub fn array(&mut self, width: u32) -> Expr {
        let name = self.temporary("wide");
        self.push(Stmt::Declare { of: "uint64_t".to_string(), name: format!("{name}[{}]", limbs(width)), value: None });
        Expr::Name(name)
    }

    fn constant_array(&mut self, value: &BigUint, width: u32) -> Expr {
        let name = self.temporary("constant");
        let mut digits: Vec<Expr> = value.iter_u64_digits().map(Expr::long).collect();
        digits.resize(limbs(width) as usize, Expr::long(0));
        self.push(Stmt::declare("const uint64_t", format!("{name}[{}]", limbs(width)), Expr::List(digits)));
        Expr::Name(name)
    }

    /// Where a wide variable is kept.
    pub fn wide_variable(&self, variable: VariableId) -> Expr {
        Expr::Name(format!("state->scratch->{}", self.unit.variable_name(variable)))
    }

    /// Any value as an array of limbs; narrow ones get an array of one.
    pub fn limbs_of(&mut self, value: &Expression) -> Expr {
        let width = self.width_of(value);
        if width > 64 {
            return self.wide(value);
        }
        let narrow = self.value(value);
        let array = self.array(width);
        self.push(Stmt::set(Expr::index(array.clone(), Expr::word(0)), narrow));
        array
    }

    /// The array that holds a value of more than 64 bits. It is not to be written.
    pub fn wide(&mut self, value: &Expression) -> Expr {
        let width = self.width_of(value);
        match value {
            Expression::Constant { value, .. } => self.constant_array(value, width),
            Expression::Variable(variable) => self.wide_variable(*variable),
            Expression::Parameter(_) => self.value(value),
            Expression::Field(field) => {
                self.ensure(field.header);
                let array = self.array(width);
                self.load_wide(*field, array.clone());
                array
            }
            Expression::Unary { operator, operand } => {
                let operand = self.wide(operand);
                let function = match operator {
                    Unary::Complement => "wide_complement",
                    Unary::Negate => "wide_negate",
                    Unary::Not => panic!("a boolean is not wide"),
                };
                self.applied(function, [operand], width)
            }
            Expression::Binary { operator, left, right } => self.wide_binary(*operator, left, right, width),
            Expression::Slice { operand, low, .. } => {
                let from = self.width_of(operand);
                let operand = self.wide(operand);
                self.resized("wide_slice", operand, from, width, &[Expr::word(*low)])
            }
            Expression::Extend { operand, signed, .. } => {
                let from = self.width_of(operand);
                let operand = self.limbs_of(operand);
                self.resized(if *signed { "wide_extend_signed" } else { "wide_resize" }, operand, from, width, &[])
            }
            Expression::Choose { .. } => {
                let array = self.array(width);
                self.choose_into(value, &array, width);
                array
            }
            Expression::Bool(_)
            | Expression::Valid(_)
            | Expression::Intrinsic(_)
            | Expression::FromBool(_)
            | Expression::VarbitLength(_)
            | Expression::VarbitEqual(_, _) => panic!("nothing of this kind has more than 64 bits"),
        }
    }

    /// Puts a value into an array; of a choice, only the chosen one is worked out.
    fn choose_into(&mut self, value: &Expression, array: &Expr, width: u32) {
        if let Expression::Choose { condition, then, otherwise } = value {
            let condition = self.value(condition);
            let (then, mut present) = self.branch(|body| body.choose_into(then, array, width));
            let (otherwise, other) = self.branch(|body| body.choose_into(otherwise, array, width));
            join(&mut present, &other);
            self.present = present;
            return self.push(Stmt::If { condition, then, otherwise });
        }
        if let Expression::Field(field) = value {
            self.ensure(field.header);
            return self.load_wide(*field, array.clone());
        }
        let whole = self.wide(value);
        self.push(Stmt::call("wide_copy", [array.clone(), whole, Expr::word(width)]));
    }

    /// `function(array, operands, width)` into a new array.
    fn applied<const N: usize>(&mut self, function: &str, operands: [Expr; N], width: u32) -> Expr {
        let array = self.array(width);
        let arguments = std::iter::once(array.clone()).chain(operands).chain([Expr::word(width)]);
        self.push(Stmt::call(function, arguments));
        array
    }

    /// `function(array, width, operand, from, rest)` into a new array.
    fn resized(&mut self, function: &str, operand: Expr, from: u32, width: u32, rest: &[Expr]) -> Expr {
        let array = self.array(width);
        let arguments = [array.clone(), Expr::word(width), operand, Expr::word(from)];
        self.push(Stmt::call(function, arguments.into_iter().chain(rest.iter().cloned())));
        array
    }

    fn wide_binary(&mut self, operator: Binary, left: &Expression, right: &Expression, width: u32) -> Expr {
        let function = match operator {
            Binary::Add => "wide_add",
            Binary::Subtract => "wide_subtract",
            Binary::Multiply => "wide_multiply",
            Binary::AddSaturating => "wide_add_saturating",
            Binary::SubtractSaturating => "wide_subtract_saturating",
            Binary::AddSaturatingSigned => "wide_add_saturating_signed",
            Binary::SubtractSaturatingSigned => "wide_subtract_saturating_signed",
            Binary::And => "wide_and",
            Binary::Or => "wide_or",
            Binary::Xor => "wide_xor",
            Binary::ShiftLeft => return self.wide_shift("wide_shift_left", left, right, width),
            Binary::ShiftRight => return self.wide_shift("wide_shift_right", left, right, width),
            Binary::ShiftRightSigned => return self.wide_shift("wide_shift_right_signed", left, right, width),
            Binary::Divide | Binary::Remainder => return self.wide_divide(operator, left, right, width),
            Binary::Concat => return self.wide_concat(left, right, width),
            Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
            | Binary::LessSigned
            | Binary::LessEqualSigned
            | Binary::GreaterSigned
            | Binary::GreaterEqualSigned
            | Binary::LogicalAnd
            | Binary::LogicalOr => panic!("a boolean is not wide"),
        };
        let (left, right) = (self.wide(left), self.wide(right));
        self.applied(function, [left, right], width)
    }

    fn wide_shift(&mut self, function: &str, left: &Expression, right: &Expression, width: u32) -> Expr {
        let left = self.wide(left);
        let amount = self.amount(right);
        self.applied(function, [left, amount], width)
    }

    fn wide_divide(&mut self, operator: Binary, left: &Expression, right: &Expression, width: u32) -> Expr {
        let (left, right) = (self.wide(left), self.wide(right));
        let (quotient, remainder) = (self.array(width), self.array(width));
        let arguments = [quotient.clone(), remainder.clone(), left, right, Expr::word(width)];
        self.push(Stmt::call("wide_divide", arguments));
        if operator == Binary::Divide { quotient } else { remainder }
    }

    fn wide_concat(&mut self, left: &Expression, right: &Expression, width: u32) -> Expr {
        let (high, low) = (self.width_of(left), self.width_of(right));
        let (left, right) = (self.limbs_of(left), self.limbs_of(right));
        let array = self.array(width);
        let arguments = [array.clone(), left, Expr::word(high), right, Expr::word(low)];
        self.push(Stmt::call("wide_concat", arguments));
        array
    }

    /// A comparison of wide values.
    pub fn wide_predicate(&mut self, operator: Binary, left: &Expression, right: &Expression) -> Expr {
        let width = Expr::word(self.width_of(left));
        let (left, right) = (self.wide(left), self.wide(right));
        let test = |function: &str, first: Expr, second: Expr| Expr::call(function, [first, second, width.clone()]);
        match operator {
            Binary::Equal => test("wide_equal", left, right),
            Binary::NotEqual => Expr::unary("!", test("wide_equal", left, right)),
            Binary::Less => test("wide_less", left, right),
            Binary::LessEqual => Expr::unary("!", test("wide_less", right, left)),
            Binary::Greater => test("wide_less", right, left),
            Binary::GreaterEqual => Expr::unary("!", test("wide_less", left, right)),
            Binary::LessSigned => test("wide_less_signed", left, right),
            Binary::LessEqualSigned => Expr::unary("!", test("wide_less_signed", right, left)),
            Binary::GreaterSigned => test("wide_less_signed", right, left),
            Binary::GreaterEqualSigned => Expr::unary("!", test("wide_less_signed", left, right)),
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
            | Binary::LogicalAnd
            | Binary::LogicalOr => panic!("this operator compares nothing"),
        }
    }

    /// The test of a wide key against a set; none if it always matches.
    pub fn wide_in_set(&mut self, set: &KeySet, key: &Expr, width: u32) -> Option<Expr> {
        let bits = Expr::word(width);
        let not_below =
            |value: Expr, bound: Expr| Expr::unary("!", Expr::call("wide_less", [value, bound, Expr::word(width)]));
        match set {
            KeySet::Any => None,
            KeySet::Value(value) => {
                let value = self.constant_array(value, width);
                Some(Expr::call("wide_equal", [key.clone(), value, bits]))
            }
            KeySet::Mask { value, mask } => {
                let value = self.constant_array(&(value & mask), width);
                let mask = self.constant_array(mask, width);
                let part = self.applied("wide_and", [key.clone(), mask], width);
                Some(Expr::call("wide_equal", [part, value, bits]))
            }
            KeySet::Range { low, high } => {
                let (low, high) = (self.constant_array(low, width), self.constant_array(high, width));
                Some(Expr::binary("&&", not_below(key.clone(), low), not_below(high, key.clone())))
            }
            KeySet::Set(set) => Some(self.in_value_set(*set, &[(key.clone(), width)])),
        }
    }
}
