//! Values of any type of P4, as registers and digests have them.
//!
//! A struct or header is written as its members one after the other, and shown as `{a:1, b:2}`.

use crate::field::{self, Look, look_of};
use crate::names::Names;
use crate::output::Cell;
use control::message::config::{
    P4BitstringLikeTypeSpec, P4DataTypeSpec, p4_bitstring_like_type_spec, p4_data_type_spec::TypeSpec, p4_new_type_spec,
};
use control::message::runtime::{P4Data, P4StructLike, p4_data::Data};
use hlir::MatchKind;
use num_bigint::{BigInt, BigUint};
use p4_bitstring_like_type_spec::TypeSpec as Bits;
use serde_json::Value as Json;
use stf::command::Word;
use stf::{Line, Mistake, matches};

/// A value of any type, as people and programs read it.
pub enum Shown {
    One {
        text: String,
        json: Json,
    },
    /// Members with their names; those of a tuple have none.
    List(Vec<(String, Shown)>),
}

impl Shown {
    fn text(text: String) -> Shown {
        Shown::One { json: text.clone().into(), text }
    }

    fn bits(bytes: &[u8], look: Look) -> Shown {
        Shown::One { text: field::show(bytes, look), json: field::json(bytes, look) }
    }

    /// A struct as `{a:1, b:2}`.
    fn print(&self) -> String {
        match self {
            Shown::One { text, .. } => text.clone(),
            Shown::List(parts) => {
                let named = parts.iter().map(|(name, part)| match name.is_empty() {
                    true => part.print(),
                    false => format!("{name}:{}", part.print()),
                });
                format!("{{{}}}", named.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The values alone, as commands take them: the members of a struct one after the other.
    pub fn words(&self) -> String {
        match self {
            Shown::One { text, .. } => text.clone(),
            Shown::List(parts) => parts.iter().map(|(_, part)| part.words()).collect::<Vec<_>>().join(" "),
        }
    }

    fn json(&self) -> Json {
        match self {
            Shown::One { json, .. } => json.clone(),
            Shown::List(parts) if parts.iter().any(|(name, _)| name.is_empty()) => {
                parts.iter().map(|(_, part)| part.json()).collect()
            }
            Shown::List(parts) => parts.iter().map(|(name, part)| (name.clone(), part.json())).collect(),
        }
    }
}

impl From<Shown> for Cell {
    fn from(shown: Shown) -> Cell {
        Cell::shown(shown.print(), shown.json())
    }
}

impl Names {
    /// The members of a struct or header with their names; nothing for other types.
    pub fn members<'i>(&'i self, spec: &'i P4DataTypeSpec) -> Option<Vec<(&'i str, P4DataTypeSpec)>> {
        let types = self.info.type_info.as_ref()?;
        match spec.type_spec.as_ref()? {
            TypeSpec::Struct(name) => {
                let members = &types.structs.get(&name.name)?.members;
                Some(
                    members
                        .iter()
                        .map(|known| (known.name.as_str(), known.type_spec.clone().unwrap_or_default()))
                        .collect(),
                )
            }
            TypeSpec::Header(name) => {
                let bits = |spec: &Option<P4BitstringLikeTypeSpec>| P4DataTypeSpec {
                    type_spec: spec.clone().map(TypeSpec::Bitstring),
                };
                let members = &types.headers.get(&name.name)?.members;
                Some(members.iter().map(|known| (known.name.as_str(), bits(&known.type_spec))).collect())
            }
            TypeSpec::Tuple(tuple) => Some(tuple.members.iter().map(|member| ("", member.clone())).collect()),
            TypeSpec::Bitstring(_)
            | TypeSpec::Bool(_)
            | TypeSpec::HeaderUnion(_)
            | TypeSpec::HeaderStack(_)
            | TypeSpec::HeaderUnionStack(_)
            | TypeSpec::Enum(_)
            | TypeSpec::Error(_)
            | TypeSpec::SerializableEnum(_)
            | TypeSpec::NewType(_) => None,
        }
    }

    /// A value, which is called `name` where its name describes it.
    pub fn show_data(&self, name: &str, spec: &P4DataTypeSpec, data: &P4Data) -> Shown {
        let members = self.members(spec).unwrap_or_default();
        let part = |at: usize, member: &P4Data| match members.get(at) {
            Some((name, spec)) => (name.to_string(), self.show_data(name, spec, member)),
            None => (String::new(), self.show_data("", &P4DataTypeSpec::default(), member)),
        };
        match &data.data {
            Some(Data::Bitstring(bytes)) => self.show_bits(name, spec, bytes),
            Some(Data::EnumValue(bytes)) => {
                self.enum_member(spec, bytes).map_or_else(|| Shown::bits(bytes, Look::Number), Shown::text)
            }
            Some(Data::Varbit(varbit)) => Shown::bits(&varbit.bitstring, Look::Hexadecimal),
            Some(Data::Bool(truth)) => Shown::One { text: truth.to_string(), json: (*truth).into() },
            Some(Data::Enum(name) | Data::Error(name)) => Shown::text(name.clone()),
            Some(Data::Struct(parts) | Data::Tuple(parts)) => {
                Shown::List(parts.members.iter().enumerate().map(|(at, member)| part(at, member)).collect())
            }
            Some(Data::Header(header)) if !header.is_valid => Shown::text("invalid".to_string()),
            Some(Data::Header(header)) => {
                let member = |bytes: &Vec<u8>| P4Data { data: Some(Data::Bitstring(bytes.clone())) };
                let parts = header.bitstrings.iter().enumerate().map(|(at, bytes)| part(at, &member(bytes)));
                Shown::List(parts.collect())
            }
            Some(Data::HeaderUnion(_) | Data::HeaderStack(_) | Data::HeaderUnionStack(_)) | None => {
                Shown::text("?".to_string())
            }
        }
    }

    fn show_bits(&self, name: &str, spec: &P4DataTypeSpec, bytes: &[u8]) -> Shown {
        match &spec.type_spec {
            Some(TypeSpec::NewType(named)) if self.is_text(&named.name) => Shown::bits(bytes, Look::Text),
            Some(TypeSpec::NewType(named)) => match self.original(&named.name) {
                Some(spec) => self.show_bits(name, spec, bytes),
                None => Shown::bits(bytes, Look::Number),
            },
            Some(TypeSpec::Bitstring(spec)) => match &spec.type_spec {
                Some(Bits::Bit(bits)) => {
                    let width = bits.bitwidth.max(0) as u32;
                    Shown::bits(bytes, look_of(name, width, MatchKind::Exact, &spec.annotations))
                }
                Some(Bits::Int(_)) => {
                    let number = BigInt::from_signed_bytes_be(bytes);
                    let json = i64::try_from(&number).map_or_else(|_| number.to_string().into(), Json::from);
                    Shown::One { text: number.to_string(), json }
                }
                Some(Bits::Varbit(_)) | None => Shown::bits(bytes, Look::Hexadecimal),
            },
            _ => Shown::bits(bytes, Look::Number),
        }
    }

    fn original(&self, type_name: &str) -> Option<&P4DataTypeSpec> {
        let known = self.info.type_info.as_ref()?.new_types.get(type_name)?;
        match known.representation.as_ref()? {
            p4_new_type_spec::Representation::OriginalType(spec) => Some(spec),
            p4_new_type_spec::Representation::TranslatedType(_) => None,
        }
    }

    fn enum_member(&self, spec: &P4DataTypeSpec, bytes: &[u8]) -> Option<String> {
        let Some(TypeSpec::SerializableEnum(name)) = &spec.type_spec else { return None };
        let known = self.info.type_info.as_ref()?.serializable_enums.get(&name.name)?;
        let number = BigUint::from_bytes_be(bytes);
        let member = known.members.iter().find(|member| BigUint::from_bytes_be(&member.value) == number)?;
        Some(member.name.clone())
    }

    /// Reads a value: a struct is its members one after the other.
    pub fn read_data(&self, line: &mut Line, spec: &P4DataTypeSpec) -> Result<P4Data, Mistake> {
        if let Some(members) = self.members(spec) {
            let parts = members.iter().map(|(_, spec)| self.read_data(line, spec)).collect::<Result<Vec<_>, _>>()?;
            let data = match spec.type_spec {
                Some(TypeSpec::Tuple(_)) => Data::Tuple(P4StructLike { members: parts }),
                _ => Data::Struct(P4StructLike { members: parts }),
            };
            return Ok(P4Data { data: Some(data) });
        }
        let negative = line.accept("-");
        let word = field::word(line)?;
        let data = match &spec.type_spec {
            Some(TypeSpec::Bitstring(bits)) => Data::Bitstring(read_bits(&word, bits, negative)?),
            Some(TypeSpec::Bool(_)) => Data::Bool(match word.text.as_str() {
                "true" | "1" => true,
                "false" | "0" => false,
                _ => return Err(Mistake::new(word.place, "expected `true` or `false`")),
            }),
            Some(TypeSpec::Enum(_)) => Data::Enum(word.text),
            Some(TypeSpec::Error(_)) => Data::Error(word.text),
            Some(TypeSpec::SerializableEnum(name)) => Data::EnumValue(self.read_enum(&word, &name.name)?),
            Some(TypeSpec::NewType(name)) if self.is_text(&name.name) => Data::Bitstring(word.text.into_bytes()),
            Some(TypeSpec::NewType(name)) => match self.original(&name.name).and_then(|spec| spec.type_spec.as_ref()) {
                Some(TypeSpec::Bitstring(bits)) => Data::Bitstring(read_bits(&word, bits, negative)?),
                _ => Data::Bitstring(matches::number(&word, u32::MAX, "the value")?.to_bytes_be()),
            },
            _ => return Err(Mistake::new(word.place, "values of this type cannot be written")),
        };
        Ok(P4Data { data: Some(data) })
    }

    fn read_enum(&self, word: &Word, type_name: &str) -> Result<Vec<u8>, Mistake> {
        let types = self.info.type_info.as_ref();
        let known = types.and_then(|types| types.serializable_enums.get(type_name));
        let members = known.map_or(&[][..], |known| &known.members);
        match members.iter().find(|member| member.name == word.text) {
            Some(member) => Ok(member.value.clone()),
            None => {
                let width =
                    known.and_then(|known| known.underlying_type).map_or(64, |bits| bits.bitwidth.max(0) as u32);
                Ok(matches::number(word, width, &format!("`{type_name}`"))?.to_bytes_be())
            }
        }
    }
}

fn read_bits(word: &Word, spec: &P4BitstringLikeTypeSpec, negative: bool) -> Result<Vec<u8>, Mistake> {
    let (width, is_signed) = match &spec.type_spec {
        Some(Bits::Bit(bits)) => (bits.bitwidth, false),
        Some(Bits::Int(bits)) => (bits.bitwidth, true),
        Some(Bits::Varbit(_)) | None => return Err(Mistake::new(word.place, "varbit values cannot be written")),
    };
    let width = width.max(0) as u32;
    if !is_signed && negative {
        return Err(Mistake::new(word.place, "the value has no sign"));
    }
    if !word.text.starts_with(|c: char| c.is_ascii_digit()) && !word.text.contains(':') {
        let message = format!("the value is a number of {width} bits, `{}` is none: write 7 or 0x1f", word.text);
        return Err(Mistake::new(word.place, message));
    }
    let number = matches::number(word, width, "the value")?;
    if !is_signed {
        return Ok(number.to_bytes_be());
    }
    let signed = BigInt::from(number);
    Ok((if negative { -signed } else { signed }).to_signed_bytes_be())
}
