//! `bacus stf --trace-tree`: the path of each packet of a test, with a branch for each outcome where the program may choose.

use crate::run::tracing::with_bytes;
use crate::trace::text;
use control::plane::*;
use control::{DataPlane, Refusal, Store, Update};
use driver::stdout::print_line;
use hlir::{CounterId, RegisterId, TableId};
use interp::{Branch, Choice, Chooser, Outcomes};
use num_bigint::BigUint;

/// Outcomes of a packet that are shown.
const MOST: usize = 64;

/// The interpreter, which prints the tree of each packet before it runs it.
pub struct Tree<'p> {
    interpreter: interp::Switch<'p>,
    packets: u64,
}

impl<'p> Tree<'p> {
    pub fn new(interpreter: interp::Switch<'p>) -> Tree<'p> {
        Tree { interpreter, packets: 0 }
    }

    fn print(&mut self, frame: &Frame) {
        self.packets += 1;
        let outcomes = self.interpreter.outcomes(frame, MOST);
        let (number, port, bytes) = (self.packets, frame.port, frame.bytes.len());
        let count = driver::stdout::counted(outcomes.branches.len() as u64, "outcome", "outcomes");
        let more = if outcomes.is_cut { ", and more that are not shown" } else { "" };
        print_line!("packet {number} from port {port}, {bytes} bytes: {count}{more}");
        print_line!("{}", lines(&outcomes).trim_end());
    }
}

/// Each branch from where it differs from the one before.
fn lines(outcomes: &Outcomes) -> String {
    let mut text = String::new();
    let mut before: &[Choice] = &[];
    for Branch { choices, steps, outcome } in &outcomes.branches {
        let shared = choices.iter().zip(before).take_while(|(one, other)| one == other).count();
        let mut sent = outcome.outputs.iter().map(|output| output.bytes.clone());
        let first = if before.is_empty() { 0 } else { choices.get(shared).map_or(steps.len(), |choice| choice.at) };
        let mut next = shared;
        for (at, step) in steps.iter().enumerate() {
            let step = with_bytes(step.clone(), &mut sent);
            if at < first {
                continue;
            }
            next = announced(&mut text, choices, next, at);
            let indent = "  ".repeat(next);
            let mut line = String::new();
            step.step.iter().for_each(|step| text::line(&mut line, step));
            line.lines().for_each(|line| text.push_str(&format!("{indent}{line}\n")));
        }
        announced(&mut text, choices, next, steps.len());
        before = choices;
    }
    text
}

/// Adds a line for each choice, from number `next` on, that was made before step `at`. Gives the number of the next one.
fn announced(text: &mut String, choices: &[Choice], next: usize, at: usize) -> usize {
    let made = choices.iter().enumerate().skip(next).take_while(|(_, choice)| choice.at <= at);
    made.fold(next, |_, (number, Choice { of, picked, options, .. })| {
        let what = match of {
            Chooser::Selector(table) => format!("the selector of {table} chooses"),
            Chooser::Random => "random draws".to_string(),
        };
        text.push_str(&format!("{}  * {what} {} of {options}\n", "  ".repeat(number), picked + 1));
        number + 1
    })
}

impl DataPlane for Tree<'_> {
    fn name(&self) -> &str {
        self.interpreter.name()
    }

    fn store(&self) -> &Store {
        self.interpreter.store()
    }

    fn store_mut(&mut self) -> &mut Store {
        self.interpreter.store_mut()
    }

    fn apply(&mut self, update: &Update) -> Result<(), Refusal> {
        self.interpreter.apply(update)
    }

    fn rederive(&mut self, inverse: &Update) {
        self.interpreter.rederive(inverse);
    }

    fn clear_inserted(&mut self, table: TableId) -> Result<(), Refusal> {
        self.interpreter.clear_inserted(table)
    }

    fn reset(&mut self) {
        self.packets = 0;
        self.interpreter.reset();
    }

    fn process(&mut self, burst: &[Frame]) -> Result<Outcome, Refusal> {
        burst.iter().for_each(|frame| self.print(frame));
        self.interpreter.process(burst)
    }

    fn set_clock(&mut self, nanoseconds: u64) {
        self.interpreter.set_clock(nanoseconds);
    }

    fn set_seed(&mut self, seed: u64) {
        self.interpreter.set_seed(seed);
    }

    fn table_counts(&self, table: TableId) -> TableCounts {
        self.interpreter.table_counts(table)
    }

    fn take_idle(&mut self) -> Vec<EntryKey> {
        self.interpreter.take_idle()
    }

    fn read_counter(&mut self, counter: CounterId, element: &Element) -> Result<CounterValue, Refusal> {
        self.interpreter.read_counter(counter, element)
    }

    fn write_counter(&mut self, counter: CounterId, element: &Element, value: CounterValue) -> Result<(), Refusal> {
        self.interpreter.write_counter(counter, element, value)
    }

    fn read_register(&mut self, register: RegisterId, index: u64) -> Result<BigUint, Refusal> {
        self.interpreter.read_register(register, index)
    }

    fn write_register(&mut self, register: RegisterId, index: u64, value: &BigUint) -> Result<(), Refusal> {
        self.interpreter.write_register(register, index, value)
    }

    fn drops(&self) -> Vec<u64> {
        self.interpreter.drops()
    }
}
