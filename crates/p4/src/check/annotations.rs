//! Annotations that the language gives a form to.
//!
//! Most are free; a few have arguments of a given kind, and structured ones are all of constants and occur once.

use super::checker::Checker;
use crate::ast::{Annotation, AnnotationBody, Expression, ExpressionKind};
use crate::types::Type;
use hlir::diagnostic::Diagnostic;
use hlir::program::stated_share;

impl<'a> Checker<'a> {
    pub fn check_annotations(&mut self, annotations: &'a [Annotation]) {
        for (at, annotation) in annotations.iter().enumerate() {
            match &annotation.body {
                AnnotationBody::Empty if annotation.name.as_str() == "pkginfo" => {
                    self.error(
                        "invalid",
                        annotation.span,
                        "`@pkginfo` needs a list of keys and values",
                        "as in `@pkginfo(name = \"router\", version = \"1\")`",
                    );
                }
                AnnotationBody::Empty => {}
                AnnotationBody::Unstructured { .. } => self.check_form(annotation),
                AnnotationBody::Expressions(expressions) => {
                    self.check_repeated(annotation, &annotations[..at]);
                    for expression in expressions {
                        self.structured(expression);
                    }
                }
                AnnotationBody::Pairs(pairs) => {
                    self.check_repeated(annotation, &annotations[..at]);
                    self.check_distinct(pairs.iter().map(|pair| &pair.key));
                    for pair in pairs {
                        self.structured(&pair.value);
                    }
                }
            }
        }
        self.check_hints(annotations);
    }

    /// Hints on traffic that say nothing: they change no packet, so a program that has them is not wrong.
    fn check_hints(&mut self, annotations: &'a [Annotation]) {
        let says = |annotation: &Annotation| match &annotation.body {
            AnnotationBody::Unstructured { text, .. } => stated_share(text).is_some(),
            AnnotationBody::Empty | AnnotationBody::Expressions(_) | AnnotationBody::Pairs(_) => false,
        };
        for annotation in annotations.iter().filter(|one| one.name.as_str() == "traffic" && !says(one)) {
            self.warn("invalid", annotation.span, "`@traffic` takes one number from 0 to 1", "this says nothing");
        }
        let last = |name: &str| annotations.iter().rev().find(|annotation| annotation.name.as_str() == name);
        if let (Some(likely), Some(unlikely)) = (last("likely"), last("unlikely")) {
            self.report(
                Diagnostic::warning("`@likely` and `@unlikely` contradict each other: the last hint counts")
                    .kind("invalid")
                    .label(likely.span, "")
                    .label(unlikely.span, ""),
            );
        }
    }

    fn check_repeated(&mut self, annotation: &'a Annotation, earlier: &'a [Annotation]) {
        if let Some(first) = earlier.iter().find(|other| other.name.text == annotation.name.text) {
            self.report(
                Diagnostic::error(format!("duplicate structured annotation `@{}`", annotation.name))
                    .kind("duplicate")
                    .label(annotation.name.span, "second one")
                    .label(first.name.span, "first one"),
            );
        }
    }

    fn structured(&mut self, expression: &'a Expression) {
        let of_type = self.value(expression, None);
        if of_type.is_unknown() {
            return;
        }
        if !matches!(of_type, Type::Bool | Type::Integer | Type::String | Type::Bits { .. }) {
            let message = format!("a structured annotation holds numbers, strings and truth values, not `{of_type}`");
            self.type_error(expression.span, message);
        } else if self.value_of(expression).is_none() {
            self.type_error(expression.span, "a structured annotation holds compile-time constants");
        }
    }

    /// The annotations whose argument is a string.
    fn check_form(&mut self, annotation: &'a Annotation) {
        let name = annotation.name.as_str();
        match name {
            "match" => return self.check_match(annotation),
            "p4runtime_translation" => return self.check_translation(annotation),
            _ => {}
        }
        let text = matches!(name, "name" | "deprecated" | "noWarn");
        if !text {
            return;
        }
        let Some(argument) = annotation.single() else { return };
        if matches!(argument.kind, ExpressionKind::String(_)) {
            return;
        }
        let of_type = self.value(argument, None);
        if of_type != Type::String && !of_type.is_unknown() {
            let kind = if name == "name" { "invalid" } else { "type-error" };
            self.error(kind, argument.span, format!("`@{name}` has to contain a string"), "");
        }
    }

    /// `@match(ternary)` on a field of a value set's element.
    fn check_match(&mut self, annotation: &'a Annotation) {
        let Some(kind) = annotation.single() else { return };
        let of_type = self.value(kind, None);
        if !matches!(of_type, Type::MatchKind | Type::Unknown) {
            self.type_error(kind.span, format!("a match kind is expected here, this is `{of_type}`"));
        }
    }

    /// `@p4runtime_translation("uri", type)`: the type that a controller sees is a string or a number of a given width.
    fn check_translation(&mut self, annotation: &'a Annotation) {
        let AnnotationBody::Unstructured { tokens, .. } = &annotation.body else { return };
        let comma = tokens.iter().position(|token| token.text.as_ref() == ",");
        let Some(comma) = comma else { return };
        let seen: Vec<&str> = tokens[comma + 1..].iter().map(|token| token.text.as_ref()).collect();
        let number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
        let fits = match seen[..] {
            ["string"] | ["bit"] => true,
            [width] => number(width),
            ["bit", "<", width, ">"] => number(width),
            _ => false,
        };
        if !fits {
            let span = tokens.get(comma + 1).map_or(annotation.span, |token| token.span);
            self.error("invalid", span, "expected `bit<W>`, `string` or a number of bits here", "");
        }
    }

    /// `@length(field)` can only name what is declared before.
    pub fn check_length(&mut self, annotation: &'a Annotation, earlier: &'a [crate::ast::Field]) {
        let Some(ExpressionKind::Path(path)) = annotation.single().map(|length| &length.kind) else { return };
        let field = earlier.iter().any(|field| field.name.text == path.name.text);
        if !field && self.look_up(path.name.as_str(), path.absolute).is_empty() {
            self.not_found(&path.name);
        }
    }
}
