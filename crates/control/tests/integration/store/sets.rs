//! Action sets of entries.

use super::groups::to;
use super::{apply, program, refused, set_port, store};
use control::plane::EntryKey;
use control::store::{Derived, FIRST_SET};
use control::{RefusalKind, Store, Update};
use hlir::entry::EntryAction;
use hlir::interface::SizeSemantics;
use hlir::{ActionCall, ActionSet, Entry, Match, TableId, WeightedCall};

fn table(store: &Store, name: &str) -> TableId {
    store.program().tables.iter().find(|(_, table)| table.name == name).unwrap().0
}

fn entry(key: u32, action: EntryAction) -> Entry {
    Entry { matches: vec![Match::Exact(key.into())], priority: 0, action, constant: false }
}

/// Ports with weights and watched ports.
fn set(actions: &[(u32, u32, Option<u32>)]) -> ActionSet {
    let actions =
        actions.iter().map(|(port, weight, watch)| WeightedCall { call: to(*port), weight: *weight, watch: *watch });
    ActionSet { actions: actions.collect(), semantics: None, note: b"note".to_vec() }
}

fn insert(store: &Store, key: u32, set: ActionSet) -> Update {
    Update::Insert { table: table(store, "routes"), entry: entry(key, EntryAction::Set(set)) }
}

fn modify(store: &Store, key: u32, action: EntryAction) -> Update {
    Update::Modify { table: table(store, "routes"), entry: entry(key, action) }
}

fn key(store: &Store, key: u32) -> EntryKey {
    EntryKey { table: table(store, "routes"), matches: vec![Match::Exact(key.into())], priority: 0 }
}

fn action(store: &Store, number: u32) -> Option<EntryAction> {
    store.find(&key(store, number)).map(|stored| stored.entry.action)
}

/// The number of the set of an entry.
fn number(store: &Store, of: u32) -> Option<u32> {
    store.set_number(table(store, "routes"), &store.find(&key(store, of))?.entry)
}

fn choices(store: &Store, number: u32) -> Option<Vec<(u32, u32)>> {
    let choices = store.set_choices(table(store, "routes"), number)?;
    Some(choices.iter().map(|(call, weight)| (call.arguments[0].to_u32_digits()[0], *weight)).collect())
}

#[test]
fn sets_are_kept_as_written() {
    let mut store = store();
    let written = set(&[(10, 1, Some(10)), (20, 2, None)]);
    let update = insert(&store, 5, written.clone());
    apply(&mut store, &update);
    set_port(&mut store, 10, false);
    assert_eq!(action(&store, 5), Some(EntryAction::Set(written)));
    let profile = super::groups::profile(&store);
    assert_eq!((store.members(profile).count(), store.groups(profile).count()), (0, 0), "they are the entry's own");
}

#[test]
fn actions_that_watch_a_port_without_a_link_are_left_out() {
    let mut store = store();
    let update = insert(&store, 5, set(&[(10, 1, Some(10)), (20, 2, Some(20))]));
    apply(&mut store, &update);
    let number = number(&store, 5).unwrap();
    let derived = Derived::Set(table(&store, "routes"), number);
    assert_eq!(store.derived(&update), [derived]);
    for (port, up, expected) in
        [(10, false, vec![(20, 2)]), (20, false, vec![]), (10, true, vec![(10, 1)]), (20, true, vec![(10, 1), (20, 2)])]
    {
        assert_eq!(set_port(&mut store, port, up), [derived], "port {port} is up: {up}");
        assert_eq!(choices(&store, number), Some(expected));
    }
    assert_eq!(set_port(&mut store, 99, false), [], "nothing watches it");
}

#[test]
fn an_entry_keeps_the_number_of_its_set() {
    let mut store = store();
    let routes = table(&store, "routes");
    let first = insert(&store, 5, set(&[(10, 1, None)]));
    apply(&mut store, &first);
    let second = insert(&store, 6, set(&[(10, 1, None)]));
    apply(&mut store, &second);
    let (of_first, of_second) = (number(&store, 5).unwrap(), number(&store, 6).unwrap());
    assert!(of_first != of_second && of_first >= FIRST_SET && of_second >= FIRST_SET);
    let changed = modify(&store, 5, EntryAction::Set(set(&[(30, 4, None)])));
    apply(&mut store, &changed);
    assert_eq!(store.derived(&changed), [Derived::Set(routes, of_first)]);
    assert_eq!((number(&store, 5), choices(&store, of_first)), (Some(of_first), Some(vec![(30, 4)])));
    let gone = Update::Delete(key(&store, 5));
    apply(&mut store, &gone);
    assert_eq!(store.derived(&gone), [Derived::Set(routes, of_first)]);
    assert_eq!(choices(&store, of_first), None, "the data plane may forget it");
    assert_eq!(store.sets(routes).collect::<Vec<_>>(), [of_second]);
}

#[test]
fn each_update_is_taken_back_by_its_inverse() {
    let mut store = store();
    let (written, routes) = (set(&[(10, 1, Some(10)), (20, 2, None)]), table(&store, "routes"));
    let first = insert(&store, 5, written.clone());
    let to_nothing = apply(&mut store, &first);
    let second = modify(&store, 5, EntryAction::Set(set(&[(30, 1, None)])));
    let to_first = apply(&mut store, &second);
    assert_eq!(to_first, modify(&store, 5, EntryAction::Set(written.clone())).into());
    assert_eq!(store.derived(&second).len(), 1, "the number is for another set");
    store.restore(&to_first);
    assert_eq!(action(&store, 5), Some(EntryAction::Set(written.clone())));
    let gone = Update::Delete(key(&store, 5));
    let back = apply(&mut store, &gone);
    assert_eq!(store.sets(routes).count(), 0);
    store.restore(&back);
    assert_eq!(action(&store, 5), Some(EntryAction::Set(written)));
    let again = number(&store, 5).unwrap();
    assert_eq!(store.derived(&back.update), [Derived::Set(routes, again)]);
    store.restore(&to_nothing);
    assert_eq!((action(&store, 5), store.sets(routes).count()), (None, 0));
}

#[test]
fn sets_that_do_not_suit_are_refused() {
    let mut store = store();
    let weightless = insert(&store, 5, set(&[(10, 1, None), (20, 0, None)]));
    let heavy = insert(&store, 5, set(&[(10, 4, None), (20, 1, None)]));
    let wide =
        WeightedCall { call: ActionCall { action: 0, arguments: vec![(1u64 << 32).into()] }, weight: 1, watch: None };
    let wide = insert(&store, 5, ActionSet { actions: vec![wide], ..ActionSet::default() });
    let unknown = WeightedCall { call: ActionCall { action: 7, arguments: vec![] }, weight: 1, watch: None };
    let unknown = insert(&store, 5, ActionSet { actions: vec![unknown], ..ActionSet::default() });
    let elsewhere = entry(5, EntryAction::Set(set(&[(10, 1, None)])));
    let elsewhere = Update::Insert { table: table(&store, "plain"), entry: elsewhere };
    for (update, kind, sentence) in [
        (weightless, RefusalKind::Wrong, "the weight of an action is not above 0"),
        (heavy, RefusalKind::Wrong, "a set has room for 4, not 5"),
        (wide, RefusalKind::TooWide, "0x100000000 does not fit parameter `port`, which is 32 bits wide"),
        (unknown, RefusalKind::Wrong, "table `routes` has no action number 7"),
        (elsewhere, RefusalKind::Wrong, "table `plain` has no action profile that an entry could refer to"),
    ] {
        assert_eq!(refused(&mut store, &update), (kind, sentence.to_string()));
    }
    assert_eq!((action(&store, 5), store.sets(table(&store, "routes")).count()), (None, 0), "nothing is left");
    let counted =
        ActionSet { semantics: Some(SizeSemantics::SumOfMembers(None)), ..set(&[(10, 4, None), (20, 1, None)]) };
    let counted = insert(&store, 5, counted);
    apply(&mut store, &counted);
    let twice = insert(&store, 5, set(&[(10, 1, None)]));
    assert_eq!(refused(&mut store, &twice).0, RefusalKind::Exists);
    assert_eq!(store.sets(table(&store, "routes")).count(), 1, "the refused set is not kept");
}

#[test]
fn sets_and_groups_exclude_each_other() {
    let mut store = store();
    let profile = super::groups::profile(&store);
    let group = Update::SetGroup { profile, group: FIRST_SET, value: Default::default() };
    let member = Update::SetMember { profile, member: u32::MAX, call: to(1) };
    let first = insert(&store, 5, set(&[(10, 1, None)]));
    let to_nothing = apply(&mut store, &first);
    let of_set = number(&store, 5).unwrap();
    let borrowed = modify(&store, 5, EntryAction::Group(of_set));
    assert_eq!(refused(&mut store, &borrowed).0, RefusalKind::Missing);
    let sentence = "the tables of a selector have either one-shot sets, or members and groups: those of `paths` have the \
                    other already";
    for update in [&group, &member] {
        assert_eq!(refused(&mut store, update), (RefusalKind::Wrong, sentence.to_string()));
    }
    store.restore(&to_nothing);
    for update in [&group, &member] {
        let gone = apply(&mut store, update);
        assert_eq!(refused(&mut store, &first), (RefusalKind::Wrong, sentence.to_string()));
        store.restore(&gone);
    }
    apply(&mut store, &first);
}

#[test]
fn another_program_has_the_sets_under_their_numbers() {
    let mut store = store();
    for of in 1..5 {
        let update = insert(&store, of, set(&[(10 * of, 1, Some(of)), (1, 1, None)]));
        apply(&mut store, &update);
    }
    let gone = Update::Delete(key(&store, 2));
    apply(&mut store, &gone);
    set_port(&mut store, 3, false);
    let mut carried = store.carried_to(program()).unwrap();
    for of in [1, 3, 4] {
        assert_eq!(
            (action(&carried, of), number(&carried, of)),
            (action(&store, of), number(&store, of)),
            "entry {of}"
        );
    }
    assert_eq!(choices(&carried, number(&carried, 3).unwrap()), Some(vec![(1, 1)]));
    let fresh = insert(&carried, 9, set(&[(1, 1, None)]));
    apply(&mut carried, &fresh);
    let used = [1, 3, 4].map(|of| number(&carried, of));
    assert!(!used.contains(&number(&carried, 9)), "a number that is free");
}
