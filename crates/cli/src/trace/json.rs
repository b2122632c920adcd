//! The path of a packet as an object: its steps in order, each an object with one member.

use super::text::value;
use super::verdict;
use control::message::switch::trace_step::Step;
use control::message::switch::{TraceValue, TracedPacket};
use serde_json::{Value, json};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Named values as an object; numbers of any width are hexadecimal text.
fn values(values: &[TraceValue]) -> Value {
    values.iter().map(|named| (named.name.clone(), json!(value(&named.value)))).collect()
}

pub fn packet(packet: &TracedPacket) -> Value {
    json!({
        "port": packet.port, "clock_ns": packet.clock_ns, "received": hex(&packet.received), "verdict": verdict(packet),
        "steps": packet.steps.iter().filter_map(|step| step.step.as_ref()).map(step).collect::<Value>(),
    })
}

fn step(step: &Step) -> Value {
    match step {
        Step::Enter(entered) => {
            json!({ "enter": { "port": entered.port, "bytes": entered.bytes, "again": entered.again } })
        }
        Step::Node(name) => json!({ "node": name }),
        Step::Extract(extracted) => json!({ "extract": extracted.header, "fields": values(&extracted.fields) }),
        Step::Set(named) => json!({ "set": named.name, "value": value(&named.value) }),
        Step::Apply(applied) => {
            let hit = applied.hit.as_ref().map(|hit| json!({ "matches": hit.matches, "priority": hit.priority }));
            json!({
                "table": applied.table, "key": values(&applied.key), "hit": hit,
                "action": applied.action, "data": values(&applied.data),
            })
        }
        Step::Error(name) => json!({ "parser_error": name }),
        Step::Copy(copy) => json!({ "copy": { "port": copy.port, "instance": copy.instance } }),
        Step::Punt(reason) => json!({ "punt": reason }),
        Step::Drop(reason) => json!({ "drop": reason }),
        Step::Send(sent) => json!({ "send": { "port": sent.port, "bytes": sent.bytes, "packet": hex(&sent.packet) } }),
    }
}
