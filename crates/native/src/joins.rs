//! Joint tables in the pipeline: only a write to a source writes them.

use super::{NativeEngine, table_refusal, translate};
use control::Refusal;
use control::join::{Call, Change, Key};
use control::plane::{Element, EntryKey};
use hlir::TableId;
use runtime::WorkerPorts;
use std::collections::{BTreeMap, BTreeSet};

/// Hits and misses of a source table that hits in joint tables represent.
pub(super) type Hits = [i64; 2];

impl<L: WorkerPorts> NativeEngine<'_, L> {
    /// Fills the joint tables from the store; what they have is removed first. To be called after entries were
    /// written past the engine.
    pub fn fill_joins(&mut self) {
        if self.compiled.joins.is_empty() {
            return;
        }
        let mut joins = std::mem::take(&mut self.joins);
        let changes = joins.fill(&self.store, |key| self.counter_index(key));
        joins.make(changes, |change| self.change_join(change));
        self.joins = joins;
    }

    /// Messages about joint tables that were emptied, or filled again.
    pub fn take_notices(&mut self) -> Vec<String> {
        self.joins.take_notices()
    }

    /// Hits and misses of a table of the pipeline. A hit in a joint table is one in each source, or a miss in the
    /// second. Lookups that became code count as well.
    pub fn table_hits(&self, number: usize) -> (u64, u64) {
        let (hits, misses) = self.switch.hits(number);
        let name = &self.pipeline.description().tables[number].name;
        let Some((table, _)) = self.compiled.tables.iter().find(|(_, table)| table.name == *name) else {
            return (hits, misses);
        };
        let joint = self.joint_counts(table);
        let before = self.earlier_counts.get(name).copied().unwrap_or_default();
        let code = self.hits_in_code(name);
        let total = |own: u64, at: usize| own.saturating_add_signed(joint[at] + before[at] + code[at]);
        (total(hits, 0), total(misses, 1))
    }

    /// Hits and misses of a table that joint tables of this pipeline represent. There are fewer misses of the second
    /// table than hits in its joint table.
    fn joint_counts(&self, table: TableId) -> Hits {
        let hits: u64 = self.joint_numbers(table).map(|joint| self.switch.hits(joint).0).sum();
        let missed = self.joint_misses(table);
        [hits as i64 - missed as i64, missed as i64]
    }

    /// The same of all tables, by name.
    pub(super) fn all_joint_counts(&self) -> BTreeMap<String, Hits> {
        let tables = self.compiled.tables.iter().filter(|(table, _)| !self.compiled.joins_over(*table).is_empty());
        tables.map(|(table, declared)| (declared.name.clone(), self.joint_counts(table))).collect()
    }

    /// Keeps the hits in joint tables of the pipeline before, of which `before` are all: those that this pipeline's
    /// joint tables do not have. No packet hits a joint table meanwhile.
    pub(super) fn keep_joint_counts(&mut self, before: BTreeMap<String, Hits>) {
        let now = self.all_joint_counts();
        let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        for name in names {
            let of = |all: &BTreeMap<String, Hits>| all.get(name).copied().unwrap_or_default();
            let kept = self.earlier_counts.entry(name.clone()).or_default();
            let (before, now) = (of(&before), of(&now));
            (0..kept.len()).for_each(|at| kept[at] += before[at] - now[at]);
        }
    }

    /// Misses of a table that hits in joint tables represent.
    fn joint_misses(&self, table: TableId) -> u64 {
        let Some(counter) = self.compiled.joint_misses(table) else { return 0 };
        let name = &self.compiled.counters[counter].name;
        let place = self.pipeline.description().counters.iter().position(|counter| counter.name == *name);
        place.and_then(|place| self.switch.counter(place, 0)).map_or(0, |value| value.packets)
    }

    /// The joint tables a hit in which represents one in a table of the program.
    pub(super) fn joint_numbers(&self, table: TableId) -> impl Iterator<Item = usize> {
        // Joint tables come behind those of the program, which keep their numbers.
        let joints = self.compiled.joins_over(table).into_iter();
        joints.filter_map(|joint| self.joint_number(joint))
    }

    /// Empties the joint tables, which packets do not see until they are filled. One that lacks the memory for it is
    /// emptied again before that.
    pub fn clear_joins(&mut self) {
        for number in self.compiled.joins.iter().filter_map(|join| self.joint_number(join.table)) {
            let (Ok(()) | Err(_)) = self.switch.tables()[number].withdraw();
        }
        self.joins.forget_all();
    }

    pub(super) fn change_joins(&mut self, changes: Vec<Change>) {
        let mut joins = std::mem::take(&mut self.joins);
        joins.make(changes, |change| self.change_join(change));
        self.joins = joins;
    }

    /// The index of an entry's direct counters and meters.
    pub(super) fn counter_index(&self, key: &EntryKey) -> Option<u64> {
        self.element_index(&Element::Entry(key.clone())).ok()
    }

    fn joint_number(&self, joint: TableId) -> Option<usize> {
        self.numbers.compiled_table(joint)
    }

    fn change_join(&self, change: &Change) -> Result<(), Refusal> {
        // One that packets never come to is not in the pipeline.
        let Some(number) = self.joint_number(change.table()) else { return Ok(()) };
        let table = &self.switch.tables()[number];
        let matches = |key: &Key| translate::packed_matches(table.description(), key);
        let done = match change {
            Change::Insert(joint, key, call) => {
                table.insert(&matches(key), &self.joint_record(number, *joint, call)?).map(drop)
            }
            Change::Modify(joint, key, call) => table.modify(&matches(key), &self.joint_record(number, *joint, call)?),
            Change::Delete(_, key) => table.delete(&matches(key)),
            Change::Clear(_) => table.withdraw(),
            Change::Show(_) => {
                table.show();
                Ok(())
            }
            Change::Default(first, call) => table.set_default(&self.joint_record(number, *first, call)?),
            Change::Grace(_) => {
                table.wait();
                Ok(())
            }
        };
        done.map_err(|error| table_refusal(&table.description().name, error))
    }

    fn joint_record(&self, number: usize, joint: TableId, call: &Call) -> Result<Vec<u8>, Refusal> {
        let declared = &self.compiled.tables[joint];
        let missing = || {
            let action = &declared.actions[call.action as usize].name;
            Refusal::wrong(format!("table `{}` has no action `{action}`", declared.name))
        };
        let action = self.numbers.compiled_action(joint, call.action).ok_or_else(missing)?;
        Ok(translate::packed_record(&self.pipeline.description().tables[number], action, &call.data))
    }
}
