//! Internet checksums.

use crate::run::{Result, Run};
use crate::value::{Operation, Sum, Value};
use hlir::{Binary, Expression, HashInput, Place, Type, Unary};

/// Words of one sum: their complements, too, add up to less than 32 bits.
const MOST_WORDS: u32 = 1 << 15;

/// The most bits of whole words that a value of a sum has.
const WORDS: u32 = 64;

impl Run<'_> {
    /// The complement of a sum.
    pub fn checksum(&mut self, data: &[HashInput], into: Place) -> Result<()> {
        let sum = self.summed(None, data, false)?;
        let sum = self.values.unary(Unary::Complement, sum);
        self.put_sum(into, sum)
    }

    /// The place may have another width than a sum.
    fn put_sum(&mut self, into: Place, sum: Value) -> Result<()> {
        let (width, bits) = (self.program.place_type(into).width(), self.values.width(sum));
        let fitting =
            if width < bits { self.values.slice(sum, 0, width) } else { self.values.extend(sum, width, false) };
        self.put(into, fitting)
    }

    /// Adds words to a sum, or the complement of each.
    pub fn add_checksum(&mut self, into: Place, data: &[HashInput], subtract: bool) -> Result<()> {
        let before = self.value(&Expression::place(into))?;
        if self.values.width(before) > 32 {
            return Err("sums into a variable of more than 32 bits");
        }
        let sum = self.summed(Some(before), data, subtract)?;
        self.put_sum(into, sum)
    }

    fn summed(&mut self, before: Option<Value>, data: &[HashInput], subtract: bool) -> Result<Value> {
        let mut sum = Sum { before, bytes: Vec::new(), words: Vec::new(), subtract };
        let mut whole = self.values.word(0, 0);
        let mut count = 0;
        for input in data {
            let value = match input {
                // A field counts only while its header is valid.
                HashInput::Field(field) if !self.state.valid.contains(&field.header) => continue,
                HashInput::Field(field) => self.value(&Expression::Field(*field))?,
                HashInput::Bits(value) => self.value(value)?,
                HashInput::Payload => return Err("sums the payload"),
            };
            let value = if self.values.kind(value) == Type::Bool { self.values.from_bool(value) } else { value };
            // Whole words that the next value does not continue.
            if self.values.width(whole).is_multiple_of(16) && !self.continues(whole, value) {
                count += self.add_words(&mut sum, whole);
                whole = value;
            } else {
                whole = self.values.binary(Binary::Concat, whole, value);
            }
        }
        let short = self.values.width(whole).next_multiple_of(16) - self.values.width(whole);
        let padding = self.values.word(0, short);
        whole = self.values.binary(Binary::Concat, whole, padding);
        count += self.add_words(&mut sum, whole);
        if count >= MOST_WORDS {
            return Err("sums too many words");
        }
        Ok(self.values.sum(sum))
    }

    /// Whether a value is the packet's next bits.
    fn continues(&self, value: Value, next: Value) -> bool {
        match (self.values.of(value), self.values.of(next)) {
            (Operation::Packet { bit }, Operation::Packet { bit: behind }) => bit + self.values.width(value) == *behind,
            _ => false,
        }
    }

    /// Adds a value of whole words. Returns their number.
    fn add_words(&mut self, sum: &mut Sum, value: Value) -> u32 {
        let width = self.values.width(value);
        if let Operation::Packet { bit } = self.values.of(value)
            && bit.is_multiple_of(8)
        {
            sum.bytes.push((bit / 8, (bit + width) / 8));
            return width / 16;
        }
        for low in (0..width).step_by(WORDS as usize) {
            let part = self.values.slice(value, low, WORDS.min(width - low));
            sum.words.push(part);
        }
        width / 16
    }
}
