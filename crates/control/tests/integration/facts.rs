//! Facts about what tables hold: those that are kept at each write are those that counting anew gives, and a write is
//! refused exactly if it breaks one that is taken for granted.

use control::facts::Shape;
use control::plane::EntryKey;
use control::{Facts, Store, Update};
use hlir::entry::EntryAction;
use hlir::facts::{Assumption, Fact};
use hlir::text::parse_program;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use num_bigint::BigUint;
use std::sync::Arc;

const PROGRAM: &str = "program facts for none

header h: h_t { a: 8, b: 16, c: 16 }

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

table learned {
  key h.c: exact
  action known() {}
  action learn() { insert learned => known() }
  default learn()
  add_on_miss
}

entry only

node only: apply rules -> more

node more: apply routes -> rest

node rest: apply learned -> queue

node queue: buffer { send 32w1 }
";

fn program() -> Arc<Program> {
    let program = hlir::text::parse_program(PROGRAM).unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!(hlir::verify::verify(&program), []);
    Arc::new(program)
}

fn table(program: &Program, name: &str) -> TableId {
    program.tables.iter().find(|(_, table)| table.name == name).expect("it is declared").0
}

/// Numbers that look random, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn number(&mut self, limit: u64) -> BigUint {
        BigUint::from(self.below(limit))
    }

    /// Of few values, so that keys and data occur again.
    fn entry(&mut self, name: &str) -> Entry {
        let ternary = match self.below(3) {
            0 => Match::Any,
            1 => Match::Ternary { value: self.number(4), mask: BigUint::from(0xffu32) },
            _ => Match::Ternary { value: BigUint::from(1u32), mask: BigUint::from(3u32) },
        };
        let range = match self.below(3) {
            0 => Match::Any,
            1 => Match::Range { low: BigUint::ZERO, high: BigUint::from(0xffffu32) },
            _ => Match::Range { low: BigUint::from(3u32), high: BigUint::from(3u32) + self.number(2) },
        };
        let prefix = [0, 8, 16][self.below(3) as usize];
        let value = (self.number(4) << (16 - prefix)) & BigUint::from(0xffffu32);
        let value = if prefix == 0 { BigUint::ZERO } else { value };
        let is_rule = name == "rules";
        let lpm = vec![Match::Lpm { value, prefix }, Match::Exact(self.number(3))];
        let matches = if is_rule { vec![ternary, range] } else { lpm };
        let action = self.below(2) as u32;
        let parameters = if action == 1 { 0 } else { 1 + usize::from(is_rule) };
        let arguments = (0..parameters).map(|_| self.number(3)).collect();
        let priority = if is_rule { 1 + self.below(3) as u32 } else { 0 };
        Entry { matches, priority, action: EntryAction::Call(ActionCall { action, arguments }), constant: false }
    }

    fn update(&mut self, program: &Program) -> Update {
        let name = ["rules", "routes"][self.below(2) as usize];
        let (table, entry) = (table(program, name), self.entry(name));
        match self.below(6) {
            0 | 1 => Update::Insert { table, entry },
            2 => Update::Modify { table, entry },
            3 | 4 => Update::Delete(EntryKey { table, matches: entry.matches, priority: entry.priority }),
            _ => {
                let EntryAction::Call(call) = entry.action else { panic!("entries of these tables are calls") };
                Update::SetDefault { table, call }
            }
        }
    }
}

#[test]
fn facts_that_are_kept_are_those_that_counting_gives() {
    let program = program();
    let (mut store, mut numbers) = (Store::new(program.clone()), Numbers(1));
    store.count_facts();
    let mut different = std::collections::BTreeSet::new();
    for step in 0..6_000 {
        let update = numbers.update(&program);
        let written = store.apply(&update);
        if let Ok(Some(inverse)) = written
            && numbers.below(10) == 0
        {
            store.restore(&inverse);
        }
        if step == 5_000 {
            store.reset();
        }
        let kept = store.facts().expect("they are counted");
        assert_eq!(*kept, Facts::of(&store), "step {step}: {update:?}");
        different.insert(format!("{:?}", kept.hold(&store)));
    }
    assert!(different.len() > 50, "{} sets of facts only", different.len());
}

#[test]
fn a_write_is_refused_exactly_if_it_breaks_a_fact() {
    let program = program();
    let mut numbers = Numbers(7);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..3_000 {
        let mut store = Store::new(program.clone());
        for _ in 0..numbers.below(8) {
            drop(store.apply(&numbers.update(&program)));
        }
        let all = Facts::of(&store).hold(&store);
        let one = all[numbers.below(all.len() as u64) as usize].clone();
        let update = numbers.update(&program);
        let mut free = store.clone();
        let can_be = free.apply(&update).is_ok();
        let holds = Facts::of(&free).hold(&free).contains(&one) || is_weaker(&one, &free);
        store.assume(std::slice::from_ref(&one));
        assert!(store.check_assumptions().is_ok(), "{one:?}");
        match store.apply(&update) {
            Ok(_) => {
                assert!(can_be && holds, "{one:?} does not hold behind {update:?}");
                accepted += 1;
            }
            Err(refusal) if can_be => {
                assert!(refusal.sentence.contains("specialised for"), "{refusal}");
                // What a delete leaves of few entries may still be right; it is refused all the same.
                assert!(!holds || matches!(update, Update::Delete(_)), "{one:?} holds behind {update:?}");
                refused += 1;
            }
            Err(_) => {}
        }
    }
    assert!(refused > 100 && accepted > 100, "{refused} refused, {accepted} accepted");
}

/// Whether a fact holds that counting does not give by itself: fewer actions run than it has, or none with its argument.
fn is_weaker(Assumption { table, fact }: &Assumption, store: &Store) -> bool {
    let entries: Vec<Entry> = store.entries(*table).map(|stored| stored.entry).collect();
    let calls = entries.iter().filter_map(|entry| match &entry.action {
        EntryAction::Call(call) => Some(call.clone()),
        EntryAction::Member(_) | EntryAction::Group(_) | EntryAction::Set(_) => None,
    });
    let calls: Vec<ActionCall> = calls.collect();
    match fact {
        Fact::Actions(actions) => calls.iter().all(|call| actions.contains(&call.action)),
        Fact::Argument { action, parameter, value } => {
            let with = |call: &&ActionCall| call.action == *action;
            calls.iter().filter(with).all(|call| call.arguments[*parameter as usize] == *value)
        }
        Fact::Any(_) | Fact::Key { .. } | Fact::Mask { .. } | Fact::Distinct => entries.is_empty(),
        Fact::Empty | Fact::Default(_) | Fact::Entries(_) | Fact::Leading(_) | Fact::Unmetered => false,
    }
}

#[test]
fn tables_that_packets_write_have_no_facts() {
    let program = program();
    let store = Store::new(program.clone());
    let facts = Facts::of(&store).hold(&store);
    let learned = table(&program, "learned");
    assert!(facts.iter().all(|fact| fact.table != learned), "{facts:?}");
    assert!(facts.contains(&Assumption { table: table(&program, "rules"), fact: Fact::Empty }));
}

#[test]
fn shapes_are_those_of_all_entries() {
    let program = program();
    let rules = table(&program, "rules");
    let mut store = Store::new(program);
    let number = BigUint::from;
    let rule = |value: u32, mask: u32, priority| Entry {
        matches: vec![Match::Ternary { value: number(value), mask: number(mask) }, Match::Any],
        priority,
        action: EntryAction::Call(ActionCall { action: 1, arguments: Vec::new() }),
        constant: false,
    };
    let mut shapes = Vec::new();
    for entry in [rule(5, 0xff, 1), rule(6, 0xff, 2), rule(4, 0x0f, 3)] {
        store.apply(&Update::Insert { table: rules, entry }).expect("it is new");
        let facts = Facts::of(&store);
        shapes.push((facts.shape(rules, 0), facts.shape(rules, 1)));
    }
    assert_eq!(shapes, [(Shape::Exact, Shape::Any), (Shape::Exact, Shape::Any), (Shape::Masks(2), Shape::Any)]);
}

#[test]
fn packets_wait_for_what_is_taken_for_granted() {
    let program = program();
    let routes = table(&program, "routes");
    let mut store = Store::new(program);
    let entry = Entry {
        matches: vec![Match::Lpm { value: BigUint::from(0x0100u32), prefix: 8 }, Match::Exact(BigUint::from(1u32))],
        priority: 0,
        action: EntryAction::Call(ActionCall { action: 1, arguments: Vec::new() }),
        constant: false,
    };
    store.assume(&[Assumption { table: routes, fact: Fact::Entries(vec![entry.clone()]) }]);
    let missing = store.check_assumptions().expect_err("the entry is not there");
    assert_eq!(
        missing.sentence,
        "table `routes` does not hold what the code is specialised for; write the same entries and default actions first"
    );
    store.apply(&Update::Insert { table: routes, entry: entry.clone() }).expect("it is one of them");
    assert!(store.check_assumptions().is_ok());
    let other = Entry { matches: vec![Match::Any, Match::Exact(BigUint::from(2u32))], ..entry };
    let refused = store.apply(&Update::Insert { table: routes, entry: other }).expect_err("it is another one");
    assert_eq!(
        refused.sentence,
        "the code is specialised for table `routes` with exactly the 1 entries that it was compiled for; \
         compile without --specialise to write this"
    );
}

/// Of any width: constant entries need no counters for that.
#[test]
fn a_fact_about_a_wide_key_holds_for_entries_with_this_value() {
    let text = "program wide for none
header h: h_t { address: 128 }
variable error: 32
table hosts {
  key h.address: exact
  action seen() {}
  default seen()
}
parser parser { start start, accept hosts, reject hosts, error error }
entry start
node start: state of parser { extract h } -> hosts
node hosts: apply hosts -> queue
node queue: buffer { send 32w1 }
";
    let program = Arc::new(parse_program(text).unwrap_or_else(|errors| panic!("{errors:?}")));
    let hosts = table(&program, "hosts");
    let address = BigUint::from(1u32) << 100u32;
    let entry = |value: BigUint| Entry {
        matches: vec![Match::Exact(value)],
        priority: 0,
        action: EntryAction::Call(ActionCall { action: 0, arguments: Vec::new() }),
        constant: false,
    };
    let mut store = Store::new(program);
    store.assume(&[Assumption { table: hosts, fact: Fact::Key { key: 0, value: address.clone() } }]);
    store.apply(&Update::Insert { table: hosts, entry: entry(address.clone()) }).expect("it has this value");
    assert!(store.check_assumptions().is_ok());
    let refused = store.apply(&Update::Insert { table: hosts, entry: entry(address + 1u32) }).expect_err("another one");
    assert!(refused.sentence.contains("in all entries"), "{}", refused.sentence);
}
