//! What was written for one program, written for another: tables, keys, actions and objects are the same if their names are.
//!
//! What a controller has changed is carried: entries that it wrote, changed or deleted, and default actions. What it left as the program
//! had it is as the other program has it.

use super::table::TableStore;
use super::texts;
use super::{Store, Stored, index};
use crate::plane::{Element, EntryKey};
use crate::{Record, Refusal, RefusalKind, Update};
use hlir::entry::EntryAction;
use hlir::{ActionCall, ActionSet, Entry, Match, ProfileId, Program, Table, TableId, WeightedCall};
use std::sync::Arc;

/// From the numbers of one program to those of another.
struct Renaming<'a> {
    from: &'a Program,
    to: &'a Program,
}

fn lost(kind: &str, name: &str) -> Refusal {
    let sentence = format!("the new program has no {kind} `{name}`, to which the controller has written");
    Refusal::new(RefusalKind::Missing, sentence)
}

fn otherwise(what: &str, name: &str) -> Refusal {
    let sentence = format!("the new program has other {what} `{name}`, which has been written to");
    Refusal::new(RefusalKind::Wrong, sentence)
}

impl Renaming<'_> {
    fn table(&self, id: TableId) -> Result<TableId, Refusal> {
        let name = &self.from.tables[id].name;
        let found = self.to.tables.iter().find(|(_, table)| table.name == *name);
        found.map(|(id, _)| id).ok_or_else(|| lost("table", name))
    }

    fn profile(&self, id: ProfileId) -> Result<ProfileId, Refusal> {
        let name = &self.from.profiles[id].name;
        let found = self.to.profiles.iter().find(|(_, profile)| profile.name == *name);
        found.map(|(id, _)| id).ok_or_else(|| lost("action profile", name))
    }

    fn call(&self, (from, to): (&Table, &Table), call: &ActionCall) -> Result<ActionCall, Refusal> {
        let declared = &from.actions[call.action as usize];
        let action = to.actions.iter().position(|action| action.name == declared.name);
        let action = action.ok_or_else(|| lost("action", &declared.name))?;
        if !texts::same_parameters(self.from, self.to, &declared.name) {
            return Err(otherwise("translated types of parameters for action", &declared.name));
        }
        let parameters = &to.actions[action].parameters;
        for parameter in &declared.parameters {
            if !parameters.iter().any(|other| other.name == parameter.name) {
                return Err(lost(&format!("parameter of action `{}`", declared.name), &parameter.name));
            }
        }
        let argument = |name: &str| {
            let place = declared.parameters.iter().position(|parameter| parameter.name == name);
            let new = || lost(&format!("value for parameter `{name}` of action"), &declared.name);
            place.map(|place| call.arguments[place].clone()).ok_or_else(new)
        };
        let arguments = parameters.iter().map(|parameter| argument(&parameter.name)).collect::<Result<_, _>>()?;
        Ok(ActionCall { action: action as u32, arguments })
    }

    /// The matches in the order of the other table's keys.
    fn matches(&self, from: TableId, to: TableId, matches: &[Match]) -> Result<Vec<Match>, Refusal> {
        let (old, new) = (&self.from.tables[from], &self.to.tables[to]);
        let form = |program: &Program, key: &hlir::Key| (key.kind, program.expression_type(&key.value, &[]).width());
        let otherwise = || otherwise("keys for table", &old.name);
        if old.keys.len() != new.keys.len() || !texts::same_keys(self.from, self.to, &old.name) {
            return Err(otherwise());
        }
        let same = |(key, other): (&hlir::Key, &hlir::Key)| {
            key.name == other.name && form(self.from, key) == form(self.to, other)
        };
        let place = |other: &hlir::Key| old.keys.iter().position(|key| same((key, other))).ok_or_else(otherwise);
        if old.keys.iter().zip(&new.keys).all(same) {
            return Ok(matches.to_vec());
        }
        new.keys.iter().map(|key| Ok(matches[place(key)?].clone())).collect()
    }

    fn key(&self, key: EntryKey) -> Result<EntryKey, Refusal> {
        let table = self.table(key.table)?;
        Ok(EntryKey { table, matches: self.matches(key.table, table, &key.matches)?, priority: key.priority })
    }

    fn entry(&self, from: TableId, to: TableId, entry: &Entry) -> Result<Entry, Refusal> {
        let action = match &entry.action {
            EntryAction::Call(call) => {
                EntryAction::Call(self.call((&self.from.tables[from], &self.to.tables[to]), call)?)
            }
            EntryAction::Member(_) | EntryAction::Group(_) => entry.action.clone(),
            EntryAction::Set(set) => {
                let tables = (&self.from.tables[from], &self.to.tables[to]);
                let renamed = |action: &WeightedCall| {
                    Ok(WeightedCall { call: self.call(tables, &action.call)?, ..action.clone() })
                };
                let actions = set.actions.iter().map(renamed).collect::<Result<_, Refusal>>()?;
                EntryAction::Set(ActionSet { actions, ..set.clone() })
            }
        };
        let matches = self.matches(from, to, &entry.matches)?;
        Ok(Entry { matches, action, priority: entry.priority, constant: false })
    }

    fn element(&self, element: Element) -> Result<Element, Refusal> {
        match element {
            Element::Index(_) => Ok(element),
            Element::Entry(key) => Ok(Element::Entry(self.key(key)?)),
            Element::Default(table) => Ok(Element::Default(self.table(table)?)),
        }
    }
}

/// Whether a table's entry is as the program had it.
fn is_among(own: &TableStore, declared: &Table, stored: &Stored) -> bool {
    let there = own.find(declared, &own.key(&stored.entry.matches, stored.entry.priority));
    there.is_some_and(|there| {
        (&there.entry.action, there.idle_timeout_ns, &there.metadata)
            == (&stored.entry.action, stored.idle_timeout_ns, &stored.metadata)
    })
}

impl Store {
    /// Whether this table of another program begins with the entries and the default action that the table of its name has here.
    pub fn begins_alike(&self, program: &Program, table: TableId) -> bool {
        let renaming = Renaming { from: &self.program, to: program };
        let to = &program.tables[table];
        let Some((id, from)) = self.program.tables.iter().find(|(_, from)| from.name == to.name) else { return false };
        let (old, new) = (TableStore::new(&self.program, from), TableStore::new(program, to));
        let is_there = |stored: Stored| {
            let entry = renaming.entry(id, table, &stored.entry).ok();
            let there = entry.as_ref().and_then(|entry| new.find(to, &new.key(&entry.matches, entry.priority)));
            there.map(|there| there.entry.action) == entry.map(|entry| entry.action)
        };
        old.len() == new.len()
            && renaming.call((from, to), &from.default).is_ok_and(|default| default == to.default)
            && old.stored_entries(from).all(is_there)
    }

    /// The key of an entry in another program; none if its table or its keys are others there.
    pub fn key_in(&self, program: &Program, key: EntryKey) -> Option<EntryKey> {
        Renaming { from: &self.program, to: program }.key(key).ok()
    }

    /// All that a controller has written, for another program.
    ///
    /// # Errors
    /// The other program lacks an object that was written to, or refuses what was written.
    pub fn carried_to(&self, program: Arc<Program>) -> Result<Store, Refusal> {
        let mut new = self.emptied_for(program.clone());
        let renaming = Renaming { from: &self.program, to: &program };
        self.carry_profiles(&renaming, &mut new)?;
        for (id, _) in self.program.tables.iter() {
            self.carry_table(&renaming, id, &mut new)?;
        }
        self.carry_objects(&renaming, &mut new)?;
        self.carry_records(&mut new);
        Ok(new)
    }

    /// What of a table is not as the program had it. Deletions come first: they make room.
    fn carry_table(&self, renaming: &Renaming<'_>, id: TableId, new: &mut Store) -> Result<(), Refusal> {
        let (declared, written) = (&self.program.tables[id], &self.tables[index(id)]);
        let own = TableStore::new(&self.program, declared);
        for Stored { entry, .. } in own.stored_entries(declared) {
            if !written.contains(&written.key(&entry.matches, entry.priority)) {
                new.carry_deletion(renaming, EntryKey { table: id, matches: entry.matches, priority: entry.priority })?;
            }
        }
        for stored in written.stored_entries(declared) {
            if own.len() == 0 || !is_among(&own, declared, &stored) {
                self.carry_entry(renaming, (id, &stored), new)?;
            }
        }
        for (profile, nanoseconds) in &written.expiry_ns {
            let (table, profile, nanoseconds) = (renaming.table(id)?, *profile, *nanoseconds);
            new.apply(&Update::SetExpiry { table, profile, nanoseconds })?;
        }
        let Some(call) = written.default.as_ref().filter(|call| **call != declared.default) else { return Ok(()) };
        let table = renaming.table(id)?;
        let call = renaming.call((declared, &renaming.to.tables[table]), call)?;
        if *new.default_action(table) != call {
            new.apply(&Update::SetDefault { table, call })?;
        }
        Ok(())
    }

    fn carry_entry(
        &self,
        renaming: &Renaming<'_>,
        (id, stored): (TableId, &Stored),
        new: &mut Store,
    ) -> Result<(), Refusal> {
        let table = renaming.table(id)?;
        let entry = renaming.entry(id, table, &stored.entry)?;
        let key = EntryKey { table, matches: entry.matches.clone(), priority: entry.priority };
        let set = self.set_number(id, &stored.entry);
        let there = new.find(&key).map(|there| there.entry.action);
        if there.as_ref() != Some(&entry.action) {
            set.into_iter().for_each(|set| new.tables[index(table)].sets.number_next(set));
            let update = match there {
                Some(_) => Update::Modify { table, entry },
                None => Update::Insert { table, entry },
            };
            new.apply(&update)?;
        }
        if stored.idle_timeout_ns > 0 {
            new.apply(&Update::SetIdleTimeout { key: key.clone(), nanoseconds: stored.idle_timeout_ns })?;
        }
        if !stored.metadata.is_empty() {
            new.apply(&Update::Record(Record::Metadata { key, metadata: stored.metadata.clone() }))?;
        }
        Ok(())
    }

    /// An entry that the other program does not bring need not go.
    fn carry_deletion(&mut self, renaming: &Renaming<'_>, key: EntryKey) -> Result<(), Refusal> {
        let Ok(key) = renaming.key(key) else { return Ok(()) };
        if self.find(&key).is_some() {
            self.apply(&Update::Delete(key))?;
        }
        Ok(())
    }

    fn carry_profiles(&self, renaming: &Renaming<'_>, new: &mut Store) -> Result<(), Refusal> {
        for (id, _) in self.program.profiles.iter() {
            let of_profile =
                |program: &Program, id| program.tables.values().find(|table| table.profile == Some(id)).cloned();
            for (member, call) in self.members(id) {
                let profile = renaming.profile(id)?;
                let tables = of_profile(&self.program, id).zip(of_profile(&new.program, profile));
                let call = tables.map(|(from, to)| renaming.call((&from, &to), call)).transpose()?;
                if let Some(call) = call {
                    new.apply(&Update::SetMember { profile, member, call })?;
                }
            }
            for (group, value) in self.groups(id) {
                let profile = renaming.profile(id)?;
                new.apply(&Update::SetGroup { profile, group, value: value.clone() })?;
            }
        }
        Ok(())
    }

    /// Groups, sessions, value sets, parameters of CRCs and rates of meters.
    fn carry_objects(&self, renaming: &Renaming<'_>, new: &mut Store) -> Result<(), Refusal> {
        new.multicast.clone_from(&self.multicast);
        new.sessions.clone_from(&self.sessions);
        for (id, declared) in self.program.value_sets.iter() {
            let members = self.value_set(id);
            if !members.is_empty() {
                let found = new.program.value_sets.iter().find(|(_, set)| set.name == declared.name);
                let set = found.map(|(set, _)| set).ok_or_else(|| lost("value set", &declared.name))?;
                if !texts::same_fields(&self.program, &new.program, &declared.name) {
                    return Err(otherwise("fields for value set", &declared.name));
                }
                new.apply(&Update::SetValueSet { set, members: members.to_vec() })?;
            }
        }
        for (id, declared) in self.program.crcs.iter() {
            let Some(parameters) = self.crc(id) else { continue };
            let found = new.program.crcs.iter().find(|(_, crc)| crc.name == declared.name);
            let (crc, to) = found.ok_or_else(|| lost("CRC", &declared.name))?;
            if to.width != declared.width {
                return Err(otherwise("bits for CRC", &declared.name));
            }
            new.apply(&Update::SetCrc { crc, parameters: Some(parameters) })?;
        }
        for (id, element, rates) in self.meters() {
            let name = &self.program.meters[id].name;
            let found = new.program.meters.iter().find(|(_, meter)| meter.name == *name);
            let meter = found.map(|(meter, _)| meter).ok_or_else(|| lost("meter", name))?;
            new.apply(&Update::SetMeter { meter, element: renaming.element(element)?, rates: Some(rates) })?;
        }
        Ok(())
    }
}
