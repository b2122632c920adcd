//! A real network: two hosts in namespaces of their own, joined by veth through `bacus run apps/ipv4fwd`, ping each other and send a file by TCP.
//!
//! Checksums of veth are left to hardware that is not there, so the hosts compute them (`ethtool -K … tx off`). Neighbours are static.
#![allow(clippy::unwrap_used)]

mod command;

use command::{bacus, has_dpdk, path, scratch};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A router of two networks: `10.0.1.0/24` behind port 0, `10.0.2.0/24` behind port 1.
const ROUTES: &str = "\
add routes hdr.ipv4.dst:0x0a000100/24 forward(port:0, dst:0x02aa00000001, src:0x02bb00000001)
add routes hdr.ipv4.dst:0x0a000200/24 forward(port:1, dst:0x02aa00000002, src:0x02bb00000002)
";

/// Namespaces that go when this does.
struct Namespaces {
    names: Vec<String>,
}

impl Namespaces {
    /// Two hosts and the switch between them, or why there are none.
    fn new() -> Result<Namespaces, String> {
        let names = ["host1", "host2", "switch"].map(|role| format!("bacus-{role}-{}", std::process::id()));
        let namespaces = Namespaces { names: names.to_vec() };
        for name in &names {
            ip(&["netns", "add", name])?;
        }
        for number in [1, 2] {
            namespaces.join(number)?;
        }
        Ok(namespaces)
    }

    fn join(&self, number: usize) -> Result<(), String> {
        let (host, switch) = (&self.names[number - 1], &self.names[2]);
        let (inner, outer) = (format!("eth{number}"), format!("port{number}"));
        let mac = format!("02:aa:00:00:00:0{number}");
        ip(&["-n", switch, "link", "add", &outer, "type", "veth", "peer", "name", &inner, "netns", host])?;
        ip(&["-n", switch, "link", "set", &outer, "up"])?;
        ip(&["-n", host, "link", "set", &inner, "address", &mac, "up"])?;
        ip(&["-n", host, "address", "add", &format!("10.0.{number}.1/24"), "dev", &inner])?;
        let gateway = format!("10.0.{number}.254");
        let router = format!("02:bb:00:00:00:0{number}");
        ip(&["-n", host, "neighbour", "add", &gateway, "lladdr", &router, "dev", &inner])?;
        ip(&["-n", host, "route", "add", "default", "via", &gateway])?;
        run(self.inside(number - 1, "ethtool").args(["-K", &inner, "tx", "off"]))
    }

    fn inside(&self, namespace: usize, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[namespace], program]);
        command
    }

    fn python(&self, namespace: usize, arguments: &[&str]) -> Command {
        let mut command = self.inside(namespace, "python3");
        command.arg(path("crates/cli/tests/network.py")).args(arguments);
        command
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            drop(ip(&["netns", "delete", name]));
        }
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    run(Command::new("ip").args(arguments))
}

fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|error| format!("{shown}: {error}"))?;
    let error = String::from_utf8_lossy(&output.stderr).trim().to_string();
    if output.status.success() { Ok(()) } else { Err(format!("{shown}: {error}")) }
}

/// A process that ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn hosts_ping_and_send_files_through_the_router() {
    if !has_dpdk() {
        return;
    }
    if let Err(reason) = run(Command::new("python3").arg("--version")) {
        eprintln!("skipped: the hosts' side is in Python: {reason}");
        return;
    }
    let namespaces = match Namespaces::new() {
        Ok(namespaces) => namespaces,
        Err(reason) => {
            eprintln!("skipped: no network namespaces here: {reason}");
            return;
        }
    };
    let directory = scratch("network");
    let routes = directory.join("routes.stf");
    fs::write(&routes, ROUTES).unwrap();
    let program = path("apps/ipv4fwd/ipv4fwd.p4");
    // Compiled outside, so that the switch comes up at once.
    assert!(bacus().arg("compile").arg(&program).arg("-o").arg(&directory).status().unwrap().success());
    let mut switch = namespaces.inside(2, env!("CARGO_BIN_EXE_bacus"));
    switch.env("BACUS_CACHE", bacus().get_envs().find(|(name, _)| *name == "BACUS_CACHE").unwrap().1.unwrap());
    switch.arg("run").arg(&program).arg("--entries").arg(&routes);
    switch.args(["--port", "0=port1", "--port", "1=port2", "--duration", "60"]);
    let mut switch = Running(switch.stdout(Stdio::piped()).spawn().unwrap());
    wait_for(&namespaces);

    run(&mut namespaces.python(0, &["ping", "10.0.2.1", "20"])).unwrap();
    run(&mut namespaces.python(1, &["ping", "10.0.1.1", "20"])).unwrap();
    let server = Running(namespaces.python(1, &["serve"]).spawn().unwrap());
    std::thread::sleep(Duration::from_millis(500));
    run(&mut namespaces.python(0, &["send", "10.0.2.1", "4194304"])).unwrap();
    drop(server);

    // Ctrl-C is how a switch ends.
    run(Command::new("kill").args(["-INT", &switch.0.id().to_string()])).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut switch.0.stdout.take().unwrap(), &mut text).unwrap();
    assert!(switch.0.wait().unwrap().success(), "{text}");
    assert!(text.contains("Router.routes"), "{text}");
}

/// Until the first answer comes, or half a minute has gone.
fn wait_for(namespaces: &Namespaces) {
    for _ in 0..15 {
        if run(&mut namespaces.python(0, &["ping", "10.0.2.1", "1"])).is_ok() {
            return;
        }
    }
    panic!("the switch does not answer");
}
