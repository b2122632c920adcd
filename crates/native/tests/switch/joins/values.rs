//! Value joins: the same random programs with all legal ones made.

use super::{PORTS, compare, in_memory, loaded, passes};
use control::DataPlane;
use driver::options::{Native, Passes};
use driver::{compile, frontend};
use hlir::join::{derive_places, node_of};
use hlir::{Program, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Settings};
use std::fs;
use std::path::PathBuf;

/// A plan with value joins of as many tables as possible, each in one at most.
fn pins(program: &Program, name: &str) -> Option<PathBuf> {
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
    let file = std::env::temp_dir().join(format!("bacus-values-{}-{name}.plan", std::process::id()));
    fs::write(&file, format!("plan {{\n{lines}}}\n")).expect("a temporary file can be written");
    (!lines.is_empty()).then_some(file)
}

/// The passes, with all value joins made.
fn by_value(seed: u64, names: &[&str]) -> Option<Passes> {
    let program = loaded(seed).program;
    let name = format!("{seed}-{}", names.len());
    Some(Passes { pin: Some(pins(&program, &name)?), ..passes(names) })
}

fn joined(seed: u64) -> Option<Program> {
    let passes = by_value(seed, &["join"])?;
    let done = frontend::optimize(loaded(seed), &passes, Some("join"));
    let (program, _) = done.unwrap_or_else(|failure| panic!("seed {seed}: {failure:?}"));
    drop(fs::remove_file(passes.pin?));
    let complaints = hlir::verify::verify(&program);
    assert!(complaints.is_empty(), "seed {seed}: {complaints:#?}\n{}", hlir::text::print_program(&program));
    let text = hlir::text::print_program(&program);
    assert_eq!(hlir::text::parse_program(&text).as_ref(), Ok(&program), "the text is the program");
    Some(program)
}

/// Value joins, the hits in them, in those that count at cells, and in those over entries with idle timeouts.
#[derive(Debug, Default)]
struct Found {
    tables: usize,
    hits: u64,
    of_cells: u64,
    of_aged: u64,
    of_prefixes: u64,
}

impl Found {
    fn add(&mut self, program: &Program, plane: &dyn DataPlane) {
        for join in program.joins.iter().filter(|join| join.place.is_some()) {
            let hits = plane.table_counts(join.table).hits;
            self.tables += 1;
            self.hits += hits;
            self.of_cells += if program.has_cells(join.second) { hits } else { 0 };
            self.of_aged += if program.tables[join.second].idle_timeout.is_some() { hits } else { 0 };
            self.of_prefixes += if program.tables[join.first].has_priorities() { hits } else { 0 };
        }
    }
}

#[test]
fn packets_see_no_value_join_in_the_interpreter() {
    let mut found = Found::default();
    for seed in 0..150 {
        let Some(joined) = joined(seed) else { continue };
        let program = loaded(seed).program;
        let mut switch = interp::Switch::new(&joined, 0, PORTS);
        compare(seed, &program, &mut switch, 40);
        found.add(&joined, &switch);
    }
    let of_kinds = [found.of_cells, found.of_aged, found.of_prefixes];
    let enough = found.tables > 30 && found.hits > 3_000 && of_kinds.iter().all(|hits| *hits > 300);
    assert!(enough, "{found:?}: the test says little");
}

/// Value joins with few places.
#[test]
fn packets_see_no_value_join_without_places() {
    let (mut full, mut hits) = (0, 0);
    for seed in 0..150 {
        let Some(mut joined) = joined(seed) else { continue };
        let program = loaded(seed).program;
        joined.joins.iter_mut().filter(|join| join.place.is_some()).for_each(|join| join.limit = 1 + seed % 3);
        let mut switch = interp::Switch::new(&joined, 0, PORTS);
        compare(seed, &program, &mut switch, 60);
        let notices = switch.take_notices();
        full += notices.iter().filter(|notice| notice.contains("has no place left")).count();
        assert!(notices.iter().all(|notice| !notice.contains("is not used")), "seed {seed}: {notices:#?}");
        let mut found = Found::default();
        found.add(&joined, &switch);
        hits += found.hits;
    }
    assert!(full > 15 && hits > 500, "full {full} times, {hits} hits: the test says little");
}

#[test]
fn packets_see_no_value_join_in_native_code() {
    let is_wanted = |program: &Program| {
        let mut placed = program.joins.iter().filter(|join| join.place.is_some());
        placed.any(|join| program.has_cells(join.second) && program.has_own_records(join.first))
    };
    let seeds = (0..).filter(|seed| joined(*seed).is_some_and(|program| is_wanted(&program))).take(4);
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
        let lanes = || vec![MemoryPort::new(Buffers::default())];
        let settings = Settings { ports: PORTS, seed: 0 };
        let mut engine = NativeEngine::new((&program, &compiled), pipeline, settings, lanes).expect("it attaches");
        compare(seed, &program, &mut engine, 200);
        let hits: u64 = compiled.joins.iter().map(|join| engine_hits(&mut engine, &compiled, join.table)).sum();
        assert!(hits > 100, "seed {seed}: {hits} hits say little");
    }
}

fn engine_hits(engine: &mut NativeEngine<'_, MemoryPort>, compiled: &Program, table: TableId) -> u64 {
    let name = &compiled.tables[table].name;
    let number = engine.switch().tables().iter().position(|found| found.description().name == *name);
    number.map_or(0, |number| engine.switch().hits(number).0)
}
