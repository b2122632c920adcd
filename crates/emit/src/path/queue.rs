//! Queues: packets that took a side exit wait at a node for others, and continue together.
//!
//! A packet waits in the worker's memory with its state and scratch. It holds no record of a table, so
//! writers need not wait for it. `queue_age` ends every call of `process`: it counts the bursts that each
//! queue's first packet has waited, and flushes all queues after an empty burst.

use super::{HotPath, each, inline, name, noinline};
use crate::c::{Expr, Item, Member, Stmt, Struct};
use crate::control_flow::Region;
use crate::node::{Nodes, Written};
use crate::run::{run_copy, run_taken};
use crate::storage::Words;
use crate::unit::Unit;
use hlir::NodeId;
use hlir::resolved::{ResolvedLoop, ResolvedQueue};
use std::collections::BTreeSet;

/// A queue of the plan.
pub struct Waiting<'p> {
    pub node: NodeId,
    pub plan: ResolvedQueue,
    /// The loop for the lookup at its node, made for several packets at once.
    together: Option<&'p ResolvedLoop>,
}

/// The queues that packets reach, in the order of the graph.
pub fn queues<'u>(unit: &'u Unit) -> Vec<Waiting<'u>> {
    let waiting = |node: &NodeId| {
        let plan = *unit.plan.queues.iter().find(|queue| queue.node == *node)?;
        Some(Waiting { node: *node, plan, together: unit.plan.loop_at(*node) })
    };
    unit.facts.order.iter().filter_map(waiting).collect()
}

impl<'u> HotPath<'u> {
    /// Nodes where packets wait.
    pub fn heads(&self) -> Vec<NodeId> {
        self.queues.iter().map(|queue| queue.node).collect()
    }

    /// Nodes that packets reach from these, inclusive, without waiting; in the order of the file.
    pub fn reached(&self, nodes: &Nodes, from: impl IntoIterator<Item = NodeId>) -> Vec<usize> {
        let heads: Vec<usize> = self.heads().into_iter().map(|head| self.unit.position(head)).collect();
        let mut reached = BTreeSet::new();
        let mut left: Vec<usize> = from.into_iter().map(|node| self.unit.position(node)).collect();
        while let Some(index) = left.pop() {
            if !heads.contains(&index) && reached.insert(index) {
                left.extend(nodes.written[index].outcomes.iter().map(|to| self.unit.position(*to)));
            }
        }
        reached.into_iter().collect()
    }

    /// Whether packets that continue from these nodes may reach a queue.
    pub fn may_wait(&self, nodes: &Nodes, from: impl IntoIterator<Item = NodeId>) -> bool {
        let heads = self.heads();
        let from: Vec<NodeId> = from.into_iter().collect();
        let reached = self.reached(nodes, from.iter().copied());
        let mut next = reached.iter().flat_map(|index| &nodes.written[*index].outcomes).chain(&from);
        next.any(|node| heads.contains(node))
    }

    pub fn queue_storage(&self) -> Vec<Item> {
        if self.queues.is_empty() {
            return Vec::new();
        }
        let waiting = vec![
            Member::plain("struct state", "state", ""),
            Member::plain("struct scratch", "scratch", "that its state points to"),
            Member::plain("uint64_t", "clock_ns", "when it came"),
        ];
        let mut items = vec![
            Item::Comment("A packet that waits.".to_string()),
            Item::Struct(Struct { name: "waiting".to_string(), members: waiting }),
            Item::Blank,
        ];
        for queue in &self.queues {
            let members = vec![
                Member::plain("uint32_t", "count", ""),
                Member::plain("uint32_t", "age", "ends of bursts since the first arrived"),
                Member::plain("struct waiting", format!("packets[{}]", queue.plan.capacity), "in the order they came"),
            ];
            items.push(Item::Comment(format!("Packets in front of {}.", self.unit.node(queue.node).name)));
            items.push(Item::Struct(Struct { name: self.queue_name(queue), members }));
            items.push(Item::Blank);
        }
        items
    }

    /// Packets that all queues together may hold.
    pub fn queue_capacity(&self) -> u32 {
        self.queues.iter().map(|queue| queue.plan.capacity).sum()
    }

    fn queue_name(&self, queue: &Waiting) -> String {
        format!("queue_{}", self.unit.node_name(queue.node))
    }

    /// Members of the worker's memory.
    pub fn queue_members(&self) -> Vec<Member> {
        let names = self.queues.iter().map(|queue| self.queue_name(queue));
        names.map(|name| Member::plain(format!("struct {name}"), name, "")).collect()
    }

    /// The functions of each queue that flush it and add to it; later queues first, since packets may go from
    /// one to the next.
    pub fn queue_items(&self, nodes: &Nodes, used: &Words) -> Vec<Item> {
        let mut items = Vec::new();
        if self.queues.is_empty() {
            return items;
        }
        let parameters = ["struct run *run", "const struct state *state", "enum node at"];
        if self.queues.iter().any(|queue| self.is_behind_queue(nodes, queue)) {
            let prototype = format!("queue_wait({})", parameters.join(", "));
            items.extend([Item::Variable { of: "static void".to_string(), name: prototype, value: None }, Item::Blank]);
        }
        for queue in self.queues.iter().rev() {
            let written = &nodes.written[self.unit.position(queue.node)];
            items.extend(self.queue_onward(nodes, queue, written));
            items.extend(self.queue_run(nodes, queue, written));
            items.extend(self.queue_put(queue, used));
        }
        let put = |queue: &Waiting| Stmt::call(format!("{}_put", self.queue_name(queue)), ["run", "state"].map(name));
        let at = |queue: &Waiting| name(self.unit.place_name(queue.node));
        let body = match self.queues.as_slice() {
            [only] => vec![Stmt::when(Expr::binary("==", name("at"), at(only)), vec![put(only)])],
            several => {
                let cases = several.iter().map(|queue| (vec![at(queue)], vec![put(queue)])).collect();
                vec![Stmt::Switch { on: name("at"), cases, default: Vec::new() }]
            }
        };
        items.push(Item::Comment("Puts a packet that has reached a queue into it; any other has ended.".to_string()));
        let function = Item::Function {
            of: "static void".to_string(),
            name: "queue_wait".to_string(),
            parameters: parameters.map(str::to_string).to_vec(),
            body,
        };
        items.extend([function, Item::Blank]);
        items.extend(self.queue_age());
        items
    }

    /// The end of a burst. As for a side exit, the queue works on a copy of `run`.
    fn queue_age(&self) -> [Item; 3] {
        let mut body = Vec::new();
        for queue in &self.queues {
            let title = self.queue_name(queue);
            let member = |member: &str| name(format!("run->memory->{title}.{member}"));
            let older = name(format!("++run->memory->{title}.age"));
            let patient = Expr::binary(">=", older, Expr::word(queue.plan.timeout));
            let goes = Expr::binary("||", patient, Expr::binary("==", name("came"), Expr::word(0)));
            let some = Expr::binary("!=", member("count"), Expr::word(0));
            let mut then = Vec::from(run_taken("copy", "run"));
            then.extend([Stmt::call(format!("{title}_run"), [name("&copy")]), run_copy("run", "&copy")]);
            body.push(Stmt::when(Expr::binary("&&", some, goes), then));
        }
        let about =
            "The end of a burst of `came` packets: flushes queues after their timeout, or all after an empty burst.";
        let [function, blank] = inline("void", "queue_age", &["struct run *run", "uint32_t came"], body);
        [Item::Comment(about.to_string()), function, blank]
    }

    /// Ends every burst.
    pub fn queue_end(&self) -> Option<Stmt> {
        (!self.queues.is_empty()).then(|| Stmt::call("queue_age", [name("&run"), name("count")]))
    }

    fn is_behind_queue(&self, nodes: &Nodes, queue: &Waiting) -> bool {
        self.may_wait(nodes, nodes.written[self.unit.position(queue.node)].outcomes.iter().copied())
    }

    /// The graph after the queue's node.
    fn queue_onward(&self, nodes: &Nodes, queue: &Waiting, written: &Written) -> Vec<Item> {
        let unit = self.unit;
        let heads = self.heads();
        let region = Region {
            nodes: self.reached(nodes, written.outcomes.iter().copied()),
            starts: written.outcomes.iter().copied().filter(|to| !heads.contains(to)).collect(),
            heads: &heads,
        };
        if region.nodes.is_empty() {
            return Vec::new();
        }
        let body = region.body(unit, &nodes.written);
        let parameters = ["struct run *run", "struct state *state", "enum node at"];
        inline("enum node", format!("{}_onward", self.queue_name(queue)), &parameters, body).into()
    }

    /// A packet's processing at the queue's node and after it.
    fn go_on(&self, nodes: &Nodes, queue: &Waiting, written: &Written, call: Expr) -> Vec<Stmt> {
        let mut code = Vec::new();
        if written.outcomes.is_empty() {
            return vec![Stmt::Do(call)];
        }
        let mut at = call;
        if let Some(only) = written.only() {
            code.push(Stmt::Do(at));
            at = name(self.unit.place_name(only));
        }
        let reached = self.reached(nodes, written.outcomes.iter().copied());
        if !reached.is_empty() {
            at = Expr::call(format!("{}_onward", self.queue_name(queue)), [name("run"), name("state"), at]);
        }
        code.push(match self.is_behind_queue(nodes, queue) {
            true => Stmt::call("queue_wait", [name("run"), name("state"), at]),
            false => Stmt::Do(at),
        });
        code
    }

    /// `queue_NODE_run`: flushes the queue.
    fn queue_run(&self, nodes: &Nodes, queue: &Waiting, written: &Written) -> [Item; 3] {
        let title = self.queue_name(queue);
        let of = format!("struct {title} *const");
        let mut body = vec![
            Stmt::declare(of, "queue", name(format!("&run->memory->{title}"))),
            Stmt::declare("const uint64_t", "clock_ns", name("run->clock_ns")),
            Stmt::declare("const uint32_t", "count", name("queue->count")),
            Stmt::Blank,
            Stmt::set(name("queue->count"), Expr::word(0)),
            Stmt::set(name("queue->age"), Expr::word(0)),
        ];
        body.push(match queue.together {
            Some(together) => self.in_groups(nodes, queue, written, together),
            None => {
                let node = self.unit.node_name(queue.node);
                let mut inner = self.taken("i");
                inner.extend(self.go_on(nodes, queue, written, Expr::call(node, ["run", "state"].map(name))));
                each("i", name("count"), inner)
            }
        });
        body.push(Stmt::set(name("run->clock_ns"), name("clock_ns")));
        let about = format!("Flushes the queue at {}, in order of arrival.", self.unit.node(queue.node).name);
        let [function, blank] = noinline("void", format!("{title}_run"), &["struct run *run"], body);
        [Item::Comment(about), function, blank]
    }

    /// A packet of the queue, with the time of its arrival.
    fn taken(&self, place: &str) -> Vec<Stmt> {
        vec![
            Stmt::declare("struct waiting *const", "waiting", name(format!("&queue->packets[{place}]"))),
            Stmt::declare("struct state *const", "state", name("&waiting->state")),
            Stmt::Blank,
            Stmt::set(name("run->clock_ns"), name("waiting->clock_ns")),
        ]
    }

    /// The lookup at the queue's node for a group of packets, then each continues.
    fn in_groups(&self, nodes: &Nodes, queue: &Waiting, written: &Written, together: &ResolvedLoop) -> Stmt {
        let unit = self.unit;
        let node = unit.node_name(queue.node);
        let table = hlir::hot_path::table_of(unit.program, queue.node).expect("a loop of a queue looks up a table");
        let group = together.group.clamp(1, together.batch.max(1));
        let left = Expr::binary("-", name("count"), name("from"));
        let size = Expr::conditional(Expr::binary("<", left.clone(), Expr::word(group)), left, Expr::word(group));
        let (before, first, found) = unit.stages(node, table, Some(together), group);
        let mut keys = self.taken("from + i");
        keys.extend(first.into_iter().filter(|statement| *statement != Stmt::Blank));
        let keys = each("i", name("size"), keys);
        let (look_up, found) = unit.look_ups(Some(together), table, before, keys, found, group);
        let mut inner = vec![Stmt::declare("const uint32_t", "size", size)];
        inner.extend(look_up);
        let mut turn = self.taken("from + i");
        turn.push(Stmt::declare("const uint32_t", "number", found));
        let arguments = [name("run"), name("state"), name("number"), unit.records(table)];
        let act = Expr::call(format!("{node}_act"), arguments);
        turn.extend(self.go_on(nodes, queue, written, act));
        inner.push(each("i", name("size"), turn));
        let (from, to, step) = (Expr::word(0), name("count"), Expr::word(group));
        Stmt::Count { name: "from".to_string(), from, to, step, body: inner }
    }

    /// `queue_NODE_put`: copies a packet's state, since its memory is reused.
    fn queue_put(&self, queue: &Waiting, used: &Words) -> [Item; 3] {
        let title = self.queue_name(queue);
        let of = format!("struct {title} *const");
        let mut body = vec![
            Stmt::declare(of, "queue", name(format!("&run->memory->{title}"))),
            Stmt::declare("struct waiting *const", "waiting", name("&queue->packets[queue->count++]")),
            Stmt::Blank,
            Stmt::set(name("waiting->state"), name("*state")),
            Stmt::set(name("waiting->scratch"), name("*state->scratch")),
            Stmt::set(name("waiting->state.scratch"), name("&waiting->scratch")),
            Stmt::set(name("waiting->clock_ns"), name("run->clock_ns")),
        ];
        for index in self.unit.kept_headers(used) {
            let header = self.unit.names.of_header(index, "");
            let made = Expr::binary("==", name(format!("state->{header}")), name(format!("state->scratch->{header}")));
            let moved = Stmt::set(name(format!("waiting->state.{header}")), name(format!("waiting->scratch.{header}")));
            body.push(Stmt::when(made, vec![moved]));
        }
        let full = Expr::binary("==", name("queue->count"), Expr::word(queue.plan.capacity));
        body.push(Stmt::when(full, vec![Stmt::call(format!("{title}_run"), [name("run")])]));
        let about = format!(
            "Puts a packet into the queue at {}, whose capacity is {}.",
            self.unit.node(queue.node).name,
            queue.plan.capacity
        );
        let parameters = ["struct run *run", "const struct state *state"];
        let [function, blank] = noinline("void", format!("{title}_put"), &parameters, body);
        [Item::Comment(about), function, blank]
    }
}
