//! Branches, switches and loops.

use crate::control;
use expect_test::expect;

#[test]
fn a_condition_without_tables_is_a_statement() {
    expect![[r#"
        node c.start: block {
          if c.m.f {
            c.m.x = 1
          } else {
            c.m.x = 2
          }
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", "if (m.f) { m.x = 1; } else { m.x = 2; }"));
}

#[test]
fn a_condition_with_a_table_is_an_edge() {
    let locals = "table t { actions = { NoAction; } key = { m.x : exact; } }";
    expect![[r#"
        table c.t {
          key c.m.x: exact as m.x
          action NoAction() {}
          default NoAction()
        }

        node c.if_17: branch c.m.f -> c.t else c.block_17

        node c.t: apply c.t -> c.after_17

        node c.block_17: block { c.m.x = 2 } -> c.after_17

        node c.after_17: block { c.m.y = 3 } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "if (m.f) { t.apply(); } else { m.x = 2; } m.y = 3;"));
}

#[test]
fn labels_without_body_share_the_next_one() {
    expect![[r#"
        node c.start: block {
          if c.m.x == 1 || c.m.x == 2 {
            c.m.y = 1
          } else if c.m.x == 3 {
            c.m.y = 2
          } else {
            c.m.y = 3
          }
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", "switch (m.x) { 1: 2: { m.y = 1; } 3: { m.y = 2; } default: { m.y = 3; } }"));
}

#[test]
fn a_loop_ends_by_its_label() {
    let body =
        "for (bit<8> i = 0; i < m.x; i = i + 1) { if (i == 3) { continue; } if (i == 5) { break; } m.y = m.y + i; }";
    expect![[r#"
        node c.start: block {
          c.i = 0
          loop for_17 {
            if !(c.i < c.m.x) { leave for_17 }
            scope next_17 {
              if c.i == 3 { leave next_17 }
              if c.i == 5 { leave for_17 }
              c.m.y = c.m.y + c.i
            }
            c.i = c.i + 1
          }
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", body));
}

#[test]
fn a_loop_with_a_table_is_unrolled() {
    let locals = "table t { actions = { NoAction; } key = { m.x : exact; } }";
    expect![[r#"
        table c.t {
          key c.m.x: exact as m.x
          action NoAction() {}
          default NoAction()
        }

        node c.start: block { c.m.x = 1 } -> c.t

        node c.t: apply c.t -> c.next_17

        node c.next_17: block { c.m.x = 2 } -> c.t_2

        node c.t_2: apply c.t -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "for (bit<8> i in 1..2) { m.x = i; t.apply(); }"));
}

#[test]
fn a_loop_with_a_table_needs_bounds() {
    let locals = "table t { actions = { NoAction; } key = { m.x : exact; } }";
    expect![[r#"
        test.p4(17): [--Werror=unsupported] error: a loop with tables whose bounds depend on the packet is not supported yet
          --> test.p4:17:109
           |
        17 | control c(inout hs_t hdr, inout m_t m) { table t { actions = { NoAction; } key = { m.x : exact; } } apply { for (bit<8> i in 1..m.y) { m.x = i; t.apply(); } } }
           |                                                                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here
        hint: give the loop constant bounds, and leave its variable to it, so that it can be unrolled
    "#]].assert_eq(&control(locals, "for (bit<8> i in 1..m.y) { m.x = i; t.apply(); }"));
    let own = "for (bit<8> i = 0; i < 4; i = i + 1) { t.apply(); i = i + m.x; }";
    let told = control(locals, own);
    assert!(told.contains("error: a loop with tables whose end depends on the packet is not supported yet"), "{told}");
}
