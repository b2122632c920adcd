//! Data structures of tables, and which keys each can hold. The runtime has one header for each.

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

impl Structure {
    pub const ALL: [Structure; 16] = [
        Structure::Exact,
        Structure::Exact48,
        Structure::Exact60,
        Structure::Dir24_8,
        Structure::Dir24_8U16,
        Structure::Dir24_8U8,
        Structure::LpmTrie,
        Structure::Direct,
        Structure::Compare,
        Structure::Scan,
        Structure::BitVector,
        Structure::TupleSpace,
        Structure::Btree,
        Structure::Perfect,
        Structure::List,
        Structure::Code,
    ];

    /// The one that these keys, kinds and widths, suggest: the structure of a table without a line in the plan.
    pub fn usual(keys: &[(MatchKind, u32)]) -> Structure {
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
        match self {
            Structure::Compare => Some(32),
            Structure::Scan | Structure::BitVector => Some(4096),
            Structure::TupleSpace => Some(65_536),
            Structure::Code => Some(crate::constant_entries::MOST as u64),
            Structure::Exact
            | Structure::Exact48
            | Structure::Exact60
            | Structure::Dir24_8
            | Structure::Dir24_8U16
            | Structure::Dir24_8U8
            | Structure::LpmTrie
            | Structure::Direct
            | Structure::Perfect
            | Structure::Btree
            | Structure::List => None,
        }
    }

    /// Different records at most, the default's among them.
    pub fn most_records(self) -> Option<u64> {
        match self {
            Structure::Exact48 | Structure::Exact60 | Structure::Perfect => Some(65_535),
            Structure::Dir24_8U16 => Some(32_767),
            Structure::Dir24_8U8 => Some(254),
            Structure::Exact
            | Structure::Dir24_8
            | Structure::LpmTrie
            | Structure::Direct
            | Structure::Compare
            | Structure::Scan
            | Structure::BitVector
            | Structure::TupleSpace
            | Structure::Btree
            | Structure::List
            | Structure::Code => None,
        }
    }

    /// Entries that end behind a key's first 24 bits for which there is room wherever they are, where the numbers of these places are scarce.
    pub fn most_long_prefixes(self) -> Option<u64> {
        (self == Structure::Dir24_8U16).then_some(32_262)
    }

    /// Whether it has room for so many entries, whatever their records are; `None` for any number of them.
    pub fn has_room(self, size: Option<u64>) -> bool {
        let holds = |most: Option<u64>| most.is_none_or(|most| size.is_some_and(|size| size <= most));
        // The default's record is one more.
        let records = self.most_records().map(|most| most - 1);
        [self.most_entries(), records, self.most_long_prefixes()].into_iter().all(holds)
    }

    /// Whether it looks up all keys of a group at once: rules against several keys at a time, a tree level by level, what needs a second line
    /// after all that need one.
    pub fn is_grouped(self) -> bool {
        match self {
            Structure::Exact
            | Structure::Exact48
            | Structure::Exact60
            | Structure::Scan
            | Structure::BitVector
            | Structure::TupleSpace
            | Structure::Btree
            | Structure::LpmTrie
            | Structure::Perfect
            | Structure::Dir24_8
            | Structure::Dir24_8U16
            | Structure::Dir24_8U8 => true,
            Structure::Direct | Structure::Compare | Structure::List | Structure::Code => false,
        }
    }

    /// Whether a key is in one of two lines, of which a lookup mostly reads only the first. A group is then looked up in two halves.
    pub fn has_two_lines(self) -> bool {
        match self {
            Structure::Exact | Structure::Exact48 | Structure::Exact60 => true,
            Structure::Dir24_8
            | Structure::Dir24_8U16
            | Structure::Dir24_8U8
            | Structure::LpmTrie
            | Structure::Direct
            | Structure::Compare
            | Structure::Scan
            | Structure::BitVector
            | Structure::TupleSpace
            | Structure::Btree
            | Structure::Perfect
            | Structure::List
            | Structure::Code => false,
        }
    }

    /// Whether where a lookup begins is computed from its key, so that this line can be requested. Rules and short lists are read from the first one
    /// on, whatever the key, a trie from its root.
    pub fn is_addressed(self) -> bool {
        match self {
            Structure::Exact
            | Structure::Exact48
            | Structure::Exact60
            | Structure::Dir24_8
            | Structure::Dir24_8U16
            | Structure::Dir24_8U8
            | Structure::Direct
            | Structure::Btree
            | Structure::Perfect => true,
            Structure::LpmTrie
            | Structure::Compare
            | Structure::Scan
            | Structure::BitVector
            | Structure::TupleSpace
            | Structure::List
            | Structure::Code => false,
        }
    }

    /// Whether the lines of several keys are computed at once, from the keys alone, in less time than one by one.
    pub fn is_addressed_together(self, key_bits: u32) -> bool {
        let narrow = matches!(self, Structure::Exact48 | Structure::Exact60);
        narrow || self == Structure::Exact && key_bits <= 64 || self.keeps_its_lines()
    }

    /// Whether a key's line stays where it is as long as the table lives, whatever is written.
    pub fn keeps_its_lines(self) -> bool {
        matches!(self, Structure::Dir24_8 | Structure::Dir24_8U16 | Structure::Dir24_8U8)
    }

    /// Whether a key's hash takes so long that it is kept between a request and its lookup, instead of being made again.
    pub fn has_expensive_hash(self, key_bits: u32) -> bool {
        self == Structure::Exact && key_bits > 64
    }

    /// Whether a group's lookups go node by node for all keys together, and a request for the table is one for each node, as soon as it is known.
    pub fn is_walked(self) -> bool {
        self == Structure::LpmTrie
    }

    /// What the structure needs that these keys, kinds and widths, are not; `None` if it can hold them.
    pub fn misses(self, keys: &[(MatchKind, u32)]) -> Option<&'static str> {
        let bits: u32 = keys.iter().map(|(_, width)| width).sum();
        let count = |kind: MatchKind| keys.iter().filter(|(found, _)| *found == kind).count();
        let exact = count(MatchKind::Exact) == keys.len();
        let prefix = count(MatchKind::Lpm) == 1 && count(MatchKind::Exact) + 1 == keys.len();
        let ranges = keys.iter().filter(|(kind, _)| *kind == MatchKind::Range);
        let widest_range = ranges.map(|(_, width)| *width).max().unwrap_or(0);
        let (fits, needs) = match self {
            Structure::Exact => (exact, "keys that are all exact"),
            Structure::Exact48 | Structure::Perfect => (exact && bits <= 48, "exact keys of at most 48 bits together"),
            Structure::Exact60 => (exact && bits > 48 && bits <= 60, "exact keys of 49 to 60 bits together"),
            Structure::Dir24_8 | Structure::Dir24_8U16 | Structure::Dir24_8U8 => {
                (prefix && bits <= 32, "one lpm key, all others being exact, of at most 32 bits together")
            }
            Structure::LpmTrie => (prefix, "one lpm key, all others being exact"),
            Structure::Direct => (exact && bits <= 20, "exact keys of at most 20 bits together"),
            Structure::Compare => (exact && bits <= 128, "exact keys of at most 128 bits together"),
            Structure::Scan => {
                let fits = bits <= 640 && count(MatchKind::Range) <= 8 && widest_range <= 32;
                (fits, "keys of at most 640 bits together, among them at most 8 ranges, each of at most 32 bits")
            }
            Structure::BitVector | Structure::TupleSpace => {
                let fits = bits <= 512 && count(MatchKind::Range) <= 8 && widest_range <= 16;
                (fits, "keys of at most 512 bits together, among them at most 8 ranges, each of at most 16 bits")
            }
            Structure::Btree => {
                let one_range = keys.len() == 1 && widest_range == bits && bits <= 64 && count(MatchKind::Range) == 1;
                let needs = "one lpm key, all others being exact, of at most 128 bits together, or one range alone of at most 64";
                ((prefix && bits <= 128) || one_range, needs)
            }
            Structure::List | Structure::Code => (true, ""),
        };
        (!fits).then_some(needs)
    }
}
