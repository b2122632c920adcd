//! `--port N=SPEC`: the device for a port of the program.

mod check;
mod claim;
mod leftovers;
mod ring;

use crate::failure::Failure;
use crate::files;
use crate::packets::{self, Packets};
use crate::pcap;
pub use check::check_ports;
pub use claim::{Claim, claim_interfaces};
use nix::net::if_::{if_nameindex, if_nametoindex};
use runtime::{Connected, PortCounts, PortError, PortSettings};
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Bytes before each packet of a capture.
const RECORD_HEADER: u64 = 16;
/// Bytes of the packets that a capture gives, with their repetitions: they are made in memory, and kept in a file.
const MOST_REPLAYED: u64 = 4_000_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub number: u16,
    pub device: Device,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// Packets come from one capture, or from the `packet` lines of an STF file, and go to another capture. An empty name: nothing comes, or
    /// what goes is thrown away.
    Captures { input: PathBuf, output: PathBuf },
    /// A network interface of the kernel.
    Interface(String, Connected),
    /// Another process by shared memory, without DPDK: the socket, and arguments.
    Memif(String),
    /// Anything else that DPDK knows: a PCI address, or devargs.
    Devargs(String),
}

impl FromStr for Port {
    type Err = String;

    fn from_str(text: &str) -> Result<Port, String> {
        let (number, spec) = text.split_once('=').ok_or("write N=DEVICE, as 0=veth0 or 1=pcap:in.pcap,out.pcap")?;
        let number = number.parse::<u16>().map_err(|_| "ports have the numbers 0 to 65535")?;
        let device = match spec.strip_prefix("pcap:") {
            Some(files) => {
                let (input, output) = files.split_once(',').unwrap_or((files, ""));
                if output.contains(',') {
                    return Err("names of captures may not contain commas: DPDK cannot open such files".to_string());
                }
                Device::Captures { input: input.into(), output: output.into() }
            }
            None if spec.starts_with("xdp:") => interface(&spec[4..], Connected::Xdp),
            None if spec.starts_with("packet:") => interface(&spec[7..], Connected::PacketSockets),
            None if spec.starts_with("memif:") => Device::Memif(spec[6..].to_string()),
            None if spec.is_empty() => return Err("a device must be named".to_string()),
            None if !is_known(spec) => {
                let kind = spec.split(':').next().unwrap_or(spec);
                return Err(format!("`{kind}:` is no kind of device: {DEVICES}"));
            }
            None if spec.starts_with("net_") || spec.contains([',', ':', '.']) => Device::Devargs(spec.to_string()),
            None => interface(spec, Connected::Any),
        };
        Ok(Port { number, device })
    }
}

fn interface(name: &str, by: Connected) -> Device {
    Device::Interface(name.to_string(), by)
}

const DEVICES: &str = "write pcap:IN,OUT for captures, veth0, xdp:veth0 or packet:veth0 for an interface, \
                       memif:/run/x.sock,role=server for another process, 0000:01:00.0 for a NIC, net_tap0,iface=tap0 for another device of DPDK";

/// Whether the part before the first colon may be a part of a device's name for DPDK: of a PCI address, or one of its buses.
fn is_known(spec: &str) -> bool {
    const BUSES: [&str; 7] = ["pci", "vdev", "auxiliary", "vmbus", "fslmc", "dpaa_bus", "platform"];
    let name = spec.split(',').next().unwrap_or(spec);
    let Some((first, _)) = name.split_once(':') else { return true };
    let is_address = !first.is_empty() && first.chars().all(|c| c.is_ascii_hexdigit());
    is_address || BUSES.contains(&first) || first.starts_with("net_")
}

impl Port {
    /// What is known about the device before DPDK tries.
    pub fn check(&self) -> Result<(), Failure> {
        match &self.device {
            Device::Captures { input, output } => {
                self.frames(input)?;
                let directory = output.parent().filter(|parent| !parent.as_os_str().is_empty());
                if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
                    let message = format!("{}: there is no directory {}", output.display(), directory.display());
                    return Err(Failure::input(message));
                }
                if !output.as_os_str().is_empty() {
                    files::check_writable(output)?;
                }
                takes_captures(output)
            }
            Device::Interface(name, _) if if_nametoindex(name.as_str()).is_err() => {
                let names = interfaces().join(", ");
                Err(Failure::input(format!(
                    "port {}: there is no interface `{name}`\nhint: interfaces are {names}; a capture is pcap:IN,OUT",
                    self.number
                )))
            }
            Device::Interface(..) | Device::Memif(_) | Device::Devargs(_) => Ok(()),
        }
    }

    /// The device as the user names it.
    pub fn name(&self) -> String {
        match &self.device {
            Device::Captures { input, output } if output.as_os_str().is_empty() => format!("pcap:{}", input.display()),
            Device::Captures { input, output } => format!("pcap:{},{}", input.display(), output.display()),
            Device::Interface(name, Connected::PacketSockets) => format!("packet:{name}"),
            Device::Interface(name, Connected::Xdp) => format!("xdp:{name}"),
            Device::Memif(socket) => format!("memif:{socket}"),
            Device::Interface(name, Connected::Any) | Device::Devargs(name) => name.clone(),
        }
    }

    /// The name of the device alone: of the interface, or DPDK's own.
    pub fn device_name(&self) -> String {
        match &self.device {
            Device::Captures { .. } => format!("net_pcap{}", self.number),
            Device::Interface(name, _) => name.clone(),
            Device::Memif(socket) => format!("memif:{}", socket.split(',').next().unwrap_or(socket)),
            Device::Devargs(devargs) => devargs.split(',').next().unwrap_or(devargs).to_string(),
        }
    }

    /// Whether this names the device, with its arguments or without.
    pub fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.device_name() == name
    }

    /// The device as it is opened: DPDK's arguments, or the interface's name. What is captured goes to [`Port::unfinished`] until the end.
    pub fn devargs(&self) -> String {
        let number = self.number;
        match &self.device {
            Device::Captures { .. } => {
                let output = self.unfinished().map_or(String::new(), |path| format!(",tx_pcap={}", path.display()));
                format!("net_pcap{number},rx_pcap={}{output}", self.replayed().display())
            }
            Device::Interface(name, _) => name.clone(),
            Device::Memif(_) => self.name(),
            Device::Devargs(devargs) => devargs.clone(),
        }
    }

    /// The packets that come in.
    fn frames(&self, input: &Path) -> Result<Vec<Vec<u8>>, Failure> {
        if input.as_os_str().is_empty() {
            return Ok(Vec::new());
        }
        Ok(match packets::read(input)? {
            Packets::Capture(frames) => frames,
            Packets::Stf(frames) => {
                let frames = frames.into_iter().filter(|frame| frame.port == u32::from(self.number));
                frames.map(|frame| frame.bytes).collect()
            }
        })
    }

    /// Where DPDK reads what comes in: a capture with every packet as often as it is to come.
    fn replayed(&self) -> PathBuf {
        std::env::temp_dir().join(format!("bacus-{}-port{}.pcap", std::process::id(), self.number))
    }

    /// Lays out what DPDK is to read, and removes what a switch that was killed has left of the same.
    pub fn prepare(&self, repeat: u32) -> Result<(), Failure> {
        let Device::Captures { input, .. } = &self.device else { return Ok(()) };
        leftovers::remove(&std::env::temp_dir(), "bacus-", &format!("-port{}.pcap", self.number));
        if let Some((directory, name)) = self.output().and_then(|output| output.parent().zip(output.file_name())) {
            leftovers::remove(directory, &format!(".{}.", name.to_string_lossy()), "");
        }
        let frames = self.frames(input)?;
        self.check_size(&frames, repeat)?;
        let bytes = pcap::bytes_of(frames.iter().cycle().take(frames.len() * repeat as usize));
        fs::write(self.replayed(), bytes).map_err(|error| Failure::unwritable(&self.replayed(), &error))
    }

    /// Packets are laid out as often as they come. Those that come once are as many as the capture has.
    fn check_size(&self, frames: &[Vec<u8>], repeat: u32) -> Result<(), Failure> {
        let once = frames.iter().map(|frame| frame.len() as u64 + RECORD_HEADER).sum::<u64>();
        let all = once.saturating_mul(u64::from(repeat));
        if repeat == 1 || all <= MOST_REPLAYED {
            return Ok(());
        }
        Err(Failure::input(format!(
            "port {}: {repeat} times these {} packets are {:.1} GB, of {:.1} at most: give --repeat at most {}",
            self.number,
            frames.len(),
            all as f64 / 1e9,
            MOST_REPLAYED as f64 / 1e9,
            (MOST_REPLAYED / once).max(1)
        )))
    }

    /// Whether packets of this port come to an end.
    pub fn ends(&self) -> bool {
        matches!(self.device, Device::Captures { .. })
    }

    /// The interface of the kernel by which the device receives, if it does so.
    fn interface(&self) -> Option<&str> {
        match &self.device {
            Device::Captures { .. } | Device::Memif(_) => None,
            Device::Interface(name, _) => Some(name),
            Device::Devargs(devargs) => {
                let of_packets = devargs.starts_with("net_af_packet") || devargs.starts_with("net_af_xdp");
                let named = devargs.split(',').find_map(|argument| argument.strip_prefix("iface="));
                named.filter(|_| of_packets)
            }
        }
    }

    /// The PCI address, if the device is a NIC.
    pub fn nic(&self) -> Option<String> {
        let Device::Devargs(devargs) = &self.device else { return None };
        devargs.split(',').next().filter(|name| name.contains(':')).map(str::to_string)
    }

    /// Whether the device reads packets where they lie. Of virtual devices only AF_XDP may: the kernel hands its memory to the NIC behind it, if that NIC's
    /// driver can. It may also be within another device's arguments.
    pub(super) fn reads_buffers(&self) -> bool {
        self.nic().is_some() || matches!(&self.device, Device::Devargs(devargs) if devargs.contains("net_af_xdp"))
    }

    /// Why there is no switch: DPDK did not open the device.
    pub fn unopened(&self, error: &PortError) -> Failure {
        Failure::environment(format!("port {} cannot be opened: {error}{}", self.number, self.hint()))
    }

    /// The way out then.
    fn hint(&self) -> &'static str {
        match &self.device {
            Device::Captures { .. } => "",
            Device::Interface(_, Connected::Xdp) => "\nhint: without `xdp:` the port has packet sockets",
            Device::Interface(..) => "\nhint: interfaces need the right to open packet sockets (root, or CAP_NET_RAW)",
            Device::Memif(_) => {
                "\nhint: as memif:/run/x.sock,id=0,role=server; the client of the other process has the same socket and id"
            }
            Device::Devargs(_) if self.nic().is_some() => {
                "\nhint: is the address right, and the NIC bound to vfio-pci? `dpdk-devbind.py --status` shows it"
            }
            Device::Devargs(_) => {
                "\nhint: is the driver installed, and are its arguments right? As net_tap0,iface=tap0"
            }
        }
    }

    pub fn output(&self) -> Option<&Path> {
        match &self.device {
            Device::Captures { output, .. } if !output.as_os_str().is_empty() => Some(output),
            Device::Captures { .. } | Device::Interface(..) | Device::Memif(_) | Device::Devargs(_) => None,
        }
    }

    /// Where the capture is written while packets still come: in its own place, if what is there is no file, as `/dev/null` is not.
    pub fn unfinished(&self) -> Option<PathBuf> {
        let output = self.output()?;
        if fs::metadata(output).is_ok_and(|there| !there.is_file()) {
            return Some(output.to_path_buf());
        }
        let name = output.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Some(output.with_file_name(format!(".{name}.{}", std::process::id())))
    }

    /// Gives the capture its name, if all that the port has sent is in it.
    pub fn finish(&self, counts: Option<&PortCounts>) -> Result<(), Failure> {
        drop(fs::remove_file(self.replayed()));
        match (self.unfinished(), self.output()) {
            (Some(from), Some(to)) if from != to => {
                let bytes = fs::metadata(&from).map_err(|error| Failure::unwritable(to, &error))?.len();
                let whole = counts.map_or(0, capture_bytes);
                if bytes < whole {
                    drop(fs::remove_file(from));
                    return Err(Failure::environment(format!(
                        "{}: only {bytes} of {whole} bytes could be written: is there room on the disk?",
                        to.display()
                    )));
                }
                fs::rename(from, to).map_err(|error| Failure::unwritable(to, &error))
            }
            (Some(_), _) | (None, _) => Ok(()),
        }
    }

    /// Leaves nothing half written.
    pub fn abandon(&self) {
        drop(fs::remove_file(self.replayed()));
        if let Some(path) = self.unfinished().filter(|path| Some(path.as_path()) != self.output()) {
            drop(fs::remove_file(path));
        }
    }
}

/// Whether a device that a capture is to be written to takes anything: for `/dev/full` DPDK would not report it.
fn takes_captures(output: &Path) -> Result<(), Failure> {
    let is_device = fs::metadata(output).is_ok_and(|there| there.file_type().is_char_device());
    if !is_device {
        return Ok(());
    }
    fs::write(output, pcap::bytes_of([])).map_err(|error| Failure::unwritable(output, &error))
}

/// Bytes of a capture of what a port has sent: a header, and one for each packet.
fn capture_bytes(counts: &PortCounts) -> u64 {
    24 + 16 * counts.sent + counts.sent_bytes
}

/// Announces to DPDK, before it starts, the devices that will be opened.
pub fn announce(ports: &[Port], settings: &mut PortSettings) {
    settings.nics = ports.iter().filter_map(Port::nic).collect();
    settings.reads_buffers = ports.iter().any(Port::reads_buffers);
    settings.interfaces = ports.iter().filter(|port| matches!(port.device, Device::Interface(..))).count() as u32;
}

/// Names of the interfaces in the network namespace of this process. /sys/class/net has those of the namespace in which /sys was mounted.
fn interfaces() -> Vec<String> {
    let listed = if_nameindex();
    let mut names: Vec<String> =
        listed.iter().flatten().map(|interface| interface.name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_distinguished() {
        let device = |text: &str| text.parse::<Port>().map(|port| port.device);
        let captures = Device::Captures { input: "a.pcap".into(), output: "b.pcap".into() };
        assert_eq!(device("0=pcap:a.pcap,b.pcap"), Ok(captures));
        assert_eq!(device("3=veth0"), Ok(interface("veth0", Connected::Any)));
        assert_eq!(device("3=net_tap0"), Ok(Device::Devargs("net_tap0".into())));
        assert_eq!(device("3=0000:01:00.0"), Ok(Device::Devargs("0000:01:00.0".into())));
        for unknown in ["0=PCAP:a,b", "0=foo:bar", "0=:a"] {
            assert!(device(unknown).unwrap_err().contains("is no kind of device: write pcap:IN,OUT"), "{unknown}");
        }
        assert_eq!(device("0=vdev:net_null0"), Ok(Device::Devargs("vdev:net_null0".into())));
        assert_eq!(device("0=01:00.0"), Ok(Device::Devargs("01:00.0".into())));
        assert!(device("veth0").is_err() && device("65536=veth0").is_err() && device("1=").is_err());
    }

    #[test]
    fn dpdk_is_told_of_devices_that_read_buffers() {
        let announced = |texts: &[&str]| {
            let ports: Vec<Port> = texts.iter().map(|text| text.parse().unwrap()).collect();
            let mut settings = PortSettings::of_machine(1024, 2048);
            announce(&ports, &mut settings);
            (settings.nics.len(), settings.reads_buffers)
        };
        assert_eq!(announced(&["0=pcap:a.pcap,", "1=veth0", "2=net_tap0,iface=tap0", "3=net_memif0"]), (0, false));
        assert_eq!(announced(&["0=pcap:a.pcap,", "1=0000:01:00.0,mprq_en=1"]), (1, true));
        assert_eq!(announced(&["0=net_ring0", "1=net_af_xdp0,iface=eth0"]), (0, true));
        assert_eq!(announced(&["0=net_failsafe0,dev(net_af_xdp0,iface=eth0)"]), (0, true));
    }

    #[test]
    fn captures_are_written_beside_their_place() {
        let port: Port = "2=pcap:in.pcap,out/o.pcap".parse().unwrap();
        let devargs = port.devargs();
        assert!(devargs.starts_with("net_pcap2,rx_pcap=/") && devargs.contains(",tx_pcap=out/.o.pcap."), "{devargs}");
    }
}
