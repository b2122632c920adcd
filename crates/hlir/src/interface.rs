//! The controller's view of the program, frozen when it was lowered: what P4Info lists, with P4Runtime's ids.
//!
//! Rewrites may merge or split the tables of the program; these stay as the source has them, and [`Physical`] maps each to what it has become.

pub use crate::entry::SizeSemantics;
use crate::{CounterUnit, MatchKind, MeterUnit, Notes, Scope, TableId};
use num_bigint::BigUint;

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Interface {
    /// The program's own notes: the annotations of `main`.
    pub package: Notes,
    pub tables: Vec<SourceTable>,
    pub actions: Vec<SourceAction>,
    /// Everything else that has an id, in the order of the source.
    pub objects: Vec<SourceObject>,
    /// The declared types that keys, parameters and elements are of, in the order of their names.
    pub types: Vec<SourceType>,
    /// Tables that the source declares and no control applies. P4Info does not list them; entries for them have no effect.
    pub unapplied: Vec<String>,
    /// Whether the source makes objects of its architecture or calls its functions: P4Info then lists their types, also if none has a name.
    pub externs: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTable {
    pub id: u32,
    pub name: String,
    /// The shortest suffix of the name that no other name has.
    pub alias: String,
    pub keys: Vec<SourceKey>,
    pub actions: Vec<SourceActionUse>,
    /// What runs on a miss before the controller has written anything. `None` if it may not know.
    pub default: Option<SourceDefault>,
    /// The id of its action profile.
    pub profile: Option<u32>,
    /// The ids of its direct counters and meters.
    pub direct: Vec<u32>,
    pub size: Option<u64>,
    /// Whether the controller is notified of entries that are not hit for long.
    pub idle_timeout: bool,
    pub entries_constant: bool,
    /// Whether the program itself gives it entries.
    pub entries_initial: bool,
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
    /// The name of its type, if that is one of [`Interface::types`] made by `type`, or an enumeration that is no number.
    pub type_name: Option<String>,
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
pub struct SourceDefault {
    /// The action's id.
    pub action: u32,
    /// A value for each parameter, in their order.
    pub arguments: Vec<BigUint>,
    /// Whether the controller may not change it.
    pub constant: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAction {
    pub id: u32,
    pub name: String,
    pub alias: String,
    pub parameters: Vec<SourceParameter>,
    pub notes: Notes,
}

/// A parameter of an action, or a field of a controller header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceParameter {
    pub id: u32,
    pub name: String,
    pub width: u32,
    pub type_name: Option<String>,
    pub notes: Notes,
}

/// A counter, meter, register, digest, value set, profile or controller header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceObject {
    pub id: u32,
    pub name: String,
    pub alias: String,
    pub detail: Detail,
    pub notes: Notes,
}

/// What the controller knows about an object beside its name; `index` is the name of the type of its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    ValueSet {
        size: u64,
        keys: Vec<SourceKey>,
    },
    ControllerHeader {
        fields: Vec<SourceParameter>,
    },
    /// `tables` are the ids of those that use it.
    ActionProfile {
        tables: Vec<u32>,
        size: u64,
        selector: Option<SourceSelector>,
    },
    Counter {
        unit: CounterUnit,
        size: u64,
        index: Option<String>,
    },
    /// Direct objects have the id of their table.
    DirectCounter {
        unit: CounterUnit,
        table: u32,
    },
    Meter {
        unit: MeterUnit,
        size: u64,
        index: Option<String>,
    },
    DirectMeter {
        unit: MeterUnit,
        table: u32,
    },
    Register {
        element: TypeSpec,
        size: u64,
        index: Option<String>,
    },
    Digest {
        record: TypeSpec,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSelector {
    /// Members of a group at most; 0 leaves it to the switch.
    pub largest_group: u64,
    pub semantics: Option<SizeSemantics>,
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

/// The type of an element or a record, as P4 has it: the flat storage of the program has forgotten it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeSpec {
    Bits(u32),
    Signed(u32),
    Varbit(u32),
    Bool,
    Error,
    Tuple(Vec<TypeSpec>),
    /// A declared type, which is one of [`Interface::types`].
    Named(NamedKind, String),
    /// A stack of this many headers or unions.
    Stack(NamedKind, String, u32),
}

/// What a declared type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NamedKind {
    Struct,
    Header,
    Union,
    Enumeration,
    /// An enumeration with an underlying type.
    Serializable,
    /// `type T name;`
    New,
}

/// A declared type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceType {
    /// The type of errors has none.
    pub name: String,
    pub definition: Definition,
    pub notes: Notes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    Struct(Vec<Member<TypeSpec>>),
    /// Structs inside are taken apart.
    Header(Vec<Member<TypeSpec>>),
    /// Its members are headers, by the names of their types.
    Union(Vec<Member<String>>),
    Enumeration(Vec<Member<()>>),
    Serializable(u32, Vec<Member<BigUint>>),
    Errors(Vec<Member<()>>),
    New(TypeSpec),
    /// A type whose values are others for the controller, defined by the document with this address.
    Translated {
        uri: String,
        to: Translation,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<T> {
    pub name: String,
    pub value: T,
    pub notes: Notes,
}

/// What the controller writes for a value of a translated type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    Bits(u32),
    Text,
}

impl Detail {
    pub const fn kind(&self) -> ObjectKind {
        match self {
            Detail::ValueSet { .. } => ObjectKind::ValueSet,
            Detail::ControllerHeader { .. } => ObjectKind::ControllerHeader,
            Detail::ActionProfile { .. } => ObjectKind::ActionProfile,
            Detail::Counter { .. } => ObjectKind::Counter,
            Detail::DirectCounter { .. } => ObjectKind::DirectCounter,
            Detail::Meter { .. } => ObjectKind::Meter,
            Detail::DirectMeter { .. } => ObjectKind::DirectMeter,
            Detail::Register { .. } => ObjectKind::Register,
            Detail::Digest { .. } => ObjectKind::Digest,
        }
    }
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
