//! `lookup`: the entry that a packet with a certain key hits, by the rules of P4Runtime: the longest prefix, or the largest priority.

use super::Session;
use super::entries::{entry_report, entry_row};
use super::input::{Input, unknown_option};
use crate::failure::Failure;
use crate::field::{self, Field, Given};
use crate::names::{self, Named as _};
use control::message::config::Table;
use control::message::runtime::{TableEntry, field_match::FieldMatchType};
use stf::command::Value;
use stf::{Line, Mistake};

impl Session {
    pub fn lookup(&mut self, input: &Input) -> Result<(), Failure> {
        let names = self.names()?;
        let mut line = input.line()?;
        let table = names::find(&line.name("a table")?, "table", &names.info.tables)?;
        let fields = names.keys(&table.match_fields);
        let key = values(table, &fields, &mut line)?;
        let hit = self.entries(&names, table)?.into_iter().filter(|entry| is_hit(&fields, entry, &key));
        let hit = hit.max_by_key(|entry| (entry.priority, prefix(entry)));
        let mut report = entry_report(&fields);
        match hit {
            Some(entry) => report.row(entry_row(&names, &fields, &entry)),
            None => report.rows.extend(self.default_row(&names, table, &fields)?),
        }
        self.print(&report);
        Ok(())
    }
}

/// One value for each key, by name or in their order.
fn values(table: &Table, fields: &[Field], line: &mut Line) -> Result<Vec<Vec<u8>>, Mistake> {
    let mut found: Vec<Option<Vec<u8>>> = vec![None; fields.len()];
    while line.goes_on() {
        let place = line.place();
        let at = if line.is_number() {
            let next = found.iter().position(Option::is_none);
            next.ok_or_else(|| Mistake::new(place, format!("the key has {} fields", fields.len())))?
        } else {
            let name = line.name("KEY:VALUE")?;
            if !line.accept(":") {
                return Err(unknown_option(&name, "KEY:VALUE"));
            }
            let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
            stf::names::find_key(&name, &names)?
        };
        let Given::Value(Value::One(word)) = field::given(line)? else {
            let message =
                format!("a packet has one value of `{}`: write a value without mask or prefix", fields[at].name);
            return Err(Mistake::new(place, message));
        };
        if found[at].replace(fields[at].encode(&word)?).is_some() {
            return Err(Mistake::new(place, format!("key `{}` is given twice", fields[at].name)));
        }
    }
    if let Some((field, _)) = fields.iter().zip(&found).find(|(_, found)| found.is_none()) {
        let message = format!("a lookup in `{}` needs all keys: write `{}:VALUE`", table.name(), field.name);
        return Err(Mistake::new(line.place(), message));
    }
    Ok(found.into_iter().flatten().collect())
}

fn is_hit(fields: &[Field], entry: &TableEntry, key: &[Vec<u8>]) -> bool {
    fields.iter().zip(key).all(|(field, value)| {
        let found = entry.r#match.iter().find(|found| found.field_id == field.id);
        field.is_matched(found, value)
    })
}

/// The length of an entry's prefix; a table has one key of prefixes at most.
fn prefix(entry: &TableEntry) -> i32 {
    let lengths = entry.r#match.iter().filter_map(|found| match &found.field_match_type {
        Some(FieldMatchType::Lpm(lpm)) => Some(lpm.prefix_len),
        Some(
            FieldMatchType::Exact(_)
            | FieldMatchType::Ternary(_)
            | FieldMatchType::Range(_)
            | FieldMatchType::Optional(_)
            | FieldMatchType::Other(_),
        )
        | None => None,
    });
    lengths.max().unwrap_or(0)
}
