//! A path's front, run for a packet of which nothing is known but that it stays on the path.

use super::bytes::{Bits, rows};
use super::steps::Steps;
use super::{Lanes, Number, Obstacle, Operator, ROW_BYTES, Rewrites, Step};
use crate::effects::{Ahead, ahead, never_ahead};
use crate::path::{Stage, table_of};
use crate::{
    Algorithm, Binary, Call, Expression, FieldRef, HashInput, HeaderId, Intrinsic, KeySet, NodeId, NodeKind, ParserId,
    Place, Program, Select, Statement, Type, Unary, VariableId,
};
use num_bigint::BigUint;
use std::collections::BTreeMap;

type Result<T> = std::result::Result<T, &'static str>;

const UNKNOWN: &str = "reads what only the look-up says";

/// What a packet has at a point of its way: the same for all, but for the values.
#[derive(Clone, PartialEq)]
pub(super) struct State {
    /// Of those that were assigned; all others are zero. Booleans are one bit wide. None where the look-up has to say it.
    variables: BTreeMap<VariableId, Option<Bits>>,
    /// Of those that were assigned, by an action; all others are as the packet has them.
    fields: BTreeMap<FieldRef, Option<Bits>>,
    /// Where the headers begin that were extracted, in bytes.
    headers: BTreeMap<HeaderId, u32>,
    /// In bytes.
    cursor: u32,
}

pub(super) struct Run<'p> {
    pub program: &'p Program,
    pub steps: Steps,
    pub phase: u32,
    pub state: State,
    /// A mask: packets for which the statement at hand is run.
    active: Number,
    /// A mask: packets that may leave the path.
    leaves: Number,
    /// States of each parser so far.
    states: BTreeMap<ParserId, u32>,
}

pub fn run(program: &Program, path: &[NodeId], first: &Stage, phase: u32) -> std::result::Result<Lanes, Obstacle> {
    let mut steps = Steps::default();
    let (active, leaves) = (steps.mask(true), steps.mask(false));
    let state = State { variables: BTreeMap::new(), fields: BTreeMap::new(), headers: BTreeMap::new(), cursor: 0 };
    let mut run = Run { program, steps, phase, state, active, leaves, states: BTreeMap::new() };
    for at in 0..first.place {
        let obstacle = |does| Obstacle { node: path[at], does };
        run.node(path[at], path[at + 1]).map_err(obstacle)?;
        if run.steps.known(run.leaves).is_some_and(|mask| mask != 0) {
            return Err(obstacle("takes every packet off the path"));
        }
    }
    let mut keys = Vec::new();
    for place in &first.looked_up {
        keys.push((*place, run.key(path[*place]).map_err(|does| Obstacle { node: path[*place], does })?));
    }
    let rewrites = table_of(program, path[first.place]).map(|table| run.rewrites(table)).unwrap_or_default();
    Ok(run.finish(keys, rewrites))
}

impl Run<'_> {
    fn finish(self, keys: Vec<(usize, Bits)>, mut rewrites: Vec<Rewrites>) -> Lanes {
        let stored = rewrites.iter().flat_map(|action| &action.stores).map(|store| store.value);
        let results: Vec<Number> =
            keys.iter().flat_map(|(_, key)| key.parts.iter().copied()).chain(stored).chain([self.leaves]).collect();
        let (steps, kept) = self.steps.needed(&results);
        let mut words: Vec<u32> =
            steps.iter().filter_map(|step| if let Step::Word(word) = step { Some(*word) } else { None }).collect();
        words.sort_unstable();
        let rows = rows(&words);
        let bytes = rows.iter().map(|row| row + ROW_BYTES).chain([self.state.cursor]).max().unwrap_or(0);
        let keys = keys.into_iter().map(|(place, key)| (place, key.parts.iter().map(|part| kept[part]).collect()));
        for store in rewrites.iter_mut().flat_map(|action| &mut action.stores) {
            store.value = kept[&store.value];
        }
        Lanes { leaves: kept[&self.leaves], keys: keys.collect(), rewrites, steps, rows, bytes }
    }

    /// Packets that do not satisfy the mask may leave.
    fn require(&mut self, mask: Number) {
        let fails = self.steps.not(mask);
        let fails = self.steps.operate(Operator::And, self.active, fails);
        self.leaves = self.steps.operate(Operator::Or, self.leaves, fails);
    }

    fn node(&mut self, node: NodeId, next: NodeId) -> Result<()> {
        if never_ahead(self.program, node) {
            return Err("asks what may be answered otherwise in the packet's turn");
        }
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
                    let mask = if *then == next { mask } else { self.steps.not(mask) };
                    self.require(mask);
                }
                Ok(())
            }
            NodeKind::Apply { .. } => Err("looks up a table before the first loop"),
            NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => Err("ends the packet's way through the program"),
        }
    }

    /// Packets that go on elsewhere leave.
    fn select(&mut self, select: &Select, next: NodeId) -> Result<()> {
        let keys = select.keys.iter().map(|key| self.bits(key)).collect::<Result<Vec<Bits>>>()?;
        let (mut stays, mut open) = (self.steps.mask(false), self.steps.mask(true));
        for case in &select.cases {
            let mut hit = open;
            for (key, set) in keys.iter().zip(&case.sets) {
                let matches = self.matches(key, set)?;
                hit = self.steps.operate(Operator::And, hit, matches);
            }
            if case.to == next {
                stays = self.steps.operate(Operator::Or, stays, hit);
            }
            let missed = self.steps.not(hit);
            open = self.steps.operate(Operator::And, open, missed);
        }
        if select.otherwise == Some(next) {
            stays = self.steps.operate(Operator::Or, stays, open);
        }
        self.require(stays);
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

    /// The key of a node's look-up: one number, as `Program::key_fields` says.
    fn key(&mut self, node: NodeId) -> Result<Bits> {
        let table = table_of(self.program, node).ok_or("looks up a table without keys")?;
        let fields = self.program.key_fields(table);
        let mut values = Vec::new();
        for field in &fields {
            values.push((field.shift, self.bits(&self.program.tables[table].keys[field.index].value)?));
        }
        let width = fields.iter().map(|field| field.width).sum();
        Ok(self.steps.placed(width, values.iter().map(|(shift, value)| (*shift, value))))
    }

    fn statements(&mut self, body: &[Statement]) -> Result<()> {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        match ahead(statement) {
            Ahead::Runs => {}
            Ahead::Waits => return Ok(()),
            Ahead::Prevents => {
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
                let sum = self.sum(data)?;
                let all = self.steps.constant(0xffff);
                let part = self.steps.operate(Operator::Xor, sum, all);
                self.put(*into, Bits { width: 16, parts: vec![part] })
            }
            Statement::Call(_) => Err("hashes, other than by a checksum"),
            Statement::Leave(_) | Statement::Exit => Err("is left early"),
            Statement::Lookahead { .. } => Err("looks ahead of the parser's cursor"),
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

    fn put(&mut self, target: Place, value: Bits) -> Result<()> {
        let Place::Variable(variable) = target else { return Err("writes a header") };
        self.assigned(Place::Variable(variable), Some(value));
        Ok(())
    }

    /// None: the value is not known here.
    pub fn assigned(&mut self, target: Place, value: Option<Bits>) {
        let width = self.program.place_type(target).width();
        let value = value.map(|value| self.steps.slice(&value, 0, width));
        match target {
            Place::Variable(variable) => drop(self.state.variables.insert(variable, value)),
            Place::Field(field) => drop(self.state.fields.insert(field, value)),
        }
    }

    /// Both ways, and of each variable the value that it has on the way taken.
    fn either(&mut self, condition: &Expression, then: &[Statement], otherwise: &[Statement]) -> Result<()> {
        let mask = self.mask(condition)?;
        match self.steps.known(mask) {
            Some(0) => return self.statements(otherwise),
            Some(_) => return self.statements(then),
            None => {}
        }
        let (before, all) = (self.state.clone(), self.active);
        self.active = self.steps.operate(Operator::And, all, mask);
        self.statements(then)?;
        let taken = std::mem::replace(&mut self.state, before);
        let opposite = self.steps.not(mask);
        self.active = self.steps.operate(Operator::And, all, opposite);
        self.statements(otherwise)?;
        self.active = all;
        if (&taken.headers, taken.cursor) != (&self.state.headers, self.state.cursor) {
            return Err("extracts a header for some packets only");
        }
        let variables: Vec<VariableId> = taken.variables.keys().chain(self.state.variables.keys()).copied().collect();
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

    fn chosen(&mut self, mask: Number, then: &Bits, otherwise: &Bits) -> Bits {
        let pairs = then.parts.iter().zip(&otherwise.parts);
        let parts = pairs.map(|(then, otherwise)| self.steps.choose(mask, *then, *otherwise)).collect();
        Bits { width: then.width, parts }
    }

    /// The folded sum of 16-bit words.
    fn sum(&mut self, data: &[HashInput]) -> Result<Number> {
        const WHOLE: &str = "sums what is not made of whole words";
        // Bits of the packet that lie side by side are one piece.
        let mut pieces: Vec<(u32, u32)> = Vec::new();
        let mut sum = self.steps.constant(0);
        for input in data {
            match input {
                // It counts while its header is valid.
                HashInput::Field(field) if !self.state.headers.contains_key(&field.header) => {}
                HashInput::Field(field) => {
                    let from = self.place_of(*field)?;
                    let to = from + self.program.field(*field).width;
                    match pieces.last_mut() {
                        Some(last) if last.1 == from => last.1 = to,
                        _ => pieces.push((from, to)),
                    }
                }
                HashInput::Bits(value) => {
                    let value = self.bits(value)?;
                    if !value.width.is_multiple_of(16) {
                        return Err(WHOLE);
                    }
                    for part in value.parts {
                        let (low, by) = (self.steps.fit(part, 16), self.steps.constant(16));
                        let high = self.steps.operate(Operator::ShiftRight, part, by);
                        sum = self.steps.operate(Operator::Add, sum, low);
                        sum = self.steps.operate(Operator::Add, sum, high);
                    }
                    // What follows begins a piece of its own.
                    pieces.push((u32::MAX, u32::MAX));
                }
                HashInput::Payload => return Err("sums the payload"),
            }
        }
        for (from, to) in pieces.into_iter().filter(|piece| piece.0 != u32::MAX) {
            if !from.is_multiple_of(8) || !(to - from).is_multiple_of(16) {
                return Err(WHOLE);
            }
            let piece = self.steps.packet_sum(from / 8, to / 8, self.phase);
            sum = self.steps.operate(Operator::Add, sum, piece);
        }
        Ok(self.steps.folded(sum))
    }

    /// The bit of the packet where a field begins.
    pub fn place_of(&self, field: FieldRef) -> Result<u32> {
        let Some(start) = self.state.headers.get(&field.header) else {
            return Err("reads a header that has not been extracted");
        };
        let header = &self.program.headers[field.header];
        let before = &header.fields[..field.field as usize];
        Ok(8 * start + before.iter().map(|field| field.width).sum::<u32>())
    }

    fn number(&mut self, value: &BigUint, width: u32) -> Bits {
        let digits = value.to_u32_digits();
        let digit = |index: u32| digits.get(index as usize).copied().unwrap_or(0);
        Bits { width, parts: (0..width.div_ceil(32)).map(|index| self.steps.constant(digit(index))).collect() }
    }

    fn each(&mut self, operator: Operator, left: &Bits, right: &Bits) -> Bits {
        let pairs = left.parts.iter().zip(&right.parts);
        Bits { width: left.width, parts: pairs.map(|(a, b)| self.steps.operate(operator, *a, *b)).collect() }
    }

    fn compare(&mut self, operator: Operator, left: &Bits, right: &Bits) -> Result<Number> {
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

    fn width_of(&self, expression: &Expression) -> u32 {
        self.program.expression_type(expression, &[]).width()
    }

    fn is_bool(&self, expression: &Expression) -> bool {
        self.program.expression_type(expression, &[]) == Type::Bool
    }

    /// A boolean.
    fn mask(&mut self, expression: &Expression) -> Result<Number> {
        match expression {
            Expression::Bool(truth) => Ok(self.steps.mask(*truth)),
            // No header is made invalid ahead of the packet's turn.
            Expression::Valid(header) => Ok(self.steps.mask(self.state.headers.contains_key(header))),
            Expression::Unary { operator: Unary::Not, operand } => {
                let mask = self.mask(operand)?;
                Ok(self.steps.not(mask))
            }
            Expression::Binary { operator, left, right } => self.predicate(*operator, left, right),
            Expression::Choose { condition, then, otherwise } => {
                let mask = self.mask(condition)?;
                match self.steps.known(mask) {
                    Some(known) => self.mask(if known == 0 { otherwise } else { then }),
                    None => {
                        let (then, otherwise) = (self.mask(then)?, self.mask(otherwise)?);
                        Ok(self.steps.choose(mask, then, otherwise))
                    }
                }
            }
            Expression::Variable(_) => {
                let bit = self.bits(expression)?.parts[0];
                let zero = self.steps.constant(0);
                Ok(self.steps.operate(Operator::NotEqual, bit, zero))
            }
            Expression::VarbitEqual(..) => Err("compares fields of varying length"),
            Expression::Constant { .. }
            | Expression::Field(_)
            | Expression::Parameter(_)
            | Expression::Intrinsic(_)
            | Expression::Unary { .. }
            | Expression::Slice { .. }
            | Expression::Extend { .. }
            | Expression::FromBool(_)
            | Expression::VarbitLength(_) => Err("takes a number for a truth"),
        }
    }

    fn predicate(&mut self, operator: Binary, left: &Expression, right: &Expression) -> Result<Number> {
        let is_equal = operator == Binary::Equal;
        if (is_equal || operator == Binary::NotEqual) && self.is_bool(left) {
            let (left, right) = (self.mask(left)?, self.mask(right)?);
            let differs = self.steps.operate(Operator::Xor, left, right);
            return Ok(if is_equal { self.steps.not(differs) } else { differs });
        }
        let (operator, is_turned) = plain(operator).ok_or("compares numbers with signs")?;
        if operator == Operator::And || operator == Operator::Or {
            let left = self.mask(left)?;
            // What the left side decides need not be known of the right one: a header that is not there has no fields.
            let decides = if operator == Operator::And { 0 } else { u32::MAX };
            if self.steps.known(left) == Some(decides) {
                return Ok(left);
            }
            let right = self.mask(right)?;
            return Ok(self.steps.operate(operator, left, right));
        }
        let (left, right) = (self.bits(left)?, self.bits(right)?);
        if is_turned { self.compare(operator, &right, &left) } else { self.compare(operator, &left, &right) }
    }

    /// A bit string; a boolean is one bit.
    pub fn bits(&mut self, expression: &Expression) -> Result<Bits> {
        let width = self.width_of(expression);
        if self.is_bool(expression) && !matches!(expression, Expression::Variable(_)) {
            let mask = self.mask(expression)?;
            return Ok(Bits { width: 1, parts: vec![self.steps.fit(mask, 1)] });
        }
        let one = |part: Number| Ok(Bits { width, parts: vec![part] });
        match expression {
            Expression::Constant { value, .. } => Ok(self.number(value, width)),
            Expression::Variable(variable) => match self.state.variables.get(variable) {
                Some(value) => value.clone().ok_or(UNKNOWN),
                None => Ok(self.number(&BigUint::ZERO, width)),
            },
            Expression::Field(field) => match self.state.fields.get(field) {
                Some(value) => value.clone().ok_or(UNKNOWN),
                None => {
                    let bit = self.place_of(*field)?;
                    Ok(self.steps.packet(bit, width, self.phase))
                }
            },
            Expression::Intrinsic(Intrinsic::PacketLength) => one(self.steps.read(Step::Length)),
            Expression::Intrinsic(Intrinsic::IngressPort) => one(self.steps.read(Step::Port)),
            Expression::Unary { operator, operand } => {
                let operand = self.bits(operand)?;
                self.unary(*operator, &operand)
            }
            Expression::Binary { operator, left, right } => {
                let (left, right) = (self.bits(left)?, self.bits(right)?);
                self.binary(*operator, &left, &right)
            }
            Expression::Slice { operand, low, .. } => {
                let operand = self.bits(operand)?;
                Ok(self.steps.slice(&operand, *low, width))
            }
            Expression::Extend { operand, signed: false, .. } => {
                let operand = self.bits(operand)?;
                Ok(self.steps.slice(&operand, 0, width))
            }
            Expression::Choose { condition, then, otherwise } => {
                let mask = self.mask(condition)?;
                match self.steps.known(mask) {
                    Some(known) => self.bits(if known == 0 { otherwise } else { then }),
                    None => {
                        let (then, otherwise) = (self.bits(then)?, self.bits(otherwise)?);
                        Ok(self.chosen(mask, &then, &otherwise))
                    }
                }
            }
            Expression::FromBool(truth) => {
                let mask = self.mask(truth)?;
                one(self.steps.fit(mask, 1))
            }
            Expression::Extend { .. } => Err("extends a number by its sign"),
            Expression::Intrinsic(_) => Err("reads the clock"),
            Expression::VarbitLength(_) => Err("reads the length of a field"),
            Expression::Parameter(_) | Expression::Bool(_) | Expression::Valid(_) | Expression::VarbitEqual(..) => {
                Err("takes a truth for a number")
            }
        }
    }

    fn unary(&mut self, operator: Unary, operand: &Bits) -> Result<Bits> {
        let width = operand.width;
        match operator {
            Unary::Complement => {
                let all = (BigUint::from(1u32) << width) - 1u32;
                let all = self.number(&all, width);
                Ok(self.each(Operator::Xor, operand, &all))
            }
            Unary::Negate => {
                let zero = self.number(&BigUint::ZERO, width);
                self.binary(Binary::Subtract, &zero, operand)
            }
            Unary::Not => Err("takes a number for a truth"),
        }
    }

    fn binary(&mut self, operator: Binary, left: &Bits, right: &Bits) -> Result<Bits> {
        let width = left.width;
        if operator == Binary::Concat {
            return Ok(self.steps.placed(width + right.width, [(0, right), (right.width, left)]));
        }
        if operator == Binary::ShiftLeft || operator == Binary::ShiftRight {
            return self.shift(operator, left, right);
        }
        let (operator, _) = plain(operator).ok_or("divides, saturates or shifts a sign")?;
        if matches!(operator, Operator::And | Operator::Or | Operator::Xor) {
            return Ok(self.each(operator, left, right));
        }
        let (Some(left), Some(right)) = (left.narrow(), right.narrow()) else {
            return Err("computes with numbers of more than 32 bits");
        };
        let result = self.steps.operate(operator, left, right);
        Ok(Bits { width, parts: vec![self.steps.fit(result, width)] })
    }

    /// By a known amount.
    fn shift(&mut self, operator: Binary, value: &Bits, by: &Bits) -> Result<Bits> {
        let amounts: Option<Vec<u32>> = by.parts.iter().map(|part| self.steps.known(*part)).collect();
        let amounts = amounts.ok_or("shifts by what is not a constant")?;
        let width = value.width;
        let is_all = amounts.iter().skip(1).any(|part| *part != 0) || amounts.first().is_some_and(|by| *by >= width);
        let by = amounts.first().copied().unwrap_or(0);
        if is_all {
            return Ok(self.number(&BigUint::ZERO, width));
        }
        if operator == Binary::ShiftRight {
            let high = self.steps.slice(value, by, width - by);
            return Ok(self.steps.slice(&high, 0, width));
        }
        let low = self.steps.slice(value, 0, width - by);
        Ok(self.steps.placed(width, [(by, &low)]))
    }
}

/// What an operator is on numbers of at most 32 bits, and whether its operands change places.
fn plain(operator: Binary) -> Option<(Operator, bool)> {
    match operator {
        Binary::Add => Some((Operator::Add, false)),
        Binary::Subtract => Some((Operator::Subtract, false)),
        Binary::Multiply => Some((Operator::Multiply, false)),
        Binary::And | Binary::LogicalAnd => Some((Operator::And, false)),
        Binary::Or | Binary::LogicalOr => Some((Operator::Or, false)),
        Binary::Xor => Some((Operator::Xor, false)),
        Binary::Equal => Some((Operator::Equal, false)),
        Binary::NotEqual => Some((Operator::NotEqual, false)),
        Binary::Less => Some((Operator::Less, false)),
        Binary::LessEqual => Some((Operator::LessEqual, false)),
        Binary::Greater => Some((Operator::Less, true)),
        Binary::GreaterEqual => Some((Operator::LessEqual, true)),
        Binary::Divide
        | Binary::Remainder
        | Binary::AddSaturating
        | Binary::SubtractSaturating
        | Binary::AddSaturatingSigned
        | Binary::SubtractSaturatingSigned
        | Binary::ShiftLeft
        | Binary::ShiftRight
        | Binary::ShiftRightSigned
        | Binary::Concat
        | Binary::LessSigned
        | Binary::LessEqualSigned
        | Binary::GreaterSigned
        | Binary::GreaterEqualSigned => None,
    }
}
