//! Compares messages of P4Runtime field by field, the order of repeated fields included. Comments and layout do not count.

use control::format::{self, Kind};
use prost_reflect::{DynamicMessage, ReflectMessage as _, Value};

/// The first difference between two texts, by the path that leads to it.
pub fn difference(kind: Kind, actual: &str, expected: &str) -> Result<Option<String>, String> {
    let actual = format::read(kind, actual).map_err(|error| format!("what was written cannot be read: {error}"))?;
    let expected = format::read(kind, expected).map_err(|error| format!("the reference cannot be read: {error}"))?;
    Ok(in_messages("", &actual, &expected))
}

fn in_messages(path: &str, actual: &DynamicMessage, expected: &DynamicMessage) -> Option<String> {
    let named =
        || expected.get_field_by_name("name").filter(|_| expected.descriptor().get_field_by_name("name").is_some());
    let preamble =
        expected.descriptor().get_field_by_name("preamble").map(|field| expected.get_field(&field).into_owned());
    let name = match preamble {
        Some(Value::Message(preamble)) => preamble.get_field_by_name("name").map(|name| name.into_owned()),
        _ => named().map(|name| name.into_owned()),
    };
    let path = match name {
        Some(Value::String(name)) if !name.is_empty() => format!("{path}[{name}]"),
        _ => path.to_string(),
    };
    for field in expected.descriptor().fields() {
        let is_there = |message: &DynamicMessage| message.has_field(&field);
        let here = if path.is_empty() { field.name().to_string() } else { format!("{path}.{}", field.name()) };
        let (left, right) = (actual.get_field(&field), expected.get_field(&field));
        match (is_there(actual), is_there(expected)) {
            (false, false) => {}
            (true, false) => return Some(format!("{here}: {} where nothing was expected", shown(&left))),
            (false, true) => return Some(format!("{here}: nothing where {} was expected", shown(&right))),
            // p4c was given one on its command line, whatever the program's own package is.
            (true, true) if here == "pkg_info.arch" && !is_known(&left) => {}
            (true, true) => {
                if let Some(found) = in_values(&here, &left, &right) {
                    return Some(found);
                }
            }
        }
    }
    None
}

fn in_values(path: &str, actual: &Value, expected: &Value) -> Option<String> {
    match (actual, expected) {
        (Value::Message(actual), Value::Message(expected)) => in_messages(path, actual, expected),
        (Value::List(actual), Value::List(expected)) => {
            let pairs = actual.iter().zip(expected).enumerate();
            let differs = pairs.map(|(at, (one, other))| in_values(&format!("{path}[{at}]"), one, other));
            differs.flatten().next().or_else(|| {
                let lengths = format!("{path}: {} elements where {} were expected", actual.len(), expected.len());
                (actual.len() != expected.len()).then_some(lengths)
            })
        }
        (Value::Map(actual), Value::Map(expected)) => {
            let mut keys: Vec<_> = actual.keys().chain(expected.keys()).collect();
            keys.sort();
            keys.into_iter().find_map(|key| match (actual.get(key), expected.get(key)) {
                (Some(one), Some(other)) => in_values(&format!("{path}[{key:?}]"), one, other),
                (Some(_), None) => Some(format!("{path}[{key:?}] where nothing was expected")),
                (None, _) => Some(format!("{path}[{key:?}] is missing")),
            })
        }
        _ => (actual != expected).then(|| format!("{path}: {} where {} was expected", shown(actual), shown(expected))),
    }
}

/// Whether bacus knows the architecture by its package.
fn is_known(architecture: &Value) -> bool {
    architecture.as_str().is_some_and(|name| ["v1model", "psa", "pna"].contains(&name))
}

/// A value on a line, cut where it is long.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
