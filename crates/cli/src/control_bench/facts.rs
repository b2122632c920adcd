//! What facts about tables cost a write: the decision whether it breaks one, and the counters that follow it.

use super::entries::Draw;
use super::report::Records;
use control::plane::EntryKey;
use control::{Facts, Store, Update};
use driver::failure::Failure;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use num_bigint::BigUint;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Writes in a second.
const RATE: u32 = 50_000;
/// One write in so many breaks a fact: an entry in a table that was empty.
const BREAKS_EVERY: u32 = 1000;

/// Times of one step, of all writes.
#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn add(&mut self, from: Instant) {
        self.0.push(from.elapsed());
    }

    fn microseconds(&mut self, share: f64) -> f64 {
        self.0.sort();
        let at = ((self.0.len().max(1) - 1) as f64 * share).round() as usize;
        self.0.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    }
}

/// Measures so long, with at most so many entries in the table that is written to.
pub fn facts(program: &Arc<Program>, entries: u32, time: Duration, records: &mut Records) -> Result<(), Failure> {
    let (Some(hosts), Some(first)) = (table(program, ".hosts"), table(program, ".first")) else {
        return Err(Failure::environment("the program of the measurement lacks its tables".to_string()));
    };
    let mut store = Store::new(program.clone());
    let held = entries.min(100_000);
    let write = |store: &mut Store, update: &Update| {
        store.apply(update).map(drop).map_err(|refusal| Failure::environment(refusal.to_string()))
    };
    let insert = |table: TableId, number: u32| Update::Insert { table, entry: entry(table == hosts, number) };
    for number in 0..held {
        write(&mut store, &insert(hosts, number))?;
    }
    store.count_facts();
    let assumed = Facts::of(&store).hold(&store);
    store.assume(&assumed);
    let count = (time.as_secs_f64() * f64::from(RATE)) as u32;
    let (mut draw, mut decisions, mut writes, mut broken) = (Draw::new(), Times::default(), Times::default(), 0u32);
    let (begin, mut next) = (Instant::now(), held);
    for at in 0..count {
        // As fast as the controller of the goal, no faster: caches are as cold as they then are.
        while begin.elapsed() < Duration::from_secs(1) * at / RATE {
            std::hint::spin_loop();
        }
        let update = match at % 4 {
            _ if at % BREAKS_EVERY == BREAKS_EVERY - 1 => insert(first, 0),
            0 => {
                next += 1;
                insert(hosts, next)
            }
            1 => delete(hosts, next),
            _ => Update::Modify { table: hosts, entry: entry(true, draw.below(held)) },
        };
        let decided = Instant::now();
        let breaks = store.broken_by(&update).is_some();
        decisions.add(decided);
        if breaks {
            // Generic code runs from here on; then code is made for what holds again.
            store.assume(&[]);
            write(&mut store, &update)?;
            write(&mut store, &delete(first, 0))?;
            store.assume(&assumed);
            broken += 1;
            continue;
        }
        let written = Instant::now();
        write(&mut store, &update)?;
        writes.add(written);
    }
    let rate = f64::from(count) / begin.elapsed().as_secs_f64();
    records.at_least("writes while facts are kept", rate, "/s", f64::from(RATE) * 0.99);
    records.note("entries in the table", f64::from(held), "");
    records.note("facts taken for granted", assumed.len() as f64, "");
    records.note("writes that broke one", f64::from(broken), "");
    records.note("decision, p50", decisions.microseconds(0.5), "us");
    records.at_most("decision, p99", decisions.microseconds(0.99), "us", 10.0);
    records.note("check, decision, counters and store, p50", writes.microseconds(0.5), "us");
    records.note("check, decision, counters and store, p99", writes.microseconds(0.99), "us");
    let right = *store.facts().unwrap_or(&Facts::of(&store)) == Facts::of(&store);
    records.at_most("facts other than those derived anew", f64::from(u8::from(!right)), "", 0.0);
    Ok(())
}

fn table(program: &Program, end: &str) -> Option<TableId> {
    program.tables.iter().find(|(_, table)| table.name.ends_with(end)).map(|(table, _)| table)
}

fn key(number: u32) -> Vec<Match> {
    vec![Match::Exact(BigUint::from(number))]
}

/// The first action of either table: all entries of `hosts` have a port and a check of their own.
fn entry(is_host: bool, number: u32) -> Entry {
    let arguments = if is_host { vec![number % 8, number] } else { vec![number] };
    let arguments = arguments.into_iter().map(BigUint::from).collect();
    let action = EntryAction::Call(ActionCall { action: 0, arguments });
    Entry { matches: key(number), priority: 0, action, constant: false }
}

fn delete(table: TableId, number: u32) -> Update {
    Update::Delete(EntryKey { table, matches: key(number), priority: 0 })
}
