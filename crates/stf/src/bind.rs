//! Resolves commands to steps: a program's engine gets them with every name and value resolved.
//!
//! All mistakes are found before anything runs. Multicast nodes and names of entries are worked out here, so that engines need not know them.

use super::command::{
    self, Argument, Call, Command, Condition, Elements, Key, Kind, MeterRate, Multicast, Pattern, Value, Word,
};
use super::{Mistake, Place, matches, names};
use control::Update;
use control::plane::{self, CounterValue, Element, EntryKey, MeterRates, Replica, Session, SessionTarget};
use hlir::entry::EntryAction;
use hlir::{ActionCall, CounterId, CrcId, CrcParameters, DigestId, Entry, Match, MeterId, Parameter, ProfileId};
use hlir::{PortNumbers, Program, RegisterId, Table, TableId, ValueSetId, interface::Physical};
use la_arena::Arena;
use num_bigint::BigUint;
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Debug)]
pub struct Step {
    pub place: Place,
    pub act: Act,
}

#[derive(Clone, Debug)]
pub enum Act {
    Packet {
        port: u32,
        bytes: Vec<u8>,
    },
    Expect {
        port: u32,
        pattern: Option<Pattern>,
    },
    ExpectDigest {
        digest: DigestId,
        fields: Vec<(usize, BigUint)>,
    },
    ExpectIdle(EntryKey),
    NoPacket,
    /// Happens between bursts.
    Control(Control),
}

#[derive(Clone, Debug)]
pub enum Control {
    Insert(TableId, Entry),
    Modify(TableId, Entry),
    Delete(EntryKey),
    Clear,
    SetDefault(TableId, ActionCall),
    SetMember(ProfileId, u32, ActionCall),
    SetGroup(ProfileId, u32, plane::Group),
    CheckCounter {
        name: String,
        counter: CounterId,
        element: Element,
        condition: Condition,
    },
    ReadCounter(CounterId, u64),
    WriteCounter(CounterId, u64, CounterValue),
    ReadRegister(RegisterId, u64),
    WriteRegister(RegisterId, u64, BigUint),
    ReadMeter(MeterId, u64),
    SetMeter(MeterId, Option<u64>, MeterRates),
    ValueSet(ValueSetId, Vec<Vec<Match>>),
    Crc(CrcId, CrcParameters),
    Multicast(u32, plane::Multicast),
    Session(u32, Option<Session>),
    IdleTimeout(EntryKey, u64),
    Expiry(TableId, u8, u64),
    /// What belongs to an entry or to a default action besides its action.
    Attach(Update),
    Clock(u64),
    Seed(u64),
    /// Splits bursts and does nothing else: `wait`, and writes to what the program never reaches.
    Nothing,
}

/// What commands come to.
pub struct Bound {
    pub steps: Vec<Step>,
    /// What is taken, but is hardly meant so.
    pub warnings: Vec<Mistake>,
}

/// The steps of all commands, or all mistakes.
pub fn bind(program: &Program, commands: &[Command]) -> Result<Bound, Vec<Mistake>> {
    let mut binder = Binder::new(program);
    let mut steps = Vec::new();
    let mut mistakes = Vec::new();
    for command in commands {
        match binder.acts(command) {
            Ok(acts) => steps.extend(acts.into_iter().map(|act| Step { place: command.place, act })),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if mistakes.is_empty() { Ok(Bound { steps, warnings: binder.warnings }) } else { Err(mistakes) }
}

pub(super) struct Binder<'p> {
    program: &'p Program,
    /// Entries by the name behind `=`.
    labels: HashMap<String, EntryKey>,
    /// Multicast nodes by handle: instance and ports.
    nodes: Vec<(u16, Vec<u32>)>,
    /// Handles of each multicast group's nodes.
    groups: BTreeMap<u32, Vec<usize>>,
    port_numbers: PortNumbers,
    warnings: Vec<Mistake>,
}

type Controls = Result<Vec<Control>, Mistake>;

impl<'p> Binder<'p> {
    fn new(program: &'p Program) -> Binder<'p> {
        let (labels, nodes, groups, warnings) = (HashMap::new(), Vec::new(), BTreeMap::new(), Vec::new());
        Binder { program, labels, nodes, groups, port_numbers: program.port_numbers(), warnings }
    }

    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// A port that the program's port numbers can name.
    fn port(&self, word: &Word) -> Result<u32, Mistake> {
        let port = matches::small(word, "a port")?;
        self.port_numbers.unnamed(port).map_or(Ok(port), |why| Err(Mistake::new(word.place, why)))
    }

    fn acts(&mut self, command: &Command) -> Result<Vec<Act>, Mistake> {
        if let Kind::Packet { port, .. } | Kind::Expect { port, .. } = &command.kind
            && let Some(why) = self.port_numbers.unusable(*port)
        {
            return Err(Mistake::new(command.place, why));
        }
        let act = match &command.kind {
            Kind::Packet { port, bytes } => Act::Packet { port: *port, bytes: bytes.clone() },
            Kind::Expect { port, pattern } => Act::Expect { port: *port, pattern: pattern.clone() },
            Kind::NoPacket => Act::NoPacket,
            Kind::ExpectDigest { digest, fields } => self.expect_digest(digest, fields)?,
            Kind::ExpectIdle { table, priority, keys } => self.expect_idle(table, priority.as_ref(), keys)?,
            Kind::Control(control) => {
                let controls = self.controls(control)?;
                return Ok(controls.into_iter().map(Act::Control).collect());
            }
        };
        Ok(vec![act])
    }

    fn controls(&mut self, command: &command::Control) -> Controls {
        let control = match command {
            command::Control::Wait | command::Control::MirrorGet { .. } => Control::Nothing,
            command::Control::RemoveAll => Control::Clear,
            command::Control::Aging(aging) => self.aging(aging)?,
            command::Control::Attach { table, priority, keys, attached } => {
                self.attach(table, priority.as_ref(), keys.as_deref(), attached)?
            }
            command::Control::Clock { nanoseconds } => Control::Clock(*nanoseconds),
            command::Control::Seed { seed } => Control::Seed(matches::index(seed, "the seed")?),
            command::Control::Add { table, priority, keys, action, label } => {
                self.add(table, priority.as_ref(), keys, action, label.as_ref())?
            }
            command::Control::Modify { table, priority, keys, action } => {
                self.modify(table, priority.as_ref(), keys, action)?
            }
            command::Control::SetDefault { table, action } => self.set_default(table, action)?,
            command::Control::Remove { table, priority, keys } => self.remove(table, priority.as_ref(), keys)?,
            command::Control::ValueSet { set, members } => self.value_set(set, members)?,
            command::Control::Crc { crc, width, numbers, reflects } => self.crc(crc, *width, numbers, reflects)?,
            command::Control::Member { profile, id, action } => self.member(profile, id, action)?,
            command::Control::Group { profile, id, members, max_size } => {
                self.group(profile, id, members, max_size.as_ref())?
            }
            command::Control::MirrorToPort { session, port, bytes } => {
                let members = vec![Replica { port: self.port(port)?, instance: 0 }];
                let bytes = bytes.as_ref().map_or(Ok(0), |bytes| matches::small(bytes, "a number of bytes"))?;
                self.session(session, Some((members.into(), bytes)))?
            }
            command::Control::MirrorToGroup { session, group } => {
                let group = matches::small(group, "a multicast group")?;
                self.session(session, Some((SessionTarget::Group(group), 0)))?
            }
            command::Control::MirrorToMembers { session, members, bytes } => {
                let members = self.replicas(members)?;
                let bytes = bytes.as_ref().map_or(Ok(0), |bytes| matches::small(bytes, "a length"))?;
                self.session(session, Some((members.into(), bytes)))?
            }
            command::Control::MirrorDelete { session } => self.session(session, None)?,
            command::Control::Multicast(multicast) => return self.multicast(multicast),
            command::Control::Elements(elements) => return self.elements(elements),
            command::Control::CheckCounter { counter, element, condition } => {
                self.check_counter(counter, element.as_ref(), *condition)?
            }
        };
        Ok(vec![control])
    }

    /// The table that is meant; nothing if it is one that no packet reaches.
    pub fn table(&self, word: &Word) -> Result<Option<TableId>, Mistake> {
        // Joint tables are the switch's own.
        let tables = self.program.tables.iter().filter(|(table, _)| self.program.join_of(*table).is_none());
        let reachable = tables.clone().map(|(_, table)| table.name.as_str());
        let gone = self.program.interface.tables.iter().filter(|table| table.physical == Physical::None);
        let unapplied = self.program.interface.unapplied.iter().map(String::as_str);
        let names = reachable.chain(gone.map(|table| table.name.as_str())).chain(unapplied);
        let index = names::find_by_end(word, "table", names)?;
        Ok(tables.clone().nth(index).map(|(id, _)| id))
    }

    fn add(
        &mut self,
        table: &Word,
        priority: Option<&Word>,
        keys: &[Key],
        action: &command::EntryAction,
        label: Option<&Word>,
    ) -> Result<Control, Mistake> {
        let Some(id) = self.table(table)? else { return Ok(Control::Nothing) };
        let (key, action) = (self.entry_key(id, priority, keys, table)?, self.entry_action(id, action)?);
        if let Some(label) = label {
            self.labels.insert(label_name(label).to_string(), key.clone());
        }
        Ok(Control::Insert(id, Entry { matches: key.matches, priority: key.priority, action, constant: false }))
    }

    fn modify(
        &mut self,
        table: &Word,
        priority: Option<&Word>,
        keys: &[Key],
        action: &command::EntryAction,
    ) -> Result<Control, Mistake> {
        let Some(id) = self.table(table)? else { return Ok(Control::Nothing) };
        let EntryKey { matches, priority, .. } = self.entry_key(id, priority, keys, table)?;
        Ok(Control::Modify(id, Entry { matches, priority, action: self.entry_action(id, action)?, constant: false }))
    }

    fn entry_action(&self, id: TableId, action: &command::EntryAction) -> Result<EntryAction, Mistake> {
        Ok(match action {
            command::EntryAction::Call(call) => EntryAction::Call(self.call(id, call)?),
            command::EntryAction::Member(member) => EntryAction::Member(matches::small(member, "a member")?),
            command::EntryAction::Group(group) => EntryAction::Group(matches::small(group, "a group")?),
        })
    }

    fn remove(&mut self, table: &Word, priority: Option<&Word>, keys: &[Key]) -> Result<Control, Mistake> {
        let Some(id) = self.table(table)? else { return Ok(Control::Nothing) };
        Ok(Control::Delete(self.entry_key(id, priority, keys, table)?))
    }

    pub fn entry_key(
        &mut self,
        id: TableId,
        priority: Option<&Word>,
        keys: &[Key],
        word: &Word,
    ) -> Result<EntryKey, Mistake> {
        let table = &self.program.tables[id];
        let priority = match priority {
            Some(priority) => matches::small(priority, "a priority")?,
            None if table.has_priorities() && needs_priority(table) => {
                let message = format!("table `{}` has a ternary key: write a priority behind its name", table.name);
                return Err(Mistake::new(word.place, message));
            }
            None => 0,
        };
        let priority = if table.has_priorities() { priority } else { 0 };
        Ok(EntryKey { table: id, matches: self.matches(table, keys)?, priority })
    }

    fn matches(&mut self, table: &Table, keys: &[Key]) -> Result<Vec<Match>, Mistake> {
        let names: Vec<&str> = table.keys.iter().map(|key| key.name.as_str()).collect();
        let mut found: Vec<Option<Match>> = vec![None; names.len()];
        for (at, Key { name, value }) in keys.iter().enumerate() {
            let index = name.as_ref().map_or(Ok(at), |name| names::find_key(name, &names))?;
            let place = name.as_ref().map_or(value.place(), |name| name.place);
            if index >= names.len() {
                return Err(Mistake::new(place, format!("table `{}` has {} keys", table.name, names.len())));
            }
            if found[index].is_some() {
                return Err(Mistake::new(place, format!("key `{}` is given twice", names[index])));
            }
            let key = &table.keys[index];
            let width = self.program.expression_type(&key.value, &[]).width();
            found[index] = Some(matches::match_of(value, key.kind, width, &key.name, &mut self.warnings)?);
        }
        let kinds = table.keys.iter().map(|key| key.kind);
        Ok(found.into_iter().zip(kinds).map(|(found, kind)| found.unwrap_or_else(|| matches::omitted(kind))).collect())
    }

    fn call(&self, table: TableId, call: &Call) -> Result<ActionCall, Mistake> {
        let table = &self.program.tables[table];
        let what = format!("action of table `{}` called", table.name);
        let index = names::find_by_end(&call.name, &what, table.actions.iter().map(|action| action.name.as_str()))?;
        let parameters = &table.actions[index].parameters;
        let mut values: Vec<Option<BigUint>> = vec![None; parameters.len()];
        for (at, Argument { name, value }) in call.arguments.iter().enumerate() {
            let position = match name {
                Some(name) => parameter_named(parameters, name)?,
                None => at,
            };
            let Some(parameter) = parameters.get(position) else {
                let message = format!("action `{}` takes {} arguments", table.actions[index].name, parameters.len());
                return Err(Mistake::new(value.place, message));
            };
            let what = format!("parameter `{}`", parameter.name);
            if values[position].is_some() {
                return Err(Mistake::new(value.place, format!("{what} is given twice")));
            }
            values[position] = Some(matches::number(value, parameter.width, &what)?);
        }
        let mut arguments = Vec::new();
        for (parameter, value) in parameters.iter().zip(values) {
            let missing = || Mistake::new(call.name.place, format!("parameter `{}` has no value", parameter.name));
            arguments.push(value.ok_or_else(missing)?);
        }
        Ok(ActionCall { action: index as u32, arguments })
    }

    fn set_default(&self, table: &Word, action: &Call) -> Result<Control, Mistake> {
        let Some(id) = self.table(table)? else { return Ok(Control::Nothing) };
        Ok(Control::SetDefault(id, self.call(id, action)?))
    }

    fn expect_digest(&self, word: &Word, fields: &[(Word, Word)]) -> Result<Act, Mistake> {
        let id = object(word, "digest", &self.program.digests, |digest| &digest.name)?;
        let declared = &self.program.digests[id].fields;
        let mut expected = Vec::new();
        for (name, value) in fields {
            let index = names::find_by_end(name, "field", declared.iter().map(|(name, _)| name.as_str()))?;
            let (name, width) = &declared[index];
            expected.push((index, matches::number(value, *width, &format!("field `{name}`"))?));
        }
        Ok(Act::ExpectDigest { digest: id, fields: expected })
    }

    fn crc(&mut self, word: &Word, width: u32, numbers: &[Word; 3], reflects: &[Word; 2]) -> Result<Control, Mistake> {
        let id = object(word, "CRC", &self.program.crcs, |crc| &crc.name)?;
        let crc = &self.program.crcs[id];
        if crc.width != width {
            return Err(Mistake::new(
                word.place,
                format!("`{}` is a CRC of {} bits, not {width}", crc.name, crc.width),
            ));
        }
        let number = |word: &Word| {
            let number = matches::number(word, width, &format!("CRC `{}`", crc.name))?;
            Ok(u32::try_from(number).expect("the number was found to have 32 bits at most"))
        };
        let flag = |word: &Word| match word.text.as_str() {
            "true" | "True" | "1" => Ok(true),
            "false" | "False" | "0" => Ok(false),
            _ => Err(Mistake::new(word.place, "expected `true` or `false`")),
        };
        let parameters = CrcParameters {
            polynomial: number(&numbers[0])?,
            initial: number(&numbers[1])?,
            last: number(&numbers[2])?,
            reflects_data: flag(&reflects[0])?,
            reflects_remainder: flag(&reflects[1])?,
        };
        Ok(Control::Crc(id, parameters))
    }

    fn value_set(&mut self, word: &Word, members: &[Vec<Value>]) -> Result<Control, Mistake> {
        let id = object(word, "value set", &self.program.value_sets, |set| &set.name)?;
        let fields = &self.program.value_sets[id].fields;
        let mut bound = Vec::new();
        for member in members {
            if member.len() != fields.len() {
                let message = format!("members of `{}` have {} fields: join them by `,`", word.text, fields.len());
                return Err(Mistake::new(word.place, message));
            }
            let each = member.iter().zip(fields);
            let warnings = &mut self.warnings;
            let found =
                each.map(|(value, (name, width, kind))| matches::match_of(value, *kind, *width, name, warnings));
            bound.push(found.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(Control::ValueSet(id, bound))
    }

    fn member(&self, word: &Word, id: &Word, action: &Call) -> Result<Control, Mistake> {
        let profile = object(word, "action profile", &self.program.profiles, |profile| &profile.name)?;
        let id = matches::small(id, "a member")?;
        let mut tables = self.program.tables.iter();
        let Some((table, _)) = tables.find(|(_, table)| table.profile == Some(profile)) else {
            return Ok(Control::Nothing);
        };
        Ok(Control::SetMember(profile, id, self.call(table, action)?))
    }

    /// A member that is listed several times has the sum of its weights.
    fn group(
        &self,
        word: &Word,
        id: &Word,
        members: &[command::GroupMember],
        max_size: Option<&Word>,
    ) -> Result<Control, Mistake> {
        let profile = object(word, "action profile", &self.program.profiles, |profile| &profile.name)?;
        let max_size = max_size.map_or(Ok(0), |size| matches::small(size, "a size"))?;
        let mut group = plane::Group { max_size, ..plane::Group::default() };
        for command::GroupMember { id, weight, watch } in members {
            let (member, weight) = (matches::small(id, "a member")?, *weight);
            let watch = watch.as_ref().map(|port| self.port(port)).transpose()?;
            match group.members.iter_mut().find(|known| known.member == member && known.watch == watch) {
                Some(known) => known.weight = known.weight.saturating_add(weight),
                None => group.members.push(plane::GroupMember { member, weight, watch }),
            }
        }
        Ok(Control::SetGroup(profile, matches::small(id, "a group")?, group))
    }

    fn session(&self, session: &Word, target: Option<(SessionTarget, u32)>) -> Result<Control, Mistake> {
        let session = matches::small(session, "a session")?;
        Ok(Control::Session(session, target.map(|(target, truncation_bytes)| Session::new(target, truncation_bytes))))
    }

    fn multicast(&mut self, command: &Multicast) -> Controls {
        match command {
            Multicast::GroupCreate { group } => {
                self.groups.entry(matches::small(group, "a multicast group")?).or_default();
            }
            Multicast::NodeCreate { instance, ports: words } => {
                let number = self::instance(instance)?;
                let ports = words.iter().map(|port| self.port(port)).collect::<Result<_, _>>()?;
                self.nodes.push((number, ports));
            }
            Multicast::NodeUpdate { handle, ports: words } => {
                let node = self.node(handle)?;
                self.nodes[node].1 = words.iter().map(|port| self.port(port)).collect::<Result<_, _>>()?;
                let using = self.groups.iter().filter(|(_, nodes)| nodes.contains(&node));
                return Ok(using.map(|(group, _)| self.group_members(*group)).collect());
            }
            Multicast::Whole { group, members } => {
                let group = matches::small(group, "a multicast group")?;
                return Ok(vec![Control::Multicast(group, self.replicas(members)?.into())]);
            }
            Multicast::NodeAssociate { group, handle } => {
                let (group, node) = (matches::small(group, "a multicast group")?, self.node(handle)?);
                self.groups.entry(group).or_default().push(node);
                return Ok(vec![self.group_members(group)]);
            }
        }
        Ok(vec![Control::Nothing])
    }

    fn node(&self, handle: &Word) -> Result<usize, Mistake> {
        let node = matches::small(handle, "a node")? as usize;
        if node < self.nodes.len() {
            return Ok(node);
        }
        let message = format!("there is no node {node}: {} were created so far", self.nodes.len());
        Err(Mistake::new(handle.place, message))
    }

    fn replicas(&self, members: &[command::Member]) -> Result<Vec<Replica>, Mistake> {
        let replica = |member: &command::Member| {
            Ok(Replica { port: self.port(&member.port)?, instance: instance(&member.instance)? })
        };
        members.iter().map(replica).collect()
    }

    fn group_members(&self, group: u32) -> Control {
        let nodes = self.groups[&group].iter().map(|node| &self.nodes[*node]);
        let replicas =
            nodes.flat_map(|(instance, ports)| ports.iter().map(|port| Replica { port: *port, instance: *instance }));
        Control::Multicast(group, replicas.collect::<Vec<Replica>>().into())
    }

    fn check_counter(&self, name: &Word, element: Option<&Word>, condition: Condition) -> Result<Control, Mistake> {
        let text = |element: &Word| format!("{}({})", name.text, element.text);
        let (counter, element, name) = match element {
            None => {
                let entry = self.label(name)?;
                let mut counters = self.program.counters.iter();
                let direct = counters.find(|(_, counter)| counter.table == Some(entry.table));
                let missing = || Mistake::new(name.place, "the entry's table has no direct counter");
                (direct.ok_or_else(missing)?.0, Element::Entry(entry.clone()), name.text.clone())
            }
            Some(element) if element.text.starts_with(|c: char| c.is_ascii_digit()) => {
                let counter = object(name, "counter", &self.program.counters, |counter| &counter.name)?;
                (counter, Element::Index(matches::index(element, "an index")?), text(element))
            }
            Some(label) => {
                let counter = object(name, "counter", &self.program.counters, |counter| &counter.name)?;
                (counter, Element::Entry(self.label(label)?.clone()), text(label))
            }
        };
        Ok(Control::CheckCounter { name, counter, element, condition })
    }

    fn label(&self, word: &Word) -> Result<&EntryKey, Mistake> {
        let known = self.labels.keys().map(String::as_str);
        self.labels.get(label_name(word)).ok_or_else(|| names::unknown(word, "entry named", known))
    }

    fn elements(&self, command: &Elements) -> Controls {
        let counter = |word| object(word, "counter", &self.program.counters, |counter| &counter.name);
        let register = |word| object(word, "register", &self.program.registers, |register| &register.name);
        let meter = |word| object(word, "meter", &self.program.meters, |meter| &meter.name);
        let at = |word| matches::index(word, "an index");
        let act = match command {
            Elements::CounterRead { counter: name, index } => Control::ReadCounter(counter(name)?, at(index)?),
            Elements::CounterWrite { counter: name, index, packets, bytes } => {
                let value = CounterValue {
                    packets: matches::index(packets, "a count of packets")?,
                    bytes: matches::index(bytes, "a count of bytes")?,
                };
                Control::WriteCounter(counter(name)?, at(index)?, value)
            }
            Elements::RegisterRead { register: name, index } => Control::ReadRegister(register(name)?, at(index)?),
            Elements::RegisterWrite { register: name, index, value } => {
                let id = register(name)?;
                let width = self.program.registers[id].width;
                let value = matches::number(value, width, &format!("register `{}`", name.text))?;
                Control::WriteRegister(id, at(index)?, value)
            }
            Elements::RegisterReset { register: name } => {
                let id = register(name)?;
                let register = &self.program.registers[id];
                let initial = || register.initial.clone();
                return Ok((0..register.size).map(|index| Control::WriteRegister(id, index, initial())).collect());
            }
            Elements::MeterRates { meter: name, index } => Control::ReadMeter(meter(name)?, at(index)?),
            Elements::SetMeterRates { meter: name, index, committed, peak } => {
                let index = index.as_ref().map(at).transpose()?;
                Control::SetMeter(meter(name)?, index, meter_rates(*committed, *peak)?)
            }
        };
        Ok(vec![act])
    }
}

fn instance(word: &Word) -> Result<u16, Mistake> {
    let number = matches::number(word, 16, "an instance")?;
    Ok(u16::try_from(number).expect("the number was found to have 16 bits at most"))
}

/// The name of an entry, which may be written with a `$` in front.
fn label_name(word: &Word) -> &str {
    word.text.strip_prefix('$').unwrap_or(&word.text)
}

fn parameter_named(parameters: &[Parameter], name: &Word) -> Result<usize, Mistake> {
    let position = parameters.iter().position(|parameter| parameter.name == name.text);
    let known = parameters.iter().map(|parameter| parameter.name.as_str());
    position.ok_or_else(|| names::unknown(name, "parameter", known))
}

/// BMv2 takes a priority for ternary and optional keys; in a table of ranges it may be left out.
fn needs_priority(table: &Table) -> bool {
    table.keys.iter().any(|key| key.kind == hlir::MatchKind::Ternary)
}

pub(super) fn meter_rates(committed: MeterRate, peak: MeterRate) -> Result<MeterRates, Mistake> {
    MeterRates::new((committed.rate, committed.burst), (peak.rate, peak.burst))
        .map_err(|falling| Mistake::new(peak.place, falling.to_string()))
}

fn object<T>(
    word: &Word,
    what: &str,
    objects: &Arena<T>,
    name: impl Fn(&T) -> &str,
) -> Result<la_arena::Idx<T>, Mistake> {
    let names: Vec<&str> = objects.values().map(&name).collect();
    let index = names::find_by_end(word, what, names.into_iter())?;
    let (id, _) = objects.iter().nth(index).expect("the index is that of one of the objects");
    Ok(id)
}
