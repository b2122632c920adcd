//! Internet checksums without a copy: where the data are whole 16-bit words that lie in headers, their bytes are added where they are.
//!
//! Other data, and other algorithms, go through a buffer (`call.rs`). The sum is the same: words may be added in any order and any number at a time.

use crate::body::Body;
use crate::c::{Expr, Stmt};
use crate::field::Spot;
use crate::unit::number;
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
                let base = self.header(*header);
                let pieces = self.pieces(*header, *first, *count).into_iter().map(|(first, count)| {
                    let start =
                        if first == 0 { base.clone() } else { Expr::binary("+", base.clone(), Expr::word(first)) };
                    Stmt::set(total.clone(), Expr::call("walk_sum", [total.clone(), start, Expr::word(count)]))
                });
                let pieces = pieces.collect();
                let valid = self.header_valid(*header);
                self.push(Stmt::when(valid, pieces));
            }
            Part::Value(value) => self.sum_value(total, value),
            Part::Payload => {
                let arguments = [total.clone(), Expr::name("state->packet"), Expr::name("state->cursor")];
                self.push(Stmt::set(total, Expr::call("walk_sum_payload", arguments)));
            }
        }
    }

    /// A header's bytes, in pieces that are read without waiting for stores: a load of four bytes must wait until a
    /// narrower store before it is in the cache (12 cycles a router's packet on Zen 5). So a word of 16 bits with
    /// fields that the program writes is a piece of its own, which its stores fill ([`Unit::stores_words`]).
    fn pieces(&self, header: HeaderId, first: u32, count: u32) -> Vec<(u32, u32)> {
        const NARROW: u32 = 32;
        if !self.unit.facts.summed.contains(&number(header)) {
            return vec![(first, count)];
        }
        let program = self.program();
        let narrow = |(_, field): &&(usize, u32)| program.headers[header].fields[*field as usize].width < NARROW;
        let written = self.unit.facts.written.iter().filter(|(other, _)| *other == number(header)).filter(narrow);
        let words: Vec<(u32, u32)> = written
            .map(|(_, field)| Spot::of(program, FieldRef { header, field: *field }))
            .filter(|spot| !spot.behind_varbit && spot.width > 0)
            .map(|spot| (spot.bit / 16 * 2, (spot.bit + spot.width).div_ceil(16) * 2))
            .collect();
        let is_written = |at: u32| words.iter().any(|(from, to)| (*from..*to).contains(&(at / 2 * 2)));
        let mut pieces: Vec<(u32, u32)> = Vec::new();
        let mut joins = false;
        for at in (first..first + count).step_by(2) {
            let written = is_written(at) || is_written(at + 1);
            match pieces.last_mut().filter(|_| joins && !written) {
                Some((_, bytes)) => *bytes += 2,
                None => pieces.push((at, 2)),
            }
            joins = !written;
        }
        pieces
    }

    fn sum_value(&mut self, total: Expr, value: &Expression) {
        let width = self.width_of(value);
        let value = self.value(value);
        let added = Expr::call("walk_sum_number", [total.clone(), value, Expr::word(width)]);
        self.push(Stmt::set(total, added));
    }
}
