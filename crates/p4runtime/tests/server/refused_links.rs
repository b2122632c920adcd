//! A data plane that has no room for what follows from a link: the process is notified, since no controller waits for an answer.

use control::message::runtime::ForwardingPipelineConfig;
use control::plane::*;
use control::{DataPlane, Refusal, RefusalKind, Store, Update};
use hlir::{CounterId, Program, RegisterId, TableId};
use num_bigint::BigUint;
use p4runtime::{Prepared, Server, Settings, State, Switch, Target};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Keeps everything, and refuses all that follows from links.
struct Full {
    store: Store,
}

impl DataPlane for Full {
    fn name(&self) -> &str {
        "full"
    }

    fn store(&self) -> &Store {
        &self.store
    }

    fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    fn apply(&mut self, update: &Update) -> Result<(), Refusal> {
        if matches!(update, Update::SetPort { .. }) {
            return Err(Refusal::new(RefusalKind::Full, "there is no memory"));
        }
        Ok(())
    }

    fn rederive(&mut self, _: &Update) {}

    fn clear_inserted(&mut self, _: TableId) -> Result<(), Refusal> {
        Ok(())
    }

    fn reset(&mut self) {
        self.store.reset();
    }

    fn process(&mut self, _: &[Frame]) -> Result<Outcome, Refusal> {
        Ok(Outcome::default())
    }

    fn set_clock(&mut self, _: u64) {}

    fn set_seed(&mut self, _: u64) {}

    fn table_counts(&self, _: TableId) -> TableCounts {
        TableCounts::default()
    }

    fn take_idle(&mut self) -> Vec<EntryKey> {
        Vec::new()
    }

    fn read_counter(&mut self, _: CounterId, _: &Element) -> Result<CounterValue, Refusal> {
        Ok(CounterValue::default())
    }

    fn write_counter(&mut self, _: CounterId, _: &Element, _: CounterValue) -> Result<(), Refusal> {
        Ok(())
    }

    fn read_register(&mut self, _: RegisterId, _: u64) -> Result<BigUint, Refusal> {
        Ok(BigUint::ZERO)
    }

    fn write_register(&mut self, _: RegisterId, _: u64, _: &BigUint) -> Result<(), Refusal> {
        Ok(())
    }

    fn drops(&self) -> Vec<u64> {
        Vec::new()
    }
}

struct Behind {
    plane: Full,
    reported: Vec<(u32, bool, String)>,
}

impl Switch for Behind {
    fn plane(&mut self) -> &mut dyn DataPlane {
        &mut self.plane
    }

    fn packet_out(&mut self, _: Vec<u8>) -> Result<(), Refusal> {
        Ok(())
    }

    fn since_last_hit_ns(&mut self, _: &EntryKey) -> Result<u64, Refusal> {
        Ok(0)
    }

    fn link_refused(&mut self, port: u32, up: bool, refusal: &Refusal) {
        self.reported.push((port, up, refusal.to_string()));
    }
}

struct Process(Mutex<Behind>);

impl Target for Process {
    fn verify(&self, _: &ForwardingPipelineConfig) -> Result<Prepared, Refusal> {
        Err(Refusal::wrong("no test pushes a program"))
    }

    fn commit(&self, _: Prepared, _: State, _: &ForwardingPipelineConfig) -> Result<(), Refusal> {
        Ok(())
    }

    fn has_port(&self, _: u32) -> bool {
        true
    }

    fn with_switch(&self, work: &mut dyn FnMut(&mut dyn Switch)) -> Result<(), Refusal> {
        work(&mut *self.0.lock().expect("no test panics with it"));
        Ok(())
    }
}

#[test]
fn the_process_is_told_of_each_link_that_is_not_followed() {
    let text = include_str!("../../../control/tests/integration/store/program.hlir");
    let program: Arc<Program> = Arc::new(hlir::text::parse_program(text).expect("it is a program"));
    let plane = Full { store: Store::new(program.clone()) };
    let process = Arc::new(Process(Mutex::new(Behind { plane, reported: Vec::new() })));
    let addresses = vec!["127.0.0.1:0".parse().expect("it is an address")];
    let settings = Settings { addresses, ..Settings::default() };
    let running = Some((program, ForwardingPipelineConfig::default()));
    let server = Server::start(settings, process.clone(), running).expect("loopback has free ports");
    for (port, up) in [(4, false), (5, false), (4, true)] {
        server.events().port(port, up);
    }
    let refused = |port, up| (port, up, "there is no memory".to_string());
    let expected = [refused(4, false), refused(5, false), refused(4, true)];
    let began = Instant::now();
    while process.0.lock().expect("no thread panicked").reported.len() < expected.len() {
        assert!(began.elapsed() < Duration::from_secs(10), "not all are reported");
        std::thread::sleep(Duration::from_millis(2));
    }
    let behind = process.0.lock().expect("no thread panicked");
    assert_eq!(behind.reported, expected);
    assert!(behind.plane.store.is_down(5) && !behind.plane.store.is_down(4), "the store knows of the links");
}
