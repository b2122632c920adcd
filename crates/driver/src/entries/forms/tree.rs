//! Structured text as a tree with the place of everything: JSON, and the text form of protocol buffers.

use stf::command::Word;
use stf::{Mistake, Place};

/// Lists and messages within one another, at most.
const DEEPEST: u32 = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub place: Place,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Between quotes.
    Text(Vec<u8>),
    /// A number, a truth, or the name of a number.
    Plain(String),
    Fields(Vec<(String, Node)>),
    List(Vec<Node>),
}

impl Node {
    /// The fields of a message, in the order of the text; other values have none.
    pub fn fields(&self) -> &[(String, Node)] {
        if let Value::Fields(fields) = &self.value { fields } else { &[] }
    }

    pub fn field(&self, name: &str) -> Option<&Node> {
        self.fields().iter().find(|(found, _)| found == name).map(|(_, node)| node)
    }

    pub fn needed(&self, name: &str) -> Result<&Node, Mistake> {
        self.field(name).ok_or_else(|| Mistake::new(self.place, format!("expected a field `{name}`")))
    }

    /// All values of a field that may be repeated, whether they are in a list or one by one.
    pub fn all<'n>(&'n self, name: &'n str) -> impl Iterator<Item = &'n Node> {
        let values = self.fields().iter().filter(move |(found, _)| found == name).map(|(_, node)| node);
        values.flat_map(|node| {
            if let Value::List(items) = &node.value { items.as_slice() } else { std::slice::from_ref(node) }
        })
    }

    /// Nothing here is ignored: fields other than these are mistakes.
    pub fn only(&self, known: &[&str]) -> Result<(), Mistake> {
        match self.fields().iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, node)) => {
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                let message = format!("`{name}` cannot be loaded; what can be is {}", known.join(", "));
                Err(Mistake::new(node.place, message))
            }
            None => Ok(()),
        }
    }

    /// A number or a name, with or without quotes.
    pub fn word(&self, what: &str) -> Result<Word, Mistake> {
        let text = match &self.value {
            Value::Text(bytes) => String::from_utf8(bytes.clone()).ok(),
            Value::Plain(text) => Some(text.clone()),
            Value::Fields(_) | Value::List(_) => None,
        };
        let text = text.ok_or_else(|| Mistake::new(self.place, format!("expected {what}")))?;
        Ok(Word { text, place: self.place })
    }

    /// Whether this is what a field has that is not written: nothing, zero, false or no bytes.
    pub fn is_default(&self) -> bool {
        match &self.value {
            Value::Text(bytes) => bytes.is_empty(),
            Value::Plain(text) => matches!(text.as_str(), "0" | "false" | "null"),
            Value::Fields(_) => false,
            Value::List(items) => items.is_empty(),
        }
    }

    /// A whole number that is not negative: decimal or hexadecimal. The octal ones of the text form are decimal already.
    pub fn count(&self, what: &str) -> Result<u64, Mistake> {
        let word = self.word(what)?;
        let text = word.text.as_str();
        let number = if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
            u64::from_str_radix(digits, 16)
        } else {
            text.parse()
        };
        number.map_err(|_| Mistake::new(word.place, format!("expected {what}, a number that is not negative")))
    }

    pub fn is_true(&self) -> bool {
        self.value == Value::Plain("true".to_string())
    }
}

/// The tree of a JSON text.
pub fn json(text: &str) -> Result<Node, Mistake> {
    let mut reader = Reader::new(text);
    let node = reader.json(0)?;
    reader.skip();
    if reader.peek().is_some() { Err(reader.expected("the end of the text")) } else { Ok(node) }
}

/// The tree of a message in the text form of protocol buffers.
pub fn proto(text: &str) -> Result<Node, Mistake> {
    let mut reader = Reader::new(text);
    reader.comments = true;
    let place = reader.place;
    let fields = reader.message(None, 0)?;
    Ok(Node { place, value: Value::Fields(fields) })
}

struct Reader<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    place: Place,
    /// Whether `#` begins a comment.
    comments: bool,
}

type Read<T> = Result<T, Mistake>;

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Reader<'t> {
        Reader { rest: text.chars().peekable(), place: Place { line: 1, column: 1 }, comments: false }
    }

    fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        if next == '\n' {
            self.place = Place { line: self.place.line + 1, column: 1 };
        } else {
            self.place.column += 1;
        }
        Some(next)
    }

    fn expected(&mut self, what: &str) -> Mistake {
        let found = self.peek().map_or("the text ends".to_string(), |found| format!("found `{found}`"));
        Mistake::new(self.place, format!("expected {what}, {found}"))
    }

    /// Blanks and comments.
    fn skip(&mut self) {
        while let Some(next) = self.peek() {
            if next == '#' && self.comments {
                while self.next().is_some_and(|passed| passed != '\n') {}
            } else if next.is_whitespace() {
                self.next();
            } else {
                return;
            }
        }
    }

    fn accept(&mut self, mark: char) -> bool {
        self.skip();
        self.peek() == Some(mark) && self.next().is_some()
    }

    fn mark(&mut self, mark: char) -> Read<()> {
        if self.accept(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    fn deeper(&mut self, depth: u32) -> Read<u32> {
        if depth < DEEPEST { Ok(depth + 1) } else { Err(Mistake::new(self.place, "values are nested too deeply")) }
    }

    fn json(&mut self, depth: u32) -> Read<Node> {
        self.skip();
        let place = self.place;
        let value = match self.peek() {
            Some('{') => Value::Fields(self.json_fields(depth)?),
            Some('[') => {
                self.next();
                Value::List(self.items(depth, Reader::json)?)
            }
            Some('"') => Value::Text(self.quoted()?),
            _ => {
                let text = self.plain("a value")?;
                if after_zero(&text).is_some() {
                    return Err(Mistake::new(
                        place,
                        format!("a number in JSON does not begin with 0, as `{text}` does"),
                    ));
                }
                Value::Plain(text)
            }
        };
        Ok(Node { place, value })
    }

    fn json_fields(&mut self, depth: u32) -> Read<Vec<(String, Node)>> {
        let depth = self.deeper(depth)?;
        self.mark('{')?;
        let mut fields: Vec<(String, Node)> = Vec::new();
        while !self.accept('}') {
            if !fields.is_empty() {
                self.mark(',')?;
                self.skip();
            }
            if self.peek() != Some('"') {
                return Err(self.expected("a name between quotes"));
            }
            let place = self.place;
            let name = String::from_utf8_lossy(&self.quoted()?).into_owned();
            if fields.iter().any(|(other, _)| *other == name) {
                return Err(Mistake::new(place, format!("`{name}` is given twice")));
            }
            self.mark(':')?;
            fields.push((name, self.json(depth)?));
        }
        Ok(fields)
    }

    /// The rest of a list, whose bracket is open.
    fn items(&mut self, depth: u32, item: fn(&mut Self, u32) -> Read<Node>) -> Read<Vec<Node>> {
        let depth = self.deeper(depth)?;
        let mut items = Vec::new();
        while !self.accept(']') {
            if !items.is_empty() {
                self.mark(',')?;
            }
            items.push(item(self, depth)?);
        }
        Ok(items)
    }

    /// Fields up to the mark, or to the end of the text.
    fn message(&mut self, end: Option<char>, depth: u32) -> Read<Vec<(String, Node)>> {
        let mut fields = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                None if end.is_none() => return Ok(fields),
                next if next == end => {
                    self.next();
                    return Ok(fields);
                }
                _ => {}
            }
            let name = self.plain("the name of a field")?;
            let has_colon = self.accept(':');
            self.skip();
            if !has_colon && !matches!(self.peek(), Some('{' | '<')) {
                return Err(self.expected("`:` or `{`"));
            }
            fields.push((name, self.proto_value(depth)?));
            if !self.accept(',') {
                self.accept(';');
            }
        }
    }

    fn proto_value(&mut self, depth: u32) -> Read<Node> {
        self.skip();
        let place = self.place;
        let value = match self.peek() {
            Some(open @ ('{' | '<')) => {
                let depth = self.deeper(depth)?;
                self.next();
                Value::Fields(self.message(Some(if open == '{' { '}' } else { '>' }), depth)?)
            }
            Some('[') => {
                self.next();
                Value::List(self.items(depth, Reader::proto_value)?)
            }
            Some('"' | '\'') => {
                let mut bytes = self.quoted()?;
                self.skip();
                while let Some('"' | '\'') = self.peek() {
                    bytes.extend(self.quoted()?);
                    self.skip();
                }
                Value::Text(bytes)
            }
            _ => {
                let text = self.plain("a value")?;
                let octal = |digits| {
                    let wrong = || Mistake::new(place, format!("`{text}` is no octal number, as its leading 0 has it"));
                    u64::from_str_radix(digits, 8).map_err(|_| wrong())
                };
                let decimal = after_zero(&text).map(octal).transpose()?;
                Value::Plain(decimal.map_or(text, |number| number.to_string()))
            }
        };
        Ok(Node { place, value })
    }

    fn plain(&mut self, what: &str) -> Read<String> {
        let mut text = String::new();
        while let Some(next) = self.peek().filter(|next| next.is_ascii_alphanumeric() || "+-._".contains(*next)) {
            text.push(next);
            self.next();
        }
        if text.is_empty() { Err(self.expected(what)) } else { Ok(text) }
    }

    fn quoted(&mut self) -> Read<Vec<u8>> {
        let (begin, quote) = (self.place, self.next());
        let mut bytes = Vec::new();
        loop {
            match self.next() {
                None | Some('\n') => return Err(Mistake::new(begin, "this text has no closing quote")),
                next if next == quote => return Ok(bytes),
                Some('\\') => self.escaped(&mut bytes)?,
                Some(next) => bytes.extend(next.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }

    /// The character after a `\`.
    fn escaped(&mut self, bytes: &mut Vec<u8>) -> Read<()> {
        let place = self.place;
        let wrong = || Mistake::new(place, "this escape is not understood");
        let first = self.next().ok_or_else(wrong)?;
        match first {
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'f' => bytes.push(12),
            'v' => bytes.push(11),
            '"' | '\'' | '\\' | '/' | '?' => bytes.push(first as u8),
            '0'..='7' => {
                let number = self.digits(first.to_digit(8), 8, 2);
                bytes.push(u8::try_from(number).map_err(|_| wrong())?);
            }
            'x' | 'X' => bytes.push(u8::try_from(self.digits(None, 16, 2)).map_err(|_| wrong())?),
            'u' => {
                let character = char::from_u32(self.digits(None, 16, 4)).ok_or_else(wrong)?;
                bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// A number of so many digits more, at most.
    fn digits(&mut self, first: Option<u32>, radix: u32, most: usize) -> u32 {
        let mut number = first.unwrap_or(0);
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|next| next.to_digit(radix)) else { break };
            number = number * radix + digit;
            self.next();
        }
        number
    }
}

/// The digits after a leading 0. They are octal in the text form, and a mistake in JSON.
fn after_zero(text: &str) -> Option<&str> {
    let is_number = |digits: &&str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    text.strip_prefix('0').filter(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_its_places() {
        let root = json("{\n  \"a\": [1, \"x\\u0041\", {}],\n  \"b\": true }").unwrap();
        let items: Vec<&Node> = root.all("a").collect();
        assert_eq!((items.len(), items[1].place), (3, Place { line: 2, column: 12 }));
        assert_eq!(items[1].word("a word").unwrap().text, "xA");
        assert!(root.field("b").unwrap().is_true());
        for (text, message) in [
            ("{\"a\": }", "1:7: expected a value, found `}`"),
            ("{\"a\": 1, \"a\": 2}", "1:10: `a` is given twice"),
            ("{\"a\": \"", "1:7: this text has no closing quote"),
            ("{\"a\": 010}", "1:7: a number in JSON does not begin with 0, as `010` does"),
            ("{} {}", "1:4: expected the end of the text, found `{`"),
        ] {
            assert_eq!(json(text).unwrap_err().to_string(), message);
        }
        assert!(json(&"[".repeat(1000)).unwrap_err().message.contains("too deep"));
    }

    #[test]
    fn the_text_form_has_repeated_fields_escapes_and_comments() {
        let root = proto("# why\nu { v: \"\\001\\xfe!\" 'b' }\nu: < w: [1, 2] >; x: INSERT").unwrap();
        assert_eq!(root.all("u").count(), 2);
        assert_eq!(root.field("u").unwrap().field("v").unwrap().value, Value::Text(vec![1, 0xfe, b'!', b'b']));
        assert_eq!(root.all("u").nth(1).unwrap().all("w").count(), 2);
        assert_eq!(root.field("x").unwrap().word("a type").unwrap().text, "INSERT");
        assert_eq!(proto("u { v: 1").unwrap_err().to_string(), "1:9: expected the name of a field, the text ends");
        let numbers = proto("a: 010 b: 0x10 c: 0 d: 10").unwrap();
        let counts = ["a", "b", "c", "d"].map(|name| numbers.field(name).unwrap().count("a number").unwrap());
        assert_eq!(counts, [8, 16, 0, 10]);
        assert_eq!(numbers.field("a").unwrap().word("a priority").unwrap().text, "8", "as each field reads it");
        assert_eq!(proto("a: 09").unwrap_err().to_string(), "1:4: `09` is no octal number, as its leading 0 has it");
        assert_eq!(proto("u 1").unwrap_err().to_string(), "1:3: expected `:` or `{`, found `1`");
    }
}
