//! `bacus bench` measures programs of users, and applications with a user's packets.

use crate::command::{bacus, path, said, scratch};
use std::fs;

/// One process, plain and best, as short as can be.
fn ran(arguments: &[&str]) -> (Option<i32>, String) {
    let machine = path("machines/epyc-genoa.toml").display().to_string();
    let common = ["bench", "--quick", "--only", "best", "--bursts", "32", "--machine", &machine];
    let output = bacus().args(common).args(arguments).current_dir(path("")).output().expect("bacus can be run");
    (output.status.code(), said(&output))
}

/// Words of the row of a variant.
fn row<'t>(text: &'t str, variant: &str) -> Vec<&'t str> {
    let line = text.lines().find(|line| line.split(' ').next() == Some(variant));
    line.unwrap_or_else(|| panic!("no {variant}: {text}")).split_whitespace().collect()
}

#[test]
fn any_program_is_measured_plain_and_planned_with_the_entries_and_packets_beside_it() {
    let (code, text) = ran(&["apps/l3switch/l3switch.p4"]);
    assert!(code == Some(0) && text.contains("l3switch.p4, 11 entries, capture, programs"), "{text}");
    for variant in ["plain", "best"] {
        let cycles: Vec<f64> = row(&text, variant)[2..4].iter().map(|word| word.parse().unwrap()).collect();
        assert!(cycles.iter().all(|cycles| *cycles > 0.0), "{text}");
        assert!(row(&text, variant)[6].parse::<f64>().is_ok_and(|predicted| predicted > 0.0), "{text}");
    }
}

#[test]
fn what_is_wrong_with_a_program_and_its_files_shows_before_anything_is_measured() {
    let directory = scratch("untested");
    let untested = directory.join("untested.p4").display().to_string();
    fs::copy(path("apps/l2fwd/l2fwd.p4"), &untested).unwrap();
    let cases: [(&[&str], &str); 4] = [
        (&["apps/router/router.p4", "--entries", "apps/ndn/entries.stf"], "apps/ndn/entries.stf:"),
        (&["apps/router/router.p4", "apps/ndn/ndn.p4", "--entries", "apps/ndn/entries.stf"], "expected one program"),
        (&[&untested], "untested.stf: there is no such file\nhint: name packets with --packets"),
        (&["missing.p4"], "missing.p4: no such file"),
    ];
    for (arguments, message) in cases {
        let (code, text) = ran(arguments);
        assert!(code == Some(1) && text.contains(message) && !text.contains("machine file"), "{arguments:?}: {text}");
    }
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn applications_take_packets_of_a_file_and_frames_of_a_mix() {
    let (code, text) = ran(&["l2fwd", "--packets", "apps/l2l3acl/port1.pcap", "--sizes", "256"]);
    assert!(code == Some(0) && text.contains("l2fwd, 256 entries, capture"), "{text}");
    let (code, text) = ran(&["ipv4fwd", "--traffic", "imix", "--sizes", "4"]);
    assert!(code == Some(0) && text.contains("ipv4fwd, 4 entries, imix"), "{text}");
    row(&text, "best");
}

#[test]
fn the_join_of_the_tables_of_l2fwd_leaves_one_lookup_of_two() {
    let only = "join:[smac+dmac],pick:[smac+dmac]";
    let (code, text) = ran(&["l2fwd", "--experiment", "join-sweep", "--sizes", "16", "--only", only]);
    assert!(code == Some(0), "{text}");
    let (_, block) = text.split_once("joins of l2fwd, 16 entries").unwrap_or_else(|| panic!("no joins: {text}"));
    let lookups = |is_meant: &dyn Fn(&str) -> bool| {
        let line = block.lines().find(|line| is_meant(line)).unwrap_or_else(|| panic!("no such row: {text}"));
        line.split_whitespace().nth(1).map(str::to_string)
    };
    assert_eq!(lookups(&|line| line.starts_with("plain")).as_deref(), Some("2.00"), "{text}");
    assert_eq!(lookups(&|line| line.contains(":[smac+dmac]")).as_deref(), Some("1.00"), "{text}");
}

#[test]
fn an_experiment_of_a_paper_has_its_numbers_beside_ours_and_predictions_from_before() {
    let out = scratch("papers");
    let folder = out.display().to_string();
    let arguments = ["--experiment", "batch-size", "--sizes", "256", "--only", "B:8,B:32,B+P:32", "--out", &folder];
    let (code, text) = ran(&arguments);
    assert!(code == Some(0) && text.contains("A Performance Model, figure 5"), "{text}");
    let read =
        |name: &str| fs::read_to_string(out.join(name)).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    let found: serde_json::Value = serde_json::from_str(&read("batch-size.json")).unwrap();
    let findings = found["findings"].as_array().unwrap();
    let batch = findings.iter().find(|finding| finding["what"] == "best batch, batching alone").unwrap();
    assert_eq!(batch["paper"], 32.0, "{found}");
    assert!([8.0, 32.0].contains(&batch["measured"].as_f64().unwrap()), "{found}");
    // What was predicted before is what the result has beside the measurement.
    let predictions = read("batch-size.predictions");
    let records = found["records"].as_array().unwrap();
    for record in records.iter().filter(|record| record["variant"] != "plain") {
        let (variant, burst) = (record["variant"].as_str().unwrap(), record["burst"].as_u64().unwrap());
        let line = format!("l2fwd:256:batch-size\t{variant}\t{burst}\t{:.2}", record["committed"].as_f64().unwrap());
        assert!(predictions.lines().any(|other| other == line), "{line}\n{predictions}");
    }
    assert!(records.len() == 5 && read("batch-size.svg").contains("stroke-dasharray"), "{found}");
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn the_duel_names_the_checkout_that_it_lacks() {
    let machine = path("machines/epyc-genoa.toml").display().to_string();
    let duel = |arguments: &[&str]| {
        let common = ["bench", "--machine", &machine, "--duel"];
        let output = bacus().args(common).args(arguments).current_dir(path("")).output().expect("bacus can be run");
        (output.status.code(), said(&output))
    };
    let (code, text) = duel(&[]);
    assert!(code == Some(2) && text.contains("--in"), "{text}");
    let directory = scratch("duel");
    let (code, text) = duel(&["--in", &directory.display().to_string()]);
    assert!(code == Some(1) && text.contains("no directory has 02-PE-labs/p4src/router.p4"), "{text}");
    assert!(text.contains("hint: git clone https://github.com/rare-freertr/RARE-bmv2"), "{text}");
    // One directory that holds both: the second is not there.
    let source = directory.join("RARE-bmv2/02-PE-labs/p4src");
    fs::create_dir_all(&source).unwrap();
    fs::write(source.join("router.p4"), "").unwrap();
    let (code, text) = duel(&["--in", &directory.display().to_string()]);
    assert!(code == Some(1) && text.contains("no directory has misc/native/p4emu_full.c"), "{text}");
    assert!(text.contains("hint: git clone https://github.com/rare-freertr/freeRtr"), "{text}");
}
