//! Checks of nodes: each node's own statements, choices and rules.

use super::statement::Surroundings;
use super::{Body, Site, Verifier};
use crate::text::{get, number};
use crate::{
    Case, Effect, Expression, Keep, KeySet, Next, Node, NodeId, NodeKind, Place, Reentry, Rule, Select, Statement,
    TableId,
};
use num_bigint::BigUint;
use std::collections::HashSet;

impl Verifier<'_> {
    pub(super) fn node(&mut self, id: NodeId, node: &Node) {
        let site = Site::Node(id);
        for next in node.successors() {
            self.is_node(site, next);
        }
        match &node.kind {
            NodeKind::State { parser, body, select } => {
                if get(&self.program.parsers, *parser).is_none() {
                    return self.error(site, format!("there is no parser number {}", number(*parser)));
                }
                self.statements(Body::Node(id), Surroundings::State(*parser), &[], body);
                self.select(id, select);
                self.leaves_to(id, node);
            }
            NodeKind::Block { body, exit, .. } => {
                self.statements(Body::Node(id), Surroundings::Block, &[], body);
                self.exit(site, has_exit(body), *exit);
            }
            NodeKind::Branch { condition, .. } => {
                self.judge(site, &[], |kinds| kinds.boolean(condition, "a condition"));
            }
            NodeKind::Apply { table, next, exit } => self.apply(site, *table, next, *exit),
            NodeKind::Deparse { body, .. } => self.statements(Body::Node(id), Surroundings::Deparse, &[], body),
            NodeKind::Buffer { rules, otherwise } => {
                for (index, rule) in rules.iter().enumerate() {
                    self.rule(Site::Rule(id, index as u32), rule);
                }
                let ends = |rule: &Rule| rule.effect.is_last() && rule.condition == Expression::Bool(true);
                if otherwise.is_none() && !rules.last().is_some_and(ends) {
                    let hint = "end with a rule that has no condition, or with `otherwise -> NODE`";
                    self.report(site, "a packet that no rule takes has nowhere to go", hint);
                }
            }
        }
    }

    fn exit(&mut self, site: Site, has_exit: bool, edge: Option<NodeId>) {
        match (has_exit, edge) {
            (true, None) => self.error(site, "it has an `exit` statement, but no `exit` edge"),
            (false, Some(_)) => self.error(site, "it has an `exit` edge, but no `exit` statement"),
            (true, Some(_)) | (false, None) => {}
        }
    }

    fn apply(&mut self, site: Site, table: TableId, next: &Next, exit: Option<NodeId>) {
        let Some(found) = get(&self.program.tables, table) else {
            return self.error(site, format!("there is no table number {}", number(table)));
        };
        self.exit(site, found.actions.iter().any(|action| has_exit(&action.body)), exit);
        let Next::Actions { cases, .. } = next else { return };
        let mut seen = HashSet::new();
        for (action, _) in cases {
            if *action as usize >= found.actions.len() {
                self.error(site, format!("the table has no action number {action}"));
            } else if !seen.insert(action) {
                let name = &found.actions[*action as usize].name;
                self.error(site, format!("action `{name}` leads to two nodes"));
            }
        }
    }

    /// A state leads to states of its parser, or to where its parser accepts or rejects.
    fn leaves_to(&mut self, id: NodeId, node: &Node) {
        let Some(parser) = node.parser() else { return };
        let found = &self.program.parsers[parser];
        for next in node.successors() {
            let Some(target) = get(&self.program.nodes, next) else { continue };
            if target.parser() != Some(parser) && next != found.accept && next != found.reject {
                let name = &target.name;
                self.error(
                    Site::Node(id),
                    format!("`{name}` is no state of parser `{}`, nor where it ends", found.name),
                );
            }
        }
    }

    fn select(&mut self, id: NodeId, select: &Select) {
        let keys = select.keys.iter();
        let site = Site::Node(id);
        let widths = keys.map(|key| self.judge(site, &[], |kinds| kinds.bits(key, "what is selected by")));
        let widths: Vec<Option<u32>> = widths.collect();
        for (index, case) in select.cases.iter().enumerate() {
            self.case(Site::Case(id, index as u32), case, &widths);
        }
    }

    fn case(&mut self, site: Site, case: &Case, widths: &[Option<u32>]) {
        if let [KeySet::Set(set)] = case.sets[..] {
            return self.value_set(site, set, widths);
        }
        if case.sets.len() != widths.len() {
            let (sets, keys) = (case.sets.len(), widths.len());
            self.error(site, format!("a case has {sets} values for {keys} keys"));
        }
        for (set, width) in case.sets.iter().zip(widths) {
            let Some(width) = width else { continue };
            let fits = |value: &BigUint| value.bits() <= u64::from(*width);
            let right = match set {
                KeySet::Any => true,
                KeySet::Value(value) => fits(value),
                KeySet::Mask { value, mask } => fits(value) && fits(mask),
                KeySet::Range { low, high } => low <= high && fits(high),
                KeySet::Set(set) => {
                    self.value_set(site, *set, &[Some(*width)]);
                    true
                }
            };
            if !right {
                self.error(site, format!("a value does not fit its key of {width} bits"));
            }
        }
    }

    fn value_set(&mut self, site: Site, set: crate::ValueSetId, widths: &[Option<u32>]) {
        let Some(set) = get(&self.program.value_sets, set) else {
            return self.error(site, format!("there is no value set number {}", number(set)));
        };
        let fits = set.fields.len() == widths.len()
            && set.fields.iter().zip(widths).all(|((_, width, _), key)| key.is_none_or(|key| key == *width));
        if !fits {
            let hint = "a set over several keys is alone in its case and takes them all";
            self.report(site, format!("value set `{}` does not have the widths of the keys", set.name), hint);
        }
    }

    fn rule(&mut self, site: Site, rule: &Rule) {
        self.judge(site, &[], |kinds| kinds.boolean(&rule.condition, "a condition"));
        match &rule.effect {
            Effect::Drop { .. } | Effect::Punt { .. } => {}
            Effect::Send { port } => self.judge(site, &[], |kinds| kinds.exactly(port, 32, "the port")),
            Effect::Unicast { set, .. } => self.set(site, set, Copied::No),
            Effect::Replicate { group, copy } => {
                self.judge(site, &[], |kinds| kinds.exactly(group, 32, "the group"));
                self.reentry(site, copy, Copied::Yes);
            }
            Effect::Clone { session, copy } => {
                self.judge(site, &[], |kinds| kinds.exactly(session, 32, "the session"));
                self.reentry(site, copy, Copied::Yes);
            }
            Effect::Resubmit { copy } | Effect::Recirculate { copy } => self.reentry(site, copy, Copied::No),
        }
    }

    fn reentry(&mut self, site: Site, copy: &Reentry, copied: Copied) {
        self.set(site, &copy.set, copied);
        if let Keep::Only(variables) = &copy.keep {
            for variable in variables {
                self.judge(site, &[], |kinds| kinds.place(Place::Variable(*variable)));
            }
        }
    }

    fn set(&mut self, site: Site, set: &[(Place, Expression)], copied: Copied) {
        for (place, value) in set {
            self.judge(site, &[], |kinds| {
                kinds.in_copy = copied == Copied::Yes;
                kinds.assignable(*place, value);
            });
        }
    }
}

/// Whether a group or session made the packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copied {
    Yes,
    No,
}

fn has_exit(body: &[Statement]) -> bool {
    let mut found = false;
    body.iter().for_each(|statement| statement.walk(&mut |inner| found |= *inner == Statement::Exit));
    found
}
