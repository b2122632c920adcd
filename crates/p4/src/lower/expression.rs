//! Expressions: each becomes a value, and the statements that its calls need are added before it is used.

use hlir::source::Span;
use hlir::{Expression as Hlir, Type as HlirType};

use super::arithmetic;
use super::effects::Mark;
use super::scope::Binding;
use super::value::Value;
use super::{Lowered, Lowering};
use crate::ast::{BinaryOperator, DeclarationId, DeclarationKind, Expression, ExpressionKind, NamedExpression};
use crate::check::{Node, Property, Reference};
use crate::evaluate;
use crate::types::Type;

impl<'a> Lowering<'a> {
    /// The value of an expression, cast to what its place needs.
    pub fn expression(&mut self, expression: &'a Expression) -> Lowered<Value> {
        if let Some(constant) = self.checked.constant(expression) {
            let of_type = self.substituted(self.checked.used_type(expression));
            if let Some(value) = self.constant(constant, &of_type) {
                return Ok(value);
            }
        }
        self.nested(expression.span, |lowering| {
            let value = lowering.plain_expression(expression)?;
            let Some(to) = lowering.checked.conversion(expression) else { return Ok(value) };
            let from = lowering.substituted(lowering.checked.type_of(expression));
            let to = lowering.substituted(to);
            Ok(lowering.convert(value, &from, &to))
        })
    }

    /// The value of an expression that is a scalar.
    pub fn scalar(&mut self, expression: &'a Expression) -> Lowered<Hlir> {
        match self.expression(expression)? {
            Value::Scalar(value) => Ok(value),
            Value::Integer(number) => {
                let width = u32::try_from(number.bits()).unwrap_or(u32::MAX).max(32);
                Ok(Hlir::constant(arithmetic::bits_of(&number, width), width))
            }
            _ => Err(self.internal(expression.span, "this as a number")),
        }
    }

    /// Values of several expressions, evaluated from left to right.
    pub fn expressions(&mut self, expressions: impl IntoIterator<Item = &'a Expression>) -> Lowered<Vec<Value>> {
        let mut values: Vec<(Value, Mark)> = Vec::new();
        for expression in expressions {
            let value = self.expression(expression)?;
            values.push((value, self.mark()));
        }
        Ok(self.settled(values))
    }

    /// Saves those values that a later evaluation has changed.
    pub fn settled(&mut self, mut values: Vec<(Value, Mark)>) -> Vec<Value> {
        for (value, mark) in values.iter_mut().rev() {
            self.settle(value, *mark);
        }
        values.into_iter().map(|(value, _)| value).collect()
    }

    /// The width and signedness of the numbers of a type.
    pub fn number_type(&self, of_type: &Type) -> (u32, bool) {
        match self.checked.representation(of_type) {
            Type::Bits { width, signed } => (width, signed),
            Type::Bool => (1, false),
            _ => (32, false),
        }
    }

    pub fn used_type(&self, expression: &Expression) -> Type {
        self.substituted(self.checked.used_type(expression))
    }

    fn plain_expression(&mut self, expression: &'a Expression) -> Lowered<Value> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Bool(value) => Ok(Value::boolean(*value)),
            ExpressionKind::Integer(integer) => {
                let of_type = self.substituted(self.checked.type_of(expression));
                Ok(self.number(&integer.value, &of_type))
            }
            ExpressionKind::String(text) => Ok(Value::Text(text.clone())),
            ExpressionKind::Path(_) | ExpressionKind::This => self.named_value(expression),
            ExpressionKind::Type(_) => Ok(Value::Void),
            ExpressionKind::List { elements, .. } => self.list_literal(expression, elements),
            ExpressionKind::Structure { fields, .. } => self.structure_literal(expression, fields),
            ExpressionKind::Invalid | ExpressionKind::DefaultValue => {
                let of_type = self.substituted(self.checked.type_of(expression));
                Ok(self.zero_of(&of_type))
            }
            ExpressionKind::Unary { operator, operand } => self.unary_expression(*operator, operand),
            ExpressionKind::Binary { operator, left, right } => match operator {
                BinaryOperator::And | BinaryOperator::Or => self.short_circuit(*operator, left, right),
                _ => self.binary_expression(expression, *operator, left, right),
            },
            ExpressionKind::Conditional { condition, accepted, rejected } => {
                self.conditional(condition, accepted, rejected)
            }
            ExpressionKind::Cast { operand, .. } => {
                let value = self.expression(operand)?;
                let from = self.used_type(operand);
                let to = self.substituted(self.checked.type_of(expression));
                Ok(self.convert(value, &from, &to))
            }
            ExpressionKind::Member { base, .. } => self.member(expression, base),
            ExpressionKind::Index { base, index } => self.indexed(expression, base, index),
            ExpressionKind::Slice { base, high, low } => {
                let (high, low) = (self.known_number(high)?, self.known_number(low)?);
                match self.expression(base)? {
                    Value::Scalar(whole) => Ok(Value::Scalar(arithmetic::slice(whole, high, low))),
                    Value::Integer(number) => {
                        let bits = evaluate::slice(&number, high, low);
                        let width = high - low + 1;
                        Ok(Value::Scalar(Hlir::constant(arithmetic::bits_of(&bits, width), width)))
                    }
                    _ => Err(self.internal(span, "a slice of this")),
                }
            }
            ExpressionKind::PlusSlice { base, low, width } => self.plus_slice(base, low, width),
            ExpressionKind::Call { .. } => self.call_expression(expression),
            ExpressionKind::DontCare
            | ExpressionKind::Default
            | ExpressionKind::Mask { .. }
            | ExpressionKind::Range { .. } => Ok(Value::DontCare),
            ExpressionKind::Erroneous => Err(self.internal(span, "what was not parsed")),
        }
    }

    /// A number of a type.
    pub fn number(&self, number: &num_bigint::BigInt, of_type: &Type) -> Value {
        match self.checked.representation(of_type) {
            Type::Bits { width, .. } => Value::Scalar(Hlir::constant(arithmetic::bits_of(number, width), width)),
            Type::Bool => Value::boolean(*number != num_bigint::BigInt::ZERO),
            _ => Value::Integer(number.clone()),
        }
    }

    /// A value of the checker's as one of a type; nothing for sets.
    pub fn constant(&mut self, constant: &evaluate::Value, of_type: &Type) -> Option<Value> {
        Some(match constant {
            evaluate::Value::Bool(value) => Value::boolean(*value),
            evaluate::Value::Integer(number) => self.number(number, of_type),
            evaluate::Value::String(text) => Value::Text(text.clone()),
            evaluate::Value::Member(member) => Value::constant(u64::from(self.member_number(*member)), 32),
            evaluate::Value::Sequence(parts) | evaluate::Value::Structure(parts) => {
                let types = self.part_types(of_type, parts.len());
                let parts: Option<Vec<Value>> =
                    parts.iter().zip(&types).map(|(part, of_type)| self.constant(part, of_type)).collect();
                self.assembled(of_type, parts?)
            }
            evaluate::Value::Invalid => self.zero_of(of_type),
            evaluate::Value::Mask(..) | evaluate::Value::Range(..) => return None,
            evaluate::Value::Everything => Value::DontCare,
        })
    }

    /// The number of a member of an enumeration or of the errors.
    pub fn member_number(&self, member: DeclarationId) -> u32 {
        let node = self.checked.node(member);
        let is_error = node.owner().is_some_and(|owner| {
            matches!(
                self.checked.node(owner).declaration().map(|declaration| &declaration.kind),
                Some(DeclarationKind::Error(_))
            )
        });
        if is_error {
            // Errors are numbered after those of core.p4, also where core.p4 is not included.
            let name = node.name().as_str();
            return self.program.errors.iter().position(|error| error == name).unwrap_or(0) as u32;
        }
        self.checked.number(member).unwrap_or(0)
    }

    /// The types of the parts of a struct, tuple, list or array.
    pub fn part_types(&self, of_type: &Type, count: usize) -> Vec<Type> {
        match of_type {
            Type::Tuple(parts) | Type::ListLiteral { elements: parts, .. } => parts.to_vec(),
            Type::StructureLiteral { fields, .. } => fields.iter().map(|(_, field)| field.clone()).collect(),
            Type::Stack { element, .. } | Type::List(element) => vec![(**element).clone(); count],
            _ => self.checked.fields_of(of_type).into_iter().map(|field| field.of_type).collect(),
        }
    }

    /// A value of a type from its parts.
    pub fn assembled(&mut self, of_type: &Type, parts: Vec<Value>) -> Value {
        match of_type {
            Type::Header(_) => Value::Made { of_type: of_type.clone(), valid: Hlir::Bool(true), fields: parts },
            Type::Stack { element, .. } if element.is_header_like() => Value::Stack { elements: parts, next: None },
            Type::Union(_) => Value::Union(parts),
            _ => Value::Struct(parts),
        }
    }

    /// The default value of a type: zero, invalid.
    pub fn zero_of(&mut self, of_type: &Type) -> Value {
        if let Some(scalar) = self.scalar_type(of_type) {
            return Value::Scalar(arithmetic::zero(scalar));
        }
        let parts = |lowering: &mut Self, types: Vec<Type>| {
            types.iter().map(|part| lowering.zero_of(part)).collect::<Vec<Value>>()
        };
        match of_type {
            Type::Header(_) => {
                let types = self.part_types(of_type, 0);
                Value::Made { of_type: of_type.clone(), valid: Hlir::Bool(false), fields: parts(self, types) }
            }
            Type::Union(_) => {
                let types = self.part_types(of_type, 0);
                Value::Union(parts(self, types))
            }
            Type::Stack { size, .. } => {
                let types = self.part_types(of_type, *size as usize);
                let elements = parts(self, types);
                self.assembled(of_type, elements)
            }
            Type::Struct(_) | Type::Tuple(_) | Type::ListLiteral { .. } | Type::StructureLiteral { .. } => {
                let types = self.part_types(of_type, 0);
                Value::Struct(parts(self, types))
            }
            Type::Integer => Value::Integer(num_bigint::BigInt::ZERO),
            _ => Value::Void,
        }
    }

    fn named_value(&mut self, expression: &'a Expression) -> Lowered<Value> {
        let declaration = match self.checked.reference(expression) {
            Reference::Declaration(id) | Reference::This(id) => *id,
            Reference::Member(id) => return Ok(Value::constant(u64::from(self.member_number(*id)), 32)),
            Reference::Type(_) | Reference::Callee => return Ok(Value::Void),
            Reference::None | Reference::Field(_) | Reference::Property(_) => {
                return Err(self.internal(expression.span, "a name without a meaning"));
            }
        };
        match self.scope.lookup(declaration) {
            Some(Binding::Value(value)) => Ok(value),
            Some(Binding::Target(target)) => Ok(self.load_target(&target)),
            None => self.global_constant(declaration, expression.span),
        }
    }

    /// A constant declared at the top of the program.
    fn global_constant(&mut self, declaration: DeclarationId, span: Span) -> Lowered<Value> {
        let of_type = self.checked.declared_type(declaration).clone();
        if let Some(value) = self.checked.constant_value(declaration)
            && let Some(value) = self.constant(&value.clone(), &of_type)
        {
            return Ok(value);
        }
        if let Node::Declaration(found) = self.checked.node(declaration)
            && let DeclarationKind::Constant(constant) = &found.kind
        {
            return self.expression(&constant.value);
        }
        Err(self.internal(span, "a name that has no value here"))
    }

    fn list_literal(&mut self, expression: &'a Expression, elements: &'a [Expression]) -> Lowered<Value> {
        let of_type = self.substituted(self.checked.type_of(expression));
        let mut values = self.expressions(elements)?;
        let count = if let Type::Stack { size, .. } = &of_type { *size as usize } else { values.len() };
        let types = self.part_types(&of_type, count);
        for missing in types.iter().skip(values.len()) {
            let value = self.zero_of(missing);
            values.push(value);
        }
        Ok(self.assembled(&of_type, values))
    }

    fn structure_literal(&mut self, expression: &'a Expression, fields: &'a [NamedExpression]) -> Lowered<Value> {
        let of_type = self.substituted(self.checked.type_of(expression));
        let values = self.expressions(fields.iter().map(|field| &field.value))?;
        let declared = self.checked.fields_of(&of_type);
        if declared.is_empty() {
            return Ok(self.assembled(&of_type, values));
        }
        let mut parts = Vec::new();
        for field in declared {
            let given = fields.iter().position(|given| given.name.as_str() == &*field.name);
            parts.push(match given.and_then(|at| values.get(at)) {
                Some(value) => value.clone(),
                None => self.zero_of(&field.of_type),
            });
        }
        Ok(self.assembled(&of_type, parts))
    }

    fn member(&mut self, expression: &'a Expression, base: &'a Expression) -> Lowered<Value> {
        if let Some(place) = self.place_of(expression)? {
            return Ok(self.load_target(&place));
        }
        match self.checked.reference(expression).clone() {
            Reference::Member(member) => Ok(Value::constant(u64::from(self.member_number(member)), 32)),
            Reference::Field(field) => {
                let index = self.field_index(field);
                let value = self.expression(base)?;
                Ok(self.part(value, index))
            }
            Reference::Property(property) => self.property(expression, base, property),
            Reference::Declaration(_) => self.named_value(expression),
            Reference::Type(_) | Reference::Callee | Reference::This(_) => Ok(Value::Void),
            Reference::None => Err(self.internal(expression.span, "this member")),
        }
    }

    /// The place of a field in its struct, header or union.
    pub fn field_index(&self, field: DeclarationId) -> usize {
        let owner = self.checked.node(field).owner();
        let fields = owner.map_or(&[][..], |owner| self.checked.fields(owner));
        fields.iter().position(|candidate| candidate.id == field).unwrap_or(0)
    }

    /// One part of a value.
    pub fn part(&mut self, value: Value, index: usize) -> Value {
        match value {
            Value::Struct(mut parts) | Value::Union(mut parts) | Value::Made { fields: mut parts, .. } => {
                if index < parts.len() { parts.swap_remove(index) } else { Value::Void }
            }
            Value::Stack { elements: mut parts, .. } => {
                if index < parts.len() {
                    parts.swap_remove(index)
                } else {
                    Value::Void
                }
            }
            Value::Header { members, .. } => match members.get(index).cloned() {
                Some(member) => self.load(&member),
                None => Value::Void,
            },
            Value::Void
            | Value::Scalar(_)
            | Value::Integer(_)
            | Value::Text(_)
            | Value::Varbit(_)
            | Value::Object(_)
            | Value::DontCare => Value::Void,
        }
    }

    fn property(&mut self, expression: &'a Expression, base: &'a Expression, property: Property) -> Lowered<Value> {
        match property {
            Property::Hit | Property::Miss => {
                let (hit, miss) = self.apply_for_hit(base)?;
                let storage = self.scratch(&format!("hit{}", self.line_of(expression.span)), HlirType::Bool);
                let set = |lowering: &mut Self, block, value: bool| {
                    lowering.current = block;
                    lowering.assign(&storage, Value::boolean(value));
                    lowering.current
                };
                let hit = set(self, hit, property == Property::Hit);
                let miss = set(self, miss, property == Property::Miss);
                self.continue_after(&self.line_of(expression.span), &[hit, miss]);
                Ok(self.load(&storage))
            }
            Property::Size => match self.used_type(base) {
                Type::Stack { size, .. } => Ok(Value::constant(u64::from(size), 32)),
                _ => Err(self.internal(expression.span, "the size of this")),
            },
            Property::LastIndex => match self.expression(base)? {
                Value::Stack { next: Some(next), .. } => {
                    let one = Hlir::constant(1u32, 32);
                    Ok(Value::Scalar(arithmetic::binary(hlir::Binary::Subtract, next, one)))
                }
                _ => Err(self.internal(expression.span, "the last index of this")),
            },
            Property::Next | Property::Last | Property::ActionRun => {
                Err(self.unsupported(expression.span, "this use of a property is"))
            }
        }
    }

    fn indexed(&mut self, expression: &'a Expression, base: &'a Expression, index: &'a Expression) -> Lowered<Value> {
        if let Some(place) = self.place_of(expression)? {
            return Ok(self.load_target(&place));
        }
        let value = self.expression(base)?;
        let mark = self.mark();
        let at = self.scalar(index)?;
        let mut value = value;
        self.settle(&mut value, mark);
        if let Some((number, _)) = arithmetic::constant_of(&at) {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            if matches!(&value, Value::Struct(parts) | Value::Stack { elements: parts, .. } if number >= parts.len()) {
                let of_type = self.substituted(self.checked.type_of(expression));
                return Ok(self.zero_of(&of_type));
            }
            return Ok(self.part(value, number));
        }
        let (Value::Struct(parts) | Value::Stack { elements: parts, .. }) = value else {
            return Err(self.internal(expression.span, "an index into this"));
        };
        let width = self.width(&at);
        Ok(self.choose_by(&at, width, parts))
    }

    fn plus_slice(&mut self, base: &'a Expression, low: &'a Expression, width: &'a Expression) -> Lowered<Value> {
        let taken = self.known_number(width)?;
        let (from, _) = self.number_type(&self.used_type(base));
        // A slice of storage refers to it (P4_16 6.7), as an element of an array does: it is read after `low` is evaluated.
        let place = match self.checked.conversion(base) {
            None => self.place_of(base)?,
            Some(_) => None,
        };
        let (whole, low) = if let Some(mut place) = place {
            let mark = self.mark();
            let low = self.scalar(low)?;
            self.settle_target(&mut place, mark);
            (self.load_target(&place), low)
        } else {
            let mut whole = self.expression(base)?;
            let mark = self.mark();
            let low = self.scalar(low)?;
            self.settle(&mut whole, mark);
            (whole, low)
        };
        let whole = match whole {
            Value::Scalar(whole) => whole,
            Value::Integer(number) => Hlir::constant(arithmetic::bits_of(&number, from), from),
            _ => return Err(self.internal(base.span, "a slice of this")),
        };
        let shifted = arithmetic::binary(hlir::Binary::ShiftRight, whole, low);
        Ok(Value::Scalar(arithmetic::resize(shifted, from, taken, false)))
    }

    /// A number that must be known by now: the bounds of a slice, a shift of a stack.
    pub fn known_number(&mut self, expression: &'a Expression) -> Lowered<u32> {
        let value = self.expression(expression)?;
        let number = match &value {
            Value::Integer(number) => u32::try_from(number).ok(),
            Value::Scalar(scalar) => arithmetic::constant_of(scalar).and_then(|(number, _)| u32::try_from(number).ok()),
            _ => None,
        };
        number.ok_or_else(|| self.unsupported(expression.span, "a number here that is known only at run time is"))
    }
}
