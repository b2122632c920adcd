//! The commit of a packet on a scheduled path: its effects, each under its condition.

use super::ends::Groups;
use super::scalar::{Scalar, without_unused};
use super::scheduled::Scheduled;
use super::{HotPath, inline, name};
use crate::body::drop_reason;
use crate::c::{Expr, Item, Stmt};
use crate::unit::number;
use hlir::plan::Placement;
use hlir::{NodeId, RegisterId};
use schedule::{Commit, Does, Effect, Found, Operation, Schedule, Value};
use std::ops::Range;

/// What becomes of a packet at commit.
const FATE: &str = "enum fate";
const GONE: &str = "GONE";
const SENT: &str = "SENT";
const LEAVES: &str = "LEAVES";

impl HotPath<'_> {
    /// Commits packet `i` without sending it, or, if it takes a side exit, sends those before it and lets it run.
    pub(super) fn gather(&self) -> Vec<Stmt> {
        let known = self.known_names().map(name);
        let packet = ["run", "burst", "from", "i", "path", "&ports[i]"].map(name);
        let finish = Expr::call("path_finish", packet.into_iter().chain(known));
        let is = |fate: &str| Expr::binary("==", name("fate"), name(fate));
        let unlikely = |condition| Expr::call("__builtin_expect", [condition, name("0")]);
        let gone = vec![
            Stmt::Assign(name("gone"), "|=", Expr::binary("<<", name("1ull"), name("i"))),
            Stmt::set(name("ports[i]"), Expr::word(0)),
        ];
        let mut code = self.paid(Placement::WithCommit);
        code.push(Stmt::declare(format!("const {FATE}"), "fate", finish));
        code.push(Stmt::when(unlikely(is(GONE)), gone));
        if self.scheduled.may_exit() {
            let leave = self.not_made(0).into_iter().chain(self.leave_between());
            code.push(Stmt::when(unlikely(is(LEAVES)), leave.collect()));
        }
        code
    }

    /// `path_finish` and its parts.
    pub(super) fn scheduled_commit(&self, commit: &Commit) -> Vec<Item> {
        let scheduled = &self.scheduled;
        let mut items = Vec::new();
        items.push(Item::Comment("What becomes of a packet at commit.".to_string()));
        let mut members = vec![GONE.to_string(), SENT.to_string()];
        members.extend(scheduled.may_exit().then(|| LEAVES.to_string()));
        items.extend([Item::Enum { name: "fate".to_string(), members }, Item::Blank]);
        let expects = scheduled.schedule.expected.is_some();
        let parameters = [
            "struct run *run",
            "const struct burst *burst",
            "uint32_t from",
            "uint32_t i",
            "const struct path *path",
            "uint16_t *to",
        ];
        if let Some(commit) = &scheduled.schedule.expected {
            let about =
                "Commits a packet that hit in every lookup and runs the expected actions. It is to be sent by `to`.";
            items.push(Item::Comment(about.to_string()));
            let body = self.committed(scheduled, commit, true);
            items.extend(inline(FATE, "path_expected", &parameters, body));
        }
        let mut body = self.committed(scheduled, commit, false);
        let mut known = Vec::new();
        for place in &self.plan.speculative {
            let missed = Expr::binary("&&", name("hits"), Expr::unary("!", self.found_at(*place)));
            known.push(super::commit::never(missed));
        }
        if expects {
            let arguments = ["run", "burst", "from", "i", "path", "to"].map(name);
            let expected = Expr::call("path_expected", arguments);
            known.insert(0, Stmt::when(name("expected"), vec![Stmt::result(expected)]));
        }
        if scheduled.may_exit() && self.unit.tracks_insertions() {
            // An older packet may have inserted an entry since the lookups, and what was found may be gone.
            let inserted = Expr::binary("!=", name("run->insertions"), name("path->insertions"));
            known.insert(0, Stmt::when(inserted, vec![Stmt::result(name(LEAVES))]));
        }
        body.splice(0..0, known);
        let about = "Commits a packet with the records that were found for it. It is to be sent by `to`.";
        items.push(Item::Comment(self.about_known(about)));
        let parameters: Vec<&str> = parameters.into_iter().chain(self.parameters_known()).collect();
        items.extend(inline(FATE, "path_finish", &parameters, body));
        items
    }

    /// What writes values of a commit phase.
    fn commit_writer<'s>(&'s self, commit: &'s Commit, results: Vec<Value>) -> Scalar<'s> {
        let scheduled = &self.scheduled;
        let late = commit.lookups.iter().flat_map(|late| late.key.iter().copied().chain([late.when]));
        let results: Vec<Value> = results.into_iter().chain(late).collect();
        let mut writer = Scalar::of_commit(self, &scheduled.schedule, scheduled.bytes(), &results, &commit.lookups);
        for (index, value) in scheduled.reads().enumerate() {
            writer.keep(value, self.read_again(value, index));
        }
        writer
    }

    /// The body of a commit.
    fn committed(&self, scheduled: &Scheduled, commit: &Commit, is_expected: bool) -> Vec<Stmt> {
        let schedule = &scheduled.schedule;
        let effects = commit.effects.iter().flat_map(Effect::operands);
        let mut writer = self.commit_writer(commit, effects.chain([commit.exits]).collect());
        let groups = Groups::of(schedule, commit);
        if schedule.values.holds(commit.exits) != Some(false) {
            let exits = Expr::call("__builtin_expect", [writer.value(commit.exits), name("0")]);
            writer.code.push(Stmt::when(exits, vec![Stmt::result(name(LEAVES))]));
            writer.decide(commit.exits, false);
        }
        choose_members(&mut writer, schedule, commit);
        self.done_together(scheduled, &groups.common, &mut writer, is_expected);
        self.by_choices(scheduled, (&groups, 0..groups.list.len()), &mut writer, is_expected);
        let code = without_unused_members(without_unused(std::mem::take(&mut writer.code)), &writer.members());
        let mut body = self.packet_declared(true);
        body.push(Stmt::Blank);
        body.extend(code);
        unused_locals(&mut body);
        body
    }

    /// Ends of packets, choice by choice. What packets of several ends need is computed before they are distinguished, and
    /// whatever else with the end that needs it. Returns whether no packet goes on.
    fn by_choices(
        &self,
        scheduled: &Scheduled,
        (groups, range): (&Groups, Range<usize>),
        writer: &mut Scalar,
        is_expected: bool,
    ) -> bool {
        let mut at = range.start;
        let mut all_end = false;
        while at < range.end {
            let chosen = groups.chosen(&(at..range.end), |choice| writer.is_decided(choice));
            let now = at..chosen.map_or(at + 1, |(_, end)| end);
            at = now.end;
            let later = now.end..range.end;
            for lookup in groups.looked_up(&now, &later) {
                let is_for_all = groups.all_need(&(now.start..range.end), lookup);
                writer.found_late(lookup, is_for_all);
            }
            for value in groups.shared(&now, &later) {
                writer.value(value);
            }
            let Some((choice, _)) = chosen else {
                all_end = self.ended(scheduled, (groups, now.start), writer, is_expected);
                continue;
            };
            let condition = writer.condition(choice);
            let around = writer.enter();
            writer.decide(choice, true);
            let none_left = self.by_choices(scheduled, (groups, now), writer, is_expected);
            let inner = writer.leave(around);
            writer.under(condition, inner);
            if none_left {
                writer.decide(choice, false);
            }
        }
        all_end
    }

    /// The effects of packets up to an end of theirs. Returns whether no packet goes on.
    fn ended(
        &self,
        scheduled: &Scheduled,
        (groups, number): (&Groups, usize),
        writer: &mut Scalar,
        is_expected: bool,
    ) -> bool {
        let group = &groups.list[number];
        let Some(end) = group.own.last() else { return false };
        let mut condition = writer.condition(end.when);
        let all_end = condition.is_none();
        if !matches!(end.does, Does::Send { .. }) {
            condition = condition.map(|it| Expr::call("__builtin_expect", [it, name("0")]));
        }
        let around = writer.enter();
        writer.decide(end.when, true);
        writer.has_ended = true;
        self.done_together(scheduled, &group.own, writer, is_expected);
        let inner = writer.leave(around);
        writer.under(condition, inner);
        writer.decide(end.when, false);
        all_end
    }

    /// Effects behind all values that they need: stores change bytes of the packet.
    fn done_together(&self, scheduled: &Scheduled, effects: &[Effect], writer: &mut Scalar, is_expected: bool) {
        let mut made: Vec<Together> = Vec::new();
        let mut at = 0;
        while at < effects.len() {
            let effect = &effects[at];
            let copied = self.copied(&scheduled.schedule, &effects[at..], writer);
            let (count, statements) = if let Does::Move { bytes } = effect.does {
                let is_stored = effects[at..].iter().any(|effect| matches!(effect.does, Does::Store { .. }));
                (1, vec![moved(bytes, is_stored, writer)])
            } else {
                copied.unwrap_or_else(|| (1, self.done(scheduled, effect, writer, is_expected)))
            };
            let condition = match effect.does.is_change() {
                true => writer.condition_before_stores(effect.when),
                false => writer.condition(effect.when),
            };
            let nodes = effects[at..at + count].iter().map(|effect| effect.node);
            match made.last_mut() {
                Some(before) if before.condition == condition => {
                    before.nodes.extend(nodes);
                    before.statements.extend(statements);
                }
                _ => made.push(Together { condition, nodes: nodes.collect(), statements }),
            }
            at += count;
        }
        for Together { condition, nodes, statements } in made {
            writer.code.push(Stmt::Comment(self.places_of(nodes.into_iter())));
            writer.under(condition, statements);
        }
    }

    /// Neighbouring parameters of one record that are copied to neighbouring bytes, as one copy: how many effects.
    fn copied(&self, schedule: &Schedule, effects: &[Effect], writer: &mut Scalar) -> Option<(usize, Vec<Stmt>)> {
        let copy = |effect: &Effect| self.copy_of(schedule, effect);
        let first = copy(effects.first()?)?;
        let mut bytes = first.bytes;
        let mut count = 1;
        for effect in &effects[1..] {
            let Some(next) = copy(effect).filter(|_| effect.when == effects[0].when) else { break };
            let adjoins = (next.of, next.action, next.byte) == (first.of, first.action, first.byte + bytes)
                && next.parameter == first.parameter + count;
            if !adjoins {
                break;
            }
            (bytes, count) = (bytes + next.bytes, count + 1);
        }
        let table = writer.table(first.of.0);
        let mut from = writer.member(first.of, first.action, first.parameter);
        if count > 1 {
            let names = &self.unit.names;
            let (data, title) = (
                &names.actions[number(table)][first.action],
                &names.parameters[number(table)][first.action][first.parameter],
            );
            let record = Expr::cast("const uint8_t *", name(writer.acting(first.of)));
            let offset = format!("offsetof(struct {}_record, {data}.{title})", self.unit.table_name(table));
            from = Expr::binary("+", record, name(offset));
        }
        let function = if self.unit.reads_after(table) { "memcpy" } else { "bits_copy" };
        let to = at_byte(writer.first, first.byte);
        Some((count, vec![Stmt::call(function, [to, from, Expr::word(bytes)])]))
    }

    fn copy_of(&self, schedule: &Schedule, effect: &Effect) -> Option<Copy> {
        let Does::Store { bit, value, .. } = &effect.does else { return None };
        let Operation::Lookup { node, what: Found::Parameter { action, parameter, low: 0 }, hash } =
            *schedule.values.of(*value)
        else {
            return None;
        };
        let hlir::NodeKind::Apply { table, .. } = self.unit.node(node).kind else { return None };
        let declared = self.unit.program.tables[table].actions[action].parameters[parameter].width;
        let is_whole = declared == schedule.values.width(*value) && bit.is_multiple_of(8);
        let copies = is_whole && self.unit.in_bytes(table, action, parameter);
        copies.then_some(Copy { of: (node, hash), action, parameter, byte: bit / 8, bytes: declared / 8 })
    }

    /// The statements of an effect, without its condition.
    fn done(&self, scheduled: &Scheduled, effect: &Effect, writer: &mut Scalar, is_expected: bool) -> Vec<Stmt> {
        let length = || Expr::call("packet_length", [name("&packet")]);
        match &effect.does {
            Does::Move { bytes } => vec![moved(*bytes, true, writer)],
            Does::Store { bit, value, field } => {
                if let Some((count, statements)) =
                    self.copied(&scheduled.schedule, std::slice::from_ref(effect), writer)
                {
                    debug_assert_eq!(count, 1);
                    return statements;
                }
                self.stored_value(scheduled, (*bit, *value, field.header), writer, is_expected)
            }
            Does::Count { counter, index } => {
                let declared = &self.unit.program.counters[*counter];
                // The index of a direct counter is one that the entry was given.
                let size = if declared.table.is_some() { u64::MAX } else { declared.size };
                let index = writer.value(*index);
                let of = Expr::word(number(*counter) as u32);
                vec![Stmt::call("counter_add", [name("run->worker"), of, Expr::long(size), index, length()])]
            }
            Does::CountDirect { counter, lookup } => {
                let index = Expr::call("record_counter_index", [name(writer.record(*lookup))]);
                let of = Expr::word(number(*counter) as u32);
                vec![Stmt::call("counter_add", [name("run->worker"), of, name("UINT64_MAX"), index, length()])]
            }
            Does::NotMade { lookup } => vec![self.unit.take_back_look_up(writer.table(*lookup))],
            Does::Miss { lookup } => {
                let misses = format!("run->{}_misses", self.unit.table_name(writer.table(*lookup)));
                vec![Stmt::Assign(name(misses), "+=", Expr::word(1))]
            }
            Does::Touch { lookup } => {
                vec![Stmt::call("record_hit", [name(writer.record(*lookup)), name("run->clock_ns")])]
            }
            Does::Restart { lookup, expiry } => self.restarted(*lookup, *expiry, writer),
            Does::Made { lookup } => vec![self.unit.count_look_ups(writer.table(*lookup), Expr::word(1))],
            Does::Digest { digest, values } => vec![digest_sent(number(*digest) as u32, values, writer)],
            Does::Write { register, index, value } => vec![self.written(*register, [*index, *value], writer)],
            Does::Leave => vec![Stmt::result(name(LEAVES))],
            Does::Drop { reason } => {
                let reason = drop_reason(reason, self.unit.drop_number(reason));
                let dropped = Stmt::call("walk_drop", [name("run->worker"), name("packet"), reason]);
                vec![dropped, Stmt::result(name(GONE))]
            }
            Does::Send { port } => {
                let port = writer.before_stores(*port);
                vec![Stmt::set(name("*to"), Expr::cast("uint16_t", port)), Stmt::result(name(SENT))]
            }
        }
    }

    fn restarted(&self, lookup: NodeId, expiry: Option<Value>, writer: &mut Scalar) -> Vec<Stmt> {
        if !self.unit.program.has_own_records(writer.table(lookup)) {
            return Vec::new();
        }
        let (record, clock) = (name(writer.record(lookup)), name("run->clock_ns"));
        vec![match expiry {
            Some(expiry) => Stmt::call("record_restart", [record, clock, crate::call::timer(writer.value(expiry))]),
            None => Stmt::call("record_hit", [record, clock]),
        }]
    }

    fn written(&self, register: RegisterId, operands: [Value; 2], writer: &mut Scalar) -> Stmt {
        let width = self.unit.program.registers[register].width;
        let array = Expr::unary("&", crate::call::shared("registers", number(register) as u32));
        let [index, value] = operands.map(|operand| writer.value(operand));
        Stmt::call("state_write", [array, index, Expr::word(crate::table::element_bytes(width)), value])
    }

    fn stored_value(
        &self,
        scheduled: &Scheduled,
        (bit, value, header): (u32, Value, hlir::HeaderId),
        writer: &mut Scalar,
        is_expected: bool,
    ) -> Vec<Stmt> {
        let width = scheduled.schedule.values.width(value);
        let start = bit - bit % 8;
        if let Some((_, title)) = scheduled.kept.iter().find(|(kept, _)| *kept == value && is_expected) {
            let held = name(format!("path->{title}[i]"));
            // A single byte of a header that is summed goes with its word.
            if width == 8 && self.unit.stores_words(header, self.spot_in(scheduled, bit, width, header)) {
                let from = [Expr::word(bit), Expr::word(width)];
                let held = Expr::binary("&", held, Expr::word(255));
                return vec![Stmt::call(
                    "bits_store_in_word",
                    [name(writer.first)].into_iter().chain(from).chain([held]),
                )];
            }
            let held = Expr::unary("&", held);
            return vec![Stmt::call("memcpy", [at_byte(writer.first, bit / 8), held, Expr::word(width / 8)])];
        }
        let words = writer.words(value);
        if words.len() > 1 {
            return self.stored_words(scheduled, bit / 8, &words, writer);
        }
        if width > 64 {
            let Operation::Lookup { node, what: Found::Parameter { action, parameter, .. }, hash } =
                *scheduled.schedule.values.of(value)
            else {
                unreachable!("only parameters are stored whole")
            };
            let from = writer.member((node, hash), action, parameter);
            return vec![Stmt::call(
                "wide_store",
                [at_byte(writer.first, start / 8), Expr::word(bit % 8), Expr::word(width), from],
            )];
        }
        // What is summed again is read by words, where its header is.
        let is_summed = self.unit.stores_words(header, self.spot_in(scheduled, bit, width, header));
        let is_in_word = is_summed && writer.first == "data";
        let function = if is_in_word { "bits_store_in_word" } else { "bits_store" };
        // The packet is read before it is written.
        let written = writer.named(value);
        vec![Stmt::call(function, [name(writer.first), Expr::word(bit), Expr::word(width), written])]
    }

    /// Whole words from a byte on, as wide stores, and what is left.
    fn stored_words(&self, scheduled: &Scheduled, byte: u32, words: &[Value], writer: &mut Scalar) -> Vec<Stmt> {
        let values = &scheduled.schedule.values;
        let written: Vec<Expr> = words.iter().map(|word| writer.named(*word)).collect();
        let mut code = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let whole = words[at..].iter().take_while(|word| values.width(**word) == 64).count();
            let to = at_byte(writer.first, byte + 8 * at as u32);
            let count = [4, 2, 1].into_iter().find(|count| *count <= whole).unwrap_or(0);
            if count > 1 {
                let members = written[at..at + count].iter().cloned();
                code.push(Stmt::call(format!("bits_store_words{count}"), [to].into_iter().chain(members)));
                at += count;
            } else {
                let width = values.width(words[at]);
                code.push(Stmt::call("bits_store", [to, Expr::word(0), Expr::word(width), written[at].clone()]));
                at += 1;
            }
        }
        code
    }

    /// Bits of the packet as bits of a header.
    fn spot_in(&self, scheduled: &Scheduled, bit: u32, width: u32, header: hlir::HeaderId) -> crate::field::Spot {
        let start = scheduled.schedule.headers.get(&header).map_or(0, |start| 8 * start);
        crate::field::Spot { bit: bit.saturating_sub(start), width, behind_varbit: false }
    }
}

/// The members that groups choose, each before packets are distinguished: the control plane may replace a group between two
/// reads, and a packet is not to meet members of both.
fn choose_members(writer: &mut Scalar, schedule: &Schedule, commit: &Commit) {
    let keys = commit.lookups.iter().flat_map(|late| late.key.iter().copied().chain([late.when]));
    let operands = commit.effects.iter().flat_map(Effect::operands);
    for value in schedule.values.needed(operands.chain(keys)) {
        if let Operation::Lookup { node, hash: Some(hash), .. } = *schedule.values.of(value) {
            writer.acting((node, Some(hash)));
        }
    }
}

/// Code without the choice of members that nothing uses: an action that was decided needs none.
fn without_unused_members(mut code: Vec<Stmt>, members: &[String]) -> Vec<Stmt> {
    let declares = |statement: &Stmt, member: &str| matches!(statement, Stmt::Declare { name, .. } if name == member);
    let place = |member: &&String| code.iter().position(|statement| declares(statement, member));
    let mut members: Vec<&String> = members.iter().collect();
    // The hash of a later one may need an earlier one.
    members.sort_by_key(|member| std::cmp::Reverse(place(member)));
    for member in members {
        // It is set under the condition that the entry leads to a group.
        let chooses = |statement: &Stmt| matches!(statement, Stmt::If { .. }) && sets(statement, member);
        let is_used = code
            .iter()
            .any(|statement| !declares(statement, member) && !chooses(statement) && statement.mentions(member));
        if !is_used {
            code.retain(|statement| !declares(statement, member) && !chooses(statement));
        }
    }
    without_unused(code)
}

/// Whether a statement sets a local variable.
fn sets(statement: &Stmt, local: &str) -> bool {
    if let Stmt::If { then, otherwise, .. } = statement {
        return then.iter().chain(otherwise).any(|inner| sets(inner, local));
    }
    matches!(statement, Stmt::Assign(Expr::Name(target), "=", _) if target == local)
}

fn digest_sent(digest: u32, values: &[Value], writer: &mut Scalar) -> Stmt {
    let members: Vec<Expr> = values.iter().map(|value| writer.value(*value)).collect();
    let count = Expr::word(members.len() as u32);
    let list = if members.is_empty() { name("NULL") } else { writer.list("digest", members) };
    Stmt::call("run->worker->shared->digest", [name("run->worker"), Expr::word(digest), list, count])
}

/// Moves the packet's first byte. It has a name where something is stored from it on.
fn moved(bytes: i32, is_stored: bool, writer: &mut Scalar) -> Stmt {
    let arguments = [name("burst"), name("from + i"), name("packet"), name(bytes.to_string())];
    if !is_stored {
        return Stmt::call("packet_move", arguments);
    }
    writer.first = "front";
    Stmt::declare("uint8_t *const", "front", Expr::call("packet_move", arguments))
}

/// Effects with one condition, and the nodes that have them.
struct Together {
    condition: Option<Expr>,
    nodes: Vec<hlir::NodeId>,
    statements: Vec<Stmt>,
}

/// A copy of a parameter into the packet.
struct Copy {
    /// The lookup, and the hash that chooses a member.
    of: (hlir::NodeId, Option<Value>),
    action: usize,
    parameter: usize,
    byte: u32,
    bytes: u32,
}

fn at_byte(first: &str, byte: u32) -> Expr {
    if byte == 0 { name(first) } else { Expr::binary("+", name(first), Expr::word(byte)) }
}

/// Leaves out the packet's declarations that nothing uses.
pub(super) fn unused_locals(body: &mut Vec<Stmt>) {
    for local in ["data", "packet"] {
        let is_its = |statement: &Stmt| matches!(statement, Stmt::Declare { name, .. } if name == local);
        let used = body.iter().filter(|statement| !is_its(statement)).any(|statement| statement.mentions(local));
        if !used {
            body.retain(|statement| !is_its(statement));
        }
    }
    if body.first() == Some(&Stmt::Blank) {
        body.remove(0);
    }
}
