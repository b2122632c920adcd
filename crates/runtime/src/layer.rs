//! A port layer: compiled at first use, loaded once. One is for DPDK's devices, whose packets are mbufs, the other for interfaces of the kernel without DPDK,
//! whose packets are the program's own descriptors.
//!
//! `runtime/port/layer.h` is the other side. A layer keeps its state in the process, so it cannot be started twice.

use crate::abi;
use crate::compile::Descriptor;
use crate::worker_ports::{Connection, WorkerPorts};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const VERSION: u32 = 19;
const ERROR_BYTES: usize = 512;

/// How much a layer takes, and from where.
#[derive(Clone, Debug)]
pub struct PortSettings {
    huge: bool,
    megabytes: u32,
    buffers: u32,
    buffer_bytes: u32,
    /// Bytes of the widest vectors that DPDK's libraries compute with, where they are not to choose: 32 at most, whatever the processor has.
    pub vector_bytes: Option<u32>,
    /// Whether a device reads packets where they lie, by other addresses than this process's: none may cross pages that are apart there.
    pub reads_buffers: bool,
    /// Interfaces of the kernel that the switch begins with: of many, each has fewer slots for super-frames.
    pub interfaces: u32,
    /// PCI addresses of the NICs to take; no other is touched, for the kernel may be using it.
    pub nics: Vec<String>,
    /// Whether idle workers go on polling. Otherwise they sleep until a packet comes.
    pub polls: bool,
    /// Threads that there will be.
    pub workers: u32,
    /// Whether DPDK's layer copies descriptors: pipelines have own ones then, not mbufs.
    pub copies: bool,
    /// A folder for captures of each interface of the kernel that has packet sockets.
    pub record: Option<PathBuf>,
    /// Whether interfaces of the kernel also take frames that other programs send there, as libpcap's do.
    pub hears_outgoing: bool,
}

#[repr(C)]
struct RawSettings {
    huge: u32,
    megabytes: u32,
    buffers: u32,
    buffer_bytes: u32,
    vector_bits: u32,
    reads_buffers: u32,
    interfaces: u32,
    nic_count: u32,
    nics: *const *const c_char,
    polls: u32,
    workers: u32,
    record: *const c_char,
    hears_outgoing: u32,
}

impl PortSettings {
    /// So many packets in flight, of which so many bytes lie side by side, in what memory this machine offers.
    pub fn of_machine(buffers: u32, buffer_bytes: u32) -> PortSettings {
        const OVERHEAD_BYTES: u64 = 512;
        let bytes = u64::from(buffers) * (u64::from(buffer_bytes) + OVERHEAD_BYTES);
        let megabytes = (bytes >> 20) as u32 + 64;
        let huge = free_huge_megabytes() >= u64::from(megabytes);
        PortSettings {
            huge,
            megabytes,
            buffers,
            buffer_bytes,
            vector_bytes: None,
            reads_buffers: false,
            interfaces: 0,
            nics: Vec::new(),
            polls: true,
            workers: 1,
            copies: false,
            record: None,
            hears_outgoing: false,
        }
    }

    pub fn has_huge_pages(&self) -> bool {
        self.huge
    }
}

/// Megabytes of free huge pages.
fn free_huge_megabytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let number = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    number("HugePages_Free:").unwrap_or(0) * number("Hugepagesize:").unwrap_or(0) / 1024
}

/// What came and went at a port.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    pub received: u64,
    pub received_bytes: u64,
    pub sent: u64,
    pub sent_bytes: u64,
    /// Came while no buffer was free, or while the ring was full.
    pub missed: u64,
    /// Came damaged, or in a form that cannot be taken.
    pub errors: u64,
    /// The device did not take them.
    pub unsent: u64,
    /// Came, and nothing has taken them yet.
    pub waiting: u64,
    link: u32,
    /// Megabits per second; 0: unknown.
    pub speed_mbps: u32,
    enabled: u32,
}

impl PortCounts {
    /// False: the port was disabled, here or in the system.
    pub fn is_enabled(&self) -> bool {
        self.enabled != 0
    }

    pub fn link(&self) -> Link {
        Link::of(self.link)
    }

    /// The counts of a port that takes nothing any more: what waits is missed.
    pub fn at_end(self) -> PortCounts {
        PortCounts { missed: self.missed + self.waiting, waiting: 0, ..self }
    }
}

/// How an interface of the kernel is connected. `enum interface_kind` in `port/layer.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Connected {
    /// As the layer finds best.
    Any = 0,
    PacketSockets = 1,
    Xdp = 2,
}

/// Whether packets can go by a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Down,
    Up,
    /// The interface is not there any more.
    Gone,
}

impl Link {
    fn of(state: u32) -> Link {
        match state {
            0 => Link::Down,
            1 => Link::Up,
            _ => Link::Gone,
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Link::Down => "down",
            Link::Up => "up",
            Link::Gone => "gone",
        })
    }
}

/// Packets of one worker so far.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub received: u64,
    /// That its pipeline gave to ports, copies among them.
    pub handed: u64,
    /// Of these, the ones for numbers that no port has.
    pub nowhere: u64,
    /// And the ones for the control plane.
    pub to_cpu: u64,
    /// Of at least one packet.
    pub bursts: u64,
    /// From a burst to the next poll.
    pub busy_ns: u64,
    /// Cycles of the time-stamp counter in a second.
    pub tsc_hz: u64,
}

/// Descriptors that a queue of a device may have.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingLimits {
    pub least: u32,
    pub most: u32,
}

/// What a step does with a packet: `enum spread_kind` in `port/spread.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SpreadKind {
    Test = 0,
    Mix = 1,
    Done = 2,
    Keep = 3,
    Wait = 4,
}

/// A step that leads a packet to the worker of its flow.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpreadStep {
    pub kind: SpreadKind,
    pub bit: u32,
    /// 1 to 56 bits; 0: the value is the port's number.
    pub width: u32,
    pub otherwise: u32,
    pub mask: u64,
    pub low: u64,
    pub high: u64,
}

impl SpreadStep {
    /// Alone: packets wait at their ports.
    pub const WAIT: SpreadStep =
        SpreadStep { kind: SpreadKind::Wait, bit: 0, width: 0, otherwise: 0, mask: 0, low: 0, high: 0 };
}

#[repr(C)]
struct RawWorkerPorts {
    opaque: [u8; 0],
}

#[repr(C)]
struct Layer {
    version: u32,
    descriptor: u32,
    start: unsafe extern "C" fn(settings: *const RawSettings, error: *mut c_char) -> c_int,
    open: unsafe extern "C" fn(number: u16, device: *const c_char, descriptors: u32, error: *mut c_char) -> c_int,
    open_interface: unsafe extern "C" fn(
        u16,
        name: *const c_char,
        slots: u32,
        kind: u32,
        note: *mut c_char,
        error: *mut c_char,
    ) -> c_int,
    ring: unsafe extern "C" fn(number: u16, ring: *mut RingLimits) -> c_int,
    begin: unsafe extern "C" fn(workers: u32, error: *mut c_char) -> c_int,
    add: unsafe extern "C" fn(number: u16, error: *mut c_char) -> c_int,
    remove: unsafe extern "C" fn(number: u16),
    spread: unsafe extern "C" fn(steps: *const SpreadStep, count: u32, error: *mut c_char) -> c_int,
    ports_of: unsafe extern "C" fn(worker: u32) -> *mut RawWorkerPorts,
    worker_pool: unsafe extern "C" fn(own_ports: *mut RawWorkerPorts) -> *mut abi::Pool,
    worker_limit: unsafe extern "C" fn(own_ports: *mut RawWorkerPorts, packets: u32),
    longest: unsafe extern "C" fn() -> u32,
    clock: unsafe extern "C" fn() -> u64,
    flush: unsafe extern "C" fn(worker: *mut abi::Worker),
    copy: unsafe extern "C" fn(packet: *const c_void, length: u16, to: *mut u8),
    run: unsafe extern "C" fn(*mut abi::Worker, *mut RawWorkerPorts, *const abi::Pipeline, *const AtomicU32),
    idle_polls: unsafe extern "C" fn(own_ports: *const RawWorkerPorts) -> u64,
    packets: unsafe extern "C" fn(own_ports: *const RawWorkerPorts) -> u64,
    totals: unsafe extern "C" fn(own_ports: *const RawWorkerPorts, totals: *mut Totals),
    counts: unsafe extern "C" fn(number: u16, counts: *mut PortCounts) -> c_int,
    enable: unsafe extern "C" fn(number: u16, enabled: u32, error: *mut c_char) -> c_int,
    watch: unsafe extern "C" fn(number: u16, enabled: *mut u32) -> c_int,
    inject: unsafe extern "C" fn(number: u16, frame: *const u8, length: u32, count: u32) -> u32,
    stop: unsafe extern "C" fn(),
    held: unsafe extern "C" fn() -> u32,
    untaken: unsafe extern "C" fn() -> u32,
    length: Option<unsafe extern "C" fn(packet: *const c_void) -> u32>,
}

/// The message of a layer or its loader, as a sentence.
#[derive(Debug)]
pub struct PortError(pub String);

impl fmt::Display for PortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PortError {}

/// A layer, started.
pub struct PortLayer {
    layer: *const Layer,
    // Its threads and constructors, and DPDK's, outlive an unloading, so the library stays.
    library: &'static Library,
    /// Held by the thread that asks for a port's counts or link, or changes it.
    control: Mutex<()>,
}

// SAFETY: the layer's table is constant. The control thread calls its functions, but for those of a worker's ports, which belong to
// that worker, and those that hold
// `control`.
unsafe impl Send for PortLayer {}
// SAFETY: as above.
unsafe impl Sync for PortLayer {}

impl PortLayer {
    /// Loads a layer and starts it; once in a process.
    pub fn start(object: &Path, settings: &PortSettings) -> Result<Arc<PortLayer>, PortError> {
        let failed = |error: libloading::Error| {
            PortError(format!("cannot load {}: {}", object.display(), crate::pipeline::loader_message(&error)))
        };
        // SAFETY: this program has compiled the object.
        let library: &'static Library = Box::leak(Box::new(unsafe { Library::new(object) }.map_err(failed)?));
        let name: &[u8] = if settings.copies { b"bacus_copying_layer" } else { b"bacus_layer" };
        // SAFETY: the name is that of a `struct port_layer`, whose version is checked before anything else is used.
        let layer: *const Layer = unsafe { *library.get::<*const Layer>(name).map_err(failed)? };
        let started = PortLayer { layer, library, control: Mutex::new(()) };
        if started.layer().version != VERSION {
            return Err(PortError("the port layer is of another version of bacus".to_string()));
        }
        let nics = settings.nics.iter().map(|nic| CString::new(nic.as_str()));
        let nics = nics.collect::<Result<Vec<CString>, _>>();
        let nics = nics.map_err(|_| PortError("a device has no zero bytes in its name".into()))?;
        let record = settings.record.as_ref().map(|folder| CString::new(folder.as_os_str().as_bytes()));
        let record = record.transpose().map_err(|_| PortError("a folder has no zero bytes in its name".into()))?;
        let pointers: Vec<*const c_char> = nics.iter().map(|nic| nic.as_ptr()).collect();
        let raw = RawSettings {
            huge: u32::from(settings.huge),
            megabytes: settings.megabytes,
            buffers: settings.buffers,
            buffer_bytes: settings.buffer_bytes,
            vector_bits: settings.vector_bytes.map_or(0, |bytes| 8 * bytes),
            reads_buffers: u32::from(settings.reads_buffers),
            interfaces: settings.interfaces,
            nic_count: nics.len() as u32,
            nics: pointers.as_ptr(),
            polls: u32::from(settings.polls),
            workers: settings.workers,
            record: record.as_ref().map_or(std::ptr::null(), |folder| folder.as_ptr()),
            hears_outgoing: u32::from(settings.hears_outgoing),
        };
        // SAFETY: a plain struct of the same layout; its strings live through the call.
        checked(|error| unsafe { (started.layer().start)(&raw, error) })?;
        Ok(Arc::new(started))
    }

    /// What packets of this layer are.
    pub fn descriptor(&self) -> Descriptor {
        if self.layer().descriptor == 0 { Descriptor::Mbuf } else { Descriptor::Own }
    }

    pub(crate) fn library(&self) -> &'static Library {
        self.library
    }

    pub(crate) fn copy(&self) -> unsafe extern "C" fn(packet: *const c_void, length: u16, to: *mut u8) {
        self.layer().copy
    }

    pub(crate) fn length(&self) -> Option<unsafe extern "C" fn(packet: *const c_void) -> u32> {
        self.layer().length
    }

    fn layer(&self) -> &Layer {
        // SAFETY: the table lies in a library that is never unloaded.
        unsafe { &*self.layer }
    }

    /// Opens a device as port `number` of the program, with so many descriptors to a queue if the device lets them be chosen, else the default number.
    pub fn open(&self, number: u16, device: &str, descriptors: Option<u32>) -> Result<(), PortError> {
        let device = CString::new(device).map_err(|_| PortError("a device has no zero bytes in its name".into()))?;
        let _control = self.control();
        // SAFETY: the string ends with a zero byte.
        checked(|error| unsafe { (self.layer().open)(number, device.as_ptr(), descriptors.unwrap_or(0), error) })
    }

    /// Opens an interface of the kernel as port `number` of the program, with so many slots for frames that have come, or the default number. A sentence on
    /// how it is connected, and why, if there is a choice.
    pub fn open_interface(
        &self,
        number: u16,
        name: &str,
        by: Connected,
        slots: Option<u32>,
    ) -> Result<Option<String>, PortError> {
        let name = CString::new(name).map_err(|_| PortError("an interface has no zero bytes in its name".into()))?;
        let mut note = [0u8; ERROR_BYTES];
        let _control = self.control();
        let (slots, by) = (slots.unwrap_or(0), by as u32);
        // SAFETY: the string ends with a zero byte, and the note has room for a sentence.
        checked(|error| unsafe {
            (self.layer().open_interface)(number, name.as_ptr(), slots, by, note.as_mut_ptr().cast(), error)
        })?;
        let note = CStr::from_bytes_until_nul(&note).map(|note| note.to_string_lossy().into_owned());
        Ok(note.ok().filter(|note| !note.is_empty()))
    }

    /// Which descriptors the device of an open port lets be chosen.
    pub fn ring(&self, number: u16) -> Option<RingLimits> {
        let mut ring = RingLimits::default();
        // SAFETY: the struct has the same layout on both sides.
        (unsafe { (self.layer().ring)(number, &mut ring) } == 0).then_some(ring)
    }

    /// Sets all open ports up, and gives the ports as `workers` workers serve them. Once, and again after they were closed and opened again.
    pub fn begin(self: &Arc<PortLayer>, workers: u32) -> Result<Vec<LayerPorts>, PortError> {
        // SAFETY: plain numbers.
        checked(|error| unsafe { (self.layer().begin)(workers, error) })?;
        // SAFETY: there are that many workers now.
        Ok((0..workers)
            .map(|worker| LayerPorts { layer: self.clone(), raw: unsafe { (self.layer().ports_of)(worker) } })
            .collect())
    }

    fn control(&self) -> MutexGuard<'_, ()> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the workers serve one more open port. None of them may be within a burst. If it fails, the port is closed.
    pub fn add(&self, number: u16) -> Result<(), PortError> {
        let _control = self.control();
        // SAFETY: the caller's word; of a number that no port has, nothing is served.
        checked(|error| unsafe { (self.layer().add)(number, error) })
    }

    /// Closes a port, and gives its device back. No worker may be within a burst.
    pub fn remove(&self, number: u16) {
        let _control = self.control();
        // SAFETY: the caller's word; of a number that no port has, nothing is closed.
        unsafe { (self.layer().remove)(number) }
    }

    /// Lets packets go to workers by these steps, whatever worker receives them; without steps they stay there. No worker may be within a burst.
    pub fn spread(&self, steps: &[SpreadStep]) -> Result<(), PortError> {
        let _control = self.control();
        // SAFETY: the layer copies the steps; the caller's word.
        checked(|error| unsafe { (self.layer().spread)(steps.as_ptr(), steps.len() as u32, error) })
    }

    /// Packets that workers have for others, which have not taken them.
    pub fn untaken(&self) -> u32 {
        // SAFETY: only reads; rings are made while no worker is within a burst, and stay.
        unsafe { (self.layer().untaken)() }
    }

    pub fn counts(&self, number: u16) -> Option<PortCounts> {
        let mut counts = PortCounts::default();
        let _control = self.control();
        // SAFETY: the struct has the same layout on both sides.
        (unsafe { (self.layer().counts)(number, &mut counts) } == 0).then_some(counts)
    }

    /// Enables or disables an open port, its link as well where that can be done. Packets from and to a port that is disabled are dropped.
    ///
    /// # Errors
    /// The port is as before.
    pub fn enable(&self, number: u16, enabled: bool) -> Result<(), PortError> {
        let _control = self.control();
        // SAFETY: plain numbers; no other thread changes ports.
        checked(|error| unsafe { (self.layer().enable)(number, u32::from(enabled), error) })
    }

    /// Looks at the link of an open port, and takes an interface again that was gone and is back. Also whether the port is enabled.
    pub fn watch(&self, number: u16) -> Option<(Link, bool)> {
        let mut enabled = 0;
        let _control = self.control();
        // SAFETY: the control thread alone opens and closes ports, and none is watched or changed meanwhile.
        let state = unsafe { (self.layer().watch)(number, &mut enabled) };
        u32::try_from(state).ok().map(|state| (Link::of(state), enabled != 0))
    }

    /// Sends so many copies of a frame by an open port, until its device takes no more. No worker may run. How many were sent.
    pub fn inject(&self, number: u16, frame: &[u8], count: u32) -> u32 {
        // SAFETY: the frame lives through the call, which copies as many bytes as its length; of a port that is not open nothing is sent. Queue 0 is
        // a worker's, and none runs: the caller's word.
        unsafe { (self.layer().inject)(number, frame.as_ptr(), frame.len() as u32, count) }
    }

    /// Closes all ports, so that captures are whole, and gives their devices back, which may then be opened again; no worker may run.
    pub fn stop(&self) {
        let _control = self.control();
        // SAFETY: the caller's word.
        unsafe { (self.layer().stop)() }
    }

    /// Packet buffers that are not free.
    pub fn held(&self) -> u32 {
        // SAFETY: only reads.
        unsafe { (self.layer().held)() }
    }

    /// How often in a row worker `worker` has found nothing to do.
    pub fn idle_polls(&self, worker: u32) -> u64 {
        // SAFETY: a worker's ports live as long as the process.
        unsafe { (self.layer().ports_of)(worker).as_ref().map_or(0, |own_ports| (self.layer().idle_polls)(own_ports)) }
    }

    /// What worker `worker` has carried.
    pub fn totals(&self, worker: u32) -> Totals {
        let mut totals = Totals::default();
        // SAFETY: as above; the struct has the same layout on both sides.
        unsafe {
            if let Some(own_ports) = (self.layer().ports_of)(worker).as_ref() {
                (self.layer().totals)(own_ports, &mut totals);
            }
        }
        totals
    }

    /// Packets that worker `worker` has taken from its ports.
    pub fn packets(&self, worker: u32) -> u64 {
        // SAFETY: as above.
        unsafe { (self.layer().ports_of)(worker).as_ref().map_or(0, |own_ports| (self.layer().packets)(own_ports)) }
    }
}

/// Calls with room for a message, and makes it an error if the call failed.
fn checked(call: impl FnOnce(*mut c_char) -> c_int) -> Result<(), PortError> {
    let mut error = [0u8; ERROR_BYTES];
    if call(error.as_mut_ptr().cast()) == 0 {
        return Ok(());
    }
    let text = CStr::from_bytes_until_nul(&error).map(CStr::to_string_lossy);
    Err(PortError(text.map_or("it gives no reason".into(), |text| text.into_owned())))
}

/// The ports that one worker serves.
pub struct LayerPorts {
    layer: Arc<PortLayer>,
    raw: *mut RawWorkerPorts,
}

// SAFETY: the ports of a worker are used by its thread alone.
unsafe impl Send for LayerPorts {}

impl LayerPorts {
    /// From the next run on, so many packets are taken from a port at once, at most; 0: as many as the pipeline takes.
    pub fn limit(&mut self, packets: u32) {
        // SAFETY: no thread runs the worker's ports: they are borrowed.
        unsafe { (self.layer.layer().worker_limit)(self.raw, packets) };
    }
}

impl WorkerPorts for LayerPorts {
    fn connect(&mut self) -> Connection {
        let layer = self.layer.layer();
        Connection {
            descriptor: self.layer.descriptor(),
            port: self.raw.cast(),
            // SAFETY: the worker's ports live as long as the process.
            pool: unsafe { (layer.worker_pool)(self.raw) },
            flush: layer.flush,
            copy: layer.copy,
            length: layer.length,
            // SAFETY: a plain number.
            longest: unsafe { (layer.longest)() },
            // SAFETY: likewise.
            clock_ns: unsafe { (layer.clock)() },
            sleeps: true,
        }
    }

    unsafe fn run(&mut self, worker: *mut abi::Worker, pipeline: *const abi::Pipeline, stop: &AtomicU32) {
        // SAFETY: the caller's promise.
        unsafe { (self.layer.layer().run)(worker, self.raw, pipeline, stop) }
    }
}
