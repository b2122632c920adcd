//! `bacus run` as a user runs it: real DPDK ports over captures, without root, huge pages or a NIC.

use crate::command::{bacus, capture, has_dpdk, path, said, scratch};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

const L2FWD: &str = "apps/l2fwd/l2fwd";

const HOSTS: &str = "\
add smac hdr.ethernet.src:0x02000000000a NoAction()
add dmac hdr.ethernet.dst:0x02000000000a forward(port:1)
add dmac hdr.ethernet.dst:0x02000000000b forward(port:2)
packet 1 02000000000b02000000000a12340001
expect 2 02000000000b02000000000a12340001
packet 2 02000000000a02000000000b12340002
expect 1 02000000000a02000000000b12340002
packet 3 02000000000a02000000000a12340003
expect 1 02000000000a02000000000a12340003
packet 3 02
packet 3 02000000000f02000000000a12340004
";

#[test]
fn a_capture_that_is_repeated_too_often_is_refused_with_how_often_it_can_be() {
    let app = |ending: &str| path(&format!("apps/ipv4fwd/{ending}")).display().to_string();
    let input = format!("0=pcap:{},", app("ipv4fwd.stf"));
    let ran = bacus()
        .args(["run", &app("ipv4fwd.p4"), "--port", &input, "--repeat", "4000000000"])
        .env("BACUS_CACHE", scratch("repeated"))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success() && error.contains("error: port 0: 4000000000 times these "), "{error}");
    assert!(error.contains(" GB, of 4.0 at most: give --repeat at most "), "{error}");
}

#[test]
fn packets_go_from_capture_to_capture_and_are_counted() {
    if !has_dpdk() {
        return;
    }
    let directory = scratch("captures");
    let out = |port: u16| directory.join(format!("out{port}.pcap"));
    let stf = directory.join("hosts.stf");
    fs::write(&stf, HOSTS).unwrap();
    let port = |port: u16| format!("{port}=pcap:{},{}", stf.display(), out(port).display());
    let ran = bacus()
        .arg("run")
        .arg(path(&format!("{L2FWD}.p4")))
        .arg("--entries")
        .arg(&stf)
        .args(["--repeat", "100", "--workers", "2"])
        .args((0..5).flat_map(|number| ["--port".to_string(), port(number)]))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{text}{}", String::from_utf8_lossy(&ran.stderr));
    // What each port sends is what the file expects there, a hundred times.
    for number in 1..4u16 {
        let expected = HOSTS.lines().filter(|line| line.starts_with(&format!("expect {number} "))).count();
        assert_eq!(capture(&out(number)).len(), 100 * expected, "port {number}\n{text}");
    }
    assert!(text.contains("digest station_t: ") && text.contains("packets per second"), "{text}");
    // A frame too short for its header is dropped before the tables; one station is unknown to the first, one to the second.
    let figures = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
        line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect::<Vec<u64>>()
    };
    assert_eq!(figures("Bridge.smac"), [1, 300, 100], "entries, hits, misses\n{text}");
    assert_eq!(figures("Bridge.dmac"), [2, 300, 100], "entries, hits, misses\n{text}");
    assert_eq!(figures("dropped"), [200], "{text}");
}

/// Stopped while packets come, some of them wait to be dropped with others: they are counted before the switch prints its counts.
#[test]
fn what_waits_when_the_switch_is_stopped_is_counted() {
    if !has_dpdk() {
        return;
    }
    let directory = scratch("stopped");
    let plan = directory.join("lanes.plan");
    let lanes = fs::read_to_string(path("crates/cli/tests/plans/ipv4fwd_vector.plan")).unwrap();
    fs::write(&plan, lanes.replace("  descriptor own\n", "")).unwrap();
    let app = |ending: &str| path(&format!("apps/ipv4fwd/{ending}")).display().to_string();
    let out = |port: u16| format!("{port}=pcap:,{}", directory.join(format!("out{port}.pcap")).display());
    let ran = bacus()
        .args(["run", &app("ipv4fwd.p4"), "--entries", &app("entries.stf"), "--plan", &plan.display().to_string()])
        .args(["--port", &format!("0=pcap:{},", app("ipv4fwd.stf")), "--repeat", "100000", "--duration", "0.3"])
        .args((1..4).flat_map(|number| ["--port".to_string(), out(number)]))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{text}{}", String::from_utf8_lossy(&ran.stderr));
    let figures =
        |line: &str| line.split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect::<Vec<u64>>();
    let lines = |begins: fn(&str) -> bool| text.lines().filter(move |line| begins(line)).map(figures);
    let ports: Vec<Vec<u64>> = lines(|line| line.starts_with(|first: char| first.is_ascii_digit()))
        .filter(|figures| figures.len() == 7)
        .collect();
    let [came, sent] = [0, 2].map(|column| ports.iter().map(|port| port[column]).sum::<u64>());
    let dropped: u64 = lines(|line| line.starts_with("dropped ")).map(|figures| figures[0]).sum();
    assert!(came > 0 && dropped > 0 && came == sent + dropped, "{text}");
    fs::remove_dir_all(directory).unwrap();
}

/// More copies than there are buffers: each packet that comes is mirrored to as many members as a session may name, and all of a burst at once.
#[test]
fn copies_that_found_no_memory_are_counted() {
    if !has_dpdk() {
        return;
    }
    let directory = scratch("copies");
    let (stf, out) = (directory.join("mirrored.stf"), directory.join("out.pcap"));
    let members = " 4".repeat(64);
    let packet = "packet 1 02000000000b02000000000a0800aa\n".repeat(32);
    let entries = "add bridges hdr.ethernet.dst:0x02000000000b forward(port:1)\nadd hosts hdr.ethernet.src:0x02000000000a watched(session:9)\n\
                   mc_mgrp_create 2\nmirroring_add_mc 9 2\n";
    let group = format!("mc_node_create 1{members}\nmc_node_associate 2 0\n");
    fs::write(&stf, format!("{entries}{group}{packet}")).unwrap();
    let ran = bacus()
        .args(["run", "--buffers", "1024", "--repeat", "3", "--port"])
        .arg(format!("1=pcap:{},{}", stf.display(), out.display()))
        .args(["--port", "4=pcap:,", "--entries"])
        .arg(&stf)
        .arg(path("crates/cli/tests/plans/replicates.p4"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{text}{}", String::from_utf8_lossy(&ran.stderr));
    let number = |line: &str, word: usize| -> u64 {
        let line = text.lines().find(|found| found.trim_start().starts_with(line) || found.ends_with(line));
        let word = line.and_then(|line| line.split_whitespace().nth(word));
        word.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
    };
    let lost = number("no memory for a copy", 0);
    assert_eq!(number("dropped", 1), lost, "{text}");
    assert!(lost > 0, "{text}");
    // Port, packets and bytes in, packets out: what came has left, and of its copies those that are not counted as dropped.
    assert_eq!((number("1 ", 1), number("1 ", 3), number("4 ", 3)), (96, 96, 96 * 64 - lost), "{text}");
}

#[test]
fn what_is_wrong_is_said_once_and_nothing_is_left_behind() {
    let directory = scratch("wrong");
    let program = path(&format!("{L2FWD}.p4"));
    let cut = directory.join("cut.pcap");
    fs::write(&cut, [&0xa1b2_c3d4u32.to_le_bytes()[..], &[0; 30]].concat()).unwrap();
    let out = directory.join("out.pcap");
    let cases: [(String, i32, &str); 8] = [
        (format!("0=pcap:{},{}", cut.display(), out.display()), 1, "link type 0"),
        (format!("0=pcap:{},{}", directory.join("none.pcap").display(), out.display()), 1, "no such file"),
        ("0=nosuch0".to_string(), 1, "there is no interface `nosuch0`"),
        ("veth0".to_string(), 2, "write N=DEVICE"),
        ("65536=veth0".to_string(), 2, "0 to 65535"),
        (format!("0=pcap:,{}/none/out.pcap", directory.display()), 1, "there is no directory"),
        ("0=pcap:,/dev/full".to_string(), 3, "/dev/full: no space left on device"),
        (format!("0=pcap:{},", path("README.md").display()), 1, "is no command"),
    ];
    for (port, code, said) in cases {
        let ran = bacus().arg("run").arg(&program).args(["--port", &port]).output().unwrap();
        let text = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(code), "{port}: {text}");
        assert!(text.contains(said), "{port}: {text}");
    }
    fs::remove_file(&cut).unwrap();
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "nothing half written");
}

#[test]
fn entries_that_do_not_fit_are_refused_with_their_place() {
    if !has_dpdk() {
        return;
    }
    let directory = scratch("entries");
    let program = path(&format!("{L2FWD}.p4"));
    let cases = [
        ("add nothing hdr.ethernet.dst:1 forward(port:1)\n", "nothing"),
        ("add dmac hdr.ethernet.dst:0x10000000000000 forward(port:1)\n", "48 bits"),
        ("add dmac hdr.ethernet.dst:1 forward(port:1)\nadd dmac hdr.ethernet.dst:1 forward(port:2)\n", ":2:"),
        ("bla bla\n", ":1:1"),
    ];
    for (at, (text, said)) in cases.into_iter().enumerate() {
        let file = directory.join(format!("entries{at}.stf"));
        fs::write(&file, text).unwrap();
        let ran = bacus().arg("run").arg(&program).args(["--port", "0=pcap:,"]).arg("--entries").arg(&file).output();
        let ran = ran.unwrap();
        let error = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(1), "{text}: {error}");
        assert!(error.contains(said) && error.contains(&format!("entries{at}.stf")), "{text}: {error}");
    }
}

#[test]
fn a_million_entries_come_from_a_generator() {
    if !has_dpdk() {
        return;
    }
    let ran = bacus()
        .arg("run")
        .arg(path("apps/ipv4fwd/ipv4fwd.p4"))
        .args(["--port", "0=pcap:,", "--entries", "gen:routes:20000:7"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{text}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(text.contains("20000 entries loaded"), "{text}");
}

/// What comes by a pipe can be read once.
#[test]
fn a_plan_may_come_by_a_pipe() {
    if !has_dpdk() {
        return;
    }
    let program = path(&format!("{L2FWD}.p4")).display().to_string();
    for flag in ["--plan", "--pin"] {
        let mut command = bacus();
        command.args(["run", &program, "--port", "0=pcap:,", flag, "/dev/stdin"]);
        let mut ran = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        ran.stdin.take().unwrap().write_all(b"plan {\n  burst 64\n}\n").unwrap();
        let ran = ran.wait_with_output().unwrap();
        assert!(ran.status.success(), "{flag}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn a_written_plan_decides_how_many_packets_come_at_once() {
    if !has_dpdk() {
        return;
    }
    let directory = scratch("bursts");
    let shown = bacus().arg("show").arg(path(&format!("{L2FWD}.p4"))).output().unwrap();
    let text = |plan: &str| [&shown.stdout, plan.as_bytes()].concat();
    let (plain, behind, plan) = (directory.join("plain.hlir"), directory.join("behind.hlir"), directory.join("a.plan"));
    fs::write(&plain, text("")).unwrap();
    fs::write(&behind, text("\nplan {\n  burst 64\n}\n")).unwrap();
    fs::write(&plan, "plan {\n  burst 128\n}\n").unwrap();
    let cache = directory.join("cache");
    for (program, given, burst) in [(&plain, None, 32), (&plain, Some(&plan), 128), (&behind, None, 64)] {
        let given = given.iter().flat_map(|file| ["--plan".as_ref(), file.as_os_str()]);
        let mut command = bacus();
        command.env("BACUS_CACHE", &cache).arg("run").arg(program).args(["--port", "0=pcap:,"]).args(given);
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{program:?}: {}", String::from_utf8_lossy(&ran.stderr));
        let mut files = fs::read_dir(cache.join("pipelines")).unwrap().map(|file| file.unwrap().path());
        let c = files.find(|file| file.extension().is_some_and(|ending| ending == "c")).unwrap();
        let text = fs::read_to_string(&c).unwrap();
        assert!(text.contains(&format!(".burst = {burst}u,")), "{program:?}: {burst}");
        // The next one is the only one again. Objects stay, and with them DPDK's layer.
        fs::remove_file(c).unwrap();
    }
    fs::remove_dir_all(directory).unwrap();
}

/// Numbers of ports are the program's: a few ports may have any of 16 bits.
#[test]
fn ports_have_any_number_of_16_bits() {
    if !has_dpdk() {
        return;
    }
    let directory = scratch("high-ports");
    let stf = directory.join("orders.stf");
    let orders = "add ports hdr.order.to:1 to(port:511)\nadd ports hdr.order.to:2 to(port:65535)\nadd ports hdr.order.to:3 to(port:0x10001)\n\
                  packet 40000 00000001 aa\npacket 40000 00000002 bb\npacket 1 00000003 cc\npacket 1 00000009 dd\n";
    fs::write(&stf, orders).unwrap();
    let out = |port: u16| directory.join(format!("{port}.pcap"));
    let port = |port: u16| format!("{port}=pcap:{},{}", stf.display(), out(port).display());
    let mut command = bacus();
    command.arg("run").arg(path("crates/cli/tests/architectures/ports_beyond_511.p4")).arg("--entries").arg(&stf);
    let ran =
        command.args([1, 511, 40000, 65535].iter().flat_map(|number| ["--port".to_string(), port(*number)])).output();
    let ran = ran.unwrap();
    let text = said(&ran);
    assert!(ran.status.success(), "{text}");
    let sent = [1, 511, 40000, 65535].map(|number| capture(&out(number)).concat());
    assert_eq!(sent, [vec![0, 0, 0, 9, 0xdd], vec![0, 0, 0, 1, 0xaa], vec![], vec![0, 0, 0, 2, 0xbb]], "{text}");
    assert!(text.contains("no such port"), "{text}");
    fs::remove_dir_all(directory).unwrap();
}

/// What a first run has compiled runs again where neither a compiler nor pkg-config is installed; another program does not.
#[test]
fn a_program_that_was_compiled_before_needs_no_compiler() {
    let directory = scratch("precompiled");
    let (cache, no_commands) = (directory.join("cache"), directory.join("bin"));
    fs::create_dir_all(&no_commands).unwrap();
    // The preprocessor of P4 is that of a C compiler, too.
    let hlir = |program: &str| {
        let shown = bacus().arg("show").arg(path(&format!("{program}.p4"))).output().unwrap();
        let file = directory.join("program.hlir");
        fs::write(&file, shown.stdout).unwrap();
        file
    };
    let run = |program: &str, is_without: bool| {
        let mut command = bacus();
        command.env("BACUS_CACHE", &cache).arg("run").arg(hlir(program)).args(["--port", "0=pcap:,"]);
        if is_without {
            command.env("PATH", &no_commands);
        }
        command.output().unwrap()
    };
    let text = |ran: &std::process::Output| String::from_utf8_lossy(&ran.stderr).into_owned();
    let refused = run(L2FWD, true);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused));
    assert!(text(&refused).contains("no C compiler: gcc, clang cannot be run"), "{}", text(&refused));
    let compiled = run(L2FWD, false);
    assert!(compiled.status.success(), "{}", text(&compiled));
    let again = run(L2FWD, true);
    assert!(again.status.success(), "{}", text(&again));
    let refused = run("apps/ipv4fwd/ipv4fwd", true);
    assert!(text(&refused).contains("what was compiled before needs none"), "{}", text(&refused));
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn several_workers_are_refused_where_state_would_be_wrong() {
    let directory = scratch("spread");
    let per_flow = path("crates/bench/tests/integration/workers.p4");
    let text = fs::read_to_string(&per_flow).unwrap();
    let program = |name: &str, index: &str| {
        let file = directory.join(name);
        fs::write(&file, text.replace("(bit<32>)h.flow.flow", index)).unwrap();
        file
    };
    let of_time = program("of_time.p4", "(bit<32>)s.ingress_global_timestamp[15:0]");
    let stf = directory.join("one.stf");
    fs::write(&stf, "packet 1 0001 00000000 00 112233445566778899aa\n").unwrap();
    let ran = |program: &Path, more: &[&str]| {
        let port = format!("1=pcap:{},", stf.display());
        let output = bacus().arg("run").arg(program).args(["--port", &port]).args(more).output().unwrap();
        (output.status.code(), said(&output))
    };
    let two = ["--workers", "2"];
    // An index that several flows may have in common is no field, by which workers could spread packets.
    let of_part = program("of_part.p4", "((bit<32>)h.flow.flow & 255)");
    let (code, text) = ran(&of_part, &two);
    assert!(code == Some(1) && text.contains("right only if packets are spread by h.flow.flow & "), "{text}");
    assert!(text.contains("hint: make the NICs spread them so and add --spread nic"), "{text}");
    let (code, text) = ran(&per_flow, &two);
    assert!(code == Some(0) && text.contains("note: --workers 2: the workers spread packets by h.flow.flow"), "{text}");
    let (code, text) = ran(&of_time, &two);
    assert!(code == Some(1) && text.contains("state asks for one worker: register"), "{text}");
    // What the NICs do is no help there.
    let (code, text) = ran(&of_time, &["--workers", "2", "--spread", "nic"]);
    assert!(code == Some(1) && text.contains("add --spread any where"), "{text}");
    for (program, more) in [
        (&per_flow, &["--workers", "2", "--spread", "nic"][..]),
        (&of_time, &["--workers", "2", "--spread", "any"]),
        (&of_time, &["--workers", "1"]),
    ] {
        let (code, text) = ran(program, more);
        assert!(code == Some(0) && text.contains("balance: in 1 "), "{more:?}: {text}");
    }
}
