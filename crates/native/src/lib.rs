//! Native code as an engine: a compiled pipeline in a switch, driven in the program's own terms.
//!
//! What the store of the control plane accepts is translated and written to the tables that packets read.

mod aging;
mod apply;
mod batch;
mod chunk;
mod controller;
mod crc;
mod engine;
mod exchange;
mod joins;
mod kept;
mod lookups_in_code;
mod miss;
mod numbers;
mod reported;
mod selector;
mod specialised;
pub mod translate;

pub use chunk::Chunk;
use control::join::Joins;
use control::plane::{EntryKey, Frame};
use control::{Refusal, RefusalKind, Store};
pub use exchange::Written;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Program, TableId};
pub use miss::MissHandler;
use numbers::Numbers;
use runtime::{
    Counts, DpdkMemoryPort, LayerPorts, Left, MemoryPort, Packet, Pipeline, Settings, Switch, SwitchError, TableError,
    Trace, WorkerPorts, memory_limit,
};
pub use specialised::Break;
use specialised::{Generic, compared};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A port that takes frames and returns what was sent; live ports do not.
pub trait Replay: WorkerPorts {
    fn replay(&mut self, frames: &[Frame]) -> Result<(), Refusal>;
    fn take_sent(&mut self) -> Vec<Packet>;
}

impl Replay for MemoryPort {
    fn replay(&mut self, frames: &[Frame]) -> Result<(), Refusal> {
        let trace = trace_of(frames, self.room())?;
        self.keep_sent();
        self.load(trace, frames.len() as u64, 0);
        Ok(())
    }

    fn take_sent(&mut self) -> Vec<Packet> {
        MemoryPort::take_sent(self)
    }
}

impl Replay for DpdkMemoryPort {
    fn replay(&mut self, frames: &[Frame]) -> Result<(), Refusal> {
        let trace = trace_of(frames, u32::from(u16::MAX))?;
        self.keep_sent();
        self.load(trace, frames.len() as u64, 0);
        Ok(())
    }

    fn take_sent(&mut self) -> Vec<Packet> {
        DpdkMemoryPort::take_sent(self)
    }
}

impl Replay for LayerPorts {
    fn replay(&mut self, _: &[Frame]) -> Result<(), Refusal> {
        Err(Refusal::wrong("a port of the network does not replay packets".to_string()))
    }

    fn take_sent(&mut self) -> Vec<Packet> {
        Vec::new()
    }
}

/// Frames as the in-memory ports copy them.
pub fn trace_of(frames: &[Frame], room: u32) -> Result<Trace, Refusal> {
    if let Some(long) = frames.iter().find(|frame| frame.bytes.len() > room as usize) {
        return Err(Refusal::wrong(format!("a packet has {} bytes; this port takes {room}", long.bytes.len())));
    }
    let port = |frame: &Frame| {
        u16::try_from(frame.port).map_err(|_| Refusal::wrong(format!("there is no port {}", frame.port)))
    };
    let ports = frames.iter().map(port).collect::<Result<Vec<u16>, Refusal>>()?;
    Ok(Trace::new(ports.into_iter().zip(frames.iter().map(|frame| frame.bytes.as_slice()))))
}

/// What becomes of the pipeline that another takes the place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    Goes(Written),
    /// It is generic, and workers may come back to it; what was written is kept.
    StandsBy,
}

impl Behind {
    fn written(self) -> Written {
        match self {
            Behind::Goes(written) => written,
            Behind::StandsBy => Written::Kept,
        }
    }
}

/// The program as its user wrote it, and as it was compiled: the optimizer may have taken objects away.
pub struct NativeEngine<'p, L: WorkerPorts> {
    program: Arc<Program>,
    compiled: Arc<Program>,
    pipeline: Arc<Pipeline>,
    numbers: Numbers,
    worker_ports: Box<dyn FnMut() -> Vec<L> + Send + 'p>,
    settings: Settings,
    switch: Switch<L>,
    store: Store,
    /// The code for any contents, while code runs that was specialised for some.
    generic: Option<Generic>,
    /// What writes have broken since they were last taken.
    breaks: Vec<Break>,
    /// Pipelines that ran, to be freed when there is time.
    retired: Vec<Left>,
    /// Whether tables that a standby has in common with the pipeline that runs count as absent: they are written there.
    skips_shared: bool,
    /// Joint tables, which follow the store.
    joins: Joins,
    /// Hits and misses that earlier pipelines have counted elsewhere than in the table, by table: in joint tables, as far as
    /// those of this pipeline do not have them, and in code.
    earlier_counts: BTreeMap<String, joins::Hits>,
    /// Hits and misses as they were last reported, by table.
    reported: BTreeMap<String, (u64, u64)>,
    /// Entries whose time has passed, for the controller.
    idle: Vec<EntryKey>,
    clock_ns: u64,
    stopped: Option<String>,
    /// The store's version for which the code's assumptions hold.
    checked: Option<u64>,
    /// What the switches before the last reset have counted.
    counted: Counts,
    /// Insertions until the memory of the process is looked at again.
    until_memory_is_checked: u32,
}

impl<'p, L: WorkerPorts> NativeEngine<'p, L> {
    /// A switch with the program's own entries. `worker_ports` makes the ports of each worker, again at each reset.
    pub fn new(
        (program, compiled): (&Program, &Program),
        pipeline: Arc<Pipeline>,
        settings: Settings,
        mut worker_ports: impl FnMut() -> Vec<L> + Send + 'p,
    ) -> Result<NativeEngine<'p, L>, SwitchError> {
        let switch = Switch::new(pipeline.clone(), worker_ports(), settings)?;
        let (program, compiled) = (Arc::new(program.clone()), Arc::new(compiled.clone()));
        let mut engine = NativeEngine {
            store: Store::new(program.clone()),
            generic: None,
            breaks: Vec::new(),
            retired: Vec::new(),
            skips_shared: false,
            joins: Joins::new(compiled.clone()),
            earlier_counts: BTreeMap::new(),
            reported: BTreeMap::new(),
            idle: Vec::new(),
            clock_ns: 0,
            stopped: None,
            checked: None,
            counted: Counts::default(),
            until_memory_is_checked: 0,
            worker_ports: Box::new(worker_ports),
            numbers: Numbers::of((&program, &compiled), pipeline.description()),
            program,
            compiled,
            pipeline,
            settings,
            switch,
        };
        engine.store.assume(&engine.compiled.assumptions);
        engine.write_own_entries().expect("the verifier accepts only entries that fit their tables");
        engine.fill_joins();
        Ok(engine)
    }

    pub fn switch(&mut self) -> &mut Switch<L> {
        &mut self.switch
    }

    /// Packets on each edge and keys of lookups since the engine was made, where the plan counts them.
    pub fn counts(&self) -> Counts {
        let mut counts = self.counted.clone();
        counts.add(&self.switch.counts());
        counts
    }

    /// Whether the tables hold what the code was specialised for; asked before packets come.
    pub fn check_assumptions(&mut self) -> Result<(), Refusal> {
        let version = Some(self.store.version());
        if self.checked != version {
            self.store.check_assumptions()?;
            self.checked = version;
        }
        Ok(())
    }

    pub fn program(&self) -> Arc<Program> {
        self.program.clone()
    }

    /// The number of a table of the program in the pipeline; `None` if it was optimized away.
    pub fn table_number(&self, table: TableId) -> Option<usize> {
        let number = self.numbers.table(table)?;
        (!self.skips_shared || !self.switch.is_shared(number)).then_some(number)
    }

    /// What the program calls a digest of the pipeline.
    pub fn digest_name(&self, digest: u32) -> String {
        let found = self.compiled.digests.iter().nth(digest as usize);
        found.map_or("digest".to_string(), |(_, digest)| format!("digest {}", digest.name))
    }

    fn write_own_entries(&mut self) -> Result<(), Refusal> {
        self.begin_aging();
        let program = self.program.clone();
        for (id, table) in program.tables.iter() {
            let Some(number) = self.table_number(id) else { continue };
            self.write_default(id, &table.default)?;
            for entry in table.entries.iter() {
                match self.write_entry(number, id, entry) {
                    // Of two that match the same with the same priority, the first counts.
                    Err(refusal) if refusal.kind == RefusalKind::Exists => {}
                    written => written?,
                }
            }
        }
        Ok(())
    }

    fn write_default(&self, id: TableId, call: &ActionCall) -> Result<(), Refusal> {
        let Some(number) = self.table_number(id) else { return Ok(()) };
        let record = self.record(number, id, call)?;
        let table = &self.switch.tables()[number];
        table.set_default(&record).map_err(|error| table_refusal(&self.program.tables[id].name, error))
    }

    fn record(&self, number: usize, id: TableId, call: &ActionCall) -> Result<Vec<u8>, Refusal> {
        let action = self.numbers.action(id, call.action).ok_or_else(|| self.no_such_action(id, call.action))?;
        Ok(translate::record(&self.pipeline.description().tables[number], action, call))
    }

    fn no_such_action(&self, id: TableId, action: u32) -> Refusal {
        let declared = &self.program.tables[id];
        let action = &declared.actions[action as usize].name;
        Refusal::wrong(format!("table `{}` has no action `{action}`", declared.name))
    }

    /// Writes an entry to the table that packets read.
    fn write_entry(&self, number: usize, id: TableId, entry: &Entry) -> Result<(), Refusal> {
        let record = self.entry_record(number, id, entry)?;
        let description = &self.pipeline.description().tables[number];
        let matches = translate::matches(description, &entry.matches, entry.priority)?;
        self.set_table_clock(id, number);
        let inserted = self.switch.tables()[number].insert(&matches, &record);
        inserted.map(drop).map_err(|error| table_refusal(&description.name, error))
    }

    fn call_of<'e>(&'e self, id: TableId, entry: &'e Entry) -> Result<&'e ActionCall, Refusal> {
        match &entry.action {
            EntryAction::Call(call) => Ok(call),
            EntryAction::Member(member) => self.member(id, *member),
            EntryAction::Group(_) | EntryAction::Set(_) => Err(Refusal::wrong("a group has no action of its own")),
        }
    }

    /// A member of the table's profile.
    fn member(&self, id: TableId, member: u32) -> Result<&ActionCall, Refusal> {
        let call = self.program.tables[id].profile.and_then(|profile| self.store.member(profile, member));
        call.ok_or_else(|| Refusal::new(RefusalKind::Missing, format!("there is no member {member}")))
    }

    /// Back to the state at the start.
    fn restart(&mut self) {
        if let Some(generic) = self.generic.take() {
            (self.compiled, self.pipeline, self.numbers) = (generic.compiled, generic.pipeline, generic.numbers);
            self.store.assume(&self.compiled.assumptions);
            self.joins = Joins::new(self.compiled.clone());
        }
        self.retired.clear();
        self.store.reset();
        self.counted = self.counts();
        let renewed = self.switch.renew(self.pipeline.clone(), (self.worker_ports)(), self.settings);
        renewed.expect("a switch that could be built once can be built again");
        self.idle.clear();
        self.earlier_counts.clear();
        self.reported.clear();
        (self.clock_ns, self.stopped) = (0, None);
        self.write_own_entries().expect("entries that were accepted once are accepted again");
        self.fill_joins();
    }
}

fn table_refusal(name: &str, error: TableError) -> Refusal {
    let kind = match error {
        TableError::Full => RefusalKind::Full,
        TableError::Exists => RefusalKind::Exists,
        TableError::Missing => RefusalKind::Missing,
        TableError::NoMemory => RefusalKind::Full,
        TableError::Invalid => RefusalKind::Wrong,
    };
    let limit = if error == TableError::NoMemory { memory_limit::described() } else { String::new() };
    Refusal { kind, sentence: format!("table `{name}`: {error}{limit}") }
}

/// The line with its arguments in decimal.
pub fn log_line(format: &str, values: &[u64], widths: &[u32]) -> String {
    let mut pieces = format.split("{}");
    let mut line = pieces.next().unwrap_or_default().to_string();
    let (mut values, mut widths) = (values, widths.iter());
    for piece in pieces {
        match widths.next() {
            Some(width) => {
                let (value, rest) = values.split_at((width.div_ceil(64).max(1) as usize).min(values.len()));
                values = rest;
                line.push_str(&translate::number(value).to_string());
            }
            None => line.push_str("{}"),
        }
        line.push_str(piece);
    }
    line
}
