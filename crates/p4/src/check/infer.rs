//! Inference of type arguments: types with holes, and making two types equal by filling them.
//!
//! Holes live no longer than the call they were made for. A hole that an `int` was put in stays open for a width: the
//! second argument of `f(1, 8w2)` decides what the first one is.

use std::sync::Arc;

use super::checker::Checker;
use crate::ast::{Direction, Parameter};
use crate::types::{Nominal, Substitution, Type, substitute};

#[derive(Default)]
pub(super) struct Inference {
    holes: Vec<Hole>,
}

struct Hole {
    filling: Option<Type>,
    /// Only a number may be put in.
    is_number: bool,
}

impl Inference {
    pub fn hole(&mut self) -> Type {
        self.make(false)
    }

    fn make(&mut self, is_number: bool) -> Type {
        self.holes.push(Hole { filling: None, is_number });
        Type::Inferred(self.holes.len() as u32 - 1)
    }

    /// The type with the holes filled as far as is known; where only "a number" is known, `int`.
    pub fn resolve(&self, of_type: &Type) -> Type {
        of_type.replace(&|part| match part {
            Type::Inferred(at) => match &self.holes[*at as usize] {
                Hole { filling: Some(filling), .. } => Some(self.resolve(filling)),
                Hole { is_number: true, .. } => Some(Type::Integer),
                Hole { .. } => None,
            },
            _ => None,
        })
    }

    fn shallow(&self, of_type: &Type) -> Type {
        let mut of_type = of_type.clone();
        while let Type::Inferred(at) = of_type {
            match &self.holes[at as usize].filling {
                Some(filling) => of_type = filling.clone(),
                None => break,
            }
        }
        of_type
    }

    /// Puts a type into a hole. Literals get their own type unless the context requires another.
    fn fill(&mut self, at: u32, with: &Type) -> bool {
        if *with == Type::Inferred(at) {
            return true;
        }
        if self.resolve(with).any(&|part| *part == Type::Inferred(at)) {
            return false;
        }
        let with = self.opened(with);
        if self.holes[at as usize].is_number {
            return match with {
                Type::Bits { .. } | Type::Newtype(_) => {
                    self.holes[at as usize].filling = Some(with);
                    true
                }
                Type::Inferred(other) => {
                    let is_number = self.holes[other as usize].is_number;
                    let (full, open) = if is_number { (at, other) } else { (other, at) };
                    self.holes[full as usize].filling = Some(Type::Inferred(open));
                    true
                }
                _ => false,
            };
        }
        self.holes[at as usize].filling = Some(with);
        true
    }

    /// A type in which every `int` has become a hole for a number, and list literals tuples.
    fn opened(&mut self, of_type: &Type) -> Type {
        match of_type {
            Type::Integer => self.make(true),
            Type::ListLiteral { elements, defaulted: false } => {
                Type::Tuple(elements.iter().map(|element| self.opened(element)).collect())
            }
            _ => of_type.clone(),
        }
    }
}

impl<'a> Checker<'a> {
    /// Whether a value of type `actual` may be used where `expected` is wanted, filling holes to make it so.
    pub fn unify(&mut self, expected: &Type, actual: &Type) -> bool {
        let expected = self.inference.shallow(expected);
        let actual = self.inference.shallow(actual);
        if expected == actual {
            return true;
        }
        match (&expected, &actual) {
            (Type::Unknown | Type::DontCare, _) | (_, Type::Unknown | Type::DontCare) => true,
            (Type::Inferred(hole), other) | (other, Type::Inferred(hole)) => {
                let numeric = *other == Type::Integer && self.inference.holes[*hole as usize].is_number;
                numeric || self.inference.fill(*hole, other)
            }
            (Type::Bits { .. }, Type::Integer) | (Type::Integer, Type::Bits { .. }) => true,
            (Type::Newtype(_), Type::Integer) => matches!(self.out.representation(&expected), Type::Bits { .. }),
            (Type::Bits { .. }, Type::SerializableEnum(nominal)) => {
                self.out.underlying(nominal).is_some_and(|underlying| *underlying == expected)
            }
            (_, Type::DefaultLiteral) => true,
            (Type::Header(_) | Type::Union(_), Type::InvalidLiteral) => true,
            (Type::Set(expected), Type::Set(actual)) | (Type::List(expected), Type::List(actual)) => {
                self.unify(expected, actual)
            }
            (Type::Set(expected), _) => self.unify(expected, &actual),
            (Type::ValueSet(expected), Type::ValueSet(actual)) => self.unify(expected, actual),
            (Type::Tuple(expected), Type::Tuple(actual)) => self.unify_all(expected, actual, false),
            (Type::Tuple(expected), Type::ListLiteral { elements, defaulted }) => {
                self.unify_all(expected, elements, *defaulted)
            }
            (Type::Stack { element, size }, Type::ListLiteral { elements, defaulted }) => {
                let fits = elements.len() as u32 == *size || (*defaulted && elements.len() as u32 <= *size);
                fits && elements.iter().all(|actual| self.unify(element, actual))
            }
            (Type::List(element), Type::ListLiteral { elements, .. }) => {
                elements.iter().all(|actual| self.unify(element, actual))
            }
            (Type::Struct(_) | Type::Header(_), Type::ListLiteral { elements, defaulted }) => {
                let fields: Vec<Type> = self.out.fields_of(&expected).into_iter().map(|field| field.of_type).collect();
                self.unify_all(&fields, elements, *defaulted)
            }
            (Type::Struct(_) | Type::Header(_), Type::StructureLiteral { fields, defaulted }) => {
                self.unify_fields(&expected, fields, *defaulted)
            }
            (
                Type::Stack { element: expected, size: expected_size },
                Type::Stack { element: actual, size: actual_size },
            ) => expected_size == actual_size && self.unify(expected, actual),
            (Type::Parser(expected), Type::Parser(actual))
            | (Type::Control(expected), Type::Control(actual))
            | (Type::Package(expected), Type::Package(actual))
                if expected.declaration != actual.declaration =>
            {
                self.unify_objects(expected, actual)
            }
            _ => self.unify_nominals(&expected, &actual),
        }
    }

    fn unify_nominals(&mut self, expected: &Type, actual: &Type) -> bool {
        let (Some(expected_nominal), Some(actual_nominal)) = (expected.nominal(), actual.nominal()) else {
            return false;
        };
        expected_nominal.declaration == actual_nominal.declaration
            && std::mem::discriminant(expected) == std::mem::discriminant(actual)
            && self.unify_all(&expected_nominal.arguments, &actual_nominal.arguments, false)
    }

    fn unify_all(&mut self, expected: &[Type], actual: &[Type], defaulted: bool) -> bool {
        let fits = expected.len() == actual.len() || (defaulted && actual.len() < expected.len());
        fits && expected.iter().zip(actual).all(|(expected, actual)| self.unify(expected, actual))
    }

    fn unify_fields(&mut self, expected: &Type, given: &[(Arc<str>, Type)], defaulted: bool) -> bool {
        let fields = self.out.fields_of(expected);
        if fields.len() != given.len() && !(defaulted && given.len() < fields.len()) {
            return false;
        }
        given
            .iter()
            .all(|(name, actual)| fields.iter().any(|field| field.name == *name && self.unify(&field.of_type, actual)))
    }

    /// Parsers, controls and packages fit where their parameters do.
    fn unify_objects(&mut self, expected: &Nominal, actual: &Nominal) -> bool {
        let wanted = self.out.parameters(expected.declaration);
        let offered = self.out.parameters(actual.declaration);
        let optional = |parameter: &Parameter| parameter.default.is_some() || parameter.attributes.has("optional");
        let common = wanted.len().min(offered.len());
        if !wanted[common..].iter().chain(&offered[common..]).all(optional) {
            return false;
        }
        let in_expected = self.out.arguments_of(expected);
        let in_actual = self.opened_arguments(actual);
        let pairs = wanted.iter().zip(offered);
        pairs.into_iter().all(|(wanted, offered)| {
            let direction = |parameter: &Parameter| match parameter.direction {
                Direction::None => Direction::In,
                other => other,
            };
            let expected = substitute(self.out.declared_type(wanted.id), &in_expected);
            let actual = substitute(self.out.declared_type(offered.id), &in_actual);
            let is_object = |of_type: &Type| matches!(of_type, Type::Extern(_));
            (direction(wanted) == direction(offered) || (is_object(&expected) && is_object(&actual)))
                && self.unify(&expected, &actual)
        })
    }

    /// The type arguments of an object, holes where it has none yet.
    fn opened_arguments(&mut self, nominal: &Nominal) -> Substitution {
        if !nominal.arguments.is_empty() {
            return self.out.arguments_of(nominal);
        }
        let parameters = self.out.type_parameters(nominal.declaration);
        Substitution::new(parameters.iter().map(|parameter| (parameter.id, self.inference.hole())).collect())
    }
}
