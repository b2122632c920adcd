//! Parameters of CRCs for compiled code: `struct hash_crc` of runtime/extern/hash.h.
//!
//! A state array of 32-bit words holds them. The first word is the number of the set in use, 0 for none; then there is room for two sets:
//!
//! ```text
//! in use | set 1 | set 2
//! ```
//!
//! A new set is written to the place that is not in use. No packet sees half of one, and a burst uses one set to its end.

use crate::quiescent::{NO_TABLE, Readers};
use crate::state::Register;
use crate::switch::Switch;
use crate::worker_ports::WorkerPorts;
use std::sync::atomic::{Ordering, fence};

/// Words of a set: remainders of all bytes, then five more.
pub const CRC_WORDS: usize = 256 + 5;

fn word(register: &Register, at: usize) -> u32 {
    register.read(at as u64).map_or(0, |limbs| limbs[0] as u32)
}

fn begin_of(set: u32) -> usize {
    1 + (set as usize - 1) * CRC_WORDS
}

/// Whether this is what is in use.
fn has(register: &Register, words: Option<&[u32; CRC_WORDS]>) -> bool {
    match (word(register, 0), words) {
        (0, words) => words.is_none(),
        (_, None) => false,
        (set, Some(words)) => (begin_of(set)..).zip(words).all(|(at, wanted)| word(register, at) == *wanted),
    }
}

fn put(register: &Register, words: Option<&[u32; CRC_WORDS]>, readers: &Readers) {
    if has(register, words) {
        return;
    }
    let set = words.map_or(0, |words| {
        let set = if word(register, 0) == 1 { 2 } else { 1 };
        for (at, word) in (begin_of(set)..).zip(words) {
            register.write(at as u64, &[u64::from(*word)]);
        }
        set
    });
    fence(Ordering::Release);
    register.write(0, &[u64::from(set)]);
    // The next set is written to where the one before this is.
    readers.wait(NO_TABLE, false);
}

impl<L: WorkerPorts> Switch<L> {
    /// Sets the parameters of a CRC, whose state array is that register of the pipeline that the control plane writes to; none for those of
    /// the start. No burst sees the old ones from then on.
    pub fn set_crc(&self, register: usize, words: Option<&[u32; CRC_WORDS]>) {
        put(&self.written_registers()[register], words, &self.state.readers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline;

    #[test]
    fn a_set_is_written_beside_the_one_in_use() {
        let description = pipeline::Register {
            name: "parameters of calc".to_string(),
            size: 1 + 2 * CRC_WORDS as u64,
            width: 32,
            element_bytes: 4,
            initial: Vec::new(),
        };
        let register = Register::new(&description).expect("there is room");
        let readers = Readers::new(0);
        let sets = [[7; CRC_WORDS], [8; CRC_WORDS], [9; CRC_WORDS]];
        for (set, used) in sets.iter().zip([1, 2, 1]) {
            put(&register, Some(set), &readers);
            assert_eq!((word(&register, 0), has(&register, Some(set))), (used, true));
            put(&register, Some(set), &readers);
            assert_eq!(word(&register, 0), used);
        }
        put(&register, None, &readers);
        assert!(has(&register, None) && !has(&register, Some(&sets[2])));
    }
}
