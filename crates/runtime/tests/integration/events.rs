//! Events that a pipeline sends to the control plane, and packets that go there and come back.

use crate::echo::{SETTINGS, echo, pipeline, port, trace};
use runtime::{Event, Lost, MemoryPort, Packet, Punted, ResumeError, Switch};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A packet that the program hands to the control plane.
fn punted(port: u16, length: usize) -> (u16, Vec<u8>) {
    (port, [&[0, 0xee][..], &vec![port as u8; length - 2]].concat())
}

fn punts(events: Vec<Event>) -> Vec<Punted> {
    let punt = |event| if let Event::Punt(punted) = event { Some(punted) } else { None };
    events.into_iter().filter_map(punt).collect()
}

fn run(switch: &mut Switch<MemoryPort>, frames: &[(u16, Vec<u8>)], packets: u64) {
    switch.ports_of(0).unwrap().keep_sent();
    switch.ports_of(0).unwrap().load(trace(frames), packets, 0);
    switch.run(0);
}

#[test]
fn each_kind_is_told_in_order() {
    let mut switch = Switch::new(pipeline("#define ECHO_NOTIFY\n"), vec![port()], SETTINGS).unwrap();
    run(&mut switch, &[(1, vec![0; 60]), (1, vec![0; 100])], 2);
    let (events, lost) = switch.take_events(usize::MAX);
    let log = |number, length| Event::Log {
        format: "packet {}: {} bytes".into(),
        values: vec![number, length, 1],
        widths: vec![64, 65],
    };
    let expected = [
        Event::Digest { digest: 3, values: vec![1, 60] },
        Event::Digest { digest: 3, values: vec![2, 100] },
        log(1, 60),
        log(2, 100),
        Event::Fail { text: "a length is odd".into() },
    ];
    assert_eq!((&events[..], lost), (&expected[..], Lost::default()));
    assert_eq!(switch.take_events(usize::MAX), (Vec::new(), Lost::default()));
}

#[test]
fn a_flood_of_one_kind_is_counted_and_costs_no_other() {
    const PACKETS: u64 = 400_000;
    let mut switch = Switch::new(pipeline("#define ECHO_NOTIFY\n"), vec![port()], SETTINGS).unwrap();
    run(&mut switch, &[(1, vec![0; 60])], PACKETS);
    run(&mut switch, &[(1, vec![0; 100])], 1);
    let (events, lost) = switch.take_events(usize::MAX);
    let mut kinds = BTreeMap::<&str, u64>::new();
    for event in &events {
        let kind = match event {
            Event::Digest { .. } => "digest",
            Event::Log { .. } => "log",
            Event::Fail { .. } => "fail",
            Event::Punt(_) => "punt",
        };
        *kinds.entry(kind).or_default() += 1;
    }
    assert!(lost.digests > 0 && lost.logs > lost.digests, "{lost:?}");
    assert_eq!((kinds["digest"] + lost.digests, kinds["log"] + lost.logs), (PACKETS + 1, PACKETS + 1));
    assert_eq!((kinds["fail"], lost.fails, lost.punts), (1, 0, 0));
    assert_eq!(events[0], Event::Digest { digest: 3, values: vec![1, 60] }, "the first ones stay");
    assert_eq!(switch.take_events(usize::MAX).1, Lost::default(), "each is counted once");
}

#[test]
fn a_punted_packet_goes_on_where_it_was_with_what_was_saved() {
    let mut switch = Switch::new(echo(0x11), vec![port()], SETTINGS).unwrap();
    let frames = [punted(2, 60), (1, vec![0; 60]), punted(3, 61)];
    run(&mut switch, &frames, 3);
    assert_eq!(switch.ports_of(0).unwrap().take_sent().len(), 1);
    let punts = punts(switch.take_events(usize::MAX).0);
    assert_eq!(punts.iter().map(|punt| &punt.packet).collect::<Vec<_>>(), [&frames[0].1, &frames[2].1]);
    assert_eq!(
        punts.iter().map(|punt| (punt.node, punt.saved.len(), punt.worker)).collect::<Vec<_>>(),
        [(1, 16, 0); 2]
    );
    // In whatever order the control plane is done with them.
    for punt in punts.iter().rev() {
        switch.resume(punt).unwrap();
    }
    switch.run(0);
    let resumed = |port: u16, number: u8, length: usize| Packet {
        port,
        bytes: [&[number, 1][..], &vec![port as u8; length - 2]].concat(),
    };
    let own_ports = switch.ports_of(0).unwrap();
    assert_eq!(own_ports.take_sent(), [resumed(3, 3, 61), resumed(2, 1, 60)]);
    let counts = own_ports.counts();
    assert_eq!((counts.received, counts.sent + counts.released, own_ports.held()), (5, 5, 0));
}

#[test]
fn punted_packets_of_another_pipeline_are_refused() {
    let mut switch = Switch::new(echo(0x11), vec![port()], SETTINGS).unwrap();
    run(&mut switch, &[punted(2, 60)], 2);
    let punts = punts(switch.take_events(usize::MAX).0);
    // One waits for a worker that does not run while the pipeline is exchanged, the other comes after.
    switch.resume(&punts[0]).unwrap();
    switch.exchange(echo(0x22), |_, _| {}).unwrap();
    assert_eq!(switch.resume(&punts[1]), Err(ResumeError::OtherPipeline));
    switch.run(0);
    assert_eq!((switch.not_taken(), switch.ports_of(0).unwrap().take_sent()), (1, Vec::new()));
}

#[test]
fn packets_are_resumed_while_others_flow_and_pipelines_are_exchanged() {
    const PACKETS: usize = 2000;
    let mut switch = Switch::new(echo(0x11), vec![port(), port()], SETTINGS).unwrap();
    let frames: Vec<(u16, Vec<u8>)> =
        (0..500).map(|at| if at == 0 { punted(2, 60) } else { (1, vec![0; 60]) }).collect();
    for worker in 0..2 {
        switch.ports_of(worker).unwrap().load(trace(&frames), u64::MAX / 2, 0);
    }
    switch.start();
    let (mut resumed, mut refused, mut lost, mut turns) = (0, 0, 0, 0);
    let deadline = Instant::now() + Duration::from_secs(60);
    while resumed < PACKETS && Instant::now() < deadline {
        let (events, more) = switch.take_events(usize::MAX);
        lost += more.punts;
        for punt in punts(events) {
            match switch.resume(&punt) {
                Ok(()) => resumed += 1,
                Err(ResumeError::OtherPipeline) => refused += 1,
                Err(ResumeError::Full) => lost += 1,
            }
        }
        turns += 1;
        if turns % 50 == 0 {
            switch.exchange(echo(0x11), |_, _| {}).unwrap();
        }
    }
    assert!(resumed >= PACKETS, "{resumed} resumed, {refused} refused, {lost} lost");
    switch.exchange(echo(0x22), |_, _| {}).unwrap();
    switch.stop();
    // Every one that was accepted was taken by the pipeline that knows it.
    assert_eq!(switch.not_taken(), 0);
    for worker in 0..2 {
        let own_ports = switch.ports_of(worker).unwrap();
        let counts = own_ports.counts();
        assert_eq!((counts.sent + counts.released, own_ports.held()), (counts.received, 0));
    }
}
