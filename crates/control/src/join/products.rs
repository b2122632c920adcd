//! The entries of one joint table: pairs of source entries that agree in what both are keyed by.

use super::Key;
use crate::store::KeyHash;
use hlir::join::{Join, SecondKey, evaluate};
use hlir::value::Value;
use hlir::{ActionCall, Program, TableId};
use num_bigint::BigUint;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    First,
    Second,
}

/// An entry of a joint table: its key, the hidden action, and the action data of both sources with the numbers
/// of their cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub key: Key,
    pub call: ActionCall,
}

/// What a source entry has in common with entries of the other source: the values of the second table's keys
/// that the first table has as well, or determines.
type Common = Box<[BigUint]>;

#[derive(Clone, Debug)]
struct Source {
    call: ActionCall,
    /// The number of its direct counters and meters, if its table has some.
    cell: Option<u64>,
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
    /// Keys of the joint table.
    joint_keys: usize,
    /// Widths of the action data of the first table, by action.
    widths: Vec<Vec<u32>>,
    /// Whether entries of the sources have cells of direct counters and meters.
    have_cells: [bool; 2],
    entries: [HashMap<Key, Arc<Source>, KeyHash>; 2],
    /// Those of both sources that have a part in joint entries, by what they have in common.
    by_common: HashMap<Common, [BTreeMap<Key, Arc<Source>>; 2], KeyHash>,
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
            joint_keys: program.tables[join.table].keys.len(),
            widths: (0..first.actions.len()).map(|action| first.parameter_widths(action)).collect(),
            have_cells: [join.first, join.second].map(|source| program.has_cells(source)),
            join: Arc::new(join.clone()),
            entries: [(); 2].map(|()| HashMap::with_hasher(KeyHash::new())),
            by_common: HashMap::with_hasher(KeyHash::new()),
        }
    }

    pub fn is_too_large(&self) -> bool {
        self.total > self.limit
    }

    /// Adds an entry, or replaces the one with its key.
    pub fn add(&mut self, side: Side, key: Key, call: ActionCall, cell: Option<u64>) {
        self.remove_entry(side, &key);
        let part = match side {
            // Its lookups go by its own table, since its cells are not known.
            _ if self.have_cells[side as usize] && cell.is_none() => None,
            Side::First => self.first_part(&key, &call),
            Side::Second => self.second_part(&key, &call),
        };
        let source = Arc::new(Source { call, cell, part });
        if let Some((_, common)) = &source.part {
            let agreeing = self.by_common.entry(common.clone()).or_default();
            self.total += agreeing[1 - side as usize].len() as u64;
            agreeing[side as usize].insert(key.clone(), source.clone());
        }
        self.entries[side as usize].insert(key, source);
    }

    /// Takes an entry out. Gives its action, and the keys of the joint entries that it had a part in.
    pub fn remove(&mut self, side: Side, key: &Key) -> Option<(ActionCall, Vec<Key>)> {
        let joint_key = |other: &Key| match side {
            Side::First => self.joint_key(key, other),
            Side::Second => self.joint_key(other, key),
        };
        let keys = if self.is_full {
            Vec::new()
        } else {
            let agreeing = self.agreeing(side, key).into_iter().flat_map(|(_, agreeing)| agreeing.keys());
            agreeing.map(joint_key).collect()
        };
        self.remove_entry(side, key).map(|call| (call, keys))
    }

    fn remove_entry(&mut self, side: Side, key: &Key) -> Option<ActionCall> {
        let source = self.entries[side as usize].remove(key)?;
        if let Some((_, common)) = &source.part
            && let Some(agreeing) = self.by_common.get_mut(common)
        {
            agreeing[side as usize].remove(key);
            self.total -= agreeing[1 - side as usize].len() as u64;
            if agreeing.iter().all(BTreeMap::is_empty) {
                self.by_common.remove(common);
            }
        }
        Some(source.call.clone())
    }

    /// Takes all entries of a source out.
    pub fn clear(&mut self, side: Side) {
        self.entries[side as usize].clear();
        self.by_common.retain(|_, agreeing| {
            agreeing[side as usize].clear();
            !agreeing[1 - side as usize].is_empty()
        });
        self.total = 0;
    }

    /// The joint entries that an entry has a part in.
    pub fn products(&self, side: Side, key: &Key) -> Vec<Row> {
        let Some((source, agreeing)) = self.agreeing(side, key) else { return Vec::new() };
        let row = |(other_key, other): (&Key, &Arc<Source>)| match side {
            Side::First => self.row((key, source), (other_key, other)),
            Side::Second => self.row((other_key, other), (key, source)),
        };
        agreeing.iter().filter_map(row).collect()
    }

    /// An entry with a part in joint entries, and those of the other source that agree with it.
    fn agreeing(&self, side: Side, key: &Key) -> Option<(&Source, &BTreeMap<Key, Arc<Source>>)> {
        let source = self.entries[side as usize].get(key)?;
        let (_, common) = source.part.as_ref()?;
        Some((source, &self.by_common.get(common)?[1 - side as usize]))
    }

    /// All joint entries.
    pub fn all(&self) -> Vec<Row> {
        let firsts = self.entries[Side::First as usize].keys();
        firsts.flat_map(|key| self.products(Side::First, key)).collect()
    }

    fn row(&self, (first, one): (&Key, &Source), (second, other): (&Key, &Source)) -> Option<Row> {
        let ((first_action, _), (second_action, _)) = (one.part.as_ref()?, other.part.as_ref()?);
        let action = self.join.action(*first_action, *second_action);
        let mut arguments = Vec::with_capacity(one.call.arguments.len() + other.call.arguments.len() + 2);
        arguments.extend(data(one).chain(data(other)));
        Some(Row { key: self.joint_key(first, second), call: ActionCall { action, arguments } })
    }

    fn joint_key(&self, first: &Key, second: &Key) -> Key {
        let own = self.join.keys.iter().zip(second.iter()).filter(|(key, _)| self.is_own(key));
        let mut key = Vec::with_capacity(self.joint_keys);
        key.extend(first.iter().chain(own.map(|(_, value)| value)).cloned());
        key.into_boxed_slice()
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

/// What a source entry gives to the data of joint entries.
fn data(source: &Source) -> impl Iterator<Item = BigUint> {
    source.call.arguments.iter().cloned().chain(source.cell.map(BigUint::from))
}
