//! Instances: what may be instantiated where, constructor arguments, and the bodies that define abstract methods.

use hlir::diagnostic::Diagnostic;

use super::annotations::Before;
use super::calls::Maker;
use super::checker::{Checker, Place};
use super::nodes::Node;
use crate::ast::{
    Block, Declaration, DeclarationId, DeclarationKind, Direction, Function, Instance, Method, Type as WrittenType,
    TypeKind,
};
use crate::types::{Nominal, Type, substitute};

impl<'a> Checker<'a> {
    pub fn instance(&mut self, declaration: &'a Declaration, instance: &'a Instance) {
        let name = &declaration.name;
        let (object, size) = self.instance_type(&instance.of_type);
        let mut result = Type::Unknown;
        if self.check_instantiation(declaration, instance, &object) {
            let maker = if instance.body.is_some() { Maker::InstanceWithBody } else { Maker::Instance };
            let made = self.making_objects(|checker| {
                checker.construct(instance.of_type.span, name.span, &object, &instance.arguments, maker)
            });
            if let Some(call) = made {
                result = match size {
                    Some(size) => Type::Stack { element: call.result.clone().into(), size },
                    None => call.result.clone(),
                };
                self.out.instances.insert(declaration.id, call);
            }
        } else {
            for argument in &instance.arguments {
                self.making_objects(|checker| checker.value(&argument.value, None));
            }
        }
        self.declare_type(declaration.id, result.clone());
        self.declare(declaration.id, name);
        if let Some(body) = &instance.body {
            self.instance_body(declaration, body, &result);
        }
    }

    /// What is to be made, and how many: `Counter(64) counters[4];` makes an array of externs.
    fn instance_type(&mut self, written: &'a WrittenType) -> (Type, Option<u32>) {
        let TypeKind::Array { element, size } = &written.kind else { return (self.resolve_open(written), None) };
        let object = self.resolve_open(element);
        let number = self.constant_number(size, "the size of an array");
        let size = number.and_then(|number| u32::try_from(&number).ok());
        if !matches!(object, Type::Extern(_) | Type::Unknown) {
            return (self.type_error(written.span, format!("cannot make an array of `{object}`")), None);
        }
        (if size.is_some() { object } else { Type::Unknown }, size)
    }

    /// Whether an object of this type can be made here; reports if not.
    fn check_instantiation(&mut self, declaration: &'a Declaration, instance: &'a Instance, object: &Type) -> bool {
        let name = &declaration.name;
        let place = self.around.place;
        if object.is_unknown() {
            return false;
        }
        if !matches!(object, Type::Extern(_) | Type::Parser(_) | Type::Control(_) | Type::Package(_)) {
            let message = format!("{name}: cannot make instances of `{object}`");
            let kind = if matches!(object, Type::Struct(_) | Type::Header(_)) { "type-error" } else { "invalid" };
            self.error(kind, instance.of_type.span, message, "only externs, parsers, controls and packages have them");
            return false;
        }
        if matches!(place, Place::Function | Place::Action | Place::Method | Place::ParserState) {
            let message = format!("{name}: instances cannot be made in a function, action or parser state");
            self.error("invalid", name.span, message, "declare it outside");
            return false;
        }
        let misplaced = match object {
            Type::Package(_) => {
                (place != Place::TopLevel).then_some("a package can only be instantiated at the top of a program")
            }
            Type::Parser(_) => match place {
                Place::ParserLocals => None,
                Place::TopLevel => Some("cannot instantiate a parser at the top of a program"),
                _ => Some("a parser can only be instantiated in a parser"),
            },
            Type::Control(_) => match place {
                Place::ControlLocals | Place::ControlApply => None,
                Place::TopLevel => Some("cannot instantiate a control at the top of a program"),
                _ => Some("a control can only be instantiated in a control"),
            },
            _ => None,
        };
        if let Some(misplaced) = misplaced {
            self.error("invalid", name.span, format!("{name}: {misplaced}"), "");
            return false;
        }
        true
    }

    /// `= { ... }`: definitions of the abstract methods, and instances of their own.
    fn instance_body(&mut self, declaration: &'a Declaration, body: &'a [Declaration], object: &Type) {
        let Type::Extern(nominal) = object else {
            if !object.is_unknown() {
                let message = format!("{}: only instances of externs have a body", declaration.name);
                self.type_error(declaration.name.span, message);
            }
            return;
        };
        let abstracts = self.abstract_methods(nominal.declaration);
        if abstracts.is_empty() {
            let message = format!("{}: `{nominal}` has no abstract methods to define", declaration.name);
            self.type_error(declaration.name.span, message);
        }
        let mut around = self.body_of(declaration.id, self.around.place, None);
        around.this = Some(declaration.id);
        self.inside(around, |checker| {
            for part in body {
                match &part.kind {
                    DeclarationKind::Function(function) => {
                        checker.method_body(part, function, nominal, &abstracts);
                    }
                    DeclarationKind::Instance(_) | DeclarationKind::Constant(_) | DeclarationKind::Variable(_) => {
                        checker.declaration(part);
                    }
                    _ => {
                        checker.type_error(part.name.span, "only functions and instances can be declared here");
                    }
                }
            }
        });
        for method in abstracts {
            let defined = body.iter().any(|part| part.name.text == method.name.text);
            if !defined && !method.attributes.has("optional") {
                let message = format!("{}: abstract method `{}` is not defined", declaration.name, method.name);
                self.report(
                    Diagnostic::error(message)
                        .kind("type-error")
                        .label(declaration.name.span, "the body of this instance has to define it")
                        .label(method.name.span, "declared here"),
                );
            }
        }
    }

    pub fn abstract_methods(&self, object: DeclarationId) -> Vec<&'a Method> {
        match self.out.kind(object) {
            Some(DeclarationKind::Extern(declared)) => {
                declared.methods.iter().filter(|method| method.is_abstract).collect()
            }
            _ => Vec::new(),
        }
    }

    fn method_body(
        &mut self,
        part: &'a Declaration,
        function: &'a Function,
        object: &Nominal,
        abstracts: &[&'a Method],
    ) {
        self.used[part.id.index()] = true;
        self.function_in(part, function, Place::Method);
        let same = |method: &&&Method| {
            let rest = method.parameters.iter().skip(function.parameters.len());
            method.name.text == part.name.text
                && method.parameters.len() >= function.parameters.len()
                && rest.into_iter().all(|parameter| parameter.attributes.has("optional"))
        };
        let Some(method) = abstracts.iter().find(same) else {
            let message = format!("{}: no abstract method of `{object}` matches", part.name);
            self.type_error(part.name.span, message);
            return;
        };
        let renamed = self.renamed_type_parameters(method.id, part.id);
        let mut fits = renamed.is_some();
        let arguments = self.out.arguments_of(object).within(&renamed.unwrap_or_default());
        let wanted = substitute(self.out.declared_type(method.id), &arguments);
        fits &= self.unify(&wanted, &self.out.declared_type(part.id).clone());
        for (wanted, defined) in method.parameters.iter().zip(&function.parameters) {
            let wanted_type = substitute(self.out.declared_type(wanted.id), &arguments);
            let same_direction = plain(wanted.direction) == plain(defined.direction);
            fits &= same_direction && self.unify(&wanted_type, &self.out.declared_type(defined.id).clone());
        }
        if !fits {
            self.report(
                Diagnostic::error(format!("{}: definition does not match its abstract method", part.name))
                    .kind("type-error")
                    .label(part.name.span, "")
                    .label(method.name.span, "declared here"),
            );
        }
    }

    fn function_in(&mut self, part: &'a Declaration, function: &'a Function, place: Place) {
        let before = std::mem::replace(&mut self.around.place, place);
        self.function(part, function);
        self.around.place = before;
    }

    /// `static_assert(...)` at the top of a program.
    pub fn check_assertion(&mut self, call: &'a crate::ast::Expression) {
        let crate::ast::ExpressionKind::Call { callee, .. } = &call.kind else {
            self.error("invalid", call.span, "only a call of `static_assert` is allowed here", "");
            return;
        };
        let is_assertion =
            matches!(&callee.kind, crate::ast::ExpressionKind::Path(path) if path.name.as_str() == "static_assert");
        if !is_assertion {
            self.error("invalid", call.span, "only a call of `static_assert` is allowed here", "");
        }
    }

    /// Whether the node is something that has a body to run: parser and control types cannot be instantiated.
    pub fn has_body(&self, id: DeclarationId) -> bool {
        let Node::Declaration(declaration) = self.node(id) else { return false };
        match &declaration.kind {
            DeclarationKind::Parser(parser) => parser.body.is_some(),
            DeclarationKind::Control(control) => control.apply.is_some(),
            DeclarationKind::Package(_) | DeclarationKind::Extern(_) => true,
            _ => false,
        }
    }

    /// The statements of a block, in a scope of their own.
    pub fn block(&mut self, block: &'a Block) {
        self.check_annotations(&block.annotations, Before::Else);
        self.scoped(|checker| {
            for statement in &block.statements {
                checker.statement(statement);
            }
        });
    }
}

/// Parameters without a direction behave as `in`.
fn plain(direction: Direction) -> Direction {
    if direction == Direction::None { Direction::In } else { direction }
}
