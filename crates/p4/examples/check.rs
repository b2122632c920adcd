//! Checks preprocessed P4 files given by path and prints what is wrong with them: `check [--warnings] FILE...`.
//!
//! The last line counts programs that passed and programs that did not. It is how the checker is tried on whole corpora.

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let warnings = std::env::args().any(|argument| argument == "--warnings");
    let (mut bad, mut count, mut slowest) = (0, 0, (0.0, String::new()));
    for path in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        count += 1;
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                println!("{path}: {error}");
                bad += 1;
                continue;
            }
        };
        let parsed = p4::parse(&path, &text);
        let mut diagnostics = parsed.diagnostics;
        if !diagnostics.iter().any(|diagnostic| diagnostic.is_error()) {
            let start = Instant::now();
            let (_, found) = p4::check::check(&parsed.program);
            let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
            if milliseconds > slowest.0 {
                slowest = (milliseconds, path.clone());
            }
            diagnostics.extend(found);
        }
        if diagnostics.iter().any(|diagnostic| diagnostic.is_error()) {
            println!("== {path}");
            bad += 1;
        } else {
            println!("-- {path}");
        }
        for diagnostic in diagnostics.iter().filter(|diagnostic| warnings || diagnostic.is_error()) {
            print!("{}", diagnostic.render(&parsed.map));
        }
    }
    println!("{} passed, {bad} did not; the slowest check took {:.1} ms: {}", count - bad, slowest.0, slowest.1);
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
