//! Any text as a P4 program: parsed, checked, lowered, verified. Whatever it is, the answer is a program or diagnostics.
//!
//! Lines that include the architectures' files are replaced by those files, as the preprocessor would do; otherwise texts are taken as they are.

#![no_main]

use hlir::diagnostic::Diagnostic;
use libfuzzer_sys::fuzz_target;

const INCLUDES: [(&str, &str); 4] = [
    ("core.p4", include_str!("../../include/core.p4")),
    ("v1model.p4", include_str!("../../include/v1model.p4")),
    ("psa.p4", include_str!("../../include/psa.p4")),
    ("pna.p4", include_str!("../../include/pna.p4")),
];

fuzz_target!(|text: &str| {
    let text = included(text, &mut Vec::new());
    p4::with_deep_stack(|| compile(&text));
});

/// The text with the files that it includes, each once.
fn included<'t>(text: &'t str, seen: &mut Vec<&'static str>) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let word = line.trim().strip_prefix("#include").map(|rest| rest.trim().trim_matches(['<', '>', '"']));
        match word.and_then(|word| INCLUDES.iter().find(|(name, _)| *name == word)) {
            Some((name, file)) if !seen.contains(name) => {
                seen.push(name);
                out.push_str(&included(file, seen));
            }
            Some(_) => {}
            // Directives of the preprocessor are its own business.
            None if line.trim_start().starts_with('#') => {}
            None => out.push_str(line),
        }
    }
    out
}

fn compile(text: &str) {
    let is_error = |diagnostics: &[Diagnostic]| diagnostics.iter().any(Diagnostic::is_error);
    let parsed = p4::parse("fuzz.p4", text);
    parsed.diagnostics.iter().for_each(|diagnostic| drop(diagnostic.render(&parsed.map)));
    if is_error(&parsed.diagnostics) {
        return;
    }
    let (checked, diagnostics) = p4::check::check(&parsed.program);
    diagnostics.iter().for_each(|diagnostic| drop(diagnostic.render(&parsed.map)));
    if is_error(&diagnostics) {
        return;
    }
    drop(p4::check::dpdk_limits(&checked, &parsed.map));
    match p4::lower(&checked, &parsed.map, "fuzz") {
        Ok(program) => {
            let found = hlir::verify::verify(&program);
            assert!(!is_error(&found), "lowering made a program that is wrong: {found:?}");
        }
        Err(diagnostics) => {
            assert!(is_error(&diagnostics), "lowering failed without a word");
            for diagnostic in &diagnostics {
                let text = diagnostic.render(&parsed.map);
                assert!(!text.contains("please report it"), "a mistake of ours: {text}");
            }
        }
    }
}
