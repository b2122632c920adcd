//! Generated from the files in `proto/`: do not edit.

use super::*;

#[derive(Clone, PartialEq, ::prost::Message)]
pub struct TableEntry {
    #[prost(uint32, tag = "1")]
    pub table_id: u32,
    #[prost(message, repeated, tag = "2")]
    pub r#match: ::prost::alloc::vec::Vec<FieldMatch>,
    #[prost(message, optional, tag = "3")]
    pub action: ::core::option::Option<TableAction>,
    #[prost(int32, tag = "4")]
    pub priority: i32,
    #[deprecated]
    #[prost(uint64, tag = "5")]
    pub controller_metadata: u64,
    #[prost(message, optional, tag = "6")]
    pub meter_config: ::core::option::Option<MeterConfig>,
    #[prost(message, optional, tag = "7")]
    pub counter_data: ::core::option::Option<CounterData>,
    #[prost(message, optional, tag = "12")]
    pub meter_counter_data: ::core::option::Option<MeterCounterData>,
    #[prost(bool, tag = "8")]
    pub is_default_action: bool,
    #[prost(int64, tag = "9")]
    pub idle_timeout_ns: i64,
    #[prost(message, optional, tag = "10")]
    pub time_since_last_hit: ::core::option::Option<table_entry::IdleTimeout>,
    #[prost(bytes = "vec", tag = "11")]
    pub metadata: ::prost::alloc::vec::Vec<u8>,
    #[prost(bool, tag = "13")]
    pub is_const: bool,
}
/// Nested message and enum types in `TableEntry`.
pub mod table_entry {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct IdleTimeout {
        #[prost(int64, tag = "1")]
        pub elapsed_ns: i64,
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct FieldMatch {
    #[prost(uint32, tag = "1")]
    pub field_id: u32,
    #[prost(oneof = "field_match::FieldMatchType", tags = "2, 3, 4, 6, 7, 100")]
    pub field_match_type: ::core::option::Option<field_match::FieldMatchType>,
}
/// Nested message and enum types in `FieldMatch`.
pub mod field_match {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Exact {
        #[prost(bytes = "vec", tag = "1")]
        pub value: ::prost::alloc::vec::Vec<u8>,
    }
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Ternary {
        #[prost(bytes = "vec", tag = "1")]
        pub value: ::prost::alloc::vec::Vec<u8>,
        #[prost(bytes = "vec", tag = "2")]
        pub mask: ::prost::alloc::vec::Vec<u8>,
    }
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Lpm {
        #[prost(bytes = "vec", tag = "1")]
        pub value: ::prost::alloc::vec::Vec<u8>,
        #[prost(int32, tag = "2")]
        pub prefix_len: i32,
    }
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Range {
        #[prost(bytes = "vec", tag = "1")]
        pub low: ::prost::alloc::vec::Vec<u8>,
        #[prost(bytes = "vec", tag = "2")]
        pub high: ::prost::alloc::vec::Vec<u8>,
    }
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Optional {
        #[prost(bytes = "vec", tag = "1")]
        pub value: ::prost::alloc::vec::Vec<u8>,
    }
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum FieldMatchType {
        #[prost(message, tag = "2")]
        Exact(Exact),
        #[prost(message, tag = "3")]
        Ternary(Ternary),
        #[prost(message, tag = "4")]
        Lpm(Lpm),
        #[prost(message, tag = "6")]
        Range(Range),
        #[prost(message, tag = "7")]
        Optional(Optional),
        #[prost(message, tag = "100")]
        Other(::prost_types::Any),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct TableAction {
    #[prost(oneof = "table_action::Type", tags = "1, 2, 3, 4")]
    pub r#type: ::core::option::Option<table_action::Type>,
}
/// Nested message and enum types in `TableAction`.
pub mod table_action {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Type {
        #[prost(message, tag = "1")]
        Action(super::Action),
        #[prost(uint32, tag = "2")]
        ActionProfileMemberId(u32),
        #[prost(uint32, tag = "3")]
        ActionProfileGroupId(u32),
        #[prost(message, tag = "4")]
        ActionProfileActionSet(super::ActionProfileActionSet),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Action {
    #[prost(uint32, tag = "1")]
    pub action_id: u32,
    #[prost(message, repeated, tag = "4")]
    pub params: ::prost::alloc::vec::Vec<action::Param>,
}
/// Nested message and enum types in `Action`.
pub mod action {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Param {
        #[prost(uint32, tag = "2")]
        pub param_id: u32,
        #[prost(bytes = "vec", tag = "3")]
        pub value: ::prost::alloc::vec::Vec<u8>,
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ActionProfileActionSet {
    #[prost(message, repeated, tag = "1")]
    pub action_profile_actions: ::prost::alloc::vec::Vec<ActionProfileAction>,
    #[prost(enumeration = "action_profile_action_set::ActionSelectionMode", tag = "2")]
    pub action_selection_mode: i32,
    #[prost(enumeration = "action_profile_action_set::SizeSemantics", tag = "3")]
    pub size_semantics: i32,
}
/// Nested message and enum types in `ActionProfileActionSet`.
pub mod action_profile_action_set {
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
    pub enum ActionSelectionMode {
        DefaultModeDeterminedByActionSelector = 0,
        Hash = 1,
        Random = 2,
    }
    impl ActionSelectionMode {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::DefaultModeDeterminedByActionSelector => {
                    "DEFAULT_MODE_DETERMINED_BY_ACTION_SELECTOR"
                }
                Self::Hash => "HASH",
                Self::Random => "RANDOM",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "DEFAULT_MODE_DETERMINED_BY_ACTION_SELECTOR" => {
                    Some(Self::DefaultModeDeterminedByActionSelector)
                }
                "HASH" => Some(Self::Hash),
                "RANDOM" => Some(Self::Random),
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
    pub enum SizeSemantics {
        DefaultSizeDeterminedByActionSelector = 0,
        SumOfWeights = 1,
        SumOfMembers = 2,
    }
    impl SizeSemantics {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::DefaultSizeDeterminedByActionSelector => {
                    "DEFAULT_SIZE_DETERMINED_BY_ACTION_SELECTOR"
                }
                Self::SumOfWeights => "SUM_OF_WEIGHTS",
                Self::SumOfMembers => "SUM_OF_MEMBERS",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "DEFAULT_SIZE_DETERMINED_BY_ACTION_SELECTOR" => {
                    Some(Self::DefaultSizeDeterminedByActionSelector)
                }
                "SUM_OF_WEIGHTS" => Some(Self::SumOfWeights),
                "SUM_OF_MEMBERS" => Some(Self::SumOfMembers),
                _ => None,
            }
        }
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ActionProfileAction {
    #[prost(message, optional, tag = "1")]
    pub action: ::core::option::Option<Action>,
    #[prost(int32, tag = "2")]
    pub weight: i32,
    #[prost(oneof = "action_profile_action::WatchKind", tags = "3, 4")]
    pub watch_kind: ::core::option::Option<action_profile_action::WatchKind>,
}
/// Nested message and enum types in `ActionProfileAction`.
pub mod action_profile_action {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum WatchKind {
        #[deprecated]
        #[prost(int32, tag = "3")]
        Watch(i32),
        #[prost(bytes, tag = "4")]
        WatchPort(::prost::alloc::vec::Vec<u8>),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ActionProfileMember {
    #[prost(uint32, tag = "1")]
    pub action_profile_id: u32,
    #[prost(uint32, tag = "2")]
    pub member_id: u32,
    #[prost(message, optional, tag = "3")]
    pub action: ::core::option::Option<Action>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ActionProfileGroup {
    #[prost(uint32, tag = "1")]
    pub action_profile_id: u32,
    #[prost(uint32, tag = "2")]
    pub group_id: u32,
    #[prost(message, repeated, tag = "3")]
    pub members: ::prost::alloc::vec::Vec<action_profile_group::Member>,
    #[prost(int32, tag = "4")]
    pub max_size: i32,
}
/// Nested message and enum types in `ActionProfileGroup`.
pub mod action_profile_group {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Member {
        #[prost(uint32, tag = "1")]
        pub member_id: u32,
        #[prost(int32, tag = "2")]
        pub weight: i32,
        #[prost(oneof = "member::WatchKind", tags = "3, 4")]
        pub watch_kind: ::core::option::Option<member::WatchKind>,
    }
    /// Nested message and enum types in `Member`.
    pub mod member {
        #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
        pub enum WatchKind {
            #[deprecated]
            #[prost(int32, tag = "3")]
            Watch(i32),
            #[prost(bytes, tag = "4")]
            WatchPort(::prost::alloc::vec::Vec<u8>),
        }
    }
}
