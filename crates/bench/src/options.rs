//! What is to be measured, and how long.

use crate::experiment::Case;
use driver::entries::Origin;
use driver::options::{Native, Warnings};
use std::path::PathBuf;

/// freeRtr's data plane in C, as a program to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Where its files are
    pub native: PathBuf,
    /// The messages of its controller, one per line
    pub messages: PathBuf,
}

/// What is asked of the bench.
#[derive(Clone, Default)]
pub struct Options {
    /// Applications to measure, and programs of users
    pub applications: Vec<String>,
    /// What the tables of a program hold
    pub entries: Vec<Origin>,
    /// Packets to measure with, instead of those that are drawn from an application's entries
    pub packets: Option<PathBuf>,
    /// How a program is read
    pub include: Vec<PathBuf>,
    pub define: Vec<String>,
    pub undefine: Vec<String>,
    pub warnings: Warnings,
    /// Also write records (JSON), table and picture (SVG) into this directory
    pub out: Option<PathBuf>,
    /// Packets to a burst; plans take the burst that they have chosen
    pub bursts: Vec<u32>,
    /// Entries of the tables that grow
    pub sizes: Vec<u64>,
    /// How packets are drawn from the entries
    pub traffic: Vec<String>,
    /// Processes to a case
    pub processes: Option<u32>,
    /// A few cases, one process each
    pub quick: bool,
    /// Only these variants, beside the plain program
    pub only: Vec<String>,
    /// Also measure this plan, under the file's name
    pub plan: Vec<PathBuf>,
    /// Plan for the machine of this file of `bacus calibrate`; where it has narrower vectors than this one, code and peers have no wider ones
    pub machine: Option<PathBuf>,
    /// IPv4 routes, `ADDRESS/LENGTH NEXTHOP` a line; may be compressed by gzip
    pub rib: Option<PathBuf>,
    /// DPDK's source tree, of the version that is installed: SWX programs run as the C that DPDK writes for them
    pub dpdk: Option<PathBuf>,
    /// What to measure
    pub experiment: Vec<String>,
    /// Begin no further process of a case after so many minutes; the first of each is always measured
    pub minutes: u32,
    /// Measure a grid of plans around the one that the model picks, instead of peers, and print how far the pick is from the best
    pub sweep: bool,
    /// Measure nothing: predict the plans of an earlier sweep again (its sweep.json), and print how good model and pick are now
    pub again: Option<PathBuf>,
    /// Measure one case, in this process
    pub case: Option<Case>,
    /// Measure the programs of this list that are below the directories
    pub scoreboard: Option<PathBuf>,
    pub directories: Vec<PathBuf>,
    /// Measure freeRtr's router.p4 and its C, which are below the directories
    pub duel: bool,
    /// Of a case of the duel
    pub beside: Option<Beside>,
    pub native: Native,
}
