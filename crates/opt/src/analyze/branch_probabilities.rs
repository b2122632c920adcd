//! Branch probabilities: how the packets at one node divide over its edges.
//!
//! In this order: counts of a profile, annotations of the programmer, certain facts, heuristics. The
//! heuristics: tests are for errors, tables are filled so that packets hit, parsers are written for the
//! packets that come. Their numbers choose between shapes of code; correctness does not depend on them.

use super::drops::DropAnalysis;
use super::facts::{Atoms, Facts};
use super::flow::{self, Mass};
use crate::Inputs;
use crate::inputs::Profile;
use crate::inputs::hints::{self, Hint};
use hlir::{Effect, Expression, Node, NodeId, NodeKind, Program, Reentry, Select, Statement};
use std::iter;

/// Probability of an arm that ends in a drop.
pub(super) const DROPS: f64 = 0.02;
/// Share of packets that no case of a parser expects, or that it rejects.
const UNEXPECTED: f64 = 0.02;
/// Share of the parser's `otherwise`, where it goes on: payload without further headers.
const OTHERWISE: f64 = 0.1;
/// Miss rate of a table whose default action does not drop: with exact and prefix keys only, and with rules.
pub(super) const MISSES: f64 = 0.1;
pub(super) const MISSES_RULES: f64 = 0.5;
/// Miss rate of a table that reports misses to the control plane, which answers with an entry.
pub(super) const MISSES_LEARNED: f64 = 0.02;
/// Members of a multicast group of unknown size.
pub const COPIES: f64 = 4.0;

/// The packets on one edge. `to` is `None` where they leave the switch.
#[derive(Clone, Debug)]
pub struct Outflow {
    pub to: Option<NodeId>,
    pub mass: Mass,
    /// Whether the packets enter the graph again, so that a budget bounds them.
    pub reenters: bool,
}

/// What a table node does with its packets.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct LookupOutcomes {
    /// Hit rate.
    pub hit: f64,
    /// Share of the packets that run each action. Misses are counted at the default action.
    pub actions: Vec<f64>,
}

pub struct Estimator<'a, 'p> {
    pub program: &'p Program,
    pub inputs: &'a Inputs,
    pub atoms: &'a Atoms<'p>,
    pub drops: &'a DropAnalysis<'p>,
}

impl Estimator<'_, '_> {
    /// Divides `mass` over the edges of a node; several outflows may have the same target. Fills `lookup` at
    /// a table.
    pub fn distribute(&self, id: NodeId, mass: Mass, lookup: &mut LookupOutcomes) -> Vec<Outflow> {
        let node = &self.program.nodes[id];
        let whole = mass.share;
        let mut outflows = match &node.kind {
            NodeKind::State { parser, body, select } => {
                let reject = self.program.parsers[*parser].reject;
                self.state(body, select, reject, mass)
            }
            NodeKind::Block { body, next, exit } => self.block(body, *next, *exit, mass),
            NodeKind::Deparse { body, next } => self.block(body, *next, None, mass),
            NodeKind::Branch { condition, then, otherwise } => self.branch(condition, *then, *otherwise, mass),
            NodeKind::Apply { .. } => self.lookup(id, &mass, lookup),
            NodeKind::Buffer { rules, otherwise } => self.buffer(rules, *otherwise, mass),
        };
        self.apply_profile(node, whole, &mut outflows);
        outflows
    }

    /// Divides `whole` as the profile counted. The profile is ignored if it saw no packets here, or saw packets go on to
    /// a node that this one does not lead to, or that no packet is estimated to go on to.
    pub(super) fn apply_profile(&self, node: &Node, whole: f64, outflows: &mut [Outflow]) {
        let Some(profile) = &self.inputs.profile else { return };
        let is_entry = self.program.entry.is_some_and(|entry| self.program.nodes[entry].name == node.name);
        let arrived = profile.arrived(&node.name, is_entry);
        // Also those that no packet is expected to come to.
        let mut onward = node.successors();
        if let NodeKind::State { parser, .. } = &node.kind {
            onward.push(self.program.parsers[*parser].reject);
        }
        let leads_to = |name: &str| onward.iter().any(|next| self.sources(*next).any(|source| source == name));
        if arrived == 0 || profile.onward(&node.name).any(|(to, count)| count > 0 && !leads_to(to)) {
            return;
        }
        let targets: Vec<NodeId> = outflows.iter().filter_map(|outflow| outflow.to).collect();
        // As where a table has another default action than the declared one.
        let is_expected = |name: &str| targets.iter().any(|next| self.sources(*next).any(|source| source == name));
        if profile.onward(&node.name).any(|(to, count)| count > 0 && !is_expected(to)) {
            return;
        }
        let mut inside = 0.0;
        for (at, target) in targets.iter().enumerate() {
            if targets[..at].contains(target) {
                continue;
            }
            let share = self.counted(profile, node, *target) as f64 / arrived as f64 * whole;
            let same: Vec<usize> =
                (0..outflows.len()).filter(|outflow| outflows[*outflow].to == Some(*target)).collect();
            let guessed: f64 = same.iter().map(|outflow| outflows[*outflow].mass.share).sum();
            for outflow in &same {
                let part =
                    if guessed > 0.0 { outflows[*outflow].mass.share / guessed } else { 1.0 / same.len() as f64 };
                outflows[*outflow].mass.share = share * part;
            }
            inside += share;
        }
        let left: f64 = outflows.iter().filter(|outflow| outflow.to.is_none()).map(|outflow| outflow.mass.share).sum();
        for outflow in outflows.iter_mut().filter(|outflow| outflow.to.is_none() && left > 0.0) {
            outflow.mass.share *= (whole - inside).max(0.0) / left;
        }
    }

    /// The packets that a profile saw on an edge. One that was counted without a join has them go to its first source.
    fn counted(&self, profile: &Profile, from: &Node, to: NodeId) -> u64 {
        self.sources(to).find_map(|name| profile.count(&from.name, name)).unwrap_or(0)
    }

    /// The names of a node, and of those before which it is as a joint lookup, in their order.
    fn sources(&self, node: NodeId) -> impl Iterator<Item = &str> {
        let nodes = iter::successors(Some(node), |node| hlir::join::slow_path(self.program, *node));
        nodes.map(|node| self.program.nodes[node].name.as_str())
    }

    pub(super) fn block(&self, body: &[Statement], next: NodeId, exit: Option<NodeId>, mass: Mass) -> Vec<Outflow> {
        let judge = |condition: &Expression, then: &[Statement], otherwise: &[Statement], facts: &Facts| {
            let arms = (self.drops.body_drops(then, next, exit), self.drops.body_drops(otherwise, next, exit));
            self.judge(condition, arms, facts)
        };
        let ends = flow::run(self.atoms, body, mass, &judge);
        let mut outflows = vec![Outflow { to: Some(next), mass: ends.through, reenters: false }];
        outflows.extend(exit.map(|exit| Outflow { to: Some(exit), mass: ends.exit, reenters: false }));
        outflows
    }

    /// The probability of a condition of which one outcome leads to a drop. Unknown conditions are taken to
    /// hold for the other outcome.
    fn judge(&self, condition: &Expression, drops: (bool, bool), facts: &Facts) -> Option<f64> {
        match drops {
            (true, false) => Some(self.atoms.leaning(condition, facts, false, DROPS)),
            (false, true) => Some(self.atoms.leaning(condition, facts, true, DROPS)),
            (true, true) | (false, false) => None,
        }
    }

    fn branch(&self, condition: &Expression, then: NodeId, otherwise: NodeId, mass: Mass) -> Vec<Outflow> {
        let drops = (self.drops.always_drops(then), self.drops.always_drops(otherwise));
        let share = self.judge(condition, drops, &mass.facts);
        let hint = || hints::of(&self.program.nodes[then].notes).map(|hint| hint.share(0.5));
        let share = share.or_else(hint).unwrap_or_else(|| self.atoms.probability(condition, &mass.facts));
        let arm = |to: NodeId, outcome: bool, share: f64| {
            let mut facts = mass.facts.clone();
            self.atoms.assume(condition, outcome, &mut facts);
            Outflow { to: Some(to), mass: Mass { share: mass.share * share, facts }, reenters: false }
        };
        vec![arm(then, true, share), arm(otherwise, false, 1.0 - share)]
    }

    fn state(&self, body: &[Statement], select: &Select, reject: NodeId, mass: Mass) -> Vec<Outflow> {
        let ends = flow::run(self.atoms, body, mass, &|_, _, _, _| None);
        let mut targets: Vec<(NodeId, f64)> = Vec::new();
        let mut add = |to: NodeId, guess: f64| match targets.iter_mut().find(|(known, _)| *known == to) {
            Some((_, known)) => *known = known.max(guess),
            None => targets.push((to, guess)),
        };
        let is_state = |to: NodeId| self.program.nodes[to].parser().is_some();
        for case in &select.cases {
            let whole = case.sets.iter().all(|set| *set == hlir::KeySet::Any);
            let guess = if whole && !select.cases.is_empty() { OTHERWISE } else { 1.0 };
            add(
                case.to,
                if case.to == reject && !is_state(reject) && select.cases.len() > 1 {
                    guess.min(OTHERWISE)
                } else {
                    guess
                },
            );
        }
        match select.otherwise {
            Some(to) => add(to, if select.cases.is_empty() { 1.0 } else { OTHERWISE }),
            None => add(reject, UNEXPECTED),
        }
        let hints: Vec<Option<Hint>> = targets
            .iter()
            .map(|(to, _)| if is_state(*to) { hints::of(&self.program.nodes[*to].notes) } else { None })
            .collect();
        let mut shares: Vec<f64> = targets.iter().map(|(_, guess)| *guess).collect();
        hints::distribute(&mut shares, &hints, ends.through.share);
        let mut outflows: Vec<Outflow> = targets
            .iter()
            .zip(shares)
            .map(|((to, _), share)| Outflow {
                to: Some(*to),
                mass: Mass { share, facts: ends.through.facts.clone() },
                reenters: false,
            })
            .collect();
        outflows.push(Outflow { to: Some(reject), mass: ends.failed, reenters: false });
        outflows
    }

    fn buffer(&self, rules: &[hlir::Rule], otherwise: Option<NodeId>, mut mass: Mass) -> Vec<Outflow> {
        let mut outflows = Vec::new();
        for rule in rules {
            let share = self.atoms.probability(&rule.condition, &mass.facts);
            let mut taken = Mass { share: mass.share * share, facts: mass.facts.clone() };
            self.atoms.assume(&rule.condition, true, &mut taken.facts);
            if rule.effect.is_last() {
                mass.share -= taken.share;
                self.atoms.assume(&rule.condition, false, &mut mass.facts);
            }
            outflows.extend(self.effect(&rule.effect, taken));
        }
        outflows.extend(otherwise.map(|to| Outflow { to: Some(to), mass, reenters: false }));
        outflows
    }

    fn effect(&self, effect: &Effect, mut mass: Mass) -> Option<Outflow> {
        let reenters = |copy: &Reentry, mass: Mass, factor: f64, reenters: bool| {
            let mut facts = if copy.bytes == hlir::Bytes::Current { mass.facts } else { self.atoms.at_entry() };
            copy.set.iter().for_each(|(place, value)| self.atoms.assign(*place, value, &mut facts));
            Some(Outflow { to: Some(copy.to), mass: Mass { share: mass.share * factor, facts }, reenters })
        };
        match effect {
            Effect::Drop { .. } | Effect::Send { .. } => Some(Outflow { to: None, mass, reenters: false }),
            Effect::Unicast { set, to } => {
                set.iter().for_each(|(place, value)| self.atoms.assign(*place, value, &mut mass.facts));
                Some(Outflow { to: Some(*to), mass, reenters: false })
            }
            Effect::Replicate { copy, .. } => reenters(copy, mass, COPIES, false),
            Effect::Clone { copy, .. } | Effect::Resubmit { copy } | Effect::Recirculate { copy } => {
                reenters(copy, mass, 1.0, true)
            }
            Effect::Punt { resume, .. } => Some(Outflow { to: Some(*resume), mass, reenters: true }),
        }
    }
}
