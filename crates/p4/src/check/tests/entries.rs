//! Which sets the keys of entries may be, and the messages about others.

use super::*;

/// A program of this package with a table of one key of this kind, and these entries.
fn with_entries(package: &str, kind: &str, entries: &str) -> String {
    format!(
        "match_kind {{ exact, ternary, lpm, range, optional, selector }}\naction NoAction() {{}}\ncontrol C(inout bit<8> a);
package {package}(C c);\ncontrol c(inout bit<8> a) {{\ntable t {{ key = {{ a : {kind}; }} actions = {{ NoAction; }} const entries = {{
{entries} : NoAction(); }} }}\napply {{ t.apply(); }} }}\n{package}(c()) main;\n"
    )
}

fn refuses(kind: &str, key: &str, expected: Expect) {
    rejects(&with_entries("V1Switch", kind, key), expected);
}

#[test]
fn an_exact_key_has_one_value_where_the_program_runs() {
    refuses(
        "exact",
        "_",
        expect![[r#"
            t.p4(7): [--Werror=type-error] error: `_` cannot be matched by an `exact` key
             --> t.p4:7:1
              |
            7 | _ : NoAction(); } }
              | ^ one value is expected
            hint: make the key `ternary` or `optional`, or write an entry for each value
        "#]],
    );
    refuses(
        "exact",
        "1 &&& 0x0f",
        expect![[r#"
            t.p4(7): [--Werror=type-error] error: a value with a mask cannot be matched by an `exact` key
             --> t.p4:7:1
              |
            7 | 1 &&& 0x0f : NoAction(); } }
              | ^^^^^^^^^^ one value is expected
            hint: make the key `ternary`
        "#]],
    );
    accepts(&with_entries("V1Switch", "exact", "1 &&& 0xff"));
    // The language leaves it to the compiler to make several entries of one.
    accepts(&with_entries("Mine", "exact", "1 &&& 0x0f"));
    accepts(&with_entries("Mine", "exact", "_"));
}

#[test]
fn a_range_key_has_bounds_and_a_selector_no_value() {
    refuses(
        "range",
        "5 &&& 7",
        expect![[r#"
            t.p4(7): [--Werror=type-error] error: a value with a mask cannot be matched by a `range` key
             --> t.p4:7:1
              |
            7 | 5 &&& 7 : NoAction(); } }
              | ^^^^^^^ `low .. high` is expected
            hint: write the bounds, or make the key `ternary`
        "#]],
    );
    refuses(
        "selector",
        "5",
        expect![[r#"
            t.p4(7): [--Werror=type-error] error: a value cannot be matched by a `selector` key
             --> t.p4:7:1
              |
            7 | 5 : NoAction(); } }
              | ^ `_` is expected
            hint: the group chooses by what a `selector` key holds
        "#]],
    );
    refuses(
        "lpm",
        "(1 .. 5)",
        expect![[r#"
            t.p4(7): [--Werror=type-error] error: a range cannot be matched by a `lpm` key
             --> t.p4:7:2
              |
            7 | (1 .. 5) : NoAction(); } }
              |  ^^^^^^ a prefix is expected
            hint: write it as `value &&& mask`, or make the key `range`
        "#]],
    );
    accepts(&with_entries("V1Switch", "range", "_"));
    accepts(&with_entries("V1Switch", "selector", "_"));
}

#[test]
fn the_keys_of_entries_are_constants_and_those_of_cases_need_a_value() {
    let entry = "match_kind { ternary }\naction NoAction() {}\ncontrol c(inout bit<8> a) {
table t { key = { a : ternary; } actions = { NoAction; } const entries = { a &&& 1 : NoAction(); } }\napply { t.apply(); } }\n";
    rejects(
        entry,
        expect![[r#"
            t.p4(4): [--Werror=invalid] error: the key of an entry has to be a constant
             --> t.p4:4:76
              |
            4 | table t { key = { a : ternary; } actions = { NoAction; } const entries = { a &&& 1 : NoAction(); } }
              |                                                                            ^^^^^^^
        "#]],
    );
    let case = |before: &str| {
        format!(
            "parser p(in bit<8> a) {{ bit<8> x; state start {{ {before}\ntransition select(a) {{ x .. 7: accept; a &&& x: reject; }} }} }}\n"
        )
    };
    accepts(&case("x = a;"));
    rejects(
        &case(""),
        expect![[r#"
            t.p4(2): [--Werror=uninitialized-use] error: a bound of this set has no value here
             --> t.p4:2:24
              |
            2 | transition select(a) { x .. 7: accept; a &&& x: reject; } } }
              |                        ^ x may be uninitialized
            hint: extract or assign it before, or write a constant
            t.p4(2): [--Werror=uninitialized-use] error: a bound of this set has no value here
             --> t.p4:2:46
              |
            2 | transition select(a) { x .. 7: accept; a &&& x: reject; } } }
              |                                              ^ x may be uninitialized
            hint: extract or assign it before, or write a constant
        "#]],
    );
}
