//! Declarations at the top of a program and inside others: each enters its scope and is checked.
//!
//! Types are here; parsers, controls and what else has a body are in `objects`.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::annotations::Before;
use super::checker::{Checker, Place};
use super::nodes::Node;
use crate::ast::{
    Attributes, Constant, Declaration, DeclarationId, DeclarationKind, Enumeration, Expression, Member, Name,
    Structure, StructureKind, Type as WrittenType, TypeParameter, Variable,
};
use crate::evaluate::{Value, fits};
use crate::types::{Substitution, Type};

impl<'a> Checker<'a> {
    pub fn program(&mut self, declarations: &'a [Declaration]) {
        self.find_announced(declarations);
        self.declare_errors(declarations);
        for declaration in declarations {
            self.declaration(declaration);
        }
        self.find_main();
        self.warn_without_main();
        let top = std::mem::take(&mut self.scopes[0]);
        self.warn_unused(&top);
    }

    /// `extern E;` and the full declaration that follows are one type.
    fn find_announced(&mut self, declarations: &'a [Declaration]) {
        let is_announced = |declaration: &&Declaration| match &declaration.kind {
            DeclarationKind::Extern(declared) => declared.announced,
            _ => false,
        };
        for announced in declarations.iter().filter(is_announced) {
            let full = declarations.iter().find(|full| {
                matches!(&full.kind, DeclarationKind::Extern(declared) if !declared.announced)
                    && full.name.text == announced.name.text
            });
            if let Some(full) = full {
                self.announced.insert(announced.id, full.id);
            }
        }
    }

    /// All errors are in one namespace, "irrespective of the place where an error is defined" (1.2.5, section 7.1.2): known from the start.
    fn declare_errors(&mut self, declarations: &'a [Declaration]) {
        for declaration in declarations {
            if let DeclarationKind::Error(members) = &declaration.kind {
                self.error_members(members);
            }
        }
    }

    pub fn declaration(&mut self, declaration: &'a Declaration) {
        let before = match &declaration.kind {
            DeclarationKind::Structure(Structure { kind: StructureKind::Header, .. }) => Before::Header,
            DeclarationKind::NewType { .. } => Before::NewType,
            _ => Before::Else,
        };
        self.check_annotations(&declaration.attributes.annotations, before);
        let (id, name) = (declaration.id, &declaration.name);
        match &declaration.kind {
            DeclarationKind::Constant(constant) => self.constant(id, name, constant),
            DeclarationKind::Variable(variable) => self.variable(id, name, variable),
            DeclarationKind::Instance(instance) => self.instance(declaration, instance),
            DeclarationKind::Typedef { target, inline } => {
                let target = self.aliased(target, inline.as_deref());
                self.declare_type(id, target);
                self.declare(id, name);
            }
            DeclarationKind::NewType { target } => self.new_type(id, name, target),
            DeclarationKind::Structure(structure) => self.structure(id, name, structure),
            DeclarationKind::Enumeration(enumeration) => self.enumeration(id, name, enumeration),
            // Declared before everything else.
            DeclarationKind::Error(_) => {}
            DeclarationKind::MatchKind(members) => self.match_kind_members(members),
            DeclarationKind::Extern(declared) => self.extern_object(id, name, declared),
            DeclarationKind::Function(function) => self.function(declaration, function),
            DeclarationKind::Action { parameters, body } => self.action(declaration, parameters, body),
            DeclarationKind::Parser(parser) => self.parser(declaration, parser),
            DeclarationKind::Control(control) => self.control(declaration, control),
            DeclarationKind::Package(package) => self.package(id, name, package),
            DeclarationKind::Table(table) => self.table(declaration, table),
            DeclarationKind::ValueSet(set) => self.value_set(declaration, set),
            DeclarationKind::Assertion(call) => {
                self.value(call, None);
                self.check_assertion(call);
            }
        }
    }

    /// Enters a name into the innermost scope. Functions may share a name if their parameters distinguish them.
    pub fn declare(&mut self, id: DeclarationId, name: &'a Name) {
        let scope = self.scopes.last().expect("the top of the program is a scope");
        let earlier = scope.get(&name.text).cloned().unwrap_or_default();
        let mut kept = Vec::new();
        for other in &earlier {
            if self.announced.get(other) == Some(&id) || self.announced.get(&id) == Some(other) {
                continue;
            }
            kept.push(*other);
            if !self.may_share_name(*other, id) {
                self.duplicate(name, *other);
                return;
            }
        }
        kept.push(id);
        for one in &kept {
            if kept.len() > 1 {
                self.alternatives.insert(*one, kept.clone());
            }
        }
        self.warn_shadowing(name);
        let scope = self.scopes.last_mut().expect("the top of the program is a scope");
        scope.insert(name.text.clone(), kept);
    }

    pub fn duplicate(&mut self, name: &Name, earlier: DeclarationId) {
        let first = self.node(earlier).span();
        self.report(
            Diagnostic::error(format!("duplicate declaration of `{name}`"))
                .kind("duplicate")
                .label(name.span, "declared a second time here")
                .label(first, "first declared here"),
        );
    }

    fn may_share_name(&self, earlier: DeclarationId, later: DeclarationId) -> bool {
        let (Some(first), Some(second)) = (self.out.kind(earlier), self.out.kind(later)) else { return false };
        let constructed =
            matches!(first, DeclarationKind::Parser(_) | DeclarationKind::Control(_) | DeclarationKind::Package(_));
        let function = matches!(first, DeclarationKind::Function(_));
        let same_kind = std::mem::discriminant(first) == std::mem::discriminant(second);
        same_kind && (constructed || function) && self.are_distinct(earlier, later)
    }

    /// Overloads differ in the number or the names of their parameters: of the constructor, where there is one. Types do not
    /// distinguish them (P4-16, 6.8.3: "Argument type information is not used in disambiguating calls").
    pub fn are_distinct(&self, earlier: DeclarationId, later: DeclarationId) -> bool {
        let names = |id: DeclarationId| -> Vec<&str> {
            let object = matches!(self.out.kind(id), Some(DeclarationKind::Parser(_) | DeclarationKind::Control(_)));
            let of_object = self.out.constructor_parameters(id);
            let parameters = if object { of_object } else { self.out.parameters(id) };
            let mut names: Vec<&str> = parameters.iter().map(|one| one.name.as_str()).collect();
            names.sort_unstable();
            names
        };
        names(earlier) != names(later)
    }

    /// The type parameters of `from` as those of `to` at the same places, if there are as many.
    pub fn renamed_type_parameters(&self, from: DeclarationId, to: DeclarationId) -> Option<Substitution> {
        let (from, to) = (self.out.type_parameters(from), self.out.type_parameters(to));
        let renamed = |to: &TypeParameter| Type::Variable(self.nominal(to.id, Vec::new()));
        let pairs = from.iter().zip(to).map(|(from, to)| (from.id, renamed(to))).collect();
        (from.len() == to.len()).then(|| Substitution::new(pairs))
    }

    /// Reports names that occur twice in a list.
    pub fn check_distinct(&mut self, names: impl Iterator<Item = &'a Name>) {
        let mut seen: std::collections::HashMap<&str, Span> = std::collections::HashMap::new();
        for name in names {
            if let Some(first) = seen.insert(name.as_str(), name.span) {
                self.report(
                    Diagnostic::error(format!("duplicate declaration of `{name}`"))
                        .kind("duplicate")
                        .label(name.span, "declared a second time here")
                        .label(first, "first declared here"),
                );
            }
        }
    }

    fn constant(&mut self, id: DeclarationId, name: &'a Name, constant: &'a Constant) {
        let of_type = self.resolve(&constant.of_type);
        if of_type.is_object() {
            self.type_error(name.span, format!("cannot declare constants of type `{of_type}`"));
        } else if matches!(of_type, Type::Void | Type::DontCare) {
            self.type_error(constant.of_type.span, format!("a constant cannot have type `{of_type}`"));
        } else if self.expression_as(&constant.value, &of_type) {
            match self.value_of(&constant.value).cloned() {
                Some(value) => {
                    self.out.constants.insert(id, value);
                }
                None => self.require_known(&constant.value, "the value of a constant"),
            }
        }
        self.declare_type(id, of_type);
        self.declare(id, name);
        if name.as_str() == "__v1model_version" {
            self.check_v1model_version(id, constant.value.span);
        }
    }

    /// The versions of v1model that exist.
    fn check_v1model_version(&mut self, id: DeclarationId, span: Span) {
        let Some(Value::Integer(version)) = self.out.constant_value(id).cloned() else { return };
        let (first, last) = (num_bigint::BigInt::from(20_180_101), num_bigint::BigInt::from(20_200_408));
        if version < first || version > last {
            let message = format!("{version}: unknown v1model version; the first one is {first}, the latest {last}");
            self.error("unknown", span, message, "");
        }
    }

    pub fn variable(&mut self, id: DeclarationId, name: &'a Name, variable: &'a Variable) {
        let of_type = self.resolve(&variable.of_type);
        let fine = self.check_variable(name.span, &of_type);
        if let Some(value) = &variable.value {
            if fine {
                self.expression_as(value, &of_type);
            } else {
                self.value(value, None);
            }
        }
        self.check_hidden_parameter(name);
        if self.around.place == Place::TopLevel {
            self.error("invalid", name.span, "variables cannot be declared at the top of a program", "");
        }
        self.declare_type(id, if fine { of_type } else { Type::Unknown });
        self.declare(id, name);
    }

    /// Inside a body a variable cannot take the name of a parameter around: `T x = x;` would read neither.
    fn check_hidden_parameter(&mut self, name: &'a Name) {
        if !matches!(self.around.place, Place::ControlApply | Place::ParserState | Place::Action | Place::Function) {
            return;
        }
        let hidden =
            self.scopes[1..].iter().rev().find_map(|scope| scope.get(&name.text)).and_then(|found| found.first());
        let Some(hidden) = hidden.copied() else { return };
        if let Node::Parameter { parameter, .. } = self.node(hidden) {
            self.report(
                Diagnostic::error(format!("declaration of `{name}` shadows a parameter"))
                    .kind("shadow")
                    .label(name.span, "")
                    .label(parameter.name.span, "the parameter"),
            );
        }
    }

    fn aliased(&mut self, target: &'a WrittenType, inline: Option<&'a Declaration>) -> Type {
        if let Some(inline) = inline {
            self.declaration(inline);
        }
        let target_type = self.resolve(target);
        if matches!(target_type, Type::Void | Type::MatchKind | Type::DontCare) {
            return self.type_error(target.span, format!("`{target_type}` cannot be given another name"));
        }
        target_type
    }

    fn new_type(&mut self, id: DeclarationId, name: &'a Name, target: &'a WrittenType) {
        let target_type = self.aliased(target, None);
        let base = matches!(
            target_type,
            Type::Unknown
                | Type::Bool
                | Type::Bits { .. }
                | Type::Newtype(_)
                | Type::SerializableEnum(_)
                | Type::Enum(_)
        );
        let target_type = if base {
            target_type
        } else {
            self.type_error(name.span, format!("`type` can only be applied to base types, not to `{target_type}`"))
        };
        self.out.underlying.insert(id, target_type);
        let nominal = self.nominal(id, Vec::new());
        self.declare_type(id, Type::Newtype(nominal));
        self.declare(id, name);
    }

    /// Brings type parameters into scope, and returns them as types.
    pub fn type_parameters(&mut self, id: DeclarationId) -> Vec<Type> {
        let parameters = self.out.type_parameters(id);
        self.check_distinct(parameters.iter().map(|parameter| &parameter.name));
        let mut variables = Vec::new();
        for parameter in parameters {
            let variable = Type::Variable(self.nominal(parameter.id, Vec::new()));
            self.declare_type(parameter.id, variable.clone());
            if matches!(self.out.kind(id), Some(DeclarationKind::Function(_))) {
                self.warn_shadowing(&parameter.name);
            }
            let scope = self.scopes.last_mut().expect("the top of the program is a scope");
            scope.insert(parameter.name.text.clone(), vec![parameter.id]);
            variables.push(variable);
        }
        variables
    }

    fn structure(&mut self, id: DeclarationId, name: &'a Name, structure: &'a Structure) {
        self.check_distinct(structure.fields.iter().map(|field| &field.name));
        self.around.inside.push(id);
        let variables = self.scoped(|checker| {
            let variables = checker.type_parameters(id);
            for (at, field) in structure.fields.iter().enumerate() {
                let before = if structure.kind == StructureKind::Struct { Before::Field } else { Before::Else };
                checker.check_annotations(&field.attributes.annotations, before);
                if let Some(length) = field.attributes.find("length") {
                    checker.check_length(length, &structure.fields[..at]);
                }
                let of_type = checker.resolve(&field.of_type);
                checker.declare_type(field.id, of_type);
            }
            variables
        });
        self.around.inside.pop();
        self.count_parts(id, name.span, &structure.fields);
        self.declare(id, name);
        let own = self.type_named(id).unwrap_or(Type::Unknown).with_arguments(variables);
        for field in &structure.fields {
            let of_type = self.out.declared_type(field.id).clone();
            if !self.may_be_field(structure.kind, &of_type) {
                let message = format!("field `{}` of `{own}` cannot have type `{of_type}`", field.name);
                self.error("type-error", field.name.span, message, "");
                self.declare_type(field.id, Type::Unknown);
            }
        }
        self.declare_type(id, own);
    }

    fn enumeration(&mut self, id: DeclarationId, name: &'a Name, enumeration: &'a Enumeration) {
        self.check_distinct(enumeration.members.iter().map(|member| &member.name));
        let underlying = enumeration.underlying.as_ref().map(|underlying| {
            let of_type = self.resolve(underlying);
            if matches!(of_type, Type::Bits { .. } | Type::Unknown) {
                return of_type;
            }
            let message = format!("`{of_type}` cannot be the type of an enumeration; only `bit<>` and `int<>` can");
            self.type_error(underlying.span, message)
        });
        if let Some(underlying) = &underlying {
            self.out.underlying.insert(id, underlying.clone());
        }
        self.declare(id, name);
        let own = self.type_named(id).unwrap_or(Type::Unknown);
        self.declare_type(id, own.clone());
        let own_scope = enumeration.members.iter().map(|member| (member.name.text.clone(), vec![member.id])).collect();
        self.scopes.push(own_scope);
        for (number, member) in enumeration.members.iter().enumerate() {
            self.check_attributes(&member.attributes);
            self.declare_type(member.id, own.clone());
            self.out.numbers.insert(member.id, number as u32);
            match (&underlying, &member.value) {
                (Some(underlying), Some(value)) => self.member_value(member, value, underlying),
                (Some(_), None) => {
                    let message = format!("member `{}` needs a value", member.name);
                    self.error("type-error", member.name.span, message, "its enumeration has an underlying type");
                }
                (None, Some(value)) => {
                    self.error("type-error", value.span, "only enumerations with an underlying type have values", "");
                }
                (None, None) => {}
            }
        }
        self.scopes.pop();
    }

    fn member_value(&mut self, member: &'a Member, value: &'a Expression, underlying: &Type) {
        let of_type = self.value(value, Some(underlying));
        let number = self.value_of(value).and_then(|value| value.integer()).cloned();
        if let (Some(number), Type::Bits { width, signed }) = (&number, underlying)
            && of_type == Type::Integer
            && !fits(number, *width, *signed)
        {
            let message = format!("{number}: not in the range of the enumeration's type `{underlying}`");
            self.error("type-error", member.name.span, message, "");
            return;
        }
        if self.convert_or_report(value, &of_type, underlying) {
            match self.value_of(value).cloned() {
                Some(number) => {
                    self.out.constants.insert(member.id, number);
                }
                None => self.require_known(value, "the value of a member"),
            }
        }
    }

    fn error_members(&mut self, members: &'a [Member]) {
        for member in members {
            self.declare_type(member.id, Type::Error);
            self.out.numbers.insert(member.id, self.errors.len() as u32);
            if let Some(first) = self.errors.get(&member.name.text).copied() {
                self.duplicate(&member.name, first);
            } else {
                self.errors.insert(member.name.text.clone(), member.id);
            }
        }
    }

    fn match_kind_members(&mut self, members: &'a [Member]) {
        for member in members {
            self.declare_type(member.id, Type::MatchKind);
            self.out.numbers.insert(member.id, self.match_kinds.len() as u32);
            if let Some(first) = self.match_kinds.get(&member.name.text).copied() {
                self.duplicate(&member.name, first);
            } else {
                self.match_kinds.insert(member.name.text.clone(), member.id);
            }
        }
    }

    /// The package instance that a program is.
    fn find_main(&mut self) {
        let Some(id) = self.scopes[0].get("main").and_then(|found| found.first()).copied() else { return };
        self.used[id.index()] = true;
        match self.node(id) {
            Node::Declaration(Declaration { kind: DeclarationKind::Instance(_), .. }) => {
                let of_type = self.out.declared_type(id);
                if matches!(of_type, Type::Package(_)) {
                    self.out.main = Some(id);
                    for late in std::mem::take(&mut self.when_run) {
                        self.report(late);
                    }
                    self.warn_unknown_package(id);
                    self.check_architecture();
                    self.check_control_names(&self.out.program.declarations);
                } else if !of_type.is_unknown() {
                    let span = self.node(id).span();
                    self.error("expected", span, "`main` has to be an instance of a package", "");
                }
            }
            Node::Declaration(Declaration { kind: DeclarationKind::Function(_), .. }) => {}
            node => {
                self.error("invalid", node.span(), "`main` has to be an instance of a package", "");
            }
        }
    }

    /// Annotations that the language gives a form to.
    pub fn check_attributes(&mut self, attributes: &'a Attributes) {
        self.check_annotations(&attributes.annotations, Before::Else);
    }
}
