//! The programs of this folder read back as printed, and are correct.

use hlir::source::SourceMap;
use hlir::text::{parse_file, print_file};
use std::path::PathBuf;

fn texts() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let files = std::fs::read_dir(folder).expect("the folder of programs exists");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("the folder can be read").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("the program can be read");
        (path.display().to_string(), text)
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn programs_print_and_read_back() {
    for (path, text) in texts() {
        let parsed = parse_file(&text).unwrap_or_else(|errors| {
            let map = SourceMap::new(&path, &text);
            panic!("{}", errors.iter().map(|error| error.render(&map)).collect::<String>());
        });
        let printed = print_file(&parsed.program, parsed.plan.as_ref());
        let again = parse_file(&printed).unwrap_or_else(|errors| panic!("{path}: {errors:?}\n{printed}"));
        assert_eq!(again.program, parsed.program, "{path}:\n{printed}");
        assert_eq!(again.plan, parsed.plan, "{path}:\n{printed}");
        assert_eq!(print_file(&again.program, again.plan.as_ref()), printed, "{path}");
        let map = SourceMap::new(&path, &text);
        let mistakes: String = parsed.verify().iter().map(|error| error.render(&map)).collect();
        assert!(mistakes.is_empty(), "{mistakes}");
    }
}

/// Except for comments, the files are as printed.
#[test]
fn programs_are_written_as_they_print() {
    for (path, text) in texts() {
        let Ok(parsed) = parse_file(&text) else { continue };
        let printed = print_file(&parsed.program, parsed.plan.as_ref());
        let is_comment = |line: &&str| line.trim_start().starts_with("//") && !line.trim_start().starts_with("///");
        let kept: Vec<&str> = text.lines().filter(|line| !is_comment(line)).collect();
        let kept = kept.join("\n");
        for (kept, printed) in kept.trim().lines().zip(printed.lines()) {
            assert_eq!(kept, printed, "{path}");
        }
        assert_eq!(kept.trim().lines().count(), printed.lines().count(), "{path}");
    }
}
