//! What a switch has done, for people and as JSON: packets by port, drops by reason, hits by table, and what would make it faster.

use super::Running;
use super::account::Account;
use driver::ports::{Device, Port};
use driver::stdout::{counted, print_line};
use serde_json::{Value, json};
use std::time::Duration;

/// One line while it runs.
pub fn line(account: &Account, now: Duration) {
    let missed: u64 = account.ports.iter().map(|port| port.counts.missed).sum();
    print_line!(
        "{:8.1} s  in {}  out {}  dropped {}  not sent {}  missed {missed}",
        now.as_secs_f64(),
        account.received,
        account.sent,
        account.dropped(),
        account.not_sent
    );
}

/// All counts.
pub fn print(account: &Account) {
    print_ports(account);
    print_drops(account);
    print_tables(account);
}

/// Counts that are printed at the end only.
pub fn print_end(account: &Account, running: &Running) {
    print_balance(account);
    print_speed(account);
    for port in &running.ports {
        if let Some(path) = port.output() {
            print_line!("port {} wrote {}", port.number, path.display());
        }
    }
    print_gains(running);
}

fn print_ports(account: &Account) {
    print_line!(
        "port      packets in        bytes in     packets out       bytes out     missed   errors   not sent  link  device"
    );
    for port in account.ports.iter().chain(&account.removed) {
        let counts = &port.counts;
        let (received, sent) = (counts.received, counts.sent);
        print_line!(
            "{:<4} {received:>15} {:>15} {sent:>15} {:>15} {:>10} {:>8} {:>10}  {:<4}  {}",
            port.number,
            counts.received_bytes,
            counts.sent_bytes,
            counts.missed,
            counts.errors,
            counts.unsent,
            counts.link().to_string(),
            port.device
        );
    }
}

fn print_drops(account: &Account) {
    print_line!("dropped {}", account.dropped());
    for (reason, count) in &account.drops {
        print_line!("  {count:>10}  {reason}");
    }
    if account.nowhere > 0 {
        print_line!("not sent {}: the program sent them to ports without a device", account.nowhere);
    }
}

fn print_tables(account: &Account) {
    if !account.tables.is_empty() {
        print_line!("table                             entries            hits          misses");
    }
    for table in &account.tables {
        print_line!("{:<28} {:>12} {:>15} {:>15}", table.name, table.entries, table.hits, table.misses);
    }
    for (name, count) in &account.events {
        print_line!("{name}: {count}");
    }
}

/// Where each packet has gone: `in + copies = out + dropped + not sent`.
fn print_balance(account: &Account) {
    let punted = if account.punted > 0 { format!(" + to the controller {}", account.punted) } else { String::new() };
    print_line!(
        "balance: in {} + copies {} = out {} + dropped {} + not sent {}{punted}",
        account.received,
        account.copies(),
        account.sent,
        account.dropped(),
        account.not_sent
    );
}

fn print_speed(account: &Account) {
    if account.entries > 0 {
        let entries = counted(account.entries, "entry", "entries");
        print_line!("{entries} loaded in {:.2} s", account.load_time.as_secs_f64());
    }
    if let Some(rate) = account.rate() {
        let seconds = account.busy.as_secs_f64();
        let packets = counted(account.received, "packet", "packets");
        print_line!("{packets} in {seconds:.3} s with traffic: {rate:.0} packets per second");
    }
}

/// What this run did without, and what having it would do.
fn print_gains(running: &Running) {
    if !running.opening.dpdk.has_huge_pages() {
        print_line!("note: no huge pages, so packet buffers are on 4 kB pages: each costs a TLB entry of its own.");
        print_line!("      `echo 256 > /proc/sys/vm/nr_hugepages` (root) spares those misses, and lets NICs do DMA.");
    }
    if !running.ports.is_empty() && running.ports.iter().all(Port::ends) {
        print_line!("note: captures are read and written by system calls, which bounds the packets per second above;");
        print_line!("      a NIC bound to vfio-pci (root; --port 0=0000:01:00.0) is polled without any.");
    } else if running.ports.iter().any(|port| matches!(port.device, Device::Interface(..))) {
        print_line!(
            "note: packets of interfaces go through the kernel; those of a NIC bound to vfio-pci (root) do not."
        );
    }
}

/// All counts as one object, with what `--dump` adds.
pub fn json(account: &Account, dump: Option<Value>) -> Value {
    let ports = account.ports.iter().chain(&account.removed).map(|port| {
        let counts = &port.counts;
        json!({
            "port": port.number, "device": port.device, "link": counts.link().to_string(),
            "received": counts.received, "received_bytes": counts.received_bytes,
            "missed": counts.missed, "errors": counts.errors,
            "sent": counts.sent, "sent_bytes": counts.sent_bytes, "not_sent": counts.unsent,
        })
    });
    let tables = account.tables.iter().map(
        |table| json!({ "table": table.name, "entries": table.entries, "hits": table.hits, "misses": table.misses }),
    );
    let workers = account.workers.iter().map(|worker| json!({ "received": worker.totals.received }));
    let mut all = json!({
        "ports": ports.collect::<Value>(), "workers": workers.collect::<Value>(),
        "received": account.received, "copies": account.copies(), "sent": account.sent,
        "dropped": account.dropped(), "not_sent": account.not_sent, "to_ports_without_device": account.nowhere,
        "to_controller": account.punted,
        "drops": account.drops.iter().map(|(reason, count)| (reason.clone(), json!(count))).collect::<Value>(),
        "tables": tables.collect::<Value>(),
        "events": account.events,
        "entries_loaded": account.entries, "load_seconds": account.load_time.as_secs_f64(),
        "busy_seconds": account.busy.as_secs_f64(), "packets_per_second": account.rate(),
    });
    if let (Some(dump), Value::Object(all)) = (dump, &mut all) {
        all.insert("state".to_string(), dump);
    }
    all
}
