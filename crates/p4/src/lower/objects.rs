//! Instances: parsers, controls, externs, tables and packages, made as the program's constructor calls are evaluated.

use std::collections::HashMap;
use std::rc::Rc;

use hlir::source::Span;
use hlir::{CounterId, DigestId, MeterId, Notes, Place, ProfileId, RegisterId, ValueSetId};

use super::scope::{Binding, Scope};
use super::storage::Storage;
use super::table::LoweredTable;
use super::value::{Target, Value};
use super::{Lowered, Lowering};
use crate::ast::{Argument, Declaration, DeclarationId, DeclarationKind, Expression, Instance};
use crate::check::{Call, Callee, Node, Source};
use crate::types::{Nominal, Type};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectId(pub u32);

#[derive(Clone, Debug)]
pub enum Object {
    Block(Rc<Block>),
    Extern(Rc<ExternInstance>),
    Table(Rc<TableInstance>),
    Package(Rc<Package>),
    ValueSet(ValueSetId),
    /// The bytes that a parser reads or a deparser writes.
    Packet,
}

/// An instance of a parser or control.
#[derive(Debug)]
pub struct Block {
    pub declaration: DeclarationId,
    /// The control plane's prefix for what it contains.
    pub name: String,
    /// Bindings of constructor parameters and locals; parameters join them when it is applied.
    pub scope: Rc<Scope>,
}

#[derive(Debug)]
pub struct ExternInstance {
    pub of_type: Nominal,
    pub name: String,
    pub notes: Notes,
    /// Constructor arguments with the names of the parameters, in their order.
    pub arguments: Vec<(String, Value)>,
    pub handle: Handle,
    /// The declaration, if it has a name, and its place: abstract methods have their bodies in it.
    pub declaration: Option<DeclarationId>,
    pub scope: Rc<Scope>,
}

impl ExternInstance {
    pub fn argument(&self, name: &str) -> Option<&Value> {
        self.arguments.iter().find(|(parameter, _)| parameter == name).map(|(_, value)| value)
    }
}

/// What an extern instance is in the program.
#[derive(Clone, Debug, Default)]
pub enum Handle {
    #[default]
    None,
    Counter(CounterId),
    Meter(MeterId, Option<Place>),
    Register(RegisterId),
    Profile(ProfileId),
    Digest(DigestId),
    /// State of an architecture's own, in variables.
    Storage(Storage),
}

#[derive(Debug)]
pub struct TableInstance {
    pub declaration: DeclarationId,
    pub name: String,
    pub scope: Rc<Scope>,
}

#[derive(Debug)]
pub struct Package {
    /// In the order of the parameters.
    pub arguments: Vec<Value>,
    pub parameters: Vec<String>,
}

/// All instances, and what the tables among them were lowered to.
#[derive(Debug, Default)]
pub struct Objects {
    all: Vec<Object>,
    pub tables: HashMap<ObjectId, Rc<LoweredTable>>,
    /// How often each block has been applied.
    pub applied: HashMap<ObjectId, u32>,
    /// What the parameters of a control with tables were bound to when it was first applied.
    pub bound: HashMap<ObjectId, Vec<Binding>>,
    /// Storage of parameters, by number, that is the same at each application.
    pub parameters: HashMap<(ObjectId, usize), Storage>,
}

impl Objects {
    pub fn get(&self, id: ObjectId) -> &Object {
        &self.all[id.0 as usize]
    }

    pub fn table_instances(&self) -> impl Iterator<Item = &TableInstance> {
        self.all.iter().filter_map(|object| if let Object::Table(table) = object { Some(&**table) } else { None })
    }

    pub fn add(&mut self, object: Object) -> ObjectId {
        self.all.push(object);
        ObjectId(self.all.len() as u32 - 1)
    }
}

impl<'a> Lowering<'a> {
    pub fn object(&self, id: ObjectId) -> Object {
        self.objects.get(id).clone()
    }

    /// Evaluates all instances at the top of the program.
    pub fn instantiate_globals(&mut self) -> Lowered<()> {
        for declaration in &self.checked.program.declarations {
            if let DeclarationKind::Instance(instance) = &declaration.kind {
                let name = Self::qualified("", &self.external_name(declaration.id));
                self.instantiate_declaration(declaration, instance, &name)?;
            }
        }
        Ok(())
    }

    /// Makes a declared instance and binds its name.
    pub fn instantiate_declaration(
        &mut self,
        declaration: &'a Declaration,
        instance: &'a Instance,
        name: &str,
    ) -> Lowered<()> {
        let Some(call) = self.checked.instance(declaration.id).cloned() else {
            return Err(self.internal(declaration.span, "an instance without a constructor"));
        };
        let span = declaration.name.span;
        let value = match self.checked.declared_type(declaration.id) {
            Type::Stack { size, .. } => {
                let elements = (0..*size).map(|at| {
                    let name = format!("{name}[{at}]");
                    self.construct(&call, &instance.arguments, &name, span, Some(declaration))
                });
                Value::Struct(elements.collect::<Lowered<Vec<Value>>>()?)
            }
            _ => self.construct(&call, &instance.arguments, name, span, Some(declaration))?,
        };
        self.scope.bind(declaration.id, Binding::Value(value));
        Ok(())
    }

    /// Evaluates a constructor call.
    pub fn construct(
        &mut self,
        call: &Call,
        arguments: &'a [Argument],
        name: &str,
        span: Span,
        declaration: Option<&'a Declaration>,
    ) -> Lowered<Value> {
        self.nested(span, |lowering| lowering.construct_object(call, arguments, name, span, declaration))
    }

    fn construct_object(
        &mut self,
        call: &Call,
        arguments: &'a [Argument],
        name: &str,
        span: Span,
        declaration: Option<&'a Declaration>,
    ) -> Lowered<Value> {
        let Callee::Constructor { object, .. } = &call.callee else {
            return Err(self.internal(span, "a constructor call that constructs nothing"));
        };
        let object = self.substituted(object);
        let values = self.constructor_arguments(call, arguments, name)?;
        let made = match &object {
            Type::Extern(nominal) => self.construct_extern(nominal, values, name, declaration)?,
            Type::Parser(nominal) | Type::Control(nominal) => {
                // At the top of the program the declaration itself gives the prefix, whatever its `@name`.
                let name = if name.contains('.') || !self.is_global() {
                    name.to_string()
                } else {
                    self.checked.node(nominal.declaration).name().to_string()
                };
                let bound = values.into_iter().map(|(id, _, value)| (id, value)).collect();
                Object::Block(Rc::new(self.construct_block(nominal, bound, &name)?))
            }
            Type::Package(_) => Object::Package(Rc::new(Package {
                parameters: values.iter().map(|(_, name, _)| name.clone()).collect(),
                arguments: values.into_iter().map(|(_, _, value)| value).collect(),
            })),
            _ => return Err(self.internal(span, "a constructor of something that is no object")),
        };
        Ok(Value::Object(self.objects.add(made)))
    }

    /// Whether lowering is at the top of the program.
    fn is_global(&self) -> bool {
        Rc::ptr_eq(&self.scope, &self.globals)
    }

    fn constructor_arguments(
        &mut self,
        call: &Call,
        arguments: &'a [Argument],
        prefix: &str,
    ) -> Lowered<Vec<(DeclarationId, String, Value)>> {
        let mut values = Vec::new();
        for binding in &call.bindings {
            let name = self.checked.node(binding.parameter).name().to_string();
            let value = match binding.source {
                Source::Argument(at) => {
                    let argument = &arguments[at].value;
                    let hint = if self.is_global() { name.clone() } else { format!("{prefix}.{name}") };
                    self.with_instance_name(hint, |lowering| lowering.expression(argument))?
                }
                Source::Default => match self.checked.parameter(binding.parameter).and_then(|p| p.default.as_ref()) {
                    Some(default) => self.expression(default)?,
                    None => Value::DontCare,
                },
                Source::DontCare(_) | Source::Omitted | Source::ControlPlane => Value::DontCare,
            };
            values.push((binding.parameter, name, value));
        }
        Ok(values)
    }

    fn construct_extern(
        &mut self,
        nominal: &Nominal,
        values: Vec<(DeclarationId, String, Value)>,
        name: &str,
        declaration: Option<&'a Declaration>,
    ) -> Lowered<Object> {
        let mut made = ExternInstance {
            of_type: nominal.clone(),
            name: name.to_string(),
            notes: declaration.map_or_else(Notes::default, |declaration| self.notes_of(declaration.id)),
            arguments: values.into_iter().map(|(_, name, value)| (name, value)).collect(),
            handle: Handle::None,
            declaration: declaration.map(|declaration| declaration.id),
            scope: Scope::inside(&self.scope, Default::default()),
        };
        made.handle = self.extern_handle(&made)?;
        if let Some(Declaration { kind: DeclarationKind::Instance(Instance { body: Some(body), .. }), .. }) =
            declaration
        {
            let scope = made.scope.clone();
            self.in_scope(scope, |lowering| lowering.declare_locals(body, name))?;
        }
        Ok(Object::Extern(Rc::new(made)))
    }

    pub fn construct_block(
        &mut self,
        nominal: &Nominal,
        arguments: Vec<(DeclarationId, Value)>,
        name: &str,
    ) -> Lowered<Block> {
        let scope = Scope::inside(&self.globals, self.checked.arguments_of(nominal));
        for (parameter, value) in arguments {
            scope.bind(parameter, Binding::Value(value));
        }
        let locals: &'a [Declaration] = match self.checked.node(nominal.declaration) {
            Node::Declaration(Declaration { kind: DeclarationKind::Control(control), .. }) => &control.locals,
            Node::Declaration(Declaration { kind: DeclarationKind::Parser(parser), .. }) => {
                parser.body.as_ref().map_or(&[], |body| &body.locals)
            }
            _ => &[],
        };
        let path = std::mem::replace(&mut self.path, name.to_string());
        let result = self.in_scope(scope.clone(), |lowering| lowering.declare_locals(locals, name));
        self.path = path;
        result?;
        Ok(Block { declaration: nominal.declaration, name: name.to_string(), scope })
    }

    /// Makes the instances, tables and variables declared in a parser, control or extern instance; nothing runs yet.
    fn declare_locals(&mut self, locals: &'a [Declaration], prefix: &str) -> Lowered<()> {
        for declaration in locals {
            match &declaration.kind {
                DeclarationKind::Variable(_) => {
                    let of_type = self.substituted(self.checked.declared_type(declaration.id));
                    let name = format!("{prefix}.{}", declaration.name);
                    let notes = self.notes_of(declaration.id);
                    let storage = self.allocate(&of_type, &name, &notes);
                    self.scope.bind(declaration.id, Binding::Target(Target::Storage(storage)));
                }
                DeclarationKind::Constant(constant) => self.declare_constant(declaration, &constant.value)?,
                DeclarationKind::Instance(instance) => {
                    let name = Self::qualified(prefix, &self.external_name(declaration.id));
                    self.instantiate_declaration(declaration, instance, &name)?;
                }
                DeclarationKind::Table(_) => {
                    let name = Self::qualified(prefix, &self.external_name(declaration.id));
                    let table = TableInstance { declaration: declaration.id, name, scope: self.scope.clone() };
                    let id = self.objects.add(Object::Table(Rc::new(table)));
                    self.scope.bind(declaration.id, Binding::Value(Value::Object(id)));
                }
                DeclarationKind::ValueSet(set) => {
                    let name = Self::qualified(prefix, &self.external_name(declaration.id));
                    let id = self.value_set(declaration, set, &name)?;
                    let object = self.objects.add(Object::ValueSet(id));
                    self.scope.bind(declaration.id, Binding::Value(Value::Object(object)));
                }
                DeclarationKind::Typedef { .. }
                | DeclarationKind::NewType { .. }
                | DeclarationKind::Structure(_)
                | DeclarationKind::Enumeration(_)
                | DeclarationKind::Error(_)
                | DeclarationKind::MatchKind(_)
                | DeclarationKind::Extern(_)
                | DeclarationKind::Function(_)
                | DeclarationKind::Action { .. }
                | DeclarationKind::Parser(_)
                | DeclarationKind::Control(_)
                | DeclarationKind::Package(_)
                | DeclarationKind::Assertion(_) => {}
            }
        }
        Ok(())
    }

    /// A constant may depend on constructor parameters; then its value is found here.
    pub fn declare_constant(&mut self, declaration: &Declaration, value: &'a Expression) -> Lowered<()> {
        let value = self.expression(value)?;
        self.scope.bind(declaration.id, Binding::Value(value));
        Ok(())
    }
}
