//! Annotations that the language gives a form to.
//!
//! Most are free; a few have arguments of a given kind, and structured ones are all of constants and occur once.

use super::checker::Checker;
use super::{OTHER_WARNINGS, WARNINGS};
use crate::ast::{Annotation, AnnotationBody, Expression, ExpressionKind};
use crate::evaluate::Value;
use crate::types::Type;
use hlir::diagnostic::Diagnostic;
use hlir::notes::stated_share;

/// What annotations precede, as far as some of them mean something only there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Header,
    NewType,
    /// A field of a struct.
    Field,
    ListedAction,
    /// An entry of `const entries`.
    ConstantEntry,
    Else,
}

/// Annotations that bacus reads in one place only.
const PLACED: &[(&str, Before, &str)] = &[
    ("controller_header", Before::Header, "a header"),
    ("defaultonly", Before::ListedAction, "an action in a table's list"),
    ("field_list", Before::Field, "a field of a struct"),
    ("match", Before::Field, "a field of a struct that a value set is of"),
    ("p4runtime_translation", Before::NewType, "a declaration with `type`"),
    ("priority", Before::ConstantEntry, "an entry of `const entries`"),
    ("tableonly", Before::ListedAction, "an action in a table's list"),
];

/// Keys of pairs that are read.
const KEYS: &[(&str, &[&str])] = &[
    ("pkginfo", &["name", "version", "organization", "contact", "url", "arch"]),
    (
        "platform_property",
        &[
            "multicast_group_table_size",
            "multicast_group_table_total_replicas",
            "multicast_group_table_max_replicas_per_entry",
        ],
    ),
];

impl<'a> Checker<'a> {
    pub fn check_annotations(&mut self, annotations: &'a [Annotation], before: Before) {
        for (at, annotation) in annotations.iter().enumerate() {
            self.check_place(annotation, before);
            if annotation.name.as_str() == "noWarn" {
                self.check_silenced_kinds(annotation);
            }
            match &annotation.body {
                _ if takes_numbers(annotation) => self.check_numbers(annotation),
                AnnotationBody::Empty if annotation.name.as_str() == "pkginfo" => {
                    self.error(
                        "invalid",
                        annotation.span,
                        "`@pkginfo` needs a list of keys and values",
                        "as in `@pkginfo(name = \"router\", version = \"1\")`",
                    );
                }
                AnnotationBody::Empty if annotation.name.as_str() == "match" => self.check_match(annotation),
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
        self.check_either(annotations);
    }

    /// An annotation that nothing reads changes nothing: most likely it belongs elsewhere.
    fn check_place(&mut self, annotation: &'a Annotation, before: Before) {
        let name = annotation.name.as_str();
        if let Some((_, _, place)) = PLACED.iter().find(|(known, place, _)| *known == name && *place != before) {
            let message = format!("`@{name}` has no effect here: it belongs to {place}");
            self.warn("mismatch", annotation.span, message, "");
        }
        let Some((_, keys)) = KEYS.iter().find(|(known, _)| *known == name) else { return };
        for pair in annotation.pairs().iter().filter(|pair| !keys.contains(&pair.key.as_str())) {
            let message = format!("`@{name}` has no key `{}`", pair.key);
            self.report(
                Diagnostic::warning(message)
                    .kind("unknown")
                    .label(pair.key.span, "unknown key")
                    .hint(format!("its keys are {}", keys.join(", "))),
            );
        }
    }

    /// `@noWarn("kind")`: of a kind that nothing has it silences nothing.
    fn check_silenced_kinds(&mut self, annotation: &'a Annotation) {
        let known = |kind: &str| WARNINGS.contains(&kind) || OTHER_WARNINGS.contains(&kind);
        for expression in annotation.expressions() {
            if let ExpressionKind::String(kind) = &expression.kind
                && !known(kind)
            {
                let message = format!("`@noWarn` names no kind of warnings: `{kind}`");
                let report =
                    Diagnostic::warning(message).kind("unknown").label(expression.span, "unknown kind of warnings");
                self.report(report.hint(format!("kinds are {}", WARNINGS.join(", "))));
            }
        }
    }

    fn check_either(&mut self, annotations: &'a [Annotation]) {
        let named = |name: &str| annotations.iter().find(|annotation| annotation.name.as_str() == name);
        if let (Some(table), Some(default)) = (named("tableonly"), named("defaultonly")) {
            self.report(
                Diagnostic::error("`@tableonly` and `@defaultonly` exclude each other")
                    .kind("invalid")
                    .label(table.span, "for entries only")
                    .label(default.span, "as the default action only"),
            );
        }
    }

    /// `@field_list(1, LIST)`, `@priority(FIRST)`: constants of any form.
    fn check_numbers(&mut self, annotation: &'a Annotation) {
        let name = annotation.name.as_str();
        let is_list = name == "field_list";
        let numbers = annotation.expressions();
        if numbers.is_empty() || !is_list && numbers.len() > 1 {
            let wanted = if is_list { "the numbers of field lists" } else { "one constant number" };
            self.error("invalid", annotation.span, format!("`@{name}` takes {wanted}"), "");
            return;
        }
        let largest = if is_list { u32::from(u8::MAX) } else { u32::MAX };
        for number in numbers {
            if self.value(number, None).is_unknown() {
                continue;
            }
            match self.value_of(number).and_then(Value::integer) {
                None => {
                    let message = format!("`@{name}` takes constant numbers");
                    self.error("invalid", number.span, message, "this is no constant number");
                }
                Some(value) if u32::try_from(value).is_ok_and(|value| value <= largest) => {}
                Some(value) => {
                    let message = format!("`@{name}` takes numbers from 0 to {largest}, not {value}");
                    self.error("overlimit", number.span, message, "");
                }
            }
        }
    }

    /// Hints on traffic without effect: they change no packet, so a program that has them is not wrong.
    fn check_hints(&mut self, annotations: &'a [Annotation]) {
        let has_effect = |annotation: &Annotation| match &annotation.body {
            AnnotationBody::Unstructured { text, .. } => stated_share(text).is_some(),
            AnnotationBody::Empty | AnnotationBody::Expressions(_) | AnnotationBody::Pairs(_) => false,
        };
        for annotation in annotations.iter().filter(|one| one.name.as_str() == "traffic" && !has_effect(one)) {
            self.warn("invalid", annotation.span, "`@traffic` takes one number from 0 to 1", "this has no effect");
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

    /// The annotations whose argument is a string, or something else of their own.
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
        let Some(kind) = annotation.single() else {
            self.error("invalid", annotation.span, "`@match` takes one match kind", "as in `@match(ternary)`");
            return;
        };
        let of_type = self.value(kind, None);
        if !matches!(of_type, Type::MatchKind | Type::Unknown) {
            self.type_error(kind.span, format!("a match kind is expected here, this is `{of_type}`"));
        } else if let ExpressionKind::Path(path) = &kind.kind
            && !MATCHED.contains(&path.name.as_str())
        {
            let message = format!("a value set cannot match by `{}`", path.name);
            let report = Diagnostic::error(message).kind("unsupported").label(kind.span, "");
            self.report(report.hint(format!("it can by {}", MATCHED.join(", "))));
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

/// How a field of a value set can be matched.
const MATCHED: [&str; 5] = ["exact", "lpm", "ternary", "range", "optional"];

fn takes_numbers(annotation: &Annotation) -> bool {
    matches!(annotation.name.as_str(), "field_list" | "priority")
}
