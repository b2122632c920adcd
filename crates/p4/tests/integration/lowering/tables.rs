//! Tables: keys, actions, entries, and what follows a lookup.

use super::control;
use expect_test::expect;

#[test]
fn a_switch_on_the_action_is_edges() {
    let locals = "action a(bit<8> v) { m.x = v; } action b() { m.x = 0; }
        table t { key = { hdr.h.a : exact; hdr.h.isValid() : exact @name(\"valid\"); } actions = { a; b; } default_action = b(); }";
    expect![[r#"
        table c.t {
          key c.hdr.h.a: exact as hdr.h.a
          @name("valid")
          key bit(valid(c.hdr.h)): exact as valid
          action c.a(v: 8) { c.m.x = v }
          action c.b() { c.m.x = 0 }
          default c.b()
        }

        node c.t: apply c.t -> { c.a -> c.case_18, otherwise -> c.default_18 }

        node c.case_18: block { c.m.y = 1 } -> c.end

        node c.default_18: block { c.m.y = 2 } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "switch (t.apply().action_run) { a: { m.y = 1; } default: { m.y = 2; } }"));
}

#[test]
fn a_punted_miss_comes_back_to_the_lookup() {
    let locals = "@punt_on_miss table t { key = { m.x : exact; } actions = { NoAction; } }";
    expect![[r#"
        table c.t {
          key c.m.x: exact as m.x
          action NoAction() {}
          const default NoAction()
          punt_on_miss
        }

        node c.start: block { c.m.y = 1 } -> c.t

        node c.t: apply c.t -> hit c.after_17, miss c.punt_17

        node c.after_17: block { c.m.y = 2 } -> c.end

        node c.end: buffer {
          drop "end of c"
        }

        node c.punt_17: buffer {
          punt "miss in c.t" -> c.t
        }
    "#]]
    .assert_eq(&control(locals, "m.y = 1; t.apply(); m.y = 2;"));
}

#[test]
fn a_table_that_punts_has_no_other_way_for_a_miss() {
    let table = "table t { key = { m.x : exact; } actions = { b; NoAction; }";
    let locals = format!("action b() {{ m.y = 0; }} @punt_on_miss {table} default_action = b(); }}");
    let refused = control(&locals, "t.apply();");
    assert!(
        refused.contains("[--Werror=invalid] error: a table with `@punt_on_miss` cannot have a default"),
        "{refused}"
    );
    let locals = format!("action b() {{ m.y = 0; }} @punt_on_miss {table} }}");
    let refused = control(&locals, "switch (t.apply().action_run) { b: { m.y = 1; } default: { m.y = 2; } }");
    assert!(refused.contains("[--Werror=invalid] error: a `switch` over the action of a table"), "{refused}");
    assert!(control(&locals, "if (t.apply().hit) { m.y = 1; }").contains("punt \"miss in c.t\" -> c.t"));
}

#[test]
fn hit_and_miss_are_edges() {
    let locals = "table t { key = { m.x : exact; } actions = { NoAction; } }";
    expect![[r#"
        table c.t {
          key c.m.x: exact as m.x
          action NoAction() {}
          default NoAction()
        }

        node c.t: apply c.t -> hit c.end, miss c.miss_17

        node c.miss_17: block { c.m.y = 1 } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "if (!t.apply().hit) { m.y = 1; }"));
}

#[test]
fn a_key_with_effects_is_computed_before_the_lookup() {
    let locals = "table t { key = { m.y : exact; effect(m.x) : exact @name(\"e\"); } actions = { NoAction; } }";
    expect![[r#"
        table c.t {
          key c.t.key: exact as m.y
          @name("e")
          key c.t.key_2: exact as e
          action NoAction() {}
          default NoAction()
        }

        node c.start: block {
          call effect effect(inout c.m.x) into c.result_17
          c.t.key = c.m.y
          c.t.key_2 = c.result_17
        } -> c.t

        node c.t: apply c.t -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "t.apply();"));
}

#[test]
fn constant_entries_are_tried_in_order() {
    let locals = "action a(bit<8> v) { m.x = v; }
        table t { key = { m.x : ternary; m.y : exact; } actions = { a; NoAction; }
            const entries = { (0x10 &&& 0xF0, 1) : a(1); (_, 2) : a(2); } }";
    expect![[r#"
        table c.t {
          key c.m.x: ternary as m.x
          key c.m.y: exact as m.y
          action c.a(v: 8) { c.m.x = v }
          action NoAction() {}
          default NoAction()
          const entries {
            priority 2: 16 &&& 0xf0, 1 => c.a(1)
            priority 1: _, 2 => c.a(2)
          }
        }

        node c.t: apply c.t -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "t.apply();"));
}

#[test]
fn single_entries_may_be_constant() {
    let locals = "action a(bit<8> v) { m.x = v; }
        table t { key = { m.x : exact; } actions = { a; NoAction; } entries = { const 1 : a(1); 2 : a(2); } }";
    let program = control(locals, "t.apply();");
    assert!(program.contains("entries {\n    const 1 => c.a(1)\n    2 => c.a(2)\n  }"), "{program}");
}

#[test]
fn an_action_bound_in_the_list_gets_its_arguments_there() {
    let locals = "action a(in bit<8> v, bit<8> w) { m.x = v + w; }
        table t { key = { m.y : exact; } actions = { a(hdr.h.a); NoAction; } const default_action = NoAction(); }";
    expect![[r#"
        table c.t {
          key c.m.y: exact as m.y
          action c.a(w: 8) { c.m.x = c.hdr.h.a + w }
          action NoAction() {}
          const default NoAction()
        }

        node c.t: apply c.t -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "t.apply();"));
}

#[test]
fn an_id_is_of_one_table() {
    let locals = "@id(7) action a() { }
        @id(7) table t { key = { m.x : exact; } actions = { a; } default_action = a(); }
        @id(0x02000007) table u { key = { m.y : exact; } actions = { a; } default_action = a(); }";
    let text = format!(
        "{}\ncontrol c(inout hs_t hdr, inout m_t m) {{ {locals} apply {{ t.apply(); u.apply(); }} }}",
        super::ACCEPT
    );
    let text = super::lowered(&text);
    let head = text.lines().next().unwrap_or_default();
    assert!(head.ends_with("error: `c.t` and `c.u` have the same id: 0x02000007"), "{text}");
    assert!(text.contains("given to `c.u` here") && text.contains("and to `c.t` here"), "{text}");
}

#[test]
fn two_tables_of_one_name_are_refused() {
    let tables = |first: &str, second: &str| {
        let table = |annotation: &str, name: &str| {
            format!("{annotation} table {name} {{ key = {{ hdr.h.a : exact; }} actions = {{ NoAction; }} }}")
        };
        control(&format!("{} {}", table(first, "one"), table(second, "two")), "one.apply(); two.apply();")
    };
    let refused = tables("@name(\"t\")", "@name(\"c.\" ++ \"t\")");
    assert!(!refused.contains("two tables"), "{refused}");
    let refused = tables("@name(\"t\")", "@name(\".c.t\")");
    assert!(refused.starts_with("test.p4("), "{refused}");
    assert!(refused.contains("[--Werror=duplicate] error: two tables have the control plane name `c.t`"), "{refused}");
    let hidden = tables("@name(\"t\")", "@hidden @name(\"t\")");
    assert!(!hidden.contains("two tables"), "{hidden}");
}
