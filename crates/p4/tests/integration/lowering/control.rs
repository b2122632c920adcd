//! Branches, switches and loops.

use super::control;
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
fn a_loop_with_a_table_whose_end_the_packet_decides_ends_in_a_drop() {
    let locals = "table t { actions = { NoAction; } key = { m.x : exact; } }";
    let lowered = control(locals, "for (bit<8> i in 1..m.y) { m.x = i; t.apply(); }");
    assert_eq!(lowered.matches(": apply c.t ->").count(), 64, "{lowered}");
    assert!(lowered.contains("node c.over_17: buffer {\n  drop \"loop budget\"\n}"), "{lowered}");
}

#[test]
fn loops_with_tables_are_not_unrolled_without_end() {
    let locals = "table t { actions = { NoAction; } key = { m.x : exact; } }";
    let long = control(locals, "for (bit<16> i = 0; i < 1025; i = i + 1) { t.apply(); }");
    assert!(long.contains("error: a loop with tables of more than 1024 iterations"), "{long}");
    let nested = "for (bit<8> i in 1..m.x) { for (bit<8> j in 1..m.y) { for (bit<8> k in 1..m.x) { t.apply(); } } }";
    let message = control(locals, nested);
    assert!(message.contains("error: a loop with tables of more than 1024 iterations"), "{message}");
    assert!(!control(locals, "for (bit<16> i = 0; i < 1024; i = i + 1) { t.apply(); }").contains("error:"));
}
