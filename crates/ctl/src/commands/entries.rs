//! Tables: their entries and default actions.

use super::input::{Input, option, seconds, unknown_option};
use super::write::{entity, kind, show_table_action, table_action, update};
use super::{Session, mistake};
use crate::failure::Failure;
use crate::field::{self, Field, Given};
use crate::names::{self, Named as _, Names};
use crate::output::{Cell, Report};
use control::message::config::{Table, table::IdleTimeoutBehavior};
use control::message::runtime::{
    CounterData, FieldMatch, MeterConfig, TableEntry, entity::Entity, table_entry, update::Type,
};
use hlir::MatchKind;
use stf::command::Word;
use stf::{Line, Mistake};

/// Updates of one Write: the reasons of all that fail fit the answer.
const BATCH: usize = 64;

impl Session {
    pub fn tables(&mut self, input: &Input) -> Result<(), Failure> {
        input.finish()?;
        let names = self.names()?;
        // Other switches than those of bacus do not report how many entries they have.
        let counts = self.client.report()?.unwrap_or_default().tables;
        let used =
            |table: &Table| counts.iter().find(|counts| counts.name == table.name()).map(|counts| counts.entries);
        let mut report = Report::new(&["table", "key", "actions", "used", "size", "has"]);
        for table in &names.info.tables {
            let fields = names.keys(&table.match_fields);
            let key = fields.iter().map(|field| {
                let width = if field.look == field::Look::Text { String::new() } else { format!(":{}", field.width) };
                format!("{}:{}{width}", field.name, control::store::kind_name(field.kind))
            });
            let actions =
                table.action_refs.iter().filter_map(|action| Some(names.action(action.id)?.alias().to_string()));
            let has = [
                ("constant entries", table.is_const_table),
                ("constant default", table.const_default_action_id != 0),
                ("counter", names.direct_counter(table.id()).is_some()),
                ("meter", names.direct_meter(table.id()).is_some()),
                ("timeouts", table.idle_timeout_behavior == IdleTimeoutBehavior::NotifyControl as i32),
                ("members", table.implementation_id != 0),
            ];
            let has: Vec<&str> = has.iter().filter(|(_, is_so)| *is_so).map(|(what, _)| *what).collect();
            report.row(vec![
                table.name().into(),
                key.collect::<Vec<_>>().join(" ").into(),
                actions.collect::<Vec<_>>().join(" ").into(),
                used(table).into(),
                table.size.into(),
                (!has.is_empty()).then(|| has.join(", ")).into(),
            ]);
        }
        self.print(&report);
        Ok(())
    }

    pub fn show(&mut self, input: &Input) -> Result<(), Failure> {
        let names = self.names()?;
        let mut line = input.line()?;
        let table = names::find(&line.name("a table")?, "table", &names.info.tables)?;
        let fields = names.keys(&table.match_fields);
        let wanted = self.keys(&fields, &mut line)?;
        line.finish()?;
        let entries = self.entries(&names, table)?;
        let is_wanted = |entry: &&TableEntry| {
            wanted.iter().zip(&fields).all(|(wanted, field)| match wanted {
                Some(wanted) => entry.r#match.iter().find(|found| found.field_id == field.id) == wanted.as_ref(),
                None => true,
            })
        };
        let mut report = entry_report(&fields);
        entries.iter().filter(is_wanted).for_each(|entry| report.row(entry_row(&names, &fields, entry)));
        if wanted.iter().all(Option::is_none) {
            report.rows.extend(self.default_row(&names, table, fields.len())?);
        }
        self.print(&report);
        Ok(())
    }

    /// All entries of a table, with what it counts.
    fn entries(&mut self, names: &Names, table: &Table) -> Result<Vec<TableEntry>, Failure> {
        let has_timeout = table.idle_timeout_behavior == IdleTimeoutBehavior::NotifyControl as i32;
        let filter = TableEntry {
            table_id: table.id(),
            counter_data: names.direct_counter(table.id()).map(|_| CounterData::default()),
            meter_config: names.direct_meter(table.id()).map(|_| MeterConfig::default()),
            time_since_last_hit: has_timeout.then(table_entry::IdleTimeout::default),
            ..TableEntry::default()
        };
        let found = self.client.read(vec![entity(Entity::TableEntry(filter))])?;
        Ok(found.into_iter().filter_map(|found| table_entry(found.entity?)).collect())
    }

    fn default_row(&mut self, names: &Names, table: &Table, keys: usize) -> Result<Option<Vec<Cell>>, Failure> {
        let filter = TableEntry { table_id: table.id(), is_default_action: true, ..TableEntry::default() };
        let found = self.client.read(vec![entity(Entity::TableEntry(filter))])?;
        let entry = found.into_iter().find_map(|found| table_entry(found.entity?));
        Ok(entry.and_then(|entry| show_table_action(names, entry.action.as_ref())).map(|action| {
            let mut row = vec![Cell::Empty; keys + COLUMNS.len()];
            row[0] = "default".into();
            row[keys + 2] = action.into();
            row
        }))
    }

    /// `KEY:VALUE` up to the first name without `:`, or values alone in the order of the keys. For each key: nothing was given, or what it
    /// matches.
    fn keys(&mut self, fields: &[Field], line: &mut Line) -> Result<Vec<Option<Option<FieldMatch>>>, Mistake> {
        let mut found = vec![None; fields.len()];
        let mut ended = None;
        while line.goes_on() && ended.is_none() {
            ended = self.key(fields, line, &mut found)?;
        }
        match ended {
            Some(name) => Err(unknown_option(&name, "KEY:VALUE")),
            None => Ok(found),
        }
    }

    /// One key, or the name that is not a key.
    fn key(
        &mut self,
        fields: &[Field],
        line: &mut Line,
        found: &mut [Option<Option<FieldMatch>>],
    ) -> Result<Option<Word>, Mistake> {
        let place = line.place();
        let at = if line.is_number() || line.is_mark("*") {
            let next = found.iter().position(Option::is_none);
            next.ok_or_else(|| Mistake::new(place, format!("the key has {} fields", fields.len())))?
        } else {
            let name = line.name("KEY:VALUE")?;
            if !line.accept(":") {
                return Ok(Some(name));
            }
            let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
            stf::names::find_key(&name, &names)?
        };
        if found[at].is_some() {
            return Err(Mistake::new(place, format!("key `{}` is given twice", fields[at].name)));
        }
        let given = field::given(line)?;
        if matches!(given, Given::Any) && fields[at].kind == MatchKind::Exact {
            return Err(Mistake::new(place, format!("key `{}` is exact: it takes one value", fields[at].name)));
        }
        found[at] = Some(fields[at].encode_match(&given, &mut self.warnings)?);
        Ok(None)
    }

    /// The key of an entry, and the name behind it.
    pub(super) fn whole_key(
        &mut self,
        table: &Table,
        fields: &[Field],
        line: &mut Line,
    ) -> Result<(TableEntry, Option<Word>), Mistake> {
        let mut found = vec![None; fields.len()];
        let mut behind = None;
        while line.goes_on() && behind.is_none() {
            behind = self.key(fields, line, &mut found)?;
        }
        let missing =
            fields.iter().zip(&found).find(|(field, found)| field.kind == MatchKind::Exact && found.is_none());
        if let Some((field, _)) = missing {
            let place = behind.as_ref().map_or_else(|| line.place(), |name| name.place);
            return Err(Mistake::new(
                place,
                format!("exact key `{}` is missing: write `{}:VALUE`", field.name, field.name),
            ));
        }
        let matches = found.into_iter().flatten().flatten().collect();
        Ok((TableEntry { table_id: table.id(), r#match: matches, ..TableEntry::default() }, behind))
    }

    pub fn write_entry(&mut self, verb: &str, input: &Input) -> Result<(), Failure> {
        let names = self.names()?;
        let mut line = input.line()?;
        let table = names::find(&line.name("a table")?, "table", &names.info.tables)?;
        let fields = names.keys(&table.match_fields);
        let (mut entry, mut behind) = self.whole_key(table, &fields, &mut line)?;
        if verb != "delete" {
            let Some(name) = behind.take() else { return Err(line.expected("a key or an action").into()) };
            entry.action = Some(table_action(&names, table, &name, &mut line)?);
        }
        loop {
            let name = match behind.take() {
                Some(name) => name,
                None if line.goes_on() => line.name("`priority` or `timeout`")?,
                None => break,
            };
            match name.text.as_str() {
                "priority" => entry.priority = option(&mut line, &name)?,
                "timeout" if verb != "delete" => {
                    entry.idle_timeout_ns = (seconds(&mut line, &name)? * 1e9).round() as i64
                }
                _ if verb == "delete" => return Err(unknown_option(&name, "KEY:VALUE or `priority N`").into()),
                _ => return Err(unknown_option(&name, "`priority N` or `timeout SECONDS`").into()),
            }
        }
        if entry.priority <= 0 && names::has_priorities(&fields) {
            let message =
                format!("entries of table `{}` need a priority: add `priority N`, the largest wins", table.name());
            return mistake(line.place(), message);
        }
        let label = format!("{verb} {}{}", table.name(), shown_key(&fields, &entry));
        self.write_one(label, update(kind(verb), Entity::TableEntry(entry)))
    }

    pub fn set_default(&mut self, input: &Input) -> Result<(), Failure> {
        let names = self.names()?;
        let mut line = input.line()?;
        let table = names::find(&line.name("a table")?, "table", &names.info.tables)?;
        let name = line.name("an action, or `reset`")?;
        let mut entry = TableEntry { table_id: table.id(), is_default_action: true, ..TableEntry::default() };
        if name.text != "reset" || line.goes_on() {
            entry.action = Some(table_action(&names, table, &name, &mut line)?);
        }
        line.finish()?;
        let label = format!("default {}", table.name());
        self.write_one(label, update(Type::Modify, Entity::TableEntry(entry)))
    }

    pub fn clear(&mut self, input: &Input) -> Result<(), Failure> {
        let names = self.names()?;
        let mut line = input.line()?;
        let table = names::find(&line.name("a table")?, "table", &names.info.tables)?;
        line.finish()?;
        let fields = names.keys(&table.match_fields);
        let filter = TableEntry { table_id: table.id(), ..TableEntry::default() };
        let found = self.client.read(vec![entity(Entity::TableEntry(filter))])?;
        let entries = found.into_iter().filter_map(|found| table_entry(found.entity?)).filter(|entry| !entry.is_const);
        let updates: Vec<_> = entries
            .map(|entry| {
                let label = format!("delete {}{}", table.name(), shown_key(&fields, &entry));
                let key = TableEntry {
                    table_id: entry.table_id,
                    r#match: entry.r#match,
                    priority: entry.priority,
                    ..TableEntry::default()
                };
                (label, update(Type::Delete, Entity::TableEntry(key)))
            })
            .collect();
        updates.chunks(BATCH).try_for_each(|batch| self.write_all(batch.to_vec()))
    }
}

/// Beside the keys.
const COLUMNS: [&str; 11] =
    ["entry", "priority", "action", "packets", "bytes", "cir", "cburst", "pir", "pburst", "timeout_s", "idle_s"];

/// `entry` names the origin of an entry; then come the keys.
fn entry_report(fields: &[Field]) -> Report {
    let keys = fields.iter().map(|field| field.name);
    let columns: Vec<&str> = COLUMNS[..1].iter().copied().chain(keys).chain(COLUMNS[1..].iter().copied()).collect();
    Report::new(&columns)
}

fn entry_row(names: &Names, fields: &[Field], entry: &TableEntry) -> Vec<Cell> {
    let key = |field: &Field| field.show_match(entry.r#match.iter().find(|found| found.field_id == field.id));
    let seconds = |nanoseconds: i64| format!("{:.1}", nanoseconds as f64 / 1e9);
    let (counts, rates) = (entry.counter_data.as_ref(), entry.meter_config.as_ref());
    let mut row: Vec<Cell> = vec![if entry.is_const { "constant" } else { "entry" }.into()];
    row.extend(fields.iter().map(|field| Cell::from(key(field))));
    row.push((entry.priority != 0).then_some(i64::from(entry.priority)).into());
    row.push(show_table_action(names, entry.action.as_ref()).into());
    row.extend([counts.map(|data| data.packet_count).into(), counts.map(|data| data.byte_count).into()]);
    row.extend([
        rates.map(|rates| rates.cir).into(),
        rates.map(|rates| rates.cburst).into(),
        rates.map(|rates| rates.pir).into(),
        rates.map(|rates| rates.pburst).into(),
    ]);
    row.push((entry.idle_timeout_ns != 0).then(|| seconds(entry.idle_timeout_ns)).into());
    row.push(entry.time_since_last_hit.map(|idle| seconds(idle.elapsed_ns)).into());
    row
}

/// The key as it is typed.
pub fn shown_key(fields: &[Field], entry: &TableEntry) -> String {
    let key = |field: &Field| {
        let found = entry.r#match.iter().find(|found| found.field_id == field.id)?;
        Some(format!(" {}:{}", field.name, field.show_match(Some(found))))
    };
    let priority = if entry.priority == 0 { String::new() } else { format!(" priority {}", entry.priority) };
    fields.iter().filter_map(key).collect::<String>() + &priority
}

pub fn table_entry(found: Entity) -> Option<TableEntry> {
    if let Entity::TableEntry(entry) = found { Some(entry) } else { None }
}
