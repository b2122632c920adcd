//! The routers that are measured beside each other: how each is started, and what it needs.

use super::network::{NEXT_HOP, Network, PORTS, ROUTE, ROUTER, Running, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a router needs to start.
pub struct Place<'a> {
    pub network: &'a Network,
    /// A folder of this run's own.
    pub folder: &'a Path,
    /// The CPU of its thread that forwards.
    pub cpu: usize,
}

/// What runs while a router is measured.
pub type Started = Result<Vec<Running>, String>;

pub struct Router {
    /// As a variant.
    pub name: &'static str,
    /// Programs that it is made of.
    pub needs: &'static [&'static str],
    /// How they are installed.
    pub hint: &'static str,
    pub start: fn(&Place<'_>) -> Started,
}

/// How the kernel's forwarding is named: the others are compared with it.
pub const KERNEL: &str = "veth:kernel";
/// Our own are named so.
pub const OWN: &str = "veth:bacus";

pub const ALL: [Router; 7] = [
    Router { name: "veth:bacus", needs: &[], hint: "", start: |place| bacus(place, "packet:") },
    Router { name: "veth:bacus-xdp", needs: &[], hint: "", start: |place| bacus(place, "xdp:") },
    Router { name: KERNEL, needs: &[], hint: "", start: kernel },
    Router {
        name: "veth:ovs-dpdk",
        needs: &[OVS, "ovs-vsctl", "ovs-ofctl", "ovsdb-server", "ovsdb-tool"],
        hint: "apt-get install openvswitch-switch-dpdk",
        start: |place| ovs(place, "net_af_packet"),
    },
    Router {
        name: "veth:ovs-dpdk-xdp",
        needs: &[OVS, "ovs-vsctl", "ovs-ofctl", "ovsdb-server", "ovsdb-tool"],
        hint: "apt-get install openvswitch-switch-dpdk",
        start: |place| ovs(place, "net_af_xdp"),
    },
    Router {
        name: "veth:vpp",
        needs: &["vpp", "vppctl"],
        hint: "apt-get install vpp vpp-plugin-core, where it is packaged (Debian 12 and Ubuntu 24.04 do not)",
        start: vpp,
    },
    Router {
        name: "veth:fastclick",
        needs: &["click"],
        hint: "build github.com/tbarbette/fastclick with its light flags (./configure --enable-user-multithread --disable-dynamic-linking \
               --enable-poll --enable-bound-port-transfer --disable-dpdk --disable-task-stats --disable-cpu-load && make install)",
        start: fastclick,
    },
];

const OVS: &str = "ovs-vswitchd-dpdk";
/// Where Debian puts it, beside the search path.
const FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/local/bin", "/usr/lib/openvswitch-switch-dpdk"];

/// The file of a program, if it is installed.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(FOLDERS.iter().map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

impl Router {
    /// What is not installed, and the way out.
    pub fn lacks(&self) -> Option<String> {
        let missing: Vec<&str> = self.needs.iter().copied().filter(|name| program(name).is_none()).collect();
        let one = (!missing.is_empty()).then(|| missing.join(", "))?;
        Some(format!("not installed: {one} ({})", self.hint))
    }
}

/// Starts a program in the router's namespace, on the router's CPU. Its output goes to a file of that name.
fn start(place: &Place<'_>, name: &str, program: &Path, arguments: &[String]) -> Result<Running, String> {
    let log = || fs::File::options().create(true).append(true).open(place.folder.join(format!("{name}.log")));
    let output = log().and_then(|file| Ok((file.try_clone()?, file))).map_err(|error| error.to_string())?;
    let mut command = place.network.inside(&place.network.router, "taskset");
    command.args(["-c", &place.cpu.to_string()]).arg(program).args(arguments);
    let child = command.stdin(Stdio::null()).stdout(output.0).stderr(output.1).spawn();
    child.map(Running).map_err(|error| format!("{}: {error}", program.display()))
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

/// A MAC address as a number of P4.
fn number(mac: &str) -> String {
    format!("0x{}", mac.replace(':', ""))
}

/// `apps/ipv4fwd` as a user runs it.
fn bacus(place: &Place<'_>, kind: &str) -> Started {
    let entries = place.folder.join("routes.stf");
    let (next, own) = (number(NEXT_HOP.1), number(ROUTER[1].1));
    let route = format!("add routes hdr.ipv4.dst:0x0a000200/24 forward(port:2, dst:{next}, src:{own})\n");
    fs::write(&entries, route).map_err(|error| error.to_string())?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut arguments = words("run apps/ipv4fwd/ipv4fwd.p4 --entries");
    arguments.push(entries.display().to_string());
    for (number, port) in PORTS.iter().enumerate() {
        arguments.extend(["--port".to_string(), format!("{}={kind}{port}", number + 1)]);
    }
    Ok(vec![start(place, "bacus", &own, &arguments)?])
}

/// The kernel's own router. Its work is done where the packets come in, unless another CPU is named.
fn kernel(place: &Place<'_>) -> Started {
    for (port, (address, _)) in PORTS.iter().zip(ROUTER) {
        place.network.set("ip", &["address", "add", address, "dev", port])?;
    }
    let (hop, mac) = NEXT_HOP;
    place.network.set("sysctl", &["-qw", "net.ipv4.ip_forward=1"])?;
    place.network.set("ip", &["neighbour", "add", hop, "lladdr", mac, "dev", PORTS[1]])?;
    place.network.set("ip", &["route", "add", ROUTE, "via", hop])?;
    let queue = format!("/sys/class/net/{}/queues/rx-0/rps_cpus", PORTS[0]);
    place.network.set("sh", &["-c", &format!("echo {:x} > {queue}", 1u64 << place.cpu.min(63))])?;
    Ok(Vec::new())
}

/// OVS on DPDK's devices for interfaces of the kernel, with a database and sockets of this run alone.
fn ovs(place: &Place<'_>, device: &str) -> Started {
    let file = |name: &str| place.folder.join(name).display().to_string();
    let tool = |name: &str| program(name).ok_or_else(|| format!("{name} is gone"));
    let variables = ["OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR", "OVS_SYSCONFDIR"];
    let set = |name: &str, arguments: &[String]| {
        let mut command = Command::new(tool(name)?);
        command.envs(variables.map(|variable| (variable, place.folder))).args(arguments);
        let output = command.output().map_err(|error| format!("{name}: {error}"))?;
        let failed = || format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
        if output.status.success() { Ok(()) } else { Err(failed()) }
    };
    set("ovsdb-tool", &words(&format!("create {} /usr/share/openvswitch/vswitch.ovsschema", file("conf.db"))))?;
    let quiet = "-vconsole:err -vsyslog:off";
    let database =
        format!("{} --remote=punix:{} --unixctl={} {quiet}", file("conf.db"), file("db.sock"), file("db.ctl"));
    let mut running = vec![start(place, "database", &tool("ovsdb-server")?, &words(&database))?];
    let devices: Vec<String> =
        PORTS.iter().enumerate().map(|(number, port)| format!("--vdev {device}{number},iface={port}")).collect();
    let own = "--no-pci --no-huge --legacy-mem -m 512 --no-telemetry --no-shconf --log-level=critical";
    let mut init = words("--retry --timeout=20 --no-wait init -- set Open_vSwitch . other_config:dpdk-init=true");
    init.push(format!("other_config:dpdk-extra=\"{own} {}\"", devices.join(" ")));
    init.push("other_config:dpdk-lcore-mask=1".to_string());
    init.push(format!("other_config:pmd-cpu-mask=\"{:x}\"", 1u64 << place.cpu.min(63)));
    set("ovs-vsctl", &init)?;
    let switch = format!("--disable-system --unixctl={} {quiet}", file("switch.ctl"));
    let mut command = place.network.inside(&place.network.router, "env");
    command.args(variables.map(|variable| format!("{variable}={}", place.folder.display())));
    let child = command.arg(tool(OVS)?).args(words(&switch)).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    running.push(Running(child.map_err(|error| format!("{OVS}: {error}"))?));
    let bridge = "--timeout=20 add-br router -- set Bridge router datapath_type=netdev fail_mode=secure";
    set("ovs-vsctl", &words(bridge))?;
    let rewrite = format!("mod_dl_dst:{},mod_dl_src:{}", NEXT_HOP.1, ROUTER[1].1);
    let flow = format!("ip,nw_dst={ROUTE},actions={rewrite},dec_ttl,output:2");
    set("ovs-ofctl", &["add-flow".to_string(), format!("unix:{}", file("router.mgmt")), flow])?;
    for number in 0..PORTS.len() {
        let options = format!("type=dpdk ofport_request={} options:dpdk-devargs={device}{number}", number + 1);
        set(
            "ovs-vsctl",
            &words(&format!("--timeout=20 add-port router p{number} -- set Interface p{number} {options}")),
        )?;
    }
    Ok(running)
}

/// VPP on packet sockets, with one worker.
fn vpp(place: &Place<'_>) -> Started {
    let file = |name: &str| place.folder.join(name).display().to_string();
    let mut lines = Vec::new();
    for (port, (address, mac)) in PORTS.iter().zip(ROUTER) {
        lines.push(format!("create host-interface name {port} hw-addr {mac}"));
        lines.push(format!("set interface ip address host-{port} {address}"));
        lines.push(format!("set interface state host-{port} up"));
    }
    let (hop, mac) = NEXT_HOP;
    lines.push(format!("set ip neighbor static host-{} {hop} {mac}", PORTS[1]));
    lines.push(format!("ip route add {ROUTE} via {hop} host-{}", PORTS[1]));
    fs::write(place.folder.join("vpp.cli"), lines.join("\n") + "\n").map_err(|error| error.to_string())?;
    let options = format!(
        "unix {{ nodaemon startup-config {} cli-listen {} }} cpu {{ main-core 0 corelist-workers {} }} plugins {{ plugin dpdk_plugin.so {{ disable }} }}",
        file("vpp.cli"),
        file("vpp.sock"),
        place.cpu
    );
    let vpp = program("vpp").ok_or("vpp is gone")?;
    Ok(vec![start(place, "vpp", &vpp, &words(&options))?])
}

/// FastClick's router elements on packet sockets.
fn fastclick(place: &Place<'_>) -> Started {
    let [first, second] = PORTS;
    let (own, next) = (ROUTER[1].1, NEXT_HOP.1);
    let script = format!(
        "FromDevice({first}, PROMISC true, SNIFFER false) -> Classifier(12/0800) -> Strip(14) -> CheckIPHeader \
         -> StaticIPLookup({ROUTE} 0) -> DecIPTTL -> EtherEncap(0x0800, {own}, {next}) -> Queue(1024) -> ToDevice({second});\n"
    );
    let file = place.folder.join("router.click");
    fs::write(&file, script).map_err(|error| error.to_string())?;
    let click = program("click").ok_or("click is gone")?;
    Ok(vec![start(place, "click", &click, &[file.display().to_string()])?])
}

/// Whether this user may make networks.
pub fn may_run() -> Result<(), String> {
    for tool in ["ip", "taskset", "sysctl"] {
        if program(tool).is_none() {
            return Err(format!("not installed: {tool} (apt-get install iproute2 util-linux procps)"));
        }
    }
    drop(Network::new()?);
    run("true", &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_the_way_out() {
        let router =
            Router { name: "none", needs: &["sh", "no-such-router"], hint: "apt-get install it", start: kernel };
        assert_eq!(router.lacks().as_deref(), Some("not installed: no-such-router (apt-get install it)"));
        let kernel = ALL.iter().find(|router| router.name == KERNEL).expect("it is there");
        assert!(kernel.lacks().is_none());
    }
}
