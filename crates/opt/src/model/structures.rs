//! What a look-up costs in each data structure: operations, and the lines of memory that it reads one after the other.
//!
//! Taken from the layouts in `runtime/table`: a structure that changes its layout changes here. Nothing of a processor is in these numbers.

mod arrays;
mod sets;
mod trees;

use super::cache_line::{LINE_BYTES, Line};
use super::operations::limbs;
use super::records;
use crate::inputs::prefix_coverage::Coverage;
use crate::inputs::{Content, Machine};
use hlir::plan::Structure;
use hlir::{MatchKind, Program, Table, TableId};

/// What hash tables are filled to once their entries are loaded, as runtime/table/exact48_words.c and exact_cuckoo.c have it: they are made as small as they
/// may be then.
const LOAD_EXACT: f64 = 0.625;
/// An array of keys of 48 bits, or 60, is filled to the half where it is so small, or so large, in bytes; between, to three quarters.
const LOAD_EXACT48: [f64; 2] = [0.5, 0.75];
const SMALL_EXACT48: f64 = 524_288.0;
const LARGE_EXACT48: f64 = 134_217_728.0;
/// Keys in their second bucket take the place of others that have it as their first: counted in random keys, with 3/4 of eight slots filled 66 of a thousand
/// are in their second one and 52 overflow, with 5/8 of five 61 and 51, of three 124 and 95; with 1/2 of eight so few that it is all the same.
const DISPLACED: f64 = 1.3;
/// Operations one after the other between two lines of a look-up: comparing, and making the next address. In a trie, bits of the key are cut out for each
/// node, and counted in its bitmap.
const STEP: f64 = 6.0;
const STEP_OF_TRIE: f64 = 18.0;
const STEP_OF_TREE: f64 = 12.0;
/// Whether a prefix ends in a node, and whether the way goes on, are guessed wrong once in so many nodes.
const NODES_PER_MISPREDICTION: f64 = 2.0;
/// Rules that are compared with each key, without buckets.
const SCAN_TOGETHER: u64 = 48;
/// With so few combinations of masks some chunk of the key usually tells most rules apart. (Prefixes shorter than a chunk have none; nobody counts them.)
const FEW_MASKS: u64 = 2;
/// Operations for a block of rules, where one is taken up after the other, and where buckets have them; to find a bucket; and for each range, since keys with
/// ranges are brought into another form first (counted in groups of the firewall's keys, and fitted to look-ups of drawn rules).
const BLOCK: f64 = 12.0;
const BLOCK_OF_BUCKET: f64 = 22.0;
const BUCKET: f64 = 30.0;
const RANGE_OF_BUCKET: f64 = 10.0;
/// Blocks that most keys' buckets lead to where these differ, and wrong guesses for each one beyond (fitted to look-ups of drawn rules).
const EVEN_BLOCKS: f64 = 2.0;
const UNEVEN_BLOCK: f64 = 0.3;
/// Prefixes beside the longest that a key begins with, on average (counted in drawn prefixes of IPv6; in a router's, 0.4).
const COVERING_PREFIXES: f64 = 0.7;
/// Tuples that few keys find more in than one pair, and wrong guesses for each one beyond (fitted likewise).
const EVEN_TUPLES: f64 = 5.0;
const UNEVEN_TUPLE: f64 = 0.3;
/// Operations one after the other from the making of a key to its record, in rules: what makes a look-up dear in its packet's turn though all its lines are at
/// hand (fitted to the firewall, with its rules in each of these, and to mpls). Few blocks are a shorter chain than buckets are.
const CHAIN_OF_BUCKETS: f64 = 105.0;
const CHAIN_TO_BLOCKS: f64 = 44.0;
const CHAIN_OF_BLOCK: f64 = 22.0;
const CHAIN_OF_TUPLES: f64 = 75.0;
const CHAIN_OF_SETS: f64 = 80.0;
/// Operations around a step of a walk, where those of a group are made together.
const WALK: f64 = 24.0;
/// Mispredictions of a loop over a tree's level: each has as many steps as the last, and nothing in it is guessed (fitted to groups of 8 to 64 in ipv6fwd).
const LEVEL_LOOP: f64 = 0.65;
/// Operations one after the other until a look-up's first address is there: a hash, or shifts (fitted to a sweep of l2fwd and ipv4fwd without requests).
const HASHING: f64 = 30.0;
const INDEXING: f64 = 8.0;

/// A table in a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub structure: Structure,
    /// Operations of hash, address and comparison.
    pub operations: f64,
    /// In the order in which they are read; each needs the one before. The last is the action record.
    pub lines: Vec<Line>,
    /// Operations that a look-up saves in a group, where the structure looks up all of a group's keys at once.
    pub group_savings: Option<f64>,
    /// How often the core guesses wrong where a look-up ends.
    pub mispredictions: f64,
    /// How often a look-up has to read a second line instead of its first.
    pub second_line: f64,
    /// Operations one after the other before the first line; and where a group is looked up that has made all of its addresses before.
    pub address_latency: f64,
    pub grouped_address_latency: f64,
    /// Operations one after the other between two lines that each need the one before.
    pub step: f64,
    /// Operations one after the other from the key to the record, where they are more than steps between lines.
    pub chain: f64,
    /// Loops over a group that a look-up of the group has; more than one where each level's lines are asked for by the level before.
    pub loops: f64,
}

impl Shape {
    /// What the loops of a group's look-up cost: of a tree level by level, of others as any loop over a group.
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

    /// Look-ups for so few keys touch no more than the lines of each, however large the table is.
    pub fn limit_to_keys(&mut self, keys: u64) {
        self.lines.iter_mut().for_each(|line| *line = line.limited_to(keys));
    }

    /// All bytes that look-ups can touch.
    pub fn bytes(&self) -> u64 {
        self.lines.iter().map(|line| line.footprint.bytes()).sum()
    }

    /// Whether what the table holds, and what it may come to hold, has room: a controller that was promised so many entries can write them all. Where
    /// nothing was promised, entries have room to become four times as many. Long prefixes are few where they were counted.
    fn has_room(&self, program: &Program, id: TableId, content: &Content) -> bool {
        let table = &program.tables[id];
        // Packets may put in as many as there is room for, and see it when there is none.
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
        // Exact fields in front make any prefix a long one, if keys are long enough.
        let all_long = !content.is_known || table.keys.len() > 1;
        let long = if all_long { most.unwrap_or(content.entries) } else { content.long_prefixes };
        let is_short = program.key_kinds(id).iter().map(|(_, width)| width).sum::<u32>() <= 24;
        let limit = self.structure.most_long_prefixes().filter(|_| !is_short);
        let long = limit.is_none_or(|limit| long <= limit - limit / 10);
        // An insertion into a perfect hash may search for long: entries that a controller writes go elsewhere.
        let written = table.entries_constant || self.structure != Structure::Perfect;
        entries && records && long && written
    }
}

/// Bytes of an action record: the action's number, then parameters, each aligned to its size.
fn record_bytes(table: &Table) -> u64 {
    let parameter = |width: u32| u64::from(width.div_ceil(8).next_power_of_two().min(8)) * limbs(width) as u64;
    let action = |action: &hlir::Action| -> u64 { action.parameters.iter().map(|it| parameter(it.width)).sum() };
    4 + table.actions.iter().map(action).max().unwrap_or(0)
}

/// How the rules of a scan stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Buckets {
    None,
    OfOne,
    Uneven,
}

/// What a structure's costs depend on.
struct Keyed {
    keys: Vec<(MatchKind, u32)>,
    bits: u32,
    /// Limbs of a key.
    words: f64,
    entries: u64,
    long_prefixes: u64,
    coverage: Option<[Coverage; 3]>,
    /// Different combinations of masks.
    masks: u64,
    /// Limbs to a vector.
    limbs_per_vector: f64,
}

/// What a look-up in this table costs, in a structure that can hold its keys, with vectors of so many bytes.
pub fn shape(program: &Program, id: TableId, structure: Structure, content: &Content, vector_bytes: u32) -> Shape {
    let table = &program.tables[id];
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
    lines.push(Line::single(records * record_bytes(table), 1.0));
    let address_latency = if structure.has_two_lines() || structure == Structure::Perfect { HASHING } else { INDEXING };
    Shape {
        structure,
        operations,
        lines,
        group_savings,
        mispredictions: keyed.mispredictions(structure),
        second_line: keyed.second_line(structure),
        address_latency,
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
        | Structure::List => STEP,
    }
}

/// Keys that find their first bucket full, where keys fall into buckets of so many slots as chance has it: the number in a bucket is distributed by Poisson.
fn overflowing(slots: u32, load: f64) -> f64 {
    let mean = load * f64::from(slots);
    let mut probability = (-mean).exp();
    let mut over = 0.0;
    for count in 1..8 * slots {
        probability *= mean / f64::from(count);
        over += f64::from(count.saturating_sub(slots)) * probability;
    }
    over / mean
}

impl Keyed {
    /// Operations of hash, address and comparison, and the lines that are read.
    fn lookup_cost(&self, structure: Structure) -> (f64, Vec<Line>) {
        match structure {
            Structure::Exact => self.exact(),
            Structure::Exact48 => (36.0, self.hashed(8.0, self.load_exact48())),
            Structure::Exact60 => (40.0, self.exact60()),
            Structure::Dir24_8 => self.dir24_8(4),
            Structure::Dir24_8U16 => self.dir24_8(2),
            Structure::Dir24_8U8 => self.dir24_8(1),
            Structure::LpmTrie => self.lpm_trie(),
            // Small keys are ports, VLANs, numbers of next hops: mostly given out one after the other, so that several share a line.
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
            // A pilot for each four keys, two bytes; then the key's own place.
            Structure::Perfect => {
                let pilots = Line::single((self.entries / 4 * 2).max(LINE_BYTES), 1.0);
                (20.0, vec![pilots, Line::single(self.entries * 8, 1.0)])
            }
            Structure::Btree => self.btree(),
            Structure::List => self.list(),
        }
    }

    /// The bucket of a hash table with so many slots to a line.
    fn hashed(&self, slots: f64, load: f64) -> Vec<Line> {
        let bytes = (self.entries as f64 / slots / load).ceil() as u64 * LINE_BYTES;
        vec![Line::single(bytes, 1.0)]
    }

    /// Of few keys almost each has a line of its own, since there are many lines from the beginning.
    fn exact60(&self) -> Vec<Line> {
        let alone = (self.entries * LINE_BYTES).min(SMALL_EXACT48 as u64);
        let mut lines = self.hashed(8.0, self.load_exact48());
        lines[0] = Line::single(lines[0].footprint.bytes().max(alone), 1.0);
        lines
    }

    fn load_exact48(&self) -> f64 {
        let [loose, dense] = LOAD_EXACT48;
        let words = 8.0 * self.entries as f64;
        if words / dense > LARGE_EXACT48 { loose } else { (words / SMALL_EXACT48).clamp(loose, dense) }
    }

    fn slots(&self) -> u32 {
        if self.words as u32 == 2 { 3 } else { 5 }
    }

    /// How many keys are in the second of a table's lines.
    fn second_line(&self, structure: Structure) -> f64 {
        if !structure.has_two_lines() {
            return 0.0;
        }
        let is_narrow = matches!(structure, Structure::Exact48 | Structure::Exact60);
        let (slots, load) = if is_narrow { (8, self.load_exact48()) } else { (self.slots(), LOAD_EXACT) };
        DISPLACED * overflowing(slots, load)
    }

    /// A hash table's group has a loop of its own for what was not in its first bucket, a tree's one for each level.
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
            | Structure::List => 1.0,
        }
    }

    fn exact(&self) -> (f64, Vec<Line>) {
        let mut lines = self.hashed(f64::from(self.slots()), LOAD_EXACT);
        if self.words > 2.0 {
            lines.push(Line::single(self.entries * (8 + 8 * self.words as u64), 1.0));
        }
        (36.0 + 5.0 * self.words, lines)
    }

    fn ranges(&self) -> f64 {
        self.keys.iter().filter(|(kind, _)| *kind == MatchKind::Range).count() as f64
    }

    /// Words of 32 bits that rules are compared in.
    fn halves(&self) -> f64 {
        (f64::from(self.bits) / 32.0).ceil()
    }

    /// Eight rules to a block, all words at once. Of many rules, most are in buckets: counted in rules of firewalls, a thousand leave eight blocks,
    /// a hundred three; of rules with the same masks hardly more than the one that matches.
    fn scan(&self) -> (f64, Vec<Line>) {
        let blocks = (self.entries as f64 / 8.0).ceil();
        let bucket = BUCKET + RANGE_OF_BUCKET * self.ranges();
        let compared = self.compared();
        let (block, way) = match self.buckets() {
            Buckets::None => (BLOCK, 0.0),
            Buckets::OfOne => (BLOCK, bucket),
            Buckets::Uneven => (BLOCK_OF_BUCKET, bucket),
        };
        // A row of a block has eight words: wider vectors are no help.
        let vectors = (4.0 / self.limbs_per_vector).max(1.0);
        let operations = 50.0 + way + compared * (block + vectors * (3.0 * self.halves() + self.ranges()));
        let block_lines = self.halves();
        (operations, self.streamed(blocks * block_lines, compared * block_lines))
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

    /// A head in each tuple, and the pairs of rules that some lead to: counted in rules of firewalls, sixteen are in two tuples, a hundred in four, a
    /// thousand in eight; and where masks say little, as many more as there are rules for them. Prefixes that a key begins with are few.
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

    /// At most one more than there are masks: that of nothing.
    fn tuples(&self) -> f64 {
        ((self.entries as f64).log2() - 2.0).clamp(1.0, 32.0).min(1.0 + self.masks as f64)
    }

    /// What a look-up of a group saves, counted in instructions of 5-tuples.
    fn group_savings(&self, structure: Structure, operations: f64) -> Option<f64> {
        let saved = match structure {
            // Sixteen keys side by side, with vectors that have room for eight words; or 32, with twice the room and three operands to an operation.
            Structure::Scan if self.entries <= SCAN_TOGETHER && self.limbs_per_vector >= 4.0 => {
                let rule = if self.limbs_per_vector >= 8.0 {
                    (6.0 * self.halves() + 5.0) / 32.0
                } else {
                    (8.0 * self.halves() + 5.0) / 16.0
                };
                (operations - 14.0 - self.entries as f64 * rule).max(0.0)
            }
            // What is of a way of buckets stays in registers, which is no gain where they are guessed wrong.
            Structure::Scan if self.buckets() == Buckets::Uneven => 0.0,
            Structure::Scan => 45.0,
            Structure::BitVector => (operations - self.bit_vector_group_operations()).max(0.0),
            Structure::TupleSpace => 0.2 * operations,
            // Each step takes up a walk and puts it aside.
            Structure::LpmTrie => -WALK * self.steps(),
            // Eight steps at a time that each wait for the level above, and are not always hidden by other eight (fitted to a sweep of ipv6fwd).
            Structure::Btree => -2.0 * self.levels(),
            // What is found is stored at once, and where all hit, nobody's turn has a test for it. Four keys of one limb are hashed at once. Counted in l2fwd.
            Structure::Exact if self.words > 1.0 => 11.0,
            // What matches is brought to the front by one operation, where vectors have room for a line; cores do half as many operations on such vectors.
            Structure::Exact48 if self.limbs_per_vector >= 8.0 => 18.0,
            // The words are made of the keys, once more than their lines are.
            Structure::Exact60 if self.limbs_per_vector >= 8.0 => 17.0,
            Structure::Exact60 => 13.0,
            Structure::Exact | Structure::Exact48 => 17.0,
            // Where the array is stays in registers, and words are compared together. Counted in look-ups of 16K keys, like all of their operations.
            Structure::Perfect if self.limbs_per_vector >= 4.0 => 10.0,
            Structure::Perfect => 3.0,
            // Entries are loads either way.
            Structure::Dir24_8
            | Structure::Dir24_8U16
            | Structure::Dir24_8U8
            | Structure::Direct
            | Structure::Compare
            | Structure::List => 0.0,
        };
        structure.is_grouped().then_some(saved)
    }

    /// A list ends at the block in which a rule matches: any of them. A way through a trie is another one for each key.
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
            | Structure::Btree => 0.0,
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
        // Half of the rules are compared before one matches.
        let compared = (blocks / 2.0).max(1.0);
        let vectors = 8.0 / self.limbs_per_vector;
        // Each step needs the one before: with four rules a list takes 9 cycles more than an array that its lines would suggest (ipv4fwd, Zen 3).
        let operations = 30.0 + compared * (15.0 + 7.5 * vectors * self.words + 20.5 * self.ranges());
        (operations, self.streamed(blocks * block_lines, compared * block_lines))
    }

    /// Lines that are read one behind the other: where the next one lies does not depend on what this one holds.
    fn streamed(&self, lines: f64, read: f64) -> Vec<Line> {
        vec![Line::parallel(lines as u64 * LINE_BYTES, read)]
    }
}

/// All structures that can hold the table's keys and what it holds.
pub fn candidates(program: &Program, id: TableId, content: &Content, vector_bytes: u32) -> Vec<Shape> {
    let keys = program.key_kinds(id);
    let fitting = Structure::ALL.into_iter().filter(|structure| structure.misses(&keys).is_none());
    let shapes = fitting.map(|structure| shape(program, id, structure, content, vector_bytes));
    shapes.filter(|shape| shape.has_room(program, id, content)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_words_take_fewer_lines_but_of_few_keys() {
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
        // Counted in a tree of so many drawn prefixes: 1, 2, 13, 98, 783, 6258, 50058.
        assert_eq!(nodes, [1, 2, 16, 125, 951, 7233, 54972]);
    }

    #[test]
    fn few_keys_touch_few_lines() {
        let three = Line::parallel(1 << 20, 3.0);
        assert_eq!((Line::single(1 << 20, 0.5).touched_by(5), three.touched_by(5)), (5 * 64, 15 * 64));
    }

    #[test]
    fn rules_of_one_mask_are_found_at_once() {
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
