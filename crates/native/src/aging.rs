//! Idle timeouts of native code: whose time has passed is looked for where the clock is set, or every now and then while workers run.

use super::{NativeEngine, table_refusal, translate};
use control::plane::EntryKey;
use control::{Refusal, Update};
use hlir::IdleTimeout;
use runtime::Lane;

impl<L: Lane> NativeEngine<'_, L> {
    /// Gives profiles the times that they begin with.
    pub(super) fn begin_aging(&self) {
        for (id, table) in self.program.tables.iter() {
            let Some(number) = self.table_number(id).filter(|_| table.idle_timeout.is_some()) else { continue };
            for profile in 0..=u8::MAX {
                self.switch.tables()[number].set_profile(profile, self.store.expiry_ns(id, profile));
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
        let program = self.program.clone();
        for (id, table) in program.tables.iter() {
            let Some((number, kind)) = self.table_number(id).zip(table.idle_timeout) else { continue };
            let aged = self.switch.tables()[number].clone();
            for entry in aged.age(now_ns) {
                let priority = if table.has_priorities() { entry.matches.priority } else { 0 };
                let matches = translate::key(aged.description(), &entry.matches);
                let key = EntryKey { table: id, matches, priority };
                match kind {
                    IdleTimeout::Notify => self.idle.push(key),
                    IdleTimeout::Delete => {
                        self.store.forget(&key);
                        // A set that no entry has is only removed.
                        drop(self.write_derived(&Update::Delete(key)));
                    }
                }
            }
        }
    }

    pub(super) fn start_timer(&self, key: &EntryKey, time_ns: u64) -> Result<(), Refusal> {
        let declared = &self.program.tables[key.table];
        let Some(number) = self.table_number(key.table) else { return Ok(()) };
        let table = &self.switch.tables()[number];
        let matches = translate::matches(table.description(), &key.matches, key.priority)?;
        let now = self.clock_ns.max(self.switch.clock());
        table.set_timer(&matches, time_ns, now).map_err(|error| table_refusal(&declared.name, error))
    }
}
