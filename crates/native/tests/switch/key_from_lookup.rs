//! Lookups that complete the keys of the next burst, while a controller writes: each packet sees one state of a table, never two.

use crate::queues::{compiled, example};
use control::DataPlane as _;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Packet, Settings, Trace};

/// Programs with their plans.
const PORTS: [(&str, &str); 2] =
    [("key_from_lookup.hlir", "key_from_lookup.plan"), ("key_from_lookup.hlir", "key_from_lookup_vector.plan")];
const KEYLESS: (&str, &str) = ("key_from_default.hlir", "key_from_default.plan");
/// The port that has an entry, and one that has none.
const KNOWN: u16 = 5;
const UNKNOWN: u16 = 6;

fn with_engine(
    (program, plan): (&str, &str),
    test: impl for<'p> FnOnce(&mut NativeEngine<'p, MemoryPort>, &'p Program),
) {
    let (pipeline, compiled) = compiled(program, plan);
    let program = example(program).program;
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let engine = NativeEngine::new((&program, &compiled), pipeline, Settings { ports: 8, seed: 0 }, worker_ports);
    test(&mut engine.expect("it attaches"), &program);
}

fn ports_of<'e>(engine: &'e mut NativeEngine<'_, MemoryPort>) -> &'e mut MemoryPort {
    engine.switch().ports_of(0).expect("its worker runs here")
}

/// Packets of host 7.
fn frames(port: u16) -> Trace {
    let mut frame = [0; 16];
    frame[1] = 7;
    Trace::new([(port, frame.as_slice())])
}

fn vlan(number: u32) -> ActionCall {
    ActionCall { action: 0, arguments: vec![number.into()] }
}

/// The table before the cut.
fn front(program: &Program) -> TableId {
    program.tables.iter().find(|(_, table)| table.name != "hosts").expect("the example has it").0
}

/// The VLANs of packets, and the lookup result for each.
fn sent(packets: &[Packet]) -> Vec<(u8, u8)> {
    packets.iter().map(|packet| (packet.bytes[3], packet.bytes[5])).collect()
}

/// The contents of packets of a port that are held while the default action changes from `vlan(1)` to `vlan(2)`.
fn reported_behind(engine: &mut NativeEngine<'_, MemoryPort>, program: &Program, port: u16) -> Vec<(u8, u8)> {
    ports_of(engine).keep_sent();
    engine.set_default(front(program), &vlan(1)).expect("it is an action of the table");
    ports_of(engine).hold(true);
    ports_of(engine).load(frames(port), 32, 0);
    engine.switch().run(0);
    assert_eq!(ports_of(engine).take_sent().len(), 0, "all wait");
    engine.set_default(front(program), &vlan(2)).expect("it is an action of the table");
    ports_of(engine).hold(false);
    engine.switch().run(0);
    sent(&ports_of(engine).take_sent())
}

#[test]
fn held_packets_get_all_of_a_replaced_default_action() {
    for plan in PORTS {
        with_engine(plan, |engine, program| {
            assert_eq!(reported_behind(engine, program, UNKNOWN), [(2, 2); 32], "{plan:?}");
            assert_eq!(reported_behind(engine, program, KNOWN), [(1, 1); 32], "{plan:?}: it has an entry");
        });
    }
    with_engine(KEYLESS, |engine, program| assert_eq!(reported_behind(engine, program, KNOWN), [(2, 2); 32]));
}

/// The worker runs until the controller has changed the entry so often that records are reused. Packets held at its end are flushed.
#[test]
fn held_packets_use_the_entry_that_they_found() {
    const CHANGES: u32 = 1000;
    for plan in PORTS {
        with_engine(plan, |engine, program| {
            ports_of(engine).load(frames(KNOWN), u64::MAX, 0);
            engine.switch().start();
            for change in 0..CHANGES {
                let matches = vec![Match::Exact(KNOWN.into())];
                let action = EntryAction::Call(vlan(1 + change % 3));
                let entry = Entry { matches, priority: 0, action, constant: false };
                engine.modify(front(program), &entry).expect("the entry is there");
            }
            engine.switch().stop();
            let counts = ports_of(engine).counts();
            assert!(counts.received > u64::from(CHANGES) && counts.received == counts.sent, "{plan:?}: {counts:?}");
            assert_eq!(ports_of(engine).held(), 0, "{plan:?}");
            let mixed = engine.switch().counter(0, 0).expect("the example has one");
            assert_eq!(mixed.packets, 0, "{plan:?}");
        });
    }
}
