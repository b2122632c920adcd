//! Prints the types of a controller's view.

use super::Printer;
use super::lines::{Lines, annotations, docs_lines};
use crate::interface::{Definition, Member, SourceType, Translation, TypeSpec};
use crate::text::words::{NAMED_KINDS, between, word_of, written};

impl Printer<'_> {
    pub(super) fn source_type(&self, lines: &mut Lines, declared: &SourceType) {
        lines.notes(&declared.notes);
        let name = written(&declared.name);
        let from = self.origin(&declared.notes);
        match &declared.definition {
            Definition::Struct(members) => {
                self.type_members(lines, &format!("struct {name}{from}"), members, |of| format!(": {}", spec(of)))
            }
            Definition::Header(members) => {
                self.type_members(lines, &format!("header {name}{from}"), members, |of| format!(": {}", spec(of)))
            }
            Definition::Union(members) => {
                self.type_members(lines, &format!("union {name}{from}"), members, |of| format!(": {}", written(of)))
            }
            Definition::Enumeration(members) => {
                self.type_members(lines, &format!("enum {name}{from}"), members, |()| String::new());
            }
            Definition::Serializable(width, members) => {
                let head = format!("serializable {name}: {width}{from}");
                self.type_members(lines, &head, members, |value| format!(" = {value}"));
            }
            Definition::Errors(members) => {
                self.type_members(lines, &format!("errors {name}{from}"), members, |()| String::new());
            }
            Definition::New(of) => lines.add(format!("type new {name}: {}{from}", spec(of))),
            Definition::Translated { uri, to } => {
                let to = match to {
                    Translation::Bits(width) => width.to_string(),
                    Translation::Text => "string".to_string(),
                };
                lines.add(format!("type translated {name}: {} to {to}{from}", between(uri, '"')));
            }
        }
    }

    fn type_members<T>(&self, lines: &mut Lines, head: &str, members: &[Member<T>], behind: impl Fn(&T) -> String) {
        lines.block(&format!("type {head}"), "", |lines| {
            for Member { name, value, notes } in members {
                docs_lines(notes).iter().for_each(|line| lines.add(line));
                let before =
                    if notes.annotations.is_empty() { String::new() } else { format!("{} ", annotations(notes)) };
                lines.add(format!("{before}member {}{}{}", written(name), behind(value), self.origin(notes)));
            }
        });
    }
}

pub(super) fn spec(of: &TypeSpec) -> String {
    let kind = |kind| word_of(NAMED_KINDS, kind).unwrap_or_default();
    match of {
        TypeSpec::Bits(width) => format!("bit {width}"),
        TypeSpec::Signed(width) => format!("int {width}"),
        TypeSpec::Varbit(width) => format!("varbit {width}"),
        TypeSpec::Bool => "bool".to_string(),
        TypeSpec::Error => "error".to_string(),
        TypeSpec::Tuple(members) => {
            let members: Vec<String> = members.iter().map(spec).collect();
            format!("tuple {{ {} }}", members.join(", "))
        }
        TypeSpec::Named(named, name) => format!("{} {}", kind(named), written(name)),
        TypeSpec::Stack(named, name, size) => format!("stack {size} of {} {}", kind(named), written(name)),
    }
}
