//! Whether packets that enter again touch what other packets touch too.
//!
//! Such packets run after the burst they came in; where they read or write registers, meters or tables, what happens depends on the burst. Then a test
//! is run packet by packet.

use hlir::{Call, Effect, NodeId, NodeKind, Program, Statement, TableId};
use std::collections::BTreeSet;

/// The name of an object that packets entering again share with others, if there is one.
pub fn shared_state(program: &Program) -> Option<String> {
    let again = program.nodes.iter().flat_map(|(_, node)| match &node.kind {
        NodeKind::Buffer { rules, .. } => rules.iter().filter_map(|rule| entered_again(&rule.effect)).collect(),
        NodeKind::State { .. }
        | NodeKind::Block { .. }
        | NodeKind::Branch { .. }
        | NodeKind::Apply { .. }
        | NodeKind::Deparse { .. } => Vec::new(),
    });
    reachable(program, again.collect()).into_iter().find_map(|node| touched_by_node(program, node))
}

fn entered_again(effect: &Effect) -> Option<NodeId> {
    match effect {
        Effect::Clone { copy, .. } | Effect::Resubmit { copy } | Effect::Recirculate { copy } => Some(copy.to),
        Effect::Drop { .. }
        | Effect::Send { .. }
        | Effect::Unicast { .. }
        | Effect::Replicate { .. }
        | Effect::Punt { .. } => None,
    }
}

fn reachable(program: &Program, mut waiting: Vec<NodeId>) -> BTreeSet<NodeId> {
    let mut seen = BTreeSet::new();
    while let Some(node) = waiting.pop() {
        if !seen.insert(node) {
            continue;
        }
        waiting.extend(program.nodes[node].successors());
        waiting.extend(program.nodes[node].parser().map(|parser| program.parsers[parser].reject));
    }
    seen
}

fn touched_by_node(program: &Program, node: NodeId) -> Option<String> {
    let kind = &program.nodes[node].kind;
    let own = touched_by(program, kind.body());
    let NodeKind::Apply { table, .. } = kind else { return own };
    let actions = &program.tables[*table].actions;
    actions.iter().find_map(|action| touched_by(program, &action.body)).or_else(|| automatic_meter(program, *table))
}

fn automatic_meter(program: &Program, table: TableId) -> Option<String> {
    let mut meters = program.meters.values();
    let meter = meters.find(|meter| meter.table == Some(table) && meter.automatic.is_some())?;
    Some(format!("meter `{}`", meter.name))
}

fn touched_by(program: &Program, body: &[Statement]) -> Option<String> {
    let mut found = None;
    for statement in body {
        statement.walk(&mut |inner| {
            if let Statement::Call(call) = inner {
                found = found.take().or_else(|| shared(program, call));
            }
        });
    }
    found
}

fn shared(program: &Program, call: &Call) -> Option<String> {
    match call {
        Call::ReadRegister { register, .. } | Call::WriteRegister { register, .. } => {
            Some(format!("register `{}`", program.registers[*register].name))
        }
        Call::ExecuteMeter { meter, .. } => Some(format!("meter `{}`", program.meters[*meter].name)),
        Call::AddEntry { table, .. } => Some(format!("table `{}`", program.tables[*table].name)),
        Call::Custom { object, .. } => Some(format!("extern `{}`", program.externs[*object].name)),
        // Sums do not depend on the order, digests and log lines are compared without it, and random numbers belong to their packet.
        Call::Count { .. }
        | Call::Hash { .. }
        | Call::AddChecksum { .. }
        | Call::Random { .. }
        | Call::SendDigest { .. }
        | Call::Log { .. }
        | Call::Assert { .. }
        | Call::RestartTimer { .. } => None,
    }
}
