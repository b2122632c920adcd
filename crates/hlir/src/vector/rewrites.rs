//! What the actions of a path's first look-up write into headers, as far as it is known before the look-up.
//!
//! Whichever route a router finds, it takes one from a packet's time to live and mends its checksum. Lanes make those bytes for many packets at once, and a
//! packet's turn stores them: one word, and nothing of the packet read.

use super::bytes::Bits;
use super::run::Run;
use super::{Number, WORD_BYTES};
use crate::{Call, Expression, FieldRef, HeaderId, Place, Program, Statement, TableId};
use std::collections::BTreeSet;

/// Of one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrites {
    /// Its number in the table.
    pub action: usize,
    /// Assignments of its body that nothing of is unknown before the look-up, by their numbers in it.
    pub known: Vec<usize>,
    /// At least one.
    pub stores: Vec<Store>,
}

/// Bytes of a header that assignments change together. What lies between their fields, and belongs to none of them, is stored as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    pub header: HeaderId,
    /// The first of them, counted from the header's beginning.
    pub byte: u32,
    /// 1 to 4.
    pub bytes: u32,
    /// The first byte is the most significant one.
    pub value: Number,
    /// The assignments, in order: the store stands for all of them, at the place of the last.
    pub statements: Vec<usize>,
}

/// An assignment to a field whose new value is known.
#[derive(Clone)]
struct Write {
    statement: usize,
    field: FieldRef,
    value: Bits,
}

impl Run<'_> {
    /// For a packet that has come to the look-up.
    pub fn rewrites(&mut self, table: TableId) -> Vec<Rewrites> {
        let program = self.program;
        let mut rewrites = Vec::new();
        for (action, declared) in program.tables[table].actions.iter().enumerate() {
            let before = self.state.clone();
            let (known, writes) = self.known(&declared.body).unwrap_or_default();
            // A store keeps what the packet had at the look-up, and the values are numbers by now.
            self.state = before;
            let groups = joined(program, &declared.body, writes);
            let stores: Vec<Store> = groups.iter().filter_map(|group| self.store(group)).collect();
            if !stores.is_empty() {
                rewrites.push(Rewrites { action, known, stores });
            }
        }
        rewrites
    }

    /// Assignments of an action's body whose values are known, and those of them that write fields. None if it does more than to assign and to count.
    fn known(&mut self, body: &[Statement]) -> Option<(Vec<usize>, Vec<Write>)> {
        let (mut known, mut writes) = (Vec::new(), Vec::new());
        for (number, statement) in body.iter().enumerate() {
            if let Statement::Call(Call::Count { .. }) = statement {
                continue;
            }
            let Statement::Assign { target, value } = statement else { return None };
            let target = *target;
            let value = match target {
                // A header that the packet does not have is written elsewhere.
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

    /// The bytes that writes of one header change, as they will be.
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

/// Writes of fields that lie in one word, in the order of the header; those that cannot be put off to the last of them stay out.
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

/// Whether a store of one word at the place of the last of these assignments does what they do.
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

/// The header of some fields, its first byte that is of one of them, and how many bytes there are to the end of the last.
fn span(program: &Program, fields: impl Iterator<Item = FieldRef> + Clone) -> (HeaderId, u32, u32) {
    let header = fields.clone().next().expect("a store is made of writes").header;
    let places = fields.map(|field| place(program, field));
    let from = places.clone().map(|(bit, _)| bit / 8).min().unwrap_or(0);
    let to = places.map(|(bit, width)| (bit + width).div_ceil(8)).max().unwrap_or(0);
    (header, from, to - from)
}

/// A field's first bit in its header, and its width.
fn place(program: &Program, field: FieldRef) -> (u32, u32) {
    let fields = &program.headers[field.header].fields;
    let before = fields[..field.field as usize].iter().map(|field| field.width).sum();
    (before, fields[field.field as usize].width)
}

fn written(statement: &Statement) -> Option<FieldRef> {
    if let Statement::Assign { target: Place::Field(field), .. } = statement { Some(*field) } else { None }
}

/// Of a statement that assigns or counts.
fn reads_any(statement: &Statement, fields: &BTreeSet<FieldRef>) -> bool {
    let mut reads = false;
    let mut look = |part: &Expression| reads |= matches!(part, Expression::Field(field) if fields.contains(field));
    if let Statement::Assign { value, .. } | Statement::Call(Call::Count { index: Some(value), .. }) = statement {
        value.walk(&mut look);
    }
    reads
}
