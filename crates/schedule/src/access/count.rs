//! How often the expected packet's bytes are accessed under a schedule (PAC, Table 2).

use super::widest;
use crate::text::Part;
use crate::value::Value;
use crate::values::WORD;
use crate::vector::ROW_BYTES;
use crate::{Does, Effect, Schedule};
use hlir::plan::AccessMode;

/// Accesses of one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    pub reads: u32,
    pub stores: u32,
    pub bytes_read: u32,
    pub bytes_stored: u32,
}

impl Accesses {
    /// One load for each row of a packet.
    pub(crate) fn of_rows(rows: &[u32]) -> Accesses {
        let reads = rows.len() as u32;
        Accesses { reads, bytes_read: reads * ROW_BYTES, ..Accesses::default() }
    }
}

impl std::ops::Add for Accesses {
    type Output = Accesses;

    fn add(self, other: Accesses) -> Accesses {
        Accesses {
            reads: self.reads + other.reads,
            stores: self.stores + other.stores,
            bytes_read: self.bytes_read + other.bytes_read,
            bytes_stored: self.bytes_stored + other.bytes_stored,
        }
    }
}

impl Schedule {
    /// Accesses of a packet that follows the hot path, by part that runs packet by packet: stages from `first` on, and the
    /// commit phase. `kept`: stored values that are computed elsewhere.
    pub fn accesses(&self, mode: AccessMode, first: usize, kept: &[Value]) -> Vec<(Part, Accesses)> {
        let counting = Counting { schedule: self, widest: widest(mode) };
        let stages = (first..self.stages.len()).map(|number| {
            let keys = self.lookups.iter().filter(|lookup| lookup.stage == Some(number));
            let keys = keys.flat_map(|lookup| lookup.key.iter().copied());
            let exits = self.stages[number].exits.iter().map(|exit| exit.when);
            (Part::Stage(number), counting.reads(exits.chain(keys).collect()))
        });
        let commit = match (&self.expected, &self.commit) {
            (Some(expected), _) => Some((Part::Expected, expected)),
            (None, Ok(commit)) => Some((Part::Commit, commit)),
            (None, Err(_)) => None,
        };
        let commit = commit.map(|(part, commit)| {
            let late = commit.lookups.iter().flat_map(|late| late.key.iter().copied().chain([late.when]));
            // Whether a packet ends before is asked of all.
            let asked = commit.effects.iter().filter(|effect| effect.does.is_end()).map(|effect| effect.when);
            let expected = expected(&commit.effects);
            let operands = expected.iter().flat_map(Effect::operands).filter(|value| !kept.contains(value));
            let needed = late.chain(asked).chain(operands).chain([commit.exits]).collect();
            (part, counting.reads(needed) + counting.stores(expected))
        });
        stages.chain(commit).collect()
    }
}

/// The effects of the packets that are left behind all other ends.
fn expected(effects: &[Effect]) -> &[Effect] {
    let before = effects.split_last().map_or(effects, |(_, before)| before);
    let first = before.iter().rposition(|effect| effect.does.is_end()).map_or(0, |end| end + 1);
    &effects[first..]
}

struct Counting<'s> {
    schedule: &'s Schedule,
    /// Bytes of an access at most.
    widest: u32,
}

impl Counting<'_> {
    /// Machine instructions for so many bytes: two that overlap, unless one has as many.
    fn count(&self, bytes: u32) -> u32 {
        let wide = bytes / self.widest;
        let rest = bytes % self.widest;
        wide + if rest == 0 {
            0
        } else if rest <= WORD / 8 || rest.is_power_of_two() {
            1
        } else {
            2
        }
    }

    fn read(&self, from: u32, to: u32) -> Accesses {
        Accesses { reads: self.count(to - from), bytes_read: to - from, ..Accesses::default() }
    }

    fn reads(&self, results: Vec<Value>) -> Accesses {
        let values = &self.schedule.values;
        let needed = values.needed(results);
        let read = needed.iter().flat_map(|value| values.of(*value).bytes_read(values.width(*value)));
        let read = read.map(|(from, to)| self.read(from, to));
        read.fold(Accesses::default(), |all, one| all + one)
    }

    /// A store of some bits of a byte reads the others.
    fn stores(&self, effects: &[Effect]) -> Accesses {
        let stored = effects.iter().filter_map(|effect| {
            let Does::Store { bit, value, .. } = &effect.does else { return None };
            let end = bit + self.schedule.values.width(*value);
            let bytes = end.div_ceil(8) - bit / 8;
            let stores = self.count(bytes);
            let is_whole = bit.is_multiple_of(8) && end.is_multiple_of(8);
            let read = if is_whole { Accesses::default() } else { self.read(bit / 8, end.div_ceil(8)) };
            Some(read + Accesses { stores, bytes_stored: bytes, ..Accesses::default() })
        });
        stored.fold(Accesses::default(), |all, one| all + one)
    }
}
