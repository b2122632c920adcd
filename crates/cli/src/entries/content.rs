//! What entries will fill the tables with, without filling them: for planners, before there is code.

use super::binary::{Input, MAGIC};
use super::{Origin, find_table};
use crate::failure::Failure;
use hlir::table::action_bit;
use hlir::{MatchKind, Program, Scope, TableId};
use interp::DEFAULT_PORTS;
use opt::inputs::{Content, Occupancy};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

/// Different records or masks beyond this are not told apart: no structure asks for more.
const MOST_DIFFERENT: usize = 1 << 17;

/// What all of them together bring.
pub fn occupancy(program: &Program, origins: &[Origin]) -> Result<Occupancy, Failure> {
    let mut counts = Counts { program, tables: HashMap::new() };
    let mut books = interp::Switch::new(program, 0, DEFAULT_PORTS);
    let mut has_text = false;
    for origin in origins {
        match origin {
            Origin::Text(path) => {
                super::configure(program, path, &mut books)?;
                has_text = true;
            }
            Origin::Binary(path) => counts.binary(path)?,
            Origin::Generated { table, count, .. } => counts.generated(find_table(program, table)?, *count),
        }
    }
    let mut occupancy = Occupancy::default();
    for (id, table) in program.tables.iter() {
        let text = if has_text { books.content(id) } else { interp::Content::default() };
        let other = counts.tables.remove(&id);
        let other = other.unwrap_or_default();
        let content = Content {
            entries: text.entries.max(table.entries.len() as u64) + other.entries,
            records: text.records + other.records.len() as u64 + other.more_records,
            masks: text.masks + other.masks.len() as u64 + other.more_masks,
            long_prefixes: text.long_prefixes + other.long_prefixes,
            actions: text.actions | other.actions,
            is_known: true,
        };
        // A table of which nothing was said may be filled later: it counts as unknown, not as empty.
        if content.entries > 0 {
            occupancy.tables.insert(table.name.clone(), content);
        }
    }
    Ok(occupancy)
}

/// What one table gets from files in binary form and from the generator.
#[derive(Default)]
struct Count {
    entries: u64,
    records: HashSet<Vec<u8>>,
    more_records: u64,
    masks: HashSet<Vec<u8>>,
    more_masks: u64,
    long_prefixes: u64,
    actions: u64,
}

struct Counts<'p> {
    program: &'p Program,
    tables: HashMap<TableId, Count>,
}

impl Counts<'_> {
    /// As `generate` draws entries: random data, but for ports.
    fn generated(&mut self, id: TableId, entries: u64) {
        let table = &self.program.tables[id];
        let usable = || table.actions.iter().filter(|action| action.scope != Scope::DefaultOnly);
        let action = usable().find(|action| !action.parameters.is_empty()).or_else(|| usable().next());
        let values = |parameter: &hlir::Parameter| {
            if parameter.name.contains("port") {
                f64::from(DEFAULT_PORTS)
            } else {
                2f64.powi(parameter.width.min(64) as i32)
            }
        };
        let number = |wanted: &hlir::Action| table.actions.iter().position(|action| std::ptr::eq(action, wanted));
        let bit = action.and_then(number).map_or(0, action_bit);
        let different: f64 = action.map_or(1.0, |action| action.parameters.iter().map(values).product());
        let count = self.tables.entry(id).or_default();
        count.entries += entries;
        count.more_records += entries.min(different.min(1e18) as u64);
        count.actions |= bit;
        let is = |kind: MatchKind| table.keys.iter().any(|key| key.kind == kind);
        count.more_masks += entries.min(if is(MatchKind::Ternary) {
            64
        } else if is(MatchKind::Lpm) {
            20
        } else {
            1
        });
        count.long_prefixes += if is(MatchKind::Lpm) { entries / 16 } else { 0 };
    }

    fn binary(&mut self, path: &Path) -> Result<(), Failure> {
        let bytes = fs::read(path).map_err(|error| Failure::unreadable(path, &error))?;
        let wrong = |message: String| Failure::input(format!("{}: {message}", path.display()));
        if bytes.get(..MAGIC.len()) != Some(MAGIC) {
            return Err(wrong("not entries in binary form".to_string()));
        }
        let mut input = Input::new(&bytes, MAGIC.len());
        while !input.is_empty() {
            let (table, action) = (input.text().map_err(wrong)?, input.text().map_err(wrong)?);
            let entries = input.number(8).map_err(wrong)?;
            let id = find_table(self.program, &table)?;
            self.section(&mut input, id, &action, entries).map_err(wrong)?;
        }
        Ok(())
    }

    fn section(&mut self, input: &mut Input<'_>, id: TableId, action: &str, entries: u64) -> Result<(), String> {
        let table = &self.program.tables[id];
        let size = |width: u32| width.div_ceil(8) as usize;
        let keys: Vec<(usize, MatchKind)> = table
            .keys
            .iter()
            .map(|key| (size(self.program.expression_type(&key.value, &[]).width()), key.kind))
            .collect();
        let is_meant = |known: &hlir::Action| known.name == action || known.name.ends_with(&format!(".{action}"));
        let found = table.actions.iter().enumerate().find(|(_, known)| is_meant(known));
        let (number, found) = found.ok_or_else(|| format!("table `{}` has no action `{action}`", table.name))?;
        let data: usize = found.parameters.iter().map(|parameter| size(parameter.width)).sum();
        let has_priorities = table.has_priorities();
        let count = self.tables.entry(id).or_default();
        count.actions |= if entries > 0 { action_bit(number) } else { 0 };
        for _ in 0..entries {
            let mut masks = Vec::new();
            for (bytes, kind) in &keys {
                input.take(*bytes)?;
                let mask = match kind {
                    MatchKind::Exact => &[][..],
                    MatchKind::Lpm | MatchKind::Optional => input.take(1)?,
                    MatchKind::Ternary | MatchKind::Range => input.take(*bytes)?,
                };
                count.long_prefixes +=
                    u64::from(*kind == MatchKind::Lpm && mask.first().is_some_and(|bits| *bits > 24));
                masks.extend_from_slice(mask);
            }
            input.take(if has_priorities { 4 } else { 0 })?;
            let record = [action.as_bytes(), &[0], input.take(data)?].concat();
            count.entries += 1;
            if count.records.len() < MOST_DIFFERENT {
                count.records.insert(record);
            }
            if count.masks.len() < MOST_DIFFERENT {
                count.masks.insert(masks);
            }
        }
        Ok(())
    }
}
