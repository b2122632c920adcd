//! JSON of the switch, or of a file: programs, whose expressions are nested by hundreds of levels.

use hlir::json_depth;
use serde::Deserialize as _;
use serde_json::Value;

/// # Errors
/// It is no JSON, or nested deeper than any program is.
pub fn parse(text: &str) -> Result<Value, String> {
    if json_depth::is_too_deep(text) {
        return Err(format!("the JSON is nested deeper than {} levels", json_depth::DEEPEST));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| error.to_string())
}
