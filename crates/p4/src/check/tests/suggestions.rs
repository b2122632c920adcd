//! Names that are spelled almost like a member, a field or a parameter.

use super::*;

/// The hints of a program's errors.
fn hints(text: &str) -> Vec<String> {
    let (found, map) = diagnostics(text);
    let rendered: String = found.iter().filter(|one| one.is_error()).map(|one| one.render(&map)).collect();
    let hints = rendered.lines().filter_map(|line| line.trim_start().strip_prefix("hint: "));
    hints.map(str::to_string).collect()
}

#[test]
fn members_of_values_are_suggested() {
    let declared = "header H { bit<8> length; } struct S { H[2] hdrs; H first; }\n\
        extern Box { Box(); void store(in bit<8> value); bit<8> load(); }\n";
    let cases = [
        ("s.frist.setValid();", "first"),
        ("s.first.lenght = 1;", "length"),
        ("s.first.setValied();", "setValid"),
        ("if (s.first.isvalid()) { }", "isValid"),
        ("s.hdrs.push_fornt(1);", "push_front"),
        ("box.stroe(1);", "store"),
        ("box.store(vlaue = 1);", "value"),
        ("bit<32> n = s.hdrs.sise;", "size"),
        ("if (t.apply().hits) { }", "hit"),
        ("t.aply();", "apply"),
        ("S x = { hdrs = s.hdrs, fisrt = s.first };", "first"),
        ("bit<8> n = s.first.minSizeInBytse();", "minSizeInBytes"),
    ];
    for (statement, meant) in cases {
        let text = format!(
            "{declared}control c(inout S s) {{\n    Box() box; table t {{ actions = {{ }} }}\n    apply {{ {statement} }}\n}}\n"
        );
        let hints = hints(&text);
        assert!(hints.contains(&format!("did you mean `{meant}`?")), "{statement}: {hints:?}");
    }
}

#[test]
fn members_of_types_are_suggested() {
    let text = "enum Kind { Unicast, Multicast } enum bit<8> Code { Request = 1, Reply = 2 } error { TooShort }\n\
        const bool a = Kind.Unicst == Kind.Multicast;\nconst bool b = Code.request == Code.Reply;\n\
        const bool c = error.TooShrot == error.TooShort;\n";
    let meant = ["Unicast", "Request", "TooShort"].map(|name| format!("did you mean `{name}`?"));
    assert_eq!(hints(text), meant);
}

#[test]
fn what_is_spelled_otherwise_is_not_suggested() {
    let text = "header H { bit<8> f; bit<8> length; }\ncontrol c(inout H h) { apply { h.g = 1; h.ttl = 1; } }\n";
    assert_eq!(hints(text), Vec::<String>::new());
}
