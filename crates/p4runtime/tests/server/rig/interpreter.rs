//! The interpreter as the data plane behind the server.
//!
//! It lives on a thread of its own, since it may not leave it; what the server asks travels there and back. The store is on the
//! server's side, as it would in a switch process.

use control::plane::*;
use control::{Refusal, Store, Update};
use hlir::{CounterId, Program, RegisterId, TableId};
use num_bigint::BigUint;
use std::sync::{Arc, mpsc};

type Job = Box<dyn FnOnce(&mut interp::Switch<'static>) + Send>;

pub struct Interpreter {
    store: Store,
    jobs: mpsc::Sender<Job>,
    /// Whether it refuses the rates of meters, as a switch that has no memory for them.
    pub refuses_rates: bool,
}

impl Interpreter {
    pub fn new(program: Arc<Program>) -> Interpreter {
        let (jobs, queue) = mpsc::channel::<Job>();
        let of_thread = program.clone();
        std::thread::spawn(move || {
            // The interpreter borrows its program; a test has one for good.
            let program: &'static Program = Box::leak(Box::new(Program::clone(&of_thread)));
            let mut switch = interp::Switch::new(program, 1, interp::PORTS);
            queue.iter().for_each(|job| job(&mut switch));
        });
        Interpreter { store: Store::new(program), jobs, refuses_rates: false }
    }

    fn ask<T: Send + 'static>(&self, question: impl FnOnce(&mut interp::Switch<'static>) -> T + Send + 'static) -> T {
        let (answer, answered) = mpsc::channel();
        let job: Job = Box::new(move |switch| drop(answer.send(question(switch))));
        self.jobs.send(job).expect("the interpreter's thread lives as long as this");
        answered.recv().expect("the interpreter answers")
    }
}

impl DataPlane for Interpreter {
    fn name(&self) -> &str {
        "interpreter"
    }

    fn store(&self) -> &Store {
        &self.store
    }

    fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    fn apply(&mut self, update: &Update) -> Result<(), Refusal> {
        if self.refuses_rates && matches!(update, Update::SetMeter { rates: Some(_), .. }) {
            return Err(Refusal::wrong("there is no memory for rates"));
        }
        let update = update.clone();
        self.ask(move |switch| switch.write(&update).map(drop))
    }

    fn clear_inserted(&mut self, table: TableId) -> Result<(), Refusal> {
        self.ask(move |switch| switch.clear_inserted(table))
    }

    fn reset(&mut self) {
        self.store.reset();
        self.ask(|switch| switch.reset());
    }

    fn process(&mut self, burst: &[Frame]) -> Result<Outcome, Refusal> {
        let burst = burst.to_vec();
        self.ask(move |switch| switch.process(&burst))
    }

    fn set_clock(&mut self, nanoseconds: u64) {
        self.ask(move |switch| switch.set_clock(nanoseconds));
    }

    fn set_seed(&mut self, seed: u64) {
        self.ask(move |switch| switch.set_seed(seed));
    }

    fn table_counts(&self, table: TableId) -> TableCounts {
        self.ask(move |switch| switch.table_counts(table))
    }

    fn take_idle(&mut self) -> Vec<EntryKey> {
        self.ask(|switch| switch.take_idle())
    }

    fn read_counter(&mut self, counter: CounterId, element: &Element) -> Result<CounterValue, Refusal> {
        let element = element.clone();
        self.ask(move |switch| switch.read_counter(counter, &element))
    }

    fn write_counter(&mut self, counter: CounterId, element: &Element, value: CounterValue) -> Result<(), Refusal> {
        let element = element.clone();
        self.ask(move |switch| switch.write_counter(counter, &element, value))
    }

    fn read_register(&mut self, register: RegisterId, index: u64) -> Result<BigUint, Refusal> {
        self.ask(move |switch| switch.read_register(register, index))
    }

    fn write_register(&mut self, register: RegisterId, index: u64, value: &BigUint) -> Result<(), Refusal> {
        let value = value.clone();
        self.ask(move |switch| switch.write_register(register, index, &value))
    }

    fn drops(&self) -> Vec<u64> {
        self.ask(|switch| switch.drops())
    }
}
