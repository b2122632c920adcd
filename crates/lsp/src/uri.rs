//! Files as URIs.

use lsp_types::Uri;
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
