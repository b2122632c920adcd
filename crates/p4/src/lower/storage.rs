//! Storage: what variables, parameters and fields of P4 become when structs are flattened.
//!
//! A `Storage` is the tree of a P4 type with places at its leaves. Variables are made when they are first used (`Slot`), so a program has
//! only those that matter to it.

use std::rc::Rc;

pub use hlir::build::slots::Slot;
use hlir::{FieldRef, Header, HeaderId, Notes, Place, VariableId};

use super::Lowering;
use super::value::Value;
use crate::types::Type;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leaf {
    Slot(Slot),
    Field(FieldRef),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Storage {
    /// `of_type` is the type of the values; a boolean field of a header is one bit in its leaf.
    Scalar {
        leaf: Leaf,
        of_type: hlir::Type,
    },
    Varbit(FieldRef),
    /// A struct, tuple or array.
    Struct(Rc<[Storage]>),
    Header {
        id: HeaderId,
        members: Rc<[Storage]>,
    },
    Union(Rc<[Storage]>),
    Stack {
        elements: Rc<[Storage]>,
        next: Slot,
    },
    /// Of a type that takes no bits: an extern or void.
    Nothing,
}

impl Storage {
    pub fn member(&self, index: usize) -> Storage {
        match self {
            Storage::Struct(members) | Storage::Union(members) | Storage::Header { members, .. } => {
                members.get(index).cloned().unwrap_or(Storage::Nothing)
            }
            Storage::Stack { elements, .. } => elements.get(index).cloned().unwrap_or(Storage::Nothing),
            Storage::Scalar { .. } | Storage::Varbit(_) | Storage::Nothing => Storage::Nothing,
        }
    }

    /// The elements of a stack or array.
    pub fn elements(&self) -> &[Storage] {
        match self {
            Storage::Stack { elements, .. } | Storage::Struct(elements) => elements,
            Storage::Scalar { .. }
            | Storage::Varbit(_)
            | Storage::Header { .. }
            | Storage::Union(_)
            | Storage::Nothing => &[],
        }
    }

    /// All scalar leaves, in order; those of headers too.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.collect_leaves(&mut leaves);
        leaves
    }

    fn collect_leaves(&self, into: &mut Vec<Leaf>) {
        match self {
            Storage::Scalar { leaf, .. } => into.push(*leaf),
            Storage::Varbit(field) => into.push(Leaf::Field(*field)),
            Storage::Struct(members) | Storage::Union(members) | Storage::Header { members, .. } => {
                members.iter().for_each(|member| member.collect_leaves(into));
            }
            Storage::Stack { elements, next } => {
                elements.iter().for_each(|element| element.collect_leaves(into));
                into.push(Leaf::Slot(*next));
            }
            Storage::Nothing => {}
        }
    }

    /// All headers, in order.
    pub fn headers(&self) -> Vec<HeaderId> {
        match self {
            Storage::Header { id, .. } => vec![*id],
            Storage::Struct(members) | Storage::Union(members) | Storage::Stack { elements: members, .. } => {
                members.iter().flat_map(Storage::headers).collect()
            }
            Storage::Scalar { .. } | Storage::Varbit(_) | Storage::Nothing => Vec::new(),
        }
    }
}

impl<'a> Lowering<'a> {
    pub fn slot(&mut self, name: &str, of_type: hlir::Type, notes: Notes) -> Slot {
        self.slots.add(name, of_type, notes)
    }

    pub fn variable(&mut self, slot: Slot) -> VariableId {
        self.slots.used(slot, &mut self.names, &mut self.program)
    }

    pub fn place(&mut self, leaf: Leaf) -> Place {
        match leaf {
            Leaf::Slot(slot) => Place::Variable(self.variable(slot)),
            Leaf::Field(field) => Place::Field(field),
        }
    }

    /// A scalar variable of the compiler's own.
    pub fn scratch(&mut self, hint: &str, of_type: hlir::Type) -> Storage {
        let name = self.local_name(hint);
        let slot = self.slot(&name, of_type, Notes::default());
        Storage::Scalar { leaf: Leaf::Slot(slot), of_type }
    }

    /// The type of a scalar; `None` for types that are not scalars.
    pub fn scalar_type(&self, of_type: &Type) -> Option<hlir::Type> {
        match self.checked.representation(of_type) {
            Type::Bool => Some(hlir::Type::Bool),
            Type::Bits { width, .. } => Some(hlir::Type::Bits(width)),
            Type::Error | Type::Enum(_) => Some(hlir::Type::Bits(32)),
            _ => None,
        }
    }

    /// Room for a value of a type.
    pub fn allocate(&mut self, of_type: &Type, name: &str, notes: &Notes) -> Storage {
        if let Some(scalar) = self.scalar_type(of_type) {
            let slot = self.slot(name, scalar, notes.clone());
            return Storage::Scalar { leaf: Leaf::Slot(slot), of_type: scalar };
        }
        match of_type {
            Type::Header(_) => self.allocate_header(of_type, name, notes),
            Type::Struct(_) => {
                let fields = self.checked.fields_of(of_type);
                let allocate = |field: &crate::check::FieldOf| {
                    let notes = self.notes_of(field.id);
                    self.allocate(&field.of_type, &format!("{name}.{}", field.name), &notes)
                };
                Storage::Struct(fields.iter().map(allocate).collect())
            }
            Type::Union(_) => {
                let fields = self.checked.fields_of(of_type);
                let allocate = |field: &crate::check::FieldOf| {
                    let notes = self.notes_of(field.id);
                    self.allocate(&field.of_type, &format!("{name}.{}", field.name), &notes)
                };
                let members: Rc<[Storage]> = fields.iter().map(allocate).collect();
                let headers: Vec<HeaderId> = members.iter().flat_map(Storage::headers).collect();
                self.slots.unite(&headers);
                Storage::Union(members)
            }
            Type::Tuple(parts) | Type::ListLiteral { elements: parts, .. } => {
                let parts = parts.iter().enumerate();
                Storage::Struct(parts.map(|(at, part)| self.allocate(part, &format!("{name}.{at}"), notes)).collect())
            }
            Type::Stack { element, size } => {
                let elements: Rc<[Storage]> =
                    (0..*size).map(|at| self.allocate(element, &format!("{name}[{at}]"), notes)).collect();
                if !element.is_header_like() {
                    return Storage::Struct(elements);
                }
                let next = self.slot(&format!("{name}.nextIndex"), hlir::Type::Bits(32), Notes::default());
                Storage::Stack { elements, next }
            }
            Type::Varbit { width } => {
                let field = hlir::Field { name: "value".to_string(), width: *width, varbit: true };
                let header = self.header(name, "varbit", vec![field], notes);
                Storage::Varbit(FieldRef { header, field: 0 })
            }
            _ => Storage::Nothing,
        }
    }

    fn header(&mut self, name: &str, type_name: &str, fields: Vec<hlir::Field>, notes: &Notes) -> HeaderId {
        let name = self.names.storage(name);
        self.program.headers.alloc(Header { name, type_name: type_name.to_string(), fields, notes: notes.clone() })
    }

    pub fn allocate_header(&mut self, of_type: &Type, name: &str, notes: &Notes) -> Storage {
        let mut fields = Vec::new();
        for field in self.checked.fields_of(of_type) {
            self.flatten(&field.of_type, &field.name, &mut fields);
        }
        let type_name = of_type.nominal().map_or_else(String::new, |nominal| nominal.name.to_string());
        let id = self.header(name, &type_name, fields, notes);
        self.header_types.insert(id, of_type.clone());
        let mut next = 0;
        let fields = self.checked.fields_of(of_type);
        let members = fields.iter().map(|field| self.field_storage(&field.of_type, id, &mut next)).collect();
        Storage::Header { id, members }
    }

    /// The fields on the wire that a member of a header is.
    fn flatten(&self, of_type: &Type, name: &str, into: &mut Vec<hlir::Field>) {
        if let Some(scalar) = self.scalar_type(of_type) {
            into.push(hlir::Field { name: name.to_string(), width: scalar.width(), varbit: false });
            return;
        }
        match of_type {
            Type::Varbit { width } => into.push(hlir::Field { name: name.to_string(), width: *width, varbit: true }),
            Type::Struct(_) | Type::Header(_) => {
                for field in self.checked.fields_of(of_type) {
                    self.flatten(&field.of_type, &format!("{name}.{}", field.name), into);
                }
            }
            Type::Tuple(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    self.flatten(part, &format!("{name}.{at}"), into);
                }
            }
            Type::Stack { element, size } => {
                for at in 0..*size {
                    self.flatten(element, &format!("{name}[{at}]"), into);
                }
            }
            _ => {}
        }
    }

    fn field_storage(&self, of_type: &Type, header: HeaderId, next: &mut u32) -> Storage {
        let mut take = || {
            *next += 1;
            FieldRef { header, field: *next - 1 }
        };
        if let Some(scalar) = self.scalar_type(of_type) {
            return Storage::Scalar { leaf: Leaf::Field(take()), of_type: scalar };
        }
        match of_type {
            Type::Varbit { .. } => Storage::Varbit(take()),
            Type::Struct(_) | Type::Header(_) => {
                let fields = self.checked.fields_of(of_type);
                Storage::Struct(fields.iter().map(|field| self.field_storage(&field.of_type, header, next)).collect())
            }
            Type::Tuple(parts) => {
                Storage::Struct(parts.iter().map(|part| self.field_storage(part, header, next)).collect())
            }
            Type::Stack { element, size } => {
                Storage::Struct((0..*size).map(|_| self.field_storage(element, header, next)).collect())
            }
            _ => Storage::Nothing,
        }
    }

    /// Room for a value like this one: for saving it.
    pub fn allocate_like(&mut self, value: &Value, name: &str) -> Storage {
        match value {
            Value::Scalar(expression) => {
                let of_type = self.expression_type(expression);
                let slot = self.slot(name, of_type, Notes::default());
                Storage::Scalar { leaf: Leaf::Slot(slot), of_type }
            }
            Value::Header { id, .. } => {
                let like = self.program.headers[*id].clone();
                let of_type = self.header_types.get(id).cloned();
                let id = self.header(name, &like.type_name, like.fields, &Notes::default());
                self.header_types.extend(of_type.map(|of_type| (id, of_type)));
                let Value::Header { members, .. } = value else { return Storage::Nothing };
                Storage::Header { id, members: members.iter().map(|member| moved(member, id)).collect() }
            }
            Value::Varbit(field) => {
                let width = self.program.field(*field).width;
                self.allocate(&Type::Varbit { width }, name, &Notes::default())
            }
            Value::Made { of_type, .. } => self.allocate(&of_type.clone(), name, &Notes::default()),
            Value::Struct(parts) => {
                let parts = parts.iter().enumerate();
                Storage::Struct(parts.map(|(at, part)| self.allocate_like(part, &format!("{name}.{at}"))).collect())
            }
            Value::Union(parts) => {
                let parts = parts.iter().enumerate();
                Storage::Union(parts.map(|(at, part)| self.allocate_like(part, &format!("{name}.{at}"))).collect())
            }
            Value::Stack { elements, .. } => {
                let elements = elements.iter().enumerate();
                let elements = elements.map(|(at, part)| self.allocate_like(part, &format!("{name}[{at}]"))).collect();
                let next = self.slot(&format!("{name}.nextIndex"), hlir::Type::Bits(32), Notes::default());
                Storage::Stack { elements, next }
            }
            Value::Void | Value::Integer(_) | Value::Text(_) | Value::Object(_) | Value::DontCare => Storage::Nothing,
        }
    }
}

/// The same member in another header of the same type.
fn moved(storage: &Storage, to: HeaderId) -> Storage {
    let field_of = |field: &FieldRef| FieldRef { header: to, field: field.field };
    match storage {
        Storage::Scalar { leaf: Leaf::Field(field), of_type } => {
            Storage::Scalar { leaf: Leaf::Field(field_of(field)), of_type: *of_type }
        }
        Storage::Varbit(field) => Storage::Varbit(field_of(field)),
        Storage::Struct(members) => Storage::Struct(members.iter().map(|member| moved(member, to)).collect()),
        Storage::Scalar { leaf: Leaf::Slot(_), .. }
        | Storage::Header { .. }
        | Storage::Union(_)
        | Storage::Stack { .. }
        | Storage::Nothing => storage.clone(),
    }
}
