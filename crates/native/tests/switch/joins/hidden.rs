//! A complete joint table that the host hides: packets look up the sources, whichever code looks it up.

use super::{PORTS, in_memory, passes};
use control::DataPlane as _;
use control::plane::{EntryKey, Frame};
use driver::compile;
use driver::frontend::Loaded;
use driver::options::Native;
use hlir::entry::EntryAction;
use hlir::plan::{Loop, Structure, TablePlan};
use hlir::{ActionCall, Entry, Match, Plan, Program, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Settings, Table};
use std::sync::Arc;

const JOINT: &str = "routes+hops";

fn program() -> Program {
    hlir::text::parse_program(include_str!("routes.hlir")).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// The program with the joint table, whose lookups are made by this loop in this structure.
fn engine(program: &Program, group: u32, structure: Structure) -> NativeEngine<'static, MemoryPort> {
    let in_lists = |plan: &mut Plan| {
        in_memory(plan);
        plan.burst = 128;
        let node = JOINT.to_string();
        plan.loops.push(Loop {
            node,
            batch: 128,
            group,
            vector: 1,
            lookups: Vec::new(),
            prefetches: Vec::new(),
            reason: None,
        });
        plan.tables.push(TablePlan { table: JOINT.to_string(), structure, reason: None });
    };
    let loaded = Loaded { program: program.clone(), plan: None };
    let (pipeline, compiled) = compile::pipeline(loaded, &passes(&["join"]), &Native::default(), in_lists)
        .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"));
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let settings = Settings { ports: PORTS, seed: 0 };
    NativeEngine::new((program, &compiled), pipeline, settings, worker_ports).expect("it attaches")
}

fn entry(key: Match, arguments: &[u32]) -> Entry {
    let arguments = arguments.iter().map(|argument| (*argument).into()).collect();
    let action = EntryAction::Call(ActionCall { action: 0, arguments });
    Entry { matches: vec![key], priority: 0, action, constant: false }
}

fn route(first: u32, hop: u32) -> Entry {
    entry(Match::Lpm { value: (u64::from(first) << 24).into(), prefix: 8 }, &[hop, 0])
}

fn hop(number: u32) -> Entry {
    entry(Match::Exact(number.into()), &[number])
}

fn tables() -> [TableId; 2] {
    [0, 1].map(|table: u32| TableId::from_raw(table.into()))
}

/// The joint table and its number.
fn joint(engine: &mut NativeEngine<'_, MemoryPort>) -> (usize, Arc<Table>) {
    let tables = engine.switch().tables();
    let number = tables.iter().position(|table| table.description().name == JOINT).expect("packets look it up");
    (number, tables[number].clone())
}

/// Hits in the joint table of a burst for each of these routes.
fn hits(engine: &mut NativeEngine<'_, MemoryPort>, routes: &[u8]) -> u64 {
    let (number, _) = joint(engine);
    let before = engine.switch().hits(number).0;
    let frame = |first: &u8| Frame { port: 0, bytes: [&[*first][..], &[0; 63]].concat() };
    engine.process(&routes.iter().map(frame).collect::<Vec<Frame>>()).expect("it runs");
    engine.switch().hits(number).0 - before
}

/// Structures with lookups of groups and without; and groups that are too large for those.
#[test]
fn packets_find_no_entry_of_a_hidden_joint_table() {
    let program = program();
    let [routes, hops] = tables();
    for (group, structure) in [(8, Structure::LpmTrie), (8, Structure::List), (128, Structure::LpmTrie)] {
        let mut engine = engine(&program, group, structure);
        engine.insert(routes, &route(1, 7)).expect("there is room");
        engine.insert(hops, &hop(7)).expect("there is room");
        assert_eq!(hits(&mut engine, &[1, 1, 2]), 2, "{structure:?} in groups of {group}");
        let (_, table) = joint(&mut engine);
        let entries = table.entries();
        table.withdraw().expect("there is memory");
        for entry in &entries {
            table.insert(&entry.matches, &entry.record).expect("there is room");
        }
        assert_eq!(hits(&mut engine, &[1, 1, 2]), 0, "{structure:?} in groups of {group}, hidden");
        table.show();
        assert_eq!(hits(&mut engine, &[1, 1, 2]), 2, "{structure:?} in groups of {group}, shown");
    }
}

/// Entries are loaded without the joint tables, which are emptied before and filled after: that is not reported.
#[test]
fn writes_while_joint_tables_are_empty_are_found_when_they_are_filled() {
    let mut program = program();
    let [routes, hops] = tables();
    Arc::make_mut(&mut program.tables[routes].entries).extend([route(1, 7), route(2, 8)]);
    Arc::make_mut(&mut program.tables[hops].entries).push(hop(7));
    let mut engine = engine(&program, 8, Structure::LpmTrie);
    assert_eq!(hits(&mut engine, &[1, 2, 3]), 2);
    engine.clear_joins();
    assert_eq!(hits(&mut engine, &[1, 2, 3]), 0);
    engine.insert(hops, &hop(8)).expect("there is room");
    engine.delete(&EntryKey { table: hops, matches: hop(7).matches, priority: 0 }).expect("it is there");
    engine.modify(routes, &route(2, 7)).expect("it is there");
    engine.insert(routes, &route(3, 8)).expect("there is room");
    engine.fill_joins();
    assert_eq!(engine.take_notices(), Vec::<String>::new());
    assert_eq!(hits(&mut engine, &[1, 2, 3, 4]), 3);
}
