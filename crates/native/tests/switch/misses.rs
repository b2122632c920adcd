//! A table with `@punt_on_miss`: a packet that misses goes to the control plane, and resumes there when the entry is written.

use control::DataPlane as _;
use control::plane::{Frame, Output};
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::entry::EntryAction;
use hlir::plan::Descriptor;
use hlir::{ActionCall, Entry, Match, Plan, Program, TableId};
use native::NativeEngine;
use runtime::{Buffers, Event, MemoryPort, Punted, Settings, Trace};
use std::path::Path;

const SETTINGS: Settings = Settings { ports: 1 << 16, seed: 0 };

fn load() -> frontend::Loaded {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/switch/misses.p4");
    frontend::load(&Source::plain(&file)).expect("the example is a program")
}

/// To host `dst`, with a number of its own.
fn frame(dst: u8, number: u8) -> Frame {
    Frame { port: 1, bytes: [&[0, 0, 0, 0, 0, dst][..], &[2, 0, 0, 0, 0, 1], &[8, number], &[number; 50]].concat() }
}

fn host(program: &Program, dst: u8, port: u32) -> (TableId, Entry) {
    let (table, declared) = program.tables.iter().next().expect("the example has one");
    let forward = declared.actions.iter().position(|action| action.name.ends_with("forward")).expect("it is there");
    let action = EntryAction::Call(ActionCall { action: forward as u32, arguments: vec![port.into()] });
    (table, Entry { matches: vec![Match::Exact(dst.into())], priority: 0, action, constant: false })
}

/// The packets that a native engine's worker sent, and those that it punted.
fn run(engine: &mut NativeEngine<'_, MemoryPort>) -> (Vec<Output>, Vec<Punted>) {
    engine.switch().run(0);
    let own_ports = engine.switch().ports_of(0).expect("its worker runs here");
    let output = |packet: runtime::Packet| Output { port: u32::from(packet.port), bytes: packet.bytes, path: None };
    let outputs = own_ports.take_sent().into_iter().map(output).collect();
    let punt = |event| if let Event::Punt(punted) = event { Some(punted) } else { None };
    (outputs, engine.switch().take_events(usize::MAX).0.into_iter().filter_map(punt).collect())
}

fn receive(engine: &mut NativeEngine<'_, MemoryPort>, frames: &[Frame]) -> (Vec<Output>, Vec<Punted>) {
    let own_ports = engine.switch().ports_of(0).expect("its worker runs here");
    let packets = frames.iter().map(|frame| (frame.port as u16, frame.bytes.as_slice()));
    own_ports.keep_sent();
    own_ports.load(Trace::new(packets), frames.len() as u64, 0);
    run(engine)
}

fn without_path(outputs: Vec<Output>) -> Vec<Output> {
    outputs.into_iter().map(|output| Output { path: None, ..output }).collect()
}

/// Both engines, step by step: packets, an entry, and the packets that were punted, of which one misses again.
fn compare(passes: &Passes) {
    let planned = |plan: &mut Plan| (plan.descriptor, plan.burst) = (Descriptor::Own, 16);
    let (pipeline, compiled) = compile::pipeline(load(), passes, &Native::default(), planned)
        .unwrap_or_else(|failure| panic!("the example compiles: {failure:?}"));
    let program = load().program;
    let mut expected = interp::Switch::new(&program, SETTINGS.seed, SETTINGS.ports);
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let mut engine = NativeEngine::new((&program, &compiled), pipeline, SETTINGS, worker_ports).expect("it attaches");
    let (table, known) = host(&program, 7, 3);
    expected.insert(table, &known).expect("there is room");
    engine.insert(table, &known).expect("there is room");
    let frames = [frame(7, 1), frame(8, 2), frame(9, 3), frame(7, 4)];
    let outcome = expected.process(&frames).expect("the switch runs");
    let (outputs, punts) = receive(&mut engine, &frames);
    assert_eq!((outputs.len(), punts.len(), outcome.punts), (2, 2, 2));
    assert_eq!(outputs, without_path(outcome.outputs));

    let (table, learned) = host(&program, 8, 5);
    expected.insert(table, &learned).expect("there is room");
    engine.insert(table, &learned).expect("there is room");
    let (mut left, mut again) = (Vec::new(), 0);
    for punted in expected.take_punted() {
        let outcome = expected.resume(punted).expect("the switch runs");
        left.extend(outcome.outputs);
        again += outcome.punts;
    }
    assert!(punts.iter().all(|punted| punted.mark == 0), "they have missed for the first time");
    for mut punted in punts {
        punted.mark = 17;
        engine.switch().resume(&punted).expect("there is room");
    }
    let (outputs, punts) = run(&mut engine);
    assert_eq!((outputs.len(), punts.len(), again), (1, 1, 1), "host 9 is not known yet");
    assert_eq!(punts[0].mark, 17, "it is known again");
    assert_eq!(outputs, without_path(left));
    // One more than the type that the packet came with, and its source one more, once.
    assert_eq!((outputs[0].port, &outputs[0].bytes[6..14]), (5, &[2, 0, 0, 0, 0, 2, 8, 3][..]));
    assert_eq!(engine.table_counts(table), expected.table_counts(table));
    assert_eq!(engine.switch().ports_of(0).expect("its worker runs here").held(), 0);
}

#[test]
fn a_packet_that_misses_resumes_when_its_entry_is_written() {
    compare(&Passes::default());
    compare(&Passes { passes: Some(Vec::new()), ..Passes::default() });
}
