//! Deep programs parse up to a limit, and are reported beyond it: never does the stack overflow, never is the time quadratic.

use super::messages;

/// Programs of `depth` levels, each nesting something else.
fn deep_programs(depth: usize) -> Vec<(&'static str, String)> {
    let around = |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
    let constant = |value: String| format!("const int x = {value};");
    let applied = |code: String| format!("control c() {{ apply {{ {code} }} }}");
    vec![
        ("parentheses", constant(around("(", "1", ")"))),
        ("calls", constant(around("f(", "1", ")"))),
        ("lists", constant(around("{", "1", "}"))),
        ("indices", constant(around("a[", "1", "]"))),
        ("casts", constant(around("(bit<8>)", "1", ""))),
        ("signs", constant(around("-", "1", ""))),
        ("conditions", constant(around("a ? b : ", "1", ""))),
        ("blocks", applied(around("{", "", "}"))),
        ("branches", applied(around("if (a) {", "exit;", "}"))),
        ("alternatives", applied(around("if (a) exit; else ", "exit;", ""))),
        ("switches", applied(around("switch (a) { 1: {", "exit;", "} }"))),
        ("loops", applied(around("for (bit<8> i in 1 .. 2) ", "exit;", ""))),
        ("types", format!("typedef {} T;", around("tuple<", "bit<8>", ">"))),
        ("widths", format!("typedef bit<{}> T;", around("(", "8", ")"))),
        ("annotations", format!("@a({}) const int x = 1;", around("(", "1", ")"))),
        (
            "keys",
            format!("parser p() {{ state start {{ transition select(1) {{ {}: accept; }} }} }}", around("(", "1", ")")),
        ),
    ]
}

/// Programs with `length` links in a chain that the parser does not recurse for, but whose tree is deep.
fn long_chains(length: usize) -> Vec<(&'static str, String)> {
    vec![
        ("sums", format!("const int x = 1{};", " + 1".repeat(length))),
        ("members", format!("const int x = a{};", ".b".repeat(length))),
        ("slices", format!("const int x = a{};", "[1:0]".repeat(length))),
        ("sizes", format!("typedef bit<8>{} T;", "[2]".repeat(length))),
    ]
}

#[test]
fn a_program_within_the_limit_parses() {
    for (what, text) in deep_programs(300).into_iter().chain(long_chains(900)) {
        assert_eq!(messages(&text), "", "{what}");
    }
}

#[test]
fn a_program_beyond_the_limit_is_refused_with_one_clear_message() {
    for (what, text) in deep_programs(20_000).into_iter().chain(long_chains(20_000)) {
        if what == "annotations" {
            // Nothing but a warning-free text: the body of an annotation need not be an expression.
            assert_eq!(messages(&text), "", "{what}");
            continue;
        }
        let found = messages(&text);
        assert!(found.contains("nested too deeply"), "{what}: {found}");
        assert_eq!(found.matches("error:").count(), 1, "{what}: {found}");
    }
}

#[test]
fn unbalanced_texts_end() {
    for piece in [
        "(",
        "{",
        "[",
        "<",
        "f<",
        "T<T<",
        "a ? ",
        "@a(",
        "if (",
        "switch (a) {",
        "control c() {",
        "}",
        ")",
        "@",
        "state s {",
    ] {
        let text = format!("control c() {{ apply {{ x = {} ", piece.repeat(20_000));
        assert!(!messages(&text).is_empty(), "{piece}");
        assert!(!messages(&piece.repeat(20_000)).is_empty(), "{piece}");
    }
}
