//! Keeps a running switch specialised for what its tables hold, beside the packets.
//!
//! The control thread looks every now and then which facts the store's counters give. What has held for [`HOLD`] is
//! compiled in another thread, and takes the place of the generic code if it still holds. A write that breaks it puts the
//! workers back on generic code by itself (`native::specialised`); here it is only counted. Compilations are bounded, and
//! a table whose facts break often is left generic for a time. Whatever the compiler does, generic code goes on.

use super::live::{Built, Live, Shared};
use super::pushed::{self, Builder};
use control::DataPlane as _;
use driver::frontend::Loaded;
use hlir::facts::{Assumption, Fact};
use hlir::{Program, TableId};
use native::{Break, Replay};
use opt::explain::described;
use opt::inputs::{Content, Occupancy};
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
/// A table whose facts writes broke so often within a minute is left generic for that time.
const MOST_BREAKS: usize = 3;
const MINUTE: Duration = Duration::from_secs(60);
/// How long the compiler may take.
const TIME_LIMIT: Duration = Duration::from_secs(120);
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

/// A table's facts, and their past.
#[derive(Default)]
struct Held {
    facts: Vec<Fact>,
    since: Duration,
    breaks: VecDeque<Duration>,
}

/// A compilation in another thread.
struct Job {
    program: Arc<Program>,
    done: Receiver<Result<Built, String>>,
}

/// See the module.
pub struct Specialiser {
    builder: Arc<Builder>,
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
    /// For a switch whose pipelines are built so.
    pub fn new(builder: Builder) -> Specialiser {
        Specialiser {
            builder: Arc::new(builder),
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

    fn broken(&mut self, program: &Program, Break { broken, time }: Break, now: Duration) {
        let table = &program.tables[broken.table].name;
        let held = self.tables.entry(number(broken.table)).or_default();
        held.breaks.retain(|at| now < *at + MINUTE);
        held.breaks.push_back(now);
        let left = if held.breaks.len() >= MOST_BREAKS { "; the table is left generic for a while" } else { "" };
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
            let (held, facts) = (self.tables.entry(number(id)).or_default(), facts.remove(&number(id)));
            let facts = facts.unwrap_or_default();
            if held.facts != facts {
                (held.facts, held.since) = (facts, now);
            }
        }
    }

    /// The facts that have held long enough, of tables that do not break them often.
    fn wanted(&self, program: &Program, now: Duration) -> Vec<Assumption> {
        let is_steady = |held: &&Held| {
            let breaks = held.breaks.iter().filter(|at| now < **at + MINUTE).count();
            now >= held.since + HOLD && breaks < MOST_BREAKS
        };
        let of_table = |id: TableId| {
            let held = self.tables.get(&number(id)).filter(is_steady);
            held.into_iter().flat_map(move |held| held.facts.iter().map(move |fact| (id, fact.clone())))
        };
        let all = program.tables.iter().flat_map(|(id, _)| of_table(id));
        all.map(|(table, fact)| Assumption { table, fact }).collect()
    }

    /// Begins to compile where there is something new to gain.
    fn compile<L: Replay>(&mut self, live: &mut Live<L>, program: &Arc<Program>, now: Duration) {
        if self.job.is_some() || now < self.not_before {
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
        let content = |(id, table): (TableId, &hlir::Table)| {
            let entries = engine.store().entry_count(id) as u64;
            let masks = Content::estimated_masks(table, entries);
            (table.name.clone(), Content { entries, records: entries, masks, is_known: true, ..Content::default() })
        };
        let tables = program.tables.iter().map(content).filter(|(_, content)| content.entries > 0).collect();
        let occupancy = Occupancy { tables, others_are_empty: true, ..Occupancy::default() };
        self.begun.push_back(now);
        (self.not_before, self.is_useless) = (Duration::ZERO, false);
        self.tried.clone_from(&wanted);
        let mut builder = self.builder.with_passes_of(program);
        builder.passes.facts = wanted;
        builder.passes.occupancy = Some(occupancy);
        builder.passes.structures = structures;
        builder.native.time_limit = Some(TIME_LIMIT);
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
