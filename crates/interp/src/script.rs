//! What a run of a packet chooses, where all of its outcomes are followed.

use std::cell::RefCell;

/// Values of one `random` that are followed.
const MOST_VALUES: u128 = 16;

/// A choice that a run has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The steps of the packet that came before.
    pub at: usize,
    pub of: Chooser,
    /// From 0.
    pub picked: u64,
    /// How many there were to choose of.
    pub options: u128,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chooser {
    /// The table whose entry has a group: its different actions are chosen of.
    Selector(String),
    Random,
}

impl Choice {
    /// How many of the options are followed.
    pub fn followed(&self) -> u128 {
        match self.of {
            Chooser::Selector(_) => self.options,
            Chooser::Random => self.options.min(MOST_VALUES),
        }
    }
}

/// The choices of a run.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub picks: Vec<u64>,
    pub made: RefCell<Vec<Choice>>,
}

impl Script {
    /// Which of so many options, of at least two, this run takes.
    pub fn pick(&self, at: usize, of: Chooser, options: u128) -> u64 {
        let mut made = self.made.borrow_mut();
        let picked = self.picks.get(made.len()).copied().unwrap_or(0);
        made.push(Choice { at, of, picked, options });
        picked
    }
}
