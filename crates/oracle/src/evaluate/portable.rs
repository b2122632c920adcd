//! The extern objects that PSA and PNA share (PSA 1.2, clause 7), and the functions of both.

use num_bigint::BigInt;
use p4::ast::{self, Argument};

use super::call::{Arguments, Passed};
use super::checksum::{bytes_of, digest};
use super::convert::convert;
use super::environment::{Env, Instance};
use super::externs::Object;
use super::machine::Machine;
use super::packages::Package;
use super::pna::Fate;
use super::value::{Type, Value};
use super::{Run, unsupported};

/// The state of an object of PSA or PNA.
pub enum Portable {
    /// 7.9. What lies beyond the last element is undefined.
    Register { of: Type, size: BigInt, initial: Value, elements: std::collections::HashMap<BigInt, Value> },
    /// 7.5.
    Hash { algorithm: String, result: Type },
    /// 7.6.1: the data since the last `clear`.
    Checksum { algorithm: String, result: Type, data: Vec<bool> },
    /// 7.6.2.
    InternetChecksum { sum: u32 },
    /// 7.10, of which only a range of one number is known.
    Random { low: BigInt, high: BigInt, result: Type },
    /// 7.12: how the member of a group is chosen.
    Selector { algorithm: String, width: usize },
    /// 7.7: no packet sees what they hold. 7.14: nor what the control plane gets.
    Unseen,
    /// 7.8, without rates: all packets are green.
    Meter,
}

impl Portable {
    pub fn new(class: &str, types: &[Type], arguments: &[Value]) -> Option<Portable> {
        let first = || types.first().cloned().unwrap_or(Type::Any);
        let number = |at: usize| arguments.get(at).and_then(Value::number).unwrap_or(BigInt::ZERO);
        let algorithm = || match arguments.first() {
            Some(Value::Enum(_, member)) => member.to_string(),
            _ => String::new(),
        };
        Some(match class {
            "Register" => Portable::Register {
                of: first(),
                size: number(0),
                initial: arguments
                    .get(1)
                    .map_or_else(|| Value::initial(&first()), |value| convert(value.clone(), &first())),
                elements: std::collections::HashMap::new(),
            },
            "Hash" => Portable::Hash { algorithm: algorithm(), result: first() },
            "Checksum" => Portable::Checksum { algorithm: algorithm(), result: first(), data: Vec::new() },
            "InternetChecksum" => Portable::InternetChecksum { sum: 0 },
            "Random" => Portable::Random { low: number(0), high: number(1), result: first() },
            "Counter" | "DirectCounter" | "Digest" | "ActionProfile" => Portable::Unseen,
            "ActionSelector" => {
                Portable::Selector { algorithm: algorithm(), width: usize::try_from(&number(2)).unwrap_or(0) }
            }
            "Meter" | "DirectMeter" => Portable::Meter,
            _ => return None,
        })
    }

    /// 7.6: an object is cleared whenever the parser or control that has it is applied.
    pub fn clear(&mut self) {
        match self {
            Portable::Checksum { data, .. } => data.clear(),
            Portable::InternetChecksum { sum } => *sum = 0,
            _ => {}
        }
    }
}

/// 7.6.2: the sum of two 16-bit words with the carry brought round.
fn ones_complement_sum(left: u32, right: u32) -> u32 {
    let sum = left + right;
    (sum & 0xffff) + (sum >> 16)
}

/// A hash by its name in `PSA_HashAlgorithm_t` (7.5).
pub fn portable_digest(algorithm: &str, bits: &[bool]) -> Run<BigInt> {
    match algorithm {
        "IDENTITY" => digest("identity", bits),
        "CRC16" => digest("crc16", bits),
        "CRC32" => digest("crc32", bits),
        "ONES_COMPLEMENT16" => digest("csum16", bits),
        other => unsupported(format!("algorithm {other}")),
    }
}

fn given<'p>(passed: &'p Arguments<'_>, name: &str) -> Option<&'p Value> {
    passed.iter().find(|(parameter, _)| parameter.name.as_str() == name).and_then(|(_, passed)| match passed {
        Passed::Value(value) => Some(value),
        _ => None,
    })
}

fn bits_of(passed: &Arguments<'_>) -> Vec<bool> {
    let mut bits = Vec::new();
    if let Some(value) = given(passed, "data") {
        value.append_bits(&mut bits);
    }
    bits
}

impl<'a> Machine<'a> {
    pub(super) fn portable_method(
        &mut self,
        object: usize,
        instance: &Instance<'a>,
        declared: &'a ast::Method,
        arguments: &'a [Argument],
        env: &Env<'a>,
    ) -> Run<Value> {
        let passed = self.arguments(&declared.parameters, arguments, env)?;
        let method = declared.name.as_str();
        let index = given(&passed, "index").and_then(Value::number);
        if let (Object::Portable(Portable::Register { size, .. }), Some(index)) = (&self.objects[object], &index)
            && index >= size
        {
            self.note_undefined("a register beyond its end");
        }
        let Object::Portable(known) = &mut self.objects[object] else { return unsupported("no portable object") };
        match (known, method) {
            (Portable::Register { initial, elements, .. }, "read") => {
                Ok(index.and_then(|index| elements.get(&index).cloned()).unwrap_or_else(|| initial.clone()))
            }
            (Portable::Register { of, size, elements, .. }, "write") => {
                if let (Some(index), Some(value)) = (index.filter(|index| index < size), given(&passed, "value")) {
                    elements.insert(index, convert(value.clone(), of));
                }
                Ok(Value::Void)
            }
            (Portable::Hash { algorithm, result }, "get_hash") => {
                let hash = portable_digest(algorithm, &bits_of(&passed))?;
                let most = given(&passed, "max").and_then(Value::number);
                let base = given(&passed, "base").and_then(Value::number);
                Ok(convert(Value::Integer(ranged(hash, base, most)), result))
            }
            (Portable::Checksum { data, .. }, "update") => {
                data.extend(bits_of(&passed));
                Ok(Value::Void)
            }
            (Portable::Checksum { algorithm, result, data }, "get") => {
                Ok(convert(Value::Integer(portable_digest(algorithm, data)?), result))
            }
            (known @ (Portable::Checksum { .. } | Portable::InternetChecksum { .. }), "clear") => {
                known.clear();
                Ok(Value::Void)
            }
            (Portable::InternetChecksum { sum }, _) => internet_checksum(sum, method, &passed),
            (Portable::Random { low, high, result }, "read") if low == high => {
                Ok(convert(Value::Integer(low.clone()), result))
            }
            (Portable::Unseen, "count" | "pack") => Ok(Value::Void),
            (Portable::Meter, "execute") => {
                let Some(of) = &declared.return_type else { return unsupported("a meter without colours") };
                match self.resolve(of, &instance.env)? {
                    Type::Enum(of) => Ok(Value::Enum(of, "GREEN".into())),
                    _ => unsupported("a meter without colours"),
                }
            }
            _ => unsupported(format!("{}.{method}", instance.declaration.name)),
        }
    }

    /// 7.6: begins the checksums of a parser or control anew.
    pub(super) fn clear_checksums(&mut self, instance: &Instance<'a>) {
        for object in instance.children.values().filter_map(|child| child.object) {
            if let Object::Portable(portable) = &mut self.objects[object] {
                portable.clear();
            }
        }
    }

    /// Functions of PSA and PNA.
    pub(super) fn portable_function(&mut self, name: &str, passed: &Arguments<'a>) -> Run<Value> {
        let values: Vec<&Value> = passed
            .iter()
            .filter_map(|(_, passed)| if let Passed::Value(value) = passed { Some(value) } else { None })
            .collect();
        if let Some(answer) = self.psa_question(name, &values) {
            return Ok(Value::Bool(answer));
        }
        if let ("add_entry", [Value::String(action), data, ..]) = (name, &values[..]) {
            return Ok(Value::Bool(self.add_missed(action, data)?));
        }
        let number = |at: usize| values.get(at).and_then(|value| value.number()).unwrap_or(BigInt::ZERO);
        let Package::Pna(nic) = &mut self.package else { return unsupported(format!("extern function {name}")) };
        match name {
            "drop_packet" => nic.fate = Fate::Drop,
            "recirculate" => nic.fate = Fate::Recirculate,
            "send_to_port" => nic.fate = Fate::Send(u32::try_from(&number(0)).unwrap_or(u32::MAX)),
            "mirror_packet" => {
                nic.mirrored.insert(number(0), number(1));
            }
            "allocate_flow_id" => {
                nic.flows += 1;
                return Ok(Value::bits(nic.flows - 1, 32));
            }
            // How long an entry lives no packet sees: no time passes.
            "set_entry_expire_time" | "restart_expire_timer" | "set_entry_expire_time_if" | "update_expire_info" => {}
            "SelectByDirection" => {
                let is_from_net = matches!(values[0], Value::Enum(_, member) if &**member == "NET_TO_HOST");
                return Ok(values[if is_from_net { 1 } else { 2 }].clone());
            }
            other => return unsupported(format!("extern function {other}")),
        }
        Ok(Value::Void)
    }
}

/// 7.5: `base + hash mod max`. A `max` of 0 gives `base` (docs/language.md).
fn ranged(hash: BigInt, base: Option<BigInt>, most: Option<BigInt>) -> BigInt {
    match (base, most) {
        (Some(base), Some(most)) if most != BigInt::ZERO => base + hash % most,
        (Some(base), _) => base,
        (None, _) => hash,
    }
}

/// 7.6.2, as its pseudo code: data is taken in words of 16 bits.
fn internet_checksum(sum: &mut u32, method: &str, passed: &Arguments<'_>) -> Run<Value> {
    let bytes = bytes_of(&bits_of(passed));
    let words = || bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)));
    match method {
        "add" => *sum = words().fold(*sum, ones_complement_sum),
        "subtract" => *sum = words().fold(*sum, |sum, word| ones_complement_sum(sum, !word & 0xffff)),
        "get" => return Ok(Value::bits(!*sum & 0xffff, 16)),
        "get_state" => return Ok(Value::bits(*sum, 16)),
        "set_state" => {
            let state = given(passed, "checksum_state").and_then(Value::number).unwrap_or(BigInt::ZERO);
            *sum = u32::try_from(&state).unwrap_or(0);
        }
        other => return unsupported(format!("InternetChecksum.{other}")),
    }
    Ok(Value::Void)
}
