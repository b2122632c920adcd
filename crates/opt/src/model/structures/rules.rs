//! The cost of lookups among rules that are compared: one by one, in blocks, or in hash tables of equal masks.

use super::{Cost, Keyed};
use crate::model::cache_line::{LINE_BYTES, Line};
use hlir::MatchKind;

/// Largest number of rules that are compared linearly, without buckets.
const SCAN_TOGETHER: u64 = 48;
/// 32-bit words of a key up to which a scan compares single rules (`SCAN_RULE_WORDS`).
const WORDS_OF_RULE: f64 = 4.0;
/// With so few distinct masks, some chunk of the key mostly distinguishes the rules. (Prefixes shorter than a
/// chunk do not, and are not counted.)
const FEW_MASKS: u64 = 2;
/// Operations per block of rules, linear and in buckets; per bucket search; and per range, since keys with
/// ranges are converted first (counted in groups of the firewall's keys, and fitted to lookups of random
/// rules).
const BLOCK: f64 = 12.0;
const BLOCK_OF_BUCKET: f64 = 22.0;
const BUCKET: f64 = 30.0;
const RANGE_OF_BUCKET: f64 = 10.0;
/// Blocks that most keys compare, and mispredictions per block beyond (fitted to lookups of random rules).
const EVEN_BLOCKS: f64 = 2.0;
const UNEVEN_BLOCK: f64 = 0.3;
/// Average number of prefixes of a key beside the longest one (counted in random prefixes of IPv6; 0.4 in a
/// router's).
const COVERING_PREFIXES: f64 = 0.7;
/// Tuples up to which few keys match more than one pair, and mispredictions per tuple beyond (fitted
/// likewise).
const EVEN_TUPLES: f64 = 5.0;
const UNEVEN_TUPLE: f64 = 0.3;
/// Length of the dependency chain from key to record, for rules: it makes a lookup expensive packet by packet
/// even with all lines in L1 (fitted to the firewall with its rules in each structure, and to mpls). Few
/// blocks have a shorter chain than buckets.
const CHAIN_OF_BUCKETS: f64 = 105.0;
const CHAIN_TO_BLOCKS: f64 = 44.0;
const CHAIN_OF_BLOCK: f64 = 22.0;
const CHAIN_OF_TUPLES: f64 = 75.0;
/// Operations that compare a limb of the key with a constant of the code, and keep the number of the entry: a mask, a
/// comparison, a conditional move (counted in the code).
const COMPARED: f64 = 4.0;

/// How the rules of a scan are organized: no buckets, one mask per bucket, or buckets of uneven size.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Buckets {
    None,
    OfOne,
    Uneven,
}

impl Keyed {
    pub(super) fn compare(&self) -> Cost {
        let blocks = (self.entries as f64 / 8.0).ceil();
        let vectors = blocks * self.words * 8.0 / self.limbs_per_vector;
        let operations = 14.0 + 8.0 * blocks * self.words + 2.0 * vectors;
        Cost::new(operations, vec![Line::single(192 + (blocks * self.words) as u64 * LINE_BYTES, 1.0)])
    }

    pub(super) fn code(&self) -> Cost {
        Cost::new(COMPARED * self.entries as f64 * self.words, Vec::new())
    }

    /// Eight rules per block, compared word by word. Of many rules most are in buckets. Counted in firewall
    /// rules: a thousand rules leave eight blocks to compare, a hundred leave three; rules with equal masks
    /// hardly more than the matching one.
    pub(super) fn scan(&self) -> Cost {
        let blocks = (self.entries as f64 / 8.0).ceil();
        let bucket = BUCKET + RANGE_OF_BUCKET * self.ranges();
        let compared = self.compared();
        let (block, search) = match self.buckets() {
            Buckets::None => (BLOCK, 0.0),
            Buckets::OfOne => (BLOCK, bucket),
            Buckets::Uneven => (BLOCK_OF_BUCKET, bucket),
        };
        // A row of a block has eight 32-bit words, so wider vectors do not help.
        let vectors = (4.0 / self.limbs_per_vector).max(1.0);
        let operations = 50.0 + search + compared * (block + vectors * (3.0 * self.halves() + self.ranges()));
        let block_lines = self.halves();
        // A bucket of a key with more words than single rules may have is a block, though it has one rule.
        let is_block_of_one = matches!(self.buckets(), Buckets::OfOne) && self.halves() > WORDS_OF_RULE;
        let held = if is_block_of_one { self.entries as f64 } else { blocks };
        let (mispredictions, chain) = match self.buckets() {
            Buckets::None => (0.0, (CHAIN_TO_BLOCKS + CHAIN_OF_BLOCK * compared).min(CHAIN_OF_BUCKETS)),
            Buckets::OfOne => (0.0, CHAIN_OF_BUCKETS),
            Buckets::Uneven => (UNEVEN_BLOCK * (compared - EVEN_BLOCKS).max(0.0), CHAIN_OF_BUCKETS),
        };
        let saved_in_group = self.scan_savings(operations);
        let lines = self.streamed(held * block_lines, compared * block_lines);
        Cost { saved_in_group, mispredictions, chain, ..Cost::new(operations, lines) }
    }

    /// Operations saved per lookup in a group, counted in instructions for 5-tuples.
    fn scan_savings(&self, operations: f64) -> f64 {
        match self.buckets() {
            // Sixteen keys per vector of eight words; 32 with vectors of twice the size and three-operand
            // instructions.
            Buckets::None if self.limbs_per_vector >= 4.0 => {
                let rule = if self.limbs_per_vector >= 8.0 {
                    (6.0 * self.halves() + 5.0) / 32.0
                } else {
                    (8.0 * self.halves() + 5.0) / 16.0
                };
                (operations - 14.0 - self.entries as f64 * rule).max(0.0)
            }
            // Bucket parameters stay in registers, but mispredictions cancel the gain.
            Buckets::Uneven => 0.0,
            Buckets::None | Buckets::OfOne => 45.0,
        }
    }

    /// Blocks of rules that a scan compares with a key.
    fn compared(&self) -> f64 {
        let blocks = (self.entries as f64 / 8.0).ceil();
        match self.buckets() {
            Buckets::None => blocks,
            Buckets::OfOne => self.masks as f64,
            Buckets::Uneven => (3.0 + self.entries as f64 / 200.0).min(blocks),
        }
    }

    fn buckets(&self) -> Buckets {
        match self.entries {
            0..=SCAN_TOGETHER => Buckets::None,
            _ if self.masks <= FEW_MASKS => Buckets::OfOne,
            _ => Buckets::Uneven,
        }
    }

    /// A head per tuple, and the pairs of rules in matching buckets. Counted in firewall rules: sixteen are
    /// in two tuples, a hundred in four, a thousand in eight. Where masks are unselective, pairs are compared
    /// in proportion. A key has few matching prefixes.
    pub(super) fn tuple_space(&self) -> Cost {
        let tuples = self.tuples();
        let is_prefix = |(kind, _): &(MatchKind, u32)| matches!(kind, MatchKind::Exact | MatchKind::Lpm);
        let pairs = 1.0 + if self.keys.iter().all(is_prefix) { COVERING_PREFIXES } else { tuples * 0.65 };
        let units = (f64::from(self.bits) / 128.0).ceil();
        // A pair's unit is two rows of four words.
        let vectors = (4.0 / self.limbs_per_vector).max(1.0);
        let operations = 25.0 + tuples * (5.0 + 5.0 * self.words) + pairs * (15.0 + 11.0 * units * vectors);
        let heads = Line::parallel(self.entries * 24, tuples);
        let units_read =
            Line { parallel: pairs, ..Line::single(self.entries * LINE_BYTES * units as u64, pairs * units) };
        Cost {
            saved_in_group: 0.2 * operations,
            mispredictions: UNEVEN_TUPLE * (tuples - EVEN_TUPLES).max(0.0),
            chain: CHAIN_OF_TUPLES,
            ..Cost::new(operations, vec![heads, units_read])
        }
    }

    /// At most one more than there are masks: the tuple of the empty mask.
    fn tuples(&self) -> f64 {
        ((self.entries as f64).log2() - 2.0).clamp(1.0, 32.0).min(1.0 + self.masks as f64)
    }

    /// A list ends at the block with the matching rule, which can be any.
    pub(super) fn list(&self) -> Cost {
        let blocks = (self.entries as f64 / 8.0).ceil();
        let block_lines = 1.0 + self.words * if self.ranges() > 0.0 { 3.0 } else { 2.0 };
        // On average, half of the rules are compared.
        let compared = (blocks / 2.0).max(1.0);
        let vectors = 8.0 / self.limbs_per_vector;
        // Steps are dependent: with four rules a list takes 9 cycles more than an array with the same lines
        // (ipv4fwd, Zen 3).
        let operations = 30.0 + compared * (15.0 + 7.5 * vectors * self.words + 20.5 * self.ranges());
        let lines = self.streamed(blocks * block_lines, compared * block_lines);
        Cost { mispredictions: 1.0 - 1.0 / blocks, ..Cost::new(operations, lines) }
    }

    fn ranges(&self) -> f64 {
        self.keys.iter().filter(|(kind, _)| *kind == MatchKind::Range).count() as f64
    }

    /// 32-bit words that rules are compared in.
    fn halves(&self) -> f64 {
        (f64::from(self.bits) / 32.0).ceil()
    }

    /// Lines read in sequence whose addresses do not depend on each other.
    fn streamed(&self, lines: f64, read: f64) -> Vec<Line> {
        vec![Line::parallel(lines as u64 * LINE_BYTES, read)]
    }
}
