//! A formatted program is the same program: its HLIR differs in positions alone, and formatting it again changes nothing.

use super::cases::Corpus;
use super::report::Outcome;
use super::run::{CHECK_LIMIT, Ended, scratch, wait};
use std::fs;
use std::path::Path;
use std::process::Command;

pub fn run(bacus: &Path, corpus: &Corpus, program: &Path) -> Outcome {
    let folder = scratch("format");
    let copy = folder.join(program.file_name().unwrap_or_default());
    let copied = fs::create_dir_all(&folder).and_then(|()| fs::copy(program, &copy));
    let outcome = match copied {
        Ok(_) => formatted(bacus, corpus, program, &copy),
        Err(error) => Outcome::Failed(format!("no copy: {error}")),
    };
    let _ = fs::remove_dir_all(&folder);
    outcome
}

fn formatted(bacus: &Path, corpus: &Corpus, program: &Path, copy: &Path) -> Outcome {
    for arguments in [&["fmt"][..], &["fmt", "--check"]] {
        let mut command = Command::new(bacus);
        command.args(arguments).arg(copy);
        let ended = wait(command, CHECK_LIMIT);
        match (ended.crash(), is_good(&ended)) {
            (Some(crash), _) => return Outcome::Failed(crash),
            (None, false) => return Outcome::Failed(format!("{}: {}", arguments.join(" "), ended.first_line())),
            (None, true) => {}
        }
    }
    let show = |file: &Path| {
        let mut command = Command::new(bacus);
        // Files that the program includes are beside the original.
        let beside = program.parent().unwrap_or(Path::new("."));
        command.args(["show", "--Wdisable", "-I"]).arg(beside).arg("-I").arg(&corpus.include).arg(file);
        wait(command, CHECK_LIMIT)
    };
    let (before, after) = (show(program), show(copy));
    if is_good(&before) != is_good(&after) {
        return Outcome::Failed(format!("accepted once only: {}", after.first_line()));
    }
    if !is_good(&before) {
        return Outcome::Passed;
    }
    // The longer a place is, the more lines the text has.
    let words = |ended: &Ended| {
        let text = ended.text.lines().map(|line| unplaced(line).replace(',', " ")).collect::<Vec<String>>().join(" ");
        text.split_whitespace().map(str::to_string).collect::<Vec<String>>()
    };
    let (before, after) = (words(&before), words(&after));
    let number = before.iter().zip(&after).take_while(|(before, after)| before == after).count();
    if number == before.len().max(after.len()) {
        return Outcome::Passed;
    }
    let near =
        |words: &[String]| words.iter().skip(number.saturating_sub(3)).take(6).cloned().collect::<Vec<_>>().join(" ");
    Outcome::Failed(format!("`{}` became `{}`", near(&before), near(&after)))
}

fn is_good(ended: &Ended) -> bool {
    ended.status.and_then(|status| status.code()) == Some(0)
}

/// A line of HLIR without positions: `from a.p4:3:4-7`, and numbers of lines in names, as in `if_41`.
fn unplaced(line: &str) -> String {
    if line.starts_with("source ") {
        return String::new();
    }
    let mut parts = line.split(" from ");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let end = part.find([' ', ',', ')', '{']).unwrap_or(part.len());
        let is_place = part[..end].contains(':') && part[..end].ends_with(|last: char| last.is_ascii_digit());
        text.push_str(if is_place { &part[end..] } else { part });
    }
    let mut plain = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        plain.push(letter);
        if letter == '_' {
            while letters.next_if(char::is_ascii_digit).is_some() {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_no_difference_and_all_else_is() {
        let same = [
            ("  key a: exact from 3:4-7", "  key a: exact from x.p4:9:1-4"),
            ("node C.if_41: branch", "node C.if_7: branch"),
            ("  action a(x: 8 from 1:2-3) from 1:1-9 {", "  action a(x: 8 from 5:2-3) from 6:1-9 {"),
        ];
        for (before, after) in same {
            assert_eq!(unplaced(before), unplaced(after));
        }
        assert_ne!(unplaced("  key a: exact from 3:4-7"), unplaced("  key a: lpm from 3:4-7"));
        assert_ne!(unplaced("  a = 8w41"), unplaced("  a = 8w7"));
    }
}
