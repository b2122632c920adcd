//! Plans written by hand: whatever an application is told to do with its packets, it sends the same ones.

mod command;

use command::{bacus, path};

/// Both engines on mutated packets, with every check that the C compiler can build in.
#[test]
fn a_path_in_stages_sends_what_the_interpreter_sends() {
    for (app, plan) in [("l2fwd", "l2fwd"), ("l2fwd", "l2fwd_behind"), ("ipv4fwd", "ipv4fwd"), ("l2l3acl", "l2l3acl")] {
        let file = |ending: &str| path(&format!("apps/{app}/{app}.{ending}")).display().to_string();
        let plan = path(&format!("crates/cli/tests/plans/{plan}.plan")).display().to_string();
        let trace = path("apps/l2l3acl/port1.pcap").display().to_string();
        let (program, test) = (file("p4"), file("stf"));
        for burst in ["1", "7", "64"] {
            let run = ["stf", &program, &test, "--engine", "native", "--burst", burst, "--plan", &plan, "--sanitize"];
            let output = bacus().args(run).output().expect("bacus runs");
            assert!(output.status.success(), "{app}, burst {burst}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let both = ["stf", &program, &test, "--trace", &trace, "--count", "3000", "--plan", &plan, "--sanitize"];
        let output = bacus().args(both).output().expect("bacus runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("both engines agree"),
            "{app}: {said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
