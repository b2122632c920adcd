//! Parsers (12.5 to 12.11 of clause 13 in print): states, transitions, extraction and errors.

use num_bigint::BigInt;
use p4::ast::{self, Argument, Expression, ExpressionKind, Transition};

use super::convert::convert;
use super::environment::{Binding, Env};
use super::machine::Machine;
use super::statement::Flow;
use super::value::{Bits, Structure, Type, Value, number_of, size_in_bits};
use super::{Run, Stop, unsupported};

/// States after which a parser that takes nothing from the packet is given up.
const STATES: usize = 20_000;

impl<'a> Machine<'a> {
    /// 13.4 to 13.6: from `start` until `accept` or `reject`. Rejecting without an error is `Stop::Error("NoError")`.
    pub(super) fn run_parser(&mut self, parser: &'a ast::Parser, env: &Env<'a>) -> Run<()> {
        let Some(body) = &parser.body else { return unsupported("a parser without a body") };
        let env = self.locals(&body.locals, env)?;
        let mut name = "start";
        for _ in 0..STATES {
            match name {
                "accept" => return Ok(()),
                "reject" => return Err(Stop::Error("NoError".into())),
                _ => {}
            }
            let Some(state) = body.states.iter().find(|state| state.name.as_str() == name) else {
                return unsupported(format!("no state {name}"));
            };
            let mut inner = env.clone();
            for statement in &state.statements {
                match self.statement(statement, &mut inner)? {
                    Flow::Next => {}
                    other => return unsupported(format!("{other:?} in a parser state")),
                }
            }
            name = match &state.transition {
                None => "reject",
                Some(Transition::Direct(next)) => next.as_str(),
                Some(Transition::Select { subjects, cases, .. }) => self.select(subjects, cases, &inner)?,
            };
        }
        unsupported("a parser that does not end")
    }

    /// 13.6: the first case whose sets hold all values; none is `error.NoMatch`.
    fn select(&mut self, subjects: &'a [Expression], cases: &'a [ast::SelectCase], env: &Env<'a>) -> Run<&'a str> {
        let values: Vec<Value> = subjects.iter().map(|subject| self.evaluate(subject, env)).collect::<Run<_>>()?;
        for case in cases {
            let fits = match &case.keys[..] {
                [only] if values.len() > 1 => self.holds(only, &Value::Tuple(values.clone()), env)?,
                keys => {
                    let mut all = true;
                    for (key, value) in keys.iter().zip(&values) {
                        all = all && self.holds(key, value, env)?;
                    }
                    all
                }
            };
            if fits {
                return Ok(case.state.as_str());
            }
        }
        Err(Stop::Error("NoMatch".into()))
    }

    /// Whether a set (8.15) holds a value.
    pub(super) fn holds(&mut self, set: &'a Expression, value: &Value, env: &Env<'a>) -> Run<bool> {
        match &set.kind {
            ExpressionKind::DontCare | ExpressionKind::Default => Ok(true),
            ExpressionKind::Mask { value: wanted, mask } => {
                let (wanted, mask) = (self.evaluate(wanted, env)?, self.evaluate(mask, env)?);
                Ok(is_masked(value, &wanted, &mask))
            }
            ExpressionKind::Range { low, high } => {
                let (low, high) = (self.evaluate(low, env)?, self.evaluate(high, env)?);
                Ok(is_between(value, &low, &high))
            }
            ExpressionKind::Path(path) => match self.lookup(path, env)? {
                Binding::ValueSet(set) => {
                    let members = self.value_sets[set].1.clone();
                    Ok(members.iter().any(|member| fits_member(member, value)))
                }
                _ => self.is_it(set, value, env),
            },
            ExpressionKind::List { elements, .. } => match value {
                Value::Tuple(values) if values.len() == elements.len() => {
                    for (element, value) in elements.iter().zip(values) {
                        if !self.holds(element, value, env)? {
                            return Ok(false);
                        }
                    }
                    Ok(true)
                }
                _ => self.is_it(set, value, env),
            },
            _ => self.is_it(set, value, env),
        }
    }

    fn is_it(&mut self, wanted: &'a Expression, value: &Value, env: &Env<'a>) -> Run<bool> {
        let wanted = self.evaluate(wanted, env)?;
        Ok(convert(wanted, &value.type_of()).same(value))
    }

    /// 13.8.1, 13.8.2: `extract`. An extraction that fails takes nothing and changes nothing.
    pub(super) fn extract(&mut self, types: &'a [ast::Type], arguments: &'a [Argument], env: &Env<'a>) -> Run<Value> {
        let target = &arguments[0].value;
        if let ExpressionKind::DontCare = target.kind {
            let Some(of) = types.first() else { return unsupported("extract(_) without a type") };
            let of = self.resolve(of, env)?;
            self.advance(size_in_bits(&of))?;
            return Ok(Value::Void);
        }
        let stack = self.stack_of_next(target, env)?;
        let place = self.place(target, env)?;
        let variable = match arguments.get(1) {
            Some(argument) => Some(self.index(&argument.value, env)?),
            None => None,
        };
        if self.is_beyond(&place) {
            return Err(Stop::Error("StackOutOfBounds".into()));
        }
        let of = self.peek(&place).type_of();
        let header = self.take_header(&of, variable)?;
        self.write(&place, header);
        if let Some(stack) = stack
            && let Value::Stack(mut moved) = self.peek(&stack)
        {
            moved.next += 1;
            self.write(&stack, Value::Stack(moved));
        }
        Ok(Value::Void)
    }

    fn take_header(&mut self, of: &Type, variable: Option<usize>) -> Run<Value> {
        let Type::Structure(header) = of else { return unsupported("extract of no header") };
        let fixed = size_in_bits(of);
        if let Some(variable) = variable {
            if variable % 8 != 0 {
                return Err(Stop::Error("ParserInvalidArgument".into()));
            }
            self.need(fixed.saturating_add(variable))?;
            let most = header.fields.iter().map(|(_, field)| if let Type::Varbit(most) = field { *most } else { 0 });
            if variable > most.sum() {
                return Err(Stop::Error("HeaderTooShort".into()));
            }
        } else {
            self.need(fixed)?;
        }
        let mut at = self.cursor;
        let fields = header.fields.iter().map(|(_, field)| self.field_at(field, &mut at, variable.unwrap_or(0)));
        let fields = fields.collect();
        self.cursor = at;
        Ok(Value::Structure(Structure { of: header.clone(), valid: true, fields }))
    }

    fn field_at(&self, of: &Type, at: &mut usize, variable: usize) -> Value {
        let mut take = |width: usize| {
            let number = number_of(&self.packet[*at..*at + width]);
            *at += width;
            number
        };
        match of {
            Type::Bool => Value::Bool(take(1) != BigInt::ZERO),
            Type::Bits { width, signed } => Value::Bits(Bits::new(&take(*width), *width, *signed)),
            Type::Varbit(most) => Value::Varbit { most: *most, width: variable, value: take(variable) },
            Type::Structure(of) => {
                let fields = of.fields.iter().map(|(_, field)| self.field_at(field, at, variable)).collect();
                Value::Structure(Structure { of: of.clone(), valid: true, fields })
            }
            Type::Tuple(elements) => {
                Value::Tuple(elements.iter().map(|element| self.field_at(element, at, variable)).collect())
            }
            other => Value::initial(other),
        }
    }

    fn need(&self, bits: usize) -> Run<()> {
        if self.packet.len().saturating_sub(self.cursor) < bits {
            Err(Stop::Error("PacketTooShort".into()))
        } else {
            Ok(())
        }
    }

    /// 13.8.3: the bits ahead, without taking them.
    pub(super) fn lookahead(&mut self, of: &Type) -> Run<Value> {
        self.need(size_in_bits(of))?;
        let mut at = self.cursor;
        Ok(self.field_at(of, &mut at, 0))
    }

    /// 13.8.4.
    pub(super) fn advance(&mut self, bits: usize) -> Run<()> {
        self.need(bits)?;
        self.cursor += bits;
        Ok(())
    }
}

fn pattern(value: &Value) -> BigInt {
    match value {
        Value::Bits(bits) => bits.pattern(),
        other => Machine::big(other),
    }
}

/// `value &&& mask`: equal where the mask has ones, whatever the value has elsewhere (8.15.3).
pub fn is_masked(value: &Value, wanted: &Value, mask: &Value) -> bool {
    let of = value.type_of();
    let (wanted, mask) = (pattern(&convert(wanted.clone(), &of)), pattern(&convert(mask.clone(), &of)));
    pattern(value) & &mask == wanted & mask
}

/// `low .. high`, both included, by the order of the type (8.15.4).
pub fn is_between(value: &Value, low: &Value, high: &Value) -> bool {
    let of = value.type_of();
    let [low, value, high] = [low, value, high].map(|end| Machine::big(&convert(end.clone(), &of)));
    low <= value && value <= high
}

/// Members of a value set are numbers, one for each part of its type.
fn fits_member(member: &Value, value: &Value) -> bool {
    match (member, value) {
        (Value::Tuple(parts), Value::Tuple(values)) => {
            parts.len() == values.len() && parts.iter().zip(values).all(|(part, value)| fits_member(part, value))
        }
        (Value::Tuple(parts), value) if parts.len() == 1 => fits_member(&parts[0], value),
        (part, value) => convert(part.clone(), &value.type_of()).same(value),
    }
}
