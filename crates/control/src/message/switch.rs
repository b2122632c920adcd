//! Generated from the files in `proto/`: do not edit.

#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct AddPortRequest {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(uint32, tag = "2")]
    pub number: u32,
    #[prost(string, tag = "3")]
    pub device: ::prost::alloc::string::String,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct AddPortResponse {}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct RemovePortRequest {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(string, tag = "2")]
    pub port: ::prost::alloc::string::String,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct RemovePortResponse {}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ReportRequest {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ReportResponse {
    #[prost(message, repeated, tag = "1")]
    pub ports: ::prost::alloc::vec::Vec<Port>,
    #[prost(message, repeated, tag = "2")]
    pub tables: ::prost::alloc::vec::Vec<Table>,
    #[prost(message, repeated, tag = "3")]
    pub drops: ::prost::alloc::vec::Vec<Count>,
    #[prost(message, repeated, tag = "4")]
    pub workers: ::prost::alloc::vec::Vec<Worker>,
    #[prost(uint64, tag = "5")]
    pub received: u64,
    #[prost(sint64, tag = "6")]
    pub copies: i64,
    #[prost(uint64, tag = "7")]
    pub sent: u64,
    #[prost(uint64, tag = "8")]
    pub not_sent: u64,
    #[prost(uint64, tag = "9")]
    pub to_ports_without_device: u64,
    #[prost(uint64, tag = "10")]
    pub to_controller: u64,
    #[prost(message, repeated, tag = "11")]
    pub events: ::prost::alloc::vec::Vec<Count>,
    #[prost(uint32, optional, tag = "12")]
    pub cpu_port: ::core::option::Option<u32>,
    #[prost(message, optional, tag = "13")]
    pub code: ::core::option::Option<Code>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Code {
    #[prost(bool, tag = "1")]
    pub specialised: bool,
    #[prost(string, repeated, tag = "2")]
    pub facts: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(uint64, tag = "3")]
    pub loaded: u64,
    #[prost(uint64, tag = "4")]
    pub broken: u64,
    #[prost(string, tag = "5")]
    pub last: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Port {
    #[prost(uint32, tag = "1")]
    pub number: u32,
    #[prost(string, tag = "2")]
    pub device: ::prost::alloc::string::String,
    #[prost(enumeration = "port::Link", tag = "3")]
    pub link: i32,
    #[prost(uint32, tag = "4")]
    pub speed_mbps: u32,
    #[prost(uint64, tag = "5")]
    pub received: u64,
    #[prost(uint64, tag = "6")]
    pub received_bytes: u64,
    #[prost(uint64, tag = "7")]
    pub sent: u64,
    #[prost(uint64, tag = "8")]
    pub sent_bytes: u64,
    #[prost(uint64, tag = "9")]
    pub missed: u64,
    #[prost(uint64, tag = "10")]
    pub errors: u64,
    #[prost(uint64, tag = "11")]
    pub not_sent: u64,
}
/// Nested message and enum types in `Port`.
pub mod port {
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
    pub enum Link {
        Down = 0,
        Up = 1,
        Gone = 2,
    }
    impl Link {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::Down => "DOWN",
                Self::Up => "UP",
                Self::Gone => "GONE",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "DOWN" => Some(Self::Down),
                "UP" => Some(Self::Up),
                "GONE" => Some(Self::Gone),
                _ => None,
            }
        }
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Table {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(uint64, tag = "2")]
    pub entries: u64,
    #[prost(uint64, tag = "3")]
    pub hits: u64,
    #[prost(uint64, tag = "4")]
    pub misses: u64,
    #[prost(string, tag = "5")]
    pub structure: ::prost::alloc::string::String,
    #[prost(uint64, optional, tag = "6")]
    pub capacity: ::core::option::Option<u64>,
    #[prost(uint64, tag = "7")]
    pub bytes: u64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Count {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(uint64, tag = "2")]
    pub count: u64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Worker {
    #[prost(uint32, tag = "1")]
    pub number: u32,
    #[prost(uint64, tag = "2")]
    pub received: u64,
    #[prost(uint64, tag = "3")]
    pub handed: u64,
    #[prost(uint64, tag = "4")]
    pub idle_polls: u64,
    #[prost(uint64, tag = "5")]
    pub bursts: u64,
    #[prost(uint64, tag = "6")]
    pub busy_ns: u64,
    #[prost(uint64, tag = "7")]
    pub tsc_hz: u64,
}
