//! Which copies of packets are references: copies of a multicast group that nothing writes until they leave have the bytes of the original.

use crate::unit::{Unit, number};
use hlir::effects::{Part, writes};
use hlir::{Bytes, Effect, NodeId, NodeKind, Place, Reentry};
use std::collections::BTreeSet;

impl Unit<'_> {
    /// Whether a copy for a group may have the bytes of the original. The original ends where it is replicated, and copies run to their end one after the
    /// other. So it is enough that none of them writes a header or the length, and that their deparsers leave the front as it is.
    pub fn is_reference(&self, copy: &Reentry) -> bool {
        let sets_field = copy.set.iter().any(|(place, _)| matches!(place, Place::Field(_)));
        if copy.bytes != Bytes::Current || sets_field {
            return false;
        }
        let (mut seen, mut left) = (BTreeSet::new(), vec![copy.to]);
        while let Some(node) = left.pop() {
            if !seen.insert(number(node)) {
                continue;
            }
            if self.writes_bytes(node) {
                return false;
            }
            left.extend(self.node(node).same_bytes());
        }
        true
    }

    /// Whether some group's copies are references.
    pub fn has_references(&self) -> bool {
        self.replicated().any(|copy| self.is_reference(copy))
    }

    fn writes_bytes(&self, node: NodeId) -> bool {
        let kind = &self.node(node).kind;
        if let NodeKind::Deparse { body, .. } = kind
            && self.stays_in_place(node, body)
        {
            return false;
        }
        // A parser gathers what it reads into one buffer.
        matches!(kind, NodeKind::State { .. })
            || writes(self.program, node).iter().any(|part| matches!(part, Part::Header(_) | Part::Length))
    }

    fn replicated(&self) -> impl Iterator<Item = &Reentry> {
        let rules = self.facts.order.iter().filter_map(|node| match &self.node(*node).kind {
            NodeKind::Buffer { rules, .. } => Some(rules),
            NodeKind::State { .. }
            | NodeKind::Block { .. }
            | NodeKind::Deparse { .. }
            | NodeKind::Branch { .. }
            | NodeKind::Apply { .. } => None,
        });
        rules.flatten().filter_map(|rule| match &rule.effect {
            Effect::Replicate { copy, .. } => Some(copy),
            Effect::Drop { .. }
            | Effect::Send { .. }
            | Effect::Unicast { .. }
            | Effect::Clone { .. }
            | Effect::Resubmit { .. }
            | Effect::Recirculate { .. }
            | Effect::Punt { .. } => None,
        })
    }
}
