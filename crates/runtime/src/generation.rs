//! A pipeline with the tables, counts and objects that its packets work on. Workers have addresses of all of it while they are attached.

use crate::abi;
use crate::calls;
use crate::changeover::Attachment;
use crate::control::Bound;
use crate::counted::{Counted, Moves};
use crate::error::SwitchError;
use crate::objects::Objects;
use crate::pipeline::Pipeline;
use crate::quiescent::Readers;
use crate::region::Region;
use crate::state::{GroupTable, Meter, Register};
use crate::table_host::DirectElements;
use crate::tables::Table;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// See the module.
pub(crate) struct Generation {
    pub pipeline: Arc<Pipeline>,
    /// Distinguishes it from those before and after it.
    pub number: u32,
    shared: Box<SharedMemory>,
    _objects: Objects,
    pub bound: Box<Bound>,
    /// By worker; it never grows, so each stays where it is.
    pub counted: Vec<Counted>,
}

/// `struct shared` and the arrays it points to.
struct SharedMemory {
    raw: abi::Shared,
    _tables: Vec<*const c_void>,
    _registers: Vec<abi::StateArray>,
    _meters: Vec<*mut abi::MeterElement>,
    _selections: Vec<*const abi::Selection>,
}

// SAFETY: the addresses in it belong to the switch, which changes none while a worker is attached.
unsafe impl Send for SharedMemory {}

impl Generation {
    /// Everything is there but `struct shared` and the objects of custom externs.
    pub fn new(
        pipeline: Arc<Pipeline>,
        bound: Bound,
        (registers, meters): (&[Arc<Register>], &[Meter]),
        (groups, sessions): (&GroupTable, &GroupTable),
        counted: Vec<Counted>,
    ) -> Result<Generation, SwitchError> {
        let objects = Objects::create(&pipeline).map_err(|name| SwitchError::Extern { name })?;
        let selections: Vec<_> = bound.tables.iter().map(|table| table.groups_view()).collect();
        let tables: Vec<_> = bound.tables.iter().map(|table| table.readers_view()).collect();
        let mut registers: Vec<_> = registers.iter().map(|register| register.raw()).collect();
        let meters: Vec<_> = meters.iter().map(|meter| meter.elements.as_mut_ptr()).collect();
        let raw = abi::Shared {
            tables: tables.as_ptr(),
            registers: registers.as_mut_ptr(),
            meters: meters.as_ptr(),
            groups: groups.raw(),
            sessions: sessions.raw(),
            selections: selections.as_ptr(),
            externs: objects.raw(),
            digest: calls::digest,
            log: calls::log,
            fail: calls::fail,
            punt: calls::punt,
            insert: calls::insert,
        };
        let shared =
            SharedMemory { raw, _tables: tables, _registers: registers, _meters: meters, _selections: selections };
        let (shared, bound) = (Box::new(shared), Box::new(bound));
        Ok(Generation { pipeline, number: next_number(), shared, _objects: objects, bound, counted })
    }

    /// Hits and misses of all tables, over all workers.
    pub fn lookups(&self) -> u64 {
        let sum = |region: &Region<u64>| (0..region.len()).filter_map(|table| region.get(table)).sum::<u64>();
        self.counted.iter().map(|counted| sum(&counted.hits) + sum(&counted.misses)).sum()
    }

    /// A counter's element, over all workers; `None` if there is no such index.
    pub fn counter(&self, counter: usize, index: u64) -> Option<abi::CounterElement> {
        let mut elements = self.counted.iter().map(|counted| counted.counters[counter].elements.get(index as usize));
        elements.try_fold(abi::CounterElement::default(), |sum, element| {
            element.map(|element| abi::CounterElement {
                packets: sum.packets + element.packets,
                bytes: sum.bytes + element.bytes,
            })
        })
    }

    pub fn attachment(&self, worker: usize) -> Attachment {
        Attachment {
            pipeline: self.pipeline.raw(),
            shared: &raw const self.shared.raw,
            counted: &raw const self.counted[worker],
            bound: &raw const *self.bound,
            generation: self.number,
            code: self.pipeline.code(),
        }
    }

    /// The elements of each table's entries: direct counters, of each worker, and direct meters.
    pub fn direct_elements(&self, table: usize, meters: &[Meter]) -> Vec<DirectElements> {
        let is_its = |size: u64, number: u32| size == 0 && number as usize == table;
        let counters = self.counted.iter().flat_map(|counted| &counted.counters);
        let counters = counters.filter(|counter| is_its(counter.description.size, counter.description.table));
        let meters = meters.iter().filter(|meter| is_its(meter.description().size, meter.description().table));
        let counters = counters.map(|counter| DirectElements::of(&counter.elements));
        counters.chain(meters.map(|meter| DirectElements::of(&meter.elements))).collect()
    }

    /// Gives each table the counters and meters of its entries.
    pub fn bind_tables(&self, meters: &[Meter]) {
        for (number, table) in self.bound.tables.iter().enumerate() {
            table.bind(self.direct_elements(number, meters));
            table.open();
        }
    }
}

/// A pipeline that was prepared.
pub(crate) struct Next {
    pub generation: Generation,
    pub registers: Vec<Arc<Register>>,
    pub meters: Vec<Meter>,
    /// Multicast groups and sessions, if it begins with none.
    pub groups: Option<(GroupTable, GroupTable)>,
    pub moves: Moves,
}

/// The number of a generation: not one that a packet of this process may still have.
fn next_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// All tables of a pipeline: those that are there, and the others made new, those whose entries are in another's array after that.
pub(crate) fn fill(
    pipeline: &Arc<Pipeline>,
    mut tables: Vec<Option<Arc<Table>>>,
    readers: &Arc<Readers>,
) -> Result<Vec<Arc<Table>>, SwitchError> {
    let described = &pipeline.description().tables;
    let mut missing: Vec<usize> = (0..described.len()).filter(|number| tables[*number].is_none()).collect();
    missing.sort_by_key(|number| described[*number].primary.is_some());
    for number in missing {
        let owner = described[number].primary.and_then(|owner| tables.get(owner).cloned().flatten());
        let name = || described[number].name.clone();
        let made = Table::new(pipeline, number, readers, owner);
        tables[number] = Some(Arc::new(made.map_err(|error| SwitchError::Table { name: name(), error })?));
    }
    Ok(tables.into_iter().flatten().collect())
}
