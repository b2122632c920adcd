//! Parameters of CRCs: they outlive an exchange, are restored with a store, and go with what a controller has written.

use control::Store;
use control::plane::{DataPlane as _, Frame};
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::{CrcParameters, Program};
use native::{NativeEngine, Written};
use runtime::{Buffers, MemoryPort, Pipeline, Settings};
use std::path::Path;
use std::sync::Arc;

const DIGITS: &[u8] = b"123456789";
/// CRC-16/IBM-3740 and CRC-32/ISCSI.
const SHORT: CrcParameters =
    CrcParameters { polynomial: 0x1021, initial: 0xffff, last: 0, reflects_data: false, reflects_remainder: false };
const LONG: CrcParameters = CrcParameters {
    polynomial: 0x1edc_6f41,
    initial: u32::MAX,
    last: u32::MAX,
    reflects_data: true,
    reflects_remainder: true,
};
const SET: [&[u8]; 2] = [&[0x29, 0xb1], &[0xe3, 0x06, 0x92, 0x83]];
const AT_START: [&[u8]; 2] = [&[0xbb, 0x3d], &[0xcb, 0xf4, 0x39, 0x26]];

fn custom_crcs() -> frontend::Loaded {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/architectures/v1model_custom_crcs.p4");
    frontend::load(&Source::plain(&program)).expect("it is a program")
}

fn compiled() -> (Arc<Pipeline>, Arc<Program>) {
    let done = compile::pipeline(custom_crcs(), &Passes::default(), &Native::default(), |plan| {
        plan.descriptor = hlir::plan::Descriptor::Own;
    });
    let (pipeline, program) = done.unwrap_or_else(|failure| panic!("it compiles: {failure:?}"));
    (pipeline, Arc::new(program))
}

fn engine<'p>(
    program: &Arc<Program>,
    (pipeline, compiled): &(Arc<Pipeline>, Arc<Program>),
) -> NativeEngine<'p, MemoryPort> {
    let lanes = || vec![MemoryPort::new(Buffers::default())];
    NativeEngine::new((program, compiled), pipeline.clone(), Settings { ports: 8, seed: 0 }, lanes).expect("it starts")
}

/// The hashes of 16 and 32 bits that a packet gets.
fn hashes(engine: &mut NativeEngine<'_, MemoryPort>) -> [Vec<u8>; 2] {
    let frame = Frame { port: 1, bytes: [DIGITS, &[0; 60]].concat() };
    let outcome = engine.process(&[frame]).expect("the switch runs");
    let bytes = &outcome.outputs[0].bytes;
    [bytes[9..11].to_vec(), bytes[15..19].to_vec()]
}

#[test]
fn parameters_of_crcs_are_carried_restored_and_forgotten() {
    let (program, first) = (Arc::new(custom_crcs().program), compiled());
    let mut switch = engine(&program, &first);
    assert_eq!(hashes(&mut switch), AT_START);
    // In the order of their widths, as the packets have them.
    let mut ids: Vec<_> = program.crcs.iter().map(|(id, _)| id).collect();
    ids.sort_by_key(|id| program.crcs[*id].width);
    for (crc, parameters) in ids.iter().zip([SHORT, LONG]) {
        switch.set_crc(*crc, Some(parameters)).expect("they fit");
    }
    assert!(switch.set_crc(ids[0], Some(LONG)).is_err(), "a polynomial of 32 bits");
    assert_eq!(hashes(&mut switch), SET);
    switch.exchange(&first.1, first.0.clone()).expect("a pipeline can take the place of another");
    assert_eq!(hashes(&mut switch), SET);
    let other = Arc::new(custom_crcs().program);
    switch.replace((other, first.1.clone()), first.0.clone(), Written::Kept).expect("it has the same objects");
    assert_eq!(hashes(&mut switch), SET);

    let rows: Vec<_> = switch.store().rows().collect();
    let rows = rows.iter().map(|(key, value)| (key.as_slice(), value.as_slice()));
    let (store, refused) = Store::of_rows(program.clone(), rows);
    assert_eq!(refused, [""; 0]);
    let mut again = engine(&program, &first);
    again.restore(store).expect("it has room");
    assert_eq!(hashes(&mut again), SET);
    again.set_crc(ids[1], None).expect("the start's");
    assert_eq!(hashes(&mut again), [SET[0], AT_START[1]]);

    switch.replace((program, first.1.clone()), first.0, Written::Forgotten).expect("it begins anew");
    assert_eq!(hashes(&mut switch), AT_START);
}
