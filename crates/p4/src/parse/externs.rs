//! Extern objects and functions, and parameters.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::{Parse, Parser};
use crate::ast::{Attributes, Declaration, DeclarationKind, Direction, Extern, Function, Method, Name, Parameter};

impl Parser<'_> {
    pub(super) fn extern_declaration(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        self.expect("extern")?;
        if self.at_name() && self.at_extern_object() {
            return self.extern_object(start, attributes);
        }
        let return_type = self.parse_type()?;
        let name = self.name()?;
        self.declare_value(&name);
        let function = self.in_scope(|parser| {
            let type_parameters = parser.type_parameters()?;
            Ok(Function { return_type, type_parameters, parameters: parser.parameters()?, body: None })
        })?;
        self.expect_semicolon()?;
        Ok(self.declaration(start, attributes, name, DeclarationKind::Function(function)))
    }

    /// `Name {`, `Name<T> {` or `Name;`
    fn at_extern_object(&self) -> bool {
        let behind_name = self.position + 1;
        let behind =
            if self.token_is(behind_name, "<") { self.skip_type_arguments(behind_name) } else { Some(behind_name) };
        behind.is_some_and(|index| self.token_is(index, "{") || self.token_is(index, ";"))
    }

    fn extern_object(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        let name = self.take_name();
        let object = self.generic(&name, |parser, type_parameters| {
            let announced = parser.accept(";");
            if announced {
                return Ok(Extern { type_parameters, methods: Vec::new(), announced });
            }
            let open = parser.open_brace()?;
            let methods = parser.block_of(open, |parser| parser.method(&name))?;
            Ok(Extern { type_parameters, methods, announced })
        })?;
        Ok(self.declaration(start, attributes, name, DeclarationKind::Extern(object)))
    }

    fn method(&mut self, object: &Name) -> Parse<Method> {
        let start = self.peek().span;
        let attributes = self.attributes()?;
        let is_abstract = self.accept("abstract");
        let is_constructor = self.at_name() && self.at_ahead(1, "(");
        let return_type = if is_constructor { None } else { Some(self.parse_type()?) };
        let name = self.name()?;
        if is_constructor && name.as_str() != object.as_str() {
            let diagnostic = Diagnostic::error("a method needs a return type")
                .label(name.span, "no type before this name")
                .hint(format!("`void` is the type of nothing; a constructor has the name of its object, `{object}`"));
            return Err(self.report(diagnostic));
        }
        let (type_parameters, parameters) =
            self.in_scope(|parser| Ok((parser.type_parameters()?, parser.parameters()?)))?;
        self.expect_semicolon()?;
        let (id, span) = (self.declaration_id(), self.since(start));
        Ok(Method { id, span, attributes, is_abstract, is_constructor, return_type, name, type_parameters, parameters })
    }

    /// `(in T a, out U b = value)`; their names are declared in the scope around.
    pub(super) fn parameters(&mut self) -> Parse<Vec<Parameter>> {
        self.expect("(")?;
        self.strict_list_until(")", Self::parameter)
    }

    fn parameter(&mut self) -> Parse<Parameter> {
        let start = self.peek().span;
        let attributes = self.attributes()?;
        let direction = if self.accept("in") {
            Direction::In
        } else if self.accept("out") {
            Direction::Out
        } else if self.accept("inout") {
            Direction::InOut
        } else {
            Direction::None
        };
        let of_type = self.parse_type()?;
        let name = self.name()?;
        let default = if self.accept("=") { Some(self.expression()?) } else { None };
        self.declare_value(&name);
        let (id, span) = (self.declaration_id(), self.since(start));
        Ok(Parameter { id, span, attributes, direction, of_type, name, default })
    }
}
