//! Why a command is not done, in the words of BMv2's command line: scripts search for them.

use bm_runtime::replication::{MirroringCode, MulticastCode};
use bm_runtime::standard::{
    CounterCode, CrcCode, MeterCode, PortCode, RegisterCode, SwapCode, TableCode, ToeplitzCode, ValueSetCode,
};
use bm_runtime::{CallError, ThriftError, Undeclared};
use std::fmt;

#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    /// The command, or what it names.
    Input(String),
    /// A key of an entry.
    MatchKey(String),
    /// Data of an action.
    RuntimeData(String),
    /// The switch refuses it: the kind of operation, and the code.
    Refused(&'static str, &'static str),
    /// The switch answers no more.
    Lost(String),
}

pub type Outcome<T = ()> = Result<T, Problem>;

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Input(what) => write!(f, "Error: {what}"),
            Problem::MatchKey(what) => write!(f, "Invalid match key: {what}"),
            Problem::RuntimeData(what) => write!(f, "Invalid runtime data: {what}"),
            Problem::Refused(kind, code) => write!(f, "Invalid {kind} operation ({code})"),
            Problem::Lost(what) => write!(f, "the switch does not answer: {what}"),
        }
    }
}

pub fn input<T>(what: impl Into<String>) -> Outcome<T> {
    Err(Problem::Input(what.into()))
}

fn not_answered(error: &ThriftError) -> Problem {
    match error {
        ThriftError::Application(error) => Problem::Input(error.message.clone()),
        ThriftError::Transport(_) | ThriftError::Protocol(_) | ThriftError::User(_) => Problem::Lost(error.to_string()),
    }
}

macro_rules! codes {
    ($($code:ty: $kind:literal,)*) => {
        $(impl From<CallError<$code>> for Problem {
            fn from(error: CallError<$code>) -> Problem {
                match error {
                    CallError::Code(code) => Problem::Refused($kind, code.name()),
                    CallError::Thrift(error) => not_answered(&error),
                }
            }
        })*
    };
}

codes! {
    TableCode: "table",
    CounterCode: "counter",
    MeterCode: "meter",
    RegisterCode: "register",
    SwapCode: "swap",
    PortCode: "device manager",
    CrcCode: "crc",
    ToeplitzCode: "Toeplitz hash",
    ValueSetCode: "parser value set",
    MulticastCode: "PRE",
    MirroringCode: "mirroring",
}

impl From<CallError<Undeclared>> for Problem {
    fn from(error: CallError<Undeclared>) -> Problem {
        match error {
            CallError::Code(Undeclared) => Problem::Lost("the answer has no result".to_string()),
            CallError::Thrift(error) => not_answered(&error),
        }
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Problem {
        Problem::Lost(error.to_string())
    }
}
