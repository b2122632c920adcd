//! Random graphs. Edges lead forward, so that they end; states lead among each other, and copies anywhere.

use super::Generator;
use super::expression::{Around, NOWHERE};
use super::statement::Kind;
use hlir::{
    Bytes, Case, Effect, Expression, Keep, KeySet, Next, Node, NodeId, NodeKind, Parser, ParserId, Place, Reentry,
    Rule, Select, Statement, Type,
};
use la_arena::{Idx, RawIdx};

fn node(number: usize) -> NodeId {
    Idx::from_raw(RawIdx::from_u32(number as u32))
}

fn has_exit(body: &[Statement]) -> bool {
    let mut found = false;
    body.iter().for_each(|statement| statement.walk(&mut |inner| found |= *inner == Statement::Exit));
    found
}

impl Generator<'_> {
    /// The first states are those of a parser; the node behind them is where it ends; the last node ends all.
    pub fn graph(&mut self) {
        let states = self.below(4);
        let count = states + 2 + self.below(6);
        if states > 0 {
            let error = self.program.variables.iter().next().expect("the error is the first variable").0;
            let (name, accept) = (self.name(), node(states));
            self.program.parsers.alloc(Parser { name, start: node(0), accept, reject: accept, error });
        }
        for index in 0..count {
            let kind = if index < states {
                self.state(states)
            } else if index + 1 == count {
                let rule = Rule { condition: Expression::Bool(true), effect: Effect::Drop { reason: self.reason() } };
                NodeKind::Buffer { rules: vec![rule], otherwise: None }
            } else {
                self.node_kind(index, count)
            };
            let node = Node { name: self.name(), kind, notes: self.notes() };
            self.program.nodes.alloc(node);
        }
        self.program.entry = self.some(|it| node(it.below(count)));
    }

    fn forward(&mut self, index: usize, count: usize) -> NodeId {
        if self.breaks_rule() {
            return node(self.below(100));
        }
        node(index + 1 + self.below(count - index - 1))
    }

    fn state(&mut self, states: usize) -> NodeKind {
        let parser: ParserId = Idx::from_raw(RawIdx::from_u32(0));
        let body = self.statements(Kind::State, NOWHERE, &[], 2);
        let widths = self.several(2, |it| it.width());
        let keys: Vec<Expression> =
            widths.iter().map(|width| self.expression(Type::Bits(*width), NOWHERE, 2)).collect();
        let cases = self.several(3, |it| {
            let sets = widths.iter().map(|width| it.key_set(*width)).collect();
            Case { sets, to: node(it.below(states + 1)) }
        });
        let otherwise = self.some(|it| node(it.below(states + 1)));
        NodeKind::State { parser, body, select: Select { keys, cases, otherwise } }
    }

    fn key_set(&mut self, width: u32) -> KeySet {
        match self.below(5) {
            0 => KeySet::Any,
            1 => KeySet::Value(self.value(width)),
            2 => KeySet::Mask { value: self.value(width), mask: self.value(width) },
            3 => {
                let (a, b) = (self.value(width), self.value(width));
                KeySet::Range { low: a.clone().min(b.clone()), high: a.max(b) }
            }
            _ => match self.index(self.program.value_sets.len()) {
                Some(set) if width == 16 => KeySet::Set(set),
                _ => KeySet::Any,
            },
        }
    }

    fn node_kind(&mut self, index: usize, count: usize) -> NodeKind {
        match self.below(6) {
            0 | 1 => {
                let body = self.statements(Kind::Block, NOWHERE, &[], 3);
                let exit = if has_exit(&body) { Some(self.forward(index, count)) } else { None };
                NodeKind::Block { body, next: self.forward(index, count), exit }
            }
            2 => {
                let condition = self.expression(Type::Bool, NOWHERE, 4);
                NodeKind::Branch { condition, then: self.forward(index, count), otherwise: self.forward(index, count) }
            }
            3 => {
                let body = self.statements(Kind::Deparse, NOWHERE, &[], 2);
                NodeKind::Deparse { body, next: self.forward(index, count) }
            }
            4 => match self.index(self.program.tables.len()) {
                Some(table) => self.apply(table, index, count),
                None => NodeKind::Block { body: Vec::new(), next: self.forward(index, count), exit: None },
            },
            _ => {
                let rules = self.several(4, |it| it.rule(index, count));
                NodeKind::Buffer { rules, otherwise: Some(self.forward(index, count)) }
            }
        }
    }

    fn apply(&mut self, table: hlir::TableId, index: usize, count: usize) -> NodeKind {
        let number = table.into_raw().into_u32() as usize;
        let actions = self.program.tables.values().nth(number).map(|table| table.actions.clone()).unwrap_or_default();
        let next = match self.below(3) {
            0 => Next::Always(self.forward(index, count)),
            1 => Next::Hit { hit: self.forward(index, count), miss: self.forward(index, count) },
            _ => {
                let used = self.below(actions.len() + 1);
                let cases = (0..used).map(|action| (action as u32, self.forward(index, count))).collect();
                Next::Actions { cases, otherwise: self.forward(index, count) }
            }
        };
        let exits = actions.iter().any(|action| has_exit(&action.body));
        let exit = if exits || self.breaks_rule() { Some(self.forward(index, count)) } else { None };
        NodeKind::Apply { table, next, exit }
    }

    fn rule(&mut self, index: usize, count: usize) -> Rule {
        let condition = self.some(|it| it.expression(Type::Bool, NOWHERE, 3)).unwrap_or(Expression::Bool(true));
        let anywhere = node(self.below(count));
        let effect = match self.below(8) {
            0 => Effect::Drop { reason: self.reason() },
            1 => Effect::Send { port: self.expression(Type::Bits(32), NOWHERE, 2) },
            2 => Effect::Unicast { set: self.set(NOWHERE), to: self.forward(index, count) },
            3 => {
                let group = self.expression(Type::Bits(32), NOWHERE, 2);
                let to = self.forward(index, count);
                Effect::Replicate { group, copy: self.reentry(true, to) }
            }
            4 => {
                let session = self.expression(Type::Bits(32), NOWHERE, 2);
                Effect::Clone { session, copy: self.reentry(true, anywhere) }
            }
            5 => Effect::Resubmit { copy: self.reentry(false, anywhere) },
            6 => Effect::Recirculate { copy: self.reentry(false, anywhere) },
            _ => Effect::Punt { reason: self.reason(), resume: anywhere },
        };
        Rule { condition, effect }
    }

    fn reentry(&mut self, in_copy: bool, to: NodeId) -> Reentry {
        let bytes = self.pick(&[Bytes::Original, Bytes::Deparsed, Bytes::Current]);
        let keep = if self.once_in(2) { Keep::All } else { Keep::Only(self.several(2, |it| it.variable())) };
        Reentry { bytes, keep, set: self.set(Around { parameters: &[], in_copy }), to }
    }

    fn set(&mut self, around: Around) -> Vec<(Place, Expression)> {
        self.several(3, |it| {
            let (place, kind) = it.any_place();
            (place, it.expression(kind, around, 2))
        })
    }
}
