//! Machines with narrower vectors than this one: every command compiles what they could run.

use crate::command::{bacus, has_dpdk, path, said, scratch};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

/// A file of the machine of tests, whose vectors have so many bytes, or any.
fn machine(directory: &Path, bytes: Option<u32>) -> String {
    let file = directory.join("machine.toml");
    let text = fs::read_to_string(path("tests/machines/slow-memory.toml")).unwrap();
    let line = bytes.map_or(String::new(), |bytes| format!("vector_bytes = {bytes}\n"));
    fs::write(&file, line + &text).unwrap();
    file.display().to_string()
}

/// A C compiler that logs its arguments, and makes empty objects.
fn recorder(directory: &Path) -> String {
    let (command, log) = (directory.join("recorder"), directory.join("log"));
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo recorder && exit\necho \"$*\" >> {}\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && : > \"$2\"; shift; done\n",
        log.display()
    );
    fs::write(&command, script).unwrap();
    fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).unwrap();
    command.display().to_string()
}

/// The vectors that the compiler may use, for each object that a command has it make. Commands that load an empty object fail then.
fn vector_flags(arguments: &[&str], bytes: Option<u32>) -> Vec<Option<String>> {
    let directory = scratch("recorded");
    let (machine, compiler) = (machine(&directory, bytes), recorder(&directory));
    let output = bacus()
        .env("BACUS_CACHE", directory.join("cache"))
        .args(arguments)
        .args(["--machine", &machine, "--cc", &compiler])
        .current_dir(&directory)
        .output()
        .unwrap();
    let log = fs::read_to_string(directory.join("log")).unwrap_or_default();
    let objects = log.lines().filter(|line| line.contains(" -shared "));
    let flag = |line: &str| line.split(' ').find(|word| word.starts_with("-mno-avx")).map(str::to_string);
    let found: Vec<Option<String>> = objects.map(flag).collect();
    assert!(!found.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    fs::remove_dir_all(directory).unwrap();
    found
}

#[test]
fn every_command_compiles_for_the_vectors_of_the_machine_file() {
    let program = path("apps/l2fwd/l2fwd.p4").display().to_string();
    let test = path("apps/l2fwd/l2fwd.stf").display().to_string();
    let mut commands = vec![
        vec!["compile", &program, "--descriptor", "own"],
        vec!["stf", &program, &test, "--engine", "native"],
        vec!["explain", &program, "--measure"],
        vec!["bench", "--case", "l2fwd:256:programs"],
    ];
    if has_dpdk() {
        commands.push(vec!["run", &program, "--port", "0=pcap:,"]);
    }
    for command in commands {
        for (bytes, flag) in
            [(None, None), (Some(64), None), (Some(32), Some("-mno-avx512f")), (Some(16), Some("-mno-avx2"))]
        {
            let found = vector_flags(&command, bytes);
            assert!(found.iter().all(|found| found.as_deref() == flag), "{command:?} {bytes:?}: {found:?}");
        }
    }
}

/// What comes by a pipe can be read once, and both the plan and the code are for it.
#[test]
fn a_machine_file_may_come_by_a_pipe() {
    let directory = scratch("piped");
    let compiler = recorder(&directory);
    let program = path("apps/l2fwd/l2fwd.p4").display().to_string();
    let mut command = bacus();
    command.env("BACUS_CACHE", directory.join("cache")).current_dir(&directory);
    command.args(["compile", &program, "--descriptor", "own", "--machine", "/dev/stdin", "--cc", &compiler]);
    let mut ran = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let text = fs::read(machine(&directory, Some(16))).unwrap();
    ran.stdin.take().unwrap().write_all(&text).unwrap();
    let errors = String::from_utf8_lossy(&ran.wait_with_output().unwrap().stderr).into_owned();
    let log = fs::read_to_string(directory.join("log")).unwrap();
    assert!(log.contains("-mno-avx2") && !errors.contains("default machine model"), "{log}{errors}");
    fs::remove_dir_all(directory).unwrap();
}

/// The host's tables are the same whatever reads them.
#[test]
fn code_with_narrow_vectors_sends_the_same_packets() {
    for name in ["l2l3acl", "ipv6fwd"] {
        let directory = scratch("narrow");
        let app = |ending: &str| path(&format!("apps/{name}/{name}.{ending}")).display().to_string();
        let (program, test) = (app("p4"), app("stf"));
        let machine = machine(&directory, Some(16));
        let arguments = ["stf", &program, &test, "--trace", &test, "--count", "1000", "--machine", &machine];
        let output = bacus().args(arguments).output().unwrap();
        let said = said(&output);
        assert!(output.status.success(), "{name}: {said}");
        assert!(said.contains("code does without the") || !is_x86_feature_detected!("avx2"), "{name}: {said}");
        fs::remove_dir_all(directory).unwrap();
    }
}
