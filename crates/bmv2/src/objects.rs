//! Counters, meters, registers, action profiles, digests, field lists and calculations.

use hlir::{
    Algorithm, Counter, CounterUnit, Crc, Digest, HashInput, Meter, MeterUnit, Notes, Profile, Register, Selector,
};
use num_bigint::BigUint;

use crate::data::Data;
use crate::instances::Leaf;
use crate::json::{At, Read};
use crate::reader::Reader;

/// The largest array that is taken: more cannot be allocated, and is a mistake of the file.
const LARGEST_ARRAY: u64 = 1 << 32;

impl<'j> Reader<'j> {
    pub fn read_objects(&mut self) -> Read<()> {
        self.read_field_lists()?;
        for at in self.root.list("counter_arrays")? {
            let name = self.builder.names.object(at.name()?);
            let is_direct = at.flag("is_direct")?;
            let size = if is_direct { 0 } else { array_size(&at)? };
            let notes = Notes::default();
            let counter = Counter { name, size, table: None, unit: CounterUnit::Both, automatic: is_direct, notes };
            let id = self.builder.program.counters.alloc(counter);
            self.counters.insert(at.name()?.to_string(), id);
        }
        for at in self.root.list("meter_arrays")? {
            self.read_meter(&at)?;
        }
        for at in self.root.list("register_arrays")? {
            let name = self.builder.names.object(at.name()?);
            let (size, width) = (array_size(&at)?, at.field("bitwidth")?.small()?);
            let register = Register { name, size, width, initial: BigUint::ZERO, notes: Notes::default() };
            let id = self.builder.program.registers.alloc(register);
            self.registers.insert(at.name()?.to_string(), id);
        }
        for at in self.root.list("calculations")? {
            self.custom_crc(&at)?;
            self.calculations.insert(at.name()?.to_string(), at);
        }
        for at in self.root.list("learn_lists")? {
            self.read_digest(at)?;
        }
        if let Some(at) = self.root.list("extern_instances")?.first() {
            let of_type = at.field("type")?;
            return Err(of_type.error(format!("the extern type {} is not known", of_type.value)));
        }
        for pipeline in self.root.field("pipelines")?.items()? {
            for at in pipeline.list("action_profiles")? {
                self.read_profile(&at)?;
            }
        }
        Ok(())
    }

    fn read_meter(&mut self, at: &At<'j>) -> Read<()> {
        let name = self.builder.names.object(at.name()?);
        let kind = at.field("type")?;
        let unit = match kind.text()? {
            "packets" => MeterUnit::Packets,
            "bytes" => MeterUnit::Bytes,
            other => return Err(kind.error(format!("meters count `packets` or `bytes`, not `{other}`"))),
        };
        if let Some(rates) = at.get("rate_count")
            && rates.number()? != 2
        {
            return Err(rates.error("meters have two rates here"));
        }
        let is_direct = at.flag("is_direct")?;
        let automatic = match at.get("result_target").filter(|_| is_direct) {
            Some(target) => {
                let member = self.member(&target)?;
                self.place(&member)
            }
            None => None,
        };
        let size = if is_direct { 0 } else { array_size(at)? };
        let meter = Meter { name, size, table: None, unit, automatic, notes: Notes::default() };
        let id = self.builder.program.meters.alloc(meter);
        self.meters.insert(at.name()?.to_string(), id);
        Ok(())
    }

    fn read_profile(&mut self, at: &At<'j>) -> Read<()> {
        let name = self.builder.names.object(at.name()?);
        let size = at.field("max_size")?.number()?;
        let selector = at.get("selector").map(|selector| {
            let algorithm = algorithm(&selector.field("algo")?)?.unwrap_or(Algorithm::Target);
            let largest_group = u32::try_from(size).unwrap_or(u32::MAX);
            Ok(Selector { algorithm, width: algorithm.width(), largest_group })
        });
        let selector = selector.transpose()?;
        let id = self.builder.program.profiles.alloc(Profile { name, size, selector, notes: Notes::default() });
        self.profiles.insert(at.name()?.to_string(), id);
        Ok(())
    }

    fn read_digest(&mut self, at: At<'j>) -> Read<()> {
        let mut fields = Vec::new();
        for (number, element) in at.field("elements")?.items()?.iter().enumerate() {
            let width = self.element_width(element)?;
            let name = match (element.kind()?, element.content()?.tuple::<2>()) {
                ("field", Ok([_, field])) => field.text()?.to_string(),
                _ => format!("f{number}"),
            };
            fields.push((name, width));
        }
        let name = self.builder.names.object(at.name()?);
        let id = self.builder.program.digests.alloc(Digest { name, fields, notes: Notes::default() });
        let number = at.id(&self.digests)?;
        self.digests.insert(number, (id, at));
        Ok(())
    }

    /// The width of an element of a learn list.
    fn element_width(&mut self, at: &At<'_>) -> Read<u32> {
        if let Some(width) = at.get("bitwidth") {
            return width.small();
        }
        let exact = self.data(at)?.exact();
        exact.map(|exact| exact.width).ok_or_else(|| at.error(crate::expressions::UNLIMITED))
    }

    /// Declares a calculation whose parameters can be set.
    fn custom_crc(&mut self, at: &At<'_>) -> Read<()> {
        let width = match at.field("algo")?.text()? {
            "crc16_custom" => 16,
            "crc32_custom" => 32,
            _ => return Ok(()),
        };
        let name = at.name()?.to_string();
        let crcs = &mut self.builder.program.crcs;
        if !crcs.values().any(|crc| crc.name == name) {
            crcs.alloc(Crc { name, width, notes: Notes::default() });
        }
        Ok(())
    }

    /// The inputs and the algorithm of a calculation.
    pub fn calculation(&mut self, at: &At<'_>) -> Read<(Option<Algorithm>, Vec<HashInput>)> {
        let name = at.text()?;
        let Some(found) = self.calculations.get(name).cloned() else {
            return Err(at.error(format!("no calculation is called `{name}`")));
        };
        let mut inputs = Vec::new();
        for input in found.field("input")?.items()? {
            self.calculation_input(&input, &mut inputs)?;
        }
        let crc = self.builder.program.crcs.iter().find(|(_, crc)| crc.name == name).map(|(id, _)| id);
        let algorithm = algorithm(&found.field("algo")?)?.map(|algorithm| match (algorithm, crc) {
            (Algorithm::Crc32, Some(crc)) => Algorithm::Crc32Custom(crc),
            (Algorithm::Crc16, Some(crc)) => Algorithm::Crc16Custom(crc),
            (algorithm, _) => algorithm,
        });
        Ok((algorithm, inputs))
    }

    fn calculation_input(&mut self, at: &At<'_>, into: &mut Vec<HashInput>) -> Read<()> {
        match at.kind()? {
            "payload" => into.push(HashInput::Payload),
            "field" => {
                let member = self.member(&at.content()?)?;
                into.push(self.hash_input(&member, at)?);
            }
            "header" => {
                let instance = self.instance_named(&at.content()?)?;
                for member in self.storage.instances[instance].fields.clone() {
                    let input = self.hash_input(&member, at)?;
                    into.push(input);
                }
            }
            "hexstr" => {
                let width = at.field("bitwidth")?.small()?;
                let value = Data::Number(at.content()?.hex()?).low(width);
                into.extend(value.map(HashInput::Bits));
            }
            other => return Err(at.error(format!("`{other}` cannot be hashed"))),
        }
        Ok(())
    }

    fn hash_input(&mut self, member: &crate::instances::Member, at: &At<'_>) -> Read<HashInput> {
        Ok(match member.leaf {
            Leaf::Field(field) | Leaf::Varbit(field) => HashInput::Field(field),
            Leaf::Slot(_) => match self.load(member, at)? {
                Data::Bits { value, .. } => HashInput::Bits(value),
                _ => return Err(at.error("this cannot be hashed")),
            },
        })
    }
}

fn array_size(at: &At<'_>) -> Read<u64> {
    let size = at.field("size")?;
    let number = size.number()?;
    if number > LARGEST_ARRAY {
        Err(size.error(format!("an array has at most {LARGEST_ARRAY} elements")))
    } else {
        Ok(number)
    }
}

/// The algorithm of a name, with the parameters of the start; nothing for `random`.
pub fn algorithm(at: &At<'_>) -> Read<Option<Algorithm>> {
    Ok(Some(match at.text()? {
        "crc32" | "crc32_custom" => Algorithm::Crc32,
        "crc16" | "crc16_custom" => Algorithm::Crc16,
        "csum16" | "cksum16" => Algorithm::InternetChecksum,
        "xor16" => Algorithm::Xor16,
        "identity" => Algorithm::Identity,
        "random" | "round_robin" => return Ok(None),
        other => return Err(at.error(format!("the hash algorithm `{other}` is not known"))),
    }))
}
