//! The graph behind the last cut of a path: each node runs for all packets that come to it, and what becomes of them is
//! the effects of the commit phase.

use crate::arrival::{Arrival, Leaf};
use crate::commit::as_it_arrived;
use crate::known::Known;
use crate::run::{Outcome, Result, Run, Separation};
use crate::value::{Operation, Value};
use crate::{BulkDrop, Does, LateLookup, Obstacle};
use hlir::hot_path::table_of;
use hlir::{Binary, Effect, FieldRef, HeaderId, NodeId, Program, Rule, Statement};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Nodes that a region has at most; a larger one has no schedule.
const MOST_NODES: usize = 200;

/// Bits of a port's number.
const PORT: u32 = 16;

/// Bits of a store at most, unless it copies a parameter.
const WORD: u32 = 64;

/// Values that a path has at most.
const MOST_VALUES: usize = 4000;

/// Packets that stay apart at a node; more are merged.
const MOST_APART: usize = 24;

/// How often packets of one arrival are separated at a node.
const MOST_SEPARATIONS: usize = 4;

/// Ends that packets reach at most, side exits not counted, and those.
const MOST_LEAVES: usize = 48;
const MOST_EXITS: usize = 64;

/// What a region does with packets.
pub struct Ended {
    /// Packets that take a side exit.
    pub exits: Value,
    pub lookups: Vec<LateLookup>,
    /// The others. Those that are the most likely come last.
    pub leaves: Vec<Leaf>,
    pub missed: Option<BulkDrop>,
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
    /// `known`: what is known of all packets.
    pub fn region(&mut self, region: &Region, known: &Known) -> std::result::Result<Ended, Obstacle> {
        let first = region.order[0];
        let before = if self.separation.is_some() { self.values.len() } else { 0 };
        self.most_values = before + MOST_VALUES;
        let (yes, no) = (self.values.bool(true), self.values.bool(false));
        let missed = self.missed(first);
        (self.is_speculative, self.exit_to, self.leaving, self.barred) = (false, None, no, no);
        let state = self.state.clone();
        // What stages do is done by all that come here.
        let effects = std::mem::take(&mut self.effects);
        let begun = Arrival {
            when: yes,
            choices: Vec::new(),
            on_path: 0,
            state,
            known: known.clone(),
            effects,
            made: BTreeMap::new(),
        };
        let mut coming: HashMap<NodeId, Vec<Arrival>> = HashMap::from([(first, vec![begun])]);
        let mut leaves = Vec::new();
        for &node in &region.order {
            let arrivals = coming.remove(&node).unwrap_or_default();
            if self.is_looked_up_late(node) {
                self.looked_up_once(node, &arrivals).map_err(|does| Obstacle { node, does: does.into() })?;
            }
            for mut arrival in arrivals {
                arrival.on_path += usize::from(self.path.nodes.contains(&node));
                if self.lookups.iter().any(|lookup| lookup.node == node) {
                    arrival.made.insert(node, arrival.when);
                }
                self.arrive(node, arrival, &mut leaves, |run, to, arrival| {
                    run.come(coming.entry(to).or_default(), arrival, known);
                })?;
            }
            let exits = leaves.iter().filter(|leaf| leaf.leaves()).count();
            if leaves.len() - exits > MOST_LEAVES || exits > MOST_EXITS {
                return Err(Obstacle { node, does: "leads to too many ends".into() });
            }
        }
        if !leaves.iter().any(Leaf::is_sent) {
            return Err(Obstacle { node: first, does: "sends no packet".into() });
        }
        let mut exits = self.values.or(self.leaving, self.barred);
        if self.is_decided_late(exits) {
            // Packets are distinguished first, by what these lookups find.
            exits = no;
        } else {
            leaves.retain(|leaf| !leaf.leaves());
        }
        if let Some(short) = self.without_headroom(&leaves) {
            exits = self.values.or(exits, short);
        }
        Ok(Ended { exits, lookups: std::mem::take(&mut self.late), leaves, missed })
    }

    /// Packets that lack the headroom that some of them need.
    fn without_headroom(&mut self, leaves: &[Leaf]) -> Option<Value> {
        let effects = leaves.iter().flat_map(|leaf| &leaf.effects);
        let most = effects.filter_map(|effect| {
            let Does::Move { bytes } = effect.does else { return None };
            u64::try_from(bytes).ok()
        });
        let most = most.max().filter(|bytes| *bytes > 0)?;
        let (headroom, least) = (self.values.headroom(), self.values.word(most, 32));
        Some(self.values.binary(Binary::Less, headroom, least))
    }

    fn is_looked_up_late(&self, node: NodeId) -> bool {
        table_of(self.program, node).is_some() && !self.lookups.iter().any(|lookup| lookup.node == node)
    }

    /// All packets make one lookup of the commit phase: they may have different keys.
    fn looked_up_once(&mut self, node: NodeId, arrivals: &[Arrival]) -> Result<()> {
        let Some(table) =
            table_of(self.program, node).filter(|_| arrivals.len() > 1 && self.path.nodes.contains(&node))
        else {
            return Ok(());
        };
        let (mut all, mut of_all) = (self.values.bool(false), Vec::new());
        for arrival in arrivals {
            self.state = arrival.state.clone();
            let key = self.key(table)?;
            of_all = match &of_all[..] {
                [] => key,
                others => {
                    let pairs = key.into_iter().zip(others);
                    pairs.map(|(own, other)| self.values.choose(arrival.when, own, *other)).collect()
                }
            };
            all = self.values.or(all, arrival.when);
        }
        self.late.push(LateLookup { node, table, key: of_all, when: all });
        Ok(())
    }

    /// Runs a node for packets that come to it: some end here, others go on. Where they may be separated, those that need it are.
    fn arrive(
        &mut self,
        node: NodeId,
        arrival: Arrival,
        leaves: &mut Vec<Leaf>,
        mut go_on: impl FnMut(&mut Self, NodeId, Arrival),
    ) -> std::result::Result<(), Obstacle> {
        let mut open = vec![(arrival, MOST_SEPARATIONS)];
        while let Some((arrival, left)) = open.pop() {
            if let Some(separation) = &mut self.separation {
                *separation = Separation { known: arrival.known.clone(), left, by: None };
            }
            let late = self.late.len();
            let done = self.arrive_at((node, left < MOST_SEPARATIONS), arrival.clone(), leaves, &mut go_on);
            match self.separation.as_mut().and_then(|separation| separation.by.take()) {
                None => done?,
                Some(by) => {
                    self.late.truncate(late);
                    let not = self.values.not(by);
                    open.extend(
                        [not, by].into_iter().filter_map(|half| Some((arrival.known_with(self, half)?, left - 1))),
                    );
                }
            }
        }
        Ok(())
    }

    /// The same until they have to be separated. Of those that were, some are others than the path's, and take a side exit.
    fn arrive_at(
        &mut self,
        (node, were_separated): (NodeId, bool),
        arrival: Arrival,
        leaves: &mut Vec<Leaf>,
        mut go_on: impl FnMut(&mut Self, NodeId, Arrival),
    ) -> std::result::Result<(), Obstacle> {
        let obstacle = |does: &'static str| Err(Obstacle { node, does: does.into() });
        if self.values.len() > self.most_values {
            return obstacle("has too many values");
        }
        let when = arrival.when;
        (self.active, self.state) = (when, arrival.state.clone());
        self.effects = arrival.effects.clone();
        let (late, leaving) = (self.late.len(), std::mem::replace(&mut self.leaving, self.values.bool(false)));
        let outcomes = match self.visit(node) {
            Ok(outcomes) => outcomes,
            Err(does) if self.is_separating() => {
                self.leaving = leaving;
                return obstacle(does);
            }
            Err(does)
                if self.values.holds(when) == Some(true) || (self.path.nodes.contains(&node) && !were_separated) =>
            {
                return obstacle(does);
            }
            Err(_) => {
                self.late.truncate(late);
                self.leaving = self.values.or(leaving, when);
                leaves.push(arrival.leave(node));
                return Ok(());
            }
        };
        let ends: Vec<_> = self.effects.extract_if(.., |effect| effect.does.is_end()).collect();
        let effects = std::mem::take(&mut self.effects);
        let mut passed = Arrival { state: self.state.clone(), effects, ..arrival };
        let gone = std::mem::replace(&mut self.leaving, leaving);
        self.leaving = self.values.or(leaving, gone);
        if let Some(leaving) = passed.with(self, gone) {
            leaves.push(leaving.leave(node));
            let stays = self.values.not(gone);
            let Some(others) = passed.with(self, stays) else { return Ok(()) };
            passed = others;
        }
        for end in ends {
            leaves.extend(passed.with(self, end.when).map(|ended| ended.end(node, end.does)));
        }
        for Outcome { when: some, to, state } in outcomes {
            let Some(mut gone) = passed.with(self, some) else { continue };
            if let Some(state) = state {
                gone.state = state;
            }
            match to {
                Some(to) => go_on(self, to, gone),
                None => {
                    self.barred = self.values.or(self.barred, gone.when);
                    leaves.push(gone.leave(node));
                }
            }
        }
        Ok(())
    }

    /// Packets come to a node. Where many stay apart, they are merged with others that have the same headers.
    fn come(&mut self, others: &mut Vec<Arrival>, arrival: Arrival, known: &Known) {
        if others.len() >= MOST_APART {
            for other in others.iter_mut() {
                if let Some(merged) = other.merged(self, &arrival, known) {
                    *other = merged;
                    return;
                }
            }
        }
        others.push(arrival);
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
                    outcomes.push(Outcome::new(taken, None));
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
                    outcomes.push(Outcome::new(taken, Some(*to)));
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
                | Effect::Punt { .. } => outcomes.push(Outcome::new(taken, None)),
            }
            open = self.values.and_not(open, holds);
        }
        self.active = base;
        outcomes.push(Outcome::new(open, otherwise));
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

    /// The packet's bytes get the fields that were assigned, and headers that lie elsewhere. What is behind all headers
    /// stays where it is, so a packet with more or fewer of them begins elsewhere.
    pub fn deparse(&mut self, body: &[Statement]) -> Result<()> {
        if self.state.is_deparsed {
            return Err("deparses a packet twice");
        }
        let mut emitted = Vec::new();
        self.emitted(body, &mut emitted)?;
        let mut lengths = Vec::new();
        for header in &emitted {
            lengths.push(self.bytes_of(*header)?);
        }
        let moved = lengths.iter().sum::<u32>().cast_signed() - self.state.cursor.cast_signed();
        if moved != 0 {
            self.effect(Does::Move { bytes: moved });
        }
        let mut at = 0;
        for (header, bytes) in emitted.into_iter().zip(lengths) {
            let lies_there = self
                .state
                .headers
                .get(&header)
                .is_some_and(|start| 8 * i64::from(*start) == as_it_arrived(8 * at, moved));
            let fields = 0..self.program.headers[header].fields.len() as u32;
            for field in fields.map(|field| FieldRef { header, field }) {
                if self.program.field(field).width > 0 && (!lies_there || self.state.fields.contains_key(&field)) {
                    self.emit_field(8 * at + crate::state::offset(self.program, field), moved, field);
                }
            }
            at += bytes;
        }
        (self.state.is_deparsed, self.state.has_moved, self.state.cursor) = (true, moved != 0, 0);
        Ok(())
    }

    fn bytes_of(&self, header: HeaderId) -> Result<u32> {
        let declared = &self.program.headers[header];
        let bits = declared.fixed_bits();
        if declared.varbit().is_some() || !bits.is_multiple_of(8) {
            return Err("emits a header of varying length, or of a part of a byte");
        }
        Ok(bits / 8)
    }

    /// Stores a field at a bit of the packet as it is sent, unless it is there.
    fn emit_field(&mut self, bit: u32, moved: i32, field: FieldRef) {
        let value = self.state.field(self.program, &mut self.values, field);
        let width = self.values.width(value);
        let is_parameter = matches!(self.values.of(value), Operation::Lookup { .. });
        if width <= WORD || is_parameter {
            return self.store((bit, moved), value, field);
        }
        // Other wide values are stored in parts.
        for from in (0..width).step_by(WORD as usize) {
            let bits = WORD.min(width - from);
            let part = self.values.slice(value, width - from - bits, bits);
            self.store((bit + from, moved), part, field);
        }
    }

    fn store(&mut self, (bit, moved): (u32, i32), value: Value, field: FieldRef) {
        let as_it_was = u32::try_from(as_it_arrived(bit, moved)).ok();
        let is_there = as_it_was.is_some_and(|own| *self.values.of(value) == Operation::Packet { bit: own });
        if !is_there {
            self.effect(Does::Store { bit, value, field });
        }
    }

    /// The headers that a packet is sent with, in order.
    fn emitted(&mut self, body: &[Statement], headers: &mut Vec<HeaderId>) -> Result<()> {
        for statement in body {
            match statement {
                Statement::Emit(header) => {
                    if self.state.valid.contains(header) {
                        headers.push(*header);
                    }
                }
                Statement::If { condition, then, otherwise } => {
                    let condition = self.value(condition)?;
                    let holds = self.values.holds(condition).ok_or("emits headers under a condition")?;
                    self.emitted(if holds { then } else { otherwise }, headers)?;
                }
                Statement::Scope { body, .. } => self.emitted(body, headers)?,
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
