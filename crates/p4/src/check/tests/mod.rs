//! One rejected program for each family of rules, with its message, and what accepted programs mean.

use expect_test::{Expect, expect};
use hlir::diagnostic::Diagnostic;

mod annotations;
mod direct;
mod dpdk;
mod entries;
mod limits;
mod nesting;
mod objects;
mod suggestions;
mod tables;
mod warnings;

use super::*;
use crate::ast::{DeclarationKind, Expression, Program};
use crate::evaluate::Value;
use crate::parse;

fn diagnostics(text: &str) -> (Vec<Diagnostic>, hlir::source::SourceMap) {
    let parsed = parse("t.p4", text);
    assert!(parsed.diagnostics.is_empty(), "the test's program has to parse: {:?}", parsed.diagnostics);
    let (_, found) = check(&parsed.program);
    (found, parsed.map)
}

/// The errors of a program, rendered.
fn rejects(text: &str, expected: Expect) {
    let (found, map) = diagnostics(text);
    let rendered: Vec<String> = found.iter().filter(|one| one.is_error()).map(|one| one.render(&map)).collect();
    expected.assert_eq(&rendered.concat());
}

/// The warnings of a program, their first lines.
fn warns(text: &str, expected: Expect) {
    let (found, map) = diagnostics(text);
    let first = |one: &Diagnostic| format!("{}\n", one.render(&map).lines().next().unwrap_or_default());
    let lines: Vec<String> = found.iter().filter(|one| one.class() != Some("missing")).map(first).collect();
    expected.assert_eq(&lines.concat());
}

fn accepts(text: &str) {
    rejects(text, expect![[""]]);
}

/// Runs `look` on the value of the constant `name` in an accepted program.
fn with_constant<R>(text: &str, name: &str, look: impl FnOnce(&Checked<'_>, &Expression) -> R) -> R {
    let parsed = parse("t.p4", text);
    let (checked, found) = check(&parsed.program);
    assert!(!found.iter().any(|one| one.is_error()), "{found:?}");
    look(&checked, value_of_constant(&parsed.program, name))
}

fn value_of_constant<'a>(program: &'a Program, name: &str) -> &'a Expression {
    let found = program.declarations.iter().find_map(|declaration| match &declaration.kind {
        DeclarationKind::Constant(constant) if declaration.name.as_str() == name => Some(&constant.value),
        _ => None,
    });
    found.expect("the test's program declares the constant")
}

#[test]
fn names_have_to_be_declared_before_and_once() {
    rejects(
        "const bit<8> a = lenght;\nconst bit<8> length = 1;\nconst bit<8> length = 2;\nconst bit<8> c = lenght;\n",
        expect![[r#"
            t.p4(1): [--Werror=not-found] error: lenght: declaration not found
             --> t.p4:1:18
              |
            1 | const bit<8> a = lenght;
              |                  ^^^^^^ nothing of this name is declared before this place
            t.p4(3): [--Werror=duplicate] error: duplicate declaration of `length`
             --> t.p4:3:14
              |
            3 | const bit<8> length = 2;
              |              ^^^^^^ declared a second time here
             --> t.p4:2:14
              |
            2 | const bit<8> length = 1;
              |              ^^^^^^ first declared here
            t.p4(4): [--Werror=not-found] error: lenght: declaration not found
             --> t.p4:4:18
              |
            4 | const bit<8> c = lenght;
              |                  ^^^^^^ nothing of this name is declared before this place
            hint: did you mean `length`?
        "#]],
    );
}

#[test]
fn numbers_of_different_types_do_not_mix() {
    rejects(
        "bit<8> f(in bit<8> a, in bit<16> b, in int<8> c) { return a + b; }\n",
        expect![[r#"
        t.p4(1): [--Werror=type-error] error: `+` needs two numbers of one type, not `bit<8>` and `bit<16>`
         --> t.p4:1:59
          |
        1 | bit<8> f(in bit<8> a, in bit<16> b, in int<8> c) { return a + b; }
          |                                                           ^^^^^
          |                                                           ^ this is `bit<8>`
          |                                                               ^ this is `bit<16>`
        hint: cast one of them: `(bit<8>)`
    "#]],
    );
    rejects(
        "bit<8> f(in bool a) { return a; }\n",
        expect![[r#"
        t.p4(1): [--Werror=type-error] error: cannot implicitly cast `bool` to `bit<8>`
         --> t.p4:1:30
          |
        1 | bit<8> f(in bool a) { return a; }
          |                              ^ this is `bool`, `bit<8>` is expected
    "#]],
    );
    rejects(
        "bit<8> f(in bit<8> a, in int<8> c) { return a == c ? a : (bit<16>) a; }\n",
        expect![[r#"
        t.p4(1): [--Werror=type-error] error: `bit<8>` cannot be compared to `int<8>`
         --> t.p4:1:45
          |
        1 | bit<8> f(in bit<8> a, in int<8> c) { return a == c ? a : (bit<16>) a; }
          |                                             ^^^^^^
          |                                             ^ this is `bit<8>`
          |                                                  ^ this is `int<8>`
        t.p4(1): [--Werror=type-error] error: the two sides of `?:` have different types, `bit<8>` and `bit<16>`
         --> t.p4:1:45
          |
        1 | bit<8> f(in bit<8> a, in int<8> c) { return a == c ? a : (bit<16>) a; }
          |                                             ^^^^^^^^^^^^^^^^^^^^^^^^
    "#]],
    );
}

#[test]
fn division_and_shifts_have_rules_of_their_own() {
    rejects(
        "const int a = 4 / 0;\nconst int b = -4 / 2;\nconst int c = 1 << -1;\n",
        expect![[r#"
        t.p4(1): [--Werror=expr] error: division by zero
         --> t.p4:1:15
          |
        1 | const int a = 4 / 0;
          |               ^^^^^
        t.p4(2): [--Werror=invalid] error: `/` is not defined on negative numbers
         --> t.p4:2:15
          |
        2 | const int b = -4 / 2;
          |               ^^^^^^
        t.p4(3): [--Werror=invalid] error: shifts by negative amounts are not permitted
         --> t.p4:3:15
          |
        3 | const int c = 1 << -1;
          |               ^^^^^^^
    "#]],
    );
}

#[test]
fn literals_take_the_type_that_is_wanted() {
    let program = "struct S { bit<8> x; bit<4> y; }\nconst S s = { y = 3, x = 300 };\nconst bit<4> y = s.y + 15;\n";
    with_constant(program, "s", |checked, value| {
        assert_eq!(checked.type_of(value).to_string(), "struct S");
        assert_eq!(checked.conversion(value), None);
        let field = |number: u32| Value::Integer(number.into());
        assert_eq!(checked.constant(value), Some(&Value::Structure([field(44), field(3)].into())));
    });
    with_constant(program, "y", |checked, value| {
        assert_eq!(checked.constant(value), Some(&Value::Integer(2.into())));
    });
    rejects(
        "struct S { bit<8> x; bit<4> y; }\nconst S a = { x = 1 };\nconst S b = { 1, true };\nconst S c = { z = 1, ... };\n",
        expect![[r#"
            t.p4(2): [--Werror=type-error] error: no value for field `y` of `struct S`
             --> t.p4:2:13
              |
            2 | const S a = { x = 1 };
              |             ^^^^^^^^^
            hint: end the list in `...` to give the other fields their default values
            t.p4(3): [--Werror=type-error] error: cannot implicitly cast `bool` to `bit<4>`
             --> t.p4:3:18
              |
            3 | const S b = { 1, true };
              |                  ^^^^ this is `bool`, `bit<4>` is expected
            t.p4(4): [--Werror=type-error] error: `struct S` has no field `z`
             --> t.p4:4:15
              |
            4 | const S c = { z = 1, ... };
              |               ^
        "#]],
    );
}

#[test]
fn an_int_remembers_what_it_was_cast_to() {
    with_constant("const bit<16> a = 1 + 2;\n", "a", |checked, value| {
        assert_eq!(checked.type_of(value).to_string(), "int");
        assert_eq!(checked.conversion(value).map(ToString::to_string), Some("bit<16>".to_owned()));
    });
    with_constant("enum bit<4> E { A = 3 }\nconst bit<4> a = E.A;\n", "a", |checked, value| {
        assert_eq!(checked.used_type(value).to_string(), "bit<4>");
        assert_eq!(checked.constant(value), Some(&Value::Integer(3.into())));
    });
}

#[test]
fn type_arguments_are_inferred_or_asked_for() {
    let library = "extern T pick<T>(in bool c, in T a, in T b);\nextern T any<T>();\n";
    rejects(&format!("{library}bit<8> f(in bit<8> x) {{ return pick(true, 1, x); }}\n"), expect![[""]]);
    rejects(
        &format!("{library}bit<8> f() {{ return pick(true, 1, 2); }}\n"),
        expect![[r#"
        t.p4(3): [--Werror=type-error] error: could not infer a width: give the number one, as in `8w1`
         --> t.p4:3:32
          |
        3 | bit<8> f() { return pick(true, 1, 2); }
          |                                ^
        t.p4(3): [--Werror=type-error] error: could not infer a width: give the number one, as in `8w1`
         --> t.p4:3:35
          |
        3 | bit<8> f() { return pick(true, 1, 2); }
          |                                   ^
    "#]],
    );
    rejects(
        &format!("{library}void f() {{ any(); }}\n"),
        expect![[r#"
        t.p4(3): [--Werror=type-error] error: could not infer a type for variable `T` of `any`
         --> t.p4:3:12
          |
        3 | void f() { any(); }
          |            ^^^^^
         --> t.p4:2:14
          |
        2 | extern T any<T>();
          |              ^ the type parameter
        hint: give the type arguments: `name<types>(arguments)`
    "#]],
    );
}

#[test]
fn arguments_go_to_parameters() {
    let library = "extern void f(in bit<8> a, out bit<8> b);\n";
    rejects(
        &format!("{library}void g() {{ bit<8> x = 0; f(x); f(b = x, a = 1); f(1, 2); }}\n"),
        expect![[r#"
        t.p4(2): [--Werror=type-error] error: `f`: no argument for parameter `b`
         --> t.p4:2:26
          |
        2 | void g() { bit<8> x = 0; f(x); f(b = x, a = 1); f(1, 2); }
          |                          ^^^^
         --> t.p4:1:39
          |
        1 | extern void f(in bit<8> a, out bit<8> b);
          |                                       ^ the parameter
        t.p4(2): [--Werror=type-error] error: the argument of `b` has to be something that can be written to
         --> t.p4:2:54
          |
        2 | void g() { bit<8> x = 0; f(x); f(b = x, a = 1); f(1, 2); }
          |                                                      ^ the parameter is `out` or `inout`
    "#]],
    );
    rejects(
        &format!("{library}void g() {{ bit<8> x = 0; f(a = 1, x); f(c = 1, b = x); }}\n"),
        expect![[r#"
        t.p4(2): [--Werror=invalid] error: either all or none of the arguments of a call have to be named
         --> t.p4:2:26
          |
        2 | void g() { bit<8> x = 0; f(a = 1, x); f(c = 1, b = x); }
          |                          ^^^^^^^^^^^
        t.p4(2): [--Werror=type-error] error: `f` has no parameter `c`
         --> t.p4:2:41
          |
        2 | void g() { bit<8> x = 0; f(a = 1, x); f(c = 1, b = x); }
          |                                         ^^^^^
         --> t.p4:1:13
          |
        1 | extern void f(in bit<8> a, out bit<8> b);
          |             ^ declared here
    "#]],
    );
}

#[test]
fn only_variables_and_outputs_can_be_written() {
    rejects(
        "control c(in bit<8> a, inout bit<8> b) { apply { a = 1; b[3:0] = 2; } }\n",
        expect![[r#"
        t.p4(1): [--Werror=type-error] error: this cannot be the target of an assignment
         --> t.p4:1:50
          |
        1 | control c(in bit<8> a, inout bit<8> b) { apply { a = 1; b[3:0] = 2; } }
          |                                                  ^ only variables, `out` and `inout` parameters and their parts can be written
          |                     ^ declared here
    "#]],
    );
}

#[test]
fn types_can_hold_some_types_only() {
    rejects(
        "header H { bit<8> a; }\nheader G { H h; int x; }\nheader_union U { bit<8> b; }\n",
        expect![[r#"
        t.p4(2): [--Werror=type-error] error: field `h` of `header G` cannot have type `header H`
         --> t.p4:2:14
          |
        2 | header G { H h; int x; }
          |              ^
        t.p4(2): [--Werror=type-error] error: field `x` of `header G` cannot have type `int`
         --> t.p4:2:21
          |
        2 | header G { H h; int x; }
          |                     ^
        t.p4(3): [--Werror=type-error] error: field `b` of `header_union U` cannot have type `bit<8>`
         --> t.p4:3:25
          |
        3 | header_union U { bit<8> b; }
          |                         ^
    "#]],
    );
    rejects(
        "type tuple<bool> T;\nenum bool E { A = true }\nconst bit<(0 - 1)> w = 0;\n",
        expect![[r#"
        t.p4(1): [--Werror=type-error] error: `type` can only be applied to base types, not to `tuple<bool>`
         --> t.p4:1:18
          |
        1 | type tuple<bool> T;
          |                  ^
        t.p4(2): [--Werror=type-error] error: `bool` cannot be the type of an enumeration; only `bit<>` and `int<>` can
         --> t.p4:2:6
          |
        2 | enum bool E { A = true }
          |      ^^^^
        t.p4(3): [--Werror=invalid] error: -1: invalid width of a type
         --> t.p4:3:7
          |
        3 | const bit<(0 - 1)> w = 0;
          |       ^^^^^^^^^^^^ a width cannot be negative
    "#]],
    );
}

#[test]
fn functions_return_on_all_paths() {
    rejects(
        "bit<8> f(in bool a) { if (a) { return 1; } }\nvoid g() { return 1; }\n",
        expect![[r#"
        t.p4(1): [--Werror=insufficient] error: function `f` does not return a value on all paths
         --> t.p4:1:8
          |
        1 | bit<8> f(in bool a) { if (a) { return 1; } }
          |        ^ it returns `bit<8>`
        hint: end it with `return`
        t.p4(2): [--Werror=type-error] error: a value is returned where nothing is expected
         --> t.p4:2:12
          |
        2 | void g() { return 1; }
          |            ^^^^^^^^^
    "#]],
    );
}

#[test]
fn a_mistake_is_reported_once() {
    rejects(
        "const bit<8> a = missing + 1;\nconst bit<8> b = a + 1;\nconst bit<8> c = b[3:0] ++ missing;\n",
        expect![[r#"
            t.p4(1): [--Werror=not-found] error: missing: declaration not found
             --> t.p4:1:18
              |
            1 | const bit<8> a = missing + 1;
              |                  ^^^^^^^ nothing of this name is declared before this place
            t.p4(3): [--Werror=not-found] error: missing: declaration not found
             --> t.p4:3:28
              |
            3 | const bit<8> c = b[3:0] ++ missing;
              |                            ^^^^^^^ nothing of this name is declared before this place
        "#]],
    );
}

#[test]
fn warnings_show_what_is_probably_not_meant() {
    warns(
        "const bit<8> big = 256;\nconst bit<8> negative = -1;\ncontrol c(inout bit<8> x) { apply { bit<8> y; x = x << 9; } }\n",
        expect![[r#"
            t.p4(1): [--Wwarn=overflow] warning: 256: value does not fit in 8 bits
            t.p4(2): [--Wwarn=mismatch] warning: -1: negative value with unsigned type bit<8>
            t.p4(3): [--Wwarn=overflow] warning: shifting a 8-bit value by 9
            t.p4(3): [--Wwarn=unused] warning: 'y' is unused
            t.p4(1): [--Wwarn=unused] warning: 'big' is unused
            t.p4(2): [--Wwarn=unused] warning: 'negative' is unused
            t.p4(3): [--Wwarn=unused] warning: control 'c' is unused
        "#]],
    );
}

#[test]
fn deep_programs_do_not_overflow_the_stack() {
    let depth = 400;
    let program = format!("bit<8> f(in bit<8> x) {{ return {}x{}; }}\n", "(~".repeat(depth), ")".repeat(depth));
    accepts(&program);
}

#[test]
fn a_body_is_followed_from_statement_to_statement() {
    warns(
        "header H { bit<8> f; }
void f(in bool c, out bit<8> r) {
    bit<8> x;
    H h;
    if (c) { x = 1; h.setValid(); h.f = x; } else { h.f = 2; }
    bit<8> y = x + h.f;
    if (h.isValid()) { y = h.f; }
    if (c) { return; }
    r = y;
}
",
        expect![[r#"
            t.p4(2): [--Wwarn=unused] warning: 'f' is unused
            t.p4(5): [--Wwarn=invalid-header] warning: accessing a field of an invalid header h
            t.p4(6): [--Wwarn=uninitialized-use] warning: x may be uninitialized
            t.p4(6): [--Wwarn=invalid-header] warning: accessing a field of a potentially invalid header h
            t.p4(2): [--Wwarn=uninitialized-out-param] warning: out parameter 'r' may be uninitialized when 'f' terminates
        "#]],
    );
}

#[test]
fn a_few_lines_cannot_make_a_structure_of_endless_parts() {
    let mut program = "struct S0 { bit<8> a; }\n".to_owned();
    for level in 1..64 {
        program.push_str(&format!("struct S{level} {{ S{0} a; S{0} b; }}\n", level - 1));
    }
    let (found, _) = diagnostics(&format!("{program}header H {{ S63 s; }}\n"));
    let first = found.iter().find(|one| one.is_error()).map(|one| (one.class(), one.message()));
    assert_eq!(first, Some((Some("overlimit"), "a structure with so many parts is not supported")));
}
