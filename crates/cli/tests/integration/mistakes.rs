//! What users get wrong: each case one clear message with place and way out, an exit code, and nothing half written.

use crate::command::{bacus, path, ran, scratch};
use std::fs;
use std::path::Path;
use std::process::Stdio;

fn file(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn programs_that_cannot_be_read_are_refused() {
    let directory = scratch("programs");
    let missing = directory.join("missing.p4").display().to_string();
    let cases = [
        (missing, "missing.p4: no such file"),
        (directory.display().to_string(), "is a directory"),
        (
            file(&directory, "include.p4", "#include <nope.p4>\n"),
            "include.p4(1): [--Werror=preprocessor] error: nope.p4",
        ),
        (file(&directory, "syntax.p4", "header h {\n  bit<8> a\n}\n"), "syntax.p4("),
        (file(&directory, "text.hlir", "program x\n"), "text.hlir("),
    ];
    for (program, said) in cases {
        for verb in ["check", "show", "compile"] {
            let out = directory.join("out").display().to_string() + "/";
            let extra: &[&str] = if verb == "compile" { &["-o", &out] } else { &[] };
            let (code, text) = ran(&[&[verb, program.as_str()], extra].concat());
            assert_eq!(code, Some(1), "{verb} {program}: {text}");
            assert!(text.contains(said), "{verb} {program}: {text}");
        }
    }
    assert!(!directory.join("out").exists(), "nothing half written");
}

#[test]
fn a_mistake_is_placed_in_the_users_file_that_holds_it() {
    let directory = scratch("included");
    let headers = directory.join("headers");
    fs::create_dir_all(&headers).unwrap();
    file(&headers, "shared.p4", "const bit<8> shared = 16w1;\n");
    file(&directory, "own.p4", "const bit<8> own = true;\n");
    let program = file(&directory, "main.p4", "#include \"own.p4\"\n");
    let (code, text) = ran(&["check", &program]);
    let first = text.lines().next().unwrap_or_default();
    assert!(code == Some(1) && first.contains("own.p4(1): [--Werror=type-error]"), "{text}");
    assert!(!text.contains("included here"), "{text}");

    let program = file(&scratch("including"), "main.p4", "// one\n#include <shared.p4>\n");
    let (code, text) = ran(&["check", "-I", &headers.display().to_string(), &program]);
    let first = text.lines().next().unwrap_or_default();
    assert!(code == Some(1) && first.contains("main.p4(2): [--Werror=type-error]"), "{text}");
    assert!(text.contains("included here") && text.contains("shared.p4:1:"), "{text}");
}

#[test]
fn programs_may_hold_letters_of_older_character_sets_and_parts_for_bmv2() {
    let directory = scratch("letters");
    let path = directory.join("main.p4");
    let text = b"// r\xe9seau\n#ifdef __TARGET_BMV2__\nconst bit<8> known = 1;\n#endif\n@name(\"caf\xe9\") const bit<8> used = known;\n";
    fs::write(&path, text).unwrap();
    let (code, text) = ran(&["check", "--Wdisable", &path.display().to_string()]);
    assert_eq!((code, text.as_str()), (Some(0), ""));
}

#[test]
fn a_missing_compiler_is_the_machines_fault() {
    let directory = scratch("compiler");
    let program = path("apps/l2fwd/l2fwd.p4").display().to_string();
    let out = directory.join("l2fwd.so").display().to_string();
    let (code, text) = ran(&["compile", &program, "--cc", "no-such-cc", "-o", &out]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("no-such-cc cannot be run") && text.contains("hint:"), "{text}");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

/// What packets do not touch costs nothing, so much may be declared: one of these registers fits the address space, and not twice.
#[test]
fn state_that_no_machine_has_room_for_is_told_without_a_panic() {
    const ELEMENTS: u64 = (1 << 60) + 1;
    let directory = scratch("room");
    let test = file(&directory, "packet.stf", "packet 1 020000000001020000000002ffff\nexpect 1 *\n");
    let ordered = fs::read_to_string(path("crates/cli/tests/plans/ordered_register.hlir")).unwrap();
    let with_turns = |count: u64| ordered.replace("turns: 32 [1]", &format!("turns: 32 [{count}]"));
    let with_many = |kind: &str, statement: &str| {
        let text = ordered.replace("table hosts", &format!("{kind} many: bytes [{ELEMENTS}]\n\ntable hosts"));
        text.replace("node number: block {\n", &format!("node number: block {{\n  {statement}\n"))
    };
    let cases = [
        (with_turns(1 << 44), 0, ""),
        (
            with_turns(u64::MAX),
            3,
            "error: there is no memory for register `turns`: 18446744073709551615 elements of 4 bytes",
        ),
        (with_many("counter", "count many at 64w0"), 3, "error: there is no memory for counter `many`: "),
        (with_many("meter", "meter many at 64w0 into meta.turn"), 3, "error: there is no memory for meter `many`: "),
    ];
    for (text, expected, said) in cases {
        let program = file(&directory, "ordered_register.hlir", &text);
        let (code, printed) = ran(&["stf", &program, &test, &test, "--engine", "native"]);
        assert!(code == Some(expected) && printed.contains(said), "{code:?}: {printed}");
        assert!(expected == 0 || printed.contains("\nhint: ") && printed.lines().count() == 2, "{printed}");
    }
}

#[test]
fn tests_that_cannot_be_read_fail_with_their_place() {
    let directory = scratch("tests");
    let program = path("apps/l2fwd/l2fwd.p4").display().to_string();
    let cases = [
        ("packet 1 0g\n", ":1:"),
        ("\nadd dmac hdr.ethernet.dst:1 no_such_action()\n", ":2:"),
        ("add dmac hdr.ethernet.dst:0x1000000000000 forward(port:1)\n", "48 bits"),
        ("expect 1 00\n", "expected"),
    ];
    for (at, (text, said)) in cases.into_iter().enumerate() {
        let test = file(&directory, &format!("{at}.stf"), text);
        let (code, printed) = ran(&["stf", &program, &test]);
        assert_eq!(code, Some(1), "{text}: {printed}");
        assert!(printed.contains(&format!("{test}: failed: ")) && printed.contains(said), "{text}: {printed}");
    }
}

/// A comparison of engines has several files, whose lines are counted from 1 each.
#[test]
fn mistakes_in_what_configures_a_comparison_name_their_file() {
    let directory = scratch("configures");
    let program = path("apps/l2fwd/l2fwd.p4").display().to_string();
    let capture = path("apps/l2fwd/l2fwd.stf").display().to_string();
    let right = file(&directory, "right.stf", "add dmac hdr.ethernet.dst:1 forward(port:1)\n");
    let entry = "add dmac hdr.ethernet.dst:1 forward(port:2)\n";
    for (text, place) in [("\nadd nope hdr.ethernet.dst:1 forward(port:1)\n", "2:5"), (entry, "1:1")] {
        let wrong = file(&directory, "wrong.stf", text);
        let (code, printed) = ran(&["stf", &program, &right, &wrong, "--trace", &capture, "--count", "5"]);
        assert_eq!(code, Some(1), "{text}: {printed}");
        assert!(printed.starts_with(&format!("error: {wrong}:{place}: ")), "{text}: {printed}");
    }
}

#[test]
fn what_is_printed_reads_back_unchanged() {
    let directory = scratch("show");
    for app in ["l2fwd", "l2l3acl"] {
        let (code, first) = ran(&["show", &path(&format!("apps/{app}/{app}.p4")).display().to_string()]);
        assert_eq!(code, Some(0), "{first}");
        let again = file(&directory, &format!("{app}.hlir"), &first);
        assert_eq!(ran(&["show", &again]), (Some(0), first));
    }
    let (code, text) = ran(&["show", &path("apps/l2fwd/l2fwd.p4").display().to_string(), "--after", "nothing"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("there is no step `nothing`") && text.contains("lower"), "{text}");
}

#[test]
fn what_a_controller_reads_is_written_whole_or_not_at_all() {
    let directory = scratch("describe");
    let program = path("apps/ipv4fwd/ipv4fwd.p4").display().to_string();
    let named = |name: &str| directory.join(name).display().to_string();
    let (text, json, bytes, odd) = (named("a.txtpb"), named("a.json"), named("a.bin"), named("a.yaml"));
    let (code, said) = ran(&["compile", &program, "--p4runtime-files", &format!("{text},{odd}")]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("a.yaml: the ending does not define the format") && said.contains(".txtpb"), "{said}");
    assert!(!directory.join("a.txtpb").exists(), "nothing is written when one file cannot be");

    let entries = named("e.txtpb");
    let files = format!("{text},{json},{bytes}");
    let (code, said) = ran(&["compile", &program, "--p4runtime-files", &files, "--p4runtime-entries-files", &entries]);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read_to_string(&text).unwrap().contains("name: \"Router.routes\""));
    assert!(fs::read_to_string(&json).unwrap().contains("\"matchType\": \"LPM\""));
    assert!(!fs::read(&bytes).unwrap().is_empty());
    assert!(fs::read_to_string(&entries).unwrap().contains("p4.v1.WriteRequest"));
}

#[test]
fn what_only_the_target_cannot_do_is_described_to_a_controller_and_refused() {
    let directory = scratch("limits");
    let text = fs::read_to_string(path("apps/ipv4fwd/ipv4fwd.p4")).unwrap();
    let text = text.replacen("header ipv4_t {", "header ipv4_t {\n    bit<3> odd;", 1);
    let program = file(&directory, "odd.p4", &text);
    let info = directory.join("odd.txtpb").display().to_string();
    let said = "error: a header that is no whole number of bytes cannot be extracted";
    for arguments in [&["check", &program][..], &["compile", &program, "--p4runtime-files", &info, "--emit", "c"]] {
        let (code, text) = ran(arguments);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains(said) && !Path::new(&info).exists(), "{text}");
    }
    let (code, text) = ran(&["compile", &program, "--p4runtime-files", &info]);
    assert_eq!(code, Some(1), "{text}");
    assert_eq!(text.matches(said).count(), 1, "{text}");
    assert!(fs::read_to_string(&info).unwrap().contains("name: \"Router.routes\""));
    let wrong = text_with_a_mistake(&directory);
    let unwritten = directory.join("wrong.txtpb").display().to_string();
    let (code, text) = ran(&["compile", &wrong, "--p4runtime-files", &unwritten]);
    assert!(code == Some(1) && !Path::new(&unwritten).exists(), "{text}");
}

/// A program that is wrong for every target.
fn text_with_a_mistake(directory: &Path) -> String {
    let text = fs::read_to_string(path("apps/ipv4fwd/ipv4fwd.p4")).unwrap();
    file(directory, "wrong.p4", &format!("{text}\nconst bit<8> wrong = true;\n"))
}

/// Actions in two controls with one absolute name: the body of the second is given.
fn two_actions(directory: &Path, body: &str) -> String {
    let control = |name: &str, table: &str, body: &str| {
        format!(
            "control {name}(inout H h, inout M m, inout standard_metadata_t s) {{
    @name(\".mark\") action mark(bit<8> v) {{ {body} }}
    table {table} {{ key = {{ h.o.a : exact; }} actions = {{ mark; }} }}
    apply {{ s.egress_spec = 1; {table}.apply(); }}
}}\n"
        )
    };
    let text = format!(
        "#include <core.p4>\n#include <v1model.p4>\nheader O {{ bit<8> a; bit<8> b; }}\nstruct H {{ O o; }}\nstruct M {{ }}
parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) {{ state start {{ p.extract(h.o); transition accept; }} }}
control N(inout H h, inout M m) {{ apply {{ }} }}\n{}{}control D(packet_out p, in H h) {{ apply {{ p.emit(h.o); }} }}
V1Switch(P(), N(), In(), Out(), N(), D()) main;\n",
        control("In", "first", "h.o.b = v;"),
        control("Out", "second", body)
    );
    file(directory, "actions.p4", &text)
}

#[test]
fn actions_of_one_name_are_one_to_a_controller_or_refused_where_it_asks() {
    let directory = scratch("actions");
    let info = directory.join("actions.txtpb").display().to_string();
    // Blanks and comments are no difference.
    let program = two_actions(&directory, "/* the same */ h.o.b  =  v;");
    let (code, text) = ran(&["compile", &program, "--p4runtime-files", &info]);
    assert_eq!(code, Some(0), "{text}");
    let described = fs::read_to_string(&info).unwrap();
    assert_eq!(described.matches("name: \"mark\"").count(), 1, "{described}");
    fs::remove_file(&info).unwrap();

    let program = two_actions(&directory, "h.o.b = v + 1;");
    assert_eq!(ran(&["check", "--Wdisable", &program]), (Some(0), String::new()));
    let test = "add first h.o.a:1 mark(v:7)\nadd second h.o.a:2 mark(v:8)\npacket 0 0100\nexpect 1 0107 $\npacket 0 0200\nexpect 1 0209 $\n";
    let packets = file(&directory, "actions.stf", test);
    for engine in ["interp", "native"] {
        let (code, text) = ran(&["stf", "--engine", engine, &program, &packets]);
        assert_eq!(code, Some(0), "{engine}: {text}");
    }
    for more in [&[][..], &["--emit", "c"]] {
        let arguments = [&["compile", program.as_str(), "--p4runtime-files", info.as_str()][..], more].concat();
        let (code, text) = ran(&arguments);
        assert_eq!(code, Some(1), "{text}");
        assert!(
            text.contains("actions.p4(14): [--Werror=duplicate] error: conflicting control plane name: `mark`"),
            "{text}"
        );
        assert!(text.contains("hint:") && !Path::new(&info).exists(), "{text}");
    }
    // In the IR they are two.
    let (code, shown) = ran(&["show", "--after", "lower", &program]);
    assert_eq!(code, Some(0));
    let again = file(&directory, "actions.hlir", &shown);
    assert_eq!(ran(&["show", "--after", "lower", &again]), (Some(0), shown));
}

#[test]
fn objects_of_one_kind_and_name_are_refused_where_a_controller_asks() {
    let directory = scratch("objects");
    let info = directory.join("objects.txtpb").display().to_string();
    let out = directory.join("objects.hlir").display().to_string();
    let program = |locals: &str, more: &str| {
        let text = format!(
            "#include <core.p4>\n#include <v1model.p4>\nstruct H {{ }}\nstruct M {{ }}
parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) {{ state start {{ transition accept; }} }}
control N(inout H h, inout M m) {{ apply {{ }} }}
control Sub(inout standard_metadata_t s) {{\n{more}\napply {{ s.egress_spec = 2; }} }}
control In(inout H h, inout M m, inout standard_metadata_t s) {{\n{locals}\nSub() one; Sub() two;\napply {{ one.apply(s); two.apply(s); }} }}
control Out(inout H h, inout M m, inout standard_metadata_t s) {{ apply {{ }} }}
control D(packet_out p, in H h) {{ apply {{ }} }}\nV1Switch(P(), N(), In(), Out(), N(), D()) main;\n"
        );
        file(&directory, "objects.p4", &text)
    };
    let kinds = [
        ("counter(4, CounterType.packets)", "counter(8, CounterType.bytes)"),
        ("meter(4, MeterType.packets)", "meter(4, MeterType.packets)"),
        ("register<bit<8>>(4)", "register<bit<16>>(4)"),
    ];
    for (first, second) in kinds {
        let twice = program(&format!("@name(\".c\") {first} one_of_them;\n@name(\".c\") {second} other;"), "");
        assert_eq!(ran(&["check", "--Wdisable", &twice]), (Some(0), String::new()));
        let (code, text) = ran(&["compile", &twice, "--p4runtime-files", &info]);
        assert_eq!(code, Some(1), "{text}");
        assert!(
            text.contains("objects.p4(12): [--Werror=duplicate] error: conflicting control plane name: `c`"),
            "{text}"
        );
        assert!(text.contains("the first one") && text.contains("another `@name`"), "{text}");
        assert!(!Path::new(&info).exists());
    }
    // One declaration in a control that is there twice.
    let twice = program("", "@name(\".c\") register<bit<8>>(4) elements;");
    let (code, text) = ran(&["compile", &twice, "--p4runtime-files", &info]);
    assert!(code == Some(1) && text.contains("conflicting control plane name: `c`"), "{text}");
    assert!(text.contains("instantiated twice"), "{text}");
    // Of different kinds they keep their name, and their ids.
    let both = program("@name(\".c\") register<bit<8>>(4) r;\n@name(\".c\") counter(4, CounterType.bytes) n;", "");
    assert_eq!(ran(&["compile", "--Wdisable", &both, "--p4runtime-files", &info]), (Some(0), String::new()));
    let described = fs::read_to_string(&info).unwrap();
    assert_eq!(described.matches("name: \"c\"").count(), 2, "{described}");
    assert!(!described.contains("c_2"), "{described}");
    let (code, shown) = ran(&["show", "--after", "lower", "--Wdisable", &both]);
    assert_eq!(code, Some(0), "{shown}");
    fs::write(&out, &shown).unwrap();
    assert_eq!(ran(&["show", "--after", "lower", &out]), (Some(0), shown));
}

/// What only lowering sees is reported by the check, in the same words.
#[test]
fn the_check_refuses_what_compiling_would() {
    let directory = scratch("refused");
    let text = fs::read_to_string(two_actions(&directory, "h.o.b = v;")).unwrap();
    let deparser = "control D(packet_out p, in H h) {
    action none() { }
    table last { key = { h.o.b : exact; } actions = { none; } default_action = none; }
    apply { if (h.o.isValid()) { last.apply(); } p.emit(h.o); } }\n";
    let cases = [
        (
            "h.o.a : exact; } actions = { mark; } }\n    apply { s.egress_spec = 1; first",
            "h.o.a : listed; } actions = { mark; } }\n    apply { s.egress_spec = 1; first",
            "kind.p4(10): [--Werror=unsupported] error: a table of v1model cannot match by `listed`",
        ),
        (
            "control D(packet_out p, in H h) { apply { p.emit(h.o); } }\n",
            deparser,
            "kind.p4(21): [--Werror=unsupported] error: a table cannot be applied in a deparser",
        ),
    ];
    for (written, instead, said) in cases {
        let text = text.replacen(written, instead, 1).replacen("header O", "match_kind { listed } header O", 1);
        assert!(text.contains(instead));
        let program = file(&directory, "kind.p4", &text);
        let (code, checked) = ran(&["check", "--Wdisable", &program]);
        assert_eq!(code, Some(1), "{checked}");
        assert!(checked.starts_with(&directory.join(said).display().to_string()), "{checked}");
        assert!(checked.contains("hint:"), "{checked}");
        assert_eq!(ran(&["compile", "--Wdisable", &program, "--emit", "c"]), (Some(1), checked));
    }
}

#[test]
fn two_actions_of_one_name_in_one_table_are_refused() {
    let directory = scratch("table");
    let text = fs::read_to_string(two_actions(&directory, "")).unwrap();
    let both = "@name(\".mark\") action other(bit<8> v) { h.o.a = v; }\n    table first { key = { h.o.a : exact; } actions = { mark; other; } }";
    let text = text.replacen("table first { key = { h.o.a : exact; } actions = { mark; } }", both, 1);
    let program = file(&directory, "table.p4", &text);
    let (code, text) = ran(&["check", &program]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("table `In.first` has two actions of the name `mark`"), "{text}");
    assert_eq!(ran(&["compile", "--Wdisable", &program, "--emit", "c"]).0, Some(1));
}

#[test]
fn an_id_that_two_objects_have_is_found_without_compiling() {
    let directory = scratch("ids");
    let text = fs::read_to_string(path("apps/l2l3acl/l2l3acl.p4")).unwrap();
    let program = |vlans: &str, routes: &str, permit: &str| {
        let text = text.replacen("table vlans {", &format!("@id({vlans}) table vlans {{"), 1);
        let text = text.replacen("table routes {", &format!("@id({routes}) table routes {{"), 1);
        file(&directory, "ids.p4", &text.replacen("action permit(", &format!("@id({permit}) action permit("), 1))
    };
    let out = directory.join("out").display().to_string() + "/";
    let shared = program("7", "0x02000007", "8");
    let (code, checked) = ran(&["check", &shared]);
    assert_eq!(code, Some(1), "{checked}");
    let first = checked.lines().next().unwrap_or_default();
    assert!(first.contains("ids.p4(") && first.contains("[--Werror=duplicate] error: "), "{checked}");
    assert!(first.ends_with("`Switch.vlans` and `Switch.routes` have the same id: 0x02000007"), "{checked}");
    let (code, compiled) = ran(&["compile", &shared, "-o", &out]);
    assert_eq!((code, compiled), (Some(1), checked));
    // A table and an action are of different kinds.
    let (code, printed) = ran(&["check", &program("7", "9", "7")]);
    assert_eq!((code, printed.as_str()), (Some(0), ""));
}

#[test]
fn a_program_that_nothing_can_run_is_told_why() {
    let directory = scratch("nothing");
    let test = file(&directory, "packet.stf", "packet 1 00\n");
    let own = "control c(); package Mine(c it); control mine() { apply {} } Mine(mine()) main;\n";
    let cases = [
        (
            "action a() {}\n",
            "the program has no main package",
            "nothing.p4: [--Wwarn=missing] warning: Program does not",
        ),
        (
            own,
            "the parts of the package `Mine`",
            "nothing.p4(1): [--Wwarn=unknown] warning: it is not defined how the parts",
        ),
    ];
    for (text, said, warned) in cases {
        let program = file(&directory, "nothing.p4", text);
        for engine in ["interp", "native"] {
            let (code, printed) = ran(&["stf", &program, &test, "--engine", engine]);
            assert_eq!(code, Some(1), "{printed}");
            assert!(printed.contains(said), "{engine}: {printed}");
        }
        // The check reports it at its place, and goes no further.
        let (code, printed) = ran(&["check", "--Wdisable=unused", &program]);
        assert_eq!(code, Some(0), "{printed}");
        assert!(printed.contains(warned) && printed.contains("hint: "), "{printed}");
    }
}

#[test]
fn files_of_a_measurement_are_read_before_anything_is_measured() {
    let directory = scratch("measurement");
    let empty = file(&directory, "routes.tsv", "nothing of use\n");
    let folder = directory.display().to_string();
    let cases = [
        ("--rib", folder.as_str(), "is a directory"),
        ("--rib", "missing.tsv", "missing.tsv: no such file"),
        ("--rib", &empty, "no line is `ADDRESS/LENGTH NEXTHOP`"),
        ("--dpdk", &folder, "VERSION: no such file"),
    ];
    for (option, given, said) in cases {
        let (code, text) = ran(&["bench", option, given]);
        assert!(code == Some(1) && text.contains(said), "{option} {given}: {text}");
        assert!(!text.contains("machine file"), "nothing has begun: {text}");
    }
}

#[test]
fn a_reader_that_is_gone_is_no_failure() {
    let (program, test) = (path("apps/l2fwd/l2fwd.p4"), path("apps/l2fwd/l2fwd.stf"));
    let mut command = bacus();
    command.arg("stf").arg(program).args(["--engine", "interp"]).arg(test);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn what_cannot_be_written_is_told_and_is_the_machines_fault() {
    let (program, test) = (path("apps/l2fwd/l2fwd.p4"), path("apps/l2fwd/l2fwd.stf"));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = bacus();
    let output = command.arg("stf").arg(program).args(["--engine", "interp"]).arg(test).stdout(full).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(3) && said.matches("standard output: ").count() == 1, "{output:?}");
}
