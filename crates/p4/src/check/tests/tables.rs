//! Messages about tables.

use super::*;

#[test]
fn a_match_kind_that_is_almost_known_and_a_switch_over_a_result() {
    let program = |kind: &str, subject: &str| {
        format!(
            "match_kind {{ exact, lpm, ternary }}\naction NoAction() {{}}\ncontrol c(inout bit<8> x) {{
table t {{ key = {{ x : {kind}; }} actions = {{ NoAction; }} }}\napply {{\nswitch ({subject}) {{ NoAction: {{ x = 1; }} }} }} }}\n"
        )
    };
    rejects(
        &program("lmp", "t.apply()"),
        expect![[r#"
        t.p4(4): [--Werror=not-found] error: lmp: declaration not found
         --> t.p4:4:23
          |
        4 | table t { key = { x : lmp; } actions = { NoAction; } }
          |                       ^^^ no match kind has this name
        hint: did you mean `lpm`?
        t.p4(6): [--Werror=type-error] error: a `switch` needs to know which action ran
         --> t.p4:6:9
          |
        6 | switch (t.apply()) { NoAction: { x = 1; } } } }
          |         ^^^^^^^^^ this has more values than that
        hint: write `switch (t.apply().action_run)`
    "#]],
    );
    rejects(
        &program("Ternary", "t.apply().action_run"),
        expect![[r#"
        t.p4(4): [--Werror=not-found] error: Ternary: declaration not found
         --> t.p4:4:23
          |
        4 | table t { key = { x : Ternary; } actions = { NoAction; } }
          |                       ^^^^^^^ no match kind has this name
        hint: did you mean `ternary`?
    "#]],
    );
    rejects(
        &program("hash", "t.apply().action_run"),
        expect![[r#"
        t.p4(4): [--Werror=not-found] error: hash: declaration not found
         --> t.p4:4:23
          |
        4 | table t { key = { x : hash; } actions = { NoAction; } }
          |                       ^^^^ no match kind has this name
        hint: the match kinds are exact, lpm, ternary
    "#]],
    );
    accepts(&program("lpm", "t.apply().action_run"));
}

#[test]
fn a_property_that_nothing_reads_is_told_of() {
    let program = |package: &str| {
        format!(
            "match_kind {{ exact }}\naction NoAction() {{}}\ncontrol C(inout bit<8> a);\npackage {package}(C c);\ncontrol c(inout bit<8> a) {{
table t {{ key = {{ a : exact; }} actions = {{ NoAction; }} sise = 8; offload = 1; support_timeout = true; }}
apply {{ t.apply(); }} }}\n{package}(c()) main;\n"
        )
    };
    warns(
        &program("V1Switch"),
        expect![[r#"
            t.p4(8): [--Wwarn=unknown] warning: it is not defined how the parts of the package `V1Switch` work together
            t.p4(6): [--Wwarn=ignore-prop] warning: table property `sise` has no effect here
            t.p4(6): [--Wwarn=ignore-prop] warning: table property `offload` has no effect here
        "#]],
    );
    warns(
        &program("Mine"),
        expect![[r#"
        t.p4(8): [--Wwarn=unknown] warning: it is not defined how the parts of the package `Mine` work together
    "#]],
    );
}
