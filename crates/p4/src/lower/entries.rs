//! The entries that a program gives its own tables, and their priorities.

use hlir::entry::EntryAction;
use hlir::{Entry, Match, MatchKind, TableId};
use num_bigint::{BigInt, BigUint};
use std::sync::Arc;

use super::select::{Set, is_empty, unwrapped};
use super::{Lowered, Lowering, arithmetic};
use crate::ast::{self, DeclarationId, KeyElement, Property, PropertyValue};
use crate::check::Call;

impl<'a> Lowering<'a> {
    pub fn lower_entries(
        &mut self,
        id: TableId,
        actions: &[(DeclarationId, Call)],
        table: &'a ast::Table,
        keys: &'a [KeyElement],
    ) -> Lowered<()> {
        let Some(Property { value: PropertyValue::Entries(entries), is_constant, .. }) = table.find("entries") else {
            return Ok(());
        };
        self.program.tables[id].entries_constant = *is_constant;
        let priorities = self.priorities(table, entries, *is_constant)?;
        let ordered = self.program.tables[id].has_priorities();
        let kinds: Vec<MatchKind> = self.program.tables[id].keys.iter().map(|key| key.kind).collect();
        for (entry, priority) in entries.iter().zip(priorities) {
            let (sets, widths) = self.entry_sets(entry, keys)?;
            let call = self.entry_call(actions, &entry.action)?;
            let priority = if ordered { priority } else { 0 };
            // What matches nothing is no entry.
            if sets.iter().any(is_empty) {
                continue;
            }
            for sets in unwrapped(sets, &widths) {
                let matches = sets.into_iter().zip(kinds.iter().zip(&widths));
                let matches = matches.map(|(set, (kind, width))| as_match(set, *kind, *width)).collect();
                let Some(matches) = matches else {
                    return Err(self.internal(entry.span, "a key of this entry"));
                };
                let (action, constant) = (EntryAction::Call(call.clone()), entry.is_constant);
                Arc::make_mut(&mut self.program.tables[id].entries).push(Entry { matches, priority, action, constant });
            }
        }
        Ok(())
    }

    /// What an entry matches, and the widths of the keys.
    fn entry_sets(&mut self, entry: &'a ast::Entry, keys: &'a [KeyElement]) -> Lowered<(Vec<Set>, Vec<u32>)> {
        let (mut sets, mut widths) = (Vec::new(), Vec::new());
        for (at, key) in keys.iter().enumerate().filter(|(_, key)| key.match_kind.as_str() != "selector") {
            let (width, _) = self.number_type(&self.used_type(&key.expression));
            // A single `_` is of all keys.
            let set = match entry.keys.get(at) {
                Some(written) => self.key_set(written, width)?,
                None => Set::Any,
            };
            sets.push(set);
            widths.push(width);
        }
        Ok((sets, widths))
    }

    /// The priority of each entry, larger winning: given, or counted from the one before by the language's rules.
    fn priorities(&mut self, table: &'a ast::Table, entries: &'a [ast::Entry], is_constant: bool) -> Lowered<Vec<u32>> {
        let largest_wins = match super::table::expression_property(table, "largest_priority_wins") {
            Some(property) => arithmetic::boolean_of(&self.scalar(property)?).unwrap_or(true),
            None => true,
        };
        let delta = match super::table::expression_property(table, "priority_delta") {
            Some(property) => BigInt::from(self.known_number(property)?),
            None => BigInt::from(1),
        };
        let count = entries.len();
        let any_given = entries.iter().any(|entry| entry.priority.is_some());
        let mut numbers: Vec<BigInt> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let number = match &entry.priority {
                // Constant entries are tried as they are listed, unless `@priority` numbers them: there the smallest comes first.
                _ if is_constant => self.annotated_priority(entry).unwrap_or_else(|| BigInt::from(at + 1)),
                Some(given) => BigInt::from(self.known_number(given)?),
                None if !any_given && largest_wins => BigInt::from(count - 1 - at) * &delta + 1,
                None if !any_given => BigInt::from(at) * &delta + 1,
                None => match numbers.last() {
                    Some(previous) if largest_wins => previous - &delta,
                    Some(previous) => previous + &delta,
                    None => BigInt::from(count),
                },
            };
            numbers.push(number);
        }
        if !largest_wins || is_constant {
            // Here the larger number wins always: turn the order around.
            let largest = numbers.iter().max().cloned().unwrap_or_default();
            numbers = numbers.into_iter().map(|number| &largest + 1 - number).collect();
        }
        Ok(numbers.into_iter().map(|number| u32::try_from(number).unwrap_or(0)).collect())
    }

    fn annotated_priority(&self, entry: &ast::Entry) -> Option<BigInt> {
        let annotation = entry.annotations.iter().find(|annotation| annotation.name.as_str() == "priority")?;
        self.checked.constant(annotation.single()?)?.integer().cloned()
    }
}

/// A set as what an entry of this kind of key matches.
fn as_match(set: Set, kind: MatchKind, width: u32) -> Option<Match> {
    let all = arithmetic::ones(width);
    Some(match (set, kind) {
        (Set::Any, MatchKind::Exact) => return None,
        (Set::Any, _) => Match::Any,
        (Set::Value(value), MatchKind::Exact | MatchKind::Optional) => Match::Exact(value),
        (Set::Value(value), MatchKind::Lpm) => Match::Lpm { value, prefix: width },
        (Set::Value(value), MatchKind::Ternary) => Match::Ternary { value, mask: all },
        (Set::Value(value), MatchKind::Range) => Match::Range { low: value.clone(), high: value },
        (Set::Mask { value, mask }, MatchKind::Lpm) => {
            let prefix = mask.count_ones() as u32;
            let expected = if prefix == 0 { BigUint::ZERO } else { &all ^ arithmetic::ones(width - prefix) };
            if mask != expected {
                return None;
            }
            if prefix == 0 { Match::Any } else { Match::Lpm { value: value & &mask, prefix } }
        }
        (Set::Mask { mask, .. }, MatchKind::Ternary | MatchKind::Optional) if mask == BigUint::ZERO => Match::Any,
        (Set::Mask { value, mask }, MatchKind::Ternary) => Match::Ternary { value: value & &mask, mask },
        (Set::Mask { value, mask }, MatchKind::Exact | MatchKind::Optional) if mask == all => Match::Exact(value),
        (Set::Range { low, high }, MatchKind::Range) if low <= high => Match::Range { low, high },
        _ => return None,
    })
}
