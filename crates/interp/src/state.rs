//! What packets of one switch share: tables, profiles, counters, meters, registers, groups, sessions, and the counts of what happened.

use crate::hash;
use crate::meter::MeterElement;
use crate::pattern::Pattern;
use crate::storage::number;
use crate::tables::{Invocation, TableState, Target};
use control::plane::{CounterValue, Element, EntryKey};
use control::{Refusal, Update};
use hlir::lookup_sums::RECEIVED;
use hlir::value::{Bits, Value};
use hlir::{
    Algorithm, CounterId, CrcParameters, DEFAULT_INDEX, MeterId, Profile, Program, RegisterId, Selector, TableId,
};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

#[derive(Clone)]
pub struct State<'p> {
    pub program: &'p Program,
    pub tables: Vec<TableState<'p>>,
    pub profiles: Vec<ProfileState<'p>>,
    /// Elements of indirect counters, meters and registers that are not as they were at the start, by index.
    pub counters: Vec<HashMap<u64, CounterValue>>,
    pub meters: Vec<HashMap<u64, MeterElement>>,
    pub registers: Vec<HashMap<u64, Bits>>,
    /// Members of each value set, a pattern a field.
    pub value_sets: Vec<Vec<Vec<Pattern>>>,
    /// Parameters that a controller has set.
    pub crcs: Vec<Option<CrcParameters>>,
    pub clock_ns: u64,
    pub seed: u64,
    pub next_packet: u64,
    pub drops: Vec<u64>,
    /// Why the switch has stopped.
    pub stopped: Option<String>,
    /// Direct counters and meters of each table, in the order of the program: the order of an entry's counters.
    pub direct_counters: Vec<Vec<CounterId>>,
    pub direct_meters: Vec<Vec<MeterId>>,
}

#[derive(Clone)]
pub struct ProfileState<'p> {
    pub profile: &'p Profile,
    pub members: BTreeMap<u32, Rc<Invocation>>,
    /// What a group chooses of, each as often as it has weight.
    pub groups: BTreeMap<u32, Vec<Rc<Invocation>>>,
}

impl<'p> State<'p> {
    pub fn new(program: &'p Program) -> State<'p> {
        let mut direct_counters = vec![Vec::new(); program.tables.len()];
        for (id, counter) in program.counters.iter() {
            counter.table.into_iter().for_each(|table| direct_counters[number(table)].push(id));
        }
        let mut direct_meters = vec![Vec::new(); program.tables.len()];
        for (id, meter) in program.meters.iter() {
            meter.table.into_iter().for_each(|table| direct_meters[number(table)].push(id));
        }
        let tables = program.tables.iter().map(|(id, table)| {
            TableState::new(program, table, direct_counters[number(id)].len(), direct_meters[number(id)].len())
        });
        let profiles = program.profiles.iter().map(|(_, profile)| ProfileState {
            profile,
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
        });
        State {
            program,
            tables: tables.collect(),
            profiles: profiles.collect(),
            counters: vec![HashMap::new(); program.counters.len()],
            meters: vec![HashMap::new(); program.meters.len()],
            registers: vec![HashMap::new(); program.registers.len()],
            value_sets: vec![Vec::new(); program.value_sets.len()],
            crcs: vec![None; program.crcs.len()],
            clock_ns: 0,
            seed: 0,
            next_packet: 0,
            drops: vec![0; program.drop_reasons().len()],
            stopped: None,
            direct_counters,
            direct_meters,
        }
    }

    /// A hash with the parameters that are set.
    pub fn hash(&self, algorithm: Algorithm, data: &[u8]) -> u64 {
        match algorithm.crc().and_then(|crc| self.crcs[number(crc)]) {
            Some(parameters) => parameters.compute(algorithm.width(), data).into(),
            None => hash::hash(algorithm, data),
        }
    }

    pub fn table(&self, table: TableId) -> &TableState<'p> {
        &self.tables[number(table)]
    }

    pub fn table_mut(&mut self, table: TableId) -> &mut TableState<'p> {
        &mut self.tables[number(table)]
    }

    /// The action that an entry leads to; `pick` chooses by a selector. Nothing, if its group is empty and the table has
    /// no action for that.
    pub fn resolve(
        &self,
        table: TableId,
        entry: usize,
        pick: impl Fn(&Selector, &[Rc<Invocation>]) -> usize,
    ) -> Option<Rc<Invocation>> {
        let state = self.table(table);
        let profile = || state.table.profile.map(|profile| &self.profiles[number(profile)]);
        match &state.entry(entry).target {
            Target::Call(invocation) => Some(invocation.clone()),
            Target::Member(member) => profile()?.members.get(member).cloned(),
            Target::Group(group) => self.choose(state, profile()?.groups.get(group), pick),
            Target::Set(set) => self.choose(state, state.sets.get(set), pick),
        }
    }

    fn choose(
        &self,
        table: &TableState<'p>,
        choices: Option<&Vec<Rc<Invocation>>>,
        pick: impl Fn(&Selector, &[Rc<Invocation>]) -> usize,
    ) -> Option<Rc<Invocation>> {
        let Some(choices) = choices.filter(|choices| !choices.is_empty()) else { return table.empty_group.clone() };
        let profile = table.table.profile.map(|profile| self.profiles[number(profile)].profile)?;
        let chosen = profile.selector.as_ref().map_or(0, |selector| pick(selector, choices));
        Some(choices[chosen].clone())
    }

    /// An element of a counter, or nothing if an index is out of range.
    pub fn counter_element(&mut self, counter: CounterId, index: u64) -> Option<&mut CounterValue> {
        let in_range = index < self.program.counters[counter].size;
        in_range.then(|| self.counters[number(counter)].entry(index).or_default())
    }

    /// Packets that a counter has counted at an index.
    pub fn counter_packets(&self, counter: CounterId, index: u64) -> u64 {
        self.counters[number(counter)].get(&index).map_or(0, |element| element.packets)
    }

    /// Counts a packet that was received.
    pub fn count_received(&mut self, counter: CounterId) {
        self.counters[number(counter)].entry(u64::from(RECEIVED)).or_default().packets += 1;
    }

    /// Elements that are not as they were at the start, in no order.
    pub fn counter_elements(&self, counter: CounterId) -> impl Iterator<Item = u64> {
        self.counters[number(counter)].keys().copied()
    }

    /// Elements that were written, in no order.
    pub fn register_elements(&self, register: RegisterId) -> impl Iterator<Item = u64> {
        self.registers[number(register)].keys().copied()
    }

    pub fn meter_element(&mut self, meter: MeterId, index: u64) -> Option<&mut MeterElement> {
        let in_range = index < self.program.meters[meter].size;
        in_range.then(|| self.meters[number(meter)].entry(index).or_default())
    }

    /// The direct counter with this index; see [`TableState::direct_mut`].
    pub fn direct_counter(&mut self, counter: CounterId, table: TableId, index: u64) -> Option<&mut CounterValue> {
        let position = self.direct_counters[number(table)].iter().position(|other| *other == counter)?;
        self.table_mut(table).direct_mut(index)?.counters.get_mut(position)
    }

    pub fn direct_meter(&mut self, meter: MeterId, table: TableId, index: u64) -> Option<&mut MeterElement> {
        let position = self.direct_meters[number(table)].iter().position(|other| *other == meter)?;
        self.table_mut(table).direct_mut(index)?.meters.get_mut(position)
    }

    pub fn register(&self, register: RegisterId, index: u64) -> Option<Value> {
        let declared = &self.program.registers[register];
        if index >= declared.size {
            return None;
        }
        let bits = self.registers[number(register)].get(&index).cloned();
        let bits = bits.unwrap_or_else(|| Bits::from_big(&declared.initial, declared.width));
        Some(Value { width: declared.width, bits })
    }

    pub fn set_register(&mut self, register: RegisterId, index: u64, value: Bits) {
        if index < self.program.registers[register].size {
            self.registers[number(register)].insert(index, value);
        }
    }

    /// The number of an entry's direct counters and meters: hidden actions of joint tables have it as data.
    pub fn counter_index(&self, key: &EntryKey) -> Option<u64> {
        self.table(key.table).identify(key).ok().map(index_of)
    }

    /// A new entry may have the number of one that was hit.
    pub fn forget_joint_hits(&mut self, update: &Update) {
        let Update::Insert { table, entry } = update else { return };
        let Some(timers) = self.program.joint_timers(*table) else { return };
        let key = EntryKey { table: *table, matches: entry.matches.clone(), priority: entry.priority };
        if let Some(element) = self.counter_index(&key) {
            self.set_register(timers, element, Bits::zero(hlir::Join::TIME_BITS));
        }
    }

    /// The counter as the control plane names it.
    pub fn named_counter(&mut self, counter: CounterId, element: &Element) -> Result<&mut CounterValue, Refusal> {
        let declared = &self.program.counters[counter];
        let missing =
            || Refusal::wrong(format!("counter `{}` has no such index: its size is {}", declared.name, declared.size));
        match element {
            Element::Index(index) => self.counter_element(counter, *index).ok_or_else(missing),
            Element::Entry(key) => {
                let index = index_of(self.table(key.table).identify(key)?);
                let other = || Refusal::wrong(format!("counter `{}` belongs to another table", declared.name));
                self.direct_counter(counter, key.table, index).ok_or_else(other)
            }
            Element::Default(table) => {
                let other = || Refusal::wrong(format!("counter `{}` belongs to another table", declared.name));
                self.direct_counter(counter, *table, DEFAULT_INDEX).ok_or_else(other)
            }
        }
    }

    /// The meter as the control plane names it.
    pub fn named_meter(&mut self, meter: MeterId, element: &Element) -> Result<&mut MeterElement, Refusal> {
        let declared = &self.program.meters[meter];
        let missing =
            || Refusal::wrong(format!("meter `{}` has no such index: its size is {}", declared.name, declared.size));
        match element {
            Element::Index(index) => self.meter_element(meter, *index).ok_or_else(missing),
            Element::Entry(key) => {
                let index = index_of(self.table(key.table).identify(key)?);
                let other = || Refusal::wrong(format!("meter `{}` belongs to another table", declared.name));
                self.direct_meter(meter, key.table, index).ok_or_else(other)
            }
            Element::Default(table) => {
                let other = || Refusal::wrong(format!("meter `{}` belongs to another table", declared.name));
                self.direct_meter(meter, *table, DEFAULT_INDEX).ok_or_else(other)
            }
        }
    }
}

/// The index of an entry in direct counters and meters.
pub fn index_of(entry: usize) -> u64 {
    entry as u64 + 1
}

/// Which of so many members: the hash, cut to the selector's width, modulo their number.
pub fn choose(selector: &Selector, data: &[u8], count: usize) -> usize {
    let hash = hash::hash(selector.algorithm, data);
    let cut = if selector.width < 64 { hash & ((1 << selector.width) - 1) } else { hash };
    (cut % count as u64) as usize
}
