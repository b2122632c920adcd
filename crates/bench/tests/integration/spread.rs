//! Steps find the fields by which packets are spread, wherever a parser finds them.

use crate::workers::{path, program_of};
use opt::analyze::sharing::{self, Workers};
use opt::analyze::spread::{At, Step, flows, steps};
use std::fs;

/// The steps of a program whose state asks for a spread.
fn steps_of(text: &str) -> Result<Vec<Step>, String> {
    let program = program_of(text);
    let Workers::SpreadBy(origin) = sharing::workers(&sharing::objects(&program)) else { panic!("a spread") };
    steps(&program, &origin.fields)
}

/// What the steps take of a packet; none: it stays where it is.
fn taken(steps: &[Step], packet: &[u8], port: u64) -> Option<Vec<u64>> {
    let value = |at: &At| match at {
        At::Port => Some(port),
        At::Packet { bit, width } => {
            let bit_at = |at: usize| packet.get(at / 8).map(|byte| u64::from(byte >> (7 - at % 8) & 1));
            (*bit..bit + width).try_fold(0, |value, at| Some(value << 1 | bit_at(at as usize)?))
        }
    };
    let (mut at, mut all) = (0, Vec::new());
    loop {
        match &steps[at] {
            Step::Done => return Some(all),
            Step::Keep => return None,
            Step::Mix(from) => all.push(value(from)?),
            Step::Test { at: from, mask, low, high, otherwise } => {
                if !(low..=high).contains(&&(value(from)? & mask)) {
                    assert!(*otherwise > at, "steps lead on");
                    at = *otherwise;
                    continue;
                }
            }
        }
        at += 1;
    }
}

/// A frame with so many tags, from this address.
fn frame(tags: usize, kind: u16, source: u32) -> Vec<u8> {
    let tag = [0x81, 0, 0, 7].repeat(tags);
    let ip = [&[0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0][..], &source.to_be_bytes(), &[10, 0, 0, 9]].concat();
    [&[2; 12][..], &tag, &kind.to_be_bytes(), &ip].concat()
}

#[test]
fn fields_are_found_where_the_parser_finds_them() {
    let text = fs::read_to_string(path("tests/integration/spread.p4")).expect("the example is there");
    let steps = steps_of(&text).expect("steps");
    let source = 0xc0a8_0107;
    let of = |tags, kind, port| taken(&steps, &frame(tags, kind, source), port);
    let found = Some(vec![u64::from(source)]);
    // Without a tag, by the port; by a mask; behind one to three tags; and not behind four, of which the parser takes three.
    assert_eq!([2, 3, 5, 6].map(|port| of(0, 0x0800, port)), [None, found.clone(), found.clone(), None]);
    assert_eq!([0x09a0, 0x09a1].map(|kind| of(0, kind, 0)), [found.clone(), None]);
    assert_eq!([1, 2, 3, 4].map(|tags| of(tags, 0x0800, 0)), [found.clone(), found.clone(), found, None]);
    // What is too short for the header has no element.
    assert_eq!(taken(&steps, &frame(1, 0x0800, source)[..30], 0), None);
}

#[test]
fn what_cannot_be_found_in_each_packet_is_refused() {
    let text = fs::read_to_string(path("tests/integration/spread.p4")).expect("the example is there");
    let why = |text: String| steps_of(&text).expect_err("no steps");
    let of_length = text.replace("bit<16> tci;", "bit<16> tci; varbit<32> rest;");
    let varbit = why(of_length.replace("h.tags.next)", "h.tags.next, 16)"));
    assert!(varbit.contains("not by bytes of the packet (in parse.tag)"), "{varbit}");
    let twice = "h.ipv4); transition select(h.ipv4.ttl) { 1: ipv4; default: accept; }";
    let again = why(text.replace("h.ipv4); transition accept;", twice));
    assert!(again.contains("once more"), "{again}");
}

#[test]
fn flows_are_spread_by_addresses_and_ports() {
    let steps = flows();
    let of = |frame: &[u8]| taken(&steps, frame, 0).expect("a flow");
    let mut udp = [frame(0, 0x0800, 1), vec![0, 5, 0, 6]].concat();
    let [one, mut other] = [of(&udp), of(&udp)];
    assert_eq!(one, other);
    for at in [29, 33, 35, 37] {
        udp[at] ^= 0x10;
        other = of(&udp);
        assert_ne!(one, other, "byte {at}");
        udp[at] ^= 0x10;
    }
    // Fragments of a packet are of one flow, though one alone has ports.
    udp[20] = 0x20;
    let first = of(&udp);
    udp[21] = 7;
    udp[35] = 0x77;
    assert_eq!(first, of(&udp));
    // Other frames are of one flow if their addresses are equal.
    assert_eq!(of(&frame(1, 0x0800, 1)), of(&frame(2, 0x0806, 9)));
}
