//! Groups, and sets of entries, follow the links of their ports in native code as they do in the interpreter, across writes and exchanges.

use control::plane::{DataPlane, EntryKey, Frame, Group, GroupMember};
use control::{Refusal, Update};
use driver::options::{Native, Passes, Source};
use driver::{compile, frontend};
use hlir::entry::EntryAction;
use hlir::plan::{Structure, TablePlan};
use hlir::{ActionCall, ActionSet, Entry, Match, Program, TableId, WeightedCall};
use native::{NativeEngine, Written};
use runtime::{MemoryPort, Pipeline, Settings};
use std::path::Path;
use std::sync::Arc;

fn selectors() -> frontend::Loaded {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/architectures/v1model_selectors.p4");
    frontend::load(&Source::plain(&program)).expect("the test's program is one")
}

/// The program, with another structure for the table if one is given.
fn compiled(structure: Option<Structure>) -> (Arc<Pipeline>, Program) {
    let loaded = selectors();
    let table = loaded.program.tables[spread(&loaded.program)].name.clone();
    compile::pipeline(loaded, &Passes::default(), &Native::default(), |plan| {
        (plan.descriptor, plan.burst) = (hlir::plan::Descriptor::Own, 16);
        if let Some(structure) = structure {
            plan.tables.retain(|planned| planned.table != table);
            plan.tables.push(TablePlan { table, structure, reason: None });
        }
    })
    .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"))
}

fn spread(program: &Program) -> TableId {
    program.tables.iter().find(|(_, table)| table.name.ends_with("spread")).expect("the program has it").0
}

fn send(port: u32) -> ActionCall {
    ActionCall { action: 0, arguments: vec![port.into(), port.into()] }
}

fn entry(kind: u32, action: EntryAction) -> Entry {
    Entry { matches: vec![Match::Exact(kind.into())], priority: 0, action, constant: false }
}

/// An action for each port, which is left out while the port has no link.
fn set(ports: &[u32]) -> EntryAction {
    let actions = ports.iter().map(|port| WeightedCall { call: send(*port), weight: 1 + port % 2, watch: Some(*port) });
    EntryAction::Set(ActionSet { actions: actions.collect(), ..ActionSet::default() })
}

/// Both engines, which get the same writes and packets.
struct Both<'p> {
    native: NativeEngine<'p, MemoryPort>,
    interpreter: interp::Switch<'p>,
}

impl Both<'_> {
    fn write(&mut self, update: &Update) {
        self.native.write(update).unwrap_or_else(|refusal| panic!("{refusal}: {update:?}"));
        self.interpreter.write(update).unwrap_or_else(|refusal| panic!("{refusal}: {update:?}"));
    }

    fn set_port(&mut self, port: u32, up: bool) {
        let results: [Result<(), Refusal>; 2] = [self.native.set_port(port, up), self.interpreter.set_port(port, up)];
        assert_eq!(results, [Ok(()), Ok(())]);
    }

    /// The ports by which packets of a kind leave, each once.
    fn ports(&mut self, kind: u8) -> Vec<u32> {
        let frames: Vec<Frame> =
            (0..64u8).map(|source| Frame { port: 0, bytes: vec![kind, 0x40, source, 0] }).collect();
        let sent = |engine: &mut dyn DataPlane| {
            let outcome = engine.process(&frames).expect("the switch runs");
            outcome.outputs.into_iter().map(|output| (output.port, output.bytes)).collect::<Vec<_>>()
        };
        let outputs = sent(&mut self.interpreter);
        assert_eq!(sent(&mut self.native), outputs, "kind {kind}");
        let mut ports: Vec<u32> = outputs.into_iter().map(|(port, _)| port).collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }
}

/// A switch whose entry refers to a group, and one whose entries have sets: a selector has either.
struct Switches<'p> {
    groups: Both<'p>,
    sets: Both<'p>,
}

impl<'p> Switches<'p> {
    fn new(program: &'p Program, (pipeline, compiled): (&Arc<Pipeline>, &'p Program)) -> Switches<'p> {
        let worker_ports = || vec![MemoryPort::new(runtime::Buffers::default())];
        let both = || {
            let settings = Settings { ports: 8, seed: 0 };
            let native =
                NativeEngine::new((program, compiled), pipeline.clone(), settings, worker_ports).expect("it attaches");
            Both { native, interpreter: interp::Switch::new(program, 0, 8) }
        };
        Switches { groups: both(), sets: both() }
    }

    fn each(&mut self) -> [&mut Both<'p>; 2] {
        [&mut self.groups, &mut self.sets]
    }

    /// By kind of packets: the first has a group, the others have sets.
    fn ports(&mut self) -> [Vec<u32>; 3] {
        [self.groups.ports(1), self.sets.ports(2), self.sets.ports(3)]
    }
}

#[test]
fn groups_and_sets_follow_the_links_of_their_ports() {
    let (program, (pipeline, plain)) = (selectors().program, compiled(None));
    let (lists, listed) = compiled(Some(Structure::List));
    let table = spread(&program);
    let mut switches = Switches::new(&program, (&pipeline, &plain));
    let profile = program.tables[table].profile.expect("it has one");
    for member in 1..4 {
        switches.groups.write(&Update::SetMember { profile, member, call: send(member) });
    }
    let members = (1..4).map(|member| GroupMember { member, weight: member, watch: Some(member) });
    let value = Group { members: members.collect(), ..Group::default() };
    switches.groups.write(&Update::SetGroup { profile, group: 7, value });
    switches.groups.write(&Update::Insert { table, entry: entry(1, EntryAction::Group(7)) });
    switches.sets.write(&Update::Insert { table, entry: entry(2, set(&[3, 4, 5])) });
    switches.sets.write(&Update::Insert { table, entry: entry(3, set(&[5, 6])) });
    assert_eq!(switches.ports(), [vec![1, 2, 3], vec![3, 4, 5], vec![5, 6]]);
    for port in [3, 5] {
        switches.each().into_iter().for_each(|both| both.set_port(port, false));
    }
    assert_eq!(switches.ports(), [vec![1, 2], vec![4], vec![6]]);

    // A table of another structure is filled with what is live; one that stays knows its sets by their numbers.
    for (pipeline, compiled) in [(lists, listed), (pipeline.clone(), plain.clone()), (pipeline.clone(), plain.clone())]
    {
        for both in switches.each() {
            let programs = (Arc::new(selectors().program), Arc::new(compiled.clone()));
            both.native.replace(programs, pipeline.clone(), Written::Kept).expect("it takes the place");
        }
        assert_eq!(switches.ports(), [vec![1, 2], vec![4], vec![6]]);
    }
    switches.each().into_iter().for_each(|both| both.set_port(5, true));
    assert_eq!(switches.ports(), [vec![1, 2], vec![4, 5], vec![5, 6]]);
    change_sets(&mut switches.sets, table);
}

/// A set for another, and back by what takes a write back.
fn change_sets(both: &mut Both<'_>, table: TableId) {
    let update = Update::Modify { table, entry: entry(2, set(&[7, 5])) };
    let inverse = both.native.write(&update).expect("it suits").expect("the store knows it");
    both.interpreter.write(&update).expect("it suits");
    assert_eq!(both.ports(2), [5, 7]);
    both.native.take_back(&inverse).expect("it was so before");
    both.interpreter.take_back(&inverse).expect("it was so before");
    assert_eq!(both.ports(2), [4, 5]);
    let key = EntryKey { table, matches: vec![Match::Exact(2u32.into())], priority: 0 };
    both.write(&Update::Delete(key));
    assert_eq!([both.ports(2), both.ports(3)], [vec![], vec![5, 6]]);
    both.write(&Update::Insert { table, entry: entry(2, set(&[1, 2])) });
    assert_eq!([both.ports(2), both.ports(3)], [vec![1, 2], vec![5, 6]]);
}
