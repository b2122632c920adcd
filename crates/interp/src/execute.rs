//! Statements: what they do to the packet in hand.

use crate::bytes::{BitString, read_bits};
use crate::evaluate::View;
use crate::packet::Packet;
use crate::switch::Switch;
use crate::tables::Invocation;
use hlir::program::error_code;
use hlir::value::{Bits, Value};
use hlir::{Expression, FieldRef, HeaderId, NodeId, Place, Statement, TableId, VariableId};
use std::rc::Rc;

/// Why statements end before their last.
pub enum Interrupt<'p> {
    /// To behind the scope or loop of this label.
    Leave(&'p str),
    /// To the node's exit edge.
    Exit,
    /// To the parser's reject edge, with this error: seldom, so that what is returned of each statement is small.
    Fail(Box<Value>),
    /// The packet ends; counted under this reason.
    Drop(usize),
    /// The switch ends with a message.
    Stop(String),
}

/// Positions in `hlir::program::DROP_REASONS`.
pub mod drop_reason {
    pub const REENTRY_BUDGET: usize = 0;
    pub const COPY_BUDGET: usize = 1;
    pub const PARSER_BUDGET: usize = 2;
    pub const LOOP_BUDGET: usize = 3;
    pub const NO_SUCH_PORT: usize = 4;
    pub const EMPTY_GROUP: usize = 5;
}

/// The action that is running.
pub struct Running {
    pub table: TableId,
    /// The entry that was hit.
    pub entry: Option<usize>,
    pub key: Vec<Bits>,
    pub invocation: Rc<Invocation>,
}

/// A packet on its path through the graph.
pub struct Walker<'s, 'p> {
    pub switch: &'s mut Switch<'p>,
    pub packet: Packet,
    /// The node that the packet is at.
    pub here: NodeId,
    pub running: Option<Running>,
    /// What a deparser has emitted.
    pub emitted: BitString,
}

fn parser_error<'p>(code: u32) -> Interrupt<'p> {
    Interrupt::Fail(Box::new(Value::word(code.into(), 32)))
}

impl<'p> Walker<'_, 'p> {
    pub fn view(&self) -> View<'_> {
        View {
            layout: &self.switch.layout,
            packet: &self.packet,
            parameters: self.running.as_ref().map_or(&[], |running| &running.invocation.arguments),
            clock_ns: self.switch.state.clock_ns,
            copy: None,
        }
    }

    pub fn value(&self, expression: &Expression) -> Value {
        self.view().evaluate(expression)
    }

    pub fn put(&mut self, place: Place, value: Value) {
        self.note(|path| path.set(place, &value.bits));
        self.packet.storage.put(&self.switch.layout, place, value);
    }

    pub fn run(&mut self, body: &'p [Statement]) -> Result<(), Interrupt<'p>> {
        body.iter().try_for_each(|statement| self.execute(statement))
    }

    fn execute(&mut self, statement: &'p Statement) -> Result<(), Interrupt<'p>> {
        match statement {
            Statement::Assign { target, value } => {
                let bits = self.view().bits(value).into_owned();
                self.note(|path| path.set(*target, &bits));
                self.packet.storage.put_bits(&self.switch.layout, *target, bits);
            }
            Statement::SetValid(header) => self.packet.storage.set_valid(&self.switch.layout, *header),
            Statement::SetInvalid(header) => self.packet.storage.set_invalid(*header),
            Statement::CopyHeader { to, from } => self.packet.storage.copy_header(&self.switch.layout, *to, *from),
            Statement::CopyVarbit { to, from } => {
                let value = self.packet.storage.field(&self.switch.layout, *from);
                self.packet.storage.put_varbit(&self.switch.layout, *to, value);
            }
            Statement::If { condition, then, otherwise } => {
                let chosen = if self.view().holds(condition) { then } else { otherwise };
                self.run(chosen)?;
            }
            Statement::Scope { label, body } => self.scope(label, body)?,
            Statement::Loop { label, body } => self.repeat(label, body)?,
            Statement::Leave(label) => return Err(Interrupt::Leave(label)),
            Statement::Exit => return Err(Interrupt::Exit),
            Statement::Extract { header, varbit } => self.extract(*header, varbit.as_ref())?,
            Statement::Advance(bits) => self.advance(bits)?,
            Statement::Lookahead { into, offset } => self.lookahead(*into, *offset)?,
            Statement::Verify { condition, error } => {
                if !self.view().holds(condition) {
                    return Err(Interrupt::Fail(Box::new(self.value(error))));
                }
            }
            Statement::Emit(header) => self.emit(*header),
            Statement::Truncate(bytes) => {
                let bytes = self.value(bytes).to_u64();
                self.packet.truncate(bytes);
            }
            Statement::Call(call) => self.call(call)?,
        }
        Ok(())
    }

    fn scope(&mut self, label: &'p str, body: &'p [Statement]) -> Result<(), Interrupt<'p>> {
        match self.run(body) {
            Err(Interrupt::Leave(left)) if left == label => Ok(()),
            ended => ended,
        }
    }

    fn repeat(&mut self, label: &'p str, body: &'p [Statement]) -> Result<(), Interrupt<'p>> {
        for _ in 0..self.switch.program.budget.iterations {
            match self.run(body) {
                Ok(()) => {}
                Err(Interrupt::Leave(left)) if left == label => return Ok(()),
                ended => return ended,
            }
        }
        Err(Interrupt::Drop(drop_reason::LOOP_BUDGET))
    }

    fn extract(&mut self, header: HeaderId, varbit: Option<&Expression>) -> Result<(), Interrupt<'p>> {
        let length = varbit.map_or(0, |length| self.value(length).to_u64());
        if !length.is_multiple_of(8) {
            return Err(parser_error(error_code::PARSER_INVALID_ARGUMENT));
        }
        let layout = &self.switch.layout;
        let declared = layout.header(header);
        if length.saturating_add(declared.fixed_bits.into()) > self.packet.bits_left() {
            return Err(parser_error(error_code::PACKET_TOO_SHORT));
        }
        if declared.varbit.is_some_and(|field| length > declared.widths[field].into()) {
            return Err(parser_error(error_code::HEADER_TOO_SHORT));
        }
        let Packet { storage, bytes, cursor, .. } = &mut self.packet;
        let mut path = self.switch.notes.wanted_path();
        path.iter_mut().for_each(|path| path.extract(header));
        storage.begin_header(header);
        for (index, width) in (0..).zip(&declared.widths) {
            let field = FieldRef { header, field: index };
            let is_varbit = declared.varbit == Some(index as usize);
            let taken = if is_varbit { length as u32 } else { *width };
            let value = read_bits(bytes, *cursor, taken);
            *cursor += taken as usize;
            path.iter_mut().for_each(|path| path.field(&value.bits));
            if is_varbit {
                storage.put_varbit(layout, field, value);
            } else {
                storage.put(layout, Place::Field(field), value);
            }
        }
        Ok(())
    }

    fn advance(&mut self, bits: &Expression) -> Result<(), Interrupt<'p>> {
        let bits = self.value(bits).to_u64();
        if !bits.is_multiple_of(8) {
            return Err(parser_error(error_code::PARSER_INVALID_ARGUMENT));
        }
        if bits > self.packet.bits_left() {
            return Err(parser_error(error_code::PACKET_TOO_SHORT));
        }
        self.packet.cursor += bits as usize;
        Ok(())
    }

    fn lookahead(&mut self, into: VariableId, offset: u32) -> Result<(), Interrupt<'p>> {
        let place = Place::Variable(into);
        let width = self.switch.layout.place_width(place);
        if u64::from(offset) + u64::from(width) > self.packet.bits_left() {
            return Err(parser_error(error_code::PACKET_TOO_SHORT));
        }
        let value = read_bits(&self.packet.bytes, self.packet.cursor + offset as usize, width);
        self.put(place, value);
        Ok(())
    }

    fn emit(&mut self, header: HeaderId) {
        let (layout, storage) = (&self.switch.layout, &self.packet.storage);
        if !storage.is_valid(header) {
            return;
        }
        for field in 0..layout.header(header).widths.len() {
            self.emitted.push(&storage.field(layout, FieldRef { header, field: field as u32 }));
        }
    }
}
