//! The cost of a lookup in each data structure: operations, and the cache lines that it reads in sequence.
//!
//! Taken from the layouts in `runtime/table`: a structure that changes its layout changes here. No number
//! depends on a processor.

mod arrays;
mod hashes;
mod rules;
mod sets;
mod trees;

use super::cache_line::Line;
use super::operations::limbs;
use super::records;
use crate::inputs::occupancy::DEFAULT_ENTRIES;
use crate::inputs::prefix_coverage::Coverage;
use crate::inputs::{Content, Machine};
use hlir::plan::Structure;
use hlir::{MatchKind, Program, Table, TableId};

/// Dependent operations between two lines of a lookup: compare, then compute the next address.
const STEP: f64 = 6.0;
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
    /// size must fit as a whole. Without one, there must be room for four times the entries. Where these are
    /// assumed, too, a bound is for keys that no structure without a bound can hold, lists excepted: then there
    /// must be room for four times [`DEFAULT_ENTRIES`]. Long prefixes are few where they were counted.
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
            (Some(limit), None) if content.is_known => content.entries <= limit / 4,
            (Some(limit), None) => {
                content.entries.max(DEFAULT_ENTRIES) <= limit / 4 && !can_be_unbounded(&program.held_keys(id))
            }
        };
        let limit = self.structure.most_records();
        let records = limit.is_none_or(|limit| records::have_room(program, id, content, most, limit));
        // Exact fields before the prefix make any prefix a long one, if keys are long enough.
        let all_long = !content.is_known || table.keys.len() > 1;
        let long = if all_long { most.unwrap_or(content.entries) } else { content.long_prefixes };
        let is_short = program.held_keys(id).iter().map(|(_, width)| width).sum::<u32>() <= 24;
        let limit = self.structure.most_long_prefixes().filter(|_| !is_short);
        let long = limit.is_none_or(|limit| long <= limit - limit / 10);
        // Insertion into a perfect hash may take long, so it is for constant entries only.
        let written = table.entries_constant || self.structure != Structure::Perfect;
        entries && records && long && written
    }
}

/// Whether a structure that has no bound can hold these keys, other than a list, which is searched from end to end.
fn can_be_unbounded(keys: &[(MatchKind, u32)]) -> bool {
    let is_unbounded = |structure: &Structure| structure.most_entries().is_none() && *structure != Structure::List;
    Structure::ALL.iter().filter(|structure| is_unbounded(structure)).any(|structure| structure.misses(keys).is_none())
}

/// `struct record_head` of runtime/table/table.h.
const RECORD_HEAD_BYTES: u64 = 16;

/// Bytes of an action record: the action's number, then the parameters, each aligned to its size.
fn record_bytes(table: &Table) -> u64 {
    let parameter = |width: u32| u64::from(width.div_ceil(8).next_power_of_two().min(8)) * limbs(width) as u64;
    let action = |action: &hlir::Action| -> u64 { action.parameters.iter().map(|it| parameter(it.width)).sum() };
    4 + table.actions.iter().map(action).max().unwrap_or(0)
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
    let keys = program.held_keys(id);
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
    let Cost { operations, mut lines, saved_in_group, mispredictions, second_line, begin, step, chain, loops } =
        keyed.cost(structure);
    let records = if program.has_own_records(id) { keyed.entries } else { content.records.clamp(1, keyed.entries) };
    // The record is one more line, unless all entries share a few: then it stays in L1. Records of their own have heads.
    let head = if program.has_own_records(id) { RECORD_HEAD_BYTES } else { 0 };
    lines.push(Line::single(records * (record_bytes(table) + head), 1.0));
    Shape {
        structure,
        operations,
        lines,
        group_savings: structure.is_grouped().then_some(saved_in_group),
        mispredictions,
        second_line,
        address_latency: begin,
        // A stage has computed all addresses before the first lookup, where vectors can (one or two limbs).
        grouped_address_latency: if structure.has_two_lines() && keyed.words <= 2.0 { 0.0 } else { begin },
        step,
        chain,
        loops,
    }
}

/// What lookups in a structure cost, for a table's keys and content.
struct Cost {
    /// Operations for hash, address and comparison, and the lines that are read before the record.
    operations: f64,
    lines: Vec<Line>,
    /// Operations saved per lookup in a group, where the structure looks up all keys of a group at once.
    saved_in_group: f64,
    mispredictions: f64,
    /// Share of the lookups that read a second line after their first.
    second_line: f64,
    /// Dependent operations before the first line, and between two lines.
    begin: f64,
    step: f64,
    /// Length of the dependency chain from key to record, where it exceeds the steps between lines.
    chain: f64,
    /// Loops over a group per grouped lookup.
    loops: f64,
}

impl Cost {
    /// Of a structure whose first address is computed by shifts, and that is looked up in one loop without a branch that
    /// depends on the key.
    fn new(operations: f64, lines: Vec<Line>) -> Cost {
        Cost {
            operations,
            lines,
            saved_in_group: 0.0,
            mispredictions: 0.0,
            second_line: 0.0,
            begin: INDEXING,
            step: STEP,
            chain: 0.0,
            loops: 1.0,
        }
    }
}

impl Keyed {
    fn cost(&self, structure: Structure) -> Cost {
        match structure {
            Structure::Exact => self.exact(),
            Structure::Exact48 => self.exact48(),
            Structure::Exact60 => self.exact60(),
            Structure::Perfect => self.perfect(),
            Structure::Dir24_8 => self.dir24_8(4),
            Structure::Dir24_8U16 => self.dir24_8(2),
            Structure::Dir24_8U8 => self.dir24_8(1),
            Structure::Direct => self.direct(),
            Structure::LpmTrie => self.lpm_trie(),
            Structure::Btree => self.btree(),
            Structure::BitVector => self.bit_vector(),
            Structure::Scan => self.scan(),
            Structure::TupleSpace => self.tuple_space(),
            Structure::Compare => self.compare(),
            Structure::List => self.list(),
            Structure::Code => self.code(),
        }
    }
}

/// All structures that can hold the table's keys and its content.
pub fn candidates(program: &Program, id: TableId, content: &Content, vector_bytes: u32) -> Vec<Shape> {
    let keys = program.held_keys(id);
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
    use crate::model::cache_line::LINE_BYTES;

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
            hosts.cost(structure).lines[0].footprint.bytes() / LINE_BYTES
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
        let nodes: Vec<u64> = routes.btree().lines.iter().map(|line| line.footprint.bytes() / LINE_BYTES).collect();
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
        let costs =
            |rules: Keyed| (rules.scan().operations, rules.scan().mispredictions, rules.tuple_space().operations);
        let (one, many) = (costs(rules(1000, 1)), costs(rules(1000, 16)));
        assert!(one.0 < many.0 && one.1 == 0.0 && many.1 > 0.0 && one.2 < many.2, "{one:?} {many:?}");
        assert_eq!(costs(rules(48, 1)).0, costs(rules(48, 16)).0, "few rules have no buckets");
    }
}
