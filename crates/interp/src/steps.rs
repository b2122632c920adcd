//! The way of a packet as data: what it extracted, which entries it hit, what changed, and how it ended.

use crate::pattern::Pattern;
use crate::storage::Storage;
use crate::tables::StoredEntry;
use num_bigint::BigUint;

/// A name with its value.
pub type Named = (String, BigUint);

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A packet comes in, or a copy enters the graph again.
    Enter {
        port: u32,
        bytes: usize,
        again: bool,
    },
    /// A node of the graph: a parser state, a block, a branch, a lookup, a deparser.
    Node(String),
    Extract {
        header: String,
        fields: Vec<Named>,
    },
    Set(Named),
    Apply {
        table: String,
        key: Vec<Named>,
        hit: Option<Hit>,
        action: String,
        data: Vec<Named>,
    },
    /// Of the parser.
    Error(String),
    Copy {
        port: u32,
        instance: u32,
    },
    Punt(String),
    Drop(String),
    Send {
        port: u32,
        bytes: usize,
    },
}

/// The entry that a packet hit, by its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub matches: Vec<String>,
    /// 0 in tables without.
    pub priority: u32,
}

/// What a packet had when its first parser had ended.
pub struct Parsed {
    pub(crate) storage: Storage,
    pub port: u32,
    pub bytes: usize,
}

/// What is noted while steps are asked for.
#[derive(Default)]
pub struct Notes {
    pub steps: Vec<Step>,
    /// Whether a state of a parser was visited.
    pub has_begun: bool,
    pub parsed: Option<Parsed>,
}

pub fn hit(entry: &StoredEntry) -> Hit {
    let written = |pattern: &Pattern| match pattern {
        Pattern::Masked { value, mask } => format!("{:#x}&&&{:#x}", value.to_big(), mask.to_big()),
        Pattern::Range { low, high } => format!("{:#x}..{:#x}", low.to_big(), high.to_big()),
    };
    Hit { matches: entry.patterns().iter().map(written).collect(), priority: entry.priority }
}
