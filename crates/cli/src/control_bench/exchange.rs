//! What changes for all packets at once: another program in the place of the running one, and batches that packets see as a whole.

use super::client::{Client, refused};
use super::entries::{self, PAIRED};
use super::report::Records;
use super::{Bench, PROGRAM};
use control::message::runtime::{update::Type, write_request::Atomicity};
use driver::failure::Failure;
use std::time::{Duration, Instant};

/// Packets of a burst.
const BURST: f64 = 32.0;
/// Exchanges of which pauses are compared: one number shows more of the machine than of the switch.
const EXCHANGES: usize = 9;

pub fn exchange(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    let rig = bench.rig()?;
    let mut client = Client::of(&rig)?;
    client.write_all(entries::hosts(&bench.ids, 0, bench.entries))?;
    // A table of another size is a new one: it is filled beside the old.
    let other = PROGRAM.replacen("size = 2097152", "size = 2097151", 1);
    rig.load(entries::to_hosts(bench.entries));
    let (rate, _, ()) = rig.rates(|| std::thread::sleep(bench.seconds.min(Duration::from_secs(1))));
    let begin = Instant::now();
    client.exchange(&other)?;
    let seconds = begin.elapsed().as_secs_f64();
    let mut pauses = vec![rig.take_longest_pause().as_secs_f64()];
    for number in 1..EXCHANGES {
        client.exchange(if number % 2 == 0 { &other } else { PROGRAM })?;
        pauses.push(rig.take_longest_pause().as_secs_f64());
    }
    std::thread::sleep(bench.seconds.min(Duration::from_secs(1)));
    let unmatched = rig.counter("missed") + rig.counter("wrong");
    let first = pauses[0];
    pauses.sort_by(f64::total_cmp);
    let (median, longest) = (pauses[EXCHANGES / 2], pauses[EXCHANGES - 1]);
    let counts = rig.unload();
    records.note("entries kept", f64::from(bench.entries), "");
    records.note("SetForwardingPipelineConfig, compiler included", seconds, "s");
    records.at_most("packets lost", (counts.received - counts.sent) as f64, "", 0.0);
    records.at_most("packets that found no entry, or another's", unmatched as f64, "", 0.0);
    records.note("first of nine pauses of the worker", first * 1e6, "us");
    records.note("longest pause of the worker", longest * 1e6, "us");
    records.note("median pause in bursts", median * rate / BURST, "bursts");
    records.at_most("longest pause in bursts", longest * rate / BURST, "bursts", 1.0);
    Ok(())
}

/// Packets look the same key up in two tables, and compare what they find: a batch gives both the same number.
pub fn atomic(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    const KEYS: u32 = 64;
    let rig = bench.rig()?;
    let mut client = Client::of(&rig)?;
    let tables = ["first", "second"].map(|name| (bench.ids.table(name), bench.ids.action(&format!("set_{name}"))));
    let batch = |kind: Type, version: u32| {
        let entry = |key: u32, table| entries::with_parameter(kind, table, &key.to_be_bytes(), version);
        let of_table = |table| (0..KEYS).map(move |key| entry(key, table));
        Client::request(tables.into_iter().flat_map(of_table).collect())
    };
    client.write(batch(Type::Insert, 0)).map_err(|status| refused(&status))?;
    rig.load(entries::to_addresses(PAIRED, (0..4096).map(|number| number % KEYS)));
    let (begin, mut batches) = (Instant::now(), 0u32);
    while begin.elapsed() < bench.seconds {
        batches += 1;
        let mut request = batch(Type::Modify, batches);
        request.atomicity = Atomicity::DataplaneAtomic.into();
        client.write(request).map_err(|status| refused(&status))?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let torn = rig.counter("torn");
    let counts = rig.unload();
    records.note("batches of 128 updates", f64::from(batches) / seconds, "/s");
    records.at_most("packets that saw half of one", torn as f64, "", 0.0);
    records.at_most("packets lost", (counts.received - counts.sent) as f64, "", 0.0);
    Ok(())
}
