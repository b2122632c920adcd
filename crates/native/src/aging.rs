//! Idle timeouts of native code: whose time has passed is looked for where the clock is set, or every now and then while workers run.

use super::{NativeEngine, table_refusal, translate};
use control::plane::EntryKey;
use control::{Refusal, Update};
use hlir::{IdleTimeout, TableId};
use runtime::WorkerPorts;
use runtime::state::Register;
use std::sync::Arc;

impl<L: WorkerPorts> NativeEngine<'_, L> {
    /// Gives profiles the times that they begin with.
    pub(super) fn begin_aging(&self) {
        for (id, table) in self.program.tables.iter() {
            let Some(number) = self.table_number(id).filter(|_| table.idle_timeout.is_some()) else { continue };
            for profile in 0..=u8::MAX {
                self.switch.tables()[number].set_profile(profile, self.store.expiry_ns(id, profile));
            }
        }
    }

    /// The time at which entries are inserted now.
    pub(super) fn now_ns(&self) -> u64 {
        self.clock_ns.max(self.switch.clock())
    }

    /// Entries that are inserted from now on have this time of last hit: they are idle since then (as in BMv2, `EntryMeta::reset`).
    pub fn set_table_clock(&self, table: TableId, number: usize) {
        if self.program.tables[table].idle_timeout.is_some() {
            self.switch.tables()[number].set_clock(self.now_ns());
        }
    }

    /// Whether entries of any table age.
    pub fn has_aging(&self) -> bool {
        self.program.tables.values().any(|table| table.idle_timeout.is_some())
    }

    /// Lets entries age up to what the workers' clock shows now, which it gives.
    pub fn age(&mut self) -> u64 {
        let now_ns = self.switch.clock();
        self.age_until(now_ns);
        now_ns
    }

    pub(super) fn age_until(&mut self, now_ns: u64) {
        let program = self.program.clone();
        for (id, table) in program.tables.iter() {
            let Some((number, kind)) = self.table_number(id).zip(table.idle_timeout) else { continue };
            let aged = self.switch.tables()[number].clone();
            let joint_hits = self.joint_hits(id);
            for entry in
                aged.age(now_ns, |counter_index| joint_hits.as_ref().map_or(0, |times| hit_ns(times, counter_index)))
            {
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

    /// The times of the last hits in joint tables of a table's entries, by counter index.
    pub(super) fn joint_hits(&self, table: TableId) -> Option<Arc<Register>> {
        let name = &self.compiled.registers[self.compiled.joint_timers(table)?].name;
        self.switch.state.registers.iter().find(|register| register.description().name == *name).cloned()
    }

    /// A new entry may have the counter index of one that was hit.
    pub(super) fn forget_joint_hits(&self, update: &Update) {
        let Update::Insert { table, entry } = update else { return };
        let Some(times) = self.joint_hits(*table) else { return };
        let key = EntryKey { table: *table, matches: entry.matches.clone(), priority: entry.priority };
        if let Some(counter_index) = self.counter_index(&key) {
            times.write(counter_index, &[0]);
        }
    }

    pub(super) fn start_timer(&self, key: &EntryKey, time_ns: u64) -> Result<(), Refusal> {
        let declared = &self.program.tables[key.table];
        let Some(number) = self.table_number(key.table) else { return Ok(()) };
        let table = &self.switch.tables()[number];
        let matches = translate::matches(table.description(), &key.matches, key.priority)?;
        table.set_timer(&matches, time_ns, self.now_ns()).map_err(|error| table_refusal(&declared.name, error))
    }
}

/// The time of the last hit of the entry with this counter index. Workers may write it meanwhile, so it is read until it is the same twice.
pub(super) fn hit_ns(times: &Register, counter_index: u32) -> u64 {
    let read = || times.read(u64::from(counter_index)).and_then(|limbs| limbs.first().copied()).unwrap_or(0);
    let mut before = read();
    loop {
        let now = read();
        if now == before {
            return now;
        }
        before = now;
    }
}
