//! Entries that arrive while packets flow: what a packet takes over time, and when the code is exchanged.

use super::report::Records;
use super::rig::Rig;
use crate::run::pushed::Builder;
use crate::run::specialise::{Manner, Specialiser};
use crate::run::trial::Work;
use bench::{Figure, Role};
use control::plane::EntryKey;
use control::{DataPlane as _, Update};
use driver::failure::Failure;
use driver::files;
use hlir::effects::learns;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, MatchKind, Program, Scope, TableId};
use num_bigint::BigUint;
use runtime::MemoryPort;
use std::path::Path;
use std::time::{Duration, Instant};

/// What a packet takes is the mean of so long.
const SLICE: Duration = Duration::from_millis(100);
/// Entries that arrive one after the other.
const STEADY: u32 = 20;
/// Stretches of time: nothing is written, one entry arrives, more arrive steadily, all of them go.
const STRETCHES: u32 = 4;
const COMPILER_LIMIT: Duration = Duration::from_secs(120);

/// What is seen of the switch.
#[derive(Default)]
struct Seen {
    /// Seconds since the begin, and nanoseconds of the worker's own time per packet.
    slices: Vec<(f64, f64)>,
    /// Whether specialised code ran at the end of each slice.
    is_specialised: Vec<bool>,
    /// Seconds since the begin at which specialised code was seen to run, and at which a write had put generic code back.
    loaded: Vec<f64>,
    broken: Vec<f64>,
}

/// Entries arrive in a table that was empty, and that many packets look up. No packet finds one of them. `out`: where the picture goes.
pub fn arrivals(
    rig: &Rig,
    builder: Builder,
    stretch: Duration,
    out: Option<&Path>,
    records: &mut Records,
) -> Result<(), Failure> {
    // So that tables have been looked up.
    std::thread::sleep(SLICE);
    let (program, table) = {
        let mut live = rig.switch.lock();
        let engine = live.engine().expect("it has a pipeline");
        (engine.program(), most_asked(engine)?)
    };
    let mut specialiser = Specialiser::new(builder, Manner::fixed(COMPILER_LIMIT));
    let (mut seen, begin, mut written) = (Seen::default(), Instant::now(), 0);
    while begin.elapsed() < stretch * STRETCHES {
        let due = due(begin.elapsed().as_secs_f64() / stretch.as_secs_f64());
        write(rig, (&program, table), (&mut written, due))?;
        let slice = SLICE.min(stretch / 4);
        let at = begin.elapsed() + slice / 2;
        let rate = rig.packet_rate(|| {
            std::thread::sleep(slice);
            specialiser.tend(&rig.switch, begin.elapsed(), Work::default);
        });
        seen.slices.push((at.as_secs_f64(), 1e9 / rate.max(1.0)));
        let (status, now) = (specialiser.status(), begin.elapsed().as_secs_f64());
        seen.is_specialised.push(status.is_specialised);
        seen.loaded.resize(status.loaded as usize, now);
        seen.broken.resize(status.broken as usize, now);
    }
    let medians = [("a packet with generic code, median", false), ("a packet with specialised code, median", true)];
    for (what, is_specialised) in medians {
        seen.median(is_specialised).into_iter().for_each(|time| records.note(what, time, "ns"));
    }
    records.note("times that specialised code was loaded", seen.loaded.len() as f64, "");
    records.note("times that a write broke a fact", seen.broken.len() as f64, "");
    let counts = rig.unload();
    let gone = counts.sent + counts.released;
    records.at_most("packets lost", counts.received.saturating_sub(gone) as f64, "", 0.0);
    let name = &program.tables[table].name;
    out.map_or(Ok(()), |folder| {
        let failed = |error| Failure::environment(format!("{}: {error}", folder.display()));
        std::fs::create_dir_all(folder).map_err(failed)?;
        files::write(&folder.join("arrivals.svg"), seen.figure(name, stretch).file().as_bytes())
    })
}

/// How many entries are to be there, by the number of stretches that are over.
fn due(over: f64) -> u32 {
    match over {
        before if before < 1.0 => 0,
        one if one < 2.0 => 1,
        steady if steady < 3.0 => 1 + ((steady - 2.0) * f64::from(STEADY)) as u32,
        _ => 0,
    }
}

/// Writes or deletes entries, until as many are there as are due.
fn write(rig: &Rig, (program, table): (&Program, TableId), (written, due): (&mut u32, u32)) -> Result<(), Failure> {
    let mut live = rig.switch.lock();
    let engine = live.engine().expect("it has a pipeline");
    while *written != due {
        let update = if *written < due {
            *written += 1;
            Update::Insert { table, entry: unseen(program, table, *written) }
        } else {
            let Entry { matches, priority, .. } = unseen(program, table, *written);
            *written -= 1;
            Update::Delete(EntryKey { table, matches, priority })
        };
        engine.write(&update).map_err(|refusal| Failure::refusal("an entry that arrives", &refusal))?;
    }
    Ok(())
}

/// The empty table with the most lookups that takes such entries.
fn most_asked(engine: &mut native::NativeEngine<MemoryPort>) -> Result<TableId, Failure> {
    let program = engine.program();
    let takes = |id: TableId| {
        let table = &program.tables[id];
        let has_room = program.key_kinds(id).iter().any(|(_, width)| *width >= 8);
        let has_room = has_room && table.capacity().is_none_or(|most| most > u64::from(STEADY));
        let is_written = !table.entries_constant && table.profile.is_none() && !learns(&program, id);
        has_room && is_written && any_action(&program, id).is_some() && engine.store().entry_count(id) == 0
    };
    let candidates: Vec<TableId> = program.tables.iter().map(|(id, _)| id).filter(|id| takes(*id)).collect();
    let switch = engine.switch();
    let lookups = |id: TableId| {
        let name = &program.tables[id].name;
        let number = switch.pipeline().description().tables.iter().position(|table| table.name == *name)?;
        let (hits, misses) = switch.hits(number);
        Some(hits + misses)
    };
    candidates.into_iter().max_by_key(|id| lookups(*id)).ok_or_else(|| {
        Failure::input(
            "no table of the program is empty, has a key of 8 bits and room for 21 entries, and is written by controllers alone",
        )
    })
}

fn any_action(program: &Program, table: TableId) -> Option<usize> {
    program.tables[table].actions.iter().position(|action| action.scope != Scope::DefaultOnly)
}

/// An entry with keys of ones, as few packets have them: the widest key has another value in each.
fn unseen(program: &Program, table: TableId, number: u32) -> Entry {
    let kinds = program.key_kinds(table);
    let widest = (0..kinds.len()).max_by_key(|key| kinds[*key].1);
    let matches = kinds.iter().enumerate().map(|(key, (kind, width))| {
        let ones = (BigUint::from(1u32) << *width) - 1u32;
        let value = if Some(key) == widest { &ones - number } else { ones.clone() };
        match kind {
            MatchKind::Exact | MatchKind::Optional => Match::Exact(value),
            MatchKind::Lpm => Match::Lpm { value, prefix: *width },
            MatchKind::Ternary => Match::Ternary { value, mask: ones },
            MatchKind::Range => Match::Range { low: value.clone(), high: value },
        }
    });
    let matches = matches.collect();
    let action = any_action(program, table).unwrap_or_default();
    let arguments = program.tables[table].actions[action].parameters.iter().map(|_| BigUint::ZERO).collect();
    let call = ActionCall { action: action as u32, arguments };
    let priority = if program.tables[table].has_priorities() { number } else { 0 };
    Entry { matches, priority, action: EntryAction::Call(call), constant: false }
}

impl Seen {
    /// Of the slices at whose end this code ran, if there are any.
    fn median(&self, is_specialised: bool) -> Option<f64> {
        let of = self.slices.iter().zip(&self.is_specialised).filter(|(_, is)| **is == is_specialised);
        let mut times: Vec<f64> = of.map(|((_, time), _)| *time).collect();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied()
    }

    fn figure(&self, table: &str, stretch: Duration) -> Figure {
        let title = format!("Entries arrive in {table} while packets flow");
        let seconds = |stretches: u32| (stretch * stretches).as_secs_f64();
        let written = format!(
            "seconds; an entry arrives at {:.0}, {STEADY} more from {:.0} on, all go at {:.0}",
            seconds(1),
            seconds(2),
            seconds(3)
        );
        let mut figure = Figure::curves(&title, &written, "nanoseconds per packet");
        figure.log_x = false;
        figure.add("a packet", Role::Measured, 0, self.slices.clone());
        let moments = |times: &[f64]| times.iter().map(|at| (*at, 0.0)).collect();
        figure.add("specialised code is loaded", Role::Moment, 2, moments(&self.loaded));
        figure.add("a write breaks a fact: generic code", Role::Moment, 1, moments(&self.broken));
        figure
    }
}
