//! Messages as files: text, JSON or bytes, by the ending of the file's name.

use crate::message::DESCRIPTORS;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, MapKey, MessageDescriptor, Value};
use std::path::Path;
use std::sync::LazyLock;

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(DESCRIPTORS).expect("the compiler of protocols wrote its own format"));

/// Which endings there are, for messages.
pub const ENDINGS: &str = ".txtpb or .txt (text), .json, .bin";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    Bytes,
}

/// The messages that files hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    P4Info,
    WriteRequest,
}

impl Format {
    /// What the ending of a file's name asks for.
    pub fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "txtpb" | "txt" => Some(Format::Text),
            "json" => Some(Format::Json),
            "bin" => Some(Format::Bytes),
            _ => None,
        }
    }
}

impl Kind {
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Kind::P4Info => ("p4/config/v1/p4info.proto", "p4.config.v1.P4Info"),
            Kind::WriteRequest => ("p4/v1/p4runtime.proto", "p4.v1.WriteRequest"),
        }
    }

    fn descriptor(self) -> MessageDescriptor {
        POOL.get_message_by_name(self.names().1).expect("the protocols declare both messages")
    }
}

/// The contents of a file with this message.
pub fn write(kind: Kind, message: &impl Message, format: Format) -> Vec<u8> {
    let bytes = message.encode_to_vec();
    if format == Format::Bytes {
        return bytes;
    }
    let message = DynamicMessage::decode(kind.descriptor(), bytes.as_slice()).expect("both have the same protocol");
    match format {
        Format::Bytes => bytes,
        Format::Json => {
            // Through a `Value`: its maps are sorted, so that equal messages give equal bytes.
            let value = serde_json::to_value(&message).expect("every message has a form in JSON");
            format!("{value:#}\n").into_bytes()
        }
        Format::Text => {
            let (file, name) = kind.names();
            let mut text = format!("# proto-file: {file}\n# proto-message: {name}\n\n");
            fields(&message, 0, &mut text);
            text.into_bytes()
        }
    }
}

/// A message from its text.
pub fn read(kind: Kind, text: &str) -> Result<DynamicMessage, String> {
    DynamicMessage::parse_text_format(kind.descriptor(), text).map_err(|error| error.to_string())
}

fn fields(message: &DynamicMessage, depth: usize, out: &mut String) {
    for (field, value) in message.fields() {
        match value {
            Value::List(values) => values.iter().for_each(|value| line(&field, field.name(), value, depth, out)),
            Value::Map(entries) => {
                let mut sorted: Vec<(&MapKey, &Value)> = entries.iter().collect();
                sorted.sort_by_key(|(key, _)| *key);
                sorted.iter().for_each(|(key, value)| map_entry(&field, key, value, depth, out));
            }
            Value::Bool(_)
            | Value::I32(_)
            | Value::I64(_)
            | Value::U32(_)
            | Value::U64(_)
            | Value::F32(_)
            | Value::F64(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::EnumNumber(_)
            | Value::Message(_) => line(&field, field.name(), value, depth, out),
        }
    }
}

fn map_entry(field: &FieldDescriptor, key: &MapKey, value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let key = match key {
        MapKey::String(text) => quoted(text.as_bytes()),
        MapKey::Bool(value) => value.to_string(),
        MapKey::I32(number) => number.to_string(),
        MapKey::I64(number) => number.to_string(),
        MapKey::U32(number) => number.to_string(),
        MapKey::U64(number) => number.to_string(),
    };
    out.push_str(&format!("{indent}{} {{\n{indent}  key: {key}\n", field.name()));
    let entry = field.kind();
    if let Some(field) = entry.as_message().map(|entry| entry.map_entry_value_field()) {
        line(&field, "value", value, depth + 1, out);
    }
    out.push_str(&format!("{indent}}}\n"));
}

fn line(field: &FieldDescriptor, name: &str, value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let plain = match value {
        Value::Message(inner) => {
            out.push_str(&format!("{indent}{name} {{\n"));
            fields(inner, depth + 1, out);
            out.push_str(&format!("{indent}}}\n"));
            return;
        }
        Value::EnumNumber(number) => {
            let kind = field.kind();
            let named = kind.as_enum().and_then(|kind| kind.get_value(*number));
            named.map_or_else(|| number.to_string(), |value| value.name().to_string())
        }
        Value::String(text) => quoted(text.as_bytes()),
        Value::Bytes(bytes) => quoted(bytes),
        Value::Bool(value) => value.to_string(),
        Value::I32(number) => number.to_string(),
        Value::I64(number) => number.to_string(),
        Value::U32(number) => number.to_string(),
        Value::U64(number) => number.to_string(),
        Value::F32(number) => number.to_string(),
        Value::F64(number) => number.to_string(),
        // Lists and maps hold neither.
        Value::List(_) | Value::Map(_) => return,
    };
    out.push_str(&format!("{indent}{name}: {plain}\n"));
}

/// Between quotes, with octal escapes for what is no printable ASCII.
fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'"' | b'\'' | b'\\' => {
                out.push('\\');
                out.push(char::from(*byte));
            }
            0x20..=0x7e => out.push(char::from(*byte)),
            other => out.push_str(&format!("\\{other:03o}")),
        }
    }
    out.push('"');
    out
}
