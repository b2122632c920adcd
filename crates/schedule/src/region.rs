//! The graph behind the last cut of a path. A node runs for all packets that come to it with the same headers: their
//! states are merged where they meet, and effects have a condition.

use crate::run::{Outcome, Result, Run};
use crate::state::State;
use crate::value::{Operation, Value};
use crate::{Commit, Does, Effect as Scheduled, Obstacle};
use hlir::hot_path::table_of;
use hlir::{Binary, Effect, FieldRef, NodeId, Program, Rule, Statement};
use std::collections::{HashMap, HashSet};

/// Nodes that a region has at most; a larger one has no schedule.
const MOST_NODES: usize = 200;

/// Bits of a port's number.
const PORT: u32 = 16;

/// Bits of a store at most, unless it copies a parameter.
const WORD: u32 = 64;

/// Values that a path has at most.
const MOST_VALUES: usize = 4000;

/// Packets that come to a node.
struct Arrival {
    when: Value,
    state: State,
}

/// Nodes in an order in which each comes after all that lead to it.
pub struct Region {
    order: Vec<NodeId>,
}

impl Region {
    /// The nodes from one on; none if they have a cycle.
    pub fn of(program: &Program, from: NodeId) -> Option<Region> {
        let (mut done, mut open, mut order) = (HashSet::new(), HashSet::new(), Vec::new());
        let mut left = vec![(from, false)];
        while let Some((node, is_left)) = left.pop() {
            if is_left {
                open.remove(&node);
                done.insert(node);
                order.push(node);
                continue;
            }
            if done.contains(&node) {
                continue;
            }
            if !open.insert(node) {
                return None;
            }
            left.push((node, true));
            for next in program.nodes[node].own_successors().into_iter().rev() {
                if open.contains(&next) {
                    return None;
                }
                if !done.contains(&next) {
                    left.push((next, false));
                }
            }
        }
        order.reverse();
        (order.len() <= MOST_NODES).then_some(Region { order })
    }
}

impl Run<'_> {
    pub fn region(&mut self, region: &Region) -> std::result::Result<Commit, Obstacle> {
        let first = region.order[0];
        let (yes, no) = (self.values.bool(true), self.values.bool(false));
        let missed = self.missed(first);
        (self.is_speculative, self.exit_to, self.leaving, self.barred) = (false, None, no, no);
        let mut made = vec![no; self.lookups.len()];
        let begun = Arrival { when: yes, state: self.state.clone() };
        let mut coming: HashMap<NodeId, Vec<Arrival>> = HashMap::from([(first, vec![begun])]);
        for &node in &region.order {
            for (number, arrival) in coming.remove(&node).unwrap_or_default().into_iter().enumerate() {
                // One lookup of a node has one key.
                if number > 0 && table_of(self.program, node).is_some() {
                    self.barred = self.values.or(self.barred, arrival.when);
                    continue;
                }
                for (lookup, made) in self.lookups.iter().zip(&mut made) {
                    if lookup.node == node {
                        *made = arrival.when;
                    }
                }
                self.arrive(node, arrival, &mut coming)?;
            }
        }
        self.not_made(&made);
        self.one_send(first)?;
        let (lookups, effects) = (std::mem::take(&mut self.late), std::mem::take(&mut self.effects));
        let exits = self.values.or(self.leaving, self.barred);
        Ok(Commit { exits, lookups, effects, missed })
    }

    /// Runs a node for packets that come to it, and notes where they come next.
    fn arrive(
        &mut self,
        node: NodeId,
        arrival: Arrival,
        coming: &mut HashMap<NodeId, Vec<Arrival>>,
    ) -> std::result::Result<(), Obstacle> {
        let obstacle = |does: &'static str| Err(Obstacle { node, does: does.into() });
        if self.values.len() > MOST_VALUES {
            return obstacle("has too many values");
        }
        let when = arrival.when;
        (self.active, self.state) = (when, arrival.state);
        let (effects, late, leaving) = (self.effects.len(), self.late.len(), self.leaving);
        let outcomes = match self.visit(node) {
            Ok(outcomes) => outcomes,
            Err(does) if self.values.holds(when) == Some(true) || self.path.nodes.contains(&node) => {
                return obstacle(does);
            }
            Err(_) => {
                self.effects.truncate(effects);
                self.late.truncate(late);
                self.leaving = self.values.or(leaving, when);
                return Ok(());
            }
        };
        for Outcome { when: some, to } in outcomes {
            let some = self.values.and(when, some);
            if self.values.holds(some) == Some(false) {
                continue;
            }
            match to {
                Some(to) => self.come(coming.entry(to).or_default(), some),
                None => self.barred = self.values.or(self.barred, some),
            }
        }
        Ok(())
    }

    /// Packets with this state come to a node to which others come. States with different headers stay apart.
    fn come(&mut self, others: &mut Vec<Arrival>, when: Value) {
        for other in others.iter_mut() {
            if let Some(state) = other.state.merged(self.program, &mut self.values, when, &self.state) {
                *other = Arrival { when: self.values.or(other.when, when), state };
                return;
            }
        }
        others.push(Arrival { when, state: self.state.clone() });
    }

    /// Lookups of the region that some packets do not make. They were counted for all.
    fn not_made(&mut self, made: &[Value]) {
        let last = self.path.stages.last().map_or(0, |stage| stage.place);
        let behind = self.lookups.iter().zip(made).filter(|(lookup, _)| lookup.place >= last);
        let region: Vec<(NodeId, Value)> = behind.map(|(lookup, made)| (lookup.node, *made)).collect();
        for (lookup, made) in region {
            let when = self.values.not(made);
            if self.values.holds(when) != Some(false) {
                self.effects.insert(0, Scheduled { when, node: lookup, does: Does::NotMade { lookup } });
            }
        }
    }

    /// All that leave do so at the end, each by its port.
    fn one_send(&mut self, first: NodeId) -> std::result::Result<(), Obstacle> {
        let mut all: Option<(NodeId, Value, Value)> = None;
        for effect in self.effects.extract_if(.., |effect| matches!(effect.does, Does::Send { .. })) {
            let Does::Send { port } = effect.does else { unreachable!("only what is sent was taken") };
            all = Some(match all {
                None => (effect.node, effect.when, port),
                Some((node, when, others)) => {
                    let port = self.values.choose(effect.when, port, others);
                    (node, self.values.or(when, effect.when), port)
                }
            });
        }
        let Some((node, when, port)) = all else {
            return Err(Obstacle { node: first, does: "sends no packet".into() });
        };
        self.effects.push(Scheduled { when, node, does: Does::Send { port } });
        Ok(())
    }

    /// The rules of the buffering manager, in order.
    pub fn buffer(&mut self, rules: &[Rule], otherwise: Option<NodeId>) -> Result<Vec<Outcome>> {
        let base = self.active;
        let mut open = self.values.bool(true);
        let mut outcomes = Vec::new();
        for rule in rules {
            let holds = self.value(&rule.condition)?;
            let taken = self.values.and(open, holds);
            if self.values.holds(taken) == Some(false) {
                continue;
            }
            self.active = self.values.and(base, taken);
            match &rule.effect {
                // A stage ends no packet.
                Effect::Drop { .. } | Effect::Send { .. } if self.is_speculative => {
                    outcomes.push(Outcome { when: taken, to: None });
                }
                Effect::Drop { reason } => self.effect(Does::Drop { reason: reason.clone() }),
                Effect::Send { port } => {
                    let is_wide = self.program.port_width(port) > PORT;
                    let port = self.value(port)?;
                    self.send(port, is_wide);
                }
                Effect::Unicast { set, to } => {
                    let before = self.state.clone();
                    for (place, value) in set {
                        let value = self.value(value)?;
                        self.put(*place, value)?;
                    }
                    outcomes.push(Outcome { when: taken, to: Some(*to) });
                    let rest = self.values.and_not(open, holds);
                    if self.values.holds(rest) != Some(false) && !set.is_empty() {
                        let state = before.merged(self.program, &mut self.values, taken, &self.state);
                        self.state = state.ok_or("changes which headers the packet has")?;
                    }
                }
                // Such packets run the plain program.
                Effect::Replicate { .. }
                | Effect::Clone { .. }
                | Effect::Resubmit { .. }
                | Effect::Recirculate { .. }
                | Effect::Punt { .. } => outcomes.push(Outcome { when: taken, to: None }),
            }
            open = self.values.and_not(open, holds);
        }
        self.active = base;
        outcomes.push(Outcome { when: open, to: otherwise });
        Ok(outcomes)
    }

    /// A number of more than 16 bits is no port.
    fn send(&mut self, port: Value, is_wide: bool) {
        if !is_wide {
            return self.effect(Does::Send { port });
        }
        let all = self.active;
        let most = self.values.word(u64::from(u16::MAX), self.values.width(port));
        let beyond = self.values.binary(Binary::Greater, port, most);
        self.active = self.values.and(all, beyond);
        if self.values.holds(self.active) != Some(false) {
            self.effect(Does::Drop { reason: "no such port".to_string() });
        }
        self.active = self.values.and_not(all, beyond);
        let port = self.values.slice(port, 0, PORT);
        self.effect(Does::Send { port });
        self.active = all;
    }

    /// Headers that are emitted where they lie. The packet's bytes get the fields that were assigned.
    pub fn deparse(&mut self, body: &[Statement]) -> Result<()> {
        if self.state.is_deparsed {
            return Err("deparses a packet twice");
        }
        let mut end = 0;
        self.emitted(body, &mut end)?;
        if end != self.state.cursor {
            return Err("moves the packet's headers");
        }
        let written = self.state.fields.iter().filter(|(field, _)| self.state.valid.contains(&field.header));
        let fields: Vec<_> = written.map(|(field, value)| (*field, *value)).collect();
        for (field, value) in fields {
            let bit = 8 * self.state.headers[&field.header] + crate::state::offset(self.program, field);
            let as_it_was = self.values.packet(bit, self.program.field(field).width);
            if value != as_it_was && self.program.field(field).width > 0 {
                self.store(bit, value, field);
            }
        }
        (self.state.is_deparsed, self.state.cursor) = (true, 0);
        Ok(())
    }

    /// A parameter is copied whole; other wide values are stored in parts.
    fn store(&mut self, bit: u32, value: Value, field: FieldRef) {
        let width = self.values.width(value);
        let is_parameter = matches!(self.values.of(value), Operation::Lookup { .. });
        if width <= WORD || is_parameter {
            return self.effect(Does::Store { bit, value, field });
        }
        for from in (0..width).step_by(WORD as usize) {
            let bits = WORD.min(width - from);
            let part = self.values.slice(value, width - from - bits, bits);
            if part != self.values.packet(bit + from, bits) {
                self.effect(Does::Store { bit: bit + from, value: part, field });
            }
        }
    }

    fn emitted(&mut self, body: &[Statement], end: &mut u32) -> Result<()> {
        for statement in body {
            match statement {
                Statement::Emit(header) => {
                    if !self.state.valid.contains(header) {
                        continue;
                    }
                    if self.state.headers.get(header) != Some(end) {
                        return Err("moves the packet's headers");
                    }
                    let bits: u32 = self.program.headers[*header].fields.iter().map(|field| field.width).sum();
                    *end += bits / 8;
                }
                Statement::If { condition, then, otherwise } => {
                    let condition = self.value(condition)?;
                    let holds = self.values.holds(condition).ok_or("emits headers under a condition")?;
                    self.emitted(if holds { then } else { otherwise }, end)?;
                }
                Statement::Scope { body, .. } => self.emitted(body, end)?,
                Statement::Assign { target: target @ hlir::Place::Variable(_), value } => {
                    let value = self.value(value)?;
                    self.put(*target, value)?;
                }
                Statement::Assign { .. }
                | Statement::SetValid(_)
                | Statement::SetInvalid(_)
                | Statement::CopyHeader { .. }
                | Statement::CopyVarbit { .. }
                | Statement::Loop { .. }
                | Statement::Leave(_)
                | Statement::Exit
                | Statement::Extract { .. }
                | Statement::Advance(_)
                | Statement::Lookahead { .. }
                | Statement::Verify { .. }
                | Statement::Truncate(_)
                | Statement::Call(_) => return Err("does more than emit headers in its deparser"),
            }
        }
        Ok(())
    }
}
