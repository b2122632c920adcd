//! The values of rows for entries and action calls, as protocol buffers: a later version may add fields.

use hlir::interface::SizeSemantics;
use hlir::{ActionCall, ActionSet, WeightedCall};
use num_bigint::BigUint;
use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub struct EntryRow {
    /// A number of `KINDS`.
    #[prost(uint32, tag = "1")]
    pub kind: u32,
    /// A number of `ORIGINS`.
    #[prost(uint32, tag = "2")]
    pub origin: u32,
    /// Of the action, the member, the group or the set.
    #[prost(uint32, tag = "3")]
    pub number: u32,
    #[prost(bytes = "vec", tag = "4")]
    pub data: Vec<u8>,
    #[prost(uint64, tag = "5")]
    pub idle_timeout_ns: u64,
    #[prost(bytes = "vec", tag = "6")]
    pub metadata: Vec<u8>,
    #[prost(message, optional, tag = "7")]
    pub set: Option<SetRow>,
}

#[derive(Clone, PartialEq, Message)]
pub struct CallRow {
    #[prost(uint32, tag = "1")]
    pub action: u32,
    /// With the highest byte first.
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub arguments: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub struct WeightedRow {
    #[prost(message, optional, tag = "1")]
    pub call: Option<CallRow>,
    #[prost(uint32, tag = "2")]
    pub weight: u32,
    #[prost(uint32, optional, tag = "3")]
    pub watch: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SetRow {
    #[prost(message, repeated, tag = "1")]
    pub actions: Vec<WeightedRow>,
    /// Whether the size is a sum of members; none if it is the selector's.
    #[prost(bool, optional, tag = "2")]
    pub counts_members: Option<bool>,
    #[prost(uint64, optional, tag = "3")]
    pub heaviest: Option<u64>,
    #[prost(bytes = "vec", tag = "4")]
    pub note: Vec<u8>,
}

impl From<&ActionCall> for CallRow {
    fn from(call: &ActionCall) -> CallRow {
        CallRow { action: call.action, arguments: call.arguments.iter().map(BigUint::to_bytes_be).collect() }
    }
}

impl From<CallRow> for ActionCall {
    fn from(row: CallRow) -> ActionCall {
        let arguments = row.arguments.iter().map(|bytes| BigUint::from_bytes_be(bytes)).collect();
        ActionCall { action: row.action, arguments }
    }
}

impl From<&ActionSet> for SetRow {
    fn from(set: &ActionSet) -> SetRow {
        let weighted =
            |of: &WeightedCall| WeightedRow { call: Some(CallRow::from(&of.call)), weight: of.weight, watch: of.watch };
        let (counts_members, heaviest) = match set.semantics {
            None => (None, None),
            Some(SizeSemantics::SumOfWeights) => (Some(false), None),
            Some(SizeSemantics::SumOfMembers(heaviest)) => (Some(true), heaviest),
        };
        SetRow { actions: set.actions.iter().map(weighted).collect(), counts_members, heaviest, note: set.note.clone() }
    }
}

impl From<SetRow> for ActionSet {
    fn from(row: SetRow) -> ActionSet {
        let weighted = |of: WeightedRow| WeightedCall {
            call: of.call.unwrap_or_default().into(),
            weight: of.weight,
            watch: of.watch,
        };
        let semantics = row.counts_members.map(|counts| match counts {
            true => SizeSemantics::SumOfMembers(row.heaviest),
            false => SizeSemantics::SumOfWeights,
        });
        ActionSet { actions: row.actions.into_iter().map(weighted).collect(), semantics, note: row.note }
    }
}
