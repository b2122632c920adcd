//! The trace runner: sends the same packets through the interpreter and another engine, and finds the first difference.
//!
//! Outputs, drops by reason, digests, hits and misses are compared after every burst, counters and registers after the last, at several burst sizes. What
//! differs is reported with the packets in hexadecimal and the path they took through the interpreter.

mod compare;
mod elements;
mod packets;
mod writes;

pub use packets::{Sample, Source};
pub use writes::{Write, random_writes};

use compare::Order;
use control::plane::{Frame, Outcome, TableCounts};
use control::{DataPlane, Refusal};
use hlir::Program;
use interp::Switch;
use interp::externs::Bind;
use stf::compare::hex;
use stf::{normal, shared_state};

/// Burst sizes at which batches are tested: alone, odd, half, full.
pub const BURSTS: [usize; 4] = [1, 7, 32, 64];

/// Nanoseconds between two packets.
const GAP_NS: u64 = 1000;

pub struct Settings<'a> {
    pub source: Source<'a>,
    /// Packets at each burst size.
    pub count: u64,
    pub bursts: &'a [usize],
    pub copies: Copies,
    /// What brings the interpreter's custom externs.
    pub externs: Bind<'a>,
}

/// What copies of a packet may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Leave when they do in the interpreter, as they must where packets do not wait.
    KeepTheirTurn,
    /// Leave before the packet itself: it may wait in one of the plan's queues, through which they pass.
    MayOvertake,
}

/// Gives a switch that has just been reset its entries and whatever else it needs.
pub type Configure<'a> = &'a dyn Fn(&mut dyn DataPlane) -> Result<(), Refusal>;

/// What happened, where nothing differed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Of all burst sizes together.
    pub packets: u64,
    pub outputs: u64,
    pub drops: u64,
    pub hits: u64,
    pub misses: u64,
    /// What the reader of a result should know.
    pub notes: Vec<String>,
}

/// The first burst with which the two engines did not do the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub burst: usize,
    /// The number of its first packet.
    pub first: u64,
    pub message: String,
    pub frames: Vec<Frame>,
    pub expected: Outcome,
    pub found: Outcome,
    /// What the interpreter did.
    pub trace: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    Difference(Box<Difference>),
    Refusal(Refusal),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refusal(refusal)
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "at burst {}, packet {}: {}", self.burst, self.first, self.message)?;
        for (number, frame) in (self.first..).zip(&self.frames) {
            writeln!(f, "packet {number}: port {}, {} bytes: {}", frame.port, frame.bytes.len(), shown(&frame.bytes))?;
        }
        for (title, outcome) in [("expected", &self.expected), ("found", &self.found)] {
            writeln!(f, "{title}:")?;
            for output in &outcome.outputs {
                writeln!(f, "  port {}, {} bytes: {}", output.port, output.bytes.len(), shown(&output.bytes))?;
            }
        }
        writeln!(f, "the interpreter's path:")?;
        self.trace.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// A packet in hex, and of a long one the front: nine thousand bytes are unreadable, and the same seed makes them again.
fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 256;
    match bytes.len().checked_sub(MOST) {
        None | Some(0) => hex(bytes),
        Some(more) => format!("{}... and {more} bytes more", hex(&bytes[..MOST])),
    }
}

/// Sends packets through both engines; `progress` gets how many more were sent.
pub fn run(
    program: &Program,
    engine: &mut dyn DataPlane,
    ports: u32,
    settings: &Settings<'_>,
    configure: Configure<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<Summary, Failure> {
    let mut summary = Summary::default();
    let mut bursts = settings.bursts;
    if let Some(object) = shared_state(program).filter(|_| bursts.iter().any(|burst| *burst > 1)) {
        summary.notes.push(format!("packets that enter again touch {object}: compared packet by packet only"));
        bursts = &[1];
    }
    for burst in bursts {
        let mut oracle = Switch::new(program, 0, ports);
        oracle.bind((settings.externs)());
        let mut pair = Pair { program, oracle, engine: &mut *engine, settings, configure };
        pair.run(*burst, &mut summary, progress)?;
    }
    Ok(summary)
}

struct Pair<'a, 'p> {
    program: &'p Program,
    oracle: Switch<'p>,
    engine: &'a mut dyn DataPlane,
    settings: &'a Settings<'a>,
    configure: Configure<'a>,
}

impl Pair<'_, '_> {
    fn run(&mut self, burst: usize, summary: &mut Summary, progress: &mut dyn FnMut(u64)) -> Result<(), Failure> {
        self.start()?;
        let mut first = 0;
        let mut since = 0;
        while first < self.settings.count {
            let frames = self.frames(first, burst);
            let sent = frames.len() as u64;
            set_clocks(&mut self.oracle, self.engine, first);
            let idle_differs = self.idle_differs();
            let expected = self.oracle.process(&frames)?;
            let found = self.engine.process(&frames)?;
            let order = match self.settings.copies {
                Copies::KeepTheirTurn if burst == 1 => Order::Same,
                Copies::KeepTheirTurn | Copies::MayOvertake => Order::OnPaths,
            };
            let differs = idle_differs.or(compare::difference(&expected, &found, order));
            let counts_open = expected.stopped.is_some();
            let mut message = differs.or_else(|| if counts_open { None } else { self.counts_differ() });
            if message.is_none() && !counts_open && first + sent == self.settings.count {
                message = self.elements_differ()?;
            }
            if let Some(message) = message {
                let trace = self.trace(since, first, burst)?;
                let difference = Difference { burst, first, message, frames, expected, found, trace };
                return Err(Failure::Difference(Box::new(difference)));
            }
            summary.packets += sent;
            summary.outputs += expected.outputs.len() as u64;
            first += sent;
            progress(sent);
            if counts_open {
                // An assertion stopped both: they begin anew with the next packet.
                self.summarize(summary);
                self.start()?;
                since = first;
            }
        }
        self.summarize(summary);
        Ok(())
    }

    fn start(&mut self) -> Result<(), Refusal> {
        self.oracle.reset();
        self.engine.reset();
        for engine in [&mut self.oracle as &mut dyn DataPlane, &mut *self.engine] {
            (self.configure)(engine)?;
            engine.set_seed(self.settings.source.seed);
        }
        Ok(())
    }

    fn frames(&self, first: u64, burst: usize) -> Vec<Frame> {
        let end = (first + burst as u64).min(self.settings.count);
        (first..end).map(|number| self.settings.source.packet(number)).collect()
    }

    /// Hits and misses of all tables.
    fn counts(&self, engine: &dyn DataPlane) -> Vec<TableCounts> {
        self.program.tables.iter().map(|(table, _)| engine.table_counts(table)).collect()
    }

    /// Whether other entries became idle when the clock was set.
    fn idle_differs(&mut self) -> Option<String> {
        let mut expected = self.oracle.take_idle();
        let count = expected.len();
        for key in self.engine.take_idle() {
            let wanted = normal(self.program, &key);
            let position = expected.iter().position(|other| normal(self.program, other) == wanted);
            let Some(position) = position else {
                return Some(format!(
                    "an entry of table `{}` became idle too early",
                    self.program.tables[key.table].name
                ));
            };
            expected.remove(position);
        }
        let missing = expected.first()?;
        let name = &self.program.tables[missing.table].name;
        Some(format!("table `{name}`: of {count} entries that became idle, {} were not reported", expected.len()))
    }

    fn counts_differ(&self) -> Option<String> {
        let (expected, found) = (self.oracle.drops(), self.engine.drops());
        let differing = expected.iter().zip(&found).position(|(expected, found)| expected != found);
        if let Some(index) = differing {
            let reason = &self.program.drop_reasons()[index];
            return Some(format!("drops for `{reason}`: expected {}, found {}", expected[index], found[index]));
        }
        let counts = self.counts(&self.oracle).into_iter().zip(self.counts(self.engine));
        let mut tables = self.program.tables.iter().zip(counts);
        let ((_, table), (expected, found)) = tables.find(|(_, (expected, found))| expected != found)?;
        let written = |counts: TableCounts| format!("{} hits and {} misses", counts.hits, counts.misses);
        Some(format!("table `{}`: expected {}, found {}", table.name, written(expected), written(found)))
    }

    fn summarize(&self, summary: &mut Summary) {
        summary.drops += self.oracle.drops().iter().sum::<u64>();
        for counts in self.counts(&self.oracle) {
            summary.hits += counts.hits;
            summary.misses += counts.misses;
        }
    }

    /// What the interpreter does with the burst at `first`, after all bursts since `since`.
    fn trace(&mut self, since: u64, first: u64, burst: usize) -> Result<Vec<String>, Refusal> {
        self.start()?;
        let mut next = since;
        while next < first {
            let frames = self.frames(next, burst);
            self.oracle.set_clock(next * GAP_NS);
            self.oracle.process(&frames)?;
            next += frames.len() as u64;
        }
        self.oracle.start_trace();
        self.oracle.set_clock(first * GAP_NS);
        let frames = self.frames(first, burst);
        self.oracle.process(&frames)?;
        Ok(self.oracle.take_trace())
    }
}

fn set_clocks(oracle: &mut Switch<'_>, engine: &mut dyn DataPlane, packets: u64) {
    oracle.set_clock(packets * GAP_NS);
    engine.set_clock(packets * GAP_NS);
}
