//! Primitives of counters, meters, registers, hashes, random numbers and digests.

use std::collections::HashMap;

use hlir::build::arithmetic;
use hlir::{Binary, Call, Expression, Place, Statement};

use crate::data::Data;
use crate::expressions::UNLIMITED;
use crate::json::{At, Read};
use crate::primitives::parameters;
use crate::reader::Reader;

/// The width in which hashes are computed with, as in BMv2.
const HASH_WIDTH: u32 = 64;

impl Reader<'_> {
    /// Lowers a primitive of an object, if this is one.
    pub fn stateful(&mut self, name: &str, at: &At<'_>) -> Read<bool> {
        match name {
            "count" => {
                let [counter, index] = parameters(at)?;
                let counter = named(&self.counters, &counter, "counter_array", "counter")?;
                let index = Some(self.index(&index)?);
                self.call(Call::Count { counter, index });
            }
            "execute_meter" => {
                let [meter, index, result] = parameters(at)?;
                let meter = named(&self.meters, &meter, "meter_array", "meter")?;
                let index = Some(self.index(&index)?);
                self.result(&result, None, |reader, into| {
                    reader.call(Call::ExecuteMeter { meter, index, colour: None, into });
                    Ok(())
                })?;
            }
            "register_read" => {
                let [result, register, index] = parameters(at)?;
                let register = named(&self.registers, &register, "register_array", "register")?;
                let index = self.index(&index)?;
                let width = self.builder.program.registers[register].width;
                self.result(&result, Some(width), |reader, into| {
                    reader.call(Call::ReadRegister { register, index, into });
                    Ok(())
                })?;
            }
            "register_write" => {
                let [register, index, value] = parameters(at)?;
                let register = named(&self.registers, &register, "register_array", "register")?;
                let index = self.index(&index)?;
                let width = self.builder.program.registers[register].width;
                let value = self.low(&value, width)?;
                self.call(Call::WriteRegister { register, index, value });
            }
            "modify_field_with_hash_based_offset" => self.hash(at)?,
            "modify_field_rng_uniform" => self.random(at)?,
            "generate_digest" => self.digest(at)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn call(&mut self, call: Call) {
        self.body.push(Statement::Call(call));
    }

    /// A number that counts elements of an array.
    fn index(&mut self, at: &At<'_>) -> Read<Expression> {
        let data = self.data(at)?;
        if let Some(number) = data.constant() {
            return data.low((number.bits() as u32).max(32)).ok_or_else(|| at.error(UNLIMITED));
        }
        Ok(data.exact().ok_or_else(|| at.error(UNLIMITED))?.value)
    }

    /// `base + hash % size`, with `base` alone if `size` is 0.
    fn hash(&mut self, at: &At<'_>) -> Read<()> {
        let [result, base, calculation, size] = parameters(at)?;
        let (base, size) = (self.low(&base, HASH_WIDTH)?, self.low(&size, HASH_WIDTH)?);
        let (algorithm, data) = self.calculation(&calculation.content()?)?;
        let hash = match algorithm {
            Some(algorithm) => {
                let width = algorithm.width();
                let variable = self.new_variable("hash", width);
                self.call(Call::Hash { algorithm, data, into: Place::Variable(variable) });
                arithmetic::resize(Expression::Variable(variable), width, HASH_WIDTH, false)
            }
            None => {
                let variable = self.new_variable("random", HASH_WIDTH);
                let (low, high) = (Expression::constant(0u32, HASH_WIDTH), Expression::constant(u64::MAX, HASH_WIDTH));
                self.call(Call::Random { low, high, into: Place::Variable(variable) });
                Expression::Variable(variable)
            }
        };
        let mut value = arithmetic::binary(Binary::Remainder, hash, size);
        if base != Expression::constant(0u32, HASH_WIDTH) {
            value = arithmetic::binary(Binary::Add, base, value);
        }
        let target = self.target(&result)?;
        self.store(&target, &Data::unsigned(value, HASH_WIDTH), &result)
    }

    fn random(&mut self, at: &At<'_>) -> Read<()> {
        let [result, low, high] = parameters(at)?;
        let (low, high) = (self.data(&low)?, self.data(&high)?);
        self.result(&result, None, |reader, into| {
            let width = reader.builder.program.place_type(into).width();
            let bring = |data: &Data| data.low(width).ok_or_else(|| at.error(UNLIMITED));
            let (low, high) = (bring(&low)?, bring(&high)?);
            reader.call(Call::Random { low, high, into });
            Ok(())
        })
    }

    /// A record of the values that the fields have now.
    fn digest(&mut self, at: &At<'_>) -> Read<()> {
        let [_, list] = parameters(at)?;
        let number = self.constant(&list, "a learn list")?;
        let found = u64::try_from(&number).ok().and_then(|number| self.digests.get(&number)).cloned();
        let (digest, elements) = found.ok_or_else(|| list.error(format!("no learn list has the id {number}")))?;
        let mut values = Vec::new();
        for (element, (_, width)) in
            elements.field("elements")?.items()?.iter().zip(self.builder.program.digests[digest].fields.clone())
        {
            values.push(self.low(element, width)?);
        }
        self.call(Call::SendDigest { digest, values });
        Ok(())
    }
}

/// The object that a parameter of this kind names.
fn named<T: Copy>(objects: &HashMap<String, T>, at: &At<'_>, kind: &str, what: &str) -> Read<T> {
    if at.kind()? != kind {
        return Err(at.error(format!("a `{kind}` is needed here")));
    }
    let name = at.content()?;
    objects.get(name.text()?).copied().ok_or_else(|| name.error(format!("no {what} is called {}", name.value)))
}
