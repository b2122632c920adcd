//! The path of a packet as `dvaas.PacketTrace`, the message by which PINS' data-plane validation reports which entries a packet has hit
//! (sonic-net/sonic-pins: dvaas/packet_trace.proto, p4_pdpi/ir.proto), in protobuf's JSON form.

use super::text;
use control::message::config::match_field::{Match, MatchType};
use control::message::config::{self, P4Info, Preamble};
use control::message::switch::trace_step::{Apply, Step};
use control::message::switch::{TraceValue, TracedPacket};
use num_bigint::BigUint;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Tables and actions as controllers know them.
pub struct Names {
    info: P4Info,
}

impl Names {
    pub fn new(info: P4Info) -> Names {
        Names { info }
    }

    pub fn packet(&self, number: u64, packet: &TracedPacket) -> Value {
        let steps = packet.steps.iter().filter_map(|step| step.step.as_ref());
        let applied = steps.filter_map(|step| match step {
            Step::Apply(applied) => Some(applied),
            Step::Enter(_)
            | Step::Node(_)
            | Step::Extract(_)
            | Step::Set(_)
            | Step::Error(_)
            | Step::Copy(_)
            | Step::Punt(_)
            | Step::Drop(_)
            | Step::Send(_) => None,
        });
        // A table that controllers do not see has no name for them.
        let applies = applied.filter_map(|applied| Some(self.applied(self.table(&applied.table)?, applied)));
        json!({ "bmv2TextualLog": text::packet(number, packet), "tableApply": applies.collect::<Vec<Value>>() })
    }

    fn table(&self, name: &str) -> Option<&config::Table> {
        self.info.tables.iter().find(|table| preamble(&table.preamble).is_some_and(|of| of.name == name))
    }

    fn applied(&self, table: &config::Table, applied: &Apply) -> Value {
        let name = preamble(&table.preamble).map_or("", |of| &of.alias);
        let mut written = json!({ "tableName": name, "hitOrMissTextualLog": text::lookup(applied) });
        match &applied.hit {
            None => written["miss"] = json!({}),
            Some(hit) => {
                let fields = table.match_fields.iter().zip(&hit.matches);
                let mut entry = json!({
                    "tableName": name,
                    "matches": fields.filter_map(|(field, found)| matched(field, found)).collect::<Vec<Value>>(),
                    "action": self.action(applied),
                });
                if hit.priority != 0 {
                    entry["priority"] = json!(hit.priority);
                }
                written["hit"] = json!({ "tableEntry": entry });
            }
        }
        written
    }

    /// With its data by the names of its parameters. What no controller can write is left out.
    fn action(&self, applied: &Apply) -> Value {
        let is_meant =
            |action: &&config::Action| preamble(&action.preamble).is_some_and(|of| of.name == applied.action);
        let Some(action) = self.info.actions.iter().find(is_meant) else { return json!({ "name": applied.action }) };
        let parameter = |(given, declared): (&TraceValue, &config::action::Param)| {
            let look = Format::of(declared.bitwidth, &declared.annotations);
            json!({ "name": declared.name, "value": look.value(&BigUint::from_bytes_be(&given.value)) })
        };
        let parameters: Vec<Value> = applied.data.iter().zip(&action.params).map(parameter).collect();
        let name = preamble(&action.preamble).map_or("", |of| &of.alias);
        if parameters.is_empty() { json!({ "name": name }) } else { json!({ "name": name, "params": parameters }) }
    }
}

fn preamble(preamble: &Option<Preamble>) -> Option<&Preamble> {
    preamble.as_ref()
}

/// How a value is written, by its width and the annotation `@format`.
enum Format {
    Hexadecimal {
        bits: u32,
    },
    Mac,
    Ipv4,
    /// The number's bits are the first ones of the address.
    Ipv6 {
        bits: u32,
    },
}

impl Format {
    fn of(width: i32, annotations: &[String]) -> Format {
        let bits = width.max(1) as u32;
        let is = |format: &str| annotations.iter().any(|annotation| annotation == &format!("@format({format})"));
        match bits {
            48 if is("MAC_ADDRESS") => Format::Mac,
            32 if is("IPV4_ADDRESS") => Format::Ipv4,
            ..=128 if is("IPV6_ADDRESS") => Format::Ipv6 { bits },
            _ => Format::Hexadecimal { bits },
        }
    }

    fn value(&self, number: &BigUint) -> Value {
        let word = number.iter_u64_digits().next().unwrap_or(0);
        match self {
            Format::Hexadecimal { bits } => {
                let digits = bits.div_ceil(4) as usize;
                json!({ "hexStr": format!("{:#0width$x}", number, width = digits + 2) })
            }
            Format::Mac => {
                let bytes = word.to_be_bytes();
                let bytes: Vec<String> = bytes[2..].iter().map(|byte| format!("{byte:02x}")).collect();
                json!({ "mac": bytes.join(":") })
            }
            Format::Ipv4 => json!({ "ipv4": Ipv4Addr::from_bits(word as u32).to_string() }),
            Format::Ipv6 { bits } => {
                let address = u128::try_from(number).unwrap_or(0) << (128 - bits);
                json!({ "ipv6": Ipv6Addr::from_bits(address).to_string() })
            }
        }
    }
}

/// What an entry matches in a field; none where it takes any value.
fn matched(field: &config::MatchField, found: &str) -> Option<Value> {
    let number = |text: &str| BigUint::parse_bytes(text.trim_start_matches("0x").as_bytes(), 16).unwrap_or_default();
    // A range has no form in the message.
    let (value, mask) = found.split_once("&&&")?;
    let (value, mask) = (number(value), number(mask));
    let kind = match &field.r#match {
        Some(Match::MatchType(kind)) => MatchType::try_from(*kind).unwrap_or(MatchType::Unspecified),
        Some(Match::OtherMatchType(_)) | None => MatchType::Unspecified,
    };
    let format = Format::of(field.bitwidth, &field.annotations);
    let written = format.value(&value);
    if mask == BigUint::ZERO && kind != MatchType::Exact {
        return None;
    }
    let name = &field.name;
    Some(match kind {
        MatchType::Lpm => json!({ "name": name, "lpm": { "value": written, "prefixLength": mask.count_ones() } }),
        MatchType::Ternary => json!({ "name": name, "ternary": { "value": written, "mask": format.value(&mask) } }),
        MatchType::Optional => json!({ "name": name, "optional": { "value": written } }),
        MatchType::Exact | MatchType::Range | MatchType::Unspecified => json!({ "name": name, "exact": written }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(width: i32, kind: MatchType, format: &str) -> config::MatchField {
        config::MatchField {
            name: "f".to_string(),
            bitwidth: width,
            annotations: if format.is_empty() { Vec::new() } else { vec![format!("@format({format})")] },
            r#match: Some(Match::MatchType(kind.into())),
            ..config::MatchField::default()
        }
    }

    /// As p4_pdpi/ir.proto demands: hexadecimal digits for all bits, addresses in their forms, and no field that takes any value.
    #[test]
    fn fields_are_as_the_message_has_them() {
        let value = |field: config::MatchField, found: &str| matched(&field, found);
        assert_eq!(
            value(field(10, MatchType::Exact, ""), "0x2&&&0x3ff"),
            Some(json!({ "name": "f", "exact": { "hexStr": "0x002" } }))
        );
        assert_eq!(
            value(field(32, MatchType::Lpm, "IPV4_ADDRESS"), "0xa000000&&&0xff000000"),
            Some(json!({ "name": "f", "lpm": { "value": { "ipv4": "10.0.0.0" }, "prefixLength": 8 } }))
        );
        let mac = json!({ "value": { "mac": "00:00:00:00:00:02" }, "mask": { "mac": "ff:ff:ff:ff:ff:ff" } });
        assert_eq!(
            value(field(48, MatchType::Ternary, "MAC_ADDRESS"), "0x2&&&0xffffffffffff"),
            Some(json!({ "name": "f", "ternary": mac }))
        );
        assert_eq!(
            value(field(64, MatchType::Optional, "IPV6_ADDRESS"), "0x20010db800000000&&&0xffffffffffffffff"),
            Some(json!({ "name": "f", "optional": { "value": { "ipv6": "2001:db8::" } } }))
        );
        for kind in [MatchType::Lpm, MatchType::Ternary, MatchType::Optional] {
            assert_eq!(value(field(32, kind, ""), "0x0&&&0x0"), None);
        }
        assert_eq!(value(field(16, MatchType::Range, ""), "0x1..0x7"), None);
    }
}
