//! Prints expressions, with the parentheses that reading needs and no constant's width that the reader of the text would know anyway.
//!
//! A constant may be written without its width where the other operand, or the place it is assigned to, has one. What is wrong about widths
//! has to be seen and read back too: an expression with a mistake is printed with every width.

use super::{Printer, hexadecimal, number_text};
use crate::text::names::{Storage, get, number};
use crate::text::words::{self, ATOM, CHOICE, COMPARISON, UNARY, is_shift, symbol_of, word_of, written};
use crate::verify::Kinds;
use crate::{Binary, Expression, FieldRef, HeaderId, Parameter, Place, Type, Unary, VariableId};

/// What the printing of one expression knows.
struct Writer<'p> {
    printer: &'p Printer<'p>,
    parameters: &'p [Parameter],
    widths: &'p [u32],
    /// Whether every constant shows its width.
    explicit: bool,
    out: String,
}

impl Printer<'_> {
    /// An expression in the body of an action with these parameters (none elsewhere).
    pub fn expression(&self, expression: &Expression, parameters: &[Parameter]) -> String {
        self.expression_as(expression, parameters, None)
    }

    /// The same, where the text around it gives the value's width.
    pub(super) fn expression_as(&self, value: &Expression, parameters: &[Parameter], width: Option<u32>) -> String {
        let widths: Vec<u32> = parameters.iter().map(|parameter| parameter.width).collect();
        let mut kinds = Kinds::new(self.program, &widths);
        kinds.in_copy = true;
        kinds.of(value);
        let explicit = !kinds.errors.is_empty();
        let mut writer = Writer { printer: self, parameters, widths: &widths, explicit, out: String::new() };
        writer.write(value, width, CHOICE);
        writer.out
    }

    pub(super) fn header(&self, header: HeaderId) -> String {
        match get(&self.program.headers, header) {
            Some(found) if self.names.storage.get(&found.name) == Some(&Storage::Header(header)) => {
                written(&found.name)
            }
            _ => format!("#h{}", number(header)),
        }
    }

    pub(super) fn place(&self, place: Place, parameters: &[Parameter]) -> String {
        match place {
            Place::Variable(variable) => self.variable(variable, parameters),
            Place::Field(field) => self.field(field, parameters),
        }
    }

    pub(super) fn variable(&self, variable: VariableId, parameters: &[Parameter]) -> String {
        match get(&self.program.variables, variable) {
            Some(found) if self.means(&found.name, Storage::Variable(variable), parameters) => written(&found.name),
            _ => format!("#v{}", number(variable)),
        }
    }

    pub(super) fn field(&self, field: FieldRef, parameters: &[Parameter]) -> String {
        let header = get(&self.program.headers, field.header);
        let name = header.and_then(|header| {
            header.fields.get(field.field as usize).map(|found| format!("{}.{}", header.name, found.name))
        });
        match name {
            Some(name) if self.means(&name, Storage::Field(field), parameters) => written(&name),
            _ => format!("#h{}.{}", number(field.header), field.field),
        }
    }

    /// Whether `name` is read as `storage` where these parameters, which come first, are known.
    fn means(&self, name: &str, storage: Storage, parameters: &[Parameter]) -> bool {
        self.names.storage.get(name) == Some(&storage) && !parameters.iter().any(|parameter| parameter.name == name)
    }
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Writes `expression` where operators that bind less tightly than `level` need parentheses, and a constant without width is read as one
    /// of `width` bits.
    fn write(&mut self, expression: &Expression, width: Option<u32>, level: u8) {
        if level_of(expression) < level {
            self.push("(");
            self.write(expression, width, CHOICE);
            return self.push(")");
        }
        match expression {
            Expression::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Expression::Constant { value, width: own } => {
                self.constant_width(*own, width);
                self.push(&number_text(value, Some(*own)));
            }
            Expression::Variable(variable) => self.push(&self.printer.variable(*variable, self.parameters)),
            Expression::Field(field) => self.push(&self.printer.field(*field, self.parameters)),
            Expression::Valid(header) => self.push(&format!("valid({})", self.printer.header(*header))),
            Expression::Parameter(index) => self.parameter(*index),
            Expression::Intrinsic(intrinsic) => self.push(word_of(words::INTRINSICS, intrinsic).unwrap_or_default()),
            Expression::Unary { operator, operand } => {
                self.push(unary_symbol(*operator));
                self.write(operand, width, UNARY);
            }
            Expression::Binary { operator, left, right } => self.binary(*operator, left, right, width),
            Expression::Slice { operand, high, low } => {
                self.write(operand, None, ATOM);
                self.push(&format!("[{high}:{low}]"));
            }
            Expression::Extend { operand, width, signed } => {
                self.push(&format!("{}{width}", if *signed { 's' } else { 'u' }));
                self.call(operand);
            }
            Expression::Choose { condition, then, otherwise } => {
                self.write(condition, None, CHOICE + 1);
                let (then_width, otherwise_width) = self.operand_widths(then, otherwise, width);
                self.push(" ? ");
                self.write(then, then_width, CHOICE + 1);
                self.push(" : ");
                self.write(otherwise, otherwise_width, CHOICE);
            }
            Expression::FromBool(operand) => {
                self.push("bit");
                self.call(operand);
            }
            Expression::VarbitLength(field) => {
                self.push(&format!("length({})", self.printer.field(*field, self.parameters)));
            }
            Expression::VarbitEqual(left, right) => {
                let [left, right] = [left, right].map(|field| self.printer.field(*field, self.parameters));
                self.push(&format!("same({left}, {right})"));
            }
        }
    }

    fn constant_width(&mut self, own: u32, known: Option<u32>) {
        if self.explicit || known != Some(own) {
            self.push(&format!("{own}w"));
        }
    }

    fn call(&mut self, operand: &Expression) {
        self.push("(");
        self.write(operand, None, CHOICE);
        self.push(")");
    }

    fn parameter(&mut self, index: u32) {
        let found = self.parameters.get(index as usize);
        let first = found.and_then(|found| self.parameters.iter().position(|other| other.name == found.name));
        match found.filter(|_| first == Some(index as usize)) {
            Some(parameter) => self.push(&written(&parameter.name)),
            None => self.push(&format!("#p{index}")),
        }
    }

    fn binary(&mut self, operator: Binary, left: &Expression, right: &Expression, width: Option<u32>) {
        let (symbol, level) = symbol_of(operator);
        let (left_width, right_width) = if operator == Binary::Concat {
            (None, None)
        } else if is_shift(operator) {
            (width, None)
        } else {
            self.operand_widths(left, right, width.filter(|_| !operator.is_predicate()))
        };
        let left_level = if level == COMPARISON { level + 1 } else { level };
        self.operand(operator, left, left_width, left_level);
        self.push(&format!(" {symbol} "));
        self.operand(operator, right, right_width, level + 1);
    }

    /// An operand, in parentheses also where only its reader needs them: few know how `&`, `<<` and `+` bind to each other.
    fn operand(&mut self, outer: Binary, operand: &Expression, width: Option<u32>, level: u8) {
        if let (Binary::And | Binary::Or | Binary::Xor, Expression::Constant { value, width: own }) = (outer, operand) {
            self.constant_width(*own, width);
            return self.push(&hexadecimal(value, Some(*own)));
        }
        let inner = if let Expression::Binary { operator, .. } = operand { Some(*operator) } else { None };
        let unclear = inner.is_some_and(|inner| {
            let mixed = inner != outer && (is_bitwise(inner) || is_bitwise(outer));
            mixed || (outer == Binary::LogicalOr && inner == Binary::LogicalAnd)
        });
        self.write(operand, width, if unclear { ATOM } else { level });
    }

    /// The width that the text gives to constants in each of two operands of equal width.
    fn operand_widths(&self, left: &Expression, right: &Expression, width: Option<u32>) -> (Option<u32>, Option<u32>) {
        if self.explicit {
            return (None, None);
        }
        let kind = |expression: &Expression| match expression.type_in(self.printer.program, self.widths) {
            Type::Bits(width) => Some(width),
            Type::Bool => None,
        };
        match (is_anchored(left), is_anchored(right)) {
            (true, true) => (None, None),
            (true, false) => (None, kind(left)),
            (false, true) => (kind(right), None),
            (false, false) if width.is_some() && width == kind(left) => (width, width),
            (false, false) => (None, None),
        }
    }
}

/// Whether the reader of the text knows the expression's type without knowing the width of its constants.
fn is_anchored(expression: &Expression) -> bool {
    match expression {
        Expression::Constant { .. } => false,
        Expression::Unary { operand, .. } => is_anchored(operand),
        Expression::Binary { operator: Binary::Concat, .. } => true,
        Expression::Binary {
            operator: Binary::ShiftLeft | Binary::ShiftRight | Binary::ShiftRightSigned,
            left,
            ..
        } => is_anchored(left),
        Expression::Binary { operator, left, right } => {
            operator.is_predicate() || is_anchored(left) || is_anchored(right)
        }
        Expression::Choose { then, otherwise, .. } => is_anchored(then) || is_anchored(otherwise),
        Expression::Bool(_)
        | Expression::Variable(_)
        | Expression::Field(_)
        | Expression::Valid(_)
        | Expression::Parameter(_)
        | Expression::Intrinsic(_)
        | Expression::Slice { .. }
        | Expression::Extend { .. }
        | Expression::FromBool(_)
        | Expression::VarbitLength(_)
        | Expression::VarbitEqual(_, _) => true,
    }
}

fn is_bitwise(operator: Binary) -> bool {
    is_shift(operator) || matches!(operator, Binary::And | Binary::Or | Binary::Xor | Binary::Concat)
}

fn level_of(expression: &Expression) -> u8 {
    match expression {
        Expression::Binary { operator, .. } => symbol_of(*operator).1,
        Expression::Unary { .. } => UNARY,
        Expression::Choose { .. } => CHOICE,
        Expression::Bool(_)
        | Expression::Constant { .. }
        | Expression::Variable(_)
        | Expression::Field(_)
        | Expression::Valid(_)
        | Expression::Parameter(_)
        | Expression::Intrinsic(_)
        | Expression::Slice { .. }
        | Expression::Extend { .. }
        | Expression::FromBool(_)
        | Expression::VarbitLength(_)
        | Expression::VarbitEqual(_, _) => ATOM,
    }
}

fn unary_symbol(operator: Unary) -> &'static str {
    match operator {
        Unary::Not => "!",
        Unary::Complement => "~",
        Unary::Negate => "-",
    }
}
