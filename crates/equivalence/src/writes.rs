//! Random entries that packets find: their keys are those with which the packets looked tables up, widened to prefixes, masks and ranges.
//!
//! Entries in one table lead packets to the next, so packets are sent several times, with all entries found so far.

use super::{Configure, Source};
use control::plane::{Element, EntryKey, Group, MeterRates, Multicast, Replica, Session, SessionTarget};
use control::{DataPlane, Rate, Refusal};
use hlir::entry::EntryAction;
use hlir::value::Bits;
use hlir::{ActionCall, CrcId, CrcParameters, Entry, Match, MatchKind, MeterId, ProfileId, Program, Scope, Table};
use hlir::{TableId, ValueSetId};
use interp::externs::Bind;
use interp::random::Draws;
use interp::{PORTS, Switch};
use num_bigint::BigUint;

/// Something that a control plane writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    Insert(TableId, Entry),
    Default(TableId, ActionCall),
    Member(ProfileId, u32, ActionCall),
    Group(ProfileId, u32, Group),
    Multicast(u32, Multicast),
    Session(u32, Session),
    Meter(MeterId, Element, MeterRates),
    ValueSet(ValueSetId, Vec<Vec<Match>>),
    Crc(CrcId, CrcParameters),
}

impl Write {
    pub fn apply(&self, engine: &mut dyn DataPlane) -> Result<(), Refusal> {
        match self {
            Write::Insert(table, entry) => engine.insert(*table, entry),
            Write::Default(table, call) => engine.set_default(*table, call),
            Write::Member(profile, member, call) => engine.set_member(*profile, *member, call),
            Write::Group(profile, group, value) => engine.set_group(*profile, *group, value),
            Write::Multicast(group, value) => engine.set_multicast(*group, value),
            Write::Session(session, value) => engine.set_session(*session, Some(value)),
            Write::Meter(meter, element, rates) => engine.set_meter(*meter, element, Some(*rates)),
            Write::Crc(crc, parameters) => engine.set_crc(*crc, Some(*parameters)),
            Write::ValueSet(set, members) => engine.set_value_set(*set, members),
        }
    }
}

const ROUNDS: u64 = 4;
const PACKETS: u64 = 500;
const PACKETS_AT_ONCE: u64 = 50;
const MEMBERS: u32 = 6;
const GROUPS: u32 = 3;
const LARGEST_PRIORITY: u64 = 100;
/// Multicast groups, mirror sessions and meters have numbers below this.
const NUMBERS: u32 = 8;
/// Rates a second: the trace runner sends a million packets a second.
const LARGEST_RATE: u64 = 2_000_000;
const LARGEST_BURST: u64 = 2000;

/// Up to `count` entries for each table that takes any, and whatever else makes them do something, on top of what `configure` writes. The
/// interpreter accepts all of them.
pub fn random_writes(
    program: &Program,
    source: Source<'_>,
    count: u64,
    configure: Configure<'_>,
    externs: Bind<'_>,
) -> Result<Vec<Write>, Refusal> {
    let mut draws = Draws::new(source.seed, u64::MAX);
    let mut writes = Writes { switch: Switch::new(program, source.seed, PORTS), written: Vec::new() };
    writes.switch.bind(externs());
    configure(&mut writes.switch)?;
    for (profile, _) in program.profiles.iter() {
        writes.fill_profile(program, profile, &mut draws);
    }
    writes.fill_objects(program, &mut draws);
    for (id, table) in program.tables.iter() {
        if draws.draw().is_multiple_of(4) {
            let call = random_call(table, Scope::TableOnly, &mut draws);
            call.into_iter().for_each(|call| writes.write(Write::Default(id, call)));
        }
    }
    for round in 0..ROUNDS {
        let keys = writes.observe(&source, round);
        for ((id, table), keys) in program.tables.iter().zip(keys) {
            for _ in 0..count.div_ceil(ROUNDS) {
                let entry = random_entry(program, table, &keys, &mut draws);
                entry.into_iter().for_each(|entry| writes.insert(program, id, entry, &mut draws));
            }
        }
    }
    Ok(writes.written)
}

struct Writes<'p> {
    switch: Switch<'p>,
    written: Vec<Write>,
}

impl Writes<'_> {
    /// Keeps what the interpreter accepts.
    fn write(&mut self, write: Write) {
        if write.apply(&mut self.switch).is_ok() {
            self.written.push(write);
        }
    }

    fn fill_profile(&mut self, program: &Program, profile: ProfileId, draws: &mut Draws) {
        let Some((_, table)) = program.tables.iter().find(|(_, table)| table.profile == Some(profile)) else { return };
        for member in 0..MEMBERS {
            let call = random_call(table, Scope::DefaultOnly, draws);
            call.into_iter().for_each(|call| self.write(Write::Member(profile, member, call)));
        }
        for group in 0..GROUPS {
            let size = draws.draw() % u64::from(MEMBERS);
            let members: Vec<u32> = (0..size).map(|_| (draws.draw() % u64::from(MEMBERS)) as u32).collect();
            self.write(Write::Group(profile, group, members.as_slice().into()));
        }
    }

    /// Multicast groups, mirror sessions, value sets, parameters of some CRCs, and rates of indirect meters.
    fn fill_objects(&mut self, program: &Program, draws: &mut Draws) {
        for number in 1..NUMBERS {
            self.write(Write::Multicast(number, random_replicas(draws).into()));
            let to_group = draws.draw().is_multiple_of(2);
            let target = if to_group { SessionTarget::Group(number) } else { random_replicas(draws).into() };
            self.write(Write::Session(number, Session::new(target, 0)));
        }
        for (id, meter) in program.meters.iter().filter(|(_, meter)| meter.table.is_none()) {
            for element in 0..meter.size.min(u64::from(NUMBERS)) {
                self.write(Write::Meter(id, Element::Index(element), random_rates(draws)));
            }
        }
        for (id, crc) in program.crcs.iter() {
            let bits = draws.draw();
            if bits & 1 == 0 {
                let [polynomial, initial, last] = [(); 3].map(|()| draws.draw() as u32 >> (32 - crc.width));
                let (reflects_data, reflects_remainder) = (bits & 2 != 0, bits & 4 != 0);
                let parameters = CrcParameters { polynomial, initial, last, reflects_data, reflects_remainder };
                self.write(Write::Crc(id, parameters));
            }
        }
        for (id, set) in program.value_sets.iter() {
            let mut member = || {
                let field = |(_, width, kind): &(String, u32, MatchKind)| {
                    random_match(random_argument(*width, draws), *kind, *width, draws)
                };
                set.fields.iter().map(field).collect()
            };
            let members = (0..set.size.min(u64::from(NUMBERS))).map(|_| member()).collect();
            self.write(Write::ValueSet(id, members));
        }
    }

    /// An entry, and rates for its direct meters.
    fn insert(&mut self, program: &Program, table: TableId, entry: Entry, draws: &mut Draws) {
        let key = EntryKey { table, matches: entry.matches.clone(), priority: entry.priority };
        let before = self.written.len();
        self.write(Write::Insert(table, entry));
        if self.written.len() > before {
            for (id, _) in program.meters.iter().filter(|(_, meter)| meter.table == Some(table)) {
                self.write(Write::Meter(id, Element::Entry(key.clone()), random_rates(draws)));
            }
        }
    }

    /// Sends packets, and returns with which keys each table was looked up.
    fn observe(&mut self, source: &Source<'_>, round: u64) -> Vec<Vec<Vec<Bits>>> {
        self.switch.start_keys();
        for burst in 0..PACKETS / PACKETS_AT_ONCE {
            let first = (round * PACKETS) + burst * PACKETS_AT_ONCE;
            let frames: Vec<_> = (first..first + PACKETS_AT_ONCE).map(|number| source.packet(number)).collect();
            // A switch that an assertion has stopped sees no more keys.
            if self.switch.process(&frames).is_err() {
                break;
            }
        }
        self.switch.take_keys()
    }
}

fn random_call(table: &Table, forbidden: Scope, draws: &mut Draws) -> Option<ActionCall> {
    let allowed: Vec<usize> =
        (0..table.actions.len()).filter(|index| table.actions[*index].scope != forbidden).collect();
    let action = *allowed.get(draws.draw() as usize % allowed.len().max(1))?;
    let parameters = table.actions[action].parameters.iter();
    let arguments = parameters.map(|parameter| random_argument(parameter.width, draws)).collect();
    Some(ActionCall { action: action as u32, arguments })
}

fn random_replicas(draws: &mut Draws) -> Vec<Replica> {
    let replica = |draw: u64| Replica { port: (draw % u64::from(NUMBERS)) as u32, instance: (draw >> 32) as u16 };
    (0..1 + draws.draw() % 4).map(|_| replica(draws.draw())).collect()
}

fn random_rate(draws: &mut Draws) -> Rate {
    let draw = draws.draw();
    let fraction = (draw >> 32) % 1_000_000_000;
    Rate::new(draw % LARGEST_RATE, fraction as u32).unwrap_or_default()
}

fn random_rates(draws: &mut Draws) -> MeterRates {
    let (one, other) = (random_rate(draws), random_rate(draws));
    let mut burst = || draws.draw() % LARGEST_BURST;
    MeterRates::new((one.min(other), burst()), (one.max(other), burst())).expect("the peak rate is the larger")
}

/// Often a small number: a port or an index that exists.
fn random_argument(width: u32, draws: &mut Draws) -> BigUint {
    let small = draws.draw() % 8;
    if draws.draw().is_multiple_of(2) { cut(BigUint::from(small), width) } else { random_number(width, draws) }
}

fn random_number(width: u32, draws: &mut Draws) -> BigUint {
    let limbs = width.div_ceil(64);
    cut((0..limbs).fold(BigUint::ZERO, |number, _| (number << 64u32) + draws.draw()), width)
}

fn ones(width: u32) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

fn cut(number: BigUint, width: u32) -> BigUint {
    number & ones(width)
}

fn random_entry(program: &Program, table: &Table, keys: &[Vec<Bits>], draws: &mut Draws) -> Option<Entry> {
    let action = if table.profile.is_none() {
        EntryAction::Call(random_call(table, Scope::DefaultOnly, draws)?)
    } else if draws.draw().is_multiple_of(2) {
        EntryAction::Member((draws.draw() % u64::from(MEMBERS)) as u32)
    } else {
        EntryAction::Group((draws.draw() % u64::from(GROUPS)) as u32)
    };
    let seen = keys.get(draws.draw() as usize % keys.len().max(1));
    let mut matches = Vec::new();
    for (index, key) in table.keys.iter().enumerate() {
        let width = program.expression_type(&key.value, &[]).width();
        let value = match seen {
            Some(seen) if !draws.draw().is_multiple_of(16) => seen[index].to_big(),
            Some(_) | None => random_number(width, draws),
        };
        matches.push(random_match(value, key.kind, width, draws));
    }
    let priority = if table.has_priorities() { (draws.draw() % LARGEST_PRIORITY) as u32 + 1 } else { 0 };
    Some(Entry { matches, priority, action, constant: false })
}

/// A match that the value fits.
fn random_match(value: BigUint, kind: MatchKind, width: u32, draws: &mut Draws) -> Match {
    let choice = draws.draw() % 8;
    match kind {
        MatchKind::Exact => Match::Exact(value),
        MatchKind::Optional if choice < 2 => Match::Any,
        MatchKind::Optional => Match::Exact(value),
        MatchKind::Lpm => {
            let prefix = if choice < 3 { width } else { (draws.draw() % u64::from(width + 1)) as u32 };
            let mask = ones(width) - (ones(width) >> prefix);
            Match::Lpm { value: value & mask, prefix }
        }
        MatchKind::Ternary => {
            let mask = match choice {
                0..3 => ones(width),
                3 => return Match::Any,
                4 => ones(width) - (ones(width) >> (draws.draw() % u64::from(width + 1))),
                _ => random_number(width, draws) & random_number(width, draws),
            };
            Match::Ternary { value: value & &mask, mask }
        }
        MatchKind::Range if choice == 0 => Match::Any,
        MatchKind::Range => {
            let reach = random_number(width, draws) >> (draws.draw() % u64::from(width + 1));
            let low = if value > reach { &value - &reach } else { BigUint::ZERO };
            Match::Range { low, high: (value + reach).min(ones(width)) }
        }
    }
}
