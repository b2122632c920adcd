//! Entries by the million are written in bulk, and the store contains them like all others.

use control::DataPlane as _;
use driver::entries::{self, Origin};
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::plan::Descriptor;
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Settings};
use std::path::Path;

#[test]
fn generated_entries_are_read_modified_and_deleted_like_all_others() {
    const COUNT: usize = 500;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/ipv4fwd/ipv4fwd.p4");
    let loaded = frontend::load(&Source::plain(&file)).expect("ipv4fwd is a program");
    let program = loaded.program.clone();
    let (pipeline, compiled) = compile::pipeline(loaded, &Passes::default(), &Native::default(), |plan| {
        plan.descriptor = Descriptor::Own;
    })
    .unwrap_or_else(|failure| panic!("ipv4fwd compiles: {failure:?}"));
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let settings = Settings { ports: 8, seed: 0 };
    let mut engine = NativeEngine::new((&program, &compiled), pipeline, settings, worker_ports).expect("it attaches");
    let lpm = |table: &hlir::Table| table.keys.iter().any(|key| key.kind == hlir::MatchKind::Lpm);
    let (id, table) = program.tables.iter().find(|(_, table)| lpm(table)).expect("ipv4fwd has routes");
    let generated = Origin::Generated { table: table.name.clone(), count: COUNT as u64, seed: 3 };
    let loaded = entries::load(&mut engine, &[generated], 8).unwrap_or_else(|failure| panic!("{failure:?}"));
    assert_eq!(loaded, COUNT as u64);
    assert_eq!(engine.store().entry_count(id), COUNT);
    let stored: Vec<hlir::Entry> = engine.store().entries(id).map(|stored| stored.entry).collect();
    for entry in &stored {
        assert!(engine.insert(id, entry).is_err(), "it is there already: {entry:?}");
        engine.modify(id, entry).unwrap_or_else(|refusal| panic!("{refusal}: {entry:?}"));
    }
    for key in engine.store().written(id) {
        engine.delete(&key).unwrap_or_else(|refusal| panic!("{refusal}: {key:?}"));
    }
    assert_eq!(engine.store().entry_count(id), 0);
    for entry in &stored {
        engine.insert(id, entry).unwrap_or_else(|refusal| panic!("{refusal}: {entry:?}"));
    }
}
