//! A pipeline that takes the place of another while both workers are at full load.

use crate::echo::{SETTINGS, echo, frames, object, pipeline, port, trace};
use runtime::tables::Match;
use runtime::{MemoryPort, Pipeline, Switch, SwitchError};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// No end of the trace within a test.
const ENDLESS: u64 = u64::MAX / 2;
/// Far longer than a burst, and than a changeover; far shorter than a worker that is joined and filled again would do.
const PAUSE: Duration = Duration::from_millis(100);

fn loaded(workers: usize) -> Switch<MemoryPort> {
    let mut switch = Switch::new(echo(0x11), (0..workers).map(|_| port()).collect(), SETTINGS).unwrap();
    for worker in 0..workers {
        switch.ports_of(worker).unwrap().load(trace(&frames([64, 10, 200])), ENDLESS, 0);
    }
    switch
}

fn station(address: u64) -> Match {
    Match { value: vec![address], mask: vec![(1 << 48) - 1], high: vec![address], priority: 0 }
}

/// Every packet that has come was sent or dropped, by whichever pipeline.
fn assert_none_lost(switch: &mut Switch<MemoryPort>) -> u64 {
    let mut received = 0;
    for worker in 0..switch.worker_count() {
        let own_ports = switch.ports_of(worker).unwrap();
        let counts = own_ports.counts();
        assert_eq!((counts.sent + counts.released, counts.starved, own_ports.held()), (counts.received, 0, 0));
        received += counts.received;
    }
    received
}

#[test]
fn ten_exchanges_at_full_load_lose_no_packet_and_no_worker_waits() {
    let mut switch = loaded(2);
    switch.tables()[0].insert(&station(0xabc), &[1, 0, 0, 0, 5, 0, 0, 0]).unwrap();
    let pipelines = [echo(0x22), echo(0x11)];
    switch.start();
    for number in 0..10 {
        std::thread::sleep(Duration::from_millis(2));
        let pipeline = pipelines[number % 2].clone();
        switch.exchange(pipeline, |_, fresh| assert!(fresh.is_empty())).unwrap();
        assert!(switch.is_running());
    }
    switch.stop();
    let received = assert_none_lost(&mut switch);
    // Counts go on over all pipelines.
    let counted = switch.counter(0, 0).unwrap().packets + switch.drops()[1];
    assert_eq!(counted, received);
    assert_eq!(switch.tables()[0].len(), 1);
    let pause = switch.take_longest_pause();
    assert!(pause > Duration::ZERO && pause < PAUSE, "{pause:?}");
    assert_eq!(switch.take_longest_pause(), Duration::ZERO, "it was taken");
}

#[test]
fn new_tables_are_filled_before_a_packet_comes_to_them() {
    let mut switch = loaded(2);
    let record = [1, 0, 0, 0, 5, 0, 0, 0];
    switch.tables()[0].insert(&station(0xabc), &record).unwrap();
    switch.start();
    let larger = pipeline("#define ECHO_STATIONS 128\n");
    let fill = |switch: &Switch<MemoryPort>, fresh: &[usize]| {
        assert_eq!(fresh, [0]);
        assert!(switch.tables()[0].is_empty(), "the old table stays as it is");
        for address in 0..128 {
            switch.tables()[0].insert(&station(address), &record).unwrap();
        }
    };
    switch.exchange(larger, fill).unwrap();
    assert_eq!((switch.tables()[0].len(), switch.tables()[0].description().size), (128, 128));
    switch.stop();
    assert_none_lost(&mut switch);
}

#[test]
fn a_program_is_replaced_by_another_without_its_state() {
    let mut switch = loaded(2);
    switch.tables()[0].insert(&station(0xabc), &[1, 0, 0, 0, 5, 0, 0, 0]).unwrap();
    switch.state.registers[0].write(1, &[99]);
    switch.state.set_group(1, Some(runtime::Group::default()));
    switch.start();
    std::thread::sleep(Duration::from_millis(2));
    let load = |switch: &Switch<MemoryPort>| {
        switch.tables()[0].insert(&station(0xdef), &[1, 0, 0, 0, 6, 0, 0, 0]).unwrap();
    };
    switch.replace(echo(0x22), load).unwrap();
    assert!(switch.is_running());
    assert!(switch.tables()[0].find(&station(0xabc)).is_err() && switch.tables()[0].find(&station(0xdef)).is_ok());
    assert_eq!((switch.state.registers[0].read(1), switch.state.groups.get(1)), (Some(vec![7]), None));
    switch.stop();
    let received = assert_none_lost(&mut switch);
    assert!(switch.counter(0, 0).unwrap().packets < received, "counters begin again");
}

#[test]
fn a_pipeline_that_refuses_a_worker_leaves_all_at_the_old_one() {
    let mut switch = loaded(2);
    switch.start();
    let refused = switch.exchange(pipeline("#define ECHO_WORKERS 1\n"), |_, _| {}).unwrap_err();
    assert!(matches!(refused, SwitchError::Attach { worker: 1, status: 7 }), "{refused}");
    assert!(switch.is_running());
    switch.stop();
    let received = assert_none_lost(&mut switch);
    assert_eq!(switch.counter(0, 0).unwrap().packets + switch.drops()[1], received);
    switch.exchange(echo(0x22), |_, fresh| assert!(fresh.is_empty())).unwrap();
}

#[test]
fn workers_insert_into_a_table_that_both_pipelines_have() {
    let learn = |mark: u8| pipeline(&format!("#define ECHO_LEARN\n#define ECHO_MARK {mark}\n"));
    let mut switch = Switch::new(learn(1), vec![port(), port()], SETTINGS).unwrap();
    let hosts: Vec<(u16, Vec<u8>)> = (0..100u8).map(|station| (2, [vec![0; 6], vec![station; 26]].concat())).collect();
    for worker in 0..2 {
        switch.ports_of(worker).unwrap().load(trace(&hosts), ENDLESS, 0);
    }
    let pipelines = [learn(2), learn(3)];
    switch.start();
    for number in 0..6 {
        switch.tables()[0].clear();
        switch.exchange(pipelines[number % 2].clone(), |_, fresh| assert!(fresh.is_empty())).unwrap();
    }
    while switch.tables()[0].len() < 64 {
        std::thread::sleep(Duration::from_millis(1));
    }
    switch.stop();
    assert_eq!(switch.tables()[0].len(), 64);
    assert_none_lost(&mut switch);
}

/// The pages of an object that the process has loaded, and how many of them no thread has used yet.
fn pages(object: &str) -> (usize, usize) {
    const PAGE: u64 = 4096;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let table = std::fs::File::open("/proc/self/pagemap").unwrap();
    let (mut all, mut absent) = (0, 0);
    for line in maps.lines().filter(|line| line.ends_with(object)) {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let (from, to) = parts[0].split_once('-').unwrap();
        let [from, to] = [from, to].map(|end| u64::from_str_radix(end, 16).unwrap() / PAGE);
        for page in (from..to).filter(|_| parts[1].starts_with('r')) {
            let mut entry = [0; 8];
            std::os::unix::fs::FileExt::read_exact_at(&table, &mut entry, page * 8).unwrap();
            all += 1;
            absent += usize::from(u64::from_le_bytes(entry) >> 63 == 0);
        }
    }
    (all, absent)
}

/// A worker would wait for the kernel in its first burst.
#[test]
fn no_page_of_a_pipeline_that_was_prepared_is_mapped_in_a_burst() {
    let mut switch = loaded(1);
    // Far more than the kernel maps around the pages that the loader uses.
    let constants = "const unsigned char echo_constants[1 << 20] = { 1 };\n";
    let file = std::fs::canonicalize(object(constants)).unwrap();
    let file = file.to_str().unwrap();
    let loaded = Arc::new(Pipeline::load(Path::new(file)).unwrap());
    assert!(pages(file).1 > 100, "else the loader has used them all");
    switch.prepare(loaded, |_| true).unwrap();
    let (all, absent) = pages(file);
    assert_eq!(absent, 0, "of {all} pages");
}

#[test]
fn a_pipeline_that_was_prepared_may_be_given_up() {
    let mut switch = loaded(1);
    switch.tables()[0].insert(&station(1), &[1, 0, 0, 0, 5, 0, 0, 0]).unwrap();
    assert_eq!(switch.prepare(pipeline("#define ECHO_STATIONS 128\n"), |_| true).unwrap(), [0]);
    assert_eq!(switch.tables()[0].len(), 0);
    switch.give_up();
    assert_eq!(switch.tables()[0].len(), 1);
    switch.ports_of(0).unwrap().load(trace(&frames([64])), 100, 0);
    switch.run(0);
    assert_eq!(switch.counter(0, 0).unwrap().packets, 100);
}
