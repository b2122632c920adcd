//! A hot path by its schedule: the stages for one packet, and its commit.

use super::bulk_send::Sender;
use super::scalar::{Scalar, is_effect_written, is_written};
use super::{HotPath, inline, name, noinline};
use crate::body::drop_reason;
use crate::c::{Expr, Item, Member, Stmt};
use crate::unit::{Unit, number};
use hlir::plan::Instrument;
use hlir::resolved::ResolvedPath;
use hlir::vector::{Number, SideExit, SideExits, VectorStage};
use schedule::{Commit, Does, Effect, Found, Lanes, LanesExits, Lookup, Operation, Schedule, Value};
use std::collections::HashMap;

/// The schedule of a hot path, and its vector code.
pub struct Scheduled {
    pub schedule: Schedule,
    /// The first stage as vector code, if the plan has it so.
    pub lanes: Option<Lanes>,
    pub side_exits: Option<SideExits>,
    /// What the program calls steps of the side exits.
    pub exit_names: HashMap<Number, String>,
    /// Values of the expected commit that the first stage computes, with their member of `struct path`.
    kept: Vec<(Value, String)>,
}

impl Scheduled {
    /// None if the path has none, or not all of it has C.
    pub fn of(unit: &Unit, path: &ResolvedPath) -> Option<Scheduled> {
        if !unit.plan.queues.is_empty()
            || !unit.program.externs.is_empty()
            || unit.plan.instrument != Instrument::default()
        {
            return None;
        }
        let mut schedule = Schedule::of(unit.program, path).ok()?;
        let mut kept = Vec::new();
        if path.vector > 1 {
            let stored = schedule.combine_stores();
            kept = stored.into_iter().map(|value| (value, stored_name(unit, &schedule, value))).collect();
        }
        let values: Vec<Value> = kept.iter().map(|(value, _)| *value).collect();
        let lanes = (path.vector > 1).then(|| schedule.lanes(&values).ok()).flatten();
        if lanes.is_none() {
            kept.clear();
        }
        let exits = lanes.as_ref().and_then(|lanes| schedule.lanes_exits(lanes));
        let exit_names = exits.as_ref().map(|exits| exits.names.clone()).unwrap_or_default();
        let side_exits = lanes.as_ref().and_then(|lanes| side_exits(&schedule, lanes, exits));
        has_c(&schedule).then_some(Scheduled { schedule, lanes, side_exits, exit_names, kept })
    }

    /// The vector code as the writer of steps takes it.
    pub fn vector_stage(&self) -> Option<VectorStage> {
        let lanes = self.lanes.as_ref()?;
        Some(VectorStage {
            steps: lanes.steps.clone(),
            rows: lanes.rows.clone(),
            bytes: lanes.bytes,
            exits: lanes.exits,
            drops: lanes.drops,
            found: lanes.found.clone(),
            kept: Vec::new(),
            keys: lanes.keys.clone(),
            rewrites: Vec::new(),
        })
    }

    /// Whether packets may take a side exit at commit.
    pub fn may_exit(&self) -> bool {
        self.schedule.values.holds(self.schedule.commit.exits) != Some(false)
    }

    /// What the vector code stores per packet beside keys: members of `struct path`, and numbers of steps.
    pub fn stored(&self) -> Vec<(String, Number, bool)> {
        let Some(lanes) = &self.lanes else { return Vec::new() };
        let kept = lanes.kept.iter().zip(&self.kept).map(|((_, number), (_, title))| (title.clone(), *number, true));
        let reads = lanes.reads.iter().enumerate().map(|(index, (_, number))| (read_name(index), *number, false));
        kept.chain(reads).collect()
    }

    /// What the program calls steps of the vector code.
    pub fn names(&self) -> HashMap<Number, String> {
        self.lanes.as_ref().map(|lanes| lanes.names.clone()).unwrap_or_default()
    }

    fn reads(&self) -> impl Iterator<Item = Value> {
        self.schedule.stages.iter().flat_map(|stage| stage.reads.iter().copied())
    }

    /// Bytes of the packet that commit may read.
    fn bytes(&self) -> u32 {
        self.schedule.stages.iter().map(|stage| stage.bytes).max().unwrap_or(0)
    }
}

fn has_c(schedule: &Schedule) -> bool {
    let values = &schedule.values;
    let exits = schedule.stages.iter().flat_map(|stage| &stage.exits).map(|exit| exit.when);
    let keys = schedule.lookups.iter().flat_map(|lookup| lookup.key.iter().copied());
    let commits = || [&schedule.commit].into_iter().chain(&schedule.expected);
    is_written(values, exits.chain(keys))
        && commits().all(|commit| {
            is_written(values, [commit.exits]) && commit.effects.iter().all(|effect| is_effect_written(values, effect))
        })
}

fn stored_name(unit: &Unit, schedule: &Schedule, value: Value) -> String {
    let effects = schedule.expected.iter().flat_map(|commit| &commit.effects);
    let mut stores = effects.filter_map(|effect| match &effect.does {
        Does::Store { bit, value: stored, field } if *stored == value => Some((bit / 8, field.header)),
        Does::Store { .. }
        | Does::Count { .. }
        | Does::CountDirect { .. }
        | Does::NotMade { .. }
        | Does::Miss { .. }
        | Does::Touch { .. }
        | Does::Drop { .. }
        | Does::Send { .. } => None,
    });
    let (byte, header) = stores.next().expect("what is kept is stored");
    format!("{}_bytes_{byte}", unit.header_name(header))
}

fn read_name(index: usize) -> String {
    format!("read_{index}")
}

fn side_exits(schedule: &Schedule, lanes: &Lanes, exits: Option<LanesExits>) -> Option<SideExits> {
    let missed = schedule.commit.missed.clone();
    let (steps, rows, kinds) = exits.map(|exits| (exits.steps, exits.rows, exits.kinds)).unwrap_or_default();
    let kinds = kinds.into_iter().map(|(mask, end)| SideExit { mask, end }).collect();
    let exits = SideExits { steps, rows, bytes: lanes.bytes, kinds, missed };
    (exits.any_exit() || exits.missed.is_some()).then_some(exits)
}

/// Says of parameters that a body does not use them.
fn unused(parameters: &[&str], body: &mut Vec<Stmt>) {
    for parameter in parameters {
        let title = parameter.rsplit([' ', '*']).next().unwrap_or(parameter);
        if !body.iter().any(|statement| statement.mentions(title)) {
            body.insert(0, Stmt::Do(Expr::cast("void", name(title))));
        }
    }
}

impl HotPath<'_> {
    /// What sends a packet at the end of its commit.
    pub(super) fn scheduled_sender(&self) -> Sender {
        let reason = "no such port";
        Sender::of(drop_reason(reason, self.unit.drop_number(reason)))
    }

    /// Members of `struct path`.
    pub(super) fn scheduled_members(&self) -> Vec<Member> {
        let Some(scheduled) = &self.scheduled else { return Vec::new() };
        let group = self.plan.group;
        let kept = scheduled
            .kept
            .iter()
            .map(|(_, title)| Member::plain("uint32_t", format!("{title}[{group}]"), "of the packet, as they will be"));
        let reads = scheduled
            .reads()
            .enumerate()
            .map(|(index, _)| Member::plain("uint64_t", format!("{}[{group}]", read_name(index)), "of a register"));
        kept.chain(reads).collect()
    }

    /// The packet, and its first byte.
    fn packet_declared(&self, again: bool) -> Vec<Stmt> {
        let taken = match again && !self.unit.own() {
            true => Expr::call("packet_known", [name("burst"), name("from + i"), name("path->data[i]")]),
            false => Expr::call("packet_take", [name("burst"), name("from + i")]),
        };
        vec![
            Stmt::declare("const struct packet", "packet", taken),
            Stmt::declare("uint8_t *const", "data", Expr::call("packet_data", [name("&packet")])),
        ]
    }

    /// A stage for packet `i`: its keys, or a side exit.
    pub(super) fn scheduled_packet(&self, scheduled: &Scheduled, number: usize) -> Vec<Stmt> {
        let stage = &scheduled.schedule.stages[number];
        let mut code = self.packet_declared(number > 0);
        if number == 0 && !self.unit.own() {
            code.push(Stmt::set(name("path->data[i]"), name("data")));
        }
        code.push(Stmt::declare("bool", "stays", name("false")));
        code.push(Stmt::Blank);
        let long = Expr::binary(">=", Expr::call("packet_contiguous", [name("&packet")]), Expr::word(stage.bytes));
        let mut condition = Expr::call("__builtin_expect", [long, name("1")]);
        if number > 0 {
            let left = Expr::binary("&", Expr::binary(">>", name("exits"), name("i")), name("1"));
            condition = Expr::binary("&&", Expr::unary("!", left), condition);
        }
        code.push(Stmt::when(condition, self.scheduled_stage(scheduled, number)));
        let mut exit = vec![Stmt::Assign(name("path->exits"), "|=", Expr::binary("<<", name("1ull"), name("i")))];
        for lookup in &self.plan.stages[number].lookups {
            let key = name(format!("path->{}_key[i]", self.look_up_name(lookup.place)));
            exit.push(Stmt::call("memset", [key.clone(), name("0"), Expr::call("sizeof", [key])]));
        }
        code.push(Stmt::when(Expr::unary("!", name("stays")), exit));
        code
    }

    /// What a packet that is long enough does.
    fn scheduled_stage(&self, scheduled: &Scheduled, number: usize) -> Vec<Stmt> {
        let schedule = &scheduled.schedule;
        let stage = &schedule.stages[number];
        let keys: Vec<&Lookup> = schedule.lookups.iter().filter(|lookup| lookup.stage == Some(number)).collect();
        let (first, last) = self.places(number);
        let at_once: Vec<&Lookup> = schedule
            .lookups
            .iter()
            .filter(|lookup| lookup.stage.is_none() && (first..last).contains(&lookup.place))
            .collect();
        let kept: &[(Value, String)] = if number == 0 { &scheduled.kept } else { &[] };
        let looked_up = keys.iter().chain(&at_once).flat_map(|lookup| lookup.key.iter().copied());
        let results: Vec<Value> = looked_up
            .chain(stage.exits.iter().map(|exit| exit.when))
            .chain(kept.iter().map(|(value, _)| *value))
            .chain(stage.reads.iter().copied())
            .collect();
        let mut writer = Scalar::new(self, schedule, stage.bytes, &results);
        let before: usize = schedule.stages[..number].iter().map(|stage| stage.reads.len()).sum();
        for (index, value) in scheduled.reads().enumerate().take(before) {
            let held = name(format!("path->{}[i]", read_name(index)));
            writer.keep(value, Expr::cast("uint32_t", held));
        }
        for lookup in &at_once {
            self.looked_up_at_once(lookup, &mut writer);
        }
        let mut leaves: Option<Expr> = None;
        for exit in &stage.exits {
            let condition = writer.value(exit.when);
            leaves = Some(match leaves {
                None => condition,
                Some(others) => Expr::binary("||", others, condition),
            });
        }
        if let Some(leaves) = leaves {
            writer.code.push(Stmt::set(name("stays"), Expr::unary("!", leaves)));
        } else {
            writer.code.push(Stmt::set(name("stays"), name("true")));
        }
        let mut code = std::mem::take(&mut writer.code);
        for (index, value) in stage.reads.iter().enumerate() {
            let held = writer.value(*value);
            writer.code.push(Stmt::set(name(format!("path->{}[i]", read_name(before + index))), held));
        }
        for lookup in keys {
            self.key_stored(lookup, &mut writer);
        }
        for (value, title) in kept {
            let bits = schedule.values.width(*value);
            let held = writer.value(*value);
            let to = Expr::cast("uint8_t *", name(format!("&path->{title}[i]")));
            writer.code.push(Stmt::call("bits_store", [to, Expr::word(0), Expr::word(bits), held]));
        }
        let stays = Expr::call("__builtin_expect", [name("stays"), name("1")]);
        code.push(Stmt::when(stays, writer.code));
        code
    }

    /// Positions of the nodes that a stage runs.
    fn places(&self, number: usize) -> (usize, usize) {
        let first = if number == 0 { 0 } else { self.plan.stages[number - 1].place };
        (first, self.plan.stages[number].place)
    }

    fn key_stored(&self, lookup: &Lookup, writer: &mut Scalar) {
        let held = self.look_up_name(lookup.place);
        let keys = lookup.key.iter().map(|limb| writer.value(*limb)).collect::<Vec<Expr>>();
        let stores = keys
            .into_iter()
            .enumerate()
            .map(|(limb, value)| Stmt::set(name(format!("path->{held}_key[i][{limb}]")), value));
        let stores: Vec<Stmt> = stores.collect();
        match self.was_empty(lookup.place) {
            Some(is_empty) => writer.code.push(Stmt::when(Expr::unary("!", is_empty), stores)),
            None => writer.code.extend(stores),
        }
    }

    /// A lookup that a stage makes packet by packet.
    fn looked_up_at_once(&self, lookup: &Lookup, writer: &mut Scalar) {
        let limbs: Vec<Expr> = lookup.key.iter().map(|limb| writer.value(*limb)).collect();
        let title = format!("{}_key", self.title(lookup.place));
        let of = format!("{title}[{}]", limbs.len());
        writer.code.push(Stmt::declare("const uint64_t", of, Expr::List(limbs)));
        let found = Expr::call(format!("{}_find", self.title(lookup.place)), [name("run"), name(title)]);
        writer.code.push(Stmt::set(self.found_at(lookup.place), found));
    }

    /// The functions of lookups that stages make packet by packet, and of registers.
    pub(super) fn scheduled_items(&self) -> Vec<Item> {
        let Some(scheduled) = &self.scheduled else { return Vec::new() };
        let mut items = Vec::new();
        for lookup in scheduled.schedule.lookups.iter().filter(|lookup| lookup.stage.is_none()) {
            let (hash, found) = self.looked_up(lookup.place);
            let mut body = Vec::new();
            if self.unit.skips_empty(lookup.table) {
                body.push(Stmt::when(self.unit.is_empty(lookup.table), vec![Stmt::result(Expr::word(0))]));
            }
            body.push(Stmt::declare("const uint64_t", "hash", hash));
            body.push(Stmt::Blank);
            body.push(Stmt::result(found));
            let parameters = ["const struct run *run", "const uint64_t *key"];
            items.extend(inline("uint32_t", format!("{}_find", self.title(lookup.place)), &parameters, body));
        }
        if scheduled.lanes.is_none() {
            let registers = scheduled.reads().filter_map(|read| match scheduled.schedule.values.of(read) {
                Operation::Register { register, .. } => Some(*register),
                Operation::Constant(_)
                | Operation::Packet { .. }
                | Operation::Length
                | Operation::Port
                | Operation::Lookup { .. }
                | Operation::Unary(..)
                | Operation::Binary(..)
                | Operation::Slice { .. }
                | Operation::Extend { .. }
                | Operation::Choose { .. }
                | Operation::FromBool(_)
                | Operation::Sum(_) => None,
            });
            items.extend(self.register_items(registers.collect()));
        }
        items
    }

    /// `path_finish` and its parts.
    pub(super) fn scheduled_commit(&self, scheduled: &Scheduled) -> Vec<Item> {
        let mut items = Vec::new();
        let expects = scheduled.schedule.expected.is_some();
        if scheduled.may_exit() {
            items.extend(self.leave_at_commit());
        }
        let parameters = [
            "struct run *run",
            "const struct burst *burst",
            "uint32_t from",
            "uint32_t i",
            "const struct path *path",
            "uint16_t *to",
        ];
        if let Some(commit) = &scheduled.schedule.expected {
            let about = "Commits a packet that hit in every lookup and runs the expected actions. Whether it is to be \
                         sent, by `to`; else it has gone.";
            items.push(Item::Comment(about.to_string()));
            let mut body = self.committed(scheduled, commit, true);
            unused(&parameters, &mut body);
            items.extend(inline("bool", "path_expected", &parameters, body));
        }
        let mut body = self.committed(scheduled, &scheduled.schedule.commit, false);
        let mut known = Vec::new();
        for place in &self.plan.speculative {
            let missed = Expr::binary("&&", name("hits"), Expr::unary("!", self.found_at(*place)));
            known.push(super::commit::never(missed));
        }
        if expects {
            let arguments = ["run", "burst", "from", "i", "path", "to"].map(name);
            let expected = Expr::call("path_expected", arguments);
            known.insert(0, Stmt::when(name("usual"), vec![Stmt::result(expected)]));
        }
        body.splice(0..0, known);
        let about = "Commits a packet with the records that were found for it. Whether it is to be sent, by `to`; else \
                     it has gone.";
        items.push(Item::Comment(self.about_known(about)));
        let parameters: Vec<&str> = parameters.into_iter().chain(self.parameters_known()).collect();
        unused(&parameters, &mut body);
        items.extend(inline("bool", "path_finish", &parameters, body));
        items
    }

    /// A packet that exits at commit runs the plain program from its beginning. Its lookups were counted before.
    fn leave_at_commit(&self) -> Vec<Item> {
        let entry = name(self.unit.place_name(self.plan.nodes[0]));
        let mut body =
            vec![Stmt::Declare { of: "struct state".to_string(), name: "state".to_string(), value: None }, Stmt::Blank];
        body.extend(self.plan.speculative.iter().map(|place| self.unit.take_back_look_up(self.table(*place))));
        body.push(Stmt::call("path_begin", ["run", "&state", "burst", "i"].map(name)));
        body.push(super::commit::state_enter());
        body.push(Stmt::call("path_exit", [name("run"), name("&state"), entry]));
        let parameters = ["struct run *run", "const struct burst *burst", "uint32_t i"];
        let mut items = vec![Item::Comment("A side exit at commit.".to_string())];
        items.extend(noinline("void", "path_leave", &parameters, body));
        items
    }

    /// The body of a commit.
    fn committed(&self, scheduled: &Scheduled, commit: &Commit, is_expected: bool) -> Vec<Stmt> {
        let schedule = &scheduled.schedule;
        let effects = commit.effects.iter().flat_map(Effect::operands);
        let results: Vec<Value> = effects.chain([commit.exits]).collect();
        let mut writer = Scalar::new(self, schedule, scheduled.bytes(), &results);
        for (index, value) in scheduled.reads().enumerate() {
            let held = name(format!("path->{}[i]", read_name(index)));
            writer.keep(value, Expr::cast("uint32_t", held));
        }
        let mut code = Vec::new();
        if schedule.values.holds(commit.exits) != Some(false) {
            let exits = writer.value(commit.exits);
            code = std::mem::take(&mut writer.code);
            let leave = Stmt::call("path_leave", [name("run"), name("burst"), name("from + i")]);
            let unlikely = Expr::call("__builtin_expect", [exits, name("0")]);
            code.push(Stmt::when(unlikely, vec![leave, Stmt::result(name("false"))]));
            writer.decide(commit.exits, false);
        }
        let mut made: Vec<(Option<Expr>, Vec<Stmt>)> = Vec::new();
        let mut at = 0;
        while at < commit.effects.len() {
            let copied = if is_expected { self.copied(schedule, &commit.effects[at..], &mut writer) } else { None };
            let (count, statements) =
                copied.unwrap_or_else(|| (1, self.done(scheduled, &commit.effects[at], &mut writer, is_expected)));
            let effect = &commit.effects[at];
            let is_last = matches!(effect.does, Does::Send { .. });
            let condition = if is_last { None } else { writer.condition(effect.when) };
            if matches!(effect.does, Does::Drop { .. }) {
                writer.decide(effect.when, false);
            }
            match made.last_mut() {
                Some((before, together)) if *before == condition && !ends(together) => together.extend(statements),
                _ => made.push((condition, statements)),
            }
            at += count;
        }
        code.extend(writer.code);
        for (condition, statements) in made {
            match condition {
                None => code.extend(statements),
                Some(condition) => code.push(Stmt::when(condition, statements)),
            }
        }
        let mut body = self.packet_declared(true);
        body.push(Stmt::Blank);
        body.extend(code);
        unused_locals(&mut body);
        body
    }

    /// Neighbouring parameters of one record that are copied to neighbouring bytes, as one copy: how many effects.
    fn copied(&self, schedule: &Schedule, effects: &[Effect], writer: &mut Scalar) -> Option<(usize, Vec<Stmt>)> {
        let copy = |effect: &Effect| self.copy_of(schedule, effect);
        let first = copy(effects.first()?)?;
        let mut bytes = first.bytes;
        let mut count = 1;
        for effect in &effects[1..] {
            let Some(next) = copy(effect).filter(|_| effect.when == effects[0].when) else { break };
            let adjoins = (next.node, next.action, next.byte) == (first.node, first.action, first.byte + bytes)
                && next.parameter == first.parameter + count;
            if !adjoins {
                break;
            }
            (bytes, count) = (bytes + next.bytes, count + 1);
        }
        let table = writer.table(first.node);
        let mut from = writer.member(first.node, first.action, first.parameter);
        if count > 1 {
            let names = &self.unit.names;
            let (data, title) = (
                &names.actions[number(table)][first.action],
                &names.parameters[number(table)][first.action][first.parameter],
            );
            let record = Expr::cast("const uint8_t *", name(writer.record(first.node)));
            let offset = format!("offsetof(struct {}_record, {data}.{title})", self.unit.table_name(table));
            from = Expr::binary("+", record, name(offset));
        }
        let function = if self.unit.reads_after(table) { "memcpy" } else { "bits_copy" };
        let to = at_byte(first.byte);
        Some((count, vec![Stmt::call(function, [to, from, Expr::word(bytes)])]))
    }

    fn copy_of(&self, schedule: &Schedule, effect: &Effect) -> Option<Copy> {
        let Does::Store { bit, value, .. } = &effect.does else { return None };
        let Operation::Lookup { node, what: Found::Parameter { action, parameter, low: 0 } } =
            *schedule.values.of(*value)
        else {
            return None;
        };
        let hlir::NodeKind::Apply { table, .. } = self.unit.node(node).kind else { return None };
        let declared = self.unit.program.tables[table].actions[action].parameters[parameter].width;
        let is_whole = declared == schedule.values.width(*value) && bit.is_multiple_of(8);
        let copies = is_whole && self.unit.in_bytes(table, action, parameter);
        copies.then_some(Copy { node, action, parameter, byte: bit / 8, bytes: declared / 8 })
    }

    /// The statements of an effect, without its condition.
    fn done(&self, scheduled: &Scheduled, effect: &Effect, writer: &mut Scalar, is_expected: bool) -> Vec<Stmt> {
        let length = || Expr::call("packet_length", [name("&packet")]);
        match &effect.does {
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
                let index = Expr::call("record_cell", [name(writer.record(*lookup))]);
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
            Does::Drop { reason } => {
                let reason = drop_reason(reason, self.unit.drop_number(reason));
                let dropped = Stmt::call("walk_drop", [name("run->worker"), name("packet"), reason]);
                vec![dropped, Stmt::result(name("false"))]
            }
            Does::Send { port } => {
                let port = writer.value(*port);
                vec![Stmt::set(name("*to"), Expr::cast("uint16_t", port)), Stmt::result(name("true"))]
            }
        }
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
                return vec![Stmt::call("bits_store_in_word", [name("data")].into_iter().chain(from).chain([held]))];
            }
            let held = Expr::unary("&", held);
            return vec![Stmt::call("memcpy", [at_byte(bit / 8), held, Expr::word(width / 8)])];
        }
        if width > 64 {
            let Operation::Lookup { node, what: Found::Parameter { action, parameter, .. } } =
                *scheduled.schedule.values.of(value)
            else {
                unreachable!("only parameters are stored whole")
            };
            let from = writer.member(node, action, parameter);
            return vec![Stmt::call("wide_store", [at_byte(start / 8), Expr::word(bit % 8), Expr::word(width), from])];
        }
        let is_in_word = self.unit.stores_words(header, self.spot_in(scheduled, bit, width, header));
        let function = if is_in_word { "bits_store_in_word" } else { "bits_store" };
        // The packet is read before it is written.
        let written = writer.named(value);
        vec![Stmt::call(function, [name("data"), Expr::word(bit), Expr::word(width), written])]
    }

    /// Bits of the packet as bits of a header.
    fn spot_in(&self, scheduled: &Scheduled, bit: u32, width: u32, header: hlir::HeaderId) -> crate::field::Spot {
        let start = scheduled.schedule.headers.get(&header).map_or(0, |start| 8 * start);
        crate::field::Spot { bit: bit.saturating_sub(start), width, behind_varbit: false }
    }
}

/// A copy of a parameter into the packet.
struct Copy {
    node: hlir::NodeId,
    action: usize,
    parameter: usize,
    byte: u32,
    bytes: u32,
}

fn at_byte(byte: u32) -> Expr {
    if byte == 0 { name("data") } else { Expr::binary("+", name("data"), Expr::word(byte)) }
}

fn ends(statements: &[Stmt]) -> bool {
    matches!(statements.last(), Some(Stmt::Return(_)))
}

/// Leaves out the packet's declarations that nothing uses.
fn unused_locals(body: &mut Vec<Stmt>) {
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
