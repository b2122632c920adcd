//! Values and targets: what an expression of P4 is while it is lowered, and what an assignment can reach.
//!
//! A value is a tree of HLIR expressions that read storage when they are used. Code that keeps one across a possible write of what it
//! reads takes a `Mark` first and lets `settle` save it, there, if that was needed.

use std::rc::Rc;
use std::sync::Arc;

use hlir::source::Span;
use hlir::{Expression, FieldRef, HeaderId, Statement};
use num_bigint::BigInt;

use super::Lowering;
use super::arithmetic;
use super::objects::ObjectId;
use super::storage::{Slot, Storage};
use crate::types::Type;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Void,
    Scalar(Expression),
    /// Of type `int`.
    Integer(BigInt),
    Text(Arc<str>),
    Varbit(FieldRef),
    /// Of a struct, tuple, array or list.
    Struct(Vec<Value>),
    /// A header that is stored.
    Header {
        id: HeaderId,
        members: Rc<[Storage]>,
    },
    /// A header that is not stored anywhere.
    Made {
        of_type: Type,
        valid: Expression,
        fields: Vec<Value>,
    },
    Union(Vec<Value>),
    /// `next` is nothing in a literal: then it is as assigning elements one by one leaves it, 0.
    Stack {
        elements: Vec<Value>,
        next: Option<Expression>,
    },
    Object(ObjectId),
    /// `_`, `default`.
    DontCare,
}

/// What can be assigned to. Indices in it are evaluated already.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    Storage(Storage),
    /// Bits of a target that is `width` bits wide.
    Slice {
        base: Box<Target>,
        width: u32,
        high: u32,
        low: u32,
    },
    /// `taken` bits from a bit on that is known at run time.
    PlusSlice {
        base: Box<Target>,
        width: u32,
        low: Expression,
        low_width: u32,
        taken: u32,
    },
    /// One of several, by an index known at run time.
    Choice {
        candidates: Vec<Target>,
        index: Expression,
        index_width: u32,
    },
    /// A target that was something else when the call around it was evaluated up to here: that is what an `inout` parameter begins with.
    Copied {
        target: Box<Target>,
        value: Value,
    },
    /// An element that there is not, of the type of this storage: it reads as zero, or as an invalid header, and is not written.
    Nowhere(Storage),
    /// `_`
    Discard,
}

impl Value {
    pub fn boolean(value: bool) -> Value {
        Value::Scalar(Expression::Bool(value))
    }

    pub fn scalar(self) -> Option<Expression> {
        if let Value::Scalar(expression) = self { Some(expression) } else { None }
    }

    pub fn constant(value: u64, width: u32) -> Value {
        Value::Scalar(Expression::constant(value, width))
    }

    /// Calls `visit` with every expression in the value.
    pub fn each_expression(&self, visit: &mut impl FnMut(&Expression)) {
        match self {
            Value::Scalar(expression) => visit(expression),
            Value::Struct(parts) | Value::Union(parts) => parts.iter().for_each(|part| part.each_expression(visit)),
            Value::Made { valid, fields, .. } => {
                visit(valid);
                fields.iter().for_each(|field| field.each_expression(visit));
            }
            Value::Stack { elements, next } => {
                elements.iter().for_each(|element| element.each_expression(visit));
                if let Some(next) = next {
                    visit(next);
                }
            }
            Value::Header { id, .. } => visit(&Expression::Valid(*id)),
            Value::Varbit(field) => visit(&Expression::VarbitLength(*field)),
            Value::Void | Value::Integer(_) | Value::Text(_) | Value::Object(_) | Value::DontCare => {}
        }
    }

    /// Whether writing the value twice costs nothing to speak of.
    pub fn is_atom(&self) -> bool {
        let mut atom = true;
        self.each_expression(&mut |expression| atom &= arithmetic::is_atom(expression));
        atom
    }
}

impl Target {
    /// The same part of each candidate.
    pub fn map(&self, part: &impl Fn(&Storage) -> Storage) -> Target {
        match self {
            Target::Storage(storage) => Target::Storage(part(storage)),
            Target::Choice { candidates, index, index_width } => Target::Choice {
                candidates: candidates.iter().map(|candidate| candidate.map(part)).collect(),
                index: index.clone(),
                index_width: *index_width,
            },
            Target::Nowhere(storage) => Target::Nowhere(part(storage)),
            Target::Slice { .. } | Target::PlusSlice { .. } | Target::Copied { .. } | Target::Discard => {
                Target::Discard
            }
        }
    }

    pub fn member(&self, index: usize) -> Target {
        self.map(&|storage| storage.member(index))
    }

    /// Some storage of the target's type; all candidates are alike.
    pub fn example(&self) -> Option<&Storage> {
        match self {
            Target::Storage(storage) | Target::Nowhere(storage) => Some(storage),
            Target::Choice { candidates, .. } => candidates.first().and_then(Target::example),
            Target::Slice { .. } | Target::PlusSlice { .. } | Target::Copied { .. } | Target::Discard => None,
        }
    }
}

impl<'a> Lowering<'a> {
    pub fn slot_value(&mut self, slot: Slot) -> Expression {
        Expression::Variable(self.variable(slot))
    }

    /// What storage holds.
    pub fn load(&mut self, storage: &Storage) -> Value {
        match storage {
            Storage::Scalar { leaf, of_type } => {
                let place = self.place(*leaf);
                let read = Expression::place(place);
                let is_bit = self.program.place_type(place) == hlir::Type::Bits(1);
                Value::Scalar(if *of_type == hlir::Type::Bool && is_bit { arithmetic::to_bool(read) } else { read })
            }
            Storage::Varbit(field) => Value::Varbit(*field),
            Storage::Struct(members) => Value::Struct(members.iter().map(|member| self.load(member)).collect()),
            Storage::Header { id, members } => Value::Header { id: *id, members: members.clone() },
            Storage::Union(members) => Value::Union(members.iter().map(|member| self.load(member)).collect()),
            Storage::Stack { elements, next } => {
                let next = self.slot_value(*next);
                Value::Stack { elements: elements.iter().map(|part| self.load(part)).collect(), next: Some(next) }
            }
            Storage::Nothing => Value::Void,
        }
    }

    /// The type of an expression here: parameters are those of the action being lowered.
    pub fn expression_type(&self, expression: &Expression) -> hlir::Type {
        expression.type_in(&self.program, &self.parameter_widths)
    }

    pub fn width(&self, expression: &Expression) -> u32 {
        self.expression_type(expression).width()
    }

    /// What a target holds now.
    pub fn load_target(&mut self, target: &Target) -> Value {
        match target {
            Target::Storage(storage) => self.load(storage),
            Target::Slice { base, high, low, .. } => match self.load_target(base) {
                Value::Scalar(whole) => Value::Scalar(arithmetic::slice(whole, *high, *low)),
                other => other,
            },
            Target::PlusSlice { base, width, low, taken, .. } => match self.load_target(base) {
                Value::Scalar(whole) => Value::Scalar(plus_slice(whole, *width, low.clone(), *taken)),
                other => other,
            },
            Target::Choice { candidates, index, index_width } => {
                let values: Vec<Value> = candidates.iter().map(|candidate| self.load_target(candidate)).collect();
                self.choose_by(index, *index_width, values)
            }
            Target::Copied { value, .. } => value.clone(),
            Target::Nowhere(storage) => {
                let like = self.load(storage);
                self.zero_like(&like)
            }
            Target::Discard => Value::Void,
        }
    }

    /// The value at an index known at run time; zero, or an invalid header, if it is out of range.
    pub fn choose_by(&mut self, index: &Expression, index_width: u32, mut values: Vec<Value>) -> Value {
        let Some(last) = values.last() else { return Value::Void };
        let all_covered = index_width < 32 && values.len() as u64 >= 1u64 << index_width;
        let mut chosen = if all_covered { values.pop().unwrap_or(Value::Void) } else { self.zero_like(last) };
        for (at, value) in values.into_iter().enumerate().rev() {
            let condition = arithmetic::is_number(index.clone(), at as u64, index_width);
            chosen = self.choose_value(&condition, value, chosen);
        }
        chosen
    }

    /// A value of which every part is zero or invalid.
    pub fn zero_like(&mut self, value: &Value) -> Value {
        match value {
            Value::Scalar(expression) => Value::Scalar(arithmetic::zero(self.expression_type(expression))),
            Value::Struct(parts) => Value::Struct(parts.iter().map(|part| self.zero_like(part)).collect()),
            Value::Union(parts) => Value::Union(parts.iter().map(|part| self.zero_like(part)).collect()),
            Value::Header { id, members } => {
                let made = self.unfold(*id, members);
                self.zero_like(&made)
            }
            Value::Made { of_type, fields, .. } => Value::Made {
                of_type: of_type.clone(),
                valid: Expression::Bool(false),
                fields: fields.iter().map(|field| self.zero_like(field)).collect(),
            },
            Value::Stack { elements, .. } => Value::Stack {
                elements: elements.iter().map(|element| self.zero_like(element)).collect(),
                next: Some(Expression::constant(0u32, 32)),
            },
            Value::Void
            | Value::Integer(_)
            | Value::Text(_)
            | Value::Varbit(_)
            | Value::Object(_)
            | Value::DontCare => value.clone(),
        }
    }

    /// A stored header as its validity and fields.
    pub fn unfold(&mut self, id: HeaderId, members: &Rc<[Storage]>) -> Value {
        let fields = members.iter().map(|member| self.load(member)).collect();
        let of_type = self.header_types.get(&id).cloned().unwrap_or(Type::Unknown);
        Value::Made { of_type, valid: Expression::Valid(id), fields }
    }

    pub fn choose_value(&mut self, condition: &Expression, then: Value, otherwise: Value) -> Value {
        if then == otherwise {
            return then;
        }
        match (then, otherwise) {
            (Value::Scalar(then), Value::Scalar(otherwise)) => {
                Value::Scalar(arithmetic::choose(condition.clone(), then, otherwise))
            }
            (Value::Struct(then), Value::Struct(otherwise)) => {
                Value::Struct(self.choose_all(condition, then, otherwise))
            }
            (Value::Union(then), Value::Union(otherwise)) => Value::Union(self.choose_all(condition, then, otherwise)),
            (Value::Header { id, members }, otherwise) => {
                let then = self.unfold(id, &members);
                self.choose_value(condition, then, otherwise)
            }
            (then, Value::Header { id, members }) => {
                let otherwise = self.unfold(id, &members);
                self.choose_value(condition, then, otherwise)
            }
            (
                Value::Made { of_type, valid: then_valid, fields: then },
                Value::Made { valid: else_valid, fields: otherwise, .. },
            ) => Value::Made {
                of_type,
                valid: arithmetic::choose(condition.clone(), then_valid, else_valid),
                fields: self.choose_all(condition, then, otherwise),
            },
            (
                Value::Stack { elements: then, next: then_next },
                Value::Stack { elements: otherwise, next: else_next },
            ) => {
                let zero = || Expression::constant(0u32, 32);
                let (then_next, else_next) = (then_next.unwrap_or_else(zero), else_next.unwrap_or_else(zero));
                Value::Stack {
                    elements: self.choose_all(condition, then, otherwise),
                    next: Some(arithmetic::choose(condition.clone(), then_next, else_next)),
                }
            }
            (Value::Varbit(then), Value::Varbit(otherwise)) => self.chosen_varbit(condition, then, otherwise),
            (then, _) => {
                let what = "a choice at run time between objects is";
                self.diagnostics.push(self.unsupported(Span::NONE, what));
                then
            }
        }
    }

    /// What a varbit field holds has no expression: the chosen one is copied.
    fn chosen_varbit(&mut self, condition: &Expression, then: FieldRef, otherwise: FieldRef) -> Value {
        let like = Value::Varbit(then);
        let Storage::Varbit(to) = self.allocate_like(&like, &self.local_name("chosen")) else { return like };
        let copy = |from: FieldRef| vec![Statement::CopyVarbit { to, from }];
        self.emit(Statement::If { condition: condition.clone(), then: copy(then), otherwise: copy(otherwise) });
        Value::Varbit(to)
    }

    fn choose_all(&mut self, condition: &Expression, then: Vec<Value>, otherwise: Vec<Value>) -> Vec<Value> {
        let pairs = then.into_iter().zip(otherwise);
        pairs.map(|(then, otherwise)| self.choose_value(condition, then, otherwise)).collect()
    }
}

/// `taken` bits of `whole` from bit `low` on; those beyond its width are 0.
fn plus_slice(whole: Expression, width: u32, low: Expression, taken: u32) -> Expression {
    let shifted = arithmetic::binary(hlir::Binary::ShiftRight, whole, low);
    arithmetic::resize(shifted, width, taken, false)
}
