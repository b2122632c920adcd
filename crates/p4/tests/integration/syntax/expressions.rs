//! How expressions group. Each is printed with all its parentheses.

use super::{messages, program};
use p4::ast::{DeclarationKind, ExpressionKind};

/// The value of the last constant of a text, fully parenthesized.
fn value(text: &str) -> String {
    let program = program(text);
    let last = program.declarations.last().expect("a declaration");
    let DeclarationKind::Constant(constant) = &last.kind else { panic!("{} is no constant", last.name) };
    constant.value.to_string()
}

fn grouped(expression: &str) -> String {
    let declared = "typedef bit<8> T; struct S<U> { U x; } extern V f<V>(in V x); const int a = 1;";
    value(&format!("{declared} const int x = {expression};"))
}

#[test]
fn bit_operators_bind_tighter_than_comparisons() {
    assert_eq!(grouped("a & 1 == b"), "(a & 1) == b");
    assert_eq!(grouped("a == b | c"), "a == (b | c)");
    assert_eq!(grouped("a | b ^ c & d"), "a | (b ^ (c & d))");
    assert_eq!(grouped("a < b & c == d"), "(a < (b & c)) == d");
}

#[test]
fn concatenation_and_saturation_are_as_tight_as_addition() {
    assert_eq!(grouped("a ++ b + c ++ d"), "((a ++ b) + c) ++ d");
    assert_eq!(grouped("a |+| b * c |-| d"), "(a |+| (b * c)) |-| d");
    assert_eq!(grouped("a << b ++ c"), "a << (b ++ c)");
    assert_eq!(grouped("a & b << c"), "a & (b << c)");
}

#[test]
fn logic_and_conditions_are_the_loosest() {
    assert_eq!(grouped("a || b && c == d"), "a || (b && (c == d))");
    assert_eq!(grouped("a ? b : c ? d : e"), "a ? b : (c ? d : e)");
    assert_eq!(grouped("a || b ? c : d + 1"), "(a || b) ? c : (d + 1)");
}

#[test]
fn operators_of_one_level_group_to_the_left() {
    assert_eq!(grouped("a - b - c"), "(a - b) - c");
    assert_eq!(grouped("a >> b >> c"), "(a >> b) >> c");
    assert_eq!(grouped("a / b % c * d"), "((a / b) % c) * d");
}

#[test]
fn prefixes_and_casts_bind_tighter_than_operators_and_looser_than_members() {
    assert_eq!(grouped("-a + ~b.c"), "(-a) + (~b.c)");
    assert_eq!(grouped("!a[1] && b"), "(!a[1]) && b");
    assert_eq!(grouped("(T) a + b"), "((T) a) + b");
    assert_eq!(grouped("(bit<8>) a[3:0]"), "(bit<8>) a[3:0]");
    assert_eq!(grouped("(T)(S<T>) { x = 1 }"), "(T) ((S<T>) { x = 1 })");
}

#[test]
fn a_name_in_parentheses_is_a_cast_only_if_it_is_a_type() {
    assert_eq!(grouped("(T) - b"), "(T) (-b)");
    assert_eq!(grouped("(a) - b"), "a - b");
    assert_eq!(grouped("(a)(b)"), "a(b)");
    assert_eq!(grouped("(T)(b)"), "(T) b");
    // What is not declared but can only be a type is taken for one: the checker has the better message.
    assert_eq!(grouped("(Undeclared) b"), "(Undeclared) b");
    assert_eq!(grouped("(Undeclared)(T) b"), "(Undeclared) ((T) b)");
}

#[test]
fn an_inner_name_hides_a_type() {
    let text =
        "typedef bit<8> T; control c(in bit<8> T, inout bit<8> x) { apply { x = (T) - x; } } const int y = (T) - 1;";
    assert_eq!(value(text), "(T) (-1)");
    let program = program(text);
    let DeclarationKind::Control(control) = &program.declarations[1].kind else { panic!("a control") };
    let statement = &control.apply.as_ref().expect("an apply block").statements[0];
    let p4::ast::StatementKind::Assign { value, .. } = &statement.kind else { panic!("an assignment") };
    assert_eq!(value.to_string(), "T - x");
}

#[test]
fn angles_are_type_arguments_only_if_a_type_follows() {
    assert_eq!(grouped("f<T>(b)"), "f<T>(b)");
    assert_eq!(grouped("f<S<S<T>>>(b)"), "f<S<S<T>>>(b)");
    assert_eq!(grouped("f<bit<8>>(b)"), "f<bit<8>>(b)");
    assert_eq!(grouped("f<_>(b)"), "f<_>(b)");
    assert_eq!(grouped("a < b > (c)"), "(a < b) > c");
    assert_eq!(grouped("a < b >> (c)"), "a < (b >> c)");
    assert_eq!(grouped("a.f<T>(b).g"), "a.f<T>(b).g");
    assert_eq!(grouped("S<T>.x"), "S<T>.x");
}

#[test]
fn a_width_may_be_computed_and_ends_at_the_first_bare_angle() {
    assert_eq!(grouped("(bit<a + 1>) 1"), "(bit<(a + 1)>) 1");
    assert_eq!(grouped("(bit<(a > 1 ? 4 : 8)>) 1"), "(bit<((a > 1) ? 4 : 8)>) 1");
    assert_eq!(grouped("f<tuple<bit<a[3:0]>, bit<4>>>(b)"), "f<tuple<bit<a[3:0]>, bit<4>>>(b)");
    assert_eq!(grouped("(bit<8>[4]) b"), "(bit<8>[4]) b");
}

#[test]
fn lists_structures_and_their_defaults() {
    assert_eq!(grouped("{ 1, { a, b }, }"), "{ 1, { a, b } }");
    assert_eq!(grouped("{ x = 1, y = { }, ... }"), "{ x = 1, y = {}, ... }");
    assert_eq!(grouped("{ 1, ... }"), "{ 1, ... }");
    assert_eq!(grouped("{ ... }"), "{...}");
    assert_eq!(grouped("(T){#}"), "(T) {#}");
    assert_eq!(grouped("..."), "...");
}

#[test]
fn slices_calls_and_paths() {
    assert_eq!(grouped("a[7:0][3:0]"), "a[7:0][3:0]");
    assert_eq!(grouped("a[b + 1 +: 8]"), "a[b + 1+:8]");
    assert_eq!(grouped(".a.b(x = 1, _, y = _)"), ".a.b(x = 1, _, y = _)");
    assert_eq!(grouped("error.NoMatch"), "error.NoMatch");
    assert_eq!(grouped("this.key.apply.state"), "this.key.apply.state");
    assert_eq!(grouped("\"a\\n\" ++ \"b\""), "\"a\\n\" ++ \"b\"");
}

#[test]
fn literals_keep_their_width_and_base() {
    assert_eq!(grouped("8w0xfF + 4s0b1_0"), "8w0xFF + 4s0b10");
    assert_eq!(grouped("0o17"), "0o17");
    let huge = format!("0x1{}", "0".repeat(1000));
    assert_eq!(grouped(&huge), huge);
}

#[test]
fn what_is_said_of_a_huge_literal() {
    let text = format!("const int x = {};", "9".repeat(1_000_000));
    let found = messages(&text);
    assert!(found.contains("malformed number") && found.contains("1000000 characters"), "{found}");
    assert!(found.len() < 2000, "the line is not shown whole: {} bytes", found.len());
}

#[test]
fn ids_are_dense_and_spans_cover_what_they_say() {
    let text = "@a(1, 2) @b(no list +) const int x = (1 + f(2)) * 3;";
    let parsed = p4::parse("f.p4", text);
    let DeclarationKind::Constant(constant) = &parsed.program.declarations[0].kind else { panic!("a constant") };
    let mut ids: Vec<u32> = parsed.program.declarations[0].attributes.annotations[0]
        .expressions()
        .iter()
        .map(|expression| expression.id.0)
        .collect();
    let mut pending = vec![&constant.value];
    while let Some(expression) = pending.pop() {
        ids.push(expression.id.0);
        pending.extend(expression.children());
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..parsed.program.expression_count).collect::<Vec<_>>());
    let ExpressionKind::Binary { left, .. } = &constant.value.kind else { panic!("a product") };
    assert_eq!(parsed.map.snippet(left.span), "(1 + f(2))");
    assert_eq!(parsed.map.snippet(constant.value.span), "(1 + f(2)) * 3");
}
