//! Rows that were acknowledged are there again, whatever happened to the process or to the file.

use persist::{Change, Opened, Rows, open};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A directory for one test, which is removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("bacus-persist-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&path));
        Folder(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("state.redb")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn opened(folder: &Path) -> Opened {
    open(folder).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(folder: &Path) -> String {
    open(folder).err().expect("it cannot be opened")
}

fn row(number: u64) -> (Vec<u8>, Vec<u8>) {
    (number.to_be_bytes().to_vec(), format!("value {number}").into_bytes())
}

fn put(number: u64) -> Change {
    let (key, value) = row(number);
    Change::Put(key, value)
}

fn rows(numbers: impl Iterator<Item = u64>) -> Rows {
    numbers.map(row).collect()
}

#[test]
fn what_was_written_is_there_again() {
    let folder = Folder::new("again");
    let Opened { file, rows: found, warnings } = opened(&folder.0);
    assert!(found.is_empty() && warnings.is_empty());
    file.write((0..100).map(put).collect()).wait().expect("there is room");
    file.write(vec![Change::Remove(row(7).0), put(200)]).wait().expect("there is room");
    // Without a wait: it is written when the file is closed.
    drop(file.write(vec![put(201)]));
    drop(file);
    let Opened { file, rows: found, warnings } = opened(&folder.0);
    assert_eq!(found, rows((0..100).filter(|number| *number != 7).chain([200, 201])));
    assert_eq!(warnings, [""; 0]);
    file.write(vec![Change::Clear, put(3)]).wait().expect("there is room");
    drop(file);
    assert_eq!(opened(&folder.0).rows, rows([3].into_iter()));
}

#[test]
fn many_writers_share_commits_and_keep_their_order() {
    let folder = Folder::new("many");
    let file = opened(&folder.0).file;
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    file.write(vec![put(number)]).wait().expect("there is room");
                }
            });
        }
    });
    drop(file);
    assert_eq!(opened(&folder.0).rows, rows(0..160));
}

#[test]
fn a_directory_is_for_one_switch() {
    let folder = Folder::new("one");
    let first = opened(&folder.0);
    let why = refused(&folder.0);
    assert!(why.contains("another switch has it") && why.contains("state.redb"), "{why}");
    drop(first);
    assert!(opened(&folder.0).rows.is_empty());
}

#[test]
fn a_directory_that_cannot_be_written_is_refused() {
    let folder = Folder::new("unwritable");
    std::fs::create_dir_all(&folder.0).expect("there is room");
    let below = folder.0.join("file");
    std::fs::write(&below, "").expect("there is room");
    let why = refused(&below);
    assert!(why.contains("file") && !why.contains("os error"), "{why}");
    // The kernel's own directory: not even root can make a file in it.
    let why = refused(Path::new("/proc/self"));
    assert!(why.contains("/proc/self/state.redb"), "{why}");
}

#[test]
fn a_file_of_the_user_is_left_alone() {
    let folder = Folder::new("other");
    std::fs::create_dir_all(&folder.0).expect("there is room");
    std::fs::write(folder.file(), "not a database, but a file that must stay".repeat(1000)).expect("there is room");
    let before = std::fs::read(folder.file()).expect("it is there");
    let why = refused(&folder.0);
    assert!(why.contains("name another directory"), "{why}");
    assert_eq!(std::fs::read(folder.file()).expect("it is there"), before);
}

/// Every copy of this text in a file is made another one.
fn damage(bytes: &mut [u8], text: &[u8]) {
    let places: Vec<usize> = (0..bytes.len() - text.len()).filter(|at| bytes[*at..].starts_with(text)).collect();
    assert!(!places.is_empty(), "the file has the row");
    places.into_iter().for_each(|at| bytes[at] ^= 0xa5);
}

/// Bytes are changed in rows and in what the file begins with: each time either nothing is lost, or the damage is reported. No row is ever
/// another than it was.
#[test]
fn damage_is_found_and_whole_rows_are_loaded() {
    const ROWS: u64 = 2000;
    let folder = Folder::new("damage");
    let file = opened(&folder.0).file;
    file.write((0..ROWS).map(put).collect()).wait().expect("there is room");
    drop(file);
    let whole = std::fs::read(folder.file()).expect("it is there");
    let all = rows(0..ROWS);
    let of_row = |number: u64| move |bytes: &mut Vec<u8>| damage(bytes, format!("value {number}").as_bytes());
    let of_byte = |at: usize| move |bytes: &mut Vec<u8>| bytes[at] ^= 0xff;
    type Damage = Box<dyn Fn(&mut Vec<u8>)>;
    let damages: [(&str, Damage, usize); 7] = [
        ("the first row", Box::new(of_row(0)), all.len() - 200),
        ("a row in the middle", Box::new(of_row(1000)), all.len() - 200),
        ("the last row", Box::new(of_row(ROWS - 1)), all.len() - 200),
        ("the magic number", Box::new(of_byte(2)), 0),
        ("the size of pages", Box::new(of_byte(12)), 0),
        ("a root", Box::new(of_byte(70)), 0),
        ("another root", Box::new(of_byte(200)), 0),
    ];
    for (place, change, least) in damages {
        let mut bytes = whole.clone();
        change(&mut bytes);
        std::fs::remove_dir_all(&folder.0).expect("it is there");
        std::fs::create_dir_all(&folder.0).expect("there is room");
        std::fs::write(folder.file(), bytes).expect("there is room");
        let (found, warnings) = match open(&folder.0) {
            Ok(Opened { rows, warnings, .. }) => (rows, warnings),
            Err(why) => (Rows::new(), vec![why]),
        };
        assert!(found.iter().all(|row| all.binary_search(row).is_ok()), "{place}: a row is another one");
        assert!(found.len() >= least, "{place}: only {} rows are whole: {warnings:?}", found.len());
        assert!(found.len() == all.len() || !warnings.is_empty(), "{place}: rows are lost without a word");
        assert!(least == 0 || found.len() < all.len(), "{place}: the damage was in a row");
    }
}

#[test]
fn a_torn_file_is_found() {
    let folder = Folder::new("torn");
    let file = opened(&folder.0).file;
    file.write((0..20_000).map(put).collect()).wait().expect("there is room");
    drop(file);
    let whole = std::fs::read(folder.file()).expect("it is there");
    for length in [whole.len() / 2, 4096, 100, 5] {
        drop(std::fs::remove_dir_all(&folder.0));
        std::fs::create_dir_all(&folder.0).expect("there is room");
        std::fs::write(folder.file(), &whole[..length]).expect("there is room");
        match open(&folder.0) {
            Ok(Opened { warnings, .. }) => assert!(!warnings.is_empty(), "{length} bytes"),
            Err(why) => assert!(why.contains("state.redb"), "{why}"),
        }
    }
}

/// A caller may be called instead of waiting: in the order of the transactions, and with the reason where one cannot be written.
#[test]
fn callers_are_called_when_their_transactions_are_on_disk() {
    let folder = Folder::new("called");
    let opened = opened(&folder.0);
    let (sender, called) = std::sync::mpsc::channel();
    let then = |number: u64| {
        let sender = sender.clone();
        opened.file.write(vec![put(number)]).then(move |saved| sender.send((number, saved)).unwrap());
    };
    (0..100).for_each(then);
    let answers: Vec<_> = called.iter().take(100).collect();
    assert!(
        answers.iter().enumerate().all(|(at, (number, saved))| *number == at as u64 && saved.is_ok()),
        "{answers:?}"
    );
    // One that is on disk already is called at once.
    let ticket = opened.file.write(vec![put(100)]);
    opened.file.write(vec![put(101)]).wait().unwrap();
    let thread = std::thread::current().id();
    let (at_once, answer) = std::sync::mpsc::channel();
    ticket.then(move |saved| at_once.send((saved, std::thread::current().id())).unwrap());
    assert_eq!(answer.try_recv(), Ok((Ok(()), thread)));
}
