//! Another compilation of the same program replaces the running one: entries stay, and no packet is lost.

use control::DataPlane as _;
use driver::options::{Native, Passes, Source};
use driver::{compile, entries, frontend};
use hlir::Program;
use hlir::plan::{JointTables, Structure, TablePlan};
use native::{NativeEngine, Written};
use runtime::{Buffers, MemoryPort, Pipeline, Settings, Trace};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const HOSTS: &str = "\
add smac hdr.ethernet.src:0x02000000000a NoAction()
add dmac hdr.ethernet.dst:0x02000000000b forward(port:2)
";

fn l2fwd() -> frontend::Loaded {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/l2fwd/l2fwd.p4");
    frontend::load(&Source::plain(&program)).expect("l2fwd is a program")
}

/// The program under a plan that has `structure` for every table, and lets its two tables share an array with so many bits for the first.
fn compiled(structure: Option<Structure>, bits: Option<u32>) -> (Arc<Pipeline>, Program) {
    let loaded = l2fwd();
    let names: Vec<String> = loaded.program.tables.iter().map(|(_, table)| table.name.clone()).collect();
    let [table, owner] = [names[0].clone(), names[1].clone()];
    compile::pipeline(loaded, &Passes::default(), &Native::default(), |plan| {
        plan.descriptor = hlir::plan::Descriptor::Own;
        plan.burst = 32;
        if let Some(structure) = structure {
            plan.tables = names.into_iter().map(|table| TablePlan { table, structure, reason: None }).collect();
        }
        plan.joints.extend(bits.map(|bits| JointTables { secondary: table, primary: owner, bits, reason: None }));
    })
    .unwrap_or_else(|failure| panic!("l2fwd compiles: {failure:?}"))
}

#[test]
fn entries_outlive_an_exchange_of_structures_under_traffic_and_no_packet_is_lost() {
    const PACKETS: u64 = 300_000;
    let program = l2fwd().program;
    let (first, first_program) = compiled(None, None);
    let (second, second_program) = compiled(Some(Structure::List), None);
    let (shared, shared_program) = compiled(Some(Structure::Exact48), Some(2));
    let (other, other_program) = compiled(Some(Structure::Exact48), Some(5));
    let settings = Settings { ports: 8, seed: 0 };
    let worker_ports = || (0..2).map(|_| MemoryPort::new(Buffers::default())).collect();
    let mut engine = NativeEngine::new((&program, &first_program), first.clone(), settings, worker_ports).unwrap();
    let file: PathBuf = std::env::temp_dir().join(format!("bacus-exchange-{}.stf", std::process::id()));
    std::fs::write(&file, HOSTS).unwrap();
    entries::configure(&program, &file, &mut engine).unwrap();
    std::fs::remove_file(&file).unwrap();
    let frame = [&[2, 0, 0, 0, 0, 0xb, 2, 0, 0, 0, 0, 0xa, 8, 0][..], &[0; 50]].concat();
    for worker in 0..2 {
        let trace = Trace::new([(1, frame.as_slice())]);
        engine.switch().ports_of(worker).unwrap().load(trace, PACKETS, 0);
    }
    engine.switch().start();
    let lists = (&second_program, &second);
    let shared = (&shared_program, &shared);
    let plans = [lists, (&first_program, &first), shared, lists, shared, (&other_program, &other), shared, shared];
    for (program, pipeline) in plans {
        std::thread::sleep(Duration::from_millis(3));
        engine.exchange(program, pipeline.clone()).unwrap();
    }
    engine.switch().join();
    for worker in 0..2 {
        let port = engine.switch().ports_of(worker).unwrap();
        let counts = port.counts();
        // Every packet knows its way, whichever pipeline it met: all leave by port 2.
        assert_eq!((counts.received, counts.sent, counts.sent_ports), (PACKETS, PACKETS, 2 * PACKETS));
        assert_eq!(port.held(), 0);
    }
    assert_eq!(engine.switch().drops().iter().sum::<u64>(), 0);
}

#[test]
fn another_program_takes_over_what_was_written_or_begins_anew() {
    const PACKETS: u64 = 200_000;
    let program = Arc::new(l2fwd().program);
    let (pipeline, compiled) = compiled(None, None);
    let compiled = Arc::new(compiled);
    let settings = Settings { ports: 8, seed: 0 };
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let mut engine = NativeEngine::new((&program, &compiled), pipeline.clone(), settings, worker_ports).unwrap();
    let file: PathBuf = std::env::temp_dir().join(format!("bacus-replace-{}.stf", std::process::id()));
    std::fs::write(&file, HOSTS).unwrap();
    entries::configure(&program, &file, &mut engine).unwrap();
    std::fs::remove_file(&file).unwrap();
    let counts = |engine: &NativeEngine<'_, MemoryPort>| -> Vec<usize> {
        program.tables.iter().map(|(id, _)| engine.store().entry_count(id)).collect()
    };
    let frame = [&[2, 0, 0, 0, 0, 0xb, 2, 0, 0, 0, 0, 0xa, 8, 0][..], &[0; 50]].concat();
    engine.switch().ports_of(0).unwrap().load(Trace::new([(1, frame.as_slice())]), PACKETS, 0);
    engine.switch().start();
    for _ in 0..3 {
        // Another value of the same program: its objects are the same by their names only.
        let other = Arc::new(l2fwd().program);
        engine.replace((other, compiled.clone()), pipeline.clone(), Written::Kept).unwrap();
        assert_eq!(counts(&engine).iter().sum::<usize>(), 2);
    }
    engine.switch().join();
    let sent = engine.switch().ports_of(0).unwrap().counts();
    assert_eq!((sent.received, sent.sent, sent.sent_ports), (PACKETS, PACKETS, 2 * PACKETS));
    engine.replace((program.clone(), compiled), pipeline, Written::Forgotten).unwrap();
    assert_eq!(counts(&engine).iter().sum::<usize>(), 0);
    assert!(engine.switch().tables().iter().all(|table| table.is_empty()));
}
