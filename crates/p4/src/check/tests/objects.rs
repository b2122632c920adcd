//! Tables, parsers, controls, packages and calls: what is rejected, and what accepted calls mean.
//!
//! The helpers are those of the module around.

use expect_test::expect;
use hlir::diagnostic::Diagnostic;

use super::{accepts, diagnostics, rejects};
use crate::ast::{DeclarationKind, StatementKind};
use crate::check::{Source, check};
use crate::parse;

#[test]
fn parsers_start_and_end() {
    rejects(
        "parser p() { state begin { transition accept; } }\n",
        expect![[r#"
        t.p4(1): [--Werror=invalid] error: parser `p` has no `start` state
         --> t.p4:1:8
          |
        1 | parser p() { state begin { transition accept; } }
          |        ^
    "#]],
    );
    rejects(
        "parser p() { state start { transition other; } state other { transition start; } }\n",
        expect![[r#"
        t.p4(1): [--Werror=unreachable] error: parser `p` never reaches `accept` or `reject`
         --> t.p4:1:8
          |
        1 | parser p() { state start { transition other; } state other { transition start; } }
          |        ^
    "#]],
    );
    rejects(
        "parser p(in bit<8> a) { state start { transition select(a) { 1: nowhere; 2w1: accept; _: reject; } } }\n",
        expect![[r#"
            t.p4(1): [--Werror=not-found] error: nowhere: declaration not found
             --> t.p4:1:65
              |
            1 | parser p(in bit<8> a) { state start { transition select(a) { 1: nowhere; 2w1: accept; _: reject; } } }
              |                                                                 ^^^^^^^ no state has this name
            t.p4(1): [--Werror=type-error] error: cannot implicitly cast `bit<2>` to `bit<8>`
             --> t.p4:1:74
              |
            1 | parser p(in bit<8> a) { state start { transition select(a) { 1: nowhere; 2w1: accept; _: reject; } } }
              |                                                                          ^^^ this is `bit<2>`, `bit<8>` is expected
            hint: write the cast: `(bit<8>)`
        "#]],
    );
}

const CORE: &str = "match_kind { exact, lpm, ternary }\naction NoAction() {}\n";

#[test]
fn tables_have_rules() {
    rejects(
        "control c() { action a() {} table t { actions = { a; } } apply { t.apply(); } }\n",
        expect![[r#"
        t.p4(1): [--Werror=not-found] error: declaration of the action `NoAction` not found
         --> t.p4:1:35
          |
        1 | control c() { action a() {} table t { actions = { a; } } apply { t.apply(); } }
          |                                   ^ this table names no default action, so it is `NoAction`
        hint: include `core.p4`, or give the table a `default_action`
    "#]],
    );
    rejects(
        &format!(
            "{CORE}control c(in bit<8> k) {{ action a(bit<8> d) {{}} action b() {{}}
table t {{ key = {{ k: exakt; k + 1: exact; }} actions = {{ a(1); a; a; }} default_action = b; }} apply {{}} }}\n"
        ),
        expect![[r#"
            t.p4(4): [--Werror=not-found] error: exakt: declaration not found
             --> t.p4:4:22
              |
            4 | table t { key = { k: exakt; k + 1: exact; } actions = { a(1); a; a; } default_action = b; } apply {} }
              |                      ^^^^^ no match kind has this name
            hint: did you mean `exact`?
            t.p4(4): [--Werror=expected] error: a computed key needs a name
             --> t.p4:4:29
              |
            4 | table t { key = { k: exakt; k + 1: exact; } actions = { a(1); a; a; } default_action = b; } apply {} }
              |                             ^^^^^
            hint: give it one: `expression : exact @name("key")`
            t.p4(4): [--Werror=type-error] error: parameter `d` cannot be bound: the control plane sets it
             --> t.p4:4:59
              |
            4 | table t { key = { k: exakt; k + 1: exact; } actions = { a(1); a; a; } default_action = b; } apply {} }
              |                                                           ^
             --> t.p4:3:33
              |
            3 | control c(in bit<8> k) { action a(bit<8> d) {} action b() {}
              |                                 ^ declared here
            t.p4(4): [--Werror=duplicate] error: duplicate action in the list of a table
             --> t.p4:4:63
              |
            4 | table t { key = { k: exakt; k + 1: exact; } actions = { a(1); a; a; } default_action = b; } apply {} }
              |                                                               ^^ second one
              |                                                         ^^^^^ first one
            t.p4(4): [--Werror=duplicate] error: duplicate action in the list of a table
             --> t.p4:4:66
              |
            4 | table t { key = { k: exakt; k + 1: exact; } actions = { a(1); a; a; } default_action = b; } apply {} }
              |                                                                  ^^ second one
              |                                                         ^^^^^ first one
            t.p4(4): [--Werror=type-error] error: `b` is not in the table's list of actions
             --> t.p4:4:88
              |
            4 | table t { key = { k: exakt; k + 1: exact; } actions = { a(1); a; a; } default_action = b; } apply {} }
              |                                                                                        ^
        "#]],
    );
}

#[test]
fn entries_fit_their_keys() {
    rejects(
        &format!(
            "{CORE}control c(in bit<8> k) {{ action a(bit<8> d) {{}}
table t {{ key = {{ k: lpm; }} actions = {{ a; NoAction; }}
const entries = {{ 0x10 &&& 0x0F: a(1); (1, 2): a(2); 3: a(); true: NoAction; }} }} apply {{}} }}\n"
        ),
        expect![[r#"
            t.p4(5): [--Werror=invalid] error: invalid mask for an `lpm` key
             --> t.p4:5:19
              |
            5 | const entries = { 0x10 &&& 0x0F: a(1); (1, 2): a(2); 3: a(); true: NoAction; } } apply {} }
              |                   ^^^^^^^^^^^^^ its ones have to come first
            t.p4(5): [--Werror=type-error] error: 2 keys for a table with 1
             --> t.p4:5:40
              |
            5 | const entries = { 0x10 &&& 0x0F: a(1); (1, 2): a(2); 3: a(); true: NoAction; } } apply {} }
              |                                        ^^^^^^^^^^^^^
            t.p4(5): [--Werror=type-error] error: `a`: no argument for parameter `d`
             --> t.p4:5:57
              |
            5 | const entries = { 0x10 &&& 0x0F: a(1); (1, 2): a(2); 3: a(); true: NoAction; } } apply {} }
              |                                                         ^^^
             --> t.p4:3:42
              |
            3 | control c(in bit<8> k) { action a(bit<8> d) {}
              |                                          ^ the parameter
            t.p4(5): [--Werror=type-error] error: cannot implicitly cast `bool` to `bit<8>`
             --> t.p4:5:62
              |
            5 | const entries = { 0x10 &&& 0x0F: a(1); (1, 2): a(2); 3: a(); true: NoAction; } } apply {} }
              |                                                              ^^^^ this is `bool`, `bit<8>` is expected
        "#]],
    );
}

#[test]
fn what_may_be_called_depends_on_the_place() {
    rejects(
        &format!(
            "{CORE}control d() {{ apply {{}} }}
control c() {{ d() i; table t {{ actions = {{ NoAction; }} }} action a() {{ t.apply(); i.apply(); }} apply {{ a(); }} }}
void f() {{ NoAction(); }}\n"
        ),
        expect![[r#"
            t.p4(4): [--Werror=type-error] error: `apply` cannot be called from actions
             --> t.p4:4:71
              |
            4 | control c() { d() i; table t { actions = { NoAction; } } action a() { t.apply(); i.apply(); } apply { a(); } }
              |                                                                       ^^^^^^^^^
            t.p4(4): [--Werror=type-error] error: `apply` cannot be called from actions
             --> t.p4:4:82
              |
            4 | control c() { d() i; table t { actions = { NoAction; } } action a() { t.apply(); i.apply(); } apply { a(); } }
              |                                                                                  ^^^^^^^^^
            t.p4(5): [--Werror=type-error] error: functions cannot call actions
             --> t.p4:5:12
              |
            5 | void f() { NoAction(); }
              |            ^^^^^^^^^^
        "#]],
    );
    rejects(
        "control c() { apply { c.apply(); } }\nparser p() { state start { p() q; transition accept; } }\n",
        expect![[r#"
            t.p4(1): [--Werror=unsupported] error: `c` refers to itself
             --> t.p4:1:23
              |
            1 | control c() { apply { c.apply(); } }
              |                       ^^^^^^^^^ self-referencing types are not supported
            t.p4(2): [--Werror=invalid] error: q: instances cannot be made in a function, action or parser state
             --> t.p4:2:32
              |
            2 | parser p() { state start { p() q; transition accept; } }
              |                                ^ declare it outside
        "#]],
    );
}

#[test]
fn switches_have_labels() {
    rejects(
        &format!(
            "{CORE}control c(in bit<8> a) {{ apply {{ switch (a) {{ 1: {{}} default: {{}} 1: {{}} true: {{}} }} }} }}\n"
        ),
        expect![[r#"
            t.p4(3): [--Werror=invalid] error: a label follows `default`, which has to be the last one
             --> t.p4:3:65
              |
            3 | control c(in bit<8> a) { apply { switch (a) { 1: {} default: {} 1: {} true: {} } } }
              |                                                                 ^^^^^
            t.p4(3): [--Werror=invalid] error: duplicate case label
             --> t.p4:3:65
              |
            3 | control c(in bit<8> a) { apply { switch (a) { 1: {} default: {} 1: {} true: {} } } }
              |                                                                 ^ second one
              |                                               ^ first one
            t.p4(3): [--Werror=type-error] error: a value of type `bit<8>` cannot be compared to `bool`
             --> t.p4:3:71
              |
            3 | control c(in bit<8> a) { apply { switch (a) { 1: {} default: {} 1: {} true: {} } } }
              |                                                                       ^^^^
        "#]],
    );
}

#[test]
fn loops_are_where_break_and_continue_are() {
    rejects(
        "action a(inout bit<8> x) { break; for (bit<8> i in 1 .. 3) { continue; } for (; x; x += 1) {} }\n",
        expect![[r#"
            t.p4(1): [--Werror=invalid] error: `break` can only be used in a `for` loop
             --> t.p4:1:28
              |
            1 | action a(inout bit<8> x) { break; for (bit<8> i in 1 .. 3) { continue; } for (; x; x += 1) {} }
              |                            ^^^^^^
            t.p4(1): [--Werror=type-error] error: the condition of `for` has to be `bool`, this is `bit<8>`
             --> t.p4:1:81
              |
            1 | action a(inout bit<8> x) { break; for (bit<8> i in 1 .. 3) { continue; } for (; x; x += 1) {} }
              |                                                                                 ^
        "#]],
    );
}

#[test]
fn generic_packages_take_what_fits_their_shape() {
    let program = "struct H {}\nstruct M {}\ncontrol C<A, B>(inout A a, in B b);\npackage P<A, B>(C<A, B> c);
control c(inout H h, in M m) { apply {} }\nP(c()) main;\n";
    let parsed = parse("t.p4", program);
    let (checked, found) = check(&parsed.program);
    assert!(!found.iter().any(|one| one.is_error()), "{found:?}");
    let main = checked.main().expect("the program has a main");
    assert_eq!(checked.declared_type(main).to_string(), "package P<struct H, struct M>");
    rejects(
        "struct H {}\ncontrol C<A>(inout A a);\npackage P<A>(C<A> c);\ncontrol c(in H h) { apply {} }\nP(c()) main;\n",
        expect![[r#"
            t.p4(5): [--Werror=type-error] error: `control c` does not fit `C<_>`
             --> t.p4:5:3
              |
            5 | P(c()) main;
              |   ^^^
             --> t.p4:4:11
              |
            4 | control c(in H h) { apply {} }
              |           ^^^^^^ this parameter is different
             --> t.p4:2:14
              |
            2 | control C<A>(inout A a);
              |              ^^^^^^^^^ from the one that is wanted
        "#]],
    );
}

#[test]
fn calls_know_their_bindings() {
    let program = "extern void f<T>(in T a, @optional in bool b, in bit<8> c = 7);\ncontrol c() { apply { f(c = 1, a = 2w3); } }\n";
    let parsed = parse("t.p4", program);
    let (checked, found) = check(&parsed.program);
    assert!(!found.iter().any(|one| one.is_error()), "{found:?}");
    let DeclarationKind::Control(control) = &parsed.program.declarations[1].kind else { panic!("a control") };
    let statement = &control.apply.as_ref().expect("it has a body").statements[0];
    let StatementKind::Call(call) = &statement.kind else { panic!("a call") };
    let call = checked.call(call).expect("the call is resolved");
    let sources: Vec<Source> = call.bindings.iter().map(|binding| binding.source).collect();
    assert_eq!(sources, [Source::Argument(1), Source::Omitted, Source::Argument(0)]);
    assert_eq!(call.bindings[0].of_type.to_string(), "bit<2>");
}

#[test]
fn overloads_are_distinguished_by_number_and_name() {
    accepts(
        "extern E { E(); void f(in bit<8> a); void f(in bit<8> a, in bit<8> b); }\ncontrol c() { E() e; apply { e.f(1); e.f(1, 2); } }\n",
    );
    accepts(
        "bit<8> f(in bit<8> a) { return a; }\nbit<4> f(in bit<4> b) { return b; }\nbit<4> g(in bit<4> x) { return f(b = x); }\n",
    );
    // Both take one argument without a name, and its type does not choose.
    let (found, _) = diagnostics(
        "bit<8> f(in bit<8> a) { return a; }\nbit<4> f(in bit<4> b) { return b; }\nbit<4> g(in bit<4> x) { return f(x); }\n",
    );
    assert!(found.iter().any(|one| one.class() == Some("duplicate")), "{found:?}");
    rejects(
        "extern E { E(); void f(in bit<8> a); }\ncontrol c() { E() e; apply { e.f(1, 2); e.g(); } }\n",
        expect![[r#"
            t.p4(2): [--Werror=type-error] error: too many arguments for `f`
             --> t.p4:2:37
              |
            2 | control c() { E() e; apply { e.f(1, 2); e.g(); } }
              |                                     ^
             --> t.p4:1:22
              |
            1 | extern E { E(); void f(in bit<8> a); }
              |                      ^ declared here
            t.p4(2): [--Werror=type-error] error: `E` has no member `g`
             --> t.p4:2:43
              |
            2 | control c() { E() e; apply { e.f(1, 2); e.g(); } }
              |                                           ^
             --> t.p4:1:8
              |
            1 | extern E { E(); void f(in bit<8> a); }
              |        ^ declared here
        "#]],
    );
}

#[test]
fn types_do_not_distinguish_overloads() {
    let duplicates = [
        "extern E { E(); void f<T>(in T x); void f<T>(in T x); }\n",
        "extern E { E(); void f<T>(in T x); void f<U>(in U x); }\n",
        "extern E<A> { E(); void f<T>(in A x, in T y); A f<U>(in A x, in U y); }\n",
        "extern void f<T>(in T x);\nextern void f<U>(in U x);\n",
        "extern void f<T, U>(in T x, in tuple<U> y);\nextern void f<U, T>(in U x, in tuple<T> y);\n",
        "bit<8> f<T>(in T x) { return 1; }\nbit<8> f<U>(in U x) { return 2; }\n",
        "parser p<T>(in T x);\nparser p<U>(in U x);\n",
        "package p<T>(T x);\npackage p<U>(U x);\n",
        "bit<8> f(in bit<8> a) { return a; }\nbit<4> f(in bit<4> a) { return a; }\n",
        "extern E { E(); void f(in bit<8> a); void f(in bit<4> a); }\n",
        "extern E { E(bit<8> a); E(bit<4> a); }\n",
        "extern E { E(); void f(in bit<8> a, out bit<4> b); void f(out bit<8> b, in bit<4> a); }\n",
        "extern void g<T>(in T x);\nextern void g<T>(in tuple<T> x);\n",
        "extern void g<T>(in T x);\nextern void g<T, U>(in T x);\n",
    ];
    for program in duplicates {
        let (found, _) = diagnostics(program);
        assert!(found.iter().any(|one| one.class() == Some("duplicate")), "{program}");
    }
    accepts("extern E { E(); void f<T>(in T x); void f<T>(in T y); void f<T, U>(in T x, in U y); }\n");
}

#[test]
fn an_abstract_method_is_defined_with_its_type_parameters() {
    let object = "extern V { V(); abstract T f<T>(in T x); abstract void g(in bit<8> x); }\n";
    let defined = |f: &str, g: &str| format!("{object}control c() {{ V() v = {{ {f} {g} }}; apply {{ }} }}\n");
    accepts(&defined("U f<U>(in U x) { return x; }", "void g(in bit<8> x) { }"));
    let mismatches = [
        defined("bit<8> f(in bit<8> x) { return x; }", "void g(in bit<8> x) { }"),
        defined("U f<U, W>(in U x) { return x; }", "void g(in bit<8> x) { }"),
        defined("U f<U>(in U x) { return x; }", "void g<T>(in bit<8> x) { }"),
        defined("bit<8> f<U>(in bit<8> x) { return x; }", "void g(in bit<8> x) { }"),
    ];
    for program in &mismatches {
        let (found, _) = diagnostics(program);
        let mismatch = |one: &Diagnostic| one.is_error() && one.class() == Some("type-error");
        assert!(found.iter().any(mismatch), "{program}{found:?}");
    }
}

#[test]
fn a_parameter_without_direction_is_known_at_compile_time_but_for_data() {
    let send = "extern void send(bit<9> port);\nconst bit<9> CPU = 5;\n";
    accepts(&format!(
        "{send}control c() {{ action to(bit<9> port) {{ send(port); send(port + 1); send(CPU); }}
apply {{ bit<9> at = 1; to(at); }} }}\n"
    ));
    rejects(
        &format!("{send}control c(in bit<9> at) {{ apply {{ send(at); }} }}\n"),
        expect![[r#"
        t.p4(3): [--Werror=type-error] error: the argument of `port` has to be known at compile time
         --> t.p4:3:40
          |
        3 | control c(in bit<9> at) { apply { send(at); } }
          |                                        ^^
        hint: the data of an action may be known later: make the call in an action, and call that
    "#]],
    );
}
