//! Finds what the names of a controller's file or command mean in a program: the one place that resolves them.
//!
//! A table, action or object is named in full or by the last parts of its name, if no other ends in them: parts are what dots separate, as in
//! BMv2's CLI. STF files, as in p4c's runner, may also begin within a part. A key is named in full, by what follows a dot, or by its header for
//! `isValid()`; `a$0.b` means `a[0].b`.

use super::Mistake;
use super::command::Word;

/// The one of `names` that `word` means: that name itself, or the only one whose last parts it is. `what` is what they are names of.
pub fn find<'a>(word: &Word, what: &str, names: impl Iterator<Item = &'a str> + Clone) -> Result<usize, Mistake> {
    by_parts(word, what, names.clone())?.ok_or_else(|| unknown(word, what, names))
}

/// As [`find`]; if no name has such last parts, the only one that ends so.
pub fn find_by_end<'a>(
    word: &Word,
    what: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, Mistake> {
    let found = match by_parts(word, what, names.clone())? {
        None => only(word, what, names.clone(), |name, wanted| name.ends_with(wanted))?,
        found => found,
    };
    found.ok_or_else(|| unknown(word, what, names))
}

/// The whole name, or the last parts of one alone.
fn by_parts<'a>(
    word: &Word,
    what: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<Option<usize>, Mistake> {
    let wanted = without_dot(&word.text);
    if let Some(index) = names.clone().position(|name| without_dot(name) == wanted) {
        return Ok(Some(index));
    }
    only(word, what, names, |name, wanted| name.strip_suffix(wanted).is_some_and(|before| before.ends_with('.')))
}

/// The only one of `names` that `is_meant`; a mistake if there are several.
fn only<'a>(
    word: &Word,
    what: &str,
    names: impl Iterator<Item = &'a str>,
    is_meant: impl Fn(&str, &str) -> bool,
) -> Result<Option<usize>, Mistake> {
    let wanted = without_dot(&word.text);
    let meant: Vec<(usize, &str)> = names.enumerate().filter(|(_, name)| is_meant(name, wanted)).collect();
    match meant.as_slice() {
        [] => Ok(None),
        [(index, _)] => Ok(Some(*index)),
        [(_, first), (_, second), ..] => {
            let message = format!("`{wanted}` may be {what} `{first}` or `{second}`: write more of the name");
            Err(Mistake::new(word.place, message))
        }
    }
}

/// An absolute name begins with a dot.
fn without_dot(name: &str) -> &str {
    name.strip_prefix('.').unwrap_or(name)
}

/// Nothing is called so; the hint is the name most like it, or all names if they are few.
pub fn unknown<'a>(word: &Word, what: &str, names: impl Iterator<Item = &'a str>) -> Mistake {
    let names: Vec<&str> = names.collect();
    let quoted = || names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let hint = match (nearest(&word.text, names.iter().copied()), names.len()) {
        (Some(name), _) => format!("; did you mean `{name}`?"),
        (None, 1..=6) => format!("; there is {}", quoted()),
        (None, _) => String::new(),
    };
    Mistake::new(word.place, format!("there is no {what} `{}`{hint}", word.text))
}

/// The key that `word` means.
pub fn find_key(word: &Word, names: &[&str]) -> Result<usize, Mistake> {
    if let Some(index) = names.iter().position(|name| *name == word.text) {
        return Ok(index);
    }
    let canonical: Vec<String> = names.iter().map(|name| name.replace(".isValid()", ".$valid$")).collect();
    for text in spellings(&word.text) {
        if let Some(index) = canonical.iter().position(|name| *name == text) {
            return Ok(index);
        }
    }
    for text in spellings(&word.text) {
        let ending = format!(".{text}");
        if let Some(index) = canonical.iter().rposition(|name| name.ends_with(&ending)) {
            return Ok(index);
        }
    }
    Err(unknown(word, "key", names.iter().copied()))
}

/// The readings of a key's name, the most literal first.
fn spellings(text: &str) -> Vec<String> {
    let mut spellings = vec![text.to_string(), format!("{text}$"), format!("{text}.$valid$")];
    for ending in [".valid", ".$valid", ".isValid()"] {
        spellings.extend(text.strip_suffix(ending).map(|header| format!("{header}.$valid$")));
    }
    let indexed = with_brackets(text);
    spellings.extend((indexed != text).then_some(indexed));
    spellings
}

/// `a$0.b` as `a[0].b`.
fn with_brackets(text: &str) -> String {
    let parts = text.split('.').map(|part| match part.rsplit_once('$') {
        Some((name, index)) if !name.is_empty() && !index.is_empty() && index.chars().all(|c| c.is_ascii_digit()) => {
            format!("{name}[{index}]")
        }
        _ => part.to_string(),
    });
    parts.collect::<Vec<_>>().join(".")
}

/// The name most like `text`, unless all are quite different.
pub fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let last = |name: &'a str| name.rsplit('.').next().unwrap_or(name);
    let with_distance = names.map(|name| (distance(text, name).min(distance(text, last(name))), name));
    let (distance, name) = with_distance.min_by_key(|(distance, _)| *distance)?;
    (distance <= text.chars().count().div_ceil(3)).then_some(name)
}

/// How many characters must be inserted, deleted or changed to make one of the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, character) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in right.iter().enumerate() {
            let change = diagonal + usize::from(character != *other);
            diagonal = row[column + 1];
            row[column + 1] = change.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::super::Place;
    use super::*;

    fn word(text: &str) -> Word {
        Word { text: text.to_string(), place: Place { line: 3, column: 5 } }
    }

    #[test]
    fn a_name_may_be_written_by_its_end() {
        let tables = ["ingress.ipv4", "ingress.my_ipv4", "egress.rewrite"];
        assert_eq!(find(&word("rewrite"), "table", tables.into_iter()), Ok(2));
        assert_eq!(find(&word("ingress.ipv4"), "table", tables.into_iter()), Ok(0));
        assert_eq!(find(&word(".ingress.ipv4"), "table", tables.into_iter()), Ok(0));
        let ambiguous = find_by_end(&word("pv4"), "table", tables.into_iter()).expect_err("two tables end so");
        let message = "3:5: `pv4` may be table `ingress.ipv4` or `ingress.my_ipv4`: write more of the name";
        assert_eq!(ambiguous.to_string(), message);
        let unknown = find(&word("rewirte"), "table", tables.into_iter()).expect_err("it is misspelt");
        assert_eq!(unknown.to_string(), "3:5: there is no table `rewirte`; did you mean `egress.rewrite`?");
        let unknown = find(&word("xyz"), "table", tables.into_iter()).expect_err("nothing is like it");
        let message = "3:5: there is no table `xyz`; there is `ingress.ipv4`, `ingress.my_ipv4`, `egress.rewrite`";
        assert_eq!(unknown.to_string(), message);
    }

    #[test]
    fn whole_parts_come_before_other_ends() {
        let tables = ["ingress.t", "ingress.at", "egress.inner.at", "at.last"];
        for find in [find, find_by_end] {
            assert_eq!(find(&word("t"), "table", tables.into_iter()), Ok(0));
            assert_eq!(find(&word("inner.at"), "table", tables.into_iter()), Ok(2));
            let ambiguous = find(&word("at"), "table", tables.into_iter()).expect_err("two tables have this last part");
            let message = "3:5: `at` may be table `ingress.at` or `egress.inner.at`: write more of the name";
            assert_eq!(ambiguous.to_string(), message);
        }
        assert!(find(&word("ner.at"), "table", tables.into_iter()).is_err(), "it begins within a part");
        assert_eq!(find_by_end(&word("ner.at"), "table", tables.into_iter()), Ok(2));
    }

    #[test]
    fn keys_have_many_spellings() {
        let keys = ["hdr.ipv4.dst", "hdr.ipv4.$valid$", "hdrs.extra[0].h", "hdr.data.isValid()", "meta.dst"];
        let find = |text| find_key(&word(text), &keys).expect("the key is found");
        assert_eq!(find("hdr.ipv4.dst"), 0);
        assert_eq!(find("dst"), 4);
        assert_eq!(find("ipv4"), 1);
        assert_eq!(find("hdr.ipv4.valid"), 1);
        assert_eq!(find("extra$0.h"), 2);
        assert_eq!(find("data"), 3);
        assert_eq!(find("hdr.data.$valid$"), 3);
        assert!(find_key(&word("src"), &keys).is_err());
    }
}
