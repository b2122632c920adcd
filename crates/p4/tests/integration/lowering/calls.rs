//! Functions, actions and controls called within others: copies in and out, `return` and `exit`.

use super::control;
use expect_test::expect;

#[test]
fn an_argument_that_nobody_else_reaches_is_passed_itself() {
    let locals = "action grow(inout bit<8> v) { v = v + 1; }";
    expect![[r#"
        node c.start: block { c.hdr.h.a = c.hdr.h.a + 1 } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "grow(hdr.h.a);"));
}

#[test]
fn an_argument_that_the_action_reaches_by_its_own_name_is_copied() {
    let locals = "action both(inout bit<8> v) { v = v + 1; m.x = v + m.x; }";
    expect![[r#"
        node c.start: block {
          c.both.v = c.m.x
          c.both.v = c.both.v + 1
          c.m.x = c.both.v + c.m.x
          c.m.x = c.both.v
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "both(m.x);"));
}

#[test]
fn the_same_variable_twice_is_two_copies() {
    let locals = "action two(inout bit<8> v, inout bit<8> w) { v = 1; w = v; }";
    expect![[r#"
        node c.start: block {
          c.two.v = c.m.x
          c.two.w = c.m.x
          c.two.v = 1
          c.two.w = c.two.v
          c.m.x = c.two.v
          c.m.x = c.two.w
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "two(m.x, m.x);"));
}

#[test]
fn an_early_return_leaves_a_scope() {
    let locals = "action early() { if (m.f) { return; } m.x = 1; }";
    expect![[r#"
        node c.start: block {
          scope early {
            if c.m.f { leave early }
            c.m.x = 1
          }
          c.m.y = 2
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "early(); m.y = 2;"));
}

#[test]
fn exit_copies_out_first() {
    let locals = "action leave(inout bit<8> v) { v = 3; if (m.f) { exit; } v = 4; m.x = 5; }";
    expect![[r#"
        node c.start: block {
          c.leave.v = c.m.x
          c.leave.v = 3
          if c.m.f {
            c.m.x = c.leave.v
            exit
          }
          c.leave.v = 4
          c.m.x = 5
          c.m.x = c.leave.v
          c.m.y = 2
        } -> c.end exit c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "leave(m.x); m.y = 2;"));
}

#[test]
fn return_goes_behind_the_tables_of_a_control() {
    let locals = "table t { actions = { NoAction; } key = { m.x : exact; } }";
    expect![[r#"
        table c.t {
          key c.m.x: exact as m.x
          action NoAction() {}
          default NoAction()
        }

        node c.if_17: branch c.m.f -> c.end else c.t

        node c.t: apply c.t -> c.after_17

        node c.after_17: block { c.m.y = 1 } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control(locals, "if (m.f) { return; } t.apply(); m.y = 1;"));
}
