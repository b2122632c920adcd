//! Tables: the control thread's side of `runtime/table/writer.h`.
//!
//! A table belongs to the host and outlives the pipeline it was made for, if the next one has an equal table. One lock a table makes "one writer"
//! true even where the data plane inserts entries itself; readers never take it. Two tables that share an array have one lock, too.
//! A worker that waits for the lock is left out of grace periods of the table (`quiescent.rs`): a writer inside
//! the lock that waited for it would never leave.

use crate::pipeline::{self, IdleTimeout, Pipeline};
use crate::quiescent::Readers;
use crate::selection::Selection;
use crate::table_host::{Callbacks, DirectElements, allocate, clear, counter_indices, grace};
use crate::timers::{SLICE, Timers};
use crate::{abi, region};
use std::ffi::{c_int, c_void};
use std::ops::Deref;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What an entry matches, in limbs as the table's descriptor counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    pub value: Vec<u64>,
    pub mask: Vec<u64>,
    /// Upper ends of range fields, whose lower ends are in `value`.
    pub high: Vec<u64>,
    pub priority: u32,
}

/// An entry as the table has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub matches: Match,
    pub record: Vec<u8>,
    /// Of its direct counters and meters; 0 in tables that have none.
    pub counter_index: u32,
    /// Or of the insertion, on the workers' clock; kept only in tables with an idle timeout.
    pub last_hit_ns: u64,
}

/// Why a table refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    Full,
    Exists,
    Missing,
    Invalid,
    NoMemory,
}

impl std::fmt::Display for TableError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TableError::Full => "the table is full",
            TableError::Exists => "an entry with this key and priority exists",
            TableError::Missing => "no such entry",
            TableError::Invalid => "the key does not fit the table",
            TableError::NoMemory => "no memory left for the entry",
        })
    }
}

impl std::error::Error for TableError {}

#[repr(C)]
pub(crate) struct RawMatch {
    value: *const u64,
    mask: *const u64,
    high: *const u64,
    priority: u32,
}

impl Match {
    /// As C sees it, while this lives.
    pub(crate) fn raw(&self) -> RawMatch {
        RawMatch {
            value: self.value.as_ptr(),
            mask: self.mask.as_ptr(),
            high: self.high.as_ptr(),
            priority: self.priority,
        }
    }
}

#[repr(C)]
struct RawEntry {
    matches: RawMatch,
    record: *const c_void,
    number: u32,
    handle: u32,
    timer: u32,
    last_hit_ns: u64,
}

#[repr(C)]
struct RawHost {
    allocate: unsafe extern "C" fn(host: *mut c_void, bytes: usize) -> *mut c_void,
    release: unsafe extern "C" fn(host: *mut c_void, memory: *mut c_void, bytes: usize),
    grace: unsafe extern "C" fn(host: *mut c_void),
    counter_indices: unsafe extern "C" fn(host: *mut c_void, count: u64) -> c_int,
    clear: unsafe extern "C" fn(host: *mut c_void, counter_index: u32),
    host: *mut c_void,
}

#[repr(C)]
struct Writer {
    opaque: [u8; 0],
}

unsafe extern "C" {
    fn writer_create_secondary(
        descriptor: *const abi::TableDescriptor,
        host: *const RawHost,
        primary: *mut Writer,
        status: *mut c_int,
    ) -> *mut Writer;
    fn writer_destroy(writer: *mut Writer);
    fn writer_table(writer: *const Writer) -> *const c_void;
    fn writer_insert(writer: *mut Writer, matches: *const RawMatch, record: *const c_void, handle: *mut u32) -> c_int;
    fn writer_insert_all(
        writer: *mut Writer,
        matches: *const RawMatch,
        records: *const c_void,
        count: u32,
        done: *mut u32,
    ) -> c_int;
    fn writer_modify(writer: *mut Writer, matches: *const RawMatch, record: *const c_void) -> c_int;
    fn writer_delete(writer: *mut Writer, matches: *const RawMatch) -> c_int;
    fn writer_set_clock(writer: *mut Writer, now_ns: u64);
    fn writer_restart(writer: *mut Writer, matches: *const RawMatch, timer: u32, now_ns: u64) -> c_int;
    fn writer_find_handle(writer: *mut Writer, handle: u32, entry: *mut RawEntry) -> c_int;
    fn writer_counter_indices(writer: *const Writer) -> u64;
    fn writer_set_default(writer: *mut Writer, record: *const c_void) -> c_int;
    fn writer_find(writer: *mut Writer, matches: *const RawMatch, entry: *mut RawEntry) -> c_int;
    fn writer_next(writer: *mut Writer, cursor: u64, entry: *mut RawEntry) -> u64;
    fn writer_count(writer: *const Writer) -> u64;
    fn writer_bytes(writer: *const Writer) -> u64;
    fn writer_reserve(writer: *mut Writer, entries: u64) -> c_int;
    fn writer_compact(writer: *mut Writer);
    fn writer_compress_paths(writer: *mut Writer, compressed: u32) -> c_int;
    fn writer_clear(writer: *mut Writer);
    fn writer_hide(writer: *mut Writer);
    fn writer_show(writer: *mut Writer);
}

fn checked(status: c_int) -> Result<(), TableError> {
    Err(match status {
        0 => return Ok(()),
        1 => TableError::Full,
        2 => TableError::Exists,
        3 => TableError::Missing,
        4 => TableError::Invalid,
        _ => TableError::NoMemory,
    })
}

/// A table in memory.
pub struct Table {
    writer: *mut Writer,
    /// The lock of writers, for all tables that share an array.
    write_lock: Arc<Mutex<()>>,
    /// The table whose array the entries are in, which lives at least as long.
    _primary: Option<Arc<Table>>,
    description: pipeline::Table,
    /// The mask of a whole key.
    whole: Vec<u64>,
    callbacks: Box<Callbacks>,
    selection: Mutex<Selection>,
    timers: Mutex<Timers>,
    /// The writer refers to the descriptor of the pipeline it was made for.
    _pipeline: Arc<Pipeline>,
}

// SAFETY: the writer is only used under its lock, and its memory belongs to no thread.
unsafe impl Send for Table {}
// SAFETY: likewise.
unsafe impl Sync for Table {}

fn whole(table: &pipeline::Table) -> Vec<u64> {
    let bits = |limb: u32| table.key_bits.saturating_sub(64 * limb).min(64);
    (0..table.key_limbs).map(|limb| if bits(limb) == 64 { u64::MAX } else { (1 << bits(limb)) - 1 }).collect()
}

/// Direct counters and meters of a table that have room. They cost nothing until entries use them, so there are plenty.
pub(crate) fn counter_indices_of(table: &pipeline::Table) -> u64 {
    const UNKNOWN: u64 = 1 << 24;
    match table.size {
        0 => UNKNOWN,
        size => size.saturating_mul(2).checked_next_power_of_two().unwrap_or(u64::MAX).max(1024),
    }
}

impl Table {
    /// `primary`: the table whose array the entries are in, if it is not their own.
    pub(crate) fn new(
        pipeline: &Arc<Pipeline>,
        number: usize,
        readers: &Arc<Readers>,
        primary: Option<Arc<Table>>,
    ) -> Result<Table, TableError> {
        let description = pipeline.description().tables[number].clone();
        let callbacks = Box::new(Callbacks::new(readers.clone(), counter_indices_of(&description)));
        let host = RawHost {
            allocate,
            release: region::release,
            grace,
            counter_indices,
            clear,
            host: (&raw const *callbacks).cast_mut().cast(),
        };
        let mut status = 0;
        let write_lock = primary.as_ref().map_or_else(Arc::default, |primary| primary.write_lock.clone());
        let primary_writer = primary.as_ref().map_or(std::ptr::null_mut(), |primary| primary.writer);
        let held = write_lock.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the descriptor lives as long as the pipeline, which the table holds; `callbacks`
        // does not move; the primary is alive, and no thread writes to it.
        let writer =
            unsafe { writer_create_secondary(pipeline.raw().tables.add(number), &host, primary_writer, &mut status) };
        drop(held);
        if writer.is_null() {
            return Err(checked(status).err().unwrap_or(TableError::NoMemory));
        }
        callbacks.is_limited.store(true, Ordering::Relaxed);
        Ok(Table {
            writer,
            write_lock,
            _primary: primary,
            whole: whole(&description),
            description,
            callbacks,
            selection: Mutex::new(Selection::new()),
            timers: Mutex::new(Timers::new()),
            _pipeline: pipeline.clone(),
        })
    }

    /// Its description in the pipeline that it was made for.
    pub fn description(&self) -> &pipeline::Table {
        &self.description
    }

    pub(crate) fn readers_view(&self) -> *const c_void {
        // SAFETY: the writer is alive.
        unsafe { writer_table(*self.lock()) }
    }

    /// The elements that a new entry is to find empty.
    pub(crate) fn bind(&self, direct: Vec<DirectElements>) {
        *self.callbacks.direct.lock().unwrap_or_else(PoisonError::into_inner) = direct;
    }

    /// From now on packets may read the table, so what they may have found is kept for a grace period.
    pub(crate) fn open(&self) {
        self.callbacks.is_read.store(true, Ordering::Release);
    }

    /// See [`Readers::while_inserting`].
    pub(crate) fn identity(&self) -> usize {
        self.callbacks.identity()
    }

    fn lock(&self) -> Writing<'_> {
        Writing { writer: self.writer, _held: self.write_lock.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    fn record<'a>(&self, record: &'a [u8]) -> Result<&'a [u8], TableError> {
        if record.len() == self.description.record_bytes as usize { Ok(record) } else { Err(TableError::Invalid) }
    }

    /// Refuses limbs that the key does not have, so that C may trust the lengths.
    fn raw(&self, matches: &Match) -> Result<RawMatch, TableError> {
        let limbs = self.description.key_limbs as usize;
        if [&matches.value, &matches.mask, &matches.high].iter().any(|side| side.len() != limbs) {
            return Err(TableError::Invalid);
        }
        Ok(matches.raw())
    }

    /// Entries that are inserted from now on have this time of last hit, on the workers' clock.
    pub fn set_clock(&self, now_ns: u64) {
        // SAFETY: the writer is alive.
        unsafe { writer_set_clock(*self.lock(), now_ns) }
    }

    /// The new entry's counter index.
    pub fn insert(&self, matches: &Match, record: &[u8]) -> Result<u32, TableError> {
        let (raw, record) = (self.raw(matches)?, self.record(record)?);
        let mut handle = 0;
        // SAFETY: lengths were checked; the writer copies.
        checked(unsafe { writer_insert(*self.lock(), &raw, record.as_ptr().cast(), &mut handle) })?;
        Ok(handle)
    }

    /// Inserts entries in their order until one is refused, and returns how many it has taken. Their records are one behind the other.
    pub fn insert_all<'m>(
        &self,
        matches: impl Iterator<Item = &'m Match>,
        records: &[u8],
    ) -> (usize, Result<(), TableError>) {
        let fits = |raw: &Vec<RawMatch>| records.len() == raw.len() * self.description.record_bytes as usize;
        let raw = matches.map(|matches| self.raw(matches)).collect::<Result<Vec<_>, _>>().ok().filter(fits);
        let Some(raw) = raw else { return (0, Err(TableError::Invalid)) };
        let mut done = 0;
        let (from, count) = (records.as_ptr().cast(), raw.len() as u32);
        // SAFETY: lengths were checked; the writer copies.
        let outcome = checked(unsafe { writer_insert_all(*self.lock(), raw.as_ptr(), from, count, &mut done) });
        (done as usize, outcome)
    }

    /// Before packets insert an entry.
    pub(crate) fn is_inserted_by_packets(&self) {
        self.callbacks.is_inserted.store(true, Ordering::SeqCst);
    }

    /// From the data plane, of an exact key: with its timer started.
    ///
    /// # Safety
    /// `key` has the limbs of the table's keys, and `record` the bytes of its records.
    pub(crate) unsafe fn insert_running(
        &self,
        key: *const u64,
        record: *const c_void,
        timer: u32,
        now_ns: u64,
    ) -> Result<(), TableError> {
        let raw = RawMatch { value: key, mask: self.whole.as_ptr(), high: key, priority: 0 };
        let writer = self.lock();
        // SAFETY: the caller's promise; the writer copies.
        checked(unsafe {
            writer_set_clock(*writer, now_ns);
            writer_insert(*writer, &raw, record, std::ptr::null_mut())
        })?;
        if timer != 0 && self.description.records_own {
            // SAFETY: likewise.
            checked(unsafe { writer_restart(*writer, &raw, timer, now_ns) })?;
        }
        Ok(())
    }

    /// Gives an entry a time without hits after which it is idle, 0 for none, and starts it.
    pub fn set_timer(&self, matches: &Match, time_ns: u64, now_ns: u64) -> Result<(), TableError> {
        let raw = self.raw(matches)?;
        let timer = self.timers().number(time_ns);
        // SAFETY: lengths were checked.
        checked(unsafe { writer_restart(*self.lock(), &raw, timer, now_ns) })
    }

    /// The time that entries of a profile have.
    pub fn set_profile(&self, profile: u8, time_ns: u64) {
        self.timers().set_profile(profile, time_ns);
    }

    /// The entries whose time has passed: those that are deleted now, or those whose time has
    /// passed again since their last report. `joint_hit_ns` is when a joint table was last hit for
    /// the entry with a counter index; the entry has that time from then on.
    pub fn age(&self, now_ns: u64, joint_hit_ns: impl Fn(u32) -> u64) -> Vec<Entry> {
        let Some(kind) = self.description.idle_timeout else { return Vec::new() };
        let mut idle = Vec::new();
        // SAFETY: the writer is alive.
        let counter_indices = unsafe { writer_counter_indices(*self.lock()) } as u32;
        for from in (0..counter_indices).step_by(SLICE as usize) {
            let mut timers = self.timers();
            let writer = self.lock();
            for counter_index in from..counter_indices.min(from + SLICE) {
                let mut raw = RawEntry::empty();
                // SAFETY: the lock is held until the entry was copied.
                let is_there = unsafe { writer_find_handle(*writer, counter_index, &mut raw) == 0 };
                let joint_hit_ns = if is_there { joint_hit_ns(counter_index).min(now_ns) } else { 0 };
                if joint_hit_ns > raw.last_hit_ns {
                    // SAFETY: the writer has filled the entry, which is still there.
                    unsafe { writer_restart(*writer, &raw.matches, raw.timer, joint_hit_ns) };
                    raw.last_hit_ns = joint_hit_ns;
                }
                if !is_there || !timers.has_passed(raw.timer, raw.last_hit_ns, now_ns) {
                    timers.forget(counter_index);
                    continue;
                }
                // SAFETY: the writer has filled it.
                let entry = unsafe { self.entry(&raw) };
                match kind {
                    IdleTimeout::Notify if !timers.notify(counter_index, raw.timer, raw.last_hit_ns, now_ns) => {
                        continue;
                    }
                    IdleTimeout::Notify => {}
                    IdleTimeout::Delete => {
                        let matches = self.raw(&entry.matches).expect("an entry's own key fits its table");
                        // SAFETY: as for `delete`.
                        let deleted = checked(unsafe { writer_delete(*writer, &matches) });
                        if deleted.is_err() {
                            continue;
                        }
                    }
                }
                idle.push(entry);
            }
        }
        idle
    }

    fn timers(&self) -> std::sync::MutexGuard<'_, Timers> {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn selection(&self) -> std::sync::MutexGuard<'_, Selection> {
        self.selection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What packets see of the selector's groups.
    pub(crate) fn groups_view(&self) -> *const abi::Selection {
        self.selection().raw()
    }

    /// The slot of a selector's group, for the records of entries that refer to it.
    pub fn group_slot(&self, number: u32) -> Option<u32> {
        self.selection().slot(number)
    }

    /// Makes, replaces or removes a group: the records of its members.
    pub fn set_group(&self, number: u32, records: Option<&[Vec<u8>]>) -> Result<(), TableError> {
        let callbacks = &self.callbacks;
        let wait = || callbacks.wait();
        match records {
            Some(records) => {
                records.iter().try_for_each(|record| self.record(record).map(drop))?;
                self.selection().set(number, records, wait);
            }
            None => self.selection().remove(number, wait),
        }
        Ok(())
    }

    pub fn modify(&self, matches: &Match, record: &[u8]) -> Result<(), TableError> {
        let (raw, record) = (self.raw(matches)?, self.record(record)?);
        // SAFETY: as for `insert`.
        checked(unsafe { writer_modify(*self.lock(), &raw, record.as_ptr().cast()) })
    }

    pub fn delete(&self, matches: &Match) -> Result<(), TableError> {
        let raw = self.raw(matches)?;
        // SAFETY: lengths were checked.
        checked(unsafe { writer_delete(*self.lock(), &raw) })
    }

    pub fn set_default(&self, record: &[u8]) -> Result<(), TableError> {
        let record = self.record(record)?;
        // SAFETY: the length was checked; the writer copies.
        checked(unsafe { writer_set_default(*self.lock(), record.as_ptr().cast()) })
    }

    pub fn find(&self, matches: &Match) -> Result<Entry, TableError> {
        let raw = self.raw(matches)?;
        let mut entry = RawEntry::empty();
        let writer = self.lock();
        // SAFETY: lengths were checked; the entry is read before the lock goes.
        checked(unsafe { writer_find(*writer, &raw, &mut entry) })?;
        // SAFETY: the writer has filled it.
        Ok(unsafe { self.entry(&entry) })
    }

    /// All entries, in no order but a list's own.
    pub fn entries(&self) -> Vec<Entry> {
        let writer = self.lock();
        let mut entries = Vec::new();
        let (mut raw, mut cursor) = (RawEntry::empty(), 0);
        loop {
            // SAFETY: no writes in between, the lock is held.
            cursor = unsafe { writer_next(*writer, cursor, &mut raw) };
            if cursor == 0 {
                return entries;
            }
            // SAFETY: the writer has filled it.
            entries.push(unsafe { self.entry(&raw) });
        }
    }

    pub fn len(&self) -> u64 {
        // SAFETY: the writer is alive.
        unsafe { writer_count(*self.lock()) }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory that the table takes.
    pub fn bytes(&self) -> u64 {
        // SAFETY: the writer is alive.
        unsafe { writer_bytes(*self.lock()) }
    }

    /// Makes room before many entries come.
    pub fn reserve(&self, entries: u64) -> Result<(), TableError> {
        // SAFETY: the writer is alive.
        checked(unsafe { writer_reserve(*self.lock(), entries) })
    }

    /// Brings the table into its fastest form, when many entries have come and few will for a while.
    pub fn compact(&self) {
        // SAFETY: the writer is alive.
        unsafe { writer_compact(*self.lock()) }
    }

    /// Whether paths of a trie without entries are compressed, as they are at first.
    ///
    /// # Errors
    /// The table is no trie, or it has entries.
    pub fn compress_paths(&self, compressed: bool) -> Result<(), TableError> {
        // SAFETY: the writer is alive.
        checked(unsafe { writer_compress_paths(*self.lock(), u32::from(compressed)) })
    }

    pub fn clear(&self) {
        // SAFETY: the writer is alive.
        unsafe { writer_clear(*self.lock()) }
    }

    /// Deletes all entries. Before the first one goes, and from then on, packets find none, until [`Table::show`].
    ///
    /// # Errors
    /// There is no memory to delete all of them.
    pub fn withdraw(&self) -> Result<(), TableError> {
        let writer = self.lock();
        // SAFETY: the writer is alive.
        let left = unsafe {
            writer_hide(*writer);
            writer_clear(*writer);
            writer_count(*writer)
        };
        if left == 0 { Ok(()) } else { Err(TableError::NoMemory) }
    }

    /// Returns when no packet has what it read in any table before.
    pub fn wait(&self) {
        self.callbacks.wait();
    }

    /// Lets packets find the entries of a table that was withdrawn.
    pub fn show(&self) {
        // SAFETY: the writer is alive.
        unsafe { writer_show(*self.lock()) }
    }

    /// # Safety
    /// `raw` was filled by this table's writer, and nothing has been written since.
    unsafe fn entry(&self, raw: &RawEntry) -> Entry {
        let limbs = |from: *const u64| {
            // SAFETY: the writer gives whole keys.
            unsafe { std::slice::from_raw_parts(from, self.description.key_limbs as usize) }.to_vec()
        };
        // SAFETY: and whole records.
        let record =
            unsafe { std::slice::from_raw_parts(raw.record.cast::<u8>(), self.description.record_bytes as usize) };
        Entry {
            matches: Match {
                value: limbs(raw.matches.value),
                mask: limbs(raw.matches.mask),
                high: limbs(raw.matches.high),
                priority: raw.matches.priority,
            },
            record: record.to_vec(),
            counter_index: raw.handle,
            last_hit_ns: raw.last_hit_ns,
        }
    }
}

/// A writer with exclusive access to its array.
struct Writing<'t> {
    writer: *mut Writer,
    _held: MutexGuard<'t, ()>,
}

impl Deref for Writing<'_> {
    type Target = *mut Writer;

    fn deref(&self) -> &*mut Writer {
        &self.writer
    }
}

impl RawEntry {
    fn empty() -> RawEntry {
        let nothing = std::ptr::null();
        RawEntry {
            matches: RawMatch { value: nothing, mask: nothing, high: nothing, priority: 0 },
            record: nothing.cast(),
            number: 0,
            handle: 0,
            timer: 0,
            last_hit_ns: 0,
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // SAFETY: a table is dropped after every worker has let go of it, and before the one whose array its entries are in.
        unsafe { writer_destroy(*self.lock()) };
    }
}
