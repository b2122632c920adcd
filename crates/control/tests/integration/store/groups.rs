//! Groups of a selector, with weights and watched ports.

use super::{apply, program, refused, set_port, store};
use control::plane::{Group, GroupMember};
use control::store::Derived;
use control::{Record, RefusalKind, Store, Update};
use hlir::{ActionCall, ProfileId};

pub fn profile(store: &Store) -> ProfileId {
    store.program().profiles.iter().next().unwrap().0
}

pub fn to(port: u32) -> ActionCall {
    ActionCall { action: 0, arguments: vec![port.into()] }
}

fn member(store: &Store, member: u32, port: u32) -> Update {
    Update::SetMember { profile: profile(store), member, call: to(port) }
}

fn of(member: u32, weight: u32, watch: Option<u32>) -> GroupMember {
    GroupMember { member, weight, watch }
}

fn group(store: &Store, group: u32, members: &[GroupMember]) -> Update {
    let value = Group { members: members.to_vec(), max_size: 4, note: b"note".to_vec() };
    Update::SetGroup { profile: profile(store), group, value }
}

/// A store with members 1 and 2, which send to ports 10 and 20.
fn with_members() -> Store {
    let mut store = store();
    for (number, port) in [(1, 10), (2, 20)] {
        let update = member(&store, number, port);
        apply(&mut store, &update);
    }
    store
}

#[test]
fn the_member_that_is_a_default_action_is_saved_carried_and_taken_back() {
    let mut store = with_members();
    let table = store.program().tables.iter().find(|(_, table)| table.profile.is_some()).unwrap().0;
    apply(&mut store, &Update::SetDefault { table, call: to(10) });
    let link = Update::Record(Record::DefaultMember { table, member: Some(1) });
    let inverse = apply(&mut store, &link);
    assert_eq!(store.default_member(table), Some(1));
    let rows: Vec<_> = store.rows().collect();
    let rows = rows.iter().map(|(key, value)| (key.as_slice(), value.as_slice()));
    let (again, refused_rows) = Store::of_rows(store.program().clone(), rows);
    assert_eq!((again.default_member(table), refused_rows.as_slice()), (Some(1), &[][..]));
    let carried = store.carried_to(program()).expect("it is the same program");
    assert_eq!(carried.default_member(table), Some(1));
    let deleted = Update::DeleteMember { profile: profile(&store), member: 1 };
    assert_eq!(refused(&mut store, &deleted).0, RefusalKind::InUse);
    let unknown = Update::Record(Record::DefaultMember { table, member: Some(3) });
    assert_eq!(refused(&mut store, &unknown).0, RefusalKind::Missing);
    store.restore(&inverse);
    assert_eq!(store.default_member(table), None);
    apply(&mut store, &deleted);
}

/// Also if it has the member's action and parameters: it is one of its own.
#[test]
fn a_default_action_that_is_set_follows_no_member() {
    let mut store = with_members();
    let table = store.program().tables.iter().find(|(_, table)| table.profile.is_some()).unwrap().0;
    apply(&mut store, &Update::SetDefault { table, call: to(10) });
    apply(&mut store, &Update::Record(Record::DefaultMember { table, member: Some(1) }));
    let inverse = apply(&mut store, &Update::SetDefault { table, call: to(10) });
    assert_eq!(store.default_member(table), None);
    let deleted = Update::DeleteMember { profile: profile(&store), member: 1 };
    let of_deleted = apply(&mut store, &deleted);
    store.restore(&of_deleted);
    store.restore(&inverse);
    assert_eq!((store.default_member(table), store.default_action(table)), (Some(1), &to(10)));
}

/// The ports of a group's choices with their weights.
fn choices(store: &Store, group: u32) -> Vec<(u32, u32)> {
    let choices = store.choices(profile(store), group).expect("there is such a group");
    choices.iter().map(|(call, weight)| (call.arguments[0].to_u32_digits()[0], *weight)).collect()
}

#[test]
fn groups_are_kept_as_written() {
    let mut store = with_members();
    let members = [of(1, 1, Some(10)), of(2, 3, None)];
    let update = group(&store, 7, &members);
    apply(&mut store, &update);
    set_port(&mut store, 10, false);
    let written = store.group(profile(&store), 7).unwrap();
    assert_eq!((&written.members[..], written.max_size, &written.note[..]), (&members[..], 4, &b"note"[..]));
    assert_eq!(store.groups(profile(&store)).count(), 1);
}

#[test]
fn members_that_watch_a_port_without_a_link_are_left_out() {
    let mut store = with_members();
    let update = group(&store, 7, &[of(1, 1, Some(10)), of(2, 3, Some(20))]);
    apply(&mut store, &update);
    let group = Derived::Group(profile(&store), 7);
    for (port, up, expected) in
        [(10, false, vec![(20, 3)]), (20, false, vec![]), (10, true, vec![(10, 1)]), (20, true, vec![(10, 1), (20, 3)])]
    {
        assert_eq!(set_port(&mut store, port, up), [group], "port {port} is up: {up}");
        assert_eq!(choices(&store, 7), expected);
    }
    assert_eq!(set_port(&mut store, 99, false), [], "nothing watches it");
    assert_eq!(store.choices(profile(&store), 8), None);
}

#[test]
fn a_group_follows_its_members() {
    let mut store = with_members();
    let update = group(&store, 7, &[of(1, 2, None)]);
    apply(&mut store, &update);
    let changed = member(&store, 1, 11);
    apply(&mut store, &changed);
    assert_eq!(store.derived(&changed), [Derived::Group(profile(&store), 7)]);
    assert_eq!(choices(&store, 7), [(11, 2)]);
    let other = member(&store, 2, 22);
    apply(&mut store, &other);
    assert_eq!(store.derived(&other), []);
    let (kind, _) = refused(&mut store, &Update::DeleteMember { profile: profile(&with_members()), member: 1 });
    assert_eq!(kind, RefusalKind::InUse);
}

#[test]
fn each_update_is_taken_back_by_its_inverse() {
    let mut store = with_members();
    let first = group(&store, 7, &[of(1, 1, Some(10)), of(2, 3, None)]);
    let to_nothing = apply(&mut store, &first);
    let second = group(&store, 7, &[of(2, 1, None)]);
    let to_first = apply(&mut store, &second);
    assert_eq!(to_first, first.into());
    store.restore(&to_first);
    assert_eq!(choices(&store, 7), [(10, 1), (20, 3)]);
    let gone = Update::DeleteGroup { profile: profile(&store), group: 7 };
    assert_eq!(apply(&mut store, &gone), to_first);
    store.restore(&to_first);
    store.restore(&to_nothing);
    assert!(store.group(profile(&store), 7).is_none());
}

#[test]
fn groups_that_do_not_suit_are_refused() {
    let mut store = with_members();
    let first = group(&store, 1, &[of(1, 4, None)]);
    apply(&mut store, &first);
    let sized = |max_size| {
        let value = Group { members: vec![of(1, 1, None)], max_size, note: Vec::new() };
        Update::SetGroup { profile: profile(&with_members()), group: 1, value }
    };
    for (update, kind, sentence) in [
        (group(&store, 2, &[of(1, 0, None)]), RefusalKind::Wrong, "the weight of member 1 is not above 0"),
        (
            group(&store, 2, &[of(1, 1, None), of(1, 1, Some(3))]),
            RefusalKind::Wrong,
            "member 1 is listed twice: give it a larger weight",
        ),
        (group(&store, 2, &[of(9, 1, None)]), RefusalKind::Missing, "profile `paths` has no member 9"),
        (group(&store, 2, &[of(1, 5, None)]), RefusalKind::Full, "group 2 has room for 4, not 5"),
        (sized(5), RefusalKind::Wrong, "the largest size of group 1 is 4 for good"),
    ] {
        assert_eq!(refused(&mut store, &update), (kind, sentence.to_string()));
    }
    let second = group(&store, 2, &[of(1, 3, None)]);
    apply(&mut store, &second);
    let (kind, sentence) = refused(&mut store, &group(&with_members(), 3, &[of(1, 2, None)]));
    assert_eq!((kind, sentence.as_str()), (RefusalKind::Full, "the groups of `paths` have room for 8 in all"));
    let large = Group { members: Vec::new(), max_size: 5, note: Vec::new() };
    let large = Update::SetGroup { profile: profile(&store), group: 3, value: large };
    let (kind, sentence) = refused(&mut store, &large);
    assert_eq!((kind, sentence.as_str()), (RefusalKind::Wrong, "the largest size of a group is from 1 to 4, not 5"));
    assert_eq!(store.groups(profile(&store)).count(), 2);
}

#[test]
fn a_member_that_is_listed_several_times_has_that_weight() {
    let group = Group::from(&[2, 1, 2][..]);
    assert_eq!(group.members, [of(2, 2, None), of(1, 1, None)]);
}

#[test]
fn another_program_has_the_groups_and_the_links() {
    let mut store = with_members();
    let update = group(&store, 7, &[of(1, 1, Some(10)), of(2, 3, None)]);
    apply(&mut store, &update);
    set_port(&mut store, 10, false);
    let carried = store.carried_to(program()).unwrap();
    assert_eq!(carried.group(profile(&carried), 7), store.group(profile(&store), 7));
    assert_eq!(choices(&carried, 7), [(20, 3)]);
}
