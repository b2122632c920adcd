//! `oracle`: runs an STF file on the evaluator alone, or random programs on the evaluator and the compiler.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use oracle::preprocess::preprocess;
use oracle::stf::{self, Verdict};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [program, tests @ ..] if program.ends_with(".p4") && !tests.is_empty() => run_files(Path::new(program), tests),
        _ => {
            eprintln!("usage: oracle FILE.p4 FILE.stf...");
            ExitCode::from(2)
        }
    }
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
