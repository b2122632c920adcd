//! The cases of a parser state's choice as values with masks, of keys that are each a whole number of bytes.

use hlir::KeySet;
use hlir::build::arithmetic::ones;
use num_bigint::BigUint;

/// A value, and the mask of the bits that count.
pub type Masked = (BigUint, BigUint);

/// What a set has, one by one. None for a value set.
fn members(set: &KeySet, width: u32) -> Option<Vec<Masked>> {
    Some(match set {
        KeySet::Any => vec![(BigUint::ZERO, BigUint::ZERO)],
        KeySet::Value(value) => vec![(value.clone(), ones(width))],
        KeySet::Mask { value, mask } => vec![(value & mask, mask.clone())],
        KeySet::Range { low, high } => of_range(low, high, width),
        KeySet::Set(_) => return None,
    })
}

/// The least number of prefixes that have all of a range, and nothing else.
fn of_range(low: &BigUint, high: &BigUint, width: u32) -> Vec<Masked> {
    let (mut at, mut found) = (low.clone(), Vec::new());
    let all = ones(width);
    while at <= *high {
        let mut bits = at.trailing_zeros().unwrap_or(width.into()).min(width.into()) as u32;
        while bits > 0 && &at + ones(bits) > *high {
            bits -= 1;
        }
        found.push((at.clone(), &all ^ ones(bits)));
        at += BigUint::from(1u8) << bits;
    }
    found
}

/// The values and masks of a case, each of all keys together. None if there is a value set among them.
pub fn of_case(sets: &[KeySet], widths: &[u32]) -> Option<Vec<Masked>> {
    let mut all = vec![(BigUint::ZERO, BigUint::ZERO)];
    for (set, width) in sets.iter().zip(widths) {
        let (members, bits) = (members(set, *width)?, width.div_ceil(8) * 8);
        // Bits that fill a byte up are zero in both.
        let joined = all.iter().flat_map(|(value, mask)| {
            members.iter().map(move |(more, its)| ((value << bits) | more, (mask << bits) | its))
        });
        all = joined.collect();
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_prefixes() {
        let range = |low: u32, high: u32, width| of_range(&low.into(), &high.into(), width);
        let of = |pairs: &[(u32, u32)]| {
            pairs.iter().map(|(value, mask)| ((*value).into(), (*mask).into())).collect::<Vec<Masked>>()
        };
        assert_eq!(range(0, 255, 8), of(&[(0, 0)]));
        assert_eq!(range(1, 6, 4), of(&[(1, 15), (2, 14), (4, 14), (6, 15)]));
        assert_eq!(range(7, 7, 4), of(&[(7, 15)]));
        assert_eq!(range(15, 15, 4), of(&[(15, 15)]));
    }

    #[test]
    fn keys_fill_whole_bytes() {
        let case = [KeySet::Value(1u8.into()), KeySet::Any, KeySet::Value(0x123u32.into())];
        let expected = (BigUint::from(0x0100_0123u32), BigUint::from(0x0700_0fffu32));
        assert_eq!(of_case(&case, &[3, 8, 12]), Some(vec![expected]));
    }
}
