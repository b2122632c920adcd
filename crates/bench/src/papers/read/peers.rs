//! Compiled programs beside those over DPDK's libraries (*P4+BACUS*, figure 1, and *A Performance Model*, figure 3), all with mbufs.

use crate::papers::figure::{Figure, Role};
use crate::papers::outcome::{Better, Reading};
use crate::papers::rows::{Rows, case_name, finding, gain, of};
use crate::report::Record;
use std::path::Path;

/// Percent over programs on DPDK that were tuned by hand.
const BY_HAND: [(&str, f64); 2] = [("ipv4fwd", -4.0), ("ipv6fwd", 20.0)];
/// Percent over other P4 compilers and frameworks, at most.
const AT_MOST: f64 = 228.0;
/// Percent over PISCES, on l2l3acl.
const PISCES: f64 = 49.0;
const GAIN: (&str, Better) = ("% packets a second", Better::More);
/// Programs that forward packets by other means, which are measured where they are installed, by the commands of docs/bench.md.
const OTHERS: [(&str, &str); 4] =
    [("OVS-DPDK", "ovs-vswitchd"), ("VPP", "vpp"), ("FastClick", "click"), ("kernel forwarding", "ip")];

pub fn read(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    let cases = rows.cases();
    let mut figure = Figure::bars(
        "Beside programs over DPDK's libraries",
        "million packets a second, one core, mbufs",
        cases.iter().map(|case| case_name(*case).replace(" entries", "")).collect(),
    );
    let mut series: [Vec<(f64, f64)>; 3] = Default::default();
    let mut most: Option<f64> = None;
    for (number, case) in cases.iter().enumerate() {
        let Some(ours) = rows.row(*case, "best-mbuf") else { continue };
        let library = rows.best(*case, is_library);
        let swx = rows.best(*case, |name| name.starts_with("peer:swx"));
        let by_hand = rows.row(*case, "peer:target-mbuf");
        for (what, peer, paper) in [
            ("over the best program on DPDK's libraries", library, of(&BY_HAND, case.0)),
            ("over another P4 compiler (SWX)", swx, (case.0 == "l2l3acl").then_some(PISCES)),
            ("over code by hand as the compiler should write it", by_hand, None),
        ] {
            let Some(peer) = peer else { continue };
            let both = (gain(peer, ours).0, None);
            most = Some(most.unwrap_or(f64::NEG_INFINITY).max(both.0));
            let what = format!("{what}: {}", peer.variant.trim_start_matches("peer:"));
            reading.findings.push(finding(case_name(*case), &what, GAIN, paper, both));
        }
        let rate = |row: Option<&Record>| row.map(|row| (number as f64, row.mpps));
        let rates = [rate(Some(ours)), rate(library), rate(swx)];
        series.iter_mut().zip(rates).for_each(|(series, rate)| series.extend(rate));
    }
    if let Some(most) = most {
        reading.findings.push(finding("all".into(), "most over any of them", GAIN, Some(AT_MOST), (most, None)));
    }
    for (colour, (name, points)) in ["bacus", "DPDK's libraries", "SWX"].into_iter().zip(series).enumerate() {
        figure.add(name, Role::Measured, colour, points);
    }
    reading.figures.push(figure);
    reading.notes.push(others());
    reading.notes.push("T4P4S, PISCES, P4C-XDP and G-Opt of the paper are not run: SWX is the P4 compiler beside ours (p4c-dpdk's target)".into());
    reading
}

fn is_library(variant: &str) -> bool {
    let name = variant.strip_prefix("peer:");
    name.is_some_and(|name| !["target", "hand", "swx"].iter().any(|other| name.starts_with(other)))
}

/// Which other forwarders this machine has.
fn others() -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |command: &str| std::env::split_paths(&path).any(|folder| Path::new(&folder).join(command).exists());
    let (there, missing): (Vec<_>, Vec<_>) = OTHERS.iter().partition(|(_, command)| is_there(command));
    let names = |of: Vec<&(&str, &str)>| of.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    format!(
        "forwarders that run as programs of their own are not part of this experiment; installed: {}; not installed: {}. scripts/device measures OVS-DPDK and \
         l3fwd with `make bench DPDK=DIR`",
        names(there),
        names(missing)
    )
}
