//! Control flow of the graph: one function that calls the nodes in order, with a `goto` where a packet does
//! not continue at the next one.
//!
//! After inlining, a node that returns where to go and a `switch` over it are one jump. A batched plan cuts
//! the graph into regions; each is a function of the same shape that returns the loop at which the packet
//! waits.

use crate::c::{Expr, Stmt, depth, jumps};
use crate::node::{Form, Written, headline};
use crate::unit::Unit;
use hlir::NodeId;
use std::collections::BTreeSet;

/// A part of the graph that runs packet by packet.
pub struct Region<'r> {
    /// Positions in the order of the file.
    pub nodes: Vec<usize>,
    /// Entries beside the first node.
    pub starts: Vec<NodeId>,
    /// Nodes where packets leave the region; empty for the plain program.
    pub heads: &'r [NodeId],
}

impl Region<'_> {
    fn position(&self, unit: &Unit, node: NodeId) -> Option<usize> {
        self.nodes.iter().position(|index| unit.facts.order[*index] == node)
    }

    fn leaves(&self, node: NodeId) -> bool {
        self.heads.contains(&node)
    }

    /// Statements that continue at `to` after the node at `place`; none if it is the next one.
    fn jump(&self, unit: &Unit, place: usize, to: NodeId) -> Option<Stmt> {
        if self.leaves(to) {
            return Some(Stmt::result(Expr::name(unit.place_name(to))));
        }
        let next = self.nodes.get(place + 1).map(|index| unit.facts.order[*index]);
        (next != Some(to)).then(|| Stmt::Goto(unit.node_name(to).to_string()))
    }

    fn stop(&self) -> Stmt {
        if self.heads.is_empty() { Stmt::Return(None) } else { Stmt::result(Expr::name("ENDED")) }
    }

    /// The body of the function. `at` is where to begin, if there are several entries.
    pub fn body(&self, unit: &Unit, written: &[Written]) -> Vec<Stmt> {
        let mut code = self.entrance(unit);
        let mut blocks: Vec<(usize, Vec<Stmt>)> = Vec::new();
        for (place, index) in self.nodes.iter().enumerate() {
            blocks.push((*index, self.step(unit, place, &written[*index])));
        }
        let mut targets = BTreeSet::new();
        code.iter()
            .chain(blocks.iter().flat_map(|(_, block)| block))
            .for_each(|statement| labels(statement, &mut targets));
        for (index, block) in blocks {
            let name = unit.node_name(unit.facts.order[index]);
            if targets.contains(name) {
                code.push(Stmt::Label(name.to_string()));
            }
            code.extend(block);
        }
        if self.heads.is_empty() && code.last() == Some(&Stmt::Return(None)) {
            code.pop();
        }
        nested(code)
    }

    fn entrance(&self, unit: &Unit) -> Vec<Stmt> {
        let inside = self.starts.iter().filter(|start| self.position(unit, **start).is_some_and(|place| place > 0));
        let cases: Vec<(Vec<Expr>, Vec<Stmt>)> = inside
            .map(|start| {
                (vec![Expr::name(unit.place_name(*start))], vec![Stmt::Goto(unit.node_name(*start).to_string())])
            })
            .collect();
        if self.heads.is_empty() {
            return if cases.is_empty() {
                Vec::new()
            } else {
                vec![Stmt::Switch { on: Expr::name("at"), cases, default: Vec::new() }]
            };
        }
        let mut cases = cases;
        if let Some(first) = self.nodes.first().map(|index| unit.facts.order[*index]) {
            cases.insert(0, (vec![Expr::name(unit.place_name(first))], vec![Stmt::Break]));
        }
        vec![Stmt::Switch { on: Expr::name("at"), cases, default: vec![Stmt::result(Expr::name("at"))] }]
    }

    fn step(&self, unit: &Unit, place: usize, written: &Written) -> Vec<Stmt> {
        let node = unit.facts.order[self.nodes[place]];
        match &written.form {
            Form::Function => {}
            Form::Test { condition, then, otherwise } => return self.test(unit, place, condition, [*then, *otherwise]),
            Form::Statements(statements) => {
                let onward = written.only().and_then(|only| self.jump(unit, place, only));
                return statements.iter().cloned().chain(onward).collect();
            }
        }
        let call = Expr::call(unit.node_name(node), [Expr::name("run"), Expr::name("state")]);
        if let Some(only) = written.only() {
            let mut code = vec![Stmt::Do(call)];
            code.extend(self.jump(unit, place, only));
            return code;
        }
        if written.outcomes.is_empty() {
            return vec![Stmt::Do(call), self.stop()];
        }
        self.choose(unit, place, written, call)
    }

    /// Continues at the first node if the condition holds, else at the second.
    fn test(&self, unit: &Unit, place: usize, condition: &Expr, [then, otherwise]: [NodeId; 2]) -> Vec<Stmt> {
        let node = unit.facts.order[self.nodes[place]];
        let about = Stmt::Comment(headline(unit, node));
        match (self.jump(unit, place, then), self.jump(unit, place, otherwise)) {
            (Some(then), Some(otherwise)) => vec![about, Stmt::when(condition.clone(), vec![then]), otherwise],
            (Some(then), None) => vec![about, Stmt::when(condition.clone(), vec![then])],
            (None, Some(otherwise)) => vec![about, Stmt::when(condition.negated(), vec![otherwise])],
            (None, None) => Vec::new(),
        }
    }

    /// Continues at `on`.
    fn choose(&self, unit: &Unit, place: usize, written: &Written, on: Expr) -> Vec<Stmt> {
        let ways: Vec<(NodeId, Option<Stmt>)> =
            written.outcomes.iter().map(|to| (*to, self.jump(unit, place, *to))).collect();
        let falls: Vec<NodeId> = ways.iter().filter(|(_, jump)| jump.is_none()).map(|(to, _)| *to).collect();
        let at = |node: NodeId| Expr::name(unit.place_name(node));
        match (ways.as_slice(), written.ends) {
            ([(to, jump)], true) => {
                let mut code = match jump {
                    None => vec![Stmt::when(Expr::binary("==", on, Expr::name("ENDED")), vec![self.stop()])],
                    Some(jump) => vec![Stmt::when(Expr::binary("==", on, at(*to)), vec![jump.clone()])],
                };
                if jump.is_some() {
                    code.push(self.stop());
                }
                code
            }
            ([(first, Some(jump)), (_, other)], false) | ([(_, other @ None), (first, Some(jump))], false) => {
                let mut code = vec![Stmt::when(Expr::binary("==", on, at(*first)), vec![jump.clone()])];
                code.extend(other.clone());
                code
            }
            _ => {
                let jumping = ways.iter().filter_map(|(to, jump)| Some((vec![at(*to)], vec![jump.clone()?])));
                let mut cases: Vec<(Vec<Expr>, Vec<Stmt>)> = jumping.collect();
                if let Some(fall) = falls.first() {
                    cases.push((vec![at(*fall)], vec![Stmt::Break]));
                }
                let default = vec![self.stop()];
                vec![Stmt::Switch { on, cases, default }]
            }
        }
    }
}

/// Conditions in conditions at most: a longer chain of them is read more easily with jumps.
const DEEPEST: usize = 4;

/// The same code with `if (c) { … }` for `if (!c) goto label; … label:`, where nothing else goes there.
fn nested(mut code: Vec<Stmt>) -> Vec<Stmt> {
    for at in (0..code.len()).rev() {
        let Stmt::If { condition, then, otherwise } = &code[at] else { continue };
        let ([Stmt::Goto(label)], []) = (then.as_slice(), otherwise.as_slice()) else { continue };
        let is_label = |statement: &Stmt| matches!(statement, Stmt::Label(_));
        let Some(end) = code[at..].iter().position(is_label).map(|behind| at + behind) else { continue };
        let inner = &code[at + 1..end];
        if code[end] != Stmt::Label(label.clone()) || jumps(&code, label) > 1 || depth(inner) >= DEEPEST {
            continue;
        }
        let condition = condition.negated();
        code.remove(end);
        let inner = code.drain(at + 1..end).collect();
        code[at] = Stmt::when(condition, inner);
    }
    code
}

fn labels(statement: &Stmt, found: &mut BTreeSet<String>) {
    if let Stmt::Goto(label) = statement {
        found.insert(label.clone());
    }
    statement.bodies().into_iter().flatten().for_each(|inner| labels(inner, found));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str) -> Stmt {
        Stmt::call(name, [])
    }

    fn unless(left: &str, label: &str) -> Stmt {
        Stmt::when(Expr::binary("<=", Expr::name(left), Expr::word(1)), vec![Stmt::Goto(label.to_string())])
    }

    fn label(name: &str) -> Stmt {
        Stmt::Label(name.to_string())
    }

    #[test]
    fn what_one_jump_skips_is_nested_under_the_opposite() {
        let code = vec![unless("ttl", "on"), call("forward"), label("on"), call("send")];
        let above = Expr::binary(">", Expr::name("ttl"), Expr::word(1));
        assert_eq!(nested(code), [Stmt::when(above, vec![call("forward")]), call("send")]);
    }

    #[test]
    fn a_label_that_others_jump_to_stays() {
        let shared = vec![unless("ttl", "on"), unless("length", "on"), call("forward"), label("on"), call("send")];
        assert_eq!(nested(shared.clone()), shared);
        let entered =
            vec![unless("ttl", "on"), call("a"), label("other"), call("b"), label("on"), unless("x", "other")];
        assert_eq!(nested(entered.clone()), entered);
    }
}
