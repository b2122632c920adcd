//! What the cost of stages depends on along one hot path, summed up to each of its nodes: planners compare thousands of
//! plans with one path.

use super::Model;
use crate::analyze::hot_path;
use hlir::NodeId;
use hlir::hot_path::PathNames;
use schedule::Reach;
use std::cell::{OnceCell, RefCell};
use std::ops::Deref;

/// A hot path; that of a plan without one is empty.
pub struct Path<'a> {
    nodes: Vec<NodeId>,
    /// How far stages may reach.
    reach: OnceCell<Reach>,
    pub names: PathNames<'a>,
    /// By position, and one behind the last: operations of one visit of all nodes before it; and of their visits by
    /// one packet, at most one for each node.
    work: Vec<f64>,
    visited: Vec<f64>,
    /// The first position whose node's outcome may not last ([`hlir::hot_path::has_lasting_outcome`]).
    settled: usize,
    /// For each edge, the share of the packets on the path that continue along it.
    edges: OnceCell<Vec<f64>>,
    /// By position, as far as it was needed: the share of packets that are on the path there.
    shares: RefCell<Vec<f64>>,
    /// By position: of the packets that are on the path there, those that leave it later, other than by being dropped.
    exits: OnceCell<Vec<f64>>,
}

impl Deref for Path<'_> {
    type Target = [NodeId];

    fn deref(&self) -> &[NodeId] {
        &self.nodes
    }
}

impl<'a> Path<'a> {
    pub(super) fn new(model: &Model<'a>, nodes: Vec<NodeId>) -> Path<'a> {
        let (mut work, mut visited) = (vec![0.0], vec![0.0]);
        for (at, node) in nodes.iter().enumerate() {
            let operations = model.work(*node);
            work.push(work[at] + operations);
            visited.push(visited[at] + operations * model.traffic.node(*node).min(1.0));
        }
        let lasts = |node: &NodeId| hlir::hot_path::has_lasting_outcome(model.program, *node);
        Path {
            names: PathNames::new(model.program, &nodes),
            work,
            visited,
            settled: nodes.iter().position(|node| !lasts(node)).unwrap_or(nodes.len()),
            edges: OnceCell::new(),
            shares: RefCell::default(),
            exits: OnceCell::new(),
            reach: OnceCell::new(),
            nodes,
        }
    }

    pub(super) fn reach(&self, model: &Model) -> Reach {
        *self.reach.get_or_init(|| Reach::of(model.program, &self.nodes))
    }

    /// Operations of one visit of all nodes before a position.
    pub(super) fn work_before(&self, place: usize) -> f64 {
        self.work[place.min(self.nodes.len())]
    }

    /// Operations of a packet's visits of the nodes before a position, at most one of each.
    pub(super) fn visited_before(&self, place: usize) -> f64 {
        self.visited[place.min(self.nodes.len())]
    }

    /// Whether the stages after one at a position need not repeat the checks before it. Then little of a packet's state is
    /// left in them: what keys are made of.
    pub(super) fn is_settled(&self, place: usize) -> bool {
        !self.nodes.is_empty() && place.min(self.nodes.len()) <= self.settled
    }

    fn edges(&self, model: &Model) -> &[f64] {
        self.edges.get_or_init(|| hot_path::edge_shares(model.program, model.inputs, model.traffic, &self.nodes))
    }

    /// Share of the packets that are on the path at a position: they followed it so far, and ran nothing that cannot be
    /// speculated.
    pub(super) fn share_at(&self, model: &Model, place: usize) -> f64 {
        let mut shares = self.shares.borrow_mut();
        let edges = self.edges(model);
        while shares.len() <= place {
            let share = match shares.len().checked_sub(1) {
                None => model.traffic.node(self.nodes[0]).min(1.0),
                Some(before) => {
                    let [from, to] = [self.nodes[before], self.nodes[before + 1]];
                    shares[before] * (edges[before] * model.speculable_share(from, to))
                }
            };
            shares.push(share);
        }
        shares[place].clamp(0.0, 1.0)
    }

    /// Share of the packets at a position that leave the path from there on. Dropped packets do not: they go nowhere.
    pub(super) fn exit_share(&self, model: &Model, place: usize) -> f64 {
        let exits = self.exits.get_or_init(|| {
            let edges = self.edges(model);
            let mut exits = vec![0.0; edges.len() + 1];
            for (at, onward) in edges.iter().enumerate().rev() {
                let node = self.nodes[at];
                let ended = model.traffic.leaving(node) / model.traffic.node(node).max(f64::MIN_POSITIVE);
                exits[at] = (1.0 - onward - ended).max(0.0) + onward * exits[at + 1];
            }
            exits
        });
        exits.get(place).copied().unwrap_or(0.0)
    }
}
