//! Generated from the files in `proto/`: do not edit.

use super::*;

#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ActionRef {
    #[prost(uint32, tag = "1")]
    pub id: u32,
    #[prost(string, repeated, tag = "2")]
    pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "5")]
    pub annotation_locations: ::prost::alloc::vec::Vec<SourceLocation>,
    #[prost(enumeration = "action_ref::Scope", tag = "3")]
    pub scope: i32,
    #[prost(message, repeated, tag = "4")]
    pub structured_annotations: ::prost::alloc::vec::Vec<StructuredAnnotation>,
}
/// Nested message and enum types in `ActionRef`.
pub mod action_ref {
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
    pub enum Scope {
        TableAndDefault = 0,
        TableOnly = 1,
        DefaultOnly = 2,
    }
    impl Scope {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::TableAndDefault => "TABLE_AND_DEFAULT",
                Self::TableOnly => "TABLE_ONLY",
                Self::DefaultOnly => "DEFAULT_ONLY",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "TABLE_AND_DEFAULT" => Some(Self::TableAndDefault),
                "TABLE_ONLY" => Some(Self::TableOnly),
                "DEFAULT_ONLY" => Some(Self::DefaultOnly),
                _ => None,
            }
        }
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Action {
    #[prost(message, optional, tag = "1")]
    pub preamble: ::core::option::Option<Preamble>,
    #[prost(message, repeated, tag = "2")]
    pub params: ::prost::alloc::vec::Vec<action::Param>,
}
/// Nested message and enum types in `Action`.
pub mod action {
    #[derive(Clone, PartialEq, ::prost::Message)]
    pub struct Param {
        #[prost(uint32, tag = "1")]
        pub id: u32,
        #[prost(string, tag = "2")]
        pub name: ::prost::alloc::string::String,
        #[prost(string, repeated, tag = "3")]
        pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
        #[prost(message, repeated, tag = "8")]
        pub annotation_locations: ::prost::alloc::vec::Vec<super::SourceLocation>,
        #[prost(int32, tag = "4")]
        pub bitwidth: i32,
        #[prost(message, optional, tag = "5")]
        pub doc: ::core::option::Option<super::Documentation>,
        #[prost(message, optional, tag = "6")]
        pub type_name: ::core::option::Option<super::P4NamedType>,
        #[prost(message, repeated, tag = "7")]
        pub structured_annotations: ::prost::alloc::vec::Vec<
            super::StructuredAnnotation,
        >,
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ActionProfile {
    #[prost(message, optional, tag = "1")]
    pub preamble: ::core::option::Option<Preamble>,
    #[prost(uint32, repeated, tag = "2")]
    pub table_ids: ::prost::alloc::vec::Vec<u32>,
    #[prost(bool, tag = "3")]
    pub with_selector: bool,
    #[prost(int64, tag = "4")]
    pub size: i64,
    #[prost(int32, tag = "5")]
    pub max_group_size: i32,
    #[prost(bool, tag = "8")]
    pub weights_disallowed: bool,
    #[prost(oneof = "action_profile::SelectorSizeSemantics", tags = "6, 7")]
    pub selector_size_semantics: ::core::option::Option<
        action_profile::SelectorSizeSemantics,
    >,
}
/// Nested message and enum types in `ActionProfile`.
pub mod action_profile {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct SumOfWeights {}
    #[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct SumOfMembers {
        #[prost(int32, tag = "1")]
        pub max_member_weight: i32,
    }
    #[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum SelectorSizeSemantics {
        #[prost(message, tag = "6")]
        SumOfWeights(SumOfWeights),
        #[prost(message, tag = "7")]
        SumOfMembers(SumOfMembers),
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct CounterSpec {
    #[prost(enumeration = "counter_spec::Unit", tag = "1")]
    pub unit: i32,
}
/// Nested message and enum types in `CounterSpec`.
pub mod counter_spec {
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
    pub enum Unit {
        Unspecified = 0,
        Bytes = 1,
        Packets = 2,
        Both = 3,
    }
    impl Unit {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::Unspecified => "UNSPECIFIED",
                Self::Bytes => "BYTES",
                Self::Packets => "PACKETS",
                Self::Both => "BOTH",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "UNSPECIFIED" => Some(Self::Unspecified),
                "BYTES" => Some(Self::Bytes),
                "PACKETS" => Some(Self::Packets),
                "BOTH" => Some(Self::Both),
                _ => None,
            }
        }
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Counter {
    #[prost(message, optional, tag = "1")]
    pub preamble: ::core::option::Option<Preamble>,
    #[prost(message, optional, tag = "2")]
    pub spec: ::core::option::Option<CounterSpec>,
    #[prost(int64, tag = "3")]
    pub size: i64,
    #[prost(message, optional, tag = "4")]
    pub index_type_name: ::core::option::Option<P4NamedType>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct DirectCounter {
    #[prost(message, optional, tag = "1")]
    pub preamble: ::core::option::Option<Preamble>,
    #[prost(message, optional, tag = "2")]
    pub spec: ::core::option::Option<CounterSpec>,
    #[prost(uint32, tag = "3")]
    pub direct_table_id: u32,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct MeterSpec {
    #[prost(enumeration = "meter_spec::Unit", tag = "1")]
    pub unit: i32,
    #[prost(enumeration = "meter_spec::Type", tag = "2")]
    pub r#type: i32,
}
/// Nested message and enum types in `MeterSpec`.
pub mod meter_spec {
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
    pub enum Unit {
        Unspecified = 0,
        Bytes = 1,
        Packets = 2,
    }
    impl Unit {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::Unspecified => "UNSPECIFIED",
                Self::Bytes => "BYTES",
                Self::Packets => "PACKETS",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "UNSPECIFIED" => Some(Self::Unspecified),
                "BYTES" => Some(Self::Bytes),
                "PACKETS" => Some(Self::Packets),
                _ => None,
            }
        }
    }
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
        TwoRateThreeColor = 0,
        SingleRateThreeColor = 1,
        SingleRateTwoColor = 2,
    }
    impl Type {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::TwoRateThreeColor => "TWO_RATE_THREE_COLOR",
                Self::SingleRateThreeColor => "SINGLE_RATE_THREE_COLOR",
                Self::SingleRateTwoColor => "SINGLE_RATE_TWO_COLOR",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "TWO_RATE_THREE_COLOR" => Some(Self::TwoRateThreeColor),
                "SINGLE_RATE_THREE_COLOR" => Some(Self::SingleRateThreeColor),
                "SINGLE_RATE_TWO_COLOR" => Some(Self::SingleRateTwoColor),
                _ => None,
            }
        }
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Meter {
    #[prost(message, optional, tag = "1")]
    pub preamble: ::core::option::Option<Preamble>,
    #[prost(message, optional, tag = "2")]
    pub spec: ::core::option::Option<MeterSpec>,
    #[prost(int64, tag = "3")]
    pub size: i64,
    #[prost(message, optional, tag = "4")]
    pub index_type_name: ::core::option::Option<P4NamedType>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct DirectMeter {
    #[prost(message, optional, tag = "1")]
    pub preamble: ::core::option::Option<Preamble>,
    #[prost(message, optional, tag = "2")]
    pub spec: ::core::option::Option<MeterSpec>,
    #[prost(uint32, tag = "3")]
    pub direct_table_id: u32,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ControllerPacketMetadata {
    #[prost(message, optional, tag = "1")]
    pub preamble: ::core::option::Option<Preamble>,
    #[prost(message, repeated, tag = "2")]
    pub metadata: ::prost::alloc::vec::Vec<controller_packet_metadata::Metadata>,
}
/// Nested message and enum types in `ControllerPacketMetadata`.
pub mod controller_packet_metadata {
    #[derive(Clone, PartialEq, ::prost::Message)]
    pub struct Metadata {
        #[prost(uint32, tag = "1")]
        pub id: u32,
        #[prost(string, tag = "2")]
        pub name: ::prost::alloc::string::String,
        #[prost(string, repeated, tag = "3")]
        pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
        #[prost(message, repeated, tag = "7")]
        pub annotation_locations: ::prost::alloc::vec::Vec<super::SourceLocation>,
        #[prost(int32, tag = "4")]
        pub bitwidth: i32,
        #[prost(message, optional, tag = "5")]
        pub type_name: ::core::option::Option<super::P4NamedType>,
        #[prost(message, repeated, tag = "6")]
        pub structured_annotations: ::prost::alloc::vec::Vec<
            super::StructuredAnnotation,
        >,
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ValueSet {
    #[prost(message, optional, tag = "1")]
    pub preamble: ::core::option::Option<Preamble>,
    #[prost(message, repeated, tag = "2")]
    pub r#match: ::prost::alloc::vec::Vec<MatchField>,
    #[prost(int32, tag = "3")]
    pub size: i32,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Register {
    #[prost(message, optional, tag = "1")]
    pub preamble: ::core::option::Option<Preamble>,
    #[prost(message, optional, tag = "2")]
    pub type_spec: ::core::option::Option<P4DataTypeSpec>,
    #[prost(int32, tag = "3")]
    pub size: i32,
    #[prost(message, optional, tag = "4")]
    pub index_type_name: ::core::option::Option<P4NamedType>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Digest {
    #[prost(message, optional, tag = "1")]
    pub preamble: ::core::option::Option<Preamble>,
    #[prost(message, optional, tag = "2")]
    pub type_spec: ::core::option::Option<P4DataTypeSpec>,
}
