//! Parsers of packets: their locals, states and transitions.

use hlir::source::Span;

use super::{Parse, Parser, Place};
use crate::ast::{
    Attributes, Declaration, DeclarationKind, Name, Parameter, ParserBody, SelectCase, State, Transition, ValueSet,
};

/// What is allowed in the body of a parser.
enum Part {
    Local(Declaration),
    State(State),
}

impl Parser<'_> {
    pub(super) fn parser_declaration(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        self.expect("parser")?;
        let name = self.name()?;
        let parser = self.generic(&name, |parser, type_parameters| {
            let parameters = parser.parameters()?;
            let constructor_parameters = parser.constructor_parameters()?;
            let body = parser.parser_body(&constructor_parameters)?;
            Ok(crate::ast::Parser { type_parameters, parameters, constructor_parameters, body })
        })?;
        Ok(self.declaration(start, attributes, name, DeclarationKind::Parser(parser)))
    }

    pub(super) fn constructor_parameters(&mut self) -> Parse<Vec<Parameter>> {
        if self.at("(") { self.parameters() } else { Ok(Vec::new()) }
    }

    /// The body, or `;` where there is none. A parser that takes constructor parameters must have one.
    fn parser_body(&mut self, constructor_parameters: &[Parameter]) -> Parse<Option<ParserBody>> {
        if !self.at("{") && constructor_parameters.is_empty() {
            self.expect_semicolon()?;
            return Ok(None);
        }
        let open = self.open_brace()?;
        let mut body = ParserBody { locals: Vec::new(), states: Vec::new() };
        let parts = self.in_scope(|parser| parser.block_of(open, Self::parser_part))?;
        for part in parts {
            match part {
                Part::Local(local) => {
                    if let Some(state) = body.states.first() {
                        let message = format!("`{}` is declared after a state", local.name);
                        let diagnostic = hlir::diagnostic::Diagnostic::error(message)
                            .kind("syntax")
                            .label(local.name.span, "declarations come before the states")
                            .label(state.name.span, "the first state is here");
                        self.diagnostics.push(diagnostic);
                    }
                    body.locals.push(local);
                }
                Part::State(state) => body.states.push(state),
            }
        }
        if body.states.is_empty() && !self.gave_up {
            let close = self.previous();
            self.report_at("a parser needs at least one state", close, "no state before this");
        }
        Ok(Some(body))
    }

    fn parser_part(&mut self) -> Parse<Part> {
        let start = self.peek().span;
        let attributes = self.attributes()?;
        if self.at("state") {
            return Ok(Part::State(self.state(start, attributes)?));
        }
        if self.at("value_set") {
            return Ok(Part::Local(self.value_set(start, attributes)?));
        }
        if !self.at_local_declaration() {
            return Err(self.expected("a state or a declaration"));
        }
        Ok(Part::Local(self.local_declaration(start, attributes)?))
    }

    /// `value_set<T>(size) name;`
    fn value_set(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        self.expect("value_set")?;
        let open = self.peek().span;
        let mut types = self.type_arguments()?;
        let of_type = match (types.pop(), types.is_empty()) {
            (Some(only), true) => only,
            _ => return Err(self.report_at("a value set has one type", open, "one type belongs here")),
        };
        self.expect("(")?;
        let size = self.expression()?;
        self.expect(")")?;
        let name = self.name()?;
        self.expect_semicolon()?;
        self.declare_value(&name);
        Ok(self.declaration(start, attributes, name, DeclarationKind::ValueSet(ValueSet { of_type, size })))
    }

    fn state(&mut self, start: Span, attributes: Attributes) -> Parse<State> {
        self.expect("state")?;
        let name = self.name()?;
        let open = self.open_brace()?;
        let mut transition = None;
        let statements = self.in_scope(|parser| {
            parser.place = Place::State;
            let parts = parser.block_of(open, |parser| {
                if parser.at("transition") {
                    transition = Some(parser.transition()?);
                    if !parser.at("}") && !parser.at_end() {
                        return Err(parser.expected("`}` after the transition"));
                    }
                    return Ok(None);
                }
                parser.statement_or_declaration().map(Some)
            });
            parser.place = Place::Code;
            Ok(parts?.into_iter().flatten().collect())
        })?;
        Ok(State { id: self.declaration_id(), span: self.since(start), attributes, name, statements, transition })
    }

    fn transition(&mut self) -> Parse<Transition> {
        self.expect("transition")?;
        if !self.at("select") {
            let state = self.name()?;
            self.expect_semicolon()?;
            return Ok(Transition::Direct(state));
        }
        let start = self.advance().span;
        self.expect("(")?;
        let subjects = self.list_until(")", Self::expression)?;
        let open = self.open_brace()?;
        let cases = self.block_of(open, Self::select_case)?;
        Ok(Transition::Select { span: self.since(start), subjects, cases })
    }

    fn select_case(&mut self) -> Parse<SelectCase> {
        let start = self.peek().span;
        let keys = self.keyset()?;
        self.expect(":")?;
        let state: Name = self.name()?;
        self.expect_semicolon()?;
        Ok(SelectCase { span: self.since(start), keys, state })
    }
}
