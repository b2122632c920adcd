//! The program in a JSON file of our `p4c`: HLIR under a key of our own, beside the program as BMv2 reads it.

/// Of the program in the file.
pub const KEY: &str = "bacus";

/// The program's HLIR; none in JSON of others.
pub fn hlir_of(json: &str) -> Option<String> {
    if !json.contains(KEY) {
        return None;
    }
    let json: serde_json::Value = serde_json::from_str(json).ok()?;
    Some(json[KEY]["hlir"].as_str()?.to_string())
}

#[cfg(test)]
mod tests {
    use super::hlir_of;

    #[test]
    fn only_files_with_the_key_have_a_program() {
        assert_eq!(hlir_of(r#"{"bacus": {"hlir": "program p"}}"#).as_deref(), Some("program p"));
        assert_eq!(hlir_of(r#"{"program": "bacus.p4"}"#), None);
        assert_eq!(hlir_of("bacus"), None);
    }
}
