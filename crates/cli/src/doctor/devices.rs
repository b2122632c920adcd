//! NICs: drivers, IOMMU, and the checksums that the host leaves to its interfaces.

use super::finding::{Finding, State};
use super::host::Host;
use runtime::offload;

const PCI: &str = "sys/bus/pci/devices";
/// The kernel's drivers of these share the NIC with DPDK: nothing has to be bound.
const SHARED: [&str; 3] = ["mlx4_core", "mlx5_core", "mana"];
/// Drivers that hand a NIC to user space.
const FOR_USERS: [&str; 3] = ["vfio-pci", "uio_pci_generic", "igb_uio"];

/// A NIC on the PCI bus.
#[derive(Debug, PartialEq, Eq)]
struct Nic {
    address: String,
    driver: Option<String>,
    interfaces: Vec<String>,
}

pub fn check(host: &Host) -> Vec<Finding> {
    let nics = nics(host);
    let mut findings = vec![drivers(host, &nics), iommu(host, &nics)];
    findings.push(checksums(&interfaces(host)));
    findings
}

/// Network controllers have class 0x02 (PCI Code and ID Assignment).
fn nics(host: &Host) -> Vec<Nic> {
    let is_nic =
        |address: &String| host.text(&format!("{PCI}/{address}/class")).is_some_and(|class| class.starts_with("0x02"));
    let addresses = host.names(PCI).into_iter().filter(is_nic);
    addresses
        .map(|address| {
            let driver = host.target(&format!("{PCI}/{address}/driver"));
            let mut interfaces = host.names(&format!("{PCI}/{address}/net"));
            // A virtio device lies between.
            for below in host.names(&format!("{PCI}/{address}")).iter().filter(|name| name.starts_with("virtio")) {
                interfaces.extend(host.names(&format!("{PCI}/{address}/{below}/net")));
            }
            Nic { address, driver, interfaces }
        })
        .collect()
}

fn drivers(host: &Host, nics: &[Nic]) -> Finding {
    const OF: &str = "NIC drivers";
    if nics.is_empty() {
        return Finding::new(OF, State::Note, "no NIC on the PCI bus: ports are interfaces of the kernel, or captures");
    }
    let described: Vec<String> = nics
        .iter()
        .map(|nic| {
            format!("{} {} {}", nic.address, nic.driver.as_deref().unwrap_or("no driver"), nic.interfaces.join(" "))
        })
        .collect();
    let text = described.join("; ");
    let by_kernel = |nic: &&Nic| {
        nic.driver.as_deref().is_none_or(|driver| !FOR_USERS.contains(&driver) && !SHARED.contains(&driver))
    };
    // The interface of the default route carries the user's own session.
    let free: Vec<&Nic> = nics.iter().filter(by_kernel).collect();
    let routes = host.text("proc/net/route").unwrap_or_default();
    let in_use = |nic: &&&Nic| {
        nic.interfaces.iter().any(|name| routes.lines().any(|line| line.split_whitespace().next() == Some(name)))
    };
    let unused: Vec<&&Nic> = free.iter().filter(|nic| !in_use(nic)).collect();
    let Some(nic) = unused.first() else {
        let state = if free.is_empty() { State::Ok } else { State::Note };
        return Finding::new(OF, state, text);
    };
    let load = if host.exists("sys/bus/pci/drivers/vfio-pci") { "" } else { "modprobe vfio-pci && " };
    Finding::new(OF, State::Slower, text)
        .costs("frames pass the kernel: some microseconds each, instead of some ten nanoseconds with a driver of DPDK")
        .mended(format!("sudo sh -c '{load}dpdk-devbind.py --bind=vfio-pci {}'", nic.address))
}

fn iommu(host: &Host, nics: &[Nic]) -> Finding {
    const OF: &str = "IOMMU";
    const UNSAFE: &str = "sys/module/vfio/parameters/enable_unsafe_noiommu_mode";
    let groups = host.names("sys/kernel/iommu_groups").len();
    if groups > 0 {
        return Finding::ok(OF, format!("{groups} groups"));
    }
    if host.text(UNSAFE).as_deref() == Some("Y") {
        return Finding::ok(OF, "none; vfio works without, so a NIC may write to any memory");
    }
    let state = if nics.is_empty() { State::Note } else { State::Missing };
    Finding::new(OF, state, "none, or switched off")
        .costs("vfio-pci opens no NIC; ports of the kernel need none")
        .mended(format!(
            "add `intel_iommu=on` or `amd_iommu=on` to the kernel's command line; in a virtual machine: echo 1 | sudo tee /{UNSAFE}"
        ))
}

/// Interfaces of the kernel, with whether the host leaves checksums to them.
fn interfaces(host: &Host) -> Vec<(String, bool)> {
    let names = host.names("sys/class/net").into_iter().filter(|name| name != "lo");
    names.filter_map(|name| offload::checksums(&name).map(|left| (name, left))).collect()
}

fn checksums(interfaces: &[(String, bool)]) -> Finding {
    const OF: &str = "checksum offload";
    let left: Vec<&str> = interfaces.iter().filter(|(_, left)| *left).map(|(name, _)| name.as_str()).collect();
    let Some(first) = left.first() else {
        return Finding::ok(OF, "no interface has checksums left to it");
    };
    let text = format!("the host leaves checksums to {}: ports N={first} complete them", left.join(", "));
    Finding::new(OF, State::Note, text)
        .costs("with net_af_packet or net_af_xdp instead, frames of this host's own programs have wrong checksums")
        .mended(format!("ethtool --offload {first} tx off, on the host's end of each link, for those ports alone"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::host::tests::host;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A host with two NICs: one that the default route takes, one free; and a device that is no NIC.
    fn with_nics(name: &str) -> Host {
        let route = "Iface\tDestination\neth0\t00000000\n";
        let files = [
            ("sys/bus/pci/devices/0000:00:03.0/class", "0x020000\n"),
            ("sys/bus/pci/devices/0000:00:03.0/virtio1/net/eth0/mtu", "1500\n"),
            ("sys/bus/pci/devices/0000:01:00.0/class", "0x020000\n"),
            ("sys/bus/pci/devices/0000:01:00.0/net/ens1/mtu", "1500\n"),
            ("sys/bus/pci/devices/0000:02:00.0/class", "0x010802\n"),
            ("proc/net/route", route),
        ];
        let host = host(name, &files);
        for (nic, driver) in [("0000:00:03.0", "virtio-pci"), ("0000:01:00.0", "ice")] {
            let link = host.path(&format!("{PCI}/{nic}/driver"));
            symlink(format!("../../../../bus/pci/drivers/{driver}"), link).expect("a link can be made");
        }
        host
    }

    #[test]
    fn a_free_nic_is_to_be_bound_and_that_of_a_route_is_not() {
        let host = with_nics("nics");
        let found = drivers(&host, &nics(&host));
        assert_eq!(found.text, "0000:00:03.0 virtio-pci eth0; 0000:01:00.0 ice ens1");
        let mend = found.mend.expect("there is a way");
        assert_eq!(mend, "sudo sh -c 'modprobe vfio-pci && dpdk-devbind.py --bind=vfio-pci 0000:01:00.0'");
        fs::remove_dir_all(host.path(&format!("{PCI}/0000:01:00.0"))).expect("the NIC is there");
        let found = drivers(&host, &nics(&host));
        assert_eq!((found.state, found.mend), (State::Note, None));
        assert_eq!(drivers(&host, &[]).state, State::Note);
    }

    #[test]
    fn an_iommu_has_groups() {
        let some = [Nic { address: "0000:01:00.0".to_string(), driver: None, interfaces: Vec::new() }];
        assert_eq!(iommu(&host("iommu", &[("sys/kernel/iommu_groups/0/type", "DMA")]), &some).state, State::Ok);
        assert_eq!(iommu(&host("no-iommu", &[]), &some).state, State::Missing);
        assert_eq!(iommu(&host("no-iommu", &[]), &[]).state, State::Note);
        let noiommu = [("sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "Y\n")];
        assert_eq!(iommu(&host("unsafe", &noiommu), &some).state, State::Ok);
    }

    #[test]
    fn interfaces_with_offload_are_named() {
        let found = checksums(&[("eth0".to_string(), true), ("eth1".to_string(), false)]);
        assert!(found.text.contains("checksums to eth0:") && found.state == State::Note, "{found:?}");
        assert_eq!(checksums(&[("eth1".to_string(), false)]).state, State::Ok);
    }
}
