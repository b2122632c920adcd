//! How `bacus` ends when it does not succeed: a message and an exit code.

use control::Refusal;
use hlir::diagnostic::Diagnostic;
use hlir::source::SourceMap;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

/// Why a command failed. Exit code 2, wrong usage, is clap's.
#[derive(Debug)]
pub enum Failure {
    /// Exit code 1: what the user gave is wrong. The message is complete.
    Input(String),
    /// Exit code 1, and all is reported already.
    Reported,
    /// Exit code 3: the machine lacks something that the command needs.
    Environment(String),
}

impl Failure {
    pub fn input(message: impl fmt::Display) -> Failure {
        Failure::Input(format!("error: {message}\n"))
    }

    pub fn environment(message: impl fmt::Display) -> Failure {
        Failure::Environment(format!("error: {message}\n"))
    }

    /// The user's file cannot be read.
    pub fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
        Failure::input(format!("{}: {}", path.display(), sentence(error)))
    }

    /// A file cannot be written.
    pub fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
        Failure::environment(format!("{}: {}", path.display(), sentence(error)))
    }

    pub fn diagnostics(diagnostics: &[Diagnostic], map: &SourceMap) -> Failure {
        let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
        let mut text: String = diagnostics.iter().map(|diagnostic| diagnostic.render(map)).collect();
        if errors > 1 {
            text.push_str(&format!("{errors} errors\n"));
        }
        Failure::Input(text)
    }

    pub fn refusal(place: impl fmt::Display, refusal: &Refusal) -> Failure {
        Failure::input(format!("{place}: {refusal}"))
    }

    /// The message as another error may quote it: without `error:` in front.
    pub fn message(&self) -> &str {
        match self {
            Failure::Input(text) | Failure::Environment(text) => {
                text.strip_prefix("error: ").unwrap_or(text).trim_end()
            }
            Failure::Reported => "all is reported already",
        }
    }

    /// Prints the reason on stderr.
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::Input(text) => {
                eprint!("{text}");
                ExitCode::from(1)
            }
            Failure::Reported => ExitCode::from(1),
            Failure::Environment(text) => {
                eprint!("{text}");
                ExitCode::from(3)
            }
        }
    }
}

/// The system's message without its number.
pub fn sentence(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}

impl From<runtime::compile::Failure> for Failure {
    fn from(failure: runtime::compile::Failure) -> Failure {
        Failure::environment(failure)
    }
}

impl From<runtime::pipeline::LoadError> for Failure {
    fn from(failure: runtime::pipeline::LoadError) -> Failure {
        Failure::environment(failure)
    }
}

impl From<runtime::SwitchError> for Failure {
    fn from(failure: runtime::SwitchError) -> Failure {
        Failure::environment(failure)
    }
}
