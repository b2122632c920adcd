//! All counts as the message that `bacus ctl ports` and `stats` print.

use super::account::{Account, PortAccount, TableAccount, WorkerAccount};
use super::specialise::Status;
use control::message::switch::{Code, Count, Exchanges, Port, ReportResponse, Ring, Table, Worker, port};
use runtime::{Fill, Link};

pub fn message(account: &Account, cpu_port: Option<u32>, code: Option<&Status>) -> ReportResponse {
    let count = |(name, count): (&String, &u64)| Count { name: name.clone(), count: *count };
    let (exchange_count, longest) = account.exchanges;
    ReportResponse {
        ports: account.ports.iter().map(of_port).collect(),
        tables: account.tables.iter().map(of_table).collect(),
        drops: account.drops.iter().map(|(name, number)| count((name, number))).collect(),
        workers: (0..).zip(&account.workers).map(of_worker).collect(),
        received: account.received,
        copies: account.copies(),
        sent: account.sent,
        not_sent: account.not_sent,
        to_ports_without_device: account.nowhere,
        to_controller: account.punted,
        events: account.events.iter().map(count).collect(),
        cpu_port,
        code: code.map(of_code),
        rings: account.rings.iter().map(of_ring).collect(),
        exchanges: Some(Exchanges { count: exchange_count, longest_pause_ns: longest.as_nanos() as u64 }),
    }
}

fn of_ring(ring: &Fill) -> Ring {
    let Fill { worker, name, waiting, bytes, lost } = *ring;
    Ring { worker, name: name.to_string(), waiting_bytes: waiting, bytes, lost }
}

fn of_code(status: &Status) -> Code {
    let Status { is_specialised, facts, loaded, broken, last, sample } = status.clone();
    Code { specialised: is_specialised, facts, loaded, broken, last, sample: sample.filter(|_| is_specialised) }
}

fn of_port(port: &PortAccount) -> Port {
    let counts = &port.counts;
    let link = match counts.link() {
        Link::Down => port::Link::Down,
        Link::Up => port::Link::Up,
        Link::Gone => port::Link::Gone,
    };
    Port {
        number: port.number.into(),
        device: port.device.clone(),
        link: link.into(),
        speed_mbps: counts.speed_mbps,
        received: counts.received,
        received_bytes: counts.received_bytes,
        sent: counts.sent,
        sent_bytes: counts.sent_bytes,
        missed: counts.missed,
        errors: counts.errors,
        not_sent: counts.unsent,
    }
}

fn of_table(table: &TableAccount) -> Table {
    Table {
        name: table.name.clone(),
        entries: table.entries,
        hits: table.hits,
        misses: table.misses,
        structure: table.structure.to_string(),
        capacity: table.capacity,
        bytes: table.bytes,
    }
}

fn of_worker((number, worker): (u32, &WorkerAccount)) -> Worker {
    let totals = &worker.totals;
    Worker {
        number,
        received: totals.received,
        handed: totals.handed,
        idle_polls: worker.idle_polls,
        bursts: totals.bursts,
        busy_ns: totals.busy_ns,
        tsc_hz: totals.tsc_hz,
    }
}
