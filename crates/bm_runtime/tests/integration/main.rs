//! A Thrift client at a switch, which the interpreter runs: what it writes, what packets see of it, and what is not answered.

mod bad_input;
mod learning;
mod objects;
mod pipeline;
#[allow(dead_code)]
#[path = "../../../p4runtime/tests/server/rig/mod.rs"]
mod rig;
mod tables;

use bm_runtime::standard::{
    ActionEntry, AddEntryOptions, MatchExact, MatchLpm, MatchParameter, MatchTernary, MatchType, StandardClient,
};
use bm_runtime::{Binary, CallError, Connection, Server, Settings};
use rig::Rig;

/// A switch with both servers.
pub struct Switch {
    pub rig: Rig,
    pub server: Server,
}

impl Switch {
    pub fn with(settings: Settings, rig: Rig) -> Switch {
        let settings = Settings { pipelines: Some(rig.server.pipelines()), ..settings };
        let address = "127.0.0.1:0".parse().expect("it is an address");
        let server = Server::start(address, settings, rig.process.clone()).expect("loopback has free ports");
        Switch { rig, server }
    }

    pub fn begin() -> Switch {
        Switch::with(Settings::default(), Rig::new())
    }

    pub fn connect(&self) -> Connection {
        Connection::open("127.0.0.1", self.server.address().port()).expect("the server listens")
    }

    /// Ports and first bytes of what leaves for a packet that comes in at a port.
    pub fn send(&self, port: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut behind = self.rig.behind();
        behind.sent.clear();
        behind.receive(port, bytes.to_vec());
        behind.sent.clone()
    }

    pub fn ports_of(&self, port: u32, bytes: &[u8]) -> Vec<u32> {
        self.send(port, bytes).into_iter().map(|(port, _)| port).collect()
    }
}

/// A frame with these last bytes in its destination, and no IPv4.
pub fn frame(destination: u8) -> Vec<u8> {
    let mut frame = vec![0, 0, 0, 0, 0, destination];
    frame.extend([0, 0, 0, 0, 0, 9, 0x86, 0xdd]);
    frame.extend([0; 50]);
    frame
}

pub fn bytes(value: u64, length: usize) -> Binary {
    Binary(value.to_be_bytes()[8 - length..].to_vec())
}

pub fn exact(value: u64, length: usize) -> MatchParameter {
    let key = bytes(value, length);
    MatchParameter { kind: MatchType::Exact, exact: Some(MatchExact { key }), ..MatchParameter::default() }
}

pub fn lpm(value: u64, length: usize, prefix_length: i32) -> MatchParameter {
    let key = bytes(value, length);
    MatchParameter { kind: MatchType::Lpm, lpm: Some(MatchLpm { key, prefix_length }), ..MatchParameter::default() }
}

pub fn ternary(value: u64, mask: u64, length: usize) -> MatchParameter {
    let (key, mask) = (bytes(value, length), bytes(mask, length));
    MatchParameter { kind: MatchType::Ternary, ternary: Some(MatchTernary { key, mask }), ..MatchParameter::default() }
}

pub fn priority(priority: i32) -> AddEntryOptions {
    AddEntryOptions { priority: Some(priority) }
}

/// Adds an entry of `hosts` that forwards to a port.
pub fn add_host(connection: &mut Connection, destination: u64, port: u64) -> Result<i32, String> {
    let added = StandardClient(connection).bm_mt_add_entry(
        0,
        "ingress.hosts".to_string(),
        vec![exact(destination, 6)],
        "ingress.forward".to_string(),
        vec![bytes(port, 2)],
        AddEntryOptions::default(),
    );
    text(added)
}

/// The code's name, or the sentence.
pub fn text<T, E: std::fmt::Debug>(result: Result<T, CallError<E>>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

pub fn action(entry: &ActionEntry) -> (&str, Vec<Vec<u8>>) {
    let data = entry.action_data.iter().flatten().map(|data| data.0.clone()).collect();
    (entry.action_name.as_deref().unwrap_or(""), data)
}
