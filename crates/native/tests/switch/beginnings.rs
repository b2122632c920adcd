//! Another program whose table is equal, but for what it begins with: packets and the store see the same entries and default action.

use control::plane::{DataPlane, EntryKey, Frame};
use control::{Store, Update};
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use native::{NativeEngine, Written};
use runtime::{MemoryPort, Pipeline, Settings};
use std::sync::Arc;

const PROGRAM: &str = "\
#include <core.p4>
#include <v1model.p4>
header kind_t { bit<8> kind; }
struct headers { kind_t kind; }
struct metadata { }
parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.kind); transition accept; }
}
control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    action forward(bit<9> port) { s.egress_spec = port; }
    table kinds {
        key = { h.kind.kind: exact; }
        actions = { forward; }
        default_action = forward(DEFAULT);
        size = 16;
        entries = { ENTRIES }
    }
    apply { kinds.apply(); }
}
control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
";

struct Built {
    program: Arc<Program>,
    compiled: Arc<Program>,
    pipeline: Arc<Pipeline>,
}

/// The program with a port by default, and with a port for each of these kinds.
fn built(default: u32, entries: &[(u32, u32)]) -> Built {
    let entries: String = entries.iter().map(|(kind, port)| format!("{kind}: forward({port}); ")).collect();
    let text = PROGRAM.replace("DEFAULT", &default.to_string()).replace("ENTRIES", &entries);
    let file = std::env::temp_dir().join(format!("bacus-begins-{}-{default}.p4", std::process::id()));
    std::fs::write(&file, text).expect("there is room");
    let load = || frontend::load(&Source::plain(&file)).unwrap_or_else(|failure| panic!("{failure:?}"));
    let program = Arc::new(load().program);
    let (pipeline, compiled) = compile::pipeline(load(), &Passes::default(), &Native::default(), |plan| {
        (plan.descriptor, plan.burst) = (hlir::plan::Descriptor::Own, 16);
        plan.tables.clear();
    })
    .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"));
    std::fs::remove_file(&file).expect("it was written");
    Built { program, compiled: Arc::new(compiled), pipeline }
}

fn kinds(store: &Store) -> TableId {
    store.program().tables.iter().next().expect("the program has a table").0
}

fn key(store: &Store, kind: u32) -> EntryKey {
    EntryKey { table: kinds(store), matches: vec![Match::Exact(kind.into())], priority: 0 }
}

fn forward(port: u32) -> ActionCall {
    ActionCall { action: 0, arguments: vec![port.into()] }
}

fn entry(store: &Store, kind: u32, port: u32) -> Entry {
    Entry { matches: key(store, kind).matches, priority: 0, action: EntryAction::Call(forward(port)), constant: false }
}

/// The port by which packets of the kinds from 1 to 5 leave, and the one that the store gives.
fn ports(engine: &mut NativeEngine<'_, MemoryPort>) -> [Vec<u32>; 2] {
    let frames: Vec<Frame> = (1..=5).map(|kind| Frame { port: 0, bytes: vec![kind; 60] }).collect();
    let sent = engine.process(&frames).expect("the frames fit").outputs;
    let store = engine.store();
    let port_of = |kind| {
        let stored = store.find(&key(store, kind)).map(|stored| stored.entry.action);
        let call = match stored {
            Some(EntryAction::Call(call)) => call,
            _ => store.default_action(kinds(store)).clone(),
        };
        call.arguments[0].iter_u32_digits().next().unwrap_or(0)
    };
    [sent.iter().map(|frame| frame.port).collect(), (1..=5).map(port_of).collect()]
}

#[test]
fn a_table_that_begins_otherwise_is_filled_anew() {
    let [first, same, other] =
        [(7, [(1, 1), (2, 2), (3, 3)]), (7, [(1, 1), (2, 2), (3, 3)]), (8, [(1, 1), (2, 5), (4, 4)])]
            .map(|(default, entries)| built(default, &entries));
    let settings = Settings { ports: 16, seed: 0 };
    let worker_ports = || vec![MemoryPort::new(Default::default())];
    let mut engine =
        NativeEngine::new((&first.program, &first.compiled), first.pipeline.clone(), settings, worker_ports).unwrap();
    let store = engine.store();
    let updates = [
        Update::Modify { table: kinds(store), entry: entry(store, 1, 9) },
        Update::Insert { table: kinds(store), entry: entry(store, 5, 10) },
    ];
    updates.iter().for_each(|update| drop(engine.write(update).unwrap()));
    for (built, expected) in [(&first, [9, 2, 3, 7, 10]), (&same, [9, 2, 3, 7, 10]), (&other, [9, 5, 8, 4, 10])] {
        let programs = (built.program.clone(), built.compiled.clone());
        engine.replace(programs, built.pipeline.clone(), Written::Kept).unwrap();
        assert_eq!(ports(&mut engine), [expected.to_vec(), expected.to_vec()]);
    }
    let store = engine.store();
    let delete = Update::Delete(key(store, 2));
    engine.write(&delete).unwrap();
    engine.replace((first.program, first.compiled), first.pipeline, Written::Kept).unwrap();
    assert_eq!(ports(&mut engine), [vec![9, 7, 3, 7, 10], vec![9, 7, 3, 7, 10]]);
}
