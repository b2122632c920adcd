//! A crowd of controllers, of which the primary one never reads.

use super::Bench;
use super::client::{Client, Connection, refused};
use super::entries;
use super::report::Records;
use control::message::runtime::CapabilitiesRequest;
use driver::failure::Failure;
use runtime::open_files;
use std::time::{Duration, Instant};

/// Connections, as many as the switch takes streams.
const CONNECTIONS: usize = 1000;
/// Open files of a connection: both its ends are in this process.
const ENDS: usize = 2;
/// Open files that remain for anything else.
const RESERVE: usize = 64;
/// One of so many packets is for the controller.
const PACKETS_PER_PACKET_IN: usize = 64;
/// Turns with and without the crowd: what else the machine does meets both.
const TURNS: u32 = 5;

/// As many connections as the process may have.
fn possible() -> usize {
    let limit = open_files::raise_limit();
    let possible = limit.saturating_sub(open_files::count() + RESERVE) / ENDS;
    if possible < CONNECTIONS {
        eprintln!(
            "note: a process of this user may have {limit} open files, so there are {possible} connections, not \
             {CONNECTIONS}: raise the hard limit (`ulimit -H -n`) for all"
        );
    }
    possible.clamp(2, CONNECTIONS)
}

pub fn connections(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    let connections = possible();
    let window = (bench.seconds / TURNS).max(Duration::from_millis(100));
    let (mut quiet, mut crowded, mut slowest) = (Vec::new(), Vec::new(), Duration::ZERO);
    let mut answered = 0;
    for _ in 0..TURNS {
        let rig = bench.rig()?;
        let mut client = Client::of(&rig)?;
        client.write_all(entries::hosts(&bench.ids, 0, bench.few()))?;
        rig.load(entries::with_packet_ins(PACKETS_PER_PACKET_IN, bench.few()));
        std::thread::sleep(window / 5);
        let (rate, own, ()) = rig.rates(|| std::thread::sleep(window));
        quiet.push((rate, own));
        let Client { runtime, connection: mut never_reads } = client;
        let crowd: Result<Vec<Connection>, tonic::Status> = runtime.block_on(async {
            let mut crowd = Vec::new();
            for number in 1..connections {
                // The primary controller has the highest id, and is not among them.
                crowd.push(Connection::open_backup(rig.address(), number as u64).await?);
            }
            Ok(crowd)
        });
        let crowd = crowd.map_err(|status| refused(&status))?;
        let (rate, own, asked) = rig.rates(|| {
            let begin = Instant::now();
            let (mut asked, mut slowest) = (0, Duration::ZERO);
            while begin.elapsed() < window {
                let one = Instant::now();
                let service = &mut never_reads.service;
                if runtime.block_on(service.capabilities(CapabilitiesRequest::default())).is_ok() {
                    asked += 1;
                }
                slowest = slowest.max(one.elapsed());
                std::thread::sleep(Duration::from_millis(1));
            }
            (asked, slowest)
        });
        crowded.push((rate, own));
        answered += asked.0;
        slowest = slowest.max(asked.1);
        runtime.block_on(async move { drop(crowd) });
    }
    let ratio = |pick: fn(&(f64, f64)) -> f64| median(&crowded, pick) / median(&quiet, pick);
    records.note("connections with a stream", connections as f64, "");
    records.at_least("rate with them, by the clock", ratio(|rates| rates.0), "of it", 0.95);
    records.at_least("rate with them, of the worker's time", ratio(|rates| rates.1), "of it", 0.95);
    records.at_least("calls answered meanwhile", f64::from(answered), "", 1.0);
    records.note("slowest answer", slowest.as_secs_f64() * 1000.0, "ms");
    Ok(())
}

fn median(rates: &[(f64, f64)], pick: fn(&(f64, f64)) -> f64) -> f64 {
    let mut picked: Vec<f64> = rates.iter().map(pick).collect();
    picked.sort_by(f64::total_cmp);
    picked[picked.len() / 2]
}
