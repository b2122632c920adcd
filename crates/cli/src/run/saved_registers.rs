//! `--state-registers`: what packets wrote to registers, as rows of the file of `--state` beside those of the store.
//!
//! A row has some elements of a register; none is needed where all have the program's first value. A snapshot writes the rows that have changed since
//! the last one. It knows them by their hashes: the elements themselves are not kept twice.

use super::live::Engine;
use control::DataPlane as _;
use hlir::{Program, RegisterId};
use native::Replay;
use num_bigint::BigUint;
use persist::{Change, Rows};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The first byte of their keys, which no row of the store has. The number of the register and the first element follow, the highest byte first.
pub const TAG: u8 = 200;

/// Elements of a row: 4 KiB of those with 64 bits.
const ELEMENTS: u64 = 512;

/// The rows that the file has.
#[derive(Default)]
pub struct SavedRegisters(BTreeMap<Vec<u8>, u64>);

/// Elements of a register of the program that runs now, from one on.
pub struct Elements {
    register: RegisterId,
    first: u64,
    values: Vec<BigUint>,
}

fn key(register: usize, first: u64) -> Vec<u8> {
    [&[TAG], &(register as u32).to_be_bytes()[..], &first.to_be_bytes()].concat()
}

fn of_key(key: &[u8]) -> Option<(usize, u64)> {
    let (register, first) = key.strip_prefix(&[TAG])?.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*register) as usize, u64::from_be_bytes(first.try_into().ok()?)))
}

fn hash(value: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn bytes_of(width: u32) -> usize {
    width.div_ceil(8) as usize
}

impl SavedRegisters {
    /// Of a file that has these rows.
    pub fn of(rows: &Rows) -> SavedRegisters {
        SavedRegisters(rows.iter().map(|(key, value)| (key.clone(), hash(value))).collect())
    }

    /// The file is empty.
    pub fn forget(&mut self) {
        self.0.clear();
    }

    /// What the file lacks of what the registers have now. Packets go on meanwhile: an element is read whole, but not all at one moment.
    pub fn changes<L: Replay>(&mut self, engine: &mut Engine<L>) -> Vec<Change> {
        let (program, mut changes) = (engine.program(), Vec::new());
        for (id, register) in engine.registers() {
            let declared = &program.registers[id];
            let Some(number) = program.registers.iter().position(|(other, _)| other == id) else { continue };
            let mut initial = declared.initial.to_bytes_le();
            initial.resize(bytes_of(declared.width), 0);
            for first in (0..declared.size).step_by(ELEMENTS as usize) {
                let elements = register.packed(first, ELEMENTS);
                let is_initial = elements.chunks(initial.len().max(1)).all(|element| element == initial);
                changes.extend(self.change(key(number, first), elements, is_initial));
            }
        }
        changes
    }

    fn change(&mut self, key: Vec<u8>, elements: Vec<u8>, is_initial: bool) -> Option<Change> {
        if is_initial {
            return self.0.remove(&key).map(|_| Change::Remove(key));
        }
        let hash = hash(&elements);
        (self.0.insert(key.clone(), hash) != Some(hash)).then_some(Change::Put(key, elements))
    }
}

/// The elements of rows that an earlier program has left, for the registers with the same names of this one. And a sentence about each that has none.
pub fn restored(rows: &Rows, old: &Program, program: &Program) -> (Vec<Elements>, Vec<String>) {
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    for (key, packed) in rows {
        let of_old = of_key(key).and_then(|(number, first)| Some((old.registers.values().nth(number)?, first)));
        let Some((was, first)) = of_old else {
            warnings.push("a row is of no register of its program: it is left out".to_string());
            continue;
        };
        let Some((register, _)) = program.registers.iter().find(|(_, now)| now.name == was.name) else {
            let sentence = format!("register `{}` is not in this program: its elements are left out", was.name);
            if warnings.last() != Some(&sentence) {
                warnings.push(sentence);
            }
            continue;
        };
        let values = packed.chunks(bytes_of(was.width).max(1)).map(BigUint::from_bytes_le).collect();
        found.push(Elements { register, first, values });
    }
    (found, warnings)
}

impl Elements {
    /// Writes them to a switch that carries no packets yet. Of a register that is smaller or narrower now, those that it has no room for are left out, and
    /// counted.
    pub fn write<L: Replay>(&self, engine: &mut Engine<L>) -> u64 {
        let refused = (self.first..)
            .zip(&self.values)
            .filter(|(index, value)| engine.write_register(self.register, *index, value).is_err());
        refused.count() as u64
    }
}
