//! The interpreter as a switch: the program, its state, and the packets in it.

use crate::counted::Counted;
use crate::execute::Walker;
use crate::externs::Externs;
use crate::meter::MeterElement;
use crate::packet::Packet;
use crate::pattern::Pattern;
use crate::script::{Chooser, Script};
use crate::state::State;
use crate::steps::{self, Interest, Notes, Parsed};
use crate::storage::{Layout, Storage, number};
use crate::tables;
use control::join::{self, Change, Joins};
use control::message::switch::TraceNames;
use control::message::switch::trace_step::Step;
use control::plane::*;
use control::store::Derived;
use control::{Refusal, Store, Update};
use hlir::value::Bits;
use hlir::{ActionCall, CounterId, ExternId, Match, NodeId, ProfileId, Program, RegisterId, TableId, ValueSetId};
use num_bigint::BigUint;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

pub struct Switch<'p> {
    pub(crate) program: &'p Program,
    pub(crate) store: Store,
    /// Joint tables, which follow the store.
    joins: Joins,
    pub(crate) layout: Layout,
    pub(crate) state: State<'p>,
    /// Storage of packets that have ended, for others.
    pub(crate) spare: Vec<Storage>,
    /// Room for the key of the next lookup.
    pub(crate) spare_key: Vec<Bits>,
    pub(crate) ports: u32,
    /// Packets that will enter the graph again, and where.
    pub(crate) waiting: VecDeque<(Packet, NodeId)>,
    pub(crate) outcome: Outcome,
    pub(crate) punted: Vec<Punted>,
    /// A line for each step, kept from [`Switch::start_trace`] on.
    pub(crate) trace: Option<Vec<String>>,
    /// The same as data.
    pub(crate) notes: Notes<'p>,
    /// See [`Switch::remembers_packets`].
    pub(crate) has_memory: bool,
    /// What is chosen where all outcomes of a packet are followed.
    pub(crate) script: Option<Script>,
    /// Keys with which each table was looked up, kept from [`Switch::start_keys`] on.
    pub(crate) keys: Option<Vec<Vec<Vec<Bits>>>>,
    /// Kept from [`Switch::start_counts`] on.
    pub(crate) counted: Option<Counted>,
    drop_reasons: HashMap<String, usize>,
    /// The user's functions for custom externs, and the objects that they are called on.
    pub(crate) externs: Option<Box<dyn Externs>>,
    pub(crate) extern_objects: Vec<ExternId>,
    /// Entries whose time has passed, for the control plane.
    idle: Vec<EntryKey>,
}

/// A packet that was handed to the control plane with all it carries.
pub struct Punted {
    pub(crate) packet: Packet,
    pub(crate) resume: NodeId,
}

impl<'p> Switch<'p> {
    pub fn new(program: &'p Program, seed: u64, ports: u32) -> Switch<'p> {
        let reasons = program.drop_reasons().into_iter().enumerate().map(|(index, reason)| (reason, index));
        let store = Store::new(Arc::new(program.without_places()));
        let mut switch = Switch {
            program,
            joins: Joins::new(Arc::new(program.clone())),
            store,
            layout: Layout::new(program),
            state: State::new(program),
            spare: Vec::new(),
            spare_key: Vec::new(),
            ports,
            waiting: VecDeque::new(),
            outcome: Outcome::default(),
            punted: Vec::new(),
            trace: None,
            notes: Notes::default(),
            has_memory: steps::has_memory(program),
            script: None,
            keys: None,
            counted: None,
            drop_reasons: reasons.collect(),
            externs: None,
            extern_objects: hlir::externs::objects(program),
            idle: Vec::new(),
        };
        switch.state.seed = seed;
        switch.fill_joins();
        switch
    }

    /// From now on, custom externs are these.
    pub fn bind(&mut self, externs: Option<Box<dyn Externs>>) {
        self.externs = externs;
    }

    /// From now on, notes each step of each packet.
    pub fn start_trace(&mut self) {
        self.trace = Some(Vec::new());
    }

    /// The steps since tracing began or was last read.
    pub fn take_trace(&mut self) -> Vec<String> {
        self.trace.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// From now on, notes the keys with which tables are looked up.
    pub fn start_keys(&mut self) {
        self.keys = Some(vec![Vec::new(); self.program.tables.len()]);
    }

    /// The keys since then, by table, each with its fields.
    pub fn take_keys(&mut self) -> Vec<Vec<Vec<Bits>>> {
        self.keys.take().unwrap_or_default()
    }

    /// Lets time pass up to the one given, without aging: packets that did not come here may have hit entries.
    pub fn pass_time(&mut self, nanoseconds: u64) {
        self.state.clock_ns = self.state.clock_ns.max(nanoseconds);
    }

    /// Counts what packets do from now on, over resets.
    pub fn start_counts(&mut self) {
        self.counted = Some(Counted::new(self.program));
    }

    /// How often each entry of a table was hit since then, those that are still there, in no order.
    pub fn entry_hits(&self, table: TableId) -> impl Iterator<Item = (EntryKey, u64)> {
        let state = self.state.table(table);
        let key = move |id: usize| {
            let (matches, priority) = state.key_of(id);
            EntryKey { table, matches, priority }
        };
        let counted = self.counted.iter().flat_map(move |counted| counted.hits(table));
        counted.filter(move |(id, _)| state.has_entry(*id)).map(move |(id, hits)| (key(id), hits))
    }

    /// What was counted so far, if anything is.
    pub fn counts(&self) -> Option<&Counted> {
        self.counted.as_ref()
    }

    /// What was counted since then.
    pub fn take_counts(&mut self) -> Counted {
        self.counted.take().unwrap_or_default()
    }

    /// Whether all outcomes are followed.
    pub(crate) fn is_followed(&self) -> bool {
        self.script.is_some()
    }

    /// Which of so many options this run takes.
    pub(crate) fn pick(&self, of: Chooser, options: u128) -> u64 {
        let Some(script) = self.script.as_ref().filter(|_| options > 1) else { return 0 };
        let at = self.notes.len();
        script.pick(at, of, options)
    }

    /// The packets that the control plane holds.
    pub fn take_punted(&mut self) -> Vec<Punted> {
        std::mem::take(&mut self.punted)
    }

    /// Goes on with a packet that the control plane held, as if it were received.
    pub fn resume(&mut self, punted: Punted) -> Result<Outcome, Refusal> {
        self.check_running()?;
        self.outcome = Outcome::default();
        let packet = punted.packet.with_budget(self.program.budget.copies);
        Walker::new(self, packet, punted.resume).walk();
        Ok(self.drain())
    }

    /// Whether the program has stopped the switch.
    pub fn is_stopped(&self) -> bool {
        self.state.stopped.is_some()
    }

    pub(crate) fn drop_reason(&self, reason: &str) -> usize {
        self.drop_reasons[reason]
    }

    fn check_running(&self) -> Result<(), Refusal> {
        match &self.state.stopped {
            Some(sentence) => Err(Refusal::wrong(format!("the switch has stopped: {sentence}"))),
            None => Ok(()),
        }
    }

    fn note(&mut self, line: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(line());
        }
    }

    /// Runs all packets that wait, one after the other, until none is left.
    fn drain(&mut self) -> Outcome {
        while let Some((packet, node)) = self.waiting.pop_front().filter(|_| self.state.stopped.is_none()) {
            self.note(|| format!("packet {:#x} enters again: {} bytes", packet.number, packet.bytes.len()));
            self.notes.wanted_path().into_iter().for_each(|path| path.enter(packet.port, packet.bytes.len(), true));
            Walker::new(self, packet, node).walk();
        }
        self.outcome.stopped = self.state.stopped.clone();
        std::mem::take(&mut self.outcome)
    }

    /// Applies an update to the tables and objects that it names.
    fn apply_update(&mut self, update: &Update) -> Result<(), Refusal> {
        let now = self.state.clock_ns;
        match update {
            Update::Insert { table, entry } => {
                let set = self.store.set_number(*table, entry);
                self.state.table_mut(*table).insert(entry, set)?;
                self.write_derived(update);
            }
            Update::Modify { table, entry } => {
                let set = self.store.set_number(*table, entry);
                self.state.table_mut(*table).modify(*table, entry, set)?;
                self.write_derived(update);
            }
            Update::Delete(key) => {
                self.state.table_mut(key.table).delete(key)?;
                self.write_derived(update);
            }
            Update::SetDefault { table, call } => self.state.table_mut(*table).set_default(call),
            Update::SetIdleTimeout { key, nanoseconds } => {
                self.state.table_mut(key.table).set_timer(key, *nanoseconds, now)?;
            }
            Update::SetExpiry { table, profile, nanoseconds } => {
                self.state.table_mut(*table).set_expiry(*profile, *nanoseconds);
            }
            Update::SetMember { profile, member, call } => {
                self.set_member(*profile, *member, call);
                self.write_derived(update);
            }
            Update::DeleteMember { profile, member } => {
                self.state.profiles[number(*profile)].members.remove(member);
            }
            Update::SetGroup { .. } | Update::DeleteGroup { .. } | Update::SetPort { .. } => self.write_derived(update),
            Update::SetValueSet { set, members } => self.set_value_set(*set, members),
            Update::SetCrc { crc, parameters } => self.state.crcs[number(*crc)] = *parameters,
            // Copies are made of what the store has.
            Update::SetMulticast { .. } | Update::SetSession { .. } | Update::Record(_) => {}
            Update::SetMeter { meter, element, rates } => {
                *self.state.named_meter(*meter, element)? = MeterElement::new(*rates, now);
            }
        }
        Ok(())
    }

    /// Has what was written to another switch with this program, in place of all that this one has. No packet has come yet.
    ///
    /// # Errors
    /// A table has less room than the other switch had.
    pub fn restore(&mut self, store: Store) -> Result<(), Refusal> {
        self.store = store;
        let program = self.program;
        for (profile, _) in program.profiles.iter() {
            let members: Vec<_> = self.store.members(profile).map(|(member, call)| (member, call.clone())).collect();
            members.iter().for_each(|(member, call)| self.set_member(profile, *member, call));
            let groups: Vec<u32> = self.store.groups(profile).map(|(group, _)| group).collect();
            groups.into_iter().for_each(|group| self.write_group(profile, group));
        }
        for (id, table) in program.tables.iter().filter(|(id, _)| program.join_of(*id).is_none()) {
            self.state.table_mut(id).set_default(self.store.default_action(id));
            if table.entries_constant {
                continue;
            }
            let state = self.state.table_mut(id);
            state.entry_ids().into_iter().for_each(|entry| state.remove(entry));
            let entries: Vec<_> = self.store.entries(id).map(|stored| stored.entry).collect();
            for entry in entries {
                self.apply_update(&Update::Insert { table: id, entry })?;
            }
        }
        for (set, _) in program.value_sets.iter() {
            let members = self.store.value_set(set).to_vec();
            self.set_value_set(set, &members);
        }
        for (crc, _) in program.crcs.iter() {
            self.state.crcs[number(crc)] = self.store.crc(crc);
        }
        let (meters, now): (Vec<_>, _) = (self.store.meters().collect(), self.state.clock_ns);
        for (meter, element, rates) in meters {
            *self.state.named_meter(meter, &element)? = MeterElement::new(Some(rates), now);
        }
        self.fill_joins();
        Ok(())
    }

    /// Fills the joint tables, which are empty.
    fn fill_joins(&mut self) {
        let state = &self.state;
        let changes = self.joins.fill(&self.store, |key| state.counter_index(key));
        self.change_joins(changes);
    }

    fn change_joins(&mut self, changes: Vec<Change>) {
        let (state, program) = (&mut self.state, self.program);
        self.joins.make(changes, |change| match change {
            Change::Insert(table, key, call) => {
                state.table_mut(*table).insert(&join::entry(program, *table, key, call), None)
            }
            Change::Modify(table, key, call) => {
                state.table_mut(*table).modify(*table, &join::entry(program, *table, key, call), None)
            }
            Change::Delete(table, key) => state.table_mut(*table).delete(&join::entry_key(program, *table, key)),
            Change::Clear(table) => {
                state.table_mut(*table).clear();
                Ok(())
            }
            Change::Default(table, call) => {
                state.table_mut(*table).set_default(&join::call(program, *table, call));
                Ok(())
            }
            // Packets come between writes only.
            Change::Show(_) | Change::Grace(_) => Ok(()),
        });
    }

    /// Messages about joint tables that were emptied, or filled again.
    pub fn take_notices(&mut self) -> Vec<String> {
        self.joins.take_notices()
    }

    /// Members run as invocations, ready with the widths of their action's parameters.
    fn set_member(&mut self, profile: ProfileId, member: u32, call: &ActionCall) {
        let Some(table) = self.table_of(profile) else { return };
        let invocation = Rc::new(tables::invocation(table, call));
        self.state.profiles[number(profile)].members.insert(member, invocation);
    }

    /// All tables of a profile have the same actions.
    fn table_of(&self, profile: ProfileId) -> Option<&'p hlir::Table> {
        self.program.tables.values().find(|table| table.profile == Some(profile))
    }

    /// The objects that follow from an update, as the store has them now. Copies are made of what the store has.
    fn write_derived(&mut self, update: &Update) {
        for object in self.store.derived(update) {
            match object {
                Derived::Group(profile, group) => self.write_group(profile, group),
                Derived::Set(table, set) => {
                    let choices = self.store.set_choices(table, set);
                    self.state.table_mut(table).set_choices(set, choices.as_deref());
                }
                Derived::Multicast(_) | Derived::Session(_) => {}
            }
        }
    }

    fn write_group(&mut self, profile: ProfileId, group: u32) {
        let Some(table) = self.table_of(profile) else { return };
        let groups = &mut self.state.profiles[number(profile)].groups;
        match self.store.choices(profile, group) {
            Some(choices) => drop(groups.insert(group, tables::choices(table, &choices))),
            None => drop(groups.remove(&group)),
        }
    }

    fn set_value_set(&mut self, set: ValueSetId, members: &[Vec<Match>]) {
        let fields = &self.program.value_sets[set].fields;
        let patterns = |member: &Vec<Match>| {
            member.iter().zip(fields).map(|(found, (_, width, _))| Pattern::new(found, *width)).collect()
        };
        self.state.value_sets[number(set)] = members.iter().map(patterns).collect();
    }
}

impl<'p> Switch<'p> {
    /// From now on, notes the steps of packets.
    pub fn start_steps(&mut self) {
        self.notes = Notes::wanted(self.program, None);
    }

    /// From now on, notes the steps of packets that may be wanted. A packet that is not wanted ends with its parser, unless later packets depend on
    /// what it does.
    pub fn watch(&mut self, watch: impl Fn(&Parsed<'_>) -> Interest + 'p) {
        self.notes = Notes::wanted(self.program, Some(Box::new(watch)));
    }

    /// Whether the steps since they were last taken are wanted, as far as the end of the first parser has decided.
    pub fn interest(&self) -> Interest {
        self.notes.interest()
    }

    /// What the first packet had at the end of its parser, if it came so far and its [`Interest`] is open.
    pub fn parsed(&self) -> Option<Parsed<'_>> {
        self.notes.parsed(&self.layout)
    }

    /// Whether a packet was dropped since steps were last taken.
    pub fn has_dropped(&self) -> bool {
        self.notes.has_dropped()
    }

    /// The steps since they were last taken, without the bytes of packets that were sent: those are in the outcome, in the same order.
    pub fn take_steps(&mut self) -> Vec<Step> {
        let path = self.take_path();
        self.notes.named(&path)
    }

    /// The same in few bytes, for [`crate::path::steps`] with [`Switch::names_of_steps`].
    pub fn take_path(&mut self) -> Vec<u8> {
        self.notes.take_path()
    }

    pub fn names_of_steps(&self) -> &TraceNames {
        self.notes.names()
    }

    pub fn forget_steps(&mut self) {
        self.notes.clear();
    }

    /// Whether what packets do to the switch can change what later ones do.
    pub(crate) fn remembers_packets(&self) -> bool {
        self.has_memory || self.store.meters().next().is_some()
    }
}

impl DataPlane for Switch<'_> {
    fn name(&self) -> &str {
        "interpreter"
    }

    fn store(&self) -> &Store {
        &self.store
    }

    fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    fn apply(&mut self, update: &Update) -> Result<(), Refusal> {
        if self.joins.is_empty() {
            return self.apply_update(update);
        }
        let (write, changes) = self.joins.before(update);
        self.change_joins(changes);
        let done = self.apply_update(update);
        if done.is_ok() {
            self.state.forget_joint_hits(update);
        }
        let state = &self.state;
        let changes = self.joins.behind(write, done.is_ok(), |key| state.counter_index(key));
        self.change_joins(changes);
        done
    }

    fn clear_inserted(&mut self, table: TableId) -> Result<(), Refusal> {
        self.state.table_mut(table).clear();
        Ok(())
    }

    fn reset(&mut self) {
        self.store.reset();
        self.state = State::new(self.program);
        self.waiting.clear();
        self.punted.clear();
        self.idle.clear();
        self.fill_joins();
        if let Some(Err(name)) = self.externs.as_mut().map(|externs| externs.reset()) {
            self.state.stopped = Some(format!("the object `{name}` cannot be made: its C function gave NULL"));
        }
    }

    fn process(&mut self, burst: &[Frame]) -> Result<Outcome, Refusal> {
        self.check_running()?;
        self.outcome = Outcome::default();
        self.waiting.clear();
        let entry = self.program.runnable().map_err(Refusal::wrong)?;
        for frame in burst {
            let number = self.state.next_packet;
            self.state.next_packet += 1;
            self.program.received().into_iter().for_each(|counter| self.state.count_received(counter));
            self.note(|| format!("packet {number} from port {}: {} bytes", frame.port, frame.bytes.len()));
            self.notes.wanted_path().into_iter().for_each(|path| path.enter(frame.port, frame.bytes.len(), false));
            let storage = self.layout.storage(&mut self.spare);
            let packet = Packet::new(storage, frame.port, frame.bytes.clone(), number, self.state.seed);
            Walker::new(self, packet.with_budget(self.program.budget.copies), entry).walk();
            if self.state.stopped.is_some() {
                break;
            }
        }
        Ok(self.drain())
    }

    fn set_clock(&mut self, nanoseconds: u64) {
        self.state.clock_ns = nanoseconds;
        let (notified, deleted) = self.state.age();
        for key in deleted {
            self.store.forget(&key);
            self.write_derived(&Update::Delete(key));
        }
        self.idle.extend(notified);
    }

    fn set_seed(&mut self, seed: u64) {
        self.state.seed = seed;
        self.state.next_packet = 0;
    }

    fn table_counts(&self, table: TableId) -> TableCounts {
        let mut counts = self.state.table(table).counts;
        // A hit in a joint table is one in each source, or a miss in the second.
        let over = self.program.joins_over(table);
        let hits = over.into_iter().map(|joint| self.state.table(joint).counts.hits).sum::<u64>();
        let misses = self.program.joint_misses(table).map_or(0, |misses| self.state.counter_packets(misses, 0));
        (counts.hits, counts.misses) = (counts.hits + hits - misses, counts.misses + misses);
        let packets = |counter, index: u32| self.state.counter_packets(counter, u64::from(index));
        let [hits, misses] = self.program.lookups_in_code(table, packets);
        (counts.hits, counts.misses) = (counts.hits + hits, counts.misses + misses);
        counts
    }

    fn take_idle(&mut self) -> Vec<EntryKey> {
        std::mem::take(&mut self.idle)
    }

    fn read_counter(&mut self, counter: CounterId, element: &Element) -> Result<CounterValue, Refusal> {
        self.state.named_counter(counter, element).copied()
    }

    fn write_counter(&mut self, counter: CounterId, element: &Element, value: CounterValue) -> Result<(), Refusal> {
        *self.state.named_counter(counter, element)? = value;
        Ok(())
    }

    fn read_register(&mut self, register: RegisterId, index: u64) -> Result<BigUint, Refusal> {
        self.store.check_register(register, index, None)?;
        let value = self.state.register(register, index).expect("the store has checked the index");
        Ok(value.bits.to_big())
    }

    fn write_register(&mut self, register: RegisterId, index: u64, value: &BigUint) -> Result<(), Refusal> {
        self.store.check_register(register, index, Some(value))?;
        let width = self.program.registers[register].width;
        self.state.set_register(register, index, Bits::from_big(value, width));
        Ok(())
    }

    fn drops(&self) -> Vec<u64> {
        self.state.drops.clone()
    }
}
