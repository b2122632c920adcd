//! Native code as a data plane: bursts, counts, and what packets change.

use super::batch;
use super::numbers::has_no_effect;
use super::translate::{self, number};
use super::{NativeEngine, Replay, log_line, table_refusal};
use control::plane::{CounterValue, DigestRecord, Element, EntryKey, Frame, Outcome, Output, TableCounts};
use control::{DataPlane, Refusal, Store, Update};
use hlir::{CounterId, DEFAULT_INDEX, DigestId, MeterId, RegisterId, TableId};
use num_bigint::BigUint;
use runtime::{Event, WorkerPorts, abi};

impl<L: WorkerPorts> NativeEngine<'_, L> {
    fn counter(&self, id: CounterId) -> Result<usize, Refusal> {
        self.numbers.counter(id).ok_or_else(|| has_no_effect("counter", &self.program.counters[id].name))
    }

    pub(super) fn meter(&self, id: MeterId) -> Result<usize, Refusal> {
        self.numbers.meter(id).ok_or_else(|| has_no_effect("meter", &self.program.meters[id].name))
    }

    fn register(&self, id: RegisterId) -> Result<usize, Refusal> {
        self.numbers.register(id).ok_or_else(|| has_no_effect("register", &self.program.registers[id].name))
    }

    /// The index of an element: for an entry's, the counter index that its table gave it.
    pub(super) fn element_index(&self, element: &Element) -> Result<u64, Refusal> {
        let number = |table: TableId| {
            let name = &self.program.tables[table].name;
            Ok((name, self.table_number(table).ok_or_else(|| has_no_effect("table", name))?))
        };
        match element {
            Element::Index(at) => Ok(*at),
            // A counter may count the misses of a table that is not in the pipeline.
            Element::Default(_) => Ok(DEFAULT_INDEX),
            Element::Entry(key) => {
                let (name, number) = number(key.table)?;
                let table = &self.switch.tables()[number];
                let matches = translate::matches(table.description(), &key.matches, key.priority)?;
                table
                    .find(&matches)
                    .map(|entry| u64::from(entry.counter_index))
                    .map_err(|error| table_refusal(name, error))
            }
        }
    }

    /// The index of an element of a counter. Where a table has no lookups, its direct counter has an index for misses and one for
    /// each entry that is compared in code.
    fn counter_element_index(&self, counter: CounterId, number: usize, element: &Element) -> Result<u64, Refusal> {
        let is_folded = self.pipeline.description().counters[number].size != 0;
        match element {
            Element::Entry(key) if is_folded && self.program.counters[counter].table.is_some() => {
                let place = self.store.place_of(super::compared(&self.compiled, key.table), key);
                place
                    .map(|place| 1 + place as u64)
                    .ok_or_else(|| Refusal::wrong("the counter has no element for this entry"))
            }
            Element::Index(_) | Element::Default(_) | Element::Entry(_) => self.element_index(element),
        }
    }

    fn collect(&mut self, outcome: &mut Outcome) {
        let (events, _) = self.switch.take_events(usize::MAX);
        for event in events {
            match event {
                Event::Digest { digest, values } => outcome.digests.extend(self.digest(digest, &values)),
                Event::Log { format, values, widths } => outcome.log.push(log_line(&format, &values, &widths)),
                Event::Fail { text } => {
                    let sentence = text;
                    outcome.stopped.get_or_insert(sentence);
                }
                Event::Punt(_) => outcome.punts += 1,
            }
        }
        self.stopped.clone_from(&outcome.stopped);
    }

    /// A record of the compiled program, as the user's program numbers it.
    pub fn digest(&self, digest: u32, values: &[u64]) -> Option<DigestRecord> {
        let (_, compiled) = self.compiled.digests.iter().nth(digest as usize)?;
        let (id, _) = self.program.digests.iter().find(|(_, digest)| digest.name == compiled.name)?;
        let id: DigestId = id;
        let mut left = values;
        let mut take = |width: u32| {
            let (field, rest) = left.split_at((width.div_ceil(64).max(1) as usize).min(left.len()));
            left = rest;
            number(field)
        };
        Some(DigestRecord { digest: id, values: compiled.fields.iter().map(|(_, width)| take(*width)).collect() })
    }
}

impl<L: Replay> DataPlane for NativeEngine<'_, L> {
    fn name(&self) -> &str {
        "native"
    }

    fn store(&self) -> &Store {
        &self.store
    }

    fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    fn make_way(&mut self, update: &Update) -> Result<(), Refusal> {
        self.leave_specialised(update)
    }

    fn write_all(&mut self, updates: &[Update]) -> Vec<batch::Outcome> {
        self.write_together(updates)
    }

    fn apply(&mut self, update: &Update) -> Result<(), Refusal> {
        if self.compiled.joins.is_empty() {
            return self.apply_everywhere(update);
        }
        let (write, changes) = self.joins.before(update);
        self.change_joins(changes);
        let done = self.apply_everywhere(update);
        if done.is_ok() {
            self.forget_joint_hits(update);
        }
        let mut joins = std::mem::take(&mut self.joins);
        let changes = joins.behind(write, done.is_ok(), |key| self.counter_index(key));
        self.joins = joins;
        self.change_joins(changes);
        done
    }

    fn rederive(&mut self, inverse: &Update) {
        // What was there before has room again.
        drop(self.write_derived(inverse));
        if let Update::SetMember { profile, member, .. } = inverse {
            drop(self.write_member(*profile, *member));
        }
    }

    fn clear_inserted(&mut self, table: TableId) -> Result<(), Refusal> {
        match self.table_number(table).filter(|_| self.program.tables[table].add_on_miss) {
            Some(number) => self.rewrite(number, table),
            None => Ok(()),
        }
    }

    fn reset(&mut self) {
        self.restart();
    }

    fn process(&mut self, burst: &[Frame]) -> Result<Outcome, Refusal> {
        if let Some(sentence) = &self.stopped {
            return Err(Refusal::wrong(format!("the switch has stopped: {sentence}")));
        }
        self.program.runnable().map_err(Refusal::wrong)?;
        self.check_assumptions()?;
        let own_ports = self.switch.ports_of(0).expect("a test runs its one worker itself");
        own_ports.replay(burst)?;
        self.switch.run(0);
        let own_ports = self.switch.ports_of(0).expect("a test runs its one worker itself");
        let sent = own_ports.take_sent().into_iter();
        let output = |packet: runtime::Packet| Output { port: u32::from(packet.port), bytes: packet.bytes, path: None };
        let mut outcome = Outcome { outputs: sent.map(output).collect(), ..Outcome::default() };
        self.collect(&mut outcome);
        Ok(outcome)
    }

    fn set_clock(&mut self, nanoseconds: u64) {
        self.clock_ns = nanoseconds;
        self.switch.set_clock(nanoseconds);
        self.age_until(nanoseconds);
    }

    fn set_seed(&mut self, seed: u64) {
        self.switch.set_seed(seed);
    }

    fn table_counts(&self, table: TableId) -> TableCounts {
        let (hits, misses) = self.table_number(table).map_or((0, 0), |number| self.table_hits(number));
        TableCounts { hits, misses }
    }

    fn take_idle(&mut self) -> Vec<EntryKey> {
        std::mem::take(&mut self.idle)
    }

    fn read_counter(&mut self, counter: CounterId, element: &Element) -> Result<CounterValue, Refusal> {
        self.store.check_counter(counter, element)?;
        if self.counter(counter).is_err()
            && let Some(done) = self.beside(|engine| engine.read_counter(counter, element))
        {
            return done;
        }
        let number = self.counter(counter)?;
        let index = self.counter_element_index(counter, number, element)?;
        let missing = || Refusal::wrong(format!("the counter has no element {index}"));
        let value = self.switch.counter(number, index).ok_or_else(missing)?;
        Ok(CounterValue { packets: value.packets, bytes: value.bytes })
    }

    fn write_counter(&mut self, counter: CounterId, element: &Element, value: CounterValue) -> Result<(), Refusal> {
        self.store.check_counter(counter, element)?;
        if self.counter(counter).is_err()
            && let Some(done) = self.beside(|engine| engine.write_counter(counter, element, value))
        {
            return done;
        }
        let number = self.counter(counter)?;
        let index = self.counter_element_index(counter, number, element)?;
        self.switch.set_counter(number, index, abi::CounterElement { packets: value.packets, bytes: value.bytes });
        Ok(())
    }

    fn read_register(&mut self, register: RegisterId, at: u64) -> Result<BigUint, Refusal> {
        self.store.check_register(register, at, None)?;
        if self.register(register).is_err()
            && let Some(done) = self.beside(|engine| engine.read_register(register, at))
        {
            return done;
        }
        let register = self.register(register)?;
        let missing = || Refusal::wrong(format!("the register has no element {at}"));
        self.switch.registers()[register].read(at).map(|limbs| number(&limbs)).ok_or_else(missing)
    }

    fn write_register(&mut self, register: RegisterId, at: u64, value: &BigUint) -> Result<(), Refusal> {
        self.store.check_register(register, at, Some(value))?;
        if self.register(register).is_err()
            && let Some(done) = self.beside(|engine| engine.write_register(register, at, value))
        {
            return done;
        }
        let register = &self.switch.registers()[self.register(register)?];
        register.write(at, &translate::limbs(value, register.description().width));
        Ok(())
    }

    fn drops(&self) -> Vec<u64> {
        let compiled = self.switch.drops();
        let names = &self.pipeline.description().drops;
        let (standby, earlier) = match &self.generic {
            Some(generic) => (&generic.pipeline.description().drops[..], self.switch.standby_drops()),
            None => (&[][..], Vec::new()),
        };
        // A reason that the specialised code lacks has the count of before.
        let of_reason = |reason: String| {
            let at = |names: &[String]| names.iter().position(|name| *name == reason);
            let here = at(names).map(|at| compiled[at]);
            here.or_else(|| at(standby).map(|at| earlier[at])).unwrap_or(0)
        };
        self.program.drop_reasons().into_iter().map(of_reason).collect()
    }
}
