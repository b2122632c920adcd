//! A batch is written as its updates would be one by one: with the same answers, and the same entries behind them.

use control::{DataPlane, Refusal, RefusalKind, Update};
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::entry::EntryAction;
use hlir::plan::{Descriptor, Structure, TablePlan};
use hlir::{ActionCall, Entry, Match, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Settings};
use std::path::Path;

/// Entries that a table of this structure takes.
const ROOM: u32 = 32;

fn engine() -> (NativeEngine<'static, MemoryPort>, TableId) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/l2fwd/l2fwd.p4");
    let loaded = frontend::load(&Source::plain(&file)).expect("l2fwd is a program");
    let program = loaded.program.clone();
    let (id, declared) =
        program.tables.iter().find(|(_, table)| table.name.ends_with("dmac")).expect("it has the table");
    let table = declared.name.clone();
    let (pipeline, compiled) = compile::pipeline(loaded, &Passes::default(), &Native::default(), |plan| {
        plan.descriptor = Descriptor::Own;
        plan.tables.retain(|planned| planned.table != table);
        plan.tables.push(TablePlan { table, structure: Structure::Compare, reason: None });
    })
    .unwrap_or_else(|failure| panic!("l2fwd compiles: {failure:?}"));
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let settings = Settings { ports: 8, seed: 0 };
    (NativeEngine::new((&program, &compiled), pipeline, settings, worker_ports).expect("it attaches"), id)
}

fn updates(engine: &NativeEngine<'_, MemoryPort>, table: TableId) -> Vec<Update> {
    let actions = &engine.store().program().tables[table].actions;
    let action = actions.iter().position(|action| action.parameters.len() == 1).expect("one sends to a port") as u32;
    let entry = |key: u64, port: u64| Entry {
        matches: vec![Match::Exact(key.into())],
        priority: 0,
        action: EntryAction::Call(ActionCall { action, arguments: vec![port.into()] }),
        constant: false,
    };
    let insert = |key: u64, port: u64| Update::Insert { table, entry: entry(key, port) };
    let mut updates: Vec<Update> = (1..=10).map(|key| insert(key, key % 8)).collect();
    // There already; too wide, for the store; another kind of update between; then more than there is room for, with gaps in between.
    updates.extend([insert(3, 1), insert(11, 1 << 40), insert(12, 2)]);
    updates.push(Update::Modify { table, entry: entry(12, 5) });
    updates.extend((20..60).map(|key| insert(key, 1)));
    updates.extend([insert(20, 1), insert(61, 1)]);
    updates
}

#[test]
fn a_batch_is_answered_as_its_updates_are_one_by_one() {
    let ((mut together, table), (mut alone, _)) = (engine(), engine());
    let updates = updates(&together, table);
    let kind = |outcome: Result<(), Refusal>| outcome.map_err(|refusal| (refusal.kind, refusal.sentence));
    let answers: Vec<_> = together.write_all(&updates).into_iter().map(|outcome| kind(outcome.map(drop))).collect();
    let expected: Vec<_> = updates.iter().map(|update| kind(alone.write(update).map(drop))).collect();
    assert_eq!(answers, expected);
    let of = |wanted: RefusalKind| {
        answers.iter().filter(|answer| answer.as_ref().is_err_and(|(kind, _)| *kind == wanted)).count()
    };
    let counts = [RefusalKind::Exists, RefusalKind::Full].map(of);
    assert_eq!(counts, [2, 40 + 1 - (ROOM as usize - 11)]);
    assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), counts.iter().sum::<usize>() + 1);
    let entries = |engine: &NativeEngine<'_, MemoryPort>| {
        let mut rows: Vec<_> = engine.store().rows().collect();
        rows.sort();
        rows
    };
    assert_eq!(entries(&together), entries(&alone));
    assert_eq!(together.store().entry_count(table), ROOM as usize);
    let number = together.table_number(table).expect("packets look it up");
    assert_eq!(together.switch().tables()[number].len(), u64::from(ROOM));
    // All of them can be taken back.
    for key in together.store().written(table) {
        together.delete(&key).expect("it is there");
    }
    assert_eq!(together.switch().tables()[number].len(), 0);
}
