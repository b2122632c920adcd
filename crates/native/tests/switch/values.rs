//! Another program, whose table begins otherwise and whose arrays have another size: counters, meters and registers have what they had.

use control::plane::{CounterValue, DataPlane, Element, EntryKey, Frame, MeterRates};
use control::{Rate, Store, Update};
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::entry::EntryAction;
use hlir::{ActionCall, CounterId, Entry, Match, MeterId, Program, RegisterId, TableId};
use native::{NativeEngine, Written};
use num_bigint::BigUint;
use runtime::{MemoryPort, Pipeline, Settings, Trace};
use std::sync::Arc;

const PROGRAM: &str = "\
#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>
header kind_t { bit<8> kind; bit<8> colour; bit<8> other; }
struct headers { kind_t kind; }
struct metadata { bit<2> colour; bit<2> other; }
parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.kind); transition accept; }
}
control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    direct_counter(CounterType.packets) hits;
    direct_meter<bit<2>>(MeterType.packets) rate;
    counter<bit<8>>(SIZE, CounterType.packets) kinds_seen;
    meter<bit<8>>(SIZE, MeterType.packets) kinds_rate;
    register<bit<16>, bit<8>>(SIZE) last;
    action forward(bit<9> port) { s.egress_spec = port; rate.read(m.colour); }
    table kinds {
        key = { h.kind.kind: exact; }
        actions = { forward; }
        default_action = forward(DEFAULT);
        counters = hits;
        meters = rate;
        size = 16;
    }
    apply {
        m.colour = 3;
        kinds.apply();
        kinds_seen.count(h.kind.kind);
        kinds_rate.execute_meter(h.kind.kind, m.other);
        last.write(h.kind.kind, 7);
        h.kind.colour = (bit<8>) m.colour;
        h.kind.other = (bit<8>) m.other;
    }
}
control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
";

struct Built {
    program: Arc<Program>,
    compiled: Arc<Program>,
    pipeline: Arc<Pipeline>,
}

/// The program with a port by default, and with arrays of this size.
fn built(default: u32, size: u32) -> Built {
    let text = PROGRAM.replace("DEFAULT", &default.to_string()).replace("SIZE", &size.to_string());
    let file = std::env::temp_dir().join(format!("bacus-values-{}-{default}-{size}.p4", std::process::id()));
    std::fs::write(&file, text).expect("there is room");
    let load = || frontend::load(&Source::plain(&file)).unwrap_or_else(|failure| panic!("{failure:?}"));
    let program = Arc::new(load().program);
    let (pipeline, compiled) = compile::pipeline(load(), &Passes::default(), &Native::default(), |plan| {
        (plan.descriptor, plan.burst) = (hlir::plan::Descriptor::Own, 16);
    })
    .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"));
    std::fs::remove_file(&file).expect("it was written");
    Built { program, compiled: Arc::new(compiled), pipeline }
}

struct Objects {
    kinds: TableId,
    hits: CounterId,
    rate: MeterId,
    seen: CounterId,
    rates: MeterId,
    last: RegisterId,
}

fn objects(store: &Store) -> Objects {
    fn named<T>(arena: &la_arena::Arena<T>, name: impl Fn(&T) -> &str, ends: &str) -> la_arena::Idx<T> {
        arena.iter().find(|(_, object)| name(object).ends_with(ends)).expect("the program has it").0
    }
    let program = store.program();
    Objects {
        kinds: named(&program.tables, |table| &table.name, "kinds"),
        hits: named(&program.counters, |counter| &counter.name, "hits"),
        rate: named(&program.meters, |meter| &meter.name, ".rate"),
        seen: named(&program.counters, |counter| &counter.name, "kinds_seen"),
        rates: named(&program.meters, |meter| &meter.name, "kinds_rate"),
        last: named(&program.registers, |register| &register.name, "last"),
    }
}

fn entry(kind: u32) -> Entry {
    let action = EntryAction::Call(ActionCall { action: 0, arguments: vec![1u32.into()] });
    Entry { matches: vec![Match::Exact(kind.into())], priority: 0, action, constant: false }
}

fn element(table: TableId, kind: u32) -> Element {
    Element::Entry(EntryKey { table, matches: entry(kind).matches, priority: 0 })
}

fn packets(packets: u64) -> CounterValue {
    CounterValue { packets, bytes: packets }
}

const RATES: MeterRates =
    MeterRates { committed_rate: Rate::of_units(1), committed_burst: 1, peak_rate: Rate::of_units(2), peak_burst: 2 };

/// The colour that a packet of the kind leaves with.
fn colour(engine: &mut NativeEngine<'_, MemoryPort>, kind: u8) -> u8 {
    let sent = engine.process(&[Frame { port: 0, bytes: vec![kind; 60] }]).expect("the frame fits").outputs;
    sent[0].bytes[1]
}

#[test]
fn counters_meters_and_registers_have_what_they_had() {
    let [first, other, back] = [built(7, 8), built(8, 6), built(7, 8)];
    let settings = Settings { ports: 16, seed: 0 };
    let worker_ports = || vec![MemoryPort::new(Default::default())];
    let mut engine =
        NativeEngine::new((&first.program, &first.compiled), first.pipeline.clone(), settings, worker_ports).unwrap();
    let of = objects(engine.store());
    for kind in 1..4 {
        engine.write(&Update::Insert { table: of.kinds, entry: entry(kind) }).unwrap();
        engine.write_counter(of.hits, &element(of.kinds, kind), packets(u64::from(10 * kind))).unwrap();
    }
    engine.write_counter(of.hits, &Element::Default(of.kinds), packets(99)).unwrap();
    engine.write_counter(of.seen, &Element::Index(5), packets(55)).unwrap();
    engine.write_register(of.last, 4, &BigUint::from(44u32)).unwrap();
    for (meter, element) in
        [(of.rate, element(of.kinds, 2)), (of.rate, Element::Default(of.kinds)), (of.rates, Element::Index(3))]
    {
        engine.write(&Update::SetMeter { meter, element, rates: Some(RATES) }).unwrap();
    }
    for built in [&other, &back] {
        let programs = (built.program.clone(), built.compiled.clone());
        engine.replace(programs, built.pipeline.clone(), Written::Kept).unwrap();
        let of = objects(engine.store());
        for kind in 1..4 {
            let found = engine.read_counter(of.hits, &element(of.kinds, kind)).unwrap();
            assert_eq!(found.packets, u64::from(10 * kind), "entry {kind}");
        }
        assert_eq!(engine.read_counter(of.hits, &Element::Default(of.kinds)).unwrap().packets, 99);
        assert_eq!(engine.read_counter(of.seen, &Element::Index(5)).unwrap().packets, 55);
        assert_eq!(engine.read_register(of.last, 4).unwrap(), BigUint::from(44u32));
        assert_eq!(engine.store().meters().count(), 3);
    }
    // Misses count, and measure where a controller has set rates.
    assert_eq!([(); 3].map(|()| colour(&mut engine, 9)), [0, 1, 2]);
    assert_eq!([(); 3].map(|()| colour(&mut engine, 2)), [0, 1, 2]);
    let of = objects(engine.store());
    assert_eq!(engine.read_counter(of.hits, &Element::Default(of.kinds)).unwrap().packets, 102);
    assert_eq!(engine.read_counter(of.hits, &element(of.kinds, 2)).unwrap().packets, 23);
    engine.write(&Update::SetMeter { meter: of.rate, element: Element::Default(of.kinds), rates: None }).unwrap();
    assert_eq!([(); 3].map(|()| colour(&mut engine, 9)), [0, 0, 0], "nothing is measured without rates");
}

#[test]
fn packets_that_come_during_an_exchange_are_counted() {
    const PACKETS: u64 = 400_000;
    let [first, other] = [built(7, 16), built(8, 12)];
    let settings = Settings { ports: 16, seed: 0 };
    let worker_ports = || vec![MemoryPort::new(Default::default())];
    let mut engine =
        NativeEngine::new((&first.program, &first.compiled), first.pipeline.clone(), settings, worker_ports).unwrap();
    engine.write_register(objects(engine.store()).last, 4, &BigUint::from(44u32)).unwrap();
    engine.switch().ports_of(0).unwrap().load(Trace::new([(1, [9; 60].as_slice())]), PACKETS, 0);
    engine.switch().start();
    for built in [&other, &first, &other, &first] {
        std::thread::sleep(std::time::Duration::from_millis(3));
        let programs = (built.program.clone(), built.compiled.clone());
        engine.replace(programs, built.pipeline.clone(), Written::Kept).unwrap();
        let of = objects(engine.store());
        assert_eq!(engine.read_register(of.last, 4).unwrap(), BigUint::from(44u32));
    }
    engine.switch().join();
    let of = objects(engine.store());
    assert_eq!(engine.read_counter(of.seen, &Element::Index(9)).unwrap().packets, PACKETS);
    assert_eq!(engine.read_counter(of.hits, &Element::Default(of.kinds)).unwrap().packets, PACKETS);
    assert_eq!(engine.read_register(of.last, 9).unwrap(), BigUint::from(7u32));
}
