//! Any text as HLIR: read, verified, printed, and read again to the same program and plan.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = match hlir::text::parse_file(text) {
        Ok(parsed) => parsed,
        Err(diagnostics) => {
            let map = hlir::source::SourceMap::new("fuzz.hlir", text);
            diagnostics.iter().for_each(|diagnostic| drop(diagnostic.render(&map)));
            return;
        }
    };
    let found = parsed.verify();
    if found.iter().any(hlir::diagnostic::Diagnostic::is_error) {
        return;
    }
    if parsed.has_program {
        let printed = hlir::text::print_program(&parsed.program);
        let again = hlir::text::parse_program(&printed).expect("what is printed can be read");
        assert_eq!(again, parsed.program, "printed:\n{printed}");
    }
    if let Some(plan) = &parsed.plan {
        let printed = hlir::text::print_plan(plan);
        assert_eq!(hlir::text::parse_plan(&printed).as_ref(), Ok(plan), "printed:\n{printed}");
    }
});
