//! What the user asks for and cannot have is refused with the flag or file, what was expected, and the way out: nothing is passed over in silence.

use crate::command::{bacus, path, ran, said, scratch};
use std::fs;

fn refused(arguments: &[&str], code: i32, expected: &[&str]) {
    let (ended, text) = ran(arguments);
    assert_eq!(ended, Some(code), "{arguments:?}: {text}");
    for part in expected {
        assert!(text.contains(part), "{arguments:?} does not name {part}: {text}");
    }
}

#[test]
fn values_of_flags_are_checked() {
    let program = path("apps/l2fwd/l2fwd.p4").display().to_string();
    let run = |flag: &[&str], expected: &[&str]| {
        let arguments = [&["run", program.as_str(), "--port", "0=pcap:,"], flag].concat();
        refused(&arguments, 2, expected);
    };
    for (flag, value) in [("--stats", "0"), ("--duration", "nan"), ("--duration", "0"), ("--stats", "1e300")] {
        run(&[&format!("{flag}={value}")], &[flag, "expected a number of seconds above 0"]);
    }
    run(&["--buffers", "0"], &["--buffers", "1024.."]);
    run(&["--buffer-bytes", "10"], &["--buffer-bytes", "256.."]);
    run(&["--repeat", "0"], &["--repeat", "1.."]);
    run(&["--port", "1=PCAP:a,b"], &["`PCAP:` is no kind of device: write pcap:IN,OUT"]);
    refused(
        &["show", &program, "--passes", "foo"],
        2,
        &["--passes", "there is no pass `foo`", "passes are specialise, constants"],
    );
    refused(&["show", &program, "--without", "foo"], 2, &["--without", "there is no pass `foo`"]);
    refused(
        &["check", &program, "--Wdisable=nosuchkind"],
        2,
        &["--Wdisable", "no warning has this kind", "kinds are unused"],
    );
    refused(&["check", &program, "--Werror=unusd"], 2, &["did you mean `unused`?"]);
    refused(&["check", &program, "-D", ""], 2, &["-D", "expected NAME or NAME=VALUE"]);
    refused(&["check", &program, "-D", "=3"], 2, &["-D", "expected NAME or NAME=VALUE"]);
    refused(&["check", &program, "-U", ""], 2, &["-U", "expected the name of a macro"]);
    refused(&["stf", &program, "--trace", &program, "--count", "0"], 2, &["--count", "1.."]);
    refused(&["stf", &program, "--trace", &program, "--ports", "0"], 2, &["--ports", "1.."]);
    assert!(fs::metadata(&program).unwrap().len() > 1000, "the program is as it was");
}

#[test]
fn files_and_directories_that_flags_name_are_there() {
    let directory = scratch("named-files");
    let none = directory.join("none").display().to_string();
    let (program, packets) =
        (path("apps/l2fwd/l2fwd.p4").display().to_string(), path("apps/l2fwd/l2fwd.stf").display().to_string());
    refused(&["check", "-I", &none, &program], 1, &[&format!("-I {none}: there is no such directory")]);
    refused(&["check", "-I", &packets, &program], 1, &[&format!("-I {packets}: is a file")]);
    for command in
        [&["compile", "-o", "x.so"][..], &["explain"], &["stf", &packets], &["stf", &packets, "--engine", "native"]]
    {
        let arguments: Vec<&str> = [&command[..1], &[program.as_str()], &command[1..], &["--extern", &none]].concat();
        refused(&arguments, 1, &[&format!("{none}: no such file or directory")]);
    }
    let (code, text) = ran(&["stf", &program, &packets, "--extern", &program]);
    assert!(
        code == Some(0) && text.contains(&format!("warning: --extern {program}: the program calls no functions in C")),
        "{text}"
    );
    let elsewhere = bacus().arg("bench").current_dir(&directory).output().unwrap();
    let text = said(&elsewhere);
    assert!(
        elsewhere.status.code() == Some(1)
            && text.contains("apps: there is no such directory")
            && text.contains("hint: run it in the project's"),
        "{text}"
    );
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_program_without_main_is_told_of_with_its_file() {
    let directory = scratch("empty-program");
    let (empty, headers) = (directory.join("empty.p4"), directory.join("headers.p4"));
    fs::write(&empty, "// nothing\n").unwrap();
    fs::write(&headers, "header h_t { bit<8> a; }\n").unwrap();
    for file in [empty, headers] {
        let warning =
            format!("{}: [--Wwarn=missing] warning: Program does not contain a `main' module", file.display());
        refused(&["check", &file.display().to_string()], 0, &[&warning]);
    }
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_is_no_compiler_is_reported() {
    let program = path("apps/l2fwd/l2fwd.p4").display().to_string();
    let directory = scratch("compilers");
    let out = directory.join("x.so").display().to_string();
    for (cc, expected) in [
        ("/bin/true", "it ends as if all were well, and compiles nothing"),
        ("/bin/echo", "compiles nothing"),
        ("/none", "/none cannot be run"),
    ] {
        refused(&["compile", &program, "--cc", cc, "-o", &out], 3, &[expected, "hint: install gcc"]);
    }
    fs::remove_dir_all(directory).unwrap();
}
