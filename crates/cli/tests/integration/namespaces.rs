//! Hosts and a switch in network namespaces of their own, joined by veth with the kernel's defaults, and `bacus run` between them.

use crate::command::{bacus, has_dpdk, path};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Namespaces that go when this does. Host N has `eth0` with the addresses 10.0.0.N and fd00::N, and the MAC address 02:aa:00:00:00:0N; its other end is
/// `portN` of the switch's namespace.
pub struct Network {
    pub hosts: Vec<String>,
    pub switch: String,
}

impl Network {
    /// So many hosts, and the switch between them; none where namespaces or DPDK are missing, which is said.
    pub fn new(hosts: usize, mtu: u32) -> Option<Network> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        if !has_dpdk() {
            return None;
        }
        if let Err(reason) = run(Command::new("python3").arg("--version")) {
            eprintln!("skipped: the hosts' side is in Python: {reason}");
            return None;
        }
        let unique = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let host = |number: usize| format!("bacus-host{number}-{unique}");
        let network = Network { hosts: (1..=hosts).map(host).collect(), switch: format!("bacus-switch-{unique}") };
        match network.build(mtu) {
            Ok(()) => Some(network),
            Err(reason) => {
                eprintln!("skipped: no network namespaces here: {reason}");
                None
            }
        }
    }

    fn build(&self, mtu: u32) -> Result<(), String> {
        for name in self.hosts.iter().chain([&self.switch]) {
            ip(&["netns", "add", name])?;
        }
        // Interfaces of the switch are no hosts: nothing of their own is sent there.
        run(self.inside(&self.switch, "sysctl").args(["-qw", "net.ipv6.conf.default.disable_ipv6=1"]))?;
        (1..=self.hosts.len()).try_for_each(|number| self.join(number, mtu))
    }

    /// Lays the cable of a host.
    pub fn join(&self, number: usize, mtu: u32) -> Result<(), String> {
        let (host, port, mtu) = (&self.hosts[number - 1], format!("port{number}"), mtu.to_string());
        let peer = ["peer", "name", "eth0", "mtu", &mtu, "netns", host];
        ip(&[&["-n", &self.switch, "link", "add", &port, "mtu", &mtu, "type", "veth"][..], &peer].concat())?;
        ip(&["-n", &self.switch, "link", "set", &port, "up"])?;
        ip(&["-n", host, "link", "set", "lo", "up"])?;
        ip(&["-n", host, "link", "set", "eth0", "address", &mac(number), "up"])?;
        ip(&["-n", host, "address", "add", &format!("10.0.0.{number}/24"), "dev", "eth0"])?;
        ip(&["-n", host, "address", "add", &format!("fd00::{number}/64"), "dev", "eth0", "nodad"])
    }

    /// From now on hosts send nothing by themselves, as IPv6 does.
    pub fn silence(&self) {
        for host in &self.hosts {
            run(self.inside(host, "sysctl").args(["-qw", "net.ipv6.conf.all.disable_ipv6=1"])).unwrap();
        }
    }

    /// A program, to be run in a namespace.
    pub fn inside(&self, namespace: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace, program]);
        command
    }

    /// What a host does, by `network.py`.
    pub fn host(&self, number: usize, arguments: &[&str]) -> Command {
        let mut command = self.inside(&self.hosts[number - 1], "python3");
        command.arg(path("crates/cli/tests/network.py")).args(arguments);
        command
    }

    /// The same, done to its end.
    pub fn does(&self, number: usize, arguments: &[&str]) -> String {
        said(&mut self.host(number, arguments)).unwrap_or_else(|error| panic!("host {number} {arguments:?}: {error}"))
    }

    /// A server on a host, which listens when this returns.
    pub fn serve(&self, number: usize, arguments: &[&str]) -> Server {
        let mut child = self.host(number, arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "listening\n", "host {number} {arguments:?}");
        Server { child, out }
    }

    /// What the kernel counts of a switch's interface.
    pub fn kernel_count(&self, port: &str, count: &str) -> u64 {
        let file = format!("/sys/class/net/{port}/statistics/{count}");
        said(self.inside(&self.switch, "cat").arg(file)).unwrap().trim().parse().unwrap()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in self.hosts.iter().chain([&self.switch]) {
            drop(ip(&["netns", "delete", name]));
        }
    }
}

pub fn mac(host: usize) -> String {
    format!("02:aa:00:00:00:{host:02}")
}

pub struct Server {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Server {
    /// Waits until it ends by itself. What it has printed since it listens.
    pub fn end(mut self) -> String {
        let mut text = String::new();
        self.out.read_to_string(&mut text).unwrap();
        assert!(self.child.wait().unwrap().success(), "{text}");
        text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub fn ip(arguments: &[&str]) -> Result<(), String> {
    run(Command::new("ip").args(arguments))
}

pub fn run(command: &mut Command) -> Result<(), String> {
    said(command).map(drop)
}

/// What a command prints, if it succeeds.
pub fn said(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|error| format!("{shown}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(format!("{shown}: {}: {}{}", output.status, text(&output.stdout), text(&output.stderr).trim()))
}

/// A switch that carries packets.
pub struct Switch {
    child: Child,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Switch {
    /// `bacus run` with these arguments; `prefix` are words before it, such as `ip netns exec NAME`. Returns when it is ready.
    pub fn start(prefix: &[&str], program: &str, arguments: &[&str]) -> Switch {
        let words: Vec<&str> = prefix.iter().copied().chain([env!("CARGO_BIN_EXE_bacus")]).collect();
        let mut command = Command::new(words[0]);
        command.envs(bacus().get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.args(&words[1..]).arg("run").arg(path(program)).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let errors = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || errors.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut switch = Switch { child, lines, heard: Vec::new() };
        switch.hears("ready: ", Duration::from_secs(120));
        switch
    }

    /// One in the network's namespace for it.
    pub fn of(network: &Network, program: &str, arguments: &[&str]) -> Switch {
        Switch::start(&["ip", "netns", "exec", &network.switch], program, arguments)
    }

    /// Waits for a line on standard error that has this in it.
    pub fn hears(&mut self, text: &str, limit: Duration) -> String {
        let end = Instant::now() + limit;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.heard.push(line.clone());
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(error) => panic!("no `{text}` ({error}) in {:?}", self.heard),
            }
        }
    }

    pub fn signal(&self, name: &str) {
        run(Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()])).unwrap();
    }

    /// Ends it by a signal, or waits until it ends by itself.
    pub fn end(mut self, signal: Option<&str>) -> Output {
        if let Some(signal) = signal {
            self.signal(signal);
        }
        let mut stdout = Vec::new();
        self.child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
        let status = self.child.wait().unwrap();
        while let Ok(line) = self.lines.recv() {
            self.heard.push(line);
        }
        Output { status, stdout, stderr: self.heard.join("\n").into_bytes() }
    }

    /// Ends it, and reads its summary; it was started with `--json`.
    pub fn account(self) -> Account {
        let ended = self.end(Some("INT"));
        let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.success(), "{}: {errors}", ended.status);
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        Account(serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_else(|_| panic!("{text}")))
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A summary as JSON.
#[derive(Debug)]
pub struct Account(pub Value);

impl Account {
    pub fn count(&self, name: &str) -> u64 {
        self.0[name].as_u64().unwrap_or_else(|| panic!("no {name} in {}", self.0))
    }

    pub fn port(&self, number: u64, name: &str) -> u64 {
        let ports = self.0["ports"].as_array().unwrap();
        let port = ports.iter().find(|port| port["port"] == number).unwrap_or_else(|| panic!("no port {number}"));
        port[name].as_u64().unwrap_or_else(|| panic!("no {name} in {port}"))
    }

    pub fn ports(&self, name: &str) -> u64 {
        self.0["ports"].as_array().unwrap().iter().map(|port| port[name].as_u64().unwrap()).sum()
    }

    /// Each packet that came, and each copy that was made of one, has left, was dropped for a reason, or could not be sent.
    pub fn is_balanced(&self, copies: u64) {
        let gone = self.count("sent") + self.count("dropped") + self.count("not_sent") + self.count("to_controller");
        assert_eq!(self.count("received") + copies, gone, "{}", self.0);
        assert_eq!(self.ports("received"), self.count("received"), "{}", self.0);
        let not_sent = self.ports("not_sent") + self.count("to_ports_without_device");
        assert_eq!((self.ports("sent"), not_sent), (self.count("sent"), self.count("not_sent")), "{}", self.0);
    }
}
