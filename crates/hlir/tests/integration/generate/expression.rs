//! Random expressions of a given type.

use super::Generator;
use hlir::{Binary, Expression, FieldRef, HeaderId, Intrinsic, Place, Type, Unary, VariableId};
use la_arena::{Idx, RawIdx};

const SAME_WIDTH: [Binary; 12] = [
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::Remainder,
    Binary::AddSaturating,
    Binary::SubtractSaturating,
    Binary::AddSaturatingSigned,
    Binary::SubtractSaturatingSigned,
    Binary::And,
    Binary::Or,
    Binary::Xor,
];

const COMPARISONS: [Binary; 10] = [
    Binary::Equal,
    Binary::NotEqual,
    Binary::Less,
    Binary::LessEqual,
    Binary::Greater,
    Binary::GreaterEqual,
    Binary::LessSigned,
    Binary::LessEqualSigned,
    Binary::GreaterSigned,
    Binary::GreaterEqualSigned,
];

/// The place of an expression: the widths of the action's parameters, and whether it is in the `set` list of a copy.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    pub parameters: &'a [u32],
    pub in_copy: bool,
}

pub const NOWHERE: Around = Around { parameters: &[], in_copy: false };

impl Generator<'_> {
    pub fn expression(&mut self, kind: Type, around: Around, depth: u32) -> Expression {
        let kind = if self.breaks_rule() { Type::Bits(self.width()) } else { kind };
        match kind {
            Type::Bool => self.boolean(around, depth),
            Type::Bits(width) => self.bits(width, around, depth),
        }
    }

    pub fn boolean(&mut self, around: Around, depth: u32) -> Expression {
        let deeper = depth.saturating_sub(1);
        match if depth == 0 { self.below(3) } else { self.below(9) } {
            0 => Expression::Bool(self.once_in(2)),
            1 => match self.header() {
                Some(header) => Expression::Valid(header),
                None => Expression::Bool(true),
            },
            2 => self.place_of(Type::Bool).map_or(Expression::Bool(false), Expression::place),
            3 => Expression::unary(Unary::Not, self.expression(Type::Bool, around, deeper)),
            4 => {
                let operator = self.pick(&[Binary::LogicalAnd, Binary::LogicalOr, Binary::Equal, Binary::NotEqual]);
                let left = self.expression(Type::Bool, around, deeper);
                Expression::binary(operator, left, self.expression(Type::Bool, around, deeper))
            }
            5 => match (self.varbit(), self.varbit()) {
                (Some(left), Some(right)) => Expression::VarbitEqual(left, right),
                _ => Expression::Bool(true),
            },
            6 => self.choice(Type::Bool, around, deeper),
            _ => {
                let width = self.width();
                let operator = self.pick(&COMPARISONS);
                let left = self.expression(Type::Bits(width), around, deeper);
                Expression::binary(operator, left, self.expression(Type::Bits(width), around, deeper))
            }
        }
    }

    pub fn bits(&mut self, width: u32, around: Around, depth: u32) -> Expression {
        let deeper = depth.saturating_sub(1);
        let constant = Expression::constant(self.value(width), width);
        match if depth == 0 { self.below(4) } else { self.below(13) } {
            0 => constant,
            1 => self.place_of(Type::Bits(width)).map_or(constant, Expression::place),
            2 => {
                let fitting = around.parameters.iter().position(|parameter| *parameter == width);
                fitting.map_or(constant, |index| Expression::Parameter(index as u32))
            }
            3 => self.intrinsic(around).filter(|it| it.width() == width).map_or(constant, Expression::Intrinsic),
            4 => {
                let operator = self.pick(&[Unary::Complement, Unary::Negate]);
                Expression::unary(operator, self.expression(Type::Bits(width), around, deeper))
            }
            5..=7 => {
                let operator = self.pick(&SAME_WIDTH);
                let left = self.expression(Type::Bits(width), around, deeper);
                Expression::binary(operator, left, self.expression(Type::Bits(width), around, deeper))
            }
            8 => {
                let operator = self.pick(&[Binary::ShiftLeft, Binary::ShiftRight, Binary::ShiftRightSigned]);
                let left = self.expression(Type::Bits(width), around, deeper);
                let amount = self.width();
                Expression::binary(operator, left, self.expression(Type::Bits(amount), around, deeper))
            }
            9 => {
                let high_bits = self.below(width as usize + 1) as u32;
                let left = self.expression(Type::Bits(high_bits), around, deeper);
                let right = self.expression(Type::Bits(width - high_bits), around, deeper);
                Expression::binary(Binary::Concat, left, right)
            }
            10 if width > 0 => {
                let low = self.below(20) as u32;
                let wider = width + low + self.below(9) as u32;
                Expression::slice(self.expression(Type::Bits(wider), around, deeper), low + width - 1, low)
            }
            11 => self.choice(Type::Bits(width), around, deeper),
            _ => self.converted(width, around, deeper),
        }
    }

    fn converted(&mut self, width: u32, around: Around, depth: u32) -> Expression {
        match (width, self.varbit()) {
            (1, _) => Expression::FromBool(Box::new(self.expression(Type::Bool, around, depth))),
            (32, Some(field)) => Expression::VarbitLength(field),
            _ => {
                let narrower = self.below(width as usize + 1) as u32;
                let operand = self.expression(Type::Bits(narrower), around, depth);
                Expression::extend(operand, width, self.once_in(2))
            }
        }
    }

    fn choice(&mut self, kind: Type, around: Around, depth: u32) -> Expression {
        let condition = self.expression(Type::Bool, around, depth);
        let then = self.expression(kind, around, depth);
        Expression::choose(condition, then, self.expression(kind, around, depth))
    }

    fn intrinsic(&mut self, around: Around) -> Option<Intrinsic> {
        let always = [Intrinsic::IngressPort, Intrinsic::PacketLength, Intrinsic::Clock];
        let copied = [Intrinsic::CopyPort, Intrinsic::CopyInstance, Intrinsic::CopyTruncation];
        if around.in_copy || self.breaks_rule() { Some(self.pick(&copied)) } else { Some(self.pick(&always)) }
    }

    /// A number for an arena, now and then one that points nowhere.
    pub fn index<T>(&mut self, length: usize) -> Option<Idx<T>> {
        let stray = self.breaks_rule();
        if length == 0 && !stray {
            return None;
        }
        let number = if stray { self.below(1000) } else { self.below(length) };
        Some(Idx::from_raw(RawIdx::from_u32(number as u32)))
    }

    pub fn header(&mut self) -> Option<HeaderId> {
        self.index(self.program.headers.len())
    }

    pub fn variable(&mut self) -> VariableId {
        self.index(self.program.variables.len()).expect("every program has a variable")
    }

    fn fields(&self) -> Vec<(FieldRef, u32, bool)> {
        let of = |(header, value): (HeaderId, &hlir::Header)| {
            let field = move |(index, field): (usize, &hlir::Field)| {
                (FieldRef { header, field: index as u32 }, field.width, field.varbit)
            };
            value.fields.iter().enumerate().map(field).collect::<Vec<_>>()
        };
        self.program.headers.iter().flat_map(of).collect()
    }

    pub fn varbit(&mut self) -> Option<FieldRef> {
        let fields: Vec<_> = self.fields().into_iter().filter(|(_, _, varbit)| *varbit).collect();
        if fields.is_empty() { None } else { Some(self.pick(&fields).0) }
    }

    /// A variable or field of this type.
    pub fn place_of(&mut self, kind: Type) -> Option<Place> {
        if self.breaks_rule() {
            let field = FieldRef { header: self.index(3).unwrap_or(Idx::from_raw(RawIdx::from_u32(0))), field: 7 };
            return Some(Place::Field(field));
        }
        let fields = self.fields();
        let fields = fields.iter().filter(|(_, width, varbit)| !varbit && Type::Bits(*width) == kind);
        let variables = self.program.variables.iter().filter(|(_, variable)| variable.kind == kind);
        let variables = variables.map(|(id, _)| Place::Variable(id));
        let places: Vec<Place> = fields.map(|(field, _, _)| Place::Field(*field)).chain(variables).collect();
        if places.is_empty() { None } else { Some(self.pick(&places)) }
    }

    /// Any variable or field, and what it holds.
    pub fn any_place(&mut self) -> (Place, Type) {
        let fields = self.fields();
        let fields = fields.iter().filter(|(_, _, varbit)| !varbit);
        let fields = fields.map(|(field, width, _)| (Place::Field(*field), Type::Bits(*width)));
        let variables = self.program.variables.iter().map(|(id, it)| (Place::Variable(id), it.kind));
        let places: Vec<(Place, Type)> = fields.chain(variables).collect();
        self.pick(&places)
    }

    pub fn bits_place(&mut self) -> (Place, u32) {
        match self.any_place() {
            (place, Type::Bits(width)) => (place, width),
            (_, Type::Bool) => {
                let word = self.place_of(Type::Bits(32)).expect("every program has a 32-bit variable");
                (word, 32)
            }
        }
    }
}
