//! Sets of keys, in select cases and entries, and the choice at the end of a parser state.

use hlir::{Case, Expression as Hlir, KeySet, NodeId, Notes, Select, ValueSetId};
use num_bigint::BigUint;

use super::graph::EndKind;
use super::objects::Object;
use super::value::Value;
use super::{Lowered, Lowering, arithmetic};
use crate::ast::{self, Declaration, Expression, ExpressionKind, SelectCase};
use crate::evaluate;
use crate::types::Type;

/// A set of values of one key.
#[derive(Clone, Debug)]
pub enum Set {
    Any,
    /// A range that ends before it starts.
    Empty,
    Value(BigUint),
    Mask {
        value: BigUint,
        mask: BigUint,
    },
    /// As bits; of signed numbers, a low end that is negative is the larger one.
    Range {
        low: BigUint,
        high: BigUint,
    },
    /// What the control plane fills.
    Filled(ValueSetId),
    /// Bounds that only the packet knows: the operands.
    Dynamic(Hlir, Option<Hlir>, Shape),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Value,
    Mask,
    Range,
    SignedRange,
}

impl<'a> Lowering<'a> {
    /// The set that an expression is, for a key of this width.
    pub fn key_set(&mut self, expression: &'a Expression, width: u32) -> Lowered<Set> {
        let bits = |number: &num_bigint::BigInt| arithmetic::bits_of(number, width);
        match self.checked.constant(expression) {
            Some(evaluate::Value::Everything) => return Ok(Set::Any),
            Some(evaluate::Value::Mask(value, mask)) => return Ok(Set::Mask { value: bits(value), mask: bits(mask) }),
            Some(evaluate::Value::Range(low, high)) if low > high => return Ok(Set::Empty),
            Some(evaluate::Value::Range(low, high)) => return Ok(Set::Range { low: bits(low), high: bits(high) }),
            Some(evaluate::Value::Integer(value)) => return Ok(Set::Value(bits(value))),
            Some(_) | None => {}
        }
        match &expression.kind {
            ExpressionKind::DontCare | ExpressionKind::Default => Ok(Set::Any),
            ExpressionKind::Mask { value, mask } => self.pair(value, mask, width, Shape::Mask),
            ExpressionKind::Range { low, high } => {
                let (_, signed) = self.number_type(&self.used_type(low));
                let shape = if signed { Shape::SignedRange } else { Shape::Range };
                self.pair(low, high, width, shape)
            }
            // A tuple of one.
            ExpressionKind::List { elements, .. } if elements.len() == 1 => self.key_set(&elements[0], width),
            _ => match self.expression(expression)? {
                Value::Object(object) => match self.object(object) {
                    Object::ValueSet(set) => Ok(Set::Filled(set)),
                    _ => Err(self.internal(expression.span, "this set")),
                },
                Value::DontCare => Ok(Set::Any),
                Value::Integer(number) => Ok(Set::Value(bits(&number))),
                value => {
                    let Some(value) = self.as_bits(value) else {
                        return Err(self.unsupported(expression.span, "a set of this type is"));
                    };
                    Ok(match arithmetic::constant_of(&value) {
                        Some((known, _)) => Set::Value(known.clone()),
                        None => Set::Dynamic(value, None, Shape::Value),
                    })
                }
            },
        }
    }

    fn pair(&mut self, left: &'a Expression, right: &'a Expression, width: u32, shape: Shape) -> Lowered<Set> {
        let (first, second) = (self.sized(left, width)?, self.sized(right, width)?);
        if let (Some((a, _)), Some((b, _))) = (arithmetic::constant_of(&first), arithmetic::constant_of(&second)) {
            let (a, b) = (a.clone(), b.clone());
            let number = |bits: &BigUint| arithmetic::number_of(bits, width, shape == Shape::SignedRange);
            return Ok(match shape {
                Shape::Range | Shape::SignedRange if number(&a) > number(&b) => Set::Empty,
                Shape::Range | Shape::SignedRange => Set::Range { low: a, high: b },
                Shape::Mask | Shape::Value => Set::Mask { value: a, mask: b },
            });
        }
        Ok(Set::Dynamic(first, Some(second), shape))
    }

    fn sized(&mut self, expression: &'a Expression, width: u32) -> Lowered<Hlir> {
        match self.expression(expression)? {
            Value::Integer(number) => Ok(Hlir::constant(arithmetic::bits_of(&number, width), width)),
            value => self.as_bits(value).ok_or_else(|| self.unsupported(expression.span, "a bound of this type is")),
        }
    }

    /// Ends a state by its `select`.
    pub fn select(
        &mut self,
        subjects: &'a [Expression],
        cases: &'a [SelectCase],
        to: &mut dyn FnMut(&mut Self, &'a ast::Name) -> NodeId,
    ) -> Lowered<()> {
        let subject_values = self.expressions(subjects)?;
        let mut keys = Vec::new();
        for (subject, value) in subjects.iter().zip(&subject_values) {
            self.select_keys(value, subject, &mut keys)?;
        }
        let given = keys.len();
        let mut select = Select { keys, cases: Vec::new(), otherwise: None };
        for case in cases {
            let sets = self.case_sets(case, &subject_values, given)?;
            if sets.iter().any(is_empty) {
                continue;
            }
            let target = to(self, &case.state);
            if sets.iter().all(|set| matches!(set, Set::Any)) {
                select.otherwise = Some(target);
                break;
            }
            let widths: Vec<u32> = select.keys.iter().map(|key| self.width(key)).collect();
            for sets in unwrapped(sets, &widths) {
                let sets = sets.into_iter().enumerate().map(|(at, set)| as_key_set(set, at, &mut select.keys));
                let sets = sets.collect();
                select.cases.push(Case { sets, to: target });
            }
        }
        self.pad_cases(&mut select, given);
        let current = self.current;
        self.graph.end(current, "", hlir::Notes::default(), EndKind::Select(select));
        Ok(())
    }

    /// The scalars of a subject.
    fn select_keys(&mut self, value: &Value, subject: &'a Expression, into: &mut Vec<Hlir>) -> Lowered<()> {
        match value {
            Value::Integer(number) => {
                let width = u32::try_from(number.bits()).unwrap_or(32).max(32);
                into.push(Hlir::constant(arithmetic::bits_of(number, width), width));
            }
            Value::Struct(parts) => {
                for part in parts {
                    self.select_keys(part, subject, into)?;
                }
            }
            Value::Scalar(_) => into.extend(self.as_bits(value.clone())),
            _ => return Err(self.unsupported(subject.span, "a `select` on this type is")),
        }
        Ok(())
    }

    fn case_sets(&mut self, case: &'a SelectCase, subjects: &[Value], count: usize) -> Lowered<Vec<Set>> {
        if let [only] = &case.keys[..]
            && subjects.len() != 1
        {
            let elements = match &only.kind {
                ExpressionKind::List { elements, .. } => &elements[..],
                _ => match self.key_set(only, 0)? {
                    Set::Any => return Ok(vec![Set::Any; count.max(1)]),
                    set @ Set::Filled(_) => return Ok(vec![set]),
                    _ => return Err(self.internal(case.span, "this case")),
                },
            };
            return self.sets_of(elements, subjects);
        }
        self.sets_of(&case.keys, subjects)
    }

    fn sets_of(&mut self, keys: &'a [Expression], subjects: &[Value]) -> Lowered<Vec<Set>> {
        let mut sets = Vec::new();
        for (key, subject) in keys.iter().zip(subjects) {
            self.subject_sets(key, subject, &mut sets)?;
        }
        Ok(sets)
    }

    /// The sets of the scalars of one subject.
    fn subject_sets(&mut self, key: &'a Expression, subject: &Value, into: &mut Vec<Set>) -> Lowered<()> {
        let Value::Struct(parts) = subject else {
            let width = match subject {
                Value::Scalar(value) => self.width(value),
                _ => 32,
            };
            into.push(self.key_set(key, width)?);
            return Ok(());
        };
        match &key.kind {
            ExpressionKind::List { elements, .. } => {
                for (element, part) in elements.iter().zip(parts) {
                    self.subject_sets(element, part, into)?;
                }
            }
            ExpressionKind::Structure { fields, .. } => {
                for (field, part) in fields.iter().zip(parts) {
                    self.subject_sets(&field.value, part, into)?;
                }
            }
            _ => match self.expression(key)? {
                Value::DontCare => into.extend(vec![Set::Any; scalars_in(subject)]),
                Value::Object(object) => {
                    let Object::ValueSet(set) = self.object(object) else {
                        return Err(self.internal(key.span, "this set"));
                    };
                    into.push(Set::Filled(set));
                }
                value => self.value_sets(&value, into),
            },
        }
        Ok(())
    }

    fn value_sets(&mut self, value: &Value, into: &mut Vec<Set>) {
        match value {
            Value::Struct(parts) => parts.iter().for_each(|part| self.value_sets(part, into)),
            Value::Scalar(_) => {
                if let Some(bits) = self.as_bits(value.clone()) {
                    into.push(match arithmetic::constant_of(&bits) {
                        Some((known, _)) => Set::Value(known.clone()),
                        None => Set::Dynamic(bits, None, Shape::Value),
                    });
                }
            }
            _ => into.push(Set::Any),
        }
    }

    /// Keys that were added for bounds known at run time do not matter to the other cases. A mark of such a case is the set
    /// that `as_key_set` left for a key beyond those written.
    fn pad_cases(&mut self, select: &mut Select, given: usize) {
        let count = select.keys.len();
        if count == given {
            return;
        }
        for case in &mut select.cases {
            let extra: Vec<usize> = case
                .sets
                .iter()
                .filter_map(|set| match set {
                    KeySet::Mask { value, mask } if *mask == BigUint::ZERO && *value >= BigUint::from(given) => {
                        usize::try_from(value).ok()
                    }
                    _ => None,
                })
                .collect();
            for set in &mut case.sets {
                if matches!(set, KeySet::Mask { mask, .. } if *mask == BigUint::ZERO) {
                    *set = KeySet::Any;
                }
            }
            for at in given..count {
                let set = if extra.contains(&at) { KeySet::Value(BigUint::from(1u8)) } else { KeySet::Any };
                case.sets.push(set);
            }
        }
    }

    pub fn value_set(
        &mut self,
        declaration: &'a Declaration,
        set: &'a ast::ValueSet,
        name: &str,
    ) -> Lowered<ValueSetId> {
        let of_type = self.substituted(self.checked.declared_type(declaration.id));
        let element = if let Type::ValueSet(element) = &of_type { (**element).clone() } else { of_type };
        let mut found = Vec::new();
        self.value_set_fields(&element, ("", &Notes::default()), hlir::MatchKind::Exact, &mut found);
        let size = self.known_number(&set.size)?;
        let name = self.object_name(name, Some(declaration.id));
        let (fields, facts): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        self.facts.fields.insert(name.clone(), facts);
        let made = hlir::ValueSet { name, size: u64::from(size), fields, notes: self.notes_of(declaration.id) };
        Ok(self.program.value_sets.alloc(made))
    }

    fn value_set_fields(
        &mut self,
        of_type: &Type,
        (name, notes): (&str, &Notes),
        kind: hlir::MatchKind,
        into: &mut Vec<(SetField, (Type, Notes))>,
    ) {
        if let Some(scalar) = self.scalar_type(of_type) {
            let name = if name.is_empty() { "value".to_string() } else { name.to_string() };
            into.push(((name, scalar.width(), kind), (of_type.clone(), notes.clone())));
            return;
        }
        let fields = self.checked.fields_of(of_type);
        if fields.is_empty() {
            for (at, part) in self.part_types(of_type, 0).iter().enumerate() {
                self.value_set_fields(part, (&format!("{name}{at}"), notes), kind, into);
            }
        }
        for field in fields {
            let kind = self.field_match_kind(field.id);
            let notes = self.notes_of(field.id);
            self.value_set_fields(&field.of_type, (&field.name, &notes), kind, into);
        }
    }

    /// `@match(ternary)` on a field of a value set.
    fn field_match_kind(&self, field: ast::DeclarationId) -> hlir::MatchKind {
        let annotation = self.attributes_of(field).and_then(|attributes| attributes.find("match"));
        let text = annotation.map(|annotation| match &annotation.body {
            ast::AnnotationBody::Unstructured { text, .. } => text.trim().to_string(),
            ast::AnnotationBody::Empty | ast::AnnotationBody::Expressions(_) | ast::AnnotationBody::Pairs(_) => {
                String::new()
            }
        });
        match text.as_deref() {
            Some("ternary") => hlir::MatchKind::Ternary,
            Some("lpm") => hlir::MatchKind::Lpm,
            Some("range") => hlir::MatchKind::Range,
            Some("optional") => hlir::MatchKind::Optional,
            _ => hlir::MatchKind::Exact,
        }
    }
}

/// Name, width and match kind of a field of a value set.
type SetField = (String, u32, hlir::MatchKind);

/// How many keys a subject is.
fn scalars_in(value: &Value) -> usize {
    if let Value::Struct(parts) = value { parts.iter().map(scalars_in).sum() } else { 1 }
}

/// Whether no value is in a set.
pub fn is_empty(set: &Set) -> bool {
    matches!(set, Set::Empty)
}

/// Ranges of signed numbers around zero, which are two ranges of bits, as the two cases or entries they are.
pub fn unwrapped(sets: Vec<Set>, widths: &[u32]) -> Vec<Vec<Set>> {
    let mut all = vec![Vec::new()];
    for (at, set) in sets.into_iter().enumerate() {
        let choices = match set {
            Set::Range { low, high } if low > high => {
                let largest = widths.get(at).map_or_else(|| low.clone(), |width| arithmetic::ones(*width));
                vec![Set::Range { low, high: largest }, Set::Range { low: BigUint::ZERO, high }]
            }
            set => vec![set],
        };
        let extended = all.iter().flat_map(|sets: &Vec<Set>| {
            choices.iter().map(move |choice| sets.iter().chain([choice]).cloned().collect::<Vec<Set>>())
        });
        all = extended.collect();
    }
    all
}

/// A set for key number `at`. One whose bounds only the packet knows becomes a key of its own, true or false; until all cases are known its
/// place holds the number of that key as a mask of nothing.
fn as_key_set(set: Set, at: usize, keys: &mut Vec<Hlir>) -> KeySet {
    use hlir::Binary;
    match set {
        Set::Any => KeySet::Any,
        Set::Value(value) => KeySet::Value(value),
        Set::Mask { mask, .. } if mask == BigUint::ZERO => KeySet::Any,
        Set::Mask { value, mask } => KeySet::Mask { value: value & &mask, mask },
        // No case has it: they are left out before.
        Set::Empty => KeySet::Range { low: BigUint::from(1u8), high: BigUint::ZERO },
        Set::Range { low, high } => KeySet::Range { low, high },
        Set::Filled(set) => KeySet::Set(set),
        Set::Dynamic(first, second, shape) => {
            let key = keys[at].clone();
            let condition = match (shape, second) {
                (Shape::Mask, Some(mask)) => arithmetic::equal(
                    arithmetic::binary(Binary::And, key, mask.clone()),
                    arithmetic::binary(Binary::And, first, mask),
                ),
                (Shape::Range | Shape::SignedRange, Some(high)) => {
                    let up_to = if shape == Shape::SignedRange { Binary::LessEqualSigned } else { Binary::LessEqual };
                    let above = arithmetic::binary(up_to, first, key.clone());
                    arithmetic::and(above, arithmetic::binary(up_to, key, high))
                }
                _ => arithmetic::equal(key, first),
            };
            keys.push(arithmetic::from_bool(condition));
            KeySet::Mask { value: BigUint::from(keys.len() - 1), mask: BigUint::ZERO }
        }
    }
}
