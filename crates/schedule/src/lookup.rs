//! Lookups: keys, and the actions of the record that was found.

use crate::run::{Outcome, Result, Run, Running};
use crate::state::State;
use crate::value::{Found, NO_MEMBER, Value};
use crate::{BulkDrop, CounterIndex, Does, LateLookup};
use hlir::hot_path::may_be_stale;
use hlir::{Algorithm, Binary, DEFAULT_INDEX, HashInput, Join, Next, NodeId, NodeKind, Statement, TableId, Type};

/// Bits of a part of a key.
const LIMB: u32 = 64;

/// Packets that have the same headers behind a lookup.
struct Alike {
    when: Value,
    state: State,
    /// What is decided for some of them, by index.
    outcomes: Vec<usize>,
}

impl Run<'_> {
    /// The key of a table on the current state, in limbs, as in `Program::key_fields`.
    pub fn key(&mut self, table: TableId) -> Result<Vec<Value>> {
        let mut fields = self.program.key_fields(table);
        fields.sort_by_key(|field| field.shift);
        let width: u32 = fields.iter().map(|field| field.width).sum();
        let mut limbs = vec![self.values.word(0, 0); width.div_ceil(LIMB).max(1) as usize];
        for field in fields {
            let value = self.value(&self.program.tables[table].keys[field.index].value)?;
            let value = if self.values.kind(value) == Type::Bool { self.values.from_bool(value) } else { value };
            let mut low = 0;
            while low < field.width {
                let at = field.shift + low;
                let bits = (LIMB - at % LIMB).min(field.width - low);
                let part = self.values.slice(value, low, bits);
                let limb = (at / LIMB) as usize;
                limbs[limb] = self.values.binary(Binary::Concat, part, limbs[limb]);
                low += bits;
            }
        }
        Ok(limbs)
    }

    /// The actions of a lookup, each for the packets that run it.
    pub fn look_up(&mut self, node: NodeId, table: TableId, next: &Next, exit: Option<NodeId>) -> Result<Vec<Outcome>> {
        let program = self.program;
        let declared = &program.tables[table];
        self.checked(table)?;
        let hash = self.selector_hash(table)?;
        self.made_late(node, table)?;
        let (number, runs) = self.found_at(node, table, hash);
        self.give_up();
        self.counted_at(node, table, number, runs);
        let before = self.state.clone();
        let mut alike: Vec<Alike> = Vec::new();
        let mut outcomes: Vec<Outcome> = Vec::new();
        let mut leaves = self.missing(node, table, (number, runs));
        let known = self.values.not(leaves);
        let (mut others, mut obstacle) = (known, "has no action");
        if self.values.holds(leaves) != Some(false) {
            outcomes.push(Outcome::new(leaves, None));
        }
        for (action, body) in declared.actions.iter().map(|action| &action.body).enumerate() {
            let with = self.values.word(action as u64, 32);
            // A record runs one of the table's actions.
            let is_run = if action + 1 == declared.actions.len() {
                others
            } else {
                let runs = self.values.equal(runs, with);
                self.values.and(known, runs)
            };
            others = self.values.and_not(others, is_run);
            if self.values.holds(is_run) == Some(false) {
                continue;
            }
            self.state = before.clone();
            let done = self.run_action(body, Running { lookup: node, table, action, hash }, is_run);
            if let Err(does) = done {
                // Packets that run this action run the plain program.
                outcomes.push(Outcome::new(is_run, None));
                leaves = self.values.or(leaves, is_run);
                obstacle = does;
                continue;
            }
            let (live, exited) = (self.live, self.exited);
            if exit.is_some() && self.values.holds(exited) != Some(false) {
                self.exited = self.values.and(is_run, exited);
                leaves = self.values.or(leaves, self.exited);
                outcomes.extend(self.exited_to(exit));
            }
            let first = outcomes.len();
            if let Next::Actions { cases, otherwise } = next {
                let to = cases.iter().find(|(case, _)| *case as usize == action).map_or(otherwise, |(_, to)| to);
                let when = self.values.and(is_run, live);
                outcomes.push(Outcome::new(when, Some(*to)));
            }
            let group = self.join(&mut alike, is_run);
            alike[group].outcomes.extend(first..outcomes.len());
        }
        self.live = self.values.bool(true);
        let ends = self.values.not(leaves);
        if alike.is_empty() { Err(obstacle) } else { Ok(self.behind((next, number), ends, alike, outcomes)) }
    }

    /// Where packets go on that ran an action to its end. Those with different headers stay apart.
    fn behind(
        &mut self,
        (next, number): (&Next, Value),
        ends: Value,
        alike: Vec<Alike>,
        mut outcomes: Vec<Outcome>,
    ) -> Vec<Outcome> {
        if let [all] = &alike[..] {
            self.state = all.state.clone();
            outcomes.extend(self.outcomes_of(next, number, ends));
            return outcomes;
        }
        for Alike { when, state, outcomes: decided } in alike {
            let of_these = self.values.and(ends, when);
            let first = outcomes.len();
            outcomes.extend(self.outcomes_of(next, number, of_these));
            for outcome in decided.into_iter().chain(first..outcomes.len()) {
                outcomes[outcome].state = Some(state.clone());
            }
        }
        outcomes
    }

    /// Packets that have run an action join others that have the same headers: which ones.
    fn join(&mut self, alike: &mut Vec<Alike>, is_run: Value) -> usize {
        for (group, others) in alike.iter_mut().enumerate() {
            if let Some(merged) = others.state.merged(self.program, &mut self.values, is_run, &self.state) {
                others.state = merged;
                others.when = self.values.or(others.when, is_run);
                return group;
            }
        }
        alike.push(Alike { when: is_run, state: self.state.clone(), outcomes: Vec::new() });
        alike.len() - 1
    }

    /// The record number that a lookup found, and the action that runs.
    fn found_at(&mut self, node: NodeId, table: TableId, hash: Option<Value>) -> (Value, Value) {
        let declared = &self.program.tables[table];
        let number = match declared.keys.is_empty() {
            true => self.values.word(0, 32),
            false => self.values.found(node, Found::Number, None, 32),
        };
        let runs = match declared.actions.len() {
            1 if hash.is_none() => self.values.word(0, 32),
            _ => self.values.found(node, Found::Action, hash, 32),
        };
        (number, runs)
    }

    /// The hash by which a group chooses a member.
    fn selector_hash(&mut self, table: TableId) -> Result<Option<Value>> {
        let program = self.program;
        let declared = &program.tables[table];
        let Some(selector) = program.selector(table) else { return Ok(None) };
        if selector.algorithm == Algorithm::InternetChecksum {
            return Err("chooses a member of a group by a checksum");
        }
        let inputs: Vec<HashInput> = declared.selector.iter().cloned().map(HashInput::Bits).collect();
        let hash = self.hashed(selector.algorithm, &inputs)?;
        let cut = self.values.slice(hash, 0, selector.width.min(LIMB));
        Ok(Some(self.values.extend(cut, LIMB, false)))
    }

    /// Packets that the program has to run: those that missed, where a miss does more than run an action, or may find what an
    /// older packet has inserted, and those whose group is empty.
    fn missing(&mut self, node: NodeId, table: TableId, (number, runs): (Value, Value)) -> Value {
        let declared = &self.program.tables[table];
        let mut missing = self.values.bool(false);
        if self.program.selector(table).is_some() {
            let no_member = self.values.word(NO_MEMBER.into(), 32);
            missing = self.values.equal(runs, no_member);
        }
        if declared.add_on_miss || declared.punt_on_miss || may_be_stale(self.program, node) {
            let zero = self.values.word(0, 32);
            let missed = self.values.equal(number, zero);
            missing = self.values.or(missing, missed);
        }
        missing
    }

    /// An action's body for the packets that run it. It has no effect if it cannot be scheduled.
    fn run_action(&mut self, body: &[Statement], running: Running, is_run: Value) -> Result<()> {
        let (all, effects) = (self.active, self.effects.len());
        self.active = self.values.and(all, is_run);
        (self.live, self.exited) = (self.values.bool(true), self.values.bool(false));
        self.exited_with.clear();
        self.running = Some(running);
        let done = self.statements(body);
        (self.running, self.active) = (None, all);
        if done.is_err() {
            self.effects.truncate(effects);
            self.left.clear();
        }
        done
    }

    /// Whether a lookup does no more than run an action of a record that was found before.
    fn checked(&self, table: TableId) -> Result<()> {
        let program = self.program;
        // A group may have other members by commit, and a packet is not to meet two of them.
        if program.selector(table).is_some() && self.is_speculative {
            return Err("chooses a member of a group");
        }
        // In a stage, actions that use the meter are side exits.
        if self.is_speculative {
            return Ok(());
        }
        if program.meters.values().any(|meter| meter.table == Some(table)) {
            return Err("has a direct meter");
        }
        Ok(())
    }

    /// A lookup of the commit phase, if no stage makes it.
    fn made_late(&mut self, node: NodeId, table: TableId) -> Result<()> {
        let is_staged = self.lookups.iter().any(|lookup| lookup.node == node);
        if self.is_speculative || is_staged || self.program.tables[table].keys.is_empty() {
            return Ok(());
        }
        // Off the path, the plain program costs less than values for packets that do not come here.
        if !self.path.nodes.contains(&node) {
            return Err("looks up a table off the path");
        }
        if !self.late.iter().any(|late| late.node == node) {
            let key = self.key(table)?;
            self.late.push(LateLookup { node, table, key, when: self.active });
        }
        self.effect(Does::Made { lookup: node });
        Ok(())
    }

    /// What is counted at every lookup.
    fn counted_at(&mut self, lookup: NodeId, table: TableId, number: Value, runs: Value) {
        let program = self.program;
        let declared = &program.tables[table];
        let all = self.active;
        let zero = self.values.word(0, 32);
        // An entry of a complete joint table may leave the packet to the sources: that is no hit in them.
        let is_complete = program.join_of(table).is_some_and(|join| join.is_complete(program));
        let missed = match is_complete {
            true => {
                let slow = self.values.word(Join::SLOW.into(), 32);
                self.values.equal(runs, slow)
            }
            false => self.values.equal(number, zero),
        };
        self.active = self.values.and(all, missed);
        if self.values.holds(missed) != Some(false) {
            self.effect(Does::Miss { lookup });
        }
        // Where misses insert, only the program restarts timers.
        if declared.idle_timeout.is_some() && !declared.add_on_miss {
            let hit = self.values.binary(Binary::NotEqual, number, zero);
            self.active = self.values.and(all, hit);
            self.effect(Does::Touch { lookup });
        }
        self.active = all;
        for (counter, direct) in program.counters.iter() {
            if direct.table == Some(table) && direct.automatic {
                self.effect(Does::CountDirect { counter, lookup });
            }
        }
    }

    /// Where packets go on that ran an action to its end, whichever it was.
    fn outcomes_of(&mut self, next: &Next, number: Value, ends: Value) -> Vec<Outcome> {
        match next {
            Next::Always(to) => vec![Outcome::new(ends, Some(*to))],
            Next::Hit { hit, miss } if hit == miss => vec![Outcome::new(ends, Some(*hit))],
            Next::Hit { hit, miss } => {
                let zero = self.values.word(0, 32);
                let has_hit = self.values.binary(Binary::NotEqual, number, zero);
                let hits = self.values.and(ends, has_hit);
                let misses = self.values.and_not(ends, has_hit);
                vec![Outcome::new(hits, Some(*hit)), Outcome::new(misses, Some(*miss))]
            }
            Next::Actions { .. } => Vec::new(),
        }
    }

    /// The outcome of misses at the only lookup of the path, before it is run.
    pub fn missed(&mut self, node: NodeId) -> Option<BulkDrop> {
        let program = self.program;
        let NodeKind::Apply { table: id, next, .. } = &program.nodes[node].kind else { return None };
        // A direct meter has the tokens of each packet, and sets a colour that later nodes may read.
        if self.lookups.len() != 1 || program.meters.values().any(|meter| meter.table == Some(*id)) {
            return None;
        }
        let table = &program.tables[*id];
        let does_more =
            table.profile.is_some() || table.add_on_miss || table.punt_on_miss || may_be_stale(program, node);
        if table.keys.is_empty() || does_more {
            return None;
        }
        let default = table.default.action;
        let to = match next {
            Next::Always(to) | Next::Hit { miss: to, .. } => to,
            Next::Actions { cases, otherwise } => {
                cases.iter().find(|(case, _)| *case == default).map_or(otherwise, |(_, to)| to)
            }
        };
        let body = &table.actions[default as usize].body;
        // The control plane can change the default action's arguments, so these are unknown.
        let mut missed = self.end_behind(body, *to)?;
        let automatic = program.counters.iter().filter(|(_, counter)| counter.table == Some(*id) && counter.automatic);
        missed.counted.extend(automatic.map(|(counter, _)| CounterIndex { counter, index: DEFAULT_INDEX }));
        Some(missed)
    }
}
