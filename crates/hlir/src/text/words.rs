//! The words and symbols of the text, shared by the printer and the parser so that neither can know one that the other does not.
//!
//! A name is written as it is if it looks like a name and is not reserved, else between backquotes. Quotes are a matter of the lexer alone:
//! name resolution sees the characters, and that the name was quoted and so is no keyword.

use crate::interface::{NamedKind, ObjectKind};
use crate::plan::{AccessMode, Descriptor, Hint, Placement, Structure};
use crate::structure::TRAITS;
use crate::{Algorithm, Binary, Bytes, CounterUnit, Intrinsic, MatchKind, MeterUnit, Scope};

pub(crate) type Words<T> = &'static [(T, &'static str)];

/// Keywords with which something at the outermost level of a text begins, each on a line of its own.
pub(crate) const ITEMS: &[&str] = &[
    "program",
    "source",
    "header",
    "variable",
    "crc",
    "digest",
    "register",
    "counter",
    "meter",
    "value_set",
    "profile",
    "extern",
    "table",
    "join",
    "assume",
    "lookups",
    "parser",
    "entry",
    "node",
    "errors",
    "budget",
    "interface",
    "plan",
];

/// Words that mean something where a name could be.
const RESERVED: &[&str] =
    &["_", "true", "false", "action", "hit", "miss", "exit", "else", "otherwise", "when", "payload"];

#[rustfmt::skip]
pub(crate) const INTRINSICS: Words<Intrinsic> = &[
    (Intrinsic::IngressPort, "in.port"),
    (Intrinsic::PacketLength, "in.length"),
    (Intrinsic::Clock, "in.clock"),
    (Intrinsic::CopyPort, "copy.port"),
    (Intrinsic::CopyInstance, "copy.instance"),
    (Intrinsic::CopyTruncation, "copy.truncation"),
];

/// An operator, its symbol and how tightly it binds. As in P4, `&`, `^` and `|` bind tighter than comparisons.
#[rustfmt::skip]
pub(crate) const BINARIES: &[(Binary, &str, u8)] = &[
    (Binary::LogicalOr, "||", 1),
    (Binary::LogicalAnd, "&&", 2),
    (Binary::Equal, "==", COMPARISON),
    (Binary::NotEqual, "!=", COMPARISON),
    (Binary::Less, "<", COMPARISON),
    (Binary::LessEqual, "<=", COMPARISON),
    (Binary::Greater, ">", COMPARISON),
    (Binary::GreaterEqual, ">=", COMPARISON),
    (Binary::LessSigned, "<s", COMPARISON),
    (Binary::LessEqualSigned, "<=s", COMPARISON),
    (Binary::GreaterSigned, ">s", COMPARISON),
    (Binary::GreaterEqualSigned, ">=s", COMPARISON),
    (Binary::Or, "|", 4),
    (Binary::Xor, "^", 5),
    (Binary::And, "&", 6),
    (Binary::ShiftLeft, "<<", 7),
    (Binary::ShiftRight, ">>", 7),
    (Binary::ShiftRightSigned, ">>s", 7),
    (Binary::Add, "+", 8),
    (Binary::Subtract, "-", 8),
    (Binary::AddSaturating, "|+|", 8),
    (Binary::SubtractSaturating, "|-|", 8),
    (Binary::AddSaturatingSigned, "|+|s", 8),
    (Binary::SubtractSaturatingSigned, "|-|s", 8),
    (Binary::Concat, "++", 8),
    (Binary::Multiply, "*", 9),
    (Binary::Divide, "/", 9),
    (Binary::Remainder, "%", 9),
];

/// The level of comparisons, which do not associate.
pub(crate) const COMPARISON: u8 = 3;
/// The level of `c ? a : b`, of unary operators, and of what needs no parentheses anywhere.
pub(crate) const CHOICE: u8 = 0;
pub(crate) const UNARY: u8 = 10;
pub(crate) const ATOM: u8 = 11;

/// Longer ones first: the lexer takes the first that fits. Those ending in `s` count only before something that cannot continue a name.
pub(crate) const SYMBOLS: &[&str] = &[
    "|+|s", "|-|s", "|+|", "|-|", "&&&", ">>s", "<=s", ">=s", "->", "=>", "==", "!=", "<=", ">=", "<s", ">s", "<<",
    ">>", "&&", "||", "++", "..", "{", "}", "(", ")", "[", "]", ",", ";", ":", "=", "+", "-", "*", "/", "%", "&", "|",
    "^", "~", "!", "<", ">", "?",
];

#[rustfmt::skip]
pub(crate) const ALGORITHMS: Words<Algorithm> = &[
    (Algorithm::Crc32, "crc32"),
    (Algorithm::Crc16, "crc16"),
    (Algorithm::Identity, "identity"),
    (Algorithm::InternetChecksum, "internet_checksum"),
    (Algorithm::Xor16, "xor16"),
    (Algorithm::Target, "target"),
];

/// Algorithms that a CRC's name follows.
pub(crate) const CRC32_CUSTOM: &str = "crc32_custom";
pub(crate) const CRC16_CUSTOM: &str = "crc16_custom";

#[rustfmt::skip]
pub(crate) const MATCH_KINDS: Words<MatchKind> = &[
    (MatchKind::Exact, "exact"),
    (MatchKind::Lpm, "lpm"),
    (MatchKind::Ternary, "ternary"),
    (MatchKind::Range, "range"),
    (MatchKind::Optional, "optional"),
];

#[rustfmt::skip]
pub(crate) const COUNTER_UNITS: Words<CounterUnit> = &[
    (CounterUnit::Packets, "packets"),
    (CounterUnit::Bytes, "bytes"),
    (CounterUnit::Both, "packets_and_bytes"),
];

pub(crate) const METER_UNITS: Words<MeterUnit> = &[(MeterUnit::Packets, "packets"), (MeterUnit::Bytes, "bytes")];

/// An action that may be used everywhere has no word.
pub(crate) const SCOPES: Words<Scope> = &[(Scope::TableOnly, "table_only"), (Scope::DefaultOnly, "default_only")];

pub(crate) const BYTES: Words<Bytes> =
    &[(Bytes::Original, "original"), (Bytes::Deparsed, "deparsed"), (Bytes::Current, "current")];

#[rustfmt::skip]
pub(crate) const OBJECT_KINDS: Words<ObjectKind> = &[
    (ObjectKind::ValueSet, "value_set"),
    (ObjectKind::ControllerHeader, "controller_header"),
    (ObjectKind::ActionProfile, "action_profile"),
    (ObjectKind::Counter, "counter"),
    (ObjectKind::DirectCounter, "direct_counter"),
    (ObjectKind::Meter, "meter"),
    (ObjectKind::DirectMeter, "direct_meter"),
    (ObjectKind::Register, "register"),
    (ObjectKind::Digest, "digest"),
];

#[rustfmt::skip]
pub(crate) const NAMED_KINDS: Words<NamedKind> = &[
    (NamedKind::Struct, "struct"),
    (NamedKind::Header, "header"),
    (NamedKind::Union, "union"),
    (NamedKind::Enumeration, "enum"),
    (NamedKind::Serializable, "serializable"),
    (NamedKind::New, "new"),
];

#[rustfmt::skip]
pub(crate) const ACCESS_MODES: Words<AccessMode> =
    &[(AccessMode::Base, "base"), (AccessMode::Combined, "pac"), (AccessMode::Cached, "cgpc")];
pub(crate) const DESCRIPTORS: Words<Descriptor> = &[(Descriptor::Mbuf, "mbuf"), (Descriptor::Own, "own")];

pub(crate) const PLACEMENTS: Words<Placement> = &[(Placement::OwnLoop, "own_loop")];

/// Placements one group ahead, by the work that prefetches are interleaved with.
pub(crate) const INTERLEAVED: Words<Placement> =
    &[(Placement::WithLookups, "lookup"), (Placement::WithCommit, "commit"), (Placement::WithKeys, "keys")];

pub(crate) const HINTS: Words<Hint> = &[(Hint::T0, "t0"), (Hint::T1, "t1")];

pub(crate) const STRUCTURES: Words<Structure> = &{
    let mut words = [(Structure::Exact, ""); TRAITS.len()];
    let mut at = 0;
    while at < TRAITS.len() {
        words[at] = (TRAITS[at].structure, TRAITS[at].word);
        at += 1;
    }
    words
};

pub(crate) fn word_of<T: PartialEq>(words: Words<T>, value: &T) -> Option<&'static str> {
    words.iter().find(|(known, _)| known == value).map(|(_, word)| *word)
}

pub(crate) fn value_of<T: Copy>(words: Words<T>, word: &str) -> Option<T> {
    words.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
}

/// The words as a list for messages: `` `a`, `b` or `c` ``.
pub(crate) fn alternatives<T>(words: Words<T>) -> String {
    let quoted: Vec<String> = words.iter().map(|(_, word)| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

pub(crate) fn symbol_of(operator: Binary) -> (&'static str, u8) {
    let found = BINARIES.iter().find(|(known, _, _)| *known == operator);
    found.map(|(_, symbol, level)| (*symbol, *level)).expect("every operator has a symbol")
}

/// Whether the right operand is an amount, with a width of its own.
pub(crate) fn is_shift(operator: Binary) -> bool {
    matches!(operator, Binary::ShiftLeft | Binary::ShiftRight | Binary::ShiftRightSigned)
}

/// How much of the front of `text` is a name that needs no quotes: `hdr.labels[2].ttl`, `$tmp`, but not `x[3:0]`.
pub(crate) fn plain_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || is_mark(*first)) {
        return 0;
    }
    let mut at = word_length(bytes);
    loop {
        let rest = &bytes[at..];
        match rest {
            [b'[', inner @ ..] => {
                let digits = inner.iter().take_while(|byte| byte.is_ascii_digit()).count();
                if digits == 0 || inner.get(digits) != Some(&b']') {
                    return at;
                }
                at += digits + 2;
            }
            [b'.', after @ ..] if word_length(after) > 0 => at += 1 + word_length(after),
            _ => return at,
        }
    }
}

pub(crate) fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || is_mark(byte)
}

fn is_mark(byte: u8) -> bool {
    byte == b'_' || byte == b'$'
}

fn word_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| continues_name(**byte)).count()
}

fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || INTRINSICS.iter().any(|(_, word)| *word == name)
}

/// `name` as the text has it: quoted where it would be read as something else.
pub fn written(name: &str) -> String {
    if !name.is_empty() && plain_length(name) == name.len() && !is_reserved(name) {
        name.to_string()
    } else {
        between(name, '`')
    }
}

/// `text` between two of `quote`, with escapes for what may not be there.
pub fn between(text: &str, quote: char) -> String {
    let mut out = String::from(quote);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            other if other == quote => {
                out.push('\\');
                out.push(other);
            }
            other if other.is_control() => out.push_str(&format!("\\u{{{:x}}}", other as u32)),
            other => out.push(other),
        }
    }
    out.push(quote);
    out
}

/// The end of an annotation's body that begins at the front of `text`: the place of its closing parenthesis. Parentheses in strings do not
/// count, and a body does not go beyond its line.
pub(crate) fn body_end(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => return None,
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(at),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether `file` needs no quotes in an origin.
pub(crate) fn is_plain_file(file: &str) -> bool {
    !file.is_empty() && file_length(file) == file.len()
}

pub(crate) fn file_length(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_./+-".contains(byte)).count()
}
