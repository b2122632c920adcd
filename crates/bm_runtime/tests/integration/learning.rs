//! Digests that controllers of BMv2 learn of: the socket of nanomsg, lists, and their acknowledgements over Thrift.

use crate::rig::{PROGRAM, Rig};
use crate::{Switch, text};
use bm_runtime::standard::StandardClient;
use bm_runtime::{Learning, Settings};
use control::plane::DigestRecord;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What a subscriber of nanomsg sends first, and what a publisher does.
const SUBSCRIBER: &[u8; 8] = b"\0SP\0\0\x21\0\0";
const PUBLISHER: &[u8; 8] = b"\0SP\0\0\x20\0\0";
const TIMEOUT: Duration = Duration::from_secs(30);

/// A socket whose name no other test has.
fn address(name: &str) -> String {
    format!("ipc://{}/bacus-{}-{name}.ipc", std::env::temp_dir().display(), std::process::id())
}

fn subscribe(address: &str) -> UnixStream {
    let mut stream = UnixStream::connect(address.trim_start_matches("ipc://")).expect("the switch listens");
    stream.set_read_timeout(Some(TIMEOUT)).expect("it is a socket");
    stream.write_all(SUBSCRIBER).expect("the switch is there");
    let mut greeting = [0; 8];
    stream.read_exact(&mut greeting).expect("the switch greets");
    assert_eq!(&greeting, PUBLISHER);
    stream
}

/// A switch that publishes there.
fn switch(address: &str) -> Switch {
    Switch::with(Settings { notifications: Some(address.to_string()), device_id: 7, ..Settings::default() }, Rig::new())
}

fn records(addresses: &[u64]) -> Vec<DigestRecord> {
    let digest = PROGRAM.digests.iter().next().expect("the program has a digest").0;
    let record = |address: &u64| DigestRecord { digest, values: vec![(*address).into(), 5u32.into()] };
    addresses.iter().map(record).collect()
}

/// The next message, without what nanomsg puts in front of it. Meanwhile the switch's thread for events looks what is due.
fn next(learning: &Learning, stream: &mut UnixStream) -> Vec<u8> {
    let start = Instant::now();
    stream.set_nonblocking(true).expect("it is a socket");
    let mut head = [0; 9];
    while stream.read_exact(&mut head).is_err() {
        assert!(start.elapsed() < TIMEOUT, "no message comes");
        learning.take(&PROGRAM, Vec::new());
        std::thread::sleep(Duration::from_millis(5));
    }
    stream.set_nonblocking(false).expect("it is a socket");
    assert_eq!(head[0], 1);
    let mut message = vec![0; u64::from_be_bytes(head[1..].try_into().expect("there are eight")) as usize];
    stream.read_exact(&mut message).expect("it is whole");
    message
}

/// `LEA|`, the device, the context, the list, the buffer, how many records; then the records, each field in whole bytes.
fn list(buffer: u64, addresses: &[u64]) -> Vec<u8> {
    let mut expected = b"LEA|".to_vec();
    expected.extend(7u64.to_le_bytes());
    expected.extend(0u32.to_le_bytes());
    expected.extend(1u32.to_le_bytes());
    expected.extend(buffer.to_le_bytes());
    expected.extend((addresses.len() as u32).to_le_bytes());
    for address in addresses {
        expected.extend(&address.to_be_bytes()[2..]);
        expected.extend(5u16.to_be_bytes());
    }
    expected
}

#[test]
fn lists_are_published_until_they_are_acknowledged() {
    let address = address("lists");
    let switch = switch(&address);
    let learning = switch.server.learning().expect("it publishes");
    assert!(!learning.is_wanted());
    let mut subscriber = subscribe(&address);
    let start = Instant::now();
    while !learning.is_wanted() {
        assert!(start.elapsed() < TIMEOUT, "it does not see its subscriber");
    }
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let info = text(client.bm_mgmt_get_info()).expect("the switch answers");
    assert_eq!(info.notifications_socket.as_deref(), Some(address.as_str()));

    // Sixteen records are a list. What was sent is not sent again before it is acknowledged.
    let sixteen: Vec<u64> = (1..=16).collect();
    learning.take(&PROGRAM, records(&sixteen));
    assert_eq!(next(&learning, &mut subscriber), list(1, &sixteen));
    learning.take(&PROGRAM, records(&[3, 20]));
    // Fewer wait for a second.
    assert_eq!(next(&learning, &mut subscriber), list(2, &[20]));
    assert_eq!(text(client.bm_learning_ack(0, 1, 1, vec![2])), Ok(()));
    learning.take(&PROGRAM, records(&[3, 4]));
    assert_eq!(next(&learning, &mut subscriber), list(3, &[3]));
    assert_eq!(text(client.bm_learning_ack_buffer(0, 1, 1)), Ok(()));
    assert_eq!(text(client.bm_learning_set_buffer_size(0, 1, 2)), Ok(()));
    assert_eq!(text(client.bm_learning_set_timeout(0, 1, 0)), Ok(()));
    learning.take(&PROGRAM, records(&[5, 6, 7]));
    assert_eq!(next(&learning, &mut subscriber), list(4, &[5, 6]));
    assert_eq!(text(client.bm_learning_ack_buffer(0, 9, 1)), Err("InvalidId".to_string()));
    assert_eq!(text(client.bm_reset_state()), Ok(()));
    learning.take(&PROGRAM, records(&[20, 5]));
    assert_eq!(next(&learning, &mut subscriber), list(5, &[20, 5]));
}

#[test]
fn subscribers_that_go_or_send_rubbish_harm_none() {
    let address = address("rubbish");
    // A switch that was killed has left its socket.
    drop(std::os::unix::net::UnixListener::bind(address.trim_start_matches("ipc://")).expect("a socket can be made"));
    let switch = switch(&address);
    let learning = switch.server.learning().expect("it publishes");
    let mut many: Vec<UnixStream> = (0..200)
        .map(|_| UnixStream::connect(address.trim_start_matches("ipc://")).expect("the switch listens"))
        .collect();
    many.iter_mut().for_each(|stream| drop(stream.write_all(b"GET / HTTP/1.0\r\n\r\n")));
    drop(many);
    let mut subscriber = subscribe(&address);
    let start = Instant::now();
    while !learning.is_wanted() {
        assert!(start.elapsed() < TIMEOUT, "it does not see its subscriber");
    }
    learning.take(&PROGRAM, records(&[1]));
    assert_eq!(next(&learning, &mut subscriber), list(1, &[1]));
    drop(learning);
    drop(switch);
    assert!(!std::path::Path::new(address.trim_start_matches("ipc://")).exists(), "the socket is removed");
}

#[test]
fn addresses_that_cannot_be_published_at_are_reported_and_the_switch_serves() {
    for address in ["udp://x", "ipc:///none/there/n.ipc"] {
        let switch = switch(address);
        assert!(switch.server.learning().is_none());
        let mut connection = switch.connect();
        let mut client = StandardClient(&mut connection);
        assert_eq!(text(client.bm_mgmt_get_info()).map(|info| info.notifications_socket), Ok(None));
        assert_eq!(text(client.bm_learning_ack_buffer(0, 1, 1)), Err("InvalidId".to_string()));
    }
}

#[test]
fn an_address_that_another_switch_has_is_named_with_the_way_out() {
    static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let address = address("taken");
    let first = switch(&address);
    let log = |line: &str| LOG.lock().unwrap().push(line.to_string());
    let settings = Settings { notifications: Some(address.clone()), log, ..Settings::default() };
    let second = Switch::with(settings, Rig::new());
    assert!(first.server.learning().is_some() && second.server.learning().is_none());
    let expected = format!(
        "digests are not published to Thrift clients: another switch publishes at {address}; \
         give this one another --device-id or --notifications-addr"
    );
    assert_eq!(*LOG.lock().unwrap(), [expected]);
}
