//! Tables: keys, actions, entries, and the properties that are expressions.

use hlir::source::Span;

use super::{Parse, Parser};
use crate::ast::{
    ActionReference, Attributes, Declaration, DeclarationKind, Entry, Expression, ExpressionKind, KeyElement, Property,
    PropertyValue, Table,
};

impl Parser<'_> {
    pub(super) fn table(&mut self, start: Span, attributes: Attributes) -> Parse<Declaration> {
        self.expect("table")?;
        let name = self.name()?;
        self.declare_value(&name);
        let open = self.open_brace()?;
        let properties = self.block_of(open, Self::property)?;
        if properties.is_empty() && !self.gave_up {
            let close = self.previous();
            self.report_at("a table needs at least one property", close, "no property before this");
        }
        Ok(self.declaration(start, attributes, name, DeclarationKind::Table(Table { properties })))
    }

    fn property(&mut self) -> Parse<Property> {
        let start = self.peek().span;
        let attributes = self.attributes()?;
        let is_constant = self.accept("const");
        let name = self.name()?;
        self.expect("=")?;
        let value = match name.as_str() {
            "key" => PropertyValue::Keys(self.elements(Self::key_element)?),
            "actions" => PropertyValue::Actions(self.elements(Self::action_reference)?),
            "entries" => PropertyValue::Entries(self.elements(Self::entry)?),
            _ => {
                let value = self.expression()?;
                self.expect_semicolon()?;
                PropertyValue::Expression(value)
            }
        };
        Ok(Property { span: self.since(start), attributes, is_constant, name, value })
    }

    fn elements<T>(&mut self, element: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let open = self.open_brace()?;
        self.block_of(open, element)
    }

    /// `header.field: exact @name("f");`
    fn key_element(&mut self) -> Parse<KeyElement> {
        let start = self.peek().span;
        let expression = self.expression()?;
        if !self.at(":") {
            return Err(self.expected("`:` and how the key is matched"));
        }
        self.advance();
        let match_kind = self.name()?;
        let annotations = self.annotations()?;
        self.expect_semicolon()?;
        Ok(KeyElement { span: self.since(start), annotations, expression, match_kind })
    }

    fn action_reference(&mut self) -> Parse<ActionReference> {
        let start = self.peek().span;
        let annotations = self.annotations()?;
        let action = self.action_call()?;
        self.expect_semicolon()?;
        Ok(ActionReference { span: self.since(start), annotations, action })
    }

    /// `a`, `.a` or `a(1)`
    fn action_call(&mut self) -> Parse<Expression> {
        let start = self.peek().span;
        let callee = self.path_expression()?;
        if !self.at("(") {
            return Ok(callee);
        }
        let arguments = self.arguments()?;
        let kind = ExpressionKind::Call { callee: Box::new(callee), type_arguments: Vec::new(), arguments };
        self.build(self.since(start), kind)
    }

    /// `const priority = 10: (1, _): a(2) @name("x");`
    fn entry(&mut self) -> Parse<Entry> {
        let start = self.peek().span;
        let is_constant = self.accept("const");
        let priority = if self.at("priority") && self.at_ahead(1, "=") {
            self.advance();
            self.advance();
            let value = self.expression()?;
            self.expect(":")?;
            Some(value)
        } else {
            None
        };
        let keys = self.keyset()?;
        self.expect(":")?;
        let action = self.action_call()?;
        let annotations = self.annotations()?;
        self.expect_semicolon()?;
        Ok(Entry { span: self.since(start), annotations, is_constant, priority, keys, action })
    }
}
