//! Which copies of packets are references: those whose bytes neither they nor the original change from there on.
//!
//! Copies of a multicast group run to their end one after the other, and the original ends where it is replicated. A clone begins after the burst, and the
//! original goes on, so neither may write. A length is part of an own descriptor, but of an mbuf all references have the same: there a copy that a session
//! cuts, or of a packet that one has cut, gets bytes of its own, which is known only when it is made.

use crate::deparse::same_packet;
use crate::unit::{Unit, number};
use hlir::effects::{Part, statement_writes, writes};
use hlir::{
    Binary, Bytes, Effect, Expression, Intrinsic, NodeId, NodeKind, Place, Reentry, Rule, Statement, VariableId,
};
use std::collections::BTreeSet;

/// A copy that is a reference while all of `limits` are zero, in the original and in what the copy is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharing {
    pub limits: Vec<VariableId>,
}

/// What is asked of the nodes that a packet runs through.
struct Question<'a> {
    /// These variables are zero.
    limits: &'a [VariableId],
    /// Whether a packet that is cut has been changed.
    cuts_count: bool,
}

impl Unit<'_> {
    /// The bytes with which a copy at a node begins: those received are those there, where nothing has changed them.
    pub fn bytes_of(&self, at: NodeId, copy: &Reentry) -> Bytes {
        match copy.bytes {
            Bytes::Original if self.is_as_received(at) => Bytes::Deparsed,
            bytes @ (Bytes::Original | Bytes::Deparsed | Bytes::Current) => bytes,
        }
    }

    /// Whether the copies of an effect of the node are references.
    pub fn sharing(&self, at: NodeId, effect: &Effect) -> Option<Sharing> {
        let (copy, goes_on) = match effect {
            Effect::Replicate { copy, .. } => (copy, false),
            Effect::Clone { copy, .. } => (copy, true),
            Effect::Drop { .. }
            | Effect::Send { .. }
            | Effect::Unicast { .. }
            | Effect::Resubmit { .. }
            | Effect::Recirculate { .. }
            | Effect::Punt { .. } => return None,
        };
        let bytes = self.bytes_of(at, copy);
        if bytes == Bytes::Original || sets_field(copy) {
            return None;
        }
        let limits = if self.own() { Vec::new() } else { self.limits() };
        let question = Question { limits: &limits, cuts_count: !self.own() };
        let mut left = vec![copy.to];
        if goes_on {
            if self.changes_bytes(at, &question) {
                return None;
            }
            left.extend(self.node(at).own_successors());
        }
        // A parser gathers what it reads into one buffer. A copy that is parsed is a reference only if it has one.
        let parsed = bytes == Bytes::Deparsed;
        let reached = self.reached(left, &question);
        let keeps =
            |node: &NodeId| (parsed || self.node(*node).parser().is_none()) && !self.changes_bytes(*node, &question);
        reached.iter().all(keeps).then_some(Sharing { limits })
    }

    /// The ways in which copies that are references begin: as the packet is, and at its front.
    pub fn shared_bytes(&self) -> Vec<Bytes> {
        let sites = self.facts.order.iter().flat_map(|node| self.rules(*node).iter().map(|rule| (*node, rule)));
        let shared = sites.filter_map(|(node, rule)| match &rule.effect {
            effect @ (Effect::Replicate { copy, .. } | Effect::Clone { copy, .. }) => {
                self.sharing(node, effect).map(|_| self.bytes_of(node, copy))
            }
            Effect::Drop { .. }
            | Effect::Send { .. }
            | Effect::Unicast { .. }
            | Effect::Resubmit { .. }
            | Effect::Recirculate { .. }
            | Effect::Punt { .. } => None,
        });
        shared.collect()
    }

    /// Whether some copy goes back to bytes that have been changed.
    pub fn needs_original(&self) -> bool {
        let is_original = |node: NodeId, rule: &Rule| {
            reentry(&rule.effect).is_some_and(|copy| self.bytes_of(node, copy) == Bytes::Original)
        };
        self.facts.order.iter().any(|node| self.rules(*node).iter().any(|rule| is_original(*node, rule)))
    }

    fn rules(&self, node: NodeId) -> &[Rule] {
        match &self.node(node).kind {
            NodeKind::Buffer { rules, .. } => rules,
            NodeKind::State { .. }
            | NodeKind::Block { .. }
            | NodeKind::Deparse { .. }
            | NodeKind::Branch { .. }
            | NodeKind::Apply { .. } => &[],
        }
    }

    /// Whether no packet has been changed on its way to the node since it entered.
    fn is_as_received(&self, at: NodeId) -> bool {
        let mut before: BTreeSet<usize> = BTreeSet::new();
        let leads = |before: &BTreeSet<usize>, node: NodeId| {
            // Replicas go on at once, and what was received is what the packet of the group was.
            let replicas = self.rules(node).iter().filter_map(|rule| replica(&rule.effect));
            let mut behind = same_packet(self.program, node).into_iter().chain(replicas);
            behind.any(|to| to == at || before.contains(&number(to)))
        };
        loop {
            let more = |node: &&NodeId| !before.contains(&number(**node)) && leads(&before, **node);
            let found: Vec<usize> = self.facts.order.iter().filter(more).map(|node| number(*node)).collect();
            if found.is_empty() {
                break;
            }
            before.extend(found);
        }
        let question = Question { limits: &[], cuts_count: true };
        let keeps = |node: &NodeId| {
            let copies = self.rules(*node).iter().filter_map(|rule| reentry(&rule.effect));
            !self.changes_bytes(*node, &question) && !copies.into_iter().any(sets_field)
        };
        self.facts.order.iter().filter(|node| before.contains(&number(**node))).all(keeps)
    }

    /// Variables that only sessions set, to the bytes to which they cut copies; they are zero in all other packets.
    fn limits(&self) -> Vec<VariableId> {
        let mut limits = BTreeSet::new();
        let mut others = BTreeSet::new();
        for node in &self.facts.order {
            others.extend(writes(self.program, *node));
            for (place, value) in
                self.rules(*node).iter().filter_map(|rule| reentry(&rule.effect)).flat_map(|it| &it.set)
            {
                match place {
                    Place::Variable(variable) if *value == Expression::Intrinsic(Intrinsic::CopyTruncation) => {
                        limits.insert(*variable);
                    }
                    place @ (Place::Variable(_) | Place::Field(_)) => drop(others.insert(Part::from(*place))),
                }
            }
        }
        limits.into_iter().filter(|variable| !others.contains(&Part::Variable(*variable))).collect()
    }

    /// The nodes that the packet runs through from these on.
    fn reached(&self, mut left: Vec<NodeId>, question: &Question<'_>) -> Vec<NodeId> {
        let (mut seen, mut reached) = (BTreeSet::new(), Vec::new());
        while let Some(node) = left.pop() {
            if !seen.insert(number(node)) {
                continue;
            }
            reached.push(node);
            match &self.node(node).kind {
                NodeKind::Branch { condition, otherwise, .. } if question.denies(condition) => left.push(*otherwise),
                NodeKind::State { parser, .. } => {
                    left.push(self.program.parsers[*parser].reject);
                    left.extend(self.node(node).own_successors());
                }
                NodeKind::Branch { .. }
                | NodeKind::Block { .. }
                | NodeKind::Deparse { .. }
                | NodeKind::Apply { .. }
                | NodeKind::Buffer { .. } => left.extend(self.node(node).own_successors()),
            }
        }
        reached
    }

    fn changes_bytes(&self, node: NodeId, question: &Question<'_>) -> bool {
        match &self.node(node).kind {
            NodeKind::Deparse { body, .. } => !self.stays_in_place(node, body),
            NodeKind::State { body, .. } | NodeKind::Block { body, .. } => question.changed_by(body),
            NodeKind::Apply { table, .. } => {
                let metered = self.program.meters.values().filter(|meter| meter.table == Some(*table));
                metered.into_iter().any(|meter| matches!(meter.automatic, Some(Place::Field(_))))
                    || self.program.tables[*table].actions.iter().any(|action| question.changed_by(&action.body))
            }
            NodeKind::Branch { .. } => false,
            NodeKind::Buffer { .. } => writes(self.program, node).iter().any(is_of_packet),
        }
    }
}

impl Question<'_> {
    /// Whether the condition is that a limit is not zero.
    fn denies(&self, condition: &Expression) -> bool {
        let Expression::Binary { operator: Binary::NotEqual, left, right } = condition else { return false };
        let (Expression::Variable(variable), Expression::Constant { value, .. }) = (&**left, &**right) else {
            return false;
        };
        self.limits.contains(variable) && value.bits() == 0
    }

    fn changed_by(&self, body: &[Statement]) -> bool {
        body.iter().any(|statement| self.changes(statement))
    }

    /// What a parser extracts stays where it is.
    fn changes(&self, statement: &Statement) -> bool {
        if let Statement::If { condition, then, otherwise } = statement {
            return !self.denies(condition) && self.changed_by(then) || self.changed_by(otherwise);
        }
        if matches!(statement, Statement::Extract { .. }) {
            return false;
        }
        if matches!(statement, Statement::Truncate(_)) {
            return self.cuts_count;
        }
        let mut changes = false;
        statement.walk(&mut |inner| changes |= statement_writes(inner).iter().any(is_of_packet));
        changes
    }
}

fn is_of_packet(part: &Part) -> bool {
    matches!(part, Part::Header(_) | Part::Length)
}

fn sets_field(copy: &Reentry) -> bool {
    copy.set.iter().any(|(place, _)| matches!(place, Place::Field(_)))
}

/// Where the copies of a group begin.
fn replica(effect: &Effect) -> Option<NodeId> {
    match effect {
        Effect::Replicate { copy, .. } => Some(copy.to),
        Effect::Clone { .. }
        | Effect::Resubmit { .. }
        | Effect::Recirculate { .. }
        | Effect::Drop { .. }
        | Effect::Send { .. }
        | Effect::Unicast { .. }
        | Effect::Punt { .. } => None,
    }
}

fn reentry(effect: &Effect) -> Option<&Reentry> {
    match effect {
        Effect::Replicate { copy, .. }
        | Effect::Clone { copy, .. }
        | Effect::Resubmit { copy }
        | Effect::Recirculate { copy } => Some(copy),
        Effect::Drop { .. } | Effect::Send { .. } | Effect::Unicast { .. } | Effect::Punt { .. } => None,
    }
}
