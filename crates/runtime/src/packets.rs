//! Packets of the control plane: those that it hands to a worker as if they were received, and those that the program sends to its port.

use crate::events::{Punted, saved_parts};
use crate::rest;
use crate::switch::Switch;
use crate::tap::Tapped;
use crate::worker::Worker;
use crate::worker_ports::WorkerPorts;
use std::fmt;

/// Why a packet of the control plane is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectError {
    /// Earlier ones still wait for the worker.
    Full,
    /// The worker's buffers hold this many bytes.
    TooLong { longest: u32 },
    /// Ports have smaller numbers.
    NoPort { ports: u32 },
}

impl fmt::Display for InjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InjectError::Full => write!(f, "the queue of packets from the control plane is full"),
            InjectError::TooLong { longest } => write!(f, "the packet is longer than {longest} bytes"),
            InjectError::NoPort { ports } => write!(f, "there is no such port: ports are 0 to {}", ports - 1),
        }
    }
}

impl std::error::Error for InjectError {}

/// Why a punted packet does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeError {
    /// Earlier ones still wait for the worker.
    Full,
    /// The pipeline that saved it was exchanged.
    OtherPipeline,
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ResumeError::Full => "the queue of packets from the control plane is full",
            ResumeError::OtherPipeline => "the pipeline that the packet was processed by is not there any more",
        })
    }
}

impl std::error::Error for ResumeError {}

/// The worker that processes packets of the control plane: one, so that they keep their order.
const WORKER: usize = 0;

impl<L: WorkerPorts> Switch<L> {
    /// Lets a worker process a packet as if it were received by `port`, behind the burst that it is in, or when it runs next.
    pub fn inject(&mut self, port: u32, bytes: &[u8]) -> Result<(), InjectError> {
        let worker = &self.workers[WORKER];
        let (ports, longest) = (worker.raw.port_count.min(1 << 16), worker.longest);
        if port >= ports {
            return Err(InjectError::NoPort { ports });
        }
        if bytes.len() > longest as usize {
            return Err(InjectError::TooLong { longest });
        }
        // SAFETY: the switch is borrowed, so no other thread writes.
        if !unsafe { worker.control.injected.push(port, &[bytes]) } {
            return Err(InjectError::Full);
        }
        worker.host.call();
        // The program may have messages for the control plane then.
        rest::rouse();
        Ok(())
    }

    /// Lets a punted packet go on at its node, with what was saved: behind the burst that its worker is in, or when the worker runs next.
    pub fn resume(&mut self, punted: &Punted) -> Result<(), ResumeError> {
        if punted.generation != self.current.number {
            return Err(ResumeError::OtherPipeline);
        }
        let worker = &self.workers[punted.worker as usize];
        let head = punted.head();
        let [head, saved, rest] = saved_parts(&head, &punted.saved);
        // SAFETY: the switch is borrowed, so no other thread writes.
        if !unsafe { worker.control.resumed.push(punted.node, &[head, saved, rest, &punted.packet]) } {
            return Err(ResumeError::Full);
        }
        worker.host.call();
        Ok(())
    }

    /// Packets that were injected or resumed and lost then: the worker had no buffer, or it had changed to a pipeline that does not understand what was saved.
    pub fn not_taken(&self) -> u64 {
        self.workers.iter().map(|worker| worker.host.not_taken()).sum()
    }

    /// Packets to ports from this number on are dropped from now on. No worker may be within a burst.
    pub fn set_ports(&mut self, ports: u32) {
        self.workers.iter_mut().for_each(|worker| worker.raw.port_count = ports);
    }

    /// From now on, packets that the program sends to this port go to the control plane, and to no device.
    pub fn set_cpu_port(&mut self, port: Option<u32>) {
        self.cpu_port = port;
        self.workers.iter().for_each(|worker| worker.host.set_cpu_port(port));
    }

    /// The oldest packets that the program has sent to the control plane's port, at most so many of each worker; and how many were lost since this was last
    /// called: those that found the queue full, not those that waited in it.
    pub fn take_cpu_packets(&mut self, most: usize) -> (Vec<Vec<u8>>, u64) {
        let (mut packets, mut lost) = (Vec::new(), 0);
        for worker in &self.workers {
            // SAFETY: the switch is borrowed, so no other thread reads.
            unsafe { worker.control.to_cpu.drain(most, |_, bytes| bytes.to_vec(), &mut packets) };
            lost += worker.control.to_cpu.take_lost();
        }
        (packets, lost)
    }

    /// Lets each worker copy so many of the packets that it receives, to the end of a burst. What waits is discarded.
    pub fn tap(&mut self, packets: u64) {
        for worker in &self.workers {
            // SAFETY: the switch is borrowed, so no other thread reads.
            unsafe { worker.control.tap.want(packets) };
            worker.host.call();
        }
    }

    /// The oldest packets that were copied, at most so many of each worker, and how many found no room since this was last called.
    pub fn take_tapped(&mut self, most: usize) -> (Vec<Tapped>, u64) {
        let mut packets = Vec::new();
        // SAFETY: as above.
        let lost = self.workers.iter().map(|worker| unsafe { worker.control.tap.take(most, &mut packets) }).sum();
        (packets, lost)
    }

    /// Lets go of all packets that the program has sent there. The number of those that found the queue full.
    pub fn drop_cpu_packets(&mut self) -> u64 {
        let drop_all = |worker: &Worker| {
            // SAFETY: the switch is borrowed, so no other thread reads.
            unsafe { worker.control.to_cpu.drain(usize::MAX, |_, _| (), &mut Vec::new()) };
            worker.control.to_cpu.take_lost()
        };
        self.workers.iter().map(drop_all).sum()
    }
}
