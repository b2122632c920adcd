//! Member access and indexing: fields, members of enumerations, what the language defines on its own types.

use hlir::diagnostic::Diagnostic;
use num_bigint::BigInt;

use super::checker::Checker;
use super::nodes::Node;
use super::results::{Builtin, Callee, Property, Reference};
use crate::ast::{DeclarationId, DeclarationKind, Direction, Expression, ExpressionKind, Member, Name};
use crate::evaluate::Value;
use crate::types::Type;

/// The builtin method of a name, on whatever it may be called.
pub(super) fn builtin(name: &str) -> Option<Builtin> {
    Some(match name {
        "isValid" => Builtin::IsValid,
        "setValid" => Builtin::SetValid,
        "setInvalid" => Builtin::SetInvalid,
        "push_front" => Builtin::PushFront,
        "pop_front" => Builtin::PopFront,
        "minSizeInBits" => Builtin::MinSizeInBits,
        "maxSizeInBits" => Builtin::MaxSizeInBits,
        "minSizeInBytes" => Builtin::MinSizeInBytes,
        "maxSizeInBytes" => Builtin::MaxSizeInBytes,
        _ => return None,
    })
}

impl Builtin {
    pub(super) fn is_size(self) -> bool {
        matches!(
            self,
            Builtin::MinSizeInBits | Builtin::MaxSizeInBits | Builtin::MinSizeInBytes | Builtin::MaxSizeInBytes
        )
    }
}

impl<'a> Checker<'a> {
    pub fn member(&mut self, expression: &'a Expression, base: &'a Expression, member: &'a Name) -> Type {
        let base_type = self.expression(base, None);
        self.member_of(expression, base, base_type, member)
    }

    /// The same where the member is called: builtin methods come before fields of their name.
    pub fn called_member(&mut self, expression: &'a Expression, base: &'a Expression, member: &'a Name) -> Type {
        let base_type = self.making_objects(|checker| checker.expression(base, None));
        let called = if self.has_builtin(&base_type, member.as_str()) {
            self.refer(expression, Reference::Callee);
            Type::Callable
        } else {
            self.member_of(expression, base, base_type, member)
        };
        self.set_type(expression, called.clone());
        called
    }

    fn member_of(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        base_type: Type,
        member: &'a Name,
    ) -> Type {
        match &base_type {
            Type::Unknown => Type::Unknown,
            Type::Name(named) => self.type_member(expression, named, member),
            Type::Struct(_) | Type::Header(_) | Type::Union(_) => {
                let fields = self.out.fields_of(&base_type);
                if let Some(field) = fields.iter().find(|field| field.name == member.text) {
                    self.refer(expression, Reference::Field(field.id));
                    self.used[field.id.index()] = true;
                    self.field_value(expression, base, field.id, &base_type);
                    return field.of_type.clone();
                }
                self.method_or_nothing(expression, &base_type, member)
            }
            Type::Stack { .. } => self.stack_member(expression, &base_type, member),
            Type::TableResult(nominal) => {
                let (property, of_type) = match member.as_str() {
                    "hit" => (Property::Hit, Type::Bool),
                    "miss" => (Property::Miss, Type::Bool),
                    "action_run" => (Property::ActionRun, Type::ActionRun(nominal.clone())),
                    _ => return self.no_member(&base_type, member),
                };
                self.refer(expression, Reference::Property(property));
                of_type
            }
            Type::StructureLiteral { fields, .. } => {
                let found = fields.iter().find(|(name, _)| *name == member.text).map(|(_, of_type)| of_type.clone());
                found.unwrap_or_else(|| self.no_member(&base_type, member))
            }
            _ => self.method_or_nothing(expression, &base_type, member),
        }
    }

    /// A field of a constant structure is constant.
    fn field_value(&mut self, expression: &'a Expression, base: &'a Expression, field: DeclarationId, of_type: &Type) {
        let Some(Value::Structure(values)) = self.value_of(base) else { return };
        let place = self.out.fields_of(of_type).iter().position(|candidate| candidate.id == field);
        let value = place.and_then(|place| values.get(place)).cloned();
        self.set_value(expression, value);
    }

    fn no_member(&mut self, base: &Type, member: &Name) -> Type {
        let mut report =
            Diagnostic::error(format!("`{base}` has no member `{member}`")).kind("type-error").label(member.span, "");
        if let Some(nominal) = base.nominal() {
            report = report.label(self.node(nominal.declaration).span(), "declared here");
        }
        report = self.with_similar_member(report, base, member);
        self.report(report)
    }

    fn type_member(&mut self, expression: &'a Expression, named: &Type, member: &'a Name) -> Type {
        let members: &'a [Member] = match named.nominal().and_then(|nominal| self.out.kind(nominal.declaration)) {
            Some(DeclarationKind::Enumeration(enumeration)) => &enumeration.members,
            _ => &[],
        };
        let found = match named {
            Type::Error => self.errors.get(&member.text).copied(),
            Type::MatchKind => self.match_kinds.get(&member.text).copied(),
            _ => members.iter().find(|candidate| candidate.name.text == member.text).map(|found| found.id),
        };
        if let Some(found) = found {
            self.refer(expression, Reference::Member(found));
            let value = self.out.constant_value(found).cloned();
            let is_number = matches!(named, Type::SerializableEnum(_));
            self.set_value(expression, if is_number { value } else { Some(Value::Member(found)) });
            return named.clone();
        }
        let applied = matches!(named, Type::Parser(_) | Type::Control(_)) && member.as_str() == "apply";
        if applied || builtin(member.as_str()).is_some_and(Builtin::is_size) {
            self.refer(expression, Reference::Callee);
            return Type::Callable;
        }
        let is_enumeration = matches!(named, Type::Enum(_) | Type::SerializableEnum(_) | Type::Error | Type::MatchKind);
        let message = match is_enumeration {
            true => format!("`{named}` has no member `{member}`"),
            false => format!("`{member}` is not a member of type `{named}`"),
        };
        let kind = if *named == Type::Error { "not-found" } else { "type-error" };
        let report = Diagnostic::error(message).kind(kind).label(member.span, "");
        self.report(self.with_similar_type_member(report, named, member))
    }

    fn stack_member(&mut self, expression: &'a Expression, stack: &Type, member: &'a Name) -> Type {
        let Type::Stack { element, size } = stack else { return Type::Unknown };
        let property = match member.as_str() {
            "next" => Property::Next,
            "last" => Property::Last,
            "lastIndex" => Property::LastIndex,
            "size" => Property::Size,
            _ => return self.method_or_nothing(expression, stack, member),
        };
        if !element.is_header_like() && property != Property::Size {
            return self.type_error(member.span, format!("`{member}` can only be used on header stacks"));
        }
        self.refer(expression, Reference::Property(property));
        if property != Property::Size && !self.in_parser() {
            let message = format!("`{member}` of a header stack can only be used in a parser");
            return self.type_error(member.span, message);
        }
        match property {
            Property::Size => {
                self.set_value(expression, Some(Value::Integer(BigInt::from(*size))));
                Type::bits(32)
            }
            Property::LastIndex => Type::bits(32),
            _ => element.as_ref().clone(),
        }
    }

    /// Something to be called: a method of an extern, `apply`, or a builtin.
    fn method_or_nothing(&mut self, expression: &'a Expression, base: &Type, member: &'a Name) -> Type {
        let name = member.as_str();
        let fits = match base {
            Type::Extern(nominal) => match self.out.kind(nominal.declaration) {
                Some(DeclarationKind::Extern(declared)) => {
                    declared.methods.iter().any(|method| method.name.text == member.text && !method.is_constructor)
                }
                _ => false,
            },
            Type::Parser(_) | Type::Control(_) | Type::Table(_) => name == "apply",
            _ => false,
        };
        if fits || self.has_builtin(base, name) {
            self.refer(expression, Reference::Callee);
            return Type::Callable;
        }
        self.no_member(base, member)
    }

    pub(super) fn has_builtin(&self, base: &Type, name: &str) -> bool {
        let value = !base.is_object()
            && !matches!(base, Type::Action(_) | Type::TableResult(_) | Type::Void | Type::Name(_) | Type::Unknown);
        match builtin(name) {
            Some(Builtin::IsValid) => base.is_header_like(),
            Some(Builtin::SetValid | Builtin::SetInvalid) => matches!(base, Type::Header(_)),
            Some(Builtin::PushFront | Builtin::PopFront) => base.is_header_stack(),
            Some(_) => value,
            None => false,
        }
    }

    pub fn index(&mut self, expression: &'a Expression, base: &'a Expression, index: &'a Expression) -> Type {
        let base_type = self.value(base, None);
        let index_type = self.value(index, None);
        let at = self.value_of(index).and_then(|value| value.integer()).cloned();
        match &base_type {
            Type::Unknown => Type::Unknown,
            Type::Stack { element, size } => {
                self.check_index(index, &index_type, at.as_ref(), *size);
                self.element_value(expression, base, at);
                element.as_ref().clone()
            }
            Type::Tuple(parts) | Type::ListLiteral { elements: parts, .. } => {
                let place = at.as_ref().and_then(|at| usize::try_from(at).ok());
                let Some(place) = place else {
                    return self
                        .type_error(index.span, "the index of a tuple has to be a constant that is not negative");
                };
                let Some(part) = parts.get(place).cloned() else {
                    let message = format!("index {place} is beyond the {} fields of the tuple", parts.len());
                    return self.type_error(index.span, message);
                };
                self.element_value(expression, base, at);
                part
            }
            _ => {
                let message = format!("only header stacks, arrays and tuples are indexed, this is `{base_type}`");
                self.type_error(base.span, message)
            }
        }
    }

    fn element_value(&mut self, expression: &'a Expression, base: &'a Expression, at: Option<BigInt>) {
        let Some(Value::Sequence(values)) = self.value_of(base) else { return };
        let value = at.and_then(|at| usize::try_from(at).ok()).and_then(|at| values.get(at)).cloned();
        self.set_value(expression, value);
    }

    fn check_index(&mut self, index: &'a Expression, index_type: &Type, at: Option<&BigInt>, size: u32) {
        if !matches!(self.out.representation(index_type), Type::Integer | Type::Bits { .. } | Type::Unknown) {
            self.type_error(index.span, format!("an index has to be a number, this is `{index_type}`"));
        }
        let Some(at) = at else { return };
        if *at < BigInt::ZERO {
            self.type_error(index.span, format!("negative array index {at}"));
        } else if *at >= size.into() && size > 0 {
            self.type_error(index.span, format!("array index {at} is not below the size {size}"));
        }
    }

    /// Whether an expression can be written to: a variable or an `out` parameter, or a part of one.
    pub fn is_place(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Path(_) => match self.out.reference(expression) {
                Reference::Declaration(id) => match self.node(*id) {
                    Node::Declaration(declaration) => matches!(declaration.kind, DeclarationKind::Variable(_)),
                    Node::Parameter { parameter, .. } => {
                        matches!(parameter.direction, Direction::Out | Direction::InOut)
                    }
                    Node::Field { .. }
                    | Node::Member { .. }
                    | Node::Method { .. }
                    | Node::TypeParameter { .. }
                    | Node::State { .. } => false,
                },
                Reference::None => self.out.type_of(expression).is_unknown(),
                _ => false,
            },
            ExpressionKind::Member { base, .. } => match self.out.reference(expression) {
                Reference::Field(_) | Reference::Property(Property::Next | Property::Last) => self.is_place(base),
                Reference::None => self.out.type_of(expression).is_unknown(),
                _ => false,
            },
            ExpressionKind::Index { base, .. } => {
                matches!(self.out.type_of(base), Type::Stack { .. } | Type::Tuple(_) | Type::Unknown)
                    && self.is_place(base)
            }
            ExpressionKind::Slice { base, .. } | ExpressionKind::PlusSlice { base, .. } => self.is_place(base),
            ExpressionKind::Erroneous => true,
            _ => false,
        }
    }

    pub fn is_known_name(&self, expression: &Expression) -> bool {
        let Reference::Declaration(id) = self.out.reference(expression) else { return true };
        match self.node(*id) {
            Node::Declaration(declaration) => !matches!(declaration.kind, DeclarationKind::Variable(_)),
            Node::Parameter { parameter, owner } => {
                let is_data =
                    matches!(self.out.kind(owner), Some(DeclarationKind::Action { .. } | DeclarationKind::Function(_)));
                parameter.direction == Direction::None && !is_data
            }
            Node::Field { .. }
            | Node::Member { .. }
            | Node::Method { .. }
            | Node::TypeParameter { .. }
            | Node::State { .. } => true,
        }
    }

    pub fn is_known_member(&self, expression: &Expression, base: &'a Expression) -> bool {
        match self.out.reference(expression) {
            Reference::Field(_) => self.is_known(base),
            Reference::Property(Property::Size) => true,
            Reference::Property(_) => false,
            _ => true,
        }
    }

    /// Constructors, sizes and assertions are known at compile time; other calls are not.
    pub fn is_known_call(&self, expression: &Expression) -> bool {
        let Some(call) = self.out.call(expression) else { return true };
        match &call.callee {
            Callee::Constructor { .. } => true,
            Callee::Builtin(builtin) => builtin.is_size(),
            Callee::Function(id) => {
                let pure = self.node(*id).declaration().is_some_and(|declaration| declaration.attributes.has("pure"));
                let made = pure || matches!(call.result, Type::Extern(_));
                let arguments = match &expression.kind {
                    ExpressionKind::Call { arguments, .. } => &arguments[..],
                    _ => &[],
                };
                (made && arguments.iter().all(|argument| self.is_known(&argument.value)))
                    || self.name_of(*id).as_ref() == "static_assert"
            }
            Callee::Action(_)
            | Callee::Method { .. }
            | Callee::ApplyTable(_)
            | Callee::Apply { .. }
            | Callee::ApplyDirect { .. } => false,
        }
    }
}
