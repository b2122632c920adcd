//! The ring between a port and its device: how a device gets its size, and which size this machine's file has.
//!
//! Most devices have descriptors, whose number DPDK passes on. Some have a ring of their own, made from their arguments when they are opened.

use super::{Device, Port};
use crate::failure::Failure;
use opt::inputs::machine;
use runtime::PortLayer;

/// Fewest descriptors or slots of a ring, whatever was measured. A calibration finds how many keep the worker busy, with traffic that never bursts; a TCP
/// sender gives its whole window at once, and the worker may have to wait for its core meanwhile.
const LEAST_RING: u32 = 1024;

impl Port {
    /// What a ring was calibrated for, and holds for again: a driver, or one NIC.
    pub fn kind(&self) -> String {
        match &self.device {
            Device::Captures { .. } => "net_pcap".to_string(),
            Device::Interface(..) => "interface".to_string(),
            Device::Memif(_) => "memif".to_string(),
            Device::Devargs(devargs) => {
                let name = devargs.split(',').next().unwrap_or(devargs);
                let name =
                    if self.nic().is_some() { name } else { name.trim_end_matches(|c: char| c.is_ascii_digit()) };
                name.to_string()
            }
        }
    }

    /// The argument by which the device gets the size of its ring, if it has one and the user has not given it.
    fn ring_argument(&self, ring: u32) -> Option<String> {
        let (name, argument) = match self.kind().as_str() {
            "net_af_packet" => ("framecnt", format!("framecnt={ring}")),
            "net_memif" => ("rsize", format!("rsize={}", ring.ilog2())),
            _ => return None,
        };
        let is_given = |devargs: &str| devargs.split(',').any(|argument| argument.split('=').next() == Some(name));
        match &self.device {
            Device::Devargs(devargs) if is_given(devargs) => None,
            Device::Devargs(_) | Device::Interface(..) | Device::Memif(_) | Device::Captures { .. } => Some(argument),
        }
    }

    /// Whether the ring's size is given when the device is opened.
    pub fn has_ring_argument(&self) -> bool {
        matches!(self.device, Device::Interface(..) | Device::Memif(_)) || self.ring_argument(1).is_some()
    }

    /// The device as DPDK names it, with a ring of this size if its arguments can have it.
    fn devargs_with(&self, ring: Option<u32>) -> String {
        match ring.and_then(|ring| self.ring_argument(ring)) {
            Some(argument) => format!("{},{argument}", self.devargs()),
            None => self.devargs(),
        }
    }

    /// Opens the device, with a ring of this size if one can be chosen. A sentence on how it is connected, if there was a choice.
    pub fn open(&self, layer: &PortLayer, ring: Option<u32>) -> Result<Option<String>, Failure> {
        let opened = match &self.device {
            Device::Interface(name, by) => layer.open_interface(self.number, name, *by, ring),
            Device::Captures { .. } | Device::Memif(_) | Device::Devargs(_) => {
                layer.open(self.number, &self.devargs_with(ring), ring).map(|()| None)
            }
        };
        opened.map_err(|error| self.unopened(&error))
    }

    /// The ring that was measured on such a port of this machine, or one that holds a burst of its hosts where that is more.
    pub fn calibrated_ring(&self, measured: &machine::Port) -> Option<u32> {
        let of_this_kind = measured.ring.filter(|_| measured.device.as_deref() == Some(self.kind().as_str()));
        of_this_kind.map(|ring| ring.max(LEAST_RING))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(text: &str) -> Port {
        text.parse().expect("the port is right")
    }

    #[test]
    fn a_port_is_of_the_kind_of_its_driver_or_it_is_a_nic() {
        let kinds =
            ["0=veth0", "0=net_memif12,role=client", "0=0000:01:00.0", "0=pcap:a,b"].map(|text| port(text).kind());
        assert_eq!(kinds, ["interface", "net_memif", "0000:01:00.0", "net_pcap"]);
    }

    #[test]
    fn rings_that_arguments_make_are_set_by_them_unless_the_user_did() {
        let devargs = |text: &str| port(text).devargs_with(Some(256));
        assert_eq!(devargs("3=net_af_packet0,iface=veth0"), "net_af_packet0,iface=veth0,framecnt=256");
        assert_eq!(devargs("3=veth0"), "veth0");
        assert_eq!(devargs("0=net_memif0,role=client"), "net_memif0,role=client,rsize=8");
        assert_eq!(devargs("0=net_memif0,rsize=10"), "net_memif0,rsize=10");
        assert_eq!(devargs("0=0000:01:00.0"), "0000:01:00.0");
        assert_eq!(port("3=net_memif0").devargs_with(None), "net_memif0");
        assert!(port("0=veth0").has_ring_argument() && !port("0=net_null0").has_ring_argument());
    }

    #[test]
    fn a_ring_holds_for_ports_of_the_same_kind_and_always_holds_a_burst() {
        let measured =
            machine::Port { device: Some("net_memif".to_string()), ring: Some(2048), ..machine::Port::default() };
        assert_eq!(port("0=net_memif3").calibrated_ring(&measured), Some(2048));
        let few = machine::Port { ring: Some(64), ..measured.clone() };
        assert_eq!(port("0=net_memif3").calibrated_ring(&few), Some(LEAST_RING));
        assert_eq!(port("0=veth0").calibrated_ring(&measured), None);
        let in_memory = machine::Port { ring: Some(64), ..machine::Port::default() };
        assert_eq!(port("0=net_memif3").calibrated_ring(&in_memory), None);
    }
}
