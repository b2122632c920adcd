//! Data structures of tables: what each is, in one table. The runtime has one header for each.

use crate::MatchKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Structure {
    /// Bucketised cuckoo hash on the whole key, of any width.
    Exact,
    /// The same for keys of at most 48 bits, eight entries to a line; at most 65,535 different records.
    Exact48,
    /// The same for keys of 49 to 60 bits, of which the entry's place encodes what its word has no room for; an array of 512 KB at least.
    Exact60,
    /// DIR-24-8: one or two accesses for keys of up to 32 bits.
    Dir24_8,
    /// The same with entries of two bytes: at most 32,767 different records.
    Dir24_8U16,
    /// The same with entries of one byte: at most 254 different records.
    Dir24_8U8,
    /// A path-compressed trie on keys of any width.
    LpmTrie,
    /// An array with a place for every key, of at most 20 bits.
    Direct,
    /// At most 32 entries, compared with the key side by side.
    Compare,
    /// At most 4,096 rules, each compared with the key, many side by side.
    Scan,
    /// At most 4,096 rules: sets of rules by chunks of the key, and their intersection.
    BitVector,
    /// At most 65,536 rules: a hash table for each set of parts of the key that rules fix.
    TupleSpace,
    /// A tree of pieces of the key space: prefixes of at most 128 bits, or one range.
    Btree,
    /// A perfect hash of keys of at most 48 bits, for entries that are rarely written; at most 65,535 different records.
    Perfect,
    /// Rules in order of priority, compared one by one: any mixture of match kinds.
    List,
    /// At most 16 constant entries, compared in code ([`crate::constant_entries`]).
    Code,
}

/// What is the same of a structure for all tables.
pub struct Traits {
    pub structure: Structure,
    /// Its name in plans, which its functions in C begin with.
    pub word: &'static str,
    /// The type in C that holds the table, and its header.
    pub held: &'static str,
    /// What keys it can hold.
    pub keys: Keys,
    pub limits: Limits,
    pub lookup: Lookup,
    /// Whether its lookup among many entries is long, so that it is a function of its own where it is rarely made.
    pub is_long: bool,
    /// Whether two tables can be in one array ([`crate::plan::JointTables`]).
    pub can_be_joint: bool,
}

/// Bounds of a structure's own.
#[derive(Default)]
pub struct Limits {
    /// Entries at most.
    pub entries: Option<u64>,
    /// Different records at most, the default's among them.
    pub records: Option<u64>,
    /// Entries that end behind a key's first 24 bits for which there is room wherever they are, where the numbers of
    /// these places are scarce.
    pub long_prefixes: Option<u64>,
}

/// How a lookup is made.
pub struct Lookup {
    /// Whether it looks up all keys of a group at once: rules against several keys at a time, a tree level by level, what
    /// needs a second line after all that need one.
    pub is_grouped: bool,
    /// Whether a group's lookups go node by node for all keys together, and a request for the table is one for each node,
    /// as soon as it is known.
    pub is_walked: bool,
    /// Whether a key is in one of two lines, of which a lookup mostly reads only the first. A group is then looked up in
    /// two halves.
    pub has_two_lines: bool,
    /// Where it begins: whether the first line can be requested.
    pub begins: Begins,
}

/// Where a lookup begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Begins {
    /// At the first rule, whatever the key, or at the root.
    Fixed,
    /// At a line that is computed from the key.
    Addressed,
    /// The same, and a key's line stays where it is as long as the table lives, whatever is written.
    Lasting,
}

/// The keys that a structure can hold, by the sum of their widths.
#[derive(Clone, Copy)]
pub enum Keys {
    /// All exact, of so many bits.
    Exact(u32, u32),
    /// One prefix, all others being exact, of so many bits at most.
    Prefix(u32),
    /// The same, or a range alone of so many bits at most.
    PrefixOrRange(u32, u32),
    /// Of any kind, of so many bits at most, among them at most 8 ranges of so many bits at most each.
    Rules(u32, u32),
    Any,
}

const ANY: u32 = u32::MAX;
const UNLIMITED: Limits = Limits { entries: None, records: None, long_prefixes: None };
const FEW_RECORDS: Limits = Limits { records: Some(65_535), ..UNLIMITED };
const RULES: Limits = Limits { entries: Some(4096), ..UNLIMITED };
const SINGLE: Lookup = Lookup { is_grouped: false, is_walked: false, has_two_lines: false, begins: Begins::Fixed };
const GROUPED: Lookup = Lookup { is_grouped: true, ..SINGLE };
const HASHED: Lookup = Lookup { has_two_lines: true, begins: Begins::Addressed, ..GROUPED };
const INDEXED: Lookup = Lookup { begins: Begins::Lasting, ..GROUPED };
const ADDRESSED: Lookup = Lookup { begins: Begins::Addressed, ..GROUPED };
const WALKED: Lookup = Lookup { is_walked: true, ..GROUPED };
const ARRAY: Lookup = Lookup { begins: Begins::Addressed, ..SINGLE };

const fn row(structure: Structure, word: &'static str, keys: Keys, limits: Limits, lookup: Lookup) -> Traits {
    Traits { structure, word, held: word, keys, limits, lookup, is_long: false, can_be_joint: false }
}

/// One row for each structure, in the order of [`Structure`].
#[rustfmt::skip]
pub const TRAITS: [Traits; 16] = [
    row(Structure::Exact,      "exact",       Keys::Exact(0, ANY),           UNLIMITED,   HASHED),
    Traits { can_be_joint: true, ..row(Structure::Exact48, "exact48", Keys::Exact(0, 48), FEW_RECORDS, HASHED) },
    Traits { can_be_joint: true, ..row(Structure::Exact60, "exact60", Keys::Exact(49, 60), FEW_RECORDS, HASHED) },
    row(Structure::Dir24_8,    "dir24_8",     Keys::Prefix(32),              UNLIMITED,   INDEXED),
    Traits {
        held: "dir24_8",
        ..row(Structure::Dir24_8U16, "dir24_8_u16", Keys::Prefix(32),
              Limits { records: Some(32_767), long_prefixes: Some(32_262), ..UNLIMITED }, INDEXED)
    },
    Traits {
        held: "dir24_8",
        ..row(Structure::Dir24_8U8, "dir24_8_u8", Keys::Prefix(32), Limits { records: Some(254), ..UNLIMITED }, INDEXED)
    },
    row(Structure::LpmTrie,    "lpm_trie",    Keys::Prefix(ANY),             UNLIMITED,   WALKED),
    row(Structure::Direct,     "direct",      Keys::Exact(0, 20),            UNLIMITED,   ARRAY),
    row(Structure::Compare,    "compare",     Keys::Exact(0, 128),           Limits { entries: Some(32), ..UNLIMITED }, SINGLE),
    Traits { is_long: true, ..row(Structure::Scan,      "scan",       Keys::Rules(640, 32), RULES, GROUPED) },
    Traits { is_long: true, ..row(Structure::BitVector, "bit_vector", Keys::Rules(512, 16), RULES, GROUPED) },
    row(Structure::TupleSpace, "tuple_space", Keys::Rules(512, 16),          Limits { entries: Some(65_536), ..UNLIMITED }, GROUPED),
    row(Structure::Btree,      "btree",       Keys::PrefixOrRange(128, 64),  UNLIMITED,   ADDRESSED),
    row(Structure::Perfect,    "perfect",     Keys::Exact(0, 48),            FEW_RECORDS, ADDRESSED),
    row(Structure::List,       "list",        Keys::Any,                     UNLIMITED,   SINGLE),
    // The host has a list of what is in the code.
    Traits {
        held: "list",
        ..row(Structure::Code, "code", Keys::Any,
              Limits { entries: Some(crate::constant_entries::MOST as u64), ..UNLIMITED }, SINGLE)
    },
];

impl Structure {
    pub const ALL: [Structure; TRAITS.len()] = {
        let mut all = [Structure::Exact; TRAITS.len()];
        let mut at = 0;
        while at < TRAITS.len() {
            all[at] = TRAITS[at].structure;
            at += 1;
        }
        all
    };

    /// What is the same of it for all tables.
    pub fn traits(self) -> &'static Traits {
        static ROWS: [Traits; TRAITS.len()] = TRAITS;
        &ROWS[self as usize]
    }

    /// The one that these keys, kinds and widths, suggest: the structure of a table without a line in the plan.
    pub fn of_keys(keys: &[(MatchKind, u32)]) -> Structure {
        let fits = |structure: Structure| structure.misses(keys).is_none();
        if fits(Structure::Exact) {
            Structure::Exact
        } else if keys.len() == 1 && fits(Structure::Dir24_8) {
            Structure::Dir24_8
        } else if fits(Structure::LpmTrie) {
            Structure::LpmTrie
        } else {
            Structure::List
        }
    }

    /// Entries at most, where it has a bound of its own.
    pub fn most_entries(self) -> Option<u64> {
        self.traits().limits.entries
    }

    /// Different records at most, the default's among them.
    pub fn most_records(self) -> Option<u64> {
        self.traits().limits.records
    }

    /// Long prefixes at most: see [`Limits`].
    pub fn most_long_prefixes(self) -> Option<u64> {
        self.traits().limits.long_prefixes
    }

    /// Whether it has room for so many entries, whatever their records are; `None` for any number of them.
    pub fn has_room(self, size: Option<u64>) -> bool {
        let holds = |most: Option<u64>| most.is_none_or(|most| size.is_some_and(|size| size <= most));
        // The default's record is one more.
        let records = self.most_records().map(|most| most - 1);
        [self.most_entries(), records, self.most_long_prefixes()].into_iter().all(holds)
    }

    /// Whether it looks up all keys of a group at once.
    pub fn is_grouped(self) -> bool {
        self.traits().lookup.is_grouped
    }

    /// Whether a key is in one of two lines, of which a lookup mostly reads only the first.
    pub fn has_two_lines(self) -> bool {
        self.traits().lookup.has_two_lines
    }

    /// Whether where a lookup begins is computed from its key, so that this line can be requested.
    pub fn is_addressed(self) -> bool {
        self.traits().lookup.begins != Begins::Fixed
    }

    /// Whether the lines of several keys are computed at once, from the keys alone, in less time than one by one.
    pub fn is_addressed_together(self, key_bits: u32) -> bool {
        self.has_two_lines() && key_bits <= 64 || self.keeps_its_lines()
    }

    /// Whether a key's line stays where it is as long as the table lives, whatever is written.
    pub fn keeps_its_lines(self) -> bool {
        self.traits().lookup.begins == Begins::Lasting
    }

    /// Whether a bucket is two lines for keys of so many bits, as `exact_bucket_lines` of the runtime: both are prefetched.
    pub fn has_pairs_of_lines(self, key_bits: u32) -> bool {
        self == Structure::Exact && (129..=256).contains(&key_bits)
    }

    /// Whether a key's hash takes so long that it is kept between a request and its lookup, instead of being made again.
    pub fn has_expensive_hash(self, key_bits: u32) -> bool {
        self.has_two_lines() && key_bits > 64
    }

    /// Whether a group's lookups go node by node for all keys together.
    pub fn is_walked(self) -> bool {
        self.traits().lookup.is_walked
    }

    /// What the structure needs that these keys, kinds and widths, are not; `None` if it can hold them.
    pub fn misses(self, keys: &[(MatchKind, u32)]) -> Option<String> {
        let needed = self.traits().keys;
        (!needed.fit(keys)).then(|| needed.describe())
    }
}

impl Keys {
    fn fit(self, keys: &[(MatchKind, u32)]) -> bool {
        let bits: u32 = keys.iter().map(|(_, width)| width).sum();
        let count = |kind: MatchKind| keys.iter().filter(|(found, _)| *found == kind).count();
        let is_prefix = count(MatchKind::Lpm) == 1 && count(MatchKind::Exact) + 1 == keys.len();
        let ranges = keys.iter().filter(|(kind, _)| *kind == MatchKind::Range);
        let widest_range = ranges.map(|(_, width)| *width).max().unwrap_or(0);
        match self {
            Keys::Exact(least, most) => count(MatchKind::Exact) == keys.len() && (least..=most).contains(&bits),
            Keys::Prefix(most) => is_prefix && bits <= most,
            Keys::PrefixOrRange(most, range) => {
                let is_range = keys.len() == 1 && count(MatchKind::Range) == 1;
                is_prefix && bits <= most || is_range && bits <= range
            }
            Keys::Rules(most, range) => bits <= most && count(MatchKind::Range) <= 8 && widest_range <= range,
            Keys::Any => true,
        }
    }

    fn describe(self) -> String {
        const PREFIX: &str = "one lpm key, all others being exact";
        match self {
            Keys::Exact(0, ANY) => "keys that are all exact".to_string(),
            Keys::Exact(0, most) => format!("exact keys of at most {most} bits together"),
            Keys::Exact(least, most) => format!("exact keys of {least} to {most} bits together"),
            Keys::Prefix(ANY) => PREFIX.to_string(),
            Keys::Prefix(most) => format!("{PREFIX}, of at most {most} bits together"),
            Keys::PrefixOrRange(most, range) => {
                format!("{PREFIX}, of at most {most} bits together, or one range alone of at most {range}")
            }
            Keys::Rules(most, range) => {
                format!(
                    "keys of at most {most} bits together, among them at most 8 ranges, each of at most {range} bits"
                )
            }
            Keys::Any => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_structure_has_its_row_and_its_word() {
        for (at, structure) in Structure::ALL.into_iter().enumerate() {
            assert_eq!(structure as usize, at);
            assert_eq!(structure.traits().structure, structure);
            let same = |other: &Traits| other.word == structure.traits().word;
            assert_eq!(TRAITS.iter().filter(|other| same(other)).count(), 1);
        }
    }
}
