//! The compiler driver: program, entries, machine, plan and profile in, a compiled pipeline out.
//!
//! It reads the user's files, runs the crates in order, keeps compiled code in the cache, and reports what is wrong. What several commands share is here;
//! what a command's own flags mean, and what it prints, is the command's.

#![deny(clippy::print_stdout)]

pub mod compile;
pub mod embedded;
pub mod entries;
pub mod explained;
pub mod externs;
pub mod failure;
pub mod files;
pub mod flags;
pub mod frequent;
pub mod frontend;
pub mod inputs;
pub mod machine_file;
pub mod options;
mod package;
pub mod packets;
pub mod pcap;
pub mod plan_file;
pub mod port_burst;
pub mod ports;
pub mod preprocessor;
pub mod random;
pub mod stdout;
mod warnings;
