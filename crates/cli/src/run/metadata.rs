//! The metadata model of a switch: whose descriptor its packets have, and with it the port layer (docs/ports.md).

use clap::ValueEnum;
use driver::compile;
use driver::failure::Failure;
use driver::files;
use driver::options::{Native, Passes};
use driver::ports::{Device, Port};
use hlir::plan::Descriptor;
use std::path::PathBuf;

/// What becomes of the driver's descriptor of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Metadata {
    /// The program reads the mbuf that the driver of DPDK has written
    Overlaying,
    /// The port fills the program's own descriptor; without DPDK, on interfaces of the kernel
    Exchange,
}

impl Metadata {
    pub fn of(descriptor: Descriptor) -> Metadata {
        match descriptor {
            Descriptor::Own => Metadata::Exchange,
            Descriptor::Mbuf => Metadata::Overlaying,
        }
    }

    pub fn descriptor(self) -> Descriptor {
        match self {
            Metadata::Overlaying => Descriptor::Mbuf,
            Metadata::Exchange => Descriptor::Own,
        }
    }

    /// The port layer.
    pub fn layer(self, native: &Native) -> Result<PathBuf, Failure> {
        let (compiler, cache) = (compile::compiler(native)?, files::cache()?);
        Ok(match self {
            Metadata::Overlaying => compiler.dpdk_layer(&cache)?,
            Metadata::Exchange => compiler.native_layer(&cache)?,
        })
    }
}

/// The model that the flags name, or the plan. Otherwise exchange, if each port can have it.
pub fn metadata(
    given: Option<Metadata>,
    passes: &Passes,
    (ports, late): (&[Port], &[Port]),
) -> Result<Metadata, Failure> {
    let chosen = match (given, planned(passes)?) {
        (Some(given), _) => given,
        (None, Some(descriptor)) => Metadata::of(descriptor),
        (None, None) if !ports.is_empty() && ports.iter().chain(late).all(is_interface) => Metadata::Exchange,
        (None, None) => Metadata::Overlaying,
    };
    match ports.iter().find(|port| chosen == Metadata::Exchange && !is_interface(port)) {
        Some(port) => Err(Failure::input(format!(
            "port {} ({}) is a device of DPDK, and exchange has ports on interfaces of the kernel alone\n\
             hint: --metadata overlaying runs all ports with DPDK",
            port.number,
            port.name()
        ))),
        None => Ok(chosen),
    }
}

/// The descriptor that a plan of the command line has.
fn planned(passes: &Passes) -> Result<Option<Descriptor>, Failure> {
    Ok(passes.read_plans()?.iter().find_map(|file| file.descriptor()))
}

fn is_interface(port: &Port) -> bool {
    match port.device {
        Device::Interface(..) => true,
        Device::Captures { .. } | Device::Devargs(_) => false,
    }
}
