//! What HLIR keeps of the source beside its meaning: places, annotations, documentation.

use hlir::notes::{Annotation as Note, AnnotationBody as NoteBody, AnnotationValue as NoteValue};
use hlir::source::Span;
use hlir::{Notes, Origin};

use super::Lowering;
use crate::ast::{Annotation, AnnotationBody, Attributes, DeclarationId, Expression, ExpressionKind, KeyValue};
use crate::check::Node;
use crate::evaluate::Value;

impl<'a> Lowering<'a> {
    pub fn origin(&self, span: Span) -> Option<Origin> {
        if span.is_none() {
            return None;
        }
        let start = self.sources.locate(span.start);
        let end = self.sources.locate(span.end);
        let same_file = end.file == start.file;
        Some(Origin {
            file: start.file.to_string(),
            line: start.line,
            column: start.column,
            end_line: if same_file { end.line } else { start.line },
            end_column: if same_file { end.column } else { start.column + 1 },
        })
    }

    /// `_41`: what distinguishes nodes of one kind.
    pub fn line_of(&self, span: Span) -> String {
        if span.is_none() { String::new() } else { format!("_{}", self.sources.locate(span.start).line) }
    }

    pub fn notes(&self, span: Span, attributes: &Attributes) -> Notes {
        Notes {
            origin: self.origin(span),
            annotations: self.annotations(&attributes.annotations),
            docs: attributes.documentation.as_deref().unwrap_or("").to_string(),
        }
    }

    pub fn plain_notes(&self, span: Span) -> Notes {
        Notes { origin: self.origin(span), ..Notes::default() }
    }

    pub fn annotations(&self, annotations: &[Annotation]) -> Vec<Note> {
        annotations.iter().map(|annotation| self.annotation(annotation)).collect()
    }

    fn annotation(&self, annotation: &Annotation) -> Note {
        let body = match &annotation.body {
            AnnotationBody::Empty => NoteBody::None,
            AnnotationBody::Unstructured { text, .. } => NoteBody::Text(text.to_string()),
            AnnotationBody::Expressions(values) => {
                NoteBody::Values(values.iter().map(|value| self.annotation_value(value)).collect())
            }
            AnnotationBody::Pairs(pairs) => {
                let pair = |pair: &KeyValue| (pair.key.to_string(), self.annotation_value(&pair.value));
                NoteBody::Pairs(pairs.iter().map(pair).collect())
            }
        };
        Note { name: annotation.name.to_string(), body }
    }

    /// The values of a structured annotation; what is no constant is kept as it was written.
    fn annotation_value(&self, expression: &Expression) -> NoteValue {
        match (self.checked.constant(expression), &expression.kind) {
            (Some(Value::Integer(number)), _) => NoteValue::Number(number.clone()),
            (Some(Value::Bool(value)), _) => NoteValue::Bool(*value),
            (Some(Value::String(text)), _) | (_, ExpressionKind::String(text)) => NoteValue::Text(text.to_string()),
            _ => NoteValue::Text(self.sources.snippet(expression.span).to_string()),
        }
    }

    pub fn attributes_of(&self, id: DeclarationId) -> Option<&'a Attributes> {
        Some(match self.checked.node(id) {
            Node::Declaration(declaration) => &declaration.attributes,
            Node::Field { field, .. } => &field.attributes,
            Node::Member { member, .. } => &member.attributes,
            Node::Method { method, .. } => &method.attributes,
            Node::Parameter { parameter, .. } => &parameter.attributes,
            Node::State { state, .. } => &state.attributes,
            Node::TypeParameter { .. } => return None,
        })
    }

    pub fn notes_of(&self, id: DeclarationId) -> Notes {
        let span = self.checked.node(id).span();
        self.attributes_of(id).map_or_else(Notes::default, |attributes| self.notes(span, attributes))
    }

    /// The name that the control plane knows a declaration by, without what it is declared in.
    pub fn external_name(&self, id: DeclarationId) -> String {
        let written = self.checked.node(id).name().to_string();
        let attributes = self.attributes_of(id);
        attributes.and_then(|attributes| name_annotation(&attributes.annotations)).unwrap_or(written)
    }

    /// `name` inside `prefix`; one that begins with a dot has no prefix.
    pub fn qualified(prefix: &str, name: &str) -> String {
        match name.strip_prefix('.') {
            Some(absolute) => absolute.to_string(),
            None if prefix.is_empty() => name.to_string(),
            None => format!("{prefix}.{name}"),
        }
    }
}

/// The name in `@name("x")`; of several the first counts, as p4c has it.
pub fn name_annotation(annotations: &[Annotation]) -> Option<String> {
    string_annotation(annotations, "name")
}

pub fn string_annotation(annotations: &[Annotation], name: &str) -> Option<String> {
    annotations.iter().find(|annotation| annotation.name.as_str() == name)?.string()
}
