//! Table entries, as a program contains them and as a control plane writes them.

use num_bigint::BigUint;

/// An entry. Of several that match, the one with the largest priority wins; among equals the one inserted first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One for each key of the table.
    pub matches: Vec<Match>,
    /// 0 in tables without priorities.
    pub priority: u32,
    pub action: EntryAction,
    /// Whether the control plane may not change it, though it may change others of the table.
    pub constant: bool,
}

/// What an entry does: an action of its own, one kept in the table's action profile, or one that a selector chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryAction {
    Call(ActionCall),
    /// A member of the table's profile.
    Member(u32),
    /// A group of the table's selector.
    Group(u32),
    /// Actions of the entry's own, of which the table's selector chooses one.
    Set(ActionSet),
}

/// What a selector chooses of for one entry alone.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ActionSet {
    pub actions: Vec<WeightedCall>,
    /// How its size is counted, if not as in the selector.
    pub semantics: Option<SizeSemantics>,
    /// What the controller attached to the set for itself; no part of the text.
    pub note: Vec<u8>,
}

/// What the size of a selector, or of a set, limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeSemantics {
    SumOfWeights,
    /// With the largest weight of a member, if there is a limit.
    SumOfMembers(Option<u64>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedCall {
    pub call: ActionCall,
    /// How often it is among the choices of the selector.
    pub weight: u32,
    /// The action is left out while this port has no link.
    pub watch: Option<u32>,
}

/// Values are below `2^width` of the key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Match {
    Exact(BigUint),
    /// Bits below the prefix are 0.
    Lpm {
        value: BigUint,
        prefix: u32,
    },
    /// Matches where `key & mask == value & mask`.
    Ternary {
        value: BigUint,
        mask: BigUint,
    },
    /// Both ends included.
    Range {
        low: BigUint,
        high: BigUint,
    },
    /// Every value: an omitted ternary, optional, range or lpm key.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchKind {
    Exact,
    Lpm,
    Ternary,
    Range,
    Optional,
}

/// An action of the table, by number, with its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionCall {
    pub action: u32,
    pub arguments: Vec<BigUint>,
}
