//! TCP between two hosts in namespaces of their own, by iperf3, over what lies between them: nothing, the kernel's bridge, or `apps/l2switch`. Offloads are as
//! the kernel has them, so hosts leave segmentation and checksums to their interfaces.

use super::network::{Running, ended, run, unique};
use super::routers::program;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of TCP in a frame of 1,514: the unit of the rates, as a frame is what a switch without such offloads would get.
pub const SEGMENT: f64 = 1448.0;
/// What is measured, as variants are named: without anything between the hosts first.
pub const WIRE: &str = "tcp:wire";
pub const BRIDGE: &str = "tcp:bridge";
pub const OWN: &str = "tcp:bacus";
pub const ALL: [&str; 4] = [WIRE, BRIDGE, OWN, "tcp:bacus-xdp"];

/// Multicast group 1 is all ports.
const FLOOD: &str = "mc_mgrp_create 1\nmc_node_create 0 1 2\nmc_node_associate 1 0\n";
/// A switch has so long until both hosts find each other.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What is not installed, and the way out.
pub fn lacks() -> Option<String> {
    program("iperf3").is_none().then(|| "not installed: iperf3 (apt-get install iperf3)".to_string())
}

/// The hosts' namespaces and the switch's, which go when this does.
struct Hosts {
    hosts: [String; 2],
    switch: String,
}

impl Hosts {
    fn new(variant: &str) -> Result<Hosts, String> {
        let unique = unique();
        let host = |number: u32| format!("bacus-host{number}-{unique}");
        let hosts = Hosts { hosts: [host(1), host(2)], switch: format!("bacus-switch-{unique}") };
        hosts.build(variant)?;
        Ok(hosts)
    }

    fn build(&self, variant: &str) -> Result<(), String> {
        for name in self.hosts.iter().chain([&self.switch]) {
            run("ip", &["netns", "add", name])?;
            run("ip", &["netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1"])?;
        }
        let [one, other] = &self.hosts;
        if variant == WIRE {
            let peer = ["type", "veth", "peer", "name", "eth0", "netns", other];
            run("ip", &[&["-n", one, "link", "add", "eth0"][..], &peer].concat())?;
        } else {
            for (host, port) in self.hosts.iter().zip(["port1", "port2"]) {
                let peer = ["type", "veth", "peer", "name", "eth0", "netns", host];
                run("ip", &[&["-n", &self.switch, "link", "add", port][..], &peer].concat())?;
                run("ip", &["-n", &self.switch, "link", "set", port, "up"])?;
            }
        }
        for (host, address) in self.hosts.iter().zip(["10.0.0.1/24", "10.0.0.2/24"]) {
            run("ip", &["-n", host, "address", "add", address, "dev", "eth0"])?;
            run("ip", &["-n", host, "link", "set", "eth0", "up"])?;
        }
        if variant == BRIDGE {
            run("ip", &["-n", &self.switch, "link", "add", "name", "bridge0", "type", "bridge"])?;
            for port in ["port1", "port2"] {
                run("ip", &["-n", &self.switch, "link", "set", port, "master", "bridge0"])?;
            }
            run("ip", &["-n", &self.switch, "link", "set", "bridge0", "up"])?;
        }
        Ok(())
    }

    fn inside(&self, namespace: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace, program]).stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn start(&self, folder: &Path, kind: &str) -> Result<Running, String> {
        let flood = folder.join("flood.stf");
        fs::write(&flood, FLOOD).map_err(|error| error.to_string())?;
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = self.inside(&self.switch, &own.display().to_string());
        command.args(["run", "apps/l2switch/l2switch.p4", "--entries"]).arg(flood);
        for number in 1..=2 {
            command.args(["--port".to_string(), format!("{number}={kind}:port{number}")]);
        }
        spawned(command.stdout(Stdio::null()))
    }

    fn wait_until_connected(&self) -> Result<(), String> {
        let begun = Instant::now();
        while begun.elapsed() < TIMEOUT {
            let ping = ["netns", "exec", &self.hosts[0], "ping", "-c", "1", "-W", "1", "10.0.0.2"];
            if run("ip", &ping).is_ok() {
                return Ok(());
            }
        }
        Err(format!("the hosts do not find each other within {} s", TIMEOUT.as_secs()))
    }

    /// Bits a second that arrive.
    fn rate(&self, seconds: u32) -> Result<f64, String> {
        let mut server = self.inside(&self.hosts[1], "iperf3");
        let mut server = spawned(server.args(["-s", "-1"]).stdout(Stdio::null()))?;
        // It does not report when it listens.
        for _ in 0..20 {
            thread::sleep(Duration::from_millis(200));
            let mut client = self.inside(&self.hosts[0], "iperf3");
            let client = client.args(["-c", "10.0.0.2", "-J", "-t", &seconds.to_string()]).stdout(Stdio::piped());
            let mut client = spawned(client)?;
            ended(&mut client.0, TIMEOUT + Duration::from_secs(u64::from(seconds)))?;
            if let Some(rate) = received(&mut client.0) {
                drop(ended(&mut server.0, TIMEOUT));
                return Ok(rate);
            }
        }
        Err("iperf3 does not connect".to_string())
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in self.hosts.iter().chain([&self.switch]) {
            drop(run("ip", &["netns", "delete", name]));
        }
    }
}

fn spawned(command: &mut Command) -> Result<Running, String> {
    command.spawn().map(Running).map_err(|error| error.to_string())
}

/// What the client of iperf3 reports.
fn received(client: &mut Child) -> Option<f64> {
    let mut text = String::new();
    client.stdout.as_mut()?.read_to_string(&mut text).ok()?;
    let report: serde_json::Value = serde_json::from_str(&text).ok()?;
    report["end"]["sum_received"]["bits_per_second"].as_f64().filter(|rate| *rate > 0.0)
}

/// Frames a second of each run, from the least to the most.
pub fn rates(variant: &str, folder: &Path, (runs, seconds): (u32, u32)) -> Result<Vec<f64>, String> {
    let folder = folder.join(variant.replace(':', "-"));
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let hosts = Hosts::new(variant)?;
    let _switch = match variant.strip_prefix(OWN) {
        Some("") => Some(hosts.start(&folder, "packet")?),
        Some(_) => Some(hosts.start(&folder, "xdp")?),
        None => None,
    };
    hosts.wait_until_connected()?;
    let rates = (0..runs).map(|_| hosts.rate(seconds)).collect::<Result<Vec<f64>, String>>()?;
    let mut rates: Vec<f64> = rates.into_iter().map(|bits| bits / 8.0 / SEGMENT).collect();
    rates.sort_by(f64::total_cmp);
    Ok(rates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_send_over_a_wire() {
        if let Some(why) = lacks().or_else(|| super::super::routers::may_run().err()) {
            return eprintln!("skipped: {why}");
        }
        let folder = std::env::temp_dir().join(format!("bacus-tcp-test-{}", std::process::id()));
        let rates = rates(WIRE, &folder, (1, 1)).expect("TCP between two hosts");
        assert!(rates[0] > 1000.0, "{rates:?}");
        fs::remove_dir_all(folder).expect("it is there");
    }
}
