//! The ports of a running switch as gNMI shows them.

use driver::ports::Port;
use gnmi::{Changes, Counters, Interface, Interfaces, Refusal, Status};
use runtime::{Link, PortCounts, PortLayer};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

pub struct PortInterfaces {
    dpdk: Arc<PortLayer>,
    /// In the order of their numbers.
    ports: Mutex<Vec<Port>>,
    changes: Changes,
    began_ns: u64,
    /// When links have changed since then, by the port's number.
    changed_ns: Mutex<BTreeMap<u16, u64>>,
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().try_into().unwrap_or(u64::MAX)
}

impl PortInterfaces {
    pub fn new(dpdk: &Arc<PortLayer>, ports: &[Port]) -> PortInterfaces {
        PortInterfaces {
            dpdk: dpdk.clone(),
            ports: Mutex::new(sorted(ports)),
            changes: Changes::default(),
            began_ns: now_ns(),
            changed_ns: Mutex::default(),
        }
    }

    /// Ports have come or gone.
    pub fn set_ports(&self, ports: &[Port]) {
        *self.ports.lock().unwrap_or_else(PoisonError::into_inner) = sorted(ports);
        self.changes.notify();
    }

    fn ports(&self) -> Vec<Port> {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A port has been enabled or disabled, or its link has changed.
    pub fn changed(&self, port: u16, is_link: bool) {
        if is_link {
            self.changed_ns.lock().unwrap_or_else(PoisonError::into_inner).insert(port, now_ns());
        }
        self.changes.notify();
    }

    fn interface(&self, port: &Port) -> Option<Interface> {
        let counts = self.dpdk.counts(port.number)?;
        let changed = self.changed_ns.lock().unwrap_or_else(PoisonError::into_inner).get(&port.number).copied();
        Some(Interface {
            name: port.device_name(),
            port: port.number.into(),
            enabled: counts.is_enabled(),
            status: status(counts.link()),
            changed_ns: changed.unwrap_or(self.began_ns),
            counters: counters(&counts),
        })
    }
}

fn sorted(ports: &[Port]) -> Vec<Port> {
    let mut ports = ports.to_vec();
    ports.sort_by_key(|port| port.number);
    ports
}

fn status(link: Link) -> Status {
    match link {
        Link::Up => Status::Up,
        Link::Down => Status::Down,
        Link::Gone => Status::NotPresent,
    }
}

fn counters(counts: &PortCounts) -> Counters {
    Counters {
        in_packets: counts.received,
        in_octets: counts.received_bytes,
        in_errors: counts.errors,
        in_discards: counts.missed,
        out_packets: counts.sent,
        out_octets: counts.sent_bytes,
        out_discards: counts.unsent,
    }
}

impl Interfaces for PortInterfaces {
    fn interfaces(&self) -> Vec<Interface> {
        self.ports().iter().filter_map(|port| self.interface(port)).collect()
    }

    fn set_enabled(&self, name: &str, enabled: bool) -> Result<(), Refusal> {
        let ports = self.ports();
        let port = ports.iter().find(|port| port.device_name() == name).ok_or(Refusal::NoSuchInterface)?;
        match self.dpdk.watch(port.number) {
            None => return Err(Refusal::NoSuchInterface),
            Some((Link::Gone, _)) => return Err(Refusal::NotPresent),
            Some((Link::Up | Link::Down, _)) => {}
        }
        self.dpdk.enable(port.number, enabled).map_err(|error| Refusal::Failed(error.to_string()))
    }

    fn changes(&self) -> &Changes {
        &self.changes
    }
}
