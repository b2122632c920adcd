//! Entries in the forms that people have them in: whatever the form, the switch gets the same ones.

use crate::command::{bacus, capture, has_dpdk, path, said, scratch};
use std::fs;
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    path(&format!("crates/cli/tests/entries/{name}"))
}

/// What `bacus entries` prints about the files, and whether it takes them.
fn entries(arguments: &[&Path]) -> (bool, String) {
    let ran = bacus().arg("entries").arg(file("forms.p4")).args(arguments).output().unwrap();
    (ran.status.success(), said(&ran))
}

/// The entries of STF in P4Runtime's messages: those of the program that has them as its own.
fn p4runtime(directory: &Path) -> [PathBuf; 3] {
    let with_own = directory.join("own.p4");
    let text = fs::read_to_string(file("forms.p4")).unwrap();
    let own = [
        (
            "default_action = drop;",
            "default_action = drop; entries = { 0x02000000000a : forward(1); 0x02000000000b : flood(7); }",
        ),
        (
            "entries = { 0xc0000000 &&& 0xff000000 : mark(0xc0); }",
            "entries = { 0x0a000000 &&& 0xff000000 : mark(1); 0x0a010203 : mark(2); }",
        ),
        (
            "{ mark; copy; NoAction; }",
            "{ mark; copy; NoAction; } entries = { priority = 9: (0x12, 3..5, 1) : mark(0x77); priority = 8: (0x80 &&& 0x80, _, _) : copy(5); }",
        ),
    ];
    let text = own.iter().fold(text, |text, (from, to)| text.replacen(from, to, 1));
    fs::write(&with_own, text).unwrap();
    let files = ["e.txtpb", "e.json", "e.bin"].map(|name| directory.join(name));
    let names = files.iter().map(|file| file.display().to_string()).collect::<Vec<String>>().join(",");
    let ran = bacus().arg("compile").arg(&with_own).args(["--p4runtime-entries-files", &names]).output().unwrap();
    assert!(ran.status.success(), "{}", said(&ran));
    files
}

/// What a controller reads when the request of a file of JSON was written, beside that file.
fn read_response(request: &Path) -> PathBuf {
    let written: serde_json::Value = serde_json::from_slice(&fs::read(request).unwrap()).unwrap();
    let updates = written["updates"].as_array().unwrap();
    let entities: Vec<_> = updates.iter().map(|update| update["entity"].clone()).collect();
    let response = request.with_extension("response");
    fs::write(&response, serde_json::json!({ "entities": entities }).to_string()).unwrap();
    response
}

#[test]
fn every_form_has_the_same_entries() {
    let directory = scratch("forms");
    let out = directory.join("out.bin");
    let written = |form: &Path| {
        let (taken, said) = entries(&[form, Path::new("-o"), &out]);
        assert!(taken && said.contains("out.bin: 6 entries"), "{form:?}: {said}");
        fs::read(&out).unwrap()
    };
    let expected = written(&file("entries.stf"));
    let requests = p4runtime(&directory);
    let response = read_response(&requests[1]);
    for form in [file("entries.txt"), file("runtime.json"), response].iter().chain(&requests) {
        assert_eq!(written(form), expected, "{form:?}");
    }
    fs::remove_dir_all(directory).unwrap();
}

/// As in `simple_switch_CLI`: an object is named by the last parts of its name, wherever another name ends in the same letters.
#[test]
fn scripts_name_objects_by_whole_parts() {
    let run = |script: &Path| {
        let ran = bacus().arg("entries").arg(file("suffixes.p4")).arg(script).output().unwrap();
        (ran.status.success(), said(&ran))
    };
    let (taken, text) = run(&file("suffixes.txt"));
    assert!(taken, "{text}");
    let script = scratch("suffixes").join("parts.txt");
    let refused = [
        ("table_add at ct 2 => 5", "there is no action of table `I.at` called `ct`"),
        ("table_add lone act 2 => 5", "there is no table `lone`"),
        ("table_add ne act 2 => 5", "there is no table `ne`"),
        ("register_write I.at 1 9", "there is no register `I.at`"),
        ("counter_write I.c1 1 2 0", "there is no counter `I.c1`"),
        ("meter_set_rates m 1 0.1:10 0.2:20", "there is no meter `m`"),
        ("act_prof_create_group lways", "there is no action profile `lways`"),
        ("pvs_add eset 1", "there is no value set `eset`"),
    ];
    for (line, why) in refused {
        fs::write(&script, format!("table_add t act 2 => 5\n{line}\n")).unwrap();
        let (taken, text) = run(&script);
        assert!(!taken && text.contains(why), "{line}: {text}");
    }
}

/// A MODIFY takes away what it does not write, which a constant default action and an entry may lack anyway.
#[test]
fn modifications_that_change_nothing_fit_the_compact_form() {
    let directory = scratch("modified");
    let (form, binary) = (directory.join("a.txtpb"), directory.join("a.bin"));
    let default = "updates { type: MODIFY entity { table_entry { table_id: 0x02000003 is_default_action: true
        action { action { action_id: 0x01000004 params { param_id: 1 value: \"\\x09\" } } } } } }\n";
    let modified = metered("").replace("INSERT", "MODIFY");
    let converted = |text: String| {
        fs::write(&form, text).unwrap();
        let arguments = [file("read.p4"), form.clone(), PathBuf::from("-o"), binary.clone()];
        let ran = bacus().arg("entries").args(arguments).output().unwrap();
        (ran.status.success(), said(&ran))
    };
    let (taken, text) = converted(metered("") + default + &modified);
    assert!(taken && binary.exists(), "{text}");
    let (taken, text) = converted(default.replace("is_default_action", "metadata: \"m\" is_default_action"));
    assert!(
        !taken && text.contains("a.txtpb:1:45: this is no entry, for which the compact form has no place"),
        "{text}"
    );
    fs::remove_dir_all(directory).unwrap();
}

/// What a program lists of its own is there when its switch starts, and no entry twice.
#[test]
fn the_programs_own_entries_are_taken_once() {
    let directory = scratch("own-entries");
    for form in p4runtime(&directory) {
        let ran = bacus().arg("entries").arg(directory.join("own.p4")).arg(&form).output().unwrap();
        let said = said(&ran);
        assert!(
            ran.status.success() && said.contains("ingress.routes: 2 entries (2 of the program)"),
            "{form:?}: {said}"
        );
    }
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_switch_takes_every_form() {
    if !has_dpdk() {
        return;
    }
    let directory = scratch("loaded");
    let (binary, packets) = (directory.join("entries.bin"), file("packets.stf"));
    assert!(entries(&[&file("entries.stf"), Path::new("-o"), &binary]).0);
    let [text, ..] = p4runtime(&directory);
    let expected: Vec<String> = fs::read_to_string(&packets)
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("expect"))
        .map(str::to_string)
        .collect();
    for form in [&file("entries.stf"), &file("entries.txt"), &file("runtime.json"), &text, &binary] {
        let out = |port: u16| directory.join(format!("{port}.pcap"));
        let port = |port: u16| format!("{port}=pcap:{},{}", packets.display(), out(port).display());
        let mut command = bacus();
        command.arg("run").arg(file("forms.p4")).arg("--entries").arg(form).arg("--entries").arg(&packets);
        let ran = command.args((1..7).flat_map(|number| ["--port".to_string(), port(number)])).output().unwrap();
        let printed = said(&ran);
        assert!(ran.status.success(), "{form:?}: {printed}");
        assert!(
            printed.contains(
                "packets.stf:8:1: warning: skipped `packet`, `expect`, here and 7 times more: each tests a switch"
            ),
            "{printed}"
        );
        for number in 1..7u16 {
            let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let found: Vec<String> = capture(&out(number)).iter().map(hex).collect();
            let wanted = expected.iter().filter_map(|line| line.strip_prefix(&format!("expect {number} ")));
            let wanted: Vec<String> = wanted.map(|line| line.replace([' ', '$'], "")).collect();
            assert_eq!(found, wanted, "{form:?}, port {number}");
        }
    }
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_cannot_be_loaded_is_told_with_its_place() {
    let directory = scratch("refused");
    let cases = [
        ("a.txt", "table_add hosts forward 1 => 2 3\n", ":1:32: expected the end of the line, found `3`"),
        ("a.txt", "table_add rules mark 1&&&1 1->2 1&&&0xff => 1\n", ":1:46: expected a priority"),
        (
            "a.txt",
            "table_add rules mark 1&&&1 1->2 => 1 5\nset_queue_rate 5\n",
            ":2:1: `set_queue_rate` cannot be done here: queues",
        ),
        ("a.txt", "table_delete routes 7\n", ":1:21: table `ingress.routes` has no entry 7"),
        (
            "a.txt",
            "table_add routes mark 1/8 => 1\ntabel_add x\n",
            ":2:1: `tabel_add` is no command; did you mean `table_add`?",
        ),
        (
            "a.txt",
            "table_add hosts forward 1 => 2\nmc_node_create 1 2 | 3\n",
            ":2:20: there are no link aggregation groups",
        ),
        (
            "a.json",
            "{ \"table_entries\": [\n { \"table\": \"rotes\", \"action_name\": \"mark\", \"match\": { \"x\": 1 } } ] }",
            ":2:13: there is no table `rotes`",
        ),
        (
            "a.json",
            "{ \"table_entries\": [\n { \"table\": \"routes\", \"action_name\": \"mark\", \"size\": 1 } ] }",
            ":2:54: `size` cannot be loaded",
        ),
        ("a.json", "{ \"entries\": [] }", ":1:1: expected `table_entries"),
        ("a.json", "{ \"table_entries\": [", "the text ends"),
        (
            "a.txtpb",
            "updates { type: INSERT entity { table_entry { table_id: 5 } } }",
            ":1:57: there is no table with the id 5; is the file of another program?",
        ),
        (
            "a.txtpb",
            "updates { type: INSERT entity { meter_entry { meter_id: 5 } } }",
            ":1:45: `meter_entry` cannot be loaded",
        ),
        ("a.txtpb", "entities { counter_entry { counter_id: 5 } }", ":1:26: `counter_entry` cannot be loaded"),
        (
            "a.stf",
            "add routes address:10.0.0.0/8 mark(1)\nad routes\n",
            ":2:1: `ad` is no command; did you mean `add`?",
        ),
        ("a.stf", "\u{7f}\u{0}", "unexpected `"),
    ];
    for (name, text, expected) in cases {
        let form = directory.join(name);
        fs::write(&form, text).unwrap();
        let (taken, said) = entries(&[&form]);
        assert!(!taken && said.contains(expected) && said.contains(&form.display().to_string()), "{text}: {said}");
    }
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn default_actions_do_not_fit_the_compact_form() {
    let directory = scratch("default-action");
    let default = directory.join("default.stf");
    fs::write(&default, "setdefault hosts drop()\n").unwrap();
    let (taken, said) = entries(&[&default, Path::new("-o"), &directory.join("x.bin")]);
    assert!(!taken && said.contains("default.stf:1:1: this sets the default action of `ingress.hosts`"), "{said}");
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn bits_that_do_not_count_are_reported() {
    let directory = scratch("host-bits");
    let form = directory.join("a.stf");
    fs::write(&form, "add routes address:10.0.0.1/8 mark(1)\ncheck_counter x(1)\n").unwrap();
    let (taken, said) = entries(&[&form]);
    assert!(taken && said.contains("a.stf:1:20: warning: `10.0.0.1` has bits beyond its prefix /8"), "{said}");
    assert!(said.contains("a.stf:2:1: warning: skipped `check_counter`: it tests a switch"), "{said}");
    fs::remove_dir_all(directory).unwrap();
}

/// An entry of the table with the direct meter, with these fields.
fn metered(fields: &str) -> String {
    let key = r#"match { field_id: 1 exact { value: "\x0a" } }"#;
    let action = r#"action { action { action_id: 0x01000003 params { param_id: 1 value: "\x05" } } }"#;
    format!(
        "updates {{ type: INSERT entity {{ table_entry {{\n table_id: 0x02000001 {key} {action}\n{fields} }} }} }}\n"
    )
}

#[test]
fn what_is_attached_to_entries_is_loaded_and_their_constancy_is_not() {
    let directory = scratch("attached");
    let form = directory.join("a.txtpb");
    let checked = |text: &str| {
        fs::write(&form, text).unwrap();
        let ran = bacus().arg("entries").arg(file("read.p4")).arg(&form).output().unwrap();
        (ran.status.success(), said(&ran))
    };
    let (taken, said) = checked(&metered("metadata: \"m\" meter_config { cir: 1 cburst: 2 pir: 3 pburst: 4 }"));
    assert!(taken && !said.contains("warning"), "{said}");
    let (taken, said) = checked(&metered("is_const: true"));
    assert!(taken && said.contains("a.txtpb:1:45: warning: skipped `is_const`: it has no effect"), "{said}");
    let refused = [
        ("meter_config { cir: 4 cburst: 1 pir: 3 pburst: 1 }", "the peak rate of a meter is at least the committed"),
        ("meter_config { cir: -1 }", "expected a rate, a number that is not negative"),
        ("meter_config { eburst: 1 }", "a meter of two rates has no excess burst"),
        ("counter_data { packet_count: 1 }", "`counter_data` cannot be loaded"),
    ];
    for (fields, expected) in refused {
        let (taken, said) = checked(&metered(fields));
        assert!(!taken && said.contains(expected) && said.contains("a.txtpb:3:"), "{fields}: {said}");
    }
    let (taken, said) = checked(&metered("meter_config { }").replace("0x02000001", "0x02000004"));
    assert!(!taken, "{said}");
    fs::remove_dir_all(directory).unwrap();
}
