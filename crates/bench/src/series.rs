//! Several experiments in one run, each with a result of its own: what the report is made of.
//!
//! A run that was interrupted goes on with the experiment that it was in: those before it are named in a journal beside the results.

use super::papers;
use super::scheduler::processes_of;
use super::time_left::TimeLeft;
use crate::options::Options;
use driver::failure::Failure;
use driver::stdout::print_line;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Every experiment with a figure, as one name.
pub const PAPERS: &str = "papers";

/// The names that are asked for, each once, those that `papers` means among them.
pub fn asked(options: &Options) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let all = || papers::described().into_iter().map(|(name, _)| name).collect();
    for name in &options.experiment {
        let meant: Vec<String> = if name == PAPERS { all() } else { vec![name.clone()] };
        for one in meant {
            if !names.contains(&one) {
                names.push(one);
            }
        }
    }
    names
}

/// Measures one experiment after the other. One that fails does not keep the others from being measured.
pub fn run(
    options: &Options,
    key: &str,
    measure: impl Fn(&Options, &mut TimeLeft) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let names = asked(options);
    let alone = |name: &String| Options { experiment: vec![name.clone()], ..options.clone() };
    let count = |name: &String| processes_of(&alone(name));
    let mut journal = Journal::open(options.out.as_deref(), &format!("{key} {}", names.join(",")))?;
    let mut time = TimeLeft::new(names.iter().map(count).sum());
    let mut failed: Vec<&str> = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let of = format!("experiment {} of {}: {name}", number + 1, names.len());
        if journal.done.contains(name) {
            print_line!("{of} (measured before the interruption)");
            time.skip(count(name));
            continue;
        }
        print_line!("{of} ({})", time.words());
        match measure(&alone(name), &mut time) {
            Ok(()) => journal.add(name)?,
            Err(Failure::Reported) => failed.push(name),
            Err(Failure::Input(why) | Failure::Environment(why)) => {
                print_line!("{}", why.trim());
                failed.push(name);
            }
        }
    }
    if failed.is_empty() {
        return journal.remove();
    }
    Err(Failure::environment(format!("failed: {}; the others are measured", failed.join(", "))))
}

/// Names of the experiments that are measured. Without a folder there is none.
struct Journal {
    path: Option<PathBuf>,
    done: Vec<String>,
}

impl Journal {
    fn open(folder: Option<&Path>, key: &str) -> Result<Journal, Failure> {
        let Some(folder) = folder else { return Ok(Journal { path: None, done: Vec::new() }) };
        let path = folder.join("papers.journal");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mut lines = text.lines();
        if lines.next() == Some(key) {
            return Ok(Journal { path: Some(path), done: lines.map(str::to_string).collect() });
        }
        let begun = fs::create_dir_all(folder).and_then(|()| fs::write(&path, format!("{key}\n")));
        begun.map_err(|error| Failure::unwritable(&path, &error))?;
        Ok(Journal { path: Some(path), done: Vec::new() })
    }

    fn add(&mut self, name: &str) -> Result<(), Failure> {
        let Some(path) = &self.path else { return Ok(()) };
        let file = OpenOptions::new().append(true).open(path);
        let written = file.and_then(|mut file| writeln!(file, "{name}"));
        written.map_err(|error| Failure::unwritable(path, &error))
    }

    /// The run is complete.
    fn remove(self) -> Result<(), Failure> {
        let Some(path) = &self.path else { return Ok(()) };
        fs::remove_file(path).map_err(|error| Failure::unwritable(path, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn options(names: &[&str], out: Option<PathBuf>) -> Options {
        Options { experiment: names.iter().map(ToString::to_string).collect(), out, quick: true, ..Options::default() }
    }

    #[test]
    fn papers_are_all_experiments_with_a_figure() {
        let names = asked(&options(&["join", PAPERS, "join"], None));
        assert_eq!(names[0], "join");
        assert_eq!(names.len(), papers::described().len());
        assert!(names.contains(&"calibration".to_string()) && names.contains(&"cores".to_string()));
    }

    #[test]
    fn an_interrupted_run_goes_on_and_a_failure_stops_nothing() {
        let folder = std::env::temp_dir().join(format!("bacus-series-{}", std::process::id()));
        let options = options(&["join", "trie", "cores"], Some(folder.clone()));
        let measured = RefCell::new(Vec::new());
        let measure = |fails: &'static str| {
            let measured = &measured;
            move |options: &Options, _: &mut TimeLeft| {
                measured.borrow_mut().extend(options.experiment.clone());
                if options.experiment == [fails] { Err(Failure::Reported) } else { Ok(()) }
            }
        };
        let Err(Failure::Environment(why)) = run(&options, "key", measure("trie")) else { panic!("trie has failed") };
        assert!(why.contains("failed: trie;"), "{why}");
        assert_eq!(measured.take(), ["join", "trie", "cores"]);
        assert!(run(&options, "key", measure("none")).is_ok());
        assert_eq!(measured.take(), ["trie"], "the others were there");
        assert!(run(&options, "key", measure("none")).is_ok());
        assert_eq!(measured.take(), ["join", "trie", "cores"], "a complete run begins anew");
        assert!(run(&options, "key", measure("cores")).is_err() && run(&options, "other", measure("none")).is_ok());
        assert_eq!(measured.take().len(), 6, "another run takes nothing over");
        fs::remove_dir_all(folder).expect("the folder is there");
    }
}
