//! While workers are held, any number of writes is one change as packets see it; no packet is lost.

use control::DataPlane as _;
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::entry::EntryAction;
use hlir::plan::Descriptor;
use hlir::{ActionCall, Entry, Match, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Settings, Trace};
use std::path::Path;
use std::time::{Duration, Instant};

const KEYS: u32 = 16;
const WORKERS: usize = 2;

fn engine() -> (NativeEngine<'static, MemoryPort>, Vec<TableId>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/switch/atomic.p4");
    let load = || frontend::load(&Source::plain(&file)).expect("the example is a program");
    let (pipeline, compiled) = compile::pipeline(load(), &Passes::default(), &Native::default(), |plan| {
        (plan.descriptor, plan.burst) = (Descriptor::Own, 32);
    })
    .unwrap_or_else(|failure| panic!("the example compiles: {failure:?}"));
    let program = load().program;
    let worker_ports = || (0..WORKERS).map(|_| MemoryPort::new(Buffers::default())).collect();
    let settings = Settings { ports: 8, seed: 0 };
    let engine = NativeEngine::new((&program, &compiled), pipeline, settings, worker_ports).expect("it attaches");
    let tables = ["first", "second"]
        .map(|name| program.tables.iter().find(|(_, table)| table.name.ends_with(name)).expect("the example has it").0);
    (engine, tables.to_vec())
}

fn entry(key: u32, version: u32) -> Entry {
    let action = EntryAction::Call(ActionCall { action: 0, arguments: vec![version.into()] });
    Entry { matches: vec![Match::Exact(key.into())], priority: 0, action, constant: false }
}

/// Gives every key of both tables another number, one entry after the other.
fn write(engine: &mut NativeEngine<'_, MemoryPort>, tables: &[TableId], version: u32) {
    for table in tables {
        (0..KEYS).for_each(|key| engine.modify(*table, &entry(key, version)).expect("the key is there"));
    }
}

fn torn(engine: &mut NativeEngine<'_, MemoryPort>) -> u64 {
    engine.switch().counter(0, 0).expect("the example has a counter").packets
}

#[test]
fn packets_see_all_writes_of_a_held_switch_or_none() {
    let (mut engine, tables) = engine();
    for table in &tables {
        (0..KEYS).for_each(|key| engine.insert(*table, &entry(key, 0)).expect("there is room"));
    }
    let frames: Vec<Vec<u8>> = (0..KEYS).map(|key| [&key.to_be_bytes()[..], &[0; 60]].concat()).collect();
    for worker in 0..WORKERS {
        let trace = Trace::new(frames.iter().map(|frame| (0, frame.as_slice())));
        engine.switch().ports_of(worker).expect("it does not run yet").load(trace, u64::MAX, 0);
    }
    engine.switch().start();
    let (mut version, begin) = (0, Instant::now());
    while begin.elapsed() < Duration::from_millis(500) || version < 100 {
        version += 1;
        engine.switch().hold();
        write(&mut engine, &tables, version);
        engine.switch().release();
    }
    assert_eq!(torn(&mut engine), 0, "after {version} batches");
    // The packets do see halves where the workers are not held.
    while torn(&mut engine) == 0 {
        assert!(begin.elapsed() < Duration::from_secs(60), "no packet comes between two writes");
        version += 1;
        write(&mut engine, &tables, version);
    }
    engine.switch().stop();
    for worker in 0..WORKERS {
        let port = engine.switch().ports_of(worker).expect("it does not run any more");
        let counts = port.counts();
        assert!(counts.received > 0 && counts.received == counts.sent && port.held() == 0, "{counts:?}");
    }
}

#[test]
fn workers_that_do_not_run_need_no_holding() {
    let (mut engine, tables) = engine();
    engine.switch().hold();
    engine.insert(tables[0], &entry(1, 1)).expect("there is room");
    engine.switch().release();
    let frame = [&1u32.to_be_bytes()[..], &[0; 60]].concat();
    engine.switch().ports_of(0).expect("it does not run").load(Trace::new([(0, frame.as_slice())]), 64, 0);
    engine.switch().start();
    engine.switch().join();
    engine.switch().hold();
    engine.switch().release();
    assert_eq!(engine.switch().ports_of(0).expect("it has ended").counts().sent, 64);
    assert_eq!(torn(&mut engine), 64);
}
