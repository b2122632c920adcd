//! Hits and misses of lookups that the optimizer has made code: sums of a counter that it has added for them.
//!
//! The counter is a pipeline's own. When workers have left the pipeline, what it has counted is kept here.

use super::NativeEngine;
use super::exchange::Generation;
use super::joins::Hits;
use hlir::{Program, TableId};
use runtime::{Pipeline, WorkerPorts, abi};

impl<L: WorkerPorts> NativeEngine<'_, L> {
    /// Hits and misses of a table, of the program by its name, that code has counted: in the pipeline that runs, and in a
    /// standby.
    pub(super) fn hits_in_code(&self, name: &str) -> Hits {
        let running = hits(&self.compiled, &self.pipeline, name, |at, index| self.switch.counter(at, index));
        let Some(generic) = &self.generic else { return running };
        let counted = |at, index| self.switch.standby_counter(at, index);
        let standby = hits(&generic.compiled, &generic.pipeline, name, counted);
        [running[0] + standby[0], running[1] + standby[1]]
    }

    /// Keeps what the pipeline has counted that is the standby and will be no more.
    pub(super) fn keep_hits_in_code(&mut self, (_, compiled, pipeline, _): &Generation) {
        for table in compiled.tables.values().filter(|_| !compiled.lookup_sums.is_empty()) {
            let counted = |at, index| self.switch.standby_counter(at, index);
            let left = hits(compiled, pipeline, &table.name, counted);
            let kept = self.earlier_counts.entry(table.name.clone()).or_default();
            (kept[0], kept[1]) = (kept[0] + left[0], kept[1] + left[1]);
        }
    }

    /// Whether this is the name of such a counter of a pipeline that runs or will.
    pub(super) fn counts_code(compiled: &Program, name: &str) -> bool {
        compiled.lookup_sums.first().is_some_and(|sum| compiled.counters[sum.counter].name == name)
    }
}

fn hits(
    compiled: &Program,
    pipeline: &Pipeline,
    name: &str,
    counted: impl Fn(usize, u64) -> Option<abi::CounterElement>,
) -> Hits {
    let Some(sum) = compiled.lookup_sums.first() else { return [0, 0] };
    let of_table = compiled.tables.iter().find(|(_, table)| table.name == name);
    let counter = &compiled.counters[sum.counter].name;
    let place = pipeline.description().counters.iter().position(|other| other.name == *counter);
    let Some(((table, _), place)): Option<((TableId, _), _)> = of_table.zip(place) else { return [0, 0] };
    let packets = |_, index: u32| counted(place, u64::from(index)).map_or(0, |value| value.packets);
    compiled.lookups_in_code(table, packets).map(|count| count as i64)
}
