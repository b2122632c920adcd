//! The processes of a run, one after the other: every case once, then every case again, as long as there is time.
//!
//! So a run that has to end early has a number for each case, and what disturbs the machine for a while disturbs one process of many cases. Of a sweep's plans,
//! later processes measure those again that may be the best.

use super::experiment::{self, Case, Experiment};
use super::found::Found;
use super::report::{self, Record};
use super::resume_log::ResumeLog;
use super::{sweep, workload};
use crate::options::{Beside, Options};
use crate::time_left::TimeLeft;
use driver::failure::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use runtime::{Compiler, clock};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What all processes have written.
#[derive(Default)]
pub struct Heard {
    pub records: Vec<Record>,
    pub loads: Vec<String>,
    /// Variants that sent wrong packets, and cases that failed.
    pub wrong: Vec<String>,
    pub notes: Vec<String>,
}

/// A case, and what is known of it so far.
struct Progress {
    case: Case,
    processes: u32,
    found: Vec<Found>,
    failed: bool,
    /// Of one process.
    takes: Duration,
}

pub struct Scheduler<'a> {
    options: &'a Options,
    log: ResumeLog,
    cases: Vec<Progress>,
    heard: Heard,
    ticks_per_us: f64,
    compiler: String,
    bar: ProgressBar,
    time: &'a mut TimeLeft,
    begun: Instant,
    /// Processes for which there was no time.
    left_out: u32,
}

impl<'a> Scheduler<'a> {
    /// `time` counts the processes of all cases, and of further runs behind this one.
    pub fn new(
        options: &'a Options,
        cases: Vec<Case>,
        log: ResumeLog,
        time: &'a mut TimeLeft,
    ) -> Result<Scheduler<'a>, Failure> {
        let progress = |case: Case| {
            let processes = processes(options, &case);
            Progress { case, processes, found: Vec::new(), failed: false, takes: Duration::ZERO }
        };
        let cases: Vec<Progress> = cases.into_iter().map(progress).collect();
        let all = cases.iter().map(|progress| u64::from(progress.processes)).sum();
        let style = ProgressStyle::with_template("bench {bar:30} {pos}/{len} {elapsed} {wide_msg}");
        let bar = ProgressBar::new(all).with_style(style.expect("the template is valid"));
        bar.enable_steady_tick(Duration::from_millis(500));
        Ok(Scheduler {
            options,
            log,
            cases,
            heard: Heard::default(),
            ticks_per_us: ticks_per_us(),
            compiler: Compiler::find(options.native.cc.as_deref())?.version().to_string(),
            bar,
            time,
            begun: Instant::now(),
            left_out: 0,
        })
    }

    /// Measures all; `write` gets the records whenever there are more, since a long run that is interrupted has not been for nothing.
    pub fn run(mut self, write: impl Fn(&[Record]) -> Result<(), Failure>) -> Result<Heard, Failure> {
        let most = self.cases.iter().map(|progress| progress.processes).max().unwrap_or(0);
        for process in 0..most {
            for number in 0..self.cases.len() {
                if process >= self.cases[number].processes {
                    continue;
                }
                if self.cases[number].failed {
                    self.time.skip(1);
                } else {
                    self.process(number, process)?;
                    self.records();
                    write(&self.heard.records)?;
                }
                self.bar.inc(1);
            }
        }
        self.bar.finish_and_clear();
        if self.left_out > 0 {
            let (count, minutes) = (self.left_out, self.options.minutes);
            self.heard.notes.push(format!("{count} processes were left out, for want of time (--minutes {minutes})"));
        }
        self.log.remove()?;
        Ok(self.heard)
    }

    fn process(&mut self, number: usize, process: u32) -> Result<(), Failure> {
        let case = self.cases[number].case.clone();
        if let Some(lines) = self.log.take(&case, process) {
            self.hear(number, lines);
            self.time.skip(1);
            return Ok(());
        }
        let limit = Duration::from_secs(60 * u64::from(self.options.minutes));
        if process > 0 && self.begun.elapsed() + self.cases[number].takes > limit {
            self.left_out += 1;
            self.time.skip(1);
            return Ok(());
        }
        let begun = Instant::now();
        let left = self.time.words();
        let message = format!("{case}, process {} of {}, {left}", process + 1, self.cases[number].processes);
        self.bar.set_message(message.clone());
        let only = if self.options.sweep && process > 0 { self.contenders(&case) } else { self.options.only.clone() };
        let mut predictions = self.predictions(&case)?;
        let heard = listen(&case, self.options, &only, |word, text| match (word, &mut predictions) {
            ("committed", Some(file)) => writeln!(file, "{case}\t{text}").is_ok(),
            ("committed", None) => true,
            _ => {
                self.bar.set_message(format!("{message}: {text}"));
                true
            }
        });
        match heard {
            Ok(lines) => {
                self.log.add(&case, process, &lines)?;
                self.hear(number, lines);
            }
            Err(why) => {
                self.cases[number].failed = true;
                self.heard.wrong.push(format!("{case}: {}", why.trim()));
            }
        }
        self.cases[number].takes = begun.elapsed();
        self.time.step();
        Ok(())
    }

    /// Where predictions are written before their plans are measured.
    fn predictions(&self, case: &Case) -> Result<Option<File>, Failure> {
        let Some(folder) = self.options.out.as_ref().filter(|_| case.experiment.is_of_paper()) else { return Ok(None) };
        let path = folder.join(format!("{}.predictions", case.experiment));
        let file = fs::create_dir_all(folder).and_then(|()| File::options().create(true).append(true).open(&path));
        file.map(Some).map_err(|error| Failure::unwritable(&path, &error))
    }

    /// The plans of a sweep's case that its first processes leave open.
    fn contenders(&self, case: &Case) -> Vec<String> {
        let measured: Vec<&Record> = self.heard.records.iter().filter(|record| record.case == *case).collect();
        let beside = ["plain".to_string()];
        beside.into_iter().chain(sweep::contenders(&measured)).collect()
    }

    /// The lines of a process are sorted by their first word.
    fn hear(&mut self, number: usize, lines: Vec<String>) {
        let heard = &mut self.heard;
        let progress = &mut self.cases[number];
        let case = &progress.case;
        let once = |list: &mut Vec<String>, text: String| {
            if !list.contains(&text) {
                list.push(text);
            }
        };
        for line in lines {
            match line.split('\t').collect::<Vec<&str>>()[..] {
                ["found", ..] => progress.found.extend(Found::parse(&line)),
                ["load", variant, entries, seconds] => {
                    let load = format!("{} {variant}: {entries} entries loaded in {seconds} s", case.application);
                    heard.loads.push(load);
                }
                ["wrong", variant, why] => once(&mut heard.wrong, format!("{case} {variant}: {why}")),
                ["left", variant, why] => once(&mut heard.notes, format!("{case} {variant} left out: {why}")),
                ["note", text] => once(&mut heard.notes, text.to_string()),
                _ => once(&mut heard.notes, line),
            }
        }
    }

    /// Medians over the processes so far.
    fn records(&mut self) {
        self.heard.records.clear();
        for Progress { case, found, .. } in &self.cases {
            let mut rows: Vec<(&Found, Vec<&Found>)> = Vec::new();
            for one in found {
                let same = |other: &Found| {
                    (&other.variant, other.traffic, other.burst) == (&one.variant, one.traffic, one.burst)
                };
                match rows.iter_mut().find(|(first, _)| same(first)) {
                    Some((_, all)) => all.push(one),
                    None => rows.push((one, vec![one])),
                }
            }
            let record = |all: &[&Found]| report::record(case, all, self.ticks_per_us, &self.compiler);
            let mut records: Vec<Record> = rows.iter().map(|(_, all)| record(all)).collect();
            records.sort_by_key(|record| record.traffic as u8);
            self.heard.records.extend(records);
        }
    }
}

/// The counter's rate, against the clock.
fn ticks_per_us() -> f64 {
    let (start, ticks) = (Instant::now(), clock::ticks());
    std::thread::sleep(Duration::from_millis(20));
    (clock::ticks() - ticks) as f64 / start.elapsed().as_micros() as f64
}

/// Processes of all cases that the options select; 1 for what has no cases.
pub fn processes_of(options: &Options) -> u64 {
    experiment::cases(options).map_or(1, |cases| count(options, &cases))
}

/// Processes of these cases.
pub fn count(options: &Options, cases: &[Case]) -> u64 {
    cases.iter().map(|case| u64::from(processes(options, case))).sum()
}

fn processes(options: &Options, case: &Case) -> u32 {
    let default = match (options.quick, case.size >= 4 << 20) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => 3,
    };
    options.processes.unwrap_or(default).max(1)
}

/// Words of lines that are heard while the process runs: its progress, and predictions of what it measures next.
const AT_ONCE: [&str; 2] = ["step", "committed"];

/// Runs a process and gives its lines, but for those that are heard at once.
fn listen(
    case: &Case,
    options: &Options,
    only: &[String],
    mut at_once: impl FnMut(&str, &str) -> bool,
) -> Result<Vec<String>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(program)
        .args(child_arguments(case, options, only))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let output = child.stdout.take().map(BufReader::new);
    let mut lines = Vec::new();
    for line in output.into_iter().flat_map(|output| output.lines()).map_while(Result::ok) {
        match line.split_once('\t').filter(|(word, _)| AT_ONCE.contains(word)) {
            Some((word, text)) if !at_once(word, text) => return Err("a prediction could not be written".to_string()),
            Some(_) => {}
            None => lines.push(line),
        }
    }
    let ended = child.wait_with_output().map_err(|error| error.to_string())?;
    if ended.status.success() {
        Ok(lines)
    } else {
        Err(format!("{} {}", ended.status, String::from_utf8_lossy(&ended.stderr)))
    }
}

/// Arguments that select what a process measures.
fn child_arguments(case: &Case, options: &Options, only: &[String]) -> Vec<String> {
    let is_uniform = case.experiment != Experiment::Programs;
    let mut all = vec!["bench".to_string(), "--case".to_string(), case.to_string()];
    all.extend(["--traffic".to_string(), if is_uniform { "uniform".to_string() } else { options.traffic.join(",") }]);
    all.extend(shared_arguments(options, only));
    all
}

/// Arguments of all processes that measure the same variants.
pub fn shared_arguments(options: &Options, only: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    let mut add = |name: &str, value: String| all.extend([name.to_string(), value]);
    let bursts: Vec<String> = options.bursts.iter().map(u32::to_string).collect();
    add("--bursts", bursts.join(","));
    if !only.is_empty() {
        add("--only", only.join(","));
    }
    let path = |path: &Path| path.display().to_string();
    options.plan.iter().for_each(|file| add("--plan", path(file)));
    options.machine.iter().for_each(|file| add("--machine", path(file)));
    options.rib.iter().for_each(|file| add("--rib", path(file)));
    options.dpdk.iter().for_each(|folder| add("--dpdk", path(folder)));
    options.native.cc.iter().for_each(|cc| add("--cc", cc.clone()));
    options.native.externs.iter().for_each(|file| add("--extern", path(file)));
    options.packets.iter().for_each(|file| add("--packets", path(file)));
    options.entries.iter().for_each(|origin| add("--entries", origin.to_string()));
    options.include.iter().for_each(|folder| add("-I", path(folder)));
    options.define.iter().for_each(|name| add("-D", name.clone()));
    options.undefine.iter().for_each(|name| add("-U", name.clone()));
    if let Some(Beside { native, messages }) = &options.beside {
        add("--freertr", path(native));
        add("--messages", path(messages));
    }
    let flags = [("--sweep", options.sweep), ("--quick", options.quick)];
    all.extend(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name.to_string()));
    // Printed once, where the program is read first.
    if options.applications.iter().any(|name| workload::is_program(name)) {
        all.push("--Wdisable".to_string());
    }
    all
}
