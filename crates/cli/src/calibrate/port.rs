//! What the in-memory port costs a packet, and what an operation of generated code costs: both by running pipelines.

use crate::compile;
use crate::externs::Externs;
use crate::failure::Failure;
use hlir::Plan;
use hlir::plan::Descriptor;
use opt::Inputs;
use opt::analyze::Traffic;
use opt::inputs::machine::Port;
use opt::inputs::{Access, Machine};
use opt::model::Model;
use runtime::{Buffers, Compiler, MemoryPort, Pipeline, Settings, Switch, Trace, Undisturbed, clock};
use std::sync::Arc;

const ECHO: &str = include_str!("../../../../bench/peers/echo.c");
const OPERATIONS: &str = include_str!("operations.hlir");
const BURSTS: [u32; 3] = [32, 64, 128];
/// As `bacus bench` runs programs.
const BUFFERS: Buffers = Buffers { count: 1024, bytes: 2048, headroom_bytes: 128 };
const PORTS: u32 = 512;
const PACKETS: u32 = 1 << 14;
const SAMPLE: u64 = 4096;
/// Samples of a round, and rounds: pipelines take turns, so that what disturbs one disturbs all.
const SAMPLES: usize = 21;
const ROUNDS: usize = 12;
/// Lines of an mbuf that its port and the program touch, beside what own descriptors touch.
const MBUF_LINES: f64 = 2.0;
/// Bytes of an mbuf's head.
const MBUF_BYTES: u64 = 128;

pub struct Measured {
    pub port: Port,
    pub operation_cycles: f64,
}

/// Runs both; `machine` has been measured but for what this finds.
pub fn measure(compiler: &Compiler, machine: &Machine) -> Result<Measured, Failure> {
    let echo = load(compiler, "echo", ECHO)?;
    let program = hlir::text::parse_program(OPERATIONS).expect("the program of the calibration is right");
    let plan = Plan { descriptor: Descriptor::Own, burst: BURSTS[1], ..Plan::default() };
    let operations = load(compiler, "operations", &compile::emit(&program, &plan, &Externs::default())?)?;
    let [first, usual, last, worked] =
        cycles([(&echo, BURSTS[0]), (&echo, BURSTS[1]), (&echo, BURSTS[2]), (&operations, BURSTS[1])])?;
    let own = vec![first, usual, last];
    let inputs = Inputs::default();
    let traffic = Traffic::estimate(&program, &inputs);
    let count = Model::new(&program, &inputs, &traffic).packet_operations(&[]);
    let head = machine.line_cycles(Access::Load, u64::from(BUFFERS.count) * MBUF_BYTES, machine.parallelism);
    let mbuf = own.iter().map(|cycles| cycles + MBUF_LINES * head).collect();
    // A machine that was disturbed between the two says something absurd; a tick for a hundred operations is as absurd.
    let operation_cycles = ((worked - usual) / count).max(0.01);
    Ok(Measured { port: Port { burst: BURSTS.to_vec(), own, mbuf }, operation_cycles })
}

fn load(compiler: &Compiler, name: &str, c: &str) -> Result<Arc<Pipeline>, Failure> {
    let object = compiler.pipeline(&compile::cache()?, name, c, runtime::Descriptor::Own)?;
    Ok(Arc::new(Pipeline::load(&object)?))
}

/// Cycles a packet of several pipelines, by turns: the lower quartiles of their samples.
fn cycles<const N: usize>(runs: [(&Arc<Pipeline>, u32); N]) -> Result<[f64; N], Failure> {
    let trace = Arc::new(trace());
    let mut switches = Vec::new();
    for (pipeline, burst) in runs {
        let settings = Settings { ports: PORTS, seed: 1 };
        let mut switch = Switch::new(pipeline.clone(), vec![MemoryPort::new(BUFFERS)], settings)?;
        lane(&mut switch).load(trace.clone(), 0, burst);
        switches.push((switch, Vec::new()));
    }
    for _ in 0..ROUNDS {
        for (switch, samples) in &mut switches {
            let _undisturbed = Undisturbed::begin();
            for taken in 0..SAMPLES {
                lane(switch).more(SAMPLE);
                let start = clock::ticks();
                switch.run(0);
                // The first warms it up again.
                if taken > 0 {
                    samples.push((clock::ticks() - start) as f64 / SAMPLE as f64);
                }
            }
        }
    }
    let mut costs = [0.0; N];
    for (cost, (_, samples)) in costs.iter_mut().zip(&mut switches) {
        samples.sort_by(f64::total_cmp);
        *cost = samples[samples.len() / 4];
    }
    Ok(costs)
}

fn lane(switch: &mut Switch<MemoryPort>) -> &mut MemoryPort {
    switch.lane(0).expect("no thread runs the only lane")
}

/// Packets of 64 bytes that the program lets through, with addresses of their own.
fn trace() -> Trace {
    let mut frame = vec![0u8; 64];
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    frame[14..24].copy_from_slice(&[0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
    let mixed = |packet: u32| u64::from(packet).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    let addresses: Vec<u8> = (0..PACKETS).flat_map(mixed).collect();
    Trace::new([(1u16, frame.as_slice())]).overlay(vec![0; PACKETS as usize], 26, 8, &addresses)
}
