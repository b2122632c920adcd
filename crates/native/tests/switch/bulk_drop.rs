//! The delay of bulk drops: burst by burst, without empty bursts that flush them.

use crate::queues::{compiled, example};
use hlir::Program;
use native::NativeEngine;
use runtime::{Buffers, MemoryPort, Pipeline, Settings, Trace};
use std::sync::Arc;

/// Packets per vector in the example's plan, and the timeout in bursts: `LANES_TIMEOUT`.
const LANES: usize = 8;
const TIMEOUT: usize = 32;

struct Switch<'p> {
    engine: NativeEngine<'p, MemoryPort>,
}

impl Switch<'_> {
    /// Buffers held after a burst: `s` is a packet that is sent, `n` one without a session, `u` one without an entry.
    fn held_behind(&mut self, kinds: &str) -> u32 {
        let frames: Vec<[u8; 44]> = kinds.chars().map(frame).collect();
        let own_ports = self.engine.switch().ports_of(0).expect("its worker runs here");
        own_ports.hold(!frames.is_empty());
        own_ports.load(Trace::new(frames.iter().map(|frame| (0, frame.as_slice()))), frames.len() as u64, 0);
        self.engine.switch().run(0);
        self.held()
    }

    fn held(&mut self) -> u32 {
        self.engine.switch().ports_of(0).expect("its worker runs here").held()
    }
}

fn frame(kind: char) -> [u8; 44] {
    let front = match kind {
        's' => [0x10, 1, 0, 1],
        'n' => [0, 0, 0, 1],
        _ => [0, 1, 0, 9],
    };
    let mut frame = [0; 44];
    frame[..front.len()].copy_from_slice(&front);
    frame
}

fn with_switch(test: impl for<'p> FnOnce(&mut Switch<'p>, &'p Program, Arc<Pipeline>)) {
    let program = example("bulk_drop.hlir").program;
    let (pipeline, compiled) = compiled("bulk_drop.hlir", "bulk_drop.plan");
    let worker_ports = || vec![MemoryPort::new(Buffers::default())];
    let settings = Settings { ports: 8, seed: 0 };
    let engine =
        NativeEngine::new((&program, &compiled), pipeline.clone(), settings, worker_ports).expect("it attaches");
    test(&mut Switch { engine }, &compiled, pipeline);
}

#[test]
fn packets_are_held_until_they_fill_a_vector() {
    for dropped in ["n", "u"] {
        with_switch(|switch, _, _| {
            let burst = format!("sssss{}", dropped.repeat(3));
            let held: Vec<u32> = (0..6).map(|_| switch.held_behind(&burst)).collect();
            assert_eq!(held, [3, 6, 1, 4, 7, 2], "{dropped}");
            assert_eq!(switch.held_behind(&dropped.repeat(3 * LANES)), 2, "{dropped}");
        });
    }
}

#[test]
fn packets_are_dropped_at_the_timeout() {
    with_switch(|switch, _, _| {
        assert_eq!(switch.held_behind("sssnssus"), 2, "one of each list");
        let behind: Vec<u32> = (2..=TIMEOUT).map(|_| switch.held_behind("ssssssss")).collect();
        let (last, others) = behind.split_last().expect("there are some");
        assert!(others.iter().all(|held| *held == 2) && *last == 0, "{behind:?}");
        assert_eq!(switch.held_behind("sssnssus"), 2, "others wait anew");
    });
}

#[test]
fn an_empty_burst_and_an_exchange_flush_bulk_drops() {
    with_switch(|switch, compiled, pipeline| {
        assert_eq!(switch.held_behind("nsssssuu"), 3);
        assert_eq!(switch.held_behind(""), 0);
        assert_eq!(switch.held_behind("nsssssuu"), 3);
        switch.engine.exchange(compiled, pipeline).expect("a pipeline can take the place of another");
        assert_eq!(switch.held(), 0);
    });
}
