//! Numbers as P4Runtime has them: big-endian bytes, read with any padding, written in the shortest form.

use crate::failure::{Failure, Outcome};
use num_bigint::BigUint;
use tonic::Code;

/// The number, if it has a byte at all and fits `width` bits.
pub fn read(bytes: &[u8], width: u32, place: &str) -> Outcome<BigUint> {
    if bytes.is_empty() {
        return Err(Failure::new(Code::OutOfRange, format!("the value of `{place}` is empty")));
    }
    let value = BigUint::from_bytes_be(bytes);
    if value.bits() > u64::from(width) {
        let sentence = format!("the value of `{place}` does not fit {width} bits");
        return Err(Failure::new(Code::OutOfRange, sentence));
    }
    Ok(value)
}

pub fn write(value: &BigUint) -> Vec<u8> {
    value.to_bytes_be()
}

/// A number in two's complement, as the `width` bits that the switch keeps.
pub fn read_signed(bytes: &[u8], width: u32, place: &str) -> Outcome<BigUint> {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    if bytes.is_empty() || width == 0 {
        return read(bytes, width, place);
    }
    if !negative {
        return read(bytes, width - 1, place);
    }
    let inverted: Vec<u8> = bytes.iter().map(|byte| !byte).collect();
    Ok(ones(width) - read(&inverted, width - 1, place)?)
}

pub fn write_signed(value: &BigUint, width: u32) -> Vec<u8> {
    if width == 0 || !value.bit(u64::from(width) - 1) {
        let mut bytes = value.to_bytes_be();
        if bytes[0] & 0x80 != 0 {
            bytes.insert(0, 0);
        }
        return bytes;
    }
    let mut bytes = (ones(width) - value).to_bytes_be();
    if bytes[0] & 0x80 != 0 {
        bytes.insert(0, 0);
    }
    bytes.iter().map(|byte| !byte).collect()
}

pub fn ones(width: u32) -> BigUint {
    (BigUint::from(1u32) << width) - 1u32
}

/// A number in a field with a sign.
pub fn int32(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// A count or a time in a field with a sign.
pub fn int64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A count that may not be negative.
pub fn count(number: i64, place: &str) -> Outcome<u64> {
    u64::try_from(number).map_err(|_| Failure::invalid(format!("{place} is negative")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bytes: &[u8], width: u32) -> Option<u32> {
        let value = read(bytes, width, "x").ok()?;
        Some(value.try_into().expect("it is small"))
    }

    fn signed(bytes: &[u8], width: u32) -> Option<Vec<u8>> {
        Some(write_signed(&read_signed(bytes, width, "x").ok()?, width))
    }

    #[test]
    fn any_padding_that_fits_is_read() {
        assert_eq!(number(&[0x63], 8), Some(99));
        assert_eq!(number(&[0, 0x63], 16), Some(99));
        assert_eq!(number(&[0, 0x30, 0x64], 16), Some(12388));
        assert_eq!(number(&[0, 0, 0x63], 12), Some(99));
    }

    #[test]
    fn what_does_not_fit_is_out_of_range() {
        for (bytes, width) in [
            (&[1, 0x63][..], 8),
            (&[], 8),
            (&[1, 0, 0x63], 16),
            (&[0x10, 0x63], 12),
            (&[1, 0, 0x63], 12),
            (&[0, 0x40, 0x63], 12),
        ] {
            assert_eq!(read(bytes, width, "x").map_err(|failure| failure.code), Err(Code::OutOfRange), "{bytes:?}");
        }
    }

    #[test]
    fn the_shortest_form_is_written() {
        assert_eq!(write(&BigUint::ZERO), [0]);
        assert_eq!(write(&BigUint::from(12388u32)), [0x30, 0x64]);
    }

    #[test]
    fn signed_numbers_keep_their_sign() {
        assert_eq!(signed(&[0x9d], 8), Some(vec![0x9d]));
        assert_eq!(signed(&[0xff, 0x9d], 8), Some(vec![0x9d]));
        assert_eq!(signed(&[0xfd, 0x1d], 12), Some(vec![0xfd, 0x1d]));
        assert_eq!(signed(&[0, 0], 16), Some(vec![0]));
        assert_eq!(signed(&[0, 0x9d], 16), Some(vec![0, 0x9d]));
        assert_eq!(signed(&[0, 0x9d], 8), None);
        assert_eq!(signed(&[0x8d, 0x1d], 12), None);
        assert_eq!(signed(&[], 16), None);
    }
}
