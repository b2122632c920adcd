//! Rows that outlive the process: keys with values in a file of redb.
//!
//! [`File::write`] takes the changes of one transaction and returns at once, and [`Ticket::wait`] returns when they are on disk. A thread writes all
//! transactions that wait together: they share one `fsync`. A file that is torn or damaged is found when it is opened; its whole rows are loaded.

mod commit;
mod damage;
mod open;
mod row;

pub use commit::{Change, File, Ticket};
pub use open::{Opened, open};

/// Keys and values.
pub type Rows = Vec<(Vec<u8>, Vec<u8>)>;
