//! Schedules of the applications' hot paths do what the interpreter does, for each application, its entries and mutations
//! of its packets.

use std::fs;
use std::path::{Path, PathBuf};

use control::plane::Frame;
use interp::{PORTS, Switch};
use oracle::preprocess::preprocess;
use oracle::scheduled::{Compared, compare};

/// Seeds per test of an application.
const SEEDS: u64 = 6;

fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(below)
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> = all.filter(|file| file.extension().is_some_and(|it| it == ending)).collect();
    found.sort();
    found
}

/// The packets of an STF file.
fn packets(text: &str) -> Vec<Frame> {
    let packet = |line: &str| {
        let (port, digits) = line.trim().strip_prefix("packet ")?.trim().split_once(char::is_whitespace)?;
        let digits: String = digits.chars().take_while(|it| *it != '#').filter(char::is_ascii_hexdigit).collect();
        let bytes = (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16));
        Some(Frame { port: port.parse().ok()?, bytes: bytes.collect::<Result<_, _>>().ok()? })
    };
    text.lines().filter_map(packet).collect()
}

/// What was compared of an application's program with the entries and packets of a test.
fn compared(program: &Path, entries: &str, frames: &[Frame]) -> Result<Compared, String> {
    let text = preprocess(program, &[&path("include")])?;
    let file = program.display().to_string();
    p4::with_deep_stack(|| {
        let parsed = p4::parse(&file, &text);
        let (checked, _) = p4::check::check(&parsed.program);
        let program = p4::lower(&checked, &parsed.map, "program").map_err(|_| "it is not lowered".to_string())?;
        let mut compared = Compared::default();
        for seed in 0..SEEDS {
            let mut engine = Switch::new(&program, 0, PORTS);
            let commands = stf::parse(entries).map_err(|mistakes| mistakes[0].to_string())?;
            stf::configure(&program, &commands, &mut engine).map_err(|mistakes| mistakes[0].to_string())?;
            compared.add(&compare(&program, &mut engine, frames, seed)?);
        }
        Ok(compared)
    })
}

#[test]
fn schedules_of_applications_do_what_the_interpreter_does() {
    let (mut all, mut scheduled, mut failed) = (Compared::default(), Vec::new(), Vec::new());
    let mut folders: Vec<PathBuf> = fs::read_dir(path("apps"))
        .expect("there are applications")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().expect("a folder has a name").to_string_lossy().into_owned();
        for test in files(&folder, "stf") {
            let stem = test.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            // User externs have no meaning here.
            if stem.ends_with("entries") || !files(&folder, "c").is_empty() {
                continue;
            }
            let own = test.with_extension("p4");
            let program = if own.exists() { own } else { folder.join(format!("{name}.p4")) };
            let entries = if stem == name { "entries.stf".to_string() } else { format!("{stem}_entries.stf") };
            let entries = fs::read_to_string(folder.join(entries)).unwrap_or_default();
            match compared(&program, &entries, &packets(&read(&test))) {
                Ok(found) => {
                    eprintln!("{name}/{stem}: {found:?}");
                    scheduled.extend((found.commits > 0).then(|| name.clone()));
                    all.add(&found);
                }
                Err(why) => failed.push(format!("{}: {why}", test.display())),
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    scheduled.dedup();
    assert!(scheduled.len() >= 4 && all.commits > 1000 && all.drops > 100, "{scheduled:?}: {all:?}");
}
