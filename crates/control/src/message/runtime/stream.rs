//! Generated from the files in `proto/`: do not edit.

use super::*;

#[derive(Clone, PartialEq, ::prost::Message)]
pub struct StreamMessageRequest {
    #[prost(oneof = "stream_message_request::Update", tags = "1, 2, 3, 4")]
    pub update: ::core::option::Option<stream_message_request::Update>,
}
/// Nested message and enum types in `StreamMessageRequest`.
pub mod stream_message_request {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Update {
        #[prost(message, tag = "1")]
        Arbitration(super::MasterArbitrationUpdate),
        #[prost(message, tag = "2")]
        Packet(super::PacketOut),
        #[prost(message, tag = "3")]
        DigestAck(super::DigestListAck),
        #[prost(message, tag = "4")]
        Other(::prost_types::Any),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct StreamMessageResponse {
    #[prost(oneof = "stream_message_response::Update", tags = "1, 2, 3, 4, 5, 6")]
    pub update: ::core::option::Option<stream_message_response::Update>,
}
/// Nested message and enum types in `StreamMessageResponse`.
pub mod stream_message_response {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Update {
        #[prost(message, tag = "1")]
        Arbitration(super::MasterArbitrationUpdate),
        #[prost(message, tag = "2")]
        Packet(super::PacketIn),
        #[prost(message, tag = "3")]
        Digest(super::DigestList),
        #[prost(message, tag = "4")]
        IdleTimeoutNotification(super::IdleTimeoutNotification),
        #[prost(message, tag = "5")]
        Other(::prost_types::Any),
        #[prost(message, tag = "6")]
        Error(super::StreamError),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct MasterArbitrationUpdate {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(message, optional, tag = "2")]
    pub role: ::core::option::Option<Role>,
    #[prost(message, optional, tag = "3")]
    pub election_id: ::core::option::Option<Uint128>,
    #[prost(message, optional, tag = "4")]
    pub status: ::core::option::Option<crate::message::status::Status>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Role {
    #[deprecated]
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "3")]
    pub name: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "2")]
    pub config: ::core::option::Option<::prost_types::Any>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Uint128 {
    #[prost(uint64, tag = "1")]
    pub high: u64,
    #[prost(uint64, tag = "2")]
    pub low: u64,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct PacketOut {
    #[prost(bytes = "vec", tag = "1")]
    pub payload: ::prost::alloc::vec::Vec<u8>,
    #[prost(message, repeated, tag = "2")]
    pub metadata: ::prost::alloc::vec::Vec<PacketMetadata>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct PacketIn {
    #[prost(bytes = "vec", tag = "1")]
    pub payload: ::prost::alloc::vec::Vec<u8>,
    #[prost(message, repeated, tag = "2")]
    pub metadata: ::prost::alloc::vec::Vec<PacketMetadata>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct PacketMetadata {
    #[prost(uint32, tag = "1")]
    pub metadata_id: u32,
    #[prost(bytes = "vec", tag = "2")]
    pub value: ::prost::alloc::vec::Vec<u8>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct DigestList {
    #[prost(uint32, tag = "1")]
    pub digest_id: u32,
    #[prost(uint64, tag = "2")]
    pub list_id: u64,
    #[prost(message, repeated, tag = "3")]
    pub data: ::prost::alloc::vec::Vec<P4Data>,
    #[prost(int64, tag = "4")]
    pub timestamp: i64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct DigestListAck {
    #[prost(uint32, tag = "1")]
    pub digest_id: u32,
    #[prost(uint64, tag = "2")]
    pub list_id: u64,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct IdleTimeoutNotification {
    #[prost(message, repeated, tag = "1")]
    pub table_entry: ::prost::alloc::vec::Vec<TableEntry>,
    #[prost(int64, tag = "2")]
    pub timestamp: i64,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct StreamError {
    #[prost(int32, tag = "1")]
    pub canonical_code: i32,
    #[prost(string, tag = "2")]
    pub message: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub space: ::prost::alloc::string::String,
    #[prost(int32, tag = "4")]
    pub code: i32,
    #[prost(oneof = "stream_error::Details", tags = "5, 6, 7")]
    pub details: ::core::option::Option<stream_error::Details>,
}
/// Nested message and enum types in `StreamError`.
pub mod stream_error {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Details {
        #[prost(message, tag = "5")]
        PacketOut(super::PacketOutError),
        #[prost(message, tag = "6")]
        DigestListAck(super::DigestListAckError),
        #[prost(message, tag = "7")]
        Other(super::StreamOtherError),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct PacketOutError {
    #[prost(message, optional, tag = "1")]
    pub packet_out: ::core::option::Option<PacketOut>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct DigestListAckError {
    #[prost(message, optional, tag = "1")]
    pub digest_list_ack: ::core::option::Option<DigestListAck>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct StreamOtherError {
    #[prost(message, optional, tag = "1")]
    pub other: ::core::option::Option<::prost_types::Any>,
}
