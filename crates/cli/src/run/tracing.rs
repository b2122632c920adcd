//! Traces of packets on a live switch: copies of what workers receive run through the reference interpreter, with the contents of the store.
//!
//! A trace has a thread of its own, which ends when no client asks for a while. While there is none, workers run the pipeline as it is.

use super::contents::Contents;
use super::live::{Shared, TapUser};
use control::message::switch::trace_step::Step;
use control::message::switch::{TraceNames, TraceRequest, TraceResponse, TraceStep, TracedPacket};
use control::plane::Frame;
use control::{DataPlane as _, Refusal, RefusalKind};
use hlir::Program;
use interp::{Interest, Parsed};
use native::Replay;
use num_bigint::BigUint;
use runtime::tap::Tapped;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stf::filter::{Facts, Filter, Subject};

/// An answer comes after this at the latest.
const ANSWER: Duration = Duration::from_millis(200);
/// A trace without a client ends.
const ABANDONED: Duration = Duration::from_secs(5);
/// Between two looks at the queues.
const LOOK: Duration = Duration::from_millis(2);
/// Contents that have changed are copied again this often.
const REFRESH: Duration = Duration::from_secs(1);
/// Packets that are taken from a worker at once.
const TOGETHER: usize = 64;
const MOST_PACKETS: u32 = 1024;

/// The trace of a switch, if one runs.
#[derive(Clone, Default)]
pub struct Tracing(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    last: u64,
    running: Option<(u64, Sender<Question>)>,
}

struct Question {
    most: usize,
    rate: u32,
    compact: bool,
    is_first: bool,
    answer: Sender<Result<TraceResponse, Refusal>>,
}

impl Tracing {
    /// Begins a trace, or goes on with it.
    pub fn ask<L: Replay>(&self, switch: &Shared<L>, request: &TraceRequest) -> Result<TraceResponse, Refusal> {
        let (number, questions) = self.questions(switch, request)?;
        let (answer, answered) = mpsc::channel();
        let most = request.most.clamp(1, MOST_PACKETS) as usize;
        let ended = || {
            Refusal::new(RefusalKind::Missing, "the trace has ended: another has begun, or the pipeline was exchanged")
        };
        let question = Question {
            most,
            rate: request.rate.max(1),
            compact: request.compact,
            is_first: request.trace == 0,
            answer,
        };
        questions.send(question).map_err(|_| ended())?;
        let traced = answered.recv().map_err(|_| ended())??;
        Ok(TraceResponse { trace: number, ..traced })
    }

    /// Ends the trace that runs, if one does.
    pub fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).running = None;
    }

    fn questions<L: Replay>(
        &self,
        switch: &Shared<L>,
        request: &TraceRequest,
    ) -> Result<(u64, Sender<Question>), Refusal> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if request.trace != 0 {
            let running = state.running.as_ref().filter(|(number, _)| *number == request.trace);
            return running.cloned().ok_or_else(|| Refusal::new(RefusalKind::Missing, "this trace has ended"));
        }
        let program = {
            let mut live = switch.lock();
            live.engine().map(|engine| engine.program()).ok_or_else(|| Refusal::wrong("no pipeline runs"))?
        };
        if !program.externs.is_empty() {
            let sentence = "packets of programs with externs of the user's own are not traced: the interpreter has no such functions here";
            return Err(Refusal::wrong(sentence));
        }
        let filter = Filter::parse(&program, &request.filter).map_err(|mistake| Refusal::wrong(mistake.to_string()))?;
        let (sender, questions) = mpsc::channel();
        state.last += 1;
        state.running = Some((state.last, sender.clone()));
        let (switch, tracing, number) = (switch.clone(), self.clone(), state.last);
        std::thread::spawn(move || {
            // At the end of the trace, or of this thread by a fault.
            let _untap = Untap { switch: switch.clone(), tracing, number };
            Trace { switch: &switch, program: &program, filter: &filter }.run(&questions);
        });
        Ok((state.last, sender))
    }
}

/// Ends the copying of packets, unless another trace has begun, which needs it.
struct Untap<L: Replay> {
    switch: Shared<L>,
    tracing: Tracing,
    number: u64,
}

impl<L: Replay> Drop for Untap<L> {
    fn drop(&mut self) {
        let state = self.tracing.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.last == self.number {
            self.switch.lock().untap(TapUser::Trace);
        }
    }
}

/// A trace on its thread.
struct Trace<'t, L: Replay> {
    switch: &'t Shared<L>,
    program: &'t Arc<Program>,
    filter: &'t Filter,
}

/// How many packets may still be looked at in this second.
struct Rate {
    begin: Instant,
    looked_at: u32,
}

impl<L: Replay> Trace<'_, L> {
    fn run(&self, questions: &Receiver<Question>) {
        let mut interpreter = None;
        let mut copied = Instant::now();
        let mut version = None;
        let mut rate = Rate { begin: Instant::now(), looked_at: 0 };
        loop {
            let question = match questions.recv_timeout(ABANDONED) {
                Ok(question) => question,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            };
            if version != self.version() && (version.is_none() || copied.elapsed() >= REFRESH) {
                match self.prepared() {
                    Ok((fresh, of)) => (interpreter, version) = (Some(fresh), Some(of)),
                    Err(refusal) => return drop(question.answer.send(Err(refusal))),
                }
                copied = Instant::now();
            }
            let Some(interpreter) = interpreter.as_mut() else { return };
            let answer = self.answer(interpreter, &question, &mut rate);
            if interpreter.is_stopped() {
                // By an assertion of the program: the next packet finds it as it was.
                version = None;
            }
            if !matches!((answer.is_ok(), question.answer.send(answer)), (true, Ok(()))) {
                return;
            }
        }
    }

    /// Of the store; none if another program runs.
    fn version(&self) -> Option<u64> {
        self.with_engine(|engine| Ok(engine.store().version())).ok()
    }

    fn with_engine<T>(
        &self,
        work: impl FnOnce(&mut super::live::Engine<L>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut live = self.switch.lock();
        let is_its = |engine: &&mut super::live::Engine<L>| Arc::ptr_eq(&engine.program(), self.program);
        let engine = live.engine().filter(is_its);
        work(
            engine
                .ok_or_else(|| Refusal::new(RefusalKind::Missing, "the trace has ended: the pipeline was exchanged"))?,
        )
    }

    /// An interpreter with the contents of the switch.
    fn prepared(&self) -> Result<(interp::Switch<'_>, u64), Refusal> {
        self.switch.lock().tap(TapUser::Trace, u64::MAX);
        let contents = self.with_engine(|engine| Ok(Contents::of(engine)))?;
        let version = contents.store.version();
        let mut interpreter = interp::Switch::new(self.program, 0, interp::PORTS);
        contents.restore_into(&mut interpreter)?;
        let filter = self.filter;
        interpreter.watch(|parsed| {
            let seen = Seen { parsed: Some(parsed), port: parsed.port, bytes: parsed.bytes, end: None };
            filter
                .decide(&seen)
                .map_or(Interest::Open, |is_wanted| if is_wanted { Interest::Yes } else { Interest::No })
        });
        Ok((interpreter, version))
    }

    /// The packets that match, as they come.
    fn answer(
        &self,
        interpreter: &mut interp::Switch<'_>,
        question: &Question,
        rate: &mut Rate,
    ) -> Result<TraceResponse, Refusal> {
        let begin = Instant::now();
        let names = (question.compact && question.is_first).then(|| interpreter.names_of_steps().clone());
        let mut response = TraceResponse { names, ..TraceResponse::default() };
        while response.packets.len() < question.most && begin.elapsed() < ANSWER {
            let together = TOGETHER.min(question.most - response.packets.len());
            let (tapped, lost) = self.with_engine(|engine| Ok(engine.switch().take_tapped(together)))?;
            response.passed_over += lost;
            if tapped.is_empty() {
                std::thread::sleep(LOOK);
            }
            for packet in tapped {
                if !rate.allows(question.rate) || response.packets.len() >= question.most {
                    response.passed_over += 1;
                    continue;
                }
                response.looked_at += 1;
                response.packets.extend(self.traced(interpreter, packet, question.compact));
            }
        }
        Ok(response)
    }

    /// The path of a packet, if it matches.
    fn traced(&self, interpreter: &mut interp::Switch<'_>, packet: Tapped, compact: bool) -> Option<TracedPacket> {
        let frame = Frame { port: packet.port.into(), bytes: packet.bytes };
        interpreter.pass_time(packet.clock_ns);
        // A packet at which the program stops has its steps as well.
        let outcome = interpreter.process(std::slice::from_ref(&frame)).unwrap_or_default();
        interpreter.take_punted();
        let is_wanted = match interpreter.interest() {
            Interest::Yes => true,
            Interest::No => false,
            Interest::Open => {
                let outputs: Vec<u32> = outcome.outputs.iter().map(|output| output.port).collect();
                let end = Some(End { outputs: &outputs, is_dropped: interpreter.has_dropped() });
                let (port, bytes) = (frame.port, frame.bytes.len());
                self.filter.decide(&Seen { parsed: interpreter.parsed().as_ref(), port, bytes, end }) == Some(true)
            }
        };
        if !is_wanted {
            interpreter.forget_steps();
            return None;
        }
        let sent = outcome.outputs.into_iter().map(|output| output.bytes);
        let traced = TracedPacket {
            port: frame.port,
            clock_ns: packet.clock_ns,
            received: frame.bytes,
            path: interpreter.take_path(),
            sent: sent.collect(),
            ..TracedPacket::default()
        };
        if compact {
            return Some(traced);
        }
        let names = interpreter.names_of_steps();
        Some(with_steps(traced, names).expect("the path was made with these names"))
    }
}

impl Rate {
    fn allows(&mut self, rate: u32) -> bool {
        if self.begin.elapsed() >= Duration::from_secs(1) {
            *self = Rate { begin: Instant::now(), looked_at: 0 };
        }
        self.looked_at += 1;
        self.looked_at <= rate
    }
}

/// What a filter can ask of a packet.
struct Seen<'s> {
    parsed: Option<&'s Parsed<'s>>,
    port: u32,
    bytes: usize,
    /// None while the packet is under way.
    end: Option<End<'s>>,
}

struct End<'s> {
    outputs: &'s [u32],
    is_dropped: bool,
}

impl Facts for Seen<'_> {
    fn values(&self, subject: Subject) -> Option<Vec<BigUint>> {
        let truth = |is: bool| vec![BigUint::from(u8::from(is))];
        let parsed = self.parsed;
        Some(match subject {
            Subject::Field(field) => parsed.and_then(|parsed| parsed.field(field)).into_iter().collect(),
            Subject::Variable(variable) => parsed.iter().map(|parsed| parsed.variable(variable)).collect(),
            Subject::Header(header) => truth(parsed.is_some_and(|parsed| parsed.has_header(header))),
            Subject::IngressPort => vec![self.port.into()],
            Subject::PacketLength => vec![self.bytes.into()],
            Subject::EgressPort => self.end.as_ref()?.outputs.iter().map(|port| (*port).into()).collect(),
            Subject::Dropped => truth(self.end.as_ref()?.is_dropped),
        })
    }
}

/// A packet of a compact trace with its steps; none if its path is not one with these names.
pub fn with_steps(mut packet: TracedPacket, names: &TraceNames) -> Option<TracedPacket> {
    let steps = interp::path::steps(names, &std::mem::take(&mut packet.path))?;
    let mut sent = std::mem::take(&mut packet.sent).into_iter();
    packet.steps = steps.into_iter().map(|step| with_bytes(step, &mut sent)).collect();
    Some(packet)
}

/// A step with the bytes of its packet, if it sends one; packets that are sent come in the order of their steps.
pub fn with_bytes(mut step: Step, sent: &mut impl Iterator<Item = Vec<u8>>) -> TraceStep {
    if let Step::Send(send) = &mut step {
        send.packet = sent.next().unwrap_or_default();
    }
    TraceStep { step: Some(step) }
}
