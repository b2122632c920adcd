//! What is known of a packet at a point of the program: constant variables and fields, and the validity of headers.

use hlir::value::Value;
use hlir::{FieldRef, HeaderId, Place, Program, Type, VariableId};
use std::collections::HashMap;

/// A number as a typed index has it.
fn index<T>(id: la_arena::Idx<T>) -> usize {
    id.into_raw().into_u32() as usize
}

/// Where each place is in a [`State`], and the constants that states refer to.
pub(super) struct Layout {
    fields: Vec<usize>,
    places: usize,
    widths: Vec<u32>,
    values: Vec<Value>,
    numbers: HashMap<Value, u32>,
}

/// What is known of a place: nothing, or the number of its value in the [`Layout`].
type Known = Option<u32>;

/// What holds for all packets that reach a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    places: Vec<Known>,
    valid: Vec<Option<bool>>,
}

impl Layout {
    pub fn new(program: &Program) -> Layout {
        let mut widths: Vec<u32> = program.variables.values().map(|variable| variable.kind.width()).collect();
        let mut fields = Vec::new();
        for header in program.headers.values() {
            fields.push(widths.len());
            widths.extend(header.fields.iter().map(|field| field.width));
        }
        Layout { fields, places: widths.len(), widths, values: Vec::new(), numbers: HashMap::new() }
    }

    fn place(&self, place: Place) -> usize {
        match place {
            Place::Variable(variable) => index(variable),
            Place::Field(FieldRef { header, field }) => self.fields[index(header)] + field as usize,
        }
    }

    fn fields_of(&self, header: HeaderId) -> std::ops::Range<usize> {
        let start = self.fields[index(header)];
        start..self.fields.get(index(header) + 1).copied().unwrap_or(self.places)
    }

    fn number(&mut self, value: Value) -> u32 {
        let next = self.values.len() as u32;
        let number = *self.numbers.entry(value.clone()).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        number
    }

    fn zero(&mut self, at: usize) -> u32 {
        self.number(Value::word(0, self.widths[at]))
    }

    /// A packet that enters: all storage is zero, all headers are invalid.
    pub fn at_entry(&mut self) -> State {
        let places = (0..self.places).map(|at| Some(self.zero(at))).collect();
        State { places, valid: vec![Some(false); self.fields.len()] }
    }

    /// A packet of which nothing is known.
    pub fn unknown(&self) -> State {
        State { places: vec![None; self.places], valid: vec![None; self.fields.len()] }
    }

    pub fn value(&self, state: &State, place: Place) -> Option<&Value> {
        state.places[self.place(place)].map(|number| &self.values[number as usize])
    }

    pub fn set(&mut self, state: &mut State, place: Place, value: Option<Value>) {
        let at = self.place(place);
        state.places[at] = value.map(|value| self.number(value));
    }

    /// All variables but these are zero.
    pub fn forget_variables(&mut self, state: &mut State, kept: &[VariableId]) {
        let variables = self.fields.first().copied().unwrap_or(self.places);
        for at in (0..variables).filter(|at| kept.iter().all(|variable| index(*variable) != *at)) {
            state.places[at] = Some(self.zero(at));
        }
    }

    /// All headers are invalid, and nothing is known of their fields.
    pub fn forget_headers(&self, state: &mut State) {
        state.valid.fill(Some(false));
        let variables = self.fields.first().copied().unwrap_or(self.places);
        state.places[variables..].fill(None);
    }

    /// Nothing is known of a header.
    pub fn forget_header(&self, state: &mut State, header: HeaderId) {
        state.valid[index(header)] = None;
        state.places[self.fields_of(header)].fill(None);
    }

    /// The header's bytes are those of the packet.
    pub fn extract(&self, state: &mut State, header: HeaderId) {
        state.valid[index(header)] = Some(true);
        state.places[self.fields_of(header)].fill(None);
    }

    /// A header that was invalid is zero afterwards.
    pub fn set_valid(&mut self, state: &mut State, header: HeaderId) {
        let was = state.valid[index(header)].replace(true);
        for at in self.fields_of(header) {
            let zero = self.zero(at);
            state.places[at] = match was {
                Some(true) => state.places[at],
                Some(false) => Some(zero),
                None => state.places[at].filter(|known| *known == zero),
            };
        }
    }

    pub fn copy_header(&self, state: &mut State, to: HeaderId, from: HeaderId) {
        let valid = state.valid[index(from)];
        state.valid[index(to)] = valid;
        for (at, source) in self.fields_of(to).zip(self.fields_of(from)) {
            state.places[at] = match valid {
                Some(true) => state.places[source],
                Some(false) => state.places[at],
                None => state.places[at].filter(|known| state.places[source] == Some(*known)),
            };
        }
    }
}

impl State {
    pub fn is_valid(&self, header: HeaderId) -> Option<bool> {
        self.valid[index(header)]
    }

    pub fn assume_valid(&mut self, header: HeaderId, valid: bool) {
        self.valid[index(header)] = Some(valid);
    }

    /// Keeps what holds for `other`, too. Returns whether something is lost.
    pub fn merge(&mut self, other: &State) -> bool {
        let places = keep_common(&mut self.places, &other.places);
        keep_common(&mut self.valid, &other.valid) || places
    }
}

fn keep_common<T: PartialEq + Copy>(mine: &mut [Option<T>], others: &[Option<T>]) -> bool {
    let mut lost = false;
    for (known, other) in mine.iter_mut().zip(others) {
        if known.is_some() && known != other {
            (*known, lost) = (None, true);
        }
    }
    lost
}

/// The expression for a value of a type.
pub(super) fn constant(value: &Value, kind: Type) -> hlir::Expression {
    match kind {
        Type::Bool => hlir::Expression::Bool(value.is_true()),
        Type::Bits(width) => hlir::Expression::Constant { value: value.bits.to_big(), width },
    }
}
