//! Data wider than 64 bits of a default action that inserts: the insertion may move all records of its table, the default action's too.

use control::DataPlane as _;
use control::plane::Frame;
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::{ActionCall, Plan};
use native::NativeEngine;
use num_bigint::BigUint;
use runtime::{Buffers, MemoryPort, Settings};
use std::path::Path;

const FLOWS: u32 = 280_000;

fn bytes(value: &BigUint) -> Vec<u8> {
    let bytes = value.to_bytes_be();
    [vec![0; 16 - bytes.len()], bytes].concat()
}

#[test]
fn wide_data_of_a_default_action_outlive_the_insertions_that_move_its_record() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/switch/learns_wide.p4");
    let load = || frontend::load(&Source::plain(&file)).expect("the example is a program");
    let planned = |plan: &mut Plan| (plan.descriptor, plan.burst) = (hlir::plan::Descriptor::Own, 32);
    let (pipeline, compiled) = compile::pipeline(load(), &Passes::default(), &Native::default(), planned)
        .unwrap_or_else(|failure| panic!("the example compiles: {failure:?}"));
    let program = load().program;
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let settings = Settings { ports: 8, seed: 0 };
    let mut engine = NativeEngine::new((&program, &compiled), pipeline, settings, worker_ports).expect("it attaches");
    let (flows, declared) = program.tables.iter().next().expect("the program has a table");
    let learn = declared.actions.iter().position(|action| action.name.ends_with("learn")).expect("it is there") as u32;
    let answer: BigUint = (BigUint::from(0x0123_4567_89ab_cdefu64) << 64) + 0xfedc_ba98_7654_3210u64;
    engine.set_default(flows, &ActionCall { action: learn, arguments: vec![answer.clone()] }).expect("it suits");
    let frames: Vec<Frame> =
        (0..FLOWS).map(|flow| Frame { port: 1, bytes: [&flow.to_be_bytes()[..], &[0; 56]].concat() }).collect();
    let process = |engine: &mut NativeEngine<'_, MemoryPort>| engine.process(&frames).expect("the frames fit").outputs;
    for (flow, sent) in (0..FLOWS).zip(process(&mut engine)) {
        let expected =
            [&flow.to_be_bytes()[..], &[0, 1], &bytes(&(&answer + 1u32)), &bytes(&(&answer + 2u32))].concat();
        assert_eq!(sent.bytes[..38], expected, "flow {flow}");
    }
    for (flow, sent) in (0..FLOWS).zip(process(&mut engine)) {
        let expected = [&flow.to_be_bytes()[..], &[0; 18], &bytes(&(&answer ^ BigUint::from(flow)))].concat();
        assert_eq!(sent.bytes[..38], expected, "flow {flow}, which is known");
    }
}
