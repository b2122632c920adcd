//! Statements of nodes and actions. An assignment is a new state, everything else is an effect of the commit phase.

use crate::run::{Result, Run};
use crate::value::{Operation, Value};
use crate::{Does, Effect};
use hlir::effects::Speculable;
use hlir::objects::Algorithm;
use hlir::{Binary, Call, CounterId, Expression, HeaderId, Place, RegisterId, Statement, Type, VariableId};

impl Run<'_> {
    pub fn statements(&mut self, body: &[Statement]) -> Result<()> {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        match statement {
            Statement::Assign { target, value } => {
                let value = self.value(value)?;
                self.put(*target, value)
            }
            Statement::If { condition, then, otherwise } => self.either(condition, then, otherwise),
            Statement::Scope { label, body } => {
                self.statements(body)?;
                let left: Vec<Value> =
                    self.left.extract_if(.., |(of, _)| of == label).map(|(_, packets)| packets).collect();
                for packets in left {
                    self.live = self.values.or(self.live, packets);
                }
                Ok(())
            }
            Statement::Leave(label) => {
                let packets = self.leave();
                self.left.push((label.clone(), packets));
                Ok(())
            }
            Statement::Exit => self.exit_early(),
            Statement::Extract { header, varbit: None } => self.extract(*header),
            Statement::Lookahead { into, offset } => self.look_ahead(*into, *offset),
            Statement::Verify { condition, .. } => {
                let holds = self.value(condition)?;
                let runs = self.runs();
                let fails = self.values.and_not(runs, holds);
                self.exit(fails, None);
                Ok(())
            }
            Statement::SetInvalid(header) if !self.state.headers.contains_key(header) => Ok(()),
            Statement::SetValid(header) if self.state.headers.contains_key(header) => Ok(()),
            Statement::Call(call) => self.call(call),
            Statement::Loop { .. }
            | Statement::SetValid(_)
            | Statement::SetInvalid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
            | Statement::Extract { varbit: Some(_), .. }
            | Statement::Advance(_)
            | Statement::Emit(_)
            | Statement::Truncate(_) => Err("changes which headers the packet has"),
        }
    }

    fn extract(&mut self, header: HeaderId) -> Result<()> {
        let bits: u32 = self.program.headers[header].fields.iter().map(|field| field.width).sum();
        if !self.is_certain() || self.state.headers.contains_key(&header) {
            return Err("extracts a header for some packets only, or twice");
        }
        self.state.headers.insert(header, self.state.cursor);
        self.state.cursor += bits / 8;
        Ok(())
    }

    fn look_ahead(&mut self, into: VariableId, offset: u32) -> Result<()> {
        let Type::Bits(width) = self.program.variables[into].kind else { return Err("looks ahead to a boolean") };
        let from = 8 * self.state.cursor + offset;
        self.ahead = self.ahead.max((from + width).div_ceil(8));
        let value = self.values.packet(from, width);
        self.put(Place::Variable(into), value)
    }

    fn call(&mut self, call: &Call) -> Result<()> {
        match call {
            Call::Count { counter, index: None } => {
                let (lookup, ..) = self.running.ok_or("counts directly outside of an action")?;
                self.give_up();
                self.effect(Does::CountDirect { counter: *counter, lookup });
                Ok(())
            }
            Call::Count { counter, index: Some(index) } => {
                let index = self.value(index)?;
                if self.values.width(index) > 64 {
                    return Err("counts at an index of more than 64 bits");
                }
                self.count(*counter, index);
                self.effect(Does::Count { counter: *counter, index });
                Ok(())
            }
            Call::Hash { algorithm: Algorithm::InternetChecksum, data, into } => self.checksum(data, *into),
            Call::AddChecksum { sum, data, subtract } => self.add_checksum(*sum, data, *subtract),
            Call::ReadRegister { register, index, into } if self.is_speculative => {
                self.read_register(*register, index, *into)
            }
            Call::Hash { .. }
            | Call::ReadRegister { .. }
            | Call::WriteRegister { .. }
            | Call::ExecuteMeter { .. }
            | Call::Random { .. }
            | Call::SendDigest { .. }
            | Call::Log { .. }
            | Call::Assert { .. }
            | Call::AddEntry { .. }
            | Call::RestartTimer { .. }
            | Call::Custom { .. } => Err("uses state, or hashes other than by a checksum"),
        }
    }

    /// Reads a register that no packet writes. Commit takes the value that was read: the control plane may write
    /// meanwhile.
    fn read_register(&mut self, register: RegisterId, index: &Expression, into: Place) -> Result<()> {
        let declared = &self.program.registers[register];
        let is_kept = Speculable::of(self.program, self.node).kept.contains(&register);
        if !is_kept || !self.is_certain() || declared.width > 32 {
            return Err("reads a register under a condition, that packets write, or of more than 32 bits");
        }
        let index = self.value(index)?;
        let before = self.value(&Expression::place(into))?;
        let width = self.values.width(before);
        let read = self.values.add(Operation::Register { register, index }, Type::Bits(declared.width));
        self.reads.push(read);
        let read = match declared.width.cmp(&width) {
            std::cmp::Ordering::Less => self.values.extend(read, width, false),
            std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => self.values.slice(read, 0, width),
        };
        // Beyond the end of the register, the variable keeps its value.
        let bits = self.values.width(index);
        let is_there = match bits < 64 && 1u64 << bits <= declared.size {
            true => self.values.bool(true),
            false => {
                let size = self.values.word(declared.size, bits);
                self.values.binary(Binary::Less, index, size)
            }
        };
        let value = self.values.choose(is_there, read, before);
        self.give_up();
        self.put(into, value)
    }

    /// Whether the current statement runs for all packets.
    fn is_certain(&mut self) -> bool {
        let runs = self.runs();
        self.values.holds(runs) == Some(true)
    }

    /// Packets for which the current statement runs.
    pub fn runs(&mut self) -> Value {
        self.values.and(self.active, self.live)
    }

    pub fn effect(&mut self, does: Does) {
        let when = self.runs();
        self.effects.push(Effect { when, node: self.node, does });
    }

    pub fn put(&mut self, target: Place, value: Value) -> Result<()> {
        let (live, program) = (self.live, self.program);
        match target {
            Place::Variable(variable) => {
                let before = self.state.variable(program, &mut self.values, variable);
                let value = self.values.choose(live, value, before);
                self.values.call(value, || program.variables[variable].name.clone());
                self.state.variables.insert(variable, value);
            }
            Place::Field(field) => {
                let before = self.state.field(program, &mut self.values, field);
                let before = before.ok_or("writes to a header that has not been extracted")?;
                let value = self.values.choose(live, value, before);
                self.state.fields.insert(field, value);
            }
        }
        Ok(())
    }

    /// Packets that run the current statement leave.
    fn leave(&mut self) -> Value {
        let packets = self.runs();
        self.live = self.values.and_not(self.live, self.active);
        packets
    }

    fn exit_early(&mut self) -> Result<()> {
        let packets = self.leave();
        match self.exit_to {
            Some(to) => self.exit(packets, Some(to)),
            None => self.exited = self.values.or(self.exited, packets),
        }
        Ok(())
    }

    /// Runs both arms and chooses between their states.
    fn either(&mut self, condition: &Expression, then: &[Statement], otherwise: &[Statement]) -> Result<()> {
        let condition = self.value(condition)?;
        match self.values.holds(condition) {
            Some(true) => return self.statements(then),
            Some(false) => return self.statements(otherwise),
            None => {}
        }
        let (before, all) = (self.state.clone(), self.active);
        let opposite = self.values.not(condition);
        let has_left = self.arm(condition, then)?;
        let taken = std::mem::replace(&mut self.state, before.clone());
        self.active = all;
        let other_has_left = self.arm(opposite, otherwise)?;
        self.active = all;
        match (has_left, other_has_left) {
            // The state of packets that have taken a side exit is no longer needed.
            (true, _) => {}
            (false, true) => self.state = taken,
            (false, false) => {
                let state = self.state.merged(self.program, &mut self.values, condition, &taken);
                self.state = state.ok_or("extracts a header for some packets only")?;
            }
        }
        Ok(())
    }

    /// One arm, and whether all of its packets take a side exit.
    fn arm(&mut self, condition: Value, body: &[Statement]) -> Result<bool> {
        self.active = self.values.and(self.active, condition);
        let (before, effects, counted) = (self.live, self.effects.len(), self.exit_state.clone());
        self.statements(body)?;
        if self.exit_to.is_some() && matches!(body.last(), Some(Statement::Exit)) {
            // None of these packets commits.
            self.effects.truncate(effects);
            (self.live, self.exit_state) = (before, counted);
            return Ok(true);
        }
        if self.exit_state.counted != counted.counted {
            self.give_up();
        }
        Ok(false)
    }

    fn count(&mut self, counter: CounterId, index: Value) {
        match self.uniform_index(counter, index) {
            Some(index) => self.exit_state.counted.extend(index),
            None => self.give_up(),
        }
    }
}
