//! What is found on the way to keys that wait for the next burst, while a controller writes: a packet goes by one state of a table, never by two.

use crate::waiting::{compiled, example};
use control::DataPlane as _;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Packet, Settings, Trace};

/// Programs with their plans.
const PORTS: [(&str, &str); 2] = [("fronts.hlir", "fronts.plan"), ("fronts.hlir", "fronts_lanes.plan")];
const KEYLESS: (&str, &str) = ("fronts_keyless.hlir", "fronts_keyless.plan");
/// The port that has an entry, and one that has none.
const KNOWN: u16 = 5;
const UNKNOWN: u16 = 6;

fn with_engine(
    (program, plan): (&str, &str),
    test: impl for<'p> FnOnce(&mut NativeEngine<'p, MemoryPort>, &'p Program),
) {
    let (pipeline, compiled) = compiled(program, plan);
    let program = example(program).program;
    let lanes = || vec![MemoryPort::new(Buffers::default())];
    let engine = NativeEngine::new((&program, &compiled), pipeline, Settings { ports: 8, seed: 0 }, lanes);
    test(&mut engine.expect("it attaches"), &program);
}

fn lane<'e>(engine: &'e mut NativeEngine<'_, MemoryPort>) -> &'e mut MemoryPort {
    engine.switch().lane(0).expect("its worker runs here")
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

/// The table on the way.
fn front(program: &Program) -> TableId {
    program.tables.iter().find(|(_, table)| table.name != "stations").expect("the example has it").0
}

/// The VLANs of packets, and what was found for each.
fn told(packets: &[Packet]) -> Vec<(u8, u8)> {
    packets.iter().map(|packet| (packet.bytes[3], packet.bytes[5])).collect()
}

/// What packets of a port tell that wait while the default action, which has been `vlan(1)`, becomes `vlan(2)`.
fn told_behind(engine: &mut NativeEngine<'_, MemoryPort>, program: &Program, port: u16) -> Vec<(u8, u8)> {
    lane(engine).keep_sent();
    engine.set_default(front(program), &vlan(1)).expect("it is an action of the table");
    lane(engine).hold(true);
    lane(engine).load(frames(port), 32, 0);
    engine.switch().run(0);
    assert_eq!(lane(engine).take_sent().len(), 0, "all wait");
    engine.set_default(front(program), &vlan(2)).expect("it is an action of the table");
    lane(engine).hold(false);
    engine.switch().run(0);
    told(&lane(engine).take_sent())
}

#[test]
fn who_waits_while_a_default_action_is_replaced_gets_all_of_the_new_one() {
    for plan in PORTS {
        with_engine(plan, |engine, program| {
            assert_eq!(told_behind(engine, program, UNKNOWN), [(2, 2); 32], "{plan:?}");
            assert_eq!(told_behind(engine, program, KNOWN), [(1, 1); 32], "{plan:?}: it has an entry");
        });
    }
    with_engine(KEYLESS, |engine, program| assert_eq!(told_behind(engine, program, KNOWN), [(2, 2); 32]));
}

/// The worker runs until the controller has changed the entry often enough that records come back; what waits when it is stopped is driven out.
#[test]
fn who_waits_while_an_entry_changes_goes_by_the_one_that_was_found() {
    const CHANGES: u32 = 1000;
    for plan in PORTS {
        with_engine(plan, |engine, program| {
            lane(engine).load(frames(KNOWN), u64::MAX, 0);
            engine.switch().start();
            for change in 0..CHANGES {
                let matches = vec![Match::Exact(KNOWN.into())];
                let action = EntryAction::Call(vlan(1 + change % 3));
                let entry = Entry { matches, priority: 0, action, constant: false };
                engine.modify(front(program), &entry).expect("the entry is there");
            }
            engine.switch().stop();
            let counts = lane(engine).counts();
            assert!(counts.received > u64::from(CHANGES) && counts.received == counts.sent, "{plan:?}: {counts:?}");
            assert_eq!(lane(engine).held(), 0, "{plan:?}");
            let mixed = engine.switch().counter(0, 0).expect("the example has one");
            assert_eq!(mixed.packets, 0, "{plan:?}");
        });
    }
}
