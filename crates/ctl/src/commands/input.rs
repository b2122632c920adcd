//! A command's line, read word by word where words are no STF, and by STF's reader behind them.

use stf::command::Word;
use stf::{Line, Mistake, Place};

pub struct Input<'t> {
    text: &'t str,
    number: u32,
    /// Characters that were read.
    at: usize,
}

impl<'t> Input<'t> {
    pub fn new(text: &'t str, number: u32) -> Input<'t> {
        Input { text, number, at: 0 }
    }

    /// The next word up to white space; none at the end or at a comment.
    fn peek(&self) -> Option<(Word, usize)> {
        let rest: Vec<char> = self.text.chars().skip(self.at).collect();
        let begin = rest.iter().position(|c| !c.is_whitespace()).filter(|begin| rest[*begin] != '#')?;
        let text: String = rest[begin..].iter().take_while(|c| !c.is_whitespace()).collect();
        let end = self.at + begin + text.chars().count();
        let place = Place { line: self.number, column: (self.at + begin) as u32 + 1 };
        Some((Word { text, place }, end))
    }

    pub fn word(&mut self) -> Option<Word> {
        let (word, end) = self.peek()?;
        self.at = end;
        Some(word)
    }

    /// The next word, which must be there.
    pub fn needs(&mut self, what: &str) -> Result<Word, Mistake> {
        self.word().ok_or_else(|| self.expected(what))
    }

    /// All words that are left.
    pub fn rest(&mut self) -> Vec<Word> {
        std::iter::from_fn(|| self.word()).collect()
    }

    pub fn is_at_end(&self) -> bool {
        self.peek().is_none()
    }

    /// The next word if it is one of these.
    pub fn one_of(&mut self, words: &[&str]) -> Option<Word> {
        let (word, _) = self.peek().filter(|(word, _)| words.contains(&word.text.as_str()))?;
        self.word();
        Some(word)
    }

    /// The next word if it passes.
    pub fn word_if(&mut self, passes: impl Fn(&str) -> bool) -> Option<Word> {
        self.peek().filter(|(word, _)| passes(&word.text))?;
        self.word()
    }

    pub fn expected(&self, what: &str) -> Mistake {
        match self.peek() {
            Some((word, _)) => Mistake::new(word.place, format!("expected {what}, found `{}`", word.text)),
            None => Mistake::new(self.end(), format!("expected {what}, the line ends")),
        }
    }

    fn end(&self) -> Place {
        Place { line: self.number, column: self.text.trim_end().chars().count() as u32 + 1 }
    }

    /// What comes behind, as STF reads it.
    pub fn line(&self) -> Result<Line, Mistake> {
        Line::behind(self.text, self.number, self.at)
    }

    /// Nothing may come behind.
    pub fn finish(&self) -> Result<(), Mistake> {
        match self.peek() {
            Some(_) => Err(self.expected("the end of the line")),
            None => Ok(()),
        }
    }
}

/// A decimal number behind a word such as `priority`.
pub fn option<T: std::str::FromStr>(line: &mut Line, name: &Word) -> Result<T, Mistake> {
    let number = line.number()?;
    number
        .text
        .parse()
        .map_err(|_| Mistake::new(number.place, format!("`{}` is no number for `{}`", number.text, name.text)))
}

/// Seconds, which may have a fraction.
pub fn seconds(line: &mut Line, name: &Word) -> Result<f64, Mistake> {
    let place = line.place();
    let seconds: f64 = option(line, name)?;
    if seconds.is_finite() && (0.0..=9e9).contains(&seconds) {
        return Ok(seconds);
    }
    Err(Mistake::new(place, format!("`{}` takes seconds", name.text)))
}

pub fn show_metadata(bytes: &[u8]) -> String {
    format!("0x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// The word is unknown.
pub fn unknown_option(name: &Word, known: &str) -> Mistake {
    Mistake::new(name.place, format!("expected {known}, found `{}`", name.text))
}

/// Bytes in hexadecimal digits, that the switch keeps for its controllers.
pub fn metadata(line: &mut Line) -> Result<Vec<u8>, Mistake> {
    let word = line.number()?;
    let wrong = || Mistake::new(word.place, "metadata are bytes: write 0x and two hexadecimal digits for each");
    let digits = word.text.strip_prefix("0x").filter(|digits| !digits.is_empty() && digits.len() % 2 == 0);
    let digits = digits.ok_or_else(wrong)?;
    let byte = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..digits.len()).step_by(2).map(byte).collect::<Option<Vec<u8>>>().ok_or_else(wrong)
}
