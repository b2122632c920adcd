//! Custom externs: how the interpreter calls functions that it does not know.
//!
//! The caller provides them ([`Switch::bind`](crate::Switch::bind)): this crate reads neither C nor files.

use crate::execute::{Interrupt, Walker};
use hlir::externs::limbs;
use hlir::value::Value;
use hlir::{Argument, Expression, ExternId, Place, Type};
use num_bigint::BigUint;

/// The user's functions and objects.
pub trait Externs {
    /// Makes all objects anew, or reports which cannot be made.
    fn reset(&mut self) -> Result<(), String>;

    /// Calls a function, of an object (a place in `hlir::externs::objects`) or by itself. `limbs` are the arguments one behind the other, then the
    /// result, as `hlir::externs::Function` has their sizes. False if there is no such function.
    fn call(&mut self, function: &str, object: Option<usize>, payload: Option<&mut Vec<u8>>, limbs: &mut [u64])
    -> bool;
}

/// Makes the functions and objects of one more interpreter.
pub type Bind<'a> = &'a dyn Fn() -> Option<Box<dyn Externs>>;

impl<'p> Walker<'_, 'p> {
    pub fn custom(
        &mut self,
        object: ExternId,
        function: &str,
        arguments: &[Argument],
        into: Option<Place>,
    ) -> Result<(), Interrupt<'p>> {
        let mut slots: Vec<u64> = Vec::new();
        let mut results: Vec<(Place, usize)> = Vec::new();
        let mut payload = None;
        for argument in arguments {
            match argument {
                Argument::Payload => payload = Some(self.packet.payload().to_vec()),
                Argument::In(value) => {
                    let kind = self.expression_type(value);
                    put(&mut slots, kind, &self.value(value));
                }
                Argument::Out(target) => {
                    results.push((*target, slots.len()));
                    slots.resize(slots.len() + limbs(self.switch.program.place_type(*target)) as usize, 0);
                }
                Argument::InOut(target) => {
                    results.push((*target, slots.len()));
                    let value = self.value(&Expression::place(*target));
                    put(&mut slots, self.switch.program.place_type(*target), &value);
                }
            }
        }
        if let Some(into) = into {
            results.push((into, slots.len()));
            slots.resize(slots.len() + limbs(self.switch.program.place_type(into)) as usize, 0);
        }
        let number = self.switch.extern_objects.iter().position(|id| *id == object);
        let Some(externs) = &mut self.switch.externs else {
            return Err(Interrupt::Stop(format!(
                "extern function `{function}` is not defined: pass its source with --extern"
            )));
        };
        if !externs.call(function, number, payload.as_mut(), &mut slots) {
            return Err(Interrupt::Stop(format!("there is no function `{function}` in C")));
        }
        if let Some(payload) = payload {
            self.packet.replace_payload(&payload);
        }
        for (target, at) in results {
            let kind = self.switch.program.place_type(target);
            let given = &slots[at..at + limbs(kind) as usize];
            let digits = given.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]).collect();
            let number = BigUint::new(digits);
            let value = match kind {
                Type::Bool => Value::bool(number != BigUint::ZERO),
                Type::Bits(width) => Value::big(&(number % (BigUint::from(1u32) << width)), width),
            };
            self.put(target, value);
        }
        Ok(())
    }

    fn expression_type(&self, value: &Expression) -> Type {
        let widths: Vec<u32> = match &self.running {
            Some(running) => {
                self.switch.program.tables[running.table].parameter_widths(running.invocation.action as usize)
            }
            None => Vec::new(),
        };
        self.switch.program.expression_type(value, &widths)
    }
}

/// A value in as many limbs as its type has.
fn put(slots: &mut Vec<u64>, kind: Type, value: &Value) {
    let mut digits = value.bits.to_big().to_u64_digits();
    digits.resize(limbs(kind) as usize, 0);
    slots.extend(digits);
}
