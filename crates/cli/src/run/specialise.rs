//! Keeps a running switch specialised for what its tables hold, beside the packets.
//!
//! The control thread looks every now and then which facts the store's counters give. What has held for [`HOLD`] is
//! compiled in another thread, and takes the place of the generic code if it still holds. A write that breaks it puts the
//! workers back on generic code by itself (`native::specialised`); here it is only counted. Compilations are bounded, and
//! a kind of fact that a table loses often is not used for a time. Whatever the compiler does, generic code goes on.

use super::live::{Built, Live, Shared};
use super::pushed::{self, Builder};
use control::DataPlane as _;
use driver::entries::stored;
use driver::frontend::Loaded;
use hlir::facts::{Assumption, Fact};
use hlir::{Program, TableId};
use native::{Break, Replay};
use opt::explain::described;
use opt::inputs::Occupancy;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::Duration;

/// How often facts are read.
const LOOK: Duration = Duration::from_millis(100);
/// How long a table's facts must have been the same before code is made for them.
const HOLD: Duration = Duration::from_millis(500);
/// Compilations begun within a minute, at most.
const MOST_COMPILATIONS: usize = 10;
/// A kind of fact that a table has lost so often within a minute is not used for that time.
const MOST_LOSSES: usize = 3;
const MINUTE: Duration = Duration::from_secs(60);
/// After a failure, the next attempt waits; twice as long after each further one.
const FIRST_WAIT: Duration = Duration::from_secs(10);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// What controllers are told.
#[derive(Clone, Debug, Default)]
pub struct Status {
    pub is_specialised: bool,
    /// What the code takes for granted, in words.
    pub facts: Vec<String>,
    pub loaded: u64,
    pub broken: u64,
    /// What happened last.
    pub last: String,
}

/// What a fact is about: others of its kind take its place when entries change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Empty,
    Default,
    Entries,
    Actions,
    Argument(u32, u32),
    Any(u32),
}

impl Kind {
    fn of(fact: &Fact) -> Kind {
        match fact {
            Fact::Empty => Kind::Empty,
            Fact::Default(_) => Kind::Default,
            Fact::Entries(_) => Kind::Entries,
            Fact::Actions(_) => Kind::Actions,
            Fact::Argument { action, parameter, .. } => Kind::Argument(*action, *parameter),
            Fact::Any(key) => Kind::Any(*key),
        }
    }
}

/// A table's facts, since when each holds, and when facts that had held for long enough were lost.
#[derive(Default)]
struct Held {
    facts: Vec<(Fact, Duration)>,
    losses: BTreeMap<Kind, VecDeque<Duration>>,
}

impl Held {
    /// The facts that hold now.
    fn observe(&mut self, now_hold: Vec<Fact>, now: Duration) {
        let before = std::mem::take(&mut self.facts);
        for (fact, since) in &before {
            if now >= *since + HOLD && !now_hold.contains(fact) {
                self.lose(fact, now);
            }
        }
        let since = |fact: &Fact| before.iter().find(|(old, _)| old == fact).map_or(now, |(_, since)| *since);
        self.facts = now_hold.into_iter().map(|fact| (fact.clone(), since(&fact))).collect();
    }

    fn lose(&mut self, fact: &Fact, now: Duration) {
        let losses = self.losses.entry(Kind::of(fact)).or_default();
        losses.retain(|at| now < *at + MINUTE);
        losses.push_back(now);
    }

    /// Whether a fact of this kind may be used.
    fn is_steady(&self, fact: &Fact, now: Duration) -> bool {
        let losses = self.losses.get(&Kind::of(fact));
        losses.is_none_or(|losses| losses.iter().filter(|at| now < **at + MINUTE).count() < MOST_LOSSES)
    }

    /// Facts that have held for long enough, and are not lost often.
    fn wanted(&self, now: Duration) -> impl Iterator<Item = Fact> {
        let is_wanted = move |(fact, since): &&(Fact, Duration)| now >= *since + HOLD && self.is_steady(fact, now);
        self.facts.iter().filter(is_wanted).map(|(fact, _)| fact.clone())
    }
}

/// A compilation in another thread.
struct Job {
    program: Arc<Program>,
    done: Receiver<Result<Built, String>>,
}

/// See the module.
pub struct Specialiser {
    builder: Arc<Builder>,
    /// How long the compiler may take.
    time_limit: Duration,
    /// The program whose tables are watched.
    program: Option<Arc<Program>>,
    tables: BTreeMap<u32, Held>,
    job: Option<Job>,
    /// The facts that were compiled last.
    tried: Vec<Assumption>,
    /// Whether those facts gave no code.
    is_useless: bool,
    begun: VecDeque<Duration>,
    looked: Option<Duration>,
    not_before: Duration,
    wait: Duration,
    status: Status,
}

impl Specialiser {
    /// For a switch whose pipelines are built so, each within this time.
    pub fn new(builder: Builder, time_limit: Duration) -> Specialiser {
        Specialiser {
            builder: Arc::new(builder),
            time_limit,
            program: None,
            tables: BTreeMap::new(),
            job: None,
            tried: Vec::new(),
            is_useless: false,
            begun: VecDeque::new(),
            looked: None,
            not_before: Duration::ZERO,
            wait: FIRST_WAIT,
            status: Status::default(),
        }
    }

    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Does what is due. `now` is the time since the start.
    pub fn tend<L: Replay>(&mut self, switch: &Shared<L>, now: Duration) {
        if self.looked.is_some_and(|looked| now < looked + LOOK) {
            return;
        }
        self.looked = Some(now);
        let mut live = switch.lock();
        let Some(engine) = live.engine() else { return };
        let program = engine.program();
        if self.program.as_ref().is_none_or(|known| !Arc::ptr_eq(known, &program)) {
            self.begin(program.clone());
        }
        let breaks = engine.take_breaks();
        let is_specialised = engine.is_specialised();
        breaks.into_iter().for_each(|broken| self.broken(&program, broken, now));
        if self.status.is_specialised && !is_specialised {
            (self.status.is_specialised, self.status.facts) = (false, Vec::new());
            self.say("generic code runs since an atomic batch".to_string());
        }
        self.load(&mut live, &program, now);
        self.observe(&mut live, now);
        self.compile(&mut live, &program, now);
    }

    /// Another program: nothing is known of its tables.
    fn begin(&mut self, program: Arc<Program>) {
        self.program = Some(program);
        self.tables.clear();
        self.tried.clear();
        self.is_useless = false;
        (self.status.is_specialised, self.status.facts) = (false, Vec::new());
    }

    fn broken(&mut self, program: &Program, Break { broken, time, .. }: Break, now: Duration) {
        let table = &program.tables[broken.table].name;
        let held = self.tables.entry(number(broken.table)).or_default();
        held.lose(&broken.fact, now);
        // It is counted once, whether it holds again by now or not.
        held.facts.retain(|(fact, _)| *fact != broken.fact);
        let left = if held.is_steady(&broken.fact, now) { "" } else { "; such a fact is not used for a while" };
        self.status.broken += 1;
        (self.status.is_specialised, self.status.facts) = (false, Vec::new());
        self.say(format!(
            "generic code runs since a write to {table}, which had {}: after {:.1} us{left}",
            described(program, &broken),
            time.as_secs_f64() * 1e6
        ));
    }

    /// Puts code that is ready in the place of the code that runs.
    fn load<L: Replay>(&mut self, live: &mut Live<L>, program: &Arc<Program>, now: Duration) {
        let Some(job) = &self.job else { return };
        let result = match job.done.try_recv() {
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Disconnected) => Err("the compilation ended without a result".to_string()),
            Ok(result) => result,
        };
        let is_this = Arc::ptr_eq(&job.program, program);
        self.job = None;
        let Some(engine) = live.engine().filter(|_| is_this) else { return };
        let built = match result {
            Ok(built) => built,
            Err(why) => {
                self.not_before = now + self.wait;
                self.say(format!("generic code stays; the next attempt is in {} s: {why}", self.wait.as_secs()));
                self.wait = (2 * self.wait).min(LONGEST_WAIT);
                self.is_useless = true;
                return;
            }
        };
        self.wait = FIRST_WAIT;
        let facts: Vec<String> = words(program, &built.compiled.assumptions);
        if facts.is_empty() {
            self.is_useless = true;
            return;
        }
        match engine.specialise(&built.compiled, built.pipeline) {
            Ok(()) => {
                self.status.loaded += 1;
                self.say(format!("code is specialised for {} facts: {}", facts.len(), facts.join("; ")));
                (self.status.is_specialised, self.status.facts) = (true, facts);
            }
            Err(refusal) => self.say(format!("generic code stays: {refusal}")),
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

    /// The facts that have held long enough and are not lost often.
    fn wanted(&self, program: &Program, now: Duration) -> Vec<Assumption> {
        let of_table = |id: TableId| {
            let held = self.tables.get(&number(id));
            held.into_iter().flat_map(move |held| held.wanted(now)).map(move |fact| Assumption { table: id, fact })
        };
        program.tables.iter().flat_map(|(id, _)| of_table(id)).collect()
    }

    /// Begins to compile where there is something new to gain.
    fn compile<L: Replay>(&mut self, live: &mut Live<L>, program: &Arc<Program>, now: Duration) {
        if self.job.is_some() || now < self.not_before {
            return;
        }
        // An object of a custom extern has state of its own in each pipeline.
        if !program.externs.is_empty() {
            if self.status.last.is_empty() {
                self.say(
                    "generic code stays: the program has objects of custom externs, whose state is the pipeline's"
                        .to_string(),
                );
            }
            return;
        }
        let wanted = self.wanted(program, now);
        let is_new = wanted.iter().any(|fact| !self.tried.contains(fact));
        let is_failure_over = self.not_before > Duration::ZERO;
        let is_due = is_new || !self.status.is_specialised && (!self.is_useless || is_failure_over);
        self.begun.retain(|at| now < *at + MINUTE);
        if wanted.is_empty() || !is_due || self.begun.len() >= MOST_COMPILATIONS {
            return;
        }
        let structures = live.structures.clone();
        let Some(engine) = live.engine() else { return };
        let content = |(id, table): (TableId, &hlir::Table)| (table.name.clone(), stored(engine.store(), id));
        let tables = program.tables.iter().map(content).filter(|(_, content)| content.entries > 0).collect();
        let occupancy = Occupancy { tables, others_are_empty: true, ..Occupancy::default() };
        self.begun.push_back(now);
        (self.not_before, self.is_useless) = (Duration::ZERO, false);
        self.tried.clone_from(&wanted);
        let mut builder = self.builder.with_passes_of(program);
        builder.passes.facts = wanted;
        builder.passes.occupancy = Some(occupancy);
        builder.passes.structures = structures;
        builder.native.time_limit = Some(self.time_limit);
        let (sender, done) = mpsc::channel();
        self.job = Some(Job { program: program.clone(), done });
        let loaded = Loaded { program: (**program).clone(), plan: None };
        std::thread::spawn(move || {
            let built = pushed::build_loaded(&builder, loaded, |_| {});
            // The switch may have ended.
            drop(sender.send(built.map_err(|failure| failure.message().to_string())));
        });
    }

    fn say(&mut self, what: String) {
        eprintln!("note: {what}");
        self.status.last = what;
    }
}

/// A typed index as a number, which has an order.
fn number(table: TableId) -> u32 {
    table.into_raw().into_u32()
}

/// A line for each table of which something is taken for granted.
fn words(program: &Program, assumptions: &[Assumption]) -> Vec<String> {
    let of_table = |(id, table): (TableId, &hlir::Table)| {
        let facts: Vec<String> =
            assumptions.iter().filter(|one| one.table == id).map(|one| described(program, one)).collect();
        (!facts.is_empty()).then(|| format!("{}: {}", table.name, facts.join(", ")))
    };
    program.tables.iter().filter_map(of_table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_fact_is_wanted_when_it_has_held_and_its_kind_is_not_lost_often() {
        let (mut held, any) = (Held::default(), Fact::Any(1));
        let wanted = |held: &Held, now: Duration| held.wanted(now).collect::<Vec<Fact>>();
        held.observe(vec![Fact::Empty, any.clone()], SECOND);
        assert_eq!(wanted(&held, SECOND), []);
        assert_eq!(wanted(&held, SECOND + HOLD), [Fact::Empty, any.clone()]);
        // It flips each second; the other goes on.
        for second in 1..=4u32 {
            let is_empty = second % 2 == 0;
            let facts = if is_empty { vec![Fact::Empty, any.clone()] } else { vec![any.clone()] };
            held.observe(facts, SECOND * (1 + second));
        }
        assert_eq!(wanted(&held, SECOND * 6), [Fact::Empty, any.clone()], "lost twice");
        held.observe(vec![any.clone()], SECOND * 7);
        held.observe(vec![Fact::Empty, any.clone()], SECOND * 8);
        assert_eq!(wanted(&held, SECOND * 10), std::slice::from_ref(&any));
        assert_eq!(wanted(&held, SECOND * 63), [Fact::Empty, any], "the first loss is older than a minute");
    }

    #[test]
    fn what_held_for_a_moment_is_no_loss() {
        let mut held = Held::default();
        for step in 0..20u32 {
            let facts = if step % 2 == 0 { vec![Fact::Empty] } else { Vec::new() };
            held.observe(facts, HOLD * step / 2);
        }
        assert!(held.losses.is_empty());
    }
}
