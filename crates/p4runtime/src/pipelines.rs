//! The pipeline of the device, for servers of other protocols in the same process: one that they exchange is exchanged for all clients.

use crate::config::save;
use crate::device::{Device, lock};
use crate::failure::Failure;
use control::Refusal;
use control::message::runtime::ForwardingPipelineConfig;
use std::sync::Arc;

/// See the module.
#[derive(Clone)]
pub struct Pipelines(pub(crate) Arc<Device>);

impl Pipelines {
    /// Compiles a config and keeps it, as VERIFY_AND_SAVE does.
    ///
    /// # Errors
    /// Mistakes of the program.
    pub fn save(&self, config: ForwardingPipelineConfig) -> Result<(), Refusal> {
        save(&self.0, config).map_err(refusal)
    }

    /// Whether a config is saved that does not run yet.
    pub fn has_saved(&self) -> bool {
        lock(&self.0.saved).is_some()
    }

    /// Runs the saved config, as COMMIT does: without the entries of the one that ran.
    ///
    /// # Errors
    /// No config is saved, or the switch cannot run it.
    pub fn commit(&self) -> Result<(), Refusal> {
        let _one_at_a_time = lock(&self.0.configuring);
        self.0.commit_saved(false).map_err(refusal)
    }

    /// What was loaded as the program that runs; empty if it is that of the command line, or none runs.
    pub fn device_config(&self) -> Vec<u8> {
        let pipeline = self.0.pipeline();
        pipeline.as_ref().map(|pipeline| pipeline.config.p4_device_config.clone()).unwrap_or_default()
    }
}

fn refusal(failure: Failure) -> Refusal {
    Refusal::wrong(failure.sentence)
}
