//! Runs `bacus` over a checkout of p4c's corpus and prints how much of it behaves as it should.
//!
//! The corpus is found by the paths given, never assumed. Every case is a process of its own with a time limit, so that a crash or a hang
//! counts as a failure and nothing more.

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::conformance::cases::{self, Job};
use tests::conformance::report::Report;
use tests::conformance::run;

#[derive(Parser)]
#[command(about = "Run the p4c corpus through bacus", long_about = None)]
pub struct Arguments {
    /// A checkout of p4c (the directory that holds p4include and testdata)
    #[arg(long)]
    p4c: PathBuf,
    /// STF files to run, one per line, relative to p4c's testdata
    #[arg(long)]
    stf: Option<PathBuf>,
    /// Programs that must be rejected, one per line, relative to p4c's testdata
    #[arg(long)]
    errors: Option<PathBuf>,
    /// A directory of generated test vectors
    #[arg(long)]
    vectors: Option<PathBuf>,
    /// A directory of BMv2's JSON for programs of the corpus, in the corpus' folders (p4_16_samples/X.json)
    #[arg(long)]
    bmv2_json: Option<PathBuf>,
    /// Also run each STF on the corpus' -first, -frontend and -midend forms of its program
    #[arg(long)]
    forms: bool,
    /// Run native code under every plan: planned, plain, in stages
    #[arg(long)]
    all_plans: bool,
    /// Let native code watch itself for bad accesses and undefined behaviour: each case takes several times as long
    #[arg(long)]
    sanitize: bool,
    /// Cases that fail for a reason that is not ours: `PATH REASON` a line, or `PATH GROUP: REASON`
    #[arg(long)]
    exempt: Option<PathBuf>,
    /// C code for the externs of programs: NAME.c for NAME.p4
    #[arg(long)]
    externs: Option<PathBuf>,
    /// Only cases whose path contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Only these groups, by the beginning of their names (accept, format, reject, stf, vectors, p4info, json)
    #[arg(long, value_delimiter = ',')]
    groups: Vec<String>,
    /// A sample: of the cases that are left, the first, and each so many behind it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// The command to test
    #[arg(long, default_value = "target/release/bacus")]
    bacus: PathBuf,
    /// Where the list of failures goes
    #[arg(long, default_value = "out/conformance.txt")]
    out: PathBuf,
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match conformance(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("conformance: {message}");
            ExitCode::from(2)
        }
    }
}

/// Whether every case passed or is exempt.
fn conformance(arguments: &Arguments) -> Result<bool, String> {
    let mut corpus = cases::Corpus::open(&arguments.p4c, arguments.externs.clone())?;
    corpus.plans = run::plans(arguments.all_plans);
    corpus.sanitize = arguments.sanitize;
    let mut jobs = corpus.accept();
    jobs.extend(corpus.format());
    if let Some(list) = &arguments.errors {
        jobs.extend(corpus.reject(list)?);
    }
    if let Some(list) = &arguments.stf {
        jobs.extend(corpus.stf(list, arguments.forms)?);
    }
    if let Some(vectors) = &arguments.vectors {
        jobs.extend(corpus.vectors(vectors)?);
    }
    if let Some(directory) = &arguments.bmv2_json {
        jobs.extend(tests::conformance::json::jobs(&corpus, directory)?);
    }
    jobs.retain(|job| job.name.contains(&arguments.only) && wanted(&arguments.groups, job));
    let (jobs, absent) = cases::without_dead_links(jobs);
    let jobs = cases::sample(jobs, arguments.every);
    if jobs.is_empty() {
        return Err("no case is left to run".to_string());
    }
    let exempt = match &arguments.exempt {
        Some(file) => cases::exempt(file)?,
        None => Vec::new(),
    };
    let report = run_all(arguments, &corpus, &jobs, Report::new(exempt, absent));
    report.write(&arguments.out).map_err(|error| format!("{}: {error}", arguments.out.display()))?;
    print!("{}", report.summary());
    println!("failures: {}", arguments.out.display());
    Ok(report.is_clean())
}

fn wanted(groups: &[String], job: &Job) -> bool {
    groups.is_empty() || groups.iter().any(|group| job.kind.group().starts_with(group.as_str()))
}

fn run_all(arguments: &Arguments, corpus: &cases::Corpus, jobs: &[Job], report: Report) -> Report {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {eta} {wide_msg}").expect("the template is valid");
    let bar = ProgressBar::new(jobs.len() as u64).with_style(style);
    let report = Mutex::new(report);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.max(1) {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    bar.set_message(job.name.clone());
                    let results = p4::with_deep_stack(|| run::run(&arguments.bacus, corpus, job));
                    report.lock().expect("no thread panics while it reports").add(results);
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    report.into_inner().expect("no thread panics while it reports")
}
