//! `bacus bench control`: what the control plane does in a second while the data plane is at full load.
//!
//! The switch, with the in-memory port, and its client are in this process; between them are the server and a connection of loopback.

mod arrivals;
mod client;
mod connections;
mod durable;
mod entries;
mod exchange;
mod facts;
mod flips;
mod joined;
mod load;
mod report;
mod rig;
mod stream;
mod tables;
mod tracing;
mod traffic;

use crate::run::live::Built;
use crate::run::port_numbers::PortNumbers;
use crate::run::pushed::{self, Builder};
use crate::run::spread::Spreading;
use clap::builder::PossibleValuesParser;
use client::{Client, Ids};
use driver::failure::Failure;
use driver::options::{Native, Passes, Source};
use driver::stdout::print_line;
use hlir::plan::Descriptor;
use load::Load;
use report::Records;
use rig::Rig;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the switch runs.
pub const PROGRAM: &str = include_str!("program.p4");

pub const EXAMPLES: &str = "\
Examples:
  bacus bench control                                 all measurements, in about two minutes
  bacus bench control --only writes,packet-in         two of them
  bacus bench control --only replacements --seconds 300 --out out/control
  bacus bench control --only trace --program router.p4 --packets router.stf
The data plane takes a core for itself. Rows without a goal break down the row above.";

#[derive(clap::Args)]
pub struct Arguments {
    /// Only these measurements
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = PossibleValuesParser::new(NAMES))]
    only: Vec<String>,
    /// Duration of open-ended measurements
    #[arg(long, value_name = "N", default_value = "5", value_parser = driver::flags::seconds)]
    seconds: f64,
    /// Entries of the large tables
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1000..=2_000_000))]
    entries: u32,
    /// Also write the numbers into this directory, as a table and as JSON, and the picture of `arrivals`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Save the state of the measures `durable` and `restart` below this directory, whose disk counts [default: temporary files]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// The program of the measures `trace`, `traffic` and `arrivals`, in place of their own
    #[arg(long, value_name = "FILE", requires = "packets")]
    program: Option<PathBuf>,
    /// Its entries and packets, as STF
    #[arg(long, value_name = "FILE", requires = "program")]
    packets: Option<PathBuf>,
    #[command(flatten)]
    native: Native,
}

/// A name for `--only`, and what finds the numbers.
type Measure = (&'static str, fn(&Bench, &mut Records) -> Result<(), Failure>);

const MEASURES: [Measure; 20] = [
    ("inserts", tables::inserts),
    ("writes", tables::writes),
    ("durable", |bench, records| durable::durable(bench.given(), records)),
    ("restart", |bench, records| durable::restart(bench.given(), records)),
    ("read", tables::read),
    ("full", tables::full),
    ("routes", tables::routes),
    ("replacements", tables::replacements),
    ("atomic", exchange::atomic),
    ("exchange", exchange::exchange),
    ("joined", joined::joined),
    ("facts", |bench, records| facts::facts(&bench.built.program, bench.entries, bench.seconds, records)),
    ("flips", |bench, records| {
        let load = (&bench.ids, bench.few());
        flips::flips(&bench.rig()?, builder(&bench.native), load, bench.seconds, records)
    }),
    ("arrivals", |bench, records| {
        arrivals::arrivals(&bench.loaded()?, builder(&bench.native), bench.seconds, bench.out.as_deref(), records)
    }),
    ("packet-in", stream::packet_in),
    ("learning", stream::learning),
    ("resume", stream::resume),
    ("connections", connections::connections),
    ("trace", |bench, records| tracing::trace(&bench.loaded()?, bench.seconds, records)),
    ("traffic", |bench, records| traffic::traffic(&bench.loaded()?, &builder(&bench.native), bench.seconds, records)),
];

const NAMES: [&str; MEASURES.len()] = {
    let mut names = [""; MEASURES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = MEASURES[at].0;
        at += 1;
    }
    names
};

/// What all measures begin with.
pub struct Bench {
    built: Built,
    native: Native,
    ids: Ids,
    entries: u32,
    seconds: Duration,
    state: Option<PathBuf>,
    /// Where pictures go.
    out: Option<PathBuf>,
    loads: Option<Load>,
}

impl Bench {
    fn rig(&self) -> Result<Rig, Failure> {
        Rig::new(&self.built, builder(&self.native))
    }

    /// A switch with the user's program and packets, or with packets that find one of the hosts.
    fn loaded(&self) -> Result<Rig, Failure> {
        if let Some(load) = &self.loads {
            return load.rig(builder(&self.native));
        }
        let rig = self.rig()?;
        Client::of(&rig)?.write_all(entries::hosts(&self.ids, 0, self.few()))?;
        rig.load(entries::to_hosts(self.few()));
        Ok(rig)
    }

    fn given(&self) -> durable::Given<'_> {
        durable::Given {
            built: &self.built,
            builder: builder(&self.native),
            ids: &self.ids,
            entries: self.entries,
            seconds: self.seconds,
            state: self.state.as_deref(),
        }
    }

    /// Hosts whose packets are the load where the table is not what is measured.
    fn few(&self) -> u32 {
        self.entries.min(1000)
    }
}

pub fn builder(native: &Native) -> Builder {
    Builder {
        source: Source::plain(Path::new("-")),
        passes: Passes::default(),
        native: native.clone(),
        burst: None,
        descriptor: Descriptor::Own,
        given: None,
        ports: PortNumbers::new(0..=rig::CPU_PORT),
        spreading: Spreading { workers: 1, by: None },
        is_quick_first: false,
    }
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    // A crowd of controllers has a connection each.
    runtime::open_files::raise_limit();
    let built = pushed::build(&builder(&arguments.native), PROGRAM.as_bytes(), None);
    let built = built.map_err(|refusal| Failure::environment(refusal.to_string()))?;
    let bench = Bench {
        ids: Ids::of(&built.program),
        built,
        native: arguments.native.clone(),
        entries: arguments.entries,
        seconds: Duration::from_secs_f64(arguments.seconds),
        state: arguments.state.clone(),
        out: arguments.out.clone(),
        loads: arguments
            .program
            .clone()
            .zip(arguments.packets.clone())
            .map(|(program, packets)| Load { program, packets }),
    };
    let is_wanted = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    let mut all = Vec::new();
    for (name, measure) in MEASURES.into_iter().filter(|(name, _)| is_wanted(name)) {
        let mut records = Records::of(name);
        measure(&bench, &mut records)?;
        records.all.iter().for_each(|record| print_line!("{}", report::line(record)));
        all.extend(records.all);
    }
    arguments.out.as_deref().map_or(Ok(()), |folder| report::write(folder, &all))
}
