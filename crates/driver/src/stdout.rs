//! Standard output. A reader that has heard enough (`| head`) is no failure: a switch forwards on, and a measurement still writes its files.

use crate::failure::Failure;
use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// `println!` for a reader that may be gone.
#[macro_export]
macro_rules! print_line {
    ($($text:tt)*) => { $crate::stdout::line(format_args!($($text)*)) };
}
pub use crate::print_line;

/// Whether a line could not be written: the command continues, but does not succeed.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// Writes a line, or reports once why not.
pub fn line(text: Arguments<'_>) {
    if let Err(failure) = print(&format!("{text}\n"))
        && !IS_LOST.swap(true, Ordering::Relaxed)
    {
        failure.report();
    }
}

/// How a command ends that has done all it should.
pub fn end() -> ExitCode {
    if IS_LOST.load(Ordering::Relaxed) { Failure::Environment(String::new()).report() } else { ExitCode::SUCCESS }
}

/// A number of things, with their name in singular or plural.
pub fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// Writes all of a text.
pub fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::environment(format!("standard output: {error}"))),
    }
}
