//! The names of BMv2's and p4c's commands under which `bacus` may be started, by links: each then understands their flags.

pub mod artefact;
mod p4c;
mod simple_switch;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// What a name of this command means; none for its own.
pub enum Name {
    SimpleSwitch,
    /// With P4Runtime beside Thrift.
    SimpleSwitchGrpc,
    Cli,
    P4c(p4c::Kind),
}

impl Name {
    /// By the command line's first word.
    pub fn of(program: Option<&OsString>) -> Option<Name> {
        match Path::new(program?).file_name()?.to_str()? {
            "simple_switch" => Some(Name::SimpleSwitch),
            "simple_switch_grpc" | "bacus-grpc" => Some(Name::SimpleSwitchGrpc),
            "simple_switch_CLI" => Some(Name::Cli),
            "p4c" => Some(Name::P4c(p4c::Kind::Driver)),
            "p4c-bm2-ss" => Some(Name::P4c(p4c::Kind::Compiler)),
            _ => None,
        }
    }

    pub fn run(self) -> ExitCode {
        let arguments = std::env::args_os();
        let done = match self {
            Name::Cli => return runtime_cli::main(arguments),
            Name::SimpleSwitch => simple_switch::run(arguments, simple_switch::Kind::Thrift),
            Name::SimpleSwitchGrpc => simple_switch::run(arguments, simple_switch::Kind::Grpc),
            Name::P4c(kind) => p4c::run(arguments, kind),
        };
        match done {
            Ok(()) => driver::stdout::end(),
            Err(failure) => failure.report(),
        }
    }
}

/// A command line of one of these names: help and version are printed, and end the process; mistakes have the exit code of BMv2 and p4c.
fn parsed<P: clap::Parser>(arguments: impl Iterator<Item = OsString>) -> P {
    P::try_parse_from(arguments).unwrap_or_else(|error| {
        drop(error.print());
        std::process::exit(i32::from(error.use_stderr()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_known_by_their_last_part() {
        let name = |program: &str| Name::of(Some(&program.into()));
        assert!(matches!(name("/usr/local/bin/simple_switch_grpc"), Some(Name::SimpleSwitchGrpc)));
        assert!(matches!(name("p4c-bm2-ss"), Some(Name::P4c(p4c::Kind::Compiler))));
        assert!(name("target/debug/bacus").is_none() && Name::of(None).is_none());
    }
}
