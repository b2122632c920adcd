//! Entries and default actions of tables.

use crate::convert::{call_entry, priority, read_call, read_match, write_action, write_match};
use crate::device::{Work, find};
use crate::handles::NoEntry;
use crate::service::Fault;
use crate::standard::{
    ActionEntry, ActionEntryType, AddEntryOptions, EntryLife, MatchParameter, TableCode, TableEntry,
};
use control::plane::EntryKey;
use control::store::Stored;
use control::{Record, Refusal, RefusalKind, Update};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, MatchKind, Program, Scope, Table, TableId};
use std::sync::Arc;

pub type Answer<T> = Result<T, Fault<TableCode>>;

/// A table of the source.
pub enum Found {
    Table(TableId),
    /// No packet reaches it: what is written has no effect. Its name.
    Unreached(String),
}

/// What an entry of a table must refer to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Direct,
    /// To a member.
    Indirect,
    /// To a group.
    WithSelector,
}

/// The code of a refusal; `wrong` is that of what does not suit the program.
pub fn code(refusal: &Refusal, wrong: TableCode) -> TableCode {
    match refusal.kind {
        RefusalKind::Wrong => wrong,
        RefusalKind::TooWide => TableCode::BadMatchKey,
        RefusalKind::Exists => TableCode::DuplicateEntry,
        RefusalKind::Missing => TableCode::InvalidHandle,
        RefusalKind::Constant => TableCode::ImmutableEntries,
        RefusalKind::InUse => TableCode::MemberStillUsed,
        RefusalKind::Full => TableCode::Full,
    }
}

/// The code where the member or group of an entry is not there.
fn no_target(refusal: &Refusal, kind: Kind) -> Option<TableCode> {
    let code = match kind {
        Kind::Direct => return None,
        Kind::Indirect => TableCode::InvalidMember,
        Kind::WithSelector => TableCode::InvalidGroup,
    };
    (refusal.kind == RefusalKind::Missing).then_some(code)
}

fn no_entry(why: NoEntry) -> TableCode {
    match why {
        NoEntry::Invalid => TableCode::InvalidHandle,
        NoEntry::Expired => TableCode::ExpiredHandle,
    }
}

fn widths(program: &Arc<Program>, table: TableId) -> Vec<(MatchKind, u32)> {
    program.key_kinds(table)
}

impl Work<'_> {
    pub fn table(&mut self, name: &str) -> Answer<Found> {
        let program = self.program.clone();
        let reached = program.tables.iter().map(|(_, table)| table.name.as_str());
        let sources = program.interface.tables.iter().map(|table| table.name.as_str());
        let gone: Vec<&str> = sources.filter(|name| !reached.clone().any(|other| other == *name)).collect();
        let at = find(name, reached.chain(gone.iter().copied())).ok_or(TableCode::InvalidTableName)?;
        Ok(match program.tables.iter().nth(at) {
            Some((id, _)) => Found::Table(id),
            None => Found::Unreached(gone[at - program.tables.len()].to_string()),
        })
    }

    /// A table that packets reach; a client that reads another finds nothing there.
    pub fn reached(&mut self, name: &str) -> Answer<TableId> {
        match self.table(name)? {
            Found::Table(table) => Ok(table),
            Found::Unreached(_) => Err(TableCode::InvalidHandle.into()),
        }
    }

    pub fn declared(&self, table: TableId) -> &Table {
        &self.program.tables[table]
    }

    fn check_kind(&self, table: TableId, kind: Kind) -> Answer<()> {
        let profile = self.declared(table).profile.map(|profile| &self.program.profiles[profile]);
        let suits = match kind {
            Kind::Direct => profile.is_none(),
            Kind::Indirect => profile.is_some(),
            Kind::WithSelector => profile.is_some_and(|profile| profile.selector.is_some()),
        };
        if suits { Ok(()) } else { Err(TableCode::WrongTableType.into()) }
    }

    fn key(&self, table: TableId, given: &[MatchParameter], options: &AddEntryOptions) -> Answer<EntryKey> {
        let fields = widths(&self.program, table);
        if given.len() != fields.len() {
            return Err(TableCode::BadMatchKey.into());
        }
        let matches = given.iter().zip(fields).map(|(given, field)| read_match(given, field));
        let matches = matches.collect::<Result<Vec<_>, _>>()?;
        let given = u32::try_from(options.priority.unwrap_or(0)).map_err(|_| TableCode::BadMatchKey)?;
        Ok(EntryKey { table, matches, priority: priority(self.declared(table), given) })
    }

    /// Adds an entry, whose action `action` gives, and answers its handle.
    pub fn add_entry(
        &mut self,
        (name, kind): (&str, Kind),
        (given, options): (&[MatchParameter], &AddEntryOptions),
        action: impl FnOnce(&Table) -> Result<EntryAction, TableCode>,
    ) -> Answer<i32> {
        let table = match self.table(name)? {
            Found::Table(table) => table,
            Found::Unreached(name) => {
                let next = self.state.unreached.entry(name).or_default();
                *next += 1;
                return Ok(*next - 1);
            }
        };
        self.check_kind(table, kind)?;
        let key = self.key(table, given, options)?;
        let action = action(self.declared(table))?;
        self.handles(table);
        let entry = Entry { matches: key.matches.clone(), priority: key.priority, action, constant: false };
        self.write(&Update::Insert { table, entry })
            .map_err(|refusal| no_target(&refusal, kind).unwrap_or(code(&refusal, TableCode::BadMatchKey)))?;
        // The store may have another form of the same matches.
        let stored = self.store().find(&key).map(|stored| stored.entry.matches);
        let key = EntryKey { matches: stored.unwrap_or(key.matches), ..key };
        if let Err(refusal) = self.give_array_rates(&key) {
            // An entry whose addition is answered with a mistake is not there.
            self.write(&Update::Delete(key)).map_err(|refusal| code(&refusal, TableCode::Error))?;
            return Err(code(&refusal, TableCode::InvalidMeterOperation).into());
        }
        Ok(self.handles(table).add(key))
    }

    pub fn entry_key(&mut self, table: TableId, handle: i32) -> Answer<EntryKey> {
        Ok(self.handles(table).key(handle).map_err(no_entry)?.clone())
    }

    pub fn modify_entry(
        &mut self,
        (name, kind): (&str, Kind),
        handle: i32,
        action: impl FnOnce(&Table) -> Result<EntryAction, TableCode>,
    ) -> Answer<()> {
        let table = self.reached(name)?;
        self.check_kind(table, kind)?;
        let EntryKey { matches, priority, .. } = self.entry_key(table, handle)?;
        let action = action(self.declared(table))?;
        let entry = Entry { matches, priority, action, constant: false };
        self.write(&Update::Modify { table, entry })
            .map_err(|refusal| no_target(&refusal, kind).unwrap_or(code(&refusal, TableCode::BadActionData)))?;
        Ok(())
    }

    pub fn delete_entry(&mut self, (name, kind): (&str, Kind), handle: i32) -> Answer<()> {
        let table = self.reached(name)?;
        self.check_kind(table, kind)?;
        let key = self.entry_key(table, handle)?;
        self.write(&Update::Delete(key.clone())).map_err(|refusal| code(&refusal, TableCode::Error))?;
        self.handles(table).remove(&key);
        Ok(())
    }

    pub fn set_entry_timeout(&mut self, name: &str, handle: i32, timeout_ms: i32) -> Answer<()> {
        let table = self.reached(name)?;
        if self.declared(table).idle_timeout.is_none() {
            return Err(TableCode::AgeingDisabled.into());
        }
        let key = self.entry_key(table, handle)?;
        let nanoseconds = u64::try_from(timeout_ms).map_err(|_| TableCode::Error)? * 1_000_000;
        let update = Update::SetIdleTimeout { key, nanoseconds };
        self.write(&update).map_err(|refusal| code(&refusal, TableCode::Error))?;
        Ok(())
    }

    pub fn entry_count(&mut self, name: &str) -> Answer<i64> {
        Ok(match self.table(name)? {
            Found::Table(table) => self.store().entry_count(table) as i64,
            Found::Unreached(name) => i64::from(self.state.unreached.get(&name).copied().unwrap_or(0)),
        })
    }

    pub fn clear_entries(&mut self, name: &str, default_too: bool) -> Answer<()> {
        let table = match self.table(name)? {
            Found::Table(table) => table,
            Found::Unreached(name) => {
                self.state.unreached.remove(&name);
                return Ok(());
            }
        };
        if self.declared(table).entries_constant {
            return Err(TableCode::ImmutableEntries.into());
        }
        for key in self.store().written(table) {
            self.write(&Update::Delete(key)).map_err(|refusal| code(&refusal, TableCode::Error))?;
        }
        let cleared = self.switch.plane().clear_inserted(table);
        cleared.map_err(|refusal| code(&refusal, TableCode::Error))?;
        self.forget_handles(table);
        if default_too { self.reset_default(name) } else { Ok(()) }
    }

    pub fn set_default(&mut self, name: &str, action: &str, data: &crate::standard::ActionData) -> Answer<()> {
        let Found::Table(table) = self.table(name)? else { return Ok(()) };
        self.check_kind(table, Kind::Direct)?;
        let call = read_call(self.declared(table), action, data, Scope::TableOnly)?;
        self.write_default_call(table, call)
    }

    pub fn reset_default(&mut self, name: &str) -> Answer<()> {
        let Found::Table(table) = self.table(name)? else { return Ok(()) };
        self.set_default_link(table, None).map_err(|refusal| code(&refusal, TableCode::Error))?;
        let call = self.declared(table).default.clone();
        if *self.store().default_action(table) != call {
            self.write(&Update::SetDefault { table, call }).map_err(|refusal| code(&refusal, TableCode::Error))?;
        }
        Ok(())
    }

    pub fn default_entry(&mut self, name: &str) -> Answer<ActionEntry> {
        let table = self.reached(name)?;
        if let Some(member) = self.store().default_member(table) {
            let mbr_handle = Some(member as i32);
            return Ok(ActionEntry { action_type: ActionEntryType::Member, mbr_handle, ..ActionEntry::default() });
        }
        let call = self.store().default_action(table).clone();
        let declared = self.declared(table);
        // BMv2's tables with a profile have no default action before a member is set.
        let does_nothing = declared.actions.get(call.action as usize).is_none_or(|action| action.body.is_empty());
        match declared.profile.is_some() && does_nothing {
            true => Ok(ActionEntry::default()),
            false => Ok(call_entry(declared, &call)),
        }
    }

    /// The action of a member becomes the default action, and follows the member: data planes have one action for a miss.
    pub fn set_default_member(&mut self, name: &str, member: i32) -> Answer<()> {
        let Found::Table(table) = self.table(name)? else { return Ok(()) };
        self.check_kind(table, Kind::Indirect)?;
        let profile = self.declared(table).profile.ok_or(TableCode::WrongTableType)?;
        let member = self.known_member(profile, member)?;
        let call = self.store().member(profile, member).cloned().ok_or(TableCode::InvalidMember)?;
        self.write_default_call(table, call)?;
        self.set_default_link(table, Some(member)).map_err(|refusal| code(&refusal, TableCode::Error))?;
        Ok(())
    }

    /// The member that the default action follows.
    pub fn set_default_link(&mut self, table: TableId, member: Option<u32>) -> Result<(), Refusal> {
        match self.store().default_member(table) == member {
            true => Ok(()),
            false => self.write(&Update::Record(Record::DefaultMember { table, member })),
        }
    }

    fn write_default_call(&mut self, table: TableId, call: ActionCall) -> Answer<()> {
        let written = self.write(&Update::SetDefault { table, call });
        Ok(written.map_err(|refusal| match refusal.kind == RefusalKind::Constant {
            true => TableCode::DefaultEntryIsConst,
            false => code(&refusal, TableCode::InvalidActionName),
        })?)
    }

    /// A group cannot be the default action: a miss runs one action, and selects none.
    pub fn refuse_default_group(&mut self, name: &str, group: i32) -> Answer<()> {
        let Found::Table(table) = self.table(name)? else { return Ok(()) };
        self.check_kind(table, Kind::WithSelector)?;
        let profile = self.declared(table).profile.ok_or(TableCode::WrongTableType)?;
        self.known_group(profile, group)?;
        (self.log)(
            "a miss of a table runs one action, so no group can be its default: set a member (table_indirect_set_default)",
        );
        Err(TableCode::DefaultEntryIsConst.into())
    }

    pub fn entries(&mut self, name: &str) -> Answer<Vec<TableEntry>> {
        let Found::Table(table) = self.table(name)? else { return Ok(Vec::new()) };
        let all: Vec<(i32, EntryKey)> = self.handles(table).iter().map(|(handle, key)| (handle, key.clone())).collect();
        Ok(all.iter().filter_map(|(handle, key)| self.described(*handle, key)).collect())
    }

    pub fn entry(&mut self, name: &str, handle: i32) -> Answer<TableEntry> {
        let table = self.reached(name)?;
        let key = self.entry_key(table, handle)?;
        Ok(self.described(handle, &key).ok_or(TableCode::InvalidHandle)?)
    }

    pub fn entry_from_key(
        &mut self,
        name: &str,
        given: &[MatchParameter],
        options: &AddEntryOptions,
    ) -> Answer<TableEntry> {
        let table = self.reached(name)?;
        if given.is_empty() {
            let action_entry = self.default_entry(name)?;
            return Ok(TableEntry { action_entry, entry_handle: -1, ..TableEntry::default() });
        }
        let key = self.key(table, given, options)?;
        let stored = self.store().find(&key).ok_or(TableCode::BadMatchKey)?;
        let key = EntryKey { matches: stored.entry.matches, ..key };
        let handle = self.handles(table).of(&key).ok_or(TableCode::BadMatchKey)?;
        Ok(self.described(handle, &key).ok_or(TableCode::BadMatchKey)?)
    }

    fn described(&mut self, handle: i32, key: &EntryKey) -> Option<TableEntry> {
        let Stored { entry, idle_timeout_ns, .. } = self.store().find(key)?;
        let milliseconds = |nanoseconds: u64| i32::try_from(nanoseconds / 1_000_000).unwrap_or(i32::MAX);
        // As in BMv2, only entries with a timeout have it.
        let life = (idle_timeout_ns != 0).then(|| EntryLife {
            timeout_ms: milliseconds(idle_timeout_ns),
            time_since_hit_ms: milliseconds(self.switch.since_last_hit_ns(key).unwrap_or(0)),
        });
        let table = self.declared(key.table);
        let fields = widths(&self.program, key.table);
        let shown = if table.has_priorities() { priority(table, entry.priority) as i32 } else { -1 };
        Some(TableEntry {
            match_key: entry.matches.iter().zip(fields).map(|(found, field)| write_match(found, field)).collect(),
            options: AddEntryOptions { priority: Some(shown) },
            entry_handle: handle,
            action_entry: write_action(table, &entry.action),
            life,
        })
    }
}
