//! Methods: of headers, unions and stacks (8.17 to 8.20), of the packet (12.8, 15), of tables, parsers and controls, and of extern objects.

use num_bigint::BigInt;
use p4::ast::{self, Argument, Expression, ExpressionKind};

use super::environment::{Binding, Env};
use super::machine::Machine;
use super::place::{Place, Step};
use super::value::{Stack, Structure, Type, Value};
use super::{Run, unsupported};

impl<'a> Machine<'a> {
    pub(super) fn method(
        &mut self,
        base: &'a Expression,
        method: &'a str,
        types: &'a [ast::Type],
        arguments: &'a [Argument],
        env: &Env<'a>,
    ) -> Run<Value> {
        let binding = match &base.kind {
            ExpressionKind::Path(path) => Some(self.lookup(path, env)?),
            ExpressionKind::Index { base, index } => self.object_of_array(base, index, env)?,
            ExpressionKind::Type(of) if method == "apply" => match &of.kind {
                ast::TypeKind::Specialized { base, .. } => Some(self.lookup(base, env)?),
                _ => None,
            },
            _ => None,
        };
        match binding {
            Some(Binding::Table(table, outer)) => return self.apply_table(table, &outer),
            Some(Binding::PacketIn) => return self.packet_in(method, types, arguments, env),
            Some(Binding::PacketOut) => return self.packet_out(method, arguments, env),
            Some(Binding::Instance(instance)) => {
                if let Some((methods, inner)) = &instance.methods
                    && let Some(own) = methods.iter().find(|own| own.name.as_str() == method)
                {
                    return self.call_code(own, inner, types, arguments, env);
                }
                return match instance.object {
                    Some(object) => self.object_method(object, &instance, method, arguments, env),
                    None => self.apply_instance(&instance, arguments, env),
                };
            }
            Some(Binding::Class(class)) => {
                let instance = self.here()?.children.get(&class.id).cloned();
                return match instance {
                    Some(instance) => self.apply_instance(&instance, arguments, env),
                    None => unsupported(format!("apply of {}", class.name)),
                };
            }
            Some(Binding::Type(of)) => return Ok(Self::size_method(&of, method)),
            Some(Binding::Variable(_) | Binding::Constant(_) | Binding::Code(..) | Binding::ValueSet(_)) | None => {}
        }
        match method {
            "isValid" => Ok(Value::Bool(self.evaluate(base, env)?.is_valid())),
            "setValid" | "setInvalid" => self.set_validity(base, method == "setValid", env),
            "push_front" | "pop_front" => self.shift_stack(base, method == "push_front", arguments, env),
            "minSizeInBits" | "minSizeInBytes" | "maxSizeInBits" | "maxSizeInBytes" => {
                let of = self.type_of(base, env)?;
                Ok(Self::size_method(&of, method))
            }
            _ => unsupported(format!("method {base}.{method}")),
        }
    }

    /// The object that an index chooses, if the base is an array of objects.
    fn object_of_array(
        &mut self,
        base: &'a Expression,
        index: &'a Expression,
        env: &Env<'a>,
    ) -> Run<Option<Binding<'a>>> {
        let ExpressionKind::Path(path) = &base.kind else { return Ok(None) };
        let Binding::Instance(array) = self.lookup(path, env)? else { return Ok(None) };
        match array.elements.get(self.size(index, env)?) {
            Some(object) => Ok(Some(Binding::Instance(object.clone()))),
            None => unsupported(format!("an object beyond the end of {base}")),
        }
    }

    /// 8.17: a header that becomes valid has fields without a value (docs/language.md: zero); one that is valid keeps its own. 8.20: making a
    /// member of a union valid makes the others invalid, making one invalid makes all invalid.
    fn set_validity(&mut self, base: &'a Expression, valid: bool, env: &Env<'a>) -> Run<Value> {
        let place = self.place(base, env)?;
        let Value::Structure(header) = self.peek(&place) else { return unsupported(format!("{base} is no header")) };
        if valid && header.valid {
            return Ok(Value::Void);
        }
        let fresh = match Value::initial(&Type::Structure(header.of)) {
            Value::Structure(fresh) => Value::Structure(Structure { valid, ..fresh }),
            other => other,
        };
        self.write(&place, fresh);
        Ok(Value::Void)
    }

    /// 8.18: elements move by `count`, those that come in are invalid, and `nextIndex` moves along within its bounds.
    fn shift_stack(
        &mut self,
        base: &'a Expression,
        push: bool,
        arguments: &'a [Argument],
        env: &Env<'a>,
    ) -> Run<Value> {
        let place = self.place(base, env)?;
        let count = self.size(&arguments[0].value, env)?;
        let Value::Stack(stack) = self.peek(&place) else { return unsupported(format!("{base} is no stack")) };
        let size = stack.elements.len();
        let count = count.min(size);
        let fresh = (0..count).map(|_| Value::initial(&stack.element));
        let (elements, next): (Vec<Value>, usize) = if push {
            let kept = stack.elements[..size - count].iter().cloned();
            (fresh.chain(kept).collect(), (stack.next + count).min(size))
        } else {
            let kept = stack.elements[count..].iter().cloned();
            (kept.chain(fresh).collect(), stack.next.saturating_sub(count))
        };
        let element = stack.element.clone();
        self.write(&place, Value::Stack(Stack { element, next, elements }));
        Ok(Value::Void)
    }

    fn packet_in(
        &mut self,
        method: &str,
        types: &'a [ast::Type],
        arguments: &'a [Argument],
        env: &Env<'a>,
    ) -> Run<Value> {
        match method {
            "extract" => self.extract(types, arguments, env),
            "lookahead" => {
                let Some(of) = types.first() else { return unsupported("lookahead without a type") };
                let of = self.resolve(of, env)?;
                self.lookahead(&of)
            }
            "advance" => {
                let bits = self.index(&arguments[0].value, env)?;
                self.advance(bits)?;
                Ok(Value::Void)
            }
            "length" => Ok(Value::bits(self.packet.len() / 8, 32)),
            _ => unsupported(format!("packet_in.{method}")),
        }
    }

    /// 15: appends a header if it is valid, and what is in a struct, union or stack, in order.
    fn packet_out(&mut self, method: &str, arguments: &'a [Argument], env: &Env<'a>) -> Run<Value> {
        if method != "emit" {
            return unsupported(format!("packet_out.{method}"));
        }
        let value = self.evaluate(&arguments[0].value, env)?;
        value.append_bits(&mut self.output);
        Ok(Value::Void)
    }

    /// `stack.next`, or a member of a union there, as the argument of `extract`: the stack, whose `nextIndex` the extraction moves on.
    pub(super) fn stack_of_next(&mut self, target: &'a Expression, env: &Env<'a>) -> Run<Option<Place>> {
        match &target.kind {
            ExpressionKind::Member { base, member } if member.as_str() == "next" => {
                let place = self.place(base, env)?;
                Ok(matches!(self.peek(&place), Value::Stack(_)).then_some(place))
            }
            ExpressionKind::Member { base, .. } => self.stack_of_next(base, env),
            _ => Ok(None),
        }
    }

    /// Whether a place lies beyond the end of a stack.
    pub(super) fn is_beyond(&self, place: &Place) -> bool {
        (0..place.steps.len()).any(|at| {
            let outer = Place { slot: place.slot, steps: place.steps[..at].to_vec() };
            match (&place.steps[at], self.peek(&outer)) {
                (Step::Index(index), Value::Stack(stack)) => *index >= stack.elements.len(),
                _ => false,
            }
        })
    }

    pub(super) fn big(value: &Value) -> BigInt {
        value.number().unwrap_or(BigInt::ZERO)
    }
}
