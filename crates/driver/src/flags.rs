//! Values of flags, checked where the command line is read: what is no such value is refused with the flag's name, what was expected, and the way out.

use std::path::{Path, PathBuf};
use stf::names::nearest;

/// A time in seconds: some, and no more than a year.
pub fn seconds(text: &str) -> Result<f64, String> {
    const YEAR: f64 = 365.0 * 86_400.0;
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number <= YEAR);
    number.ok_or_else(|| "expected a number of seconds above 0, such as 0.5 or 10".to_string())
}

/// A number of bytes, with a binary unit: `512M`, `4G`.
pub fn bytes(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 64 << 20;
    const MOST: u64 = 1 << 50;
    let (digits, shift) = match text.strip_suffix("iB").unwrap_or(text).to_ascii_uppercase().as_str() {
        upper if upper.ends_with('K') => (text.split(['k', 'K']).next(), 10),
        upper if upper.ends_with('M') => (text.split(['m', 'M']).next(), 20),
        upper if upper.ends_with('G') => (text.split(['g', 'G']).next(), 30),
        _ => (Some(text), 0),
    };
    let number = digits.and_then(|digits| digits.parse::<u64>().ok()).and_then(|number| number.checked_mul(1 << shift));
    let is_fit = |bytes: &u64| (LEAST..=MOST).contains(bytes);
    number.filter(is_fit).ok_or_else(|| "expected bytes, at least 64M, such as 512M or 4G".to_string())
}

/// `NAME` or `NAME=VALUE`. The preprocessor would take the next argument for a nameless one.
pub fn definition(text: &str) -> Result<String, String> {
    let name = text.split('=').next().unwrap_or_default();
    let name = name.split('(').next().unwrap_or_default();
    macro_name(name).map_err(|_| "expected NAME or NAME=VALUE, such as WITH_IPV6 or TABLE_SIZE=1024".to_string())?;
    Ok(text.to_string())
}

pub fn macro_name(text: &str) -> Result<String, String> {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = text.starts_with(is_first) && text.chars().all(|c| is_first(c) || c.is_ascii_digit());
    if is_name { Ok(text.to_string()) } else { Err("expected the name of a macro, such as WITH_IPV6".to_string()) }
}

/// A kind of warnings, with hyphens or underscores; or nothing, which means all kinds.
pub fn warning_kind(text: &str) -> Result<String, String> {
    let kind = text.replace('_', "-");
    if kind.is_empty() || p4::check::WARNINGS.contains(&kind.as_str()) {
        return Ok(kind);
    }
    let hint = nearest(&kind, p4::check::WARNINGS.into_iter()).map(|name| format!("; did you mean `{name}`?"));
    Err(format!("no warning has this kind{}\nkinds are {}", hint.unwrap_or_default(), p4::check::WARNINGS.join(", ")))
}

/// A pass of the optimizer; or nothing, as in `--passes ''`.
pub fn pass(text: &str) -> Result<String, String> {
    if text.is_empty() || opt::pass(text).is_some() {
        return Ok(text.to_string());
    }
    let known: Vec<&str> = opt::PIPELINE.iter().map(|pass| pass.name).collect();
    Err(format!("there is no pass `{text}`\nhint: passes are {}", known.join(", ")))
}

/// A directory that is there.
pub fn checkout(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("there is no such directory".to_string()) }
}

/// What is wrong with a directory in which files are looked for.
pub fn directory(path: &Path) -> Result<(), String> {
    if path.is_dir() {
        return Ok(());
    }
    let what = if path.exists() { "is a file" } else { "there is no such directory" };
    Err(format!("-I {}: {what}; expected a directory with files to include", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_their_flags_can_use() {
        assert_eq!((seconds("0.5"), seconds("1e3")), (Ok(0.5), Ok(1000.0)));
        for text in ["0", "-1", "nan", "inf", "1e300", "soon", ""] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert_eq!(
            (bytes("512M"), bytes("4G"), bytes("4GiB"), bytes("67108864")),
            (Ok(512 << 20), Ok(4 << 30), Ok(4 << 30), Ok(64 << 20))
        );
        for text in ["", "G", "1k", "-1G", "4T", "99999999999999999999G", "0.5G"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        for text in ["A", "_b2", "A=", "A=b c", "F(x)=x+1"] {
            assert_eq!(definition(text).as_deref(), Ok(text));
        }
        for text in ["", "=3", "3A", "a b", "a-b=1"] {
            assert!(definition(text).is_err(), "{text}");
        }
        assert!(macro_name("A").is_ok() && macro_name("A=1").is_err() && macro_name("").is_err());
        assert_eq!(warning_kind("uninitialized_use").as_deref(), Ok("uninitialized-use"));
        assert!(warning_kind("unusd").unwrap_err().contains("did you mean `unused`?"));
        assert!(
            pass("constants").is_ok()
                && pass("").is_ok()
                && pass("foo").unwrap_err().contains("passes are specialise, constants")
        );
    }
}
