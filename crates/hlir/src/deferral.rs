//! Statements that need not keep a packet out of the speculative phase.
//!
//! Writes to headers can be deferred to the commit phase if nothing reads the field from there on but such writes. A router that decrements a hop limit
//! before a lookup is an example. Reads of registers can be made once, with the value kept for the commit phase, if no packet writes them: the direction of
//! a port is an example. Without both, such packets could not be looked up together.

use crate::join::Accesses;
use crate::{Call, FieldRef, HeaderId, NodeId, NodeKind, Place, Program, RegisterId, Statement};
use std::collections::{BTreeSet, HashSet};

/// The fields whose assignments in a node can be deferred: in blocks, and in the actions of a lookup.
///
/// What follows must not read the field, nor may an action of a later lookup write to the header: its stores may contain bytes around the
/// fields that it writes. A parser may read all bytes.
pub fn deferrable_writes(program: &Program, node: NodeId) -> BTreeSet<FieldRef> {
    let bodies: Vec<&[Statement]> = match &program.nodes[node].kind {
        NodeKind::Block { body, .. } => vec![body],
        NodeKind::Apply { table, .. } => program.tables[*table].actions.iter().map(|action| &action.body[..]).collect(),
        NodeKind::State { .. } | NodeKind::Branch { .. } | NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => {
            return BTreeSet::new();
        }
    };
    let mut fields = BTreeSet::new();
    for statement in bodies.iter().copied().flatten() {
        statement.walk(&mut |inner| {
            if let Statement::Assign { target: Place::Field(field), .. } = inner {
                fields.insert(*field);
            }
        });
    }
    if fields.is_empty() {
        return fields;
    }
    let mut reads = HashSet::new();
    bodies.iter().for_each(|body| read_beside(program, body, &mut reads));
    let (mut headers, mut seen) = (HashSet::new(), HashSet::new());
    let mut left = program.nodes[node].own_successors();
    while let Some(at) = left.pop() {
        if !seen.insert(at) {
            continue;
        }
        if matches!(program.nodes[at].kind, NodeKind::State { .. }) {
            return BTreeSet::new();
        }
        read_at(program, at, &mut reads);
        written_by_actions(program, at, &mut headers);
        left.extend(program.nodes[at].own_successors());
    }
    fields.retain(|field| !reads.contains(field) && !headers.contains(&field.header));
    fields
}

/// The registers of at most 64 bits that a node may read in the speculative phase: those that no packet writes, in a
/// block before any lookup that does nothing else but compute. The commit phase executes such blocks again, with the
/// values that were read, so the control plane may write meanwhile.
pub fn kept_registers(program: &Program, node: NodeId) -> BTreeSet<RegisterId> {
    let NodeKind::Block { body, .. } = &program.nodes[node].kind else { return BTreeSet::new() };
    let mut read = BTreeSet::new();
    let mut computes = true;
    for statement in body {
        statement.walk(&mut |inner| match inner {
            Statement::Call(Call::ReadRegister { register, into: Place::Variable(_), .. }) => {
                read.insert(*register);
            }
            Statement::Assign { target: Place::Variable(_), .. }
            | Statement::If { .. }
            | Statement::Scope { .. }
            | Statement::Leave(_)
            | Statement::Exit => {}
            Statement::Assign { .. }
            | Statement::SetValid(_)
            | Statement::SetInvalid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
            | Statement::Loop { .. }
            | Statement::Extract { .. }
            | Statement::Advance(_)
            | Statement::Lookahead { .. }
            | Statement::Verify { .. }
            | Statement::Emit(_)
            | Statement::Truncate(_)
            | Statement::Call(_) => computes = false,
        });
    }
    if read.is_empty() || !computes || follows_lookup(program, node) {
        return BTreeSet::new();
    }
    let written = written_registers(program);
    read.retain(|register| program.registers[*register].width <= 64 && !written.contains(register));
    read
}

/// Whether a packet may have been looked up before it comes to a node.
fn follows_lookup(program: &Program, node: NodeId) -> bool {
    let looks_up = |at: &NodeId| matches!(program.nodes[*at].kind, NodeKind::Apply { .. });
    let mut left: Vec<NodeId> = program.nodes.iter().map(|(at, _)| at).filter(looks_up).collect();
    let mut seen = HashSet::new();
    while let Some(at) = left.pop() {
        let next = program.nodes[at].own_successors();
        if next.contains(&node) {
            return true;
        }
        left.extend(next.into_iter().filter(|to| seen.insert(*to)));
    }
    false
}

/// The registers that packets write.
fn written_registers(program: &Program) -> HashSet<RegisterId> {
    let mut written = HashSet::new();
    let mut note = |body: &[Statement]| {
        for statement in body {
            statement.walk(&mut |inner| {
                if let Statement::Call(Call::WriteRegister { register, .. }) = inner {
                    written.insert(*register);
                }
            });
        }
    };
    for node in program.nodes.values() {
        match &node.kind {
            NodeKind::State { body, .. } | NodeKind::Block { body, .. } | NodeKind::Deparse { body, .. } => note(body),
            NodeKind::Branch { .. } | NodeKind::Apply { .. } | NodeKind::Buffer { .. } => {}
        }
    }
    program.tables.values().flat_map(|table| &table.actions).for_each(|action| note(&action.body));
    written
}

/// Fields that a node reads.
fn read_at(program: &Program, node: NodeId, reads: &mut HashSet<FieldRef>) {
    let mut of = |accesses: Accesses| reads.extend(accesses.fields_read());
    match &program.nodes[node].kind {
        NodeKind::State { body, .. } | NodeKind::Block { body, .. } | NodeKind::Deparse { body, .. } => {
            of(Accesses::of_statements(program, body));
        }
        NodeKind::Branch { condition, .. } => of(Accesses::of_expression(condition)),
        NodeKind::Apply { table, .. } => of(Accesses::of_table(program, *table)),
        NodeKind::Buffer { rules, .. } => {
            for rule in rules {
                of(Accesses::of_expression(&rule.condition));
                rule.effect.expressions().into_iter().for_each(|value| of(Accesses::of_expression(value)));
            }
        }
    }
}

/// Fields that statements read, but for an assignment that reads the field it writes.
fn read_beside(program: &Program, body: &[Statement], reads: &mut HashSet<FieldRef>) {
    for statement in body {
        match statement {
            Statement::Assign { target: Place::Field(field), value } => {
                reads.extend(Accesses::of_expression(value).fields_read().filter(|read| read != field));
            }
            Statement::If { condition, then, otherwise } => {
                reads.extend(Accesses::of_expression(condition).fields_read());
                read_beside(program, then, reads);
                read_beside(program, otherwise, reads);
            }
            Statement::Scope { body, .. } | Statement::Loop { body, .. } => read_beside(program, body, reads),
            Statement::Assign { .. }
            | Statement::SetValid(_)
            | Statement::SetInvalid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
            | Statement::Leave(_)
            | Statement::Exit
            | Statement::Extract { .. }
            | Statement::Advance(_)
            | Statement::Lookahead { .. }
            | Statement::Verify { .. }
            | Statement::Emit(_)
            | Statement::Truncate(_)
            | Statement::Call(_) => {
                reads.extend(Accesses::of_statements(program, std::slice::from_ref(statement)).fields_read());
            }
        }
    }
}

fn written_by_actions(program: &Program, node: NodeId, headers: &mut HashSet<HeaderId>) {
    let NodeKind::Apply { table, .. } = &program.nodes[node].kind else { return };
    let accesses = Accesses::of_table(program, *table);
    headers.extend(accesses.fields_written().map(|field| field.header));
}
