//! `interp::Engine` on native code: each write is judged by the books, then done.

use super::book::Origin;
use super::translate::{self, number};
use super::{NativeEngine, Replay, index, log_line, table_refusal};
use hlir::entry::EntryAction;
use hlir::{ActionCall, CounterId, DigestId, Entry, Match, MeterId, ProfileId, RegisterId, TableId, ValueSetId};
use interp::Engine;
use interp::engine::{
    Cell, CounterValue, DigestRecord, EntryKey, Frame, MeterRates, Outcome, Output, Refusal, Replica, Session,
    SessionTarget, TableCounts,
};
use num_bigint::BigUint;
use runtime::{Event, Group, abi};

/// Tokens of a meter are billionths.
const BILLION: u128 = 1_000_000_000;

impl<L: Replay> NativeEngine<'_, L> {
    /// Where an object of the program is in the pipeline, by name.
    fn place<'n>(&self, kind: &str, name: &str, names: impl Iterator<Item = &'n str>) -> Result<usize, Refusal> {
        let mut names = names;
        names
            .position(|other| other == name)
            .ok_or_else(|| Refusal::wrong(format!("{kind} `{name}` has no effect: nothing uses it")))
    }

    fn counter(&self, id: CounterId) -> Result<usize, Refusal> {
        let names = self.pipeline.description().counters.iter().map(|counter| counter.name.as_str());
        self.place("counter", &self.program.counters[id].name, names)
    }

    fn meter(&self, id: MeterId) -> Result<usize, Refusal> {
        let names = self.pipeline.description().meters.iter().map(|meter| meter.name.as_str());
        self.place("meter", &self.program.meters[id].name, names)
    }

    fn register(&self, id: RegisterId) -> Result<usize, Refusal> {
        let names = self.pipeline.description().registers.iter().map(|register| register.name.as_str());
        self.place("register", &self.program.registers[id].name, names)
    }

    /// The number of a cell; for an entry's, the cell that its table gave it.
    fn cell(&self, cell: &Cell) -> Result<u64, Refusal> {
        match cell {
            Cell::Index(at) => Ok(*at),
            Cell::Entry(key) => {
                let name = &self.program.tables[key.table].name;
                let missing = || Refusal::wrong(format!("table `{name}` has no effect: nothing uses it"));
                let table = &self.switch.tables()[self.table_number(key.table).ok_or_else(missing)?];
                let matches = translate::matches(table.description(), &key.matches, key.priority)?;
                table.find(&matches).map(|entry| u64::from(entry.cell)).map_err(|error| table_refusal(name, error))
            }
        }
    }

    fn collect(&mut self, outcome: &mut Outcome) {
        let (events, _) = self.switch.take_events();
        for event in events {
            match event {
                Event::Digest { digest, values } => outcome.digests.extend(self.digest(digest, &values)),
                Event::Log { format, values, widths } => outcome.log.push(log_line(&format, &values, &widths)),
                Event::Fail { text } => {
                    let sentence = text;
                    outcome.stopped.get_or_insert(sentence);
                }
                Event::Punt { .. } => outcome.punts += 1,
            }
        }
        self.stopped.clone_from(&outcome.stopped);
    }

    /// A record of the compiled program, as the user's program numbers it.
    fn digest(&self, digest: u32, values: &[u64]) -> Option<DigestRecord> {
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

    /// A session's copies, with the members that its group has now.
    fn write_session(&mut self, number: u32) {
        let session = self.sessions.get(&number).map(|session| {
            let members: &[Replica] = match &session.target {
                SessionTarget::Members(members) => members,
                SessionTarget::Group(group) => self.multicast.get(group).map_or(&[], Vec::as_slice),
            };
            group_of(members, session.truncation_bytes)
        });
        self.switch.state.set_session(u64::from(number), session);
    }
}

fn group_of(members: &[Replica], truncation: u32) -> Group {
    let member = |replica: &Replica| abi::Member { port: replica.port, instance: u32::from(replica.instance) };
    Group { members: members.iter().map(member).collect(), truncation }
}

fn halves(tokens: u128) -> [u64; 2] {
    [tokens as u64, (tokens >> 64) as u64]
}

impl<L: Replay> Engine for NativeEngine<'_, L> {
    fn name(&self) -> &str {
        "native"
    }

    fn reset(&mut self) {
        self.restart();
    }

    fn process(&mut self, burst: &[Frame]) -> Result<Outcome, Refusal> {
        if let Some(sentence) = &self.stopped {
            return Err(Refusal::wrong(format!("the switch has stopped: {sentence}")));
        }
        self.program.runnable().map_err(Refusal::wrong)?;
        let lane = self.switch.lane(0).expect("a test runs its one worker itself");
        lane.replay(burst)?;
        self.switch.run(0);
        let lane = self.switch.lane(0).expect("a test runs its one worker itself");
        let sent = lane.take_sent().into_iter();
        let output = |packet: runtime::Packet| Output { port: u32::from(packet.port), bytes: packet.bytes, path: None };
        let mut outcome = Outcome { outputs: sent.map(output).collect(), ..Outcome::default() };
        self.collect(&mut outcome);
        Ok(outcome)
    }

    fn set_clock(&mut self, nanoseconds: u64) {
        self.clock_ns = nanoseconds;
        self.books.set_clock(nanoseconds);
        self.switch.set_clock(nanoseconds);
        self.age_until(nanoseconds);
    }

    fn set_seed(&mut self, seed: u64) {
        self.switch.set_seed(seed);
    }

    fn insert(&mut self, table: TableId, entry: &Entry) -> Result<(), Refusal> {
        self.books.insert(table, entry)?;
        if let Some(number) = self.table_number(table) {
            let written = self.write_entry(number, table, entry);
            if written.is_err() {
                let key = EntryKey { table, matches: entry.matches.clone(), priority: entry.priority };
                self.books.delete(&key)?;
            }
            written?;
        }
        self.entries[index(table)].note(entry.clone(), Origin::Controller);
        Ok(())
    }

    fn modify(&mut self, table: TableId, entry: &Entry) -> Result<(), Refusal> {
        self.books.modify(table, entry)?;
        if let Some(number) = self.table_number(table) {
            let record = self.entry_record(number, table, entry)?;
            let target = &self.switch.tables()[number];
            let matches = translate::matches(target.description(), &entry.matches, entry.priority)?;
            target.modify(&matches, &record).map_err(|error| table_refusal(&target.description().name, error))?;
        }
        self.entries[index(table)].change(entry.clone());
        Ok(())
    }

    fn delete(&mut self, key: &EntryKey) -> Result<(), Refusal> {
        // What packets have inserted stands in no book.
        if !self.program.tables[key.table].add_on_miss {
            self.books.delete(key)?;
        }
        if let Some(number) = self.table_number(key.table) {
            let target = &self.switch.tables()[number];
            let matches = translate::matches(target.description(), &key.matches, key.priority)?;
            target.delete(&matches).map_err(|error| table_refusal(&target.description().name, error))?;
        }
        self.entries[index(key.table)].forget(&key.matches, key.priority);
        Ok(())
    }

    fn clear(&mut self, table: TableId) -> Result<(), Refusal> {
        self.books.clear(table)?;
        let entries = self.entries[index(table)].take_controllers();
        let Some(number) = self.table_number(table) else { return Ok(()) };
        if self.program.tables[table].add_on_miss {
            return self.rewrite(number, table);
        }
        let target = &self.switch.tables()[number];
        for entry in entries {
            let matches = translate::matches(target.description(), &entry.matches, entry.priority)?;
            target.delete(&matches).map_err(|error| table_refusal(&target.description().name, error))?;
        }
        Ok(())
    }

    fn set_default(&mut self, table: TableId, call: &ActionCall) -> Result<(), Refusal> {
        self.books.set_default(table, call)?;
        self.write_default(table, call)?;
        self.defaults.insert(index(table), call.clone());
        Ok(())
    }

    fn table_counts(&self, table: TableId) -> TableCounts {
        let counts = self.table_number(table).map(|number| self.switch.hits(number));
        counts.map_or(TableCounts::default(), |(hits, misses)| TableCounts { hits, misses })
    }

    fn set_idle_timeout(&mut self, key: &EntryKey, nanoseconds: u64) -> Result<(), Refusal> {
        // Not in the books: no packet hits their entries, so there they would grow old.
        self.start_timer(key, nanoseconds)
    }

    fn set_expiry(&mut self, table: TableId, profile: u8, nanoseconds: u64) -> Result<(), Refusal> {
        self.expiry.insert((index(table), profile), nanoseconds);
        if let Some(number) = self.table_number(table) {
            self.switch.tables()[number].set_profile(profile, nanoseconds);
        }
        Ok(())
    }

    fn take_idle(&mut self) -> Vec<EntryKey> {
        std::mem::take(&mut self.idle)
    }

    fn set_member(&mut self, profile: ProfileId, member: u32, call: &ActionCall) -> Result<(), Refusal> {
        self.books.set_member(profile, member, call)?;
        self.members.insert((index(profile) as u32, member), call.clone());
        let users: Vec<(TableId, Entry)> = self
            .program
            .tables
            .iter()
            .filter(|(_, table)| table.profile == Some(profile))
            .flat_map(|(id, _)| self.entries[index(id)].entries().map(move |entry| (id, entry.clone())))
            .filter(|(_, entry)| entry.action == EntryAction::Member(member))
            .collect();
        users.into_iter().try_for_each(|(table, entry)| self.modify(table, &entry))?;
        self.rewrite_groups_of(profile, member)
    }

    fn delete_member(&mut self, profile: ProfileId, member: u32) -> Result<(), Refusal> {
        self.books.delete_member(profile, member)?;
        self.members.remove(&(index(profile) as u32, member));
        Ok(())
    }

    fn set_group(&mut self, profile: ProfileId, group: u32, members: &[u32]) -> Result<(), Refusal> {
        self.books.set_group(profile, group, members)?;
        self.groups.insert((index(profile) as u32, group), members.to_vec());
        self.write_group(profile, group)
    }

    fn delete_group(&mut self, profile: ProfileId, group: u32) -> Result<(), Refusal> {
        self.books.delete_group(profile, group)?;
        self.groups.remove(&(index(profile) as u32, group));
        self.write_group(profile, group)
    }

    fn read_counter(&mut self, counter: CounterId, cell: &Cell) -> Result<CounterValue, Refusal> {
        self.books.read_counter(counter, cell)?;
        let (counter, cell) = (self.counter(counter)?, self.cell(cell)?);
        let missing = || Refusal::wrong(format!("the counter has no cell {cell}"));
        let value = self.switch.counter(counter, cell).ok_or_else(missing)?;
        Ok(CounterValue { packets: value.packets, bytes: value.bytes })
    }

    fn write_counter(&mut self, counter: CounterId, cell: &Cell, value: CounterValue) -> Result<(), Refusal> {
        self.books.write_counter(counter, cell, value)?;
        let (counter, cell) = (self.counter(counter)?, self.cell(cell)?);
        self.switch.set_counter(counter, cell, abi::CounterCell { packets: value.packets, bytes: value.bytes });
        Ok(())
    }

    fn set_meter(&mut self, meter: MeterId, cell: &Cell, rates: Option<MeterRates>) -> Result<(), Refusal> {
        self.books.set_meter(meter, cell, rates)?;
        let (meter, cell) = (self.meter(meter)?, self.cell(cell)?);
        let value = rates.map_or_else(abi::MeterCell::default, |rates| abi::MeterCell {
            committed_rate: rates.committed_rate,
            committed_burst: rates.committed_burst,
            peak_rate: rates.peak_rate,
            peak_burst: rates.peak_burst,
            committed_tokens: halves(u128::from(rates.committed_burst) * BILLION),
            peak_tokens: halves(u128::from(rates.peak_burst) * BILLION),
            time_ns: self.clock_ns,
            configured: 1,
            lock: 0,
        });
        self.switch.state.meters[meter].cells.set(cell as usize, value);
        Ok(())
    }

    fn meter_rates(&mut self, meter: MeterId, cell: &Cell) -> Result<Option<MeterRates>, Refusal> {
        self.books.meter_rates(meter, cell)
    }

    fn read_register(&mut self, register: RegisterId, at: u64) -> Result<BigUint, Refusal> {
        self.books.read_register(register, at)?;
        let register = self.register(register)?;
        let missing = || Refusal::wrong(format!("the register has no cell {at}"));
        self.switch.state.registers[register].read(at).map(|limbs| number(&limbs)).ok_or_else(missing)
    }

    fn write_register(&mut self, register: RegisterId, at: u64, value: &BigUint) -> Result<(), Refusal> {
        self.books.write_register(register, at, value)?;
        let register = &self.switch.state.registers[self.register(register)?];
        register.write(at, &translate::limbs(value, register.description().width));
        Ok(())
    }

    fn set_value_set(&mut self, set: ValueSetId, members: &[Vec<Match>]) -> Result<(), Refusal> {
        self.books.set_value_set(set, members)?;
        let name = &self.program.value_sets[set].name;
        let tables = self.pipeline.description().tables.iter();
        let Some(number) = tables.clone().position(|table| table.name == *name) else { return Ok(()) };
        let table = &self.switch.tables()[number];
        table.clear();
        let record = vec![0u8; table.description().record_bytes as usize];
        for member in members {
            let matches = translate::matches(table.description(), member, 0)?;
            match table.insert(&matches, &record) {
                Ok(_) | Err(runtime::TableError::Exists) => {}
                Err(error) => return Err(table_refusal(name, error)),
            }
        }
        Ok(())
    }

    fn set_multicast(&mut self, group: u32, members: &[Replica]) -> Result<(), Refusal> {
        self.books.set_multicast(group, members)?;
        if members.is_empty() {
            self.multicast.remove(&group);
        } else {
            self.multicast.insert(group, members.to_vec());
        }
        let written = (!members.is_empty()).then(|| group_of(members, 0));
        self.switch.state.set_group(u64::from(group), written);
        let follows = |session: &Session| session.target == SessionTarget::Group(group);
        let sessions: Vec<u32> =
            self.sessions.iter().filter(|(_, session)| follows(session)).map(|(id, _)| *id).collect();
        sessions.into_iter().for_each(|session| self.write_session(session));
        Ok(())
    }

    fn set_session(&mut self, session: u32, value: Option<&Session>) -> Result<(), Refusal> {
        self.books.set_session(session, value)?;
        match value {
            Some(value) => drop(self.sessions.insert(session, value.clone())),
            None => drop(self.sessions.remove(&session)),
        }
        self.write_session(session);
        Ok(())
    }

    fn drops(&self) -> Vec<u64> {
        let compiled = self.switch.drops();
        let names = &self.pipeline.description().drops;
        let of_reason = |reason: String| {
            let at = names.iter().position(|name| *name == reason);
            at.map_or(0, |at| compiled[at])
        };
        self.program.drop_reasons().into_iter().map(of_reason).collect()
    }
}
