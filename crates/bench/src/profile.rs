//! Where a workload's packets go: the profile that a user would take from a running switch before planning for its traffic.

use super::runner::engine;
use super::traffic::Traffic;
use super::workload::Workload;
use driver::compile;
use driver::externs::Externs;
use driver::failure::Failure;
use driver::inputs;
use driver::options::Native;
use hlir::{Plan, Program};
use opt::inputs::Profile;
use runtime::{MemoryPort, Pipeline};
use std::sync::Arc;

/// Packets that are counted.
const PACKETS: u64 = 1 << 14;

/// Runs the plain program, as its passes leave it, with the workload's entries on some of its packets, and counts them on each edge.
pub fn profile(
    (written, program): (&Program, &Program),
    workload: &Workload,
    (native, externs): (&Native, &Externs),
) -> Result<Profile, Failure> {
    let mut plan = Plan { descriptor: hlir::plan::Descriptor::Own, ..Plan::default() };
    inputs::counting(&mut plan);
    let c = compile::emit(program, &plan, externs)?;
    let object = compile::object(&program.name, &c, plan.descriptor, (native, externs))?;
    let pipeline = Arc::new(Pipeline::load(&object)?);
    let buffers = workload.buffers;
    let (mut engine, _) = engine((written, program), &pipeline, workload, move || MemoryPort::new(buffers))?;
    let trace = Arc::new((workload.trace)(Traffic::Uniform));
    let mut run = |packets: u64| {
        engine.switch().ports_of(0).expect("no thread runs its worker").load(trace.clone(), packets, 0);
        engine.switch().run(0);
        engine.counts()
    };
    // As measured: all flows have begun.
    let before = workload.is_learning.then(|| run(trace.len()));
    let mut counts = run(PACKETS);
    if let Some(before) = before {
        counts.edges.iter_mut().zip(&before.edges).for_each(|(all, begun)| *all -= begun);
        let begun = counts.lookups.iter_mut().zip(&before.lookups);
        begun.for_each(|(all, begun)| *all = (all.0 - begun.0, all.1 - begun.1));
    }
    Ok(inputs::profile_of(pipeline.description(), &counts))
}
