//! Joint tables in the pipeline: only a write to a source writes them.

use super::{NativeEngine, table_refusal, translate};
use control::Refusal;
use control::join::{Call, Change, Key};
use control::plane::{Cell, EntryKey};
use hlir::TableId;
use runtime::Lane;

impl<L: Lane> NativeEngine<'_, L> {
    /// Fills the joint tables from the store; what they have is removed first. To be called after entries were
    /// written past the engine.
    pub fn fill_joins(&mut self) {
        if self.joins.is_empty() {
            return;
        }
        let mut joins = std::mem::take(&mut self.joins);
        let changes = joins.fill(&self.store, |key| self.cell_number(key));
        joins.make(changes, |change| self.change_join(change));
        self.joins = joins;
    }

    /// What there is to say of joint tables that were emptied, or filled again.
    pub fn take_notices(&mut self) -> Vec<String> {
        self.joins.take_notices()
    }

    /// Hits and misses of a table of the pipeline. A hit in a joint table is one in each source, or a miss in the
    /// second.
    pub fn table_hits(&self, number: usize) -> (u64, u64) {
        let (hits, misses) = self.switch.hits(number);
        let name = &self.pipeline.description().tables[number].name;
        let table = self.compiled.tables.iter().find(|(_, table)| table.name == *name);
        let Some((table, _)) = table else { return (hits, misses) };
        let joint = hits + self.joint_numbers(table).map(|joint| self.switch.hits(joint).0).sum::<u64>();
        let missed = self.joint_misses(table);
        (joint.saturating_sub(missed), misses + missed)
    }

    /// Misses of a table that hits in joint tables stand for.
    fn joint_misses(&self, table: TableId) -> u64 {
        let Some(counter) = self.compiled.joint_misses(table) else { return 0 };
        let name = &self.compiled.counters[counter].name;
        let place = self.pipeline.description().counters.iter().position(|counter| counter.name == *name);
        place.and_then(|place| self.switch.counter(place, 0)).map_or(0, |value| value.packets)
    }

    /// The joint tables a hit in which stands for one in a table of the program.
    pub(super) fn joint_numbers(&self, table: TableId) -> impl Iterator<Item = usize> {
        // Joint tables come behind those of the program, which keep their numbers.
        let joints = self.compiled.joins_over(table).into_iter();
        joints.filter_map(|joint| self.joint_number(joint))
    }

    /// Empties the joint tables, which packets do not see then. One that lacks the memory for it is emptied again
    /// before it is filled.
    pub fn clear_joins(&self) {
        for number in self.compiled.joins.iter().filter_map(|join| self.joint_number(join.table)) {
            let (Ok(()) | Err(_)) = self.switch.tables()[number].withdraw();
        }
    }

    pub(super) fn change_joins(&mut self, changes: Vec<Change>) {
        let mut joins = std::mem::take(&mut self.joins);
        joins.make(changes, |change| self.change_join(change));
        self.joins = joins;
    }

    /// The number of an entry's direct counters and meters.
    pub(super) fn cell_number(&self, key: &EntryKey) -> Option<u64> {
        self.cell(&Cell::Entry(key.clone())).ok()
    }

    fn joint_number(&self, joint: TableId) -> Option<usize> {
        let name = &self.compiled.tables[joint].name;
        self.pipeline.description().tables.iter().position(|table| table.name == *name)
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
        };
        done.map_err(|error| table_refusal(&table.description().name, error))
    }

    fn joint_record(&self, number: usize, joint: TableId, call: &Call) -> Result<Vec<u8>, Refusal> {
        let name = &self.compiled.tables[joint].actions[call.action as usize].name;
        translate::packed_record(&self.pipeline.description().tables[number], name, &call.data)
    }
}
