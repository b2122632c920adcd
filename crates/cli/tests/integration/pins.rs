//! `--pin` and `--plan`: each decision of a file is in the plan, or is refused where the file has it.

use crate::command::{bacus, path, said, scratch};
use std::fs;
use std::path::PathBuf;

fn app(name: &str) -> String {
    path(&format!("apps/{name}/{name}.p4")).display().to_string()
}

/// A machine on which every lookup is worth a stage.
fn slow() -> String {
    path("tests/machines/slow-memory.toml").display().to_string()
}

fn file(test: &str, text: &str) -> PathBuf {
    let file = scratch(test).join("hand.plan");
    fs::write(&file, text).unwrap();
    file
}

/// Runs with these arguments, where the applications are; its exit code, and what it said.
fn ran(arguments: &[&str]) -> (Option<i32>, String) {
    let output = bacus().current_dir(path("")).args(arguments).output().unwrap();
    (output.status.code(), said(&output))
}

/// The plan of an application under pins, on a slow machine.
fn planned(name: &str, pins: &str, more: &[&str]) -> String {
    let pins = file("planned", &format!("plan {{\n{pins}}}\n")).display().to_string();
    let (code, text) =
        ran(&[&["show", &app(name), "--after", "all", "--pin", &pins, "--machine", &slow()], more].concat());
    assert_eq!(code, Some(0), "{text}");
    text[text.find("\nplan {\n").unwrap_or_else(|| panic!("no plan in {text}"))..].to_string()
}

#[test]
fn each_decision_that_is_pinned_is_in_the_plan_as_written() {
    let lines = "  descriptor own\n  burst 16\n  table Router.routes: lpm_trie\n  queue Router.block_107: capacity 3 timeout 4\n  instrument edges\n";
    for more in [&[][..], &["--without", "structures,descriptor,batches"]] {
        // Without stages, packets cannot wait.
        let pins = if more.is_empty() {
            lines.to_string()
        } else {
            lines.replace("  queue Router.block_107: capacity 3 timeout 4\n", "")
        };
        let plan = planned("ipv4fwd", &pins, more);
        for line in pins.lines() {
            assert!(plan.contains(&format!("\n{line}\n")), "no `{line}` in\n{plan}");
        }
    }
    let stage =
        "  loop Router.routes: batch 32 group 16 {\n    prefetch table Router.routes ahead 16 in own_loop to t1\n  }\n";
    let plan = planned("ipv4fwd", stage, &[]);
    assert!(plan.contains(stage) && plan.contains("\n  burst 32\n") && plan.contains("\n  hot_path { "), "{plan}");
}

/// A profile of dualstack.
fn one_in_five_is_ipv6() -> String {
    let begin = "v1model.begin RouterParser.start";
    let check = "CheckHeader.start Router.if_144 Router.if_146";
    let end = "v1model.traffic_manager RouterDeparser v1model.send";
    let family =
        |parser: &str, conditions: &str, table: &str| format!("{begin} {parser} {check} {conditions} {table} {end}");
    let four = family("RouterParser.ipv4", "Router.if_147 Router.if_150 Router.if_152", "Router.routes4");
    let six = family("RouterParser.ipv6", "Router.if_157 Router.if_158 Router.if_160", "Router.routes6");
    let mut edges = std::collections::BTreeMap::new();
    for (count, nodes) in [(80, &four), (20, &six)] {
        let nodes: Vec<&str> = nodes.split(' ').collect();
        nodes
            .windows(2)
            .for_each(|pair| *edges.entry((pair[0].to_string(), pair[1].to_string())).or_insert(0) += count);
    }
    edges.iter().map(|((from, to), count)| format!("{count} {from} -> {to}\n")).collect()
}

/// What is given may leave no place for further paths, or gives the size of the groups of all paths.
#[test]
fn next_paths_are_planned_around_pins() {
    let genoa = path("machines/epyc-genoa.toml").display().to_string();
    let counts = file("next.profile", &one_in_five_is_ipv6()).display().to_string();
    let machine = ["--machine", genoa.as_str(), "--profile", counts.as_str()];
    let paths = |plan: &str| plan.lines().filter(|line| line.starts_with("  next_path ")).count();
    let planned = |pins: &str| {
        let pins = file("next", &format!("plan {{\n{pins}}}\n")).display().to_string();
        let program = app("dualstack");
        let (code, text) = ran(&[&["show", &program, "--after", "all", "--pin", &pins], &machine[..]].concat());
        assert_eq!(code, Some(0), "{text}");
        text[text.find("\nplan {\n").unwrap_or_else(|| panic!("no plan in {text}"))..].to_string()
    };
    let plan = planned("");
    assert_eq!(paths(&plan), 1, "{plan}");
    let next = plan.lines().find(|line| line.starts_with("  next_path ")).expect("it was counted");
    let nodes = &next[..next.find('}').expect("nodes in braces") + 1];
    let plan = planned(&format!("{nodes} {{\n    loop Router.routes6: batch 32 group 16\n  }}\n"));
    assert!(plan.contains("loop Router.routes4: batch 32 group 16") && paths(&plan) == 1, "{plan}");
    for line in ["  instrument edges\n", "  queue Router.block_144: capacity 3 timeout 4\n"] {
        let plan = planned(line);
        assert!(plan.contains(line) && paths(&plan) == 0, "{plan}");
    }
}

#[test]
fn stages_beside_a_pinned_one_are_planned() {
    let stage = "  loop Switch.acl: batch 64 group 16 {\n    lookup Switch.acl\n  }\n";
    let plan = planned("l2l3acl", stage, &[]);
    assert!(plan.contains(stage), "{plan}");
    let loops: Vec<&str> = plan.lines().filter(|line| line.starts_with("  loop ")).collect();
    assert!(loops.len() > 1 && loops.iter().all(|line| line.contains(": batch 64 group 16")), "{plan}");
}

#[test]
fn packets_are_the_same_under_pins() {
    let pins = "plan {\n  loop Router.routes: batch 8 group 8\n  queue Router.block_107: capacity 3 timeout 2\n  table Router.routes: btree\n}\n";
    let pins = file("same", pins).display().to_string();
    let test = path("apps/ipv4fwd/ipv4fwd.stf").display().to_string();
    let (code, text) =
        ran(&["stf", &app("ipv4fwd"), &test, "--trace", &test, "--count", "500", "--pin", &pins, "--machine", &slow()]);
    assert!(code == Some(0) && text.contains("both engines agree"), "{text}");
}

/// A line of a file, its place, and the message about it.
const REFUSED: [(&str, &str, &str); 5] = [
    ("  loop Router.routes: batch 8 group 8 vector 4\n", "2:3", "vectors of 4 packets are not supported"),
    (
        "  hot_path { v1model.begin, Nope, Router.routes runs Router.forward }\n  loop Router.routes: batch 64 group 64\n",
        "2:3",
        "the program has no node `Nope`",
    ),
    (
        "  loop Router.routes: batch 8 group 8 {\n    prefetch table Router.routes ahead 4 in own_loop to t0\n  }\n",
        "3:5",
        "prefetches `in own_loop` are one group ahead, not 4",
    ),
    ("  table Router.routes: exact\n", "2:3", "`exact` does not suit table `Router.routes`"),
    (
        "  table Router.routes: btree\n  table Router.routes: lpm_trie\n",
        "3:3",
        "two planned tables are named `Router.routes`",
    ),
];

#[test]
fn what_cannot_be_is_shown_at_its_place() {
    for (number, (text, place, message)) in REFUSED.into_iter().enumerate() {
        let plan = file(&format!("refused-{number}"), &format!("plan {{\n{text}}}\n")).display().to_string();
        for flag in ["--pin", "--plan"] {
            let (code, said) = ran(&["compile", &app("ipv4fwd"), "--emit", "c", "--machine", &slow(), flag, &plan]);
            assert_eq!(code, Some(1), "{flag} {text}: {said}");
            assert!(said.contains(&format!(" {plan}:{place}\n")) && said.contains(message), "{flag} {text}: {said}");
            assert!(!said.contains("#include"), "{said}");
        }
    }
}

/// Pins that are legal by themselves, or in another plan.
#[test]
fn a_pin_that_does_not_suit_what_is_planned_is_shown() {
    let way = "hint: the hot path is not pinned; it is: hot_path { v1model.begin, ";
    let cases = [
        ("queue Router.routes: capacity 8 timeout 2", "is on the hot path", way),
        ("loop Router.block_107: batch 8 group 8", "is not on the hot path", way),
        ("loop Nope.nope: batch 8 group 8", "the program has no node `Nope.nope`", ""),
        ("queue Nope.nope: capacity 8 timeout 2", "the program has no node `Nope.nope`", ""),
        (
            "queue Router.block_107: capacity 8 timeout 0",
            "the timeout must be at least 1 burst",
            "hint: with timeout 1, ",
        ),
        ("queue Router.block_107: capacity 0 timeout 2", "the capacity must be at least 1 packet", ""),
        ("queue Router.block_107: capacity 100000000 timeout 2", "at most 1024 are possible", ""),
        ("queue RouterParser.start: capacity 8 timeout 2", "a parser state", "hint: place the queue after"),
        ("burst 0", "a burst of 0 packets is none to plan for", "hint: pin a burst of at least 1"),
        ("loop Router.routes: batch 513 group 64", "no port delivers 513 packets", "hint: write at most `batch 512`"),
        ("burst 513", "no port delivers 513 packets", "hint: write at most `burst 512`"),
        ("loop Router.routes: batch 128 group 65", "has at most 64 packets", "hint: write at most `group 64`"),
        ("loop Router.routes: batch 8 group 16", "a group of 16 packets in a batch of 8", ""),
    ];
    for (number, (text, message, hint)) in cases.into_iter().enumerate() {
        let pins = file(&format!("beside-{number}"), &format!("plan {{\n  {text}\n}}\n")).display().to_string();
        let (code, said) = ran(&["compile", &app("ipv4fwd"), "--emit", "c", "--machine", &slow(), "--pin", &pins]);
        assert_eq!(code, Some(1), "{text}: {said}");
        let refused = &said[said.find(&format!("{pins}(2): error: ")).unwrap_or_else(|| panic!("{text}: {said}"))..];
        assert!(refused.contains(&format!(" {pins}:2:3\n")) && refused.contains(message), "{text}: {said}");
        let hints: Vec<&str> = refused.lines().filter(|line| line.starts_with("hint: ")).collect();
        assert_eq!(hints.is_empty(), hint.is_empty(), "{text}: {said}");
        assert!(hints.last().is_none_or(|last| last.starts_with(hint)), "{text}: {said}");
    }
    // A queue that has no room is no number for its loop's batch.
    let waiting =
        "plan {\n  queue Router.block_107: capacity 0 timeout 1\n  loop Router.block_107: batch 8 group 8\n}\n";
    let plan = file("no-room", waiting).display().to_string();
    for flag in ["--pin", "--plan"] {
        let (code, said) = ran(&["compile", &app("ipv4fwd"), "--emit", "c", flag, &plan]);
        assert!(
            code == Some(1)
                && said.contains("the capacity must be at least 1 packet")
                && !said.contains("write `batch 0`"),
            "{said}"
        );
    }
    // A request that is too early on a path that is pinned as well: reported where the loop begins that makes it.
    let plan = fs::read_to_string(path("crates/cli/tests/plans/l2l3acl.plan")).unwrap();
    let way = plan.lines().find(|line| line.starts_with("  hot_path ")).unwrap();
    let request = "prefetch table Switch.nexthops ahead 64 in own_loop to t0";
    let stage = format!("loop Switch.smac: batch 64 group 64 {{\n    lookup Switch.nexthops\n    {request}\n  }}");
    let pins = format!("plan {{\n{way}\n  {stage}\n}}\n");
    let pins = file("early", &pins).display().to_string();
    let (code, said) = ran(&["compile", &app("l2l3acl"), "--emit", "c", "--machine", &slow(), "--pin", &pins]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!(" {pins}:3:3\n")) && said.contains("cannot be made this early"), "{said}");
}

/// The planned part of a plan is what is wrong then, and the pin is why.
#[test]
fn what_a_pin_makes_wrong_elsewhere_is_shown_at_the_pin() {
    let program = r#"
program learns for none
header hdr.ethernet: ethernet_t { dst: 48, src: 48, type: 16 }
variable meta.failed: bool
variable error: 32
table sources {
  key hdr.ethernet.src: exact
  action known() {}
  action learn() { insert sources => known() into meta.failed }
  const default learn()
  add_on_miss
}
table hosts {
  key hdr.ethernet.dst: exact
  action known() {}
  default known()
}
parser parser { start start, accept sources, reject sources, error error }
entry start
node start: state of parser { extract hdr.ethernet } -> sources
node sources: apply sources -> hosts
node hosts: apply hosts -> departure
node departure: buffer { send 32w1 }
"#;
    let folder = scratch("learns");
    let named = |name: &str, text: &str| {
        fs::write(folder.join(name), text).unwrap();
        folder.join(name).display().to_string()
    };
    let program = named("learns.hlir", program);
    let pins = named(
        "pins.plan",
        "plan {\n  burst 64\n  loop hosts: batch 64 group 64 { prefetch table hosts ahead 1 interleaved lookup to t0 }\n}\n",
    );
    let (code, said) = ran(&["compile", &program, "--emit", "c", "--pin", &pins]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!(" {pins}:3:35\n")), "{said}");
    assert!(said.contains("others insert entries into the table of `sources`"), "{said}");
    assert!(said.contains("hint: the hot path is not pinned; it is: hot_path { start, sources runs known, "), "{said}");
}

#[test]
fn ports_and_flags_do_not_overrule_a_file_in_silence() {
    let plan = file("ports", "plan {\n  descriptor own\n  burst 64\n}\n").display().to_string();
    let l2fwd = app("l2fwd");
    for flag in ["--pin", "--plan"] {
        let (code, said) = ran(&["compile", &l2fwd, "--emit", "c", "--descriptor", "mbuf", flag, &plan]);
        assert!(code == Some(1) && said.contains(&format!(" {plan}:2:3\n")) && said.contains("`mbuf` here"), "{said}");
        let ports = ["--port", "0=pcap:,", "--metadata", "overlaying", "--burst", "16"];
        let (code, said) = ran(&[&["run", &l2fwd], &ports[..], &[flag, &plan]].concat());
        assert!(code == Some(1) && said.contains(&format!(" {plan}:2:3\n")) && said.contains("`mbuf` here"), "{said}");
        assert!(said.contains(&format!(" {plan}:3:3\n")) && said.contains("`--burst` is 16"), "{said}");
    }
}

#[test]
fn plans_to_be_measured_are_checked_before_anything_is() {
    let cases = [
        ("plan {\n  burst 32\n  table Bridge.smac: lpm_trie\n}\n", "3:3", "does not suit table"),
        ("plan {\n  burst 513\n}\n", "2:3", "no port delivers 513 packets at once"),
        ("plan {\n  burst many\n}\n", "2:9", "expected a number of packets"),
    ];
    for (number, (text, place, message)) in cases.into_iter().enumerate() {
        let plan = file(&format!("bench-{number}"), text).display().to_string();
        let (code, said) = ran(&["bench", "l2fwd", "--plan", &plan]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(&format!(" {plan}:{place}\n")) && said.contains(message), "{text}: {said}");
        assert!(!said.contains("machine file"), "nothing has begun: {said}");
        assert_eq!(said.contains("measured with `l2fwd`"), !message.starts_with("expected"), "{said}");
    }
}

#[test]
fn a_plan_behind_its_program_is_judged_and_overridden_there() {
    let (code, program) = ran(&["show", &app("l2fwd")]);
    assert_eq!(code, Some(0), "{program}");
    let folder = scratch("behind");
    let whole = folder.join("whole.hlir");
    let name = whole.display().to_string();
    let line = program.lines().count() + 3;
    fs::write(&whole, format!("{program}\nplan {{\n  burst 513\n}}\n")).unwrap();
    let (code, said) = ran(&["compile", &name, "--emit", "c"]);
    assert!(code == Some(1) && said.contains(&format!(" {name}:{line}:3\n")), "{line}: {said}");
    let (code, said) = ran(&["show", &name, "--after", "all"]);
    assert!(code == Some(0) && said.contains("  burst 513\n"), "what is shown need not be emitted: {said}");
    let pins = folder.join("pins.plan").display().to_string();
    fs::write(&pins, "plan {\n  burst 32\n}\n").unwrap();
    let (code, said) = ran(&["compile", &name, "--emit", "c", "--pin", &pins]);
    assert_eq!(code, Some(0), "{said}");
    fs::write(&whole, format!("{program}\nplan {{\n  burst 64\n  table Bridge.smac: exact\n}}\n")).unwrap();
    fs::write(&pins, "plan {\n  table Bridge.smac: exact48\n}\n").unwrap();
    let (code, said) = ran(&["show", &name, "--after", "all", "--pin", &pins]);
    assert!(code == Some(0) && said.ends_with("plan {\n  burst 64\n  table Bridge.smac: exact48\n}\n"), "{said}");
}
