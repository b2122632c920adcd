//! Places: the left sides of assignments, and everything else that denotes storage.

use hlir::{Binary, Expression as Hlir, Statement};

use super::arithmetic;
use super::scope::Binding;
use super::storage::Storage;
use super::value::{Target, Value};
use super::{Lowered, Lowering};
use crate::ast::{Expression, ExpressionKind};
use crate::check::{Property, Reference};

impl<'a> Lowering<'a> {
    /// The storage that an expression denotes, with its indices evaluated; nothing if it is only a value.
    pub fn place_of(&mut self, expression: &'a Expression) -> Lowered<Option<Target>> {
        match &expression.kind {
            ExpressionKind::Path(_) => {
                let Reference::Declaration(id) = self.checked.reference(expression) else { return Ok(None) };
                Ok(match self.scope.lookup(*id) {
                    Some(Binding::Target(target)) => Some(target),
                    Some(Binding::Value(_)) | None => None,
                })
            }
            ExpressionKind::Member { base, .. } => match self.checked.reference(expression).clone() {
                Reference::Field(field) => {
                    let index = self.field_index(field);
                    Ok(self.place_of(base)?.map(|place| place.member(index)))
                }
                Reference::Property(property @ (Property::Next | Property::Last)) => {
                    let Some(place) = self.place_of(base)? else { return Ok(None) };
                    Ok(Some(self.stack_element(&place, property)))
                }
                _ => Ok(None),
            },
            ExpressionKind::Index { base, index } => self.indexed_place(base, index),
            ExpressionKind::Slice { base, high, low } => {
                let Some(place) = self.place_of(base)? else { return Ok(None) };
                let (high, low) = (self.known_number(high)?, self.known_number(low)?);
                let (width, _) = self.number_type(&self.used_type(base));
                Ok(Some(Target::Slice { base: Box::new(place), width, high, low }))
            }
            ExpressionKind::PlusSlice { base, low, width } => {
                let Some(mut place) = self.place_of(base)? else { return Ok(None) };
                let mark = self.mark();
                let low = self.scalar(low)?;
                self.settle_target(&mut place, mark);
                let taken = self.known_number(width)?;
                let (whole, _) = self.number_type(&self.used_type(base));
                let low_width = self.width(&low);
                Ok(Some(Target::PlusSlice { base: Box::new(place), width: whole, low, low_width, taken }))
            }
            _ => Ok(None),
        }
    }

    /// The target of an assignment or an `out` argument.
    pub fn target(&mut self, expression: &'a Expression) -> Lowered<Target> {
        if matches!(expression.kind, ExpressionKind::DontCare) {
            return Ok(Target::Discard);
        }
        self.place_of(expression)?
            .ok_or_else(|| self.internal(expression.span, "an assignment to something that is no place"))
    }

    fn indexed_place(&mut self, base: &'a Expression, index: &'a Expression) -> Lowered<Option<Target>> {
        let Some(mut place) = self.place_of(base)? else { return Ok(None) };
        let mark = self.mark();
        let at = self.scalar(index)?;
        self.settle_target(&mut place, mark);
        let Some(example) = place.example() else { return Ok(None) };
        let count = example.elements().len();
        if let Some((number, _)) = arithmetic::constant_of(&at) {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            let beyond = || example.elements().first().cloned().map_or(Target::Discard, Target::Nowhere);
            return Ok(Some(if number < count { place.member(number) } else { beyond() }));
        }
        let Value::Scalar(at) = self.atom(Value::Scalar(at), "index") else { return Ok(None) };
        let index_width = self.width(&at);
        let candidates = (0..count).map(|element| place.member(element)).collect();
        Ok(Some(Target::Choice { candidates, index: at, index_width }))
    }

    /// `stack.next` or `stack.last`. In a parser, beyond the ends of the stack is an error.
    fn stack_element(&mut self, place: &Target, property: Property) -> Target {
        let Some(Storage::Stack { elements, next }) = place.example().cloned() else { return Target::Discard };
        let next = match place {
            Target::Storage(_) => self.slot_value(next),
            _ => match self.load_target(place) {
                Value::Stack { next: Some(next), .. } => next,
                _ => return Target::Discard,
            },
        };
        let one = Hlir::constant(1u32, 32);
        let (index, within) = match property {
            Property::Last => {
                let within = arithmetic::binary(Binary::NotEqual, next.clone(), Hlir::constant(0u32, 32));
                (arithmetic::binary(Binary::Subtract, next, one), within)
            }
            _ => {
                let size = Hlir::constant(elements.len() as u32, 32);
                (next.clone(), arithmetic::binary(Binary::Less, next, size))
            }
        };
        if self.parser.is_some() {
            self.stack_out_of_bounds(within);
        }
        let candidates = (0..elements.len()).map(|element| place.member(element)).collect();
        Target::Choice { candidates, index, index_width: 32 }
    }

    /// Fails with `StackOutOfBounds` unless `within`.
    pub fn stack_out_of_bounds(&mut self, within: Hlir) {
        let error = Hlir::constant(hlir::program::error_code::STACK_OUT_OF_BOUNDS, 32);
        self.emit(Statement::Verify { condition: within, error });
    }
}
