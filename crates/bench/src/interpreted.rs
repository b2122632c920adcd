//! A user's program under a plan, beside the interpreter: packets of the trace, and mutations of them, must come out alike.

use super::variants::{Built, Subject};
use super::workload::Workload;
use control::{DataPlane, Refusal};
use driver::entries::{self, Origin};
use driver::externs::ForInterpreter;
use driver::failure::Failure;
use equivalence::{Copies, Sample, Source};
use interp::PORTS;
use native::NativeEngine;
use runtime::{Buffers, Descriptor, DpdkMemoryPort, MemoryPort, PortLayer, Settings, Trace};
use std::path::Path;
use std::sync::Arc;

/// Packets at each burst.
const PACKETS: u64 = 1000;
const BURSTS: [usize; 3] = [1, 7, 64];
/// Packets of the trace that are mutated.
const SAMPLES: usize = 4096;
const SEED: u64 = 1;
/// Ports that packets come in from, where the trace has none.
const INGRESS_PORTS: u32 = 8;

/// The interpreter with a workload's entries.
pub struct Interpreted<'a> {
    subject: &'a Subject,
    files: Vec<&'a Path>,
    samples: Vec<Sample>,
    externs: ForInterpreter,
}

impl<'a> Interpreted<'a> {
    /// `None` where it cannot have the entries: those in the compact form, and drawn ones, go straight to native tables.
    pub fn new(
        subject: &'a Subject,
        workload: &'a Workload,
        trace: &Trace,
    ) -> Result<Option<Interpreted<'a>>, Failure> {
        let file = |origin: &'a Origin| match origin {
            Origin::File(path) if entries::are_commands(path) => Some(path.as_path()),
            Origin::File(_) | Origin::Generated { .. } => None,
        };
        let Some(files) = workload.files.iter().map(file).collect() else { return Ok(None) };
        let sample = |packet: runtime::Packet| Sample { port: Some(u32::from(packet.port)), bytes: packet.bytes };
        let samples = trace.packets().take(SAMPLES).map(sample).collect();
        let externs = ForInterpreter::compile(subject.program(), subject.native())?;
        Ok(Some(Interpreted { subject, files, samples, externs }))
    }

    /// How a variant's packets differ, if they do.
    pub fn difference(&self, built: &Built, dpdk: Option<&Arc<PortLayer>>) -> Result<Option<String>, Failure> {
        let Some((program, compiled)) = &built.programs else { return Ok(None) };
        let programs = (&**program, compiled);
        let (pipeline, settings) = (built.pipeline.clone(), Settings { ports: PORTS, seed: 0 });
        match (pipeline.description().descriptor, dpdk) {
            (Descriptor::Mbuf, Some(dpdk)) => {
                let worker_ports = || vec![DpdkMemoryPort::new(dpdk)];
                self.compare(&mut NativeEngine::new(programs, pipeline, settings, worker_ports)?, built)
            }
            (Descriptor::Own, _) | (Descriptor::Mbuf, None) => {
                let worker_ports = || vec![MemoryPort::new(Buffers::default())];
                self.compare(&mut NativeEngine::new(programs, pipeline, settings, worker_ports)?, built)
            }
        }
    }

    fn compare(&self, engine: &mut dyn DataPlane, built: &Built) -> Result<Option<String>, Failure> {
        let program = self.subject.program();
        let configure = |engine: &mut dyn DataPlane| {
            let done = self.files.iter().try_for_each(|path| entries::configure(program, path, engine).map(drop));
            done.map_err(|failure| Refusal::wrong(format!("{failure:?}")))
        };
        let has_queues = built.predictor.as_ref().is_some_and(|predictor| !predictor.plan.queues.is_empty());
        let settings = equivalence::Settings {
            source: Source { capture: &self.samples, seed: SEED, ports: INGRESS_PORTS },
            count: PACKETS,
            bursts: &BURSTS,
            copies: if has_queues { Copies::MayOvertake } else { Copies::KeepTheirTurn },
            externs: &|| self.externs.bind(),
        };
        match equivalence::run(program, engine, PORTS, &settings, &configure, &mut |_| {}) {
            Ok(_) => Ok(None),
            Err(equivalence::Failure::Difference(difference)) => Ok(Some(difference.to_string())),
            Err(equivalence::Failure::Refusal(refusal)) => Err(Failure::refusal(&program.name, &refusal)),
        }
    }
}
