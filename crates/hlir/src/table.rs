//! Tables: keys, actions, and the entries that the program itself gives them.

use crate::{ActionCall, Entry, Expression, MatchKind, Notes, ProfileId, Statement};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The control plane's name: `ingress.ipv4_lpm`.
    pub name: String,
    pub keys: Vec<Key>,
    /// The bodies are this table's own: an action of P4 that several tables use is in each.
    pub actions: Vec<Action>,
    /// What runs on a miss.
    pub default: ActionCall,
    /// Whether the control plane may not change the default action.
    pub default_constant: bool,
    /// Entries that the source asks room for; `None` leaves it to the switch.
    pub size: Option<u64>,
    /// Shared by copies of a program: planners make many, and a table may have thousands of entries.
    pub entries: Arc<Vec<Entry>>,
    /// Whether the control plane may not change the entries.
    pub entries_constant: bool,
    /// Whether actions come from an action profile or selector instead of the entries.
    pub profile: Option<ProfileId>,
    /// What a selector hashes, in order.
    pub selector: Vec<Expression>,
    /// What runs where an entry matches whose group has no members; without it, that is a miss.
    pub empty_group: Option<ActionCall>,
    /// What becomes of entries that no packet has hit for long; nothing, if there is none.
    pub idle_timeout: Option<IdleTimeout>,
    /// Whether the default action may insert an entry (PNA).
    pub add_on_miss: bool,
    /// Whether a miss hands the packet to the control plane and resumes it here.
    pub punt_on_miss: bool,
    pub notes: Notes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The control plane's name: `hdr.ipv4.dst`.
    pub name: String,
    /// Bits, never a boolean.
    pub value: Expression,
    pub kind: MatchKind,
    pub notes: Notes,
}

/// What becomes of an entry whose time has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdleTimeout {
    /// The control plane, which set the time, is notified once; every hit restarts the timer.
    Notify,
    /// The entry is deleted. Its time is that of a profile, and only `restart_timer` restarts it.
    Delete,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The control plane's name: `ingress.set_port`.
    pub name: String,
    /// Action data, from the entry.
    pub parameters: Vec<Parameter>,
    pub body: Vec<Statement>,
    pub scope: Scope,
    pub notes: Notes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub width: u32,
    pub notes: Notes,
}

/// Where the control plane may use an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Scope {
    #[default]
    Everywhere,
    TableOnly,
    DefaultOnly,
}

/// An action, by its number in the table, in a set of such numbers that is a `u64`. All from the 64th on are one: what is known of the set is
/// then that one of them is in it.
pub fn action_bit(action: usize) -> u64 {
    1 << action.min(63)
}

/// The number of the one action in a set of [`action_bit`]s; none if there are several, none, or one from the 64th on.
pub fn only_action(actions: u64) -> Option<usize> {
    (actions.count_ones() == 1).then(|| actions.trailing_zeros() as usize).filter(|action| *action < 63)
}

impl MatchKind {
    /// Whether several entries may match, of which the priority decides.
    pub fn has_priorities(self) -> bool {
        match self {
            MatchKind::Ternary | MatchKind::Range | MatchKind::Optional => true,
            MatchKind::Exact | MatchKind::Lpm => false,
        }
    }
}

impl Table {
    /// Whether entries are ordered by priority: with a ternary, range or optional key. Else the longest prefix wins, or there is one match at most.
    pub fn has_priorities(&self) -> bool {
        self.keys.iter().any(|key| key.kind.has_priorities())
    }

    /// Entries that the table has room for, if that is limited: as many as declared, or as many as the program itself brings, if these are more.
    pub fn capacity(&self) -> Option<u64> {
        self.size.map(|size| size.max(self.entries.len() as u64))
    }

    /// Widths of an action's parameters, as expressions in its body need them.
    pub fn parameter_widths(&self, action: usize) -> Vec<u32> {
        self.actions[action].parameters.iter().map(|parameter| parameter.width).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_actions_distinguishes_all_but_the_last() {
        assert_eq!([0, 1, 62].map(|action| only_action(action_bit(action))), [Some(0), Some(1), Some(62)]);
        assert_eq!(action_bit(63), action_bit(64));
        assert_eq!(only_action(action_bit(63)), None, "it may be any from there on");
        assert_eq!(only_action(action_bit(0) | action_bit(5)), None);
        assert_eq!(only_action(0), None);
    }
}
