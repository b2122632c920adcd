//! Types in types, and types that are given another name: the tables of the specification's 7.2.8.

use super::{accepts, diagnostics};

fn refuses(program: &str) {
    let (found, _) = diagnostics(program);
    assert!(found.iter().any(|one| one.is_error() && one.class() == Some("type-error")), "{program}{found:?}");
}

#[test]
fn lists_have_elements_of_types_with_values() {
    for element in ["void", "_", "E", "P", "C", "list<void>", "tuple<void>"] {
        let declarations = "extern E { E(); }\nparser P();\ncontrol C();\n";
        refuses(&format!("{declarations}typedef list<{element}> names;\n"));
        refuses(&format!("{declarations}struct s {{ list<{element}> field; }}\n"));
    }
    for element in ["bit<8>", "int", "string", "match_kind", "error", "list<bit<8>>", "tuple<bit<8>, bool>"] {
        accepts(&format!("error {{ E }}\ntypedef list<{element}> names;\n"));
    }
}

#[test]
fn void_and_match_kind_have_no_other_name() {
    for named in ["void", "match_kind"] {
        refuses(&format!("typedef {named} other;\n"));
        refuses(&format!("type {named} other;\n"));
    }
    accepts("match_kind { one }\nconst match_kind first = one;\n");
}
