//! Symbolic execution of the first stage for a packet that stays on the path.

use super::bytes::{Bits, loaded};
use super::side_exits::ExitState;
use super::steps::Steps;
use super::{KeptValue, Number, Obstacle, Operator, Rewrites, VectorStage};
use crate::effects::{Speculable, Speculation, deferrable_writes, kept_registers, never_speculable, speculation};
use crate::hot_path::{Stage, table_of};
use crate::{
    Algorithm, Call, Expression, FieldRef, HeaderId, KeySet, NodeId, NodeKind, ParserId, Place, Program, Select,
    Statement, TableId, VariableId,
};
use num_bigint::BigUint;
use std::collections::{BTreeMap, BTreeSet};

pub(super) type Result<T> = std::result::Result<T, &'static str>;

pub(super) const UNKNOWN: &str = "reads a result of the lookup";

/// Symbolic state of a packet: uniform except for the values.
#[derive(Clone, PartialEq)]
pub(super) struct State {
    /// Variables that were assigned; all others are zero. Booleans have one bit. None if only the lookup
    /// decides.
    pub variables: BTreeMap<VariableId, Option<Bits>>,
    /// Fields that an action assigned; all others are as in the packet.
    pub fields: BTreeMap<FieldRef, Option<Bits>>,
    /// Byte offsets of extracted headers.
    pub headers: BTreeMap<HeaderId, u32>,
    /// In bytes.
    pub cursor: u32,
}

/// The record of the running action.
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub table: TableId,
    pub place: usize,
    pub action: usize,
    pub number: Number,
}

pub(super) struct Run<'p> {
    pub program: &'p Program,
    pub steps: Steps,
    pub phase: u32,
    pub state: State,
    /// A mask: packets for which the current statement runs.
    pub active: Number,
    /// A mask: packets that may exit.
    pub exits: Number,
    /// Lookups before the cut, with the record numbers they find.
    pub found: Vec<(usize, Number)>,
    /// The record of the current action.
    pub record: Option<Record>,
    /// Visited states by parser.
    states: BTreeMap<ParserId, u32>,
    /// What becomes of exits.
    pub exit_state: ExitState,
    /// Values of registers.
    pub kept: Vec<KeptValue>,
    /// The position of the current node.
    pub place: usize,
    /// What the current node may do, if it is a block or a lookup.
    speculable: Speculable,
    /// Where `exit` in the current block goes, if that is a side exit.
    exit_to: Option<NodeId>,
    /// The end of all bytes that the parser looked ahead to.
    ahead: u32,
}

/// Executes everything before a stage.
pub fn front<'p>(
    program: &'p Program,
    path: &[NodeId],
    first: &Stage,
    phase: u32,
) -> std::result::Result<Run<'p>, Obstacle> {
    let mut steps = Steps::default();
    let (active, exits) = (steps.mask(true), steps.mask(false));
    let state = State { variables: BTreeMap::new(), fields: BTreeMap::new(), headers: BTreeMap::new(), cursor: 0 };
    let (found, record, states, exit_state) = (Vec::new(), None, BTreeMap::new(), ExitState::default());
    let speculable = Speculable::default();
    let (kept, place, exit_to, ahead) = (Vec::new(), 0, None, 0);
    let mut run = Run {
        program,
        steps,
        phase,
        state,
        active,
        exits,
        found,
        record,
        states,
        exit_state,
        kept,
        place,
        speculable,
        exit_to,
        ahead,
    };
    for at in 0..first.place {
        let obstacle = |does| Obstacle { node: path[at], does };
        run.node(at, path[at], path[at + 1]).map_err(obstacle)?;
        if run.steps.known(run.exits).is_some_and(|mask| mask != 0) {
            return Err(obstacle("is a side exit for every packet"));
        }
    }
    (run.speculable, run.exit_to) = (Speculable::default(), None);
    Ok(run)
}

pub fn run(
    program: &Program,
    path: &[NodeId],
    first: &Stage,
    phase: u32,
) -> std::result::Result<VectorStage, Obstacle> {
    let mut run = front(program, path, first, phase)?;
    let mut keys = Vec::new();
    for place in &first.looked_up {
        keys.push((*place, run.key(path[*place]).map_err(|does| Obstacle { node: path[*place], does })?));
    }
    let rewrites = table_of(program, path[first.place]).map(|table| run.rewrites(table)).unwrap_or_default();
    Ok(run.finish(keys, rewrites))
}

impl Run<'_> {
    fn finish(mut self, keys: Vec<(usize, Bits)>, mut rewrites: Vec<Rewrites>) -> VectorStage {
        let drops = self.drops();
        let stored = rewrites.iter().flat_map(|action| &action.stores).map(|store| store.value);
        let held = self.kept.iter().map(|kept| kept.value);
        let numbers = self.found.iter().map(|(_, number)| *number).chain(held).chain([self.exits, drops]);
        let results: Vec<Number> =
            keys.iter().flat_map(|(_, key)| key.parts.iter().copied()).chain(stored).chain(numbers).collect();
        let (steps, kept) = self.steps.needed(&results);
        let (rows, bytes) = loaded(&steps, self.taken(), &[]);
        let keys = keys.into_iter().map(|(place, key)| (place, key.parts.iter().map(|part| kept[part]).collect()));
        let found = self.found.iter().map(|(place, number)| (*place, kept[number])).collect();
        let held = self.kept.iter().map(|value| KeptValue { value: kept[&value.value], ..*value }).collect();
        for store in rewrites.iter_mut().flat_map(|action| &mut action.stores) {
            store.value = kept[&store.value];
        }
        let (exits, drops) = (kept[&self.exits], kept[&drops]);
        VectorStage { exits, drops, found, kept: held, keys: keys.collect(), rewrites, steps, rows, bytes }
    }

    /// Contiguous bytes that the parser needs.
    pub fn taken(&self) -> u32 {
        self.state.cursor.max(self.ahead)
    }

    /// Packets outside the mask may exit. Returns these.
    fn stay(&mut self, mask: Number) -> Number {
        let fails = self.steps.not(mask);
        let fails = self.steps.operate(Operator::And, self.active, fails);
        self.exits = self.steps.operate(Operator::Or, self.exits, fails);
        fails
    }

    /// The same; they must run as in the plain program.
    pub fn require(&mut self, mask: Number) {
        let fails = self.stay(mask);
        self.exit(fails, None);
    }

    fn node(&mut self, place: usize, node: NodeId, next: NodeId) -> Result<()> {
        if never_speculable(self.program, node) {
            return Err("has a result that may differ in the commit phase");
        }
        self.place = place;
        self.speculable = match &self.program.nodes[node].kind {
            NodeKind::Block { body, .. } => {
                let kept = kept_registers(self.program, node);
                if !kept.is_empty() && !reads_at_top(body) {
                    return Err("reads a register under a condition");
                }
                Speculable { deferrable: deferrable_writes(self.program, node), kept }
            }
            NodeKind::Apply { .. } => {
                Speculable { deferrable: deferrable_writes(self.program, node), ..Speculable::default() }
            }
            NodeKind::State { .. } | NodeKind::Branch { .. } | NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => {
                Speculable::default()
            }
        };
        self.exit_to = match &self.program.nodes[node].kind {
            NodeKind::Block { exit, .. } => exit.filter(|to| *to != next),
            NodeKind::State { .. }
            | NodeKind::Branch { .. }
            | NodeKind::Apply { .. }
            | NodeKind::Deparse { .. }
            | NodeKind::Buffer { .. } => None,
        };
        match &self.program.nodes[node].kind {
            NodeKind::State { parser, body, select } => {
                let states = self.states.entry(*parser).or_default();
                *states += 1;
                if *states > self.program.budget.states {
                    return Err("comes when the parser's budget is used up");
                }
                self.statements(body)?;
                self.select(select, next)
            }
            NodeKind::Block { next: to, .. } if *to != next => Err("is left early"),
            NodeKind::Block { body, .. } => self.statements(body),
            NodeKind::Branch { condition, then, otherwise } => {
                if then != otherwise {
                    let mask = self.mask(condition)?;
                    let stays = *then == next;
                    let mask = if stays { mask } else { self.steps.not(mask) };
                    let fails = self.stay(mask);
                    self.exit(fails, Some(if stays { *otherwise } else { *then }));
                }
                Ok(())
            }
            NodeKind::Apply { table, next: outcomes, .. } => self.look_up(place, node, *table, outcomes, next),
            NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => Err("ends the packet's path through the program"),
        }
    }

    /// Packets that continue elsewhere exit.
    fn select(&mut self, select: &Select, next: NodeId) -> Result<()> {
        let keys = select.keys.iter().map(|key| self.bits(key)).collect::<Result<Vec<Bits>>>()?;
        let (mut stays, mut open) = (self.steps.mask(false), self.steps.mask(true));
        for case in &select.cases {
            let mut hit = open;
            for (key, set) in keys.iter().zip(&case.sets) {
                let matches = self.matches(key, set)?;
                hit = self.steps.operate(Operator::And, hit, matches);
            }
            match case.to == next {
                true => stays = self.steps.operate(Operator::Or, stays, hit),
                false => self.exit(hit, Some(case.to)),
            }
            let missed = self.steps.not(hit);
            open = self.steps.operate(Operator::And, open, missed);
        }
        match select.otherwise == Some(next) {
            true => stays = self.steps.operate(Operator::Or, stays, open),
            false => self.exit(open, select.otherwise),
        }
        self.stay(stays);
        Ok(())
    }

    fn matches(&mut self, key: &Bits, set: &KeySet) -> Result<Number> {
        match set {
            KeySet::Any => Ok(self.steps.mask(true)),
            KeySet::Value(value) => {
                let value = self.number(value, key.width);
                self.compare(Operator::Equal, key, &value)
            }
            KeySet::Mask { value, mask } => {
                let mask = self.number(mask, key.width);
                let value = self.number(value, key.width);
                let value = self.each(Operator::And, &value, &mask);
                let key = self.each(Operator::And, key, &mask);
                self.compare(Operator::Equal, &key, &value)
            }
            KeySet::Range { low, high } => {
                let low = self.number(low, key.width);
                let high = self.number(high, key.width);
                let from = self.compare(Operator::LessEqual, &low, key)?;
                let to = self.compare(Operator::LessEqual, key, &high)?;
                Ok(self.steps.operate(Operator::And, from, to))
            }
            KeySet::Set(_) => Err("asks for the members of a value set"),
        }
    }

    /// The key of a node's lookup as one number, as in `Program::key_fields`.
    pub fn key(&mut self, node: NodeId) -> Result<Bits> {
        let table = table_of(self.program, node).ok_or("looks up a table without keys")?;
        let fields = self.program.key_fields(table);
        let mut values = Vec::new();
        for field in &fields {
            values.push((field.shift, self.bits(&self.program.tables[table].keys[field.index].value)?));
        }
        let width = fields.iter().map(|field| field.width).sum();
        Ok(self.steps.placed(width, values.iter().map(|(shift, value)| (*shift, value))))
    }

    pub fn statements(&mut self, body: &[Statement]) -> Result<()> {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        match speculation(statement, &self.speculable) {
            Speculation::Runs => {}
            Speculation::Deferred => {
                self.defer(statement);
                return Ok(());
            }
            Speculation::Kept => return self.keep(statement),
            Speculation::SideEffect => {
                let never = self.steps.mask(false);
                self.require(never);
                return Ok(());
            }
        }
        match statement {
            Statement::Assign { target, value } => {
                let value = self.bits(value)?;
                self.put(*target, value)
            }
            Statement::If { condition, then, otherwise } => self.either(condition, then, otherwise),
            Statement::Scope { body, .. } => self.statements(body),
            Statement::Extract { header, .. } => {
                let bits: u32 = self.program.headers[*header].fields.iter().map(|field| field.width).sum();
                self.state.headers.insert(*header, self.state.cursor);
                self.state.cursor += bits / 8;
                Ok(())
            }
            Statement::Verify { condition, .. } => {
                let holds = self.mask(condition)?;
                self.require(holds);
                Ok(())
            }
            Statement::Call(Call::Hash { algorithm: Algorithm::InternetChecksum, data, into }) => {
                self.checksum(data, *into)
            }
            Statement::Call(Call::AddChecksum { sum, data, subtract }) => self.add_checksum(*sum, data, *subtract),
            Statement::Call(_) => Err("hashes, other than by a checksum"),
            Statement::Exit if self.exit_to.is_some() => {
                let (leaves, to) = (self.active, self.exit_to);
                self.exits = self.steps.operate(Operator::Or, self.exits, leaves);
                self.exit(leaves, to);
                Ok(())
            }
            Statement::Leave(_) | Statement::Exit => Err("is left early"),
            Statement::Lookahead { into, offset } => {
                let width = self.program.variables[*into].kind.width();
                let from = 8 * self.state.cursor + offset;
                self.ahead = self.ahead.max((from + width).div_ceil(8));
                let value = self.steps.packet(from, width, self.phase);
                self.put(Place::Variable(*into), value)
            }
            Statement::Loop { .. }
            | Statement::SetValid(_)
            | Statement::SetInvalid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
            | Statement::Advance(_)
            | Statement::Emit(_)
            | Statement::Truncate(_) => Err("changes the packet"),
        }
    }

    pub fn put(&mut self, target: Place, value: Bits) -> Result<()> {
        let Place::Variable(variable) = target else { return Err("writes a header") };
        self.assigned(Place::Variable(variable), Some(value));
        Ok(())
    }

    /// None: the value is unknown here.
    pub fn assigned(&mut self, target: Place, value: Option<Bits>) {
        let width = self.program.place_type(target).width();
        let value = value.map(|value| self.steps.slice(&value, 0, width));
        match target {
            Place::Variable(variable) => drop(self.state.variables.insert(variable, value)),
            Place::Field(field) => drop(self.state.fields.insert(field, value)),
        }
    }

    /// Executes both arms and blends the variables.
    fn either(&mut self, condition: &Expression, then: &[Statement], otherwise: &[Statement]) -> Result<()> {
        let mask = self.mask(condition)?;
        match self.steps.known(mask) {
            Some(0) => return self.statements(otherwise),
            Some(_) => return self.statements(then),
            None => {}
        }
        if let Some(to) = self.exit_to {
            let opposite = self.steps.not(mask);
            for (mask, body, other) in [(mask, then, otherwise), (opposite, otherwise, then)] {
                if let Some((Statement::Exit, before)) = body.split_last() {
                    let leaves = self.steps.operate(Operator::And, self.active, mask);
                    self.exits = self.steps.operate(Operator::Or, self.exits, leaves);
                    self.exit_behind(leaves, before, to);
                    return self.statements(other);
                }
            }
        }
        let (before, all) = (self.state.clone(), self.active);
        self.active = self.steps.operate(Operator::And, all, mask);
        self.statements(then)?;
        let taken = std::mem::replace(&mut self.state, before);
        let opposite = self.steps.not(mask);
        self.active = self.steps.operate(Operator::And, all, opposite);
        self.statements(otherwise)?;
        self.active = all;
        self.merge(mask, taken)
    }

    /// Blends another state into this one for packets of the mask.
    pub fn merge(&mut self, mask: Number, taken: State) -> Result<()> {
        if (&taken.headers, taken.cursor) != (&self.state.headers, self.state.cursor) {
            return Err("extracts a header for some packets only");
        }
        let variables: BTreeSet<VariableId> =
            taken.variables.keys().chain(self.state.variables.keys()).copied().collect();
        for variable in variables {
            let width = self.program.variables[variable].kind.width();
            let zero = self.number(&BigUint::ZERO, width);
            let zero = Some(zero);
            let then = taken.variables.get(&variable).unwrap_or(&zero).clone();
            let other = self.state.variables.get(&variable).unwrap_or(&zero).clone();
            let merged = then.zip(other).map(|(then, other)| self.chosen(mask, &then, &other));
            self.state.variables.insert(variable, merged);
        }
        Ok(())
    }

    pub fn chosen(&mut self, mask: Number, then: &Bits, otherwise: &Bits) -> Bits {
        let pairs = then.parts.iter().zip(&otherwise.parts);
        let parts = pairs.map(|(then, otherwise)| self.steps.choose(mask, *then, *otherwise)).collect();
        Bits { width: then.width, parts }
    }

    /// The bit offset of a field in the packet.
    pub fn place_of(&self, field: FieldRef) -> Result<u32> {
        let Some(start) = self.state.headers.get(&field.header) else {
            return Err("reads a header that has not been extracted");
        };
        let header = &self.program.headers[field.header];
        let before = &header.fields[..field.field as usize];
        Ok(8 * start + before.iter().map(|field| field.width).sum::<u32>())
    }
}

/// Whether registers are read by statements of a block itself, in their order, and by none within them.
fn reads_at_top(body: &[Statement]) -> bool {
    let is_read = |statement: &Statement| matches!(statement, Statement::Call(Call::ReadRegister { .. }));
    body.iter().filter(|statement| !is_read(statement)).all(|statement| {
        let mut reads = false;
        statement.walk(&mut |inner| reads |= is_read(inner));
        !reads
    })
}
