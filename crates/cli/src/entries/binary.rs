//! The compact binary form of entries: for routing tables of millions, where text is not practical.
//!
//! A file is the eight bytes `bacusE1\n` and then sections, each entries of one table with one action. All numbers have their lowest byte first.
//! A section: length (u16) and text of the table's name, the same of the action's, the number of entries (u64), then the entries. An entry: for each
//! key of the table its value in as many bytes as the width needs, then for an lpm key the prefix length (u8), for a ternary key the mask and for a
//! range key the upper end, as wide as the value, for an optional key a byte that is 0 where the value does not matter; in tables with
//! priorities the priority (u32); then each parameter of the action in as many bytes as its width needs.

use super::generate::bar;
use super::loader::{Loader, prefix_mask};
use super::{find_table, refused};
use crate::failure::Failure;
use crate::native::{NativeEngine, Replay};
use interp::engine::Refusal;
use runtime::pipeline::{KeyField, MatchKind};
use std::fs;
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

pub fn load<L: Replay>(engine: &mut NativeEngine<'_, L>, path: &Path) -> Result<u64, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::unreadable(path, &error))?;
    let wrong = |message: String| refused(path.display().to_string(), &Refusal::wrong(message));
    if bytes.get(..MAGIC.len()) != Some(MAGIC) {
        return Err(wrong("not entries in binary form".to_string()));
    }
    let mut input = Input::new(&bytes, MAGIC.len());
    let mut sum = 0;
    while !input.is_empty() {
        sum += section(engine, &mut input, &wrong)?;
    }
    Ok(sum)
}

fn section<L: Replay>(
    engine: &mut NativeEngine<'_, L>,
    input: &mut Input<'_>,
    wrong: &dyn Fn(String) -> Failure,
) -> Result<u64, Failure> {
    let (table, action) = (input.text().map_err(wrong)?, input.text().map_err(wrong)?);
    let count = input.number(8).map_err(wrong)?;
    let id = find_table(engine.program(), &table)?;
    let Some(mut loader) = Loader::new(engine, id) else {
        return Err(wrong(format!("table `{table}` has no effect: nothing uses it")));
    };
    let number = loader.set_action(&action).map_err(|refusal| wrong(refusal.sentence))?;
    loader.reserve(count).map_err(|error| wrong(format!("table `{table}`: {error}")))?;
    let fields = loader.description().fields.clone();
    let parameters = loader.description().actions[number].parameters.clone();
    let has_priorities =
        fields.iter().any(|field| matches!(field.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional));
    let bar = bar(count, format!("entries of {table}"));
    for at in 0..count {
        loader.clear();
        for (number, field) in fields.iter().enumerate() {
            key(&mut loader, input, number, field).map_err(wrong)?;
        }
        if has_priorities {
            loader.entry.priority = input.number(4).map_err(wrong)? as u32;
        }
        for parameter in &parameters {
            let bytes = input.take(parameter.width.div_ceil(8) as usize).map_err(wrong)?;
            loader.set_parameter(parameter, bytes);
        }
        loader.insert().map_err(|error| wrong(format!("entry {} of table `{table}`: {error}", at + 1)))?;
        if at % 4096 == 0 {
            bar.set_position(at);
        }
    }
    bar.finish_and_clear();
    Ok(count)
}

fn key(loader: &mut Loader, input: &mut Input<'_>, number: usize, field: &KeyField) -> Result<(), String> {
    let size = field.width.div_ceil(8) as usize;
    let value = input.take(size)?;
    if !field.width.is_multiple_of(8) && value.last().is_some_and(|top| top >> (field.width % 8) != 0) {
        return Err(format!("a value does not fit key `{}`, which is {} bits wide", field.name, field.width));
    }
    let all = prefix_mask(field.width, field.width);
    let and = |mask: &[u8]| -> Vec<u8> { value.iter().zip(mask).map(|(value, mask)| value & mask).collect() };
    match field.kind {
        MatchKind::Exact => loader.set_field(number, value, &all, value),
        MatchKind::Lpm => {
            let prefix = input.number(1)? as u32;
            if prefix > field.width {
                return Err(format!("prefix /{prefix} is longer than key `{}`", field.name));
            }
            let mask = prefix_mask(prefix, field.width);
            loader.set_field(number, &and(&mask), &mask, &and(&mask));
        }
        MatchKind::Ternary => {
            let mask = input.take(size)?;
            loader.set_field(number, &and(mask), mask, &and(mask));
        }
        MatchKind::Range => {
            let high = input.take(size)?;
            loader.set_field(number, value, &all, high);
        }
        MatchKind::Optional => {
            let mask = if input.number(1)? == 0 { vec![0; size] } else { all };
            loader.set_field(number, &and(&mask), &mask, &and(&mask));
        }
    }
    Ok(())
}
