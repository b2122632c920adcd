//! The storage of a packet: headers and their fields, variables, and places in both.

use crate::{HeaderId, Notes, Type, VariableId};

/// A header instance: bytes of the packet with a validity bit.
///
/// Reading or writing a field of an invalid header reads or writes its storage, and has no other effect. Extracting a header and making an
/// invalid one valid overwrite its storage, the latter with zeros; making it invalid leaves the storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The instance's name, as `hdr.ipv4` or `hdr.labels[2]`.
    pub name: String,
    pub type_name: String,
    pub fields: Vec<Field>,
    pub notes: Notes,
}

/// A field of a header, in the order of the wire, most significant bit first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    /// Width in bits; for a varbit field the largest one.
    pub width: u32,
    /// A varbit field has a length of its own in each packet. At most one in a header.
    pub varbit: bool,
}

/// Field number `field` of header `header`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldRef {
    pub header: HeaderId,
    pub field: u32,
}

/// A scalar that lives as long as the packet is in the switch: metadata, and the locals of inlined controls and parsers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub kind: Type,
    pub notes: Notes,
}

/// Where a value can be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    Variable(VariableId),
    Field(FieldRef),
}

impl Header {
    /// Bits of the header without its varbit field.
    pub fn fixed_bits(&self) -> u32 {
        self.fields.iter().filter(|field| !field.varbit).map(|field| field.width).sum()
    }

    /// Bits of the header when its varbit field is as long as it can be.
    pub fn most_bits(&self) -> u32 {
        self.fields.iter().map(|field| field.width).sum()
    }

    /// The index of the varbit field, if there is one.
    pub fn varbit(&self) -> Option<usize> {
        self.fields.iter().position(|field| field.varbit)
    }
}
