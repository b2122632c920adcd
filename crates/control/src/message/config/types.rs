//! Generated from the files in `proto/`: do not edit.

#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4TypeInfo {
    #[prost(btree_map = "string, message", tag = "1")]
    pub structs: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        P4StructTypeSpec,
    >,
    #[prost(btree_map = "string, message", tag = "2")]
    pub headers: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        P4HeaderTypeSpec,
    >,
    #[prost(btree_map = "string, message", tag = "3")]
    pub header_unions: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        P4HeaderUnionTypeSpec,
    >,
    #[prost(btree_map = "string, message", tag = "4")]
    pub enums: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        P4EnumTypeSpec,
    >,
    #[prost(message, optional, tag = "5")]
    pub error: ::core::option::Option<P4ErrorTypeSpec>,
    #[prost(btree_map = "string, message", tag = "6")]
    pub serializable_enums: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        P4SerializableEnumTypeSpec,
    >,
    #[prost(btree_map = "string, message", tag = "7")]
    pub new_types: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        P4NewTypeSpec,
    >,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4DataTypeSpec {
    #[prost(
        oneof = "p4_data_type_spec::TypeSpec",
        tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12"
    )]
    pub type_spec: ::core::option::Option<p4_data_type_spec::TypeSpec>,
}
/// Nested message and enum types in `P4DataTypeSpec`.
pub mod p4_data_type_spec {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum TypeSpec {
        #[prost(message, tag = "1")]
        Bitstring(super::P4BitstringLikeTypeSpec),
        #[prost(message, tag = "2")]
        Bool(super::P4BoolType),
        #[prost(message, tag = "3")]
        Tuple(super::P4TupleTypeSpec),
        #[prost(message, tag = "4")]
        Struct(super::P4NamedType),
        #[prost(message, tag = "5")]
        Header(super::P4NamedType),
        #[prost(message, tag = "6")]
        HeaderUnion(super::P4NamedType),
        #[prost(message, tag = "7")]
        HeaderStack(super::P4HeaderStackTypeSpec),
        #[prost(message, tag = "8")]
        HeaderUnionStack(super::P4HeaderUnionStackTypeSpec),
        #[prost(message, tag = "9")]
        Enum(super::P4NamedType),
        #[prost(message, tag = "10")]
        Error(super::P4ErrorType),
        #[prost(message, tag = "11")]
        SerializableEnum(super::P4NamedType),
        #[prost(message, tag = "12")]
        NewType(super::P4NamedType),
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4NamedType {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4BoolType {}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4ErrorType {}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4BitstringLikeTypeSpec {
    #[prost(string, repeated, tag = "4")]
    pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "5")]
    pub annotation_locations: ::prost::alloc::vec::Vec<SourceLocation>,
    #[prost(message, repeated, tag = "6")]
    pub structured_annotations: ::prost::alloc::vec::Vec<StructuredAnnotation>,
    #[prost(oneof = "p4_bitstring_like_type_spec::TypeSpec", tags = "1, 2, 3")]
    pub type_spec: ::core::option::Option<p4_bitstring_like_type_spec::TypeSpec>,
}
/// Nested message and enum types in `P4BitstringLikeTypeSpec`.
pub mod p4_bitstring_like_type_spec {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum TypeSpec {
        #[prost(message, tag = "1")]
        Bit(super::P4BitTypeSpec),
        #[prost(message, tag = "2")]
        Int(super::P4IntTypeSpec),
        #[prost(message, tag = "3")]
        Varbit(super::P4VarbitTypeSpec),
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4BitTypeSpec {
    #[prost(int32, tag = "1")]
    pub bitwidth: i32,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4IntTypeSpec {
    #[prost(int32, tag = "1")]
    pub bitwidth: i32,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4VarbitTypeSpec {
    #[prost(int32, tag = "1")]
    pub max_bitwidth: i32,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4TupleTypeSpec {
    #[prost(message, repeated, tag = "1")]
    pub members: ::prost::alloc::vec::Vec<P4DataTypeSpec>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4StructTypeSpec {
    #[prost(message, repeated, tag = "1")]
    pub members: ::prost::alloc::vec::Vec<p4_struct_type_spec::Member>,
    #[prost(string, repeated, tag = "2")]
    pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "3")]
    pub annotation_locations: ::prost::alloc::vec::Vec<SourceLocation>,
    #[prost(message, repeated, tag = "4")]
    pub structured_annotations: ::prost::alloc::vec::Vec<StructuredAnnotation>,
}
/// Nested message and enum types in `P4StructTypeSpec`.
pub mod p4_struct_type_spec {
    #[derive(Clone, PartialEq, ::prost::Message)]
    pub struct Member {
        #[prost(string, tag = "1")]
        pub name: ::prost::alloc::string::String,
        #[prost(message, optional, tag = "2")]
        pub type_spec: ::core::option::Option<super::P4DataTypeSpec>,
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4HeaderTypeSpec {
    #[prost(message, repeated, tag = "1")]
    pub members: ::prost::alloc::vec::Vec<p4_header_type_spec::Member>,
    #[prost(string, repeated, tag = "2")]
    pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "3")]
    pub annotation_locations: ::prost::alloc::vec::Vec<SourceLocation>,
    #[prost(message, repeated, tag = "4")]
    pub structured_annotations: ::prost::alloc::vec::Vec<StructuredAnnotation>,
}
/// Nested message and enum types in `P4HeaderTypeSpec`.
pub mod p4_header_type_spec {
    #[derive(Clone, PartialEq, ::prost::Message)]
    pub struct Member {
        #[prost(string, tag = "1")]
        pub name: ::prost::alloc::string::String,
        #[prost(message, optional, tag = "2")]
        pub type_spec: ::core::option::Option<super::P4BitstringLikeTypeSpec>,
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4HeaderUnionTypeSpec {
    #[prost(message, repeated, tag = "1")]
    pub members: ::prost::alloc::vec::Vec<p4_header_union_type_spec::Member>,
    #[prost(string, repeated, tag = "2")]
    pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "3")]
    pub annotation_locations: ::prost::alloc::vec::Vec<SourceLocation>,
    #[prost(message, repeated, tag = "4")]
    pub structured_annotations: ::prost::alloc::vec::Vec<StructuredAnnotation>,
}
/// Nested message and enum types in `P4HeaderUnionTypeSpec`.
pub mod p4_header_union_type_spec {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct Member {
        #[prost(string, tag = "1")]
        pub name: ::prost::alloc::string::String,
        #[prost(message, optional, tag = "2")]
        pub header: ::core::option::Option<super::P4NamedType>,
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4HeaderStackTypeSpec {
    #[prost(message, optional, tag = "1")]
    pub header: ::core::option::Option<P4NamedType>,
    #[prost(int32, tag = "2")]
    pub size: i32,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4HeaderUnionStackTypeSpec {
    #[prost(message, optional, tag = "1")]
    pub header_union: ::core::option::Option<P4NamedType>,
    #[prost(int32, tag = "2")]
    pub size: i32,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct KeyValuePair {
    #[prost(string, tag = "1")]
    pub key: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "2")]
    pub value: ::core::option::Option<Expression>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct KeyValuePairList {
    #[prost(message, repeated, tag = "1")]
    pub kv_pairs: ::prost::alloc::vec::Vec<KeyValuePair>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Expression {
    #[prost(oneof = "expression::Value", tags = "1, 2, 3")]
    pub value: ::core::option::Option<expression::Value>,
}
/// Nested message and enum types in `Expression`.
pub mod expression {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum Value {
        #[prost(string, tag = "1")]
        StringValue(::prost::alloc::string::String),
        #[prost(int64, tag = "2")]
        Int64Value(i64),
        #[prost(bool, tag = "3")]
        BoolValue(bool),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ExpressionList {
    #[prost(message, repeated, tag = "1")]
    pub expressions: ::prost::alloc::vec::Vec<Expression>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct SourceLocation {
    #[prost(string, tag = "1")]
    pub file: ::prost::alloc::string::String,
    #[prost(int32, tag = "2")]
    pub line: i32,
    #[prost(int32, tag = "3")]
    pub column: i32,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct StructuredAnnotation {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "4")]
    pub source_location: ::core::option::Option<SourceLocation>,
    #[prost(oneof = "structured_annotation::Body", tags = "2, 3")]
    pub body: ::core::option::Option<structured_annotation::Body>,
}
/// Nested message and enum types in `StructuredAnnotation`.
pub mod structured_annotation {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Body {
        #[prost(message, tag = "2")]
        ExpressionList(super::ExpressionList),
        #[prost(message, tag = "3")]
        KvPairList(super::KeyValuePairList),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4EnumTypeSpec {
    #[prost(message, repeated, tag = "1")]
    pub members: ::prost::alloc::vec::Vec<p4_enum_type_spec::Member>,
    #[prost(string, repeated, tag = "2")]
    pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "4")]
    pub annotation_locations: ::prost::alloc::vec::Vec<SourceLocation>,
    #[prost(message, repeated, tag = "3")]
    pub structured_annotations: ::prost::alloc::vec::Vec<StructuredAnnotation>,
}
/// Nested message and enum types in `P4EnumTypeSpec`.
pub mod p4_enum_type_spec {
    #[derive(Clone, PartialEq, ::prost::Message)]
    pub struct Member {
        #[prost(string, tag = "1")]
        pub name: ::prost::alloc::string::String,
        #[prost(string, repeated, tag = "2")]
        pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
        #[prost(message, repeated, tag = "4")]
        pub annotation_locations: ::prost::alloc::vec::Vec<super::SourceLocation>,
        #[prost(message, repeated, tag = "3")]
        pub structured_annotations: ::prost::alloc::vec::Vec<
            super::StructuredAnnotation,
        >,
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4SerializableEnumTypeSpec {
    #[prost(message, optional, tag = "1")]
    pub underlying_type: ::core::option::Option<P4BitTypeSpec>,
    #[prost(message, repeated, tag = "2")]
    pub members: ::prost::alloc::vec::Vec<p4_serializable_enum_type_spec::Member>,
    #[prost(string, repeated, tag = "3")]
    pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "5")]
    pub annotation_locations: ::prost::alloc::vec::Vec<SourceLocation>,
    #[prost(message, repeated, tag = "4")]
    pub structured_annotations: ::prost::alloc::vec::Vec<StructuredAnnotation>,
}
/// Nested message and enum types in `P4SerializableEnumTypeSpec`.
pub mod p4_serializable_enum_type_spec {
    #[derive(Clone, PartialEq, ::prost::Message)]
    pub struct Member {
        #[prost(string, tag = "1")]
        pub name: ::prost::alloc::string::String,
        #[prost(bytes = "vec", tag = "2")]
        pub value: ::prost::alloc::vec::Vec<u8>,
        #[prost(string, repeated, tag = "3")]
        pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
        #[prost(message, repeated, tag = "5")]
        pub annotation_locations: ::prost::alloc::vec::Vec<super::SourceLocation>,
        #[prost(message, repeated, tag = "4")]
        pub structured_annotations: ::prost::alloc::vec::Vec<
            super::StructuredAnnotation,
        >,
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4ErrorTypeSpec {
    #[prost(string, repeated, tag = "1")]
    pub members: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct P4NewTypeTranslation {
    #[prost(string, tag = "1")]
    pub uri: ::prost::alloc::string::String,
    #[prost(oneof = "p4_new_type_translation::SdnType", tags = "2, 3")]
    pub sdn_type: ::core::option::Option<p4_new_type_translation::SdnType>,
}
/// Nested message and enum types in `P4NewTypeTranslation`.
pub mod p4_new_type_translation {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
    pub struct SdnString {}
    #[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum SdnType {
        #[prost(int32, tag = "2")]
        SdnBitwidth(i32),
        #[prost(message, tag = "3")]
        SdnString(SdnString),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct P4NewTypeSpec {
    #[prost(string, repeated, tag = "3")]
    pub annotations: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(message, repeated, tag = "5")]
    pub annotation_locations: ::prost::alloc::vec::Vec<SourceLocation>,
    #[prost(message, repeated, tag = "4")]
    pub structured_annotations: ::prost::alloc::vec::Vec<StructuredAnnotation>,
    #[prost(oneof = "p4_new_type_spec::Representation", tags = "1, 2")]
    pub representation: ::core::option::Option<p4_new_type_spec::Representation>,
}
/// Nested message and enum types in `P4NewTypeSpec`.
pub mod p4_new_type_spec {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Representation {
        #[prost(message, tag = "1")]
        OriginalType(super::P4DataTypeSpec),
        #[prost(message, tag = "2")]
        TranslatedType(super::P4NewTypeTranslation),
    }
}
