//! What is printed is read as an equal schedule, and mistakes are reported with their place.

use crate::page::{block, example};
use hlir::source::SourceMap;
use schedule::text::{Places, parse, print};
use schedule::verify::verify;

#[test]
fn the_text_is_read_as_an_equal_schedule() {
    let (program, schedule) = example();
    let text = print(&program, &schedule);
    let read = parse(&program, &text).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(read.schedule == schedule);
    assert_eq!(print(&program, &read.schedule), text);
    assert_eq!(verify(&program, &schedule, &Places::default()), []);
}

/// A change of any line is another schedule, or a mistake.
#[test]
fn each_line_means_something() {
    let (program, schedule) = example();
    let text = print(&program, &schedule);
    let lines: Vec<&str> = text.lines().collect();
    let inner = (0..lines.len()).filter(|at| !lines[*at].ends_with(['{', '}']));
    for at in inner {
        let without = [&lines[..at], &lines[at + 1..]].concat().join("\n");
        let is_same = parse(&program, &without).is_ok_and(|read| read.schedule == schedule);
        assert!(!is_same, "nothing changes without `{}`", lines[at]);
    }
}

#[test]
fn all_lines_that_cannot_be_read_are_reported() {
    let (program, _) = example();
    let text = block("schedule")
        .replace("packet[0..1]", "packet[0..")
        .replace("lookup hosts in hosts", "lookup hosts in guests")
        .replacen("send %", "give %", 1);
    let errors = parse(&program, &text).expect_err("the text has mistakes");
    let map = SourceMap::new("t", &text);
    let shown: Vec<String> = errors
        .iter()
        .map(|error| format!("{}: {}", map.line_at(error.span().start).1.trim(), error.message()))
        .collect();
    assert_eq!(shown.len(), 3, "{shown:#?}");
    assert!(shown[0].starts_with("%hdr.order.kind = packet[0..") && shown[0].contains("expected"), "{shown:#?}");
    assert!(shown[1].contains("expected a table of the program"), "{shown:#?}");
    assert!(shown[2].contains("an effect"), "{shown:#?}");
}
