//! Reads the line marks that the C preprocessor leaves in its output, so that messages name the files people wrote.
//!
//! Running it is the caller's business (`gcc -E -undef -nostdinc -x assembler-with-cpp -I...`): this crate reads no files.
//! The text itself stays as it is, since spans are offsets into it; the lexer skips the lines that begin with `#`,
//! and reports directives that the preprocessor did not know.

use hlir::source::{LineMark, SourceMap};

/// The map of a preprocessed text; `file` is the name of lines before the first mark, so of all lines if there is none.
pub fn source_map(file: &str, text: &str) -> SourceMap {
    let marks = text.lines().enumerate().filter_map(|(index, line)| {
        let (file_line, marked_file) = line_mark(line)?;
        Some(LineMark { first_line: index as u32 + 1, file: marked_file.into(), file_line })
    });
    SourceMap::with_marks(file, text, marks.collect())
}

/// The line number and file of `# 12 "file.p4" 2` or `#line 12 "file.p4"`: those of the line that follows.
fn line_mark(line: &str) -> Option<(u32, String)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let (number, rest) = rest.split_at(rest.find(|character: char| !character.is_ascii_digit())?);
    let quoted = rest.trim_start().strip_prefix('"')?;
    let mut name = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next()? {
            '"' => break,
            '\\' => name.push(characters.next()?),
            character => name.push(character),
        }
    }
    Some((number.parse().ok()?, unspaced(name)))
}

/// Tools that print tokens one by one leave ` .. / acl . p4 ` for `../acl.p4`. A name that begins with a blank is taken for one of these.
fn unspaced(name: String) -> String {
    if name.starts_with(' ') { name.replace(" ", "") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_cpp_are_read_and_other_directives_are_not() {
        assert_eq!(line_mark("# 12 \"dir/f.p4\" 2"), Some((12, "dir/f.p4".into())));
        assert_eq!(line_mark("#line 3 \"a\\\"b\""), Some((3, "a\"b".into())));
        assert_eq!(line_mark("# 3 \" .. / acl_ingress . p4 \""), Some((3, "../acl_ingress.p4".into())));
        assert_eq!(line_mark("# 3 \"my dir / f.p4\""), Some((3, "my dir / f.p4".into())));
        assert_eq!(line_mark("#pragma once"), None);
        assert_eq!(line_mark("# 12"), None);
        assert_eq!(line_mark("x # 12 \"f\""), None);
    }

    #[test]
    fn lines_after_a_mark_count_from_its_number() {
        let map = source_map("given.p4", "a\n# 1 \"core.p4\" 1\nb\nc\n# 2 \"given.p4\" 2\nd\n");
        let line_of = |part: &str| {
            let place = map.locate(map.text().find(part).expect("part of the text") as u32);
            format!("{}:{}", place.file, place.line)
        };
        assert_eq!(line_of("a"), "given.p4:1");
        assert_eq!(line_of("b"), "core.p4:1");
        assert_eq!(line_of("c\n#"), "core.p4:2");
        assert_eq!(line_of("d"), "given.p4:2");
    }

    #[test]
    fn what_an_included_file_holds_was_included_by_a_line_of_the_program() {
        let text =
            "# 0 \"given.p4\"\n# 1 \"given.p4\"\na\n# 1 \"v.p4\" 1\nb\n# 1 \"core.p4\" 1\nc\n# 3 \"given.p4\" 2\nd\n";
        let map = source_map("given.p4", text);
        let included = |part: &str| {
            let span = map.inclusion(map.text().find(part).expect("part of the text") as u32)?;
            Some(format!("{} by {}", map.locate(span.start).line, map.snippet(span)))
        };
        assert_eq!(included("a\n"), None);
        assert_eq!(included("b\n").as_deref(), Some("2 by # 1 \"v.p4\" 1"));
        assert_eq!(included("c\n").as_deref(), Some("2 by # 1 \"v.p4\" 1"));
        assert_eq!(included("d\n"), None);
    }
}
