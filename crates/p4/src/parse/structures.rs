//! Structs, headers, header unions, enumerations, errors and match kinds.

use hlir::source::Span;

use super::{Parse, Parser};
use crate::ast::{
    Attributes, Declaration, DeclarationKind, Enumeration, Field, Member, Name, Structure, StructureKind,
};

impl Parser<'_> {
    pub(super) fn structure_declaration(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        let kind = match self.text_of(self.peek()) {
            "header" => StructureKind::Header,
            "header_union" => StructureKind::HeaderUnion,
            _ => StructureKind::Struct,
        };
        self.advance();
        let name = self.name()?;
        let structure = self.generic(&name, |parser, type_parameters| {
            let open = parser.open_brace()?;
            let fields = parser.block_of(open, Self::field)?;
            Ok(Structure { kind, type_parameters, fields })
        })?;
        Ok(self.declaration(start, attributes, name, DeclarationKind::Structure(structure)))
    }

    fn field(&mut self) -> Parse<Field> {
        let start = self.peek().span;
        let attributes = self.attributes()?;
        let of_type = self.parse_type()?;
        let (name, of_type) = self.sized_name(of_type)?;
        self.expect_semicolon()?;
        Ok(Field { id: self.declaration_id(), span: self.since(start), attributes, of_type, name })
    }

    pub(super) fn enumeration(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        self.expect("enum")?;
        let plain = self.at_name() && self.at_ahead(1, "{");
        let underlying = if plain { None } else { Some(self.parse_type()?) };
        let name = self.name()?;
        self.declare_type(&name);
        let members = self.members()?;
        let kind = DeclarationKind::Enumeration(Enumeration { underlying, members });
        Ok(self.declaration(start, attributes, name, kind))
    }

    pub(super) fn error_declaration(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        let name = self.take_name();
        let members = self.members()?;
        // Alone among the lists of names, this one does not allow a comma at its end.
        let last = self.token(self.position.saturating_sub(2));
        if !members.is_empty() && self.text_of(last) == "," {
            self.report_superfluous_comma(last.span);
        }
        Ok(self.declaration(start, attributes, name, DeclarationKind::Error(members)))
    }

    pub(super) fn match_kind_declaration(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        let name: Name = self.take_name();
        let members = self.members()?;
        Ok(self.declaration(start, attributes, name, DeclarationKind::MatchKind(members)))
    }

    /// `{ A, B = 2 }`
    fn members(&mut self) -> Parse<Vec<Member>> {
        self.open_brace()?;
        let members = self.list_until("}", |parser| {
            let start = parser.peek().span;
            let attributes = parser.attributes()?;
            let name = parser.name()?;
            let value = if parser.accept("=") { Some(parser.expression()?) } else { None };
            Ok(Member { id: parser.declaration_id(), span: parser.since(start), attributes, name, value })
        })?;
        if members.is_empty() {
            let close = self.previous();
            self.report_at("expected at least one name", close, "nothing is declared here");
        }
        Ok(members)
    }
}
