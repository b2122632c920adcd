//! What the server needs of the process that it runs in: the switch, and a compiler for what controllers push.

use control::message::runtime::ForwardingPipelineConfig;
use control::message::switch::{ReportResponse, TraceRequest, TraceResponse};
use control::{DataPlane, Refusal, plane::EntryKey};
use hlir::Program;
use std::any::Any;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A pipeline that was compiled and can run; nothing has happened to the running one.
pub struct Prepared {
    /// The program whose interface the controller sees. After [`Target::commit`], the store is one of this very program.
    pub program: Arc<Program>,
    /// What the process needs to run it.
    pub artefact: Box<dyn Any + Send>,
}

/// What becomes of the entries that the running pipeline has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The new pipeline has the program's own entries alone.
    Clear,
    /// Everything in the store is written to the new pipeline as well; if any of it does not suit, nothing has changed.
    Keep,
}

/// Whether a transaction is on disk, as soon as that is known.
pub type Saving = oneshot::Receiver<Result<(), Refusal>>;

/// The process around the server. Its methods are called on the server's threads, several at once.
pub trait Target: Send + Sync + 'static {
    /// Compiles what a controller pushed. May take seconds; changes nothing.
    fn verify(&self, config: &ForwardingPipelineConfig) -> Result<Prepared, Refusal>;

    /// Runs a pipeline in place of the running one: the one of this config. When it refuses, nothing has changed. A process that saves
    /// its state does so at the end of the next [`Target::with_switch`], which writes what belongs to the commit.
    fn commit(&self, prepared: Prepared, state: State, config: &ForwardingPipelineConfig) -> Result<(), Refusal>;

    /// Calls `work` with the switch, and keeps all others from it meanwhile. One Write or Read is one call. Only called while a pipeline
    /// runs. A process that saves its state returns when what `work` wrote is on disk, as one transaction.
    ///
    /// # Errors
    /// What was written is in effect, but it could not be saved.
    fn with_switch(&self, work: &mut dyn FnMut(&mut dyn Switch)) -> Result<(), Refusal>;

    /// The same, but does not wait for the disk. Gives what to wait for before what was written is acknowledged; none, if it need not be.
    fn begin_with_switch(&self, work: &mut dyn FnMut(&mut dyn Switch)) -> Result<Option<Saving>, Refusal> {
        self.with_switch(work).map(|()| None)
    }

    /// All counts at this moment, for `bacus.v1.Switch`. None: the process has none, or ends.
    fn report(&self) -> Option<ReportResponse> {
        None
    }

    /// Begins a trace of received packets, or goes on with it.
    fn trace(&self, _request: &TraceRequest) -> Result<TraceResponse, Refusal> {
        Err(Refusal::wrong("this switch traces no packets"))
    }

    /// Opens a device as a port.
    fn add_port(&self, _number: u32, _device: &str) -> Result<(), Refusal> {
        Err(Refusal::wrong("the ports of this switch stay as they are"))
    }

    /// Closes a port, which has this number or device.
    fn remove_port(&self, _port: &str) -> Result<(), Refusal> {
        Err(Refusal::wrong("the ports of this switch stay as they are"))
    }

    /// Whether packets can be sent by this port of the switch; the CPU port is one. Called while another caller has the switch, too.
    fn has_port(&self, port: u32) -> bool;

    /// Whether [`Target::begin_with_switch`] waits: another caller has the switch.
    fn is_busy(&self) -> bool {
        true
    }
}

/// The switch, in one caller's hands.
pub trait Switch {
    fn plane(&mut self) -> &mut dyn DataPlane;

    /// Sends a frame into the pipeline as one received on the CPU port: the header `packet_out` precedes it if the program has
    /// one.
    fn packet_out(&mut self, frame: Vec<u8>) -> Result<(), Refusal>;

    /// Nanoseconds since a packet last hit the entry, or since it was inserted.
    fn since_last_hit_ns(&mut self, key: &EntryKey) -> Result<u64, Refusal>;

    /// The data plane has refused what follows from a port's link, which no controller is waiting for an answer to. The process reports it to its
    /// user. The store knows of the link, and an object follows it with its next write.
    fn link_refused(&mut self, port: u32, up: bool, refusal: &Refusal);

    /// Keeps every worker at the end of a burst until [`Switch::release`], so that packets see all updates between or none. False if the
    /// switch cannot.
    fn hold(&mut self) -> bool {
        false
    }

    fn release(&mut self) {}
}

/// Lets what depends on a port follow its link.
pub fn follow_link(switch: &mut dyn Switch, port: u32, up: bool) {
    if let Err(refusal) = switch.plane().set_port(port, up) {
        switch.link_refused(port, up, &refusal);
    }
}
