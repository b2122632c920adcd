//! Operators: which types they take, what comes out, and their mistakes at compile time.
//!
//! Arithmetic is on numbers of one width and signedness; an `int` beside such a number becomes one like it.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;
use num_bigint::BigInt;

use super::checker::Checker;
use super::written_types::WIDEST;
use crate::ast::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};
use crate::evaluate::{self, Mistake, Value};
use crate::types::Type;

impl<'a> Checker<'a> {
    pub fn unary(&mut self, expression: &'a Expression, operator: UnaryOperator, operand: &'a Expression) -> Type {
        let from = self.value(operand, None);
        let number = self.as_number(operand, &from);
        let result = match operator {
            UnaryOperator::Not if matches!(from, Type::Bool) => Type::Bool,
            UnaryOperator::Not => {
                return self.wrong_operand("expected", operand.span, "!", &from, "a truth value (`bool`)");
            }
            UnaryOperator::Complement if number == Type::Integer => {
                return self.error(
                    "invalid",
                    expression.span,
                    "`~` cannot be applied to a value of unknown width",
                    "give the number a width, as in `8w1`",
                );
            }
            UnaryOperator::Complement if matches!(number, Type::Bits { .. }) => number,
            UnaryOperator::Negate | UnaryOperator::Plus if matches!(number, Type::Bits { .. } | Type::Integer) => {
                number
            }
            UnaryOperator::Plus => return self.wrong_operand("expected", operand.span, "+", &from, "a number"),
            UnaryOperator::Complement | UnaryOperator::Negate => {
                return self.wrong_operand("type-error", operand.span, operator.symbol(), &from, "a number");
            }
        };
        let value = self.value_of(operand).and_then(|value| evaluate::unary(operator, value, &result));
        self.set_value(expression, value);
        result
    }

    fn wrong_operand(&mut self, kind: &'static str, span: Span, symbol: &str, from: &Type, wanted: &str) -> Type {
        if from.is_unknown() {
            return Type::Unknown;
        }
        let mut report = Diagnostic::error(format!("`{symbol}` cannot be applied to a value of type `{from}`"))
            .kind(kind)
            .label(span, format!("{wanted} is expected"));
        if symbol == "+" && *from == Type::String {
            report = report.hint("strings are joined with `++`");
        }
        self.report(report)
    }

    /// A serialisable enumeration where a number is needed is one.
    fn as_number(&mut self, operand: &'a Expression, of_type: &Type) -> Type {
        if !matches!(of_type, Type::SerializableEnum(_)) {
            return of_type.clone();
        }
        let number = self.out.representation(of_type);
        self.convert(operand, &number);
        number
    }

    pub fn binary(
        &mut self,
        expression: &'a Expression,
        operator: BinaryOperator,
        left: &'a Expression,
        right: &'a Expression,
    ) -> Type {
        let left_type = self.value(left, None);
        let right_type = self.value(right, None);
        if left_type.is_unknown() || right_type.is_unknown() {
            return self.result_in_error(operator, &left_type, &right_type);
        }
        let result = match operator {
            BinaryOperator::And | BinaryOperator::Or => self.logical(expression, operator, &left_type, &right_type),
            BinaryOperator::Equal | BinaryOperator::NotEqual => {
                self.equality(expression, left, &left_type, right, &right_type)
            }
            BinaryOperator::Less
            | BinaryOperator::LessOrEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterOrEqual => {
                let numbers = self.arithmetic(expression.span, operator, left, right);
                if numbers.is_unknown() { numbers } else { Type::Bool }
            }
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => self.shift(expression.span, left, right),
            BinaryOperator::Concatenate => return self.concatenation(expression, left, right),
            BinaryOperator::Divide | BinaryOperator::Modulo => self.division(expression.span, operator, left, right),
            BinaryOperator::Multiply
            | BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::SaturatingAdd
            | BinaryOperator::SaturatingSubtract
            | BinaryOperator::BitAnd
            | BinaryOperator::BitXor
            | BinaryOperator::BitOr => self.arithmetic(expression.span, operator, left, right),
        };
        if !result.is_unknown() {
            self.evaluate_binary(expression, operator, left, right, &result);
        }
        result
    }

    /// After an error in an operand, the result is known as far as the operator decides it.
    fn result_in_error(&self, operator: BinaryOperator, left: &Type, right: &Type) -> Type {
        match operator {
            BinaryOperator::And
            | BinaryOperator::Or
            | BinaryOperator::Equal
            | BinaryOperator::NotEqual
            | BinaryOperator::Less
            | BinaryOperator::LessOrEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterOrEqual => Type::Bool,
            BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::SaturatingAdd
            | BinaryOperator::SaturatingSubtract
            | BinaryOperator::Concatenate
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight
            | BinaryOperator::BitAnd
            | BinaryOperator::BitXor
            | BinaryOperator::BitOr => {
                let _ = (left, right);
                Type::Unknown
            }
        }
    }

    fn logical(&mut self, expression: &'a Expression, operator: BinaryOperator, left: &Type, right: &Type) -> Type {
        if (left, right) == (&Type::Bool, &Type::Bool) {
            return Type::Bool;
        }
        let symbol = operator.symbol();
        self.type_error(expression.span, format!("`{symbol}` is not defined on `{left}` and `{right}`"))
    }

    fn equality(
        &mut self,
        expression: &'a Expression,
        left: &'a Expression,
        left_type: &Type,
        right: &'a Expression,
        right_type: &Type,
    ) -> Type {
        let literals = |of_type: &Type| {
            matches!(of_type, Type::StructureLiteral { .. } | Type::InvalidLiteral | Type::DefaultLiteral)
        };
        let both_unknown = literals(left_type) && literals(right_type);
        let common = if both_unknown { None } else { self.common_type(left, left_type, right, right_type) };
        if common.is_some_and(|common| self.may_be_compared(&common)) {
            return Type::Bool;
        }
        self.report(
            Diagnostic::error(format!("`{left_type}` cannot be compared to `{right_type}`"))
                .kind("type-error")
                .label(expression.span, "")
                .label(left.span, format!("this is `{left_type}`"))
                .label(right.span, format!("this is `{right_type}`")),
        )
    }

    fn may_be_compared(&self, of_type: &Type) -> bool {
        match of_type {
            Type::Tuple(parts) | Type::ListLiteral { elements: parts, .. } => {
                parts.iter().all(|part| self.may_be_compared(part))
            }
            Type::Struct(_) | Type::Header(_) | Type::Union(_) => {
                self.out.fields_of(of_type).iter().all(|field| self.may_be_compared(&field.of_type))
            }
            Type::Stack { element, .. } => self.may_be_compared(element),
            Type::Newtype(_) => self.may_be_compared(&self.out.representation(of_type)),
            _ => matches!(
                of_type,
                Type::Unknown
                    | Type::Bool
                    | Type::Error
                    | Type::Bits { .. }
                    | Type::Integer
                    | Type::Varbit { .. }
                    | Type::Enum(_)
                    | Type::SerializableEnum(_)
                    | Type::MatchKind
                    | Type::String
            ),
        }
    }

    /// Both operands as numbers of one type.
    fn arithmetic(
        &mut self,
        span: Span,
        operator: BinaryOperator,
        left: &'a Expression,
        right: &'a Expression,
    ) -> Type {
        let left_type = self.out.used_type(left).clone();
        let right_type = self.out.used_type(right).clone();
        let left_number = self.as_number(left, &left_type);
        let right_number = self.as_number(right, &right_type);
        let symbol = operator.symbol();
        let is_number = |of_type: &Type| matches!(of_type, Type::Bits { .. } | Type::Integer);
        for (side, number, written) in [(left, &left_number, &left_type), (right, &right_number, &right_type)] {
            if !is_number(number) {
                return self.wrong_operand("type-error", side.span, symbol, written, "a number");
            }
        }
        if let Some(common) = self.common_type(left, &left_number, right, &right_number) {
            return common;
        }
        self.report(
            Diagnostic::error(format!(
                "`{symbol}` needs two numbers of one type, not `{left_number}` and `{right_number}`"
            ))
            .kind("type-error")
            .label(span, "")
            .label(left.span, format!("this is `{left_number}`"))
            .label(right.span, format!("this is `{right_number}`"))
            .hint(format!("cast one of them: `({left_number})`")),
        )
    }

    fn division(&mut self, span: Span, operator: BinaryOperator, left: &'a Expression, right: &'a Expression) -> Type {
        let negative = |checker: &Self, side: &Expression| {
            checker.value_of(side).and_then(|value| value.integer()).is_some_and(|number| *number < BigInt::ZERO)
        };
        let symbol = operator.symbol();
        for side in [left, right] {
            if negative(self, side) {
                let message = format!("`{symbol}` is not defined on negative numbers");
                return self.error("invalid", span, message, "");
            }
        }
        let numbers = self.arithmetic(span, operator, left, right);
        if matches!(numbers, Type::Bits { signed: true, .. }) {
            return self.type_error(span, format!("`{symbol}` is not defined on signed numbers"));
        }
        if !numbers.is_unknown() {
            self.check_divisor(span, left, right);
        }
        numbers
    }

    /// The language divides at compile time only. What costs nothing at run time is taken too: powers of two, and 0 / x.
    fn check_divisor(&mut self, span: Span, left: &'a Expression, right: &'a Expression) {
        if self.is_known(left) && self.is_known(right) {
            return;
        }
        let number = |side: &Expression| self.value_of(side).and_then(|value| value.integer()).cloned();
        let (dividend, divisor) = (number(left), number(right));
        let one = BigInt::from(1);
        let power =
            divisor.is_some_and(|divisor| divisor == BigInt::ZERO || (&divisor & (&divisor - &one)) == BigInt::ZERO);
        if !power && dividend != Some(BigInt::ZERO) {
            self.when_run.push(
                Diagnostic::error("could not evaluate a division at compile time")
                    .kind("invalid")
                    .label(span, "P4 divides constants; at run time only by powers of two"),
            );
        }
    }

    fn shift(&mut self, span: Span, left: &'a Expression, right: &'a Expression) -> Type {
        let left_type = self.out.used_type(left).clone();
        let right_type = self.out.used_type(right).clone();
        let number = self.as_number(left, &left_type);
        let count = self.as_number(right, &right_type);
        if !matches!(number, Type::Bits { .. } | Type::Integer) {
            let message = format!("the left operand of a shift has to be a number, this is `{left_type}`");
            return self.type_error(left.span, message);
        }
        let value = self.value_of(right).and_then(|value| value.integer()).cloned();
        if value.as_ref().is_some_and(|value| *value < BigInt::ZERO) {
            return self.error("invalid", span, "shifts by negative amounts are not permitted", "");
        }
        if let (Some(value), Type::Bits { width, .. }) = (&value, &number)
            && *value >= BigInt::from(*width)
        {
            let message = format!("shifting a {width}-bit value by {value}");
            self.warn("overflow", span, message, "no bit of it is left");
        }
        let known = value.is_some() || self.is_known(right);
        let fits = match count {
            Type::Bits { signed, .. } => !signed || known,
            Type::Integer => known,
            _ => false,
        };
        if !fits {
            let message = format!(
                "the right operand of a shift has to be of type `bit<S>` or a constant that is not negative, this is `{right_type}`"
            );
            return self.type_error(right.span, message);
        }
        if number == Type::Integer && !known {
            let message = "an `int` cannot be shifted by an amount that is not constant";
            return self.error("type-error", span, message, "give the left operand a width");
        }
        number
    }

    fn concatenation(&mut self, expression: &'a Expression, left: &'a Expression, right: &'a Expression) -> Type {
        let left_type = self.out.used_type(left).clone();
        let right_type = self.out.used_type(right).clone();
        if (&left_type, &right_type) == (&Type::String, &Type::String) {
            self.evaluate_binary(expression, BinaryOperator::Concatenate, left, right, &Type::String);
            return Type::String;
        }
        let left_number = self.as_number(left, &left_type);
        let right_number = self.as_number(right, &right_type);
        let (Type::Bits { width: high, signed }, Type::Bits { width: low, .. }) = (&left_number, &right_number) else {
            if left_number == Type::Integer || right_number == Type::Integer {
                let message = "`++` needs operands whose width is known";
                return self.error("type-error", expression.span, message, "give the number a width, as in `8w1`");
            }
            let message = format!("`++` is not defined on `{left_type}` and `{right_type}`");
            return self.type_error(expression.span, message);
        };
        if high + low > WIDEST {
            let message = format!("{}: types this wide are not supported", high + low);
            return self.error("overlimit", expression.span, message, &format!("at most {WIDEST} bits"));
        }
        let result = Type::Bits { width: high + low, signed: *signed };
        let number = |side: &Expression| self.value_of(side).and_then(|value| value.integer()).cloned();
        let value = number(left)
            .zip(number(right))
            .map(|(left, right)| Value::Integer(evaluate::concatenate(&left, &right, *low, high + low, *signed)));
        self.set_value(expression, value);
        result
    }

    /// The type of `target op value` in a compound assignment.
    pub fn compound(
        &mut self,
        span: Span,
        operator: BinaryOperator,
        target: &'a Expression,
        value: &'a Expression,
    ) -> Type {
        match operator {
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => self.shift(span, target, value),
            BinaryOperator::Divide | BinaryOperator::Modulo => {
                let zero = self.value_of(value).and_then(|value| value.integer()) == Some(&BigInt::ZERO);
                if zero {
                    return self.error("expr", span, "division by zero", "");
                }
                self.division(span, operator, target, value)
            }
            _ => self.arithmetic(span, operator, target, value),
        }
    }

    fn evaluate_binary(
        &mut self,
        expression: &'a Expression,
        operator: BinaryOperator,
        left: &'a Expression,
        right: &'a Expression,
        result: &Type,
    ) {
        let right_value = self.value_of(right).cloned();
        if matches!(operator, BinaryOperator::Divide | BinaryOperator::Modulo)
            && right_value.as_ref().and_then(|value| value.integer()) == Some(&BigInt::ZERO)
        {
            self.error("expr", expression.span, "division by zero", "");
            return;
        }
        let (Some(left), Some(right)) = (self.value_of(left).cloned(), right_value) else { return };
        match evaluate::binary(operator, &left, &right, result) {
            Ok(value) => self.set_value(expression, value),
            Err(Mistake::DivisionByZero) => {
                self.error("expr", expression.span, "division by zero", "");
            }
            Err(Mistake::NegativeDivision) => {
                self.error("invalid", expression.span, "division is not defined on negative numbers", "");
            }
            Err(Mistake::NegativeShift) => {
                self.error("invalid", expression.span, "shifts by negative amounts are not permitted", "");
            }
            Err(Mistake::TooLarge) => {
                self.error("overlimit", expression.span, "a value this large is not supported", "");
            }
        }
    }

    pub fn slice(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        high: &'a Expression,
        low: &'a Expression,
    ) -> Type {
        let of_type = self.value(base, None);
        let high_value = self.bit_index(high);
        let low_value = self.bit_index(low);
        let (Some(high_value), Some(low_value)) = (high_value, low_value) else { return Type::Unknown };
        let Some(width) = self.sliced_width(base, &of_type) else { return Type::Unknown };
        if high_value < BigInt::ZERO || low_value < BigInt::ZERO || high_value < low_value {
            return self.error(
                "expected",
                expression.span,
                "a slice is written `[high:low]`",
                "these are not in order",
            );
        }
        let wrong = [(high, &high_value), (low, &low_value)].into_iter().find(|(_, value)| **value >= width.into());
        if let (Some((side, value)), true) = (wrong, width > 0 || of_type != Type::Integer) {
            let message = format!("bit index {value} is not below the width {width}");
            return self.error("type-error", side.span, message, &format!("this value has {width} bits"));
        }
        let bound = |value: &BigInt| u32::try_from(value).unwrap_or(u32::MAX >> 1);
        let (high_bit, low_bit) = (bound(&high_value), bound(&low_value));
        let value = self.value_of(base).and_then(|value| value.integer()).cloned();
        if high_bit < 1 << 20 {
            self.set_value(expression, value.map(|value| Value::Integer(evaluate::slice(&value, high_bit, low_bit))));
        }
        Type::bits(high_bit - low_bit + 1)
    }

    fn bit_index(&mut self, index: &'a Expression) -> Option<BigInt> {
        let of_type = self.value(index, None);
        if let Some(number) = self.value_of(index).and_then(|value| value.integer()) {
            return Some(number.clone());
        }
        if matches!(of_type, Type::Integer | Type::Bits { .. } | Type::SerializableEnum(_)) {
            self.type_error(index.span, "the bit indexes of a slice have to be constants");
        } else if !of_type.is_unknown() {
            self.error("expected", index.span, format!("a bit index has to be a number, this is `{of_type}`"), "");
        }
        None
    }

    /// The bits that can be taken out of a value; of a constant `int`, any.
    fn sliced_width(&mut self, base: &'a Expression, of_type: &Type) -> Option<u32> {
        match self.as_number(base, of_type) {
            Type::Bits { width, .. } => Some(width),
            Type::Integer => Some(1 << 20),
            Type::Unknown => None,
            _ => {
                self.type_error(base.span, format!("bits can only be taken from numbers, this is `{of_type}`"));
                None
            }
        }
    }

    pub fn plus_slice(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        low: &'a Expression,
        width: &'a Expression,
    ) -> Type {
        let of_type = self.value(base, None);
        let low_type = self.value(low, None);
        let Some(width_value) = self.bit_index(width) else { return Type::Unknown };
        let Some(base_width) = self.sliced_width(base, &of_type) else { return Type::Unknown };
        if !matches!(low_type, Type::Integer | Type::Bits { .. } | Type::SerializableEnum(_) | Type::Unknown) {
            return self.type_error(low.span, format!("a bit index has to be a number, this is `{low_type}`"));
        }
        let bits = u32::try_from(&width_value).ok().filter(|bits| *bits > 0 && *bits <= base_width);
        let Some(bits) = bits else {
            let message = format!("a slice of {width_value} bits cannot be taken from a value of {base_width} bits");
            return self.type_error(width.span, message);
        };
        if let Some(first) = self.value_of(low).and_then(|value| value.integer()).cloned() {
            if first < BigInt::ZERO {
                return self.type_error(low.span, format!("negative bit index {first}"));
            }
            if &first + bits > base_width.into() {
                return self
                    .type_error(expression.span, format!("the slice ends beyond the {base_width} bits of the value"));
            }
            let value = self.value_of(base).and_then(|value| value.integer()).cloned();
            let first = u32::try_from(&first).unwrap_or(0);
            self.set_value(
                expression,
                value.map(|value| Value::Integer(evaluate::slice(&value, first + bits - 1, first))),
            );
        }
        Type::bits(bits)
    }

    /// Whether an expression is known at compile time, if only once constructor arguments are.
    pub fn is_known(&self, expression: &Expression) -> bool {
        if self.value_of(expression).is_some() || self.out.used_type(expression).is_unknown() {
            return true;
        }
        match &expression.kind {
            ExpressionKind::Path(_) => self.is_known_name(expression),
            ExpressionKind::List { elements, .. } => elements.iter().all(|element| self.is_known(element)),
            ExpressionKind::Structure { fields, .. } => fields.iter().all(|field| self.is_known(&field.value)),
            ExpressionKind::Unary { operand, .. } | ExpressionKind::Cast { operand, .. } => self.is_known(operand),
            ExpressionKind::Binary { left, right, .. } => self.is_known(left) && self.is_known(right),
            ExpressionKind::Conditional { condition, accepted, rejected } => {
                self.is_known(condition) && self.is_known(accepted) && self.is_known(rejected)
            }
            ExpressionKind::Member { base, .. } => self.is_known_member(expression, base),
            ExpressionKind::Index { base, index } => self.is_known(base) && self.is_known(index),
            ExpressionKind::Slice { base, .. } => self.is_known(base),
            ExpressionKind::PlusSlice { base, low, .. } => self.is_known(base) && self.is_known(low),
            ExpressionKind::Mask { value: left, mask: right } | ExpressionKind::Range { low: left, high: right } => {
                self.is_known(left) && self.is_known(right)
            }
            ExpressionKind::Call { .. } => self.is_known_call(expression),
            ExpressionKind::Invalid | ExpressionKind::DefaultValue | ExpressionKind::This => true,
            ExpressionKind::Bool(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::String(_)
            | ExpressionKind::Type(_)
            | ExpressionKind::Erroneous
            | ExpressionKind::DontCare
            | ExpressionKind::Default => true,
        }
    }

    pub fn require_known(&mut self, expression: &'a Expression, what: &str) {
        if !self.is_known(expression) {
            self.type_error(expression.span, format!("{what} has to be known at compile time"));
        }
    }
}
