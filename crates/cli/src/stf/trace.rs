//! `bacus stf --trace`: random and mutated packets through the interpreter and native code, compared after every burst.

use clap::Args;
use control::DataPlane;
use control::plane::{Element, Frame};
use control::{Refusal, RefusalKind};
use driver::entries;
use driver::failure::Failure;
use driver::packets::{self, Packets};
use driver::stdout::print_line;
use equivalence::{Configure, Copies, Sample, Settings, Source, Write};
use hlir::{Program, TableId};
use indicatif::{ProgressBar, ProgressStyle};
use interp::PORTS;
use interp::externs::Bind;
use runtime::Buffers;
use std::path::{Path, PathBuf};
use stf::{Command, Mistake};

/// Burst sizes at which every packet is tried.
const BURSTS: [usize; 4] = [1, 7, 32, 64];

#[derive(Args)]
pub struct Options {
    /// Send random packets and mutations of this capture's (.pcap, or the packets of an STF file) through both engines
    #[arg(long, value_name = "FILE", help_heading = "Comparing engines")]
    trace: Option<PathBuf>,
    /// Random packets at each of the bursts 1, 7, 32 and 64
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Comparing engines")]
    count: u64,
    /// Seed of the packets
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Comparing engines")]
    seed: u64,
    /// Also insert up to this many random entries into each table, with keys that the packets look up
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Comparing engines")]
    random_entries: u64,
    /// Random packets come in on ports 0 to N-1
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=i64::from(PORTS)))]
    #[arg(help_heading = "Comparing engines")]
    ports: u32,
}

impl Options {
    pub fn is_asked(&self) -> bool {
        self.trace.is_some()
    }
}

/// Compares; `files` configure both switches (their packets and expectations are left out).
pub fn run(
    options: &Options,
    files: &[PathBuf],
    program: &Program,
    (engine, externs, copies): (&mut dyn DataPlane, Bind<'_>, Copies),
) -> Result<(), Failure> {
    let Some(path) = &options.trace else { return Ok(()) };
    let capture = capture(path)?;
    let configuration = Configuration::read(program, files)?;
    // Before anything else, so that what is wrong in these files is reported for them and not for the capture.
    configuration.try_out(engine)?;
    let source = Source { capture: &capture, seed: options.seed, ports: options.ports };
    let configured = |engine: &mut dyn DataPlane| {
        let done = configuration.apply(engine);
        done.map_err(|(file, mistakes)| Refusal::wrong(entries::placed(file, &mistakes).join("\n")))
    };
    let refused = |refusal| Failure::refusal(path.display(), &refusal);
    let mut writes = match options.random_entries {
        0 => Vec::new(),
        count => equivalence::random_writes(program, source, count, &configured, externs).map_err(refused)?,
    };
    for table in keep_those_with_room(&mut writes, &configured, engine).map_err(refused)? {
        let entries = writes.iter().filter(|write| matches!(write, Write::Insert(of, _) if *of == table)).count();
        let name = &program.tables[table].name;
        print_line!("{}: note: table `{name}` is full with {entries} random entries", path.display());
    }
    let configure = |engine: &mut dyn DataPlane| {
        configured(engine)?;
        writes.iter().try_for_each(|write| write.apply(engine))
    };
    let settings = Settings { source, count: options.count, bursts: &BURSTS, copies, externs };
    let style =
        ProgressStyle::with_template("comparing [{bar:30}] {pos}/{len} {eta}").expect("the template is well formed");
    let bar = ProgressBar::new(options.count * BURSTS.len() as u64).with_style(style);
    let done = equivalence::run(program, engine, PORTS, &settings, &configure, &mut |sent| bar.inc(sent));
    bar.finish_and_clear();
    match done {
        Ok(summary) => {
            summary.notes.iter().for_each(|note| print_line!("{}: note: {note}", path.display()));
            let (packets, outputs, drops) = (summary.packets, summary.outputs, summary.drops);
            print_line!("{}: passed", path.display());
            print_line!(
                "{packets} packets, {outputs} sent, {drops} dropped, {} hits, {} misses: both engines agree, with {} packets at each \
                 of the bursts 1, 7, 32 and 64",
                summary.hits,
                summary.misses,
                options.count
            );
            Ok(())
        }
        Err(equivalence::Failure::Difference(difference)) => {
            print_line!("{}: failed: the engines differ {difference}", path.display());
            Err(Failure::Reported)
        }
        Err(equivalence::Failure::Refusal(refusal)) => Err(Failure::refusal(path.display(), &refusal)),
    }
}

/// What gives both switches their state: the commands of each file, which know nothing of other files' multicast nodes, as with `bacus run --entries`.
struct Configuration<'a> {
    program: &'a Program,
    files: Vec<(&'a Path, Vec<Command>)>,
}

impl<'a> Configuration<'a> {
    fn read(program: &'a Program, files: &'a [PathBuf]) -> Result<Configuration<'a>, Failure> {
        let read = |file: &'a PathBuf| Ok((file.as_path(), entries::read_configuration(program, file)?));
        Ok(Configuration { program, files: files.iter().map(read).collect::<Result<_, Failure>>()? })
    }

    /// Applies all of it, or reports what is wrong in the first file with a mistake.
    fn apply(&self, engine: &mut dyn DataPlane) -> Result<(), (&'a Path, Vec<Mistake>)> {
        self.files.iter().try_for_each(|(file, commands)| {
            let done = stf::run::configure(self.program, commands, engine);
            done.map(drop).map_err(|mistakes| (*file, mistakes))
        })
    }

    fn try_out(&self, engine: &mut dyn DataPlane) -> Result<(), Failure> {
        engine.reset();
        self.apply(engine).map_err(|(file, mistakes)| entries::failure(file, &mistakes))
    }
}

/// Drops what comes to a table when the engine has no room there any more, and returns which these are. The interpreter would have room for all.
fn keep_those_with_room(
    writes: &mut Vec<Write>,
    configure: Configure<'_>,
    engine: &mut dyn DataPlane,
) -> Result<Vec<TableId>, Refusal> {
    let mut full = Vec::new();
    if writes.is_empty() {
        return Ok(full);
    }
    engine.reset();
    configure(engine)?;
    let mut kept = Vec::new();
    for write in writes.drain(..) {
        let table = match &write {
            Write::Insert(table, _) => Some(*table),
            // Rates of an entry follow it.
            Write::Meter(_, Element::Entry(key), _) => Some(key.table),
            Write::Meter(_, Element::Index(_) | Element::Default(_), _)
            | Write::Default(..)
            | Write::Member(..)
            | Write::Group(..)
            | Write::Multicast(..)
            | Write::Session(..)
            | Write::ValueSet(..)
            | Write::Crc(..) => None,
        };
        if table.is_some_and(|table| full.contains(&table)) {
            continue;
        }
        match (write.apply(engine), table) {
            (Err(refusal), Some(table)) if refusal.kind == RefusalKind::Full => full.push(table),
            (done, _) => done.map(|()| kept.push(write))?,
        }
    }
    *writes = kept;
    Ok(full)
}

fn capture(path: &Path) -> Result<Vec<Sample>, Failure> {
    let mut samples: Vec<Sample> = match packets::read(path)? {
        Packets::Capture(frames) => frames.into_iter().map(|bytes| Sample { port: None, bytes }).collect(),
        Packets::Stf(frames) => {
            let sample = |frame: Frame| Sample { port: Some(frame.port), bytes: frame.bytes };
            frames.into_iter().map(sample).collect()
        }
    };
    let (all, longest) = (samples.len(), Buffers::default().room());
    samples.retain(|sample| sample.bytes.len() <= longest as usize);
    if let left @ 1.. = all - samples.len() {
        let message = "left out, since a buffer has no room for them: capture without segmentation offload";
        print_line!("{}: note: {left} of {all} packets have more than {longest} bytes: {message}", path.display());
    }
    Ok(samples)
}
