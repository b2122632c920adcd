//! Headers, their types and stacks. Variables are fields of the header `scalars`, or of the standard metadata.

use hlir::{FieldRef, Header, HeaderId, Place, Program, Type, VariableId};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

const SCALARS: &str = "scalars";
const STANDARD: &str = "standard_metadata";

/// Fields of the standard metadata, in the order of v1model.p4, and their widths there.
const FIELDS: [(&str, u32); 16] = [
    ("ingress_port", 9),
    ("egress_spec", 9),
    ("egress_port", 9),
    ("instance_type", 32),
    ("packet_length", 32),
    ("enq_timestamp", 32),
    ("enq_qdepth", 19),
    ("deq_timedelta", 32),
    ("deq_qdepth", 19),
    ("ingress_global_timestamp", 48),
    ("egress_global_timestamp", 48),
    ("mcast_grp", 16),
    ("egress_rid", 16),
    ("checksum_error", 1),
    ("parser_error", 32),
    ("priority", 3),
];

/// Fields of the standard metadata that `simple_switch` knows under the names of P4_14.
const ALIASES: [(&str, &str); 9] = [
    ("queueing_metadata", "enq_timestamp"),
    ("queueing_metadata", "enq_qdepth"),
    ("queueing_metadata", "deq_timedelta"),
    ("queueing_metadata", "deq_qdepth"),
    ("intrinsic_metadata", "ingress_global_timestamp"),
    ("intrinsic_metadata", "egress_global_timestamp"),
    ("intrinsic_metadata", "mcast_grp"),
    ("intrinsic_metadata", "egress_rid"),
    ("intrinsic_metadata", "priority"),
];

pub fn aliases() -> Value {
    ALIASES.iter().map(|(header, field)| json!([format!("{header}.{field}"), [STANDARD, field]])).collect()
}

/// A type of headers: its fields, and the largest length in bytes of one with a varbit field.
#[derive(Clone, PartialEq)]
struct HeaderType {
    fields: Vec<Value>,
    max_length: Option<u32>,
}

/// See the module.
pub struct Storage {
    standard: Vec<(&'static str, u32)>,
    /// Where each variable is.
    variables: HashMap<VariableId, [String; 2]>,
    scalars: Vec<(String, u32)>,
    /// Names of the headers and of their types.
    headers: HashMap<HeaderId, (String, String)>,
    order: Vec<HeaderId>,
    fields: HashMap<HeaderId, Vec<String>>,
    types: Vec<(String, HeaderType)>,
    temporaries: usize,
}

impl Storage {
    pub fn of(program: &Program) -> Storage {
        let mut storage = Storage {
            standard: FIELDS.to_vec(),
            variables: HashMap::new(),
            scalars: Vec::new(),
            headers: HashMap::new(),
            order: Vec::new(),
            fields: HashMap::new(),
            types: Vec::new(),
            temporaries: 0,
        };
        storage.add_variables(program);
        storage.add_headers(program);
        storage
    }

    fn add_variables(&mut self, program: &Program) {
        // The parser's error is in the standard metadata, whatever the program calls that.
        let error = program.parsers.values().next().map(|parser| &program.variables[parser.error].name);
        let prefix = error.and_then(|name| name.strip_suffix("parser_error")).unwrap_or("standard_metadata.");
        for (id, variable) in program.variables.iter() {
            let width = variable.kind.width();
            let standard = variable.name.strip_prefix(prefix);
            let standard = standard.and_then(|name| self.standard.iter_mut().find(|(field, _)| *field == name));
            let place = match standard {
                Some(field) => {
                    field.1 = width;
                    [STANDARD.to_string(), field.0.to_string()]
                }
                None => {
                    self.scalars.push((variable.name.clone(), width));
                    [SCALARS.to_string(), variable.name.clone()]
                }
            };
            self.variables.insert(id, place);
        }
    }

    fn add_headers(&mut self, program: &Program) {
        let mut names: HashSet<String> = [SCALARS, STANDARD].map(String::from).into();
        for (id, header) in program.headers.iter() {
            // `ipv4` for `hdr.ipv4`, as p4c has it.
            let short = header.name.split_once('.').map_or(header.name.as_str(), |(_, rest)| rest).to_string();
            let name = if names.contains(&short) { header.name.clone() } else { short };
            names.insert(name.clone());
            let of_type = self.type_of(header);
            self.headers.insert(id, (name, of_type));
            self.fields.insert(id, header.fields.iter().map(|field| field.name.clone()).collect());
            self.order.push(id);
        }
    }

    /// The name of a header's type: types of equal names may have different fields.
    fn type_of(&mut self, header: &Header) -> String {
        let field = |field: &hlir::Field| match field.varbit {
            true => json!([field.name, "*"]),
            false => json!([field.name, field.width, false]),
        };
        let max_length = header.varbit().map(|_| header.most_bits().div_ceil(8));
        let wanted = HeaderType { fields: header.fields.iter().map(field).collect(), max_length };
        let mut name = header.type_name.clone();
        let mut number = 0;
        loop {
            match self.types.iter().find(|(known, _)| *known == name) {
                Some((_, known)) if *known == wanted => return name,
                Some(_) => {
                    name = format!("{}_{number}", header.type_name);
                    number += 1;
                }
                None => {
                    self.types.push((name.clone(), wanted));
                    return name;
                }
            }
        }
    }

    /// A scalar of the writer's own.
    pub fn temporary(&mut self, width: u32) -> [String; 2] {
        let name = format!("bacus.tmp_{}", self.temporaries);
        self.temporaries += 1;
        self.scalars.push((name.clone(), width));
        [SCALARS.to_string(), name]
    }

    /// A scalar of this name, which may be asked for again.
    pub fn named(&mut self, name: &str, width: u32) -> [String; 2] {
        if !self.scalars.iter().any(|(known, _)| known == name) {
            self.scalars.push((name.to_string(), width));
        }
        [SCALARS.to_string(), name.to_string()]
    }

    pub fn header(&self, id: HeaderId) -> &str {
        &self.headers[&id].0
    }

    pub fn variable(&self, id: VariableId) -> &[String; 2] {
        &self.variables[&id]
    }

    pub fn field(&self, field: FieldRef) -> [String; 2] {
        [self.header(field.header).to_string(), self.fields[&field.header][field.field as usize].clone()]
    }

    pub fn place(&self, place: Place) -> [String; 2] {
        match place {
            Place::Variable(id) => self.variable(id).clone(),
            Place::Field(field) => self.field(field),
        }
    }

    pub fn headers(&self) -> Value {
        let metadata = [(SCALARS, "scalars_0"), (STANDARD, STANDARD)].map(|(name, of_type)| (name, of_type, true));
        let headers = self.order.iter().map(|id| &self.headers[id]);
        let headers = headers.map(|(name, of_type)| (name.as_str(), of_type.as_str(), false));
        let all = metadata.into_iter().chain(headers).enumerate();
        let described = all.map(|(id, (name, of_type, metadata))| {
            json!({ "name": name, "id": id, "header_type": of_type, "metadata": metadata, "pi_omit": true })
        });
        described.collect()
    }

    pub fn types(&self) -> Value {
        let padded = |fields: &mut Vec<Value>, bits: u32, name: &str| {
            if !bits.is_multiple_of(8) {
                fields.push(json!([name, 8 - bits % 8, false]));
            }
        };
        let mut scalars: Vec<Value> = self.scalars.iter().map(|(name, width)| json!([name, width, false])).collect();
        padded(&mut scalars, self.scalars.iter().map(|(_, width)| width).sum(), "_padding_0");
        let mut standard: Vec<Value> = self.standard.iter().map(|(name, width)| json!([name, width, false])).collect();
        padded(&mut standard, self.standard.iter().map(|(_, width)| width).sum(), "_padding");
        let mut types = vec![
            json!({ "name": "scalars_0", "id": 0, "fields": scalars }),
            json!({ "name": STANDARD, "id": 1, "fields": standard }),
        ];
        for (name, of_type) in &self.types {
            let mut made = json!({ "name": name, "id": types.len(), "fields": of_type.fields });
            if let (Some(bytes), Some(object)) = (of_type.max_length, made.as_object_mut()) {
                object.insert("max_length".to_string(), json!(bytes));
            }
            types.push(made);
        }
        Value::Array(types)
    }

    /// Headers that are elements of a stack: `labels[0]`, `labels[1]`, …
    pub fn stacks(&self) -> Value {
        let mut stacks: Vec<(String, String, Vec<usize>)> = Vec::new();
        for (number, id) in self.order.iter().enumerate() {
            let (name, of_type) = &self.headers[id];
            let Some((stack, _)) = name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) else { continue };
            let id = number + 2;
            match stacks.iter_mut().find(|(known, _, _)| known == stack) {
                Some((_, _, elements)) => elements.push(id),
                None => stacks.push((stack.to_string(), of_type.clone(), vec![id])),
            }
        }
        let described = stacks.iter().enumerate().map(|(id, (name, of_type, elements))| {
            json!({
                "name": name, "id": id, "header_type": of_type, "size": elements.len(), "header_ids": elements,
            })
        });
        described.collect()
    }

    /// Whether the program has a use of a field of the standard metadata.
    pub fn uses(&self, field: &str) -> bool {
        self.variables.values().any(|[header, name]| header == STANDARD && name == field)
    }

    /// Whether a place is this field of the standard metadata.
    pub fn is_standard(&self, place: Place, field: &str) -> bool {
        self.place(place) == [STANDARD, field]
    }
}

/// Whether a variable holds a boolean.
pub fn is_boolean(program: &Program, place: Place) -> bool {
    program.place_type(place) == Type::Bool
}
