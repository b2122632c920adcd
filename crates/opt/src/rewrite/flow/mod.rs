//! Constants that depend on where a packet is: what no path to a point has changed is folded there.
//!
//! States of knowledge flow along the edges of the graph, only those that a packet can take, until none changes. Then
//! each node is rewritten under the state that holds there: conditions that are decided go, and so do writes of what is
//! there already, and headers that are not valid need no deparsing. All storage is zero when a packet enters, so
//! metadata that nothing sets is zero wherever it is read.

mod body;
mod state;

use super::constants;
use crate::analyze::drops::place_of;
use body::{Ends, Follow, join, merge};
use constants::{known, set_has};
use hlir::value::Value;
use hlir::{
    Bytes, Case, Effect, Expression, Keep, KeySet, Next, NodeId, NodeKind, Parser, Place, Program, Reentry, Rule,
    Select, Statement, TableId,
};
use state::{Layout, State};
use std::collections::{BTreeSet, HashMap};

/// Folds what is constant where it is. Programs with joint tables are left alone: recipes follow the graph as it is.
pub fn fold(program: &mut Program) {
    let Some(entry) = program.entry.filter(|_| program.joins.is_empty()) else { return };
    let before = program.clone();
    let mut flow = Flow { follow: Follow { program: &before, layout: Layout::new(&before) }, states: HashMap::new() };
    flow.run(entry);
    flow.rewrite(program);
}

/// The program as it was, and what is known at each node that packets reach.
struct Flow<'p> {
    follow: Follow<'p>,
    states: HashMap<NodeId, State>,
}

/// A node where packets go on, and what is known of them there.
type Edge = (NodeId, State);

impl Flow<'_> {
    fn run(&mut self, entry: NodeId) {
        let ranks = ranks(self.follow.program, entry);
        let first = self.follow.layout.at_entry();
        self.states.insert(entry, first);
        let mut waiting = BTreeSet::from([(ranks[&entry], entry)]);
        while let Some((_, node)) = waiting.pop_first() {
            let state = self.states[&node].clone();
            for (to, state) in self.node(node, state).0 {
                let mut at = self.states.remove(&to);
                if merge(&mut at, &state) {
                    waiting.insert((ranks[&to], to));
                }
                self.states.extend(at.map(|at| (to, at)));
            }
        }
    }

    /// Where packets go from a node, and what is left of the node.
    fn node(&mut self, id: NodeId, state: State) -> (Vec<Edge>, NodeKind) {
        let program = self.follow.program;
        let mut ends = Ends::default();
        let mut edges = Vec::new();
        let mut at = Some(state);
        let kind = match &program.nodes[id].kind {
            NodeKind::State { parser, body, select } => {
                let body = self.follow.body(body, &mut at, &mut ends);
                let select = self.select(select, at, (&mut edges, &mut ends));
                self.failed(&program.parsers[*parser], ends, &mut edges);
                NodeKind::State { parser: *parser, body, select }
            }
            NodeKind::Block { body, next, exit } => {
                let body = self.follow.body(body, &mut at, &mut ends);
                let exit = exit.filter(|_| has_exit(&body));
                edges.extend(at.map(|state| (*next, state)));
                edges.extend(exit.zip(ends.exit));
                NodeKind::Block { body, next: *next, exit }
            }
            NodeKind::Branch { condition, then, otherwise } => {
                self.branch((condition, *then, *otherwise), at, &mut edges)
            }
            NodeKind::Apply { table, next, exit } => {
                self.apply(*table, (next, *exit), at, &mut edges);
                NodeKind::Apply { table: *table, next: next.clone(), exit: *exit }
            }
            NodeKind::Deparse { body, next } => {
                let body = self.follow.body(body, &mut at, &mut ends);
                ends.exit.iter().for_each(|state| join(&mut at, state));
                edges.extend(at.map(|state| (*next, state)));
                NodeKind::Deparse { body, next: *next }
            }
            NodeKind::Buffer { rules, otherwise } => self.buffer((rules, *otherwise), at, &mut edges),
        };
        (edges, kind)
    }

    fn branch(
        &mut self,
        (condition, then, otherwise): (&Expression, NodeId, NodeId),
        at: Option<State>,
        edges: &mut Vec<Edge>,
    ) -> NodeKind {
        let Some(state) = at else { return NodeKind::Branch { condition: condition.clone(), then, otherwise } };
        let condition = self.follow.fold(condition, &state);
        if let Expression::Bool(outcome) = condition {
            let next = if outcome { then } else { otherwise };
            edges.push((next, state));
            return NodeKind::Block { body: Vec::new(), next, exit: None };
        }
        for (to, outcome) in [(then, true), (otherwise, false)] {
            let mut state = state.clone();
            self.follow.assume(&condition, outcome, &mut state);
            edges.push((to, state));
        }
        NodeKind::Branch { condition, then, otherwise }
    }

    /// The cases that can be.
    fn select(&mut self, select: &Select, at: Option<State>, (edges, ends): (&mut Vec<Edge>, &mut Ends)) -> Select {
        let Some(state) = at else {
            return Select { keys: Vec::new(), cases: Vec::new(), otherwise: select.otherwise };
        };
        let keys: Vec<Expression> = select.keys.iter().map(|key| self.follow.fold(key, &state)).collect();
        let values: Vec<Option<Value>> = keys.iter().map(known).collect();
        let (mut cases, mut is_decided) = (Vec::new(), false);
        for case in &select.cases {
            let matches = matches(case, &values);
            if matches == Some(false) {
                continue;
            }
            let mut state = state.clone();
            case.sets.iter().zip(&keys).for_each(|(set, key)| self.assume_in(set, key, &mut state));
            edges.push((case.to, state));
            cases.push(case.clone());
            if matches == Some(true) {
                is_decided = true;
                break;
            }
        }
        if !is_decided {
            match select.otherwise {
                Some(to) => edges.push((to, state)),
                None => join(&mut ends.failed, &state),
            }
        }
        let mut select = Select { keys, cases, otherwise: select.otherwise };
        constants::fold_select(&mut select);
        if select.cases.is_empty() {
            select.keys.clear();
        }
        select
    }

    /// What is known of a key that is in a set.
    fn assume_in(&mut self, set: &KeySet, key: &Expression, state: &mut State) {
        if let (KeySet::Value(value), Some(place)) = (set, place_of(key)) {
            let width = self.follow.program.place_type(place).width();
            self.follow.layout.set(state, place, Some(Value::big(value, width)));
        }
    }

    /// Packets that a statement or a select of the parser has rejected.
    fn failed(&mut self, parser: &Parser, ends: Ends, edges: &mut Vec<Edge>) {
        if let Some(mut state) = ends.failed {
            self.follow.layout.set(&mut state, Place::Variable(parser.error), None);
            edges.push((parser.reject, state));
        }
    }

    /// Any action may run in a table: which entries it has is not for this pass.
    fn apply(&mut self, id: TableId, (next, exit): (&Next, Option<NodeId>), at: Option<State>, edges: &mut Vec<Edge>) {
        let program = self.follow.program;
        let table = &program.tables[id];
        let Some(mut state) = at else { return };
        let automatic =
            program.meters.values().filter(|meter| meter.table == Some(id)).filter_map(|meter| meter.automatic);
        automatic.for_each(|place| self.follow.layout.set(&mut state, place, None));
        for (number, action) in (0u32..).zip(&table.actions) {
            let (mut behind, mut ends) = (Some(state.clone()), Ends::default());
            self.follow.body(&action.body, &mut behind, &mut ends);
            edges.extend(exit.zip(ends.exit));
            let Some(behind) = behind else { continue };
            let can_miss = !table.default_constant || table.default.action == number;
            let mut lead = |to: NodeId| edges.push((to, behind.clone()));
            match next {
                Next::Always(to) => lead(*to),
                Next::Hit { hit, miss } => {
                    lead(*hit);
                    if can_miss {
                        lead(*miss);
                    }
                }
                Next::Actions { cases, otherwise } => {
                    lead(cases.iter().find(|(case, _)| *case == number).map_or(*otherwise, |(_, to)| *to));
                }
            }
        }
    }

    fn buffer(
        &mut self,
        (rules, otherwise): (&[Rule], Option<NodeId>),
        at: Option<State>,
        edges: &mut Vec<Edge>,
    ) -> NodeKind {
        let Some(mut state) = at else { return NodeKind::Buffer { rules: rules.to_vec(), otherwise } };
        let (mut left, mut is_decided) = (Vec::new(), false);
        for rule in rules {
            let condition = self.follow.fold(&rule.condition, &state);
            if condition == Expression::Bool(false) {
                continue;
            }
            let mut taken = state.clone();
            self.follow.assume(&condition, true, &mut taken);
            let effect = self.effect(&rule.effect, &taken, edges);
            is_decided = condition == Expression::Bool(true) && effect.is_last();
            if effect.is_last() {
                self.follow.assume(&condition, false, &mut state);
            }
            left.push(Rule { condition, effect });
            if is_decided {
                break;
            }
        }
        edges.extend(otherwise.filter(|_| !is_decided).map(|to| (to, state)));
        NodeKind::Buffer { rules: left, otherwise }
    }

    /// What is left of an effect; packets go on along new edges.
    fn effect(&mut self, effect: &Effect, state: &State, edges: &mut Vec<Edge>) -> Effect {
        let fold = |value: &Expression| self.follow.fold(value, state);
        match effect {
            Effect::Drop { .. } => effect.clone(),
            Effect::Send { port } => Effect::Send { port: fold(port) },
            Effect::Unicast { set, to } => {
                let mut state = state.clone();
                let set = self.assign(set, &mut state);
                edges.push((*to, state));
                Effect::Unicast { set, to: *to }
            }
            Effect::Replicate { group, copy } => {
                Effect::Replicate { group: fold(group), copy: self.reenter(copy, state, edges) }
            }
            Effect::Clone { session, copy } => {
                Effect::Clone { session: fold(session), copy: self.reenter(copy, state, edges) }
            }
            Effect::Resubmit { copy } => Effect::Resubmit { copy: self.reenter(copy, state, edges) },
            Effect::Recirculate { copy } => Effect::Recirculate { copy: self.reenter(copy, state, edges) },
            Effect::Punt { resume, .. } => {
                // The controller may have changed the packet in the meantime.
                edges.push((*resume, self.follow.layout.unknown()));
                effect.clone()
            }
        }
    }

    fn reenter(&mut self, copy: &Reentry, state: &State, edges: &mut Vec<Edge>) -> Reentry {
        let mut state = state.clone();
        match copy.bytes {
            Bytes::Original | Bytes::Deparsed => self.follow.layout.forget_headers(&mut state),
            Bytes::Current => {}
        }
        if let Keep::Only(kept) = &copy.keep {
            self.follow.layout.forget_variables(&mut state, kept);
        }
        let set = self.assign(&copy.set, &mut state);
        edges.push((copy.to, state));
        Reentry { set, ..copy.clone() }
    }

    fn assign(&mut self, set: &[(Place, Expression)], state: &mut State) -> Vec<(Place, Expression)> {
        let mut left = Vec::new();
        for (place, value) in set {
            let value = self.follow.fold(value, state);
            self.follow.layout.set(state, *place, known(&value));
            left.push((*place, value));
        }
        left
    }

    fn rewrite(mut self, program: &mut Program) {
        let mut of_tables: HashMap<TableId, Option<State>> = HashMap::new();
        for id in program.nodes.iter().map(|(id, _)| id).collect::<Vec<_>>() {
            let Some(state) = self.states.get(&id).cloned() else { continue };
            if let NodeKind::Apply { table, .. } = program.nodes[id].kind {
                join(of_tables.entry(table).or_default(), &state);
            } else {
                program.nodes[id].kind = self.node(id, state).1;
            }
        }
        for (id, state) in of_tables {
            self.table(id, state, program);
        }
    }

    /// The key and the actions of a table, under what is known wherever it is looked up.
    fn table(&mut self, id: TableId, state: Option<State>, program: &mut Program) {
        let Some(state) = state else { return };
        let before = &self.follow.program.tables[id];
        let after = &mut program.tables[id];
        for (key, old) in after.keys.iter_mut().zip(&before.keys) {
            key.value = self.follow.fold(&old.value, &state);
        }
        after.selector = before.selector.iter().map(|value| self.follow.fold(value, &state)).collect();
        let mut within = state;
        let meters = self.follow.program.meters.values().filter(|meter| meter.table == Some(id));
        for place in meters.filter_map(|meter| meter.automatic).collect::<Vec<_>>() {
            self.follow.layout.set(&mut within, place, None);
        }
        let mut exits = false;
        for (action, old) in after.actions.iter_mut().zip(&before.actions) {
            action.body = self.follow.body(&old.body, &mut Some(within.clone()), &mut Ends::default());
            exits |= has_exit(&action.body);
        }
        for (_, node) in program.nodes.iter_mut() {
            if let NodeKind::Apply { table, exit, .. } = &mut node.kind
                && *table == id
                && !exits
            {
                *exit = None;
            }
        }
    }
}

/// Whether a case matches, if the known values decide that.
fn matches(case: &Case, values: &[Option<Value>]) -> Option<bool> {
    if let [KeySet::Set(_)] = case.sets.as_slice() {
        return None;
    }
    let each = case.sets.iter().zip(values).map(|(set, value)| match (set, value) {
        (KeySet::Any, _) => Some(true),
        (_, Some(value)) => set_has(set, value),
        (_, None) => None,
    });
    let each: Vec<Option<bool>> = each.collect();
    if each.contains(&Some(false)) {
        return Some(false);
    }
    each.iter().all(|one| *one == Some(true)).then_some(true)
}

fn has_exit(body: &[Statement]) -> bool {
    let mut found = false;
    body.iter().for_each(|statement| statement.walk(&mut |inner| found |= matches!(inner, Statement::Exit)));
    found
}

/// The nodes in an order in which most edges lead forward.
fn ranks(program: &Program, entry: NodeId) -> HashMap<NodeId, usize> {
    let (mut done, mut seen) = (Vec::new(), BTreeSet::new());
    let mut open = vec![(entry, false)];
    while let Some((id, is_left)) = open.pop() {
        if is_left {
            done.push(id);
        } else if seen.insert(id) {
            open.push((id, true));
            let reject = program.nodes[id].parser().map(|parser| program.parsers[parser].reject);
            open.extend(program.nodes[id].successors().into_iter().chain(reject).map(|to| (to, false)));
        }
    }
    done.into_iter().rev().enumerate().map(|(rank, id)| (id, rank)).collect()
}
