//! Runs a program on the evaluator and on the compiler with its interpreter, and reports where they differ.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use control::DataPlane;
use control::plane::Frame;
use hlir::diagnostic::Diagnostic;
use interp::{PORTS, Switch};
use p4::Parsed;

use crate::custom::Custom;
use crate::evaluate::{Machine, Run, Sent, Stop};
use crate::scheduled::{self, Compared};
use crate::stf::{control, hex, packet};

/// What came of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both send the same packets.
    Same {
        packets: usize,
        /// What schedules of the program's paths did, as the interpreter does.
        compared: Compared,
    },
    /// It uses a value that nothing defines.
    Undefined(String),
    Different(Difference),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub kind: Kind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The check or lowering refuses the program.
    Refused,
    /// The compiler or the interpreter panics.
    Panicked,
    /// The STF runner refuses an entry, or the interpreter a packet.
    NotRun,
    /// Other packets leave.
    Packets,
    /// The schedule of a hot path does something else than the interpreter.
    Scheduled,
    /// Native code sends other packets than the interpreter and the evaluator.
    Native,
    /// No native code is made.
    NotCompiled,
    /// The evaluator does not know something.
    Unknown,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Refused => "refused",
            Kind::Panicked => "panicked",
            Kind::NotRun => "not run",
            Kind::Packets => "other packets",
            Kind::Scheduled => "other packets by a schedule",
            Kind::Native => "other packets from native code",
            Kind::NotCompiled => "no native code",
            Kind::Unknown => "unknown to the evaluator",
        }
    }
}

fn different(kind: Kind, message: impl Into<String>) -> Outcome {
    Outcome::Different(Difference { kind, message: message.into() })
}

/// What the evaluator expects: for each packet what is sent, and what it noted as undefined.
pub type Expected = (Vec<Vec<Sent>>, Vec<String>);

/// The packets that leave by the evaluator, for each packet of the lines.
pub fn expected(parsed: &Parsed, lines: &[String]) -> Run<Expected> {
    let mut machine = Machine::new(&parsed.program)?;
    let mut sent = Vec::new();
    for line in lines {
        match line.strip_prefix("packet ") {
            Some(rest) => {
                let (port, bytes) = packet(rest)?;
                sent.push(machine.process(port, &bytes)?);
            }
            None => control(&mut machine, line)?,
        }
    }
    Ok((sent, machine.undefined))
}

/// Lines with what the evaluator expects behind each packet: an STF file.
pub fn with_expectations(lines: &[String], sent: &[Vec<Sent>]) -> String {
    let mut text = String::new();
    let mut sent = sent.iter();
    for line in lines {
        text.push_str(&format!("{line}\n"));
        if line.starts_with("packet ") {
            for Sent { port, bytes } in sent.next().into_iter().flatten() {
                text.push_str(&format!("expect {port} {} $\n", hex(bytes)));
            }
        }
    }
    text
}

/// Compares the two on a program that was preprocessed.
pub fn judge(text: &str, lines: &[String]) -> Outcome {
    p4::with_deep_stack(|| {
        let parsed = match catch_unwind(|| p4::parse("program.p4", text)) {
            Ok(parsed) => parsed,
            Err(panic) => return different(Kind::Panicked, sentence(&*panic)),
        };
        if let Some(error) = first_error(&parsed.diagnostics, &parsed) {
            return different(Kind::Refused, error);
        }
        let (sent, undefined) = match catch_unwind(AssertUnwindSafe(|| expected(&parsed, lines))) {
            Ok(Ok(expected)) => expected,
            Ok(Err(Stop::Unsupported(what))) => return different(Kind::Unknown, what),
            Ok(Err(other)) => return different(Kind::Unknown, format!("{other:?}")),
            Err(panic) => return different(Kind::Unknown, sentence(&*panic)),
        };
        if let Some(what) = undefined.first() {
            return Outcome::Undefined(what.clone());
        }
        match catch_unwind(AssertUnwindSafe(|| run(&parsed, lines, &sent))) {
            Ok(outcome) => outcome,
            Err(panic) => different(Kind::Panicked, sentence(&*panic)),
        }
    })
}

fn sentence(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a sentence").to_string()
}

fn first_error(diagnostics: &[Diagnostic], parsed: &Parsed) -> Option<String> {
    let error = diagnostics.iter().find(|diagnostic| diagnostic.is_error())?;
    Some(error.render(&parsed.map))
}

/// Checks, lowers and interprets the program.
fn run(parsed: &Parsed, lines: &[String], sent: &[Vec<Sent>]) -> Outcome {
    let (checked, diagnostics) = p4::check::check(&parsed.program);
    if let Some(error) = first_error(&diagnostics, parsed) {
        return different(Kind::Refused, error);
    }
    let program = match p4::lower(&checked, &parsed.map, "program") {
        Ok(program) => program,
        Err(diagnostics) => {
            let error = first_error(&diagnostics, parsed).unwrap_or("lowering failed without an error".into());
            return different(Kind::Refused, error);
        }
    };
    let mut engine = Switch::new(&program, 0, PORTS);
    engine.bind(Some(Box::new(Custom::new(&program))));
    let (packets, control): (Vec<&String>, Vec<&String>) = lines.iter().partition(|line| line.starts_with("packet "));
    // Nodes of groups are numbered within one text.
    let (groups, control): (Vec<&String>, Vec<&String>) = control.into_iter().partition(|line| is_of_group(line));
    let groups: String = groups.iter().map(|line| format!("{line}\n")).collect();
    for line in control.into_iter().chain([&groups]) {
        match configured(&program, line, &mut engine) {
            Ok(_) => {}
            Err(first) => return different(Kind::NotRun, format!("{line}: {first}")),
        }
    }
    for (line, expected) in packets.iter().zip(sent) {
        let Some(frame) = frame(line) else { continue };
        let found = match engine.process(&[frame]) {
            Ok(outcome) => outcome.outputs,
            Err(refusal) => return different(Kind::NotRun, refusal.sentence),
        };
        let found: Vec<Sent> = found.into_iter().map(|out| Sent { port: out.port, bytes: out.bytes }).collect();
        if sorted(&found) != sorted(expected) {
            return different(
                Kind::Packets,
                format!("{line}\n  expected {}\n  found    {}", shown(expected), shown(&found)),
            );
        }
    }
    let frames: Vec<Frame> = packets.iter().filter_map(|line| frame(line)).collect();
    match scheduled::compare(&program, &mut engine, &frames, frames.len() as u64) {
        Ok(compared) => Outcome::Same { packets: packets.len(), compared },
        Err(sentence) => different(Kind::Scheduled, sentence),
    }
}

/// The packet of a line.
fn frame(line: &str) -> Option<Frame> {
    let (port, bytes) = packet(line.trim_start_matches("packet ")).ok()?;
    Some(Frame { port, bytes })
}

fn is_of_group(line: &str) -> bool {
    line.starts_with("mc_")
}

/// The order in which the copies of a packet leave is not specified.
fn sorted(sent: &[Sent]) -> Vec<&Sent> {
    let mut sorted: Vec<&Sent> = sent.iter().collect();
    sorted.sort_by_key(|sent| (sent.port, &sent.bytes));
    sorted
}

/// Executes a control line; false if what it names is not there. Lowering leaves out what no packet reaches, and whether it was right the
/// packets show.
fn configured(program: &hlir::Program, line: &str, engine: &mut Switch<'_>) -> Result<bool, String> {
    let configured = stf::parse(line).and_then(|commands| stf::configure(program, &commands, engine));
    match configured.map_err(|mistakes| mistakes.first().map(ToString::to_string).unwrap_or_default()) {
        Ok(_) => Ok(true),
        // Members of a profile are not there where none of its tables is.
        Err(first) if line.starts_with("group ") && first.contains("has no member") => Ok(false),
        Err(first)
            if ["table", "value set", "register"].iter().any(|of| first.contains(&format!("there is no {of}"))) =>
        {
            Ok(false)
        }
        Err(first) => Err(first),
    }
}

/// The lines whose tables and value sets the compiled program has.
pub fn present(parsed: &Parsed, lines: &[String]) -> Vec<String> {
    p4::with_deep_stack(|| {
        let (checked, _) = p4::check::check(&parsed.program);
        let Ok(program) = p4::lower(&checked, &parsed.map, "program") else { return lines.to_vec() };
        let mut engine = Switch::new(&program, 0, PORTS);
        let mut is_there = |line: &str| {
            line.starts_with("packet ") || is_of_group(line) || configured(&program, line, &mut engine) != Ok(false)
        };
        lines.iter().filter(|line| is_there(line)).cloned().collect()
    })
}

fn shown(sent: &[Sent]) -> String {
    if sent.is_empty() {
        return "no packet".into();
    }
    sent.iter().map(|sent| format!("{}: {}", sent.port, hex(&sent.bytes))).collect::<Vec<_>>().join(", ")
}
