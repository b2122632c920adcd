//! What entries will fill the tables with, without filling them: for planners, before there is code.

use super::binary::{Input, MAGIC};
use super::{Origin, USUAL_PORTS, find_table};
use crate::failure::Failure;
use crate::files;
use control::{DataPlane as _, Facts, Rehearsal, Store};
use hlir::facts::Assumption;
use hlir::table::action_bit;
use hlir::{MatchKind, Program, Scope, TableId};
use opt::inputs::prefix_coverage::Counter;
use opt::inputs::{Content, KeySketch, Occupancy};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use stf::{Command, Mistake};

/// Different records or masks beyond this are not distinguished: no structure needs more.
const MOST_DIFFERENT: usize = 1 << 17;

/// What all of them together bring.
pub fn occupancy(program: &Program, origins: &[Origin]) -> Result<Occupancy, Failure> {
    contents(program, origins).map(|(occupancy, _)| occupancy)
}

/// The same, and the facts that hold for exactly these contents. There are none about tables whose entries the store does not check.
pub fn contents(program: &Program, origins: &[Origin]) -> Result<(Occupancy, Vec<Assumption>), Failure> {
    // Entries are written for the program as its controllers know it.
    let program = Arc::new(program.without_places());
    let mut rehearsal = Rehearsal::new(Arc::clone(&program));
    let program = &*program;
    let mut counts = Counts { program, tables: HashMap::new() };
    let mut has_text = false;
    for origin in origins {
        match origin {
            Origin::File(path) => {
                let bytes = files::contents(path)?;
                if super::is_binary(&bytes) {
                    counts.binary(path, &bytes)?;
                } else {
                    super::configure(program, path, &mut rehearsal)?;
                    has_text = true;
                }
            }
            Origin::Generated { table, count, .. } => counts.generated(find_table(program, table)?, *count),
        }
    }
    // Files have the entries of all tables. The generator fills one, and does not define the others.
    let is_past_store = |id: TableId| counts.tables.get(&id).is_some_and(|count| count.entries > 0);
    let store = rehearsal.store();
    let mut facts = Facts::of(store).hold(store);
    facts.retain(|fact| !is_past_store(fact.table));
    let others_are_empty = origins.iter().any(|origin| matches!(origin, Origin::File(_)));
    let mut occupancy = Occupancy { others_are_empty, defaults: defaults(store), ..Occupancy::default() };
    for (id, table) in program.tables.iter() {
        let text = if has_text { store.content(id) } else { control::store::Content::default() };
        let mut other = counts.tables.remove(&id).unwrap_or_else(|| Count::of(program, id));
        if let Some(counter) = other.coverage.as_mut().filter(|_| has_text) {
            store.prefixes(id).for_each(|(value, bits)| counter.add(value, bits));
        }
        if let Some(keys) = other.keys.as_mut().filter(|_| has_text) {
            store.exact_keys(id).for_each(|key| keys.add(key));
        }
        let entries = text.entries.max(table.entries.len() as u64) + other.entries;
        let content = Content {
            entries,
            records: text.records + other.records.len() as u64 + other.more_records,
            masks: text.masks + other.masks.len() as u64 + other.more_masks,
            long_prefixes: text.long_prefixes + other.long_prefixes,
            coverage: other.coverage.and_then(|counter| counter.coverage(entries)),
            actions: text.actions | other.actions,
            is_known: true,
        };
        if content.entries > 0 {
            occupancy.tables.insert(table.name.clone(), content);
            occupancy.keys.extend(other.keys.map(|keys| (table.name.clone(), keys)));
        }
    }
    Ok((occupancy, facts))
}

/// The facts that hold once commands have configured a switch.
pub fn facts_of(program: &Program, commands: &[Command]) -> Result<Vec<Assumption>, Vec<Mistake>> {
    let mut rehearsal = Rehearsal::new(Arc::new(program.clone()));
    stf::run::configure(program, commands, &mut rehearsal)?;
    Ok(Facts::of(rehearsal.store()).hold(rehearsal.store()))
}

/// Default actions that are not the declared ones, by the names of their tables.
pub fn defaults(store: &Store) -> BTreeMap<String, u32> {
    let set = store.program().tables.iter().filter_map(|(id, table)| {
        let action = store.default_action(id).action;
        (action != table.default.action).then(|| (table.name.clone(), action))
    });
    set.collect()
}

/// What a table of a running switch holds. Of many entries, only the number: counting the rest takes a microsecond for each.
pub fn stored(store: &Store, id: TableId) -> Content {
    const MOST_COUNTED: u64 = 10_000;
    let (table, entries) = (&store.program().tables[id], store.entry_count(id) as u64);
    if entries > MOST_COUNTED {
        let masks = Content::estimated_masks(table, entries);
        return Content { entries, records: entries, masks, is_known: true, ..Content::default() };
    }
    let control::store::Content { records, masks, long_prefixes, actions, .. } = store.content(id);
    let coverage = Counter::of(store.program(), id).and_then(|mut counter| {
        store.prefixes(id).for_each(|(value, bits)| counter.add(value, bits));
        counter.coverage(entries)
    });
    Content { entries, records, masks, long_prefixes, coverage, actions, is_known: true }
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
    /// The coverage of prefixes, if the table's key is one. Unknown for entries that are still to be drawn.
    coverage: Option<Counter>,
    /// Its keys, likewise, if they are exact and no wider than a word.
    keys: Option<KeySketch>,
    actions: u64,
}

impl Count {
    fn of(program: &Program, id: TableId) -> Count {
        Count { coverage: Counter::of(program, id), keys: KeySketch::of(program, id), ..Count::default() }
    }
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
                f64::from(USUAL_PORTS)
            } else {
                2f64.powi(parameter.width.min(64) as i32)
            }
        };
        let number = |wanted: &hlir::Action| table.actions.iter().position(|action| std::ptr::eq(action, wanted));
        let bit = action.and_then(number).map_or(0, action_bit);
        let different: f64 = action.map_or(1.0, |action| action.parameters.iter().map(values).product());
        let count = self.tables.entry(id).or_insert_with(|| Count::of(self.program, id));
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

    fn binary(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        let wrong = |message: String| Failure::input(format!("{}: {message}", path.display()));
        let mut input = Input::new(bytes, MAGIC.len());
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
        let count = self.tables.entry(id).or_insert_with(|| Count::of(self.program, id));
        count.actions |= if entries > 0 { action_bit(number) } else { 0 };
        for _ in 0..entries {
            let (mut masks, mut words) = (Vec::new(), Vec::new());
            for (bytes, kind) in &keys {
                let value = input.take(*bytes)?;
                let mask = match kind {
                    MatchKind::Exact => &[][..],
                    MatchKind::Lpm | MatchKind::Optional => input.take(1)?,
                    MatchKind::Ternary | MatchKind::Range => input.take(*bytes)?,
                };
                if let (MatchKind::Lpm, Some(&bits)) = (kind, mask.first()) {
                    count.long_prefixes += u64::from(bits > 24);
                    count.coverage.iter_mut().for_each(|counter| counter.add(number_of(value) as u32, u32::from(bits)));
                }
                masks.extend_from_slice(mask);
                words.push(number_of(value));
            }
            count.keys.iter_mut().for_each(|keys| keys.add(words.iter().copied()));
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

/// A value of up to 64 bits, its lowest byte first.
fn number_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlir::text::parse_file;
    use std::fs;

    const ROUTER: &str = "\
program router for none

variable x: 32

table routes {
  key x: lpm
  action forward(port: 16) {}
  action drop() {}
  default drop()
}

entry routes

node routes: apply routes -> queue

node queue: buffer { send 32w1 }
";

    /// 10.1.0.0/16, 10.1.2.0/24 and 10.1.2.4/30, each to a port of its own.
    const ROUTES: [([u8; 4], u8); 3] = [([10, 1, 0, 0], 16), ([10, 1, 2, 0], 24), ([10, 1, 2, 4], 30)];

    const BRIDGE: &str = "\
program bridge for none

variable vlan: 12
variable from: 48
variable to: 48

table sources {
  key vlan: exact
  key from: exact
  action known() {}
  default known()
}

table destinations {
  key vlan: exact
  key to: exact
  action known() {}
  default known()
}

entry sources

node sources: apply sources -> destinations

node destinations: apply destinations -> queue

node queue: buffer { send 32w1 }
";

    /// VLANs and MAC addresses: a source, then a destination.
    const HOSTS: [[(u16, u64); 2]; 3] =
        [[(1, 0xa), (1, 0xa)], [(2, 0xb), (2, 0xb)], [(3, 0xffff_0000_000c), (0xc, 0xffff_0000_0003)]];

    fn content(program: &Program, name: &str, bytes: &[u8]) -> Content {
        occupied(program, name, bytes).tables["routes"]
    }

    fn occupied(program: &Program, name: &str, bytes: &[u8]) -> Occupancy {
        let file = std::env::temp_dir().join(format!("bacus-content-{}-{name}", std::process::id()));
        fs::write(&file, bytes).expect("a temporary file can be written");
        let origin = Origin::File(file.clone());
        let occupancy = occupancy(program, &[origin]).unwrap_or_else(|failure| panic!("{failure:?}"));
        fs::remove_file(&file).expect("it is there");
        occupancy
    }

    fn named(name: &str) -> Vec<u8> {
        [&(name.len() as u16).to_le_bytes()[..], name.as_bytes()].concat()
    }

    #[test]
    fn tables_have_the_same_keys_as_text_and_in_binary_form() {
        let parsed = parse_file(BRIDGE).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let (mut text, mut binary) = (String::new(), MAGIC.to_vec());
        for (side, (table, field)) in [("sources", "from"), ("destinations", "to")].into_iter().enumerate() {
            binary.extend([&named(table)[..], &named("known"), &3u64.to_le_bytes()].concat());
            for (vlan, host) in HOSTS.map(|sides| sides[side]) {
                text += &format!("add {table} vlan:{vlan:#x} {field}:{host:#x} known()\n");
                binary.extend([&vlan.to_le_bytes()[..], &host.to_le_bytes()[..6]].concat());
            }
        }
        let written = occupied(&parsed.program, "hosts.stf", text.as_bytes());
        assert_eq!(occupied(&parsed.program, "hosts.bin", &binary), written);
        assert!(written.others_are_empty, "a file has all entries");
        let [sources, destinations] =
            ["sources", "destinations"].map(|name| parsed.program.tables.values().find(|table| table.name == name));
        let [sources, destinations] = [sources, destinations].map(|table| table.expect("it is there"));
        // Two hosts are in both; of the third, fields have changed their places.
        assert_eq!(written.union_count(sources, destinations), Some(4));
        let drawn = Origin::Generated { table: "sources".to_string(), count: 1000, seed: 1 };
        let drawn = occupancy(&parsed.program, &[drawn]).unwrap_or_else(|failure| panic!("{failure:?}"));
        assert_eq!(drawn.union_count(sources, sources), None, "entries to be drawn are unknown");
    }

    /// Entries come as controllers write them, without the places that a value join adds.
    #[test]
    fn entries_are_counted_in_a_program_with_a_value_join() {
        let parsed = parse_file(
            "program router for none
variable x: 32
variable hop: 32
variable routes.place: 12
table routes {
  key x: lpm
  action to(hop: 32, place: 12) { routes.place = place }
  action away() { routes.place = 0 }
  const default away()
}
table hops {
  key hop: exact
  action forward(port: 9) {}
  action none() {}
  const default none()
}
table both {
  key routes.place: exact
  default_only action slow() {}
  table_only action forward(port: 9) {}
  const default slow()
  size 4095
}
join both of routes, hops limit 4095 {
  key determined
  first to determines hop
  second forward
  place routes.place
}
entry routes
node routes: apply routes -> both
node both: apply both -> queue
node queue: buffer { send 32w1 }
",
        )
        .unwrap_or_else(|errors| panic!("{errors:#?}"));
        let text = b"add routes x:0x0a000000/8 to(hop:7)\nadd routes x:0x0b000000/8 to(hop:8)\n";
        assert_eq!(content(&parsed.program, "placed.stf", text).entries, 2);
    }

    #[test]
    fn entries_count_alike_as_text_and_in_binary_form() {
        let parsed = parse_file(ROUTER).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let mut text = String::new();
        let mut binary = [&MAGIC[..], &named("routes"), &named("forward"), &3u64.to_le_bytes()].concat();
        for (port, (address, bits)) in (0u16..).zip(ROUTES) {
            let value = u32::from_be_bytes(address);
            text += &format!("add routes x:{value:#x}/{bits} forward(port:{port})\n");
            binary.extend([&value.to_le_bytes()[..], &[bits], &port.to_le_bytes()].concat());
        }
        let counted = content(&parsed.program, "routes.bin", &binary);
        assert_eq!(content(&parsed.program, "routes.stf", text.as_bytes()), counted);
        assert_eq!((counted.entries, counted.records, counted.masks, counted.long_prefixes), (3, 3, 3, 1));
        let [bytes, ..] = counted.coverage.expect("all prefixes are known");
        // The first one covers four lines of elements of a byte, and the others lie in one of these.
        assert_eq!((bytes.hot.lines + bytes.cold.lines, bytes.hot.pages), (4, 1));
    }

    #[test]
    fn nobody_knows_what_drawn_routes_will_cover() {
        let parsed = parse_file(ROUTER).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let drawn = Origin::Generated { table: "routes".to_string(), count: 1000, seed: 1 };
        let occupancy = occupancy(&parsed.program, &[drawn]).unwrap_or_else(|failure| panic!("{failure:?}"));
        assert_eq!(occupancy.tables["routes"].coverage, None);
        assert!(!occupancy.others_are_empty, "the generator does not define them");
    }
}
