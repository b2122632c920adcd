//! What a controller costs that breaks facts as fast as it can: the time until generic code runs, and what is left of the
//! rate of generic code.

use super::client::{Client, Ids};
use super::entries;
use super::report::Records;
use super::rig::{Rig, Stretches};
use crate::run::pushed::{self, Builder};
use crate::run::specialise::{Manner, Specialiser};
use crate::run::trial::Work;
use control::plane::EntryKey;
use control::{DataPlane as _, Facts, Refusal, Update};
use driver::failure::Failure;
use driver::frontend::Loaded;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, TableId};
use num_bigint::BigUint;
use opt::inputs::Occupancy;
use std::time::{Duration, Instant};

/// Facts that are broken one after the other, with the same code.
const BREAKS: usize = 50;
/// One flip of a table between empty and not.
const FLIP: Duration = Duration::from_secs(1);
/// Stretches of either kind, in turn: what else the machine does falls on both.
const STRETCHES: u32 = 6;
/// Packets of a burst.
const BURST: f64 = 32.0;
const COMPILER_LIMIT: Duration = Duration::from_secs(120);

/// `few` hosts are the load; the table that flips is one that no packet of it looks up.
pub fn flips(
    rig: &Rig,
    builder: Builder,
    (ids, few): (&Ids, u32),
    time: Duration,
    records: &mut Records,
) -> Result<(), Failure> {
    let mut client = Client::of(rig)?;
    client.write_all(entries::hosts(ids, 0, few))?;
    rig.load(entries::to_hosts(few));
    breaks(rig, &builder, records)?;
    let mut specialiser = Specialiser::new(builder, Manner::fixed(COMPILER_LIMIT));
    let (mut generic, mut flipping) = (Stretches::default(), Stretches::default());
    let begin = Instant::now();
    for _ in 0..STRETCHES {
        rig.switch.lock().engine().map_or(Ok(()), |engine| engine.generalise()).map_err(refused)?;
        generic.add(rig, || flip_for(rig, time, || {}))?;
        flipping.add(rig, || flip_for(rig, time, || specialiser.tend(&rig.switch, begin.elapsed(), Work::default)))?;
    }
    let status = specialiser.status();
    records.note("specialised while a table flips each second", status.loaded as f64, "times");
    records.note("of these broken by the flips", status.broken as f64, "times");
    let ratio = flipping.own_rate() / generic.own_rate();
    records.at_least("rate meanwhile, of generic code's", ratio, "of it", 0.98);
    let unmatched = rig.counter("missed") + rig.counter("wrong");
    records.at_most("packets that found no entry, or another's", unmatched as f64, "", 0.0);
    let counts = rig.unload();
    records.at_most("packets lost", (counts.received - counts.sent) as f64, "", 0.0);
    Ok(())
}

fn refused(refusal: Refusal) -> Failure {
    Failure::environment(refusal.to_string())
}

/// The table that flips, its entry, and the key of that.
fn flipped(rig: &Rig) -> Option<(TableId, Entry, EntryKey)> {
    let program = rig.switch.lock().engine()?.program();
    let table = program.tables.iter().find(|(_, table)| table.name.ends_with(".first"))?.0;
    let matches = vec![Match::Exact(BigUint::from(1u32))];
    let action = EntryAction::Call(ActionCall { action: 0, arguments: vec![BigUint::from(1u32)] });
    let key = EntryKey { table, matches: matches.clone(), priority: 0 };
    Some((table, Entry { matches, priority: 0, action, constant: false }, key))
}

/// Generic code is put back for a write again and again.
fn breaks(rig: &Rig, builder: &Builder, records: &mut Records) -> Result<(), Failure> {
    let Some((table, entry, key)) = flipped(rig) else { return Ok(()) };
    let mut live = rig.switch.lock();
    let structures = live.structures.clone();
    let Some(engine) = live.engine() else { return Ok(()) };
    let program = engine.program();
    let mut builder = builder.with_passes_of(&program);
    builder.passes.facts = Facts::of(engine.store()).hold(engine.store());
    builder.passes.occupancy = Some(Occupancy { others_are_empty: true, ..Occupancy::default() });
    builder.passes.structures = structures;
    let built = pushed::build_loaded(&builder, Loaded { program: (*program).clone(), plan: None }, |_| {})?;
    let (mut times, mut pauses, mut bursts) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..BREAKS {
        engine.specialise(&built.compiled, built.pipeline.clone()).map_err(refused)?;
        std::thread::sleep(Duration::from_millis(10));
        engine.switch().take_longest_pause();
        engine.write(&Update::Insert { table, entry: entry.clone() }).map_err(refused)?;
        pauses.push(engine.switch().take_longest_pause());
        for broken in engine.take_breaks() {
            times.push(broken.time);
            // A packet of the load looks one table up.
            bursts.push(broken.lookups as f64 / BURST);
        }
        engine.write(&Update::Delete(key.clone())).map_err(refused)?;
    }
    times.sort();
    pauses.sort();
    bursts.sort_by(f64::total_cmp);
    let microseconds = |times: &[Duration], share: usize| {
        times.get((times.len().max(1) - 1) * share / 100).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    };
    records.note("facts broken, with the workers at full load", times.len() as f64, "");
    records.note("from the write to generic code, shortest", microseconds(&times, 0), "us");
    records.note("from the write to generic code, p50", microseconds(&times, 50), "us");
    records.note("from the write to generic code, longest", microseconds(&times, 100), "us");
    let median = bursts.get(bursts.len() / 2).copied().unwrap_or(0.0);
    records.at_most("bursts of the worker until then, p50", median, "bursts", 1.0);
    records.note("bursts of the worker until then, most", bursts.last().copied().unwrap_or(0.0), "bursts");
    records.note("pause of the worker between two bursts, p50", microseconds(&pauses, 50), "us");
    records.note("pause of the worker, longest", microseconds(&pauses, 100), "us");
    Ok(())
}

/// Lets the table flip for a time; what has to be done meanwhile is done every few milliseconds.
fn flip_for(rig: &Rig, time: Duration, mut meanwhile: impl FnMut()) -> Result<(), Failure> {
    let Some((table, entry, key)) = flipped(rig) else { return Ok(()) };
    let (begin, mut flips) = (Instant::now(), 0u32);
    while begin.elapsed() < time {
        if begin.elapsed() >= FLIP * (flips + 1) {
            flips += 1;
            let mut live = rig.switch.lock();
            let Some(engine) = live.engine() else { return Ok(()) };
            let is_there = engine.store().entry_count(table) > 0;
            let insert = Update::Insert { table, entry: entry.clone() };
            let update = if is_there { Update::Delete(key.clone()) } else { insert };
            engine.write(&update).map_err(refused)?;
        }
        meanwhile();
        std::thread::sleep(crate::run::LOOK);
    }
    Ok(())
}
