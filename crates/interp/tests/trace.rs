//! The trace runner, with the interpreter on both sides, and on one side a little wrong.

use hlir::{Expression, Place, Program, Statement};
use interp::engine::Engine;
use interp::stf::command::{Control, Kind};
use interp::trace::{BURSTS, Failure, Sample, Settings, Source, random_writes, run};
use interp::{DEFAULT_PORTS, Switch, stf};
use std::path::Path;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stf").join(name);
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
        let settings = Settings { source, count: 500, bursts: &BURSTS, waits: false, externs: &|| None };
        let configure = |engine: &mut dyn Engine| {
            stf::configure(&program, &entries, engine).expect("the entries fit");
            Ok(())
        };
        let mut other = Switch::new(&program, 0, DEFAULT_PORTS);
        let summary = run(&program, &mut other, DEFAULT_PORTS, &settings, &configure, &mut |_| {});
        let summary = summary.expect("equal engines do the same");
        assert_eq!(summary.packets, 500 * BURSTS.len() as u64, "{name}");
        assert!(summary.outputs > 100, "{name}: {summary:?}");
    }
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
    let settings = Settings { source, count: 500, bursts: &[7], waits: false, externs: &|| None };
    let mut other = Switch::new(&wrong, 0, DEFAULT_PORTS);
    let failure = run(&right, &mut other, DEFAULT_PORTS, &settings, &|_| Ok(()), &mut |_| {});
    let Err(Failure::Difference(difference)) = failure else { panic!("the engines differ: {failure:?}") };
    let told = difference.to_string();
    assert!(told.starts_with("at burst 7, packet "), "{told}");
    assert!(told.contains("port 1: expected "), "{told}");
    assert_eq!(difference.frames.len(), 7);
    assert!(told.contains("  packet 0x") || told.contains(" from port "), "{told}");
    assert!(difference.trace.iter().any(|line| line == "  work"), "{told}");
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
        let mut switch = Switch::new(&program, 0, DEFAULT_PORTS);
        writes.iter().for_each(|write| write.apply(&mut switch).expect("all writes are accepted"));
        let frames: Vec<_> = (0..1000).map(|number| source.packet(number)).collect();
        switch.process(&frames).expect("the switch runs");
        for (id, table) in program.tables.iter().filter(|(_, table)| !table.keys.is_empty()) {
            let counts = switch.table_counts(id);
            assert!(counts.hits > 20, "{}: {counts:?}", table.name);
        }
    }
}
