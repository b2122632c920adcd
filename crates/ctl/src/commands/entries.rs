//! Tables: their entries and default actions.

use super::input::{Input, metadata, option, seconds, show_metadata, unknown_option};
use super::write::{entity, kind, table_action, table_action_cell, update};
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
use serde_json::{Map, Value as Json, json};
use stf::command::Word;
use stf::{Line, Mistake, Place};

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
            let actions = table.action_refs.iter().filter_map(|action| Some(names.action(action.id)?.alias()));
            let actions: Vec<&str> = actions.collect();
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
                Cell::shown(key.collect::<Vec<_>>().join(" "), json_keys(&fields)),
                Cell::shown(actions.join(" "), actions.into()),
                used(table).into(),
                table.size.into(),
                if has.is_empty() { Cell::Empty } else { Cell::shown(has.join(", "), has.into()) },
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
        let mut entries = self.entries(&names, table)?;
        // A switch has its entries in no order.
        entries.sort_by_cached_key(|entry| shown_key(&fields, entry));
        let is_wanted = |entry: &&TableEntry| {
            wanted.iter().zip(&fields).all(|(wanted, field)| match wanted {
                Some(wanted) => entry.r#match.iter().find(|found| found.field_id == field.id) == wanted.as_ref(),
                None => true,
            })
        };
        let mut report = entry_report(&fields);
        entries.iter().filter(is_wanted).for_each(|entry| report.row(entry_row(&names, &fields, entry)));
        let is_all = wanted.iter().all(Option::is_none);
        if !is_all && report.rows.is_empty() {
            let message =
                format!("table `{}` has no such entry: `show {}` lists those that it has", table.name(), table.name());
            return Err(Failure::refused(message));
        }
        if is_all {
            report.rows.extend(self.default_row(&names, table, &fields)?);
        }
        self.print(&report);
        Ok(())
    }

    /// All entries of a table, with what it counts.
    pub(super) fn entries(&mut self, names: &Names, table: &Table) -> Result<Vec<TableEntry>, Failure> {
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

    /// The default action of a table, with what it counts.
    pub(super) fn default_entry(&mut self, names: &Names, table: &Table) -> Result<Option<TableEntry>, Failure> {
        let plain = TableEntry { table_id: table.id(), is_default_action: true, ..TableEntry::default() };
        let counted = TableEntry {
            counter_data: names.direct_counter(table.id()).map(|_| CounterData::default()),
            meter_config: names.direct_meter(table.id()).map(|_| MeterConfig::default()),
            ..plain.clone()
        };
        let read = |filter| vec![entity(Entity::TableEntry(filter))];
        let found = match self.client.read(read(counted)) {
            // BMv2 has no counters and meters for default actions, and refuses to read them.
            Err(Failure::Refused(_)) => self.client.read(read(plain))?,
            found => found?,
        };
        Ok(found.into_iter().find_map(|found| table_entry(found.entity?)))
    }

    pub(super) fn default_row(
        &mut self,
        names: &Names,
        table: &Table,
        fields: &[Field],
    ) -> Result<Option<Vec<Cell>>, Failure> {
        let entry = self.default_entry(names, table)?.filter(|entry| entry.action.is_some());
        Ok(entry.map(|entry| {
            let mut row = entry_row(names, fields, &entry);
            row[0] = "default".into();
            row[1..1 + fields.len()].fill(Cell::Empty);
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
    pub(super) fn key(
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
        if verb == "delete" && !line.goes_on() && !fields.is_empty() {
            return Err(whole_table(table, &fields, line.place()).into());
        }
        let (mut entry, mut behind) = self.whole_key(table, &fields, &mut line)?;
        if verb != "delete" {
            let Some(name) = behind.take() else { return Err(line.expected("a key or an action").into()) };
            entry.action = Some(table_action(&names, table, &name, &mut line)?);
        }
        loop {
            let name = match behind.take() {
                Some(name) => name,
                None if line.goes_on() => line.name("`priority`, `timeout` or `metadata`")?,
                None => break,
            };
            match name.text.as_str() {
                "priority" => entry.priority = option(&mut line, &name)?,
                "timeout" if verb != "delete" => {
                    entry.idle_timeout_ns = (seconds(&mut line, &name)? * 1e9).round() as i64
                }
                "metadata" if verb != "delete" => entry.metadata = metadata(&mut line)?,
                _ if verb == "delete" => return Err(unknown_option(&name, "KEY:VALUE or `priority N`").into()),
                _ => return Err(unknown_option(&name, "`priority N`, `timeout SECONDS` or `metadata 0xHEX`").into()),
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
}

/// `delete` without a key could mean the entry that matches all packets, or all entries.
fn whole_table(table: &Table, fields: &[Field], place: Place) -> Mistake {
    let keys: Vec<String> = fields.iter().map(|field| format!("{}:VALUE", field.name)).collect();
    let message = format!(
        "no key is given: `delete {} {}` deletes one entry, `clear {}` all of them",
        table.name(),
        keys.join(" "),
        table.name()
    );
    Mistake::new(place, message)
}

/// Beside the keys.
const COLUMNS: [&str; 12] = [
    "kind",
    "priority",
    "action",
    "packets",
    "bytes",
    "cir",
    "cburst",
    "pir",
    "pburst",
    "timeout_s",
    "idle_s",
    "metadata",
];

/// `kind` is `entry`, `const` (of the program, and constant) or `default` (the default action). Then come the keys.
pub fn entry_report(fields: &[Field]) -> Report {
    let keys = fields.iter().map(|field| field.name);
    let columns: Vec<&str> = COLUMNS[..1].iter().copied().chain(keys).chain(COLUMNS[1..].iter().copied()).collect();
    let mut report = Report::new(&columns);
    report.group = Some(("key", 1..1 + fields.len()));
    report
}

pub fn entry_row(names: &Names, fields: &[Field], entry: &TableEntry) -> Vec<Cell> {
    let key = |field: &Field| {
        let found = entry.r#match.iter().find(|found| found.field_id == field.id);
        Cell::shown(field.show_match(found), field.json_match(found))
    };
    let seconds = |nanoseconds: i64| {
        let seconds = format!("{:.1}", nanoseconds as f64 / 1e9);
        let json = seconds.parse::<f64>().unwrap_or_default();
        Cell::shown(seconds, json.into())
    };
    let (counts, rates) = (entry.counter_data.as_ref(), entry.meter_config.as_ref());
    let mut row: Vec<Cell> = vec![if entry.is_const { "const" } else { "entry" }.into()];
    row.extend(fields.iter().map(key));
    row.push((entry.priority != 0).then_some(i64::from(entry.priority)).into());
    row.push(table_action_cell(names, entry.action.as_ref()));
    row.extend([counts.map(|data| data.packet_count).into(), counts.map(|data| data.byte_count).into()]);
    row.extend([
        rates.map(|rates| rates.cir).into(),
        rates.map(|rates| rates.cburst).into(),
        rates.map(|rates| rates.pir).into(),
        rates.map(|rates| rates.pburst).into(),
    ]);
    row.push((entry.idle_timeout_ns != 0).then(|| seconds(entry.idle_timeout_ns)).into());
    row.push(entry.time_since_last_hit.map(|idle| seconds(idle.elapsed_ns)).into());
    row.push((!entry.metadata.is_empty()).then(|| show_metadata(&entry.metadata)).into());
    row
}

/// The key as it is typed.
pub fn shown_key(fields: &[Field], entry: &TableEntry) -> String {
    let priority = if entry.priority == 0 { String::new() } else { format!(" priority {}", entry.priority) };
    shown_fields(fields, entry) + &priority
}

/// The key without its priority.
pub fn shown_fields(fields: &[Field], entry: &TableEntry) -> String {
    let key = |field: &Field| {
        let found = entry.r#match.iter().find(|found| found.field_id == field.id)?;
        Some(format!(" {}:{}", plain_or_quoted(field.name), field.show_match(Some(found))))
    };
    fields.iter().filter_map(key).collect()
}

/// A name as commands take it: some that come from expressions need quotes.
fn plain_or_quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.$[]".contains(c);
    if name.chars().all(is_plain) { name.to_string() } else { stf::quoted(name) }
}

/// The key as it is typed, and as an object.
pub fn key_cell(fields: &[Field], entry: &TableEntry) -> Cell {
    let value = |field: &Field| {
        let found = entry.r#match.iter().find(|found| found.field_id == field.id)?;
        Some((field.name.to_string(), field.json_match(Some(found))))
    };
    let mut json: Map<String, Json> = fields.iter().filter_map(value).collect();
    if entry.priority != 0 {
        json.insert("priority".to_string(), entry.priority.into());
    }
    Cell::shown(shown_key(fields, entry).trim_start(), Json::Object(json))
}

fn json_keys(fields: &[Field]) -> Json {
    let key = |field: &Field| {
        let mut object = json!({ "name": field.name, "match": control::store::kind_name(field.kind) });
        if field.look != field::Look::Text {
            object["bits"] = field.width.into();
        }
        object
    };
    fields.iter().map(key).collect()
}

pub fn table_entry(found: Entity) -> Option<TableEntry> {
    if let Entity::TableEntry(entry) = found { Some(entry) } else { None }
}
