//! A condition on received packets: `ipv4.dst == 10.0.0.0/8 && ingress_port == 1`.
//!
//! ```text
//! condition  and ('||' and)…
//! and        not ('&&' not)…
//! not        '!' not  |  '(' condition ')'  |  NAME  |  NAME COMPARISON VALUE
//! NAME       a field or header of the program, in full or by its last parts; metadata; or one of SPECIAL
//! VALUE      a number, an address; with == and != also ADDRESS/LENGTH and VALUE&&&MASK
//! ```
//! A header by itself is true where it is valid. A comparison with a field of an invalid header is false.

use crate::address;
use crate::names::nearest;
use hlir::{FieldRef, HeaderId, Program, VariableId};
use num_bigint::BigUint;
use std::fmt;

/// What is no field of the program.
pub const SPECIAL: [&str; 4] = ["ingress_port", "packet_length", "egress_port", "dropped"];

/// Negations and parentheses within one another, at most: a switch reads what any client sends.
const DEEPEST: u32 = 64;
/// Characters of a condition that a mistake shows.
const SHOWN: usize = 160;

/// Why a text is no condition of this program, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    text: String,
    /// Of the first character, from 0, and how many it are.
    at: usize,
    length: usize,
    message: String,
    hint: Option<String>,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of a long text the part around the place: it goes to clients as one header of HTTP/2.
        let first = self.at.saturating_sub(SHOWN / 2);
        let text: String = self.text.chars().skip(first).take(SHOWN).collect();
        let (at, marks) = (self.at - first, "^".repeat(self.length.clamp(1, SHOWN / 2)));
        write!(f, "filter:{}: {}\n    {text}\n    {:at$}{marks}", self.at + 1, self.message, "")?;
        self.hint.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Field(FieldRef),
    Header(HeaderId),
    Variable(VariableId),
    IngressPort,
    PacketLength,
    /// Of any packet that was sent.
    EgressPort,
    /// Whether any packet was dropped.
    Dropped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    Any,
    Is(Subject),
    Compare { subject: Subject, comparison: Comparison, value: BigUint, mask: Option<BigUint> },
    Not(Box<Filter>),
    All(Vec<Filter>),
    One(Vec<Filter>),
}

/// What a filter asks of a packet. A subject has no value, one, or (as ports of copies) several; none is known yet where there is no list.
pub trait Facts {
    fn values(&self, subject: Subject) -> Option<Vec<BigUint>>;
}

impl Filter {
    /// The condition of a text; an empty one is true of every packet.
    pub fn parse(program: &Program, text: &str) -> Result<Filter, Mistake> {
        let words = words(text)?;
        if words.is_empty() {
            return Ok(Filter::Any);
        }
        let mut parser = Parser { program, text, words: &words, next: 0, depth: 0 };
        let filter = parser.condition()?;
        match parser.words.get(parser.next) {
            Some(word) => Err(parser.mistake(
                word,
                format!("`{}` is behind the end of the condition", word.text),
                Some("combine conditions by && or ||"),
            )),
            None => Ok(filter),
        }
    }

    /// Whether a packet matches, as soon as what is known of it decides.
    pub fn decide(&self, facts: &dyn Facts) -> Option<bool> {
        match self {
            Filter::Any => Some(true),
            Filter::Is(subject) => Some(facts.values(*subject)?.iter().any(|value| *value != BigUint::ZERO)),
            Filter::Compare { subject, comparison, value, mask } => {
                let cut = |found: BigUint| mask.as_ref().map_or(found.clone(), |mask| found & mask);
                Some(facts.values(*subject)?.into_iter().map(cut).any(|found| comparison.holds(&found, value)))
            }
            Filter::Not(filter) => filter.decide(facts).map(|is_so| !is_so),
            Filter::All(filters) => decide_by(false, filters, facts),
            Filter::One(filters) => decide_by(true, filters, facts),
        }
    }
}

/// One filter with the decisive answer decides, else all together.
fn decide_by(decisive: bool, filters: &[Filter], facts: &dyn Facts) -> Option<bool> {
    let mut answer = Some(!decisive);
    for filter in filters {
        match filter.decide(facts) {
            Some(is_so) if is_so == decisive => return Some(decisive),
            Some(_) => {}
            None => answer = None,
        }
    }
    answer
}

impl Comparison {
    fn of(text: &str) -> Option<Comparison> {
        Some(match text {
            "==" => Comparison::Equal,
            "!=" => Comparison::Unequal,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return None,
        })
    }

    fn holds(self, found: &BigUint, value: &BigUint) -> bool {
        match self {
            Comparison::Equal => found == value,
            Comparison::Unequal => found != value,
            Comparison::Less => found < value,
            Comparison::LessOrEqual => found <= value,
            Comparison::Greater => found > value,
            Comparison::GreaterOrEqual => found >= value,
        }
    }
}

struct Word<'t> {
    text: &'t str,
    at: usize,
}

const OPERATORS: [&str; 11] = ["&&&", "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "("];

fn words(text: &str) -> Result<Vec<Word<'_>>, Mistake> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_.:[]/$".contains(c);
        let length = match OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
            _ if first.is_whitespace() => {
                at += first.len_utf8();
                continue;
            }
            Some(operator) => operator.len(),
            None if first == ')' => 1,
            None if is_of_name(first) => rest.find(|c| !is_of_name(c)).unwrap_or(rest.len()),
            None => {
                let message = format!("`{first}` is no part of a condition");
                let hint = Some("write NAME == VALUE, as ipv4.dst == 10.0.0.1".to_string());
                return Err(Mistake {
                    text: text.to_string(),
                    at: text[..at].chars().count(),
                    length: 1,
                    message,
                    hint,
                });
            }
        };
        words.push(Word { text: &rest[..length], at });
        at += length;
    }
    Ok(words)
}

struct Parser<'t, 'p> {
    program: &'p Program,
    text: &'t str,
    words: &'t [Word<'t>],
    next: usize,
    /// Of negations and parentheses.
    depth: u32,
}

impl<'t> Parser<'t, '_> {
    fn condition(&mut self) -> Result<Filter, Mistake> {
        let mut parts = vec![self.both()?];
        while self.takes("||") {
            parts.push(self.both()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::One(parts) })
    }

    fn both(&mut self) -> Result<Filter, Mistake> {
        let mut parts = vec![self.not()?];
        while self.takes("&&") {
            parts.push(self.not()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::All(parts) })
    }

    fn not(&mut self) -> Result<Filter, Mistake> {
        if self.takes("!") {
            return Ok(Filter::Not(Box::new(self.inside(Parser::not)?)));
        }
        if self.takes("(") {
            let filter = self.inside(Parser::condition)?;
            if self.takes(")") {
                return Ok(filter);
            }
            return Err(self.missing("`)`"));
        }
        self.comparison()
    }

    fn inside(&mut self, read: impl FnOnce(&mut Self) -> Result<Filter, Mistake>) -> Result<Filter, Mistake> {
        if self.depth == DEEPEST {
            let word = &self.words[self.next - 1];
            return Err(self.mistake(word, format!("conditions are nested deeper than {DEEPEST} levels"), None));
        }
        self.depth += 1;
        let filter = read(self)?;
        self.depth -= 1;
        Ok(filter)
    }

    fn comparison(&mut self) -> Result<Filter, Mistake> {
        let name = self.take("the name of a field")?;
        let (subject, width) = self.subject(name)?;
        let Some(comparison) = self.words.get(self.next).and_then(|word| Comparison::of(word.text)) else {
            return Ok(Filter::Is(subject));
        };
        if matches!(subject, Subject::Header(_)) {
            let hint = "a header by itself is true where it is valid; compare one of its fields";
            return Err(self.mistake(name, format!("`{}` is a header, which has no value", name.text), Some(hint)));
        }
        self.next += 1;
        let word = self.take("a value")?;
        let (value, mut mask) = self.value(word, width)?;
        if self.takes("&&&") {
            let word = self.take("a mask")?;
            mask = Some(self.value(word, width)?.0);
        }
        if mask.is_some() && !matches!(comparison, Comparison::Equal | Comparison::Unequal) {
            let message = "a prefix or mask is compared by == or != alone".to_string();
            return Err(self.mistake(word, message, None));
        }
        let value = mask.as_ref().map_or(value.clone(), |mask| value & mask);
        Ok(Filter::Compare { subject, comparison, value, mask })
    }

    /// A value of at most so many bits, and the mask of a prefix.
    fn value(&self, word: &Word<'t>, width: u32) -> Result<(BigUint, Option<BigUint>), Mistake> {
        let (text, length) = match word.text.split_once('/') {
            Some((text, length)) => (text, Some(length)),
            None => (word.text, None),
        };
        let value = number(text).ok_or_else(|| {
            let hint = "values are numbers (80, 0x50) and addresses (10.0.0.1, 00:11:22:33:44:55, 2001:db8::1)";
            self.mistake(word, format!("`{text}` is no value"), Some(hint))
        })?;
        if value.bits() > u64::from(width) {
            return Err(self.mistake(word, format!("`{text}` has more bits than the field, which has {width}"), None));
        }
        let Some(length) = length else { return Ok((value, None)) };
        let length = length.parse::<u32>().ok().filter(|length| *length <= width);
        let length = length
            .ok_or_else(|| self.mistake(word, format!("the length of a prefix is from 0 to {width} here"), None))?;
        let ones = |count: u32| (BigUint::from(1u32) << count) - 1u32;
        Ok((value, Some(ones(width) - ones(width - length))))
    }

    /// What a name means, and its bits.
    fn subject(&self, word: &Word<'t>) -> Result<(Subject, u32), Mistake> {
        let name = word.text.strip_suffix(".isValid").unwrap_or(word.text);
        let mut found = self.fields_called(name);
        found.extend(self.headers_called(name));
        found.extend(self.variables_called(name));
        let exact: Vec<_> = found.iter().filter(|(full, _)| full == name).cloned().collect();
        let found = if exact.len() == 1 { exact } else { found };
        match found.as_slice() {
            [(_, subject)] => Ok(*subject),
            [] => special(name).ok_or_else(|| self.unknown(word, name)),
            several if special(name).is_none() => {
                let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).take(6).collect();
                let message = format!("`{name}` may be any of {}", names.join(", "));
                Err(self.mistake(word, message, Some("write more parts of its name")))
            }
            _ => special(name).ok_or_else(|| self.unknown(word, name)),
        }
    }

    fn unknown(&self, word: &Word<'t>, name: &str) -> Mistake {
        let headers = self.program.headers.values();
        let fields =
            headers.flat_map(|header| header.fields.iter().map(move |field| format!("{}.{}", header.name, field.name)));
        let names: Vec<String> = fields.chain(SPECIAL.map(str::to_string)).collect();
        let near = nearest(name, names.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
        let hint = near.unwrap_or_else(|| format!("names are fields of headers, metadata, and {}", SPECIAL.join(", ")));
        self.mistake(word, format!("the program has no field `{name}`"), Some(&hint))
    }

    fn fields_called(&self, name: &str) -> Vec<(String, (Subject, u32))> {
        let headers = self.program.headers.iter();
        let fields = headers.flat_map(|(id, header)| {
            let fields = (0..).zip(&header.fields);
            fields.map(move |(field, declared)| {
                let subject = Subject::Field(FieldRef { header: id, field });
                (format!("{}.{}", header.name, declared.name), (subject, declared.width))
            })
        });
        fields.filter(|(full, _)| ends_with(full, name)).collect()
    }

    fn headers_called(&self, name: &str) -> Vec<(String, (Subject, u32))> {
        let headers = self.program.headers.iter().filter(|(_, header)| ends_with(&header.name, name));
        headers.map(|(id, header)| (header.name.clone(), (Subject::Header(id), 1))).collect()
    }

    fn variables_called(&self, name: &str) -> Vec<(String, (Subject, u32))> {
        let variables = self.program.variables.iter().filter(|(_, variable)| ends_with(&variable.name, name));
        variables
            .map(|(id, variable)| (variable.name.clone(), (Subject::Variable(id), variable.kind.width())))
            .collect()
    }

    fn takes(&mut self, text: &str) -> bool {
        let is_it = self.words.get(self.next).is_some_and(|word| word.text == text);
        self.next += usize::from(is_it);
        is_it
    }

    fn take(&mut self, what: &str) -> Result<&'t Word<'t>, Mistake> {
        let is_name = |word: &&Word<'_>| word.text != ")" && !OPERATORS.contains(&word.text);
        let word = self.words.get(self.next).filter(is_name).ok_or_else(|| self.missing(what))?;
        self.next += 1;
        Ok(word)
    }

    /// At the next word, or behind the last.
    fn missing(&self, what: &str) -> Mistake {
        match self.words.get(self.next) {
            Some(word) => self.mistake(word, format!("expected {what}, found `{}`", word.text), None),
            None => {
                let end = Word { text: " ", at: self.text.len() };
                self.mistake(&end, format!("expected {what} behind this"), None)
            }
        }
    }

    fn mistake(&self, word: &Word<'_>, message: String, hint: Option<&str>) -> Mistake {
        let (at, length) = (self.text[..word.at].chars().count(), word.text.chars().count());
        Mistake { text: self.text.to_string(), at, length, message, hint: hint.map(str::to_string) }
    }
}

fn special(name: &str) -> Option<(Subject, u32)> {
    Some(match name {
        "ingress_port" => (Subject::IngressPort, 32),
        "packet_length" => (Subject::PacketLength, 32),
        "egress_port" => (Subject::EgressPort, 32),
        "dropped" => (Subject::Dropped, 1),
        _ => return None,
    })
}

/// Whether a name is the other, or its last parts.
fn ends_with(full: &str, name: &str) -> bool {
    full.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

fn number(text: &str) -> Option<BigUint> {
    let digits = text.replace('_', "");
    let plain = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => BigUint::parse_bytes(digits.as_bytes(), 16),
        None => BigUint::parse_bytes(digits.as_bytes(), 10),
    };
    plain.or_else(|| address::number(text).map(|(number, _)| number))
}
