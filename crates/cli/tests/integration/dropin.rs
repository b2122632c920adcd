//! The command under the names of BMv2 and p4c: their flags, their output, and a switch that is controlled over Thrift.

use crate::command::{bacus, capture, has_dpdk, path, said, scratch};
use std::fs::File;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Longer than anything here takes.
const TIMEOUT: Duration = Duration::from_secs(120);
/// O_NONBLOCK, and the number of ppoll(2), on x86-64.
const NONBLOCK: i32 = 0o4000;
const PPOLL: u32 = 271;

fn named(name: &str) -> Command {
    let mut command = bacus();
    command.arg0(name);
    command
}

fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A switch that ends with the test.
struct Switch(Child);

impl Switch {
    fn start(arguments: &[&str], port: u16, folder: &Path) -> Switch {
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let mut command = named("simple_switch");
        command.current_dir(folder).args(arguments).stdout(log.try_clone().unwrap()).stderr(log);
        Switch::run(command, port, folder)
    }

    /// Runs a command that writes to `log`, until its port listens.
    fn run(mut command: Command, port: u16, folder: &Path) -> Switch {
        let mut switch = Switch(command.spawn().unwrap());
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = std::fs::read_to_string(folder.join("log")).unwrap();
            assert!(switch.0.try_wait().unwrap().is_none(), "the switch ended: {log}");
            assert!(start.elapsed() < TIMEOUT, "the switch does not listen: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
        switch
    }

    /// The exit code after SIGTERM.
    fn end(mut self) -> Option<i32> {
        let number = self.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &number]).status().unwrap().success());
        self.0.wait().unwrap().code()
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn cli(port: u16, script: &str) -> Output {
    let mut command = named("simple_switch_CLI");
    let number = port.to_string();
    let pipes = command.args(["--thrift-port", &number]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = pipes.stderr(Stdio::piped()).spawn().unwrap();
    running.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    running.wait_with_output().unwrap()
}

fn compile(folder: &Path) -> Output {
    let program = path("apps/l2fwd/l2fwd.p4");
    let flags = ["--target", "bmv2", "--arch", "v1model", "--std", "p4-16", "-o", "l2fwd.json"];
    let files = ["--p4runtime-files", "l2fwd.p4info.txtpb"];
    named("p4c").current_dir(folder).args(flags).args(files).arg(program).output().unwrap()
}

#[test]
fn a_compiled_program_runs_and_is_controlled() {
    if !has_dpdk() {
        return;
    }
    let folder = scratch("dropin-run");
    let compiled = compile(&folder);
    assert!(compiled.status.success(), "{}", said(&compiled));
    let info = std::fs::read_to_string(folder.join("l2fwd.p4info.txtpb")).unwrap();
    assert!(info.contains("tables {"), "{info}");
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("l2fwd.json")).unwrap()).unwrap();
    assert_eq!(json["__meta__"]["compiler"], "bacus", "it is no output of another compiler");
    assert_eq!(json["__meta__"]["version"], serde_json::json!([2, 23]));
    // As p4c names and numbers them.
    let names = |list: &serde_json::Value| -> Vec<String> {
        let list = list.as_array().unwrap().iter();
        list.enumerate()
            .map(|(id, one)| format!("{} {}", one["name"].as_str().unwrap(), one["id"].as_u64().unwrap() - id as u64))
            .collect()
    };
    assert_eq!(names(&json["headers"]), ["scalars 0", "standard_metadata 0", "ethernet 0"]);
    assert_eq!(names(&json["parsers"][0]["parse_states"]), ["start 0"]);
    let tables = &json["pipelines"][0]["tables"];
    assert!(
        names(tables).contains(&"Bridge.smac 0".to_string()) && names(tables).contains(&"Bridge.dmac 0".to_string())
    );
    assert_eq!(json["deparsers"][0]["order"], serde_json::json!(["ethernet"]));
    assert_eq!(json["learn_lists"][0]["name"], "station_t");
    // p4-utils looks for the control's name there, of egress as well.
    assert_eq!(json["pipelines"][0]["source_info"]["source_fragment"], "Bridge");
    assert!(json["pipelines"][1]["source_info"]["source_fragment"].is_string());

    let port = port();
    let number = port.to_string();
    let flags = ["--thrift-port", &number, "--nanolog", "ipc:///tmp/n", "--device-id", "3", "l2fwd.json"];
    let switch = Switch::start(&flags, port, &folder);
    let printed = said(&cli(
        port,
        "show_tables\ntable_num_entries dmac\nswitch_info\ntable_add dmac forward 00:00:00:00:00:05 => 2\n",
    ));
    assert!(
        printed.starts_with("Obtaining JSON from switch...\nDone\nControl utility for runtime P4 table manipulation\n")
    );
    let table = "RuntimeCmd: Bridge.dmac                    [implementation=None, mk=ethernet.dst(exact, 48)]\n";
    assert!(printed.contains(table), "{printed}");
    assert!(printed.contains("device_id                : 3\n"), "{printed}");
    assert!(printed.contains("Entry has been added with handle 0\n"), "{printed}");
    assert_eq!(switch.end(), Some(0));
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    assert!(log.contains("note: --nanolog: there is no event logger\n"), "{log}");
    assert!(log.contains("Thrift server was started\n"), "{log}");
}

/// Arms of a `case` of sh over the flags of a C compiler: it does not begin before the file `begin` is there.
const WAITING: &str = "*--version*) ;; *) wait_for_begin ;;";

/// The same of the full optimization of a pipeline.
const OPTIMIZING_LATE: &str = "*-Og*) ;; *-fno-tree-slp-vectorize*) wait_for_begin ;;";

/// Writes the C compiler that a switch finds, with such arms before it. It waits for [`TIMEOUT`] at most: a test that fails leaves none.
fn write_compiler(file: &Path, arms: &str) {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
    let found = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    let compiler = found("gcc").or_else(|| found("clang")).expect("there is a C compiler");
    let (seconds, compiler) = (TIMEOUT.as_secs(), compiler.display());
    let script = format!(
        "#!/bin/sh\nwait_for_begin() {{\n    left={seconds}00\n    until [ -e begin ] || [ $left -le 0 ]; do sleep 0.02; \
         left=$((left - 2)); done\n}}\ncase \"$*\" in {arms} esac\nexec {compiler} \"$@\"\n"
    );
    std::fs::write(file, script).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// `bacus ctl` has other ways to it.
#[test]
fn a_switch_runs_without_its_own_socket() {
    if !has_dpdk() {
        return;
    }
    let folder = scratch("dropin-socket");
    std::fs::write(folder.join("counting.p4"), COUNTING).unwrap();
    // A path of a socket has 107 bytes at most.
    let long = folder.join("a".repeat(100));
    let port = port();
    let log = File::create(folder.join("log")).unwrap();
    let mut command = named("simple_switch");
    command.current_dir(&folder).env("XDG_RUNTIME_DIR", &long);
    command.args(["--thrift-port", &port.to_string(), "counting.p4"]).stdout(log.try_clone().unwrap()).stderr(log);
    let switch = Switch::run(command, port, &folder);
    assert_eq!(switch.end(), Some(0));
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    let socket = format!("note: {}/bacus/", long.display());
    assert!(log.contains(&socket) && log.contains("XDG_RUNTIME_DIR names another directory"), "{log}");
}

/// A switch whose program is still compiled when its port listens: until the file `begin` is there.
fn compiling(name: &str) -> (Switch, u16, PathBuf) {
    let folder = scratch(name);
    // No pipeline in the cache is of this program.
    let number = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() & 0xffff_ffff_ffff;
    let source = std::fs::read_to_string(path("apps/l2fwd/l2fwd.p4")).unwrap();
    let table = "        const default_action = drop();";
    assert!(source.contains(table));
    let entry = format!("        const entries = {{ {number} : forward(7); }}\n{table}");
    std::fs::write(folder.join("l2fwd.p4"), source.replacen(table, &entry, 1)).unwrap();
    write_compiler(&folder.join("cc"), WAITING);

    let port = port();
    let address = format!("127.0.0.1:{port}");
    let flags = ["run", "l2fwd.p4", "--cc", "./cc", "--thrift", &address, "--p4runtime", "127.0.0.1:0"];
    let log = std::fs::File::create(folder.join("log")).unwrap();
    let mut command = bacus();
    command.current_dir(&folder).args(flags).stdout(log.try_clone().unwrap()).stderr(log);
    (Switch::run(command, port, &folder), port, folder)
}

#[test]
fn clients_may_connect_while_the_program_is_compiled() {
    if !has_dpdk() {
        return;
    }
    let (switch, port, folder) = compiling("dropin-early");
    let client = std::thread::spawn(move || said(&cli(port, "table_num_entries dmac\n")));
    std::fs::write(folder.join("begin"), "").unwrap();
    let printed = client.join().unwrap();
    assert!(printed.contains("RuntimeCmd: 1\n"), "the first call is answered, once the program runs: {printed}");
    assert_eq!(switch.end(), Some(0));
}

#[test]
fn a_signal_ends_a_switch_whose_program_is_compiled() {
    if !has_dpdk() {
        return;
    }
    let (switch, _, folder) = compiling("dropin-ended");
    let end = Instant::now();
    assert_eq!(switch.end(), Some(0));
    assert!(end.elapsed() < TIMEOUT / 2, "it does not wait for the compiler, which has not begun");
    // The compiler waits no longer.
    std::fs::write(folder.join("begin"), "").unwrap();
}

/// Counts what comes in, and forwards it by its destination.
const COUNTING: &str = "
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers { ethernet_t ethernet; }
struct metadata { }
parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); transition accept; }
}
control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    counter(1, CounterType.packets) received;
    action forward(bit<9> port) { s.egress_spec = port; }
    table hosts {
        key = { h.ethernet.dst: exact; }
        actions = { forward; }
    }
    apply { hosts.apply(); received.count(0); }
}
control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
";

/// The same with so many tables that the C compiler takes more than a second; a number that no other run has keeps its code out of the cache.
fn large() -> String {
    let number = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() & 0xffff_ffff_ffff;
    let table = |at: usize| {
        format!(
            "table more{at} {{ key = {{ h.ethernet.src: exact; h.ethernet.type: ternary; }} actions = {{ forward; }} \
             const entries = {{ (7, {at}): forward(7); }} }}\n"
        )
    };
    let tables: String = (0..20).map(table).collect();
    let applied: String = (0..20).map(|at| format!("more{at}.apply(); ")).collect();
    let of_this_run = format!("if (h.ethernet.src == {number}) {{ forward(7); }}");
    COUNTING.replace("    apply { hosts", &format!("{tables}    apply {{ {applied}{of_this_run} hosts"))
}

#[test]
fn a_large_program_forwards_before_it_is_fully_optimized() {
    if !has_dpdk() {
        return;
    }
    let folder = scratch("dropin-quick");
    std::fs::write(folder.join("counting.p4"), large()).unwrap();
    write_compiler(&folder.join("gcc"), OPTIMIZING_LATE);
    assert!(Command::new("mkfifo").arg(folder.join("pcap0_in.pcap")).status().unwrap().success());
    std::fs::write(folder.join("pcap3_in.pcap"), driver::pcap::bytes_of([])).unwrap();
    let port = port();
    let log = File::create(folder.join("log")).unwrap();
    let path = std::env::join_paths(
        [folder.clone()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut command = named("simple_switch");
    command.current_dir(&folder).env("PATH", path.unwrap()).args(["--use-files", "0", "--thrift-port"]);
    command.arg(port.to_string()).args(["-i 0@pcap0", "-i 3@pcap3", "counting.p4"]);
    command.stdout(log.try_clone().unwrap()).stderr(log);
    let switch = Switch::run(command, port, &folder);
    let mut pipe = writer(&folder.join("pcap0_in.pcap"));
    let frame = |source: u8| [&[0, 0, 0, 0, 0, 5][..], &[0, 0, 0, 0, 0, source], &[8, 0], &[source; 46]].concat();
    let until = |is_so: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < TIMEOUT, "{}", std::fs::read_to_string(folder.join("log")).unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let received = |count: usize| said(&cli(port, "counter_read received 0\n")).contains(&format!(" {count} packets)"));
    said(&cli(port, "table_add hosts forward 00:00:00:00:00:05 => 3\n"));
    pipe.write_all(&driver::pcap::bytes_of([&frame(1)])).unwrap();
    until(&|| received(1));
    let is_optimized =
        || std::fs::read_to_string(folder.join("log")).unwrap().contains("note: counting runs fully optimized\n");
    assert!(!is_optimized(), "the compiler waits");
    std::fs::write(folder.join("begin"), "").unwrap();
    until(&is_optimized);
    // Entries and counters are those of before. A capture that comes by a pipe has one header.
    pipe.write_all(&driver::pcap::bytes_of([&frame(2)])[24..]).unwrap();
    until(&|| received(2));
    drop(pipe);
    assert_eq!(switch.end(), Some(0));
    assert_eq!(capture(&folder.join("pcap3_out.pcap")), [frame(1), frame(2)]);
}

/// Opens a pipe once it has a reader.
fn writer(path: &Path) -> File {
    let start = Instant::now();
    loop {
        match File::options().write(true).custom_flags(NONBLOCK).open(path) {
            Ok(file) => return file,
            Err(error) => assert!(start.elapsed() < TIMEOUT, "{}: {error}", path.display()),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the worker is in the system call ppoll: one that waits for packets without it takes a whole core.
fn wait_until_asleep(switch: &Switch) {
    let tasks = format!("/proc/{}/task", switch.0.id());
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let is_asleep = |task: &Path| {
        read(task.join("comm")).starts_with("worker") && read(task.join("syscall")).starts_with(&format!("{PPOLL} "))
    };
    let start = Instant::now();
    while !std::fs::read_dir(&tasks).unwrap().flatten().any(|task| is_asleep(&task.path())) {
        assert!(start.elapsed() < TIMEOUT, "the worker does not sleep");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The packets of a capture find all ports open, and hashes have the parameters that a client has set before.
#[test]
fn packets_of_a_capture_are_sent_to_a_port_that_is_named_later() {
    if !has_dpdk() {
        return;
    }
    let folder = scratch("dropin-late");
    let packet = [b"123456789".as_slice(), &[0; 10 + 45]].concat();
    std::fs::write(folder.join("pcap1_in.pcap"), driver::pcap::bytes_of([&packet])).unwrap();
    std::fs::write(folder.join("pcap2_in.pcap"), driver::pcap::bytes_of([])).unwrap();
    std::fs::copy(path("crates/cli/tests/architectures/v1model_custom_crcs.p4"), folder.join("custom_crcs.p4"))
        .unwrap();
    let port = port();
    let log = File::create(folder.join("log")).unwrap();
    let mut command = named("simple_switch");
    command.current_dir(&folder).args(["--use-files", "2", "--thrift-port"]).arg(port.to_string());
    command.args(["-i 1@pcap1", "-i 2@pcap2", "custom_crcs.p4"]).stdout(log.try_clone().unwrap()).stderr(log);
    let switch = Switch::run(command, port, &folder);
    let commands = "set_crc16_parameters calc 0x1021 0xffff 0 false false
        set_crc32_parameters calc_1 0x1edc6f41 0xffffffff 0xffffffff true true
        set_crc32_parameters calc_0 1 2 3 true true
        set_crc16_parameters calc 0x10000 2 3 true true
        ";
    let said = said(&cli(port, commands));
    assert!(said.contains("Error: Invalid crc32_custom name (calc_0)"), "{said}");
    assert!(said.contains("Error: Integer cannot fit within 16 bits"), "{said}");
    let output = folder.join("pcap2_out.pcap");
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(switch.end(), Some(0));
    let hashes = [&[0x29, 0xb1][..], &[0xcb, 0xf4, 0x39, 0x26], &[0xe3, 0x06, 0x92, 0x83]].concat();
    let expected = [b"123456789".as_slice(), &hashes, &[0; 45]].concat();
    assert_eq!(capture(&output), [expected]);
}

/// As p4c's test runner does: one pipe is opened after the other, packets and commands alternate, and the pipes are closed at the end.
#[test]
fn captures_may_be_pipes_whose_packets_are_forwarded_as_they_come() {
    if !has_dpdk() {
        return;
    }
    let folder = scratch("dropin-pipes");
    std::fs::write(folder.join("counting.p4"), COUNTING).unwrap();
    for name in ["pcap0_in.pcap", "pcap2_in.pcap"] {
        assert!(Command::new("mkfifo").arg(folder.join(name)).status().unwrap().success());
    }
    std::fs::write(folder.join("pcap3_in.pcap"), driver::pcap::bytes_of([])).unwrap();
    let port = port();
    let number = port.to_string();
    let flags = ["--use-files", "0", "--thrift-port", &number, "-i 0@pcap0", "-i 2@pcap2", "-i 3@pcap3", "counting.p4"];
    let switch = Switch::start(&flags, port, &folder);
    let mut pipes = ["pcap0_in.pcap", "pcap2_in.pcap"].map(|name| writer(&folder.join(name)));
    let frame = |source: u8| [&[0, 0, 0, 0, 0, 5][..], &[0, 0, 0, 0, 0, source], &[8, 0], &[source; 46]].concat();
    let must = |command: &str| {
        let printed = said(&cli(port, command));
        assert!(!printed.contains("Error") && !printed.contains("Invalid"), "{printed}");
        printed
    };
    let received = |count: usize| {
        let start = Instant::now();
        while !must("counter_read ingress.received 0\n").contains(&format!(" {count} packets)")) {
            assert!(start.elapsed() < TIMEOUT, "packet {count} does not come");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    must("table_add hosts forward 00:00:00:00:00:05 => 3\n");
    pipes[0].write_all(&driver::pcap::bytes_of([&frame(1)])).unwrap();
    received(1);
    must("table_modify hosts forward 0 0\n");
    pipes[1].write_all(&driver::pcap::bytes_of([&frame(2)])).unwrap();
    received(2);
    wait_until_asleep(&switch);
    drop(pipes);
    assert_eq!(switch.end(), Some(0));
    assert_eq!(capture(&folder.join("pcap3_out.pcap")), [frame(1)]);
    assert_eq!(capture(&folder.join("pcap0_out.pcap")), [frame(2)]);
}

#[test]
fn a_command_line_without_a_switch_ends_with_1() {
    let output = cli(port(), "help\n");
    assert_eq!(output.status.code(), Some(1));
    let printed = said(&output);
    assert!(printed.starts_with("Could not connect to thrift client on port "), "{printed}");
    assert!(printed.ends_with("Make sure the switch is running and that you have the right port\n"), "{printed}");
}

#[test]
fn wrong_command_lines_end_with_1() {
    let ended = |name: &str, arguments: &[&str]| {
        let output = named(name).args(arguments).output().unwrap();
        (output.status.code(), said(&output))
    };
    for (arguments, expected) in [
        (&[][..], "please specify an input JSON configuration file"),
        (&["none.json"], "none.json: "),
        (&["-i", "eth0", "--no-p4"], "expected a port and an interface, such as 1@eth0"),
        (
            &["--no-p4", "--restore-state", "Cargo.toml"],
            "--restore: Cargo.toml: it does not begin with `bacus state 1`",
        ),
        (&["--no-p4", "--nope"], "--nope"),
    ] {
        let (code, text) = ended("simple_switch", arguments);
        assert_eq!(code, Some(1), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
    assert_eq!(ended("simple_switch_grpc", &["--json-version"]), (Some(0), "2.24\n".to_string()));
    let (code, text) = ended("simple_switch", &["-v"]);
    assert!(code == Some(0) && text.starts_with("simple_switch "), "{text}");
    let (code, text) = ended("simple_switch", &["none.json", "--", "--load-modules", "m.so"]);
    assert!(code == Some(1) && text.contains("note: --load-modules: modules are not loaded"), "{text}");
    let (code, text) = ended("p4c", &["--target", "ebpf", "x.p4"]);
    assert_eq!(code, Some(1), "{text}");
    let (code, text) = ended("p4c-bm2-ss", &["none.p4"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("none.p4"), "{text}");
}

#[test]
fn a_program_that_the_json_cannot_say_is_refused_and_nothing_is_written() {
    let folder = scratch("dropin-unsayable");
    let program = path("crates/cli/tests/semantics/value_sets_stand_beside_other_sets.p4");
    let mut command = named("p4c-bm2-ss");
    let files = ["-o", "x.json", "--p4runtime-files", "x.txtpb"];
    let output = command.current_dir(&folder).args(files).arg(program).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let printed = said(&output);
    assert!(printed.contains(".p4:25:5: a value set beside other keys has no form in BMv2's JSON"), "{printed}");
    assert!(!folder.join("x.json").exists() && !folder.join("x.txtpb").exists());
}

#[test]
fn mistakes_of_programs_are_reported_and_nothing_is_written() {
    let folder = scratch("dropin-mistake");
    std::fs::write(folder.join("wrong.p4"), "#include <v1model.p4>\ncontrol c() { apply { x = 1; } }\n").unwrap();
    let output = named("p4c-bm2-ss").current_dir(&folder).args(["-o", "wrong.json", "wrong.p4"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("wrong.p4:2"), "{}", said(&output));
    assert!(!folder.join("wrong.json").exists());
}
