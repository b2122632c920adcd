//! What came out, beside what was expected.
//!
//! Each port is compared for itself: packet by packet where the order is fixed, else as a collection. A port that no command mentions is
//! not compared.

use super::command::Pattern;
use super::{Mistake, Place};
use control::plane::EntryKey;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub struct Expectation {
    pub place: Place,
    /// `None` takes any packet.
    pub pattern: Option<Pattern>,
}

/// Packets and expectations of all ports so far.
#[derive(Default)]
pub struct Ports {
    pub mentioned: BTreeSet<u32>,
    pub outputs: BTreeMap<u32, Vec<Vec<u8>>>,
    pub expectations: BTreeMap<u32, Vec<Expectation>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Kept,
    Open,
}

impl Expectation {
    fn matches(&self, packet: &[u8]) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.matches(packet))
    }

    fn text(&self) -> String {
        self.pattern.as_ref().map_or("any packet".to_string(), Pattern::text)
    }
}

impl Ports {
    pub fn expected(&self, port: u32) -> usize {
        self.expectations.get(&port).map_or(0, Vec::len)
    }

    /// Everything that is not as expected.
    pub fn compare(&self, order: Order) -> Vec<Mistake> {
        let compare_port = |port: &u32| {
            let expectations = self.expectations.get(port).map_or(&[][..], Vec::as_slice);
            let outputs = self.outputs.get(port).map_or(&[][..], Vec::as_slice);
            match order {
                Order::Kept => compare_in_order(*port, expectations, outputs),
                Order::Open => compare_collections(*port, expectations, outputs),
            }
        };
        self.mentioned.iter().flat_map(compare_port).collect()
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn compare_in_order(port: u32, expectations: &[Expectation], outputs: &[Vec<u8>]) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for (index, (expectation, packet)) in expectations.iter().zip(outputs).enumerate() {
        if !expectation.matches(packet) {
            mistakes.push(difference(port, index + 1, expectation, packet));
        }
    }
    for expectation in expectations.iter().skip(outputs.len()) {
        let message = format!("port {port}: expected {}, but no more packets left", expectation.text());
        mistakes.push(Mistake::new(expectation.place, message));
    }
    mistakes.extend(outputs.iter().skip(expectations.len()).map(|packet| unexpected(port, packet)));
    mistakes
}

fn compare_collections(port: u32, expectations: &[Expectation], outputs: &[Vec<u8>]) -> Vec<Mistake> {
    let mut takers: Vec<Option<usize>> = vec![None; outputs.len()];
    for (index, expectation) in expectations.iter().enumerate() {
        if index < outputs.len() && expectation.matches(&outputs[index]) {
            takers[index] = Some(index);
        }
    }
    let placed: BTreeSet<usize> = takers.iter().flatten().copied().collect();
    let mut missing = Vec::new();
    for index in (0..expectations.len()).filter(|index| !placed.contains(index)) {
        if !place(index, expectations, outputs, &mut takers, &mut vec![false; outputs.len()]) {
            missing.push(index);
        }
    }
    let mut left: Vec<&Vec<u8>> =
        takers.iter().zip(outputs).filter(|(taker, _)| taker.is_none()).map(|(_, p)| p).collect();
    let mut mistakes = Vec::new();
    for index in missing {
        let expectation = &expectations[index];
        if left.is_empty() {
            let message = format!("port {port}: expected {}, but no such packet left", expectation.text());
            mistakes.push(Mistake::new(expectation.place, message));
        } else {
            mistakes.push(difference(port, index + 1, expectation, left.remove(0)));
        }
    }
    mistakes.extend(left.into_iter().map(|packet| unexpected(port, packet)));
    mistakes
}

/// Finds a packet for an expectation, if need be by giving other expectations other packets.
fn place(
    index: usize,
    expectations: &[Expectation],
    outputs: &[Vec<u8>],
    takers: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for packet in 0..outputs.len() {
        if tried[packet] || !expectations[index].matches(&outputs[packet]) {
            continue;
        }
        tried[packet] = true;
        let free = match takers[packet] {
            None => true,
            Some(other) => place(other, expectations, outputs, takers, tried),
        };
        if free {
            takers[packet] = Some(index);
            return true;
        }
    }
    false
}

fn difference(port: u32, ordinal: usize, expectation: &Expectation, packet: &[u8]) -> Mistake {
    let message =
        format!("port {port}, packet {ordinal}: expected {}\n{:>14} {}", expectation.text(), "found", hex(packet));
    Mistake::new(expectation.place, message)
}

fn unexpected(port: u32, packet: &[u8]) -> Mistake {
    Mistake::new(Place { line: 0, column: 0 }, format!("port {port}: unexpected packet {}", hex(packet)))
}

/// Entries that became idle, and those that were expected to.
#[derive(Default)]
pub struct IdleEntries {
    pub found: Vec<EntryKey>,
    pub expected: Vec<(Place, EntryKey)>,
}

impl IdleEntries {
    pub fn found(&mut self, keys: Vec<EntryKey>) {
        self.found.extend(keys);
    }

    pub fn expect(&mut self, place: Place, key: EntryKey) {
        self.expected.push((place, key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation(nibbles: &str, exact_length: bool) -> Expectation {
        let nibbles = nibbles.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
        let pattern = Some(Pattern { nibbles, exact_length });
        Expectation { place: Place { line: 1, column: 1 }, pattern }
    }

    #[test]
    fn an_expectation_is_a_prefix_unless_it_ends_with_a_dollar() {
        assert!(expectation("1*", false).matches(&[0x12, 0x34]));
        assert!(!expectation("1*", true).matches(&[0x12, 0x34]));
        assert!(expectation("1*34", true).matches(&[0x12, 0x34]));
        assert!(!expectation("123456", false).matches(&[0x12, 0x34]));
        assert!(!expectation("13", false).matches(&[0x12, 0x34]));
    }

    #[test]
    fn collections_are_matched_whatever_the_patterns_share() {
        let expectations = [expectation("**", false), expectation("1*", false), expectation("12", false)];
        let outputs = [vec![0x12], vec![0x13], vec![0x99]];
        assert_eq!(compare_collections(1, &expectations, &outputs), []);
        assert_eq!(compare_in_order(1, &expectations, &outputs).len(), 1);
        let outputs = [vec![0x12], vec![0x98], vec![0x99]];
        assert_eq!(compare_collections(1, &expectations, &outputs).len(), 1);
    }

    #[test]
    fn what_is_missing_and_what_is_too_much_is_reported() {
        let messages = |mistakes: Vec<Mistake>| mistakes.into_iter().map(|m| m.to_string()).collect::<Vec<_>>();
        let one = [expectation("12", true)];
        assert_eq!(messages(compare_in_order(3, &one, &[])), ["1:1: port 3: expected 12 $, but no more packets left"]);
        assert_eq!(messages(compare_in_order(3, &[], &[vec![0x12]])), ["0:0: port 3: unexpected packet 12"]);
        let wrong = messages(compare_collections(3, &one, &[vec![0x13]]));
        assert_eq!(wrong, ["1:1: port 3, packet 1: expected 12 $\n         found 13"]);
    }
}
