//! CRCs whose parameters a controller can set: BMv2's `crc16_custom` and `crc32_custom`.

use crate::Notes;

/// A CRC of a program, and the name by which a controller sets its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crc {
    pub name: String,
    /// Bits of the remainder: 16 or 32.
    pub width: u32,
    pub notes: Notes,
}

/// What a CRC computes with. Numbers are as wide as the remainder; the polynomial is without its highest power, the highest bit first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CrcParameters {
    pub polynomial: u32,
    /// The remainder before the first byte.
    pub initial: u32,
    /// Exclusive or with the remainder at the end.
    pub last: u32,
    /// Whether the lowest bit of each byte is its first.
    pub reflects_data: bool,
    /// Whether the bits of the remainder are in the opposite order at the end.
    pub reflects_remainder: bool,
}

impl CrcParameters {
    /// Those at the start, as BMv2 has them: of `crc16`, or of `crc32`.
    pub const fn at_start(width: u32) -> CrcParameters {
        let (polynomial, ends) = if width == 16 { (0x8005, 0) } else { (0x04c1_1db7, u32::MAX) };
        CrcParameters { polynomial, initial: ends, last: ends, reflects_data: true, reflects_remainder: true }
    }

    /// Whether all numbers have so many bits.
    pub const fn fit(&self, width: u32) -> bool {
        width >= 32 || (self.polynomial | self.initial | self.last) >> width == 0
    }

    /// The CRC of these bytes, in the low `width` bits: bit by bit, as BMv2 defines it.
    pub fn compute(&self, width: u32, bytes: &[u8]) -> u32 {
        let mask = u32::MAX >> (32 - width);
        let remainder = bytes.iter().fold(self.initial & mask, |remainder, byte| {
            let byte = if self.reflects_data { byte.reverse_bits() } else { *byte };
            self.remainder(width, remainder ^ u32::from(byte) << (width - 8))
        });
        let remainder = if self.reflects_remainder { remainder.reverse_bits() >> (32 - width) } else { remainder };
        (remainder ^ self.last) & mask
    }

    /// The remainder after eight more bits, which are at the top.
    pub fn remainder(&self, width: u32, top: u32) -> u32 {
        let mask = u32::MAX >> (32 - width);
        (0..8).fold(top, |remainder, _| {
            let divides = remainder >> (width - 1) & 1 == 1;
            (remainder << 1 ^ if divides { self.polynomial } else { 0 }) & mask
        })
    }
}

/// The name of the state array that holds the parameters of a CRC for compiled code. No register has such a name.
pub fn array_name(crc: &str) -> String {
    format!("parameters of {crc}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &[u8] = b"123456789";

    /// The check values of the catalogue of parametrised CRC algorithms (reveng).
    #[test]
    fn algorithms_of_the_catalogue_have_their_check_values() {
        let set = |polynomial, initial, last, reflects| CrcParameters {
            polynomial,
            initial,
            last,
            reflects_data: reflects,
            reflects_remainder: reflects,
        };
        let algorithms = [
            (16, CrcParameters::at_start(16), 0xbb3d),
            (32, CrcParameters::at_start(32), 0xcbf4_3926),
            (16, set(0x1021, 0xffff, 0, false), 0x29b1),
            (16, set(0x1021, 0xffff, 0xffff, true), 0x906e),
            (32, set(0x04c1_1db7, u32::MAX, u32::MAX, false), 0xfc89_1918),
            (32, set(0x1edc_6f41, u32::MAX, u32::MAX, true), 0xe306_9283),
            (32, set(0x8141_41ab, 0, 0, false), 0x3010_bf7f),
        ];
        for (width, parameters, check) in algorithms {
            assert_eq!(parameters.compute(width, DIGITS), check, "{parameters:x?}");
        }
    }
}
