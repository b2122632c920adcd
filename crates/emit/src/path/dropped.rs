//! Packets that leave the path's front to be counted and dropped: as a set, so that nobody has to guess who of them leaves where.
//!
//! They are put side by side and go through the front once more, in lanes. Each kind's counters get how many it has and their bytes, all are freed together,
//! and only those of whom more is to be done are run. Where the path has one look-up, and misses are dropped by the program's default action, they go along.

use super::lanes::{Writer, declared, loaded};
use super::{Way, apart, inline, name};
use crate::body::drop_reason;
use crate::c::{Expr, Item, Stmt};
use crate::unit::number;
use hlir::lanes::{Cell, Dropped, Leavers};
use std::collections::BTreeMap;

impl Way<'_> {
    /// Who leaves the front, where that is run in lanes and some are only dropped.
    pub(super) fn leavers_in_lanes(&self) -> Option<Leavers> {
        self.lanes.as_ref()?;
        let first = self.stages.first()?;
        let leavers = Leavers::of(self.unit.program, &self.nodes, first)?;
        let is_only = self.found == [first.place];
        let leavers = Leavers { missed: leavers.missed.filter(|_| is_only), ..leavers };
        let drops = leavers.missed.is_some() || leavers.kinds.iter().any(|kind| kind.end.is_some());
        drops.then_some(leavers)
    }

    /// `path_dropped`.
    pub(super) fn dropped_items(&self, leavers: &Leavers) -> Vec<Item> {
        let misses = leavers.missed.is_some();
        let about = match misses {
            false => "Who leaves the front only to be counted and dropped, of LANES packets that are taken from `rest`",
            true => {
                "Who is only counted and dropped, of LANES packets that have left the front or missed and are taken from `rest`"
            }
        };
        let mut items = vec![Item::Comment(format!("{about}: these are done. None, if one is too short."))];
        let mut parameters =
            vec!["struct worker *worker", "const struct burst *burst", "uint32_t from", "uint64_t *rest"];
        parameters.extend(misses.then_some("uint64_t missed"));
        items.extend(inline("uint64_t", "path_dropped_lanes", &parameters, self.of_lanes(leavers)));
        items.push(Item::Comment("The same of a set of any size.".to_string()));
        parameters[3] = "uint64_t set";
        items.extend(apart("uint64_t", "path_dropped", &parameters, of_set(misses)));
        items
    }

    /// Whether the default action is the one that misses are dropped by, which a controller may replace.
    pub(super) fn misses_are_dropped(&self) -> Expr {
        let place = self.found[0];
        let table = self.table(place);
        let record = self.unit.record_of(table, self.records(place), Expr::word(0));
        let default = self.unit.program.tables[table].default.action;
        Expr::binary("==", Expr::call("record_action", [record]), Expr::word(default))
    }

    fn of_lanes(&self, leavers: &Leavers) -> Vec<Stmt> {
        let mut body = declared(&leavers.rows);
        body.push(Stmt::Declare { of: "struct lanes_some".to_string(), name: "some".to_string(), value: None });
        body.push(Stmt::Blank);
        let from = ["burst", "from", "rest"].map(name);
        let into = [Expr::word(leavers.bytes), name("&some"), name("&packets")];
        let taken = Expr::call("lanes_take_some", from.into_iter().chain(into));
        body.extend(loaded(taken, &leavers.rows, Expr::word(0)));
        let taken = Expr::cast("uint32_t", Expr::call("__builtin_popcountll", [name("some.set")]));
        body.push(Stmt::declare("uint32_t", "open", Expr::call("lanes_first", [taken])));
        let results = leavers.kinds.iter().map(|kind| kind.mask);
        let mut writer = Writer::new(self, &leavers.steps, &leavers.rows, results, name("some.port"));
        let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (index, kind) in leavers.kinds.iter().enumerate() {
            let title = format!("leavers_{index}");
            let mask = writer.vector(kind.mask);
            let who = Expr::binary("&", name("open"), Expr::call("lanes_bits", [mask]));
            writer.code.push(Stmt::declare("const uint32_t", &title, who));
            writer.code.push(Stmt::Assign(name("open"), "&=", Expr::unary("~", name(&title))));
            if let Some(Dropped { counted, reason }) = &kind.end {
                writer.code.extend(counted.iter().map(|cell| count(cell, &title)));
                reasons.entry(reason.as_str()).or_default().push(title);
            }
        }
        body.extend(writer.code);
        if let Some(Dropped { counted, reason }) = &leavers.missed {
            let gathered = Expr::call("walk_gather", [name("missed"), name("some.set")]);
            let who = Expr::binary("&", name("open"), Expr::cast("uint32_t", gathered));
            body.push(Stmt::declare("const uint32_t", "misses", who));
            body.extend(counted.iter().map(|cell| count(cell, "misses")));
            reasons.entry(reason.as_str()).or_default().push("misses".to_string());
        }
        let union = |sets: &[String]| {
            sets.iter().map(name).reduce(|all, set| Expr::binary("|", all, set)).expect("a reason is somebody's")
        };
        let all: Vec<String> = reasons.values().flatten().cloned().collect();
        for (reason, sets) in reasons {
            let cell = Expr::index(name("worker->drops"), drop_reason(reason, self.unit.drop_number(reason)));
            body.push(Stmt::call("counter_increase", [Expr::unary("&", cell), popcount(union(&sets))]));
        }
        body.push(Stmt::declare("const uint32_t", "dropped", union(&all)));
        body.push(Stmt::call("walk_free_some", ["worker", "some.packets", "LANES", "dropped"].map(name)));
        body.push(Stmt::result(Expr::call("walk_spread", [name("dropped"), name("some.set")])));
        body
    }
}

fn popcount(set: Expr) -> Expr {
    Expr::cast("uint32_t", Expr::call("__builtin_popcount", [set]))
}

/// Adds all packets of a set to a cell.
fn count(cell: &Cell, set: &str) -> Stmt {
    let cell = [Expr::word(number(cell.counter) as u32), Expr::long(cell.index)];
    let sums = [popcount(name(set)), Expr::call("lanes_sum", [name("packets.length"), name(set)])];
    Stmt::call("counter_add_some", std::iter::once(name("worker")).chain(cell).chain(sums))
}

fn of_set(misses: bool) -> Vec<Stmt> {
    let missed = misses.then(|| name("missed"));
    let lanes =
        Expr::call("path_dropped_lanes", ["worker", "burst", "from", "&rest"].map(name).into_iter().chain(missed));
    vec![
        Stmt::declare("uint64_t", "rest", name("set")),
        Stmt::declare("uint64_t", "dropped", Expr::long(0)),
        Stmt::Blank,
        Stmt::While(Expr::binary("!=", name("rest"), Expr::word(0)), vec![Stmt::Assign(name("dropped"), "|=", lanes)]),
        Stmt::result(name("dropped")),
    ]
}
