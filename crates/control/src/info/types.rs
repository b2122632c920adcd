//! The types of P4Info: those of elements and records, and the declared ones by their names.

use super::annotations::Annotations;
use crate::message::config::{
    P4BitTypeSpec, P4BitstringLikeTypeSpec, P4BoolType, P4DataTypeSpec, P4EnumTypeSpec, P4ErrorType, P4ErrorTypeSpec,
    P4HeaderStackTypeSpec, P4HeaderTypeSpec, P4HeaderUnionStackTypeSpec, P4HeaderUnionTypeSpec, P4IntTypeSpec,
    P4NamedType, P4NewTypeSpec, P4NewTypeTranslation, P4SerializableEnumTypeSpec, P4StructTypeSpec, P4TupleTypeSpec,
    P4TypeInfo, P4VarbitTypeSpec, p4_bitstring_like_type_spec, p4_data_type_spec, p4_enum_type_spec,
    p4_header_type_spec, p4_header_union_type_spec, p4_new_type_spec, p4_new_type_translation,
    p4_serializable_enum_type_spec, p4_struct_type_spec,
};
use crate::number::{int32, padded};
use hlir::interface::{
    Definition, Detail, Interface, Member, NamedKind, SourceObject, SourceType, Translation, TypeSpec,
};

/// There wherever something could be of a declared type, also if nothing is. Value sets do not count, as with p4c.
pub fn type_info(interface: &Interface) -> Option<P4TypeInfo> {
    let mut info = P4TypeInfo::default();
    interface.types.iter().for_each(|declared| add(declared, &mut info));
    let is_set = |object: &SourceObject| matches!(object.detail, Detail::ValueSet { .. });
    let is_there = interface.externs
        || !interface.types.is_empty()
        || !interface.tables.is_empty()
        || interface.actions.iter().any(|action| !action.parameters.is_empty())
        || !interface.objects.iter().all(is_set);
    is_there.then_some(info)
}

fn add(declared: &SourceType, info: &mut P4TypeInfo) {
    let Annotations { plain: annotations, structured: structured_annotations, .. } =
        Annotations::of(&declared.notes, &["p4runtime_translation"]);
    let annotation_locations = Vec::new();
    let name = declared.name.clone();
    match &declared.definition {
        Definition::Struct(members) => {
            let member = |member: &Member<TypeSpec>| p4_struct_type_spec::Member {
                name: member.name.clone(),
                type_spec: Some(data_type(&member.value)),
            };
            let members = members.iter().map(member).collect();
            let made = P4StructTypeSpec { members, annotations, structured_annotations, annotation_locations };
            info.structs.insert(name, made);
        }
        Definition::Header(members) => {
            let member = |member: &Member<TypeSpec>| p4_header_type_spec::Member {
                name: member.name.clone(),
                type_spec: bitstring(&member.value),
            };
            let members = members.iter().map(member).collect();
            let made = P4HeaderTypeSpec { members, annotations, structured_annotations, annotation_locations };
            info.headers.insert(name, made);
        }
        Definition::Union(members) => {
            let member = |member: &Member<String>| p4_header_union_type_spec::Member {
                name: member.name.clone(),
                header: Some(named(&member.value)),
            };
            let members = members.iter().map(member).collect();
            let made = P4HeaderUnionTypeSpec { members, annotations, structured_annotations, annotation_locations };
            info.header_unions.insert(name, made);
        }
        Definition::Enumeration(members) => {
            let members = members.iter().map(enumeration_member).collect();
            let made = P4EnumTypeSpec { members, annotations, structured_annotations, annotation_locations };
            info.enums.insert(name, made);
        }
        Definition::Serializable(width, members) => {
            let underlying_type = Some(P4BitTypeSpec { bitwidth: int32(*width) });
            let members = members.iter().map(|member| serializable_member(member, *width)).collect();
            let made = P4SerializableEnumTypeSpec {
                underlying_type,
                members,
                annotations,
                structured_annotations,
                annotation_locations,
            };
            info.serializable_enums.insert(name, made);
        }
        Definition::Errors(members) => {
            let members = members.iter().map(|member| member.name.clone()).collect();
            info.error = Some(P4ErrorTypeSpec { members });
        }
        Definition::New(_) | Definition::Translated { .. } => {
            let representation = representation(&declared.definition);
            let made = P4NewTypeSpec { annotations, structured_annotations, representation, annotation_locations };
            info.new_types.insert(name, made);
        }
    }
}

/// What a new type is made of.
fn representation(definition: &Definition) -> Option<p4_new_type_spec::Representation> {
    match definition {
        Definition::New(of) => Some(p4_new_type_spec::Representation::OriginalType(data_type(of))),
        Definition::Translated { uri, to } => {
            Some(p4_new_type_spec::Representation::TranslatedType(translated(uri, *to)))
        }
        Definition::Struct(_)
        | Definition::Header(_)
        | Definition::Union(_)
        | Definition::Enumeration(_)
        | Definition::Serializable(..)
        | Definition::Errors(_) => None,
    }
}

fn enumeration_member(member: &Member<()>) -> p4_enum_type_spec::Member {
    let annotations = Annotations::of(&member.notes, &[]);
    p4_enum_type_spec::Member {
        name: member.name.clone(),
        annotations: annotations.plain,
        structured_annotations: annotations.structured,
        ..p4_enum_type_spec::Member::default()
    }
}

fn serializable_member(member: &Member<num_bigint::BigUint>, width: u32) -> p4_serializable_enum_type_spec::Member {
    let annotations = Annotations::of(&member.notes, &[]);
    p4_serializable_enum_type_spec::Member {
        name: member.name.clone(),
        value: padded(&member.value, width),
        annotations: annotations.plain,
        structured_annotations: annotations.structured,
        ..p4_serializable_enum_type_spec::Member::default()
    }
}

fn translated(uri: &str, to: Translation) -> P4NewTypeTranslation {
    let to = match to {
        Translation::Bits(width) => p4_new_type_translation::SdnType::SdnBitwidth(int32(width)),
        Translation::Text => p4_new_type_translation::SdnType::SdnString(p4_new_type_translation::SdnString {}),
    };
    P4NewTypeTranslation { uri: uri.to_string(), sdn_type: Some(to) }
}

fn named(name: &str) -> P4NamedType {
    P4NamedType { name: name.to_string() }
}

pub fn data_type(spec: &TypeSpec) -> P4DataTypeSpec {
    use p4_data_type_spec::TypeSpec as Made;
    let made = match spec {
        TypeSpec::Bits(_) | TypeSpec::Signed(_) | TypeSpec::Varbit(_) => bitstring(spec).map(Made::Bitstring),
        TypeSpec::Bool => Some(Made::Bool(P4BoolType {})),
        TypeSpec::Error => Some(Made::Error(P4ErrorType {})),
        TypeSpec::Tuple(members) => {
            Some(Made::Tuple(P4TupleTypeSpec { members: members.iter().map(data_type).collect() }))
        }
        TypeSpec::Named(kind, name) => Some(match kind {
            NamedKind::Struct => Made::Struct(named(name)),
            NamedKind::Header => Made::Header(named(name)),
            NamedKind::Union => Made::HeaderUnion(named(name)),
            NamedKind::Enumeration => Made::Enum(named(name)),
            NamedKind::Serializable => Made::SerializableEnum(named(name)),
            NamedKind::New => Made::NewType(named(name)),
        }),
        TypeSpec::Stack(NamedKind::Union, name, size) => {
            let header_union = Some(named(name));
            Some(Made::HeaderUnionStack(P4HeaderUnionStackTypeSpec { header_union, size: int32(*size) }))
        }
        TypeSpec::Stack(_, name, size) => {
            Some(Made::HeaderStack(P4HeaderStackTypeSpec { header: Some(named(name)), size: int32(*size) }))
        }
    };
    P4DataTypeSpec { type_spec: made }
}

/// Nothing for what is no string of bits.
fn bitstring(spec: &TypeSpec) -> Option<P4BitstringLikeTypeSpec> {
    use p4_bitstring_like_type_spec::TypeSpec as Made;
    let made = match spec {
        TypeSpec::Bits(width) => Made::Bit(P4BitTypeSpec { bitwidth: int32(*width) }),
        TypeSpec::Signed(width) => Made::Int(P4IntTypeSpec { bitwidth: int32(*width) }),
        TypeSpec::Varbit(width) => Made::Varbit(P4VarbitTypeSpec { max_bitwidth: int32(*width) }),
        TypeSpec::Bool | TypeSpec::Error | TypeSpec::Tuple(_) | TypeSpec::Named(..) | TypeSpec::Stack(..) => {
            return None;
        }
    };
    Some(P4BitstringLikeTypeSpec { type_spec: Some(made), ..P4BitstringLikeTypeSpec::default() })
}
