//! `oracle`: runs an STF file on the evaluator alone, or random programs on the evaluator and on the compiler.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use oracle::architecture::Architectures;
use oracle::drive::{Limit, Settings, Summary, drive};
use oracle::generate::generate;
use oracle::preprocess::preprocess;
use oracle::stf::{self, Verdict};

const USAGE: &str = "\
oracle FILE.p4 FILE.stf...     run tests on the evaluator alone
oracle random [OPTION...]      compare the evaluator and the compiler on random programs
  --seed N         the first program [1]; the others follow
  --programs N     how many
  --seconds N      how long [600]
  --threads N      at once [2]
  --out DIR        where programs that differ go, reduced [out/oracle]; `-` for nowhere
  --native BACUS   the command bacus: run some programs as native code, too
  --every N        one in N of them [50]
oracle show SEED               the program and the test of a seed";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [program, tests @ ..] if program.ends_with(".p4") && !tests.is_empty() => run_files(Path::new(program), tests),
        [command, options @ ..] if command == "random" => match settings(options) {
            Some(settings) => random(&settings),
            None => usage(),
        },
        [command, seed] if command == "show" => match seed.parse() {
            Ok(seed) => show(seed),
            Err(_) => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn settings(options: &[String]) -> Option<Settings> {
    let mut settings = Settings {
        seed: 1,
        limit: Limit::Time(Duration::from_secs(600)),
        threads: 2,
        out: Some(PathBuf::from("out/oracle")),
        native: None,
    };
    let mut every = 50;
    let mut bacus = None;
    for pair in options.chunks(2) {
        let [name, value] = pair else { return None };
        match name.as_str() {
            "--seed" => settings.seed = value.parse().ok()?,
            "--programs" => settings.limit = Limit::Programs(value.parse().ok()?),
            "--seconds" => settings.limit = Limit::Time(Duration::from_secs(value.parse().ok()?)),
            "--threads" => settings.threads = value.parse().ok()?,
            "--out" if value == "-" => settings.out = None,
            "--out" => settings.out = Some(PathBuf::from(value)),
            "--native" => bacus = Some(PathBuf::from(value)),
            "--every" => every = value.parse().ok()?,
            _ => return None,
        }
    }
    settings.native = bacus.map(|bacus| (bacus, every));
    Some(settings)
}

fn random(settings: &Settings) -> ExitCode {
    let architectures = match Architectures::read() {
        Ok(architectures) => architectures,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(3);
        }
    };
    // A panic is a difference, and reported as one.
    std::panic::set_hook(Box::new(|_| {}));
    let Summary { programs, packets, undefined, native, compared, failures } =
        drive(&architectures, settings, &|line| println!("{line}"));
    println!(
        "{programs} programs from seed {}: {packets} packets as expected, {native} programs as native code, too; {} left out, {} differ",
        settings.seed,
        undefined.len(),
        failures.len()
    );
    println!(
        "{} schedules of hot paths: {} packets committed, {} were dropped in bulk, {} took another exit, all as expected",
        compared.schedules, compared.commits, compared.drops, compared.others
    );
    for (does, times) in &compared.obstacles {
        println!("  {times} paths have none: {does}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn show(seed: u64) -> ExitCode {
    let case = generate(seed);
    println!("{}\n/*\n{}\n*/", case.architecture.standalone(&case.program), case.lines.join("\n"));
    ExitCode::SUCCESS
}

fn run_files(program: &Path, tests: &[String]) -> ExitCode {
    let include = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let text = match preprocess(program, &[&include]) {
        Ok(text) => text,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let mut code = ExitCode::SUCCESS;
    for test in tests {
        let verdict = match std::fs::read_to_string(test) {
            Ok(test) => stf::run_text(&program.display().to_string(), &text, &test),
            Err(error) => Verdict::Failed(vec![error.to_string()]),
        };
        match verdict {
            Verdict::Passed => println!("{test}: passed"),
            Verdict::Skipped(why) => println!("{test}: skipped: {why}"),
            Verdict::Failed(failures) => {
                println!("{test}: failed: {}", failures.join("\n  "));
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
