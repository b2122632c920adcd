//! The time since an entry was last hit: since it was inserted, if no packet has hit it, however it came to the table.

use control::plane::{EntryKey, Frame};
use control::{DataPlane, Update};
use driver::entries::{self, Origin};
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::entry::EntryAction;
use hlir::plan::Descriptor;
use hlir::{ActionCall, Entry, Match, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Settings};
use std::path::Path;

const SECOND: u64 = 1_000_000_000;

fn engine() -> (NativeEngine<'static, MemoryPort>, TableId) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/architectures/v1model_idle.p4");
    let loaded = frontend::load(&Source::plain(&file)).expect("it is a program");
    let program = loaded.program.clone();
    let id = program.tables.iter().find(|(_, table)| table.name.ends_with("exactly")).expect("it has the table").0;
    let (pipeline, compiled) =
        compile::pipeline(loaded, &Passes::default(), &Native::default(), |plan| plan.descriptor = Descriptor::Own)
            .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"));
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let settings = Settings { ports: 8, seed: 0 };
    (NativeEngine::new((&program, &compiled), pipeline, settings, worker_ports).expect("it attaches"), id)
}

fn entry(key: u16, port: u64) -> Entry {
    let action = EntryAction::Call(ActionCall { action: 0, arguments: vec![port.into()] });
    Entry { matches: vec![Match::Exact(key.into())], priority: 0, action, constant: false }
}

fn idle(engine: &NativeEngine<'_, MemoryPort>, table: TableId, key: u16) -> u64 {
    let key = EntryKey { table, matches: vec![Match::Exact(key.into())], priority: 0 };
    engine.since_last_hit_ns(&key).expect("the entry is there") / SECOND
}

#[test]
fn an_entry_without_a_hit_and_a_timeout_is_idle_since_it_was_inserted() {
    let (mut engine, table) = engine();
    engine.set_clock(5000 * SECOND);
    engine.insert(table, &entry(1, 1)).expect("there is room");
    engine.set_clock(5002 * SECOND);
    let batch = [2, 3].map(|key| Update::Insert { table, entry: entry(key, 2) });
    engine.write_all(&batch).into_iter().for_each(|outcome| drop(outcome.expect("there is room")));
    engine.set_clock(5005 * SECOND);
    let name = engine.program().tables[table].name.clone();
    let generated = Origin::Generated { table: name, count: 4, seed: 1 };
    entries::load(&mut engine, &[generated], 8).unwrap_or_else(|failure| panic!("{failure:?}"));
    engine.set_clock(5009 * SECOND);
    assert_eq!([1, 2, 3].map(|key| idle(&engine, table, key)), [9, 7, 7]);
    let loaded = engine.store().written(table);
    let of_loaded = |key: &&EntryKey| engine.since_last_hit_ns(key).is_ok_and(|idle| idle == 4 * SECOND);
    assert_eq!(loaded.iter().filter(of_loaded).count(), 4, "they came together, by the million if need be");
    // Another action is no hit; a packet is one.
    engine.modify(table, &entry(1, 3)).expect("it is there");
    assert_eq!(idle(&engine, table, 1), 9);
    engine.process(&[Frame { port: 0, bytes: vec![0, 1] }]).expect("the program runs");
    engine.set_clock(5010 * SECOND);
    assert_eq!([1, 2].map(|key| idle(&engine, table, key)), [1, 8]);
}
