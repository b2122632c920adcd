//! Runs an STF file on an engine, and reports what was not as expected.

use super::bind::{self, Act, Bound, Control, Step};
use super::command::{Command, Condition, Unit};
use super::compare::{Expectation, IdleEntries, Order, Ports, hex};
use super::{Mistake, Place, reentry};
use control::plane::{DigestRecord, Element, Frame, MeterRates, Outcome};
use control::{DataPlane, Refusal};
use hlir::{CounterId, DigestId, Program, RegisterId};
use num_bigint::BigUint;
use std::collections::BTreeMap;

/// What came of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What was not as expected. Line 0 is for unexpected output, which no line names.
    pub failures: Vec<Mistake>,
    /// What the reader of a result should know.
    pub notes: Vec<String>,
    /// What is taken, but is hardly meant so.
    pub warnings: Vec<Mistake>,
    /// What commands that read have read.
    pub printed: Vec<String>,
    pub packets: u64,
    pub outputs: u64,
}

impl Report {
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

/// Runs the commands, handing over up to `burst` packets at once. Mistakes in the commands are found before anything runs.
pub fn run(
    program: &Program,
    commands: &[Command],
    engine: &mut dyn DataPlane,
    burst: usize,
) -> Result<Report, Vec<Mistake>> {
    let Bound { steps, warnings } = bind::bind(program, commands)?;
    let mut runner = Runner::new(program, engine, burst);
    runner.report.warnings = warnings;
    for step in &steps {
        runner.step(step);
    }
    Ok(runner.finish())
}

/// What came of commands that configure a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configured {
    pub steps: u64,
    pub warnings: Vec<Mistake>,
    /// What commands that read have read.
    pub printed: Vec<String>,
}

/// Runs commands that configure a switch, as an entries file has them. A refusal is a mistake, too.
pub fn configure(
    program: &Program,
    commands: &[Command],
    engine: &mut dyn DataPlane,
) -> Result<Configured, Vec<Mistake>> {
    apply(program, bind::bind(program, commands)?, engine)
}

/// The same with commands whose names and values are resolved.
pub fn apply(program: &Program, bound: Bound, engine: &mut dyn DataPlane) -> Result<Configured, Vec<Mistake>> {
    let Bound { steps, warnings } = bound;
    let mut runner = Runner::new(program, engine, 1);
    for Step { place, act } in &steps {
        match act {
            Act::Control(control) => runner.control(*place, control),
            Act::Packet { .. } | Act::Expect { .. } | Act::ExpectDigest { .. } | Act::ExpectIdle(_) | Act::NoPacket => {
                let message = "packets and expectations do not belong here";
                runner.report.failures.push(Mistake::new(*place, message));
            }
        }
    }
    let Report { failures, printed, .. } = runner.report;
    if failures.is_empty() { Ok(Configured { steps: steps.len() as u64, warnings, printed }) } else { Err(failures) }
}

/// A digest that is expected, with the values of some of its fields.
struct ExpectedDigest {
    place: Place,
    fields: Vec<(usize, BigUint)>,
}

/// Since a `no_packet`: what each port had been promised, and had got.
struct Silence {
    place: Place,
    expected: BTreeMap<u32, usize>,
    seen: BTreeMap<u32, usize>,
}

pub(super) struct Runner<'a> {
    pub(super) program: &'a Program,
    engine: &'a mut dyn DataPlane,
    burst: usize,
    waiting: Vec<Frame>,
    ports: Ports,
    /// Packets that left by each port, mentioned or not.
    counts: BTreeMap<u32, usize>,
    silence: Option<Silence>,
    digests: Vec<DigestRecord>,
    expected_digests: BTreeMap<u32, Vec<ExpectedDigest>>,
    clock_ns: u64,
    stopped: bool,
    pub(super) idle: IdleEntries,
    pub(super) report: Report,
}

impl<'a> Runner<'a> {
    fn new(program: &'a Program, engine: &'a mut dyn DataPlane, burst: usize) -> Runner<'a> {
        let mut report = Report::default();
        let shared = if burst > 1 { reentry::shared_state(program) } else { None };
        if let Some(object) = &shared {
            report.notes.push(format!("packets that enter again touch {object}: run packet by packet"));
        }
        Runner {
            program,
            engine,
            burst: if shared.is_some() { 1 } else { burst.max(1) },
            waiting: Vec::new(),
            ports: Ports::default(),
            counts: BTreeMap::new(),
            silence: None,
            digests: Vec::new(),
            expected_digests: BTreeMap::new(),
            clock_ns: 0,
            stopped: false,
            idle: IdleEntries::default(),
            report,
        }
    }

    fn step(&mut self, step: &Step) {
        match &step.act {
            Act::Packet { port, bytes } => {
                self.ports.mentioned.insert(*port);
                self.waiting.push(Frame { port: *port, bytes: bytes.clone() });
                if self.waiting.len() >= self.burst {
                    self.flush();
                }
            }
            Act::Expect { port, pattern } => {
                self.ports.mentioned.insert(*port);
                let expectation = Expectation { place: step.place, pattern: pattern.clone() };
                self.ports.expectations.entry(*port).or_default().push(expectation);
            }
            Act::ExpectDigest { digest, fields } => {
                let expected = ExpectedDigest { place: step.place, fields: fields.clone() };
                self.expected_digests.entry(digest.into_raw().into_u32()).or_default().push(expected);
            }
            Act::ExpectIdle(key) => self.idle.expect(step.place, key.clone()),
            Act::NoPacket => {
                self.flush();
                let expectations = self.ports.expectations.keys();
                let expected = expectations.map(|port| (*port, self.ports.expected(*port))).collect();
                self.silence = Some(Silence { place: step.place, expected, seen: self.counts.clone() });
            }
            Act::Control(control) => self.control(step.place, control),
        }
    }

    /// Everything but packets and expectations: it happens between bursts.
    fn control(&mut self, place: Place, control: &Control) {
        self.flush();
        self.end_silence();
        if let Err(refusal) = self.obey(place, control) {
            self.report.failures.push(Mistake::new(place, refusal.sentence));
        }
    }

    fn obey(&mut self, place: Place, control: &Control) -> Result<(), Refusal> {
        match control {
            Control::Insert(table, entry) => self.engine.insert(*table, entry),
            Control::Modify(table, entry) => self.engine.modify(*table, entry),
            Control::Delete(key) => self.engine.delete(key),
            Control::Clear => self.program.tables.iter().try_for_each(|(table, _)| self.engine.clear(table)),
            Control::SetDefault(table, call) => self.engine.set_default(*table, call),
            Control::SetMember(profile, id, call) => self.engine.set_member(*profile, *id, call),
            Control::SetGroup(profile, id, value) => self.engine.set_group(*profile, *id, value),
            Control::CheckCounter { name, counter, element, condition } => {
                self.check_counter(place, name, (*counter, element), *condition)
            }
            Control::ReadCounter(counter, index) => {
                let value = self.engine.read_counter(*counter, &Element::Index(*index))?;
                let name = &self.program.counters[*counter].name;
                self.print(format!("{name}[{index}]: {} packets, {} bytes", value.packets, value.bytes));
                Ok(())
            }
            Control::WriteCounter(counter, index, value) => {
                self.engine.write_counter(*counter, &Element::Index(*index), *value)
            }
            Control::ReadRegister(register, index) => self.read_register(*register, *index),
            Control::WriteRegister(register, index, value) => self.engine.write_register(*register, *index, value),
            Control::ReadMeter(meter, index) => {
                let rates = self.engine.meter_rates(*meter, &Element::Index(*index))?;
                let shown = rates.map_or("no rates".to_string(), |rates| {
                    let MeterRates { committed_rate, committed_burst, peak_rate, peak_burst } = rates;
                    format!("{committed_rate}/s burst {committed_burst}, peak {peak_rate}/s burst {peak_burst}")
                });
                self.print(format!("{}[{index}]: {shown}", self.program.meters[*meter].name));
                Ok(())
            }
            Control::SetMeter(meter, Some(index), rates) => {
                self.engine.set_meter(*meter, &Element::Index(*index), Some(*rates))
            }
            Control::SetMeter(meter, None, rates) => (0..self.program.meters[*meter].size)
                .try_for_each(|index| self.engine.set_meter(*meter, &Element::Index(index), Some(*rates))),
            Control::Crc(crc, parameters) => self.engine.set_crc(*crc, Some(*parameters)),
            Control::ValueSet(set, members) => self.engine.set_value_set(*set, members),
            Control::Multicast(group, value) => self.engine.set_multicast(*group, value),
            Control::Session(session, value) => self.engine.set_session(*session, value.as_ref()),
            Control::IdleTimeout(key, time) => self.engine.set_idle_timeout(key, *time),
            Control::Expiry(table, profile, time) => self.engine.set_expiry(*table, *profile, *time),
            Control::Attach(update) => self.engine.write(update).map(drop),
            Control::Clock(nanoseconds) => {
                self.clock_ns += nanoseconds;
                self.engine.set_clock(self.clock_ns);
                let idle = self.engine.take_idle();
                self.idle.found(idle);
                Ok(())
            }
            Control::Seed(seed) => {
                self.engine.set_seed(*seed);
                Ok(())
            }
            Control::Nothing => Ok(()),
        }
    }

    fn check_counter(
        &mut self,
        place: Place,
        name: &str,
        (counter, element): (CounterId, &Element),
        condition: Condition,
    ) -> Result<(), Refusal> {
        let value = self.engine.read_counter(counter, element)?;
        let found = match condition.unit {
            Unit::Packets => value.packets,
            Unit::Bytes => value.bytes,
        };
        if !condition.relation.holds(found, condition.number) {
            let (unit, relation) = (condition.unit.text(), condition.relation.text());
            let message = format!("{name}: expected {unit} {relation} {}, found {found}", condition.number);
            self.report.failures.push(Mistake::new(place, message));
        }
        Ok(())
    }

    fn read_register(&mut self, register: RegisterId, index: u64) -> Result<(), Refusal> {
        let value = self.engine.read_register(register, index)?;
        self.print(format!("{}[{index}]: {value:#x}", self.program.registers[register].name));
        Ok(())
    }

    fn print(&mut self, line: String) {
        self.report.printed.push(line);
    }

    fn flush(&mut self) {
        let burst = std::mem::take(&mut self.waiting);
        if burst.is_empty() || self.stopped {
            return;
        }
        self.report.packets += burst.len() as u64;
        match self.engine.process(&burst) {
            Ok(outcome) => self.collect(outcome),
            Err(refusal) => {
                self.stopped = true;
                self.report.failures.push(Mistake::new(Place { line: 0, column: 0 }, refusal.sentence));
            }
        }
    }

    fn collect(&mut self, outcome: Outcome) {
        self.report.outputs += outcome.outputs.len() as u64;
        for output in outcome.outputs {
            *self.counts.entry(output.port).or_default() += 1;
            self.ports.outputs.entry(output.port).or_default().push(output.bytes);
        }
        self.digests.extend(outcome.digests);
        self.report.printed.extend(outcome.log);
        if let Some(sentence) = outcome.stopped {
            self.stopped = true;
            self.report.notes.push(format!("the switch stopped: {sentence}"));
        }
    }

    /// Checks that since the last `no_packet` nothing left that had not been promised before.
    fn end_silence(&mut self) {
        let Some(Silence { place, expected, seen }) = self.silence.take() else { return };
        for (port, count) in &self.counts {
            let seen = seen.get(port).copied().unwrap_or(0);
            let promised = expected.get(port).copied().unwrap_or(0).max(seen);
            if let Some(packet) = self.ports.outputs.get(port).and_then(|packets| packets.get(promised)) {
                let more = count - promised;
                let message = format!("expected no packet, but {more} left by port {port}: {}", hex(packet));
                self.report.failures.push(Mistake::new(place, message));
            }
        }
    }

    fn finish(mut self) -> Report {
        self.flush();
        self.end_silence();
        let order = if self.burst == 1 { Order::Kept } else { Order::Open };
        self.report.failures.extend(self.ports.compare(order));
        self.compare_digests();
        self.compare_idle();
        self.report
    }

    /// Digests that any command mentions must come as often as they are expected, in any order.
    fn compare_digests(&mut self) {
        for (digest, expectations) in &self.expected_digests {
            let of_kind = self.digests.iter().filter(|record| record.digest.into_raw().into_u32() == *digest);
            let mut left: Vec<&DigestRecord> = of_kind.collect();
            for expected in expectations {
                let fits = |record: &&DigestRecord| {
                    expected.fields.iter().all(|(field, value)| record.values.get(*field) == Some(value))
                };
                match left.iter().position(fits) {
                    Some(index) => drop(left.remove(index)),
                    None => {
                        let message = match left.first() {
                            Some(record) => format!("no such digest came; there was {}", self.digest_text(record)),
                            None => "no such digest came".to_string(),
                        };
                        self.report.failures.push(Mistake::new(expected.place, message));
                    }
                }
            }
            let unexpected = left.into_iter().map(|record| format!("unexpected digest {}", self.digest_text(record)));
            let unexpected = unexpected.map(|message| Mistake::new(Place { line: 0, column: 0 }, message));
            self.report.failures.extend(unexpected.collect::<Vec<_>>());
        }
    }

    fn digest_text(&self, record: &DigestRecord) -> String {
        let digest: DigestId = record.digest;
        let declared = &self.program.digests[digest];
        let fields = declared.fields.iter().zip(&record.values).map(|((name, _), value)| format!("{name}:{value:#x}"));
        format!("{} {}", declared.name, fields.collect::<Vec<_>>().join(" "))
    }
}
