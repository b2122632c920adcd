//! Where a text has the parts of a schedule, for the messages of the verifier.

use super::order::Part;
use crate::value::Value;
use hlir::NodeId;
use hlir::source::Span;
use std::collections::HashMap;

/// What a message can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Site {
    Part(Part),
    Value(Value),
    /// A side exit, by stage and number.
    Exit(usize, usize),
    /// The values that commit takes from a stage.
    Keep(usize),
    /// The lookup at a node.
    Lookup(NodeId),
    /// The lookup at a node that a commit phase makes.
    Late(Part, NodeId),
    /// The side exits of a commit phase.
    Leave(Part),
    Missed(Part),
    /// By number in a commit phase.
    Effect(Part, usize),
}

/// The places of a schedule's parts in its text; none for one that was not read from a text.
#[derive(Clone, Debug, Default)]
pub struct Places(HashMap<Site, Span>);

impl Places {
    /// The place of a part, or no place.
    pub fn get(&self, site: Site) -> Span {
        self.0.get(&site).copied().unwrap_or(Span::NONE)
    }

    pub(super) fn note(&mut self, site: Site, span: Span) {
        self.0.entry(site).or_insert(span);
    }
}
