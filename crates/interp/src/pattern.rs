//! What one key of an entry, or one field of a value set's member, matches.

use hlir::Match;
use hlir::value::Bits;
use num_bigint::BigUint;

/// A match in normal form: of two that a key's kind takes, those that match the same keys are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// `key & mask == value`; `value` has no bits outside `mask`.
    Masked { value: Bits, mask: Bits },
    /// Both ends included.
    Range { low: Bits, high: Bits },
}

impl Pattern {
    /// The pattern of a match on a key of `width` bits, whatever the key's kind.
    pub fn new(found: &Match, width: u32) -> Pattern {
        let masked =
            |value: &BigUint, mask: Bits| Pattern::Masked { value: Bits::from_big(value, width).and(&mask), mask };
        match found {
            Match::Exact(value) => masked(value, Bits::ones(width)),
            Match::Lpm { value, prefix } => masked(value, prefix_mask(*prefix, width)),
            Match::Ternary { value, mask } => masked(value, Bits::from_big(mask, width)),
            Match::Any => masked(&BigUint::ZERO, Bits::zero(width)),
            Match::Range { low, high } => {
                let (first, last) = (Bits::from_big(low, width), Bits::from_big(high, width));
                if first == last {
                    return Pattern::new(&Match::Exact(low.clone()), width);
                }
                if first == Bits::zero(width) && last == Bits::ones(width) {
                    return Pattern::new(&Match::Any, width);
                }
                Pattern::Range { low: first, high: last }
            }
        }
    }

    pub fn matches(&self, key: &Bits) -> bool {
        match self {
            Pattern::Masked { value, mask } => key.and(mask) == *value,
            Pattern::Range { low, high } => low <= key && key <= high,
        }
    }

    /// The bits that a hash can be made of.
    pub fn mask(&self, width: u32) -> Bits {
        match self {
            Pattern::Masked { mask, .. } => mask.clone(),
            Pattern::Range { .. } => Bits::zero(width),
        }
    }

    /// The value of those bits.
    pub fn value(&self, width: u32) -> Bits {
        match self {
            Pattern::Masked { value, .. } => value.clone(),
            Pattern::Range { .. } => Bits::zero(width),
        }
    }
}

/// The most significant `prefix` bits.
fn prefix_mask(prefix: u32, width: u32) -> Bits {
    let ones = Bits::ones(width).to_big();
    Bits::from_big(&(&ones - (&ones >> prefix)), width)
}

/// Bits of a longest-prefix match.
pub fn prefix_length(found: &Match, width: u32) -> u32 {
    match found {
        Match::Lpm { prefix, .. } => *prefix,
        Match::Exact(_) => width,
        Match::Ternary { .. } | Match::Range { .. } | Match::Any => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn big(value: u64) -> BigUint {
        BigUint::from(value)
    }

    #[test]
    fn a_prefix_may_be_anything_from_nothing_to_the_whole_key() {
        for width in [1, 9, 32, 128, 200] {
            assert_eq!(prefix_mask(0, width), Bits::zero(width));
            assert_eq!(prefix_mask(width, width), Bits::ones(width));
        }
        assert_eq!(prefix_mask(3, 9), Bits::from_word(0b1_1100_0000, 9));
    }

    #[test]
    fn bits_outside_the_mask_do_not_matter() {
        let pattern = Pattern::new(&Match::Ternary { value: big(0x1111), mask: big(0xf) }, 16);
        assert!(pattern.matches(&Bits::from_word(0xabc1, 16)));
        assert!(!pattern.matches(&Bits::from_word(0x1112, 16)));
    }

    #[test]
    fn ranges_include_their_ends() {
        let pattern = Pattern::new(&Match::Range { low: big(3), high: big(5) }, 200);
        let matched: Vec<u128> = (0..8).filter(|value| pattern.matches(&Bits::from_word(*value, 200))).collect();
        assert_eq!(matched, [3, 4, 5]);
    }

    #[test]
    fn a_range_of_one_value_or_of_all_is_no_other_match_than_these() {
        let range = |low, high| Pattern::new(&Match::Range { low: big(low), high: big(high) }, 8);
        assert_eq!(range(0, 255), Pattern::new(&Match::Any, 8));
        assert_eq!(range(7, 7), Pattern::new(&Match::Exact(big(7)), 8));
        assert_ne!(range(0, 254), Pattern::new(&Match::Any, 8));
    }
}
