//! Counts in Prometheus' text format.

use super::live::Engine;
use super::metrics::MOST_ELEMENTS;
use control::message::switch::{ReportResponse, port::Link};
use native::Replay;
use std::fmt::{Display, Write as _};

/// A counter of the program.
pub struct P4Counter {
    pub name: String,
    pub packets: u64,
    pub bytes: u64,
    /// The first elements that are not zero, by index or by entry.
    pub elements: Vec<(String, u64, u64)>,
}

impl P4Counter {
    pub fn all<L: Replay>(engine: &mut Engine<L>) -> Vec<P4Counter> {
        let switch = engine.switch();
        let described = switch.pipeline().description().counters.clone();
        let read = described.into_iter().enumerate().map(|(number, counter)| {
            let table = switch.tables().get(counter.table as usize).map(AsRef::as_ref);
            let mut read = P4Counter { name: counter.name.clone(), packets: 0, bytes: 0, elements: Vec::new() };
            for (element, at) in super::dump::places(counter.size, table) {
                let Some(value) = switch.counter(number, at) else { continue };
                read.packets += value.packets;
                read.bytes += value.bytes;
                if (value.packets > 0 || value.bytes > 0) && read.elements.len() < MOST_ELEMENTS {
                    read.elements.push((element(), value.packets, value.bytes));
                }
            }
            read
        });
        read.collect()
    }
}

/// The text so far.
struct Text(String);

impl Text {
    /// Begins a metric.
    fn metric(&mut self, name: &str, kind: &str, about: &str) {
        // A string takes all that is written to it.
        let _ = writeln!(self.0, "# HELP {name} {about}\n# TYPE {name} {kind}");
    }

    fn value(&mut self, name: &str, labels: &[(&str, &dyn Display)], value: impl Display) {
        let escaped =
            |text: &dyn Display| text.to_string().replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let labels: Vec<String> = labels.iter().map(|(name, text)| format!("{name}=\"{}\"", escaped(*text))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    /// A metric with one value for each of some objects.
    fn each<T>(
        &mut self,
        (name, kind, about): (&str, &str, &str),
        objects: &[T],
        of: impl Fn(&T, &mut dyn FnMut(&[(&str, &dyn Display)], u64)),
    ) {
        if objects.is_empty() {
            return;
        }
        self.metric(name, kind, about);
        for object in objects {
            of(object, &mut |labels, value| self.value(name, labels, value));
        }
    }
}

/// A metric that each object of a kind has: its name, its type, what it is, and its value.
type Metric<T, V = u64> = (&'static str, &'static str, &'static str, fn(&T) -> V);

const COUNTER: &str = "counter";
const GAUGE: &str = "gauge";

pub fn text(report: &ReportResponse, counters: &[P4Counter], is_saved: bool) -> String {
    let mut text = Text(String::new());
    let version = env!("CARGO_PKG_VERSION");
    text.metric("bacus_info", GAUGE, "The version of bacus.");
    text.value("bacus_info", &[("version", &version)], 1);
    let totals = [
        ("bacus_received_packets_total", "Packets that came into the program.", report.received),
        ("bacus_sent_packets_total", "Packets that devices took.", report.sent),
        ("bacus_not_sent_packets_total", "Packets that no device took.", report.not_sent),
        ("bacus_to_controller_packets_total", "Packets for controllers.", report.to_controller),
    ];
    for (name, about, value) in totals {
        text.metric(name, COUNTER, about);
        text.value(name, &[], value);
    }
    text.metric("bacus_state_is_saved", GAUGE, "0 while writes are refused, since they cannot be saved (--state).");
    text.value("bacus_state_is_saved", &[], u8::from(is_saved));
    ports(&mut text, report);
    tables(&mut text, report);
    workers(&mut text, report);
    let drops = ("bacus_dropped_packets_total", COUNTER, "Dropped packets, by reason.");
    text.each(drops, &report.drops, |drop, put| put(&[("reason", &drop.name)], drop.count));
    let events = ("bacus_events_total", COUNTER, "Messages of the program, and messages that were lost.");
    text.each(events, &report.events, |event, put| put(&[("event", &event.name)], event.count));
    rings(&mut text, report);
    code(&mut text, report);
    p4_counters(&mut text, counters);
    text.0
}

fn ports(text: &mut Text, report: &ReportResponse) {
    use control::message::switch::Port;
    let fields: [Metric<Port>; 9] = [
        ("bacus_port_up", GAUGE, "Whether the port has a link.", |port| u64::from(port.link() == Link::Up)),
        ("bacus_port_speed_bits_per_second", GAUGE, "The speed of the link; 0: unknown.", |port| {
            u64::from(port.speed_mbps) * 1_000_000
        }),
        ("bacus_port_received_packets_total", COUNTER, "Packets from the device.", |port| port.received),
        ("bacus_port_received_bytes_total", COUNTER, "Bytes from the device.", |port| port.received_bytes),
        ("bacus_port_sent_packets_total", COUNTER, "Packets that the device took.", |port| port.sent),
        ("bacus_port_sent_bytes_total", COUNTER, "Bytes that the device took.", |port| port.sent_bytes),
        ("bacus_port_missed_packets_total", COUNTER, "Packets that found no room in the ring.", |port| port.missed),
        ("bacus_port_errors_total", COUNTER, "Damaged packets.", |port| port.errors),
        ("bacus_port_not_sent_packets_total", COUNTER, "Packets that the device did not take.", |port| port.not_sent),
    ];
    for (name, kind, about, field) in fields {
        text.each((name, kind, about), &report.ports, |port, put| {
            put(&[("port", &port.number), ("device", &port.device)], field(port));
        });
    }
}

fn tables(text: &mut Text, report: &ReportResponse) {
    use control::message::switch::Table;
    let fields: [Metric<Table, Option<u64>>; 5] = [
        ("bacus_table_entries", GAUGE, "Entries of a table.", |table| Some(table.entries)),
        ("bacus_table_capacity_entries", GAUGE, "Entries that a table has room for.", |table| table.capacity),
        ("bacus_table_memory_bytes", GAUGE, "Memory of a table.", |table| Some(table.bytes)),
        ("bacus_table_hits_total", COUNTER, "Lookups that found an entry.", |table| Some(table.hits)),
        ("bacus_table_misses_total", COUNTER, "Lookups that found none.", |table| Some(table.misses)),
    ];
    for (name, kind, about, field) in fields {
        text.each((name, kind, about), &report.tables, |table, put| {
            if let Some(value) = field(table) {
                put(&[("table", &table.name), ("structure", &table.structure)], value);
            }
        });
    }
}

fn workers(text: &mut Text, report: &ReportResponse) {
    use control::message::switch::Worker;
    let fields: [Metric<Worker>; 3] = [
        ("bacus_worker_received_packets_total", COUNTER, "Packets that a worker took from ports.", |worker| {
            worker.received
        }),
        ("bacus_worker_sent_packets_total", COUNTER, "Packets that a worker gave to ports.", |worker| worker.handed),
        ("bacus_worker_bursts_total", COUNTER, "Bursts of at least one packet.", |worker| worker.bursts),
    ];
    for (name, kind, about, field) in fields {
        text.each((name, kind, about), &report.workers, |worker, put| {
            put(&[("worker", &worker.number)], field(worker));
        });
    }
    let name = "bacus_worker_busy_seconds_total";
    text.metric(name, COUNTER, "Time of a worker from a burst to the next poll.");
    for worker in &report.workers {
        text.value(name, &[("worker", &worker.number)], worker.busy_ns as f64 / 1e9);
    }
}

fn rings(text: &mut Text, report: &ReportResponse) {
    use control::message::switch::Ring;
    let fields: [Metric<Ring>; 3] = [
        ("bacus_ring_waiting_bytes", GAUGE, "Messages that wait between a worker and the control plane.", |ring| {
            ring.waiting_bytes
        }),
        ("bacus_ring_size_bytes", GAUGE, "Room of a ring.", |ring| ring.bytes),
        ("bacus_ring_lost_messages_total", COUNTER, "Messages that found no room.", |ring| ring.lost),
    ];
    for (name, kind, about, field) in fields {
        text.each((name, kind, about), &report.rings, |ring, put| {
            put(&[("worker", &ring.worker), ("ring", &ring.name)], field(ring));
        });
    }
}

/// Exchanges of pipelines, and the code of switches that specialise it.
fn code(text: &mut Text, report: &ReportResponse) {
    use control::message::switch::{Code, Exchanges};
    if let Some(Exchanges { count, longest_pause_ns, .. }) = &report.exchanges {
        text.metric("bacus_pipeline_exchanges_total", COUNTER, "Changes of the workers to another pipeline.");
        text.value("bacus_pipeline_exchanges_total", &[], *count as f64);
        let about = "The longest time of a worker for such a change.";
        text.metric("bacus_pipeline_longest_pause_seconds", GAUGE, about);
        text.value("bacus_pipeline_longest_pause_seconds", &[], *longest_pause_ns as f64 / 1e9);
    }
    let fields: [Metric<Code>; 4] = [
        ("bacus_code_specialised", GAUGE, "Whether specialised code runs.", |code| u64::from(code.specialised)),
        ("bacus_code_facts", GAUGE, "Tables about whose contents the code takes facts for granted.", |code| {
            code.facts.len() as u64
        }),
        ("bacus_code_loaded_total", COUNTER, "Times that specialised code has taken over.", |code| code.loaded),
        ("bacus_code_broken_total", COUNTER, "Writes that have put generic code back.", |code| code.broken),
    ];
    for (name, kind, about, field) in fields {
        text.each((name, kind, about), report.code.as_slice(), |code, put| put(&[], field(code)));
    }
}

fn p4_counters(text: &mut Text, counters: &[P4Counter]) {
    let sums: [Metric<P4Counter>; 2] = [
        ("bacus_p4_counter_packets_total", COUNTER, "Packets of all elements of a counter of the program.", |of| {
            of.packets
        }),
        ("bacus_p4_counter_bytes_total", COUNTER, "Bytes of all elements of a counter of the program.", |of| of.bytes),
    ];
    for (name, kind, about, field) in sums {
        text.each((name, kind, about), counters, |of, put| put(&[("counter", &of.name)], field(of)));
    }
    let elements: [Metric<(String, u64, u64)>; 2] = [
        (
            "bacus_p4_counter_element_packets_total",
            COUNTER,
            "Packets of an element, by its index or entry.",
            |element| element.1,
        ),
        ("bacus_p4_counter_element_bytes_total", COUNTER, "Bytes of an element, by its index or entry.", |element| {
            element.2
        }),
    ];
    for (name, kind, about, field) in elements {
        text.each((name, kind, about), counters, |of, put| {
            for element in &of.elements {
                put(&[("counter", &of.name), ("element", &element.0)], field(element));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_each_metric_is_typed_once() {
        let elements = vec![("hdr.x:\"1\\2\"".to_string(), 3, 4)];
        let counter = P4Counter { name: "c.frames".to_string(), packets: 3, bytes: 4, elements };
        let text = text(&ReportResponse::default(), &[counter], true);
        let element =
            "bacus_p4_counter_element_packets_total{counter=\"c.frames\",element=\"hdr.x:\\\"1\\\\2\\\"\"} 3\n";
        assert!(text.contains(element), "{text}");
        let types: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
        let names: std::collections::BTreeSet<_> = types.iter().collect();
        assert_eq!(types.len(), names.len(), "{text}");
        let is_value = |line: &str| line.rsplit(' ').next().is_some_and(|value| value.parse::<f64>().is_ok());
        assert!(text.lines().all(|line| line.starts_with('#') || is_value(line)), "{text}");
    }
}
