//! Header rewrites of the first lookup's actions, as far as they are known before the lookup.
//!
//! Whichever route a router finds, it decrements the time to live and updates the checksum. Vector code
//! computes these bytes for many packets at once. The commit phase then stores one word and reads nothing of
//! the packet.

use super::bytes::Bits;
use super::run::Run;
use super::{Number, WORD_BYTES};
use crate::{Call, Expression, FieldRef, HeaderId, Place, Program, Statement, TableId};
use std::collections::BTreeSet;

/// The rewrites of one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrites {
    /// The action's number in the table.
    pub action: usize,
    /// Indices of assignments in its body that are fully known before the lookup.
    pub known: Vec<usize>,
    /// At least one.
    pub stores: Vec<Store>,
}

/// Bytes of a header that several assignments change. Bits between their fields are stored as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    pub header: HeaderId,
    /// The first byte, from the beginning of the header.
    pub byte: u32,
    /// 1 to 4.
    pub bytes: u32,
    /// The first byte is the most significant one.
    pub value: Number,
    /// Indices of the assignments, in order. The store replaces them at the position of the last.
    pub statements: Vec<usize>,
}

/// An assignment of a known value to a field.
#[derive(Clone)]
struct Write {
    statement: usize,
    field: FieldRef,
    value: Bits,
}

impl Run<'_> {
    /// For a packet at the lookup.
    pub fn rewrites(&mut self, table: TableId) -> Vec<Rewrites> {
        let program = self.program;
        let mut rewrites = Vec::new();
        for (action, declared) in program.tables[table].actions.iter().enumerate() {
            let before = self.state.clone();
            let (known, writes) = self.known(&declared.body).unwrap_or_default();
            // Stores keep the bits that the packet had at the lookup. The values are steps by now.
            self.state = before;
            let groups = joined(program, &declared.body, writes);
            let stores: Vec<Store> = groups.iter().filter_map(|group| self.store(group)).collect();
            if !stores.is_empty() {
                rewrites.push(Rewrites { action, known, stores });
            }
        }
        rewrites
    }

    /// The known assignments of an action's body, and those that write fields. None if the body does more
    /// than assign and count.
    fn known(&mut self, body: &[Statement]) -> Option<(Vec<usize>, Vec<Write>)> {
        let (mut known, mut writes) = (Vec::new(), Vec::new());
        for (number, statement) in body.iter().enumerate() {
            if let Statement::Call(Call::Count { .. }) = statement {
                continue;
            }
            let Statement::Assign { target, value } = statement else { return None };
            let target = *target;
            let value = match target {
                // A field of an invalid header is not in the packet.
                Place::Field(field) if self.place_of(field).is_err() => None,
                Place::Field(_) | Place::Variable(_) => self.bits(value).ok(),
            };
            if let Some(value) = &value {
                known.push(number);
                if let Place::Field(field) = target {
                    writes.push(Write { statement: number, field, value: value.clone() });
                }
            }
            self.assigned(target, value);
        }
        Some((known, writes))
    }

    /// The bytes that writes to one header change, with their new values.
    fn store(&mut self, group: &[Write]) -> Option<Store> {
        let (header, byte, bytes) = span(self.program, group.iter().map(|write| write.field));
        let start = 8 * (self.place_of(FieldRef { header, field: 0 }).ok()? / 8 + byte);
        let end = start + 8 * bytes;
        let mut pieces: Vec<(u32, Bits)> = Vec::new();
        let mut at = start;
        for write in group {
            let (bit, width) = (self.place_of(write.field).ok()?, self.program.field(write.field).width);
            if bit > at {
                pieces.push((end - bit, self.steps.packet(at, bit - at, self.phase)));
            }
            at = bit + width;
            pieces.push((end - at, write.value.clone()));
        }
        if end > at {
            pieces.push((0, self.steps.packet(at, end - at, self.phase)));
        }
        let above = 8 * (WORD_BYTES - bytes);
        let pieces = pieces.iter().map(|(shift, piece)| (above + shift, piece));
        let value = self.steps.placed(8 * WORD_BYTES, pieces).parts[0];
        let mut statements: Vec<usize> = group.iter().map(|write| write.statement).collect();
        statements.sort_unstable();
        Some(Store { header, byte, bytes, value, statements })
    }
}

/// Groups of writes within one word, in header order. Writes that cannot be moved to the last of their group
/// stay out.
fn joined(program: &Program, body: &[Statement], mut writes: Vec<Write>) -> Vec<Vec<Write>> {
    writes.sort_by_key(|write| (write.field.header, write.field.field));
    let mut groups: Vec<Vec<Write>> = Vec::new();
    for write in writes {
        if let Some(last) = groups.last_mut() {
            let with: Vec<Write> = last.iter().chain([&write]).cloned().collect();
            if is_one_store(program, body, &with) {
                *last = with;
                continue;
            }
        }
        if is_one_store(program, body, std::slice::from_ref(&write)) {
            groups.push(vec![write]);
        }
    }
    groups
}

/// Whether one store at the position of the last assignment is equivalent to all of them.
fn is_one_store(program: &Program, body: &[Statement], group: &[Write]) -> bool {
    let fields: BTreeSet<FieldRef> = group.iter().map(|write| write.field).collect();
    if fields.iter().any(|field| field.header != group[0].field.header) {
        return false;
    }
    let (_, byte, bytes) = span(program, fields.iter().copied());
    let (header, from) = (group[0].field.header, 8 * byte);
    let members: BTreeSet<usize> = group.iter().map(|write| write.statement).collect();
    let between = members.first().copied().unwrap_or(0)..members.last().map_or(0, |last| last + 1);
    let others = body.iter().enumerate().filter(|(number, _)| !members.contains(number));
    bytes <= WORD_BYTES
        && others.into_iter().all(|(number, statement)| {
            let is_apart = written(statement).is_none_or(|field| {
                let (bit, width) = place(program, field);
                field.header != header || bit >= from + 8 * bytes || bit + width <= from
            });
            is_apart && !(between.contains(&number) && reads_any(statement, &fields))
        })
}

/// The header of these fields, the first byte, and the number of bytes.
fn span(program: &Program, fields: impl Iterator<Item = FieldRef> + Clone) -> (HeaderId, u32, u32) {
    let header = fields.clone().next().expect("a store is made of writes").header;
    let places = fields.map(|field| place(program, field));
    let from = places.clone().map(|(bit, _)| bit / 8).min().unwrap_or(0);
    let to = places.map(|(bit, width)| (bit + width).div_ceil(8)).max().unwrap_or(0);
    (header, from, to - from)
}

/// The first bit of a field in its header, and its width.
fn place(program: &Program, field: FieldRef) -> (u32, u32) {
    let fields = &program.headers[field.header].fields;
    let before = fields[..field.field as usize].iter().map(|field| field.width).sum();
    (before, fields[field.field as usize].width)
}

fn written(statement: &Statement) -> Option<FieldRef> {
    if let Statement::Assign { target: Place::Field(field), .. } = statement { Some(*field) } else { None }
}

/// Whether an assignment or count reads one of the fields.
fn reads_any(statement: &Statement, fields: &BTreeSet<FieldRef>) -> bool {
    let mut reads = false;
    let mut look = |part: &Expression| reads |= matches!(part, Expression::Field(field) if fields.contains(field));
    if let Statement::Assign { value, .. } | Statement::Call(Call::Count { index: Some(value), .. }) = statement {
        value.walk(&mut look);
    }
    reads
}
