//! What the program was written for: which architecture its main package belongs to, and what that makes of externs.
//!
//! An unknown package is lowered too, so that the program is checked to the end: each of its parsers and controls by itself, without
//! an entry. Unknown externs become calls of C functions of the same name.

mod calculations;
mod pna;
mod pna_tables;
mod portable;
mod portable_externs;
mod psa;
mod v1model;
mod v1model_clones;
mod v1model_externs;
mod v1model_hash;

use hlir::{IdleTimeout, NodeId, Notes, Rule, TableId};

use super::call::Passed;
use super::graph::{EndKind, Role};
use super::notes::name_annotation;
use super::objects::{ExternInstance, Handle, Object, ObjectId, Package};
use super::scope::Binding;
use super::storage::{Leaf, Storage};
use super::value::{Target, Value};
use super::{Lowered, Lowering, arithmetic};
use crate::ast::{self, Argument, Declaration, DeclarationKind, Expression, ExpressionKind, Property, PropertyValue};
use crate::check::Call;
use crate::types::{Type, substitute};
pub use pna_tables::InTable;
pub use v1model::State;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Architecture {
    V1model,
    Psa,
    Pna,
    #[default]
    Own,
}

impl<'a> Lowering<'a> {
    /// Which architecture the main package belongs to.
    pub fn find_architecture(&mut self) {
        let main = self.checked.main().map(|main| self.checked.declared_type(main));
        let package = main.and_then(Type::nominal).map(|nominal| nominal.name.to_string());
        let parameters = main.and_then(Type::nominal).map_or(0, |main| self.checked.parameters(main.declaration).len());
        self.architecture.kind = match (package.as_deref(), parameters) {
            (Some("V1Switch"), 6) => Architecture::V1model,
            (Some("PSA_Switch"), 4) => Architecture::Psa,
            (Some("PNA_NIC"), 3 | 4) => Architecture::Pna,
            _ => Architecture::Own,
        };
        self.program.architecture = match self.architecture.kind {
            Architecture::V1model => "v1model".to_string(),
            Architecture::Psa => "psa".to_string(),
            Architecture::Pna => "pna".to_string(),
            Architecture::Own => package.unwrap_or_else(|| "none".to_string()),
        };
    }

    pub fn lower_architecture(&mut self) -> Lowered<()> {
        let Some(main) = self.checked.main() else { return Ok(()) };
        let Some(Binding::Value(Value::Object(object))) = self.globals.lookup(main) else { return Ok(()) };
        let Object::Package(package) = self.object(object) else { return Ok(()) };
        let span = self.checked.node(main).span();
        match self.architecture.kind {
            Architecture::V1model => self.lower_v1model(&package, span),
            Architecture::Psa => self.lower_psa(&package, span),
            Architecture::Pna => self.lower_pna(&package, span),
            Architecture::Own => self.lower_own(&package, 0),
        }
    }

    /// Lowers what a package of unknown meaning is made of, part by part.
    fn lower_own(&mut self, package: &Package, depth: usize) -> Lowered<()> {
        if depth > 16 {
            return Ok(());
        }
        for argument in &package.arguments {
            let Value::Object(object) = argument else { continue };
            match self.object(*object) {
                Object::Package(inner) => self.lower_own(&inner, depth + 1)?,
                Object::Block(_) => self.lower_alone(*object)?,
                Object::Extern(_) | Object::Table(_) | Object::ValueSet(_) | Object::Packet => {}
            }
        }
        Ok(())
    }

    /// Lowers a parser or control that no architecture runs.
    fn lower_alone(&mut self, object: ObjectId) -> Lowered<()> {
        let Object::Block(block) = self.object(object) else { return Ok(()) };
        if self.objects.applied.insert(object, 1).is_some() {
            return Ok(());
        }
        let declared = self.checked.node(block.declaration).declaration();
        let Some(Declaration { kind, .. }) = declared else { return Ok(()) };
        let end = self.plain_block(&format!("{}.end", block.name));
        let reason = format!("end of {}", block.name);
        let rule = Rule { condition: hlir::Expression::Bool(true), effect: hlir::Effect::Drop { reason } };
        let kind_of_end = EndKind::Buffer { rules: vec![rule], otherwise: None };
        self.graph.end(end, format!("{}.end", block.name), Notes::default(), kind_of_end);
        let bindings = self.fresh_bindings(&block);
        let is_deparser = self.checked.parameters(block.declaration).iter().any(|parameter| {
            let of_type = self.checked.declared_type(parameter.id);
            matches!(of_type, Type::Extern(nominal) if &*nominal.name == "packet_out")
        });
        let entry = match kind {
            DeclarationKind::Parser(_) => {
                let error = self.scratch("parser_error", hlir::Type::Bits(32));
                let Storage::Scalar { leaf: Leaf::Slot(slot), .. } = error else { return Ok(()) };
                let error = self.variable(slot);
                self.top_parser(object, bindings, (end, end), error)?
            }
            DeclarationKind::Control(_) => {
                let cut = self.control_cuts(block.declaration);
                let role = if is_deparser && !cut { Role::Deparse } else { Role::Plain };
                self.top_control(object, bindings, end, role)?
            }
            _ => return Ok(()),
        };
        self.roots.push(entry);
        Ok(())
    }

    /// Storage of its own for each parameter of a block.
    fn fresh_bindings(&mut self, block: &super::objects::Block) -> Vec<Binding> {
        let parameters = self.checked.parameters(block.declaration);
        let mut bindings = Vec::new();
        for parameter in parameters {
            let of_type = substitute(self.checked.declared_type(parameter.id), &block.scope.types);
            bindings.push(if matches!(of_type, Type::Extern(_)) {
                Binding::Value(self.extern_argument(&of_type))
            } else {
                let name = format!("{}.{}", block.name, parameter.name);
                let notes = self.notes_of(parameter.id);
                Binding::Target(Target::Storage(self.allocate(&of_type, &name, &notes)))
            });
        }
        bindings
    }

    /// An extern that the architecture passes to a parser or control: the packet, or an object of its own.
    pub fn extern_argument(&mut self, of_type: &Type) -> Value {
        let Type::Extern(nominal) = of_type else { return Value::Void };
        let object = match &*nominal.name {
            "packet_in" | "packet_out" => Object::Packet,
            name => Object::Extern(std::rc::Rc::new(ExternInstance {
                of_type: nominal.clone(),
                name: name.to_string(),
                notes: Notes::default(),
                arguments: Vec::new(),
                handle: Handle::None,
                declaration: None,
                scope: self.globals.clone(),
            })),
        };
        Value::Object(self.objects.add(object))
    }

    /// What an extern instance becomes in the program.
    pub fn extern_handle(&mut self, instance: &ExternInstance) -> Lowered<Handle> {
        let handle = match self.architecture.kind {
            Architecture::V1model => self.v1model_handle(instance),
            Architecture::Psa | Architecture::Pna => self.portable_handle(instance),
            Architecture::Own => Ok(Handle::None),
        }?;
        // The engines of PSA, which have no name, are no objects of the program.
        self.facts.externs |= instance.declaration.is_some();
        self.note_element_types(instance, &handle);
        Ok(handle)
    }

    /// Keeps the types of an extern's elements and of their indexes for the controller: they are among its type arguments.
    fn note_element_types(&mut self, instance: &ExternInstance, handle: &Handle) {
        let program = &self.program;
        let (name, element, index) = match (handle, &*instance.of_type.name) {
            (Handle::Counter(counter), "counter") => (&program.counters[*counter].name, None, Some(0)),
            (Handle::Counter(counter), "Counter") => (&program.counters[*counter].name, None, Some(1)),
            (Handle::Meter(meter, _), "meter" | "Meter") => (&program.meters[*meter].name, None, Some(0)),
            (Handle::Register(register), _) => (&program.registers[*register].name, Some(0), Some(1)),
            (Handle::Digest(digest), _) => (&program.digests[*digest].name, Some(0), None),
            _ => return,
        };
        let name = name.clone();
        let argument = |at: Option<usize>| at.and_then(|at| instance.of_type.arguments.get(at));
        if let Some(element) = argument(element) {
            self.facts.element_types.insert(name.clone(), self.substituted(element));
        }
        if let Some(index) = argument(index) {
            self.facts.indexes.insert(name, self.substituted(index));
        }
    }

    pub fn architecture_function(
        &mut self,
        expression: &'a Expression,
        call: &Call,
        arguments: &'a [Argument],
        name: &str,
    ) -> Lowered<Value> {
        // With v1model's functions come digests, whose records have types; in the other architectures digests are objects.
        self.facts.externs |= self.architecture.kind == Architecture::V1model;
        let passed = self.pass(call, arguments)?;
        let call = self.specialised(call);
        match self.architecture.kind {
            Architecture::V1model => self.v1model_function(expression, &call, passed, name),
            Architecture::Psa | Architecture::Pna => self.portable_function(expression, &call, passed, name),
            Architecture::Own => self.custom_call(expression.span, None, &call, passed),
        }
    }

    pub fn architecture_method(
        &mut self,
        expression: &'a Expression,
        instance: &ExternInstance,
        name: &str,
        call: &Call,
        arguments: &'a [Argument],
    ) -> Lowered<Value> {
        let passed = self.pass(call, arguments)?;
        let call = self.specialised(call);
        self.method_with(expression, instance, name, &call, passed)
    }

    /// A method of an extern whose arguments are evaluated.
    pub fn method_with(
        &mut self,
        expression: &'a Expression,
        instance: &ExternInstance,
        name: &str,
        call: &Call,
        passed: Vec<Passed>,
    ) -> Lowered<Value> {
        match self.architecture.kind {
            Architecture::V1model => self.v1model_method(expression, instance, name, call, passed),
            Architecture::Psa | Architecture::Pna => self.portable_method(expression, instance, name, call, passed),
            Architecture::Own => self.custom_call(expression.span, Some(instance), call, passed),
        }
    }

    /// Connects a table with the externs that its properties name.
    pub fn table_property_externs(&mut self, id: TableId, _object: ObjectId, table: &'a ast::Table) -> Lowered<()> {
        for property in &table.properties {
            let PropertyValue::Expression(expression) = &property.value else { continue };
            match property.name.as_str() {
                "default_action" | "size" | "largest_priority_wins" | "priority_delta" => {}
                _ => self.table_property(id, property, expression)?,
            }
        }
        Ok(())
    }

    fn table_property(&mut self, id: TableId, property: &'a Property, expression: &'a Expression) -> Lowered<()> {
        match property.name.as_str() {
            "support_timeout" | "psa_idle_timeout" | "pna_idle_timeout" | "idle_timeout_with_auto_delete" => {
                let value = self.expression(expression)?;
                let off =
                    matches!(&value, Value::Scalar(hlir::Expression::Bool(false))) || value == Value::constant(0, 32);
                let deletes = match &value {
                    Value::Scalar(scalar) if property.name.as_str() == "pna_idle_timeout" => {
                        let number = arithmetic::constant_of(scalar).and_then(|(number, _)| u64::try_from(number).ok());
                        let member = number.and_then(|number| self.enumeration_member("PNA_IdleTimeout_t", number));
                        member.is_some_and(|member| member == "AUTO_DELETE")
                    }
                    _ => property.name.as_str() == "idle_timeout_with_auto_delete",
                };
                let kind = if deletes { IdleTimeout::Delete } else { IdleTimeout::Notify };
                self.program.tables[id].idle_timeout = (!off).then_some(kind);
                Ok(())
            }
            "add_on_miss" => {
                let value = self.expression(expression)?;
                self.program.tables[id].add_on_miss = value == Value::boolean(true);
                Ok(())
            }
            "implementation" | "counters" | "meters" | "psa_implementation" | "psa_direct_counter"
            | "psa_direct_meter" | "pna_implementation" | "pna_direct_counter" | "pna_direct_meter" => {
                // The property's own name is unqualified, whatever the table is in.
                let wanted = match name_annotation(&property.attributes.annotations) {
                    Some(given) => given.trim_start_matches('.').to_string(),
                    None => format!("{}.{}", self.program.tables[id].name, property.name),
                };
                let value = self.with_instance_name(wanted, |lowering| lowering.expression(expression))?;
                if matches!(expression.kind, ExpressionKind::Call { .. }) {
                    self.annotate_profile(&value, property);
                }
                self.attach_value(id, value);
                Ok(())
            }
            // A property that only some other target reads.
            _ => Ok(()),
        }
    }

    /// A profile made where it is used is described by what precedes the property.
    fn annotate_profile(&mut self, value: &Value, property: &'a Property) {
        let Value::Object(object) = value else { return };
        let Object::Extern(instance) = self.object(*object) else { return };
        if let Handle::Profile(profile) = instance.handle {
            self.program.profiles[profile].notes = self.notes(property.span, &property.attributes);
        }
    }

    fn attach_value(&mut self, id: TableId, value: Value) {
        match value {
            Value::Object(object) => {
                if let Object::Extern(instance) = self.object(object) {
                    self.attach(id, &instance);
                }
            }
            Value::Struct(parts) => parts.into_iter().for_each(|part| self.attach_value(id, part)),
            _ => {}
        }
    }

    fn attach(&mut self, id: TableId, instance: &ExternInstance) {
        match &instance.handle {
            Handle::Counter(counter) => self.program.counters[*counter].table = Some(id),
            Handle::Meter(meter, _) => self.program.meters[*meter].table = Some(id),
            Handle::Profile(profile) => self.program.tables[id].profile = Some(*profile),
            Handle::None | Handle::Register(_) | Handle::Digest(_) | Handle::Storage(_) => {}
        }
    }

    /// A block that only leads on, to be connected before it is known where it is needed.
    pub fn bridge(&mut self) -> NodeId {
        self.plain_block("bridge")
    }
}
