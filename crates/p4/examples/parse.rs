//! Parses preprocessed P4 files given by path and prints what is wrong with them: `parse FILE...`.
//!
//! The last line counts files that parsed and files that did not. It is how the parser is tried on whole corpora.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut bad = 0;
    let mut count = 0;
    for path in std::env::args().skip(1) {
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
        if !parsed.diagnostics.is_empty() {
            println!("== {path}");
            bad += 1;
        }
        for diagnostic in &parsed.diagnostics {
            print!("{}", diagnostic.render(&parsed.map));
        }
    }
    println!("{} parsed, {bad} did not", count - bad);
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
