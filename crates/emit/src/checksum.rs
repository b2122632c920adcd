//! Internet checksums without a copy: data that are whole 16-bit words in headers are added where they are, other fields and values as numbers, shifted to
//! their place in their word.
//!
//! Data whose place is not known, and other algorithms, go through a buffer (`call.rs`). The sum is the same: words may be added in any order and any number
//! at a time.

use crate::body::{Body, Presence};
use crate::c::{Expr, Stmt};
use crate::field::Spot;
use crate::unit::number;
use hlir::{Call, Expression, FieldRef, HashInput, HeaderId, Place, Statement, Type};
use std::collections::BTreeMap;

/// A part of the data. All but numbers fill whole words.
enum Part<'d> {
    /// Bytes of a header, which count while it is valid.
    Bytes {
        header: HeaderId,
        first: u32,
        count: u32,
    },
    /// A value of 16, 32, 48 or 64 bits.
    Value(&'d Expression),
    /// Bits whose last word begins with others, or ends `shift` bits behind them; a header's count while it is
    /// valid.
    Number {
        header: Option<HeaderId>,
        value: Expression,
        shift: u32,
    },
    Payload,
}

/// Where the next part begins.
#[derive(Default)]
struct Position {
    /// Bits of the last word that are filled.
    filled: u32,
    /// Whose bits those are.
    owner: Option<HeaderId>,
    /// Bits that go with a header that is not valid, so that what follows moves by as many; modulo a word.
    movable: BTreeMap<usize, u32>,
}

impl Position {
    fn is_fixed(&self, but_for: Option<HeaderId>) -> bool {
        self.movable.iter().all(|(header, bits)| *bits == 0 || but_for.is_some_and(|other| number(other) == *header))
    }

    fn advance(&mut self, header: Option<HeaderId>, width: u32) {
        self.filled = (self.filled + width) % WORD;
        self.owner = header;
        if let Some(header) = header {
            let bits = self.movable.entry(number(header)).or_default();
            *bits = (*bits + width) % WORD;
        }
    }
}

const WORD: u32 = 16;
/// A number and what follows it in its word fit into a limb.
const WIDEST_NUMBER: u32 = 48;

/// Whether data of a checksum are read from a place.
fn reads(data: &[HashInput], place: Place) -> bool {
    let wanted = Expression::place(place);
    data.iter().any(|input| match input {
        HashInput::Bits(value) => {
            let mut found = false;
            value.walk(&mut |inner| found |= *inner == wanted);
            found
        }
        HashInput::Field(field) => place == Place::Field(*field),
        HashInput::Payload => false,
    })
}

impl Body<'_, '_> {
    /// The data as parts; none if a part's place in its word is not known, or is shared in a way that cannot be
    /// subtracted.
    fn parts<'d>(&self, data: &'d [HashInput], subtract: bool) -> Option<Vec<Part<'d>>> {
        let mut parts = Vec::new();
        let mut left = data;
        let mut position = Position::default();
        while let Some((first, rest)) = left.split_first() {
            let whole = (position.filled == 0 && position.is_fixed(None)).then(|| self.whole_words(first, rest));
            if let Some((part, behind)) = whole.flatten() {
                parts.push(part);
                left = behind;
            } else {
                parts.push(self.number_in_word(first, &mut position, subtract)?);
                left = rest;
            }
        }
        let is_whole = position.filled == 0 && parts.iter().all(|part| !matches!(part, Part::Payload));
        (!subtract || is_whole).then_some(parts)
    }

    /// A part that fills whole words, and what is left of the data.
    fn whole_words<'d>(&self, first: &'d HashInput, rest: &'d [HashInput]) -> Option<(Part<'d>, &'d [HashInput])> {
        match first {
            HashInput::Bits(value) => {
                let width = self.width_of(value);
                (width != 0 && width <= 64 && width.is_multiple_of(WORD)).then_some((Part::Value(value), rest))
            }
            HashInput::Payload => rest.is_empty().then_some((Part::Payload, rest)),
            HashInput::Field(field) => self.bytes_from(*field, rest),
        }
    }

    /// Words of which each belongs to one header, or to values, are subtracted: all bits of such a word are present or absent together.
    fn number_in_word<'d>(&self, piece: &HashInput, position: &mut Position, subtract: bool) -> Option<Part<'d>> {
        let (header, value) = match piece {
            HashInput::Bits(value) => (None, value.clone()),
            HashInput::Field(field) if !self.program().field(*field).varbit => {
                (Some(field.header), Expression::Field(*field))
            }
            HashInput::Field(_) | HashInput::Payload => return None,
        };
        let Type::Bits(width @ 1..=WIDEST_NUMBER) = self.type_of(&value) else { return None };
        let is_shared = position.filled != 0 && position.owner != header;
        if !position.is_fixed(header) || (subtract && is_shared) {
            return None;
        }
        position.advance(header, width);
        Some(Part::Number { header, value, shift: (WORD - position.filled) % WORD })
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

    /// Adds data to a checksum of 16 bits, or subtracts them: adds the complement of each word. False if their words
    /// are not known, and nothing has been written.
    pub fn sum_words(
        &mut self,
        (data, subtract): (&[HashInput], bool),
        begin: Option<Place>,
        into: Place,
        complement: &'static str,
    ) -> bool {
        let Some(parts) = self.parts(data, subtract) else { return false };
        self.sum_terms(&[(parts, subtract)], begin, into, complement);
        true
    }

    /// Writes several additions to one checksum as one sum, which is folded once: how many there are in front of
    /// `statements`, at least two; or 0. Of the sum between them nothing is read. Folding is exact: a folded sum is 0
    /// only if all its words are.
    pub fn add_checksums(&mut self, statements: &[Statement]) -> usize {
        let Some(Statement::Call(Call::AddChecksum { sum, .. })) = statements.first() else { return 0 };
        let mut terms = Vec::new();
        for statement in statements {
            let Statement::Call(Call::AddChecksum { sum: other, data, subtract }) = statement else { break };
            let is_read = !terms.is_empty() && reads(data, *sum);
            let Some(parts) = self.parts(data, *subtract).filter(|_| other == sum && !is_read) else { break };
            terms.push((parts, *subtract));
        }
        if terms.len() < 2 {
            return 0;
        }
        self.sum_terms(&terms, Some(*sum), *sum, "");
        terms.len()
    }

    fn sum_terms(&mut self, terms: &[(Vec<Part>, bool)], begin: Option<Place>, into: Place, complement: &'static str) {
        let begin = begin.map(|place| self.place_value(place));
        let sum = self.temporary("sum");
        let none = Expr::long(0);
        let begin = begin.map_or(none.clone(), |value| Expr::call("walk_sum_number", [none, value, Expr::word(16)]));
        self.push(Stmt::declare("uint64_t", &sum, begin));
        for (part, subtract) in
            terms.iter().flat_map(|(parts, subtract)| parts.iter().map(move |part| (part, subtract)))
        {
            self.sum_part(&sum, part, *subtract);
        }
        let folded = Expr::call("walk_sum_end", [Expr::name(&sum)]);
        let result = if complement.is_empty() { folded } else { Expr::unary(complement, folded) };
        self.put_number(into, Expr::cast("uint16_t", result), 16);
    }

    fn sum_part(&mut self, sum: &str, part: &Part, subtract: bool) {
        let total = Expr::name(sum);
        match part {
            Part::Bytes { header, first, count } => {
                let base = self.header(*header);
                let function = if subtract { "walk_sum_subtract" } else { "walk_sum" };
                let pieces = self.pieces(*header, *first, *count).into_iter().map(|(first, count)| {
                    let start =
                        if first == 0 { base.clone() } else { Expr::binary("+", base.clone(), Expr::word(first)) };
                    Stmt::set(total.clone(), Expr::call(function, [total.clone(), start, Expr::word(count)]))
                });
                let pieces = pieces.collect();
                let valid = self.header_valid(*header);
                self.push(Stmt::when(valid, pieces));
            }
            Part::Value(value) => self.sum_number(total, value, 0, subtract),
            Part::Number { header: None, value, shift } => self.sum_number(total, value, *shift, subtract),
            Part::Number { header: Some(header), value, shift } => {
                let before = self.present.clone();
                let valid = self.header_valid(*header);
                let code = self.nested(|body| {
                    body.present[number(*header)] = Presence::Present;
                    body.sum_number(total, value, *shift, subtract);
                });
                self.present = before;
                self.push(Stmt::when(valid, code));
            }
            Part::Payload => {
                let arguments = [total.clone(), Expr::name("state->packet"), Expr::name("state->cursor")];
                self.push(Stmt::set(total, Expr::call("walk_sum_payload", arguments)));
            }
        }
    }

    /// A header's bytes, in pieces that are read without waiting for stores: a load of four bytes must wait until a
    /// narrower store before it is in the cache (12 cycles per packet of a router, on Zen 5). So a word of 16 bits with
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

    fn sum_number(&mut self, total: Expr, value: &Expression, shift: u32, subtract: bool) {
        let width = self.width_of(value);
        let mut value = self.value(value);
        if subtract {
            let bits = Expr::long(u64::MAX >> (64 - width));
            value = Expr::binary("^", Expr::cast("uint64_t", value), bits);
        }
        if shift != 0 {
            value = Expr::binary("<<", Expr::cast("uint64_t", value), Expr::word(shift));
        }
        let words = Expr::word((width + shift).next_multiple_of(WORD));
        let added = Expr::call("walk_sum_number", [total.clone(), value, words]);
        self.push(Stmt::set(total, added));
    }
}
