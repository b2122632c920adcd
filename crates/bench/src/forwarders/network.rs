//! Two network namespaces: one has the source and the sink of packets, the other the router between them. Both go when this does.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The router's ports in its namespace, its addresses there, and those of the neighbours. `bench/forwarders/offer.c` has the MAC addresses, too.
pub const PORTS: [&str; 2] = ["port0", "port1"];
pub const ROUTER: [(&str, &str); 2] = [("10.0.1.1/24", "02:00:00:00:01:01"), ("10.0.3.1/24", "02:00:00:00:02:01")];
pub const NEXT_HOP: (&str, &str) = ("10.0.3.2", "02:00:00:00:02:02");
/// Where all packets go.
pub const ROUTE: &str = "10.0.2.0/24";

const ENDS: &str = "bacus-ends-";
const ROUTER_OF: &str = "bacus-router-";

/// How the names of namespaces begin: the rest is the process that made them, and a number.
const OURS: [&str; 4] = [ENDS, ROUTER_OF, "bacus-host", "bacus-switch-"];

/// The end of a namespace's name, for a network more. Namespaces of processes that were killed go.
pub fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    if let Ok(listed) = std::fs::read_dir("/run/netns") {
        let names = listed.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let is_running = |process: u32| std::path::Path::new(&format!("/proc/{process}")).exists();
        for name in names.filter(|name| maker(name).is_some_and(|process| !is_running(process))) {
            drop(run("ip", &["netns", "delete", &name]));
        }
    }
    format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The process that made a namespace of ours.
fn maker(name: &str) -> Option<u32> {
    OURS.iter().find(|start| name.starts_with(**start))?;
    name.rsplit('-').nth(1)?.parse().ok()
}

pub struct Network {
    pub ends: String,
    pub router: String,
}

impl Network {
    pub fn new() -> Result<Network, String> {
        let unique = unique();
        let network = Network { ends: format!("{ENDS}{unique}"), router: format!("{ROUTER_OF}{unique}") };
        network.build()?;
        Ok(network)
    }

    fn build(&self) -> Result<(), String> {
        for name in [&self.ends, &self.router] {
            run("ip", &["netns", "add", name])?;
            // Nothing is sent but what is measured.
            run("ip", &["netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1"])?;
        }
        for ((port, (_, mac)), end) in PORTS.iter().zip(ROUTER).zip(["in0", "out0"]) {
            let peer = ["type", "veth", "peer", "name", end, "netns", &self.ends];
            run("ip", &[&["-n", &self.router, "link", "add", port, "address", mac][..], &peer].concat())?;
            run("ip", &["-n", &self.router, "link", "set", port, "up"])?;
            run("ip", &["-n", &self.ends, "link", "set", end, "up"])?;
        }
        Ok(())
    }

    /// A program, to be run in the router's namespace or in the other.
    pub fn inside(&self, namespace: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace, program]);
        command
    }

    /// A command in the router's namespace.
    pub fn set(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        run("ip", &[&["netns", "exec", &self.router, program], arguments].concat())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in [&self.ends, &self.router] {
            drop(run("ip", &["netns", "delete", name]));
        }
    }
}

/// Runs a command to its end; its error output, if it fails.
pub fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program} {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
}

/// A program that ends when this does.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            drop(self.0.kill());
            drop(self.0.wait());
        }
    }
}

/// Waits for the end of a program, for so long at most.
pub fn ended(child: &mut Child, limit: Duration) -> Result<ExitStatus, String> {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
    Err(format!("not at its end after {} s", limit.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::{maker, run, unique};

    #[test]
    fn the_maker_of_a_namespace_is_in_its_name() {
        let of = |names: &[&str]| names.iter().map(|name| maker(name)).collect::<Vec<_>>();
        let ours = ["bacus-ends-12-0", "bacus-router-12-1", "bacus-host2-12-0", "bacus-switch-12-0"];
        assert_eq!(of(&ours), [Some(12); 4]);
        assert_eq!(of(&["ends-12-0", "mn-12-0", "bacus-ends-", "bacus-ends-x-0"]), [None; 4]);
    }

    #[test]
    fn namespaces_of_processes_that_are_gone_are_deleted() {
        // No process has this number: it is beyond the kernel's largest.
        let [gone, stays] = [format!("bacus-ends-{}-0", u32::MAX), format!("bacus-ends-{}-999", std::process::id())];
        if run("ip", &["netns", "add", &gone]).is_err() || run("ip", &["netns", "add", &stays]).is_err() {
            return;
        }
        unique();
        let are_there = [&gone, &stays].map(|name| std::path::Path::new("/run/netns").join(name).exists());
        drop(run("ip", &["netns", "delete", &stays]));
        assert_eq!(are_there, [false, true]);
    }
}
