//! Facts under long runs of random writes of every kind: those that are kept are those that counting anew gives, and no
//! write that breaks a fact is taken for one that does not.
//!
//! `FACT_WRITES=1000000 FACT_SEED=7 cargo test -p control --test integration fact_writes::` makes so many, and others.

use control::plane::{Element, EntryKey, Group, MeterRates};
use control::{Facts, Rate, Store, Update};
use hlir::entry::EntryAction;
use hlir::facts::{Assumption, Fact};
use hlir::{ActionCall, Entry, Match, Program, TableId};
use num_bigint::BigUint;
use std::collections::BTreeSet;
use std::sync::Arc;

const WRITES: u64 = 20_000;
/// Writes between two moments at which code is made for what then holds.
const SPECIALISED_EVERY: u64 = 40;
/// Entries at most that are asked of.
const MOST_LED: usize = 6;

const PROGRAM: &str = "program writes for none

header h: h_t { a: 8, b: 16, c: 16 }

variable error: 32
variable colour: 8

meter police: packets [4]
meter rules.rate: bytes of rules
value_set ports [4] { c: 16 exact }
profile hops [16] selector crc16 width 14 largest_group 4

table rules {
  key h.a: ternary
  key h.b: range
  action mark(class: 4, port: 4) {}
  action drop() {}
  default drop()
}

table routes {
  key h.b: lpm
  key h.a: exact
  action mark(class: 4) {}
  action drop() {}
  default drop()
}

table balanced {
  key h.c: exact
  action to(port: 4) {}
  action away() {}
  default away()
  profile hops
  selector h.a
}

parser parser { start start, accept first, reject first, error error }

entry start

node start: state of parser { extract h } select h.c {
  in ports -> marked
  otherwise -> first
}

node marked: state of parser { colour = 1 } -> first

node first: apply rules -> second

node second: apply routes -> third

node third: apply balanced -> police

node police: block { meter police at 32w1 into colour } -> queue

node queue: buffer { send 32w1 }
";

fn program() -> Arc<Program> {
    let program = hlir::text::parse_program(PROGRAM).unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!(hlir::verify::verify(&program), []);
    Arc::new(program)
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

fn table(program: &Program, name: &str) -> TableId {
    program.tables.iter().find(|(_, table)| table.name == name).expect("it is declared").0
}

/// Writes that look random, the same for each seed. There are few values, so keys, data and targets occur again.
struct Writes {
    program: Arc<Program>,
    state: u64,
}

impl Writes {
    fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % limit
    }

    fn value(&mut self, limit: u64) -> BigUint {
        BigUint::from(self.below(limit))
    }

    fn matches(&mut self, name: &str) -> Vec<Match> {
        match name {
            "rules" => {
                let ternary = match self.below(4) {
                    0 | 1 => Match::Any,
                    2 => Match::Ternary { value: self.value(3), mask: BigUint::from(0xffu32) },
                    _ => Match::Ternary { value: BigUint::from(1u32), mask: BigUint::from(3u32) },
                };
                let range = match self.below(4) {
                    0 | 1 => Match::Any,
                    2 => Match::Range { low: BigUint::ZERO, high: BigUint::from(0xffffu32) },
                    _ => Match::Range { low: BigUint::from(3u32), high: BigUint::from(3u32) + self.value(2) },
                };
                vec![ternary, range]
            }
            "routes" => {
                let prefix = [0, 8, 16][self.below(3) as usize];
                let value = if prefix == 0 { BigUint::ZERO } else { self.value(3) << (16 - prefix) };
                vec![Match::Lpm { value, prefix }, Match::Exact(self.value(3))]
            }
            _ => vec![Match::Exact(self.value(6))],
        }
    }

    fn entry(&mut self, name: &str) -> Entry {
        let matches = self.matches(name);
        let priority = if name == "rules" { 1 + self.below(3) as u32 } else { 0 };
        let target = self.below(4) as u32;
        let action = match (name, self.below(2)) {
            ("balanced", 0) => EntryAction::Member(target),
            ("balanced", _) => EntryAction::Group(target),
            _ => EntryAction::Call(self.call(name)),
        };
        Entry { matches, priority, action, constant: false }
    }

    fn call(&mut self, name: &str) -> ActionCall {
        let id = table(&self.program, name);
        let action = self.below(2) as u32;
        let parameters = self.program.tables[id].actions[action as usize].parameters.len();
        ActionCall { action, arguments: (0..parameters).map(|_| self.value(2)).collect() }
    }

    /// That some entries of each table win before others, where they do.
    fn leading(&mut self, store: &Store) -> Vec<Assumption> {
        let tables = ["rules", "routes", "balanced"].map(|name| table(&self.program, name));
        let facts = tables.into_iter().filter_map(|table| {
            let keys = store.entries(table).filter(|_| self.below(2) == 0).map(|stored| EntryKey {
                table,
                matches: stored.entry.matches,
                priority: stored.entry.priority,
            });
            let keys: Vec<EntryKey> = keys.take(MOST_LED).collect();
            Some(Assumption { table, fact: store.leading(table, &keys)? })
        });
        facts.collect()
    }

    fn update(&mut self) -> Update {
        let name = ["rules", "routes", "balanced"][self.below(3) as usize];
        let (id, profile) = (table(&self.program, name), object(0));
        let (member, group) = (self.below(4) as u32, self.below(4) as u32);
        match self.below(24) {
            0..=5 => Update::Insert { table: id, entry: self.entry(name) },
            6..=8 => Update::Modify { table: id, entry: self.entry(name) },
            9..=16 => {
                let entry = self.entry(name);
                Update::Delete(EntryKey { table: id, matches: entry.matches, priority: entry.priority })
            }
            17 => Update::SetDefault { table: id, call: self.call(name) },
            18 => Update::SetMember { profile: object(0), member, call: self.call("balanced") },
            19 => Update::DeleteMember { profile: object(0), member },
            20 => {
                let members: Vec<u32> = (0..self.below(3)).map(|_| self.below(4) as u32).collect();
                Update::SetGroup { profile: object(0), group, value: Group::from(&members[..]) }
            }
            21 => Update::DeleteGroup { profile, group },
            22 => {
                let members = (0..self.below(3)).map(|_| vec![Match::Exact(self.value(4))]).collect();
                Update::SetValueSet { set: object(0), members }
            }
            _ => self.meter(),
        }
    }

    fn meter(&mut self) -> Update {
        let given = MeterRates {
            committed_rate: Rate::of_units(1),
            committed_burst: 1,
            peak_rate: Rate::of_units(2),
            peak_burst: 2,
        };
        let rates = (self.below(3) == 0).then_some(given);
        if self.below(2) == 0 {
            return Update::SetMeter { meter: object(0), element: Element::Index(self.below(4)), rates };
        }
        if self.below(8) == 0 {
            // A match of another kind than its key, which the store refuses.
            let (id, action) = (table(&self.program, "routes"), EntryAction::Call(self.call("routes")));
            let matches = vec![Match::Any, Match::Ternary { value: self.value(3), mask: BigUint::from(3u32) }];
            return Update::Insert { table: id, entry: Entry { matches, priority: 0, action, constant: false } };
        }
        let rules = table(&self.program, "rules");
        if self.below(6) == 0 {
            return Update::SetMeter { meter: object(1), element: Element::Default(rules), rates };
        }
        let entry = self.entry("rules");
        let element = Element::Entry(EntryKey { table: rules, matches: entry.matches, priority: entry.priority });
        Update::SetMeter { meter: object(1), element, rates }
    }
}

/// The object of its kind with this number.
fn object<T>(number: u32) -> la_arena::Idx<T> {
    la_arena::Idx::from_raw(la_arena::RawIdx::from_u32(number))
}

/// Whether an assumption holds, by reading all that the store has: no counter is asked.
fn holds(store: &Store, Assumption { table, fact }: &Assumption) -> bool {
    let entries: Vec<Entry> = store.entries(*table).map(|stored| stored.entry).collect();
    let calls = entries.iter().filter_map(|entry| match &entry.action {
        EntryAction::Call(call) => Some(call),
        EntryAction::Member(_) | EntryAction::Group(_) | EntryAction::Set(_) => None,
    });
    match fact {
        Fact::Empty => entries.is_empty(),
        Fact::Default(call) => store.default_action(*table) == call,
        Fact::Entries(wanted) => {
            entries.len() == wanted.len() && wanted.iter().all(|entry| entries.iter().any(|other| other == entry))
        }
        Fact::Leading(leading) => {
            let is_there = |one: &Entry| entries.iter().any(|other| other == one);
            leading.iter().all(is_there) && packets().all(|packet| leads(store, *table, (leading, &entries), packet))
        }
        Fact::Actions(actions) => calls.clone().all(|call| actions.contains(&call.action)),
        Fact::Argument { action, parameter, value } => calls
            .clone()
            .filter(|call| call.action == *action)
            .all(|call| call.arguments[*parameter as usize] == *value),
        Fact::Any(key) => entries.iter().all(|entry| is_any(&entry.matches[*key as usize])),
        Fact::Key { key, value } => entries.iter().all(|entry| is_only(&entry.matches[*key as usize], value)),
        Fact::Mask { key, mask } => {
            let program = store.program();
            let width = program.key_kinds(*table)[*key as usize].1;
            entries.iter().all(|entry| mask_of(&entry.matches[*key as usize], width).as_ref() == Some(mask))
        }
        Fact::Distinct => (1..entries.len()).all(|at| entries[..at].iter().all(|one| !match_alike(one, &entries[at]))),
        Fact::Unmetered => !store.meters().any(|(_, element, _)| match element {
            Element::Entry(key) => key.table == *table,
            Element::Default(of) => of == *table,
            Element::Index(_) => false,
        }),
    }
}

/// Values of both keys of `rules` and `routes`, in this order: all that entries distinguish, and one beside.
fn packets() -> impl Iterator<Item = [u32; 2]> {
    const WIDE: [u32; 13] = [0, 1, 2, 3, 4, 5, 0x100, 0x101, 0x103, 0x200, 0x201, 0x203, 0xffff];
    (0..6).flat_map(|a| WIDE.map(|b| [a, b]))
}

/// Whether the first of the leading entries that a packet matches is the only one that wins, if it matches one.
fn leads(store: &Store, table: TableId, (leading, entries): (&[Entry], &[Entry]), [a, b]: [u32; 2]) -> bool {
    let is_prefix = store.program().tables[table].name == "routes";
    let values = if is_prefix { [(b, 16), (a, 8)] } else { [(a, 8), (b, 16)] };
    let matching = |entry: &&Entry| {
        let mut pairs = entry.matches.iter().zip(values);
        pairs.all(|(found, (value, width))| matches_value(found, value, width))
    };
    let Some(first) = leading.iter().find(matching) else { return true };
    let rank = |entry: &Entry| match &entry.matches[0] {
        Match::Lpm { prefix, .. } if is_prefix => *prefix,
        Match::Exact(_) | Match::Lpm { .. } | Match::Ternary { .. } | Match::Range { .. } | Match::Any => {
            entry.priority
        }
    };
    entries.iter().filter(matching).all(|other| other == first || rank(other) < rank(first))
}

fn matches_value(found: &Match, value: u32, width: u32) -> bool {
    let key = BigUint::from(value);
    match found {
        Match::Any => true,
        Match::Exact(one) => *one == key,
        Match::Lpm { value: one, prefix } => one >> (width - prefix) == &key >> (width - prefix),
        Match::Ternary { value: one, mask } => one & mask == &key & mask,
        Match::Range { low, high } => *low <= key && key <= *high,
    }
}

/// The bits that a match distinguishes; none for those of a range.
fn mask_of(found: &Match, width: u32) -> Option<BigUint> {
    let ones = (BigUint::from(1u32) << width) - 1u32;
    match found {
        Match::Exact(_) => Some(ones),
        Match::Lpm { prefix, .. } => Some(&ones - ((BigUint::from(1u32) << (width - prefix)) - 1u32)),
        Match::Ternary { mask, .. } => Some(mask.clone()),
        Match::Range { low, high } if low == high => Some(ones),
        Match::Range { .. } => is_any(found).then_some(BigUint::ZERO),
        Match::Any => Some(BigUint::ZERO),
    }
}

/// Whether two entries match the same packets.
fn match_alike(one: &Entry, other: &Entry) -> bool {
    one.matches.iter().zip(&other.matches).all(|(one, other)| one == other || is_any(one) && is_any(other))
}

fn is_only(found: &Match, value: &BigUint) -> bool {
    match found {
        Match::Exact(one) => one == value,
        Match::Lpm { value: one, prefix } => one == value && *prefix == 16,
        Match::Ternary { value: one, mask } => one == value && *mask == BigUint::from(0xffu32),
        Match::Range { low, high } => low == value && high == value,
        Match::Any => false,
    }
}

fn is_any(found: &Match) -> bool {
    match found {
        Match::Any => true,
        Match::Ternary { mask, .. } => *mask == BigUint::ZERO,
        Match::Lpm { prefix, .. } => *prefix == 0,
        Match::Range { low, high } => *low == BigUint::ZERO && *high == BigUint::from(0xffffu32),
        Match::Exact(_) => false,
    }
}

#[test]
fn kept_facts_and_decisions_are_right_after_each_of_many_random_writes() {
    let (count, seed) = (number("FACT_WRITES", WRITES), number("FACT_SEED", 1));
    let program = program();
    let (mut store, mut writes) = (Store::new(program.clone()), Writes { program, state: seed });
    store.count_facts();
    let (mut accepted, mut broken, mut led, mut kinds) = (0u64, 0u64, 0u64, BTreeSet::new());
    let mut assumed: Vec<Assumption> = Vec::new();
    for step in 0..count {
        if step % SPECIALISED_EVERY == 0 {
            assumed = Facts::of(&store).hold(&store);
            let leading = writes.leading(&store);
            led += leading.len() as u64;
            assumed.extend(leading);
            store.assume(&assumed);
        }
        let update = writes.update();
        // As in a switch: generic code runs before a write that breaks something is made.
        let breaks = store.broken_by(&update).cloned();
        if breaks.is_some() {
            store.assume(&[]);
        }
        let is_accepted = store.apply(&update).is_ok();
        let of = format!("write {step} with FACT_SEED={seed}: {update:?}");
        match &breaks {
            Some(one) if is_accepted => {
                // What a deletion leaves of few entries is never what was assumed.
                assert!(!holds(&store, one), "{one:?} still holds: {of}");
                broken += 1;
                assumed.clear();
            }
            Some(_) => store.assume(&assumed),
            None => assumed.iter().for_each(|one| assert!(holds(&store, one), "{one:?} does not hold: {of}")),
        }
        let kept = store.facts().expect("they are counted");
        assert_eq!(*kept, Facts::of(&store), "{of}");
        accepted += u64::from(is_accepted);
        if is_accepted {
            kinds.insert(kind(&update));
        }
    }
    assert!(accepted > count / 8 && broken > count / 400, "{accepted} accepted, {broken} broke a fact");
    assert!(led > count / 400, "{led} tables had entries that win before others");
    assert_eq!(kinds.len(), 10, "{kinds:?}");
}

/// The name of an update's kind.
fn kind(update: &Update) -> String {
    let text = format!("{update:?}");
    text.split([' ', '(', '{']).next().unwrap_or_default().to_string()
}
