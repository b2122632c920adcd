//! Actions and objects of one control-plane name: `@name(".drop")` may precede several, as it does in programs translated from P4_14.
//!
//! Of one name, one signature and one text they are one action to a controller. Others keep their own bodies, which each table knows; only
//! where P4Info is written they are a mistake, since a controller has nothing but the name. In one table they always are: no entry could
//! distinguish them.

use std::collections::{BTreeSet, HashMap};

use hlir::diagnostic::Diagnostic;
use hlir::interface::ObjectKind;
use hlir::source::Span;
use hlir::{Parameter, TableId};

use crate::ast::DeclarationId;
use crate::lex::lex;
use crate::lower::Lowering;
use crate::lower::objects::TableInstance;

/// An action that the controller's view has already.
struct Known {
    declaration: Option<DeclarationId>,
    parameters: Vec<(String, u32)>,
    shown: String,
}

/// The names that actions have in the controller's view.
pub(super) struct Shown {
    by_name: HashMap<String, Vec<Known>>,
    taken: BTreeSet<String>,
}

impl Shown {
    pub(super) fn new(taken: BTreeSet<String>) -> Shown {
        Shown { by_name: HashMap::new(), taken }
    }

    /// A name for an action whose own another one has.
    fn other_name(&mut self, name: &str) -> String {
        let numbered = (2u32..).map(|number| format!("{name}_{number}")).find(|wanted| !self.taken.contains(wanted));
        let numbered = numbered.unwrap_or_default();
        self.taken.insert(numbered.clone());
        numbered
    }
}

impl Lowering<'_> {
    /// What an action is called in the controller's view, and whether it is new there.
    pub(super) fn shown_name(
        &mut self,
        shown: &mut Shown,
        name: &str,
        declaration: Option<DeclarationId>,
        parameters: &[Parameter],
    ) -> (String, bool) {
        let parameters: Vec<(String, u32)> = parameters.iter().map(|one| (one.name.clone(), one.width)).collect();
        let known = shown.by_name.get(name).map_or(&[][..], |known| known);
        let same = known
            .iter()
            .find(|known| known.parameters == parameters && self.is_one_action(known.declaration, declaration));
        if let Some(same) = same {
            return (same.shown.clone(), false);
        }
        let first = known.first().map(|known| known.declaration);
        let given = match first {
            Some(first) => {
                self.name_conflicts.extend(self.name_conflict(name, first, declaration));
                shown.other_name(name)
            }
            None => name.to_string(),
        };
        let known = Known { declaration, parameters, shown: given.clone() };
        shown.by_name.entry(name.to_string()).or_default().push(known);
        (given, true)
    }

    /// The same for an action that the program calls itself, for which it gives the data: to a controller it has no parameters.
    pub(super) fn shown_called_name(
        &mut self,
        shown: &mut Shown,
        name: &str,
        declaration: DeclarationId,
    ) -> (String, bool) {
        let known = shown.by_name.get(name).map_or(&[][..], |known| known);
        match known.iter().find(|known| self.is_one_action(known.declaration, Some(declaration))) {
            Some(same) => (same.shown.clone(), false),
            None => self.shown_name(shown, name, Some(declaration), &[]),
        }
    }

    fn name_conflict(
        &self,
        name: &str,
        first: Option<DeclarationId>,
        second: Option<DeclarationId>,
    ) -> Option<Diagnostic> {
        let (first, second) = (first?, second?);
        let report = Diagnostic::error(format!("conflicting control plane name: `{name}`")).kind("duplicate");
        let report =
            report.label(self.checked.node(second).span(), "a second action of this name, which does something else");
        let report = report.label(self.checked.node(first).span(), "the first one");
        Some(report.hint("a controller cannot distinguish them: give one of them another `@name`"))
    }

    /// A name in the program for a counter, meter, register, digest, value set or profile: of two that share one, the second gets a number.
    pub fn object_name(&mut self, wanted: &str, declaration: Option<DeclarationId>) -> String {
        let given = self.names.object(wanted);
        self.facts.objects.insert(given.clone(), (wanted.to_string(), declaration));
        given
    }

    /// What a controller calls an object: objects of different kinds may share a name.
    pub(super) fn shown_object(&self, name: &str) -> String {
        self.facts.objects.get(name).map_or(name, |(shown, _)| shown).to_string()
    }

    /// Gives the objects of the controller's view the names that a controller uses.
    pub(super) fn show_object_names(&mut self) {
        let mut objects = std::mem::take(&mut self.program.interface.objects);
        objects.iter_mut().for_each(|object| object.name = self.shown_object(&object.name));
        self.program.interface.objects = objects;
    }

    /// Objects of one kind and one name, which no controller could distinguish.
    pub(super) fn object_conflicts(&self, objects: &[(ObjectKind, &str)]) -> Vec<Diagnostic> {
        let mut first: HashMap<(u8, String), &str> = HashMap::new();
        let mut conflicts = Vec::new();
        for (kind, name) in objects {
            let shown = self.shown_object(name);
            let Some(earlier) = first.get(&(kind.prefix(), shown.clone())) else {
                first.insert((kind.prefix(), shown), name);
                continue;
            };
            let declared = |name: &str| self.facts.objects.get(name).and_then(|(_, declaration)| *declaration);
            let span =
                |name: &str| declared(name).map_or(Span::NONE, |declaration| self.checked.node(declaration).span());
            let report = Diagnostic::error(format!("conflicting control plane name: `{shown}`"))
                .kind("duplicate")
                .label(span(name), "a second object of this kind and name");
            conflicts.push(if declared(name) == declared(earlier) {
                report.hint("what contains it is instantiated twice: give each instance a name of its own")
            } else {
                let report = report.label(span(earlier), "the first one");
                report.hint("a controller cannot distinguish them: give one of them another `@name`")
            });
        }
        conflicts
    }

    /// Two actions of a table that no entry can distinguish.
    pub fn check_listed_names(&mut self, table: TableId, declaration: DeclarationId, actions: &[DeclarationId]) {
        for (at, second) in actions.iter().enumerate() {
            let name_of = |at: usize| &self.program.tables[table].actions[at].name;
            let Some(before) = (0..at).find(|before| name_of(*before) == name_of(at)) else { continue };
            if self.is_one_action(Some(actions[before]), Some(*second)) {
                continue;
            }
            let message =
                format!("table `{}` has two actions of the name `{}`", self.program.tables[table].name, name_of(at));
            let report = Diagnostic::error(message)
                .kind("duplicate")
                .label(self.checked.node(*second).span(), "the second one")
                .label(self.checked.node(actions[before]).span(), "the first one")
                .label(self.checked.node(declaration).span(), "no entry of this table could distinguish them");
            self.ambiguous.push(report.hint("give one of them another `@name`"));
        }
    }

    /// Two tables of one name: the second one could not be written. Hidden ones are not written.
    pub fn check_table_name(&mut self, given: &str, table: &TableInstance) {
        let first = *self.facts.tables.entry(table.name.clone()).or_insert(table.declaration);
        let is_hidden = |id: DeclarationId| self.attributes_of(id).is_some_and(|attributes| attributes.has("hidden"));
        if given == table.name || is_hidden(table.declaration) || is_hidden(first) {
            return;
        }
        let report = Diagnostic::error(format!("two tables have the control plane name `{}`", table.name));
        let report = report.kind("duplicate").label(self.checked.node(table.declaration).span(), "the second one");
        let report = if first == table.declaration {
            report.hint("what contains it is instantiated twice: give each instance a name of its own")
        } else {
            let report = report.label(self.checked.node(first).span(), "the first one");
            report.hint("give one of them another `@name`")
        };
        self.ambiguous.push(report);
    }

    /// Whether two declarations are of one action: the same one, or written with the same words. What a program does without is none.
    fn is_one_action(&self, left: Option<DeclarationId>, right: Option<DeclarationId>) -> bool {
        let (Some(left), Some(right)) = (left, right) else { return true };
        left == right || self.words_of(left) == self.words_of(right)
    }

    /// The tokens behind the name of an action: its parameters and its body.
    fn words_of(&self, action: DeclarationId) -> Vec<&str> {
        let Some(declaration) = self.checked.node(action).declaration() else { return Vec::new() };
        let text = self.sources.snippet(declaration.span);
        let behind = declaration.name.span.end.saturating_sub(declaration.span.start) as usize;
        let text = text.get(behind..).unwrap_or_default();
        let tokens = lex(text).tokens.into_iter();
        tokens.map(|token| &text[token.span.start as usize..token.span.end as usize]).collect()
    }
}
