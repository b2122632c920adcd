//! The controller's view of the program, frozen when it was lowered: what P4Info lists, with P4Runtime's ids.
//!
//! Rewrites may merge or split the tables of the program; these stay as the source has them, and [`Physical`] says where each has gone.

use crate::{MatchKind, Notes, Scope, TableId};

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Interface {
    pub tables: Vec<SourceTable>,
    pub actions: Vec<SourceAction>,
    /// Everything else that has an id, in the order of the source.
    pub objects: Vec<SourceObject>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTable {
    pub id: u32,
    pub name: String,
    /// The shortest suffix of the name that no other object of its kind has.
    pub alias: String,
    pub keys: Vec<SourceKey>,
    pub actions: Vec<SourceActionUse>,
    pub size: Option<u64>,
    pub entries_constant: bool,
    pub physical: Physical,
    pub notes: Notes,
}

/// How a table of the source is realised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Physical {
    /// By one table of the program.
    Table(TableId),
    /// Not at all: nothing can reach it. Writes are kept by the control plane and have no effect.
    None,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceKey {
    pub id: u32,
    pub name: String,
    pub width: u32,
    pub kind: MatchKind,
    pub notes: Notes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceActionUse {
    /// The action's id.
    pub action: u32,
    pub scope: Scope,
    pub notes: Notes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAction {
    pub id: u32,
    pub name: String,
    pub alias: String,
    pub parameters: Vec<SourceParameter>,
    pub notes: Notes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceParameter {
    pub id: u32,
    pub name: String,
    pub width: u32,
    pub notes: Notes,
}

/// A counter, meter, register, digest, value set, profile or controller header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceObject {
    pub kind: ObjectKind,
    pub id: u32,
    pub name: String,
    pub alias: String,
    pub notes: Notes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    ValueSet,
    ControllerHeader,
    ActionProfile,
    Counter,
    DirectCounter,
    Meter,
    DirectMeter,
    Register,
    Digest,
}

impl ObjectKind {
    /// The first byte of the object's id in P4Runtime. Tables have 2, actions 1.
    pub const fn prefix(self) -> u8 {
        match self {
            ObjectKind::ValueSet => 0x03,
            ObjectKind::ControllerHeader => 0x04,
            ObjectKind::ActionProfile => 0x11,
            ObjectKind::Counter => 0x12,
            ObjectKind::DirectCounter => 0x13,
            ObjectKind::Meter => 0x14,
            ObjectKind::DirectMeter => 0x15,
            ObjectKind::Register => 0x16,
            ObjectKind::Digest => 0x17,
        }
    }
}
