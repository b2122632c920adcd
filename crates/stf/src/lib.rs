//! STF, the language of switch tests: entries, packets, and what must come out.
//!
//! [`parse`] reads the text, [`bind::bind`] finds what its names mean in a program, [`run::run`] does it on an engine and compares. The dialect is the
//! one of p4c's BMv2 runner with the additions of this project: masks, prefixes and ranges by name, `clock`, `seed`, `expect_digest`, `value_set`,
//! `member`, `group`, and a `remove`, `check_counter` and `no_packet` as named.

mod address;
mod aging;
mod attached;
pub mod bind;
pub mod command;
pub mod compare;
pub mod filter;
mod lex;
pub mod matches;
pub mod names;
mod parse;
mod reentry;
pub mod run;

pub use aging::normal;
pub use bind::{Bound, bind};
pub use command::{Aging, Command};
pub use lex::quoted;
pub use parse::{COMMANDS, Line, parse, parse_line};
pub use reentry::shared_state;
pub use run::{Configured, Report, apply, configure, run};

/// A mistake in the text, where it is. Lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub place: Place,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl Mistake {
    pub fn new(place: Place, message: impl Into<String>) -> Mistake {
        Mistake { place, message: message.into() }
    }
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.place.line, self.place.column, self.message)
    }
}
