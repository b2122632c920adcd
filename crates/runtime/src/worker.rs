//! One worker: the struct that the pipeline sees, and the memory behind each of its pointers.

use crate::abi;
use crate::counts::{Asked, Counts};
use crate::events::{Events, Host};
use crate::pipeline::{Counter, Description};
use crate::region::Region;
use crate::state::{cell_count, cells};
use crate::switch::{Connection, SwitchError};
use std::ffi::c_void;
use std::sync::Arc;

/// Packets that fit the arrays of what is sent and what is freed.
const OUTPUTS: u32 = 1024;

/// A counter's cells in this worker.
pub(crate) struct CounterCells {
    pub description: Counter,
    pub cells: Region<abi::CounterCell>,
}

impl CounterCells {
    /// Whether they can go on as this counter of another pipeline.
    fn serves(&self, counter: &Counter, description: &Description) -> bool {
        let count = cell_count(counter.size, counter.table, description);
        self.description.name == counter.name && self.cells.len() as u64 == count
    }
}

pub(crate) struct Worker {
    pub raw: Box<abi::Worker>,
    host: Box<Host>,
    pub events: Arc<Events>,
    pub drops: Region<u64>,
    pub hits: Region<u64>,
    pub misses: Region<u64>,
    pub edges: Region<u64>,
    pub cycles: Region<u64>,
    pub asked: Region<u64>,
    pub counters: Vec<CounterCells>,
    counter_pointers: Vec<*mut abi::CounterCell>,
    _memory: Region<u8>,
    _out: (Region<*mut c_void>, Region<u16>, Region<u16>),
    _freed: Region<*mut c_void>,
}

// SAFETY: a worker is used by its thread while it runs, and by the control thread else; counts are read as whole words.
unsafe impl Send for Worker {}

impl Worker {
    pub fn new(
        id: u32,
        port_count: u32,
        seed: u64,
        connection: &Connection,
        description: &Description,
    ) -> Result<Worker, SwitchError> {
        let events = Arc::new(Events::default());
        let host = Box::new(Host { port: connection.port, events: Arc::as_ptr(&events), bytes: connection.bytes });
        let (packets, lengths, ports) =
            (Region::new(OUTPUTS as usize), Region::new(OUTPUTS as usize), Region::new(OUTPUTS as usize));
        let freed = Region::new(OUTPUTS as usize);
        let raw = Box::new(abi::Worker {
            id,
            port_count,
            clock_ns: 0,
            seed,
            packet_number: 0,
            shared: std::ptr::null(),
            memory: std::ptr::null_mut(),
            pool: connection.pool,
            flush: Some(connection.flush),
            host: (&raw const *host).cast_mut().cast(),
            out: abi::Output {
                count: 0,
                capacity: OUTPUTS,
                packets: packets.as_mut_ptr(),
                lengths: lengths.as_mut_ptr(),
                ports: ports.as_mut_ptr(),
            },
            freed: abi::Released { count: 0, capacity: OUTPUTS, packets: freed.as_mut_ptr() },
            drops: std::ptr::null_mut(),
            hits: std::ptr::null_mut(),
            misses: std::ptr::null_mut(),
            counters: std::ptr::null(),
            edges: std::ptr::null_mut(),
            cycles: std::ptr::null_mut(),
            asked: std::ptr::null_mut(),
            quiescent: abi::Quiescent::default(),
        });
        let mut worker = Worker {
            raw,
            host,
            events,
            drops: Region::new(0),
            hits: Region::new(0),
            misses: Region::new(0),
            edges: Region::new(0),
            cycles: Region::new(0),
            asked: Region::new(0),
            counters: Vec::new(),
            counter_pointers: Vec::new(),
            _memory: Region::new(0),
            _out: (packets, lengths, ports),
            _freed: freed,
        };
        let counters = worker.lacking(description)?;
        worker.fit(description, None, counters);
        Ok(worker)
    }

    /// The counters of a pipeline of which it has none with the same name and shape, made new.
    pub fn lacking(&self, description: &Description) -> Result<Vec<CounterCells>, SwitchError> {
        let lacks = |counter: &&Counter| !self.counters.iter().any(|kept| kept.serves(counter, description));
        let made = |counter: &Counter| {
            let count = cell_count(counter.size, counter.table, description);
            let cells = cells("counter", &counter.name, count)?;
            Ok(CounterCells { description: counter.clone(), cells })
        };
        description.counters.iter().filter(lacks).map(made).collect()
    }

    /// Makes the counts of a pipeline, taking over from the pipeline before what has the same name and shape. `counters` are those that it lacked.
    pub fn fit(&mut self, description: &Description, before: Option<&Description>, counters: Vec<CounterCells>) {
        let names = |description: &Description| description.tables.iter().map(|table| table.name.clone()).collect();
        let old_tables: Vec<String> = before.map(names).unwrap_or_default();
        let old_drops = before.map(|before| before.drops.clone()).unwrap_or_default();
        let tables: Vec<String> = names(description);
        self.hits = carried(&self.hits, &old_tables, &tables);
        self.misses = carried(&self.misses, &old_tables, &tables);
        self.drops = carried(&self.drops, &old_drops, &description.drops);
        self.edges = Region::new(description.edges.len());
        self.cycles = Region::new(description.nodes.len());
        self.asked = Region::new(description.tables.len() * abi::ASKED_WORDS);
        self._memory = Region::new(description.worker_bytes as usize);
        let mut all = std::mem::take(&mut self.counters);
        all.extend(counters);
        let take = |counter: &Counter| {
            let at = all.iter().position(|kept| kept.serves(counter, description));
            let cells = all.swap_remove(at.expect("a counter that was lacking was made")).cells;
            CounterCells { description: counter.clone(), cells }
        };
        self.counters = description.counters.iter().map(take).collect();
        self.counter_pointers = self.counters.iter().map(|counter| counter.cells.as_mut_ptr()).collect();
        self.raw.memory = self._memory.as_mut_ptr().cast();
        self.raw.drops = self.drops.as_mut_ptr();
        self.raw.hits = self.hits.as_mut_ptr();
        self.raw.misses = self.misses.as_mut_ptr();
        self.raw.edges = self.edges.as_mut_ptr();
        self.raw.cycles = self.cycles.as_mut_ptr();
        self.raw.asked = self.asked.as_mut_ptr();
        self.raw.counters = self.counter_pointers.as_ptr();
        debug_assert!(!self.host.events.is_null());
    }

    /// What it has counted for a profile.
    pub fn counts(&self) -> Counts {
        let map =
            |table: usize| (table * abi::ASKED_WORDS..).take(abi::ASKED_WORDS).filter_map(|at| self.asked.get(at));
        Counts {
            edges: (0..self.edges.len()).filter_map(|edge| self.edges.get(edge)).collect(),
            asked: (0..self.asked.len() / abi::ASKED_WORDS).map(|table| Asked::of(map(table))).collect(),
        }
    }
}

/// Counts of things with names, taken over where the new list has the name too.
fn carried(old: &Region<u64>, old_names: &[String], names: &[String]) -> Region<u64> {
    let new = Region::new(names.len());
    for (at, name) in names.iter().enumerate() {
        let before = old_names.iter().position(|old_name| old_name == name);
        new.set(at, before.and_then(|before| old.get(before)).unwrap_or(0));
    }
    new
}
