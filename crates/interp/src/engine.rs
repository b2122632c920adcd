//! What a switch offers to whoever tests it or drives it: the interpreter here, native code elsewhere.
//!
//! The runner of STF files and the trace runner know nothing but this trait, so one file gives one answer on every engine. Everything is named
//! by the ids of the program; nothing of an engine's own shows.

use hlir::{ActionCall, CounterId, DigestId, Entry, Match, MeterId, ProfileId, RegisterId, TableId, ValueSetId};
use num_bigint::BigUint;

/// Why a switch did not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub kind: RefusalKind,
    /// For the user.
    pub sentence: String,
}

/// What a program that drives a switch may ask of a refusal; a person reads the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// It does not suit the program, or the state that the switch is in.
    Wrong,
    /// There is such an entry already.
    Exists,
    /// It suits both, but the structure that an engine has for the table has no room for an entry more.
    Full,
}

impl Refusal {
    pub fn wrong(sentence: impl Into<String>) -> Refusal {
        Refusal { kind: RefusalKind::Wrong, sentence: sentence.into() }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Refusal {}

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryKey {
    pub table: TableId,
    pub matches: Vec<Match>,
    pub priority: u32,
}

/// A cell of a counter or meter: by index, or of a table entry for direct ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Index(u64),
    Entry(EntryKey),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CounterValue {
    pub packets: u64,
    pub bytes: u64,
}

/// Rates in packets or bytes per second, bursts in packets or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterRates {
    pub committed_rate: u64,
    pub committed_burst: u64,
    pub peak_rate: u64,
    pub peak_burst: u64,
}

/// A member of a multicast group or mirror session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replica {
    pub port: u32,
    pub instance: u16,
}

/// Where a mirror session sends its copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub target: SessionTarget,
    /// Bytes to which copies are cut; 0 for no limit. The program sees it as `CopyTruncation` and does the cutting.
    pub truncation_bytes: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionTarget {
    Members(Vec<Replica>),
    /// The members that the multicast group has when the copy is made.
    Group(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TableCounts {
    pub hits: u64,
    pub misses: u64,
}

/// A running switch. Writes take effect before the next burst. A new engine has the program's own entries, clock 0 and nothing else.
///
/// The packets of a burst all make their first pass in order; then those that enter again (resubmitted, recirculated, cloned), first come first
/// served, until none is left. Copies of a multicast group run at once, one after the other. Packets from ports are numbered from 0 since the
/// start, or since the seed was last set; `random` depends on that number.
pub trait Engine {
    /// What to call it in reports: `interpreter`, `native`.
    fn name(&self) -> &str;

    /// Takes the switch back to its state at the start; clock and seed are set anew by the caller.
    fn reset(&mut self);

    /// Runs a burst to its end. Refuses once the switch has stopped.
    fn process(&mut self, burst: &[Frame]) -> Result<Outcome, Refusal>;

    /// Nanoseconds since the start; never goes back.
    fn set_clock(&mut self, nanoseconds: u64);
    /// Seeds `random`, and numbers the packets from 0 again.
    fn set_seed(&mut self, seed: u64);

    /// Refuses a key that is already there with that priority, a full table, a value too wide, an unknown member or group.
    fn insert(&mut self, table: TableId, entry: &Entry) -> Result<(), Refusal>;
    /// Gives the entry with this key and priority another action. Its counters, meters and place among equal priorities stay.
    fn modify(&mut self, table: TableId, entry: &Entry) -> Result<(), Refusal>;
    fn delete(&mut self, key: &EntryKey) -> Result<(), Refusal>;
    /// Deletes all entries that the program itself did not bring.
    fn clear(&mut self, table: TableId) -> Result<(), Refusal>;
    fn set_default(&mut self, table: TableId, call: &ActionCall) -> Result<(), Refusal>;
    fn table_counts(&self, table: TableId) -> TableCounts;

    /// Gives an entry a time without hits after which it is idle, beginning now; 0 for none. Refuses tables without idle timeouts.
    fn set_idle_timeout(&mut self, key: &EntryKey, nanoseconds: u64) -> Result<(), Refusal>;
    /// The time of the entries that packets insert with this profile. Those of a new engine are [`crate::default_expiry_ns`].
    fn set_expiry(&mut self, table: TableId, profile: u8, nanoseconds: u64) -> Result<(), Refusal>;
    /// The entries whose time has passed (when the clock was set), each once for its last hit. Entries that are deleted then are not among them.
    fn take_idle(&mut self) -> Vec<EntryKey>;

    /// Makes or changes a member; actions are numbered as in the tables of the profile.
    fn set_member(&mut self, profile: ProfileId, member: u32, call: &ActionCall) -> Result<(), Refusal>;
    fn delete_member(&mut self, profile: ProfileId, member: u32) -> Result<(), Refusal>;
    /// Makes or changes a group. An entry whose group is empty does not match.
    fn set_group(&mut self, profile: ProfileId, group: u32, members: &[u32]) -> Result<(), Refusal>;
    fn delete_group(&mut self, profile: ProfileId, group: u32) -> Result<(), Refusal>;

    fn read_counter(&mut self, counter: CounterId, cell: &Cell) -> Result<CounterValue, Refusal>;
    fn write_counter(&mut self, counter: CounterId, cell: &Cell, value: CounterValue) -> Result<(), Refusal>;
    /// Sets the rates and fills both buckets; without rates the cell is green for ever.
    fn set_meter(&mut self, meter: MeterId, cell: &Cell, rates: Option<MeterRates>) -> Result<(), Refusal>;
    fn meter_rates(&mut self, meter: MeterId, cell: &Cell) -> Result<Option<MeterRates>, Refusal>;
    fn read_register(&mut self, register: RegisterId, index: u64) -> Result<BigUint, Refusal>;
    fn write_register(&mut self, register: RegisterId, index: u64, value: &BigUint) -> Result<(), Refusal>;
    /// Replaces all members of a value set; each has a match for every field of the set.
    fn set_value_set(&mut self, set: ValueSetId, members: &[Vec<Match>]) -> Result<(), Refusal>;

    /// Makes, replaces or (without members) removes a multicast group. Group 0 does not exist.
    fn set_multicast(&mut self, group: u32, members: &[Replica]) -> Result<(), Refusal>;
    fn set_session(&mut self, session: u32, value: Option<&Session>) -> Result<(), Refusal>;

    /// Packets dropped since the start, in the order of `Program::drop_reasons`.
    fn drops(&self) -> Vec<u64>;
}
