//! Hashes of fields and values.

use crate::run::{Result, Run};
use crate::value::Value;
use hlir::{Algorithm, Binary, Expression, HashInput, Place, Type};

/// Bits of a piece of what is hashed.
const PIECE: u32 = 64;

impl Run<'_> {
    pub fn hash(&mut self, algorithm: Algorithm, data: &[HashInput], into: Place) -> Result<()> {
        let hash = self.hashed(algorithm, data)?;
        let hash = match self.program.place_type(into).width() {
            narrow @ 0..=PIECE => self.values.slice(hash, 0, narrow),
            wide => self.values.extend(hash, wide, false),
        };
        self.put(into, hash)
    }

    /// The hash of all inputs after each other, then zeros up to a whole byte.
    pub fn hashed(&mut self, algorithm: Algorithm, data: &[HashInput]) -> Result<Value> {
        let mut whole = self.values.word(0, 0);
        for input in data {
            let value = match input {
                // A field counts only while its header is valid.
                HashInput::Field(field) if !self.state.valid.contains(&field.header) => continue,
                HashInput::Field(field) => self.value(&Expression::Field(*field))?,
                HashInput::Bits(value) => self.value(value)?,
                HashInput::Payload => return Err("hashes the payload"),
            };
            let value = if self.values.kind(value) == Type::Bool { self.values.from_bool(value) } else { value };
            whole = self.values.binary(Binary::Concat, whole, value);
        }
        let width = self.values.width(whole);
        let padding = self.values.word(0, width.next_multiple_of(8) - width);
        whole = self.values.binary(Binary::Concat, whole, padding);
        let width = self.values.width(whole);
        let mut pieces = Vec::new();
        let mut above = width;
        while above > 0 {
            let bits = above.min(PIECE);
            pieces.push(self.values.slice(whole, above - bits, bits));
            above -= bits;
        }
        Ok(self.values.hash(algorithm, pieces))
    }
}
