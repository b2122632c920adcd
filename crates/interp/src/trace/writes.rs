//! Random entries that packets find: their keys are those with which the packets looked tables up, widened to prefixes, masks and ranges.
//!
//! Entries in one table lead packets to the next, so packets are sent several times, with all entries found so far.

use super::{Configure, Source};
use crate::engine::{Engine, Refusal};
use crate::random::Draws;
use crate::switch::{DEFAULT_PORTS, Switch};
use hlir::entry::EntryAction;
use hlir::value::Bits;
use hlir::{ActionCall, Entry, Match, MatchKind, ProfileId, Program, Scope, Table, TableId};
use num_bigint::BigUint;

/// Something that a control plane writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    Insert(TableId, Entry),
    Default(TableId, ActionCall),
    Member(ProfileId, u32, ActionCall),
    Group(ProfileId, u32, Vec<u32>),
}

impl Write {
    pub fn apply(&self, engine: &mut dyn Engine) -> Result<(), Refusal> {
        match self {
            Write::Insert(table, entry) => engine.insert(*table, entry),
            Write::Default(table, call) => engine.set_default(*table, call),
            Write::Member(profile, member, call) => engine.set_member(*profile, *member, call),
            Write::Group(profile, group, members) => engine.set_group(*profile, *group, members),
        }
    }
}

const ROUNDS: u64 = 4;
const PACKETS: u64 = 500;
const PACKETS_AT_ONCE: u64 = 50;
const MEMBERS: u32 = 6;
const GROUPS: u32 = 3;
const LARGEST_PRIORITY: u64 = 100;

/// Up to `count` entries for each table that takes any, and whatever else makes them do something, on top of what `configure` writes. The interpreter accepts all
/// of them.
pub fn random_writes(
    program: &Program,
    source: Source<'_>,
    count: u64,
    configure: Configure<'_>,
) -> Result<Vec<Write>, Refusal> {
    let mut draws = Draws::new(source.seed, u64::MAX);
    let mut writes = Writes { switch: Switch::new(program, source.seed, DEFAULT_PORTS), written: Vec::new() };
    configure(&mut writes.switch)?;
    for (profile, _) in program.profiles.iter() {
        writes.fill_profile(program, profile, &mut draws);
    }
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
                entry.into_iter().for_each(|entry| writes.write(Write::Insert(id, entry)));
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
            let members = (0..size).map(|_| (draws.draw() % u64::from(MEMBERS)) as u32).collect();
            self.write(Write::Group(profile, group, members));
        }
    }

    /// Sends packets, and tells with which keys each table was looked up.
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
    Some(Entry { matches, priority, action })
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
