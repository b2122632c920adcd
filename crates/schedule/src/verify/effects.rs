//! Rules of the commit phase.

use super::exclusive::is_possible;
use super::{Rule, Verifier};
use crate::text::{Part, Site};
use crate::value::{Operation, Value};
use crate::{Commit, Does, Effect, LateLookup};
use hlir::{Binary, CounterId, DigestId, NodeId, RegisterId};

/// Bits of a port at most.
const PORT: u32 = 16;

impl Verifier<'_> {
    pub fn commit(&mut self, part: Part, commit: &Commit) {
        self.is_condition(Site::Leave(part), commit.exits);
        commit.lookups.iter().for_each(|late| self.late(part, late));
        commit.missed.iter().for_each(|missed| self.bulk_drop(Site::Missed(part), missed));
        for (number, effect) in commit.effects.iter().enumerate() {
            let site = Site::Effect(part, number);
            self.is_condition(site, effect.when);
            self.effect(part, site, effect);
            if self.schedule.values.kind(effect.when) == hlir::Type::Bool {
                self.earlier(part, &commit.effects, number);
            }
        }
        self.send(part, &commit.effects);
    }

    fn late(&mut self, part: Part, late: &LateLookup) {
        let site = Site::Late(part, late.node);
        self.is_condition(site, late.when);
        self.key(site, (late.node, late.table), &late.key);
        if self.schedule.lookups.iter().any(|staged| staged.node == late.node) {
            self.error(Rule::Lookups, site, "a stage makes this lookup before");
        }
    }

    /// What earlier effects of the same packets exclude.
    fn earlier(&mut self, part: Part, effects: &[Effect], number: usize) {
        let (effect, site) = (&effects[number], Site::Effect(part, number));
        let is_last = matches!(effect.does, Does::Store { .. } | Does::Send { .. });
        let before = number.checked_sub(1).map(|before| &effects[before].does);
        if !is_last && before.is_some_and(Does::is_change) {
            return self.error(
                Rule::Ends,
                site,
                "comes after a store, or after the packet was given another first byte",
            );
        }
        let mut ended = Vec::new();
        for before in effects[..number].iter().rev() {
            if self.schedule.values.kind(before.when) != hlir::Type::Bool {
                continue;
            }
            if before.does.is_end() {
                ended.push((before.when, false));
            }
            let is_late = effect.does == Does::Leave && !before.does.is_end();
            if is_late || self.overlap(before, effect) {
                let both = ended.iter().copied().chain([(before.when, true), (effect.when, true)]);
                if is_possible(&self.schedule.values, both.collect()) {
                    let (rule, message) = match is_late {
                        true => (Rule::Order, "packets exit to which something has happened"),
                        false => (Rule::Stores, "overlaps an earlier store"),
                    };
                    self.error(rule, site, message);
                }
            }
        }
    }

    /// Whether two effects store to the same bits.
    fn overlap(&self, one: &Effect, other: &Effect) -> bool {
        let range = |effect: &Effect| {
            let Does::Store { bit, value, .. } = effect.does else { return None };
            Some((bit, bit + self.schedule.values.width(value)))
        };
        let both = range(one).zip(range(other));
        both.is_some_and(|((first, end), (other_first, other_end))| first < other_end && other_first < end)
    }

    fn effect(&mut self, part: Part, site: Site, effect: &Effect) {
        let values = &self.schedule.values;
        match &effect.does {
            Does::Move { bytes } => self.moves(part, site, *bytes),
            Does::Store { bit, value, .. } => {
                let bytes = self.schedule.stages.last().map_or(0, |stage| stage.bytes);
                let bytes = bytes.saturating_add_signed(self.moved(part, site));
                self.is_within(site, (bit + values.width(*value)).div_ceil(8), bytes);
            }
            Does::Count { index, .. } => {
                if values.width(*index) > 64 {
                    self.error(Rule::Types, site, "the index has more than 64 bits");
                }
            }
            Does::CountDirect { counter, lookup } => self.counts(site, *counter, *lookup),
            Does::NotMade { lookup } => {
                let is_made = self.schedule.lookups.iter().any(|made| made.node == *lookup);
                if !is_made {
                    self.error(Rule::Objects, site, "no stage makes this lookup");
                }
            }
            Does::Touch { lookup } => {
                let table = self.table_at(*lookup);
                if table.is_none_or(|table| self.program.tables[table].idle_timeout.is_none()) {
                    self.error(Rule::Objects, site, "the node looks up no table with idle timeouts");
                }
            }
            Does::Restart { lookup, expiry } => {
                self.is_applied(site, *lookup);
                if expiry.is_some_and(|expiry| values.kind(expiry) == hlir::Type::Bool) {
                    self.error(Rule::Types, site, "a profile of timeouts is a number");
                }
            }
            Does::Made { lookup } => {
                let commit = self.schedule.commit_of(part);
                if !commit.is_some_and(|commit| commit.lookups.iter().any(|late| late.node == *lookup)) {
                    self.error(Rule::Objects, site, "this phase does not make this lookup");
                }
            }
            Does::Digest { digest, values } => self.digest(site, *digest, values),
            Does::Write { register, index, value } => self.write(site, *register, [*index, *value]),
            Does::Leave => {}
            Does::Miss { lookup } => self.is_applied(site, *lookup),
            Does::Drop { reason } => {
                if !self.program.drop_reasons().contains(reason) {
                    let message = format!("the program drops nothing for the reason `{reason}`");
                    self.error(Rule::Counters, site, message);
                }
            }
            Does::Send { port } => {
                if values.kind(*port) == hlir::Type::Bool || !self.is_port(*port) {
                    self.error(Rule::Send, site, "sends by a port of more than 16 bits");
                }
            }
        }
    }

    /// A longer front needs headroom, and a shorter one bytes to leave out.
    fn moves(&mut self, part: Part, site: Site, bytes: i32) {
        let held = self.schedule.stages.last().map_or(0, |stage| stage.bytes);
        self.is_within(site, bytes.min(0).unsigned_abs(), held);
        let exits = self.schedule.commit_of(part).map(|commit| commit.exits);
        if bytes > 0 && !exits.is_some_and(|exits| self.needs_headroom(exits, bytes.unsigned_abs())) {
            let message = format!("packets with less headroom stay: expected `exit when` it is less than {bytes}");
            self.error(Rule::Bytes, site, message);
        }
    }

    /// Whether packets with less headroom are among those that a condition selects.
    fn needs_headroom(&self, condition: Value, bytes: u32) -> bool {
        let values = &self.schedule.values;
        let Operation::Binary(operator, left, right) = values.of(condition) else {
            return values.holds(condition) == Some(true);
        };
        if *operator == Binary::LogicalOr {
            return self.needs_headroom(*left, bytes) || self.needs_headroom(*right, bytes);
        }
        let least = values.known(*right).map_or(0, hlir::value::Value::to_u64);
        *operator == Binary::Less && *values.of(*left) == Operation::Headroom && least >= bytes.into()
    }

    /// How many bytes earlier the packet begins whose bytes an effect stores.
    fn moved(&self, part: Part, site: Site) -> i32 {
        let (Some(commit), Site::Effect(_, number)) = (self.schedule.commit_of(part), site) else { return 0 };
        let before = commit.effects[..number].iter().rev().take_while(|effect| effect.does.is_change());
        let mut moves =
            before.filter_map(|effect| if let Does::Move { bytes } = effect.does { Some(bytes) } else { None });
        moves.next().unwrap_or(0)
    }

    fn is_applied(&mut self, site: Site, lookup: NodeId) {
        if self.table_at(lookup).is_none() {
            self.error(Rule::Objects, site, "the node looks up no table");
        }
    }

    fn digest(&mut self, site: Site, digest: DigestId, sent: &[Value]) {
        let fields = self.program.digests[digest].fields.iter().map(|(_, width)| *width);
        if !fields.eq(sent.iter().map(|value| self.schedule.values.width(*value))) {
            self.error(Rule::Types, site, "the values are not as wide as the digest's fields");
        }
    }

    fn write(&mut self, site: Site, register: RegisterId, operands: [Value; 2]) {
        let values = &self.schedule.values;
        let is_bits = operands.iter().all(|operand| values.kind(*operand) != hlir::Type::Bool);
        if !is_bits || values.width(operands[1]) != self.program.registers[register].width {
            self.error(Rule::Types, site, "the value is not as wide as the register's elements");
        }
    }

    /// Whether a value has at most the bits of a port, as the program's expression for it has.
    fn is_port(&self, port: Value) -> bool {
        let values = &self.schedule.values;
        match values.of(port) {
            _ if values.width(port) <= PORT => true,
            Operation::Constant(number) => number.bits.to_big().bits() <= u64::from(PORT),
            Operation::Extend { of, signed: false } => self.is_port(*of),
            Operation::Choose { then, otherwise, .. } => self.is_port(*then) && self.is_port(*otherwise),
            Operation::Port => true,
            Operation::Binary(Binary::And, left, right) => self.is_port(*left) || self.is_port(*right),
            Operation::Packet { .. }
            | Operation::Length
            | Operation::Headroom
            | Operation::Register { .. }
            | Operation::Lookup { .. }
            | Operation::Unary(..)
            | Operation::Binary(..)
            | Operation::Slice { .. }
            | Operation::Extend { .. }
            | Operation::FromBool(_)
            | Operation::Sum(_)
            | Operation::Hash { .. } => false,
        }
    }

    fn counts(&mut self, site: Site, counter: CounterId, lookup: NodeId) {
        let table = self.program.counters[counter].table;
        if table.is_none() || table != self.table_at(lookup) {
            let message =
                format!("`{}` is no direct counter of the lookup's table", self.program.counters[counter].name);
            self.error(Rule::Objects, site, message);
        }
    }

    fn send(&mut self, part: Part, effects: &[Effect]) {
        let sends = effects.iter().any(|effect| matches!(effect.does, Does::Send { .. }));
        // All packets may be dropped that run the expected actions.
        if !sends && part != Part::Expected {
            self.error(Rule::Send, Site::Part(part), "sends no packet");
        }
        let Some(last) = effects.last() else { return };
        let is_for_all = self.schedule.values.holds(last.when) == Some(true);
        if !last.does.is_end() || !is_for_all {
            let message =
                "packets go on behind the last effect: a commit phase ends with a send or drop of all that are left";
            self.error(Rule::Send, Site::Effect(part, effects.len() - 1), message);
        }
    }
}
