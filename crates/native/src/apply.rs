//! What the store accepted, written to the tables and the state that packets read.

use super::{NativeEngine, Refusal, table_refusal, translate};
use control::Update;
use control::plane::{Element, EntryKey, MeterRates, Replica};
use control::store::Derived;
use hlir::entry::EntryAction;
use hlir::{Entry, Match, MeterId, ProfileId, TableId, ValueSetId};
use runtime::{Group, TableError, WorkerPorts, abi, memory_limit};

/// Tokens of a packet or byte in a meter.
const UNIT: u128 = 1_000_000_000_000_000_000;

impl<L: WorkerPorts> NativeEngine<'_, L> {
    pub(super) fn apply_update(&mut self, update: &Update) -> Result<(), Refusal> {
        match update {
            Update::Insert { table, .. } if !self.has_memory() => {
                Err(table_refusal(&self.program.tables[*table].name, TableError::NoMemory))
            }
            Update::Insert { table, entry } => self.with_sets(update, |engine| match engine.table_number(*table) {
                Some(number) => engine.write_entry(number, *table, entry),
                None => Ok(()),
            }),
            Update::Modify { table, entry } => self.with_sets(update, |engine| engine.modify_entry(*table, entry)),
            Update::Delete(key) => self.with_sets(update, |engine| engine.delete_entry(key)),
            Update::SetDefault { table, call } => self.write_default(*table, call),
            Update::SetIdleTimeout { key, nanoseconds } => self.start_timer(key, *nanoseconds),
            Update::SetExpiry { table, profile, nanoseconds } => {
                let number = self.table_number(*table);
                number.iter().for_each(|number| self.switch.tables()[*number].set_profile(*profile, *nanoseconds));
                Ok(())
            }
            Update::SetMember { profile, member, .. } => {
                self.write_member(*profile, *member)?;
                self.write_derived(update)
            }
            // Nothing refers to a member that may be deleted.
            Update::DeleteMember { .. } => Ok(()),
            Update::SetValueSet { set, members } => self.write_value_set(*set, members),
            Update::SetCrc { crc, .. } => {
                self.write_crc(*crc);
                Ok(())
            }
            Update::SetGroup { .. }
            | Update::DeleteGroup { .. }
            | Update::SetMulticast { .. }
            | Update::SetSession { .. }
            | Update::SetPort { .. } => self.write_derived(update),
            Update::SetMeter { meter, element, rates } => self.write_meter(*meter, element, *rates),
            Update::Record(_) => Ok(()),
        }
    }

    /// Whether the process may take memory for an entry. Asked of the system now and then: it takes a microsecond.
    pub(super) fn has_memory(&mut self) -> bool {
        const INSERTIONS: u32 = 64;
        self.until_memory_is_checked = match self.until_memory_is_checked {
            0 if !memory_limit::has_room() => return false,
            0 => INSERTIONS,
            left => left - 1,
        };
        true
    }

    fn modify_entry(&mut self, id: TableId, entry: &Entry) -> Result<(), Refusal> {
        let Some(number) = self.table_number(id) else { return Ok(()) };
        let record = self.entry_record(number, id, entry)?;
        let table = &self.switch.tables()[number];
        let matches = translate::matches(table.description(), &entry.matches, entry.priority)?;
        table.modify(&matches, &record).map_err(|error| table_refusal(&table.description().name, error))
    }

    fn delete_entry(&mut self, key: &EntryKey) -> Result<(), Refusal> {
        let Some(number) = self.table_number(key.table) else { return Ok(()) };
        let table = &self.switch.tables()[number];
        let matches = translate::matches(table.description(), &key.matches, key.priority)?;
        table.delete(&matches).map_err(|error| table_refusal(&table.description().name, error))
    }

    /// Entries follow when a member changes.
    pub(super) fn write_member(&mut self, profile: ProfileId, member: u32) -> Result<(), Refusal> {
        let program = self.program.clone();
        for (id, _) in program.tables.iter().filter(|(_, table)| table.profile == Some(profile)) {
            if self.table_number(id).is_none() {
                continue;
            }
            let uses = |entry: &Entry| entry.action == EntryAction::Member(member);
            let users: Vec<Entry> = self.store.entries(id).map(|stored| stored.entry).filter(uses).collect();
            users.iter().try_for_each(|entry| self.modify_entry(id, entry))?;
        }
        Ok(())
    }

    pub(super) fn write_value_set(&self, set: ValueSetId, members: &[Vec<Match>]) -> Result<(), Refusal> {
        let name = &self.program.value_sets[set].name;
        let Some(number) = self.numbers.value_set(set) else { return Ok(()) };
        let table = &self.switch.tables()[number];
        if self.skips_shared && self.switch.is_shared(number) {
            return Ok(());
        }
        table.clear();
        let record = vec![0u8; table.description().record_bytes as usize];
        for member in members {
            let matches = translate::matches(table.description(), member, 0)?;
            match table.insert(&matches, &record) {
                Ok(_) | Err(TableError::Exists) => {}
                Err(error) => return Err(table_refusal(name, error)),
            }
        }
        Ok(())
    }

    /// The objects that follow from an update, as the store has them now. One that is refused keeps no other from it.
    pub(super) fn write_derived(&mut self, update: &Update) -> Result<(), Refusal> {
        let mut done = Ok(());
        for object in self.store.derived(update) {
            let written = match object {
                Derived::Group(profile, group) => self.write_group(profile, group),
                Derived::Set(table, set) => self.write_set(table, set),
                Derived::Multicast(group) => {
                    self.write_multicast(group);
                    Ok(())
                }
                Derived::Session(session) => {
                    self.write_session(session);
                    Ok(())
                }
            };
            done = done.and(written);
        }
        done
    }

    pub(super) fn write_multicast(&mut self, group: u32) {
        let replicas = self.store.replicas(group);
        let written = (!replicas.is_empty()).then(|| group_of(&replicas, 0));
        self.switch.state.set_group(u64::from(group), written);
    }

    /// A session's copies, with the members that its group has now.
    pub(super) fn write_session(&mut self, number: u32) {
        let members = self.store.session_members(number);
        let session = members.map(|(members, truncation)| group_of(&members, truncation));
        self.switch.state.set_session(u64::from(number), session);
    }

    /// Whether the pipeline has a meter.
    pub(super) fn has_meter(&self, meter: MeterId) -> bool {
        self.numbers.meter(meter).is_some()
    }

    pub(super) fn write_meter(
        &self,
        meter: MeterId,
        element: &Element,
        rates: Option<MeterRates>,
    ) -> Result<(), Refusal> {
        let (meter, index) = (self.meter(meter)?, self.element_index(element)?);
        let value = rates.map_or_else(abi::MeterElement::default, |rates| abi::MeterElement {
            committed_rate: halves(rates.committed_rate.billionths()),
            committed_burst: rates.committed_burst,
            peak_rate: halves(rates.peak_rate.billionths()),
            peak_burst: rates.peak_burst,
            committed_tokens: halves(u128::from(rates.committed_burst) * UNIT),
            peak_tokens: halves(u128::from(rates.peak_burst) * UNIT),
            time_ns: self.clock_ns,
            configured: 1,
            lock: 0,
        });
        self.switch.meters()[meter].elements.set(index as usize, value);
        Ok(())
    }
}

fn group_of(members: &[Replica], truncation: u32) -> Group {
    let member = |replica: &Replica| abi::Member { port: replica.port, instance: u32::from(replica.instance) };
    Group { members: members.iter().map(member).collect(), truncation }
}

fn halves(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}
