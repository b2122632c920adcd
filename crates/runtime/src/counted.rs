//! What one worker counts for one pipeline, and how counts go on when another pipeline takes its place.

use crate::abi;
use crate::counts::{Counts, KeySketch};
use crate::elements::{element_count, elements};
use crate::error::SwitchError;
use crate::pipeline::{Counter, Description};
use crate::region::Region;
use std::sync::Arc;

/// A counter's elements in one worker.
#[derive(Clone)]
pub(crate) struct CounterElements {
    pub description: Counter,
    pub elements: Arc<Region<abi::CounterElement>>,
}

/// The memory that one worker has for one pipeline: what the pipeline counts, and the pipeline's own.
pub(crate) struct Counted {
    pub drops: Region<u64>,
    pub hits: Region<u64>,
    pub misses: Region<u64>,
    pub edges: Region<u64>,
    pub key_sketches: Region<u64>,
    pub counters: Vec<CounterElements>,
    counter_pointers: Vec<*mut abi::CounterElement>,
    memory: Region<u8>,
    /// Of the memory, the part that is zero at each `attach`.
    worker_bytes: usize,
}

// SAFETY: the pointers are those of regions, which any thread may use.
unsafe impl Send for Counted {}

/// An object that two pipelines have, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object<'n> {
    Table(&'n str),
    Counter(&'n str),
}

/// What a new pipeline takes over from the one before.
pub(crate) struct Carried<'a> {
    /// Whether an equal object is the same one.
    pub keeps: &'a dyn Fn(Object<'_>) -> bool,
    /// For each table of the new pipeline, the number that the same table has in the one before.
    pub tables: &'a [Option<usize>],
}

impl Carried<'_> {
    /// Whether elements of the pipeline before, of an object with size and table as given, fit those of the new one. Elements of entries stay with their table.
    pub fn fits(&self, (size, table): (u64, u32), (old_size, old_table): (u64, u32)) -> bool {
        let same_table = self.tables.get(table as usize).copied().flatten() == Some(old_table as usize);
        size == old_size && (size != 0 || same_table)
    }
}

impl Counted {
    /// Counts of zero, but for elements of counters that the worker had for the pipeline before.
    pub fn new(
        description: &Description,
        buffers: u32,
        carried: Option<(&Carried<'_>, &Counted)>,
    ) -> Result<Counted, SwitchError> {
        let made = |counter: &Counter| {
            let carried = carried.filter(|(carried, _)| (carried.keeps)(Object::Counter(&counter.name)));
            let kept = carried.and_then(|(carried, old)| {
                old.counters.iter().find(|old| {
                    let old = &old.description;
                    old.name == counter.name && carried.fits((counter.size, counter.table), (old.size, old.table))
                })
            });
            let elements = match kept {
                Some(kept) => kept.elements.clone(),
                None => {
                    let count = element_count(counter.size, counter.table, description);
                    Arc::new(elements("counter", &counter.name, count)?)
                }
            };
            Ok(CounterElements { description: counter.clone(), elements })
        };
        let counters = description.counters.iter().map(made).collect::<Result<Vec<_>, SwitchError>>()?;
        let counted = Counted {
            drops: Region::new(description.drops.len()),
            hits: Region::new(description.tables.len()),
            misses: Region::new(description.tables.len()),
            edges: Region::new(description.edges.len()),
            key_sketches: Region::new(description.tables.len() * abi::KEY_SKETCH_WORDS),
            memory: memory(description, buffers)?,
            worker_bytes: description.worker_bytes as usize,
            counter_pointers: counters.iter().map(|counter| counter.elements.as_mut_ptr()).collect(),
            counters,
        };
        // The kernel brings a page when it is first written: now, and not in the worker's first burst.
        counted.clear_memory();
        Ok(counted)
    }

    /// Lets a worker count here.
    pub fn show(&self, worker: &mut abi::Worker) {
        worker.memory = self.memory.as_mut_ptr().cast();
        worker.drops = self.drops.as_mut_ptr();
        worker.hits = self.hits.as_mut_ptr();
        worker.misses = self.misses.as_mut_ptr();
        worker.edges = self.edges.as_mut_ptr();
        worker.key_sketches = self.key_sketches.as_mut_ptr();
        worker.counters = self.counter_pointers.as_ptr();
    }

    /// What a worker reads and writes in its first burst: addresses and bytes.
    pub fn first_used(&self) -> [(*const u8, usize); 6] {
        fn of(region: &Region<u64>) -> (*const u8, usize) {
            (region.as_mut_ptr().cast_const().cast(), region.len() * size_of::<u64>())
        }
        [
            (std::ptr::from_ref(self).cast(), size_of::<Counted>()),
            of(&self.drops),
            of(&self.hits),
            of(&self.misses),
            (self.memory.as_mut_ptr().cast_const(), self.worker_bytes),
            (self.counter_pointers.as_ptr().cast(), size_of_val(&self.counter_pointers[..])),
        ]
    }

    /// Leaves the pipeline's own memory as before the first `attach`.
    pub fn clear_memory(&self) {
        // SAFETY: the region has as many bytes, and no worker uses them.
        unsafe { self.memory.as_mut_ptr().write_bytes(0, self.worker_bytes) };
    }

    /// Goes on from the counts of another pipeline. By the thread that counts.
    pub fn take(&self, old: &Counted, moves: &Moves) {
        for (from, to) in &moves.tables {
            self.hits.set(*to, old.hits.get(*from).unwrap_or(0));
            self.misses.set(*to, old.misses.get(*from).unwrap_or(0));
        }
        for (from, to) in &moves.drops {
            self.drops.set(*to, old.drops.get(*from).unwrap_or(0));
        }
    }

    /// What it has counted for a profile.
    pub fn counts(&self) -> Counts {
        let map = |table: usize| {
            (table * abi::KEY_SKETCH_WORDS..).take(abi::KEY_SKETCH_WORDS).filter_map(|at| self.key_sketches.get(at))
        };
        let lookups = |table: usize| Some((self.hits.get(table)?, self.misses.get(table)?));
        Counts {
            lookups: (0..self.hits.len()).filter_map(lookups).collect(),
            edges: (0..self.edges.len()).filter_map(|edge| self.edges.get(edge)).collect(),
            key_sketches: (0..self.key_sketches.len() / abi::KEY_SKETCH_WORDS)
                .map(|table| KeySketch::of(map(table)))
                .collect(),
        }
    }
}

/// The pipeline's memory in one worker, and behind it that for copies of packets: as many as there are buffers.
fn memory(description: &Description, buffers: u32) -> Result<Region<u8>, SwitchError> {
    let copies = description.copy_bytes.saturating_mul(u64::from(buffers));
    let bytes = description.worker_bytes.next_multiple_of(64).saturating_add(copies);
    Region::of(bytes).ok_or_else(|| SwitchError::no_memory("the copies of", &description.program, bytes, 1))
}

/// Which counts go on as which of another pipeline: those with the same name.
#[derive(Clone, Default)]
pub(crate) struct Moves {
    tables: Vec<(usize, usize)>,
    drops: Vec<(usize, usize)>,
}

impl Moves {
    pub fn between(from: &Description, to: &Description) -> Moves {
        fn pairs<'a>(from: &[&'a str], to: &[&'a str]) -> Vec<(usize, usize)> {
            let old = |name: &str| from.iter().position(|old| *old == name);
            to.iter().enumerate().filter_map(|(new, name)| Some((old(name)?, new))).collect()
        }
        fn tables(of: &Description) -> Vec<&str> {
            of.tables.iter().map(|table| table.name.as_str()).collect()
        }
        fn drops(of: &Description) -> Vec<&str> {
            of.drops.iter().map(String::as_str).collect()
        }
        Moves { tables: pairs(&tables(from), &tables(to)), drops: pairs(&drops(from), &drops(to)) }
    }

    /// Where the pairs are: addresses and bytes.
    pub fn places(&self) -> [(*const u8, usize); 2] {
        [&self.tables, &self.drops].map(|pairs| (pairs.as_ptr().cast(), size_of_val(&pairs[..])))
    }

    pub fn back(&self) -> Moves {
        let back = |pairs: &[(usize, usize)]| pairs.iter().map(|(from, to)| (*to, *from)).collect();
        Moves { tables: back(&self.tables), drops: back(&self.drops) }
    }
}
