//! The graph as a flow that is conserved: which edges have to be counted, and what the counts of nodes are then.
//!
//! Vertices are the nodes from which packets come to a counted place. Nodes that no sum distinguishes are one vertex: the
//! states of a parser, the comparisons of a lookup, the places that count at one index. All that is around them is one
//! more vertex, [`OUTSIDE`]: the ports, copies, and whatever is behind the last place.

use super::Sites;
use crate::analyze::traffic::Traffic;
use hlir::{Effect, Node, NodeId, NodeKind, ParserId, Program, Statement};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

const OUTSIDE: usize = 0;

/// What edges lead from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    Node(NodeId),
    Parser(ParserId),
}

/// Packets that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Count {
    /// All that the data plane receives.
    Received,
    /// Those on an edge; `is_alone`: no other edge leads to its node.
    Edge { from: Source, to: NodeId, is_alone: bool },
}

struct Edge {
    from: usize,
    to: usize,
    /// Whose packets these are. None: there is no place to count them.
    counts: Option<Vec<Count>>,
    /// Share of the packets received that take it.
    share: f64,
}

pub struct Conservation {
    vertices: HashMap<NodeId, usize>,
    edges: Vec<Edge>,
    /// For each edge that is not in the tree: how often its packets pass each counted vertex, and with which sign.
    passes: BTreeMap<usize, BTreeMap<usize, i32>>,
}

impl Edge {
    fn is_received(&self) -> bool {
        self.counts.as_deref() == Some(&[Count::Received])
    }
}

impl Conservation {
    pub fn of(program: &Program, traffic: &Traffic, sites: &Sites) -> Conservation {
        let places: BTreeSet<NodeId> = sites.values().flatten().copied().collect();
        let leading = leading_to(program, &places);
        let (vertices, count) = vertices(program, &leading, sites);
        let counted: BTreeSet<usize> = places.iter().filter_map(|node| vertices.get(node).copied()).collect();
        let edges = edges(program, traffic, &vertices, &counted);
        let passes = passes(&edges, count, &counted);
        Conservation { vertices, edges, passes }
    }

    /// For each index, what its packets are a sum of: counts, and whether they are added. Without indices whose count
    /// does not follow from others'. None if that is no less work than to count each where it was.
    pub fn sums(&self, sites: &Sites, traffic: &Traffic) -> Option<BTreeMap<u32, Vec<(Count, bool)>>> {
        let mut sums = BTreeMap::new();
        let (mut before, mut used, mut seen) = (0.0, BTreeSet::new(), BTreeSet::new());
        for (index, places) in sites {
            let mut total: BTreeMap<usize, i32> = BTreeMap::new();
            for place in places {
                let vertex = self.vertices.get(place)?;
                // Of several places at one vertex, the first represents all.
                if !seen.insert((*index, *vertex)) {
                    continue;
                }
                for (edge, passes) in &self.passes {
                    *total.entry(*edge).or_default() += passes.get(vertex).copied().unwrap_or(0);
                }
            }
            let term = |(edge, times): (&usize, &i32)| {
                let counts = self.edges[*edge].counts.clone()?;
                let each: Vec<(Count, bool)> = counts.into_iter().map(|count| (count, *times > 0)).collect();
                Some(each.repeat(times.unsigned_abs() as usize))
            };
            let terms: Option<Vec<_>> = total.iter().filter(|(_, times)| **times != 0).map(term).collect();
            let Some(terms) = terms else { continue };
            before += places.iter().map(|place| traffic.node(*place)).sum::<f64>();
            used.extend(total.iter().filter(|(_, times)| **times != 0).map(|(edge, _)| *edge));
            sums.insert(*index, terms.into_iter().flatten().collect());
        }
        let is_counted = |edge: &&usize| !self.edges[**edge].is_received();
        let after: f64 = used.iter().filter(is_counted).map(|edge| self.edges[*edge].share).sum();
        (after < before).then_some(sums)
    }
}

/// Where a packet itself goes on, each node once.
fn onward(program: &Program, node: &Node) -> Vec<NodeId> {
    let reject = node.parser().map(|parser| program.parsers[parser].reject);
    let all: BTreeSet<NodeId> = node.own_successors().into_iter().chain(reject).collect();
    all.into_iter().collect()
}

/// The nodes from which packets come to one of these, and all states of a parser with any such state.
fn leading_to(program: &Program, places: &BTreeSet<NodeId>) -> HashSet<NodeId> {
    let mut before: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    let mut states: HashMap<ParserId, Vec<NodeId>> = HashMap::new();
    for (id, node) in program.nodes.iter() {
        onward(program, node).into_iter().for_each(|to| before.entry(to).or_default().push(id));
        node.parser().iter().for_each(|parser| states.entry(*parser).or_default().push(id));
    }
    let mut leading = HashSet::new();
    let mut waiting: Vec<NodeId> = places.iter().copied().collect();
    while let Some(node) = waiting.pop() {
        if leading.insert(node) {
            waiting.extend(before.get(&node).into_iter().flatten());
            waiting.extend(program.nodes[node].parser().into_iter().flat_map(|parser| states[&parser].iter()));
        }
    }
    leading
}

/// The vertex of each node that leads to a place, and how many there are.
fn vertices(program: &Program, leading: &HashSet<NodeId>, sites: &Sites) -> (HashMap<NodeId, usize>, usize) {
    let nodes: Vec<NodeId> = program.nodes.iter().map(|(id, _)| id).filter(|id| leading.contains(id)).collect();
    let numbers: HashMap<NodeId, usize> = nodes.iter().zip(OUTSIDE + 1..).map(|(id, at)| (*id, at)).collect();
    let mut parts: Vec<usize> = (0..=nodes.len()).collect();
    let mut unite = |one: NodeId, other: NodeId| {
        let [one, other] = [numbers[&one], numbers[&other]].map(|at| root(&mut parts, at));
        parts[one] = other;
    };
    let mut states: HashMap<ParserId, NodeId> = HashMap::new();
    let mut before: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    for id in &nodes {
        let node = &program.nodes[*id];
        node.parser().iter().for_each(|parser| unite(*id, *states.entry(*parser).or_insert(*id)));
        onward(program, node).into_iter().for_each(|to| before.entry(to).or_default().push(*id));
    }
    let entered: HashSet<NodeId> =
        program.nodes.values().flat_map(Node::effects).filter_map(entered).chain(program.entry).collect();
    let is_comparison = |id: NodeId| matches!(program.nodes[id].kind, NodeKind::Branch { .. });
    for id in nodes.iter().filter(|id| is_comparison(**id) && !entered.contains(id)) {
        if let Some([only]) = before.get(id).map(Vec::as_slice)
            && is_comparison(*only)
        {
            unite(*id, *only);
        }
    }
    // A place behind another one would be entered unseen, and one that counts at several indices belongs to none.
    let all: Vec<NodeId> = sites.values().flatten().copied().collect();
    let is_single = |place: &NodeId| all.iter().filter(|other| *other == place).count() == 1;
    for places in sites.values().filter(|places| places.iter().all(is_single)) {
        let follows = |place: &NodeId| onward(program, &program.nodes[*place]).iter().any(|to| places.contains(to));
        if !places.iter().any(follows) {
            places.windows(2).for_each(|pair| unite(pair[0], pair[1]));
        }
    }
    let mut names = BTreeMap::from([(OUTSIDE, OUTSIDE)]);
    let mut vertices = HashMap::new();
    for id in &nodes {
        let next = names.len();
        vertices.insert(*id, *names.entry(root(&mut parts, numbers[id])).or_insert(next));
    }
    (vertices, names.len())
}

/// Edges from and to the outside that cannot be counted. Both at one vertex are one edge, of their difference; but the
/// packets that come to a counted vertex are distinguished from those that end there.
fn uncounted(begins: &BTreeSet<usize>, ends: &BTreeSet<usize>, counted: &BTreeSet<usize>) -> Vec<Edge> {
    let edge = |from: usize, to: usize| Edge { from, to, counts: None, share: f64::INFINITY };
    let inward = begins.iter().map(|to| edge(OUTSIDE, *to));
    let is_other = |from: &&usize| !begins.contains(from) || counted.contains(from);
    let outward = ends.iter().filter(is_other).map(|from| edge(*from, OUTSIDE));
    inward.chain(outward).filter(|edge| edge.from != edge.to).collect()
}

fn edges(
    program: &Program,
    traffic: &Traffic,
    vertices: &HashMap<NodeId, usize>,
    counted: &BTreeSet<usize>,
) -> Vec<Edge> {
    let vertex = |node: NodeId| vertices.get(&node).copied().unwrap_or(OUTSIDE);
    let mut edges = Vec::new();
    // Vertices at which packets begin and end in places that cannot be counted.
    let (mut begins, mut ends) = (BTreeSet::new(), BTreeSet::new());
    let mut between: BTreeMap<(Source, NodeId), f64> = BTreeMap::new();
    // How many edges lead to a node, of whatever kind.
    let mut entrances: HashMap<NodeId, usize> = HashMap::new();
    let mut enter = |node: NodeId| *entrances.entry(node).or_default() += 1;
    for (id, node) in program.nodes.iter() {
        let source = node.parser().map_or(Source::Node(id), Source::Parser);
        let here = vertex(id);
        for to in onward(program, node) {
            let is_inside = node.parser().is_some() && program.nodes[to].parser() == node.parser();
            if !is_inside {
                *between.entry((source, to)).or_insert_with(|| {
                    enter(to);
                    0.0
                }) += traffic.edge(id, to);
            }
        }
        for to in node.effects().filter_map(entered) {
            enter(to);
            begins.insert(vertex(to));
        }
        if may_end(program, node) {
            ends.insert(here);
        }
        if is_resumed(program, node) {
            begins.insert(here);
        }
    }
    edges.extend(uncounted(&begins, &ends, counted));
    if let Some(entry) = program.entry {
        enter(entry);
        let share = traffic.node(entry);
        edges.push(Edge { from: OUTSIDE, to: vertex(entry), counts: Some(vec![Count::Received]), share });
    }
    let mut together: BTreeMap<(usize, usize), (Vec<Count>, f64)> = BTreeMap::new();
    for ((source, to), share) in between {
        let from = match source {
            Source::Node(node) => vertex(node),
            Source::Parser(parser) => vertex(program.parsers[parser].start),
        };
        if from != OUTSIDE && from != vertex(to) {
            let (counts, sum) = together.entry((from, vertex(to))).or_default();
            counts.push(Count::Edge { from: source, to, is_alone: entrances.get(&to) == Some(&1) });
            *sum += share;
        }
    }
    edges.extend(together.into_iter().map(|((from, to), (counts, share))| Edge {
        from,
        to,
        counts: Some(counts),
        share,
    }));
    edges
}

/// The node that a copy begins at, or a packet that enters again.
fn entered(effect: &Effect) -> Option<NodeId> {
    match effect {
        Effect::Unicast { .. } | Effect::Drop { .. } | Effect::Send { .. } => None,
        Effect::Replicate { .. }
        | Effect::Clone { .. }
        | Effect::Resubmit { .. }
        | Effect::Recirculate { .. }
        | Effect::Punt { .. } => effect.target(),
    }
}

/// Whether a packet may end at a node: sent, dropped, or out of its budget or headroom.
pub fn may_end(program: &Program, node: &Node) -> bool {
    let mut loops = false;
    let is_loop = |inner: &Statement| matches!(inner, Statement::Loop { .. });
    node.kind.body().iter().for_each(|statement| statement.walk(&mut |inner| loops |= is_loop(inner)));
    match &node.kind {
        NodeKind::State { .. } => loops || comes_back(program, node),
        NodeKind::Block { .. } => loops,
        NodeKind::Branch { .. } => false,
        NodeKind::Apply { table, .. } => {
            let table = &program.tables[*table];
            let mut walked = |statement: &Statement| statement.walk(&mut |inner| loops |= is_loop(inner));
            table.actions.iter().flat_map(|action| &action.body).for_each(&mut walked);
            loops || table.punt_on_miss
        }
        NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => true,
    }
}

/// Whether packets begin at a table's node that the control plane has let go on.
fn is_resumed(program: &Program, node: &Node) -> bool {
    matches!(&node.kind, NodeKind::Apply { table, .. } if program.tables[*table].punt_on_miss)
}

/// Whether a packet may come to a parser state twice.
fn comes_back(program: &Program, state: &Node) -> bool {
    let mut seen = HashSet::new();
    let mut waiting = state.own_successors();
    while let Some(at) = waiting.pop() {
        let node = &program.nodes[at];
        if node.name == state.name {
            return true;
        }
        if node.parser() == state.parser() && seen.insert(at) {
            waiting.extend(node.own_successors());
        }
    }
    false
}

/// A spanning tree of the edges that most packets take, and what each other edge contributes to the counted vertices: its
/// packets go around a circle that the tree closes.
fn passes(edges: &[Edge], vertices: usize, counted: &BTreeSet<usize>) -> BTreeMap<usize, BTreeMap<usize, i32>> {
    let mut order: Vec<usize> = (0..edges.len()).filter(|at| !edges[*at].is_received()).collect();
    order.sort_by(|one, other| edges[*other].share.total_cmp(&edges[*one].share));
    let mut tree: Vec<Vec<usize>> = vec![Vec::new(); vertices];
    let mut parts: Vec<usize> = (0..vertices).collect();
    let mut is_in_tree = vec![false; edges.len()];
    for at in order {
        let (from, to) = (root(&mut parts, edges[at].from), root(&mut parts, edges[at].to));
        if from != to {
            parts[from] = to;
            is_in_tree[at] = true;
            tree[edges[at].from].push(at);
            tree[edges[at].to].push(at);
        }
    }
    let above = ancestors(edges, &tree);
    let mut passes = BTreeMap::new();
    for (at, edge) in edges.iter().enumerate().filter(|(at, edge)| !is_in_tree[*at] && edge.from != edge.to) {
        let mut of_edge: BTreeMap<usize, i32> = BTreeMap::new();
        let mut pass = |edge: &Edge, sign: i32| {
            if counted.contains(&edge.to) {
                *of_edge.entry(edge.to).or_default() += sign;
            }
        };
        // Around: along the edge, then through the tree from its end back to its beginning.
        let Some(circle) = through(edges, &above, edge.to, edge.from) else { continue };
        pass(edge, 1);
        circle.into_iter().for_each(|(edge, sign)| pass(edge, sign));
        passes.insert(at, of_edge);
    }
    passes
}

fn root(parts: &mut [usize], mut of: usize) -> usize {
    while parts[of] != of {
        parts[of] = parts[parts[of]];
        of = parts[of];
    }
    of
}

/// For each vertex its depth in the tree, and the edge to the vertex above.
fn ancestors(edges: &[Edge], tree: &[Vec<usize>]) -> Vec<(usize, Option<usize>)> {
    let mut above: Vec<Option<(usize, Option<usize>)>> = vec![None; tree.len()];
    for first in 0..tree.len() {
        if above[first].is_some() {
            continue;
        }
        above[first] = Some((0, None));
        let mut waiting = VecDeque::from([(first, 0)]);
        while let Some((vertex, depth)) = waiting.pop_front() {
            for at in &tree[vertex] {
                let other = edges[*at].from + edges[*at].to - vertex;
                if above[other].is_none() {
                    above[other] = Some((depth + 1, Some(*at)));
                    waiting.push_back((other, depth + 1));
                }
            }
        }
    }
    above.into_iter().map(Option::unwrap_or_default).collect()
}

/// The tree's edges from one vertex to another, each with 1 if it leads that way and -1 if it leads the other.
fn through<'e>(
    edges: &'e [Edge],
    above: &[(usize, Option<usize>)],
    mut from: usize,
    mut to: usize,
) -> Option<Vec<(&'e Edge, i32)>> {
    let mut found = Vec::new();
    while from != to {
        let up = above[from].0 >= above[to].0;
        let at = if up { from } else { to };
        let edge = &edges[above[at].1?];
        let other = edge.from + edge.to - at;
        let is_along = if up { edge.from == at } else { edge.to == at };
        found.push((edge, if is_along { 1 } else { -1 }));
        if up { from = other } else { to = other }
    }
    Some(found)
}
