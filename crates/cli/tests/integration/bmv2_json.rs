//! BMv2's JSON as a program: packets on both engines, and mistakes with their places.
//!
//! The programs in `bmv2/` are written by hand in the form of p4c's output, each beside its packets.

use crate::command::{bacus, path, said, scratch};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn program(name: &str) -> PathBuf {
    path(&format!("crates/cli/tests/bmv2/{name}.json"))
}

fn holds(name: &str) {
    let program = program(name);
    for (engine, burst) in [("interp", "1"), ("interp", "64"), ("native", "1"), ("native", "64")] {
        let mut command = bacus();
        command.arg("stf").args(["--engine", engine, "--burst", burst]);
        let ran = command.arg(&program).arg(program.with_extension("stf")).output().expect("bacus can be run");
        let said = said(&ran);
        assert!(ran.status.success(), "{name} on {engine}, burst {burst}:\n{said}");
    }
}

#[test]
fn tables_match_and_checksums_are_verified_and_updated() {
    holds("routes");
}

#[test]
fn numbers_have_the_bits_that_they_need() {
    holds("numbers");
}

#[test]
fn stacks_are_indexed_and_actions_jump() {
    holds("stacks_and_jumps");
}

#[test]
fn packets_are_copied_and_state_is_kept() {
    holds("copies_and_state");
}

#[test]
fn parsers_look_ahead_and_errors_have_their_own_numbers() {
    holds("parsers");
}

/// Programs whose packets name fields of digests: the JSON has the names of the fields that are sent, and no others.
const DIGESTS: [&str; 5] = ["chatserver", "l2fwd", "l2l3acl", "l3switch", "v1model_paths"];

/// What programs of v1model have that the JSON has no form for, each with its place.
const UNSAYABLE: [(&str, &str); 6] = [
    (
        "mpls_npf",
        "mpls_npf.p4:304:13: the table `LabelRouter.ilm`, which is applied at several places with different successors,",
    ),
    ("v1model_selectors", "p4:45:11: the table `MyIngress.spread`, with an action profile and a default action,"),
    ("each_exit_copies_out_of_its_controls", "an `exit` with statements behind it"),
    ("loops_emit_headers", ".p4:58:9: a statement between the `emit`s of the deparser"),
    (
        "restrictions_of_bmv2_are_not_copied",
        ".p4:46:9: the table `ingress.t`, which is applied at several places with different successors,",
    ),
    ("value_sets_stand_beside_other_sets", ".p4:25:5: a value set beside other keys"),
];

/// Programs of v1model with packets beside them.
fn v1model_programs() -> Vec<PathBuf> {
    let list =
        |folder: PathBuf| fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("readable").path());
    let tests = ["crates/cli/tests/semantics", "crates/cli/tests/architectures"]
        .into_iter()
        .flat_map(|folder| list(path(folder)));
    let apps = list(path("apps")).filter(|path| path.is_dir()).flat_map(list);
    let is_one = |file: &PathBuf| {
        file.extension().is_some_and(|extension| extension == "p4")
            && file.with_extension("stf").exists()
            && fs::read_to_string(file)
                .is_ok_and(|text| text.contains("#include <v1model.p4>") && !text.contains("extern "))
    };
    let mut found: Vec<PathBuf> = tests.chain(apps).filter(is_one).collect();
    found.sort();
    found
}

/// BMv2 refuses two nodes of one name in both pipelines together, and p4c's test runner a name of a table by which another one ends.
fn names_can_be_looked_up(file: &Path) {
    let json: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let pipelines = json["pipelines"].as_array().unwrap();
    let of = |kind: &str| -> Vec<String> {
        let objects = pipelines.iter().flat_map(|pipeline| pipeline[kind].as_array().unwrap());
        objects.map(|object| object["name"].as_str().unwrap().to_string()).collect()
    };
    let (tables, conditions) = (of("tables"), of("conditionals"));
    let nodes: BTreeSet<&String> = tables.iter().chain(&conditions).collect();
    assert_eq!(nodes.len(), tables.len() + conditions.len(), "{}: {tables:?} {conditions:?}", file.display());
    for table in tables.iter().filter(|table| table.contains('.')) {
        let last = table.rsplit('.').next().unwrap();
        let made = tables.iter().find(|other| other.starts_with("tbl_") && other.ends_with(last));
        assert_eq!(made, None, "{}: {table}", file.display());
    }
}

#[test]
fn written_programs_give_the_same_packets() {
    let folder = scratch("bmv2_json_written");
    let (mut given, mut refused) = (0, 0);
    for program in v1model_programs() {
        let name = program.file_stem().unwrap().to_string_lossy().into_owned();
        let file = folder.join(format!("{name}.json"));
        let wrote = bacus().args(["compile", "--emit", "bmv2-json", "-o"]).arg(&file).arg(&program).output().unwrap();
        if let Some((_, sentence)) = UNSAYABLE.iter().find(|(known, _)| *known == name) {
            let said = said(&wrote);
            assert!(said.contains(sentence) && said.contains(" has no form in BMv2's JSON"), "{name}: {said}");
            assert!(!file.exists(), "{name}: nothing is written");
            refused += 1;
            continue;
        }
        assert!(wrote.status.success(), "{name}: {}", said(&wrote));
        names_can_be_looked_up(&file);
        let mut read = bacus();
        match DIGESTS.contains(&name.as_str()) {
            true => read.arg("check").arg(&file),
            false => read.args(["stf", "--engine", "interp"]).arg(&file).arg(program.with_extension("stf")),
        };
        let read = read.output().unwrap();
        assert!(read.status.success(), "{name}: {}", said(&read));
        given += 1;
    }
    assert_eq!(refused, UNSAYABLE.len());
    assert!(given >= 25, "{given} programs");
}

/// BMv2 takes no entry beyond the size. Without a declared one, const entries are all; behind others a controller may add some.
#[test]
fn tables_with_entries_that_are_not_const_have_room_for_others() {
    let folder = scratch("bmv2_json_sizes");
    let text = fs::read_to_string(path("crates/cli/tests/plans/constant_entries.p4")).unwrap();
    for (entries, size) in [("const entries", 3), ("entries", 1024)] {
        let program = folder.join("entries.p4");
        fs::write(&program, text.replace("const entries", entries)).unwrap();
        let ran = bacus().args(["compile", "--emit", "bmv2-json"]).arg(&program).output().unwrap();
        let json: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let tables = json["pipelines"][0]["tables"].as_array().unwrap();
        let prefixes = tables.iter().find(|table| table["name"].as_str().unwrap().ends_with(".prefixes")).unwrap();
        assert_eq!(prefixes["max_size"], size, "{entries}");
    }
}

/// What `check` prints about a program of which a part is replaced.
fn said_of(name: &str, from: &str, to: &str) -> String {
    let text = fs::read_to_string(program(name)).expect("the program is there");
    assert!(text.contains(from), "{name} has {from}");
    let folder = scratch("bmv2_json");
    let file = folder.join("changed.json");
    fs::write(&file, text.replacen(from, to, 1)).expect("a file can be written");
    let ran = bacus().arg("check").arg(&file).output().expect("bacus can be run");
    assert_eq!(ran.status.code(), Some(1), "a mistake is found");
    said(&ran)
}

/// What is changed in the program, and the mistake that is found.
const MISTAKES: &[(&str, &str, &str)] = &[
    (
        r#""version": [2, 23]"#,
        r#""version": [3, 0]"#,
        "__meta__.version[0]: this is version 3.0 of the format; version 2.x is read",
    ),
    (
        r#""version": [2, 23]"#,
        r#""version": [2, 25]"#,
        "__meta__.version[1]: this is version 2.25 of the format; the newest that is read is 2.24",
    ),
    (
        r#""op": "mark_to_drop""#,
        r#""op": "mark_to_keep""#,
        "actions[2].primitives[0].op: the primitive `mark_to_keep` is not known",
    ),
    (
        r#"["ip", "src"], "mask""#,
        r#"["ip", "scr"], "mask""#,
        "pipelines[0].tables[1].key[0].target[1]: header `ip` has no field `scr`",
    ),
    (
        r#""action_ids": [3, 2, 0]"#,
        r#""action_ids": [3, 9, 0]"#,
        "pipelines[0].tables[1].action_ids[1]: no action has the id 9",
    ),
    (r#""type": "simple""#, r#""type": "plain""#, "pipelines[0].tables[0].type: \"plain\" is no type of table"),
    (
        r#""name": "ip", "id": 2"#,
        r#""name": "ip", "id": 1"#,
        "headers[2].id: another object of this kind has the id 1, too",
    ),
    (
        r#"{"type": "default", "value": null, "mask": null, "next_state": null}"#,
        r#"{"type": "default", "value": null, "mask": null, "next_state": null},
                {"type": "hexstr", "value": "0x1", "mask": null, "next_state": "tail"}"#,
        "parsers[0].parse_states[0].transitions[2].next_state: no parser state is called \"tail\"",
    ),
    (
        r#""true_next": "ingress.routes""#,
        r#""true_next": "ingress.roots""#,
        "pipelines[0].conditionals[0].true_next: no node of the pipeline is called \"ingress.roots\"",
    ),
    (
        r#""key": "0x0b000000""#,
        r#""key": "0xb0b000000""#,
        "entries[2].match_key[0].key: this number has at most 32 bits",
    ),
    (
        r#""calculation": "calc""#,
        r#""calculation": "clac""#,
        "checksums[0].calculation: no calculation is called `clac`",
    ),
    (r#""ingress.drop": null"#, r#""ingress.drop": "node_1""#, "the pipeline leads from"),
    (
        r#"["egress_spec", 9, false]"#,
        r#"["egress_spek", 9, false]"#,
        "the program has no field `standard_metadata.egress_spec`",
    ),
];

#[test]
fn mistakes_name_their_place() {
    for (from, to, expected) in MISTAKES {
        let said = said_of("routes", from, to);
        assert!(said.contains("changed.json: ") && said.contains(expected), "{from} as {to}:\n{said}");
    }
}

#[test]
fn a_truncated_file_is_no_program() {
    let text = fs::read_to_string(program("routes")).expect("the program is there");
    let file = scratch("bmv2_json_truncated").join("half.json");
    fs::write(&file, &text[..text.len() / 2]).expect("a file can be written");
    let ran = bacus().arg("check").arg(&file).output().expect("bacus can be run");
    let said = said(&ran);
    assert!(
        ran.status.code() == Some(1)
            && said.contains("half.json: ")
            && said.contains("while parsing a value at line 171 column "),
        "{said}"
    );
}

#[test]
fn json_is_known_by_its_beginning_and_its_interface_by_its_names() {
    let file = scratch("bmv2_json_suffix").join("program.txt");
    fs::copy(program("routes"), &file).expect("a file can be copied");
    let info = file.with_extension("p4info.txtpb");
    let ran = bacus().arg("compile").arg(&file).arg("--p4runtime-files").arg(&info).output().expect("bacus can be run");
    assert!(ran.status.success(), "{}", said(&ran));
    let info = fs::read_to_string(info).expect("P4Info was written");
    // The statements that p4c made a table of are no table for the controller.
    assert!(info.contains("name: \"ingress.routes\"") && info.contains("alias: \"routes\""), "{info}");
    assert!(!info.contains("tbl_routes33"), "{info}");
}
