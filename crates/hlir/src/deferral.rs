//! Writes to headers that can be deferred to the commit phase: nothing reads the field from there on but such writes.
//!
//! A router that decrements a hop limit before a lookup is an example. Without deferral, its packets could not be looked up together.

use crate::join::Accesses;
use crate::{FieldRef, HeaderId, NodeId, NodeKind, Place, Program, Statement};
use std::collections::{BTreeSet, HashSet};

/// The fields whose assignments in a node can be deferred. Only blocks have some.
///
/// What follows must not read the field, nor may an action of a later lookup write to the header: its stores may contain bytes around the
/// fields that it writes. A parser may read all bytes.
pub fn deferrable_writes(program: &Program, node: NodeId) -> BTreeSet<FieldRef> {
    let NodeKind::Block { body, .. } = &program.nodes[node].kind else { return BTreeSet::new() };
    let mut fields = BTreeSet::new();
    for statement in body {
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
    read_beside(program, body, &mut reads);
    let (mut headers, mut seen) = (HashSet::new(), HashSet::new());
    let mut left = program.nodes[node].same_bytes();
    while let Some(at) = left.pop() {
        if !seen.insert(at) {
            continue;
        }
        if matches!(program.nodes[at].kind, NodeKind::State { .. }) {
            return BTreeSet::new();
        }
        read_at(program, at, &mut reads);
        written_by_actions(program, at, &mut headers);
        left.extend(program.nodes[at].same_bytes());
    }
    fields.retain(|field| !reads.contains(field) && !headers.contains(&field.header));
    fields
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
