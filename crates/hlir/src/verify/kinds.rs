//! The types of expressions, with every rule about widths. Unlike [`Expression::type_in`] it trusts nothing, so that it can judge any program.

use crate::text::{get, number};
use crate::{Binary, Expression, Field, FieldRef, HeaderId, Intrinsic, Place, Program, Type, Unary};

/// The widest value. It keeps sums of widths far from overflow and hostile texts from asking for gigabytes.
pub const WIDEST: u32 = 1 << 20;

/// Finds types and collects what is wrong, in words. The type of something wrong is `None`, and is not complained about again.
pub(crate) struct Kinds<'p, 'w> {
    pub program: &'p Program,
    /// Widths of the enclosing action's parameters.
    pub parameters: &'w [u32],
    /// Whether the `Copy…` intrinsics have a value: in the `set` list of a copy.
    pub in_copy: bool,
    pub errors: Vec<String>,
}

impl<'p, 'w> Kinds<'p, 'w> {
    pub fn new(program: &'p Program, parameters: &'w [u32]) -> Kinds<'p, 'w> {
        Kinds { program, parameters, in_copy: false, errors: Vec::new() }
    }

    pub fn wrong(&mut self, message: impl Into<String>) -> Option<Type> {
        self.errors.push(message.into());
        None
    }

    pub fn of(&mut self, expression: &Expression) -> Option<Type> {
        match expression {
            Expression::Bool(_) => Some(Type::Bool),
            Expression::Constant { value, width } if *width > WIDEST || value.bits() > u64::from(*width) => {
                let shown = if value.bits() > 128 { "a constant".to_string() } else { format!("constant {value}") };
                self.wrong(format!("{shown} does not fit {width} bits, or these are more than {WIDEST}"))
            }
            Expression::Constant { width, .. } => Some(Type::Bits(*width)),
            Expression::Variable(variable) => self.place(Place::Variable(*variable)),
            Expression::Field(field) => self.place(Place::Field(*field)),
            Expression::Valid(header) => self.header(*header).map(|_| Type::Bool),
            Expression::Parameter(index) => match self.parameters.get(*index as usize) {
                Some(width) => Some(Type::Bits(*width)),
                None => self.wrong(format!("there is no action parameter {index} here")),
            },
            Expression::Intrinsic(Intrinsic::CopyPort | Intrinsic::CopyInstance | Intrinsic::CopyTruncation)
                if !self.in_copy =>
            {
                self.wrong("`copy.…` has a value only in the `set` list of a replicated or cloned packet")
            }
            Expression::Intrinsic(intrinsic) => Some(Type::Bits(intrinsic.width())),
            Expression::Unary { operator, operand } => self.unary(*operator, operand),
            Expression::Binary { operator, left, right } => self.binary(*operator, left, right),
            Expression::Slice { operand, high, low } => self.slice(operand, *high, *low),
            Expression::Extend { operand, width, .. } => self.extend(operand, *width),
            Expression::Choose { condition, then, otherwise } => {
                self.boolean(condition, "the condition of a choice");
                let (then, otherwise) = (self.of(then), self.of(otherwise));
                self.same(then?, otherwise?, "the two sides of a choice")
            }
            Expression::FromBool(operand) => self.boolean(operand, "the operand of `bit`").map(|_| Type::Bits(1)),
            Expression::VarbitLength(field) => self.varbit(*field).map(|_| Type::Bits(32)),
            Expression::VarbitEqual(left, right) => {
                let (left, right) = (self.varbit(*left), self.varbit(*right));
                left.and(right).map(|_| Type::Bool)
            }
        }
    }

    pub fn boolean(&mut self, expression: &Expression, what: &str) -> Option<Type> {
        match self.of(expression)? {
            Type::Bool => Some(Type::Bool),
            Type::Bits(width) => self.wrong(format!("{what} must be a boolean, and has {width} bits")),
        }
    }

    /// The expression's width; a boolean has none.
    pub fn bits(&mut self, expression: &Expression, what: &str) -> Option<u32> {
        match self.of(expression)? {
            Type::Bits(width) => Some(width),
            Type::Bool => {
                self.wrong(format!("{what} must be bits, and is a boolean"));
                None
            }
        }
    }

    pub fn exactly(&mut self, expression: &Expression, width: u32, what: &str) {
        if let Some(found) = self.bits(expression, what).filter(|found| *found != width) {
            self.wrong(format!("{what} must have {}, and has {}", shown(Type::Bits(width)), shown(Type::Bits(found))));
        }
    }

    /// An assignment, by whatever statement.
    pub fn assignable(&mut self, target: Place, value: &Expression) {
        let (target, value) = (self.place(target), self.of(value));
        if let (Some(target), Some(value)) = (target, value)
            && target != value
        {
            self.wrong(format!("{} cannot be assigned to {}", shown(value), shown(target)));
        }
    }

    /// The width of a place that takes bits.
    pub fn bits_place(&mut self, place: Place, what: &str) -> Option<u32> {
        match self.place(place)? {
            Type::Bits(width) => Some(width),
            Type::Bool => {
                self.wrong(format!("{what} must be bits, and is a boolean"));
                None
            }
        }
    }

    pub fn same(&mut self, left: Type, right: Type, what: &str) -> Option<Type> {
        if left == right {
            return Some(left);
        }
        self.wrong(format!("{what} differ: {} and {}", shown(left), shown(right)))
    }

    fn unary(&mut self, operator: Unary, operand: &Expression) -> Option<Type> {
        match operator {
            Unary::Not => self.boolean(operand, "the operand of `!`"),
            Unary::Complement => self.bits(operand, "the operand of `~`").map(Type::Bits),
            Unary::Negate => self.bits(operand, "the operand of `-`").map(Type::Bits),
        }
    }

    fn binary(&mut self, operator: Binary, left: &Expression, right: &Expression) -> Option<Type> {
        let symbol = super::symbol(operator);
        let what = format!("an operand of `{symbol}`");
        match operator {
            Binary::LogicalAnd | Binary::LogicalOr => {
                let (left, right) = (self.boolean(left, &what), self.boolean(right, &what));
                left.and(right)
            }
            Binary::ShiftLeft | Binary::ShiftRight | Binary::ShiftRightSigned => {
                let (left, right) = (self.bits(left, &what), self.bits(right, &what));
                right.and(left).map(Type::Bits)
            }
            Binary::Concat => {
                let (left, right) = (self.bits(left, &what), self.bits(right, &what));
                match left?.checked_add(right?).filter(|width| *width <= WIDEST) {
                    Some(width) => Some(Type::Bits(width)),
                    None => self.wrong(format!("a value has more than {WIDEST} bits")),
                }
            }
            Binary::Equal | Binary::NotEqual => {
                let (left, right) = (self.of(left), self.of(right));
                self.same(left?, right?, &format!("the operands of `{symbol}`")).map(|_| Type::Bool)
            }
            Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder
            | Binary::AddSaturating
            | Binary::SubtractSaturating
            | Binary::AddSaturatingSigned
            | Binary::SubtractSaturatingSigned
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
            | Binary::LessSigned
            | Binary::LessEqualSigned
            | Binary::GreaterSigned
            | Binary::GreaterEqualSigned => {
                let (left, right) = (self.bits(left, &what), self.bits(right, &what));
                let kind = self.same(Type::Bits(left?), Type::Bits(right?), &format!("the operands of `{symbol}`"))?;
                Some(if operator.is_predicate() { Type::Bool } else { kind })
            }
        }
    }

    fn slice(&mut self, operand: &Expression, high: u32, low: u32) -> Option<Type> {
        let width = self.bits(operand, "what is sliced")?;
        if low <= high && high < width {
            return Some(Type::Bits(high - low + 1));
        }
        self.wrong(format!("slice [{high}:{low}] does not lie within {width} bits"))
    }

    fn extend(&mut self, operand: &Expression, width: u32) -> Option<Type> {
        let narrow = self.bits(operand, "what is extended")?;
        if narrow <= width && width <= WIDEST {
            return Some(Type::Bits(width));
        }
        self.wrong(format!("{narrow} bits cannot be extended to {width}"))
    }

    pub fn header(&mut self, header: HeaderId) -> Option<&'p crate::Header> {
        let found = get(&self.program.headers, header);
        if found.is_none() {
            self.wrong(format!("there is no header number {}", number(header)));
        }
        found
    }

    fn any_field(&mut self, field: FieldRef) -> Option<&'p Field> {
        let found = self.header(field.header)?.fields.get(field.field as usize);
        if found.is_none() {
            self.wrong(format!("there is no field number {} in header number {}", field.field, number(field.header)));
        }
        found
    }

    /// A varbit field.
    pub fn varbit(&mut self, field: FieldRef) -> Option<&'p Field> {
        let found = self.any_field(field)?;
        if !found.varbit {
            self.wrong(format!("field `{}` is not a varbit", found.name));
        }
        Some(found).filter(|field| field.varbit)
    }

    /// A field of any sort.
    pub fn field(&mut self, field: FieldRef) -> Option<&'p Field> {
        self.any_field(field)
    }

    pub fn place(&mut self, place: Place) -> Option<Type> {
        match place {
            Place::Variable(variable) => match get(&self.program.variables, variable) {
                Some(found) => Some(found.kind),
                None => self.wrong(format!("there is no variable number {}", number(variable))),
            },
            Place::Field(field) => {
                let found = self.any_field(field)?;
                if found.varbit {
                    return self.wrong(format!("varbit field `{}` is used as a value", found.name));
                }
                Some(Type::Bits(found.width))
            }
        }
    }
}

pub(crate) fn shown(kind: Type) -> String {
    match kind {
        Type::Bool => "a boolean".to_string(),
        Type::Bits(1) => "1 bit".to_string(),
        Type::Bits(width) => format!("{width} bits"),
    }
}
