//! The batched shape: for each loop of the plan, one function that takes the packets waiting there group by group.
//!
//! Packets of a burst have their states in the worker's memory; a loop has a list of the packets that wait in front of it. Loop 1 over a group computes
//! keys, hashes and addresses and makes the plan's requests, loop 2 finds, runs the action, and walks on to the next loop's list.

use crate::c::{Expr, Item, Member, Stmt};
use crate::control_flow::Region;
use crate::group::{GROUP_MOST, Grouped};
use crate::node::Written;
use crate::unit::Unit;
use hlir::plan::Hint;
use hlir::resolved::ResolvedLoop;
use hlir::verify::behind_replication;
use hlir::{NodeId, NodeKind, TableId};
use std::collections::BTreeSet;

fn name(text: &str) -> Expr {
    Expr::name(text)
}

/// A loop of the plan over the packets that wait at a node.
pub struct Head<'p> {
    pub node: NodeId,
    plan: Option<&'p ResolvedLoop>,
}

/// How packets are ordered in the list of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    /// As they came in.
    InOrder,
    /// Packets of several loops, each in order of arrival: they must be sorted, since state must see them in
    /// order.
    Mixed,
}

impl Unit<'_> {
    /// Whether the plan has loops over several packets.
    pub fn batched(&self) -> bool {
        self.plan.path.is_none() && self.plan.loops.iter().any(|plan| plan.batch > 1)
    }

    /// The loops, in the order of the graph; the first is the entry's. Copies of a group run at once to their
    /// end, so no loop begins after a replication: packets would overtake each other's copies.
    pub fn heads(&self) -> Vec<Head<'_>> {
        let behind = behind_replication(self.program);
        let mut heads = Vec::new();
        for (place, &node) in self.facts.order.iter().enumerate() {
            let plan = self.plan.loop_at(node);
            if place == 0 || (plan.is_some() && !behind.contains(&node)) {
                heads.push(Head { node, plan });
            }
        }
        heads
    }

    pub fn batch_members(&self) -> Vec<Member> {
        let burst = self.burst();
        let mut members = vec![
            Member::plain("struct state", format!("states[{burst}]"), "of the burst's packets"),
            Member::plain("struct scratch", format!("scratch[{burst}]"), ""),
        ];
        for head in self.heads() {
            let list = self.node_name(head.node);
            members.push(Member::plain("uint32_t", format!("{list}_count"), ""));
            members.push(Member::plain("uint16_t", format!("{list}_list[{burst}]"), "packets that wait there"));
        }
        members
    }

    /// The regions of the loops, `wait`, and the loops.
    pub fn batch_items(&self, written: &[Written]) -> Vec<Item> {
        let heads = self.heads();
        let nodes: Vec<NodeId> = heads.iter().map(|head| head.node).collect();
        let mut items = vec![Item::Comment(
            "Puts a packet into the list of the loop that it has reached, if it has not ended.".to_string(),
        )];
        let parameters = vec!["struct run *run".to_string(), "uint32_t packet".to_string(), "enum node at".to_string()];
        let of = "INLINE void".to_string();
        items.push(Item::Function { of, name: "wait".to_string(), parameters, body: self.wait(&nodes) });
        items.push(Item::Blank);
        for head in &heads {
            items.extend(self.loop_items(head, &nodes, written));
        }
        items
    }

    fn wait(&self, heads: &[NodeId]) -> Vec<Stmt> {
        let mut cases = Vec::new();
        for head in heads {
            let list = self.node_name(*head);
            let place = Expr::Name(format!("run->memory->{list}_list[run->memory->{list}_count++]"));
            let put = Stmt::set(place, Expr::cast("uint16_t", name("packet")));
            cases.push((vec![name(self.place_name(*head))], vec![put]));
        }
        vec![Stmt::Switch { on: name("at"), cases, default: Vec::new() }]
    }

    /// Nodes that packets reach after a loop's first node and before another loop.
    fn region(&self, head: NodeId, heads: &[NodeId], written: &[Written]) -> Vec<usize> {
        let mut found = BTreeSet::new();
        let mut left = vec![self.position(head)];
        while let Some(index) = left.pop() {
            for to in &written[index].outcomes {
                let to_index = self.position(*to);
                if !heads.contains(to) && found.insert(to_index) {
                    left.push(to_index);
                }
            }
        }
        found.into_iter().collect()
    }

    /// Packets may reach a loop from several others, each with its own list.
    fn waiting(&self, head: &Head, heads: &[NodeId], written: &[Written]) -> Waiting {
        let leads_here = |from: &&NodeId| {
            let nodes = self.region(**from, heads, written).into_iter().chain([self.position(**from)]);
            nodes.into_iter().any(|node| written[node].outcomes.contains(&head.node))
        };
        if heads.iter().filter(leads_here).count() > 1 { Waiting::Mixed } else { Waiting::InOrder }
    }

    fn loop_items(&self, head: &Head, heads: &[NodeId], written: &[Written]) -> Vec<Item> {
        let title = self.node_name(head.node);
        let index = self.position(head.node);
        let nodes = self.region(head.node, heads, written);
        let mut items = Vec::new();
        let of = "static __attribute__((noinline)) void".to_string();
        if !nodes.is_empty() {
            let starts = written[index].outcomes.iter().copied().filter(|to| !heads.contains(to)).collect();
            let region = Region { nodes, starts, heads };
            let body = region.body(self, written);
            let parameters = ["struct run *run", "struct state *state", "enum node at"].map(str::to_string).to_vec();
            items.push(Item::Function {
                of: "INLINE enum node".to_string(),
                name: format!("{title}_onward"),
                parameters,
                body,
            });
            items.push(Item::Blank);
        }
        let plan = match head.plan {
            Some(plan) => format!("batch {}, group {}", plan.batch, plan.group),
            None => "packet by packet".to_string(),
        };
        items.push(Item::Comment(format!("Loop at {}: {plan}.", self.node(head.node).name)));
        let parameters = vec!["struct run *run".to_string()];
        let goes_on = items.len() > 1;
        let body = self.loop_body(head, &written[index], goes_on, self.waiting(head, heads, written));
        items.push(Item::Function { of, name: format!("{title}_loop"), parameters, body });
        items.push(Item::Blank);
        items
    }

    fn loop_body(&self, head: &Head, written: &Written, goes_on: bool, waiting: Waiting) -> Vec<Stmt> {
        let title = self.node_name(head.node);
        let group = head.plan.map_or(1, |plan| plan.group.clamp(1, plan.batch.max(1)));
        let count = format!("run->memory->{title}_count");
        let those = Expr::Name(format!("run->memory->{title}_list"));
        let (taken, size) = match waiting {
            Waiting::Mixed => ("walk_order", name("count")),
            Waiting::InOrder => ("memcpy", Expr::binary("*", name("count"), name("sizeof(list[0])"))),
        };
        let mut body = vec![
            Stmt::declare("const uint32_t", "count", Expr::Name(count.clone())),
            Stmt::Declare { of: "uint16_t".to_string(), name: format!("list[{}]", self.burst()), value: None },
            Stmt::Blank,
            Stmt::call(taken, [name("list"), those, size]),
            Stmt::set(Expr::Name(count), Expr::word(0)),
        ];
        let left = Expr::binary("-", name("count"), name("from"));
        let size = Expr::conditional(Expr::binary("<", left.clone(), Expr::word(group)), left, Expr::word(group));
        let mut inner = vec![Stmt::declare("const uint32_t", "size", size)];
        inner.extend(self.group(head, written, goes_on, group));
        if waiting == Waiting::Mixed {
            let fits = Expr::binary("<=", Expr::word(self.burst()), name("WALK_BURST"));
            body.insert(0, Stmt::call("_Static_assert", [fits, name("\"a burst can be put in order\"")]));
        }
        body.push(Stmt::Count {
            name: "from".to_string(),
            from: Expr::word(0),
            to: name("count"),
            step: Expr::word(group),
            body: inner,
        });
        body
    }

    /// Both loops over a group.
    fn group(&self, head: &Head, written: &Written, goes_on: bool, group: u32) -> Vec<Stmt> {
        let title = self.node_name(head.node);
        let packet = Stmt::declare("const uint32_t", "packet", name("list[from + i]"));
        let state = Stmt::declare("struct state *const", "state", name("&run->memory->states[packet]"));
        let each = |body: Vec<Stmt>| Stmt::Count {
            name: "i".to_string(),
            from: Expr::word(0),
            to: name("size"),
            step: Expr::word(1),
            body,
        };
        let mut code = Vec::new();
        let mut second = vec![packet.clone(), state.clone()];
        let mut call = Expr::call(title, [name("run"), name("state")]);
        match self.key_table(head.node) {
            Some(table) => {
                let mut opening = vec![packet, state];
                let (before, first, found) = self.stages(title, table, head.plan, group);
                opening.extend(first);
                let (asked, found) = self.look_ups(head.plan, table, before, each(opening), found, group);
                code.extend(asked);
                let learns = self.learns(table).then(|| name("key[i]"));
                second.push(Stmt::declare("const uint32_t", "number", found));
                let arguments = [name("run"), name("state"), name("number"), self.records(table)];
                call = Expr::call(format!("{title}_act"), arguments.into_iter().chain(learns));
            }
            None => {
                code.push(Stmt::Blank);
                code.extend(head.plan.and_then(|plan| plan.packets).map(|hint| {
                    let address = Expr::call("packet_data", [name("&run->memory->states[list[from + i]].packet")]);
                    each(vec![prefetch(address, hint)])
                }));
            }
        }
        match written.only() {
            Some(only) => {
                second.push(Stmt::declare("enum node", "at", name(self.place_name(only))));
                second.push(Stmt::Blank);
                second.push(Stmt::Do(call));
            }
            None if written.outcomes.is_empty() => {
                second.push(Stmt::Blank);
                second.push(Stmt::Do(call));
                second.retain(|statement| !matches!(statement, Stmt::Declare { name, .. } if name == "at"));
                code.push(each(second));
                return code;
            }
            None => {
                second.push(Stmt::declare("enum node", "at", call));
                second.push(Stmt::Blank);
            }
        }
        if goes_on {
            second.push(Stmt::set(name("at"), Expr::call(format!("{title}_onward"), ["run", "state", "at"].map(name))));
        }
        second.push(Stmt::call("wait", ["run", "packet", "at"].map(name)));
        code.push(each(second));
        code
    }

    /// What a group does until its records are found, and where a packet's record then is: looked up with the others, or by an expression.
    pub fn look_ups(
        &self,
        plan: Option<&ResolvedLoop>,
        table: TableId,
        before: Vec<Stmt>,
        keys: Stmt,
        found: Expr,
        group: u32,
    ) -> (Vec<Stmt>, Expr) {
        let mut code = before;
        code.extend([Stmt::Blank, self.count_look_ups(table, name("size")), keys]);
        // If packets of the group may insert entries, each must find those inserted before it.
        if group > GROUP_MOST || !self.structure(table).is_grouped() || self.learns(table) {
            return (code, self.unless_hidden(table, found));
        }
        code.insert(0, Stmt::Declare { of: "uint32_t".to_string(), name: format!("found[{group}]"), value: None });
        let grouped = Grouped {
            name: self.table_name(table).to_string(),
            prefix: String::new(),
            run: "run->",
            count: name("size"),
            is_hashed: true,
            addresses: Some(name("address")),
            requested: plan.and_then(|plan| plan.prefetch).map(|prefetch| prefetch.hint),
            found: name("found"),
            walks_ahead: self.structure(table).is_walked() && plan.is_some_and(|plan| plan.prefetch.is_some()),
            is_empty: self.skips_empty(table).then(|| self.is_empty(table)),
            requests: None,
            records: None,
        };
        code.extend(self.find_group(table, grouped));
        (code, name("found[i]"))
    }

    /// What a packet finds in a table: nothing in a complete joint table while the host hides its entries.
    fn unless_hidden(&self, table: TableId, found: Expr) -> Expr {
        let is_complete = self.program.join_of(table).is_some_and(|join| join.is_complete(self.program));
        if is_complete { Expr::conditional(self.is_empty(table), Expr::word(0), found) } else { found }
    }

    fn key_table(&self, node: NodeId) -> Option<TableId> {
        let NodeKind::Apply { table, .. } = &self.node(node).kind else { return None };
        (!self.program.tables[*table].keys.is_empty()).then_some(*table)
    }

    /// Arrays of a group, what loop 1 does for each packet, and how loop 2 finds the record.
    pub fn stages(
        &self,
        title: &str,
        table: TableId,
        plan: Option<&ResolvedLoop>,
        group: u32,
    ) -> (Vec<Stmt>, Vec<Stmt>, Expr) {
        let structure = self.lookup_prefix(table);
        let limbs = crate::body::limbs(self.key_bits(table));
        let held = Expr::Name(format!("run->{}", self.table_name(table)));
        let declare = |of: &str, title: String| Stmt::Declare { of: of.to_string(), name: title, value: None };
        let mut before =
            vec![declare("uint64_t", format!("key[{group}][{limbs}]")), declare("uint64_t", format!("hash[{group}]"))];
        let hash = Expr::call(format!("{structure}_hash"), [held.clone(), name("key[i]"), Expr::word(limbs)]);
        let mut first = vec![
            Stmt::Blank,
            Stmt::call(format!("{title}_key"), [name("run"), name("state"), name("key[i]")]),
            Stmt::set(name("hash[i]"), hash),
        ];
        let computed = Expr::call(format!("{structure}_address"), [held.clone(), name("hash[i]")]);
        // Where a packet of the group may insert an entry, the table may lie elsewhere afterwards.
        let address = if self.learns(table) {
            computed
        } else {
            before.push(declare("const void *", format!("address[{group}]")));
            first.push(Stmt::set(name("address[i]"), computed));
            name("address[i]")
        };
        let planned = plan.and_then(|plan| plan.prefetch);
        if let Some(planned) = planned.filter(|_| self.structure(table).is_addressed()) {
            first.extend(self.prefetch_bucket(table, address.clone(), planned.hint));
        }
        let arguments = [held, address, name("hash[i]"), name("key[i]"), self.key_size(table)];
        (before, first, self.own_part(table, Expr::call(format!("{structure}_find"), arguments)))
    }

    /// Initializes the states of the burst's packets, then runs the loops until no packet waits.
    pub fn process_batched(&self, entry: NodeId, taken: Expr, port: Expr, number: Expr) -> Vec<Stmt> {
        let begun = [name("&run.memory->states[i]"), taken, port, name("&run.memory->scratch[i]"), number];
        let begin = Stmt::Count {
            name: "i".to_string(),
            from: Expr::word(0),
            to: name("count"),
            step: Expr::word(1),
            body: vec![
                Stmt::call("state_begin", begun),
                Stmt::call("wait", [name("&run"), name("i"), name(self.place_name(entry))]),
            ],
        };
        let heads = self.heads();
        let counts = heads.iter().map(|head| Expr::Name(format!("run.memory->{}_count", self.node_name(head.node))));
        let waiting = counts.reduce(|left, right| Expr::binary("|", left, right)).unwrap_or(Expr::word(0));
        let loops = heads.iter().map(|head| Stmt::call(format!("{}_loop", self.node_name(head.node)), [name("&run")]));
        let repeat = Stmt::While(Expr::binary("!=", waiting, Expr::word(0)), loops.collect());
        vec![begin, repeat]
    }
}

impl Unit<'_> {
    /// Prefetches what a lookup reads first: a line, or two neighbouring ones.
    pub fn prefetch_bucket(&self, table: TableId, address: Expr, hint: Hint) -> Vec<Stmt> {
        let mut code = vec![prefetch(address.clone(), hint)];
        if self.structure(table).has_pairs_of_lines(self.key_bits(table)) {
            code.push(prefetch(Expr::call("table_next_line", [address]), hint));
        }
        code
    }
}

pub fn prefetch(address: Expr, hint: Hint) -> Stmt {
    let locality = match hint {
        Hint::T0 => 3,
        Hint::T1 => 2,
    };
    Stmt::call("__builtin_prefetch", [address, name("0"), Expr::Name(locality.to_string())])
}
