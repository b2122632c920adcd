//! `T.apply(...)`: once in a control if a controller knows of something in it.

use super::*;

fn program(inside: &str, apply: &str) -> String {
    format!(
        "match_kind {{ exact }}\naction NoAction() {{}}\nextern counter {{ counter(bit<32> n); void count(in bit<32> i); }}
control Step(inout bit<8> a) {{ {inside} }}\ncontrol Around(inout bit<8> a) {{ apply {{ Step.apply(a); }} }}
control c(inout bit<8> a) {{\napply {{ {apply} }} }}\ncontrol C(inout bit<8> a);\npackage Top(C c);\nTop(c()) main;\n"
    )
}

const TABLE: &str = "table t { key = { a : exact; } actions = { NoAction; } } apply { t.apply(); }";

#[test]
fn what_has_a_table_is_applied_directly_once_in_a_control() {
    rejects(
        &program(TABLE, "Step.apply(a); if (a == 1) { Step.apply(a); }"),
        expect![[r#"
            t.p4(7): [--Werror=duplicate] error: `Step` is applied directly twice in `c`, which cannot be
             --> t.p4:7:38
              |
            7 | apply { Step.apply(a); if (a == 1) { Step.apply(a); } } }
              |                                      ^^^^^^^^^^^^^ for the second time here
              |         ^^^^^^^^^^^^^ for the first time here
             --> t.p4:4:38
              |
            4 | control Step(inout bit<8> a) { table t { key = { a : exact; } actions = { NoAction; } } apply { t.apply(); } }
              |                                      ^ a controller knows one `t` of them only
            hint: declare an instance for each application: `Step() first;`
        "#]],
    );
    accepts(&program(TABLE, "Step.apply(a); Around.apply(a);"));
    accepts(&program("apply { a = a + 1; }", "Step.apply(a); Step.apply(a);"));
}

#[test]
fn a_counter_or_a_control_within_counts_as_well() {
    let first = |text: &str| {
        let (found, map) = diagnostics(text);
        let error = found.iter().find(|one| one.is_error()).map(|one| one.render(&map));
        error.map_or_else(|| "accepted".to_string(), |text| text.lines().next().unwrap_or_default().to_string())
    };
    expect!["t.p4(7): [--Werror=duplicate] error: `Step` is applied directly twice in `c`, which cannot be"]
        .assert_eq(&first(&program("counter(8) n; apply { n.count(1); }", "Step.apply(a); Step.apply(a);")));
    expect!["t.p4(7): [--Werror=duplicate] error: `Around` is applied directly twice in `c`, which cannot be"]
        .assert_eq(&first(&program(TABLE, "Around.apply(a); Around.apply(a);")));
    expect!["accepted"].assert_eq(&first(&program(
        "@hidden table t { actions = { NoAction; } } apply { t.apply(); }",
        "Step.apply(a); Step.apply(a);",
    )));
}
