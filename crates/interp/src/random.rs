//! Random numbers that do not depend on scheduling: a function of the seed, the packet's number, and how many the packet has drawn before.
//!
//! The C runtime has the same function, so both engines draw the same numbers at every burst size and on any number of workers.
//!
//! ```text
//! mix(x):    x += 0x9e3779b97f4a7c15                       all arithmetic modulo 2^64
//!            x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9
//!            x = (x ^ x >> 27) * 0x94d049bb133111eb
//!            x ^ x >> 31
//! draw n of a packet, from 0:           mix((seed ^ mix(packet)) + n)
//! number of a copy, ordinal from 1:     mix(parent ^ ordinal)
//! ```
//!
//! A number from `low` to `high`, up to 64 bits wide, is `low + draw mod (high - low + 1)`, or the draw itself if that range is all of 2^64. A wider one
//! uses as many draws as it has 64-bit limbs, the first for the lowest limb. If `high < low` the result is `low`, and the draws are spent all the same.
//!
//! | seed | packet | draws 0, 1, 2 |
//! |---|---|---|
//! | 0 | 0 | `0xa706dd2f4d197e6f` `0x2a98f501af37e97f` `0x82876e1c4f0b438c` |
//! | 1 | 7 | `0x3d41bf495cd3075f` `0xb8b4c2977eabce45` `0x27e8ac81e7bc3b89` |

use num_bigint::BigUint;

pub fn mix(value: u64) -> u64 {
    let x = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// The number of a copy or of a packet that enters again; the first copy of a packet has ordinal 1.
pub fn copy_number(parent: u64, ordinal: u64) -> u64 {
    mix(parent ^ ordinal)
}

/// The draws of one packet.
#[derive(Clone, Debug)]
pub struct Draws {
    base: u64,
    count: u64,
}

impl Draws {
    pub fn new(seed: u64, packet: u64) -> Draws {
        Draws { base: seed ^ mix(packet), count: 0 }
    }

    pub fn draw(&mut self) -> u64 {
        let draw = mix(self.base.wrapping_add(self.count));
        self.count += 1;
        draw
    }

    /// A number from `low` to `high`, `width` bits wide.
    pub fn between(&mut self, low: &BigUint, high: &BigUint, width: u32) -> BigUint {
        let limbs = width.div_ceil(64).max(1);
        let draw = (0..limbs).fold(BigUint::ZERO, |sum, limb| sum + (BigUint::from(self.draw()) << (64 * limb)));
        if high < low {
            return low.clone();
        }
        low + draw % (high - low + 1u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_the_ones_of_the_table() {
        let mut draws = Draws::new(0, 0);
        let mut others = Draws::new(1, 7);
        let numbers: Vec<String> = (0..3).map(|_| format!("{:#018x}", draws.draw())).collect();
        let more: Vec<String> = (0..3).map(|_| format!("{:#018x}", others.draw())).collect();
        let documentation = include_str!("random.rs");
        assert!(documentation.contains(&format!("| 0 | 0 | `{}` |", numbers.join("` `"))), "{numbers:?}");
        assert!(documentation.contains(&format!("| 1 | 7 | `{}` |", more.join("` `"))), "{more:?}");
    }

    #[test]
    fn both_ends_are_drawn_and_nothing_beyond() {
        let mut draws = Draws::new(3, 0);
        let (low, high) = (BigUint::from(5u8), BigUint::from(8u8));
        let mut seen = [0u32; 16];
        for _ in 0..200 {
            let number = draws.between(&low, &high, 4);
            seen[usize::try_from(number).expect("a number of 4 bits fits")] += 1;
        }
        assert!(seen[5..=8].iter().all(|count| *count > 20), "{seen:?}");
        assert_eq!(seen.iter().sum::<u32>(), seen[5..=8].iter().sum::<u32>());
    }

    #[test]
    fn the_whole_range_of_64_bits_is_the_draw_itself() {
        let mut draws = Draws::new(9, 4);
        let expected = Draws::new(9, 4).draw();
        assert_eq!(draws.between(&BigUint::ZERO, &BigUint::from(u64::MAX), 64), BigUint::from(expected));
    }

    #[test]
    fn wide_numbers_begin_with_the_lowest_limb() {
        let mut single = Draws::new(2, 2);
        let (low, high) = (BigUint::from(single.draw()), BigUint::from(single.draw()));
        let all_ones = (BigUint::from(1u8) << 128u32) - 1u8;
        assert_eq!(Draws::new(2, 2).between(&BigUint::ZERO, &all_ones, 128), low + (high << 64u32));
    }

    #[test]
    fn an_empty_range_gives_its_low_end_and_spends_the_draw() {
        let mut draws = Draws::new(2, 2);
        assert_eq!(draws.between(&BigUint::from(5u8), &BigUint::from(4u8), 8), BigUint::from(5u8));
        assert_eq!(draws.count, 1);
    }
}
