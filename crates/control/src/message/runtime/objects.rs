//! Generated from the files in `proto/`: do not edit.

use super::*;

#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Index {
    #[prost(int64, tag = "1")]
    pub index: i64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct MeterEntry {
    #[prost(uint32, tag = "1")]
    pub meter_id: u32,
    #[prost(message, optional, tag = "2")]
    pub index: ::core::option::Option<Index>,
    #[prost(message, optional, tag = "3")]
    pub config: ::core::option::Option<MeterConfig>,
    #[prost(message, optional, tag = "4")]
    pub counter_data: ::core::option::Option<MeterCounterData>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct DirectMeterEntry {
    #[prost(message, optional, tag = "1")]
    pub table_entry: ::core::option::Option<TableEntry>,
    #[prost(message, optional, tag = "2")]
    pub config: ::core::option::Option<MeterConfig>,
    #[prost(message, optional, tag = "3")]
    pub counter_data: ::core::option::Option<MeterCounterData>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct MeterConfig {
    #[prost(int64, tag = "1")]
    pub cir: i64,
    #[prost(int64, tag = "2")]
    pub cburst: i64,
    #[prost(int64, tag = "3")]
    pub pir: i64,
    #[prost(int64, tag = "4")]
    pub pburst: i64,
    #[prost(int64, tag = "5")]
    pub eburst: i64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct MeterCounterData {
    #[prost(message, optional, tag = "1")]
    pub green: ::core::option::Option<CounterData>,
    #[prost(message, optional, tag = "2")]
    pub yellow: ::core::option::Option<CounterData>,
    #[prost(message, optional, tag = "3")]
    pub red: ::core::option::Option<CounterData>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct CounterEntry {
    #[prost(uint32, tag = "1")]
    pub counter_id: u32,
    #[prost(message, optional, tag = "2")]
    pub index: ::core::option::Option<Index>,
    #[prost(message, optional, tag = "3")]
    pub data: ::core::option::Option<CounterData>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct DirectCounterEntry {
    #[prost(message, optional, tag = "1")]
    pub table_entry: ::core::option::Option<TableEntry>,
    #[prost(message, optional, tag = "2")]
    pub data: ::core::option::Option<CounterData>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct CounterData {
    #[prost(int64, tag = "1")]
    pub byte_count: i64,
    #[prost(int64, tag = "2")]
    pub packet_count: i64,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct PacketReplicationEngineEntry {
    #[prost(oneof = "packet_replication_engine_entry::Type", tags = "1, 2")]
    pub r#type: ::core::option::Option<packet_replication_engine_entry::Type>,
}
/// Nested message and enum types in `PacketReplicationEngineEntry`.
pub mod packet_replication_engine_entry {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Type {
        #[prost(message, tag = "1")]
        MulticastGroupEntry(super::MulticastGroupEntry),
        #[prost(message, tag = "2")]
        CloneSessionEntry(super::CloneSessionEntry),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct MulticastGroupEntry {
    #[prost(uint32, tag = "1")]
    pub multicast_group_id: u32,
    #[prost(message, repeated, tag = "2")]
    pub replicas: ::prost::alloc::vec::Vec<Replica>,
    #[prost(bytes = "vec", tag = "3")]
    pub metadata: ::prost::alloc::vec::Vec<u8>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct CloneSessionEntry {
    #[prost(uint32, tag = "1")]
    pub session_id: u32,
    #[prost(message, repeated, tag = "2")]
    pub replicas: ::prost::alloc::vec::Vec<Replica>,
    #[prost(uint32, tag = "3")]
    pub class_of_service: u32,
    #[prost(int32, tag = "4")]
    pub packet_length_bytes: i32,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Replica {
    #[prost(uint32, tag = "2")]
    pub instance: u32,
    #[prost(message, repeated, tag = "4")]
    pub backup_replicas: ::prost::alloc::vec::Vec<BackupReplica>,
    #[prost(oneof = "replica::PortKind", tags = "1, 3")]
    pub port_kind: ::core::option::Option<replica::PortKind>,
}
/// Nested message and enum types in `Replica`.
pub mod replica {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum PortKind {
        #[deprecated]
        #[prost(uint32, tag = "1")]
        EgressPort(u32),
        #[prost(bytes, tag = "3")]
        Port(::prost::alloc::vec::Vec<u8>),
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct BackupReplica {
    #[prost(bytes = "vec", tag = "1")]
    pub port: ::prost::alloc::vec::Vec<u8>,
    #[prost(uint32, tag = "2")]
    pub instance: u32,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ValueSetEntry {
    #[prost(uint32, tag = "1")]
    pub value_set_id: u32,
    #[prost(message, repeated, tag = "2")]
    pub members: ::prost::alloc::vec::Vec<ValueSetMember>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ValueSetMember {
    #[prost(message, repeated, tag = "1")]
    pub r#match: ::prost::alloc::vec::Vec<FieldMatch>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct RegisterEntry {
    #[prost(uint32, tag = "1")]
    pub register_id: u32,
    #[prost(message, optional, tag = "2")]
    pub index: ::core::option::Option<Index>,
    #[prost(message, optional, tag = "3")]
    pub data: ::core::option::Option<P4Data>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct DigestEntry {
    #[prost(uint32, tag = "1")]
    pub digest_id: u32,
    #[prost(message, optional, tag = "2")]
    pub config: ::core::option::Option<digest_entry::Config>,
}
/// Nested message and enum types in `DigestEntry`.
pub mod digest_entry {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Config {
        #[prost(int64, tag = "1")]
        pub max_timeout_ns: i64,
        #[prost(int32, tag = "2")]
        pub max_list_size: i32,
        #[prost(int64, tag = "3")]
        pub ack_timeout_ns: i64,
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ExternEntry {
    #[prost(uint32, tag = "1")]
    pub extern_type_id: u32,
    #[prost(uint32, tag = "2")]
    pub extern_id: u32,
    #[prost(message, optional, tag = "3")]
    pub entry: ::core::option::Option<::prost_types::Any>,
}
