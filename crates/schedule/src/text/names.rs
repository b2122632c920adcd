//! The objects of a program by name, or by number (`#3`) where another one has the name before.

use hlir::text::{TokenKind, written};
use hlir::{FieldRef, Program};
use la_arena::{Arena, Idx, RawIdx};

/// An object as the text has it.
pub fn reference<T>(arena: &Arena<T>, id: Idx<T>, name: impl Fn(&T) -> &str) -> String {
    numbered(arena.values().map(name), id.into_raw().into_u32() as usize)
}

/// The same for a list.
pub fn numbered<'n>(names: impl Iterator<Item = &'n str>, number: usize) -> String {
    let names: Vec<&str> = names.take(number + 1).collect();
    match names.get(number) {
        Some(name) if !names[..number].contains(name) => written(name),
        Some(_) | None => format!("#{number}"),
    }
}

/// The object that a token refers to.
pub fn find<T>(arena: &Arena<T>, token: &TokenKind, name: impl Fn(&T) -> &str) -> Option<Idx<T>> {
    let number = position(arena.values().map(name), token)?;
    Some(Idx::from_raw(RawIdx::from_u32(number as u32)))
}

/// The same for a list.
pub fn position<'n>(mut names: impl Iterator<Item = &'n str>, token: &TokenKind) -> Option<usize> {
    match (token.name(), token.ordinal()) {
        (Some(text), _) => names.position(|name| name == text),
        (None, Some(number)) => number.parse().ok().filter(|number| *number < names.count()),
        (None, None) => None,
    }
}

/// A field, or its numbers (`#h1.2`).
pub fn field_reference(program: &Program, field: FieldRef) -> String {
    let named = format!("{}.{}", program.headers[field.header].name, program.field(field).name);
    if written(&named) == named && field_named(program, &named) == Some(field) {
        return named;
    }
    format!("#h{}.{}", field.header.into_raw().into_u32(), field.field)
}

/// The field that a token refers to.
pub fn find_field(program: &Program, token: &TokenKind) -> Option<FieldRef> {
    if let Some(name) = token.name() {
        return field_named(program, name);
    }
    let (header, field) = token.ordinal()?.strip_prefix('h')?.split_once('.')?;
    let (header, field): (u32, u32) = (header.parse().ok()?, field.parse().ok()?);
    let found = program.headers.iter().nth(header as usize)?;
    ((field as usize) < found.1.fields.len()).then_some(FieldRef { header: found.0, field })
}

fn field_named(program: &Program, name: &str) -> Option<FieldRef> {
    program.headers.iter().find_map(|(header, declared)| {
        let rest = name.strip_prefix(&declared.name)?.strip_prefix('.')?;
        let field = declared.fields.iter().position(|field| field.name == rest)?;
        Some(FieldRef { header, field: field as u32 })
    })
}
