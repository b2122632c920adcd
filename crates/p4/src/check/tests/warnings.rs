//! Warnings that follow a program: which are reported, and which are not.

use super::*;

const HEADERS: &str = "extern packet_in { void extract<T>(out T h); }\nheader E { bit<8> a; } header_union U { E x; E y; } struct H { E e; E f; U u; }\n";

#[test]
fn a_parser_is_followed_through_its_states() {
    warns(
        &format!(
            "{HEADERS}parser p(packet_in b, out H h, out bit<8> n, out bit<8> m) {{
    bit<8> count;
    state start {{ h.f.a = 1; transition select(h.e.a) {{ 1: more; default: accept; }} }}
    state more {{ b.extract(h.e); n = h.e.a; m = count; transition select(h.f.a) {{ 2: start; 3: last; }} }}
    state last {{ m = h.e.a; count = 1; b.extract(h.u.x); m = h.u.y.a; transition more; }}
}}\n"
        ),
        expect![[r#"
            t.p4(3): [--Wwarn=unused] warning: parser 'p' is unused
            t.p4(5): [--Wwarn=invalid-header] warning: accessing a field of an invalid header h.f
            t.p4(5): [--Wwarn=invalid-header] warning: accessing a field of a potentially invalid header h.e
            t.p4(5): [--Wwarn=uninitialized-use] warning: h.e.a may be uninitialized
            t.p4(6): [--Wwarn=uninitialized-use] warning: count may be uninitialized
            t.p4(6): [--Wwarn=invalid-header] warning: accessing a field of an invalid header h.f
            t.p4(7): [--Wwarn=invalid-header] warning: accessing a field of an invalid header h.u.y
            t.p4(7): [--Wwarn=uninitialized-use] warning: h.u.y.a may be uninitialized
            t.p4(3): [--Wwarn=uninitialized-out-param] warning: out parameter 'n' may be uninitialized when 'p' terminates
            t.p4(3): [--Wwarn=uninitialized-out-param] warning: out parameter 'm' may be uninitialized when 'p' terminates
        "#]],
    );
}

#[test]
fn a_union_whose_member_is_made_invalid_holds_nothing() {
    warns(
        &format!(
            "{HEADERS}control c(inout H h, in E e) {{
    apply {{
        h.u.x.setValid(); h.u.x.a = 1;
        h.e.a = h.u.x.a;
        h.u.y.setInvalid();
        h.f.a = h.u.x.a;
    }}
}}\n"
        ),
        expect![[r#"
            t.p4(3): [--Wwarn=unused] warning: control 'c' is unused
            t.p4(8): [--Wwarn=invalid-header] warning: accessing a field of an invalid header h.u.x
        "#]],
    );
}

#[test]
fn actions_and_tables_are_followed_where_they_run() {
    warns(
        &format!(
            "{HEADERS}action NoAction() {{}}\nmatch_kind {{ exact }}\ncontrol c(inout H h) {{
    bit<8> x; bit<8> y; bit<8> z;
    action set(bit<8> v) {{ x = v; h.e.setInvalid(); }}
    action use() {{ y = z; }}
    table t {{ key = {{ h.f.a : exact; }} actions = {{ set; NoAction; }} const default_action = NoAction; }}
    apply {{
        if (t.apply().hit) {{ y = x; }}
        switch (t.apply().action_run) {{ set: {{ y = x; }} default: {{}} }}
        if (h.e.isValid() && h.e.a == y) {{ z = 1; use(); }}
        h.f.a = h.e.a;
        if (!h.e.isValid()) {{ return; }}
        h.f.a = h.e.a;
    }}
}}\n"
        ),
        expect![[r#"
            t.p4(5): [--Wwarn=unused] warning: control 'c' is unused
            t.p4(11): [--Wwarn=uninitialized-use] warning: x may be uninitialized
            t.p4(13): [--Wwarn=uninitialized-use] warning: y may be uninitialized
            t.p4(14): [--Wwarn=invalid-header] warning: accessing a field of a potentially invalid header h.e
        "#]],
    );
}

#[test]
fn loops_come_round_again() {
    warns(
        "void f(in bit<8> n, out bit<8> r) {
    bit<8> x; bit<8> y;
    for (bit<8> i in 1..n) { r = y; if (i == 3) { break; } y = 1; x = 2; }
    r = x;
}
",
        expect![[r#"
            t.p4(1): [--Wwarn=unused] warning: 'f' is unused
            t.p4(3): [--Wwarn=uninitialized-use] warning: y may be uninitialized
            t.p4(4): [--Wwarn=uninitialized-use] warning: x may be uninitialized
        "#]],
    );
}

#[test]
fn what_is_written_twice_and_what_never_matches_is_reported() {
    warns(
        "match_kind { ternary }\naction NoAction() {}\nvoid f(inout bit<8> a, out bit<8> b) { b = a; }
control c(inout bit<8> k) {
    action a() {}
    table t { key = { k : ternary; } actions = { a; } default_action = a;
      entries = { priority = 9: 0x11 &&& 0xF0 : a(); priority = 9: 0 &&& 0 : a(); priority = 10: 1 &&& 1 : a(); } }
    apply { f(k, k); t.apply(); }
}
parser p(in bit<8> k) { state start { transition select(k) { 4..3: start; default: reject; } } }
",
        expect![[r#"
            t.p4(7): [--Wwarn=mismatch] warning: P4Runtime requires that Ternary matches have masked-off bits set to 0, this one has not
            t.p4(7): [--Wwarn=duplicate-priorities] warning: two entries have the same priority 9
            t.p4(7): [--Wwarn=entries-out-of-priority-order] warning: priority 10 after 9: the entries are out of order
            t.p4(10): [--Wwarn=invalid] warning: 4..3: a range that ends before it starts is empty
            t.p4(10): [--Wwarn=unreachable] warning: accept state in parser p is unreachable
            t.p4(2): [--Wwarn=unused] warning: 'NoAction' is unused
            t.p4(4): [--Wwarn=unused] warning: control 'c' is unused
            t.p4(10): [--Wwarn=unused] warning: parser 'p' is unused
            t.p4(8): [--Wwarn=ordering] warning: k: 'out' argument has fields in common with k
        "#]],
    );
}

#[test]
fn a_new_type_of_an_included_file_opens_with_a_warning() {
    let text = "# 1 \"t.p4\"\n# 1 \"arch.p4\" 1\ntype bit<9> Port;\n# 2 \"t.p4\" 2\ntype bit<9> Own;
void f(in bit<9> x, inout Port p, inout Own o) { p = x; o = x; }\n";
    let (found, map) = diagnostics(text);
    let lines: Vec<String> = found
        .iter()
        .filter(|one| matches!(one.class(), Some("mismatch" | "type-error")))
        .map(|one| one.render(&map).lines().next().unwrap_or_default().to_string())
        .collect();
    expect![[r#"
        t.p4(3): [--Wwarn=mismatch] warning: `bit<9>` is taken for `Port`, which it does not convert to by itself
        t.p4(3): [--Werror=type-error] error: cannot implicitly cast `bit<9>` to `Own`"#]]
    .assert_eq(&lines.join("\n"));
}

/// What a control or function finds depends on who calls it: it is followed there.
#[test]
fn calls_are_followed() {
    warns(
        "header e_t { bit<8> f; bit<8> g; }
struct h_t { e_t e; e_t o; }
void forget(out e_t e) {}
bit<8> field(in e_t e) { return e.f; }
control inner(inout h_t h) {
    apply { h.e.g = h.o.f; h.o.setInvalid(); }
}
control outer(out h_t h, out bit<8> r) {
    inner() inst;
    apply {
        h.o.setValid(); h.o.f = 1;
        inst.apply(h);
        r = h.o.f;
        forget(h.o);
        r = field(h.o);
    }
}
",
        expect![[r#"
            t.p4(8): [--Wwarn=unused] warning: control 'outer' is unused
            t.p4(6): [--Wwarn=invalid-header] warning: accessing a field of an invalid header h.e
            t.p4(13): [--Wwarn=invalid-header] warning: accessing a field of an invalid header h.o
            t.p4(4): [--Wwarn=invalid-header] warning: accessing a field of an invalid header e
        "#]],
    );
}

#[test]
fn elements_that_are_all_invalid_are_told_whichever_it_is() {
    warns(
        "header e_t { bit<8> f; }
control c(in bit<1> i, out bit<8> r) {
    e_t[2] s; e_t[2] t;
    apply { r = s[i].f; s[i].f = 1; r = s[i].f; t[0].setValid(); t[0].f = 1; r = t[i].f; t[i].setValid(); r = t[1].f; }
}
",
        expect![[r#"
            t.p4(2): [--Wwarn=unused] warning: control 'c' is unused
            t.p4(4): [--Wwarn=invalid-header] warning: accessing a field of an invalid header s[i]
            t.p4(4): [--Wwarn=invalid-header] warning: accessing a field of an invalid header s[i]
            t.p4(4): [--Wwarn=invalid-header] warning: accessing a field of an invalid header s[i]
        "#]],
    );
}

#[test]
fn selects_whose_end_is_known_are_reported() {
    warns(
        "error { NoError, StackOutOfBounds }
extern packet_in { void extract<T>(out T h); }
header e_t { bit<8> f; }
struct h_t { e_t[2] s; }
parser p(packet_in b, out h_t h) {
    state start { b.extract(h.s.next); transition select(8w3) { 1 .. 2: one; 3 &&& 1: two; 4: one; default: accept; } }
    state one { transition select(8w3) { 4: two; 5: accept; } }
    state two { transition select(h.s.next.f) { 4: accept; default: accept; } }
}
",
        expect![[r#"
            t.p4(6): [--Wwarn=parser-transition] warning: unreachable case
            t.p4(6): [--Wwarn=parser-transition] warning: unreachable case
            t.p4(7): [--Wwarn=parser-transition] warning: no case matches
            t.p4(8): [--Wwarn=parser-transition] warning: transition does not depend on select argument
            t.p4(5): [--Wwarn=unused] warning: parser 'p' is unused
            t.p4(8): [--Wwarn=uninitialized] warning: h.s.next: reading uninitialized value
        "#]],
    );
}

/// Unknown annotations are anybody's.
#[test]
fn hints_on_traffic_without_effect_are_reported() {
    warns(
        r#"match_kind { exact }
control c(inout bit<8> k) {
    @traffic(0.25) action a() {}
    @traffic(1.5) action b() {}
    @traffic(-1) action d() {}
    @traffic("x") action e() {}
    @traffic action f() {}
    @traffic(50%) action g() {}
    @traffic(nan) action h() {}
    @traffic(0.1, 0.2) action i() {}
    @traffic[1] action j() {}
    @trafic(7) @likely @traffic("1") action l() {}
    @likely @unlikely action m() {}
    @unlikely
    table t { key = { k : exact; } actions = { a; b; d; e; f; g; h; i; j; @traffic(2) l; m; } default_action = a; }
    apply { t.apply(); }
}
parser p(in bit<8> k) { @traffic(1e3) state start { transition accept; } }
"#,
        expect![[r#"
            t.p4(4): [--Wwarn=invalid] warning: `@traffic` takes one number from 0 to 1
            t.p4(5): [--Wwarn=invalid] warning: `@traffic` takes one number from 0 to 1
            t.p4(6): [--Wwarn=invalid] warning: `@traffic` takes one number from 0 to 1
            t.p4(7): [--Wwarn=invalid] warning: `@traffic` takes one number from 0 to 1
            t.p4(8): [--Wwarn=invalid] warning: `@traffic` takes one number from 0 to 1
            t.p4(9): [--Wwarn=invalid] warning: `@traffic` takes one number from 0 to 1
            t.p4(10): [--Wwarn=invalid] warning: `@traffic` takes one number from 0 to 1
            t.p4(11): [--Wwarn=invalid] warning: `@traffic` takes one number from 0 to 1
            t.p4(13): [--Wwarn=invalid] warning: `@likely` and `@unlikely` contradict each other: the last hint counts
            t.p4(15): [--Wwarn=invalid] warning: `@traffic` takes one number from 0 to 1
            t.p4(18): [--Wwarn=invalid] warning: `@traffic` takes one number from 0 to 1
            t.p4(2): [--Wwarn=unused] warning: control 'c' is unused
            t.p4(18): [--Wwarn=unused] warning: parser 'p' is unused
        "#]],
    );
}

#[test]
fn entries_beyond_a_tables_size_are_told_of() {
    warns(
        &format!(
            "{HEADERS}action NoAction() {{}}\nmatch_kind {{ exact }}\ncontrol c(inout H h) {{
    table few {{
        key = {{ h.e.a : exact; }}
        actions = {{ NoAction; }}
        size = 1 + 1;
        const entries = {{ 1 : NoAction(); 2 : NoAction(); 3 : NoAction(); }}
    }}
    table enough {{
        key = {{ h.e.a : exact; }}
        actions = {{ NoAction; }}
        size = 1;
        const entries = {{ 1 : NoAction(); }}
    }}
    apply {{ few.apply(); enough.apply(); }}
}}\n"
        ),
        expect![[r#"
            t.p4(9): [--Wwarn=overflow] warning: table `few` has 3 entries and a size of 2
            t.p4(5): [--Wwarn=unused] warning: control 'c' is unused
        "#]],
    );
}

#[test]
fn every_kind_is_written_down() {
    let page = include_str!("../../../../../docs/language.md");
    for kind in crate::check::WARNINGS {
        assert!(page.contains(&format!("`{kind}`")), "`{kind}` is not in docs/language.md");
    }
}

#[test]
fn a_kind_that_nothing_has_is_not_silenced() {
    warns(
        "@noWarn(\"unusd\") @noWarn(\"branch\") const bit<8> a = 1;\n@noWarn(\"unused\", \"not-a-kind\") const bit<8> b = 1;\n",
        expect![[r#"
            t.p4(1): [--Wwarn=unknown] warning: `@noWarn` names no kind of warnings: `unusd`
            t.p4(2): [--Wwarn=unknown] warning: `@noWarn` names no kind of warnings: `not-a-kind`
            t.p4(1): [--Wwarn=unused] warning: 'a' is unused
        "#]],
    );
}

#[test]
fn a_declaration_silences_what_is_said_within_it() {
    warns(
        "@noWarn(\"overflow\") const bit<4> a = 77;
const bit<4> b = 78;
@noWarn(\"overflow\") control c(inout bit<4> x) {
    @noWarn(\"mismatch\") bit<4> y = -1;
    bit<4> z = -2;
    apply { x = 79; @noWarn(\"shadow\") bit<4> v = x; { bit<4> v = x; @noWarn(\"shadow\") bit<4> y = v; } }
}
@noWarn control d(inout bit<4> x) { bit<8> unread; apply { x = 80; } }\n",
        expect![[r#"
            t.p4(2): [--Wwarn=overflow] warning: 78: value does not fit in 4 bits
            t.p4(5): [--Wwarn=mismatch] warning: -2: negative value with unsigned type bit<4>
            t.p4(6): [--Wwarn=shadow] warning: 'v' shadows 'v'
            t.p4(6): [--Wwarn=unused] warning: 'y' is unused
            t.p4(6): [--Wwarn=unused] warning: 'v' is unused
            t.p4(4): [--Wwarn=unused] warning: 'y' is unused
            t.p4(5): [--Wwarn=unused] warning: 'z' is unused
            t.p4(8): [--Wwarn=unused] warning: 'unread' is unused
            t.p4(1): [--Wwarn=unused] warning: 'a' is unused
            t.p4(2): [--Wwarn=unused] warning: 'b' is unused
            t.p4(3): [--Wwarn=unused] warning: control 'c' is unused
        "#]],
    );
}

#[test]
fn a_program_that_cannot_run_is_told_of() {
    let program = |package: &str| {
        format!(
            "control C(inout bit<8> a);\npackage {package}(C c);\ncontrol c(inout bit<8> a) {{ apply {{ a = 1; }} }}\n"
        )
    };
    let reported = |text: &str, kind: &str| {
        let (found, map) = diagnostics(text);
        let of_kind = found.iter().filter(|one| one.class() == Some(kind)).map(|one| one.render(&map));
        of_kind.collect::<String>()
    };
    expect![[r#"
        t.p4(4): [--Wwarn=unknown] warning: it is not defined how the parts of the package `Mine` work together
         --> t.p4:4:11
          |
        4 | Mine(c()) main;
          |           ^^^^ this program can be checked, but not compiled or run
        hint: bacus runs V1Switch of v1model.p4, PSA_Switch of psa.p4 and PNA_NIC of pna.p4
    "#]]
    .assert_eq(&reported(&(program("Mine") + "Mine(c()) main;\n"), "unknown"));
    expect![[r#"
        [--Wwarn=missing] warning: Program does not contain a `main' module
        hint: it can be checked; `compile`, `run` and `stf` need a package called `main`
    "#]]
    .assert_eq(&reported(&program("Mine"), "missing"));
}

#[test]
fn calls_that_keep_metadata_say_that_headers_are_none() {
    warns(
        &format!(
            "{HEADERS}extern void resubmit<T>(in T data);
struct plain {{ bit<8> n; }} struct mixed {{ bit<8> n; E[2] e; }}
control c(in plain p, in mixed m) {{ apply {{
    resubmit(p); resubmit({{ p, m.n }});
    resubmit(m);
    resubmit({{ m.n, m.e[0] }});
}} }}\n"
        ),
        expect![[r#"
            t.p4(7): [--Wwarn=mismatch] warning: the packet does not keep the headers in this argument
            t.p4(8): [--Wwarn=mismatch] warning: the packet does not keep the headers in this argument
            t.p4(5): [--Wwarn=unused] warning: control 'c' is unused
        "#]],
    );
}
