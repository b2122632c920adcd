//! Members and groups of a selector change while packets flow.

use control::DataPlane;
use driver::options::{Native, Passes, Source};
use driver::{compile, entries, frontend};
use hlir::ActionCall;
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Settings, Trace};
use std::path::{Path, PathBuf};

const GROUP: &str = "\
member paths 1 send(port:1, mark:1)
member paths 2 send(port:2, mark:2)
group paths 7 1 2
add spread hdr.flow.kind:1 group=7
";

#[test]
fn members_and_groups_change_under_traffic_and_every_packet_finds_one() {
    const PACKETS: u64 = 200_000;
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/architectures/v1model_selectors.p4");
    let loaded = frontend::load(&Source::plain(&program)).expect("the test's program is one");
    let program = loaded.program.clone();
    let (pipeline, compiled) = compile::pipeline(loaded, &Passes::default(), &Native::default(), |plan| {
        plan.descriptor = hlir::plan::Descriptor::Own;
        plan.burst = 32;
    })
    .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"));
    let worker_ports = || (0..2).map(|_| MemoryPort::new(Buffers::default())).collect();
    let settings = Settings { ports: 8, seed: 0 };
    let mut engine = NativeEngine::new((&program, &compiled), pipeline, settings, worker_ports).unwrap();
    let file: PathBuf = std::env::temp_dir().join(format!("bacus-selector-{}.stf", std::process::id()));
    std::fs::write(&file, GROUP).unwrap();
    entries::configure(&program, &file, &mut engine).unwrap();
    std::fs::remove_file(&file).unwrap();
    let (profile, _) = program.profiles.iter().find(|(_, profile)| profile.selector.is_some()).unwrap();
    for worker in 0..2 {
        let frames = [[1u8, 0, 1, 0], [1, 0, 2, 0], [1, 0, 3, 0]];
        let trace = Trace::new(frames.iter().map(|frame| (0, frame.as_slice())));
        engine.switch().ports_of(worker).unwrap().load(trace, PACKETS, 0);
    }
    engine.switch().start();
    let send = |port: u32| ActionCall { action: 0, arguments: vec![port.into(), 1u32.into()] };
    let mut changes = 0u32;
    while engine.switch().is_running() || changes < 20 {
        engine.set_member(profile, 1 + changes % 2, &send(1 + changes % 3)).unwrap();
        let members: &[u32] = if changes.is_multiple_of(2) { &[1] } else { &[2, 1, 2] };
        engine.set_group(profile, 7, &members.into()).unwrap();
        changes += 1;
    }
    engine.switch().join();
    for worker in 0..2 {
        let counts = engine.switch().ports_of(worker).unwrap().counts();
        assert_eq!((counts.received, counts.sent), (PACKETS, PACKETS));
        assert!((PACKETS..=3 * PACKETS).contains(&counts.sent_ports), "{} {changes}", counts.sent_ports);
    }
    assert_eq!(engine.switch().drops().iter().sum::<u64>(), 0);
}
