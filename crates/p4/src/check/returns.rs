//! Whether a block always ends in `return` or `exit`.

use crate::ast::{Block, Statement, StatementKind, SwitchLabel};

pub(super) fn always_leaves(block: &Block) -> bool {
    block.statements.iter().any(leaves)
}

fn leaves(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Return(_) | StatementKind::Exit => true,
        StatementKind::Block(block) => always_leaves(block),
        StatementKind::If { accepted, rejected, .. } => {
            leaves(accepted) && rejected.as_ref().is_some_and(|rejected| leaves(rejected))
        }
        StatementKind::Switch { cases, .. } => {
            let complete = cases.iter().any(|case| matches!(case.label, SwitchLabel::Default(_)));
            complete && cases.iter().all(|case| case.body.as_ref().is_none_or(always_leaves))
        }
        StatementKind::Empty
        | StatementKind::Assign { .. }
        | StatementKind::Call(_)
        | StatementKind::For(_)
        | StatementKind::ForIn(_)
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Declare(_) => false,
    }
}
