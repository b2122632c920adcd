//! The prompt of `bacus ctl` at a terminal: completion, help and history.

use crate::command::{has_dpdk, path, said};
use crate::switch::{Switch, folder, objects};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// What is typed at the prompt, and what the terminal shows next. `\t` completes.
const TYPED: &str = r" => bacus>
he\t => help
\r => `help COMMAND` or `COMMAND --help` prints the forms
 => bacus>
help add\r => Examples:
 => bacus>
ad\thos\thdr.ethernet.d\t00:11:22:33:44:55 for\tpor\t\t) => forward(port:1)
\r => bacus>
show hosts\r => forward(port:1)
 => bacus>
\x1b[A\x1b[A => add hosts
\r => ALREADY_EXISTS
 => bacus>
show_ports\r => of BMv2; here: ports
 => bacus>
shew hosts\r => did you mean `show`
 => bacus>
por\t\r => net_null0
 => bacus>
exit\r => exit
";

#[test]
fn a_line_is_completed_and_comes_back_by_the_history() {
    if !has_dpdk() {
        return;
    }
    let folder = folder("prompt");
    let ports = ["--port", "1=net_null0,no-rx=1", "--p4runtime", "127.0.0.1:0"];
    let switch = Switch::start_bare(&folder, &[&[objects().as_str()][..], &ports].concat());
    let mut terminal = Command::new("python3");
    terminal.arg(path("crates/cli/tests/prompt.py")).arg(env!("CARGO_BIN_EXE_bacus")).arg("ctl");
    terminal.envs([("XDG_RUNTIME_DIR", &switch.folder), ("XDG_STATE_HOME", &switch.folder)]).env("TERM", "xterm");
    let piped = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut user) = piped else { return eprintln!("skipped: the terminal needs python3") };
    user.stdin.take().unwrap().write_all(TYPED.as_bytes()).unwrap();
    let ran = user.wait_with_output().unwrap();
    assert!(ran.status.success(), "{}{}", said(&ran), String::from_utf8_lossy(&ran.stdout));
    let history = std::fs::read_to_string(switch.folder.join("bacus/ctl_history")).unwrap();
    assert!(history.contains("add hosts hdr.ethernet.dst:00:11:22:33:44:55 forward(port:1)"), "{history}");
}
