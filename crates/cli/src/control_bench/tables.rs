//! Entries: written one by one and by the thousand, read, loaded, and replaced under the packets that look them up.

use super::Bench;
use super::client::{Client, refused};
use super::entries::{self, Draw, IN_A_BATCH, ROUTED, Route};
use super::report::Records;
use super::rig::{self, Rig, Stretches};
use control::message::runtime::{Entity, ReadRequest, TableEntry, entity};
use driver::entries::{Origin, compact_form};
use driver::failure::Failure;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match};
use std::time::{Duration, Instant};
use tonic::Code;

/// The entries of the hosts that get packets, and the load.
fn loaded(bench: &Bench) -> Result<(Rig, Client), Failure> {
    let rig = bench.rig()?;
    let mut client = Client::of(&rig)?;
    client.write_all(entries::hosts(&bench.ids, 0, bench.few()))?;
    rig.load(entries::to_hosts(bench.few()));
    Ok((rig, client))
}

/// Whether each packet has found its entry, and the right one.
fn check(rig: &Rig, records: &mut Records) {
    records.at_most(
        "packets that found no entry, or another's",
        (rig.counter("missed") + rig.counter("wrong")) as f64,
        "",
        0.0,
    );
}

pub fn inserts(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    let (rig, mut client) = loaded(bench)?;
    let batches = entries::hosts(&bench.ids, bench.few(), bench.entries);
    let begin = Instant::now();
    client.write_all(batches)?;
    let rate = f64::from(bench.entries) / begin.elapsed().as_secs_f64();
    records.at_least("inserts in batches of 1,000", rate, "/s", 200_000.0);
    check(&rig, records);
    Ok(())
}

pub fn writes(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    let (rig, mut client) = loaded(bench)?;
    let count = (bench.seconds.as_secs_f64() * 5000.0).clamp(100.0, f64::from(bench.entries)) as u32;
    let first = bench.few();
    let requests: Vec<_> = (first..first + count)
        .map(|number| Client::request(vec![entries::host(&bench.ids, "hosts", number)]))
        .collect();
    let mut times = Vec::with_capacity(requests.len());
    for request in requests {
        let begin = Instant::now();
        client.write(request).map_err(|status| refused(&status))?;
        times.push(begin.elapsed());
    }
    times.sort();
    let total: Duration = times.iter().sum();
    let milliseconds = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
    records.at_least("Writes of one insert", f64::from(count) / total.as_secs_f64(), "/s", 5000.0);
    records.note("p50", milliseconds(50), "ms");
    records.at_most("p99", milliseconds(99), "ms", 2.0);
    check(&rig, records);
    Ok(())
}

pub fn read(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    let (_rig, mut client) = loaded(bench)?;
    client.write_all(entries::hosts(&bench.ids, bench.few(), bench.entries - bench.few()))?;
    let table_id = bench.ids.table("hosts");
    let all = Entity { entity: Some(entity::Entity::TableEntry(TableEntry { table_id, ..TableEntry::default() })) };
    rig::forget_peak();
    let (before, _) = rig::memory();
    let begin = Instant::now();
    let count = client.read(ReadRequest { entities: vec![all], ..ReadRequest::default() })?;
    let seconds = begin.elapsed().as_secs_f64();
    let (_, peak) = rig::memory();
    records.note("entries read", count as f64, "");
    records.at_most("a Read of all", seconds, "s", 5.0);
    records.at_most("memory above the table, of switch and client", peak - before, "MB", 200.0);
    Ok(())
}

/// Entry N+1 of a table with room for N.
pub fn full(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    const ROOM: u32 = 1024;
    let (_rig, mut client) = loaded(bench)?;
    let entry = |number: u32| entries::host(&bench.ids, "scarce", number);
    client.write_all(vec![Client::request((0..ROOM).map(entry).collect())])?;
    let answer = client.write(Client::request(vec![entry(ROOM)]));
    let codes: Vec<Code> = match &answer {
        Ok(()) => vec![Code::Ok],
        Err(status) => p4runtime::errors_of(status).iter().map(|error| Code::from(error.canonical_code)).collect(),
    };
    let exhausted = codes == [Code::ResourceExhausted];
    records.at_least("entry N+1 is RESOURCE_EXHAUSTED (1: yes)", f64::from(u8::from(exhausted)), "", 1.0);
    Ok(())
}

/// Routes by the compact form, as `--entries FILE.bin` loads them. Gives them.
fn load_routes(bench: &Bench, rig: &Rig) -> Result<(Vec<Route>, f64), Failure> {
    let routes = entries::routes(bench.entries);
    let program = &bench.built.program;
    let (table, declared) =
        program.tables.iter().find(|(_, table)| table.name.ends_with("routes")).expect("the program has it");
    let action = declared.actions.iter().position(|action| action.name.ends_with("route")).expect("it has the action");
    let entry = |route: &Route| Entry {
        matches: vec![Match::Lpm { value: route.prefix.into(), prefix: route.length }],
        priority: 0,
        action: EntryAction::Call(ActionCall {
            action: action as u32,
            arguments: route.arguments(8).into_iter().map(Into::into).collect(),
        }),
        constant: false,
    };
    let all: Vec<_> = routes.iter().map(|route| (table, entry(route))).collect();
    let path = std::env::temp_dir().join(format!("bacus-routes-{}.bin", std::process::id()));
    let written = std::fs::write(&path, compact_form(program, &all));
    written.map_err(|error| Failure::environment(format!("{}: {error}", path.display())))?;
    let mut live = rig.switch.lock();
    let engine = live.engine().expect("it began with a pipeline");
    let begin = Instant::now();
    let loaded = driver::entries::load(engine, &[Origin::File(path.clone())], rig::CPU_PORT);
    let seconds = begin.elapsed().as_secs_f64();
    drop(std::fs::remove_file(&path));
    loaded?;
    Ok((routes, seconds))
}

pub fn routes(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    let (rig, _client) = loaded(bench)?;
    let (routes, seconds) = load_routes(bench, &rig)?;
    records.at_least("routes by the binary path", routes.len() as f64 / seconds, "/s", 1_000_000.0);
    Ok(())
}

/// Replacements and none by turns of at most five seconds: over minutes, what other guests of a machine take changes more than what
/// replacements cost.
pub fn replacements(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    const PER_SECOND: f64 = 100_000.0;
    let rig = bench.rig()?;
    let mut client = Client::of(&rig)?;
    let (routes, _) = load_routes(bench, &rig)?;
    let mut draw = Draw::new();
    let any = |draw: &mut Draw| routes[draw.below(bench.entries) as usize];
    let packets = (4 * bench.entries).min(1 << 20);
    let mut targets = Draw::new();
    let addresses = (0..packets).map(|_| {
        let route = any(&mut targets);
        route.prefix | targets.below(1 << 8) & !(u32::MAX << (32 - route.length))
    });
    rig.load(entries::to_addresses(ROUTED, addresses));
    std::thread::sleep(bench.seconds / 10);
    let (mut alone, mut replacing, mut written) = (Stretches::default(), Stretches::default(), 0u32);
    let turn = (bench.seconds / 4).min(Duration::from_secs(5));
    while replacing.seconds() < bench.seconds.as_secs_f64() {
        alone.add(&rig, || std::thread::sleep(turn));
        replacing.add(&rig, || {
            let (begin, mut done) = (Instant::now(), 0u32);
            while begin.elapsed() < turn {
                let updates = (0..IN_A_BATCH).map(|_| any(&mut draw).modified(&bench.ids, &mut draw)).collect();
                client.write(Client::request(updates)).map_err(|status| refused(&status))?;
                done += IN_A_BATCH;
                let due = Duration::from_secs_f64(f64::from(done) / PER_SECOND);
                std::thread::sleep(due.saturating_sub(begin.elapsed()));
            }
            written += done;
            Ok::<(), Failure>(())
        })?;
    }
    let achieved = f64::from(written) / replacing.seconds();
    records.at_least("replacements of random routes", achieved, "/s", 0.99 * PER_SECOND);
    records.note("packets undisturbed, by turns", alone.rate(), "/s");
    records.at_least("rate with replacements, by the clock", replacing.rate() / alone.rate(), "of it", 0.9);
    let own = replacing.own_rate() / alone.own_rate();
    records.at_least("rate with replacements, of the worker's time", own, "of it", 0.9);
    check(&rig, records);
    Ok(())
}
