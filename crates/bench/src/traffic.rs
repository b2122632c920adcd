//! Which entry a packet is for: drawn uniformly, or by Zipf's law, where the entry of rank n comes 1/n as often as the first. And how long it is.

use driver::random::Random;
use std::fmt;

/// Traces are made from this, and entries as well.
pub const SEED: u64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    Uniform,
    /// With exponent 1.
    Zipf,
    /// Uniform, in frames of the lengths of the Internet's mix.
    Imix,
    /// Packets of a file.
    Capture,
}

/// Lengths of frames, and how many of twelve have them.
const IMIX: [(usize, usize); 3] = [(64, 7), (594, 4), (1518, 1)];

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Traffic::Uniform => "uniform",
            Traffic::Zipf => "zipf",
            Traffic::Imix => "imix",
            Traffic::Capture => "capture",
        })
    }
}

impl Traffic {
    const ALL: [Traffic; 4] = [Traffic::Uniform, Traffic::Zipf, Traffic::Imix, Traffic::Capture];

    /// Lengths of the frames, in turn, if a frame has to have so many bytes.
    pub fn lengths(self, least: usize) -> Vec<usize> {
        match self {
            Traffic::Uniform | Traffic::Zipf | Traffic::Capture => vec![least],
            Traffic::Imix => {
                let each = |(length, count): (usize, usize)| std::iter::repeat_n(length.max(least), count);
                IMIX.into_iter().flat_map(each).collect()
            }
        }
    }

    pub fn named(name: &str) -> Option<Traffic> {
        Traffic::ALL.into_iter().find(|traffic| traffic.to_string() == name)
    }

    /// An index below `count`. Entries are in no order that a table would know, so that rank may be index.
    pub fn draw(self, random: &mut Random, count: u64) -> u64 {
        match self {
            Traffic::Uniform | Traffic::Imix | Traffic::Capture => random.below(count),
            Traffic::Zipf => {
                // The inverse of the continuous distribution: exact in the tail, close at the head.
                let unit = (random.draw() >> 11) as f64 / (1u64 << 53) as f64;
                let rank = (unit * ((count + 1) as f64).ln()).exp() as u64;
                (rank - 1).min(count - 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_rank_comes_about_half_as_often() {
        let mut random = Random::new(SEED);
        let mut seen = [0u32; 1000];
        for _ in 0..1_000_000 {
            seen[Traffic::Zipf.draw(&mut random, 1000) as usize] += 1;
        }
        let ratio = |a: usize, b: usize| f64::from(seen[a]) / f64::from(seen[b]);
        assert!((1.4..2.2).contains(&ratio(0, 1)) && (1.7..2.3).contains(&ratio(9, 19)) && ratio(99, 999) > 5.0);
        assert!(seen.iter().all(|count| *count > 0));
    }

    #[test]
    fn frames_of_the_mix_are_no_shorter_than_their_headers() {
        let lengths = Traffic::Imix.lengths(82);
        assert_eq!((lengths.len(), lengths[0], lengths.iter().sum::<usize>()), (12, 82, 7 * 82 + 4 * 594 + 1518));
        assert_eq!(Traffic::Zipf.lengths(64), [64]);
    }

    #[test]
    fn uniform_traffic_reaches_everything() {
        let mut random = Random::new(SEED);
        let mut seen = [0u32; 4];
        (0..1000).for_each(|_| seen[Traffic::Uniform.draw(&mut random, 4) as usize] += 1);
        assert!(seen.iter().all(|count| (200..300).contains(count)), "{seen:?}");
    }
}
