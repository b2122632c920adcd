//! Packets that the control plane hands to a worker, and packets that the program sends to the control plane's port.

use crate::echo::{SETTINGS, echo, frames, port, trace};
use runtime::{InjectError, Packet, Switch};
use std::time::{Duration, Instant};

/// The echo program sends what comes in here back to the same port.
const CPU: u32 = 5;

/// A packet with a number in it.
fn numbered(number: u32) -> Vec<u8> {
    [&[0; 10][..], &number.to_be_bytes(), &[9; 40]].concat()
}

#[test]
fn an_injected_packet_is_processed_as_if_it_were_received() {
    let mut switch = Switch::new(echo(0x11), vec![port()], SETTINGS).unwrap();
    for number in 0..100 {
        switch.inject(3, &numbered(number)).unwrap();
    }
    switch.ports_of(0).unwrap().keep_sent();
    switch.run(0);
    let own_ports = switch.ports_of(0).unwrap();
    let expected = (0..100).map(|number| Packet { port: 3, bytes: [&[0x11][..], &numbered(number)[1..]].concat() });
    assert_eq!(own_ports.take_sent(), expected.collect::<Vec<Packet>>());
    assert_eq!((own_ports.counts().received, own_ports.held()), (100, 0));
}

#[test]
fn packets_go_to_the_control_plane_and_back_while_others_flow() {
    const PACKETS: u32 = 5000;
    let mut switch = Switch::new(echo(0x11), vec![port(), port()], SETTINGS).unwrap();
    switch.set_cpu_port(Some(CPU));
    for worker in 0..2 {
        switch.ports_of(worker).unwrap().load(trace(&frames([64, 10, 200])), u64::MAX / 2, 0);
    }
    switch.start();
    let (mut next, mut taken) = (0, Vec::new());
    let deadline = Instant::now() + Duration::from_secs(60);
    while taken.len() < PACKETS as usize {
        assert!(Instant::now() < deadline, "{} packets came back", taken.len());
        while next < PACKETS && switch.inject(CPU, &numbered(next)).is_ok() {
            next += 1;
        }
        let (packets, lost) = switch.take_cpu_packets(usize::MAX);
        assert_eq!(lost, 0);
        taken.extend(packets);
    }
    switch.stop();
    let expected = (0..PACKETS).map(|number| [&[0x11][..], &numbered(number)[1..]].concat());
    assert_eq!(taken, expected.collect::<Vec<_>>(), "in order");
    for worker in 0..2 {
        let own_ports = switch.ports_of(worker).unwrap();
        let counts = own_ports.counts();
        assert_eq!((counts.sent + counts.released, counts.starved, own_ports.held()), (counts.received, 0, 0));
    }
}

#[test]
fn both_ways_are_bounded_and_what_finds_no_room_is_counted() {
    let mut switch = Switch::new(echo(0x11), vec![port()], SETTINGS).unwrap();
    switch.set_cpu_port(Some(CPU));
    let frame = vec![1; 9000];
    let mut injected = 0;
    let refused = loop {
        match switch.inject(CPU, &frame) {
            Ok(()) => injected += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(refused, InjectError::Full);
    assert!(injected > 400, "{injected}");
    switch.run(0);
    // As many once more: the control plane has not taken the first.
    (0..10).for_each(|_| switch.inject(CPU, &frame).unwrap());
    switch.run(0);
    let (packets, lost) = switch.take_cpu_packets(usize::MAX);
    assert_eq!((packets.len() as u64 + lost, packets.len() as u64), (injected + 10, injected));
    assert_eq!(switch.take_cpu_packets(usize::MAX), (Vec::new(), 0));
    assert_eq!(switch.ports_of(0).unwrap().held(), 0);
}

#[test]
fn packets_that_no_port_could_have_received_are_refused() {
    let mut switch = Switch::new(echo(0x11), vec![port()], SETTINGS).unwrap();
    assert_eq!(switch.inject(8, &[0; 60]), Err(InjectError::NoPort { ports: 8 }));
    let longest = switch.ports_of(0).unwrap().room();
    assert_eq!(switch.inject(0, &vec![0; longest as usize + 1]), Err(InjectError::TooLong { longest }));
    assert_eq!(switch.inject(0, &vec![0; longest as usize]), Ok(()));
    assert_eq!(InjectError::NoPort { ports: 8 }.to_string(), "there is no such port: ports are 0 to 7");
}
