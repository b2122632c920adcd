//! The metadata model of a switch: whose descriptor its packets have, and with it the port layer (docs/ports.md).

use clap::ValueEnum;
use driver::compile;
use driver::failure::Failure;
use driver::files;
use driver::options::Native;
use driver::plan_file::PlanFiles;
use driver::ports::{Device, Port};
use hlir::plan::Descriptor;
use std::path::PathBuf;

/// What becomes of the driver's descriptor of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Metadata {
    /// What the driver of DPDK has written to an mbuf is copied into the program's own descriptor, and back
    Copying,
    /// The program reads the mbuf that the driver of DPDK has written
    Overlaying,
    /// The port fills the program's own descriptor; without DPDK, on interfaces of the kernel
    Exchange,
}

impl Metadata {
    /// The model by which these ports have packets of a plan's descriptor.
    fn of(descriptor: Descriptor, is_without_dpdk: bool) -> Metadata {
        match descriptor {
            Descriptor::Own if is_without_dpdk => Metadata::Exchange,
            Descriptor::Own => Metadata::Copying,
            Descriptor::Mbuf => Metadata::Overlaying,
        }
    }

    pub fn descriptor(self) -> Descriptor {
        match self {
            Metadata::Overlaying => Descriptor::Mbuf,
            Metadata::Copying | Metadata::Exchange => Descriptor::Own,
        }
    }

    /// The port layer.
    pub fn layer(self, native: &Native) -> Result<PathBuf, Failure> {
        let (compiler, cache) = (compile::compiler(native)?, files::cache()?);
        Ok(match self {
            Metadata::Copying | Metadata::Overlaying => compiler.dpdk_layer(&cache)?,
            Metadata::Exchange => compiler.native_layer(&cache)?,
        })
    }
}

/// The model that the flags name, or the plan. Otherwise exchange, if each port can have it; and for a switch that begins without any, if DPDK is missing.
pub fn metadata(
    given: Option<Metadata>,
    plans: &PlanFiles,
    (ports, late): (&[Port], &[Port]),
) -> Result<Metadata, Failure> {
    let is_late = ports.is_empty() && late.is_empty();
    let lacks_dpdk = is_late && runtime::dpdk_version().is_none();
    let is_without_dpdk = lacks_dpdk || !ports.is_empty() && ports.iter().chain(late).all(is_native);
    let chosen = match (given, plans.iter().find_map(|file| file.descriptor())) {
        (Some(given), _) => given,
        (None, Some(descriptor)) => Metadata::of(descriptor, is_without_dpdk),
        (None, None) if is_without_dpdk => Metadata::Exchange,
        (None, None) => Metadata::Overlaying,
    };
    if lacks_dpdk && chosen == Metadata::Exchange {
        eprintln!(
            "note: ports that are added can be interfaces of the kernel alone, since DPDK is missing (apt-get install libdpdk-dev)"
        );
    }
    if let Some(port) =
        ports.iter().find(|port| chosen != Metadata::Exchange && matches!(port.device, Device::Memif(_)))
    {
        return Err(Failure::input(format!(
            "port {} ({}) needs a switch without DPDK: exchange, with all ports memif or on interfaces of the kernel\n\
             hint: net_memif{0},socket=PATH,socket-abstract=no,role=server is DPDK's own",
            port.number,
            port.name()
        )));
    }
    match ports.iter().find(|port| chosen == Metadata::Exchange && !is_native(port)) {
        Some(port) => Err(Failure::input(format!(
            "port {} ({}) is a device of DPDK, and exchange has memif and interfaces of the kernel alone\n\
             hint: --metadata overlaying, or copying, runs all ports with DPDK",
            port.number,
            port.name()
        ))),
        None => Ok(chosen),
    }
}

/// Whether the layer without DPDK has such ports.
fn is_native(port: &Port) -> bool {
    match port.device {
        Device::Interface(..) | Device::Memif(_) => true,
        Device::Captures { .. } | Device::Devargs(_) => false,
    }
}
