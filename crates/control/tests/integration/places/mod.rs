//! Places of a value join, as a data plane would have them behind each write: which records have which place, and what
//! the table has there.

use control::join::{self, Change, Joins};
use control::plane::EntryKey;
use control::{Refusal, RefusalKind, Store, Update};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// `routes` give next hops of 32 bits, of which four have a place.
const PROGRAM: &str = include_str!("routes.hlir");

const SET_HOP: u32 = 0;
const FIXED: u32 = 1;
const KEEP: u32 = 2;

/// The port of the default action of `hops`, whose entries have data.
const MISSED: u32 = 511;

/// A data plane: the places that its routes have, and the entries by place.
struct Switch {
    program: Arc<Program>,
    store: Store,
    joins: Joins,
    /// The place of each route, by its address; 0 for none.
    routes: BTreeMap<u32, u32>,
    default: u32,
    /// Ports, by place.
    placed: BTreeMap<u32, u32>,
    /// Places that routes had since the last grace period: packets may have them.
    stale: Vec<u32>,
    graces: usize,
    /// Changes of the table that are refused from now on.
    refuses: fn(&Change) -> Option<RefusalKind>,
}

fn number(found: &Match) -> u32 {
    let Match::Exact(value) = found else { panic!("all keys are exact") };
    value.try_into().unwrap()
}

fn counter_index(key: &EntryKey) -> Option<u64> {
    Some(1000 + u64::from(number(&key.matches[0])))
}

fn accepts(_: &Change) -> Option<RefusalKind> {
    None
}

impl Switch {
    fn new() -> Switch {
        let program = hlir::text::parse_program(PROGRAM);
        let program = program.unwrap_or_else(|errors| panic!("{errors:#?}"));
        assert_eq!(hlir::verify::verify(&program), []);
        let (store, joins) = (Store::new(Arc::new(program.without_places())), Joins::new(Arc::new(program.clone())));
        let (routes, placed) = (BTreeMap::new(), BTreeMap::new());
        let program = Arc::new(program);
        let (stale, refuses) = (Vec::new(), accepts as fn(&Change) -> Option<RefusalKind>);
        let mut switch = Switch { program, store, joins, routes, default: 0, placed, stale, graces: 0, refuses };
        let changes = switch.joins.fill(&switch.store, counter_index);
        switch.make(changes);
        switch
    }

    fn id(&self, name: &str) -> TableId {
        self.program.tables.iter().find(|(_, table)| table.name == name).unwrap().0
    }

    fn make(&mut self, changes: Vec<Change>) {
        let mut joins = std::mem::take(&mut self.joins);
        joins.make(changes, |change| match (self.refuses)(change) {
            Some(kind) => Err(Refusal::new(kind, "it is refused")),
            None => {
                self.change(change);
                Ok(())
            }
        });
        self.joins = joins;
    }

    fn change(&mut self, change: &Change) {
        let (routes, placed) = (self.id("routes"), self.id("routes>hops"));
        assert!([routes, placed].contains(&change.table()));
        let argument = |entry: &Entry, at: usize| -> u32 {
            let EntryAction::Call(call) = &entry.action else { panic!("entries have actions") };
            call.arguments.get(at).map_or(MISSED, |argument| argument.try_into().unwrap())
        };
        match change {
            Change::Modify(_, key, call) => {
                let entry = join::entry(&self.program, routes, key, call);
                let place = argument(&entry, usize::from(call.action == SET_HOP));
                let before = self.routes.insert(number(&entry.matches[0]), place);
                assert_eq!(before, Some(0), "a route is written without a place before");
            }
            Change::Default(_, call) => {
                let call = join::call(&self.program, routes, call);
                self.default = call.arguments.last().unwrap().try_into().unwrap();
            }
            Change::Insert(_, key, call) => {
                let entry = join::entry(&self.program, placed, key, call);
                let place = number(&entry.matches[0]);
                assert!(!self.stale.contains(&place), "packets may have place {place}");
                let before = self.placed.insert(place, argument(&entry, 0));
                assert_eq!(before, None, "nothing is at place {place}");
            }
            Change::Delete(_, key) => {
                let key = join::entry_key(&self.program, placed, key);
                assert!(self.placed.remove(&number(&key.matches[0])).is_some(), "a deleted entry is there");
            }
            Change::Clear(_) => self.placed.clear(),
            Change::Show(_) => {}
            Change::Grace(_) => {
                self.stale.clear();
                self.graces += 1;
            }
        }
    }

    fn write(&mut self, update: &Update) {
        self.store.apply(update).unwrap();
        let (write, changes) = self.joins.before(update);
        self.make(changes);
        let routes = self.id("routes");
        let (mut old, mut new) = (None, None);
        if let Update::Insert { table, entry } | Update::Modify { table, entry } = update {
            new = Some(number(&entry.matches[0])).filter(|_| *table == routes);
            old = new;
        } else if let Update::Delete(key) = update {
            old = Some(number(&key.matches[0])).filter(|_| key.table == routes);
        } else if let Update::SetDefault { table, .. } = update {
            let is_first = *table == routes;
            self.stale.extend(is_first.then(|| std::mem::take(&mut self.default)));
        }
        self.stale.extend(old.and_then(|route| self.routes.remove(&route)));
        self.routes.extend(new.map(|route| (route, 0)));
        let changes = self.joins.behind(write, true, counter_index);
        self.make(changes);
    }

    fn entry(key: u32, action: u32, data: &[u32]) -> Entry {
        let arguments = data.iter().map(|value| (*value).into()).collect();
        let action = EntryAction::Call(ActionCall { action, arguments });
        Entry { matches: vec![Match::Exact(key.into())], priority: 0, action, constant: false }
    }

    fn insert(&mut self, table: &str, key: u32, action: u32, data: &[u32]) {
        let (table, entry) = (self.id(table), Switch::entry(key, action, data));
        self.write(&Update::Insert { table, entry });
    }

    fn modify(&mut self, table: &str, key: u32, action: u32, data: &[u32]) {
        let (table, entry) = (self.id(table), Switch::entry(key, action, data));
        self.write(&Update::Modify { table, entry });
    }

    fn delete(&mut self, table: &str, key: u32) {
        let key = EntryKey { table: self.id(table), matches: vec![Match::Exact(key.into())], priority: 0 };
        self.write(&Update::Delete(key));
    }

    /// The port of a route by its place; none where packets look up the next hop.
    fn port(&self, route: u32) -> Option<u32> {
        self.placed.get(&self.routes[&route]).copied()
    }

    fn places(&self) -> usize {
        self.joins.places()[0]
    }
}

#[test]
fn routes_to_one_next_hop_have_its_place() {
    let mut switch = Switch::new();
    switch.insert("routes", 1, SET_HOP, &[10]);
    switch.insert("routes", 2, SET_HOP, &[10]);
    switch.insert("routes", 3, SET_HOP, &[7]);
    switch.insert("routes", 4, FIXED, &[]);
    switch.insert("routes", 5, KEEP, &[]);
    assert_eq!(switch.routes, BTreeMap::from([(1, 1), (2, 1), (3, 2), (4, 2), (5, 0)]));
    assert_eq!(switch.placed, BTreeMap::from([(1, MISSED), (2, MISSED)]), "no next hop is there");
    switch.insert("hops", 10, 0, &[100]);
    switch.insert("hops", 99, 0, &[101]);
    assert_eq!((switch.port(1), switch.port(2), switch.port(3)), (Some(100), Some(100), Some(MISSED)));
    switch.insert("hops", 7, 1, &[]);
    assert_eq!(switch.port(4), Some(1007), "an action without data has the counter_index of its entry alone");
    switch.modify("hops", 10, 0, &[102]);
    assert_eq!((switch.port(1), switch.placed.len()), (Some(102), 2), "one write for both routes");
    switch.delete("hops", 10);
    assert_eq!(switch.port(1), Some(MISSED));
    switch.modify("routes", 2, SET_HOP, &[99]);
    assert_eq!((switch.port(2), switch.places()), (Some(101), 3));
}

#[test]
fn a_place_is_free_when_the_last_entry_that_gives_its_key_goes() {
    let mut switch = Switch::new();
    switch.insert("hops", 10, 0, &[100]);
    switch.insert("routes", 1, SET_HOP, &[10]);
    let table = switch.id("routes");
    let call = ActionCall { action: SET_HOP, arguments: vec![10u32.into()] };
    switch.write(&Update::SetDefault { table, call });
    assert_eq!((switch.default, switch.places()), (1, 1), "the default action gives the same key");
    switch.delete("routes", 1);
    assert_eq!((switch.places(), switch.placed.len()), (1, 1));
    switch.write(&Update::SetDefault { table, call: ActionCall { action: KEEP, arguments: Vec::new() } });
    assert_eq!((switch.places(), switch.placed.len()), (0, 0), "nothing gives it any more");
}

/// Places are used again, each behind a grace period: `Change::Insert` of one that packets may have would fail.
#[test]
fn places_do_not_grow_with_the_writes() {
    let mut switch = Switch::new();
    (0..8).for_each(|hop| switch.insert("hops", hop, 0, &[hop]));
    for cycle in 0..100_000u32 {
        let hop = cycle % 8;
        switch.insert("routes", 1, SET_HOP, &[hop]);
        assert_eq!(switch.port(1), Some(hop), "cycle {cycle}");
        switch.modify("routes", 1, SET_HOP, &[(hop + 1) % 8]);
        assert_eq!(switch.port(1), Some((hop + 1) % 8), "cycle {cycle}");
        switch.delete("routes", 1);
        assert_eq!((switch.places(), switch.placed.len()), (0, 0), "cycle {cycle}");
    }
    assert!(switch.graces > 1000, "{} grace periods", switch.graces);
    assert_eq!(switch.joins.take_notices(), Vec::<String>::new());
}

#[test]
fn an_entry_without_a_place_takes_the_second_lookup() {
    let mut switch = Switch::new();
    (10..16).for_each(|hop| switch.insert("hops", hop, 0, &[hop]));
    (1..=5).for_each(|route| switch.insert("routes", route, SET_HOP, &[9 + route]));
    assert_eq!((switch.port(4), switch.port(5), switch.places()), (Some(13), None, 4));
    let notices = switch.joins.take_notices();
    assert!(notices.len() == 1 && notices[0].contains("has no place left of 4"), "{notices:?}");
    switch.insert("routes", 6, SET_HOP, &[10]);
    assert_eq!(switch.port(6), Some(10), "that key has its place");
    switch.delete("routes", 4);
    switch.modify("routes", 5, SET_HOP, &[14]);
    assert_eq!((switch.port(5), switch.places()), (Some(14), 4), "the next write finds a place that is free again");
    assert_eq!(switch.joins.take_notices(), Vec::<String>::new(), "it is reported once");
}

/// A pipeline that takes the place of another has the records of the one before, until they are written.
#[test]
fn places_are_given_anew_while_the_table_is_empty() {
    let mut switch = Switch::new();
    (10..13).for_each(|hop| switch.insert("hops", hop, 0, &[hop]));
    (1..=3).for_each(|route| switch.insert("routes", route, SET_HOP, &[9 + route]));
    switch.delete("routes", 1);
    let changes = switch.joins.fill(&switch.store, counter_index);
    let first = |is: fn(&Change) -> bool| changes.iter().position(is).unwrap();
    let last = |is: fn(&Change) -> bool| changes.iter().rposition(is).unwrap();
    let cleared = first(|change| matches!(change, Change::Clear(_)));
    let grace = first(|change| matches!(change, Change::Grace(_)));
    let records = last(|change| matches!(change, Change::Modify(..) | Change::Default(..)));
    let entries = first(|change| matches!(change, Change::Insert(..)));
    assert!(cleared == 0 && records < grace && grace < entries, "{changes:?}");
    switch.routes.values_mut().for_each(|place| *place = 0);
    switch.stale.extend(1..=4);
    switch.make(changes);
    assert_eq!((switch.port(2), switch.port(3), switch.places()), (Some(11), Some(12), 2));
}

#[test]
fn an_entry_that_stays_where_none_may_be_ends_the_join() {
    let mut switch = Switch::new();
    switch.insert("hops", 10, 0, &[100]);
    switch.insert("routes", 1, SET_HOP, &[10]);
    // Room for an entry may be missing: packets look it up.
    switch.refuses = |change| matches!(change, Change::Insert(..)).then_some(RefusalKind::Full);
    switch.insert("hops", 11, 0, &[101]);
    switch.insert("routes", 2, SET_HOP, &[11]);
    assert_eq!((switch.port(1), switch.port(2)), (Some(100), None));
    switch.refuses = |change| matches!(change, Change::Delete(..)).then_some(RefusalKind::Missing);
    switch.delete("hops", 11);
    assert_eq!(switch.joins.take_notices(), Vec::<String>::new());
    // An entry that cannot be deleted is stale.
    switch.refuses = |change| matches!(change, Change::Delete(..)).then_some(RefusalKind::Full);
    switch.modify("hops", 10, 0, &[102]);
    let notices = switch.joins.take_notices();
    assert!(notices.len() == 1 && notices[0].contains("value join `routes>hops` is not used"), "{notices:?}");
    switch.refuses = accepts;
    switch.insert("routes", 3, SET_HOP, &[10]);
    assert_eq!((switch.placed.len(), switch.routes[&3]), (0, 0), "all packets take the second lookup");
}

#[test]
fn keys_without_an_entry_have_the_default_action() {
    let mut switch = Switch::new();
    switch.insert("hops", 10, 0, &[100]);
    switch.insert("routes", 1, SET_HOP, &[10]);
    switch.insert("routes", 2, SET_HOP, &[11]);
    let table = switch.id("hops");
    let set = |switch: &mut Switch, action, data: &[u32]| {
        let arguments = data.iter().map(|value| (*value).into()).collect();
        switch.write(&Update::SetDefault { table, call: ActionCall { action, arguments } });
        (switch.port(1), switch.port(2))
    };
    assert_eq!(set(&mut switch, 0, &[77]), (Some(100), Some(77)));
    switch.insert("routes", 3, SET_HOP, &[12]);
    switch.delete("hops", 10);
    assert_eq!([1, 2, 3].map(|route| switch.port(route)), [Some(77); 3]);
    assert_eq!(set(&mut switch, 1, &[]), (Some(MISSED), Some(MISSED)));
    switch.delete("routes", 2);
    assert_eq!((switch.places(), switch.placed.len()), (2, 2), "its key has no place any more");
}
