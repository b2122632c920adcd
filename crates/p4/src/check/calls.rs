//! Calls: what is called, which overload, and whether it may be called from here.
//!
//! A constructor call is a call like the others until its callee turns out to be a type.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::bindings::{Bound, Mode, Signature};
use super::checker::{Checker, Place};
use super::results::{Call, Callee, Reference};
use crate::ast::{
    Argument, DeclarationId, DeclarationKind, Expression, ExpressionKind, Method, Name, Type as WrittenType,
};
use crate::types::{Nominal, Substitution, Type};

/// What makes an object.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Maker<'t> {
    /// A declared instance.
    Instance,
    /// A declared instance that defines abstract methods.
    InstanceWithBody,
    /// A constructor call, where an object of a certain type may be expected.
    Call(Option<&'t Type>),
}

impl<'a> Checker<'a> {
    pub fn call(
        &mut self,
        expression: &'a Expression,
        callee: &'a Expression,
        type_arguments: &'a [WrittenType],
        arguments: &'a [Argument],
        expected: Option<&Type>,
    ) -> Type {
        let explicit: Vec<Type> = type_arguments.iter().map(|written| self.type_argument(written)).collect();
        let call = match &callee.kind {
            ExpressionKind::Path(path) => {
                let found = self.look_up(path.name.as_str(), path.absolute);
                self.call_named(expression, callee, &path.name, &found, &explicit, arguments, expected)
            }
            ExpressionKind::Type(written) => {
                let object = self.resolve_open(written);
                self.call_type(expression, callee, object, &explicit, arguments, expected)
            }
            ExpressionKind::Member { base, member } => {
                let called = self.called_member(callee, base, member);
                if called == Type::Callable {
                    self.call_member(expression, base, member, &explicit, arguments, expected)
                } else {
                    self.not_callable(callee.span, &called);
                    self.arguments_of_nothing(arguments);
                    None
                }
            }
            _ => {
                let called = self.expression(callee, None);
                self.not_callable(callee.span, &called);
                self.arguments_of_nothing(arguments);
                None
            }
        };
        let Some(call) = call else { return Type::Unknown };
        let result = call.result.clone();
        self.out.calls.insert(expression.id, call);
        result
    }

    fn not_callable(&mut self, span: Span, called: &Type) {
        if !called.is_unknown() {
            self.type_error(span, format!("this is not a function or method but a value of type `{called}`"));
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn call_named(
        &mut self,
        expression: &'a Expression,
        callee: &'a Expression,
        name: &'a Name,
        found: &[DeclarationId],
        explicit: &[Type],
        arguments: &'a [Argument],
        expected: Option<&Type>,
    ) -> Option<Call> {
        let Some(first) = found.first().copied() else {
            self.not_found(name);
            self.arguments_of_nothing(arguments);
            return None;
        };
        match self.out.kind(first) {
            Some(DeclarationKind::Function(_)) => {
                self.refer(callee, Reference::Callee);
                self.set_type(callee, Type::Callable);
                self.call_function(expression, found, explicit, arguments, expected)
            }
            Some(DeclarationKind::Action { .. }) => {
                self.refer(callee, Reference::Declaration(first));
                let of_type = self.out.declared_type(first).clone();
                self.set_type(callee, of_type);
                self.call_action(expression, first, explicit, arguments)
            }
            _ => match self.type_named(first) {
                Some(object) => self.call_type(expression, callee, object, explicit, arguments, expected),
                None => {
                    let called = self.expression(callee, None);
                    self.not_callable(callee.span, &called);
                    self.arguments_of_nothing(arguments);
                    None
                }
            },
        }
    }

    /// The overloads that fit the number and the names of the arguments have to be one. Types do not choose among them.
    pub fn choose<T: Copy>(
        &mut self,
        span: Span,
        name: &str,
        candidates: &[(T, DeclarationId)],
        arguments: &'a [Argument],
    ) -> Option<T> {
        let fitting: Vec<(T, DeclarationId)> =
            candidates.iter().filter(|(_, id)| self.takes(self.out.parameters(*id), arguments)).copied().collect();
        match (&fitting[..], candidates) {
            ([(only, _)], _) | ([], [(only, _)]) => Some(*only),
            ([], _) => {
                let mut report = Diagnostic::error(format!("`{name}`: no overload takes these arguments"))
                    .kind("type-error")
                    .label(span, "");
                for (_, id) in candidates.iter().take(4) {
                    report = report.label(self.node(*id).span(), "candidate");
                }
                self.report(report);
                self.arguments_of_nothing(arguments);
                None
            }
            (several, _) => {
                let mut report = Diagnostic::error(format!("`{name}`: several overloads take these arguments"))
                    .kind("duplicate")
                    .label(span, "");
                for (_, id) in several {
                    report = report.label(self.node(*id).span(), "candidate");
                }
                self.report(report);
                self.arguments_of_nothing(arguments);
                None
            }
        }
    }

    fn call_function(
        &mut self,
        expression: &'a Expression,
        found: &[DeclarationId],
        explicit: &[Type],
        arguments: &'a [Argument],
        expected: Option<&Type>,
    ) -> Option<Call> {
        let candidates: Vec<(DeclarationId, DeclarationId)> = found.iter().map(|id| (*id, *id)).collect();
        let name = self.name_of(found[0]);
        let id = self.choose(expression.span, &name, &candidates, arguments)?;
        self.check_recursion(expression.span, id);
        if name.as_ref() == "verify" && self.is_core_function(id) && !self.in_parser() {
            self.type_error(expression.span, "`verify` can only be called in parsers");
        }
        let signature = self.signature(id, Substitution::default());
        let bound = self.bind(expression.span, &signature, explicit, arguments, expected, Mode::Run)?;
        self.check_result_exists(expression.span, id, &bound);
        self.warn_deprecated(expression.span, id);
        if self.is_core_function(id) {
            self.warn_kept_headers(expression.span, &name, &bound);
        }
        self.note_function(expression.span, &name, arguments);
        self.note_values_lent(id, &bound.bindings, arguments);
        if name.as_ref() == "static_assert" {
            self.evaluate_assertion(expression, arguments);
        }
        Some(finish(Callee::Function(id), bound))
    }

    /// A function of the program runs when packets do, and an `int` exists at compile time only.
    fn check_result_exists(&mut self, span: Span, id: DeclarationId, bound: &Bound) {
        if bound.returns == Type::Integer && !self.is_core_function(id) {
            let message = "this call returns an `int`, which exists at compile time only";
            self.report(
                Diagnostic::error(message)
                    .kind("type-error")
                    .label(span, "")
                    .hint("give the argument a width: `f(8w255)`"),
            );
        }
    }

    fn is_core_function(&self, id: DeclarationId) -> bool {
        matches!(self.out.kind(id), Some(DeclarationKind::Function(function)) if function.body.is_none())
    }

    fn evaluate_assertion(&mut self, expression: &'a Expression, arguments: &'a [Argument]) {
        let Some(claim) = arguments.first() else { return };
        let value = self.value_of(&claim.value).cloned();
        let Some(claim_value) = value.as_ref().and_then(|value| value.boolean()) else {
            if !self.is_known(&claim.value) {
                self.error("expected", claim.span, "the claim has to be known at compile time", "");
            }
            return;
        };
        if !claim_value {
            let message = arguments.get(1).and_then(|message| match self.value_of(&message.value) {
                Some(crate::evaluate::Value::String(text)) => Some(text.to_string()),
                _ => None,
            });
            let message = message.unwrap_or_else(|| "static_assert failed".to_owned());
            self.error("expected", expression.span, message, "this is false");
        }
        self.set_value(expression, value);
    }

    pub fn signature(&self, id: DeclarationId, outer: Substitution) -> Signature<'a> {
        Signature {
            name: self.name_of(id),
            declaration: id,
            type_parameters: self.out.type_parameters(id),
            parameters: self.out.parameters(id),
            outer,
            returns: self.out.declared_type(id).clone(),
        }
    }

    fn check_recursion(&mut self, span: Span, id: DeclarationId) {
        if self.around.inside.contains(&id) {
            let message = format!("`{}` calls itself", self.name_of(id));
            self.error("unsupported", span, message, "recursion is not supported");
        }
    }

    fn call_action(
        &mut self,
        expression: &'a Expression,
        id: DeclarationId,
        explicit: &[Type],
        arguments: &'a [Argument],
    ) -> Option<Call> {
        if !explicit.is_empty() {
            self.type_error(expression.span, "an action takes no type arguments");
        }
        let misplaced = match self.around.place {
            Place::ParserState | Place::ParserLocals => Some("actions cannot be called in parsers"),
            Place::Function | Place::Method => Some("functions cannot call actions"),
            Place::TopLevel | Place::ControlLocals => Some("an action cannot be called here"),
            Place::ControlApply | Place::Action => None,
        };
        if let Some(misplaced) = misplaced {
            self.type_error(expression.span, misplaced);
        }
        self.check_recursion(expression.span, id);
        let signature = Signature { returns: Type::Void, ..self.signature(id, Substitution::default()) };
        let bound = self.bind(expression.span, &signature, &[], arguments, None, Mode::Run)?;
        Some(finish(Callee::Action(id), bound))
    }

    /// An action where a table names it: in its list, as the default, in an entry.
    pub fn refer_to_action(&mut self, reference: &'a Expression, mode: Mode) -> Option<DeclarationId> {
        let (path_expression, arguments): (&'a Expression, &'a [Argument]) = match &reference.kind {
            ExpressionKind::Call { callee, type_arguments, arguments } => {
                if let Some(written) = type_arguments.first() {
                    self.type_error(written.span, "an action takes no type arguments");
                }
                (callee, arguments)
            }
            ExpressionKind::Erroneous => return None,
            _ => (reference, &[]),
        };
        let ExpressionKind::Path(path) = &path_expression.kind else {
            self.type_error(path_expression.span, "the name of an action is expected here");
            self.arguments_of_nothing(arguments);
            return None;
        };
        let found = self.look_up(path.name.as_str(), path.absolute);
        let Some(id) = found.first().copied() else {
            self.not_found(&path.name);
            self.arguments_of_nothing(arguments);
            return None;
        };
        if !matches!(self.out.kind(id), Some(DeclarationKind::Action { .. })) {
            self.type_error(reference.span, format!("`{}` is not an action", path.name));
            self.arguments_of_nothing(arguments);
            return None;
        }
        self.refer(path_expression, Reference::Declaration(id));
        let of_type = self.out.declared_type(id).clone();
        self.set_type(path_expression, of_type);
        let signature = Signature { returns: Type::Void, ..self.signature(id, Substitution::default()) };
        if let Some(bound) = self.bind(reference.span, &signature, &[], arguments, None, mode) {
            self.out.calls.insert(reference.id, finish(Callee::Action(id), bound));
        }
        Some(id)
    }

    /// A type that is called: a constructor.
    fn call_type(
        &mut self,
        expression: &'a Expression,
        callee: &'a Expression,
        object: Type,
        explicit: &[Type],
        arguments: &'a [Argument],
        expected: Option<&Type>,
    ) -> Option<Call> {
        if object.is_unknown() {
            self.arguments_of_nothing(arguments);
            return None;
        }
        self.refer(callee, Reference::Type(object.clone()));
        self.set_type(callee, Type::Name(object.clone().into()));
        let object = self.specialize(expression.span, object, explicit)?;
        if !self.around.makes_objects && !matches!(object, Type::Extern(_)) {
            let message = format!("`{object}` cannot be instantiated here");
            self.error(
                "type-error",
                expression.span,
                message,
                "objects are made by declarations: `T(arguments) name;`",
            );
            self.arguments_of_nothing(arguments);
            return None;
        }
        if matches!(object, Type::Parser(_) | Type::Control(_)) && self.around.place != Place::TopLevel {
            let control = matches!(object, Type::Control(_));
            let fits = control == matches!(self.around.place, Place::ControlLocals | Place::ControlApply);
            if !fits {
                self.error("invalid", expression.span, format!("`{object}` cannot be instantiated here"), "");
            }
        }
        self.construct(callee.span, expression.span, &object, arguments, Maker::Call(expected))
    }

    fn specialize(&mut self, span: Span, object: Type, explicit: &[Type]) -> Option<Type> {
        if explicit.is_empty() {
            return Some(object);
        }
        let nominal = object.nominal()?;
        let parameters = self.out.type_parameters(nominal.declaration);
        if parameters.len() != explicit.len() || !nominal.arguments.is_empty() {
            let message = format!("`{object}` has {} type parameters, {} given", parameters.len(), explicit.len());
            self.type_error(span, message);
            return None;
        }
        Some(object.with_arguments(explicit.to_vec()))
    }

    /// A constructor call, of a declared instance or within arguments.
    pub fn construct(
        &mut self,
        type_span: Span,
        span: Span,
        object: &Type,
        arguments: &'a [Argument],
        maker: Maker<'_>,
    ) -> Option<Call> {
        let object = &self.overload_of(object, arguments);
        let nominal = match object {
            Type::Extern(nominal) | Type::Parser(nominal) | Type::Control(nominal) | Type::Package(nominal) => nominal,
            _ => {
                self.type_error(type_span, format!("cannot make instances of `{object}`"));
                self.arguments_of_nothing(arguments);
                return None;
            }
        };
        if !self.has_body(nominal.declaration) {
            let message = format!("`{object}` is only a type, there is nothing to make an instance of");
            self.report_at_declaration(message, type_span, nominal.declaration);
            self.arguments_of_nothing(arguments);
            return None;
        }
        if self.around.inside.contains(&nominal.declaration) {
            let message = format!("`{}` refers to itself", nominal.name);
            self.error("unsupported", type_span, message, "self-referencing types are not supported");
            self.arguments_of_nothing(arguments);
            return None;
        }
        self.warn_deprecated(type_span, nominal.declaration);
        let mut method = None;
        let parameters = if let Some(DeclarationKind::Extern(declared)) = self.out.kind(nominal.declaration) {
            if maker != Maker::InstanceWithBody && !self.abstract_methods(nominal.declaration).is_empty() {
                let message = format!("`{nominal}` has abstract methods, which the instance has to define");
                self.type_error(type_span, message);
            }
            let constructor = self.choose_constructor(span, nominal, &declared.methods, arguments)?;
            method = Some(constructor.id);
            &constructor.parameters
        } else {
            self.out.constructor_parameters(nominal.declaration)
        };
        let given = !nominal.arguments.is_empty();
        let all = self.out.type_parameters(nominal.declaration);
        let signature = Signature {
            name: nominal.name.clone(),
            declaration: nominal.declaration,
            type_parameters: if given { &[] } else { all },
            parameters,
            outer: if given { self.out.arguments_of(nominal) } else { Substitution::default() },
            returns: if given { object.clone() } else { self.with_own_parameters(object) },
        };
        let expected = if let Maker::Call(expected) = maker { expected } else { None };
        let mode = if matches!(maker, Maker::Call(_)) { Mode::ConstructInside } else { Mode::Construct };
        let bound = self.bind(span, &signature, &[], arguments, expected, mode)?;
        let callee = Callee::Constructor { object: bound.returns.clone(), method };
        Some(finish(callee, bound))
    }

    /// A generic object applied to its own type parameters.
    fn with_own_parameters(&self, object: &Type) -> Type {
        let Some(nominal) = object.nominal() else { return object.clone() };
        let parameters = self.out.type_parameters(nominal.declaration);
        object.with_arguments(parameters.iter().map(|one| self.out.declared_type(one.id).clone()).collect())
    }

    /// Among parsers, controls or packages of one name, the one whose constructor takes these arguments.
    fn overload_of(&self, object: &Type, arguments: &[Argument]) -> Type {
        let Some(nominal) = object.nominal() else { return object.clone() };
        let Some(alternatives) = self.alternatives.get(&nominal.declaration) else { return object.clone() };
        let takes = |id: &&DeclarationId| self.takes(self.out.constructor_parameters(**id), arguments);
        match alternatives.iter().find(takes) {
            Some(id) if *id != nominal.declaration => {
                let other = Nominal { declaration: *id, ..nominal.clone() };
                match object {
                    Type::Parser(_) => Type::Parser(other),
                    Type::Control(_) => Type::Control(other),
                    Type::Package(_) => Type::Package(other),
                    _ => object.clone(),
                }
            }
            _ => object.clone(),
        }
    }

    fn choose_constructor(
        &mut self,
        span: Span,
        nominal: &Nominal,
        methods: &'a [Method],
        arguments: &'a [Argument],
    ) -> Option<&'a Method> {
        let candidates: Vec<(&'a Method, DeclarationId)> =
            methods.iter().filter(|method| method.is_constructor).map(|method| (method, method.id)).collect();
        if candidates.is_empty() {
            let message = format!("`{nominal}` has no matching constructor");
            self.report_at_declaration(message, span, nominal.declaration);
            self.arguments_of_nothing(arguments);
            return None;
        }
        self.choose(span, &nominal.name, &candidates, arguments)
    }
}

pub(super) fn finish(callee: Callee, bound: Bound) -> Call {
    Call { callee, type_arguments: bound.type_arguments, bindings: bound.bindings, result: bound.returns }
}
