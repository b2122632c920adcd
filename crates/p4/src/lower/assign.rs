//! Assignments of whole values: struct by struct, header by header, in an order in which nothing is overwritten before it is read.

use hlir::source::Span;
use hlir::{Expression, HeaderId, Statement};

use super::Lowering;
use super::arithmetic;
use super::effects::{Reads, Touch};
use super::storage::{Leaf, Storage};
use super::value::{Target, Value};

impl<'a> Lowering<'a> {
    /// Assigns a value to `target`.
    pub fn store(&mut self, target: &Target, value: Value) {
        match target {
            Target::Storage(storage) => self.assign(storage, value),
            Target::Slice { base, width, high, low } => {
                let Value::Scalar(value) = value else { return };
                let Value::Scalar(whole) = self.load_target(base) else { return };
                let whole = with_slice(whole, *width, *high, *low, value);
                self.store(base, Value::Scalar(whole));
            }
            Target::PlusSlice { base, width, low, low_width, taken } => {
                let Value::Scalar(value) = value else { return };
                let Value::Scalar(whole) = self.load_target(base) else { return };
                // Wide enough that what is shifted out of the field is dropped only at the end.
                let mask = Expression::constant(arithmetic::ones((*taken).min(*width)), *width);
                let low = arithmetic::resize(low.clone(), *low_width, *low_width, false);
                let mask = arithmetic::binary(hlir::Binary::ShiftLeft, mask, low.clone());
                let kept = arithmetic::unary(hlir::Unary::Complement, mask);
                let value = arithmetic::resize(value, *taken, *width, false);
                let value = arithmetic::binary(hlir::Binary::ShiftLeft, value, low);
                let whole = arithmetic::binary(hlir::Binary::And, whole, kept);
                self.store(base, Value::Scalar(arithmetic::binary(hlir::Binary::Or, whole, value)));
            }
            Target::Choice { .. } => {
                let value = self.atom(value, "value");
                self.each_choice(target, &mut |lowering, chosen| lowering.store(chosen, value.clone()));
            }
            Target::Copied { target, .. } => self.store(target, value),
            Target::Nowhere(_) | Target::Discard => {}
        }
    }

    /// Lowers `act` for each candidate, under the condition that it is the one meant.
    pub fn each_choice(&mut self, target: &Target, act: &mut dyn FnMut(&mut Self, &Target)) {
        let Target::Choice { candidates, index, index_width } = target else { return act(self, target) };
        let Value::Scalar(index) = self.atom(Value::Scalar(index.clone()), "index") else { return };
        self.choices(candidates, 0, &index, *index_width, act);
    }

    fn choices(
        &mut self,
        candidates: &[Target],
        at: usize,
        index: &Expression,
        index_width: u32,
        act: &mut dyn FnMut(&mut Self, &Target),
    ) {
        let Some(candidate) = candidates.get(at) else { return };
        let condition = arithmetic::is_number(index.clone(), at as u64, index_width);
        // Each arm is taken out and put back, since both need the same `act`.
        let then = self.region("", |lowering| lowering.each_choice(candidate, act)).0;
        let otherwise = self.region("", |lowering| lowering.choices(candidates, at + 1, index, index_width, act)).0;
        let take = |lowering: &mut Self, block| {
            let body = std::mem::take(&mut lowering.graph.block_mut(block).body);
            body.into_iter().for_each(|statement| lowering.emit(statement));
        };
        self.branch(condition, "", |lowering| take(lowering, then), |lowering| take(lowering, otherwise));
    }

    /// Puts a value into storage of its type.
    pub fn assign(&mut self, storage: &Storage, value: Value) {
        self.assign_all(vec![(storage.clone(), value)]);
    }

    /// Assigns all as if at once.
    fn assign_all(&mut self, pairs: Vec<(Storage, Value)>) {
        let mut parts = Vec::new();
        for (storage, value) in pairs {
            pair_up(storage, value, &mut parts);
        }
        self.keep_what_is_read_late(&mut parts);
        for (storage, value) in parts {
            self.assign_part(&storage, value);
        }
    }

    /// Saves values that read what an earlier part of the same assignment overwrites.
    fn keep_what_is_read_late(&mut self, parts: &mut [(Storage, Value)]) {
        let mut touched: Vec<Touch> = Vec::new();
        for (at, (storage, value)) in parts.iter_mut().enumerate() {
            if at > 0 {
                let reads = Reads::of(value);
                if touched.iter().any(|touch| reads.conflicts(touch)) {
                    let late = std::mem::replace(value, Value::Void);
                    *value = self.save(late, "tmp");
                }
            }
            self.touches_of(storage, &mut touched);
        }
    }

    /// What writing this storage touches.
    pub fn touches_of(&mut self, storage: &Storage, into: &mut Vec<Touch>) {
        match storage {
            Storage::Scalar { leaf: Leaf::Slot(slot), .. } => {
                if let Some(variable) = self.slots.variable(*slot) {
                    into.push(Touch::Variable(variable));
                }
            }
            Storage::Scalar { leaf: Leaf::Field(field), .. } | Storage::Varbit(field) => {
                into.push(Touch::Field(*field))
            }
            Storage::Header { id, .. } => {
                into.push(Touch::Header(*id));
                into.extend(self.slots.siblings(*id).iter().map(|sibling| Touch::Header(*sibling)));
            }
            Storage::Struct(parts) | Storage::Union(parts) => {
                parts.iter().for_each(|part| self.touches_of(part, into));
            }
            Storage::Stack { elements, next } => {
                elements.iter().for_each(|part| self.touches_of(part, into));
                if let Some(variable) = self.slots.variable(*next) {
                    into.push(Touch::Variable(variable));
                }
            }
            Storage::Nothing => {}
        }
    }

    /// Assigns a scalar, a header or another part that is not a struct.
    fn assign_part(&mut self, storage: &Storage, value: Value) {
        match (storage, value) {
            (Storage::Scalar { leaf, of_type }, Value::Scalar(value)) => {
                let target = self.place(*leaf);
                let is_bit = self.program.place_type(target) == hlir::Type::Bits(1);
                let value = if *of_type == hlir::Type::Bool && is_bit { arithmetic::from_bool(value) } else { value };
                if value != Expression::place(target) {
                    self.emit(Statement::Assign { target, value });
                }
            }
            (Storage::Scalar { of_type: hlir::Type::Bits(width), .. }, Value::Integer(number)) => {
                let value = Expression::constant(arithmetic::bits_of(&number, *width), *width);
                self.assign_part(storage, Value::Scalar(value));
            }
            (Storage::Varbit(to), Value::Varbit(from)) if *to != from => {
                self.emit(Statement::CopyVarbit { to: *to, from });
            }
            (Storage::Header { id, .. }, Value::Header { id: from, .. }) => {
                if *id != from {
                    self.emit(Statement::CopyHeader { to: *id, from });
                }
                // Also where a member is assigned to itself: an invalid one makes the whole union invalid (P4_16 8.20).
                self.invalidate_siblings(*id);
            }
            (Storage::Header { id, members }, Value::Made { valid, fields, .. }) => {
                let (id, members) = (*id, members.clone());
                self.branch(
                    valid,
                    "",
                    |lowering| {
                        let changed: Vec<HeaderId> = lowering.slots.siblings(id).iter().copied().chain([id]).collect();
                        let fields = lowering.keep_validity(fields, &changed);
                        lowering.set_valid(id);
                        lowering.assign_all(members.iter().cloned().zip(fields).collect());
                    },
                    |lowering| lowering.set_invalid(id),
                );
            }
            (Storage::Union(to), Value::Union(from)) => self.assign_union(to, from),
            (Storage::Varbit(_), Value::Varbit(_)) => {}
            (Storage::Nothing, _) | (_, Value::Void | Value::Object(_) | Value::Text(_) | Value::DontCare) => {}
            _ => self.diagnostics.push(self.internal(Span::NONE, "an assignment of a value of another type")),
        }
    }

    /// Saves values that ask whether one of these headers is valid, before that changes.
    fn keep_validity(&mut self, values: Vec<Value>, headers: &[HeaderId]) -> Vec<Value> {
        let asks = |value: &Value| {
            let reads = Reads::of(value);
            headers.iter().any(|header| reads.has_validity(*header))
        };
        values.into_iter().map(|value| if asks(&value) { self.save(value, "tmp") } else { value }).collect()
    }

    /// The same for all that is known of a union's members.
    fn keep_members(&mut self, to: &[Storage], from: Vec<Value>) -> Vec<Value> {
        let headers: Vec<HeaderId> = to.iter().flat_map(Storage::headers).collect();
        let mut kept = Vec::new();
        for value in from {
            kept.push(match value {
                Value::Made { valid, fields, of_type } => {
                    let valid = self.keep_validity(vec![Value::Scalar(valid)], &headers).pop();
                    let fields = self.keep_validity(fields, &headers);
                    match valid {
                        Some(Value::Scalar(valid)) => Value::Made { valid, fields, of_type },
                        _ => Value::Void,
                    }
                }
                other => other,
            });
        }
        kept
    }

    /// Member by member, without taking the others away each time.
    fn assign_union(&mut self, to: &[Storage], from: Vec<Value>) {
        let from = self.keep_members(to, from);
        // The valid member, if there is one, is assigned last, so that nothing takes it away again.
        for (storage, value) in to.iter().zip(&from) {
            if let (Storage::Header { id, .. }, Value::Header { id: from, .. }) = (storage, value)
                && id != from
            {
                self.emit(Statement::CopyHeader { to: *id, from: *from });
            }
        }
        for (storage, value) in to.iter().zip(from) {
            if let (Storage::Header { id, members }, Value::Made { valid, fields, .. }) = (storage, value) {
                let (id, members) = (*id, members.clone());
                self.branch(
                    valid,
                    "",
                    |lowering| {
                        lowering.emit(Statement::SetValid(id));
                        lowering.assign_all(members.iter().cloned().zip(fields).collect());
                    },
                    |lowering| lowering.emit(Statement::SetInvalid(id)),
                );
            }
        }
    }

    /// Makes storage what P4 promises of fresh storage: headers invalid, and scalars 0.
    pub fn clear(&mut self, storage: &Storage) {
        match storage {
            Storage::Scalar { of_type, .. } => self.assign(storage, Value::Scalar(arithmetic::zero(*of_type))),
            Storage::Stack { elements, next } => {
                elements.iter().for_each(|element| self.clear(element));
                let target = self.place(Leaf::Slot(*next));
                self.emit(Statement::Assign { target, value: Expression::constant(0u32, 32) });
            }
            Storage::Header { .. } | Storage::Union(_) => self.reset_headers(storage),
            Storage::Struct(members) => members.iter().for_each(|member| self.clear(member)),
            Storage::Varbit(_) | Storage::Nothing => {}
        }
    }

    /// What an `out` parameter is at entry: headers invalid and stacks empty.
    pub fn reset_headers(&mut self, storage: &Storage) {
        for header in storage.headers() {
            self.emit(Statement::SetInvalid(header));
        }
        self.reset_stacks(storage);
    }

    fn reset_stacks(&mut self, storage: &Storage) {
        match storage {
            Storage::Stack { elements, next } => {
                let target = self.place(Leaf::Slot(*next));
                self.emit(Statement::Assign { target, value: Expression::constant(0u32, 32) });
                elements.iter().for_each(|element| self.reset_stacks(element));
            }
            Storage::Struct(members) => members.iter().for_each(|member| self.reset_stacks(member)),
            Storage::Scalar { .. }
            | Storage::Varbit(_)
            | Storage::Header { .. }
            | Storage::Union(_)
            | Storage::Nothing => {}
        }
    }
}

/// Takes structs and stacks apart, into pairs that are assigned one by one.
fn pair_up(storage: Storage, value: Value, into: &mut Vec<(Storage, Value)>) {
    match (storage, value) {
        (Storage::Struct(members), Value::Struct(parts)) => {
            for (member, part) in members.iter().zip(parts) {
                pair_up(member.clone(), part, into);
            }
        }
        (Storage::Stack { elements, next }, Value::Stack { elements: parts, next: from }) => {
            for (element, part) in elements.iter().zip(parts) {
                pair_up(element.clone(), part, into);
            }
            let from = from.unwrap_or_else(|| Expression::constant(0u32, 32));
            let next = Storage::Scalar { leaf: Leaf::Slot(next), of_type: hlir::Type::Bits(32) };
            into.push((next, Value::Scalar(from)));
        }
        (storage @ Storage::Stack { .. }, Value::Struct(parts)) => {
            pair_up(storage, Value::Stack { elements: parts, next: None }, into);
        }
        (storage, value) => into.push((storage, value)),
    }
}

/// `whole` with bits `high` to `low` replaced.
fn with_slice(whole: Expression, width: u32, high: u32, low: u32, value: Expression) -> Expression {
    let concat = |left, right| arithmetic::binary(hlir::Binary::Concat, left, right);
    let mut result = value;
    if low > 0 {
        result = concat(result, arithmetic::slice(whole.clone(), low - 1, 0));
    }
    if high + 1 < width {
        result = concat(arithmetic::slice(whole, width - 1, high + 1), result);
    }
    result
}
