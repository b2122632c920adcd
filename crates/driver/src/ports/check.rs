//! What is refused of a set of ports before any of them is opened.

use super::{Device, Port};
use crate::failure::Failure;
use runtime::{Connected, PortSettings};
use std::path::{Path, PathBuf};

pub fn check_ports(ports: &[Port]) -> Result<(), Failure> {
    for (at, port) in ports.iter().enumerate() {
        if ports[..at].iter().any(|other| other.number == port.number) {
            return Err(Failure::input(format!("port {} is given twice", port.number)));
        }
        port.check()?;
    }
    for (at, port) in ports.iter().enumerate() {
        ports[..at].iter().try_for_each(|other| check_devices(other, port))?;
        ports.iter().try_for_each(|other| check_captures(port, other))?;
    }
    Ok(())
}

impl Port {
    /// Whether the device can join a switch that runs, whose DPDK was started with these settings.
    pub fn check_addable(&self, settings: &PortSettings) -> Result<(), Failure> {
        let number = self.number;
        settings.record.as_ref().map_or(Ok(()), |_| self.check_recordable())?;
        if let Some(nic) = self.nic() {
            return Err(Failure::input(format!(
                "port {number}: DPDK takes NICs when it starts, so `{nic}` cannot be added to a switch that runs\n\
                 hint: start the switch with --port {number}={nic}"
            )));
        }
        if self.reads_buffers() && !settings.reads_buffers && !settings.has_huge_pages() {
            return Err(Failure::input(format!(
                "port {number}: `{}` reads packets in place, but the packet buffers of this switch cross pages\n\
                 hint: start the switch with this port, or set huge pages aside before",
                self.name()
            )));
        }
        Ok(())
    }
}

impl Port {
    /// Whether what comes and goes can be recorded: packet sockets see it.
    pub fn check_recordable(&self) -> Result<(), Failure> {
        match &self.device {
            Device::Interface(_, Connected::Any | Connected::PacketSockets) => Ok(()),
            Device::Interface(_, Connected::Xdp) | Device::Captures { .. } | Device::Memif(_) | Device::Devargs(_) => {
                Err(Failure::input(format!(
                    "port {} ({}) cannot be recorded: that is for interfaces of the kernel by packet sockets\n\
                     hint: write --port {0}=INTERFACE, or leave --record out",
                    self.number,
                    self.name()
                )))
            }
        }
    }
}

/// Two ports on one device would each take some of its packets.
fn check_devices(one: &Port, other: &Port) -> Result<(), Failure> {
    let (Some(device), Some(same)) = (device(one), device(other)) else { return Ok(()) };
    if device != same {
        return Ok(());
    }
    Err(Failure::input(format!(
        "ports {} and {} are both on `{device}`\nhint: give each port a device of its own",
        one.number, other.number
    )))
}

/// What distinguishes a device: the interface, or the first word of DPDK's arguments.
fn device(port: &Port) -> Option<&str> {
    port.interface().or(match &port.device {
        Device::Captures { .. } | Device::Interface(..) | Device::Memif(_) => None,
        Device::Devargs(devargs) => devargs.split(',').next(),
    })
}

/// The output of one port must not be the input or the output of any.
fn check_captures(port: &Port, other: &Port) -> Result<(), Failure> {
    let Some(output) = port.output().and_then(file) else { return Ok(()) };
    let refused = |role: &str| {
        Err(Failure::input(format!(
            "{} is the output of port {} and the {role} of port {}: it would be overwritten\nhint: name another file for one of them",
            output.display(),
            port.number,
            other.number
        )))
    };
    if port.number != other.number && other.output().and_then(file).as_ref() == Some(&output) {
        return refused("output");
    }
    match &other.device {
        Device::Captures { input, .. } if file(input).as_ref() == Some(&output) => refused("input"),
        Device::Captures { .. } | Device::Interface(..) | Device::Memif(_) | Device::Devargs(_) => Ok(()),
    }
}

/// One name for each file, whatever the way to it. What is no file, as `/dev/null`, may be written by any number of ports.
fn file(path: &Path) -> Option<PathBuf> {
    if path.as_os_str().is_empty() || path.metadata().is_ok_and(|there| !there.is_file()) {
        return None;
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let named = || Some(directory.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(ports: &[&str]) -> Option<String> {
        let ports: Vec<Port> = ports.iter().map(|text| text.parse().expect("the port is right")).collect();
        match check_ports(&ports) {
            Ok(()) => None,
            Err(Failure::Input(text)) => Some(text),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_device_is_that_of_one_port() {
        let both = |ports: &[&str]| refused(ports).is_some_and(|text| text.contains("are both on `"));
        assert!(both(&["1=lo", "2=lo"]));
        assert!(both(&["1=lo", "2=net_af_packet0,iface=lo"]));
        assert!(both(&["1=net_ring0", "2=net_ring0,nodeaction=x"]));
        assert!(!both(&["1=net_tap0,iface=t", "2=net_tap1,iface=u"]));
        assert!(!both(&["1=net_memif0,role=client", "2=net_memif1,role=client"]));
    }

    #[test]
    fn a_capture_is_written_by_one_port_and_read_by_none() {
        let directory = std::env::temp_dir().join(format!("bacus-check-{}", std::process::id()));
        std::fs::create_dir_all(directory.join("below")).expect("a directory can be made");
        let (out, input) = (directory.join("out.pcap"), directory.join("in.pcap"));
        std::fs::write(&input, crate::pcap::bytes_of([].iter())).expect("a file can be written");
        let around = directory.join("below").join("..").join("out.pcap");
        let port = |number: u32, input: &Path, output: &Path| {
            format!("{number}=pcap:{},{}", input.display(), output.display())
        };
        let none = Path::new("");
        let both = refused(&[&port(1, none, &out), &port(2, none, &around)]).expect("it is refused");
        assert!(both.contains("the output of port 1 and the output of port 2"), "{both}");
        for reader in [1, 2] {
            let ports = [port(1, if reader == 1 { &input } else { none }, &input), port(2, &input, none)];
            let message = refused(&[&ports[0], &ports[1]]).expect("it is refused");
            assert!(message.contains(&format!("the output of port 1 and the input of port {reader}")), "{message}");
        }
        let null = Path::new("/dev/null");
        assert_eq!(refused(&[&port(1, &input, null), &port(2, &input, null), &port(3, none, &out)]), None);
        std::fs::remove_dir_all(&directory).expect("the directory is there");
    }
}
