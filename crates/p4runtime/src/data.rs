//! Values of any type of P4, as elements of registers and records of digests have them, and the bits that the switch keeps.

use crate::failure::{Failure, Outcome};
use crate::schema::{Reading, Schema};
use crate::value;
use control::message::runtime::{P4Data, P4Header, P4StructLike, P4Varbit, p4_data};
use hlir::interface::{Definition, NamedKind, TypeSpec};
use num_bigint::BigUint;
use p4_data::Data;

/// Writes what the switch keeps as a value of a type; takes the scalars of the type from `values` in their order.
pub fn write(schema: &Schema, spec: &TypeSpec, values: &mut impl Iterator<Item = BigUint>) -> Outcome<P4Data> {
    let data = match spec {
        TypeSpec::Bits(_) => Data::Bitstring(value::write(&next(values)?)),
        TypeSpec::Signed(width) => Data::Bitstring(value::write_signed(&next(values)?, *width)),
        TypeSpec::Varbit(width) => {
            Data::Varbit(P4Varbit { bitstring: value::write(&next(values)?), bitwidth: *width as i32 })
        }
        TypeSpec::Bool => Data::Bool(next(values)? != BigUint::ZERO),
        TypeSpec::Error => Data::Error(error_name(schema, &next(values)?)?),
        TypeSpec::Tuple(members) => Data::Tuple(members_of(schema, members.iter(), values)?),
        TypeSpec::Named(kind, name) => return write_named(schema, *kind, name, values),
        TypeSpec::Stack(..) => return Err(unsupported("stacks of headers")),
    };
    Ok(P4Data { data: Some(data) })
}

fn write_named(
    schema: &Schema,
    kind: NamedKind,
    name: &str,
    values: &mut impl Iterator<Item = BigUint>,
) -> Outcome<P4Data> {
    let data = match schema.definition(name) {
        Some(Definition::Struct(members)) => {
            Data::Struct(members_of(schema, members.iter().map(|member| &member.value), values)?)
        }
        Some(Definition::Header(members)) => {
            let widths = members.iter().map(|_| next(values).map(|value| value::write(&value)));
            let bitstrings = widths.collect::<Outcome<Vec<_>>>()?;
            Data::Header(P4Header { is_valid: true, bitstrings })
        }
        Some(Definition::Enumeration(members)) => {
            let number = usize::try_from(next(values)?).unwrap_or(usize::MAX);
            Data::Enum(members.get(number).map_or_else(|| number.to_string(), |member| member.name.clone()))
        }
        Some(Definition::Serializable(..)) => Data::EnumValue(value::write(&next(values)?)),
        Some(Definition::New(spec)) => return write(schema, spec, values),
        Some(Definition::Translated { .. }) => {
            let reading = schema.dictionaries.reading(Some(name));
            Data::Bitstring(schema.dictionaries.write(&next(values)?, &reading))
        }
        Some(Definition::Union(_) | Definition::Errors(_)) | None => {
            return Err(unsupported(&format!("values of `{name}` ({kind:?})")));
        }
    };
    Ok(P4Data { data: Some(data) })
}

fn members_of<'s>(
    schema: &Schema,
    specs: impl Iterator<Item = &'s TypeSpec>,
    values: &mut impl Iterator<Item = BigUint>,
) -> Outcome<P4StructLike> {
    let mut members = Vec::new();
    for spec in specs {
        members.push(write(schema, spec, values)?);
    }
    Ok(P4StructLike { members })
}

fn next(values: &mut impl Iterator<Item = BigUint>) -> Outcome<BigUint> {
    values.next().ok_or_else(|| unsupported("values of this type"))
}

fn unsupported(what: &str) -> Failure {
    Failure::unsupported(format!("the switch does not hand over {what}"))
}

fn error_name(schema: &Schema, number: &BigUint) -> Outcome<String> {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    let known = schema.program.errors.get(number).cloned();
    known.ok_or_else(|| unsupported("an error without a name"))
}

/// Bits of a scalar type as elements keep it; none for what is not one number.
pub fn width(schema: &Schema, spec: &TypeSpec) -> Option<u32> {
    match spec {
        TypeSpec::Bits(width) | TypeSpec::Signed(width) => Some(*width),
        TypeSpec::Bool => Some(1),
        TypeSpec::Error | TypeSpec::Varbit(_) | TypeSpec::Tuple(_) | TypeSpec::Stack(..) => None,
        TypeSpec::Named(_, name) => match schema.definition(name)? {
            Definition::Serializable(width, _) => Some(*width),
            Definition::New(spec) => self::width(schema, spec),
            Definition::Struct(_)
            | Definition::Header(_)
            | Definition::Union(_)
            | Definition::Enumeration(_)
            | Definition::Errors(_)
            | Definition::Translated { .. } => None,
        },
    }
}

/// The members of an element that is a struct or a tuple.
fn parts<'s>(schema: &'s Schema, spec: &'s TypeSpec) -> Option<Vec<&'s TypeSpec>> {
    if let TypeSpec::Tuple(members) = spec {
        return Some(members.iter().collect());
    }
    let TypeSpec::Named(NamedKind::Struct, name) = spec else { return None };
    let Definition::Struct(members) = schema.definition(name)? else { return None };
    Some(members.iter().map(|member| &member.value).collect())
}

/// The value of a register's element: a struct is its members, the first in the highest bits.
pub fn write_element(schema: &Schema, spec: &TypeSpec, width: u32, element: BigUint) -> Outcome<P4Data> {
    let Some(parts) = parts(schema, spec) else {
        return write(schema, spec, &mut std::iter::once(element));
    };
    let mut shift = width;
    let mut values = Vec::new();
    for part in parts {
        let bits =
            self::width(schema, part).filter(|bits| *bits <= shift).ok_or_else(|| unsupported("such an element"))?;
        shift -= bits;
        values.push((&element >> shift) & value::ones(bits));
    }
    write(schema, spec, &mut values.into_iter())
}

/// What the switch keeps for the value of a register's element.
pub fn read_element(schema: &Schema, spec: &TypeSpec, width: u32, data: &P4Data, place: &str) -> Outcome<BigUint> {
    let wrong = || Failure::invalid(format!("the value of `{place}` is of another type"));
    let Some(parts) = parts(schema, spec) else { return read(schema, spec, width, data, place) };
    let (Some(Data::Struct(given)) | Some(Data::Tuple(given))) = &data.data else { return Err(wrong()) };
    if given.members.len() != parts.len() {
        return Err(wrong());
    }
    let mut element = BigUint::ZERO;
    for (part, member) in parts.into_iter().zip(&given.members) {
        let bits = self::width(schema, part).ok_or_else(|| unsupported("such an element"))?;
        element = (element << bits) | read(schema, part, bits, member, place)?;
    }
    Ok(element)
}

fn read(schema: &Schema, spec: &TypeSpec, width: u32, data: &P4Data, place: &str) -> Outcome<BigUint> {
    let wrong = || Failure::invalid(format!("the value of `{place}` is of another type"));
    match (spec, data.data.as_ref().ok_or_else(wrong)?) {
        (TypeSpec::Bits(_), Data::Bitstring(bytes)) => value::read(bytes, width, place),
        (TypeSpec::Signed(_), Data::Bitstring(bytes)) => value::read_signed(bytes, width, place),
        (TypeSpec::Bool, Data::Bool(truth)) => Ok(BigUint::from(u32::from(*truth))),
        (TypeSpec::Named(_, name), given) => match (schema.definition(name), given) {
            (Some(Definition::New(spec)), _) => read(schema, spec, width, data, place),
            (Some(Definition::Serializable(bits, _)), Data::EnumValue(bytes)) => value::read(bytes, *bits, place),
            (Some(Definition::Translated { .. }), Data::Bitstring(bytes)) => {
                let reading: Reading = schema.dictionaries.reading(Some(name));
                schema.dictionaries.read(bytes, &reading, width, place)
            }
            (Some(Definition::Enumeration(members)), Data::Enum(member)) => {
                let number = members.iter().position(|known| known.name == *member);
                number.map(BigUint::from).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}
