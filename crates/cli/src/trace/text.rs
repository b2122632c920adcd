//! The path of a packet as lines.

use super::verdict;
use control::message::switch::trace_step::{Apply, Step};
use control::message::switch::{TraceValue, TracedPacket};
use std::fmt::Write as _;

/// A value in hexadecimal.
pub fn value(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let digits = digits.trim_start_matches('0');
    format!("0x{}", if digits.is_empty() { "0" } else { digits })
}

fn listed(values: &[TraceValue]) -> String {
    values.iter().map(|named| format!("{}={}", named.name, value(&named.value))).collect::<Vec<_>>().join(" ")
}

pub fn packet(number: u64, packet: &TracedPacket) -> String {
    let seconds = packet.clock_ns as f64 / 1e9;
    let mut text = format!(
        "packet {number} from port {}, {} bytes, at {seconds:.6} s: {}\n",
        packet.port,
        packet.received.len(),
        verdict(packet)
    );
    for step in packet.steps.iter().filter_map(|step| step.step.as_ref()) {
        line(&mut text, step);
    }
    text.push('\n');
    text
}

/// A string takes all that is written to it.
pub fn line(text: &mut String, step: &Step) {
    let _ = match step {
        Step::Enter(entered) if entered.again => writeln!(text, "  enters again, {} bytes", entered.bytes),
        Step::Enter(_) => Ok(()),
        Step::Node(name) => writeln!(text, "  {name}"),
        Step::Extract(extracted) => writeln!(text, "    extract {}: {}", extracted.header, listed(&extracted.fields)),
        Step::Set(named) => writeln!(text, "    {} = {}", named.name, value(&named.value)),
        Step::Apply(applied) => writeln!(text, "    {}", lookup(applied)),
        Step::Error(name) => writeln!(text, "    parser error {name}"),
        Step::Copy(copy) => writeln!(text, "  copy for port {}, instance {}", copy.port, copy.instance),
        Step::Punt(reason) => writeln!(text, "  to the control plane: {reason}"),
        Step::Drop(reason) => writeln!(text, "  drop: {reason}"),
        Step::Send(sent) => writeln!(text, "  send to port {}, {} bytes", sent.port, sent.bytes),
    };
}

pub fn lookup(applied: &Apply) -> String {
    let found = match &applied.hit {
        Some(hit) if hit.priority != 0 => format!("hit ({}, priority {})", hit.matches.join(" "), hit.priority),
        Some(hit) => format!("hit ({})", hit.matches.join(" ")),
        None => "miss".to_string(),
    };
    let data = applied.data.iter().map(|named| format!("{}:{}", named.name, value(&named.value)));
    let data: Vec<String> = data.collect();
    format!("table {} [{}]: {found}: {}({})", applied.table, listed(&applied.key), applied.action, data.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_no_leading_zeros() {
        assert_eq!([value(&[]), value(&[0]), value(&[0x0a, 0, 1]), value(&[0xff])], ["0x0", "0x0", "0xa0001", "0xff"]);
    }
}
