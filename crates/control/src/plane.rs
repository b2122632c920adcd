//! The trait of a running switch: the interpreter, or native code.
//!
//! The STF runner, the trace runner and the P4Runtime server know nothing but this trait, so one write has one meaning on every
//! engine. Everything is named by the ids of the program. Writes pass the [`Store`] first, which refuses what does not suit the
//! program; the data plane applies what the store accepted.

pub use crate::replication::{BackedReplica, Multicast, Replica, Session, SessionTarget};
pub use crate::selection::{Group, GroupMember};
pub use crate::subscription::DigestConfig;
use crate::{Inverse, Rate, Refusal, Store, Update};
use hlir::{
    ActionCall, CounterId, CrcId, CrcParameters, DigestId, Entry, Match, MeterId, ProfileId, RegisterId, TableId,
    ValueSetId,
};
use num_bigint::BigUint;
use std::fmt;

/// Ports of a switch by default: all numbers of 16 bits. The architecture defines which of them drop, if any.
pub const PORTS: u32 = 1 << 16;

/// A packet as it comes in from a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub port: u32,
    pub bytes: Vec<u8>,
}

/// A packet as it leaves by a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub port: u32,
    pub bytes: Vec<u8>,
    /// A number for (ingress port, path through the graph); packets with the same number leave a port in the order they came. Only the
    /// interpreter knows it.
    pub path: Option<u64>,
}

/// A record that the program sent to the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestRecord {
    pub digest: DigestId,
    pub values: Vec<BigUint>,
}

/// What came of a burst. Drops, hits and misses are read from the switch's counters.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Outcome {
    /// In the order in which they left.
    pub outputs: Vec<Output>,
    pub digests: Vec<DigestRecord>,
    /// Lines that the program logged.
    pub log: Vec<String>,
    /// Packets handed to the control plane.
    pub punts: u64,
    /// Why the switch stopped in this burst: an assertion that did not hold. What other packets of the burst do is then open.
    pub stopped: Option<String>,
}

/// What identifies an entry within its table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryKey {
    pub table: TableId,
    pub matches: Vec<Match>,
    pub priority: u32,
}

/// An element of a counter or meter: by index; for direct ones of a table entry, or of a table's default action.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    Index(u64),
    Entry(EntryKey),
    Default(TableId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CounterValue {
    pub packets: u64,
    pub bytes: u64,
}

/// Bursts are packets or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterRates {
    pub committed_rate: Rate,
    pub committed_burst: u64,
    pub peak_rate: Rate,
    pub peak_burst: u64,
}

/// A peak rate below the committed rate: there would be no colour between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakBelowCommitted;

impl fmt::Display for PeakBelowCommitted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the peak rate of a meter is at least the committed rate")
    }
}

impl MeterRates {
    /// What a controller or a file sets: a rate and a burst each. Saved rates are not checked, as older versions took any.
    pub fn new(committed: (Rate, u64), peak: (Rate, u64)) -> Result<MeterRates, PeakBelowCommitted> {
        let ((committed_rate, committed_burst), (peak_rate, peak_burst)) = (committed, peak);
        if peak_rate < committed_rate {
            return Err(PeakBelowCommitted);
        }
        Ok(MeterRates { committed_rate, committed_burst, peak_rate, peak_burst })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TableCounts {
    pub hits: u64,
    pub misses: u64,
}

/// A running switch. Writes take effect before the next burst. A new one has the program's own entries, clock 0 and nothing else.
///
/// The packets of a burst all make their first pass in order; then those that enter again (resubmitted, recirculated, cloned), first
/// come first served, until none is left. Copies of a multicast group run at once, one after the other. Packets from ports are numbered
/// from 0 since the start, or since the seed was last set; `random` depends on that number.
pub trait DataPlane {
    /// What to call it in reports: `interpreter`, `native`.
    fn name(&self) -> &str;

    /// What a controller has written.
    fn store(&self) -> &Store;
    fn store_mut(&mut self) -> &mut Store;

    /// Does what the store has just accepted. Refuses only what the store cannot know: a structure without room, an entry that packets
    /// have inserted.
    fn apply(&mut self, update: &Update) -> Result<(), Refusal>;
    /// Leaves what follows from an update ([`Store::derived`]) as the store has it: the update was refused when it was half done, and is
    /// taken back by this one. For data planes that can refuse.
    fn rederive(&mut self, _inverse: &Update) {}
    /// Deletes the entries that packets have inserted into a table.
    fn clear_inserted(&mut self, table: TableId) -> Result<(), Refusal>;

    /// Resets the switch to its state at the start; the caller sets clock and seed.
    fn reset(&mut self);

    /// Runs a burst to its end. Refuses once the switch has stopped.
    fn process(&mut self, burst: &[Frame]) -> Result<Outcome, Refusal>;

    /// Nanoseconds since the start; never goes back.
    fn set_clock(&mut self, nanoseconds: u64);
    /// Seeds `random`, and numbers the packets from 0 again.
    fn set_seed(&mut self, seed: u64);

    fn table_counts(&self, table: TableId) -> TableCounts;
    /// The entries whose time has passed when the clock was set: each again when a whole time has passed since then without a hit. Entries that are
    /// deleted then are not among them.
    fn take_idle(&mut self) -> Vec<EntryKey>;

    fn read_counter(&mut self, counter: CounterId, element: &Element) -> Result<CounterValue, Refusal>;
    fn write_counter(&mut self, counter: CounterId, element: &Element, value: CounterValue) -> Result<(), Refusal>;
    fn read_register(&mut self, register: RegisterId, index: u64) -> Result<BigUint, Refusal>;
    fn write_register(&mut self, register: RegisterId, index: u64, value: &BigUint) -> Result<(), Refusal>;

    /// Packets dropped since the start, in the order of `Program::drop_reasons`.
    fn drops(&self) -> Vec<u64>;

    /// Changes to code that is right behind an update, where the code that packets run is not ([`Store::broken_by`]) and other
    /// code is at hand. No packet meets the old code behind it.
    fn make_way(&mut self, _update: &Update) -> Result<(), Refusal> {
        Ok(())
    }

    /// Checks an update, keeps it and applies it, with the default actions that follow it: all of that, or nothing. Gives what takes it
    /// back; none where only the data plane knows what was there.
    fn write(&mut self, update: &Update) -> Result<Option<Inverse>, Refusal> {
        let followers = self.store().followers(update);
        let mut inverse = self.write_one(update)?;
        for follower in followers {
            match (self.write_one(&follower), &mut inverse) {
                // The last one is taken back first.
                (Ok(Some(before)), Some(inverse)) => drop(inverse.rest.splice(0..0, before.updates().cloned())),
                (Ok(None), Some(_)) => {}
                (Ok(_), None) => {}
                (Err(refusal), inverse) => {
                    inverse.as_ref().map_or(Ok(()), |inverse| self.take_back(inverse))?;
                    return Err(refusal);
                }
            }
        }
        Ok(inverse)
    }

    /// The same of an update alone, without what follows it.
    fn write_one(&mut self, update: &Update) -> Result<Option<Inverse>, Refusal> {
        self.make_way(update)?;
        let inverse = self.store_mut().apply(update)?;
        if let Err(refusal) = self.apply(update) {
            if let Some(inverse) = &inverse {
                self.store_mut().restore(inverse);
                self.rederive(&inverse.update);
            }
            return Err(refusal);
        }
        Ok(inverse)
    }

    /// Writes updates in their order, each as [`DataPlane::write`] does.
    fn write_all(&mut self, updates: &[Update]) -> Vec<Result<Option<Inverse>, Refusal>> {
        updates.iter().map(|update| self.write(update)).collect()
    }

    /// Takes an update back, by what [`DataPlane::write`] gave for it.
    fn take_back(&mut self, inverse: &Inverse) -> Result<(), Refusal> {
        self.make_way(&inverse.update)?;
        self.store_mut().restore(inverse);
        inverse.updates().try_for_each(|update| self.apply(update))
    }

    /// Refuses a key that is already there with that priority, a full table, a value too wide, an unknown member or group.
    fn insert(&mut self, table: TableId, entry: &Entry) -> Result<(), Refusal> {
        self.write(&Update::Insert { table, entry: entry.clone() }).map(drop)
    }

    fn modify(&mut self, table: TableId, entry: &Entry) -> Result<(), Refusal> {
        self.write(&Update::Modify { table, entry: entry.clone() }).map(drop)
    }

    fn delete(&mut self, key: &EntryKey) -> Result<(), Refusal> {
        self.write(&Update::Delete(key.clone())).map(drop)
    }

    /// Deletes all entries but the program's own.
    fn clear(&mut self, table: TableId) -> Result<(), Refusal> {
        for key in self.store().written(table) {
            self.delete(&key)?;
        }
        self.clear_inserted(table)
    }

    fn set_default(&mut self, table: TableId, call: &ActionCall) -> Result<(), Refusal> {
        self.write(&Update::SetDefault { table, call: call.clone() }).map(drop)
    }

    /// Refuses tables without idle timeouts.
    fn set_idle_timeout(&mut self, key: &EntryKey, nanoseconds: u64) -> Result<(), Refusal> {
        self.write(&Update::SetIdleTimeout { key: key.clone(), nanoseconds }).map(drop)
    }

    /// The times of a new switch are [`crate::default_expiry_ns`].
    fn set_expiry(&mut self, table: TableId, profile: u8, nanoseconds: u64) -> Result<(), Refusal> {
        self.write(&Update::SetExpiry { table, profile, nanoseconds }).map(drop)
    }

    fn set_member(&mut self, profile: ProfileId, member: u32, call: &ActionCall) -> Result<(), Refusal> {
        self.write(&Update::SetMember { profile, member, call: call.clone() }).map(drop)
    }

    fn delete_member(&mut self, profile: ProfileId, member: u32) -> Result<(), Refusal> {
        self.write(&Update::DeleteMember { profile, member }).map(drop)
    }

    /// An entry whose group is empty does not match.
    fn set_group(&mut self, profile: ProfileId, group: u32, value: &Group) -> Result<(), Refusal> {
        self.write(&Update::SetGroup { profile, group, value: value.clone() }).map(drop)
    }

    fn delete_group(&mut self, profile: ProfileId, group: u32) -> Result<(), Refusal> {
        self.write(&Update::DeleteGroup { profile, group }).map(drop)
    }

    fn set_meter(&mut self, meter: MeterId, element: &Element, rates: Option<MeterRates>) -> Result<(), Refusal> {
        self.write(&Update::SetMeter { meter, element: element.clone(), rates }).map(drop)
    }

    fn meter_rates(&mut self, meter: MeterId, element: &Element) -> Result<Option<MeterRates>, Refusal> {
        self.store().meter_rates(meter, element)
    }

    fn set_value_set(&mut self, set: ValueSetId, members: &[Vec<Match>]) -> Result<(), Refusal> {
        self.write(&Update::SetValueSet { set, members: members.to_vec() }).map(drop)
    }

    /// Group 0 does not exist.
    fn set_multicast(&mut self, group: u32, value: &Multicast) -> Result<(), Refusal> {
        self.write(&Update::SetMulticast { group, value: Some(value.clone()) }).map(drop)
    }

    fn set_session(&mut self, session: u32, value: Option<&Session>) -> Result<(), Refusal> {
        self.write(&Update::SetSession { session, value: value.cloned() }).map(drop)
    }

    fn set_crc(&mut self, crc: CrcId, parameters: Option<CrcParameters>) -> Result<(), Refusal> {
        self.write(&Update::SetCrc { crc, parameters }).map(drop)
    }

    /// A port has lost its link, or has it again. It is so whatever the data plane makes of it: nothing is taken back.
    fn set_port(&mut self, port: u32, up: bool) -> Result<(), Refusal> {
        let update = Update::SetPort { port, up };
        self.store_mut().apply(&update)?;
        self.apply(&update)
    }
}
