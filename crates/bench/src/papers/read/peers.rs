//! Compiled programs beside those over DPDK's libraries (*P4+BACUS*, figure 1, and *A Performance Model*, figure 3), all with mbufs. And beside routers that
//! are programs of their own, on interfaces of the kernel.

use crate::experiment::Experiment;
use crate::forwarders::{KERNEL, OWN, tcp};
use crate::papers::figure::{Figure, Role};
use crate::papers::outcome::{Better, Reading};
use crate::papers::rows::{Rows, case_name, finding, gain, of};
use crate::report::Record;

/// Percent over programs on DPDK that were tuned by hand.
const BY_HAND: [(&str, f64); 2] = [("ipv4fwd", -4.0), ("ipv6fwd", 20.0)];
/// Percent over other P4 compilers and frameworks, at most.
const AT_MOST: f64 = 228.0;
/// Percent over PISCES, on l2l3acl.
const PISCES: f64 = 49.0;
const GAIN: (&str, Better) = ("% packets a second", Better::More);

pub fn read(rows: &Rows<'_>) -> Reading {
    let (of_veth, of_memory): (Vec<Record>, Vec<Record>) =
        rows.records().iter().cloned().partition(|record| record.case.experiment == Experiment::Forwarders);
    let mut reading = in_memory(&Rows::new(&of_memory));
    let (of_tcp, of_veth): (Vec<Record>, Vec<Record>) =
        of_veth.into_iter().partition(|record| tcp::ALL.contains(&record.variant.as_str()));
    forwarders(&of_veth, &mut reading);
    connections(&of_tcp, &mut reading);
    reading
}

/// Routers between veth interfaces, each beside the best of ours.
fn forwarders(records: &[Record], reading: &mut Reading) {
    let name = |record: &Record| record.variant.trim_start_matches("veth:").to_string();
    let ours = records.iter().filter(|record| record.variant.starts_with(OWN));
    let Some(ours) = ours.max_by(|one, other| one.mpps.total_cmp(&other.mpps)) else { return };
    for other in records.iter().filter(|record| !record.variant.starts_with(OWN)) {
        let what = format!("{} over {}", name(ours), name(other));
        let what = if other.variant == KERNEL { format!("{what}'s own forwarding") } else { what };
        reading.findings.push(finding(
            "between veth interfaces".into(),
            &what,
            GAIN,
            None,
            (gain(other, ours).0, None),
        ));
    }
    let mut figure = Figure::bars(
        "Routers between veth interfaces",
        "million packets a second, one core",
        records.iter().map(name).collect(),
    );
    let points = records.iter().enumerate().map(|(number, record)| (number as f64, record.mpps));
    figure.add("packets of 60 bytes, one route", Role::Measured, 0, points.collect());
    reading.figures.push(figure);
    reading.notes.push(
        "between veth interfaces, the kernel's work on each packet is most of the time: its source, which takes the other core, may be the bound".into(),
    );
}

/// TCP between two hosts: over our switch, over the kernel's bridge, and over nothing.
fn connections(records: &[Record], reading: &mut Reading) {
    if records.is_empty() {
        return;
    }
    let gigabits = |record: &Record| record.mpps * tcp::SEGMENT * 8.0 / 1e3;
    let name = |record: &Record| record.variant.trim_start_matches("tcp:").to_string();
    let unit = ("Gbit/s", Better::More);
    for record in records {
        let both = (gigabits(record), None);
        reading.findings.push(finding("TCP between two hosts".into(), &name(record), unit, None, both));
    }
    let row = |variant: &str| records.iter().find(|record| record.variant == variant);
    if let Some((ours, bridge)) = row(tcp::OWN).zip(row(tcp::BRIDGE)) {
        let both = (gigabits(ours) / gigabits(bridge), None);
        let times = ("times", Better::More);
        reading.findings.push(finding(
            "TCP between two hosts".into(),
            "bacus over the kernel's bridge",
            times,
            None,
            both,
        ));
    }
    let mut figure = Figure::bars("TCP between two hosts", "Gbit/s", records.iter().map(name).collect());
    let points = records.iter().enumerate().map(|(number, record)| (number as f64, gigabits(record)));
    figure.add("one connection", Role::Measured, 0, points.collect());
    reading.figures.push(figure);
}

fn in_memory(rows: &Rows<'_>) -> Reading {
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
    reading.notes.push("T4P4S, PISCES, P4C-XDP and G-Opt of the paper are not run: SWX is the P4 compiler beside ours (p4c-dpdk's target)".into());
    reading
}

fn is_library(variant: &str) -> bool {
    let name = variant.strip_prefix("peer:");
    name.is_some_and(|name| !["target", "hand", "swx"].iter().any(|other| name.starts_with(other)))
}
