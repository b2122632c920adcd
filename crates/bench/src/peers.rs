//! Programs written by hand, to compare with: `bench/peers`.

use runtime::Descriptor;
use std::ops::RangeInclusive;

/// One of them, for one application.
#[derive(Debug)]
pub struct Source {
    pub name: &'static str,
    pub application: &'static str,
    pub file: &'static str,
    pub flags: &'static [&'static str],
    pub descriptor: Descriptor,
    /// The numbers of entries that it is meant for.
    pub entries: RangeInclusive<u64>,
    /// A program for DPDK's SWX pipeline, which the file runs.
    pub specification: Option<&'static str>,
}

impl Source {
    const fn new(name: &'static str, application: &'static str, file: &'static str, descriptor: Descriptor) -> Source {
        Source { name, application, file, flags: &[], descriptor, entries: 0..=u64::MAX, specification: None }
    }

    const fn flags(self, flags: &'static [&'static str]) -> Source {
        Source { flags, ..self }
    }

    const fn specification(self, file: &'static str) -> Source {
        Source { specification: Some(file), ..self }
    }

    /// For fewer entries than this.
    const fn below(self, entries: u64) -> Source {
        Source { entries: 0..=entries - 1, ..self }
    }

    /// For these entries or more.
    const fn from(self, entries: u64) -> Source {
        Source { entries: entries..=u64::MAX, ..self }
    }
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// All files, by name.
        pub const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../../bench/peers/", $name)))),*];
    };
}

files! {
    "echo.c", "freertr.c", "ipv4_find.h", "nat_hash.c", "ndn_hash.c", "router_dpdk.c",
    "exact.h", "flight.h", "dpdk.h", "ipv4fwd.h", "ipv4fwd_dpdk.c", "ipv4fwd_plain.c", "ipv4fwd_target.c",
    "ipv4fwd_swx.c", "ipv4fwd.spec", "ipv6fwd.h", "ipv6fwd_dpdk.c", "ipv6fwd_swx.c", "ipv6fwd_target.c", "ipv6fwd.spec", "l2fwd.h",
    "l2fwd_hash.c", "l2fwd_plain.c", "l2fwd_swx.c", "l2fwd.spec", "l2fwd_target.c", "l2l3acl.h", "l2l3acl_dpdk.c",
    "l2l3acl_one.h", "l2l3acl_swx.c", "l2l3acl.spec", "l2l3acl_target.c", "lanes.h",
    "lpm.h", "lpm6.h", "lpm_dpdk.h", "mac_tables.h", "pairs.h", "peer.h", "router_dpdk.h", "router_swx.h",
    "router_target.h", "swx.h", "swx_ports.c", "swx_read.h", "ternary.h",
}

/// What a port costs when a program does nothing.
pub const ECHO: [Source; 2] =
    [Source::new("echo", "", "echo.c", Descriptor::Own), Source::new("echo-mbuf", "", "echo.c", Descriptor::Mbuf)];

/// freeRtr's data plane, of the duel: its own files come with flags (`freertr::flags`).
pub const FREERTR: Source = Source::new("freertr", "", "freertr.c", Descriptor::Own);
/// How it is named as a variant.
pub const FREERTR_NAME: &str = "peer:freertr";

const CACHED: &[&str] = &["-DAHEAD=0", "-DREQUESTS=0"];
const AHEAD: &[&str] = &["-DAHEAD=1", "-DREQUESTS=1"];
/// Sources and destinations in one table, for most hosts are both.
const ONE: &str = "-DONE_TABLE=1";
/// Tables of more entries exceed L2: the staged programs then prefetch a burst ahead.
const CACHED_HOSTS: u64 = 20_000;
const ROUTES: u64 = 20_000;
/// With so many routes or more, building rules for rte_acl takes minutes.
const RULED_ROUTES: u64 = 300_000;
/// Of IPv6 it is fewer.
const RULED_ROUTES_6: u64 = 50_000;

/// Each at its best settings for the size.
#[rustfmt::skip]
const PEERS: &[Source] = &[
    Source::new("hand",        "l2fwd",   "l2fwd_plain.c",    Descriptor::Own),
    Source::new("target",      "l2fwd",   "l2fwd_target.c",   Descriptor::Own).flags(CACHED).below(CACHED_HOSTS),
    Source::new("target",      "l2fwd",   "l2fwd_target.c",   Descriptor::Own).flags(AHEAD).from(CACHED_HOSTS),
    Source::new("target-mbuf", "l2fwd",   "l2fwd_target.c",   Descriptor::Mbuf).flags(CACHED).below(CACHED_HOSTS),
    Source::new("target-mbuf", "l2fwd",   "l2fwd_target.c",   Descriptor::Mbuf).flags(AHEAD).from(CACHED_HOSTS),
    Source::new("hash8",       "l2fwd",   "l2fwd_hash.c",     Descriptor::Mbuf).flags(&["-DKEY_WORDS=1"]),
    Source::new("hash16",      "l2fwd",   "l2fwd_hash.c",     Descriptor::Mbuf).flags(&["-DKEY_WORDS=2"]),
    Source::new("hash8-one",   "l2fwd",   "l2fwd_hash.c",     Descriptor::Mbuf).flags(&["-DKEY_WORDS=1", ONE]),
    Source::new("hash16-one",  "l2fwd",   "l2fwd_hash.c",     Descriptor::Mbuf).flags(&["-DKEY_WORDS=2", ONE]),
    Source::new("swx",         "l2fwd",   "l2fwd_swx.c",      Descriptor::Mbuf).specification("l2fwd.spec"),
    Source::new("hand",        "ipv4fwd", "ipv4fwd_plain.c",  Descriptor::Own),
    Source::new("target",      "ipv4fwd", "ipv4fwd_target.c", Descriptor::Own).flags(CACHED).below(ROUTES),
    Source::new("target",      "ipv4fwd", "ipv4fwd_target.c", Descriptor::Own).flags(AHEAD).from(ROUTES),
    Source::new("target-mbuf", "ipv4fwd", "ipv4fwd_target.c", Descriptor::Mbuf).flags(CACHED).below(ROUTES),
    Source::new("target-mbuf", "ipv4fwd", "ipv4fwd_target.c", Descriptor::Mbuf).flags(AHEAD).from(ROUTES),
    Source::new("lpm",         "ipv4fwd", "ipv4fwd_dpdk.c",   Descriptor::Mbuf),
    Source::new("fib",         "ipv4fwd", "ipv4fwd_dpdk.c",   Descriptor::Mbuf).flags(&["-DPEER_FIB"]),
    Source::new("swx",         "ipv4fwd", "ipv4fwd_swx.c",    Descriptor::Mbuf).specification("ipv4fwd.spec").below(RULED_ROUTES),
    Source::new("target",      "ipv6fwd", "ipv6fwd_target.c", Descriptor::Own).flags(CACHED).below(ROUTES),
    Source::new("target",      "ipv6fwd", "ipv6fwd_target.c", Descriptor::Own).flags(AHEAD).from(ROUTES),
    Source::new("target-mbuf", "ipv6fwd", "ipv6fwd_target.c", Descriptor::Mbuf).flags(CACHED).below(ROUTES),
    Source::new("target-mbuf", "ipv6fwd", "ipv6fwd_target.c", Descriptor::Mbuf).flags(AHEAD).from(ROUTES),
    Source::new("lpm6",        "ipv6fwd", "ipv6fwd_dpdk.c",   Descriptor::Mbuf),
    Source::new("fib6",        "ipv6fwd", "ipv6fwd_dpdk.c",   Descriptor::Mbuf).flags(&["-DPEER_FIB"]),
    Source::new("swx",         "ipv6fwd", "ipv6fwd_swx.c",    Descriptor::Mbuf).specification("ipv6fwd.spec").below(RULED_ROUTES_6),
    Source::new("target",      "l2l3acl", "l2l3acl_target.c", Descriptor::Own).flags(AHEAD),
    Source::new("target-mbuf", "l2l3acl", "l2l3acl_target.c", Descriptor::Mbuf).flags(AHEAD),
    Source::new("dpdk",        "l2l3acl", "l2l3acl_dpdk.c",   Descriptor::Mbuf),
    Source::new("dpdk-one",    "l2l3acl", "l2l3acl_dpdk.c",   Descriptor::Mbuf).flags(&[ONE]),
    Source::new("hash32",      "ndn",     "ndn_hash.c",       Descriptor::Mbuf),
    Source::new("hash8",       "nat",     "nat_hash.c",       Descriptor::Mbuf),
    Source::new("lpm",         "router",  "router_dpdk.c",    Descriptor::Mbuf),
    Source::new("fib",         "router",  "router_dpdk.c",    Descriptor::Mbuf).flags(&["-DPEER_FIB"]),
    Source::new("swx",         "l2l3acl", "l2l3acl_swx.c",    Descriptor::Mbuf).specification("l2l3acl.spec"),
];

/// Those for an application of this size.
pub fn of(application: &str, size: u64) -> impl Iterator<Item = &'static Source> {
    PEERS.iter().filter(move |source| source.application == application && source.entries.contains(&size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::APPLICATIONS;

    #[test]
    fn every_peer_is_of_an_application_and_no_name_comes_twice() {
        assert!(PEERS.iter().all(|peer| APPLICATIONS.iter().any(|known| known.name == peer.application)));
        for size in [1, 1_000, 100_000, 1 << 24] {
            for application in APPLICATIONS {
                let mut names: Vec<&str> = of(application.name, size).map(|peer| peer.name).collect();
                let count = names.len();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), count, "{} at {size}", application.name);
            }
        }
    }

    #[test]
    fn every_file_is_there() {
        let files = PEERS
            .iter()
            .chain(&ECHO)
            .chain([&FREERTR])
            .flat_map(|peer| [Some(peer.file), peer.specification])
            .flatten();
        for file in files {
            assert!(FILES.iter().any(|(name, _)| *name == file), "{file}");
        }
    }
}
