//! Multicast groups and clone sessions, with backups.

use super::{apply, program, refused, set_port, store};
use control::plane::{BackedReplica, Multicast, Replica, Session, SessionTarget};
use control::store::Derived;
use control::{RefusalKind, Store, Update};

fn replica(port: u32, instance: u16) -> Replica {
    Replica { port, instance }
}

/// A replica for port 4, whose backups are ports 5 and 6, and one for port 7 alone.
fn backed() -> Vec<BackedReplica> {
    vec![BackedReplica { primary: replica(4, 1), backups: vec![replica(5, 2), replica(6, 1)] }, replica(7, 1).into()]
}

fn group(group: u32, replicas: Vec<BackedReplica>) -> Update {
    Update::SetMulticast { group, value: Some(Multicast { replicas, note: b"note".to_vec() }) }
}

fn session(session: u32, target: SessionTarget) -> Update {
    Update::SetSession { session, value: Some(Session { target, truncation_bytes: 64, note: b"class".to_vec() }) }
}

fn ports(store: &Store, group: u32) -> Vec<u32> {
    store.replicas(group).iter().map(|replica| replica.port).collect()
}

fn session_ports(store: &Store, session: u32) -> Vec<u32> {
    let (members, bytes) = store.session_members(session).expect("there is such a session");
    assert_eq!(bytes, 64);
    members.iter().map(|replica| replica.port).collect()
}

#[test]
fn groups_and_sessions_are_kept_as_written() {
    let mut store = store();
    for update in [group(1, backed()), session(2, SessionTarget::Members(backed()))] {
        apply(&mut store, &update);
    }
    set_port(&mut store, 4, false);
    let written = store.multicast(1).unwrap();
    assert_eq!((&written.replicas, written.note.as_slice()), (&backed(), &b"note"[..]));
    let written = store.session(2).unwrap();
    assert_eq!((&written.target, written.note.as_slice()), (&SessionTarget::Members(backed()), &b"class"[..]));
    assert_eq!(store.multicast_groups().map(|(number, _)| number).collect::<Vec<_>>(), [1]);
    assert_eq!(store.sessions().map(|(number, _)| number).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_group_without_replicas_exists() {
    let mut store = store();
    apply(&mut store, &group(1, Vec::new()));
    assert!(store.multicast(1).is_some() && store.replicas(1).is_empty());
    apply(&mut store, &Update::SetMulticast { group: 1, value: None });
    assert!(store.multicast(1).is_none());
}

#[test]
fn the_first_live_candidate_gets_the_copies() {
    let mut store = store();
    apply(&mut store, &group(1, backed()));
    apply(&mut store, &session(2, SessionTarget::Group(1)));
    apply(&mut store, &session(3, SessionTarget::Members(backed())));
    // Port 7 has no backup: the port layer drops what no link takes.
    for (port, up, expected) in [
        (4, false, vec![5, 7]),
        (5, false, vec![6, 7]),
        (7, false, vec![6, 7]),
        (6, false, vec![7]),
        (5, true, vec![5, 7]),
        (4, true, vec![4, 7]),
    ] {
        let derived = set_port(&mut store, port, up);
        assert_eq!(ports(&store, 1), expected, "port {port} is up: {up}");
        assert_eq!((session_ports(&store, 2), session_ports(&store, 3)), (expected.clone(), expected));
        let all = [Derived::Multicast(1), Derived::Session(2), Derived::Session(3)];
        assert_eq!(derived, if port == 7 { &[][..] } else { &all[..] }, "port {port}");
    }
    assert_eq!(store.replicas(1), [replica(4, 1), replica(7, 1)]);
}

#[test]
fn an_update_of_a_group_changes_the_sessions_that_send_to_it() {
    let mut store = store();
    apply(&mut store, &session(2, SessionTarget::Group(1)));
    assert!(session_ports(&store, 2).is_empty());
    let update = group(1, backed());
    apply(&mut store, &update);
    assert_eq!(store.derived(&update), [Derived::Multicast(1), Derived::Session(2)]);
    assert_eq!(session_ports(&store, 2), [4, 7]);
}

#[test]
fn a_port_that_nothing_depends_on_changes_nothing() {
    let mut store = store();
    apply(&mut store, &group(1, backed()));
    assert_eq!(set_port(&mut store, 99, false), []);
    assert!(store.is_down(99) && !store.is_down(4), "a port has a link by default");
    assert_eq!(ports(&store, 1), [4, 7]);
}

#[test]
fn a_group_written_while_a_port_is_down_is_derived_without_it() {
    let mut store = store();
    set_port(&mut store, 4, false);
    apply(&mut store, &group(1, backed()));
    assert_eq!(ports(&store, 1), [5, 7]);
}

#[test]
fn each_update_is_taken_back_by_its_inverse() {
    let mut store = store();
    let changed = Update::SetMulticast { group: 1, value: Some(vec![replica(9, 9)].into()) };
    let gone = Update::SetSession { session: 2, value: None };
    for (first, second) in [(group(1, backed()), changed), (session(2, SessionTarget::Members(backed())), gone)] {
        let to_nothing = apply(&mut store, &first);
        let to_first = apply(&mut store, &second);
        assert_eq!(to_first, first.into());
        store.restore(&to_first);
        store.restore(&to_nothing);
        assert!(store.multicast(1).is_none() && store.session(2).is_none());
    }
    let down = Update::SetPort { port: 4, up: false };
    let up = Update::SetPort { port: 4, up: true };
    let to_up = apply(&mut store, &down);
    assert_eq!(to_up, up.into());
    assert_eq!(apply(&mut store, &down), down.into(), "it was down before");
    store.restore(&to_up);
    assert!(!store.is_down(4));
}

#[test]
fn replicas_that_do_not_suit_are_refused() {
    let mut store = store();
    let backup_of = |port, instance, backup| BackedReplica { primary: replica(port, instance), backups: vec![backup] };
    for (what, update, sentence) in [
        ("group 0", group(0, Vec::new()), "multicast group 0 means no group"),
        (
            "its own backup",
            group(1, vec![backup_of(4, 1, replica(4, 2))]),
            "port 4 is that of a replica and of its backup",
        ),
    ] {
        assert_eq!(refused(&mut store, &update), (RefusalKind::Wrong, sentence.to_string()), "{what}");
    }
    assert_eq!((store.multicast_groups().count(), store.sessions().count()), (0, 0));
    apply(&mut store, &group(1, vec![replica(4, 1).into(), replica(4, 2).into(), replica(4, 2).into()]));
    assert_eq!(ports(&store, 1), [4, 4, 4], "as in BMv2");
}

#[test]
fn another_program_has_the_groups_and_the_links() {
    let mut store = store();
    apply(&mut store, &group(1, backed()));
    apply(&mut store, &session(2, SessionTarget::Members(backed())));
    set_port(&mut store, 4, false);
    let carried = store.carried_to(program()).unwrap();
    assert_eq!((carried.multicast(1), carried.session(2)), (store.multicast(1), store.session(2)));
    assert_eq!(ports(&carried, 1), [5, 7]);
    store.reset();
    assert!(store.multicast(1).is_none() && store.is_down(4), "a link stays as it is");
    let emptied = carried.emptied_for(program());
    assert!(emptied.multicast(1).is_none() && emptied.is_down(4));
}
