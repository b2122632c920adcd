//! What becomes of warnings: the flags `--Wdisable`, `--Winfo`, `--Wwarn` and `--Werror`, as p4c has them.
//!
//! A flag with a kind (`--Werror=uninitialized-use`) decides what becomes of warnings of that kind; without one, of all that no other flag names.
//! Where several name one kind, the most serious counts. Errors stay errors.

use crate::options::Warnings;
use hlir::diagnostic::{Diagnostic, Severity};

impl Warnings {
    /// The diagnostics as the flags want them.
    pub fn apply(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let wanted = |diagnostic: Diagnostic| match diagnostic.severity() {
            Severity::Error => Some(diagnostic),
            Severity::Warning | Severity::Info => {
                let (own, kind) = (diagnostic.severity(), diagnostic.class().unwrap_or(""));
                debug_assert!(
                    kind.is_empty() || p4::check::WARNINGS.contains(&kind),
                    "`{kind}` can be named by a flag"
                );
                self.severity(kind, own).map(|severity| diagnostic.at(severity))
            }
        };
        diagnostics.into_iter().filter_map(wanted).collect()
    }

    /// How seriously a warning of this kind is taken; not at all if nothing.
    fn severity(&self, kind: &str, own: Severity) -> Option<Severity> {
        let flags = [
            (&self.error, Some(Severity::Error)),
            (&self.warn, Some(Severity::Warning)),
            (&self.info, Some(Severity::Info)),
            (&self.disable, None),
        ];
        let names = |kinds: &[String], kind: &str| kinds.iter().any(|named| named.replace('_', "-") == kind);
        let found = [kind, ""].iter().find_map(|kind| flags.iter().find(|(kinds, _)| names(kinds, kind)));
        found.map_or(Some(own), |(_, severity)| *severity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(kinds: &[&str]) -> Vec<String> {
        kinds.iter().map(|kind| (*kind).to_string()).collect()
    }

    fn warning(kind: &'static str) -> Diagnostic {
        Diagnostic::warning("beware").kind(kind)
    }

    #[test]
    fn a_named_kind_goes_before_all_warnings() {
        let flags = Warnings { error: kinds(&[""]), disable: kinds(&["unused"]), ..Warnings::default() };
        let left = flags.apply(vec![warning("unused"), warning("overflow")]);
        assert_eq!(left, vec![warning("overflow").at(Severity::Error)]);
    }

    #[test]
    fn kinds_are_written_with_hyphens_or_underscores() {
        let flags = Warnings { info: kinds(&["uninitialized_use"]), ..Warnings::default() };
        assert_eq!(
            flags.apply(vec![warning("uninitialized-use")]),
            vec![warning("uninitialized-use").at(Severity::Info)]
        );
    }

    #[test]
    fn errors_stay_errors() {
        let flags = Warnings { disable: kinds(&["", "type-error"]), ..Warnings::default() };
        let error = Diagnostic::error("wrong").kind("type-error");
        assert_eq!(flags.apply(vec![error.clone(), warning("unused")]), vec![error]);
    }
}
