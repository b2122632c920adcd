//! The thread that writes transactions, all that wait in one commit, and what waits for it.
//!
//! A transaction that cannot be written is kept and tried again: the file is never behind what was taken without a report of it.

use crate::open::database;
use crate::row::{TABLE, sealed};
use redb::{Database, Durability, ReadableTable as _};
use std::collections::VecDeque;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a file that could not be written is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// One change of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Removes all rows.
    Clear,
    Put(Vec<u8>, Vec<u8>),
    Remove(Vec<u8>),
}

/// What is called when a transaction is on disk, or could not be written.
type Done = Box<dyn FnOnce(Result<(), String>) + Send>;

#[derive(Default)]
struct Queue {
    waiting: Vec<Vec<Change>>,
    /// By the number of the transaction, in their order.
    callers: VecDeque<(u64, Done)>,
    /// Transactions that were taken, that are on disk, and that a commit was tried for without success.
    taken: u64,
    durable: u64,
    failed: u64,
    /// Why the file cannot be written at present.
    error: Option<String>,
    stops: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A transaction that was taken.
pub struct Ticket {
    number: u64,
    shared: Arc<Shared>,
}

impl Ticket {
    /// Waits until the transaction, and all before it, are on disk.
    ///
    /// # Errors
    /// A sentence with the reason why they are not. The transaction is tried again, behind the back of this caller.
    pub fn wait(&self) -> Result<(), String> {
        let mut queue = self.shared.lock();
        loop {
            if queue.durable >= self.number {
                return Ok(());
            }
            if let Some(error) = queue.error.as_ref().filter(|_| queue.failed >= self.number) {
                return Err(error.clone());
            }
            queue = self.shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Ticket {
    /// Whether the transaction, and all before it, are on disk, or a commit of it was tried without success.
    pub fn is_decided(&self) -> bool {
        let queue = self.shared.lock();
        queue.durable >= self.number || queue.error.is_some() && queue.failed >= self.number
    }

    /// Calls `done` when the transaction, and all before it, are on disk, or with the reason why they are not: without a thread that waits. From
    /// the thread that writes, which goes on with the next transactions behind that.
    pub fn then(self, done: impl FnOnce(Result<(), String>) + Send + 'static) {
        let mut queue = self.shared.lock();
        let is_durable = queue.durable >= self.number;
        let failed = queue.error.clone().filter(|_| queue.failed >= self.number && !is_durable);
        if !is_durable && failed.is_none() {
            let place = queue.callers.partition_point(|(number, _)| *number <= self.number);
            return queue.callers.insert(place, (self.number, Box::new(done)));
        }
        drop(queue);
        done(failed.map_or(Ok(()), Err));
    }
}

/// An open file. When it is dropped, all that was taken is written.
pub struct File {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl File {
    pub(crate) fn new(path: &Path, database: Database) -> std::io::Result<File> {
        let shared = Arc::new(Shared::default());
        let (of_thread, path) = (shared.clone(), path.to_path_buf());
        let run = move || Writer { shared: of_thread, path, database: Some(database) }.run();
        let thread = std::thread::Builder::new().name("state".to_string()).spawn(run)?;
        Ok(File { shared, thread: Some(thread) })
    }

    /// Takes a transaction: all of its changes are on disk after the next commit, or none. They are in the order in which they are taken.
    pub fn write(&self, changes: Vec<Change>) -> Ticket {
        let mut queue = self.shared.lock();
        queue.waiting.push(changes);
        queue.taken += 1;
        let number = queue.taken;
        drop(queue);
        self.shared.changed.notify_all();
        Ticket { number, shared: self.shared.clone() }
    }

    /// Why the file could not be written when it was last tried; none if it could.
    pub fn error(&self) -> Option<String> {
        self.shared.lock().error.clone()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.shared.lock().stops = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

struct Writer {
    shared: Arc<Shared>,
    path: PathBuf,
    /// None while the file cannot be opened again.
    database: Option<Database>,
}

impl Writer {
    fn run(&mut self) {
        loop {
            let Some((batch, last)) = self.next() else { return };
            let done = self.commit(&batch);
            let mut queue = self.shared.lock();
            match done {
                Ok(()) => (queue.durable, queue.error) = (last, None),
                Err(error) => {
                    (queue.failed, queue.error) = (last, Some(format!("{}: {error}", self.path.display())));
                    let later = std::mem::replace(&mut queue.waiting, batch);
                    queue.waiting.extend(later);
                }
            }
            let (error, stops) = (queue.error.clone(), queue.stops);
            let decided = queue.callers.partition_point(|(number, _)| *number <= last);
            let callers: Vec<Done> = queue.callers.drain(..decided).map(|(_, done)| done).collect();
            drop(queue);
            self.shared.changed.notify_all();
            callers.into_iter().for_each(|done| done(error.clone().map_or(Ok(()), Err)));
            let failed = error.is_some();
            if failed && stops {
                return;
            }
            if failed {
                self.rest();
            }
        }
    }

    /// All transactions that wait, and the number of the last. None: there are none, and none will come.
    fn next(&self) -> Option<(Vec<Vec<Change>>, u64)> {
        let mut queue = self.shared.lock();
        loop {
            if !queue.waiting.is_empty() {
                return Some((std::mem::take(&mut queue.waiting), queue.taken));
            }
            if queue.stops {
                return None;
            }
            queue = self.shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A time without an attempt. redb writes nothing more to a file after an error: it is opened again.
    fn rest(&mut self) {
        self.database = None;
        let queue = self.shared.lock();
        let until_stop = self.shared.changed.wait_timeout_while(queue, RETRY, |queue| !queue.stops);
        drop(until_stop.unwrap_or_else(PoisonError::into_inner));
    }

    fn commit(&mut self, batch: &[Vec<Change>]) -> Result<(), String> {
        let database = match &mut self.database {
            Some(database) => database,
            closed => closed.insert(database(&self.path, &mut false).map_err(|error| error.to_string())?),
        };
        written(database, batch.iter().flatten()).map_err(|error| error.to_string())
    }
}

/// Writes changes in one transaction.
fn written<'c>(database: &Database, changes: impl Iterator<Item = &'c Change>) -> Result<(), Box<dyn Error>> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate);
    {
        let mut table = transaction.open_table(TABLE)?;
        for change in changes {
            match change {
                Change::Put(key, value) => drop(table.insert(key.as_slice(), sealed(key, value).as_slice())?),
                Change::Remove(key) => drop(table.remove(key.as_slice())?),
                Change::Clear if table.first()?.is_none() => {}
                Change::Clear => {
                    drop(table);
                    transaction.delete_table(TABLE)?;
                    table = transaction.open_table(TABLE)?;
                }
            }
        }
    }
    transaction.commit()?;
    Ok(())
}
