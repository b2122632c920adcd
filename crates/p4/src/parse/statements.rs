//! Statements.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::expressions::Position;
use super::{Parse, Parser, Place};
use crate::ast::{
    Annotation, Attributes, Block, Collection, Constant, Declaration, DeclarationKind, Expression, ExpressionKind, For,
    ForIn, Statement, StatementKind, SwitchCase, SwitchLabel, Variable,
};

impl Parser<'_> {
    /// `{ ... }` with annotations before it.
    pub(super) fn block(&mut self) -> Parse<Block> {
        let start = self.peek().span;
        let annotations = self.annotations()?;
        self.annotated_block(start, annotations)
    }

    fn annotated_block(&mut self, start: Span, annotations: Vec<Annotation>) -> Parse<Block> {
        let open = self.open_brace()?;
        let statements =
            self.nested(|parser| parser.in_scope(|parser| parser.block_of(open, Self::statement_or_declaration)))?;
        Ok(Block { span: self.since(start), annotations, statements })
    }

    pub(super) fn statement_or_declaration(&mut self) -> Parse<Statement> {
        let start = self.peek().span;
        let attributes = self.attributes()?;
        if !self.at_local_declaration() {
            return self.annotated_statement(start, attributes.annotations);
        }
        let declaration = self.local_declaration(start, attributes)?;
        let kind = StatementKind::Declare(Box::new(declaration));
        Ok(Statement { span: self.since(start), annotations: Vec::new(), kind })
    }

    /// A constant, a variable or an instance.
    pub(super) fn local_declaration(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        if self.at("const") {
            return self.constant(start, attributes);
        }
        let of_type = self.parse_type()?;
        if self.at("(") {
            return self.instance(start, attributes, of_type);
        }
        let (name, of_type) = self.sized_name(of_type)?;
        let value = if self.accept("=") { Some(self.expression()?) } else { None };
        self.expect_semicolon()?;
        self.declare_value(&name);
        Ok(self.declaration(start, attributes, name, DeclarationKind::Variable(Variable { of_type, value })))
    }

    pub(super) fn constant(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        self.expect("const")?;
        let of_type = self.parse_type()?;
        let name = self.name()?;
        if !self.at("=") {
            return Err(self.expected("`=` and the value of the constant"));
        }
        self.advance();
        let value = self.expression()?;
        self.expect_semicolon()?;
        self.declare_value(&name);
        Ok(self.declaration(start, attributes, name, DeclarationKind::Constant(Constant { of_type, value })))
    }

    /// A statement that is the branch of another one: no declaration.
    fn statement(&mut self) -> Parse<Statement> {
        let statement = self.nested(Self::statement_or_declaration)?;
        if let StatementKind::Declare(declaration) = &statement.kind {
            let diagnostic = Diagnostic::error("a declaration cannot be a branch of its own")
                .label(declaration.span, "nothing could use what this declares")
                .hint("put it in a block: `{ ... }`");
            return Err(self.report(diagnostic));
        }
        Ok(statement)
    }

    fn annotated_statement(&mut self, start: Span, annotations: Vec<Annotation>) -> Parse<Statement> {
        if self.at("{") {
            let block = self.annotated_block(start, annotations)?;
            return Ok(Statement { span: block.span, annotations: Vec::new(), kind: StatementKind::Block(block) });
        }
        self.refuse_while()?;
        let token = self.peek();
        let kind = match self.text_of(token) {
            ";" => {
                self.advance();
                StatementKind::Empty
            }
            "if" => self.if_statement()?,
            "switch" | "return" | "exit" if self.place == Place::State => {
                let message = format!("`{}` cannot be used in a parser", self.text_of(token));
                return Err(self.report_at(&message, token.span, "a state ends with its transition"));
            }
            "switch" => self.switch_statement()?,
            "for" => self.in_scope(Self::for_statement)?,
            "return" => self.return_statement()?,
            "exit" => self.word_statement(StatementKind::Exit)?,
            "break" => self.word_statement(StatementKind::Break)?,
            "continue" => self.word_statement(StatementKind::Continue)?,
            "else" => {
                return Err(self.report_at("`else` without an `if`", token.span, "no `if` ends just before this"));
            }
            _ => {
                let kind = self.assignment_or_call()?;
                self.expect_semicolon()?;
                kind
            }
        };
        Ok(Statement { span: self.since(start), annotations, kind })
    }

    /// A statement that is one word.
    fn word_statement(&mut self, kind: StatementKind) -> Parse<StatementKind> {
        self.advance();
        self.expect_semicolon()?;
        Ok(kind)
    }

    fn return_statement(&mut self) -> Parse<StatementKind> {
        self.advance();
        let value = if self.at(";") || self.at("}") { None } else { Some(self.expression()?) };
        self.expect_semicolon()?;
        Ok(StatementKind::Return(value))
    }

    fn assignment_or_call(&mut self) -> Parse<StatementKind> {
        self.refuse_prefix()?;
        if !(self.at_name() || self.at(".") || self.at("this") || self.at("error") || self.at("(")) {
            return Err(self.expected("a statement"));
        }
        let target = self.postfix(Position::Statement)?;
        let operator_place = self.peek().span;
        let Some(operator) = self.assignment_operator() else {
            if matches!(target.kind, ExpressionKind::Call { .. }) {
                return Ok(StatementKind::Call(target));
            }
            self.refuse_suffix(&target)?;
            return Err(self.expected("`=` or a call"));
        };
        if !is_assignable(&target) {
            let diagnostic = Diagnostic::error("this cannot be assigned to")
                .label(target.span, "not a variable, field, element or slice")
                .label(operator_place, "assigned here");
            return Err(self.report(diagnostic));
        }
        let value = self.expression()?;
        Ok(StatementKind::Assign { target, operator, value })
    }

    fn if_statement(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        let accepted = Box::new(self.statement()?);
        let rejected = if self.accept("else") { Some(Box::new(self.statement()?)) } else { None };
        Ok(StatementKind::If { condition, accepted, rejected })
    }

    fn switch_statement(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect("(")?;
        let subject = self.expression()?;
        self.expect(")")?;
        let open = self.open_brace()?;
        let cases = self.nested(|parser| parser.block_of(open, Self::switch_case))?;
        Ok(StatementKind::Switch { subject, cases })
    }

    fn switch_case(&mut self) -> Parse<SwitchCase> {
        let start = self.peek().span;
        let label = if self.at("default") {
            SwitchLabel::Default(self.advance().span)
        } else {
            SwitchLabel::Expression(self.expression()?)
        };
        self.expect(":")?;
        let has_body = self.at("{") || self.at("@");
        let body = if has_body { Some(self.block()?) } else { None };
        Ok(SwitchCase { span: self.since(start), label, body })
    }

    fn for_statement(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect("(")?;
        let start = self.peek().span;
        let attributes = self.attributes()?;
        if self.at_local_declaration()
            && self.skip_type(self.position).is_some_and(|name| self.token_is(name + 1, "in"))
        {
            return self.for_in(start, attributes);
        }
        let mut initial = Vec::new();
        if !self.at(";") {
            initial.push(self.for_initial(start, attributes)?);
        }
        while self.accept(",") {
            let start = self.peek().span;
            let attributes = self.attributes()?;
            initial.push(self.for_initial(start, attributes)?);
        }
        self.expect(";")?;
        let condition = self.expression()?;
        self.expect(";")?;
        let update = self.strict_list_until(")", |parser| {
            let start = parser.peek().span;
            let annotations = parser.annotations()?;
            let kind = parser.assignment_or_call()?;
            Ok(Statement { span: parser.since(start), annotations, kind })
        })?;
        let body = self.statement()?;
        Ok(StatementKind::For(Box::new(For { initial, condition, update, body })))
    }

    /// A declaration of a variable, an assignment or a call, without its semicolon.
    fn for_initial(&mut self, start: Span, attributes: Attributes) -> Parse<Statement> {
        if !self.at_local_declaration() {
            let kind = self.assignment_or_call()?;
            return Ok(Statement { span: self.since(start), annotations: attributes.annotations, kind });
        }
        let of_type = self.parse_type()?;
        let name = self.name()?;
        let value = if self.accept("=") { Some(self.expression()?) } else { None };
        self.declare_value(&name);
        let kind = DeclarationKind::Variable(Variable { of_type, value });
        let declaration = self.declaration(start, attributes, name, kind);
        let kind = StatementKind::Declare(Box::new(declaration));
        Ok(Statement { span: self.since(start), annotations: Vec::new(), kind })
    }

    fn for_in(&mut self, start: Span, attributes: Attributes) -> Parse<StatementKind> {
        let of_type = self.parse_type()?;
        let name = self.name()?;
        let kind = DeclarationKind::Variable(Variable { of_type, value: None });
        let variable = self.declaration(start, attributes, name, kind);
        self.expect("in")?;
        let low = self.expression()?;
        let collection = if self.accept("..") {
            Collection::Range { low, high: self.expression()? }
        } else {
            Collection::Expression(low)
        };
        self.expect(")")?;
        self.declare_value(&variable.name);
        let body = self.statement()?;
        Ok(StatementKind::ForIn(Box::new(ForIn { variable, collection, body })))
    }
}

/// Is this the shape of something that has a place to store to? Whether it may be written is for the checker.
fn is_assignable(target: &Expression) -> bool {
    match &target.kind {
        ExpressionKind::Path(_) | ExpressionKind::This => true,
        ExpressionKind::Member { base, .. }
        | ExpressionKind::Index { base, .. }
        | ExpressionKind::Slice { base, .. }
        | ExpressionKind::PlusSlice { base, .. } => is_assignable(base),
        ExpressionKind::Bool(_)
        | ExpressionKind::Integer(_)
        | ExpressionKind::String(_)
        | ExpressionKind::Type(_)
        | ExpressionKind::List { .. }
        | ExpressionKind::Structure { .. }
        | ExpressionKind::Invalid
        | ExpressionKind::DefaultValue
        | ExpressionKind::Unary { .. }
        | ExpressionKind::Binary { .. }
        | ExpressionKind::Conditional { .. }
        | ExpressionKind::Cast { .. }
        | ExpressionKind::Call { .. }
        | ExpressionKind::Mask { .. }
        | ExpressionKind::Range { .. }
        | ExpressionKind::DontCare
        | ExpressionKind::Default
        | ExpressionKind::Erroneous => false,
    }
}
