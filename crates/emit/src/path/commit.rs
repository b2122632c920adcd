//! The commit phase: side effects of packets in order of arrival, and side exits.

use super::bulk_send::{room, send_gathered};
use super::stages::{STAGE, packet_begin};
use super::{HotPath, each, inline, name, noinline};
use crate::c::{Expr, Item, Stmt};
use crate::control_flow::Region;
use crate::node::Nodes;
use crate::run::{run_copy, run_taken};
use hlir::NodeId;
use hlir::plan::Placement;
use std::collections::BTreeSet;

const LEAVING: [&str; 3] = ["struct run *run", "struct state *state", "enum node at"];

impl HotPath<'_> {
    /// A side exit from the commit phase.
    pub fn leave_items(&self, nodes: &Nodes, entry: NodeId) -> Vec<Item> {
        let mut items = self.walk_on(nodes, entry);
        items.extend(self.leave());
        items
    }

    /// The plain program from any node on, not inlined since it is rare.
    fn walk_on(&self, nodes: &Nodes, entry: NodeId) -> Vec<Item> {
        let unit = self.unit;
        let mut starts: BTreeSet<usize> = BTreeSet::new();
        let taken = if self.commits_by_nodes() { self.end() + 1 } else { 0 };
        for node in self.plan.nodes.iter().take(taken) {
            let written = &nodes.written[unit.position(*node)];
            starts.extend(written.outcomes.iter().map(|to| unit.position(*to)));
        }
        let repeated = self.plan.speculative.iter().filter(|place| self.may_be_stale(**place));
        starts.extend(repeated.map(|place| unit.position(self.plan.nodes[*place])));
        let mut starts: Vec<NodeId> = starts.into_iter().map(|index| unit.facts.order[index]).collect();
        starts.retain(|start| *start != entry);
        if !self.queues.is_empty() {
            return self.walk_to_queue(nodes, entry, starts);
        }
        let region = Region { nodes: (0..nodes.written.len()).collect(), starts, heads: &[] };
        let body = region.body(unit, &nodes.written);
        let [function, blank] = noinline("void", "walk_on", &LEAVING, body);
        vec![Item::Comment("The plain program for a side exit.".to_string()), function, blank]
    }

    /// The same where packets may reach a queue: the plain program up to it.
    fn walk_to_queue(&self, nodes: &Nodes, entry: NodeId, starts: Vec<NodeId>) -> Vec<Item> {
        let heads = self.heads();
        let from = std::iter::once(entry).chain(starts.iter().copied());
        let region = Region { nodes: self.reached(nodes, from), starts, heads: &heads };
        let body = region.body(self.unit, &nodes.written);
        let about = "The plain program for a side exit, up to where the packet ends or waits.";
        let mut items = vec![Item::Comment(about.to_string())];
        items.extend(inline("enum node", "walk_to_queue", &LEAVING, body));
        let walk = Expr::call("walk_to_queue", ["run", "state", "at"].map(name));
        let body = vec![Stmt::call("queue_wait", [name("run"), name("state"), walk])];
        items.extend(noinline("void", "walk_on", &LEAVING, body));
        items
    }

    /// Takes a side exit. `walk_on` works on copies, so that the originals can stay in registers.
    fn leave(&self) -> [Item; 2] {
        let [copy, blank, filled] = run_taken("copy", "run");
        let body = vec![
            copy,
            Stmt::declare("struct state", "whole", name("*state")),
            blank,
            filled,
            Stmt::call("walk_on", ["&copy", "&whole", "at"].map(name)),
            run_copy("run", "&copy"),
        ];
        inline("void", "path_exit", &LEAVING, body)
    }

    /// The last stage.
    pub fn turn(&self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut about = "The commit phase, packet by packet.";
        let code = match self.is_out_of_order {
            true => {
                items.extend(self.dropped_items());
                items.extend(self.side_exits());
                items.extend(self.commit_some());
                about = "The commit phase: side exits, misses, then hits.";
                self.commit_out_of_order()
            }
            false => self.commit_in_order(),
        };
        items.push(Item::Comment(about.to_string()));
        items.extend(inline("void", "path_commit", &STAGE, code));
        items
    }

    /// Whether a group may commit out of order, with side exits first: no packet can observe it, and none of
    /// the others exits during commit, which would send it alone.
    pub(super) fn may_leave_first(&self) -> bool {
        let program = self.unit.program;
        let unordered = self.unit.facts.order.iter().all(|node| hlir::effects::is_unordered(program, *node));
        unordered && !self.scheduled.may_exit()
    }

    fn commit_in_order(&self) -> Vec<Stmt> {
        let entry = name(self.unit.place_name(self.plan.nodes[0]));
        let has_left = Expr::binary("&", Expr::binary(">>", name("exits"), name("i")), name("1"));
        let on = Expr::binary("-", name("count"), popcount(name("exits")));
        if !self.commits_by_nodes() {
            let mut code = self.gathering(Expr::long(0), true);
            code.extend([Stmt::Blank, room(&name("count"))]);
            let known = self.known_names().map(|known| Stmt::declare("const bool", known, name("false")));
            code.splice(0..0, known);
            let then = self.paid(Placement::WithCommit).into_iter().chain(self.leave_between()).collect();
            code.push(each("i", name("count"), vec![Stmt::If { condition: has_left, then, otherwise: self.gather() }]));
            code.push(self.rest_sent(&name("count")));
            code.extend(self.count_look_ups(&on));
            return code;
        }
        let mut body = self.paid(Placement::WithCommit);
        body.extend(self.packet_again());
        body.push(Stmt::If {
            condition: has_left,
            then: vec![Stmt::call("path_exit", [name("run"), name("&state"), entry])],
            otherwise: vec![Stmt::call("path_finish", ["run", "&state", "path", "i"].map(name))],
        });
        std::iter::once(each("i", name("count"), body)).chain(self.count_look_ups(&on)).collect()
    }

    /// Commits a group that is sent at once. Side exits run first, since no packet can observe it, and are
    /// sent at their position. They work on copies, so that `run` and the burst's pointers stay in registers.
    /// Misses follow, then hits.
    fn commit_out_of_order(&self) -> Vec<Stmt> {
        let some = |set: Expr, hits: bool, expected: bool| {
            let [ports, others] = [name("ports"), set];
            let arguments = ["run", "burst", "from", "path"].map(name).into_iter().chain([others, ports]);
            let turns = Expr::call("path_commit_some", arguments.chain(self.known(hits, expected)));
            Stmt::Assign(name("gone"), "|=", turns)
        };
        let staying = Expr::binary("&", Expr::unary("~", name("exits")), Expr::call("walk_first", [name("count")]));
        let missed = Expr::binary("&", name("staying"), Expr::call("path_missed", [name("path")]));
        let mut code = vec![
            Stmt::declare("const uint64_t", "staying", staying),
            Stmt::declare("const uint64_t", "missed", missed),
            Stmt::declare("uint64_t", "sent", Expr::long(0)),
            Stmt::declare("const struct burst", "taken", name("*burst")),
            Stmt::Declare { of: "struct run".to_string(), name: "copy".to_string(), value: None },
        ];
        code.extend(self.gathering(name("exits"), false));
        let clear = Stmt::call("memset", ["ports", "0", "sizeof(ports)"].map(name));
        code.extend([Stmt::Blank, room(&name("count")), clear]);
        let (left, missed) = self.dropping(&mut code);
        code.extend(self.prefetch_out_of_order());
        code.push(self.leave_first(left));
        code.push(some(missed, false, false));
        let hit = || Expr::binary("&", name("staying"), Expr::unary("~", name("missed")));
        code.extend(self.as_expected("run", |expected| some(hit(), true, expected)));
        code.push(send_gathered(&name("count"), name("sent"), self.no_port()));
        code.extend(self.count_look_ups(&popcount(name("staying"))));
        code
    }

    /// Prefetches interleaved with commit, for packets of this group without a commit of their own: side
    /// exits and deferred drops. Other misses commit.
    fn prefetch_out_of_order(&self) -> Vec<Stmt> {
        let mut body = vec![
            Stmt::declare("const uint32_t", "i", Expr::cast("uint32_t", Expr::call("__builtin_ctzll", [name("rest")]))),
            Stmt::Blank,
        ];
        body.extend(self.paid(Placement::WithCommit));
        if body.len() == 2 {
            return Vec::new();
        }
        body.push(Stmt::Assign(name("rest"), "&=", Expr::binary("-", name("rest"), Expr::word(1))));
        let apart = self.missed_to_drop().into_iter().fold(name("exits"), |all, set| Expr::binary("|", all, set));
        let rest = Stmt::declare("uint64_t", "rest", apart);
        vec![rest, Stmt::While(Expr::binary("!=", name("rest"), Expr::word(0)), body)]
    }

    /// The side exits of a group, except deferred drops.
    fn leave_first(&self, left: &str) -> Stmt {
        let mut run = vec![run_copy("&copy", "run")];
        let left_all = self.take_next(left, &mut run);
        let leave = [name("&copy"), name("&taken"), name("from"), left_all, name("&sent")];
        run.extend([Stmt::call("path_side_exits", leave), run_copy("run", "&copy")]);
        Stmt::when(Expr::binary("!=", name(left), Expr::word(0)), run)
    }

    /// Runs the side exits of a group, each from the beginning. None makes copies of packets. They are few,
    /// so `run` stays in memory: copying it would cost as much as one of them.
    fn side_exits(&self) -> Vec<Item> {
        let first = Expr::cast("uint32_t", Expr::call("__builtin_ctzll", [name("rest")]));
        let mut body = vec![
            Stmt::declare("const uint32_t", "i", first),
            Stmt::declare("const uint32_t", "before", name("run->out.count")),
        ];
        body.extend(packet_begin());
        let mut walk = vec![name("run"), name("&state")];
        walk.extend(self.unit.walk_from(self.plan.nodes[0]));
        let more = Expr::cast("uint64_t", Expr::binary("-", name("run->out.count"), name("before")));
        body.extend([
            Stmt::call("walk", walk),
            Stmt::Assign(name("*sent"), "|=", Expr::binary("<<", more, name("i"))),
            Stmt::Assign(name("rest"), "&=", Expr::binary("-", name("rest"), Expr::word(1))),
        ]);
        let code = vec![
            Stmt::declare("uint64_t", "rest", name("exits")),
            Stmt::Blank,
            Stmt::While(Expr::binary("!=", name("rest"), Expr::word(0)), body),
        ];
        let parameters =
            ["struct run *run", "const struct burst *burst", "uint32_t from", "uint64_t exits", "uint64_t *sent"];
        let about = "The side exits of a group, each from its beginning. Returns which of them are sent.";
        let mut items = vec![Item::Comment(about.to_string())];
        items.extend(noinline("void", "path_side_exits", &parameters, code));
        items
    }

    /// Position of the last speculative lookup.
    pub fn end(&self) -> usize {
        self.plan.speculative.last().copied().unwrap_or(0)
    }

    /// Counts the lookups of all packets on the path at once, since most make all of them. Side exits
    /// subtract those that they do not make.
    pub fn count_look_ups(&self, packets: &Expr) -> impl Iterator<Item = Stmt> {
        self.plan.speculative.iter().map(move |place| self.unit.count_look_ups(self.table(*place), packets.clone()))
    }
}

/// Lets the C compiler assume that this never holds.
pub(super) fn never(condition: Expr) -> Stmt {
    Stmt::when(condition, vec![Stmt::call("__builtin_unreachable", [])])
}

/// The number of packets in a set.
pub(super) fn popcount(set: Expr) -> Expr {
    Expr::cast("uint32_t", Expr::call("__builtin_popcountll", [set]))
}
