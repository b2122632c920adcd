//! Whether two engines did the same with a burst.
//!
//! Alone, a packet's outputs must be the same in the same order, unless it may wait while its copies go by. In a burst each port must send the same
//! packets, and those of one ingress port that took one path in the order they came; other packets may overtake each other.

use super::shown;
use control::plane::{DigestRecord, Outcome, Output};
use std::collections::{BTreeMap, BTreeSet};

/// In which order packets are to leave by a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Same,
    /// Those of one path in the same, while others may overtake them.
    OnPaths,
}

/// What differs, in a sentence; nothing if `found` is as good as `expected`, which knows the paths.
pub fn difference(expected: &Outcome, found: &Outcome, order: Order) -> Option<String> {
    if expected.stopped.is_some() || found.stopped.is_some() {
        let ended = |outcome: &Outcome| outcome.stopped.clone().unwrap_or("it runs on".to_string());
        let both = expected.stopped.is_some() && found.stopped.is_some();
        return (!both).then(|| format!("one switch stopped: expected {}, found {}", ended(expected), ended(found)));
    }
    let ports: BTreeSet<u32> = expected.outputs.iter().chain(&found.outputs).map(|output| output.port).collect();
    for port in ports {
        let expected: Vec<&Output> = expected.outputs.iter().filter(|output| output.port == port).collect();
        let found: Vec<&[u8]> = found.outputs.iter().filter(|output| output.port == port).map(bytes).collect();
        let message = packets_differ(&expected, &found).or_else(|| order_differs(&expected, &found, order));
        if let Some(message) = message {
            return Some(format!("port {port}: {message}"));
        }
    }
    if expected.punts != found.punts {
        return Some(format!("expected {} packets for the control plane, found {}", expected.punts, found.punts));
    }
    (digests(expected) != digests(found)).then(|| "the digests differ".to_string())
}

fn bytes(output: &Output) -> &[u8] {
    &output.bytes
}

fn digests(outcome: &Outcome) -> Vec<String> {
    let text = |record: &DigestRecord| format!("{} {:?}", record.digest.into_raw().into_u32(), record.values);
    let mut digests: Vec<String> = outcome.digests.iter().map(text).collect();
    digests.sort();
    digests
}

fn packets_differ(expected: &[&Output], found: &[&[u8]]) -> Option<String> {
    let mut counts: BTreeMap<&[u8], i64> = BTreeMap::new();
    expected.iter().for_each(|output| *counts.entry(&output.bytes).or_default() += 1);
    found.iter().for_each(|bytes| *counts.entry(bytes).or_default() -= 1);
    let missing = counts.iter().find(|(_, count)| **count > 0).map(|(bytes, _)| shown(bytes));
    let surplus = counts.iter().find(|(_, count)| **count < 0).map(|(bytes, _)| shown(bytes));
    match (missing, surplus) {
        (None, None) => None,
        (Some(missing), None) => Some(format!("expected also {missing}")),
        (None, Some(surplus)) => Some(format!("unexpected packet {surplus}")),
        (Some(missing), Some(surplus)) => Some(format!("expected {missing}\n   found {surplus}")),
    }
}

fn order_differs(expected: &[&Output], found: &[&[u8]], order: Order) -> Option<String> {
    if order == Order::Same {
        let same = expected.iter().zip(found).all(|(output, bytes)| output.bytes == *bytes);
        return (!same).then(|| "the packets left in another order".to_string());
    }
    let paths: BTreeSet<Option<u64>> = expected.iter().map(|output| output.path).collect();
    for path in paths {
        let mut left = found.iter();
        let of_path = expected.iter().filter(|output| output.path == path);
        for output in of_path {
            if !left.any(|bytes| *bytes == output.bytes) {
                return Some(format!("{} was overtaken on its own path", shown(&output.bytes)));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(outputs: &[(u32, u8, u64)]) -> Outcome {
        let output =
            |(port, byte, path): &(u32, u8, u64)| Output { port: *port, bytes: vec![*byte], path: Some(*path) };
        Outcome { outputs: outputs.iter().map(output).collect(), ..Outcome::default() }
    }

    #[test]
    fn packets_of_one_path_keep_their_order_in_a_burst() {
        let expected = outcome(&[(1, 0xa, 7), (1, 0xb, 8), (1, 0xc, 7), (2, 0xd, 7)]);
        let other_path = outcome(&[(1, 0xb, 0), (2, 0xd, 0), (1, 0xa, 0), (1, 0xc, 0)]);
        assert_eq!(difference(&expected, &other_path, Order::OnPaths), None);
        assert!(difference(&expected, &other_path, Order::Same).is_some());
        let overtaken = outcome(&[(1, 0xc, 0), (1, 0xb, 0), (1, 0xa, 0), (2, 0xd, 0)]);
        let found = difference(&expected, &overtaken, Order::OnPaths);
        assert_eq!(found.as_deref(), Some("port 1: 0c was overtaken on its own path"));
    }

    #[test]
    fn missing_and_surplus_packets_are_reported() {
        let expected = outcome(&[(1, 0xa, 7), (1, 0xa, 7)]);
        let message = |found: &[(u32, u8, u64)]| difference(&expected, &outcome(found), Order::OnPaths);
        assert_eq!(message(&[(1, 0xa, 0)]).as_deref(), Some("port 1: expected also 0a"));
        assert_eq!(message(&[(1, 0xa, 0), (1, 0xb, 0)]).as_deref(), Some("port 1: expected 0a\n   found 0b"));
        let more = [(1, 0xa, 0), (1, 0xa, 0), (3, 0xa, 0)];
        assert_eq!(message(&more).as_deref(), Some("port 3: unexpected packet 0a"));
    }
}
