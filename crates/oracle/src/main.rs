//! `oracle`: runs an STF file on the evaluator alone, or random programs on the evaluator and the compiler.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use oracle::compare::{Outcome, judge};
use oracle::generate::generate;
use oracle::preprocess::{architecture, joined, preprocess, standalone};
use oracle::stf::{self, Verdict};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [program, tests @ ..] if program.ends_with(".p4") && !tests.is_empty() => run_files(Path::new(program), tests),
        [command, seed] if command == "show" => show(seed.parse().unwrap_or(0)),
        [command, seed, count] if command == "random" => {
            random(seed.parse().unwrap_or(0), count.parse().unwrap_or(0))
        }
        _ => {
            eprintln!("usage: oracle FILE.p4 FILE.stf...");
            ExitCode::from(2)
        }
    }
}
fn show(seed: u64) -> ExitCode {
    let case = generate(seed);
    println!("{}", standalone(&case.program));
    eprintln!("{}", case.lines.join("\n"));
    ExitCode::SUCCESS
}
fn random(seed: u64, count: u64) -> ExitCode {
    let prefix = architecture().expect("x");
    std::panic::set_hook(Box::new(|_| {}));
    let next = AtomicU64::new(seed);
    let counts: Mutex<BTreeMap<String, Vec<u64>>> = Mutex::new(BTreeMap::new());
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed_now = next.fetch_add(1, Ordering::Relaxed);
                    if seed_now >= seed + count {
                        break;
                    }
                    let case = generate(seed_now);
                    let outcome = judge(&joined(&prefix, &case.program), &case.lines);
                    let name = match &outcome {
                        Outcome::Same { .. } => "same".to_string(),
                        Outcome::Undefined(why) => format!("undefined {why}"),
                        Outcome::Different(difference) => {
                            let first: String = difference.message.lines().next().unwrap_or("").chars().take(140).collect();
                            let first = first.split_once(") ").map_or(first.clone(), |(_, rest)| rest.to_string());
                            format!("{}: {}", difference.kind.name(), if difference.kind.name() == "other packets" { "" } else { &first })
                        }
                    };
                    counts.lock().expect("x").entry(name).or_default().push(seed_now);
                }
            });
        }
    });
    for (name, seeds) in counts.lock().expect("x").iter() {
        println!("{:5} {name} {:?}", seeds.len(), &seeds[..seeds.len().min(6)]);
    }
    println!("{:?}", start.elapsed());
    let _ = Duration::ZERO;
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
    p4::with_deep_stack(|| {
        let parsed = p4::parse(&program.display().to_string(), &text);
        let mut code = ExitCode::SUCCESS;
        for test in tests {
            let verdict = match std::fs::read_to_string(test) {
                Ok(text) => stf::run(&parsed.program, &text),
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
    })
}
