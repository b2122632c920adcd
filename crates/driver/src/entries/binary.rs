//! The compact binary form of entries: for routing tables of millions, where text is not practical.
//!
//! A file is the eight bytes `bacusE1\n` and then sections, each entries of one table with one action. All numbers have their lowest byte first.
//! A section: length (u16) and text of the table's name, the same of the action's, the number of entries (u64), then the entries. An entry: for each
//! key of the table its value in as many bytes as the width needs, then for an lpm key the prefix length (u8), for a ternary key the mask and for a
//! range key the upper end, as wide as the value, for an optional key a byte that is 0 where the value does not matter; in tables with
//! priorities the priority (u32); then each parameter of the action in as many bytes as its width needs.

use super::generate::bar;
use super::loader::{Loader, prefix_mask, short_prefix_mask};
use super::{find_table, refused};
use crate::failure::Failure;
use control::Refusal;
use hlir::entry::EntryAction;
use hlir::{Entry, MatchKind as Kind, Program, TableId};
use native::{NativeEngine, Replay};
use num_bigint::BigUint;
use runtime::TableError;
use runtime::pipeline::{KeyField, MatchKind};
use std::collections::HashMap;
use std::path::Path;

pub const MAGIC: &[u8; 8] = b"bacusE1\n";

/// Bytes that are still to be read.
pub struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8], at: usize) -> Input<'a> {
        Input { bytes, at }
    }

    pub fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Bytes that are left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let taken = self.bytes.get(self.at..self.at + count);
        let taken = taken.ok_or_else(|| format!("the file ends at byte {} within an entry", self.bytes.len()))?;
        self.at += count;
        Ok(taken)
    }

    pub fn number(&mut self, bytes: usize) -> Result<u64, String> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    pub fn text(&mut self) -> Result<String, String> {
        let length = self.number(2)? as usize;
        String::from_utf8(self.take(length)?.to_vec()).map_err(|_| "a name is not UTF-8 text".to_string())
    }
}

/// Loads what a file holds, which begins as such files do.
pub fn load<L: Replay>(engine: &mut NativeEngine<'_, L>, path: &Path, bytes: &[u8]) -> Result<u64, Failure> {
    let wrong = |message: String| refused(path.display().to_string(), &Refusal::wrong(message));
    let mut input = Input::new(bytes, MAGIC.len());
    let mut sum = 0;
    while !input.is_empty() {
        sum += section(engine, &mut input, &wrong)?;
    }
    Ok(sum)
}

/// Entries as a file. Each table's are in their order, since of two with one priority the first wins.
pub fn bytes_of(program: &Program, entries: &[(TableId, Entry)]) -> Vec<u8> {
    let mut sections: Vec<Section> = Vec::new();
    let mut last: HashMap<TableId, usize> = HashMap::new();
    for (id, entry) in entries {
        let EntryAction::Call(call) = &entry.action else { continue };
        let table = &program.tables[*id];
        let action = &table.actions[call.action as usize];
        let at = last.get(id).copied().filter(|at| sections[*at].action == call.action).unwrap_or_else(|| {
            sections.push(Section { table: *id, action: call.action, count: 0, bytes: Vec::new() });
            sections.len() - 1
        });
        last.insert(*id, at);
        let section = &mut sections[at];
        section.count += 1;
        for (key, found) in table.keys.iter().zip(&entry.matches) {
            write_key(&mut section.bytes, key.kind, program.expression_type(&key.value, &[]).width(), found);
        }
        if table.has_priorities() {
            section.bytes.extend(entry.priority.to_le_bytes());
        }
        for (parameter, value) in action.parameters.iter().zip(&call.arguments) {
            write_number(&mut section.bytes, parameter.width, value);
        }
    }
    let mut bytes = MAGIC.to_vec();
    for section in sections {
        let table = &program.tables[section.table];
        for name in [&table.name, &table.actions[section.action as usize].name] {
            bytes.extend((name.len() as u16).to_le_bytes());
            bytes.extend(name.as_bytes());
        }
        bytes.extend(section.count.to_le_bytes());
        bytes.extend(section.bytes);
    }
    bytes
}

/// Entries of one table with one action.
struct Section {
    table: TableId,
    action: u32,
    count: u64,
    bytes: Vec<u8>,
}

fn write_number(bytes: &mut Vec<u8>, width: u32, value: &BigUint) {
    let mut number = value.to_bytes_le();
    number.resize(width.div_ceil(8) as usize, 0);
    bytes.extend(number);
}

fn write_key(bytes: &mut Vec<u8>, kind: Kind, width: u32, found: &hlir::Match) {
    let ones = (BigUint::from(1u8) << width) - 1u8;
    let none = BigUint::ZERO;
    let (value, other) = match found {
        hlir::Match::Exact(value) => (value, if kind == Kind::Range { value } else { &ones }),
        hlir::Match::Lpm { value, .. } => (value, &ones),
        hlir::Match::Ternary { value, mask } => (value, mask),
        hlir::Match::Range { low, high } => (low, high),
        hlir::Match::Any => (&none, if kind == Kind::Range { &ones } else { &none }),
    };
    write_number(bytes, width, value);
    match kind {
        Kind::Exact => {}
        Kind::Lpm => bytes.push(match found {
            hlir::Match::Lpm { prefix, .. } => *prefix as u8,
            hlir::Match::Any => 0,
            hlir::Match::Exact(_) | hlir::Match::Ternary { .. } | hlir::Match::Range { .. } => width as u8,
        }),
        Kind::Ternary | Kind::Range => write_number(bytes, width, other),
        Kind::Optional => bytes.push(u8::from(*other != none)),
    }
}

fn section<L: Replay>(
    engine: &mut NativeEngine<'_, L>,
    input: &mut Input<'_>,
    wrong: &dyn Fn(String) -> Failure,
) -> Result<u64, Failure> {
    let (table, action) = (input.text().map_err(wrong)?, input.text().map_err(wrong)?);
    let count = input.number(8).map_err(wrong)?;
    let id = find_table(&engine.program(), &table)?;
    let Some(mut loader) = Loader::new(engine, id) else {
        return Err(wrong(format!("table `{table}` has no effect: nothing uses it")));
    };
    let parameters = loader.set_action(&action).map_err(|refusal| wrong(refusal.sentence))?;
    // An entry has at least a byte: a wrong count asks for no more than the file has.
    let room = count.min(input.left() as u64);
    loader.reserve(room).map_err(|error| wrong(format!("table `{table}`: {error}")))?;
    let fields = loader.description().fields.clone();
    let has_priorities =
        fields.iter().any(|field| matches!(field.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional));
    let bar = bar(count, format!("entries of {table}"));
    let refused_entry = |loader: &Loader<'_>, error: TableError| {
        wrong(format!("entry {} of table `{table}`: {error}", loader.inserted() + 1))
    };
    for at in 0..count {
        loader.clear();
        for field in &fields {
            key(&mut loader, input, field).map_err(wrong)?;
        }
        if has_priorities {
            loader.set_priority(input.number(4).map_err(wrong)? as u32);
        }
        for parameter in &parameters {
            let bytes = input.take(parameter.width.div_ceil(8) as usize).map_err(wrong)?;
            loader.add_parameter(parameter, bytes);
        }
        let pushed = loader.push();
        pushed.map_err(|error| refused_entry(&loader, error))?;
        if at % 4096 == 0 {
            bar.set_position(at);
        }
    }
    let flushed = loader.flush();
    flushed.map_err(|error| refused_entry(&loader, error))?;
    bar.finish_and_clear();
    Ok(count)
}

fn too_wide(field: &KeyField) -> String {
    format!("a value does not fit key `{}`, which is {} bits wide", field.name, field.width)
}

fn prefix(input: &mut Input<'_>, field: &KeyField) -> Result<u32, String> {
    let prefix = input.number(1)? as u32;
    if prefix > field.width {
        return Err(format!("prefix /{prefix} is longer than key `{}`", field.name));
    }
    Ok(prefix)
}

/// The same as [`key`] for a field of at most 64 bits, without an allocation: most keys are such.
fn short_key(loader: &mut Loader<'_>, input: &mut Input<'_>, field: &KeyField) -> Result<(), String> {
    let size = field.width.div_ceil(8) as usize;
    let all = short_prefix_mask(field.width, field.width);
    let number_within = |input: &mut Input<'_>| {
        let found = input.number(size)?;
        if found & !all == 0 { Ok(found) } else { Err(too_wide(field)) }
    };
    let mut add = |value: u64, mask: u64, high: u64| {
        let [value, mask, high] = [value, mask, high].map(u64::to_le_bytes);
        loader.add_field(field.kind, &value[..size], &mask[..size], &high[..size]);
    };
    let value = number_within(input)?;
    let mask = match field.kind {
        MatchKind::Exact => all,
        MatchKind::Lpm => short_prefix_mask(prefix(input, field)?, field.width),
        MatchKind::Ternary => number_within(input)?,
        MatchKind::Range => {
            let high = number_within(input)?;
            add(value, all, high);
            return Ok(());
        }
        MatchKind::Optional if input.number(1)? == 0 => 0,
        MatchKind::Optional => all,
    };
    add(value & mask, mask, value & mask);
    Ok(())
}

fn key<'a>(loader: &mut Loader<'_>, input: &mut Input<'a>, field: &KeyField) -> Result<(), String> {
    if field.width <= 64 {
        return short_key(loader, input, field);
    }
    let size = field.width.div_ceil(8) as usize;
    let all = prefix_mask(field.width, field.width);
    let take_within = |input: &mut Input<'a>| {
        let found = input.take(size)?;
        let fits = found.iter().zip(&all).all(|(found, all)| found & !all == 0);
        if fits { Ok(found) } else { Err(too_wide(field)) }
    };
    let value = take_within(input)?;
    let mut add = |value: &[u8], mask: &[u8], high: &[u8]| loader.add_field(field.kind, value, mask, high);
    let and = |mask: &[u8]| -> Vec<u8> { value.iter().zip(mask).map(|(value, mask)| value & mask).collect() };
    match field.kind {
        MatchKind::Exact => add(value, &all, value),
        MatchKind::Lpm => {
            let mask = prefix_mask(prefix(input, field)?, field.width);
            add(&and(&mask), &mask, &and(&mask));
        }
        MatchKind::Ternary => {
            let mask = take_within(input)?;
            add(&and(mask), mask, &and(mask));
        }
        MatchKind::Range => {
            let high = take_within(input)?;
            add(value, &all, high);
        }
        MatchKind::Optional => {
            let mask = if input.number(1)? == 0 { vec![0; size] } else { all };
            add(&and(&mask), &mask, &and(&mask));
        }
    }
    Ok(())
}
