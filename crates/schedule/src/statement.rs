//! Statements of nodes and actions. An assignment is a new state, everything else is an effect of the commit phase.

use crate::run::{Result, Run, Running};
use crate::value::{Found, Operation, Value};
use crate::{Does, Effect, Obstacle};
use hlir::Algorithm;
use hlir::effects::Speculable;
use hlir::{Binary, Call, CounterId, Expression, HeaderId, NodeId, Place, RegisterId, Statement, Type, VariableId};

impl Run<'_> {
    pub fn statements(&mut self, body: &[Statement]) -> Result<()> {
        body.iter().try_for_each(|statement| {
            let done = self.statement(statement);
            if done.is_err() && !self.all_run() {
                let runs = self.runs();
                self.separate_by(runs);
            }
            done
        })
    }

    /// Notes by what the packets at a node have to be separated, unless that is known: those of the innermost statement.
    /// Whether they will be.
    fn separate_by(&mut self, condition: Value) -> bool {
        let is_open = self.values.holds(condition).is_none();
        let Some(separation) = self.separation.as_mut().filter(|separation| separation.left > 0 && is_open) else {
            return false;
        };
        separation.by.get_or_insert(condition);
        true
    }

    /// Whether the packets at the node have to be separated before it can be run.
    pub fn is_separating(&self) -> bool {
        self.separation.as_ref().is_some_and(|separation| separation.by.is_some())
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        let runs = self.runs();
        if self.values.holds(runs) == Some(false) {
            return Ok(());
        }
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
            Statement::SetInvalid(header) if !self.state.valid.contains(header) => Ok(()),
            Statement::SetValid(header) if self.state.valid.contains(header) => Ok(()),
            Statement::SetInvalid(header) if self.all_run() => {
                self.state.valid.remove(header);
                Ok(())
            }
            Statement::SetValid(header) if self.all_run() => {
                self.state.make_valid(*header);
                Ok(())
            }
            Statement::CopyHeader { to, from } if self.all_run() && !self.is_speculative => {
                self.state.copy(*to, *from);
                Ok(())
            }
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
        if !self.is_certain() || self.state.valid.contains(&header) {
            return Err("extracts a header for some packets only, or twice");
        }
        self.state.extract(header, self.state.cursor);
        self.extracted.insert(header, self.state.cursor);
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
                let Running { lookup, .. } = self.running.ok_or("counts directly outside of an action")?;
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
            Call::Hash { algorithm, data, into } => self.hash(*algorithm, data, *into),
            Call::WriteRegister { register, index, value } => self.write_register(*register, index, value),
            Call::SendDigest { digest, values } => {
                self.give_up();
                let values = values.iter().map(|value| self.bits(value)).collect::<Result<Vec<Value>>>()?;
                let fields = self.program.digests[*digest].fields.iter().map(|(_, width)| *width);
                if !fields.eq(values.iter().map(|value| self.values.width(*value))) {
                    return Err("sends a digest of values of other widths");
                }
                self.effect(Does::Digest { digest: *digest, values });
                Ok(())
            }
            Call::RestartTimer { expiry } => {
                let Running { lookup, .. } = self.running.ok_or("restarts a timer outside of an action")?;
                self.give_up();
                let expiry = expiry.as_ref().map(|expiry| self.bits(expiry)).transpose()?;
                self.when_hit(lookup, Does::Restart { lookup, expiry });
                Ok(())
            }
            Call::Log { .. } | Call::Assert { .. } if self.is_speculative => {
                self.defer("writes to the log");
                Ok(())
            }
            Call::ReadRegister { .. }
            | Call::ExecuteMeter { .. }
            | Call::Random { .. }
            | Call::Log { .. }
            | Call::Assert { .. }
            | Call::AddEntry { .. }
            | Call::Custom { .. } => Err("uses state"),
        }
    }

    fn write_register(&mut self, register: RegisterId, index: &Expression, value: &Expression) -> Result<()> {
        let (index, value) = (self.bits(index)?, self.bits(value)?);
        if self.values.width(value) != self.program.registers[register].width {
            return Err("writes a register with a value of another width");
        }
        self.give_up();
        self.effect(Does::Write { register, index, value });
        Ok(())
    }

    /// A number; of a boolean, its bit.
    fn bits(&mut self, value: &Expression) -> Result<Value> {
        let value = self.value(value)?;
        Ok(if self.values.kind(value) == Type::Bool { self.values.from_bool(value) } else { value })
    }

    /// An effect for packets that found an entry.
    fn when_hit(&mut self, lookup: NodeId, does: Does) {
        let (number, zero) = (self.values.found(lookup, Found::Number, None, 32), self.values.word(0, 32));
        let hit = self.values.binary(Binary::NotEqual, number, zero);
        let all = self.active;
        self.active = self.values.and(all, hit);
        self.effect(does);
        self.active = all;
    }

    /// What commit does for a packet, in order, and what schedules have no effect for.
    pub fn defer(&mut self, does: &'static str) {
        self.give_up();
        self.deferred.get_or_insert(Obstacle { node: self.node, does: does.into() });
    }

    /// Reads a register that no packet writes. Commit takes the value that was read: the control plane may write
    /// meanwhile.
    fn read_register(&mut self, register: RegisterId, index: &Expression, into: Place) -> Result<()> {
        let declared = &self.program.registers[register];
        if !Speculable::of(self.program, self.node).kept.contains(&register) {
            return Err("reads a register that packets write, or of more than 64 bits");
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

    /// Whether it runs for all packets that the state is about: behind the stages, those of the current arm or action.
    fn all_run(&mut self) -> bool {
        match self.is_speculative {
            true => self.is_certain(),
            false => self.values.holds(self.live) == Some(true),
        }
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
            None => {
                self.exited = self.values.or(self.exited, packets);
                self.exited_with.push((packets, self.state.clone()));
            }
        }
        Ok(())
    }

    /// Runs both arms and chooses between their states.
    fn either(&mut self, condition: &Expression, then: &[Statement], otherwise: &[Statement]) -> Result<()> {
        let mut condition = self.value(condition)?;
        if let Some(separation) = &mut self.separation {
            condition = separation.known.of(&mut self.values, condition);
        }
        match self.values.holds(condition) {
            Some(true) => return self.statements(then),
            Some(false) => return self.statements(otherwise),
            None => {}
        }
        let (before, all) = (self.state.clone(), self.active);
        let opposite = self.values.not(condition);
        let done = self.arm_or_exit(condition, then);
        let taken = std::mem::replace(&mut self.state, before.clone());
        self.active = all;
        let other_done = self.arm_or_exit(opposite, otherwise);
        self.active = all;
        let is_separating = self.is_separating();
        let (has_left, other_has_left) = match (done, other_done) {
            (Err(does), Err(_)) => return Err(does),
            (Err(does), _) | (_, Err(does)) if is_separating => return Err(does),
            (done, other_done) => (done.unwrap_or(true), other_done.unwrap_or(true)),
        };
        match (has_left, other_has_left) {
            // The state of packets that have taken a side exit is no longer needed.
            (true, _) => {}
            (false, true) => self.state = taken,
            (false, false) if !taken.has_headers_of(&self.state) && self.separate_by(condition) => {
                return Err("changes which headers the packet has");
            }
            (false, false) => {
                match self.state.merged(self.program, &mut self.values, condition, &taken) {
                    Some(state) => self.state = state,
                    // An arm that gives packets other headers is a side exit.
                    None if before.has_headers_of(&self.state) => self.leave_by_arm(condition),
                    None if before.has_headers_of(&taken) => {
                        self.leave_by_arm(opposite);
                        self.state = taken;
                    }
                    None => return Err("changes which headers the packet has"),
                }
            }
        }
        Ok(())
    }

    /// One arm, as [`Run::arm`]. Packets of one that cannot be scheduled take a side exit.
    fn arm_or_exit(&mut self, condition: Value, body: &[Statement]) -> Result<bool> {
        let (live, exited, left) = (self.live, self.exited, self.left.clone());
        let apart = self.exited_with.len();
        let (effects, exits, reads) = (self.effects.len(), self.exits.len(), self.reads.len());
        let (state, exit_state, deferred) = (self.state.clone(), self.exit_state.clone(), self.deferred.clone());
        let leaving = self.leaving;
        let done = self.arm(condition, body);
        if done.is_err() && self.is_separating() {
            return done;
        }
        done.inspect_err(|_| {
            let packets = self.values.and(self.active, live);
            self.effects.truncate(effects);
            self.exited_with.truncate(apart);
            self.exits.truncate(exits);
            self.reads.truncate(reads);
            (self.live, self.exited, self.left, self.leaving) = (live, exited, left, leaving);
            (self.state, self.exit_state, self.deferred) = (state, exit_state, deferred);
            self.leave_now(packets);
        })
    }

    /// Packets of an arm of the current statement take a side exit.
    fn leave_by_arm(&mut self, condition: Value) {
        let runs = self.runs();
        let packets = self.values.and(runs, condition);
        self.leave_now(packets);
    }

    fn leave_now(&mut self, packets: Value) {
        match self.is_speculative {
            true => self.exit(packets, None),
            false => self.leaving = self.values.or(self.leaving, packets),
        }
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
