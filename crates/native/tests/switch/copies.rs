//! Copies for which there is no buffer: each is counted, and nothing is lost for good.

use control::DataPlane as _;
use control::plane::{Frame, Replica, Session, SessionTarget};
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::plan::Descriptor;
use hlir::{ActionCall, Plan, Program};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Settings};
use std::path::Path;

const BUFFERS: Buffers = Buffers { count: 16, bytes: 2048, headroom_bytes: 128 };
const MEMBERS: u32 = 5;

/// Floods `packets` frames at once; returns the sent packets, and the copies dropped so far.
fn flood(engine: &mut NativeEngine<'_, MemoryPort>, packets: usize) -> (usize, u64) {
    let frame = Frame { port: 1, bytes: vec![0xff; 60] };
    let outcome = engine.process(&vec![frame; packets]).expect("the frames fit");
    let reasons = engine.program().drop_reasons();
    let drops = reasons.iter().zip(engine.drops());
    let lost: u64 = drops.filter(|(reason, _)| *reason == "no memory for a copy").map(|(_, count)| count).sum();
    assert_eq!(engine.drops().iter().sum::<u64>(), lost, "nothing else is dropped");
    (outcome.outputs.len(), lost)
}

fn engine_of<'p>(program: &'p Program, file: &str, buffers: Buffers) -> NativeEngine<'p, MemoryPort> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/plans").join(file);
    let loaded = frontend::load(&Source::plain(&file)).expect("the example is a program");
    let planned = |plan: &mut Plan| (plan.descriptor, plan.burst) = (Descriptor::Own, 16);
    let (pipeline, compiled) = compile::pipeline(loaded, &Passes::default(), &Native::default(), planned)
        .unwrap_or_else(|failure| panic!("the example compiles: {failure:?}"));
    let worker_ports = move || vec![MemoryPort::new(buffers)];
    NativeEngine::new((program, &compiled), pipeline, Settings { ports: 8, seed: 0 }, worker_ports)
        .expect("it attaches")
}

/// A frame is mirrored on its way in, and each of both on its way out. Deep copies would take 21 buffers at once, of which there are 16.
#[test]
fn clones_that_nothing_writes_take_no_buffer_and_are_freed_once() {
    const PACKETS: usize = 7;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/plans/mirrors.p4");
    let program = frontend::load(&Source::plain(&file)).expect("the example is a program").program;
    let mut engine = engine_of(&program, "mirrors.p4", BUFFERS);
    let table =
        |name: &str| program.tables.iter().find(|(_, table)| table.name.ends_with(name)).expect("it is there").0;
    let watched = |session: u32| ActionCall { action: 1, arguments: vec![session.into()] };
    engine.set_default(table("watches"), &watched(5)).expect("it suits");
    engine.set_default(table("ports"), &watched(6)).expect("it suits");
    for (port, truncation_bytes, sent) in [(4, 0, 4), (4, 20, 4), (9, 0, 3)] {
        let to =
            |port| Session::new(SessionTarget::Members(vec![Replica { port, instance: 1 }.into()]), truncation_bytes);
        engine.set_session(5, Some(&to(port))).expect("there may be such a session");
        engine.set_session(6, Some(&to(5))).expect("there may be such a session");
        for _ in 0..300 {
            let frames = vec![Frame { port: 1, bytes: vec![7; 60] }; PACKETS];
            let outputs = engine.process(&frames).expect("the frames fit").outputs;
            let lengths = |length: usize| outputs.iter().filter(|output| output.bytes.len() == length).count();
            assert_eq!(outputs.len(), sent * PACKETS, "a port that is not there takes none");
            assert_eq!(lengths(60), if truncation_bytes == 0 { sent * PACKETS } else { PACKETS });
        }
        assert_eq!(engine.switch().ports_of(0).expect("its worker runs here").held(), 0);
    }
    let reasons = engine.program().drop_reasons();
    for (reason, count) in reasons.iter().zip(engine.drops()) {
        assert_eq!(count, if reason == "no such port" { 300 * PACKETS as u64 } else { 0 }, "{reason}");
    }
}

#[test]
fn copies_without_a_buffer_are_counted_and_later_ones_have_theirs() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/plans/replicates.p4");
    let program = frontend::load(&Source::plain(&file)).expect("the example is a program").program;
    let mut engine = engine_of(&program, "replicates.p4", BUFFERS);
    let members: Vec<Replica> = (0..MEMBERS).map(|number| Replica { port: number, instance: 0 }).collect();
    engine.set_multicast(1, &members.into()).expect("there may be such a group");
    let (sent, lost) = flood(&mut engine, 12);
    assert!(lost > 0 && sent > 0, "{sent} sent, {lost} lost");
    assert_eq!(sent as u64 + lost, 12 * u64::from(MEMBERS));
    // All buffers have come back: two packets and their copies have room.
    assert_eq!(flood(&mut engine, 2), (2 * MEMBERS as usize, lost));
    assert_eq!(engine.switch().ports_of(0).expect("its worker runs here").held(), 0);
}
