//! Numbers that look random, the same for the same seed (splitmix64).

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    /// Random bits, or the patterns at which arithmetic turns: zero, one, all ones, the sign alone.
    pub fn bits(&mut self, width: usize) -> Vec<bool> {
        match self.below(8) {
            0 => vec![false; width],
            1 => vec![true; width],
            2 => (0..width).map(|at| at + 1 == width).collect(),
            3 => (0..width).map(|at| at == 0).collect(),
            _ => (0..width).map(|_| self.next() & 1 == 1).collect(),
        }
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// Bits as a hexadecimal number of P4 and STF.
pub fn hex(bits: &[bool]) -> String {
    let padded: Vec<bool> = std::iter::repeat_n(false, (4 - bits.len() % 4) % 4).chain(bits.iter().copied()).collect();
    let digit = |four: &[bool]| four.iter().fold(0u32, |sum, bit| sum << 1 | u32::from(*bit));
    let digits: String = padded.chunks(4).filter_map(|four| char::from_digit(digit(four), 16)).collect();
    format!("0x{digits}")
}
