//! Hits and misses of the sources of a joint table go on from one pipeline to the next, whether that one has the joint
//! table or not.

use super::values::by_value;
use super::{PORTS, compare_between, in_memory, joined, loaded, passes};
use control::DataPlane as _;
use control::plane::Frame;
use driver::compile;
use driver::frontend::Loaded;
use driver::options::{Native, Passes};
use driver::random::Random;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, Program, Table, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Pipeline, Settings};
use std::sync::Arc;

const PLAIN: &[&str] = &["structures"];
const JOINED: &[&str] = &["join", "structures"];

fn program() -> Program {
    hlir::text::parse_program(include_str!("routes.hlir")).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn compiled(names: &[&str]) -> (Arc<Pipeline>, Program) {
    let loaded = Loaded { program: program(), plan: None };
    compile::pipeline(loaded, &passes(names), &Native::default(), in_memory)
        .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"))
}

fn entry(key: Match, arguments: [u32; 2], count: usize) -> Entry {
    let arguments = arguments.iter().take(count).map(|argument| (*argument).into()).collect();
    let action = EntryAction::Call(ActionCall { action: 0, arguments });
    Entry { matches: vec![key], priority: 0, action, constant: false }
}

#[test]
fn hits_and_misses_of_the_sources_outlive_an_exchange() {
    let program = program();
    let (plain, plain_program) = compiled(PLAIN);
    let (joined, joined_program) = compiled(JOINED);
    assert!(joined_program.joins[0].objects.misses.is_some(), "misses of the second table are counted");
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let settings = Settings { ports: PORTS, seed: 0 };
    let mut engine =
        NativeEngine::new((&program, &joined_program), joined.clone(), settings, worker_ports).expect("it attaches");
    let [routes, hops] = [0, 1].map(|table: u32| TableId::from_raw(table.into()));
    let prefix = |value: u32| Match::Lpm { value: (u64::from(value) << 24).into(), prefix: 8 };
    engine.insert(routes, &entry(prefix(1), [7, 0], 2)).expect("there is room");
    engine.insert(routes, &entry(prefix(2), [8, 0], 2)).expect("there is room");
    engine.insert(hops, &entry(Match::Exact(7u32.into()), [7, 0], 1)).expect("there is room");
    // A route with a hop, one without, and none.
    let frame = |first: u8| Frame { port: 0, bytes: [&[first][..], &[0; 63]].concat() };
    let frames: Vec<Frame> = [1, 1, 2, 2, 2, 9].map(frame).into();
    let pipelines = [(&joined, &joined_program), (&plain, &plain_program)];
    let mut rounds = 0;
    for next in [0, 0, 1, 1, 0, 1, 0, 0] {
        engine.process(&frames).expect("it runs");
        rounds += 1;
        let counts = |engine: &NativeEngine<'_, MemoryPort>| {
            [routes, hops].map(|table| engine.table_counts(table)).map(|counts| (counts.hits, counts.misses))
        };
        let expected = [(5 * rounds, rounds), (2 * rounds, 4 * rounds)];
        assert_eq!(counts(&engine), expected, "behind {rounds} bursts");
        let (pipeline, compiled) = pipelines[next];
        engine.exchange(compiled, pipeline.clone()).expect("a pipeline can take the place of another");
        assert_eq!(counts(&engine), expected, "behind {rounds} bursts and an exchange to pipeline {next}");
    }
}

/// Random programs whose pipelines, without joins, with joint tables and with value joins, take each other's place.
/// Elements and times of entries may begin anew there, and equal priorities another order, so these programs have none.
#[test]
fn packets_see_no_exchange_of_pipelines_with_joins() {
    let is_wanted = |seed: &u64| {
        let plain = loaded(*seed).program;
        let is_plain = |(id, table): (TableId, &Table)| !plain.has_own_records(id) && !table.has_priorities();
        plain.tables.iter().all(is_plain) && !joined(*seed).joins.is_empty() && by_value(*seed, JOINED).is_some()
    };
    for seed in (0..).filter(is_wanted).take(1) {
        let program = loaded(seed).program;
        let compiled = |passes: &Passes| {
            compile::pipeline(loaded(seed), passes, &Native::default(), in_memory)
                .unwrap_or_else(|failure| panic!("seed {seed} compiles: {failure:?}"))
        };
        let values = by_value(seed, JOINED).expect("it has value joins");
        let pipelines = [compiled(&passes(JOINED)), compiled(&values), compiled(&passes(PLAIN))];
        let worker_ports = || vec![MemoryPort::new(Buffers::default())];
        let settings = Settings { ports: PORTS, seed: 0 };
        let (first, compiled) = &pipelines[0];
        let mut engine =
            NativeEngine::new((&program, compiled), first.clone(), settings, worker_ports).expect("it attaches");
        let mut random = Random::new(seed);
        compare_between(seed, &program, &mut engine, 200, |engine, _| {
            let (pipeline, compiled) = &pipelines[random.below(3) as usize];
            engine.exchange(compiled, pipeline.clone()).expect("a pipeline can take the place of another");
        });
        assert_eq!(engine.take_notices(), Vec::<String>::new());
    }
}
