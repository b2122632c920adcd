//! One write of a controller, in the program's own numbers.

use crate::plane::{DigestConfig, Element, EntryKey, Group, MeterRates, Multicast, Session};
use hlir::{ActionCall, CrcId, CrcParameters, DigestId, Entry, Match, MeterId, ProfileId, TableId, ValueSetId};

/// What [`crate::Store`] keeps and every data plane applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    Insert {
        table: TableId,
        entry: Entry,
    },
    /// Gives the entry with this key and priority another action. Its counters, meters and place among equal priorities stay.
    Modify {
        table: TableId,
        entry: Entry,
    },
    Delete(EntryKey),
    SetDefault {
        table: TableId,
        call: ActionCall,
    },
    /// Nanoseconds without a hit after which an entry is idle, from now on; 0 for none.
    SetIdleTimeout {
        key: EntryKey,
        nanoseconds: u64,
    },
    /// Nanoseconds of the entries that packets insert with this profile.
    SetExpiry {
        table: TableId,
        profile: u8,
        nanoseconds: u64,
    },
    /// Makes or changes a member; actions are numbered as in the tables of the profile.
    SetMember {
        profile: ProfileId,
        member: u32,
        call: ActionCall,
    },
    DeleteMember {
        profile: ProfileId,
        member: u32,
    },
    SetGroup {
        profile: ProfileId,
        group: u32,
        value: Group,
    },
    DeleteGroup {
        profile: ProfileId,
        group: u32,
    },
    /// Replaces all members of a value set; each has a match for every field of the set.
    SetValueSet {
        set: ValueSetId,
        members: Vec<Vec<Match>>,
    },
    /// Makes, replaces or (without a value) removes a multicast group.
    SetMulticast {
        group: u32,
        value: Option<Multicast>,
    },
    SetSession {
        session: u32,
        value: Option<Session>,
    },
    /// Sets the rates and fills both buckets; without rates the element is green for ever.
    SetMeter {
        meter: MeterId,
        element: Element,
        rates: Option<MeterRates>,
    },
    /// Sets the parameters of a CRC; none for those at the start.
    SetCrc {
        crc: CrcId,
        parameters: Option<CrcParameters>,
    },
    /// A port has lost its link, or has it again. What depends on it is [`crate::Store::derived`].
    SetPort {
        port: u32,
        up: bool,
    },
    /// What the store alone keeps: no packet sees it.
    Record(Record),
}

/// What takes an update back, in the order in which it is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inverse {
    /// Brings the object back.
    pub update: Update,
    /// What belonged to an entry that was deleted: its metadata, idle timeout and rates of meters.
    pub rest: Vec<Update>,
}

impl From<Update> for Inverse {
    fn from(update: Update) -> Inverse {
        Inverse { update, rest: Vec::new() }
    }
}

impl Inverse {
    pub fn updates(&self) -> impl Iterator<Item = &Update> {
        std::iter::once(&self.update).chain(&self.rest)
    }
}

/// What a controller writes and reads back, and data planes ignore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// What is attached to an entry. One that packets inserted has none.
    Metadata { key: EntryKey, metadata: Vec<u8> },
    /// What is attached to a default action.
    DefaultMetadata { table: TableId, metadata: Vec<u8> },
    /// The member of an action profile that is a table's default action, and that this follows; none for an action of its own.
    DefaultMember { table: TableId, member: Option<u32> },
    /// The rates that later entries get in a direct meter; none for green.
    ArrayRates { meter: MeterId, rates: Option<MeterRates> },
    /// How the records of a digest are wanted; none for not at all.
    Digest { digest: DigestId, config: Option<DigestConfig> },
    /// The number that the program has for a text of a translated type; none takes it back.
    Text { type_name: String, text: String, number: Option<u64> },
}
