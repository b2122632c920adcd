//! Pipelined groups: with software pipelining, a group is kept in the worker's memory between its prefetches
//! and its lookups, until the next group arrives. An empty burst flushes it.
//!
//! Kept are keys, and the record numbers found before them. Writers do not reuse records that a group may
//! hold, since they wait for as many bursts. A packet that missed before its key holds no record: its key is
//! valid only while the default action is the one that it was computed with.

use super::{HotPath, inline, name};
use crate::c::{Expr, Item, Member, Stmt, Struct};
use hlir::{NodeKind, TableId};
use std::collections::BTreeMap;

impl HotPath<'_> {
    /// A group between prefetch and lookup.
    pub(super) fn pipelined_items(&self) -> Vec<Item> {
        if !self.plan.is_pipelined() {
            return Vec::new();
        }
        let group = self.plan.group;
        let mut members = vec![
            Member::plain("struct path", "path", ""),
            Member::plain("struct burst", "burst", "its pointers are to the arrays below"),
            Member::plain("void *", format!("packets[{group}]"), ""),
            Member::plain("uint16_t", format!("lengths[{group}]"), ""),
            Member::plain("uint16_t", format!("ports[{group}]"), ""),
            Member::plain("uint64_t", "clock_ns", "when it came"),
            Member::plain("uint64_t", "number", "of its first packet"),
        ];
        members.retain(|member| {
            self.unit.own() || !matches!(member, Member::Plain { name, .. } if name.starts_with("lengths"))
        });
        vec![
            Item::Comment("A pipelined group of packets.".to_string()),
            Item::Struct(Struct { name: "pipelined_group".to_string(), members }),
            Item::Blank,
        ]
    }

    /// Members of the worker's memory.
    pub(super) fn pipelined_members(&self) -> Vec<Member> {
        if !self.plan.is_pipelined() {
            return Vec::new();
        }
        vec![
            Member::plain("struct pipelined_group", "pipelined[2]", "the newest group's and that of the one before"),
            Member::plain("uint32_t", "newest", "its lowest bit is that of the newest"),
        ]
    }

    /// The functions of pipelined groups.
    pub(super) fn advance_items(&self) -> Vec<Item> {
        let mut items = self.take().to_vec();
        items.extend(self.settle());
        items.extend(self.pass());
        items.extend(self.advance());
        items
    }

    /// Turns packets of a burst into a pipelined group.
    fn take(&self) -> [Item; 2] {
        let mut members = vec![
            Expr::designated("count", name("count")),
            Expr::designated("ports", name("pipelined->ports")),
            Expr::designated("packets", name("pipelined->packets")),
        ];
        let mut arrays = vec!["packets", "ports"];
        if self.unit.own() {
            members.push(Expr::designated("lengths", name("pipelined->lengths")));
            arrays.push("lengths");
        }
        let mut body = vec![Stmt::declare("const struct burst", "taken", Expr::List(members)), Stmt::Blank];
        let mut copies = Vec::new();
        for array in arrays {
            let bytes = Expr::binary("*", name("count"), name(format!("sizeof(pipelined->{array}[0])")));
            let from = Expr::binary("+", name(format!("burst->{array}")), name("from"));
            copies.push(Stmt::call("memcpy", [name(format!("pipelined->{array}")), from, bytes]));
        }
        // An empty burst may have no arrays.
        body.push(Stmt::when(Expr::binary("!=", name("count"), Expr::word(0)), copies));
        body.push(Stmt::set(name("pipelined->burst"), name("taken")));
        body.push(Stmt::set(name("pipelined->clock_ns"), name("run->clock_ns")));
        body.push(Stmt::set(
            name("pipelined->number"),
            Expr::binary("+", name("run->worker->packet_number"), name("from")),
        ));
        for table in self.fronts().keys() {
            let held = self.unit.table_name(*table);
            body.push(Stmt::set(name(format!("pipelined->path.{held}_miss")), self.miss(*table)));
        }
        body.push(Stmt::set(name("pipelined->path.exits"), Expr::word(0)));
        body.extend(self.none_dropped("pipelined->path.drops"));
        let parameters = [
            "const struct run *run",
            "struct pipelined_group *pipelined",
            "const struct burst *burst",
            "uint32_t from",
            "uint32_t count",
        ];
        inline("void", "pipelined_take", &parameters, body)
    }

    /// Tables looked up before the first cut, whose default action the keys may depend on and which may be
    /// replaced meanwhile; with their places.
    fn fronts(&self) -> BTreeMap<TableId, Vec<usize>> {
        let mut fronts: BTreeMap<TableId, Vec<usize>> = BTreeMap::new();
        let places = 0..self.plan.stages.first().map_or(0, |stage| stage.place);
        for place in places.filter(|_| self.plan.is_pipelined()) {
            let NodeKind::Apply { table, .. } = &self.unit.node(self.plan.nodes[place]).kind else { continue };
            if !self.unit.program.tables[*table].default_constant {
                fronts.entry(*table).or_default().push(place);
            }
        }
        fronts
    }

    /// Members of `struct path`.
    pub(super) fn front_members(&self) -> Vec<Member> {
        let member = |table: &TableId| {
            let miss = format!("{}_miss", self.unit.table_name(*table));
            Member::plain("uint32_t", miss, "number of its default action's record before the keys were made")
        };
        self.fronts().keys().map(member).collect()
    }

    /// The number of a table's current default record.
    fn miss(&self, table: TableId) -> Expr {
        let held = name(format!("&run->{}->table", self.unit.table_name(table)));
        Expr::call("table_record_number", [held, Expr::word(0)])
    }

    /// Runs when the lookups of a pipelined group are made, before its commit.
    fn settle(&self) -> Vec<Item> {
        let mut body = Vec::new();
        for (table, places) in self.fronts() {
            let known = name(format!("path->{}_miss", self.unit.table_name(table)));
            let is_other = Expr::call("__builtin_expect", [Expr::binary("!=", known, self.miss(table)), name("0")]);
            // A table without keys always runs its default action.
            let missed = |place: usize| match self.is_found(place) {
                true => self.missed_at(place),
                false => Expr::unary("~", Expr::long(0)),
            };
            let sets = places.into_iter().map(missed).reduce(|all, set| Expr::binary("|", all, set));
            let of_group = sets.map(|set| Expr::binary("&", set, Expr::call("walk_first", [name("count")])));
            let leave = of_group.map(|set| Stmt::Assign(name("path->exits"), "|=", set));
            body.push(Stmt::when(is_other, leave.into_iter().collect()));
        }
        if body.is_empty() {
            return Vec::new();
        }
        let parameters = ["const struct run *run", "uint32_t count", "struct path *path"];
        let about = "Packets that missed before a default action was replaced exit: their keys depend on the old one.";
        let mut items = vec![Item::Comment(about.to_string())];
        items.extend(inline("void", "path_settle", &parameters, body));
        items
    }

    /// The keys of the newest group, then lookups and commit of the group before.
    fn pass(&self) -> [Item; 3] {
        let mut body = vec![
            Stmt::declare("const uint64_t", "clock_ns", name("run->clock_ns")),
            Stmt::declare("const uint32_t", "from", Expr::word(0)),
            Stmt::Blank,
            Stmt::set(name("run->number"), name("newest->number")),
        ];
        body.extend(self.packet_requests("&newest->burst", "size"));
        let arguments = ["run", "&newest->burst", "from", "size", "&newest->path"].map(name);
        let stage = Stmt::call("path_stage_0_group", arguments);
        let look_up =
            Stmt::call("path_lookup_0_group", ["run", "count", "&older->path", "size", "&newest->path"].map(name));
        let requests = |path: &str| self.requests_with_work().then(|| Stmt::set(name("run->requested"), name(path)));
        body.extend(requests("&older->path"));
        body.extend([stage, look_up]);
        body.push(Stmt::set(name("run->clock_ns"), name("older->clock_ns")));
        body.push(Stmt::set(name("run->number"), name("older->number")));
        body.extend(requests("&newest->path"));
        if !self.fronts().is_empty() {
            body.push(Stmt::call("path_settle", ["run", "count", "&older->path"].map(name)));
        }
        body.extend(self.later("&older->burst", "from", "&older->path"));
        body.push(Stmt::set(name("run->clock_ns"), name("clock_ns")));
        body.push(Stmt::set(name("older->burst.count"), Expr::word(0)));
        let parameters = [
            "struct run *run",
            "struct pipelined_group *newest",
            "struct pipelined_group *older",
            "uint32_t size",
            "uint32_t count",
        ];
        let [function, blank] = inline("void", "path_pass", &parameters, body);
        let about =
            "The keys of the newest group, of `size` packets, then lookups and commit of the group before, of `count`.";
        [Item::Comment(about.to_string()), function, blank]
    }

    fn advance(&self) -> [Item; 2] {
        let pipelined = |shift: &str| name(format!("&run->memory->pipelined[{shift}]"));
        let body = vec![
            Stmt::declare("const uint32_t", "slot", name("run->memory->newest++ & 1")),
            Stmt::declare("struct pipelined_group *const", "newest", pipelined("slot")),
            Stmt::declare("struct pipelined_group *const", "older", pipelined("1 - slot")),
            Stmt::Blank,
            Stmt::call("pipelined_take", ["run", "newest", "burst", "from", "size"].map(name)),
            Stmt::call("path_pass", ["run", "newest", "older", "size", "older->burst.count"].map(name)),
        ];
        let parameters = ["struct run *run", "const struct burst *burst", "uint32_t from", "uint32_t size"];
        inline("void", "path_advance", &parameters, body)
    }
}
