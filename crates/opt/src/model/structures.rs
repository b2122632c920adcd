//! The cost of a lookup in each data structure: operations, and the cache lines that it reads in sequence.
//!
//! Taken from the layouts in `runtime/table`: a structure that changes its layout changes here. No number
//! depends on a processor.

mod arrays;
mod hashes;
mod sets;
mod trees;

use super::cache_line::{LINE_BYTES, Line};
use super::operations::limbs;
use super::records;
use crate::inputs::prefix_coverage::Coverage;
use crate::inputs::{Content, Machine};
use hlir::plan::Structure;
use hlir::{MatchKind, Program, Table, TableId};

/// Dependent operations between two lines of a lookup: compare, then compute the next address. In a trie,
/// bits of the key are extracted and counted in each node's bitmap.
const STEP: f64 = 6.0;
const STEP_OF_TRIE: f64 = 18.0;
const STEP_OF_TREE: f64 = 12.0;
/// Trie nodes per misprediction: whether a prefix ends in the node, and whether the walk goes on.
const NODES_PER_MISPREDICTION: f64 = 2.0;
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
const CHAIN_OF_SETS: f64 = 80.0;
/// Operations around one step of a trie walk, where a group's steps are made together.
const WALK: f64 = 24.0;
/// Mispredictions of the loop over a tree's level: all have the same trip count, and the body has no branches
/// (fitted to groups of 8 to 64 in ipv6fwd).
const LEVEL_LOOP: f64 = 0.65;
/// Dependent operations until a lookup's first address is known: a hash, or shifts (fitted to a sweep of
/// l2fwd and ipv4fwd without prefetches).
const HASHING: f64 = 30.0;
const INDEXING: f64 = 8.0;

/// Operations of a lookup in an empty table: loads of the table's address and of whether it has entries, a
/// test (counted in the code). A group asks once.
const ASK_EMPTY: f64 = 4.0;

/// Operations that compare a limb of the key with a constant of the code, and keep the number of the entry: a mask, a
/// comparison, a conditional move (counted in the code).
const COMPARED: f64 = 4.0;

/// The cost of a table's lookups in one structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub structure: Structure,
    /// Operations for hash, address and comparison.
    pub operations: f64,
    /// In reading order; each needs the one before. The last is the action record.
    pub lines: Vec<Line>,
    /// Operations saved per lookup where the structure looks up all keys of a group at once.
    pub group_savings: Option<f64>,
    /// Branch mispredictions per lookup.
    pub mispredictions: f64,
    /// Share of the lookups that read a second line after their first.
    pub second_line: f64,
    /// Dependent operations before the first line; and the same where a group's addresses were computed
    /// before.
    pub address_latency: f64,
    pub grouped_address_latency: f64,
    /// Dependent operations between two lines.
    pub step: f64,
    /// Length of the dependency chain from key to record, where it exceeds the steps between lines.
    pub chain: f64,
    /// Loops over a group per grouped lookup; more than one where each level prefetches the next.
    pub loops: f64,
}

impl Shape {
    /// Cycles of the loops of a grouped lookup.
    pub fn loops_cycles(&self, machine: &Machine) -> f64 {
        let cycles = if self.structure == Structure::Btree {
            LEVEL_LOOP * machine.mispredict_cycles
        } else if self.structure == Structure::LpmTrie {
            machine.mispredict_cycles
        } else {
            machine.stages().loop_cycles
        };
        self.loops * cycles
    }

    /// Lookups for few keys touch no more than the lines of these keys, however large the table is.
    pub fn limit_to_keys(&mut self, keys: u64) {
        self.lines.iter_mut().for_each(|line| *line = line.limited_to(keys));
    }

    /// All bytes that lookups can touch.
    pub fn bytes(&self) -> u64 {
        self.lines.iter().map(|line| line.footprint.bytes()).sum()
    }

    /// Whether the structure has room for the table's content, and for what it may come to hold. A declared
    /// size must fit as a whole. Without one, there must be room for four times the entries. Long prefixes
    /// are few where they were counted.
    fn has_room(&self, program: &Program, id: TableId, content: &Content) -> bool {
        let table = &program.tables[id];
        // Packets may insert as many entries as declared, and see it when there is no room.
        if table.add_on_miss && !self.structure.has_room(table.capacity()) {
            return false;
        }
        let most = if table.entries_constant { Some(content.entries) } else { table.capacity() };
        let entries = match (self.structure.most_entries(), most) {
            (None, _) => true,
            (Some(limit), Some(size)) => size <= limit,
            (Some(limit), None) => content.is_known && content.entries <= limit / 4,
        };
        let limit = self.structure.most_records();
        let records = limit.is_none_or(|limit| records::have_room(program, id, content, most, limit));
        // Exact fields before the prefix make any prefix a long one, if keys are long enough.
        let all_long = !content.is_known || table.keys.len() > 1;
        let long = if all_long { most.unwrap_or(content.entries) } else { content.long_prefixes };
        let is_short = program.key_kinds(id).iter().map(|(_, width)| width).sum::<u32>() <= 24;
        let limit = self.structure.most_long_prefixes().filter(|_| !is_short);
        let long = limit.is_none_or(|limit| long <= limit - limit / 10);
        // Insertion into a perfect hash may take long, so it is for constant entries only.
        let written = table.entries_constant || self.structure != Structure::Perfect;
        entries && records && long && written
    }
}

/// `struct record_head` of runtime/table/table.h.
const RECORD_HEAD_BYTES: u64 = 16;

/// Bytes of an action record: the action's number, then the parameters, each aligned to its size.
fn record_bytes(table: &Table) -> u64 {
    let parameter = |width: u32| u64::from(width.div_ceil(8).next_power_of_two().min(8)) * limbs(width) as u64;
    let action = |action: &hlir::Action| -> u64 { action.parameters.iter().map(|it| parameter(it.width)).sum() };
    4 + table.actions.iter().map(action).max().unwrap_or(0)
}

/// How the rules of a scan are organized: no buckets, one mask per bucket, or buckets of uneven size.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Buckets {
    None,
    OfOne,
    Uneven,
}

/// What the cost of a structure depends on.
struct Keyed {
    keys: Vec<(MatchKind, u32)>,
    bits: u32,
    /// 64-bit limbs of a key.
    words: f64,
    entries: u64,
    long_prefixes: u64,
    coverage: Option<[Coverage; 3]>,
    /// Distinct combinations of masks.
    masks: u64,
    /// 64-bit limbs per vector.
    limbs_per_vector: f64,
}

impl Shape {
    /// A lookup in a table without entries asks for that alone, whatever the structure is. It reads the line of
    /// the default action's record.
    fn empty(table: &Table, structure: Structure) -> Shape {
        Shape {
            structure,
            operations: ASK_EMPTY,
            lines: vec![Line::single(record_bytes(table), 1.0)],
            group_savings: structure.is_grouped().then_some(ASK_EMPTY / 2.0),
            mispredictions: 0.0,
            second_line: 0.0,
            address_latency: 0.0,
            grouped_address_latency: 0.0,
            step: 0.0,
            chain: 0.0,
            loops: 1.0,
        }
    }
}

/// The cost of lookups in this table, in a structure that can hold its keys, with vectors of so many bytes.
pub fn shape(program: &Program, id: TableId, structure: Structure, content: &Content, vector_bytes: u32) -> Shape {
    let table = &program.tables[id];
    if content.is_empty() {
        return Shape::empty(table, structure);
    }
    let keys = program.key_kinds(id);
    let bits: u32 = keys.iter().map(|(_, width)| width).sum();
    let keyed = Keyed {
        bits,
        words: limbs(bits),
        entries: content.entries.max(1),
        long_prefixes: content.long_prefixes,
        coverage: content.coverage,
        masks: content.masks.max(1),
        limbs_per_vector: f64::from(vector_bytes) / 8.0,
        keys,
    };
    let (operations, mut lines) = keyed.lookup_cost(structure);
    let group_savings = keyed.group_savings(structure, operations);
    let records = if program.has_own_records(id) { keyed.entries } else { content.records.clamp(1, keyed.entries) };
    // The record is one more line, unless all entries share a few: then it stays in L1. Records of their own have heads.
    let head = if program.has_own_records(id) { RECORD_HEAD_BYTES } else { 0 };
    lines.push(Line::single(records * (record_bytes(table) + head), 1.0));
    // `begin`: 30 dependent instructions for a hash (two products), 8 for shifts.
    let address_latency = if structure.has_two_lines() || structure == Structure::Perfect { HASHING } else { INDEXING };
    Shape {
        structure,
        operations,
        lines,
        group_savings,
        mispredictions: keyed.mispredictions(structure),
        second_line: keyed.second_line(structure),
        address_latency,
        // A stage has computed all addresses before the first lookup, where vectors can (one or two limbs).
        grouped_address_latency: if structure.has_two_lines() && keyed.words <= 2.0 { 0.0 } else { address_latency },
        step: step(structure),
        chain: keyed.chain(structure),
        loops: keyed.loops(structure),
    }
}

fn step(structure: Structure) -> f64 {
    match structure {
        Structure::LpmTrie => STEP_OF_TRIE,
        Structure::Btree => STEP_OF_TREE,
        Structure::Exact
        | Structure::Exact48
        | Structure::Exact60
        | Structure::Dir24_8
        | Structure::Dir24_8U16
        | Structure::Dir24_8U8
        | Structure::Direct
        | Structure::Compare
        | Structure::Scan
        | Structure::BitVector
        | Structure::TupleSpace
        | Structure::Perfect
        | Structure::List
        | Structure::Code => STEP,
    }
}

impl Keyed {
    /// Operations for hash, address and comparison, and the lines that are read.
    fn lookup_cost(&self, structure: Structure) -> (f64, Vec<Line>) {
        match structure {
            Structure::Exact => self.exact(),
            Structure::Exact48 => (36.0, self.hashed(8.0, self.load_exact48())),
            Structure::Exact60 => (40.0, self.exact60()),
            Structure::Dir24_8 => self.dir24_8(4),
            Structure::Dir24_8U16 => self.dir24_8(2),
            Structure::Dir24_8U8 => self.dir24_8(1),
            Structure::LpmTrie => self.lpm_trie(),
            // Small keys are ports, VLANs, next-hop numbers: mostly assigned in sequence, so that several
            // share a line.
            Structure::Direct => {
                let array = 4u64 << self.bits.min(40);
                (3.0, vec![Line::single(array.min(self.entries * LINE_BYTES / 4), 1.0)])
            }
            Structure::Compare => {
                let blocks = (self.entries as f64 / 8.0).ceil();
                let vectors = blocks * self.words * 8.0 / self.limbs_per_vector;
                (
                    14.0 + 8.0 * blocks * self.words + 2.0 * vectors,
                    vec![Line::single(192 + (blocks * self.words) as u64 * LINE_BYTES, 1.0)],
                )
            }
            Structure::Scan => self.scan(),
            Structure::BitVector => self.bit_vector(),
            Structure::TupleSpace => self.tuple_space(),
            // A two-byte pilot for four keys, then the key's slot.
            Structure::Perfect => {
                let pilots = Line::single((self.entries / 4 * 2).max(LINE_BYTES), 1.0);
                (20.0, vec![pilots, Line::single(self.entries * 8, 1.0)])
            }
            Structure::Btree => self.btree(),
            Structure::List => self.list(),
            Structure::Code => (COMPARED * self.entries as f64 * self.words, Vec::new()),
        }
    }

    /// A grouped hash lookup has a second loop for keys that are not in their first bucket; a tree has a loop
    /// per level.
    fn loops(&self, structure: Structure) -> f64 {
        match structure {
            Structure::Exact | Structure::Exact48 | Structure::Exact60 => 2.0,
            Structure::Btree => self.levels(),
            Structure::LpmTrie => self.steps(),
            Structure::Dir24_8
            | Structure::Dir24_8U16
            | Structure::Dir24_8U8
            | Structure::Direct
            | Structure::Compare
            | Structure::Scan
            | Structure::BitVector
            | Structure::TupleSpace
            | Structure::Perfect
            | Structure::List
            | Structure::Code => 1.0,
        }
    }

    fn ranges(&self) -> f64 {
        self.keys.iter().filter(|(kind, _)| *kind == MatchKind::Range).count() as f64
    }

    /// 32-bit words that rules are compared in.
    fn halves(&self) -> f64 {
        (f64::from(self.bits) / 32.0).ceil()
    }

    /// Eight rules per block, compared word by word. Of many rules most are in buckets. Counted in firewall
    /// rules: a thousand rules leave eight blocks to compare, a hundred leave three; rules with equal masks
    /// hardly more than the matching one.
    fn scan(&self) -> (f64, Vec<Line>) {
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
        (operations, self.streamed(held * block_lines, compared * block_lines))
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
    fn tuple_space(&self) -> (f64, Vec<Line>) {
        let tuples = self.tuples();
        let is_prefix = |(kind, _): &(MatchKind, u32)| matches!(kind, MatchKind::Exact | MatchKind::Lpm);
        let pairs = 1.0 + if self.keys.iter().all(is_prefix) { COVERING_PREFIXES } else { tuples * 0.65 };
        let units = (f64::from(self.bits) / 128.0).ceil();
        // A pair's unit is two rows of four words.
        let vectors = (4.0 / self.limbs_per_vector).max(1.0);
        let operations = 25.0 + tuples * (5.0 + 5.0 * self.words) + pairs * (15.0 + 11.0 * units * vectors);
        let heads = Line::parallel(self.entries * 24, tuples);
        (
            operations,
            vec![
                heads,
                Line { parallel: pairs, ..Line::single(self.entries * LINE_BYTES * units as u64, pairs * units) },
            ],
        )
    }

    /// At most one more than there are masks: the tuple of the empty mask.
    fn tuples(&self) -> f64 {
        ((self.entries as f64).log2() - 2.0).clamp(1.0, 32.0).min(1.0 + self.masks as f64)
    }

    /// Operations saved per lookup in a group, counted in instructions for 5-tuples.
    fn group_savings(&self, structure: Structure, operations: f64) -> Option<f64> {
        let saved = match structure {
            // Sixteen keys per vector of eight words; 32 with vectors of twice the size and three-operand
            // instructions.
            Structure::Scan if self.entries <= SCAN_TOGETHER && self.limbs_per_vector >= 4.0 => {
                let rule = if self.limbs_per_vector >= 8.0 {
                    (6.0 * self.halves() + 5.0) / 32.0
                } else {
                    (8.0 * self.halves() + 5.0) / 16.0
                };
                (operations - 14.0 - self.entries as f64 * rule).max(0.0)
            }
            // Bucket parameters stay in registers, but mispredictions cancel the gain.
            Structure::Scan if self.buckets() == Buckets::Uneven => 0.0,
            Structure::Scan => 45.0,
            Structure::BitVector => (operations - self.bit_vector_group_operations()).max(0.0),
            Structure::TupleSpace => 0.2 * operations,
            // Each step reloads and spills a walk's state.
            Structure::LpmTrie => -WALK * self.steps(),
            // Eight dependent steps at a time are not always hidden by the other eight (fitted to a sweep of
            // ipv6fwd).
            Structure::Btree => -2.0 * self.levels(),
            // Results are stored at once, and the commit phase of an all-hit group needs no hit test. Four
            // keys of one limb are hashed at once. Counted in l2fwd.
            Structure::Exact if self.words > 1.0 => 11.0,
            // With vectors of a whole line, one instruction compacts the match; cores issue half as many such
            // instructions.
            Structure::Exact48 if self.limbs_per_vector >= 8.0 => 18.0,
            // The words are computed from the keys, once more than their lines are.
            Structure::Exact60 if self.limbs_per_vector >= 8.0 => 17.0,
            Structure::Exact60 => 13.0,
            Structure::Exact | Structure::Exact48 => 17.0,
            // The array's address stays in a register, and words are compared together. Counted in lookups of
            // 16K keys, like all operations here.
            Structure::Perfect if self.limbs_per_vector >= 4.0 => 10.0,
            Structure::Perfect => 3.0,
            // One load in both cases.
            Structure::Dir24_8
            | Structure::Dir24_8U16
            | Structure::Dir24_8U8
            | Structure::Direct
            | Structure::Compare
            | Structure::List
            | Structure::Code => 0.0,
        };
        structure.is_grouped().then_some(saved)
    }

    /// A list ends at the block with the matching rule, which can be any. A trie walk differs from key to
    /// key.
    fn mispredictions(&self, structure: Structure) -> f64 {
        match structure {
            Structure::List => 1.0 - 1.0 / (self.entries as f64 / 8.0).ceil(),
            Structure::LpmTrie => (self.steps() - 1.0) / NODES_PER_MISPREDICTION,
            Structure::Scan if self.buckets() == Buckets::Uneven => {
                UNEVEN_BLOCK * (self.compared() - EVEN_BLOCKS).max(0.0)
            }
            Structure::TupleSpace => UNEVEN_TUPLE * (self.tuples() - EVEN_TUPLES).max(0.0),
            Structure::Exact
            | Structure::Exact48
            | Structure::Exact60
            | Structure::Dir24_8
            | Structure::Dir24_8U16
            | Structure::Dir24_8U8
            | Structure::Direct
            | Structure::Compare
            | Structure::Scan
            | Structure::BitVector
            | Structure::Perfect
            | Structure::Btree
            | Structure::Code => 0.0,
        }
    }

    fn chain(&self, structure: Structure) -> f64 {
        let is = |one| structure == one;
        if is(Structure::Scan) && self.buckets() == Buckets::None {
            (CHAIN_TO_BLOCKS + CHAIN_OF_BLOCK * self.compared()).min(CHAIN_OF_BUCKETS)
        } else if is(Structure::Scan) {
            CHAIN_OF_BUCKETS
        } else if is(Structure::TupleSpace) {
            CHAIN_OF_TUPLES
        } else if is(Structure::BitVector) {
            CHAIN_OF_SETS
        } else {
            0.0
        }
    }

    fn list(&self) -> (f64, Vec<Line>) {
        let blocks = (self.entries as f64 / 8.0).ceil();
        let block_lines = 1.0 + self.words * if self.ranges() > 0.0 { 3.0 } else { 2.0 };
        // On average, half of the rules are compared.
        let compared = (blocks / 2.0).max(1.0);
        let vectors = 8.0 / self.limbs_per_vector;
        // Steps are dependent: with four rules a list takes 9 cycles more than an array with the same lines
        // (ipv4fwd, Zen 3).
        let operations = 30.0 + compared * (15.0 + 7.5 * vectors * self.words + 20.5 * self.ranges());
        (operations, self.streamed(blocks * block_lines, compared * block_lines))
    }

    /// Lines read in sequence whose addresses do not depend on each other.
    fn streamed(&self, lines: f64, read: f64) -> Vec<Line> {
        vec![Line::parallel(lines as u64 * LINE_BYTES, read)]
    }
}

/// All structures that can hold the table's keys and its content.
pub fn candidates(program: &Program, id: TableId, content: &Content, vector_bytes: u32) -> Vec<Shape> {
    let keys = program.key_kinds(id);
    let can_be_code = hlir::constant_entries::refusal(program, id, &keys).is_none();
    let is_legal =
        |structure: &Structure| structure.misses(&keys).is_none() && (can_be_code || *structure != Structure::Code);
    let fitting = Structure::ALL.into_iter().filter(is_legal);
    let shapes = fitting.map(|structure| shape(program, id, structure, content, vector_bytes));
    shapes.filter(|shape| shape.has_room(program, id, content)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact60_takes_fewer_lines_except_for_few_keys() {
        let lines = |entries: u64, structure: Structure| {
            let keys = vec![(MatchKind::Exact, 60)];
            let hosts = Keyed {
                keys,
                bits: 60,
                words: 1.0,
                entries,
                long_prefixes: 0,
                coverage: None,
                masks: 1,
                limbs_per_vector: 8.0,
            };
            hosts.lookup_cost(structure).1[0].footprint.bytes() / LINE_BYTES
        };
        assert_eq!((lines(65_536, Structure::Exact60), lines(65_536, Structure::Exact)), (10_923, 20_972));
        assert_eq!((lines(256, Structure::Exact60), lines(256, Structure::Exact)), (256, 82));
        assert_eq!(lines(16_384, Structure::Exact60), 8192);
    }

    #[test]
    fn nodes_of_a_tree_are_full_from_the_leaves_up() {
        let keys = vec![(MatchKind::Lpm, 128)];
        let entries = 195_838;
        let routes = Keyed {
            keys,
            bits: 128,
            words: 2.0,
            entries,
            long_prefixes: 0,
            coverage: None,
            masks: 1,
            limbs_per_vector: 8.0,
        };
        let nodes: Vec<u64> = routes.btree().1.iter().map(|line| line.footprint.bytes() / LINE_BYTES).collect();
        // Counted in a tree of as many random prefixes: 1, 2, 13, 98, 783, 6258, 50058.
        assert_eq!(nodes, [1, 2, 16, 125, 951, 7233, 54972]);
    }

    #[test]
    fn few_keys_touch_few_lines() {
        let three = Line::parallel(1 << 20, 3.0);
        assert_eq!((Line::single(1 << 20, 0.5).touched_by(5), three.touched_by(5)), (5 * 64, 15 * 64));
    }

    #[test]
    fn rules_of_one_mask_cost_less() {
        let rules = |entries: u64, masks: u64| Keyed {
            keys: vec![(MatchKind::Ternary, 32), (MatchKind::Ternary, 32)],
            bits: 64,
            words: 1.0,
            entries,
            long_prefixes: 0,
            coverage: None,
            masks,
            limbs_per_vector: 4.0,
        };
        let costs = |rules: Keyed| (rules.scan().0, rules.mispredictions(Structure::Scan), rules.tuple_space().0);
        let (one, many) = (costs(rules(1000, 1)), costs(rules(1000, 16)));
        assert!(one.0 < many.0 && one.1 == 0.0 && many.1 > 0.0 && one.2 < many.2, "{one:?} {many:?}");
        assert_eq!(costs(rules(SCAN_TOGETHER, 1)).0, costs(rules(SCAN_TOGETHER, 16)).0);
    }
}
