//! Peers that connect and send nothing, or stop within a handshake or a request: they are closed, and keep no controller out.

use crate::rig;
use crate::rig::Rig;
use crate::rig::messages::*;
use control::message::runtime::CapabilitiesRequest;
use p4runtime::{Settings, Timeouts, Tls};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const NO_SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

const SHORT: Duration = Duration::from_millis(50);

fn rig_with(timeouts: Timeouts, tls: Option<Tls>) -> Rig {
    Rig::with(Settings { timeouts, tls, most_silent: 16, ..Settings::default() }, Some(rig::EVERYTHING))
}

/// A connection on which this has been sent.
fn peer(rig: &Rig, sent: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(rig.server.addresses()[0]).expect("the server listens");
    stream.write_all(sent).expect("the connection is open");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("there may be a timeout");
    stream
}

/// Waits until the server has closed the connection.
fn is_closed(stream: &mut TcpStream) -> bool {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn a_peer_that_does_not_greet_is_closed() {
    let rig = rig_with(Timeouts { greeting: SHORT, ..Timeouts::default() }, None);
    let half_settings = [PREFACE, &[0, 0, 6, 4, 0, 0, 0, 0, 0, 0]].concat();
    for sent in [b"", &PREFACE[..10], PREFACE, &half_settings, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"] {
        assert!(is_closed(&mut peer(&rig, sent)), "{sent:?}");
    }
    assert_eq!(rig.primary().insert(table(host(1, 1))), Ok(()));
}

#[test]
fn half_a_tls_handshake_is_closed() {
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".to_string()]).expect("keys can be made");
    let tls = Tls {
        certificate: signed.cert.pem().into_bytes(),
        key: signed.signing_key.serialize_pem().into_bytes(),
        controllers: None,
    };
    let rig = rig_with(Timeouts { greeting: SHORT, ..Timeouts::default() }, Some(tls));
    // The header of a record with a greeting, of which nothing follows.
    for sent in [&b""[..], &[22, 3, 1, 1, 0]] {
        assert!(is_closed(&mut peer(&rig, sent)), "{sent:?}");
    }
}

#[test]
fn a_peer_that_gives_no_sign_of_life_is_closed() {
    let rig = rig_with(Timeouts { quiet: SHORT, answer: SHORT, ..Timeouts::default() }, None);
    let greeting = [PREFACE, NO_SETTINGS].concat();
    // The header of a HEADERS frame of 100 bytes, and one of them.
    let half_a_request = [&greeting[..], &[0, 0, 100, 1, 4, 0, 0, 0, 1, 0x83]].concat();
    for sent in [greeting, half_a_request] {
        assert!(is_closed(&mut peer(&rig, &sent)), "{sent:?}");
    }
}

/// A request of which the client keeps back the message, though it answers all signs of life.
#[test]
fn a_request_without_an_end_is_answered_in_time() {
    let rig = rig_with(Timeouts { request: SHORT, ..Timeouts::default() }, None);
    let client = rig.client();
    let status = client.runtime.block_on(async {
        let channel = tonic::transport::Endpoint::from_shared(rig.address()).expect("it is an address");
        let mut grpc = tonic::client::Grpc::new(channel.connect_lazy());
        grpc.ready().await.expect("the server listens");
        let path = tonic::codegen::http::uri::PathAndQuery::from_static("/p4.v1.P4Runtime/Capabilities");
        let codec = tonic_prost::ProstCodec::<CapabilitiesRequest, CapabilitiesRequest>::default();
        let never = tonic::Request::new(tokio_stream::pending::<CapabilitiesRequest>());
        grpc.client_streaming(never, path, codec).await.map(drop)
    });
    let code = status.map_err(|status| status.code());
    assert!(matches!(code, Err(tonic::Code::DeadlineExceeded | tonic::Code::Cancelled)), "{code:?}");
}

#[test]
fn silent_peers_keep_no_controller_out() {
    let rig = rig_with(Timeouts::default(), None);
    let mut first = rig.primary();
    let mut silent: Vec<TcpStream> = (0..200).map(|_| peer(&rig, b"")).collect();
    assert!(is_closed(&mut silent[0]), "the oldest goes when others come");
    let mut late = rig.client();
    late.bid_with(Some(2));
    assert_eq!(late.arbitration(), (tonic::Code::Ok, Some(2)));
    assert_eq!(first.read(table(entry("fixed", vec![], None))).len(), 2);
    // As many as there is room for wait on.
    assert!(rig.server.lost().connections >= 150, "{:?}", rig.server.lost());
}

#[test]
fn connections_are_limited() {
    let rig = Rig::with(Settings { most_connections: 3, ..Settings::default() }, Some(rig::EVERYTHING));
    let mut clients = [rig.client(), rig.client(), rig.client()];
    for client in &mut clients {
        client.bid_with(None);
    }
    let mut fourth = rig.client();
    let refused = fourth.runtime.block_on(fourth.rpc.capabilities(CapabilitiesRequest::default()));
    assert!(refused.is_err());
    assert!(rig.server.lost().connections >= 1);
}
