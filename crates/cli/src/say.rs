//! Standard output. A reader that has heard enough (`| head`) is no failure: a switch forwards on, and a measurement still writes its files.

use crate::failure::Failure;
use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// `println!` for a reader that may be gone.
macro_rules! say {
    ($($text:tt)*) => { $crate::say::line(format_args!($($text)*)) };
}
pub(crate) use say;

/// Writes a line, or says why not.
pub fn line(text: Arguments<'_>) {
    if let Err(failure) = print(&format!("{text}\n")) {
        failure.report();
    }
}

/// Writes all of a text.
pub fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::environment(format!("standard output: {error}"))),
    }
}
