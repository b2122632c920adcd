//! Checksums and hashes of v1model, over bits that are filled up with zeros to whole bytes.

use num_bigint::BigInt;

use super::{Run, unsupported};

pub fn bytes_of(bits: &[bool]) -> Vec<u8> {
    let byte =
        |chunk: &[bool]| (0..8).fold(0, |byte, bit| byte << 1 | u8::from(chunk.get(bit).copied().unwrap_or(false)));
    bits.chunks(8).map(byte).collect()
}

/// The value of an algorithm by its name in `HashAlgorithm`.
pub fn digest(algorithm: &str, bits: &[bool]) -> Run<BigInt> {
    let bytes = bytes_of(bits);
    Ok(match algorithm {
        "csum16" => BigInt::from(ones_complement(&bytes)),
        "xor16" => BigInt::from(words(&bytes).fold(0, |sum, word| sum ^ word)),
        // docs/language.md: the custom CRCs are the plain ones until a controller sets their parameters.
        "crc16" | "crc16_custom" => BigInt::from(reflected_crc(&bytes, 0xa001, 0)),
        "crc32" | "crc32_custom" => BigInt::from(!reflected_crc(&bytes, 0xedb8_8320, 0xffff_ffff)),
        "identity" => first_eight(&bytes),
        other => return unsupported(format!("algorithm {other}")),
    })
}

/// `HashAlgorithm.identity` is a number of 64 bits in BMv2: the first eight bytes.
fn first_eight(bytes: &[u8]) -> BigInt {
    BigInt::from_bytes_be(num_bigint::Sign::Plus, &bytes[..bytes.len().min(8)])
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
}

fn ones_complement(bytes: &[u8]) -> u16 {
    let mut sum: u64 = words(bytes).map(u64::from).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn reflected_crc(bytes: &[u8], polynomial: u32, start: u32) -> u32 {
    let mut crc = start;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ polynomial } else { crc >> 1 };
        }
    }
    crc
}
