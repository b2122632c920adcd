//! Expressions and types as text: for messages, for annotations that are passed on, and for tests of the parser.
//!
//! Operands that are made of operators are put in parentheses, so that a reader need not know the precedences.

use std::fmt::{self, Display, Formatter, Write};

use super::{Argument, Expression, ExpressionKind, Integer, IntegerBase, NamedExpression, Path, Type, TypeKind};

impl Display for Expression {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExpressionKind::Bool(value) => write!(out, "{value}"),
            ExpressionKind::Integer(literal) => write!(out, "{literal}"),
            ExpressionKind::String(text) => quoted(text, out),
            ExpressionKind::Path(path) => write!(out, "{path}"),
            ExpressionKind::This => out.write_str("this"),
            ExpressionKind::Type(of_type) => write!(out, "{of_type}"),
            ExpressionKind::List { elements, defaulted } => braces(elements, *defaulted, out),
            ExpressionKind::Structure { fields, defaulted } => braces(fields, *defaulted, out),
            ExpressionKind::Invalid => out.write_str("{#}"),
            ExpressionKind::DefaultValue => out.write_str("..."),
            ExpressionKind::Unary { operator, operand } => write!(out, "{}{}", operator.symbol(), Operand(operand)),
            ExpressionKind::Binary { operator, left, right } => {
                write!(out, "{} {} {}", Operand(left), operator.symbol(), Operand(right))
            }
            ExpressionKind::Conditional { condition, accepted, rejected } => {
                write!(out, "{} ? {} : {}", Operand(condition), Operand(accepted), Operand(rejected))
            }
            ExpressionKind::Cast { target, operand } => write!(out, "({target}) {}", Operand(operand)),
            ExpressionKind::Member { base, member } => write!(out, "{}.{member}", Operand(base)),
            ExpressionKind::Index { base, index } => write!(out, "{}[{index}]", Operand(base)),
            ExpressionKind::Slice { base, high, low } => write!(out, "{}[{high}:{low}]", Operand(base)),
            ExpressionKind::PlusSlice { base, low, width } => write!(out, "{}[{low}+:{width}]", Operand(base)),
            ExpressionKind::Call { callee, type_arguments, arguments } => {
                write!(out, "{}", Operand(callee))?;
                if !type_arguments.is_empty() {
                    enclosed("<", type_arguments, ">", out)?;
                }
                enclosed("(", arguments, ")", out)
            }
            ExpressionKind::Mask { value, mask } => write!(out, "{} &&& {}", Operand(value), Operand(mask)),
            ExpressionKind::Range { low, high } => write!(out, "{} .. {}", Operand(low), Operand(high)),
            ExpressionKind::DontCare => out.write_str("_"),
            ExpressionKind::Default => out.write_str("default"),
            ExpressionKind::Erroneous => out.write_str("<error>"),
        }
    }
}

/// An expression inside another one.
struct Operand<'a>(&'a Expression);

impl Display for Operand<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let compound = matches!(
            self.0.kind,
            ExpressionKind::Unary { .. }
                | ExpressionKind::Binary { .. }
                | ExpressionKind::Conditional { .. }
                | ExpressionKind::Cast { .. }
        );
        if compound { write!(out, "({})", self.0) } else { write!(out, "{}", self.0) }
    }
}

impl Display for Type {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TypeKind::Void => out.write_str("void"),
            TypeKind::Bool => out.write_str("bool"),
            TypeKind::Error => out.write_str("error"),
            TypeKind::MatchKind => out.write_str("match_kind"),
            TypeKind::String => out.write_str("string"),
            TypeKind::Integer => out.write_str("int"),
            TypeKind::Bit(None) => out.write_str("bit"),
            TypeKind::Bit(Some(width)) => write!(out, "bit<{}>", Operand(width)),
            TypeKind::SignedBit(width) => write!(out, "int<{}>", Operand(width)),
            TypeKind::Varbit(width) => write!(out, "varbit<{}>", Operand(width)),
            TypeKind::Tuple(types) => {
                out.write_str("tuple")?;
                enclosed("<", types, ">", out)
            }
            TypeKind::List(element) => write!(out, "list<{element}>"),
            TypeKind::Named(path) => write!(out, "{path}"),
            TypeKind::Specialized { base, arguments } => {
                write!(out, "{base}")?;
                enclosed("<", arguments, ">", out)
            }
            TypeKind::Array { element, size } => write!(out, "{element}[{size}]"),
            TypeKind::DontCare => out.write_str("_"),
        }
    }
}

impl Display for Integer {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if let Some(width) = self.width {
            write!(out, "{width}{}", if self.signed { "s" } else { "w" })?;
        }
        match self.base {
            IntegerBase::Binary => write!(out, "{:#b}", self.value),
            IntegerBase::Octal => write!(out, "{:#o}", self.value),
            IntegerBase::Decimal => write!(out, "{}", self.value),
            IntegerBase::Hexadecimal => write!(out, "{:#X}", self.value),
        }
    }
}

impl Display for Path {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.absolute {
            out.write_char('.')?;
        }
        write!(out, "{}", self.name)
    }
}

impl Display for NamedExpression {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} = {}", self.name, self.value)
    }
}

impl Display for Argument {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(out, "{name} = ")?;
        }
        write!(out, "{}", self.value)
    }
}

fn quoted(text: &str, out: &mut Formatter<'_>) -> fmt::Result {
    out.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            character => out.write_char(character)?,
        }
    }
    out.write_char('"')
}

fn enclosed<T: Display>(open: &str, elements: &[T], close: &str, out: &mut Formatter<'_>) -> fmt::Result {
    out.write_str(open)?;
    separated(elements, out)?;
    out.write_str(close)
}

fn separated<T: Display>(elements: &[T], out: &mut Formatter<'_>) -> fmt::Result {
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.write_str(", ")?;
        }
        write!(out, "{element}")?;
    }
    Ok(())
}

fn braces<T: Display>(elements: &[T], defaulted: bool, out: &mut Formatter<'_>) -> fmt::Result {
    let dots = match (defaulted, elements.is_empty()) {
        (false, _) => "",
        (true, true) => "...",
        (true, false) => ", ...",
    };
    if elements.is_empty() {
        return write!(out, "{{{dots}}}");
    }
    out.write_str("{ ")?;
    separated(elements, out)?;
    write!(out, "{dots} }}")
}
