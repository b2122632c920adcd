//! One case of the table, measured by a process of its own: an application at a size, all variants in turns on the same packets.
//!
//! What is found goes to standard output, a line a variant, for the process that draws the table.

// Not by `print_line`: when that process is gone, this one must end, too.
#![allow(clippy::print_stdout)]

use super::check;
use super::experiment::{Case, Experiment};
use super::found::{DRIFT, Found};
use super::interpreted::Interpreted;
use super::line_cost::{LineCost, drift};
use super::machine_drift::MachineDrift;
use super::papers;
use super::peers;
use super::runner::Runner;
use super::traffic::Traffic;
use super::variants::{self, Built, Origin, Subject, Variant};
use super::workload::{self, Workload};
use crate::options::Options;
use driver::compile;
use driver::failure::Failure;
use driver::files;
use driver::machine_file;
use runtime::{Descriptor, PortLayer, PortSettings, Trace, core_isolation, pages};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Rounds of each variant, and quiet samples of one that are wanted.
const ROUNDS: (usize, usize) = (7, 21);
/// A case in which a line's cost moves by more is measured again, so often at most.
const REPEATS: usize = 2;
/// Of a sweep, which has fifty plans in a case and compares each with the best of them: fewer samples.
const SWEPT_ROUNDS: (usize, usize) = (5, 7);
const SWEPT_REPEATS: usize = 1;
/// Of a quick run of an experiment with a figure.
const QUICK_ROUNDS: (usize, usize) = (3, 9);
const QUICK_REPEATS: usize = 0;
/// So many times the rounds are done where the core is hardly ever quiet.
const LONGEST: usize = 3;
/// Variants that take their turns before the machine's pace is measured again: it changes within a second.
const BETWEEN_PACES: usize = 4;
/// Rounds after which its memory is.
const READING_EACH: usize = 3;
/// Compilers that run at a time where the number of cores is not known, and at least.
const BUILDERS: usize = 2;
/// Bytes of an mbuf's packet that lie side by side, as DPDK's programs have them, and the own descriptor's buffers.
const ROOM: u32 = 2048;
const MBUFS: u32 = 4096;

/// A note under the table.
fn note(text: impl fmt::Display) {
    println!("note\t{}", text.to_string().replace('\n', " "));
}

/// The child's whole work.
pub fn run(case: &Case, options: &Options) -> Result<(), Failure> {
    if case.experiment == Experiment::Forwarders {
        return super::forwarders::run(options);
    }
    let workload = workload::of(case, options)?;
    if case.experiment == Experiment::Cores {
        return super::cores::run(&workload, options);
    }
    let mut variants = variants::of(case, workload.size, options);
    core_isolation::pin();
    let dpdk = if variants.iter().any(|variant| variant.descriptor == Descriptor::Mbuf) {
        dpdk(&workload, options)
    } else {
        None
    };
    variants.retain(|variant| (variant.descriptor == Descriptor::Own && !variant.origin.copies()) || dpdk.is_some());
    let echoes = echoes(&workload, options, dpdk.as_ref())?;
    let subject = Subject::new(&workload, options)?;
    let trace = Arc::new((workload.trace)(Traffic::Uniform));
    let interpreted = if workload.is_given { Interpreted::new(&subject, &workload, &trace)? } else { None };
    let subjects = (&subject, &workload, interpreted.as_ref());
    let mut runners = runners(case.experiment, &variants, subjects, options, dpdk.as_ref())?;
    match (&runners[..], &interpreted) {
        ([], _) => return Err(Failure::input("no variant can be measured")),
        (_, Some(_)) => {}
        (_, None) => {
            if workload.is_given {
                note(
                    "packets are compared with the plain program's, not the interpreter's: it takes entries as text alone",
                );
            }
            keep_right(&mut runners, &trace);
        }
    }
    if options.beside.is_some() {
        compare_beside(&mut runners, &trace);
    }
    drop(trace);
    let line_cost = LineCost::new(&workload, &options.native)?;
    let machine_drift = MachineDrift::new(subject.machine(), &options.native)?;
    let pages = pages::measure().map_or("none".to_string(), |pages| pages.to_string());
    let (rounds, repeats) = match (options.sweep, options.quick && case.experiment.is_of_paper()) {
        (true, _) => (SWEPT_ROUNDS, SWEPT_REPEATS),
        (false, true) => (QUICK_ROUNDS, QUICK_REPEATS),
        (false, false) => (ROUNDS, REPEATS),
    };
    let lost = workload.copies.map(|copies| 1.0 - copies * (1.0 - f64::from(case.experiment.dropped()) / 100.0));
    let mut bench =
        Bench { lost, asked: &options.bursts, echoes, runners, line_cost, machine_drift, pages, rounds, repeats };
    let drawn = options.traffic.iter().filter_map(|name| Traffic::named(name)).collect();
    let traffic = if workload.copies.is_some() { drawn } else { vec![Traffic::Capture] };
    for traffic in traffic {
        let trace = Arc::new((workload.trace)(traffic));
        for burst in bench.bursts() {
            println!("step\tmeasuring {traffic} traffic in bursts of {burst}");
            bench.burst(traffic, &trace, burst);
        }
    }
    Ok(())
}

/// DPDK, if this machine has it; else its peers and mbufs are left out.
fn dpdk(workload: &Workload, options: &Options) -> Option<Arc<PortLayer>> {
    let start = || -> Result<Arc<PortLayer>, Failure> {
        let layer = compile::compiler(&options.native)?.dpdk_layer(&files::cache()?)?;
        // By themselves DPDK's libraries do without AVX-512: its peers are to be as good as they can be with the vectors that all have here.
        let own = machine_file::vector_bytes();
        let mut settings = PortSettings::of_machine(MBUFS.max(2 * workload.buffers.count), ROOM);
        settings.vector_bytes = Some(options.native.vector_bytes.map_or(own, |bytes| bytes.min(own)));
        PortLayer::start(&layer, &settings).map_err(Failure::environment)
    };
    match start() {
        Ok(dpdk) => Some(dpdk),
        Err(Failure::Environment(text) | Failure::Input(text)) => {
            note(format!("without mbufs and DPDK's peers: {}", text.trim()));
            None
        }
        Err(Failure::Reported) => None,
    }
}

fn echoes(workload: &Workload, options: &Options, dpdk: Option<&Arc<PortLayer>>) -> Result<Vec<Runner>, Failure> {
    let sources = peers::ECHO.iter().filter(|source| source.descriptor == Descriptor::Own || dpdk.is_some());
    let runner = |source: &'static peers::Source| {
        let (name, descriptor) = (source.name.to_string(), source.descriptor);
        let variant = Variant { name, origin: Origin::ByHand(source), descriptor };
        let pipeline = variants::by_hand(source, (&options.native, &[]), None)?;
        Runner::new(
            &variant,
            Built { pipeline, predictor: None, programs: None, defaults: Vec::new(), compressed: true },
            workload,
            dpdk,
        )
    };
    sources.map(runner).collect()
}

/// A variant that cannot be built or loaded is reported and left out; the plain program must be there.
fn runners(
    experiment: Experiment,
    variants: &[Variant],
    (subject, workload, interpreted): (&Subject, &Workload, Option<&Interpreted<'_>>),
    options: &Options,
    dpdk: Option<&Arc<PortLayer>>,
) -> Result<Vec<Runner>, Failure> {
    let mut runners: Vec<Runner> = Vec::new();
    let mut made = match (options.sweep, experiment) {
        (true, _) => subject.grid(options),
        (false, Experiment::Gains) => subject.gains(),
        (false, Experiment::Join | Experiment::JoinSweep) => subject.joins(),
        (false, Experiment::GainsModel) => subject.made(papers::plans::groups),
        (false, Experiment::BatchSize) => subject.made(papers::plans::batches),
        (false, Experiment::Ablation) => subject.ablation(),
        (false, Experiment::Predicted) => subject.gains(),
        (false, Experiment::Trie(_)) => subject.made(papers::plans::tries),
        (false, Experiment::Accesses) => subject.made(papers::plans::accesses),
        (false, Experiment::Paths(_)) => subject.made(papers::plans::paths),
        (
            false,
            Experiment::Programs
            | Experiment::Drops(_)
            | Experiment::Peers
            | Experiment::Forwarders
            | Experiment::Cores
            | Experiment::Metadata,
        ) => Vec::new(),
    };
    made.retain(|variant| options.sweep || variants::is_wanted(variant, options));
    let all: Vec<&Variant> = variants.iter().chain(&made).collect();
    for (number, (variant, built)) in all.iter().zip(build_all(subject, &all)).enumerate() {
        println!("step\tfilling {} of {}", number + 1, all.len());
        let built = match (built, interpreted) {
            (Ok(built), Some(interpreted)) => match interpreted.difference(&built, dpdk)? {
                None => Ok(built),
                Some(difference) => {
                    let name = &variant.name;
                    println!("wrong\t{name}\tother packets than the interpreter's {}", difference.replace('\n', " "));
                    continue;
                }
            },
            (built, _) => built,
        };
        match built.and_then(|built| Runner::new(variant, built, workload, dpdk)) {
            Ok(runner) => {
                if runner.entries >= 100_000 {
                    let seconds = runner.load.as_secs_f64();
                    println!("load\t{}\t{}\t{seconds:.3}", variant.name, runner.entries);
                }
                runners.push(runner);
            }
            Err(Failure::Input(text) | Failure::Environment(text)) if !runners.is_empty() => {
                println!("left\t{}\t{}", variant.name, text.trim().replace('\n', " "));
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(runners)
}

/// Compiles on all cores: nothing is measured yet.
fn build_all(subject: &Subject, variants: &[&Variant]) -> Vec<Result<Built, Failure>> {
    let threads = thread::available_parallelism().map_or(1, usize::from).max(BUILDERS);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let builder = || {
        core_isolation::spread();
        let mut built = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(variant) = variants.get(number) else { break };
            built.push((number, subject.build(variant)));
            println!("step\tcompiled {} of {}", done.fetch_add(1, Ordering::Relaxed) + 1, variants.len());
        }
        built
    };
    let mut built: Vec<(usize, Result<Built, Failure>)> = thread::scope(|scope| {
        let builders: Vec<_> = (0..threads).map(|_| scope.spawn(builder)).collect();
        builders.into_iter().flat_map(|builder| builder.join().expect("a builder does not panic")).collect()
    });
    built.sort_by_key(|(number, _)| *number);
    built.into_iter().map(|(_, built)| built).collect()
}

/// Bursts in which variants are compared: a part of a group, a whole one, and as many as plans choose.
const COMPARED: [u32; 3] = [7, 32, 64];

/// Takes out the variants that send other packets than the first.
fn keep_right(runners: &mut Vec<Runner>, trace: &Arc<Trace>) {
    let trace = check::trace(trace);
    // Not the first with itself: what a program remembers has changed.
    let expected = COMPARED.map(|burst| runners[0].sent(&trace, burst));
    let mut others = false;
    runners.retain_mut(|runner| {
        if !std::mem::replace(&mut others, true) {
            return true;
        }
        for (burst, expected) in COMPARED.into_iter().zip(&expected) {
            if let Some(difference) = check::difference(expected, &runner.sent(&trace, burst), runner.order) {
                println!("wrong\t{}\tin bursts of {burst}, {}", runner.name, difference.replace('\n', " "));
                return false;
            }
        }
        true
    });
}

/// What freeRtr's data plane sends beside what the program does. It is measured all the same.
fn compare_beside(runners: &mut [Runner], trace: &Arc<Trace>) {
    let trace = check::unspoiled(trace);
    let (Some(plain), Some(peer)) = (
        runners.iter().position(|runner| runner.name == "plain"),
        runners.iter().position(|runner| runner.name == peers::FREERTR_NAME),
    ) else {
        return;
    };
    let expected = runners[plain].sent(&trace, COMPARED[1]);
    if let Some(difference) =
        check::difference(&expected, &runners[peer].sent(&trace, COMPARED[1]), check::Order::OfPorts)
    {
        println!("wrong\t{}\t{}", peers::FREERTR_NAME, difference.replace('\n', " "));
    }
}

/// Plans choose their burst; the others are measured at those of the options.
fn is_planned(runner: &Runner) -> bool {
    !runner.name.starts_with("peer:") && !runner.name.starts_with("plain")
}

/// All variants of a case, ready.
struct Bench<'a> {
    /// Share of the packets that are to be lost, where it is known.
    lost: Option<f64>,
    asked: &'a [u32],
    echoes: Vec<Runner>,
    runners: Vec<Runner>,
    line_cost: LineCost,
    machine_drift: MachineDrift,
    pages: String,
    rounds: (usize, usize),
    repeats: usize,
}

impl Bench<'_> {
    /// Those of the options, and those that plans have chosen.
    fn bursts(&self) -> Vec<u32> {
        let mut bursts = self.asked.to_vec();
        bursts.extend(self.runners.iter().filter(|runner| is_planned(runner)).map(|runner| runner.burst));
        bursts.sort_unstable();
        bursts.dedup();
        bursts
    }

    fn takes_part(asked: &[u32], runner: &Runner, burst: u32) -> bool {
        if is_planned(runner) { runner.burst == burst } else { asked.contains(&burst) && runner.burst >= burst }
    }

    /// What the model expects of the machine in the file. It is written before anything is measured.
    fn committed(&self, burst: u32) -> Vec<Option<f64>> {
        let predicted = |runner: &Runner| {
            let predictor = runner.predictor.as_ref().filter(|_| Self::takes_part(self.asked, runner, burst))?;
            let cycles = predictor.cycles(&predictor.inputs.machine);
            println!("committed\t{}\t{burst}\t{cycles:.2}", runner.name);
            Some(cycles)
        };
        self.runners.iter().map(predicted).collect()
    }

    /// Measures until the machine was the same before and after, a few times at most.
    fn burst(&mut self, traffic: Traffic, trace: &Arc<Trace>, burst: u32) {
        let committed = self.committed(burst);
        let (mut before, mut after) = self.measure(trace, burst);
        for _ in 0..self.repeats {
            if drift(before, after) > DRIFT {
                (before, after) = self.measure(trace, burst);
            }
        }
        let costs: Vec<(Descriptor, f64)> =
            self.echoes.iter_mut().map(|echo| (echo.descriptor, echo.cost().cycles)).collect();
        let machine = self.machine_drift.machine(burst, &costs);
        for (runner, committed) in self.runners.iter_mut().zip(committed) {
            if !Self::takes_part(self.asked, runner, burst) {
                continue;
            }
            let cost = runner.cost();
            if self.lost.is_some_and(|lost| (cost.lost - lost).abs() > lost.abs() * 0.2 + 1e-9) {
                let (name, lost) = (&runner.name, cost.lost * 100.0);
                println!("wrong\t{name}\t{lost:.2} % of the packets were not forwarded");
                continue;
            }
            let floor = costs.iter().find(|(descriptor, _)| *descriptor == runner.descriptor);
            let floor = floor.map_or(0.0, |(_, cycles)| *cycles);
            let found = Found {
                variant: runner.name.clone(),
                traffic,
                burst,
                cycles: cost.cycles,
                lookups: cost.lookups,
                floor,
                spread: cost.spread,
                predicted: runner.predictor.as_ref().map(|predictor| predictor.cycles(&machine)),
                committed,
                accesses: runner.accesses,
                limit: floor + (before + after) / 2.0,
                drift: drift(before, after),
                pages: self.pages.clone(),
            };
            println!("{}", found.line());
        }
    }

    /// All variants in turns; what the lines of a packet cost before and after.
    fn measure(&mut self, trace: &Arc<Trace>, burst: u32) -> (f64, f64) {
        self.machine_drift.begin();
        self.machine_drift.read(self.line_cost.probe());
        let before = self.line_cost.read();
        let taking = self.runners.iter_mut().filter(|runner| Self::takes_part(self.asked, runner, burst));
        let mut all: Vec<&mut Runner> = taking.chain(self.echoes.iter_mut()).collect();
        all.iter_mut().for_each(|runner| runner.begin(trace, burst));
        let (rounds, samples) = self.rounds;
        for round in 0..rounds * LONGEST {
            if round >= rounds && all.iter().all(|runner| runner.is_settled()) {
                break;
            }
            for some in all.chunks_mut(BETWEEN_PACES) {
                some.iter_mut().for_each(|runner| runner.round(samples));
                self.machine_drift.round();
            }
            if round % READING_EACH == READING_EACH - 1 {
                self.machine_drift.read(self.line_cost.probe());
            }
        }
        let after = self.line_cost.read();
        self.machine_drift.read(self.line_cost.probe());
        (before, after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedule::access::Accesses;

    #[test]
    fn what_was_found_goes_from_process_to_process() {
        let found = Found {
            variant: "peer:lpm".into(),
            traffic: Traffic::Zipf,
            burst: 64,
            cycles: 20.5,
            lookups: Some(2.0),
            floor: 6.25,
            spread: 0.125,
            predicted: None,
            committed: Some(19.5),
            accesses: Some(Accesses { reads: 3, stores: 1, bytes_read: 24, bytes_stored: 8 }),
            limit: 9.5,
            drift: 0.25,
            pages: "2M".into(),
        };
        assert_eq!(Found::parse(&found.line()), Some(found));
        assert_eq!(Found::parse("note\tnothing"), None);
    }
}
