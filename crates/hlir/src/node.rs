//! Nodes: the graph that a packet walks, from [`crate::Program::entry`] until a buffering manager sends or drops it.
//!
//! A node exists where a schedule may cut: at a table, at a condition with a table behind it, at a parser state, at the buffering manager.
//! Everything between is statements of a block. Edges lead forward, except between parser states and out of a buffering manager.

use crate::{Expression, Notes, ParserId, Place, Statement, TableId, ValueSetId};
use crate::{NodeId, VariableId};
use num_bigint::BigUint;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique and stable: it names the node in plans, profiles and reports. As `ingress.ipv4_lpm`.
    pub name: String,
    pub kind: NodeKind,
    pub notes: Notes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A parser state: statements that may fail, then a choice.
    State {
        parser: ParserId,
        body: Vec<Statement>,
        select: Select,
    },
    /// Statements, run in order. There is an `exit` if one of them is `Exit`.
    Block {
        body: Vec<Statement>,
        next: NodeId,
        exit: Option<NodeId>,
    },
    Branch {
        condition: Expression,
        then: NodeId,
        otherwise: NodeId,
    },
    /// Looks a table up, counts, runs the action of the entry or the default action. There is an `exit` if an action has `Exit`.
    Apply {
        table: TableId,
        next: Next,
        exit: Option<NodeId>,
    },
    /// Statements with `Emit`. At the end (or at `Exit`) the packet's bytes become the emitted headers and then all that followed the cursor; the
    /// cursor moves to their front. Headers and variables stay as they are.
    Deparse {
        body: Vec<Statement>,
        next: NodeId,
    },
    /// The buffering manager: rules tried in order. A rule whose effect ends the packet's stay at this node ends the list; `otherwise` is where
    /// a packet goes that no such rule took.
    Buffer {
        rules: Vec<Rule>,
        otherwise: Option<NodeId>,
    },
}

/// The successor of a table node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Always(NodeId),
    Hit {
        hit: NodeId,
        miss: NodeId,
    },
    /// By the action that ran (the default action included), its number in the table.
    Actions {
        cases: Vec<(u32, NodeId)>,
        otherwise: NodeId,
    },
}

/// The choice at the end of a parser state: the first case that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    pub keys: Vec<Expression>,
    pub cases: Vec<Case>,
    /// Without it, a packet that no case matches is rejected with NoMatch.
    pub otherwise: Option<NodeId>,
}

/// One set a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub sets: Vec<KeySet>,
    pub to: NodeId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySet {
    Any,
    Value(BigUint),
    /// Matches where `key & mask == value & mask`.
    Mask {
        value: BigUint,
        mask: BigUint,
    },
    /// Both ends included.
    Range {
        low: BigUint,
        high: BigUint,
    },
    /// The members that the control plane gave a value set. A set over several keys is alone in its case and takes them all.
    Set(ValueSetId),
}

/// What the buffering manager does when `condition` holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub condition: Expression,
    pub effect: Effect,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Ends the packet; counted under `reason`.
    Drop {
        reason: String,
    },
    /// The packet leaves by a port (32 bits wide) with the bytes that it has.
    Send {
        port: Expression,
    },
    /// The packet goes on at a node, after these assignments. (The queue of a hardware switch would be here.)
    Unicast {
        set: Vec<(Place, Expression)>,
        to: NodeId,
    },
    /// A copy for each member of a multicast group (32 bits wide), in the group's order; the packet itself ends. Copies run one after the other,
    /// before any packet that re-enters. All of them are taken from the budget before the first one runs.
    Replicate {
        group: Expression,
        copy: Reentry,
    },
    /// A copy for each member of a mirror session (32 bits wide); the packet goes on with the next rule. The copy is a new packet: it runs after
    /// the burst. A session that does not exist makes no copy.
    Clone {
        session: Expression,
        copy: Reentry,
    },
    /// The packet itself becomes a new packet, which runs after the burst.
    Resubmit {
        copy: Reentry,
    },
    Recirculate {
        copy: Reentry,
    },
    /// The packet leaves for the control plane with its headers and metadata, and may be resumed at `resume`.
    Punt {
        reason: String,
        resume: NodeId,
    },
}

/// How a copy, or a packet that enters again, begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reentry {
    pub bytes: Bytes,
    pub keep: Keep,
    /// Assigned in this order after `keep`; the values see the copy's storage and the `Copy…` intrinsics.
    pub set: Vec<(Place, Expression)>,
    pub to: NodeId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bytes {
    /// The packet as it entered the graph this time; the cursor is at its front, all headers are invalid.
    Original,
    /// The packet as the last deparser left it; the cursor is at its front, all headers are invalid.
    Deparsed,
    /// Bytes, cursor and headers as they are.
    Current,
}

/// Which variables a copy keeps; all others are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    All,
    Only(Vec<VariableId>),
}

impl Effect {
    /// What is assigned to the packet that goes on, or to a copy of it.
    pub fn assignments(&self) -> &[(Place, Expression)] {
        match self {
            Effect::Unicast { set, .. } => set,
            Effect::Replicate { copy, .. }
            | Effect::Clone { copy, .. }
            | Effect::Resubmit { copy }
            | Effect::Recirculate { copy } => &copy.set,
            Effect::Drop { .. } | Effect::Send { .. } | Effect::Punt { .. } => &[],
        }
    }

    /// Whether the packet's stay at the buffering manager ends here.
    pub fn is_last(&self) -> bool {
        match self {
            Effect::Clone { .. } => false,
            Effect::Drop { .. }
            | Effect::Send { .. }
            | Effect::Unicast { .. }
            | Effect::Replicate { .. }
            | Effect::Resubmit { .. }
            | Effect::Recirculate { .. }
            | Effect::Punt { .. } => true,
        }
    }

    /// Whether it makes copies of the packet, as many as a group or session has members: those that the budget for copies counts.
    pub fn multiplies(&self) -> bool {
        match self {
            Effect::Replicate { .. } | Effect::Clone { .. } => true,
            Effect::Drop { .. }
            | Effect::Send { .. }
            | Effect::Unicast { .. }
            | Effect::Resubmit { .. }
            | Effect::Recirculate { .. }
            | Effect::Punt { .. } => false,
        }
    }

    /// How the copies begin that this makes, or the packet that it lets enter again.
    pub fn copy(&self) -> Option<&Reentry> {
        match self {
            Effect::Replicate { copy, .. }
            | Effect::Clone { copy, .. }
            | Effect::Resubmit { copy }
            | Effect::Recirculate { copy } => Some(copy),
            Effect::Drop { .. } | Effect::Send { .. } | Effect::Unicast { .. } | Effect::Punt { .. } => None,
        }
    }

    /// What it evaluates.
    pub fn expressions(&self) -> Vec<&Expression> {
        match self {
            Effect::Drop { .. } | Effect::Punt { .. } => Vec::new(),
            Effect::Send { port } => vec![port],
            Effect::Unicast { set, .. } => set.iter().map(|(_, value)| value).collect(),
            Effect::Replicate { group: chosen, copy } | Effect::Clone { session: chosen, copy } => {
                std::iter::once(chosen).chain(copy.set.iter().map(|(_, value)| value)).collect()
            }
            Effect::Resubmit { copy } | Effect::Recirculate { copy } => {
                copy.set.iter().map(|(_, value)| value).collect()
            }
        }
    }

    /// The node where the packet or its copy goes on, if it stays in the switch.
    pub fn target(&self) -> Option<NodeId> {
        match self {
            Effect::Drop { .. } | Effect::Send { .. } => None,
            Effect::Unicast { to, .. } => Some(*to),
            Effect::Replicate { copy, .. }
            | Effect::Clone { copy, .. }
            | Effect::Resubmit { copy }
            | Effect::Recirculate { copy } => Some(copy.to),
            Effect::Punt { resume, .. } => Some(*resume),
        }
    }
}

impl Node {
    /// The parser whose state this is.
    pub fn parser(&self) -> Option<ParserId> {
        match &self.kind {
            NodeKind::State { parser, .. } => Some(*parser),
            NodeKind::Block { .. }
            | NodeKind::Branch { .. }
            | NodeKind::Apply { .. }
            | NodeKind::Deparse { .. }
            | NodeKind::Buffer { .. } => None,
        }
    }

    /// Reasons of this node's own to drop a packet.
    pub fn drop_reasons(&self) -> Vec<String> {
        let NodeKind::Buffer { rules, .. } = &self.kind else { return Vec::new() };
        rules
            .iter()
            .filter_map(|rule| match &rule.effect {
                Effect::Drop { reason } => Some(reason.clone()),
                Effect::Send { .. }
                | Effect::Unicast { .. }
                | Effect::Replicate { .. }
                | Effect::Clone { .. }
                | Effect::Resubmit { .. }
                | Effect::Recirculate { .. }
                | Effect::Punt { .. } => None,
            })
            .collect()
    }

    /// What may be done with a packet there, if it is a buffering manager.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        let rules = if let NodeKind::Buffer { rules, .. } = &self.kind { rules.as_slice() } else { &[] };
        rules.iter().map(|rule| &rule.effect)
    }

    /// Where a packet itself goes on in the same run through the graph: copies, packets that enter again and resumed packets have bytes of
    /// their own. As `successors` for what is no buffering manager.
    pub fn own_successors(&self) -> Vec<NodeId> {
        let NodeKind::Buffer { rules, otherwise } = &self.kind else { return self.successors() };
        let unicast = rules.iter().filter_map(|rule| match &rule.effect {
            Effect::Unicast { to, .. } => Some(*to),
            Effect::Drop { .. }
            | Effect::Send { .. }
            | Effect::Replicate { .. }
            | Effect::Clone { .. }
            | Effect::Resubmit { .. }
            | Effect::Recirculate { .. }
            | Effect::Punt { .. } => None,
        });
        unicast.chain(*otherwise).collect()
    }

    /// Every node that can follow, in order, repeats included. A parser state's failures lead to its parser's `reject` as well.
    pub fn successors(&self) -> Vec<NodeId> {
        match &self.kind {
            NodeKind::State { select, .. } => select.cases.iter().map(|case| case.to).chain(select.otherwise).collect(),
            NodeKind::Block { next, exit, .. } => std::iter::once(*next).chain(*exit).collect(),
            NodeKind::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            NodeKind::Apply { next, exit, .. } => next.targets().into_iter().chain(*exit).collect(),
            NodeKind::Deparse { next, .. } => vec![*next],
            NodeKind::Buffer { rules, otherwise } => {
                rules.iter().filter_map(|rule| rule.effect.target()).chain(*otherwise).collect()
            }
        }
    }
}

impl Next {
    pub fn targets(&self) -> Vec<NodeId> {
        match self {
            Next::Always(next) => vec![*next],
            Next::Hit { hit, miss } => vec![*hit, *miss],
            Next::Actions { cases, otherwise } => {
                cases.iter().map(|(_, to)| *to).chain(std::iter::once(*otherwise)).collect()
            }
        }
    }
}

impl NodeKind {
    /// The statements of the node itself, outermost level; none for nodes that only choose.
    pub fn body(&self) -> &[Statement] {
        match self {
            NodeKind::State { body, .. } | NodeKind::Block { body, .. } | NodeKind::Deparse { body, .. } => body,
            NodeKind::Branch { .. } | NodeKind::Apply { .. } | NodeKind::Buffer { .. } => &[],
        }
    }
}
