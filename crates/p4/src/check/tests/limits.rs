//! What the architectures ask of a program, beyond the language.

use super::*;

/// A program for v1model with what a test is about: headers, then the body of the parser's start state, then ingress.
fn v1model(headers: &str, state: &str, locals: &str, apply: &str) -> String {
    format!(
        "extern packet_in {{ void extract<T>(out T h); }}\nextern register<T> {{ register(bit<32> n); void read(out T v, in bit<32> i); }}
match_kind {{ exact, ternary, lpm }}\naction NoAction() {{}}\n{headers}\nparser P<H>(packet_in p, out H h);\ncontrol I<H>(inout H h);
package V1Switch<H>(P<H> p, I<H> i);\nparser p(packet_in b, out H h) {{ state start {{ {state} transition accept; }} }}
control i(inout H h) {{\n{locals}\napply {{ {apply} }} }}\nV1Switch(p(), i()) main;\n"
    )
}

const STRUCT: &str = "header E { bit<8> a; bit<16> b; } struct H { E e; }";

fn first_error(text: &str) -> String {
    let (found, map) = diagnostics(text);
    let error = found.iter().find(|one| one.is_error()).map(|one| one.render(&map));
    error.map_or_else(|| "accepted".to_string(), |text| text.lines().next().unwrap_or_default().to_string())
}

#[test]
fn a_header_is_whole_bytes_where_packets_are_read() {
    let odd = "header E { bit<9> a; } struct H { E e; }";
    expect!["t.p4(9): [--Werror=target-error] error: a header that is no whole number of bytes cannot be extracted"]
        .assert_eq(&first_error(&v1model(odd, "b.extract(h.e);", "", "")));
    expect!["accepted"].assert_eq(&first_error(&v1model(odd, "", "", "")));
    let own = v1model(odd, "b.extract(h.e);", "", "").replace("V1Switch", "Mine");
    expect!["accepted"].assert_eq(&first_error(&own));
}

#[test]
fn a_table_has_one_longest_prefix() {
    let table = "table t { key = { h.e.a : lpm; h.e.b : lpm; } actions = { NoAction; } }";
    expect!["t.p4(11): [--Werror=invalid] error: `lpm` key must come alone"].assert_eq(&first_error(&v1model(
        STRUCT,
        "",
        table,
        "t.apply();",
    )));
}

#[test]
fn what_is_learned_has_one_key() {
    let table = "table t { key = { h.e.a : exact; h.e.b : ternary; } actions = { NoAction; } add_on_miss = true; }";
    expect![
        "t.p4(11): [--Werror=invalid] error: a table with `add_on_miss` has `exact` keys only, this one is `ternary`"
    ]
    .assert_eq(&first_error(&v1model(STRUCT, "", table, "t.apply();")));
}

#[test]
fn v1model_has_numbers_in_registers_and_no_switch_in_actions() {
    let register = "register<H>(8) r;";
    expect!["t.p4(12): [--Werror=target-error] error: a register of v1model cannot be read into a structure"]
        .assert_eq(&first_error(&v1model(STRUCT, "", register, "r.read(h, 1);")));
    let action = "action f() { switch (h.e.a) { 1: {} } }";
    expect!["t.p4(11): [--Werror=target-error] error: a `switch` in an action is not possible in v1model"]
        .assert_eq(&first_error(&v1model(STRUCT, "", action, "f();")));
    let header = "header H { bit<8> a; }";
    expect!["t.p4(9): [--Werror=target-error] error: the headers of v1model have to be a struct, `h` is none"]
        .assert_eq(&first_error(&v1model(header, "", "", "")));
}

#[test]
fn a_direct_counter_of_v1model_may_be_named_anywhere_and_a_direct_meter_belongs_to_a_table() {
    let objects = format!(
        "extern direct_counter {{ direct_counter(); void count(); }}\nextern direct_meter<T> {{ direct_meter(); void read(out T v); }}\n{STRUCT}"
    );
    let tables = |meters: &str, apply: &str| {
        let locals = format!(
            "direct_counter() c; direct_meter<bit<8>>() m; action a() {{ c.count(); m.read(h.e.a); }} action b() {{}}
table t {{ key = {{ h.e.a : exact; }} actions = {{ a; NoAction; }} counters = c; {meters} }}
table u {{ key = {{ h.e.b : exact; }} actions = {{ a; b; NoAction; }} }}"
        );
        first_error(&v1model(&objects, "", &locals, apply))
    };
    expect!["accepted"].assert_eq(&tables("meters = m;", "c.count(); t.apply(); u.apply();"));
    expect!["accepted"].assert_eq(&tables("meters = m;", "u.apply();"));
    expect!["t.p4(13): [--Werror=invalid] error: direct meter `m` belongs to no table"]
        .assert_eq(&tables("", "t.apply(); u.apply();"));
    let unattached = "direct_counter() c; action a() { c.count(); }\ntable u { key = { h.e.b : exact; } actions = { a; NoAction; } }";
    expect!["accepted"].assert_eq(&first_error(&v1model(&objects, "", unattached, "u.apply();")));
}

#[test]
fn a_function_in_c_changes_numbers_not_structures_of_structures() {
    let program = "header E { bit<8> a; } struct H { E e; }\nextern void f(inout H h); extern void g(inout E e);
control C(inout H h); package P(C c);\ncontrol c(inout H h) { apply { g(h.e); f(h); } }\nP(c()) main;\n";
    expect!["t.p4(4): [--Werror=target-error] error: an extern function cannot change a structure that holds headers or structures"]
        .assert_eq(&first_error(program));
}

#[test]
fn parameters_of_a_constructor_and_of_apply_are_distinguished() {
    expect!["t.p4(1): [--Werror=duplicate] error: duplicate declaration of `p`"]
        .assert_eq(&first_error("control c(bit<32> p)(bool p) { apply {} }\n"));
    expect!["t.p4(1): [--Werror=invalid] error: `@optional` parameters are for externs, packages, and what is applied"]
        .assert_eq(&first_error("control c(in bit<8> a)(@optional bit<8> b) { apply {} }\n"));
}

#[test]
fn no_function_returns_a_number_without_width() {
    let function = "T f<T>(T x) { return x; }\n";
    expect!["t.p4(2): [--Werror=type-error] error: this call returns an `int`, which exists at compile time only"]
        .assert_eq(&first_error(&format!("{function}control c() {{ apply {{ bit<8> y = f(255); }} }}\n")));
    expect!["accepted"]
        .assert_eq(&first_error(&format!("{function}control c() {{ apply {{ bit<8> y = f(8w255); }} }}\n")));
}
