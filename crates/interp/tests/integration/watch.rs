//! Steps of packets that are chosen by what they have when their parser has ended.

use control::DataPlane;
use control::message::switch::trace_step::{Apply, Step};
use control::plane::Frame;
use hlir::{HeaderId, Program};
use interp::{Interest, PORTS, Switch};

/// Packets go to the port that the table has for them; each adds 1 to a register, which is the second byte of what is sent.
const REMEMBERS: &str = "program remembers for none
header h.a: a_t { what: 8, count: 8 }
variable error: 32
register r: 8 [1]
parser p { start start, accept ingress, reject ingress, error error }
entry start
node start: state of p { extract h.a } -> ingress
node ingress: block {
  read r at 32w0 into h.a.count
  h.a.count = h.a.count + 1
  write r at 32w0 = h.a.count
} -> deparse
node deparse: deparse { emit h.a } -> send
node send: buffer { send 32w3 }
";

fn program(text: &str) -> Program {
    let program = hlir::text::parse_program(text).expect("the program is well formed");
    assert_eq!(hlir::verify::verify(&program), []);
    program
}

fn l2fwd() -> Program {
    program(include_str!("../../../hlir/tests/programs/l2fwd.hlir"))
}

/// For a host of the program.
fn frame(host: u8) -> Frame {
    Frame { port: 3, bytes: [&[0, 0, 0, 0, 0, host], &[2; 6][..], &[8, 0], &[0; 46]].concat() }
}

fn process(switch: &mut Switch<'_>, frame: Frame) -> Vec<Vec<u8>> {
    let outcome = switch.process(&[frame]).expect("the switch runs");
    outcome.outputs.into_iter().map(|output| output.bytes).collect()
}

/// Packets for the host 0xaa.
fn is_wanted(program: &Program, parsed: &interp::Parsed<'_>) -> bool {
    let header: HeaderId = program.headers.iter().next().expect("it has one").0;
    assert!(parsed.has_header(header));
    parsed.field(hlir::FieldRef { header, field: 0 }) == Some(0xaa_u8.into())
}

#[test]
fn steps_of_wanted_packets_are_those_of_any_packet() {
    let program = l2fwd();
    let mut any = Switch::new(&program, 0, PORTS);
    any.start_steps();
    let sent = process(&mut any, frame(0xaa));
    let steps = any.take_steps();
    assert!(steps.iter().any(|step| matches!(step, Step::Apply(Apply { hit: Some(_), .. }))), "{steps:?}");
    assert_eq!(any.take_steps(), []);
    for interest in [Interest::Yes, Interest::Open] {
        let mut switch = Switch::new(&program, 0, PORTS);
        switch.watch(move |_| interest);
        assert_eq!(process(&mut switch, frame(0xaa)), sent);
        assert_eq!((switch.interest(), switch.parsed().is_some()), (interest, interest == Interest::Open));
        assert_eq!(switch.take_steps(), steps);
    }
}

/// What a reader gets may be cut off, or be of another program.
#[test]
fn a_path_that_is_not_whole_has_no_steps() {
    let program = l2fwd();
    let mut switch = Switch::new(&program, 0, PORTS);
    switch.start_steps();
    process(&mut switch, frame(0xaa));
    let (path, names) = (switch.take_path(), switch.names_of_steps().clone());
    process(&mut switch, frame(0xaa));
    let steps = switch.take_steps();
    assert_eq!(interp::path::steps(&names, &path).as_ref(), Some(&steps));
    let of_part = |end: usize| interp::path::steps(&names, &path[..end]);
    let whole: Vec<usize> = (0..path.len()).filter_map(|end| Some(of_part(end)?.len())).collect();
    assert_eq!(whole, (0..steps.len()).collect::<Vec<usize>>(), "each step ends at one place");
    assert_eq!(interp::path::steps(&control::message::switch::TraceNames::default(), &path), None);
}

#[test]
fn a_packet_that_is_not_wanted_ends_with_its_parser() {
    let program = l2fwd();
    let mut switch = Switch::new(&program, 0, PORTS);
    switch.watch(|parsed| if is_wanted(&program, parsed) { Interest::Yes } else { Interest::No });
    let lookups = |switch: &Switch<'_>| {
        let counts = program.tables.iter().map(|(table, _)| switch.table_counts(table));
        counts.map(|counts| counts.hits + counts.misses).sum::<u64>()
    };
    assert_eq!(process(&mut switch, frame(0xbb)).len(), 0);
    assert_eq!((switch.interest(), lookups(&switch)), (Interest::No, 0));
    switch.forget_steps();
    // The next one is looked at anew.
    assert_eq!(process(&mut switch, frame(0xaa)).len(), 1);
    assert_eq!((switch.interest(), lookups(&switch)), (Interest::Yes, 2));
}

#[test]
fn a_packet_that_others_remember_does_what_it_does() {
    let program = program(REMEMBERS);
    let mut switch = Switch::new(&program, 0, PORTS);
    switch.watch(|parsed| if is_wanted(&program, parsed) { Interest::Yes } else { Interest::No });
    let mut run = |what| {
        let sent = process(&mut switch, Frame { port: 1, bytes: vec![what, 0] });
        (sent, switch.take_steps().len())
    };
    assert_eq!([run(0xbb).1, run(0xbb).1], [0, 0]);
    let (sent, steps) = run(0xaa);
    assert_eq!(sent, [[0xaa, 3]]);
    assert!(steps > 0);
}
