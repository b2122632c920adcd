//! Groups of action selectors: each table of the profile has the members' records as its own entries would have them.

use super::{NativeEngine, table_refusal};
use control::store::Derived;
use control::{Refusal, Update};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, ProfileId, TableId};
use runtime::{WorkerPorts, abi};

impl<L: WorkerPorts> NativeEngine<'_, L> {
    /// What a table has for an entry: an action with its data, or the slot of a group.
    pub(super) fn entry_record(&self, number: usize, id: TableId, entry: &Entry) -> Result<Vec<u8>, Refusal> {
        let group = match entry.action {
            EntryAction::Group(group) => Some(group),
            EntryAction::Set(_) => self.store.set_number(id, entry),
            EntryAction::Call(_) | EntryAction::Member(_) => None,
        };
        let Some(group) = group else {
            return self.record(number, id, self.call_of(id, entry)?);
        };
        let table = &self.switch.tables()[number];
        let slot = table.group_slot(group).ok_or_else(|| Refusal::wrong(format!("there is no group {group}")))?;
        let at = table.description().group_offset as usize;
        let mut record = vec![0u8; table.description().record_bytes as usize];
        record[..4].copy_from_slice(&abi::SELECTOR_GROUP.to_le_bytes());
        record[at..at + 4].copy_from_slice(&slot.to_le_bytes());
        Ok(record)
    }

    /// The records of what a group chooses of, in one table.
    fn group_records(
        &self,
        number: usize,
        id: TableId,
        choices: &[(&ActionCall, u32)],
    ) -> Result<Vec<Vec<u8>>, Refusal> {
        let mut records = Vec::new();
        for (call, weight) in choices {
            records.extend(std::iter::repeat_n(self.record(number, id, call)?, *weight as usize));
        }
        Ok(records)
    }

    /// Leaves every table of the profile with what the group has now.
    pub(super) fn write_group(&self, profile: ProfileId, group: u32) -> Result<(), Refusal> {
        let users = self.program.tables.iter().filter(|(_, table)| table.profile == Some(profile));
        for (id, declared) in users {
            let Some(number) = self.table_number(id) else { continue };
            let choices = self.store.choices(profile, group);
            let records = choices.map(|choices| self.group_records(number, id, &choices)).transpose()?;
            let written = self.switch.tables()[number].set_group(group, records.as_deref());
            written.map_err(|error| table_refusal(&declared.name, error))?;
        }
        Ok(())
    }

    /// Leaves a table with what the set of this number has now.
    pub(super) fn write_set(&self, id: TableId, set: u32) -> Result<(), Refusal> {
        let Some(number) = self.table_number(id) else { return Ok(()) };
        let choices = self.store.set_choices(id, set);
        let records = choices.map(|choices| self.group_records(number, id, &choices)).transpose()?;
        let written = self.switch.tables()[number].set_group(set, records.as_deref());
        written.map_err(|error| table_refusal(&self.program.tables[id].name, error))
    }

    /// Changes an entry: its set is there before the entry refers to it, and an old one goes behind it.
    pub(super) fn with_sets(
        &mut self,
        update: &Update,
        change: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let sets = self.store.derived(update).into_iter().filter_map(|object| match object {
            Derived::Set(table, set) => Some((table, set)),
            Derived::Group(..) | Derived::Multicast(_) | Derived::Session(_) => None,
        });
        let (kept, released): (Vec<_>, Vec<_>) =
            sets.partition(|(table, set)| self.store.set_choices(*table, *set).is_some());
        kept.iter().try_for_each(|(table, set)| self.write_set(*table, *set))?;
        change(self)?;
        released.iter().try_for_each(|(table, set)| self.write_set(*table, *set))
    }

    /// A table that is new has no groups: all of its profile and those of its entries are written to it.
    pub(super) fn write_groups(&self, number: usize, id: TableId) -> Result<(), Refusal> {
        let declared = &self.program.tables[id];
        let Some(profile) = declared.profile else { return Ok(()) };
        for (group, _) in self.store.groups(profile) {
            let choices = self.store.choices(profile, group).unwrap_or_default();
            let records = self.group_records(number, id, &choices)?;
            let written = self.switch.tables()[number].set_group(group, Some(&records));
            written.map_err(|error| table_refusal(&declared.name, error))?;
        }
        self.store.sets(id).try_for_each(|set| self.write_set(id, set))
    }
}
