//! Copies for which there is no buffer: each is counted, and nothing is lost for good.

use control::DataPlane as _;
use control::plane::{Frame, Replica};
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::Plan;
use hlir::plan::Descriptor;
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

#[test]
fn copies_without_a_buffer_are_counted_and_later_ones_have_theirs() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/plans/replicates.p4");
    let load = || frontend::load(&Source::plain(&file)).expect("the example is a program");
    let planned = |plan: &mut Plan| (plan.descriptor, plan.burst) = (Descriptor::Own, 16);
    let (pipeline, compiled) = compile::pipeline(load(), &Passes::default(), &Native::default(), planned)
        .unwrap_or_else(|failure| panic!("the example compiles: {failure:?}"));
    let program = load().program;
    let lanes = || vec![MemoryPort::new(BUFFERS)];
    let settings = Settings { ports: 8, seed: 0 };
    let mut engine = NativeEngine::new((&program, &compiled), pipeline, settings, lanes).expect("it attaches");
    let members: Vec<Replica> = (0..MEMBERS).map(|number| Replica { port: number, instance: 0 }).collect();
    engine.set_multicast(1, &members.into()).expect("there may be such a group");
    let (sent, lost) = flood(&mut engine, 12);
    assert!(lost > 0 && sent > 0, "{sent} sent, {lost} lost");
    assert_eq!(sent as u64 + lost, 12 * u64::from(MEMBERS));
    // All buffers have come back: two packets and their copies have room.
    assert_eq!(flood(&mut engine, 2), (2 * MEMBERS as usize, lost));
    assert_eq!(engine.switch().lane(0).expect("its worker runs here").held(), 0);
}
