//! Hashes and checksums over bytes, as every engine computes them.
//!
//! The data are the concatenated pieces of a hash call, most significant bit first, padded with zeros at the end to a whole byte.
//!
//! | algorithm | of `31 32 33 34 35 36 37 38 39` | definition |
//! |---|---|---|
//! | `Crc32` | `0xcbf43926` | polynomial 0x04C11DB7 reflected, all ones before, complemented after |
//! | `Crc16` | `0xbb3d` | polynomial 0x8005 reflected, zero before and after |
//! | `Identity` | `0x3132333435363738` | the first eight bytes as a big-endian number |
//! | `InternetChecksum` | `0xf62a` | complement of the ones' complement sum of big-endian 16-bit words, a last byte padded with zero |
//! | `Xor16` | `0x3908` | exclusive or of big-endian 16-bit words, a last byte padded with zero |
//! | `Target` | `0x982d267ba75a59a0` | see below |
//!
//! The custom CRCs are the plain ones until a controller sets their parameters ([`hlir::CrcParameters`]).
//!
//! `Target`: `h` begins as the number of bytes; for every eight bytes, read as a big-endian number
//! `w` (the last ones padded with zeros at the end), `h = mix(h ^ w)`, with `mix` of [`crate::random`].

use crate::random::mix;
use hlir::Algorithm;

/// With the parameters that CRCs have at the start.
pub fn hash(algorithm: Algorithm, data: &[u8]) -> u64 {
    match algorithm {
        Algorithm::Crc32 | Algorithm::Crc32Custom(_) => u64::from(!crc(data, u32::MAX, 0xedb8_8320)),
        Algorithm::Crc16 | Algorithm::Crc16Custom(_) => u64::from(crc(data, 0, 0xa001)),
        Algorithm::Identity => data.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte)),
        Algorithm::InternetChecksum => u64::from(!ones_complement_sum(0, data)),
        Algorithm::Xor16 => u64::from(words(data).fold(0, |all, word| all ^ word)),
        Algorithm::Target => target(data),
    }
}

/// Adds the data to a ones' complement sum.
pub fn ones_complement_sum(sum: u16, data: &[u8]) -> u16 {
    words(data).fold(sum, ones_complement_add)
}

/// Takes the data off a ones' complement sum, by adding their complement.
pub fn ones_complement_subtract(sum: u16, data: &[u8]) -> u16 {
    words(data).fold(sum, |sum, word| ones_complement_add(sum, !word))
}

fn ones_complement_add(sum: u16, word: u16) -> u16 {
    let (sum, carry) = sum.overflowing_add(word);
    sum + u16::from(carry)
}

/// Big-endian words of 16 bits; a last single byte is the upper half of its word.
fn words(data: &[u8]) -> impl Iterator<Item = u16> {
    data.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
}

/// A reflected cyclic redundancy check of up to 32 bits.
fn crc(data: &[u8], start: u32, polynomial: u32) -> u32 {
    data.iter().fold(start, |remainder, byte| {
        (0..8).fold(remainder ^ u32::from(*byte), |remainder, _| {
            let subtract = if remainder & 1 == 1 { polynomial } else { 0 };
            remainder >> 1 ^ subtract
        })
    })
}

fn target(data: &[u8]) -> u64 {
    data.chunks(8).fold(data.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(hash ^ u64::from_be_bytes(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nine_digits_hash_as_the_table_says() {
        let documentation = include_str!("hash.rs");
        let algorithms = [
            (Algorithm::Crc32, "Crc32"),
            (Algorithm::Crc16, "Crc16"),
            (Algorithm::Identity, "Identity"),
            (Algorithm::InternetChecksum, "InternetChecksum"),
            (Algorithm::Xor16, "Xor16"),
            (Algorithm::Target, "Target"),
        ];
        for (algorithm, name) in algorithms {
            let value = hash(algorithm, b"123456789");
            assert!(documentation.contains(&format!("| `{name}` | `{value:#x}` |")), "{name} {value:#x}");
        }
    }

    #[test]
    fn the_checksum_of_an_ipv4_header_is_the_one_it_carries() {
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00,
            0xc7,
        ];
        assert_eq!(hash(Algorithm::InternetChecksum, &header), 0xb861);
    }

    #[test]
    fn what_was_added_can_be_taken_off() {
        let sum = ones_complement_sum(0, &[0x12, 0x34, 0xff, 0xff, 0x80]);
        let less = ones_complement_subtract(sum, &[0xff, 0xff, 0x80]);
        assert_eq!(less, 0x1234);
        assert_eq!(ones_complement_sum(0xffff, &[0, 1]), 1);
    }

    #[test]
    fn nothing_hashes_to_the_start_value() {
        assert_eq!(hash(Algorithm::Crc32, &[]), 0);
        assert_eq!(hash(Algorithm::Target, &[]), 0);
        assert_eq!(hash(Algorithm::InternetChecksum, &[]), 0xffff);
    }
}
