//! The values of rows, as protocol buffers: a later version may add fields.

use super::entry::CallRow;
use crate::Rate;
use crate::plane::{BackedReplica, DigestConfig, Group, GroupMember, MeterRates, Multicast, Replica};
use crate::plane::{Session, SessionTarget};
use hlir::{CrcParameters, Match};
use num_bigint::BigUint;
use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub struct DefaultRow {
    /// None: the program's own.
    #[prost(message, optional, tag = "1")]
    pub call: Option<CallRow>,
    #[prost(bytes = "vec", tag = "2")]
    pub metadata: Vec<u8>,
    /// The member of an action profile that it follows.
    #[prost(uint32, optional, tag = "3")]
    pub member: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct NumberRow {
    #[prost(uint64, tag = "1")]
    pub number: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct MemberRow {
    #[prost(uint32, tag = "1")]
    pub member: u32,
    #[prost(uint32, tag = "2")]
    pub weight: u32,
    #[prost(uint32, optional, tag = "3")]
    pub watch: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct GroupRow {
    #[prost(message, repeated, tag = "1")]
    pub members: Vec<MemberRow>,
    #[prost(uint32, tag = "2")]
    pub max_size: u32,
    #[prost(bytes = "vec", tag = "3")]
    pub note: Vec<u8>,
}

/// Two numbers: value and mask, value and prefix, or the ends of a range.
#[derive(Clone, PartialEq, Message)]
pub struct PairRow {
    #[prost(bytes = "vec", tag = "1")]
    pub first: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub second: Vec<u8>,
    #[prost(uint32, tag = "3")]
    pub prefix: u32,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Matched {
    #[prost(message, tag = "1")]
    Exact(PairRow),
    #[prost(message, tag = "2")]
    Lpm(PairRow),
    #[prost(message, tag = "3")]
    Ternary(PairRow),
    #[prost(message, tag = "4")]
    Range(PairRow),
}

#[derive(Clone, PartialEq, Message)]
pub struct MatchRow {
    /// None: every value.
    #[prost(oneof = "Matched", tags = "1, 2, 3, 4")]
    pub matched: Option<Matched>,
}

#[derive(Clone, PartialEq, Message)]
pub struct MatchesRow {
    #[prost(message, repeated, tag = "1")]
    pub matches: Vec<MatchRow>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ValueSetRow {
    #[prost(message, repeated, tag = "1")]
    pub members: Vec<MatchesRow>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ReplicaRow {
    #[prost(uint32, tag = "1")]
    pub port: u32,
    #[prost(uint32, tag = "2")]
    pub instance: u32,
    #[prost(message, repeated, tag = "3")]
    pub backups: Vec<ReplicaRow>,
}

#[derive(Clone, PartialEq, Message)]
pub struct MulticastRow {
    #[prost(message, repeated, tag = "1")]
    pub replicas: Vec<ReplicaRow>,
    #[prost(bytes = "vec", tag = "2")]
    pub note: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SessionRow {
    #[prost(message, repeated, tag = "1")]
    pub members: Vec<ReplicaRow>,
    /// Instead of members of its own.
    #[prost(uint32, optional, tag = "2")]
    pub group: Option<u32>,
    #[prost(uint32, tag = "3")]
    pub truncation_bytes: u32,
    #[prost(bytes = "vec", tag = "4")]
    pub note: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct RatesRow {
    #[prost(uint64, tag = "1")]
    pub committed_rate: u64,
    #[prost(uint64, tag = "2")]
    pub committed_burst: u64,
    #[prost(uint64, tag = "3")]
    pub peak_rate: u64,
    #[prost(uint64, tag = "4")]
    pub peak_burst: u64,
    /// Beside the whole units a second, which are all that rows of older versions have.
    #[prost(uint32, tag = "5")]
    pub committed_billionths: u32,
    #[prost(uint32, tag = "6")]
    pub peak_billionths: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct CrcRow {
    #[prost(uint32, tag = "1")]
    pub polynomial: u32,
    #[prost(uint32, tag = "2")]
    pub initial: u32,
    #[prost(uint32, tag = "3")]
    pub last: u32,
    #[prost(bool, tag = "4")]
    pub reflects_data: bool,
    #[prost(bool, tag = "5")]
    pub reflects_remainder: bool,
}

impl From<&CrcParameters> for CrcRow {
    fn from(of: &CrcParameters) -> CrcRow {
        let CrcParameters { polynomial, initial, last, reflects_data, reflects_remainder } = *of;
        CrcRow { polynomial, initial, last, reflects_data, reflects_remainder }
    }
}

impl From<CrcRow> for CrcParameters {
    fn from(row: CrcRow) -> CrcParameters {
        let CrcRow { polynomial, initial, last, reflects_data, reflects_remainder } = row;
        CrcParameters { polynomial, initial, last, reflects_data, reflects_remainder }
    }
}

#[derive(Clone, PartialEq, Message)]
pub struct DigestRow {
    #[prost(uint64, tag = "1")]
    pub timeout_ns: u64,
    #[prost(uint32, tag = "2")]
    pub largest_list: u32,
    #[prost(uint64, tag = "3")]
    pub acknowledge_ns: u64,
}

impl From<&Group> for GroupRow {
    fn from(group: &Group) -> GroupRow {
        let member = |of: &GroupMember| MemberRow { member: of.member, weight: of.weight, watch: of.watch };
        let members = group.members.iter().map(member).collect();
        GroupRow { members, max_size: group.max_size, note: group.note.clone() }
    }
}

impl From<GroupRow> for Group {
    fn from(row: GroupRow) -> Group {
        let member = |of: MemberRow| GroupMember { member: of.member, weight: of.weight, watch: of.watch };
        Group { members: row.members.into_iter().map(member).collect(), max_size: row.max_size, note: row.note }
    }
}

impl From<&Match> for MatchRow {
    fn from(found: &Match) -> MatchRow {
        let pair = |first: &BigUint, second: Option<&BigUint>, prefix| PairRow {
            first: first.to_bytes_be(),
            second: second.map(BigUint::to_bytes_be).unwrap_or_default(),
            prefix,
        };
        let matched = match found {
            Match::Any => None,
            Match::Exact(value) => Some(Matched::Exact(pair(value, None, 0))),
            Match::Lpm { value, prefix } => Some(Matched::Lpm(pair(value, None, *prefix))),
            Match::Ternary { value, mask } => Some(Matched::Ternary(pair(value, Some(mask), 0))),
            Match::Range { low, high } => Some(Matched::Range(pair(low, Some(high), 0))),
        };
        MatchRow { matched }
    }
}

impl From<MatchRow> for Match {
    fn from(row: MatchRow) -> Match {
        let number = |bytes: &[u8]| BigUint::from_bytes_be(bytes);
        match row.matched {
            None => Match::Any,
            Some(Matched::Exact(of)) => Match::Exact(number(&of.first)),
            Some(Matched::Lpm(of)) => Match::Lpm { value: number(&of.first), prefix: of.prefix },
            Some(Matched::Ternary(of)) => Match::Ternary { value: number(&of.first), mask: number(&of.second) },
            Some(Matched::Range(of)) => Match::Range { low: number(&of.first), high: number(&of.second) },
        }
    }
}

fn replica_row(replica: &Replica) -> ReplicaRow {
    ReplicaRow { port: replica.port, instance: replica.instance.into(), backups: Vec::new() }
}

fn replica(row: &ReplicaRow) -> Replica {
    Replica { port: row.port, instance: row.instance as u16 }
}

impl From<&BackedReplica> for ReplicaRow {
    fn from(backed: &BackedReplica) -> ReplicaRow {
        ReplicaRow { backups: backed.backups.iter().map(replica_row).collect(), ..replica_row(&backed.primary) }
    }
}

impl From<ReplicaRow> for BackedReplica {
    fn from(row: ReplicaRow) -> BackedReplica {
        BackedReplica { primary: replica(&row), backups: row.backups.iter().map(replica).collect() }
    }
}

fn replicas(rows: Vec<ReplicaRow>) -> Vec<BackedReplica> {
    rows.into_iter().map(BackedReplica::from).collect()
}

impl From<&Multicast> for MulticastRow {
    fn from(group: &Multicast) -> MulticastRow {
        MulticastRow { replicas: group.replicas.iter().map(ReplicaRow::from).collect(), note: group.note.clone() }
    }
}

impl From<MulticastRow> for Multicast {
    fn from(row: MulticastRow) -> Multicast {
        Multicast { replicas: replicas(row.replicas), note: row.note }
    }
}

impl From<&Session> for SessionRow {
    fn from(session: &Session) -> SessionRow {
        let (members, group) = match &session.target {
            SessionTarget::Members(members) => (members.iter().map(ReplicaRow::from).collect(), None),
            SessionTarget::Group(group) => (Vec::new(), Some(*group)),
        };
        SessionRow { members, group, truncation_bytes: session.truncation_bytes, note: session.note.clone() }
    }
}

impl From<SessionRow> for Session {
    fn from(row: SessionRow) -> Session {
        let target = match row.group {
            Some(group) => SessionTarget::Group(group),
            None => SessionTarget::Members(replicas(row.members)),
        };
        Session { target, truncation_bytes: row.truncation_bytes, note: row.note }
    }
}

impl From<&MeterRates> for RatesRow {
    fn from(rates: &MeterRates) -> RatesRow {
        let MeterRates { committed_rate, committed_burst, peak_rate, peak_burst } = *rates;
        RatesRow {
            committed_rate: committed_rate.whole(),
            committed_billionths: committed_rate.fraction(),
            committed_burst,
            peak_rate: peak_rate.whole(),
            peak_billionths: peak_rate.fraction(),
            peak_burst,
        }
    }
}

impl TryFrom<RatesRow> for MeterRates {
    type Error = String;

    fn try_from(row: RatesRow) -> Result<MeterRates, String> {
        let RatesRow { committed_rate, committed_burst, peak_rate, peak_burst, committed_billionths, peak_billionths } =
            row;
        let rate = |units, billionths| {
            Rate::new(units, billionths).ok_or_else(|| format!("{billionths} billionths are no fraction of a rate"))
        };
        Ok(MeterRates {
            committed_rate: rate(committed_rate, committed_billionths)?,
            committed_burst,
            peak_rate: rate(peak_rate, peak_billionths)?,
            peak_burst,
        })
    }
}

impl From<&DigestConfig> for DigestRow {
    fn from(config: &DigestConfig) -> DigestRow {
        let DigestConfig { timeout_ns, largest_list, acknowledge_ns } = *config;
        DigestRow { timeout_ns, largest_list, acknowledge_ns }
    }
}

impl From<DigestRow> for DigestConfig {
    fn from(row: DigestRow) -> DigestConfig {
        let DigestRow { timeout_ns, largest_list, acknowledge_ns } = row;
        DigestConfig { timeout_ns, largest_list, acknowledge_ns }
    }
}
