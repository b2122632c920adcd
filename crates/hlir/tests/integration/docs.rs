//! Runs the blocks of docs/hlir.md. A reference that no longer holds fails here.
//!
//! A block `hlir` is a program; the first one is the example that others add to: `items` at its end, `block` or `state` as the statements of
//! such a node. A block with a file's name is that file in tests/programs. Errors are those that a block's first lines announce.

use hlir::diagnostic::Diagnostic;
use hlir::source::SourceMap;
use hlir::text::{Parsed, parse_file, print_file};
use std::path::PathBuf;

struct Block {
    /// What follows the three quotes: `hlir items`.
    info: String,
    text: String,
    line: usize,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn blocks() -> Vec<Block> {
    let page = std::fs::read_to_string(folder().join("../../docs/hlir.md")).expect("the page can be read");
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for (index, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(info) if !open => {
                blocks.push(Block { info: info.to_string(), text: String::new(), line: index + 1 });
                open = true;
            }
            Some(_) => open = false,
            None if open => {
                let block = blocks.last_mut().expect("a block is open");
                block.text.push_str(line);
                block.text.push('\n');
            }
            None => {}
        }
    }
    blocks
}

/// The program of a block.
fn whole(block: &Block, example: &str) -> String {
    let exit = if block.text.contains("exit\n") { " exit queue" } else { "" };
    let text = &block.text;
    match block.info.split_once(' ') {
        Some((_, "items")) => format!("{example}\n{text}"),
        Some((_, "block")) => format!("{example}\nnode documented: block {{\n{text}}} -> queue{exit}\n"),
        Some((_, "state")) => format!("{example}\nnode documented: state of parser {{\n{text}}} -> routes\n"),
        Some((_, _)) | None if block.info.starts_with("plan") => format!("{example}\n{text}"),
        Some((_, _)) | None => text.clone(),
    }
}

fn read(block: &Block, text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let parsed = parse_file(text)?;
    let errors = parsed.verify();
    if errors.is_empty() { Ok(parsed) } else { panic_on(block, text, errors) }
}

fn panic_on(block: &Block, text: &str, errors: Vec<Diagnostic>) -> ! {
    let map = SourceMap::new(&format!("docs/hlir.md, block of line {}", block.line), text);
    panic!("{}", errors.iter().map(|error| error.render(&map)).collect::<String>())
}

#[test]
fn examples_read_back_and_are_written_as_they_print() {
    let blocks = blocks();
    let example = &blocks.first().expect("the page has an example").text;
    let mut seen = 0;
    for block in blocks.iter().filter(|block| matches!(block.info.split(' ').next(), Some("hlir" | "plan"))) {
        let text = whole(block, example);
        let parsed = read(block, &text).unwrap_or_else(|errors| panic_on(block, &text, errors));
        let printed = print_file(&parsed.program, parsed.plan.as_ref());
        let again = parse_file(&printed).unwrap_or_else(|errors| panic_on(block, &printed, errors));
        assert_eq!((&again.program, &again.plan), (&parsed.program, &parsed.plan), "block of line {}", block.line);
        assert_eq!(print_file(&again.program, again.plan.as_ref()), printed);
        let lines: Vec<&str> = printed.lines().map(str::trim).collect();
        let shown = block.text.lines().map(str::trim);
        for line in shown.filter(|line| !line.starts_with("//") || line.starts_with("///")) {
            assert!(lines.contains(&line), "block of line {}: no line\n{line}\nin\n{printed}", block.line);
        }
        seen += 1;
    }
    assert!(seen >= 15, "only {seen} examples were found");
}

#[test]
fn whole_programs_are_those_of_the_tests() {
    let programs = blocks().into_iter().filter(|block| block.info.ends_with(".hlir"));
    let names: Vec<String> = programs
        .map(|block| {
            let name = block.info.trim_start_matches("hlir ").to_string();
            let file = std::fs::read_to_string(folder().join("tests/programs").join(&name));
            assert_eq!(file.expect("the program can be read"), block.text, "{name}");
            name
        })
        .collect();
    assert_eq!(names, ["l2fwd.hlir", "ipv4.hlir"]);
}

#[test]
fn mistakes_are_explained_as_announced() {
    let blocks = blocks();
    let example = &blocks.first().expect("the page has an example").text;
    let mut seen = 0;
    for block in blocks.iter().filter(|block| block.info.contains("-error")) {
        let announced = block.text.lines().filter_map(|line| line.strip_prefix("// error: "));
        let announced: Vec<&str> = announced.collect();
        let text = whole(block, example);
        let errors = parse_file(&text).map_or_else(|errors| errors, |parsed| parsed.verify());
        let found: Vec<&str> = errors.iter().map(Diagnostic::message).collect();
        assert_eq!(found, announced, "block of line {}", block.line);
        assert!(errors.iter().all(|error| !error.span().is_none()), "block of line {}", block.line);
        seen += 1;
    }
    assert!(seen > 7, "only {seen} mistakes were found");
}
