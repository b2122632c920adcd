//! The switch while it runs, shared by the control thread and the server that controllers talk to.

use super::state::{Keeper, Origin};
use control::message::runtime::ForwardingPipelineConfig;
use control::{DataPlane as _, Refusal};
use driver::compile::Code;
use hlir::Program;
use hlir::plan::TablePlan;
use native::{NativeEngine, Replay, Written};
use persist::Ticket;
use runtime::{Pipeline, PortError, PortLayer, Settings, SpreadStep, SwitchError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

pub type Engine<L> = NativeEngine<'static, L>;

/// A program as its user wrote it, as it was compiled, and its native code.
#[derive(Clone)]
pub struct Built {
    pub program: Arc<Program>,
    pub compiled: Arc<Program>,
    pub pipeline: Arc<Pipeline>,
    /// Of the tables that packets look up.
    pub structures: Vec<TablePlan>,
    /// Whether there is a hot path, and whether packets run in stages.
    pub has_hot_path: bool,
    pub has_stages: bool,
    /// By which its packets go to workers.
    pub spread: Vec<SpreadStep>,
    /// The code that is to follow, where the pipeline was compiled quickly.
    pub better: Option<Arc<Code>>,
}

/// Users of copies of the packets that workers receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapUser {
    Trace,
    Sample,
}

/// A switch that has a pipeline, or waits for its first.
pub struct Live<L: Replay> {
    engine: Option<Engine<L>>,
    /// Until there is a pipeline.
    worker_ports: Option<Vec<L>>,
    settings: Settings,
    /// Whose packets are spread as pipelines need it.
    layer: Option<Arc<PortLayer>>,
    spread: Vec<SpreadStep>,
    cpu_port: Option<u32>,
    started: bool,
    tapped_for: Option<TapUser>,
    /// Where the state is saved.
    keeper: Option<Arc<Keeper>>,
    /// The config of a pipeline of which nothing is saved yet.
    unsaved: Option<ForwardingPipelineConfig>,
    /// Of the tables of the pipeline, before it is specialised.
    pub structures: Vec<TablePlan>,
    /// Pipelines that run quickly compiled code, or did, and whose better code is being compiled.
    pub improvements: usize,
}

impl<L: Replay> Live<L> {
    pub fn new(worker_ports: Vec<L>, settings: Settings, cpu_port: Option<u32>) -> Live<L> {
        Live {
            engine: None,
            worker_ports: Some(worker_ports),
            settings,
            layer: None,
            spread: Vec::new(),
            cpu_port,
            started: false,
            tapped_for: None,
            keeper: None,
            unsaved: None,
            structures: Vec::new(),
            improvements: 0,
        }
    }

    /// The layer of the ports spreads packets as pipelines need it.
    pub fn spread_by(&mut self, layer: Arc<PortLayer>) {
        self.layer = Some(layer);
    }

    /// Gives the layer the steps of a pipeline, and keeps them if it takes them.
    fn set_spread(&mut self, steps: &[SpreadStep]) -> Result<(), SwitchError> {
        let Some(layer) = self.layer.clone().filter(|_| self.spread != steps) else { return Ok(()) };
        self.between_bursts(|_| layer.spread(steps)).map_err(not_spread)?;
        self.spread = steps.to_vec();
        Ok(())
    }

    /// Lets packets wait at their ports, until each that a worker had for another is processed by the pipeline and the worker that its steps mean.
    fn empty_rings(&mut self, next: &[SpreadStep]) -> Result<(), SwitchError> {
        let Some(layer) = self.layer.clone().filter(|_| self.spread != next) else { return Ok(()) };
        self.set_spread(&[SpreadStep::WAIT])?;
        while self.started && layer.untaken() != 0 {
            std::thread::sleep(Duration::from_micros(10));
        }
        Ok(())
    }

    pub fn engine(&mut self) -> Option<&mut Engine<L>> {
        self.engine.as_mut()
    }

    /// The first pipeline.
    ///
    /// # Errors
    /// It cannot be attached, or the ports cannot spread its packets.
    pub fn begin(&mut self, built: &Built) -> Result<&mut Engine<L>, SwitchError> {
        self.set_spread(&built.spread)?;
        let mut worker_ports = self.worker_ports.take();
        let worker_ports = move || worker_ports.take().expect("a switch on the network is built once");
        let programs = (&*built.program, &*built.compiled);
        let mut engine = NativeEngine::new(programs, built.pipeline.clone(), self.settings, worker_ports)?;
        engine.switch().set_cpu_port(self.cpu_port);
        if self.started {
            engine.switch().start();
        }
        self.structures.clone_from(&built.structures);
        Ok(self.engine.insert(engine))
    }

    /// Another pipeline in place of the one that runs, or the first.
    pub fn replace(&mut self, built: &Built, written: Written) -> Result<(), Refusal> {
        let refused = |error: SwitchError| Refusal::wrong(error.to_string());
        if self.engine.is_none() {
            return self.begin(built).map(drop).map_err(refused);
        }
        // No packet is spread for one pipeline and processed by the other.
        let before = self.spread.clone();
        self.empty_rings(&built.spread).map_err(refused)?;
        let programs = (built.program.clone(), built.compiled.clone());
        let replaced = self.engine.as_mut().map(|engine| engine.replace(programs, built.pipeline.clone(), written));
        if let Some(Err(refusal)) = replaced {
            self.set_spread(&before).map_err(refused)?;
            return Err(refusal);
        }
        self.structures.clone_from(&built.structures);
        self.set_spread(&built.spread).map_err(refused)
    }

    /// Saves the state from now on.
    pub fn keep(&mut self, keeper: Option<Arc<Keeper>>) {
        self.keeper = keeper;
    }

    /// The state is to be saved as a whole: it is that of another pipeline.
    pub fn committed(&mut self, config: &ForwardingPipelineConfig) {
        self.unsaved = self.keeper.is_some().then(|| config.clone());
    }

    /// Why nothing may be written at present: what was written before could not be saved. The store refuses it, too.
    pub fn check_saved(&mut self) -> Result<(), Refusal> {
        let Some(keeper) = &self.keeper else { return Ok(()) };
        let why = keeper.refusal();
        self.engine.iter_mut().for_each(|engine| engine.store_mut().refuse_writes(why.clone()));
        why.map_or(Ok(()), Err)
    }

    /// Saves what has changed since the last time, as one transaction; none if nothing has.
    pub fn save(&mut self) -> Option<Ticket> {
        let (keeper, engine) = self.keeper.as_ref().zip(self.engine.as_mut())?;
        match self.unsaved.take() {
            Some(config) => Some(keeper.save_all(engine, &config, Origin::Controller)),
            None => keeper.save(engine.store_mut()),
        }
    }

    /// The same, but for a pipeline that was committed: what belongs to the commit is still being written.
    pub fn save_changes(&mut self) -> Option<Ticket> {
        if self.unsaved.is_none() { self.save() } else { None }
    }

    /// Saves what packets have changed in registers since the last time, as one transaction; none if nothing is to be saved.
    pub fn save_registers(&mut self) -> Option<Ticket> {
        // A pipeline that was committed is saved with its registers.
        let (keeper, engine) = self.keeper.as_ref().zip(self.engine.as_mut()).filter(|_| self.unsaved.is_none())?;
        keeper.save_registers(engine)
    }

    /// Does something while no worker is within a burst.
    pub fn between_bursts<T>(&mut self, work: impl FnOnce(&mut Live<L>) -> T) -> T {
        self.pause();
        let done = work(self);
        self.resume();
        done
    }

    /// Packets to ports from this number on are dropped. No worker may be within a burst.
    pub fn set_ports(&mut self, ports: u32) {
        self.settings.ports = ports;
        self.engine.iter_mut().for_each(|engine| engine.switch().set_ports(ports));
    }

    /// Lets each worker copy so many of the packets that it receives; earlier copies are discarded. A trace takes the copies over from a sample, which waits
    /// for the end of a trace: false.
    pub fn tap(&mut self, user: TapUser, packets: u64) -> bool {
        if user == TapUser::Sample && self.tapped_for == Some(TapUser::Trace) {
            return false;
        }
        self.tapped_for = Some(user);
        self.engine.iter_mut().for_each(|engine| engine.switch().tap(packets));
        true
    }

    pub fn is_tapped_for(&self, user: TapUser) -> bool {
        self.tapped_for == Some(user)
    }

    /// Ends the copying for a user, unless another has taken it over.
    pub fn untap(&mut self, user: TapUser) {
        if self.tapped_for == Some(user) {
            self.tapped_for = None;
            self.engine.iter_mut().for_each(|engine| engine.switch().tap(0));
        }
    }

    /// Packets are carried from now on, by the first pipeline as soon as there is one.
    pub fn start(&mut self) {
        self.started = true;
        self.engine.iter_mut().for_each(|engine| engine.switch().start());
    }

    /// Packets wait at their ports, from the end of a burst until [`Live::resume`].
    pub fn pause(&mut self) {
        if self.started {
            self.engine.iter_mut().for_each(|engine| engine.switch().hold());
        }
    }

    pub fn resume(&mut self) {
        if self.started {
            self.engine.iter_mut().for_each(|engine| engine.switch().release());
        }
    }

    pub fn stop(&mut self) {
        self.started = false;
        self.engine.iter_mut().for_each(|engine| engine.switch().stop());
    }
}

fn not_spread(error: PortError) -> SwitchError {
    SwitchError::Spread { why: error.0 }
}

/// See [`Live`].
pub struct Shared<L: Replay>(Arc<Mutex<Live<L>>>);

impl<L: Replay> Clone for Shared<L> {
    fn clone(&self) -> Shared<L> {
        Shared(self.0.clone())
    }
}

impl<L: Replay> Shared<L> {
    pub fn new(live: Live<L>) -> Shared<L> {
        Shared(Arc::new(Mutex::new(live)))
    }

    /// The switch, in this thread's hands alone. Packets flow meanwhile.
    pub fn lock(&self) -> MutexGuard<'_, Live<L>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a thread has the switch in its hands.
    pub fn is_locked(&self) -> bool {
        matches!(self.0.try_lock(), Err(TryLockError::WouldBlock))
    }
}
