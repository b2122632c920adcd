//! A key finds the entry that comparing all of them finds, however entries come and go.

use control::plane::EntryKey;
use control::{DataPlane, Update};
use hlir::entry::EntryAction;
use hlir::value::Bits;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use interp::pattern::Pattern;
use interp::random::mix;
use interp::{PORTS, Switch};
use num_bigint::BigUint;

const PROGRAM: &str = "program lookups for none
header h.a: a_t { one: 8, two: 8, three: 8 }
variable error: 32
parser p { start start, accept rules, reject rules, error error }
entry start
node start: state of p { extract h.a } -> rules
table rules {
  key h.a.one: ternary
  key h.a.two: range
  key h.a.three: optional
  action found(entry: 32) {}
  default found(0)
}
table routes {
  key h.a.one: exact
  key h.a.two: lpm
  action found(entry: 32) {}
  default found(0)
}
node rules: apply rules -> routes
node routes: apply routes -> send
node send: buffer { send 32w3 }
";

/// Numbers that are the same at each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 += 1;
        mix(self.0) % end
    }

    fn big(&mut self, end: u64) -> BigUint {
        self.below(end).into()
    }

    /// Of few values, so that keys find some.
    fn rule(&mut self) -> Vec<Match> {
        let mask = [0u8, 0x0f, 0xf0, 0xff, 0x03][self.below(5) as usize];
        let (low, more) = (self.below(8), self.below(4));
        let one = Match::Ternary { value: (self.below(256) as u8 & mask).into(), mask: mask.into() };
        let two = Match::Range { low: low.into(), high: (low + more).into() };
        let three = if self.below(2) == 0 { Match::Any } else { Match::Exact(self.big(3)) };
        vec![one, two, three]
    }

    fn route(&mut self) -> Vec<Match> {
        let prefix = self.below(9) as u32;
        let value = (self.below(256) as u8) & (0xff00_u16 >> prefix) as u8;
        vec![Match::Exact(self.big(3)), Match::Lpm { value: value.into(), prefix }]
    }
}

/// An entry with a number that no other has.
fn entry(number: u64, matches: Vec<Match>, priority: u32) -> Entry {
    let call = ActionCall { action: 0, arguments: vec![number.into()] };
    Entry { matches, priority, action: EntryAction::Call(call), constant: false }
}

/// The number of the best of these entries that match; 0 if none does.
fn expected(entries: &[(u64, Entry)], key: &[Bits]) -> u64 {
    let matches =
        |entry: &&(u64, Entry)| entry.1.matches.iter().zip(key).all(|(found, key)| Pattern::new(found, 8).matches(key));
    let rank = |entry: &&(u64, Entry)| match &entry.1.matches[1] {
        Match::Lpm { prefix, .. } => *prefix,
        Match::Exact(_) | Match::Ternary { .. } | Match::Range { .. } | Match::Any => entry.1.priority,
    };
    entries.iter().filter(matches).max_by_key(rank).map_or(0, |(number, _)| *number)
}

/// Inserts and deletes entries, and looks keys up after each.
fn compare(program: &Program, table: TableId, numbers: &mut Numbers, mut draw: impl FnMut(&mut Numbers) -> Vec<Match>) {
    let mut switch = Switch::new(program, 0, PORTS);
    let mut entries: Vec<(u64, Entry)> = Vec::new();
    let fields = program.tables[table].keys.len();
    for number in 1..600 {
        if numbers.below(3) == 0 && !entries.is_empty() {
            let (_, gone) = entries.swap_remove(numbers.below(entries.len() as u64) as usize);
            let key = EntryKey { table, matches: gone.matches, priority: gone.priority };
            switch.write(&Update::Delete(key)).expect("it is there");
        } else {
            // Each priority once, in no order: no two entries are equally good.
            let priority = if program.tables[table].has_priorities() { mix(number) as u32 >> 8 | 1 } else { 0 };
            let new = entry(number, draw(numbers), priority);
            // Of two routes with one prefix, the second is refused.
            if switch.write(&Update::Insert { table, entry: new.clone() }).is_ok() {
                entries.push((number, new));
            }
        }
        for _ in 0..20 {
            let key: Vec<Bits> = (0..fields).map(|_| Bits::from_word(numbers.below(12).into(), 8)).collect();
            let (_, data) = switch.record_action(table, switch.record(table, &key), None).expect("it has an action");
            assert_eq!(data[0].to_u64(), expected(&entries, &key), "{key:?}");
        }
    }
}

#[test]
fn a_key_finds_the_best_entry() {
    let program = hlir::text::parse_program(PROGRAM).expect("the program is well formed");
    assert_eq!(hlir::verify::verify(&program), []);
    let table = |name: &str| program.tables.iter().find(|(_, table)| table.name == name).expect("it is there").0;
    let mut numbers = Numbers(1);
    compare(&program, table("rules"), &mut numbers, Numbers::rule);
    compare(&program, table("routes"), &mut numbers, Numbers::route);
}
