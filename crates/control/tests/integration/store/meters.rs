//! Rates in rows: with the fractions that a controller gave, as older versions saved them, and damaged. And the elements that direct meters
//! and counters have.

use super::carrying;
use control::plane::{Element, EntryKey, MeterRates};
use control::{Rate, Record, Store, Update};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, MeterId};
use std::sync::Arc;

/// Field numbers and values: varints below 128 in two fields of a protobuf message.
const WHOLE_RATES: [u8; 8] = [0x08, 5, 0x10, 6, 0x18, 7, 0x20, 8];

/// A store whose first entry has rates, with the key and value of their row.
fn metered(rates: MeterRates) -> (Store, MeterId, Element, (Vec<u8>, Vec<u8>)) {
    let mut store = carrying::aging_and_metered();
    store.keep_journal();
    let meter = store.program().meters.iter().next().expect("the program has one").0;
    let element = Element::Entry(carrying::key(&store, 1));
    store.apply(&Update::SetMeter { meter, element: element.clone(), rates: Some(rates) }).expect("the entry is there");
    let [(key, Some(value))] = &store.take_changes()[..] else { panic!("one row has changed") };
    let row = (key.to_vec(), value.to_vec());
    (store, meter, element, row)
}

/// What a store has that was made of the rows of another, of which one has another value.
fn loaded(store: &Store, key: &[u8], value: &[u8]) -> (Store, Vec<String>) {
    let mut rows: Vec<_> = store.rows().filter(|row| row.0 != key).collect();
    rows.push((key.to_vec(), value.to_vec()));
    let rows = rows.iter().map(|(key, value)| (key.as_slice(), value.as_slice()));
    Store::of_rows(store.program().clone(), rows)
}

#[test]
fn a_fraction_of_a_rate_is_saved() {
    let rates = MeterRates {
        committed_rate: Rate::new(0, 500_000_000).expect("half is less than one"),
        committed_burst: 1,
        peak_rate: Rate::LARGEST,
        peak_burst: u64::MAX,
    };
    let (store, meter, element, (key, value)) = metered(rates);
    let (again, refused) = loaded(&store, &key, &value);
    assert_eq!(
        (again.meter_rates(meter, &element).expect("the entry is there"), refused.as_slice()),
        (Some(rates), &[][..])
    );
}

#[test]
fn whole_rates_of_an_older_version_are_read_and_damaged_fractions_refused() {
    let rates = MeterRates {
        committed_rate: Rate::of_units(5),
        committed_burst: 6,
        peak_rate: Rate::of_units(7),
        peak_burst: 8,
    };
    let (store, meter, element, (key, value)) = metered(rates);
    assert_eq!(value, WHOLE_RATES, "an older version reads whole rates");
    let (again, refused) = loaded(&store, &key, &WHOLE_RATES);
    assert_eq!(
        (again.meter_rates(meter, &element).expect("the entry is there"), refused.as_slice()),
        (Some(rates), &[][..])
    );
    let billion = [0x28, 0x80, 0x94, 0xeb, 0xdc, 0x03];
    let (again, refused) = loaded(&store, &key, &[&WHOLE_RATES[..], &billion].concat());
    assert_eq!(refused, ["1000000000 billionths are no fraction of a rate"]);
    assert_eq!(again.meter_rates(meter, &element).expect("the entry is there"), None);
}

#[test]
fn rates_of_a_direct_array_are_saved_carried_and_taken_back() {
    let mut store = carrying::aging_and_metered();
    let meter = store.program().meters.iter().next().expect("the program has one").0;
    let rates = MeterRates {
        committed_rate: Rate::of_units(5),
        committed_burst: 6,
        peak_rate: Rate::of_units(7),
        peak_burst: 8,
    };
    store.keep_journal();
    let set = Update::Record(Record::ArrayRates { meter, rates: Some(rates) });
    let inverse = store.apply(&set).expect("it is no entry").expect("the store knows what was there");
    let changes = store.take_changes();
    let [(key, Some(value))] = &changes[..] else { panic!("one row has changed: {changes:?}") };
    let (again, refused) = loaded(&store, key, value);
    assert_eq!((again.array_rates(meter), refused.as_slice()), (Some(rates), &[][..]));
    let carried = store.carried_to(store.program().clone()).expect("it is the same program");
    assert_eq!(carried.array_rates(meter), Some(rates));
    store.restore(&inverse);
    assert_eq!(store.array_rates(meter), None);
}

#[test]
fn the_counter_of_a_table_has_no_element_for_an_entry_of_another() {
    let program = hlir::text::parse_program(include_str!("../places/routes.hlir")).expect("it is a program");
    let mut store = Store::new(Arc::new(program));
    let tables: Vec<_> = store.program().tables.iter().map(|(id, _)| id).collect();
    let [routes, hops, ..] = tables[..] else { panic!("the program has three tables") };
    for (table, action, arguments) in [(routes, 1, vec![1u32.into()]), (hops, 1, vec![])] {
        let call = ActionCall { action, arguments };
        let matches = vec![Match::Exact(5u32.into())];
        let entry = Entry { matches, priority: 0, action: EntryAction::Call(call), constant: false };
        store.apply(&Update::Insert { table, entry }).expect("the entry suits");
    }
    let of_hops = store.program().counters.iter().find(|(_, counter)| counter.name == "hops.hits");
    let counter = of_hops.expect("the program has it").0;
    let element = |table| Element::Entry(EntryKey { table, matches: vec![Match::Exact(5u32.into())], priority: 0 });
    assert_eq!(store.check_counter(counter, &element(hops)), Ok(()));
    let refused = store.check_counter(counter, &element(routes)).expect_err("it is of another table");
    assert_eq!(refused.sentence, "table `routes` has no direct counter `hops.hits`");
}

#[test]
fn a_direct_meter_has_no_index() {
    let mut store = carrying::aging_and_metered();
    let meter = store.program().meters.iter().next().expect("the program has one").0;
    let refused = store.apply(&Update::SetMeter { meter, element: Element::Index(0), rates: None });
    assert_eq!(
        refused.expect_err("it belongs to entries").sentence,
        "meter `routes.colour` belongs to the entries of `routes`: name an entry, not the index 0"
    );
}
