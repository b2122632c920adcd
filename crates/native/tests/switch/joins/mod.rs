//! Table joins: random programs under a stream of writes. With all legal joins made, packets, counters, and the
//! hits and misses of the source tables are those of the program as written, after every write.

mod exchange;
mod generate;
mod hidden;
mod threads;
mod values;

use control::plane::{Element, EntryKey, Frame, MeterRates, TableCounts};
use control::{DataPlane, Rate, Update};
use driver::frontend::{self, Loaded};
use driver::options::{Native, Passes};
use driver::{compile, random::Random};
use generate::{action_call, add_own_entries, matches, program_text};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Join, Match, MeterId, Program, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Settings};

const PORTS: u32 = 8;
/// Keys and fields have values below this, so that entries are hit.
const VALUES: u64 = 3;
const PACKETS: usize = 24;
const MICROSECOND: u64 = 1000;

fn loaded(seed: u64) -> Loaded {
    let text = program_text(&mut Random::new(seed));
    let mut program = hlir::text::parse_program(&text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    add_own_entries(&mut Random::new(seed), &mut program);
    let complaints = hlir::verify::verify(&program);
    assert!(complaints.is_empty(), "{complaints:#?}\n{text}");
    Loaded { program, plan: None }
}

fn passes(names: &[&str]) -> Passes {
    Passes { passes: Some(names.iter().map(|name| name.to_string()).collect()), ..Passes::default() }
}

fn joined(seed: u64) -> Program {
    let done = frontend::optimize(loaded(seed), &passes(&["join"]), Some("join"));
    let (program, _) = done.unwrap_or_else(|failure| panic!("seed {seed}: {failure:?}"));
    let complaints = hlir::verify::verify(&program);
    assert!(complaints.is_empty(), "seed {seed}: {complaints:#?}\n{}", hlir::text::print_program(&program));
    let text = hlir::text::print_program(&program);
    assert_eq!(hlir::text::parse_program(&text).as_ref(), Ok(&program), "the text is the program");
    program
}

fn frames(random: &mut Random) -> Vec<Frame> {
    let byte = |random: &mut Random| random.below(VALUES) as u8;
    let frame = |random: &mut Random| (0..generate::BYTES).map(|_| byte(random)).collect();
    (0..PACKETS).map(|_| Frame { port: random.below(2) as u32, bytes: frame(random) }).collect()
}

/// A write to some table of the program, legal or not.
fn write(random: &mut Random, program: &Program) -> Update {
    let table = TableId::from_raw((random.below(program.tables.len() as u64) as u32).into());
    let declared = &program.tables[table];
    let matches = matches(random, declared);
    let priority = if declared.has_priorities() { 1 + random.below(3) as u32 } else { 0 };
    let call = action_call(random, declared);
    let meters: Vec<MeterId> =
        program.meters.iter().filter(|(_, meter)| meter.table == Some(table)).map(|(meter, _)| meter).collect();
    if !meters.is_empty() && random.below(4) == 0 {
        let element = Element::Entry(EntryKey { table, matches, priority });
        let mut number = || random.below(4);
        let [committed_burst, peak_burst] = [number(), number()];
        // The clock of both switches hardly moves: no tokens come.
        let rates =
            MeterRates { committed_rate: Rate::of_units(1), committed_burst, peak_rate: Rate::of_units(1), peak_burst };
        return Update::SetMeter { meter: meters[0], element, rates: Some(rates) };
    }
    if declared.idle_timeout.is_some() && random.below(3) == 0 {
        let nanoseconds = random.below(4) * MICROSECOND;
        return Update::SetIdleTimeout { key: EntryKey { table, matches, priority }, nanoseconds };
    }
    let entry = |matches, call| Entry { matches, priority, action: EntryAction::Call(call), constant: false };
    match random.below(10) {
        0 => Update::SetDefault { table, call },
        1 | 2 => Update::Delete(EntryKey { table, matches, priority }),
        3 | 4 => Update::Modify { table, entry: entry(matches, call) },
        _ => Update::Insert { table, entry: entry(matches, call) },
    }
}

/// What can be seen of a switch beside its packets.
fn seen<P: DataPlane + ?Sized>(plane: &mut P, program: &Program) -> (Vec<TableCounts>, Vec<u64>, Vec<u64>) {
    let tables = program.tables.iter().map(|(table, _)| plane.table_counts(table)).collect();
    let mut elements = Vec::new();
    for (counter, declared) in program.counters.iter() {
        // One that no action uses is not in the compiled program.
        elements.extend((0..declared.size).filter_map(|at| plane.read_counter(counter, &Element::Index(at)).ok()));
        let Some(table) = declared.table else { continue };
        let key = |entry: Entry| EntryKey { table, matches: entry.matches, priority: entry.priority };
        let mut keys: Vec<EntryKey> = plane.store().entries(table).map(|stored| key(stored.entry)).collect();
        keys.sort_by_key(|key| format!("{:?} {}", key.matches, key.priority));
        elements.extend(keys.into_iter().filter_map(|key| plane.read_counter(counter, &Element::Entry(key)).ok()));
    }
    (tables, plane.drops(), elements.iter().flat_map(|element| [element.packets, element.bytes]).collect())
}

/// Entries whose time has passed.
fn idle<P: DataPlane + ?Sized>(plane: &mut P, clock_ns: u64) -> Vec<String> {
    plane.set_clock(clock_ns);
    let mut idle: Vec<String> = plane.take_idle().iter().map(|key| format!("{key:?}")).collect();
    idle.sort();
    idle
}

/// Writes to both switches, and sends packets after each write. Gives how many entries became idle.
fn compare(seed: u64, program: &Program, other: &mut dyn DataPlane, writes: usize) -> usize {
    compare_between(seed, program, other, writes, |_, _| {})
}

/// The same, and what is done to the other switch before each write, by the write's number.
fn compare_between<P: DataPlane + ?Sized>(
    seed: u64,
    program: &Program,
    other: &mut P,
    writes: usize,
    mut before: impl FnMut(&mut P, usize),
) -> usize {
    let mut plain = interp::Switch::new(program, 0, PORTS);
    let mut random = Random::new(seed ^ 0x5eed);
    let (mut clock_ns, mut rows) = (0, 0);
    for step in 0..writes {
        before(other, step);
        clock_ns += random.below(3) * MICROSECOND;
        let [one, two] = [idle(&mut plain, clock_ns), idle(other, clock_ns)];
        assert_eq!(one, two, "seed {seed}, before write {step}");
        rows += one.len();
        let update = write(&mut random, program);
        let [one, two] = [plain.write(&update), other.write(&update)].map(|done| done.map_err(|it| it.kind));
        assert_eq!(one, two, "seed {seed}, write {step}: {update:?}");
        let frames = frames(&mut random);
        let [one, two] = [plain.process(&frames), other.process(&frames)].map(|outcome| {
            let outputs = outcome.expect("it runs").outputs.into_iter();
            outputs.map(|output| (output.port, output.bytes)).collect::<Vec<_>>()
        });
        assert_eq!(one, two, "seed {seed}, behind write {step}: {update:?}");
        assert_eq!(seen(&mut plain, program), seen(other, program), "seed {seed}, behind write {step}: {update:?}");
    }
    rows
}

/// Joint tables, the hits in them, in those that count or measure at elements of a source, in those whose keys are not
/// all exact, in those over entries with idle timeouts, and those that represent a miss of the second table.
#[derive(Debug, Default)]
struct Found {
    tables: usize,
    hits: u64,
    of_direct_elements: u64,
    of_complete: u64,
    of_aged: u64,
    missed: u64,
}

impl Found {
    fn add(&mut self, program: &Program, plane: &mut dyn DataPlane) {
        for join in &program.joins {
            let hits = plane.table_counts(join.table).hits;
            self.tables += 1;
            self.hits += hits;
            self.of_direct_elements += if has_direct_elements(program, join) { hits } else { 0 };
            self.of_complete += if join.is_complete(program) { hits } else { 0 };
            self.of_aged += if is_aged(program, join) { hits } else { 0 };
            let misses = |counter| plane.read_counter(counter, &Element::Index(0)).expect("it has an element").packets;
            self.missed += join.objects.misses.map_or(0, misses);
        }
    }
}

/// Whether a source of a join has direct counters or meters.
fn has_direct_elements(program: &Program, join: &Join) -> bool {
    program.has_direct_elements(join.first) || program.has_direct_elements(join.second)
}

/// Whether entries of a source of a join have idle timeouts.
fn is_aged(_: &Program, join: &Join) -> bool {
    join.objects.timers.iter().any(Option::is_some)
}

#[test]
fn packets_see_no_join_in_the_interpreter() {
    let (mut found, mut rows) = (Found::default(), 0);
    for seed in 0..120 {
        let program = loaded(seed).program;
        let joined = joined(seed);
        let mut switch = interp::Switch::new(&joined, 0, PORTS);
        rows += compare(seed, &program, &mut switch, 40);
        found.add(&joined, &mut switch);
    }
    let of_kinds = [found.of_direct_elements, found.of_complete, found.of_aged, found.missed];
    let enough = found.tables > 60 && found.hits > 6_000 && rows > 200 && of_kinds.iter().all(|hits| *hits > 1_000);
    assert!(enough, "{found:?}, {rows} idle entries: the test shows little");
}

/// Joint tables with room for a few entries are emptied and filled again.
#[test]
fn packets_see_no_join_that_overflows() {
    let (mut emptied, mut filled) = (0, 0);
    for seed in 0..120 {
        let program = loaded(seed).program;
        let mut joined = joined(seed);
        joined.joins.iter_mut().enumerate().for_each(|(at, join)| join.limit = 1 + (seed + at as u64) % 3);
        let mut switch = interp::Switch::new(&joined, 0, PORTS);
        compare(seed, &program, &mut switch, 60);
        let notices = switch.take_notices();
        emptied += notices.iter().filter(|notice| notice.contains("exceed its limit")).count();
        filled += notices.iter().filter(|notice| notice.contains("entries again")).count();
        assert!(notices.iter().all(|notice| !notice.contains("no room")), "seed {seed}: {notices:#?}");
    }
    assert!(emptied > 40 && filled > 8, "emptied {emptied} times, filled again {filled} times: the test shows little");
}

/// The descriptor of the ports of this test.
fn in_memory(plan: &mut hlir::Plan) {
    plan.descriptor = hlir::plan::Descriptor::Own;
}

#[test]
fn packets_see_no_join_in_native_code() {
    let is_wanted = |program: &Program| {
        let of_kind = |is: fn(&Program, &Join) -> bool| program.joins.iter().any(|join| is(program, join));
        program.joins.len() > 1
            && of_kind(has_direct_elements)
            && of_kind(is_aged)
            && of_kind(|program, join| join.is_complete(program))
    };
    let seeds = (0..).filter(|seed| is_wanted(&joined(*seed))).take(3);
    for (seed, names) in seeds.zip([
        &["join"][..],
        &["constants", "dead", "join", "structures", "joint", "hot_path", "batches", "groups", "prefetch"],
        &["constants", "dead", "join", "structures", "joint", "hot_path", "batches", "groups", "vector", "prefetch"],
    ]) {
        let program = loaded(seed).program;
        let (pipeline, compiled) = compile::pipeline(loaded(seed), &passes(names), &Native::default(), in_memory)
            .unwrap_or_else(|failure| panic!("seed {seed} compiles: {failure:?}"));
        let worker_ports = || vec![MemoryPort::new(Buffers::default())];
        let settings = Settings { ports: PORTS, seed: 0 };
        let mut engine =
            NativeEngine::new((&program, &compiled), pipeline, settings, worker_ports).expect("it attaches");
        compare(seed, &program, &mut engine, 200);
    }
}

/// Two tables whose joint table may have 1,024 entries.
const CROSS: &str = "program cross for none
header h: h_t { a: 16, b: 16, c: 8, d: 8 }
variable error: 32
table first {
  key h.a: exact
  action set(c: 8) { h.c = c }
  default set(255)
}
table second {
  key h.b: exact
  action set(d: 8) { h.d = d }
  default set(255)
}
parser parser { start start, accept first, reject first, error error }
entry start
node start: state of parser { extract h } -> first
node first: apply first -> second
node second: apply second -> deparser
node deparser: deparse { emit h } -> out
node out: buffer { send 32w1 }
";

#[test]
fn products_that_explode_empty_the_joint_table() {
    let mut program = hlir::text::parse_program(CROSS).expect("it is a program");
    let [first, second] = [0, 1].map(|table: u32| TableId::from_raw(table.into()));
    // Room for 1,024 products is made for so few entries.
    program.tables[first].size = Some(64);
    program.tables[second].size = Some(8);
    let plain = Loaded { program: program.clone(), plan: None };
    let (mut joined, _) = frontend::optimize(plain, &passes(&["join"]), Some("join")).expect("it is legal");
    joined.tables[first].size = None;
    joined.tables[second].size = None;
    let joint = joined.joins[0].table;
    assert_eq!(joined.joins[0].limit, 1024);
    let mut switch = interp::Switch::new(&joined, 0, PORTS);
    let entry = |key: u32, value: u32| Entry {
        matches: vec![Match::Exact(key.into())],
        priority: 0,
        action: EntryAction::Call(ActionCall { action: 0, arguments: vec![value.into()] }),
        constant: false,
    };
    let frame = |a: u8, b: u8| Frame { port: 0, bytes: vec![0, a, 0, b, 0, 0] };
    let sent = |switch: &mut interp::Switch, a, b| {
        switch.process(&[frame(a, b)]).expect("it runs").outputs[0].bytes[4..].to_vec()
    };
    for key in 0..32 {
        switch.insert(first, &entry(key, key)).expect("there is room");
        switch.insert(second, &entry(key, key + 100)).expect("there is room");
    }
    assert_eq!(sent(&mut switch, 5, 6), [5, 106]);
    assert_eq!(switch.table_counts(joint).hits, 1, "all 1,024 products are there");
    // One more entry has 32 more products.
    switch.insert(first, &entry(32, 77)).expect("a source is never full");
    assert_eq!((sent(&mut switch, 5, 6), sent(&mut switch, 32, 6)), (vec![5, 106], vec![77, 106]));
    assert_eq!(switch.table_counts(joint).hits, 1, "packets look up the sources");
    assert!(switch.take_notices()[0].contains("1056 entries exceed its limit of 1024"));
    for key in 0..17u32 {
        let key = EntryKey { table: first, matches: vec![Match::Exact(key.into())], priority: 0 };
        switch.delete(&key).expect("it is there");
    }
    assert_eq!(sent(&mut switch, 20, 6), [20, 106]);
    assert_eq!(switch.table_counts(joint).hits, 2, "half of the limit is enough again");
    assert_eq!(switch.table_counts(first).hits, 4, "hits of either kind count");
    assert!(switch.take_notices()[0].contains("has its 512 entries again"));
}
