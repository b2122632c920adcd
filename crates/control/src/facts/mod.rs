//! Facts about what tables hold, kept as counters while a controller writes.
//!
//! For each table there are counts of entries by action, by value of each parameter, by mask of each key that is not exact,
//! by matches where entries have priorities, and of rates of its direct meters. A write changes
//! as many of them as the entry has keys and parameters, so whether a fact still holds is known at once, whatever the
//! table holds. [`Facts::of`] counts a store anew. Tables that packets write have no facts, nor have those with action
//! profiles, or entries that the store did not check.

mod guard;
mod leading;

pub(crate) use guard::{Guard, breaks, refusal};
pub(crate) use leading::Order;

use crate::store::packed;
use hlir::effects::learns;
use hlir::entry::EntryAction;
use hlir::facts::Fact;
use hlir::{Entry, Match, MatchKind, Program, TableId};
use num_bigint::BigUint;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    tables: Vec<Contents>,
}

/// How often each value occurs; those that do not occur are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Counts<T: Eq + Hash>(HashMap<T, u64>);

/// Counters of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Contents {
    /// Kind and width of each key.
    keys: Vec<(MatchKind, u32)>,
    /// Whether facts can hold: a controller writes all of its entries, one by one.
    is_counted: bool,
    /// Whether entries name members and groups: what these do is not theirs.
    has_profile: bool,
    entries: u64,
    actions: BTreeMap<u32, OfAction>,
    /// By key that is not exact.
    masks: Vec<Counts<Mask>>,
    /// By key: of entries that match one value.
    values: Vec<Sums>,
    /// Of a table with priorities: how many entries have the same matches, by a number made of these. Others with the same
    /// number only cost the table a fact.
    alike: Option<Alike>,
    /// Rates of direct meters; none, if the table has no such meter.
    rates: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Alike {
    counts: HashMap<u64, u32>,
    /// Numbers that occur more than once.
    repeated: u64,
}

/// Whether some numbers are all the same, whichever are added and taken: n · Σ v² = (Σ v)² holds for these alone, by the
/// inequality of Cauchy and Schwarz. They have 32 bits, and there are less than 2^31.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Sums {
    count: u64,
    sum: u128,
    squares: u128,
}

/// Bits of a key at most, of which it is known whether all entries have one value.
const MOST_SUMMED: u32 = 32;

/// Entries that run one action.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OfAction {
    entries: u64,
    /// By parameter.
    arguments: Vec<Counts<BigUint>>,
}

/// Which values a match distinguishes: by the bits of a mask, or by the ends of a range.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Mask {
    Bits(BigUint),
    Range(BigUint, BigUint),
}

/// What the entries of a table distinguish in one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing: all match any value.
    Any,
    /// All match one value.
    Exact,
    /// So many masks, prefix lengths or ranges.
    Masks(usize),
}

impl<T: Eq + Hash> Counts<T> {
    fn add(&mut self, value: T) {
        *self.0.entry(value).or_default() += 1;
    }

    fn take(&mut self, value: &T) {
        if let Some(count) = self.0.get_mut(value) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(value);
            }
        }
    }

    /// The value that is the only one.
    fn only(&self) -> Option<&T> {
        self.0.keys().next().filter(|_| self.0.len() == 1)
    }
}

impl Sums {
    fn add(&mut self, value: u32) {
        self.count += 1;
        self.sum += u128::from(value);
        self.squares += u128::from(value) * u128::from(value);
    }

    fn take(&mut self, value: u32) {
        self.count -= 1;
        self.sum -= u128::from(value);
        self.squares -= u128::from(value) * u128::from(value);
    }

    /// The number that all are, of which there are `count`.
    fn only(&self, count: u64) -> Option<u32> {
        let is_all = count == self.count && (1..1 << 31).contains(&count);
        let are_same = is_all && u128::from(count) * self.squares == self.sum * self.sum;
        are_same.then(|| (self.sum / u128::from(count)) as u32)
    }
}

impl<T: Eq + Hash> Default for Counts<T> {
    fn default() -> Self {
        Counts(HashMap::new())
    }
}

impl Alike {
    fn add(&mut self, number: u64) {
        let count = self.counts.entry(number).or_default();
        *count += 1;
        self.repeated += u64::from(*count == 2);
    }

    fn take(&mut self, number: u64) {
        if let Some(count) = self.counts.get_mut(&number) {
            *count -= 1;
            self.repeated -= u64::from(*count == 1);
            if *count == 0 {
                self.counts.remove(&number);
            }
        }
    }
}

impl Contents {
    fn new(program: &Program, id: TableId) -> Contents {
        let table = &program.tables[id];
        let keys = program.key_kinds(id);
        Contents {
            is_counted: !table.punt_on_miss && !learns(program, id),
            has_profile: table.profile.is_some(),
            entries: 0,
            actions: BTreeMap::new(),
            masks: keys.iter().map(|_| Counts::default()).collect(),
            values: keys.iter().map(|_| Sums::default()).collect(),
            alike: table.has_priorities().then(Alike::default),
            rates: program.meters.values().any(|meter| meter.table == Some(id)).then_some(0),
            keys,
        }
    }

    /// A number that entries with the same matches have, in whatever form these are written.
    fn number(&self, entry: &Entry) -> u64 {
        let mut hasher = DefaultHasher::new();
        packed::key(&entry.matches, 0, self.keys.iter().copied()).hash(&mut hasher);
        hasher.finish()
    }

    fn add(&mut self, entry: &Entry) {
        if !self.is_counted {
            return;
        }
        self.entries += 1;
        let number = self.alike.is_some().then(|| self.number(entry));
        self.alike.iter_mut().zip(number).for_each(|(alike, number)| alike.add(number));
        for (((counts, sums), found), key) in
            self.masks.iter_mut().zip(&mut self.values).zip(&entry.matches).zip(&self.keys)
        {
            let mask = mask(found, *key);
            only_value(found, &mask, key.1).into_iter().for_each(|value| sums.add(value));
            // All masks of an exact key are the same.
            if key.0 != MatchKind::Exact {
                counts.add(mask);
            }
        }
        if let EntryAction::Call(call) = &entry.action {
            let empty =
                || OfAction { entries: 0, arguments: call.arguments.iter().map(|_| Counts::default()).collect() };
            let of_action = self.actions.entry(call.action).or_insert_with(empty);
            of_action.entries += 1;
            of_action.arguments.iter_mut().zip(&call.arguments).for_each(|(counts, value)| counts.add(value.clone()));
        }
    }

    fn take(&mut self, entry: &Entry) {
        if !self.is_counted {
            return;
        }
        self.entries -= 1;
        let number = self.alike.is_some().then(|| self.number(entry));
        self.alike.iter_mut().zip(number).for_each(|(alike, number)| alike.take(number));
        for (((counts, sums), found), key) in
            self.masks.iter_mut().zip(&mut self.values).zip(&entry.matches).zip(&self.keys)
        {
            let mask = mask(found, *key);
            only_value(found, &mask, key.1).into_iter().for_each(|value| sums.take(value));
            if key.0 != MatchKind::Exact {
                counts.take(&mask);
            }
        }
        if let EntryAction::Call(call) = &entry.action
            && let Some(of_action) = self.actions.get_mut(&call.action)
        {
            of_action.entries -= 1;
            of_action.arguments.iter_mut().zip(&call.arguments).for_each(|(counts, value)| counts.take(value));
            if of_action.entries == 0 {
                self.actions.remove(&call.action);
            }
        }
    }

    fn shape(&self, key: usize) -> Shape {
        let (kind, width) = self.keys[key];
        match self.masks[key].only() {
            Some(Mask::Bits(bits)) if *bits == BigUint::ZERO => Shape::Any,
            Some(Mask::Bits(bits)) if *bits == ones(width) => Shape::Exact,
            None if kind == MatchKind::Exact => Shape::Exact,
            Some(Mask::Bits(_) | Mask::Range(..)) | None => Shape::Masks(self.masks[key].0.len()),
        }
    }

    fn facts(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> = (self.rates == Some(0)).then_some(Fact::Unmetered).into_iter().collect();
        if self.entries == 0 {
            facts.push(Fact::Empty);
            return facts;
        }
        if self.has_profile {
            return facts;
        }
        facts.push(Fact::Actions(self.actions.keys().copied().collect()));
        for (action, of_action) in &self.actions {
            let only = (0u32..).zip(&of_action.arguments).filter_map(|(at, counts)| Some((at, counts.only()?)));
            let argument = |(parameter, value): (u32, &BigUint)| Fact::Argument {
                action: *action,
                parameter,
                value: value.clone(),
            };
            facts.extend(only.map(argument));
        }
        let any = (0..self.keys.len()).filter(|key| self.shape(*key) == Shape::Any);
        facts.extend(any.map(|key| Fact::Any(key as u32)));
        let values = (0u32..).zip(&self.values).filter_map(|(key, sums)| Some((key, sums.only(self.entries)?)));
        facts.extend(values.map(|(key, value)| Fact::Key { key, value: value.into() }));
        let masks = (0u32..).zip(&self.masks).filter_map(|(key, counts)| match counts.only()? {
            Mask::Bits(mask) => (*mask != BigUint::ZERO).then(|| Fact::Mask { key, mask: mask.clone() }),
            Mask::Range(..) => None,
        });
        facts.extend(masks);
        facts.extend(self.alike.as_ref().filter(|alike| alike.repeated == 0).map(|_| Fact::Distinct));
        facts
    }
}

impl Facts {
    /// Of a program's tables without any entry.
    pub(crate) fn empty(program: &Program) -> Facts {
        Facts { tables: program.tables.iter().map(|(id, _)| Contents::new(program, id)).collect() }
    }

    pub(crate) fn add(&mut self, table: TableId, entry: &Entry) {
        self.tables[index(table)].add(entry);
    }

    pub(crate) fn take(&mut self, table: TableId, entry: &Entry) {
        self.tables[index(table)].take(entry);
    }

    /// Rates of a direct meter of a table were set, or taken.
    pub(crate) fn note_rates(&mut self, table: TableId, were_set: bool, are_set: bool) {
        if let Some(rates) = &mut self.tables[index(table)].rates {
            *rates = *rates + u64::from(are_set) - u64::from(were_set);
        }
    }

    /// Whether an entry may have the matches that another one has.
    pub(crate) fn repeats(&self, table: TableId, entry: &Entry) -> bool {
        let contents = &self.tables[index(table)];
        contents.alike.as_ref().is_some_and(|alike| alike.counts.contains_key(&contents.number(entry)))
    }

    /// An entry was written without the store: there are no facts about the table any more.
    pub(crate) fn give_up(&mut self, table: TableId) {
        self.tables[index(table)].is_counted = false;
    }

    /// The facts that counters give about a table; none, if there can be none.
    pub(crate) fn of_table(&self, table: TableId) -> Option<Vec<Fact>> {
        let contents = &self.tables[index(table)];
        contents.is_counted.then(|| contents.facts())
    }

    pub fn shape(&self, table: TableId, key: usize) -> Shape {
        self.tables[index(table)].shape(key)
    }
}

/// A typed index as a number.
fn index(table: TableId) -> usize {
    table.into_raw().into_u32() as usize
}

fn ones(width: u32) -> BigUint {
    (BigUint::from(1u32) << width) - 1u32
}

/// The value that a match with this mask is, of a key of so many bits, if it is one of at most 32 bits.
fn only_value(found: &Match, mask: &Mask, width: u32) -> Option<u32> {
    if width > MOST_SUMMED {
        return None;
    }
    let is_one = *mask == Mask::Bits(ones(width));
    lowest(found).filter(|_| is_one).and_then(|value| value.try_into().ok())
}

/// The lowest value that a match has.
fn lowest(found: &Match) -> Option<&BigUint> {
    match found {
        Match::Exact(value) | Match::Lpm { value, .. } | Match::Ternary { value, .. } => Some(value),
        Match::Range { low, .. } => Some(low),
        Match::Any => None,
    }
}

/// The mask of a match of a key of this kind and width, in one form for matches of the same values.
fn mask(found: &Match, (kind, width): (MatchKind, u32)) -> Mask {
    match found {
        Match::Any => Mask::Bits(BigUint::ZERO),
        Match::Exact(_) => Mask::Bits(ones(width)),
        Match::Lpm { prefix, .. } => Mask::Bits(ones(width) ^ ones(width - (*prefix).min(width))),
        Match::Ternary { mask, .. } => Mask::Bits(mask.clone()),
        Match::Range { low, high } if kind == MatchKind::Range && *low == BigUint::ZERO && *high == ones(width) => {
            Mask::Bits(BigUint::ZERO)
        }
        Match::Range { low, high } if low == high => Mask::Bits(ones(width)),
        Match::Range { low, high } => Mask::Range(low.clone(), high.clone()),
    }
}
