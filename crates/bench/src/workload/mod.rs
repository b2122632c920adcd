//! What each application is measured with: entries, and traffic drawn from them.
//!
//! A trace has at least four packets an entry (at most 16 million): a short one makes any table small. Each packet is a frame of the
//! application with some bytes of its own laid over it.

mod bridges;
mod frames;
mod functions;
mod labels;
mod names;
mod prefixes;
mod routers;

use super::entry::Entry;
use super::traffic::{SEED, Traffic};
use driver::failure::Failure;
use driver::random::Random;
use opt::inputs::Stream;
use runtime::Trace;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SHORTEST_TRACE: u64 = 1 << 16;
const LONGEST_TRACE: u64 = 1 << 24;

/// Takes entries one by one.
pub type Sink<'a> = dyn FnMut(&Entry<'_>) -> Result<(), Failure> + 'a;

/// Gives all entries of a workload to a sink.
pub type Source = dyn Fn(&mut Sink<'_>) -> Result<(), Failure>;

/// What an application is measured with at one size.
pub struct Workload {
    pub source: &'static str,
    /// Entries of the tables that grow.
    pub size: u64,
    pub entries: Box<Source>,
    pub trace: Box<dyn Fn(Traffic) -> Trace>,
    /// What a packet must read at least, however good the tables: lines, and the bytes that they lie in.
    pub lines: Vec<(f64, u64)>,
    /// What the port reads of its trace.
    pub stream: Stream,
}

/// Options of a workload beside its size.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// A file of IPv4 routes, `PREFIX/LENGTH`, white space, any word that stands for a next hop.
    pub rib: Option<PathBuf>,
    /// Percent of the packets that are to be dropped, for three reasons.
    pub dropped: u32,
}

/// Says what is wrong with a file of routes.
pub fn check_routes(rib: &Path) -> Result<(), Failure> {
    prefixes::read(rib, 0).map(drop)
}

/// An application and the sizes that it is measured at.
pub struct Application {
    pub name: &'static str,
    pub sizes: &'static [u64],
    /// Those of a quick run.
    pub quick: &'static [u64],
    pub build: fn(u64, &Wishes) -> Result<Workload, Failure>,
}

#[rustfmt::skip]
pub const APPLICATIONS: &[Application] = &[
    Application { name: "l2fwd",    sizes: &[256, 65_536, 1 << 20, 1 << 24], quick: &[256, 1 << 20],   build: bridges::l2fwd },
    Application { name: "ipv4fwd",  sizes: &[4, 1_000, 100_000, 606_138],    quick: &[4, 100_000],     build: routers::ipv4fwd },
    Application { name: "ipv6fwd",  sizes: &[1_000, 200_000],                quick: &[200_000],        build: routers::ipv6fwd },
    Application { name: "l2l3acl",  sizes: &[65_536, 1 << 20],               quick: &[65_536],         build: bridges::l2l3acl },
    Application { name: "mpls",     sizes: &[256],                           quick: &[],               build: routers::mpls },
    Application { name: "firewall", sizes: &[16, 100, 1_000],                quick: &[100],            build: routers::firewall },
    Application { name: "ndn",      sizes: &[1_000, 1 << 20, 10_000_000],    quick: &[],               build: names::ndn },
    Application { name: "l3switch", sizes: &[1_000, 100_000],                quick: &[],               build: functions::l3switch },
    Application { name: "mpls_npf", sizes: &[256, 65_536],                   quick: &[],               build: labels::mpls_npf },
    Application { name: "router",   sizes: &[4, 1_000, 606_138],             quick: &[],               build: functions::router },
    Application { name: "ids_router", sizes: &[4, 1_000, 606_138],           quick: &[],               build: functions::ids_router },
    Application { name: "forwarder", sizes: &[1],                            quick: &[],               build: functions::forwarder },
    Application { name: "workpackage", sizes: &[1],                          quick: &[],               build: functions::workpackage },
];

pub fn application(name: &str) -> Option<&'static Application> {
    APPLICATIONS.iter().find(|application| application.name == name)
}

/// The program of an application.
pub fn source(name: &str) -> PathBuf {
    PathBuf::from(format!("apps/{name}/{name}.p4"))
}

fn trace_length(entries: u64) -> u64 {
    (4 * entries).clamp(SHORTEST_TRACE, LONGEST_TRACE)
}

/// What the port reads of a trace with so many bytes of its own to a packet.
fn stream(entries: u64, packet_bytes: u32) -> Stream {
    Stream { bytes: trace_length(entries) * u64::from(packet_bytes), packet_bytes }
}

/// A trace of one frame; `own` fills in bytes `from..from + count` of each packet.
fn trace(
    frame: Vec<u8>,
    packets: u64,
    (from, count): (u32, u32),
    mut own: impl FnMut(&mut Random, &mut [u8]),
) -> Trace {
    let mut random = Random::new(SEED);
    let mut overlays = vec![0; (packets * u64::from(count)) as usize];
    overlays.chunks_exact_mut(count as usize).for_each(|bytes| own(&mut random, bytes));
    Trace::new([(1u16, frame.as_slice())]).overlay(Vec::new(), from, count, &overlays)
}

/// Numbers that entries and traces are made of, shared by the closures that make them.
type Shared<T> = Arc<Vec<T>>;
