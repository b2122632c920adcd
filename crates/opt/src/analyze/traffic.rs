//! Traffic estimation: the share of packets at each node and on each edge, by a forward data flow over the
//! graph.
//!
//! The traffic into a node is the sum over its incoming edges. With back edges (parser loops, resubmitted and
//! recirculated packets) the sums form a system of linear equations. Its unknowns are the few nodes that back
//! edges lead to.

use super::branch_probabilities::{Estimator, LookupOutcomes, Outflow};
use super::drops::{DropAnalysis, node_index};
use super::facts::Atoms;
use super::flow::Mass;
use crate::Inputs;
use hlir::{NodeId, NodeKind, Program};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Rounds until the facts at loop heads are good enough.
const ROUNDS: usize = 4;
/// Attempts to bound packets that would multiply without end.
const DAMPINGS: usize = 12;

/// Shares are relative to the packets received from ports: 1.0 is each of them once.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    nodes: Vec<f64>,
    edges: BTreeMap<(usize, usize), f64>,
    left: Vec<f64>,
    lookups: BTreeMap<usize, LookupOutcomes>,
    order: Vec<NodeId>,
}

impl Traffic {
    pub fn estimate(program: &Program, inputs: &Inputs) -> Traffic {
        let Some(entry) = program.entry else { return Traffic::default() };
        let passed = match inputs.profile.as_ref().map(|profile| profile.of(program)) {
            Some(Cow::Owned(profile)) => Some(Inputs { profile: Some(profile), ..inputs.clone() }),
            Some(Cow::Borrowed(_)) | None => None,
        };
        let inputs = passed.as_ref().unwrap_or(inputs);
        let order = reverse_postorder(program, entry);
        let (atoms, drops) = (Atoms::new(program), DropAnalysis::new(program, &order));
        let estimator = Estimator { program, inputs, atoms: &atoms, drops: &drops };
        let mut flow = Flow::new(program, &order);
        let rounds = if flow.heads.is_empty() { 1 } else { ROUNDS };
        for _ in 0..rounds {
            flow.sweep(&estimator, entry);
            flow.solve(program, entry);
        }
        flow.traffic(order)
    }

    /// Share of packets at a node.
    pub fn node(&self, node: NodeId) -> f64 {
        self.nodes.get(node_index(node)).copied().unwrap_or(0.0)
    }

    pub fn edge(&self, from: NodeId, to: NodeId) -> f64 {
        self.edges.get(&(node_index(from), node_index(to))).copied().unwrap_or(0.0)
    }

    /// Share of packets that end at a node: sent or dropped there.
    pub fn leaving(&self, node: NodeId) -> f64 {
        self.left.get(node_index(node)).copied().unwrap_or(0.0)
    }

    /// What a table node does with its packets.
    pub fn lookup(&self, node: NodeId) -> Option<&LookupOutcomes> {
        self.lookups.get(&node_index(node))
    }

    /// Reachable nodes, each before its successors.
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// One line per node, in order: its share and the shares of its edges.
    pub fn print(&self, program: &Program) -> String {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let mut text = String::new();
        for node in &self.order {
            let from = node_index(*node);
            let edges = self.edges.range((from, 0)..=(from, usize::MAX));
            let name = |to: usize| &program.nodes[NodeId::from_raw(la_arena::RawIdx::from_u32(to as u32))].name;
            let mut outflows: Vec<String> =
                edges.map(|((_, to), share)| format!("{} {}", name(*to), percent(*share))).collect();
            if self.left[from] > 0.0 {
                outflows.push(format!("leave {}", percent(self.left[from])));
            }
            text.push_str(&format!(
                "{} {} -> {}\n",
                program.nodes[*node].name,
                percent(self.node(*node)),
                outflows.join(", ")
            ));
        }
        text
    }

    /// The largest share of any node: above 1 where packets are replicated. Parser states are left out, since
    /// a packet visits them several times.
    pub fn expansion(&self, program: &Program) -> f64 {
        let passed = self.order.iter().filter(|node| program.nodes[**node].parser().is_none());
        passed.map(|node| self.node(*node)).fold(1.0, f64::max)
    }
}

/// Reachable nodes in reverse postorder: each before its successors, except along back edges.
pub fn reverse_postorder(program: &Program, entry: NodeId) -> Vec<NodeId> {
    let mut seen = vec![false; program.nodes.len()];
    let mut order = Vec::new();
    let mut stack = vec![(entry, followers(program, entry))];
    seen[node_index(entry)] = true;
    while let Some((node, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if !seen[node_index(next)] => {
                seen[node_index(next)] = true;
                stack.push((next, followers(program, next)));
            }
            Some(_) => {}
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

fn followers(program: &Program, id: NodeId) -> Vec<NodeId> {
    let node = &program.nodes[id];
    let mut all = node.successors();
    if let NodeKind::State { parser, .. } = &node.kind {
        all.push(program.parsers[*parser].reject);
    }
    // The first successor is visited last, so that it comes first in the order.
    all.reverse();
    all
}

/// The estimate in progress.
struct Flow {
    order: Vec<NodeId>,
    position: Vec<usize>,
    /// Loop heads: nodes that back edges lead to.
    heads: Vec<NodeId>,
    /// By node: the outflows for one packet at it.
    outflows: Vec<Vec<Outflow>>,
    totals: Vec<f64>,
    lookups: BTreeMap<usize, LookupOutcomes>,
}

impl Flow {
    fn new(program: &Program, order: &[NodeId]) -> Flow {
        let mut position = vec![usize::MAX; program.nodes.len()];
        order.iter().enumerate().for_each(|(at, node)| position[node_index(*node)] = at);
        let mut heads: Vec<NodeId> = Vec::new();
        for node in order {
            for next in followers(program, *node) {
                if position[node_index(next)] <= position[node_index(*node)] && !heads.contains(&next) {
                    heads.push(next);
                }
            }
        }
        let count = program.nodes.len();
        Flow {
            order: order.to_vec(),
            position,
            heads,
            outflows: vec![Vec::new(); count],
            totals: vec![0.0; count],
            lookups: BTreeMap::new(),
        }
    }

    /// Divides the packets at every node, in order, by the facts that hold there.
    fn sweep(&mut self, estimator: &Estimator, entry: NodeId) {
        let facts = estimator.atoms.at_entry();
        let mut arrived: Vec<Mass> = self.totals.iter().map(|_| Mass::none(facts.len())).collect();
        arrived[node_index(entry)] = Mass { share: 1.0, facts };
        // Packets that came back along back edges in the round before.
        for (from, outflows) in self.outflows.iter().enumerate() {
            for outflow in outflows {
                if let Some(to) = outflow.to.filter(|to| self.position[node_index(*to)] <= self.position[from]) {
                    let share = outflow.mass.share * self.totals[from];
                    arrived[node_index(to)].add(&Mass { share, facts: outflow.mass.facts.clone() });
                }
            }
        }
        for at in 0..self.order.len() {
            let node = self.order[at];
            let mass = Mass { share: 1.0, facts: arrived[node_index(node)].facts.clone() };
            let mut lookup = LookupOutcomes::default();
            let outflows = estimator.distribute(node, mass, &mut lookup);
            if !lookup.actions.is_empty() {
                self.lookups.insert(node_index(node), lookup);
            }
            let here = arrived[node_index(node)].share;
            for outflow in &outflows {
                if let Some(to) = outflow.to.filter(|to| self.position[node_index(*to)] > at) {
                    arrived[node_index(to)]
                        .add(&Mass { share: outflow.mass.share * here, facts: outflow.mass.facts.clone() });
                }
            }
            self.outflows[node_index(node)] = outflows;
        }
    }

    /// Propagates the traffic once, with `back` packets at the loop heads. Returns the packets at every node,
    /// and how many return to each head.
    fn carry(&self, entry: Option<NodeId>, back: &[f64], limits: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut totals = vec![0.0; self.totals.len()];
        if let Some(entry) = entry {
            totals[node_index(entry)] += 1.0;
        }
        self.heads.iter().zip(back).for_each(|(head, packets)| totals[node_index(*head)] += packets);
        let mut returned = vec![0.0; self.heads.len()];
        for node in &self.order {
            for outflow in &self.outflows[node_index(*node)] {
                let Some(to) = outflow.to else { continue };
                let here = totals[node_index(*node)];
                if self.position[node_index(to)] > self.position[node_index(*node)] {
                    totals[node_index(to)] += here * outflow.mass.share;
                } else if let Some(head) = self.heads.iter().position(|head| *head == to) {
                    returned[head] += here * outflow.mass.share.min(limits[head]);
                }
            }
        }
        (totals, returned)
    }

    /// Solves x = b + A x for the packets x that return to the loop heads.
    ///
    /// b is what the received packets send back, and column j of A is what one packet at head j sends back.
    /// Both come from `carry`. If the solution diverges (packets multiply), the limits on back edges are
    /// halved.
    fn solve(&mut self, program: &Program, entry: NodeId) {
        let count = self.heads.len();
        let budget = |head: &NodeId| match program.nodes[*head].kind {
            NodeKind::State { .. } => 1.0 - 1.0 / f64::from(program.budget.states.max(2)),
            NodeKind::Block { .. }
            | NodeKind::Branch { .. }
            | NodeKind::Apply { .. }
            | NodeKind::Deparse { .. }
            | NodeKind::Buffer { .. } => 1.0 - 1.0 / f64::from(program.budget.reentries.max(2)),
        };
        let mut limits: Vec<f64> = self.heads.iter().map(budget).collect();
        for _ in 0..DAMPINGS {
            let (_, first) = self.carry(Some(entry), &vec![0.0; count], &limits);
            let columns: Vec<Vec<f64>> = (0..count)
                .map(|head| {
                    let unit: Vec<f64> = (0..count).map(|other| f64::from(u8::from(other == head))).collect();
                    self.carry(None, &unit, &limits).1
                })
                .collect();
            if let Some(back) = gauss(&columns, &first) {
                self.totals = self.carry(Some(entry), &back, &limits).0;
                return;
            }
            limits.iter_mut().for_each(|limit| *limit /= 2.0);
        }
        self.totals = self.carry(Some(entry), &vec![0.0; count], &limits).0;
    }

    fn traffic(self, order: Vec<NodeId>) -> Traffic {
        let mut traffic = Traffic {
            left: vec![0.0; self.totals.len()],
            edges: BTreeMap::new(),
            lookups: self.lookups,
            order,
            nodes: self.totals,
        };
        for (from, outflows) in self.outflows.iter().enumerate() {
            for outflow in outflows {
                let packets = outflow.mass.share * traffic.nodes[from];
                match outflow.to {
                    Some(to) => *traffic.edges.entry((from, node_index(to))).or_default() += packets,
                    None => traffic.left[from] += packets,
                }
            }
        }
        traffic
    }
}

/// Solves x = b + A x with the columns of A, by Gaussian elimination with partial pivoting. `None` if the
/// solution diverges.
fn gauss(columns: &[Vec<f64>], b: &[f64]) -> Option<Vec<f64>> {
    let count = b.len();
    let mut rows: Vec<Vec<f64>> = (0..count)
        .map(|row| {
            let coefficients = (0..count).map(|column| f64::from(u8::from(row == column)) - columns[column][row]);
            coefficients.chain([b[row]]).collect()
        })
        .collect();
    for step in 0..count {
        let pivot = (step..count).max_by(|a, b| rows[*a][step].abs().total_cmp(&rows[*b][step].abs()))?;
        rows.swap(step, pivot);
        if rows[step][step].abs() < 1e-9 {
            return None;
        }
        let (done, rest) = rows.split_at_mut(step + 1);
        for row in rest {
            let factor = row[step] / done[step][step];
            for (value, above) in row[step..].iter_mut().zip(&done[step][step..]) {
                *value -= factor * above;
            }
        }
    }
    let mut solution = vec![0.0; count];
    for step in (0..count).rev() {
        let known: f64 = (step + 1..count).map(|column| rows[step][column] * solution[column]).sum();
        solution[step] = (rows[step][count] - known) / rows[step][step];
    }
    solution.iter().all(|packets| packets.is_finite() && *packets > -1e-9).then_some(solution)
}
