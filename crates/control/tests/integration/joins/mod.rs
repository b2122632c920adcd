//! Entries of joint tables, as a data plane would have them behind each write: those of a complete joint table over
//! another one that overflows and fits again.

use control::join::{self, Change, Joins, Write};
use control::plane::EntryKey;
use control::{Store, Update};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// `routes`, then the joint table of `hops` and `ports`, with at most four entries in each joint table.
const PROGRAM: &str = include_str!("chain.hlir");

/// A joint table of the data plane: whether packets see it, and its entries, by key as text.
#[derive(Default)]
struct Table {
    is_shown: bool,
    entries: BTreeMap<String, Entry>,
}

/// A switch whose tables are those of the store, and the joint tables that follow it.
struct Switch {
    program: Arc<Program>,
    store: Store,
    joins: Joins,
    joint: BTreeMap<String, Table>,
    /// The counter index of an entry of `routes`, by its prefix.
    counter_index: fn(&EntryKey) -> Option<u64>,
}

impl Switch {
    fn new(counter_index: fn(&EntryKey) -> Option<u64>) -> Switch {
        let program = hlir::text::parse_program(PROGRAM).unwrap_or_else(|errors| panic!("{errors:#?}"));
        assert_eq!(hlir::verify::verify(&program), []);
        let program = Arc::new(program);
        let (store, joins) = (Store::new(program.clone()), Joins::new(program.clone()));
        let mut switch = Switch { program, store, joins, joint: BTreeMap::new(), counter_index };
        switch.fill();
        switch
    }

    /// Fills the joint tables anew, as behind an exchange of pipelines.
    fn fill(&mut self) {
        let changes = self.joins.fill(&self.store, self.counter_index);
        self.change(changes);
    }

    fn table(&self, name: &str) -> TableId {
        self.program.tables.iter().find(|(_, table)| table.name == name).unwrap().0
    }

    /// Makes changes, each of which a data plane can make.
    fn change(&mut self, changes: Vec<Change>) {
        for change in changes {
            let table = self.joint.entry(self.program.tables[change.table()].name.clone()).or_default();
            match &change {
                Change::Insert(joint, key, call) => {
                    let entry = join::entry(&self.program, *joint, key, call);
                    let before = table.entries.insert(format!("{:?}", entry.matches), entry);
                    assert_eq!(before, None, "an inserted entry is not there");
                }
                Change::Modify(joint, key, call) => {
                    let entry = join::entry(&self.program, *joint, key, call);
                    let before = table.entries.insert(format!("{:?}", entry.matches), entry);
                    assert!(before.is_some(), "a modified entry is there");
                }
                Change::Delete(joint, key) => {
                    let key = join::entry_key(&self.program, *joint, key);
                    assert!(table.entries.remove(&format!("{:?}", key.matches)).is_some(), "a deleted entry is there");
                }
                Change::Clear(_) => *table = Table::default(),
                Change::Show(_) => table.is_shown = true,
                Change::Default(..) | Change::Grace(_) => panic!("no value join is there"),
            }
        }
    }

    fn write(&mut self, update: &Update) {
        self.store.apply(update).unwrap();
        let (write, changes): (Write, Vec<Change>) = self.joins.before(update);
        self.change(changes);
        let changes = self.joins.behind(write, true, self.counter_index);
        self.change(changes);
    }

    fn insert(&mut self, table: &str, key: Match, value: u32) {
        let (table, entry) = (self.table(table), entry(key, value));
        self.write(&Update::Insert { table, entry });
    }

    fn delete(&mut self, table: &str, key: Match) {
        let key = EntryKey { table: self.table(table), matches: vec![key], priority: 0 };
        self.write(&Update::Delete(key));
    }

    /// What packets find in a joint table, by key: the action, and its data. None if they do not see it.
    fn seen(&self, name: &str) -> Option<Vec<(String, Vec<u32>)>> {
        let declared = &self.program.tables[self.table(name)];
        let table = &self.joint[name];
        let found = |entry: &Entry| {
            let EntryAction::Call(call) = &entry.action else { panic!("joint entries have actions") };
            let data = call.arguments.iter().map(|argument| argument.try_into().unwrap()).collect();
            (declared.actions[call.action as usize].name.clone(), data)
        };
        table.is_shown.then(|| table.entries.values().map(found).collect())
    }
}

fn entry(key: Match, value: u32) -> Entry {
    let action = EntryAction::Call(ActionCall { action: 0, arguments: vec![value.into()] });
    Entry { matches: vec![key], priority: 0, action, constant: false }
}

fn prefix(number: u32) -> Match {
    Match::Lpm { value: (u64::from(number) << 24).into(), prefix: 8 }
}

fn exact(number: u32) -> Match {
    Match::Exact(number.into())
}

fn row(action: &str, data: &[u32]) -> (String, Vec<u32>) {
    (action.to_string(), data.to_vec())
}

/// Each route has the counter index of its prefix.
fn counter_index(key: &EntryKey) -> Option<u64> {
    let Match::Lpm { value, .. } = &key.matches[0] else { return None };
    Some(u64::try_from(value).unwrap() >> 24)
}

const LOWER: &str = "hops+ports";
const UPPER: &str = "routes+hops+ports";

#[test]
fn a_complete_joint_table_outlives_the_overflow_of_the_one_below() {
    let mut switch = Switch::new(counter_index);
    switch.insert("ports", exact(10), 90);
    for number in 1..=4 {
        switch.insert("hops", exact(number), 9 + number);
    }
    for number in 1..=3 {
        switch.insert("routes", prefix(number), 1 + number);
    }
    let (hit, missed, slow) = ("set_hop+set_b+set_c", "set_hop+set_b+default:set_c", row("slow", &[]));
    let product = |number: u32| row(missed, &[1 + number, number, 10 + number, 0]);
    assert_eq!(switch.seen(LOWER).map(|rows| rows.len()), Some(4));
    assert_eq!(switch.seen(UPPER), Some(vec![product(1), product(2), product(3)]));
    assert_eq!(switch.joins.take_notices(), Vec::<String>::new());

    // The fifth hop: packets see neither joint table.
    switch.insert("hops", exact(5), 10);
    assert_eq!((switch.seen(LOWER), switch.seen(UPPER)), (None, None));
    assert!(switch.joins.take_notices()[0].contains("`hops+ports` is empty: 5 entries exceed its limit of 4"));
    // Writes to all sources go on meanwhile: no prefix may be missing when the table is seen again.
    switch.delete("routes", prefix(3));
    switch.insert("routes", prefix(4), 5);
    switch.insert("ports", exact(11), 91);
    assert_eq!(switch.joint[UPPER].entries.len(), 3);
    switch.delete("hops", exact(4));
    switch.delete("hops", exact(3));
    assert_eq!((switch.seen(LOWER), switch.seen(UPPER)), (None, None), "three are more than half of the limit");

    // Two hops are left, of which one route has one: the others take their sources.
    switch.delete("hops", exact(1));
    let of_ports = |hop_value: u32, port_value: u32| row("set_b+set_c", &[hop_value, port_value]);
    assert_eq!(switch.seen(LOWER), Some(vec![of_ports(11, 91), of_ports(10, 90)]));
    let upper = vec![row(hit, &[2, 1, 11, 91]), slow.clone(), row(hit, &[5, 4, 10, 90])];
    assert_eq!(switch.seen(UPPER), Some(upper));
    assert!(switch.joins.take_notices()[0].contains("`hops+ports` has its 2 entries again"));
    switch.insert("hops", exact(3), 12);
    assert_eq!(switch.seen(UPPER).unwrap()[1], row(missed, &[3, 2, 12, 0]));
}

#[test]
fn a_complete_joint_table_that_overflows_leaves_the_one_below_alone() {
    let mut switch = Switch::new(counter_index);
    switch.insert("hops", exact(2), 10);
    (1..=5).for_each(|number| switch.insert("routes", prefix(number), 2));
    assert_eq!(switch.seen(UPPER), None);
    // While neither is full any more, both are: the one above is emptied already.
    (3..=6).for_each(|number| switch.insert("hops", exact(number), 10));
    assert_eq!((switch.seen(LOWER), switch.seen(UPPER)), (None, None));
    (1..=3).for_each(|number| switch.delete("routes", prefix(number)));
    assert_eq!(switch.seen(UPPER), None, "the one below is empty");
    (4..=6).for_each(|number| switch.delete("hops", exact(number)));
    let product = |number: u32| row("set_hop+set_b+default:set_c", &[2, number, 10, 0]);
    assert_eq!(switch.seen(UPPER), Some(vec![product(4), product(5)]));
}

/// Each route has an entry in the upper joint table, whatever the lower one has: or a shorter prefix would match.
#[test]
fn a_complete_joint_table_over_another_one_is_filled_with_what_is_there() {
    let mut switch = Switch::new(counter_index);
    (1..=3).for_each(|number| switch.insert("routes", prefix(number), number));
    switch.fill();
    assert_eq!(switch.seen(UPPER), Some(vec![row("slow", &[]); 3]));
    switch.insert("hops", exact(2), 12);
    let missed =
        |hop: u32, counter_index: u32, port: u32| row("set_hop+set_b+default:set_c", &[hop, counter_index, port, 0]);
    let expected = vec![row("slow", &[]), missed(2, 2, 12), row("slow", &[])];
    assert_eq!(switch.seen(UPPER), Some(expected.clone()));
    switch.fill();
    assert_eq!((switch.seen(LOWER).map(|rows| rows.len()), switch.seen(UPPER)), (Some(1), Some(expected)));
    // More routes than it has room for, and fewer again.
    (4..=5).for_each(|number| switch.insert("routes", prefix(number), number));
    switch.fill();
    assert_eq!((switch.seen(LOWER).map(|rows| rows.len()), switch.seen(UPPER)), (Some(1), None));
    (3..=5).for_each(|number| switch.delete("routes", prefix(number)));
    assert_eq!(switch.seen(UPPER), Some(vec![row("slow", &[]), missed(2, 2, 12)]));
    // More hops than the lower one has room for.
    (3..=6).for_each(|number| switch.insert("hops", exact(number), 12));
    switch.fill();
    assert_eq!((switch.seen(LOWER), switch.seen(UPPER)), (None, None));
    (3..=6).for_each(|number| switch.delete("hops", exact(number)));
    assert_eq!(switch.seen(UPPER), Some(vec![row("slow", &[]), missed(2, 2, 12)]));
}

/// The register of times has room for 1,024 counter indices.
#[test]
fn an_entry_whose_counter_index_has_no_time_takes_its_sources() {
    let mut switch = Switch::new(|key| counter_index(key).map(|counter_index| 1022 + counter_index));
    switch.insert("hops", exact(7), 10);
    (1..=3).for_each(|number| switch.insert("routes", prefix(number), 7));
    let slow = row("slow", &[]);
    let product = row("set_hop+set_b+default:set_c", &[7, 1023, 10, 0]);
    assert_eq!(switch.seen(UPPER), Some(vec![product, slow.clone(), slow]));
}
