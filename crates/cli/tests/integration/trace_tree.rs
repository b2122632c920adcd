//! `bacus stf --trace-tree`: each packet of a test with all outcomes that it may have.

use crate::command::{bacus, path, scratch};
use std::fs;

/// Runs a test with trees; gives what is printed.
fn tree(name: &str, program: &str, stf: &str) -> String {
    let folder = scratch(name);
    let file = folder.join("test.stf");
    fs::write(&file, stf).unwrap();
    let ran = bacus().arg("stf").arg(path(program)).arg(&file).arg("--trace-tree").output().unwrap();
    assert!(ran.status.success(), "{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    fs::remove_dir_all(folder).unwrap();
    String::from_utf8(ran.stdout).unwrap()
}

/// The lines that hold a text, without indentation.
fn lines<'t>(printed: &'t str, text: &str) -> Vec<&'t str> {
    printed.lines().filter(|line| line.contains(text)).map(str::trim).collect()
}

const SELECTORS: &str = "crates/cli/tests/architectures/v1model_selectors.p4";

/// Of the five members, two do the same. The packet itself is counted once, whatever it could have done.
#[test]
fn each_different_member_of_a_group_is_an_outcome() {
    let stf = "member paths 1 send(port:1, mark:0x11)
member paths 2 send(port:2, mark:0x22)
member paths 3 send(port:3, mark:0x33)
member paths 4 send(port:3, mark:0x33)
member paths 5 drop()
member paths 6 send(port:4, mark:0x44)
member paths 7 send(port:4, mark:0x44)
group paths 7 1 2 3 4 5
group paths 8 6 7
add spread hdr.flow.kind:1 group=7 = first
add spread hdr.flow.kind:2 group=8 = second
packet 0 01 0002 00
packet 0 02 0002 00
expect 4 44 0002 00
check_counter first packets == 1
check_counter second packets == 1
";
    let printed = tree("tree-selector", SELECTORS, stf);
    assert!(printed.contains("packet 1 from port 0, 4 bytes: 4 outcomes\n"), "{printed}");
    let chosen: Vec<String> =
        (1..=4).map(|number| format!("* the selector of MyIngress.spread chooses {number} of 4")).collect();
    assert_eq!(lines(&printed, " chooses "), chosen);
    assert!(printed.contains("packet 2 from port 0, 4 bytes: 1 outcome\n"), "{printed}");
    let first = printed.split("packet 2 ").next().unwrap();
    let sent: Vec<String> = (1..=3).map(|port| format!("send to port {port}, 4 bytes")).collect();
    assert_eq!(lines(first, "send to port"), sent);
    assert_eq!(lines(first, "drop: ").len(), 1, "{printed}");
    // What comes before the choice is shown once.
    assert_eq!(lines(first, "extract hdr.flow").len(), 1, "{printed}");
    assert!(printed.ends_with("test.stf: passed\n"), "{printed}");
}

/// Six values of a die, and eight of a wide number for each.
#[test]
fn each_value_that_may_be_drawn_is_an_outcome() {
    let text = fs::read_to_string(path("crates/cli/tests/architectures/v1model_externs.p4")).unwrap();
    assert!(text.contains("random(die, 8w1, 8w6)"), "the program draws as this test expects");
    let stf = fs::read_to_string(path("crates/cli/tests/architectures/v1model_externs.stf")).unwrap();
    let printed = tree("tree-random", "crates/cli/tests/architectures/v1model_externs.p4", &stf);
    let drawn = |number: u32, of: u32| lines(&printed, &format!("* random draws {number} of {of}")).len();
    let packets = drawn(1, 6);
    assert!(packets > 0, "{printed}");
    assert_eq!((1..=6).map(|number| drawn(number, 6)).collect::<Vec<_>>(), [packets; 6]);
}
