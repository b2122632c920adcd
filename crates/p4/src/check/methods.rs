//! Calls of members: methods of externs, `apply`, and what the language defines on its own types.

use hlir::source::Span;
use num_bigint::BigInt;

use super::bindings::{Mode, Signature};
use super::calls::finish;
use super::checker::{Checker, Place};
use super::members::builtin;
use super::results::{Builtin, Call, Callee};
use crate::ast::{Argument, DeclarationId, DeclarationKind, Expression, Method, Name};
use crate::evaluate::Value;
use crate::types::{Nominal, Substitution, Type};

impl<'a> Checker<'a> {
    pub fn call_member(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        member: &'a Name,
        explicit: &[Type],
        arguments: &'a [Argument],
        expected: Option<&Type>,
    ) -> Option<Call> {
        let base_type = self.out.used_type(base).clone();
        let span = expression.span;
        match &base_type {
            Type::Extern(nominal) if !self.is_builtin_of(nominal, member) => {
                self.note_method(span, base);
                self.call_method(expression, nominal, member, explicit, arguments, expected)
            }
            Type::Table(nominal) if member.as_str() == "apply" => self.apply_table(span, nominal, arguments),
            Type::Parser(nominal) | Type::Control(nominal) if member.as_str() == "apply" => {
                self.check_apply_place(span, &base_type);
                self.apply(span, &base_type, nominal, explicit, arguments)
            }
            Type::Name(named) if member.as_str() == "apply" && named.is_object() => {
                self.apply_direct(span, named, explicit, arguments)
            }
            _ => {
                if !explicit.is_empty() {
                    self.type_error(span, format!("`{member}` takes no type arguments"));
                }
                let builtin = builtin(member.as_str())?;
                self.call_builtin(expression, base, &base_type, builtin, arguments)
            }
        }
    }

    fn is_builtin_of(&self, nominal: &Nominal, member: &Name) -> bool {
        let declares = match self.out.kind(nominal.declaration) {
            Some(DeclarationKind::Extern(declared)) => {
                declared.methods.iter().any(|method| method.name.text == member.text)
            }
            _ => false,
        };
        !declares
    }

    fn call_method(
        &mut self,
        expression: &'a Expression,
        object: &Nominal,
        member: &'a Name,
        explicit: &[Type],
        arguments: &'a [Argument],
        expected: Option<&Type>,
    ) -> Option<Call> {
        let Some(DeclarationKind::Extern(declared)) = self.out.kind(object.declaration) else { return None };
        let candidates: Vec<(&'a Method, DeclarationId)> = declared
            .methods
            .iter()
            .filter(|method| method.name.text == member.text)
            .map(|method| (method, method.id))
            .collect();
        let outer = self.out.arguments_of(object);
        let name = format!("{object}.{member}");
        let method = self.choose(expression.span, &name, &candidates, arguments)?;
        if self.around.place == Place::TopLevel {
            self.type_error(expression.span, "methods cannot be called at the top of a program");
        }
        let signature = self.signature(method.id, outer);
        let bound = self.bind(expression.span, &signature, explicit, arguments, expected, Mode::Run)?;
        self.check_packet_method(expression.span, object, method, &bound.bindings, &bound.returns, arguments);
        let object = Type::Extern(object.clone());
        Some(finish(Callee::Method { object, method: method.id }, bound))
    }

    fn apply_table(&mut self, span: Span, nominal: &Nominal, arguments: &'a [Argument]) -> Option<Call> {
        match self.around.place {
            Place::ControlApply => {}
            Place::Action => {
                self.type_error(span, "`apply` cannot be called from actions");
            }
            _ => {
                self.type_error(span, "a table can only be applied in the `apply` block of a control");
            }
        }
        if self.around.inside.contains(&nominal.declaration) {
            self.type_error(span, format!("table `{nominal}` cannot be applied in its own definition"));
        }
        let signature = Signature {
            name: nominal.name.clone(),
            declaration: nominal.declaration,
            type_parameters: &[],
            parameters: &[],
            outer: Substitution::default(),
            returns: Type::TableResult(nominal.clone()),
        };
        let bound = self.bind(span, &signature, &[], arguments, None, Mode::Run)?;
        Some(finish(Callee::ApplyTable(nominal.declaration), bound))
    }

    fn check_apply_place(&mut self, span: Span, object: &Type) {
        match (object, self.around.place) {
            (Type::Parser(_), Place::ParserState) | (Type::Control(_), Place::ControlApply) => {}
            (_, Place::Action) => {
                self.type_error(span, "`apply` cannot be called from actions");
            }
            (Type::Parser(_), _) => {
                self.type_error(span, "a parser can only be applied in the states of a parser");
            }
            _ => {
                self.type_error(span, "a control can only be applied in the `apply` block of a control");
            }
        }
    }

    fn apply(
        &mut self,
        span: Span,
        object: &Type,
        nominal: &Nominal,
        explicit: &[Type],
        arguments: &'a [Argument],
    ) -> Option<Call> {
        let given = !nominal.arguments.is_empty();
        let signature = Signature {
            type_parameters: if given { &[] } else { self.out.type_parameters(nominal.declaration) },
            returns: Type::Void,
            ..self.signature(nominal.declaration, self.out.arguments_of(nominal))
        };
        let bound = self.bind(span, &signature, explicit, arguments, None, Mode::Run)?;
        Some(finish(Callee::Apply { object: object.clone() }, bound))
    }

    /// `T.apply(...)`: an instance without constructor arguments, applied at once.
    fn apply_direct(&mut self, span: Span, named: &Type, explicit: &[Type], arguments: &'a [Argument]) -> Option<Call> {
        let nominal = named.nominal()?.clone();
        self.check_apply_place(span, named);
        if self.around.inside.contains(&nominal.declaration) {
            let message = format!("`{}` refers to itself", nominal.name);
            self.error("unsupported", span, message, "self-referencing types are not supported");
            return None;
        }
        if !self.has_body(nominal.declaration) {
            let message = format!("`{named}` is only a type, there is nothing to apply");
            self.report_at_declaration(message, span, nominal.declaration);
            return None;
        }
        let needed = self.out.constructor_parameters(nominal.declaration);
        if let Some(parameter) = needed.iter().find(|parameter| parameter.default.is_none()) {
            let message = format!("`{named}` needs a constructor argument for `{}`", parameter.name);
            self.report_at_declaration(message, span, nominal.declaration);
        }
        let call = self.apply(span, named, &nominal, explicit, arguments)?;
        self.note_direct(named, span);
        let parameters = self.out.type_parameters(nominal.declaration);
        let found = parameters
            .iter()
            .map(|parameter| call.type_arguments.get(parameter.id).cloned().unwrap_or(Type::Unknown))
            .collect();
        let object = named.with_arguments(found);
        Some(Call { callee: Callee::ApplyDirect { object }, ..call })
    }

    fn call_builtin(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        base_type: &Type,
        builtin: Builtin,
        arguments: &'a [Argument],
    ) -> Option<Call> {
        let span = expression.span;
        let writes =
            matches!(builtin, Builtin::SetValid | Builtin::SetInvalid | Builtin::PushFront | Builtin::PopFront);
        if writes && !self.is_place(base) {
            self.error("type-error", base.span, "this cannot be written to", "it would be changed by the call");
        }
        if matches!(builtin, Builtin::PushFront | Builtin::PopFront) {
            self.check_count(span, arguments);
        } else if let Some(extra) = arguments.first() {
            self.type_error(extra.span, "this takes no arguments");
            self.arguments_of_nothing(arguments);
        }
        let result = match builtin {
            Builtin::IsValid => Type::Bool,
            Builtin::SetValid | Builtin::SetInvalid | Builtin::PushFront | Builtin::PopFront => Type::Void,
            Builtin::MinSizeInBits | Builtin::MaxSizeInBits | Builtin::MinSizeInBytes | Builtin::MaxSizeInBytes => {
                self.evaluate_size(expression, base_type, builtin);
                Type::Integer
            }
        };
        let callee = Callee::Builtin(builtin);
        Some(Call { callee, type_arguments: Substitution::default(), bindings: Vec::new(), result })
    }

    /// The number of elements to shift a stack by.
    fn check_count(&mut self, span: Span, arguments: &'a [Argument]) {
        let [count] = arguments else {
            self.type_error(span, "the number of elements is expected");
            self.arguments_of_nothing(arguments);
            return;
        };
        let of_type = self.value(&count.value, None);
        if of_type.is_unknown() {
            return;
        }
        match self.value_of(&count.value).and_then(|value| value.integer()).cloned() {
            Some(number) if number < BigInt::ZERO => {
                self.type_error(count.span, "the number of elements cannot be negative");
            }
            Some(_) => {}
            None if self.is_known(&count.value) => {}
            None => {
                self.type_error(count.span, "the number of elements has to be a compile-time constant");
            }
        }
    }

    fn evaluate_size(&mut self, expression: &'a Expression, base_type: &Type, builtin: Builtin) {
        let measured = match base_type {
            Type::Name(named) => named.as_ref(),
            other => other,
        };
        let Some(size) = self.out.size_of(measured) else {
            if !measured.any(&|part| matches!(part, Type::Variable(_) | Type::Unknown)) {
                self.type_error(expression.span, format!("`{measured}` has no size in bits"));
            }
            return;
        };
        let bytes = |bits: u32| bits.div_ceil(8);
        let number = match builtin {
            Builtin::MinSizeInBits => size.smallest,
            Builtin::MaxSizeInBits => size.largest,
            Builtin::MinSizeInBytes => bytes(size.smallest),
            _ => bytes(size.largest),
        };
        self.set_value(expression, Some(Value::Integer(number.into())));
    }

    /// What `packet_in` and `packet_out` ask of their arguments beyond their declarations.
    fn check_packet_method(
        &mut self,
        span: Span,
        object: &Nominal,
        method: &'a Method,
        bindings: &[super::results::Binding],
        returns: &Type,
        arguments: &'a [Argument],
    ) {
        let first = bindings.first().map(|binding| binding.of_type.clone());
        let place = arguments.first().map_or(span, |argument| argument.value.span);
        match (object.name.as_ref(), method.name.as_str()) {
            ("packet_in", "extract") => {
                let Some(header) = first.filter(|header| !header.is_unknown() && *header != Type::DontCare) else {
                    return;
                };
                if matches!(header, Type::Variable(_)) {
                    return;
                }
                if !matches!(header, Type::Header(_)) {
                    self.type_error(place, format!("only headers can be extracted, this is `{header}`"));
                    return;
                }
                self.check_one_varbit(place, &header);
                self.note_extract(place, &header);
                let varies = self.has_varbit(&header);
                if varies && bindings.len() == 1 {
                    self.type_error(
                        place,
                        "a header with a `varbit` field is extracted with its size: `extract(header, bits)`",
                    );
                } else if !varies && bindings.len() == 2 {
                    self.type_error(place, "only a header with a `varbit` field is extracted with a size");
                }
            }
            ("packet_in", "lookahead") => {
                let size = self.out.size_of(returns);
                let fixed = size.is_some_and(|size| size.smallest == size.largest);
                if !fixed && !returns.any(&|part| matches!(part, Type::Variable(_) | Type::Unknown)) {
                    self.type_error(span, format!("`lookahead` needs a type of fixed width, not `{returns}`"));
                }
            }
            ("packet_out", "emit") => {
                let Some(emitted) = first else { return };
                if !self.may_be_emitted(&emitted) {
                    self.type_error(
                        place,
                        format!("only headers, and what consists of headers, can be emitted, this is `{emitted}`"),
                    );
                }
            }
            ("register", "read") => self.note_element(place, first),
            ("ipsec_accelerator", "set_sa_index") => {
                let number = |of_type: &Type| {
                    matches!(self.out.representation(of_type), Type::Bits { .. } | Type::Integer | Type::Unknown)
                };
                if let Some(index) = first.filter(|index| !number(index) && !matches!(index, Type::Variable(_))) {
                    self.type_error(place, format!("the index of a security association is a number, not `{index}`"));
                }
            }
            _ => {}
        }
    }

    /// The packet can define the size of one field only.
    fn check_one_varbit(&mut self, place: Span, header: &Type) {
        let fields = self.out.fields_of(header);
        let mut varbits =
            fields.iter().filter(|field| matches!(self.out.representation(&field.of_type), Type::Varbit { .. }));
        if let (Some(first), Some(second)) = (varbits.next(), varbits.next()) {
            self.report(
                hlir::diagnostic::Diagnostic::error("a header with several `varbit` fields cannot be extracted")
                    .kind("type-error")
                    .label(place, "")
                    .label(self.node(first.id).span(), "first one")
                    .label(self.node(second.id).span(), "second one"),
            );
        }
    }

    fn has_varbit(&self, header: &Type) -> bool {
        self.out.fields_of(header).iter().any(|field| {
            matches!(self.out.representation(&field.of_type), Type::Varbit { .. }) || self.has_varbit(&field.of_type)
        })
    }

    fn may_be_emitted(&self, of_type: &Type) -> bool {
        match of_type {
            Type::Header(_) | Type::Union(_) | Type::Unknown | Type::Variable(_) | Type::DontCare => true,
            Type::Stack { element, .. } => self.may_be_emitted(element),
            Type::Struct(_) => self.out.fields_of(of_type).iter().all(|field| self.may_be_emitted(&field.of_type)),
            Type::Tuple(parts) => parts.iter().all(|part| self.may_be_emitted(part)),
            _ => false,
        }
    }
}
