//! Declarations of the program, and those that are allowed in several places.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::{Failed, Parse, Parser};
use crate::ast::{
    Attributes, Declaration, DeclarationKind, ExpressionKind, Function, Instance, Name, Package, Type, TypeParameter,
};

impl Parser<'_> {
    pub(super) fn program(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while !self.at_end() {
            if self.accept(";") {
                continue;
            }
            if self.at("}") {
                let place = self.peek().span;
                self.report_at("unmatched `}`", place, "closes nothing");
                while self.accept("}") {}
                continue;
            }
            let start = self.position;
            match self.program_declaration() {
                Ok(declaration) => declarations.push(declaration),
                Err(Failed) => {
                    // Going on at the keyword that was the mistake itself would find the same mistake again.
                    if self.position == start {
                        self.advance();
                    }
                    self.recover_from(start);
                }
            }
        }
        declarations
    }

    pub(super) fn declaration(
        &mut self,
        start: Span,
        attributes: Attributes,
        name: Name,
        kind: DeclarationKind,
    ) -> Declaration {
        Declaration { id: self.declaration_id(), span: self.since(start), attributes, name, kind }
    }

    fn program_declaration(&mut self) -> Parse<Declaration> {
        let start = self.peek().span;
        let attributes = self.attributes()?;
        self.refuse_old_version()?;
        let token = self.peek();
        match self.text_of(token) {
            "const" => self.constant(start, attributes),
            "extern" => self.extern_declaration(start, attributes),
            "action" => self.action(start, attributes),
            "parser" => self.parser_declaration(start, attributes),
            "control" => self.control_declaration(start, attributes),
            "package" => self.package(start, attributes),
            "struct" | "header" | "header_union" => self.structure_declaration(start, attributes),
            "enum" => self.enumeration(start, attributes),
            "typedef" => self.typedef(start, attributes),
            "type" if !self.at_ahead(1, "<") => self.new_type(start, attributes),
            "error" if self.at_ahead(1, "{") => self.error_declaration(start, attributes),
            "match_kind" if self.at_ahead(1, "{") => self.match_kind_declaration(start, attributes),
            "table" => Err(self.report_at("a table is declared in a control", token.span, "not in any control")),
            "apply" | "state" | "transition" if self.at_ahead(1, "{") => {
                Err(self.expected("a declaration of the program"))
            }
            _ => self.function_or_instance(start, attributes),
        }
    }

    fn function_or_instance(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        if !(self.at_name() || self.at(".") || self.is_type_keyword(self.position)) {
            return Err(self.expected("a declaration"));
        }
        if self.at_assertion() {
            return self.assertion(start, attributes);
        }
        let of_type = self.parse_type()?;
        if self.at("(") {
            return self.instance(start, attributes, of_type);
        }
        let name = self.name()?;
        if self.at("(") || self.at("<") {
            return self.function(start, attributes, of_type, name);
        }
        let diagnostic =
            Diagnostic::error("a variable cannot be declared outside parsers, controls, actions and functions");
        let diagnostic = diagnostic.label(name.span, format!("expected `(` after `{name}`, as for a function"));
        Err(self.report(diagnostic.hint("make it a constant with `const`, or move it to where it is used")))
    }

    /// A call followed by a semicolon: `static_assert(x > 1);`
    fn at_assertion(&self) -> bool {
        self.at_name()
            && self.at_ahead(1, "(")
            && self.skip_balanced(self.position + 1).is_some_and(|behind| self.token_is(behind, ";"))
    }

    fn assertion(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        let path = self.path()?;
        let name = path.name.clone();
        let callee = self.build(name.span, ExpressionKind::Path(path))?;
        let arguments = self.arguments()?;
        let kind = ExpressionKind::Call { callee: Box::new(callee), type_arguments: Vec::new(), arguments };
        let call = self.build(self.since(start), kind)?;
        self.expect_semicolon()?;
        Ok(self.declaration(start, attributes, name, DeclarationKind::Assertion(call)))
    }

    /// `(arguments) name;` or `(arguments) name = { ... };` after a type.
    pub(super) fn instance(&mut self, start: Span, attributes: Attributes, of_type: Type) -> Parse<Declaration> {
        let arguments = self.arguments()?;
        let (name, of_type) = self.sized_name(of_type)?;
        let body = if self.accept("=") { Some(self.in_scope(Self::instance_body)?) } else { None };
        self.expect_semicolon()?;
        self.declare_value(&name);
        let kind = DeclarationKind::Instance(Instance { of_type, arguments, body });
        Ok(self.declaration(start, attributes, name, kind))
    }

    /// The functions that implement abstract methods, and instances they use.
    fn instance_body(&mut self) -> Parse<Vec<Declaration>> {
        let open = self.open_brace()?;
        self.block_of(open, |parser| {
            let start = parser.peek().span;
            let attributes = parser.attributes()?;
            parser.function_or_instance(start, attributes)
        })
    }

    fn function(&mut self, start: Span, attributes: Attributes, return_type: Type, name: Name) -> Parse<Declaration> {
        self.declare_value(&name);
        let function = self.in_scope(|parser| {
            let type_parameters = parser.type_parameters()?;
            let parameters = parser.parameters()?;
            let body = Some(parser.block()?);
            Ok(Function { return_type, type_parameters, parameters, body })
        })?;
        Ok(self.declaration(start, attributes, name, DeclarationKind::Function(function)))
    }

    pub(super) fn action(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        self.expect("action")?;
        self.refuse_returned_type()?;
        let name = self.name()?;
        self.declare_value(&name);
        let (parameters, body) = self.in_scope(|parser| Ok((parser.parameters()?, parser.block()?)))?;
        Ok(self.declaration(start, attributes, name, DeclarationKind::Action { parameters, body }))
    }

    fn package(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        self.expect("package")?;
        let name = self.name()?;
        self.declare_type(&name);
        let package = self.in_scope(|parser| {
            let type_parameters = parser.type_parameters()?;
            Ok(Package { type_parameters, parameters: parser.parameters()? })
        })?;
        self.expect_semicolon()?;
        Ok(self.declaration(start, attributes, name, DeclarationKind::Package(package)))
    }

    /// `typedef T name;`
    fn typedef(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        self.expect("typedef")?;
        let inner_start = self.peek().span;
        let declares = self.at("struct") || self.at("header") || self.at("header_union") || self.at("enum");
        let (target, inline) = if declares {
            let inner_attributes = Attributes::default();
            let inner = if self.at("enum") {
                self.enumeration(inner_start, inner_attributes)?
            } else {
                self.structure_declaration(inner_start, inner_attributes)?
            };
            (Type::named(inner.name.clone()), Some(Box::new(inner)))
        } else {
            (self.parse_type()?, None)
        };
        let name = self.name()?;
        self.expect_semicolon()?;
        self.declare_type(&name);
        Ok(self.declaration(start, attributes, name, DeclarationKind::Typedef { target, inline }))
    }

    /// `type T name;`
    fn new_type(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        self.expect("type")?;
        let target = self.parse_type()?;
        let name = self.name()?;
        self.expect_semicolon()?;
        self.declare_type(&name);
        Ok(self.declaration(start, attributes, name, DeclarationKind::NewType { target }))
    }

    /// Declares a name as a type in the surrounding scope, then parses its parameters and body in one of its own.
    pub(super) fn generic<T>(
        &mut self,
        name: &Name,
        parse: impl FnOnce(&mut Self, Vec<TypeParameter>) -> Parse<T>,
    ) -> Parse<T> {
        self.declare_type(name);
        self.in_scope(|parser| {
            let type_parameters = parser.type_parameters()?;
            parse(parser, type_parameters)
        })
    }
}
