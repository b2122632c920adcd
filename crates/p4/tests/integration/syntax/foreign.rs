//! Messages about texts in P4_14, and about what is written as in C.

use super::messages;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&messages(text));
}

#[test]
fn a_text_in_the_older_version_is_told_once() {
    check(
        "header_type ethernet_t {\n    fields { to : 48; }\n}\nheader ethernet_t ethernet;\nparser start { extract(ethernet); return ingress; }\n",
        expect![[r#"
            f.p4(1): [--Werror=syntax] error: this is P4_14, and bacus reads P4_16
             --> f.p4:1:1
              |
            1 | header_type ethernet_t {
              | ^^^^^^^^^^^ `header_type` as P4_14 has it
            hint: translate it with p4c, `p4test --std p4-14 --pp new.p4 old.p4`, or write P4_16
        "#]],
    );
    let beginnings = [
        "header ethernet_t ethernet;",
        "parser start { return ingress; }",
        "control ingress { apply(t); }",
        "control ingress { if (a.x == 1) { } }",
        "control egress { }",
        "table t { reads { a.x : exact; } }",
        "field_list l { a.x; }",
        "counter c { type : packets; }",
    ];
    for text in beginnings {
        assert!(messages(text).starts_with("f.p4(1): [--Werror=syntax] error: this is P4_14"), "{text}");
    }
}

#[test]
fn a_mistake_in_the_newer_version_is_not_taken_for_the_older() {
    let beginnings = [
        "parser p { state start { transition accept; } }",
        "control c { apply { } }",
        "control c { action a() { } apply { } }",
        "table t { key = { x : exact; } }",
        "counter(8) c;",
        "metadata(1) m;",
    ];
    for text in beginnings {
        assert!(!messages(text).contains("P4_14"), "{text}");
    }
}

#[test]
fn an_action_with_a_type() {
    check(
        "action bit<9> f(in bit<9> x) { }\naction void g() { }\n",
        expect![[r#"
            f.p4(1): [--Werror=syntax] error: an action returns nothing
             --> f.p4:1:8
              |
            1 | action bit<9> f(in bit<9> x) { }
              |        ^^^^^^ the name of an action has no type before it
            hint: make it a function, `bit<9> name(...) { ... }`, or give it an `out` parameter
            f.p4(2): [--Werror=syntax] error: an action returns nothing
             --> f.p4:2:8
              |
            2 | action void g() { }
              |        ^^^^ the name of an action has no type before it
            hint: make it a function, `void name(...) { ... }`, or give it an `out` parameter
        "#]],
    );
}

#[test]
fn loops_of_other_languages() {
    check(
        "control c(inout bit<8> x) {\n    apply {\n        while (x > 1) { x = x - 1; }\n        do { x = 1; } while (x > 1);\n        x = ;\n    }\n}\n",
        expect![[r#"
            f.p4(3): [--Werror=syntax] error: P4 has no `while`
             --> f.p4:3:9
              |
            3 |         while (x > 1) { x = x - 1; }
              |         ^^^^^ a loop of C
            hint: write `for (; condition; ) { ... }`
            f.p4(4): [--Werror=syntax] error: P4 has no `do`
             --> f.p4:4:9
              |
            4 |         do { x = 1; } while (x > 1);
              |         ^^ a loop of C
            hint: write `for (; condition; ) { ... }`
            f.p4(5): [--Werror=syntax] error: expected an expression, found `;`
             --> f.p4:5:13
              |
            5 |         x = ;
              |             ^ expected an expression
        "#]],
    );
}

#[test]
fn counting_up_and_down() {
    check(
        "control c(inout bit<8> x) {\n    apply {\n        x++;\n        --x;\n        for (bit<8> i = 0; i < 3; i++) { x = - -i ++ x; }\n    }\n}\n",
        expect![[r#"
            f.p4(3): [--Werror=syntax] error: P4 has no `++` for counting
             --> f.p4:3:10
              |
            3 |         x++;
              |          ^^ `++` joins bits
            hint: write `x = x + 1`
            f.p4(4): [--Werror=syntax] error: P4 has no `--` for counting
             --> f.p4:4:9
              |
            4 |         --x;
              |         ^^ two signs
            hint: write `x = x - 1`
            f.p4(5): [--Werror=syntax] error: P4 has no `++` for counting
             --> f.p4:5:36
              |
            5 |         for (bit<8> i = 0; i < 3; i++) { x = - -i ++ x; }
              |                                    ^^ `++` joins bits
            hint: write `i = i + 1`
        "#]],
    );
}

#[test]
fn addresses_with_dots() {
    check(
        "const bit<32> a = 10.0.0.1;\nconst bit<32> b = 1.2;\nconst bit<32> c = 10.0.0.256 + ;\n",
        expect![[r#"
            f.p4(1): [--Werror=syntax] error: P4 has no numbers with dots
             --> f.p4:1:19
              |
            1 | const bit<32> a = 10.0.0.1;
              |                   ^^^^^^^^ an address is a number
            hint: write `0x0a000001`
            f.p4(2): [--Werror=syntax] error: P4 has no numbers with dots
             --> f.p4:2:19
              |
            2 | const bit<32> b = 1.2;
              |                   ^^^ an address is a number
            hint: write it in hexadecimal, as `0x0a000001`
            f.p4(3): [--Werror=syntax] error: P4 has no numbers with dots
             --> f.p4:3:19
              |
            3 | const bit<32> c = 10.0.0.256 + ;
              |                   ^^^^^^^^^^ an address is a number
            hint: write it in hexadecimal, as `0x0a000001`
            f.p4(3): [--Werror=syntax] error: expected an expression, found `;`
             --> f.p4:3:32
              |
            3 | const bit<32> c = 10.0.0.256 + ;
              |                                ^ expected an expression
        "#]],
    );
}
