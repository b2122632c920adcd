//! Files as URIs.

use lsp_types::Uri;
use serde_json::Value;
use std::path::PathBuf;

/// The file that a URI names, if it names one.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::new();
    let mut left = path.bytes();
    while let Some(byte) = left.next() {
        if byte == b'%' {
            let digits = [left.next()?, left.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

pub fn of(file: &str) -> Option<Uri> {
    let absolute = std::path::absolute(file).ok()?;
    let mut text = String::from("file://");
    for byte in absolute.to_str()?.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text.parse().ok()
}

/// Writes the URIs of an answer as the editor does, where it has the file open: of several spellings of one file, it may know its own alone. `opened` is the
/// editor's URI of a file.
pub fn respell<'u>(value: &mut Value, opened: &impl Fn(PathBuf) -> Option<&'u Uri>) {
    let own = |text: &str| opened(path(&text.parse().ok()?)?).map(|uri| uri.as_str().to_string());
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| respell(item, opened)),
        Value::Object(fields) => {
            if let Some(Value::Object(changes)) = fields.get_mut("changes") {
                *changes =
                    std::mem::take(changes).into_iter().map(|(uri, edits)| (own(&uri).unwrap_or(uri), edits)).collect();
            }
            if let Some(Value::String(uri)) = fields.get_mut("uri")
                && let Some(own) = own(uri)
            {
                *uri = own;
            }
            fields.values_mut().for_each(|inner| respell(inner, opened));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_blanks_and_other_letters_are_named_and_found() {
        let uri = of("/a b/é+.p4").expect("an absolute path has a URI");
        assert_eq!(uri.as_str(), "file:///a%20b/%C3%A9%2B.p4");
        assert_eq!(path(&uri), Some(PathBuf::from("/a b/é+.p4")));
        assert_eq!(path(&"untitled:x".parse().expect("a URI")), None);
    }
}
