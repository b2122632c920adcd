//! Externs of the user's own, as a user meets them: the example of the manual on both engines, code that is linked, and what is reported where code is missing
//! or does not fit.

use crate::command::{bacus, path, said, scratch};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn example(name: &str) -> PathBuf {
    path("docs/examples").join(name)
}

/// Runs the example's test with this code.
fn stf(code: &[PathBuf], more: &[&str]) -> Output {
    let mut command = bacus();
    command.arg("stf").arg(example("sealer.p4")).arg(example("sealer.stf")).args(more);
    command.args(code.iter().flat_map(|file| [PathBuf::from("--extern"), file.clone()]));
    command.output().unwrap()
}

#[test]
fn the_example_runs_on_both_engines_packet_by_packet_and_in_bursts() {
    for (engine, burst) in [("interp", "1"), ("interp", "64"), ("native", "1"), ("native", "64")] {
        let ran = stf(&[example("sealer.c")], &["--engine", engine, "--burst", burst]);
        assert!(ran.status.success(), "{engine}, burst {burst}: {}", said(&ran));
    }
}

#[test]
fn values_with_parts_come_part_by_part_and_equal_names_are_distinguished() {
    let file = |name: &str| path("crates/cli/tests/externs").join(name);
    for engine in ["interp", "native"] {
        let mut command = bacus();
        command.arg("stf").arg(file("parts.p4")).arg(file("parts.stf")).args(["--engine", engine]);
        let ran = command.arg("--extern").arg(file("parts.c")).output().unwrap();
        assert!(ran.status.success(), "{engine}: {}", said(&ran));
    }
}

#[test]
fn both_engines_agree_on_mutated_packets() {
    let folder = scratch("trace");
    let entries = folder.join("entries.stf");
    fs::write(&entries, "add hosts hdr.ethernet.dst:1 seal(port:1)\nadd hosts hdr.ethernet.dst:2 forward(port:2)\n")
        .unwrap();
    let mut command = bacus();
    command.arg("stf").arg(example("sealer.p4")).arg(&entries).arg("--extern").arg(example("sealer.c"));
    let ran = command.arg("--trace").arg(example("sealer.stf")).args(["--count", "500"]).output().unwrap();
    assert!(ran.status.success(), "{}", said(&ran));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_library_that_was_not_named_is_asked_for() {
    let folder = scratch("library");
    let code = folder.join("sealer.c");
    let calls = "int elsewhere(void);\nint calls(void);\nint calls(void) { return elsewhere(); }\n";
    fs::write(&code, fs::read_to_string(example("sealer.c")).unwrap() + calls).unwrap();
    for engine in ["interp", "native"] {
        let ran = stf(std::slice::from_ref(&code), &["--engine", engine]);
        let said = said(&ran);
        let is_reported =
            said.contains("`elsewhere` is in none of its files") && said.contains("hint: name the library");
        assert!(ran.status.code().is_some_and(|code| code != 0) && is_reported, "{engine}: {said}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn objects_are_linked() {
    let folder = scratch("linked");
    let object = folder.join("sealer.o");
    let mut compiler = Command::new("cc");
    compiler.args(["-c", "-fPIC", "-I"]).arg(path("runtime")).arg(example("sealer.c")).arg("-o").arg(&object);
    assert!(compiler.status().unwrap().success());
    for engine in ["interp", "native"] {
        let ran = stf(std::slice::from_ref(&object), &["--engine", engine]);
        assert!(ran.status.success(), "{engine}: {}", said(&ran));
    }
    fs::remove_dir_all(folder).unwrap();
}

/// A package of this folder, whose library has what is linked; and the package's mistakes.
#[test]
fn libraries_are_found_by_the_name_of_their_package() {
    let folder = scratch("package");
    let package = |name: &str, library: &str| {
        let text = format!(
            "libdir={}\nName: {name}\nDescription: of a test\nVersion: 1\nLibs: -L${{libdir}} {library}\n",
            folder.display()
        );
        fs::write(folder.join(format!("{name}.pc")), text).unwrap();
    };
    package("sealer", "-lsealer");
    package("absent", "-lnosuchlibrary");
    package("headers", "");
    let compiled = Command::new("gcc")
        .args(["-shared", "-fPIC", "-I"])
        .arg(path("runtime"))
        .arg(example("sealer.c"))
        .arg("-o")
        .arg(folder.join("libsealer.so"))
        .status()
        .unwrap();
    assert!(compiled.success());
    let run = |name: &str| {
        let mut command = bacus();
        command.arg("stf").arg(example("sealer.p4")).arg(example("sealer.stf")).args(["--engine", "native"]);
        command.env("PKG_CONFIG_PATH", &folder).arg("--extern").arg(name).output().unwrap()
    };
    let ran = run("pkg:sealer");
    assert!(ran.status.success(), "{}", said(&ran));
    // The library moves: the pipeline that is cached names its old place.
    let moved = folder.join("moved");
    fs::create_dir_all(&moved).unwrap();
    fs::rename(folder.join("libsealer.so"), moved.join("libsealer.so")).unwrap();
    let text = fs::read_to_string(folder.join("sealer.pc")).unwrap();
    fs::write(folder.join("sealer.pc"), text.replacen(&folder.display().to_string(), &moved.display().to_string(), 1))
        .unwrap();
    let ran = run("pkg:sealer");
    assert!(ran.status.success(), "{}", said(&ran));
    for (name, mistake) in [
        ("pkg:nosuchpackage", "--extern pkg:nosuchpackage: pkg-config does not know this package"),
        ("pkg:absent", "libnosuchlibrary.so nor "),
        ("pkg:headers", "--extern pkg:headers: the package has no library"),
    ] {
        let ran = run(name);
        assert!(!ran.status.success() && said(&ran).contains(mistake), "{name}: {}", said(&ran));
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn missing_functions_are_told_of_where_the_program_declares_them() {
    for engine in ["interp", "native"] {
        let ran = stf(&[], &["--engine", engine]);
        let said = said(&ran);
        assert_eq!(ran.status.code(), Some(1), "{said}");
        let line = fs::read_to_string(example("sealer.p4")).unwrap();
        let line = line.lines().position(|line| line.starts_with("extern bool fold")).unwrap() + 1;
        assert!(
            said.contains(&format!("sealer.p4({line}): [--Werror=extern] error: the program calls `fold`")),
            "{said}"
        );
        assert!(said.contains("uint64_t fold(uint64_t a1, const uint64_t *a2, uint64_t *a3, uint64_t *a4);"), "{said}");
        assert!(said.contains("--extern FILE.c"), "{said}");
    }
}

#[test]
fn code_that_does_not_fit_is_the_users_mistake() {
    let folder = scratch("misfit");
    let code = folder.join("misfit.c");
    let text = fs::read_to_string(example("sealer.c")).unwrap();
    fs::write(
        &code,
        text.replace("fold(uint64_t address, const uint64_t *salt", "fold(uint64_t address, const uint8_t *salt"),
    )
    .unwrap();
    for engine in ["interp", "native"] {
        let ran = stf(std::slice::from_ref(&code), &["--engine", engine]);
        let said = said(&ran);
        assert_eq!(ran.status.code(), Some(1), "{said}");
        assert!(said.contains("refuses the code of the program's externs") && said.contains("fold"), "{said}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_object_that_cannot_be_made_keeps_the_switch_from_starting() {
    let folder = scratch("refused");
    let code = folder.join("refused.c");
    let text = fs::read_to_string(example("sealer.c")).unwrap();
    fs::write(&code, text.replace("calloc(1, sizeof(*sealer))", "NULL")).unwrap();
    for engine in ["interp", "native"] {
        let ran = stf(std::slice::from_ref(&code), &["--engine", engine]);
        let said = said(&ran);
        assert!(!ran.status.success() && said.contains("the object `Seal.sealer` cannot be made"), "{said}");
    }
    fs::remove_dir_all(folder).unwrap();
}
