//! `bacus calibrate --port` as a user runs it: on devices that give packets by themselves, that return them, and that have none.

use crate::command::{bacus, has_dpdk, path, scratch};
use opt::inputs::Machine;
use opt::inputs::machine::METHOD;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A machine file as if written now by this processor: one of another, with its name changed, for a calibration of all takes too long.
fn machine(directory: &Path) -> PathBuf {
    let file = directory.join("machine.toml");
    let text = fs::read_to_string(path("machines/epyc-genoa.toml")).unwrap();
    let machine = Machine { cpu: cpu(), method: METHOD, ..Machine::parse(&text).unwrap() };
    fs::write(&file, machine.print()).unwrap();
    file
}

/// As machine files name processors.
fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().unwrap().trim() == name);
        line.map_or("?".to_string(), |line| line.split_once(':').unwrap().1.trim().to_string())
    };
    format!("{} (family {}, model {})", field("model name"), field("cpu family"), field("model"))
}

fn calibrate(file: &Path, arguments: &[&str]) -> Output {
    port_alone(bacus().arg("calibrate").arg("-o").arg(file).args(arguments))
}

/// Runs a calibration for which the machine's file is there.
fn port_alone(command: &mut Command) -> Output {
    let ran = command.output().unwrap();
    assert!(!said(&ran).contains("is measured first"), "{}", said(&ran));
    ran
}

/// How the command ended, which is a signal where it has crashed, and what it said.
fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}({})\n", text(&output.stdout), text(&output.stderr), output.status)
}

/// What a file has for a number of its port.
fn number(file: &Path, name: &str) -> Option<f64> {
    let text = fs::read_to_string(file).unwrap();
    let line = text.lines().find(|line| line.starts_with(&format!("{name} = ")))?;
    line.split(" = ").nth(1).unwrap().parse().ok()
}

/// What was measured on this machine is planned for in any directory, if it suits this processor.
#[test]
fn a_machine_file_in_the_cache_is_used_wherever_plans_are_made() {
    let directory = scratch("kept");
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let cache = directory.join("cache");
    let kept = cache.join("machines").join(format!("{}.toml", host.trim()));
    fs::create_dir_all(kept.parent().unwrap()).unwrap();
    let noted = |named: &[&str]| {
        let mut explain = bacus();
        explain.current_dir(&directory).env("BACUS_CACHE", &cache).arg("explain").arg(path("apps/l2fwd/l2fwd.p4"));
        let ran = explain.args(named).output().unwrap();
        assert!(ran.status.success(), "{}", said(&ran));
        let note = said(&ran).lines().find(|line| line.starts_with("machine")).unwrap().to_string();
        (note.starts_with("machine: default model, not "), note)
    };
    let (calibrate, file) = ("; `bacus calibrate` measures this one", kept.display().to_string());
    let machine = Machine::parse(&fs::read_to_string(machine(&directory)).unwrap()).unwrap();
    let other = Machine { cpu: "another".to_string(), ..machine.clone() };
    let older = Machine { method: METHOD - 1, ..machine.clone() };
    for unsuitable in [None, Some(other), Some(older)] {
        unsuitable.iter().for_each(|machine| fs::write(&kept, machine.print()).unwrap());
        let (is_guessed, note) = noted(&[]);
        assert!(is_guessed && note.ends_with(calibrate), "{note}");
    }
    fs::write(&kept, machine.print()).unwrap();
    let found = (false, format!("machine file: {file}, calibrated {}", machine.calibrated));
    assert_eq!(noted(&[]), found);
    // A named file is used, or guesses are.
    assert_eq!(noted(&["--machine", &file]), found);
    let (is_guessed, note) = noted(&["--machine", "missing.toml"]);
    assert!(is_guessed && note.ends_with(calibrate), "{note}");
}

/// How many cycles they are is not the matter: tests share the core.
#[test]
fn an_echo_is_measured_where_packets_come_by_themselves_and_where_they_return() {
    if !has_dpdk() {
        return;
    }
    let directory = scratch("calibrate");
    let file = machine(&directory);
    let (named, beside) = (directory.join("echo.svg"), file.with_extension("svg"));
    let of_name = ["--svg", named.to_str().unwrap()];
    let cases = [("3=net_null0", "net_null", &of_name[..], &named), ("0=net_ring0", "net_ring", &["--svg"], &beside)];
    for (port, kind, drawn, svg) in cases {
        let ran = calibrate(&file, &[&["--port", port], drawn].concat());
        let text = said(&ran);
        assert!(ran.status.success(), "{port}: {text}");
        assert!(text.contains(&format!("on {kind}, batches of ")), "{text}");
        assert!(text.contains("a ring whose size cannot be chosen"), "{text}");
        assert!(fs::read_to_string(&file).unwrap().contains(&format!("device = \"{kind}\"")), "{port}");
        assert!(number(&file, "batch").is_some() && number(&file, "free_cycles").is_some(), "{text}");
        assert_eq!(number(&file, "ring"), None, "{text}");
        assert!(fs::read_to_string(svg).unwrap().contains(&format!("echo on {kind}: batches of")));
    }
}

#[test]
fn two_ports_that_are_wired_to_each_other_have_a_ring_to_choose() {
    if !has_dpdk() {
        return;
    }
    let directory = scratch("wired");
    let file = machine(&directory);
    let port = |number: usize, role: &str| {
        let socket = directory.join("wire.sock");
        format!("{number}=net_memif{number},role={role},socket={},socket-abstract=no", socket.display())
    };
    let ran = calibrate(&file, &["--port", &port(0, "server"), "--port", &port(1, "client")]);
    let text = said(&ran);
    assert!(ran.status.success(), "{text}");
    let ring = number(&file, "ring").unwrap_or_else(|| panic!("{text}"));
    assert!((32.0..=2048.0).contains(&ring) && text.contains(&format!("a ring of {ring} are enough")), "{text}");
    // The switch opens ports of that kind with this ring, and still takes what a user sets.
    for more in ["", ",rsize=6"] {
        let socket = directory.join("switch.sock");
        let port = format!("0=net_memif0,role=server,socket={},socket-abstract=no{more}", socket.display());
        let mut run = bacus();
        run.arg("run").arg(path("apps/l2fwd/l2fwd.p4")).arg("--machine").arg(&file);
        let ran = run.args(["--port", &port, "--duration", "0.1"]).output().unwrap();
        assert!(ran.status.success(), "{}", said(&ran));
    }
}

/// A network namespace that goes when this does.
struct Namespace(String);

impl Drop for Namespace {
    fn drop(&mut self) {
        drop(Command::new("ip").args(["netns", "delete", &self.0]).output());
    }
}

#[test]
fn interfaces_of_the_kernel_are_measured_in_a_namespace() {
    if !has_dpdk() {
        return;
    }
    let namespace = Namespace(format!("bacus-calibrate-{}", std::process::id()));
    let name = namespace.0.as_str();
    let steps: [&[&str]; 4] = [
        &["netns", "add", name],
        &["-n", name, "link", "add", "one", "type", "veth", "peer", "name", "other"],
        &["-n", name, "link", "set", "one", "up"],
        &["-n", name, "link", "set", "other", "up"],
    ];
    if !steps.iter().all(|step| Command::new("ip").args(*step).output().is_ok_and(|ran| ran.status.success())) {
        eprintln!("skipped: no network namespaces here");
        return;
    }
    let file = machine(&scratch("veth"));
    let mut inside = Command::new("ip");
    inside.args(["netns", "exec", name, env!("CARGO_BIN_EXE_bacus"), "calibrate", "-o"]).arg(&file);
    inside.envs(bacus().get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = port_alone(inside.args(["--port", "0=one", "--port", "1=other"]));
    assert!(ran.status.success(), "{}", said(&ran));
    assert!(fs::read_to_string(&file).unwrap().contains("device = \"interface\""));
    assert!(number(&file, "ring").is_some_and(|ring| ring >= 32.0), "{}", said(&ran));
}

#[test]
fn ports_with_nothing_to_measure_are_refused_and_the_file_stays() {
    let directory = scratch("nothing");
    let file = machine(&directory);
    let before = fs::read_to_string(&file).unwrap();
    // The other end of the wire sends nothing.
    let alone = format!("0=net_memif0,role=server,socket={}/alone.sock,socket-abstract=no", directory.display());
    let cases: [(&[&str], i32, &str); 6] = [
        (&["0=nosuch0"], 1, "there is no interface `nosuch0`"),
        (&["0=pcap:,"], 1, "captures come to an end"),
        (&["0=net_null0", "1=net_ring0"], 1, "must be of one kind"),
        (&["net_null0"], 2, "write N=DEVICE"),
        (&["0=net_nosuch0"], 3, "is the driver installed"),
        (&[&alone], 3, "hint: send it traffic meanwhile"),
    ];
    for (ports, code, expected) in cases.into_iter().filter(|(_, code, _)| *code < 3 || has_dpdk()) {
        let arguments: Vec<&str> = ports.iter().flat_map(|port| ["--port", port]).collect();
        let ran = calibrate(&file, &arguments);
        assert_eq!(ran.status.code(), Some(code), "{ports:?}: {}", said(&ran));
        assert!(said(&ran).contains(expected), "{ports:?}: {}", said(&ran));
        assert_eq!(fs::read_to_string(&file).unwrap(), before, "{ports:?}");
    }
    if has_dpdk() {
        // Nor is a machine measured for the sake of such a port.
        let none = directory.join("none.toml");
        let ran = calibrate(&none, &["--port", "0=net_nosuch0"]);
        assert!(ran.status.code() == Some(3) && !none.exists(), "{}", said(&ran));
    }
}
