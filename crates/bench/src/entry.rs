//! Entries by the million: plain numbers until they reach a table, and laid out for it by its descriptor.

use driver::failure::Failure;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Match, Program, Table, TableId};
use num_bigint::BigUint;
use runtime::pipeline;
use runtime::tables;

/// A number of a key, the low 64 bits first.
pub type Limbs = [u64; 4];

/// What one field of a key is compared with.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    Exact(u128),
    /// Exact, of up to 256 bits: the low 64 bits first.
    Wide(Limbs),
    Lpm {
        value: u128,
        prefix: u32,
    },
    Ternary {
        value: u128,
        mask: u128,
    },
    Range {
        low: u128,
        high: u128,
    },
    Any,
}

impl Field {
    /// What entries that can share a hash table have in common.
    pub fn shape(&self) -> (u32, u128) {
        match *self {
            Field::Exact(_) | Field::Wide(_) => (0, 0),
            Field::Lpm { prefix, .. } => (1, u128::from(prefix)),
            Field::Ternary { mask, .. } => (2, mask),
            Field::Range { low, high } if low == high => (0, 0),
            Field::Range { low, high } => (3, low << 64 | high),
            Field::Any => (4, 0),
        }
    }

    fn as_match(&self) -> Match {
        match *self {
            Field::Exact(value) => Match::Exact(value.into()),
            Field::Wide(limbs) => {
                let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
                Match::Exact(BigUint::from_bytes_le(&bytes))
            }
            Field::Lpm { value, prefix } => Match::Lpm { value: value.into(), prefix },
            Field::Ternary { value, mask } => Match::Ternary { value: value.into(), mask: mask.into() },
            Field::Range { low, high } => Match::Range { low: low.into(), high: high.into() },
            Field::Any => Match::Any,
        }
    }

    pub fn is_long_prefix(&self) -> bool {
        matches!(self, Field::Lpm { prefix, .. } if *prefix > 24)
    }
}

/// An entry by the names that the source has; the end of a full name is enough.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub table: &'static str,
    pub fields: &'a [Field],
    pub priority: u32,
    pub action: &'static str,
    pub arguments: &'a [u64],
}

impl Entry<'_> {
    /// The table of a program that it is for.
    pub fn table_in(&self, program: &Program) -> Option<TableId> {
        program.tables.iter().find(|(_, table)| is_named(&table.name, self.table)).map(|(id, _)| id)
    }

    /// The entry as data planes take it.
    pub fn in_table(&self, table: &Table) -> Result<hlir::Entry, Failure> {
        let action = table.actions.iter().position(|action| is_named(&action.name, self.action));
        let unknown = || Failure::input(format!("table `{}` has no action `{}`", table.name, self.action));
        let action = action.ok_or_else(unknown)? as u32;
        let arguments = self.arguments.iter().map(|argument| BigUint::from(*argument)).collect();
        Ok(hlir::Entry {
            matches: self.fields.iter().map(Field::as_match).collect(),
            priority: self.priority,
            action: EntryAction::Call(ActionCall { action, arguments }),
            constant: false,
        })
    }
}

pub fn ones(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

pub fn is_named(name: &str, end: &str) -> bool {
    name == end || name.strip_suffix(end).is_some_and(|front| front.ends_with('.'))
}

/// Numbers of a table and of an action of it.
type Place = (usize, usize);

/// Tables as a pipeline describes them, with what was found by name kept.
pub struct Encoder<'a> {
    tables: &'a [pipeline::Table],
    places: Vec<(&'static str, &'static str, Option<Place>)>,
}

impl<'a> Encoder<'a> {
    pub fn new(tables: &'a [pipeline::Table]) -> Encoder<'a> {
        Encoder { tables, places: Vec::new() }
    }

    /// The table's number, and the entry as it has it; `None` if there is no such table.
    pub fn encode(&mut self, entry: &Entry<'_>) -> Result<Option<(usize, tables::Match, Vec<u8>)>, Failure> {
        let Some((number, action)) = self.place(entry)? else { return Ok(None) };
        let table = &self.tables[number];
        Ok(Some((number, matches(table, entry), record(table, action, entry.arguments))))
    }

    fn place(&mut self, entry: &Entry<'_>) -> Result<Option<Place>, Failure> {
        let known = |(table, action, _): &&(&str, &str, _)| *table == entry.table && *action == entry.action;
        if let Some((_, _, place)) = self.places.iter().find(known) {
            return Ok(*place);
        }
        let place = match self.tables.iter().position(|table| is_named(&table.name, entry.table)) {
            None => None,
            Some(number) => {
                let table = &self.tables[number];
                let action = table.actions.iter().position(|action| is_named(&action.name, entry.action));
                let unknown = || Failure::input(format!("table `{}` has no action `{}`", table.name, entry.action));
                Some((number, action.ok_or_else(unknown)?))
            }
        };
        self.places.push((entry.table, entry.action, place));
        Ok(place)
    }
}

fn limbs(number: u128) -> Limbs {
    [number as u64, (number >> 64) as u64, 0, 0]
}

/// Value, mask and upper end.
fn sides(field: &Field, width: u32) -> [Limbs; 3] {
    let all = ones(width);
    match *field {
        Field::Exact(value) => [value, all, value].map(limbs),
        Field::Wide(value) => {
            [value, [0, 1, 2, 3].map(|limb| ones(width.saturating_sub(64 * limb).min(64)) as u64), value]
        }
        Field::Lpm { value, prefix } => {
            let mask = all ^ ones(width - prefix);
            [value & mask, mask, value & mask].map(limbs)
        }
        Field::Ternary { value, mask } => [value & mask, mask, value & mask].map(limbs),
        Field::Range { low, high } => [low, all, high].map(limbs),
        Field::Any => [[0; 4]; 3],
    }
}

/// Puts a number into a key, from bit `shift` on.
fn put(key: &mut [u64], number: &Limbs, shift: u32) {
    let (from, bits) = ((shift / 64) as usize, shift % 64);
    for (at, limb) in (from..).zip(number) {
        let parts = u128::from(*limb) << bits;
        for (at, part) in [(at, parts as u64), (at + 1, (parts >> 64) as u64)] {
            if let Some(to) = key.get_mut(at) {
                *to |= part;
            }
        }
    }
}

fn matches(table: &pipeline::Table, entry: &Entry<'_>) -> tables::Match {
    let mut key = [(); 3].map(|()| vec![0u64; table.key_limbs as usize]);
    let mut prefix = 0;
    for (field, of) in entry.fields.iter().zip(&table.fields) {
        let any_range = matches!(field, Field::Any) && of.kind == pipeline::MatchKind::Range;
        let whole = Field::Range { low: 0, high: ones(of.width) };
        let sides = sides(if any_range { &whole } else { field }, of.width);
        key.iter_mut().zip(&sides).for_each(|(key, side)| put(key, side, of.shift));
        prefix += sides[1].iter().map(|limb| limb.count_ones()).sum::<u32>();
    }
    // Prefixes without priorities of their own are ordered by their lengths, where a structure needs an order.
    let rank = if entry.priority == 0 && table.structure.is_prioritised() { prefix } else { entry.priority };
    let [value, mask, high] = key;
    tables::Match { value, mask, high, priority: rank }
}

fn record(table: &pipeline::Table, action: usize, arguments: &[u64]) -> Vec<u8> {
    let mut record = vec![0u8; table.record_bytes as usize];
    record[..4].copy_from_slice(&(action as u32).to_le_bytes());
    for (parameter, argument) in table.actions[action].parameters.iter().zip(arguments) {
        parameter.put(&mut record, &argument.to_le_bytes());
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::pipeline::{Action, KeyField, MatchKind, Parameter, ParameterForm, Structure};

    fn routes() -> pipeline::Table {
        let parameter = |width, offset| Parameter { name: "p".into(), width, offset, form: ParameterForm::Number };
        pipeline::Table {
            name: "Router.routes".into(),
            structure: Structure::Dir24_8,
            key_bits: 32,
            key_limbs: 1,
            fields: vec![KeyField { name: "dst".into(), width: 32, shift: 0, kind: MatchKind::Lpm }],
            actions: vec![
                Action { name: "NoAction".into(), parameters: Vec::new() },
                Action { name: "Router.forward".into(), parameters: vec![parameter(9, 4), parameter(48, 8)] },
            ],
            record_bytes: 16,
            records_own: false,
            size: 0,
            idle_timeout: None,
            source: 0,
            group_offset: 0,
            primary: None,
            part_bits: 0,
        }
    }

    #[test]
    fn an_entry_is_laid_out_as_the_table_says() {
        let tables = [routes()];
        let fields = [Field::Lpm { value: 0x0a01_02ff, prefix: 24 }];
        let entry = Entry { table: "routes", fields: &fields, priority: 0, action: "forward", arguments: &[0x1ff, 7] };
        let (number, matches, record) = Encoder::new(&tables).encode(&entry).unwrap().unwrap();
        assert_eq!((number, matches.value, matches.mask), (0, vec![0x0a01_0200], vec![0xffff_ff00]));
        assert_eq!(record, [1, 0, 0, 0, 0xff, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn prefixes_among_rules_are_ordered_by_their_lengths() {
        for (structure, rank) in [(Structure::Scan, 24), (Structure::List, 24), (Structure::Dir24_8, 0)] {
            let tables = [pipeline::Table { structure, ..routes() }];
            let fields = [Field::Lpm { value: 0x0a01_0200, prefix: 24 }];
            let entry = Entry { table: "routes", fields: &fields, priority: 0, action: "forward", arguments: &[1, 7] };
            let (_, matches, _) = Encoder::new(&tables).encode(&entry).unwrap().unwrap();
            assert_eq!(matches.priority, rank, "{structure:?}");
        }
    }

    #[test]
    fn a_wide_field_lies_across_limbs() {
        let field = |width, shift| KeyField { name: "f".into(), width, shift, kind: MatchKind::Exact };
        let fields = vec![field(9, 0), field(256, 9)];
        let tables = [pipeline::Table { structure: Structure::Exact, key_bits: 265, key_limbs: 5, fields, ..routes() }];
        let entered = [Field::Exact(0x1ff), Field::Wide([1, 2, 3, 1 << 63])];
        let entry = Entry { table: "routes", fields: &entered, priority: 0, action: "forward", arguments: &[] };
        let (_, matches, _) = Encoder::new(&tables).encode(&entry).unwrap().unwrap();
        assert_eq!(matches.value, [1 << 9 | 0x1ff, 2 << 9, 3 << 9, 0, 1 << 8]);
        assert_eq!(matches.mask, [u64::MAX, u64::MAX, u64::MAX, u64::MAX, 0x1ff]);
    }

    #[test]
    fn tables_that_are_not_there_are_left_out_and_unknown_actions_said() {
        let tables = [routes()];
        let mut encoder = Encoder::new(&tables);
        let entry = |table, action| Entry { table, fields: &[], priority: 0, action, arguments: &[] };
        assert!(encoder.encode(&entry("outes", "forward")).unwrap().is_none());
        assert!(encoder.encode(&entry("routes", "backward")).is_err());
    }
}
