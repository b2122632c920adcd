//! The state of a switch as a text: `serialize_state` gives it, and `simple_switch --restore-state FILE` begins with it.
//!
//! As in BMv2, it has what clients have written, and neither counts nor registers. Its form is not BMv2's (docs/dropin.md), whose tables,
//! profiles and meters are in the order of hash tables of its C++ library, the latter without names. It has the rows of the store, by the
//! numbers of a program that comes with them:
//!
//! ```text
//! bacus state 1
//! PROGRAM
//! KEY VALUE
//! ...
//! ```
//!
//! Each word is bytes in hexadecimal; the program's text is HLIR. An empty value is `-`.

use control::Store;
use hlir::text::print_program;
use std::fmt::Write as _;

const HEADER: &str = "bacus state 1";
const EMPTY: &str = "-";

/// What a text holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// In HLIR.
    pub program: String,
    /// Keys and values, as [`Store::of_rows`] takes them.
    pub rows: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The text of a store.
pub fn write(store: &Store) -> String {
    let mut rows: Vec<_> = store.rows().collect();
    rows.sort_unstable();
    let mut text = format!("{HEADER}\n{}\n", digits(print_program(store.program()).as_bytes()));
    for (key, value) in rows {
        text.push_str(&format!("{} {}\n", digits(&key), digits(&value)));
    }
    text
}

/// # Errors
/// A sentence about the first line that is not as [`write`] has it.
pub fn read(text: &str) -> Result<Saved, String> {
    let mut lines = (1..).zip(text.lines());
    if lines.next().is_none_or(|(_, line)| line != HEADER) {
        return Err(format!(
            "it does not begin with `{HEADER}`: it is no file of this switch's `serialize_state` (those of BMv2 are not read)"
        ));
    }
    let wrong = |line: u32, what: &str| format!("line {line}: {what}");
    let program = lines.next().and_then(|(_, line)| String::from_utf8(bytes(line)?).ok());
    let program = program.ok_or_else(|| wrong(2, "expected the program in hexadecimal"))?;
    let row = |line: &str| {
        let (key, value) = line.split_once(' ')?;
        bytes(key).zip(bytes(value))
    };
    let rows =
        lines.map(|(number, line)| row(line).ok_or_else(|| wrong(number, "expected a key and a value in hexadecimal")));
    Ok(Saved { program, rows: rows.collect::<Result<_, _>>()? })
}

fn digits(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes all that is written");
    }
    if text.is_empty() { EMPTY.to_string() } else { text }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    if text == EMPTY {
        return Some(Vec::new());
    }
    let digits: Option<Vec<u8>> = text.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_not_as_written_are_named() {
        let program = digits(b"program");
        let read = |lines: &str| read(&format!("{HEADER}\n{program}\n{lines}"));
        let rows = vec![(vec![1, 0xff], vec![]), (vec![2], vec![3])];
        assert_eq!(read("01ff -\n02 03\n"), Ok(Saved { program: "program".to_string(), rows }));
        for lines in ["01ff\n", "01f 02\n", "xy 02\n", "01 +1\n"] {
            assert_eq!(read(lines), Err("line 3: expected a key and a value in hexadecimal".to_string()), "{lines}");
        }
        let foreign = super::read("1\n0 2\n").expect_err("it is BMv2's");
        assert!(foreign.contains("serialize_state"), "{foreign}");
    }
}
