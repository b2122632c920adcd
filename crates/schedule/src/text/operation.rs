//! Reads operations and operands.

use super::cursor::{Cursor, Read};
use super::names::{find, position};
use crate::value::{Found, Operation, Sum, Value};
use crate::verify::Rule;
use hlir::diagnostic::Diagnostic;
use hlir::source::Span;
use hlir::text::{TokenKind, algorithm_of, is_shift, operator};
use hlir::value::Value as Number;
use hlir::{Algorithm, Binary, NodeId, NodeKind, Type, Unary};
use num_bigint::BigUint;

/// A value, or a constant whose width its surroundings give.
enum Operand {
    Value(Value),
    Number(BigUint, Span),
}

impl Cursor<'_> {
    /// What is behind the `=` of a value's line.
    pub fn operation(&mut self) -> Read<(Operation, Type)> {
        let unary = [("!", Unary::Not), ("~", Unary::Complement), ("-", Unary::Negate)];
        if let Some((symbol, operator)) = unary.into_iter().find(|(symbol, _)| self.is_symbol(symbol)) {
            self.expect_symbol(symbol)?;
            let of = self.value()?;
            let kind = self.values.kind(of);
            return Ok((Operation::Unary(operator, of), kind));
        }
        match self.token().word().unwrap_or_default().to_string().as_str() {
            "packet" => self.take_packet(8),
            "packet.bits" => self.take_packet(1),
            "packet.length" => Ok((self.taken(Operation::Length), Type::Bits(32))),
            "packet.headroom" => Ok((self.taken(Operation::Headroom), Type::Bits(32))),
            "packet.port" => Ok((self.taken(Operation::Port), Type::Bits(32))),
            "register" => self.register(),
            "number" | "action" | "parameter" => self.found(),
            "bit" => {
                self.at += 1;
                Ok((Operation::FromBool(self.in_parentheses()?), Type::Bits(1)))
            }
            "hash" => self.hash(),
            "sum" => self.sum(false),
            "subtract" => self.sum(true),
            word => match extension(word) {
                Some((width, signed)) => {
                    self.at += 1;
                    Ok((Operation::Extend { of: self.in_parentheses()?, signed }, Type::Bits(width)))
                }
                None => self.of_operands(),
            },
        }
    }

    fn taken(&mut self, operation: Operation) -> Operation {
        self.at += 1;
        operation
    }

    fn take_packet(&mut self, unit: u32) -> Read<(Operation, Type)> {
        self.at += 1;
        let (start, end) = self.range("a byte or bit of the packet")?;
        Ok((Operation::Packet { bit: unit * start }, Type::Bits(unit * (end - start))))
    }

    fn register(&mut self) -> Read<(Operation, Type)> {
        self.at += 1;
        let register =
            self.object("a register", |program, token| find(&program.registers, token, |register| &register.name))?;
        let width = self.program.registers[register].width;
        Ok((Operation::Register { register, index: self.in_parentheses()? }, Type::Bits(width)))
    }

    fn found(&mut self) -> Read<(Operation, Type)> {
        let what = self.take();
        let word = what.kind.word().unwrap_or_default();
        if word != "parameter" {
            self.expect_word("at")?;
            let node = self.node()?;
            let what = if word == "number" { Found::Number } else { Found::Action };
            let hash = self.chosen_by()?;
            return Ok((Operation::Lookup { node, what, hash }, Type::Bits(32)));
        }
        let name = self.take();
        let part = if self.is_symbol("[") { Some(self.range("a bit of the parameter")?) } else { None };
        self.expect_word("of")?;
        let of = self.take();
        self.expect_word("at")?;
        let node = self.node()?;
        let NodeKind::Apply { table, .. } = &self.program.nodes[node].kind else {
            return self.error(Diagnostic::error("the node looks up no table").label(what.span, ""));
        };
        let actions = &self.program.tables[*table].actions;
        let Some(action) = position(actions.iter().map(|action| action.name.as_str()), &of.kind) else {
            return self.error(Diagnostic::error("the table has no such action").label(of.span, ""));
        };
        let parameters = &actions[action].parameters;
        let found = position(parameters.iter().map(|parameter| parameter.name.as_str()), &name.kind);
        let Some(parameter) = found else {
            return self.error(Diagnostic::error("the action has no such parameter").label(name.span, ""));
        };
        let (low, end) = part.unwrap_or((0, parameters[parameter].width));
        let what = Found::Parameter { action, parameter, low };
        let hash = self.chosen_by()?;
        Ok((Operation::Lookup { node, what, hash }, Type::Bits(end - low)))
    }

    /// The hash that chooses a member, if a result is that of one.
    fn chosen_by(&mut self) -> Read<Option<Value>> {
        if self.word("by") { self.value().map(Some) } else { Ok(None) }
    }

    /// The CRC whose parameters a hash has.
    fn crc(&mut self) -> Read<hlir::CrcId> {
        self.object("a CRC", |program, token| find(&program.crcs, token, |crc| &crc.name))
    }

    fn hash(&mut self) -> Read<(Operation, Type)> {
        self.at += 1;
        let span = self.span();
        let word = self.take().kind;
        let algorithm = match word.word() {
            Some("crc32_custom") => Algorithm::Crc32Custom(self.crc()?),
            Some("crc16_custom") => Algorithm::Crc16Custom(self.crc()?),
            other => match other.and_then(algorithm_of) {
                Some(algorithm) => algorithm,
                None => return self.error(Diagnostic::error("there is no such hash").label(span, "here")),
            },
        };
        self.expect_symbol("(")?;
        let data = if self.is_symbol(")") { Vec::new() } else { self.list(Cursor::value)? };
        self.expect_symbol(")")?;
        Ok((Operation::Hash { algorithm, data }, Type::Bits(64)))
    }

    fn sum(&mut self, subtract: bool) -> Read<(Operation, Type)> {
        self.at += 1;
        self.expect_symbol("(")?;
        let mut sum = Sum { before: None, bytes: Vec::new(), words: Vec::new(), subtract };
        while !self.symbol(")") {
            if self.word("before") {
                sum.before = Some(self.value()?);
            } else if self.word("packet") {
                sum.bytes.push(self.range("a byte of the packet")?);
            } else {
                sum.words.push(self.value()?);
            }
            if !self.symbol(",") && !self.is_symbol(")") {
                return self.fail("`,` or `)`");
            }
        }
        Ok((Operation::Sum(sum), Type::Bits(16)))
    }

    /// A slice, a choice, or an operator between two operands.
    fn of_operands(&mut self) -> Read<(Operation, Type)> {
        let left = self.operand()?;
        if self.symbol("[") {
            let of = self.with_width(left, None)?;
            let (high, low): (u32, u32) = (self.number("a bit")?, {
                self.expect_symbol(":")?;
                self.number("a bit")?
            });
            self.expect_symbol("]")?;
            return Ok((Operation::Slice { of, low }, Type::Bits(high.saturating_add(1).saturating_sub(low))));
        }
        if self.symbol("?") {
            let condition = self.with_width(left, None)?;
            let then = self.operand()?;
            self.expect_symbol(":")?;
            let otherwise = self.operand()?;
            let (then, otherwise) = self.alike(then, otherwise)?;
            return Ok((Operation::Choose { condition, then, otherwise }, self.values.kind(then)));
        }
        let TokenKind::Symbol(symbol) = *self.token() else { return self.fail("an operator") };
        let Some(operator) = operator(symbol) else { return self.fail("an operator") };
        self.at += 1;
        let right = self.operand()?;
        let (left, right) = if is_shift(operator) || operator == Binary::Concat {
            (self.with_width(left, None)?, self.with_width(right, None)?)
        } else {
            self.alike(left, right)?
        };
        Ok((Operation::Binary(operator, left, right), self.values.kind_of(operator, left, right)))
    }

    /// Two operands of equal width.
    fn alike(&mut self, left: Operand, right: Operand) -> Read<(Value, Value)> {
        let width = |it: &Self, operand: &Operand| match operand {
            Operand::Value(value) => Some(it.values.width(*value)),
            Operand::Number(..) => None,
        };
        let (of_left, of_right) = (width(self, &left), width(self, &right));
        Ok((self.with_width(left, of_right)?, self.with_width(right, of_left)?))
    }

    fn with_width(&mut self, operand: Operand, width: Option<u32>) -> Read<Value> {
        match (operand, width) {
            (Operand::Value(value), _) => Ok(value),
            (Operand::Number(number, span), Some(width)) if number.bits() > u64::from(width) => {
                let error =
                    Diagnostic::error(format!("the number needs more than {width} bits")).kind(Rule::Types.name());
                self.error(error.label(span, ""))
            }
            (Operand::Number(number, _), Some(width)) => Ok(self.values.constant(Number::big(&number, width))),
            (Operand::Number(_, span), None) => {
                let error = Diagnostic::error("the number has no width").label(span, "");
                self.error(error.hint("write the width before it, such as 9w511"))
            }
        }
    }

    fn operand(&mut self) -> Read<Operand> {
        if let TokenKind::Number { width, value } = self.token().clone() {
            let number = Operand::Number(value, self.take().span);
            return if width.is_none() { Ok(number) } else { Ok(Operand::Value(self.with_width(number, width)?)) };
        }
        if self.is_symbol("%") {
            return self.used().map(Operand::Value);
        }
        let truth = self.is_word("true");
        if truth || self.is_word("false") {
            self.at += 1;
            return Ok(Operand::Value(self.values.bool(truth)));
        }
        self.fail("a value, such as %name, 9w511 or true")
    }

    /// A value that has a line before.
    fn used(&mut self) -> Read<Value> {
        let start = self.span();
        let (name, _) = self.name_of_value()?;
        let span = start.to(self.tokens[self.at - 1].span);
        if let Some(value) = self.named.get(&name) {
            return Ok(*value);
        }
        let error = Diagnostic::error(format!("`%{name}` is used before its line"));
        self.error(error.kind(Rule::Order.name()).label(span, "no line before this one computes it"))
    }

    /// `%name` or `%3`, and whether it is a name.
    pub fn name_of_value(&mut self) -> Read<(String, bool)> {
        self.expect_symbol("%")?;
        let token = self.token();
        let number = if let TokenKind::Number { width: None, value } = token { Some(value.to_string()) } else { None };
        let name = token.name().map(|name| (name.to_string(), true)).or(number.map(|number| (number, false)));
        if name.is_some() {
            self.at += 1;
        }
        name.map_or_else(|| self.fail("the name of a value"), Ok)
    }

    /// A value whose width its surroundings do not give.
    pub fn value(&mut self) -> Read<Value> {
        let operand = self.operand()?;
        self.with_width(operand, None)
    }

    /// A value where a constant without a width has this one.
    pub fn value_of(&mut self, width: u32) -> Read<Value> {
        let operand = self.operand()?;
        self.with_width(operand, Some(width))
    }

    pub fn in_parentheses(&mut self) -> Read<Value> {
        self.expect_symbol("(")?;
        let value = self.value()?;
        self.expect_symbol(")")?;
        Ok(value)
    }

    pub fn node(&mut self) -> Read<NodeId> {
        self.object("a node", |program, token| find(&program.nodes, token, |node| &node.name))
    }
}

/// `u32` or `s32`.
fn extension(word: &str) -> Option<(u32, bool)> {
    let signed = word.starts_with('s');
    let width = word.strip_prefix(if signed { 's' } else { 'u' })?;
    Some((width.parse().ok()?, signed))
}
