//! What is refused before the work: ports that a program cannot name, interfaces that are not there, files that cannot be written.

use crate::command::{bacus, path, ran, said, scratch};
use std::process::Command;

#[test]
fn ports_that_a_program_cannot_name_are_refused() {
    let program = path("apps/l2fwd/l2fwd.p4").display().to_string();
    for (option, value, reason) in [
        ("--port", "600=pcap:,", "there is no port 600: port numbers have 9 bits in this program"),
        ("--port", "512=pcap:,", "there is no port 512"),
        ("--port", "511=pcap:,", "port 511 is the drop port of this program"),
        ("--cpu-port", "511", "port 511 is the drop port of this program"),
        ("--cpu-port", "1000", "there is no port 1000"),
    ] {
        let (code, text) = ran(&["run", &program, "--port", "1=pcap:,", option, value]);
        assert!(code == Some(1) && text.contains(reason), "{option} {value}: {text}");
    }
    let directory = scratch("numbers");
    let stf = directory.join("ports.stf");
    for (line, reason) in [
        ("packet 600 00", "1:1: there is no port 600: port numbers have 9 bits in this program"),
        ("packet 511 00", "1:1: port 511 is the drop port of this program"),
        ("expect 511", "1:1: port 511 is the drop port of this program"),
        ("packet 510 00", "passed"),
        ("mc_mgrp_create 1\nmc_node_create 0 600", "2:18: there is no port 600"),
    ] {
        std::fs::write(&stf, format!("{line}\n")).unwrap();
        let (code, text) = ran(&["stf", &program, &stf.display().to_string()]);
        assert!(code == Some(i32::from(reason != "passed")) && text.contains(reason), "{line}: {text}");
    }
}

#[test]
fn interfaces_are_those_of_the_network_namespace() {
    // /sys still has the interfaces of the namespace in which it was mounted.
    let script = "ip link add bacus-a type veth peer name bacus-b && exec \"$@\"";
    let program = path("apps/l2fwd/l2fwd.p4");
    let output = Command::new("unshare")
        .args(["-r", "-n", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_bacus"), "run"])
        .arg(program)
        .args(["--port", "1=bacus-c", "--port", "2=bacus-a"])
        .output();
    let Ok(output) = output.inspect_err(|error| eprintln!("skipped: unshare: {error}")) else { return };
    let text = said(&output);
    if !text.contains("port 1") {
        eprintln!("skipped: no network namespaces here: {text}");
        return;
    }
    assert!(text.contains("port 1: there is no interface `bacus-c`"), "{text}");
    assert!(text.contains("hint: interfaces are bacus-a, bacus-b, lo;"), "{text}");
}

#[test]
fn files_that_cannot_be_written_are_refused_first() {
    let program = path("apps/l2fwd/l2fwd.p4").display().to_string();
    let stf = path("apps/l2fwd/l2fwd.stf").display().to_string();
    let file = scratch("unwritable").join("file");
    std::fs::write(&file, "").unwrap();
    // Not even root makes a file there.
    let below = file.join("out.txtpb").display().to_string();
    for arguments in [
        &["calibrate", "-o", &below][..],
        &["calibrate", "-o", "/dev/null", "--svg", &below],
        &["compile", &program, "-o", &below],
        &["compile", &program, "--p4runtime-files", &below],
        &["explain", &program, "-o", &below],
        &["entries", &program, &stf, "-o", &below],
        &["run", &program, "--port", "1=pcap:,", "--profile-out", &below],
        &["stf", &program, &stf, "--engine", "native", "--profile-out", &below],
        &["bench", "l2fwd", "--out", &below],
    ] {
        let (code, text) = ran(arguments);
        let is_named = text.starts_with(&format!("error: {}", file.display()));
        assert!(code == Some(3) && is_named && text.contains(": not a directory"), "{arguments:?}: {text}");
    }
}

/// Another one in its place would fill a disk that the user did not name.
#[test]
fn a_cache_that_is_named_and_cannot_be_written_is_refused() {
    let program = path("apps/l2fwd/l2fwd.p4");
    let mut command = bacus();
    let output = command.arg("check").arg(program).env("BACUS_CACHE", "/proc/none").output().unwrap();
    let text = said(&output);
    assert!(output.status.code() == Some(3) && text.contains("/proc/none"), "{text}");
}

#[test]
fn the_preprocessor_is_that_of_the_named_compiler() {
    let program = scratch("preprocessor").join("p.p4");
    std::fs::write(&program, "const bit<8> a = NUMBER;\n").unwrap();
    let check = |compiler: &str| {
        let output = bacus().arg("check").arg(&program).env("CC", compiler).output().unwrap();
        (output.status.code(), said(&output))
    };
    assert!(check("").1.contains("NUMBER: declaration not found"));
    let (code, text) = check("gcc -DNUMBER=7");
    assert!(code == Some(0) && text.contains("const bit<8> a = 7;"), "{text}");
    let (code, text) = check("no-such-compiler -m64");
    assert!(code == Some(3) && text.contains("`no-such-compiler -m64 -E` cannot be run"), "{text}");
}

#[test]
fn lines_are_counted_from_line_marks() {
    let program = scratch("lines").join("p.p4");
    for mark in ["#line 41 \"t.tmpl\"", "# 41 \"t.tmpl\"", "  #  41  \"t.tmpl\""] {
        // A quote without a partner, as comments have.
        let text = format!("// it's\n{mark}\nconst bit<8> a = 0;\nconst bit<4> b = 4w0 ++ (bit<8>)__LINE__;\n");
        std::fs::write(&program, text).unwrap();
        let (code, text) = ran(&["check", &program.display().to_string()]);
        let is_placed = text.contains("t.tmpl(42)") && text.contains("(bit<8>)42");
        assert!(code == Some(1) && is_placed, "{mark}: {text}");
    }
}
