//! What the server of controllers needs of this process: the switch, and a compiler for the programs that they push.

use super::improve::improve;
use super::live::{Built, Live, Shared};
use super::pushed::{self, Builder};
use super::requests::ControlThread;
use super::state::not_saved;
use super::tracing::Tracing;
use control::message::runtime::ForwardingPipelineConfig;
use control::message::switch::{ReportResponse, TraceRequest, TraceResponse};
use control::plane::EntryKey;
use control::{DataPlane, Refusal, RefusalKind};
use native::{Replay, Written};
use p4runtime::{Prepared, Saving, State, Switch, Target};
use persist::Ticket;
use std::sync::Arc;
use tokio::sync::oneshot;

pub struct Controller<L: Replay> {
    pub switch: Shared<L>,
    pub builder: Builder,
    pub cpu_port: Option<u32>,
    pub control: ControlThread,
    pub tracing: Tracing,
}

impl<L: Replay + 'static> Target for Controller<L> {
    fn verify(&self, config: &ForwardingPipelineConfig) -> Result<Prepared, Refusal> {
        let built = pushed::build(&self.builder, &config.p4_device_config, config.p4info.as_ref())?;
        Ok(Prepared { program: built.program.clone(), artefact: Box::new(built) })
    }

    fn commit(&self, prepared: Prepared, state: State, config: &ForwardingPipelineConfig) -> Result<(), Refusal> {
        let built = prepared.artefact.downcast::<Built>();
        let built = built.unwrap_or_else(|_| panic!("what is committed was verified here"));
        let written = match state {
            State::Clear => Written::Forgotten,
            State::Keep => Written::Kept,
        };
        let mut live = self.switch.lock();
        live.check_saved()?;
        // A port may have been added since the program was verified.
        self.builder.ports.check(&built.program).map_err(Refusal::wrong)?;
        live.replace(&built, written)?;
        live.committed(config);
        improve(&self.switch, &mut live, &built);
        Ok(())
    }

    fn with_switch(&self, work: &mut dyn FnMut(&mut dyn Switch)) -> Result<(), Refusal> {
        // Others write while this one waits, and share its commit.
        self.ticket(work).map_or(Ok(()), |ticket| ticket.wait()).map_err(not_saved)
    }

    fn begin_with_switch(&self, work: &mut dyn FnMut(&mut dyn Switch)) -> Result<Option<Saving>, Refusal> {
        Ok(self.ticket(work).map(|ticket| {
            let (done, saving) = oneshot::channel();
            // A caller that has gone waits for nothing.
            ticket.then(|saved| drop(done.send(saved.map_err(not_saved))));
            saving
        }))
    }

    fn has_port(&self, port: u32) -> bool {
        self.builder.ports.has(port)
    }

    fn report(&self) -> Option<ReportResponse> {
        self.control.report()
    }

    fn trace(&self, request: &TraceRequest) -> Result<TraceResponse, Refusal> {
        self.tracing.ask(&self.switch, request)
    }

    fn add_port(&self, number: u32, device: &str) -> Result<(), Refusal> {
        let port = format!("{number}={device}").parse().map_err(|text: String| Refusal::wrong(text))?;
        self.control.add_port(port)
    }

    fn remove_port(&self, port: &str) -> Result<(), Refusal> {
        self.control.remove_port(port)
    }

    fn is_busy(&self) -> bool {
        self.switch.is_locked()
    }
}

impl<L: Replay> Controller<L> {
    /// Calls `work` with the switch. Gives what was written as a transaction to be saved.
    fn ticket(&self, work: &mut dyn FnMut(&mut dyn Switch)) -> Option<Ticket> {
        let mut live = self.switch.lock();
        if live.engine().is_some() {
            // The store refuses what is written meanwhile; Reads go on.
            drop(live.check_saved());
            work(&mut InHand { live: &mut live, cpu_port: self.cpu_port });
        }
        live.save()
    }
}

/// The switch in the hands of one call.
struct InHand<'l, L: Replay> {
    live: &'l mut Live<L>,
    cpu_port: Option<u32>,
}

impl<L: Replay> InHand<'_, L> {
    fn engine(&mut self) -> &mut super::live::Engine<L> {
        self.live.engine().expect("a pipeline is never taken away")
    }
}

impl<L: Replay> Switch for InHand<'_, L> {
    fn plane(&mut self) -> &mut dyn DataPlane {
        self.engine()
    }

    fn packet_out(&mut self, frame: Vec<u8>) -> Result<(), Refusal> {
        let Some(port) = self.cpu_port else {
            let sentence = "the switch has no CPU port: start it with --cpu-port N";
            return Err(Refusal::new(RefusalKind::InUse, sentence));
        };
        self.engine().inject(port, &frame)
    }

    fn since_last_hit_ns(&mut self, key: &EntryKey) -> Result<u64, Refusal> {
        self.engine().since_last_hit_ns(key)
    }

    fn link_refused(&mut self, port: u32, up: bool, refusal: &Refusal) {
        let is = if up { "up" } else { "down" };
        eprintln!("warning: port {port} is {is}, but a group or session that depends on it does not follow: {refusal}");
    }

    fn hold(&mut self) -> bool {
        // A write may need generic code, and workers that wait do not change over to it.
        if self.engine().generalise().is_err() {
            return false;
        }
        self.live.pause();
        true
    }

    fn release(&mut self) {
        self.live.resume();
    }
}

/// The program on the command line of a P4Runtime server: controllers may push their own build of it.
pub fn config_of(program: &Arc<hlir::Program>) -> ForwardingPipelineConfig {
    let p4info = Some(control::p4info(program));
    ForwardingPipelineConfig { p4info, ..ForwardingPipelineConfig::default() }
}
