//! What statements read and write, field by field: two tables depend on each other only where both touch the
//! same field.

use crate::{
    Argument, Call, Expression, HashInput, HeaderId, Intrinsic, Place, Program, RegisterId, Statement, TableId,
    VariableId, effects, visit,
};
use crate::{FieldRef, MeterId};
use std::collections::HashSet;

/// A part of a packet's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    Variable(VariableId),
    Field(FieldRef),
    /// Whether a header is valid. Reading a field reads it too.
    Valid(HeaderId),
    /// Length and payload.
    Bytes,
}

/// What packets share, where the order of two uses can be observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Shared {
    Register(RegisterId),
    Meter(MeterId),
    /// Each random number has a number.
    Draws,
    /// Digests and lines of the log leave in order.
    Messages,
    /// The user's C functions may do anything.
    Custom,
}

/// The accesses of statements, keys or whole tables.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    reads: HashSet<Access>,
    writes: HashSet<Access>,
    shared: HashSet<Shared>,
    /// Whether the packet may end or leave the node there.
    ends: bool,
    /// Whether it needs the entry that was hit, or makes a new one: not for its counters, whose index is data.
    of_entry: bool,
}

/// Whether two pieces of a program may change places.
pub fn independent(one: &Accesses, other: &Accesses) -> bool {
    let meet = |writes: &HashSet<Access>, others: &HashSet<Access>| !writes.is_disjoint(others);
    !(one.ends
        || other.ends
        || meet(&one.writes, &other.reads)
        || meet(&one.writes, &other.writes)
        || meet(&other.writes, &one.reads)
        || !one.shared.is_disjoint(&other.shared))
}

impl Accesses {
    pub fn of_expression(expression: &Expression) -> Accesses {
        let mut accesses = Accesses::default();
        accesses.expression(expression);
        accesses
    }

    pub fn of_statements(program: &Program, body: &[Statement]) -> Accesses {
        let mut accesses = Accesses::default();
        accesses.statements(program, body);
        accesses
    }

    /// Of a lookup in a table, whichever action runs.
    pub fn of_table(program: &Program, table: TableId) -> Accesses {
        let mut accesses = Accesses::default();
        let declared = &program.tables[table];
        declared.keys.iter().for_each(|key| accesses.expression(&key.value));
        declared.selector.iter().for_each(|input| accesses.expression(input));
        declared.actions.iter().for_each(|action| accesses.statements(program, &action.body));
        for (meter, declared) in program.meters.iter().filter(|(_, meter)| meter.table == Some(table)) {
            accesses.shared.insert(Shared::Meter(meter));
            declared.automatic.iter().for_each(|place| accesses.write(*place));
        }
        accesses.ends |= declared.punt_on_miss;
        accesses
    }

    pub fn add(&mut self, other: &Accesses) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.shared.extend(&other.shared);
        self.ends |= other.ends;
        self.of_entry |= other.of_entry;
    }

    /// Whether the packet may end or leave the node there.
    pub fn ends(&self) -> bool {
        self.ends
    }

    /// Whether it needs the entry that was hit, or makes a new one.
    pub fn of_entry(&self) -> bool {
        self.of_entry
    }

    pub fn fields_read(&self) -> impl Iterator<Item = FieldRef> {
        fields_of(&self.reads)
    }

    pub fn fields_written(&self) -> impl Iterator<Item = FieldRef> {
        fields_of(&self.writes)
    }

    pub fn reads_any(&self) -> bool {
        !self.reads.is_empty()
    }

    pub fn writes_what_is_read_by(&self, other: &Accesses) -> bool {
        !self.writes.is_disjoint(&other.reads)
    }

    pub fn written(&self, place: Place) -> bool {
        match place {
            Place::Variable(variable) => self.writes.contains(&Access::Variable(variable)),
            Place::Field(field) => {
                self.writes.contains(&Access::Field(field)) || self.writes.contains(&Access::Valid(field.header))
            }
        }
    }

    fn read(&mut self, place: Place) {
        match place {
            Place::Variable(variable) => drop(self.reads.insert(Access::Variable(variable))),
            Place::Field(field) => self.reads.extend([Access::Field(field), Access::Valid(field.header)]),
        }
    }

    fn write(&mut self, place: Place) {
        self.writes.insert(match place {
            Place::Variable(variable) => Access::Variable(variable),
            Place::Field(field) => Access::Field(field),
        });
    }

    fn read_header(&mut self, program: &Program, header: HeaderId) {
        self.reads.insert(Access::Valid(header));
        self.reads.extend(fields(program, header));
    }

    fn write_header(&mut self, program: &Program, header: HeaderId) {
        self.writes.insert(Access::Valid(header));
        self.writes.extend(fields(program, header));
    }

    fn expression(&mut self, expression: &Expression) {
        expression.walk(&mut |inner| match inner {
            Expression::Variable(variable) => self.read(Place::Variable(*variable)),
            Expression::Field(field) | Expression::VarbitLength(field) => self.read(Place::Field(*field)),
            Expression::Valid(header) => drop(self.reads.insert(Access::Valid(*header))),
            Expression::VarbitEqual(left, right) => [left, right].iter().for_each(|it| self.read(Place::Field(**it))),
            Expression::Intrinsic(Intrinsic::PacketLength) => drop(self.reads.insert(Access::Bytes)),
            Expression::Bool(_)
            | Expression::Constant { .. }
            | Expression::Parameter(_)
            | Expression::Intrinsic(_)
            | Expression::Unary { .. }
            | Expression::Binary { .. }
            | Expression::Slice { .. }
            | Expression::Extend { .. }
            | Expression::Choose { .. }
            | Expression::FromBool(_) => {}
        });
    }

    fn statements(&mut self, program: &Program, body: &[Statement]) {
        visit::statements(&mut body.to_vec(), &mut |expression| self.expression(expression));
        body.iter().for_each(|statement| statement.walk(&mut |inner| self.statement(program, inner)));
    }

    /// A statement itself, without its expressions and what is nested in it.
    fn statement(&mut self, program: &Program, statement: &Statement) {
        match statement {
            Statement::Assign { target, .. } => self.write(*target),
            Statement::SetValid(header) | Statement::SetInvalid(header) => {
                self.reads.insert(Access::Valid(*header));
                self.write_header(program, *header);
            }
            Statement::CopyHeader { to, from } => {
                self.read_header(program, *from);
                self.write_header(program, *to);
            }
            Statement::CopyVarbit { to, from } => {
                self.read(Place::Field(*from));
                self.write(Place::Field(*to));
            }
            Statement::Truncate(_) => {
                self.reads.insert(Access::Bytes);
                self.writes.insert(Access::Bytes);
            }
            Statement::Call(call) => self.call(call),
            // A loop may exceed its budget, which drops the packet. The others are in no action.
            Statement::Loop { .. }
            | Statement::Exit
            | Statement::Extract { .. }
            | Statement::Advance(_)
            | Statement::Lookahead { .. }
            | Statement::Verify { .. }
            | Statement::Emit(_) => self.ends = true,
            Statement::If { .. } | Statement::Scope { .. } | Statement::Leave(_) => {}
        }
    }

    fn call(&mut self, call: &Call) {
        visit::call_reads(call).into_iter().for_each(|place| self.read(place));
        effects::call_places(call).into_iter().for_each(|place| self.write(place));
        match call {
            // Sums do not depend on the order.
            Call::Count { .. } => {}
            Call::ReadRegister { register, into, .. } => {
                // An index out of range leaves the place as it is.
                self.read(*into);
                self.shared.insert(Shared::Register(*register));
            }
            Call::WriteRegister { register, .. } => drop(self.shared.insert(Shared::Register(*register))),
            Call::ExecuteMeter { meter, into, .. } => {
                self.read(*into);
                self.shared.insert(Shared::Meter(*meter));
            }
            Call::Hash { data, .. } | Call::AddChecksum { data, .. } => {
                data.iter().for_each(|input| self.hashed(input));
            }
            Call::Random { .. } => drop(self.shared.insert(Shared::Draws)),
            Call::SendDigest { .. } | Call::Log { .. } => drop(self.shared.insert(Shared::Messages)),
            Call::Assert { .. } => self.ends = true,
            Call::AddEntry { .. } | Call::RestartTimer { .. } => self.of_entry = true,
            Call::Custom { arguments, .. } => {
                self.shared.insert(Shared::Custom);
                if arguments.contains(&Argument::Payload) {
                    self.reads.insert(Access::Bytes);
                    self.writes.insert(Access::Bytes);
                }
            }
        }
    }

    fn hashed(&mut self, input: &HashInput) {
        match input {
            // An expression, visited with all others.
            HashInput::Bits(_) => {}
            HashInput::Field(field) => self.read(Place::Field(*field)),
            HashInput::Payload => drop(self.reads.insert(Access::Bytes)),
        }
    }
}

fn fields_of(accesses: &HashSet<Access>) -> impl Iterator<Item = FieldRef> {
    accesses.iter().filter_map(|access| match access {
        Access::Field(field) => Some(*field),
        Access::Variable(_) | Access::Valid(_) | Access::Bytes => None,
    })
}

fn fields(program: &Program, header: HeaderId) -> impl Iterator<Item = Access> {
    let fields = program.headers[header].fields.len() as u32;
    (0..fields).map(move |field| Access::Field(FieldRef { header, field }))
}
