//! Checks of a plan's queues: packets that wait past the end of their burst are overtaken by others, and that
//! must not be observable.
//!
//! A queue is first in, first out, so packets of one path stay in order. State that is used only after the
//! queue is used in order of arrival as well. Other packets would use shared state too early. So would clones
//! that are made before their packet waits: they share its copy budget.

use super::batching::{node_statements, touches};
use super::{Site, Verifier, onward};
use crate::hot_path;
use crate::plan::{Access, Loop, Queue};
use crate::{Call, Effect, NodeId, NodeKind, Plan, Program, Statement};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Packets per queue: each holds a buffer of its port.
const LARGEST_QUEUE: u32 = 1024;

impl Verifier<'_> {
    pub(super) fn queues(&mut self, plan: &Plan, named: &HashMap<&str, NodeId>) {
        let path = plan.hot_path.as_ref().and_then(|path| hot_path::nodes(self.program, path));
        for (index, queue) in plan.queues.iter().enumerate() {
            let site = Site::Queue(index as u32);
            let Some(node) = self.queue(site, queue, named) else { continue };
            if self.queue_on_path(site, plan, path.as_deref(), node) {
                self.queue_place(site, node);
            }
        }
    }

    /// The same for a queue in a plan whose path or stages are not known yet.
    pub(super) fn pinned_queue(&mut self, site: Site, queue: &Queue, named: &HashMap<&str, NodeId>) {
        if let Some(node) = self.queue(site, queue, named) {
            self.queue_place(site, node);
        }
    }

    /// The queue's node, if it exists and the numbers are possible.
    fn queue(&mut self, site: Site, queue: &Queue, named: &HashMap<&str, NodeId>) -> Option<NodeId> {
        let node = self.has_node(site, &queue.node, named)?;
        self.queue_size(site, queue).then_some(node)
    }

    fn queue_size(&mut self, site: Site, queue: &Queue) -> bool {
        let Queue { node, capacity, timeout, .. } = queue;
        if *capacity == 0 {
            self.error(site, format!("the queue at `{node}`: the capacity must be at least 1 packet"));
        } else if *capacity > LARGEST_QUEUE {
            self.error(
                site,
                format!(
                    "the queue at `{node}`: the capacity is {capacity} packets, at most {LARGEST_QUEUE} are possible"
                ),
            );
        } else if *timeout == 0 {
            let hint = "with timeout 1, packets wait until the end of the burst in which they arrived";
            self.report(site, format!("the queue at `{node}`: the timeout must be at least 1 burst"), hint);
        } else {
            return true;
        }
        false
    }

    /// Whether there is a hot path beside the queue.
    fn queue_on_path(&mut self, site: Site, plan: &Plan, path: Option<&[NodeId]>, node: NodeId) -> bool {
        let name = &self.program.nodes[node].name;
        let stages = path.map_or(Vec::new(), |path| hot_path::stages(self.program, plan, path));
        let (message, hint) = if stages.is_empty() {
            let message = format!("the queue at `{name}`: the plan has no hot path");
            (message, "packets wait after a side exit: add a `hot_path` with stages")
        } else if path.is_some_and(|path| path.contains(&node)) {
            (format!("the queue at `{name}` is on the hot path"), "place it at a node that is not on the hot path")
        } else {
            return true;
        };
        self.report_of_path(site, plan.hot_path.as_ref(), message, hint);
        false
    }

    /// Whether packets can wait at the node without an observable difference.
    fn queue_place(&mut self, site: Site, node: NodeId) {
        let name = &self.program.nodes[node].name;
        if self.program.nodes[node].parser().is_some() {
            let message = format!("packets cannot wait at `{name}`, a parser state");
            self.report(site, message, "place the queue after the parser");
        } else if !Visits::of(self.program, node).waited.contains(&node) {
            self.error(site, format!("no packet from a port gets to `{name}` to wait there"));
        } else {
            self.queue_state(site, node);
        }
    }

    /// A packet and its copies share a copy budget. Copies made before the queue would use it up first.
    fn queue_budget(&mut self, site: Site, visits: &Visits, node: NodeId) {
        let program = self.program;
        let has = |at: &&NodeId, is: fn(&Effect) -> bool| program.nodes[**at].effects().any(is);
        let goes_on = |effect: &Effect| effect.multiplies() && !effect.is_last();
        let before = visits.before.iter().filter(|at| has(at, goes_on) && leads_itself(program, **at, node));
        let pipelined = visits.waited.iter().filter(|at| has(at, Effect::multiplies));
        let first = before.min_by_key(|at| at.into_raw());
        let Some((before, pipelined)) = first.zip(pipelined.min_by_key(|at| at.into_raw())) else { return };
        let [before, node, pipelined] = [*before, node, *pipelined].map(|node| &program.nodes[node].name);
        let message =
            format!("packets are copied at `{before}` before they wait at `{node}`, and at `{pipelined}` afterwards");
        let hint = "place the queue where no copies are made before it, or none after it";
        let hint = format!("what comes of the first copies would use up the budget for the others: {hint}");
        self.report(site, message, &hint);
    }

    /// State used after the queue must be used there only, and nothing there may depend on the burst.
    fn queue_state(&mut self, site: Site, node: NodeId) {
        let program = self.program;
        let name = |node: &NodeId| format!("`{}`", program.nodes[*node].name);
        let visits = Visits::of(program, node);
        self.queue_budget(site, &visits, node);
        for (object, touched) in lasting(program) {
            let waited = touched.iter().any(|node| visits.waited.contains(node));
            let Some(other) = touched.iter().find(|node| visits.others.contains(node)).filter(|_| waited) else {
                continue;
            };
            let nodes: Vec<String> = touched.iter().map(name).collect();
            let message = format!(
                "{object} is used by packets that have waited at {}, and at {} by others",
                name(&node),
                name(other)
            );
            let hint = format!(
                "it is used at {}: others would overtake the packets that wait; place the queue before all of these",
                nodes.join(", ")
            );
            self.report(site, message, &hint);
        }
        let asserts = |node: &&NodeId| {
            let mut found = false;
            for statement in node_statements(program, &program.nodes[**node]) {
                statement.walk(&mut |inner| found |= matches!(inner, Statement::Call(Call::Assert { .. })));
            }
            found
        };
        let mut asserting: Vec<&NodeId> = visits.waited.iter().filter(asserts).collect();
        asserting.sort_by_key(|node| node.into_raw());
        if let Some(first) = asserting.first() {
            let message = format!("an assertion at {} is after the queue at {}", name(first), name(&node));
            self.report(
                site,
                message,
                "an assertion stops the switch at the end of its packet's burst, and that packet would wait",
            );
        }
    }

    /// A loop at a queue's node: the lookup there, for packets that waited together.
    pub(super) fn queue_loop(&mut self, number: u32, lp: &Loop, queue: &Queue, named: &HashMap<&str, NodeId>) {
        let site = Site::Loop(number);
        let Some(node) = named.get(lp.node.as_str()).copied() else { return };
        let Some(table) = hot_path::table_of(self.program, node) else {
            let hint = "without a loop, packets continue one by one after the queue";
            return self.report(
                site,
                format!("`{}` has no lookup that a loop could make for its queue", lp.node),
                hint,
            );
        };
        // An impossible queue is reported already; its capacity is not checked.
        if lp.batch != queue.capacity && (1..=LARGEST_QUEUE).contains(&queue.capacity) {
            let hint = format!("the batch of a queue's loop is its capacity: write `batch {}`", queue.capacity);
            self.report(site, format!("a batch of {} packets from a queue for {}", lp.batch, queue.capacity), &hint);
        }
        self.group_size(site, lp);
        let own = &self.program.tables[table].name;
        if let Some(other) = lp.lookups.iter().position(|lookup| lookup.table != *own) {
            let message = format!("packets of the queue at `{}` look up `{own}` only", lp.node);
            self.report(Site::Lookup(number, other as u32), message, "remove this `lookup`");
        }
        for (index, request) in lp.prefetches.iter().enumerate() {
            let is_own = matches!(&request.access, Access::Table(table) if table == own);
            if !is_own || request.placement.is_pipelined() {
                let hint = format!("lines of `{own}` can be prefetched there, `in own_loop`");
                let site = Site::Prefetch(number, index as u32);
                self.report(site, format!("packets of the queue at `{}` cannot prefetch this", lp.node), &hint);
            }
        }
        if hot_path::may_be_stale(self.program, node) {
            let message = format!("the lookup at `{}` cannot be made for a group", lp.node);
            let hint = "packets insert entries into its table, and an older packet of the queue may do so";
            self.report(site, message, hint);
        }
    }
}

/// Which packets reach which nodes.
struct Visits {
    /// Received packets that have not waited.
    before: HashSet<NodeId>,
    /// Packets that have waited, and copies that are made of them at once.
    waited: HashSet<NodeId>,
    /// All others: on other paths, or re-entered; these do not wait a second time.
    others: HashSet<NodeId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    FromPort,
    Waited,
    Again,
}

impl Visits {
    fn of(program: &Program, queue: NodeId) -> Visits {
        let mut seen: HashSet<(NodeId, Kind)> = HashSet::new();
        let mut left: Vec<(NodeId, Kind)> = program.entry.into_iter().map(|entry| (entry, Kind::FromPort)).collect();
        while let Some((node, kind)) = left.pop() {
            let kind = if kind == Kind::FromPort && node == queue { Kind::Waited } else { kind };
            if !seen.insert((node, kind)) {
                continue;
            }
            left.extend(itself(program, node).into_iter().map(|to| (to, kind)));
            left.extend(copies(program, node).into_iter().map(|(to, at_once)| {
                // A copy of a multicast group runs with its packet, but does not wait itself.
                (to, if at_once && kind == Kind::Waited { Kind::Waited } else { Kind::Again })
            }));
        }
        let of = |is: fn(Kind) -> bool| seen.iter().filter(|(_, kind)| is(*kind)).map(|(node, _)| *node).collect();
        Visits {
            before: of(|kind| kind == Kind::FromPort),
            waited: of(|kind| kind == Kind::Waited),
            others: of(|kind| kind != Kind::Waited),
        }
    }
}

/// Where a packet itself goes from a node, without its copies; failures of a parser state included.
fn itself(program: &Program, node: NodeId) -> Vec<NodeId> {
    match &program.nodes[node].kind {
        NodeKind::Buffer { .. } => program.nodes[node].own_successors(),
        NodeKind::State { .. }
        | NodeKind::Block { .. }
        | NodeKind::Branch { .. }
        | NodeKind::Apply { .. }
        | NodeKind::Deparse { .. } => onward(program, node),
    }
}

/// Whether a packet itself can go from one node to another.
fn leads_itself(program: &Program, from: NodeId, to: NodeId) -> bool {
    let mut seen = HashSet::new();
    let mut left = itself(program, from);
    while let Some(node) = left.pop() {
        if seen.insert(node) {
            left.extend(itself(program, node));
        }
    }
    seen.contains(&to)
}

/// Where copies and re-entering packets continue from a node, and whether at once.
fn copies(program: &Program, node: NodeId) -> Vec<(NodeId, bool)> {
    let NodeKind::Buffer { rules, .. } = &program.nodes[node].kind else { return Vec::new() };
    let copies = rules.iter().filter_map(|rule| match &rule.effect {
        Effect::Replicate { copy, .. } => Some((copy.to, true)),
        Effect::Clone { copy, .. } | Effect::Resubmit { copy } | Effect::Recirculate { copy } => Some((copy.to, false)),
        Effect::Punt { resume, .. } => Some((*resume, false)),
        Effect::Drop { .. } | Effect::Send { .. } | Effect::Unicast { .. } => None,
    });
    copies.collect()
}

/// All state that one packet leaves for others, with the nodes that use it: as for batches, and the last hit
/// of entries.
fn lasting(program: &Program) -> BTreeMap<String, Vec<NodeId>> {
    let mut lasting = touches(program);
    for (id, node) in program.nodes.iter() {
        let NodeKind::Apply { table, .. } = &node.kind else { continue };
        let table = &program.tables[*table];
        if table.idle_timeout.is_some() {
            lasting.entry(format!("the age of entries of table `{}`", table.name)).or_default().push(id);
        }
    }
    lasting
}
