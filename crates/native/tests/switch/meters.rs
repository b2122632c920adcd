//! Meters of any rate, from a billionth of a packet a second up, give the colours of the interpreter at any time.

use control::Rate;
use control::plane::{DataPlane as _, Element, Frame, MeterRates};
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::plan::Descriptor;
use interp::random::Draws;
use native::NativeEngine;
use runtime::{MemoryPort, Settings};

const PROGRAM: &str = "\
#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>
header packet_t { bit<8> index; bit<8> packets; bit<8> bytes; }
struct headers { packet_t packet; }
struct metadata { }
parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.packet); transition accept; }
}
control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    meter<bit<8>>(ELEMENTS, MeterType.packets) packets;
    meter<bit<8>>(ELEMENTS, MeterType.bytes) bytes;
    apply {
        packets.execute_meter(h.packet.index, h.packet.packets);
        bytes.execute_meter(h.packet.index, h.packet.bytes);
        s.egress_spec = 1;
    }
}
control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
";

const ELEMENTS: u64 = 64;
const STEPS: u64 = 10_000;

/// A number of any magnitude up to so many bits.
fn magnitude(draws: &mut Draws, bits: u32) -> u64 {
    let shift = 64 - bits + (draws.draw() % u64::from(bits)) as u32;
    draws.draw() >> shift
}

/// A rate below one a second, a whole one, or one with a fraction.
fn rate(draws: &mut Draws) -> Rate {
    let (units, billionths) = (magnitude(draws, 64), magnitude(draws, 64) % 1_000_000_000);
    match draws.draw() % 3 {
        0 => Rate::new(0, billionths as u32).expect("these are less than one"),
        1 => Rate::of_units(units),
        2.. => Rate::new(units, billionths as u32).expect("these are less than one"),
    }
}

/// Bursts are of few packets of 60 bytes, so that time decides.
fn rates(draws: &mut Draws) -> MeterRates {
    let (committed_rate, peak_rate) = (rate(draws), rate(draws));
    MeterRates { committed_rate, committed_burst: magnitude(draws, 9), peak_rate, peak_burst: magnitude(draws, 9) }
}

#[test]
fn colours_of_any_rates_are_those_of_the_interpreter() {
    let file = std::env::temp_dir().join(format!("bacus-meters-{}.p4", std::process::id()));
    std::fs::write(&file, PROGRAM.replace("ELEMENTS", &ELEMENTS.to_string())).expect("there is room");
    let load = || frontend::load(&Source::plain(&file)).unwrap_or_else(|failure| panic!("{failure:?}"));
    let planned = |plan: &mut hlir::Plan| (plan.descriptor, plan.burst) = (Descriptor::Own, 16);
    let (pipeline, compiled) = compile::pipeline(load(), &Passes::default(), &Native::default(), planned)
        .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"));
    let program = load().program;
    std::fs::remove_file(&file).expect("it was written");
    let settings = Settings { ports: 16, seed: 0 };
    let mut expected = interp::Switch::new(&program, settings.seed, settings.ports);
    let worker_ports = || vec![MemoryPort::new(Default::default())];
    let mut engine = NativeEngine::new((&program, &compiled), pipeline, settings, worker_ports).expect("it attaches");
    let draws = &mut Draws::new(7, 0);
    for (meter, _) in program.meters.iter() {
        for index in 0..ELEMENTS {
            let rates = Some(rates(draws));
            expected.set_meter(meter, &Element::Index(index), rates).expect("the meter has the index");
            engine.set_meter(meter, &Element::Index(index), rates).expect("the meter has the index");
        }
    }
    let (mut now, mut colours) = (0u64, [0u64; 3]);
    for _ in 0..STEPS {
        now = now.saturating_add(magnitude(draws, 50));
        expected.set_clock(now);
        engine.set_clock(now);
        let index = (draws.draw() % ELEMENTS) as u8;
        let frame = Frame { port: 0, bytes: [&[index, 9, 9][..], &[0; 57]].concat() };
        let [theirs, ours] = [expected.process(std::slice::from_ref(&frame)), engine.process(&[frame])];
        let [theirs, ours] = [theirs, ours].map(|outcome| outcome.expect("the switch runs").outputs[0].bytes.clone());
        assert_eq!(ours, theirs, "element {index} at {now} ns");
        colours[usize::from(ours[1])] += 1;
    }
    assert!(colours.iter().all(|count| *count > STEPS / 50), "all colours are met: {colours:?}");
}
