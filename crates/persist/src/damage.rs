//! What can still be read of a damaged file.
//!
//! redb refuses a file of which any page is not as it was written. A copy of the file is read here without that check, from both ends of the
//! table up to the damage, and each row counts by its own checksum.

use crate::Rows;
use crate::row::{TABLE, opened};
use redb::{Database, ReadOnlyTable, ReadableTable as _};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;

/// With which files of redb begin (its docs/design.md).
const MAGIC: [u8; 9] = [b'r', b'e', b'd', b'b', 0x1a, 0x0a, 0xa9, 0x0d, 0x0a];
/// The flags are in the byte behind it: which of two roots is the newest, whether the file was not closed, whether that root is not verified.
const FLAGS: usize = MAGIC.len();
const NEWEST: u8 = 1;
const NOT_CLOSED: u8 = 2;

thread_local! {
    /// Whether panics of this thread print nothing.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result of a call that may panic at damage; none if it did. The panic prints nothing.
pub fn quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                others(info);
            }
        }));
    });
    let was_quiet = IS_QUIET.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work)).ok();
    IS_QUIET.set(was_quiet);
    done
}

/// Whether a file begins as those of redb.
pub fn is_database(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == MAGIC
}

/// The whole rows, and how many are not.
pub fn salvage(path: &Path) -> std::io::Result<(Rows, u64)> {
    let bytes = std::fs::read(path)?;
    let copy = path.with_extension("redb.copy");
    let mut best = (Rows::new(), 0);
    // The other root is that of the commit before.
    for flip in [0, NEWEST] {
        let mut bytes = bytes.clone();
        if let Some(flags) = bytes.get_mut(FLAGS) {
            *flags = (*flags ^ flip) & !NOT_CLOSED;
        }
        std::fs::write(&copy, bytes)?;
        if let Some(Some(found)) = quietly(|| readable(&copy))
            && found.0.len() > best.0.len()
        {
            best = found;
            break;
        }
    }
    std::fs::remove_file(&copy)?;
    Ok(best)
}

fn readable(path: &Path) -> Option<(Rows, u64)> {
    let database = Database::open(path).ok()?;
    let table = database.begin_read().ok()?.open_table(TABLE).ok()?;
    let mut found = Found::default();
    let is_complete = quietly(|| found.take(&table, false)) == Some(true);
    if !is_complete {
        quietly(|| found.take(&table, true));
    }
    // What is damaged must not be written when it is closed.
    std::mem::forget((table, database));
    Some((found.rows.into_iter().collect(), found.lost))
}

#[derive(Default)]
struct Found {
    rows: BTreeMap<Vec<u8>, Vec<u8>>,
    lost: u64,
}

impl Found {
    /// Takes rows from one end up to damage, or to a row that is known. Gives whether there was no damage.
    fn take(&mut self, table: &ReadOnlyTable<&'static [u8], &'static [u8]>, from_end: bool) -> bool {
        let Ok(mut range) = table.iter() else { return false };
        loop {
            let row = if from_end { range.next_back() } else { range.next() };
            let (key, value) = match row {
                None => return true,
                Some(Err(_)) => return false,
                Some(Ok(row)) => row,
            };
            if from_end && self.rows.contains_key(key.value()) {
                return true;
            }
            match opened(key.value(), value.value()) {
                Some(value) => drop(self.rows.insert(key.value().to_vec(), value.to_vec())),
                None => self.lost += 1,
            }
        }
    }
}
