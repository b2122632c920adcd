//! The cases of a corpus: programs to accept, programs to reject, and programs with packets.
//!
//! All paths come from the caller: a checkout of p4c, lists of names relative to its `testdata`, a directory of vectors.

use super::json::Json;
use super::report::Exempt;
use super::run::Plan;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A checkout of p4c.
pub struct Corpus {
    pub include: PathBuf,
    testdata: PathBuf,
    /// Where the externs of programs are, in C: `NAME.c` for `NAME.p4`.
    pub externs: Option<PathBuf>,
    /// How native code is planned.
    pub plans: &'static [Plan],
    /// Whether native code watches itself.
    pub sanitize: bool,
}

/// One process to run.
pub struct Job {
    /// For people: the path relative to the corpus.
    pub name: String,
    pub program: PathBuf,
    pub kind: Kind,
}

/// Takes out the cases whose program is a link that leads nowhere, and names them: some of p4c's samples are links to what a backend keeps,
/// which a checkout need not have.
pub fn without_dead_links(jobs: Vec<Job>) -> (Vec<Job>, BTreeSet<String>) {
    let (dead, alive): (Vec<Job>, Vec<Job>) =
        jobs.into_iter().partition(|job| job.program.is_symlink() && !job.program.exists());
    (alive, dead.into_iter().map(|job| job.name).collect())
}

/// The first case, and each so many behind it.
pub fn sample(jobs: Vec<Job>, every: u64) -> Vec<Job> {
    jobs.into_iter().step_by(every as usize).collect()
}

#[derive(Clone, PartialEq, Eq)]
pub enum Kind {
    Accept,
    Reject,
    /// Formatting keeps what the program means, and is stable.
    Format,
    /// Runs these STF files on an engine.
    Packets {
        source: Source,
        engine: Engine,
        files: Vec<PathBuf>,
    },
    /// P4Info must equal this text.
    P4Info(PathBuf),
    /// BMv2's JSON of the program does what the program does.
    Json(Json),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Stf,
    /// STF of an architecture that is none of v1model, PSA and PNA.
    Other,
    Vectors,
    /// STF on BMv2's JSON.
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Interp,
    Native,
}

impl Engine {
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Interp => "interp",
            Engine::Native => "native",
        }
    }
}

impl Kind {
    /// The line of the summary that counts this case.
    pub fn group(&self) -> String {
        match self {
            Kind::Accept => "accept".to_string(),
            Kind::Reject => "reject".to_string(),
            Kind::Format => "format".to_string(),
            Kind::P4Info(_) => "p4info".to_string(),
            Kind::Json(_) => "json".to_string(),
            Kind::Packets { source: Source::Json, engine, .. } => format!("json stf {}", engine.name()),
            Kind::Packets { source: Source::Other, .. } => "stf other".to_string(),
            Kind::Packets { source: Source::Stf, engine, .. } => format!("stf {}", engine.name()),
            Kind::Packets { source: Source::Vectors, engine, .. } => format!("vectors {}", engine.name()),
        }
    }
}

impl Corpus {
    pub fn open(p4c: &Path, externs: Option<PathBuf>) -> Result<Corpus, String> {
        let plans = super::run::plans(false);
        let (include, testdata) = (p4c.join("p4include"), p4c.join("testdata"));
        let corpus = Corpus { include, testdata, externs, plans, sanitize: false };
        for needed in [&corpus.include, &corpus.testdata] {
            if !needed.is_dir() {
                return Err(format!("{}: not found; --p4c names a checkout of p4c", needed.display()));
            }
        }
        Ok(corpus)
    }

    /// The code of a program's externs, if there is some: what p4c's corpus has in `extern_modules` for BMv2.
    pub fn extern_code(&self, test: &Path) -> Option<PathBuf> {
        let file = self.externs.as_ref()?.join(test.file_stem()?).with_extension("c");
        file.is_file().then_some(file)
    }

    /// Every program of `p4_16_samples`, and P4Info where the corpus has it.
    pub fn accept(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        let samples = self.testdata.join("p4_16_samples");
        for program in files_below(&samples, "p4") {
            let inside = program.strip_prefix(&samples).expect("it was found there").to_path_buf();
            if inside.components().any(|part| part.as_os_str() == "include") {
                continue;
            }
            let name = self.name(&program);
            let info = self.testdata.join("p4_16_samples_outputs").join(format!("{}.p4info.txtpb", inside.display()));
            if info.exists() {
                jobs.push(Job { name: name.clone(), program: program.clone(), kind: Kind::P4Info(info) });
            }
            jobs.push(Job { name, program, kind: Kind::Accept });
        }
        jobs
    }

    /// Every file of `p4_16_samples`.
    pub fn format(&self) -> Vec<Job> {
        let files = files_below(&self.testdata.join("p4_16_samples"), "p4").into_iter();
        files.map(|program| Job { name: self.name(&program), program, kind: Kind::Format }).collect()
    }

    pub fn reject(&self, list: &Path) -> Result<Vec<Job>, String> {
        let programs = lines(list)?;
        Ok(programs
            .into_iter()
            .map(|name| Job { program: self.testdata.join(&name), name, kind: Kind::Reject })
            .collect())
    }

    /// STF files of `list` on both engines, each beside its program; with `forms` also on the forms that p4c printed.
    pub fn stf(&self, list: &Path, forms: bool) -> Result<Vec<Job>, String> {
        let mut jobs = Vec::new();
        for name in lines(list)? {
            let file = self.testdata.join(&name);
            let program = file.with_extension("p4");
            let mut programs = vec![program.clone()];
            if forms {
                programs.extend(printed_forms(&program));
            }
            for program in programs {
                self.push_packets(&mut jobs, Source::Stf, &program, std::slice::from_ref(&file));
            }
        }
        Ok(jobs)
    }

    /// Generated tests. Below `smith` and `tables` a program is beside its tests; elsewhere a folder is named after one of the corpus.
    pub fn vectors(&self, directory: &Path) -> Result<Vec<Job>, String> {
        let mut folders: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for file in files_below(directory, "stf") {
            folders.entry(file.parent().expect("a file has a folder").to_path_buf()).or_default().push(file);
        }
        if folders.is_empty() {
            return Err(format!("{}: no vectors found", directory.display()));
        }
        let mut jobs = Vec::new();
        for (folder, files) in folders {
            let name = folder.file_name().expect("a folder has a name").to_string_lossy().into_owned();
            let beside = folder.join(format!("{name}.p4"));
            let program =
                if beside.exists() { beside } else { self.testdata.join("p4_16_samples").join(format!("{name}.p4")) };
            self.push_packets(&mut jobs, Source::Vectors, &program, &files);
        }
        Ok(jobs)
    }

    fn push_packets(&self, jobs: &mut Vec<Job>, source: Source, program: &Path, files: &[PathBuf]) {
        let source = if is_of_other(program) { Source::Other } else { source };
        for engine in [Engine::Interp, Engine::Native] {
            if source == Source::Other && engine == Engine::Native {
                continue;
            }
            let name = files.first().map_or_else(|| self.name(program), |file| self.name(file));
            let kind = Kind::Packets { source, engine, files: files.to_vec() };
            jobs.push(Job { name, program: program.to_path_buf(), kind });
        }
    }

    /// A program by its path in the corpus.
    pub fn program(&self, inside: &Path) -> PathBuf {
        self.testdata.join(inside)
    }

    /// An STF file on the JSON of its program.
    pub fn push_json_packets(&self, jobs: &mut Vec<Job>, json: &Path, stf: &Path) {
        for engine in [Engine::Interp, Engine::Native] {
            let kind = Kind::Packets { source: Source::Json, engine, files: vec![stf.to_path_buf()] };
            jobs.push(Job { name: self.name(stf), program: json.to_path_buf(), kind });
        }
    }

    /// The path as people know it.
    pub fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.testdata).unwrap_or(path).display().to_string()
    }
}

/// Whether a program is for none of the architectures that run: one of the eBPF family, or one with a package of its own.
fn is_of_other(program: &Path) -> bool {
    let text = fs::read_to_string(program).unwrap_or_default();
    !["v1model.p4", "psa.p4", "pna.p4"].iter().any(|architecture| text.contains(architecture))
}

fn printed_forms(program: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(stem)) = (program.parent(), program.file_stem()) else { return Vec::new() };
    let outputs = PathBuf::from(format!("{}_outputs", folder.display()));
    ["-first", "-frontend", "-midend"]
        .iter()
        .map(|form| outputs.join(format!("{}{form}.p4", stem.to_string_lossy())))
        .filter(|file| file.exists())
        .collect()
}

/// The names in a list: the first word of each line that is not a comment.
fn lines(list: &Path) -> Result<Vec<String>, String> {
    let text = fs::read_to_string(list).map_err(|error| format!("{}: {error}", list.display()))?;
    let words = text.lines().filter_map(|line| line.split_whitespace().next());
    Ok(words.filter(|word| !word.starts_with('#')).map(str::to_string).collect())
}

/// The lines of a list of exempt cases: `PATH REASON`, or `PATH GROUP: REASON`.
pub fn exempt(file: &Path) -> Result<Vec<Exempt>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut exempt = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
    {
        let Some((path, reason)) = line.split_once(' ') else {
            return Err(format!("{}:{}: expected `PATH REASON`", file.display(), number + 1));
        };
        exempt.push(Exempt::new(path, reason.trim()));
    }
    Ok(exempt)
}

pub fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_sample_is_the_first_case_and_each_so_many_behind_it() {
        let sampled = |count: usize, every: u64| -> Vec<usize> {
            let job = |number: usize| Job { name: number.to_string(), program: PathBuf::new(), kind: Kind::Accept };
            let jobs = sample((0..count).map(job).collect(), every);
            jobs.iter().map(|job| job.name.parse().expect("the name is a number")).collect()
        };
        assert_eq!(sampled(5, 1), [0, 1, 2, 3, 4]);
        assert_eq!(sampled(7, 3), [0, 3, 6]);
        assert_eq!(sampled(6, 3), [0, 3]);
        assert_eq!(sampled(2, 100), [0]);
        assert_eq!(sampled(0, 2), [0; 0]);
    }

    #[test]
    fn a_program_that_is_a_link_to_nothing_is_no_case() {
        let folder = std::env::temp_dir().join(format!("bacus-dead-links-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a directory can be made");
        fs::write(folder.join("here.p4"), "").expect("a file can be written");
        symlink("here.p4", folder.join("alive.p4")).expect("a link can be made");
        symlink("backends/elsewhere.p4", folder.join("dead.p4")).expect("a link can be made");
        // A program that does not exist is named in a list: that is a failure, and must be reported.
        let names = ["here.p4", "alive.p4", "dead.p4", "misspelt.p4"];
        let job = |name: &str| Job { name: name.to_string(), program: folder.join(name), kind: Kind::Accept };
        let (jobs, absent) = without_dead_links(names.map(job).into());
        assert_eq!(
            jobs.iter().map(|job| job.name.as_str()).collect::<Vec<&str>>(),
            ["here.p4", "alive.p4", "misspelt.p4"]
        );
        assert_eq!(absent.into_iter().collect::<Vec<String>>(), ["dead.p4"]);
        fs::remove_dir_all(folder).expect("it was made above");
    }
}
