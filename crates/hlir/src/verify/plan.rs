//! Checks of plans: that they speak of what the program has, that structures suit their tables, and that batching changes no packet's fate.
//!
//! A loop runs for all packets of a batch before the next begins. Where two loops touch one stateful object, a packet would see what a later
//! one has written to it: so all nodes that touch it must run in one loop.

use super::{Site, Verifier};
use crate::plan::{Access, Layout, Loop, Structure, TablePlan};
use crate::{Call, MatchKind, Node, NodeId, NodeKind, Plan, Program, Statement, Table, Type};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

impl Verifier<'_> {
    pub(super) fn plan(&mut self, plan: &Plan) {
        let program = self.program;
        let nodes: HashMap<&str, NodeId> = program.nodes.iter().map(|(id, node)| (node.name.as_str(), id)).collect();
        let starts = plan.loops.iter().enumerate().map(|(index, lp)| (&lp.node, Site::Loop(index as u32)));
        self.unique("loops", starts);
        let tables = plan.tables.iter().enumerate().map(|(index, it)| (&it.table, Site::TablePlan(index as u32)));
        self.unique("planned tables", tables);
        let queues = plan.queues.iter().enumerate().map(|(index, queue)| (&queue.node, Site::Queue(index as u32)));
        self.unique("queues", queues);
        self.layout(&plan.layout);
        for (index, lp) in plan.loops.iter().enumerate() {
            self.plan_loop(Site::Loop(index as u32), lp, &nodes);
        }
        for (index, table) in plan.tables.iter().enumerate() {
            self.structure(Site::TablePlan(index as u32), table);
        }
        for (index, window) in plan.windows.iter().enumerate() {
            let site = Site::Window(index as u32);
            for node in std::iter::once(&window.node).chain(&window.write_back) {
                self.has_node(site, node, &nodes);
            }
            if window.length_bytes == 0 || window.offset_bytes.checked_add(window.length_bytes).is_none() {
                self.error(site, format!("{} bytes at {} are no window", window.length_bytes, window.offset_bytes));
            }
        }
        for (index, queue) in plan.queues.iter().enumerate() {
            let site = Site::Queue(index as u32);
            self.has_node(site, &queue.node, &nodes);
            if queue.capacity == 0 {
                self.error(site, format!("the queue before `{}` has no room", queue.node));
            }
        }
        self.batching(plan, &nodes);
    }

    fn has_node(&mut self, site: Site, name: &str, nodes: &HashMap<&str, NodeId>) -> Option<NodeId> {
        let found = nodes.get(name).copied();
        if found.is_none() {
            self.error(site, format!("the program has no node `{name}`"));
        }
        found
    }

    fn layout(&mut self, layout: &Layout) {
        let Layout::Ordered(order) = layout else { return };
        let headers = self.program.headers.values().map(|header| &header.name);
        let storage: HashSet<&String> = headers.chain(self.program.variables.values().map(|it| &it.name)).collect();
        for name in order.iter().filter(|name| !storage.contains(name)) {
            self.error(Site::Plan, format!("the layout has `{name}`, which is no variable or header"));
        }
        self.unique("parts of the layout", order.iter().map(|name| (name, Site::Plan)));
    }

    fn plan_loop(&mut self, site: Site, lp: &Loop, nodes: &HashMap<&str, NodeId>) {
        self.has_node(site, &lp.node, nodes);
        if lp.group < 1 || lp.group > lp.batch {
            let Loop { batch, group, .. } = lp;
            self.error(
                site,
                format!("a group of {group} packets in a batch of {batch}: it must be at least 1, at most the batch"),
            );
        }
        if lp.lanes < 1 {
            self.error(site, "a loop has at least one lane");
        }
        for request in &lp.requests {
            match &request.access {
                Access::Packet => {}
                Access::Table { table, .. } => {
                    if !self.program.tables.values().any(|found| found.name == *table) {
                        self.error(site, format!("the program has no table `{table}`"));
                    }
                }
                Access::Cell { object } => {
                    let Program { registers, counters, meters, .. } = self.program;
                    let mut names = registers.values().map(|it| &it.name);
                    let mut others = counters.values().map(|it| &it.name).chain(meters.values().map(|it| &it.name));
                    if !names.any(|name| name == object) && !others.any(|name| name == object) {
                        self.error(site, format!("the program has no register, counter or meter `{object}`"));
                    }
                }
            }
        }
    }

    fn structure(&mut self, site: Site, planned: &TablePlan) {
        let Some(table) = self.program.tables.values().find(|table| table.name == planned.table) else {
            return self.error(site, format!("the program has no table `{}`", planned.table));
        };
        let count = |kind: MatchKind| table.keys.iter().filter(|key| key.kind == kind).count();
        let (exact, lpm) = (count(MatchKind::Exact), count(MatchKind::Lpm));
        let keys = table.keys.len();
        let (legal, needs) = match planned.structure {
            Structure::Exact => (exact == keys, "keys that are all exact"),
            Structure::Dir24_8 => (
                lpm == 1 && keys == 1 && self.key_width(table) <= Some(32),
                "one lpm key of at most 32 bits and no other",
            ),
            Structure::LpmTrie => (lpm == 1 && exact + lpm == keys, "one lpm key, all others being exact"),
            Structure::List => (true, ""),
        };
        if !legal {
            let word = crate::text::structure_word(planned.structure);
            self.report(site, format!("`{word}` does not suit table `{}`", table.name), &format!("it needs {needs}"));
        }
    }

    fn key_width(&self, table: &Table) -> Option<u32> {
        table.keys.first().map(|key| match super::Kinds::new(self.program, &[]).of(&key.value) {
            Some(Type::Bits(width)) => width,
            Some(Type::Bool) | None => 0,
        })
    }

    /// That no stateful object is touched in two loops.
    fn batching(&mut self, plan: &Plan, nodes: &HashMap<&str, NodeId>) {
        if plan.loops.iter().all(|lp| lp.batch <= 1) {
            return;
        }
        let owners = owners(self.program, plan, nodes);
        for (object, touched) in touches(self.program) {
            let of = |node: &NodeId| owners.get(node).cloned().unwrap_or_default();
            let loops: BTreeSet<Option<usize>> = touched.iter().flat_map(of).collect();
            if loops.len() < 2 {
                continue;
            }
            let name = |index: &Option<usize>| match index {
                Some(index) => format!("the loop of `{}`", plan.loops[*index].node),
                None => "what runs before the first loop".to_string(),
            };
            let named: Vec<String> = loops.iter().map(name).collect();
            let site = loops.iter().rev().flatten().next().map_or(Site::Plan, |index| Site::Loop(*index as u32));
            let nodes: Vec<String> = touched.iter().map(|id| format!("`{}`", self.program.nodes[*id].name)).collect();
            let hint = format!(
                "it is touched at {}: let one loop run all of it, such as one that begins where the ways there meet",
                nodes.join(", ")
            );
            self.report(site, format!("{object} is touched in {}", named.join(", and in ")), &hint);
        }
    }
}

/// The loops that run each node: those from whose first node it is reached before another loop begins. `None` stands for what runs packet
/// by packet from the entry.
fn owners(program: &Program, plan: &Plan, nodes: &HashMap<&str, NodeId>) -> HashMap<NodeId, BTreeSet<Option<usize>>> {
    let starts = plan.loops.iter().enumerate();
    let starts: HashMap<NodeId, usize> =
        starts.filter_map(|(index, lp)| nodes.get(lp.node.as_str()).map(|node| (*node, index))).collect();
    let mut owners: HashMap<NodeId, BTreeSet<Option<usize>>> = HashMap::new();
    let roots = starts.iter().map(|(node, index)| (*node, Some(*index)));
    let entry = program.entry.filter(|entry| !starts.contains_key(entry)).map(|entry| (entry, None));
    for (root, owner) in roots.chain(entry) {
        let mut pending = vec![root];
        while let Some(node) = pending.pop() {
            if owners.entry(node).or_default().insert(owner) {
                let reject = program.nodes[node].parser().map(|parser| program.parsers[parser].reject);
                let next = program.nodes[node].successors().into_iter().chain(reject);
                pending.extend(next.filter(|next| !starts.contains_key(next)));
            }
        }
    }
    owners
}

/// Every object whose state packets see, by a name for people, and the nodes that touch it.
fn touches(program: &Program) -> BTreeMap<String, Vec<NodeId>> {
    let mut touches: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
    let mut written = HashSet::new();
    for (id, node) in program.nodes.iter() {
        let mut objects = BTreeSet::new();
        if let NodeKind::Apply { table, .. } = &node.kind {
            if program.tables[*table].add_on_miss {
                objects.insert(format!("table `{}`", program.tables[*table].name));
            }
            let automatic =
                program.meters.values().filter(|meter| meter.table == Some(*table) && meter.automatic.is_some());
            objects.extend(automatic.map(|meter| format!("meter `{}`", meter.name)));
        }
        for statement in node_statements(program, node) {
            statement.walk(&mut |inner| {
                if let Statement::Call(call) = inner {
                    objects.extend(touched(program, call));
                    if let Call::WriteRegister { register, .. } = call {
                        written.insert(format!("register `{}`", program.registers[*register].name));
                    }
                }
            });
        }
        objects.into_iter().for_each(|object| touches.entry(object).or_default().push(id));
    }
    // What the data plane only reads does not change between two packets of a batch.
    touches.retain(|object, _| !object.starts_with("register ") || written.contains(object));
    touches
}

fn node_statements<'p>(program: &'p Program, node: &'p Node) -> Vec<&'p Statement> {
    match &node.kind {
        NodeKind::Apply { table, .. } => {
            program.tables[*table].actions.iter().flat_map(|action| &action.body).collect()
        }
        NodeKind::State { .. }
        | NodeKind::Block { .. }
        | NodeKind::Branch { .. }
        | NodeKind::Deparse { .. }
        | NodeKind::Buffer { .. } => node.kind.body().iter().collect(),
    }
}

/// The object that a call touches, if packets can see its state. Counters only add up.
fn touched(program: &Program, call: &Call) -> Option<String> {
    match call {
        Call::ReadRegister { register, .. } | Call::WriteRegister { register, .. } => {
            Some(format!("register `{}`", program.registers[*register].name))
        }
        Call::ExecuteMeter { meter, .. } => Some(format!("meter `{}`", program.meters[*meter].name)),
        Call::AddEntry { table, .. } => Some(format!("table `{}`", program.tables[*table].name)),
        Call::Custom { instance, .. } => Some(format!("extern `{instance}`")),
        Call::Count { .. }
        | Call::Hash { .. }
        | Call::AddChecksum { .. }
        | Call::Random { .. }
        | Call::SendDigest { .. }
        | Call::Log { .. }
        | Call::Assert { .. }
        | Call::RestartTimer { .. } => None,
    }
}
