//! The hot path: code that runs most packets in stages, for all packets of a group.
//!
//! What a stage computes is given by the path's schedule: conditions of side exits, and keys. Between two
//! stages are the lookups of all packets of the group. `path_finish` commits a packet with the records that were
//! found for it: by the effects of the schedule, or by the nodes of the plain program. A side exit runs the packet
//! from its beginning by `walk_on`, or by `walk` before all others.

mod addresses;
mod bulk_drop;
mod bulk_send;
mod commit;
mod effects;
mod ends;
mod next_path;
mod nodes;
mod pipelined_group;
mod queue;
mod renamed;
mod scalar;
mod scheduled;
mod stages;
mod vector;
mod vector_constants;

use crate::c::{Expr, Item, Member, Stmt, Struct};
use crate::node::Nodes;
use crate::storage::Words;
use crate::unit::Unit;
use hlir::hot_path;
use hlir::resolved::{ResolvedPath, ResolvedPlan};
use hlir::{NodeId, TableId};
use queue::Waiting;
use schedule::Lanes;
pub use scheduled::Scheduled;
use std::collections::{BTreeMap, BTreeSet};

fn name(text: impl Into<String>) -> Expr {
    Expr::Name(text.into())
}

fn each(variable: &str, to: Expr, body: Vec<Stmt>) -> Stmt {
    each_from(variable, Expr::word(0), to, body)
}

fn each_from(variable: &str, from: Expr, to: Expr, body: Vec<Stmt>) -> Stmt {
    Stmt::Count { name: variable.to_string(), from, to, step: Expr::word(1), body }
}

fn inline(of: &str, title: impl Into<String>, parameters: &[&str], body: Vec<Stmt>) -> [Item; 2] {
    let parameters = parameters.iter().map(|parameter| parameter.to_string()).collect();
    [Item::Function { of: format!("INLINE {of}"), name: title.into(), parameters, body }, Item::Blank]
}

/// A function that is not inlined.
fn noinline(of: &str, title: impl Into<String>, parameters: &[&str], body: Vec<Stmt>) -> [Item; 2] {
    let [mut function, blank] = inline(of, title, parameters, body);
    if let Item::Function { of: kind, .. } = &mut function {
        *kind = format!("static __attribute__((noinline)) {of}");
    }
    [function, blank]
}

/// The hot path of a plan, and the parts of its functions.
pub struct HotPath<'u> {
    unit: &'u Unit<'u>,
    plan: &'u ResolvedPath,
    /// By place: the action that all entries are expected to run.
    actions: BTreeMap<usize, usize>,
    /// In the order of the graph.
    queues: Vec<Waiting<'u>>,
    /// Packets per vector and the vector code of the first stage, if it has one.
    lanes: Option<(u32, Lanes)>,
    /// The functions of the commit phase.
    finish: Vec<Item>,
    /// Whether side exits and misses of a group that is sent at once may commit before the others.
    is_out_of_order: bool,
    scheduled: Scheduled,
    /// The paths of packets that leave this one, each for those that leave all before it.
    next: Vec<HotPath<'u>>,
}

impl<'u> HotPath<'u> {
    /// None for a plan without hot path or stages.
    pub fn new(unit: &'u Unit<'u>, nodes: &Nodes) -> Option<HotPath<'u>> {
        let plan = unit.plan.path.as_ref()?;
        plan.stages.last()?;
        // A plan whose stages cannot be scheduled was refused.
        let scheduled = Scheduled::of(unit, &unit.plan).ok()?;
        let mut hot_path = HotPath::of(unit, plan, scheduled);
        hot_path.queues = queue::queues(unit);
        hot_path.finish = match hot_path.scheduled.commit() {
            Some(commit) => hot_path.scheduled_commit(commit),
            None => hot_path.plain_commit(nodes),
        };
        hot_path.is_out_of_order = hot_path.sends_in_bulk() && hot_path.may_leave_first();
        let next = unit.plan.next_paths.iter().enumerate();
        hot_path.next =
            next.filter_map(|(number, path)| HotPath::next(unit, path, &unit.plan.of_next_path(number))).collect();
        Some(hot_path)
    }

    /// Without its commit phase.
    fn of(unit: &'u Unit<'u>, plan: &'u ResolvedPath, scheduled: Scheduled) -> HotPath<'u> {
        let action = |place: &usize| Some((*place, *plan.actions.get(place)?));
        let actions = plan.speculative.iter().filter_map(action).collect();
        let (finish, queues, next, lanes) = (Vec::new(), Vec::new(), Vec::new(), None);
        let mut hot_path =
            HotPath { unit, plan, actions, queues, lanes, finish, is_out_of_order: false, scheduled, next };
        hot_path.lanes = hot_path.in_lanes();
        hot_path
    }

    /// A next path, whose commit phase has a schedule.
    fn next(unit: &'u Unit<'u>, plan: &'u ResolvedPath, whole: &ResolvedPlan) -> Option<HotPath<'u>> {
        let mut hot_path = HotPath::of(unit, plan, Scheduled::of(unit, whole).ok()?);
        hot_path.finish = hot_path.scheduled_commit(hot_path.scheduled.commit()?);
        Some(hot_path)
    }

    fn table(&self, place: usize) -> TableId {
        hot_path::table_of(self.unit.program, self.plan.nodes[place]).expect("what is looked up ahead has a key")
    }

    fn at(&self, place: usize) -> Expr {
        name(self.unit.place_name(self.plan.nodes[place]))
    }

    fn title(&self, place: usize) -> &str {
        self.unit.node_name(self.plan.nodes[place])
    }

    fn is_found(&self, place: usize) -> bool {
        self.plan.speculative.contains(&place)
    }

    /// Whether a speculative lookup may have to be made again at commit.
    fn may_be_stale(&self, place: usize) -> bool {
        self.is_found(place) && hot_path::may_be_stale(self.unit.program, self.plan.nodes[place])
    }

    /// The record number that packet `i` found at a place.
    fn found_at(&self, place: usize) -> Expr {
        name(format!("path->{}_found[i]", self.title(place)))
    }

    /// The name in members of `struct path` for the lookup of a place: its table, or the node where the path
    /// looks up the table several times.
    fn look_up_name(&self, place: usize) -> &str {
        let table = hot_path::table_of(self.unit.program, self.plan.nodes[place]);
        let places = self.plan.nodes.iter().filter(|node| hot_path::table_of(self.unit.program, **node) == table);
        let of_its_own = self.unit.names.look_ups[crate::unit::number(self.plan.nodes[place])].as_deref();
        of_its_own.filter(|_| places.count() > 1).unwrap_or_else(|| self.unit.table_name(self.table(place)))
    }

    /// The data of the stages' functions.
    pub fn storage_items(&self) -> Vec<Item> {
        let mut items: Vec<Item> = self.struct_path().into();
        items.extend(self.pipelined_items());
        items.extend(self.queue_storage());
        items.extend(self.next_storage());
        items
    }

    /// Members of the worker's memory.
    pub fn members(&self) -> Vec<Member> {
        let mut members = self.pipelined_members();
        members.extend(self.queue_members());
        members.extend(self.dropped_members());
        members
    }

    /// Packets that may be kept from one burst to the next.
    pub fn held(&self) -> u32 {
        let pipelined = if self.plan.is_pipelined() { 2 * self.plan.group } else { 0 };
        pipelined + self.queue_capacity()
    }

    /// Ends of bursts that a packet may be kept over with what it has found in tables: a pipelined group waits for the next one. Queued packets hold
    /// no record numbers, but places of value joins, and may wait in one queue behind the other.
    pub fn held_bursts(&self) -> u32 {
        let has_places = self.unit.program.joins.iter().any(|join| join.place.is_some());
        let timeouts = self.queues.iter().map(|queue| queue.plan.timeout).filter(|_| has_places);
        timeouts.fold(u32::from(self.plan.is_pipelined()), u32::saturating_add)
    }

    pub fn items(&self, nodes: &Nodes, entry: NodeId, used: &Words) -> Vec<Item> {
        let mut items = Vec::new();
        items.extend(self.scheduled_items());
        items.extend(self.begin());
        if self.begins_again() {
            items.extend(self.begin_again());
        }
        items.extend(self.queue_items(nodes, used));
        items.extend(self.leave_items(nodes, entry));
        items.extend(self.finish.clone());
        items.extend(self.next_items());
        items.extend(self.stage_items());
        items
    }

    /// What the stages of a group hand on.
    fn struct_path(&self) -> [Item; 3] {
        let group = self.plan.group;
        let mut members = Vec::new();
        for lookup in self.plan.stages.iter().flat_map(|stage| &stage.lookups) {
            let table = self.look_up_name(lookup.place);
            let limbs = crate::body::limbs(self.unit.key_bits(lookup.table));
            members.push(Member::plain("uint64_t", format!("{table}_key[{group}][{limbs}]"), ""));
            if self.keeps_hash(lookup) {
                members.push(Member::plain("uint64_t", format!("{table}_hash[{group}]"), ""));
            }
            if let Some(structure) = self.lines(lookup) {
                members.push(Member::plain(format!("struct {structure}_lines"), format!("{table}_lines"), ""));
            }
            if self.requested(lookup).is_some() {
                members.push(Member::plain("const void *", format!("{table}_address[{group}]"), ""));
            }
            if self.was_empty(lookup.place).is_some() {
                members.push(Member::plain("uint32_t", format!("{table}_empty"), "when the keys were due"));
            }
        }
        for place in &self.plan.speculative {
            members.push(Member::plain(
                "uint32_t",
                format!("{}_found[{group}]", self.title(*place)),
                "numbers of records",
            ));
        }
        members.extend(self.scheduled_members());
        if self.unit.tracks_insertions() {
            members.push(Member::plain("uint32_t", "insertions", "by this worker, before the lookups"));
        }
        if !self.unit.own() {
            members.push(Member::plain("void *", format!("data[{group}]"), "the packets' first bytes"));
        }
        members.extend(self.front_members());
        members.push(Member::plain("uint64_t", "exits", "packets that took a side exit, one bit each"));
        if self.tells_drops() {
            members.push(Member::plain("uint64_t", "drops", "of these, the bulk drops"));
        }
        [
            Item::Comment("The state of a group of packets between the stages.".to_string()),
            Item::Struct(Struct { name: "path".to_string(), members }),
            Item::Blank,
        ]
    }

    /// The hash of a `key`, and the record number that the key finds with it as `hash`.
    fn looked_up(&self, table: TableId) -> (Expr, Expr) {
        let structure = self.unit.lookup_prefix(table);
        let limbs = crate::body::limbs(self.unit.key_bits(table));
        let held = || name(format!("run->{}", self.unit.table_name(table)));
        let hash = Expr::call(format!("{structure}_hash"), [held(), name("key"), Expr::word(limbs)]);
        let address = Expr::call(format!("{structure}_address"), [held(), name("hash")]);
        let found = [held(), address, name("hash"), name("key"), self.unit.key_size(table)];
        (hash, self.unit.own_part(table, Expr::call(format!("{structure}_find"), found)))
    }

    /// The records of a place in the speculative phase. Those of a stage's lookups are loaded before the next
    /// stage.
    fn records_ahead(&self, place: usize) -> Expr {
        match self.plan.stage_of(place).is_some() {
            true => self.records(place),
            false => self.unit.records(self.table(place)),
        }
    }

    /// The same in the commit phase: loaded once per group, after its last lookup.
    fn records(&self, place: usize) -> Expr {
        match self.is_found(place) {
            true => name(format!("run->{}_records", self.unit.table_name(self.table(place)))),
            false => self.unit.records(self.table(place)),
        }
    }

    /// Tables looked up before a stage, each once; for the commit phase (the number after the last stage),
    /// all speculative ones.
    fn found_before(&self, number: usize) -> Vec<TableId> {
        let staged = self.plan.stages.iter().take(number).flat_map(|stage| &stage.lookups);
        let is_commit = number == self.plan.stages.len();
        let places: Vec<usize> =
            if is_commit { self.plan.speculative.clone() } else { staged.map(|lookup| lookup.place).collect() };
        let mut tables = Vec::new();
        for table in places.into_iter().map(|place| self.table(place)) {
            if !tables.contains(&table) {
                tables.push(table);
            }
        }
        tables
    }

    /// Members of `struct run`.
    pub fn run_members(&self) -> Vec<Member> {
        let records = |table: TableId| {
            let held = self.unit.table_name(table);
            Member::plain("const uint8_t *", format!("{held}_records"), "as they are when a stage begins")
        };
        let of = |path: &HotPath| path.found_before(path.plan.stages.len());
        let tables: BTreeSet<TableId> = std::iter::once(self).chain(&self.next).flat_map(of).collect();
        let mut members: Vec<Member> = tables.into_iter().map(records).collect();
        members.push(Member::plain("uint64_t", "number", "of the burst's first packet"));
        if self.unit.tracks_insertions() {
            members.push(Member::plain("uint32_t", "insertions", "by this worker, in this burst"));
        }
        if self.requests_with_work() {
            members.push(Member::plain("const struct path *", "requested", "the group that is prefetched"));
        }
        members
    }
}
