//! Clients that send rubbish, are silent, or come by the hundred.

use crate::rig::Rig;
use crate::{Switch, add_host};
use bm_runtime::Settings;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

fn connect(switch: &Switch) -> TcpStream {
    let stream = TcpStream::connect(switch.server.address()).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket takes a timeout");
    stream
}

/// Whether the server closes the connection.
fn is_closed(mut stream: &TcpStream) -> bool {
    let mut byte = [0];
    match stream.read(&mut byte) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

#[test]
fn rubbish_closes_the_connection() {
    let switch = Switch::begin();
    let huge_list = [
        &[0x80, 1, 0, 1, 0, 0, 0, 24][..],
        b"standard:bm_mt_add_entry",
        &[0, 0, 0, 1, 15, 0, 3, 12, 0x7f, 0xff, 0xff, 0xff],
    ]
    .concat();
    let huge_name = [0x80, 1, 0, 1, 0x7f, 0xff, 0xff, 0xff];
    let negative = [0x80, 1, 0, 1, 0xff, 0xff, 0xff, 0xff];
    let rubbish: [&[u8]; 6] = [b"GET / HTTP/1.1\r\n\r\n", &[0xff; 64], &[0; 64], &huge_list, &huge_name, &negative];
    for bytes in rubbish {
        let mut stream = connect(&switch);
        stream.write_all(bytes).expect("the server takes the first bytes");
        assert!(is_closed(&stream), "{bytes:?}");
    }
    assert_eq!(add_host(&mut switch.connect(), 1, 4), Ok(0), "others are served");
}

#[test]
fn an_unknown_method_is_answered_and_the_connection_goes_on() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    for (service, method) in [("standard", "bm_none"), ("none", "bm_mgmt_get_info")] {
        let answer = connection.call::<(), bm_runtime::Undeclared>(service, method, &|_| Ok(()));
        let sentence = answer.expect_err("there is no such method").to_string();
        assert_eq!(sentence, format!("there is no method `{service}:{method}`"));
    }
    assert_eq!(add_host(&mut connection, 1, 4), Ok(0));
}

#[test]
fn a_call_that_does_not_end_is_given_up() {
    let settings = Settings { call_timeout: Duration::from_millis(200), ..Settings::default() };
    let switch = Switch::with(settings, Rig::new());
    let mut half = connect(&switch);
    half.write_all(&[0x80, 1, 0]).expect("the server takes the first bytes");
    let mut silent = switch.connect();
    assert!(is_closed(&half), "half of a call");
    assert_eq!(add_host(&mut silent, 1, 4), Ok(0), "silence between calls is no fault");
}

#[test]
fn a_call_that_is_too_long_is_given_up() {
    let settings = Settings { largest_call: 1000, ..Settings::default() };
    let switch = Switch::with(settings, Rig::new());
    let mut stream = connect(&switch);
    let name = [&[0x80, 1, 0, 1, 0, 0, 0, 24][..], b"standard:bm_mt_add_entry", &[0, 0, 0, 1]].concat();
    stream.write_all(&name).expect("the server takes the name");
    // Strings of a field that there is not, each short enough.
    let field = [&[11, 0, 99, 0, 0, 1, 0][..], &[7; 256]].concat();
    for _ in 0..8 {
        if stream.write_all(&field).is_err() {
            break;
        }
    }
    assert!(is_closed(&stream));
}

#[test]
fn of_too_many_connections_the_silent_ones_are_closed() {
    let settings = Settings { most_connections: 16, ..Settings::default() };
    let switch = Switch::with(settings, Rig::new());
    let many: Vec<TcpStream> = (0..200).map(|_| connect(&switch)).collect();
    assert_eq!(add_host(&mut switch.connect(), 1, 4), Ok(0), "a new client is served");
    assert!(is_closed(&many[0]), "the first one is closed");
}
