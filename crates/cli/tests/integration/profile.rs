//! What `--profile-out` writes, and that `--profile` reads it.

use crate::command::{bacus, path, scratch};
use std::fs;
use std::path::Path;

#[test]
fn a_profile_counts_packets_on_edges_and_different_keys() {
    let file = scratch("profile").join("keyless.profile");
    let (program, packets) = (path("crates/cli/tests/plans/keyless.p4"), path("crates/cli/tests/plans/keyless.stf"));
    // The switch is reset between the two files, which ask for the same keys.
    let ran = bacus()
        .args(["stf", "--engine", "native", "--profile-out"])
        .arg(&file)
        .arg(&program)
        .args([&packets, &packets])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let text = fs::read_to_string(&file).unwrap();
    // Seven packets in each file, of three sources; the table without keys has none.
    assert!(text.lines().any(|line| line == "14 MyIngress.always -> MyIngress.first"), "{text}");
    let keys: Vec<&str> = text.lines().filter(|line| !line.starts_with('#') && line.contains(" keys ")).collect();
    assert_eq!(keys, ["3 keys MyIngress.first"], "{text}");
    let looked_up: Vec<&str> = text.lines().filter(|line| line.ends_with("s MyIngress.first")).collect();
    assert_eq!(looked_up, ["12 hits MyIngress.first", "2 misses MyIngress.first", "3 keys MyIngress.first"], "{text}");
    let (traffic, said) = explained(&program, &file);
    assert!(traffic == "counted" && !said.contains("keyless.profile"), "{traffic}: {said}");
}

/// Copies, learning, timers and branches included: the lines of edges that no packet took are native code's only.
#[test]
fn both_engines_count_the_same() {
    let folder = scratch("engines");
    for name in ["chatserver", "dualstack", "l2fwd", "l2switch", "nat"] {
        let counted = |engine: &str| {
            let file = folder.join(format!("{name}.{engine}"));
            let beside = |extension: &str| path(&format!("apps/{name}/{name}.{extension}"));
            let ran = bacus()
                .args(["stf", "--engine", engine, "--profile-out"])
                .args([&file, &beside("p4"), &beside("stf")])
                .output()
                .unwrap();
            assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stderr));
            let text = fs::read_to_string(&file).unwrap();
            text.lines().filter(|line| !line.starts_with("0 ")).map(str::to_string).collect::<Vec<_>>()
        };
        assert_eq!(counted("interp"), counted("native"), "{name}");
    }
}

/// Whether traffic is counted or estimated with a profile, and what is stated about it.
fn explained(program: &Path, profile: &Path) -> (String, String) {
    let ran = bacus().arg("explain").arg(program).arg("--json").arg("--profile").arg(profile).output().unwrap();
    let (json, said) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr).into_owned());
    assert!(ran.status.success(), "{said}");
    let traffic = ["counted", "estimated"].into_iter().find(|word| json.contains(&format!("\"traffic\": \"{word}\"")));
    (traffic.unwrap_or_else(|| panic!("no traffic in {json}")).to_string(), said)
}

#[test]
fn a_profile_that_is_not_of_the_program_is_reported() {
    let folder = scratch("strange-profile");
    let program = path("apps/ipv4fwd/ipv4fwd.p4");
    let own = folder.join("own.profile");
    let tests = path("apps/ipv4fwd/ipv4fwd.stf");
    let ran = bacus().args(["stf", "--engine", "native", "--profile-out"]).arg(&own).arg(&program).arg(&tests).output();
    assert!(ran.unwrap().status.success());
    let own = fs::read_to_string(&own).unwrap();
    let first = own.lines().find(|line| !line.starts_with('#')).unwrap();
    let hint = "hint: `bacus run --profile-out` counts the packets of this program";
    let cases = [
        (own.clone(), "counted", ""),
        (
            own.replace("Router.routes\n", "Router.paths\n"),
            "counted",
            "2 of the 20 nodes and tables that it names are not in the program; lookups in such tables are estimated",
        ),
        (own.replace("Router", "Bridge"), "estimated", " are not in the program; traffic is estimated without it"),
        (String::new(), "estimated", "no packets that it counts go on from where the program begins"),
        (format!("{first}\n"), "estimated", "no packets that it counts go on from where the program begins"),
    ];
    for (number, (text, traffic, message)) in cases.into_iter().enumerate() {
        let file = folder.join(format!("{number}.profile"));
        fs::write(&file, &text).unwrap();
        let (found, said) = explained(&program, &file);
        assert_eq!(found, traffic, "{text}: {said}");
        assert!(said.contains(message), "{text}: {said}");
        let begin = format!("warning: {}: ", file.display());
        let is_reported = said.lines().filter(|line| line.starts_with(&begin)).count() == 1 && said.contains(hint);
        assert_eq!(is_reported, !message.is_empty(), "{text}: {said}");
    }
}
