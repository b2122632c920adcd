//! The applications: each program in `apps/` with its packets, on both engines, then both engines on random packets.
//!
//! `apps/NAME/X.stf` tests `X.p4`, or `NAME.p4` if there is no such program. Such a test begins with the entry files.

use crate::command::{bacus, path, said, scratch};
use crate::plans::APPS;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Case {
    program: PathBuf,
    packets: PathBuf,
    entries: PathBuf,
    /// What `--extern` is given.
    externs: Vec<PathBuf>,
}

impl Case {
    /// Runs `bacus stf`, which must work, and returns what it prints.
    fn stf(&self, files: &[&Path], arguments: &[&str]) -> String {
        let mut command = bacus();
        command.arg("stf").arg(&self.program).args(files).args(arguments);
        command.args(self.externs.iter().flat_map(|file| [PathBuf::from("--extern"), file.clone()]));
        let ran = command.output().unwrap();
        let said = said(&ran);
        assert!(ran.status.success(), "{} {arguments:?}:\n{said}", self.packets.display());
        said
    }
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = all.filter(|file| file.extension().is_some_and(|end| end == extension)).collect();
    found.sort();
    found
}

/// The package that an extern's includes come from.
const PACKAGES: [(&str, &str); 1] = [("<openssl/", "libcrypto")];

/// An application's C files and their libraries; `None`, and a word about it, where one of them is not installed.
fn externs(folder: &Path) -> Option<Vec<PathBuf>> {
    let mut found = files(folder, "c");
    let text: String = found.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    for (_, package) in PACKAGES.iter().filter(|(include, _)| text.contains(include)) {
        let known = Command::new("pkg-config").args(["--exists", package]).status();
        if !known.is_ok_and(|status| status.success()) {
            eprintln!("skipped: {} needs the development files of {package} (make setup)", folder.display());
            return None;
        }
        found.push(format!("pkg:{package}").into());
    }
    Some(found)
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut folders: Vec<PathBuf> = fs::read_dir(path("apps")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let Some(externs) = externs(&folder) else { continue };
        for packets in files(&folder, "stf") {
            let stem = packets.file_stem().unwrap().to_string_lossy().into_owned();
            if stem.ends_with("entries") {
                continue;
            }
            let own = packets.with_extension("p4");
            let program = if own.exists() { own } else { folder.join(format!("{name}.p4")) };
            let entries = if stem == name { "entries.stf".to_owned() } else { format!("{stem}_entries.stf") };
            cases.push(Case { program, packets, entries: folder.join(entries), externs: externs.clone() });
        }
    }
    cases
}

#[test]
fn each_application_is_found() {
    let names: Vec<String> =
        cases().iter().map(|case| case.packets.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    for name in ["chatserver", "chatserver64", "forwarder", "ids_router", "ndn", "ndn16", "nat", "workpackage"] {
        assert!(names.iter().any(|found| found == name), "{name} in {names:?}");
    }
}

#[test]
fn applications_meet_their_expectations_on_the_interpreter() {
    for case in cases() {
        for burst in ["1", "7", "64"] {
            case.stf(&[&case.packets], &["--engine", "interp", "--burst", burst]);
        }
    }
}

#[test]
fn applications_meet_their_expectations_as_native_code() {
    for case in cases() {
        for burst in ["1", "7", "64"] {
            case.stf(&[&case.packets], &["--engine", "native", "--burst", burst, "--sanitize"]);
        }
    }
}

/// All passes, with all legal joins.
const JOINED: &str = "constants,dead,join,structures,joint,descriptor,hot_path,batches,groups,vector,prefetch";

#[test]
fn applications_are_the_same_with_every_legal_join() {
    let mut joined = Vec::new();
    for case in cases() {
        let shown =
            bacus().arg("show").arg(&case.program).args(["--passes", "join", "--after", "join"]).output().unwrap();
        if !String::from_utf8_lossy(&shown.stdout).contains("\njoin ") {
            continue;
        }
        joined.push(case.packets.file_stem().unwrap().to_string_lossy().into_owned());
        let trace = case.packets.display().to_string();
        let said = case.stf(&[&case.entries], &["--trace", &trace, "--count", "1000", "--passes", JOINED]);
        assert!(said.contains("both engines agree"), "{trace}:\n{said}");
        for burst in ["1", "64"] {
            case.stf(&[&case.packets], &["--engine", "interp", "--burst", burst, "--passes", "join"]);
            for passes in ["constants,dead,join", JOINED] {
                let arguments = ["--engine", "native", "--burst", burst, "--sanitize", "--passes", passes];
                case.stf(&[&case.packets], &arguments);
            }
        }
    }
    let expected = ["chatserver", "chatserver64", "l2fwd", "l2l3acl", "l3switch", "mpls", "mpls_npf"];
    assert_eq!(joined, expected, "tables of these follow each other");
}

#[test]
fn l2l3acl_is_left_with_three_lookups_of_seven_where_rewrites_follow_next_hops() {
    let (program, define) = (path("apps/l2l3acl/l2l3acl.p4"), ["-D", "REWRITE_IN_INGRESS"]);
    let shown = bacus().arg("show").arg(&program).args(define).args(["--passes", "join", "--after", "join"]).output();
    let text = String::from_utf8_lossy(&shown.unwrap().stdout).into_owned();
    let lookups = text.lines().filter(|line| line.starts_with("node ") && line.contains(": apply ")).count();
    let joins = text.lines().filter(|line| line.starts_with("join ")).count();
    // Each joint table is beside both of its sources.
    assert_eq!((lookups, joins), (7 + 4, 4), "{text}");
    let packets = path("apps/l2l3acl/l2l3acl.stf");
    let cases = cases().into_iter().filter(|case| case.packets == packets);
    for case in cases {
        for engine in ["interp", "native"] {
            let joined =
                ["--engine", engine, "--burst", "64", "--passes", if engine == "interp" { "join" } else { JOINED }];
            case.stf(&[&case.packets], &[&define[..], &joined].concat());
        }
    }
}

/// Those that `plans` runs under every plan are left out. On a machine with slow memory, plans have stages wherever these are legal.
#[test]
fn both_engines_agree_on_random_packets_under_default_and_staged_plans() {
    let machine = path("tests/machines/slow-memory.toml").display().to_string();
    let is_new = |case: &Case| !APPS.iter().any(|name| case.program.ends_with(format!("{name}.p4")));
    for case in cases().into_iter().filter(is_new) {
        let trace = case.packets.display().to_string();
        for plan in [&[][..], &["--machine", &machine]] {
            let arguments = ["--trace", &trace, "--count", "1000", "--sanitize"];
            let said = case.stf(&[&case.entries], &[&arguments, plan].concat());
            assert!(said.contains("both engines agree"), "{trace} {plan:?}:\n{said}");
            case.stf(&[&case.packets], &[&["--engine", "native", "--burst", "64", "--sanitize"], plan].concat());
        }
    }
}

/// The commands of a file, without comments.
fn commands(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn entry_files_are_how_their_tests_begin() {
    for case in cases() {
        let (entries, packets) = (commands(&case.entries), commands(&case.packets));
        assert!(packets.starts_with(&entries), "{} is no beginning of its test", case.entries.display());
        assert!(!packets[entries.len()..].is_empty(), "{} has no packets", case.packets.display());
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Encrypts whole blocks by the `openssl` command; `None` where there is none.
fn openssl(cipher: &str, vector: Option<&str>, plain: &[u8]) -> Option<Vec<u8>> {
    let folder = scratch("openssl");
    let file = folder.join("plain");
    fs::write(&file, plain).unwrap();
    let mut command = Command::new("openssl");
    command.args(["enc", cipher, "-nopad", "-K", "000102030405060708090a0b0c0d0e0f", "-in"]).arg(&file);
    command.args(vector.iter().flat_map(|vector| ["-iv", vector]));
    let ran = command.output().ok()?;
    assert!(ran.status.success(), "{}", said(&ran));
    fs::remove_dir_all(folder).unwrap();
    Some(ran.stdout)
}

/// What `l2fwd_crypto` makes of a payload, computed by another program.
fn sealed(number: u64, kind: u16, payload: &[u8]) -> Option<Vec<u8>> {
    let mut plain = payload.to_vec();
    let padding = (16 - (payload.len() + 8) % 16) % 16;
    plain.extend((1..=padding).map(|byte| byte as u8));
    plain.extend(kind.to_be_bytes());
    plain.extend((payload.len() as u16).to_be_bytes());
    plain.extend((number as u32).to_be_bytes());
    let vector = openssl("-aes-128-ecb", None, &[number.to_be_bytes(), [0; 8]].concat())?;
    let blocks = openssl("-aes-128-cbc", Some(&hex(&vector)), &plain)?;
    let mut frame = vec![0x88, 0xb5];
    frame.extend((blocks.len() as u16).to_be_bytes());
    frame.extend(number.to_be_bytes());
    frame.extend(blocks);
    Some(frame)
}

#[test]
fn sealed_frames_are_those_of_another_implementation_and_open_again() {
    let Some(case) = cases().into_iter().find(|case| case.program.ends_with("l2fwd_crypto.p4")) else { return };
    let mut text = fs::read_to_string(&case.entries).unwrap();
    let addresses = "02000000000b02000000000a";
    for (number, length) in [0, 1, 7, 8, 9, 16, 24, 46, 100, 513, 1500].into_iter().enumerate() {
        let payload: Vec<u8> = (0..length).map(|at| (at * 31 + number * 7) as u8).collect();
        let Some(frame) = sealed(number as u64, 0x0800, &payload) else {
            eprintln!("skipped: no openssl command to compare with");
            return;
        };
        let (plain, frame) = (format!("{addresses}0800{}", hex(&payload)), format!("{addresses}{}", hex(&frame)));
        text += &format!("packet 0 {plain}\nexpect 1 {frame} $\npacket 1 {frame}\nexpect 0 {plain} $\n");
    }
    let file = scratch("sealed").join("sealed.stf");
    fs::write(&file, text).unwrap();
    for (engine, burst) in [("interp", "1"), ("native", "1"), ("native", "64")] {
        case.stf(&[&file], &["--engine", engine, "--burst", burst]);
    }
}
