//! What has parameters: functions, actions, externs, packages, parsers and controls.
//!
//! Each opens a scope for its type parameters, parameters and locals, and is checked in surroundings of its own.

use hlir::diagnostic::Diagnostic;

use super::checker::{Checker, Place};
use super::nesting::ParametersOf;
use crate::ast::{
    Block, Control, Declaration, DeclarationId, Extern, Function, Method, Name, Package, Parameter, Parser,
    Type as WrittenType, ValueSet,
};
use crate::types::Type;

impl<'a> Checker<'a> {
    /// Resolves the types of parameters and brings their names into scope.
    pub fn parameters(&mut self, parameters: &'a [Parameter], of: ParametersOf) {
        self.check_distinct(parameters.iter().map(|parameter| &parameter.name));
        for parameter in parameters {
            self.check_attributes(&parameter.attributes);
            let of_type = self.resolve(&parameter.of_type);
            self.declare_type(parameter.id, of_type);
        }
        self.check_parameters(parameters, of);
        for parameter in parameters {
            if let Some(default) = &parameter.default {
                // The types of the parameters are known only where the default is used.
                let of_type = self
                    .out
                    .declared_type(parameter.id)
                    .replace(&|part| matches!(part, Type::Variable(_)).then_some(Type::DontCare));
                let fits = self.making_objects(|checker| checker.expression_as(default, &of_type));
                if fits {
                    self.require_known(default, "the default value of a parameter");
                }
            }
        }
        for parameter in parameters {
            if matches!(of, ParametersOf::Action | ParametersOf::Function) {
                self.warn_shadowing(&parameter.name);
            }
            let scope = self.scopes.last_mut().expect("parameters are in a scope");
            scope.insert(parameter.name.text.clone(), vec![parameter.id]);
        }
    }

    fn check_no_type_parameter_named(&mut self, id: DeclarationId, parameters: &'a [Parameter]) {
        let types = self.out.type_parameters(id);
        self.check_distinct(
            types.iter().map(|one| &one.name).chain(parameters.iter().map(|parameter| &parameter.name)),
        );
    }

    fn return_type(&mut self, written: &'a WrittenType) -> Type {
        let of_type = self.resolve(written);
        self.check_returned(written.span, &of_type);
        of_type
    }

    pub fn function(&mut self, declaration: &'a Declaration, function: &'a Function) {
        let id = declaration.id;
        let of = if function.body.is_some() { ParametersOf::Function } else { ParametersOf::Extern };
        let around = self.body_of(id, Place::Function, None);
        self.scopes.push(Default::default());
        let outer = std::mem::replace(&mut self.around, around);
        self.type_parameters(id);
        let returned = self.return_type(&function.return_type);
        self.declare_type(id, returned.clone());
        self.parameters(&function.parameters, of);
        if let Some(body) = &function.body {
            self.around.returns = Some(returned.clone());
            self.block(body);
            self.check_returns(&declaration.name, body, &returned);
        }
        let scope = self.scopes.pop().unwrap_or_default();
        if function.body.is_some() {
            self.warn_unused(&scope);
        }
        self.around = outer;
        self.declare(id, &declaration.name);
    }

    pub fn action(&mut self, declaration: &'a Declaration, parameters: &'a [Parameter], body: &'a Block) {
        let id = declaration.id;
        let nominal = self.nominal(id, Vec::new());
        self.declare_type(id, Type::Action(nominal));
        let around = self.body_of(id, Place::Action, Some(Type::Void));
        self.inside(around, |checker| {
            checker.parameters(parameters, ParametersOf::Action);
            checker.block(body);
        });
        self.declare(id, &declaration.name);
    }

    pub fn extern_object(&mut self, id: DeclarationId, name: &'a Name, declared: &'a Extern) {
        let around = self.body_of(id, self.around.place, None);
        self.declare(id, name);
        let nominal = self.nominal(id, Vec::new());
        self.declare_type(id, Type::Extern(nominal.clone()));
        self.inside(around, |checker| {
            let variables = checker.type_parameters(id);
            checker.declare_type(id, Type::Extern(nominal).with_arguments(variables));
            for method in &declared.methods {
                checker.method(id, name, method);
            }
            checker.check_overloads(&declared.methods);
        });
    }

    fn method(&mut self, object: DeclarationId, name: &'a Name, method: &'a Method) {
        self.check_attributes(&method.attributes);
        let named_as_object = method.name.text == name.text;
        if let (true, Some(returned)) = (named_as_object, &method.return_type) {
            self.error("invalid", returned.span, format!("{name}: a constructor cannot have a return type"), "");
            return;
        }
        if !named_as_object && method.return_type.is_none() {
            let message = format!("{}: a method needs a return type", method.name);
            self.error("invalid", method.name.span, message, "only a constructor, named as its object, has none");
            return;
        }
        self.scoped_signature(|checker| {
            checker.type_parameters(method.id);
            let returned = method.return_type.as_ref().map_or(Type::Void, |written| checker.return_type(written));
            if returned.nominal().is_some_and(|used| used.declaration == object) {
                checker.self_reference(name, name);
            }
            checker.declare_type(method.id, returned);
            let of = if method.is_constructor { ParametersOf::ExternConstructor } else { ParametersOf::Extern };
            checker.parameters(&method.parameters, of);
            for parameter in &method.parameters {
                let of_type = checker.out.declared_type(parameter.id).clone();
                if of_type.any(&|part| matches!(part, Type::Extern(used) if used.declaration == object)) {
                    checker.self_reference(&parameter.name, name);
                }
            }
        });
    }

    fn self_reference(&mut self, place: &Name, object: &Name) {
        self.error(
            "unsupported",
            place.span,
            format!("`{object}` refers to itself"),
            "self-referencing types are not supported",
        );
    }

    /// A scope whose names need not be used.
    fn scoped_signature(&mut self, work: impl FnOnce(&mut Self)) {
        self.scopes.push(Default::default());
        work(self);
        self.scopes.pop();
    }

    fn check_overloads(&mut self, methods: &'a [Method]) {
        for (at, method) in methods.iter().enumerate() {
            let same = methods[..at]
                .iter()
                .find(|other| other.name.text == method.name.text && !self.are_distinct(other.id, method.id));
            if let Some(same) = same {
                self.duplicate(&method.name, same.id);
            }
        }
    }

    pub fn package(&mut self, id: DeclarationId, name: &'a Name, package: &'a Package) {
        let around = self.body_of(id, Place::TopLevel, None);
        let outer = std::mem::replace(&mut self.around, around);
        self.scoped_signature(|checker| {
            let variables = checker.type_parameters(id);
            let own = Type::Package(checker.nominal(id, variables));
            checker.declare_type(id, own);
            checker.parameters(&package.parameters, ParametersOf::Constructor);
        });
        self.around = outer;
        self.declare(id, name);
    }

    pub fn parser(&mut self, declaration: &'a Declaration, parser: &'a Parser) {
        let id = declaration.id;
        self.signature_of_constructor(&parser.constructor_parameters, id);
        self.declare(id, &declaration.name);
        let around = self.body_of(id, Place::ParserLocals, None);
        let outer = std::mem::replace(&mut self.around, around);
        self.scopes.push(Default::default());
        let variables = self.type_parameters(id);
        let own = Type::Parser(self.nominal(id, variables));
        self.declare_type(id, own);
        self.check_no_type_parameter_named(id, &parser.parameters);
        self.check_no_type_parameter_named(id, &parser.constructor_parameters);
        self.check_distinct(parser.constructor_parameters.iter().chain(&parser.parameters).map(|one| &one.name));
        self.parameters(&parser.constructor_parameters, ParametersOf::Constructor);
        self.parameters(&parser.parameters, ParametersOf::Apply);
        if let Some(body) = &parser.body {
            self.scoped(|checker| {
                for local in &body.locals {
                    checker.declaration(local);
                }
                checker.states(&declaration.name, &body.states);
            });
        }
        let scope = self.scopes.pop().unwrap_or_default();
        if parser.body.is_some() {
            self.warn_unused(&scope);
        }
        self.around = outer;
    }

    pub fn control(&mut self, declaration: &'a Declaration, control: &'a Control) {
        let id = declaration.id;
        self.signature_of_constructor(&control.constructor_parameters, id);
        self.declare(id, &declaration.name);
        let around = self.body_of(id, Place::ControlLocals, None);
        let outer = std::mem::replace(&mut self.around, around);
        self.scopes.push(Default::default());
        let variables = self.type_parameters(id);
        let own = Type::Control(self.nominal(id, variables));
        self.declare_type(id, own);
        self.check_no_type_parameter_named(id, &control.parameters);
        self.check_no_type_parameter_named(id, &control.constructor_parameters);
        self.check_distinct(control.constructor_parameters.iter().chain(&control.parameters).map(|one| &one.name));
        self.parameters(&control.constructor_parameters, ParametersOf::Constructor);
        self.parameters(&control.parameters, ParametersOf::Apply);
        if let Some(apply) = &control.apply {
            self.scoped(|checker| {
                for local in &control.locals {
                    checker.declaration(local);
                }
                checker.around.place = Place::ControlApply;
                checker.around.returns = Some(Type::Void);
                checker.block(apply);
            });
        }
        let scope = self.scopes.pop().unwrap_or_default();
        if control.apply.is_some() {
            self.warn_unused(&scope);
        }
        self.around = outer;
    }

    /// The types of constructor parameters distinguish overloads, so they are resolved before the name is declared.
    fn signature_of_constructor(&mut self, parameters: &'a [Parameter], id: DeclarationId) {
        if parameters.is_empty() {
            return;
        }
        self.scoped_signature(|checker| {
            checker.type_parameters(id);
            for parameter in parameters {
                let of_type = checker.resolve(&parameter.of_type);
                checker.declare_type(parameter.id, of_type);
            }
        });
    }

    pub fn value_set(&mut self, declaration: &'a Declaration, set: &'a ValueSet) {
        let element = self.resolve(&set.of_type);
        let fits = matches!(
            element,
            Type::Unknown
                | Type::Bits { .. }
                | Type::Bool
                | Type::Error
                | Type::Enum(_)
                | Type::SerializableEnum(_)
                | Type::Newtype(_)
                | Type::Tuple(_)
                | Type::Struct(_)
        );
        if !fits {
            self.type_error(set.of_type.span, format!("`{element}` cannot be the element type of a value set"));
        }
        let number = self.value(&set.size, None);
        if !number.is_unknown() && !self.is_known(&set.size) {
            self.error("expected", set.size.span, "the size of a value set has to be constant", "");
        }
        self.declare_type(declaration.id, Type::ValueSet(element.into()));
        self.declare(declaration.id, &declaration.name);
    }

    /// A function that returns something does so on all paths.
    fn check_returns(&mut self, name: &Name, body: &'a Block, returned: &Type) {
        if matches!(returned, Type::Void | Type::Unknown) || super::returns::always_leaves(body) {
            return;
        }
        self.report(
            Diagnostic::error(format!("function `{name}` does not return a value on all paths"))
                .kind("insufficient")
                .label(name.span, format!("it returns `{returned}`"))
                .hint("end it with `return`"),
        );
    }
}
