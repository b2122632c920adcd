//! A switch in a test: a server on loopback, the interpreter behind it, and controllers.

mod client;
mod interpreter;
pub mod messages;

pub use client::Client;
use control::message::runtime::ForwardingPipelineConfig;
use control::plane::{DataPlane, Element, EntryKey, Frame};
use control::store::Origin;
use control::{Record, Refusal, Update};
use hlir::{Program, TableId};
use interpreter::Interpreter;
use p4runtime::{Events, Prepared, Server, Settings, State, Switch, Target};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

pub const CPU_PORT: u32 = 510;
/// The switch has the ports below, and the CPU port.
pub const LAST_PORT: u32 = 64;
pub const EVERYTHING: &str = include_str!("everything.p4");

/// The program of most tests.
pub static PROGRAM: LazyLock<Arc<Program>> =
    LazyLock::new(|| Arc::new(compile(EVERYTHING).expect("the program is well formed")));

fn preprocessed(text: &str) -> String {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let mut compiler = Command::new("cc")
        .args(["-E", "-x", "c", "-undef", "-nostdinc", "-I"])
        .args([&include, Path::new("-")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("there is a C compiler");
    compiler.stdin.take().expect("it has an input").write_all(text.as_bytes()).expect("it reads");
    let output = compiler.wait_with_output().expect("it ends");
    String::from_utf8(output.stdout).expect("the text is UTF-8")
}

pub fn compile(text: &str) -> Result<Program, Refusal> {
    let text = preprocessed(text);
    p4::with_deep_stack(|| {
        let parsed = p4::parse("program.p4", &text);
        let (checked, mut diagnostics) = p4::check::check(&parsed.program);
        diagnostics.extend(parsed.diagnostics.clone());
        if let Some(error) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
            return Err(Refusal::wrong(format!("{error:?}")));
        }
        p4::lower(&checked, &parsed.map, "program").map_err(|errors| Refusal::wrong(format!("{errors:?}")))
    })
}

/// The switch behind the server.
pub struct Behind {
    pub plane: Interpreter,
    /// Port and bytes of what has left by other ports than the controller's.
    pub sent: Vec<(u32, Vec<u8>)>,
    pub holds: Vec<&'static str>,
    pub can_hold: bool,
    pub since_last_hit_ns: u64,
    events: Option<Events>,
}

impl Behind {
    fn new(program: Arc<Program>, events: Option<Events>) -> Behind {
        Behind {
            plane: Interpreter::new(program),
            sent: Vec::new(),
            holds: Vec::new(),
            can_hold: true,
            since_last_hit_ns: 0,
            events,
        }
    }

    /// A packet comes in; the server gets its events.
    pub fn receive(&mut self, port: u32, bytes: Vec<u8>) {
        let outcome = self.plane.process(&[Frame { port, bytes }]).expect("the switch runs");
        let Some(events) = &self.events else { return };
        outcome.digests.into_iter().for_each(|record| events.digest(record));
        for output in outcome.outputs {
            match output.port {
                CPU_PORT => events.packet_in(output.bytes),
                port => self.sent.push((port, output.bytes)),
            }
        }
    }

    /// Time passes.
    pub fn wait_until(&mut self, nanoseconds: u64) {
        self.plane.set_clock(nanoseconds);
        let idle = self.plane.take_idle();
        if let (Some(events), false) = (&self.events, idle.is_empty()) {
            events.idle(idle, nanoseconds);
        }
    }
}

impl Switch for Behind {
    fn plane(&mut self) -> &mut dyn DataPlane {
        &mut self.plane
    }

    fn packet_out(&mut self, frame: Vec<u8>) -> Result<(), Refusal> {
        self.receive(CPU_PORT, frame);
        Ok(())
    }

    fn since_last_hit_ns(&mut self, _key: &EntryKey) -> Result<u64, Refusal> {
        Ok(self.since_last_hit_ns)
    }

    fn link_refused(&mut self, port: u32, _: bool, refusal: &Refusal) {
        panic!("the interpreter follows the link of port {port}: {refusal}");
    }

    fn hold(&mut self) -> bool {
        self.holds.push("hold");
        self.can_hold
    }

    fn release(&mut self) {
        self.holds.push("release");
    }
}

/// The process around the server: it compiles P4 and runs it in the interpreter.
#[derive(Default)]
pub struct Process {
    behind: Mutex<Option<Behind>>,
    events: Mutex<Option<Events>>,
}

impl Target for Process {
    fn verify(&self, config: &ForwardingPipelineConfig) -> Result<Prepared, Refusal> {
        let text = std::str::from_utf8(&config.p4_device_config).map_err(|_| Refusal::wrong("this is no program"))?;
        let program = if text == EVERYTHING { PROGRAM.clone() } else { Arc::new(compile(text)?) };
        Ok(Prepared { program, artefact: Box::new(()) })
    }

    fn commit(&self, prepared: Prepared, state: State, _: &ForwardingPipelineConfig) -> Result<(), Refusal> {
        let events = self.events.lock().expect("no test panics with it").clone();
        let mut behind = self.behind.lock().expect("no test panics with it");
        let mut new = Behind::new(prepared.program.clone(), events);
        if let (State::Keep, Some(old)) = (state, &mut *behind) {
            carry(old, &mut new.plane, prepared.program)?;
        }
        *behind = Some(new);
        Ok(())
    }

    fn has_port(&self, port: u32) -> bool {
        port < LAST_PORT || port == CPU_PORT
    }

    fn with_switch(&self, work: &mut dyn FnMut(&mut dyn Switch)) -> Result<(), Refusal> {
        if let Some(behind) = self.behind.lock().expect("no test panics with it").as_mut() {
            work(behind);
        }
        Ok(())
    }
}

/// Writes what the old switch has into the new one.
fn carry(old: &mut Behind, new: &mut Interpreter, program: Arc<Program>) -> Result<(), Refusal> {
    let store = old.plane.store().carried_to(program.clone())?;
    for (profile, _) in program.profiles.iter() {
        for (member, call) in store.members(profile) {
            new.set_member(profile, member, call)?;
        }
        for (group, members) in store.groups(profile) {
            new.set_group(profile, group, members)?;
        }
    }
    for (table, declared) in program.tables.iter() {
        for stored in store.entries(table).filter(|stored| stored.origin == Origin::Controller) {
            new.insert(table, &stored.entry)?;
            let key = EntryKey { table, matches: stored.entry.matches, priority: stored.entry.priority };
            new.write(&Update::Record(Record::Metadata { key: key.clone(), metadata: stored.metadata }))?;
            if stored.idle_timeout_ns > 0 {
                new.set_idle_timeout(&key, stored.idle_timeout_ns)?;
            }
        }
        if *store.default_action(table) != declared.default {
            new.set_default(table, store.default_action(table))?;
        }
        let metadata = store.default_metadata(table).to_vec();
        new.write(&Update::Record(Record::DefaultMetadata { table, metadata }))?;
    }
    for (meter, element, rates) in store.meters() {
        let element: Element = element;
        new.write(&Update::SetMeter { meter, element, rates: Some(rates) })?;
    }
    for (set, _) in program.value_sets.iter() {
        new.set_value_set(set, store.value_set(set))?;
    }
    for (digest, config) in store.digests() {
        new.write(&Update::Record(Record::Digest { digest, config: Some(config) }))?;
    }
    for (type_name, text, number) in store.texts() {
        let (type_name, text) = (type_name.to_string(), text.to_string());
        new.write(&Update::Record(Record::Text { type_name, text, number: Some(number) }))?;
    }
    store.sessions().try_for_each(|(session, value)| new.set_session(session, Some(value)))?;
    store.multicast_groups().try_for_each(|(group, members)| new.set_multicast(group, members))?;
    carry_values(old, new, &program)
}

/// What counters and registers have, where both programs have them.
fn carry_values(old: &mut Behind, new: &mut Interpreter, program: &Program) -> Result<(), Refusal> {
    let before = old.plane.store().program().clone();
    let table_before = |table: TableId| {
        let name = &program.tables[table].name;
        before.tables.iter().find(|(_, table)| table.name == *name).map(|(id, _)| id)
    };
    for (counter, declared) in program.counters.iter() {
        let Some((from, _)) = before.counters.iter().find(|(_, it)| it.name == declared.name) else { continue };
        let elements: Vec<(Element, Element)> = match declared.table {
            None => (0..declared.size).map(|at| (Element::Index(at), Element::Index(at))).collect(),
            Some(table) => {
                let Some(was) = table_before(table) else { continue };
                let key = |stored: control::store::Stored| {
                    let (matches, priority) = (stored.entry.matches, stored.entry.priority);
                    [was, table].map(|table| Element::Entry(EntryKey { table, matches: matches.clone(), priority }))
                };
                let entries = new.store().entries(table).map(|stored| key(stored).into());
                entries.chain([(Element::Default(was), Element::Default(table))]).collect()
            }
        };
        for (was, element) in elements {
            let value = old.plane.read_counter(from, &was)?;
            new.write_counter(counter, &element, value)?;
        }
    }
    for (register, declared) in program.registers.iter() {
        let Some((from, _)) = before.registers.iter().find(|(_, it)| it.name == declared.name) else { continue };
        for index in 0..declared.size {
            let value = old.plane.read_register(from, index)?;
            new.write_register(register, index, &value)?;
        }
    }
    Ok(())
}

pub struct Rig {
    pub process: Arc<Process>,
    pub server: Server,
}

impl Rig {
    pub fn with(settings: Settings, running: Option<&str>) -> Rig {
        let process = Arc::new(Process::default());
        let running = running.map(|text| {
            let config = ForwardingPipelineConfig { p4_device_config: text.into(), ..Default::default() };
            let prepared = process.verify(&config).expect("the program is well formed");
            let program = prepared.program.clone();
            process.commit(prepared, State::Clear, &config).expect("the program runs");
            (program, config)
        });
        let addresses = vec!["127.0.0.1:0".parse().expect("it is an address")];
        let settings = Settings { addresses, cpu_port: Some(CPU_PORT), ..settings };
        let server = Server::start(settings, process.clone(), running).expect("loopback has free ports");
        *process.events.lock().expect("no thread panicked") = Some(server.events());
        if let Some(behind) = process.behind.lock().expect("no thread panicked").as_mut() {
            behind.events = Some(server.events());
        }
        Rig { process, server }
    }

    /// A switch that runs the program with something of everything.
    pub fn new() -> Rig {
        Rig::with(Settings::default(), Some(EVERYTHING))
    }

    /// A switch that waits for a pipeline.
    pub fn empty() -> Rig {
        Rig::with(Settings::default(), None)
    }

    pub fn address(&self) -> String {
        format!("http://{}", self.server.addresses()[0])
    }

    /// A controller that has made no bid.
    pub fn client(&self) -> Client {
        Client::connect(&self.address())
    }

    /// The primary controller.
    pub fn primary(&self) -> Client {
        let mut client = self.client();
        client.become_primary(1);
        client
    }

    pub fn behind(&self) -> Behinds<'_> {
        Behinds(self.process.behind.lock().expect("no test panics with it"))
    }
}

/// The switch while no other has it.
pub struct Behinds<'a>(MutexGuard<'a, Option<Behind>>);

impl std::ops::Deref for Behinds<'_> {
    type Target = Behind;

    fn deref(&self) -> &Behind {
        self.0.as_ref().expect("a pipeline runs")
    }
}

impl std::ops::DerefMut for Behinds<'_> {
    fn deref_mut(&mut self) -> &mut Behind {
        self.0.as_mut().expect("a pipeline runs")
    }
}

/// A name in the temporary directory that no other test has.
pub fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("bacus-p4runtime-{}-{name}", std::process::id()))
}
