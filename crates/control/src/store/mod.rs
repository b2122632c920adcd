//! The one truth of what a controller has written: entries, default actions, members and groups, multicast groups, clone sessions,
//! rates of meters, value sets; and of which ports have a link.
//!
//! [`Store::apply`] checks an update against the program and against what was written before, keeps it, and gives the update that takes
//! it back. All is kept and read as it was written; what the data plane gets of it while some ports are down is in [`derived`]. What
//! packets do (counts, colours, inserted entries) is the data plane's.

pub mod bytes;
mod carry;
mod check;
mod content;
mod derived;
mod hash;
mod known;
mod limits;
pub mod packed;
mod profiles;
mod recording;
mod records;
mod replication;
mod row;
mod rows;
mod sets;
mod table;
mod texts;

use crate::facts::{Facts, Guard};
use crate::plane::{Element, EntryKey, Group, MeterRates, Multicast, Session};
use crate::{Inverse, Record, Refusal, RefusalKind, Update};
use bytes::Bytes;
pub use check::kind_name;
use check::{check_call, check_crc, check_match, check_register};
pub use content::Content;
pub use derived::Derived;
pub(crate) use hash::KeyHash;
use hlir::entry::EntryAction;
use hlir::{ActionCall, CounterId, CrcId, CrcParameters, Entry, Match, MeterId, ProfileId, Program, RegisterId, Scope};
use hlir::{TableId, ValueSetId};
use num_bigint::BigUint;
use records::Records;
pub use row::Change;
use row::{Journal, MeterElement, Row};
pub use sets::FIRST_SET;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
pub use table::{Origin, Stored};
use table::{TableStore, check_action, refusal};

#[derive(Clone, Debug, Default)]
struct Profile {
    members: BTreeMap<u32, ActionCall>,
    groups: BTreeMap<u32, Group>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Store {
    program: Arc<Program>,
    tables: Vec<TableStore>,
    profiles: Vec<Profile>,
    value_sets: Vec<Vec<Vec<Match>>>,
    /// Parameters that a controller has set.
    crcs: BTreeMap<usize, CrcParameters>,
    multicast: BTreeMap<u32, Multicast>,
    sessions: BTreeMap<u32, Session>,
    meters: HashMap<(usize, MeterElement), MeterRates>,
    /// Of direct meters: the rates that new entries get.
    array_rates: BTreeMap<usize, MeterRates>,
    /// Ports without a link.
    ports_down: BTreeSet<u32>,
    records: Records,
    /// Kept where changes are saved.
    journal: Option<Journal>,
    /// Why no writes are taken at present.
    refused: Option<Refusal>,
    version: u64,
    /// Kept where they are asked for.
    facts: Option<Box<Facts>>,
    /// What the code that packets run takes for granted.
    guard: Guard,
}

/// A number as a typed index.
fn id_of<T>(number: usize) -> la_arena::Idx<T> {
    la_arena::Idx::from_raw(la_arena::RawIdx::from_u32(number as u32))
}

/// A typed index as a number.
fn index<T>(id: la_arena::Idx<T>) -> usize {
    id.into_raw().into_u32() as usize
}

impl Store {
    /// The program's own entries.
    pub fn new(program: Arc<Program>) -> Store {
        let mut store = Store {
            tables: program.tables.values().map(|table| TableStore::new(&program, table)).collect(),
            profiles: program.profiles.iter().map(|_| Profile::default()).collect(),
            value_sets: vec![Vec::new(); program.value_sets.len()],
            crcs: BTreeMap::new(),
            multicast: BTreeMap::new(),
            sessions: BTreeMap::new(),
            meters: HashMap::new(),
            array_rates: BTreeMap::new(),
            ports_down: BTreeSet::new(),
            records: Records::default(),
            journal: None,
            refused: None,
            version: 0,
            facts: None,
            guard: Guard::new(&program.assumptions),
            program,
        };
        store.count_for_guard();
        store
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The rates of all meters that a controller has set.
    pub fn meters(&self) -> impl Iterator<Item = (MeterId, Element, MeterRates)> {
        let element_of = |element: &MeterElement| match element {
            MeterElement::Index(at) => Element::Index(*at),
            MeterElement::Entry(number, key) => {
                let (matches, priority) = self.tables[*number].unpacked(key);
                Element::Entry(EntryKey { table: id_of(*number), matches, priority })
            }
            MeterElement::Default(number) => Element::Default(id_of(*number)),
        };
        self.meters.iter().map(move |((meter, element), rates)| (id_of(*meter), element_of(element), *rates))
    }

    /// Another number after each update.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Resets the store to the program's own entries. Links are as they are.
    pub fn reset(&mut self) {
        let (version, guard) = (self.version + 1, self.guard.clone());
        let emptied = Store { version, guard, ..self.emptied_for(self.program.clone()) };
        let is_counted = self.facts.is_some();
        *self = emptied;
        if is_counted {
            self.count_facts();
        }
    }

    /// Another program's own entries, and the links as they are.
    pub fn emptied_for(&self, program: Arc<Program>) -> Store {
        Store { ports_down: self.ports_down.clone(), ..Store::new(program) }
    }

    /// Entries of a table, in no order.
    pub fn entries(&self, table: TableId) -> impl Iterator<Item = Stored> + '_ {
        self.tables[index(table)].stored_entries(&self.program.tables[table])
    }

    /// The entries of a table with actions of their own, packed, in no order: key, action and its data.
    pub fn calls(&self, table: TableId) -> impl Iterator<Item = (&Bytes, u32, &Bytes)> {
        self.tables[index(table)].calls()
    }

    pub fn entry_count(&self, table: TableId) -> usize {
        self.tables[index(table)].len()
    }

    /// The entry with this key and priority.
    pub fn find(&self, key: &EntryKey) -> Option<Stored> {
        let table = &self.tables[index(key.table)];
        table.find(&self.program.tables[key.table], &table.key(&key.matches, key.priority))
    }

    /// The entries with these matches, whatever their priorities, in no order.
    pub fn of_each_priority(&self, table: TableId, matches: &[Match]) -> impl Iterator<Item = Stored> + '_ {
        self.tables[index(table)].of_each_priority(&self.program.tables[table], matches)
    }

    /// The keys of the entries that were added to the program's own.
    pub fn written(&self, table: TableId) -> Vec<EntryKey> {
        let written = self.tables[index(table)].written().into_iter();
        written.map(|(matches, priority)| EntryKey { table, matches, priority }).collect()
    }

    /// The default action that holds now.
    pub fn default_action(&self, table: TableId) -> &ActionCall {
        self.tables[index(table)].default.as_ref().unwrap_or(&self.program.tables[table].default)
    }

    /// Nanoseconds of the entries that packets insert with this profile.
    pub fn expiry_ns(&self, table: TableId, profile: u8) -> u64 {
        let set = self.tables[index(table)].expiry_ns.get(&profile).copied();
        set.unwrap_or_else(|| crate::default_expiry_ns(profile))
    }

    pub fn member(&self, profile: ProfileId, member: u32) -> Option<&ActionCall> {
        self.profiles[index(profile)].members.get(&member)
    }

    pub fn members(&self, profile: ProfileId) -> impl Iterator<Item = (u32, &ActionCall)> {
        self.profiles[index(profile)].members.iter().map(|(member, call)| (*member, call))
    }

    pub fn group(&self, profile: ProfileId, group: u32) -> Option<&Group> {
        self.profiles[index(profile)].groups.get(&group)
    }

    pub fn groups(&self, profile: ProfileId) -> impl Iterator<Item = (u32, &Group)> {
        self.profiles[index(profile)].groups.iter().map(|(group, value)| (*group, value))
    }

    pub fn value_set(&self, set: ValueSetId) -> &[Vec<Match>] {
        &self.value_sets[index(set)]
    }

    /// The parameters that a controller has set for a CRC.
    pub fn crc(&self, crc: CrcId) -> Option<CrcParameters> {
        self.crcs.get(&index(crc)).copied()
    }

    pub fn meter_rates(&self, meter: MeterId, element: &Element) -> Result<Option<MeterRates>, Refusal> {
        let element = self.meter_element(meter, element)?;
        Ok(self.meters.get(&(index(meter), element)).copied())
    }

    /// From now on refuses all writes for this reason, or takes them again. Links of ports and what is taken back are no writes.
    pub fn refuse_writes(&mut self, why: Option<Refusal>) {
        self.refused = why;
    }

    /// Makes room before many entries come.
    pub fn reserve(&mut self, table: TableId, entries: usize) {
        self.tables[index(table)].reserve(entries);
    }

    /// Keeps an entry that the data plane's table has taken already, and by that checked: for entries by the million. `key` and `data` are
    /// its matches with the priority, and the data of its action, as [`packed`] has them.
    pub fn keep_packed(&mut self, table: TableId, key: &[u8], (action, data): (u32, &[u8])) {
        self.version += 1;
        self.facts.iter_mut().for_each(|facts| facts.give_up(table));
        self.tables[index(table)].keep_packed(key, (action, data));
        self.journal.iter_mut().for_each(|journal| journal.0.push(Row::Entry(index(table), key.into())));
    }

    /// Takes out an entry that the data plane has deleted.
    pub fn forget(&mut self, key: &EntryKey) {
        self.tables[index(key.table)].sets.begin();
        self.remove(key);
        self.note(&Update::Delete(key.clone()));
    }

    /// Checks an update and keeps it. Gives what takes it back; none where only the data plane knows what was there.
    ///
    /// # Errors
    /// Nothing has changed.
    pub fn apply(&mut self, update: &Update) -> Result<Option<Inverse>, Refusal> {
        if let Some(why) = self.refused.as_ref().filter(|_| !matches!(update, Update::SetPort { .. })) {
            return Err(why.clone());
        }
        self.check_facts(update)?;
        let inverse = self.change(update)?;
        self.note(update);
        Ok(inverse)
    }

    fn change(&mut self, update: &Update) -> Result<Option<Inverse>, Refusal> {
        // No packet sees a record.
        self.version += u64::from(!matches!(update, Update::Record(_)));
        let inverse = match update {
            Update::Insert { table, entry } => self.insert(*table, entry),
            Update::Modify { table, entry } => return Ok(self.modify(*table, entry)?.map(Inverse::from)),
            Update::Delete(key) => return self.delete(key),
            Update::SetDefault { table, call } => return self.set_default(*table, call).map(Some),
            Update::SetIdleTimeout { key, nanoseconds } => self.set_idle_timeout(key, *nanoseconds),
            Update::SetExpiry { table, profile, nanoseconds } => {
                let before = self.expiry_ns(*table, *profile);
                self.tables[index(*table)].expiry_ns.insert(*profile, *nanoseconds);
                Ok(Update::SetExpiry { table: *table, profile: *profile, nanoseconds: before })
            }
            Update::SetMember { profile, member, call } => self.set_member(*profile, *member, call),
            Update::DeleteMember { profile, member } => self.delete_member(*profile, *member),
            Update::SetGroup { profile, group, value } => self.set_group(*profile, *group, value),
            Update::DeleteGroup { profile, group } => self.delete_group(*profile, *group),
            Update::SetValueSet { set, members } => self.set_value_set(*set, members),
            Update::SetCrc { crc, parameters } => self.set_crc(*crc, *parameters),
            Update::SetMulticast { group, value } => self.set_multicast(*group, value.as_ref()),
            Update::SetSession { session, value } => self.set_session(*session, value.as_ref()),
            Update::SetMeter { meter, element, rates } => self.set_meter(*meter, element, *rates),
            Update::SetPort { port, up } => Ok(self.set_port(*port, *up)),
            Update::Record(record) => self.record(record),
        };
        inverse.map(|update| Some(update.into()))
    }

    /// Takes an update back, by what [`Store::apply`] gave for it.
    pub fn restore(&mut self, inverse: &Inverse) {
        inverse.updates().for_each(|update| self.restore_one(update));
    }

    fn restore_one(&mut self, update: &Update) {
        if let Update::Insert { table, entry } = update {
            self.version += 1;
            self.tables[index(*table)].sets.begin();
            // Not checked: it may be one of the program's own, and is so again.
            self.keep(*table, entry);
            let declared = &self.program.tables[*table];
            self.tables[index(*table)].give_back(declared, entry);
        } else {
            drop(self.change(update));
        }
        self.note(update);
    }

    fn keep(&mut self, table: TableId, entry: &Entry) {
        let declared = &self.program.tables[table];
        let store = &mut self.tables[index(table)];
        let key = store.key(&entry.matches, entry.priority);
        let before = store.keep(declared, entry, key);
        self.counted(table, before.as_ref(), Some(entry));
    }

    fn insert(&mut self, table: TableId, entry: &Entry) -> Result<Update, Refusal> {
        self.check_target(table, &entry.action)?;
        let declared = &self.program.tables[table];
        self.check_writable(table)?;
        let store = &mut self.tables[index(table)];
        store.sets.begin();
        store.check_matches(declared, &entry.matches)?;
        check_action(declared, &entry.action)?;
        let key = store.key(&entry.matches, entry.priority);
        store.insert(declared, entry, key)?;
        self.counted(table, None, Some(entry));
        Ok(Update::Delete(EntryKey { table, matches: entry.matches.clone(), priority: entry.priority }))
    }

    fn modify(&mut self, table: TableId, entry: &Entry) -> Result<Option<Update>, Refusal> {
        self.check_target(table, &entry.action)?;
        let declared = &self.program.tables[table];
        self.check_writable(table)?;
        check_action(declared, &entry.action)?;
        let key = self.changeable(table, &entry.matches, entry.priority)?;
        self.tables[index(table)].sets.begin();
        let Some(key) = key else { return check_inserted(declared, entry).map(|()| None) };
        let before = self.tables[index(table)].keep(declared, entry, key);
        self.counted(table, before.as_ref(), Some(entry));
        Ok(before.map(|entry| Update::Modify { table, entry }))
    }

    fn delete(&mut self, key: &EntryKey) -> Result<Option<Inverse>, Refusal> {
        self.check_writable(key.table)?;
        self.tables[index(key.table)].sets.begin();
        if self.changeable(key.table, &key.matches, key.priority)?.is_none() {
            return Ok(None);
        }
        Ok(self.remove(key))
    }

    /// Takes out an entry and what belongs to it. Gives what brings all of that back.
    fn remove(&mut self, key: &EntryKey) -> Option<Inverse> {
        let table = &mut self.tables[index(key.table)];
        let packed = table.key(&key.matches, key.priority);
        let Stored { entry, idle_timeout_ns, metadata, .. } = table.remove(&self.program.tables[key.table], &packed)?;
        self.counted(key.table, Some(&entry), None);
        let mut rest = Vec::new();
        if !metadata.is_empty() {
            rest.push(Update::Record(Record::Metadata { key: key.clone(), metadata }));
        }
        if idle_timeout_ns > 0 {
            rest.push(Update::SetIdleTimeout { key: key.clone(), nanoseconds: idle_timeout_ns });
        }
        let of_table = |meter: &hlir::Meter| meter.table == Some(key.table);
        let program = self.program.clone();
        for (meter, _) in program.meters.iter().filter(|(_, meter)| of_table(meter)) {
            let element = (index(meter), MeterElement::Entry(index(key.table), packed.clone()));
            if let Some(rates) = self.meters.remove(&element) {
                self.counted_rates(meter, true, false);
                rest.push(Update::SetMeter { meter, element: Element::Entry(key.clone()), rates: Some(rates) });
            }
        }
        Some(Inverse { update: Update::Insert { table: key.table, entry }, rest })
    }

    /// The key of an entry that may be changed; none for one that packets may have inserted.
    fn changeable(&self, table: TableId, matches: &[Match], priority: u32) -> Result<Option<Bytes>, Refusal> {
        let declared = &self.program.tables[table];
        let store = &self.tables[index(table)];
        store.check_matches(declared, matches)?;
        let key = store.key(matches, priority);
        match store.origin(&key) {
            Some(Origin::Constant) => {
                let kept = refusal(declared, "has this entry for good");
                Err(Refusal { kind: RefusalKind::Constant, ..kept })
            }
            Some(Origin::Program | Origin::Controller) => Ok(Some(key)),
            None if declared.add_on_miss => Ok(None),
            None => Err(no_such_entry(declared)),
        }
    }

    /// A default action that is set follows no member of an action profile, even if it is the same as that.
    fn set_default(&mut self, table: TableId, call: &ActionCall) -> Result<Inverse, Refusal> {
        let declared = &self.program.tables[table];
        if declared.default_constant {
            let constant = refusal(declared, "has a constant default action");
            return Err(Refusal { kind: RefusalKind::Constant, ..constant });
        }
        check_call(declared, call, Scope::TableOnly)?;
        let before = self.default_action(table).clone();
        let store = &mut self.tables[index(table)];
        store.default = Some(call.clone());
        let link = store
            .default_member
            .take()
            .map(|member| Update::Record(Record::DefaultMember { table, member: Some(member) }));
        Ok(Inverse { update: Update::SetDefault { table, call: before }, rest: link.into_iter().collect() })
    }

    fn set_idle_timeout(&mut self, key: &EntryKey, nanoseconds: u64) -> Result<Update, Refusal> {
        let declared = &self.program.tables[key.table];
        if declared.idle_timeout.is_none() {
            return Err(refusal(declared, "has no idle timeout"));
        }
        let table = &mut self.tables[index(key.table)];
        table.check_matches(declared, &key.matches)?;
        let packed = table.key(&key.matches, key.priority);
        if !table.contains(&packed) && !declared.add_on_miss {
            return Err(no_such_entry(declared));
        }
        let before = table.set_idle_timeout(&packed, nanoseconds);
        Ok(Update::SetIdleTimeout { key: key.clone(), nanoseconds: before })
    }

    /// Whether the member or group that an entry refers to exists.
    fn check_target(&self, table: TableId, action: &EntryAction) -> Result<(), Refusal> {
        let Some(profile) = self.program.tables[table].profile else { return Ok(()) };
        let known = &self.profiles[index(profile)];
        match action {
            EntryAction::Member(member) if !known.members.contains_key(member) => {
                Err(self.no_such(profile, "member", *member))
            }
            EntryAction::Group(group) if !known.groups.contains_key(group) => {
                Err(self.no_such(profile, "group", *group))
            }
            EntryAction::Set(set) => self.check_set(profile, set),
            EntryAction::Call(_) | EntryAction::Member(_) | EntryAction::Group(_) => Ok(()),
        }
    }

    fn set_value_set(&mut self, set: ValueSetId, members: &[Vec<Match>]) -> Result<Update, Refusal> {
        let declared = &self.program.value_sets[set];
        let (name, fields) = (&declared.name, declared.fields.len());
        if members.len() as u64 > declared.size {
            let full = format!("value set `{name}` has room for {} members", declared.size);
            return Err(Refusal::new(RefusalKind::Full, full));
        }
        for member in members {
            if member.len() != fields {
                return Err(Refusal::wrong(format!("members of value set `{name}` have {fields} fields")));
            }
            for (found, (name, width, kind)) in member.iter().zip(&declared.fields) {
                check_match(found, *kind, *width, name)?;
            }
        }
        let before = std::mem::replace(&mut self.value_sets[index(set)], members.to_vec());
        Ok(Update::SetValueSet { set, members: before })
    }

    fn set_crc(&mut self, crc: CrcId, parameters: Option<CrcParameters>) -> Result<Update, Refusal> {
        if let Some(parameters) = parameters {
            check_crc(&self.program.crcs[crc], &parameters)?;
        }
        let before = match parameters {
            Some(parameters) => self.crcs.insert(index(crc), parameters),
            None => self.crcs.remove(&index(crc)),
        };
        Ok(Update::SetCrc { crc, parameters: before })
    }

    fn set_meter(&mut self, meter: MeterId, element: &Element, rates: Option<MeterRates>) -> Result<Update, Refusal> {
        let key = (index(meter), self.meter_element(meter, element)?);
        let before = match rates {
            Some(rates) => self.meters.insert(key, rates),
            None => self.meters.remove(&key),
        };
        self.counted_rates(meter, before.is_some(), rates.is_some());
        Ok(Update::SetMeter { meter, element: element.clone(), rates: before })
    }

    fn meter_element(&self, meter: MeterId, element: &Element) -> Result<MeterElement, Refusal> {
        let declared = &self.program.meters[meter];
        match element {
            Element::Index(index) => {
                self.check_index("meter", &declared.name, (*index, declared.size), declared.table)?;
                Ok(MeterElement::Index(*index))
            }
            Element::Entry(key) => {
                self.check_entry(key)?;
                self.check_direct("meter", &declared.name, declared.table, key.table)?;
                let key_of = &self.tables[index(key.table)];
                Ok(MeterElement::Entry(index(key.table), key_of.key(&key.matches, key.priority)))
            }
            Element::Default(table) => {
                self.check_direct("meter", &declared.name, declared.table, *table)?;
                Ok(MeterElement::Default(index(*table)))
            }
        }
    }

    /// Whether a counter has such an element.
    pub fn check_counter(&self, counter: CounterId, element: &Element) -> Result<(), Refusal> {
        let declared = &self.program.counters[counter];
        match element {
            Element::Index(index) => {
                self.check_index("counter", &declared.name, (*index, declared.size), declared.table)
            }
            Element::Entry(key) => {
                self.check_entry(key)?;
                self.check_direct("counter", &declared.name, declared.table, key.table)
            }
            Element::Default(table) => self.check_direct("counter", &declared.name, declared.table, *table),
        }
    }

    /// Whether an object of a size has an index. A direct one, that of a table, has none.
    fn check_index(&self, kind: &str, name: &str, (at, size): (u64, u64), of: Option<TableId>) -> Result<(), Refusal> {
        let sentence = match (of, size.checked_sub(1)) {
            (Some(table), _) => {
                let table = &self.program.tables[table].name;
                format!("{kind} `{name}` belongs to the entries of `{table}`: name an entry, not the index {at}")
            }
            (None, None) => format!("{kind} `{name}` has size 0, so it has no index {at}"),
            (None, Some(last)) if at > last => format!("{kind} `{name}` has the indices 0 to {last}, not {at}"),
            (None, Some(_)) => return Ok(()),
        };
        Err(Refusal::wrong(sentence))
    }

    /// Whether a counter or meter has an element for the default action of this table.
    fn check_direct(&self, kind: &str, name: &str, of: Option<TableId>, table: TableId) -> Result<(), Refusal> {
        match of == Some(table) {
            true => Ok(()),
            false => Err(refusal(&self.program.tables[table], &format!("has no direct {kind} `{name}`"))),
        }
    }

    /// Whether a register has such an element, and takes such a value.
    pub fn check_register(&self, register: RegisterId, at: u64, value: Option<&BigUint>) -> Result<(), Refusal> {
        let declared = &self.program.registers[register];
        self.check_index("register", &declared.name, (at, declared.size), None)?;
        value.map_or(Ok(()), |value| check_register(&declared.name, declared.width, value))
    }

    fn check_writable(&self, table: TableId) -> Result<(), Refusal> {
        let declared = &self.program.tables[table];
        let constant = |what: &str| Err(Refusal { kind: RefusalKind::Constant, ..refusal(declared, what) });
        if declared.entries_constant {
            return constant("has constant entries");
        }
        if self.program.join_of(table).is_some() {
            return constant("is a joint table: its entries follow those of its sources");
        }
        Ok(())
    }

    fn check_entry(&self, key: &EntryKey) -> Result<(), Refusal> {
        let (declared, table) = (&self.program.tables[key.table], &self.tables[index(key.table)]);
        table.check_matches(declared, &key.matches)?;
        if !declared.add_on_miss && !table.contains(&table.key(&key.matches, key.priority)) {
            return Err(no_such_entry(declared));
        }
        Ok(())
    }
}

/// What packets have inserted has an action of its own.
fn check_inserted(table: &hlir::Table, entry: &Entry) -> Result<(), Refusal> {
    match entry.action {
        EntryAction::Set(_) => Err(refusal(table, "has no sets of actions in entries that packets inserted")),
        EntryAction::Call(_) | EntryAction::Member(_) | EntryAction::Group(_) => Ok(()),
    }
}

fn no_such_entry(table: &hlir::Table) -> Refusal {
    Refusal { kind: RefusalKind::Missing, ..refusal(table, "has no such entry") }
}
