//! A config that a controller has saved and not committed yet, with what was written for it (P4Runtime 1.5, 14).
//!
//! The switch goes on with the pipeline that it has. Writes are checked against the saved config and kept; Reads answer what was written. A COMMIT
//! runs the config and replays the writes.

use crate::device::Pipeline;
use crate::encoded::Encoded;
use crate::failure::Outcome;
use crate::port::Ports;
use crate::read::Reader;
use crate::schema::Schema;
use crate::target::{Prepared, Switch};
use crate::write::Writer;
use control::message::runtime::{Entity, ForwardingPipelineConfig, Update, write_request::Atomicity};
use control::plane::EntryKey;
use control::{DataPlane, Refusal, Rehearsal};

pub struct Saved {
    pub prepared: Prepared,
    pub pipeline: Pipeline,
    rehearsal: Rehearsal,
    /// The updates that were accepted, in their order.
    pub updates: Vec<Update>,
}

impl Saved {
    pub fn new(prepared: Prepared, config: ForwardingPipelineConfig) -> Saved {
        let program = prepared.program.clone();
        let pipeline = Pipeline::new(Schema::new(program.clone()), config);
        Saved { prepared, pipeline, rehearsal: Rehearsal::new(program), updates: Vec::new() }
    }

    pub fn write(&mut self, updates: &[Update], atomicity: Atomicity, ports: Ports<'_>) -> Outcome<Vec<Outcome>> {
        let outcomes = Writer::new(&self.pipeline.schema, &mut self.rehearsal, ports).batch(updates, atomicity)?;
        let accepted = updates.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_ok());
        self.updates.extend(accepted.map(|(update, _)| update.clone()));
        Ok(outcomes)
    }

    pub fn read(&mut self, filters: &[Entity]) -> (Vec<Encoded>, Vec<Outcome>) {
        Reader::new(&self.pipeline.schema, &mut self.rehearsal).batch(filters)
    }
}

impl Switch for Rehearsal {
    fn plane(&mut self) -> &mut dyn DataPlane {
        self
    }

    fn packet_out(&mut self, _: Vec<u8>) -> Result<(), Refusal> {
        Err(Refusal::wrong("a config that was only saved carries no packets"))
    }

    fn since_last_hit_ns(&mut self, _: &EntryKey) -> Result<u64, Refusal> {
        Ok(0)
    }

    fn link_refused(&mut self, _: u32, _: bool, _: &Refusal) {}

    fn hold(&mut self) -> bool {
        true
    }
}
