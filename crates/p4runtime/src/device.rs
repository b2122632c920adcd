//! The device that is served: its pipeline, its controllers, and what a Write or Read does with them.

use crate::details::batch_status;
use crate::digest::{Configs, Digests};
use crate::election::{Elections, role_name};
use crate::encoded::Encoded;
use crate::events::WallClock;
use crate::failure::{Failure, Outcome};
use crate::port::Ports;
use crate::read::Reader;
use crate::saved::Saved;
use crate::schema::Schema;
use crate::settings::Settings;
use crate::target::{Saving, Switch, Target};
use crate::write::Writer;
use control::Update;
use control::message::runtime::{
    Entity, ForwardingPipelineConfig, ReadRequest, WriteRequest, write_request::Atomicity,
};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tonic::{Code, Status};

/// What runs, and what controllers have written about it.
pub struct Pipeline {
    pub schema: Schema,
    /// The digests whose records are wanted, as the store has them: for what runs beside the switch.
    pub digests: Mutex<Configs>,
    pub config: ForwardingPipelineConfig,
}

impl Pipeline {
    pub fn new(schema: Schema, config: ForwardingPipelineConfig) -> Pipeline {
        Pipeline { schema, digests: Mutex::default(), config }
    }

    /// What follows a change of the store: the numbers of new texts get into it, and the digests that are wanted out of it.
    pub fn follow(&self, switch: &mut dyn Switch) {
        let plane = switch.plane();
        for text in self.schema.dictionaries.take_new() {
            let update = Update::Record(text);
            if plane.write(&update).is_err()
                && let Update::Record(text) = update
            {
                // No write is taken at present.
                self.schema.dictionaries.give_back(text);
            }
        }
        let (mut digests, store) = (lock(&self.digests), plane.store());
        if !digests.is_empty() || store.digests().next().is_some() {
            *digests = store.digests().collect();
        }
    }
}

/// What a Write is answered, once it is saved.
pub struct Answer {
    status: Result<(), Status>,
    saving: Option<Saving>,
}

impl Answer {
    pub async fn saved(self) -> Result<(), Status> {
        if let Some(saving) = self.saving {
            // The process ends: whether it was saved is open.
            let saved = saving.await.map_err(|_| Status::unavailable("the switch ends"))?;
            saved.map_err(Failure::from)?;
        }
        self.status
    }
}

/// What was lost because a controller, or the server, did not keep up.
#[derive(Default)]
pub struct Losses {
    pub packets_in: AtomicU64,
    pub digests: AtomicU64,
    pub idle: AtomicU64,
    /// Frames for the controller that were shorter than their header.
    pub malformed: AtomicU64,
}

pub struct Device {
    pub settings: Settings,
    pub target: Arc<dyn Target>,
    pipeline: RwLock<Option<Pipeline>>,
    elections: RwLock<Elections>,
    /// Held while a config is committed: a Write is for the saved config or for the one that runs.
    pub saved: Mutex<Option<Saved>>,
    /// One configuration at a time.
    pub configuring: Mutex<()>,
    pub digests: Mutex<Digests>,
    /// Ports that have lost their link, whatever pipeline runs.
    pub ports_down: Mutex<HashSet<u32>>,
    pub wall_clock: Mutex<WallClock>,
    /// Packets for controllers in the queues of the server.
    pub packets_waiting: AtomicUsize,
    pub losses: Losses,
    next_stream: AtomicU64,
}

/// A lock is held by code that does not panic with its contents half changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Device {
    pub fn new(settings: Settings, target: Arc<dyn Target>, pipeline: Option<Pipeline>) -> Device {
        Device {
            elections: RwLock::new(Elections::new(settings.device_id, settings.most_streams)),
            settings,
            target,
            pipeline: RwLock::new(pipeline),
            saved: Mutex::new(None),
            configuring: Mutex::new(()),
            digests: Mutex::default(),
            ports_down: Mutex::default(),
            wall_clock: Mutex::default(),
            packets_waiting: AtomicUsize::new(0),
            losses: Losses::default(),
            next_stream: AtomicU64::new(0),
        }
    }

    pub fn pipeline(&self) -> RwLockReadGuard<'_, Option<Pipeline>> {
        self.pipeline.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn pipeline_mut(&self) -> RwLockWriteGuard<'_, Option<Pipeline>> {
        self.pipeline.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// A Write holds it from its check to its end, so a new primary controller is notified when the old one's writes are done.
    pub fn elections(&self) -> RwLockReadGuard<'_, Elections> {
        self.elections.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn elections_mut(&self) -> RwLockWriteGuard<'_, Elections> {
        self.elections.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn next_stream(&self) -> u64 {
        self.next_stream.fetch_add(1, Ordering::Relaxed)
    }

    /// Calls `work` with the switch in the hands of the caller alone. What it writes is saved, where the process does so.
    ///
    /// # Errors
    /// What was written is in effect, but it could not be saved.
    pub fn with_switch<T>(&self, work: impl FnOnce(&mut dyn Switch) -> T) -> Outcome<Option<T>> {
        let (mut work, mut result) = (Some(work), None);
        self.target.with_switch(&mut |switch| {
            if let Some(work) = work.take() {
                result = Some(work(switch));
            }
        })?;
        Ok(result)
    }

    /// The same, without waiting for the disk.
    fn begin_with_switch<T>(&self, work: impl FnOnce(&mut dyn Switch) -> T) -> Outcome<(Option<T>, Option<Saving>)> {
        let (mut work, mut result) = (Some(work), None);
        let saving = self.target.begin_with_switch(&mut |switch| {
            if let Some(work) = work.take() {
                result = Some(work(switch));
            }
        })?;
        Ok((result, saving))
    }

    /// Writes, and gives the answer, and what it has to wait for. Of the failures, the client gets what fits into so many bytes of metadata.
    pub fn begin_write(&self, request: &WriteRequest, metadata_limit: usize) -> Result<Answer, Status> {
        let elections = self.elections();
        elections.check_device(request.device_id)?;
        let role = role_name(&request.role, request.role_id);
        elections.check_primary(&role, request.election_id.as_ref())?;
        let (outcomes, saving) = self.outcomes(request)?;
        let is_done = outcomes.iter().all(Result::is_ok);
        let status = if is_done { Ok(()) } else { Err(batch_status(&outcomes, metadata_limit)) };
        Ok(Answer { status, saving })
    }

    /// What becomes of each update of a Write. After a VERIFY_AND_SAVE it is for the saved config (P4Runtime 1.5, 14).
    fn outcomes(&self, request: &WriteRequest) -> Outcome<(Vec<Outcome>, Option<Saving>)> {
        let mut saved = lock(&self.saved);
        let pipeline = self.pipeline();
        if saved.is_none() && pipeline.is_none() {
            return Err(no_pipeline());
        }
        let atomicity =
            Atomicity::try_from(request.atomicity).map_err(|_| Failure::unsupported("there is no such atomicity"))?;
        if let Some(saved) = saved.as_mut() {
            return Ok((saved.write(&request.updates, atomicity, self.ports())?, None));
        }
        drop(saved);
        let pipeline = pipeline.as_ref().ok_or_else(no_pipeline)?;
        let (outcomes, saving) = self.begin_with_switch(|switch| {
            let outcomes = Writer::new(&pipeline.schema, switch, self.ports()).batch(&request.updates, atomicity);
            pipeline.follow(switch);
            outcomes
        })?;
        Ok((outcomes.ok_or_else(no_pipeline)??, saving))
    }

    pub fn ports(&self) -> Ports<'_> {
        Ports { cpu_port: self.settings.cpu_port, target: &*self.target }
    }

    /// The answers, and behind them what failed, in so many bytes of metadata.
    pub fn read(&self, request: &ReadRequest, metadata_limit: usize) -> Result<(Vec<Encoded>, Option<Status>), Status> {
        self.elections().check_device(request.device_id)?;
        let (answers, outcomes) = self.answers(&request.entities)?;
        let failed = outcomes.iter().any(Result::is_err);
        Ok((answers, failed.then(|| batch_status(&outcomes, metadata_limit))))
    }
}

impl Device {
    fn answers(&self, filters: &[Entity]) -> Outcome<(Vec<Encoded>, Vec<Outcome>)> {
        let mut saved = lock(&self.saved);
        if let Some(saved) = saved.as_mut() {
            return Ok(saved.read(filters));
        }
        let pipeline = self.pipeline();
        drop(saved);
        let pipeline = pipeline.as_ref().ok_or_else(no_pipeline)?;
        let read = self.with_switch(|switch| Reader::new(&pipeline.schema, switch).batch(filters));
        read?.ok_or_else(no_pipeline)
    }
}

/// Controllers look for these words.
pub fn no_pipeline() -> Failure {
    Failure::new(Code::FailedPrecondition, "no forwarding pipeline config is set")
}
