//! `bacus fmt`: programs are formatted, stay as they are formatted, and mean what they meant.

use crate::command::{bacus, path, ran, said, scratch};
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

/// A program that no editor has touched, and what becomes of it.
const RAGGED: &str = "#include <core.p4>\n\n\n#define ADD( a,b )   a+b \\\n    + 1\nheader h_t{bit<8> a;bit<8>b;}\r\n\
    /*\n   * Aligned.\n   */\n@id( 1 )  @brief(\"a  b\")\ncontrol c( inout h_t h , in bit<8>x ){\n// of the action\n  action set(bit<8>v){h.a=v;h.b=ADD(1 ,2);}\n\
  #ifdef BIG\n  table t{key={h.a:exact;}\n actions={set;} size=1<<20;\n#else\n  table t {key={h.a:exact;}\n actions={set;}size=16 ;\n#endif\n}\n\
apply{if(x>1&&h.a!=-x){t.apply();}else{\nh.b=h.a[7:0]>>1;   // halve\n\n\n}}\n}\n\n\n";

const FORMATTED: &str = "#include <core.p4>\n\n#define ADD( a,b )   a+b \\\n    + 1\nheader h_t { bit<8> a; bit<8> b; }\n\
    /*\n * Aligned.\n */\n@id( 1 ) @brief(\"a  b\")\ncontrol c(inout h_t h, in bit<8> x) {\n    // of the action\n    \
    action set(bit<8> v) { h.a = v; h.b = ADD(1 ,2); }\n#ifdef BIG\n    table t {\n        key = { h.a: exact; }\n        actions = { set; }\n        \
    size = 1 << 20;\n#else\n    table t {\n        key = { h.a: exact; }\n        actions = { set; }\n        size = 16;\n#endif\n    }\n    \
    apply {\n        if (x > 1 && h.a != -x) { t.apply(); } else {\n            h.b = h.a[7:0] >> 1;   // halve\n        }\n    }\n}\n";

fn formatted(text: &str) -> String {
    let mut command = bacus();
    command.args(["fmt", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    said(&child.wait_with_output().unwrap())
}

#[test]
fn a_ragged_program_is_formatted_with_its_comments_directives_and_macros() {
    assert_eq!(formatted(RAGGED), FORMATTED);
    assert_eq!(formatted(FORMATTED), FORMATTED);
}

/// Lines break by the text, so an edit of a file that is half written formats what is there.
#[test]
fn half_a_file_is_formatted_and_an_endless_comment_is_a_mistake() {
    assert_eq!(
        formatted("control c(inout h_t h) {\napply {\nif (h.a =="),
        "control c(inout h_t h) {\n    apply {\n        if (h.a ==\n"
    );
    assert_eq!(formatted("}}}\n)(\n"), "}}}\n)(\n");
    assert_eq!(formatted(""), "");
    let mistake = formatted("header h_t { }\n/* never\n");
    assert!(
        mistake.contains("standard input(2)") && mistake.contains("a comment that begins here never ends"),
        "{mistake}"
    );
}

/// HLIR without the places of its source, which move.
fn shown(program: &str) -> Vec<String> {
    let (code, text) = ran(&["show", "--Wdisable", program]);
    assert_eq!(code, Some(0), "{text}");
    let number =
        |word: &str| word.trim_end_matches(|last: char| last.is_ascii_digit()).trim_end_matches('_').to_string();
    let is_place = |word: &&str| {
        word.contains(':') && word.starts_with(|first: char| first.is_ascii_alphanumeric()) && word.contains('-')
    };
    let words = text.lines().filter(|line| !line.starts_with("source ")).flat_map(str::split_whitespace);
    words
        .filter(|word| !is_place(word))
        .map(|word| number(word.trim_end_matches(',')))
        .filter(|word| !word.is_empty())
        .collect()
}

#[test]
fn applications_mean_the_same_when_they_are_formatted() {
    let copy = scratch("fmt");
    let mut programs = 0;
    for folder in fs::read_dir(path("apps")).unwrap().map(|entry| entry.unwrap().path()) {
        let to = copy.join(folder.file_name().unwrap());
        fs::create_dir_all(&to).unwrap();
        for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    }
    let copies = copy.display().to_string();
    let (code, names) = ran(&["fmt", "--check", &copies]);
    assert!(code == Some(1) && names.contains("router.p4"), "{names}");
    assert_eq!(ran(&["fmt", &copies]), (Some(0), String::new()));
    assert_eq!(ran(&["fmt", "--check", &copies]), (Some(0), String::new()));
    for folder in fs::read_dir(&copy).unwrap().map(|entry| entry.unwrap().path()) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let inside = format!("{name}/{name}.p4");
        let original = path("apps").join(&inside).display().to_string();
        assert_eq!(shown(&copy.join(&inside).display().to_string()), shown(&original), "{name}");
        programs += 1;
    }
    assert!(programs >= 17);
    fs::remove_dir_all(copy).unwrap();
}

#[test]
fn files_that_cannot_be_formatted_stay_and_the_others_are_formatted() {
    let folder = scratch("fmt-mistakes");
    let [good, latin, open] = ["a.p4", "b.p4", "c.p4"].map(|name| folder.join(name));
    fs::write(&good, "struct   s { }\n").unwrap();
    fs::write(&latin, b"// \xe9\nstruct   s { }\n").unwrap();
    fs::write(&open, "struct   s { }\n\"abc\n").unwrap();
    let (code, text) = ran(&["fmt", &folder.display().to_string()]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("b.p4: expected UTF-8") && text.contains("c.p4(2)") && text.contains("never ends"), "{text}");
    assert_eq!(fs::read_to_string(&good).unwrap(), "struct s { }\n");
    assert_eq!(fs::read(&latin).unwrap(), b"// \xe9\nstruct   s { }\n");
    assert_eq!(fs::read_to_string(&open).unwrap(), "struct   s { }\n\"abc\n");
    let (code, text) = ran(&["fmt", &folder.join("missing.p4").display().to_string()]);
    assert!(code == Some(1) && text.contains("missing.p4"), "{text}");
    fs::remove_dir_all(folder).unwrap();
}
