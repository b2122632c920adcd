//! Generated from the files in `proto/`: do not edit.

use super::*;

#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4Info {
    #[prost(message, optional, tag = "1")]
    pub pkg_info: ::core::option::Option<PkgInfo>,
    #[prost(message, repeated, tag = "2")]
    pub tables: ::prost::alloc::vec::Vec<Table>,
    #[prost(message, repeated, tag = "3")]
    pub actions: ::prost::alloc::vec::Vec<Action>,
    #[prost(message, repeated, tag = "4")]
    pub action_profiles: ::prost::alloc::vec::Vec<ActionProfile>,
    #[prost(message, repeated, tag = "5")]
    pub counters: ::prost::alloc::vec::Vec<Counter>,
    #[prost(message, repeated, tag = "6")]
    pub direct_counters: ::prost::alloc::vec::Vec<DirectCounter>,
    #[prost(message, repeated, tag = "7")]
    pub meters: ::prost::alloc::vec::Vec<Meter>,
    #[prost(message, repeated, tag = "8")]
    pub direct_meters: ::prost::alloc::vec::Vec<DirectMeter>,
    #[prost(message, repeated, tag = "9")]
    pub controller_packet_metadata: ::prost::alloc::vec::Vec<ControllerPacketMetadata>,
    #[prost(message, repeated, tag = "10")]
    pub value_sets: ::prost::alloc::vec::Vec<ValueSet>,
    #[prost(message, repeated, tag = "11")]
    pub registers: ::prost::alloc::vec::Vec<Register>,
    #[prost(message, repeated, tag = "12")]
    pub digests: ::prost::alloc::vec::Vec<Digest>,
    #[prost(message, repeated, tag = "100")]
    pub externs: ::prost::alloc::vec::Vec<Extern>,
    #[prost(message, optional, tag = "200")]
    pub type_info: ::core::option::Option<P4TypeInfo>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Documentation {
    #[prost(string, tag = "1")]
    pub brief: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub description: ::prost::alloc::string::String,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct PlatformProperties {
    #[prost(int32, tag = "1")]
    pub multicast_group_table_size: i32,
    #[prost(int32, tag = "2")]
    pub multicast_group_table_total_replicas: i32,
    #[prost(int32, tag = "3")]
    pub multicast_group_table_max_replicas_per_entry: i32,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct PkgInfo {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub version: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "3")]
    pub doc: ::core::option::Option<Documentation>,
    #[prost(string, repeated, tag = "4")]
    pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "10")]
    pub annotation_locations: ::prost::alloc::vec::Vec<SourceLocation>,
    #[prost(string, tag = "5")]
    pub arch: ::prost::alloc::string::String,
    #[prost(string, tag = "6")]
    pub organization: ::prost::alloc::string::String,
    #[prost(string, tag = "7")]
    pub contact: ::prost::alloc::string::String,
    #[prost(string, tag = "8")]
    pub url: ::prost::alloc::string::String,
    #[prost(message, repeated, tag = "9")]
    pub structured_annotations: ::prost::alloc::vec::Vec<StructuredAnnotation>,
    #[prost(message, optional, tag = "11")]
    pub platform_properties: ::core::option::Option<PlatformProperties>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Preamble {
    #[prost(uint32, tag = "1")]
    pub id: u32,
    #[prost(string, tag = "2")]
    pub name: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub alias: ::prost::alloc::string::String,
    #[prost(string, repeated, tag = "4")]
    pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "7")]
    pub annotation_locations: ::prost::alloc::vec::Vec<SourceLocation>,
    #[prost(message, optional, tag = "5")]
    pub doc: ::core::option::Option<Documentation>,
    #[prost(message, repeated, tag = "6")]
    pub structured_annotations: ::prost::alloc::vec::Vec<StructuredAnnotation>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4Ids {}
/// Nested message and enum types in `P4Ids`.
pub mod p4_ids {
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
    pub enum Prefix {
        Unspecified = 0,
        Action = 1,
        Table = 2,
        ValueSet = 3,
        ControllerHeader = 4,
        PsaExternsStart = 16,
        ActionProfile = 17,
        Counter = 18,
        DirectCounter = 19,
        Meter = 20,
        DirectMeter = 21,
        Register = 22,
        Digest = 23,
        OtherExternsStart = 128,
        Max = 255,
    }
    impl Prefix {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::Unspecified => "UNSPECIFIED",
                Self::Action => "ACTION",
                Self::Table => "TABLE",
                Self::ValueSet => "VALUE_SET",
                Self::ControllerHeader => "CONTROLLER_HEADER",
                Self::PsaExternsStart => "PSA_EXTERNS_START",
                Self::ActionProfile => "ACTION_PROFILE",
                Self::Counter => "COUNTER",
                Self::DirectCounter => "DIRECT_COUNTER",
                Self::Meter => "METER",
                Self::DirectMeter => "DIRECT_METER",
                Self::Register => "REGISTER",
                Self::Digest => "DIGEST",
                Self::OtherExternsStart => "OTHER_EXTERNS_START",
                Self::Max => "MAX",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "UNSPECIFIED" => Some(Self::Unspecified),
                "ACTION" => Some(Self::Action),
                "TABLE" => Some(Self::Table),
                "VALUE_SET" => Some(Self::ValueSet),
                "CONTROLLER_HEADER" => Some(Self::ControllerHeader),
                "PSA_EXTERNS_START" => Some(Self::PsaExternsStart),
                "ACTION_PROFILE" => Some(Self::ActionProfile),
                "COUNTER" => Some(Self::Counter),
                "DIRECT_COUNTER" => Some(Self::DirectCounter),
                "METER" => Some(Self::Meter),
                "DIRECT_METER" => Some(Self::DirectMeter),
                "REGISTER" => Some(Self::Register),
                "DIGEST" => Some(Self::Digest),
                "OTHER_EXTERNS_START" => Some(Self::OtherExternsStart),
                "MAX" => Some(Self::Max),
                _ => None,
            }
        }
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Extern {
    #[prost(uint32, tag = "1")]
    pub extern_type_id: u32,
    #[prost(string, tag = "2")]
    pub extern_type_name: ::prost::alloc::string::String,
    #[prost(message, repeated, tag = "3")]
    pub instances: ::prost::alloc::vec::Vec<ExternInstance>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ExternInstance {
    #[prost(message, optional, tag = "1")]
    pub preamble: ::core::option::Option<Preamble>,
    #[prost(message, optional, tag = "2")]
    pub info: ::core::option::Option<::prost_types::Any>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct MatchField {
    #[prost(uint32, tag = "1")]
    pub id: u32,
    #[prost(string, tag = "2")]
    pub name: ::prost::alloc::string::String,
    #[prost(string, repeated, tag = "3")]
    pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "10")]
    pub annotation_locations: ::prost::alloc::vec::Vec<SourceLocation>,
    #[prost(int32, tag = "4")]
    pub bitwidth: i32,
    #[prost(message, optional, tag = "6")]
    pub doc: ::core::option::Option<Documentation>,
    #[prost(message, optional, tag = "8")]
    pub type_name: ::core::option::Option<P4NamedType>,
    #[prost(message, repeated, tag = "9")]
    pub structured_annotations: ::prost::alloc::vec::Vec<StructuredAnnotation>,
    #[prost(oneof = "match_field::Match", tags = "5, 7")]
    pub r#match: ::core::option::Option<match_field::Match>,
}
/// Nested message and enum types in `MatchField`.
pub mod match_field {
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
    pub enum MatchType {
        Unspecified = 0,
        Exact = 2,
        Lpm = 3,
        Ternary = 4,
        Range = 5,
        Optional = 6,
    }
    impl MatchType {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::Unspecified => "UNSPECIFIED",
                Self::Exact => "EXACT",
                Self::Lpm => "LPM",
                Self::Ternary => "TERNARY",
                Self::Range => "RANGE",
                Self::Optional => "OPTIONAL",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "UNSPECIFIED" => Some(Self::Unspecified),
                "EXACT" => Some(Self::Exact),
                "LPM" => Some(Self::Lpm),
                "TERNARY" => Some(Self::Ternary),
                "RANGE" => Some(Self::Range),
                "OPTIONAL" => Some(Self::Optional),
                _ => None,
            }
        }
    }
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum Match {
        #[prost(enumeration = "MatchType", tag = "5")]
        MatchType(i32),
        #[prost(string, tag = "7")]
        OtherMatchType(::prost::alloc::string::String),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct TableActionCall {
    #[prost(uint32, tag = "1")]
    pub action_id: u32,
    #[prost(message, repeated, tag = "4")]
    pub arguments: ::prost::alloc::vec::Vec<table_action_call::Argument>,
}
/// Nested message and enum types in `TableActionCall`.
pub mod table_action_call {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Argument {
        #[prost(uint32, tag = "2")]
        pub param_id: u32,
        #[prost(bytes = "vec", tag = "3")]
        pub value: ::prost::alloc::vec::Vec<u8>,
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Table {
    #[prost(message, optional, tag = "1")]
    pub preamble: ::core::option::Option<Preamble>,
    #[prost(message, repeated, tag = "2")]
    pub match_fields: ::prost::alloc::vec::Vec<MatchField>,
    #[prost(message, repeated, tag = "3")]
    pub action_refs: ::prost::alloc::vec::Vec<ActionRef>,
    #[prost(uint32, tag = "4")]
    pub const_default_action_id: u32,
    #[prost(message, optional, tag = "5")]
    pub initial_default_action: ::core::option::Option<TableActionCall>,
    #[prost(uint32, tag = "6")]
    pub implementation_id: u32,
    #[prost(uint32, repeated, tag = "7")]
    pub direct_resource_ids: ::prost::alloc::vec::Vec<u32>,
    #[prost(int64, tag = "8")]
    pub size: i64,
    #[prost(enumeration = "table::IdleTimeoutBehavior", tag = "9")]
    pub idle_timeout_behavior: i32,
    #[prost(bool, tag = "10")]
    pub is_const_table: bool,
    #[prost(bool, tag = "11")]
    pub has_initial_entries: bool,
    #[prost(message, optional, tag = "100")]
    pub other_properties: ::core::option::Option<::prost_types::Any>,
}
/// Nested message and enum types in `Table`.
pub mod table {
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
    pub enum IdleTimeoutBehavior {
        NoTimeout = 0,
        NotifyControl = 1,
    }
    impl IdleTimeoutBehavior {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::NoTimeout => "NO_TIMEOUT",
                Self::NotifyControl => "NOTIFY_CONTROL",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "NO_TIMEOUT" => Some(Self::NoTimeout),
                "NOTIFY_CONTROL" => Some(Self::NotifyControl),
                _ => None,
            }
        }
    }
}
