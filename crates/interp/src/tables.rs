//! A table's entries, and which of them a key finds.
//!
//! One structure serves every mixture of match kinds: entries with equal masks are a group, a hash map from masked key to entries, best first. A key is
//! looked up in one group after the other, until none that is left can have a better entry. Exact tables have one group, prefix tables one a length; ranges
//! are compared one by one within theirs.

use crate::aging::Idle;
use crate::key_hash::KeyHasher;
use crate::meter::MeterElement;
use crate::pattern::{self, Pattern};
use control::plane::{CounterValue, EntryKey, TableCounts};
use control::{Refusal, RefusalKind};
use hlir::entry::EntryAction;
use hlir::value::{Bits, Value};
use hlir::{ActionCall, Entry, Match, Program, Table, TableId};
use num_bigint::BigUint;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;
use std::rc::Rc;

/// An action of the table with its data, ready to run.
#[derive(Debug, PartialEq, Eq)]
pub struct Invocation {
    pub action: u32,
    pub arguments: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Call(Rc<Invocation>),
    Member(u32),
    Group(u32),
    /// By the number that the store gives it.
    Set(u32),
}

/// The direct counters and meters of an entry or of a default action, in the order of the program.
#[derive(Clone, Debug, Default)]
pub struct DirectObjects {
    pub counters: Vec<CounterValue>,
    pub meters: Vec<MeterElement>,
}

impl DirectObjects {
    fn new(counters: usize, meters: usize) -> DirectObjects {
        DirectObjects {
            counters: vec![CounterValue::default(); counters],
            meters: vec![MeterElement::default(); meters],
        }
    }
}

/// The larger wins: priority or prefix length first, then age.
type Rank = (u64, Reverse<u64>);

#[derive(Clone)]
pub struct StoredEntry {
    pub patterns: Vec<Pattern>,
    pub priority: u32,
    rank: Rank,
    pub target: Target,
    pub direct: DirectObjects,
    origin: Origin,
    pub idle: Idle,
}

/// Who brought an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Program,
    /// The control plane, or a packet.
    Written,
}

/// Entries with equal masks.
#[derive(Clone, Default)]
struct Group {
    /// The fields of the key of which something is looked at, and their masks.
    masks: Vec<(usize, Bits)>,
    /// By those fields, masked; best first.
    buckets: HashMap<Vec<Bits>, Vec<usize>, BuildHasherDefault<KeyHasher>>,
}

#[derive(Clone)]
pub struct TableState<'p> {
    pub table: &'p Table,
    widths: Vec<u32>,
    pub default: Rc<Invocation>,
    /// The default action's direct counters and meters.
    pub default_direct: DirectObjects,
    /// What runs for an entry whose group has no members.
    pub empty_group: Option<Rc<Invocation>>,
    entries: Vec<Option<StoredEntry>>,
    free: Vec<usize>,
    count: u64,
    sequence: u64,
    /// By a rank that none of their entries exceeds; the first is that of an entry which the group has, or had.
    groups: BTreeMap<Reverse<Rank>, Group>,
    /// That rank, by the masks of all fields.
    bounds: HashMap<Vec<Bits>, Rank>,
    /// What the sets of entries choose of, each action as often as it has weight.
    pub sets: HashMap<u32, Vec<Rc<Invocation>>>,
    /// Room for a masked key.
    masked_key: RefCell<Vec<Bits>>,
    identities: HashMap<(Vec<Pattern>, u32), usize>,
    direct_counters: usize,
    direct_meters: usize,
    pub counts: TableCounts,
    /// Times of profiles that are not as they were at the start.
    expiry_ns: HashMap<u8, u64>,
}

impl<'p> TableState<'p> {
    /// The table with the program's own entries, for so many direct counters and meters.
    pub fn new(program: &Program, table: &'p Table, direct_counters: usize, direct_meters: usize) -> TableState<'p> {
        let mut state = TableState {
            table,
            widths: table.keys.iter().map(|key| program.expression_type(&key.value, &[]).width()).collect(),
            default: Rc::new(invocation(table, &table.default)),
            default_direct: DirectObjects::new(direct_counters, direct_meters),
            empty_group: table.empty_group.as_ref().map(|call| Rc::new(invocation(table, call))),
            entries: Vec::new(),
            free: Vec::new(),
            count: 0,
            sequence: 0,
            groups: BTreeMap::new(),
            bounds: HashMap::new(),
            sets: HashMap::new(),
            masked_key: RefCell::default(),
            identities: HashMap::new(),
            direct_counters,
            direct_meters,
            counts: TableCounts::default(),
            expiry_ns: HashMap::new(),
        };
        for entry in table.entries.iter() {
            state.store(entry, None, Origin::Program);
        }
        state
    }

    pub fn entry(&self, id: usize) -> &StoredEntry {
        self.entries[id].as_ref().expect("ids of entries are those of entries that exist")
    }

    /// Whether there is an entry of this number.
    pub fn has_entry(&self, id: usize) -> bool {
        self.entries.get(id).is_some_and(Option::is_some)
    }

    pub fn entry_mut(&mut self, id: usize) -> &mut StoredEntry {
        self.entries[id].as_mut().expect("ids of entries are those of entries that exist")
    }

    /// Direct counters and meters by their index: 0 is that of the default action, as in native code.
    pub fn direct_mut(&mut self, index: u64) -> Option<&mut DirectObjects> {
        let Some(id) = index.checked_sub(1) else { return Some(&mut self.default_direct) };
        let entry = self.entries.get_mut(usize::try_from(id).ok()?)?;
        entry.as_mut().map(|entry| &mut entry.direct)
    }

    /// The best entry that the key matches.
    pub fn find(&self, key: &[Bits]) -> Option<usize> {
        let mut best: Option<(Rank, usize)> = None;
        let mut masked = self.masked_key.borrow_mut();
        for (Reverse(bound), group) in &self.groups {
            if best.is_some_and(|(rank, _)| rank > *bound) {
                break;
            }
            masked.clear();
            masked.extend(group.masks.iter().map(|(field, mask)| key[*field].and(mask)));
            let Some(bucket) = group.buckets.get(masked.as_slice()) else { continue };
            let matching = bucket.iter().copied().find(|id| self.entry(*id).is_in_range(key));
            if let Some(id) = matching {
                let rank = self.entry(id).rank;
                if best.is_none_or(|(best, _)| rank > best) {
                    best = Some((rank, id));
                }
            }
        }
        best.map(|(_, id)| id)
    }

    /// The entry with exactly this key and priority.
    pub fn identify(&self, key: &EntryKey) -> Result<usize, Refusal> {
        let identity = (self.patterns(&key.matches), self.identifying_priority(key.priority));
        let missing = || Refusal { kind: RefusalKind::Missing, ..self.refusal("has no such entry") };
        self.identities.get(&identity).copied().ok_or_else(missing)
    }

    /// Refuses what the store cannot know: that a packet has inserted the entry, or filled the table.
    pub fn insert(&mut self, entry: &Entry, set: Option<u32>) -> Result<(), Refusal> {
        let identity = (self.patterns(&entry.matches), self.identifying_priority(entry.priority));
        if self.identities.contains_key(&identity) {
            return Err(Refusal { kind: RefusalKind::Exists, ..self.refusal("has such an entry already") });
        }
        if let Some(size) = self.table.capacity().filter(|size| self.count >= *size) {
            let full = self.refusal(&format!("is full: it has room for {size} entries"));
            return Err(Refusal { kind: RefusalKind::Full, ..full });
        }
        self.store(entry, set, Origin::Written);
        Ok(())
    }

    pub fn modify(&mut self, table: TableId, entry: &Entry, set: Option<u32>) -> Result<(), Refusal> {
        let key = EntryKey { table, matches: entry.matches.clone(), priority: entry.priority };
        let id = self.identify(&key)?;
        let target = target(self.table, &entry.action, set);
        self.entry_mut(id).target = target;
        Ok(())
    }

    pub fn delete(&mut self, key: &EntryKey) -> Result<(), Refusal> {
        let id = self.identify(key)?;
        self.remove(id);
        Ok(())
    }

    /// Deletes all entries that the program did not bring.
    pub fn clear(&mut self) {
        for id in 0..self.entries.len() {
            if self.entries[id].as_ref().is_some_and(|entry| entry.origin == Origin::Written) {
                self.remove(id);
            }
        }
    }

    /// Gives a set other choices, or removes it.
    pub fn set_choices(&mut self, set: u32, written: Option<&[(&ActionCall, u32)]>) {
        match written {
            Some(written) => drop(self.sets.insert(set, choices(self.table, written))),
            None => drop(self.sets.remove(&set)),
        }
    }

    pub fn set_default(&mut self, call: &ActionCall) {
        self.default = Rc::new(invocation(self.table, call));
    }

    /// Numbers of all entries.
    pub fn entry_ids(&self) -> Vec<usize> {
        (0..self.entries.len()).filter(|id| self.entries[*id].is_some()).collect()
    }

    pub fn expiry_ns(&self, profile: u8) -> u64 {
        self.expiry_ns.get(&profile).copied().unwrap_or_else(|| control::default_expiry_ns(profile))
    }

    pub fn set_expiry(&mut self, profile: u8, time_ns: u64) {
        self.expiry_ns.insert(profile, time_ns);
    }

    /// Inserts an entry for exactly this key from the data plane; returns whether there was room.
    pub fn insert_missed(&mut self, key: &[Bits], invocation: Invocation, idle: Idle) -> bool {
        if self.find(key).is_some() || self.table.capacity().is_some_and(|size| self.count >= size) {
            return false;
        }
        let patterns = key
            .iter()
            .zip(&self.widths)
            .map(|(value, width)| Pattern::Masked { value: value.clone(), mask: Bits::ones(*width) });
        let patterns: Vec<Pattern> = patterns.collect();
        let rank = self.next_rank(u64::from(self.widths.iter().sum::<u32>()));
        let id = self.place(patterns, 0, rank, Target::Call(Rc::new(invocation)), Origin::Written);
        self.entry_mut(id).idle = idle;
        true
    }

    fn store(&mut self, entry: &Entry, set: Option<u32>, origin: Origin) {
        let patterns = self.patterns(&entry.matches);
        let major = if self.table.has_priorities() {
            u64::from(entry.priority)
        } else {
            let widths = self.widths.iter();
            entry
                .matches
                .iter()
                .zip(widths)
                .map(|(found, width)| u64::from(pattern::prefix_length(found, *width)))
                .sum()
        };
        let rank = self.next_rank(major);
        let target = target(self.table, &entry.action, set);
        self.place(patterns, self.identifying_priority(entry.priority), rank, target, origin);
    }

    fn next_rank(&mut self, major: u64) -> Rank {
        self.sequence += 1;
        (major, Reverse(self.sequence))
    }

    fn place(&mut self, patterns: Vec<Pattern>, priority: u32, rank: Rank, target: Target, origin: Origin) -> usize {
        let masks = self.masks(&patterns);
        let masked = self.masked(&patterns);
        let identity = (patterns.clone(), priority);
        let direct = DirectObjects::new(self.direct_counters, self.direct_meters);
        let idle = Idle::default();
        let stored = StoredEntry { patterns, priority, rank, target, direct, origin, idle };
        let id = self.free.pop().unwrap_or(self.entries.len());
        if id == self.entries.len() {
            self.entries.push(None);
        }
        self.entries[id] = Some(stored);
        self.count += 1;
        self.identities.entry(identity).or_insert(id);
        let before = self.bounds.get(&masks).copied();
        let mut group =
            before.and_then(|bound| self.groups.remove(&Reverse(bound))).unwrap_or_else(|| Group::of(&masks));
        let bucket = group.buckets.entry(masked).or_default();
        let position = bucket.partition_point(|other| self.entry(*other).rank > rank);
        bucket.insert(position, id);
        let bound = before.map_or(rank, |before| before.max(rank));
        self.groups.insert(Reverse(bound), group);
        self.bounds.insert(masks, bound);
        id
    }

    pub fn remove(&mut self, id: usize) {
        let Some(entry) = self.entries[id].take() else { return };
        let masks = self.masks(&entry.patterns);
        let masked = self.masked(&entry.patterns);
        self.identities.remove(&(entry.patterns, entry.priority));
        self.free.push(id);
        self.count -= 1;
        let Some(bound) = self.bounds.get(&masks).copied() else { return };
        let Some(group) = self.groups.get_mut(&Reverse(bound)) else { return };
        if let Some(bucket) = group.buckets.get_mut(&masked) {
            bucket.retain(|other| *other != id);
            if bucket.is_empty() {
                group.buckets.remove(&masked);
            }
        }
        if group.buckets.is_empty() {
            self.groups.remove(&Reverse(bound));
            self.bounds.remove(&masks);
        }
    }

    /// The mask of each field.
    fn masks(&self, patterns: &[Pattern]) -> Vec<Bits> {
        patterns.iter().zip(&self.widths).map(|(pattern, width)| pattern.mask(*width)).collect()
    }

    /// The values of fields of which something is looked at.
    fn masked(&self, patterns: &[Pattern]) -> Vec<Bits> {
        let looked_at = patterns.iter().zip(&self.widths).filter(|(pattern, width)| !pattern.mask(**width).is_zero());
        looked_at.map(|(pattern, width)| pattern.value(*width)).collect()
    }

    fn patterns(&self, matches: &[Match]) -> Vec<Pattern> {
        matches.iter().zip(&self.widths).map(|(found, width)| Pattern::new(found, *width)).collect()
    }

    /// Tables without priorities ignore the number.
    fn identifying_priority(&self, priority: u32) -> u32 {
        if self.table.has_priorities() { priority } else { 0 }
    }

    pub fn refusal(&self, what: &str) -> Refusal {
        Refusal::wrong(format!("table `{}` {what}", self.table.name))
    }
}

impl Group {
    fn of(masks: &[Bits]) -> Group {
        let looked_at = masks.iter().enumerate().filter(|(_, mask)| !mask.is_zero());
        let masks = looked_at.map(|(field, mask)| (field, mask.clone())).collect();
        Group { masks, ..Group::default() }
    }
}

impl StoredEntry {
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Whether the key is in the entry's ranges. The other patterns match where the masked key is the entry's.
    fn is_in_range(&self, key: &[Bits]) -> bool {
        self.patterns.iter().zip(key).all(|(pattern, key)| match pattern {
            Pattern::Masked { .. } => true,
            Pattern::Range { .. } => pattern.matches(key),
        })
    }
}

pub fn invocation(table: &Table, call: &ActionCall) -> Invocation {
    let parameters = &table.actions[call.action as usize].parameters;
    // A controller does not write the place of a value join, which is none until the entry has one.
    let written = call.arguments.iter().chain(std::iter::repeat(&BigUint::ZERO));
    let arguments = written.zip(parameters).map(|(value, parameter)| Value::big(value, parameter.width));
    Invocation { action: call.action, arguments: arguments.collect() }
}

/// What a selector chooses of: each action as often as it has weight.
pub fn choices(table: &Table, written: &[(&ActionCall, u32)]) -> Vec<Rc<Invocation>> {
    let each = written.iter().map(|(call, weight)| (Rc::new(invocation(table, call)), *weight));
    each.flat_map(|(invocation, weight)| std::iter::repeat_n(invocation, weight as usize)).collect()
}

/// `set` is the number of the entry's set, if it has one.
fn target(table: &Table, action: &EntryAction, set: Option<u32>) -> Target {
    match action {
        EntryAction::Call(call) => Target::Call(Rc::new(invocation(table, call))),
        EntryAction::Member(member) => Target::Member(*member),
        EntryAction::Group(group) => Target::Group(*group),
        EntryAction::Set(_) => Target::Set(set.unwrap_or_default()),
    }
}
