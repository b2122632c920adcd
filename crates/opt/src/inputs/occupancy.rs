//! Expected table contents: the number of entries, and of distinct actions with data. They determine how
//! large a structure becomes.
//!
//! Without counts, a table has its constant entries, else as many as its declared size. Without a declared
//! size it is empty and may grow: its lookups cost what they cost now, its structure is for
//! [`DEFAULT_ENTRIES`], and packets are expected to hit as soon as it has entries. Tables that packets fill
//! have [`DEFAULT_ENTRIES`]. Where all entries are known, the others are empty.

use super::key_overlap::KeySketch;
use super::prefix_coverage::Coverage;
use hlir::entry::EntryAction;
use hlir::table::{action_bit, only_action};
use hlir::{Call, Match, MatchKind, Program, Statement, Table};
use std::collections::{BTreeMap, HashSet};

/// Entries that a table without declared size or counts may come to have.
pub const DEFAULT_ENTRIES: u64 = 1024;

/// By table name. Tables that are missing have [`Content::assumed`].
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Occupancy {
    pub tables: BTreeMap<String, Content>,
    /// Sketches of the keys, where entries are known.
    pub keys: BTreeMap<String, KeySketch>,
    /// Whether tables that are missing are empty for now, since all entries are known.
    pub others_are_empty: bool,
    /// Default actions that tables have in the place of the declared ones, by number.
    pub defaults: BTreeMap<String, u32>,
}

/// The content of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Content {
    pub entries: u64,
    /// Distinct action records: action and data.
    pub records: u64,
    /// Distinct combinations of masks and prefix lengths.
    pub masks: u64,
    /// Entries with an LPM key whose prefix is longer than 24 bits.
    pub long_prefixes: u64,
    /// Lines of the DIR-24-8 array that prefixes cover, for elements of 1, 2 and 4 bytes; if counted.
    pub coverage: Option<[Coverage; 3]>,
    /// The actions that entries run, if known: a bit set by number in the table, as [`action_bit`] has them.
    pub actions: u64,
    /// Whether the content was counted rather than assumed.
    pub is_known: bool,
}

impl Content {
    /// Default content of a table without counts.
    pub fn assumed(table: &Table) -> Content {
        if table.entries_constant {
            return Content::of(table.entries.iter());
        }
        match table.size {
            None if table.entries.is_empty() && !learns(table) => Content::default(),
            size => Content::filled(table, size.unwrap_or(DEFAULT_ENTRIES)),
        }
    }

    /// What a table may come to hold: its declared size, else [`DEFAULT_ENTRIES`].
    pub fn to_come(table: &Table) -> Content {
        if table.entries_constant {
            return Content::of(table.entries.iter());
        }
        Content::filled(table, table.size.unwrap_or(DEFAULT_ENTRIES))
    }

    fn filled(table: &Table, entries: u64) -> Content {
        let entries = entries.max(table.entries.len() as u64).max(1);
        let masks = Content::estimated_masks(table, entries);
        Content { entries, records: entries, masks, ..Content::default() }
    }

    /// Default number of distinct masks for so many entries.
    pub fn estimated_masks(table: &Table, entries: u64) -> u64 {
        let has_prefixes = table.keys.iter().any(|key| key.kind == MatchKind::Lpm);
        entries.min(if table.has_priorities() {
            16
        } else if has_prefixes {
            20
        } else {
            1
        })
    }

    /// Counts entries.
    pub fn of<'e>(entries: impl Iterator<Item = &'e hlir::Entry>) -> Content {
        let (mut count, mut long_prefixes, mut actions) = (0, 0, 0);
        let (mut records, mut masks) = (HashSet::new(), HashSet::new());
        for entry in entries {
            count += 1;
            records.insert(format!("{:?}", entry.action));
            if let EntryAction::Call(call) = &entry.action {
                actions |= action_bit(call.action as usize);
            }
            masks.insert(entry.matches.iter().map(mask_of).collect::<Vec<String>>());
            let is_long = |key: &Match| matches!(key, Match::Lpm { prefix, .. } if *prefix > 24);
            long_prefixes += u64::from(entry.matches.iter().any(is_long));
        }
        let (records, masks) = (records.len() as u64, masks.len() as u64);
        Content { entries: count, records, masks, long_prefixes, coverage: None, actions, is_known: true }
    }

    /// Whether a lookup finds that there are no entries, and makes no key. It may be known or assumed.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Whether all packets are known to miss. A table that is assumed to be empty has hits once it has entries.
    pub fn is_known_to_miss(&self) -> bool {
        self.is_known && self.entries == 0
    }

    /// The action that all entries run. None if they run several, or if it is unknown.
    pub fn only_action(&self) -> Option<usize> {
        only_action(self.actions)
    }
}

/// Whether packets that miss fill the table: by themselves, or by messages to a controller.
pub fn learns(table: &Table) -> bool {
    let notifies =
        |statement: &Statement| matches!(statement, Statement::Call(Call::SendDigest { .. } | Call::AddEntry { .. }));
    let default = table.actions.get(table.default.action as usize);
    table.add_on_miss || table.punt_on_miss || default.is_some_and(|action| action.body.iter().any(notifies))
}

/// The mask of a match: entries with equal masks can share a hash table.
fn mask_of(key: &Match) -> String {
    match key {
        Match::Exact(_) => "exact".to_string(),
        Match::Lpm { prefix, .. } => format!("/{prefix}"),
        Match::Ternary { mask, .. } => format!("{mask:x}"),
        Match::Range { low, high } if low == high => "exact".to_string(),
        Match::Range { low, high } => format!("{low:x}..{high:x}"),
        Match::Any => "_".to_string(),
    }
}

impl Occupancy {
    pub fn of(&self, table: &Table) -> Content {
        let known = self.tables.get(&table.name).copied();
        known.unwrap_or_else(|| match self.others_are_empty && table.entries.is_empty() && !learns(table) {
            true => Content { is_known: true, ..Content::default() },
            false => Content::assumed(table),
        })
    }

    /// The number of the action that misses run.
    pub fn default_action(&self, table: &Table) -> usize {
        self.defaults.get(&table.name).copied().unwrap_or(table.default.action) as usize
    }

    /// The same, where no table is taken to be empty: what tables may come to hold.
    pub fn to_come(&self, program: &Program) -> Occupancy {
        self.with_to_come(program, Content::is_empty)
    }

    /// The same, where only tables that are known to be empty are so: for decisions that last beyond the first entries.
    pub fn grown(&self, program: &Program) -> Occupancy {
        self.with_to_come(program, |content| content.is_empty() && !content.is_known)
    }

    fn with_to_come(&self, program: &Program, is_wanted: impl Fn(&Content) -> bool) -> Occupancy {
        let mut to_come = self.clone();
        for table in program.tables.values().filter(|table| is_wanted(&self.of(table))) {
            to_come.tables.insert(table.name.clone(), Content::to_come(table));
        }
        to_come
    }

    /// The number of distinct keys in the union of two tables, if all their entries are known.
    pub fn union_count(&self, one: &Table, other: &Table) -> Option<u64> {
        let keys = |table: &Table| {
            let content = self.tables.get(&table.name).filter(|content| content.is_known)?;
            self.keys.get(&table.name).filter(|keys| keys.count() == content.entries)
        };
        Some(keys(one)?.union_count(keys(other)?))
    }

    /// Names that no table of the program has.
    pub fn unknown_tables<'o>(&'o self, program: &'o Program) -> impl Iterator<Item = &'o String> {
        self.tables.keys().filter(|name| program.tables.values().all(|table| table.name != **name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlir::text::parse_file;

    const TABLES: &str = "\
program tables for none

header h: h_t { key: 48 }
digest station { key: 48 }

table hosts {
  key h.key: exact
  action known() {}
  action unknown() {}
  default unknown()
}

table learned {
  key h.key: exact
  action known() {}
  action learn() { digest station(h.key) }
  default learn()
}

entry only

node only: apply hosts -> more

node more: apply learned -> queue

node queue: buffer { send 32w1 }
";

    #[test]
    fn what_is_not_mentioned_is_empty_if_all_entries_are_known_and_no_packet_adds_any() {
        let parsed = parse_file(TABLES).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let of = |occupancy: &Occupancy| -> Vec<u64> {
            parsed.program.tables.values().map(|table| occupancy.of(table).entries).collect()
        };
        let known = Occupancy { others_are_empty: true, ..Occupancy::default() };
        assert_eq!(of(&Occupancy::default()), [0, DEFAULT_ENTRIES], "only packets fill a table without a size");
        assert_eq!(of(&known), [0, DEFAULT_ENTRIES]);
        assert_eq!(of(&known.to_come(&parsed.program)), [DEFAULT_ENTRIES, DEFAULT_ENTRIES]);
        let none = Content { is_known: true, ..Content::default() };
        let given = Occupancy { tables: BTreeMap::from([("hosts".to_string(), none)]), ..Occupancy::default() };
        assert!(given.of(parsed.program.tables.values().next().expect("hosts")).is_empty());
        assert_eq!(of(&given.to_come(&parsed.program)), [DEFAULT_ENTRIES, DEFAULT_ENTRIES]);
    }
}
