//! What PSA and PNA share beside their externs: input metadata put together from one pool of variables, metadata that goes with a copy, the
//! numbers of enumerations, the clock.
//!
//! The declarations come from whatever file the program includes, so fields, members and widths are found by name.

use std::collections::HashMap;
use std::rc::Rc;

use hlir::source::Span;
use hlir::{
    Binary, Effect, Expression as Hlir, HeaderId, Intrinsic, Keep, NodeId, Notes, Place, Rule, Statement, VariableId,
};

use crate::ast::DeclarationKind;
use crate::lower::graph::EndKind;
use crate::lower::objects::{Block, Object, ObjectId, Package};
use crate::lower::scope::Binding;
use crate::lower::storage::{Leaf, Storage};
use crate::lower::value::{Target, Value};
use crate::lower::{Lowered, Lowering, arithmetic};
use crate::types::{Type, substitute};

/// Metadata of an architecture by the name of the field; structs that have a field of the same name share it.
#[derive(Debug, Default)]
pub struct Pool {
    prefix: &'static str,
    fields: HashMap<String, Storage>,
}

/// Metadata that a packet takes along when it begins anew: its variables are kept, its headers travel in variables.
#[derive(Debug, Default)]
pub struct Luggage {
    storage: Vec<Storage>,
    headers: Vec<PackedHeader>,
}

#[derive(Debug)]
struct PackedHeader {
    id: HeaderId,
    valid: Storage,
    /// Each with its place in the header.
    fields: Vec<(Place, Storage)>,
}

impl Pool {
    pub fn new(prefix: &'static str) -> Pool {
        Pool { prefix, fields: HashMap::new() }
    }

    pub fn share(&mut self, name: &str, other: &Pool) {
        if let Some(storage) = other.fields.get(name) {
            self.fields.insert(name.to_string(), storage.clone());
        }
    }

    pub fn get(&self, name: &str) -> Storage {
        self.fields.get(name).cloned().unwrap_or(Storage::Nothing)
    }
}

impl<'a> Lowering<'a> {
    /// A struct whose fields are those of the pool; fields that it does not have yet are made.
    pub fn pooled(&mut self, of_type: &Type, pool: &mut Pool) -> Storage {
        let mut members = Vec::new();
        for field in self.checked.fields_of(of_type) {
            let known = pool.fields.get(&*field.name).cloned();
            let storage = known.unwrap_or_else(|| {
                let notes = self.notes_of(field.id);
                self.allocate(&field.of_type, &format!("{}.{}", pool.prefix, field.name), &notes)
            });
            pool.fields.insert(field.name.to_string(), storage.clone());
            members.push(storage);
        }
        Storage::Struct(members.into())
    }

    /// Where a scalar is kept.
    pub fn leaf_place(&mut self, storage: &Storage) -> Option<Place> {
        match storage {
            Storage::Scalar { leaf, .. } => Some(self.place(*leaf)),
            _ => None,
        }
    }

    /// The variable of a scalar, if anything uses it.
    pub fn used_variable(&self, storage: &Storage) -> Option<VariableId> {
        match storage {
            Storage::Scalar { leaf: Leaf::Slot(slot), .. } => self.slots.variable(*slot),
            _ => None,
        }
    }

    /// The variable of a scalar, made if need be.
    pub fn needed_variable(&mut self, storage: &Storage) -> Option<VariableId> {
        match storage {
            Storage::Scalar { leaf: Leaf::Slot(slot), .. } => Some(self.variable(*slot)),
            _ => None,
        }
    }

    /// Assigns a variable that something uses; `value` is brought to its width.
    pub fn set_used(&mut self, storage: &Storage, value: Hlir) {
        if let Some((Place::Variable(target), value)) = self.used_assignment(storage, value) {
            self.emit(Statement::Assign { target: Place::Variable(target), value });
        }
    }

    /// The same for the list of a copy.
    pub fn used_assignment(&self, storage: &Storage, value: Hlir) -> Option<(Place, Hlir)> {
        let variable = self.used_variable(storage)?;
        Some((
            Place::Variable(variable),
            match self.program.variables[variable].kind {
                hlir::Type::Bits(width) => arithmetic::resize(value.clone(), self.width(&value), width, false),
                hlir::Type::Bool => value,
            },
        ))
    }

    /// What a variable holds, brought to 32 bits.
    pub fn wide(&mut self, storage: &Storage) -> Hlir {
        let read = self.read(storage);
        let width = self.width(&read);
        arithmetic::resize(read, width, 32, false)
    }

    /// Microseconds since the switch started.
    pub fn microseconds(&self) -> Hlir {
        arithmetic::binary(Binary::Divide, Hlir::Intrinsic(Intrinsic::Clock), Hlir::constant(1000u32, 64))
    }

    /// The number of a member of an enumeration that the architecture declares.
    pub fn enumeration_number(&self, enumeration: &str, member: &str) -> Option<u32> {
        let declared = self.checked.program.declarations.iter().find(|found| found.name.as_str() == enumeration)?;
        let DeclarationKind::Enumeration(found) = &declared.kind else { return None };
        let member = found.members.iter().find(|candidate| candidate.name.as_str() == member)?;
        self.checked.number(member.id)
    }

    /// The member of an enumeration with a number.
    pub fn enumeration_member(&self, enumeration: &str, number: u64) -> Option<String> {
        let declared = self.checked.program.declarations.iter().find(|found| found.name.as_str() == enumeration)?;
        let DeclarationKind::Enumeration(found) = &declared.kind else { return None };
        let member =
            found.members.iter().find(|member| self.checked.number(member.id).map(u64::from) == Some(number))?;
        Some(member.name.to_string())
    }

    /// The number that the architecture gives a constant of this name.
    pub fn architecture_constant(&self, name: &str) -> Option<u64> {
        let declared = self.checked.program.declarations.iter().find(|found| found.name.as_str() == name)?;
        match self.checked.constant_value(declared.id)? {
            crate::evaluate::Value::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    /// The argument of a package for a parameter, if it is an instance.
    pub fn package_part(&self, package: &Package, parameter: &str) -> Option<ObjectId> {
        let at = package.parameters.iter().position(|name| name == parameter)?;
        match package.arguments.get(at)? {
            Value::Object(object) => Some(*object),
            _ => None,
        }
    }

    /// A parser or control that the package is made of.
    pub fn required_block(&self, package: &Package, parameter: &str, span: Span) -> Lowered<(ObjectId, Rc<Block>)> {
        let found = self.package_part(package, parameter);
        match found.map(|object| (object, self.object(object))) {
            Some((object, Object::Block(block))) => Ok((object, block)),
            _ => Err(self.internal(span, "a package argument that is no parser or control")),
        }
    }

    /// The types of a block's parameters, with the values of its type parameters.
    pub fn parameter_types(&self, block: &Block) -> Vec<Type> {
        let parameters = self.checked.parameters(block.declaration).iter();
        parameters.map(|parameter| substitute(self.checked.declared_type(parameter.id), &block.scope.types)).collect()
    }

    /// The name of a block's parameter, for naming its storage.
    pub fn parameter_name(&self, block: &Block, at: usize) -> String {
        self.checked.parameters(block.declaration).get(at).map_or_else(String::new, |found| found.name.to_string())
    }

    pub fn packet_binding(&mut self) -> Binding {
        Binding::Value(Value::Object(self.objects.add(Object::Packet)))
    }

    /// Ends a block in a buffering manager.
    pub fn end_in_buffer(&mut self, block: NodeId, name: &str, rules: Vec<Rule>, otherwise: Option<NodeId>) {
        self.graph.end(block, name, Notes::default(), EndKind::Buffer { rules, otherwise });
    }

    /// How `metadata` goes along; nothing is done yet.
    pub fn luggage(&mut self, metadata: &[&Storage]) -> Luggage {
        let mut luggage = Luggage::default();
        for storage in metadata {
            luggage.storage.push((*storage).clone());
            for id in storage.headers() {
                let name = format!("carried.{}", self.program.headers[id].name);
                let of_bool = hlir::Type::Bool;
                let slot = self.slot(&format!("{name}.valid"), of_bool, Notes::default());
                let valid = Storage::Scalar { leaf: Leaf::Slot(slot), of_type: of_bool };
                let mut fields = Vec::new();
                for (at, field) in self.program.headers[id].fields.clone().iter().enumerate() {
                    if field.varbit {
                        continue;
                    }
                    let of_type = hlir::Type::Bits(field.width);
                    let slot = self.slot(&format!("{name}.{}", field.name), of_type, Notes::default());
                    let place = Place::Field(hlir::FieldRef { header: id, field: at as u32 });
                    fields.push((place, Storage::Scalar { leaf: Leaf::Slot(slot), of_type }));
                }
                luggage.headers.push(PackedHeader { id, valid, fields });
            }
        }
        luggage
    }

    /// Puts headers into the variables that they travel in.
    pub fn pack(&mut self, luggage: &Luggage) {
        for header in &luggage.headers {
            self.assign(&header.valid, Value::Scalar(Hlir::Valid(header.id)));
            for (place, storage) in &header.fields {
                self.assign(storage, Value::Scalar(Hlir::place(*place)));
            }
        }
    }

    /// The reverse, where the packet begins anew.
    pub fn unpack(&mut self, luggage: &Luggage) {
        for header in &luggage.headers {
            let valid = self.read(&header.valid);
            self.branch(
                valid,
                "",
                |lowering| {
                    lowering.emit(Statement::SetValid(header.id));
                    for (place, storage) in &header.fields {
                        let value = lowering.read(storage);
                        lowering.emit(Statement::Assign { target: *place, value });
                    }
                },
                |_| {},
            );
        }
    }

    /// The variables to keep for this luggage, and others that something uses.
    pub fn kept_with(&mut self, luggage: Option<&Luggage>, others: &[&Storage]) -> Keep {
        let mut kept: Vec<VariableId> = others.iter().filter_map(|storage| self.used_variable(storage)).collect();
        let Some(luggage) = luggage else { return Keep::Only(kept) };
        for storage in &luggage.storage {
            for leaf in storage.leaves() {
                if let Leaf::Slot(slot) = leaf
                    && let Some(variable) = self.slots.variable(slot)
                {
                    kept.push(variable);
                }
            }
        }
        for header in &luggage.headers {
            let parts = header.fields.iter().map(|(_, storage)| storage).chain([&header.valid]);
            kept.extend(parts.filter_map(|storage| self.used_variable(storage)));
        }
        kept.sort_by_key(|variable| variable.into_raw().into_u32());
        kept.dedup();
        Keep::Only(kept)
    }

    /// What metadata is when the deparser that writes it begins.
    pub fn reset_metadata(&mut self, metadata: &[&Storage]) {
        metadata.iter().for_each(|storage| self.reset_headers(storage));
    }

    /// A block for copies, which truncates them to the length of their session before they go on.
    pub fn cut_copy(&mut self, block: NodeId, limit: &Storage) {
        self.current = block;
        let bytes = self.read(limit);
        let limited = arithmetic::binary(Binary::NotEqual, bytes.clone(), Hlir::constant(0u32, 32));
        self.branch(limited, "", |lowering| lowering.emit(Statement::Truncate(bytes)), |_| {});
    }
}

pub fn bound(storage: &Storage) -> Binding {
    Binding::Target(Target::Storage(storage.clone()))
}

pub fn drop_rule(condition: Hlir, reason: &str) -> Rule {
    Rule { condition, effect: Effect::Drop { reason: reason.to_string() } }
}
