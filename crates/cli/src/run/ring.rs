//! The ring between a port and its device: how a device is told its size, and which size this machine's file says.
//!
//! Most devices have descriptors, whose number DPDK passes on. Some have a ring of their own, made as their arguments say when they are opened.

use super::ports::{Device, Port};
use opt::inputs::machine;

impl Port {
    /// What a ring was calibrated for, and holds for again: a driver, or one NIC.
    pub fn kind(&self) -> String {
        match &self.device {
            Device::Captures { .. } => "net_pcap".to_string(),
            Device::Interface(_) => "net_af_packet".to_string(),
            Device::Devargs(devargs) => {
                let name = devargs.split(',').next().unwrap_or(devargs);
                let name =
                    if self.nic().is_some() { name } else { name.trim_end_matches(|c: char| c.is_ascii_digit()) };
                name.to_string()
            }
        }
    }

    /// The argument by which the device is told the size of its ring, if it has one and the user has not given it.
    fn ring_argument(&self, ring: u32) -> Option<String> {
        let (name, argument) = match self.kind().as_str() {
            "net_af_packet" => ("framecnt", format!("framecnt={ring}")),
            "net_memif" => ("rsize", format!("rsize={}", ring.ilog2())),
            _ => return None,
        };
        let is_given = |devargs: &str| devargs.split(',').any(|argument| argument.split('=').next() == Some(name));
        match &self.device {
            Device::Devargs(devargs) if is_given(devargs) => None,
            Device::Devargs(_) | Device::Interface(_) | Device::Captures { .. } => Some(argument),
        }
    }

    /// Whether the device's arguments may say how large its ring is.
    pub fn has_ring_argument(&self) -> bool {
        self.ring_argument(1).is_some()
    }

    /// The device as DPDK names it, with a ring of this size if its arguments can say so.
    pub fn devargs_with(&self, ring: Option<u32>) -> String {
        match ring.and_then(|ring| self.ring_argument(ring)) {
            Some(argument) => format!("{},{argument}", self.devargs()),
            None => self.devargs(),
        }
    }

    /// The ring that was measured on such a port of this machine.
    pub fn calibrated_ring(&self, measured: &machine::Port) -> Option<u32> {
        measured.ring.filter(|_| measured.device.as_deref() == Some(self.kind().as_str()))
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
        assert_eq!(kinds, ["net_af_packet", "net_memif", "0000:01:00.0", "net_pcap"]);
    }

    #[test]
    fn rings_that_arguments_make_are_set_by_them_unless_the_user_did() {
        let devargs = |text: &str| port(text).devargs_with(Some(256));
        assert_eq!(devargs("3=veth0"), "net_af_packet3,iface=veth0,framecnt=256");
        assert_eq!(devargs("0=net_memif0,role=client"), "net_memif0,role=client,rsize=8");
        assert_eq!(devargs("0=net_memif0,rsize=10"), "net_memif0,rsize=10");
        assert_eq!(devargs("0=0000:01:00.0"), "0000:01:00.0");
        assert_eq!(port("3=veth0").devargs_with(None), "net_af_packet3,iface=veth0");
        assert!(port("0=veth0").has_ring_argument() && !port("0=net_null0").has_ring_argument());
    }

    #[test]
    fn a_ring_holds_for_ports_of_the_same_kind() {
        let measured =
            machine::Port { device: Some("net_memif".to_string()), ring: Some(256), ..machine::Port::default() };
        assert_eq!(port("0=net_memif3").calibrated_ring(&measured), Some(256));
        assert_eq!(port("0=veth0").calibrated_ring(&measured), None);
        let in_memory = machine::Port { ring: Some(64), ..machine::Port::default() };
        assert_eq!(port("0=net_memif3").calibrated_ring(&in_memory), None);
    }
}
