//! What another program takes over of tables that have entries to begin with: what the controller has changed, and nothing else.

use control::plane::EntryKey;
use control::{Record, RefusalKind, Store, Update};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use std::sync::Arc;

/// A program whose table has these entries, default action, and more lines.
fn program(entries: &str, default: &str, more: &str) -> Arc<Program> {
    program_of("key h.flow.key: exact\n  key h.flow.data: exact", "first: 32, second: 16", entries, default, more)
}

fn program_of(keys: &str, parameters: &str, entries: &str, default: &str, more: &str) -> Arc<Program> {
    let text = format!(
        "program changed for v1model
header h.flow: flow_t {{ key: 8, data: 16 }}
variable error: 32
variable out: 32
table routes {{
  {keys}
  action to({parameters}) {{ out = 1 }}
  action drop() {{}}
  {default}
  size 4
  {more}
  {entries}
}}
parser p {{ start start, accept routes, reject routes, error error }}
entry start
node start: state of p {{ extract h.flow }} -> routes
node routes: apply routes -> send
node send: buffer {{ send out }}
"
    );
    let program = hlir::text::parse_program(&text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    assert_eq!(hlir::verify::verify(&program), []);
    Arc::new(program)
}

const THREE: &str = "entries { 1, 10 => to(1, 1)
  2, 20 => to(2, 2)
  3, 30 => to(3, 3) }";
const DROP: &str = "default drop()";

/// A store of entries that can have idle timeouts and rates.
pub(super) fn aging_and_metered() -> Store {
    let program = program(THREE, DROP, "idle_timeout");
    let text = hlir::text::print_program(&program);
    let text = text.replace("table routes {", "meter routes.colour: bytes of routes into out\n\ntable routes {");
    let program = hlir::text::parse_program(&text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    Store::new(Arc::new(program))
}

fn table(store: &Store) -> TableId {
    store.program().tables.iter().next().unwrap().0
}

fn to(first: u32, second: u32) -> ActionCall {
    ActionCall { action: 0, arguments: vec![first.into(), second.into()] }
}

pub(super) fn key(store: &Store, of: u32) -> EntryKey {
    let matches = vec![Match::Exact(of.into()), Match::Exact((10 * of).into())];
    EntryKey { table: table(store), matches, priority: 0 }
}

fn entry(store: &Store, of: u32, call: ActionCall) -> Entry {
    Entry { matches: key(store, of).matches, priority: 0, action: EntryAction::Call(call), constant: false }
}

fn insert(store: &Store, of: u32, call: ActionCall) -> Update {
    Update::Insert { table: table(store), entry: entry(store, of, call) }
}

fn modify(store: &Store, of: u32, call: ActionCall) -> Update {
    Update::Modify { table: table(store), entry: entry(store, of, call) }
}

/// What the entry does: the arguments of its action.
fn action(store: &Store, of: u32) -> Option<ActionCall> {
    match store.find(&key(store, of))?.entry.action {
        EntryAction::Call(call) => Some(call),
        other @ (EntryAction::Member(_) | EntryAction::Group(_) | EntryAction::Set(_)) => panic!("{other:?}"),
    }
}

fn actions(store: &Store) -> Vec<Option<ActionCall>> {
    (1..=5).map(|of| action(store, of)).collect()
}

/// A store after these updates.
fn written(program: Arc<Program>, updates: &[fn(&Store) -> Update]) -> Store {
    let mut store = Store::new(program);
    for update in updates {
        let update = update(&store);
        super::apply(&mut store, &update);
    }
    store
}

#[test]
fn changed_and_deleted_entries_of_the_program_stay_changed_and_deleted() {
    let store = written(
        program(THREE, DROP, ""),
        &[
            |store| modify(store, 1, to(100, 1)),
            |store| Update::Delete(key(store, 2)),
            |store| insert(store, 4, to(4, 4)),
        ],
    );
    let expected = [Some(to(100, 1)), None, Some(to(3, 3)), Some(to(4, 4)), None];
    assert_eq!(actions(&store), expected);
    let carried = store.carried_to(program(THREE, DROP, "")).unwrap();
    assert_eq!(actions(&carried), expected);
    let again = carried.carried_to(program(THREE, DROP, "")).unwrap();
    assert_eq!(actions(&again), expected, "what was carried is carried again");
    let without = store.carried_to(program("", DROP, "")).unwrap();
    assert_eq!(actions(&without), [Some(to(100, 1)), None, None, Some(to(4, 4)), None]);
}

#[test]
fn an_entry_that_replaces_one_of_the_program_is_carried() {
    let replaced = |call: fn() -> ActionCall| {
        let mut store = Store::new(program(THREE, DROP, ""));
        let (delete, insert) = (Update::Delete(key(&store, 1)), insert(&store, 1, call()));
        [delete, insert].iter().for_each(|update| drop(super::apply(&mut store, update)));
        store.carried_to(program(THREE, DROP, "")).unwrap_or_else(|refusal| panic!("{refusal}"))
    };
    assert_eq!(action(&replaced(|| to(7, 7)), 1), Some(to(7, 7)));
    assert_eq!(action(&replaced(|| to(1, 1)), 1), Some(to(1, 1)));
}

#[test]
fn entries_that_were_left_alone_are_as_the_other_program_has_them() {
    let store = written(program(THREE, DROP, ""), &[|store| modify(store, 1, to(100, 1))]);
    let other = program("entries { 1, 10 => to(9, 9)\n  2, 20 => to(8, 8)\n  5, 50 => drop() }", DROP, "");
    let carried = store.carried_to(other).unwrap();
    let drop = ActionCall { action: 1, arguments: Vec::new() };
    assert_eq!(actions(&carried), [Some(to(100, 1)), Some(to(8, 8)), None, None, Some(drop)]);
}

#[test]
fn deletions_make_room_for_entries() {
    let four = "entries { 1, 10 => to(1, 1)\n  2, 20 => to(2, 2)\n  3, 30 => to(3, 3)\n  4, 40 => to(4, 4) }";
    let store =
        written(program(four, DROP, ""), &[|store| Update::Delete(key(store, 4)), |store| insert(store, 5, to(5, 5))]);
    let carried = store.carried_to(program(four, DROP, "")).unwrap();
    assert_eq!(actions(&carried), actions(&store));
}

#[test]
fn a_constant_entry_is_not_changed_by_what_is_carried() {
    let constant = program("entries { const 1, 10 => to(100, 1)\n  const 2, 20 => to(2, 2) }", DROP, "");
    let same = written(program(THREE, DROP, ""), &[|store| modify(store, 1, to(100, 1))]);
    assert_eq!(action(&same.carried_to(constant.clone()).unwrap(), 1), Some(to(100, 1)), "it is there already");
    let changed = written(program(THREE, DROP, ""), &[|store| modify(store, 2, to(100, 1))]);
    let deleted = written(program(THREE, DROP, ""), &[|store| Update::Delete(key(store, 2))]);
    for store in [changed, deleted] {
        assert_eq!(store.carried_to(constant.clone()).unwrap_err().kind, RefusalKind::Constant);
    }
}

#[test]
fn a_default_action_is_carried_if_it_was_changed() {
    let changed =
        written(program(THREE, DROP, ""), &[|store| Update::SetDefault { table: table(store), call: to(7, 7) }]);
    let mut reset = changed.clone();
    let back = ActionCall { action: 1, arguments: Vec::new() };
    super::apply(&mut reset, &Update::SetDefault { table: table(&changed), call: back });
    let other = program(THREE, "default to(1, 2)", "");
    let default = |store: &Store| store.default_action(table(store)).clone();
    assert_eq!(default(&changed.carried_to(other.clone()).unwrap()), to(7, 7));
    assert_eq!(default(&reset.carried_to(other).unwrap()), to(1, 2), "it was reset to the program's");
    let constant = changed.carried_to(program(THREE, "const default to(7, 7)", "")).unwrap();
    assert_eq!(default(&constant), to(7, 7));
    let refused = changed.carried_to(program(THREE, "const default drop()", "")).unwrap_err();
    assert_eq!(refused.kind, RefusalKind::Constant);
}

#[test]
fn timeouts_and_metadata_of_the_programs_entries_and_times_of_profiles_are_carried() {
    let aging = || program(THREE, DROP, "idle_timeout");
    let mut store = Store::new(aging());
    let (first, second) = (key(&store, 1), key(&store, 2));
    super::apply(&mut store, &Update::SetIdleTimeout { key: first.clone(), nanoseconds: 77 });
    let times = Update::SetExpiry { table: table(&store), profile: 2, nanoseconds: 99 };
    super::apply(&mut store, &times);
    let metadata = b"mine".to_vec();
    super::apply(&mut store, &Update::Record(Record::Metadata { key: second.clone(), metadata }));
    let carried = store.carried_to(aging()).unwrap();
    assert_eq!(carried.find(&first).unwrap().idle_timeout_ns, 77);
    assert_eq!(carried.find(&second).unwrap().metadata, b"mine");
    assert_eq!(carried.expiry_ns(table(&carried), 2), 99);
}

#[test]
fn keys_and_parameters_are_found_by_their_names() {
    let store = written(program("", DROP, ""), &[|store| insert(store, 4, to(1, 2))]);
    let carry = |keys: &str, parameters: &str| store.carried_to(program_of(keys, parameters, "", DROP, ""));
    let turned = carry("key h.flow.data: exact\n  key h.flow.key: exact", "second: 16, first: 32").unwrap();
    let entries: Vec<_> = turned.entries(table(&turned)).map(|stored| stored.entry).collect();
    let matches = vec![Match::Exact(40u32.into()), Match::Exact(4u32.into())];
    assert_eq!((&entries[0].matches, &entries[0].action), (&matches, &EntryAction::Call(to(2, 1))));
    let (keys, parameters) = ("key h.flow.key: exact\n  key h.flow.data: exact", "first: 32, second: 16");
    for (keys, parameters, sentence) in [
        ("key h.flow.key: exact", parameters, "the new program has other keys for table `routes`"),
        ("key h.flow.key: ternary\n  key h.flow.data: exact", parameters, "the new program has other keys"),
        (keys, "first: 32, third: 16", "the new program has no parameter of action `to` `second`"),
        (keys, "first: 32, second: 16, third: 16", "the new program has no value for parameter `third`"),
    ] {
        let refused = carry(keys, parameters).unwrap_err();
        assert!(refused.sentence.starts_with(sentence), "{}", refused.sentence);
    }
}
