//! Generated from the files in `proto/`: do not edit.

#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct TraceRequest {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(string, tag = "2")]
    pub filter: ::prost::alloc::string::String,
    #[prost(uint64, tag = "3")]
    pub trace: u64,
    #[prost(uint32, tag = "4")]
    pub most: u32,
    #[prost(uint32, tag = "5")]
    pub rate: u32,
    #[prost(bool, tag = "6")]
    pub compact: bool,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct TraceResponse {
    #[prost(uint64, tag = "1")]
    pub trace: u64,
    #[prost(message, repeated, tag = "2")]
    pub packets: ::prost::alloc::vec::Vec<TracedPacket>,
    #[prost(uint64, tag = "3")]
    pub looked_at: u64,
    #[prost(uint64, tag = "4")]
    pub passed_over: u64,
    #[prost(message, optional, tag = "5")]
    pub names: ::core::option::Option<TraceNames>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct TraceNames {
    #[prost(string, repeated, tag = "1")]
    pub nodes: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "2")]
    pub headers: ::prost::alloc::vec::Vec<trace_names::Fields>,
    #[prost(string, repeated, tag = "3")]
    pub variables: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "4")]
    pub tables: ::prost::alloc::vec::Vec<trace_names::Table>,
    #[prost(string, repeated, tag = "5")]
    pub errors: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(string, repeated, tag = "6")]
    pub drop_reasons: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
}
/// Nested message and enum types in `TraceNames`.
pub mod trace_names {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Fields {
        #[prost(string, tag = "1")]
        pub header: ::prost::alloc::string::String,
        #[prost(string, repeated, tag = "2")]
        pub fields: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    }
    #[derive(Clone, PartialEq, ::prost::Message)]
    pub struct Table {
        #[prost(string, tag = "1")]
        pub name: ::prost::alloc::string::String,
        #[prost(string, repeated, tag = "2")]
        pub keys: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
        #[prost(message, repeated, tag = "3")]
        pub actions: ::prost::alloc::vec::Vec<Action>,
    }
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Action {
        #[prost(string, tag = "1")]
        pub name: ::prost::alloc::string::String,
        #[prost(string, repeated, tag = "2")]
        pub parameters: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct TracedPacket {
    #[prost(uint32, tag = "1")]
    pub port: u32,
    #[prost(uint64, tag = "2")]
    pub clock_ns: u64,
    #[prost(bytes = "vec", tag = "3")]
    pub received: ::prost::alloc::vec::Vec<u8>,
    #[prost(message, repeated, tag = "4")]
    pub steps: ::prost::alloc::vec::Vec<TraceStep>,
    #[prost(bytes = "vec", tag = "5")]
    pub path: ::prost::alloc::vec::Vec<u8>,
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub sent: ::prost::alloc::vec::Vec<::prost::alloc::vec::Vec<u8>>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct TraceStep {
    #[prost(oneof = "trace_step::Step", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10")]
    pub step: ::core::option::Option<trace_step::Step>,
}
/// Nested message and enum types in `TraceStep`.
pub mod trace_step {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Enter {
        #[prost(uint32, tag = "1")]
        pub port: u32,
        #[prost(uint64, tag = "2")]
        pub bytes: u64,
        #[prost(bool, tag = "3")]
        pub again: bool,
    }
    #[derive(Clone, PartialEq, ::prost::Message)]
    pub struct Extract {
        #[prost(string, tag = "1")]
        pub header: ::prost::alloc::string::String,
        #[prost(message, repeated, tag = "2")]
        pub fields: ::prost::alloc::vec::Vec<super::TraceValue>,
    }
    #[derive(Clone, PartialEq, ::prost::Message)]
    pub struct Apply {
        #[prost(string, tag = "1")]
        pub table: ::prost::alloc::string::String,
        #[prost(message, repeated, tag = "2")]
        pub key: ::prost::alloc::vec::Vec<super::TraceValue>,
        #[prost(message, optional, tag = "3")]
        pub hit: ::core::option::Option<Hit>,
        #[prost(string, tag = "4")]
        pub action: ::prost::alloc::string::String,
        #[prost(message, repeated, tag = "5")]
        pub data: ::prost::alloc::vec::Vec<super::TraceValue>,
    }
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Hit {
        #[prost(string, repeated, tag = "1")]
        pub matches: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
        #[prost(uint32, tag = "2")]
        pub priority: u32,
    }
    #[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Copy {
        #[prost(uint32, tag = "1")]
        pub port: u32,
        #[prost(uint32, tag = "2")]
        pub instance: u32,
    }
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Send {
        #[prost(uint32, tag = "1")]
        pub port: u32,
        #[prost(uint64, tag = "2")]
        pub bytes: u64,
        #[prost(bytes = "vec", tag = "3")]
        pub packet: ::prost::alloc::vec::Vec<u8>,
    }
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Step {
        #[prost(message, tag = "1")]
        Enter(Enter),
        #[prost(string, tag = "2")]
        Node(::prost::alloc::string::String),
        #[prost(message, tag = "3")]
        Extract(Extract),
        #[prost(message, tag = "4")]
        Set(super::TraceValue),
        #[prost(message, tag = "5")]
        Apply(Apply),
        #[prost(string, tag = "6")]
        Error(::prost::alloc::string::String),
        #[prost(message, tag = "7")]
        Copy(Copy),
        #[prost(string, tag = "8")]
        Punt(::prost::alloc::string::String),
        #[prost(string, tag = "9")]
        Drop(::prost::alloc::string::String),
        #[prost(message, tag = "10")]
        Send(Send),
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct TraceValue {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(bytes = "vec", tag = "2")]
    pub value: ::prost::alloc::vec::Vec<u8>,
}
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
    #[prost(message, repeated, tag = "14")]
    pub rings: ::prost::alloc::vec::Vec<Ring>,
    #[prost(message, optional, tag = "15")]
    pub exchanges: ::core::option::Option<Exchanges>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Ring {
    #[prost(uint32, tag = "1")]
    pub worker: u32,
    #[prost(string, tag = "2")]
    pub name: ::prost::alloc::string::String,
    #[prost(uint64, tag = "3")]
    pub waiting_bytes: u64,
    #[prost(uint64, tag = "4")]
    pub bytes: u64,
    #[prost(uint64, tag = "5")]
    pub lost: u64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Exchanges {
    #[prost(uint64, tag = "1")]
    pub count: u64,
    #[prost(uint64, tag = "2")]
    pub longest_pause_ns: u64,
}
#[derive(Clone, PartialEq, ::prost::Message)]
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
    #[prost(message, optional, tag = "6")]
    pub sample: ::core::option::Option<Sample>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Sample {
    #[prost(uint64, tag = "1")]
    pub packets: u64,
    #[prost(message, repeated, tag = "2")]
    pub branches: ::prost::alloc::vec::Vec<Branch>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Branch {
    #[prost(string, tag = "1")]
    pub from: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub to: ::prost::alloc::string::String,
    #[prost(uint64, tag = "3")]
    pub packets: u64,
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
