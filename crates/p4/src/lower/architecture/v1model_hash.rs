//! v1model's functions over a list of data: hashes, checksums, digests and the log.

use hlir::build::names;
use hlir::source::Span;
use hlir::{Algorithm, Binary, Call as Op, Crc, CrcId, Expression as Hlir, HashInput, Notes, Statement};

use super::calculations::{self, Calculation, Part};
use super::v1model_externs::{CRC16_CUSTOM, CRC32_CUSTOM, algorithm};
use crate::ast::Expression;
use crate::check::Call;
use crate::lower::call::Passed;
use crate::lower::storage::Storage;
use crate::lower::value::Value;
use crate::lower::{Lowered, Lowering, arithmetic};
use crate::types::Type;

impl<'a> Lowering<'a> {
    pub fn v1model_hash(&mut self, expression: &'a Expression, call: &Call, passed: Vec<Passed>) -> Lowered<()> {
        let [Passed::Target(result), Passed::Value(algo), Passed::Value(base), Passed::Value(data), Passed::Value(max)] =
            &passed[..]
        else {
            return Err(self.internal(expression.span, "this `hash`"));
        };
        let (width, _) = self.number_type(&call.bindings[0].of_type);
        let (base_width, _) = self.number_type(&call.bindings[2].of_type);
        let (max_width, _) = self.number_type(&call.bindings[4].of_type);
        let (Some(base), Some(max)) = (self.as_bits(base.clone()), self.as_bits(max.clone())) else { return Ok(()) };
        let wide = 64;
        let base = arithmetic::resize(base, base_width, wide, false);
        let max = arithmetic::resize(max, max_width, wide, false);
        let hash = match self.algorithm_of(algo, (Part::Hash, expression.span)) {
            Some(algorithm) => {
                let mut inputs = Vec::new();
                self.hash_inputs(data, &mut inputs);
                let hash = self.hashed(algorithm, inputs, algorithm.width());
                arithmetic::resize(hash, algorithm.width(), wide, false)
            }
            None => {
                let storage = self.scratch("random", hlir::Type::Bits(wide));
                if let Storage::Scalar { leaf, .. } = storage {
                    let into = self.place(leaf);
                    let (low, high) = (Hlir::constant(0u32, wide), Hlir::constant(u64::MAX, wide));
                    self.call(Op::Random { low, high, into });
                }
                self.read(&storage)
            }
        };
        // A maximum of 0 gives 0 here, as a remainder by 1 would.
        let mut value = arithmetic::binary(Binary::Remainder, hash, max);
        if arithmetic::constant_of(&base).is_none_or(|(base, _)| *base != num_bigint::BigUint::ZERO) {
            value = arithmetic::binary(Binary::Add, base, value);
        }
        let value = arithmetic::resize(value, wide, width, false);
        self.store(result, Value::Scalar(value));
        Ok(())
    }

    /// The algorithm that a member of HashAlgorithm names; nothing for `random`.
    fn algorithm_of(&mut self, value: &Value, of: (Part, Span)) -> Option<Algorithm> {
        let constant = match value {
            Value::Scalar(scalar) => arithmetic::constant_of(scalar),
            _ => None,
        };
        let number = constant.and_then(|(number, _)| u64::try_from(number).ok()).unwrap_or(0);
        let width = match number {
            CRC32_CUSTOM => Some(32),
            CRC16_CUSTOM => Some(16),
            _ => None,
        };
        let unnamed = |width| Crc { name: String::new(), width, notes: Notes::default() };
        let crc = width.map(|width| self.program.crcs.alloc(unnamed(width)));
        let (part, span) = of;
        self.architecture.calculations.push(Calculation { part, at: span.start, crc });
        match crc {
            Some(crc) if width == Some(16) => Some(Algorithm::Crc16Custom(crc)),
            Some(crc) => Some(Algorithm::Crc32Custom(crc)),
            None if matches!(value, Value::Scalar(_)) => algorithm(number),
            None => Some(Algorithm::Crc32),
        }
    }

    /// Names the calculations whose parameters a controller can set.
    pub fn name_calculations(&mut self) {
        for (number, crc) in calculations::numbered(std::mem::take(&mut self.architecture.calculations)) {
            self.program.crcs[crc].name = names::calculation(number);
        }
    }

    /// The CRC of this name, whose parameters a controller can set.
    pub fn custom_crc(&mut self, name: &str, width: u32) -> CrcId {
        let crcs = &mut self.program.crcs;
        let known = crcs.iter().find(|(_, crc)| crc.name == name).map(|(id, _)| id);
        known.unwrap_or_else(|| crcs.alloc(Crc { name: name.to_string(), width, notes: Notes::default() }))
    }

    fn checksum_parts(
        &mut self,
        of: (Part, Span),
        passed: &[Passed],
        with_payload: bool,
    ) -> Option<(Hlir, Vec<HashInput>, Algorithm)> {
        let [Passed::Value(Value::Scalar(condition)), Passed::Value(data), _, Passed::Value(algo)] = passed else {
            return None;
        };
        let mut inputs = Vec::new();
        self.hash_inputs(data, &mut inputs);
        if with_payload {
            inputs.push(HashInput::Payload);
        }
        Some((condition.clone(), inputs, self.algorithm_of(algo, of)?))
    }

    pub fn verify_checksum(&mut self, expression: &'a Expression, passed: Vec<Passed>, payload: bool) -> Lowered<()> {
        let Some((condition, inputs, algorithm)) =
            self.checksum_parts((Part::Verify, expression.span), &passed, payload)
        else {
            return Err(self.unsupported(expression.span, "this checksum is"));
        };
        let Some(Passed::Value(given)) = passed.get(2).cloned() else { return Ok(()) };
        let Some(given) = self.as_bits(given) else { return Ok(()) };
        let width = self.width(&given);
        let Some(place) = self.standard_place("checksum_error") else { return Ok(()) };
        self.branch(
            condition,
            "",
            |lowering| {
                let sum = lowering.hashed(algorithm, inputs, width);
                let differs = arithmetic::binary(Binary::NotEqual, sum, given);
                let set = Statement::Assign { target: place, value: Hlir::constant(1u8, 1) };
                lowering.branch(differs, "", |lowering| lowering.emit(set), |_| {});
            },
            |_| {},
        );
        Ok(())
    }

    pub fn update_checksum(
        &mut self,
        expression: &'a Expression,
        call: &Call,
        passed: Vec<Passed>,
        payload: bool,
    ) -> Lowered<()> {
        let Some((condition, data, algorithm)) = self.checksum_parts((Part::Update, expression.span), &passed, payload)
        else {
            return Err(self.unsupported(expression.span, "this checksum is"));
        };
        let Some(Passed::Target(result)) = passed.get(2).cloned() else { return Ok(()) };
        let of_type = self.scalar_type(&call.bindings[2].of_type).unwrap_or(hlir::Type::Bits(16));
        self.branch(
            condition,
            "",
            |lowering| {
                lowering.result_place(&result, of_type, |lowering, into| {
                    lowering.call(Op::Hash { algorithm, data, into });
                });
            },
            |_| {},
        );
        Ok(())
    }

    pub fn v1model_digest(&mut self, call: &Call, passed: Vec<Passed>) -> Lowered<()> {
        let Some(Passed::Value(data)) = passed.into_iter().nth(1) else { return Ok(()) };
        let of_type = call.bindings[1].of_type.clone();
        let mut fields = Vec::new();
        self.digest_fields(&of_type, "", &mut fields);
        let wanted = match &of_type {
            Type::Struct(nominal) => nominal.name.to_string(),
            _ => format!("digest_{}", self.architecture.digests.len()),
        };
        let digest = match self.architecture.digests.get(&wanted) {
            Some(known) if self.program.digests[*known].fields == fields => *known,
            _ => {
                let name = self.names.object(&wanted);
                self.facts.element_types.insert(name.clone(), of_type.clone());
                let notes = of_type.nominal().map(|nominal| self.notes_of(nominal.declaration)).unwrap_or_default();
                let id = self.program.digests.alloc(hlir::Digest { name, fields, notes });
                self.architecture.digests.insert(wanted, id);
                id
            }
        };
        let mut inputs = Vec::new();
        self.hash_inputs(&data, &mut inputs);
        let values = inputs.into_iter().map(|input| match input {
            HashInput::Bits(bits) => bits,
            HashInput::Field(field) => Hlir::Field(field),
            HashInput::Payload => Hlir::constant(0u32, 0),
        });
        let values = values.collect();
        self.call(Op::SendDigest { digest, values });
        Ok(())
    }

    pub fn digest_fields(&mut self, of_type: &Type, name: &str, into: &mut Vec<(String, u32)>) {
        if let Some(scalar) = self.scalar_type(of_type) {
            let name = if name.is_empty() { "value".to_string() } else { name.to_string() };
            into.push((name, scalar.width()));
            return;
        }
        let fields = self.checked.fields_of(of_type);
        for (at, part) in self.part_types(of_type, 0).into_iter().enumerate() {
            let own = fields.get(at).map_or_else(|| format!("f{at}"), |field| field.name.to_string());
            let own = if name.is_empty() { own } else { format!("{name}.{own}") };
            self.digest_fields(&part, &own, into);
        }
    }

    pub fn log_message(&mut self, passed: Vec<Passed>) {
        let mut passed = passed.into_iter();
        let Some(Passed::Value(Value::Text(format))) = passed.next() else { return };
        let mut inputs = Vec::new();
        if let Some(Passed::Value(data)) = passed.next() {
            self.hash_inputs(&data, &mut inputs);
        }
        let arguments = inputs.into_iter().filter_map(|input| match input {
            HashInput::Bits(bits) => Some(bits),
            HashInput::Field(field) => Some(Hlir::Field(field)),
            HashInput::Payload => None,
        });
        let arguments = arguments.collect();
        self.call(Op::Log { format: format.to_string(), arguments });
    }
}
