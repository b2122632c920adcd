//! The trace runner, with the interpreter on both sides, and on one side a little wrong.
#![allow(clippy::unwrap_used)]

use control::DataPlane;
use control::plane::{Replica, Session};
use equivalence::{BURSTS, Copies, Failure, Sample, Settings, Source, random_writes, run};
use hlir::{Expression, Place, Program, Statement};
use interp::{PORTS, Switch};
use std::path::Path;
use stf::command::{Control, Kind};

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stf/tests/stf").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn program(name: &str) -> Program {
    hlir::text::parse_program(&read(&format!("{name}.hlir"))).expect("the program is well formed")
}

/// The packets of the program's STF file, and the lines that configure it.
fn capture(name: &str) -> (Vec<Sample>, Vec<stf::Command>) {
    let commands = stf::parse(&read(&format!("{name}.stf"))).expect("the file is well formed");
    let packet = |command: &stf::Command| match &command.kind {
        Kind::Packet { port, bytes } => Some(Sample { port: Some(*port), bytes: bytes.clone() }),
        Kind::Expect { .. }
        | Kind::ExpectDigest { .. }
        | Kind::ExpectIdle { .. }
        | Kind::NoPacket
        | Kind::Control(_) => None,
    };
    let packets = commands.iter().filter_map(packet).collect();
    let adds = |command: &stf::Command| matches!(command.kind, Kind::Control(Control::Add { .. }));
    (packets, commands.into_iter().filter(adds).collect())
}

#[test]
fn equal_engines_do_not_differ() {
    for name in ["tables", "values", "packets", "parse", "state"] {
        let program = program(name);
        let (packets, entries) = capture(name);
        let source = Source { capture: &packets, seed: 3, ports: 8 };
        let settings =
            Settings { source, count: 500, bursts: &BURSTS, copies: Copies::KeepTheirTurn, externs: &|| None };
        let configure = |engine: &mut dyn DataPlane| {
            stf::configure(&program, &entries, engine).expect("the entries fit");
            Ok(())
        };
        let mut other = Switch::new(&program, 0, PORTS);
        let summary = run(&program, &mut other, PORTS, &settings, &configure, &mut |_| {});
        let summary = summary.expect("equal engines do the same");
        assert_eq!(summary.packets, 500 * BURSTS.len() as u64, "{name}");
        assert!(summary.outputs > 100, "{name}: {summary:?}");
    }
}

/// A packet and its copy leave by one port. Where the packet enters again as in `late`, it leaves behind the copy, as if it had waited in a queue.
fn copied(late: &str) -> Program {
    let text = format!(
        "program copied for none\n\nheader h: mark_t {{ kind: 8 }}\nvariable error: 32\nvariable port: 32\n\n\
         parser p {{ start start, accept ways, reject ways, error error }}\n\nentry start\n\n\
         node start: state of p {{ extract h }} -> ways\n\n\
         node ways: buffer {{\n  clone 32w5 current keep all set {{ port = copy.port }} -> marked\n{late}  otherwise -> deparser\n}}\n\n\
         node marked: block {{ h.kind = 0xff }} -> deparser\n\n\
         node deparser: deparse {{ emit h }} -> departure\n\n\
         node departure: buffer {{ send 32w1 }}\n"
    );
    let program = hlir::text::parse_program(&text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    assert!(hlir::verify::verify(&program).is_empty(), "{:#?}", hlir::verify::verify(&program));
    program
}

/// Packet by packet, that a copy has overtaken its packet is a difference, unless packets may wait in queues.
#[test]
fn copies_overtake_a_packet_only_where_it_may_wait() {
    let (in_turn, late) = (copied(""), copied("  resubmit current keep all set { port = 32w1 } -> deparser\n"));
    let capture = [Sample { port: Some(1), bytes: vec![1, 2, 3] }];
    let source = Source { capture: &capture, seed: 3, ports: 8 };
    let configure = |engine: &mut dyn DataPlane| {
        let session = Session::new(vec![Replica { port: 1, instance: 0 }].into(), 0);
        engine.set_session(5, Some(&session))
    };
    let compared = |copies| {
        let settings = Settings { source, count: 50, bursts: &[1, 7], copies, externs: &|| None };
        let mut other = Switch::new(&late, 0, PORTS);
        run(&in_turn, &mut other, PORTS, &settings, &configure, &mut |_| {})
    };
    let Err(Failure::Difference(difference)) = compared(Copies::KeepTheirTurn) else { panic!("the copy is first") };
    assert_eq!((difference.burst, difference.message.as_str()), (1, "port 1: the packets left in another order"));
    let summary = compared(Copies::MayOvertake).expect("the copy may be first");
    assert_eq!((summary.packets, summary.outputs), (100, 200));
}

#[test]
fn the_first_difference_is_shown_with_the_packet_and_its_way() {
    let right = program("values");
    let mut wrong = right.clone();
    let (_, node) = wrong.nodes.iter_mut().find(|(_, node)| node.name == "work").expect("the node is there");
    let hlir::NodeKind::Block { body, .. } = &mut node.kind else { panic!("it is a block") };
    let is_quotient = |statement: &Statement| matches!(statement, Statement::Assign { target: Place::Field(field), .. } if field.field == 3);
    let quotient = body.iter_mut().find(|statement| is_quotient(statement)).expect("a quotient is computed");
    let Statement::Assign { value, .. } = quotient else { panic!("it is an assignment") };
    *value = Expression::constant(0u8, 33);
    let (packets, _) = capture("values");
    let source = Source { capture: &packets, seed: 3, ports: 8 };
    let settings = Settings { source, count: 500, bursts: &[7], copies: Copies::KeepTheirTurn, externs: &|| None };
    let mut other = Switch::new(&wrong, 0, PORTS);
    let failure = run(&right, &mut other, PORTS, &settings, &|_| Ok(()), &mut |_| {});
    let Err(Failure::Difference(difference)) = failure else { panic!("the engines differ: {failure:?}") };
    let message = difference.to_string();
    assert!(message.starts_with("at burst 7, packet "), "{message}");
    assert!(message.contains("port 1: expected "), "{message}");
    assert_eq!(difference.frames.len(), 7);
    assert!(message.contains("  packet 0x") || message.contains(" from port "), "{message}");
    assert!(difference.trace.iter().any(|line| line == "  work"), "{message}");
}

/// Entries made of the keys that packets bring are found by most packets, in tables of every kind.
#[test]
fn random_entries_are_hit() {
    for name in ["tables", "profile"] {
        let program = program(name);
        let (packets, _) = capture(name);
        let source = Source { capture: &packets, seed: 8, ports: 8 };
        let make = || random_writes(&program, source, 40, &|_| Ok(()), &|| None).expect("nothing was configured");
        let writes = make();
        assert_eq!(writes, make(), "the same seed gives the same entries");
        let mut switch = Switch::new(&program, 0, PORTS);
        writes.iter().for_each(|write| write.apply(&mut switch).expect("all writes are accepted"));
        let frames: Vec<_> = (0..1000).map(|number| source.packet(number)).collect();
        switch.process(&frames).expect("the switch runs");
        for (id, table) in program.tables.iter().filter(|(_, table)| !table.keys.is_empty()) {
            let counts = switch.table_counts(id);
            assert!(counts.hits > 20, "{}: {counts:?}", table.name);
        }
    }
}
