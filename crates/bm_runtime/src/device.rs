//! The device that the services control: the switch, and what Thrift clients name by handles that the store does not have.

use crate::handles::Handles;
use crate::learning::Learning;
use crate::multicast::Nodes;
use crate::notifications::Publisher;
use crate::service::Fault;
use control::{Refusal, Store, Update};
use hlir::{Program, TableId};
use p4runtime::{Pipelines, Switch, Target};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use stf::command::Word;
use stf::{Place, names};

/// What the services report of the switch, and whom they ask.
#[derive(Clone)]
pub struct Settings {
    pub device_id: u64,
    /// Connections at most: when there is one more, the one that is silent for the longest time is closed.
    pub most_connections: usize,
    /// Seconds from the first byte of a call to its last.
    pub call_timeout: std::time::Duration,
    /// Bytes of a call at most.
    pub largest_call: usize,
    /// The pipeline of the P4Runtime server in the same process.
    pub pipelines: Option<Pipelines>,
    /// Where controllers subscribe to digests, as `ipc:///tmp/bmv2-0-notifications.ipc`.
    pub notifications: Option<String>,
    /// Where the sentences go for which BMv2's interface has only a code.
    pub log: fn(&str),
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            device_id: 0,
            most_connections: 512,
            call_timeout: std::time::Duration::from_secs(30),
            largest_call: 128 << 20,
            pipelines: None,
            notifications: None,
            log: |_| (),
        }
    }
}

/// The handler of all services.
pub struct Device {
    pub(crate) target: Arc<dyn Target>,
    pub(crate) settings: Settings,
    pub(crate) started: Instant,
    pub(crate) port: u16,
    pub(crate) learning: Option<Arc<Learning>>,
    state: Mutex<State>,
}

/// Why no digests are published to Thrift clients, and the way out. BMv2 ends where it cannot publish.
fn unpublished(address: &str, error: &std::io::Error) -> String {
    match error.kind() == std::io::ErrorKind::AddrInUse {
        true => format!(
            "digests are not published to Thrift clients: another switch publishes at {address}; \
             give this one another --device-id or --notifications-addr"
        ),
        false => format!(
            "digests are not published to Thrift clients: {address}: {error}; give another --notifications-addr"
        ),
    }
}

/// What clients have made that the store does not know.
#[derive(Default)]
pub(crate) struct State {
    program: Option<Arc<Program>>,
    /// Of the store, when the handles were those of its entries.
    version: u64,
    handles: HashMap<TableId, Handles>,
    stale: Vec<TableId>,
    /// Handles that were given for entries of tables that no packet reaches.
    pub unreached: HashMap<String, i32>,
    pub nodes: Nodes,
}

/// The switch in the hands of one call.
pub(crate) struct Work<'a> {
    pub switch: &'a mut dyn Switch,
    pub state: &'a mut State,
    pub program: Arc<Program>,
    pub log: fn(&str),
}

impl Device {
    pub fn new(target: Arc<dyn Target>, settings: Settings, port: u16) -> Device {
        let publisher = settings.notifications.as_deref().and_then(|address| {
            let unheard = |error| (settings.log)(&unpublished(address, &error));
            Publisher::start(address).map_err(unheard).ok()
        });
        let learning = publisher.map(|publisher| Arc::new(Learning::new(publisher, settings.device_id)));
        Device { target, settings, started: Instant::now(), port, learning, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the work of a call, with the switch in its hands alone. `no_pipeline` is the answer while no program runs: names mean nothing then.
    pub(crate) fn work<T, E>(
        &self,
        no_pipeline: E,
        work: impl FnOnce(&mut Work<'_>) -> Result<T, Fault<E>>,
    ) -> Result<T, Fault<E>> {
        let mut state = self.state();
        let (mut work, mut done) = (Some(work), None);
        let saved = self.target.with_switch(&mut |switch| {
            let program = switch.plane().store().program().clone();
            state.follow(&program);
            if let Some(work) = work.take() {
                done = Some(work(&mut Work { switch, state: &mut state, program, log: self.settings.log }));
            }
        });
        let done = done.unwrap_or(Err(Fault::Code(no_pipeline)));
        match saved {
            Err(refusal) if done.is_ok() => {
                (self.settings.log)(&refusal.sentence);
                Err(Fault::Sentence(refusal.sentence))
            }
            Ok(()) | Err(_) => done,
        }
    }

    /// The program that runs.
    pub(crate) fn program(&self) -> Option<Arc<Program>> {
        let mut program = None;
        // Nothing is written.
        drop(self.target.with_switch(&mut |switch| program = Some(switch.plane().store().program().clone())));
        program
    }
}

impl State {
    /// Handles are those of one program.
    fn follow(&mut self, program: &Arc<Program>) {
        if self.program.as_ref().is_none_or(|known| !Arc::ptr_eq(known, program)) {
            *self = State { program: Some(program.clone()), ..State::default() };
        }
    }
}

impl Work<'_> {
    pub fn store(&mut self) -> &Store {
        self.switch.plane().store()
    }

    /// Writes, and reports a refusal to the user of the switch: clients only get its code.
    pub fn write(&mut self, update: &Update) -> Result<(), Refusal> {
        let before = self.store().version();
        let written = self.switch.plane().write(update);
        let after = self.store().version();
        if self.state.version == before {
            self.state.version = after;
        }
        written.map(drop).inspect_err(|refusal| (self.log)(&refusal.sentence))
    }

    /// The handles of a table's entries as they are now.
    pub fn handles(&mut self, table: TableId) -> &mut Handles {
        let version = self.store().version();
        if self.state.version != version {
            self.state.version = version;
            self.state.stale = self.state.handles.keys().copied().collect();
        }
        let is_new = !self.state.handles.contains_key(&table);
        if is_new || self.state.stale.contains(&table) {
            self.state.stale.retain(|other| *other != table);
            let keys = self.keys_in_order(table);
            self.state.handles.entry(table).or_default().follow(keys);
        }
        self.state.handles.entry(table).or_default()
    }

    /// Handles begin again, as in BMv2 after all entries were deleted at once. Those that are left get the first ones.
    pub fn forget_handles(&mut self, table: TableId) {
        self.state.handles.remove(&table);
    }

    /// The program's own entries first, as it has them.
    fn keys_in_order(&mut self, table: TableId) -> Vec<control::plane::EntryKey> {
        let key_of =
            |entry: hlir::Entry| control::plane::EntryKey { table, matches: entry.matches, priority: entry.priority };
        let program = self.program.clone();
        let store = self.switch.plane().store();
        let own = program.tables[table].entries.iter().cloned().map(key_of);
        let mut keys: Vec<_> = own.filter_map(|key| store.find(&key)).map(|stored| key_of(stored.entry)).collect();
        let known: std::collections::HashSet<_> = keys.iter().cloned().collect();
        let others = store.entries(table).map(|stored| key_of(stored.entry)).filter(|key| !known.contains(key));
        let mut others: Vec<_> = others.collect();
        // The store has no order: handles must not depend on how it is kept.
        others.sort_by_cached_key(|key| format!("{key:?}"));
        keys.extend(others);
        keys
    }
}

/// The one of some objects that a client names, in full or by the last parts of its name.
pub(crate) fn find<'a>(wanted: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<usize> {
    let word = Word { text: wanted.to_string(), place: Place { line: 1, column: 1 } };
    names::find(&word, "object", names).ok()
}

/// The object of an arena that a client names.
pub(crate) fn find_in<T>(
    wanted: &str,
    objects: &la_arena::Arena<T>,
    name: impl Fn(&T) -> &str + Copy,
) -> Option<la_arena::Idx<T>> {
    let at = find(wanted, objects.iter().map(|(_, object)| name(object)))?;
    objects.iter().nth(at).map(|(id, _)| id)
}
