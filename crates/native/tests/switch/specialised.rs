//! Code specialised for the contents of tables, under random writes: no packet meets an assumption that does not hold.

use control::plane::{Element, EntryKey, Frame, Group, MeterRates};
use control::{DataPlane, Facts, Store, Update};
use driver::compile;
use driver::frontend::Loaded;
use driver::options::{Native, Passes};
use hlir::entry::EntryAction;
use hlir::facts::{Assumption, Fact};
use hlir::text::parse_program;
use hlir::{ActionCall, Entry, Match, MatchKind, Program, TableId};
use native::NativeEngine;
use num_bigint::BigUint;
use runtime::{Buffers, MemoryPort, Pipeline, Settings, Trace};
use std::sync::Arc;

/// The port is the sum of what three tables add: a wrong sum shows a table that was taken for something else.
const PROGRAM: &str = "program sums for none
header h: h_t { key: 8, sum: 8 }
variable error: 32
variable meta.more: 8
variable meta.router: 8
variable meta.colour: 8
meter access.rate: bytes of access into meta.colour
counter few.packets: packets of few automatic
counter added: packets [2]
counter hidden.packets: packets of hidden automatic
counter wide.packets: packets of wide automatic
counter access.packets: packets of access automatic
register last: 8 [2]
profile hops [8] selector crc16 width 14 largest_group 4
table few {
  key h.key: exact
  action add(n: 8) {
    h.sum = h.sum + n
    meta.more = 1
    count added at 32w1
    write last at 32w1 = h.sum
  }
  action none() {}
  default none()
}
table hidden {
  key h.key: exact
  action add(n: 8) { h.sum = h.sum + n }
  action none() {}
  default none()
}
table rules {
  key h.key: ternary
  action add(n: 8) { h.sum = h.sum + n }
  action twice(n: 8) { h.sum = h.sum + n + n }
  action none() {}
  default none()
}
table plain {
  key h.key: exact
  action add(n: 8) { h.sum = h.sum + n }
  default add(0)
}
table routes {
  key meta.router: exact
  key h.key: lpm
  action add(n: 8) { h.sum = h.sum + n }
  action none() {}
  default none()
}
table wide {
  key meta.more: exact
  key u32(h.key): lpm as address
  action add(n: 8) { h.sum = h.sum + n }
  default add(7)
}
table mixed {
  key h.key: exact
  key h.sum: ternary
  action add(n: 8) { h.sum = h.sum + n }
  action none() {}
  default none()
}
table access {
  key h.key: ternary
  key meta.more: ternary
  action add(n: 8) { h.sum = h.sum + n }
  default_only action none() {}
  default none()
}
table spread {
  key h.key: exact
  action add(n: 8) { h.sum = h.sum + n }
  action none() {}
  default none()
  profile hops
  selector h.sum
}
parser parser { start start, accept few, reject few, error error }
entry start
node start: state of parser { extract h } -> few
node few: apply few -> more
node more: branch meta.more == 1 -> hidden else rules
node hidden: apply hidden -> rules
node rules: apply rules -> plain
node plain: apply plain -> routes
node routes: apply routes -> wide
node wide: apply wide -> mixed
node mixed: apply mixed -> white
node white: block { meta.colour = 5 } -> access
node access: apply access -> coloured
node coloured: block { h.sum = h.sum + meta.colour } -> spread
node spread: apply spread -> out
node out: deparse { emit h } -> queue
node queue: buffer { send 32w1 }
";

fn program() -> Program {
    parse_program(PROGRAM).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn compiled(passes: &Passes) -> (Arc<Pipeline>, Program) {
    compiled_of(program(), passes)
}

fn compiled_of(program: Program, passes: &Passes) -> (Arc<Pipeline>, Program) {
    let loaded = Loaded { program, plan: None };
    let own = |plan: &mut hlir::Plan| plan.descriptor = hlir::plan::Descriptor::Own;
    compile::pipeline(loaded, passes, &Native::default(), own).unwrap_or_else(|failure| panic!("{failure:?}"))
}

fn specialised(plane: &dyn DataPlane) -> (Arc<Pipeline>, Program) {
    compiled_for(Facts::of(plane.store()).hold(plane.store()))
}

/// The same, with some entries compared before their tables.
fn specialised_for_frequent(plane: &dyn DataPlane) -> (Arc<Pipeline>, Program) {
    let leading = tables(&program()).into_iter().filter_map(|table| leading(plane.store(), table));
    compiled_for(Facts::of(plane.store()).hold(plane.store()).into_iter().chain(leading).collect())
}

fn compiled_for(facts: Vec<Assumption>) -> (Arc<Pipeline>, Program) {
    compiled(&Passes { facts, ..Passes::default() })
}

/// That some entries win before others: of those that do, at most half.
fn leading(store: &Store, table: TableId) -> Option<Assumption> {
    let keys = store.entries(table).map(|stored| EntryKey {
        table,
        matches: stored.entry.matches,
        priority: stored.entry.priority,
    });
    let keys: Vec<EntryKey> = keys.take(store.entry_count(table).div_ceil(2)).collect();
    Some(Assumption { table, fact: store.leading(table, &keys)? })
}

fn tables(program: &Program) -> Vec<TableId> {
    program.tables.iter().map(|(id, _)| id).collect()
}

/// A random insertion, modification, deletion or default action. Many are refused, as they are by a controller's mistake.
fn update(program: &Program, random: &mut impl FnMut(u64) -> u64) -> Update {
    if random(6) == 0 {
        return of_profile(program, random);
    }
    let table = tables(program)[if random(4) == 0 { 7 } else { random(8) as usize }];
    let declared = &program.tables[table];
    let of_access = declared.name == "access";
    let keys = declared.keys.iter().zip(program.key_kinds(table));
    let matches: Vec<Match> = match of_access {
        true => of_equal_masks(random),
        false => keys.map(|(key, kind)| matching(&key.name, kind, random)).collect(),
    };
    let priority = if declared.has_priorities() { 1 + random(3) as u32 } else { 0 };
    if of_access && random(5) == 0 {
        let entry = Element::Entry(EntryKey { table, matches, priority });
        let element = if random(4) == 0 { Element::Default(table) } else { entry };
        return Update::SetMeter { meter: tables_meter(program), element, rates: (random(4) == 0).then(always_red) };
    }
    let actions = if of_access { 1 } else { declared.actions.len() as u64 };
    let action = random(actions) as u32;
    let arguments = declared.actions[action as usize].parameters.iter().map(|_| BigUint::from(1 + random(3))).collect();
    let call = ActionCall { action, arguments };
    let entry = Entry { matches: matches.clone(), priority, action: EntryAction::Call(call.clone()), constant: false };
    match random(8) {
        0..=2 => Update::Insert { table, entry },
        3 => Update::Modify { table, entry },
        4 if random(4) == 0 && !of_access => Update::SetDefault { table, call },
        _ => Update::Delete(EntryKey { table, matches, priority }),
    }
}

/// Of the table with a meter: most entries have one mask of each key.
fn of_equal_masks(random: &mut impl FnMut(u64) -> u64) -> Vec<Match> {
    let mask = BigUint::from(if random(60) == 0 { 1u32 } else { 14 });
    let key = Match::Ternary { value: BigUint::from(random(16)) & &mask, mask };
    let more =
        if random(60) == 0 { Match::Any } else { Match::Ternary { value: random(2).into(), mask: 0xffu32.into() } };
    vec![key, more]
}

fn tables_meter(program: &Program) -> hlir::MeterId {
    program.meters.iter().next().expect("there is one").0
}

/// Packets have two bytes, so there are never enough tokens.
fn always_red() -> MeterRates {
    let second = control::Rate::of_units(1);
    MeterRates { committed_rate: second, committed_burst: 1, peak_rate: second, peak_burst: 1 }
}

/// What an entry matches. In most entries it is one value of the metadata, and any sum.
fn matching(key: &str, (kind, width): (MatchKind, u32), random: &mut impl FnMut(u64) -> u64) -> Match {
    let rarely = random(12) == 0;
    // Tables of routes have more entries than are compared in code.
    let many = if kind == MatchKind::Lpm { 12 } else { 6 };
    let value = BigUint::from(if key.starts_with("meta.") { u64::from(rarely) } else { random(many) });
    match kind {
        MatchKind::Lpm => Match::Lpm { value, prefix: width },
        MatchKind::Ternary if key == "h.sum" && !rarely || random(2) == 0 => Match::Any,
        MatchKind::Ternary => Match::Ternary { value, mask: BigUint::from(0xffu32) },
        MatchKind::Exact | MatchKind::Range | MatchKind::Optional => Match::Exact(value),
    }
}

/// A write to the profile, or to the table that has it.
fn of_profile(program: &Program, random: &mut impl FnMut(u64) -> u64) -> Update {
    let table = tables(program)[8];
    let profile = program.tables[table].profile.expect("it is declared with one");
    let matches = vec![Match::Exact(BigUint::from(random(6)))];
    let target = random(3) as u32;
    let action = if random(2) == 0 { EntryAction::Member(target) } else { EntryAction::Group(target) };
    match random(6) {
        0 => Update::Insert { table, entry: Entry { matches, priority: 0, action, constant: false } },
        1 | 2 => Update::Delete(EntryKey { table, matches, priority: 0 }),
        3 => {
            let call = ActionCall { action: 0, arguments: vec![BigUint::from(1 + random(3))] };
            Update::SetMember { profile, member: target, call }
        }
        _ => {
            let members: Vec<u32> = (0..random(3)).map(|_| random(3) as u32).collect();
            Update::SetGroup { profile, group: target, value: Group::from(&members[..]) }
        }
    }
}

fn generator(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    }
}

/// What controllers read is the same, whichever code runs and has run.
fn same_counts(engine: &mut NativeEngine<MemoryPort>, expected: &mut interp::Switch, of: &str) {
    let program = engine.program();
    for (counter, declared) in program.counters.iter() {
        let entries = |table: TableId| {
            let key = |stored: control::store::Stored| {
                let (matches, priority) = (stored.entry.matches, stored.entry.priority);
                EntryKey { table, matches, priority }
            };
            expected.store().entries(table).map(key).map(Element::Entry).collect::<Vec<_>>()
        };
        let elements = match declared.table {
            Some(table) => entries(table).into_iter().chain([Element::Default(table)]).collect(),
            None => (0..declared.size).map(Element::Index).collect::<Vec<_>>(),
        };
        for element in elements {
            let [here, there] = [engine.read_counter(counter, &element), expected.read_counter(counter, &element)];
            assert_eq!(here, there, "{}, {element:?}: {of}", declared.name);
        }
    }
    for (table, declared) in program.tables.iter() {
        assert_eq!(engine.table_counts(table), expected.table_counts(table), "{}: {of}", declared.name);
    }
    for (register, _) in program.registers.iter() {
        assert_eq!(engine.read_register(register, 1), expected.read_register(register, 1), "{of}");
    }
}

/// The interpreter beside, which knows of no assumption. The code is specialised again and again.
#[test]
fn no_packet_meets_a_stale_assumption_under_random_writes() {
    let program = program();
    let (pipeline, generic) = compiled(&Passes::default());
    let settings = Settings { ports: 8, seed: 0 };
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let mut engine = NativeEngine::new((&program, &generic), pipeline, settings, worker_ports).expect("a switch");
    let mut expected = interp::Switch::new(&program, 0, 8);
    let mut random = generator(7);
    let (mut accepted, mut breaks, mut kept, mut assuming, mut left_out, mut shaped) = (0, 0, 0, 0, 0, 0);
    let (mut unmetered, mut led) = (0, 0);
    for round in 0..18 {
        let (pipeline, code) = if round % 3 == 2 { specialised_for_frequent(&engine) } else { specialised(&engine) };
        // The cheapest plan may be one that takes nothing for granted.
        assuming += u32::from(!code.assumptions.is_empty());
        left_out += tables(&code)
            .iter()
            .filter(|table| code.held_keys(**table).len() < code.tables[**table].keys.len())
            .count();
        // It was made for what the tables hold now.
        engine.specialise(&code, pipeline.clone()).unwrap_or_else(|refusal| panic!("round {round}: {refusal}"));
        shaped += tables(&code).iter().filter(|table| code.has_equal_masks(**table)).count();
        led += code.assumptions.iter().filter(|one| matches!(one.fact, Fact::Leading(_))).count();
        unmetered += code.assumptions.iter().filter(|one| one.fact == Fact::Unmetered).count();
        for _ in 0..120 {
            let has_all = || code.assumptions.iter().all(|one| engine.store().holds(one));
            if !engine.is_specialised() && has_all() {
                engine.specialise(&code, pipeline.clone()).unwrap_or_else(|refusal| panic!("round {round}: {refusal}"));
            }
            let update = update(&program, &mut random);
            let was_specialised = engine.is_specialised();
            let (here, there) = (engine.write(&update), expected.write(&update));
            assert_eq!(here.is_ok(), there.is_ok(), "round {round}: {update:?}: {here:?} {there:?}");
            accepted += u32::from(here.is_ok());
            breaks += engine.take_breaks().len();
            kept += u32::from(was_specialised && engine.is_specialised() && here.is_ok());
            assert!(engine.store().check_assumptions().is_ok(), "round {round}: {update:?}");
            let frames: Vec<Frame> = (0..12).map(|key| Frame { port: 1, bytes: vec![key, 0] }).collect();
            let [sent, wanted] = [engine.process(&frames), expected.process(&frames)].map(|outcome| {
                outcome.expect("packets go on").outputs.into_iter().map(|one| one.bytes).collect::<Vec<_>>()
            });
            let of = format!("round {round}: {update:?}, specialised {}", engine.is_specialised());
            assert_eq!(sent, wanted, "{of}");
            same_counts(&mut engine, &mut expected, &of);
        }
    }
    assert!(accepted > 200 && breaks > 10 && kept > 3, "{accepted} accepted, {breaks} breaks, {kept} broke nothing");
    assert!(assuming > 6 && left_out > 6, "{assuming} rounds with assumptions, {left_out} tables without some keys");
    assert!(shaped > 2 && unmetered > 2, "{shaped} tables with equal masks, {unmetered} without rates");
    assert!(led > 6, "{led} tables with entries that win before others");
}

/// A write that is right.
fn both(engine: &mut NativeEngine<MemoryPort>, expected: &mut interp::Switch, update: &Update) {
    engine.write(update).unwrap_or_else(|refusal| panic!("{update:?}: {refusal}"));
    expected.write(update).unwrap_or_else(|refusal| panic!("{update:?}: {refusal}"));
}

/// Rules that name some bits of a key are looked up exactly, until one has another mask, or two match the same.
#[test]
fn rules_of_equal_masks_are_looked_up_exactly_while_they_are() {
    let program = program();
    let (pipeline, generic) = compiled(&Passes::default());
    let settings = Settings { ports: 8, seed: 0 };
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let mut engine = NativeEngine::new((&program, &generic), pipeline, settings, worker_ports).expect("a switch");
    let mut expected = interp::Switch::new(&program, 0, 8);
    let table = tables(&program)[7];
    let number = <BigUint as From<u32>>::from;
    let rule = |value: u32, mask: u32, priority: u32| {
        let key = Match::Ternary { value: number(value), mask: number(mask) };
        let more = Match::Ternary { value: number(0), mask: number(0xff) };
        let call = ActionCall { action: 0, arguments: vec![number(10 * priority + value)] };
        Entry { matches: vec![key, more], priority, action: EntryAction::Call(call), constant: false }
    };
    for value in [0, 2, 4, 6, 8, 10] {
        let update = Update::Insert { table, entry: rule(value, 14, 1) };
        both(&mut engine, &mut expected, &update);
    }
    let mut facts = Facts::of(engine.store()).hold(engine.store());
    facts.retain(|one| one.table == table && !matches!(one.fact, Fact::Actions(_) | Fact::Argument { .. }));
    let (pipeline, code) = compiled(&Passes { facts, ..Passes::default() });
    assert!(code.has_equal_masks(table), "{:?}", code.assumptions);
    for (entry, keeps) in [(rule(12, 14, 1), true), (rule(2, 14, 3), false), (rule(1, 3, 2), false)] {
        engine.specialise(&code, pipeline.clone()).expect("the rules have one mask");
        let update = Update::Insert { table, entry: entry.clone() };
        both(&mut engine, &mut expected, &update);
        assert_eq!(engine.is_specialised(), keeps, "{entry:?}");
        let frames: Vec<Frame> = (0..20).map(|key| Frame { port: 1, bytes: vec![key, 0] }).collect();
        let [sent, wanted] = [engine.process(&frames), expected.process(&frames)].map(|outcome| {
            outcome.expect("packets go on").outputs.into_iter().map(|one| one.bytes).collect::<Vec<_>>()
        });
        assert_eq!(sent, wanted, "{entry:?}");
        if !keeps {
            let update = Update::Delete(EntryKey { table, matches: entry.matches, priority: entry.priority });
            both(&mut engine, &mut expected, &update);
        }
    }
}

/// Flips while workers run: every packet goes out, in all 200 exchanges.
#[test]
fn no_packet_is_lost_where_facts_flip_under_traffic() {
    const PACKETS: u64 = 2_000_000;
    let program = program();
    let (pipeline, generic) = compiled(&Passes::default());
    let settings = Settings { ports: 8, seed: 0 };
    let worker_ports = || (0..2).map(|_| MemoryPort::new(Buffers::default())).collect();
    let mut engine = NativeEngine::new((&program, &generic), pipeline, settings, worker_ports).expect("a switch");
    let (pipeline, code) = specialised(&engine);
    for worker in 0..2 {
        let trace = Trace::new([(1, &[3u8, 0][..])]);
        engine.switch().ports_of(worker).expect("a worker").load(trace, PACKETS, 0);
    }
    engine.switch().start();
    let few = tables(&program)[0];
    let call = ActionCall { action: 0, arguments: vec![BigUint::from(1u32)] };
    let entry = Entry {
        matches: vec![Match::Exact(BigUint::from(3u32))],
        priority: 0,
        action: EntryAction::Call(call),
        constant: false,
    };
    for _ in 0..100 {
        engine.specialise(&code, pipeline.clone()).expect("the tables are empty");
        engine.insert(few, &entry).expect("generic code takes it");
        assert!(!engine.is_specialised() && engine.take_breaks().len() == 1);
        engine.delete(&EntryKey { table: few, matches: entry.matches.clone(), priority: 0 }).expect("it is there");
    }
    engine.switch().join();
    for worker in 0..2 {
        let port = engine.switch().ports_of(worker).expect("a worker");
        let counts = port.counts();
        assert_eq!((counts.received, counts.sent, port.held()), (PACKETS, PACKETS, 0));
    }
    // Both workers count each lookup once, in code or in a table.
    for name in ["few", "rules", "plain", "mixed"] {
        let table = tables(&program).into_iter().find(|table| program.tables[*table].name == name);
        let counts = engine.table_counts(table.expect("it is declared"));
        assert_eq!(counts.hits + counts.misses, 2 * PACKETS, "{name}: {counts:?}");
    }
}

/// Workers count one index after the other, so a difference may fall. A report that showed more does not.
#[test]
fn reported_lookups_never_fall() {
    let program = program();
    let (pipeline, generic) = compiled(&Passes::default());
    let settings = Settings { ports: 8, seed: 0 };
    let lanes = || vec![MemoryPort::new(Buffers::default())];
    let mut engine = NativeEngine::new((&program, &generic), pipeline, settings, lanes).expect("a switch");
    let (pipeline, code) = specialised(&engine);
    engine.specialise(&code, pipeline).expect("the tables are empty");
    let frames: Vec<Frame> = (0..12).map(|key| Frame { port: 1, bytes: vec![key, 0] }).collect();
    engine.process(&frames).expect("packets go on");
    let sum = code.lookup_sums.iter().find(|sum| !sum.added.is_empty()).expect("lookups became code");
    let number = engine.table_number(sum.table).expect("reports have it");
    let before = engine.reported_hits(number);
    assert_eq!(before.0 + before.1, 12);
    // As where a worker has counted first what others are subtracted from.
    let counter = &code.counters[sum.counter].name;
    let description = engine.switch().pipeline().description().clone();
    let counter = description.counters.iter().position(|one| one.name == *counter).expect("it counts");
    let index = u64::from(sum.added[0]);
    let mut cell = engine.switch().counter(counter, index).expect("it has the index");
    cell.packets -= 5;
    engine.switch().set_counter(counter, index, cell);
    assert_ne!(engine.table_hits(number), before);
    assert_eq!(engine.reported_hits(number), before);
}

/// Only an entry can stop a packet.
const GATE: &str = "program gate for none
header h: h_t { key: 8 }
variable error: 32
variable meta.stop: 8
table gate {
  key h.key: exact
  action stop() { meta.stop = 1 }
  action pass() {}
  default pass()
}
parser parser { start start, accept gate, reject gate, error error }
entry start
node start: state of parser { extract h } -> gate
node gate: apply gate -> out
node out: deparse { emit h } -> queue
node queue: buffer {
  when meta.stop == 1: drop \"stopped\"
  send 32w1
}
";

/// Specialised code that cannot drop for a reason does not forget how often generic code did.
#[test]
fn drops_of_generic_code_are_reported_while_specialised_code_runs() {
    let program = parse_program(GATE).unwrap_or_else(|errors| panic!("{errors:?}"));
    let (pipeline, generic) = compiled_of(program.clone(), &Passes::default());
    let settings = Settings { ports: 8, seed: 0 };
    let lanes = || vec![MemoryPort::new(Buffers::default())];
    let mut engine = NativeEngine::new((&program, &generic), pipeline, settings, lanes).expect("a switch");
    let gate = tables(&program)[0];
    let call = ActionCall { action: 0, arguments: Vec::new() };
    let matches = vec![Match::Exact(BigUint::from(3u32))];
    let entry = Entry { matches, priority: 0, action: EntryAction::Call(call), constant: false };
    engine.insert(gate, &entry).expect("there is room");
    let frames: Vec<Frame> = (0..6).map(|key| Frame { port: 1, bytes: vec![key] }).collect();
    engine.process(&frames).expect("packets go on");
    engine.delete(&EntryKey { table: gate, matches: entry.matches, priority: 0 }).expect("it is there");
    let facts = Facts::of(engine.store()).hold(engine.store());
    let (pipeline, code) = compiled_of(program.clone(), &Passes { facts, ..Passes::default() });
    assert!(!pipeline.description().drops.contains(&"stopped".to_string()), "{:?}", pipeline.description().drops);
    engine.specialise(&code, pipeline).expect("the table is empty");
    engine.process(&frames).expect("packets go on");
    assert!(engine.is_specialised());
    assert!(engine.drops_by_reason().contains(&("stopped".to_string(), 1)), "{:?}", engine.drops_by_reason());
}
