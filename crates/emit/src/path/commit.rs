//! The commit phase: side effects of packets in order of arrival, and side exits.

use super::bulk_send::{Sender, room, send_gathered, tell_port};
use super::stages::{STAGE, packet_begin};
use super::{HotPath, each, inline, name, noinline};
use crate::c::{Expr, Item, Stmt};
use crate::control_flow::Region;
use crate::node::{AheadOf, Nodes};
use crate::run::{run_copy, run_taken};
use crate::storage::{Words, words};
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
        let taken = if self.scheduled.is_some() { 0 } else { self.end() + 1 };
        for node in self.plan.nodes.iter().take(taken) {
            let written = &nodes.written[unit.position(*node)];
            starts.extend(written.outcomes.iter().map(|to| unit.position(*to)));
        }
        let repeated = self.plan.speculative.iter().filter(|place| self.may_be_stale(**place));
        starts.extend(repeated.map(|place| unit.position(self.plan.nodes[*place])));
        if self.scheduled.is_none() {
            starts.extend(self.guards(&(0..nodes.written.len()).collect::<Vec<usize>>()).keys());
        }
        let mut starts: Vec<NodeId> = starts.into_iter().map(|index| unit.facts.order[index]).collect();
        starts.retain(|start| *start != entry);
        if !self.queues.is_empty() {
            return self.walk_to_queue(nodes, entry, starts);
        }
        let region = Region { nodes: (0..nodes.written.len()).collect(), starts, heads: &[] };
        let mut body = region.body(unit, &nodes.written);
        if !body.iter().any(|statement| statement.mentions("at")) {
            body.insert(0, Stmt::Do(Expr::cast("void", name("at"))));
        }
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
        let code = match self.senders.first().filter(|_| self.is_out_of_order) {
            Some(sender) => {
                items.extend(self.dropped_items());
                items.extend(self.side_exits());
                items.extend(self.commit_some());
                about = "The commit phase: side exits, misses, then hits.";
                self.commit_out_of_order(sender)
            }
            None => self.turn_in_order(),
        };
        items.push(Item::Comment(about.to_string()));
        items.extend(inline("void", "path_commit", &STAGE, code));
        items
    }

    /// Whether a group may commit out of order, with side exits first: no packet can observe it, and none of
    /// the others exits during commit, which would send it alone.
    pub(super) fn may_leave_first(&self) -> bool {
        let program = self.unit.program;
        let mut used = Words::new();
        words(&self.finish, &mut used);
        let unordered = self.unit.facts.order.iter().all(|node| hlir::effects::is_unordered(program, *node));
        if let Some(scheduled) = &self.scheduled {
            return unordered && !scheduled.may_exit();
        }
        unordered && !used.contains("path_exit")
    }

    fn turn_in_order(&self) -> Vec<Stmt> {
        let entry = name(self.unit.place_name(self.plan.nodes[0]));
        let mut body = self.paid(Placement::WithCommit);
        let mut exit = Vec::new();
        if self.scheduled.is_some() {
            exit.extend(packet_begin());
            exit.push(state_enter());
        } else {
            body.extend(self.packet_again());
            body.push(state_enter());
        }
        exit.push(Stmt::call("path_exit", [name("run"), name("&state"), entry]));
        body.push(Stmt::If {
            condition: Expr::binary("&", Expr::binary(">>", name("exits"), name("i")), name("1")),
            then: exit,
            otherwise: self.finish_alone(),
        });
        let on = Expr::binary("-", name("count"), popcount(name("exits")));
        std::iter::once(each("i", name("count"), body)).chain(self.count_look_ups(&on)).collect()
    }

    /// `path_finish` for one packet, which is sent at once.
    fn finish_alone(&self) -> Vec<Stmt> {
        let arguments = ["run", "&state", "path", "i"].map(name);
        let Some(sender) = self.senders.first() else { return vec![Stmt::call("path_finish", arguments)] };
        let known = self.known(false, false);
        let (sends, packet) = match self.scheduled.is_some() {
            true => {
                let arguments = ["run", "burst", "from", "i", "path", "&port"].map(name);
                (Expr::call("path_finish", arguments.into_iter().chain(known)), "packet_take(burst, from + i)")
            }
            false => {
                let arguments = arguments.into_iter().chain([name("&port")]);
                (Expr::call("path_finish", arguments.chain(known)), "state.packet")
            }
        };
        let send = ["run->worker", "&run->out", packet, "port"].map(name);
        vec![
            Stmt::declare("uint16_t", "port", Expr::word(0)),
            Stmt::Blank,
            Stmt::when(sends, vec![Stmt::call("walk_send", send.into_iter().chain([sender.reason.clone()]))]),
        ]
    }

    /// Commits a group that is sent at once. Side exits run first, since no packet can observe it, and are
    /// sent at their position. They work on copies, so that `run` and the burst's pointers stay in registers.
    /// Misses follow, then hits.
    fn commit_out_of_order(&self, sender: &Sender) -> Vec<Stmt> {
        let some = |set: Expr, hits: bool, usual: bool| {
            let [ports, others] = [name("ports"), set];
            let arguments = ["run", "burst", "from", "path"].map(name).into_iter().chain([others, ports]);
            let turns = Expr::call("path_commit_some", arguments.chain(self.known(hits, usual)));
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
        code.extend(self.gathering(name("exits")));
        let clear = Stmt::call("memset", ["ports", "0", "sizeof(ports)"].map(name));
        code.extend([Stmt::Blank, room(&name("count")), clear]);
        let (left, missed) = self.dropping(&mut code);
        code.extend(self.prefetch_out_of_order());
        code.push(self.leave_first(left));
        code.push(some(missed, false, false));
        let hit = || Expr::binary("&", name("staying"), Expr::unary("~", name("missed")));
        code.extend(self.as_usual("run", |usual| some(hit(), true, usual)));
        code.push(send_gathered(&name("count"), name("sent"), sender));
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
        let leave = Stmt::call("path_side_exits", ["&copy", "&taken", "from", left, "&sent"].map(name));
        let run = vec![run_copy("&copy", "run"), leave, run_copy("run", "&copy")];
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
        body.push(state_enter());
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

    /// Continues at the path's next node only; elsewhere it is a side exit.
    fn follow(&self, call: Expr, place: usize, ends: bool, next: NodeId) -> [Stmt; 2] {
        let behind = self.plan.speculative.iter().filter(|found| **found > place);
        let mut leave: Vec<Stmt> = behind.map(|place| self.unit.take_back_look_up(self.table(*place))).collect();
        let go_on = Stmt::call("path_exit", ["run", "state", "at"].map(name));
        leave.push(match ends {
            true => Stmt::when(Expr::binary("!=", name("at"), name("ENDED")), vec![go_on]),
            false => go_on,
        });
        leave.push(Stmt::Return(None));
        let left = Expr::binary("!=", name("at"), name(self.unit.place_name(next)));
        let unlikely = Expr::call("__builtin_expect", [left, name("0")]);
        [Stmt::set(name("at"), call), Stmt::when(unlikely, leave)]
    }

    /// The packet makes this lookup, and what follows, by itself if what it found may be out of date.
    fn look_up_again(&self, place: usize) -> [Stmt; 1] {
        let behind = self.plan.speculative.iter().filter(|found| **found >= place);
        let mut leave: Vec<Stmt> = behind.map(|place| self.unit.take_back_look_up(self.table(*place))).collect();
        leave.push(Stmt::call("path_exit", [name("run"), name("state"), self.at(place)]));
        leave.push(Stmt::Return(None));
        let missed = Expr::binary("==", self.found_at(place), Expr::word(0));
        let inserted = Expr::binary("!=", name("run->insertions"), name("path->insertions"));
        let mut stale = Expr::binary("||", missed, inserted);
        if !self.senders.is_empty() {
            stale = Expr::binary("&&", Expr::unary("!", name("hits")), stale);
        }
        let stale = Expr::call("__builtin_expect", [stale, name("0")]);
        [Stmt::when(stale, leave)]
    }

    /// What was speculated at a place, if the packet repeats it at commit: no part of it is deferred, and it
    /// is neither a lookup nor after one.
    pub fn repeated(&self, place: usize) -> Option<&AheadOf> {
        let ahead = self.ahead.get(place).filter(|ahead| !ahead.waits);
        ahead.filter(|_| !(0..=place).any(|before| self.applies(before)))
    }

    /// Commits a packet: the path with the records that were found, then the rest of the graph.
    pub(super) fn finishing(&self, nodes: &Nodes) -> Vec<Item> {
        let unit = self.unit;
        let (mut body, mut settled) = (Vec::new(), Vec::new());
        let mut on = None;
        for place in 0..=self.end() {
            let written = &nodes.written[unit.position(self.plan.nodes[place])];
            let next = self.plan.nodes.get(place + 1).copied().or_else(|| written.outcomes.first().copied());
            // The packet has been here in the speculative phase: an edge off the path would have been a side
            // exit then, and nothing has changed since.
            if let Some(ahead) = self.repeated(place) {
                if !ahead.answers {
                    body.push(Stmt::Do(self.call_ahead(place, "true")));
                } else {
                    let elsewhere = Expr::binary("!=", self.call_ahead(place, "true"), self.at(place + 1));
                    body.push(never(elsewhere));
                }
                on = next;
                continue;
            }
            if self.may_be_stale(place) {
                body.extend(self.look_up_again(place));
            }
            body.extend(self.known_at(place));
            let call = match self.is_found(place) {
                true => {
                    let (act, made): (_, &[&str]) = match self.rewrites_of(place) {
                        Some(_) => ("act_rewritten", &["path", "i"]),
                        None => ("act", &[]),
                    };
                    let found = [name("run"), name("state"), self.found_at(place), self.records(place)];
                    let arguments = found.into_iter().chain(made.iter().map(|made| name(*made)));
                    // Only misses use the key, and this packet has hit.
                    let arguments = arguments.chain(self.may_be_stale(place).then(|| name("NULL")));
                    Expr::call(format!("{}_{act}", self.title(place)), arguments)
                }
                false => Expr::call(self.title(place), [name("run"), name("state")]),
            };
            on = next;
            let Some(next) = next else {
                body.push(Stmt::Do(call));
                break;
            };
            if written.only() == Some(next) {
                body.push(Stmt::Do(call));
                continue;
            }
            if self.is_settled(place) {
                let mut call = call;
                if let Some((title, items)) =
                    self.settled_item(place, written).filter(|_| self.rewrites_of(place).is_none())
                {
                    call = renamed(call, title);
                    settled.extend(items);
                }
                body.push(never(Expr::binary("!=", call, self.at(place + 1))));
                continue;
            }
            body.extend(self.follow(call, place, written.ends, next));
        }
        let (rest, items) = on.map_or_else(Default::default, |on| self.rest(nodes, on));
        body.extend(rest);
        settled.extend(items);
        settled.extend(self.path_finish(body));
        settled
    }

    fn path_finish(&self, body: Vec<Stmt>) -> Vec<Item> {
        let mut declared = Vec::new();
        if body.iter().any(|statement| matches!(statement, Stmt::Assign(Expr::Name(place), _, _) if place == "at")) {
            declared.push(Stmt::Declare { of: "enum node".to_string(), name: "at".to_string(), value: None });
        }
        if !declared.is_empty() {
            declared.push(Stmt::Blank);
        }
        declared.extend(body);
        let mut about = "Commits a packet on the hot path, with the records that were found for it.".to_string();
        let mut parameters = vec!["struct run *run", "struct state *state", "struct path *path", "uint32_t i"];
        let mut of = "void";
        let mut items = Vec::new();
        if !self.senders.is_empty() {
            tell_port(&mut declared, &self.senders);
            about.push_str(" Whether it is to be sent, by `port`; else it has gone.");
            about = self.about_known(&about);
            parameters.push("uint16_t *port");
            parameters.extend(self.parameters_known());
            of = "bool";
            items.extend(self.senders.iter().flat_map(Sender::items));
            for known in self.known_names() {
                if !declared.iter().any(|statement| statement.mentions(known)) {
                    declared.insert(0, Stmt::Do(Expr::cast("void", name(known))));
                }
            }
        }
        items.push(Item::Comment(about));
        items.extend(inline(of, "path_finish", &parameters, declared));
        items
    }

    /// The graph from a node on; as a function of its own if packets may reach a queue there.
    fn rest(&self, nodes: &Nodes, from: NodeId) -> (Vec<Stmt>, Vec<Item>) {
        let unit = self.unit;
        let first = unit.position(from);
        let mut order = self.reached(nodes, [from]);
        order.retain(|index| *index != first);
        if !self.may_wait(nodes, [from]) {
            order.insert(0, first);
            let guards = self.guards(&order);
            let region = Region { nodes: order, starts: Vec::new(), heads: &[] };
            return (region.guarded_body(unit, &nodes.written, &guards), Vec::new());
        }
        let heads = self.heads();
        let mut on = name(unit.place_name(from));
        let mut items = Vec::new();
        if !heads.contains(&from) {
            order.insert(0, first);
            let body = Region { nodes: order, starts: Vec::new(), heads: &heads }.body(unit, &nodes.written);
            items.push(Item::Comment(
                "The graph after the last lookup, up to where a packet ends or waits.".to_string(),
            ));
            let parameters = ["struct run *run", "struct state *state", "enum node at"];
            items.extend(inline("enum node", "path_rest", &parameters, body));
            on = Expr::call("path_rest", [name("run"), name("state"), on]);
        }
        let waits = Expr::binary("!=", name("at"), name("ENDED"));
        let leave = Stmt::call("path_exit", ["run", "state", "at"].map(name));
        let waits = Stmt::when(Expr::call("__builtin_expect", [waits, name("0")]), vec![leave]);
        (vec![Stmt::set(name("at"), on), waits], items)
    }
}

/// Tells the C compiler that this never holds.
pub(super) fn never(condition: Expr) -> Stmt {
    Stmt::when(condition, vec![Stmt::call("__builtin_unreachable", [])])
}

/// The number of packets in a set.
pub(super) fn popcount(set: Expr) -> Expr {
    Expr::cast("uint32_t", Expr::call("__builtin_popcountll", [set]))
}

/// A call of another function with the same arguments.
fn renamed(call: Expr, title: String) -> Expr {
    let Expr::Call(_, arguments) = call else { return call };
    Expr::Call(title, arguments)
}

/// A packet's state when it enters the graph.
pub(super) fn state_enter() -> Stmt {
    Stmt::call("state_enter", [name("&state")])
}
