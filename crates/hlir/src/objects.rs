//! Stateful objects: what packets of one switch share.

use crate::{CrcId, Notes, Place, TableId};

/// The index of a table's default action in its direct counters and meters. Misses count there, as hits do at the index of their entry: PSA 1.2 asks for it,
/// and so does P4Runtime 1.5, 9.1.3.
pub const DEFAULT_INDEX: u64 = 0;

/// Counters, one for each index. A direct counter has one for each entry of its table, and one for its default action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    pub name: String,
    /// Indices of an indirect counter; 0 for a direct one.
    pub size: u64,
    pub table: Option<TableId>,
    pub unit: CounterUnit,
    /// A direct counter that counts every packet by itself (v1model), rather than by a call in an action (PSA).
    pub automatic: bool,
    pub notes: Notes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CounterUnit {
    Packets,
    Bytes,
    Both,
}

/// Two-rate three-colour meters (RFC 2698), one for each index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meter {
    pub name: String,
    /// Indices of an indirect meter; 0 for a direct one.
    pub size: u64,
    pub table: Option<TableId>,
    pub unit: MeterUnit,
    /// Where a direct meter that runs for every packet by itself (v1model) puts the colour. Misses have one once rates are set.
    pub automatic: Option<Place>,
    pub notes: Notes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeterUnit {
    Packets,
    Bytes,
}

/// An array of bit strings that packets read and write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    pub name: String,
    pub size: u64,
    pub width: u32,
    /// The value of each element at the start.
    pub initial: num_bigint::BigUint,
    pub notes: Notes,
}

/// Records that the data plane sends to the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    pub name: String,
    /// Name and width of each field.
    pub fields: Vec<(String, u32)>,
    pub notes: Notes,
}

/// A set of values that the control plane fills and parsers select by. Members are matched like table keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSet {
    pub name: String,
    pub size: u64,
    /// Name, width and match kind of each field.
    pub fields: Vec<(String, u32, crate::MatchKind)>,
    pub notes: Notes,
}

/// An action profile: actions with their data that entries of its tables refer to; with a selector, groups of them as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub name: String,
    pub size: u64,
    pub selector: Option<Selector>,
    pub notes: Notes,
}

/// Chooses a member of a group: the hash of the table's selector inputs, cut to `width` bits, modulo the group's size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    pub algorithm: Algorithm,
    pub width: u32,
    pub largest_group: u32,
}

/// An extern of the user's own: an object, or a function. What it does is written in C, and found by the names of the C functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extern {
    /// The name of the object, or of the function.
    pub name: String,
    /// What an object is; none for a function.
    pub object: Option<ExternObject>,
    pub notes: Notes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternObject {
    /// A C identifier, like the names of the functions called.
    pub of_type: String,
    /// What the constructor is given: value and width.
    pub arguments: Vec<(num_bigint::BigUint, u32)>,
}

/// Hash and checksum algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Reflected 0x04C11DB7, all ones before and after.
    Crc32,
    /// The same, unless a controller sets other parameters.
    Crc32Custom(CrcId),
    /// Reflected 0x8005, zero before and after.
    Crc16,
    Crc16Custom(CrcId),
    /// The low 64 bits of the data.
    Identity,
    /// Ones' complement of the ones' complement sum of big-endian 16-bit words (RFC 1071).
    InternetChecksum,
    /// Exclusive or of big-endian 16-bit words.
    Xor16,
    /// What the switch is fastest with; the same on both engines.
    Target,
}

impl Algorithm {
    /// Bits of the result.
    pub const fn width(self) -> u32 {
        match self {
            Algorithm::Crc32 | Algorithm::Crc32Custom(_) => 32,
            Algorithm::Crc16 | Algorithm::Crc16Custom(_) | Algorithm::InternetChecksum | Algorithm::Xor16 => 16,
            Algorithm::Identity | Algorithm::Target => 64,
        }
    }

    /// The CRC whose parameters it has.
    pub const fn crc(self) -> Option<CrcId> {
        match self {
            Algorithm::Crc32Custom(crc) | Algorithm::Crc16Custom(crc) => Some(crc),
            Algorithm::Crc32
            | Algorithm::Crc16
            | Algorithm::Identity
            | Algorithm::InternetChecksum
            | Algorithm::Xor16
            | Algorithm::Target => None,
        }
    }
}
