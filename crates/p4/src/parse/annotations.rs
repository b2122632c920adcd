//! Annotations. The body in parentheses is any balanced text; it is also tried as expressions, quietly.

use std::sync::Arc;

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::{Failed, Parse, Parser};
use crate::ast::{Annotation, AnnotationBody, AnnotationToken, Expression, ExpressionKind, KeyValue};
use crate::lex::TokenKind;

impl Parser<'_> {
    pub(super) fn annotations(&mut self) -> Parse<Vec<Annotation>> {
        let mut annotations = Vec::new();
        loop {
            let annotation = if self.at("@") {
                self.annotation()?
            } else if self.peek().kind == TokenKind::Pragma {
                self.pragma()?
            } else {
                return Ok(annotations);
            };
            self.check_shape(&annotation);
            annotations.push(annotation);
        }
    }

    fn annotation(&mut self) -> Parse<Annotation> {
        let start = self.expect("@")?;
        let name = self.name()?;
        let body = if self.at("(") {
            let open = self.position;
            self.skip_body(open)?;
            self.unstructured(open + 1, self.position - 1)
        } else if self.accept("[") {
            self.structured()?
        } else {
            AnnotationBody::Empty
        };
        Ok(Annotation { span: self.since(start), name, body })
    }

    /// `@pragma name anything` up to the end of the line.
    fn pragma(&mut self) -> Parse<Annotation> {
        let start = self.advance().span;
        let name = self.name()?;
        let first = self.position;
        while !matches!(self.peek().kind, TokenKind::EndPragma | TokenKind::End) {
            self.advance();
        }
        let end = self.position;
        self.advance();
        let span = start.to(self.token(end - 1).span);
        let body = if first == end { AnnotationBody::Empty } else { self.unstructured(first, end) };
        Ok(Annotation { span, name, body })
    }

    /// Moves behind the parenthesis that closes the one at `open`; only parentheses need to be balanced.
    fn skip_body(&mut self, open: usize) -> Parse<()> {
        let mut nesting = 0;
        while !self.at_end() {
            if self.at("(") {
                nesting += 1;
            } else if self.at(")") {
                nesting -= 1;
            }
            self.advance();
            if nesting == 0 {
                return Ok(());
            }
        }
        let place = self.token(open).span;
        self.position = open;
        let failed = self.report_at("this annotation never ends", place, "no `)` for this `(`");
        self.position = open + 1;
        Err(failed)
    }

    /// The body made of the tokens from `first` up to `end`.
    fn unstructured(&mut self, first: usize, end: usize) -> AnnotationBody {
        let body: Vec<_> = (first..end).map(|index| self.token(index)).collect();
        let tokens: Vec<AnnotationToken> =
            body.iter().map(|token| AnnotationToken { text: self.text_of(*token).into(), span: token.span }).collect();
        let text: Arc<str> = match (body.first(), body.last()) {
            (Some(first), Some(last)) => {
                let whole = first.span.to(last.span);
                self.text[whole.start as usize..whole.end as usize].into()
            }
            _ => "".into(),
        };
        let expressions = self.quietly(first, end, Self::annotation_value);
        let pairs = match expressions {
            Some(_) => None,
            None => self.quietly(first, end, Self::key_value),
        };
        AnnotationBody::Unstructured { text, tokens, expressions, pairs }
    }

    /// Reads the tokens from `first` up to `end` as a list, or nothing if they are not: that is no mistake.
    fn quietly<T>(
        &mut self,
        first: usize,
        end: usize,
        mut element: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Option<Vec<T>> {
        let (position, reported, gave_up) = (self.position, self.last_reported, self.gave_up);
        let (diagnostics, expressions) = (self.diagnostics.len(), self.heights.len());
        let depth = self.depth;
        self.position = first;
        let mut elements = Vec::new();
        let mut understood = true;
        while understood && self.position < end {
            match element(self) {
                Ok(parsed) => elements.push(parsed),
                Err(Failed) => understood = false,
            }
            understood &= self.position == end || (self.accept(",") && self.position < end);
        }
        understood &= self.position == end && self.diagnostics.len() == diagnostics;
        self.diagnostics.truncate(diagnostics);
        if !understood {
            self.heights.truncate(expressions);
        }
        (self.position, self.last_reported, self.gave_up, self.depth) = (position, reported, gave_up, depth);
        understood.then_some(elements)
    }

    /// An expression, or a type that is none.
    fn annotation_value(&mut self) -> Parse<Expression> {
        let behind_type = if self.is_type_keyword(self.position) || self.names_type(self.position) {
            self.skip_type(self.position)
        } else {
            None
        };
        let alone = behind_type.is_some_and(|index| self.token_is(index, ",") || self.token_is(index, ")"));
        if !alone {
            return self.expression();
        }
        let of_type = self.parse_type()?;
        self.build(of_type.span, ExpressionKind::Type(Box::new(of_type)))
    }

    fn key_value(&mut self) -> Parse<KeyValue> {
        let pair = self.named_expression()?;
        Ok(KeyValue { key: pair.name, value: pair.value })
    }

    /// `[1, 2]` or `[key = value]`, but no mixture; the `[` has been taken.
    fn structured(&mut self) -> Parse<AnnotationBody> {
        let is_pair = |parser: &Self| parser.at_name() && parser.at_ahead(1, "=");
        if !is_pair(self) {
            let expressions = self.list_until("]", |parser| {
                if is_pair(parser) { Err(parser.mixed_annotation(parser.peek().span)) } else { parser.expression() }
            })?;
            return Ok(AnnotationBody::Expressions(expressions));
        }
        let pairs = self.list_until("]", |parser| {
            if is_pair(parser) { parser.key_value() } else { Err(parser.mixed_annotation(parser.peek().span)) }
        })?;
        Ok(AnnotationBody::Pairs(pairs))
    }

    fn mixed_annotation(&mut self, place: Span) -> Failed {
        let diagnostic = Diagnostic::error("values and `key = value` pairs mixed in one annotation");
        self.report(diagnostic.label(place, "of the other sort").hint("use either values or pairs"))
    }
}
