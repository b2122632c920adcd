//! Entries by the million: plain numbers until they reach a table.

use control::store::packed;
use driver::failure::Failure;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Match, Program, Table, TableId};
use native::translate;
use num_bigint::BigUint;
use runtime::pipeline::{self, MatchKind};
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
        let matches = translate::packed_matches(table, &key(table, entry));
        Ok(Some((number, matches, translate::packed_record(table, action, &data(table, action, entry.arguments)))))
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

/// Value and mask, or the ends of a range.
fn sides(field: &Field, of: &pipeline::KeyField) -> [Limbs; 2] {
    let limbs = |number: u128| [number as u64, (number >> 64) as u64, 0, 0];
    let all = ones(of.width);
    match *field {
        Field::Wide(value) => [value, [0, 64, 128, 192].map(|at| ones(of.width.saturating_sub(at).min(64)) as u64)],
        Field::Exact(value) if of.kind == MatchKind::Range => [value, value].map(limbs),
        Field::Exact(value) => [value, all].map(limbs),
        Field::Lpm { value, prefix } => {
            let mask = all ^ ones(of.width - prefix);
            [value & mask, mask].map(limbs)
        }
        Field::Ternary { value, mask } => [value & mask, mask].map(limbs),
        Field::Range { low, high } => [low, high].map(limbs),
        Field::Any if of.kind == MatchKind::Range => [0, all].map(limbs),
        Field::Any => [[0; 4]; 2],
    }
}

/// The key as the store packs it.
fn key(table: &pipeline::Table, entry: &Entry<'_>) -> Vec<u8> {
    let (mut fields, mut bits) = (Vec::new(), 0);
    for (field, of) in entry.fields.iter().zip(&table.fields) {
        let sides = sides(field, of);
        let kept = if of.kind == MatchKind::Exact { 1 } else { 2 };
        for side in &sides[..kept] {
            let bytes = side.iter().flat_map(|limb| limb.to_le_bytes());
            fields.extend(bytes.take(packed::bytes_of(of.width)));
        }
        bits += match of.kind {
            MatchKind::Range => of.width,
            MatchKind::Exact | MatchKind::Lpm | MatchKind::Ternary | MatchKind::Optional => {
                sides[1].iter().map(|limb| limb.count_ones()).sum::<u32>()
            }
        };
    }
    // Entries without priorities of their own are ordered by their masks.
    let priority = if entry.priority == 0 { bits } else { entry.priority };
    [&priority.to_le_bytes()[..], &fields].concat()
}

fn data(table: &pipeline::Table, action: usize, arguments: &[u64]) -> Vec<u8> {
    let of = table.actions[action].parameters.iter().zip(arguments);
    let bytes = of.flat_map(|(parameter, argument)| {
        let padded = argument.to_le_bytes().into_iter().chain(std::iter::repeat(0));
        padded.take(packed::bytes_of(parameter.width))
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::pipeline::{Action, KeyField, Parameter, ParameterForm, Structure};

    fn routes() -> pipeline::Table {
        let parameter = |width, offset| Parameter { name: "p".into(), width, offset, form: ParameterForm::Number };
        pipeline::Table {
            name: "Router.routes".into(),
            structure: Structure::Dir24_8,
            key_bits: 32,
            key_limbs: 1,
            fields: vec![KeyField {
                name: "dst".into(),
                width: 32,
                shift: 0,
                kind: MatchKind::Lpm,
                mask: None,
                left_out: None,
            }],
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
    fn a_wide_field_lies_across_limbs() {
        let field = |width, shift| KeyField {
            name: "f".into(),
            width,
            shift,
            kind: MatchKind::Exact,
            mask: None,
            left_out: None,
        };
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
