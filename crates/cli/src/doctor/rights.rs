//! What this user may do: capabilities, locked memory, devices.

use super::finding::{Finding, State};
use super::host::Host;

/// Capabilities, their bits (`capabilities(7)`), and what needs them.
const NEEDED: [(&str, u32, &str); 2] = [
    ("CAP_NET_RAW", 13, "interfaces of the kernel as ports"),
    ("CAP_NET_ADMIN", 12, "promiscuous mode, tap devices, link states set by gNMI"),
];
const FOR_NICS: [(&str, u32); 2] = [("CAP_IPC_LOCK", 14), ("CAP_SYS_RAWIO", 17)];

pub fn check(host: &Host) -> Vec<Finding> {
    let held = host.field("proc/self/status", "CapEff").and_then(|text| u64::from_str_radix(&text, 16).ok());
    let held = held.unwrap_or(0);
    let has = |bit: u32| held >> bit & 1 == 1;
    let mut findings: Vec<Finding> = NEEDED
        .iter()
        .map(|&(name, bit, needed)| match has(bit) {
            true => Finding::ok(name, format!("held: {needed}")),
            false => Finding::new(name, State::Missing, format!("not held, which is needed for {needed}"))
                .costs("captures and devices such as net_memif0 work")
                .mended(format!("sudo setcap cap_net_raw,cap_net_admin+ep {}", own_file())),
        })
        .collect();
    findings.push(for_nics(FOR_NICS.iter().filter(|(_, bit)| !has(*bit)).map(|(name, _)| *name).collect()));
    findings
}

fn own_file() -> String {
    std::env::current_exe().map_or("bacus".to_string(), |path| path.display().to_string())
}

fn for_nics(missing: Vec<&str>) -> Finding {
    const OF: &str = "rights for NICs by DPDK";
    if missing.is_empty() {
        return Finding::ok(OF, "memory may be locked for DMA");
    }
    Finding::new(OF, State::Note, format!("{} not held", missing.join(", ")))
        .costs("NICs with a driver for user space may not open; ports of the kernel and captures need neither")
        .mended("run the switch as root")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::host::tests::host;

    #[test]
    fn each_capability_has_its_bit() {
        let states = |bits: &str| -> Vec<State> {
            let host = host("rights", &[("proc/self/status", &format!("Name:\tx\nCapEff:\t{bits}\nSeccomp:\t0\n"))]);
            check(&host).iter().map(|finding| finding.state).collect()
        };
        assert_eq!(states("000001ffffffffff"), [State::Ok, State::Ok, State::Ok]);
        assert_eq!(states("0000000000002000"), [State::Ok, State::Missing, State::Note]);
        assert_eq!(states("0000000000000000"), [State::Missing, State::Missing, State::Note]);
    }
}
