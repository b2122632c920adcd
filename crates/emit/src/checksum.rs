//! Internet checksums without a copy: where the data are whole 16-bit words that lie in headers, their bytes are added where they are.
//!
//! Other data, and other algorithms, go through a buffer (`call.rs`). The sum is the same: words may be added in any order and any number at a time.

use crate::body::Body;
use crate::c::{Expr, Stmt};
use crate::field::Spot;
use hlir::{Expression, FieldRef, HashInput, HeaderId, Place};

/// A part of the data that fills whole words.
enum Part<'d> {
    /// Bytes of a header, which count while it is valid.
    Bytes {
        header: HeaderId,
        first: u32,
        count: u32,
    },
    /// A value of 16, 32, 48 or 64 bits.
    Value(&'d Expression),
    Payload,
}

impl Body<'_, '_> {
    /// The data as parts; none if they are not made of whole words.
    fn parts<'d>(&self, data: &'d [HashInput]) -> Option<Vec<Part<'d>>> {
        let mut parts = Vec::new();
        let mut left = data;
        while let Some((first, rest)) = left.split_first() {
            left = rest;
            let part = match first {
                HashInput::Bits(value) => {
                    let width = self.width_of(value);
                    (width <= 64 && width.is_multiple_of(16)).then_some(Part::Value(value))?
                }
                HashInput::Payload => left.is_empty().then_some(Part::Payload)?,
                HashInput::Field(field) => {
                    let (part, behind) = self.bytes_from(*field, left)?;
                    left = behind;
                    part
                }
            };
            parts.push(part);
        }
        Some(parts)
    }

    /// The bytes of a field and of those behind it in the header and in the data, and what is left of the data.
    fn bytes_from<'d>(&self, field: FieldRef, data: &'d [HashInput]) -> Option<(Part<'d>, &'d [HashInput])> {
        let program = self.program();
        let (header, spot) = (field.header, Spot::of(program, field));
        let (mut next, mut bits, mut left) = (field, spot.width, data);
        while let Some((HashInput::Field(following), rest)) = left.split_first()
            && *following == (FieldRef { header, field: next.field + 1 })
            && !program.field(*following).varbit
        {
            next = *following;
            bits += program.field(next).width;
            left = rest;
        }
        let whole = spot.bit.is_multiple_of(8) && bits.is_multiple_of(16);
        let plain = !spot.behind_varbit && !program.field(field).varbit;
        (whole && plain).then_some((Part::Bytes { header, first: spot.bit / 8, count: bits / 8 }, left))
    }

    /// Adds data to a checksum of 16 bits; false if they are not made of whole words, and nothing has been written.
    pub fn sum_words(
        &mut self,
        data: &[HashInput],
        begin: Option<Place>,
        into: Place,
        complement: &'static str,
    ) -> bool {
        let Some(parts) = self.parts(data) else { return false };
        let begin = begin.map(|place| self.place_value(place));
        let sum = self.temporary("sum");
        let none = Expr::long(0);
        let begin = begin.map_or(none.clone(), |value| Expr::call("walk_sum_number", [none, value, Expr::word(16)]));
        self.push(Stmt::declare("uint64_t", &sum, begin));
        for part in parts {
            self.sum_part(&sum, &part);
        }
        let folded = Expr::call("walk_sum_end", [Expr::name(&sum)]);
        let result = if complement.is_empty() { folded } else { Expr::unary(complement, folded) };
        self.put_number(into, Expr::cast("uint16_t", result), 16);
        true
    }

    fn sum_part(&mut self, sum: &str, part: &Part) {
        let total = Expr::name(sum);
        match part {
            Part::Bytes { header, first, count } => {
                let start = self.header(*header);
                let start = if *first == 0 { start } else { Expr::binary("+", start, Expr::word(*first)) };
                let added = Expr::call("walk_sum", [total.clone(), start, Expr::word(*count)]);
                let valid = self.header_valid(*header);
                self.push(Stmt::when(valid, vec![Stmt::set(total, added)]));
            }
            Part::Value(value) => self.sum_value(total, value),
            Part::Payload => {
                let arguments = [total.clone(), Expr::name("state->packet"), Expr::name("state->cursor")];
                self.push(Stmt::set(total, Expr::call("walk_sum_payload", arguments)));
            }
        }
    }

    fn sum_value(&mut self, total: Expr, value: &Expression) {
        let width = self.width_of(value);
        let value = self.value(value);
        let added = Expr::call("walk_sum_number", [total.clone(), value, Expr::word(width)]);
        self.push(Stmt::set(total, added));
    }
}
