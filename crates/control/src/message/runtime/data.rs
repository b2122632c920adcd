//! Generated from the files in `proto/`: do not edit.

#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4Data {
    #[prost(oneof = "p4_data::Data", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12")]
    pub data: ::core::option::Option<p4_data::Data>,
}
/// Nested message and enum types in `P4Data`.
pub mod p4_data {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Data {
        #[prost(bytes, tag = "1")]
        Bitstring(::prost::alloc::vec::Vec<u8>),
        #[prost(message, tag = "2")]
        Varbit(super::P4Varbit),
        #[prost(bool, tag = "3")]
        Bool(bool),
        #[prost(message, tag = "4")]
        Tuple(super::P4StructLike),
        #[prost(message, tag = "5")]
        Struct(super::P4StructLike),
        #[prost(message, tag = "6")]
        Header(super::P4Header),
        #[prost(message, tag = "7")]
        HeaderUnion(super::P4HeaderUnion),
        #[prost(message, tag = "8")]
        HeaderStack(super::P4HeaderStack),
        #[prost(message, tag = "9")]
        HeaderUnionStack(super::P4HeaderUnionStack),
        #[prost(string, tag = "10")]
        Enum(::prost::alloc::string::String),
        #[prost(string, tag = "11")]
        Error(::prost::alloc::string::String),
        #[prost(bytes, tag = "12")]
        EnumValue(::prost::alloc::vec::Vec<u8>),
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4Varbit {
    #[prost(bytes = "vec", tag = "1")]
    pub bitstring: ::prost::alloc::vec::Vec<u8>,
    #[prost(int32, tag = "2")]
    pub bitwidth: i32,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4StructLike {
    #[prost(message, repeated, tag = "1")]
    pub members: ::prost::alloc::vec::Vec<P4Data>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4Header {
    #[prost(bool, tag = "1")]
    pub is_valid: bool,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub bitstrings: ::prost::alloc::vec::Vec<::prost::alloc::vec::Vec<u8>>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4HeaderUnion {
    #[prost(string, tag = "1")]
    pub valid_header_name: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "2")]
    pub valid_header: ::core::option::Option<P4Header>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4HeaderStack {
    #[prost(message, repeated, tag = "1")]
    pub entries: ::prost::alloc::vec::Vec<P4Header>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4HeaderUnionStack {
    #[prost(message, repeated, tag = "1")]
    pub entries: ::prost::alloc::vec::Vec<P4HeaderUnion>,
}
