//! What each application is measured with: entries, and traffic drawn from them.
//!
//! A trace has at least four packets an entry (at most 16 million): a short one makes any table small. Each packet is a frame of the
//! application with some bytes of its own laid over it.

mod bridges;
mod chat;
pub mod expand;
pub mod frames;
mod functions;
mod labels;
mod names;
pub mod prefixes;
mod programs;
pub mod routers;
mod rules;
mod stateful;

pub use programs::{entries_of, is_program};

use super::entry::Entry;
use super::traffic::{SEED, Traffic};
use crate::experiment::{Case, Experiment};
use crate::mix::Mix;
use crate::options::Options;
use driver::entries::Origin;
use driver::failure::Failure;
use driver::options::Source;
use driver::random::Random;
use opt::inputs::Stream;
use runtime::{Buffers, Trace};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Packets of applications come in here.
const APPLICATION_PORT: u32 = 1;
const SHORTEST_TRACE: u64 = 1 << 16;
const LONGEST_TRACE: u64 = 1 << 24;

/// Takes entries one by one.
pub type Sink<'a> = dyn FnMut(&Entry<'_>) -> Result<(), Failure> + 'a;

/// Gives all entries of a workload to a sink.
pub type Rows = dyn Fn(&mut Sink<'_>) -> Result<(), Failure>;

/// Few enough buffers that packets stay in the first cache levels, as behind a NIC that writes to the cache.
const BUFFERS: Buffers = Buffers { count: 1024, bytes: 2048, headroom_bytes: 128 };

/// For frames of all common lengths.
const LONG_BUFFERS: Buffers = Buffers { bytes: 4096, ..BUFFERS };

/// Members of a multicast group: ports, and the numbers of their replicas.
pub type Group = Vec<(u32, u32)>;

/// What a program is measured with at one size.
pub struct Workload {
    pub source: Source,
    /// C code of the program's own externs.
    pub externs: Vec<PathBuf>,
    /// What the switch is configured with, before the entries.
    pub files: Vec<Origin>,
    /// Entries of the tables that grow.
    pub size: u64,
    pub entries: Box<Rows>,
    pub trace: Box<dyn Fn(Traffic) -> Trace>,
    /// What a packet must read at least, however good the tables: lines, and the bytes that they lie in.
    pub lines: Vec<(f64, u64)>,
    /// What the port reads of its trace.
    pub stream: Stream,
    pub buffers: Buffers,
    /// Packets that leave for each that comes in and is not meant to be dropped; unknown for packets of a file.
    pub copies: Option<f64>,
    /// Multicast groups.
    pub groups: Vec<(u64, Group)>,
    /// Packets insert entries: the whole trace runs before anything is measured.
    pub is_learning: bool,
    /// Packets and entries are a user's: what comes out is compared with the interpreter's.
    pub is_given: bool,
}

impl Workload {
    /// An application without entries and packets.
    fn of(name: &str) -> Workload {
        Workload {
            source: Source::plain(&source(name)),
            externs: Vec::new(),
            files: Vec::new(),
            size: 1,
            entries: Box::new(|_| Ok(())),
            trace: Box::new(|_| Trace::new([])),
            lines: Vec::new(),
            stream: stream(1, 0),
            buffers: BUFFERS,
            copies: Some(1.0),
            groups: Vec::new(),
            is_learning: false,
            is_given: false,
        }
    }
}

/// Options of a workload beside its size.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// A file of IPv4 routes, `PREFIX/LENGTH`, white space, any word as the next hop.
    pub rib: Option<PathBuf>,
    /// Percent of the packets that are to be dropped, for three reasons.
    pub dropped: u32,
    /// Families of the packets.
    pub mix: Mix,
}

/// Reports what is wrong with a file of routes.
pub fn check_routes(rib: &Path) -> Result<(), Failure> {
    prefixes::read(rib, 0).map(drop)
}

/// An application and the sizes that it is measured at.
pub struct Application {
    pub name: &'static str,
    /// Its folder in `apps`.
    pub program: &'static str,
    pub sizes: &'static [u64],
    /// Those of a quick run.
    pub quick: &'static [u64],
    pub build: fn(u64, &Wishes) -> Result<Workload, Failure>,
}

#[rustfmt::skip]
pub const APPLICATIONS: &[Application] = &[
    Application { name: "l2fwd", program: "l2fwd",    sizes: &[256, 65_536, 1 << 20, 1 << 24], quick: &[256, 1 << 20],   build: bridges::l2fwd },
    Application { name: "ipv4fwd", program: "ipv4fwd",  sizes: &[4, 1_000, 100_000, 606_138],    quick: &[4, 100_000],     build: routers::ipv4fwd },
    Application { name: "ipv6fwd", program: "ipv6fwd",  sizes: &[1_000, 200_000],                quick: &[200_000],        build: routers::ipv6fwd },
    Application { name: "dualstack", program: "dualstack", sizes: &[1_000, 20_000],               quick: &[],               build: routers::dualstack },
    Application { name: "l2l3acl", program: "l2l3acl",  sizes: &[65_536, 1 << 20],               quick: &[65_536],         build: bridges::l2l3acl },
    Application { name: "mpls", program: "mpls",     sizes: &[256],                           quick: &[],               build: routers::mpls },
    Application { name: "firewall", program: "firewall", sizes: &[16, 100, 1_000],                quick: &[100],            build: routers::firewall },
    Application { name: "ndn", program: "ndn",      sizes: &[1_000, 1 << 20, 10_000_000],    quick: &[],               build: names::ndn },
    Application { name: "l3switch", program: "l3switch", sizes: &[1_000, 100_000],                quick: &[],               build: functions::l3switch },
    Application { name: "mpls_npf", program: "mpls_npf", sizes: &[256, 65_536],                   quick: &[],               build: labels::mpls_npf },
    Application { name: "router", program: "router",   sizes: &[4, 1_000, 606_138],             quick: &[],               build: functions::router },
    Application { name: "ids_router", program: "ids_router", sizes: &[4, 1_000, 606_138],           quick: &[],               build: functions::ids_router },
    Application { name: "forwarder", program: "forwarder", sizes: &[1],                            quick: &[],               build: functions::forwarder },
    Application { name: "chatserver", program: "chatserver", sizes: &[256, 1 << 20, 1 << 24],       quick: &[],               build: chat::chatserver },
    Application { name: "chatserver64", program: "chatserver", sizes: &[256, 1 << 20],              quick: &[],               build: chat::chatserver64 },
    Application { name: "nat", program: "nat",      sizes: &[1_000, 65_536, 1 << 20],        quick: &[],               build: stateful::nat },
    Application { name: "l2fwd_crypto", program: "l2fwd_crypto", sizes: &[64, 1024],                  quick: &[],               build: stateful::l2fwd_crypto },
    Application { name: "firewall_acl", program: "firewall", sizes: &[100, 1_000],                quick: &[],               build: rules::firewall },
    Application { name: "workpackage", program: "workpackage", sizes: &[1],                          quick: &[],               build: functions::workpackage },
];

/// What a case is measured with.
pub fn of(case: &Case, options: &Options) -> Result<Workload, Failure> {
    let mut workload = match application(&case.application) {
        Some(application) => {
            let wishes =
                Wishes { rib: options.rib.clone(), dropped: case.experiment.dropped(), mix: case.experiment.mix() };
            let is_of_routers = matches!(case.experiment, Experiment::Join | Experiment::Ablation);
            let build = match (is_of_routers, case.experiment, application.name) {
                (true, _, "l2l3acl") => bridges::l2l3acl_of_routers,
                (false, Experiment::BatchSize, "l2fwd") => bridges::l2fwd_of_one_lookup,
                (_, _, _) => application.build,
            };
            if let Experiment::Trie(percent) = case.experiment {
                routers::ipv6fwd_of_sites(case.size, percent)?
            } else {
                build(case.size, &wishes)?
            }
        }
        None => programs::workload(Path::new(&case.application), case.size, options),
    };
    if options.traffic.iter().any(|name| *name == Traffic::Imix.to_string()) {
        workload.buffers = LONG_BUFFERS;
    }
    if let Some(packets) = programs::packets(case, options)? {
        programs::replay(&mut workload, &packets, case)?;
    }
    Ok(workload)
}

pub fn application(name: &str) -> Option<&'static Application> {
    APPLICATIONS.iter().find(|application| application.name == name)
}

/// The program of a case.
pub fn source_of(name: &str, options: &Options) -> Source {
    match application(name) {
        Some(Application { program, .. }) => Source::plain(&source(program)),
        None => programs::source(Path::new(name), options),
    }
}

/// The program of an application.
fn source(name: &str) -> PathBuf {
    PathBuf::from(format!("apps/{name}/{name}.p4"))
}

fn trace_length(entries: u64) -> u64 {
    (4 * entries).clamp(SHORTEST_TRACE, LONGEST_TRACE)
}

/// What the port reads of a trace with so many bytes of its own to a packet.
fn stream(entries: u64, packet_bytes: u32) -> Stream {
    Stream { bytes: trace_length(entries) * u64::from(packet_bytes), packet_bytes }
}

/// A trace of one frame, in the lengths of the traffic; `own` fills in bytes `from..from + count` of each packet.
fn trace(
    frame: Vec<u8>,
    packets: (u64, Traffic),
    at: (u32, u32),
    mut own: impl FnMut(&mut Random, &mut [u8]),
) -> Trace {
    mixed_trace(&[frame], packets, at, |random, bytes| {
        own(random, bytes);
        0
    })
}

/// A trace of several frames: `own` also gives the frame that a packet is.
fn mixed_trace(
    kinds: &[Vec<u8>],
    (packets, traffic): (u64, Traffic),
    (from, count): (u32, u32),
    mut own: impl FnMut(&mut Random, &mut [u8]) -> usize,
) -> Trace {
    let mut random = Random::new(SEED);
    let mut overlays = vec![0; (packets * u64::from(count)) as usize];
    let chosen: Vec<usize> = overlays.chunks_exact_mut(count as usize).map(|bytes| own(&mut random, bytes)).collect();
    let in_lengths = |kind: &Vec<u8>| {
        traffic.lengths(kind.len()).into_iter().map(|length| frames::padded(kind.clone(), length)).collect()
    };
    let of_kinds: Vec<Vec<Vec<u8>>> = kinds.iter().map(in_lengths).collect();
    let lengths = of_kinds[0].len();
    let frames = of_kinds.concat();
    let mut order = Vec::new();
    if frames.len() > 1 {
        let mut length = || if lengths > 1 { random.below(lengths as u64) as usize } else { 0 };
        order.extend(chosen.into_iter().map(|kind| (kind * lengths + length()) as u32));
    }
    let frames = frames.iter().map(|frame| (APPLICATION_PORT as u16, frame.as_slice()));
    Trace::new(frames).overlay(order, from, count, &overlays)
}

/// Numbers that entries and traces are made of, shared by the closures that make them.
type Shared<T> = Arc<Vec<T>>;
