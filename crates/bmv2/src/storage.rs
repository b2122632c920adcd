//! Header types, header instances, stacks and unions: what fields become.
//!
//! Fields of metadata are variables that exist once something uses them; the others are fields of headers.

use std::collections::HashMap;

use hlir::{Expression, Field, FieldRef, Header, HeaderId, Notes, Place, Type};

use crate::data::Data;
use crate::instances::{Instance, Leaf, Member, Stack};
use crate::json::{At, Read};
use crate::reader::Reader;

/// A field of a header type: its name, its width (none if it is as long as each packet has it) and its sign.
struct TypeField {
    name: String,
    width: Option<u32>,
    signed: bool,
}

struct HeaderType {
    fields: Vec<TypeField>,
    /// Bits of the longest header.
    longest: Option<u32>,
}

impl Reader<'_> {
    pub fn read_storage(&mut self) -> Read<()> {
        let types = self.header_types()?;
        let mut by_id = HashMap::new();
        for at in self.root.field("headers")?.items()? {
            let number = self.instance(&at, &types)?;
            by_id.insert(at.id(&by_id)?, number);
        }
        let find = |id: &At<'_>| -> Read<usize> {
            let number = id.number()?;
            by_id.get(&number).copied().ok_or_else(|| id.error(format!("no header has the id {number}")))
        };
        for at in self.root.list("header_stacks")? {
            let elements = at.field("header_ids")?.items()?.iter().map(find).collect::<Read<Vec<_>>>()?;
            let name = at.name()?;
            let stack = self.stack(name, elements);
            self.storage.stacks.insert(name.to_string(), stack);
        }
        for at in self.root.list("header_union_types")? {
            let members = at.field("headers")?.items()?;
            let names = members.iter().map(|member| Ok(member.tuple::<2>()?[0].text()?.to_string()));
            self.storage.union_members.insert(at.name()?.to_string(), names.collect::<Read<_>>()?);
        }
        let mut unions = HashMap::new();
        for at in self.root.list("header_unions")? {
            let members = at.field("header_ids")?.items()?.iter().map(find).collect::<Read<Vec<_>>>()?;
            let headers: Vec<HeaderId> =
                members.iter().filter_map(|member| self.storage.instances[*member].header).collect();
            self.builder.slots.unite(&headers);
            self.storage.unions.push(members);
            let number = self.storage.unions.len() - 1;
            self.storage.named_unions.insert(at.name()?.to_string(), number);
            unions.insert(at.id(&unions)?, number);
        }
        for at in self.root.list("header_union_stacks")? {
            let ids = at.field("header_union_ids")?.items()?;
            let find = |id: &At<'_>| {
                let number = id.number()?;
                unions.get(&number).copied().ok_or_else(|| id.error(format!("no header union has the id {number}")))
            };
            let elements = ids.iter().map(find).collect::<Read<Vec<_>>>()?;
            let name = at.name()?;
            let stack = self.stack(name, elements);
            self.storage.union_stacks.insert(name.to_string(), (stack, at.field("union_type")?.text()?.to_string()));
        }
        Ok(())
    }

    fn stack(&mut self, name: &str, elements: Vec<usize>) -> Stack {
        let next = self.builder.slots.add(&format!("{name}.nextIndex"), Type::Bits(32), Notes::default());
        Stack { elements, next }
    }

    fn header_types(&self) -> Read<HashMap<String, HeaderType>> {
        let mut types = HashMap::new();
        for at in self.root.field("header_types")?.items()? {
            let longest = at.get("max_length").map(|bytes| bytes.small()).transpose()?;
            let fields = at.field("fields")?.items()?.iter().map(type_field).collect::<Read<_>>()?;
            let longest = longest.map(|bytes| bytes.saturating_mul(8));
            types.insert(at.name()?.to_string(), HeaderType { fields, longest });
        }
        Ok(types)
    }

    fn instance(&mut self, at: &At<'_>, types: &HashMap<String, HeaderType>) -> Read<usize> {
        let name = at.name()?;
        let of_type = at.field("header_type")?;
        let type_name = of_type.text()?;
        let known =
            types.get(type_name).ok_or_else(|| of_type.error(format!("no header type is called `{type_name}`")))?;
        let is_metadata = at.flag("metadata")?;
        let fixed: u32 = known.fields.iter().filter_map(|field| field.width).sum();
        let mut fields = Vec::new();
        for field in &known.fields {
            let width = match (field.width, known.longest) {
                (Some(width), _) => width,
                (None, Some(longest)) => longest.saturating_sub(fixed),
                (None, None) => return Err(of_type.error(format!("`{type_name}` has no `max_length`"))),
            };
            fields.push(Field { name: field.name.clone(), width, varbit: field.width.is_none() });
        }
        let header = (!is_metadata).then(|| {
            let name = self.builder.names.storage(name);
            let header =
                Header { name, type_name: type_name.to_string(), fields: fields.clone(), notes: Notes::default() };
            self.builder.program.headers.alloc(header)
        });
        let mut members = Vec::new();
        for (number, (field, of_type)) in fields.iter().zip(&known.fields).enumerate() {
            let leaf = self.leaf(name, header, number as u32, field);
            members.push(Member { name: field.name.clone(), leaf, width: field.width, signed: of_type.signed });
        }
        let storage = &mut self.storage;
        storage.instances.push(Instance {
            name: name.to_string(),
            header,
            fields: members,
            of_type: type_name.to_string(),
        });
        if storage.named.insert(name.to_string(), storage.instances.len() - 1).is_some() {
            return Err(at.error(format!("another header is called `{name}`, too")));
        }
        Ok(storage.instances.len() - 1)
    }

    /// What a field becomes. One of variable length that is metadata has a header of its own.
    fn leaf(&mut self, instance: &str, header: Option<HeaderId>, number: u32, field: &Field) -> Leaf {
        match header {
            Some(header) if field.varbit => Leaf::Varbit(FieldRef { header, field: number }),
            Some(header) => Leaf::Field(FieldRef { header, field: number }),
            None if field.varbit => {
                let name = self.builder.names.storage(&format!("{instance}.{}", field.name));
                let fields = vec![Field { name: "value".to_string(), ..field.clone() }];
                let made = Header { name, type_name: "varbit".to_string(), fields, notes: Notes::default() };
                Leaf::Varbit(FieldRef { header: self.builder.program.headers.alloc(made), field: 0 })
            }
            None => {
                let full = format!("{instance}.{}", field.name);
                Leaf::Slot(self.builder.slots.add(&full, Type::Bits(field.width), Notes::default()))
            }
        }
    }

    pub fn instance_named(&self, at: &At<'_>) -> Read<usize> {
        let name = at.text()?;
        self.storage.named.get(name).copied().ok_or_else(|| at.error(format!("no header is called `{name}`")))
    }

    /// The field that `["header", "field"]` names.
    pub fn member(&self, at: &At<'_>) -> Read<Member> {
        let [header, field] = at.tuple()?;
        let instance = &self.storage.instances[self.instance_named(&header)?];
        let name = field.text()?;
        let found = instance.fields.iter().find(|member| member.name == name);
        found.cloned().ok_or_else(|| field.error(format!("header `{}` has no field `{name}`", instance.name)))
    }

    pub fn place(&mut self, member: &Member) -> Option<Place> {
        match member.leaf {
            Leaf::Slot(slot) => Some(Place::Variable(self.builder.variable(slot))),
            Leaf::Field(field) => Some(Place::Field(field)),
            Leaf::Varbit(_) => None,
        }
    }

    /// What a field holds.
    pub fn load(&mut self, member: &Member, at: &At<'_>) -> Read<Data> {
        let Some(place) = self.place(member) else {
            return Err(at.error(format!("`{}` has a variable length, and cannot be computed with", member.name)));
        };
        Ok(Data::Bits { value: Expression::place(place), width: member.width, signed: member.signed })
    }

    /// Whether an instance is valid: metadata always is.
    pub fn valid(&self, instance: usize) -> Expression {
        self.storage.instances[instance].header.map_or(Expression::Bool(true), Expression::Valid)
    }
}

fn type_field(at: &At<'_>) -> Read<TypeField> {
    let parts = at.items()?;
    let [name, width, rest @ ..] = &parts[..] else {
        return Err(at.error("expected the name and the width of a field"));
    };
    let is_variable = width.value.as_str() == Some("*");
    let width = if is_variable { None } else { Some(width.small()?) };
    // The third part of a field of variable length is its longest width, in old files.
    let signed = rest.first().is_some_and(|signed| signed.value.as_bool() == Some(true));
    Ok(TypeField { name: name.text()?.to_string(), width, signed })
}
