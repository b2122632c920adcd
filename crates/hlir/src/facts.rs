//! Facts about what tables hold: what a program can take for granted, and for which contents that is true.
//!
//! A fact comes from the source (a table without entries whose entries are constant) or from what a controller has
//! written. A program that was specialised lists the facts that it takes for granted; a write that breaks one has to be
//! refused, or the program exchanged, before the next packet.

use crate::{ActionCall, Entry, TableId};
use num_bigint::BigUint;

/// Something that is true of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// It has no entries.
    Empty,
    /// This is its default action.
    Default(ActionCall),
    /// These are its entries, those that win before others.
    Entries(Vec<Entry>),
    /// It has these entries among others. For what one of them matches, the first of them that does so wins before all others.
    Leading(Vec<Entry>),
    /// Its entries run none but these actions, numbered as in the table, in ascending order.
    Actions(Vec<u32>),
    /// All its entries that run this action have this argument for this parameter.
    Argument { action: u32, parameter: u32, value: BigUint },
    /// All its entries match any value of this key.
    Any(u32),
    /// All its entries match this value of this key, and no other.
    Key { key: u32, value: BigUint },
    /// All its entries distinguish these bits of this key, one at least, and no others.
    Mask { key: u32, mask: BigUint },
    /// No two of its entries have the same matches, whatever their priorities.
    Distinct,
    /// No direct meter of it has rates, neither for an entry nor for the default action.
    Unmetered,
}

/// A fact that a program takes for granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    pub table: TableId,
    pub fact: Fact,
}

/// Entries at most that a [`Fact::Entries`] or a [`Fact::Leading`] has: a lookup compares the key with each.
pub const MOST_ENTRIES: usize = 4;
