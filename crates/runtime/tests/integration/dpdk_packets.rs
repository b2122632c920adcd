//! Packets of the control plane, in mbufs: on the in-memory port and on a device.

use crate::echo::{SETTINGS, pipeline_for_mbufs};
use runtime::{Cache, Compiler, DpdkMemoryPort, Event, Packet, PortLayer, PortSettings, Switch, Trace, WorkerPorts};
use std::time::{Duration, Instant};

const CPU: u32 = 5;

fn marked(bytes: &[u8]) -> Vec<u8> {
    [&[0x11][..], &bytes[1..]].concat()
}

/// The second takes more than one mbuf.
fn packets() -> [Vec<u8>; 2] {
    [vec![7; 60], (0..9000u32).map(|byte| byte as u8).collect()]
}

fn goes_around<L: WorkerPorts>(switch: &mut Switch<L>, mut work: impl FnMut(&mut Switch<L>)) {
    switch.set_cpu_port(Some(CPU));
    for bytes in packets() {
        switch.inject(CPU, &bytes).unwrap();
    }
    let (mut taken, deadline) = (Vec::new(), Instant::now() + Duration::from_secs(60));
    while taken.len() < 2 && Instant::now() < deadline {
        work(switch);
        taken.extend(switch.take_cpu_packets(usize::MAX).0);
    }
    assert_eq!(taken, packets().map(|bytes| marked(&bytes)));
}

/// A punted packet of several mbufs is whole in the control plane, and when it is back.
fn comes_back(switch: &mut Switch<DpdkMemoryPort>) {
    let long: Vec<u8> = (0..9000u32).map(|byte| if byte == 1 { 0xee } else { byte as u8 }).collect();
    let frames = [(2, long.as_slice())];
    let own_ports = switch.ports_of(0).unwrap();
    own_ports.keep_sent();
    own_ports.load(Trace::new(frames), 1, 0);
    switch.run(0);
    let (events, _) = switch.take_events(usize::MAX);
    let [Event::Punt(punted)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(punted.packet, long);
    switch.resume(punted).unwrap();
    switch.run(0);
    let sent = switch.ports_of(0).unwrap().take_sent();
    assert_eq!((sent.len(), sent[0].port, &sent[0].bytes[1..]), (1, 2, &[&[1][..], &long[2..]].concat()[..]));
}

#[test]
fn mbufs_go_to_the_control_plane_and_come_from_it() {
    let Some(pipeline) = pipeline_for_mbufs() else {
        return eprintln!("skipped: DPDK's development files are not installed (make setup)");
    };
    let cache = Cache::at(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let layer = Compiler::find(None).unwrap().dpdk_layer(&cache).unwrap();
    let dpdk = PortLayer::start(&layer, &PortSettings::of_machine(8192, 2048)).unwrap();
    let mut switch = Switch::new(pipeline.clone(), vec![DpdkMemoryPort::new(&dpdk)], SETTINGS).unwrap();
    goes_around(&mut switch, |switch| switch.run(0));
    for bytes in packets() {
        switch.inject(3, &bytes).unwrap();
    }
    switch.ports_of(0).unwrap().keep_sent();
    switch.run(0);
    let sent = switch.ports_of(0).unwrap().take_sent();
    assert_eq!(sent, packets().map(|bytes| Packet { port: 3, bytes: marked(&bytes) }));
    comes_back(&mut switch);
    drop(switch);
    assert_eq!(dpdk.held(), 0);

    dpdk.open(5, "net_ring0", None).unwrap();
    let mut switch = Switch::new(pipeline.clone(), dpdk.begin(1).unwrap(), SETTINGS).unwrap();
    switch.start();
    goes_around(&mut switch, |_| std::thread::sleep(Duration::from_millis(1)));
    // The device has seen nothing: its other end is its own receive queue.
    switch.exchange(pipeline, |_, fresh| assert!(fresh.is_empty())).unwrap();
    assert!(switch.is_running());
    switch.stop();
    let totals = dpdk.totals(0);
    assert_eq!((totals.received, totals.handed, totals.to_cpu), (2, 2, 2));
    assert_eq!(switch.not_taken(), 0);
}
