//! A switch with sixty interfaces, in a network namespace of its own.

use crate::command::{bacus, has_dpdk, path};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

const PORTS: u32 = 60;

/// 300 MB as it is installed. The command of the tests is not optimized, and four times as large.
const MOST_MEGABYTES: u64 = 320;

#[test]
fn sixty_interfaces_fit_into_little_memory() {
    if !has_dpdk() {
        return;
    }
    let make = format!(
        "for n in $(seq {PORTS}); do ip link add p$n type veth peer name q$n && ip link set p$n up || exit 9; done; \
         echo ready >&2; exec \"$@\""
    );
    let ports = (1..=PORTS).flat_map(|number| ["--port".to_string(), format!("{number}=p{number}")]);
    let mut switch = Command::new("unshare")
        .args(["-r", "-n", "sh", "-c", &make, "sh"])
        .arg(bacus().get_program())
        .arg("run")
        .arg(path("apps/l2switch/l2switch.p4"))
        .args(ports)
        .envs(bacus().get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(switch.stderr.take().unwrap()).lines();
    let said: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.starts_with("ready: ")).collect();
    if said.first().is_none_or(|line| line != "ready") {
        eprintln!("skipped: no network namespaces here: {said:?}");
        drop(switch.wait());
        return;
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", switch.id())).unwrap_or_default();
    drop(switch.kill());
    drop(switch.wait());
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_else(|| panic!("{said:?}"));
    let kilobytes: u64 = resident.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes >> 10 <= MOST_MEGABYTES, "{resident}");
}
