//! Tables whose misses go to the control plane: `@punt_on_miss`.
//!
//! The lookup's miss leads to a buffering node that punts the packet, with the lookup as the node to resume at. So a resumed packet is looked up
//! again, with the same keys. The default action runs on each miss before that, so it must be one that does nothing.

use super::graph::EndKind;
use super::table::expression_property;
use super::{Lowered, Lowering};
use crate::ast;
use hlir::diagnostic::Diagnostic;
use hlir::source::Span;
use hlir::{Effect, Expression, Next, Rule, TableId};

fn invalid(span: Span, what: &str, hint: &str) -> Diagnostic {
    Diagnostic::error(what).kind("invalid").label(span, "here").hint(hint)
}

impl Lowering<'_> {
    /// Notes that a table punts; the controller cannot give it another default action.
    pub fn lower_punt_on_miss(&mut self, id: TableId, declared: &ast::Table) -> Lowered<()> {
        let table = &mut self.program.tables[id];
        table.punt_on_miss = table.notes.annotations.iter().any(|note| note.name == "punt_on_miss");
        if !table.punt_on_miss {
            return Ok(());
        }
        if let Some(default) = expression_property(declared, "default_action")
            && !table.actions[table.default.action as usize].body.is_empty()
        {
            let what = "a table with `@punt_on_miss` cannot have a default action that does something: a miss goes to the control plane";
            return Err(invalid(default.span, what, "leave it out, or name `NoAction`"));
        }
        table.default_constant = true;
        Ok(())
    }

    /// Where a lookup of a table leads whose misses are punted. The current block is the lookup's alone from now on.
    pub fn punt_misses(&mut self, table: TableId, next: Next, span: Span) -> Lowered<Next> {
        let name = self.program.tables[table].name.clone();
        let hit = match next {
            Next::Always(next) => next,
            Next::Hit { hit, .. } => hit,
            Next::Actions { .. } => {
                let what = "a `switch` over the action of a table with `@punt_on_miss` is not supported";
                return Err(invalid(span, what, "let the actions set a variable, and decide by that"));
            }
        };
        let (lookup, miss) = (self.add_block(&format!("{name}.lookup")), self.add_block(&format!("{name}.miss")));
        let before = std::mem::replace(&mut self.current, lookup);
        self.graph.goto(before, lookup);
        let effect = Effect::Punt { reason: format!("miss in {name}"), resume: lookup };
        let rules = vec![Rule { condition: Expression::Bool(true), effect }];
        let (node, notes) = (self.node_name(&format!("punt{}", self.line_of(span))), self.plain_notes(span));
        self.graph.end(miss, node, notes, EndKind::Buffer { rules, otherwise: None });
        Ok(Next::Hit { hit, miss })
    }
}
