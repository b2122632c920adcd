//! The first stage as vector code: one packet per SIMD lane, 32 bits per lane.
//!
//! Values become steps of 32 bits, wider ones several. A value that has no such form is an obstacle; the stage then
//! runs packet by packet.

use super::bytes::{Bits, loaded, ones};
use super::steps::Steps;
use super::{Number, Operator, Step, TableRead};
use crate::value::{Found, Operation, Sum, Value};
use crate::{BulkDrop, Schedule};
use hlir::{Binary, NodeId, Type, Unary};
use std::collections::HashMap;

/// A stage as vector code.
#[derive(Clone, Debug)]
pub struct Lanes {
    pub steps: Vec<Step>,
    /// First bytes of the rows that are loaded per packet.
    pub rows: Vec<u32>,
    /// Contiguous bytes that every packet must have.
    pub bytes: u32,
    /// A mask: the packet takes a side exit.
    pub exits: Number,
    /// A mask: it exits, and is only counted and dropped.
    pub drops: Number,
    /// By position on the path: the record number of each lookup that the stage makes at once.
    pub found: Vec<(usize, Number)>,
    /// By position on the path: the key of each lookup of the stage, 32 bits per step, least significant first.
    pub keys: Vec<(usize, Vec<Number>)>,
    /// Values of at most 32 bits for later stages and commit, in the highest bits.
    pub kept: Vec<(Value, Number)>,
    /// Values of registers, of at most 32 bits.
    pub reads: Vec<(Value, Number)>,
    /// What the program calls steps.
    pub names: HashMap<Number, String>,
}

/// The side exits of a stage for packets that took one, as steps of their own.
#[derive(Clone, Debug)]
pub struct LanesExits {
    pub steps: Vec<Step>,
    pub rows: Vec<u32>,
    pub names: HashMap<Number, String>,
    /// In order: the first whose mask is set is taken.
    pub kinds: Vec<(Number, Option<BulkDrop>)>,
}

type Result<T> = std::result::Result<T, &'static str>;

/// Operators of 32 bits: on masks, on numbers with a mask as result (`Greater` with swapped operands), on numbers.
const LOGICAL: [(Binary, Operator); 4] = [
    (Binary::LogicalAnd, Operator::And),
    (Binary::LogicalOr, Operator::Or),
    (Binary::NotEqual, Operator::Xor),
    (Binary::Equal, Operator::Xor),
];
const COMPARED: [(Binary, Operator); 6] = [
    (Binary::Equal, Operator::Equal),
    (Binary::NotEqual, Operator::NotEqual),
    (Binary::Less, Operator::Less),
    (Binary::LessEqual, Operator::LessEqual),
    (Binary::Greater, Operator::Less),
    (Binary::GreaterEqual, Operator::LessEqual),
];
const COMPUTED: [(Binary, Operator); 6] = [
    (Binary::Add, Operator::Add),
    (Binary::Subtract, Operator::Subtract),
    (Binary::Multiply, Operator::Multiply),
    (Binary::And, Operator::And),
    (Binary::Or, Operator::Or),
    (Binary::Xor, Operator::Xor),
];

fn of(operators: &[(Binary, Operator)], wanted: Binary) -> Option<Operator> {
    operators.iter().find(|(operator, _)| *operator == wanted).map(|(_, operator)| *operator)
}

struct Vectorizer<'s> {
    schedule: &'s Schedule,
    steps: Steps,
    /// Words begin so many bytes after multiples of four.
    phase: u32,
    bits: HashMap<Value, Bits>,
    masks: HashMap<Value, Number>,
}

impl Schedule {
    /// The first stage as vector code, with what the expected commit stores where that has such a form. Stores are
    /// combined for it.
    pub fn vectorized(&mut self) -> Result<Lanes> {
        let stored = self.combine_stores();
        self.lanes(&stored).or_else(|_| self.lanes(&[]))
    }

    /// The first stage, with these values for commit.
    pub fn lanes(&self, kept: &[Value]) -> Result<Lanes> {
        // Alignment decides which bytes share a word; take the one with the fewest steps.
        let all: Result<Vec<Lanes>> = (0..4).map(|phase| Vectorizer::new(self, phase).stage(kept)).collect();
        let cost = |lanes: &Lanes| 4 * lanes.rows.len() + lanes.steps.len();
        Ok(all?.into_iter().min_by_key(cost).expect("there are four phases"))
    }

    /// The side exits of the first stage, for packets with the bytes that its vector code needs. None if no exit is a
    /// bulk drop, or none has vector code.
    pub fn lanes_exits(&self, lanes: &Lanes) -> Option<LanesExits> {
        if self.stages[0].exits.iter().all(|exit| exit.end.is_none()) {
            return None;
        }
        let all = (0..4).filter_map(|phase| Vectorizer::new(self, phase).exits(lanes).ok().flatten());
        all.min_by_key(|exits| 4 * exits.rows.len() + exits.steps.len())
    }

    /// The table's position on the path, by its node.
    fn place(&self, node: NodeId) -> Result<usize> {
        let lookup = self.lookups.iter().find(|lookup| lookup.node == node);
        lookup.map(|lookup| lookup.place).ok_or("reads the default action of a table without keys")
    }
}

impl<'s> Vectorizer<'s> {
    fn new(schedule: &'s Schedule, phase: u32) -> Vectorizer<'s> {
        Vectorizer { schedule, steps: Steps::default(), phase, bits: HashMap::new(), masks: HashMap::new() }
    }

    fn stage(mut self, kept: &[Value]) -> Result<Lanes> {
        let schedule = self.schedule;
        let (exits, drops) = self.exits_and_drops()?;
        let mut keys = Vec::new();
        for lookup in schedule.lookups.iter().filter(|lookup| lookup.stage == Some(0)) {
            let mut parts = Vec::new();
            for limb in &lookup.key {
                parts.extend(self.bits(*limb)?.parts);
            }
            keys.push((lookup.place, parts));
        }
        let first = keys.first().map_or(0, |(place, _)| *place);
        let mut found = Vec::new();
        for lookup in schedule.lookups.iter().filter(|lookup| lookup.stage.is_none() && lookup.place < first) {
            found.push((lookup.place, self.found(lookup.node)?));
        }
        let mut held = Vec::new();
        for value in kept {
            let bits = self.bits(*value)?;
            let above = Bits { width: 32, parts: vec![bits.narrow().ok_or("keeps a value of more than 32 bits")?] };
            let placed = self.steps.placed(32, [(32 - bits.width, &above)]);
            held.push((*value, placed.parts[0]));
        }
        let mut reads = Vec::new();
        for value in &schedule.stages[0].reads {
            reads.push((*value, self.bits(*value)?.narrow().ok_or("reads a register of more than 32 bits")?));
        }
        let numbers = keys.iter().flat_map(|(_, key)| key.iter().copied());
        let results = numbers
            .chain(found.iter().map(|(_, number)| *number))
            .chain(held.iter().chain(&reads).map(|(_, number)| *number))
            .chain([exits, drops]);
        let (steps, kept) = self.steps.needed(&results.collect::<Vec<Number>>());
        let (rows, bytes) = loaded(&steps, schedule.stages[0].bytes, &[]);
        let renamed = |list: Vec<(Value, Number)>| list.into_iter().map(|(of, number)| (of, kept[&number])).collect();
        Ok(Lanes {
            rows,
            bytes,
            exits: kept[&exits],
            drops: kept[&drops],
            found: found.into_iter().map(|(place, number)| (place, kept[&number])).collect(),
            keys: keys.into_iter().map(|(place, key)| (place, key.iter().map(|part| kept[part]).collect())).collect(),
            kept: renamed(held),
            reads: renamed(reads),
            names: self.names(&kept),
            steps,
        })
    }

    /// The names of steps after renumbering: those of the values that they are.
    fn names(&self, kept: &HashMap<Number, Number>) -> HashMap<Number, String> {
        let mut named: Vec<(&Value, &Bits)> = self.bits.iter().collect();
        named.sort_by_key(|(value, _)| **value);
        let mut names = HashMap::new();
        for (value, bits) in named {
            let Some(name) = self.schedule.values.name(*value) else { continue };
            for (index, part) in bits.parts.iter().enumerate() {
                let Some(number) = kept.get(part) else { continue };
                let name = if bits.parts.len() == 1 { name.to_string() } else { format!("{name}_{}", 32 * index) };
                names.entry(*number).or_insert(name);
            }
        }
        names
    }

    /// Masks of all exits, and of those that are bulk drops.
    fn exits_and_drops(&mut self) -> Result<(Number, Number)> {
        let (mut exits, mut drops) = (self.steps.mask(false), self.steps.mask(false));
        let mut open = self.steps.mask(true);
        let list = &self.schedule.stages[0].exits;
        for exit in list {
            let mask = self.mask(exit.when)?;
            exits = self.steps.operate(Operator::Or, exits, mask);
            if exit.end.is_some() {
                let first = self.steps.operate(Operator::And, open, mask);
                drops = self.steps.operate(Operator::Or, drops, first);
            } else {
                let others = self.steps.not(mask);
                open = self.steps.operate(Operator::And, open, others);
            }
        }
        let drops = if list.iter().all(|exit| exit.end.is_some()) { exits } else { drops };
        Ok((exits, drops))
    }

    fn exits(mut self, lanes: &Lanes) -> Result<Option<LanesExits>> {
        let schedule = self.schedule;
        let mut kinds = Vec::new();
        for exit in &schedule.stages[0].exits {
            kinds.push((self.mask(exit.when)?, exit.end.clone()));
        }
        let results: Vec<Number> = kinds.iter().map(|(mask, _)| *mask).collect();
        let (steps, kept) = self.steps.needed(&results);
        kinds.iter_mut().for_each(|(mask, _)| *mask = kept[mask]);
        let (rows, bytes) = loaded(&steps, schedule.stages[0].bytes, &lanes.rows);
        let names = self.names(&kept);
        Ok((bytes <= lanes.bytes).then_some(LanesExits { steps, rows, names, kinds }))
    }

    fn mask(&mut self, value: Value) -> Result<Number> {
        if let Some(known) = self.masks.get(&value) {
            return Ok(*known);
        }
        let mask = match self.schedule.values.of(value).clone() {
            Operation::Constant(number) => self.steps.mask(number.is_true()),
            Operation::Unary(_, operand) => {
                let mask = self.mask(operand)?;
                self.steps.not(mask)
            }
            Operation::Binary(operator, left, right) => self.predicate(operator, left, right)?,
            Operation::Choose { condition, then, otherwise } => {
                let parts = [self.mask(condition)?, self.mask(then)?, self.mask(otherwise)?];
                self.steps.choose(parts[0], parts[1], parts[2])
            }
            Operation::Packet { .. }
            | Operation::Length
            | Operation::Headroom
            | Operation::Port
            | Operation::Register { .. }
            | Operation::Lookup { .. }
            | Operation::Slice { .. }
            | Operation::Extend { .. }
            | Operation::FromBool(_)
            | Operation::Sum(_)
            | Operation::Hash { .. } => unreachable!("these yield bits"),
        };
        self.masks.insert(value, mask);
        Ok(mask)
    }

    fn predicate(&mut self, operator: Binary, left: Value, right: Value) -> Result<Number> {
        let is_equal = operator == Binary::Equal;
        if self.schedule.values.kind(left) == Type::Bool {
            let (left, right) = (self.mask(left)?, self.mask(right)?);
            let operator = of(&LOGICAL, operator).ok_or("orders booleans")?;
            let result = self.steps.operate(operator, left, right);
            return Ok(if is_equal { self.steps.not(result) } else { result });
        }
        let is_swapped = matches!(operator, Binary::Greater | Binary::GreaterEqual);
        let operator = of(&COMPARED, operator).ok_or("compares numbers with signs")?;
        let (left, right) = if is_swapped { (right, left) } else { (left, right) };
        let (left, right) = (self.bits(left)?, self.bits(right)?);
        if let (Some(left), Some(right)) = (left.narrow(), right.narrow()) {
            return Ok(self.steps.operate(operator, left, right));
        }
        if operator != Operator::Equal && operator != Operator::NotEqual {
            return Err("orders numbers of more than 32 bits");
        }
        let mut mask = self.steps.mask(true);
        for (left, right) in left.parts.iter().zip(&right.parts) {
            let same = self.steps.operate(Operator::Equal, *left, *right);
            mask = self.steps.operate(Operator::And, mask, same);
        }
        Ok(if operator == Operator::Equal { mask } else { self.steps.not(mask) })
    }

    fn bits(&mut self, value: Value) -> Result<Bits> {
        if let Some(known) = self.bits.get(&value) {
            return Ok(known.clone());
        }
        let width = self.schedule.values.width(value);
        let one = |part: Number| Bits { width, parts: vec![part] };
        let bits = match self.schedule.values.of(value).clone() {
            Operation::Constant(number) => {
                let digits = number.bits.to_big().to_u32_digits();
                let digit = |index: u32| digits.get(index as usize).copied().unwrap_or(0);
                let parts = (0..width.div_ceil(32)).map(|index| self.steps.constant(digit(index))).collect();
                Bits { width, parts }
            }
            Operation::Packet { bit } => self.steps.packet(bit, width, self.phase),
            Operation::Length => one(self.steps.read(Step::Length)),
            Operation::Headroom => return Err("asks for headroom"),
            Operation::Port => one(self.steps.read(Step::Port)),
            Operation::Register { .. } if width > 32 => return Err("reads a register of more than 32 bits"),
            Operation::Register { register, index } => {
                let of = self.bits(index)?.narrow().ok_or("reads a register by an index of more than 32 bits")?;
                let read = self.steps.read(Step::Register { register, of });
                one(self.steps.fit(read, width))
            }
            Operation::Lookup { hash: Some(_), .. } => return Err("chooses a member of a group"),
            Operation::Lookup { node, what, hash: None } => self.lookup(node, what, width)?,
            Operation::Unary(operator, operand) => {
                let operand = self.bits(operand)?;
                self.unary(operator, &operand)?
            }
            Operation::Binary(operator, left, right) => self.binary(operator, left, right)?,
            Operation::Slice { of, low } => {
                let of = self.bits(of)?;
                self.steps.slice(&of, low, width)
            }
            Operation::Extend { of, signed: false } => {
                let of = self.bits(of)?;
                self.steps.slice(&of, 0, width)
            }
            Operation::Extend { .. } => return Err("extends a number by its sign"),
            Operation::Choose { condition, then, otherwise } => {
                let mask = self.mask(condition)?;
                let (then, otherwise) = (self.bits(then)?, self.bits(otherwise)?);
                let pairs = then.parts.iter().zip(&otherwise.parts);
                let parts = pairs.map(|(then, otherwise)| self.steps.choose(mask, *then, *otherwise)).collect();
                Bits { width, parts }
            }
            Operation::FromBool(truth) => {
                let mask = self.mask(truth)?;
                one(self.steps.fit(mask, 1))
            }
            Operation::Sum(sum) => one(self.sum(&sum)?),
            Operation::Hash { .. } => return Err("hashes other than by a checksum"),
        };
        self.bits.insert(value, bits.clone());
        Ok(bits)
    }

    fn unary(&mut self, operator: Unary, operand: &Bits) -> Result<Bits> {
        let width = operand.width;
        if operator == Unary::Complement {
            let mut parts = Vec::new();
            for (index, part) in operand.parts.iter().enumerate() {
                let ones = self.steps.constant(ones(width - 32 * index as u32));
                parts.push(self.steps.operate(Operator::Xor, *part, ones));
            }
            return Ok(Bits { width, parts });
        }
        let part = operand.narrow().ok_or("computes with numbers of more than 32 bits")?;
        let zero = self.steps.constant(0);
        let negative = self.steps.operate(Operator::Subtract, zero, part);
        Ok(Bits { width, parts: vec![self.steps.fit(negative, width)] })
    }

    fn binary(&mut self, operator: Binary, left: Value, right: Value) -> Result<Bits> {
        let (left, right) = (self.bits(left)?, self.bits(right)?);
        let width = left.width;
        if operator == Binary::Concat {
            return Ok(self.steps.placed(width + right.width, [(0, &right), (right.width, &left)]));
        }
        if operator == Binary::ShiftLeft || operator == Binary::ShiftRight {
            return self.shift(operator, &left, &right);
        }
        let plain = of(&COMPUTED, operator).ok_or("divides, saturates or shifts a sign")?;
        if matches!(plain, Operator::And | Operator::Or | Operator::Xor) {
            let pairs = left.parts.iter().zip(&right.parts);
            return Ok(Bits { width, parts: pairs.map(|(a, b)| self.steps.operate(plain, *a, *b)).collect() });
        }
        let (Some(left), Some(right)) = (left.narrow(), right.narrow()) else {
            return Err("computes with numbers of more than 32 bits");
        };
        let result = self.steps.operate(plain, left, right);
        Ok(Bits { width, parts: vec![self.steps.fit(result, width)] })
    }

    /// A shift by a constant.
    fn shift(&mut self, operator: Binary, value: &Bits, by: &Bits) -> Result<Bits> {
        let amounts: Option<Vec<u32>> = by.parts.iter().map(|part| self.steps.known(*part)).collect();
        let amounts = amounts.ok_or("shifts by what is not a constant")?;
        let width = value.width;
        let is_all = amounts.iter().skip(1).any(|part| *part != 0) || amounts.first().is_some_and(|by| *by >= width);
        let by = amounts.first().copied().unwrap_or(0);
        if is_all {
            let zero = self.steps.constant(0);
            return Ok(Bits { width, parts: vec![zero; width.div_ceil(32) as usize] });
        }
        if operator == Binary::ShiftRight {
            let high = self.steps.slice(value, by, width - by);
            return Ok(self.steps.slice(&high, 0, width));
        }
        let low = self.steps.slice(value, 0, width - by);
        Ok(self.steps.placed(width, [(by, &low)]))
    }

    /// The record number of a lookup that the stage makes at once.
    fn found(&mut self, node: NodeId) -> Result<Number> {
        let place = self.schedule.place(node)?;
        let lookup = self.schedule.lookups.iter().find(|lookup| lookup.place == place).expect("it has this place");
        let [limb] = lookup.key.as_slice() else { return Err("looks up a key that does not have 1 to 32 bits") };
        let key = self.bits(*limb)?.narrow().ok_or("looks up a key that does not have 1 to 32 bits")?;
        Ok(self.steps.read(Step::TableRead { place, what: TableRead::Found, of: key }))
    }

    fn lookup(&mut self, node: NodeId, what: Found, width: u32) -> Result<Bits> {
        let place = self.schedule.place(node)?;
        let found = self.found(node)?;
        let mut read = |what, of| self.steps.read(Step::TableRead { place, what, of });
        if what == Found::Number {
            return Ok(Bits { width, parts: vec![found] });
        }
        let record = read(TableRead::Record, found);
        let Found::Parameter { action, parameter, low } = what else {
            return Ok(Bits { width, parts: vec![read(TableRead::Action, record)] });
        };
        if low + width > 64 {
            return Err("takes a parameter of more than 64 bits");
        }
        let parts = (0..(low + width).div_ceil(32))
            .map(|part| read(TableRead::Parameter { action, parameter, part }, record))
            .collect();
        // A record of another action may have any bits here, and the value may be part of a key.
        Ok(self.steps.slice(&Bits { width: low + width, parts }, low, width))
    }

    fn sum(&mut self, sum: &Sum) -> Result<Number> {
        let (mut words, mut count) = (self.steps.constant(0), 0);
        for (from, to) in &sum.bytes {
            count += (to - from) / 2;
            let piece = self.steps.packet_sum(*from, *to, self.phase);
            words = self.steps.operate(Operator::Add, words, piece);
        }
        for value in &sum.words {
            let bits = self.bits(*value)?;
            count += bits.width / 16;
            for part in bits.parts {
                let (low, by) = (self.steps.fit(part, 16), self.steps.constant(16));
                let high = self.steps.operate(Operator::ShiftRight, part, by);
                words = self.steps.operate(Operator::Add, words, low);
                words = self.steps.operate(Operator::Add, words, high);
            }
        }
        if sum.subtract {
            let all = self.steps.constant(0xffff * count);
            words = self.steps.operate(Operator::Subtract, all, words);
        }
        if let Some(before) = sum.before {
            let before = self.bits(before)?.narrow().ok_or("sums into a variable of more than 32 bits")?;
            words = self.steps.operate(Operator::Add, before, words);
        }
        Ok(self.steps.folded(words))
    }
}
