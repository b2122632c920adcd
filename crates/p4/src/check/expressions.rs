//! Expressions: the type of each, what its names mean, and its value where that is known.
//!
//! Types come from the leaves up; `expected` is a hint that only generic calls use. What the surroundings then make of
//! the type is in `convert`.

use super::checker::Checker;
use super::nodes::Node;
use super::results::Reference;
use super::written_types::WIDEST;
use crate::ast::{DeclarationKind, Expression, ExpressionKind, Integer, NamedExpression, Path, Type as WrittenType};
use crate::evaluate::{Value, cast, fits, wrap};
use crate::types::Type;
use num_bigint::BigInt;

impl<'a> Checker<'a> {
    /// The type of an expression that has to be a value, not the name of a type or function.
    pub fn value(&mut self, expression: &'a Expression, expected: Option<&Type>) -> Type {
        let of_type = self.expression(expression, expected);
        match of_type {
            Type::Name(named) => {
                let found = self.error(
                    "type-error",
                    expression.span,
                    format!("type `{named}` cannot be used here, expecting an expression"),
                    "this is the name of a type",
                );
                self.set_type(expression, found.clone());
                found
            }
            Type::Callable => {
                let found = self.error("type-error", expression.span, "a function can only be called", "");
                self.set_type(expression, found.clone());
                found
            }
            _ => of_type,
        }
    }

    pub fn expression(&mut self, expression: &'a Expression, expected: Option<&Type>) -> Type {
        let of_type = self.type_expression_of(expression, expected);
        self.set_type(expression, of_type.clone());
        of_type
    }

    fn type_expression_of(&mut self, expression: &'a Expression, expected: Option<&Type>) -> Type {
        match &expression.kind {
            ExpressionKind::Bool(value) => {
                self.set_value(expression, Some(Value::Bool(*value)));
                Type::Bool
            }
            ExpressionKind::Integer(integer) => self.integer(expression, integer),
            ExpressionKind::String(text) => {
                self.set_value(expression, Some(Value::String(text.clone())));
                Type::String
            }
            ExpressionKind::Path(path) => self.path(expression, path),
            ExpressionKind::This => self.this(expression),
            ExpressionKind::Type(written) => self.type_expression(expression, written),
            ExpressionKind::List { elements, defaulted } => self.list(expression, elements, *defaulted, expected),
            ExpressionKind::Structure { fields, defaulted } => self.structure_literal(fields, *defaulted, expected),
            ExpressionKind::Invalid => Type::InvalidLiteral,
            ExpressionKind::DefaultValue => Type::DefaultLiteral,
            ExpressionKind::Unary { operator, operand } => self.unary(expression, *operator, operand),
            ExpressionKind::Binary { operator, left, right } => self.binary(expression, *operator, left, right),
            ExpressionKind::Conditional { condition, accepted, rejected } => {
                self.conditional(expression, condition, accepted, rejected, expected)
            }
            ExpressionKind::Cast { target, operand } => self.cast(expression, target, operand),
            ExpressionKind::Member { base, member } => self.member(expression, base, member),
            ExpressionKind::Index { base, index } => self.index(expression, base, index),
            ExpressionKind::Slice { base, high, low } => self.slice(expression, base, high, low),
            ExpressionKind::PlusSlice { base, low, width } => self.plus_slice(expression, base, low, width),
            ExpressionKind::Call { callee, type_arguments, arguments } => {
                self.call(expression, callee, type_arguments, arguments, expected)
            }
            ExpressionKind::Mask { .. } | ExpressionKind::Range { .. } => self.type_error(
                expression.span,
                "`&&&` and `..` can only be used in select cases, table entries and value sets",
            ),
            ExpressionKind::DontCare | ExpressionKind::Default => {
                self.type_error(expression.span, "a value is expected here")
            }
            ExpressionKind::Erroneous => Type::Unknown,
        }
    }

    fn integer(&mut self, expression: &'a Expression, integer: &Integer) -> Type {
        let Some(width) = integer.width else {
            self.set_value(expression, Some(Value::Integer(integer.value.clone())));
            return Type::Integer;
        };
        let of_type = Type::Bits { width, signed: integer.signed };
        if width > WIDEST {
            let message = format!("{width}: numbers this wide are not supported");
            return self.error("overlimit", expression.span, message, &format!("at most {WIDEST} bits"));
        }
        if width == 0 && integer.signed {
            return self.error("invalid", expression.span, "the width of a signed type cannot be zero", "");
        }
        if !fits(&integer.value, width, integer.signed) {
            self.warn_overflow(expression.span, &integer.value, &of_type);
        }
        self.set_value(expression, Some(Value::Integer(wrap(&integer.value, width, integer.signed))));
        of_type
    }

    fn path(&mut self, expression: &'a Expression, path: &'a Path) -> Type {
        let found = self.look_up(path.name.as_str(), path.absolute);
        let Some(id) = found.first().copied() else {
            if let Some(kind) = self.match_kinds.get(&path.name.text).copied() {
                self.refer(expression, Reference::Member(kind));
                self.set_value(expression, Some(Value::Member(kind)));
                return Type::MatchKind;
            }
            return self.not_found(&path.name);
        };
        if let Some(named) = self.type_named(id) {
            self.refer(expression, Reference::Type(named.clone()));
            return if named.is_unknown() { named } else { Type::Name(named.into()) };
        }
        self.refer(expression, Reference::Declaration(id));
        match self.node(id) {
            Node::Declaration(declaration) => match &declaration.kind {
                DeclarationKind::Function(_) => {
                    self.refer(expression, Reference::Callee);
                    return Type::Callable;
                }
                DeclarationKind::Constant(_) => {
                    let value = self.out.constant_value(id).cloned();
                    self.set_value(expression, value);
                }
                _ => {}
            },
            Node::State { .. } => return Type::State,
            Node::Member { .. } => {
                self.refer(expression, Reference::Member(id));
                let value = self.out.constant_value(id).cloned();
                self.set_value(expression, value);
            }
            Node::Field { .. } | Node::Method { .. } | Node::Parameter { .. } | Node::TypeParameter { .. } => {}
        }
        self.out.declared_type(id).clone()
    }

    fn this(&mut self, expression: &'a Expression) -> Type {
        let Some(instance) = self.around.this else {
            return self.error(
                "invalid",
                expression.span,
                "`this` can only be used in the definition of an abstract method",
                "",
            );
        };
        self.refer(expression, Reference::This(instance));
        self.out.declared_type(instance).clone()
    }

    fn list(
        &mut self,
        expression: &'a Expression,
        elements: &'a [Expression],
        defaulted: bool,
        expected: Option<&Type>,
    ) -> Type {
        let hints: Vec<Type> = match expected {
            Some(Type::Tuple(parts)) => parts.to_vec(),
            Some(Type::List(element)) | Some(Type::Stack { element, .. }) => {
                vec![element.as_ref().clone(); elements.len()]
            }
            Some(of_type) => self.out.fields_of(of_type).into_iter().map(|field| field.of_type).collect(),
            None => Vec::new(),
        };
        let types: Vec<Type> =
            elements.iter().enumerate().map(|(at, element)| self.value(element, hints.get(at))).collect();
        let values: Option<Vec<Value>> = elements.iter().map(|element| self.value_of(element).cloned()).collect();
        if !defaulted {
            self.set_value(expression, values.map(|values| Value::Sequence(values.into())));
        }
        Type::ListLiteral { elements: types.into(), defaulted }
    }

    fn structure_literal(&mut self, given: &'a [NamedExpression], defaulted: bool, expected: Option<&Type>) -> Type {
        self.check_distinct(given.iter().map(|part| &part.name));
        let fields = expected.map(|of_type| self.out.fields_of(of_type)).unwrap_or_default();
        let mut types = Vec::new();
        for part in given {
            let hint = fields.iter().find(|field| field.name == part.name.text).map(|field| field.of_type.clone());
            types.push((part.name.text.clone(), self.value(&part.value, hint.as_ref())));
        }
        Type::StructureLiteral { fields: types.into(), defaulted }
    }

    fn conditional(
        &mut self,
        expression: &'a Expression,
        condition: &'a Expression,
        accepted: &'a Expression,
        rejected: &'a Expression,
        expected: Option<&Type>,
    ) -> Type {
        let condition_type = self.value(condition, Some(&Type::Bool));
        let left = self.value(accepted, expected);
        let right = self.value(rejected, expected);
        if !matches!(condition_type, Type::Bool | Type::Unknown) {
            return self.type_error(
                condition.span,
                format!("the selector of `?:` has to be `bool`, this is `{condition_type}`"),
            );
        }
        let chosen = self.value_of(condition).and_then(|value| value.boolean());
        if left == Type::Integer && right == Type::Integer && chosen.is_none() && !self.is_known(condition) {
            let message = "the width of at least one of the two has to be given";
            return self.error("type-error", expression.span, message, "which of them it is depends on the packet");
        }
        let Some(of_type) = self.common_type(accepted, &left, rejected, &right) else {
            return self.type_error(
                expression.span,
                format!("the two sides of `?:` have different types, `{left}` and `{right}`"),
            );
        };
        let value = chosen.and_then(|chosen| self.value_of(if chosen { accepted } else { rejected }).cloned());
        self.set_value(expression, value);
        of_type
    }

    /// Casts one of two operands to the type of the other; the type is the result. Nothing if they do not agree.
    pub fn common_type(
        &mut self,
        left: &'a Expression,
        left_type: &Type,
        right: &'a Expression,
        right_type: &Type,
    ) -> Option<Type> {
        if left_type.is_unknown() || right_type.is_unknown() {
            return Some(Type::Unknown);
        }
        if left_type == right_type {
            return Some(left_type.clone());
        }
        let yields = |of_type: &Type| {
            matches!(
                of_type,
                Type::Integer
                    | Type::ListLiteral { .. }
                    | Type::StructureLiteral { .. }
                    | Type::InvalidLiteral
                    | Type::DefaultLiteral
                    | Type::SerializableEnum(_)
            )
        };
        if yields(right_type) && self.unify(left_type, right_type) && self.convert(right, left_type) {
            return Some(left_type.clone());
        }
        if yields(left_type) && self.unify(right_type, left_type) && self.convert(left, right_type) {
            return Some(right_type.clone());
        }
        if self.convert_opened(left, left_type, right_type) {
            return Some(right_type.clone());
        }
        if self.convert_opened(right, right_type, left_type) {
            return Some(left_type.clone());
        }
        if matches!(
            (left_type, right_type),
            (Type::SerializableEnum(_), Type::SerializableEnum(_) | Type::Integer)
                | (Type::Integer, Type::SerializableEnum(_))
        ) {
            return self.common_representation(left, left_type, right, right_type);
        }
        let same = std::mem::discriminant(left_type) == std::mem::discriminant(right_type);
        (same && self.unify(left_type, right_type)).then(|| left_type.clone())
    }

    /// Two different enumerations are compared by their numbers.
    fn common_representation(
        &mut self,
        left: &'a Expression,
        left_type: &Type,
        right: &'a Expression,
        right_type: &Type,
    ) -> Option<Type> {
        let (left_number, right_number) = (self.out.representation(left_type), self.out.representation(right_type));
        let number = if left_number == Type::Integer { right_number.clone() } else { left_number.clone() };
        let agree = self.unify(&number, &left_number) && self.unify(&number, &right_number);
        (agree && self.convert(left, &number) && self.convert(right, &number)).then_some(number)
    }

    fn cast(&mut self, expression: &'a Expression, target: &'a WrittenType, operand: &'a Expression) -> Type {
        let target_type = self.resolve(target);
        let from = self.value(operand, Some(&target_type));
        if target_type.is_unknown() || from.is_unknown() {
            return target_type;
        }
        if !self.may_be_cast(expression, operand, &from, &target_type) {
            if !self.out.used_type(operand).is_unknown() {
                let message = format!("cannot cast `{from}` to `{target_type}`");
                self.error("type-error", expression.span, message, "");
            }
            return Type::Unknown;
        }
        let representation = self.out.representation(&target_type);
        let value = self.value_of(operand).and_then(|value| cast(value, &representation));
        if let (Some(Value::Integer(number)), Type::Integer, true) =
            (self.value_of(operand).cloned(), &from, matches!(representation, Type::Bits { .. }))
        {
            let Type::Bits { width, signed } = representation else { return target_type };
            if !fits(&number, width, signed) && !is_bit_pattern(&number, width, signed) {
                self.warn_overflow(expression.span, &number, &representation);
            }
        }
        self.set_value(expression, value);
        target_type
    }

    /// The explicit casts of the language.
    fn may_be_cast(&mut self, expression: &'a Expression, operand: &'a Expression, from: &Type, to: &Type) -> bool {
        if from == to {
            return true;
        }
        let literal = matches!(
            from,
            Type::ListLiteral { .. } | Type::StructureLiteral { .. } | Type::InvalidLiteral | Type::DefaultLiteral
        );
        if literal {
            return self.convert(operand, to);
        }
        if let Type::Tuple(elements) = from {
            let list = Type::ListLiteral { elements: elements.clone(), defaulted: false };
            return self.unify(to, &list);
        }
        let wrapped = matches!(from, Type::Newtype(_) | Type::SerializableEnum(_))
            || matches!(to, Type::Newtype(_) | Type::SerializableEnum(_));
        if wrapped {
            return self.may_be_unwrapped(expression, operand, from, to);
        }
        match (from, to) {
            (
                Type::Bits { width: from_width, signed: from_signed },
                Type::Bits { width: to_width, signed: to_signed },
            ) => from_width == to_width || from_signed == to_signed,
            (Type::Integer, Type::Bits { .. }) | (Type::Bits { .. }, Type::Integer) => true,
            (Type::Bool, Type::Bits { width: 1, signed: false })
            | (Type::Bits { width: 1, signed: false }, Type::Bool) => true,
            (Type::Integer, Type::Bool) => {
                let value = self.value_of(operand).and_then(|value| value.integer()).cloned();
                if let Some(value) = value
                    && value != BigInt::ZERO
                    && value != BigInt::from(1)
                {
                    self.error("invalid", expression.span, "only 0 and 1 can be cast to `bool`", "");
                    self.set_type(operand, Type::Unknown);
                    return false;
                }
                true
            }
            _ => self.unify(to, from),
        }
    }

    /// Casts between a `type` or enumeration and what is below it: into one from exactly that, out of one to wherever
    /// its number may be cast.
    fn may_be_unwrapped(
        &mut self,
        expression: &'a Expression,
        operand: &'a Expression,
        from: &Type,
        to: &Type,
    ) -> bool {
        if let Type::Newtype(nominal) | Type::SerializableEnum(nominal) = to {
            let below = self.out.underlying(nominal).cloned().unwrap_or(Type::Unknown);
            let same =
                *from == below || below.is_unknown() || self.out.representation(from) == self.out.representation(to);
            return same || *from == Type::Integer && self.may_be_cast(expression, operand, from, &below);
        }
        let (Type::Newtype(nominal) | Type::SerializableEnum(nominal)) = from else { return false };
        let below = self.out.underlying(nominal).cloned().unwrap_or(Type::Unknown);
        below.is_unknown() || self.may_be_cast(expression, operand, &below, to)
    }
}

/// `(int<8>) 0xFF` names a bit pattern: no warning.
fn is_bit_pattern(number: &BigInt, width: u32, signed: bool) -> bool {
    signed && *number >= BigInt::ZERO && fits(number, width, false)
}
