//! The types of P4Info, read.

use crate::message::config::{
    P4BitstringLikeTypeSpec, P4DataTypeSpec, P4NamedType, P4NewTypeSpec, P4TypeInfo, p4_bitstring_like_type_spec,
    p4_data_type_spec, p4_new_type_spec, p4_new_type_translation,
};
use hlir::Notes;
use hlir::interface::{Definition, Member, NamedKind, SourceType, Translation, TypeSpec};
use num_bigint::BigUint;

/// The declared types, in the order of their names.
pub fn source_types(info: &P4TypeInfo) -> Vec<SourceType> {
    let mut types = Vec::new();
    let mut add = |name: &str, definition| {
        types.push(SourceType { name: name.to_string(), definition, notes: Notes::default() });
    };
    for (name, made) in &info.structs {
        let members = made.members.iter().map(|one| member(&one.name, spec(one.type_spec.as_ref())));
        add(name, Definition::Struct(members.collect()));
    }
    for (name, made) in &info.headers {
        let members = made.members.iter().map(|one| member(&one.name, bitstring(one.type_spec.as_ref())));
        add(name, Definition::Header(members.collect()));
    }
    for (name, made) in &info.header_unions {
        let members = made.members.iter().map(|one| member(&one.name, called(one.header.as_ref())));
        add(name, Definition::Union(members.collect()));
    }
    for (name, made) in &info.enums {
        let members = made.members.iter().map(|one| member(&one.name, ()));
        add(name, Definition::Enumeration(members.collect()));
    }
    for (name, made) in &info.serializable_enums {
        let width = made.underlying_type.map_or(0, |of| super::width(of.bitwidth));
        let members = made.members.iter().map(|one| member(&one.name, BigUint::from_bytes_be(&one.value)));
        add(name, Definition::Serializable(width, members.collect()));
    }
    for (name, made) in &info.new_types {
        if let Some(definition) = new_type(made) {
            add(name, definition);
        }
    }
    if let Some(errors) = &info.error {
        add("", Definition::Errors(errors.members.iter().map(|name| member(name, ())).collect()));
    }
    types.sort_by(|one, other| one.name.cmp(&other.name));
    types
}

fn member<T>(name: &str, value: T) -> Member<T> {
    Member { name: name.to_string(), value, notes: Notes::default() }
}

fn new_type(made: &P4NewTypeSpec) -> Option<Definition> {
    Some(match made.representation.as_ref()? {
        p4_new_type_spec::Representation::OriginalType(of) => Definition::New(spec(Some(of))),
        p4_new_type_spec::Representation::TranslatedType(translated) => Definition::Translated {
            uri: translated.uri.clone(),
            to: match translated.sdn_type.as_ref()? {
                p4_new_type_translation::SdnType::SdnBitwidth(bits) => Translation::Bits(super::width(*bits)),
                p4_new_type_translation::SdnType::SdnString(_) => Translation::Text,
            },
        },
    })
}

fn called(named: Option<&P4NamedType>) -> String {
    named.map_or_else(String::new, |named| named.name.clone())
}

/// The type of an element or of a record; a type that is missing has no bits.
pub fn spec(of: Option<&P4DataTypeSpec>) -> TypeSpec {
    use p4_data_type_spec::TypeSpec as Given;
    let Some(given) = of.and_then(|of| of.type_spec.as_ref()) else { return TypeSpec::Bits(0) };
    let named = |kind, name: &P4NamedType| TypeSpec::Named(kind, name.name.clone());
    match given {
        Given::Bitstring(bits) => bitstring(Some(bits)),
        Given::Bool(_) => TypeSpec::Bool,
        Given::Error(_) => TypeSpec::Error,
        Given::Tuple(parts) => TypeSpec::Tuple(parts.members.iter().map(|part| spec(Some(part))).collect()),
        Given::Struct(name) => named(NamedKind::Struct, name),
        Given::Header(name) => named(NamedKind::Header, name),
        Given::HeaderUnion(name) => named(NamedKind::Union, name),
        Given::Enum(name) => named(NamedKind::Enumeration, name),
        Given::SerializableEnum(name) => named(NamedKind::Serializable, name),
        Given::NewType(name) => named(NamedKind::New, name),
        Given::HeaderStack(stack) => {
            TypeSpec::Stack(NamedKind::Header, called(stack.header.as_ref()), super::width(stack.size))
        }
        Given::HeaderUnionStack(stack) => {
            TypeSpec::Stack(NamedKind::Union, called(stack.header_union.as_ref()), super::width(stack.size))
        }
    }
}

fn bitstring(of: Option<&P4BitstringLikeTypeSpec>) -> TypeSpec {
    use p4_bitstring_like_type_spec::TypeSpec as Given;
    match of.and_then(|of| of.type_spec.as_ref()) {
        Some(Given::Bit(bit)) => TypeSpec::Bits(super::width(bit.bitwidth)),
        Some(Given::Int(int)) => TypeSpec::Signed(super::width(int.bitwidth)),
        Some(Given::Varbit(varbit)) => TypeSpec::Varbit(super::width(varbit.max_bitwidth)),
        None => TypeSpec::Bits(0),
    }
}
