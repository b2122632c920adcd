//! The entries that a program gives its own tables, as a controller would write them.

use crate::format::{self, Format, Kind};
use crate::message::runtime::{
    Action, Entity, FieldMatch, TableAction, TableEntry, Update, WriteRequest, action, entity, field_match,
    table_action, update,
};
use crate::number::{int32, padded};
use hlir::entry::EntryAction;
use hlir::interface::{SourceKey, SourceTable};
use hlir::{Entry, Match, MatchKind, Program, Table};
use prost::Message;

/// Whether some bytes are a request to write something, as a file ending in `.bin` holds one.
pub fn is_request(bytes: &[u8]) -> bool {
    // The key of the field `updates`: no text of entries begins with it.
    bytes.first() == Some(&0x22) && WriteRequest::decode(bytes).is_ok_and(|request| !request.updates.is_empty())
}

/// The same request as text.
pub fn text_of(bytes: &[u8]) -> String {
    let request = WriteRequest::decode(bytes).unwrap_or_default();
    String::from_utf8_lossy(&format::write(Kind::WriteRequest, &request, Format::Text)).into_owned()
}

/// All of them, in the order of the tables and of the source.
pub fn entries(program: &Program) -> WriteRequest {
    let mut updates = Vec::new();
    for source in &program.interface.tables {
        let Some((_, table)) = program.tables.iter().find(|(_, table)| table.name == source.name) else { continue };
        for entry in table.entries.iter() {
            let entity = table_entry(program, source, table, entry);
            let entity = Some(Entity { entity: Some(entity::Entity::TableEntry(entity)) });
            updates.push(Update { r#type: update::Type::Insert.into(), entity });
        }
    }
    WriteRequest { updates, ..WriteRequest::default() }
}

fn table_entry(program: &Program, source: &SourceTable, table: &Table, entry: &Entry) -> TableEntry {
    let matches = source.keys.iter().zip(&entry.matches);
    TableEntry {
        table_id: source.id,
        r#match: matches.filter_map(|(key, matched)| field_match(key, matched)).collect(),
        action: table_action(program, table, &entry.action),
        priority: int32(entry.priority),
        is_const: source.entries_constant || entry.constant,
        ..TableEntry::default()
    }
}

/// Nothing for a key that matches every value: P4Runtime leaves it out.
fn field_match(key: &SourceKey, matched: &Match) -> Option<FieldMatch> {
    let bytes = |value| padded(value, key.width);
    let made = match matched {
        Match::Any => return None,
        Match::Exact(value) if key.kind == MatchKind::Optional => {
            field_match::FieldMatchType::Optional(field_match::Optional { value: bytes(value) })
        }
        Match::Exact(value) => field_match::FieldMatchType::Exact(field_match::Exact { value: bytes(value) }),
        Match::Lpm { value, prefix } => {
            let prefix_len = int32(*prefix);
            field_match::FieldMatchType::Lpm(field_match::Lpm { value: bytes(value), prefix_len })
        }
        Match::Ternary { value, mask } => {
            field_match::FieldMatchType::Ternary(field_match::Ternary { value: bytes(value), mask: bytes(mask) })
        }
        Match::Range { low, high } => {
            field_match::FieldMatchType::Range(field_match::Range { low: bytes(low), high: bytes(high) })
        }
    };
    Some(FieldMatch { field_id: key.id, field_match_type: Some(made) })
}

fn table_action(program: &Program, table: &Table, chosen: &EntryAction) -> Option<TableAction> {
    // A program refers to members and groups nowhere in its source.
    let EntryAction::Call(call) = chosen else { return None };
    let name = &table.actions.get(call.action as usize)?.name;
    let source = program.interface.actions.iter().find(|action| action.name == *name)?;
    let params = source
        .parameters
        .iter()
        .zip(&call.arguments)
        .map(|(parameter, value)| action::Param { param_id: parameter.id, value: padded(value, parameter.width) });
    let made = Action { action_id: source.id, params: params.collect() };
    Some(TableAction { r#type: Some(table_action::Type::Action(made)) })
}
