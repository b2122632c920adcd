//! Opens a file, and reports what is wrong with it.

use crate::Rows;
use crate::commit::{Change, File};
use crate::damage;
use crate::row::{TABLE, opened};
use redb::{Database, DatabaseError, ReadableTable as _, StorageError, TableError};
use std::error::Error;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const FILE: &str = "state.redb";
/// Bytes of the file that are kept in memory. The rows are written far more often than read.
const CACHE: usize = 32 << 20;

/// An open directory.
pub struct Opened {
    pub file: File,
    /// What was in it.
    pub rows: Rows,
    /// What was damaged, and what was made of it.
    pub warnings: Vec<String>,
}

/// Opens the file of a directory, which is made where it is missing.
///
/// # Errors
/// A sentence with the file: it cannot be written, another process has it, or it is no such file.
pub fn open(folder: &Path) -> Result<Opened, String> {
    let of_folder = |error: std::io::Error| format!("{}: {}", folder.display(), plain(&error));
    std::fs::create_dir_all(folder).map_err(of_folder)?;
    let path = folder.join(FILE);
    let mut warnings = Vec::new();
    let mut is_verified = false;
    let database = match database(&path, &mut is_verified) {
        Ok(database) => whole(database, is_verified),
        Err(Problem::Damaged(_)) => None,
        Err(problem) => return Err(format!("{}: {problem}", path.display())),
    };
    let read = database.map(|database| rows_of(&database).map(|rows| (database, rows)));
    let (database, rows, lost) = match read {
        Some(Ok((database, (rows, lost)))) => (database, rows, lost),
        Some(Err(_)) | None => return salvaged(&path),
    };
    if lost > 0 {
        warnings.push(format!("{}: {lost} rows are damaged and left out", path.display()));
    }
    let file = File::new(&path, database).map_err(of_folder)?;
    Ok(Opened { file, rows, warnings })
}

/// Takes the whole rows out of a damaged file, which is set aside, and begins a new one with them.
fn salvaged(path: &Path) -> Result<Opened, String> {
    let failed = |error: std::io::Error| format!("{}: {}", path.display(), plain(&error));
    let (rows, lost) = damage::salvage(path).map_err(failed)?;
    let aside = aside(path);
    std::fs::rename(path, &aside).map_err(failed)?;
    let database = database(path, &mut false).map_err(|problem| format!("{}: {problem}", path.display()))?;
    let file = File::new(path, database).map_err(failed)?;
    file.write(rows.iter().map(|(key, value)| Change::Put(key.clone(), value.clone())).collect()).wait()?;
    let lost = if lost > 0 { format!(", and {lost} damaged ones were left out") } else { String::new() };
    let warning = format!(
        "{} is damaged: {} whole rows were loaded{lost}; what was in damaged pages is lost; the file is kept as {}",
        path.display(),
        rows.len(),
        aside.display()
    );
    Ok(Opened { file, rows, warnings: vec![warning] })
}

/// A name that no file has.
fn aside(path: &Path) -> PathBuf {
    let names = (1..).map(|number| path.with_extension(format!("redb.damaged-{number}")));
    names.into_iter().find(|name| !name.exists()).unwrap_or_else(|| path.with_extension("redb.damaged"))
}

/// Why a file cannot be opened.
pub enum Problem {
    /// Parts of it are not as they were written.
    Damaged(String),
    Other(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Problem::Damaged(sentence) | Problem::Other(sentence)) = self;
        f.write_str(sentence)
    }
}

/// The file's database. Sets whether all of it was verified because it was not closed.
pub fn database(path: &Path, is_verified: &mut bool) -> Result<Database, Problem> {
    let verified = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let of_callback = verified.clone();
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE);
    builder.set_repair_callback(move |_| of_callback.store(true, std::sync::atomic::Ordering::Relaxed));
    let created = damage::quietly(|| builder.create(path));
    *is_verified = verified.load(std::sync::atomic::Ordering::Relaxed);
    match created {
        Some(Ok(database)) => Ok(database),
        None => Err(Problem::Damaged("it is damaged".to_string())),
        Some(Err(DatabaseError::DatabaseAlreadyOpen)) => {
            Err(Problem::Other("another switch has it: each switch needs a directory of its own".to_string()))
        }
        Some(Err(DatabaseError::UpgradeRequired(version))) => {
            Err(Problem::Other(format!("it has version {version} of redb's format, which this bacus does not read")))
        }
        Some(Err(DatabaseError::Storage(StorageError::Corrupted(why)))) => Err(Problem::Damaged(why)),
        Some(Err(DatabaseError::RepairAborted)) => Err(Problem::Damaged("it is damaged".to_string())),
        Some(Err(DatabaseError::Storage(StorageError::Io(error)))) => {
            let is_content = matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof);
            Err(if is_content { other_file(path, &error) } else { Problem::Other(plain(&error)) })
        }
        Some(Err(error)) => Err(Problem::Other(error.to_string())),
    }
}

/// A file that does not begin as redb's do is the user's own, and is left alone.
fn other_file(path: &Path, error: &std::io::Error) -> Problem {
    match damage::is_database(path) {
        true => Problem::Damaged(error.to_string()),
        false => Problem::Other("it is no state of a switch: name another directory".to_string()),
    }
}

/// The database if all its pages are as they were written.
fn whole(mut database: Database, is_verified: bool) -> Option<Database> {
    if is_verified {
        return Some(database);
    }
    let checked = damage::quietly(|| matches!(database.check_integrity(), Ok(true)));
    (checked == Some(true)).then_some(database)
}

/// All rows, and how many are not as they were written.
fn rows_of(database: &Database) -> Result<(Rows, u64), Box<dyn Error>> {
    let transaction = database.begin_read()?;
    let table = match transaction.open_table(TABLE) {
        Ok(table) => table,
        Err(TableError::TableDoesNotExist(_)) => return Ok((Rows::new(), 0)),
        Err(error) => return Err(error.into()),
    };
    let (mut rows, mut lost) = (Rows::new(), 0);
    for row in table.iter()? {
        let (key, value) = row?;
        match opened(key.value(), value.value()) {
            Some(value) => rows.push((key.value().to_vec(), value.to_vec())),
            None => lost += 1,
        }
    }
    Ok((rows, lost))
}

/// The operating system's reason, without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
