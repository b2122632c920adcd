//! What is found on the way to keys that wait for the next burst, while a controller writes: a packet goes by one state of a table, never by two.

use super::NativeEngine;
use super::waiting::{compiled, example};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use interp::Engine as _;
use runtime::{Buffers, MemoryPort, Packet, Settings, Trace};

const PLANS: [&str; 2] = ["fronts.plan", "fronts_lanes.plan"];
/// The port that has an entry, and one that has none.
const KNOWN: u16 = 5;
const UNKNOWN: u16 = 6;

fn with_engine(plan: &str, test: impl for<'p> FnOnce(NativeEngine<'p, MemoryPort>, &'p Program)) {
    let program = example("fronts.hlir").program;
    let (pipeline, compiled) = compiled("fronts.hlir", plan);
    let lanes = || vec![MemoryPort::new(Buffers::default())];
    let engine = NativeEngine::new((&program, &compiled), pipeline, Settings { ports: 8, seed: 0 }, lanes);
    test(engine.expect("it attaches"), &program);
}

/// Packets of station 7.
fn frames(port: u16) -> Trace {
    let mut frame = [0; 16];
    frame[1] = 7;
    Trace::new([(port, frame.as_slice())])
}

fn vlan(number: u32) -> ActionCall {
    ActionCall { action: 0, arguments: vec![number.into()] }
}

fn ports(program: &Program) -> TableId {
    program.tables.iter().find(|(_, table)| table.name == "ports").expect("the example has it").0
}

/// The VLANs of packets, and what was found for each.
fn told(packets: &[Packet]) -> Vec<(u8, u8)> {
    packets.iter().map(|packet| (packet.bytes[3], packet.bytes[5])).collect()
}

#[test]
fn who_waits_while_a_default_action_is_replaced_gets_all_of_the_new_one() {
    for plan in PLANS {
        with_engine(plan, |mut engine, program| {
            engine.switch().lane(0).expect("its worker runs here").keep_sent();
            for (port, expected) in [(UNKNOWN, (2, 2)), (KNOWN, (1, 1))] {
                engine.set_default(ports(program), &vlan(1)).expect("it is an action of the table");
                let lane = engine.switch().lane(0).expect("its worker runs here");
                lane.hold(true);
                lane.load(frames(port), 32, 0);
                engine.switch().run(0);
                assert_eq!(engine.switch().lane(0).expect("its worker runs here").take_sent().len(), 0, "all wait");
                engine.set_default(ports(program), &vlan(2)).expect("it is an action of the table");
                engine.switch().lane(0).expect("its worker runs here").hold(false);
                engine.switch().run(0);
                let sent = engine.switch().lane(0).expect("its worker runs here").take_sent();
                assert_eq!(told(&sent), [expected; 32], "{plan}, port {port}");
            }
        });
    }
}

#[test]
fn who_waits_while_an_entry_changes_goes_by_the_one_that_was_found() {
    const PACKETS: u64 = 4_000_000;
    for plan in PLANS {
        with_engine(plan, |mut engine, program| {
            engine.switch().lane(0).expect("its worker runs here").load(frames(KNOWN), PACKETS, 0);
            engine.switch().start();
            let mut changes = 0u32;
            while engine.switch().is_running() || changes < 20 {
                changes += 1;
                let matches = vec![Match::Exact(KNOWN.into())];
                let action = EntryAction::Call(vlan(1 + changes % 3));
                let entry = Entry { matches, priority: 0, action, constant: false };
                engine.modify(ports(program), &entry).expect("the entry is there");
            }
            engine.switch().join();
            assert_eq!(engine.switch().lane(0).expect("its worker runs here").counts().sent, PACKETS);
            let mixed = engine.switch().counter(0, 0).expect("the example has one");
            assert_eq!(mixed.packets, 0, "{plan}, {changes} changes");
        });
    }
}
