//! Bit strings of any width as vector values, and their bytes in the packet.

use super::steps::Steps;
use super::{Number, Operator, ROW_BYTES, Step};
use std::collections::BTreeSet;

/// A bit string: 32 bits per step, least significant first. Bits above its width are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits {
    pub width: u32,
    pub parts: Vec<Number>,
}

/// The lowest `width` bits set.
pub fn ones(width: u32) -> u32 {
    if width >= 32 { u32::MAX } else { (1 << width) - 1 }
}

impl Bits {
    /// The only part of a string of at most 32 bits.
    pub fn narrow(&self) -> Option<Number> {
        match self.parts.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }
}

impl Steps {
    fn shifted(&mut self, operator: Operator, number: Number, by: u32) -> Number {
        let by = self.constant(by);
        self.operate(operator, number, by)
    }

    /// Truncates a step to its lowest bits.
    pub fn fit(&mut self, number: Number, width: u32) -> Number {
        let mask = self.constant(ones(width));
        self.operate(Operator::And, number, mask)
    }

    /// `width` bits of a bit string from bit `low` on; zeros beyond its end.
    pub fn slice(&mut self, bits: &Bits, low: u32, width: u32) -> Bits {
        let zero = self.constant(0);
        let mut parts = Vec::new();
        for at in (0..width).step_by(32) {
            let (part, by) = (((low + at) / 32) as usize, (low + at) % 32);
            let part_of = |index: usize| bits.parts.get(index).copied().unwrap_or(zero);
            let mut value = self.shifted(Operator::ShiftRight, part_of(part), by);
            if by > 0 {
                let above = self.shifted(Operator::ShiftLeft, part_of(part + 1), 32 - by);
                value = self.operate(Operator::Or, value, above);
            }
            parts.push(self.fit(value, width - at));
        }
        Bits { width, parts }
    }

    /// Non-overlapping strings at given positions of one of `width` bits.
    pub fn placed<'b>(&mut self, width: u32, strings: impl IntoIterator<Item = (u32, &'b Bits)>) -> Bits {
        let mut parts = vec![self.constant(0); width.div_ceil(32) as usize];
        for (shift, bits) in strings {
            for (index, part) in bits.parts.iter().enumerate() {
                let at = shift + 32 * index as u32;
                let (first, by) = ((at / 32) as usize, at % 32);
                let low = self.shifted(Operator::ShiftLeft, *part, by);
                parts[first] = self.operate(Operator::Or, parts[first], low);
                if by > 0 && first + 1 < parts.len() {
                    let high = self.shifted(Operator::ShiftRight, *part, 32 - by);
                    parts[first + 1] = self.operate(Operator::Or, parts[first + 1], high);
                }
            }
        }
        Bits { width, parts }
    }

    /// `width` bits of the packet from bit `bit` on. Words begin `phase` bytes after multiples of four.
    pub fn packet(&mut self, bit: u32, width: u32, phase: u32) -> Bits {
        let mut pieces = Vec::new();
        let mut from = bit;
        while from < bit + width {
            let byte = from / 8;
            // Bytes before the first word share a word of their own.
            let word = if byte < phase { 0 } else { byte - (byte - phase) % 4 };
            let end = if byte < phase { 8 * phase } else { 8 * (word + 4) };
            // Pieces of different words are separate strings.
            let to = end.min(bit + width);
            let whole = self.read(Step::Word(word));
            let piece = self.shifted(Operator::ShiftRight, whole, 8 * (word + 4) - to);
            let piece = Bits { width: to - from, parts: vec![self.fit(piece, to - from)] };
            pieces.push((bit + width - to, piece));
            from = to;
        }
        self.placed(width, pieces.iter().map(|(shift, piece)| (*shift, piece)))
    }

    /// The sum of the 16-bit words in bytes `from` to `to` of the packet, an even number of bytes.
    pub fn packet_sum(&mut self, from: u32, to: u32, phase: u32) -> Number {
        let mut sum = self.constant(0);
        let mut byte = from;
        while byte < to {
            let is_word = byte >= phase && (byte - phase).is_multiple_of(4) && byte + 4 <= to;
            let value = self.packet(8 * byte, if is_word { 32 } else { 16 }, phase).parts[0];
            let low = self.fit(value, 16);
            let high = self.shifted(Operator::ShiftRight, value, 16);
            sum = self.operate(Operator::Add, sum, low);
            sum = self.operate(Operator::Add, sum, high);
            byte += if is_word { 4 } else { 2 };
        }
        sum
    }

    /// Folds a sum of fewer than 65,536 words to 16 bits (RFC 1071, section 4.1).
    pub fn folded(&mut self, sum: Number) -> Number {
        let mut sum = sum;
        for _ in 0..2 {
            let low = self.fit(sum, 16);
            let high = self.shifted(Operator::ShiftRight, sum, 16);
            sum = self.operate(Operator::Add, low, high);
        }
        // The carry of the first fold is below the number of words, so the second fold has none.
        self.bound(sum, 0xffff);
        sum
    }
}

/// The rows that hold the words of the steps, and the bytes that a packet needs for them. Rows in `anyway`
/// are used where they hold all words.
pub fn loaded(steps: &[Step], taken: u32, anyway: &[u32]) -> (Vec<u32>, u32) {
    let word = |step: &Step| if let Step::Word(word) = step { Some(*word) } else { None };
    let mut words: Vec<u32> = steps.iter().filter_map(word).collect();
    words.sort_unstable();
    let held: Option<BTreeSet<u32>> = words.iter().map(|word| row_with(anyway, *word)).collect();
    let rows = held.map_or_else(|| rows(&words), |held| held.into_iter().collect());
    let bytes = rows.iter().map(|row| row + ROW_BYTES).chain([taken]).max().unwrap_or(0);
    (rows, bytes)
}

/// The row that holds a word.
fn row_with(rows: &[u32], word: u32) -> Option<u32> {
    let holds = |row: &u32| (*row..*row + ROW_BYTES).contains(&word) && (word - row).is_multiple_of(4);
    rows.iter().copied().find(holds)
}

/// The fewest rows that hold these words, given in ascending order; none reaches farther than needed.
fn rows(words: &[u32]) -> Vec<u32> {
    let mut rows: Vec<u32> = Vec::new();
    for &word in words {
        if row_with(&rows, word).is_some() {
            continue;
        }
        let alike = |other: &u32| (other - word).is_multiple_of(4);
        let end = words.iter().filter(|other| **other >= word && alike(other)).max().map_or(word, |last| last + 4);
        let last = end.saturating_sub(ROW_BYTES);
        let last = if last % 4 == word % 4 && end >= ROW_BYTES { last } else { word };
        rows.push(word.min(last));
    }
    rows
}
