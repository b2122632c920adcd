//! The number of copies of one packet: a packet and all its copies share a budget, separate from other packets.

use control::DataPlane;
use control::plane::{Frame, Outcome, Replica, Session};
use hlir::Program;
use interp::{PORTS, Switch};

/// A packet's first byte selects what is done with it: 0, it becomes a group, of which each member is cloned once more; 1, it is cloned to three members on every pass;
/// 2, it is cloned once, to three packets as of 0, and is unknown.
const PROGRAM: &str = "program multiplies for none
budget reentries 64 copies 10 states 100 iterations 10
header h.a: a_t { what: 8 }
variable error: 32
variable port: 32
parser p { start start, accept ingress, reject ingress, error error }
entry start
node start: state of p { extract h.a } -> ingress
node ingress: buffer {
  when h.a.what == 1: clone 32w3 original keep {} -> start
  when h.a.what == 1: send port
  when h.a.what == 2: clone 32w3 original keep {} -> group
  when h.a.what == 2: punt \"unknown\" -> group
  otherwise -> group
}
node group: buffer { replicate 32w6 current keep all set { port = copy.port } -> member }
node member: buffer {
  clone 32w1 original keep all -> send
  send port
}
node send: buffer { send port }
";

fn program() -> Program {
    let program = hlir::text::parse_program(PROGRAM).expect("the program is well formed");
    assert_eq!(hlir::verify::verify(&program), []);
    program
}

/// With a group of so many members, numbered from 0 on as their ports are.
fn switch(program: &Program, members: u32) -> Switch<'_> {
    let replicas = |count| (0..count).map(|port| Replica { port, instance: 0 }).collect::<Vec<_>>();
    let mut switch = Switch::new(program, 0, PORTS);
    switch.set_multicast(6, &replicas(members).into()).expect("there may be such a group");
    for members in [1, 3] {
        let session = Session::new(replicas(members).into(), 0);
        switch.set_session(members, Some(&session)).expect("there may be such a session");
    }
    switch
}

fn ports(outcome: &Outcome) -> Vec<u32> {
    outcome.outputs.iter().map(|output| output.port).collect()
}

/// Runs a burst of such packets: the ports by which packets leave.
fn sent(switch: &mut Switch, burst: &[u8]) -> Vec<u32> {
    let frames: Vec<Frame> = burst.iter().map(|what| Frame { port: 0, bytes: vec![*what] }).collect();
    ports(&switch.process(&frames).expect("the switch runs"))
}

fn drops(program: &Program, switch: &Switch) -> u64 {
    let reasons = program.drop_reasons();
    let dropped: Vec<_> = reasons.iter().zip(switch.drops()).filter(|(_, count)| *count > 0).collect();
    assert!(dropped.iter().all(|(reason, _)| *reason == "copy budget"), "{dropped:?}");
    dropped.iter().map(|(_, count)| count).sum()
}

/// 3 clones, 9 of them, and so on: 3^64 in the end, if only generations were limited. Ten are three and seven; of those seven none is cloned.
#[test]
fn all_that_comes_of_a_packet_shares_its_budget() {
    let program = program();
    let mut switch = switch(&program, 6);
    assert_eq!(sent(&mut switch, &[1]), [0; 11]);
    assert_eq!(drops(&program, &switch), 2 + 7 * 3);
    assert_eq!(sent(&mut switch, &[1, 1]), [0; 22], "each packet of a burst has its own");
    assert_eq!(drops(&program, &switch), 3 * (2 + 7 * 3));
}

/// Six of ten copies are members; the first four of them are cloned, and these clones leave after the burst.
#[test]
fn a_group_takes_its_copies_before_its_members_run() {
    let program = program();
    let mut switch = switch(&program, 6);
    assert_eq!(sent(&mut switch, &[0]), [0, 1, 2, 3, 4, 5, 0, 1, 2, 3]);
    assert_eq!(drops(&program, &switch), 2);
}

#[test]
fn the_last_members_of_a_group_may_have_no_copy() {
    let program = program();
    let mut switch = switch(&program, 13);
    assert_eq!(sent(&mut switch, &[0]), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(drops(&program, &switch), 3 + 10);
}

/// Clones that it left behind have used up the budget that it had.
#[test]
fn a_packet_that_the_control_plane_brings_back_is_as_one_received() {
    let program = program();
    let mut switch = switch(&program, 6);
    assert_eq!(sent(&mut switch, &[2]), [0, 1, 2, 3, 4, 5, 0]);
    assert_eq!(drops(&program, &switch), 5 + 6 + 6);
    let punted = switch.take_punted().remove(0);
    let resumed = switch.resume(punted).expect("the switch runs");
    assert_eq!(ports(&resumed), [0, 1, 2, 3, 4, 5, 0, 1, 2, 3]);
    assert_eq!(drops(&program, &switch), 5 + 6 + 6 + 2);
}
