//! Malformed texts: the reader answers with errors, never with a panic, a stack overflow or a hang.

use crate::generate::{Generator, Manners};
use hlir::text::{parse_file, parse_plan, print_file, print_plan, print_program};
use proptest::collection::vec;
use proptest::prelude::*;
use std::time::{Duration, Instant};

const L2FWD: &str = include_str!("../programs/l2fwd.hlir");
const IPV4: &str = include_str!("../programs/ipv4.hlir");

const PIECES: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "->",
    "=>",
    ":",
    ",",
    "=",
    "..",
    "&&&",
    "?",
    "#v0",
    "#h9.9",
    "#p0",
    "#",
    "`",
    "\"",
    "\n",
    "///",
    "//",
    "@a(",
    "@a",
    "from a:1:2-3:4",
    "9w511",
    "0x",
    "99999999999999999999",
    "1.5",
    "u32(",
    "valid(",
    "node",
    "table",
    "plan {",
    "exit",
    "_",
    "é",
    "\\",
    "if",
];

/// Mutates a text a few times: deletes, repeats or inserts a part.
fn mutated(text: &str, changes: &[(u32, u32, u32)]) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for (what, at, length) in changes {
        let at = *at as usize % (text.len() + 1);
        let end = (at + *length as usize % 30).min(text.len());
        match what % 4 {
            0 => drop(text.drain(at..end)),
            1 => {
                let part: Vec<char> = text[at..end].to_vec();
                let to = *length as usize % (text.len() + 1);
                text.splice(to..to, part);
            }
            2 => drop(text.splice(at..at, PIECES[*length as usize % PIECES.len()].chars())),
            _ => drop(text.splice(at..end, PIECES[*length as usize % PIECES.len()].chars())),
        }
    }
    text.into_iter().collect()
}

/// What can be read is verified without a panic, prints, and reads back.
fn survives(text: &str) -> Result<(), TestCaseError> {
    match parse_file(text) {
        Err(errors) => prop_assert!(!errors.is_empty()),
        Ok(parsed) => {
            parsed.verify();
            if parsed.has_program {
                let printed = print_file(&parsed.program, parsed.plan.as_ref());
                let again =
                    parse_file(&printed).map_err(|errors| TestCaseError::fail(format!("{errors:?}\n{printed}")))?;
                prop_assert_eq!(&again.program, &parsed.program, "{}", printed);
                prop_assert_eq!(&again.plan, &parsed.plan);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_programs_survive(changes in vec(any::<(u32, u32, u32)>(), 1..6), which in any::<bool>()) {
        survives(&mutated(if which { L2FWD } else { IPV4 }, &changes))?;
    }

    #[test]
    fn mutated_random_programs_survive(choices in vec(any::<u32>(), 0..800), changes in vec(any::<(u32, u32, u32)>(), 1..4)) {
        survives(&mutated(&print_program(&Generator::new(&choices, Manners::Orderly).program()), &changes))?;
    }

    #[test]
    fn mutated_plans_survive(choices in vec(any::<u32>(), 0..200), changes in vec(any::<(u32, u32, u32)>(), 1..4)) {
        let text = mutated(&print_plan(&Generator::new(&choices, Manners::Wild).plan()), &changes);
        if let Ok(plan) = parse_plan(&text) {
            prop_assert_eq!(parse_plan(&print_plan(&plan)).ok(), Some(plan));
        }
    }

    #[test]
    fn pieces_in_any_order_survive(pieces in vec(0..PIECES.len(), 0..60)) {
        let text: Vec<&str> = pieces.iter().map(|piece| PIECES[*piece]).collect();
        survives(&text.join(" "))?;
        survives(&format!("program a for b\nvariable x: 8\nnode n: block {{ x = {} }} -> n\n", text.join(" ")))?;
    }

    #[test]
    fn any_characters_survive(text in "\\PC{0,200}") {
        survives(&text)?;
    }
}

/// Reads a block with this body, on a thread with the smallest stack that threads have by default.
fn is_refused(body: String) -> bool {
    let text = format!("program a for b\nvariable x: 8\nvariable y: bool\nnode n: block {{ {body} }} -> n\n");
    let begun = Instant::now();
    let refused = std::thread::spawn(move || match parse_file(&text) {
        Ok(parsed) => {
            parsed.verify();
            assert_eq!(parse_file(&print_program(&parsed.program)).expect("it reads back").program, parsed.program);
            false
        }
        Err(_) => true,
    });
    let refused = refused.join().expect("nothing panics");
    assert!(begun.elapsed() < Duration::from_secs(20), "it took {:?}", begun.elapsed());
    refused
}

#[test]
fn deep_nesting_is_refused_and_ordinary_nesting_is_not() {
    let nested = |open: &str, inner: &str, close: &str, count: usize| {
        format!("{}{inner}{}", open.repeat(count), close.repeat(count))
    };
    for (count, refused) in [(190, false), (20_000, true)] {
        assert_eq!(is_refused(format!("x = {}", nested("(x + ", "1", ")", count))), refused);
        assert_eq!(is_refused(format!("x = {}", nested("~", "x", "", count))), refused);
        assert_eq!(is_refused(format!("x = {}", nested("y ? x : ", "x", "", count))), refused);
        assert_eq!(is_refused(format!("x = {}", nested("u8(", "x", ")", count))), refused);
        assert_eq!(is_refused(nested("if y { ", "exit", " }", count)), refused);
        assert_eq!(is_refused(format!("x = {}", nested("x[7:0]", "", "", 1) + &"[7:0]".repeat(count))), refused);
    }
}

#[test]
fn long_chains_are_read_up_to_a_limit() {
    for (count, refused) in [(490, false), (20_000, true)] {
        assert_eq!(is_refused(format!("x = x{}", " + x".repeat(2 * count))), refused);
        assert_eq!(is_refused(format!("x = 1{}", " + 1".repeat(count))), refused);
        assert_eq!(is_refused(format!("if y {{ x = 1 }} {}", "else if y { x = 1 } ".repeat(count))), refused);
    }
}

#[test]
fn long_lists_are_read() {
    assert!(!is_refused("x = 1\n".repeat(50_000)));
    assert!(is_refused("x = absent\n".repeat(50_000)));
    assert!(is_refused(format!("x = {}", "9".repeat(1_000_000))));
}
