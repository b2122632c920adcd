//! Objects made at compile time (10.3, 18.3): what a parser, control or extern instantiates, made once before any packet comes.

use std::collections::HashMap;
use std::rc::Rc;

use p4::ast::{self, Argument, Declaration, DeclarationKind, Expression, ExpressionKind, TypeKind};

use super::convert::convert;
use super::environment::{Binding, Env, Instance, bind};
use super::externs::Object;
use super::machine::Machine;
use super::types::bind_types;
use super::{Run, unsupported};

impl<'a> Machine<'a> {
    pub(super) fn here(&self) -> Run<Rc<Instance<'a>>> {
        match self.running.last() {
            Some(instance) => Ok(instance.clone()),
            None => unsupported("an object outside of parsers and controls"),
        }
    }

    pub(super) fn global_instance(&mut self, declaration: &'a Declaration) -> Run<Rc<Instance<'a>>> {
        if let Some(known) = self.instances.get(&declaration.id) {
            return Ok(known.clone());
        }
        let DeclarationKind::Instance(made) = &declaration.kind else { return unsupported("no instance") };
        let instance = self.instantiate(&made.of_type, &made.arguments, &None, control_plane_name("", declaration))?;
        self.instances.insert(declaration.id, instance.clone());
        Ok(instance)
    }

    /// The class that a type names, and the type arguments given to it.
    fn class(&mut self, of: &'a ast::Type, env: &Env<'a>) -> Run<(&'a Declaration, Vec<super::value::Type>)> {
        let (path, arguments) = match &of.kind {
            TypeKind::Named(path) => (path, Vec::new()),
            TypeKind::Specialized { base, arguments } => (base, self.resolve_all(arguments, env)?),
            _ => return unsupported(format!("instance of {of}")),
        };
        let global = self.globals.get(path.name.as_str()).and_then(|all| all.first().copied());
        if let Some(DeclarationKind::Typedef { target, .. }) = global.map(|global| &global.kind) {
            return self.class(target, &None);
        }
        match self.lookup(path, env)? {
            Binding::Class(declaration) => Ok((declaration, arguments)),
            _ => unsupported(format!("{path} has no instances")),
        }
    }

    pub(super) fn instantiate(
        &mut self,
        of: &'a ast::Type,
        arguments: &'a [Argument],
        env: &Env<'a>,
        path: String,
    ) -> Run<Rc<Instance<'a>>> {
        if let TypeKind::Array { element, size } = &of.kind {
            let (declaration, _) = self.class(element, env)?;
            let elements = (0..self.size(size, env)?)
                .map(|at| self.instantiate(element, arguments, env, format!("{path}[{at}]")))
                .collect::<Run<_>>()?;
            return Ok(Rc::new(Instance { elements, ..empty(declaration, path, None) }));
        }
        let (declaration, types) = self.class(of, env)?;
        self.make(declaration, &types, arguments, env, path)
    }

    pub(super) fn make(
        &mut self,
        declaration: &'a Declaration,
        types: &[super::value::Type],
        arguments: &'a [Argument],
        env: &Env<'a>,
        path: String,
    ) -> Run<Rc<Instance<'a>>> {
        let (type_parameters, parameters) = match &declaration.kind {
            DeclarationKind::Control(control) => (&control.type_parameters, &control.constructor_parameters),
            DeclarationKind::Parser(parser) => (&parser.type_parameters, &parser.constructor_parameters),
            DeclarationKind::Extern(_) => {
                let values =
                    arguments.iter().map(|argument| self.evaluate(&argument.value, env)).collect::<Run<_>>()?;
                let object = Object::new(declaration.name.as_str(), types, values);
                self.objects.push(object);
                let object = Some(self.objects.len() - 1);
                return Ok(Rc::new(Instance { object, ..empty(declaration, path, None) }));
            }
            _ => return unsupported(format!("instance of {}", declaration.name)),
        };
        let mut inner = bind_types(&None, type_parameters, types);
        for (index, parameter) in parameters.iter().enumerate() {
            let named = |argument: &&Argument| {
                argument.name.as_ref().is_some_and(|name| name.as_str() == parameter.name.as_str())
            };
            let given =
                arguments.iter().find(named).or_else(|| arguments.get(index).filter(|given| given.name.is_none()));
            let Some(value) = given.map(|given| &given.value).or(parameter.default.as_ref()) else {
                return unsupported("a constructor parameter without an argument");
            };
            let binding = self.constructor_argument(value, &parameter.of_type, (env, &inner), &path, parameter)?;
            inner = bind(&inner, parameter.name.as_str(), binding);
        }
        let instance = empty(declaration, path, inner);
        self.fill(instance)
    }

    /// A constructor argument: a value, an object, or an object that the argument makes.
    fn constructor_argument(
        &mut self,
        value: &'a Expression,
        of: &'a ast::Type,
        (env, inner): (&Env<'a>, &Env<'a>),
        path: &str,
        parameter: &ast::Parameter,
    ) -> Run<Binding<'a>> {
        match &value.kind {
            ExpressionKind::Path(named) => {
                if let object @ Binding::Instance(_) = self.lookup(named, env)? {
                    return Ok(object);
                }
            }
            ExpressionKind::Call { .. } => {
                let path = format!("{path}.{}", parameter.name);
                return Ok(Binding::Instance(self.instance_of(value, env, path)?));
            }
            _ => {}
        }
        let of = self.resolve(of, inner)?;
        Ok(Binding::Constant(convert(self.evaluate(value, env)?, &of)))
    }

    /// The object that an expression names or makes: `P()`, `C<bit<8>>(4)`, `x`.
    pub(super) fn instance_of(
        &mut self,
        expression: &'a Expression,
        env: &Env<'a>,
        path: String,
    ) -> Run<Rc<Instance<'a>>> {
        match &expression.kind {
            ExpressionKind::Path(named) => match self.lookup(named, env)? {
                Binding::Instance(instance) => Ok(instance),
                _ => unsupported(format!("{expression} is no object")),
            },
            ExpressionKind::Call { callee, type_arguments, arguments } => match &callee.kind {
                ExpressionKind::Path(named) => match self.lookup(named, env)? {
                    Binding::Class(declaration) => {
                        let types = self.resolve_all(type_arguments, env)?;
                        self.make(declaration, &types, arguments, env, path)
                    }
                    _ => unsupported(format!("{callee} has no instances")),
                },
                ExpressionKind::Type(of) => self.instantiate(of, arguments, env, path),
                _ => unsupported(format!("{expression} makes no object")),
            },
            _ => unsupported(format!("{expression} is no object")),
        }
    }

    /// Makes what is declared in a parser or control, tables included, and what it invokes directly.
    fn fill(&mut self, mut instance: Instance<'a>) -> Run<Rc<Instance<'a>>> {
        let mut env = instance.env.clone();
        let (locals, blocks): (&'a [Declaration], Vec<&'a [ast::Statement]>) = match &instance.declaration.kind {
            DeclarationKind::Control(control) => {
                (&control.locals, control.apply.iter().map(|block| &block.statements[..]).collect())
            }
            DeclarationKind::Parser(ast::Parser { body: Some(body), .. }) => {
                (&body.locals, body.states.iter().map(|state| &state.statements[..]).collect())
            }
            _ => return unsupported(format!("instance of {}", instance.declaration.name)),
        };
        for local in locals {
            env = self.fill_local(&mut instance, local, &env)?;
        }
        for statements in blocks {
            self.fill_direct(&mut instance, statements, &env)?;
        }
        Ok(Rc::new(instance))
    }

    fn fill_local(&mut self, instance: &mut Instance<'a>, local: &'a Declaration, env: &Env<'a>) -> Run<Env<'a>> {
        let path = control_plane_name(&instance.path, local);
        let binding = match &local.kind {
            DeclarationKind::Instance(made) => {
                let mut child = self.instantiate(&made.of_type, &made.arguments, env, path)?;
                if let (Some(body), Some(child)) = (&made.body, Rc::get_mut(&mut child)) {
                    child.methods = Some((body, env.clone()));
                }
                instance.children.insert(local.id, child.clone());
                Binding::Instance(child)
            }
            DeclarationKind::Constant(constant) => {
                let of = self.resolve(&constant.of_type, env)?;
                Binding::Constant(convert(self.evaluate(&constant.value, env)?, &of))
            }
            DeclarationKind::Table(table) => {
                let index = self.make_table(table, path, env)?;
                instance.tables.insert(local.id, index);
                return Ok(env.clone());
            }
            DeclarationKind::ValueSet(_) => {
                self.value_sets.push((path, Vec::new()));
                instance.value_sets.insert(local.id, self.value_sets.len() - 1);
                return Ok(env.clone());
            }
            DeclarationKind::Action { .. } => {
                self.action_paths.insert(local.id, path);
                Binding::Code(vec![local], env.clone())
            }
            _ => return Ok(env.clone()),
        };
        Ok(bind(env, local.name.as_str(), binding))
    }

    /// 14.1.2: `C.apply()` on a type makes an object of the type's name; objects declared in blocks are made here, too.
    fn fill_direct(&mut self, instance: &mut Instance<'a>, statements: &'a [ast::Statement], env: &Env<'a>) -> Run<()> {
        let mut found = Vec::new();
        for statement in statements {
            self.block_instances(instance, statement, env)?;
            ast::walk::statement_expressions(statement, &mut |expression| {
                if let ExpressionKind::Call { callee, .. } = &expression.kind
                    && let ExpressionKind::Member { base, member } = &callee.kind
                    && member.as_str() == "apply"
                {
                    found.push(&**base);
                }
            });
        }
        for base in found {
            let (class, types) = match &base.kind {
                ExpressionKind::Path(path) => match self.lookup(path, env) {
                    Ok(Binding::Class(class)) => (class, Vec::new()),
                    _ => continue,
                },
                ExpressionKind::Type(of) => self.class(of, env)?,
                _ => continue,
            };
            if !instance.children.contains_key(&class.id) {
                let path = joined(&instance.path, class.name.as_str());
                let child = self.make(class, &types, &[], env, path)?;
                instance.children.insert(class.id, child);
            }
        }
        Ok(())
    }

    /// Objects that a statement declares, in whatever block.
    fn block_instances(
        &mut self,
        instance: &mut Instance<'a>,
        statement: &'a ast::Statement,
        env: &Env<'a>,
    ) -> Run<()> {
        match &statement.kind {
            ast::StatementKind::Declare(declaration) if matches!(declaration.kind, DeclarationKind::Instance(_)) => {
                self.fill_local(instance, declaration, env).map(|_| ())
            }
            ast::StatementKind::Block(block) => {
                block.statements.iter().try_for_each(|inner| self.block_instances(instance, inner, env))
            }
            ast::StatementKind::If { accepted, rejected, .. } => {
                self.block_instances(instance, accepted, env)?;
                rejected.iter().try_for_each(|inner| self.block_instances(instance, inner, env))
            }
            _ => Ok(()),
        }
    }
}

fn empty<'a>(declaration: &'a Declaration, path: String, env: Env<'a>) -> Instance<'a> {
    Instance {
        declaration,
        path,
        env,
        children: HashMap::new(),
        tables: HashMap::new(),
        value_sets: HashMap::new(),
        object: None,
        elements: Vec::new(),
        methods: None,
    }
}

pub fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

/// 18.3: the name that the control plane uses, or the one that `@name` gives; a leading dot makes that the whole name.
pub fn control_plane_name(path: &str, declaration: &Declaration) -> String {
    let given = declaration.attributes.find("name").and_then(|annotation| annotation.single());
    match given.map(|given| &given.kind) {
        Some(ExpressionKind::String(name)) => match name.strip_prefix('.') {
            Some(absolute) => absolute.to_string(),
            None => joined(path, name),
        },
        _ => joined(path, declaration.name.as_str()),
    }
}
