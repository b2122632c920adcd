//! The path of a packet through the graph, node by node, until a buffering manager sends, drops or keeps it.

use crate::bytes::BitString;
use crate::evaluate::{CopyFacts, View};
use crate::execute::{Interrupt, Running, Walker, drop_reason};
use crate::packet::Packet;
use crate::path::Writer;
use crate::pattern::Pattern;
use crate::script::Chooser;
use crate::state::choose;
use crate::steps::Interest;
use crate::storage::number;
use crate::switch::{Punted, Switch};
use crate::tables::Invocation;
use control::plane::{Output, Replica};
use hlir::program::error_code;
use hlir::value::{Bits, Value};
use hlir::{
    Case, Effect, Expression, HashInput, KeySet, Next, NodeId, NodeKind, ParserId, Place, Reentry, Rule, Select,
    Statement, TableId,
};
use std::rc::Rc;

/// Storage that is kept for other packets.
const MOST_SPARE: usize = 8;

/// Bytes that a packet may grow by without its bytes being moved.
const ROOM: usize = 64;

/// Where a packet goes from a node; nowhere, if its path ends.
type Onward<'p> = Result<Option<NodeId>, Interrupt<'p>>;

impl<'s, 'p> Walker<'s, 'p> {
    pub fn new(switch: &'s mut Switch<'p>, packet: Packet, start: NodeId) -> Walker<'s, 'p> {
        Walker { switch, packet, here: start, running: None, emitted: BitString::default() }
    }

    /// Walks on from where the packet is to the end.
    pub fn walk(mut self) {
        self.follow();
        if self.switch.spare.len() < MOST_SPARE {
            self.switch.spare.push(self.packet.storage);
        }
    }

    fn follow(&mut self) {
        let mut place = Some(self.here);
        let mut states = (None, 0);
        while let Some(node) = place {
            self.here = node;
            self.packet.visit(node);
            self.trace(|walker| format!("  {}", walker.switch.program.nodes[node].name));
            let declared = &self.switch.program.nodes[node];
            let (packet, layout) = (&self.packet, &self.switch.layout);
            let interest = self.switch.notes.arrive(node, declared.parser().is_some(), packet, layout);
            if interest == Interest::No && !self.switch.remembers_packets() {
                return;
            }
            let step = self.check_states(node, &mut states).and_then(|()| self.step(node));
            place = step.unwrap_or_else(|interrupt| self.end(interrupt));
            place.iter().for_each(|next| self.count_edge(*next));
        }
    }

    fn end(&mut self, interrupt: Interrupt<'p>) -> Option<NodeId> {
        match interrupt {
            Interrupt::Drop(reason) => self.drop(reason),
            Interrupt::Stop(sentence) => self.switch.state.stopped = Some(sentence),
            Interrupt::Leave(label) => panic!("no scope or loop is called {label}"),
            Interrupt::Exit => panic!("a node without an exit edge was left by it"),
            Interrupt::Fail(_) => panic!("only parser states fail"),
        }
        None
    }

    pub fn drop(&mut self, reason: usize) {
        self.trace(|walker| format!("  drop: {}", walker.switch.program.drop_reasons()[reason]));
        self.note(|path| path.drop(reason));
        self.switch.state.drops[reason] += 1;
    }

    fn count_edge(&mut self, to: NodeId) {
        let here = self.here;
        self.switch.counted.iter_mut().for_each(|counted| counted.edge(here, to));
    }

    /// Writes a step where it is wanted.
    pub fn note(&mut self, step: impl FnOnce(&mut Writer)) {
        if let Some(path) = self.switch.notes.wanted_path() {
            step(path);
        }
    }

    fn trace(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.switch.trace.is_some() {
            let line = line(self);
            self.switch.trace.iter_mut().for_each(|trace| trace.push(line.clone()));
        }
    }

    /// Counts the states that a run through a parser visits.
    fn check_states(&self, node: NodeId, run: &mut (Option<ParserId>, u32)) -> Result<(), Interrupt<'p>> {
        let parser = self.switch.program.nodes[node].parser();
        let count = if parser.is_some() && parser == run.0 { run.1 + 1 } else { 1 };
        *run = (parser, count);
        if parser.is_some() && count > self.switch.program.budget.states {
            return Err(Interrupt::Drop(drop_reason::PARSER_BUDGET));
        }
        Ok(())
    }

    fn step(&mut self, node: NodeId) -> Onward<'p> {
        match &self.switch.program.nodes[node].kind {
            NodeKind::State { parser, body, select } => self.state(*parser, body, select),
            NodeKind::Block { body, next, exit } => match self.run(body) {
                Ok(()) => Ok(Some(*next)),
                Err(Interrupt::Exit) => Ok(Some(exit.expect("a block with `exit` has an exit edge"))),
                Err(interrupt) => Err(interrupt),
            },
            NodeKind::Branch { condition, then, otherwise } => {
                Ok(Some(if self.view().holds(condition) { *then } else { *otherwise }))
            }
            NodeKind::Apply { table, next, exit } => self.apply(*table, next, *exit),
            NodeKind::Deparse { body, next } => self.deparse(body, *next),
            NodeKind::Buffer { rules, otherwise } => self.buffer(rules, *otherwise),
        }
    }

    fn state(&mut self, parser: ParserId, body: &'p [Statement], select: &'p Select) -> Onward<'p> {
        let parser = &self.switch.program.parsers[parser];
        let chosen = self.run(body).and_then(|()| self.select(select));
        match chosen {
            Ok(next) => Ok(Some(next)),
            Err(Interrupt::Fail(error)) => {
                self.trace(|_| format!("    error {}", error.bits.to_big()));
                self.note(|path| path.error(&error.bits));
                self.put(Place::Variable(parser.error), *error);
                Ok(Some(parser.reject))
            }
            Err(interrupt) => Err(interrupt),
        }
    }

    fn select(&self, select: &Select) -> Result<NodeId, Interrupt<'p>> {
        let keys: Vec<Value> = select.keys.iter().map(|key| self.value(key)).collect();
        let matching = select.cases.iter().find(|case| self.case_matches(case, &keys)).map(|case| case.to);
        let no_match = || Interrupt::Fail(Box::new(Value::word(error_code::NO_MATCH.into(), 32)));
        matching.or(select.otherwise).ok_or_else(no_match)
    }

    fn case_matches(&self, case: &Case, keys: &[Value]) -> bool {
        if let [KeySet::Set(set)] = case.sets.as_slice() {
            let members = &self.switch.state.value_sets[number(*set)];
            return members.iter().any(|member| member.iter().zip(keys).all(|(field, key)| field.matches(&key.bits)));
        }
        case.sets.iter().zip(keys).all(|(set, key)| self.set_matches(set, key))
    }

    fn set_matches(&self, set: &KeySet, key: &Value) -> bool {
        let cut = |value| Bits::from_big(value, key.width);
        match set {
            KeySet::Any => true,
            KeySet::Value(value) => cut(value) == key.bits,
            KeySet::Mask { value, mask } => key.bits.and(&cut(mask)) == cut(value).and(&cut(mask)),
            KeySet::Range { low, high } => cut(low) <= key.bits && key.bits <= cut(high),
            KeySet::Set(set) => {
                let matches = |field: &Pattern| field.matches(&key.bits);
                self.switch.state.value_sets[number(*set)].iter().any(|member| member.first().is_some_and(matches))
            }
        }
    }

    fn apply(&mut self, id: TableId, next: &'p Next, exit: Option<NodeId>) -> Onward<'p> {
        let table = &self.switch.program.tables[id];
        let mut key = std::mem::take(&mut self.switch.spare_key);
        key.extend(table.keys.iter().map(|key| self.view().bits(&key.value).into_owned()));
        self.switch.keys.iter_mut().for_each(|keys| keys[number(id)].push(key.clone()));
        let state = &self.switch.state;
        let found = state.table(id).find(&key);
        let found = found.and_then(|entry| {
            Some((entry, state.resolve(id, entry, |selector, choices| self.chosen(id, selector, choices))?))
        });
        let (entry, invocation) = match found {
            Some((entry, invocation)) => (Some(entry), invocation),
            None => (None, state.table(id).default.clone()),
        };
        let counts = &mut self.switch.state.table_mut(id).counts;
        // A joint table's entry that leaves the packet to the sources is no hit in them.
        let is_slow = invocation.action == hlir::Join::SLOW && self.switch.program.join_of(id).is_some();
        *(if entry.is_some() && !is_slow { &mut counts.hits } else { &mut counts.misses }) += 1;
        self.switch.counted.iter_mut().for_each(|counted| counted.lookup(id, entry.filter(|_| !is_slow)));
        let action = &table.actions[invocation.action as usize];
        self.trace(|_| {
            let how = if entry.is_some() { "hit" } else { "miss" };
            let keys: Vec<String> = key.iter().map(|key| format!("{:#x}", key.to_big())).collect();
            let data: Vec<String> = invocation.arguments.iter().map(|v| format!("{:#x}", v.bits.to_big())).collect();
            format!("    {how} [{}]: {}({})", keys.join(", "), action.name, data.join(", "))
        });
        let Switch { notes, state, .. } = &mut *self.switch;
        if let Some(path) = notes.wanted_path() {
            path.apply(id, &key, entry.map(|entry| state.table(id).entry(entry)), &invocation);
        }
        let ran = invocation.action;
        self.running = Some(Running { table: id, entry, key, invocation });
        if let Some(entry) = entry {
            let now = self.switch.state.clock_ns;
            self.switch.state.table_mut(id).note_hit(entry, now);
        }
        self.run_automatic(id, entry);
        let ended = self.run(&action.body);
        let mut key = self.running.take().map(|running| running.key).unwrap_or_default();
        key.clear();
        self.switch.spare_key = key;
        match ended {
            Ok(()) => Ok(Some(follow(next, entry.is_some(), ran))),
            Err(Interrupt::Exit) => Ok(Some(exit.expect("a table node whose action has `exit` has an exit edge"))),
            Err(interrupt) => Err(interrupt),
        }
    }

    /// Which of a group's actions runs: that of the hash, or the next of the different ones where all are followed.
    fn chosen(&self, table: TableId, selector: &hlir::Selector, choices: &[Rc<Invocation>]) -> usize {
        if !self.switch.is_followed() {
            return choose(selector, &self.selector_data(table), choices.len());
        }
        let is_first = |at: &usize| !choices[..*at].contains(&choices[*at]);
        let different: Vec<usize> = (0..choices.len()).filter(is_first).collect();
        let of = Chooser::Selector(self.switch.program.tables[table].name.clone());
        different[self.switch.pick(of, different.len() as u128) as usize]
    }

    fn selector_data(&self, table: TableId) -> Vec<u8> {
        let inputs = self.switch.program.tables[table].selector.iter().cloned().map(HashInput::Bits);
        self.hash_data(&inputs.collect::<Vec<_>>())
    }

    fn deparse(&mut self, body: &'p [Statement], next: NodeId) -> Onward<'p> {
        self.emitted = BitString::with_room(self.packet.bytes.len() + ROOM);
        match self.run(body) {
            Ok(()) | Err(Interrupt::Exit) => {}
            Err(interrupt) => return Err(interrupt),
        }
        self.packet.deparse(std::mem::take(&mut self.emitted));
        Ok(Some(next))
    }

    fn buffer(&mut self, rules: &'p [Rule], otherwise: Option<NodeId>) -> Onward<'p> {
        for rule in rules {
            if !self.view().holds(&rule.condition) {
                continue;
            }
            if rule.effect.is_last() {
                return Ok(self.finish(&rule.effect));
            }
            self.finish(&rule.effect);
        }
        Ok(otherwise)
    }

    /// Carries an effect out, and returns where the packet itself goes on.
    fn finish(&mut self, effect: &'p Effect) -> Option<NodeId> {
        match effect {
            Effect::Drop { reason } => {
                let reason = self.switch.drop_reason(reason);
                self.drop(reason);
            }
            Effect::Send { port } => self.send(port),
            Effect::Unicast { set, to } => {
                for (place, value) in set {
                    let value = self.value(value);
                    self.put(*place, value);
                }
                return Some(*to);
            }
            Effect::Replicate { group, copy } => self.replicate(group, copy),
            Effect::Clone { session, copy } => self.mirror(session, copy),
            Effect::Resubmit { copy } | Effect::Recirculate { copy } => self.enter_again(copy, CopyFacts::default()),
            Effect::Punt { reason, resume } => {
                self.trace(|_| format!("  punt: {reason}"));
                self.note(|path| path.punt(reason));
                self.switch.outcome.punts += 1;
                self.count_edge(*resume);
                self.switch.punted.push(Punted { packet: self.packet.clone(), resume: *resume });
            }
        }
        None
    }

    fn send(&mut self, port: &Expression) {
        let port = u32::try_from(self.value(port).to_u64()).unwrap_or(u32::MAX);
        if port >= self.switch.ports {
            return self.drop(drop_reason::NO_SUCH_PORT);
        }
        self.trace(|_| format!("  send to port {port}"));
        let length = self.packet.bytes.len();
        self.note(|path| path.send(port, length));
        let bytes = std::mem::take(&mut self.packet.bytes);
        self.packet.cursor = 0;
        self.switch.outcome.outputs.push(Output { port, bytes, path: Some(self.packet.path) });
    }

    fn replicate(&mut self, group: &Expression, reentry: &'p Reentry) {
        let group = u32::try_from(self.value(group).to_u64()).unwrap_or(u32::MAX);
        let members = self.switch.store.replicas(group);
        if members.is_empty() {
            return self.drop(drop_reason::EMPTY_GROUP);
        }
        for Replica { port, instance } in self.within_budget(members) {
            let copy = self.copy(reentry, CopyFacts { port, instance, truncation_bytes: 0 });
            self.trace(|_| format!("  copy for port {port}, instance {instance}"));
            self.note(|path| path.copy(port, instance.into()));
            Walker::new(self.switch, copy, reentry.to).walk();
            if self.switch.state.stopped.is_some() {
                return;
            }
        }
    }

    fn mirror(&mut self, session: &Expression, reentry: &'p Reentry) {
        let session = u32::try_from(self.value(session).to_u64()).unwrap_or(u32::MAX);
        let Some((members, truncation_bytes)) = self.switch.store.session_members(session) else { return };
        for Replica { port, instance } in self.within_budget(members) {
            self.enter_again(reentry, CopyFacts { port, instance, truncation_bytes });
        }
    }

    /// The members that get a copy: the budget's last copies go to the first of them.
    fn within_budget(&mut self, mut members: Vec<Replica>) -> Vec<Replica> {
        let copies = self.packet.take_copies(members.len());
        members[copies..].iter().for_each(|_| self.drop(drop_reason::COPY_BUDGET));
        members.truncate(copies);
        members
    }

    /// Puts a copy behind all packets that wait to enter the graph again.
    fn enter_again(&mut self, reentry: &'p Reentry, facts: CopyFacts) {
        let mut copy = self.copy(reentry, facts);
        copy.enter_again();
        if copy.generation > self.switch.program.budget.reentries {
            return self.drop(drop_reason::REENTRY_BUDGET);
        }
        self.switch.waiting.push_back((copy, reentry.to));
    }

    fn copy(&mut self, reentry: &'p Reentry, facts: CopyFacts) -> Packet {
        self.count_edge(reentry.to);
        let (layout, state) = (&self.switch.layout, &self.switch.state);
        let mut copy = self.packet.copy(layout, state.seed, reentry.bytes, &reentry.keep);
        for (place, value) in &reentry.set {
            let view = View { layout, packet: &copy, parameters: &[], clock_ns: state.clock_ns, copy: Some(facts) };
            let value = view.evaluate(value);
            copy.storage.put(layout, *place, value);
        }
        copy
    }
}

fn follow(next: &Next, hit: bool, action: u32) -> NodeId {
    match next {
        Next::Always(to) => *to,
        Next::Hit { hit: to, miss } => {
            if hit {
                *to
            } else {
                *miss
            }
        }
        Next::Actions { cases, otherwise } => {
            cases.iter().find(|(case, _)| *case == action).map_or(*otherwise, |(_, to)| *to)
        }
    }
}
