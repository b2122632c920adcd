//! What members a type has, for "did you mean" where a program names another one.

use std::sync::Arc;

use hlir::diagnostic::Diagnostic;

use super::checker::Checker;
use crate::ast::{DeclarationKind, Name};
use crate::spelling::with_similar;
use crate::types::Type;

/// Methods that the language defines: [`Checker::has_builtin`] decides which of them a value has.
const BUILTINS: [&str; 9] = [
    "isValid",
    "setValid",
    "setInvalid",
    "push_front",
    "pop_front",
    "minSizeInBits",
    "maxSizeInBits",
    "minSizeInBytes",
    "maxSizeInBytes",
];

impl Checker<'_> {
    /// The member of a value that is spelled most like `name`, as a hint.
    pub(super) fn with_similar_member(&self, report: Diagnostic, base: &Type, name: &Name) -> Diagnostic {
        with_similar(report, &self.members(base), name.as_str())
    }

    /// The same for members of a type that is named: of enumerations, `error` and `match_kind`.
    pub(super) fn with_similar_type_member(&self, report: Diagnostic, named: &Type, name: &Name) -> Diagnostic {
        let members: Vec<Arc<str>> = match named {
            Type::Error => self.errors.keys().cloned().collect(),
            Type::MatchKind => self.match_kinds.keys().cloned().collect(),
            Type::Parser(_) | Type::Control(_) => vec!["apply".into()],
            _ => match named.nominal().and_then(|nominal| self.out.kind(nominal.declaration)) {
                Some(DeclarationKind::Enumeration(enumeration)) => {
                    enumeration.members.iter().map(|member| member.name.text.clone()).collect()
                }
                _ => Vec::new(),
            },
        };
        with_similar(report, &members, name.as_str())
    }

    fn members(&self, base: &Type) -> Vec<Arc<str>> {
        let words = |words: &[&str]| words.iter().map(|word| Arc::from(*word)).collect();
        let mut members: Vec<Arc<str>> = match base {
            Type::Struct(_) | Type::Header(_) | Type::Union(_) => {
                self.out.fields_of(base).into_iter().map(|field| field.name.clone()).collect()
            }
            Type::Stack { .. } => words(&["next", "last", "lastIndex", "size"]),
            Type::TableResult(_) => words(&["hit", "miss", "action_run"]),
            Type::StructureLiteral { fields, .. } => fields.iter().map(|(name, _)| name.clone()).collect(),
            Type::Parser(_) | Type::Control(_) | Type::Table(_) => words(&["apply"]),
            Type::Extern(nominal) => match self.out.kind(nominal.declaration) {
                Some(DeclarationKind::Extern(declared)) => {
                    let methods = declared.methods.iter().filter(|method| !method.is_constructor);
                    methods.map(|method| method.name.text.clone()).collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        members.extend(BUILTINS.into_iter().filter(|builtin| self.has_builtin(base, builtin)).map(Arc::from));
        members
    }
}
