//! What the control thread and one worker hand to each other: the pipeline to change over to, and the pipeline's events.

use crate::abi;
use crate::changeover::Changeover;
use crate::events::Events;
use crate::gate::Gate;
use crate::quiescent::Readers;
use crate::rest;
use crate::ring::{Fill, RawRing, Ring};
use crate::tables::Table;
use crate::tap::Tap;
use crate::worker_ports::Connection;
use std::ffi::{c_int, c_void};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// The tables of a pipeline that its packets may insert into, and all who read them.
pub(crate) struct Bound {
    pub readers: Arc<Readers>,
    pub tables: Vec<Arc<Table>>,
}

/// See the module.
pub(crate) struct Control {
    pub events: Events,
    /// Packets to process as if they were received, with their ports.
    pub injected: Ring,
    /// Packets that were sent to the control plane's port.
    pub to_cpu: Ring,
    /// Packets that go on where they were punted.
    pub resumed: Ring,
    pub gate: Gate,
    pub tap: Tap,
    /// The changeover that the worker is to make at the end of its burst. The thread that takes it makes it.
    /// The worker, or the control thread for a worker that does not run: the swap gives it to one of them.
    next: AtomicPtr<Changeover>,
    /// Changed by the worker at a changeover.
    bound: AtomicPtr<Bound>,
    longest_pause_ns: AtomicU64,
    /// Since the start.
    longest_ever_ns: AtomicU64,
}

/// Bytes of packets that wait for a worker, or for the control thread. Memory is taken when it is first used.
const PACKETS_BYTES: u64 = 1 << 22;

impl Control {
    pub fn new() -> Control {
        Control {
            events: Events::new(),
            injected: Ring::new(PACKETS_BYTES),
            to_cpu: Ring::new(PACKETS_BYTES),
            resumed: Ring::new(PACKETS_BYTES),
            gate: Gate::new(),
            tap: Tap::new(),
            next: AtomicPtr::default(),
            bound: AtomicPtr::default(),
            longest_pause_ns: AtomicU64::new(0),
            longest_ever_ns: AtomicU64::new(0),
        }
    }

    /// The tables of the pipeline that the worker is attached to from now on. By the worker's thread.
    pub fn bind(&self, bound: *const Bound) {
        self.bound.store(bound.cast_mut(), Ordering::Release);
    }

    /// # Safety
    /// Called by the worker's thread while it is attached, and not kept.
    pub unsafe fn bound(&self) -> Option<&Bound> {
        // SAFETY: what a worker is attached to outlives the attachment.
        unsafe { self.bound.load(Ordering::Acquire).as_ref() }
    }

    /// Publishes a changeover, which outlives it.
    pub fn ask(&self, changeover: &Changeover) {
        self.next.store(std::ptr::from_ref(changeover).cast_mut(), Ordering::SeqCst);
    }

    /// Takes what was published.
    pub fn take(&self) -> Option<*const Changeover> {
        let next = self.next.swap(std::ptr::null_mut(), Ordering::SeqCst);
        (!next.is_null()).then_some(next.cast_const())
    }

    pub fn note_pause(&self, pause: Duration) {
        let nanoseconds = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
        self.longest_pause_ns.fetch_max(nanoseconds, Ordering::Relaxed);
        self.longest_ever_ns.fetch_max(nanoseconds, Ordering::Relaxed);
    }

    /// The longest one since the start.
    pub fn longest_pause(&self) -> Duration {
        Duration::from_nanos(self.longest_ever_ns.load(Ordering::Relaxed))
    }

    /// How full the queues are, by whichever thread.
    pub fn fills(&self, worker: u32) -> [Fill; 7] {
        let Events { digests, logs, fails, punts } = &self.events;
        [
            digests.fill(worker, "digests"),
            logs.fill(worker, "log lines"),
            fails.fill(worker, "failed assertions"),
            punts.fill(worker, "punted packets"),
            self.to_cpu.fill(worker, "packets to the controller"),
            self.injected.fill(worker, "packets from the controller"),
            self.resumed.fill(worker, "resumed packets"),
        ]
    }

    /// The longest one since the last call.
    pub fn take_longest_pause(&self) -> Duration {
        Duration::from_nanos(self.longest_pause_ns.swap(0, Ordering::Relaxed))
    }
}

/// `HOST_NO_PORT` there.
const NO_PORT: u32 = u32::MAX;

/// `struct host` of runtime/port/host.h.
#[repr(C)]
pub(crate) struct Host {
    pub port: *mut c_void,
    pub control: *const Control,
    pub copy: unsafe extern "C" fn(packet: *const c_void, length: u16, to: *mut u8),
    change: unsafe extern "C" fn(worker: *mut abi::Worker, pipeline: *const abi::Pipeline) -> *const abi::Pipeline,
    attention: AtomicU32,
    cpu_port: AtomicU32,
    injected: *mut RawRing,
    to_cpu: *mut RawRing,
    resumed: *mut RawRing,
    generation: AtomicU32,
    pub sleeping: AtomicU32,
    mark: AtomicU64,
    not_taken: AtomicU64,
    /// By which a worker that sleeps hears a call; -1: it does not sleep.
    wake: c_int,
    /// Its other end, which other workers write to as well.
    rouse: c_int,
    /// See [`crate::rest`].
    control_rouse: c_int,
    control_sleeps: *const AtomicU32,
    /// Both ends; the C code ends before.
    wakes: Option<(UnixDatagram, UnixDatagram)>,
    /// Not in C: behind what it has.
    pub length: Option<unsafe extern "C" fn(packet: *const c_void) -> u32>,
}

impl Host {
    pub fn new(connection: &Connection, control: &Control) -> Host {
        let (injected, to_cpu, resumed) = (control.injected.raw(), control.to_cpu.raw(), control.resumed.raw());
        let control: *const Control = control;
        let (port, copy) = (connection.port, connection.copy);
        let wakes = if connection.sleeps { wakes() } else { None };
        Host {
            port,
            control,
            copy,
            change,
            attention: AtomicU32::new(0),
            cpu_port: AtomicU32::new(NO_PORT),
            injected,
            to_cpu,
            resumed,
            generation: AtomicU32::new(0),
            sleeping: AtomicU32::new(0),
            mark: AtomicU64::new(0),
            not_taken: AtomicU64::new(0),
            wake: wakes.as_ref().map_or(-1, |(read, _)| read.as_raw_fd()),
            rouse: wakes.as_ref().map_or(-1, |(_, write)| write.as_raw_fd()),
            control_rouse: rest::rouse_file(),
            control_sleeps: rest::sleeps(),
            wakes,
            length: connection.length,
        }
    }

    /// Which pipeline the worker is attached to. By the worker's thread.
    pub fn set_generation(&self, generation: u32) {
        self.generation.store(generation, Ordering::Relaxed);
    }

    pub fn generation(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Of the packet that goes on, if the worker is at one. By the worker's thread.
    pub fn mark(&self) -> u64 {
        self.mark.load(Ordering::Relaxed)
    }

    /// Packets of the control plane that the worker could not take, for want of a buffer or because another pipeline had saved them.
    pub fn not_taken(&self) -> u64 {
        self.not_taken.load(Ordering::Relaxed)
    }

    /// Packets to this port are the control plane's from the next burst on.
    pub fn set_cpu_port(&self, port: Option<u32>) {
        self.cpu_port.store(port.unwrap_or(NO_PORT), Ordering::Relaxed);
    }

    /// Lets the worker look at the end of its burst.
    /// After what the worker is to find there was written: the store orders it.
    pub fn call(&self) {
        self.attention.store(1, Ordering::SeqCst);
        self.rouse();
    }

    /// Wakes the worker if it sleeps. What it is to see was stored before, `SeqCst`: it looks once more when it has stored that it sleeps.
    pub fn rouse(&self) {
        if let Some((_, write)) = self.wakes.as_ref().filter(|_| self.sleeping.load(Ordering::SeqCst) != 0) {
            // A socket that is full has woken it.
            drop(write.send(&[0]));
        }
    }
}

/// Without them, as when all file descriptors are taken, the worker does not sleep.
fn wakes() -> Option<(UnixDatagram, UnixDatagram)> {
    let (read, write) = UnixDatagram::pair().ok()?;
    read.set_nonblocking(true).ok()?;
    write.set_nonblocking(true).ok()?;
    Some((read, write))
}

/// # Safety
/// The worker is one of this host's.
pub(crate) unsafe fn host<'a>(worker: *mut abi::Worker) -> (&'a Host, &'a Control) {
    // SAFETY: the host fills both before the first burst, and keeps them as long as the worker.
    unsafe {
        let host = &*(*worker).host.cast::<Host>();
        (host, &*host.control)
    }
}

/// `host.change`: by the worker, between two bursts.
unsafe extern "C" fn change(worker: *mut abi::Worker, pipeline: *const abi::Pipeline) -> *const abi::Pipeline {
    // SAFETY: the worker is one of this host's.
    let control = unsafe { host(worker) }.1;
    // SAFETY: likewise, and it is attached to this pipeline.
    unsafe { control.gate.pass(worker, pipeline, control.bound().map(|bound| &*bound.readers)) };
    let pipeline = control.tap.real(pipeline);
    // SAFETY: the pipeline is the one that the worker is attached to.
    let chosen = |pipeline| unsafe { control.tap.chosen(pipeline) };
    let Some(changeover) = control.take() else { return chosen(pipeline) };
    // SAFETY: the control thread keeps a changeover until it was made.
    let changeover = unsafe { &*changeover };
    if changeover.prefetch(control) {
        control.ask(changeover);
        // SAFETY: as above.
        unsafe { host(worker) }.0.call();
        return chosen(pipeline);
    }
    // SAFETY: likewise; the worker is this thread's.
    chosen(unsafe { changeover.make(worker, control) })
}
