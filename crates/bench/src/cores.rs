//! Throughput over workers: the best plan on as many threads, each with packets of its own flows in memory.
//!
//! Packets are spread by a hash of their addresses, as a NIC's receive-side scaling does, before anything is measured. Time is that until all workers are done.

// To the process that draws the table, as `case`.
#![allow(clippy::print_stdout)]

use super::found::Found;
use super::runner::engine_of_workers;
use super::traffic::Traffic;
use super::variants::{Built, Origin, Subject, Variant};
use super::workload::Workload;
use crate::options::Options;
use driver::failure::Failure;
use native::NativeEngine;
use runtime::{Descriptor, MemoryPort, Packet, Trace, clock, core_isolation, pages};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::thread;

/// More workers are not measured.
const MOST: usize = 64;
/// Packets of a sample, for each worker.
const SAMPLE: u64 = 1 << 21;
const SAMPLES: usize = 5;
/// How variants are named.
pub const WORKERS: &str = "workers:";

/// One, two, four … workers, and as many as there are CPUs.
fn counts() -> Vec<usize> {
    let cpus = thread::available_parallelism().map_or(1, usize::from).min(MOST);
    let powers = std::iter::successors(Some(1), |count| Some(count * 2)).take_while(|count| *count < cpus);
    powers.chain([cpus]).collect()
}

pub fn run(workload: &Workload, options: &Options) -> Result<(), Failure> {
    core_isolation::spread();
    let subject = Subject::new(workload, options)?;
    let variant = Variant { name: "best".to_string(), origin: Origin::Best, descriptor: Descriptor::Own };
    let built = subject.build(&variant)?;
    let trace = (workload.trace)(Traffic::Uniform);
    let packets: Vec<Packet> = trace.packets().collect();
    let alone = built.predictor.as_ref().map(|predictor| predictor.cycles(&predictor.inputs.machine));
    let counts = counts();
    let burst = built.pipeline.description().burst;
    // Workers share nothing that they write but their flows' state, so they add up.
    let committed = |workers: usize| alone.map(|cycles| cycles / workers as f64);
    for workers in &counts {
        if let Some(cycles) = committed(*workers) {
            println!("committed\t{WORKERS}{workers}\t{burst}\t{cycles:.2}");
        }
    }
    for workers in counts {
        println!("step\tmeasuring {workers} workers");
        let samples = measured(&built, workload, &spread(&packets, workers))?;
        let (median, least, most) = (samples[SAMPLES / 2], samples[0], samples[SAMPLES - 1]);
        let found = Found {
            variant: format!("{WORKERS}{workers}"),
            traffic: Traffic::Uniform,
            burst,
            cycles: median,
            lookups: None,
            accesses: None,
            floor: 0.0,
            spread: (most - least) / 2.0 / median,
            predicted: committed(workers),
            committed: committed(workers),
            limit: median,
            drift: 0.0,
            pages: pages::measure().map_or("none".to_string(), |pages| pages.to_string()),
        };
        println!("{}", found.line());
    }
    Ok(())
}

/// The packets of each worker: all of a flow are on one.
pub fn spread(packets: &[Packet], workers: usize) -> Vec<Arc<Trace>> {
    let of = |worker: usize| {
        let own = packets.iter().filter(|packet| worker_of(&packet.bytes, workers) == worker);
        Arc::new(Trace::new(own.map(|packet| (packet.port, packet.bytes.as_slice()))))
    };
    (0..workers).map(of).collect()
}

/// By addresses, protocol and ports; both directions of a flow have the same. Other frames by their MAC addresses.
pub fn worker_of(frame: &[u8], workers: usize) -> usize {
    let bytes = |from: usize, count: usize| frame.get(from..from + count).unwrap_or_default();
    let (one, other, rest): (Vec<u8>, Vec<u8>, &[u8]) = match bytes(12, 2) {
        [0x08, 0x00] => ([bytes(26, 4), bytes(34, 2)].concat(), [bytes(30, 4), bytes(36, 2)].concat(), bytes(23, 1)),
        [0x86, 0xdd] => ([bytes(22, 16), bytes(54, 2)].concat(), [bytes(38, 16), bytes(56, 2)].concat(), bytes(20, 1)),
        _ => (bytes(0, 6).to_vec(), bytes(6, 6).to_vec(), &[]),
    };
    let mut hash = DefaultHasher::new();
    (one.clone().min(other.clone()), one.max(other), rest).hash(&mut hash);
    (hash.finish() % workers as u64) as usize
}

/// Ticks for each packet until the last worker is done, in order.
fn measured(built: &Built, workload: &Workload, parts: &[Arc<Trace>]) -> Result<Vec<f64>, Failure> {
    let Some((program, compiled)) = &built.programs else { return Err(Failure::environment("a program by hand")) };
    let mut engine = engine_of_workers((program, compiled), &built.pipeline, workload, parts.len())?;
    // All flows begin, and caches fill.
    run_once(&mut engine, parts, |part| part.len().max(SAMPLE / 4))?;
    let sample = |_| run_once(&mut engine, parts, |_| SAMPLE).map(|(ticks, packets)| ticks / packets as f64);
    let mut samples = (0..SAMPLES).map(sample).collect::<Result<Vec<f64>, Failure>>()?;
    samples.sort_by(f64::total_cmp);
    Ok(samples)
}

/// Runs all workers to the end of their packets.
fn run_once(
    engine: &mut NativeEngine<'static, MemoryPort>,
    parts: &[Arc<Trace>],
    packets: impl Fn(&Trace) -> u64,
) -> Result<(f64, u64), Failure> {
    let switch = engine.switch();
    let mut all = 0;
    for (worker, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        let lane = switch.lane(worker).ok_or_else(|| Failure::environment("a worker runs already"))?;
        lane.load(part.clone(), packets(part), 0);
        all += packets(part);
    }
    let begun = clock::ticks();
    switch.start();
    switch.join();
    let ticks = (clock::ticks() - begun) as f64;
    drop(switch.take_events(usize::MAX));
    Ok((ticks, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_of_a_flow_are_on_one_worker_and_flows_on_all() {
        let frame = |from: u8, to: u8| {
            let mut frame = vec![0u8; 64];
            frame[12] = 8;
            (frame[23], frame[29], frame[33], frame[35], frame[37]) = (17, from, to, from, to);
            frame
        };
        let workers: Vec<usize> = (0..64).map(|host| worker_of(&frame(host, 200), 4)).collect();
        assert!((0..4).all(|worker| workers.contains(&worker)), "{workers:?}");
        assert!((0..64).all(|host| worker_of(&frame(200, host), 4) == workers[usize::from(host)]));
        assert!(worker_of(&[1, 2, 3], 4) < 4);
    }
}
