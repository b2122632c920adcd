//! What a controller has written to one table, in little room.

use super::bytes::Bytes;
use super::check::{check_call, check_match};
use super::hash::KeyHash;
use super::packed::{self, Field};
use super::rows::entry::EntryRow;
use super::sets::{FIRST_SET, Sets};
use crate::{Refusal, RefusalKind};
use hlir::entry::EntryAction;
use hlir::{ActionCall, ActionSet, Entry, Match, Program, Scope, Table};
use std::collections::HashMap;

/// Who brought an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Program,
    /// The program, for good.
    Constant,
    Controller,
}

/// An entry with all that the store knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub entry: Entry,
    pub origin: Origin,
    /// Nanoseconds without a hit after which it is idle; 0 for none.
    pub idle_timeout_ns: u64,
    /// What the controller attached to the entry for itself.
    pub metadata: Vec<u8>,
}

/// How an entry's action is packed: what `number` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Call,
    Member,
    Group,
    Set,
}

/// The rare parts of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rare {
    idle_timeout_ns: u64,
    metadata: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Packed {
    kind: Kind,
    origin: Origin,
    /// Of the action, the member, the group or the set.
    number: u32,
    /// The action's data.
    data: Bytes,
    rare: Option<Box<Rare>>,
}

#[derive(Clone, Debug)]
pub struct TableStore {
    fields: Vec<Field>,
    has_priorities: bool,
    entries: HashMap<Bytes, Packed, KeyHash>,
    /// Instead of the program's own.
    pub default: Option<ActionCall>,
    /// What a controller attached to the default action for itself.
    pub default_metadata: Vec<u8>,
    /// The member of an action profile that the default action follows.
    pub default_member: Option<u32>,
    /// Times of profiles that are not as they were at the start.
    pub expiry_ns: HashMap<u8, u64>,
    pub sets: Sets,
}

impl TableStore {
    /// With the program's own entries: of two that match the same with the same priority, the first counts.
    pub fn new(program: &Program, table: &Table) -> TableStore {
        let width = |key: &hlir::Key| program.expression_type(&key.value, &[]).width();
        let mut store = TableStore {
            fields: table.keys.iter().map(|key| (key.kind, width(key))).collect(),
            has_priorities: table.has_priorities(),
            entries: HashMap::with_hasher(KeyHash::new()),
            default: None,
            default_metadata: Vec::new(),
            default_member: None,
            expiry_ns: HashMap::new(),
            sets: Sets::default(),
        };
        for entry in table.entries.iter() {
            let origin = if entry.constant || table.entries_constant { Origin::Constant } else { Origin::Program };
            let packed = pack(table, &entry.action, origin, (&mut store.sets, None));
            store.entries.entry(store.key(&entry.matches, entry.priority)).or_insert(packed);
        }
        store
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tables without priorities ignore the number.
    pub fn key(&self, matches: &[Match], priority: u32) -> Bytes {
        packed::key(matches, if self.has_priorities { priority } else { 0 }, self.fields.iter().copied())
    }

    /// The matches and the priority of a key of this table.
    pub fn unpacked(&self, key: &[u8]) -> (Vec<Match>, u32) {
        packed::unpacked(key, &self.fields)
    }

    pub fn contains(&self, key: &[u8]) -> bool {
        self.entries.contains_key(key)
    }

    pub fn check_matches(&self, table: &Table, matches: &[Match]) -> Result<(), Refusal> {
        if table.keys.is_empty() {
            return Err(refusal(table, "has no keys, so it has no entries"));
        }
        if matches.len() != table.keys.len() {
            return Err(refusal(table, &format!("has {} keys, the entry {}", table.keys.len(), matches.len())));
        }
        let mut keys = matches.iter().zip(&table.keys).zip(&self.fields);
        keys.try_for_each(|((found, key), (kind, width))| check_match(found, *kind, *width, &key.name))
    }

    /// Keeps a controller's new entry, if it is new and there is room.
    pub fn insert(&mut self, table: &Table, entry: &Entry, key: Bytes) -> Result<(), Refusal> {
        use std::collections::hash_map::Entry as Slot;
        let count = self.entries.len() as u64;
        match self.entries.entry(key) {
            Slot::Occupied(_) => {
                let exists = refusal(table, "has such an entry already");
                Err(Refusal { kind: RefusalKind::Exists, ..exists })
            }
            Slot::Vacant(slot) => match table.capacity().filter(|size| count >= *size) {
                Some(size) => {
                    let what = format!("is full: it has room for {size} entries");
                    Err(Refusal { kind: RefusalKind::Full, ..refusal(table, &what) })
                }
                None => {
                    let origin = if entry.constant { Origin::Constant } else { Origin::Controller };
                    slot.insert(pack(table, &entry.action, origin, (&mut self.sets, None)));
                    Ok(())
                }
            },
        }
    }

    /// Keeps a new entry, or another action of one that is there. Gives the entry as it was.
    pub fn keep(&mut self, table: &Table, entry: &Entry, key: Bytes) -> Option<Entry> {
        use std::collections::hash_map::Entry as Slot;
        let origin = if entry.constant { Origin::Constant } else { Origin::Controller };
        match self.entries.entry(key) {
            Slot::Vacant(slot) => {
                slot.insert(pack(table, &entry.action, origin, (&mut self.sets, None)));
                None
            }
            Slot::Occupied(mut slot) => {
                let there = slot.get_mut();
                let action = action_of(table, there, &self.sets);
                let old = there.set();
                let fresh = pack(table, &entry.action, origin, (&mut self.sets, old));
                old.filter(|_| fresh.kind != Kind::Set).into_iter().for_each(|old| self.sets.release(old));
                (there.kind, there.number, there.data) = (fresh.kind, fresh.number, fresh.data);
                Some(Entry { action, ..entry.clone() })
            }
        }
    }

    /// Makes an entry the program's own where the program has brought this very one.
    pub fn give_back(&mut self, table: &Table, entry: &Entry) {
        let is_own = |own: &Entry| {
            (&own.matches, &own.action) == (&entry.matches, &entry.action)
                && (!self.has_priorities || own.priority == entry.priority)
        };
        if table.entries.iter().any(is_own) {
            let key = self.key(&entry.matches, entry.priority);
            self.entries.entry(key).and_modify(|packed| packed.origin = Origin::Program);
        }
    }

    /// Makes room before many entries come.
    pub fn reserve(&mut self, entries: usize) {
        self.entries.reserve(entries);
    }

    pub fn keep_packed(&mut self, key: &[u8], (action, data): (u32, &[u8])) {
        let (kind, origin) = (Kind::Call, Origin::Controller);
        self.entries.insert(key.into(), Packed { kind, origin, number: action, data: data.into(), rare: None });
    }

    pub fn remove(&mut self, table: &Table, key: &[u8]) -> Option<Stored> {
        let (key, packed) = self.entries.remove_entry(key)?;
        let stored = self.stored(table, &key, &packed);
        packed.set().into_iter().for_each(|set| self.sets.release(set));
        Some(stored)
    }

    pub fn find(&self, table: &Table, key: &[u8]) -> Option<Stored> {
        let (key, packed) = self.entries.get_key_value(key)?;
        Some(self.stored(table, key, packed))
    }

    /// The entries with these matches, whatever their priorities, in no order.
    pub fn of_each_priority<'s>(
        &'s self,
        table: &'s Table,
        matches: &[Match],
    ) -> impl Iterator<Item = Stored> + use<'s> {
        let wanted = self.key(matches, 0);
        let has = move |key: &Bytes| key[packed::PRIORITY_BYTES..] == wanted[packed::PRIORITY_BYTES..];
        let found = self.entries.iter().filter(move |(key, _)| has(key));
        found.map(|(key, packed)| self.stored(table, key, packed))
    }

    /// The number of an entry's set.
    pub fn set_of(&self, key: &[u8]) -> Option<u32> {
        self.entries.get(key).and_then(Packed::set)
    }

    pub fn origin(&self, key: &[u8]) -> Option<Origin> {
        self.entries.get(key).map(|packed| packed.origin)
    }

    /// All entries, in no order.
    pub fn stored_entries<'s>(&'s self, table: &'s Table) -> impl Iterator<Item = Stored> + 's {
        self.entries.iter().map(|(key, packed)| self.stored(table, key, packed))
    }

    /// Entries with actions of their own, in no order: key, action and its data.
    pub fn calls(&self) -> impl Iterator<Item = (&Bytes, u32, &Bytes)> {
        let calls = self.entries.iter().filter(|(_, packed)| packed.kind == Kind::Call);
        calls.map(|(key, packed)| (key, packed.number, &packed.data))
    }

    /// The keys of a controller's entries.
    pub fn written(&self) -> Vec<(Vec<Match>, u32)> {
        let written = self.entries.iter().filter(|(_, packed)| packed.origin == Origin::Controller);
        written.map(|(key, _)| packed::unpacked(key, &self.fields)).collect()
    }

    /// Whether any entry refers to the member or to the group.
    pub fn uses(&self, member: Option<u32>, group: Option<u32>) -> bool {
        self.entries.values().any(|packed| match packed.kind {
            Kind::Call | Kind::Set => false,
            Kind::Member => Some(packed.number) == member,
            Kind::Group => Some(packed.number) == group,
        })
    }

    /// The time after which an entry is idle. Gives what it was.
    pub fn set_idle_timeout(&mut self, key: &[u8], nanoseconds: u64) -> u64 {
        let Some(packed) = self.entries.get_mut(key) else { return 0 };
        let rare = packed.rare.get_or_insert_default();
        std::mem::replace(&mut rare.idle_timeout_ns, nanoseconds)
    }

    /// What is attached to an entry. Gives what it was.
    pub fn set_metadata(&mut self, key: &[u8], metadata: &[u8]) -> Vec<u8> {
        match self.entries.get_mut(key) {
            Some(packed) if packed.rare.is_some() || !metadata.is_empty() => {
                let rare = packed.rare.get_or_insert_default();
                std::mem::replace(&mut rare.metadata, metadata.to_vec())
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// Kind and width of each key.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// All entries, in no order: the key; the action with its data, member, group or set; the action's number, if it is the entry's own.
    pub fn keyed_records(&self) -> impl Iterator<Item = (&Bytes, (u32, u32, &Bytes), Option<u32>)> {
        self.entries.iter().map(|(key, packed)| {
            let action = (packed.kind == Kind::Call).then_some(packed.number);
            (key, (packed.kind as u32, packed.number, &packed.data), action)
        })
    }

    /// The keys of all entries, in no order.
    pub fn keys(&self) -> impl Iterator<Item = &Bytes> {
        self.entries.keys()
    }

    /// Takes all entries out, the program's own among them.
    pub fn empty(&mut self) {
        self.entries.clear();
        self.sets = Sets::default();
    }

    /// An entry as a row.
    pub fn entry_row(&self, key: &[u8]) -> Option<EntryRow> {
        let packed = self.entries.get(key)?;
        let rare = packed.rare.as_deref();
        Some(EntryRow {
            kind: packed.kind as u32,
            origin: packed.origin as u32,
            number: packed.number,
            data: packed.data.to_vec(),
            idle_timeout_ns: rare.map_or(0, |rare| rare.idle_timeout_ns),
            metadata: rare.map(|rare| rare.metadata.clone()).unwrap_or_default(),
            set: packed.set().and_then(|set| self.sets.get(set)).map(Into::into),
        })
    }

    /// Whether these bytes are as long as keys of this table.
    pub fn has_form(&self, key: &[u8]) -> bool {
        key.len() == packed::PRIORITY_BYTES + self.fields.iter().map(packed::field_bytes).sum::<usize>()
    }

    /// Keeps an entry that comes as a row.
    ///
    /// # Errors
    /// It cannot be one of this table.
    pub fn load(&mut self, table: &Table, key: Bytes, row: EntryRow) -> Result<(), String> {
        let kinds = [Kind::Call, Kind::Member, Kind::Group, Kind::Set];
        let origins = [Origin::Program, Origin::Constant, Origin::Controller];
        let kind = kinds.into_iter().find(|kind| *kind as u32 == row.kind).ok_or("has an action of no known kind")?;
        let origin = origins.into_iter().find(|origin| *origin as u32 == row.origin).ok_or("has no known origin")?;
        if table.keys.is_empty() || !self.has_form(&key) {
            return Err("has other keys".to_string());
        }
        if kind == Kind::Call {
            let action = table.actions.get(row.number as usize).ok_or("has an action that the table lacks")?;
            let bytes: usize = action.parameters.iter().map(|parameter| packed::bytes_of(parameter.width)).sum();
            if bytes != row.data.len() {
                return Err(format!("has other data for action `{}`", action.name));
            }
        } else if table.profile.is_none() {
            return Err("refers to an action profile that the table lacks".to_string());
        }
        if kind == Kind::Set {
            let set = ActionSet::from(row.set.unwrap_or_default());
            let entry = EntryAction::Set(set.clone());
            check_action(table, &entry).map_err(|refusal| refusal.sentence)?;
            let is_number = row.number >= FIRST_SET && self.sets.get(row.number).is_none();
            if !is_number {
                return Err("has a set with the number of another one".to_string());
            }
            self.sets.keep(&set, Some(row.number));
        }
        let rare = Rare { idle_timeout_ns: row.idle_timeout_ns, metadata: row.metadata };
        let rare = (rare != Rare::default()).then(|| Box::new(rare));
        self.entries.insert(key, Packed { kind, origin, number: row.number, data: row.data.as_slice().into(), rare });
        Ok(())
    }

    /// Takes out entries whose action does not pass. Gives how many.
    pub fn retain(&mut self, table: &Table, passes: impl Fn(&EntryAction) -> bool) -> usize {
        let before = self.entries.len();
        let sets = &self.sets;
        self.entries.retain(|_, packed| passes(&action_of(table, packed, sets)));
        before - self.entries.len()
    }

    fn stored(&self, table: &Table, key: &[u8], packed: &Packed) -> Stored {
        let (matches, priority) = packed::unpacked(key, &self.fields);
        let action = action_of(table, packed, &self.sets);
        let constant = packed.origin == Origin::Constant;
        let rare = packed.rare.as_deref().cloned().unwrap_or_default();
        Stored {
            entry: Entry { matches, priority, action, constant },
            origin: packed.origin,
            idle_timeout_ns: rare.idle_timeout_ns,
            metadata: rare.metadata,
        }
    }
}

impl Packed {
    fn set(&self) -> Option<u32> {
        (self.kind == Kind::Set).then_some(self.number)
    }
}

/// Whether an entry may have this action.
pub fn check_action(table: &Table, action: &EntryAction) -> Result<(), Refusal> {
    match action {
        EntryAction::Call(call) => check_call(table, call, Scope::DefaultOnly),
        EntryAction::Member(_) | EntryAction::Group(_) | EntryAction::Set(_) if table.profile.is_none() => {
            Err(refusal(table, "has no action profile that an entry could refer to"))
        }
        EntryAction::Set(set) => {
            set.actions.iter().try_for_each(|action| check_call(table, &action.call, Scope::DefaultOnly))
        }
        EntryAction::Member(_) | EntryAction::Group(_) => Ok(()),
    }
}

pub fn refusal(table: &Table, what: &str) -> Refusal {
    Refusal::wrong(format!("table `{}` {what}", table.name))
}

/// A set is kept under the number `old`, if the entry has had one.
fn pack(table: &Table, action: &EntryAction, origin: Origin, (sets, old): (&mut Sets, Option<u32>)) -> Packed {
    let (kind, number, data) = match action {
        EntryAction::Call(call) => {
            let widths = table.actions[call.action as usize].parameters.iter().map(|parameter| parameter.width);
            (Kind::Call, call.action, packed::data(call.arguments.iter().zip(widths)))
        }
        EntryAction::Member(member) => (Kind::Member, *member, Bytes::from(&[][..])),
        EntryAction::Group(group) => (Kind::Group, *group, Bytes::from(&[][..])),
        EntryAction::Set(set) => (Kind::Set, sets.keep(set, old), Bytes::from(&[][..])),
    };
    Packed { kind, origin, number, data, rare: None }
}

fn action_of(table: &Table, packed: &Packed, sets: &Sets) -> EntryAction {
    match packed.kind {
        Kind::Member => EntryAction::Member(packed.number),
        Kind::Group => EntryAction::Group(packed.number),
        Kind::Set => EntryAction::Set(sets.get(packed.number).cloned().unwrap_or_default()),
        Kind::Call => {
            let mut data = &packed.data[..];
            let parameters = &table.actions[packed.number as usize].parameters;
            let arguments = parameters.iter().map(|parameter| packed::take(&mut data, parameter.width)).collect();
            EntryAction::Call(ActionCall { action: packed.number, arguments })
        }
    }
}
