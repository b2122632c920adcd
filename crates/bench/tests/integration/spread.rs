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
    let text = example();
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
    let text = example();
    let why = |text: String| steps_of(&text).expect_err("no steps");
    let of_length = text.replace("bit<16> tci;", "bit<16> tci; varbit<32> rest;");
    let varbit = why(of_length.replace("h.tags.next)", "h.tags.next, 16)"));
    assert!(varbit.contains("not by bytes of the packet (in parse.tag)"), "{varbit}");
    let twice = "h.ipv4); transition select(h.ipv4.ttl) { 1: ipv4; default: accept; }";
    let again = why(text.replace("h.ipv4); transition accept;", twice));
    assert!(again.contains("once more"), "{again}");
}

fn example() -> String {
    fs::read_to_string(path("tests/integration/spread.p4")).expect("the example is there")
}

/// The example with the choice behind Ethernet's header replaced, and metadata to choose by.
fn choosing(choice: &str) -> String {
    let text = example().replace("struct metadata { }", "struct metadata { bit<8> kind; }");
    let from = text.find("transition select").expect("a choice");
    let end = from + text[from..].find("state tag").expect("the next state");
    format!("{}{choice} }}\n    {}", &text[..from], &text[end..])
}

#[test]
fn what_is_written_under_a_condition_is_not_known() {
    let some = "if (h.ethernet.type == 0x0800) { m.kind = 1; }";
    let why = steps_of(&choosing(&format!("{some} transition select(m.kind) {{ 1: ipv4; default: accept; }}")));
    assert!(why.as_ref().is_err_and(|why| why.contains("not by bytes of the packet")), "{why:?}");
}

#[test]
fn a_field_stays_where_it_is_while_others_of_its_header_are_written() {
    let writes = |field| example().replace("h.ipv4); transition", &format!("h.ipv4); h.ipv4.{field} = 64; transition"));
    let of_other = steps_of(&writes("ttl")).expect("steps");
    assert_eq!(taken(&of_other, &frame(0, 0x0800, 9), 3), Some(vec![9]));
    // The field itself: packets do have it, and none may stay where it came.
    let Workers::SpreadBy(origin) = sharing::workers(&sharing::objects(&program_of(&example()))) else {
        panic!("a spread")
    };
    let why = steps(&program_of(&writes("source")), &origin.fields);
    assert!(why.as_ref().is_err_and(|why| why.contains("the parser changes h.ipv4.source")), "{why:?}");
}

#[test]
fn zeros_in_front_of_a_joined_field_are_not_bits_of_the_packet() {
    let split = |choice: &str| choosing(choice).replacen("bit<16> type; }", "bit<8> kind; bit<8> low; }", 1);
    let steps =
        steps_of(&split("transition select(h.ethernet.kind ++ h.ethernet.low) { 0x0800: ipv4; default: accept; }"));
    assert_eq!(taken(&steps.expect("steps"), &frame(0, 0x0800, 9), 0), Some(vec![9]));
    let wide = "transition select(h.ethernet.kind ++ (bit<16>)h.ethernet.low) { 0x080000: ipv4; default: accept; }";
    let why = steps_of(&split(wide));
    assert!(why.as_ref().is_err_and(|why| why.contains("not by bytes of the packet")), "{why:?}");
}

#[test]
fn lower_bits_of_the_port_are_compared_alone() {
    let steps = steps_of(&choosing("transition select(s.ingress_port[1:0]) { 1: ipv4; default: accept; }"));
    let of = |port| taken(steps.as_ref().expect("steps"), &frame(0, 0x0800, 9), port);
    assert_eq!([1, 2, 5].map(of), [Some(vec![9]), None, Some(vec![9])]);
}

#[test]
fn a_packet_that_has_the_fields_is_spread_though_its_parser_fails_behind_them() {
    let next = "h.ipv4); transition select(p.lookahead<bit<32>>()) { 0: accept; default: accept; }";
    let steps = steps_of(&example().replace("h.ipv4); transition accept;", next)).expect("steps");
    assert_eq!(taken(&steps, &frame(0, 0x0800, 9), 3), Some(vec![9]));
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
