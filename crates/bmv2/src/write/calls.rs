//! Operations of stateful objects.

use super::code::{Code, primitive};
use super::expressions::{field, number, small};
use super::writer::{Writer, Written};
use hlir::{Algorithm, Binary, Call, DigestId, Expression, HashInput, Place};
use num_bigint::BigUint;
use serde_json::{Value, json};

/// Bits in which BMv2 computes with hashes.
const HASH_BITS: u32 = 64;

/// BMv2's name of an algorithm.
pub fn algorithm(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Crc32 => "crc32",
        Algorithm::Crc32Custom(_) => "crc32_custom",
        Algorithm::Crc16 => "crc16",
        Algorithm::Crc16Custom(_) => "crc16_custom",
        Algorithm::Identity => "identity",
        Algorithm::InternetChecksum => "csum16",
        Algorithm::Xor16 => "xor16",
        Algorithm::Target => "random",
    }
}

impl Writer<'_> {
    pub(super) fn call(&mut self, call: &Call, code: &mut Code) -> Written {
        let program = self.program;
        let of = |kind: &str, name: &str| json!({ "type": kind, "value": name });
        match call {
            Call::Count { counter, index: Some(index) } => {
                let counter = of("counter_array", &program.counters[*counter].name);
                code.push(primitive("count", vec![counter, self.parameter(index)?]));
            }
            Call::ReadRegister { register, index, into } => {
                let register = of("register_array", &program.registers[*register].name);
                let into = field(&self.storage.place(*into));
                code.push(primitive("register_read", vec![into, register, self.parameter(index)?]));
            }
            Call::WriteRegister { register, index, value } => {
                let register = of("register_array", &program.registers[*register].name);
                let parameters = vec![register, self.parameter(index)?, self.parameter(value)?];
                code.push(primitive("register_write", parameters));
            }
            Call::ExecuteMeter { meter, index: Some(index), colour: None, into } => {
                let meter = of("meter_array", &program.meters[*meter].name);
                let into = field(&self.storage.place(*into));
                code.push(primitive("execute_meter", vec![meter, self.parameter(index)?, into]));
            }
            Call::Hash { algorithm, data, into } => self.hash((*algorithm, data), *into, code)?,
            Call::Random { low, high, into } => {
                let parameters = vec![field(&self.storage.place(*into)), self.parameter(low)?, self.parameter(high)?];
                code.push(primitive("modify_field_rng_uniform", parameters));
            }
            Call::SendDigest { digest, values } => self.send_digest(*digest, values, code)?,
            Call::Log { format, arguments } => {
                let arguments =
                    arguments.iter().map(|argument| self.parameter(argument)).collect::<Written<Vec<_>>>()?;
                let arguments = json!({ "type": "parameters_vector", "value": arguments });
                code.push(primitive("log_msg", vec![of("string", format), arguments]));
            }
            Call::Assert { condition, .. } => {
                let condition = super::expressions::as_number(self.condition(condition)?);
                code.push(primitive("assert", vec![json!({ "type": "expression", "value": condition })]));
            }
            Call::Count { index: None, .. } => return self.unsayable("a direct counter that an action calls"),
            Call::ExecuteMeter { .. } => return self.unsayable("a direct meter that an action calls"),
            Call::AddChecksum { .. } => return self.unsayable("an incremental checksum"),
            Call::AddEntry { .. } | Call::RestartTimer { .. } => {
                return self.unsayable("an action that changes the entries of its table");
            }
            Call::Custom { function, .. } => return self.unsayable(format!("the extern function `{function}`")),
        }
        Ok(())
    }

    /// `into = hash`. BMv2 keeps a remainder by a number of 64 bits: a hash of 64 bits needs the one of the program.
    fn hash(&mut self, (of, data): (Algorithm, &[HashInput]), into: Place, code: &mut Code) -> Written {
        let inputs = self.inputs(data, Some(code))?;
        let name = self.calculation(of, inputs)?;
        let width = self.program.place_type(into).width().min(of.width());
        let size = match code.divisor.take() {
            _ if width < HASH_BITS => BigUint::from(1u8) << width,
            Some(divisor) => divisor,
            None => return self.unsayable("a hash of 64 bits without a maximum"),
        };
        let calculation = json!({ "type": "calculation", "value": name });
        let parameters =
            vec![field(&self.storage.place(into)), small(0), calculation, number(&size, size.bits() as u32)];
        code.push(primitive("modify_field_with_hash_based_offset", parameters));
        Ok(())
    }

    /// The next name that p4c gives, and no other calculation has.
    fn free_calculation(&self) -> String {
        let id = self.calculations.len();
        let is_taken = |name: &str| {
            self.program.crcs.values().any(|crc| crc.name == name)
                || self.calculations.iter().any(|known| known["name"] == *name)
        };
        let names = (0..).map(hlir::build::names::calculation);
        names.skip(id).find(|name| !is_taken(name)).unwrap_or_default()
    }

    /// The name of a calculation with these inputs.
    pub(super) fn calculation(&mut self, of: Algorithm, inputs: Vec<Value>) -> Written<String> {
        let id = self.calculations.len();
        let name = match of.crc() {
            Some(crc) => self.program.crcs[crc].name.clone(),
            None => self.free_calculation(),
        };
        let made = json!({ "name": name, "id": id, "algo": algorithm(of), "input": inputs });
        match self.calculations.iter().find(|known| known["name"] == *name) {
            Some(known) if known["input"] != made["input"] => {
                return self.unsayable(format!("the CRC `{name}` of other values in another place"));
            }
            Some(_) => {}
            None => self.calculations.push(made),
        }
        Ok(name)
    }

    /// What a calculation takes. Computed values are put into scalars before, if there is code for it.
    pub(super) fn inputs(&mut self, data: &[HashInput], mut code: Option<&mut Code>) -> Written<Vec<Value>> {
        let mut inputs = Vec::new();
        for input in data {
            match input {
                HashInput::Payload => inputs.push(json!({ "type": "payload", "value": null })),
                HashInput::Field(place) => inputs.push(field(&self.storage.field(*place))),
                HashInput::Bits(bits) => self.bits(bits, code.as_deref_mut(), &mut inputs)?,
            }
        }
        Ok(inputs)
    }

    fn bits(&mut self, bits: &Expression, mut code: Option<&mut Code>, inputs: &mut Vec<Value>) -> Written {
        let width = bits.type_in(self.program, &self.parameters).width();
        match bits {
            _ if width == 0 => {}
            Expression::Binary { operator: Binary::Concat, left, right } => {
                self.bits(left, code.as_deref_mut(), inputs)?;
                self.bits(right, code, inputs)?;
            }
            Expression::Constant { value, .. } => {
                let value = super::expressions::hex(value, width);
                inputs.push(json!({ "type": "hexstr", "value": value, "bitwidth": width }));
            }
            Expression::Variable(_) => inputs.push(self.parameter(bits)?),
            _ => match code {
                // A field as bits counts while its header is invalid, too.
                Some(code) => {
                    let place = self.storage.temporary(width);
                    let value = self.parameter(bits)?;
                    code.push(primitive("assign", vec![field(&place), value]));
                    inputs.push(field(&place));
                }
                None => return self.unsayable("a checksum of computed values"),
            },
        }
        Ok(())
    }

    /// BMv2 reads the values at the end of the pipeline: those that calls compute, or that differ, are kept in scalars.
    fn send_digest(&mut self, digest: DigestId, values: &[Expression], code: &mut Code) -> Written {
        if self.digests.get(&digest).is_none_or(Option::is_none) {
            let places = self.digest_places(digest);
            for (place, value) in places.iter().zip(values) {
                let value = match self.parameter(value)? {
                    Value::Null => continue,
                    value => value,
                };
                code.push(primitive("assign", vec![field(place), value]));
            }
        }
        let id = u64::from(digest.into_raw().into_u32()) + 1;
        code.push(primitive("generate_digest", vec![small(1), small(id)]));
        Ok(())
    }

    /// The scalars of a digest's fields.
    pub(super) fn digest_places(&mut self, digest: DigestId) -> Vec<[String; 2]> {
        let digest = &self.program.digests[digest];
        let fields = digest.fields.iter();
        fields.map(|(name, width)| self.storage.named(&format!("{}.{name}", digest.name), *width)).collect()
    }
}
