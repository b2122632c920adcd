//! The ports of a switch on interfaces of the kernel, by each way that there is: the same hosts, frames and links as in `network.rs`, which has packet sockets.

use crate::command::{bacus, path};
use crate::network::{
    COPIES, MBUFS, Pair, Way, XDP, keep_tags, learn, lose_links, pass_jumbo_frames, pass_longer_frames,
};

/// What a pair of hosts does.
type Scenario = fn(&Pair);

fn goes(way: Way, name: &str, mtu: u32, scenario: Scenario) {
    Pair::by(way, name, mtu).iter().for_each(scenario);
}

#[test]
fn af_xdp_has_hosts_that_learn_of_each_other_with_their_offloads() {
    goes(XDP, "learns", 1500, learn);
}

#[test]
fn af_xdp_passes_frames_of_nine_thousand_bytes_whole() {
    goes(XDP, "jumbo", 9000, pass_jumbo_frames);
}

#[test]
fn af_xdp_keeps_tags() {
    goes(XDP, "tags", 1500, keep_tags);
}

#[test]
fn af_xdp_loses_links_and_has_them_again() {
    goes(XDP, "links", 1500, lose_links);
}

#[test]
fn mbufs_have_hosts_that_learn_of_each_other_with_their_offloads() {
    goes(MBUFS, "learns", 1500, learn);
}

#[test]
fn mbufs_pass_frames_of_nine_thousand_bytes_whole() {
    goes(MBUFS, "jumbo", 9000, pass_jumbo_frames);
}

#[test]
fn mbufs_pass_frames_longer_than_the_mtu_was_or_count_them() {
    goes(MBUFS, "longer", 1500, pass_longer_frames);
}

#[test]
fn mbufs_keep_tags() {
    goes(MBUFS, "tags", 1500, keep_tags);
}

#[test]
fn mbufs_lose_links_and_have_them_again() {
    goes(MBUFS, "links", 1500, lose_links);
}

#[test]
fn copies_have_hosts_that_learn_of_each_other_with_their_offloads() {
    goes(COPIES, "learns", 1500, learn);
}

#[test]
fn copies_pass_frames_of_nine_thousand_bytes_whole() {
    goes(COPIES, "jumbo", 9000, pass_jumbo_frames);
}

#[test]
fn copies_lose_links_and_have_them_again() {
    goes(COPIES, "links", 1500, lose_links);
}

/// A device of DPDK has mbufs, and nothing else.
#[test]
fn exchange_refuses_devices_of_dpdk() {
    let program = path("apps/l2switch/l2switch.p4");
    let ran =
        bacus().arg("run").arg(program).args(["--metadata", "exchange", "--port", "1=net_ring0"]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(
        said.contains("port 1 (net_ring0) is a device of DPDK") && said.contains("--metadata overlaying"),
        "{said}"
    );
}
