//! What a packet costs the port as an mbuf: echoed by DPDK's in-memory port, where DPDK's libraries are installed.
//!
//! DPDK stays in this process until its end, with its pages: where a command calibrates before its own work, mbufs are not measured.

use super::port::{BURSTS, ECHO, SWITCHES, median, sample, several};
use crate::samples::Samples;
use driver::failure::Failure;
use driver::files;
use runtime::{Compiler, Descriptor, DpdkMemoryPort, Pipeline, PortLayer, PortSettings, Settings, Switch, Trace};
use std::sync::Arc;

/// As `bacus bench` runs programs.
const BUFFERS: u32 = 4096;
const BUFFER_BYTES: u32 = 2048;
const PORTS: u32 = 512;

pub struct Run {
    switch: Switch<DpdkMemoryPort>,
    samples: Samples,
}

/// The echo in bursts of each size.
pub struct Mbufs {
    runs: [[Run; SWITCHES]; BURSTS.len()],
    turn: usize,
}

impl Mbufs {
    /// `None` where DPDK is not installed. Fails where it does not start.
    pub fn new(compiler: &Compiler, trace: &Arc<Trace>) -> Result<Option<Mbufs>, Failure> {
        let cache = files::cache()?;
        let layer = match compiler.dpdk_layer(&cache) {
            Err(runtime::compile::Failure::NoDpdk) => return Ok(None),
            layer => layer?,
        };
        let echo = compiler.pipeline(&cache, "echo_mbuf", &format!("#define PEER_MBUF\n{ECHO}"), Descriptor::Mbuf)?;
        let settings = PortSettings::of_machine(BUFFERS, BUFFER_BYTES);
        let dpdk = PortLayer::start(&layer, &settings).map_err(Failure::environment)?;
        // After DPDK, whose library it needs.
        let echo = Arc::new(Pipeline::load(&echo)?);
        let run = |burst| {
            several(|| {
                let settings = Settings { ports: PORTS, seed: 1 };
                let mut switch = Switch::new(echo.clone(), vec![DpdkMemoryPort::new(&dpdk)], settings)?;
                switch.ports_of(0).expect("no thread runs its worker").load(trace.clone(), 0, burst);
                Ok(Run { switch, samples: Samples::default() })
            })
        };
        Ok(Some(Mbufs { runs: [run(BURSTS[0])?, run(BURSTS[1])?, run(BURSTS[2])?], turn: 0 }))
    }

    /// Some samples in bursts of each size, by one of the switches.
    pub fn round(&mut self) {
        self.turn = (self.turn + 1) % SWITCHES;
        for runs in &mut self.runs {
            let Run { switch, samples } = &mut runs[self.turn];
            sample(switch, samples, DpdkMemoryPort::more);
        }
    }

    /// Cycles per packet, by burst.
    pub fn costs(&self) -> [f64; BURSTS.len()] {
        self.runs.each_ref().map(|runs| median(runs.iter().map(|run| &run.samples)))
    }
}
