//! Effects: what expressions read, what statements and nodes write, and what can be speculated.
//!
//! Storage is distinguished coarsely: a variable, a header with its validity, the packet's length. Two
//! effects on the same part may still be on different fields.

use crate::{
    Argument, Call, Effect, Expression, FieldRef, HashInput, HeaderId, Intrinsic, KeySet, Node, NodeId, NodeKind,
    Place, Program, RegisterId, Statement, TableId, VariableId,
};
use std::collections::BTreeSet;

pub use crate::deferral::{deferrable_writes, kept_registers};

/// A part of a packet's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    Variable(VariableId),
    /// Fields and validity.
    Header(HeaderId),
    /// Length in bytes.
    Length,
}

impl From<Place> for Part {
    fn from(place: Place) -> Part {
        match place {
            Place::Variable(variable) => Part::Variable(variable),
            Place::Field(field) => Part::Header(field.header),
        }
    }
}

/// All parts that an expression reads.
pub fn reads(expression: &Expression) -> BTreeSet<Part> {
    let mut parts = BTreeSet::new();
    expression.walk(&mut |inner| match inner {
        Expression::Variable(variable) => drop(parts.insert(Part::Variable(*variable))),
        Expression::Field(field) | Expression::VarbitLength(field) => drop(parts.insert(Part::Header(field.header))),
        Expression::Valid(header) => drop(parts.insert(Part::Header(*header))),
        Expression::VarbitEqual(left, right) => parts.extend([Part::Header(left.header), Part::Header(right.header)]),
        Expression::Intrinsic(Intrinsic::PacketLength) => drop(parts.insert(Part::Length)),
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
    parts
}

/// All parts that a table's key reads.
pub fn key_reads(program: &Program, table: TableId) -> BTreeSet<Part> {
    program.tables[table].keys.iter().flat_map(|key| reads(&key.value)).collect()
}

/// The places that a call writes its results to.
pub fn call_places(call: &Call) -> Vec<Place> {
    match call {
        Call::ReadRegister { into, .. }
        | Call::ExecuteMeter { into, .. }
        | Call::Hash { into, .. }
        | Call::Random { into, .. } => vec![*into],
        Call::AddChecksum { sum, .. } => vec![*sum],
        Call::AddEntry { into, .. } => into.iter().copied().collect(),
        Call::Custom { arguments, into, .. } => {
            let outputs = arguments.iter().filter_map(|argument| match argument {
                Argument::In(_) | Argument::Payload => None,
                Argument::Out(place) | Argument::InOut(place) => Some(*place),
            });
            outputs.chain(*into).collect()
        }
        Call::Count { .. }
        | Call::WriteRegister { .. }
        | Call::SendDigest { .. }
        | Call::Log { .. }
        | Call::Assert { .. }
        | Call::RestartTimer { .. } => Vec::new(),
    }
}

/// All parts that a node can write, on any path through it.
pub fn writes(program: &Program, node: NodeId) -> BTreeSet<Part> {
    let Node { kind, .. } = &program.nodes[node];
    let mut parts = BTreeSet::new();
    match kind {
        NodeKind::State { parser, body, .. } => {
            parts.insert(Part::Variable(program.parsers[*parser].error));
            statements(body, &mut parts);
        }
        NodeKind::Block { body, .. } => statements(body, &mut parts),
        NodeKind::Deparse { body, .. } => {
            parts.insert(Part::Length);
            statements(body, &mut parts);
        }
        NodeKind::Branch { .. } => {}
        NodeKind::Apply { table, .. } => {
            program.tables[*table].actions.iter().for_each(|action| statements(&action.body, &mut parts));
            let meters = program.meters.values().filter(|meter| meter.table == Some(*table));
            parts.extend(meters.filter_map(|meter| meter.automatic).map(Part::from));
        }
        NodeKind::Buffer { rules, .. } => {
            for rule in rules {
                if let Effect::Unicast { set, .. } = &rule.effect {
                    parts.extend(set.iter().map(|(place, _)| Part::from(*place)));
                }
            }
        }
    }
    parts
}

fn statements(body: &[Statement], parts: &mut BTreeSet<Part>) {
    for statement in body {
        statement.walk(&mut |statement| parts.extend(statement_writes(statement)));
    }
}

/// All parts that a statement itself writes, without those of nested statements.
pub fn statement_writes(statement: &Statement) -> Vec<Part> {
    match statement {
        Statement::Assign { target, .. } => vec![Part::from(*target)],
        Statement::SetValid(header)
        | Statement::SetInvalid(header)
        | Statement::CopyHeader { to: header, .. }
        | Statement::Extract { header, .. } => vec![Part::Header(*header)],
        Statement::CopyVarbit { to, .. } => vec![Part::Header(to.header)],
        Statement::Lookahead { into, .. } => vec![Part::Variable(*into)],
        Statement::Truncate(_) => vec![Part::Length],
        Statement::Call(call) => {
            let mut parts: Vec<Part> = call_places(call).into_iter().map(Part::from).collect();
            if let Call::Custom { arguments, .. } = call
                && arguments.contains(&Argument::Payload)
            {
                parts.push(Part::Length);
            }
            parts
        }
        Statement::If { .. }
        | Statement::Scope { .. }
        | Statement::Loop { .. }
        | Statement::Leave(_)
        | Statement::Exit
        | Statement::Advance(_)
        | Statement::Verify { .. }
        | Statement::Emit(_) => Vec::new(),
    }
}

/// What becomes of a statement in the speculative phase. The node runs again in the commit phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speculation {
    /// It can run twice: it changes only variables and the parser's cursor, and reads nothing that other
    /// packets change.
    Runs,
    /// Nothing that follows in the speculative phase depends on it, and it is deferred to the commit phase.
    Deferred,
    /// It reads a register that only the control plane writes: it runs once, and the commit phase has the same
    /// value.
    Kept,
    /// It has a side effect. Nothing after it can be speculated.
    SideEffect,
}

/// What a node's statements may do in the speculative phase.
#[derive(Clone, Debug, Default)]
pub struct Speculable {
    /// Its writes to headers that can be [deferred](deferrable_writes).
    pub deferrable: BTreeSet<FieldRef>,
    /// The registers whose values can be [kept](kept_registers).
    pub kept: BTreeSet<RegisterId>,
}

impl Speculable {
    pub fn of(program: &Program, node: NodeId) -> Speculable {
        let deferrable = deferrable_writes(program, node);
        let kept = kept_registers(program, node);
        Speculable { deferrable, kept }
    }
}

/// For the statement itself, without nested ones.
pub fn speculation(statement: &Statement, node: &Speculable) -> Speculation {
    let Speculable { deferrable, kept } = node;
    match statement {
        Statement::Call(Call::ReadRegister { register, into: Place::Variable(_), .. }) if kept.contains(register) => {
            Speculation::Kept
        }
        Statement::Assign { target: Place::Field(field), .. } if deferrable.contains(field) => Speculation::Deferred,
        Statement::Assign { target: Place::Variable(_), .. }
        | Statement::If { .. }
        | Statement::Scope { .. }
        | Statement::Leave(_)
        | Statement::Exit
        | Statement::Extract { varbit: None, .. }
        | Statement::Lookahead { .. }
        | Statement::Verify { .. } => Speculation::Runs,
        Statement::Call(call) => ahead_call(call),
        Statement::Assign { target: Place::Field(_), .. }
        | Statement::SetValid(_)
        | Statement::SetInvalid(_)
        | Statement::CopyHeader { .. }
        | Statement::CopyVarbit { .. }
        | Statement::Loop { .. }
        | Statement::Extract { varbit: Some(_), .. }
        | Statement::Advance(_)
        | Statement::Emit(_)
        | Statement::Truncate(_) => Speculation::SideEffect,
    }
}

/// Whether a node can never be speculated: its result may differ at commit, or it changes what its own result
/// depends on.
pub fn never_speculable(program: &Program, node: NodeId) -> bool {
    match &program.nodes[node].kind {
        // The control plane may change a value set before commit.
        NodeKind::State { select, .. } => {
            select.cases.iter().any(|case| case.sets.iter().any(|set| matches!(set, KeySet::Set(_))))
        }
        NodeKind::Apply { table, .. } => {
            program.meters.values().any(|meter| meter.table == Some(*table) && meter.automatic.is_some())
        }
        NodeKind::Block { .. } | NodeKind::Branch { .. } | NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => false,
    }
}

fn ahead_call(call: &Call) -> Speculation {
    match call {
        Call::Hash { into: Place::Variable(_), data, .. } | Call::AddChecksum { sum: Place::Variable(_), data, .. }
            if !data.contains(&HashInput::Payload) =>
        {
            Speculation::Runs
        }
        Call::Count { .. }
        | Call::WriteRegister { .. }
        | Call::SendDigest { .. }
        | Call::Log { .. }
        | Call::Assert { .. }
        | Call::RestartTimer { .. } => Speculation::Deferred,
        Call::ReadRegister { .. }
        | Call::ExecuteMeter { .. }
        | Call::Hash { .. }
        | Call::AddChecksum { .. }
        | Call::Random { .. }
        | Call::AddEntry { .. }
        | Call::Custom { .. } => Speculation::SideEffect,
    }
}

/// Whether the order of packets at a node matters only for the order in which they leave: shared state is
/// only counted, and no copies are made.
pub fn is_unordered(program: &Program, node: NodeId) -> bool {
    match &program.nodes[node].kind {
        NodeKind::State { body, .. } | NodeKind::Block { body, .. } | NodeKind::Deparse { body, .. } => {
            unordered(program, body)
        }
        NodeKind::Branch { .. } => true,
        NodeKind::Apply { table, .. } => {
            let metered = program.meters.values().any(|meter| meter.table == Some(*table));
            let actions = &program.tables[*table].actions;
            !metered && !learns(program, *table) && actions.iter().all(|action| unordered(program, &action.body))
        }
        NodeKind::Buffer { rules, .. } => rules.iter().all(|rule| match rule.effect {
            Effect::Drop { .. } | Effect::Unicast { .. } | Effect::Send { .. } => true,
            // Copies and punted packets re-enter in the order in which they were made.
            Effect::Replicate { .. }
            | Effect::Clone { .. }
            | Effect::Resubmit { .. }
            | Effect::Recirculate { .. }
            | Effect::Punt { .. } => false,
        }),
    }
}

fn unordered(program: &Program, body: &[Statement]) -> bool {
    // Packets of a group have the same time, which is all that is written there.
    let is_timer =
        |register: RegisterId| program.joins.iter().any(|join| join.objects.timers.contains(&Some(register)));
    let mut unordered = true;
    for statement in body {
        statement.walk(&mut |inner| {
            if let Statement::Call(call) = inner {
                unordered &= match call {
                    Call::Count { .. } | Call::Hash { .. } | Call::AddChecksum { .. } => true,
                    Call::WriteRegister { register, .. } => is_timer(*register),
                    Call::ReadRegister { .. }
                    | Call::ExecuteMeter { .. }
                    | Call::Random { .. }
                    | Call::SendDigest { .. }
                    | Call::AddEntry { .. }
                    | Call::RestartTimer { .. }
                    | Call::Log { .. }
                    | Call::Assert { .. }
                    | Call::Custom { .. } => false,
                };
            }
        });
    }
    unordered
}

/// Whether packets insert entries into a table.
pub fn learns(program: &Program, table: TableId) -> bool {
    let mut learns = program.tables[table].add_on_miss;
    for statement in program.tables[table].actions.iter().flat_map(|action| &action.body) {
        statement.walk(&mut |inner| learns |= matches!(inner, Statement::Call(Call::AddEntry { .. })));
    }
    learns
}
