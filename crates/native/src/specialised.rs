//! Code that is specialised for what the tables hold, in the place of the generic code, while packets flow.
//!
//! The generic pipeline stays loaded. A write that breaks an assumption of the specialised code first puts all workers on
//! generic code, each at the end of a burst; then it is kept, applied and acknowledged. So no packet runs code that takes
//! something false for granted, and no write is refused for that. Both pipelines are of one program, so tables with
//! equal structures are shared, and the exchange writes no entries to them.

use super::NativeEngine;
use control::{Refusal, Update};
use hlir::Program;
use hlir::facts::Assumption;
use runtime::{Pipeline, WorkerPorts};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The program as it was compiled for any contents, and its pipeline.
#[derive(Clone)]
pub(super) struct Generic {
    compiled: Arc<Program>,
    pipeline: Arc<Pipeline>,
}

/// A write has broken an assumption.
#[derive(Clone, Debug)]
pub struct Break {
    pub broken: Assumption,
    /// From the decision that the write breaks it until all workers ran generic code.
    pub time: Duration,
}

impl<L: WorkerPorts> NativeEngine<'_, L> {
    /// Another compilation of the program that runs, specialised for what the tables hold now.
    ///
    /// # Errors
    /// The tables hold something else, or a worker does not take the pipeline: what ran before goes on.
    pub fn specialise(&mut self, compiled: &Program, pipeline: Arc<Pipeline>) -> Result<(), Refusal> {
        let here = || Generic { compiled: self.compiled.clone(), pipeline: self.pipeline.clone() };
        let generic = self.generic.clone().unwrap_or_else(here);
        self.exchange(compiled, pipeline)?;
        self.generic = Some(generic);
        Ok(())
    }

    /// Back to generic code, where specialised code runs.
    ///
    /// # Errors
    /// A worker does not take the pipeline: the specialised one goes on, with its assumptions.
    pub fn generalise(&mut self) -> Result<(), Refusal> {
        let Some(Generic { compiled, pipeline }) = self.generic.clone() else { return Ok(()) };
        self.exchange(&compiled, pipeline)
    }

    pub fn is_specialised(&self) -> bool {
        self.generic.is_some()
    }

    /// What writes have broken since the last call.
    pub fn take_breaks(&mut self) -> Vec<Break> {
        std::mem::take(&mut self.breaks)
    }

    /// Generic code before an update that breaks an assumption.
    pub(super) fn leave_specialised(&mut self, update: &Update) -> Result<(), Refusal> {
        if self.generic.is_none() {
            return Ok(());
        }
        let start = Instant::now();
        let Some(broken) = self.store.broken_by(update).cloned() else { return Ok(()) };
        self.generalise()?;
        self.breaks.push(Break { broken, time: start.elapsed() });
        Ok(())
    }
}
