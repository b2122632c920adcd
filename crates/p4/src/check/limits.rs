//! What the architectures ask of a program that the language does not: keys, headers and values that a switch can do something with.
//!
//! They hold for programs with a package as `main`, most of them only for the packages of the architectures that are known here.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::checker::{Checker, Place};
use super::results::Binding;
use crate::ast::{Argument, DeclarationId, DeclarationKind, Direction, KeyElement, PropertyValue};
use crate::types::Type;

/// The kind of mistakes that are none of the language: only the target that the program is for cannot do what they are about.
pub const TARGET_LIMIT: &str = "target-error";

/// Whether a mistake is only what the target cannot do. What a controller reads of the program does not depend on it.
pub fn is_target_limit(diagnostic: &Diagnostic) -> bool {
    diagnostic.class() == Some(TARGET_LIMIT)
}

/// What the walk notes for `check_limits`.
#[derive(Default)]
pub(super) struct Limits {
    /// Extracted headers that are no whole number of bytes.
    odd_headers: Vec<Span>,
    /// Arguments that an extern function may write, and that have structures inside.
    lent: Vec<Span>,
    /// `switch` statements in actions.
    switches: Vec<Span>,
    /// Reads of v1model's registers whose elements are structures.
    structured: Vec<Span>,
    /// Keys of entries that would be several entries.
    sets: Vec<Diagnostic>,
    /// Properties of tables that nothing reads.
    unread: Vec<Diagnostic>,
}

impl<'a> Checker<'a> {
    pub fn note_extract(&mut self, place: Span, header: &Type) {
        if self.out.size_of(header).is_some_and(|size| size.smallest % 8 != 0) {
            self.uses.limits.odd_headers.push(place);
        }
    }

    pub fn note_set(&mut self, refused: Diagnostic) {
        self.uses.limits.sets.push(refused);
    }

    pub fn note_unread(&mut self, warning: Diagnostic) {
        self.uses.limits.unread.push(warning);
    }

    pub fn note_switch(&mut self, place: Span) {
        if self.around.place == Place::Action {
            self.uses.limits.switches.push(place);
        }
    }

    pub fn note_element(&mut self, place: Span, element: Option<Type>) {
        if matches!(element, Some(Type::Struct(_) | Type::Tuple(_))) {
            self.uses.limits.structured.push(place);
        }
    }

    /// Values that a function in another language may change are passed as plain numbers, so a structure of structures is too much.
    pub fn note_values_lent(&mut self, function: DeclarationId, bindings: &[Binding], arguments: &'a [Argument]) {
        let is_extern =
            matches!(self.out.kind(function), Some(DeclarationKind::Function(function)) if function.body.is_none());
        for binding in bindings.iter().filter(|_| is_extern) {
            let writes = matches!(binding.direction, Direction::Out | Direction::InOut);
            let nested = |of_type: &Type| {
                let of_type = self.out.representation(of_type);
                matches!(of_type, Type::Struct(_) | Type::Header(_) | Type::Union(_) | Type::Stack { .. })
            };
            let structure = matches!(binding.of_type, Type::Struct(_));
            let fields = self.out.fields_of(&binding.of_type);
            if writes && structure && fields.iter().any(|field| nested(&field.of_type)) {
                let place = self.out.argument(binding, arguments).map_or(Span::NONE, |value| value.span);
                self.uses.limits.lent.push(place);
            }
        }
    }

    /// Called once the program is known to have a `main`.
    pub fn check_limits(&mut self) {
        let package = self.main_package();
        let known = ["V1Switch", "PSA_Switch", "PNA_NIC", "ebpfFilter", "ubpf", "xdp"];
        let limits = std::mem::take(&mut self.uses.limits);
        for place in limits.lent {
            let message = "an extern function cannot change a structure that holds headers or structures";
            self.report(
                Diagnostic::error(message)
                    .kind(TARGET_LIMIT)
                    .label(place, "")
                    .hint("pass the header that it is to change"),
            );
        }
        if known.contains(&package.as_str()) {
            for place in limits.odd_headers {
                let message = "a header that is no whole number of bytes cannot be extracted";
                self.error(TARGET_LIMIT, place, message, "no switch of this architecture can");
            }
        }
        if ["V1Switch", "PSA_Switch", "PNA_NIC"].contains(&package.as_str()) {
            for refused in limits.sets.into_iter().chain(limits.unread) {
                self.report(refused);
            }
        }
        if package == "V1Switch" {
            for place in limits.switches {
                let message = "a `switch` in an action is not possible in v1model";
                self.report(Diagnostic::error(message).kind(TARGET_LIMIT).label(place, "").hint("use `if` and `else`"));
            }
            for place in limits.structured {
                let message = "a register of v1model cannot be read into a structure";
                self.error(TARGET_LIMIT, place, message, "v1model.p4 asks for a `bit<W>`");
            }
            self.check_headers_are_struct();
        }
        for table in self.uses.tables.clone() {
            self.check_lpm_alone(table);
            self.check_learning_keys(table);
        }
    }

    fn main_package(&self) -> String {
        let call = self.out.main.and_then(|main| self.out.instance(main));
        call.and_then(|call| call.result.nominal()).map(|package| package.name.to_string()).unwrap_or_default()
    }

    /// v1model's parser gives a structure of headers, also if there is only one.
    fn check_headers_are_struct(&mut self) {
        let Some(main) = self.out.main else { return };
        let Some(DeclarationKind::Instance(instance)) = self.out.kind(main) else { return };
        let Some(call) = self.out.instance(main).cloned() else { return };
        let Some(first) = call.bindings.first() else { return };
        let Some(parser) = self.out.argument(first, &instance.arguments) else { return };
        let Some(parser) = self.out.used_type(parser).nominal().map(|nominal| nominal.declaration) else { return };
        let Some(headers) = self.out.parameters(parser).get(1) else { return };
        if matches!(self.out.declared_type(headers.id), Type::Header(_) | Type::Union(_)) {
            let message = format!("the headers of v1model have to be a struct, `{}` is none", headers.name);
            self.report(
                Diagnostic::error(message)
                    .kind(TARGET_LIMIT)
                    .label(headers.of_type.span, "")
                    .hint("put the header into a struct: `struct headers { hdr h; }`"),
            );
        }
    }

    fn keys_of(&self, table: DeclarationId) -> &'a [KeyElement] {
        let Some(DeclarationKind::Table(table)) = self.out.kind(table) else { return &[] };
        match table.find("key").map(|property| &property.value) {
            Some(PropertyValue::Keys(keys)) => keys,
            _ => &[],
        }
    }

    /// Of two prefixes, it is undefined which one is to be the longest.
    fn check_lpm_alone(&mut self, table: DeclarationId) {
        let keys = self.keys_of(table);
        let mut longest = keys.iter().filter(|key| key.match_kind.as_str() == "lpm");
        if let (Some(first), Some(second)) = (longest.next(), longest.next()) {
            self.report(
                Diagnostic::error("`lpm` key must come alone")
                    .kind("invalid")
                    .label(second.span, "second `lpm` key here")
                    .label(first.span, "first one here")
                    .hint("match one of them as `ternary`, or split the table in two"),
            );
        }
    }

    /// The entry that `add_entry` makes has the key that missed, so there must be one value for each key.
    fn check_learning_keys(&mut self, table: DeclarationId) {
        let Some(DeclarationKind::Table(declared)) = self.out.kind(table) else { return };
        if !self.is_true(declared, "add_on_miss") {
            return;
        }
        for key in self.keys_of(table).iter().filter(|key| key.match_kind.as_str() != "exact") {
            let message = format!("a table with `add_on_miss` has `exact` keys only, this one is `{}`", key.match_kind);
            self.error("invalid", key.match_kind.span, message, "");
        }
    }
}
