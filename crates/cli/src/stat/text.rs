//! Two reports as text: counts, and the rates between them.

use super::Sample;
use control::message::switch::{Branch, Count, Exchanges, Port, ReportResponse, Ring, Table, Worker};
use std::fmt::Write as _;

/// Branches of the traffic that code is planned for.
const MOST_BRANCHES: usize = 12;

/// Of the counts at two moments: what has come in a second.
struct Rate {
    seconds: f64,
}

impl Rate {
    /// A pipeline that was exchanged begins its counts at 0.
    fn of(&self, before: u64, now: u64) -> f64 {
        now.saturating_sub(before) as f64 / self.seconds
    }
}

/// A rate in at most six characters.
fn short(rate: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let unit = UNITS.iter().find(|(size, _)| rate >= 0.9995 * size);
    let (value, unit) = unit.map_or((rate, ""), |(size, unit)| (rate / size, *unit));
    match value {
        ..0.05 => "0".to_string(),
        ..9.995 if !unit.is_empty() => format!("{value:.2}{unit}"),
        ..99.95 => format!("{value:.1}{unit}"),
        _ => format!("{value:.0}{unit}"),
    }
}

/// Bytes in at most seven characters.
pub fn memory(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "kiB")];
    match UNITS.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => format!("{:.1}{unit}", bytes as f64 / *size as f64),
        None => format!("{bytes}B"),
    }
}

pub fn table(before: &Sample, now: &Sample) -> String {
    let rate = Rate { seconds: (now.at - before.at).as_secs_f64().max(1e-6) };
    let (old, new) = (&before.report, &now.report);
    let mut text = String::new();
    let dropped = |counts: &[Count]| counts.iter().map(|count| count.count).sum::<u64>();
    let total = |before: u64, now: u64| format!("{now} ({}/s)", short(rate.of(before, now)));
    let line = format!(
        "in {}   out {}   dropped {}   not sent {}   to controllers {}",
        total(old.received, new.received),
        total(old.sent, new.sent),
        total(dropped(&old.drops), dropped(&new.drops)),
        total(old.not_sent, new.not_sent),
        total(old.to_controller, new.to_controller)
    );
    // A string takes all that is written to it.
    let _ = writeln!(text, "{line}");
    ports(&mut text, &rate, (&old.ports, &new.ports));
    tables(&mut text, &rate, (&old.tables, &new.tables));
    counts(&mut text, &rate, ("dropped, by reason", &old.drops, &new.drops));
    workers(&mut text, &rate, (&old.workers, &new.workers));
    rings(&mut text, &new.rings);
    code(&mut text, new);
    counts(&mut text, &rate, ("events", &old.events, &new.events));
    text
}

fn ports(text: &mut String, rate: &Rate, (before, now): (&[Port], &[Port])) {
    let _ = writeln!(
        text,
        "\nport  link  packets in     in/s  in bit/s  packets out   out/s  out bit/s   missed  errors  not sent  device"
    );
    for port in now {
        let known = before.iter().find(|known| known.number == port.number && known.device == port.device);
        let old = known.cloned().unwrap_or_default();
        let _ = writeln!(
            text,
            "{:<5} {:<5} {:>10} {:>8} {:>9} {:>12} {:>7} {:>10} {:>8} {:>7} {:>9}  {}",
            port.number,
            port.link().as_str_name().to_lowercase(),
            port.received,
            short(rate.of(old.received, port.received)),
            short(8.0 * rate.of(old.received_bytes, port.received_bytes)),
            port.sent,
            short(rate.of(old.sent, port.sent)),
            short(8.0 * rate.of(old.sent_bytes, port.sent_bytes)),
            port.missed,
            port.errors,
            port.not_sent,
            port.device
        );
    }
}

fn tables(text: &mut String, rate: &Rate, (before, now): (&[Table], &[Table])) {
    if now.is_empty() {
        return;
    }
    let width = now.iter().map(|table| table.name.len()).max().unwrap_or(0).clamp(5, 40);
    let _ = writeln!(
        text,
        "\n{:<width$}  structure      entries   capacity  full   memory   hits/s  misses/s  hit %",
        "table"
    );
    for table in now {
        let old = before.iter().find(|known| known.name == table.name).cloned().unwrap_or_default();
        let (hits, misses) = (rate.of(old.hits, table.hits), rate.of(old.misses, table.misses));
        let lookups = hits + misses;
        let full = |capacity: u64| format!("{:.0}%", 100.0 * table.entries as f64 / capacity.max(1) as f64);
        let _ = writeln!(
            text,
            "{:<width$}  {:<12} {:>9} {:>10} {:>5} {:>8} {:>8} {:>9} {:>6}",
            table.name,
            table.structure,
            table.entries,
            table.capacity.map_or("-".to_string(), |capacity| capacity.to_string()),
            table.capacity.map_or("-".to_string(), full),
            memory(table.bytes),
            short(hits),
            short(misses),
            if lookups > 0.0 { format!("{:.1}", 100.0 * hits / lookups) } else { "-".to_string() }
        );
    }
}

fn counts(text: &mut String, rate: &Rate, (title, before, now): (&str, &[Count], &[Count])) {
    if now.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{:>14} {:>8}  {title}", "packets", "in 1 s");
    for count in now {
        let old = before.iter().find(|known| known.name == count.name).map_or(0, |known| known.count);
        let _ = writeln!(text, "{:>14} {:>8}  {}", count.count, short(rate.of(old, count.count)), count.name);
    }
}

fn workers(text: &mut String, rate: &Rate, (before, now): (&[Worker], &[Worker])) {
    let _ = writeln!(text, "\nworker     in/s    out/s  packets/burst  busy  cycles/packet");
    for worker in now {
        let old = before.iter().find(|known| known.number == worker.number).copied().unwrap_or_default();
        let received = worker.received.saturating_sub(old.received);
        let bursts = worker.bursts.saturating_sub(old.bursts);
        let busy_ns = worker.busy_ns.saturating_sub(old.busy_ns);
        let per = |sum: f64, count: u64| if count > 0 { format!("{:.1}", sum / count as f64) } else { "-".to_string() };
        let _ = writeln!(
            text,
            "{:<6} {:>8} {:>8} {:>14} {:>4.0}% {:>14}",
            worker.number,
            short(rate.of(old.received, worker.received)),
            short(rate.of(old.handed, worker.handed)),
            per(received as f64, bursts),
            (busy_ns as f64 / (1e7 * rate.seconds)).min(100.0),
            per(busy_ns as f64 * worker.tsc_hz as f64 / 1e9, received)
        );
    }
}

/// The rings of all workers by what is in them; none that is empty and has lost nothing.
fn rings(text: &mut String, rings: &[Ring]) {
    let mut names: Vec<&str> = rings.iter().map(|ring| ring.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let sum = |name: &str, of: fn(&Ring) -> u64| rings.iter().filter(|ring| ring.name == name).map(of).sum::<u64>();
    let all = names.iter().map(|name| {
        let fields: [fn(&Ring) -> u64; 3] = [|ring| ring.waiting_bytes, |ring| ring.bytes, |ring| ring.lost];
        let [waiting, bytes, lost] = fields.map(|of| sum(name, of));
        (*name, waiting, bytes, lost)
    });
    let used: Vec<_> = all.filter(|(_, waiting, _, lost)| *waiting > 0 || *lost > 0).collect();
    if used.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n waiting     room  full       lost  ring to or from the control plane");
    for (name, waiting, bytes, lost) in used {
        let full = 100.0 * waiting as f64 / bytes.max(1) as f64;
        let _ = writeln!(text, "{:>8} {:>8} {full:>4.0}% {lost:>10}  {name}", memory(waiting), memory(bytes));
    }
}

/// Exchanges of pipelines, and what the code takes for granted.
fn code(text: &mut String, report: &ReportResponse) {
    if let Some(Exchanges { count: count @ 1.., longest_pause_ns }) = report.exchanges {
        let pause = longest_pause_ns as f64 / 1000.0;
        let _ = writeln!(text, "\npipelines exchanged: {count}, longest pause of a worker {pause:.1} us");
    }
    let Some(code) = &report.code else { return };
    let kind = if code.specialised { "specialised" } else { "generic" };
    let (loaded, broken, last) = (code.loaded, code.broken, &code.last);
    let _ = writeln!(text, "\ncode: {kind}; specialised {loaded} times, put back {broken} times; {last}");
    for fact in &code.facts {
        let _ = writeln!(text, "  {fact}");
    }
    let Some(sample) = &code.sample else { return };
    let _ = writeln!(text, "planned for a sample of {} packets", sample.packets);
    for Branch { from, to, packets } in sample.branches.iter().take(MOST_BRANCHES) {
        // A packet may take a branch of a loop more than once.
        let percent = 100.0 * *packets as f64 / sample.packets.max(1) as f64;
        let _ = writeln!(text, "  {percent:>5.1} %  {from} -> {to}");
    }
    if let more @ 1.. = sample.branches.len().saturating_sub(MOST_BRANCHES) {
        let _ = writeln!(text, "  and {more} branches more: `bacus ctl stats` prints them all");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn rates_are_short() {
        let cases =
            [(0.0, "0"), (0.5, "0.5"), (12.0, "12.0"), (999.4, "999"), (999.6, "1.00k"), (14_880_000.0, "14.9M")];
        for (rate, expected) in cases {
            assert_eq!(short(rate), expected);
        }
        assert_eq!([memory(12), memory(4096), memory(3 << 29)], ["12B", "4.0kiB", "1.5GiB"]);
    }

    #[test]
    fn rings_facts_and_exchanges_are_shown_where_there_are_any() {
        let at = Instant::now();
        let sample = |report: ReportResponse| Sample { report, at: at + Duration::from_secs(1) };
        let ring = |worker, name: &str, waiting_bytes, lost| Ring {
            worker,
            name: name.to_string(),
            waiting_bytes,
            bytes: 1 << 20,
            lost,
        };
        let code = control::message::switch::Code {
            specialised: true,
            facts: vec!["hosts: no entries".to_string()],
            loaded: 2,
            broken: 1,
            last: "compiled".to_string(),
            sample: Some(control::message::switch::Sample {
                packets: 4096,
                branches: vec![Branch { from: "start".to_string(), to: "ipv4".to_string(), packets: 1024 }; 14],
            }),
        };
        let report = ReportResponse {
            rings: vec![ring(0, "digests", 1 << 19, 1), ring(1, "digests", 1 << 19, 4), ring(0, "log lines", 0, 0)],
            exchanges: Some(Exchanges { count: 3, longest_pause_ns: 4500 }),
            code: Some(code),
            ..Default::default()
        };
        let before = Sample { report: ReportResponse::default(), at };
        let text = table(&before, &sample(report));
        let of_digests = text.lines().find(|line| line.ends_with("digests")).unwrap_or_default();
        let words: Vec<&str> = of_digests.split_whitespace().collect();
        assert_eq!(words, ["1.0MiB", "2.0MiB", "50%", "5", "digests"], "{text}");
        assert!(!text.contains("log lines") && text.contains("  hosts: no entries\n"), "{text}");
        assert!(text.contains("pipelines exchanged: 3, longest pause of a worker 4.5 us\n"), "{text}");
        assert!(text.contains("code: specialised; specialised 2 times, put back 1 times; compiled\n"), "{text}");
        assert!(text.contains("planned for a sample of 4096 packets\n   25.0 %  start -> ipv4\n"), "{text}");
        assert!(text.contains("  and 2 branches more: "), "{text}");
        let quiet = table(&before, &sample(ReportResponse::default()));
        assert!(!quiet.contains("exchanged") && !quiet.contains("code:") && !quiet.contains("ring"), "{quiet}");
    }

    #[test]
    fn rates_are_those_between_two_reports() {
        let at = Instant::now();
        let report = |factor: u64| ReportResponse {
            tables: vec![Table {
                name: "hosts".to_string(),
                structure: "exact48".to_string(),
                entries: 5,
                capacity: Some(10),
                hits: 300 * factor,
                misses: 100 * factor,
                ..Default::default()
            }],
            workers: vec![Worker {
                received: 400 * factor,
                bursts: 20 * factor,
                busy_ns: 40_000 * factor,
                tsc_hz: 2_000_000_000,
                ..Default::default()
            }],
            ..Default::default()
        };
        let samples = [(1, 0), (3, 2)]
            .map(|(factor, seconds)| Sample { report: report(factor), at: at + Duration::from_secs(seconds) });
        let text = table(&samples[0], &samples[1]);
        let line = |name: &str| text.lines().rfind(|line| line.starts_with(name)).unwrap_or_default();
        let words: Vec<&str> = line("hosts").split_whitespace().collect();
        assert_eq!(words, ["hosts", "exact48", "5", "10", "50%", "0B", "300", "100", "75.0"], "{text}");
        // 80 us of 2 s, for 800 packets.
        let words: Vec<&str> = line("0 ").split_whitespace().collect();
        assert_eq!(words, ["0", "400", "0", "20.0", "0%", "200.0"], "{text}");
    }
}
