//! A complete joint table while packets flow: whatever is written, emptied or filled again, each packet finds the longest
//! prefix, and the next hop of its own route.

use super::passes;
use control::DataPlane as _;
use control::plane::{Element, EntryKey};
use driver::compile;
use driver::frontend::{self, Loaded};
use driver::options::Native;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Settings, Trace};
use std::time::{Duration, Instant};

const WORKERS: usize = 2;
/// Prefixes of 16 bits: a shorter one covers them, one is always there, one comes and goes.
const SHORTER: u32 = 0x0a00;
const STAYS: u32 = 0x0a01;
const COMES: u32 = 0x0a02;
const NEVER: u32 = 0x0a03;
/// More routes than the joint table may have.
const MANY: u32 = 1100;

/// The program, and what the pass makes of it: with room for 1,024 products, though its own tables have any number.
fn programs() -> (Program, Program) {
    let text = include_str!("routes.hlir");
    let plain = hlir::text::parse_program(text).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut small = plain.clone();
    small.tables.iter_mut().for_each(|(_, table)| table.size = Some(64));
    let loaded = Loaded { program: small, plan: None };
    let (mut joined, _) = frontend::optimize(loaded, &passes(&["join"]), Some("join")).expect("it is legal");
    joined.tables.iter_mut().filter(|(_, table)| table.size == Some(64)).for_each(|(_, table)| table.size = None);
    assert!(joined.joins[0].is_complete(&joined) && joined.joins[0].limit == 1024);
    (plain, joined)
}

fn route(prefix: u32, length: u32, hop: u32) -> Entry {
    let call = ActionCall { action: 0, arguments: vec![hop.into(), prefix.into()] };
    let matches = vec![Match::Lpm { value: (u64::from(prefix) << 16).into(), prefix: length }];
    Entry { matches, priority: 0, action: EntryAction::Call(call), constant: false }
}

fn hop(number: u32) -> Entry {
    let call = ActionCall { action: 0, arguments: vec![number.into()] };
    Entry { matches: vec![Match::Exact(number.into())], priority: 0, action: EntryAction::Call(call), constant: false }
}

fn key(table: TableId, entry: &Entry) -> EntryKey {
    EntryKey { table, matches: entry.matches.clone(), priority: 0 }
}

#[test]
fn each_packet_finds_its_longest_prefix_while_a_complete_joint_table_is_written() {
    let (plain, joined) = programs();
    let names = ["constants", "dead", "structures", "hot_path", "batches", "groups", "prefetch"];
    let loaded = Loaded { program: joined, plan: None };
    let (pipeline, compiled) = compile::pipeline(loaded, &passes(&names), &Native::default(), super::in_memory)
        .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"));
    let worker_ports = || (0..WORKERS).map(|_| MemoryPort::new(Buffers::default())).collect();
    let settings = Settings { ports: 8, seed: 0 };
    let mut engine = NativeEngine::new((&plain, &compiled), pipeline, settings, worker_ports).expect("it attaches");
    let [routes, hops] = [0, 1].map(|table: u32| TableId::from_raw(table.into()));
    for entry in [route(SHORTER, 8, 1), route(STAYS, 16, 2)] {
        engine.insert(routes, &entry).expect("there is room");
    }
    (1..=3).for_each(|number| engine.insert(hops, &hop(number)).expect("there is room"));
    let frame = |prefix: u32| [&(prefix << 16 | 1).to_be_bytes()[..], &[0; 60]].concat();
    let frames: Vec<Vec<u8>> = (0..64).map(|at| frame([STAYS, COMES, NEVER, SHORTER + 9][at % 4])).collect();
    for worker in 0..WORKERS {
        let trace = Trace::new(frames.iter().map(|frame| (0, frame.as_slice())));
        engine.switch().ports_of(worker).expect("it does not run yet").load(trace, u64::MAX, 0);
    }
    engine.switch().start();
    let (begin, mut round, mut notices) = (Instant::now(), 0, Vec::new());
    while begin.elapsed() < Duration::from_secs(2) || round < 3 {
        round += 1;
        for turn in 0..50 {
            engine.insert(routes, &route(COMES, 16, 3)).expect("it is not there");
            engine.modify(routes, &route(STAYS, 16, 1 + turn % 3)).expect("it is there");
            engine.modify(routes, &route(COMES, 16, 2)).expect("it is there");
            engine.delete(&key(hops, &hop(2))).expect("it is there");
            engine.delete(&key(routes, &route(COMES, 16, 3))).expect("it is there");
            engine.insert(hops, &hop(2)).expect("it is not there");
        }
        // Past the limit, and back.
        let others = || (0..MANY).map(|at| route(0x1000 + at, 16, 1 + at % 3));
        others().for_each(|entry| engine.insert(routes, &entry).expect("a source is never full"));
        others().for_each(|entry| engine.delete(&key(routes, &entry)).expect("it is there"));
        notices.extend(engine.take_notices());
    }
    let mut count = |name: &str| {
        let counter = plain.counters.iter().find(|(_, counter)| counter.name == name).expect("it is declared").0;
        engine.read_counter(counter, &Element::Index(0)).expect("it has an element").packets
    };
    assert_eq!([count("wrong"), count("torn")], [0, 0], "behind {round} rounds");
    let again = notices.iter().filter(|notice| notice.contains("again")).count();
    assert_eq!((notices.len(), again), (2 * round, round), "{notices:?}");
    engine.switch().stop();
    let joint = compiled.joins[0].table;
    let number =
        engine.switch().tables().iter().position(|table| table.description().name == compiled.tables[joint].name);
    let (hits, misses) = engine.switch().hits(number.expect("it is looked up"));
    assert!(hits > 10_000 && misses > 1_000, "{hits} hits, {misses} misses: the test shows little");
}
