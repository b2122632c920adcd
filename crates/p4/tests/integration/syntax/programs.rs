//! Declarations and statements: what the tree of a program contains.

use super::program;
use p4::ast::{
    AnnotationBody, BinaryOperator, Block, Collection, Control, Declaration, DeclarationKind, Direction, Expression,
    Parser, Program, PropertyValue, Statement, StatementKind, SwitchLabel, Table, Transition, TypeKind,
};

fn declaration<'a>(program: &'a Program, name: &str) -> &'a Declaration {
    let found = program.declarations.iter().find(|declaration| declaration.name.as_str() == name);
    found.unwrap_or_else(|| panic!("`{name}` is declared"))
}

fn control<'a>(program: &'a Program, name: &str) -> &'a Control {
    let DeclarationKind::Control(control) = &declaration(program, name).kind else { panic!("`{name}` is a control") };
    control
}

fn parser<'a>(program: &'a Program, name: &str) -> &'a Parser {
    let DeclarationKind::Parser(parser) = &declaration(program, name).kind else { panic!("`{name}` is a parser") };
    parser
}

fn texts(expressions: &[Expression]) -> Vec<String> {
    expressions.iter().map(Expression::to_string).collect()
}

/// The statements of an apply block with this content.
fn statements(code: &str) -> Vec<Statement> {
    let program = program(&format!("control c() {{ apply {{ {code} }} }}"));
    let Block { statements, .. } = control(&program, "c").apply.clone().expect("an apply block");
    statements
}

#[test]
fn words_with_a_meaning_in_one_place_are_names_elsewhere() {
    let text = "struct s { bit<8> key; bit<8> actions; bit<8> state; bit<8> apply; bit<8> entries; bit<8> type; bit<8> priority; bit<8> list; }
        control c(inout s state) { action apply_it() { state.key = state.type; } apply { state.list = 1; priority = 2; type = 3; } }";
    assert_eq!(control(&program(text), "c").apply.as_ref().expect("an apply block").statements.len(), 3);
}

#[test]
fn statements_are_distinguished_by_what_follows() {
    let code = "a = 1; T b; T<U> c = 2; T[4] d; f(a); T(a) e; f<T>(a); T<U>(a) g; .a.b = 1; T.apply(a); T<U>.apply(a); error.x = 1; bit<8> h[2];";
    let code = code.replace("error.x = 1; ", "");
    let kinds: Vec<&str> = statements(&code)
        .iter()
        .map(|statement| {
            if let StatementKind::Declare(declaration) = &statement.kind {
                let is_instance = matches!(declaration.kind, DeclarationKind::Instance(_));
                return if is_instance { "instance" } else { "variable" };
            }
            if matches!(statement.kind, StatementKind::Assign { .. }) {
                return "assign";
            }
            assert!(matches!(statement.kind, StatementKind::Call(_)), "{:?}", statement.kind);
            "call"
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "assign", "variable", "variable", "variable", "call", "instance", "call", "instance", "assign", "call",
            "call", "variable"
        ]
    );
}

#[test]
fn all_compound_assignments() {
    let code =
        "a += 1; a -= 1; a |+|= 1; a |-|= 1; a *= 1; a /= 1; a %= 1; a <<= 1; a >>= 1; a &= 1; a |= 1; a ^= 1; a = 1;";
    let operators: Vec<Option<&str>> = statements(code)
        .iter()
        .map(|statement| {
            let StatementKind::Assign { operator, .. } = &statement.kind else { panic!("{:?}", statement.kind) };
            operator.map(BinaryOperator::symbol)
        })
        .collect();
    let expected = ["+", "-", "|+|", "|-|", "*", "/", "%", "<<", ">>", "&", "|", "^"].map(Some);
    assert_eq!(operators[..12], expected);
    assert_eq!(operators[12], None);
}

#[test]
fn loops() {
    let code = "for (bit<8> i = 0, j = 1; i < 4; i += 1, f(j)) { continue; } for (; i < 4;) break; for (bit<8> k in 1 .. n) {} for (H h in stack) ;";
    let parsed = statements(code);
    let StatementKind::For(first) = &parsed[0].kind else { panic!("a for loop") };
    assert_eq!((first.initial.len(), first.update.len()), (2, 2));
    assert_eq!(first.condition.to_string(), "i < 4");
    let StatementKind::For(second) = &parsed[1].kind else { panic!("a for loop") };
    assert!(second.initial.is_empty() && second.update.is_empty());
    let StatementKind::ForIn(third) = &parsed[2].kind else { panic!("a for-in loop") };
    assert!(matches!(third.collection, Collection::Range { .. }));
    assert_eq!(third.variable.name.as_str(), "k");
    let StatementKind::ForIn(fourth) = &parsed[3].kind else { panic!("a for-in loop") };
    assert!(matches!(fourth.collection, Collection::Expression(_)));
}

#[test]
fn switch_labels_fall_through_without_a_block() {
    let parsed = statements("switch (t.apply().action_run) { a: b: { exit; } default: @x {} }");
    let StatementKind::Switch { subject, cases } = &parsed[0].kind else { panic!("a switch") };
    assert_eq!(subject.to_string(), "t.apply().action_run");
    assert_eq!(cases.iter().map(|case| case.body.is_some()).collect::<Vec<_>>(), [false, true, true]);
    assert!(matches!(cases[2].label, SwitchLabel::Default(_)));
}

#[test]
fn tables_with_all_their_properties() {
    let text = "control c() {
        @hidden table t {
            key = { h.a: exact @name(\"a\"); (h.b & 3) ++ 2w1 : ternary; }
            actions = { @defaultonly NoAction; .a(x, _); b; }
            const default_action = a(1);
            const entries = {
                const priority = 10: (1, 2 &&& 3): a(1) @x;
                priority = n + 1: (_, default): b;
                (1 .. 2, (h.x) + 1): b();
            }
            @y implementation = action_profile(32);
            largest_priority_wins = false;
        }
        apply {}
    }";
    let program = program(text);
    let DeclarationKind::Table(table) = &control(&program, "c").locals[0].kind else { panic!("a table") };
    let names: Vec<&str> = table.properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(names, ["key", "actions", "default_action", "entries", "implementation", "largest_priority_wins"]);
    check_keys_and_entries(table);
    assert!(table.find("entries").expect("entries").is_constant);
    assert!(table.find("implementation").expect("a property").attributes.has("y"));
}

fn check_keys_and_entries(table: &Table) {
    let PropertyValue::Keys(keys) = &table.properties[0].value else { panic!("keys") };
    assert_eq!(keys[1].expression.to_string(), "(h.b & 3) ++ 2w1");
    assert_eq!(keys[1].match_kind.as_str(), "ternary");
    assert_eq!(keys[0].annotations[0].single().expect("one argument").to_string(), "\"a\"");
    let PropertyValue::Actions(actions) = &table.properties[1].value else { panic!("actions") };
    assert_eq!(actions[1].action.to_string(), ".a(x, _)");
    let PropertyValue::Entries(entries) = &table.properties[3].value else { panic!("entries") };
    assert_eq!(texts(&entries[0].keys), ["1", "2 &&& 3"]);
    assert_eq!(texts(&entries[1].keys), ["_", "default"]);
    assert_eq!(texts(&entries[2].keys), ["1 .. 2", "h.x + 1"]);
    assert!(entries[0].is_constant && !entries[1].is_constant);
    assert_eq!(entries[1].priority.as_ref().expect("a priority").to_string(), "n + 1");
}

#[test]
fn parsers_with_states_and_value_sets() {
    let text = "parser p<H>(packet_in b, out H h)(bool flag) {
        value_set<bit<16>>(4) vs;
        bit<8> x = 1;
        state start { b.extract(h.x); if (flag) { x = 2; } transition select(h.a, x) { (1, _): next; vs: accept; (1 + 2) &&& 3: next; default: reject; } }
        @name(\"n\") state next { transition accept; }
        state last { }
    }
    parser q(in bit<8> x);";
    let program = program(text);
    let body = parser(&program, "p").body.as_ref().expect("a body");
    assert_eq!((body.locals.len(), body.states.len()), (2, 3));
    let Some(Transition::Select { subjects, cases, .. }) = &body.states[0].transition else { panic!("a select") };
    assert_eq!(texts(subjects), ["h.a", "x"]);
    let keys: Vec<Vec<String>> = cases.iter().map(|case| texts(&case.keys)).collect();
    assert_eq!(keys, [vec!["1", "_"], vec!["vs"], vec!["(1 + 2) &&& 3"], vec!["default"]]);
    assert!(body.states[2].transition.is_none());
    assert!(parser(&program, "q").body.is_none());
}

#[test]
fn externs_packages_and_instances() {
    let text = "extern E<T> { E(int size); E(); abstract T f(in T x); void g<U>(@optional in U u, out T t = 3); }
        extern E2;
        extern T h<T>(in list<T> x);
        package P<A>(A a, @optional E<bit<8>> e = E<bit<8>>(3));
        E<bit<8>>(4) e = { bit<8> f(in bit<8> x) { return x; } E2() inner; };
        static_assert(1 < 2, \"order\");
        bit<8> twice(in bit<8> x) { return x + x; }
        P(c(), _, e = e) main;";
    let program = program(text);
    let DeclarationKind::Extern(object) = &declaration(&program, "E").kind else { panic!("an extern") };
    let flags: Vec<(bool, bool)> =
        object.methods.iter().map(|method| (method.is_constructor, method.is_abstract)).collect();
    assert_eq!(flags, [(true, false), (true, false), (false, true), (false, false)]);
    let last = &object.methods[3].parameters;
    assert_eq!(last[1].direction, Direction::Out);
    assert!(last[0].attributes.has("optional") && last[1].default.is_some());
    let DeclarationKind::Instance(instance) = &declaration(&program, "e").kind else { panic!("an instance") };
    assert_eq!(instance.body.as_ref().expect("a body").len(), 2);
    assert!(matches!(declaration(&program, "static_assert").kind, DeclarationKind::Assertion(_)));
    let DeclarationKind::Instance(main) = &declaration(&program, "main").kind else { panic!("an instance") };
    assert_eq!(main.arguments[2].name.as_ref().expect("a named argument").as_str(), "e");
}

#[test]
fn types_and_their_declarations() {
    let text = "header H<T> { T[2] a; bit b[3][4]; varbit<(N * 8)> c; }
        header_union U { H<bit<8>> h; }
        enum E { A, B, }
        enum bit<8> F { A = 1, B = A + 1 }
        error { X, Y }
        match_kind { exact, lpm, }
        typedef struct S { bit<8> a; } T;
        type bit<9> Port;
        const tuple<H<bit<8>>, list<tuple<int<8>, bool>>> x = {};";
    let program = program(text);
    let DeclarationKind::Structure(header) = &declaration(&program, "H").kind else { panic!("a header") };
    let types: Vec<String> = header.fields.iter().map(|field| field.of_type.to_string()).collect();
    // `bit b[3][4]` is three arrays of four.
    assert_eq!(types, ["T[2]", "bit[4][3]", "varbit<(N * 8)>"]);
    let DeclarationKind::Typedef { inline, target } = &declaration(&program, "T").kind else { panic!("a typedef") };
    assert!(inline.is_some() && matches!(target.kind, TypeKind::Named(_)));
    let DeclarationKind::Constant(constant) = &declaration(&program, "x").kind else { panic!("a constant") };
    assert_eq!(constant.of_type.to_string(), "tuple<H<bit<8>>, list<tuple<int<8>, bool>>>");
}

#[test]
fn annotations_of_every_sort_and_documentation() {
    let text = "/** Forwards.
         * Twice. */
        @empty @text(any ((thing)) + ;) @list(1, \"a\", bit<8>) @pairs(k = 1, l = 2) @some[1, x] @more[a = 1]
        @pragma size 100 // comment
        const int a = 1;";
    let program = program(text);
    let attributes = &declaration(&program, "a").attributes;
    assert_eq!(attributes.documentation.as_deref(), Some("Forwards.\nTwice."));
    let find = |name: &str| attributes.find(name).expect("an annotation of this name");
    assert!(matches!(find("empty").body, AnnotationBody::Empty));
    let AnnotationBody::Unstructured { text, tokens, expressions: None, pairs: None } = &find("text").body else {
        panic!("free text")
    };
    assert_eq!((text.as_ref(), tokens.len()), ("any ((thing)) + ;", 8));
    assert_eq!(texts(find("list").expressions()), ["1", "\"a\"", "bit<8>"]);
    assert_eq!(find("pairs").pairs().len(), 2);
    assert_eq!(texts(find("some").expressions()), ["1", "x"]);
    assert_eq!(find("more").pairs()[0].key.as_str(), "a");
    let AnnotationBody::Unstructured { text, .. } = &find("size").body else { panic!("a pragma") };
    assert_eq!(text.as_ref(), "100");
}
