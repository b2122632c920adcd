//! Parameters of CRCs as compiled code has them.

use super::NativeEngine;
use hlir::{CrcId, CrcParameters};
use runtime::{CRC_WORDS, WorkerPorts};

impl<L: WorkerPorts> NativeEngine<'_, L> {
    /// Sets what the store has.
    pub(super) fn write_crc(&self, crc: CrcId) {
        let Some(register) = self.numbers.crc(crc) else { return };
        let width = self.program.crcs[crc].width;
        let words = self.store.crc(crc).map(|parameters| words(width, &parameters));
        self.switch.set_crc(register, words.as_ref());
    }
}

fn reversed(value: u32, width: u32) -> u32 {
    value.reverse_bits() >> (32 - width)
}

/// `struct hash_crc` of runtime/extern/hash.h. Where data are reflected, so is the remainder, and is shifted to the right; else it is at
/// the top of its word.
fn words(width: u32, parameters: &CrcParameters) -> [u32; CRC_WORDS] {
    let shift = 32 - width;
    let mut words = [0; CRC_WORDS];
    for (byte, word) in (0..=u8::MAX).zip(&mut words) {
        let of = |byte: u8| parameters.remainder(width, u32::from(byte) << (width - 8));
        *word = match parameters.reflects_data {
            true => reversed(of(byte.reverse_bits()), width),
            false => of(byte) << shift,
        };
    }
    let last = match parameters.reflects_data {
        true => {
            let at_end = if parameters.reflects_remainder { 0 } else { width };
            [reversed(parameters.initial, width), parameters.last, 1, at_end, 0]
        }
        false => {
            let at_end = if parameters.reflects_remainder { width } else { 0 };
            [parameters.initial << shift, parameters.last, 0, at_end, shift]
        }
    };
    words[256..].copy_from_slice(&last);
    words
}
