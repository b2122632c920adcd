//! Generated from the files in `proto/`: do not edit.

use super::*;

#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SetForwardingPipelineConfigRequest {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[deprecated]
    #[prost(uint64, tag = "2")]
    pub role_id: u64,
    #[prost(string, tag = "6")]
    pub role: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "3")]
    pub election_id: ::core::option::Option<Uint128>,
    #[prost(enumeration = "set_forwarding_pipeline_config_request::Action", tag = "4")]
    pub action: i32,
    #[prost(message, optional, tag = "5")]
    pub config: ::core::option::Option<ForwardingPipelineConfig>,
}
/// Nested message and enum types in `SetForwardingPipelineConfigRequest`.
pub mod set_forwarding_pipeline_config_request {
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
    pub enum Action {
        Unspecified = 0,
        Verify = 1,
        VerifyAndSave = 2,
        VerifyAndCommit = 3,
        Commit = 4,
        ReconcileAndCommit = 5,
    }
    impl Action {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::Unspecified => "UNSPECIFIED",
                Self::Verify => "VERIFY",
                Self::VerifyAndSave => "VERIFY_AND_SAVE",
                Self::VerifyAndCommit => "VERIFY_AND_COMMIT",
                Self::Commit => "COMMIT",
                Self::ReconcileAndCommit => "RECONCILE_AND_COMMIT",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "UNSPECIFIED" => Some(Self::Unspecified),
                "VERIFY" => Some(Self::Verify),
                "VERIFY_AND_SAVE" => Some(Self::VerifyAndSave),
                "VERIFY_AND_COMMIT" => Some(Self::VerifyAndCommit),
                "COMMIT" => Some(Self::Commit),
                "RECONCILE_AND_COMMIT" => Some(Self::ReconcileAndCommit),
                _ => None,
            }
        }
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct SetForwardingPipelineConfigResponse {}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ForwardingPipelineConfig {
    #[prost(message, optional, tag = "1")]
    pub p4info: ::core::option::Option<crate::message::config::P4Info>,
    #[prost(bytes = "vec", tag = "2")]
    pub p4_device_config: ::prost::alloc::vec::Vec<u8>,
    #[prost(message, optional, tag = "3")]
    pub cookie: ::core::option::Option<forwarding_pipeline_config::Cookie>,
}
/// Nested message and enum types in `ForwardingPipelineConfig`.
pub mod forwarding_pipeline_config {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Cookie {
        #[prost(uint64, tag = "1")]
        pub cookie: u64,
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct GetForwardingPipelineConfigRequest {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(
        enumeration = "get_forwarding_pipeline_config_request::ResponseType",
        tag = "2"
    )]
    pub response_type: i32,
}
/// Nested message and enum types in `GetForwardingPipelineConfigRequest`.
pub mod get_forwarding_pipeline_config_request {
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
    pub enum ResponseType {
        All = 0,
        CookieOnly = 1,
        P4infoAndCookie = 2,
        DeviceConfigAndCookie = 3,
    }
    impl ResponseType {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::All => "ALL",
                Self::CookieOnly => "COOKIE_ONLY",
                Self::P4infoAndCookie => "P4INFO_AND_COOKIE",
                Self::DeviceConfigAndCookie => "DEVICE_CONFIG_AND_COOKIE",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "ALL" => Some(Self::All),
                "COOKIE_ONLY" => Some(Self::CookieOnly),
                "P4INFO_AND_COOKIE" => Some(Self::P4infoAndCookie),
                "DEVICE_CONFIG_AND_COOKIE" => Some(Self::DeviceConfigAndCookie),
                _ => None,
            }
        }
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct GetForwardingPipelineConfigResponse {
    #[prost(message, optional, tag = "1")]
    pub config: ::core::option::Option<ForwardingPipelineConfig>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct CapabilitiesRequest {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct CapabilitiesResponse {
    #[prost(string, tag = "1")]
    pub p4runtime_api_version: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "999")]
    pub experimental: ::core::option::Option<::prost_types::Any>,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum SdnPort {
    Unknown = 0,
    Min = 1,
    Max = -257,
    Recirculate = -6,
    Cpu = -3,
}
impl SdnPort {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::Unknown => "SDN_PORT_UNKNOWN",
            Self::Min => "SDN_PORT_MIN",
            Self::Max => "SDN_PORT_MAX",
            Self::Recirculate => "SDN_PORT_RECIRCULATE",
            Self::Cpu => "SDN_PORT_CPU",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "SDN_PORT_UNKNOWN" => Some(Self::Unknown),
            "SDN_PORT_MIN" => Some(Self::Min),
            "SDN_PORT_MAX" => Some(Self::Max),
            "SDN_PORT_RECIRCULATE" => Some(Self::Recirculate),
            "SDN_PORT_CPU" => Some(Self::Cpu),
            _ => None,
        }
    }
}
