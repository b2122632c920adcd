//! Expressions below binary operators: prefixes, casts, members, calls, lists and what everything is made of.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::{Angles, Failed, Parse, Parser};
use crate::ast::{Argument, Expression, ExpressionKind, NamedExpression, Path, Type, TypeKind, UnaryOperator};
use crate::lex::{self, TokenKind};

/// The place of something with calls and members after it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// At the beginning of a statement, where nothing is compared: a `<` begins type arguments.
    Statement,
    Operand,
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parse<Expression> {
        self.nested(|parser| {
            let condition = parser.binary(0)?;
            if !parser.accept("?") {
                return Ok(condition);
            }
            let accepted = Box::new(parser.expression()?);
            parser.expect(":")?;
            let rejected = Box::new(parser.expression()?);
            let span = condition.span.to(rejected.span);
            parser.build(span, ExpressionKind::Conditional { condition: Box::new(condition), accepted, rejected })
        })
    }

    pub(super) fn unary(&mut self) -> Parse<Expression> {
        let operator = match self.peek().kind {
            TokenKind::Fixed("-") => UnaryOperator::Negate,
            TokenKind::Fixed("+") => UnaryOperator::Plus,
            TokenKind::Fixed("~") => UnaryOperator::Complement,
            TokenKind::Fixed("!") => UnaryOperator::Not,
            TokenKind::Fixed("(") if self.skip_cast(self.position).is_some() => return self.cast(),
            TokenKind::Fixed(_)
            | TokenKind::Identifier
            | TokenKind::Integer
            | TokenKind::String
            | TokenKind::Pragma
            | TokenKind::EndPragma
            | TokenKind::Unknown
            | TokenKind::End => return self.postfix(Position::Operand),
        };
        let start = self.advance().span;
        let operand = Box::new(self.nested(Self::unary)?);
        self.build(self.since(start), ExpressionKind::Unary { operator, operand })
    }

    fn cast(&mut self) -> Parse<Expression> {
        let start = self.expect("(")?;
        let target = Box::new(self.parse_type()?);
        self.expect(")")?;
        let operand = Box::new(self.nested(Self::unary)?);
        self.build(self.since(start), ExpressionKind::Cast { target, operand })
    }

    /// Something and all the members, indices and calls behind it.
    pub(super) fn postfix(&mut self, position: Position) -> Parse<Expression> {
        let start = self.peek().span;
        let mut base = self.primary()?;
        if let Some(number) = self.refuse_address(&base)? {
            return Ok(number);
        }
        loop {
            base = if self.accept(".") {
                let member = self.name()?;
                self.build(self.since(start), ExpressionKind::Member { base: Box::new(base), member })?
            } else if self.at("[") {
                self.with_angles(Angles::Operators, |parser| parser.index(start, base))?
            } else if self.at("(") {
                self.call(start, base, Vec::new())?
            } else if self.at("<") {
                match self.with_type_arguments(start, base, position)? {
                    Ok(specialized) => specialized,
                    Err(compared) => return self.value_not_type(compared),
                }
            } else {
                return self.value_not_type(base);
            };
        }
    }

    /// A name that is a type has no value unless it is called, or something of it is used.
    fn value_not_type(&mut self, expression: Expression) -> Parse<Expression> {
        let ExpressionKind::Path(path) = &expression.kind else {
            return Ok(expression);
        };
        if !self.is_type(path) {
            return Ok(expression);
        }
        let message = format!("`{}` is a type, a value is expected here", path.name);
        Err(self.report_at(&message, expression.span, "this is a type"))
    }

    /// `base[index]`, `base[high:low]`, `base[low+:width]`
    fn index(&mut self, start: Span, base: Expression) -> Parse<Expression> {
        self.expect("[")?;
        let first = Box::new(self.expression()?);
        let base = Box::new(base);
        let kind = if self.accept(":") {
            ExpressionKind::Slice { base, high: first, low: Box::new(self.expression()?) }
        } else if self.accept("+:") {
            ExpressionKind::PlusSlice { base, low: first, width: Box::new(self.expression()?) }
        } else {
            ExpressionKind::Index { base, index: first }
        };
        self.expect("]")?;
        self.build(self.since(start), kind)
    }

    fn call(&mut self, start: Span, callee: Expression, type_arguments: Vec<Type>) -> Parse<Expression> {
        if matches!(callee.kind, ExpressionKind::Call { .. }) {
            let place = self.peek().span;
            return Err(self.report_at("the result of a call cannot be called", place, "a second call"));
        }
        let arguments = self.with_angles(Angles::Operators, Self::arguments)?;
        let kind = ExpressionKind::Call { callee: Box::new(callee), type_arguments, arguments };
        self.build(self.since(start), kind)
    }

    /// A call with type arguments, or a specialized type something is taken of; else the operand of a comparison, as it was.
    fn with_type_arguments(
        &mut self,
        start: Span,
        base: Expression,
        position: Position,
    ) -> Parse<Result<Expression, Expression>> {
        let mut type_path = None;
        if let ExpressionKind::Path(path) = &base.kind
            && (self.is_type(path) || position == Position::Statement)
        {
            type_path = Some(path.clone());
        }
        let certain = type_path.is_some() || position == Position::Statement;
        if self.skip_call_type_arguments(certain).is_none() {
            return Ok(Err(base));
        }
        let arguments = self.type_arguments()?;
        let expression = match type_path {
            Some(base) if self.at(".") => self.specialized(start, base, arguments)?,
            Some(_) | None => self.call(start, base, arguments)?,
        };
        Ok(Ok(expression))
    }

    fn specialized(&mut self, start: Span, base: Path, arguments: Vec<Type>) -> Parse<Expression> {
        let span = self.since(start);
        let of_type = Type { span, kind: TypeKind::Specialized { base, arguments } };
        self.build(span, ExpressionKind::Type(Box::new(of_type)))
    }

    /// `(a, name = b, _)`
    pub(super) fn arguments(&mut self) -> Parse<Vec<Argument>> {
        self.expect("(")?;
        self.strict_list_until(")", |parser| {
            let start = parser.peek().span;
            let named = parser.at_name() && parser.at_ahead(1, "=");
            let name = if named { Some(parser.take_name()) } else { None };
            if named {
                parser.advance();
            }
            let value = if parser.at("_") { parser.dont_care()? } else { parser.expression()? };
            Ok(Argument { span: parser.since(start), name, value })
        })
    }

    pub(super) fn dont_care(&mut self) -> Parse<Expression> {
        let span = self.expect("_")?;
        self.build(span, ExpressionKind::DontCare)
    }

    pub(super) fn primary(&mut self) -> Parse<Expression> {
        let token = self.peek();
        match token.kind {
            TokenKind::Identifier => self.path_expression(),
            TokenKind::Integer => self.integer(),
            TokenKind::String => {
                let text = lex::string(self.text_of(token));
                self.advance();
                self.build(token.span, ExpressionKind::String(text.into()))
            }
            TokenKind::Fixed(text) => self.fixed_primary(text),
            TokenKind::Pragma | TokenKind::EndPragma | TokenKind::Unknown | TokenKind::End => {
                Err(self.expected("an expression"))
            }
        }
    }

    fn fixed_primary(&mut self, text: &'static str) -> Parse<Expression> {
        let kind = match text {
            "." => return self.path_expression(),
            "(" => return self.with_angles(Angles::Operators, Self::parenthesized),
            "{" => {
                let parsed = self.with_angles(Angles::Operators, Self::braces);
                return parsed.inspect_err(|_| self.skip_rest_of_braces());
            }
            "true" => ExpressionKind::Bool(true),
            "false" => ExpressionKind::Bool(false),
            "this" => ExpressionKind::This,
            "{#}" => ExpressionKind::Invalid,
            "..." => ExpressionKind::DefaultValue,
            "error" => {
                let span = self.peek().span;
                if !self.at_ahead(1, ".") {
                    return Err(self.type_is_no_value());
                }
                ExpressionKind::Type(Box::new(Type { span, kind: TypeKind::Error }))
            }
            _ if self.is_type_keyword(self.position) => return Err(self.type_is_no_value()),
            _ => return Err(self.expected("an expression")),
        };
        let span = self.advance().span;
        self.build(span, kind)
    }

    fn type_is_no_value(&mut self) -> Failed {
        let token = self.peek();
        let text = self.text_of(token).to_string();
        let diagnostic = Diagnostic::error(format!("expected an expression, found the type `{text}`"));
        let diagnostic = diagnostic.label(token.span, "expected an expression");
        self.report(diagnostic.hint("a cast has its type in parentheses: `(bit<8>) x`"))
    }

    pub(super) fn path_expression(&mut self) -> Parse<Expression> {
        let start = self.peek().span;
        let path = self.path()?;
        self.build(self.since(start), ExpressionKind::Path(path))
    }

    fn integer(&mut self) -> Parse<Expression> {
        let token = self.peek();
        let kind = match lex::integer(self.text_of(token)) {
            Ok(literal) => ExpressionKind::Integer(literal),
            Err(reason) => {
                self.report_at("malformed number", token.span, &reason);
                ExpressionKind::Erroneous
            }
        };
        self.advance();
        self.build(token.span, kind)
    }

    fn parenthesized(&mut self) -> Parse<Expression> {
        let start = self.expect("(")?;
        let mut inner = self.expression()?;
        self.expect(")")?;
        inner.span = self.since(start);
        Ok(inner)
    }

    /// `{ a, b }`, `{ x = a, y = b }`, both possibly ending in `...`
    fn braces(&mut self) -> Parse<Expression> {
        let start = self.expect("{")?;
        if self.at_name() && self.at_ahead(1, "=") {
            return self.structure(start);
        }
        let mut elements = Vec::new();
        let mut defaulted = false;
        while !self.at("}") {
            defaulted = self.accept_final_dots();
            if !defaulted {
                elements.push(self.expression()?);
            }
            if !self.next_element("}")? {
                break;
            }
        }
        self.expect("}")?;
        self.build(self.since(start), ExpressionKind::List { elements, defaulted })
    }

    fn structure(&mut self, start: Span) -> Parse<Expression> {
        let mut fields = Vec::new();
        let mut defaulted = false;
        while !self.at("}") {
            defaulted = self.accept_final_dots();
            if !defaulted {
                fields.push(self.named_expression()?);
            }
            if !self.next_element("}")? {
                break;
            }
        }
        self.expect("}")?;
        self.build(self.since(start), ExpressionKind::Structure { fields, defaulted })
    }

    /// `...` as the last element of a list.
    fn accept_final_dots(&mut self) -> bool {
        let last = self.at_ahead(1, "}") || (self.at_ahead(1, ",") && self.at_ahead(2, "}"));
        last && self.accept("...")
    }

    /// Takes the comma between elements; returns whether another element may follow.
    fn next_element(&mut self, close: &str) -> Parse<bool> {
        if self.accept(",") {
            return Ok(true);
        }
        if self.at(close) { Ok(false) } else { Err(self.expected(&format!("`,` or `{close}`"))) }
    }

    pub(super) fn named_expression(&mut self) -> Parse<NamedExpression> {
        let name = self.name()?;
        self.expect("=")?;
        Ok(NamedExpression { name, value: self.expression()? })
    }
}
