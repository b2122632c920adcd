//! Keeps a specialised program's tables within what it takes for granted.

use super::leading::Order;
use super::{Mask, lowest, mask, ones};
use crate::{Refusal, RefusalKind};
use hlir::entry::EntryAction;
use hlir::facts::{Assumption, Fact};
use hlir::{ActionCall, Entry, MatchKind, Program, TableId};
use num_bigint::BigUint;

/// What a program takes for granted, by table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    assumptions: Vec<Assumption>,
}

/// Whether two entries are looked up by the same key, as the store has it.
pub(crate) type SameKey<'a> = &'a dyn Fn(&Entry, &Entry) -> bool;

impl Guard {
    pub fn new(assumptions: &[Assumption]) -> Guard {
        Guard { assumptions: assumptions.to_vec() }
    }

    fn of(&self, table: TableId) -> impl Iterator<Item = &Assumption> {
        self.assumptions.iter().filter(move |one| one.table == table)
    }

    pub fn assumptions(&self) -> &[Assumption] {
        &self.assumptions
    }

    /// What an entry breaks. `repeats`: whether another entry of the table has its matches.
    pub fn broken_by_entry(
        &self,
        program: &Program,
        table: TableId,
        (entry, same): (&Entry, SameKey),
        repeats: &dyn Fn() -> bool,
    ) -> Option<&Assumption> {
        let is_repeated = |fact: &Fact| *fact == Fact::Distinct && repeats();
        self.of(table).find(|one| is_repeated(&one.fact) || breaks(program, table, &one.fact, entry, same))
    }

    /// What rates of a direct meter break.
    pub fn broken_by_rates(&self, table: TableId) -> Option<&Assumption> {
        self.of(table).find(|one| one.fact == Fact::Unmetered)
    }

    /// Whether something depends on no two entries having the same matches.
    pub fn needs_distinct(&self) -> bool {
        self.assumptions.iter().any(|one| one.fact == Fact::Distinct)
    }

    /// What another default action breaks.
    pub fn broken_by_default(&self, table: TableId, call: &ActionCall) -> Option<&Assumption> {
        self.of(table).find(|one| matches!(&one.fact, Fact::Default(other) if other != call))
    }

    /// What a deletion breaks: code compares the entries. `is_one`: whether one of some entries is the deleted one.
    pub fn broken_by_deletion(&self, table: TableId, is_one: &dyn Fn(&[Entry]) -> bool) -> Option<&Assumption> {
        self.of(table).find(|one| match &one.fact {
            Fact::Entries(_) => true,
            Fact::Leading(entries) => is_one(entries),
            Fact::Empty
            | Fact::Default(_)
            | Fact::Actions(_)
            | Fact::Argument { .. }
            | Fact::Any(_)
            | Fact::Key { .. }
            | Fact::Mask { .. }
            | Fact::Distinct
            | Fact::Unmetered => false,
        })
    }
}

/// Whether a fact does not hold with this entry, whichever others there are.
pub(crate) fn breaks(program: &Program, table: TableId, fact: &Fact, entry: &Entry, same: SameKey) -> bool {
    match fact {
        Fact::Empty => true,
        Fact::Default(_) | Fact::Distinct | Fact::Unmetered => false,
        Fact::Entries(entries) => !entries.iter().any(|other| other.action == entry.action && same(other, entry)),
        Fact::Leading(entries) => {
            let order = Order::of(program, table);
            match entries.iter().find(|other| same(other, entry)) {
                Some(leading) => leading.action != entry.action,
                None => entries.iter().any(|leading| order.may_win_over(entry, leading)),
            }
        }
        Fact::Actions(actions) => !matches!(&entry.action, EntryAction::Call(call) if actions.contains(&call.action)),
        Fact::Argument { action, parameter, value } => {
            let EntryAction::Call(call) = &entry.action else { return true };
            call.action == *action && call.arguments.get(*parameter as usize) != Some(value)
        }
        Fact::Any(key) => has_other_mask(program, table, *key, (entry, &BigUint::ZERO)),
        Fact::Mask { key, mask } => has_other_mask(program, table, *key, (entry, mask)),
        Fact::Key { key, value } => {
            let kinds = program.key_kinds(table);
            let found = entry.matches.get(*key as usize).zip(kinds.get(*key as usize));
            let is_value = |found, kind: (MatchKind, u32)| {
                mask(found, kind) == Mask::Bits(ones(kind.1)) && lowest(found) == Some(value)
            };
            !found.is_some_and(|(found, kind)| is_value(found, *kind))
        }
    }
}

/// Whether an entry distinguishes other bits of a key than these.
fn has_other_mask(program: &Program, table: TableId, key: u32, (entry, bits): (&Entry, &BigUint)) -> bool {
    let kinds = program.key_kinds(table);
    let found = entry.matches.get(key as usize).zip(kinds.get(key as usize));
    found.is_none_or(|(found, kind)| mask(found, *kind) != Mask::Bits(bits.clone()))
}

/// Refuses a write that breaks what code takes for granted.
pub(crate) fn refusal(program: &Program, Assumption { table: id, fact }: &Assumption) -> Refusal {
    let table = &program.tables[*id];
    let action = |number: u32| table.actions.get(number as usize).map_or("?", |action| action.name.as_str());
    let what = match fact {
        Fact::Empty => "no entries".to_string(),
        Fact::Default(call) => format!("the default action `{}` with the data that it has", action(call.action)),
        Fact::Entries(entries) => format!("exactly the {} entries that it was compiled for", entries.len()),
        Fact::Leading(entries) => format!("{} entries that win before others", entries.len()),
        Fact::Actions(actions) => {
            let names: Vec<String> = actions.iter().map(|number| format!("`{}`", action(*number))).collect();
            format!("entries with {} only", names.join(", "))
        }
        Fact::Argument { action: of, parameter, value } => {
            let declared =
                table.actions.get(*of as usize).and_then(|action| action.parameters.get(*parameter as usize));
            let name = declared.map_or("?", |parameter| parameter.name.as_str());
            format!("`{name}` = {value:#x} in all entries with `{}`", action(*of))
        }
        Fact::Any(key) => {
            let name = table.keys.get(*key as usize).map_or("?", |key| key.name.as_str());
            format!("entries that match any `{name}`")
        }
        Fact::Key { key, value } => {
            let name = table.keys.get(*key as usize).map_or("?", |key| key.name.as_str());
            format!("`{name}` = {value:#x} in all entries")
        }
        Fact::Mask { key, mask } => {
            let name = table.keys.get(*key as usize).map_or("?", |key| key.name.as_str());
            format!("the mask {mask:#x} for `{name}` in all entries")
        }
        Fact::Distinct => "entries of which no two have the same matches".to_string(),
        Fact::Unmetered => "direct meters without rates".to_string(),
    };
    let name = &table.name;
    Refusal::new(
        RefusalKind::Wrong,
        format!("the code is specialised for table `{name}` with {what}; compile without --specialise to write this"),
    )
}
