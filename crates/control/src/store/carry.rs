//! What was written for one program, written for another: tables, actions and objects are the same if their names are.

use super::{Origin, Store, index};
use crate::plane::{Cell, EntryKey};
use crate::{Refusal, RefusalKind, Update};
use hlir::entry::EntryAction;
use hlir::{ActionCall, ActionSet, Entry, ProfileId, Program, Table, TableId, WeightedCall};
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
        let name = &from.actions[call.action as usize].name;
        let action = to.actions.iter().position(|action| action.name == *name);
        let action = action.ok_or_else(|| lost("action", name))? as u32;
        Ok(ActionCall { action, arguments: call.arguments.clone() })
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
        Ok(Entry { action, ..entry.clone() })
    }

    fn cell(&self, cell: Cell) -> Result<Cell, Refusal> {
        match cell {
            Cell::Index(_) => Ok(cell),
            Cell::Entry(key) => Ok(Cell::Entry(EntryKey { table: self.table(key.table)?, ..key })),
        }
    }
}

impl Store {
    /// All that a controller has written, for another program.
    ///
    /// # Errors
    /// The other program lacks an object that was written to, or refuses what was written.
    pub fn carried_to(&self, program: Arc<Program>) -> Result<Store, Refusal> {
        let mut new = self.emptied_for(program.clone());
        let renaming = Renaming { from: &self.program, to: &program };
        self.carry_profiles(&renaming, &mut new)?;
        for (id, declared) in self.program.tables.iter() {
            let written = self.entries(id).filter(|stored| stored.origin == Origin::Controller);
            let changed = &self.tables[index(id)].default;
            for stored in written {
                let table = renaming.table(id)?;
                let entry = renaming.entry(id, table, &stored.entry)?;
                let key = EntryKey { table, matches: entry.matches.clone(), priority: entry.priority };
                let set = self.set_number(id, &stored.entry);
                set.into_iter().for_each(|set| new.tables[index(table)].sets.number_next(set));
                new.apply(&Update::Insert { table, entry })?;
                if stored.idle_timeout_ns > 0 {
                    new.apply(&Update::SetIdleTimeout { key: key.clone(), nanoseconds: stored.idle_timeout_ns })?;
                }
                new.set_metadata(&key, &stored.metadata);
            }
            if let Some(call) = changed {
                let table = renaming.table(id)?;
                let call = renaming.call((declared, &program.tables[table]), call)?;
                new.apply(&Update::SetDefault { table, call })?;
            }
        }
        self.carry_objects(&renaming, &mut new)?;
        Ok(new)
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

    /// Groups, sessions, value sets and rates of meters.
    fn carry_objects(&self, renaming: &Renaming<'_>, new: &mut Store) -> Result<(), Refusal> {
        new.multicast.clone_from(&self.multicast);
        new.sessions.clone_from(&self.sessions);
        for (id, declared) in self.program.value_sets.iter() {
            let members = self.value_set(id);
            if !members.is_empty() {
                let found = new.program.value_sets.iter().find(|(_, set)| set.name == declared.name);
                let set = found.map(|(set, _)| set).ok_or_else(|| lost("value set", &declared.name))?;
                new.apply(&Update::SetValueSet { set, members: members.to_vec() })?;
            }
        }
        for (id, cell, rates) in self.meters() {
            let name = &self.program.meters[id].name;
            let found = new.program.meters.iter().find(|(_, meter)| meter.name == *name);
            let meter = found.map(|(meter, _)| meter).ok_or_else(|| lost("meter", name))?;
            new.apply(&Update::SetMeter { meter, cell: renaming.cell(cell)?, rates: Some(rates) })?;
        }
        Ok(())
    }
}
