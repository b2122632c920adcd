//! The syntax of P4 as its users meet it: what parses and to what, and how mistakes are explained.

mod expressions;
mod foreign;
mod messages;
mod nesting;
mod programs;

/// All messages about a text, as they are shown.
fn messages(text: &str) -> String {
    let parsed = p4::parse("f.p4", text);
    parsed.diagnostics.iter().map(|diagnostic| diagnostic.render(&parsed.map)).collect()
}

/// A program that must parse.
fn program(text: &str) -> p4::ast::Program {
    let found = messages(text);
    assert!(found.is_empty(), "{found}");
    p4::parse("f.p4", text).program
}
