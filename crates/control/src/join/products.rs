//! The entries of one joint table: pairs of source entries that agree in what both are keyed by.

use super::Key;
use hlir::join::{Join, SecondKey, evaluate};
use hlir::value::Value;
use hlir::{ActionCall, Program, TableId};
use num_bigint::BigUint;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    First,
    Second,
}

/// An entry of a joint table: its key, the hidden action, and the action data of both sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub key: Key,
    action: u32,
    arguments: Vec<BigUint>,
}

pub fn action_of(row: &Row) -> ActionCall {
    ActionCall { action: row.action, arguments: row.arguments.clone() }
}

/// What a source entry has in common with entries of the other source: the values of the second table's keys
/// that the first table has as well, or determines.
type Common = Box<[BigUint]>;

#[derive(Clone, Debug)]
struct Source {
    call: ActionCall,
    /// The number of its action in the recipe, and what it has in common with others; none for an entry
    /// without a part in joint entries.
    part: Option<(usize, Common)>,
}

/// The sources of a joint table.
#[derive(Clone, Debug)]
pub struct Sources {
    pub table: TableId,
    pub first: TableId,
    pub second: TableId,
    pub limit: u64,
    /// Entries that the joint table has, or would have.
    pub total: u64,
    /// Whether it is left empty, since it would have too many.
    pub is_full: bool,
    /// Whether the data plane had no room for them.
    pub has_no_room: bool,
    join: Arc<Join>,
    /// Keys of the first table.
    own_keys: usize,
    /// Widths of the action data of the first table, by action.
    widths: Vec<Vec<u32>>,
    entries: [HashMap<Key, Source>; 2],
    /// Keys of both sources by what they have in common.
    by_common: HashMap<Common, [BTreeSet<Key>; 2]>,
}

impl Sources {
    pub fn new(program: &Program, join: &Join) -> Sources {
        let first = &program.tables[join.first];
        Sources {
            table: join.table,
            first: join.first,
            second: join.second,
            limit: join.limit,
            total: 0,
            is_full: false,
            has_no_room: false,
            own_keys: first.keys.len(),
            widths: (0..first.actions.len()).map(|action| first.parameter_widths(action)).collect(),
            join: Arc::new(join.clone()),
            entries: Default::default(),
            by_common: HashMap::new(),
        }
    }

    pub fn is_too_large(&self) -> bool {
        self.total > self.limit
    }

    /// Adds an entry, or replaces the one with its key.
    pub fn add(&mut self, side: Side, key: Key, call: ActionCall) {
        self.remove_entry(side, &key);
        let part = match side {
            Side::First => self.first_part(&key, &call),
            Side::Second => self.second_part(&key, &call),
        };
        if let Some((_, common)) = &part {
            let keys = self.by_common.entry(common.clone()).or_default();
            self.total += keys[1 - side as usize].len() as u64;
            keys[side as usize].insert(key.clone());
        }
        self.entries[side as usize].insert(key, Source { call, part });
    }

    /// Takes an entry out. Gives its action, and the joint entries that it had a part in.
    pub fn remove(&mut self, side: Side, key: &Key) -> Option<(ActionCall, Vec<Row>)> {
        let rows = if self.is_full { Vec::new() } else { self.products(side, key) };
        self.remove_entry(side, key).map(|call| (call, rows))
    }

    fn remove_entry(&mut self, side: Side, key: &Key) -> Option<ActionCall> {
        let source = self.entries[side as usize].remove(key)?;
        if let Some((_, common)) = &source.part
            && let Some(keys) = self.by_common.get_mut(common)
        {
            keys[side as usize].remove(key);
            self.total -= keys[1 - side as usize].len() as u64;
            if keys.iter().all(BTreeSet::is_empty) {
                self.by_common.remove(common);
            }
        }
        Some(source.call)
    }

    /// Takes all entries of a source out.
    pub fn clear(&mut self, side: Side) {
        self.entries[side as usize].clear();
        self.by_common.retain(|_, keys| {
            keys[side as usize].clear();
            !keys[1 - side as usize].is_empty()
        });
        self.total = 0;
    }

    /// The joint entries that an entry has a part in.
    pub fn products(&self, side: Side, key: &Key) -> Vec<Row> {
        let source = self.entries[side as usize].get(key);
        let Some((_, common)) = source.and_then(|source| source.part.as_ref()) else { return Vec::new() };
        let Some(keys) = self.by_common.get(common) else { return Vec::new() };
        let row = |other: &Key| match side {
            Side::First => self.row(key, other),
            Side::Second => self.row(other, key),
        };
        keys[1 - side as usize].iter().filter_map(row).collect()
    }

    /// All joint entries.
    pub fn all(&self) -> Vec<Row> {
        let firsts = self.entries[Side::First as usize].keys();
        firsts.flat_map(|key| self.products(Side::First, key)).collect()
    }

    fn row(&self, first: &Key, second: &Key) -> Option<Row> {
        let [one, other] =
            [(Side::First, first), (Side::Second, second)].map(|(side, key)| self.entries[side as usize].get(key));
        let (one, other) = (one?, other?);
        let ((first_action, _), (second_action, _)) = (one.part.as_ref()?, other.part.as_ref()?);
        let own = self.join.keys.iter().zip(second.iter()).filter(|(key, _)| self.is_own(key));
        Some(Row {
            key: first.iter().chain(own.map(|(_, value)| value)).cloned().collect(),
            action: self.join.action(*first_action, *second_action),
            arguments: one.call.arguments.iter().chain(&other.call.arguments).cloned().collect(),
        })
    }

    /// Whether a key of the second table is one that the first table has no value for.
    fn is_own(&self, key: &SecondKey) -> bool {
        matches!(key, SecondKey::Joint(index) if *index as usize >= self.own_keys)
    }

    fn first_part(&self, key: &Key, call: &ActionCall) -> Option<(usize, Common)> {
        let number = self.join.firsts.iter().position(|first| first.action == call.action)?;
        let widths = self.widths.get(call.action as usize)?;
        let data: Vec<Value> =
            call.arguments.iter().zip(widths).map(|(value, width)| Value::big(value, *width)).collect();
        let mut determined = self.join.firsts[number].determined.iter();
        let mut common = Vec::new();
        for second in &self.join.keys {
            match second {
                SecondKey::Determined => common.push(evaluate(determined.next()?, &data)?.bits.to_big()),
                SecondKey::Joint(index) if !self.is_own(second) => common.push(key.get(*index as usize)?.clone()),
                SecondKey::Joint(_) => {}
            }
        }
        Some((number, common.into_boxed_slice()))
    }

    fn second_part(&self, key: &Key, call: &ActionCall) -> Option<(usize, Common)> {
        let number = self.join.seconds.iter().position(|second| *second == call.action)?;
        let common = self.join.keys.iter().zip(key.iter()).filter(|(key, _)| !self.is_own(key));
        Some((number, common.map(|(_, value)| value.clone()).collect()))
    }
}
