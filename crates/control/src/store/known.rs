//! Facts about a store's contents, and what a specialised program takes for granted of them.

use super::{Store, index};
use crate::facts::{Facts, Guard, Order, breaks, refusal};
use crate::plane::{Element, EntryKey};
use crate::{Refusal, Update};
use hlir::entry::EntryAction;
use hlir::facts::{Assumption, Fact, MOST_ENTRIES};
use hlir::{Entry, MeterId, TableId};
use std::cmp::Reverse;

impl Store {
    /// From now on refuses writes that break one of these. What the store holds already may do so:
    /// [`Store::check_assumptions`].
    pub fn assume(&mut self, assumptions: &[Assumption]) {
        self.guard = Guard::new(assumptions);
        self.count_for_guard();
    }

    /// Whether two entries have the same matches is known from counters alone.
    pub(super) fn count_for_guard(&mut self) {
        if self.guard.needs_distinct() && self.facts.is_none() {
            self.count_facts();
        }
    }

    /// What the code takes for granted.
    pub fn assumptions(&self) -> &[Assumption] {
        self.guard.assumptions()
    }

    /// Whether packets may run code that takes for granted what [`Store::assume`] was given.
    ///
    /// # Errors
    /// Names the first table that does not hold what it has to. All entries of tables with assumptions are read.
    pub fn check_assumptions(&self) -> Result<(), Refusal> {
        let missing = self.guard.assumptions().iter().find(|one| !self.holds(one));
        missing.map_or(Ok(()), |one| {
            let name = &self.program.tables[one.table].name;
            let what =
                "does not hold what the code is specialised for; write the same entries and default actions first";
            Err(Refusal::wrong(format!("table `{name}` {what}")))
        })
    }

    /// Whether the store has what is assumed.
    pub fn holds(&self, Assumption { table, fact }: &Assumption) -> bool {
        let none_breaks = || {
            let same = |one: &Entry, other: &Entry| self.is_same_key(*table, one, other);
            self.entries(*table).all(|stored| !breaks(&self.program, *table, fact, &stored.entry, &same))
        };
        let is_counted = |fact: &Fact| {
            let facts = self.facts.as_ref().and_then(|facts| facts.of_table(*table));
            facts.is_some_and(|facts| facts.contains(fact))
        };
        match fact {
            Fact::Empty => self.entry_count(*table) == 0,
            Fact::Default(call) => self.default_action(*table) == call,
            Fact::Entries(entries) => self.entry_count(*table) == entries.len() && none_breaks(),
            Fact::Leading(entries) => {
                let is_there = |entry: &Entry| {
                    let key = EntryKey { table: *table, matches: entry.matches.clone(), priority: entry.priority };
                    self.find(&key).is_some_and(|stored| stored.entry.action == entry.action)
                };
                entries.iter().all(is_there) && (Order::of(&self.program, *table).is_exact() || none_breaks())
            }
            Fact::Actions(_) | Fact::Argument { .. } | Fact::Any(_) | Fact::Key { .. } | Fact::Mask { .. } => {
                is_counted(fact) || none_breaks()
            }
            Fact::Distinct => {
                let counted_now = || Facts::of(self).of_table(*table).is_some_and(|all| all.contains(fact));
                if self.facts.is_some() { is_counted(fact) } else { counted_now() }
            }
            Fact::Unmetered => {
                is_counted(fact) || !self.meters().any(|(_, element, _)| table_of(&element) == Some(*table))
            }
        }
    }

    /// That these entries of a table win before others, as far as they do: at most [`MOST_ENTRIES`], the first of those given.
    /// All entries are read, unless all keys are exact.
    pub fn leading(&self, table: TableId, keys: &[EntryKey]) -> Option<Fact> {
        let order = Order::of(&self.program, table);
        let has_call = |entry: &Entry| matches!(entry.action, EntryAction::Call(_));
        let found = keys.iter().filter_map(|key| Some(self.find(key)?.entry)).filter(has_call);
        let wins = |entry: &Entry| self.holds(&Assumption { table, fact: Fact::Leading(vec![entry.clone()]) });
        let leading: Vec<Entry> = found.filter(wins).take(MOST_ENTRIES).collect();
        (!leading.is_empty()).then(|| Fact::Leading(in_order(&order, leading)))
    }

    /// Keeps [`Store::facts`] from now on. Memory grows with the different arguments and masks of all entries.
    pub fn count_facts(&mut self) {
        self.facts = Some(Box::new(Facts::of(self)));
    }

    pub fn facts(&self) -> Option<&Facts> {
        self.facts.as_deref()
    }

    /// Counts an entry that was replaced or deleted, and one that was written.
    pub(super) fn counted(&mut self, table: TableId, before: Option<&Entry>, after: Option<&Entry>) {
        let Some(facts) = &mut self.facts else { return };
        before.into_iter().for_each(|entry| facts.take(table, entry));
        after.into_iter().for_each(|entry| facts.add(table, entry));
    }

    /// Counts the rates of a meter that were set before, and those that are now.
    pub(super) fn counted_rates(&mut self, meter: MeterId, were_set: bool, are_set: bool) {
        if let Some((facts, table)) = self.facts.as_mut().zip(self.program.meters[meter].table) {
            facts.note_rates(table, were_set, are_set);
        }
    }

    /// Whether an entry that is written would be the second one with its matches. What does not fit the table is refused anyway.
    fn repeats(&self, table: TableId, entry: &Entry) -> bool {
        let declared = &self.program.tables[table];
        if self.tables[index(table)].check_matches(declared, &entry.matches).is_err() {
            return false;
        }
        let is_there = || {
            let key = EntryKey { table, matches: entry.matches.clone(), priority: entry.priority };
            self.find(&key).is_some()
        };
        self.facts.as_ref().is_none_or(|facts| facts.repeats(table, entry)) && !is_there()
    }

    /// What the code takes for granted and an update breaks. Decided from the update and counters, whatever the table holds.
    pub fn broken_by(&self, update: &Update) -> Option<&Assumption> {
        match update {
            Update::Insert { table, entry } | Update::Modify { table, entry } => {
                let same = |one: &Entry, other: &Entry| self.is_same_key(*table, one, other);
                let repeats = || self.repeats(*table, entry);
                self.guard.broken_by_entry(&self.program, *table, (entry, &same), &repeats)
            }
            Update::SetDefault { table, call } => self.guard.broken_by_default(*table, call),
            Update::Delete(key) => {
                self.guard.broken_by_deletion(key.table, &|entries| self.place_of(entries, key).is_some())
            }
            // A specialised program has no table for a direct meter without rates.
            Update::SetMeter { element, rates: Some(_), .. } => {
                table_of(element).and_then(|table| self.guard.broken_by_rates(table))
            }
            Update::SetIdleTimeout { .. }
            | Update::SetExpiry { .. }
            | Update::SetMember { .. }
            | Update::DeleteMember { .. }
            | Update::SetGroup { .. }
            | Update::DeleteGroup { .. }
            | Update::SetValueSet { .. }
            | Update::SetCrc { .. }
            | Update::SetMulticast { .. }
            | Update::SetSession { .. }
            | Update::SetMeter { rates: None, .. }
            | Update::SetPort { .. }
            | Update::Record(_) => None,
        }
    }

    /// Refuses an update that breaks what the code takes for granted.
    pub(super) fn check_facts(&self, update: &Update) -> Result<(), Refusal> {
        self.broken_by(update).map_or(Ok(()), |broken| Err(refusal(&self.program, broken)))
    }

    /// Which of some entries of a table has this key.
    pub fn place_of(&self, entries: &[Entry], key: &EntryKey) -> Option<usize> {
        let EntryKey { table, matches, priority } = key;
        entries.iter().position(|entry| {
            let one = Entry { matches: matches.clone(), priority: *priority, ..entry.clone() };
            self.is_same_key(*table, &one, entry)
        })
    }

    /// Whether two entries of a table are the same to the store, whatever their actions.
    pub(super) fn is_same_key(&self, table: TableId, one: &Entry, other: &Entry) -> bool {
        let declared = &self.program.tables[table];
        let store = &self.tables[index(table)];
        let fits = |entry: &Entry| store.check_matches(declared, &entry.matches).is_ok();
        fits(one) && fits(other) && {
            let key = |entry: &Entry| store.key(&entry.matches, entry.priority);
            key(one) == key(other)
        }
    }
}

/// The table whose direct meters or counters have an element.
fn table_of(element: &Element) -> Option<TableId> {
    match element {
        Element::Entry(key) => Some(key.table),
        Element::Default(table) => Some(*table),
        Element::Index(_) => None,
    }
}

impl Facts {
    /// Counts what a store holds.
    pub fn of(store: &Store) -> Facts {
        let program = store.program().clone();
        let mut facts = Facts::empty(&program);
        for (id, _) in program.tables.iter() {
            store.entries(id).for_each(|stored| facts.add(id, &stored.entry));
        }
        for (meter, ..) in store.meters() {
            program.meters[meter].table.into_iter().for_each(|table| facts.note_rates(table, false, true));
        }
        facts
    }

    /// All facts that hold for what a store holds, of which these are the counters.
    pub fn hold(&self, store: &Store) -> Vec<Assumption> {
        let program = store.program();
        let mut all = Vec::new();
        for (id, _) in program.tables.iter() {
            let Some(facts) = self.of_table(id) else { continue };
            let has_calls = program.tables[id].profile.is_none();
            let entries = has_calls.then(|| few_entries(store, id)).flatten();
            let entries = entries.filter(|entries| !entries.is_empty()).map(Fact::Entries);
            let default = Fact::Default(store.default_action(id).clone());
            let facts = facts.into_iter().chain(entries).chain([default]);
            all.extend(facts.map(|fact| Assumption { table: id, fact }));
        }
        all
    }
}

/// The entries of a table in the order in which they win, if there are few, and only one order.
fn few_entries(store: &Store, id: TableId) -> Option<Vec<Entry>> {
    if store.entry_count(id) > MOST_ENTRIES {
        return None;
    }
    let (table, order) = (&store.program().tables[id], Order::of(store.program(), id));
    let entries = in_order(&order, store.entries(id).map(|stored| stored.entry).collect());
    let are_ordered = |pair: &[Entry]| order.rank(&pair[0]) != order.rank(&pair[1]);
    let has_one_order = !table.has_priorities() || entries.windows(2).all(are_ordered);
    has_one_order.then_some(entries)
}

/// Those that win first.
fn in_order(order: &Order, mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_by_cached_key(|entry| (Reverse(order.rank(entry)), format!("{:?}", entry.matches)));
    entries
}
