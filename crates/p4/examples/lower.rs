//! Lowers preprocessed P4 files given by path, verifies what comes out, and prints the errors: `lower [--print] FILE...`.
//!
//! A file is `bad` if the checker takes it and lowering does not, `wrong` if the result does not pass the verifier or does not survive
//! printing and parsing. It is how lowering is tried on whole corpora.

use std::process::ExitCode;

fn main() -> ExitCode {
    p4::with_deep_stack(run)
}

fn run() -> ExitCode {
    let print = std::env::args().any(|argument| argument == "--print");
    let (mut good, mut unchecked, mut bad, mut wrong) = (0, 0, 0, 0);
    for path in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            println!("{path}: cannot be read");
            continue;
        };
        let parsed = p4::parse(&path, &text);
        let (checked, found) = p4::check::check(&parsed.program);
        if parsed.diagnostics.iter().chain(&found).any(|diagnostic| diagnostic.is_error()) {
            unchecked += 1;
            continue;
        }
        let lowered =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| p4::lower(&checked, &parsed.map, "program")));
        match lowered {
            Err(_) => {
                println!("panic {path}");
                wrong += 1;
            }
            Ok(Err(diagnostics)) => {
                bad += 1;
                for diagnostic in diagnostics.iter().take(3) {
                    println!("bad {path} {}", diagnostic.render(&parsed.map));
                }
            }
            Ok(Ok(program)) => {
                let text = hlir::text::print_program(&program);
                if print {
                    println!("{text}");
                }
                let mut mistakes = hlir::verify::verify(&program);
                match hlir::text::parse_program(&text) {
                    Ok(again) if again == program => {}
                    Ok(_) => mistakes.push(hlir::diagnostic::Diagnostic::error("parses back to another program")),
                    Err(found) => mistakes.extend(found),
                }
                if mistakes.is_empty() {
                    good += 1;
                } else {
                    wrong += 1;
                    for mistake in mistakes.iter().take(2) {
                        println!("wrong {path} {}", mistake.message());
                    }
                }
            }
        }
    }
    println!("{good} good, {unchecked} not checked, {bad} bad, {wrong} wrong");
    if bad + wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
