//! Keeps a running switch specialised for what its tables hold, beside the packets.
//!
//! The control thread looks every now and then which facts the store's counters give. What has held for a time ([`super::held_facts`]) is
//! compiled in another thread, and takes the place of the generic code if it still holds. A write that breaks it puts the
//! workers back on generic code by itself (`native::specialised`); here it is only counted. Compilations are bounded, and
//! a kind of fact that a table loses often is not used for a time. Whatever the compiler does, generic code goes on; so it
//! does where the packets that come show that specialised code is slower ([`super::trial`]). The code is planned for the
//! packets that come, and compiled again when they take other branches ([`super::watch`]). What the model proposes is
//! measured beside alternatives ([`super::comparison`]). Without options, it begins when packets keep the
//! workers busy ([`super::busy`]).

use super::busy::Load;
use super::comparison::{Alternative, Comparison};
use super::held_facts::{HOLD, HeldFacts, MINUTE};
use super::live::{Built, Engine, Live, Shared};
use super::pushed::Builder;
use super::sampling;
use super::specialised_code;
use super::traffic::Traffic;
use super::trial::{Code, Next, Trial, Work};
use super::watch::Watch;
use control::message::switch::Sample;
use control::{DataPlane as _, Refusal};
use driver::options::Passes;
use hlir::facts::{Assumption, Fact};
use hlir::{Program, TableId};
use native::{Break, Replay};
use opt::explain::described;
use runtime::{Limit, core_isolation};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::Duration;

/// How often facts are read.
const LOOK: Duration = Duration::from_millis(100);
/// Entries of a table at most that are written at each exchange.
const MOST_REWRITTEN: usize = 65_536;
/// A program without facts so long after its start has none.
const SETTLING: Duration = Duration::from_secs(2);
/// Compilations begun within a minute, at most.
const MOST_COMPILATIONS: usize = 10;
/// After a failure, the next attempt waits; twice as long after each further one.
const FIRST_WAIT: Duration = Duration::from_secs(10);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// What controllers are notified of.
#[derive(Clone, Debug, Default)]
pub struct Status {
    pub is_specialised: bool,
    /// What the code takes for granted, in words.
    pub facts: Vec<String>,
    pub loaded: u64,
    pub broken: u64,
    /// What happened last.
    pub last: String,
    /// What the last code was planned for.
    pub sample: Option<Sample>,
}

/// A compilation in another thread.
struct Job {
    program: Arc<Program>,
    passes: Passes,
    /// What it is to have other than the code that runs, for the same facts and traffic.
    alternative: Option<Alternative>,
    limit: Limit,
    done: Receiver<Result<(Built, Option<Traffic>), String>>,
}

impl Drop for Job {
    /// No compiler goes on after a switch that has ended.
    fn drop(&mut self) {
        /// For the thread to see it. While it still plans, there is no compiler.
        const TIMEOUT: Duration = Duration::from_millis(100);
        self.limit.is_cancelled.store(true, Ordering::Relaxed);
        drop(self.done.recv_timeout(TIMEOUT));
    }
}

/// When code is specialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    /// Once packets have kept the workers busy for a second
    Busy,
    /// From the start
    Always,
    Never,
}

/// How a switch is specialised.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub when: When,
    /// How long the compiler may take.
    pub time_limit: Duration,
    /// Whether specialised code is compared with other code.
    pub is_tried: bool,
    /// Whether what happens is printed.
    pub is_reported: bool,
}

impl Manner {
    /// From the start, and whatever is faster: for what measures specialised code.
    pub fn fixed(time_limit: Duration) -> Manner {
        Manner { when: When::Always, time_limit, is_tried: false, is_reported: true }
    }
}

/// See the module.
pub struct Specialiser {
    builder: Arc<Builder>,
    manner: Manner,
    load: Load,
    /// The program whose tables are watched, and since when.
    program: Option<Arc<Program>>,
    since: Duration,
    tables: BTreeMap<u32, HeldFacts>,
    job: Option<Job>,
    /// The facts that were compiled last.
    tried: Vec<Assumption>,
    /// Whether those facts gave no code.
    is_useless: bool,
    begun: VecDeque<Duration>,
    looked: Option<Duration>,
    not_before: Duration,
    wait: Duration,
    comparison: Option<Comparison>,
    /// The specialised code that runs, where no comparison goes on.
    kept: Option<Built>,
    /// What the code that runs is still to be compared with.
    untried: Vec<Alternative>,
    watch: Watch,
    status: Status,
}

impl Specialiser {
    /// For a switch whose pipelines are built so.
    pub fn new(builder: Builder, manner: Manner) -> Specialiser {
        Specialiser {
            builder: Arc::new(builder),
            manner,
            load: Load::default(),
            program: None,
            since: Duration::ZERO,
            tables: BTreeMap::new(),
            job: None,
            tried: Vec::new(),
            is_useless: false,
            begun: VecDeque::new(),
            looked: None,
            not_before: Duration::ZERO,
            wait: FIRST_WAIT,
            comparison: None,
            kept: None,
            untried: Vec::new(),
            watch: Watch::default(),
            status: Status::default(),
        }
    }

    pub fn status(&self) -> &Status {
        &self.status
    }

    /// The notes for controllers: none where the user has not asked for specialised code, and workers were never busy.
    pub fn reported(&self) -> Option<&Status> {
        let has_begun = self.manner.when == When::Always || !self.status.last.is_empty();
        has_begun.then_some(&self.status)
    }

    /// Does what is due. `now` is the time since the start; `work` is asked for what the workers have done until then.
    pub fn tend<L: Replay>(&mut self, switch: &Shared<L>, now: Duration, work: impl Fn() -> Work) {
        if self.looked.is_some_and(|looked| now < looked + LOOK) {
            return;
        }
        self.looked = Some(now);
        let is_busy = self.manner.when == When::Always || self.load.is_busy(now, &work);
        if self.program.is_none() && !is_busy {
            return;
        }
        let mut live = switch.lock();
        let Some(engine) = live.engine() else { return };
        let program = engine.program();
        if self.program.as_ref().is_none_or(|known| !Arc::ptr_eq(known, &program)) {
            self.begin(program.clone(), now);
        }
        let breaks = engine.take_breaks();
        let is_specialised = engine.is_specialised();
        breaks.into_iter().for_each(|broken| self.broken(&program, broken, now));
        if self.status.is_specialised && !is_specialised {
            self.forget_code();
            (self.status.is_specialised, self.status.facts) = (false, Vec::new());
            self.report("generic code runs since an atomic batch".to_string());
        }
        self.compare(&mut live, now, work);
        self.load(&mut live, &program, now);
        self.observe(&mut live, now);
        // While less optimized code runs, its better code is compiled.
        if is_busy && live.improvements == 0 {
            self.prepare(&mut live, &program, now);
        }
        self.watch.collect(&mut live, now);
        if is_busy && live.improvements == 0 {
            self.compile(&mut live, &program, now);
        }
    }

    /// Another program: nothing is known of its tables.
    fn begin(&mut self, program: Arc<Program>, now: Duration) {
        if let Some(job) = &self.job {
            // What it compiles is of no use.
            job.limit.is_cancelled.store(true, Ordering::Relaxed);
        }
        self.tables.clear();
        self.tried.clear();
        self.forget_code();
        let profile = &self.builder.with_passes_of(&program).passes.profile;
        self.watch = Watch::new(profile.is_some());
        (self.program, self.since) = (Some(program), now);
        self.is_useless = false;
        (self.status.is_specialised, self.status.facts) = (false, Vec::new());
    }

    fn broken(&mut self, program: &Program, Break { broken, time, .. }: Break, now: Duration) {
        let table = &program.tables[broken.table].name;
        let held = self.tables.entry(number(broken.table)).or_default();
        held.break_by_write(&broken.fact, now);
        let left = if held.is_steady(&broken.fact, now) { "" } else { "; such a fact is not used for a while" };
        self.forget_code();
        self.status.broken += 1;
        (self.status.is_specialised, self.status.facts) = (false, Vec::new());
        self.report(format!(
            "generic code runs since a write to {table}, which had {}: after {:.1} us{left}",
            described(program, &broken),
            time.as_secs_f64() * 1e6
        ));
    }

    /// Generic code runs.
    fn forget_code(&mut self) {
        (self.comparison, self.kept, self.untried) = (None, None, Vec::new());
    }

    /// There is no code for these facts. The next attempt is later, and later still after each failure.
    fn fail(&mut self, now: Duration, why: &str) {
        self.not_before = now + self.wait;
        self.report(format!("generic code stays; the next attempt is in {} s: {why}", self.wait.as_secs()));
        self.wait = (2 * self.wait).min(LONGEST_WAIT);
        self.is_useless = true;
    }

    /// Puts code that is ready in the place of the code that runs.
    fn load<L: Replay>(&mut self, live: &mut Live<L>, program: &Arc<Program>, now: Duration) {
        let Some(job) = &self.job else { return };
        let result = match job.done.try_recv() {
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Disconnected) => Err("the compilation ended without a result".to_string()),
            Ok(result) => result,
        };
        let Some(job) = self.job.take() else { return };
        let (passes, alternative) = (job.passes.clone(), job.alternative);
        let is_this = Arc::ptr_eq(&job.program, program);
        let Some(engine) = live.engine().filter(|_| is_this) else { return };
        let (built, traffic) = match result {
            Ok(built) => built,
            // The code that runs goes on.
            Err(why) => match alternative {
                Some(alternative) => return self.report(format!("no {}: {why}", alternative.name())),
                None => return self.fail(now, &why),
            },
        };
        let is_of_use = match alternative {
            None | Some(Alternative::Leading) => true,
            Some(Alternative::Stages) => self.kept.is_some() && built.has_stages,
            Some(Alternative::Plain) => self.kept.is_some(),
        };
        if !is_of_use {
            return;
        }
        let facts: Vec<String> = specialised_code::words(program, &built.compiled.assumptions);
        let Some(what) = specialised_code::what_it_is(&facts, traffic.as_ref()) else {
            self.watch.plan_for(passes, traffic, now);
            (self.wait, self.is_useless) = (FIRST_WAIT, true);
            return;
        };
        match engine.specialise(&built.compiled, built.pipeline.clone()) {
            Ok(()) => {
                self.wait = FIRST_WAIT;
                self.status.sample = traffic.as_ref().map(Traffic::summary);
                self.watch.plan_for(passes, traffic, now);
                // What was faster than generic code for other packets may not be so for these.
                let old = self.kept.take().filter(|_| alternative.is_some());
                if alternative.is_none() {
                    self.untried = Vec::new();
                }
                match self.manner.is_tried {
                    true => {
                        self.comparison = Some(Comparison { trial: Trial::default(), new: built, old, alternative });
                    }
                    false => self.kept = Some(built),
                }
                self.status.loaded += 1;
                let runs = |other: Alternative| format!("{} runs, for a comparison", other.name());
                self.report(alternative.map_or(what, runs));
                (self.status.is_specialised, self.status.facts) = (true, facts);
            }
            Err(refusal) => self.refused(engine, (&built, alternative), &refusal, now),
        }
    }

    /// Workers do not run this code, but generic code.
    fn refused<L: Replay>(
        &mut self,
        engine: &mut Engine<L>,
        (built, alternative): (&Built, Option<Alternative>),
        refusal: &Refusal,
        now: Duration,
    ) {
        if let Some(alternative) = alternative {
            if let Some(kept) = &self.kept
                && engine.specialise(&kept.compiled, kept.pipeline.clone()).is_err()
            {
                self.forget_code();
                (self.status.is_specialised, self.status.facts) = (false, Vec::new());
            }
            return self.report(format!("no {}: {refusal}", alternative.name()));
        }
        // The contents may have changed while the code was compiled: the next is for what they are now.
        if built.compiled.assumptions.iter().all(|one| engine.store().holds(one)) {
            return self.fail(now, &refusal.to_string());
        }
        self.report(format!("generic code stays: {refusal}"));
    }

    /// Lets new and old code take turns until it is known which is faster.
    fn compare<L: Replay>(&mut self, live: &mut Live<L>, now: Duration, work: impl Fn() -> Work) {
        let (Some(compared), Some(engine)) = (&mut self.comparison, live.engine()) else { return };
        let running = compared.trial.running();
        let next = compared.trial.step(now, work());
        let code = match next {
            Next::Wait => return,
            Next::Run(code) | Next::Decide { code, .. } => code,
            // The model prefers specialised code to generic code, but no alternative.
            Next::GiveUp => match compared.alternative {
                Some(_) => Code::Old,
                None => Code::New,
            },
        };
        let exchanged = match compared.built(code) {
            _ if code == running => Ok(()),
            None => engine.generalise(),
            Some(built) => engine.specialise(&built.compiled, built.pipeline.clone()),
        };
        // Before code is refused, generic code takes the place of what ran, whose facts may still hold.
        if let (Err(_), false, Some(built)) = (&exchanged, engine.is_specialised(), compared.built(running)) {
            drop(engine.specialise(&built.compiled, built.pipeline.clone()));
        }
        self.status.is_specialised = engine.is_specialised();
        let runs = if exchanged.is_ok() { code } else { running };
        self.status.facts = match compared.built(runs).filter(|_| self.status.is_specialised) {
            Some(built) => specialised_code::words(&engine.program(), &built.compiled.assumptions),
            None => Vec::new(),
        };
        // The turn begins when the exchange is over.
        compared.trial.step(now, work());
        if exchanged.is_ok() && matches!(next, Next::Run(_)) {
            return;
        }
        let names = compared.names();
        let Some(Comparison { new, old, alternative, .. }) = self.comparison.take() else { return };
        if runs == Code::New && alternative == Some(Alternative::Leading) {
            // Further alternatives have them, too.
            self.tried.extend(self.leading(now));
        }
        self.kept = if runs == Code::New { Some(new) } else { old }.filter(|_| self.status.is_specialised);
        // Where a write has come between, the same facts may hold again and be of use.
        self.is_useless = exchanged.is_ok() && self.kept.is_none();
        if let (Next::Decide { .. }, None) = (next, alternative) {
            self.untried = Alternative::of(self.kept.as_ref(), !self.leading(now).is_empty());
        }
        let [new, old] = names;
        let on = match runs {
            _ if !self.status.is_specialised => "generic code",
            Code::New => new,
            Code::Old => old,
        };
        match (exchanged, next) {
            (Err(refusal), _) => self.report(format!("{on} goes on: {refusal}")),
            (Ok(()), Next::Decide { share, .. }) => {
                self.report(format!("{on} goes on: {new} takes {share:.2} of the time of {old} for a packet"));
            }
            (Ok(()), Next::GiveUp) => self.report(format!("{on} goes on: too few packets came to compare it")),
            (Ok(()), Next::Wait | Next::Run(_)) => {}
        }
    }

    /// Reads which facts hold, and since when.
    fn observe<L: Replay>(&mut self, live: &mut Live<L>, now: Duration) {
        let Some(engine) = live.engine() else { return };
        if engine.store().facts().is_none() {
            engine.store_mut().count_facts();
        }
        let mut facts: BTreeMap<u32, Vec<Fact>> = BTreeMap::new();
        let store = engine.store();
        let known = store.facts().map(|facts| facts.hold(store)).unwrap_or_default();
        known.into_iter().for_each(|one| facts.entry(number(one.table)).or_default().push(one.fact));
        for (id, _) in engine.program().tables.iter() {
            let held = self.tables.entry(number(id)).or_default();
            held.observe(facts.remove(&number(id)).unwrap_or_default(), now);
        }
    }

    /// Begins a sample where code is to be compiled as soon as facts have held for long enough.
    fn prepare<L: Replay>(&mut self, live: &mut Live<L>, program: &Arc<Program>, now: Duration) {
        let may_compile = self.job.is_none() && self.comparison.is_none() && now >= self.not_before;
        if !may_compile || !program.externs.is_empty() || self.begun.len() >= MOST_COMPILATIONS {
            return;
        }
        let soon = self.wanted(live, program, now + HOLD);
        if soon.iter().any(|fact| !self.tried.contains(fact)) {
            self.watch.begin_sample(live, now);
        }
    }

    /// The facts that have held long enough and are not lost often, and of which the switch has room for the code's tables.
    fn wanted<L: Replay>(&self, live: &mut Live<L>, program: &Program, now: Duration) -> Vec<Assumption> {
        let of_table = |id: TableId| {
            let held = self.tables.get(&number(id));
            held.into_iter().flat_map(move |held| held.wanted(now)).map(move |fact| Assumption { table: id, fact })
        };
        let mut wanted: Vec<Assumption> = program.tables.iter().flat_map(|(id, _)| of_table(id)).collect();
        if let Some(engine) = live.engine() {
            let is_large = |table: TableId| engine.store().entry_count(table) > MOST_REWRITTEN;
            wanted.retain(|one| !specialised_code::makes_own_table(&one.fact) || !is_large(one.table));
        }
        wanted
    }

    /// Begins to compile where there is something new to gain.
    fn compile<L: Replay>(&mut self, live: &mut Live<L>, program: &Arc<Program>, now: Duration) {
        let is_compared = self.comparison.as_ref().is_some_and(|it| it.trial.is_under_way());
        if self.job.is_some() || is_compared || now < self.not_before {
            return;
        }
        // An object of a custom extern has state of its own in each pipeline.
        if !program.externs.is_empty() {
            if self.status.last.is_empty() {
                self.report(
                    "generic code stays: the program has objects of custom externs, whose state is the pipeline's"
                        .to_string(),
                );
            }
            return;
        }
        let wanted = self.wanted(live, program, now);
        let is_new = wanted.iter().any(|fact| !self.tried.contains(fact));
        let is_failure_over = self.not_before > Duration::ZERO;
        let is_due =
            is_new || !self.status.is_specialised && (!self.is_useless || is_failure_over) || self.watch.has_moved();
        self.begun.retain(|at| now < *at + MINUTE);
        let may_be_facts = wanted.is_empty() && now < self.since + SETTLING;
        if may_be_facts || self.begun.len() >= MOST_COMPILATIONS {
            return;
        }
        if !is_due && let Some(alternative) = self.untried.pop() {
            return self.compile_alternative(live, program, alternative, now);
        }
        if !is_due {
            let moved = self.watch.check(live, program, now);
            return moved.into_iter().for_each(|moved| self.report(moved.to_string()));
        }
        let Some(sample) = self.watch.sample(live, now) else { return };
        // Alternatives are for the same facts as the code that they are compared with.
        self.untried = Vec::new();
        self.tried.clone_from(&wanted);
        let mut builder = self.builder.with_passes_of(program);
        specialised_code::set_passes(&mut builder.passes, live, wanted);
        // Without a sample, packets are taken to come as before.
        let known = self.watch.traffic().cloned().filter(|_| sample.is_none());
        if self.tried.is_empty() && sample.is_none() && known.is_none() {
            // Nothing is known, neither of tables nor of packets.
            self.watch.plan_for(builder.passes, None, now);
            (self.not_before, self.is_useless) = (Duration::ZERO, true);
            return;
        }
        self.begun.push_back(now);
        (self.not_before, self.is_useless) = (Duration::ZERO, false);
        self.begin_job(builder, program, (sample, known), None);
    }

    /// Begins to compile the code that runs once more, in another way.
    fn compile_alternative<L: Replay>(
        &mut self,
        live: &mut Live<L>,
        program: &Arc<Program>,
        alternative: Alternative,
        now: Duration,
    ) {
        self.begun.push_back(now);
        let mut builder = self.builder.with_passes_of(program);
        let mut facts = self.tried.clone();
        if alternative == Alternative::Leading {
            facts.extend(self.leading(now));
        }
        specialised_code::set_passes(&mut builder.passes, live, facts);
        alternative.set(&mut builder.passes, self.kept.as_ref());
        let known = self.watch.traffic().cloned();
        self.begin_job(builder, program, (None, known), Some(alternative));
    }

    /// Entries that most packets hit, of tables that do not lose such facts often.
    fn leading(&self, now: Duration) -> Vec<Assumption> {
        let facts = self.watch.traffic().and_then(|traffic| traffic.leading.as_ref()).into_iter();
        let is_steady =
            |one: &&Assumption| self.tables.get(&number(one.table)).is_none_or(|held| held.is_steady(&one.fact, now));
        facts.flat_map(|leading| &leading.facts).filter(is_steady).cloned().collect()
    }

    fn begin_job(
        &mut self,
        mut builder: Builder,
        program: &Arc<Program>,
        (sample, known): (Option<sampling::Sample>, Option<Traffic>),
        alternative: Option<Alternative>,
    ) {
        let (sender, done) = mpsc::channel();
        let passes = builder.passes.clone();
        let limit = Limit::of_time(self.manner.time_limit);
        builder.native.limit = Some(limit.clone());
        self.job = Some(Job { program: program.clone(), passes, alternative, limit, done });
        let (program, is_reported) = (program.clone(), self.manner.is_reported);
        std::thread::spawn(move || {
            // Packets come first.
            core_isolation::work_in_background();
            // The switch may have ended.
            drop(sender.send(specialised_code::built(builder, &program, sample, known, is_reported)));
        });
    }

    fn report(&mut self, what: String) {
        if self.manner.is_reported {
            eprintln!("note: {what}");
        }
        self.status.last = what;
    }
}

/// A typed index as a number, which has an order.
fn number(table: TableId) -> u32 {
    table.into_raw().into_u32()
}
