//! State is kept by several workers as by one, packet by packet of each flow, where packets are spread by the compiler's choice.

use control::DataPlane as _;
use control::Rate;
use control::plane::{Element, MeterRates};
use driver::entries::{self, Origin, USUAL_PORTS};
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::plan::Descriptor;
use native::NativeEngine;
use opt::analyze::sharing::{self, Sharing, Workers};
use runtime::{Buffers, MemoryPort, Packet, Settings, Trace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const WORKERS: usize = 3;
const FLOWS: u16 = 200;
const ROUNDS: u64 = 40;

pub fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// A program on workers, with entries of a file.
fn engine(file: &str, entries: Option<&str>, workers: usize) -> NativeEngine<'static, MemoryPort> {
    let load = || frontend::load(&Source::plain(&path(file))).expect("the example is a program");
    let (pipeline, compiled) = compile::pipeline(load(), &Passes::default(), &Native::default(), |plan| {
        (plan.descriptor, plan.burst) = (Descriptor::Own, 32);
    })
    .unwrap_or_else(|failure| panic!("{file} compiles: {failure:?}"));
    let worker_ports = move || (0..workers).map(|_| MemoryPort::new(Buffers::default())).collect();
    let settings = Settings { ports: 8, seed: 0 };
    let mut engine =
        NativeEngine::new((&load().program, &compiled), pipeline, settings, worker_ports).expect("it attaches");
    if let Some(entries) = entries {
        let origin = Origin::File(path(entries));
        entries::load(&mut engine, &[origin], USUAL_PORTS).unwrap_or_else(|failure| panic!("{entries}: {failure:?}"));
    }
    engine
}

fn verdict(file: &str) -> (Vec<sharing::Shared>, Workers) {
    let program = frontend::load(&Source::plain(&path(file))).expect("a program").program;
    let objects = sharing::objects(&program);
    let workers = sharing::workers(&objects);
    (objects, workers)
}

/// What comes out, by the packet's number, which its last eight bytes have; and those numbers, as they left the workers.
fn sent(
    engine: &mut NativeEngine<'static, MemoryPort>,
    workers: usize,
    packets: &[Packet],
    worker_of: impl Fn(&[u8]) -> usize,
) -> (BTreeMap<u64, Packet>, Vec<u64>) {
    let switch = engine.switch();
    for worker in 0..workers {
        let own = packets.iter().filter(|packet| worker_of(&packet.bytes) % workers == worker);
        let trace = Trace::new(own.map(|packet| (packet.port, packet.bytes.as_slice())));
        assert!(!trace.is_empty(), "each worker has packets");
        let (own_ports, count) = (switch.ports_of(worker).expect("it does not run"), trace.len());
        own_ports.keep_sent();
        own_ports.load(trace, count, 0);
    }
    switch.start();
    switch.join();
    let (mut by_number, mut order) = (BTreeMap::new(), Vec::new());
    for worker in 0..workers {
        for packet in switch.ports_of(worker).expect("it has ended").take_sent() {
            let (_, number) = packet.bytes.split_last_chunk::<8>().expect("a number");
            let number = u64::from_be_bytes(*number);
            order.push(number);
            assert!(by_number.insert(number, packet).is_none(), "packet {number} left twice");
        }
    }
    (by_number, order)
}

/// Several workers send what one sends: each packet the same, and those of a flow in the same order.
fn agree(
    (file, entries): (&str, Option<&str>),
    packets: &[Packet],
    worker_of: impl Fn(&[u8]) -> usize + Copy,
    prepare: impl Fn(&mut NativeEngine<'static, MemoryPort>),
) -> BTreeMap<u64, Packet> {
    let [(one, _), (several, order)] = [1, WORKERS].map(|workers| {
        let mut engine = engine(file, entries, workers);
        prepare(&mut engine);
        sent(&mut engine, workers, packets, worker_of)
    });
    assert!(!one.is_empty(), "{file}: nothing was sent");
    for (number, packet) in &one {
        assert_eq!(several.get(number), Some(packet), "{file}: packet {number}");
    }
    assert_eq!(one.len(), several.len(), "{file}");
    let mut last: BTreeMap<usize, u64> = BTreeMap::new();
    for number in order {
        let flow = worker_of(&packets[number as usize].bytes);
        assert!(last.insert(flow, number).is_none_or(|before| before < number), "{file}: packet {number} overtook");
    }
    several
}

/// Packets of all flows in turns, each with its number at its end.
fn packets(frame: impl Fn(u16) -> Vec<u8>) -> Vec<Packet> {
    let flows = (0..ROUNDS * u64::from(FLOWS)).map(|number| (number, (number % u64::from(FLOWS)) as u16));
    flows
        .map(|(number, flow)| Packet { port: 0, bytes: [frame(flow), number.to_be_bytes().to_vec()].concat() })
        .collect()
}

#[test]
fn registers_and_meters_are_right_where_packets_are_spread_by_their_index() {
    let file = "tests/integration/workers.p4";
    let (objects, workers) = verdict(file);
    let Workers::SpreadBy(origin) = workers else { panic!("spread by the flow: {objects:?}") };
    assert!(origin.text.ends_with("flow.flow"), "{origin:?}");
    assert!(objects.iter().any(|shared| shared.sharing == Sharing::Locked), "{objects:?}");
    let frames = packets(|flow| [&flow.to_be_bytes()[..], &[0; 54]].concat());
    let flow_of = |bytes: &[u8]| usize::from(u16::from_be_bytes([bytes[0], bytes[1]]));
    let out = agree((file, None), &frames, flow_of, |engine| {
        let program = engine.program();
        let (meter, _) = program.meters.iter().next().expect("the example has a meter");
        let one = Rate::of_units(1);
        let rates = MeterRates { committed_rate: one, committed_burst: 10, peak_rate: one, peak_burst: 20 };
        for flow in 0..FLOWS {
            engine.set_meter(meter, &Element::Index(u64::from(flow)), Some(rates)).expect("it is there");
        }
    });
    // The specification's own numbers: each flow is counted, and its first ten packets are green, ten are yellow, the rest red.
    for (number, packet) in out {
        let round = number / u64::from(FLOWS);
        assert_eq!(packet.bytes[2..6], (round as u32 + 1).to_be_bytes(), "packet {number}");
        assert_eq!(u64::from(packet.bytes[6]), (round / 10).min(2), "packet {number}");
    }
}

/// Each text is the body of a control, on a header `h.flow` that is valid or not, and a register `r`.
fn of_body(body: &str) -> Workers {
    let text = std::fs::read_to_string(path("tests/integration/workers.p4")).expect("the example is there");
    let (before, rest) = text.split_once("        // Without this").expect("the body begins so");
    let (_, behind) = rest.split_once("        }\n").expect("it ends so");
    sharing::workers(&sharing::objects(&program_of(&format!("{before}{body}\n{behind}"))))
}

pub fn program_of(text: &str) -> hlir::Program {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("bacus-workers-{}-{number}.p4", std::process::id()));
    std::fs::write(&file, text).expect("it can be written");
    let program = frontend::load(&Source::plain(&file)).expect("a program").program;
    std::fs::remove_file(file).expect("it is there");
    program
}

#[test]
fn only_what_is_proved_of_the_packet_as_received_spreads_packets() {
    let count = "seen.read(count, i); seen.write(i, count + 1);";
    let with = |index: &str| of_body(&format!("if (h.flow.isValid()) {{ bit<32> i = {index}; {count} }}"));
    let spread = |workers: Workers| if let Workers::SpreadBy(origin) = workers { Some(origin.text) } else { None };
    assert_eq!(spread(with("16w3 ++ h.flow.flow")).as_deref(), Some("h.flow.flow"));
    assert_eq!(spread(with("(bit<32>)h.flow.flow + 7")).as_deref(), Some("h.flow.flow"));
    // An index that many flows may have in common is spread by itself.
    assert!(spread(with("(bit<32>)h.flow.flow & 255")).is_some_and(|text| text.contains("& ")));
    // All flows have this element in common.
    assert!(spread(with("5")).is_none());
    // A frame that is too short has no such header; and a field that was written is another.
    let unguarded = format!("bit<32> i = (bit<32>)h.flow.flow; {count}");
    assert!(spread(of_body(&unguarded)).is_none());
    let written = format!("if (h.flow.isValid()) {{ h.flow.flow = 1; bit<32> i = (bit<32>)h.flow.flow; {count} }}");
    assert!(spread(of_body(&written)).is_none());
    // What is only read is shared.
    assert_eq!(of_body("bit<32> i = 5; seen.read(count, i); h.flow.count = count;"), Workers::Any);
}

#[test]
fn nat_gives_each_flow_one_mapping_on_any_worker() {
    let (objects, workers) = verdict("../../apps/nat/nat.p4");
    assert_eq!(workers, Workers::Any, "{objects:?}");
    let frames = packets(udp);
    let flow_of = |bytes: &[u8]| usize::from(u16::from_be_bytes([bytes[34], bytes[35]]));
    let out = agree(("../../apps/nat/nat.p4", Some("../../apps/nat/entries.stf")), &frames, flow_of, |_| ());
    assert_eq!(out.len(), frames.len());
    // All packets of a flow have the same outside port, and no two flows have one.
    let mut ports: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    for (number, packet) in &out {
        let flow = number % u64::from(FLOWS);
        assert_eq!(*ports.entry(packet.bytes[34..36].to_vec()).or_insert(flow), flow, "packet {number}");
    }
    assert_eq!(ports.len(), usize::from(FLOWS));
}

/// An IPv4 packet with UDP from a port of an inside host. Without a UDP checksum, so that its data are free.
fn udp(flow: u16) -> Vec<u8> {
    let mut ip = vec![0x45, 0, 0, 36, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 0xc6, 0x33, 0x64, 7];
    let sum: u32 = ip.chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]]))).sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let ethernet = [2, 0xee, 0, 0, 0, 1, 2, 0xcc, 0, 0, 0, 1, 8, 0];
    let udp = [&(1000 + flow).to_be_bytes()[..], &[0, 80, 0, 16, 0, 0]].concat();
    [&ethernet[..], &ip, &udp].concat()
}

#[test]
fn a_bridge_forwards_and_learns_on_any_worker() {
    let (objects, workers) = verdict("../../apps/l2fwd/l2fwd.p4");
    assert_eq!(workers, Workers::Any, "{objects:?}");
    // Known destinations, unknown sources: each packet is reported and forwarded.
    let frames = packets(|flow| {
        let destination = if flow % 2 == 0 { [0, 0, 0, 0, 0, 1] } else { [0, 0, 0, 0, 0, 2] };
        let source = [2, 0, 0, 0, (flow >> 8) as u8, flow as u8];
        [&destination[..], &source, &[0x88, 0xb5], &[0; 46]].concat()
    });
    let flow_of = |bytes: &[u8]| usize::from(u16::from_be_bytes([bytes[10], bytes[11]]));
    for (workers, expected) in [(1, frames.len()), (WORKERS, frames.len())] {
        let mut engine = engine("../../apps/l2fwd/l2fwd.p4", None, workers);
        let (_, _) = sent(&mut engine, workers, &frames, flow_of);
        let (events, lost) = engine.switch().take_events(usize::MAX);
        assert_eq!(events.len() as u64 + lost.digests, expected as u64, "on {workers} workers, {lost:?}");
    }
}
