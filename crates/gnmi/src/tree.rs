//! The tree of data: the leaves of an interface, as `openconfig-interfaces` and `openconfig-p4rt` define them.

use crate::interfaces::{Interface, Status};

/// The containers above the leaves. The second has a key, the interface's name.
pub const ROOT: [&str; 2] = ["interfaces", "interface"];
pub const KEY: &str = "name";

/// Whether a client may write a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Config,
    State,
}

/// When the value of a leaf changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Now and then; the switch notifies of it.
    Event,
    /// With each packet.
    Packet,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Text(String),
    Truth(bool),
    Number(u32),
    /// 64 bits, which are a string in JSON by RFC 7951.
    Long(u64),
}

pub struct Leaf {
    /// Below the interface.
    pub path: &'static [&'static str],
    pub access: Access,
    pub change: Change,
    pub value: fn(&Interface) -> Value,
}

const fn config(path: &'static [&'static str], value: fn(&Interface) -> Value) -> Leaf {
    Leaf { path, access: Access::Config, change: Change::Event, value }
}

const fn state(path: &'static [&'static str], value: fn(&Interface) -> Value) -> Leaf {
    Leaf { path, access: Access::State, change: Change::Event, value }
}

const fn counter(path: &'static [&'static str], value: fn(&Interface) -> Value) -> Leaf {
    Leaf { path, access: Access::State, change: Change::Packet, value }
}

fn name(interface: &Interface) -> Value {
    Value::Text(interface.name.clone())
}

fn port(interface: &Interface) -> Value {
    Value::Number(interface.port)
}

fn enabled(interface: &Interface) -> Value {
    Value::Truth(interface.enabled)
}

fn admin_status(interface: &Interface) -> Value {
    Value::Text(if interface.enabled { "UP" } else { "DOWN" }.to_string())
}

fn oper_status(interface: &Interface) -> Value {
    let status = match interface.status {
        Status::Up => "UP",
        Status::Down => "DOWN",
        Status::NotPresent => "NOT_PRESENT",
    };
    Value::Text(status.to_string())
}

fn last_change(interface: &Interface) -> Value {
    Value::Long(interface.changed_ns)
}

pub const ENABLED: &[&str] = &["config", "enabled"];
pub const ID: &[&str] = &["config", "id"];

/// The switch does not distinguish unicast packets from others: both counts have all packets.
#[rustfmt::skip]
pub const LEAVES: [Leaf; 21] = [
    config(&["name"], name),
    config(&["config", "name"], name),
    config(ENABLED, enabled),
    config(ID, port),
    state(&["state", "name"], name),
    state(&["state", "enabled"], enabled),
    state(&["state", "id"], port),
    state(&["state", "ifindex"], port),
    state(&["state", "admin-status"], admin_status),
    state(&["state", "oper-status"], oper_status),
    state(&["state", "last-change"], last_change),
    counter(&["state", "counters", "in-octets"],        |interface| Value::Long(interface.counters.in_octets)),
    counter(&["state", "counters", "in-pkts"],          |interface| Value::Long(interface.counters.in_packets)),
    counter(&["state", "counters", "in-unicast-pkts"],  |interface| Value::Long(interface.counters.in_packets)),
    counter(&["state", "counters", "in-errors"],        |interface| Value::Long(interface.counters.in_errors)),
    counter(&["state", "counters", "in-discards"],      |interface| Value::Long(interface.counters.in_discards)),
    counter(&["state", "counters", "out-octets"],       |interface| Value::Long(interface.counters.out_octets)),
    counter(&["state", "counters", "out-pkts"],         |interface| Value::Long(interface.counters.out_packets)),
    counter(&["state", "counters", "out-unicast-pkts"], |interface| Value::Long(interface.counters.out_packets)),
    counter(&["state", "counters", "out-errors"],       |_| Value::Long(0)),
    counter(&["state", "counters", "out-discards"],     |interface| Value::Long(interface.counters.out_discards)),
];

/// A leaf of one interface.
#[derive(Clone, Copy)]
pub struct Item<'i> {
    pub interface: &'i Interface,
    pub leaf: &'static Leaf,
}

impl Item<'_> {
    pub fn value(&self) -> Value {
        (self.leaf.value)(self.interface)
    }
}

/// The names of all nodes from the root to a leaf.
pub fn names(leaf: &Leaf) -> Vec<&'static str> {
    ROOT.iter().chain(leaf.path).copied().collect()
}
