//! Bulk drop: packets that exit before the first cut, or miss, only to be counted and dropped are handled as
//! a set, without a branch per packet.
//!
//! They are kept in the worker's memory across bursts until a vector is full. Vector code then evaluates the
//! checks again, to find which packet failed which one. Counters of each exit are increased by the number of
//! its packets and their bytes, and all buffers are freed together. An empty burst flushes the packets; so
//! does the timeout of LANES_TIMEOUT bursts.

use super::commit::popcount;
use super::vector::{Writer, declared, loaded};
use super::{HotPath, inline, name, noinline};
use crate::body::drop_reason;
use crate::c::{Expr, Item, Member, Stmt};
use crate::unit::number;
use schedule::vector::LanesExits;
use schedule::{BulkDrop, CounterIndex};
use std::collections::BTreeMap;

/// The lists of deferred packets: exits and misses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deferred {
    Exits,
    Missed,
}

impl Deferred {
    fn word(self) -> &'static str {
        match self {
            Deferred::Exits => "exits",
            Deferred::Missed => "missed",
        }
    }

    /// The list, in the worker's memory.
    fn list(self) -> String {
        format!("{}_deferred", self.word())
    }

    /// The packets of a group that go to the list.
    fn set(self) -> Expr {
        name(format!("{}_to_drop", self.word()))
    }

    /// The function that drops them.
    fn dropping(self) -> String {
        format!("path_drop_{}", self.word())
    }

    fn count(self) -> Expr {
        name(format!("memory->{}.count", self.list()))
    }
}

impl HotPath<'_> {
    /// The side exits of the first stage, if it is vector code, packets may commit out of order, and some are bulk drops.
    fn dropped_exits(&self) -> Option<&LanesExits> {
        self.scheduled.exits.as_ref().filter(|_| self.is_out_of_order)
    }

    /// What becomes of misses, under the same conditions.
    fn dropped_misses(&self) -> Option<&BulkDrop> {
        self.scheduled.missed().filter(|_| self.is_out_of_order)
    }

    /// Whether the first stage marks bulk drops.
    pub(super) fn tells_drops(&self) -> bool {
        self.dropped_exits().is_some()
    }

    /// No packet of the group is a bulk drop.
    pub(super) fn none_dropped(&self, drops: &str) -> Option<Stmt> {
        self.tells_drops().then(|| Stmt::set(name(drops), Expr::word(0)))
    }

    /// The lists in use.
    fn lists(&self) -> Vec<Deferred> {
        let left = self.dropped_exits().map(|_| Deferred::Exits);
        left.into_iter().chain(self.dropped_misses().map(|_| Deferred::Missed)).collect()
    }

    /// In `path_commit`: packets of a group that missed and are bulk drops, if there can be any.
    pub(super) fn missed_to_drop(&self) -> Option<Expr> {
        self.lists().contains(&Deferred::Missed).then(|| Deferred::Missed.set())
    }

    /// Members of the worker's memory.
    pub(super) fn dropped_members(&self) -> Vec<Member> {
        let lists = self.lists();
        let about = |list: &Deferred| match list {
            Deferred::Exits => "side exits that will be dropped",
            Deferred::Missed => "misses that will be dropped",
        };
        let list = |list: &Deferred| Member::plain("struct lanes_deferred", list.list(), about(list));
        let mut members: Vec<Member> = lists.iter().map(list).collect();
        if !lists.is_empty() {
            members.push(Member::plain("uint32_t", "drop_age", "ends of bursts since the last drop"));
        }
        members
    }

    /// Ends every burst.
    pub(super) fn dropped_end(&self) -> Option<Stmt> {
        (!self.lists().is_empty()).then(|| Stmt::call("path_drop_age", [name("worker"), name("count")]))
    }

    /// `path_defer_drop` with its parts, and the code at the end of a burst.
    pub(super) fn dropped_items(&self) -> Vec<Item> {
        let mut items = Vec::new();
        let parameters = ["struct worker *worker", "uint32_t count"];
        if let Some(side_exits) = self.dropped_exits() {
            items.push(Item::Comment("Drops so many deferred side exits, at most LANES.".to_string()));
            items.extend(noinline("void", Deferred::Exits.dropping(), &parameters, self.drop_left(side_exits)));
        }
        if let Some(missed) = self.dropped_misses() {
            items.push(Item::Comment("Drops so many deferred misses, at most LANES.".to_string()));
            items.extend(noinline("void", Deferred::Missed.dropping(), &parameters, self.drop_missed(missed)));
        }
        if !self.lists().is_empty() {
            items.extend(self.drop_later());
            items.extend(self.drop_in_time());
        }
        items
    }

    fn drop_later(&self) -> [Item; 3] {
        let mut body = vec![memory(), Stmt::Blank];
        for list in self.lists() {
            let to = name(format!("&memory->{}", list.list()));
            body.push(Stmt::call("lanes_defer", [to, name("burst"), name("from"), list.set()]));
            let full = Expr::binary(">=", list.count(), name("LANES"));
            body.push(Stmt::While(full, vec![Stmt::call(list.dropping(), [name("worker"), name("LANES")])]));
        }
        let about = "Defers packets of a group that are only counted and dropped, until there are LANES.".to_string();
        let mut parameters: Vec<String> =
            ["struct worker *worker", "const struct burst *burst", "uint32_t from"].map(String::from).to_vec();
        parameters.extend(self.lists().iter().map(|list| format!("uint64_t {}_to_drop", list.word())));
        let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
        let [function, blank] = noinline("void", "path_defer_drop", &parameters, body);
        [Item::Comment(about), function, blank]
    }

    fn drop_in_time(&self) -> Vec<Item> {
        let mut body = vec![memory(), Stmt::Blank, Stmt::set(name("memory->drop_age"), Expr::word(0))];
        for list in self.lists() {
            let some = Expr::binary("!=", list.count(), Expr::word(0));
            body.push(Stmt::when(some, vec![Stmt::call(list.dropping(), [name("worker"), list.count()])]));
        }
        let mut items = vec![Item::Comment("All that wait.".to_string())];
        items.extend(noinline("void", "path_drop_all", &["struct worker *worker"], body));
        let older = Expr::binary(">=", name("++memory->drop_age"), name("LANES_TIMEOUT"));
        let goes = Expr::binary("||", Expr::binary("==", name("came"), Expr::word(0)), older);
        let goes = Expr::call("__builtin_expect", [goes, name("0")]);
        let body = vec![memory(), Stmt::Blank, Stmt::when(goes, vec![Stmt::call("path_drop_all", [name("worker")])])];
        items.push(Item::Comment("The end of a burst of `came` packets.".to_string()));
        items.extend(inline("void", "path_drop_age", &["struct worker *worker", "uint32_t came"], body));
        items
    }

    /// In `path_commit`: the packets to be deferred. Returns the name of the set of other exits, and the set
    /// of deferred misses.
    pub(super) fn dropping(&self, code: &mut Vec<Stmt>) -> (&'static str, Expr) {
        let (mut left, mut missed) = ("exits", name("missed"));
        let lists = self.lists();
        for list in &lists {
            let Expr::Name(set) = list.set() else { unreachable!("a set has a name") };
            match list {
                Deferred::Exits => {
                    code.push(Stmt::declare("const uint64_t", set, name("path->drops")));
                    left = "others";
                    let others = Expr::binary("&", name("exits"), Expr::unary("~", list.set()));
                    code.push(Stmt::declare("const uint64_t", left, others));
                }
                Deferred::Missed => {
                    let ends = Expr::conditional(self.misses_are_dropped(), name("missed"), Expr::long(0));
                    code.push(Stmt::declare("const uint64_t", set, ends));
                    let misses =
                        name(format!("run->{}_misses", self.unit.table_name(self.table(self.plan.speculative[0]))));
                    code.push(Stmt::Assign(misses, "+=", popcount(list.set())));
                    code.push(Stmt::Assign(name("gone"), "|=", list.set()));
                    missed = Expr::binary("&", name("missed"), Expr::unary("~", list.set()));
                }
            }
        }
        if !lists.is_empty() {
            let group = ["run->worker", "&taken", "from"].map(name).into_iter();
            code.push(Stmt::call("path_defer_drop", group.chain(lists.iter().map(|list| list.set()))));
        }
        (left, missed)
    }

    /// Whether the default action is still the one that drops: the control plane may replace it.
    fn misses_are_dropped(&self) -> Expr {
        let place = self.plan.speculative[0];
        let table = self.table(place);
        let record = self.unit.record_of(table, self.records(place), Expr::word(0));
        let default = self.unit.program.tables[table].default.action;
        Expr::binary("==", Expr::call("record_action", [record]), Expr::word(default))
    }

    fn drop_left(&self, side_exits: &LanesExits) -> Vec<Stmt> {
        let kinds: Vec<_> = side_exits.kinds.iter().filter_map(|(mask, end)| Some((*mask, end.as_ref()?))).collect();
        let (mut body, open) = self.gone(Deferred::Exits, &side_exits.rows);
        let ports = Expr::call("lanes_ports", [name("&burst"), Expr::word(0)]);
        let results = kinds.iter().map(|(mask, _)| *mask);
        let mut writer =
            Writer::new(self, &side_exits.steps, &side_exits.rows, results, ports).calling(side_exits.names.clone());
        writer.code.push(Stmt::declare("uint32_t", "open", open.clone()));
        let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (index, (mask, end)) in kinds.into_iter().enumerate() {
            let title = format!("exits_{index}");
            let mask = writer.vector(mask);
            let who = Expr::binary("&", name("open"), Expr::call("lanes_movemask", [mask]));
            writer.code.push(Stmt::declare("const uint32_t", &title, who));
            writer.code.push(Stmt::Assign(name("open"), "&=", Expr::unary("~", name(&title))));
            writer.code.extend(end.counted.iter().map(|element| count(element, &title)));
            reasons.entry(end.reason.as_str()).or_default().push(title);
        }
        body.extend(writer.code);
        for (reason, sets) in reasons {
            let union = sets.iter().map(name).reduce(|all, set| Expr::binary("|", all, set)).expect("there is a set");
            body.push(self.count_drops(reason, union));
        }
        body.push(free(open));
        body
    }

    fn drop_missed(&self, missed: &BulkDrop) -> Vec<Stmt> {
        let (mut body, all) = self.gone(Deferred::Missed, &[]);
        body.push(Stmt::declare("const uint32_t", "all", all));
        body.extend(missed.counted.iter().map(|element| count(element, "all")));
        body.push(self.count_drops(&missed.reason, name("all")));
        body.push(free(name("all")));
        body
    }

    /// Loads the packets of a full list, and the set of their SIMD lanes.
    fn gone(&self, list: Deferred, rows: &[u32]) -> (Vec<Stmt>, Expr) {
        let mut body = vec![memory()];
        let burst = Expr::call("lanes_take_batch", [name(format!("&memory->{}", list.list())), name("count")]);
        body.push(Stmt::declare("const struct burst", "burst", burst));
        body.extend(declared(rows));
        let data = if self.unit.own() { "NULL" } else { "data" };
        if !self.unit.own() {
            body.push(Stmt::Declare { of: "void *".to_string(), name: "data[LANES]".to_string(), value: None });
        }
        body.push(Stmt::Blank);
        // They are long enough, since vector code has loaded them before.
        let packets = [Expr::word(0), Expr::word(0), name(data), name("&packets")];
        body.push(Stmt::call("lanes_take", std::iter::once(name("&burst")).chain(packets)));
        body.extend(loaded(rows));
        (body, Expr::call("lanes_first", [name("count")]))
    }

    fn count_drops(&self, reason: &str, set: Expr) -> Stmt {
        let element = Expr::index(name("worker->drops"), drop_reason(reason, self.unit.drop_number(reason)));
        Stmt::call("counter_increase", [Expr::unary("&", element), popcount(set)])
    }
}

fn memory() -> Stmt {
    Stmt::declare("struct memory *const", "memory", name("worker->memory"))
}

fn free(set: Expr) -> Stmt {
    Stmt::call("walk_free_some", [name("worker"), name("burst.packets"), name("LANES"), set])
}

/// Adds all packets of a set to a counter index.
fn count(element: &CounterIndex, set: &str) -> Stmt {
    let element = [Expr::word(number(element.counter) as u32), Expr::long(element.index)];
    let sums = [popcount(name(set)), Expr::call("lanes_sum", [name("packets.length"), name(set)])];
    Stmt::call("counter_add_some", std::iter::once(name("worker")).chain(element).chain(sums))
}
