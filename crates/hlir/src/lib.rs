//! HLIR, the high-level intermediate representation: what happens to a packet ([`Program`]) and how it is scheduled ([`Plan`]).
//!
//! The program is the algorithm and the plan is the schedule. They are two values, so that the interpreter can ignore the second and every
//! experiment is a list of plans. Both print as text and parse back to equal values; `docs/hlir.md` is the reference of that text.

pub mod build;
pub mod constant_entries;
pub mod crc;
mod deferral;
pub mod diagnostic;
pub mod effects;
pub mod entry;
pub mod expression;
pub mod externs;
pub mod facts;
pub mod hot_path;
pub mod interface;
pub mod join;
pub mod json_depth;
pub mod lookup_sums;
pub mod node;
pub mod notes;
pub mod objects;
pub mod plan;
pub mod ports;
pub mod program;
pub mod resolved;
pub mod source;
pub mod statement;
pub mod storage;
pub mod structure;
pub mod table;
pub mod text;
pub mod value;
pub mod verify;
pub mod visit;

pub use crc::{Crc, CrcParameters};
pub use entry::{ActionCall, ActionSet, Entry, Match, MatchKind, WeightedCall};
pub use expression::{Binary, Expression, Intrinsic, Type, Unary};
pub use interface::Interface;
pub use join::Join;
pub use lookup_sums::LookupSum;
pub use node::{Bytes, Case, Effect, Keep, KeySet, Next, Node, NodeKind, Reentry, Rule, Select};
pub use notes::{Notes, Origin};
pub use objects::{
    Algorithm, Counter, CounterUnit, DEFAULT_INDEX, Digest, Extern, ExternObject, Meter, MeterUnit, Profile, Register,
    Selector, ValueSet,
};
pub use plan::Plan;
pub use ports::PortNumbers;
pub use program::{Budget, KeyField, Parser, Program};
pub use resolved::ResolvedPlan;
pub use statement::{Argument, Call, HashInput, Statement};
pub use storage::{Field, FieldRef, Header, Place, Variable};
pub use table::{Action, IdleTimeout, Key, Parameter, Scope, Table};

/// Typed indices: what a program refers to by number in memory and by name in text.
pub type HeaderId = la_arena::Idx<Header>;
pub type VariableId = la_arena::Idx<Variable>;
pub type TableId = la_arena::Idx<Table>;
pub type ParserId = la_arena::Idx<Parser>;
pub type NodeId = la_arena::Idx<Node>;
pub type CounterId = la_arena::Idx<Counter>;
pub type MeterId = la_arena::Idx<Meter>;
pub type RegisterId = la_arena::Idx<Register>;
pub type CrcId = la_arena::Idx<Crc>;
pub type DigestId = la_arena::Idx<Digest>;
pub type ValueSetId = la_arena::Idx<ValueSet>;
pub type ProfileId = la_arena::Idx<Profile>;
pub type ExternId = la_arena::Idx<Extern>;
