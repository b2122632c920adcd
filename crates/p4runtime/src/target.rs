//! What the server needs of the process that it runs in: the switch, and a compiler for what controllers push.

use control::message::runtime::ForwardingPipelineConfig;
use control::message::switch::ReportResponse;
use control::{DataPlane, Refusal, plane::EntryKey};
use hlir::{DigestId, Program};
use std::any::Any;
use std::sync::Arc;

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

/// How the records of a digest are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DigestConfig {
    /// Nanoseconds that a record may wait for others; 0 for none.
    pub timeout_ns: u64,
    /// Records of a list at most; 0 leaves it to the server.
    pub largest_list: u32,
    /// Nanoseconds for which a record is not sent again while its list is not acknowledged.
    pub acknowledge_ns: u64,
}

/// The process around the server. Its methods are called on the server's threads, several at once.
pub trait Target: Send + Sync + 'static {
    /// Compiles what a controller pushed. May take seconds; changes nothing.
    fn verify(&self, config: &ForwardingPipelineConfig) -> Result<Prepared, Refusal>;

    /// Runs a pipeline in place of the running one. When it refuses, nothing has changed.
    fn commit(&self, prepared: Prepared, state: State) -> Result<(), Refusal>;

    /// Calls `work` with the switch, and keeps all others from it meanwhile. One Write or Read is one call. Only called while a pipeline
    /// runs.
    fn with_switch(&self, work: &mut dyn FnMut(&mut dyn Switch));

    /// All counts at this moment, for `bacus.v1.Switch`. None: the process has none, or ends.
    fn report(&self) -> Option<ReportResponse> {
        None
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

    /// Whether another caller has the switch: then [`Target::with_switch`] waits.
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

    /// Whether the records of a digest are wanted at all, and how; the server makes the lists by itself.
    fn set_digest(&mut self, digest: DigestId, config: Option<&DigestConfig>) -> Result<(), Refusal>;

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
