//! Which controller is primary, and what the others get (P4Runtime 1.5, sections 5 and 15.2).

use crate::rig;
use crate::rig::Rig;
use crate::rig::messages::{host, table};
use control::message::runtime::*;
use p4runtime::Settings;
use tonic::Code;

#[test]
fn the_highest_election_id_is_primary_and_all_are_notified() {
    let rig = Rig::new();
    let (mut low, mut high) = (rig.client(), rig.client());
    low.become_primary(5);
    high.bid_with(Some(7));
    assert_eq!(high.arbitration(), (Code::Ok, Some(7)));
    assert_eq!(low.arbitration(), (Code::AlreadyExists, Some(7)));
    assert_eq!(low.write(vec![]).map_err(|status| status.code()), Err(Code::PermissionDenied));
    assert!(high.insert(table(host(1, 1))).is_ok());
}

#[test]
fn a_lower_election_id_is_a_backup_and_alone_is_notified() {
    let rig = Rig::new();
    let (mut high, mut low) = (rig.primary(), rig.client());
    high.become_primary(7);
    low.bid_with(Some(3));
    assert_eq!(low.arbitration(), (Code::AlreadyExists, Some(7)));
    assert!(high.hears_nothing());
}

#[test]
fn nobody_is_promoted_when_the_primary_leaves() {
    let rig = Rig::new();
    let (mut backup, mut primary) = (rig.client(), rig.client());
    primary.become_primary(7);
    backup.bid_with(Some(3));
    assert_eq!(backup.arbitration(), (Code::AlreadyExists, Some(7)));
    primary.leave();
    assert_eq!(backup.arbitration(), (Code::NotFound, Some(7)));
    assert_eq!(backup.write(vec![]).map_err(|status| status.code()), Err(Code::PermissionDenied));
    backup.bid_with(Some(6));
    assert_eq!(backup.arbitration(), (Code::NotFound, Some(7)), "7 was seen");
    backup.become_primary(7);
    assert!(backup.insert(table(host(1, 1))).is_ok());
}

#[test]
fn a_primary_may_step_down() {
    let rig = Rig::new();
    let (mut primary, mut backup) = (rig.client(), rig.client());
    primary.become_primary(7);
    backup.bid_with(None);
    assert_eq!(backup.arbitration(), (Code::AlreadyExists, Some(7)));
    primary.bid_with(Some(2));
    assert_eq!(primary.arbitration(), (Code::NotFound, Some(7)));
    assert_eq!(backup.arbitration(), (Code::NotFound, Some(7)));
}

#[test]
fn a_primary_that_bids_the_same_again_is_told_with_all() {
    let rig = Rig::new();
    let (mut primary, mut backup) = (rig.client(), rig.client());
    primary.become_primary(7);
    backup.bid_with(Some(1));
    assert_eq!(backup.arbitration(), (Code::AlreadyExists, Some(7)));
    primary.become_primary(7);
    assert_eq!(backup.arbitration(), (Code::AlreadyExists, Some(7)));
}

#[test]
fn without_an_election_id_a_controller_is_a_backup() {
    let rig = Rig::new();
    let mut client = rig.client();
    client.bid_with(None);
    assert_eq!(client.arbitration(), (Code::NotFound, None));
    assert_eq!(client.write(vec![]).map_err(|status| status.code()), Err(Code::PermissionDenied));
    // Zero is a number like any other.
    client.become_primary(0);
    assert!(client.insert(table(host(1, 1))).is_ok());
}

#[test]
fn an_election_id_in_use_ends_the_stream() {
    let rig = Rig::new();
    let (mut first, mut second) = (rig.primary(), rig.client());
    second.bid_with(Some(1));
    let status = second.receive().expect_err("the id is in use");
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().starts_with("election id already exists"), "{}", status.message());
    assert!(first.insert(table(host(1, 1))).is_ok());
}

#[test]
fn an_unknown_device_ends_the_stream() {
    let rig = Rig::with(Settings { device_id: 0, ..Settings::default() }, Some(rig::EVERYTHING));
    let mut client = rig.client();
    client.bid(MasterArbitrationUpdate { device_id: 1, ..Default::default() });
    assert_eq!(client.receive().expect_err("there is no device 1").code(), Code::NotFound);
    let mut client = rig.client();
    client.bid(MasterArbitrationUpdate { device_id: 0, ..Default::default() });
    assert_eq!(client.arbitration(), (Code::NotFound, None));
}

#[test]
fn device_and_role_of_a_stream_stay() {
    let rig = Rig::new();
    let role = |name: &str| Some(Role { name: name.to_string(), ..Default::default() });
    for other in [
        MasterArbitrationUpdate { device_id: 2, ..Default::default() },
        MasterArbitrationUpdate { device_id: 1, role: role("other"), ..Default::default() },
    ] {
        let mut client = rig.client();
        client.bid_with(None);
        client.arbitration();
        client.bid(other);
        assert_eq!(client.receive().expect_err("it changes").code(), Code::FailedPrecondition);
    }
}

#[test]
fn each_role_has_a_primary_of_its_own() {
    let rig = Rig::new();
    let (mut default, mut routing) = (rig.primary(), rig.client());
    routing.role = "routing".to_string();
    assert_eq!(
        routing.write(vec![]).map_err(|status| status.code()),
        Err(Code::NotFound),
        "no controller has the role"
    );
    routing.become_primary(1);
    assert!(routing.insert(table(host(1, 1))).is_ok());
    assert!(default.insert(table(host(2, 1))).is_ok());
    routing.leave();
    assert!(default.hears_nothing());
}

#[test]
fn configurations_of_roles_are_refused() {
    let rig = Rig::new();
    let mut client = rig.client();
    let role = Some(Role { config: Some(Default::default()), ..Default::default() });
    client.bid(MasterArbitrationUpdate { device_id: 1, role, ..Default::default() });
    assert_eq!(client.receive().expect_err("no scheme is known").code(), Code::InvalidArgument);
}

#[test]
fn a_half_closed_stream_has_left() {
    let rig = Rig::new();
    let (mut primary, mut backup) = (rig.client(), rig.client());
    primary.become_primary(7);
    backup.bid_with(None);
    assert_eq!(backup.arbitration(), (Code::AlreadyExists, Some(7)));
    primary.half_close();
    assert_eq!(primary.receive().expect("the server closes it as well"), None);
    assert_eq!(backup.arbitration(), (Code::NotFound, Some(7)));
}

#[test]
fn streams_are_limited() {
    let rig = Rig::with(Settings { most_streams: 2, ..Settings::default() }, Some(rig::EVERYTHING));
    let mut clients: Vec<_> = (0..3).map(|_| rig.client()).collect();
    clients[0].open().expect("there is room");
    clients[1].open().expect("there is room");
    assert_eq!(clients[2].open().map_err(|status| status.code()), Err(Code::ResourceExhausted));
    clients[0].leave();
    clients[2].open().expect("there is room again");
}
