//! Value joins: the same random programs with all legal ones made.

use super::{PORTS, compare, in_memory, loaded, passes};
use control::plane::{Element, EntryKey, Frame};
use control::{DataPlane, Update};
use driver::entries::{self, Origin};
use driver::frontend::Loaded;
use driver::options::{Native, Passes};
use driver::random::Random;
use driver::{compile, frontend};
use hlir::entry::EntryAction;
use hlir::join::{derive_places, node_of};
use hlir::{ActionCall, Entry, Match, Program, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Settings, Trace};
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A plan with value joins of as many tables as possible, each in one at most, in a file of its own: tests that run
/// beside one another ask for the same seeds.
fn pins(program: &Program) -> Option<PathBuf> {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let ids: Vec<TableId> = program.tables.iter().map(|(table, _)| table).collect();
    let (mut used, mut lines) = (Vec::new(), String::new());
    for (first, second) in ids.iter().flat_map(|first| ids.iter().map(move |second| (*first, *second))) {
        let is_free = first != second && !used.contains(&first) && !used.contains(&second);
        let Some(node) = node_of(program, second).filter(|_| is_free) else { continue };
        if derive_places(program, [first, second], node, None).is_ok() {
            used.extend([first, second]);
            let [first, second] = [first, second].map(|table| program.tables[table].name.as_str());
            lines.push_str(&format!("  join {first} with {second} by value\n"));
        }
    }
    if lines.is_empty() {
        return None;
    }
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("bacus-values-{}-{number}.plan", std::process::id()));
    fs::write(&file, format!("plan {{\n{lines}}}\n")).expect("a temporary file can be written");
    Some(file)
}

/// Passes with a plan of [`pins`], whose file goes with them.
pub struct Pinned(Passes);

impl Deref for Pinned {
    type Target = Passes;

    fn deref(&self) -> &Passes {
        &self.0
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.0.pin.iter().for_each(|file| drop(fs::remove_file(file)));
    }
}

/// The passes, with all value joins made.
pub fn by_value(seed: u64, names: &[&str]) -> Option<Pinned> {
    Some(Pinned(Passes { pin: Some(pins(&loaded(seed).program)?), ..passes(names) }))
}

fn joined(seed: u64) -> Option<Program> {
    let passes = by_value(seed, &["join"])?;
    let done = frontend::optimize(loaded(seed), &passes, Some("join"));
    let (program, _) = done.unwrap_or_else(|failure| panic!("seed {seed}: {failure:?}"));
    let complaints = hlir::verify::verify(&program);
    assert!(complaints.is_empty(), "seed {seed}: {complaints:#?}\n{}", hlir::text::print_program(&program));
    let text = hlir::text::print_program(&program);
    assert_eq!(hlir::text::parse_program(&text).as_ref(), Ok(&program), "the text is the program");
    Some(program)
}

/// Value joins, the hits in them, in those that count at elements, in those over entries with idle timeouts, and those
/// that represent a miss of the second table.
#[derive(Debug, Default)]
struct Found {
    tables: usize,
    hits: u64,
    of_direct_elements: u64,
    of_aged: u64,
    of_prefixes: u64,
    missed: u64,
}

impl Found {
    fn add(&mut self, program: &Program, plane: &mut dyn DataPlane) {
        for join in program.joins.iter().filter(|join| join.place.is_some()) {
            let hits = plane.table_counts(join.table).hits;
            self.tables += 1;
            self.hits += hits;
            self.of_direct_elements += if program.has_direct_elements(join.second) { hits } else { 0 };
            self.of_aged += if program.tables[join.second].idle_timeout.is_some() { hits } else { 0 };
            self.of_prefixes += if program.tables[join.first].has_priorities() { hits } else { 0 };
            let misses = |counter| plane.read_counter(counter, &Element::Index(0)).expect("it has an element").packets;
            self.missed += join.objects.misses.map_or(0, misses);
        }
    }
}

#[test]
fn packets_see_no_value_join_in_the_interpreter() {
    let mut found = Found::default();
    for seed in 0..220 {
        let Some(joined) = joined(seed) else { continue };
        let program = loaded(seed).program;
        let mut switch = interp::Switch::new(&joined, 0, PORTS);
        compare(seed, &program, &mut switch, 40);
        found.add(&joined, &mut switch);
    }
    let of_kinds = [found.of_direct_elements, found.of_aged, found.of_prefixes, found.missed];
    let enough = found.tables > 30 && found.hits > 3_000 && of_kinds.iter().all(|hits| *hits > 300);
    assert!(enough, "{found:?}: the test shows little");
}

/// Value joins with few places.
#[test]
fn packets_see_no_value_join_without_places() {
    let (mut full, mut hits) = (0, 0);
    for seed in 0..220 {
        let Some(mut joined) = joined(seed) else { continue };
        let program = loaded(seed).program;
        joined.joins.iter_mut().filter(|join| join.place.is_some()).for_each(|join| join.limit = 1 + seed % 3);
        let mut switch = interp::Switch::new(&joined, 0, PORTS);
        compare(seed, &program, &mut switch, 60);
        let notices = switch.take_notices();
        full += notices.iter().filter(|notice| notice.contains("has no place left")).count();
        assert!(notices.iter().all(|notice| !notice.contains("is not used")), "seed {seed}: {notices:#?}");
        let mut found = Found::default();
        found.add(&joined, &mut switch);
        hits += found.hits;
    }
    assert!(full > 15 && hits > 500, "full {full} times, {hits} hits: the test shows little");
}

#[test]
fn packets_see_no_value_join_in_native_code() {
    let is_wanted = |program: &Program| {
        let mut placed = program.joins.iter().filter(|join| join.place.is_some());
        placed.any(|join| program.has_direct_elements(join.second) && program.has_own_records(join.first))
    };
    let is_hit = |seed: u64, joined: &Program| {
        let mut switch = interp::Switch::new(joined, 0, PORTS);
        compare(seed, &loaded(seed).program, &mut switch, 40);
        let mut found = Found::default();
        found.add(joined, &mut switch);
        found.hits > 100
    };
    let is_good = |seed: &u64| joined(*seed).is_some_and(|program| is_wanted(&program) && is_hit(*seed, &program));
    let seeds = (0..).filter(is_good).take(4);
    for (seed, names) in seeds.zip([
        &["join"][..],
        &["join", "structures"],
        &["constants", "dead", "join", "structures", "joint", "hot_path", "batches", "groups", "prefetch"],
        &["constants", "dead", "join", "structures", "joint", "hot_path", "batches", "groups", "vector", "prefetch"],
    ]) {
        let program = loaded(seed).program;
        let passes = by_value(seed, names).expect("it has value joins");
        let (pipeline, compiled) = compile::pipeline(loaded(seed), &passes, &Native::default(), in_memory)
            .unwrap_or_else(|failure| panic!("seed {seed} compiles: {failure:?}"));
        let worker_ports = || vec![MemoryPort::new(Buffers::default())];
        let settings = Settings { ports: PORTS, seed: 0 };
        let mut engine =
            NativeEngine::new((&program, &compiled), pipeline, settings, worker_ports).expect("it attaches");
        compare(seed, &program, &mut engine, 200);
        let hits: u64 = compiled.joins.iter().map(|join| engine_hits(&mut engine, &compiled, join.table)).sum();
        assert!(hits > 100, "seed {seed}: {hits} hits show little");
    }
}

fn engine_hits(engine: &mut NativeEngine<'_, MemoryPort>, compiled: &Program, table: TableId) -> u64 {
    let name = &compiled.tables[table].name;
    let number = engine.switch().tables().iter().position(|found| found.description().name == *name);
    number.map_or(0, |number| engine.switch().hits(number).0)
}

fn program_of_routes() -> Program {
    hlir::text::parse_program(include_str!("routes.hlir")).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// `routes` and `hops` joined by value, with so few places that each is used again all the time.
fn joined_routes(limit: u64) -> Program {
    let program = program_of_routes();
    let passes = Pinned(Passes { pin: pins(&program), ..passes(&["join"]) });
    let loaded = Loaded { program, plan: None };
    let (mut joined, _) = frontend::optimize(loaded, &passes, Some("join")).expect("it is legal");
    let table = joined.joins[0].table;
    joined.joins[0].limit = limit;
    joined.tables[table].size = Some(limit);
    assert_eq!(hlir::verify::verify(&joined), []);
    joined
}

/// Routes that move from one next hop to another, and next hops that come and go, while packets flow: no packet finds
/// another next hop than that of its route.
#[test]
fn each_packet_finds_the_next_hop_of_its_route_while_places_are_used_again() {
    let (plain, joined) = (program_of_routes(), joined_routes(3));
    let names = ["constants", "dead", "structures", "hot_path", "batches", "groups", "prefetch"];
    let loaded = Loaded { program: joined, plan: None };
    let (pipeline, compiled) = compile::pipeline(loaded, &passes(&names), &Native::default(), in_memory)
        .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"));
    let worker_ports = || (0..2).map(|_| MemoryPort::new(Buffers::default())).collect();
    let settings = Settings { ports: PORTS, seed: 0 };
    let mut engine = NativeEngine::new((&plain, &compiled), pipeline, settings, worker_ports).expect("it attaches");
    let [routes, hops] = [0, 1].map(|table: u32| TableId::from_raw(table.into()));
    (1..=8).for_each(|number| engine.insert(hops, &hop(number)).expect("there is room"));
    (0..2).for_each(|at| engine.insert(routes, &route(at, 1)).expect("there is room"));
    let frames: Vec<Vec<u8>> = (0..64).map(|at| [&[20 + at as u8 % 2, 1, 2, 3][..], &[0; 60]].concat()).collect();
    for worker in 0..2 {
        let trace = Trace::new(frames.iter().map(|frame| (0, frame.as_slice())));
        engine.switch().ports_of(worker).expect("it does not run yet").load(trace, u64::MAX, 0);
    }
    engine.switch().start();
    let (begin, mut turn) = (Instant::now(), 0);
    while begin.elapsed() < Duration::from_secs(2) || turn < 300 {
        turn += 1;
        engine.modify(routes, &route(0, 1 + turn % 8)).expect("it is there");
        engine.modify(routes, &route(1, 1 + (turn + 3) % 8)).expect("it is there");
        if turn % 5 == 0 {
            engine.delete(&key(hops, &hop(1 + turn % 8))).expect("it is there");
            engine.insert(hops, &hop(1 + turn % 8)).expect("it is not there");
        }
    }
    let torn = plain.counters.iter().find(|(_, counter)| counter.name == "torn").expect("it is declared").0;
    assert_eq!(
        engine.read_counter(torn, &Element::Index(0)).expect("it has an element").packets,
        0,
        "behind {turn} turns"
    );
    engine.switch().stop();
    assert_eq!(engine.take_notices(), Vec::<String>::new());
    let hits = engine_hits(&mut engine, &compiled, compiled.joins[0].table);
    assert!(hits > 10_000, "{hits} hits: the test shows little");
}

fn hop(number: u32) -> Entry {
    let call = ActionCall { action: 0, arguments: vec![number.into()] };
    Entry { matches: vec![Match::Exact(number.into())], priority: 0, action: EntryAction::Call(call), constant: false }
}

/// A route of packets whose address begins with 20 and so much more.
fn route(at: u32, hop: u32) -> Entry {
    let call = ActionCall { action: 0, arguments: vec![hop.into(), at.into()] };
    let matches = vec![Match::Lpm { value: ((20 + u64::from(at)) << 24).into(), prefix: 8 }];
    Entry { matches, priority: 0, action: EntryAction::Call(call), constant: false }
}

fn key(table: TableId, entry: &Entry) -> EntryKey {
    EntryKey { table, matches: entry.matches.clone(), priority: 0 }
}

/// Pipelines with the value join, with fewer places, without it, and with a joint table take each other's place. The
/// first two may have records of `routes` in common, with places of the pipeline before.
#[test]
fn packets_see_no_exchange_of_pipelines_with_value_joins() {
    let program = program_of_routes();
    let compiled = |joined: Option<u64>, names: &[&str]| {
        let program = joined.map_or_else(program_of_routes, joined_routes);
        let loaded = Loaded { program, plan: None };
        compile::pipeline(loaded, &passes(names), &Native::default(), in_memory)
            .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"))
    };
    let pipelines = [
        compiled(Some(1023), &["structures"]),
        compiled(Some(600), &["structures"]),
        compiled(None, &["structures"]),
        compiled(None, &["join", "structures"]),
    ];
    let (first, first_program) = &pipelines[0];
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let settings = Settings { ports: PORTS, seed: 0 };
    let mut engine =
        NativeEngine::new((&program, first_program), first.clone(), settings, worker_ports).expect("it attaches");
    let mut plain = interp::Switch::new(&program, 0, PORTS);
    let [routes, hops] = [0, 1].map(|table: u32| TableId::from_raw(table.into()));
    let torn = program.counters.iter().find(|(_, counter)| counter.name == "torn").expect("it is declared").0;
    let mut random = Random::new(7);
    for turn in 0..200 {
        for _ in 0..4 {
            let (at, number) = (random.below(4) as u32, 1 + random.below(6) as u32);
            let (route, hop) = (route(at, number), hop(number));
            let update = match random.below(6) {
                0 => Update::Insert { table: hops, entry: hop },
                1 => Update::Delete(key(hops, &hop)),
                2 => Update::Delete(key(routes, &route)),
                3 => Update::Modify { table: routes, entry: route },
                _ => Update::Insert { table: routes, entry: route },
            };
            let [one, two] = [plain.write(&update), engine.write(&update)].map(|done| done.map_err(|it| it.kind));
            assert_eq!(one, two, "turn {turn}: {update:?}");
        }
        let next = if turn % 3 == 0 { random.below(4) as usize } else { turn % 2 };
        let (pipeline, compiled) = &pipelines[next];
        engine.exchange(compiled, pipeline.clone()).expect("a pipeline can take the place of another");
        let frame = |at: u8| Frame { port: 0, bytes: [&[20 + at][..], &[0; 63]].concat() };
        let frames: Vec<Frame> = (0..5).map(frame).collect();
        for plane in [&mut plain as &mut dyn DataPlane, &mut engine] {
            plane.process(&frames).expect("it runs");
        }
        assert_eq!(engine.read_counter(torn, &Element::Index(0)).expect("it has an element").packets, 0, "turn {turn}");
        for table in [routes, hops] {
            let [one, two] = [plain.table_counts(table), engine.table_counts(table)];
            assert_eq!(one, two, "turn {turn}, pipeline {next}");
        }
    }
}

/// Entries of the compact form and entries that are made up are written to the tables alone. They have the data that
/// the program knows, and get their places when the join is filled.
#[test]
fn entries_that_are_loaded_together_get_their_places() {
    let (plain, joined) = (program_of_routes(), joined_routes(1023));
    let loaded = Loaded { program: joined, plan: None };
    let (pipeline, compiled) = compile::pipeline(loaded, &passes(&["structures"]), &Native::default(), in_memory)
        .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"));
    let [routes, hops] = [0, 1].map(|table: u32| TableId::from_raw(table.into()));
    let own: Vec<(TableId, Entry)> = (0..200).map(|at| (routes, route(at, 1 + at))).collect();
    let file = std::env::temp_dir().join(format!("bacus-places-{}.bin", std::process::id()));
    fs::write(&file, entries::compact_form(&plain, &own)).expect("a temporary file can be written");
    let made_up = Origin::Generated { table: "routes".to_string(), count: 400, seed: 3 };
    for (origin, count) in [(Origin::File(file.clone()), 200), (made_up, 400)] {
        let worker_ports = || vec![MemoryPort::new(Buffers::default())];
        let settings = Settings { ports: PORTS, seed: 0 };
        let mut engine =
            NativeEngine::new((&plain, &compiled), pipeline.clone(), settings, worker_ports).expect("it attaches");
        assert_eq!(entries::load(&mut engine, std::slice::from_ref(&origin), PORTS).ok(), Some(count), "{origin}");
        let stored: Vec<Entry> = engine.store().entries(routes).map(|stored| stored.entry).collect();
        let mut frames = Vec::new();
        for entry in stored {
            let (EntryAction::Call(call), Match::Lpm { value, .. }) = (&entry.action, &entry.matches[0]) else {
                panic!("a route has a prefix and an action");
            };
            let number = u32::try_from(&call.arguments[0]).expect("a next hop has 32 bits");
            let _: Result<(), control::Refusal> = engine.insert(hops, &hop(number));
            let address = u32::try_from(value).expect("an address has 32 bits").to_be_bytes();
            frames.push(Frame { port: 0, bytes: [&address[..], &[0; 60]].concat() });
        }
        engine.process(&frames).expect("it runs");
        let torn = plain.counters.iter().find(|(_, counter)| counter.name == "torn").expect("it is declared").0;
        assert_eq!(engine.read_counter(torn, &Element::Index(0)).expect("it has an element").packets, 0, "{origin}");
        assert_eq!(engine.table_counts(hops).hits, count, "{origin}");
        assert_eq!(engine_hits(&mut engine, &compiled, compiled.joins[0].table), count, "{origin}");
    }
    drop(fs::remove_file(file));
}
