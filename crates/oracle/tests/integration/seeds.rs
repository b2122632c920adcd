//! A thousand random programs mean the same to the evaluator and to the compiler; the evaluator itself passes the tests of the language.

use std::fs;
use std::path::{Path, PathBuf};

use oracle::architecture::Architectures;
use oracle::compare::{Difference, Kind, Outcome};
use oracle::drive::{Limit, Settings, drive};
use oracle::preprocess::preprocess;
use oracle::reduce::{Reduced, reduce};
use oracle::scheduled::Compared;
use oracle::stf::{Verdict, run_text};

/// Tests of limits that docs/language.md sets, and the evaluator does not have.
const LIMITS: [&str; 1] = ["loops_may_apply_tables.stf"];

fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[test]
fn a_thousand_random_programs_mean_the_same_twice() {
    let settings = Settings { seed: 1, limit: Limit::Programs(1000), threads: 2, out: None, native: None };
    let architectures = Architectures::read().expect("the preprocessor reads the architectures");
    let summary = drive(&architectures, &settings, &|_| {});
    // A fourth of the seeds have a router, too, and most schedules are theirs.
    assert_eq!(summary.programs, 1250);
    let compared = &summary.compared;
    assert!(compared.schedules > 100 && compared.commits > 1000 && compared.drops > 20, "{compared:?}");
    assert!(summary.undefined.len() <= 20, "too many programs use undefined values: {:?}", summary.undefined);
    assert!(summary.packets > 4000, "only {} packets", summary.packets);
    let failures = &summary.failures;
    assert!(failures.is_empty(), "make oracle SEED={} reduces the first of these:\n{failures:#?}", failures[0].0);
}

#[test]
fn the_evaluator_passes_the_tests_of_the_language_and_the_architectures() {
    let directories = [path("../cli/tests/semantics"), path("../cli/tests/architectures")];
    let files = directories.iter().flat_map(|directory| fs::read_dir(directory).expect("the tests are there"));
    let files = files.map(|file| file.expect("a file").path());
    let (mut passed, mut failed) = (0, Vec::new());
    for test in files.filter(|file| file.extension().is_some_and(|ending| ending == "stf")) {
        let program = test.with_extension("p4");
        let text = preprocess(&program, &[&path("../../include")]).expect("the preprocessor reads the program");
        match run_text(&program.display().to_string(), &text, &read(&test)) {
            Verdict::Passed => passed += 1,
            Verdict::Failed(_) if LIMITS.iter().any(|limited| test.ends_with(limited)) => {}
            Verdict::Failed(why) => failed.push(format!("{}: {}", test.display(), why.join("\n  "))),
            // Rates of meters, time, and the like.
            Verdict::Skipped(_) => {}
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(passed >= 25, "only {passed} tests passed");
}

#[test]
fn the_evaluator_knows_the_syntax_tree_alone() {
    for file in fs::read_dir(path("src/evaluate")).expect("the evaluator is there") {
        let file = file.expect("a file").path();
        let text = read(&file);
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            let others = code.replace("p4::ast", "");
            for known in ["p4::", "hlir", "interp"] {
                assert!(!others.contains(known), "{}:{}: `{known}`", file.display(), number + 1);
            }
        }
    }
}

#[test]
fn a_program_is_reduced_to_what_differs() {
    let program = "\
struct s { bit<8> a; bit<16> b; }
bit<8> f(in bit<8> x) {
    bit<8> y = x + 1;
    if (y == 3) {
        y = (y ^ 0x55) + 2;
    } else {
        y = 4;
    }
    return y;
}
bit<8> g() { return 1; }
";
    let architecture = "";
    let difference = Difference { kind: Kind::Packets, message: String::new() };
    let lines: Vec<String> = ["add a", "packet 1", "packet 2"].map(String::from).to_vec();
    let found = Reduced { program: program.into(), lines, difference: difference.clone() };
    // Whatever parses, computes the one thing, and has the second packet.
    let reduced = reduce(architecture, found, std::time::Duration::from_secs(30), &|program, lines| {
        let parses = p4::parse("program.p4", program).diagnostics.is_empty();
        if parses && program.contains("y ^ 0x55") && lines.contains(&"packet 2".to_string()) {
            Outcome::Different(difference.clone())
        } else {
            Outcome::Same { packets: 0, compared: Compared::default() }
        }
    });
    assert_eq!(reduced.lines, ["packet 2"]);
    assert_eq!(reduced.program, "bit<8> f(in bit<8> x) {\n    y = (y ^ 0x55);\n}\n");
}
