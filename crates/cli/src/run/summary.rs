//! What a switch has done, for people: packets by port, drops by reason, hits by table, and what would make it faster.

use super::Running;
use super::ports::Device;
use crate::say::say;
use std::time::Duration;

/// One line while it runs.
pub fn line(running: &mut Running<'_>, now: Duration, received: u64) {
    let sent: u64 = counts(running).iter().map(|(_, counts)| counts.sent).sum();
    let dropped: u64 = running.engine.switch().drops().iter().sum();
    say!("{:8.1} s  in {received}  out {sent}  dropped {dropped}", now.as_secs_f64());
}

fn counts(running: &Running<'_>) -> Vec<(u16, runtime::PortCounts)> {
    let ports = running.ports.iter();
    ports.filter_map(|port| Some((port.number, running.final_counts(port.number)?))).collect()
}

pub fn print(running: &mut Running<'_>) {
    print_ports(running);
    print_drops(running);
    print_tables(running);
    print_speed(running);
    print_captures(running);
    print_gains(running);
}

fn print_ports(running: &Running<'_>) {
    say!("port      packets in        bytes in     packets out       bytes out");
    for (number, counts) in counts(running) {
        let (received, sent) = (counts.received, counts.sent);
        say!("{number:<4} {received:>15} {:>15} {sent:>15} {:>15}", counts.received_bytes, counts.sent_bytes);
    }
}

fn print_drops(running: &mut Running<'_>) {
    let drops = running.engine.switch().drops();
    let reasons = running.engine.switch().pipeline().description().drops.clone();
    let total: u64 = drops.iter().sum();
    say!("dropped {total}");
    for (reason, count) in reasons.iter().zip(drops).filter(|(_, count)| *count > 0) {
        say!("  {count:>10}  {reason}");
    }
    let counts = counts(running);
    let missed: u64 = counts.iter().map(|(_, counts)| counts.missed).sum();
    let unsent: u64 = counts.iter().map(|(_, counts)| counts.unsent).sum();
    if missed + unsent > 0 {
        say!("  {missed} lost on the way in (no free buffer), {unsent} on the way out (the device did not take them)");
    }
}

fn print_tables(running: &mut Running<'_>) {
    let switch = running.engine.switch();
    if switch.tables().is_empty() {
        return;
    }
    say!("table                             entries            hits          misses");
    for (number, table) in switch.tables().iter().enumerate() {
        let (hits, misses) = switch.hits(number);
        say!("{:<28} {:>12} {hits:>15} {misses:>15}", table.description().name, table.len());
    }
    for (name, count) in &running.events {
        say!("{name}: {count}");
    }
}

fn print_speed(running: &Running<'_>) {
    let received: u64 = counts(running).iter().map(|(_, counts)| counts.received).sum();
    let seconds = running.active.as_secs_f64();
    if running.entries > 0 {
        say!("{} entries loaded in {:.2} s", running.entries, running.load_time.as_secs_f64());
    }
    if received > 0 && seconds > 0.0 {
        say!("{received} packets in {seconds:.3} s: {:.0} packets per second", received as f64 / seconds);
    }
}

fn print_captures(running: &Running<'_>) {
    for port in &running.ports {
        if let Some(path) = port.output() {
            say!("port {} wrote {}", port.number, path.display());
        }
    }
}

/// What this run did without, and what having it would do.
fn print_gains(running: &Running<'_>) {
    if !running.huge_pages {
        say!("note: no huge pages, so packet buffers are on 4 kB pages: each costs a TLB entry of its own.");
        say!("      `echo 256 > /proc/sys/vm/nr_hugepages` (root) spares those misses, and lets NICs do DMA.");
    }
    if running.ports.iter().all(|port| port.ends()) {
        say!("note: captures are read and written by system calls, which bounds the packets per second above;");
        say!("      a NIC bound to vfio-pci (root; --port 0=0000:01:00.0) is polled without any.");
    } else if running.ports.iter().any(|port| matches!(port.device, Device::Interface(_))) {
        say!("note: interfaces go through the kernel (af_packet); a NIC bound to vfio-pci (root) does not.");
    }
}
