//! A session: the connection, the program, and what commands need of their arguments.

use crate::config::{Config, Table, TableType};
use crate::problem::{Outcome, input};
use bm_runtime::Connection;
use bm_runtime::replication::{SimplePreLagClient, SimpleSwitchClient};
use bm_runtime::standard::StandardClient;
use std::io::Write;

/// How a command is done.
pub type Run = fn(&mut Session, &[&str]) -> Outcome;

pub struct Session<'o> {
    pub connection: Connection,
    pub output: &'o mut dyn Write,
    pub config: Config,
    /// The last line, which a blank one repeats.
    pub last: String,
}

/// Prints a line to the session's output.
macro_rules! say {
    ($session:expr, $($text:tt)*) => {
        writeln!($session.output, $($text)*)?
    };
}
pub(crate) use say;

impl<'o> Session<'o> {
    pub fn new(connection: Connection, output: &'o mut dyn Write) -> Session<'o> {
        Session { connection, output, config: Config::default(), last: String::new() }
    }

    pub fn standard(&mut self) -> StandardClient<'_> {
        StandardClient(&mut self.connection)
    }

    pub fn multicast(&mut self) -> SimplePreLagClient<'_> {
        SimplePreLagClient(&mut self.connection)
    }

    pub fn simple_switch(&mut self) -> SimpleSwitchClient<'_> {
        SimpleSwitchClient(&mut self.connection)
    }
}

pub fn at_least(arguments: &[&str], count: usize) -> Outcome {
    if arguments.len() < count { input("Insufficient number of args") } else { Ok(()) }
}

pub fn exactly(arguments: &[&str], count: usize) -> Outcome {
    let given = arguments.len();
    if given == count { Ok(()) } else { input(format!("Wrong number of args, expected {count} but got {given}")) }
}

/// Whether entries of the table refer to a profile; with `selector`, to one with groups.
pub fn check_indirect(table: &Table, selector: bool) -> Outcome {
    match table.table_type {
        TableType::WithSelector => Ok(()),
        TableType::Indirect if !selector => Ok(()),
        TableType::Simple | TableType::Indirect if selector => {
            input("Cannot run this command on non-indirect table, or on indirect table with no selector")
        }
        TableType::Simple | TableType::Indirect => input("Cannot run this command on non-indirect table"),
    }
}
