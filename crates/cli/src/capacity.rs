//! `bacus capacity`: how many entries each table takes, and what bounds it. Measured: each table is filled with generated entries, by itself.

use crate::run::pushed;
use crate::stat::text::memory;
use clap::Args;
use driver::compile;
use driver::entries::{Draws, fill};
use driver::failure::Failure;
use driver::flags;
use driver::frontend;
use driver::options::{Native, Passes, Source};
use driver::stdout::print_line;
use hlir::plan::TablePlan;
use hlir::{Program, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Pipeline, Settings, TableError, memory_limit};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub const EXAMPLES: &str = "\
Examples:
  bacus capacity router.p4 --memory 4G        each table, in a switch that takes 4 GiB
  bacus capacity router.p4 --table ingress.fib --json

A table is bounded by its `size`, by its data structure, by its keys, or by the memory. With
`bacus run --memory 4G`, entries up to there are taken; one that does not fit is refused with
RESOURCE_EXHAUSTED. docs/capacity.md describes what is measured.";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Memory of the switch [default: nine tenths of the machine's, or the container's]
    #[arg(long, value_name = "BYTES", value_parser = flags::bytes)]
    memory: Option<u64>,
    /// Only this table; repeatable
    #[arg(long = "table", value_name = "NAME")]
    tables: Vec<String>,
    /// Entries to measure with, at most
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = clap::value_parser!(u64).range(1024..=1 << 30))]
    sample: u64,
    /// Print a list of objects
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    passes: Passes,
    #[command(flatten)]
    native: Native,
}

/// Time to fill one table.
const ENOUGH: Duration = Duration::from_secs(3);
/// What a switch takes beside its tables: packet buffers by default, DPDK, and the control plane.
const BASE: u64 = 192 << 20;
/// Samples to a doubling of entries.
const STEPS: u64 = 8;
/// Growth by more than this between two samples is an array that was replaced by a larger one: both are there for a while.
const JUMP: f64 = 1.3;
/// The fewest entries whose memory is that of more.
const FEW: u64 = 256;

/// What was found of a table.
struct Found {
    table: String,
    structure: String,
    entries: u64,
    bound: &'static str,
    /// Of an entry in the table and the store, at most; none where too few were measured.
    entry_bytes: Option<u64>,
    /// Of the table when it is full.
    bytes: u64,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let loaded = frontend::load(&arguments.source)?;
    let program = loaded.program.clone();
    let wanted = wanted(&program, &arguments.tables)?;
    let mut planned = Vec::new();
    let (pipeline, compiled) = compile::pipeline(loaded, &arguments.passes, &arguments.native, |plan| {
        plan.descriptor = hlir::plan::Descriptor::Own;
        planned.clone_from(&plan.tables);
    })?;
    let structures = pushed::structures(&compiled, &pipeline, &planned);
    let limit = arguments.memory.or_else(memory_limit::of_machine).unwrap_or(u64::MAX);
    let room = limit.saturating_sub(limit / 32).saturating_sub(BASE);
    let measure =
        Measure { program: &program, compiled: &compiled, pipeline, structures, room, sample: arguments.sample };
    let found = wanted.iter().filter_map(|id| measure.table(*id)).collect::<Result<Vec<Found>, Failure>>()?;
    if arguments.json {
        print_line!("{}", found.iter().map(Found::json).collect::<Value>());
        return Ok(());
    }
    print_table(&found);
    let all: u64 = found.iter().filter(|found| found.bound != "memory").map(|found| found.bytes).sum();
    print_line!("");
    print_line!("tables with a bound of their own, all full: {} of {}", memory(all), memory(room));
    Ok(())
}

/// The tables to measure: those that controllers may write.
fn wanted(program: &Program, names: &[String]) -> Result<Vec<TableId>, Failure> {
    let writable = |(_, table): &(TableId, &hlir::Table)| !table.entries_constant;
    if names.is_empty() {
        return Ok(program.tables.iter().filter(writable).map(|(id, _)| id).collect());
    }
    let find = |name: &String| {
        let mut tables = program.tables.iter();
        let found = tables.find(|(_, table)| table.name == *name || table.name.ends_with(&format!(".{name}")));
        let known = || program.tables.iter().map(|(_, table)| table.name.as_str()).collect::<Vec<_>>().join(", ");
        match found {
            Some((_, table)) if table.entries_constant => {
                Err(Failure::input(format!("--table {name}: its entries are constant, so it takes no others")))
            }
            Some((id, _)) => Ok(id),
            None => Err(Failure::input(format!(
                "--table {name}: the program has no such table\nhint: tables are {}",
                known()
            ))),
        }
    };
    names.iter().map(find).collect()
}

struct Measure<'p> {
    program: &'p Program,
    compiled: &'p Program,
    pipeline: Arc<Pipeline>,
    structures: Vec<TablePlan>,
    /// For entries.
    room: u64,
    sample: u64,
}

/// The memory of a number of entries.
#[derive(Clone, Copy)]
struct Sample {
    entries: u64,
    bytes: u64,
}

impl Measure<'_> {
    /// None for a table that no packet looks up.
    fn table(&self, id: TableId) -> Option<Result<Found, Failure>> {
        let table = &self.program.tables[id];
        let planned = self.structures.iter().find(|planned| planned.table == table.name)?;
        Some(self.filled(id).map(|(samples, stopped)| {
            let (entries, bound, entry_bytes) = self.bound(id, planned, &samples, stopped);
            let full = samples.last().copied().unwrap_or(Sample { entries: 0, bytes: 0 });
            let more = entries.saturating_sub(full.entries).saturating_mul(entry_bytes.unwrap_or(0));
            let bytes = full.bytes + more;
            Found {
                table: table.name.clone(),
                structure: hlir::text::written_structure(planned.structure).to_string(),
                entries,
                bound,
                entry_bytes,
                bytes,
            }
        }))
    }

    /// Fills the table in steps, until it takes no more or enough is known.
    fn filled(&self, id: TableId) -> Result<(Vec<Sample>, Option<TableError>), Failure> {
        let worker_ports = || vec![MemoryPort::new(Buffers { count: 64, ..Buffers::default() })];
        let programs = (self.program, self.compiled);
        let settings = Settings { ports: interp::PORTS, seed: 0 };
        let mut engine = NativeEngine::new(programs, self.pipeline.clone(), settings, worker_ports)?;
        let name = &self.program.tables[id].name;
        let number = engine.table_number(id);
        let bytes = |engine: &mut NativeEngine<'_, MemoryPort>| {
            number.map_or(0, |number| engine.switch().tables()[number].bytes()) + memory_limit::heap()
        };
        let before = memory_limit::heap();
        let mut draws = Draws::new(1);
        let (begin, mut samples, mut next) = (Instant::now(), Vec::new(), FEW);
        loop {
            let filled = fill(&mut engine, id, &mut draws, next).map_err(|refusal| Failure::refusal(name, &refusal))?;
            let bytes = bytes(&mut engine).saturating_sub(before);
            samples.push(Sample { entries: filled.entries, bytes });
            if filled.stopped.is_some() || bytes > self.room {
                return Ok((samples, filled.stopped));
            }
            if next >= self.sample || begin.elapsed() > ENOUGH {
                return Ok((samples, None));
            }
            next = (next + next.next_power_of_two() / (2 * STEPS)).min(self.sample);
        }
    }

    /// How many entries it takes, why no more, and the bytes of each.
    fn bound(
        &self,
        id: TableId,
        planned: &TablePlan,
        samples: &[Sample],
        stopped: Option<TableError>,
    ) -> (u64, &'static str, Option<u64>) {
        let table = &self.program.tables[id];
        let entries = samples.last().map_or(0, |sample| sample.entries);
        let (fixed, entry_bytes) = most_bytes(samples);
        let by_memory = entry_bytes.map_or(u64::MAX, |bytes| self.room.saturating_sub(fixed) / bytes.max(1));
        let mut bounds = vec![(by_memory, "memory")];
        bounds.extend(table.capacity().map(|size| (size, "size")));
        bounds.extend(planned.structure.most_entries().map(|most| (most, "structure")));
        match stopped {
            Some(TableError::Exists) => bounds.push((entries, "keys")),
            Some(TableError::Full) if table.capacity().is_none_or(|size| entries < size) => {
                bounds.push((entries, "structure"))
            }
            Some(TableError::NoMemory) => bounds.push((entries, "memory")),
            Some(_) | None => {}
        }
        let (entries, bound) = bounds.into_iter().min().unwrap_or((entries, "keys"));
        (entries, bound, entry_bytes)
    }
}

/// Bytes of a table with few entries; and of each further entry, at most while the table grows: over the last doubling, with arrays that are there
/// twice when they are replaced.
fn most_bytes(samples: &[Sample]) -> (u64, Option<u64>) {
    let (Some(first), Some(last)) = (samples.first(), samples.last().filter(|last| last.entries > FEW)) else {
        return (0, None);
    };
    let recent = samples.windows(2).filter(|pair| pair[1].entries > last.entries / 2);
    let above = |sample: &Sample| sample.bytes.saturating_sub(first.bytes);
    let peaks = recent.map(|pair| {
        let (before, now) = (above(&pair[0]), above(&pair[1]));
        let is_replaced = now as f64 > before as f64 * JUMP;
        (now + if is_replaced { before } else { 0 }).div_ceil(pair[1].entries.max(1))
    });
    (first.bytes, peaks.max())
}

impl Found {
    fn json(&self) -> Value {
        json!({
            "table": self.table, "structure": self.structure, "entries": self.entries, "bound": self.bound,
            "entry_bytes": self.entry_bytes, "bytes": self.bytes,
        })
    }
}

fn print_table(found: &[Found]) {
    let width = found.iter().map(|found| found.table.len()).max().unwrap_or(5).max(5);
    print_line!(
        "{:<width$}  {:<12} {:>11}  {:<10} {:>11} {:>9}",
        "table",
        "structure",
        "entries",
        "bound",
        "bytes/entry",
        "memory"
    );
    for found in found {
        let bytes = found.entry_bytes.map_or("-".to_string(), |bytes| bytes.to_string());
        print_line!(
            "{:<width$}  {:<12} {:>11}  {:<10} {:>11} {:>9}",
            found.table,
            found.structure,
            found.entries,
            found.bound,
            bytes,
            memory(found.bytes)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_takes_most_when_an_array_has_just_been_replaced() {
        let sample = |entries, bytes| Sample { entries, bytes };
        let samples =
            [sample(256, 4096), sample(512, 12288), sample(896, 12288), sample(1024, 20480), sample(1100, 20480)];
        // Beside the 4096 bytes that are always there: 16384 and the 8192 before them.
        assert_eq!(most_bytes(&samples), (4096, Some((16384 + 8192) / 1024)));
        assert_eq!(most_bytes(&[sample(8, 1 << 20)]), (0, None));
    }
}
