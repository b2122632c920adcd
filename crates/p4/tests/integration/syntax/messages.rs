//! Typical mistakes and their messages. Each test is named by the mistake in its text.

use super::messages;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&messages(text));
}

#[test]
fn missing_semicolon_at_the_end_of_a_line() {
    check(
        "control c(inout bit<8> x) {\n    apply {\n        x = x + 1\n        x = 2;\n    }\n}\n",
        expect![[r#"
        f.p4(3): [--Werror=syntax] error: missing `;`
         --> f.p4:3:18
          |
        3 |         x = x + 1
          |                  ^ `;` expected here
    "#]],
    );
}

#[test]
fn missing_operand() {
    check(
        "const bit<8> x = 1 + ;\nconst bit<8> y = * 2;\n",
        expect![[r#"
        f.p4(1): [--Werror=syntax] error: expected an expression, found `;`
         --> f.p4:1:22
          |
        1 | const bit<8> x = 1 + ;
          |                      ^ expected an expression
        f.p4(2): [--Werror=syntax] error: expected an expression, found `*`
         --> f.p4:2:18
          |
        2 | const bit<8> y = * 2;
          |                  ^ expected an expression
    "#]],
    );
}

#[test]
fn block_never_closed() {
    check(
        "control c() {\n    apply {\n        if (true) {\n            exit;\n    }\n}\ncontrol d() { apply {} }\n",
        expect![[r#"
            f.p4(1): [--Werror=syntax] error: this `{` is never closed
             --> f.p4:1:13
              |
            1 | control c() {
              |             ^ opened here
             --> f.p4:7:1
              |
            7 | control d() { apply {} }
              | ^^^^^^^ not closed before `control`
        "#]],
    );
}

#[test]
fn text_ends_inside_a_struct() {
    check(
        "struct s {\n    bit<8> a;\n",
        expect![[r#"
        f.p4(1): [--Werror=syntax] error: this `{` is never closed
         --> f.p4:1:10
          |
        1 | struct s {
          |          ^ opened here
         --> f.p4:2:14
          |
        2 |     bit<8> a;
          |              ^ not closed before the end of the text
    "#]],
    );
}

#[test]
fn missing_opening_brace() {
    check(
        "struct s\n    bit<8> a;\n    bit<8> b;\n}\nconst int x = 1;\n",
        expect![[r#"
        f.p4(1): [--Werror=syntax] error: expected `{`, found `bit`
         --> f.p4:1:9
          |
        1 | struct s
          |         ^ expected `{` here
    "#]],
    );
}

#[test]
fn mistake_in_a_list_is_not_the_end_of_its_block() {
    check(
        "control c() {\n    apply {\n        x = { 1, , 2 };\n        y = 1;\n    }\n}\n",
        expect![[r#"
        f.p4(3): [--Werror=syntax] error: expected an expression, found `,`
         --> f.p4:3:18
          |
        3 |         x = { 1, , 2 };
          |                  ^ expected an expression
    "#]],
    );
}

#[test]
fn unmatched_closing_brace() {
    check(
        "const int a = 1;\n}\nconst int b = ;\n",
        expect![[r#"
        f.p4(2): [--Werror=syntax] error: unmatched `}`
         --> f.p4:2:1
          |
        2 | }
          | ^ closes nothing
        f.p4(3): [--Werror=syntax] error: expected an expression, found `;`
         --> f.p4:3:15
          |
        3 | const int b = ;
          |               ^ expected an expression
    "#]],
    );
}

#[test]
fn keyword_as_a_name() {
    check(
        "header header {\n    bit<8> table;\n    bit<8> _;\n}\n",
        expect![[r#"
            f.p4(1): [--Werror=syntax] error: `header` is a keyword and cannot be a name
             --> f.p4:1:8
              |
            1 | header header {
              |        ^^^^^^ a name is expected here
            hint: choose another name, such as `header_`
            f.p4(2): [--Werror=syntax] error: `table` is a keyword and cannot be a name
             --> f.p4:2:12
              |
            2 |     bit<8> table;
              |            ^^^^^ a name is expected here
            hint: choose another name, such as `table_`
            f.p4(3): [--Werror=syntax] error: `_` cannot be a name
             --> f.p4:3:12
              |
            3 |     bit<8> _;
              |            ^ a name is expected here
            hint: choose a name
        "#]],
    );
}

#[test]
fn malformed_numbers() {
    check(
        "const int a = 0b12;\nconst int b = 8w;\nconst int c = 12ab;\n",
        expect![[r#"
        f.p4(1): [--Werror=syntax] error: malformed number
         --> f.p4:1:15
          |
        1 | const int a = 0b12;
          |               ^^^^ `2` is not a digit of a number in base 2
        f.p4(2): [--Werror=syntax] error: malformed number
         --> f.p4:2:15
          |
        2 | const int b = 8w;
          |               ^^ this number has no digits
        f.p4(3): [--Werror=syntax] error: malformed number
         --> f.p4:3:15
          |
        3 | const int c = 12ab;
          |               ^^^^ `a` is not a digit of a number in base 10
    "#]],
    );
}

#[test]
fn characters_outside_the_language() {
    check(
        "const int a = $1;\nconst int b = 1 # 2;\n",
        expect![[r#"
        f.p4(1): [--Werror=syntax] error: expected an expression, found the character `$`, which P4 does not use
         --> f.p4:1:15
          |
        1 | const int a = $1;
          |               ^ expected an expression
        f.p4(2): [--Werror=syntax] error: expected `;`, found the character `#`, which P4 does not use
         --> f.p4:2:17
          |
        2 | const int b = 1 # 2;
          |                 ^ expected `;`
    "#]],
    );
}

#[test]
fn string_and_comment_without_end() {
    check(
        "@name(\"x)\nconst int a = 1;\n",
        expect![[r#"
        f.p4(1): [--Werror=syntax] error: a string that begins here never ends
         --> f.p4:1:7
          |
        1 | @name("x)
          |       ^ no closing `"` before the end of the text
        f.p4(1): [--Werror=syntax] error: this annotation never ends
         --> f.p4:1:6
          |
        1 | @name("x)
          |      ^ no `)` for this `(`
    "#]],
    );
    check(
        "const int a = 1;\n/* never closed\n",
        expect![[r#"
        f.p4(2): [--Werror=syntax] error: a comment that begins here never ends
         --> f.p4:2:1
          |
        2 | /* never closed
          | ^^ no `*/` before the end of the text
    "#]],
    );
}

#[test]
fn every_mistake_of_a_text_is_reported() {
    let text = "struct s {\n    bit<8 a;\n    bit<8> b;\n    c;\n}\nconst int x = );\ncontrol c() {\n    table t {\n        \
                key = { x exact; }\n        actions = { a, b; }\n        size = ;\n    }\n    apply { y + 1; return 3 4; }\n}\n";
    check(
        text,
        expect![[r#"
        f.p4(2): [--Werror=syntax] error: expected `>`
         --> f.p4:2:11
          |
        2 |     bit<8 a;
          |           ^ expected `>`
          |        ^ to close this `<`
        f.p4(4): [--Werror=syntax] error: expected a name, found `;`
         --> f.p4:4:6
          |
        4 |     c;
          |      ^ expected a name
        f.p4(6): [--Werror=syntax] error: expected an expression, found `)`
         --> f.p4:6:15
          |
        6 | const int x = );
          |               ^ expected an expression
        f.p4(9): [--Werror=syntax] error: expected `:` and how the key is matched, found `exact`
         --> f.p4:9:19
          |
        9 |         key = { x exact; }
          |                   ^^^^^ expected `:` and how the key is matched
        f.p4(10): [--Werror=syntax] error: expected `;`, found `,`
          --> f.p4:10:22
           |
        10 |         actions = { a, b; }
           |                      ^ expected `;`
        f.p4(11): [--Werror=syntax] error: expected an expression, found `;`
          --> f.p4:11:16
           |
        11 |         size = ;
           |                ^ expected an expression
        f.p4(13): [--Werror=syntax] error: expected `=` or a call, found `+`
          --> f.p4:13:15
           |
        13 |     apply { y + 1; return 3 4; }
           |               ^ expected `=` or a call
        f.p4(13): [--Werror=syntax] error: expected `;`, found a number
          --> f.p4:13:29
           |
        13 |     apply { y + 1; return 3 4; }
           |                             ^ expected `;`
    "#]],
    );
}

#[test]
fn variable_of_the_whole_program() {
    check(
        "bit<8> counter;\n",
        expect![[r#"
        f.p4(1): [--Werror=syntax] error: a variable cannot be declared outside parsers, controls, actions and functions
         --> f.p4:1:8
          |
        1 | bit<8> counter;
          |        ^^^^^^^ expected `(` after `counter`, as for a function
        hint: make it a constant with `const`, or move it to where it is used
    "#]],
    );
}

#[test]
fn type_where_a_value_belongs() {
    check(
        "struct S { bit<8> a; }\nconst bit<8> x = S + 1;\nconst bit<8> y = bit<8>(3);\n",
        expect![[r#"
        f.p4(2): [--Werror=syntax] error: `S` is a type, a value is expected here
         --> f.p4:2:18
          |
        2 | const bit<8> x = S + 1;
          |                  ^ this is a type
        f.p4(3): [--Werror=syntax] error: expected an expression, found the type `bit`
         --> f.p4:3:18
          |
        3 | const bit<8> y = bit<8>(3);
          |                  ^^^ expected an expression
        hint: a cast has its type in parentheses: `(bit<8>) x`
    "#]],
    );
}

#[test]
fn assignment_to_what_has_no_place() {
    check(
        "control c(inout bit<8> x) { apply { f(x) = 1; x == 2; } }\n",
        expect![[r#"
        f.p4(1): [--Werror=syntax] error: this cannot be assigned to
         --> f.p4:1:37
          |
        1 | control c(inout bit<8> x) { apply { f(x) = 1; x == 2; } }
          |                                     ^^^^ not a variable, field, element or slice
          |                                          ^ assigned here
        f.p4(1): [--Werror=syntax] error: expected `=` or a call, found `==`
         --> f.p4:1:49
          |
        1 | control c(inout bit<8> x) { apply { f(x) = 1; x == 2; } }
          |                                                 ^^ expected `=` or a call
    "#]],
    );
}

#[test]
fn declaration_as_a_branch() {
    check(
        "control c() { apply { if (true) bit<8> x = 1; } }\n",
        expect![[r#"
        f.p4(1): [--Werror=syntax] error: a declaration cannot be a branch of its own
         --> f.p4:1:33
          |
        1 | control c() { apply { if (true) bit<8> x = 1; } }
          |                                 ^^^^^^^^^^^^^ nothing could use what this declares
        hint: put it in a block: `{ ... }`
    "#]],
    );
}

#[test]
fn return_in_a_state() {
    check(
        "parser p() { state start { return; } }\n",
        expect![[r#"
        f.p4(1): [--Werror=syntax] error: `return` cannot be used in a parser
         --> f.p4:1:28
          |
        1 | parser p() { state start { return; } }
          |                            ^^^^^^ a state ends with its transition
    "#]],
    );
}

#[test]
fn method_without_a_type_of_its_result() {
    check(
        "extern Counter {\n    Counter(bit<32> size);\n    count(in bit<32> index);\n}\n",
        expect![[r#"
        f.p4(3): [--Werror=syntax] error: a method needs a return type
         --> f.p4:3:5
          |
        3 |     count(in bit<32> index);
          |     ^^^^^ no type before this name
        hint: `void` is the type of nothing; a constructor has the name of its object, `Counter`
    "#]],
    );
}

#[test]
fn control_without_apply() {
    check(
        "control c() {\n    bit<8> x;\n}\n",
        expect![[r#"
        f.p4(3): [--Werror=syntax] error: a control needs an `apply` block
         --> f.p4:3:1
          |
        3 | }
          | ^ no `apply { ... }` before this
    "#]],
    );
}

#[test]
fn annotations_with_the_wrong_content() {
    check(
        "@name(3) const int a = 1;\n@both[x = 1, 2] const int b = 1;\n@open(( const int c = 1;\n",
        expect![[r#"
        f.p4(1): [--Werror=syntax] error: `@name` takes one string
         --> f.p4:1:1
          |
        1 | @name(3) const int a = 1;
          | ^^^^^^^^ this is something else
        f.p4(2): [--Werror=syntax] error: values and `key = value` pairs mixed in one annotation
         --> f.p4:2:14
          |
        2 | @both[x = 1, 2] const int b = 1;
          |              ^ of the other sort
        hint: use either values or pairs
        f.p4(3): [--Werror=syntax] error: this annotation never ends
         --> f.p4:3:6
          |
        3 | @open(( const int c = 1;
          |      ^ no `)` for this `(`
    "#]],
    );
}

#[test]
fn mistake_in_an_included_file() {
    check(
        "# 1 \"main.p4\"\n# 1 \"inc/types.p4\" 1\nstruct a {\n    bit<8> x\n}\n# 2 \"main.p4\" 2\nconst int;\n",
        expect![[r#"
            inc/types.p4(2): [--Werror=syntax] error: missing `;`
             --> inc/types.p4:2:13
              |
            2 |     bit<8> x
              |             ^ `;` expected here
            main.p4(2): [--Werror=syntax] error: expected a name, found `;`
             --> main.p4:2:10
              |
            2 | const int;
              |          ^ expected a name
        "#]],
    );
}
