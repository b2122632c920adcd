//! Types as messages show them: as a programmer would have written them.

use std::fmt;

use super::{Nominal, Type};

impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Unknown => out.write_str("unknown"),
            Type::Void => out.write_str("void"),
            Type::Bool => out.write_str("bool"),
            Type::Error => out.write_str("error"),
            Type::MatchKind => out.write_str("match_kind"),
            Type::String => out.write_str("string"),
            Type::Integer => out.write_str("int"),
            Type::Bits { width, signed: false } => write!(out, "bit<{width}>"),
            Type::Bits { width, signed: true } => write!(out, "int<{width}>"),
            Type::Varbit { width } => write!(out, "varbit<{width}>"),
            Type::Tuple(parts) | Type::ListLiteral { elements: parts, .. } => write!(out, "tuple<{}>", Commas(parts)),
            Type::List(element) => write!(out, "list<{element}>"),
            Type::Stack { element, size } => write!(out, "{element}[{size}]"),
            Type::Struct(nominal) => write!(out, "struct {nominal}"),
            Type::Header(nominal) => write!(out, "header {nominal}"),
            Type::Union(nominal) => write!(out, "header_union {nominal}"),
            Type::Parser(nominal) => write!(out, "parser {nominal}"),
            Type::Control(nominal) => write!(out, "control {nominal}"),
            Type::Package(nominal) => write!(out, "package {nominal}"),
            Type::Action(nominal) => write!(out, "action {nominal}"),
            Type::Table(nominal) => write!(out, "table {nominal}"),
            Type::TableResult(nominal) => write!(out, "the result of {nominal}.apply()"),
            Type::ActionRun(nominal) => write!(out, "an action of {nominal}"),
            Type::Enum(nominal)
            | Type::SerializableEnum(nominal)
            | Type::Newtype(nominal)
            | Type::Extern(nominal)
            | Type::Variable(nominal) => write!(out, "{nominal}"),
            Type::State => out.write_str("state"),
            Type::ValueSet(element) => write!(out, "value_set<{element}>"),
            Type::Set(element) => write!(out, "set<{element}>"),
            Type::Inferred(_) | Type::DontCare => out.write_str("_"),
            Type::StructureLiteral { fields, .. } => {
                let fields: Vec<String> = fields.iter().map(|(name, of_type)| format!("{of_type} {name}")).collect();
                write!(out, "{{ {} }}", fields.join("; "))
            }
            Type::InvalidLiteral => out.write_str("{#}"),
            Type::DefaultLiteral => out.write_str("..."),
            Type::Name(named) => write!(out, "type {named}"),
            Type::Callable => out.write_str("function"),
        }
    }
}

impl fmt::Display for Nominal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)?;
        if self.arguments.is_empty() { Ok(()) } else { write!(out, "<{}>", Commas(&self.arguments)) }
    }
}

struct Commas<'a>(&'a [Type]);

impl fmt::Display for Commas<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.iter().enumerate() {
            if at > 0 {
                out.write_str(", ")?;
            }
            write!(out, "{part}")?;
        }
        Ok(())
    }
}
