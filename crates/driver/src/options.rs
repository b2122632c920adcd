//! Flags that mean the same in every command.

use crate::entries::Origin;
use crate::failure::Failure;
use crate::flags;
use crate::package;
use crate::plan_file::PlanFiles;
use clap::{Args, ValueEnum};
use hlir::facts::Assumption;
use hlir::plan::{Descriptor, TablePlan};
use opt::inputs::{Cuts, Occupancy, Ports, Profile};
use runtime::{Effort, Limit, Symbols};
use std::path::{Path, PathBuf};

/// A program and how its text is read.
#[derive(Args, Clone, Debug)]
pub struct Source {
    /// The program: P4_16 (.p4), BMv2's JSON (.json) or HLIR (.hlir)
    #[arg(value_name = "PROGRAM")]
    pub program: PathBuf,
    /// Search included files here, before the bundled architectures
    #[arg(short = 'I', value_name = "DIR", help_heading = "Preprocessing")]
    pub include: Vec<PathBuf>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = flags::definition, help_heading = "Preprocessing")]
    pub define: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME", value_parser = flags::macro_name, help_heading = "Preprocessing")]
    pub undefine: Vec<String>,
    #[command(flatten)]
    pub warnings: Warnings,
}

impl Source {
    /// A program that needs no flags.
    pub fn plain(program: &Path) -> Source {
        let (include, define, undefine) = (Vec::new(), Vec::new(), Vec::new());
        Source { program: program.to_path_buf(), include, define, undefine, warnings: Warnings::default() }
    }

    /// Directories that are not there would be ignored: what they were to have may be found elsewhere.
    pub fn check(&self) -> Result<(), Failure> {
        self.include.iter().try_for_each(|folder| flags::directory(folder).map_err(Failure::input))
    }
}

/// What becomes of warnings.
#[derive(Args, Clone, Debug, Default)]
pub struct Warnings {
    /// Suppress warnings [of this kind]
    #[arg(long = "Wdisable", value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = flags::warning_kind)]
    #[arg(help_heading = "Warnings")]
    pub disable: Vec<String>,
    /// Report warnings [of this kind] as information
    #[arg(long = "Winfo", value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = flags::warning_kind)]
    #[arg(help_heading = "Warnings")]
    pub info: Vec<String>,
    /// Report warnings [of this kind] as warnings, overriding flags without a kind
    #[arg(long = "Wwarn", value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = flags::warning_kind)]
    #[arg(help_heading = "Warnings")]
    pub warn: Vec<String>,
    /// Report warnings [of this kind] as errors
    #[arg(long = "Werror", value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = flags::warning_kind)]
    #[arg(help_heading = "Warnings")]
    pub error: Vec<String>,
}

impl Warnings {
    /// No warnings of any kind.
    pub fn none() -> Warnings {
        Warnings { disable: vec![String::new()], ..Warnings::default() }
    }
}

/// Which passes of the optimizer run.
#[derive(Args, Clone, Debug, Default)]
pub struct Passes {
    /// Run only these passes of the optimizer (none: `--passes ''`)
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = flags::pass, conflicts_with = "without")]
    #[arg(help_heading = "Optimizing")]
    pub passes: Option<Vec<String>>,
    /// Run all passes except these
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = flags::pass, help_heading = "Optimizing")]
    pub without: Vec<String>,
    /// Use this plan instead of planning; what it omits is compiled packet by packet
    #[arg(long, value_name = "FILE", help_heading = "Optimizing")]
    pub plan: Option<PathBuf>,
    /// Fix the decisions of this plan file and plan the rest; one that is impossible is refused
    #[arg(long, value_name = "FILE", conflicts_with = "plan", help_heading = "Optimizing")]
    pub pin: Option<PathBuf>,
    /// Plan for the machine of this machine file (of `bacus calibrate`); vectors are at most as wide as its own [default:
    /// machines/HOST.toml, else the last calibration in any directory, else a default model]
    #[arg(long, value_name = "FILE", help_heading = "Optimizing")]
    pub machine: Option<PathBuf>,
    /// Plan for the traffic of this profile (written by --profile-out), instead of an estimate
    #[arg(long, value_name = "FILE", help_heading = "Optimizing")]
    pub profile: Option<PathBuf>,
    /// The contents of the files of --plan and --pin, where the command has read them already: what comes by a pipe can be read once.
    #[arg(skip)]
    pub files: Option<PlanFiles>,
    /// Whether `entries` are all that there are, so that other tables are empty: where nothing is given, tables count as unknown otherwise.
    #[arg(skip)]
    pub entries_are_all: bool,
    /// Specialise for the contents that `entries` bring: the code is run with these alone.
    #[arg(skip)]
    pub is_specialised: bool,
    /// Further facts to specialise for, where a command knows what the tables hold.
    #[arg(skip)]
    pub facts: Vec<Assumption>,
    /// What the tables hold, where a command knows: in the place of what `entries` bring.
    #[arg(skip)]
    pub occupancy: Option<Occupancy>,
    /// Structures that tables have whatever the planners would choose: those of code that this code takes the place of.
    #[arg(skip)]
    pub structures: Vec<TablePlan>,
    /// Whether code has stages wherever it can, where a command measures it beside other code.
    #[arg(skip)]
    pub cuts: Cuts,
    /// The packet descriptor, where a command's ports or its flags define it.
    #[arg(skip)]
    pub descriptor: Option<Descriptor>,
    /// Packets to a burst, where a flag defines it.
    #[arg(skip)]
    pub burst: Option<u32>,
    /// Packets are counted at each edge of the program: only what is given is joined, since a joint table hides the edges between its sources.
    #[arg(skip)]
    pub is_counted: bool,
    /// The result is only shown: a plan in the program's file is shown as well, even if it is wrong.
    #[arg(skip)]
    pub is_shown: bool,
    /// What the tables will hold, where a command knows.
    #[arg(skip)]
    pub entries: Vec<Origin>,
    /// What a run has counted, where the user gives no profile.
    #[arg(skip)]
    pub counted: Option<Profile>,
    /// What the ports can do.
    #[arg(skip)]
    pub ports: Ports,
}

impl Passes {
    /// Leaves packets to run one by one.
    pub fn run_packet_by_packet(&mut self) {
        if let opt::Selection::Only(names) = self.selection().packet_by_packet() {
            (self.passes, self.without) = (Some(names), Vec::new());
        }
    }

    /// The passes that the flags select.
    pub fn selection(&self) -> opt::Selection {
        match &self.passes {
            Some(names) => opt::Selection::Only(names.iter().filter(|name| !name.is_empty()).cloned().collect()),
            None if self.without.is_empty() => opt::Selection::All,
            None => opt::Selection::Without(self.without.clone()),
        }
    }

    /// The plans that the flags name, unless they were read before.
    pub fn read_plans(&self) -> Result<PlanFiles, Failure> {
        match &self.files {
            Some(files) => Ok(files.clone()),
            None => PlanFiles::read(self.plan.as_deref(), self.pin.as_deref()),
        }
    }
}

/// How native code is made.
#[derive(Args, Clone, Debug, Default)]
pub struct Native {
    /// The C compiler [default: gcc, else clang]
    #[arg(long, value_name = "CC", help_heading = "Native code")]
    pub cc: Option<String>,
    /// C code of user externs: sources and headers (.c, .h) to include, objects and libraries (.o, .a, .so) to link, or the libraries of a
    /// package that pkg-config knows; repeatable
    #[arg(long = "extern", value_name = "FILE|pkg:NAME", help_heading = "Native code")]
    pub externs: Vec<PathBuf>,
    /// Compile with the address and undefined-behaviour sanitizers
    #[arg(long, help_heading = "Native code")]
    pub sanitize: bool,
    /// The line information of objects.
    #[arg(skip)]
    pub symbols: Symbols,
    /// What the compiler spends on optimizing.
    #[arg(skip)]
    pub effort: Effort,
    /// Bytes of the widest vectors, where the machine's file has them.
    #[arg(skip)]
    pub vector_bytes: Option<u32>,
    /// When the compiler is ended early, where code runs that goes on without the result.
    #[arg(skip)]
    pub limit: Option<Limit>,
}

impl Native {
    /// Whether all of the user's code is there.
    pub fn check(&self) -> Result<(), Failure> {
        self.extern_files().map(drop)
    }

    /// The files of the user's code. They are there, whether the program calls it or not.
    pub fn extern_files(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut files = Vec::new();
        for written in &self.externs {
            match package::name(written) {
                Some(name) => files.extend(package::libraries(name)?),
                None => files.push(checked(written)?),
            }
        }
        Ok(files)
    }
}

fn checked(file: &Path) -> Result<PathBuf, Failure> {
    match std::fs::metadata(file) {
        Ok(found) if found.is_file() => Ok(file.to_path_buf()),
        Ok(_) => {
            let expected = "expected a file (.c, .h, .o, .a or .so) or pkg:NAME";
            Err(Failure::input(format!("--extern {}: {expected}", file.display())))
        }
        Err(error) => Err(Failure::unreadable(file, &error)),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineKind {
    /// The interpreter of HLIR, the reference
    Interp,
    /// Compiled C on in-memory ports
    Native,
}

/// How a packet is represented in native code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DescriptorKind {
    /// Address and length, without DPDK
    Own,
    /// DPDK's `struct rte_mbuf`
    Mbuf,
}

impl DescriptorKind {
    pub fn plan(self) -> hlir::plan::Descriptor {
        match self {
            DescriptorKind::Own => hlir::plan::Descriptor::Own,
            DescriptorKind::Mbuf => hlir::plan::Descriptor::Mbuf,
        }
    }
}
