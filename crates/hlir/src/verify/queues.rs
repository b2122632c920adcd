//! Checks of a plan's queues: packets that wait past the end of their burst are overtaken by those that do not, and nothing may be different for it.
//!
//! Who gets to the node waits there, first come, first served; so packets of one path stay in order. State that only packets behind the node touch is
//! touched in the order of arrival as well. What others touch too, they would touch too early. So would what comes of a clone
//! that is made before its packet waits: it shares a budget for copies with the packet.

use super::batching::{node_statements, touches};
use super::{Site, Verifier, onward};
use crate::hot_path;
use crate::plan::{Access, Loop, Queue};
use crate::{Call, Effect, NodeId, NodeKind, Plan, Program, Statement};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Packets that may wait: each holds a buffer of its port.
const LARGEST_QUEUE: u32 = 1024;

impl Verifier<'_> {
    pub(super) fn queues(&mut self, plan: &Plan, named: &HashMap<&str, NodeId>) {
        let way = plan.hot_path.as_ref().and_then(|path| hot_path::nodes(self.program, path));
        for (index, queue) in plan.queues.iter().enumerate() {
            let site = Site::Queue(index as u32);
            let Some(node) = self.queue(site, queue, named) else { continue };
            if self.queue_on_path(site, plan, way.as_deref(), node) {
                self.queue_place(site, node);
            }
        }
    }

    /// The same of a queue in a plan whose path, or stages, are not known yet.
    pub(super) fn pinned_queue(&mut self, site: Site, queue: &Queue, named: &HashMap<&str, NodeId>) {
        if let Some(node) = self.queue(site, queue, named) {
            self.queue_place(site, node);
        }
    }

    /// The node before which packets wait, if there is one, and they can: for some room and some time.
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

    /// Whether there is a path, beside which packets wait.
    fn queue_on_path(&mut self, site: Site, plan: &Plan, way: Option<&[NodeId]>, node: NodeId) -> bool {
        let name = &self.program.nodes[node].name;
        let stages = way.map_or(Vec::new(), |way| hot_path::stages(self.program, plan, way));
        let (message, hint) = if stages.is_empty() {
            let message = format!("the queue before `{name}` stands in a plan without a path");
            (message, "packets wait that have left a path: the plan says which way the others take, and its stages")
        } else if way.is_some_and(|way| way.contains(&node)) {
            (
                format!("the queue before `{name}` would hold up the path"),
                "let it stand before a node that is not on the path",
            )
        } else {
            return true;
        };
        self.report_of_path(site, plan.hot_path.as_ref(), message, hint);
        false
    }

    /// Whether packets can wait there at all, and nobody sees that they do.
    fn queue_place(&mut self, site: Site, node: NodeId) {
        let name = &self.program.nodes[node].name;
        if self.program.nodes[node].parser().is_some() {
            let message = format!("packets cannot wait before `{name}`, a parser's state");
            self.report(site, message, "let the queue stand behind the parser");
        } else if !Visits::of(self.program, node).waited.contains(&node) {
            self.error(site, format!("no packet from a port gets to `{name}` to wait there"));
        } else {
            self.queue_state(site, node);
        }
    }

    /// A packet and all that comes of it share a budget for copies. What comes of a copy that is made before the queue would draw on it first.
    fn queue_budget(&mut self, site: Site, visits: &Visits, node: NodeId) {
        let program = self.program;
        let has = |at: &&NodeId, is: fn(&Effect) -> bool| program.nodes[**at].effects().any(is);
        let goes_on = |effect: &Effect| effect.multiplies() && !effect.is_last();
        let before = visits.before.iter().filter(|at| has(at, goes_on) && leads_itself(program, **at, node));
        let behind = visits.waited.iter().filter(|at| has(at, Effect::multiplies));
        let first = before.min_by_key(|at| at.into_raw());
        let Some((before, behind)) = first.zip(behind.min_by_key(|at| at.into_raw())) else { return };
        let [before, node, behind] = [*before, node, *behind].map(|node| &program.nodes[node].name);
        let message =
            format!("packets are copied at `{before}` before they wait before `{node}`, and at `{behind}` afterwards");
        let way_out = "let the queue stand where nothing is copied before it, or nothing behind it";
        let hint = format!("what comes of the first copies would use up the budget for the others: {way_out}");
        self.report(site, message, &hint);
    }

    /// What is touched behind the queue is touched by nobody else; and nothing there has to happen in its burst.
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
                "{object} is touched by packets that have waited before {}, and at {} by others",
                name(&node),
                name(other)
            );
            let hint = format!(
                "it is touched at {}: others would overtake those that wait; let the queue stand where all of these lie behind it",
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
            let message = format!("an assertion at {} stands behind the queue before {}", name(first), name(&node));
            self.report(
                site,
                message,
                "an assertion stops the switch at the end of its packet's burst, and that packet would wait",
            );
        }
    }

    /// A loop at a queue's node: the look-up there, for packets that have waited together.
    pub(super) fn queue_loop(&mut self, number: u32, lp: &Loop, queue: &Queue, named: &HashMap<&str, NodeId>) {
        let site = Site::Loop(number);
        let Some(node) = named.get(lp.node.as_str()).copied() else { return };
        let Some(table) = hot_path::table_of(self.program, node) else {
            let hint = "without a loop, packets that have waited go on one after the other";
            return self.report(site, format!("`{}` looks up no table for its queue to do so together", lp.node), hint);
        };
        // A queue that cannot be is the verifier's already, and its capacity no number to go by.
        if lp.batch != queue.capacity && (1..=LARGEST_QUEUE).contains(&queue.capacity) {
            let hint = format!("a queue is run for all that wait there: write `batch {}`", queue.capacity);
            self.report(site, format!("a batch of {} packets from a queue for {}", lp.batch, queue.capacity), &hint);
        }
        self.group_size(site, lp);
        let own = &self.program.tables[table].name;
        for (index, request) in lp.prefetches.iter().enumerate() {
            let is_own = matches!(&request.access, Access::Table { table, .. } if table == own);
            if !is_own || request.placement.is_pipelined() {
                let hint = format!("the lines of `{own}` can be requested there, `in own_loop`");
                let site = Site::Prefetch(number, index as u32);
                self.report(site, format!("packets that have waited before `{}` cannot request this", lp.node), &hint);
            }
        }
        self.look_up(site, None, (&[node], 0, 0));
    }
}

/// Who comes to which node.
struct Visits {
    /// Packets from a port that have not waited.
    before: HashSet<NodeId>,
    /// Packets that have waited, and copies that are made of them at once.
    waited: HashSet<NodeId>,
    /// All others: those on other ways, and those that enter again, which do not wait a second time.
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
                // A copy of a multicast group runs with the packet that it is made of, but does not wait itself.
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

/// Where a packet itself, and no copy of it, goes from a node; out of a parser state by its failures, too.
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

/// Whether a packet itself comes from one node to another.
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

/// Where copies of a packet and packets that enter again go on from a node, and whether at once.
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

/// Everything that one packet leaves for another to see, with the nodes that touch it: as for batches, and the time at which an entry was last hit.
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
