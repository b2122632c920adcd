//! Assignments, evaluation order and headers.

use super::control;
use expect_test::expect;

#[test]
fn a_simple_assignment_stays_one() {
    expect![[r#"
        node c.start: block { c.hdr.h.a = c.hdr.h.a - 1 } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", "hdr.h.a = hdr.h.a - 1;"));
}

#[test]
fn what_a_later_operand_changes_is_saved_before() {
    expect![[r#"
        node c.start: block {
          c.tmp = c.m.x
          call effect effect(inout c.m.x) into c.result_17
          c.m.y = c.tmp + c.result_17
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", "m.y = m.x + effect(m.x);"));
}

#[test]
fn nothing_is_saved_that_nobody_changes() {
    expect![[r#"
        node c.start: block {
          call effect effect(inout c.m.x) into c.result_17
          c.m.y = c.hdr.h.a + c.result_17
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", "m.y = hdr.h.a + effect(m.x);"));
}

#[test]
fn an_index_on_the_left_is_frozen() {
    expect![[r#"
        node c.start: block {
          call effect effect(inout c.m.x) into c.result_17
          if c.m.i == 0 {
            c.hdr.s[0].a = c.result_17
          } else if c.m.i == 1 {
            c.hdr.s[1].a = c.result_17
          } else if c.m.i == 2 {
            c.hdr.s[2].a = c.result_17
          }
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", "hdr.s[m.i].a = effect(m.x);"));
}

#[test]
fn a_swap_by_structure_reads_before_it_writes() {
    expect![[r#"
        node c.start: block {
          validate c.hdr.h
          c.tmp = c.hdr.h.a
          c.hdr.h.a = c.hdr.h.b
          c.hdr.h.b = c.tmp
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", "hdr.h = { hdr.h.b, hdr.h.a };"));
}

#[test]
fn a_right_side_with_effects_runs_only_where_it_counts() {
    expect![[r#"
        node c.start: block {
          c.condition_17 = c.m.f
          if c.condition_17 {
            call effect effect(inout c.m.x) into c.result_17
            c.condition_17 = c.result_17 == 1
          }
          c.m.f = c.condition_17
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", "m.f = m.f && effect(m.x) == 1;"));
}

#[test]
fn slices_are_written_in_place() {
    expect![[r#"
        node c.start: block {
          c.m.x = c.m.x[7:4] ++ (c.m.y[1:0] ++ c.m.x[1:0])
          c.m.y = (c.m.y & ~(3 << c.m.x)) | (3 << c.m.x)
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", "m.x[3:2] = m.y[1:0]; m.y[m.x+:2] = 3;"));
}

#[test]
fn one_member_of_a_union_takes_the_others_away() {
    expect![[r#"
        node c.start: block {
          validate c.hdr.u.x
          invalidate c.hdr.u.y
          copy c.hdr.u.y = c.hdr.h
          invalidate c.hdr.u.x
          invalidate c.hdr.u.x
          invalidate c.hdr.u.y
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", "hdr.u.x.setValid(); hdr.u.y = hdr.h; hdr.u.x.setInvalid();"));
}

#[test]
fn stacks_shift() {
    expect![[r#"
        node c.start: block {
          copy c.hdr.s[2] = c.hdr.s[1]
          copy c.hdr.s[1] = c.hdr.s[0]
          invalidate c.hdr.s[0]
          c.hdr.s.nextIndex = c.hdr.s.nextIndex < 2 ? c.hdr.s.nextIndex + 1 : 3
          copy c.hdr.s[0] = c.hdr.s[2]
          invalidate c.hdr.s[1]
          invalidate c.hdr.s[2]
          c.hdr.s.nextIndex = 2 < c.hdr.s.nextIndex ? c.hdr.s.nextIndex - 2 : 0
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", "hdr.s.push_front(1); hdr.s.pop_front(2);"));
}

#[test]
fn headers_are_equal_if_both_are_invalid() {
    expect![[r#"
        node c.start: block {
          c.m.f = (!valid(c.hdr.h) && !valid(c.hdr.g)) || (valid(c.hdr.h) && valid(c.hdr.g) && (c.hdr.h.a == c.hdr.g.a && c.hdr.h.b == c.hdr.g.b))
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]].assert_eq(&control("", "m.f = hdr.h == hdr.g;"));
}

#[test]
fn signs_move_into_the_operators() {
    expect![[r#"
        node c.start: block {
          c.m.f = c.m.x <s c.m.y
          c.m.x = c.m.x >>s 8w1
        } -> c.end

        node c.end: buffer {
          drop "end of c"
        }
    "#]]
    .assert_eq(&control("", "m.f = (int<8>)m.x < (int<8>)m.y; m.x = (bit<8>)((int<8>)m.x >> 1);"));
}
