//! Numbers for entries and traffic: the same for the same seed, on every machine.

/// splitmix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(bound)) >> 64) as u64
    }
}

/// `count` different numbers of `width` bits, scattered, the same for the same seed: an odd multiplier makes a bijection.
pub fn scattered(count: u64, width: u32, seed: u64) -> impl Iterator<Item = u64> + Clone {
    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    assert!(count <= mask, "there are that many numbers of the width");
    let multiplier = Random::new(seed).draw() | 1;
    (1..=count).map(move |i| i.wrapping_mul(multiplier) & mask)
}
