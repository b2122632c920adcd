//! The symbolic state of a packet: which headers it has is the same for all packets, values differ.

use crate::value::Value;
use crate::values::Values;
use hlir::{FieldRef, HeaderId, Program, Type, VariableId};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Variables that were assigned; all others are zero.
    pub variables: BTreeMap<VariableId, Value>,
    /// Fields that were assigned; all others are as in the packet, or zero where their header was not extracted.
    pub fields: BTreeMap<FieldRef, Value>,
    /// Byte offsets of headers that were extracted from the packet, and that nothing has replaced since.
    pub headers: BTreeMap<HeaderId, u32>,
    pub valid: BTreeSet<HeaderId>,
    /// Bytes that the parser has consumed, or 0 after the deparser.
    pub cursor: u32,
    /// Whether the packet was deparsed: assignments to fields no longer change its bytes.
    pub is_deparsed: bool,
    /// Whether the deparser gave it another first byte.
    pub has_moved: bool,
}

impl State {
    pub fn new() -> State {
        State {
            variables: BTreeMap::new(),
            fields: BTreeMap::new(),
            headers: BTreeMap::new(),
            valid: BTreeSet::new(),
            cursor: 0,
            is_deparsed: false,
            has_moved: false,
        }
    }

    pub fn variable(&self, program: &Program, values: &mut Values, variable: VariableId) -> Value {
        match (self.variables.get(&variable), program.variables[variable].kind) {
            (Some(value), _) => *value,
            (None, Type::Bool) => values.bool(false),
            (None, Type::Bits(width)) => values.word(0, width),
        }
    }

    /// A field's storage, whether its header is valid or not (docs/hlir.md, expressions).
    pub fn field(&self, program: &Program, values: &mut Values, field: FieldRef) -> Value {
        if let Some(value) = self.fields.get(&field) {
            return *value;
        }
        let width = program.field(field).width;
        let Some(start) = self.headers.get(&field.header) else { return values.word(0, width) };
        let value = values.packet(8 * start + offset(program, field), width);
        let header = &program.headers[field.header];
        values.call(value, || format!("{}.{}", header.name, header.fields[field.field as usize].name));
        value
    }

    /// The header lies at a byte of the packet.
    pub fn extract(&mut self, header: HeaderId, start: u32) {
        self.fields.retain(|field, _| field.header != header);
        self.headers.insert(header, start);
        self.valid.insert(header);
    }

    /// Makes a header valid; one that was invalid is zero.
    pub fn make_valid(&mut self, header: HeaderId) {
        if self.valid.insert(header) {
            self.fields.retain(|field, _| field.header != header);
            self.headers.remove(&header);
        }
    }

    /// Gives a header the fields and the validity of another one. Of an invalid one, it gets nothing but that.
    pub fn copy(&mut self, to: HeaderId, from: HeaderId) {
        if !self.valid.contains(&from) {
            self.valid.remove(&to);
            return;
        }
        self.valid.insert(to);
        self.fields.retain(|field, _| field.header != to);
        let fields = self.fields.iter().filter(|(field, _)| field.header == from);
        let copied: Vec<_> = fields.map(|(field, value)| (FieldRef { header: to, ..*field }, *value)).collect();
        self.fields.extend(copied);
        match self.headers.get(&from) {
            Some(start) => self.headers.insert(to, *start),
            None => self.headers.remove(&to),
        };
    }

    /// The state with other values.
    pub fn with(mut self, mut of: impl FnMut(Value) -> Value) -> State {
        self.variables.values_mut().chain(self.fields.values_mut()).for_each(|value| *value = of(*value));
        self
    }

    /// Whether packets have the same headers, at the same places.
    pub fn has_headers_of(&self, other: &State) -> bool {
        let layout = |state: &State| {
            (state.valid.clone(), state.headers.clone(), state.cursor, (state.is_deparsed, state.has_moved))
        };
        layout(self) == layout(other)
    }

    /// The state of packets that come from two places: `taken` where the condition holds, else this one. None if
    /// they have different headers, or begin elsewhere.
    pub fn merged(&self, program: &Program, values: &mut Values, condition: Value, taken: &State) -> Option<State> {
        if !taken.has_headers_of(self) || self.has_moved {
            return None;
        }
        let mut merged = self.clone();
        let variables = different(&taken.variables, &self.variables);
        for variable in variables {
            let then = taken.variable(program, values, variable);
            let otherwise = self.variable(program, values, variable);
            let value = values.choose(condition, then, otherwise);
            values.call(value, || program.variables[variable].name.clone());
            merged.variables.insert(variable, value);
        }
        let fields = different(&taken.fields, &self.fields);
        for field in fields {
            let then = taken.field(program, values, field);
            let otherwise = self.field(program, values, field);
            let value = values.choose(condition, then, otherwise);
            let header = &program.headers[field.header];
            values.call(value, || format!("{}.{}", header.name, header.fields[field.field as usize].name));
            merged.fields.insert(field, value);
        }
        Some(merged)
    }
}

/// What has another value in one state than in the other, or none. Most of a state is the same in both.
fn different<K: Ord + Copy>(one: &BTreeMap<K, Value>, other: &BTreeMap<K, Value>) -> BTreeSet<K> {
    let all = one.keys().chain(other.keys());
    all.filter(|key| one.get(key) != other.get(key)).copied().collect()
}

/// The first bit of a field in its header.
pub fn offset(program: &Program, field: FieldRef) -> u32 {
    program.headers[field.header].fields[..field.field as usize].iter().map(|field| field.width).sum()
}
