//! Annotations as P4Info has them: the text of free ones with its tokens one space apart, structured ones value by value.

use crate::message::config::{
    Documentation, Expression, ExpressionList, KeyValuePair, KeyValuePairList, StructuredAnnotation, expression,
    structured_annotation,
};
use hlir::Notes;
use hlir::notes::{Annotation, AnnotationBody, AnnotationValue};

/// Symbols of more than one character, the longer ones first.
const SYMBOLS: [&str; 18] =
    ["|+|", "|-|", "&&&", "...", "..", "<<", "&&", "||", "==", "!=", "<=", ">=", "++", "+=", "-=", "|=", "&=", "^="];

/// Annotations that P4Info has as fields of its own, on any object.
const SAID_ELSEWHERE: [&str; 4] = ["name", "id", "brief", "description"];

#[derive(Default)]
pub struct Annotations {
    pub plain: Vec<String>,
    pub structured: Vec<StructuredAnnotation>,
    pub doc: Option<Documentation>,
}

impl Annotations {
    /// Those of `notes` but the ones that have fields of their own.
    pub fn of(notes: &Notes, said_elsewhere: &[&str]) -> Annotations {
        let mut all = Annotations::default();
        for note in &notes.annotations {
            let name = note.name.as_str();
            if SAID_ELSEWHERE.contains(&name) || said_elsewhere.contains(&name) {
                continue;
            }
            match structured(note) {
                Some(structured) => all.structured.push(structured),
                None => all.plain.push(plain(note)),
            }
        }
        let text = |name: &str| {
            let note = notes.annotations.iter().find(|note| note.name == name)?;
            string_in(&note.body)
        };
        let (brief, description) = (text("brief"), text("description"));
        all.doc = (brief.is_some() || description.is_some())
            .then(|| Documentation { brief: brief.unwrap_or_default(), description: description.unwrap_or_default() });
        all
    }
}

/// The value of `key` in `@name(key = value, …)`, without quotes.
pub fn property(notes: &Notes, name: &str, key: &str) -> Option<String> {
    let note = notes.annotations.iter().rev().find(|note| note.name == name)?;
    match &note.body {
        AnnotationBody::Pairs(pairs) => {
            let (_, value) = pairs.iter().find(|(found, _)| found == key)?;
            Some(match value {
                AnnotationValue::Number(number) => number.to_string(),
                AnnotationValue::Text(text) => text.clone(),
                AnnotationValue::Bool(value) => value.to_string(),
            })
        }
        AnnotationBody::Text(text) => {
            let tokens = tokens(text);
            let at = tokens.windows(2).position(|pair| pair == [key, "="])?;
            let value = tokens.get(at + 2)?;
            Some(unquoted(value).unwrap_or_else(|| value.to_string()))
        }
        AnnotationBody::None | AnnotationBody::Values(_) => None,
    }
}

fn plain(note: &Annotation) -> String {
    match note.text().map(tokens) {
        None => format!("@{}", note.name),
        Some(tokens) if tokens.is_empty() => format!("@{}", note.name),
        Some(tokens) => format!("@{}({})", note.name, tokens.join(" ")),
    }
}

fn structured(note: &Annotation) -> Option<StructuredAnnotation> {
    let body = match &note.body {
        AnnotationBody::None | AnnotationBody::Text(_) => return None,
        AnnotationBody::Values(values) => structured_annotation::Body::ExpressionList(ExpressionList {
            expressions: values.iter().map(expression).collect(),
        }),
        AnnotationBody::Pairs(pairs) => {
            let pair = |(key, value): &(String, AnnotationValue)| KeyValuePair {
                key: key.clone(),
                value: Some(expression(value)),
            };
            structured_annotation::Body::KvPairList(KeyValuePairList { kv_pairs: pairs.iter().map(pair).collect() })
        }
    };
    // An empty list is no list.
    let is_empty = matches!(&note.body, AnnotationBody::Values(values) if values.is_empty());
    Some(StructuredAnnotation {
        name: note.name.clone(),
        body: (!is_empty).then_some(body),
        ..StructuredAnnotation::default()
    })
}

fn expression(value: &AnnotationValue) -> Expression {
    let value = match value {
        AnnotationValue::Bool(value) => expression::Value::BoolValue(*value),
        AnnotationValue::Text(text) => expression::Value::StringValue(text.clone()),
        AnnotationValue::Number(number) => match i64::try_from(number) {
            Ok(number) => expression::Value::Int64Value(number),
            // The message has no room for larger ones.
            Err(_) => expression::Value::StringValue(number.to_string()),
        },
    };
    Expression { value: Some(value) }
}

/// The string that an annotation holds, also where it is put together of several.
fn string_in(body: &AnnotationBody) -> Option<String> {
    match body {
        AnnotationBody::Text(text) => {
            let parts: Vec<&str> = tokens(text).into_iter().filter(|token| *token != "++").collect();
            let texts: Option<Vec<String>> = parts.iter().map(|part| unquoted(part)).collect();
            texts.filter(|texts| !texts.is_empty()).map(|texts| texts.concat())
        }
        AnnotationBody::Values(values) => match &values[..] {
            [AnnotationValue::Text(text)] => Some(text.clone()),
            _ => None,
        },
        AnnotationBody::None | AnnotationBody::Pairs(_) => None,
    }
}

/// The text of a quoted string.
fn unquoted(token: &str) -> Option<String> {
    let inner = token.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// The tokens of a free annotation's text. Comments are none.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, behind)| behind).trim_start();
            continue;
        } else if rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, behind)| behind).trim_start();
            continue;
        } else if first == '"' {
            string_length(rest)
        } else if is_word(first) {
            rest.find(|letter| !is_word(letter)).unwrap_or(rest.len())
        } else {
            SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)).map_or(first.len_utf8(), |symbol| symbol.len())
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Up to the quote that ends it, or all of the text.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_cut_as_the_language_does() {
        assert_eq!(
            tokens("a, \"b c\\\" d\" /* x */ : : 8w0xff.e&&&1 // end"),
            ["a", ",", "\"b c\\\" d\"", ":", ":", "8w0xff", ".", "e", "&&&", "1"]
        );
    }

    #[test]
    fn a_string_may_have_either_spelling_and_parts() {
        let text = |text: &str| string_in(&AnnotationBody::Text(text.to_string()));
        assert_eq!(text("\"one\" ++ \" two\"").as_deref(), Some("one two"));
        assert_eq!(text(" \"one\" ").as_deref(), Some("one"));
        let values = AnnotationBody::Values(vec![AnnotationValue::Text("one".to_string())]);
        assert_eq!(string_in(&values).as_deref(), Some("one"));
        assert_eq!((text("1"), text(""), string_in(&AnnotationBody::None)), (None, None, None));
    }

    #[test]
    fn properties_are_found_in_both_forms() {
        let text = AnnotationBody::Text("name = \"router\", version=\"1\"".to_string());
        let pairs = AnnotationBody::Pairs(vec![("size".to_string(), AnnotationValue::Number(10.into()))]);
        let annotations = vec![
            Annotation { name: "pkginfo".to_string(), body: text },
            Annotation { name: "platform_property".to_string(), body: pairs },
        ];
        let notes = Notes { annotations, ..Notes::default() };
        assert_eq!(property(&notes, "pkginfo", "version").as_deref(), Some("1"));
        assert_eq!(property(&notes, "pkginfo", "url"), None);
        assert_eq!(property(&notes, "platform_property", "size").as_deref(), Some("10"));
    }
}
