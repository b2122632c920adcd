//! Reads expressions by precedence climbing, and gives constants without width the width of what they meet.

use super::Reader;
use super::cursor::{Failed, Read, nearest};
use crate::source::Span;
use crate::text::lex::TokenKind;
use crate::text::names::{Storage, get, id};
use crate::text::words::{self, BINARIES, COMPARISON, INTRINSICS, is_shift};
use crate::verify::WIDEST;
use crate::{Binary, Expression, FieldRef, HeaderId, Place, Type, Unary, VariableId};

/// How high an expression's tree may be: a chain `a + b + …` nests as deep as it is long.
const HIGHEST: u32 = 1000;

/// The width of a constant that waits for one.
const OPEN: u32 = u32::MAX;

/// What is known of an expression's type.
#[derive(Clone, Copy)]
enum Known {
    Type(Type),
    /// It is made of constants without width.
    Open,
    /// It is wrong, and that has been reported.
    Wrong,
}

struct Typed {
    expression: Expression,
    known: Known,
    height: u32,
}

impl Typed {
    fn leaf(expression: Expression, known: Known) -> Typed {
        Typed { expression, known, height: 1 }
    }
}

impl Reader {
    /// An expression; constants without width take `width`, if nothing in the expression has one.
    pub fn expression(&mut self, width: Option<u32>) -> Read<Expression> {
        let start = self.at;
        let mut typed = self.choice()?;
        if let Known::Open = typed.known {
            match width {
                Some(width) => give_width(&mut typed.expression, width),
                None => {
                    let span = self.since(start);
                    self.complain(span, "a constant needs its width here", "write it with its width, as 9w511");
                }
            }
        }
        Ok(typed.expression)
    }

    pub fn expressions(&mut self, end: &str) -> Read<Vec<Expression>> {
        self.list(end, |reader| reader.expression(None))
    }

    fn choice(&mut self) -> Read<Typed> {
        self.deeper()?;
        let condition = self.binary(1)?;
        let typed = if self.eat("?") {
            let mut then = self.choice()?;
            self.expect(":")?;
            let mut otherwise = self.choice()?;
            let known = meet(&mut then, &mut otherwise);
            let height = 1 + condition.height.max(then.height).max(otherwise.height);
            self.closed(&condition.known);
            let expression = Expression::choose(condition.expression, then.expression, otherwise.expression);
            Typed { expression, known, height }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(typed)
    }

    fn binary(&mut self, lowest: u8) -> Read<Typed> {
        let mut left = self.unary()?;
        let mut compared = false;
        while let Some((operator, level)) = self.operator().filter(|(_, level)| *level >= lowest) {
            if level == COMPARISON && compared {
                let hint = "put one of the comparisons in parentheses";
                return Err(self.fail_with_hint("the end of the comparison", hint));
            }
            compared = level == COMPARISON;
            let span = self.peek().span;
            self.advance();
            let right = self.binary(level + 1)?;
            left = self.join(operator, left, right, span)?;
        }
        Ok(left)
    }

    fn operator(&self) -> Option<(Binary, u8)> {
        let TokenKind::Symbol(symbol) = self.peek().kind else { return None };
        BINARIES.iter().find(|(_, known, _)| *known == symbol).map(|(operator, _, level)| (*operator, *level))
    }

    fn join(&mut self, operator: Binary, mut left: Typed, mut right: Typed, span: Span) -> Read<Typed> {
        let known = if operator == Binary::Concat {
            self.concatenated(left.known, right.known)
        } else if is_shift(operator) {
            if self.closed(&right.known) { left.known } else { Known::Wrong }
        } else if operator.is_predicate() {
            let known = meet(&mut left, &mut right);
            if self.closed(&known) { Known::Type(Type::Bool) } else { Known::Wrong }
        } else {
            meet(&mut left, &mut right)
        };
        let height = 1 + left.height.max(right.height);
        if height > HIGHEST {
            return Err(self.complain(span, "the expression is too long", "1000 operators in a chain are the limit"));
        }
        Ok(Typed { expression: Expression::binary(operator, left.expression, right.expression), known, height })
    }

    fn concatenated(&mut self, left: Known, right: Known) -> Known {
        self.closed(&left);
        self.closed(&right);
        if let (Known::Type(left), Known::Type(right)) = (left, right) {
            return Known::Type(Type::Bits(left.width().saturating_add(right.width())));
        }
        Known::Wrong
    }

    /// Whether an operand that nothing else can give a width has one; reports it if not.
    fn closed(&mut self, known: &Known) -> bool {
        if let Known::Open = known {
            let span = self.since(self.at.saturating_sub(1));
            self.complain(span, "a constant needs its width here", "write it with its width, as 9w511");
        }
        !matches!(known, Known::Open)
    }

    fn unary(&mut self) -> Read<Typed> {
        let unaries = [("!", Unary::Not), ("~", Unary::Complement), ("-", Unary::Negate)];
        let Some((_, operator)) = unaries.into_iter().find(|(symbol, _)| self.is_symbol(symbol)) else {
            return self.sliced();
        };
        self.advance();
        self.deeper()?;
        let Typed { expression, known, height } = self.unary()?;
        self.depth -= 1;
        Ok(Typed { expression: Expression::unary(operator, expression), known, height: height + 1 })
    }

    fn sliced(&mut self) -> Read<Typed> {
        let mut typed = self.atom()?;
        while self.eat("[") {
            let high: u32 = self.number("the highest bit of a slice")?;
            self.expect(":")?;
            let low: u32 = self.number("the lowest bit of a slice")?;
            self.expect("]")?;
            let right_way = high >= low && high < OPEN;
            if !right_way {
                let span = self.since(self.at - 1);
                self.complain(span, format!("slice [{high}:{low}] is empty"), "the higher bit comes first");
            }
            let known = if self.closed(&typed.known) && right_way {
                Known::Type(Type::Bits(high - low + 1))
            } else {
                Known::Wrong
            };
            typed =
                Typed { expression: Expression::slice(typed.expression, high, low), known, height: typed.height + 1 };
            if typed.height > HIGHEST {
                return Err(self.fail("the end of these slices"));
            }
        }
        Ok(typed)
    }

    fn atom(&mut self) -> Read<Typed> {
        let span = self.peek().span;
        let kind = self.peek().kind.clone();
        if let TokenKind::Number { width, value } = kind {
            self.advance();
            if width.is_some_and(|width| width > WIDEST) {
                return Err(self.complain(span, "the constant is too wide", ""));
            }
            let known = width.map_or(Known::Open, |width| Known::Type(Type::Bits(width)));
            return Ok(Typed::leaf(Expression::Constant { value, width: width.unwrap_or(OPEN) }, known));
        }
        if self.eat("(") {
            let typed = self.choice()?;
            self.expect(")")?;
            return Ok(typed);
        }
        if let Some(text) = kind.ordinal() {
            return self.numbered(text);
        }
        let Some(name) = kind.name() else { return Err(self.fail("an expression")) };
        if kind.word().is_some() && self.peek_behind(1).kind == TokenKind::Symbol("(") {
            self.advance();
            self.advance();
            return self.function(name, span);
        }
        match kind.word().and_then(keyword) {
            Some(typed) => {
                self.advance();
                Ok(typed)
            }
            None => self.named(name),
        }
    }

    fn named(&mut self, name: &str) -> Read<Typed> {
        if let Some(index) = self.parameters.iter().position(|parameter| parameter.name == name) {
            self.advance();
            let known = Known::Type(Type::Bits(self.parameters[index].width));
            return Ok(Typed::leaf(Expression::Parameter(index as u32), known));
        }
        let span = self.peek().span;
        match self.storage("a variable or field")? {
            Some(Storage::Variable(variable)) => Ok(self.place_value(Place::Variable(variable))),
            Some(Storage::Field(field)) => Ok(self.place_value(Place::Field(field))),
            Some(Storage::Header(_)) => {
                Err(self.complain(span, "a header is no value", "valid(HEADER) is whether it is valid"))
            }
            None => Ok(Typed::leaf(Expression::Bool(false), Known::Wrong)),
        }
    }

    fn numbered(&mut self, text: &str) -> Read<Typed> {
        if let Some(index) = text.strip_prefix('p').and_then(|digits| digits.parse::<u32>().ok()) {
            self.advance();
            let parameter = self.parameters.get(index as usize);
            let known = parameter.map_or(Known::Wrong, |parameter| Known::Type(Type::Bits(parameter.width)));
            return Ok(Typed::leaf(Expression::Parameter(index), known));
        }
        let place = self.place()?;
        Ok(self.place_value(place))
    }

    fn place_value(&self, place: Place) -> Typed {
        let kind = match place {
            Place::Variable(variable) => get(&self.program.variables, variable).map(|found| found.kind),
            Place::Field(field) => self.field_width(field).map(Type::Bits),
        };
        Typed::leaf(Expression::place(place), kind.map_or(Known::Wrong, Known::Type))
    }

    pub fn field_width(&self, field: FieldRef) -> Option<u32> {
        let header = get(&self.program.headers, field.header)?;
        header.fields.get(field.field as usize).map(|field| field.width)
    }

    /// The expressions that look like calls; the parenthesis is taken.
    fn function(&mut self, name: &str, span: Span) -> Read<Typed> {
        let typed = match name {
            "valid" => Typed::leaf(Expression::Valid(self.header_name()?), Known::Type(Type::Bool)),
            "length" => Typed::leaf(Expression::VarbitLength(self.field_name()?), Known::Type(Type::Bits(32))),
            "same" => {
                let left = self.field_name()?;
                self.expect(",")?;
                Typed::leaf(Expression::VarbitEqual(left, self.field_name()?), Known::Type(Type::Bool))
            }
            "bit" => {
                let Typed { expression, height, .. } = self.choice()?;
                let expression = Expression::FromBool(Box::new(expression));
                Typed { expression, known: Known::Type(Type::Bits(1)), height: height + 1 }
            }
            _ => self.extended(name, span)?,
        };
        self.expect(")")?;
        Ok(typed)
    }

    /// `u32(x)` or `s32(x)`.
    fn extended(&mut self, name: &str, span: Span) -> Read<Typed> {
        let unsigned = name.strip_prefix('u').and_then(|digits| digits.parse::<u32>().ok());
        let signed = name.strip_prefix('s').and_then(|digits| digits.parse::<u32>().ok());
        let Some(width) = unsigned.or(signed).filter(|width| *width <= WIDEST) else {
            let hint =
                "there are valid(HEADER), bit(BOOLEAN), u32(VALUE), s32(VALUE), length(FIELD), same(FIELD, FIELD)";
            return Err(self.complain(span, format!("there is no `{name}(…)`"), hint));
        };
        let Typed { expression, known, height } = self.choice()?;
        self.closed(&known);
        let expression = Expression::extend(expression, width, signed.is_some());
        Ok(Typed { expression, known: Known::Type(Type::Bits(width)), height: height + 1 })
    }

    /// A name of storage; `None` if it is unknown, which has been reported.
    fn storage(&mut self, what: &str) -> Read<Option<Storage>> {
        let span = self.peek().span;
        if let Some(storage) = self.peek().kind.ordinal().and_then(storage_number) {
            self.advance();
            return Ok(Some(storage));
        }
        let text = self.name(what)?;
        let found = self.names.storage.get(&text).copied();
        if found.is_none() {
            let parameters = self.parameters.iter().map(|parameter| parameter.name.as_str());
            let known = self.names.storage.keys().map(String::as_str).chain(parameters);
            let near = nearest(&text, known).map(str::to_string);
            self.unknown(span, what, &text, near);
        }
        Ok(found)
    }

    /// Any storage: a header, a field or a variable.
    pub fn any_storage(&mut self, what: &str) -> Read<Storage> {
        self.storage(what)?.ok_or(Failed)
    }

    pub fn place(&mut self) -> Read<Place> {
        let span = self.peek().span;
        match self.storage("a variable or field")? {
            Some(Storage::Variable(variable)) => Ok(Place::Variable(variable)),
            Some(Storage::Field(field)) => Ok(Place::Field(field)),
            Some(Storage::Header(_)) => {
                Err(self.complain(span, "a header is used where a field or variable is needed", ""))
            }
            None => Ok(Place::Variable(id(0))),
        }
    }

    pub fn header_name(&mut self) -> Read<HeaderId> {
        let span = self.peek().span;
        match self.storage("a header")? {
            Some(Storage::Header(header)) => Ok(header),
            Some(Storage::Field(_) | Storage::Variable(_)) => Err(self.complain(span, "this is not a header", "")),
            None => Ok(id(0)),
        }
    }

    pub fn field_name(&mut self) -> Read<FieldRef> {
        let span = self.peek().span;
        match self.storage("a field")? {
            Some(Storage::Field(field)) => Ok(field),
            Some(Storage::Header(_) | Storage::Variable(_)) => Err(self.complain(span, "this is not a field", "")),
            None => Ok(FieldRef { header: id(0), field: 0 }),
        }
    }

    pub fn variable_name(&mut self) -> Read<VariableId> {
        let span = self.peek().span;
        match self.storage("a variable")? {
            Some(Storage::Variable(variable)) => Ok(variable),
            Some(Storage::Header(_) | Storage::Field(_)) => Err(self.complain(span, "this is not a variable", "")),
            None => Ok(id(0)),
        }
    }
}

/// `true`, `false` and the intrinsics.
fn keyword(word: &str) -> Option<Typed> {
    if word == "true" || word == "false" {
        return Some(Typed::leaf(Expression::Bool(word == "true"), Known::Type(Type::Bool)));
    }
    let intrinsic = words::value_of(INTRINSICS, word)?;
    Some(Typed::leaf(Expression::Intrinsic(intrinsic), Known::Type(Type::Bits(intrinsic.width()))))
}

/// `v3`, `h3` or `h3.2`.
fn storage_number(text: &str) -> Option<Storage> {
    if let Some(variable) = text.strip_prefix('v') {
        return Some(Storage::Variable(id(variable.parse().ok()?)));
    }
    let header = text.strip_prefix('h')?;
    match header.split_once('.') {
        Some((header, field)) => {
            Some(Storage::Field(FieldRef { header: id(header.parse().ok()?), field: field.parse().ok()? }))
        }
        None => Some(Storage::Header(id(header.parse().ok()?))),
    }
}

/// Two operands of equal type: whichever has one gives it to the other.
fn meet(left: &mut Typed, right: &mut Typed) -> Known {
    match (left.known, right.known) {
        (Known::Type(kind), Known::Open) => give_width(&mut right.expression, kind.width()),
        (Known::Open, Known::Type(kind)) => give_width(&mut left.expression, kind.width()),
        (Known::Type(_) | Known::Wrong, Known::Type(_))
        | (Known::Open, Known::Open)
        | (Known::Type(_) | Known::Open, Known::Wrong)
        | (Known::Wrong, Known::Open | Known::Wrong) => {}
    }
    match (left.known, right.known) {
        (Known::Wrong, _) | (_, Known::Wrong) => Known::Wrong,
        (Known::Open, other) => other,
        (kind @ Known::Type(_), _) => kind,
    }
}

fn give_width(expression: &mut Expression, given: u32) {
    match expression {
        Expression::Constant { width, .. } if *width == OPEN => *width = given,
        Expression::Unary { operand, .. } => give_width(operand, given),
        Expression::Binary {
            operator: Binary::ShiftLeft | Binary::ShiftRight | Binary::ShiftRightSigned,
            left,
            ..
        } => {
            give_width(left, given);
        }
        Expression::Binary { operator, left, right } if !operator.is_predicate() && *operator != Binary::Concat => {
            give_width(left, given);
            give_width(right, given);
        }
        Expression::Choose { then, otherwise, .. } => {
            give_width(then, given);
            give_width(otherwise, given);
        }
        Expression::Constant { .. }
        | Expression::Binary { .. }
        | Expression::Bool(_)
        | Expression::Variable(_)
        | Expression::Field(_)
        | Expression::Valid(_)
        | Expression::Parameter(_)
        | Expression::Intrinsic(_)
        | Expression::Slice { .. }
        | Expression::Extend { .. }
        | Expression::FromBool(_)
        | Expression::VarbitLength(_)
        | Expression::VarbitEqual(_, _) => {}
    }
}
