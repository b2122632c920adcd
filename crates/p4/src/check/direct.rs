//! `T.apply(...)` applies an instance without a name of its own: it is called as its type.
//!
//! "If the type contains controllable entities, then invoking it directly more than once in the same scope is illegal, because it will produce
//! multiple controllable entities with the same fully-qualified control name" (1.2.5, section 15.1).

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::checker::Checker;
use super::results::Callee;
use crate::ast::walk::block_expressions;
use crate::ast::{Declaration, DeclarationId, DeclarationKind};
use crate::types::Type;

/// A direct application: the parser or control around, the type that is applied, the call.
pub(super) type Applied = (DeclarationId, DeclarationId, Span);

/// Objects that a controller reads or writes.
const CONTROLLED: [&str; 15] = [
    "action_profile",
    "action_selector",
    "counter",
    "direct_counter",
    "direct_meter",
    "meter",
    "register",
    "ActionProfile",
    "ActionSelector",
    "Counter",
    "Digest",
    "DirectCounter",
    "DirectMeter",
    "Meter",
    "Register",
];

impl<'a> Checker<'a> {
    pub fn note_direct(&mut self, object: &Type, span: Span) {
        let (Some(owner), Some(nominal)) = (self.around.inside.first().copied(), object.nominal()) else { return };
        self.uses.applied.push((owner, nominal.declaration, span));
    }

    pub fn check_applied_directly(&mut self) {
        let applied = std::mem::take(&mut self.uses.applied);
        for (at, (owner, object, span)) in applied.iter().enumerate() {
            let same = |other: &&Applied| other.0 == *owner && other.1 == *object && other.2 != *span;
            let Some((.., first)) = applied[..at].iter().find(same) else { continue };
            let Some(entity) = self.entity_in(*object, &mut Vec::new()) else { continue };
            let (owner, object) = (self.name_of(*owner), self.name_of(*object));
            let name = self.name_of(entity);
            self.report(
                Diagnostic::error(format!("`{object}` is applied directly twice in `{owner}`, which cannot be"))
                    .kind("duplicate")
                    .label(*span, "for the second time here")
                    .label(*first, "for the first time here")
                    .label(self.node(entity).span(), format!("a controller knows one `{name}` of them only"))
                    .hint(format!("declare an instance for each application: `{object}() first;`")),
            );
        }
    }

    /// Something in a parser or control, or in what it applies, that a controller knows by its name.
    fn entity_in(&self, object: DeclarationId, seen: &mut Vec<DeclarationId>) -> Option<DeclarationId> {
        if seen.contains(&object) {
            return None;
        }
        seen.push(object);
        let (locals, body): (&'a [Declaration], _) = match self.out.kind(object)? {
            DeclarationKind::Control(control) => (&control.locals, control.apply.as_ref()),
            DeclarationKind::Parser(parser) => (parser.body.as_ref().map_or(&[], |body| &body.locals), None),
            _ => return None,
        };
        for local in locals {
            let found = match &local.kind {
                DeclarationKind::Table(_) if !local.attributes.has("hidden") => Some(local.id),
                DeclarationKind::ValueSet(_) => Some(local.id),
                DeclarationKind::Instance(_) => match self.out.declared_type(local.id) {
                    Type::Extern(nominal) => CONTROLLED.contains(&nominal.name.as_ref()).then_some(local.id),
                    of_type => of_type.nominal().and_then(|inner| self.entity_in(inner.declaration, seen)),
                },
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        let mut inner = Vec::new();
        if let Some(body) = body {
            block_expressions(body, &mut |expression| {
                if let Some(Callee::ApplyDirect { object }) = self.out.call(expression).map(|call| &call.callee) {
                    inner.extend(object.nominal().map(|nominal| nominal.declaration));
                }
            });
        }
        inner.into_iter().find_map(|object| self.entity_in(object, seen))
    }
}
