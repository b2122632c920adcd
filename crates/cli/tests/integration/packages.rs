//! What packages and services need: manual pages made from the flags, and reports to a manager of services.

use crate::command::{bacus, has_dpdk, path, said, scratch};
use std::fs;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn each_command_has_a_manual_page_with_its_flags() {
    let folder = scratch("manual");
    let output = bacus().arg("manual").arg(&folder).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let page = |name: &str| fs::read_to_string(folder.join(format!("{name}.1"))).unwrap_or_else(|_| panic!("{name}"));
    let all = page("bacus");
    for command in ["check", "compile", "run", "ctl", "stat", "stf", "doctor", "capacity", "manual"] {
        let page = page(&format!("bacus-{command}"));
        let title = format!(".TH BACUS-{} 1", command.to_uppercase());
        assert!(page.contains(&title) && page.contains(&format!("\\fBbacus {command}\\fR")), "{page}");
        assert!(all.contains(&format!("bacus\\-{command}(1)")), "{all}");
    }
    let run = page("bacus-run");
    assert!(run.contains("\\-\\-until\\-idle") && run.contains("routes.stf"), "{run}");
    // Each page shall be one that was written from the flags: none is left from another command.
    assert!(fs::read_dir(&folder).unwrap().count() >= 15);
    let output = bacus().args(["manual", "/proc/none"]).output().unwrap();
    assert!(output.status.code() == Some(3) && said(&output).contains("/proc/none"), "{}", said(&output));
}

#[test]
fn a_manager_of_services_hears_that_packets_are_forwarded_and_that_the_switch_ends() {
    if !has_dpdk() {
        return;
    }
    let folder = scratch("notify");
    let socket = folder.join("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let program = path("apps/l2fwd/l2fwd.p4");
    let mut command = bacus();
    command.arg("run").arg(program).args(["--port", "1=net_ring0", "--until-idle", "--duration", "1", "--quiet"]);
    command.env("NOTIFY_SOCKET", &socket).env("XDG_RUNTIME_DIR", &folder).stderr(Stdio::piped());
    let process = command.spawn().unwrap();
    let heard = || {
        let mut bytes = [0; 512];
        let count = manager.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    };
    let first = heard();
    assert!(first.contains("READY=1") && first.contains("STATUS=forwards between 1 port"), "{first}");
    assert!(heard().contains("STOPPING=1"));
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    // One that is not there is no reason to stop.
    let mut command = bacus();
    command.arg("run").arg(path("apps/l2fwd/l2fwd.p4")).args(["--port", "1=net_ring0", "--duration", "0.1", "--quiet"]);
    let output = command.env("NOTIFY_SOCKET", folder.join("none")).env("XDG_RUNTIME_DIR", &folder).output().unwrap();
    assert!(output.status.success() && said(&output).contains("warning: the manager of services"), "{}", said(&output));
}

/// Under a systemd of its own, in namespaces: the unit has the rights that it declares, its program can be exchanged, and a switch that was killed is back.
#[test]
fn the_unit_starts_reloads_restarts_and_comes_back_under_systemd() {
    let ran = std::process::Command::new("sh").arg(path("scripts/unit")).arg(env!("CARGO_BIN_EXE_bacus")).output();
    let ran = ran.unwrap();
    if ran.status.code() == Some(3) {
        eprintln!("skipped: {}", said(&ran));
        return;
    }
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let has = |line: &str| assert!(text.lines().any(|found| found == line), "{line}: {text}{}", said(&ran));
    for step in ["start", "reload", "restart", "stop"] {
        has(&format!("{step}: 0"));
    }
    // Ready only when packets are forwarded; an ordinary user, with CAP_NET_ADMIN and CAP_NET_RAW alone (bits 12 and 13).
    has("StatusText=forwards between 2 ports; 0 entries at the start");
    has("CapEff:\t0000000000003000");
    has("NoNewPrivs:\t1");
    let user = text.lines().find_map(|line| line.strip_prefix("Uid:\t")?.split('\t').next()).unwrap_or_default();
    assert!(user.parse::<u32>().is_ok_and(|user| user != 0), "{text}");
    for port in ["1  up", "2  up"] {
        assert!(text.lines().any(|line| line.starts_with(&format!("port:    {port}"))), "{text}");
    }
    has("killed: ActiveState=active");
    has("killed: NRestarts=1");
    has("state: state.redb");
}
