//! What a schedule means: it runs for one packet, by the definitions of [`hlir::value`].
//!
//! Nothing of the packet changes while values are computed, so the order of values does not matter, and speculative
//! and committed values are the same.

use crate::text::Part;
use crate::value::{Found, Operation, Sum, Value};
use crate::{Does, LateLookup, Schedule};
use hlir::value::Value as Number;
use hlir::{Algorithm, Binary, CounterId, DigestId, NodeId, RegisterId, TableId};
use std::collections::HashMap;

/// A packet as it arrived.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'p> {
    pub bytes: &'p [u8],
    pub port: u32,
    /// Bytes of its buffer before it.
    pub headroom: u32,
}

/// The entries of tables, the values of registers, and the definitions of hashes.
pub trait Tables {
    /// The record number of the entry that a lookup finds with a key, 0 if there is none.
    fn found(&self, table: TableId, key: &Number) -> u64;
    /// The number of a record's action; that of the default action for record 0. Of a record that leads to a group: that of
    /// the member which the hash chooses, or [`NO_MEMBER`](crate::value::NO_MEMBER) without one, or without a hash.
    fn action(&self, node: NodeId, record: u64, hash: Option<u64>) -> u32;
    /// A whole parameter of the same; any value if it runs another action.
    fn parameter(&self, node: NodeId, of: (u64, Option<u64>), action: usize, parameter: usize) -> Number;
    /// An element; 0 beyond the end.
    fn register(&self, register: RegisterId, index: u64) -> Number;
    fn hash(&self, algorithm: Algorithm, bytes: &[u8]) -> u64;
}

/// What becomes of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has fewer bytes than a stage reads, and runs the plain program.
    Short { stage: usize },
    /// It takes a side exit of a stage, by number.
    Exits { stage: usize, exit: usize },
    /// It takes a side exit of the commit phase.
    Leaves,
    /// It commits by the plain program.
    Plain,
    /// The effects of the commit phase, in order.
    Commits(Vec<Done>),
}

/// An effect, with the values that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    Move { bytes: i32 },
    Store { bit: u32, value: Number },
    Count { counter: CounterId, index: u64 },
    CountDirect { counter: CounterId, lookup: NodeId, record: u64 },
    NotMade { lookup: NodeId },
    Miss { lookup: NodeId },
    Touch { lookup: NodeId, record: u64 },
    Restart { lookup: NodeId, record: u64, expiry: Option<Number> },
    Made { lookup: NodeId },
    Digest { digest: DigestId, values: Vec<Number> },
    Write { register: RegisterId, index: u64, value: Number },
    Drop { reason: String },
    Send { port: u64 },
}

/// Runs a schedule for a packet, with one of its commit phases.
pub fn run(schedule: &Schedule, packet: Packet<'_>, tables: &dyn Tables, commit: Part) -> Outcome {
    let mut frame = Frame { schedule, packet, tables, values: HashMap::new(), records: HashMap::new(), late: &[] };
    for (stage, scheduled) in schedule.stages.iter().enumerate() {
        if packet.bytes.len() < scheduled.bytes as usize {
            return Outcome::Short { stage };
        }
        if let Some(exit) = scheduled.exits.iter().position(|exit| frame.value(exit.when).is_true()) {
            return Outcome::Exits { stage, exit };
        }
    }
    if schedule.commit.is_err() {
        return Outcome::Plain;
    }
    let commit = schedule.commit_of(commit).expect("a schedule has the commit phase that is asked for");
    frame.late = &commit.lookups;
    if frame.value(commit.exits).is_true() {
        return Outcome::Leaves;
    }
    let mut done = Vec::new();
    for effect in &commit.effects {
        if frame.value(effect.when).is_true() {
            if effect.does == Does::Leave {
                return Outcome::Leaves;
            }
            done.push(frame.done(&effect.does));
            if effect.does.is_end() {
                break;
            }
        }
    }
    Outcome::Commits(done)
}

/// The record number that each lookup of a schedule finds for a packet that is long enough.
pub fn records(schedule: &Schedule, packet: Packet<'_>, tables: &dyn Tables) -> HashMap<NodeId, u64> {
    let mut frame = Frame { schedule, packet, tables, values: HashMap::new(), records: HashMap::new(), late: &[] };
    schedule.lookups.iter().map(|lookup| (lookup.node, frame.record(lookup.node))).collect()
}

/// What has been computed for a packet.
struct Frame<'s> {
    schedule: &'s Schedule,
    packet: Packet<'s>,
    tables: &'s dyn Tables,
    values: HashMap<Value, Number>,
    records: HashMap<NodeId, u64>,
    /// The lookups of the commit phase that runs.
    late: &'s [LateLookup],
}

impl Frame<'_> {
    fn value(&mut self, value: Value) -> Number {
        for needed in self.schedule.values.needed([value]) {
            if !self.values.contains_key(&needed) {
                let number = self.compute(needed);
                self.values.insert(needed, number);
            }
        }
        self.values[&value].clone()
    }

    fn compute(&mut self, value: Value) -> Number {
        let width = self.schedule.values.width(value);
        let number = |it: &Self, operand: &Value| it.values[operand].clone();
        match self.schedule.values.of(value) {
            Operation::Constant(number) => number.clone(),
            Operation::Packet { bit } => self.bits(*bit, width),
            Operation::Length => Number::word(self.packet.bytes.len() as u128, 32),
            Operation::Headroom => Number::word(self.packet.headroom.into(), 32),
            Operation::Port => Number::word(self.packet.port.into(), 32),
            Operation::Register { register, index } => {
                self.tables.register(*register, number(self, index).to_u64()).resize(width)
            }
            Operation::Lookup { node, what, hash } => {
                let hash = hash.map(|hash| self.values[&hash].to_u64());
                self.result(*node, *what, hash, width)
            }
            Operation::Unary(operator, of) => number(self, of).unary(*operator),
            Operation::Binary(operator, left, right) => number(self, left).binary(*operator, &self.values[right]),
            Operation::Slice { of, low } => number(self, of).slice(low + width - 1, *low),
            Operation::Extend { of, signed } => number(self, of).extend(width, *signed),
            Operation::Choose { condition, then, otherwise } => {
                number(self, if self.values[condition].is_true() { then } else { otherwise })
            }
            Operation::FromBool(of) => number(self, of),
            Operation::Sum(sum) => self.sum(sum),
            Operation::Hash { algorithm, data } => self.hash(*algorithm, data),
        }
    }

    /// Bits of the packet; those beyond its end are zero.
    fn bits(&self, bit: u32, width: u32) -> Number {
        let mut all = Number::word(0, 0);
        for byte in bit / 8..(bit + width).div_ceil(8) {
            let byte = self.packet.bytes.get(byte as usize).copied().unwrap_or(0);
            all = all.binary(Binary::Concat, &Number::word(byte.into(), 8));
        }
        if width == 0 {
            return Number::word(0, 0);
        }
        let behind = all.width - bit % 8 - width;
        all.slice(behind + width - 1, behind)
    }

    /// The record that the lookup at a node finds; 0 where a table without keys is applied.
    fn record(&mut self, node: NodeId) -> u64 {
        if let Some(record) = self.records.get(&node) {
            return *record;
        }
        let schedule = self.schedule;
        let staged = schedule.lookups.iter().find(|lookup| lookup.node == node);
        let (table, limbs) = match (staged, self.late.iter().find(|lookup| lookup.node == node)) {
            (Some(lookup), _) => (lookup.table, &lookup.key),
            (None, Some(late)) if self.value(late.when).is_true() => (late.table, &late.key),
            (None, _) => return 0,
        };
        let mut key = Number::word(0, 0);
        for limb in limbs {
            key = self.value(*limb).binary(Binary::Concat, &key);
        }
        let record = self.tables.found(table, &key);
        self.records.insert(node, record);
        record
    }

    fn result(&mut self, node: NodeId, what: Found, hash: Option<u64>, width: u32) -> Number {
        let record = self.record(node);
        match what {
            Found::Number => Number::word(record.into(), width),
            Found::Action => Number::word(self.tables.action(node, record, hash).into(), width),
            Found::Parameter { action, parameter, low } => {
                let whole = self.tables.parameter(node, (record, hash), action, parameter);
                if width == 0 { Number::word(0, 0) } else { whole.slice(low + width - 1, low) }
            }
        }
    }

    fn hash(&self, algorithm: Algorithm, data: &[Value]) -> Number {
        let pieces = data.iter().map(|piece| &self.values[piece]);
        let whole = pieces.fold(Number::word(0, 0), |whole, piece| whole.binary(Binary::Concat, piece));
        let bytes = (0..whole.width / 8).rev();
        let bytes: Vec<u8> = bytes.map(|byte| whole.clone().slice(8 * byte + 7, 8 * byte).to_u64() as u8).collect();
        Number::word(self.tables.hash(algorithm, &bytes).into(), 64)
    }

    fn sum(&self, sum: &Sum) -> Number {
        let mut total = sum.before.map_or(0, |before| u128::from(self.values[&before].to_u64()));
        let packet = sum.bytes.iter().map(|(start, end)| self.bits(8 * start, 8 * (end - start)));
        let words = sum.words.iter().map(|word| self.values[word].clone());
        for number in packet.chain(words) {
            for low in (0..number.width).step_by(16) {
                let word = number.clone().slice(low + 15, low).to_u64();
                total += u128::from(if sum.subtract { 0xffff - word } else { word });
            }
        }
        while total > 0xffff {
            total = (total & 0xffff) + (total >> 16);
        }
        Number::word(total, 16)
    }

    fn done(&mut self, does: &Does) -> Done {
        match does {
            Does::Move { bytes } => Done::Move { bytes: *bytes },
            Does::Store { bit, value, .. } => Done::Store { bit: *bit, value: self.value(*value) },
            Does::Count { counter, index } => Done::Count { counter: *counter, index: self.value(*index).to_u64() },
            Does::CountDirect { counter, lookup } => {
                Done::CountDirect { counter: *counter, lookup: *lookup, record: self.record(*lookup) }
            }
            Does::NotMade { lookup } => Done::NotMade { lookup: *lookup },
            Does::Miss { lookup } => Done::Miss { lookup: *lookup },
            Does::Touch { lookup } => Done::Touch { lookup: *lookup, record: self.record(*lookup) },
            Does::Restart { lookup, expiry } => {
                let expiry = expiry.map(|expiry| self.value(expiry));
                Done::Restart { lookup: *lookup, record: self.record(*lookup), expiry }
            }
            Does::Made { lookup } => Done::Made { lookup: *lookup },
            Does::Digest { digest, values } => {
                Done::Digest { digest: *digest, values: values.iter().map(|value| self.value(*value)).collect() }
            }
            Does::Write { register, index, value } => {
                Done::Write { register: *register, index: self.value(*index).to_u64(), value: self.value(*value) }
            }
            Does::Leave => unreachable!("such packets run the plain program"),
            Does::Drop { reason } => Done::Drop { reason: reason.clone() },
            Does::Send { port } => Done::Send { port: self.value(*port).to_u64() },
        }
    }
}
