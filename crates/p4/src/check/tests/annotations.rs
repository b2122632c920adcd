//! What annotations that are read must contain, and where.

use super::*;

#[test]
fn lists_are_constant_numbers() {
    accepts(
        "enum bit<8> L { a = 3 }\nconst bit<8> C = 4;\nstruct m { @field_list(L.a, C + 1) bit<8> x; @field_list[C] @field_list(2) bit<8> y; }\n",
    );
    rejects(
        "struct m {\n@field_list(x) bit<8> a;\n@field_list bit<8> b;\n@field_list(\"1\") bit<8> c;\n@field_list[a = 1] bit<8> d;\n@field_list(300) bit<8> e;\n@field_list(1 +) bit<8> f;\n}\n",
        expect![[r#"
            t.p4(2): [--Werror=not-found] error: x: declaration not found
             --> t.p4:2:13
              |
            2 | @field_list(x) bit<8> a;
              |             ^ nothing of this name is declared before this place
            t.p4(3): [--Werror=invalid] error: `@field_list` takes the numbers of field lists
             --> t.p4:3:1
              |
            3 | @field_list bit<8> b;
              | ^^^^^^^^^^^
            t.p4(4): [--Werror=invalid] error: `@field_list` takes constant numbers
             --> t.p4:4:13
              |
            4 | @field_list("1") bit<8> c;
              |             ^^^ this is no constant number
            t.p4(5): [--Werror=invalid] error: `@field_list` takes the numbers of field lists
             --> t.p4:5:1
              |
            5 | @field_list[a = 1] bit<8> d;
              | ^^^^^^^^^^^^^^^^^^
            t.p4(6): [--Werror=overlimit] error: `@field_list` takes numbers from 0 to 255, not 300
             --> t.p4:6:13
              |
            6 | @field_list(300) bit<8> e;
              |             ^^^
            t.p4(7): [--Werror=invalid] error: `@field_list` takes the numbers of field lists
             --> t.p4:7:1
              |
            7 | @field_list(1 +) bit<8> f;
              | ^^^^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn a_priority_is_one_constant_number() {
    let table = |priority: &str| {
        format!(
            "match_kind {{ ternary }}\naction NoAction() {{}}\ncontrol c(inout bit<8> a) {{\ntable t {{ key = {{ a : ternary; }} actions = {{ NoAction; }} const entries = {{
1 : NoAction() {priority}; }} }}\napply {{ t.apply(); }} }}\n"
        )
    };
    accepts(&table("@priority(2 * 3)"));
    rejects(
        &table("@priority(a)"),
        expect![[r#"
            t.p4(5): [--Werror=invalid] error: `@priority` takes constant numbers
             --> t.p4:5:26
              |
            5 | 1 : NoAction() @priority(a); } }
              |                          ^ this is no constant number
        "#]],
    );
    rejects(
        &table("@priority(1, 2)"),
        expect![[r#"
            t.p4(5): [--Werror=invalid] error: `@priority` takes one constant number
             --> t.p4:5:16
              |
            5 | 1 : NoAction() @priority(1, 2); } }
              |                ^^^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn an_annotation_that_is_read_elsewhere_is_told_of() {
    warns(
        "match_kind { ternary }\n@field_list(1) header h { @field_list(1) bit<8> x; }\n@controller_header(\"in\") struct s { @match(ternary) bit<8> x; }\n",
        expect![[r#"
            t.p4(2): [--Wwarn=mismatch] warning: `@field_list` has no effect here: it belongs to a field of a struct
            t.p4(2): [--Wwarn=mismatch] warning: `@field_list` has no effect here: it belongs to a field of a struct
            t.p4(3): [--Wwarn=mismatch] warning: `@controller_header` has no effect here: it belongs to a header
        "#]],
    );
    warns(
        "@pkginfo(name = \"router\", versoin = \"1\") @p4runtime_translation(\"u\", string) typedef bit<8> t;\n",
        expect![[r#"
            t.p4(1): [--Wwarn=unknown] warning: `@pkginfo` has no key `versoin`
            t.p4(1): [--Wwarn=mismatch] warning: `@p4runtime_translation` has no effect here: it belongs to a declaration with `type`
            t.p4(1): [--Wwarn=unused] warning: 't' is unused
        "#]],
    );
}

#[test]
fn an_action_is_for_entries_or_the_default_and_a_value_set_has_its_match_kinds() {
    rejects(
        "match_kind { exact, list }\naction NoAction() {}\nstruct s { @match(list) bit<8> x; @match bit<8> y; }\ncontrol c(inout bit<8> a) {
table t { key = { a : exact; } actions = { @tableonly @defaultonly NoAction; } }\napply { t.apply(); } }\n",
        expect![[r#"
            t.p4(3): [--Werror=unsupported] error: a value set cannot match by `list`
             --> t.p4:3:19
              |
            3 | struct s { @match(list) bit<8> x; @match bit<8> y; }
              |                   ^^^^
            hint: it can by exact, lpm, ternary, range, optional
            t.p4(3): [--Werror=invalid] error: `@match` takes one match kind
             --> t.p4:3:35
              |
            3 | struct s { @match(list) bit<8> x; @match bit<8> y; }
              |                                   ^^^^^^ as in `@match(ternary)`
            t.p4(5): [--Werror=invalid] error: `@tableonly` and `@defaultonly` exclude each other
             --> t.p4:5:44
              |
            5 | table t { key = { a : exact; } actions = { @tableonly @defaultonly NoAction; } }
              |                                            ^^^^^^^^^^ for entries only
              |                                                       ^^^^^^^^^^^^ as the default action only
        "#]],
    );
}
