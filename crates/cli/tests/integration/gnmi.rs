//! gNMI on a running switch: what is read, and what disabling a port does to its packets and to its interface.

use crate::command::has_dpdk;
use crate::namespaces::{Network, Switch, ip, run, said};
use gnmi::GNmiClient;
use gnmi::message::typed_value::Value;
use gnmi::message::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

const L2FWD: &str = "apps/l2fwd/l2fwd.p4";
/// Longer than anything here takes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A client of the one switch that has its socket in a folder.
struct Client {
    runtime: tokio::runtime::Runtime,
    rpc: GNmiClient<Channel>,
}

/// A folder for the socket, and the words before the command that have the switch use it.
fn folder(name: &str) -> (PathBuf, String) {
    let folder = std::env::temp_dir().join(format!("bacus-gnmi-{name}-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).unwrap();
    let variable = format!("XDG_RUNTIME_DIR={}", folder.display());
    (folder, variable)
}

fn path(text: &str) -> Path {
    let elem = |text: &str| match text.split_once('=') {
        None => PathElem { name: text.to_string(), key: BTreeMap::new() },
        Some((name, key)) => {
            PathElem { name: name.to_string(), key: BTreeMap::from([("name".to_string(), key.to_string())]) }
        }
    };
    Path { elem: text.split('/').map(elem).collect(), ..Path::default() }
}

impl Client {
    fn new(folder: &std::path::Path) -> Client {
        let mut sockets = std::fs::read_dir(folder.join("bacus")).unwrap();
        let socket = sockets.next().expect("the switch has a socket").unwrap().path();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let endpoint = Endpoint::from_shared(format!("unix://{}", socket.display())).unwrap();
        let channel = runtime.block_on(endpoint.connect()).unwrap();
        Client { runtime, rpc: GNmiClient::new(channel) }
    }

    /// The values of all leaves that a path selects.
    fn get(&mut self, text: &str) -> Vec<Value> {
        let path = vec![path(&format!("interfaces/{text}"))];
        let request = GetRequest { path, encoding: Encoding::Proto.into(), ..GetRequest::default() };
        let answer = self.runtime.block_on(self.rpc.get(request)).unwrap().into_inner();
        let updates = answer.notification.into_iter().flat_map(|notification| notification.update);
        updates.map(|update| update.val.unwrap().value.unwrap()).collect()
    }

    fn text(&mut self, text: &str) -> Vec<String> {
        let texts = self.get(text).into_iter().map(|value| {
            let Value::StringVal(text) = value else { panic!("{text} is {value:?}") };
            text
        });
        texts.collect()
    }

    fn count(&mut self, port: &str, counter: &str) -> u64 {
        let values = self.get(&format!("interface={port}/state/counters/{counter}"));
        let [Value::UintVal(count)] = values[..] else { panic!("{counter} is {values:?}") };
        count
    }

    fn enable(&mut self, port: &str, enabled: bool) -> Result<(), Code> {
        let val = Some(TypedValue { value: Some(Value::BoolVal(enabled)) });
        let path = Some(path(&format!("interfaces/interface={port}/config/enabled")));
        let update = vec![Update { path, val, duplicates: 0 }];
        let request = SetRequest { update, ..SetRequest::default() };
        self.runtime.block_on(self.rpc.set(request)).map(drop).map_err(|status| status.code())
    }

    /// Waits until a counter is larger.
    fn grows(&mut self, port: &str, counter: &str) {
        let before = self.count(port, counter);
        self.grows_to(port, counter, before + 1);
    }

    /// Waits until a counter is so large.
    fn grows_to(&mut self, port: &str, counter: &str, wanted: u64) {
        let end = Instant::now() + TIMEOUT;
        while self.count(port, counter) < wanted {
            assert!(Instant::now() < end, "{counter} of {port} does not come to {wanted}");
        }
    }
}

#[test]
fn a_device_without_a_link_is_disabled_by_dropping_its_packets() {
    if !has_dpdk() {
        return;
    }
    let (folder, variable) = folder("null");
    // Packets of net_null have no end; the ring gets none, for no address is known.
    let ports = ["--json", "--port", "0=net_null0", "--port", "1=net_ring1"];
    let switch = Switch::start(&["env", &variable], L2FWD, &ports);
    let mut client = Client::new(&folder);
    assert_eq!(client.text("interface/state/name"), ["net_null0", "net_ring1"]);
    let numbers = [Value::UintVal(0), Value::UintVal(1)];
    assert_eq!(client.get("interface/state/id"), numbers);
    assert_eq!(client.get("interface/state/ifindex"), numbers);
    client.grows("net_null0", "in-pkts");
    client.enable("net_null0", false).unwrap();
    assert_eq!(client.text("interface/state/oper-status"), ["DOWN", "UP"]);
    assert_eq!(client.text("interface/state/admin-status"), ["DOWN", "UP"]);
    // Once packets are dropped, none is received beside them.
    client.grows("net_null0", "in-discards");
    let received = client.count("net_null0", "in-pkts");
    client.grows("net_null0", "in-discards");
    assert_eq!(client.count("net_null0", "in-pkts"), received);
    client.enable("net_null0", true).unwrap();
    assert_eq!(client.text("interface/state/oper-status"), ["UP", "UP"]);
    client.grows("net_null0", "in-pkts");
    assert_eq!(client.enable("net_null7", true), Err(Code::NotFound));
    switch.account().is_balanced(0);
    drop(std::fs::remove_dir_all(folder));
}

#[test]
fn an_interface_is_disabled_in_the_system() {
    let Some(network) = Network::new(2, 1500) else { return };
    let (folder, variable) = folder("veth");
    let prefix = ["ip", "netns", "exec", &network.switch, "env", &variable];
    let ports = ["--port", "1=port1", "--port", "2=port2"];
    let mut switch = Switch::start(&prefix, L2FWD, &ports);
    let mut client = Client::new(&folder);
    let flags = || said(network.inside(&network.switch, "ip").args(["link", "show", "port1"])).unwrap();
    assert_eq!(client.text("interface/state/oper-status"), ["UP", "UP"]);
    client.enable("port1", false).unwrap();
    assert_eq!(client.text("interface/state/oper-status"), ["DOWN", "UP"]);
    switch.hears("port 1 (port1) is down (disabled)", TIMEOUT);
    assert!(!flags().contains(",UP"), "{}", flags());
    client.enable("port1", true).unwrap();
    switch.hears("port 1 (port1) is up", TIMEOUT);
    assert!(flags().contains(",UP"), "{}", flags());
    // What the system does is seen as well.
    ip(&["-n", &network.switch, "link", "set", "port2", "down"]).unwrap();
    switch.hears("port 2 (port2) is", TIMEOUT);
    assert_eq!(client.get("interface=port2/config/enabled"), [Value::BoolVal(false)]);
    ip(&["-n", &network.switch, "link", "delete", "port2"]).unwrap();
    switch.hears("port 2 (port2) is gone", TIMEOUT);
    assert_eq!(client.text("interface/state/oper-status"), ["UP", "NOT_PRESENT"]);
    assert_eq!(client.enable("port2", true), Err(Code::FailedPrecondition));
    drop(std::fs::remove_dir_all(folder));
}

#[test]
fn without_the_right_to_change_an_interface_its_packets_are_dropped() {
    let Some(network) = Network::new(2, 1500) else { return };
    let (folder, variable) = folder("rights");
    let prefix = ["ip", "netns", "exec", &network.switch, "env", &variable];
    let rights = ["setpriv", "--bounding-set", "-all,+net_raw", "--inh-caps", "-all,+net_raw"];
    let prefix = [&prefix[..], &rights].concat();
    if let Err(reason) = run(std::process::Command::new(prefix[0]).args(&prefix[1..]).arg("true")) {
        eprintln!("skipped: no setpriv here: {reason}");
        return;
    }
    let ports = ["--json", "--port", "1=port1", "--port", "2=port2"];
    let mut switch = Switch::start(&prefix, L2FWD, &ports);
    let mut client = Client::new(&folder);
    client.enable("port1", false).unwrap();
    switch.hears("port 1 (port1) is down (disabled)", TIMEOUT);
    let shown = said(network.inside(&network.switch, "ip").args(["link", "show", "port1"])).unwrap();
    assert!(shown.contains(",UP"), "{shown}");
    let transmit = || network.does(1, &["transmit", &format!("0200000000090200000000010800{}", "00".repeat(46)), "3"]);
    transmit();
    client.grows_to("port1", "in-discards", 3);
    let received = client.count("port1", "in-pkts");
    client.enable("port1", true).unwrap();
    transmit();
    client.grows_to("port1", "in-pkts", received + 3);
    switch.account().is_balanced(0);
    drop(std::fs::remove_dir_all(folder));
}
