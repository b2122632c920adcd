//! Throughput over workers: the best plan on as many threads, each with packets of its own flows in memory.
//!
//! Packets are spread by a hash of their addresses, as a NIC's receive-side scaling does, before anything is measured. Time is that until all workers are done.
//!
//! Beside N workers of a switch run N switches that share nothing, on the same packets: what the machine's cores allow. They take turns.

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
/// More switches that share nothing are not measured: each has tables of its own.
const MOST_ALONE: usize = 8;
/// How variants are named: workers of one switch, and switches with a worker each.
pub const WORKERS: &str = "workers:";
pub const ALONE: &str = "switches:";

type Engine = NativeEngine<'static, MemoryPort>;

/// A variant: its switches, and the packets of each worker.
struct Measured {
    name: String,
    workers: usize,
    engines: Vec<Engine>,
    parts: Vec<Arc<Trace>>,
    samples: Vec<f64>,
}

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
    let mut all = Vec::new();
    for workers in counts {
        println!("step\tfilling switches for {workers} workers");
        let parts = spread(&packets, workers);
        let engine = |workers| engine_of(&built, workload, workers);
        let of = |name: &str, engines| Measured {
            name: format!("{name}{workers}"),
            workers,
            engines,
            parts: parts.clone(),
            samples: Vec::new(),
        };
        all.push(of(WORKERS, vec![engine(workers)?]));
        if (2..=MOST_ALONE).contains(&workers) {
            let engines = (0..workers).map(|_| engine(1)).collect::<Result<Vec<Engine>, Failure>>()?;
            all.push(of(ALONE, engines));
        }
    }
    measure(&mut all)?;
    for Measured { name, workers, samples, .. } in all {
        let (median, least, most) = (samples[SAMPLES / 2], samples[0], samples[SAMPLES - 1]);
        let found = Found {
            variant: name,
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

fn engine_of(built: &Built, workload: &Workload, workers: usize) -> Result<Engine, Failure> {
    let Some((program, compiled)) = &built.programs else { return Err(Failure::environment("a program by hand")) };
    engine_of_workers((program, compiled), &built.pipeline, workload, workers)
}

/// Takes samples of all in turns: ticks for each packet until the last worker is done, in order.
fn measure(all: &mut [Measured]) -> Result<(), Failure> {
    // All flows begin, and caches fill.
    for one in all.iter_mut() {
        run_once(one, |part| part.len().max(SAMPLE / 4))?;
    }
    for sample in 1..=SAMPLES {
        println!("step\tmeasuring, sample {sample} of {SAMPLES}");
        for one in all.iter_mut() {
            let (ticks, packets) = run_once(one, |_| SAMPLE)?;
            one.samples.push(ticks / packets as f64);
        }
    }
    all.iter_mut().for_each(|one| one.samples.sort_by(f64::total_cmp));
    Ok(())
}

/// Runs all workers to the end of their packets.
fn run_once(measured: &mut Measured, packets: impl Fn(&Trace) -> u64) -> Result<(f64, u64), Failure> {
    let Measured { engines, parts, .. } = measured;
    let mut all = 0;
    let count = engines.len();
    for (worker, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        // One switch has all workers, or each switch has one.
        let (engine, worker) = if count == 1 { (0, worker) } else { (worker, 0) };
        let own_ports = engines[engine].switch().ports_of(worker);
        let own_ports = own_ports.ok_or_else(|| Failure::environment("a worker runs already"))?;
        own_ports.load(part.clone(), packets(part), 0);
        all += packets(part);
    }
    let begun = clock::ticks();
    engines.iter_mut().for_each(|engine| engine.switch().start());
    engines.iter_mut().for_each(|engine| engine.switch().join());
    let ticks = (clock::ticks() - begun) as f64;
    engines.iter_mut().for_each(|engine| drop(engine.switch().take_events(usize::MAX)));
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
