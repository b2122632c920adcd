//! Diagnostics: a message, the places that it concerns, and a hint how to mend it.
//!
//! A user's mistake is a value, not a panic, so that one run reports all of them. The first line has the shape P4 users
//! grep for, `file.p4(12): [--Werror=type-error] error: message`; the column follows on the line below.

use crate::source::{SourceMap, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
    /// Worth knowing; also a warning that the user has made one of these.
    Info,
}

/// A place, with a text about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// An error or a warning. Its first label is where it is; further ones point at what it conflicts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    severity: Severity,
    message: String,
    kind: Option<&'static str>,
    labels: Vec<Label>,
    hints: Vec<String>,
}

impl Diagnostic {
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, message.into())
    }

    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, message.into())
    }

    fn new(severity: Severity, message: String) -> Diagnostic {
        Diagnostic { severity, message, kind: None, labels: Vec::new(), hints: Vec::new() }
    }

    /// The class of mistake, such as `type-error`, by which users select warnings and tests recognise errors.
    pub fn kind(mut self, kind: &'static str) -> Diagnostic {
        self.kind = Some(kind);
        self
    }

    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// The place to be named first, before those that there are.
    pub fn first_label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.insert(0, Label { span, text: text.into() });
        self
    }

    pub fn hint(mut self, text: impl Into<String>) -> Diagnostic {
        self.hints.push(text.into());
        self
    }

    /// The same, taken more or less seriously.
    pub fn at(mut self, severity: Severity) -> Diagnostic {
        self.severity = severity;
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    pub fn severity(&self) -> Severity {
        self.severity
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    /// The class of mistake, if it was given one.
    pub fn class(&self) -> Option<&'static str> {
        self.kind
    }

    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Where it is, `Span::NONE` if nowhere in particular.
    pub fn span(&self) -> Span {
        self.labels.first().map_or(Span::NONE, |label| label.span)
    }

    /// The whole message with excerpts of the source, ending in a newline.
    pub fn render(&self, map: &SourceMap) -> String {
        let mut out = String::new();
        let placed: Vec<&Label> = self.labels.iter().filter(|label| !label.span.is_none()).collect();
        if let Some(first) = placed.first() {
            let place = map.locate(first.span.start);
            out.push_str(&format!("{}({}): ", place.file, place.line));
        }
        let (flag, word) = match self.severity {
            Severity::Error => ("Werror", "error"),
            Severity::Warning => ("Wwarn", "warning"),
            Severity::Info => ("Winfo", "info"),
        };
        if let Some(kind) = self.kind {
            out.push_str(&format!("[--{flag}={kind}] "));
        }
        out.push_str(&format!("{word}: {}\n", self.message));
        let number_width = placed.iter().map(|label| map.locate(label.span.start).line.to_string().len()).max();
        let mut previous_line = None;
        for label in placed {
            let (line_start, _) = map.line_at(label.span.start);
            let excerpt = Excerpt::of(label, map, number_width.unwrap_or(0));
            out.push_str(&excerpt.render(previous_line == Some(line_start)));
            previous_line = Some(line_start);
        }
        for hint in &self.hints {
            out.push_str(&format!("hint: {hint}\n"));
        }
        out
    }
}

/// Lines longer than this are shown as a window around the place: generated programs have lines of 100 kB.
const WINDOW: usize = 160;
const BEFORE_PLACE: usize = 60;

/// A source line with the part a label is about underlined.
struct Excerpt {
    place: String,
    number: String,
    gutter: String,
    line: String,
    underline: String,
    text: String,
}

impl Excerpt {
    fn of(label: &Label, map: &SourceMap, number_width: usize) -> Excerpt {
        let place = map.locate(label.span.start);
        let (line_start, line) = map.line_at(label.span.start);
        let column = place.column as usize - 1;
        // What ends the line is none of it, and may be the place: a carriage return.
        let on_this_line = label.span.end.min(line_start + line.len() as u32).max(label.span.start);
        let length = map.snippet(Span::new(label.span.start, on_this_line)).chars().count().max(1);
        let skipped = if line.chars().count() > WINDOW { column.saturating_sub(BEFORE_PLACE) } else { 0 };
        let shown: String = line.chars().skip(skipped).take(WINDOW).collect();
        let cut_left = if skipped > 0 { "..." } else { "" };
        let cut_right = if line.chars().count() > skipped + WINDOW { "..." } else { "" };
        // Tabs stay tabs, so that the underline is below the text however wide they are displayed.
        let blank = |character: char| if character == '\t' { '\t' } else { ' ' };
        let indent: String = cut_left.chars().chain(shown.chars()).take(cut_left.len() + column - skipped).collect();
        let indent: String = indent.chars().map(blank).collect();
        let carets = "^".repeat(length.min(WINDOW.saturating_sub(column - skipped).max(1)));
        Excerpt {
            place: format!("{}:{}:{}", place.file, place.line, place.column),
            number: format!("{:>number_width$}", place.line),
            gutter: " ".repeat(number_width),
            line: format!("{cut_left}{shown}{cut_right}"),
            underline: format!("{indent}{carets}"),
            text: label.text.clone(),
        }
    }

    /// A label on the line already shown adds only its underline.
    fn render(&self, line_is_shown: bool) -> String {
        let Excerpt { place, number, gutter, line, underline, text } = self;
        let underlined = format!("{gutter} | {underline} {text}");
        let underlined = underlined.trim_end();
        if line_is_shown {
            return format!("{underlined}\n");
        }
        let numbered = format!("{number} | {line}");
        format!("{gutter}--> {place}\n{gutter} |\n{}\n{underlined}\n", numbered.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::LineMark;
    use expect_test::expect;

    fn span_of(text: &str, part: &str) -> Span {
        let start = text.find(part).expect("the test's text contains the part") as u32;
        Span::new(start, start + part.len() as u32)
    }

    #[test]
    fn an_error_shows_both_places_and_the_way_out() {
        let text = "key = {\n\tdst: lpm;\n\tsrc: lpm;\n}\n";
        let map = SourceMap::new("router.p4", text);
        let rendered = Diagnostic::error("`lpm` key must come alone")
            .kind("invalid")
            .label(span_of(text, "src: lpm"), "second `lpm` key here")
            .label(span_of(text, "dst: lpm"), "first one here")
            .hint("match one of them as `ternary`, or split the table in two")
            .render(&map);
        expect![[r#"
            router.p4(3): [--Werror=invalid] error: `lpm` key must come alone
             --> router.p4:3:2
              |
            3 | 	src: lpm;
              | 	^^^^^^^^ second `lpm` key here
             --> router.p4:2:2
              |
            2 | 	dst: lpm;
              | 	^^^^^^^^ first one here
            hint: match one of them as `ternary`, or split the table in two
        "#]]
        .assert_eq(&rendered);
    }

    #[test]
    fn labels_of_one_line_share_it() {
        let text = "x = a + b;\n";
        let rendered = Diagnostic::warning("widths differ")
            .kind("mismatch")
            .label(span_of(text, "a + b"), "")
            .label(span_of(text, "a"), "8 bits")
            .label(span_of(text, "b"), "16 bits")
            .render(&SourceMap::new("f.p4", text));
        expect![[r#"
            f.p4(1): [--Wwarn=mismatch] warning: widths differ
             --> f.p4:1:5
              |
            1 | x = a + b;
              |     ^^^^^
              |     ^ 8 bits
              |         ^ 16 bits
        "#]]
        .assert_eq(&rendered);
    }

    #[test]
    fn places_follow_the_marks_of_the_preprocessor() {
        let text = "# 1 \"core.p4\"\nerror { A }\n# 10 \"main.p4\"\n\nbit x\n";
        let mark = |first_line, file: &str, file_line| LineMark { first_line, file: file.into(), file_line };
        let map = SourceMap::with_marks("", text, vec![mark(1, "core.p4", 1), mark(3, "main.p4", 10)]);
        let rendered = Diagnostic::error("expected `;`").label(span_of(text, "x").after(), "").render(&map);
        expect![[r#"
            main.p4(11): error: expected `;`
              --> main.p4:11:6
               |
            11 | bit x
               |      ^
        "#]]
        .assert_eq(&rendered);
    }

    #[test]
    fn a_long_line_is_shown_around_the_place_and_no_place_is_no_excerpt() {
        let text = format!("{} here {}", "a".repeat(1000), "b".repeat(1000));
        let map = SourceMap::new("f.p4", &text);
        let rendered = Diagnostic::error("long").label(span_of(&text, "here"), "this").render(&map);
        let lines: Vec<&str> = rendered.lines().collect();
        assert!(lines.iter().all(|line| line.len() < 200), "{rendered}");
        assert_eq!(lines[3].find("here"), lines[4].find("^^^^"), "{rendered}");
        expect!["error: no main\n"].assert_eq(&Diagnostic::error("no main").render(&map));
    }

    #[test]
    fn a_place_may_be_where_a_line_has_ended() {
        let text = "bit x\r\r\n";
        let map = SourceMap::new("f.p4", text);
        let rendered = Diagnostic::error("expected `;`").label(Span::new(6, 7), "here").render(&map);
        expect![[r#"
            f.p4(1): error: expected `;`
             --> f.p4:1:7
              |
            1 | bit x
              |      ^ here
        "#]]
        .assert_eq(&rendered);
    }
}
