//! Values in the encodings that a client may ask for: scalars, JSON, and JSON by RFC 7951.

use crate::message::{Encoding, TypedValue, typed_value};
use crate::tree::{ID, Item, ROOT, Value};
use serde_json::{Map, Value as Json};
use tonic::Status;

const MODEL: &str = "openconfig-interfaces";
const P4RT_MODEL: &str = "openconfig-p4rt";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The field of a value that has its type.
    Scalar,
    Json,
    /// By RFC 7951: names of models precede those of nodes, and numbers of 64 bits are strings.
    Ietf,
}

impl Form {
    /// # Errors
    /// `UNIMPLEMENTED`: other encodings.
    pub fn parse(encoding: i32) -> Result<Form, Status> {
        match Encoding::try_from(encoding) {
            Ok(Encoding::Proto) => Ok(Form::Scalar),
            Ok(Encoding::Json) => Ok(Form::Json),
            Ok(Encoding::JsonIetf) => Ok(Form::Ietf),
            Ok(Encoding::Bytes | Encoding::Ascii) | Err(_) => {
                Err(Status::unimplemented("the encoding is not supported: PROTO, JSON and JSON_IETF are"))
            }
        }
    }
}

pub fn scalar(value: Value) -> TypedValue {
    let value = match value {
        Value::Text(text) => typed_value::Value::StringVal(text),
        Value::Truth(truth) => typed_value::Value::BoolVal(truth),
        Value::Number(number) => typed_value::Value::UintVal(number.into()),
        Value::Long(number) => typed_value::Value::UintVal(number),
    };
    TypedValue { value: Some(value) }
}

fn json(value: Value, form: Form) -> Json {
    match value {
        Value::Text(text) => Json::String(text),
        Value::Truth(truth) => Json::Bool(truth),
        Value::Number(number) => Json::from(number),
        Value::Long(number) if form == Form::Ietf => Json::String(number.to_string()),
        Value::Long(number) => Json::from(number),
    }
}

fn encode(json: &Json, form: Form) -> TypedValue {
    let bytes = json.to_string().into_bytes();
    let value = match form {
        Form::Ietf => typed_value::Value::JsonIetfVal(bytes),
        Form::Json | Form::Scalar => typed_value::Value::JsonVal(bytes),
    };
    TypedValue { value: Some(value) }
}

/// The value of a leaf.
pub fn typed(value: Value, form: Form) -> TypedValue {
    match form {
        Form::Scalar => scalar(value),
        Form::Json | Form::Ietf => encode(&json(value, form), form),
    }
}

/// The name of a node, within a node of its own model or at the top of a value.
fn qualified(name: &str, is_top: bool, form: Form) -> String {
    match form {
        Form::Ietf if ID.last() == Some(&name) => format!("{P4RT_MODEL}:{name}"),
        Form::Ietf if is_top => format!("{MODEL}:{name}"),
        Form::Ietf | Form::Json | Form::Scalar => name.to_string(),
    }
}

/// What is below one interface, from a level of its path on.
fn object(items: &[Item<'_>], skipped: usize, is_top: bool, form: Form) -> Json {
    let mut root = Map::new();
    for item in items {
        let path = &item.leaf.path[skipped..];
        let Some((last, containers)) = path.split_last() else { return json(item.value(), form) };
        let mut map = &mut root;
        for (level, name) in containers.iter().enumerate() {
            let name = qualified(name, is_top && level == 0, form);
            let child = map.entry(name).or_insert_with(|| Json::Object(Map::new()));
            map = child.as_object_mut().expect("a container has no value of its own");
        }
        map.insert(qualified(last, is_top && containers.is_empty(), form), json(item.value(), form));
    }
    Json::Object(root)
}

/// A node with all below it that is selected. The items are of one interface, if the node is.
pub fn node(items: &[Item<'_>], depth: usize, form: Form) -> TypedValue {
    if let Some(skipped) = depth.checked_sub(ROOT.len()) {
        return encode(&object(items, skipped, true, form), form);
    }
    let of_interface = items.chunk_by(|one, next| one.interface.name == next.interface.name);
    let list = Json::Array(of_interface.map(|items| object(items, 0, false, form)).collect());
    let mut value = list;
    for level in (depth..ROOT.len()).rev() {
        value = Json::Object(Map::from_iter([(qualified(ROOT[level], level == depth, form), value)]));
    }
    encode(&value, form)
}
