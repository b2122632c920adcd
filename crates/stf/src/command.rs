//! The commands of an STF file, as they are written: names and values are still text.

use super::Place;
use control::Rate;

/// A name or a number as it was written, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub place: Place,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Packet {
        port: u32,
        bytes: Vec<u8>,
    },
    /// Without a pattern: one packet of any content.
    Expect {
        port: u32,
        pattern: Option<Pattern>,
    },
    NoPacket,
    ExpectDigest {
        digest: Word,
        fields: Vec<(Word, Word)>,
    },
    /// An entry whose time has passed, and of which the control plane is notified.
    ExpectIdle {
        table: Word,
        priority: Option<Word>,
        keys: Vec<Key>,
    },
    /// Happens between bursts.
    Control(Control),
}

/// What configures a switch, or reads from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// `add TABLE [PRIORITY] KEY... ACTION(ARGUMENTS) [= LABEL]`; instead of the action, `member=ID` or `group=ID`.
    Add {
        table: Word,
        priority: Option<Word>,
        keys: Vec<Key>,
        action: EntryAction,
        label: Option<Word>,
    },
    /// The same with another action for an entry that there is.
    Modify {
        table: Word,
        priority: Option<Word>,
        keys: Vec<Key>,
        action: EntryAction,
    },
    SetDefault {
        table: Word,
        action: Call,
    },
    /// Without a table: `remove all`.
    RemoveAll,
    Remove {
        table: Word,
        priority: Option<Word>,
        keys: Vec<Key>,
    },
    CheckCounter {
        counter: Word,
        element: Option<Word>,
        condition: Condition,
    },
    /// With a number of bytes that the copies keep, or all.
    MirrorToPort {
        session: Word,
        port: Word,
        bytes: Option<Word>,
    },
    MirrorToGroup {
        session: Word,
        group: Word,
    },
    /// As P4Runtime writes them: members of the session's own.
    MirrorToMembers {
        session: Word,
        members: Vec<Member>,
        bytes: Option<Word>,
    },
    MirrorDelete {
        session: Word,
    },
    MirrorGet {
        session: Word,
    },
    Multicast(Multicast),
    Elements(Elements),
    Aging(Aging),
    /// As P4Runtime writes it. Without keys: to the table's default action.
    Attach {
        table: Word,
        priority: Option<Word>,
        keys: Option<Vec<Key>>,
        attached: Attached,
    },
    Wait,
    /// Nanoseconds to go on.
    Clock {
        nanoseconds: u64,
    },
    Seed {
        seed: Word,
    },
    /// Each member has one value a field.
    ValueSet {
        set: Word,
        members: Vec<Vec<Value>>,
    },
    /// Polynomial, first remainder and final exclusive or; whether data and remainder are reflected.
    Crc {
        crc: Word,
        width: u32,
        numbers: [Word; 3],
        reflects: [Word; 2],
    },
    Member {
        profile: Word,
        id: Word,
        action: Call,
    },
    Group {
        profile: Word,
        id: Word,
        members: Vec<GroupMember>,
        /// Weights, or members if the selector counts these, at most.
        max_size: Option<Word>,
    },
}

/// What belongs to an entry or to a default action besides its action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attached {
    /// As the store keeps it ([`control::note`]).
    Metadata(Vec<u8>),
    /// Those of the table's direct meter, committed and peak; none for a meter that is green for ever.
    Rates(Option<(MeterRate, MeterRate)>),
}

/// A member of a group of an action selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    pub id: Word,
    /// How often it is among the choices.
    pub weight: u32,
    /// A port without whose link the member is left out.
    pub watch: Option<Word>,
}

impl From<Word> for GroupMember {
    fn from(id: Word) -> GroupMember {
        GroupMember { id, weight: 1, watch: None }
    }
}

/// A port, and the instance that the copy for it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub port: Word,
    pub instance: Word,
}

/// Groups of nodes, each an instance and its ports. Nodes are numbered from 0 as they are created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Multicast {
    GroupCreate {
        group: Word,
    },
    NodeCreate {
        instance: Word,
        ports: Vec<Word>,
    },
    NodeUpdate {
        handle: Word,
        ports: Vec<Word>,
    },
    NodeAssociate {
        group: Word,
        handle: Word,
    },
    /// As P4Runtime writes it: a group with all its members, and no nodes.
    Whole {
        group: Word,
        members: Vec<Member>,
    },
}

/// Reading and writing counters, registers and meters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elements {
    CounterRead {
        counter: Word,
        index: Word,
    },
    CounterWrite {
        counter: Word,
        index: Word,
        packets: Word,
        bytes: Word,
    },
    RegisterRead {
        register: Word,
        index: Word,
    },
    RegisterWrite {
        register: Word,
        index: Word,
        value: Word,
    },
    RegisterReset {
        register: Word,
    },
    MeterRates {
        meter: Word,
        index: Word,
    },
    /// Without an index, all of them.
    SetMeterRates {
        meter: Word,
        index: Option<Word>,
        committed: MeterRate,
        peak: MeterRate,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Without a name: the key in the same place.
    pub name: Option<Word>,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number, perhaps with `*` digits.
    One(Word),
    /// `VALUE/LENGTH`
    Prefix(Word, Word),
    /// `VALUE&&&MASK`, or `VALUE&MASK`
    Masked(Word, Word),
    /// `LOW..HIGH`
    Range(Word, Word),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub name: Word,
    pub arguments: Vec<Argument>,
}

/// `NAME:VALUE`, `NAME=VALUE`, or a value alone, which is that of the parameter in the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub name: Option<Word>,
    pub value: Word,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryAction {
    Call(Call),
    Member(Word),
    Group(Word),
}

/// What `check_counter` compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    pub unit: Unit,
    pub relation: Relation,
    pub number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Packets,
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// One of a meter's two rates, and its burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterRate {
    pub place: Place,
    pub rate: Rate,
    pub burst: u64,
}

/// What a packet must look like: a nibble each, `None` for any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub nibbles: Vec<Option<u8>>,
    /// Whether the packet may not be longer.
    pub exact_length: bool,
}

impl Relation {
    pub fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Relation::Equal => left == right,
            Relation::NotEqual => left != right,
            Relation::Less => left < right,
            Relation::LessEqual => left <= right,
            Relation::Greater => left > right,
            Relation::GreaterEqual => left >= right,
        }
    }

    pub fn text(self) -> &'static str {
        match self {
            Relation::Equal => "==",
            Relation::NotEqual => "!=",
            Relation::Less => "<",
            Relation::LessEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterEqual => ">=",
        }
    }
}

impl Unit {
    pub fn text(self) -> &'static str {
        match self {
            Unit::Packets => "packets",
            Unit::Bytes => "bytes",
        }
    }
}

impl Pattern {
    pub fn matches(&self, packet: &[u8]) -> bool {
        let nibbles = packet.len() * 2;
        let length_fits = if self.exact_length { nibbles == self.nibbles.len() } else { nibbles >= self.nibbles.len() };
        let nibble = |index: usize| packet[index / 2] >> (4 * (1 - index % 2)) & 0xf;
        length_fits
            && self
                .nibbles
                .iter()
                .enumerate()
                .all(|(index, wanted)| wanted.is_none_or(|wanted| wanted == nibble(index)))
    }

    /// The pattern as it is written.
    pub fn text(&self) -> String {
        let digit = |nibble: &Option<u8>| match nibble {
            Some(nibble) => char::from_digit(u32::from(*nibble), 16).unwrap_or('?'),
            None => '*',
        };
        let digits: String = self.nibbles.iter().map(digit).collect();
        if self.exact_length { format!("{digits} $") } else { digits }
    }
}

impl Value {
    /// Where the value is written.
    pub fn place(&self) -> Place {
        match self {
            Value::One(word) | Value::Prefix(word, _) | Value::Masked(word, _) | Value::Range(word, _) => word.place,
        }
    }
}

/// `idle_timeout TABLE [PRIORITY] KEY... +DURATION` and `expiry TABLE PROFILE +DURATION`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aging {
    IdleTimeout { table: Word, priority: Option<Word>, keys: Vec<Key>, nanoseconds: u64 },
    Expiry { table: Word, profile: Word, nanoseconds: u64 },
}
