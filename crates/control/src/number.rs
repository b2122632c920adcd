//! Numbers as P4Runtime has them: big-endian bytes.

use num_bigint::BigUint;

/// All bytes that a value of this width has, as the entries of a program are written.
pub fn padded(value: &BigUint, width: u32) -> Vec<u8> {
    let digits = value.to_bytes_be();
    let length = (width.div_ceil(8) as usize).max(1);
    let mut bytes = vec![0; length.saturating_sub(digits.len())];
    bytes.extend(digits);
    bytes
}

/// A width or count for a signed field of 32 bits; larger ones saturate.
pub fn int32(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}

pub fn int64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
