//! What a program costs on the in-memory port, in all and by node.
//!
//! Nodes are timed in the plain program, where each stands alone; reading the clock before and after costs more than many nodes do, so that is
//! measured as well and taken off. Small nodes therefore come out with some cycles more or less.

use super::{Arguments, is_capture};
use crate::compile;
use crate::entries;
use crate::failure::Failure;
use crate::frontend;
use crate::inputs;
use crate::native::{NativeEngine, trace_of};
use crate::options::Passes;
use crate::pcap;
use hlir::Plan;
use hlir::plan::Descriptor;
use interp::DEFAULT_PORTS;
use interp::engine::Frame;
use opt::inputs::Profile;
use runtime::{Buffers, MemoryPort, Settings, Trace, clock};
use std::path::Path;
use std::sync::Arc;

const BUFFERS: Buffers = Buffers { count: 1024, bytes: 2048, headroom_bytes: 128 };
/// Packets of a sample: some 0.1 ms, shorter than a time slice.
const SAMPLE: u64 = 4096;
const SAMPLES: usize = 61;

pub struct Measured {
    /// Cycles a packet, under the plan and packet by packet.
    pub planned: f64,
    pub plain: f64,
    /// Cycles for each packet from a port, by node.
    pub nodes: Vec<(String, f64)>,
    pub profile: Profile,
}

/// A program that runs under some plan.
struct Run {
    cycles: f64,
    packets: f64,
    edges: Vec<(String, u64)>,
    nodes: Vec<(String, u64)>,
}

pub fn measure(arguments: &Arguments, passes: &Passes, packets: &Path) -> Result<Measured, Failure> {
    // Packets of a capture come in on port 0.
    let frames = if is_capture(packets) {
        pcap::read(packets)?.into_iter().map(|bytes| Frame { port: 0, bytes }).collect()
    } else {
        entries::packets(packets)?
    };
    if frames.is_empty() {
        return Err(Failure::input(format!("{}: there are no packets in it", packets.display())));
    }
    let refused = |refusal| Failure::refusal(packets.display(), &refusal);
    let trace = Arc::new(trace_of(&frames, BUFFERS.bytes - BUFFERS.headroom_bytes).map_err(refused)?);
    let counted = under(arguments, passes, &trace, |plan| {
        inputs::counting(plan);
        plan.instrument.cycles = true;
    })?;
    let mut profile = Profile::default();
    for (edge, count) in &counted.edges {
        let (from, to) = edge.split_once(" -> ").expect("the emitter writes edges so");
        profile.add(from, to, *count);
    }
    let nodes = nodes(&counted, &profile);
    let mut known = passes.clone();
    if known.profile.is_none() {
        known.counted = Some(profile.clone());
    }
    let planned = under(arguments, &known, &trace, |_| {})?.cycles;
    let plain = under(arguments, passes, &trace, |plan| *plan = Plan { burst: plan.burst, ..Plan::default() })?.cycles;
    Ok(Measured { planned, plain, nodes, profile })
}

/// Cycles by node, without what the clock costs.
fn nodes(run: &Run, profile: &Profile) -> Vec<(String, f64)> {
    let clock = clock_cycles();
    let cycles = |(name, cycles): &(String, u64)| {
        let visits = profile.arrived(name, true) as f64 / run.packets;
        (name.clone(), (*cycles as f64 / run.packets - visits * clock).max(0.0))
    };
    run.nodes.iter().map(cycles).collect()
}

/// What reading the clock twice costs, the best of many.
fn clock_cycles() -> f64 {
    (0..10_000)
        .map(|_| {
            let start = clock::ticks();
            clock::ticks() - start
        })
        .min()
        .map_or(0.0, |ticks| ticks as f64)
}

/// Compiles the program under the plan that `adjust` makes of the passes', and runs it.
fn under(
    arguments: &Arguments,
    passes: &Passes,
    trace: &Arc<Trace>,
    adjust: impl FnOnce(&mut Plan),
) -> Result<Run, Failure> {
    let loaded = frontend::load(&arguments.source)?;
    let program = loaded.program.clone();
    let mut burst = 0;
    let (pipeline, compiled) = compile::pipeline(loaded, passes, &arguments.native, |plan| {
        adjust(plan);
        plan.descriptor = Descriptor::Own;
        burst = plan.burst;
    })?;
    let lanes = || vec![MemoryPort::new(BUFFERS)];
    let settings = Settings { ports: DEFAULT_PORTS, seed: 0 };
    let mut engine = NativeEngine::new((&program, &compiled), pipeline.clone(), settings, lanes)?;
    entries::load(&mut engine, &passes.entries, DEFAULT_PORTS)?;
    let burst = if burst == 0 { 32 } else { burst };
    let samples = samples(&mut engine, trace, burst);
    let switch = engine.switch();
    let description = pipeline.description();
    Ok(Run {
        cycles: samples[samples.len() / 2],
        packets: (SAMPLE * (SAMPLES as u64 + 1)) as f64,
        edges: description.edges.iter().cloned().zip(switch.edges()).collect(),
        nodes: description.nodes.iter().cloned().zip(switch.cycles()).collect(),
    })
}

/// Cycles a packet, sorted.
fn samples(engine: &mut NativeEngine<'_, MemoryPort>, trace: &Arc<Trace>, burst: u32) -> Vec<f64> {
    let switch = engine.switch();
    let mut more = |first: bool| {
        let lane = switch.lane(0).expect("no thread runs the only lane");
        if first {
            lane.load(trace.clone(), 0, burst);
        }
        lane.more(SAMPLE);
        let start = clock::ticks();
        switch.run(0);
        let cycles = (clock::ticks() - start) as f64 / SAMPLE as f64;
        // What packets told the control plane is not wanted, but must not fill its ring.
        let _ = switch.take_events();
        cycles
    };
    more(true);
    let mut samples: Vec<f64> = (0..SAMPLES).map(|_| more(false)).collect();
    samples.sort_by(f64::total_cmp);
    samples
}
