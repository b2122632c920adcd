//! Annotations as tokens, and how they are printed: `@name`, `@name(text)`, `@name"odd text"`, `@name[1, "two", true]`, `@name[key = 1]`.

use super::lex::{Lexer, TokenKind};
use super::words;
use crate::notes::{Annotation, AnnotationBody, AnnotationValue};
use num_bigint::BigInt;

/// Digits of a number in an annotation.
const LONGEST_NUMBER: usize = 100;

/// The value before it is known whether it is alone or follows a key.
type Part = (Option<String>, AnnotationValue);

impl Lexer<'_, '_> {
    pub(super) fn annotation(&mut self) {
        self.at += 1;
        let name = if self.rest().starts_with('`') { self.until_quote('`') } else { self.annotation_word() };
        let Some(name) = name else {
            return self.error("`@` is followed by no name", "an annotation is written @name or @name(body)");
        };
        let body = match self.rest().bytes().next() {
            Some(b'(') => {
                let Some(end) = words::body_end(&self.rest()[1..]) else {
                    self.at += 1;
                    return self.error("the annotation is not closed on its line", "write an odd body as @name\"…\"");
                };
                let text = self.rest()[1..1 + end].to_string();
                self.at += end + 2;
                AnnotationBody::Text(text)
            }
            Some(b'"') => self.until_quote('"').map_or(AnnotationBody::None, AnnotationBody::Text),
            Some(b'[') => {
                let Some(body) = self.structured() else {
                    let hint = "it is a list of numbers, strings and booleans, or of `key = value`, on one line";
                    return self.error("the body of this annotation cannot be read", hint);
                };
                body
            }
            Some(_) | None => AnnotationBody::None,
        };
        self.push(TokenKind::Annotation(Annotation { name, body }));
    }

    /// A name without an index: a bracket begins the body.
    fn annotation_word(&mut self) -> Option<String> {
        let plain = &self.rest()[..words::plain_length(self.rest())];
        let word = plain.split('[').next().unwrap_or("").to_string();
        self.at += word.len();
        (!word.is_empty()).then_some(word)
    }

    /// The list between brackets.
    fn structured(&mut self) -> Option<AnnotationBody> {
        self.at += 1;
        let mut parts: Vec<Part> = Vec::new();
        loop {
            self.blanks();
            if self.eat(']') {
                break;
            }
            let part = self.part()?;
            parts.push(part);
            self.blanks();
            if !self.eat(',') && !self.rest().starts_with(']') {
                return None;
            }
        }
        if parts.iter().all(|(key, _)| key.is_none()) {
            return Some(AnnotationBody::Values(parts.into_iter().map(|(_, value)| value).collect()));
        }
        let pairs: Option<Vec<_>> = parts.into_iter().map(|(key, value)| Some((key?, value))).collect();
        pairs.map(AnnotationBody::Pairs)
    }

    fn part(&mut self) -> Option<Part> {
        if let Some(value) = self.value() {
            return Some((None, value));
        }
        let key = if self.rest().starts_with('`') {
            self.until_quote('`')?
        } else {
            Some(self.word()).filter(|word| !word.is_empty())?
        };
        self.blanks();
        if !self.eat('=') {
            return None;
        }
        self.blanks();
        Some((Some(key), self.value()?))
    }

    /// A value, if one is here; otherwise nothing is taken.
    fn value(&mut self) -> Option<AnnotationValue> {
        if self.rest().starts_with('"') {
            return self.until_quote('"').map(AnnotationValue::Text);
        }
        let start = self.at;
        let sign = self.eat('-');
        let word = self.word();
        let value = match word.as_str() {
            "true" | "false" if !sign => Some(AnnotationValue::Bool(word == "true")),
            number if number.len() <= LONGEST_NUMBER && number.bytes().all(|byte| byte.is_ascii_digit()) => {
                let number = number.parse::<BigInt>().ok();
                number.map(|number| AnnotationValue::Number(if sign { -number } else { number }))
            }
            _ => None,
        };
        if value.is_none() {
            self.at = start;
        }
        value
    }

    fn word(&mut self) -> String {
        let length = self.rest().bytes().take_while(|byte| words::continues_name(*byte)).count();
        self.at += length;
        self.text[self.at - length..self.at].to_string()
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    fn eat(&mut self, symbol: char) -> bool {
        let found = self.rest().starts_with(symbol);
        self.at += usize::from(found);
        found
    }
}

pub(super) fn print(annotation: &Annotation) -> String {
    let plain = words::written(&annotation.name);
    let name = if plain.contains('[') && !plain.starts_with('`') { words::between(&plain, '`') } else { plain };
    match &annotation.body {
        AnnotationBody::None => format!("@{name}"),
        AnnotationBody::Text(body) if words::body_end(&format!("{body})")) == Some(body.len()) => {
            format!("@{name}({body})")
        }
        AnnotationBody::Text(body) => format!("@{name}{}", words::between(body, '"')),
        AnnotationBody::Values(values) => {
            let values: Vec<String> = values.iter().map(print_value).collect();
            format!("@{name}[{}]", values.join(", "))
        }
        AnnotationBody::Pairs(pairs) => {
            let pairs: Vec<String> = pairs.iter().map(|(key, value)| print_pair(key, value)).collect();
            format!("@{name}[{}]", pairs.join(", "))
        }
    }
}

fn print_value(value: &AnnotationValue) -> String {
    match value {
        AnnotationValue::Number(number) => number.to_string(),
        AnnotationValue::Text(text) => words::between(text, '"'),
        AnnotationValue::Bool(value) => value.to_string(),
    }
}

fn print_pair(key: &str, value: &AnnotationValue) -> String {
    let is_word = key.bytes().all(words::continues_name) && !key.starts_with(|first: char| first.is_ascii_digit());
    let is_plain = is_word && !matches!(key, "" | "true" | "false");
    let key = if is_plain { key.to_string() } else { words::between(key, '`') };
    format!("{key} = {}", print_value(value))
}
