//! Matches and action data as bytes: a million entries must leave room for the tables of the data plane.
//!
//! Numbers are little-endian and have the bytes of their width. A key is packed in its normal form, so two matches that match the same
//! values are the same bytes: an exact key as its value, all others as two numbers (value and mask, or the ends of the range).

use super::bytes::Bytes;
use hlir::{Match, MatchKind};
use num_bigint::BigUint;

/// Kind and width in bits of one key.
pub type Field = (MatchKind, u32);

/// Bytes of the priority, with which a key begins.
pub const PRIORITY_BYTES: usize = 4;

/// Bytes of one field of a key.
pub fn field_bytes((kind, width): &Field) -> usize {
    bytes_of(*width) * if *kind == MatchKind::Exact { 1 } else { 2 }
}

/// Bytes of a number of `width` bits.
pub fn bytes_of(width: u32) -> usize {
    (width.div_ceil(8) as usize).max(1)
}

/// Puts a number that fits `width` bits at the front of `to`, which is what is behind it from then on.
pub fn put(to: &mut &mut [u8], value: &BigUint, width: u32) {
    let (number, rest) = std::mem::take(to).split_at_mut(bytes_of(width));
    *to = rest;
    if width <= 64 {
        let word = value.iter_u64_digits().next().unwrap_or(0);
        number.copy_from_slice(&word.to_le_bytes()[..number.len()]);
    } else {
        let digits = value.to_bytes_le().into_iter();
        number.iter_mut().zip(digits).for_each(|(byte, digit)| *byte = digit);
    }
}

/// Takes a number of `width` bits from the front.
pub fn take(from: &mut &[u8], width: u32) -> BigUint {
    let (number, rest) = from.split_at(bytes_of(width));
    *from = rest;
    BigUint::from_bytes_le(number)
}

fn ones(width: u32) -> BigUint {
    (BigUint::from(1u32) << width) - 1u32
}

/// The most significant `prefix` bits of `width`.
fn prefix_mask(prefix: u32, width: u32) -> BigUint {
    ones(width) ^ ones(width - prefix.min(width))
}

/// One key of an entry; it suits the field.
fn put_match(to: &mut &mut [u8], found: &Match, (kind, width): Field) {
    let mut two = |first: &BigUint, second: &BigUint| {
        put(to, first, width);
        put(to, second, width);
    };
    match (kind, found) {
        (MatchKind::Exact, Match::Exact(value)) => put(to, value, width),
        (MatchKind::Range, Match::Range { low, high }) => two(low, high),
        (MatchKind::Range, Match::Exact(value)) => two(value, value),
        (MatchKind::Range, _) => two(&BigUint::ZERO, &ones(width)),
        (_, Match::Exact(value)) => two(value, &ones(width)),
        (_, Match::Lpm { value, prefix }) => {
            let mask = prefix_mask(*prefix, width);
            two(&(value & &mask), &mask)
        }
        (_, Match::Ternary { value, mask }) => two(&(value & mask), mask),
        (_, Match::Range { .. } | Match::Any) => two(&BigUint::ZERO, &BigUint::ZERO),
    }
}

/// All keys of an entry and its priority.
pub fn key(matches: &[Match], priority: u32, fields: impl Iterator<Item = Field> + Clone) -> Bytes {
    let length =
        PRIORITY_BYTES + matches.iter().zip(fields.clone()).map(|(_, field)| field_bytes(&field)).sum::<usize>();
    Bytes::filled(length, |room| {
        let (number, mut rest) = room.split_at_mut(PRIORITY_BYTES);
        number.copy_from_slice(&priority.to_le_bytes());
        matches.iter().zip(fields).for_each(|(found, field)| put_match(&mut rest, found, field));
    })
}

/// Numbers of these widths.
pub fn data<'a>(numbers: impl Iterator<Item = (&'a BigUint, u32)> + Clone) -> Bytes {
    let length = numbers.clone().map(|(_, width)| bytes_of(width)).sum();
    Bytes::filled(length, |mut room| numbers.for_each(|(number, width)| put(&mut room, number, width)))
}

fn take_match(from: &mut &[u8], (kind, width): Field) -> Match {
    let value = take(from, width);
    if kind == MatchKind::Exact {
        return Match::Exact(value);
    }
    let second = take(from, width);
    match kind {
        MatchKind::Range if value == BigUint::ZERO && second == ones(width) => Match::Any,
        MatchKind::Range => Match::Range { low: value, high: second },
        _ if second == BigUint::ZERO => Match::Any,
        MatchKind::Lpm => Match::Lpm { value, prefix: second.count_ones() as u32 },
        MatchKind::Optional => Match::Exact(value),
        MatchKind::Ternary | MatchKind::Exact => Match::Ternary { value, mask: second },
    }
}

/// The keys and the priority that were packed.
pub fn unpacked(mut key: &[u8], fields: &[Field]) -> (Vec<Match>, u32) {
    let (priority, rest) = key.split_at(PRIORITY_BYTES);
    let priority = u32::from_le_bytes([priority[0], priority[1], priority[2], priority[3]]);
    key = rest;
    (fields.iter().map(|field| take_match(&mut key, *field)).collect(), priority)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [Field; 5] = [
        (MatchKind::Exact, 9),
        (MatchKind::Lpm, 32),
        (MatchKind::Ternary, 128),
        (MatchKind::Range, 16),
        (MatchKind::Optional, 1),
    ];

    fn number(value: u32) -> BigUint {
        BigUint::from(value)
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        let matches = vec![
            Match::Exact(number(0x1ff)),
            Match::Lpm { value: number(0x0a00_0000), prefix: 8 },
            Match::Ternary { value: number(1) << 127, mask: number(1) << 127 },
            Match::Range { low: number(3), high: number(7) },
            Match::Exact(number(1)),
        ];
        assert_eq!(unpacked(&key(&matches, 7, FIELDS.into_iter()), &FIELDS), (matches, 7));
        let any = vec![Match::Exact(number(0)), Match::Any, Match::Any, Match::Any, Match::Any];
        assert_eq!(unpacked(&key(&any, 0, FIELDS.into_iter()), &FIELDS), (any, 0));
    }

    #[test]
    fn matches_of_the_same_values_are_the_same_key() {
        let lpm = [(MatchKind::Lpm, 32)];
        let same = |one: Match, other: Match, fields: &[Field]| {
            key(&[one], 0, fields.iter().copied()) == key(&[other], 0, fields.iter().copied())
        };
        assert!(same(Match::Any, Match::Lpm { value: number(5), prefix: 0 }, &lpm));
        assert!(same(Match::Exact(number(5)), Match::Lpm { value: number(5), prefix: 32 }, &lpm));
        assert!(!same(Match::Exact(number(5)), Match::Lpm { value: number(5), prefix: 31 }, &lpm));
        let ternary = [(MatchKind::Ternary, 16)];
        let masked = |value, mask| Match::Ternary { value: number(value), mask: number(mask) };
        assert!(same(masked(0x1234, 0xff), masked(0x34, 0xff), &ternary));
        let range = [(MatchKind::Range, 8)];
        assert!(same(Match::Any, Match::Range { low: number(0), high: number(255) }, &range));
        assert!(same(Match::Exact(number(9)), Match::Range { low: number(9), high: number(9) }, &range));
    }
}
