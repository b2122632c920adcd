//! Warnings about names: declared and never used, or hiding another one.
//!
//! Whatever is declared in an included file is warned about too; `without_headers` drops what is not the user's own.

use hlir::diagnostic::Diagnostic;
use hlir::source::{SourceMap, Span};

use super::checker::{Checker, Scope};
use super::nodes::Node;
use super::results::Checked;
use crate::ast::{Annotation, AnnotationBody, Declaration, DeclarationId, DeclarationKind, ExpressionKind, Name};

/// The diagnostics without warnings about files that `is_own` does not count as the user's: unused constants of an
/// architecture are no news.
pub fn without_headers(
    diagnostics: Vec<Diagnostic>,
    map: &SourceMap,
    is_own: impl Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let keep = |diagnostic: &Diagnostic| {
        let span = diagnostic.span();
        diagnostic.is_error() || span.is_none() || is_own(&map.locate(span.start).file)
    };
    diagnostics.into_iter().filter(keep).collect()
}

/// `@noWarn("unused")`
pub(super) fn silences(annotations: &[Annotation], kind: &str) -> bool {
    annotations.iter().any(|annotation| {
        annotation.name.as_str() == "noWarn"
            && match &annotation.body {
                AnnotationBody::Empty => true,
                _ => annotation
                    .expressions()
                    .iter()
                    .any(|text| matches!(&text.kind, ExpressionKind::String(text) if text.as_ref() == kind)),
            }
    })
}

/// The diagnostics without the warnings that `@noWarn` on a declaration around them silences. For
/// what is unused, `@noWarn` is read on the declaration itself only.
pub(super) fn not_silenced(checked: &Checked, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let silent: Vec<&Declaration> =
        checked.declarations().filter(|declaration| declaration.attributes.has("noWarn")).collect();
    let is_silenced = |one: &Diagnostic| {
        let (span, kind) = (one.span(), one.class().unwrap_or_default());
        let around = |declaration: &Declaration| {
            declaration.span.start <= span.start
                && span.end <= declaration.span.end
                && silences(&declaration.attributes.annotations, kind)
        };
        !one.is_error() && kind != "unused" && !span.is_none() && silent.iter().any(|declaration| around(declaration))
    };
    diagnostics.into_iter().filter(|one| !is_silenced(one)).collect()
}

impl<'a> Checker<'a> {
    pub fn warn_unused(&mut self, scope: &Scope) {
        let mut unused: Vec<DeclarationId> =
            scope.values().flatten().copied().filter(|id| !self.used[id.index()]).collect();
        unused.sort_unstable();
        for id in unused {
            let node = self.node(id);
            if let Some(what) = self.worth_a_warning(node) {
                let name = node.name();
                self.warn("unused", name.span, format!("{what}'{name}' is unused"), "");
            }
        }
    }

    /// What to call an unused thing, if anybody would want to know.
    fn worth_a_warning(&self, node: Node<'a>) -> Option<&'static str> {
        match node {
            Node::Declaration(declaration) => unused_declaration(declaration),
            Node::Parameter { parameter, owner } => {
                let of_action = matches!(self.out.kind(owner), Some(DeclarationKind::Action { .. }));
                (of_action && !silences(&parameter.attributes.annotations, "unused")).then_some("")
            }
            Node::TypeParameter { owner, .. } => {
                let kind = self.out.kind(owner);
                let generic = matches!(
                    kind,
                    Some(DeclarationKind::Structure(_) | DeclarationKind::Extern(_) | DeclarationKind::Function(_))
                );
                let silent =
                    self.node(owner).declaration().is_some_and(|one| silences(&one.attributes.annotations, "unused"));
                (generic && !silent).then_some("")
            }
            Node::Field { .. } | Node::Member { .. } | Node::Method { .. } | Node::State { .. } => None,
        }
    }

    /// A name that hides one around it.
    pub fn warn_shadowing(&mut self, name: &'a Name) {
        let around = self.scopes.len().saturating_sub(1);
        let hidden = self.scopes[..around].iter().rev().find_map(|scope| scope.get(&name.text));
        let Some(hidden) = hidden.and_then(|found| found.first()).copied() else { return };
        self.report(
            Diagnostic::warning(format!("'{name}' shadows '{name}'"))
                .kind("shadow")
                .label(name.span, "")
                .label(self.node(hidden).span(), "the one that it hides"),
        );
    }

    /// A use of what `@deprecated("do this instead")` marks.
    pub fn warn_deprecated(&mut self, span: Span, id: DeclarationId) {
        let Some(declaration) = self.node(id).declaration() else { return };
        let Some(annotation) = declaration.attributes.find("deprecated") else { return };
        let advice = annotation.string().unwrap_or_default();
        let name = &declaration.name;
        let message = format!("{name}: Using deprecated feature {name}. {advice}");
        self.warn("deprecated", span, message.trim_end(), "");
    }

    pub fn warn_without_main(&mut self) {
        if !self.scopes[0].contains_key("main") {
            let report = Diagnostic::warning("Program does not contain a `main' module").kind("missing");
            self.report(report.hint("it can be checked; `compile`, `run` and `stf` need a package called `main`"));
        }
    }
}

fn unused_declaration(declaration: &Declaration) -> Option<&'static str> {
    if declaration.name.as_str() == "main" || silences(&declaration.attributes.annotations, "unused") {
        return None;
    }
    match &declaration.kind {
        DeclarationKind::Constant(_)
        | DeclarationKind::Variable(_)
        | DeclarationKind::Instance(_)
        | DeclarationKind::Action { .. }
        | DeclarationKind::ValueSet(_)
        | DeclarationKind::Typedef { .. }
        | DeclarationKind::NewType { .. } => Some(""),
        DeclarationKind::Function(function) => function.body.as_ref().map(|_| ""),
        DeclarationKind::Table(_) => Some("table "),
        DeclarationKind::Control(control) => control.apply.as_ref().map(|_| "control "),
        DeclarationKind::Parser(parser) => parser.body.as_ref().map(|_| "parser "),
        DeclarationKind::Package(_) => Some("package "),
        DeclarationKind::Structure(_)
        | DeclarationKind::Enumeration(_)
        | DeclarationKind::Error(_)
        | DeclarationKind::MatchKind(_)
        | DeclarationKind::Extern(_)
        | DeclarationKind::Assertion(_) => None,
    }
}
