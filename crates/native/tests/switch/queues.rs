//! The delay of packets in a plan's queues: burst by burst, without empty bursts that flush them.

use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::Program;
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Pipeline, Settings, Trace};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const KNOWN: u16 = 0x0800;
const WAITING: u16 = 0x0806;
/// Bytes before a packet's number, without and with the mark of queued packets.
const FRONT: [usize; 2] = [14, 28];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/plans").join(name)
}

/// A program of the plans' tests.
pub fn example(program: &str) -> frontend::Loaded {
    frontend::load(&Source::plain(&file(program))).expect("the example is a program")
}

/// It under a plan.
pub fn compiled(program: &str, plan: &str) -> (Arc<Pipeline>, Program) {
    let text = std::fs::read_to_string(file(plan)).expect("the plan can be read");
    let whole = format!("{}\n{text}", hlir::text::print_program(&example(program).program));
    let plan = hlir::text::parse_file(&whole).expect("the plan is one").plan.expect("the file has a plan");
    let passes = Passes { passes: Some(Vec::new()), ..Passes::default() };
    compile::pipeline(example(program), &passes, &Native::default(), |planned| *planned = plan)
        .unwrap_or_else(|failure| panic!("the example compiles: {failure:?}"))
}

/// The example, with five packets before `hosts` for three bursts and three before `slow` for one.
fn waits() -> (Program, Arc<Pipeline>, Program) {
    let (pipeline, compiled) = compiled("queues.hlir", "queues.plan");
    (example("queues.hlir").program, pipeline, compiled)
}

/// A sent packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    number: u8,
    /// Of queued packets: the order in which they left the queue, and their time of arrival.
    turn: u32,
    came: u64,
}

/// Runs one burst after the other; packets are numbered from 0 on.
struct Wire<'p> {
    engine: NativeEngine<'p, MemoryPort>,
    next: u8,
}

impl<'p> Wire<'p> {
    fn new(program: &'p Program, compiled: &'p Program, pipeline: Arc<Pipeline>) -> Wire<'p> {
        let worker_ports = || vec![MemoryPort::new(Buffers::default())];
        let settings = Settings { ports: 8, seed: 0 };
        let mut engine = NativeEngine::new((program, compiled), pipeline, settings, worker_ports).expect("it attaches");
        engine.switch().ports_of(0).expect("its worker runs here").keep_sent();
        Wire { engine, next: 0 }
    }

    /// A burst at a time: `k` is a packet with an entry, `w` one that is queued, `s` one that is queued twice.
    fn burst(&mut self, clock: u64, kinds: &str) -> Vec<Sent> {
        let frames: Vec<Vec<u8>> = kinds.chars().map(|kind| self.frame(kind)).collect();
        self.engine.switch().set_clock(clock);
        let own_ports = self.engine.switch().ports_of(0).expect("its worker runs here");
        own_ports.hold(!frames.is_empty());
        own_ports.load(Trace::new(frames.iter().map(|frame| (0, frame.as_slice()))), frames.len() as u64, 0);
        self.engine.switch().run(0);
        self.sent()
    }

    fn frame(&mut self, kind: char) -> Vec<u8> {
        let mut frame = vec![0; 60];
        let (of, from) = match kind {
            'k' => (KNOWN, 9),
            's' => (WAITING, 1),
            _ => (WAITING, 9),
        };
        frame[11] = from;
        frame[12..14].copy_from_slice(&of.to_be_bytes());
        frame[14] = self.next;
        self.next += 1;
        frame
    }

    fn sent(&mut self) -> Vec<Sent> {
        let packets = self.engine.switch().ports_of(0).expect("its worker runs here").take_sent();
        let sent = |bytes: &[u8]| {
            let has_waited = u16::from_be_bytes([bytes[12], bytes[13]]) != KNOWN;
            let number = |at: usize, length: usize| {
                bytes[at..at + length].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
            };
            let (turn, came) = if has_waited { (number(14, 4) as u32, number(18, 8)) } else { (0, 0) };
            Sent { number: bytes[FRONT[usize::from(has_waited)]], turn, came }
        };
        packets.iter().map(|packet| sent(&packet.bytes)).collect()
    }

    fn numbers(&mut self, clock: u64, kinds: &str) -> Vec<u8> {
        self.burst(clock, kinds).iter().map(|sent| sent.number).collect()
    }

    fn held(&mut self) -> u32 {
        self.engine.switch().ports_of(0).expect("its worker runs here").held()
    }
}

fn with_wire(test: impl FnOnce(&mut Wire<'_>)) {
    let (program, pipeline, compiled) = waits();
    test(&mut Wire::new(&program, &compiled, pipeline));
}

#[test]
fn packets_leave_their_queue_at_its_timeout() {
    with_wire(|wire| {
        assert_eq!(wire.numbers(100, "wk"), [1], "the first packet waits, and is overtaken");
        assert_eq!(wire.held(), 1);
        assert_eq!(wire.numbers(200, "wk"), [3]);
        let third = wire.burst(300, "k");
        let numbers: Vec<u8> = third.iter().map(|sent| sent.number).collect();
        assert_eq!(numbers, [4, 0, 2], "both go on at the end of the first one's third burst");
        assert_eq!(third[1..].iter().map(|sent| (sent.turn, sent.came)).collect::<Vec<_>>(), [(0, 100), (1, 200)]);
        assert_eq!(wire.held(), 0);
        assert_eq!(wire.numbers(400, "w"), [0; 0], "another begins to wait anew");
        assert_eq!(wire.numbers(500, "k"), [6]);
        assert_eq!(wire.numbers(600, "k"), [7, 5]);
    });
}

#[test]
fn a_full_queue_is_emptied_at_once_and_the_timeout_restarts() {
    with_wire(|wire| {
        assert_eq!(wire.numbers(1, "www"), [0; 0]);
        assert_eq!(wire.numbers(2, "kwwwk"), [3, 0, 1, 2, 4, 5, 7], "the fifth that waits lets all go on");
        assert_eq!(wire.held(), 1);
        assert_eq!(wire.numbers(3, "k"), [8]);
        assert_eq!(wire.numbers(4, "k"), [9, 6]);
        assert_eq!(wire.held(), 0);
    });
}

#[test]
fn an_empty_burst_flushes_every_queue() {
    with_wire(|wire| {
        assert_eq!(wire.numbers(1, "wsw"), [0; 0]);
        let sent = wire.burst(2, "");
        assert_eq!(sent.iter().map(|sent| sent.number).collect::<Vec<u8>>(), [0, 2, 1], "one has waited in two queues");
        assert_eq!(sent.iter().map(|sent| (sent.turn, sent.came)).collect::<Vec<_>>(), [(0, 1), (2, 1), (1, 1)]);
        assert_eq!(wire.held(), 0);
        assert_eq!(wire.numbers(3, ""), [0; 0]);
    });
}

#[test]
fn queues_are_flushed_before_an_exchange() {
    let (program, pipeline, compiled) = waits();
    let mut wire = Wire::new(&program, &compiled, pipeline.clone());
    assert_eq!(wire.numbers(1, "wsww"), [0; 0]);
    assert_eq!(wire.held(), 4);
    wire.engine.exchange(&compiled, pipeline).expect("a pipeline can take the place of another");
    let numbers: Vec<u8> = wire.sent().iter().map(|sent| sent.number).collect();
    assert_eq!((numbers, wire.held()), (vec![0, 2, 3, 1], 0));
    assert_eq!(wire.numbers(2, "k"), [4]);
}
