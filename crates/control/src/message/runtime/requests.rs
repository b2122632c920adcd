//! Generated from the files in `proto/`: do not edit.

use super::*;

#[derive(Clone, PartialEq, ::prost::Message)]
pub struct WriteRequest {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[deprecated]
    #[prost(uint64, tag = "2")]
    pub role_id: u64,
    #[prost(string, tag = "6")]
    pub role: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "3")]
    pub election_id: ::core::option::Option<Uint128>,
    #[prost(message, repeated, tag = "4")]
    pub updates: ::prost::alloc::vec::Vec<Update>,
    #[prost(enumeration = "write_request::Atomicity", tag = "5")]
    pub atomicity: i32,
}
/// Nested message and enum types in `WriteRequest`.
pub mod write_request {
    #[derive(
        Clone,
        Copy,
        Debug,
        PartialEq,
        Eq,
        Hash,
        PartialOrd,
        Ord,
        ::prost::Enumeration
    )]
    #[repr(i32)]
    pub enum Atomicity {
        ContinueOnError = 0,
        RollbackOnError = 1,
        DataplaneAtomic = 2,
    }
    impl Atomicity {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::ContinueOnError => "CONTINUE_ON_ERROR",
                Self::RollbackOnError => "ROLLBACK_ON_ERROR",
                Self::DataplaneAtomic => "DATAPLANE_ATOMIC",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "CONTINUE_ON_ERROR" => Some(Self::ContinueOnError),
                "ROLLBACK_ON_ERROR" => Some(Self::RollbackOnError),
                "DATAPLANE_ATOMIC" => Some(Self::DataplaneAtomic),
                _ => None,
            }
        }
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct WriteResponse {}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Update {
    #[prost(enumeration = "update::Type", tag = "1")]
    pub r#type: i32,
    #[prost(message, optional, tag = "2")]
    pub entity: ::core::option::Option<Entity>,
}
/// Nested message and enum types in `Update`.
pub mod update {
    #[derive(
        Clone,
        Copy,
        Debug,
        PartialEq,
        Eq,
        Hash,
        PartialOrd,
        Ord,
        ::prost::Enumeration
    )]
    #[repr(i32)]
    pub enum Type {
        Unspecified = 0,
        Insert = 1,
        Modify = 2,
        Delete = 3,
    }
    impl Type {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::Unspecified => "UNSPECIFIED",
                Self::Insert => "INSERT",
                Self::Modify => "MODIFY",
                Self::Delete => "DELETE",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "UNSPECIFIED" => Some(Self::Unspecified),
                "INSERT" => Some(Self::Insert),
                "MODIFY" => Some(Self::Modify),
                "DELETE" => Some(Self::Delete),
                _ => None,
            }
        }
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ReadRequest {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(string, tag = "3")]
    pub role: ::prost::alloc::string::String,
    #[prost(message, repeated, tag = "2")]
    pub entities: ::prost::alloc::vec::Vec<Entity>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ReadResponse {
    #[prost(message, repeated, tag = "1")]
    pub entities: ::prost::alloc::vec::Vec<Entity>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Entity {
    #[prost(oneof = "entity::Entity", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12")]
    pub entity: ::core::option::Option<entity::Entity>,
}
/// Nested message and enum types in `Entity`.
pub mod entity {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Entity {
        #[prost(message, tag = "1")]
        ExternEntry(super::ExternEntry),
        #[prost(message, tag = "2")]
        TableEntry(super::TableEntry),
        #[prost(message, tag = "3")]
        ActionProfileMember(super::ActionProfileMember),
        #[prost(message, tag = "4")]
        ActionProfileGroup(super::ActionProfileGroup),
        #[prost(message, tag = "5")]
        MeterEntry(super::MeterEntry),
        #[prost(message, tag = "6")]
        DirectMeterEntry(super::DirectMeterEntry),
        #[prost(message, tag = "7")]
        CounterEntry(super::CounterEntry),
        #[prost(message, tag = "8")]
        DirectCounterEntry(super::DirectCounterEntry),
        #[prost(message, tag = "9")]
        PacketReplicationEngineEntry(super::PacketReplicationEngineEntry),
        #[prost(message, tag = "10")]
        ValueSetEntry(super::ValueSetEntry),
        #[prost(message, tag = "11")]
        RegisterEntry(super::RegisterEntry),
        #[prost(message, tag = "12")]
        DigestEntry(super::DigestEntry),
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Error {
    #[prost(int32, tag = "1")]
    pub canonical_code: i32,
    #[prost(string, tag = "2")]
    pub message: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub space: ::prost::alloc::string::String,
    #[prost(int32, tag = "4")]
    pub code: i32,
    #[prost(message, optional, tag = "5")]
    pub details: ::core::option::Option<::prost_types::Any>,
}
