//! Checks that batching is not observable.
//!
//! A loop runs for all packets of a batch before the next loop begins. If two loops used one stateful object,
//! a packet would see writes of a later one: so all nodes that use it must run in one loop. A re-entering
//! packet is a new one and runs after its burst. Packets that visit a loop several times, in a parser's
//! cycle, reach later nodes in rounds: no state may be used there.

use super::graph::onward;
use super::{Site, Verifier};
use crate::{Call, Effect, Node, NodeId, NodeKind, Plan, Program, Rule, Statement};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Nodes that run together: those of one loop, or those that run packet by packet before the first loop.
struct Region {
    number: Option<usize>,
    nodes: HashSet<NodeId>,
    /// Loops that begin where this region ends.
    following: BTreeSet<usize>,
}

impl Verifier<'_> {
    pub(super) fn batching(&mut self, plan: &Plan, nodes: &HashMap<&str, NodeId>) {
        if plan.loops.iter().all(|lp| lp.batch <= 1) {
            return;
        }
        let starts = plan.loops.iter().enumerate();
        let starts = starts.filter_map(|(index, lp)| nodes.get(lp.node.as_str()).map(|node| (*node, index)));
        let behind = behind_replication(self.program);
        let starts: HashMap<NodeId, usize> = starts.filter(|(node, _)| !behind.contains(node)).collect();
        let touches = touches(self.program);
        let mut reported = HashSet::new();
        for root in roots(self.program) {
            let regions = regions(self.program, root, &starts, plan, nodes);
            for (object, touched) in &touches {
                let by = |region: &&Region| touched.iter().any(|node| region.nodes.contains(node));
                let by: BTreeSet<Option<usize>> = regions.iter().filter(by).map(|region| region.number).collect();
                if by.len() > 1 && reported.insert(object) {
                    self.divided(plan, object, touched, &by);
                }
                let again = regions.iter().find(|region| comes_again(region, &regions));
                if let Some(again) = again.and_then(|region| region.number)
                    && by.iter().flatten().any(|number| leads_to(again, *number, &regions))
                    && reported.insert(object)
                {
                    let name = &plan.loops[again].node;
                    let message =
                        format!("{object} is used where packets have visited the loop of `{name}` once or more");
                    let hint = "begin no loop in a cycle of the parser: packets overtake each other there";
                    self.report(Site::Loop(again as u32), message, hint);
                }
            }
        }
    }

    fn divided(&mut self, plan: &Plan, object: &str, touched: &[NodeId], regions: &BTreeSet<Option<usize>>) {
        let name = |index: &Option<usize>| match index {
            Some(index) => format!("the loop of `{}`", plan.loops[*index].node),
            None => "what runs before the first loop".to_string(),
        };
        let named: Vec<String> = regions.iter().map(name).collect();
        let site = regions.iter().rev().flatten().next().map_or(Site::Plan, |index| Site::Loop(*index as u32));
        let nodes: Vec<String> = touched.iter().map(|id| format!("`{}`", self.program.nodes[*id].name)).collect();
        let way_out = "use it in one loop, such as one that begins where the paths to it meet";
        let hint = format!("it is touched at {}: {way_out}", nodes.join(", "));
        self.report(site, format!("{object} is touched in {}", named.join(", and in ")), &hint);
    }
}

/// Nodes after a replication. The copies run to their end at once, so no loop may begin there: packets would
/// overtake each other's copies.
pub fn behind_replication(program: &Program) -> HashSet<NodeId> {
    let replicates = |node: &Node| match &node.kind {
        NodeKind::Buffer { rules, .. } => rules.iter().any(|rule| matches!(rule.effect, Effect::Replicate { .. })),
        NodeKind::State { .. }
        | NodeKind::Block { .. }
        | NodeKind::Branch { .. }
        | NodeKind::Apply { .. }
        | NodeKind::Deparse { .. } => false,
    };
    let mut behind = HashSet::new();
    let mut left: Vec<&Node> = program.nodes.values().filter(|node| replicates(node)).collect();
    while let Some(node) = left.pop() {
        left.extend(node.successors().into_iter().filter(|to| behind.insert(*to)).map(|to| &program.nodes[to]));
    }
    behind
}

/// Whether a loop's packets can reach it again.
fn comes_again(region: &Region, regions: &[Region]) -> bool {
    region.number.is_some_and(|number| region.following.iter().any(|next| leads_to(*next, number, regions)))
}

/// Whether packets of one loop can reach another, or it is the same.
fn leads_to(from: usize, to: usize, regions: &[Region]) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut left = vec![from];
    while let Some(number) = left.pop() {
        let followed =
            regions.iter().filter(|region| region.number == Some(number)).flat_map(|region| &region.following);
        left.extend(followed.filter(|next| seen.insert(**next)));
    }
    seen.contains(&to)
}

/// Where packets enter: received, re-entering, or resumed by the control plane.
fn roots(program: &Program) -> Vec<NodeId> {
    let again = |rule: &Rule| match &rule.effect {
        Effect::Clone { copy, .. } | Effect::Resubmit { copy } | Effect::Recirculate { copy } => Some(copy.to),
        Effect::Punt { resume, .. } => Some(*resume),
        Effect::Drop { .. } | Effect::Send { .. } | Effect::Unicast { .. } | Effect::Replicate { .. } => None,
    };
    let of_node = |node: &Node| match &node.kind {
        NodeKind::Buffer { rules, .. } => rules.iter().filter_map(again).collect(),
        NodeKind::State { .. }
        | NodeKind::Block { .. }
        | NodeKind::Branch { .. }
        | NodeKind::Apply { .. }
        | NodeKind::Deparse { .. } => Vec::new(),
    };
    let again: BTreeSet<u32> = program.nodes.values().flat_map(of_node).map(crate::text::number).collect();
    let again = again.into_iter().map(|number| NodeId::from_raw(la_arena::RawIdx::from_u32(number)));
    program.entry.into_iter().chain(again).collect()
}

/// The regions that packets entering at `root` visit.
fn regions(
    program: &Program,
    root: NodeId,
    starts: &HashMap<NodeId, usize>,
    plan: &Plan,
    nodes: &HashMap<&str, NodeId>,
) -> Vec<Region> {
    let first = match starts.get(&root) {
        Some(index) => BTreeSet::from([*index]),
        None => BTreeSet::new(),
    };
    let mut regions = Vec::new();
    let mut pending: Vec<usize> = first.into_iter().collect();
    if pending.is_empty() {
        let region = region(program, root, None, starts);
        pending.extend(&region.following);
        regions.push(region);
    }
    let mut seen: HashSet<usize> = pending.iter().copied().collect();
    while let Some(index) = pending.pop() {
        let Some(start) = nodes.get(plan.loops[index].node.as_str()) else { continue };
        let region = region(program, *start, Some(index), starts);
        pending.extend(region.following.iter().filter(|next| seen.insert(**next)));
        regions.push(region);
    }
    regions
}

fn region(program: &Program, start: NodeId, number: Option<usize>, starts: &HashMap<NodeId, usize>) -> Region {
    let mut region = Region { number, nodes: HashSet::new(), following: BTreeSet::new() };
    let mut pending = vec![start];
    while let Some(node) = pending.pop() {
        if !region.nodes.insert(node) {
            continue;
        }
        for next in onward(program, node) {
            match starts.get(&next) {
                Some(index) => drop(region.following.insert(*index)),
                None => pending.push(next),
            }
        }
    }
    region
}

/// Every object with observable state, by its name in messages, and the nodes that use it.
pub(super) fn touches(program: &Program) -> BTreeMap<String, Vec<NodeId>> {
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
    // State that the data plane only reads does not change within a batch.
    touches.retain(|object, _| !object.starts_with("register ") || written.contains(object));
    touches
}

pub(super) fn node_statements<'p>(program: &'p Program, node: &'p Node) -> Vec<&'p Statement> {
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

/// The object that a call uses, if its state is observable. Counters only add up.
fn touched(program: &Program, call: &Call) -> Option<String> {
    match call {
        Call::ReadRegister { register, .. } | Call::WriteRegister { register, .. } => {
            Some(format!("register `{}`", program.registers[*register].name))
        }
        Call::ExecuteMeter { meter, .. } => Some(format!("meter `{}`", program.meters[*meter].name)),
        Call::AddEntry { table, .. } => Some(format!("table `{}`", program.tables[*table].name)),
        Call::Custom { object, .. } => Some(format!("extern `{}`", program.externs[*object].name)),
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
