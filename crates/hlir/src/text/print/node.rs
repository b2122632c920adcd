//! Prints nodes: how each kind begins, and where its edges lead.

use super::lines::{Lines, in_braces};
use super::{Printer, hexadecimal, number_text};
use crate::text::words::{BYTES, between, word_of, written};
use crate::{
    Case, Effect, Expression, Keep, KeySet, Next, Node, NodeId, NodeKind, Place, Reentry, Rule, Select, Statement,
    TableId, Type,
};

impl Printer<'_> {
    pub(super) fn node(&self, lines: &mut Lines, node: &Node) {
        lines.notes(&node.notes);
        let from = self.origin(&node.notes);
        let head = format!("node {}:", written(&node.name));
        match &node.kind {
            NodeKind::State { parser, body, select } => {
                let parser = self.refer(&self.program.parsers, *parser, &self.names.parsers, |parser| &parser.name);
                self.state(lines, &format!("{head} state of {parser}{from}"), body, select);
            }
            NodeKind::Block { body, next, exit } => {
                let tail = format!("-> {}{}", self.node_name(*next), self.exit(*exit));
                lines.braces(&format!("{head} block{from}"), &tail, |lines| self.statements(lines, body, &[]));
            }
            NodeKind::Branch { condition, then, otherwise } => {
                let condition = self.expression(condition, &[]);
                let (then, otherwise) = (self.node_name(*then), self.node_name(*otherwise));
                lines.add(format!("{head} branch {condition} -> {then} else {otherwise}{from}"));
            }
            NodeKind::Apply { table, next, exit } => {
                let (exit, applied) = (self.exit(*exit), self.table_name(*table));
                lines.add(format!("{head} apply {applied} -> {}{exit}{from}", self.next(*table, next)));
            }
            NodeKind::Deparse { body, next } => {
                let tail = format!("-> {}", self.node_name(*next));
                lines.braces(&format!("{head} deparse{from}"), &tail, |lines| self.statements(lines, body, &[]));
            }
            NodeKind::Buffer { rules, otherwise } => {
                lines.block(&format!("{head} buffer{from}"), "", |lines| {
                    rules.iter().for_each(|rule| self.rule(lines, rule));
                    otherwise.iter().for_each(|node| lines.add(format!("otherwise -> {}", self.node_name(*node))));
                });
            }
        }
    }

    fn exit(&self, exit: Option<NodeId>) -> String {
        exit.map_or(String::new(), |node| format!(" exit {}", self.node_name(node)))
    }

    fn next(&self, table: TableId, next: &Next) -> String {
        match next {
            Next::Always(next) => self.node_name(*next),
            Next::Hit { hit, miss } => format!("hit {}, miss {}", self.node_name(*hit), self.node_name(*miss)),
            Next::Actions { cases, otherwise } => {
                let case = |(action, to): &(u32, NodeId)| {
                    format!("{} -> {}, ", self.action_name(table, *action), self.node_name(*to))
                };
                let cases: String = cases.iter().map(case).collect();
                format!("{{ {cases}otherwise -> {} }}", self.node_name(*otherwise))
            }
        }
    }

    fn state(&self, lines: &mut Lines, head: &str, body: &[Statement], select: &Select) {
        let Select { keys, cases, otherwise } = select;
        if let (true, true, Some(next)) = (keys.is_empty(), cases.is_empty(), otherwise) {
            let tail = format!("-> {}", self.node_name(*next));
            return lines.braces(head, &tail, |lines| self.statements(lines, body, &[]));
        }
        let shown: Vec<String> = keys.iter().map(|key| self.expression(key, &[])).collect();
        let space = if shown.is_empty() { "" } else { " " };
        let chosen = format!("select{space}{} {{", shown.join(", "));
        lines.braces(head, &chosen, |lines| self.statements(lines, body, &[]));
        let widths: Vec<Option<u32>> = keys.iter().map(|key| self.width(key)).collect();
        lines.indented(|lines| {
            cases.iter().for_each(|case| lines.add(self.case(case, &widths)));
            otherwise.iter().for_each(|node| lines.add(format!("otherwise -> {}", self.node_name(*node))));
        });
        lines.add("}");
    }

    fn width(&self, key: &Expression) -> Option<u32> {
        match crate::verify::Kinds::new(self.program, &[]).of(key) {
            Some(Type::Bits(width)) => Some(width),
            Some(Type::Bool) | None => None,
        }
    }

    fn case(&self, case: &Case, widths: &[Option<u32>]) -> String {
        let set = |(index, set): (usize, &KeySet)| {
            let width = widths.get(index).copied().flatten();
            match set {
                KeySet::Any => "_".to_string(),
                KeySet::Value(value) => number_text(value, width),
                KeySet::Mask { value, mask } => {
                    format!("{} &&& {}", number_text(value, width), hexadecimal(mask, width))
                }
                KeySet::Range { low, high } => format!("{}..{}", number_text(low, width), number_text(high, width)),
                KeySet::Set(id) => {
                    let names = &self.names.value_sets;
                    format!("in {}", self.refer(&self.program.value_sets, *id, names, |set| &set.name))
                }
            }
        };
        let sets: Vec<String> = case.sets.iter().enumerate().map(set).collect();
        let space = if sets.is_empty() { "" } else { " " };
        format!("{}{space}-> {}", sets.join(", "), self.node_name(case.to))
    }

    fn rule(&self, lines: &mut Lines, rule: &Rule) {
        let value = |expression: &Expression| self.expression(expression, &[]);
        let always = rule.condition == Expression::Bool(true);
        let when = if always { String::new() } else { format!("when {}: ", value(&rule.condition)) };
        match &rule.effect {
            Effect::Drop { reason } => lines.add(format!("{when}drop {}", between(reason, '"'))),
            Effect::Send { port } => lines.add(format!("{when}send {}", value(port))),
            Effect::Unicast { set, to } => self.assigning(lines, &format!("{when}unicast"), set, *to),
            Effect::Replicate { group, copy } => {
                self.reentry(lines, &format!("{when}replicate {}", value(group)), copy);
            }
            Effect::Clone { session, copy } => self.reentry(lines, &format!("{when}clone {}", value(session)), copy),
            Effect::Resubmit { copy } => self.reentry(lines, &format!("{when}resubmit"), copy),
            Effect::Recirculate { copy } => self.reentry(lines, &format!("{when}recirculate"), copy),
            Effect::Punt { reason, resume } => {
                let resume = self.node_name(*resume);
                lines.add(format!("{when}punt {} -> {resume}", between(reason, '"')));
            }
        }
    }

    fn reentry(&self, lines: &mut Lines, head: &str, copy: &Reentry) {
        let bytes = word_of(BYTES, &copy.bytes).unwrap_or_default();
        let keep = match &copy.keep {
            Keep::All => "all".to_string(),
            Keep::Only(variables) => {
                let names = variables.iter().map(|variable| self.variable(*variable, &[]));
                in_braces(&names.collect::<Vec<_>>())
            }
        };
        self.assigning(lines, &format!("{head} {bytes} keep {keep}"), &copy.set, copy.to);
    }

    /// `head set { assignments } -> node`.
    fn assigning(&self, lines: &mut Lines, head: &str, set: &[(Place, Expression)], to: NodeId) {
        let to = format!("-> {}", self.node_name(to));
        if set.is_empty() {
            return lines.add(format!("{head} {to}"));
        }
        lines.braces(&format!("{head} set"), &to, |lines| {
            set.iter().for_each(|(place, value)| lines.add(self.assignment(*place, value, &[])));
        });
    }
}
