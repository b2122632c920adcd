//! Packets, digests and errors on the stream (P4Runtime 1.5, sections 9.9 and 15).

use crate::rig;
use crate::rig::messages::*;
use crate::rig::{Client, Rig};
use control::DataPlane as _;
use control::message::runtime::{entity::Entity, *};
use p4runtime::Settings;
use std::time::{Duration, Instant};
use stream_message_request::Update as Request;
use stream_message_response::Update as Response;
use tonic::Code;

fn metadata(metadata_id: u32, value: u64) -> PacketMetadata {
    PacketMetadata { metadata_id, value: bytes(value) }
}

fn packet_out(port: u64, payload: Vec<u8>) -> PacketOut {
    PacketOut { payload, metadata: vec![metadata(1, port), metadata(2, 0)] }
}

fn error(client: &mut Client) -> (Code, stream_error::Details) {
    match client.receive().expect("the stream stays open") {
        Some(Response::Error(error)) => (Code::from(error.canonical_code), error.details.expect("it names its object")),
        other => panic!("an error was to come, not {other:?}"),
    }
}

/// Packets without an entry go to the controller.
fn punting(rig: &Rig) -> Client {
    let mut client = rig.primary();
    let default = TableEntry { is_default_action: true, ..entry("hosts", vec![], action("punt", &[])) };
    client.modify(table(default)).expect("it suits");
    client
}

#[test]
fn packets_go_out_by_the_port_of_their_metadata() {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.send(Request::Packet(packet_out(300, frame(1, 2, 3))));
    // Padding may be left out.
    client.send(Request::Packet(PacketOut { payload: frame(4, 5, 6), metadata: vec![metadata(1, 4)] }));
    let began = Instant::now();
    while rig.behind().sent.len() < 2 && began.elapsed() < Duration::from_secs(10) {
        client.hears_nothing();
    }
    assert_eq!(rig.behind().sent, [(300, frame(1, 2, 3)), (4, frame(4, 5, 6))]);
}

#[test]
fn malformed_packets_out_are_reported() {
    let rig = Rig::new();
    let mut client = rig.primary();
    for (metadata, code) in [
        (vec![], Code::InvalidArgument),
        (vec![metadata(2, 0)], Code::InvalidArgument),
        (vec![metadata(1, 1), metadata(1, 1)], Code::InvalidArgument),
        (vec![metadata(1, 1), metadata(7, 1)], Code::InvalidArgument),
        (vec![metadata(1, 512)], Code::OutOfRange),
        (vec![PacketMetadata { metadata_id: 1, value: vec![] }], Code::OutOfRange),
    ] {
        client.send(Request::Packet(PacketOut { payload: vec![1], metadata: metadata.clone() }));
        let (found, details) = error(&mut client);
        assert_eq!(found, code, "{metadata:?}");
        let stream_error::Details::PacketOut(PacketOutError { packet_out: Some(packet) }) = details else {
            panic!("{details:?}")
        };
        assert_eq!(packet.metadata, metadata);
    }
    assert!(rig.behind().sent.is_empty());
}

#[test]
fn packets_come_in_to_the_primary_alone() {
    let rig = Rig::new();
    let (mut primary, mut backup) = (punting(&rig), rig.client());
    backup.bid_with(None);
    backup.arbitration();
    rig.behind().receive(300, frame(1, 2, 3));
    let expected = PacketIn { payload: frame(1, 2, 3), metadata: vec![metadata(1, 300), metadata(2, 0)] };
    assert_eq!(primary.receive().expect("the stream is open"), Some(Response::Packet(expected)));
    assert!(backup.hears_nothing());
}

#[test]
fn only_the_primary_sends() {
    let rig = Rig::new();
    let mut client = rig.client();
    client.send(Request::Packet(packet_out(1, vec![])));
    assert_eq!(error(&mut client).0, Code::PermissionDenied, "it has made no bid");
    client.bid_with(None);
    client.arbitration();
    client.send(Request::Packet(packet_out(1, vec![])));
    assert_eq!(error(&mut client).0, Code::PermissionDenied, "it is a backup");
    client.send(Request::DigestAck(DigestListAck { digest_id: id_of("learned_t"), list_id: 1 }));
    assert_eq!(error(&mut client).0, Code::PermissionDenied);
}

#[test]
fn other_messages_are_reported() {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.send(Request::Other(Default::default()));
    assert_eq!(
        error(&mut client),
        (Code::Unimplemented, stream_error::Details::Other(StreamOtherError { other: Some(Default::default()) }))
    );
    client.send(Request::DigestAck(DigestListAck { digest_id: 5, list_id: 1 }));
    let (code, details) = error(&mut client);
    assert_eq!(code, Code::InvalidArgument);
    assert!(matches!(details, stream_error::Details::DigestListAck(_)));
    let rig = Rig::empty();
    let mut client = rig.primary();
    client.send(Request::Packet(packet_out(1, vec![])));
    assert_eq!(error(&mut client).0, Code::FailedPrecondition);
}

fn digest_config(max_timeout_ns: i64, max_list_size: i32, ack_timeout_ns: i64) -> Entity {
    let config = Some(digest_entry::Config { max_timeout_ns, max_list_size, ack_timeout_ns });
    Entity::DigestEntry(DigestEntry { digest_id: id_of("learned_t"), config })
}

/// A switch that learns each source, and a controller that wants to know it.
fn learning(config: Entity) -> (Rig, Client) {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.insert(table(entry("hosts", vec![exact(1, [1])], action("learn", &[])))).expect("it suits");
    client.insert(config).expect("it suits");
    (rig, client)
}

fn list(client: &mut Client) -> DigestList {
    match client.receive().expect("the stream is open") {
        Some(Response::Digest(list)) => list,
        other => panic!("a list was to come, not {other:?}"),
    }
}

fn record(address: u64, port: u64) -> P4Data {
    let bits = |value| P4Data { data: Some(p4_data::Data::Bitstring(bytes(value))) };
    P4Data { data: Some(p4_data::Data::Struct(P4StructLike { members: vec![bits(address), bits(port)] })) }
}

#[test]
fn digests_are_sent_once_until_they_are_acknowledged() {
    let (rig, mut client) = learning(digest_config(0, 1, 60_000_000_000));
    rig.behind().receive(3, frame(1, 0x77, 0));
    let first = list(&mut client);
    assert_eq!((first.digest_id, &first.data[..]), (id_of("learned_t"), &[record(0x77, 3)][..]));
    assert!(first.timestamp > 0);
    rig.behind().receive(3, frame(1, 0x77, 0));
    assert!(client.hears_nothing(), "it was sent already");
    rig.behind().receive(4, frame(1, 0x77, 0));
    let second = list(&mut client);
    assert_eq!(second.data, [record(0x77, 4)]);
    assert_ne!(first.list_id, second.list_id);
    client.send(Request::DigestAck(DigestListAck { digest_id: first.digest_id, list_id: first.list_id }));
    client.hears_nothing();
    rig.behind().receive(3, frame(1, 0x77, 0));
    assert_eq!(list(&mut client).data, [record(0x77, 3)]);
}

#[test]
fn digests_are_gathered() {
    let (rig, mut client) = learning(digest_config(60_000_000_000, 3, 0));
    for address in [1, 2, 2, 3] {
        rig.behind().receive(3, frame(1, address, 0));
    }
    assert_eq!(list(&mut client).data, [record(1, 3), record(2, 3), record(3, 3)]);
    client.modify(digest_config(50_000_000, 100, 0)).expect("it is there");
    rig.behind().receive(3, frame(1, 9, 0));
    assert_eq!(list(&mut client).data, [record(9, 3)], "its time has come");
}

#[test]
fn digests_are_configured() {
    let (rig, mut client) = learning(digest_config(1, 2, 3));
    assert_eq!(client.insert(digest_config(1, 2, 3)), Err(Code::AlreadyExists));
    assert_eq!(client.read(Entity::DigestEntry(Default::default())), [digest_config(1, 2, 3)]);
    assert_eq!(client.modify(digest_config(-1, 2, 3)), Err(Code::InvalidArgument));
    assert_eq!(client.modify(digest_config(1, -1, 3)), Err(Code::InvalidArgument));
    assert_eq!(client.delete(digest_config(0, 0, 0)), Ok(()));
    assert_eq!(client.modify(digest_config(1, 2, 3)), Err(Code::NotFound));
    assert_eq!(client.delete(digest_config(0, 0, 0)), Err(Code::NotFound));
    assert_eq!(rig.behind().plane.store().digests().next(), None, "the store follows");
    rig.behind().receive(3, frame(1, 2, 0));
    assert!(client.hears_nothing());
}

#[test]
fn a_controller_that_never_reads_hinders_nobody() {
    let rig = Rig::with(Settings { queue: 8, ..Settings::default() }, Some(rig::EVERYTHING));
    let mut client = punting(&rig);
    let payload = [frame(1, 2, 3), vec![0; 60_000]].concat();
    let began = Instant::now();
    // More than all windows of the connection hold.
    for _ in 0..400 {
        rig.behind().receive(3, payload.clone());
    }
    while rig.server.lost().packets_in == 0 && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(rig.server.lost().packets_in > 0);
    assert_eq!(rig.client().read(table(entry("fixed", vec![], None))).len(), 2);
    assert_eq!(client.insert(table(host(1, 1))), Ok(()));
}
