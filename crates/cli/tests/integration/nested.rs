//! Input that is nested a hundred thousand levels deep: each reader refuses it, and none overflows its stack.

use crate::command::{path, ran, scratch};

const LEVELS: usize = 100_000;

fn nested(open: &str, inside: &str, close: &str) -> String {
    open.repeat(LEVELS) + inside + &close.repeat(LEVELS)
}

/// Writes each text to a file, and gives that to the command as its last argument.
fn refused(command: &[&str], cases: &[(&str, String, &str)]) {
    let folder = scratch(&format!("nested-{}", command[0]));
    for (name, text, reason) in cases {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        let file = file.display().to_string();
        let (code, said) = ran(&[command, &[file.as_str()]].concat());
        let shown: String = said.chars().take(300).collect();
        assert!(code == Some(1) && said.contains(reason), "{command:?} {name}: {code:?}: {shown}");
    }
}

#[test]
fn programs() {
    let hlir = |body: String| format!("program a for b\nvariable x: 8\nnode n: block {{ {body} }} -> n\n");
    refused(
        &["check"],
        &[
            ("expression.p4", format!("const bit<8> a = {};", nested("(", "1", ")")), "this is nested too deeply"),
            ("block.p4", format!("control c() {{ apply {} }}", nested("{", "", "}")), "this is nested too deeply"),
            ("type.p4", format!("typedef {} t;", nested("list<", "bit<8>", ">")), "this is nested too deeply"),
            (
                "else.p4",
                format!("control c() {{ apply {{ {} }} }}", nested("if (true) {} else ", "{}", "")),
                "this is nested too deeply",
            ),
            ("expression.hlir", hlir(format!("x = {}", nested("(", "1", ")"))), "this is nested too deeply"),
            ("block.hlir", hlir(nested("if true { ", "", "}")), "this is nested too deeply"),
            ("list.json", nested("[", "", "]"), "it is nested deeper than 1000 levels"),
            ("object.json", nested("{\"a\":", "1", "}"), "it is nested deeper than 1000 levels"),
        ],
    );
}

#[test]
fn entries() {
    let program = path("apps/l2fwd/l2fwd.p4").display().to_string();
    let deep = "values are nested too deeply";
    refused(
        &["entries", &program],
        &[
            ("runtime.json", format!("{{\"target\":\"bmv2\",\"table_entries\":{}}}", nested("[", "", "]")), deep),
            ("write.json", format!("{{\"updates\":{}}}", nested("{\"entity\":", "1", "}")), deep),
            ("write.txtpb", format!("updates {{ entity {} }}", nested("{ match ", "{}", "}")), deep),
            ("angles.txtpb", format!("updates {{ entity {} }}", nested("< match ", "{}", ">")), deep),
            ("list.stf", format!("add dmac {}\n", nested("[", "1", "]")), "unexpected `[`"),
            ("colons.stf", format!("add dmac {}\n", nested("a:", "1", "")), "expected a number"),
        ],
    );
}

/// A machine file that cannot be read is no reason to stop.
#[test]
fn machine_files() {
    let program = path("apps/l2fwd/l2fwd.p4").display().to_string();
    let file = scratch("nested-machine").join("machine.toml");
    for text in [nested("[", "1", "]"), nested("{b=", "1", "}")] {
        std::fs::write(&file, format!("a = {text}\n")).unwrap();
        let (code, said) = ran(&["explain", &program, "--machine", &file.display().to_string()]);
        assert!(
            code == Some(0) && said.contains("planning with the default machine model instead"),
            "{code:?}: {said}"
        );
    }
}

#[test]
fn the_formatter_takes_what_it_cannot_read() {
    let file = scratch("nested-fmt").join("type.p4");
    std::fs::write(&file, format!("typedef {} t;", nested("list<", "bit<8>", ">"))).unwrap();
    let (code, said) = ran(&["fmt", "--check", &file.display().to_string()]);
    assert_eq!(code, Some(1), "{said}");
}
