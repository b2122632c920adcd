//! `bacus ctl`: a client of P4Runtime for people.
//!
//! [`Client`] is the connection, [`Session`] executes commands, a line each. Names and values are those of the program: what they are called
//! in the protocol, the session finds in the switch's P4Info.

// Fields that the protocol has given up are still written by older switches.
#![allow(deprecated)]

mod client;
mod commands;
mod data;
mod failure;
mod field;
mod gathered;
mod names;
mod output;
mod primary;
mod sockets;

pub use client::{Client, Settings, Tls};
pub use commands::{COMMANDS, Session, Usage, help_on, only_writes, usage_of};
pub use failure::{Failure, Reason};
pub use output::Form;
pub use sockets::{one_switch, switches};
