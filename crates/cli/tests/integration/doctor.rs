//! `bacus doctor` on whatever machine the tests run on.

use crate::command::{bacus, said};
use serde_json::Value;

const STATES: [&str; 5] = ["ok", "note", "slower", "missing", "fault"];

#[test]
fn each_finding_has_a_state_and_each_lack_a_way_out() {
    let output = bacus().args(["doctor", "--json"]).output().unwrap();
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    let findings = findings.as_array().unwrap();
    let of: Vec<&str> = findings.iter().map(|finding| finding["of"].as_str().unwrap()).collect();
    for name in ["C compiler", "huge pages for packet buffers", "isolated cores", "IOMMU", "CAP_NET_RAW", "calibration"]
    {
        assert!(of.contains(&name), "{of:?}");
    }
    for finding in findings {
        let state = finding["state"].as_str().unwrap();
        assert!(STATES.contains(&state), "{finding}");
        // A lack without a command to mend it is of the hardware, and costs something.
        let is_lack = ["slower", "missing", "fault"].contains(&state);
        assert!(!is_lack || finding["mend"].is_string() || finding["cost"].is_string(), "{finding}");
    }
    let is_measured = |finding: &Value| finding["cost"].as_str().is_some_and(|cost| cost.contains("measured here"));
    let isolated = findings.iter().find(|finding| finding["of"] == "isolated cores").unwrap();
    assert!(isolated["state"] != "slower" || is_measured(isolated), "{isolated}");
    let is_fault = findings.iter().any(|finding| finding["state"] == "fault");
    assert_eq!(output.status.code(), Some(if is_fault { 3 } else { 0 }), "{}", said(&output));
}

#[test]
fn a_machine_without_a_compiler_has_a_fault() {
    let mut command = bacus();
    let output = command.args(["doctor", "--no-measure", "--cc", "no-such-compiler"]).output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("fault    C compiler: no-such-compiler cannot be run"), "{text}");
    assert!(text.contains("         mend:  apt-get install gcc") && text.contains("error: no switch runs"), "{text}");
    assert!(!text.contains("measured here"), "{text}");
}

#[test]
fn a_machine_without_dpdk_lacks_kinds_of_ports_but_runs_switches() {
    let mut command = bacus();
    let output = command.args(["doctor", "--no-measure"]).env("PKG_CONFIG_LIBDIR", "/proc/none").output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("missing  DPDK: ") && text.contains("interfaces of the kernel"), "{text}");
    assert!(text.contains("         mend:  apt-get install pkg-config dpdk-dev libdpdk-dev"), "{text}");
}
