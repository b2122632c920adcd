//! What a packet carries besides its bytes: variables, header fields and validity bits, in flat arrays.
//!
//! The layout is worked out once for a program; a packet begins as a copy of the blank storage.

use hlir::value::{Bits, Value};
use hlir::{FieldRef, HeaderId, Place, Program, VariableId};
use la_arena::Idx;

pub fn number<T>(id: Idx<T>) -> usize {
    id.into_raw().into_u32() as usize
}

/// Where the program's storage lies in the arrays.
pub struct Layout {
    variable_widths: Vec<u32>,
    headers: Vec<HeaderLayout>,
    blank: Storage,
}

pub struct HeaderLayout {
    /// Position of the first field in [`Storage::fields`].
    first: usize,
    /// Width of each field; of a varbit field the largest.
    pub widths: Vec<u32>,
    pub varbit: Option<usize>,
    /// Bits without the varbit field.
    pub fixed_bits: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Storage {
    variables: Vec<Bits>,
    fields: Vec<Bits>,
    valid: Vec<bool>,
    /// Bits of each header's varbit field now.
    lengths: Vec<u32>,
    /// Variables that were written, perhaps several times: a packet writes few, and the others are blank.
    written: Vec<u32>,
    /// Headers of which a field was written.
    touched: Vec<bool>,
}

impl Layout {
    pub fn new(program: &Program) -> Layout {
        let variable_widths: Vec<u32> = program.variables.iter().map(|(_, variable)| variable.kind.width()).collect();
        let mut headers = Vec::new();
        let mut fields = Vec::new();
        for (_, header) in program.headers.iter() {
            let widths: Vec<u32> = header.fields.iter().map(|field| field.width).collect();
            let first = fields.len();
            fields.extend(widths.iter().map(|width| Bits::zero(*width)));
            headers.push(HeaderLayout { first, widths, varbit: header.varbit(), fixed_bits: header.fixed_bits() });
        }
        let blank = Storage {
            variables: variable_widths.iter().map(|width| Bits::zero(*width)).collect(),
            fields,
            valid: vec![false; headers.len()],
            lengths: vec![0; headers.len()],
            written: Vec::new(),
            touched: vec![false; headers.len()],
        };
        Layout { variable_widths, headers, blank }
    }

    /// Everything zero, every header invalid: what a packet that has ended had, or new storage.
    pub fn storage(&self, spare: &mut Vec<Storage>) -> Storage {
        let Some(mut storage) = spare.pop() else { return self.blank.clone() };
        for variable in storage.written.drain(..) {
            let index = variable as usize;
            storage.variables[index].clone_from(&self.blank.variables[index]);
        }
        storage.forget_headers(self);
        storage
    }

    pub fn header(&self, header: HeaderId) -> &HeaderLayout {
        &self.headers[number(header)]
    }

    fn field_position(&self, field: FieldRef) -> usize {
        self.header(field.header).first + field.field as usize
    }

    fn field_width(&self, field: FieldRef) -> u32 {
        self.header(field.header).widths[field.field as usize]
    }

    pub fn place_width(&self, place: Place) -> u32 {
        match place {
            Place::Variable(variable) => self.variable_widths[number(variable)],
            Place::Field(field) => self.field_width(field),
        }
    }
}

impl Storage {
    pub fn variable(&self, layout: &Layout, variable: VariableId) -> Value {
        let index = number(variable);
        Value { width: layout.variable_widths[index], bits: self.variables[index].clone() }
    }

    pub fn variable_bits(&self, variable: VariableId) -> &Bits {
        &self.variables[number(variable)]
    }

    /// Of a field that is not varbit.
    pub fn field_bits(&self, layout: &Layout, field: FieldRef) -> &Bits {
        &self.fields[layout.field_position(field)]
    }

    /// A field; of a varbit field its bits, as wide as they are now.
    pub fn field(&self, layout: &Layout, field: FieldRef) -> Value {
        let whole = Value { width: layout.field_width(field), bits: self.fields[layout.field_position(field)].clone() };
        if layout.header(field.header).varbit == Some(field.field as usize) {
            whole.resize(self.lengths[number(field.header)])
        } else {
            whole
        }
    }

    pub fn put(&mut self, layout: &Layout, place: Place, value: Value) {
        let width = layout.place_width(place);
        let bits = if value.width == width { value.bits } else { value.resize(width).bits };
        self.put_bits(layout, place, bits);
    }

    /// Writes bits that are as many as the place has.
    #[inline(always)]
    pub fn put_bits(&mut self, layout: &Layout, place: Place, bits: Bits) {
        match place {
            Place::Variable(variable) => {
                self.written.push(number(variable) as u32);
                self.variables[number(variable)] = bits;
            }
            Place::Field(field) => {
                self.touched[number(field.header)] = true;
                self.fields[layout.field_position(field)] = bits;
            }
        }
    }

    /// Writes a varbit field; the value's width becomes its length.
    pub fn put_varbit(&mut self, layout: &Layout, field: FieldRef, value: Value) {
        self.lengths[number(field.header)] = value.width;
        self.put(layout, Place::Field(field), value);
    }

    pub fn varbit_length(&self, header: HeaderId) -> u32 {
        self.lengths[number(header)]
    }

    pub fn is_valid(&self, header: HeaderId) -> bool {
        self.valid[number(header)]
    }

    /// Makes a header valid, and zero if it was not.
    pub fn set_valid(&mut self, layout: &Layout, header: HeaderId) {
        let index = number(header);
        if self.valid[index] {
            return;
        }
        (self.valid[index], self.touched[index]) = (true, true);
        self.lengths[index] = 0;
        let HeaderLayout { first, widths, .. } = layout.header(header);
        for (field, width) in widths.iter().enumerate() {
            self.fields[first + field] = Bits::zero(*width);
        }
    }

    /// Makes a header valid of which every field is written next.
    pub fn begin_header(&mut self, header: HeaderId) {
        let index = number(header);
        (self.valid[index], self.touched[index], self.lengths[index]) = (true, true, 0);
    }

    pub fn set_invalid(&mut self, header: HeaderId) {
        self.valid[number(header)] = false;
    }

    pub fn copy_header(&mut self, layout: &Layout, to: HeaderId, from: HeaderId) {
        let (target, source) = (number(to), number(from));
        self.valid[target] = self.valid[source];
        if !self.valid[source] {
            return;
        }
        self.touched[target] = true;
        self.lengths[target] = self.lengths[source];
        let (to, from) = (layout.header(to), layout.header(from));
        for field in 0..from.widths.len() {
            self.fields[to.first + field] = self.fields[from.first + field].clone();
        }
    }

    /// Takes all headers back to their state at the start of a packet.
    pub fn forget_headers(&mut self, layout: &Layout) {
        for (header, is_touched) in layout.headers.iter().zip(&mut self.touched) {
            if !std::mem::take(is_touched) {
                continue;
            }
            let fields = header.first..header.first + header.widths.len();
            self.fields[fields.clone()].clone_from_slice(&layout.blank.fields[fields]);
        }
        self.valid.fill(false);
        self.lengths.fill(0);
    }

    /// Takes all variables but these back to zero.
    pub fn forget_variables(&mut self, layout: &Layout, but: &[VariableId]) {
        let kept: Vec<(usize, Bits)> =
            but.iter().map(|variable| (number(*variable), self.variables[number(*variable)].clone())).collect();
        self.variables.clone_from(&layout.blank.variables);
        for (index, bits) in kept {
            self.variables[index] = bits;
        }
    }
}
