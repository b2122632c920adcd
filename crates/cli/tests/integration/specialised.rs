//! Code that is specialised for what the tables hold: it does what the interpreter does, and refuses other contents.

use crate::command::{bacus, path};
use std::fs;
use std::path::PathBuf;

fn app(name: &str, file: &str) -> String {
    path(&format!("apps/{name}/{file}")).display().to_string()
}

fn run(arguments: &[&str]) -> (bool, String, String) {
    let output = bacus().args(arguments).output().expect("bacus runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// A file of this test.
fn file(name: &str, text: &str) -> PathBuf {
    let file = std::env::temp_dir().join(format!("bacus-specialised-{}-{name}", std::process::id()));
    fs::write(&file, text).expect("a temporary file can be written");
    file
}

const PROGRAM: &str = "program edge for none

header hdr.ethernet: ethernet_t { dst: 48, src: 48, type: 16 }

variable meta.port: 9
variable meta.class: 8
variable error: 32

counter hits: packets of rules automatic

table rules {
  key hdr.ethernet.src: ternary
  action mark(class: 8) { meta.class = class }
  action keep() {}
  default keep()
}

table hosts {
  key hdr.ethernet.dst: exact
  action forward(port: 9) { meta.port = port }
  action drop() { meta.port = 511 }
  default drop()
}

parser parser { start start, accept rules, reject rules, error error }

entry start

node start: state of parser { extract hdr.ethernet } -> rules

node rules: apply rules -> hosts

node hosts: apply hosts -> classes

node classes: branch meta.class == 7 -> mark else headers

node mark: block { hdr.ethernet.type = 0x88b5 } -> headers

node headers: deparse { emit hdr.ethernet } -> queue

node queue: buffer {
  when meta.port == 511: drop \"no port\"
  send u32(meta.port)
}
";

const ENTRIES: &str = "add hosts hdr.ethernet.dst:0x020000000001 forward(1)\n";
const PACKETS: &str = "packet 3 020000000001 020000000009 0800 00\nexpect 1 020000000001 020000000009 0800 00 $\n\
                       packet 3 020000000002 020000000009 0800 00\n";

#[test]
fn a_test_passes_on_code_for_its_entries() {
    let (program, test) = (file("passes.hlir", PROGRAM), file("passes.stf", &format!("{ENTRIES}{PACKETS}")));
    let [program, test] = [program, test].map(|file| file.display().to_string());
    let (is_good, printed, errors) = run(&["stf", &program, &test, "--engine", "native", "--specialise"]);
    assert!(is_good, "{printed}{errors}");
    let (is_good, printed, errors) = run(&["stf", &program, &test, "--specialise", "--trace", &test, "--count", "500"]);
    assert!(is_good && printed.contains("both engines agree"), "{printed}{errors}");
    let (_, shown, _) = run(&["show", &program, "--entries", &test, "--specialise", "--after", "dead"]);
    assert!(shown.contains("assume rules empty") && !shown.contains(": apply"), "{shown}");
    assert!(shown.contains("count hits at 32w0"), "misses of the table that is gone are counted:\n{shown}");
    let (_, explained, _) = run(&["explain", &program, "--entries", &test, "--specialise"]);
    for part in ["facts of rules", "no entries; default action keep", "0 of 2 lookups", "(against unspecialised "] {
        assert!(explained.contains(part), "no `{part}` in\n{explained}");
    }
}

#[test]
fn a_write_that_breaks_a_fact_is_refused() {
    let later = format!("{ENTRIES}{PACKETS}add rules hdr.ethernet.src:1&&&1 priority 1 mark(7)\n");
    let later = later.replace(" priority 1 mark", " mark").replace("add rules", "add rules 1");
    let (program, test) = (file("breaks.hlir", PROGRAM), file("breaks.stf", &later));
    let [program, test] = [program, test].map(|file| file.display().to_string());
    let (is_good, printed, errors) = run(&["stf", &program, &test, "--engine", "native", "--specialise"]);
    let why = "the code is specialised for table `rules` with no entries; compile without --specialise to write this";
    assert!(!is_good && printed.contains(why), "{printed}{errors}");
    let (is_good, printed, errors) = run(&["stf", &program, &test, "--engine", "native"]);
    assert!(is_good, "{printed}{errors}");
}

#[test]
fn a_shared_object_is_not_specialised() {
    let (program, test) = (file("object.hlir", PROGRAM), file("object.stf", ENTRIES));
    let [program, test] = [program, test].map(|file| file.display().to_string());
    let (is_good, _, errors) = run(&["compile", &program, "--entries", &test, "--specialise"]);
    assert!(!is_good && errors.contains("hint: --emit c shows the code"), "{errors}");
    let (is_good, c, errors) = run(&["compile", &program, "--entries", &test, "--specialise", "--emit", "c"]);
    assert!(is_good && !c.contains("exact_find"), "{errors}");
}

#[test]
fn applications_do_the_same_when_they_are_specialised() {
    for (name, count) in [("router", "300"), ("l2l3acl", "300")] {
        let [program, entries, packets] =
            [&format!("{name}.p4"), "entries.stf", &format!("{name}.stf")].map(|it| app(name, it));
        let arguments = ["stf", &program, &entries, "--specialise", "--trace", &packets, "--count", count];
        let (is_good, printed, errors) = run(&arguments);
        assert!(is_good && printed.contains("both engines agree"), "{name}: {printed}{errors}");
    }
}

/// Whatever members and groups there are, no entry names one.
#[test]
fn an_empty_table_with_an_action_profile_has_no_lookups() {
    let text = PROGRAM.replace("  default keep()\n", "  default keep()\n  profile hops\n  selector hdr.ethernet.dst\n");
    let text =
        text.replace("\ncounter hits", "\nprofile hops [8] selector crc16 width 14 largest_group 4\ncounter hits");
    assert_ne!(text, PROGRAM);
    let (program, test) = (file("profile.hlir", &text), file("profile.stf", &format!("{ENTRIES}{PACKETS}")));
    let [program, test] = [program, test].map(|file| file.display().to_string());
    let (is_good, printed, errors) = run(&["stf", &program, &test, "--engine", "native", "--specialise"]);
    assert!(is_good, "{printed}{errors}");
    let (_, shown, _) = run(&["show", &program, "--entries", &test, "--specialise", "--after", "dead"]);
    assert!(shown.contains("assume rules empty") && !shown.contains(": apply"), "{shown}");
}

/// Where all entries do nothing, no lookup is left, and the entries are written all the same.
#[test]
fn entries_of_a_table_that_no_packet_reaches_any_more_are_written() {
    let text = PROGRAM.replace("counter hits: packets of rules automatic\n", "");
    let text = text.replace("  action keep() {}\n", "  action keep() {}\n  action note(count: 32, mark: 70) {}\n");
    assert_ne!(text, PROGRAM);
    let program = file("unreached.hlir", &text).display().to_string();
    let test = "add rules 1 hdr.ethernet.src:0x020000000001&&&0xffffffffffff note(count:7, mark:0x30000000000000001)\n\
                add hosts hdr.ethernet.dst:0x020000000002 forward(port:3)\n\
                packet 0 020000000002 020000000001 0800\nexpect 3 020000000002 020000000001 0800\n";
    let test = file("unreached.stf", test).display().to_string();
    let (is_good, printed, errors) = run(&["stf", &program, &test, "--engine", "native", "--specialise"]);
    assert!(is_good, "{printed}{errors}");
}
