//! Where a workload's packets go: the profile that a user would take from a running switch before planning for its traffic.

use super::entry::Encoder;
use super::traffic::Traffic;
use super::workload::Workload;
use driver::compile;
use driver::externs::Externs;
use driver::failure::Failure;
use driver::inputs;
use driver::options::Native;
use hlir::{Plan, Program};
use native::translate;
use opt::inputs::Profile;
use runtime::{Buffers, MemoryPort, Pipeline, Settings, Switch};
use std::sync::Arc;

/// Packets that are counted.
const PACKETS: u64 = 1 << 14;
const PORTS: u32 = 512;

/// Runs the plain program with the workload's entries on some of its packets, and counts them on each edge.
pub fn profile(program: &Program, workload: &Workload, native: &Native) -> Result<Profile, Failure> {
    let mut plan = Plan { descriptor: hlir::plan::Descriptor::Own, ..Plan::default() };
    inputs::counting(&mut plan);
    let none = Externs::default();
    let c = compile::emit(program, &plan, &none)?;
    let object = compile::object(&program.name, &c, plan.descriptor, (native, &none))?;
    let pipeline = Arc::new(Pipeline::load(&object)?);
    let settings = Settings { ports: PORTS, seed: 1 };
    let mut switch = Switch::new(pipeline.clone(), vec![MemoryPort::new(Buffers::default())], settings)?;
    fill(&switch, program, workload)?;
    let trace = Arc::new((workload.trace)(Traffic::Uniform));
    switch.lane(0).expect("no thread runs the only lane").load(trace, PACKETS, 0);
    switch.run(0);
    Ok(inputs::profile_of(pipeline.description(), &switch.counts()))
}

fn fill(switch: &Switch<MemoryPort>, program: &Program, workload: &Workload) -> Result<(), Failure> {
    let tables = &switch.pipeline().description().tables;
    for (number, described) in tables.iter().enumerate() {
        let Some((_, table)) = program.tables.iter().find(|(_, table)| table.name == described.name) else { continue };
        let name = &table.actions[table.default.action as usize].name;
        let record = translate::record(described, name, &table.default);
        let record = record.map_err(|refusal| Failure::refusal(&table.name, &refusal))?;
        let set = switch.tables()[number].set_default(&record);
        set.map_err(|error| Failure::input(format!("table `{}`: {error}", table.name)))?;
    }
    let mut encoder = Encoder::new(tables);
    (workload.entries)(&mut |entry| {
        let Some((number, matches, record)) = encoder.encode(entry)? else { return Ok(()) };
        let inserted = switch.tables()[number].insert(&matches, &record);
        inserted.map(drop).map_err(|error| Failure::input(format!("table `{}`: {error}", entry.table)))
    })
}
