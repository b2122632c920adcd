//! Entries of tables: their keys by match kind, actions and priorities.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::annotations::Before;
use super::bindings::Mode;
use super::checker::Checker;
use crate::ast::{
    ActionReference, Declaration, DeclarationId, Entry, Expression, ExpressionKind, Property, PropertyValue, Table,
};
use crate::evaluate::Value;
use crate::types::Type;

impl<'a> Checker<'a> {
    pub fn entries(
        &mut self,
        declaration: &'a Declaration,
        table: &'a Table,
        property: &'a Property,
        entries: &'a [Entry],
        keys: &[(Type, Option<DeclarationId>)],
    ) {
        let place = |name: &str| table.properties.iter().position(|property| property.name.as_str() == name);
        if keys.is_empty() && !entries.is_empty() {
            let message = format!("table `{}` has no key, so it cannot have entries", declaration.name);
            self.type_error(property.name.span, message);
        }
        if place("key") > place(property.name.as_str()) {
            self.type_error(property.name.span, "the entries of a table have to come after its key");
        }
        let list = match table.find("actions").map(|property| &property.value) {
            Some(PropertyValue::Actions(list)) => &list[..],
            _ => &[],
        };
        let before = if property.is_constant { Before::ConstantEntry } else { Before::Else };
        for entry in entries {
            self.check_annotations(&entry.annotations, before);
            self.entry(entry, keys, list);
        }
        self.priorities(declaration, table, property, entries, keys);
        self.check_repeated_keys(entries, keys);
        self.warn_beyond_size(declaration, table, entries);
    }

    /// Entries of the program all count, whatever `size` is.
    fn warn_beyond_size(&mut self, declaration: &'a Declaration, table: &'a Table, entries: &'a [Entry]) {
        let Some(Property { value: PropertyValue::Expression(written), .. }) = table.find("size") else { return };
        let Some(Value::Integer(size)) = self.value_of(written) else { return };
        if size < &entries.len().into() {
            let message = format!("table `{}` has {} entries and a size of {size}", declaration.name, entries.len());
            let diagnostic = Diagnostic::warning(message).kind("overflow").label(written.span, "");
            self.report(diagnostic.hint("all entries count; the table has no room for others"));
        }
    }

    fn entry(&mut self, entry: &'a Entry, keys: &[(Type, Option<DeclarationId>)], list: &'a [ActionReference]) {
        if let Some(priority) = &entry.priority {
            self.value(priority, None);
            self.require_known(priority, "a priority");
        }
        let everything = |key: &Expression| matches!(key.kind, ExpressionKind::DontCare | ExpressionKind::Default);
        if let [only] = &entry.keys[..]
            && everything(only)
            && keys.len() != 1
        {
            let whole = Type::Tuple(keys.iter().map(|(of_type, _)| of_type.clone()).collect());
            self.value_in_set(only, &whole);
            if let Some(exact) = keys.iter().filter_map(|(_, kind)| *kind).find(|kind| self.is_exact(*kind)) {
                self.check_kind(only, Some(exact));
            }
        } else if entry.keys.len() != keys.len() {
            if !keys.is_empty() {
                let message = format!("{} keys for a table with {}", entry.keys.len(), keys.len());
                self.type_error(entry.span, message);
            }
            for key in &entry.keys {
                self.value_in_set(key, &Type::Unknown);
            }
        } else {
            for (key, (of_type, kind)) in entry.keys.iter().zip(keys) {
                self.value_in_set(key, of_type);
                self.check_kind(key, *kind);
            }
        }
        if let Some(id) = self.refer_to_action(&entry.action, Mode::ActionData)
            && let Some(listed) = self.check_listed(list, id, &entry.action)
            && listed.annotations.iter().any(|annotation| annotation.name.as_str() == "defaultonly")
        {
            self.type_error(entry.action.span, "an action marked `@defaultonly` cannot be used in an entry");
        }
    }

    /// Which sets the match kind of a key allows.
    fn check_kind(&mut self, key: &'a Expression, kind: Option<DeclarationId>) {
        let Some(kind) = kind else { return };
        let name = self.name_of(kind);
        match (shape_of(key), name.as_ref()) {
            (Shape::Mask, "optional") | (Shape::Range, "exact" | "ternary" | "lpm" | "optional") => {
                let report = refused_set(key, &name);
                self.report(report);
                return;
            }
            // The language lets a compiler make several entries of one. Those for the architectures that run do not.
            (Shape::Mask, "exact") if self.masks_nothing(key) => {}
            (Shape::Mask, "exact" | "range") | (Shape::Everything, "exact") | (Shape::Value, "selector") => {
                self.note_set(refused_set(key, &name));
            }
            (Shape::Mask, "lpm") => {
                self.check_prefix(key);
                self.check_masked_off(key, "LPM");
            }
            (Shape::Mask, "ternary") => self.check_masked_off(key, "Ternary"),
            _ => {}
        }
        if !self.is_known(key) {
            self.error("invalid", key.span, "the key of an entry has to be a constant", "");
        }
    }

    fn is_exact(&self, kind: DeclarationId) -> bool {
        self.name_of(kind).as_ref() == "exact"
    }

    /// Whether a mask has all bits: then it is of one value.
    fn masks_nothing(&self, key: &Expression) -> bool {
        let (ExpressionKind::Mask { mask, .. }, Some(Value::Mask(_, bits))) = (&key.kind, self.value_of(key)) else {
            return false;
        };
        let width = match self.out.representation(self.out.used_type(mask)) {
            Type::Bits { width, .. } => width,
            _ => return false,
        };
        crate::evaluate::wrap(bits, width, false) == (num_bigint::BigInt::from(1) << width) - 1
    }

    /// The mask of an `lpm` key: ones, then zeros.
    fn check_prefix(&mut self, key: &'a Expression) {
        let ExpressionKind::Mask { mask, .. } = &key.kind else { return };
        let Some(Value::Mask(_, bits)) = self.value_of(key).cloned() else { return };
        let Type::Bits { width, .. } = self.out.representation(self.out.used_type(mask)) else { return };
        let one = num_bigint::BigInt::from(1);
        let zeros = (&one << width) - &one - &bits;
        if (&zeros & (&zeros + &one)) != num_bigint::BigInt::ZERO {
            self.error("invalid", key.span, "invalid mask for an `lpm` key", "its ones have to come first");
        }
    }

    /// Controllers are given the value of an entry with zeros where its mask has zeros.
    fn check_masked_off(&mut self, key: &'a Expression, kind: &str) {
        let Some(Value::Mask(value, mask)) = self.value_of(key).cloned() else { return };
        if &value & &mask != value {
            let message =
                format!("P4Runtime requires that {kind} matches have masked-off bits set to 0, this one has not");
            self.warn("mismatch", key.span, message, "it matches as if they were 0");
        }
    }

    /// Which entries have priorities, and that they go in order.
    fn priorities(
        &mut self,
        declaration: &'a Declaration,
        table: &'a Table,
        property: &'a Property,
        entries: &'a [Entry],
        keys: &[(Type, Option<DeclarationId>)],
    ) {
        let Some(with) = entries.iter().find(|entry| entry.priority.is_some()) else { return };
        let needs = keys.iter().any(|(_, kind)| {
            kind.is_some_and(|kind| matches!(self.name_of(kind).as_ref(), "ternary" | "range" | "optional"))
        });
        if !needs {
            self.error(
                "unsupported",
                with.span,
                format!("the keys of table `{}` do not need priorities, but some are given", declaration.name),
                "only `ternary`, `range` and `optional` keys do",
            );
            return;
        }
        if property.is_constant {
            self.error("invalid", with.span, "constant entries have no priorities", "they are tried in order");
            return;
        }
        if let Some(first) = entries.first()
            && first.priority.is_none()
        {
            self.report(
                Diagnostic::error("the first entry has to have a priority if others have one")
                    .kind("expected")
                    .label(first.span, "this one has none")
                    .label(with.span, "this one has"),
            );
            return;
        }
        self.check_priorities_in_range(declaration, table, property, entries);
    }

    /// Priorities that are not given step down or up from the one before: none may become negative.
    fn check_priorities_in_range(
        &mut self,
        declaration: &'a Declaration,
        table: &'a Table,
        table_property: &'a Property,
        entries: &'a [Entry],
    ) {
        let constant = |name: &str| match table.find(name).map(|property| &property.value) {
            Some(PropertyValue::Expression(value)) => self.value_of(value).cloned(),
            _ => None,
        };
        let delta = constant("priority_delta").and_then(|value| value.integer().cloned()).unwrap_or(1.into());
        let largest_wins = constant("largest_priority_wins").and_then(|value| value.boolean()).unwrap_or(true);
        let mut priority = num_bigint::BigInt::ZERO;
        let mut before: Option<(num_bigint::BigInt, Span)> = None;
        let mut seen: std::collections::HashMap<num_bigint::BigInt, Vec<Span>> = Default::default();
        for entry in entries {
            match &entry.priority {
                Some(given) => {
                    let value = self.value_of(given).and_then(|value| value.integer()).cloned();
                    let Some(value) = value else { return };
                    priority = value;
                }
                None if largest_wins => priority -= &delta,
                None => priority += &delta,
            }
            if priority < num_bigint::BigInt::ZERO || priority > num_bigint::BigInt::from(u32::MAX) {
                let message = format!("table `{}`: overflow in the priorities of entries", declaration.name);
                self.error("overlimit", entry.span, message, &format!("this one gets priority {priority}"));
                return;
            }
            if let Some((earlier, place)) = before.take() {
                self.warn_order(table_property, (&earlier, place), (&priority, entry.span), largest_wins);
            }
            before = Some((priority.clone(), entry.span));
            let same = seen.entry(priority.clone()).or_default();
            same.push(entry.span);
            if let [first, second] = same[..] {
                let message = format!("two entries have the same priority {priority}");
                self.warn_entries(table_property, "duplicate-priorities", message, (first, second));
            }
        }
    }

    /// Entries that one would read as tried in another order than they are.
    fn warn_order(
        &mut self,
        property: &'a Property,
        (earlier, first): (&num_bigint::BigInt, Span),
        (later, second): (&num_bigint::BigInt, Span),
        largest_wins: bool,
    ) {
        if earlier != later && (later > earlier) == largest_wins {
            let message = format!("priority {later} after {earlier}: the entries are out of order");
            self.warn_entries(property, "entries-out-of-priority-order", message, (first, second));
        }
    }

    fn warn_entries(&mut self, property: &'a Property, kind: &'static str, message: String, places: (Span, Span)) {
        if !super::unused::silences(&property.attributes.annotations, kind) {
            let (first, second) = places;
            self.report(Diagnostic::warning(message).kind(kind).label(first, "").label(second, "the other entry"));
        }
    }

    /// Two entries of an exact table cannot have the same key.
    fn check_repeated_keys(&mut self, entries: &'a [Entry], keys: &[(Type, Option<DeclarationId>)]) {
        let exact = |kind: &Option<DeclarationId>| kind.is_some_and(|kind| self.is_exact(kind));
        if keys.is_empty() || !keys.iter().all(|(_, kind)| exact(kind)) {
            return;
        }
        let mut seen = std::collections::HashMap::new();
        for entry in entries {
            let values: Option<Vec<String>> = entry
                .keys
                .iter()
                .map(|key| match self.value_of(key) {
                    Some(value @ (Value::Integer(_) | Value::Bool(_) | Value::Member(_))) => Some(format!("{value:?}")),
                    _ => None,
                })
                .collect();
            let Some(values) = values else { continue };
            if let Some(first) = seen.insert(values, entry.span) {
                self.report(
                    Diagnostic::error("duplicate keys of entries")
                        .kind("keys")
                        .label(entry.span, "this entry can never match")
                        .label(first, "the same keys here"),
                );
            }
        }
    }
}

/// How the key of an entry is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Value,
    Mask,
    Range,
    Everything,
}

fn shape_of(key: &Expression) -> Shape {
    match &key.kind {
        ExpressionKind::DontCare | ExpressionKind::Default => Shape::Everything,
        ExpressionKind::Mask { .. } => Shape::Mask,
        ExpressionKind::Range { .. } => Shape::Range,
        // A tuple of one.
        ExpressionKind::List { elements, .. } if elements.len() == 1 => shape_of(&elements[0]),
        _ => Shape::Value,
    }
}

/// A set that keys of this kind cannot match.
fn refused_set(key: &Expression, kind: &str) -> Diagnostic {
    let set = match shape_of(key) {
        Shape::Mask => "a value with a mask",
        Shape::Range => "a range",
        Shape::Everything => "`_`",
        Shape::Value => "a value",
    };
    let (label, hint) = match (kind, shape_of(key)) {
        ("exact", Shape::Everything) => {
            ("one value is expected", "make the key `ternary` or `optional`, or write an entry for each value")
        }
        ("exact", Shape::Mask) => ("one value is expected", "make the key `ternary`"),
        ("exact" | "optional" | "ternary", Shape::Range) => ("no range is expected", "make the key `range`"),
        ("lpm", Shape::Range) => ("a prefix is expected", "write it as `value &&& mask`, or make the key `range`"),
        ("range", _) => ("`low .. high` is expected", "write the bounds, or make the key `ternary`"),
        ("selector", _) => ("`_` is expected", "the group chooses by what a `selector` key holds"),
        _ => ("one value or `_` is expected", "make the key `ternary`"),
    };
    let article = if kind.starts_with(['e', 'o']) { "an" } else { "a" };
    let message = format!("{set} cannot be matched by {article} `{kind}` key");
    Diagnostic::error(message).kind("type-error").label(key.span, label).hint(hint)
}
