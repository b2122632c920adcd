//! Runs one case: a process with a time limit, and the meaning of its exit code and lines.

use super::cases::{Corpus, Engine, Job, Kind};
use super::message::difference;
use super::report::{Outcome, Result};
use control::format::Kind as MessageKind;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// P4 to C.
pub(super) const CHECK_LIMIT: Duration = Duration::from_secs(10);
const COMPILER_LIMIT: Duration = Duration::from_secs(60);
/// With the sanitizers' checks in it, there is several times the code to compile.
const SANITIZED_COMPILER_LIMIT: Duration = Duration::from_secs(300);
pub(super) const STF_LIMIT: Duration = Duration::from_secs(30);

/// How a process ended, and all that it printed.
pub(super) struct Ended {
    pub status: Option<ExitStatus>,
    pub text: String,
}

impl Ended {
    /// Why this is no orderly end: a time limit, a signal, a panic, a report of a sanitizer.
    pub fn crash(&self) -> Option<String> {
        let Some(status) = self.status else { return Some("time limit exceeded".to_string()) };
        if status.code().is_none() {
            return Some(format!("ended by {status}"));
        }
        let is_report = |line: &&str| {
            ["panicked at", "ERROR: AddressSanitizer", "runtime error: "].iter().any(|mark| line.contains(mark))
        };
        self.text.lines().find(is_report).map(|line| format!("internal error: {line}"))
    }

    pub fn first_line(&self) -> String {
        let line = self.text.lines().find(|line| line.contains("error")).or_else(|| self.text.lines().next());
        line.unwrap_or("no message").to_string()
    }
}

pub fn run(bacus: &Path, corpus: &Corpus, job: &Job) -> Vec<Result> {
    let result = |group: &str, outcome| Result { group: group.to_string(), name: job.name.clone(), outcome };
    match &job.kind {
        Kind::Accept => {
            let ended = check(bacus, corpus, &job.program);
            vec![result("accept", accepted(&ended))]
        }
        Kind::Reject => {
            let ended = check(bacus, corpus, &job.program);
            vec![result("reject", rejected(&ended)), result("located", located(&ended, &job.program))]
        }
        Kind::Format => vec![result("format", super::format::run(bacus, corpus, &job.program))],
        Kind::P4Info(expected) => vec![result("p4info", p4info(bacus, corpus, &job.program, expected))],
        Kind::Json(json) => super::json::run(bacus, corpus, job, json),
        Kind::Packets { engine, files, .. } => packets(bacus, corpus, job, *engine, files),
    }
}

fn check(bacus: &Path, corpus: &Corpus, program: &Path) -> Ended {
    let mut command = Command::new(bacus);
    command.arg("check").arg("-I").arg(&corpus.include).arg(program);
    wait(command, CHECK_LIMIT)
}

fn accepted(ended: &Ended) -> Outcome {
    match (ended.crash(), ended.status.and_then(|status| status.code())) {
        (Some(crash), _) => Outcome::Failed(crash),
        (None, Some(0)) => Outcome::Passed,
        (None, _) => Outcome::Failed(ended.first_line()),
    }
}

fn rejected(ended: &Ended) -> Outcome {
    match (ended.crash(), ended.status.and_then(|status| status.code())) {
        (Some(crash), _) => Outcome::Failed(crash),
        (None, Some(1)) => Outcome::Passed,
        (None, _) => Outcome::Failed("accepted".to_string()),
    }
}

/// The first error names the program and a line: `NAME.p4(12): … error: …`.
fn located(ended: &Ended, program: &Path) -> Outcome {
    let file = program.file_name().expect("a program has a name").to_string_lossy().into_owned();
    let first = ended.text.lines().find(|line| line.contains("error:"));
    let is_located = |line: &str| {
        let rest = line.split_once(&format!("{file}(")).map(|(_, rest)| rest);
        rest.and_then(|rest| rest.split_once(')')).is_some_and(|(number, _)| number.parse::<u32>().is_ok())
    };
    match first {
        Some(line) if is_located(line) => Outcome::Passed,
        Some(line) => Outcome::Failed(format!("no place in the program: {line}")),
        None => Outcome::Failed("no error message".to_string()),
    }
}

/// P4Info and entries must equal p4c's files, field by field.
fn p4info(bacus: &Path, corpus: &Corpus, program: &Path, expected: &Path) -> Outcome {
    let (info, entries) = (scratch("p4info").with_extension("txtpb"), scratch("entries").with_extension("txtpb"));
    let mut command = Command::new(bacus);
    command.arg("compile").arg("-I").arg(&corpus.include).arg(program);
    command.arg("--p4runtime-files").arg(&info).arg("--p4runtime-entries-files").arg(&entries);
    let ended = wait(command, CHECK_LIMIT);
    let actual = [&info, &entries].map(|path| {
        let text = fs::read_to_string(path);
        let _ = fs::remove_file(path);
        text
    });
    if let Some(crash) = ended.crash() {
        return Outcome::Failed(crash);
    }
    let name = expected.to_string_lossy().replace(".p4info.txtpb", ".entries.txtpb");
    let expected = [fs::read_to_string(expected), fs::read_to_string(name)];
    for ((kind, actual), expected) in
        [MessageKind::P4Info, MessageKind::WriteRequest].into_iter().zip(actual).zip(expected)
    {
        let Ok(actual) = actual else { return Outcome::Failed(ended.first_line()) };
        match difference(kind, &actual, &expected.unwrap_or_default()) {
            Ok(None) => {}
            Ok(Some(difference)) | Err(difference) => return Outcome::Failed(difference),
        }
    }
    Outcome::Passed
}

/// How native code is planned.
pub struct Plan {
    /// After the burst, in the report of a failure.
    pub name: &'static str,
    pub arguments: &'static [&'static str],
}

const ONE_PLAN: [Plan; 1] = [Plan { name: "", arguments: &[] }];

/// What the optimizer plans for this machine; nothing; and a stage for every lookup that can have one.
pub const ALL_PLANS: [Plan; 3] = [
    Plan { name: "", arguments: &[] },
    Plan { name: ", plain", arguments: &["--passes", ""] },
    Plan {
        name: ", in stages",
        arguments: &["--machine", concat!(env!("CARGO_MANIFEST_DIR"), "/machines/slow-memory.toml")],
    },
];

/// One plan or all of them.
pub fn plans(all: bool) -> &'static [Plan] {
    if all { &ALL_PLANS } else { &ONE_PLAN }
}

/// A file passes if it does at every burst, and under every plan. `bacus stf` prints `PATH: passed` or `PATH: failed: REASON`.
fn packets(bacus: &Path, corpus: &Corpus, job: &Job, engine: Engine, files: &[PathBuf]) -> Vec<Result> {
    let mut outcomes: Vec<Outcome> = vec![Outcome::Passed; files.len()];
    let (plans, sanitize) = match engine {
        Engine::Native => (corpus.plans, corpus.sanitize),
        Engine::Interp => (&ONE_PLAN[..], false),
    };
    let compiler_limit = if sanitize { SANITIZED_COMPILER_LIMIT } else { COMPILER_LIMIT };
    for (plan, burst) in plans.iter().flat_map(|plan| ["1", "64"].map(|burst| (plan, burst))) {
        let mut command = Command::new(bacus);
        command.arg("stf").arg("-I").arg(&corpus.include).arg(&job.program).args(files);
        command.args(["--engine", engine.name(), "--burst", burst]).args(plan.arguments);
        if sanitize {
            command.arg("--sanitize");
        }
        for code in files.iter().filter_map(|file| corpus.extern_code(file)) {
            command.arg("--extern").arg(code);
        }
        let ended = wait(command, CHECK_LIMIT + compiler_limit + STF_LIMIT * files.len() as u32);
        for (file, outcome) in files.iter().zip(&mut outcomes).filter(|(_, outcome)| **outcome == Outcome::Passed) {
            *outcome = file_outcome(&ended, file, &format!("burst {burst}{}", plan.name));
        }
    }
    let result = |(file, outcome): (&PathBuf, Outcome)| {
        let form = job.program.file_stem().filter(|stem| file.file_stem() != Some(stem));
        let name = match form {
            // One word, as a list of exempt cases has it.
            Some(form) => format!("{}:{}", corpus.name(file), form.to_string_lossy()),
            None => corpus.name(file),
        };
        Result { group: job.kind.group(), name, outcome }
    };
    files.iter().zip(outcomes).map(result).collect()
}

pub(super) fn file_outcome(ended: &Ended, file: &Path, setting: &str) -> Outcome {
    if let Some(crash) = ended.crash() {
        return Outcome::Failed(format!("{setting}: {crash}"));
    }
    let path = file.display().to_string();
    // Notes and what a file prints precede its verdict.
    let verdict = |line: &'_ str| -> Option<Outcome> {
        match line.strip_prefix(&path)?.strip_prefix(": ")? {
            "passed" => Some(Outcome::Passed),
            line => line.strip_prefix("failed: ").map(|reason| Outcome::Failed(format!("{setting}: {reason}"))),
        }
    };
    match ended.text.lines().find_map(verdict) {
        Some(outcome) => outcome,
        None => Outcome::Failed(format!("{setting}: {}", ended.first_line())),
    }
}

/// Runs a command to its end or its limit, output in a file so that a full pipe cannot stop it.
pub(super) fn wait(mut command: Command, limit: Duration) -> Ended {
    let path = scratch("output");
    let output = File::create(&path).expect("the temporary directory can be written");
    let errors = output.try_clone().expect("a file handle can be copied");
    command.stdin(Stdio::null()).stdout(output).stderr(errors).env("NO_COLOR", "1");
    let status = match command.spawn() {
        Ok(mut child) => {
            let start = Instant::now();
            loop {
                match child.try_wait() {
                    Ok(Some(status)) => break Some(status),
                    Ok(None) if start.elapsed() < limit => std::thread::sleep(Duration::from_millis(3)),
                    Ok(None) | Err(_) => {
                        let _ = child.kill();
                        let _ = child.wait();
                        break None;
                    }
                }
            }
        }
        Err(error) => panic!("{}: {error}; build it first with `make build`", command.get_program().to_string_lossy()),
    };
    let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
    let _ = fs::remove_file(&path);
    Ended { status, text }
}

/// A path in the temporary directory that no other case uses.
pub(super) fn scratch(purpose: &str) -> PathBuf {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("bacus-conformance-{}-{number}-{purpose}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::super::cases::Source;
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// In the place of the command: all tests pass, unless native code watches itself, which then reports something.
    const REPORTING: &str = "#!/bin/sh\nfor file; do case \"$file\" in *.stf) echo \"$file: passed\";; esac; done\n\
        case \"$*\" in *--sanitize*) echo '==7==ERROR: AddressSanitizer: heap-buffer-overflow'; exit 1;; esac\n";

    #[test]
    fn native_code_watches_itself_where_that_is_asked_for() {
        let directory = scratch("sanitized");
        for needed in ["p4include", "testdata"] {
            fs::create_dir_all(directory.join(needed)).expect("a directory can be made");
        }
        let bacus = directory.join("bacus");
        fs::write(&bacus, REPORTING).expect("a file can be written");
        fs::set_permissions(&bacus, fs::Permissions::from_mode(0o755)).expect("it can be made a command");
        let mut corpus = Corpus::open(&directory, None).expect("there is a corpus");
        let mut outcomes = Vec::new();
        for (sanitize, engine) in [(false, Engine::Native), (true, Engine::Native), (true, Engine::Interp)] {
            corpus.sanitize = sanitize;
            let kind = Kind::Packets { source: Source::Stf, engine, files: vec![directory.join("a.stf")] };
            let job = Job { name: "a".to_string(), program: directory.join("a.p4"), kind };
            outcomes.extend(run(&bacus, &corpus, &job).into_iter().map(|result| result.outcome));
        }
        let reported = "burst 1: internal error: ==7==ERROR: AddressSanitizer: heap-buffer-overflow";
        assert_eq!(outcomes, [Outcome::Passed, Outcome::Failed(reported.to_string()), Outcome::Passed]);
        fs::remove_dir_all(directory).expect("it was made above");
    }
}
