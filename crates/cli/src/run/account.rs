//! What a switch has done, in numbers: where each packet that came has gone.

use super::Running;
use super::live::Engine;
use super::relay;
use native::Replay;
use runtime::pipeline::Structure;
use runtime::{Fill, PortCounts, Totals};
use std::collections::BTreeMap;
use std::time::Duration;

/// Packets at one port.
#[derive(Clone)]
pub struct PortAccount {
    pub number: u16,
    pub device: String,
    pub counts: PortCounts,
}

pub struct TableAccount {
    pub name: String,
    /// The word that plans have for its structure.
    pub structure: &'static str,
    pub entries: u64,
    /// Entries that it has room for; none if only memory bounds them.
    pub capacity: Option<u64>,
    pub bytes: u64,
    pub hits: u64,
    pub misses: u64,
}

/// Packets at one worker.
pub struct WorkerAccount {
    pub totals: Totals,
    /// Polls without a packet, since the last one.
    pub idle_polls: u64,
}

/// All counts of a switch at one moment.
pub struct Account {
    pub ports: Vec<PortAccount>,
    /// Ports that have been removed, with what had come and gone by then.
    pub removed: Vec<PortAccount>,
    /// Packets that came into the program.
    pub received: u64,
    pub sent: u64,
    /// Packets that a device did not take, and those for numbers that no port has.
    pub not_sent: u64,
    pub nowhere: u64,
    /// By reason; copies that were not made for want of memory or budget are among them.
    pub drops: Vec<(String, u64)>,
    /// For the control plane: punted, or sent to its port.
    pub punted: u64,
    pub tables: Vec<TableAccount>,
    pub workers: Vec<WorkerAccount>,
    pub rings: Vec<Fill>,
    /// Changes to another pipeline, and the longest time that a worker has taken for one.
    pub exchanges: (u64, Duration),
    pub events: BTreeMap<String, u64>,
    pub entries: u64,
    pub load_time: Duration,
    /// While packets came.
    pub busy: Duration,
}

/// What has come from the program, by kind, and what no controller has taken of it.
fn events(running: &Running) -> BTreeMap<String, u64> {
    let lost = running.server.lost();
    let lost = [
        ("packets, to a controller that did not read", lost.packets_in),
        ("digests, to a controller that did not read", lost.digests),
        ("idle entries, to a controller that did not read", lost.idle),
        ("packets that were shorter than their header for the controller", lost.malformed),
        ("connections, of which there were too many", lost.connections),
    ];
    let mut events = running.relay.counts.clone();
    let lost = lost.into_iter().filter(|(_, count)| *count > 0);
    events.extend(lost.map(|(what, count)| (format!("lost: {what}"), count)));
    events
}

impl Account {
    pub fn of(running: &Running) -> Account {
        let (ports, removed) = running.port_accounts();
        let workers: Vec<WorkerAccount> = (0..running.workers).map(|worker| of_worker(running, worker)).collect();
        let all = |count: fn(&Totals) -> u64| workers.iter().map(|worker| count(&worker.totals)).sum::<u64>();
        let (received, nowhere, to_cpu) =
            (all(|totals| totals.received), all(|totals| totals.nowhere), all(|totals| totals.to_cpu));
        let all_ports = || ports.iter().chain(&removed);
        let sum = |count: fn(&PortCounts) -> u64| all_ports().map(|port| count(&port.counts)).sum::<u64>();
        let (sent, unsent) = (sum(|counts| counts.sent), sum(|counts| counts.unsent));
        let event = |name: &str| running.relay.counts.get(name).copied().unwrap_or(0);
        let mut live = running.relay.switch.lock();
        let (tables, drops) = live.engine().map(of_engine).unwrap_or_default();
        let switch = live.engine().map(|engine| (engine.switch().queues(), engine.switch().exchanges()));
        let (rings, exchanges) = switch.unwrap_or_default();
        Account {
            received,
            sent,
            not_sent: unsent + nowhere,
            nowhere,
            tables,
            drops,
            punted: event(relay::PUNTED) + to_cpu,
            rings,
            exchanges,
            events: events(running),
            entries: running.entries,
            load_time: running.load_time,
            busy: running.busy,
            ports,
            removed,
            workers,
        }
    }

    pub fn dropped(&self) -> u64 {
        self.drops.iter().map(|(_, count)| count).sum()
    }

    /// Packets that the program has made of others: members of a multicast group or mirror session, beyond the packet itself. Below zero where packets of
    /// the program are somewhere inside of it.
    pub fn copies(&self) -> i64 {
        let gone = self.sent + self.not_sent + self.dropped() + self.punted;
        gone as i64 - self.received as i64
    }

    /// Packets a second, while they came.
    pub fn rate(&self) -> Option<f64> {
        let seconds = self.busy.as_secs_f64();
        (self.received > 0 && seconds > 0.0).then(|| self.received as f64 / seconds)
    }
}

/// Its tables, and the drops by reason.
fn of_engine<L: Replay>(engine: &mut Engine<L>) -> (Vec<TableAccount>, Vec<(String, u64)>) {
    let drops = engine.drops_by_reason().into_iter().filter(|(_, count)| *count > 0).collect();
    let tables = engine.switch().tables().to_vec();
    let tables = tables.iter().enumerate().map(|(number, table)| {
        let (hits, misses) = engine.reported_hits(number);
        let description = table.description();
        let name = description.name.clone();
        let program = engine.program();
        let capacity = program.tables.values().find(|declared| declared.name == name).and_then(hlir::Table::capacity);
        let structure = word(description.structure);
        TableAccount { name, structure, entries: table.len(), capacity, bytes: table.bytes(), hits, misses }
    });
    (tables.collect(), drops)
}

/// As plans name a structure.
fn word(structure: Structure) -> &'static str {
    use hlir::plan::Structure as Of;
    hlir::text::written_structure(match structure {
        Structure::Exact => Of::Exact,
        Structure::Dir24_8 => Of::Dir24_8,
        Structure::LpmTrie => Of::LpmTrie,
        Structure::List => Of::List,
        Structure::Exact48 => Of::Exact48,
        Structure::Dir24_8U16 => Of::Dir24_8U16,
        Structure::Dir24_8U8 => Of::Dir24_8U8,
        Structure::Direct => Of::Direct,
        Structure::Compare => Of::Compare,
        Structure::Scan => Of::Scan,
        Structure::BitVector => Of::BitVector,
        Structure::Btree => Of::Btree,
        Structure::Perfect => Of::Perfect,
        Structure::TupleSpace => Of::TupleSpace,
        Structure::Exact60 => Of::Exact60,
    })
}

fn of_worker(running: &Running, worker: u32) -> WorkerAccount {
    WorkerAccount { totals: running.dpdk.totals(worker), idle_polls: running.dpdk.idle_polls(worker) }
}

pub fn of_port(running: &Running, port: &super::Port) -> Option<PortAccount> {
    let counts = match running.final_counts.get(&port.number) {
        Some(counts) => counts.at_end(),
        None => running.dpdk.counts(port.number)?,
    };
    Some(PortAccount { number: port.number, device: port.name(), counts })
}
