//! The program in a JSON file of our `p4c`: HLIR under a key of our own, beside the program as BMv2 reads it.

use serde::Deserialize;

/// Of the program in the file.
pub const KEY: &str = "bacus";

/// What is read of the file. The rest, which may be nested deeply, is passed over.
#[derive(Deserialize)]
struct File {
    bacus: Option<Embedded>,
}

#[derive(Deserialize)]
struct Embedded {
    hlir: String,
}

/// The program's HLIR; none in JSON of others.
pub fn hlir_of(json: &str) -> Option<String> {
    if !json.contains(KEY) {
        return None;
    }
    let file: File = serde_json::from_str(json).ok()?;
    Some(file.bacus?.hlir)
}

#[cfg(test)]
mod tests {
    use super::hlir_of;

    #[test]
    fn only_files_with_the_key_have_a_program() {
        assert_eq!(hlir_of(r#"{"bacus": {"hlir": "program p"}}"#).as_deref(), Some("program p"));
        assert_eq!(hlir_of(r#"{"program": "bacus.p4"}"#), None);
        assert_eq!(hlir_of("bacus"), None);
        let deep = "[".repeat(500) + &"]".repeat(500);
        let text = format!(r#"{{"actions": {deep}, "bacus": {{"hlir": "program p"}}}}"#);
        assert_eq!(hlir_of(&text).as_deref(), Some("program p"), "p4c's expressions are nested by hundreds of levels");
    }
}
