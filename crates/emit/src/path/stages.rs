//! The stages: loops over the packets of a group, and over the groups of a burst.

use super::addresses::addressed_together;
use super::{HotPath, each, inline, name, noinline};
use crate::batch::prefetch;
use crate::c::{Expr, Item, Stmt};
use crate::group::{Grouped, Requests};
use crate::run::{run_copy, run_taken};
use hlir::plan::{Hint, Placement};
use hlir::resolved::{ResolvedStage, StagedLookup};

/// Parameters of a stage.
pub const STAGE: [&str; 6] = [
    "struct run *run",
    "const struct burst *burst",
    "uint32_t from",
    "uint32_t count",
    "struct path *path",
    "uint64_t exits",
];

/// A loop over packets, if the body is not empty.
pub(super) fn in_loop(count: Expr, body: Vec<Stmt>) -> Option<Stmt> {
    (!body.is_empty()).then(|| each("i", count, body))
}

/// A local copy of `struct run` and of the burst, for a function that is not inlined: no store to a packet
/// can alias it. Copied member by member, since structs by value go through memory.
fn taken_run() -> [Stmt; 3] {
    run_taken("run", "given")
}

impl HotPath<'_> {
    pub fn stage_items(&self) -> Vec<Item> {
        let mut items = Vec::new();
        (0..self.plan.stages.len()).for_each(|number| items.extend(self.stage(number)));
        if self.sends_in_bulk() {
            items.extend(self.missed());
            items.extend(self.runs_expected());
        }
        items.extend(self.between_items());
        items.extend(self.turn());
        items.extend(self.commit_bulk());
        items.extend(self.turn_whole());
        if self.plan.is_pipelined() {
            items.extend(self.advance_items());
        } else {
            items.extend(self.whole_group());
        }
        items
    }

    /// A packet of the burst.
    pub(super) fn begin(&self) -> [Item; 2] {
        let taken = Expr::call("packet_take", [name("burst"), name("i")]);
        inline("void", "path_begin", &BEGIN, vec![state_begin(taken)])
    }

    /// Whether packets of a group begin a second time, for nodes.
    pub(super) fn begins_again(&self) -> bool {
        self.commits_by_nodes() && !self.unit.own()
    }

    /// A packet that the first stage has seen. Its data address is not loaded from the mbuf again, which
    /// takes two dependent loads.
    pub(super) fn begin_again(&self) -> [Item; 2] {
        let taken = Expr::call("packet_known", ["burst", "i", "data"].map(name));
        let parameters = [&BEGIN[..], &["void *data"]].concat();
        inline("void", "path_begin_again", &parameters, vec![state_begin(taken)])
    }

    /// Packet `i` of a group at the beginning of its commit, or of a stage after the first.
    pub(super) fn packet_again(&self) -> [Stmt; 3] {
        if self.unit.own() {
            return packet_begin();
        }
        let again = ["run", "&state", "burst", "from + i", "path->data[i]"].map(name);
        packet_begun(Stmt::call("path_begin_again", again))
    }

    /// A stage for all packets of a group: speculate up to the cut, then compute keys and prefetch the lines
    /// of the lookups.
    pub(super) fn stage(&self, number: usize) -> Vec<Item> {
        let stage = &self.plan.stages[number];
        let mut one = self.scheduled_packet(number);
        let key = |place: usize| name(format!("path->{}_key[i]", self.look_up_name(place)));
        let mut requests: Vec<Stmt> =
            stage.lookups.iter().flat_map(|lookup| self.request(lookup, key(lookup.place))).collect();
        if number == 0 {
            requests.extend(self.paid(Placement::WithKeys));
        }
        let mut code = self.empty_asked(stage);
        code.extend(self.lines_taken(stage));
        let mut items = self.addresses(number);
        let is_together = !items.is_empty();
        if let Some((_, lanes)) = self.lanes.as_ref().filter(|_| number == 0) {
            items.extend(self.lanes_items(stage, lanes, one));
            code.extend(self.lanes_loop(lanes, requests, is_together));
        } else {
            one.extend(requests);
            let mut rest = None;
            if is_together {
                let (some, last) = addressed_together(number, self.plan.group);
                one.extend(some);
                rest = Some(last);
            }
            code.push(each("i", name("count"), one));
            code.extend(rest);
        }
        if number == 0 && self.unit.tracks_insertions() {
            code.insert(0, Stmt::set(name("path->insertions"), name("run->insertions")));
        }
        let end = &self.unit.node(self.plan.nodes[stage.place]).name;
        let keys = if stage.lookups.is_empty() { "" } else { ", and the keys of the lookups there" };
        items.push(Item::Comment(format!("Stage {number}: all packets of a group up to {end}{keys}.")));
        items.extend(inline("void", format!("path_stage_{number}"), &STAGE, code));
        items.extend(self.whole(&format!("path_stage_{number}"), number));
        if !stage.lookups.is_empty() {
            items.extend(self.look_up_items(number));
        }
        items
    }

    /// The lookups of a stage. If the group is pipelined, its lines were prefetched one group ago, and each
    /// lookup may be followed by a prefetch for the newest group: a loop of prefetches alone would stall on
    /// the core's line fill buffers.
    fn look_up_items(&self, number: usize) -> Vec<Item> {
        let stage = &self.plan.stages[number];
        let moved = number == 0 && self.plan.is_pipelined();
        let single = stage.lookups.iter().filter(|lookup| !self.unit.structure(lookup.table).is_grouped());
        let paid = |lookup| self.requested_in(lookup, Placement::WithLookups);
        let requests = || single.clone().filter(|_| moved).filter_map(paid);
        let request = |(held, hint): (&str, Hint)| prefetch(name(format!("newest->{held}_address[i]")), hint);
        let [mut body, seconds] = self.look_up_groups(stage, moved);
        let mut code = self.look_ups(stage, moved);
        if requests().next().is_some() {
            code.push(Stmt::when(Expr::binary("<", name("i"), name("size")), requests().map(request).collect()));
        }
        body.extend(in_loop(name("count"), code));
        let mut rest = in_loop(name("size"), requests().map(request).collect());
        if let Some(Stmt::Count { from, .. }) = &mut rest {
            *from = name("count");
        }
        body.extend(rest);
        body.extend(seconds);
        body.extend(self.filled_meanwhile(stage));
        let newest: &[&str] = if moved { &["uint32_t size", "const struct path *newest"] } else { &[] };
        let parameters = |run| [&[run, "uint32_t count", "struct path *path"][..], newest].concat();
        let title = format!("path_lookup_{number}");
        let mut items = Vec::from(inline("void", title.clone(), &parameters("const struct run *run"), body));
        items.extend(self.look_up_whole(&title, moved, &parameters("const struct run *given")));
        items
    }

    /// These lookups as a function of their own, with specialized code for a full group.
    fn look_up_whole(&self, title: &str, moved: bool, parameters: &[&str]) -> [Item; 2] {
        let group = || Expr::word(self.plan.group);
        let is_full = |count| Expr::binary("==", name(count), group());
        let newest = |size: Expr| if moved { vec![size, name("newest")] } else { Vec::new() };
        let call = |count: Expr, size: Expr| {
            Stmt::call(title, [name("&run"), count, name("path")].into_iter().chain(newest(size)))
        };
        let full = if moved { Expr::binary("&&", is_full("count"), is_full("size")) } else { is_full("count") };
        let mut body = Vec::from(taken_run());
        body.push(Stmt::If {
            condition: Expr::call("__builtin_expect", [full, name("1")]),
            then: vec![call(group(), group())],
            otherwise: vec![call(name("count"), name("size"))],
        });
        noinline("void", format!("{title}_group"), parameters, body)
    }

    /// Grouped lookups of a structure, and their second half, made after all others: second lines, prefetched
    /// by the first half.
    fn look_up_groups(&self, stage: &ResolvedStage, moved: bool) -> [Vec<Stmt>; 2] {
        let (mut code, mut seconds) = (Vec::new(), Vec::new());
        for lookup in &stage.lookups {
            let StagedLookup { place, table, .. } = *lookup;
            if !self.unit.structure(table).is_grouped() {
                continue;
            }
            let held = self.look_up_name(place);
            let paid = self.requested_in(lookup, Placement::WithLookups);
            let requests = paid
                .filter(|_| moved)
                .map(|_| Requests { addresses: name(format!("newest->{held}_address")), count: name("size") });
            let grouped = Grouped {
                name: held.to_string(),
                prefix: format!("path->{held}_"),
                run: "run->",
                count: name("count"),
                is_hashed: self.keeps_hash(lookup),
                addresses: self.known_addresses(lookup, moved),
                requested: self.requested(lookup).map(|(_, hint)| hint),
                walks_ahead: self.unit.structure(table).is_walked() && lookup.prefetch.is_some(),
                is_empty: self.was_empty(place),
                found: name(format!("path->{}_found", self.title(place))),
                requests,
                records: self.records_requested(lookup),
            };
            if stage.lookups.len() > 1 && self.unit.structure(table).has_two_lines() {
                let [first, second] = self.unit.find_halves(table, grouped);
                code.extend(first);
                seconds.extend(second);
            } else {
                code.extend(self.unit.find_group(table, grouped));
            }
        }
        [code, seconds]
    }

    /// Where the records of a lookup are, and their distance, if a stage prefetches them: in a hash table whose first
    /// lines it prefetches, and whose entries have a record each.
    fn records_requested(&self, lookup: &StagedLookup) -> Option<[Expr; 2]> {
        let (unit, table) = (self.unit, lookup.table);
        let prefetches = unit.structure(table).has_two_lines() && self.requested(lookup).is_some();
        let own = prefetches && unit.program.has_own_records(table);
        own.then(|| [unit.records(table), unit.record_stride(table)])
    }

    fn look_ups(&self, stage: &ResolvedStage, moved: bool) -> Vec<Stmt> {
        let mut code = Vec::new();
        for lookup in stage.lookups.iter().filter(|lookup| !self.unit.structure(lookup.table).is_grouped()) {
            let StagedLookup { place, table, .. } = *lookup;
            let structure = self.unit.lookup_prefix(table);
            let limbs = Expr::word(crate::body::limbs(self.unit.key_bits(table)));
            let part = |part: &str| name(format!("path->{}_{part}[i]", self.look_up_name(place)));
            let pointer = name(format!("run->{}", self.unit.table_name(table)));
            let hash = Expr::call(format!("{structure}_hash"), [pointer.clone(), part("key"), limbs.clone()]);
            let is_known = self.requested(lookup).is_some() && (!moved || self.unit.structure(table).keeps_its_lines());
            let address = match is_known {
                true => part("address"),
                false => Expr::call(format!("{structure}_address"), [pointer.clone(), hash.clone()]),
            };
            let arguments = [pointer, address, hash, part("key"), limbs];
            let mut found = self.unit.own_part(table, Expr::call(format!("{structure}_find"), arguments));
            if let Some(is_empty) = self.was_empty(place) {
                found = Expr::conditional(is_empty, Expr::word(0), found);
            }
            code.push(Stmt::set(self.found_at(place), found));
        }
        code
    }

    /// Prefetches of the packets' own bytes, if the plan has them.
    pub(super) fn packet_requests(&self, burst: &str, count: &str) -> Option<Stmt> {
        let hint = self.plan.packets?;
        let address = Expr::call("packet_address_data", [burst, "from + i"].map(name));
        Some(each("i", name(count), vec![prefetch(address, hint)]))
    }

    /// A stage as a function of its own, so that it has all registers. Specialized code for a full group
    /// without side exits.
    fn whole(&self, stage: &str, number: usize) -> [Item; 2] {
        let arguments =
            [name("&run"), name("&taken"), name("from"), Expr::word(self.plan.group), name("path"), name("0")];
        self.whole_with(stage, number, vec![(None, vec![Stmt::call(stage, arguments)])])
    }

    fn turn_whole(&self) -> [Item; 2] {
        if !self.sends_in_bulk() {
            return self.whole("path_commit", self.plan.stages.len());
        }
        self.whole_with("path_commit", self.plan.stages.len(), self.turns_together())
    }

    /// `number` is that of the stage, or one more than the last for commit. `together`: specialized codes for
    /// a full group without side exits, most likely first, each with its further condition.
    fn whole_with(&self, stage: &str, number: usize, together: Vec<(Option<Expr>, Vec<Stmt>)>) -> [Item; 2] {
        let changes = number == self.plan.stages.len();
        let group = Expr::word(self.plan.group);
        let arguments = ["&run", "&taken", "from", "count", "path", "exits"].map(name);
        let full = Expr::binary("==", name("count"), group);
        let whole = Expr::binary("&&", full, Expr::binary("==", name("exits"), Expr::word(0)));
        let [run, blank, filled] = taken_run();
        let mut body = vec![
            run,
            Stmt::declare("const struct burst", "taken", name("*burst")),
            Stmt::declare("const uint64_t", "exits", name("path->exits")),
            blank,
            filled,
        ];
        for table in self.found_before(number) {
            let held = self.unit.table_name(table);
            let taken = self.unit.records_in(table, "run.");
            body.push(Stmt::set(name(format!("run.{held}_records")), taken));
        }
        let mut statement = Stmt::call(stage, arguments);
        for (at, (also, then)) in together.into_iter().enumerate().rev() {
            let whole = also.into_iter().fold(whole.clone(), |whole, also| Expr::binary("&&", whole, also));
            // The others are not unlikely: a router that drops a packet of each group takes the last one.
            let condition = if at == 0 { Expr::call("__builtin_expect", [whole, name("1")]) } else { whole };
            statement = Stmt::If { condition, then, otherwise: vec![statement] };
        }
        body.push(statement);
        if changes {
            body.push(run_copy("given", "&run"));
        }
        let given = if changes { "struct run *given" } else { "const struct run *given" };
        let parameters = [given, "const struct burst *burst", "uint32_t from", "uint32_t count", "struct path *path"];
        noinline("void", format!("{stage}_group"), &parameters, body)
    }

    /// The lookups of a stage, if it makes any.
    pub(super) fn look_up_call(&self, number: usize, path: &str) -> Option<Stmt> {
        let call = || Stmt::call(format!("path_lookup_{number}_group"), ["run", "count", path].map(name));
        (!self.plan.stages[number].lookups.is_empty()).then(call)
    }

    /// Everything after the first lookups.
    pub(super) fn later(&self, burst: &str, from: &str, path: &str) -> Vec<Stmt> {
        let arguments = || ["run", burst, from, "count", path].map(name);
        let mut body = Vec::new();
        for number in 1..self.plan.stages.len() {
            let stage = Stmt::call(format!("path_stage_{number}_group"), arguments());
            body.push(stage);
            body.extend(self.look_up_call(number, path));
        }
        body.push(Stmt::call("path_commit_group", arguments()));
        body
    }

    /// All stages for a group.
    fn whole_group(&self) -> [Item; 2] {
        let mut body = vec![
            Stmt::Declare { of: "struct path".to_string(), name: "path".to_string(), value: None },
            Stmt::Blank,
            Stmt::set(name("path.exits"), Expr::word(0)),
        ];
        body.extend(self.none_dropped("path.drops"));
        body.extend(self.packet_requests("burst", "count"));
        let stage = Stmt::call("path_stage_0_group", ["run", "burst", "from", "count", "&path"].map(name));
        body.push(stage);
        body.extend(self.look_up_call(0, "&path"));
        body.extend(self.later("burst", "from", "&path"));
        let parameters = ["struct run *run", "const struct burst *burst", "uint32_t from", "uint32_t count"];
        inline("void", "path_group", &parameters, body)
    }

    /// The burst, group by group.
    pub fn process(&self) -> Vec<Stmt> {
        let group = Expr::word(self.plan.group);
        let size = Expr::binary("-", name("count"), name("from"));
        let full = Expr::binary(">=", size.clone(), group.clone());
        let mut body = vec![Stmt::set(name("run.number"), name("worker->packet_number"))];
        let to = name("count");
        let size = Expr::conditional(full, group.clone(), size);
        let function = if self.plan.is_pipelined() { "path_advance" } else { "path_group" };
        let call = Stmt::call(function, [name("&run"), name("burst"), name("from"), size]);
        body.push(Stmt::Count { name: "from".to_string(), from: Expr::word(0), to, step: group, body: vec![call] });
        if self.plan.is_pipelined() {
            // An empty burst flushes.
            let drive = Stmt::call("path_advance", ["&run", "burst", "0", "0"].map(name));
            body.push(Stmt::when(Expr::binary("==", name("count"), Expr::word(0)), vec![drive]));
        }
        body.extend(self.queue_end());
        body.extend(self.dropped_end());
        body
    }
}

const BEGIN: [&str; 4] = ["struct run *run", "struct state *state", "const struct burst *burst", "uint32_t i"];

/// `state` for the packet of that expression, number `i` of the burst.
fn state_begin(packet: Expr) -> Stmt {
    let number = Expr::binary("+", name("run->number"), name("i"));
    Stmt::call("state_begin", [name("state"), packet, name("burst->ports[i]"), name("&run->memory->scratch"), number])
}

/// Packet `i` of a group, for the first time or after a side exit.
pub(super) fn packet_begin() -> [Stmt; 3] {
    packet_begun(Stmt::call("path_begin", ["run", "&state", "burst", "from + i"].map(name)))
}

fn packet_begun(begin: Stmt) -> [Stmt; 3] {
    [Stmt::Declare { of: "struct state".to_string(), name: "state".to_string(), value: None }, Stmt::Blank, begin]
}
