//! Functions and objects of core.p4 and v1model; those of PSA and PNA are in `portable`.

use std::collections::HashMap;

use num_bigint::BigInt;
use p4::ast::{self, Argument, DeclarationKind, Function};

use super::call::{Arguments, Passed};
use super::checksum::digest;
use super::convert::convert;
use super::custom::base_name;
use super::environment::{Env, Instance};
use super::machine::Machine;
use super::place::Step;
use super::portable::Portable;
use super::value::{Type, Value, size_in_bits};
use super::{Run, Stop, unsupported};

/// The port that drops: the largest of the width that the included file gives ports.
pub fn drop_port(of: &Type) -> BigInt {
    (BigInt::from(1) << size_in_bits(of)) - 1
}

/// The state of an extern object.
pub enum Object {
    Register {
        of: Type,
        size: BigInt,
        elements: HashMap<BigInt, Value>,
    },
    /// Counters, whose values no packet sees.
    Counter,
    /// Without rates, which tests do not give it: all packets are green.
    Meter,
    /// Of the program itself.
    Mixer {
        state: BigInt,
    },
    /// Of PSA and PNA.
    Portable(Portable),
    Other(String),
}

impl Object {
    pub fn new(class: &str, types: &[Type], arguments: Vec<Value>) -> Object {
        match class {
            "register" => Object::Register {
                of: types.first().cloned().unwrap_or(Type::Any),
                size: arguments.first().and_then(Value::number).unwrap_or(BigInt::ZERO),
                elements: HashMap::new(),
            },
            "counter" | "direct_counter" => Object::Counter,
            "meter" | "direct_meter" => Object::Meter,
            own if base_name(own) == "Mixer" => {
                Object::Mixer { state: arguments.first().and_then(Value::number).unwrap_or(BigInt::ZERO) }
            }
            other => match Portable::new(other, types, &arguments) {
                Some(known) => Object::Portable(known),
                None => Object::Other(other.to_string()),
            },
        }
    }
}

fn value<'p>(arguments: &'p Arguments<'_>, index: usize) -> Run<&'p Value> {
    match arguments.get(index) {
        Some((_, Passed::Value(value) | Passed::InOut(_, value))) => Ok(value),
        _ => unsupported("an extern call without its arguments"),
    }
}

fn number(arguments: &Arguments<'_>, index: usize) -> Run<BigInt> {
    value(arguments, index)?.number().map_or_else(|| unsupported("an argument that is no number"), Ok)
}

impl<'a> Machine<'a> {
    pub(super) fn extern_function(
        &mut self,
        name: &str,
        function: &'a Function,
        _types: &'a [ast::Type],
        arguments: &'a [Argument],
        env: &Env<'a>,
    ) -> Run<Value> {
        // v1model: fields of invalid headers are left out of what is hashed.
        self.leave_out_invalid = name == "hash" || name.contains("_checksum");
        let passed = self.arguments(&function.parameters, arguments, env);
        self.leave_out_invalid = false;
        let passed = passed?;
        let algorithm = |index: usize| match value(&passed, index) {
            Ok(Value::Enum(_, member)) => Ok(member.to_string()),
            _ => unsupported("no algorithm"),
        };
        match name {
            "verify" => match (value(&passed, 0)?, value(&passed, 1)?) {
                (Value::Bool(true), _) => Ok(Value::Void),
                (_, Value::Error(error)) => Err(Stop::Error(error.clone())),
                _ => unsupported("verify without an error"),
            },
            "mark_to_drop" => self.mark_to_drop(&passed),
            "hash" => self.hash(&passed, &algorithm(1)?),
            "verify_checksum" => self.checksum(&passed, &algorithm(3)?, false, false),
            "update_checksum" => self.checksum(&passed, &algorithm(3)?, true, false),
            "verify_checksum_with_payload" => self.checksum(&passed, &algorithm(3)?, false, true),
            "update_checksum_with_payload" => self.checksum(&passed, &algorithm(3)?, true, true),
            "truncate" => {
                let length = usize::try_from(&number(&passed, 0)?).unwrap_or(usize::MAX);
                self.truncated = Some(self.truncated.map_or(length, |known| known.min(length)));
                Ok(Value::Void)
            }
            "digest" | "log_msg" => Ok(Value::Void),
            "clone" | "clone3" | "clone_preserving_field_list" => {
                let list = match arguments {
                    [_, _, kept] => Some(self.kept_by(name, &kept.value, env)?),
                    _ => None,
                };
                self.request_clone(&algorithm(0)?, &number(&passed, 1)?, list);
                Ok(Value::Void)
            }
            "resubmit" | "resubmit_preserving_field_list" => {
                self.resubmitted = Some(self.kept_by(name, &arguments[0].value, env)?);
                Ok(Value::Void)
            }
            // PNA's `recirculate` has no argument.
            "recirculate" | "recirculate_preserving_field_list" if !arguments.is_empty() => {
                self.recirculated = Some(self.kept_by(name, &arguments[0].value, env)?);
                Ok(Value::Void)
            }
            "random" if number(&passed, 1)? == number(&passed, 2)? => {
                if let Some((_, Passed::Out(place))) = passed.first() {
                    self.write(place, Value::Integer(number(&passed, 1)?));
                }
                Ok(Value::Void)
            }
            "static_assert" => Ok(Value::Bool(true)),
            "assert" | "assume" if *value(&passed, 0)? == Value::Bool(true) => Ok(Value::Void),
            other => {
                let of = self.resolve(&function.return_type, &None).unwrap_or(Type::Any);
                match self.own_function(other, &passed, &of) {
                    Some(value) => Ok(value),
                    None => self.portable_function(other, &passed),
                }
            }
        }
    }

    /// v1model: in the structure that is passed, `egress_spec` becomes the drop port, and there is no multicast.
    fn mark_to_drop(&mut self, passed: &Arguments<'a>) -> Run<Value> {
        let Some((_, Passed::InOut(place, Value::Structure(standard)))) = passed.first() else {
            return unsupported("mark_to_drop without standard metadata");
        };
        for field in ["egress_spec", "mcast_grp"] {
            let Some(at) = standard.of.position(field) else { continue };
            let drop = drop_port(&standard.fields[at].type_of());
            let value = if field == "egress_spec" { drop } else { BigInt::ZERO };
            self.write(&place.clone().then(Step::Field(at)), Value::Integer(value));
        }
        Ok(Value::Void)
    }

    fn hash(&mut self, passed: &Arguments<'a>, algorithm: &str) -> Run<Value> {
        let (base, most) = (number(passed, 2)?, number(passed, 4)?);
        let mut bits = Vec::new();
        value(passed, 3)?.append_bits(&mut bits);
        let hashed = digest(algorithm, &bits)?;
        let offset = if most == BigInt::ZERO { BigInt::ZERO } else { hashed % most };
        if let Some((_, Passed::Out(place))) = passed.first() {
            self.write(place, Value::Integer(base + offset));
        }
        Ok(Value::Void)
    }

    fn checksum(&mut self, passed: &Arguments<'a>, algorithm: &str, update: bool, payload: bool) -> Run<Value> {
        if *value(passed, 0)? != Value::Bool(true) {
            return Ok(Value::Void);
        }
        let mut bits = Vec::new();
        value(passed, 1)?.append_bits(&mut bits);
        if payload {
            bits.extend(&self.packet[self.cursor..]);
        }
        let sum = Value::Integer(digest(algorithm, &bits)?);
        match &passed[2].1 {
            Passed::InOut(place, _) if update => self.write(place, sum),
            Passed::Value(given) if !convert(sum, &given.type_of()).same(given) => {
                self.set_standard("checksum_error", Value::Integer(BigInt::from(1)))?;
            }
            _ => {}
        }
        Ok(Value::Void)
    }

    pub(super) fn object_method(
        &mut self,
        object: usize,
        instance: &Instance<'a>,
        method: &'a str,
        arguments: &'a [Argument],
        env: &Env<'a>,
    ) -> Run<Value> {
        let DeclarationKind::Extern(declared) = &instance.declaration.kind else { return unsupported("no extern") };
        let fits = |known: &&'a ast::Method| {
            known.name.as_str() == method && known.parameters.len() >= arguments.len() && !known.is_constructor
        };
        let fits_exactly = |known: &&'a ast::Method| fits(known) && known.parameters.len() == arguments.len();
        let Some(declared) = declared.methods.iter().find(fits_exactly).or(declared.methods.iter().find(fits)) else {
            return unsupported(format!("method {method}"));
        };
        if let Object::Portable(_) = &self.objects[object] {
            return self.portable_method(object, instance, declared, arguments, env);
        }
        let passed = self.arguments(&declared.parameters, arguments, env)?;
        if let Object::Mixer { .. } = &self.objects[object] {
            let of = match &declared.return_type {
                Some(of) => self.resolve(of, &instance.env)?,
                None => Type::Void,
            };
            return self.mixer_method(object, method, &passed, &of);
        }
        let indexed = |name: &str| passed.iter().find(|(parameter, _)| parameter.name.as_str() == name);
        let index = match indexed("index") {
            Some((_, Passed::Value(index))) => index.number().unwrap_or(BigInt::ZERO),
            _ => BigInt::ZERO,
        };
        match (&mut self.objects[object], method) {
            (Object::Register { of, size, elements }, "read") => {
                let stored = elements.get(&index).cloned().unwrap_or_else(|| Value::initial(of));
                if let (true, Some((_, Passed::Out(place)))) = (index < *size, indexed("result")) {
                    self.write(place, stored);
                }
                Ok(Value::Void)
            }
            (Object::Register { of, size, elements }, "write") => {
                if let (true, Some((_, Passed::Value(value)))) = (index < *size, indexed("value")) {
                    elements.insert(index, convert(value.clone(), of));
                }
                Ok(Value::Void)
            }
            (Object::Other(class), "get") if class == "Checksum16" => {
                let mut bits = Vec::new();
                value(&passed, 0)?.append_bits(&mut bits);
                Ok(Value::bits(digest("csum16", &bits)?, 16))
            }
            (Object::Counter, "count") => Ok(Value::Void),
            (Object::Meter, "execute_meter" | "read") => {
                if let Some((_, Passed::Out(place))) = indexed("result") {
                    self.write(place, Value::Integer(BigInt::ZERO));
                }
                Ok(Value::Void)
            }
            (Object::Register { .. } | Object::Counter | Object::Meter, _) => unsupported(format!("method {method}")),
            (Object::Portable(_) | Object::Mixer { .. }, _) => unsupported(method),
            (Object::Other(class), _) => unsupported(format!("{class}.{method}")),
        }
    }
}
