//! Runs each program of `tests/stf` with the STF file of its name, packet by packet and in bursts.

use control::DataPlane;
use control::plane::Frame;
use interp::{PORTS, Switch};
use std::path::{Path, PathBuf};

fn programs() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stf");
    let entries = std::fs::read_dir(&directory).expect("the directory of programs can be read");
    let paths = entries.map(|entry| entry.expect("its entries can be read").path());
    let mut programs: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|kind| kind == "hlir")).collect();
    programs.sort();
    programs
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A program that the verifier takes.
fn parse_program(path: &Path) -> hlir::Program {
    let text = read(path);
    let map = hlir::source::SourceMap::new(&path.display().to_string(), &text);
    let rendered = |mistakes: Vec<hlir::diagnostic::Diagnostic>| -> String {
        mistakes.iter().map(|mistake| mistake.render(&map)).collect()
    };
    let program = hlir::text::parse_program(&text).unwrap_or_else(|mistakes| panic!("{}", rendered(mistakes)));
    let mistakes = rendered(hlir::verify::verify(&program));
    assert!(mistakes.is_empty(), "{}: {mistakes}", path.display());
    program
}

#[test]
fn every_program_does_what_its_file_says() {
    let programs = programs();
    assert!(programs.len() >= 6, "the programs are there");
    let mut failures = String::new();
    for path in programs {
        let program = parse_program(&path);
        let commands = stf::parse(&read(&path.with_extension("stf")));
        let commands = commands.unwrap_or_else(|mistakes| panic!("{}: {mistakes:?}", path.display()));
        for burst in [1, 7, 64] {
            let mut switch = Switch::new(&program, 0, PORTS);
            let report = stf::run(&program, &commands, &mut switch, burst);
            let report = report.unwrap_or_else(|mistakes| panic!("{}: {mistakes:?}", path.display()));
            for failure in report.failures {
                failures.push_str(&format!("{} at burst {burst}: {failure}\n", path.display()));
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Packets of `packets.hlir`: what is to happen, a value, a count.
#[test]
fn drops_are_counted_by_reason() {
    let program = parse_program(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stf/packets.hlir"));
    let mut switch = Switch::new(&program, 0, PORTS);
    let orders: [[u8; 4]; 7] =
        [[1, 0, 10, 0], [2, 0, 9, 0], [4, 0, 0, 6], [5, 0, 0, 7], [6, 0, 0, 0], [7, 0, 0, 0], [8, 2, 0, 0]];
    let burst: Vec<Frame> = orders.map(|order| Frame { port: 0, bytes: order.to_vec() }).to_vec();
    let outcome = switch.process(&burst).expect("the switch runs");
    assert_eq!(outcome.outputs, []);
    let reasons = program.drop_reasons().into_iter().zip(switch.drops());
    let counted: Vec<String> = reasons.filter(|(_, n)| *n > 0).map(|(reason, n)| format!("{reason}: {n}")).collect();
    let expected = [
        "re-entry budget: 2",
        "loop budget: 1",
        "no such port: 1",
        "empty multicast group: 1",
        "ordered: 1",
        "ordered otherwise: 1",
    ];
    assert_eq!(counted, expected);
}

#[test]
fn a_trace_shows_the_path_of_each_packet() {
    let program = parse_program(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stf/profile.hlir"));
    let mut switch = Switch::new(&program, 0, PORTS);
    switch.start_trace();
    switch.process(&[Frame { port: 3, bytes: vec![1, 0, 0] }]).expect("the switch runs");
    let expected = [
        "packet 0 from port 3: 3 bytes",
        "  start",
        "  prepare",
        "  choice",
        "    miss [0x1]: set(0xee)",
        "  by_action",
        "    hit [0x1]: first()",
        "  first",
        "  out",
        "  send",
        "  send to port 1",
    ];
    assert_eq!(switch.take_trace(), expected);
}

/// The order of re-entries: all first passes, then first come first served.
#[test]
fn packets_that_enter_again_run_after_the_burst() {
    let program = parse_program(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stf/packets.hlir"));
    let mut switch = Switch::new(&program, 0, PORTS);
    let orders: [[u8; 4]; 4] = [[4, 0, 0, 2], [0, 0, 0, 9], [4, 0, 0, 1], [0, 0, 0, 8]];
    let burst: Vec<Frame> = orders.map(|order| Frame { port: 0, bytes: order.to_vec() }).to_vec();
    let outcome = switch.process(&burst).expect("the switch runs");
    let ports: Vec<u32> = outcome.outputs.iter().map(|output| output.port).collect();
    assert_eq!(ports, [9, 8, 1, 2]);
}

/// A packet that a rule hands to the control plane comes back with all it had.
#[test]
fn a_punted_packet_is_resumed_where_it_stopped() {
    let text = "program punt for v1model
header h.a: a_t { x: 8 }
variable error: 32
variable seen: 8
parser p { start start, accept ingress, reject ingress, error error }
entry start
node start: state of p { extract h.a } -> ingress
node ingress: buffer {
  when h.a.x == 1: punt \"unknown\" -> later
  otherwise -> later
}
node later: block {
  seen = h.a.x + 1
  h.a.x = seen
} -> out
node out: deparse { emit h.a } -> send
node send: buffer { send 32w2 }
";
    let program = hlir::text::parse_program(text).expect("the program is well formed");
    let mut switch = Switch::new(&program, 0, PORTS);
    let burst = [Frame { port: 1, bytes: vec![1, 0xaa] }, Frame { port: 1, bytes: vec![5] }];
    let outcome = switch.process(&burst).expect("the switch runs");
    assert_eq!((outcome.punts, outcome.outputs.len()), (1, 1));
    let punted = switch.take_punted().remove(0);
    let resumed = switch.resume(punted).expect("the switch runs");
    assert_eq!(resumed.outputs[0].bytes, [2, 0xaa]);
}

/// Resubmitted packets count themselves in a register that others read: in a burst, who comes first would depend on its size.
#[test]
fn files_run_packet_by_packet_where_packets_that_enter_again_share_state() {
    let text = "program again for v1model
header h.a: a_t { x: 8 }
variable error: 32
variable twice: bool
variable count: 8
register seen: 8 [1]
parser p { start start, accept work, reject work, error error }
entry start
node start: state of p { extract h.a } -> work
node work: block {
  read seen at 1w0 into count
  write seen at 1w0 = count + 1
} -> ingress
node ingress: buffer {
  when h.a.x == 1 && !twice: resubmit original keep {} set { twice = true } -> start
  otherwise -> number
}
node number: block { h.a.x = h.a.x << 3w4 | count } -> out
node out: deparse { emit h.a } -> send
node send: buffer { send 32w2 }
";
    let program = hlir::text::parse_program(text).expect("the program is well formed");
    let commands = stf::parse("packet 1 01\npacket 1 05\nexpect 2 11 $\nexpect 2 52 $\n").expect("the text is STF");
    let mut switch = Switch::new(&program, 0, PORTS);
    let report = stf::run(&program, &commands, &mut switch, 64).expect("the names are known");
    assert_eq!(report.failures, []);
    assert_eq!(report.notes, ["packets that enter again touch register `seen`: run packet by packet"]);
    let frames = [Frame { port: 1, bytes: vec![1] }, Frame { port: 1, bytes: vec![5] }];
    let mut switch = Switch::new(&program, 0, PORTS);
    let outcome = switch.process(&frames).expect("the switch runs");
    let sent: Vec<&[u8]> = outcome.outputs.iter().map(|output| output.bytes.as_slice()).collect();
    assert_eq!(sent, [[0x51], [0x12]], "in a burst the second packet comes before the resubmitted one");
}
