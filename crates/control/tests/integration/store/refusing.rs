//! A data plane that refuses: what the store has goes back, and so does what follows from it.

use super::groups::{profile, to};
use super::{carrying, program, store};
use control::plane::*;
use control::store::Derived;
use control::{Rate, Record, Refusal, Store, Update};
use hlir::entry::EntryAction;
use hlir::{ActionSet, CounterId, Entry, Match, RegisterId, TableId, WeightedCall};
use num_bigint::BigUint;

/// Refuses every write while it is full, and keeps which objects it was to write again.
struct Refusing {
    store: Store,
    full: bool,
    again: Vec<Derived>,
}

impl DataPlane for Refusing {
    fn name(&self) -> &str {
        "refusing"
    }

    fn store(&self) -> &Store {
        &self.store
    }

    fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    fn apply(&mut self, _update: &Update) -> Result<(), Refusal> {
        if self.full { Err(Refusal::wrong("there is no memory")) } else { Ok(()) }
    }

    fn rederive(&mut self, inverse: &Update) {
        self.again.extend(self.store.derived(inverse));
    }

    fn clear_inserted(&mut self, _table: TableId) -> Result<(), Refusal> {
        Ok(())
    }

    fn reset(&mut self) {
        self.store.reset();
    }

    fn process(&mut self, _burst: &[Frame]) -> Result<Outcome, Refusal> {
        Ok(Outcome::default())
    }

    fn set_clock(&mut self, _nanoseconds: u64) {}

    fn set_seed(&mut self, _seed: u64) {}

    fn table_counts(&self, _table: TableId) -> TableCounts {
        TableCounts::default()
    }

    fn take_idle(&mut self) -> Vec<EntryKey> {
        Vec::new()
    }

    fn read_counter(&mut self, _counter: CounterId, _element: &Element) -> Result<CounterValue, Refusal> {
        Ok(CounterValue::default())
    }

    fn write_counter(&mut self, _counter: CounterId, _element: &Element, _value: CounterValue) -> Result<(), Refusal> {
        Ok(())
    }

    fn read_register(&mut self, _register: RegisterId, _index: u64) -> Result<BigUint, Refusal> {
        Ok(BigUint::ZERO)
    }

    fn write_register(&mut self, _register: RegisterId, _index: u64, _value: &BigUint) -> Result<(), Refusal> {
        Ok(())
    }

    fn drops(&self) -> Vec<u64> {
        Vec::new()
    }
}

fn refusing() -> Refusing {
    let mut plane = Refusing { store: store(), full: false, again: Vec::new() };
    let profile = profile(&plane.store);
    plane.set_member(profile, 1, &to(10)).expect("there is memory");
    plane.set_group(profile, 7, &[1][..].into()).expect("there is memory");
    plane.full = true;
    plane
}

#[test]
fn a_group_that_is_refused_is_written_again_as_it_was() {
    let mut plane = refusing();
    let profile = profile(&plane.store);
    assert!(plane.set_group(profile, 7, &[1, 1][..].into()).is_err());
    assert_eq!(plane.store.group(profile, 7), Some(&[1][..].into()));
    assert!(plane.set_member(profile, 1, &to(20)).is_err());
    assert_eq!(plane.store.member(profile, 1), Some(&to(10)));
    assert_eq!(plane.again, [Derived::Group(profile, 7); 2]);
}

#[test]
fn the_set_of_an_entry_that_is_refused_is_removed() {
    let mut plane = Refusing { store: store(), full: true, again: Vec::new() };
    let (table, _) = plane.store.program().tables.iter().find(|(_, table)| table.name == "routes").unwrap();
    let set = ActionSet { actions: vec![WeightedCall { call: to(1), weight: 1, watch: None }], ..ActionSet::default() };
    let action = EntryAction::Set(set);
    let entry = Entry { matches: vec![Match::Exact(5u32.into())], priority: 0, action, constant: false };
    assert!(plane.insert(table, &entry).is_err());
    let [Derived::Set(of, number)] = plane.again[..] else { panic!("{:?}", plane.again) };
    assert_eq!((of, plane.store.set_choices(table, number)), (table, None));
    assert_eq!(plane.store.entry_count(table), 0);
}

#[test]
fn a_link_is_as_it_is_even_if_the_data_plane_has_no_memory_for_what_follows() {
    let mut plane = refusing();
    assert!(plane.set_port(4, false).is_err());
    assert!(plane.store.is_down(4) && plane.store.carried_to(program()).unwrap().is_down(4));
}

/// What comes with an entry goes with it, and comes back with it: a controller that reads after a refusal sees what it saw before.
#[test]
fn an_entry_whose_deletion_is_refused_has_its_metadata_timeout_and_rates_again() {
    let mut plane = Refusing { store: carrying::aging_and_metered(), full: false, again: Vec::new() };
    let (key, meter) = (carrying::key(&plane.store, 1), plane.store.program().meters.iter().next().unwrap().0);
    let rates = MeterRates {
        committed_rate: Rate::of_units(1),
        committed_burst: 2,
        peak_rate: Rate::of_units(3),
        peak_burst: 4,
    };
    plane.set_idle_timeout(&key, 77).expect("there is memory");
    plane.set_meter(meter, &Element::Entry(key.clone()), Some(rates)).expect("there is memory");
    let metadata = Record::Metadata { key: key.clone(), metadata: b"mine".to_vec() };
    plane.write(&Update::Record(metadata)).expect("there is memory");
    let rows = |store: &Store| {
        let mut rows: Vec<_> = store.rows().collect();
        rows.sort();
        rows
    };
    plane.store.keep_journal();
    let before = rows(&plane.store);
    plane.full = true;
    assert!(plane.delete(&key).is_err());
    assert_eq!(rows(&plane.store), before);
    // What is saved is as what is there.
    let saved: Vec<_> = plane.store.take_changes().into_iter().map(|(key, value)| (key, value.unwrap())).collect();
    assert!(!saved.is_empty() && saved.iter().all(|row| before.contains(row)), "{saved:?}");
    plane.full = false;
    let inverse = plane.write(&Update::Delete(key.clone())).expect("there is memory").expect("the store had it");
    assert!(plane.store.find(&key).is_none() && rows(&plane.store).len() < before.len());
    plane.take_back(&inverse).expect("there is memory");
    assert_eq!(rows(&plane.store), before);
}
