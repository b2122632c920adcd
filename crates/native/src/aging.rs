//! Idle timeouts of native code: whose time has passed is looked for where the clock is set, or every now and then while workers run.

use super::{NativeEngine, index, table_refusal, translate};
use hlir::{IdleTimeout, TableId};
use interp::engine::{EntryKey, Refusal};
use runtime::Lane;

impl<L: Lane> NativeEngine<'_, L> {
    /// Gives profiles the times that they begin with.
    pub(super) fn begin_aging(&self) {
        for (id, table) in self.program.tables.iter() {
            let Some(number) = self.table_number(id).filter(|_| table.idle_timeout.is_some()) else { continue };
            for profile in 0..=u8::MAX {
                let set = self.expiry.get(&(index(id), profile)).copied();
                let time = set.unwrap_or_else(|| interp::default_expiry_ns(profile));
                self.switch.tables()[number].set_profile(profile, time);
            }
        }
    }

    /// Whether entries of any table age.
    pub fn has_aging(&self) -> bool {
        self.program.tables.values().any(|table| table.idle_timeout.is_some())
    }

    /// Lets entries age up to what the workers' clock shows now.
    pub fn age(&mut self) {
        self.age_until(self.switch.clock());
    }

    pub(super) fn age_until(&mut self, now_ns: u64) {
        for (id, table) in self.program.tables.iter() {
            let Some((number, kind)) = self.table_number(id).zip(table.idle_timeout) else { continue };
            for entry in self.switch.tables()[number].age(now_ns) {
                let description = self.switch.tables()[number].description();
                let priority = if table.has_priorities() { entry.matches.priority } else { 0 };
                let matches = translate::key(description, &entry.matches);
                match kind {
                    IdleTimeout::Notify => self.idle.push(EntryKey { table: id, matches, priority }),
                    IdleTimeout::Delete => self.forget(id, number, &entry.matches),
                }
            }
        }
    }

    /// Takes an entry that was deleted out of the books. What packets have inserted stands in none.
    fn forget(&mut self, id: TableId, number: usize, matches: &runtime::tables::Match) {
        let description = self.switch.tables()[number].description();
        let is_it = |entry: &&hlir::Entry| {
            translate::matches(description, &entry.matches, entry.priority).is_ok_and(|other| other == *matches)
        };
        let Some(entry) = self.entries[index(id)].entries().find(is_it).cloned() else { return };
        self.entries[index(id)].forget(&entry.matches, entry.priority);
        let key = EntryKey { table: id, matches: entry.matches, priority: entry.priority };
        interp::Engine::delete(&mut self.books, &key).expect("the books have what the table had");
    }

    pub(super) fn start_timer(&mut self, key: &EntryKey, time_ns: u64) -> Result<(), Refusal> {
        let declared = &self.program.tables[key.table];
        if declared.idle_timeout.is_none() {
            return Err(Refusal::wrong(format!("table `{}` has no idle timeout", declared.name)));
        }
        let Some(number) = self.table_number(key.table) else { return Ok(()) };
        let table = &self.switch.tables()[number];
        let matches = translate::matches(table.description(), &key.matches, key.priority)?;
        let now = self.clock_ns.max(self.switch.clock());
        table.set_timer(&matches, time_ns, now).map_err(|error| table_refusal(&declared.name, error))
    }
}
