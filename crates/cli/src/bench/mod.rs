//! `bacus bench`: what the applications cost on this machine, beside programs written by hand over the same tables.

mod measure;
mod random;
mod report;
mod times;
mod workload;

use crate::compile;
use crate::failure::Failure;
use crate::frontend;
use crate::options::{Native, Passes, Source};
use indicatif::{ProgressBar, ProgressStyle};
use measure::{Cost, Runner};
use report::Record;
use runtime::{Compiler, Descriptor, Pipeline, clock};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use workload::{APPLICATIONS, Application, Workload};

pub const EXAMPLES: &str = "\
Examples:
  bacus bench                                 all applications
  bacus bench l2fwd ipv4fwd --out out/bench   two of them, with out/bench/bench.json
Run it where the applications' sources are: below the project's directory.";

/// Programs written by hand, and the port's floor.
const HAND: [(&str, &str); 2] = [
    ("l2fwd", include_str!("../../../../bench/hand/l2fwd.c")),
    ("ipv4fwd", include_str!("../../../../bench/hand/ipv4fwd.c")),
];
const ECHO: &str = include_str!("../../../../bench/hand/echo.c");

/// Rounds of samples of each variant.
const ROUNDS: usize = 7;

#[derive(clap::Args)]
pub struct Arguments {
    /// Applications to measure [default: all]
    #[arg(value_name = "APPLICATION")]
    applications: Vec<String>,
    /// Also write the records, as JSON, into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Packets to a burst
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [32, 64])]
    bursts: Vec<u32>,
    #[command(flatten)]
    passes: Passes,
    #[command(flatten)]
    native: Native,
}

/// What every cell needs.
struct Bench<'a> {
    arguments: &'a Arguments,
    ticks_per_us: f64,
    records: Vec<Record>,
    /// What loading many entries took.
    loads: Vec<String>,
    bar: ProgressBar,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let applications = chosen(&arguments.applications)?;
    let cells: usize = applications.iter().map(|application| application.sizes.len()).sum();
    let style = ProgressStyle::with_template("bench {bar:40} {pos}/{len} {wide_msg}").expect("the template is valid");
    let bar = ProgressBar::new(cells as u64).with_style(style);
    let mut bench = Bench { arguments, ticks_per_us: ticks_per_us(), records: Vec::new(), loads: Vec::new(), bar };
    for application in applications {
        bench.application(application)?;
    }
    bench.bar.finish_and_clear();
    let check = times::check(&compile::cache()?)?;
    println!("check of a program of 1,500 lines: {:.0} ms", check.as_secs_f64() * 1e3);
    let compiled = times::compile_and_load("apps/l2l3acl/l2l3acl.p4", &arguments.passes, &arguments.native)?;
    println!("l2l3acl from P4 to a loaded switch: {:.2} s", compiled.as_secs_f64());
    bench.loads.iter().for_each(|load| println!("{load}"));
    print!("{}", report::table(&bench.records));
    if let Some(folder) = &arguments.out {
        let file = folder.join("bench.json");
        compile::write(&file, report::json(&bench.records).as_bytes())?;
        println!("records: {}", file.display());
    }
    Ok(())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Application>, Failure> {
    let known = || APPLICATIONS.iter().map(|application| application.name).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = names.iter().find(|name| APPLICATIONS.iter().all(|application| application.name != **name)) {
        return Err(Failure::input(format!("there is no application `{unknown}`; there are {}", known())));
    }
    let is_chosen = |application: &&Application| names.is_empty() || names.iter().any(|name| name == application.name);
    Ok(APPLICATIONS.iter().filter(is_chosen).collect())
}

impl Bench<'_> {
    fn application(&mut self, application: &Application) -> Result<(), Failure> {
        let echo = self.by_hand("echo", ECHO)?;
        for size in application.sizes {
            self.bar.set_message(format!("{} with {size} entries", application.name));
            let workload = (application.build)(*size);
            let mut variants = Vec::new();
            if let Some((name, text)) = HAND.iter().find(|(name, _)| *name == workload.app) {
                variants.push(("peer:hand", self.by_hand(name, text)?));
            }
            variants.push(("plain", self.plain(&workload)?));
            let mut runners = vec![("floor", Runner::new(echo.clone(), &workload)?)];
            for (variant, pipeline) in variants {
                runners.push((variant, Runner::new(pipeline, &workload)?));
                self.note_load(&workload, &runners[runners.len() - 1]);
            }
            for burst in self.arguments.bursts.clone() {
                self.cell(&workload, burst, &mut runners)?;
            }
            self.bar.inc(1);
        }
        Ok(())
    }

    /// Measures all variants in turns; the first one is the floor.
    fn cell(&mut self, workload: &Workload, burst: u32, runners: &mut [(&str, Runner)]) -> Result<(), Failure> {
        runners.iter_mut().for_each(|(_, runner)| runner.begin(workload, burst));
        for _ in 0..ROUNDS {
            runners.iter_mut().for_each(|(_, runner)| runner.round());
        }
        let floor = runners[0].1.cost().cycles;
        for (variant, runner) in &mut runners[1..] {
            self.note(workload, variant, burst, floor, &runner.cost())?;
        }
        Ok(())
    }

    fn note_load(&mut self, workload: &Workload, (variant, runner): &(&str, Runner)) {
        if workload.entries >= 100_000 {
            let (count, seconds) = (workload.writes.len(), runner.load.as_secs_f64());
            self.loads.push(format!("{} {variant}: {count} entries loaded in {seconds:.2} s", workload.app));
        }
    }

    fn note(&mut self, workload: &Workload, variant: &str, burst: u32, floor: f64, cost: &Cost) -> Result<(), Failure> {
        if cost.lost != 0 {
            let (app, entries) = (workload.app, workload.entries);
            return Err(Failure::input(format!(
                "{app}, {entries} entries, {variant}: {} packets were not forwarded",
                cost.lost
            )));
        }
        self.records.push(Record {
            experiment: "plain",
            program: workload.app.to_string(),
            entries: workload.entries,
            traffic: "uniform",
            variant: variant.to_string(),
            burst,
            cycles: cost.cycles,
            floor,
            spread: cost.spread,
            mpps: self.ticks_per_us / cost.cycles,
            pages: "unmeasured",
        });
        Ok(())
    }

    fn by_hand(&self, name: &str, text: &str) -> Result<Arc<Pipeline>, Failure> {
        let compiler = Compiler::find(self.arguments.native.cc.as_deref())?;
        let object = compiler.pipeline(&compile::cache()?, name, text, Descriptor::Own)?;
        Ok(Arc::new(Pipeline::load(&object)?))
    }

    fn plain(&self, workload: &Workload) -> Result<Arc<Pipeline>, Failure> {
        let source = Source::plain(Path::new(workload.source));
        let loaded = frontend::load(&source)?;
        let own = |plan: &mut hlir::Plan| plan.descriptor = hlir::plan::Descriptor::Own;
        let (pipeline, _) = compile::pipeline(loaded, &self.arguments.passes, &self.arguments.native, own)?;
        Ok(pipeline)
    }
}

/// The counter's rate, against the clock.
fn ticks_per_us() -> f64 {
    let (start, ticks) = (Instant::now(), clock::ticks());
    std::thread::sleep(Duration::from_millis(20));
    (clock::ticks() - ticks) as f64 / start.elapsed().as_micros() as f64
}
