//! Workers spread packets by their flows: what one worker receives, another one processes, and no update of a flow's state is lost.

use crate::command::{bacus, capture, path, said, scratch};
use crate::namespaces::{Account, Network, Switch};
use crate::switch::{ctl, folder};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Counts the packets of each flow, and writes the count into them.
const PROGRAM: &str = "crates/bench/tests/integration/workers.p4";
const FLOWS: u16 = 50;
const ROUNDS: u32 = 40;

/// A frame of a flow, with a place for its count; `source` and `number` are its last bytes.
fn frame(flow: u16, source: u8, number: u32) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    bytes[..2].copy_from_slice(&flow.to_be_bytes());
    bytes[59] = source;
    bytes[60..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// An STF file with all flows in turns.
fn packets(file: &Path, source: u8) {
    let line = |(round, flow)| {
        let bytes = frame(flow, source, round * u32::from(FLOWS) + u32::from(flow));
        format!("packet {source} {}\n", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    };
    let all = (0..ROUNDS).flat_map(|round| (0..FLOWS).map(move |flow| (round, flow)));
    fs::write(file, all.map(line).collect::<String>()).unwrap();
}

/// Each packet of a flow has a count of its own, from 1 on, and those of a source have them in their order. Packets, by source.
fn counted_once(frames: &[Vec<u8>]) -> BTreeMap<u8, usize> {
    let (mut counts, mut last, mut sources) = (BTreeMap::<u16, Vec<u32>>::new(), BTreeMap::new(), BTreeMap::new());
    let word = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
    for frame in frames {
        let (flow, count) = (u16::from_be_bytes([frame[0], frame[1]]), word(&frame[2..6]));
        let (source, number) = (frame[59], word(&frame[60..64]));
        counts.entry(flow).or_default().push(count);
        *sources.entry(source).or_default() += 1;
        let before = last.insert((flow, source), (number, count));
        assert!(before.is_none_or(|before| before.0 < number && before.1 < count), "flow {flow}: {before:?}, {number}");
    }
    for (flow, mut counts) in counts {
        counts.sort_unstable();
        let expected: Vec<u32> = (1..=counts.len() as u32).collect();
        assert_eq!(counts, expected, "flow {flow}");
    }
    sources
}

/// Not one worker has all, even where one has received all.
fn each_has_packets(account: &Account, workers: &str) {
    let received: Vec<_> =
        account.0["workers"].as_array().unwrap().iter().map(|worker| worker["received"].as_u64().unwrap()).collect();
    assert_eq!(received.len().to_string(), workers);
    assert!(received.iter().all(|count| *count > 0), "{received:?}");
    assert_eq!(received.iter().sum::<u64>(), account.count("received"));
}

#[test]
fn flows_of_several_captures_are_counted_as_by_one_worker() {
    let folder = scratch("spread");
    // Two workers have a capture with all flows each.
    [2, 3].iter().for_each(|source| packets(&folder.join(format!("{source}.stf")), *source));
    for workers in ["1", "2", "3"] {
        let out = folder.join(format!("out{workers}.pcap"));
        let port = |number: u8| format!("{number}=pcap:{},", folder.join(format!("{number}.stf")).display());
        let ports = [format!("1=pcap:,{}", out.display()), port(2), port(3)];
        let ports: Vec<&str> = ports.iter().flat_map(|port| ["--port", port]).collect();
        let more = ["--json", "--workers", workers, "--spread", "software"];
        let output = bacus().arg("run").arg(path(PROGRAM)).args(ports).args(more).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let each = usize::from(FLOWS) * ROUNDS as usize;
        assert_eq!(counted_once(&capture(&out)), BTreeMap::from([(2, each), (3, each)]), "{}", said(&output));
        let account = Account(serde_json::from_slice(&output.stdout).unwrap());
        account.is_balanced(0);
        assert_eq!(account.count("sent"), 2 * each as u64);
        each_has_packets(&account, workers);
    }
}

#[test]
fn flows_of_several_interfaces_are_counted_as_by_one_worker() {
    let Some(network) = Network::new(3, 1500) else { return };
    network.silence();
    for metadata in ["exchange", "overlaying", "copying"] {
        for workers in ["2", "3"] {
            let record = scratch("spread-record");
            let record_text = record.display().to_string();
            let ports = ["--port", "1=port1", "--port", "2=port2", "--port", "3=port3", "--record", &record_text];
            let more = ["--json", "--workers", workers, "--metadata", metadata];
            let switch = Switch::of(&network, PROGRAM, &[&ports[..], &more].concat());
            let (flows, rounds) = (FLOWS.to_string(), ROUNDS.to_string());
            let other = network.serve(2, &["flows", "2", &flows, &rounds]);
            network.does(3, &["flows", "3", &flows, &rounds]);
            other.end();
            let account = switch.account();
            account.is_balanced(0);
            let sources = counted_once(&capture(&record.join("port1_out.pcap")));
            let all = u64::from(FLOWS) * u64::from(ROUNDS);
            let sent: u64 = sources.values().map(|count| *count as u64).sum();
            assert_eq!(sent, account.port(1, "sent"), "{account:?}");
            // What comes while others use the machine may be missed, and is counted then.
            assert_eq!(sent + account.ports("missed"), 2 * all, "{account:?}");
            assert!(sent > all / 2, "{account:?}");
            each_has_packets(&account, workers);
        }
    }
}

/// A program takes the place of one whose packets are spread by other bytes, while packets flow: the counts of each flow begin once more, and none is lost.
#[test]
fn no_packet_is_spread_for_one_program_and_processed_by_the_next() {
    let Some(network) = Network::new(3, 1500) else { return };
    network.silence();
    let (sockets, record) = (folder("spread-push"), scratch("spread-push-record"));
    let other = sockets.join("other.p4");
    let text = fs::read_to_string(path(PROGRAM)).unwrap();
    fs::write(&other, text.replace("bit<16> flow;", "bit<8> zero; bit<8> flow;")).unwrap();
    for metadata in ["exchange", "overlaying", "copying"] {
        let variable = format!("XDG_RUNTIME_DIR={}", sockets.display());
        let prefix = ["ip", "netns", "exec", &network.switch, "env", &variable];
        let ports = ["--port", "1=port1", "--port", "2=port2", "--port", "3=port3"];
        let more = ["--json", "--workers", "2", "--metadata", metadata, "--record", &record.display().to_string()];
        let switch = Switch::start(&prefix, PROGRAM, &[&ports[..], &more].concat());
        let flows = FLOWS.to_string();
        let sources = [2, 3].map(|host| network.serve(host, &["flows", &host.to_string(), &flows, "100000"]));
        let pushed = ctl(&sockets).args(["pipeline", "push"]).arg(&other).output().unwrap();
        assert!(pushed.status.success(), "{}", said(&pushed));
        std::thread::sleep(Duration::from_millis(300));
        drop(sources);
        std::thread::sleep(Duration::from_millis(300));
        switch.account().is_balanced(0);
        let mut counts = BTreeMap::<u8, BTreeMap<u32, usize>>::new();
        for frame in capture(&record.join("port1_out.pcap")) {
            let count = u32::from_be_bytes(frame[2..6].try_into().unwrap());
            *counts.entry(frame[1]).or_default().entry(count).or_default() += 1;
        }
        for (flow, counts) in counts {
            let twice = counts.values().take_while(|times| **times == 2).count();
            assert!(twice > 0 && counts.values().skip(twice).all(|times| *times == 1), "flow {flow}: {counts:?}");
            assert!((1..=counts.len() as u32).eq(counts.into_keys()), "flow {flow}");
        }
    }
    drop(fs::remove_dir_all(&sockets));
}
