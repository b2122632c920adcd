//! Generated from the files in `crates/gnmi/proto`: do not edit.

#[derive(Clone, PartialEq, ::prost::Message)]
pub struct PathElem {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(btree_map = "string, string", tag = "2")]
    pub key: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::string::String,
    >,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Path {
    #[deprecated]
    #[prost(string, repeated, tag = "1")]
    pub element: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(string, tag = "2")]
    pub origin: ::prost::alloc::string::String,
    #[prost(message, repeated, tag = "3")]
    pub elem: ::prost::alloc::vec::Vec<PathElem>,
    #[prost(string, tag = "4")]
    pub target: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct TypedValue {
    #[prost(oneof = "typed_value::Value", tags = "1, 2, 3, 4, 5, 6, 10, 11, 12, 14")]
    pub value: ::core::option::Option<typed_value::Value>,
}
/// Nested message and enum types in `TypedValue`.
pub mod typed_value {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Value {
        #[prost(string, tag = "1")]
        StringVal(::prost::alloc::string::String),
        #[prost(int64, tag = "2")]
        IntVal(i64),
        #[prost(uint64, tag = "3")]
        UintVal(u64),
        #[prost(bool, tag = "4")]
        BoolVal(bool),
        #[prost(bytes, tag = "5")]
        BytesVal(::prost::alloc::vec::Vec<u8>),
        #[deprecated]
        #[prost(float, tag = "6")]
        FloatVal(f32),
        #[prost(bytes, tag = "10")]
        JsonVal(::prost::alloc::vec::Vec<u8>),
        #[prost(bytes, tag = "11")]
        JsonIetfVal(::prost::alloc::vec::Vec<u8>),
        #[prost(string, tag = "12")]
        AsciiVal(::prost::alloc::string::String),
        #[prost(double, tag = "14")]
        DoubleVal(f64),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Update {
    #[prost(message, optional, tag = "1")]
    pub path: ::core::option::Option<Path>,
    #[prost(message, optional, tag = "3")]
    pub val: ::core::option::Option<TypedValue>,
    #[prost(uint32, tag = "4")]
    pub duplicates: u32,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Notification {
    #[prost(int64, tag = "1")]
    pub timestamp: i64,
    #[prost(message, optional, tag = "2")]
    pub prefix: ::core::option::Option<Path>,
    #[prost(message, repeated, tag = "4")]
    pub update: ::prost::alloc::vec::Vec<Update>,
    #[prost(message, repeated, tag = "5")]
    pub delete: ::prost::alloc::vec::Vec<Path>,
    #[prost(bool, tag = "6")]
    pub atomic: bool,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ModelData {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub organization: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub version: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct CapabilityRequest {
    #[prost(message, repeated, tag = "1")]
    pub extension: ::prost::alloc::vec::Vec<crate::extension::Extension>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct CapabilityResponse {
    #[prost(message, repeated, tag = "1")]
    pub supported_models: ::prost::alloc::vec::Vec<ModelData>,
    #[prost(enumeration = "Encoding", repeated, tag = "2")]
    pub supported_encodings: ::prost::alloc::vec::Vec<i32>,
    #[prost(string, tag = "3")]
    pub g_nmi_version: ::prost::alloc::string::String,
    #[prost(message, repeated, tag = "4")]
    pub extension: ::prost::alloc::vec::Vec<crate::extension::Extension>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct GetRequest {
    #[prost(message, optional, tag = "1")]
    pub prefix: ::core::option::Option<Path>,
    #[prost(message, repeated, tag = "2")]
    pub path: ::prost::alloc::vec::Vec<Path>,
    #[prost(enumeration = "get_request::DataType", tag = "3")]
    pub r#type: i32,
    #[prost(enumeration = "Encoding", tag = "5")]
    pub encoding: i32,
    #[prost(message, repeated, tag = "6")]
    pub use_models: ::prost::alloc::vec::Vec<ModelData>,
    #[prost(message, repeated, tag = "7")]
    pub extension: ::prost::alloc::vec::Vec<crate::extension::Extension>,
}
/// Nested message and enum types in `GetRequest`.
pub mod get_request {
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
    pub enum DataType {
        All = 0,
        Config = 1,
        State = 2,
        Operational = 3,
    }
    impl DataType {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::All => "ALL",
                Self::Config => "CONFIG",
                Self::State => "STATE",
                Self::Operational => "OPERATIONAL",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "ALL" => Some(Self::All),
                "CONFIG" => Some(Self::Config),
                "STATE" => Some(Self::State),
                "OPERATIONAL" => Some(Self::Operational),
                _ => None,
            }
        }
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct GetResponse {
    #[prost(message, repeated, tag = "1")]
    pub notification: ::prost::alloc::vec::Vec<Notification>,
    #[prost(message, repeated, tag = "3")]
    pub extension: ::prost::alloc::vec::Vec<crate::extension::Extension>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SetRequest {
    #[prost(message, optional, tag = "1")]
    pub prefix: ::core::option::Option<Path>,
    #[prost(message, repeated, tag = "2")]
    pub delete: ::prost::alloc::vec::Vec<Path>,
    #[prost(message, repeated, tag = "3")]
    pub replace: ::prost::alloc::vec::Vec<Update>,
    #[prost(message, repeated, tag = "4")]
    pub update: ::prost::alloc::vec::Vec<Update>,
    #[prost(message, repeated, tag = "5")]
    pub extension: ::prost::alloc::vec::Vec<crate::extension::Extension>,
    #[prost(message, repeated, tag = "6")]
    pub union_replace: ::prost::alloc::vec::Vec<Update>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct UpdateResult {
    #[prost(message, optional, tag = "2")]
    pub path: ::core::option::Option<Path>,
    #[prost(enumeration = "update_result::Operation", tag = "4")]
    pub op: i32,
}
/// Nested message and enum types in `UpdateResult`.
pub mod update_result {
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
    pub enum Operation {
        Invalid = 0,
        Delete = 1,
        Replace = 2,
        Update = 3,
        UnionReplace = 4,
    }
    impl Operation {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::Invalid => "INVALID",
                Self::Delete => "DELETE",
                Self::Replace => "REPLACE",
                Self::Update => "UPDATE",
                Self::UnionReplace => "UNION_REPLACE",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "INVALID" => Some(Self::Invalid),
                "DELETE" => Some(Self::Delete),
                "REPLACE" => Some(Self::Replace),
                "UPDATE" => Some(Self::Update),
                "UNION_REPLACE" => Some(Self::UnionReplace),
                _ => None,
            }
        }
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SetResponse {
    #[prost(message, optional, tag = "1")]
    pub prefix: ::core::option::Option<Path>,
    #[prost(message, repeated, tag = "2")]
    pub response: ::prost::alloc::vec::Vec<UpdateResult>,
    #[prost(int64, tag = "4")]
    pub timestamp: i64,
    #[prost(message, repeated, tag = "5")]
    pub extension: ::prost::alloc::vec::Vec<crate::extension::Extension>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Subscription {
    #[prost(message, optional, tag = "1")]
    pub path: ::core::option::Option<Path>,
    #[prost(enumeration = "SubscriptionMode", tag = "2")]
    pub mode: i32,
    #[prost(uint64, tag = "3")]
    pub sample_interval: u64,
    #[prost(bool, tag = "4")]
    pub suppress_redundant: bool,
    #[prost(uint64, tag = "5")]
    pub heartbeat_interval: u64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct QosMarking {
    #[prost(uint32, tag = "1")]
    pub marking: u32,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SubscriptionList {
    #[prost(message, optional, tag = "1")]
    pub prefix: ::core::option::Option<Path>,
    #[prost(message, repeated, tag = "2")]
    pub subscription: ::prost::alloc::vec::Vec<Subscription>,
    #[prost(message, optional, tag = "4")]
    pub qos: ::core::option::Option<QosMarking>,
    #[prost(enumeration = "subscription_list::Mode", tag = "5")]
    pub mode: i32,
    #[prost(bool, tag = "6")]
    pub allow_aggregation: bool,
    #[prost(message, repeated, tag = "7")]
    pub use_models: ::prost::alloc::vec::Vec<ModelData>,
    #[prost(enumeration = "Encoding", tag = "8")]
    pub encoding: i32,
    #[prost(bool, tag = "9")]
    pub updates_only: bool,
}
/// Nested message and enum types in `SubscriptionList`.
pub mod subscription_list {
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
    pub enum Mode {
        Stream = 0,
        Once = 1,
        Poll = 2,
    }
    impl Mode {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::Stream => "STREAM",
                Self::Once => "ONCE",
                Self::Poll => "POLL",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "STREAM" => Some(Self::Stream),
                "ONCE" => Some(Self::Once),
                "POLL" => Some(Self::Poll),
                _ => None,
            }
        }
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Poll {}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SubscribeRequest {
    #[prost(message, repeated, tag = "5")]
    pub extension: ::prost::alloc::vec::Vec<crate::extension::Extension>,
    #[prost(oneof = "subscribe_request::Request", tags = "1, 3")]
    pub request: ::core::option::Option<subscribe_request::Request>,
}
/// Nested message and enum types in `SubscribeRequest`.
pub mod subscribe_request {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Request {
        #[prost(message, tag = "1")]
        Subscribe(super::SubscriptionList),
        #[prost(message, tag = "3")]
        Poll(super::Poll),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SubscribeResponse {
    #[prost(message, repeated, tag = "5")]
    pub extension: ::prost::alloc::vec::Vec<crate::extension::Extension>,
    #[prost(oneof = "subscribe_response::Response", tags = "1, 3")]
    pub response: ::core::option::Option<subscribe_response::Response>,
}
/// Nested message and enum types in `SubscribeResponse`.
pub mod subscribe_response {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Response {
        #[prost(message, tag = "1")]
        Update(super::Notification),
        #[prost(bool, tag = "3")]
        SyncResponse(bool),
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum Encoding {
    Json = 0,
    Bytes = 1,
    Proto = 2,
    Ascii = 3,
    JsonIetf = 4,
}
impl Encoding {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Bytes => "BYTES",
            Self::Proto => "PROTO",
            Self::Ascii => "ASCII",
            Self::JsonIetf => "JSON_IETF",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "JSON" => Some(Self::Json),
            "BYTES" => Some(Self::Bytes),
            "PROTO" => Some(Self::Proto),
            "ASCII" => Some(Self::Ascii),
            "JSON_IETF" => Some(Self::JsonIetf),
            _ => None,
        }
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum SubscriptionMode {
    TargetDefined = 0,
    OnChange = 1,
    Sample = 2,
}
impl SubscriptionMode {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::TargetDefined => "TARGET_DEFINED",
            Self::OnChange => "ON_CHANGE",
            Self::Sample => "SAMPLE",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "TARGET_DEFINED" => Some(Self::TargetDefined),
            "ON_CHANGE" => Some(Self::OnChange),
            "SAMPLE" => Some(Self::Sample),
            _ => None,
        }
    }
}
