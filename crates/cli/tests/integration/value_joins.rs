//! Value joins that a plan forces: the same packets and counters on both engines, and reasons where they are not legal.

use crate::command::{path, ran, scratch};
use std::fs;

fn file(ending: &str) -> String {
    path(&format!("crates/cli/tests/plans/value_joins.{ending}")).display().to_string()
}

/// Writes between packets: next hops that come, change and go, and routes and default actions that change to others.
#[test]
fn writes_between_packets_are_seen_as_without_the_join() {
    let (program, test, plan) = (file("p4"), file("stf"), file("plan"));
    let (code, text) = ran(&["show", &program, "--after", "join", "--pin", &plan]);
    assert!(code == Some(0) && text.contains("\n  place ingress.routes.place\n"), "{text}");
    let pinned = ["--pin", &plan];
    let passes = ["--passes", "join,structures", "--pin", &plan];
    let engines: [&[&str]; 3] =
        [&["--engine", "interp"], &["--engine", "native"], &["--engine", "native", "--sanitize"]];
    for engine in engines {
        for burst in ["1", "64"] {
            for joined in [&[][..], &pinned, &passes] {
                let arguments = [&["stf", &program, &test, "--burst", burst][..], engine, joined].concat();
                let (code, said) = ran(&arguments);
                assert_eq!(code, Some(0), "{arguments:?}: {said}");
            }
        }
    }
}

#[test]
fn both_engines_agree_on_random_packets_and_entries() {
    let (program, test, plan) = (file("p4"), file("stf"), file("plan"));
    let trace = ["--trace", &test, "--count", "2000", "--random-entries", "40"];
    for seed in ["1", "2"] {
        let arguments = [&["stf", &program, "--pin", &plan, "--seed", seed][..], &trace].concat();
        let (code, said) = ran(&arguments);
        assert!(code == Some(0) && said.contains("both engines agree"), "{said}");
    }
}

/// A change of the program, and why the join is not legal then.
const REFUSED: [(&str, &str, &str); 5] = [
    ("h.route.next = m.hop;", "m.hop = m.hop + 1;", "writes the key of `ingress.hops` behind `ingress.routes`"),
    (
        "        routes.apply();\n",
        "        if (h.route.dst != 0) { routes.apply(); }\n",
        "packets come to `ingress.hops` without a lookup in `ingress.routes`",
    ),
    (
        "            s.egress_spec = 8;\n",
        "            hops.apply();\n",
        "`ingress.hops` is not looked up at exactly one node",
    ),
    ("m.hop: exact", "m.hop: ternary", "the second table `ingress.hops`: not all of its keys are exact"),
    ("{ m.hop: exact; }", "{ h.route.dst: exact; }", "key `h.route.dst` of `ingress.hops` is no function of the entry"),
];

#[test]
fn a_join_that_is_not_legal_is_refused_with_its_reason() {
    let text = fs::read_to_string(file("p4")).expect("it is there");
    let directory = scratch("value-joins");
    for (number, (old, new, why)) in REFUSED.into_iter().enumerate() {
        assert!(text.contains(old), "{old}");
        let program = directory.join(format!("refused-{number}.p4"));
        fs::write(&program, text.replace(old, new)).expect("there is room for a test");
        let program = program.display().to_string();
        let (code, said) = ran(&["compile", &program, "--emit", "c", "--pin", &file("plan")]);
        assert!(code == Some(1) && said.contains("are not joined") && said.contains(why), "{new}: {said}");
    }
}

/// An action that leaves the key as it is has no place: its packets take the second lookup.
#[test]
fn actions_that_do_not_give_the_key_have_no_place() {
    let (_, text) = ran(&["show", &file("p4"), "--after", "join", "--pin", &file("plan")]);
    for (action, place) in [
        ("ingress.via(hop: 32", "ingress.routes.place = place"),
        ("ingress.fixed(place: 10)", "ingress.routes.place = place"),
        ("ingress.group(number: 16", "ingress.routes.place = place"),
        ("ingress.as_written()", "ingress.routes.place = 0"),
    ] {
        let body = text.split_once(&format!("action {action}")).map_or("", |(_, behind)| behind);
        let body = body.split("action ").next().unwrap_or_default();
        assert!(body.contains(place), "{action}: {text}");
    }
}

#[test]
fn explain_lists_value_joins_with_their_costs_or_reasons() {
    let (_, said) = ran(&["explain", "--all", &file("p4")]);
    let line = said.lines().find(|line| line.contains("join of ingress.routes, ingress.hops by value"));
    let line = line.unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains("its entries are assumed") && line.contains("places") && line.contains("separate"), "{line}");
    let text = fs::read_to_string(file("p4")).expect("it is there");
    let (old, new, why) = REFUSED[0];
    let program = scratch("value-joins-explained").join("refused.p4");
    fs::write(&program, text.replace(old, new)).expect("there is room for a test");
    let (_, said) = ran(&["explain", "--all", &program.display().to_string()]);
    let line = said.lines().find(|line| line.contains("join of ingress.routes, ingress.hops by value"));
    assert!(line.is_some_and(|line| line.contains("refused: ") && line.contains(why)), "{said}");
    let (_, said) = ran(&["explain", "--all", &file("p4"), "--pin", &file("plan")]);
    assert!(said.contains("made: ingress.routes>ingress.hops, at most 1023 places"), "{said}");
}

/// Joins that need care: of a joint table that is there when entries of the program come to it, of tables with actions
/// that are named as hidden ones, and of a table that has a value twice among its keys.
#[test]
fn packets_see_no_join_that_is_made() {
    let folder = |name: &str| path(&format!("crates/cli/tests/plans/{name}")).display().to_string();
    for (name, joined) in [
        ("join_over_join", &["--pin", ".plan"][..]),
        ("join_names", &["--pin", ".plan"]),
        ("join_names", &[]),
        ("join_equal_keys", &[]),
    ] {
        let [program, test, plan] = [".p4", ".stf", ".plan"].map(|ending| folder(&format!("{name}{ending}")));
        let joined: Vec<&str> = joined.iter().map(|word| if *word == ".plan" { &plan } else { *word }).collect();
        for engine in ["interp", "native"] {
            let passes = ["--passes", "join,structures", "--engine", engine];
            let arguments = [&["stf", &program, &test][..], &passes, &joined].concat();
            let (code, said) = ran(&arguments);
            assert_eq!(code, Some(0), "{arguments:?}: {said}");
        }
    }
}

/// A packet may wait in one queue behind the other with its place.
#[test]
fn grace_periods_cover_the_queues_between_the_lookups() {
    let file = |ending: &str| path(&format!("crates/cli/tests/plans/value_join_queues{ending}")).display().to_string();
    let (code, said) = ran(&["compile", &file(".hlir"), "--emit", "c", "--plan", &file(".plan")]);
    assert!(code == Some(0) && said.contains(".held_bursts = 9u,"), "{said}");
}
