//! Bits in bytes, most significant first: reading fields from a packet, and gathering fields into bytes.

use hlir::value::{Bits, Value};
use num_bigint::BigUint;

/// The `width` bits from bit `offset` on, which must be there.
pub fn read_bits(bytes: &[u8], offset: usize, width: u32) -> Value {
    let end = offset + width as usize;
    let covering = &bytes[offset / 8..end.div_ceil(8)];
    let below = end.div_ceil(8) * 8 - end;
    if covering.len() > size_of::<u128>() {
        return Value::big(&(BigUint::from_bytes_be(covering) >> below), width);
    }
    let word = covering.iter().fold(0, |word, byte| word << 8 | u128::from(*byte));
    Value::word(word >> below, width)
}

/// A growing string of bits; its last byte is padded with zeros.
#[derive(Clone, Debug, Default)]
pub struct BitString {
    bytes: Vec<u8>,
    bits: usize,
}

impl BitString {
    /// Empty, with room for so many bytes.
    pub fn with_room(bytes: usize) -> BitString {
        BitString { bytes: Vec::with_capacity(bytes), bits: 0 }
    }

    pub fn push(&mut self, value: &Value) {
        match &value.bits {
            Bits::Word(word) => self.push_word(*word, value.width as usize),
            Bits::Wide(wide) => self.push_wide(wide, value.width),
        }
    }

    pub fn push_bytes(&mut self, bytes: &[u8]) {
        if self.bits.is_multiple_of(8) {
            self.bytes.extend_from_slice(bytes);
            self.bits += bytes.len() * 8;
        } else {
            bytes.iter().for_each(|byte| self.push_word(u128::from(*byte), 8));
        }
    }

    /// The same, its padding made part of it.
    pub fn whole_bytes(self) -> BitString {
        BitString { bits: self.bytes.len() * 8, bytes: self.bytes }
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn push_word(&mut self, word: u128, width: usize) {
        if self.bits.is_multiple_of(8) && width.is_multiple_of(8) {
            self.bytes.extend_from_slice(&word.to_be_bytes()[size_of::<u128>() - width / 8..]);
            self.bits += width;
            return;
        }
        let mut left = width;
        while left > 0 {
            if self.bits.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let room = 8 - self.bits % 8;
            let taken = room.min(left);
            let chunk = (word >> (left - taken)) as u8 & (0xff >> (8 - taken)) as u8;
            let last = self.bytes.len() - 1;
            self.bytes[last] |= chunk << (room - taken);
            self.bits += taken;
            left -= taken;
        }
    }

    fn push_wide(&mut self, wide: &BigUint, width: u32) {
        let digits = wide.to_bytes_be();
        let odd = width as usize % 8;
        let whole = width.div_ceil(8) as usize;
        let mut padded = vec![0; whole - digits.len().min(whole)];
        padded.extend_from_slice(&digits);
        if odd > 0 {
            self.push_word(u128::from(padded.remove(0)), odd);
        }
        self.push_bytes(&padded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pushed_is_read_back_at_every_width_and_offset() {
        for width in [1, 7, 8, 33, 64, 65, 128, 129, 200, 203] {
            for offset in 0..9u32 {
                let value = Value::word(0x5a5a_a5a5_1234_5678_9abc_def0_0f0f_f0f1, width);
                let value = value.binary(hlir::Binary::Multiply, &Value::word(u128::MAX, width));
                let mut string = BitString::default();
                string.push(&Value::word(u128::MAX, offset));
                string.push(&value);
                string.push(&Value::word(1, 1));
                let bytes = string.into_bytes();
                assert_eq!(bytes.len(), (offset + width + 1).div_ceil(8) as usize);
                assert_eq!(read_bits(&bytes, offset as usize, width), value, "{width} at {offset}");
                assert_eq!(read_bits(&bytes, (offset + width) as usize, 1), Value::word(1, 1));
            }
        }
    }

    #[test]
    fn bytes_follow_whatever_was_there() {
        let mut string = BitString::default();
        string.push(&Value::word(1, 4));
        string.push_bytes(&[0x23, 0x45]);
        assert_eq!(string.into_bytes(), [0x12, 0x34, 0x50]);
    }
}
