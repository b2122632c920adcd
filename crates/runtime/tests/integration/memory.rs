//! A pipeline written by hand on the in-memory port: packets, counts, two workers, and another pipeline in its place.

use crate::echo::{SETTINGS, echo, frames, pipeline, port, trace};
use runtime::{Packet, Pipeline, Switch, Trace};

#[test]
fn packets_of_every_length_come_back_and_runts_are_counted() {
    let mut switch = Switch::new(echo(0x11), vec![port()], SETTINGS).unwrap();
    let frames = frames((0..200).chain([1514, 9000, 15000]));
    let own_ports = switch.ports_of(0).unwrap();
    own_ports.keep_sent();
    own_ports.load(trace(&frames), frames.len() as u64, 0);
    switch.run(0);
    let expected: Vec<Packet> = frames
        .iter()
        .filter(|(_, bytes)| bytes.len() >= 14)
        .map(|(port, bytes)| Packet { port: *port, bytes: [&[0x11][..], &bytes[1..]].concat() })
        .collect();
    let own_ports = switch.ports_of(0).unwrap();
    assert_eq!(own_ports.take_sent(), expected);
    assert_eq!(
        (own_ports.counts().received, own_ports.counts().released, own_ports.held()),
        (frames.len() as u64, 14, 0)
    );
    assert_eq!(switch.drops(), [0, 14]);
    let counted = switch.counter(0, 0).unwrap();
    assert_eq!(counted.packets, expected.len() as u64);
    assert_eq!(counted.bytes, expected.iter().map(|packet| packet.bytes.len() as u64).sum::<u64>());
    assert_eq!(switch.counter(0, 4), None);
}

#[test]
fn a_smaller_ring_loses_what_it_has_no_buffers_for_and_grows_again() {
    let mut switch = Switch::new(echo(0x11), vec![port()], SETTINGS).unwrap();
    let frames = frames([60; 32]);
    for (ring, lost) in [(256, 0), (8, 24), (256, 0)] {
        let own_ports = switch.ports_of(0).unwrap();
        let before = own_ports.counts();
        own_ports.ring(ring);
        own_ports.load(trace(&frames), 32, 32);
        switch.run(0);
        let own_ports = switch.ports_of(0).unwrap();
        let (received, starved) =
            (own_ports.counts().received - before.received, own_ports.counts().starved - before.starved);
        assert_eq!((received, starved, own_ports.held()), (32 - lost, lost, 0), "a ring of {ring}");
    }
}

#[test]
fn a_trace_repeats_and_overlays_give_each_packet_bytes_of_its_own() {
    let mut switch = Switch::new(echo(0x11), vec![port()], SETTINGS).unwrap();
    let frame = [0u8; 60];
    let overlays: Vec<u8> = (0..6u8).collect();
    let trace = Trace::new([(3, &frame[..])]).overlay(Vec::new(), 20, 2, &overlays);
    let own_ports = switch.ports_of(0).unwrap();
    own_ports.keep_sent();
    own_ports.load(trace, 7, 2);
    switch.run(0);
    let marks: Vec<u8> = switch.ports_of(0).unwrap().take_sent().iter().map(|packet| packet.bytes[20]).collect();
    assert_eq!(marks, [0, 2, 4, 0, 2, 4, 0]);
}

#[test]
fn two_workers_work_at_once_and_their_counts_add_up() {
    const PACKETS: u64 = 100_000;
    let mut switch = Switch::new(echo(0x11), vec![port(), port()], SETTINGS).unwrap();
    let frames = frames([64, 10, 200]);
    for worker in 0..2 {
        switch.ports_of(worker).unwrap().load(trace(&frames), PACKETS, 0);
    }
    switch.start();
    switch.join();
    let sent: u64 = (0..2).map(|worker| switch.ports_of(worker).unwrap().counts().sent).sum();
    assert_eq!(sent + switch.drops()[1], 2 * PACKETS);
    assert_eq!(switch.counter(0, 0).unwrap().packets, sent);
}

#[test]
fn a_pipeline_is_exchanged_without_losing_packets_entries_or_state() {
    const PACKETS: u64 = 2_000_000;
    let mut switch = Switch::new(echo(0x11), vec![port(), port()], SETTINGS).unwrap();
    let station =
        runtime::tables::Match { value: vec![0xabc], mask: vec![(1 << 48) - 1], high: vec![0xabc], priority: 0 };
    let record = [1, 0, 0, 0, 5, 0, 0, 0];
    switch.tables()[0].insert(&station, &record).unwrap();
    assert!(switch.state.registers[0].write(1, &[99]));
    let frames = frames([64, 10, 200]);
    for worker in 0..2 {
        switch.ports_of(worker).unwrap().load(trace(&frames), PACKETS, 0);
    }
    switch.start();
    for mark in [0x22, 0x11, 0x33] {
        std::thread::sleep(std::time::Duration::from_millis(2));
        switch.exchange(echo(mark), |_, fresh| assert!(fresh.is_empty())).unwrap();
    }
    switch.join();
    let counts = [0, 1].map(|worker| switch.ports_of(worker).unwrap().counts());
    assert_eq!(counts.map(|counts| counts.received), [PACKETS; 2]);
    assert_eq!(counts.map(|counts| counts.sent + counts.released), [PACKETS; 2]);
    assert_eq!([0, 1].map(|worker| switch.ports_of(worker).unwrap().held()), [0; 2]);
    assert_eq!(switch.counter(0, 0).unwrap().packets, counts[0].sent + counts[1].sent);
    assert_eq!(switch.tables()[0].find(&station).unwrap().record, record);
    assert_eq!(switch.state.registers[0].read(1), Some(vec![99]));
    assert_eq!(switch.state.registers[0].read(0), Some(vec![7]));
}

#[test]
fn two_workers_insert_into_one_table_while_it_fills() {
    let mut switch = Switch::new(pipeline("#define ECHO_LEARN\n"), vec![port(), port()], SETTINGS).unwrap();
    let mut frames = Vec::new();
    for station in 0..100u8 {
        frames.push((2, [&[0; 6][..], &[station; 6], &[0; 20]].concat()));
    }
    for worker in 0..2 {
        switch.ports_of(worker).unwrap().load(trace(&frames), 20_000, 0);
    }
    switch.start();
    switch.join();
    // The table has room for 64; each address was inserted once, by whichever worker.
    assert_eq!(switch.tables()[0].len(), 64);
    assert_eq!(switch.counter(0, 1).unwrap().packets, 64);
    assert!(switch.tables()[0].entries().iter().all(|entry| entry.record == [1, 0, 0, 0, 2, 0, 0, 0]));
}

#[test]
fn a_file_that_is_no_pipeline_is_refused_with_a_reason() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing.so");
    std::fs::write(&path, "no object").unwrap();
    let refused = Pipeline::load(&path).err().expect("it is no object").to_string();
    assert!(refused.contains("nothing.so") && refused.contains("file too short"), "{refused}");
}
