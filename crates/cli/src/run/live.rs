//! The switch while it runs, shared by the control thread and the server that controllers talk to.

use super::state::{Keeper, Origin};
use control::message::runtime::ForwardingPipelineConfig;
use control::{DataPlane as _, Refusal};
use hlir::Program;
use hlir::plan::TablePlan;
use native::{NativeEngine, Replay, Written};
use persist::Ticket;
use runtime::{Pipeline, Settings, SwitchError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

pub type Engine<L> = NativeEngine<'static, L>;

/// A program as its user wrote it, as it was compiled, and its native code.
#[derive(Clone)]
pub struct Built {
    pub program: Arc<Program>,
    pub compiled: Arc<Program>,
    pub pipeline: Arc<Pipeline>,
    /// Of the tables that packets look up.
    pub structures: Vec<TablePlan>,
}

/// A switch that has a pipeline, or waits for its first.
pub struct Live<L: Replay> {
    engine: Option<Engine<L>>,
    /// Until there is a pipeline.
    lanes: Option<Vec<L>>,
    settings: Settings,
    cpu_port: Option<u32>,
    started: bool,
    /// Where the state is saved.
    keeper: Option<Arc<Keeper>>,
    /// The config of a pipeline of which nothing is saved yet.
    unsaved: Option<ForwardingPipelineConfig>,
    /// Of the tables of the pipeline, before it is specialised.
    pub structures: Vec<TablePlan>,
}

impl<L: Replay> Live<L> {
    pub fn new(lanes: Vec<L>, settings: Settings, cpu_port: Option<u32>) -> Live<L> {
        let (keeper, unsaved, structures) = (None, None, Vec::new());
        Live { engine: None, lanes: Some(lanes), settings, cpu_port, started: false, keeper, unsaved, structures }
    }

    pub fn engine(&mut self) -> Option<&mut Engine<L>> {
        self.engine.as_mut()
    }

    /// The first pipeline.
    pub fn begin(&mut self, built: &Built) -> Result<&mut Engine<L>, SwitchError> {
        let mut lanes = self.lanes.take();
        let lanes = move || lanes.take().expect("a switch on the network is built once");
        let programs = (&*built.program, &*built.compiled);
        let mut engine = NativeEngine::new(programs, built.pipeline.clone(), self.settings, lanes)?;
        engine.switch().set_cpu_port(self.cpu_port);
        if self.started {
            engine.switch().start();
        }
        self.structures.clone_from(&built.structures);
        Ok(self.engine.insert(engine))
    }

    /// Another pipeline in place of the one that runs, or the first.
    pub fn replace(&mut self, built: &Built, written: Written) -> Result<(), Refusal> {
        match &mut self.engine {
            Some(engine) => {
                let programs = (built.program.clone(), built.compiled.clone());
                engine.replace(programs, built.pipeline.clone(), written)?;
                self.structures.clone_from(&built.structures);
                Ok(())
            }
            None => self.begin(built).map(drop).map_err(|error| Refusal::wrong(error.to_string())),
        }
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
            Some(config) => Some(keeper.save_all(engine.store_mut(), &config, Origin::Controller)),
            None => keeper.save(engine.store_mut()),
        }
    }

    /// The same, but for a pipeline that was committed: what belongs to the commit is still being written.
    pub fn save_changes(&mut self) -> Option<Ticket> {
        if self.unsaved.is_none() { self.save() } else { None }
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
