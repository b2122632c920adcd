//! Counters, meters and registers.

use super::entries::{key_cell, shown_key};
use super::input::{Input, option, unknown_option};
use super::write::{entity, is_zero, update};
use super::{Session, mistake};
use crate::failure::Failure;
use crate::names::{self, Named as _, Names};
use crate::output::{Cell, Report};
use control::message::config::{CounterSpec, counter_spec::Unit};
use control::message::runtime::{
    CounterData, CounterEntry, DirectCounterEntry, DirectMeterEntry, Entity as Found, Index, MeterConfig, MeterEntry,
    RegisterEntry, TableEntry, entity::Entity, update::Type,
};
use stf::command::Word;
use stf::{Line, Mistake};

/// In place of a key: the default action.
const DEFAULT: &str = "default";

/// The object and element that a line names.
struct Chosen {
    name: Option<Word>,
    index: Option<i64>,
}

fn chosen(line: &mut Line, what: &str) -> Result<Chosen, Mistake> {
    let name = if line.goes_on() { Some(line.name(what)?) } else { None };
    let index = match &name {
        Some(name) if line.is_number() => Some(option(line, name)?),
        Some(_) | None => None,
    };
    line.finish()?;
    Ok(Chosen { name, index })
}

fn index(index: Option<i64>) -> Option<Index> {
    index.map(|index| Index { index })
}

impl Session {
    pub fn counters(&mut self, input: &mut Input) -> Result<(), Failure> {
        let names = self.names()?;
        if let Some(verb) = input.one_of(&["set", "reset"]) {
            return self.set_counter(&names, &verb, input);
        }
        let chosen = chosen(&mut input.line()?, "a counter")?;
        let mut report = Report::new(&["counter", "index", "entry", "packets", "bytes"]);
        let info = &names.info;
        let Some(name) = &chosen.name else {
            for counter in &info.counters {
                self.counter_elements(counter.id(), None, (counter.name(), counter.spec), &mut report)?;
            }
            for counter in &info.direct_counters {
                self.direct_counts(&names, counter.direct_table_id, (counter.name(), counter.spec), &mut report)?;
            }
            report.rows.retain(|row| row[3..].iter().any(|cell| !matches!(cell, Cell::Number(0) | Cell::Empty)));
            self.print(&report);
            return Ok(());
        };
        let all = info.counters.iter().map(|counter| counter.name());
        let all: Vec<&str> = all.chain(info.direct_counters.iter().map(|counter| counter.name())).collect();
        let found = stf::names::find(name, "counter", all.iter().copied())?;
        match info.counters.get(found) {
            Some(counter) => {
                self.counter_elements(counter.id(), chosen.index, (counter.name(), counter.spec), &mut report)?
            }
            None => {
                let counter = &info.direct_counters[found - info.counters.len()];
                if chosen.index.is_some() {
                    let message = format!("counter `{}` counts entries: it has no indices", counter.name());
                    return mistake(name.place, message);
                }
                self.direct_counts(&names, counter.direct_table_id, (counter.name(), counter.spec), &mut report)?;
            }
        }
        self.print(&report);
        Ok(())
    }

    fn counter_elements(
        &mut self,
        id: u32,
        element: Option<i64>,
        (name, spec): (&str, Option<CounterSpec>),
        report: &mut Report,
    ) -> Result<(), Failure> {
        let filter = CounterEntry { counter_id: id, index: index(element), data: None };
        for found in self.client.read(vec![entity(Entity::CounterEntry(filter))])? {
            if let Some(Entity::CounterEntry(counter)) = found.entity {
                let [packets, bytes] = counts(spec, counter.data);
                report.row(vec![
                    name.into(),
                    counter.index.map(|index| index.index).into(),
                    Cell::Empty,
                    packets,
                    bytes,
                ]);
            }
        }
        Ok(())
    }

    fn direct_counts(
        &mut self,
        names: &Names,
        table: u32,
        (name, spec): (&str, Option<CounterSpec>),
        report: &mut Report,
    ) -> Result<(), Failure> {
        let filter = |table_entry| Entity::DirectCounterEntry(DirectCounterEntry { table_entry, data: None });
        for found in self.read_direct(table, filter)? {
            if let Some(Entity::DirectCounterEntry(counter)) = found.entity {
                let [packets, bytes] = counts(spec, counter.data);
                report.row(vec![name.into(), Cell::Empty, key_of(names, counter.table_entry), packets, bytes]);
            }
        }
        Ok(())
    }

    /// What a table's entries count or are measured by, and its default action.
    fn read_direct(
        &mut self,
        table: u32,
        filter: impl Fn(Option<TableEntry>) -> Entity,
    ) -> Result<Vec<Found>, Failure> {
        let of = |is_default_action| {
            let entry = TableEntry { table_id: table, is_default_action, ..TableEntry::default() };
            vec![entity(filter(Some(entry)))]
        };
        let mut found = self.client.read(of(false))?;
        match self.client.read(of(true)) {
            Ok(default) => found.extend(default),
            // BMv2 has no counters and meters for default actions, nor have tables with action profiles.
            Err(Failure::Refused(_)) => {}
            Err(failure) => return Err(failure),
        }
        Ok(found)
    }

    /// `reset` without an index is for all.
    fn set_counter(&mut self, names: &Names, verb: &Word, input: &Input) -> Result<(), Failure> {
        let mut line = input.line()?;
        let word = line.name("a counter")?;
        let info = &names.info;
        let all: Vec<&str> = info
            .counters
            .iter()
            .map(|counter| counter.name())
            .chain(info.direct_counters.iter().map(|counter| counter.name()))
            .collect();
        let at = stf::names::find(&word, "counter", all.iter().copied())?;
        let label = format!("counter {}", all[at]);
        let is_reset = verb.text == "reset";
        let Some(counter) = info.counters.get(at) else {
            let table = info.direct_counters[at - info.counters.len()].direct_table_id;
            let (entry, key, behind) = self.direct_key(names, table, &word, &mut line)?;
            let data = counter_data(is_reset, behind, &mut line)?;
            let written = DirectCounterEntry { table_entry: Some(entry), data: Some(data) };
            return self.write_one(label + &key, update(Type::Modify, Entity::DirectCounterEntry(written)));
        };
        let element = if line.is_number() || !is_reset { Some(option(&mut line, &word)?) } else { None };
        let data = Some(counter_data(is_reset, None, &mut line)?);
        let written = CounterEntry { counter_id: counter.id(), index: index(element), data };
        self.write_one(label, update(Type::Modify, Entity::CounterEntry(written)))
    }

    /// The entry whose counter or meter is meant, its key as it is typed, and the name behind it. `default` is the default action.
    fn direct_key(
        &mut self,
        names: &Names,
        table: u32,
        word: &Word,
        line: &mut Line,
    ) -> Result<(TableEntry, String, Option<Word>), Failure> {
        let table = names.info.tables.iter().find(|known| known.id() == table);
        let Some(table) = table else {
            return Err(Failure::refused(format!("the table of `{}` is not in P4Info", word.text)));
        };
        if line.next_name() == Some(DEFAULT) {
            line.name(DEFAULT)?;
            let entry = TableEntry { table_id: table.id(), is_default_action: true, ..TableEntry::default() };
            return Ok((entry, format!(" {DEFAULT}"), None));
        }
        let fields = names.keys(&table.match_fields);
        let (mut entry, mut behind) = self.whole_key(table, &fields, line)?;
        if behind.as_ref().is_some_and(|name| name.text == "priority") {
            entry.priority = option(line, word)?;
            behind = None;
        }
        let key = shown_key(&fields, &entry);
        Ok((entry, key, behind))
    }

    pub fn meters(&mut self, input: &mut Input) -> Result<(), Failure> {
        let names = self.names()?;
        if let Some(verb) = input.one_of(&["set", "reset"]) {
            return self.set_meter(&names, &verb, input);
        }
        let chosen = chosen(&mut input.line()?, "a meter")?;
        let info = &names.info;
        let all =
            || info.meters.iter().map(|meter| meter.name()).chain(info.direct_meters.iter().map(|meter| meter.name()));
        let at =
            chosen.name.as_ref().map(|name| stf::names::find(name, "meter", all().collect::<Vec<_>>().into_iter()));
        let at = at.transpose()?;
        let mut report = Report::new(&["meter", "index", "entry", "cir", "cburst", "pir", "pburst"]);
        for (_, meter) in info.meters.iter().enumerate().filter(|(number, _)| at.is_none_or(|at| at == *number)) {
            let filter = MeterEntry { meter_id: meter.id(), index: index(chosen.index), ..MeterEntry::default() };
            for found in self.client.read(vec![entity(Entity::MeterEntry(filter))])? {
                if let Some(Entity::MeterEntry(element)) = found.entity {
                    let index = element.index.map(|index| index.index);
                    report.row([vec![meter.name().into(), index.into(), Cell::Empty], rates(element.config)].concat());
                }
            }
        }
        let first = info.meters.len();
        for (number, meter) in info.direct_meters.iter().enumerate() {
            if at.is_some_and(|at| at != first + number) {
                continue;
            }
            let filter =
                |table_entry| Entity::DirectMeterEntry(DirectMeterEntry { table_entry, ..DirectMeterEntry::default() });
            for found in self.read_direct(meter.direct_table_id, filter)? {
                if let Some(Entity::DirectMeterEntry(element)) = found.entity {
                    let key = key_of(&names, element.table_entry);
                    report.row([vec![meter.name().into(), Cell::Empty, key], rates(element.config)].concat());
                }
            }
        }
        if at.is_none() {
            report.rows.retain(|row| row[3..].iter().any(|cell| *cell != Cell::Empty));
        }
        self.print(&report);
        Ok(())
    }

    fn set_meter(&mut self, names: &Names, verb: &Word, input: &Input) -> Result<(), Failure> {
        let mut line = input.line()?;
        let word = line.name("a meter")?;
        let info = &names.info;
        let all: Vec<&str> = info
            .meters
            .iter()
            .map(|meter| meter.name())
            .chain(info.direct_meters.iter().map(|meter| meter.name()))
            .collect();
        let at = stf::names::find(&word, "meter", all.iter().copied())?;
        let label = format!("meter {}", all[at]);
        if let Some(meter) = info.meters.get(at) {
            let at = option(&mut line, &word)?;
            let config = meter_config(verb, None, &mut line)?;
            let written = MeterEntry { meter_id: meter.id(), index: index(Some(at)), config, ..MeterEntry::default() };
            return self.write_one(label, update(Type::Modify, Entity::MeterEntry(written)));
        }
        let meter = &info.direct_meters[at - info.meters.len()];
        let (entry, key, behind) = self.direct_key(names, meter.direct_table_id, &word, &mut line)?;
        let config = meter_config(verb, behind, &mut line)?;
        let written = DirectMeterEntry { table_entry: Some(entry), config, counter_data: None };
        self.write_one(label + &key, update(Type::Modify, Entity::DirectMeterEntry(written)))
    }

    pub fn registers(&mut self, input: &mut Input) -> Result<(), Failure> {
        let names = self.names()?;
        if input.one_of(&["set"]).is_some() {
            return self.set_register(&names, input);
        }
        let chosen = chosen(&mut input.line()?, "a register")?;
        let registers = &names.info.registers;
        let one = chosen.name.as_ref().map(|name| names::find(name, "register", registers)).transpose()?;
        let mut report = Report::new(&["register", "index", "value"]);
        for register in registers.iter().filter(|register| one.is_none_or(|one| one.id() == register.id())) {
            let filter = RegisterEntry { register_id: register.id(), index: index(chosen.index), data: None };
            let spec = register.type_spec.clone().unwrap_or_default();
            for found in self.client.read(vec![entity(Entity::RegisterEntry(filter))])? {
                let Some(Entity::RegisterEntry(element)) = found.entity else { continue };
                let data = element.data.unwrap_or_default();
                if one.is_some() || !is_zero(&data) {
                    let value = names.show_data("", &spec, &data);
                    report.row(vec![
                        register.name().into(),
                        element.index.map(|index| index.index).into(),
                        value.into(),
                    ]);
                }
            }
        }
        self.print(&report);
        Ok(())
    }

    fn set_register(&mut self, names: &Names, input: &Input) -> Result<(), Failure> {
        let mut line = input.line()?;
        let word = line.name("a register")?;
        let register = names::find(&word, "register", &names.info.registers)?;
        let at: i64 = option(&mut line, &word)?;
        let data = names.read_data(&mut line, &register.type_spec.clone().unwrap_or_default())?;
        line.finish()?;
        let written = RegisterEntry { register_id: register.id(), index: index(Some(at)), data: Some(data) };
        let label = format!("register {} {at}", register.name());
        self.write_one(label, update(Type::Modify, Entity::RegisterEntry(written)))
    }
}

/// Packets and bytes, where the counter counts them.
fn counts(spec: Option<CounterSpec>, data: Option<CounterData>) -> [Cell; 2] {
    let (unit, data) = (spec.map_or(Unit::Both, |spec| spec.unit()), data.unwrap_or_default());
    let has_packets = unit != Unit::Bytes;
    let has_bytes = unit != Unit::Packets;
    [has_packets.then_some(data.packet_count).into(), has_bytes.then_some(data.byte_count).into()]
}

/// `packets N` and `bytes N`; nothing for `reset`.
fn counter_data(is_reset: bool, mut behind: Option<Word>, line: &mut Line) -> Result<CounterData, Mistake> {
    let expected = "`packets N` or `bytes N`";
    let mut data = CounterData::default();
    let (mut is_given, place) = (is_reset, line.place());
    while behind.is_some() || line.goes_on() {
        let name = match behind.take() {
            Some(name) => name,
            None => line.name(expected)?,
        };
        match name.text.as_str() {
            "packets" if !is_reset => data.packet_count = option(line, &name)?,
            "bytes" if !is_reset => data.byte_count = option(line, &name)?,
            _ if is_reset => return Err(unknown_option(&name, "the end of the line")),
            _ => return Err(unknown_option(&name, expected)),
        }
        is_given = true;
    }
    match is_given {
        true => Ok(data),
        false => Err(Mistake::new(place, format!("a counter needs {expected}"))),
    }
}

fn rates(config: Option<MeterConfig>) -> Vec<Cell> {
    let figures = |config: MeterConfig| [config.cir, config.cburst, config.pir, config.pburst];
    match config {
        Some(config) => figures(config).into_iter().map(Cell::from).collect(),
        None => vec![Cell::Empty; 4],
    }
}

/// `cir N cburst N [pir N pburst N]`; the peak is the committed rate where it is left out. Nothing for `reset`.
fn meter_config(verb: &Word, mut behind: Option<Word>, line: &mut Line) -> Result<Option<MeterConfig>, Mistake> {
    let mut given: [Option<i64>; 4] = [None; 4];
    const NAMES: [&str; 4] = ["cir", "cburst", "pir", "pburst"];
    let expected = "`cir N`, `cburst N`, `pir N` or `pburst N`";
    while verb.text == "set" && (behind.is_some() || line.goes_on()) {
        let name = match behind.take() {
            Some(name) => name,
            None => line.name(expected)?,
        };
        let at = NAMES.iter().position(|known| *known == name.text).ok_or_else(|| unknown_option(&name, expected))?;
        given[at] = Some(option(line, &name)?);
    }
    if let Some(name) = behind {
        return Err(unknown_option(&name, "the end of the line"));
    }
    line.finish()?;
    match (verb.text.as_str(), given) {
        ("set", [Some(cir), Some(cburst), pir, pburst]) => {
            let (pir, pburst) = (pir.unwrap_or(cir), pburst.unwrap_or(cburst));
            Ok(Some(MeterConfig { cir, cburst, pir, pburst, eburst: 0 }))
        }
        ("set", _) => Err(Mistake::new(line.place(), "a meter needs `cir N` and `cburst N`")),
        _ => Ok(None),
    }
}

fn key_of(names: &Names, entry: Option<TableEntry>) -> Cell {
    let table = |entry: &TableEntry| names.info.tables.iter().find(|table| table.id() == entry.table_id);
    match entry.as_ref().and_then(|entry| Some((entry, table(entry)?))) {
        Some((entry, _)) if entry.is_default_action => DEFAULT.into(),
        Some((entry, table)) => key_cell(&names.keys(&table.match_fields), entry),
        None => Cell::Empty,
    }
}
