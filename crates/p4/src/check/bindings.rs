//! Arguments to parameters: by position or by name, defaults, inference of type arguments, implicit casts, directions.
//!
//! Everything that takes arguments comes through `bind`: functions, methods, actions, constructors, `apply`.

use std::sync::Arc;

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::checker::Checker;
use super::results::{Binding, Reference, Source};
use crate::ast::{
    Argument, DeclarationId, DeclarationKind, Direction, Expression, ExpressionKind, Parameter, TypeParameter,
};
use crate::spelling::with_similar;
use crate::types::{Substitution, Type, substitute};

/// What is known about something before it is called.
#[derive(Clone)]
pub(super) struct Signature<'a> {
    pub name: Arc<str>,
    pub declaration: DeclarationId,
    pub type_parameters: &'a [TypeParameter],
    pub parameters: &'a [Parameter],
    /// The values of the type parameters around it: those of the extern of a method.
    pub outer: Substitution,
    pub returns: Type,
}

/// When a call happens, which decides what its arguments may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// While a packet is processed.
    Run,
    /// When the program is put together.
    Construct,
    /// The same, as an argument: what is around may know better which type arguments are meant.
    ConstructInside,
    /// In a table's list of actions: parameters without a direction are left to the control plane.
    ActionList,
    /// In a default action or an entry: all arguments are given.
    ActionData,
}

impl Mode {
    fn constructs(self) -> bool {
        matches!(self, Mode::Construct | Mode::ConstructInside)
    }
}

pub(super) struct Bound {
    pub type_arguments: Substitution,
    pub bindings: Vec<Binding>,
    pub returns: Type,
}

impl<'a> Checker<'a> {
    /// Whether arguments could go to parameters by their number and names.
    pub fn takes(&self, parameters: &[Parameter], arguments: &[Argument]) -> bool {
        if arguments.len() > parameters.len() {
            return false;
        }
        let given = |at: usize, parameter: &Parameter| {
            arguments.iter().enumerate().any(|(position, argument)| match &argument.name {
                Some(name) => name.text == parameter.name.text,
                None => position == at,
            })
        };
        let known = |argument: &Argument| {
            argument.name.as_ref().is_none_or(|name| parameters.iter().any(|one| one.name.text == name.text))
        };
        arguments.iter().all(known)
            && parameters.iter().enumerate().all(|(at, parameter)| is_optional(parameter) || given(at, parameter))
    }

    /// Types arguments of something that cannot be called, so that what is wrong in them is reported too.
    pub fn arguments_of_nothing(&mut self, arguments: &'a [Argument]) {
        for argument in arguments {
            if !matches!(argument.value.kind, ExpressionKind::DontCare) {
                self.expression(&argument.value, None);
            }
        }
    }

    /// Resolves the arguments of a call. Nothing if there were errors that leave the call unusable.
    pub fn bind(
        &mut self,
        span: Span,
        signature: &Signature<'a>,
        explicit: &[Type],
        arguments: &'a [Argument],
        expected: Option<&Type>,
        mode: Mode,
    ) -> Option<Bound> {
        let Some(sources) = self.sources(span, signature, arguments, mode) else {
            self.arguments_of_nothing(arguments);
            return None;
        };
        let opened = self.open(span, signature, explicit)?;
        let actual = self.argument_types(signature, &sources, arguments, &opened, mode);
        for (at, parameter) in signature.parameters.iter().enumerate() {
            let declared = substitute(self.out.declared_type(parameter.id), &opened);
            if declared.is_open() && !self.unify(&declared, &actual[at]) {
                let place = self.place_of(sources[at], arguments);
                if self.explain_difference(place, &declared, &actual[at]) {
                    return None;
                }
            }
        }
        if let Some(expected) = expected {
            let returns = self.inference.resolve(&substitute(&signature.returns, &opened));
            if returns.is_open() {
                self.unify(&returns, expected);
            }
        }
        self.unify_defaults(signature, &sources, &opened);
        let loose = mode == Mode::ConstructInside
            || sources.iter().any(|source| match source {
                Source::DontCare(_) => mode.constructs(),
                source => *source == Source::Omitted,
            })
            || actual.iter().any(|of_type| of_type.is_unknown());
        let closed = self.close(span, signature, &opened, loose);
        let mut bindings = Vec::new();
        for (at, parameter) in signature.parameters.iter().enumerate() {
            let of_type = substitute(self.out.declared_type(parameter.id), &closed);
            self.check_argument(parameter, &of_type, sources[at], arguments, (mode, signature.declaration));
            bindings.push(Binding {
                parameter: parameter.id,
                direction: parameter.direction,
                of_type,
                source: sources[at],
            });
        }
        let returns = substitute(&signature.returns, &closed);
        Some(Bound { type_arguments: closed, bindings, returns })
    }

    fn place_of(&self, source: Source, arguments: &[Argument]) -> Span {
        match source {
            Source::Argument(at) | Source::DontCare(at) => arguments[at].value.span,
            Source::Default | Source::Omitted | Source::ControlPlane => Span::NONE,
        }
    }

    /// The default values of parameters infer type arguments as the arguments do.
    fn unify_defaults(&mut self, signature: &Signature<'a>, sources: &[Source], opened: &Substitution) {
        for (parameter, source) in signature.parameters.iter().zip(sources) {
            let Some(default) = parameter.default.as_ref().filter(|_| *source == Source::Default) else { continue };
            let declared = substitute(self.out.declared_type(parameter.id), opened);
            if declared.is_open() {
                let actual = substitute(&self.out.used_type(default).clone(), opened);
                self.unify(&declared, &actual);
            }
        }
    }

    /// Where the value of each parameter comes from.
    fn sources(
        &mut self,
        span: Span,
        signature: &Signature<'a>,
        arguments: &'a [Argument],
        mode: Mode,
    ) -> Option<Vec<Source>> {
        let named = arguments.iter().filter(|argument| argument.name.is_some()).count();
        if named != 0 && named != arguments.len() {
            let message = "either all or none of the arguments of a call have to be named";
            self.error("invalid", span, message, "");
            return None;
        }
        let mut sources: Vec<Option<Source>> = vec![None; signature.parameters.len()];
        for (at, argument) in arguments.iter().enumerate() {
            let place = match &argument.name {
                Some(name) => signature.parameters.iter().position(|parameter| parameter.name.text == name.text),
                None => (at < signature.parameters.len()).then_some(at),
            };
            let Some(place) = place else {
                let Some(name) = &argument.name else {
                    let message = format!("too many arguments for `{}`", signature.name);
                    self.report_at_declaration(message, argument.span, signature.declaration);
                    return None;
                };
                let message = format!("`{}` has no parameter `{name}`", signature.name);
                let declared = self.node(signature.declaration).span();
                let report = Diagnostic::error(message).kind("type-error").label(argument.span, "");
                let report = report.label(declared, "declared here");
                let names: Vec<_> = signature.parameters.iter().map(|it| it.name.text.clone()).collect();
                self.report(with_similar(report, &names, name.as_str()));
                return None;
            };
            if sources[place].is_some() {
                let message = format!("a second argument for parameter `{}`", signature.parameters[place].name);
                self.error("duplicate", argument.span, message, "");
                return None;
            }
            let is_data = signature.parameters[place].direction == Direction::None;
            if mode == Mode::ActionList && is_data {
                let message = format!(
                    "parameter `{}` cannot be bound: the control plane sets it",
                    signature.parameters[place].name
                );
                self.report_at_declaration(message, argument.span, signature.declaration);
                return None;
            }
            let ignored = matches!(argument.value.kind, ExpressionKind::DontCare);
            sources[place] = Some(if ignored { Source::DontCare(at) } else { Source::Argument(at) });
        }
        let mut complete = Vec::new();
        for (parameter, source) in signature.parameters.iter().zip(sources) {
            match source.or_else(|| absent(parameter, mode)) {
                Some(source) => complete.push(source),
                None => {
                    self.missing(span, signature, parameter, mode);
                    return None;
                }
            }
        }
        Some(complete)
    }

    fn missing(&mut self, span: Span, signature: &Signature<'a>, parameter: &'a Parameter, mode: Mode) {
        let message = format!("`{}`: no argument for parameter `{}`", signature.name, parameter.name);
        let is_action = matches!(self.out.kind(signature.declaration), Some(DeclarationKind::Action { .. }));
        let kind = if is_action && mode == Mode::Run { "uninitialized" } else { "type-error" };
        self.report(Diagnostic::error(message).kind(kind).label(span, "").label(parameter.name.span, "the parameter"));
    }

    pub fn report_at_declaration(&mut self, message: String, span: Span, declaration: DeclarationId) -> Type {
        let declared = self.node(declaration).span();
        self.report(Diagnostic::error(message).kind("type-error").label(span, "").label(declared, "declared here"))
    }

    /// The type parameters with what was given for them, or holes.
    fn open(&mut self, span: Span, signature: &Signature<'a>, explicit: &[Type]) -> Option<Substitution> {
        let expected = signature.type_parameters.len();
        if !explicit.is_empty() && explicit.len() != expected {
            let message = format!(
                "`{}` has {expected} type parameter{}, {} given",
                signature.name,
                if expected == 1 { "" } else { "s" },
                explicit.len()
            );
            self.report_at_declaration(message, span, signature.declaration);
            return None;
        }
        let mut opened = Substitution::default();
        for (at, parameter) in signature.type_parameters.iter().enumerate() {
            let given = explicit.get(at).filter(|given| **given != Type::DontCare).cloned();
            let given = given.unwrap_or_else(|| self.inference.hole());
            opened.bind(parameter.id, given);
        }
        Some(opened.within(&signature.outer))
    }

    fn argument_types(
        &mut self,
        signature: &Signature<'a>,
        sources: &[Source],
        arguments: &'a [Argument],
        opened: &Substitution,
        mode: Mode,
    ) -> Vec<Type> {
        let mut actual = vec![Type::DontCare; signature.parameters.len()];
        let makes_objects = std::mem::replace(&mut self.around.makes_objects, mode.constructs());
        for (at, argument) in arguments.iter().enumerate() {
            let Some(place) = sources.iter().position(|source| *source == Source::Argument(at)) else { continue };
            let declared = substitute(self.out.declared_type(signature.parameters[place].id), opened);
            let hint = (!declared.is_open()).then_some(&declared);
            actual[place] = self.value(&argument.value, hint);
        }
        self.around.makes_objects = makes_objects;
        actual
    }

    /// The type arguments after inference. `loose`: what could not be inferred is not worth an error.
    fn close(&mut self, span: Span, signature: &Signature<'a>, opened: &Substitution, loose: bool) -> Substitution {
        let closed = opened.map(|of_type| self.inference.resolve(of_type));
        for parameter in signature.type_parameters {
            let open = closed.get(parameter.id).is_some_and(Type::is_open);
            if open && !loose {
                let message =
                    format!("could not infer a type for variable `{}` of `{}`", parameter.name, signature.name);
                self.report(
                    Diagnostic::error(message)
                        .kind("type-error")
                        .label(span, "")
                        .label(parameter.name.span, "the type parameter")
                        .hint("give the type arguments: `name<types>(arguments)`"),
                );
            }
        }
        let rest = if loose { Type::DontCare } else { Type::Unknown };
        closed.map(|of_type| of_type.replace(&|part| matches!(part, Type::Inferred(_)).then(|| rest.clone())))
    }

    fn check_argument(
        &mut self,
        parameter: &'a Parameter,
        of_type: &Type,
        source: Source,
        arguments: &'a [Argument],
        (mode, callee): (Mode, DeclarationId),
    ) {
        let directed_out = matches!(parameter.direction, Direction::Out | Direction::InOut);
        let at = match source {
            Source::Argument(at) => at,
            Source::DontCare(at) => {
                if parameter.direction != Direction::Out && !mode.constructs() {
                    self.type_error(arguments[at].span, "`_` can only be the argument of an `out` parameter");
                }
                return;
            }
            Source::ControlPlane => return self.check_action_data(parameter, of_type),
            Source::Default | Source::Omitted => return,
        };
        let value = &arguments[at].value;
        let actual = self.out.used_type(value).clone();
        if actual.is_unknown() || of_type.is_unknown() {
            return;
        }
        let generic = matches!(self.out.declared_type(parameter.id), Type::Variable(_) | Type::DontCare);
        let object = matches!(actual, Type::Parser(_) | Type::Control(_) | Type::Package(_) | Type::Table(_));
        let directed = parameter.direction != Direction::None;
        if !mode.constructs() && (object || (generic && directed && matches!(actual, Type::Extern(_)))) {
            self.type_error(value.span, format!("an argument cannot have type `{actual}`"));
            return;
        }
        if matches!(actual, Type::Action(_) | Type::State | Type::Void | Type::TableResult(_) | Type::ActionRun(_)) {
            self.type_error(value.span, format!("an argument cannot have type `{actual}`"));
            return;
        }
        if *of_type == Type::DontCare && generic && mode == Mode::Run {
            let message = format!("could not infer a type for parameter `{}`", parameter.name);
            self.type_error(value.span, message);
            return;
        }
        if parameter.direction != Direction::None && of_type.any(&|part| *part == Type::String) {
            self.type_error(value.span, format!("a parameter with type `{of_type}` cannot have a direction"));
            return;
        }
        if parameter.direction != Direction::None && of_type.any(&|part| *part == Type::Integer) {
            self.type_error(value.span, "could not infer a width: give the number one, as in `8w1`");
            return;
        }
        if matches!(of_type, Type::StructureLiteral { .. } | Type::InvalidLiteral | Type::DefaultLiteral) {
            self.type_error(value.span, "cannot infer the type of this literal: cast it to one");
            return;
        }
        if !directed_out {
            if self.convert_or_report(value, &actual, of_type) {
                self.check_known_argument(parameter, value, mode, callee);
            }
            return;
        }
        if !self.is_place(value) {
            let message = format!("the argument of `{}` has to be something that can be written to", parameter.name);
            self.error("type-error", value.span, message, "the parameter is `out` or `inout`");
        } else if actual != *of_type && (self.would_cast(&actual, of_type) || !self.unify(of_type, &actual)) {
            self.mismatch(value.span, of_type, &actual);
        }
    }

    /// What a control plane can send: numbers and truth values, and what is flat lists of them.
    fn check_action_data(&mut self, parameter: &'a Parameter, of_type: &Type) {
        let nested = self.out.fields_of(of_type).iter().any(|field| matches!(field.of_type, Type::Struct(_)));
        if nested {
            let message = format!("action parameter `{}` cannot be set by the control plane", parameter.name);
            let label = format!("it has type `{of_type}`; numbers and `bool` can");
            self.error("type-error", parameter.name.span, message, &label);
        }
    }

    /// Whether a value would change its type when it is copied in: it then could not be written back.
    fn would_cast(&self, actual: &Type, of_type: &Type) -> bool {
        matches!(actual, Type::SerializableEnum(_)) || *of_type == Type::Integer
    }

    fn check_known_argument(
        &mut self,
        parameter: &'a Parameter,
        value: &'a Expression,
        mode: Mode,
        callee: DeclarationId,
    ) {
        if parameter.direction != Direction::None {
            return;
        }
        match mode {
            Mode::Construct | Mode::ConstructInside => {
                if !self.is_known(value) {
                    let message = format!("the argument of `{}` cannot be evaluated at compile time", parameter.name);
                    self.type_error(value.span, message);
                }
            }
            Mode::ActionData => {
                if !self.is_known(value) {
                    self.type_error(value.span, "an action's data has to be a compile-time constant here");
                }
            }
            // The program itself may give an action any data.
            Mode::Run if matches!(self.out.kind(callee), Some(DeclarationKind::Action { .. })) => {}
            Mode::Run => {
                if !self.is_settled(value) {
                    let message = format!("the argument of `{}` has to be known at compile time", parameter.name);
                    let hint = "the data of an action may be known later: make the call in an action, and call that";
                    self.report(Diagnostic::error(message).kind("type-error").label(value.span, "").hint(hint));
                }
            }
            Mode::ActionList => {}
        }
    }

    /// Whether a value is known before a packet comes: it is made of constants, objects, and parameters without a direction.
    fn is_settled(&self, value: &Expression) -> bool {
        let is_object = matches!(self.out.used_type(value), Type::Extern(_));
        let given = match self.out.reference(value) {
            Reference::Declaration(id) => self.out.parameter(*id).map(|parameter| parameter.direction),
            _ => None,
        };
        let is_made = matches!(
            value.kind,
            ExpressionKind::Unary { .. }
                | ExpressionKind::Binary { .. }
                | ExpressionKind::Cast { .. }
                | ExpressionKind::Slice { .. }
                | ExpressionKind::Member { .. }
                | ExpressionKind::List { .. }
                | ExpressionKind::Structure { .. }
        );
        let made_of_settled = || value.children().into_iter().all(|part| self.is_settled(part));
        is_object || given == Some(Direction::None) || self.is_known(value) || (is_made && made_of_settled())
    }
}

fn is_optional(parameter: &Parameter) -> bool {
    parameter.default.is_some() || parameter.attributes.has("optional")
}

/// The value of an argument that is not given.
fn absent(parameter: &Parameter, mode: Mode) -> Option<Source> {
    if parameter.default.is_some() {
        return Some(Source::Default);
    }
    if parameter.attributes.has("optional") {
        return Some(Source::Omitted);
    }
    (mode == Mode::ActionList && parameter.direction == Direction::None).then_some(Source::ControlPlane)
}
