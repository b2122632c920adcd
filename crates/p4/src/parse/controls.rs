//! Controls: their locals and the block they apply.

use hlir::source::Span;

use super::{Failed, Parse, Parser};
use crate::ast::{Attributes, Control, Declaration, DeclarationKind};

impl Parser<'_> {
    pub(super) fn control_declaration(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        self.expect("control")?;
        let name = self.name()?;
        let control = self.generic(&name, |parser, type_parameters| {
            let parameters = parser.parameters()?;
            let constructor_parameters = parser.constructor_parameters()?;
            let mut control =
                Control { type_parameters, parameters, constructor_parameters, locals: Vec::new(), apply: None };
            if !parser.at("{") && control.constructor_parameters.is_empty() {
                parser.expect_semicolon()?;
                return Ok(control);
            }
            parser.control_body(&mut control)?;
            Ok(control)
        })?;
        Ok(self.declaration(start, attributes, name, DeclarationKind::Control(control)))
    }

    fn control_body(&mut self, control: &mut Control) -> Parse<()> {
        let open = self.open_brace()?;
        self.in_scope(|parser| {
            while !parser.at("apply") {
                if parser.at_end() || parser.at_program_keyword() || parser.at("}") {
                    let failed = parser.missing_apply(open);
                    parser.accept("}");
                    return Err(failed);
                }
                let start = parser.position;
                match parser.control_local() {
                    Ok(local) => control.locals.push(local),
                    Err(Failed) => parser.recover_from(start),
                }
            }
            parser.advance();
            control.apply = Some(parser.block()?);
            parser.close_brace(open)?;
            Ok(())
        })
    }

    fn missing_apply(&mut self, open: Span) -> Failed {
        if !self.at("}") {
            self.report_unclosed(open);
            return Failed;
        }
        let place = self.peek().span;
        self.report_at("a control needs an `apply` block", place, "no `apply { ... }` before this")
    }

    fn control_local(&mut self) -> Parse<Declaration> {
        let start = self.peek().span;
        let attributes = self.attributes()?;
        if self.at("action") {
            return self.action(start, attributes);
        }
        if self.at("table") {
            return self.table(start, attributes);
        }
        if !self.at_local_declaration() {
            return Err(self.expected("a declaration or `apply`"));
        }
        self.local_declaration(start, attributes)
    }
}
