//! Tables that are filled and emptied under packets: a group whose keys were due while a table was empty has made none for it.

use crate::queues::{compiled, example};
use control::DataPlane as _;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Settings, Trace};

const L2FWD: &str = "../../../../apps/l2fwd/l2fwd.p4";
/// A group waits for the next one; the tables have lookups in two halves, and lookups as vector code.
const PLANS: [&str; 4] = ["l2fwd_pipelined.plan", "l2fwd_shared.plan", "l2fwd_vector.plan", "l2fwd_perfect.plan"];
const HOST: u64 = 0x0200_0000_000b;
const BURST: usize = 32;

fn with_engine(plan: &str, test: impl for<'p> FnOnce(&mut NativeEngine<'p, MemoryPort>, &'p Program)) {
    let (pipeline, compiled) = compiled(L2FWD, plan);
    let program = example(L2FWD).program;
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let engine = NativeEngine::new((&program, &compiled), pipeline, Settings { ports: 8, seed: 0 }, worker_ports);
    test(&mut engine.expect("it attaches"), &program);
}

fn ports_of<'e>(engine: &'e mut NativeEngine<'_, MemoryPort>) -> &'e mut MemoryPort {
    engine.switch().ports_of(0).expect("its worker runs here")
}

/// Packets from the host to itself.
fn frames() -> Trace {
    let frame = [&[2, 0, 0, 0, 0, 0xb, 2, 0, 0, 0, 0, 0xb, 8, 0][..], &[0; 50]].concat();
    Trace::new([(1, frame.as_slice())])
}

/// The host's entry in one of the two tables, which runs the first action, or forwards.
fn host(program: &Program, table: &str) -> (TableId, Entry) {
    let (id, declared) = program.tables.iter().find(|(_, other)| other.name.ends_with(table)).expect("l2fwd has it");
    let forwards =
        |action: &hlir::Action| !action.parameters.is_empty() || table == "smac" && action.name == "NoAction";
    let action = declared.actions.iter().position(forwards).expect("it has the action");
    let arguments = declared.actions[action].parameters.iter().map(|_| 2u32.into()).collect();
    let call = ActionCall { action: action as u32, arguments };
    let matches = vec![Match::Exact(HOST.into())];
    (id, Entry { matches, priority: 0, action: EntryAction::Call(call), constant: false })
}

/// Packets that are sent of a burst that is held while `write` runs, where the plan holds one.
fn sent(engine: &mut NativeEngine<'_, MemoryPort>, write: impl FnOnce(&mut NativeEngine<'_, MemoryPort>)) -> usize {
    ports_of(engine).keep_sent();
    ports_of(engine).hold(true);
    ports_of(engine).load(frames(), BURST as u64, 0);
    engine.switch().run(0);
    let before = ports_of(engine).take_sent().len();
    write(engine);
    ports_of(engine).hold(false);
    engine.switch().run(0);
    before + ports_of(engine).take_sent().len()
}

#[test]
fn held_packets_find_what_fills_an_empty_table() {
    with_engine("l2fwd_pipelined.plan", |engine, program| {
        let (id, entry) = host(program, "dmac");
        assert_eq!(sent(engine, |_| ()), 0, "no entry");
        assert_eq!(sent(engine, |engine| engine.insert(id, &entry).expect("it is new")), BURST);
        assert_eq!(sent(engine, |_| ()), BURST);
        let key = engine.store().written(id).into_iter().next().expect("one entry");
        assert_eq!(sent(engine, |engine| engine.delete(&key).expect("it is there")), 0);
        assert_eq!(sent(engine, |_| ()), 0);
    });
}

#[test]
fn tables_are_filled_and_emptied_under_traffic_and_no_packet_is_lost() {
    const CHANGES: usize = 300;
    for plan in PLANS {
        with_engine(plan, |engine, program| {
            ports_of(engine).load(frames(), u64::MAX, 0);
            engine.switch().start();
            for _ in 0..CHANGES {
                for table in ["smac", "dmac"] {
                    let (id, entry) = host(program, table);
                    engine.insert(id, &entry).unwrap_or_else(|refusal| panic!("{plan}: {refusal}"));
                }
                for table in ["dmac", "smac"] {
                    let (id, _) = host(program, table);
                    let key = engine.store().written(id).into_iter().next().expect("one entry");
                    engine.delete(&key).unwrap_or_else(|refusal| panic!("{plan}: {refusal}"));
                }
            }
            engine.switch().stop();
            let dropped: u64 = engine.switch().drops().iter().sum();
            let counts = ports_of(engine).counts();
            assert_eq!((counts.received, ports_of(engine).held()), (counts.sent + dropped, 0), "{plan}: {counts:?}");
            assert!(dropped > 0, "{plan}: {counts:?}");
        });
    }
}
