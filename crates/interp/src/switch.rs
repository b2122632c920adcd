//! The interpreter as a switch: the program, its state, and what is on its way.

use crate::engine::*;
use crate::execute::Walker;
use crate::externs::Externs;
use crate::meter::MeterCell;
use crate::packet::Packet;
use crate::pattern::{self, Pattern};
use crate::state::{ProfileState, State};
use crate::storage::{Layout, number};
use crate::tables;
use hlir::entry::EntryAction;
use hlir::value::Bits;
use hlir::{
    ActionCall, CounterId, Entry, ExternId, Match, MeterId, NodeId, ProfileId, Program, RegisterId, TableId, ValueSetId,
};
use num_bigint::BigUint;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Ports of a switch that was not told otherwise: all numbers of 16 bits. Which of them drop, if any, is for the architecture to say.
pub const PORTS: u32 = 1 << 16;

pub struct Switch<'p> {
    pub(crate) program: &'p Program,
    pub(crate) layout: Layout,
    pub(crate) state: State<'p>,
    pub(crate) ports: u32,
    /// Packets that will enter the graph again, and where.
    pub(crate) waiting: VecDeque<(Packet, NodeId)>,
    pub(crate) outcome: Outcome,
    pub(crate) punted: Vec<Punted>,
    /// A line for each step, if anybody wants to know.
    pub(crate) trace: Option<Vec<String>>,
    /// Keys with which each table was looked up, if anybody wants to know.
    pub(crate) keys: Option<Vec<Vec<Vec<Bits>>>>,
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
        let mut switch = Switch {
            program,
            layout: Layout::new(program),
            state: State::new(program),
            ports,
            waiting: VecDeque::new(),
            outcome: Outcome::default(),
            punted: Vec::new(),
            trace: None,
            keys: None,
            drop_reasons: reasons.collect(),
            externs: None,
            extern_objects: hlir::externs::objects(program),
            idle: Vec::new(),
        };
        switch.state.seed = seed;
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

    /// The steps since tracing began or was last asked for.
    pub fn take_trace(&mut self) -> Vec<String> {
        self.trace.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// From now on, notes the keys with which tables are looked up.
    pub(crate) fn start_keys(&mut self) {
        self.keys = Some(vec![Vec::new(); self.program.tables.len()]);
    }

    pub(crate) fn take_keys(&mut self) -> Vec<Vec<Vec<Bits>>> {
        self.keys.take().unwrap_or_default()
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
        Walker::new(self, packet).walk(punted.resume);
        Ok(self.drain())
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

    /// Runs all packets that wait, in turn, until none is left.
    fn drain(&mut self) -> Outcome {
        while let Some((packet, node)) = self.waiting.pop_front().filter(|_| self.state.stopped.is_none()) {
            self.note(|| format!("packet {:#x} enters again: {} bytes", packet.number, packet.bytes.len()));
            Walker::new(self, packet).walk(node);
        }
        self.outcome.stopped = self.state.stopped.clone();
        std::mem::take(&mut self.outcome)
    }

    fn profile(&mut self, profile: ProfileId) -> &mut ProfileState<'p> {
        &mut self.state.profiles[number(profile)]
    }

    /// The first table of a profile: all of them have the same actions.
    fn table_of(&self, profile: ProfileId) -> Option<TableId> {
        self.program.tables.iter().find(|(_, table)| table.profile == Some(profile)).map(|(id, _)| id)
    }

    fn refuse_in_use(&self, profile: ProfileId, what: &str, id: u32) -> Result<(), Refusal> {
        let users = self.program.tables.iter().filter(|(_, table)| table.profile == Some(profile));
        let mut states = users.map(|(id, _)| self.state.table(id));
        let in_use = states.any(|table| if what == "member" { table.uses_member(id) } else { table.uses_group(id) });
        if in_use { Err(Refusal::wrong(format!("{what} {id} is used by an entry"))) } else { Ok(()) }
    }

    /// Whether the member or group that an entry refers to exists.
    fn check_target(&self, table: TableId, action: &EntryAction) -> Result<(), Refusal> {
        let Some(profile) = self.program.tables[table].profile else { return Ok(()) };
        let profile = &self.state.profiles[number(profile)];
        match action {
            EntryAction::Member(member) if !profile.members.contains_key(member) => {
                Err(Refusal::wrong(format!("profile `{}` has no member {member}", profile.profile.name)))
            }
            EntryAction::Group(group) if !profile.groups.contains_key(group) => {
                Err(Refusal::wrong(format!("profile `{}` has no group {group}", profile.profile.name)))
            }
            EntryAction::Call(_) | EntryAction::Member(_) | EntryAction::Group(_) => Ok(()),
        }
    }
}

impl Engine for Switch<'_> {
    fn name(&self) -> &str {
        "interpreter"
    }

    fn reset(&mut self) {
        self.state = State::new(self.program);
        self.waiting.clear();
        self.punted.clear();
        self.idle.clear();
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
            self.note(|| format!("packet {number} from port {}: {} bytes", frame.port, frame.bytes.len()));
            let packet = Packet::new(&self.layout, frame.port, frame.bytes.clone(), number, self.state.seed);
            Walker::new(self, packet.with_budget(self.program.budget.copies)).walk(entry);
            if self.state.stopped.is_some() {
                break;
            }
        }
        Ok(self.drain())
    }

    fn set_clock(&mut self, nanoseconds: u64) {
        self.state.clock_ns = nanoseconds;
        let told = self.state.age();
        self.idle.extend(told);
    }

    fn set_seed(&mut self, seed: u64) {
        self.state.seed = seed;
        self.state.next_packet = 0;
    }

    fn insert(&mut self, table: TableId, entry: &Entry) -> Result<(), Refusal> {
        self.check_target(table, &entry.action)?;
        self.state.table_mut(table).insert(entry)
    }

    fn modify(&mut self, table: TableId, entry: &Entry) -> Result<(), Refusal> {
        self.check_target(table, &entry.action)?;
        let key = EntryKey { table, matches: entry.matches.clone(), priority: entry.priority };
        self.state.table_mut(table).modify(entry, &key)
    }

    fn delete(&mut self, key: &EntryKey) -> Result<(), Refusal> {
        self.state.table_mut(key.table).delete(key)
    }

    fn clear(&mut self, table: TableId) -> Result<(), Refusal> {
        self.state.table_mut(table).clear();
        Ok(())
    }

    fn set_default(&mut self, table: TableId, call: &ActionCall) -> Result<(), Refusal> {
        self.state.table_mut(table).set_default(call)
    }

    fn table_counts(&self, table: TableId) -> TableCounts {
        self.state.table(table).counts
    }

    fn set_idle_timeout(&mut self, key: &EntryKey, nanoseconds: u64) -> Result<(), Refusal> {
        let now = self.state.clock_ns;
        self.state.table_mut(key.table).set_timer(key, nanoseconds, now)
    }

    fn set_expiry(&mut self, table: TableId, profile: u8, nanoseconds: u64) -> Result<(), Refusal> {
        self.state.table_mut(table).set_expiry(profile, nanoseconds);
        Ok(())
    }

    fn take_idle(&mut self) -> Vec<EntryKey> {
        std::mem::take(&mut self.idle)
    }

    fn set_member(&mut self, profile: ProfileId, member: u32, call: &ActionCall) -> Result<(), Refusal> {
        let Some(table) = self.table_of(profile) else { return Ok(()) };
        let table = &self.program.tables[table];
        tables::check_call(table, call, hlir::Scope::DefaultOnly)?;
        let invocation = Rc::new(tables::invocation(table, call));
        self.profile(profile).members.insert(member, invocation);
        Ok(())
    }

    fn delete_member(&mut self, profile: ProfileId, member: u32) -> Result<(), Refusal> {
        self.refuse_in_use(profile, "member", member)?;
        let profile = self.profile(profile);
        if profile.groups.values().any(|members| members.contains(&member)) {
            return Err(Refusal::wrong(format!("member {member} is used by a group")));
        }
        let known = profile.members.remove(&member).is_some();
        if known { Ok(()) } else { Err(Refusal::wrong(format!("there is no member {member}"))) }
    }

    fn set_group(&mut self, profile: ProfileId, group: u32, members: &[u32]) -> Result<(), Refusal> {
        let profile = self.profile(profile);
        if profile.profile.selector.is_none() {
            return Err(Refusal::wrong(format!(
                "profile `{}` has no selector, so it has no groups",
                profile.profile.name
            )));
        }
        if let Some(unknown) = members.iter().find(|member| !profile.members.contains_key(member)) {
            return Err(Refusal::wrong(format!("profile `{}` has no member {unknown}", profile.profile.name)));
        }
        profile.groups.insert(group, members.to_vec());
        Ok(())
    }

    fn delete_group(&mut self, profile: ProfileId, group: u32) -> Result<(), Refusal> {
        self.refuse_in_use(profile, "group", group)?;
        let known = self.profile(profile).groups.remove(&group).is_some();
        if known { Ok(()) } else { Err(Refusal::wrong(format!("there is no group {group}"))) }
    }

    fn read_counter(&mut self, counter: CounterId, cell: &Cell) -> Result<CounterValue, Refusal> {
        self.state.named_counter(counter, cell).copied()
    }

    fn write_counter(&mut self, counter: CounterId, cell: &Cell, value: CounterValue) -> Result<(), Refusal> {
        *self.state.named_counter(counter, cell)? = value;
        Ok(())
    }

    fn set_meter(&mut self, meter: MeterId, cell: &Cell, rates: Option<MeterRates>) -> Result<(), Refusal> {
        let now = self.state.clock_ns;
        *self.state.named_meter(meter, cell)? = MeterCell::new(rates, now);
        Ok(())
    }

    fn meter_rates(&mut self, meter: MeterId, cell: &Cell) -> Result<Option<MeterRates>, Refusal> {
        Ok(self.state.named_meter(meter, cell)?.rates())
    }

    fn read_register(&mut self, register: RegisterId, index: u64) -> Result<BigUint, Refusal> {
        let declared = &self.program.registers[register];
        let missing = || Refusal::wrong(format!("register `{}` has only {} cells", declared.name, declared.size));
        Ok(self.state.register(register, index).ok_or_else(missing)?.bits.to_big())
    }

    fn write_register(&mut self, register: RegisterId, index: u64, value: &BigUint) -> Result<(), Refusal> {
        let declared = &self.program.registers[register];
        if index >= declared.size {
            return Err(Refusal::wrong(format!("register `{}` has only {} cells", declared.name, declared.size)));
        }
        if value.bits() > u64::from(declared.width) {
            let (name, width) = (&declared.name, declared.width);
            return Err(Refusal::wrong(format!(
                "{value:#x} does not fit register `{name}`, which is {width} bits wide"
            )));
        }
        self.state.set_register(register, index, Bits::from_big(value, declared.width));
        Ok(())
    }

    fn set_value_set(&mut self, set: ValueSetId, members: &[Vec<Match>]) -> Result<(), Refusal> {
        let declared = &self.program.value_sets[set];
        if members.len() as u64 > declared.size {
            return Err(Refusal::wrong(format!(
                "value set `{}` has room for {} members",
                declared.name, declared.size
            )));
        }
        let mut patterns = Vec::new();
        for member in members {
            if member.len() != declared.fields.len() {
                let (name, fields) = (&declared.name, declared.fields.len());
                return Err(Refusal::wrong(format!("members of value set `{name}` have {fields} fields")));
            }
            for (found, (name, width, kind)) in member.iter().zip(&declared.fields) {
                pattern::check(found, *kind, *width, name)?;
            }
            let fields = member.iter().zip(&declared.fields);
            patterns.push(fields.map(|(found, (_, width, _))| Pattern::new(found, *width)).collect());
        }
        self.state.value_sets[number(set)] = patterns;
        Ok(())
    }

    fn set_multicast(&mut self, group: u32, members: &[Replica]) -> Result<(), Refusal> {
        if group == 0 {
            return Err(Refusal::wrong("multicast group 0 means no group".to_string()));
        }
        if members.is_empty() {
            self.state.multicast.remove(&group);
        } else {
            self.state.multicast.insert(group, members.to_vec());
        }
        Ok(())
    }

    fn set_session(&mut self, session: u32, value: Option<&Session>) -> Result<(), Refusal> {
        match value {
            Some(value) => self.state.sessions.insert(session, value.clone()),
            None => self.state.sessions.remove(&session),
        };
        Ok(())
    }

    fn drops(&self) -> Vec<u64> {
        self.state.drops.clone()
    }
}
